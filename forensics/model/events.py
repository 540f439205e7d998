"""An event as the timeline reads it: one fact, with the broker that stated it and the corrected time.

Here: the columns that identification adds to parsers.schemas.EVENTS, and the light row object built from Arrow columns. Not here: how
the broker or the time is found (identity, clocks) or what follows from the fact (timeline).
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from itertools import repeat
from operator import attrgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

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


_COLUMNS = tuple(f.name for f in fields(Event))
_values = attrgetter(*_COLUMNS)


def rows(batch: pa.RecordBatch) -> Iterator[Event]:
    """Events from a batch of IDENTIFIED or EVENTS. Missing columns become None. The batch may be folded."""
    names = set(batch.schema.names)
    columns = {n: values(batch.column(n)) for n in _COLUMNS if n in names and batch.column(n).null_count < batch.num_rows}
    yield from map(Event, *(columns.get(n) or repeat(_DEFAULTS.get(n), batch.num_rows) for n in _COLUMNS))


def lasting(event: Event) -> timedelta:
    """The printed duration of an event, at most a day: a number in a log may be anything."""
    return timedelta(milliseconds=min(max(event.duration_ms or 0, 0), 86_400_000))


def place_in(event: Event, newest_first: Container[str] = ()) -> tuple[int, int, int]:
    """Sort key of the event within its source, oldest first. `newest_first`: sources whose newest line comes first."""
    line, byte, offset = event.line or 0, event.byte or 0, event.metadata_offset or 0
    return (-line, -byte, offset) if event.source in newest_first else (line, byte, offset)


_DEFAULTS = {"repeats": 1}


def values(column: pa.Array) -> list[Any]:
    """A column's values. Equal values share one object where this is cheap."""
    if pa.types.is_timestamp(column.type):
        moments = _Moments()
        return [None if at is None else moments[at] for at in column.cast(pa.string()).to_pylist()]
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


class _Moments(dict[str, datetime]):
    """Datetimes cached by Arrow's text form. Arrow's own conversion creates one datetime per row and is slow."""

    def __missing__(self, text: str) -> datetime:
        made = self[text] = datetime.fromisoformat(text)
        return made
