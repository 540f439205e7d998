"""On tables of recorded incidents: taking a premise away widens cells and never makes a verdict surer."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import (
    CLOCK,
    COMPLETE,
    FETCHER,
    LOG,
    ORDER,
    PARTITION,
    PROCESS,
    READ,
    STATE,
    Answer,
    LogCoverage,
)
from forensics.model.message import said
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.handovers import handovers
from forensics.proof.verdict import CELLS, UNKNOWN, Handover, Removed, verdict
from tests.forensics.proof.tables import PARTS, contradicts, surer
from tests.support import local, shapes, taken

BUNDLES = (
    "shared-log-clean-2.8.2-zk",
    "power-loss-divergence-0.10.2.2-zk",
    "hw-truncation-0.10.2.2-zk",
    "acks1-failover-1.1.1-zk",
    "min-isr-2.8.2-zk",
    "zombie-leader-2.2.2-zk",
    "disk-replaced-in-isr-2.3.1-zk",
    "isr-flapping-1.0.2-zk",
    "unclean-election-0.8.2.2-zk",
    "wiped-everything-0.10.0.1-zk",
    "last-replica-standing-1.0.2-zk",
    "zombie-leader-4.1.1-kraft",
    "acks1-failover-3.9.1-kraft",
)
PREMISES = (ORDER, CLOCK, COMPLETE)
FACETS = (LOG, PARTITION, FETCHER, PROCESS, STATE)
Input = tuple[PartitionTimeline, Cluster]


@cache
def _events(name: str) -> pa.Table:
    return taken.table(shapes.bundle(name))


@cache
def _found(name: str) -> tuple[Input, ...]:
    return tuple((t, c) for t, c in local.timelines(_events(name)) if t.terms)


def rows(found: Input) -> Sequence[Handover]:
    """The table, computed again: nothing that is kept with a timeline or a cluster is used."""
    timeline, cluster = found
    return handovers(copy.copy(timeline), copy.copy(cluster))


def denied(monkeypatch: pytest.MonkeyPatch, premise: str, broker: int | None) -> None:
    """This premise, or a line of this facet, counts as missing of that broker, or of all."""
    would_show = LogCoverage.would_show

    def without(coverage: LogCoverage, *statement: str, **span: Any) -> Answer:
        of_lines = premise == COMPLETE and not {*PREMISES, READ}.issuperset(statement)
        denied = broker in (None, coverage.broker) and (premise in statement or of_lines)
        return Answer(said("coverage/server-log", broker=coverage.broker)) if denied else would_show(coverage, *statement, **span)

    monkeypatch.setattr(LogCoverage, "would_show", without)


def narrower(before: Sequence[Handover], after: Sequence[Handover]) -> Iterator[str]:
    """Cells that allow less with less evidence."""
    for number, (one, other) in enumerate(zip(before, after, strict=True)):
        for cell in CELLS:
            if not getattr(other, cell).covers(getattr(one, cell)):
                yield f"row {number}, {cell}: {getattr(one, cell)} -> {getattr(other, cell)}"
        if len(one.removed) == len(other.removed):
            for was, now in zip(one.removed, other.removed, strict=True):
                yield from _narrower(number, was, now)


def _narrower(number: int, was: Removed, now: Removed) -> Iterator[str]:
    for part in ("start", "end", *PARTS):
        if not getattr(now, part).covers(getattr(was, part)):
            yield f"row {number}, removed, {part}: {getattr(was, part)} -> {getattr(now, part)}"


@pytest.mark.parametrize("broker", [None, 1, 2, 3])
@pytest.mark.parametrize("name", BUNDLES)
def test_without_a_premise_nothing_is_surer(name: str, broker: int | None) -> None:
    widened = set()
    for found in _found(name):
        before = rows(found)
        for premise in (*PREMISES, *FACETS):
            with pytest.MonkeyPatch.context() as monkeypatch:
                denied(monkeypatch, premise, broker)
                after = rows(found)
            assert list(narrower(before, after)) == [], (found[0].name, premise)
            widened |= {premise} if after != before else set()
            if any(map(contradicts, before)):
                continue
            one, other = verdict(before), verdict(after)
            assert other.verdict in (one.verdict, UNKNOWN), (found[0].name, premise)
            assert list(surer(one.lost, other.lost)) == []
            assert other.decides or not one.decides
    assert broker is not None or widened, "some premise matters in each of them"


def test_every_premise_matters_somewhere() -> None:
    """Else the test above would prove nothing of it. No claim rests on a line that a fetcher does not print."""
    matters: set[str] = set()
    for found in (found for name in BUNDLES for found in _found(name)):
        before = rows(found)
        for premise in {*PREMISES, *FACETS} - matters:
            with pytest.MonkeyPatch.context() as monkeypatch:
                denied(monkeypatch, premise, None)
                matters |= {premise} if rows(found) != before else set()
    assert matters == {ORDER, CLOCK, COMPLETE, LOG, PROCESS, PARTITION, STATE}
