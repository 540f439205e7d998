"""Reports on random incidents (fixtures/random), held against what the clients saw of each: no value here is one of ours.

Here: what must hold whatever the incident was. Not here: staged incidents, whose findings are known in advance (test_bundles).
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import pytest

from forensics.model.findings import LOST, Finding
from forensics.model.message import Range
from forensics.views.document import Report
from tests.support import local
from tests.support.contradictions import check_nobody_is_up_after_a_crash, contradictions
from tests.support.paths import ROOT

RANDOM = ROOT / "fixtures" / "random"
NAMES = sorted(p.name.removesuffix(".tar.gz") for p in RANDOM.glob("*.tar.gz"))
ENDS = ("kill -9", "process ended by itself")
BUSY = timedelta(seconds=1)
"""What was done was noted a moment before or after it happened."""
DATED_END = ("broker-crash", "log-dir-failure", "fatal-error", "start-failed", "halted-on-truncation")


@cache
def truth_of(name: str) -> dict[str, Any]:
    return json.loads((RANDOM / f"{name}.expected.json").read_text())  # type: ignore[no-any-return]


@cache
def report_of(name: str) -> Report:
    return local.report(local.events_of(RANDOM / f"{name}.tar.gz"))


def when(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=None)


def offsets(pairs: Iterable[Iterable[int]]) -> set[int]:
    return {offset for first, end in pairs for offset in range(first, end)}


def within(ranges: Iterable[Range], all_: Iterable[int]) -> set[int]:
    """Those of the offsets that are in one of the ranges."""
    known = [*ranges]
    return {o for o in all_ if any(r.start <= o and (r.end is None or o < r.end) for r in known)}


def lost_in(name: str) -> Iterator[tuple[str, dict[str, Any], str, list[Finding]]]:
    """Each partition that a client could read at the end: its name, what is true of it, its verdict, and what is said to be lost."""
    report = report_of(name)
    found = [f for f in local.spread(report.findings) if f.loss]
    verdicts = {f"{p['topic']}-{p['partition']}": p["verdict"] for p in report.partitions}
    for partition, own in truth_of(name)["partitions"].items():
        if own["readable"]:
            yield partition, own, verdicts[partition], [f for f in found if f"{f.topic}-{f.partition}" == partition]


@pytest.mark.parametrize("name", NAMES)
def test_no_loss_is_denied_and_what_can_be_read_is_not_lost(name: str) -> None:
    for partition, own, verdict, findings in lost_in(name):
        committed = offsets([*own["lost"].get("all", []), *own["seen_then_gone"]])
        lost = committed | offsets([*own["lost"].get("1", []), *own["moved"]])
        assert verdict not in (("intact", "tail-cut") if committed else ("intact",) if lost else ()), partition
        assert not (verdict == LOST and not lost), partition
        parts = [part for f in findings for part in f.place.parts]
        if verdict == LOST and committed:
            assert committed <= within([p.offsets for p in parts], committed), partition
        ends = range(min(lost, default=0), max(lost, default=-1) + 1)  # clients do not see the markers of transactions in between
        sure = [p.offsets for p in parts if p.kind == LOST and p.confidence != "possible" and p.offsets.end is not None]
        assert within(sure, offsets(own["same"]) - {*ends}) == set(), partition


@pytest.mark.parametrize("name", NAMES)
def test_what_is_offered_as_lost_records_is_those(name: str) -> None:
    with tarfile.open(RANDOM / f"{name}.tar.gz") as archive:
        files = {m.name.partition("/")[2]: m for m in archive if m.isfile() and m.name.endswith(".log")}
        for partition, own, _, findings in lost_in(name):
            for f in findings:
                for held in f.salvageable.held if f.salvageable is not None else ():
                    content = archive.extractfile(files[held.source])
                    assert content is not None
                    data = content.read()
                    ids = {int(o): texts for o, texts in own["lost_ids"].items()}
                    offered = within([held.offsets], ids)
                    assert [o for o in offered for text in ids[o] if f"{text}|".encode() not in data] == [], (partition, held.source)
                lost = offsets([*own["lost"].get("all", []), *own["lost"].get("1", [])])
                for broker in f.still_on:
                    assert within(f.offsets, lost) <= offsets(own["lost_still_on"].get(str(broker), [])), (partition, broker)


@pytest.mark.parametrize("name", NAMES)
def test_ends_of_processes_are_where_they_are_said_to_be(name: str) -> None:
    report, truth = report_of(name), truth_of(name)
    ended = [(a["node"], when(a["at"])) for a in truth["actions"] if a["action"] in ENDS]
    spans = [(f, b, f.start - BUSY, (f.start_latest or f.start) + BUSY) for f in report.findings for b in f.brokers if f.start is not None]
    for f, broker, first, last in spans:
        if f.kind in ("broker-crash", "controller-crash") and f.confidence != "possible":
            assert any(b == broker and first <= at <= last for b, at in ended), (broker, f.start)
    logged = set(truth["brokers"]) - {int(text.split(":")[0].removeprefix("broker ")) for text in truth["not_collected"]}
    unseen = {(b, f.known["begun"]) for f in report.findings if f.message_id == "evidence-gap/process-missing" for b in f.brokers}
    for broker, at in ended:
        if broker in logged:
            stated = any(f.kind in DATED_END and b == broker and first <= at <= last for f, b, first, last in spans)
            assert stated or any(b == broker and isinstance(begun, datetime) and at <= begun for b, begun in unseen), (broker, at)


@pytest.mark.parametrize("name", NAMES)
def test_elections_are_those_that_the_clients_saw(name: str) -> None:
    seen = {(u["topic"], u["partition"]) for u in truth_of(name)["unclean_elections"]}
    found = [f for f in local.spread(report_of(name).findings) if f.kind == "unclean-election" and f.topic in truth_of(name)["topics"]]
    sure = {(f.topic, f.partition) for f in found if f.confidence != "possible"}
    assert sure <= seen <= {(f.topic, f.partition) for f in found}


@pytest.mark.parametrize("name", NAMES)
def test_report_does_not_contradict_itself(name: str) -> None:
    report = report_of(name)
    assert contradictions(report) == ()
    check_nobody_is_up_after_a_crash(report)
    assert len({f.id for f in report.findings}) == len(report.findings)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_over_and_what_is_not_is_as_it_was(name: str) -> None:
    report, truth = report_of(name), truth_of(name)
    offline = [f for f in report.findings if f.kind == "culprit-broker" and f.cause == "offline" and f.end is None]
    assert {b for f in offline for b in f.brokers} <= {*truth["down_at_end"]}
    deleted = {a["topic"] for a in truth["actions"] if a["action"] == "delete-topic"} - {*truth["topics"]}
    assert deleted.isdisjoint(p["topic"] for p in report.partitions)
    assert deleted <= {f.topic for f in report.findings if f.kind == "topic-deleted"}
    for a in truth["actions"]:
        if a["action"] == "wiped" and a["how"] == "machine":
            headless = [f for f in report.findings if f.kind == "offline-partition" and a["node"] in f.brokers and f.start is not None]
            during = [f for f in headless if f.start < when(a["at"]) and (f.end is None or when(a["at"]) < f.end)]
            assert [f.id for f in during if f.incident is None] == []
