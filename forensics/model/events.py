"""An event as the timeline reads it: one fact, with the broker that stated it and the corrected time.

Here: the columns that identification adds to parsers.schemas.EVENTS, and the light row object built from Arrow columns. Not here: how
the broker or the time is found (identity, clocks) or what follows from the fact (timeline).
"""

from __future__ import annotations

import json
import pickle
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from functools import cache, lru_cache
from itertools import repeat
from operator import attrgetter
from types import MappingProxyType
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc
import zstandard

from parsers.frozen import made
from parsers.schemas import EVENTS

IDENTIFIED = pa.schema(
    [
        *(EVENTS.field(i) for i in range(len(EVENTS.names))),
        pa.field("writer", pa.int32(), metadata={"doc": "broker or controller whose process or disk states the fact; null if unknown"}),
        pa.field(
            "collection",
            pa.string(),
            metadata={"doc": "top directory of the collection the source belongs to; one broker may have several"},
        ),
        pa.field(
            "cluster",
            pa.int32(),
            metadata={
                "doc": "number of the cluster among those that used these brokers: 0 is the one at the end, -1 the one before it, and so on"
            },
        ),
        pa.field("at", pa.timestamp("us"), metadata={"doc": "UTC after correction of zone and skew; null when the fact has no time"}),
    ]
)
"""EVENTS plus the writer, collection, cluster and UTC time of each event."""


@dataclass(slots=True, eq=False, repr=False)
class Event:
    """One row. Every column of IDENTIFIED that the timeline needs is an attribute; null is None. `repeats` counts folded duplicates."""

    source: str = None  # type: ignore[assignment]
    line: int | None = None
    byte: int | None = None
    event: str = None  # type: ignore[assignment]
    pattern: str | None = None
    mode: str | None = None
    text: str | None = None
    node: int | None = None
    topic: str | None = None
    partition: int | None = None
    topic_id: str | None = None
    leader: int | None = None
    leader_epoch: int | None = None
    partition_epoch: int | None = None
    previous_leader: int | None = None
    previous_leader_epoch: int | None = None
    controller: int | None = None
    controller_epoch: int | None = None
    isr: list[int] | None = None
    previous_isr: list[int] | None = None
    replicas: list[int] | None = None
    unordered: bool | None = None
    adding_replicas: list[int] | None = None
    removing_replicas: list[int] | None = None
    eligible: list[int] | None = None
    recovering: bool | None = None
    broker: int | None = None
    brokers: list[int] | None = None
    broker_epoch: int | None = None
    offset: int | None = None
    previous_offset: int | None = None
    log_end_offset: int | None = None
    high_watermark: int | None = None
    log_start_offset: int | None = None
    metadata_offset: int | None = None
    count: int | None = None
    bytes: int | None = None
    duration_ms: int | None = None
    reason: str | None = None
    directory: str | None = None
    key: str | None = None
    host: str | None = None
    value: str | None = None
    replica_offsets: list[dict[str, Any]] | None = None
    batches: list[dict[str, Any]] | None = None
    writer: int | None = None
    collection: str | None = None
    cluster: int | None = None
    at: datetime | None = None
    repeats: int = 1
    last_at: datetime | None = None

    def __post_init__(self) -> None:
        if self.last_at is None:
            self.last_at = self.at

    def __reduce__(self) -> tuple[type[Event], tuple[Any, ...]]:
        """Pickles positional values: half the size and time of pickling with column names. The cluster's events go to every task."""
        return Event, _values(self)

    def __repr__(self) -> str:
        columns = {n: getattr(self, n) for n in IDENTIFIED.names if n not in ("text", "batches") and getattr(self, n, None) is not None}
        return f"Event({columns})"


COLUMNS = tuple(f.name for f in fields(Event))
"""Columns of an Event."""
_values = attrgetter(*COLUMNS)
_DEFAULTS: Mapping[str, Any] = {"repeats": 1}


def rows(batch: pa.RecordBatch) -> Iterator[Event]:
    """Events from a batch of IDENTIFIED or EVENTS. Missing columns become None. The batch may be folded."""
    names = set(batch.schema.names)
    columns = {n: values(batch.column(n)) for n in COLUMNS if n in names and batch.column(n).null_count < batch.num_rows}
    yield from map(Event, *(columns.get(n) or repeat(_DEFAULTS.get(n), batch.num_rows) for n in COLUMNS))


PIECE = 64
"""Compact events of a piece. The text of one is read with those of all of them, in 0.1 ms."""
_PLACE = ("line", "byte")
_OF_PIECE = ("_piece", "_number")


class _Piece:
    """What compact events of one kind have together: their lines and bytes in arrays, and their texts, compressed."""

    __slots__ = ("byte", "kept", "line", "texts")

    def __init__(self, line: Sequence[int | None], byte: Sequence[int | None], texts: bytes | None) -> None:
        self.line, self.byte, self.texts = line, byte, texts
        self.kept: list[Any] = []
        """The events of `kept_together`, each at its number, and None for the others."""

    def __reduce__(self) -> tuple[Any, ...]:
        kept = {n: e for n, e in enumerate(self.kept) if e is not None}
        names = [name for name in type(next(iter(kept.values()))).__slots__ if name not in _OF_PIECE]
        columns = {name: [getattr(e, name) for e in kept.values()] for name in names}
        return _unpacked, (pickle.dumps((list(kept), columns, self.line, self.byte, self.texts), 5),)


def _unpacked(data: bytes) -> _Piece:
    numbers, columns, *own = pickle.loads(data)  # noqa: S301 - a piece that the driver of this run pickled
    piece = _Piece(*own)
    columns |= {"_piece": repeat(piece), "_number": numbers}
    kept_together(made(_compact_class(tuple(columns)), columns, len(numbers)))
    return piece


def kept_together(events: Iterable[Event]) -> None:
    """Pickles each of these events with those of its piece: pickle remembers three objects for each that is pickled alone, which need more
    room than the events."""
    for e in events:
        if isinstance(e, _Compact):
            if not e._piece.kept:
                e._piece.kept = [None] * PIECE
            e._piece.kept[e._number] = e


def _numbers(column: Sequence[int | None]) -> Sequence[int | None]:
    return column if None in column else array("q", cast("Sequence[int]", column))


def _compressed(texts: Sequence[str | None]) -> bytes:
    packed = zstandard.ZstdCompressor().compress(json.dumps(texts).encode())
    return bytes(memoryview(packed))  # a copy, because the result of zstandard keeps the memory of the largest possible one


@lru_cache(256)
def _texts(compressed: bytes) -> list[str | None]:
    return cast("list[str | None]", json.loads(zstandard.ZstdDecompressor().decompress(compressed)))


class _Compact:
    """An event with the attributes of Event, of which only the columns with values take memory. Of these, only `at` may change."""

    __slots__ = ()
    __repr__ = Event.__repr__
    _piece: _Piece
    _number: int

    @property
    def line(self) -> int | None:
        return self._piece.line[self._number]

    @property
    def byte(self) -> int | None:
        return self._piece.byte[self._number]

    @property
    def text(self) -> str | None:
        return None if (texts := self._piece.texts) is None else _texts(texts)[self._number]

    def __reduce__(self) -> tuple[Any, ...]:
        kept = self._piece.kept
        return (_member, (self._piece, self._number)) if kept and kept[self._number] is self else (Event, _values(self))


for _name in COLUMNS:
    if _name not in (*_PLACE, "text"):
        setattr(_Compact, _name, _DEFAULTS.get(_name))


def _member(piece: _Piece, number: int) -> Event:
    return cast("Event", piece.kept[number])


@cache
def _compact_class(names: tuple[str, ...]) -> type[Event]:
    return cast("type[Event]", type("CompactEvent", (_Compact,), {"__slots__": names}))


def compact(batch: pa.RecordBatch) -> list[Event]:
    """Events from a batch of IDENTIFIED, as `rows`, for events that stay in memory: an Event of fifty columns, most of them without a
    value, is three times as large. The batch should have events of one kind."""
    names = set(batch.schema.names)
    columns = {n: values(batch.column(n)) for n in COLUMNS if n in names and batch.column(n).null_count < batch.num_rows}
    nulls: list[Any] = [None] * len(batch)
    columns["last_at"] = columns.setdefault("at", nulls)
    line, byte = (columns.pop(name, nulls) for name in _PLACE)
    texts = columns.pop("text", None)
    pieces = []
    for begin in range(0, len(batch), PIECE):
        own = slice(begin, begin + PIECE)
        pieces.append(_Piece(_numbers(line[own]), _numbers(byte[own]), _compressed(texts[own]) if texts is not None else None))
    columns["_piece"] = [pieces[n // PIECE] for n in range(len(batch))]
    columns["_number"] = [n % PIECE for n in range(len(batch))]
    return made(_compact_class(tuple(columns)), columns, len(batch))


def lasting(event: Event) -> timedelta:
    """The printed duration of an event, at most a day: a number in a log may be anything."""
    return timedelta(milliseconds=min(max(event.duration_ms or 0, 0), 86_400_000))


def place_in(event: Event, parts: Mapping[str, Sequence[int]] = MappingProxyType({})) -> tuple[int, int, int]:
    """Sort key of the event within its part of its source, oldest first. `parts`: Cluster.parts."""
    line, byte, offset = event.line or 0, event.byte or 0, event.metadata_offset or 0
    return (-line, -byte, offset) if parts.get(event.source) == () else (line, byte, offset)


def latest_times(file: Iterable[Event], steps: Sequence[tuple[int, datetime]] = ()) -> Iterator[datetime]:
    """For each event of a file, in the order of the file, the latest time read up to it: a clock that was set back does not reorder a
    file. `steps`: Cluster.steps_back of the file, whose other lines may be later than those of these events."""
    latest = datetime.min
    for event in file:
        if steps:
            latest = max([latest, *(before for line, before in steps if line <= (event.line or 0))])
        if event.at is not None and event.at > latest:
            latest = event.at
        yield latest
        if event.repeats > 1 and event.last_at is not None and event.last_at > latest:
            latest = event.last_at


def values(column: pa.Array) -> list[Any]:
    """A column's values. Equal values share one object where this is cheap."""
    if pa.types.is_timestamp(column.type):
        coded = column.dictionary_encode()
        # Arrow's own conversion to datetimes is slow.
        moments = list(map(datetime.fromisoformat, coded.dictionary.cast(pa.string()).to_pylist()))
        return [None if code is None else moments[code] for code in coded.indices.to_pylist()]
    of_numbers = _of_numbers(column)
    if len(column) < 64 or not (of_numbers or pa.types.is_string(column.type)):
        return column.to_pylist()  # type: ignore[no-any-return]
    coded = (pc.binary_join(column.cast(pa.list_(pa.string())), ",") if of_numbers else column).dictionary_encode()
    if len(coded.dictionary) > len(column) // 2:
        return column.to_pylist()  # type: ignore[no-any-return]
    known = coded.dictionary.to_pylist()
    if of_numbers:
        known = [[int(number) for number in text.split(",") if number] for text in known]
    return [None if code is None else known[code] for code in coded.indices.to_pylist()]


def _of_numbers(column: pa.Array) -> bool:
    """Whether the values are lists of numbers without nulls."""
    return pa.types.is_list(column.type) and pa.types.is_integer(column.type.value_type) and not column.flatten().null_count
