"""Whether a replica had all committed records when it joined the ISR: up to Kafka 2.0.0 it had reached only the leader's high watermark
(KAFKA-7128)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from forensics.proof.verdict import CHANGE, INTACT, TAIL_CUT, UNKNOWN
from tests.forensics.proof.staging import Staged, begun, judge, left

LAG = 10
"""replica.lag.time.max.ms in seconds."""


def joined(version: str | None, late: float = 0.1, isr: Sequence[int] = (1, 2), *, configured: bool = True) -> Staged:
    """Broker 2 takes over at 200, with a high watermark of 150, while broker 3 is out of the ISR. Broker 3 joins `late` seconds after that."""
    s = begun(1, 2, 3)
    for broker in (1, 2, 3):
        if version is not None:
            s.version(broker, -1, version)
        if configured:
            values = f"broker.id = {broker}\n\treplica.lag.time.max.ms = {LAG * 1000}"
            s.line(broker, "server", -1, f"INFO KafkaConfig values: \n\t{values}\n (kafka.server.KafkaConfig)")
    s.leads(1, 0, 0, 0, 0, [1, 2, 3])
    s.follows(2, 0.1, 0, 0, 0)
    s.follows(3, 0.1, 0, 0, 0)
    s.leads(1, 10, 1, 100, 100, [1, 2], previous=0)
    s.follows(2, 10.1, 1, 100, 100, previous=0)
    s.leads(2, 50, 2, 200, 150, isr, previous=1)
    s.follows(1, 50.02, 2, 200, 150, previous=1)
    s.follows(3, 50.02, 2, 160, 140, previous=1)
    ids = ",".join(map(str, isr))
    s.line(2, "server", 50 + late, f"INFO [Partition {s.name} broker=2] Expanding ISR from {ids} to {ids},3 (kafka.cluster.Partition)")
    return s


def led(version: str | None, end: int = 180, late: float = 0.1, isr: Sequence[int] = (1, 2), *, configured: bool = True) -> Staged:
    """Broker 3 takes over with a log that ends at `end`."""
    s = joined(version, late, isr, configured=configured)
    s.leads(3, 90, 3, end, 150, [*isr, 3], previous=2)
    for broker in (1, 2):
        s.follows(broker, 90.1, 3, 200, 150, previous=2)
        if end < 200:
            s.truncates(broker, 90.2, end)
    return s


@pytest.mark.parametrize(("version", "verdict"), [("0.10.2.2", UNKNOWN), ("2.0.0", UNKNOWN), (None, UNKNOWN), ("2.0.1", TAIL_CUT)])
def test_up_to_2_0_0_a_replica_may_join_the_isr_without_all_committed_records(version: str | None, verdict: str) -> None:
    judged = judge(led(version))
    assert judged.verdict == verdict
    assert (left(judged) == [(CHANGE, "high_watermark")]) is (verdict == UNKNOWN)


def test_a_replica_that_reached_where_the_leader_began_has_all() -> None:
    assert judge(led("1.1.1", end=200)).verdict == INTACT
    assert judge(led("1.1.1", end=199)).verdict == UNKNOWN


def test_the_high_watermark_of_a_leader_that_is_alone_in_the_isr_is_its_log_end() -> None:
    assert judge(led("1.1.1", isr=[2])).verdict == TAIL_CUT


def test_the_members_of_an_isr_that_stood_for_long_have_reached_where_the_leader_began() -> None:
    """The leader removes a member that has not within LAG, and looks for such members as often."""
    assert judge(led("1.1.1", late=2 * LAG + 0.1)).verdict == TAIL_CUT
    assert judge(led("1.1.1", late=2 * LAG - 0.1)).verdict == UNKNOWN
    assert judge(led("1.1.1", late=2 * LAG + 0.1, configured=False)).verdict == UNKNOWN, "LAG is not known"
    assert judge(led("0.8.2.2", late=2 * LAG + 0.1)).verdict == UNKNOWN, "it removes only those that are far behind"


@pytest.mark.parametrize(("version", "mark"), [("1.1.1", None), ("2.0.1", 180)])
def test_a_follower_that_may_lack_committed_records_does_not_bound_the_high_watermark(version: str, mark: int | None) -> None:
    s = joined(version)
    s.loads(1, 80, 200, unclean=True)
    s.leads(1, 90, 3, 200, 150, [1, 3])
    s.follows(3, 90.1, 3, 180, 150, previous=2)
    assert judge(s).rows[-2].high_watermark.at_most == mark
