"""The records of the copied segments: their partition, their contents, and how their transactions ended.

Here: rows, in the order of offsets. Not here: where they are written to (written).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from forensics.tools.salvage.segments import MAX_BATCH, Lot
from parsers.decoding.batches import Batch, headers
from parsers.decoding.bodies import BatchRecord, UnreadableBatch, marked, records
from parsers.decoding.encoding import Malformed

MAX_UNPACKED = 512 << 20
"""Maximum size of an uncompressed batch."""

Markers = Mapping[int, Sequence[tuple[int, str]]]
"""By producer id, the offsets at which its transactions end, and how: (offset, 'commit' or 'abort')."""


@dataclass(frozen=True, slots=True)
class Row:
    """A lost record. `control`: it marks the end of a transaction, and was not sent by a producer."""

    lot: Lot
    record: BatchRecord
    batch: Batch
    control: str | None
    transaction: str | None
    """'committed', 'aborted', or 'open' if no marker of its end was found; None outside transactions."""

    @property
    def for_consumers(self) -> bool:
        """A consumer that reads committed records would have received it."""
        return self.control is None and self.transaction in (None, "committed")


def markers(wanted: Iterable[Lot]) -> Markers:
    """The markers of all lots of one loss: a transaction may end in another part of it."""
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for lot in wanted:
        for batch in _batches(lot):
            if batch.control:
                found[batch.producer_id].extend(
                    (batch.base_offset, kind) for record in _readable(batch) if (kind := marked(record)) is not None
                )
    return {producer: sorted(own) for producer, own in found.items()}


def rows(lot: Lot, ends: Markers, problems: list[str]) -> Iterator[Row]:
    """The lost records by offset; `problems` gets the errors of unreadable ones."""
    for batch in _batches(lot):
        transaction = _end(batch, ends) if batch.transactional and not batch.control else None
        try:
            for record in records(batch, MAX_UNPACKED):
                if lot.has(record.offset):
                    yield Row(lot, record, batch, (marked(record) or "other") if batch.control else None, transaction)
        except (Malformed, UnreadableBatch) as fault:
            problems.append(
                f"{lot.name}: the batch at offset {batch.base_offset} cannot be read to its end, and is in the segment only: {fault}"
            )


def _readable(batch: Batch) -> Iterator[BatchRecord]:
    try:
        yield from records(batch, MAX_UNPACKED)
    except (Malformed, UnreadableBatch):
        return


def _end(batch: Batch, ends: Markers) -> str:
    own = ends.get(batch.producer_id, ())
    at = bisect_right(own, batch.last_offset, key=lambda end: end[0])
    return "open" if at == len(own) else {"commit": "committed", "abort": "aborted"}[own[at][1]]


def _batches(lot: Lot) -> Iterator[Batch]:
    for path in lot.segments:
        yield from _of_file(path)


def _of_file(path: Path) -> Iterator[Batch]:
    with path.open("rb") as file:
        yield from (b for b in headers(file, payload=MAX_BATCH) if isinstance(b, Batch))
