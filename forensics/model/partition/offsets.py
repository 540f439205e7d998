"""The log end and the high watermark of each replica over time, from its own lines and files, and what it lost.

Here: the rows (SCHEMA) from the observations of each replica (forensics.model.partition.replicas). Not here: what offsets prove (loss,
durability), or how they are drawn (forensics.views.html).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any

import pyarrow as pa

from forensics.model.events import Event
from forensics.model.partition.replicas import AT_LEAST, EXACT, Observation
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.record import Int32, Record, struct
from parsers.frozen import dataclass

REMOVED = "removed"
MOST = 200
"""Maximum number of observations of a replica and a quantity; of more, the first and the last ones are kept."""


@dataclass(frozen=True, slots=True)
class OffsetRow(Record):
    generation: Annotated[Int32, "which topic of this name: 0 the last one, -1 the one deleted before it, and so on"]
    broker: Annotated[Int32, "broker of the replica"]
    quantity: Annotated[str, "log-end-offset, high-watermark, log-start-offset, or removed: offsets that its log had and has no more"]
    offset: Annotated[int, "the offset; of what was removed the first one"]
    end: Annotated[int | None, "of what was removed the end (exclusive)"]
    bound: Annotated[str, "exact, at-least or at-most; of what was removed that of its end"]
    cause: Annotated[
        str | None, "why it was removed: leader-epoch, high-watermark, truncation, restart, empty, left-behind, deleted or stray"
    ]
    epoch: Annotated[Int32 | None, "the last leader epoch that the broker knew"]
    time: Annotated[datetime | None, "UTC after correction; null if unknown"]
    source: Annotated[str, "path of the source that states it"]
    line: Annotated[int | None, "1-based line; null in binary files"]
    byte: Annotated[int | None, "byte offset in the (decompressed) source"]


SCHEMA = pa.schema(list(struct(OffsetRow)))


def offsets(timeline: PartitionTimeline) -> Iterator[dict[str, Any]]:
    """Rows of SCHEMA, replica by replica in the order of its own lines and files; repeated observations are left out."""
    number = timeline.generation
    for broker in sorted(timeline.replicas):
        replica = timeline.replicas[broker]
        for quantity in ("log-end-offset", "high-watermark", "log-start-offset"):
            for o in _few([o for o in replica.observations if o.quantity == quantity]):
                yield OffsetRow(number, broker, quantity, o.offset, None, o.bound, None, o.epoch, o.at, *_place(o.event)).row()
        if (disk := timeline.collected_logs.get(broker)) is not None:
            for quantity, held, offset, bound in (
                ("log-end-offset", disk.end_event(), disk.reach, AT_LEAST if disk.end_unknown else EXACT),
                ("high-watermark", disk.high_watermark, disk.high_watermark.offset if disk.high_watermark is not None else None, EXACT),
            ):
                if held is not None and offset is not None:
                    yield OffsetRow(number, broker, quantity, offset, None, bound, None, disk.last_epoch, held.at, *_place(held)).row()
        for r in (r for r in (*replica.removals, *replica.deleted_logs) if r.evidence):
            bound, place = EXACT if r.exact else AT_LEAST, _place(r.evidence[-1])
            yield OffsetRow(number, broker, REMOVED, r.start, r.end, bound, r.cause, r.under_epoch, r.at, *place).row()


def _place(event: Event) -> tuple[str, int | None, int | None]:
    return event.source, event.line, event.byte


def _few(observations: Sequence[Observation]) -> Sequence[Observation]:
    """The first and the last of each run of equal observations."""

    def alike(a: Observation, b: Observation) -> bool:
        return (a.offset, a.bound) == (b.offset, b.bound)

    kept = [
        o
        for n, o in enumerate(observations)
        if not (0 < n < len(observations) - 1 and alike(observations[n - 1], o) and alike(o, observations[n + 1]))
    ]
    return kept if len(kept) <= MOST else [*kept[: MOST // 2], *kept[-MOST // 2 :]]
