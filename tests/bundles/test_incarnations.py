"""Brokers that outlive a cluster: what is said of each cluster is what is said of it alone."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from forensics.incidents.folding import places
from forensics.views.document import Report
from forensics.views.losses import LOST, losses
from forensics.views.notes import notes
from forensics.views.steps import next_steps
from forensics.words import of_incident
from tests.support import local, recorded
from tests.support.each import for_each
from tests.support.shapes import BUNDLES, File, Files, bundle, only, put, without

EARLIER, LATER = "unclean-election-2.8.2-zk", "acks1-failover-2.8.2-zk"
"""Clusters of the same broker ids, topics and version, of different minutes of one day."""
LOGS = r"/logs/"
OF_LOSSES = ("data-loss", "unclean-election", "zombie-leader", "stale-controller")
"""A crash is reported where the next start is in evidence, whatever cluster that was in."""


def one_after_the_other(earlier: Files, later: Files) -> Files:
    """The later cluster's brokers go on writing where the earlier one's stopped, on disks that were wiped."""
    logs = only(earlier, LOGS)
    joined = dict(later)
    for path, file in logs.items():
        after = later.get(path)
        joined[path] = File(file.content + after.content, after.modified) if after is not None else file
    return joined


def claims_of(report: Report, cluster: int) -> Counter[tuple[Any, ...]]:
    return Counter(
        (f.kind, f.severity, f.confidence, f.cause, f.committed, f.brokers, p.topic, p.partition, p.offsets)
        for f in report.findings
        if f.kind in OF_LOSSES and f.cluster == cluster
        for p in places(f) or (f.place,)
    )


def judged(files: Files, directory: Path) -> Report:
    directory.mkdir()
    return local.report(local.events_of(put(directory, files)))


def test_each_cluster_is_judged_as_if_it_were_alone(tmp_path: Path) -> None:
    earlier, later = bundle(EARLIER), bundle(LATER)
    both = judged(one_after_the_other(earlier, later), tmp_path / "both")
    alone = judged(without(earlier, r"/data\d*/|^before-restart/"), tmp_path / "earlier")
    last = judged(later, tmp_path / "later")
    assert claims_of(both, -1) == claims_of(alone, 0)
    assert claims_of(both, 0) == claims_of(last, 0)
    assert claims_of(both, -1)["data-loss", "critical"] == 0 < sum(claims_of(both, -1).values())
    (again,) = [f for f in both.findings if f.kind == "cluster-recreated"]
    assert (again.brokers, again.confidence) == ((1, 2, 3), "certain")
    assert [p["topic"] for p in both.partitions] == [p["topic"] for p in last.partitions]


@for_each(sorted(p.name.removesuffix(".tar.gz") for p in BUNDLES.glob("*.tar.gz") if not p.name.startswith("wiped-")))
def test_a_cluster_that_lived_once_is_one(name: str) -> None:
    assert recorded.report(name).cluster.ended == ()


@pytest.mark.parametrize("name", ["wiped-zookeeper-1.1.1-zk", "wiped-everything-0.10.0.1-zk", "wiped-everything-3.9.1-kraft"])
def test_logs_alone_tell_of_the_other_cluster(name: str, tmp_path: Path) -> None:
    """Neither meta.properties nor any other file of a disk is needed."""
    report = judged(only(bundle(name), LOGS), tmp_path / "logs")
    assert len(report.cluster.ended) == 1
    assert [f.severity for f in report.findings if f.kind == "cluster-recreated"] == ["medium"]


@pytest.mark.parametrize("name", ["wiped-zookeeper-1.1.1-zk", "wiped-zookeeper-3.7.2-zk"])
def test_records_of_the_cluster_before_were_written_there(name: str) -> None:
    """They were produced and acknowledged before ZooKeeper was wiped, and lost when the brokers had joined another cluster."""
    report, truth = recorded.report(name), json.loads((BUNDLES / f"{name}.expected.json").read_text())
    acked = next(datetime.fromisoformat(a["at"]) for a in truth["actions"] if a["action"] == "produced" and a["topic"] == "orders")
    brought = [(f, p) for f in report.findings if f.cause == "inherited-log" and f.confidence == "certain" for p in places(f)]
    assert brought
    for _, p in brought:
        assert p.written is not None and p.written.since is None
        assert p.written.until is not None and p.end is not None and acked.replace(tzinfo=None) < p.written.until < p.end
    assert Counter(r.name for r in losses(report.findings) if r.kind == LOST) == {"orders-0": 1, "orders-1": 1}
    assert {i.kind for i in report.incidents for f, _ in brought if i.id == f.incident} == {"cluster-recreated"}
    assert report.incidents[0].kind == "cluster-recreated"


@pytest.mark.parametrize("name", ["wiped-zookeeper-outlived-2.3.1-zk", "wiped-everything-3.9.1-kraft"])
def test_another_cluster_is_the_cause_and_the_records_of_the_first_were_not_judged(name: str) -> None:
    report = recorded.report(name)
    (earlier,) = report.cluster.ended
    assert report.incidents[0].kind == "cluster-recreated"
    assert f"The verdict does not cover what became of the records of the earlier cluster {earlier.id} after it ended." in notes(
        report.cluster
    )
    assert any(
        step.startswith("Find out who wiped or moved the state of the cluster") for step in next_steps(report.findings, report.partitions)
    )


def test_a_damaged_batch_is_the_cause_and_not_the_restarts_around_it() -> None:
    report = recorded.report("unreadable-batch-2.8.2-zk")
    assert (
        of_incident(report.incidents[0]).summary
        == "Broker 2 could not fetch because of a damaged batch: 1 partition with a replica that did not advance"
    )


@pytest.mark.parametrize("name", ["shared-log-2.8.2-zk", "shared-log-clean-2.8.2-zk"])
def test_lines_of_a_log_of_several_brokers_are_their_writers(name: str) -> None:
    """What a line says of itself, by its component or its log directory, is who is taken to have written it."""
    table = recorded.events(name)
    _, resolver = local.gathered(table)
    seen = Counter[tuple[int, int | None]]()
    for batch in table.to_batches():
        for row in resolver.apply(batch).select(["text", "writer", "line"]).to_pylist():
            own = re.search(r"kafka-logs-(\d)\b|\[Broker id=(\d)\]|\[(?:ReplicaManager|KafkaServer)\D+(\d)\]", row["text"] or "")
            if own is not None and row["line"] is not None:
                seen[(int(next(g for g in own.groups() if g)), row["writer"])] += 1
    assert {said for said, _ in seen} == {1, 2, 3}
    assert {pair for pair in seen if pair[0] != pair[1]} == set()
