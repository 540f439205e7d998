"""hw-stuck: the leader's log has records that the high watermark does not reach."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from forensics.model.cluster.effective import Effective, strict
from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Aggregation, Finding, Range, Rule, moment, quote
from forensics.model.partition.durability import below_min_isr, min_isr, required
from forensics.model.partition.isr_removal import lag_time
from forensics.model.partition.replicas import Disk, Replica
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline

LATEST_MS = 250_000_000_000_000
"""The largest number of milliseconds since 1970 that a datetime supports."""


def detect(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    if not timeline.states_with_describe or (now := timeline.states_with_describe[-1]).leader not in timeline.collected_logs:
        return
    disk = timeline.collected_logs[now.leader]
    hw = disk.high_watermark
    if hw is None or hw.offset is None or hw.at is None or disk.reach is None or hw.offset >= disk.reach:
        return
    node = cluster.nodes.get(now.leader)
    waited = _waited(timeline, disk, hw.offset, hw.at, timedelta(milliseconds=node.clock.skew_ms if node is not None else 0))
    if waited is None or waited < lag_time(cluster, now.leader, hw.at):
        return
    reached = {b: d.reach for b, d in sorted(timeline.collected_logs.items()) if b in now.isr and d.reach is not None}
    whole = set(reached) == set(now.isr)
    should = min(reached.values())
    if whole and should <= hw.offset:
        return
    below = below_min_isr(now, required(now, timeline, cluster)) and strict(cluster, now.leader, hw.at) is not False
    held = min_isr(now, timeline, cluster) if below else None
    yield _finding(timeline, now, disk, hw.offset, disk.reach, reached, whole, waited, held)


def _waited(timeline: PartitionTimeline, disk: Disk, hw: int, checkpointed: datetime, skew: timedelta) -> timedelta | None:
    """The minimum time that the first record above the HW had been in the log when that HW was checkpointed, by the brokers' times: its
    LogAppendTime, the modification time of its segment, or a line that shows a larger log end. CreateTime is the producer's time."""
    told = _seen_beyond(timeline.replicas.get(disk.broker), hw)
    for segment in disk.segments:
        above = next((b for b in segment.batches or () if b["last_offset"] >= hw), None)
        if above is not None:
            appended = _time(above["max_timestamp"]) if above["append_time"] else None
            told += [at for at in (appended - skew if appended is not None else None, segment.at) if at is not None]
            break
    return max((checkpointed - at for at in told), default=None)


def _seen_beyond(replica: Replica | None, hw: int) -> list[datetime]:
    """Times at which the log contained the record, since its last truncation there."""
    if replica is None:
        return []
    cut = max((r.at for r in replica.removals if r.start <= hw and r.at is not None), default=datetime.min)
    seen = (o for o in replica.observations if o.quantity == "log-end-offset" and o.offset > hw)
    return [o.at for o in seen if o.at is not None and o.at > cut]


def _time(stamp: int) -> datetime | None:
    return datetime.fromtimestamp(stamp / 1000, timezone.utc).replace(tzinfo=None) if 0 < stamp < LATEST_MS else None


def _finding(
    timeline: PartitionTimeline,
    now: State,
    disk: Disk,
    hw: int,
    end: int,
    reached: dict[int, int],
    whole: bool,
    waited: timedelta,
    held: Effective | None,
) -> Finding:
    """`held`: min.insync.replicas if the ISR is below it and the HW may wait for that reason."""
    assert disk.high_watermark is not None
    isr = ", ".join(f"broker {b} {o}" for b, o in reached.items())
    return Finding(
        kind="hw-stuck",
        severity="high",
        confidence="certain" if whole else "probable",
        brokers=(disk.broker,),
        leader_epoch=now.known_epoch,
        end=disk.high_watermark.at,
        offsets=(Range(hw, end),),
        summary=f"{timeline.name}: offsets {Range(hw, end)} are in the log but above the high watermark {hw}: not lost, not readable",
        explanation=(
            f"Broker {disk.broker} leads {timeline.name} with a log that ends at {end}, but it checkpointed a high watermark of {hw} at "
            f"{moment(disk.high_watermark.at)}, {waited.total_seconds():.0f} s after the next record had been appended. The ISR is {list(now.isr)} and its logs end at: {isr}. "
            f"{_why(whole, min(reached.values()), held)} Consumers cannot read these records; none are lost."
        ).replace("  ", " "),
        next_steps=(
            f"Bring the other replicas of {timeline.name} back in sync: the high watermark advances once enough are in the ISR."
            if held is not None
            else _step(disk.broker, end, reached, whole, timeline.orders.first(now.replicas)),
            f"Do not delete or reset {timeline.name}: its records are on the disks.",
        ),
        evidence=quote(
            disk.high_watermark,
            disk.end_event(),
            *(d.end_event() for b, d in sorted(timeline.collected_logs.items()) if b in reached and b != disk.broker),
            now.event,
            held.event if held is not None else None,
        ),
    )


def _why(whole: bool, should: int, held: Effective | None) -> str:
    if held is not None:
        return (
            f"The ISR is below min.insync.replicas={held.value} ({held.place}): from 3.7 on the high watermark waits for a larger ISR (KAFKA-15583), "
            "and only writes with acks=0 or acks=1 succeed."
        )
    return "acks=all producers wait for them." + (
        f" All replicas of the ISR have the records, so the high watermark should be {should}." if whole else ""
    )


def _step(leader: int, end: int, reached: dict[int, int], whole: bool, preferred: int | None) -> str:
    """A new leader makes the others truncate records that it lacks, so only a replica with all records may take over."""
    complete = [b for b, o in reached.items() if b != leader and o >= end]
    if not whole or not complete or min(reached.values()) < end:
        return (
            f"Do not move the leadership away from broker {leader} before another in-sync replica has its log up to {end}: records that the next "
            "leader lacks are truncated. A restart of the leader moves the leadership too."
        )
    move = "by a preferred election" if preferred in complete else f"by restarting broker {leader}"
    return f"Move the leadership {move}: all replicas of the ISR have the records, and the new leader recomputes the high watermark."


RULE = Rule(
    kind="hw-stuck",
    rank=160,
    level="high",
    meaning="Records are in the leader's log and the in-sync replicas have them, but the high watermark does not advance: unreadable, not lost.",
    benign=(
        "A checkpoint that was written just before the records: the file is up to replica.high.watermark.checkpoint.interval.ms old.",
        "From 3.7 on, an ISR below min.insync.replicas: the high watermark advances when replicas are back.",
    ),
    references=("KAFKA-15583", "KIP-966"),
    partition=detect,
    many=Aggregation(),
)
