"""hw-stuck: the leader's log has records that the high watermark does not reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from forensics.model.cluster.effective import Effective, strict
from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Aggregation, Finding, Range, Rule, Urgency, moment, quote
from forensics.model.partition.durability import below_min_isr, min_isr, required
from forensics.model.partition.isr_removal import lag_time
from forensics.model.partition.replicas import Disk, Replica
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline

LATEST_MS = 250_000_000_000_000
"""The largest number of milliseconds since 1970 that a datetime supports."""


@dataclass(frozen=True, slots=True)
class _Stuck:
    """A leader's log with records above its high watermark `hw`."""

    now: State
    disk: Disk
    hw: int
    end: int
    waited: timedelta
    """Minimum time that the first record above the high watermark had been in the log."""
    reached: Mapping[int, int]
    """Log end offsets of the collected replicas in the ISR."""
    held: Effective | None
    """min.insync.replicas if the ISR is below it and the high watermark may wait for that reason."""

    @property
    def all_collected(self) -> bool:
        return set(self.reached) == set(self.now.isr)

    @property
    def lowest(self) -> int:
        return min(self.reached.values())


def detect(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    now = timeline.states_with_describe[-1] if timeline.states_with_describe else None
    disk = timeline.collected_logs.get(now.leader) if now is not None else None
    if now is not None and disk is not None and (stuck := _stuck(now, disk, timeline, cluster)) is not None:
        yield _finding(stuck, timeline)


def _stuck(now: State, disk: Disk, timeline: PartitionTimeline, cluster: Cluster) -> _Stuck | None:
    """None if the log ends at its high watermark, the records are new, or a replica of the ISR does not have them, or has a higher one."""
    hw, end = disk.high_watermark, disk.reach
    if hw is None or hw.offset is None or hw.at is None or end is None or hw.offset >= end or _advanced(hw.offset, now, timeline):
        return None
    waited = _waited(timeline, disk, hw.offset, hw.at, _skew(now.leader, cluster))
    if waited is None or waited < lag_time(cluster, now.leader, hw.at):
        return None
    reached = {b: d.reach for b, d in sorted(timeline.collected_logs.items()) if b in now.isr and d.reach is not None}
    below = below_min_isr(now, required(now, timeline, cluster)) and strict(cluster, now.leader, hw.at) is not False
    stuck = _Stuck(now, disk, hw.offset, end, waited, reached, min_isr(now, timeline, cluster) if below else None)
    return None if stuck.all_collected and stuck.lowest <= hw.offset else stuck


def _advanced(hw: int, now: State, timeline: PartitionTimeline) -> bool:
    """A follower of the ISR has a higher one, which it got from the leader."""
    marks = (d.high_watermark for b, d in timeline.collected_logs.items() if b in now.isr)
    return any(mark is not None and mark.offset is not None and mark.offset > hw for mark in marks)


def _skew(broker: int, cluster: Cluster) -> timedelta:
    return timedelta(milliseconds=cluster.nodes[broker].clock.skew_ms if broker in cluster.nodes else 0)


def _waited(timeline: PartitionTimeline, disk: Disk, hw: int, checkpointed: datetime, skew: timedelta) -> timedelta | None:
    """The minimum time that the first record above the HW had been in the log when that HW was checkpointed, by the brokers' times: its
    LogAppendTime, the modification time of its segment, or a line that shows a larger log end. CreateTime is the producer's time."""
    times = _seen_beyond(timeline.replicas.get(disk.broker), hw)
    for segment in disk.segments:
        above = next((b for b in segment.batches or () if b["last_offset"] >= hw), None)
        if above is not None:
            appended = _time(above["max_timestamp"]) if above["append_time"] else None
            times += [at for at in (appended - skew if appended is not None else None, segment.at) if at is not None]
            break
    return max((checkpointed - at for at in times), default=None)


def _seen_beyond(replica: Replica | None, hw: int) -> list[datetime]:
    """Times at which the log contained the record, since its last truncation there."""
    if replica is None:
        return []
    cut = max((r.at for r in replica.removals if r.start <= hw and r.at is not None), default=datetime.min)
    seen = (o for o in replica.observations if o.quantity == "log-end-offset" and o.offset > hw)
    return [o.at for o in seen if o.at is not None and o.at > cut]


def _time(stamp: int) -> datetime | None:
    return datetime.fromtimestamp(stamp / 1000, timezone.utc).replace(tzinfo=None) if 0 < stamp < LATEST_MS else None


def _finding(stuck: _Stuck, timeline: PartitionTimeline) -> Finding:
    now, disk, reached = stuck.now, stuck.disk, stuck.reached
    assert disk.high_watermark is not None
    beyond = Range(stuck.hw, stuck.end)
    ends = ", ".join(f"broker {b} {o}" for b, o in reached.items())
    return Finding(
        kind="hw-stuck",
        severity="high",
        confidence="certain" if stuck.all_collected else "probable",
        brokers=(disk.broker,),
        leader_epoch=now.known_epoch,
        start=disk.high_watermark.at - stuck.waited if disk.high_watermark.at is not None else None,
        offsets=(beyond,),
        summary=f"{timeline.name}: offsets {beyond} are in the log but above the high watermark {stuck.hw}: not lost, not readable",
        explanation=(
            f"Broker {disk.broker} leads {timeline.name} with a log that ends at {stuck.end}, but it checkpointed a high watermark of {stuck.hw} at "
            f"{moment(disk.high_watermark.at)}, {stuck.waited.total_seconds():.0f} s after the next record had been appended. The ISR is "
            f"{list(now.isr)}, and its logs end at: {ends}. {_why(stuck)} Consumers cannot read these records; none are lost."
        ),
        next_steps=(
            f"Bring the other replicas of {timeline.name} back in sync: the high watermark advances once enough are in the ISR."
            if stuck.held is not None
            else _step(stuck, timeline),
            f"Do not delete or reset {timeline.name}: its records are on the disks.",
        ),
        evidence=quote(
            disk.high_watermark,
            disk.end_event(),
            *(d.end_event() for b, d in sorted(timeline.collected_logs.items()) if b in reached and b != disk.broker),
            now.event,
            stuck.held.event if stuck.held is not None else None,
        ),
    )


def _why(stuck: _Stuck) -> str:
    held = stuck.held
    if held is not None:
        return (
            f"The ISR is below min.insync.replicas={held.value} ({held.place}): from 3.7 on the high watermark waits for a larger ISR (KAFKA-15583), "
            "and only writes with acks=0 or acks=1 succeed."
        )
    should = f" All replicas of the ISR have the records, so the high watermark should be {stuck.lowest}." if stuck.all_collected else ""
    return f"Producers with acks=all wait for these records.{should}"


def _step(stuck: _Stuck, timeline: PartitionTimeline) -> str:
    """A new leader makes the others truncate records that it lacks, so only a replica with all records may take over."""
    leader = stuck.disk.broker
    complete = [b for b, o in stuck.reached.items() if b != leader and o >= stuck.end]
    if not stuck.all_collected or not complete or stuck.lowest < stuck.end:
        return (
            f"Do not move the leadership of {timeline.name} away from broker {leader} before another in-sync replica has its log up to {stuck.end}: "
            "records that the next leader lacks are truncated. A restart of the leader moves the leadership too."
        )
    preferred = timeline.orders.first(stuck.now.replicas) in complete
    how = "by a preferred election" if preferred else f"by restarting broker {leader}"
    return f"Move the leadership of {timeline.name} {how}: all replicas of the ISR have the records, and the new leader recomputes the high watermark."


RULE = Rule(
    kind="hw-stuck",
    rank=160,
    level="high",
    urgency=Urgency.UNAVAILABLE,
    meaning="Records are in the leader's log and the in-sync replicas have them, but the high watermark does not advance: unreadable, not lost.",
    benign=(
        "A checkpoint that was written just before the records: the file is up to replica.high.watermark.checkpoint.interval.ms old.",
        "From 3.7 on, an ISR below min.insync.replicas: the high watermark advances when replicas are back.",
    ),
    references=("KAFKA-15583", "KIP-966"),
    partition=detect,
    many=Aggregation(),
)
