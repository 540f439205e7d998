"""hw-stuck: the leader's log has records that the high watermark does not reach."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, Statement, quote, together
from forensics.model.message import Message, Range, Value, said, values
from forensics.model.partition.durability import below_min_isr, min_isr, required
from forensics.model.partition.isr_removal import lag_time
from forensics.model.partition.replicas import Disk, Replica
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.settings.effective import Effective, strict
from parsers.kinds import ON_DISK

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


NEEDS = ON_DISK


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    now = timeline.states_with_describe[-1] if timeline.states_with_describe else None
    disk = timeline.collected_logs.get(now.leader) if now is not None else None
    if now is not None and disk is not None and (stuck := _stuck(now, disk, timeline, cluster)) is not None:
        yield _finding(stuck, timeline)


def _stuck(now: State, disk: Disk, timeline: PartitionTimeline, cluster: Cluster) -> _Stuck | None:
    """None if the log ends at its high watermark, the records are new, or a replica of the ISR does not have them."""
    hw, end = disk.high_watermark, disk.reach
    if hw is None or hw.offset is None or hw.at is None or end is None or hw.offset >= end:
        return None
    waited = _waited(timeline, disk, hw.offset, hw.at, _skew(now.leader, cluster))
    if waited is None or waited < lag_time(cluster, now.leader, hw.at):
        return None
    reached = {b: d.reach for b, d in sorted(timeline.collected_logs.items()) if b in now.isr and d.reach is not None}
    below = below_min_isr(now, required(now, timeline, cluster)) and strict(cluster, now.leader, hw.at) is not False
    stuck = _Stuck(now, disk, hw.offset, end, waited, reached, min_isr(now, timeline, cluster) if below else None)
    return None if stuck.all_collected and stuck.lowest <= hw.offset else stuck


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
    now, disk, reached, held = stuck.now, stuck.disk, stuck.reached, stuck.held
    assert disk.high_watermark is not None
    at = disk.high_watermark.at
    return Finding(
        confidence="certain" if stuck.all_collected else "probable",
        brokers=(disk.broker,),
        leader_epoch=now.known_epoch,
        start=at - stuck.waited if at is not None else None,
        offsets=(beyond := Range(stuck.hw, stuck.end),),
        values=values(
            beyond=beyond,
            high_watermark=stuck.hw,
            log_end=stuck.end,
            checkpointed=at,
            waited=stuck.waited.total_seconds(),
            isr=now.isr,
            ends=tuple(said("hw-stuck/end", broker=b, offset=o) for b, o in reached.items()),
            min_isr=held.value if held is not None else None,
            set_in=held.place if held is not None else None,
            should_be=stuck.lowest if stuck.all_collected and held is None else None,
            step=_step(stuck, timeline),
        ),
        evidence=quote(
            disk.high_watermark,
            disk.end_event(),
            *(d.end_event() for b, d in sorted(timeline.collected_logs.items()) if b in reached and b != disk.broker),
            now.event,
            held.event if held is not None else None,
        ),
    )


def _step(stuck: _Stuck, timeline: PartitionTimeline) -> tuple[Message, ...]:
    """A new leader makes the others truncate records that it lacks, so only a replica with all records may take over."""
    if stuck.held is not None:
        return (said("hw-stuck/more-in-sync"),)
    leader = stuck.disk.broker
    complete = [b for b, o in stuck.reached.items() if b != leader and o >= stuck.end]
    if not stuck.all_collected or not complete or stuck.lowest < stuck.end:
        return (said("hw-stuck/keep-leader", leader=leader, log_end=stuck.end),)
    preferred = timeline.orders.first(stuck.now.replicas) in complete
    return (said("hw-stuck/move-leader", restarted=None if preferred else leader),)


def merged(first: Finding, group: Sequence[Statement]) -> Mapping[str, Value]:
    return {"step": together(group, "step")}
