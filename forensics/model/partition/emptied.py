"""Logs that were created again because the directory, the disk or the machine of a replica had been emptied or replaced.

Here: the fact with these logs, by the process that created them. Not here: what was lost with them (forensics.proof), or the finding
(forensics.rules.log_dir_emptied).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.events import Event
from forensics.model.findings import Evidence, Fact, quote
from forensics.model.partition.replicas import FollowerStart, LeaderStart, Replica
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.record import Int32, Record, struct
from forensics.model.rows import Rows
from forensics.model.times import grouped, is_later, not_after
from parsers.frozen import dataclass
from parsers.kinds import By, Role, of

_OF_LOG = of(role=Role.START | Role.LOAD | Role.CUT, by=By.LEADER | By.FOLLOWER | By.LOG)


@dataclass(frozen=True, slots=True)
class EmptiedLog(Record):
    broker: Annotated[Int32, "broker of the log"]
    process_start: Annotated[datetime | None, "when the process of the broker began"]
    at: Annotated[datetime | None, "when it created the log"]
    in_sync_at: Annotated[
        datetime | None, "the last known time before at which it was in the ISR and the partition had a leader; null if no ISR is known"
    ]
    only_in_sync: Annotated[bool, "no other replica was in the ISR then"]
    had_log: Annotated[bool, "an earlier process printed lines about the log"]
    evidence: Annotated[tuple[Evidence, ...], "quotes: source, line, byte and text"]


@cached_on_cluster
def new_again(cluster: Cluster) -> list[tuple[Event, Event]]:
    """For each log directory that a node found new more than once: each two such lines that follow each other."""
    new = grouped(
        ((e.writer, e.directory), e) for e in cluster.of("log-directory-new") if e.writer is not None and e.directory and e.at is not None
    )
    return [pair for _, lines in sorted(new.items()) for pair in pairwise(lines)]


def emptied(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[EmptiedLog]:
    """The logs that a process created although its broker had been in the ISR before the process began, or, if no state of the partition is
    known, although an earlier process had the log in this directory and no line says that it was deleted."""
    for broker, replica in sorted(timeline.replicas.items()):
        deleted = False
        for e in replica.events:
            deleted = deleted or e.event == "log-deleted"
            if e.event != "log-created":
                continue
            begun = _begun(broker, e, cluster)
            before = None if deleted or begun is None else _in_isr(replica, begun, e, timeline)
            own = next((other for other in replica.events if begun is not None and _own(other, begun)), None)
            unknown = not (deleted or timeline.states_with_describe)
            deleted = False
            if before is not None and (own is not None or _log_begins(broker, begun, cluster)):
                led = (s.at for s in reversed(timeline.states) if s.leader >= 0 and broker in s.isr and not_after(s.at, before.at))
                yield EmptiedLog(
                    broker, begun, e.at, next(led, before.at), before.isr == (broker,), own is not None, quote(before.event, e)
                )
            elif unknown and own is not None and own.directory == e.directory is not None and not _loaded(replica, begun, e):
                yield EmptiedLog(broker, begun, e.at, None, False, True, quote(own, e))


def _begun(broker: int, created: Event, cluster: Cluster) -> datetime | None:
    """When the process that created the log began."""
    runs = cluster.availability(broker).living(created.at, created.at) if created.at is not None else iter(())
    return next((r.begin_at for r in runs if r.begin_at is not None), None)


def _own(e: Event, begun: datetime) -> bool:
    """A line of an earlier process about its log."""
    return e.line is not None and e.at is not None and e.at < begun and e.event in _OF_LOG


def _loaded(replica: Replica, begun: datetime | None, created: Event) -> bool:
    """Whether the process had loaded a log with records before: what removed that log may not be in the evidence."""
    loads = (e for e in replica.events if e.event == "log-load" and e.log_end_offset)
    return any(is_later(created.at, e.at) and not_after(begun, e.at) for e in loads)


def _log_begins(broker: int, begun: datetime | None, cluster: Cluster) -> bool:
    """No earlier process of the broker is in the evidence. If one is, it would have printed that it had the log: a broker may be in an ISR
    without a log if it ignores the controller that put it there."""
    return all(not_after(begun, r.begin_at) for r in cluster.availability(broker).runs)


def _in_isr(replica: Replica, begun: datetime, created: Event, timeline: PartitionTimeline) -> State | None:
    """The last state with the broker in the ISR before the process began. None if there is none, or if the replica was removed from the
    assignment since."""
    states = [s for s in timeline.states if is_later(created.at, s.at)]
    starts = [s for s in replica.starts if s.at is not None and s.at >= begun]
    in_isr = (n for n in reversed(range(len(states))) if is_later(begun, states[n].at) and replica.broker in states[n].isr)
    last = next((n for n in in_isr if not any(_came_after(states[n], start) for start in starts)), None)
    return None if last is None or any(s.replicas and replica.broker not in s.replicas for s in states[last:]) else states[last]


def _came_after(state: State, start: LeaderStart | FollowerStart) -> bool:
    """Whether a state is a later one than that with which a process began to lead or follow, whatever the clocks say."""
    if state.leader_epoch != start.epoch:
        return state.leader_epoch > start.epoch
    of_state, of_start = state.partition_epoch, start.event.partition_epoch
    return of_state is not None and of_start is not None and of_state > of_start


EMPTIED = Fact(
    "emptied",
    pa.list_(struct(EmptiedLog)),
    "logs that a broker created again although it had been in the ISR",
    lambda timeline, cluster: [log.row() for log in emptied(timeline, cluster)],
)


def emptied_logs(partitions: Rows) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The names of partitions with their rows of EMPTIED."""
    for batch in partitions.batches("topic", "partition", "emptied"):
        own = batch.column("emptied")
        rows = own.flatten().to_pylist()
        of = batch.select(["topic", "partition"]).take(pc.list_parent_indices(own)) if rows else batch.slice(0, 0)
        names = (f"{topic}-{partition}" for topic, partition in zip(of["topic"].to_pylist(), of["partition"].to_pylist(), strict=True))
        yield from zip(names, rows, strict=True)
