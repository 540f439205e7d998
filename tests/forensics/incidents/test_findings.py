"""Findings of partitions wait as rows, in memory or on disk, and come back whole."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pyarrow as pa
import pytest

from forensics.incidents import findings
from forensics.incidents.findings import FindingRows, Findings
from forensics.model.findings import FINDING, Evidence, Finding
from forensics.model.message import Range, values

KINDS = ("under-replicated", "data-loss", "at-min-isr")
FOUND = [
    Finding(
        kind=KINDS[n % 3] if n else "unclean-election",
        severity="high",
        confidence="certain",
        topic=f"orders-{n % 7}",
        partition=n,
        brokers=(1, n % 2),
        start=datetime(2026, 1, 1) + timedelta(seconds=n),
        offsets=(Range(n, None),) if n % 2 else (),
        message=f"message-{n % 3}",
        values=values(number=n, at=datetime(2026, 1, 1)),
        evidence=(Evidence(f"broker-{n}/server.log", n, None, f"line {n}"),),
    )
    for n in range(700)
]


@pytest.mark.parametrize("room", [0, findings.ROOM], ids=["on disk", "in memory"])
def test_findings_of_clusters_come_back_whole_and_in_their_order(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    monkeypatch.setattr(findings, "ROOM", room)
    rows = FindingRows()
    by_cluster = {number: [replace(f, cluster=number) for n, f in enumerate(FOUND) if n % 5 % 3 == number] for number in range(3)}
    events = [replace(f, cluster=n % 5 % 3).row() for n, f in enumerate(FOUND)]
    for begin in range(0, len(events), 50):
        rows.add(pa.RecordBatch.from_pylist(events[begin : begin + 50], pa.schema(list(FINDING))))
    for number, own in by_cluster.items():
        assert set(rows.kinds(number)) == {f.kind for f in own}
        for kind in ("unclean-election", *KINDS):
            assert [f.whole for f in rows.statements(kind, number)] == [f for f in own if f.kind == kind]
        assert sorted(f.name for f in Findings(rows, number)["data-loss"]) == sorted(f.name for f in own if f.kind == "data-loss")
    assert rows.statements("broker-crash", 0) == rows.statements("data-loss", 3) == []


def test_many_findings_of_the_cluster_come_back_whole_also_if_some_are_added_after_a_request() -> None:
    crashes = [replace(f, kind="broker-crash", topic=None, partition=None) for f in FOUND]
    failed = replace(crashes[0], kind="start-failed", places=(FOUND[1].place,))
    found = Findings()
    for begin in (0, 100, 600):
        found.add([failed, *crashes[begin : {0: 100, 100: 600}.get(begin)]])
        assert failed in found["start-failed"]
    assert sorted((f.whole for f in found["broker-crash"]), key=lambda f: str(f.start)) == crashes
    assert list(found) == ["broker-crash", "start-failed"]
