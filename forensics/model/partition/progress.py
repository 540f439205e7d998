"""How far a replica had come when its leader removed it from the ISR: whether it was stuck or copied too slowly.

Here: the leader's log over time, compared with the offset that its shrink line gives for the replica. Not here: other reasons why a replica
was out of sync (absences).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import field
from datetime import datetime, timedelta, timezone

from forensics.model.events import Event
from forensics.model.message import Message, Value, said
from forensics.model.partition.replicas import Disk
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.times import grouped
from parsers.frozen import dataclass

STUCK, SLOW = "stuck", "slow"


@dataclass(slots=True)
class AbsenceCause:
    """Why a replica was out of the ISR."""

    kind: str
    confidence: str
    clauses: tuple[Message, ...]
    back: datetime | None = None
    evidence: Sequence[Event] = field(default_factory=list)


class LogProgress:
    """The leader's log over time: by the batches of the partition's segments and their timestamps, else by its own lines."""

    def __init__(self, timeline: PartitionTimeline) -> None:
        self._timeline = timeline
        self._disks: dict[int, _Appends | None] = {}
        self._lines: dict[int, list[tuple[datetime, int]]] = {}
        self._seen = grouped(
            ((event.writer, replica["broker"]), (event.at, replica["log_end_offset"]))
            for event in timeline.of("isr-shrink")
            for replica in event.replica_offsets or ()
            if event.at is not None and event.writer is not None and replica.get("log_end_offset") is not None
        )
        for known in self._seen.values():
            known.sort()

    def of(self, broker: int, shrink: Event, lag: timedelta, skew: timedelta) -> AbsenceCause | None:
        """Whether the replica was stuck or had moved since it was last caught up, by the offset in the leader's shrink line."""
        known = next((r for r in shrink.replica_offsets or () if r.get("broker") == broker), None)
        end = known.get("log_end_offset") if known is not None else None
        if known is None or end is None or shrink.at is None or shrink.writer is None:
            return None
        caught_up = _stamp(known.get("last_caught_up_ms"), skew)
        if caught_up is not None and not timedelta(0) <= shrink.at - caught_up <= max(lag * 10, timedelta(minutes=10)):
            caught_up = None
        measure = _Measure(broker, end, shrink, shrink.at, lag, caught_up)
        return self._moved(measure, shrink.writer) or self._by_batches(measure, shrink.writer) or self._by_lines(measure, shrink.writer)

    def _moved(self, m: _Measure, leader: int) -> AbsenceCause | None:
        """Within the lag time before, its leader had named a smaller log end for it: it fetched in between."""
        known = self._seen.get((leader, m.broker), [])
        lately = known[bisect_right(known, (m.at - m.lag, 1 << 63)) : bisect_left(known, (m.at, -1))]
        return m.slow("certain", None) if any(end < m.end for _, end in lately) else None

    def _by_batches(self, m: _Measure, leader: int) -> AbsenceCause | None:
        appends = self._appends(leader)
        if appends is None or m.shrink.log_end_offset is None:
            return None
        held, lacking = appends.before(m.end), appends.at(m.end)
        if held is None or lacking is None or not appends.agrees(m.shrink.log_end_offset, m.at, m.tolerance):
            return None
        if held > m.latest + m.tolerance:
            return m.slow("certain" if held >= m.at - m.lag / 2 else "probable", held)
        if lacking >= m.earliest - m.tolerance:
            if m.caught_up is None and held > m.earliest + m.tolerance and lacking - held < m.tolerance:
                return None  # mid-stream, a slow replica and a newly stuck one end at the same offset
            return m.stuck("certain" if m.caught_up is not None and appends.at_once(m.shrink.log_end_offset, m.at) else "probable")
        return None

    def _by_lines(self, m: _Measure, leader: int) -> AbsenceCause | None:
        points = self._points(leader)
        first = bisect_left(points, (m.latest + m.tolerance, -1))
        if first < len(points) and points[first][0] < m.at and m.end > points[first][1]:
            return m.slow("probable", None)
        past = bisect_right(points, (m.earliest + m.tolerance, 1 << 63))
        if past and points[past - 1][1] >= m.end:
            return m.stuck("certain" if m.caught_up is not None else "probable")
        return None

    def _appends(self, leader: int) -> _Appends | None:
        if leader not in self._disks:
            disks = self._timeline.collected_logs
            own = disks.get(leader)
            whole = own if own is not None and own.segments else max(disks.values(), key=lambda d: d.reach or 0, default=None)
            self._disks[leader] = _Appends.of(whole) if whole is not None else None
        return self._disks[leader]

    def _points(self, leader: int) -> list[tuple[datetime, int]]:
        if leader not in self._lines:
            printed = self._timeline.of("leader-start", "isr-shrink", "segment-roll", "producer-snapshot")
            exact = ((e, e.offset if e.log_end_offset is None else e.log_end_offset) for e in printed if e.writer == leader)
            self._lines[leader] = sorted((e.at, offset) for e, offset in exact if e.at is not None and offset is not None)
        return self._lines[leader]


def _stamp(ms: int | None, skew: timedelta) -> datetime | None:
    if ms is None or not 0 < ms < 1 << 42:
        return None
    return _utc(ms) - skew


@dataclass(frozen=True, slots=True)
class _Measure:
    broker: int
    end: int
    shrink: Event
    at: datetime
    lag: timedelta
    caught_up: datetime | None

    @property
    def tolerance(self) -> timedelta:
        """Producers set timestamps with clocks of their own."""
        return min(max(self.lag / 10, timedelta(milliseconds=100)), timedelta(seconds=1))

    @property
    def latest(self) -> datetime:
        """When it can have been caught up last. The leader checks twice per lag time, so not before `earliest`."""
        return self.caught_up if self.caught_up is not None else self.at - self.lag

    @property
    def earliest(self) -> datetime:
        return self.caught_up if self.caught_up is not None else self.at - self.lag * 1.5 - self.tolerance

    def stuck(self, confidence: str) -> AbsenceCause:
        lag = self.lag.total_seconds() if self.caught_up is None else None
        return self._cause(STUCK, confidence, "fetched-nothing", caught_up=self.caught_up, lag=lag)

    def slow(self, confidence: str, held: datetime | None) -> AbsenceCause:
        return self._cause(SLOW, confidence, "fetched-too-slowly", seconds=(self.at - self.latest).total_seconds(), appended=held)

    def _cause(self, kind: str, confidence: str, phrase: str, **how: Value) -> AbsenceCause:
        clause = said(f"absence/{phrase}", broker=self.broker, log_end=self.end, leaders=self.shrink.log_end_offset, **how)
        return AbsenceCause(kind, confidence, (clause,), evidence=[self.shrink])


@dataclass(frozen=True, slots=True)
class _Appends:
    """Batches of a log by offset with their timestamps: no batch was appended before its timestamp, except for errors of its producer's
    clock."""

    ends: Sequence[int]
    times: Sequence[datetime]

    @classmethod
    def of(cls, disk: Disk) -> _Appends | None:
        batches = sorted(
            (b["last_offset"] + 1, b["max_timestamp"])
            for segment in disk.segments
            for b in segment.batches or ()
            if not b["control"] and 0 < b["max_timestamp"] < 1 << 42
        )
        if not batches:
            return None
        return cls([end for end, _ in batches], [_utc(ms) for _, ms in batches])

    def before(self, offset: int) -> datetime | None:
        """When the last batch below the offset was appended."""
        index = bisect_right(self.ends, offset) - 1
        return self.times[index] if index >= 0 else None

    def at(self, offset: int) -> datetime | None:
        """When the batch with this offset was appended."""
        index = bisect_right(self.ends, offset)
        return self.times[index] if index < len(self.times) else None

    def agrees(self, end: int, at: datetime, tolerance: timedelta) -> bool:
        """The log ended here at that time, so the records below had been sent; timestamps of producers with fast clocks contradict that."""
        before = self.before(end)
        return before is None or before <= at + tolerance

    def at_once(self, end: int, at: datetime) -> bool:
        """The next batch was appended without a delay in its producer: a record's timestamp is the time of its creation."""
        after = self.at(end)
        return after is None or after >= at - timedelta(milliseconds=100)


def _utc(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, timezone.utc).replace(tzinfo=None)
