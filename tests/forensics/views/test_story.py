"""A partition's story: what real clusters went through is reported in the order of its cause, bounded, and shown safely."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from forensics.model.message import Range
from forensics.rules import RULES
from forensics.views.lanes import document, json_text, show
from forensics.views.story.step import MOST, STATUSES, STORY, TONES, StoryStep, Wanted, folded, in_order, said
from tests.forensics.staged import START, Story, table
from tests.support import local, recorded
from tests.support.each import for_each
from tests.support.local import story_rows
from tests.support.paths import BUNDLES

RECORDED = (
    "acks1-failover-zones-2.5.1-zk",
    "clean-failover-0.10.2.2-zk",
    "delete-recreate-retention-2.8.2-zk",
    "isr-flapping-2.4.1-zk",
    "last-replica-standing-4.1.1-kraft",
    "min-isr-2.8.2-zk",
    "reassignment-3.9.1-kraft",
    "rolling-restart-2.8.2-zk",
    "unclean-election-1.0.2-zk",
    "unclean-election-2.8.2-zk",
    "unclean-election-3.9.1-kraft",
    "zombie-leader-3.9.1-kraft",
)

Rows = list[dict[str, Any]]
FOLDED = Wanted()


def stories(events: pa.Table, wanted: Wanted = FOLDED) -> dict[str, Rows]:
    """Stories by partition, through the schema they travel in, older generations first."""
    found: dict[str, Rows] = {}
    for timeline, cluster in local.timelines(events):
        if not timeline.topic.startswith("__"):
            rows = pa.RecordBatch.from_pylist(list(story_rows(timeline, cluster, wanted)), schema=STORY).to_pylist()
            found.setdefault(timeline.name, []).extend(rows)
    return found


@cache
def story_of(bundle: str) -> tuple[pa.Table, Mapping[str, Any]]:
    truth = json.loads((BUNDLES / f"{bundle}.expected.json").read_text())
    return recorded.events(bundle), truth


def entries_of(bundle: str, name: str, wanted: Wanted = FOLDED) -> Rows:
    return stories(story_of(bundle)[0], wanted)[name]


def of(rows: Sequence[Mapping[str, Any]], *kinds: str) -> list[Mapping[str, Any]]:
    return [r for r in rows if r["kind"] in kinds]


def lanes(row: Mapping[str, Any]) -> dict[int, str]:
    return {lane["broker"]: lane["status"] for lane in row["lanes"]}


def shown(rows: Rows, width: int = 80, *, encoding: str = "utf-8", name: tuple[str, int] = ("t", 0)) -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    show(rows, *name, Console(file=out, width=width, highlight=False, color_system=None))
    out.seek(0)
    return out.read()


# what really happened


@for_each(RECORDED)
def test_losses_unclean_elections_and_the_end_are_told_as_they_were(bundle: str) -> None:
    events, truth = story_of(bundle)
    found = stories(events)
    for name, lost in truth["lost"].items():
        ranges = [tuple(r) for r in lost["offsets"]]
        losses = [r for r in of(found[name], "data-loss") if r["tone"] == "loss"]
        assert all(any(f"LOSS: offsets {Range(a, b)}" in r["text"] for r in losses) for a, b in ranges), name
    for name in truth["nothing_lost"]:
        assert not [r for r in found[name] if r["tone"] == "loss"], name
    for unclean in truth["unclean_elections"]:
        rows = found[f"{unclean['topic']}-{unclean['partition']}"]
        elected = [r for r in of(rows, "leader-change") if "UNCLEAN ELECTION" in r["text"]]
        assert [r["broker"] for r in elected] == [unclean["new_leader"]]
        assert f"not in the ISR {unclean['isr_before']}" in elected[0]["text"]
        assert lanes(elected[0])[unclean["new_leader"]] == "leader"
    for name, final in truth["final_state"].items():
        end = lanes(of(found[name], "end")[-1])
        assert [b for b, status in end.items() if status == "leader"] == [final["leader"]], name
        assert sorted(b for b, status in end.items() if status in ("leader", "in-sync")) == sorted(final["isr"]), name


@for_each(RECORDED)
def test_a_story_names_no_finding_that_the_report_does_not_have(bundle: str) -> None:
    events = story_of(bundle)[0]
    reported = {f.kind for f in local.report(events).findings}
    findings = {rule.kind for rule in RULES} - {"hw-regression", "topic-deleted"}  # lines have these names, too
    told_of = {r["kind"] for rows in stories(events).values() for r in rows}
    assert told_of & findings <= reported


@for_each(RECORDED)
def test_epochs_rise_and_every_entry_carries_its_lanes(bundle: str) -> None:
    for name, rows in stories(story_of(bundle)[0]).items():
        for _, generation in itertools.groupby(rows, key=lambda r: r["generation"]):
            own = list(generation)
            changes = [(r["epoch"], r["partition_epoch"] or 0) for r in of(own, "leader-change", "isr-change", "epoch-change")]
            assert [c[0] for c in changes] == sorted(c[0] for c in changes), name
            assert [r["number"] for r in own] == list(range(len(own)))
        brokers = {tuple(lanes(r)) for r in rows if r["generation"] == 0}
        assert len(brokers) == 1, "the lanes stay where they are"
        assert {s for r in rows for s in lanes(r).values()} <= set(STATUSES)
        assert {r["tone"] for r in rows} <= set(TONES)
        assert all(r["text"] for r in rows)


def test_the_deaths_of_brokers_stand_before_what_follows_from_them() -> None:
    rows = entries_of("unclean-election-2.8.2-zk", "orders-0")
    assert [r["broker"] for r in of(rows, "broker-died")] == [1, 3, 2]
    order = [r["kind"] for r in rows if r["kind"] in ("broker-died", "leader-change", "removal", "data-loss")]
    assert order == ["leader-change", "broker-died", "broker-died", "broker-died", "leader-change", "leader-change", "data-loss", "removal"]
    died = of(rows, "broker-died")[-1]
    assert lanes(died)[2] == "down"
    assert "restarts 2026-11-21 01:53:43.730 UTC" in died["text"]
    removal = of(rows, "removal")[0]
    assert (removal["broker"], removal["text"]) == (2, "broker 2 TRUNCATES to 200: offsets 200–357 are gone from its log")
    assert removal["evidence"][0]["source"] == "broker-2/logs/server.log"
    assert "Truncating to offset 200" in removal["evidence"][0]["text"]


def test_a_rolling_restart_is_told_as_orderly() -> None:
    rows = entries_of("rolling-restart-2.8.2-zk", "inventory-2")
    assert [r["broker"] for r in of(rows, "broker-stopping")] == [1, 2, 3]
    assert [r["broker"] for r in of(rows, "broker-stopped")] == [1, 2, 3]
    assert not of(rows, "broker-died")
    handed = [r["text"] for r in of(rows, "leader-change")]
    assert "after broker 3 (orderly stop)" in handed[1]
    assert handed[2].startswith("preferred election: broker 3 leads, after broker 1")
    assert not [r for r in rows if r["tone"] in ("loss", "bad")]


def test_the_same_topic_of_two_clusters_has_two_stories() -> None:
    """ZooKeeper was emptied: each of the clusters before and after had a topic of this name, which nobody deleted."""
    rows = stories(recorded.events("wiped-zookeeper-3.7.2-zk"))["orders-0"]
    ordered = in_order(sorted(rows, key=lambda r: r["text"]))
    clusters = [number for number, _ in itertools.groupby(r["cluster"] for r in ordered)]
    assert clusters == [-1, 0]
    assert shown(ordered).count("the topic of the next cluster") == 1


def test_a_reassignment_gives_and_takes_lanes() -> None:
    rows = entries_of("reassignment-3.9.1-kraft", "profile-0")
    first, last = of(rows, "leader-change")[0], of(rows, "end")[0]
    assert (lanes(first)[1], lanes(first)[4]) == ("none", "leader")
    assert (lanes(last)[1], lanes(last)[4]) == ("leader", "none")
    assert any("reassignment adds [1]; reassignment removes [4]" in r["text"] for r in rows)
    assert any("broker 1 leads, after broker 4 (reassignment)" in r["text"] for r in rows)


def test_a_topic_made_again_has_two_stories() -> None:
    rows = entries_of("delete-recreate-retention-2.8.2-zk", "staging-0")
    assert [g for g, _ in itertools.groupby(r["generation"] for r in rows)] == [-1, 0]
    assert [len(of([r for r in rows if r["generation"] == g], "topic-created")) for g in (-1, 0)] == [1, 1]
    before = [r for r in rows if r["generation"] == -1]
    assert of(before, "topic-deleted")
    assert any("topic is being deleted" in r["text"] for r in before)
    assert "the topic was deleted, and created again" in shown(rows)


def test_a_frozen_leader_is_lost_and_comes_back() -> None:
    rows = entries_of("zombie-leader-3.9.1-kraft", "sessions-0")
    gone, back = of(rows, "broker-lost", "broker-back")
    assert (gone["broker"], lanes(gone)[2], lanes(back)[2]) == (2, "down", "out-of-sync")
    assert "session timeout" in gone["text"]
    assert not of(rows, "broker-died")


@pytest.mark.parametrize("told_by", ["itself", "the controller"])
def test_a_failed_directory_is_its_brokers_whoever_tells_of_it(told_by: str) -> None:
    events, truth = story_of("log-dir-failure-2.8.2-zk")
    if told_by == "the controller":
        events = events.filter(pc.invert(pc.match_substring(events["source"], "broker-2/logs/")))
    rows = stories(events)["media-1"]
    offline = of(rows, "log-dir-partitions")
    assert {r["broker"] for r in offline} == {2}
    end = lanes(of(rows, "end")[-1])
    assert (end[2], end[3]) == ("down", "in-sync")
    assert sorted(b for b, status in end.items() if status in ("leader", "in-sync")) == sorted(truth["final_state"]["media-1"]["isr"])


def test_refused_writes_and_saved_disks() -> None:
    rows = entries_of("min-isr-2.8.2-zk", "billing-0")
    refused = of(rows, "append-refused")
    assert (refused[0]["repeats"], refused[0]["broker"]) == (8, 2)
    assert refused[0]["last"] > refused[0]["first"]
    assert "REFUSES writes" in refused[0]["text"]
    assert [r["broker"] for r in of(rows, "on-disk")] == [1, 2, 3]
    assert "log ends at 260; HW 260" in of(rows, "on-disk")[0]["text"]


def test_other_zones_are_corrected() -> None:
    rows = entries_of("acks1-failover-zones-2.5.1-zk", "clicks-0")
    times = [r["time"] for r in rows if r["time"] is not None]
    assert max(times) - min(times) < timedelta(minutes=2), "brokers in Kolkata and New York tell one story"


def test_more_is_told_when_all_is_asked_for() -> None:
    folded_rows, whole = (entries_of("isr-flapping-2.4.1-zk", "events-0", Wanted(everything=every)) for every in (False, True))
    folds = of(folded_rows, "folded")
    assert len(folds) == 1
    assert folds[0]["first"] < folds[0]["last"]
    assert folds[0]["repeats"] >= 10
    assert not of(whole, "folded")
    assert len(whole) > 2 * len(folded_rows)
    assert len(of(whole, "isr-change")) > len(of(folded_rows, "isr-change"))


def test_a_window_carries_the_lanes_into_it() -> None:
    since, until = datetime(2026, 11, 21, 1, 53, 40), datetime(2026, 11, 21, 1, 53, 45)
    rows = entries_of("unclean-election-2.8.2-zk", "orders-0", Wanted(since, until))
    assert rows[0]["kind"] == "left-out"
    assert lanes(rows[0]) == {1: "out-of-sync", 2: "leader", 3: "out-of-sync"}
    assert all(since <= r["time"] <= until for r in rows if r["time"] is not None)
    assert of(rows, "data-loss")
    beyond = entries_of("unclean-election-2.8.2-zk", "orders-0", Wanted(since=datetime(2030, 1, 1)))
    assert not of(beyond, "leader-change")
    assert beyond[0]["kind"] == "left-out"
    assert beyond[0]["repeats"] > 20
    early = entries_of("unclean-election-2.8.2-zk", "orders-0", Wanted(until=since))
    assert [i for i, r in enumerate(early) if r["kind"] == "left-out"] == [len(early) - 5], "before the end and the disks"


# staged stories


def test_what_was_not_collected_is_a_gap() -> None:
    story = Story()
    story.leads(1, 0, 5, 100, 100, [1, 2, 3])
    story.isr(1, 30, [1, 3], 9)
    story.isr(1, 40, [1, 3, 2], 12)
    rows = stories(table(story.files))["t-0"]
    gaps = [r["text"] for r in of(rows, "gap")]
    assert gaps[0] == "the evidence of this partition begins here, in epoch 5; earlier events are unknown"
    assert gaps[1].startswith("nothing was collected from brokers 2 and 3")
    assert gaps[2] == "up to 3 changes of the partition's state are not in evidence", (
        "leader epoch 5 began at partition epoch 5 at the least"
    )
    assert gaps[3] == "2 changes of the partition's state are not in evidence"
    order = [r["kind"] for r in rows if r["kind"] in ("gap", "isr-change")]
    assert order[-4:] == ["gap", "isr-change", "gap", "isr-change"]


def test_a_broker_that_falls_silent_leaves_a_gap() -> None:
    story = Story()
    story.leads(1, 0, 0, 0, 0, [1, 2])
    story.follows(2, 0.1, 0, 0, 0)
    story.isr(1, 30, [1], 1)
    story.isr(1, 90, [1, 3], 2)
    silent = [r for r in of(stories(table(story.files))["t-0"], "gap") if r["broker"] == 2]
    assert [r["text"] for r in silent] == ["no line of broker 2 after 2026-11-21 01:53:00.100 UTC: it crashed, or its later log is missing"]


def test_epochs_order_what_wrong_clocks_do_not() -> None:
    story = Story()
    story.online(1, 0, 1, 1, [1, 2], 1)
    story.online(1, 20, 2, 2, [2, 1], 2)
    story.follows(1, 5, 2, 100, 100, 1)  # a clock that is 15 s slow
    rows = stories(table(story.files))["t-0"]
    order = [(r["kind"], r["epoch"]) for r in rows if r["kind"] in ("leader-change", "follower-start")]
    assert order == [("leader-change", 1), ("leader-change", 2), ("follower-start", 2)]


def test_a_million_changes_would_be_bounded() -> None:
    story = Story()
    for i in range(3_000):
        story.isr(1, i, [1, 2] if i % 2 else [1, 2, 3], i + 1)
    rows = stories(table(story.files))["t-0"]
    assert len(rows) < 20
    (fold,) = of(rows, "folded")
    assert fold["repeats"] + len(of(rows, "isr-change", "leader-change")) == 3_000
    assert len(stories(table(story.files), Wanted(everything=True))["t-0"]) >= 3_000


def test_however_different_the_entries_a_story_is_bounded() -> None:
    story = Story()
    for i in range(MOST + 500):
        error = f"ERROR [ReplicaFetcher replicaId=1, leaderId={i}, fetcherId=0] Error for partition t-0 at offset {i} (kafka.server.ReplicaFetcherThread)"
        story.line(1, "server", i, error)
    rows = stories(table(story.files))["t-0"]
    assert len(rows) <= MOST + 1
    assert sum(r["repeats"] for r in rows if r["kind"] in ("folded", "fetch-error")) >= MOST + 500


def test_lanes_of_brokers_without_number_are_bounded() -> None:
    story = Story()
    for i in range(40):
        story.isr(1, i, range(i * 100, i * 100 + 50), i + 1)
    rows = stories(table(story.files))["t-0"]
    assert {len(r["lanes"]) for r in rows} == {64}
    assert max(map(len, shown(rows).splitlines())) <= 80


@given(st.lists(st.integers(0, 6), max_size=200), st.booleans(), st.integers(4, 60))
def test_folding_keeps_first_and_last_and_covers_all(signatures: list[int], everything: bool, limit: int) -> None:
    steps = [StoryStep("k", None, (s,), said("")) for s in signatures]
    runs = folded(steps, everything=everything, limit=limit)
    assert [i for first, last in runs for i in range(first, last + 1)] == list(range(len(steps))), "nothing twice, nothing left out"
    assert len(runs) <= limit + 1
    if not everything and len(runs) < limit:
        alone = {first for first, last in runs if first == last}
        for s in set(signatures):
            places = [i for i, other in enumerate(signatures) if other == s]
            assert {places[0], places[-1]} <= alone


# how it looks


@pytest.mark.parametrize("width", [80, 120, 160])
@pytest.mark.parametrize("bundle", ["unclean-election-2.8.2-zk", "isr-flapping-2.4.1-zk", "reassignment-3.9.1-kraft"])
def test_no_line_is_wider_than_the_terminal_and_no_word_is_lost(bundle: str, width: int) -> None:
    for name, rows in stories(story_of(bundle)[0]).items():
        text = shown(rows, width)
        assert max(map(cell_len, text.splitlines())) <= width, name
        lanes_end = 19 + 3 * len(rows[0]["lanes"]) + 2
        words = {w for r in rows for w in r["text"].split()}
        beside = {w for line in text.splitlines() for w in line[lanes_end - 4 :].split()}
        assert words <= beside, name


def test_a_story_as_it_is_pasted() -> None:
    rows = entries_of("unclean-election-2.8.2-zk", "orders-0")
    page = shown(rows, 80, name=("orders", 0))
    assert "\x1b" not in page, "no colour where there is no terminal"
    assert "01:53:40.751      4  ●     ┊  !! UNCLEAN ELECTION: broker 1 leads, it was not in" in page
    assert "01:53:40.751      4  ┃     ┊  !! LOSS: offsets 200–357 committed, lost" in page
    assert "broker-2/logs/server.log:" not in page
    assert "broker-2/logs/server.log:" in shown(rows, 130)


def test_ascii_where_the_output_is_no_unicode() -> None:
    page = shown(entries_of("unclean-election-2.8.2-zk", "orders-0"), encoding="ascii")
    assert "01:53:40.751      4  @     :  !! UNCLEAN ELECTION" in page
    assert page.isascii()


def test_five_brokers_and_more_than_fit() -> None:
    story = Story()
    story.leads(5, 0, 0, 0, 0, [5, 4, 3, 2, 1])
    story.isr(5, 1, [5, 4, 3], 1)
    page = shown(stories(table(story.files))["t-0"], 80)
    assert "UTC           epoch  1  2  3  4  5" in page
    assert "·  ·  │  │  ┃  ISR [5, 4, 3, 2, 1] -> [5, 4, 3]" in page
    story.isr(5, 2, range(5, 30), 2)
    page = shown(stories(table(story.files))["t-0"], 80)
    assert "no room for the lanes of" in page
    assert max(map(len, page.splitlines())) <= 80


def row_of(text: str, broker: int = 1, tone: str = "plain", source: str = "s") -> dict[str, Any]:
    return {
        "cluster": 0,
        "generation": 0,
        "topic_id": None,
        "number": 0,
        "time": START,
        "epoch": 1,
        "partition_epoch": None,
        "kind": "fetch-error",
        "tone": tone,
        "broker": broker,
        "text": text,
        "repeats": 2,
        "first": START,
        "last": START + timedelta(seconds=1),
        "lanes": [{"broker": b, "status": s, "marked": b == broker} for b, s in enumerate(("leader", "in-sync", "down"), 1)],
        "evidence": [{"source": source, "line": 7, "byte": None, "text": text}],
    }


HOSTILE = st.text(
    alphabet=st.one_of(st.characters(codec="utf-8"), st.sampled_from("\x1b[31m\n\r\t\x00\x07\x9b世界\u202e\u200d[/]")), max_size=300
)


@settings(max_examples=150)
@given(HOSTILE, HOSTILE, st.sampled_from(TONES), st.integers(60, 200), st.sampled_from(["utf-8", "ascii", "latin-1"]))
def test_no_text_breaks_the_table_or_reaches_the_terminal_raw(text: str, source: str, tone: str, width: int, encoding: str) -> None:
    rows = [row_of("before"), row_of(text, 2, tone, source), row_of("after", 3)]
    page = shown(rows, width, encoding=encoding, name=(source, 0))
    lines = page.split("\n")
    assert not [c for c in page if ord(c) < 32 and c != "\n"] and not [c for c in page if 0x7F <= ord(c) < 0xA0]
    assert "\u202e" not in page
    assert max(map(cell_len, lines)) <= width
    timed = [i for i, line in enumerate(lines) if line.startswith("01:53:00.000")]
    assert len(timed) == 3, "every entry begins one line, and no text begins another"
    assert " before" in lines[timed[0]]
    assert " after" in lines[timed[2]]


@given(HOSTILE)
def test_the_document_is_plain_json(text: str) -> None:
    rows = [row_of(text)]
    parsed = json.loads(json_text(rows, "t", 0).encode().decode())
    assert parsed == json.loads(json.dumps(document(rows, "t", 0)))
    assert parsed["schema"] == "kafka-forensics/timeline/1"
    assert parsed["brokers"] == [1, 2, 3]
    entry = parsed["entries"][0]
    assert entry["text"] == text
    assert entry["lanes"] == {"1": "leader", "2": "in-sync", "3": "down"}
    assert (entry["first"], entry["last"], entry["repeats"]) == ("2026-11-21T01:53:00.000Z", "2026-11-21T01:53:01.000Z", 2)
    assert entry["evidence"][0]["line"] == 7


def happens(story: Story, broker: int, seconds: int, what: int, epoch: int, offset: int) -> None:
    """One of the things that happen to a partition."""
    steps: list[Callable[[], None]] = [
        lambda: story.leads(broker, seconds, epoch, offset, offset, [broker]),
        lambda: story.follows(broker, seconds, epoch, offset, offset),
        lambda: story.truncates(broker, seconds, offset),
        lambda: story.loads(broker, seconds, offset, unclean=bool(epoch % 2)),
        lambda: story.offline(broker, seconds, epoch, [broker], epoch, 1),
        lambda: story.isr(broker, seconds, [1, broker], offset),
        lambda: story.line(broker, "server", seconds, f"INFO [KafkaServer id={broker}] starting (kafka.server.KafkaServer)"),
    ]
    steps[what]()


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.integers(-5, 60), st.sampled_from(range(7)), st.integers(0, 5), st.integers(0, 400)), max_size=25
    )
)
def test_any_order_of_lines_gives_a_story(lines: list[tuple[int, int, int, int, int]]) -> None:
    story = Story()
    story.line(1, "server", 0, "INFO [Partition t-0 broker=1] ISR updated to 1,2 and version updated to [1] (kafka.cluster.Partition)")
    for line in lines:
        happens(story, *line)
    for every in (False, True):
        for rows in stories(table(story.files), Wanted(everything=every)).values():
            assert rows
            assert max(map(cell_len, shown(rows).splitlines())) <= 80
