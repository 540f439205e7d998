"""hw-stuck: how long the first record above the high watermark may wait before that is no replication lag any more."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from forensics.model.cluster.facts import Cluster, Node
from forensics.model.events import Event
from forensics.model.findings import Finding
from forensics.model.partition.replicas import Disk
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.words import words
from tests.support.local import found_by

NOON = datetime(2026, 11, 21, 12)


def stuck(
    waited_s: int,
    version: str | None,
    lag: str | None = None,
    replicas: tuple[int, ...] = (1, 2),
    follower: int = 10,
    producer_s: int = 0,
    touched: datetime | None = NOON,
    by_broker: bool = False,
    min_isr: str = "1",
) -> list[Finding]:
    """A leader whose high watermark stands at 5, `waited_s` after the record at 5 was appended and its only follower has it too. The
    producer's clock is `producer_s` ahead."""
    appended = int(NOON.replace(tzinfo=timezone.utc).timestamp() * 1000) + 1000 * producer_s
    batches = [
        {
            "base_offset": 0,
            "last_offset": 9,
            "max_timestamp": appended,
            "leader_epoch": 0,
            "control": False,
            "whole": True,
            "append_time": by_broker,
        }
    ]
    hw = Event(event="hw-checkpoint", source="1/hw", line=3, offset=5, at=NOON + timedelta(seconds=waited_s))
    event = Event(event="partition-state", source="log", line=1)
    state = State(leader_epoch=0, partition_epoch=0, leader=1, isr=(1, 2), replicas=replicas, at=NOON, source="metadata", event=event)
    disks = {
        b: Disk(b, str(b), segments=[Event(event="segment", source=f"{b}/0.log", offset=0, log_end_offset=10, batches=batches, at=touched)])
        for b in (1, 2)
    }
    for disk in disks.values():
        disk.log_end_offset = 10
    disks[1].high_watermark, disks[2].log_end_offset = hw, follower
    timeline = PartitionTimeline("t", 0, 0, states=[state], collected_logs=disks)
    cluster = Cluster(nodes={1: Node(1, version=version), 2: Node(2, version=version)})
    cluster.settings.put("min.insync.replicas", min_isr, "DYNAMIC_TOPIC_CONFIG", "t")
    if lag is not None:
        cluster.settings.put("replica.lag.time.max.ms", lag, "STATIC_BROKER_CONFIG", 1)
    return found_by("hw-stuck", timeline, cluster)


@pytest.mark.parametrize(
    ("waited_s", "version", "lag", "found"),
    [
        (15, "2.4.1", None, True),
        (9, "2.4.1", None, False),
        (15, "2.5.0", None, False),
        (31, "3.9.1", None, True),
        (15, "5.4.0-ccs", None, True),
        (15, None, None, False),
        (15, "2.4.1", "20000", False),
        (5, "3.9.1", "4000", True),
    ],
)
def test_a_record_may_wait_as_long_as_the_leader_waits_for_a_replica(waited_s: int, version: str, lag: str | None, found: bool) -> None:
    assert bool(stuck(waited_s, version, lag)) == found


def test_a_producers_clock_tells_nothing() -> None:
    """A minute after the append, whatever the producer's clock said; right after it, though that clock was a year behind; and nothing
    where no file's modification time is true, even if the producer's clock agrees. A leader's own clock does (LogAppendTime)."""
    assert [bool(stuck(60, "3.9.1", producer_s=s)) for s in (0, 600, -600)] == [True, True, True]
    assert stuck(1, "3.9.1", producer_s=-365 * 86400) == []
    assert [stuck(60, "3.9.1", touched=at) for at in (None, NOON + timedelta(seconds=58))] == [[], []]
    assert [bool(stuck(60, "3.9.1", touched=at, by_broker=True)) for at in (None, NOON + timedelta(seconds=58))] == [True, True]


def test_leadership_is_moved_by_what_can_move_it() -> None:
    """A preferred election moves nothing where the preferred replica leads already."""
    (outage,), (home,) = stuck(60, "3.9.1", replicas=(2, 1)), stuck(60, "3.9.1", replicas=(1, 2))
    assert words(outage).next_steps[0].startswith("Move the leadership of t-0 by a preferred election")
    assert words(home).next_steps[0].startswith("Move the leadership of t-0 by restarting broker 1")


def test_a_follower_that_lacks_records_is_not_to_lead() -> None:
    (found,) = stuck(60, "3.9.1", replicas=(2, 1), follower=7)
    assert words(found).next_steps[0].startswith("Do not move the leadership of t-0 away from broker 1")


@pytest.mark.parametrize(("version", "waits"), [("3.6.2", False), ("7.6.0-ccs", False), ("3.7.0", True)])
def test_below_min_isr_it_waits_by_design_from_3_7_on(version: str, waits: bool) -> None:
    """KAFKA-15583: before, the HW goes on with the ISR there is, and one that does not is stuck by something else."""
    (found,) = stuck(60, version, replicas=(1, 2, 3), min_isr="3")
    assert ("min.insync.replicas=3" in words(found).explanation, "should be 10" in words(found).explanation) == (waits, not waits)
    assert words(found).next_steps[0].startswith("Bring") == waits
