"""The headline: what is lost stands first, and what nobody knows never reads like what is proven."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding
from forensics.model.message import Range
from forensics.proof.verdict import VERDICTS
from forensics.views.headline import counts, headline
from forensics.views.impact import broken
from forensics.views.losses import by_kind, losses
from tests.support import found
from tests.support.found import loss


def state(
    verdict: str, partition: int = 0, why: str = "why", begins: datetime | None = None, ends: datetime | None = None
) -> dict[str, Any]:
    return found.state(verdict, partition, why, since=begins, until=ends, from_creation=begins is None)


def ended(verdict: str) -> Finding:
    """The verdict on a partition of an earlier cluster, in which a topic had the same name."""
    return found.found("ended-cluster-verdict", "low", cluster=-1, cause=verdict, topic="t", partition=0)


CASES = [
    ([], [], "unknown", "Unknown whether data was lost: the evidence contains no partition."),
    ([], [state("intact")], "excluded", "No committed record was lost: the partition is proven intact."),
    ([], [state("intact"), state("intact", 1)], "excluded", "No committed record was lost: all 2 partitions are proven intact."),
    ([loss()], [state("lost")], "found", "DATA WAS LOST: 4 offsets that were committed, in 1 partition."),
    ([loss(offsets=(Range(7, 8),))], [state("lost")], "found", "DATA WAS LOST: 1 offset that was committed, in 1 partition."),
    (
        [loss(committed=False)],
        [state("tail-cut")],
        "excluded",
        "4 offsets that were never committed were truncated in 1 partition; only acks=0/1 producers can be affected. "
        "No committed record was lost: this is proven for the partition.",
    ),
    (
        [loss(committed=False, confidence="possible", offsets=(Range(1, None),))],
        [state("tail-cut")],
        "excluded",
        "An unknown number of records that were never committed were truncated in 1 partition; only acks=0/1 producers can be affected; "
        "possibly none are. No committed record was lost: this is proven for the partition.",
    ),
    (
        [],
        [state("intact"), state("intact", 1, begins=datetime(2026, 5, 1, 10)), state("tail-cut", 2, begins=datetime(2026, 5, 1, 11))],
        "excluded",
        "No committed record was lost: this is proven for all 3 partitions. "
        "Losses in 2 of these partitions before the evidence begins (at the latest at 2026-05-01 11:00:00.000 UTC) are unknown.",
    ),
    (
        [],
        [state("unknown", why="no log of broker 1 was collected"), state("intact", 1)],
        "unknown",
        "Unknown whether data was lost in 1 partition (t-0): no log of broker 1 was collected. "
        "1 partition is proven to have lost no committed record.",
    ),
    (
        [loss(committed=None)],
        [state("unknown", why="offsets 1–4 are gone")],
        "unknown",
        "4 offsets are gone in 1 partition; whether they were committed is unknown. "
        "Unknown whether data was lost in 1 partition (t-0): offsets 1–4 are gone.",
    ),
    (
        [loss(topic="gone", confidence="possible", committed=None)],
        [state("intact")],
        "unknown",
        "A loss cannot be excluded in 1 partition of deleted topics or earlier clusters. "
        "The partition that exists now is proven to have lost no committed record.",
    ),
    (
        [ended("unknown")],
        [state("intact"), state("intact", 1)],
        "unknown",
        "A loss cannot be excluded in 1 partition of deleted topics or earlier clusters. "
        "All 2 partitions that exist now are proven to have lost no committed record.",
    ),
    (
        [ended("lost")],
        [state("intact")],
        "found",
        "DATA WAS LOST in 1 partition of earlier clusters: how many records is unknown. "
        "The partition that exists now is proven to have lost no committed record.",
    ),
    (
        [loss(cluster=-1), ended("lost")],
        [state("intact")],
        "found",
        "DATA WAS LOST: 4 offsets that were committed, in 1 partition. The partition that exists now is proven to have lost no committed record.",
    ),
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
    unknown = (
        "Losses in 2 of these partitions after the logs of the leaders end (at the earliest at 2026-05-01 12:00:00.000 UTC) are unknown."
    )
    assert headline([], states, cluster=until(15)).sentences[-1] == unknown
    (only,) = headline([], states[:1], cluster=until(12, 59)).sentences
    assert only == "No committed record was lost: the partition is proven intact.", "a running broker may print nothing for an hour"
    assert headline([], states[:1], cluster=until(13)).sentences[1:] == (
        "Losses after the logs of the leaders end (at 2026-05-01 12:00:00.000 UTC) are unknown.",
    )
    assert headline([], [state("unknown", ends=noon), state("intact", 1)], cluster=until(15)).summary.count("Losses") == 0


def test_every_verdict_is_counted() -> None:
    states = [state(v, n) for n, v in enumerate(VERDICTS)]
    assert counts(states) == dict.fromkeys(VERDICTS, 1)


def test_what_two_replicas_brought_and_lost_is_counted_once_wherever_it_is_counted() -> None:
    own = [loss(cause="inherited-log", brokers=(b,), offsets=(Range(0, 100),)) for b in (1, 2)]
    assert "100 offsets" in headline(own, [state("lost")]).summary
    assert [heading for heading, _ in by_kind(losses(own))] == ["Lost: 100 offsets in 1 partition"]
    assert [r.name for r in losses(own)] == ["t-0"]


def test_partitions_with_an_unclean_election_are_named_before_other_unknown_ones() -> None:
    elected = found.found("unclean-election", topic="t", partition=5)
    text = headline([elected], [state("unknown", n) for n in range(6)]).summary
    assert "in 6 partitions (t-5, t-0, t-1, t-2 and 2 more)" in text


@pytest.mark.parametrize(("leader", "listed"), [(3, True), (-1, False)])
def test_the_only_replica_in_sync_is_named_while_it_leads(leader: int, listed: bool) -> None:
    """A partition without a leader takes no records that the failure of the last member of its ISR could lose."""
    alone = {"topic": "orders", "partition": 0, "leader": leader, "isr": [3], "replicas": [1, 2, 3]}
    assert any("one replica in sync, on broker 3" in line for line in broken([], [alone])) == listed
