"""What is foretold of consumer groups, held against what they did when they were let loose again (fixtures/record/clients.py)."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from io import StringIO

import pytest
from rich.console import Console

from forensics.model.findings import Client, Finding
from forensics.model.message import Range
from forensics.model.record import reader
from forensics.views import markdown
from forensics.views import text as terminal
from forensics.views.document import Report
from forensics.views.html.page import pieces
from forensics.views.plan import resets
from forensics.views.story.step import Wanted
from forensics.words import words
from tests.forensics.staged import START, Story
from tests.forensics.staged import report as staged
from tests.support import local, recorded
from tests.support.local import story_rows
from tests.support.paths import BUNDLES, truth_of

NAMES = sorted(p.name.removesuffix(".tar.gz") for p in BUNDLES.glob("clients-*.tar.gz"))


OF_BODIES = ("doomed", "overwriting", "key-0", "key-1")
"""In keys and values of what was sent."""


@cache
def report(name: str) -> Report:
    return local.report(recorded.events(name))


def loss(name: str) -> Finding:
    (found,) = [f for f in report(name).findings if f.kind == "data-loss" and f.topic == "orders"]
    return found


def offsets(ranges: list[list[int]]) -> set[int]:
    return {o for start, end in ranges for o in range(start, end)}


def there(name: str) -> set[int]:
    """What can be read of the partition, as far as `untouched` groups tell, which are given all they had not read."""
    whole = truth_of(name)["groups"]["audit"]
    return set(range(min(offsets(whole["given"])))) | offsets(whole["given"])


GROUPS = [(name, group) for name in NAMES for group, stated in truth_of(name)["groups"].items() if stated["topic"] == "orders"]


@pytest.mark.parametrize(("name", "group"), GROUPS)
def test_each_group_did_what_was_foretold(name: str, group: str) -> None:
    was = truth_of(name)["groups"][group]
    (client,) = [c for c in loss(name).clients if c.group == group]
    lost = offsets(truth_of(name)["lost"]["orders-0"]["offsets"])
    start = loss(name).offsets[0].start
    read = set(range(client.had_read.start, client.had_read.end or 0)) if client.had_read is not None else set()
    assert read & lost == offsets(was["had_read_of_lost"])
    given, never = offsets(was["given"]), offsets(was["never_given"])
    if client.outcome == "skips":
        assert client.skipped is not None and never == there(name) & set(range(client.skipped.start, client.skipped.end or 0))
        assert not was["given_again"] and given == there(name) - set(range(client.skipped.end or 0))
    elif client.outcome == "returns":
        assert min(given) == start and not never and not was["given_again"]
    elif client.outcome == "reset":
        assert (min(given) == 0) if was["reset"] == "earliest" else (never >= {start} and not given)
    else:
        assert client.outcome == "untouched" and not never and not was["given_again"] and not read
    assert client.protocol == was.get("protocol", "classic")
    assert all(m.client_id and m.host == "127.0.0.1" for m in client.members) and client.members
    kinds = {f.kind for f in report(name).findings if any(c.group == group for c in f.clients) and f.kind != "data-loss"}
    assert ("read-then-lost" in kinds) == bool(read)
    assert ("consumer-skip" in kinds) == (client.outcome == "skips")
    assert ("consumer-reset" in kinds) == (client.outcome in ("reset", "returns"))


def test_both_ways_of_clients_were_recorded() -> None:
    outcomes = {(name, c.outcome) for name in NAMES for c in loss(name).clients}
    assert {o for _, o in outcomes} >= {"skips", "reset", "returns", "untouched"}
    assert {c.protocol for name in NAMES for c in loss(name).clients} == {"classic", "consumer", "share"}


def test_nothing_of_a_body_is_in_the_report() -> None:
    for name in NAMES:
        assert not [word for word in OF_BODIES if word in report(name).json()]


def told_everywhere(name: str) -> dict[str, str]:
    """The outputs that people read, as one line of text each."""
    timeline, cluster = next((t, c) for t, c in local.timelines(recorded.events(name)) if t.topic == "orders")
    story = " ".join(step["text"] for step in story_rows(timeline, cluster, Wanted()))
    page = html.unescape(re.sub(r"<[^>]+>", " ", "".join(pieces(report(name), None))))
    incidents = "".join(i["explanation"] for i in report(name).document()["incidents"])
    texts = {"timeline": story, "html": page, "json": incidents}
    texts["markdown"] = "".join(markdown.pieces(report(name))).replace("\\", "")
    return {form: re.sub(r"[\s\u2502|]+", " ", text) for form, text in texts.items()}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "clients-unclean-1.1.1-zk",
            "(150 records); in the collected files of the disk of broker 1; group tracking had committed beyond 211–240 of them and will skip the new records at "
            "211–240; group billing had committed beyond 211–352 of them and is beyond the log's end: auto.offset.reset decides",
        ),
        (
            "clients-unclean-4.2.0-kraft",
            "share group pickers had committed beyond 211–240 of them and will skip the new records at 211–240",
        ),
        ("producers-left-down-3.9.1-kraft", "(170 records); still on the disk of broker"),
    ],
)
def test_a_sentence_beside_each_loss_says_it_wherever_people_read(name: str, sentence: str) -> None:
    for form, text in told_everywhere(name).items():
        assert sentence in text, form
        assert not [word for word in OF_BODIES if word in text], form


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("clients-unclean-1.1.1-zk", ["orders-0", "211–362 (150 records)", "yes: broker 1", "billing (211–352), tracking (211–240)"]),
        ("clients-unclean-4.2.0-kraft", ["pickers (211–240)"]),
        ("producers-left-down-3.9.1-kraft", ["170 records", "yes: broker 3"]),
    ],
)
def test_the_terminal_lists_what_can_be_recovered_and_who_had_read_it(name: str, cells: list[str]) -> None:
    shown = StringIO()
    terminal.show(report(name), Console(file=shown, width=200), every=True)
    assert [cell for cell in cells if cell not in shown.getvalue()] == []
    assert not [word for word in OF_BODIES if word in shown.getvalue()]


def test_clients_travel_as_rows() -> None:
    reported = [c for name in NAMES for f in report(name).findings for c in f.clients]
    assert reported and all(reader(Client)(c.row()) == c for c in reported)


def test_a_plan_sets_back_who_has_not_gone_on() -> None:
    for name in NAMES:
        reported = {r.client.group: r for r in resets(report(name).findings)}
        hurt = {c.group: c for c in loss(name).clients if c.outcome in ("skips", "reset", "returns")}
        assert set(reported) == set(hurt)
        assert all(("kafka-share-groups.sh" in reported[g].command) == (hurt[g].protocol == "share") for g in hurt)
        assert {r.offset for r in reported.values()} == {loss(name).offsets[0].start}
        assert reported["tracking"].command.endswith(
            f"--group=tracking --topic=orders:0 --reset-offsets --to-offset {loss(name).offsets[0].start} --execute"
        )


@pytest.mark.parametrize("name", NAMES)
def test_who_sent_what_is_lost(name: str) -> None:
    held = loss(name).salvageable
    assert held is not None
    stated = {p.transactional_id: (p.records, p.state) for p in held.producers if p.transactional_id is not None}
    assert stated == {"tx-commits": (20, "CompleteCommit"), "tx-aborts": (10, "CompleteAbort"), "tx-hangs": (10, "CompleteAbort")}
    assert sum(p.records for p in held.producers) == truth_of(name)["lost"]["orders-0"]["acked_records"]
    sent = [(p.first, p.last) for p in held.producers]
    assert all(first is not None and last is not None and first <= last for first, last in sent)


def cut(partition: int = 0) -> Story:
    """Offsets 200–299 are lost in an unclean election 20 seconds on."""
    s = Story(partition=partition)
    s.leads(1, 10, 2, 200, 200, [1], previous=1)
    s.offline(3, 19, 3, [1], 3, 1)
    s.online(3, 19.5, 4, 2, [2], 4)
    s.leads(2, 20, 4, 200, 200, [2], previous=3)
    s.follows(1, 30, 4, 300, 300, previous=2)
    s.truncates(1, 30.1, 200)
    return s


def described(files: dict[str, str], *lines: str) -> Sequence[Finding]:
    """With what kafka-consumer-groups printed 15 seconds on."""
    head = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"
    shown = head + "".join(f"{line}\n" for line in lines)
    return staged({**files, "cluster/groups.txt": shown}, {"cluster/groups.txt": START + timedelta(seconds=15)}).findings


def test_members_are_named_and_a_group_whose_commits_were_not_collected_is_told() -> None:
    members = ("billing t 0 250 300 50 c-1 /10.0.0.5 app-1", "audit t 0 - 300 - c-2 /10.0.0.6 app-2")
    (found,) = [f for f in described(cut().files, *members) if f.kind == "data-loss"]
    claimed = {c.group: (c.outcome, c.committed, [(m.client_id, m.host) for m in c.members]) for c in found.clients}
    assert claimed == {"audit": ("unknown", None, [("app-2", "10.0.0.6")]), "billing": ("skips", 250, [("app-1", "10.0.0.5")])}
    assert "group audit reads the partition; its position is unknown" in words(found).explanation


def test_a_share_group_stands_at_least_where_its_tool_says() -> None:
    shown = "\nGROUP           TOPIC           PARTITION  START-OFFSET  LAG\nworkers         t               0          250            0\n"
    claimed = staged({**cut().files, "cluster/share.txt": shown}, {"cluster/share.txt": START + timedelta(seconds=15)}).findings
    (found,) = [f for f in claimed if f.kind == "data-loss"]
    assert [(c.protocol, c.outcome, str(c.skipped)) for c in found.clients] == [("share", "skips", "200–249")]
    (skip,) = [f for f in claimed if f.kind == "consumer-skip"]
    assert skip.confidence == "possible" and "kafka-share-groups.sh" in words(skip).next_steps[0]


def test_what_one_loss_did_to_a_group_in_many_partitions_is_one_finding_and_groups_are_told_apart() -> None:
    files: dict[str, str] = {}
    for partition in range(3):
        own = cut(partition).files
        files = {path: files.get(path, "") + text for path, text in own.items()} | {p: t for p, t in files.items() if p not in own}
    stood = [f"{group} t {n} {offset} 300 0 - - -" for group, offset in (("billing", 250), ("audit", 280)) for n in range(3)]
    stated = described(files, *stood)
    for kind, counts in (("consumer-skip", {"billing": 150, "audit": 240}), ("read-then-lost", {"billing": 150, "audit": 240})):
        found = [f for f in stated if f.kind == kind]
        assert {(f.groups[0], len(f.places)) for f in found} == {("billing", 3), ("audit", 3)}
        assert all(str(counts[f.groups[0]]) in words(f).summary for f in found)
        assert len({f.id for f in found}) == 2
    (loss,) = [f for f in stated if f.kind == "data-loss"]
    assert all({c.group for c in place.clients} == {"billing", "audit"} for place in loss.places) and not loss.clients


def test_a_loss_of_which_a_part_was_committed_is_one_loss_for_its_readers() -> None:
    """The log was cut at 200, once: where a group goes on does not depend on what is known of the records above."""
    s = Story()
    s.leads(1, 10, 2, 200, 200, [1, 3], previous=1)
    shrinks = (
        "Shrinking ISR from 1,3 to 1. Leader: (highWatermark: 250, endOffset: 290). Out of sync replicas: (brokerId: 3, endOffset: 250)."
    )
    s.line(1, "server", 18, f"INFO [Partition t-0 broker=1] {shrinks} (kafka.cluster.Partition)")
    s.offline(9, 19, 3, [3], 3, 1)
    s.online(9, 19.5, 4, 2, [2], 4)
    s.leads(2, 20, 4, 200, 200, [2], previous=3)
    s.follows(1, 30, 4, 300, 250, previous=2)
    s.truncates(1, 30.1, 200)
    stated = described(s.files, "billing t 0 270 300 30 - - -")
    (lost,) = [f for f in stated if f.kind == "data-loss"]
    assert [(p.offsets, p.committed) for p in lost.parts] == [(Range(200, 250), True), (Range(250, 300), None)]
    assert [c.had_read for c in lost.clients] == [Range(200, 270)]
    (read,) = [f for f in stated if f.kind == "read-then-lost"]
    (skip,) = [f for f in stated if f.kind == "consumer-skip"]
    assert read.offsets == skip.offsets == (Range(200, 270),)
    assert "--to-offset 200 " in words(skip).next_steps[0] and "--to-offset" not in words(skip).next_steps[0].replace(
        "--to-offset 200 ", ""
    )
