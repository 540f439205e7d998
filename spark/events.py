"""An event as the timeline sees it: one fact, with the broker that stated it and the corrected time.

Here: the columns that identification adds to parsers.schemas.EVENTS, and the light row object built from Arrow columns.
Not here: how the broker or the time is found (identity, clocks) or what follows from the fact (timeline).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pyarrow as pa

from parsers.schemas import EVENTS

IDENTIFIED = pa.schema(
    [
        *(EVENTS.field(i) for i in range(len(EVENTS.names))),
        pa.field(
            "writer", pa.int32(), metadata={"doc": "broker or controller whose process or disk states the fact; null when nobody knows"}
        ),
        pa.field(
            "collection",
            pa.string(),
            metadata={"doc": "top directory of the collection the source belongs to; one broker may have several"},
        ),
        pa.field(
            "cluster",
            pa.int32(),
            metadata={"doc": "which of the clusters that lived on these brokers: 0 the one at the end, -1 the one before it, and so on"},
        ),
        pa.field("at", pa.timestamp("us"), metadata={"doc": "UTC after correction of zone and skew; null when the fact has no time"}),
    ]
)
"""EVENTS with who and when resolved."""

_COLUMNS = tuple(name for name in IDENTIFIED.names if name not in ("collected", "level", "time", "clock"))


class Event:
    """One row. Every column of IDENTIFIED the timeline needs is an attribute; null is None. `repeats` counts folded twins."""

    __slots__ = (*_COLUMNS, "repeats", "last_at")

    source: str
    line: int | None
    byte: int | None
    event: str
    pattern: str | None
    mode: str | None
    text: str | None
    node: int | None
    topic: str | None
    partition: int | None
    topic_id: str | None
    leader: int | None
    leader_epoch: int | None
    partition_epoch: int | None
    previous_leader: int | None
    previous_leader_epoch: int | None
    controller: int | None
    controller_epoch: int | None
    isr: list[int] | None
    previous_isr: list[int] | None
    replicas: list[int] | None
    unordered: bool | None
    adding_replicas: list[int] | None
    removing_replicas: list[int] | None
    eligible: list[int] | None
    recovering: bool | None
    broker: int | None
    brokers: list[int] | None
    broker_epoch: int | None
    offset: int | None
    previous_offset: int | None
    log_end_offset: int | None
    high_watermark: int | None
    log_start_offset: int | None
    metadata_offset: int | None
    count: int | None
    bytes: int | None
    duration_ms: int | None
    reason: str | None
    directory: str | None
    key: str | None
    value: str | None
    replica_offsets: list[dict[str, Any]] | None
    batches: list[dict[str, Any]] | None
    writer: int | None
    collection: str | None
    cluster: int | None
    at: datetime | None
    repeats: int
    last_at: datetime | None

    def __init__(self, **fields: Any) -> None:
        for name in _COLUMNS:
            setattr(self, name, fields.get(name))
        self.repeats = 1
        self.last_at = self.at

    def __repr__(self) -> str:
        told = {n: getattr(self, n) for n in _COLUMNS if n not in ("text", "batches") and getattr(self, n) is not None}
        return f"Event({told})"


def rows(batch: pa.RecordBatch) -> Iterator[Event]:
    """The rows of a batch of IDENTIFIED (or of EVENTS: then writer, collection and at are None)."""
    names = [n for n in _COLUMNS if n in batch.schema.names]
    columns = [batch.column(n) for n in names]
    present = [(n, c.to_pylist()) for n, c in zip(names, columns, strict=True) if c.null_count < len(c)]
    for i in range(batch.num_rows):
        yield Event(**{n: values[i] for n, values in present})
