"""The report keeps its contract: the JSON document, its determinism, and a terminal text that hostile logs cannot command."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from dataclasses import replace
from datetime import datetime
from io import StringIO
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from rich.cells import cell_len
from rich.console import Console

from forensics.incidents.findings import urgency
from forensics.incidents.folding import folded
from forensics.incidents.incidents import Incident
from forensics.model.clock.clocks import Clock
from forensics.model.cluster.facts import Cluster, Node
from forensics.model.findings import CONFIDENCES, FINDING, FOLDED, LEVELS, Evidence, Finding, Place
from forensics.model.message import Range, said, values
from forensics.model.record import reader
from forensics.output.sanitise import clean
from forensics.rules import RULES, declared, rule_of
from forensics.views.document import SCHEMA, Report, rules_digest
from forensics.views.terminal import WordTable
from forensics.views.text import MOST, show
from forensics.words import words
from tests.forensics.staged import START, Story, report
from tests.support import found, local, recorded

NAMES = ("unclean-election-2.8.2-zk", "unclean-election-3.9.1-kraft", "rolling-restart-3.9.1-kraft", "clean-failover-0.10.2.2-zk")

NUMBER = (int, type(None))
TEXT = (str, type(None))
SOURCE = {
    "path": (str,),
    "broker": NUMBER,
    "kind": (str,),
    "sha256": TEXT,
    "bytes": NUMBER,
    "lines": NUMBER,
    "unrecognised": NUMBER,
    "first": TEXT,
    "last": TEXT,
    "problem": TEXT,
}
BROKER = {"id": (int,), "version": TEXT, "clock_offset_ms": (int,), "timezone": (str,)}
PARTITION = {
    "topic": (str,),
    "partition": (int,),
    "topic_id": TEXT,
    "replicas": (list,),
    "leader": NUMBER,
    "isr": (list,),
    "leader_epoch": NUMBER,
    "log_end_offset": NUMBER,
    "high_watermark": NUMBER,
}
TOLD = {
    "id": (str,),
    "kind": (str,),
    "severity": (str,),
    "confidence": (str,),
    "topic": TEXT,
    "partition": NUMBER,
    "brokers": (list,),
    "leader_epoch": NUMBER,
    "start": TEXT,
    "end": TEXT,
    "offsets": (list,),
    "committed": (bool, type(None)),
    "cause": TEXT,
    "summary": (str,),
    "explanation": (str,),
    "next_steps": (list,),
    "evidence": (list,),
}
CAUSES = {"unclean-election", "unflushed-log", "uncommitted-tail", "hw-truncation", "empty-replica", "corruption", "unknown"}
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@pytest.fixture(scope="module", params=NAMES)
def document(request: pytest.FixtureRequest) -> dict[str, Any]:
    return json.loads(recorded.report(request.param).json())


def conforms(value: dict[str, Any], shape: dict[str, tuple[type, ...]]) -> None:
    assert list(value)[: len(shape)] == list(shape) or set(value) >= set(shape), f"{sorted(shape)} are not all in {sorted(value)}"
    for key, types in shape.items():
        assert isinstance(value[key], types) and (bool in types or not isinstance(value[key], bool)), f"{key}: {value[key]!r}"


# the document


def test_shape(document: dict[str, Any]) -> None:
    assert list(document) == ["schema", "tool", "scope", "evidence", "cluster", "partitions", "verdict", "incidents", "findings"]
    assert document["schema"] == SCHEMA == "kafka-forensics/report/1"
    assert set(document["tool"]) == {"version", "command", "rules"}
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", document["tool"]["rules"])
    assert set(document["evidence"]) >= {"sources", "not_collected", "gaps"}
    assert document["cluster"]["mode"] in ("zookeeper", "kraft", "unknown")
    for rows, shape in (
        (document["evidence"]["sources"], SOURCE),
        (document["cluster"]["brokers"], BROKER),
        (document["partitions"], PARTITION),
        (document["findings"], TOLD),
    ):
        assert rows
        for row in rows:
            conforms(row, shape)


def test_words(document: dict[str, Any]) -> None:
    kinds = {r.kind for r in RULES}
    for f in document["findings"]:
        assert f["kind"] in kinds
        assert f["severity"] in LEVELS
        assert f["confidence"] in CONFIDENCES
        assert all(isinstance(step, str) and step for step in f["next_steps"])
        assert f["summary"] and f["explanation"] and "  " not in f["summary"]
        assert f["kind"] != "data-loss" or f["cause"] in CAUSES


def test_moments(document: dict[str, Any]) -> None:
    moments = [f[k] for f in document["findings"] for k in ("start", "end")] + [
        s[k] for s in document["evidence"]["sources"] for k in ("first", "last")
    ]
    assert all(MOMENT.fullmatch(m) for m in moments if m is not None)
    assert any(moments)


def test_offset_ranges(document: dict[str, Any]) -> None:
    for f in document["findings"]:
        for r in f["offsets"]:
            assert list(r) == ["start", "end"]
            if r["end"] is None:
                assert f["confidence"] == "possible" and f["next_steps"], "an open end is a possibility, and something would settle it"
            else:
                assert 0 <= r["start"] < r["end"]


def test_evidence_is_in_the_list_of_sources(document: dict[str, Any]) -> None:
    paths = {s["path"] for s in document["evidence"]["sources"]}
    for f in document["findings"]:
        assert f["evidence"]
        for piece in f["evidence"]:
            assert list(piece) == ["source", "line", "byte", "text"]
            assert piece["source"] in paths


def test_ids_are_unique(document: dict[str, Any]) -> None:
    twins = [i for i, n in Counter(f["id"] for f in document["findings"]).items() if n > 1]
    assert twins == []


@pytest.mark.parametrize("name", NAMES)
def test_the_most_urgent_comes_first_and_then_the_worst(name: str) -> None:
    declared = {rule.kind: rule for rule in RULES}
    ranks = [(urgency(f, declared[f.kind]), -LEVELS.index(f.severity)) for f in recorded.report(name).findings]
    assert ranks == sorted(ranks)


def test_partitions_are_in_order_and_without_the_metadata_log(document: dict[str, Any]) -> None:
    names = [(p["topic"], p["partition"]) for p in document["partitions"]]
    assert names == sorted(set(names))
    assert not [t for t, _ in names if t == "__cluster_metadata"]


@pytest.mark.parametrize("name", NAMES)
def test_same_evidence_same_bytes(name: str) -> None:
    assert recorded.report(name).json() == recorded.report(name).json()


def dealt(table: pa.Table, seed: int) -> pa.Table:
    """The same events, sources in another order: tasks finish as they please."""
    places: dict[str, list[int]] = {}
    for index, source in enumerate(table["source"].to_pylist()):
        places.setdefault(source, []).append(index)
    sources = sorted(places)
    random.Random(seed).shuffle(sources)
    return table.take([i for source in sources for i in places[source]])


def test_sources_in_any_order_give_the_same_bytes() -> None:
    for name in NAMES:
        table = recorded.events(name)
        straight = local.report(table).json()
        assert [local.report(dealt(table, seed)).json() == straight for seed in range(3)] == [True] * 3, name


def test_id_is_of_what_is_said_not_of_its_wording() -> None:
    one = finding()
    assert one.id == finding(message="below", values=(), severity="high").id
    assert one.id != finding(partition=1).id
    assert one.id != finding(offsets=(Range(2, 5),)).id
    assert one.id != finding(start=None).id
    apart = [finding(places=tuple(replace(one.place, partition=n, offsets=(Range(2, end),)) for n in (0, 1))) for end in (5, 6)]
    assert len({f.id for f in apart}) == 2
    assert re.fullmatch(r"[0-9a-f]{12}", one.id)


def test_finding_survives_its_travel() -> None:
    sent = finding(offsets=(Range(1, None),), committed=None, evidence=(Evidence("a", None, 7, "x"),))
    (row,) = pa.array([sent.row()], FINDING).to_pylist()
    assert reader(Finding)({**row, **dict.fromkeys(FOLDED)}) == sent


def test_rules_digest_is_stable() -> None:
    assert rules_digest() == rules_digest()


def test_nothing_collected() -> None:
    document = Report(Cluster(), [], []).document()
    assert document["findings"] == [] and document["partitions"] == []
    assert len(document["evidence"]["not_collected"]) > 3


# the text


def finding(**changes: Any) -> Finding:
    return found.loss(**{"brokers": (1, 2), "start": START, **changes})


def text(report: Report, width: int = 100, *, colours: bool = False, every: bool = False) -> str:
    out = StringIO()
    show(
        report,
        Console(
            file=out,
            width=width,
            highlight=False,
            force_terminal=colours,
            color_system="truecolor" if colours else None,
            legacy_windows=False,
        ),
        every=every,
    )
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("name", NAMES)
def test_text_fits_the_terminal(name: str, width: int) -> None:
    lines = text(recorded.report(name), width).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert len(lines) <= MOST
    assert any(re.search(r"\d brokers, ", line) for line in lines[-4:])


@pytest.mark.parametrize("width", [80, 160])
def test_the_first_screen_says_each_fact_once(width: int) -> None:
    shown = text(recorded.report("unclean-election-2.8.2-zk"), width)
    words = " ".join(shown.split())
    assert shown.startswith("LOST     at least 316 committed records of orders-0 and orders-1")
    assert "orders-0 offsets 200–357 at least 158 records written 01:53:27–01:53:40" in words
    assert "unclean.leader.election.enable=true for topic orders (broker-1/logs/server.log:" in words
    assert "Find a snapshot of the disk of broker 2 from before 01:53:46" in words
    (lost,) = [line for line in shown.splitlines() if "✗" in line]
    assert lost.split()[:2] == ["01:53:40", "✗"] and "broker 1, out of sync, became leader of orders-0 and orders-1" in lost
    once = ("316", "2026-11-21", "unclean.leader.election.enable=true", "01:53:53) ", "200–357 at least 158 records written 01:53:27")
    assert {part: words.count(part) for part in once[:3]} == dict.fromkeys(once[:3], 1)
    assert words.count("earlier, topic ledger (3 partitions) had no leader for up to 5.4 s") == (width > 80)
    assert words.count(" 2 Have the producers of orders-0 and orders-1 resend what they wrote between 01:53:27 and 01:53:40") == 1
    assert "UNKNOWN topic ledger (3 partitions): for 2 of them, broker 2 was the only in-sync replica" in words
    times = [line.split()[0].partition("–")[0] for line in shown.splitlines() if re.match(r"  \d\d:\d\d", line)]
    assert times == sorted(times) and 3 <= len(times) <= 7


def test_a_complete_report_says_what_was_lost_and_how_that_is_known() -> None:
    shown = " ".join(text(recorded.report("unclean-election-2.8.2-zk"), 160, every=True).split())
    assert "Lost: at least 316 records in 2 partitions" in shown
    assert "orders-0 200–357 (at least 158 records)" in shown
    assert "2 partitions (orders-0, orders-1): at least 316 offsets committed, lost" in shown
    assert "Truncating to offset 200" in shown, "evidence is quoted"


def test_records_that_producers_count_as_written_are_no_good_news() -> None:
    shown = text(recorded.report("acks1-failover-3.9.1-kraft"), colours=True)
    assert re.match(r"\x1b\[1;33mGONE +\x1b\[0m8 records of clicks-0", shown)
    assert recorded.report("acks1-failover-3.9.1-kraft").headline.losses == ("excluded", "tail-cut")


@pytest.mark.parametrize(("name", "version"), [
    ("unclean-election-2.8.2-zk", ", Kafka 2.8.2, "),
    ("power-loss-divergence-0.10.2.2-zk", ", Kafka 0.10.2 or later (inter.broker.protocol.version)"),
])  # fmt: skip
def test_text_names_the_version_as_far_as_it_is_known(name: str, version: str) -> None:
    assert version in " ".join(text(recorded.report(name)).split())


def test_text_is_the_same_every_time() -> None:
    name = "unclean-election-3.9.1-kraft"
    assert text(recorded.report(name)) == text(recorded.report(name))


def test_text_says_what_is_proven_and_no_more() -> None:
    shown = text(recorded.report("rolling-restart-3.9.1-kraft"))
    assert "SAFE     no committed record was lost (all 7 partitions, proven)" in shown
    assert "nothing was lost" not in shown.lower()


HOSTILE = {
    "escape": "\x1b[31mred\x1b[0m",
    "title": "\x1b]0;owned\x07",
    "c1": "\x9b31m",
    "carriage return": "seen\rhidden",
    "backspace": "a\b\b\b",
    "bidi": "\u202egnp.exe\u202c",
    "isolate": "\u2066x\u2069",
    "zero width": "a\u200bb\ufeff",
    "line separators": "a\u2028b\u2029c\x85d",
    "surrogate": "\ud800",
    "private use": "\ue000",
}


@pytest.mark.parametrize("poison", HOSTILE.values(), ids=HOSTILE.keys())
def test_text_neutralises_what_a_terminal_would_obey(poison: str) -> None:
    named = dict(finding(topic=poison).values) | {"moved": (said("data-loss/moved", broker=1, old=(poison,), new=("d",)),)}
    lost = finding(topic=poison, values=tuple(named.items()), evidence=(Evidence(poison, None, None, poison),))
    assert all(poison in part for part in (words(lost).summary, words(lost).explanation, *words(lost).next_steps))
    gap = found.found("evidence-gap", "low", message="limited", values=values(file=poison, rows=10))
    report = Report(Cluster(), [lost, gap], [])
    plain = text(report)
    obeyed = [c for c in plain if c in poison and not (c.isprintable() and c.isascii())]
    assert obeyed == []
    coloured = re.sub(r"\x1b\[[0-9;]*m", "", text(report, colours=True))
    assert not set(coloured) & {"\x1b", "\x07", "\x9b", "\r", "\b", "\u202e", "\u2066", "\u200b", "\u2028"}
    assert poison not in text(report, colours=True)


def test_text_prints_markup_as_it_stands() -> None:
    markup = "[red]no[/red] [link=http://x]y[/link] [/] [bold :smile:"
    shown = text(Report(Cluster(), [finding(topic=markup, evidence=(Evidence(markup, 1, 1, markup),))], []), 200, colours=True)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert plain.count(markup) >= 4
    assert "\x1b]8" not in shown, "no hyperlink was made"


def test_clean_keeps_readable_text() -> None:
    assert clean("Größe 注文-0 →\tx\n") == "Größe 注文-0 →\tx\n"
    assert clean("\x00\x1b") == "␀␛"


def test_hostile_log_from_end_to_end() -> None:
    """A log line somebody forged reaches the report as text."""
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.line(1, "state-change", 1, "INFO [Broker id=1] \x1b[2J[red]\u202eunknown to Kafka[/red] (state.change.logger)")
    reported = report(s.files)
    (odd,) = [f for f in reported.findings if f.kind == "unrecognised-lines"]
    assert "\x1b[2J" in odd.evidence[0].text, "the raw text is kept in the data"
    assert "\x1b" not in text(reported) and "\u202e" not in text(reported)
    json.loads(reported.json())


def test_many_findings_of_a_kind_are_folded() -> None:
    many = [found.offline(partition=i, start=START) for i in range(50)]
    shown = text(Report(Cluster(), folded(many, rule_of("offline-partition")), []), every=True)
    assert "50 partitions (t-0, t-1, t-2, t-3 and 46 more)" in " ".join(shown.split())
    assert len(shown.splitlines()) < 40


@pytest.mark.parametrize("width", [100, 160])
def test_no_first_screen_is_longer_than_a_screen(width: int) -> None:
    long = "no end of it " * 60
    kinds = [(kind, next(iter(of.get("message", ())), "broker-crash/found"), level) for kind, of in declared().items() for level in LEVELS]
    all_kinds = [found.found(kind, level, topic=long, message=message) for kind, message, level in kinds]
    lost = [finding(topic=f"{long}{n}", partition=n, still_on=(n,)) for n in range(30)]
    impact = values(impact=(said("coverage/cut", path=long, characters=9),))
    happened = [Incident(f"{n}", "broker-crash", "critical", (n,), None, None, impact) for n in range(9)]
    nodes = {n: Node(n, clock=Clock(zone_minutes=n)) for n in range(50)}
    states = [
        {**dict.fromkeys(PARTITION), **found.state("unknown", why=long), "topic": f"t{n}", "isr": [n], "replicas": [1, 2]}
        for n in range(99)
    ]
    report = Report(Cluster(nodes=nodes), [*lost, *all_kinds], states, happened)
    assert len(text(report, width).splitlines()) == MOST
    every = text(report, width, every=True)
    for heading in ("LOST ", "UNKNOWN ", "\nFindings\n", "\nLost: ", "\nWhat limits this report\n", "\nWhat to do next\n"):
        assert heading in every
    assert "more findings; -n " in every


def test_a_harmless_place_is_told_once_with_all_its_offsets_and_a_harmful_one_each_time_with_when() -> None:
    times = (datetime(2026, 1, 1), datetime(2026, 1, 2))
    places = tuple(Place("t", 7, None, at, at, (Range(n, n + 1),), None) for n, at in enumerate(times))
    stated = [
        finding(severity=s, topic=None, partition=None, offsets=(), start=times[0], end=times[0], places=places) for s in ("low", "high")
    ]
    harmless, harmful = (f["places"] for f in Report(Cluster(), stated, []).document()["findings"])
    offsets = [{"start": 0, "end": 1}, {"start": 1, "end": 2}]
    assert [(p["topic"], p["partition"], p["offsets"], p["times"]) for p in harmless] == [("t", 7, offsets, 2)]
    assert [(p["offsets"], p.get("start")) for p in harmful] == [(offsets[:1], None), (offsets[1:], "2026-01-02T00:00:00.000Z")]


def test_many_losses_are_cut_and_counted() -> None:
    many = [finding(partition=i, start=datetime(2026, 1, 1)) for i in range(60)]
    report = Report(Cluster(), many, [])
    assert "\n  and 54 more\n" in text(report)
    assert text(report, every=True).count("(4 offsets)") == 60


def test_sentences_of_findings_begin_with_a_capital_letter_and_agree_in_number() -> None:
    """In min-isr-3.9.1-kraft, a broker that crashed was in the only partition that it shared with others."""
    findings = local.report(recorded.events("min-isr-3.9.1-kraft")).findings
    assert not [words(f).explanation for f in findings if re.search(r"\. broker \d", words(f).explanation)]
    shares = [words(f).summary for f in findings if f.kind == "culprit-broker"]
    assert shares and not [s for s in shares if re.search(r"\b1 partitions|of 1 partition|of the 1 ", s)]


@pytest.mark.parametrize(("bundle", "missed"), [("clean-failover-0.10.2.2-zk", False), ("clean-failover-2.8.2-zk", True)])
def test_leader_epoch_checkpoints_are_missed_from_the_version_that_writes_them(bundle: str, missed: bool) -> None:
    events = recorded.events(bundle)
    without = events.filter(pc.invert(pc.ends_with(events["source"], "leader-epoch-checkpoint")))
    assert any("leader-epoch-checkpoint" in words for words in local.report(without).not_collected()) == missed


def test_a_table_cuts_no_word_while_there_is_room_for_the_longest() -> None:
    rows = [["acksall-rf2-min1-3", "200–304 (105 records)", "06:24:26–06:24:47", "partly: broker 1"]]

    def shown(width: int) -> str:
        console = Console(file=StringIO(), width=width, color_system=None)
        console.print(WordTable(("partition", "offsets", "written (UTC)", "recoverable"), rows))
        return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]

    words = {word for row in rows for cell in row for word in cell.split()}
    assert all(words <= set(shown(width).split()) for width in (64, 70, 80, 120))
    assert len([line for line in shown(120).splitlines() if line.strip()]) == 2
    assert all(len(line) <= 64 for line in shown(64).splitlines())


def test_the_times_of_a_paste_in_any_order_are_those_of_all_its_lines() -> None:
    first = ("2026-11-21 01:53:46,540", "Truncating to offset 200")
    last = ("2026-11-21 01:53:40,751", "Truncating to offset 310")
    lines = [f"[{at}] INFO [Log partition=orders-0, dir=/data] {what} (kafka.log.Log)\n" for at, what in (first, last)]
    shown = " ".join(text(report({"paste.log": "".join(lines)})).split())
    assert "evidence 01:53:40–01:53:46" in shown and "end of the evidence (01:53:46)" in shown
