"""The headline: what is lost stands first, and what nobody knows never reads like what is proven."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding
from forensics.model.message import Range
from forensics.proof.verdict import VERDICTS
from forensics.views.clusters import brief
from forensics.views.headline import counts, headline
from forensics.views.impact import broken
from forensics.views.losses import loss_tables, losses
from tests.support import found, recorded
from tests.support.found import loss
from tests.support.local import events_of_files, report


def state(
    verdict: str, partition: int = 0, why: str = "why", begins: datetime | None = None, ends: datetime | None = None
) -> dict[str, Any]:
    return found.state(verdict, partition, why, since=begins, until=ends, from_creation=begins is None)


def ended(verdict: str) -> Finding:
    """The verdict on a partition of an earlier cluster, in which a topic had the same name."""
    return found.found("ended-cluster-verdict", "low", cluster=-1, cause=verdict, topic="t", partition=0)


EXISTING = "SAFE: no committed record was lost in the 1 partition that exists now (proven)."
CASES = [
    ([], [], "unknown", "UNKNOWN: whether data was lost; the evidence contains no partition."),
    ([], [state("intact")], "excluded", "SAFE: no committed record was lost (1 partition, proven)."),
    ([], [state("intact"), state("intact", 1)], "excluded", "SAFE: no committed record was lost (all 2 partitions, proven)."),
    ([loss()], [state("lost")], "found", "LOST: 4 committed offsets of t-0."),
    ([loss(offsets=(Range(7, 8),))], [state("lost")], "found", "LOST: 1 committed offset of t-0."),
    ([loss()], [state("lost"), state("intact", 1)], "found", "LOST: 4 committed offsets of t-0. SAFE: 1 other partition (proven)."),
    (
        [loss(committed=False)],
        [state("tail-cut")],
        "excluded",
        "GONE: 4 offsets of t-0 that had not reached the next leader: lost for producers with acks=0/1. "
        "SAFE: every record that acks=all acknowledged (1 partition, proven).",
    ),
    (
        [loss(committed=False, confidence="possible", offsets=(Range(1, None),))],
        [state("tail-cut")],
        "excluded",
        "CUT: an unknown number of records of t-0, never committed; possibly no producer misses them. "
        "SAFE: no committed record was lost (1 partition, proven).",
    ),
    (
        [loss(committed=False, topic="__consumer_offsets")],
        [state("tail-cut")],
        "excluded",
        "CUT: 4 offsets of __consumer_offsets-0, never committed: only brokers write there, with acks=all, so nobody misses them. "
        "SAFE: no committed record was lost (1 partition, proven).",
    ),
    (
        [],
        [state("intact"), state("intact", 1, begins=datetime(2026, 5, 1, 10)), state("tail-cut", 2, begins=datetime(2026, 5, 1, 11))],
        "excluded",
        "SAFE: no committed record was lost (all 3 partitions, proven for 2 of them only from 2026-05-01 11:00:00.000 UTC on).",
    ),
    (
        [],
        [state("unknown", why="no log of broker 1 was collected"), state("intact", 1)],
        "unknown",
        "UNKNOWN: t-0: no log of broker 1 was collected. SAFE: 1 other partition (proven).",
    ),
    (
        [loss(committed=None)],
        [state("unknown", why="offsets 1–4 are gone")],
        "unknown",
        "GONE: 4 offsets of t-0; whether they were committed is unknown. UNKNOWN: t-0: offsets 1–4 are gone.",
    ),
    (
        [loss(topic="gone", confidence="possible", committed=None)],
        [state("intact")],
        "unknown",
        f"UNKNOWN: a loss in 1 partition of deleted topics or earlier clusters cannot be excluded. {EXISTING}",
    ),
    (
        [ended("unknown")],
        [state("intact"), state("intact", 1)],
        "unknown",
        "UNKNOWN: a loss in 1 partition of deleted topics or earlier clusters cannot be excluded. "
        "SAFE: no committed record was lost in the 2 partitions that exist now (proven).",
    ),
    (
        [ended("lost")],
        [state("intact")],
        "found",
        f"LOST: records of 1 partition of earlier clusters; how many is unknown. {EXISTING}",
    ),
    ([loss(cluster=-1), ended("lost")], [state("intact")], "found", f"LOST: 4 committed offsets of t-0. {EXISTING}"),
]


@pytest.mark.parametrize(("findings", "states", "word", "words"), CASES)
def test_headline(findings: list[Finding], states: list[dict[str, Any]], word: str, words: str) -> None:
    own = headline(findings, states)
    assert (own.loss, own.summary) == (word, words)


def until(hour: int, minute: int = 0) -> Cluster:
    found = Cluster()
    found.until = datetime(2026, 5, 1, hour, minute)
    return found


def test_the_logs_of_leaders_end_before_the_evidence() -> None:
    noon = datetime(2026, 5, 1, 12)
    states = [
        state("intact", ends=noon),
        state("tail-cut", 1, ends=datetime(2026, 5, 1, 13)),
        state("intact", 2, ends=datetime(2026, 5, 1, 15)),
    ]
    assert headline([], states, cluster=until(15)).summary == (
        "SAFE: no committed record was lost (all 3 partitions, proven for 2 of them only until 2026-05-01 12:00:00.000 UTC, where the logs of "
        "leaders end)."
    )
    running = headline([], states[:1], cluster=until(12, 59)).summary
    assert running == "SAFE: no committed record was lost (1 partition, proven).", "a running broker may print nothing for an hour"
    assert "proven until 2026-05-01 12:00:00.000 UTC" in headline([], states[:1], cluster=until(13)).summary
    assert "until" not in headline([], [state("unknown", ends=noon), state("intact", 1)], cluster=until(15)).summary


@pytest.mark.parametrize(("name", "gone"), [("acks1-failover-2.8.2-zk", True), ("clean-failover-2.8.2-zk", False)])
def test_a_summary_says_whether_records_are_gone_that_a_producer_can_miss(name: str, gone: bool) -> None:
    made = recorded.report(name)
    assert brief(made, made.cluster)["gone_records"] is gone


def test_every_verdict_is_counted() -> None:
    states = [state(v, n) for n, v in enumerate(VERDICTS)]
    assert counts(states) == dict.fromkeys(VERDICTS, 1)


def test_what_two_replicas_brought_and_lost_is_counted_once_wherever_it_is_counted() -> None:
    own = [loss(cause="inherited-log", brokers=(b,), offsets=(Range(0, 100),)) for b in (1, 2)]
    assert "100 committed offsets" in headline(own, [state("lost")]).summary
    assert [table.heading for table in loss_tables(losses(own))] == ["Lost: 100 offsets in 1 partition"]
    assert [r.name for r in losses(own)] == ["t-0"]


@pytest.mark.parametrize(("findings", "title", "tone"), [
    ([loss(committed=False)], "4 offsets of t-0 that had not reached the next leader: lost for producers with acks=0/1; no committed data was lost", "affected"),
    ([found.found("out-of-memory", "high", brokers=(2,), start=datetime(2026, 5, 1))], "Broker 2 ran out of memory; no committed data was lost", "affected"),
    ([found.found("controlled-shutdown", "info", brokers=(2,), start=datetime(2026, 5, 1))], "Broker 2 shut down cleanly; no committed data was lost", "excluded"),
    ([loss(), found.found("out-of-memory", "high", brokers=(2,))], "Committed data was lost: 4 committed offsets of t-0", "found"),
])  # fmt: skip
def test_the_title_is_the_incident_unless_records_are_lost(findings: list[Finding], title: str, tone: str) -> None:
    own = headline(findings, [state("lost" if tone == "found" else "intact")])
    assert (own.title, own.tone) == (title, tone)


@pytest.mark.parametrize(("leader", "listed"), [(3, True), (-1, False)])
def test_the_only_replica_in_sync_is_named_while_it_leads(leader: int, listed: bool) -> None:
    """A partition without a leader takes no records that the failure of the last member of its ISR could lose."""
    alone = {"topic": "orders", "partition": 0, "leader": leader, "isr": [3], "replicas": [1, 2, 3]}
    assert any("only broker 3 in sync" in line for line in broken([], [alone])) == listed


def test_a_broker_that_no_line_names_is_a_broker_not_none() -> None:
    line = "[2026-11-21 02:10:00,000] ERROR Error while flushing log for t-0 in dir /data (kafka.server.LogDirFailureChannel)"
    reported = report(events_of_files({"server.log": f"{line}\njava.io.IOException: No space left on device\n"}))
    assert reported.headline.title.startswith("A broker found its disk full")
