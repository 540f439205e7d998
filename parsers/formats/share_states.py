"""Progress of share groups (KIP-932): records of `__share_group_state`, an internal topic whose records Kafka defines.

Here: for each share-partition the offset below which nothing is delivered again, and the number of acknowledged offsets above it. Not here:
batch frames (parsers.decoding.batches), bodies (parsers.decoding.bodies), or the relation to a loss.

Source: ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue, PersisterStateBatchCombiner and RecordState of Apache Kafka.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from parsers.decoding.batches import Batch
from parsers.decoding.bodies import BatchRecord, UnreadableBatch, records
from parsers.decoding.encoding import Fields, Malformed
from parsers.formats import segments
from parsers.formats.file_kind import FileKind
from parsers.formats.group_offsets import MAX_PAYLOAD, Commit, Histories, Key
from parsers.schemas import Member, Row

TOPIC = "__share_group_state"
MAX_KEYS = 100_000
"""Share-partitions remembered at a time."""

_SNAPSHOT, _UPDATE = 0, 1
"""Key versions, which are types of records."""
_AVAILABLE = 0
"""Delivery state of records that are delivered again; the other states kept, 2 and 4, are acknowledged and archived."""
_UNCHANGED = -1
"""Start offset in an update that does not change it, and of a share-partition that was never read."""

_Span = tuple[int, int, bool]
"""First and last offset; whether the group has finished these offsets."""


@dataclass(slots=True)
class _State:
    start: int = _UNCHANGED
    spans: list[_Span] = field(default_factory=list)

    def put(self, spans: list[_Span]) -> None:
        """Adds spans; later ones override earlier ones."""
        for first, last, done in spans:
            parts = [part for span in self.spans for part in _around(span, first, last)]
            self.spans = [*parts, (first, last, done)]
        self.spans = [span for span in self.spans if span[1] >= self.start]

    @property
    def position(self) -> int:
        """First offset that the group has not finished: the stored start offset lags behind
        (SharePartition.maybeUpdateCachedStateAndOffsets)."""
        reached = self.start
        for first, last, done in sorted(self.spans):
            if first > reached or not done:
                break
            reached = max(reached, last + 1)
        return reached

    def done_above(self, position: int) -> int:
        return sum(last - max(first, position) + 1 for first, last, done in self.spans if done and last >= position)


def _around(span: _Span, first: int, last: int) -> Iterator[_Span]:
    """The parts of the span outside this range."""
    if span[0] < first:
        yield span[0], min(span[1], first - 1), span[2]
    if span[1] > last:
        yield max(span[0], last + 1), span[1], span[2]


def read_segment(stream: BinaryIO, member: Member) -> Iterator[Row]:
    """The rows of any segment, plus its `group-commit` events."""
    states = _ShareStates()
    yield from segments.read_segment(stream, member, payload=MAX_PAYLOAD, look=states.add)
    yield from states.histories.rows()


class _ShareStates:
    def __init__(self) -> None:
        self.histories = Histories("share-states", named_by="topic_id")
        self._states: dict[Key, _State] = {}

    def add(self, batch: Batch) -> None:
        if batch.control:
            return
        try:
            for record in records(batch, MAX_PAYLOAD):
                try:
                    self._record(batch, record)
                except Malformed as fault:
                    self.histories.wrong(f"a share group's state: {fault}")
        except (Malformed, UnreadableBatch) as fault:
            self.histories.wrong(f"records of a batch: {fault}")

    def _record(self, batch: Batch, record: BatchRecord) -> None:
        fields = Fields(record.key or b"")
        kind = fields.int16()
        if kind not in (_SNAPSHOT, _UPDATE):
            return
        key = fields.short_string(), fields.uuid(), fields.int32()
        if key[2] < 0:
            raise Malformed("a partition that cannot be")
        if record.value is None:
            self._states.pop(key, None)
            self.histories.note(key, Commit(None, -1, record.timestamp, batch.position))
            return
        epoch, start, spans = _value(record.value, kind)
        if key not in self._states and len(self._states) >= MAX_KEYS:
            raise Malformed("more share-partitions than are remembered, and the others are left out")
        if kind == _SNAPSHOT:
            state = self._states[key] = _State(start)
        else:
            state = self._states.setdefault(key, _State())
            state.start = start if start != _UNCHANGED else state.start
        state.put(spans)
        if (position := state.position) >= 0:
            # epoch 0 is also written if no leader has stored its epoch yet
            commit = Commit(position, epoch or -1, record.timestamp, batch.position, state.done_above(position) or None)
            self.histories.note(key, commit)


def understood(record: BatchRecord) -> bool:
    """Whether the value contains exactly the fields read here, with nothing after them."""
    try:
        kind = Fields(record.key or b"").int16()
        return record.value is not None and kind in (_SNAPSHOT, _UPDATE) and bool(_value(record.value, kind))
    except Malformed:
        return False


def _value(data: bytes, kind: int) -> tuple[int, int, list[_Span]]:
    """Leader epoch, start offset and spans. The early access in 4.0 wrote other fields under the same version 0; the length of a value fits
    only one of the two."""
    try:
        return _fields(Fields(data), kind, early=False)
    except Malformed:
        return _fields(Fields(data), kind, early=True)


def _fields(value: Fields, kind: int, *, early: bool) -> tuple[int, int, list[_Span]]:
    if value.int16() != 0:
        raise Malformed("an unknown version")
    value.raw(2 if early else 4)
    if kind == _SNAPSHOT:
        value.int32()
    epoch, start = value.int32(), value.int64()
    if kind == _SNAPSHOT and not early:
        value.raw(16)
    spans = value.array(lambda: _span(value))
    value.tagged()
    value.end()
    return epoch, start, spans


def _span(value: Fields) -> _Span:
    first, last, state = value.int64(), value.int64(), value.int8()
    value.int16()
    value.tagged()
    if not 0 <= first <= last:
        raise Malformed("offsets that cannot be")
    return first, last, state != _AVAILABLE


FORMATS = (FileKind("segment", f"segments of {TOPIC}", read_segment, segments.EVENTS | {"group-commit"}, topic=TOPIC, binary=True),)
