"""The generations of a topic: a topic may be deleted and created again under the same name, and the two share no data.

Here: the generation of each event, by topic id, else by signs of creation and deletion. Not here: the events of one generation
(timeline).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from forensics.model.clock.order import FileOrders
from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.thresholds import ACTION_KNOWN
from parsers.kinds import OF_DELETION, ON_DISK, STARTS, named


def generations(topic: str, events: Sequence[Event], cluster: Cluster, orders: FileOrders) -> dict[int, list[Event]]:
    """Events by generation of the topic. There is one generation unless the evidence contains a deletion of the topic or a second topic
    id: a replica's directory is also deleted when a reassignment removes the replica."""
    order = _topic_ids(events)
    age = {topic_id: i - len(order) + 1 for i, topic_id in enumerate(order)} if len(order) > 1 else {}
    result: dict[int, list[Event]] = defaultdict(list)
    streams: dict[tuple[int | None, str | None], list[Event]] = defaultdict(list)
    beside = {_directory(e): e.topic_id for e in events if age and e.event == "partition-metadata"}
    for event in events:
        topic_id = event.topic_id or (beside.get(_directory(event)) if event.event in ON_DISK else None)
        if topic_id in age:
            result[age[topic_id]].append(event)
        else:
            streams[(event.writer, None if event.line is not None else event.source)].append(event)
    renewed = {key: found for key, own in streams.items() if key[0] is not None and (found := _renewals(own, orders))}
    if renewed and len(order) == 1:
        renewed = _without_same_id(renewed, events)
    if len(order) < 2 and topic not in cluster.recreated and not renewed:
        return {0: list(events)}
    ends = _with_ends_of_ids(_ends(topic, streams, renewed, cluster), result)
    for key, stream in streams.items():
        for event, generation in _by_marks(stream, ends, renewed.get(key, ()), orders):
            result[generation].append(event)
    return dict(result)


def _directory(event: Event) -> str:
    return event.source.rpartition("/")[0]


_Stream = tuple[int | None, str | None]


MARKS = STARTS | named("partition-state", "log-created", "partition-transition")
"""Kinds of events at whose time a generation may end."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """One source's report that the topic was created or deleted."""

    at: datetime
    creates: bool
    by: object
    done: bool = True


def _ends(
    topic: str, streams: Mapping[_Stream, Sequence[Event]], renewed: Mapping[_Stream, Sequence[Event]], cluster: Cluster
) -> list[datetime]:
    """End of each generation but the last, in order. Many lines report one deletion, and many the creation after it, some of them late.
    Another generation ends or begins if a source that already reported this deletion or creation reports it again, or long after the
    others."""
    again = set(_creations(renewed, lambda e: True))
    marks = {*_deletions(topic, cluster), *_creations(streams, makes), *again}
    marks |= {_Mark(e.at, True, e.source) for e in cluster.of("topic-created", topic=topic) if e.at is not None}
    found: list[datetime] = []
    reported: dict[tuple[bool, object], datetime] = {}
    last: _Mark | None = None
    for mark in sorted(marks, key=lambda m: (m.at, m.creates, str(m.by))):
        known = reported.get((mark.creates, mark.by))
        if mark.creates:
            ends = (known is not None and mark.at - known > ACTION_KNOWN) or (mark in again and not found)
        else:
            ends = not found or last is None or _deleted_again(mark, last, known)
        if ends:
            found.append(mark.at - timedelta.resolution if mark.creates else mark.at)
            reported = {}
        elif not mark.creates and last is not None and not last.creates:
            found[-1] = mark.at
        reported[(mark.creates, mark.by)] = mark.at
        last = mark
    return sorted(found)


def _with_ends_of_ids(ends: Sequence[datetime], by_id: Mapping[int, Sequence[Event]]) -> list[datetime]:
    """With an end between the events of two topic ids for which no line reports a deletion or a creation."""
    spans = [(min(times), max(times)) for _, own in sorted(by_id.items()) if (times := [e.at for e in own if e.at is not None])]
    missing = [
        begun - timedelta.resolution
        for (_, last), (begun, _) in pairwise(spans)
        if last < begun and not any(last <= end <= begun for end in ends)
    ]
    return sorted((*ends, *missing))


def _deletions(topic: str, cluster: Cluster) -> Iterator[_Mark]:
    return (_Mark(e.at, False, e.source, e.event != "topic-deletion") for e in cluster.of(*OF_DELETION, topic=topic) if e.at is not None)


def _creations(streams: Mapping[_Stream, Sequence[Event]], creates: Callable[[Event], bool]) -> Iterator[_Mark]:
    return (_Mark(e.at, True, key) for key, own in streams.items() for e in own if creates(e) and e.at is not None)


def _deleted_again(mark: _Mark, last: _Mark, known: datetime | None) -> bool:
    """Whether a deletion is another one than that reported before. `known`: the time at which its source reported that one."""
    return (last.creates and known is not None) or (last.done and mark.at - last.at > ACTION_KNOWN)


def _renewals(stream: Sequence[Event], orders: FileOrders) -> list[Event]:
    """Events at which a new topic must begin, without a deletion in the evidence: a broker takes up leader epoch 0 although it knew a
    later one, or a controller creates a known partition again. Late requests of an old controller start no replica and create no log."""
    taken_up = {e.leader_epoch for e in stream if _takes_up(e)}
    if not (0 in taken_up and len(taken_up) > 1) and not any(map(makes, stream)):
        return []  # skips ordering all events, which costs more than the rest: there is nothing to find
    search = _RenewalSearch()
    for e in orders.of(stream):
        search.read(e)
    return search.found


def _without_same_id(renewed: Mapping[_Stream, Sequence[Event]], events: Iterable[Event]) -> dict[_Stream, list[Event]]:
    """Without those between lines with the only topic id: a topic keeps its id until it is deleted."""
    times = [e.at for e in events if e.topic_id and e.line is not None and e.at is not None and e.event != "describe-partition"]
    first, last = min(times, default=datetime.max), max(times, default=datetime.min)
    kept = {key: [e for e in own if e.at is None or not (first < e.at - ACTION_KNOWN and e.at < last)] for key, own in renewed.items()}
    return {key: own for key, own in kept.items() if own}


class _RenewalSearch:
    """Finds the events of one broker at which a new topic must begin."""

    def __init__(self) -> None:
        self.found: list[Event] = []
        self.reached = 0
        """Latest leader epoch that the broker took up in this topic."""
        self.created: Event | None = None
        self.ordered: Event | None = None
        """Leader epoch 0 was ordered by the controller; the log is created for it next."""
        self.known = datetime.max
        """When the controller first named the partition's state."""

    def read(self, e: Event) -> None:
        """Takes the broker's next event."""
        if makes(e):
            if e.at is not None and e.at > self.known:
                self._begin(e)
                self.created = None
            self.known = datetime.max
        elif e.event == "partition-state" and e.leader_epoch is not None and e.at is not None:
            self.known = min(self.known, e.at)
        if e.event == "log-created":
            self.created = e
            if self.ordered is not None:
                self._begin(self.ordered)
        if _takes_up(e):
            self._take_up(e)

    def _take_up(self, e: Event) -> None:
        if e.leader_epoch:
            self.reached, self.created, self.ordered = max(self.reached, e.leader_epoch), None, None
        elif self.reached and not e.log_end_offset:
            if e.event in STARTS or self.created is not None:
                self._begin(self.created or e)
            else:
                self.ordered = self.ordered or e

    def _begin(self, e: Event) -> None:
        self.found.append(e)
        self.reached, self.ordered = 0, None


def _takes_up(event: Event) -> bool:
    """Whether the broker takes up a leader epoch; a decision of its own controller does not count."""
    return event.leader_epoch is not None and (event.event in STARTS or (event.event == "partition-state" and event.reason == "received"))


def makes(event: Event) -> bool:
    """Whether a controller creates the partition: a controller that takes over prints nothing about existing ones
    (PartitionStateMachine)."""
    return event.event == "partition-transition" and event.value == "made"


def _topic_ids(events: Iterable[Event]) -> list[str]:
    """Topic ids in order of creation: that of the metadata log; ids that occur only in lines are inserted by time."""
    recorded: dict[str, int] = {}
    first: dict[str, datetime] = {}
    for e in events:
        if e.topic_id and e.event != "describe-partition":
            first[e.topic_id] = min(first.get(e.topic_id, datetime.max), e.at or datetime.max)
            if e.metadata_offset is not None:
                recorded[e.topic_id] = min(recorded.get(e.topic_id, e.metadata_offset), e.metadata_offset)
    order = sorted(recorded, key=lambda i: (recorded[i], first[i], i))
    for topic_id in sorted(first.keys() - recorded.keys(), key=lambda i: (first[i], i)):
        order.insert(next((n for n, known in enumerate(order) if first[known] > first[topic_id]), len(order)), topic_id)
    return order


def _by_marks(stream: Sequence[Event], ends: Sequence[datetime], renewals: Sequence[Event], orders: FileOrders) -> list[tuple[Event, int]]:
    """Generations of a stream without topic ids. A new one begins after the log was deleted, or where the controller creates the
    partition again. If a source has as many of these marks as there were ends, no clock is needed. A source with fewer, or with a
    replica that was moved away and came back, is split by the times of the ends."""
    parts = _split(orders.of(stream), frozenset(renewals))
    if not ends or len(parts) == len(ends) + 1:
        return [(e, n - len(parts) + 1) for n, own in enumerate(parts) for e in own]
    if len(parts) == 1:
        return [(e, _at(e.at, ends)) for e in parts[0]]
    return [(e, generation) for own in parts for generation in [_at(_middle(own), ends)] for e in own]


def _split(events: Iterable[Event], renewals: Collection[Event]) -> list[list[Event]]:
    """The events of one source, split where its lines show another generation."""
    parts: list[list[Event]] = [[]]
    deleted = False
    for event in events:
        again = event in renewals or makes(event)
        if (deleted and event.event not in _OF_A_DELETION) or (again and parts[-1] and not deleted):
            parts.append([])
            deleted = False
        parts[-1].append(event)
        deleted = deleted or event.event == "log-deleted"
    return parts


def _at(moment: datetime | None, ends: Sequence[datetime]) -> int:
    """The generation at this time."""
    return bisect_left(ends, moment) - len(ends) if moment is not None else 0


_OF_A_DELETION = named("log-deleted", "segment-delete", "fetcher-removed", "fetch-error")


def _middle(run: Sequence[Event]) -> datetime | None:
    """Middle of a generation's time span, far from both ends because clocks differ."""
    times = [at for e in run for at in (e.at, e.last_at) if at is not None]
    return min(times) + (max(times) - min(times)) / 2 if times else None
