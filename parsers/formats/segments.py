"""Segments of partitions: their record batches, where a segment is damaged, and the end of the log.

Here: the `segment` and `log-corruption` events of any `*.log` file. Not here: the frames of batches (parsers.decoding.batches), or the
records of internal topics (group_offsets, share_states, transaction_states, metadata_log). Source: LogSegment.recover of Apache Kafka.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from parsers.decoding.batches import Batch, Damage, headers
from parsers.formats.file_kind import SEGMENT_SUFFIX, FileKind
from parsers.paths import partition_of
from parsers.schemas import INT64, MAX_TEXT, Member, Row

MAX_BATCHES = 50_000
"""Batches one `segment` row lists."""

MAX_STRETCHES = 1_000
"""Damaged ranges that one `segment` row names; the last range covers all that follow."""

_SEGMENT_NAME = re.compile(r"(?:^|/)(\d{20})\.log(?:\.(deleted|cleaned|swap|part))*(?:\.(?:gz|bz2|xz|zst|zip|z))?$", re.IGNORECASE)


class Stretch(NamedTuple):
    """A byte range of a segment without a valid batch."""

    reason: str
    """Kind of the first bad batch: 'crc', 'offset', or the `reason` of a Damage. 'preallocated' may also be lost writes: both are zero
    bytes."""
    byte: int
    end_byte: int | None
    """Where the next valid batch begins; None if there is none up to the end of the file."""
    start: int | None
    """Last offset + 1 of the last valid batch before the range, else the segment's base offset."""
    end: int | None
    """Base offset of the next valid batch, which may be below `start`: no checksum covers it."""
    claimed: int | None = None
    """Last offset + 1 according to the headers of the damaged batches, if these continue from `start` without a gap."""


def stretches_of(segment_value: str | None) -> list[Stretch]:
    """The damaged ranges of a file, from `value` of its last `segment` event; none if the value is not a list of ranges."""
    try:
        return [Stretch(*stretch) for stretch in json.loads(segment_value)] if segment_value else []
    except (ValueError, TypeError):
        return []


def _passed_by(_: Batch) -> None:
    """The default `look`: ignores the batch."""


def read_segment(stream: BinaryIO, member: Member, *, payload: int = 0, look: Callable[[Batch], None] = _passed_by) -> Iterator[Row]:
    """`segment` events of one `*.log` file, and a `log-corruption` event where each damage begins.

    A segment of more than MAX_BATCHES batches gives several `segment` rows; `byte` is the position of a row's first batch and only the last
    row has `log_end_offset`: last offset + 1 of the last valid batch before the first damage, or the base offset of an empty segment.
    Batches after a damaged range are listed as well: they show what the log contained. `value` of the last row names the damaged stretches
    (`stretches_of`); null if there are none.

    `reason` is null for a replica's current segment, else the state of its directory ('delete', 'future', 'stray') or what the file name
    says ('deleted', 'cleaned', 'swap', 'part'). `look` is called with every whole batch, with a payload of at most `payload` bytes.
    """
    segment = _Segment(member)
    for batch in headers(stream, payload=payload):
        if isinstance(batch, Batch) and batch.valid:
            look(batch)
        yield from segment.add(batch)
    yield segment.last_row()


class _Segment:
    """State of a segment while its batches are read."""

    def __init__(self, member: Member) -> None:
        name = _SEGMENT_NAME.search(member.path)
        self._base = int(name[1]) if name and int(name[1]) in INT64 else None
        self._end = self._base
        self._last_offset: int | None = None
        self._damage: int | None = None
        self._bad_run = False
        self._stretches: list[Stretch] = []
        self._behind = 0
        self._rows: list[Row] = []
        self._byte = 0
        self._place: Row = {"pattern": "segment", "time": member.modified, "clock": "mtime" if member.modified else None}
        where = partition_of(member.path)
        if where:
            self._place["topic"], self._place["partition"] = where[0], where[1]
        state = where[2] if where and where[2] != "current" else None
        self._reason = state or (name[2].lower() if name and name[2] else None)

    def add(self, batch: Batch | Damage) -> Iterator[Row]:
        if isinstance(batch, Damage):
            self._damaged(batch.reason, batch.position, None)
            self._bad_run = True
            if batch.reason != "preallocated":
                yield self._corruption(batch.position, batch.reason, batch.text)
            return
        if wrong := self._wrong(batch):
            self._damaged(wrong[0], batch.position, batch)
            # one event per range of bad batches: a file with nothing else must not flood the table
            if not self._bad_run:
                yield self._corruption(batch.position, *wrong)
            self._bad_run = True
            return
        if self._bad_run and self._stretches:
            self._stretches[-1] = self._stretches[-1]._replace(end_byte=batch.position, end=batch.base_offset)
        self._bad_run = False
        if self._last_offset is not None and batch.base_offset <= self._last_offset:
            yield self._disorder(batch)
        if len(self._rows) == MAX_BATCHES:
            yield self._row()
        self._append(batch)

    def last_row(self) -> Row:
        text = None
        if self._behind:
            text = f"{self._behind} whole batches follow the first damage; the last of them ends at offset {self._last_offset}"
        value = json.dumps(self._stretches, separators=(",", ":")) if self._stretches else None
        return self._row() | {"log_end_offset": self._end, "text": text, "value": value}

    def _damaged(self, reason: str, position: int, batch: Batch | None) -> None:
        """Begins or extends a damaged range."""
        if not self._bad_run and len(self._stretches) < MAX_STRETCHES:
            start = self._base if self._last_offset is None else self._last_offset + 1
            self._stretches.append(Stretch(reason, position, None, start, None, start))
        last = self._stretches[-1]
        claimed = batch.last_offset + 1 if batch is not None and batch.base_offset == last.claimed else None
        in_range = claimed is not None and last.claimed is not None and last.claimed < claimed < INT64.stop
        self._stretches[-1] = last._replace(end_byte=None, end=None, claimed=claimed if in_range else None)

    def _append(self, batch: Batch) -> None:
        if not self._rows:
            self._byte = batch.position
        self._rows.append(
            {
                "base_offset": batch.base_offset,
                "last_offset": batch.last_offset,
                "leader_epoch": batch.leader_epoch,
                "crc": batch.crc,
                "base_timestamp": batch.base_timestamp,
                "max_timestamp": batch.max_timestamp,
                "producer_id": batch.producer_id,
                "producer_epoch": batch.producer_epoch,
                "base_sequence": batch.base_sequence,
                "control": batch.control,
                "codec": batch.codec,
                "bytes": batch.size,
                "append_time": batch.timestamp_type == "append",
                "whole": batch.whole,
            }
        )
        self._last_offset = batch.last_offset
        if self._damage is not None:
            self._behind += 1
        else:
            self._end = batch.last_offset + 1

    def _row(self) -> Row:
        rows, self._rows = self._rows, []
        return {
            **self._place,
            "event": "segment",
            "byte": self._byte,
            "offset": self._base,
            "count": len(rows),
            "batches": rows,
            "reason": self._reason,
        }

    def _wrong(self, batch: Batch) -> tuple[str, str] | None:
        """Reason and text of why a batch is not a valid part of the log."""
        at = f"the batch at byte {batch.position} (offset {batch.base_offset})"
        if not batch.valid:
            return "crc", f"{at} does not match its checksum {batch.crc}"
        # Kafka checks only the last offset (LogSegment.ensureOffsetInRange): indexes hold int32 relative to the base
        first, stop = (0, INT64.stop - 1) if self._base is None else (self._base, min(self._base + 2**31, INT64.stop - 1))
        if not (0 <= batch.base_offset <= batch.last_offset and first <= batch.last_offset < stop):
            return "offset", f"{at} ends at offset {batch.last_offset}, which a segment that begins at {first} cannot hold"
        return None

    def _corruption(self, position: int, reason: str, text: str) -> Row:
        if self._damage is None:
            self._damage = position
        text = f"{text}; a recovery of this segment cuts the log at offset {self._end}, byte {self._damage}, with all that follows"
        return self._event(position, reason, text)

    def _disorder(self, batch: Batch) -> Row:
        text = f"the batch at byte {batch.position} begins at offset {batch.base_offset}, the one before it ended at {self._last_offset}"
        return self._event(batch.position, "offset-order", f"{text}; no checksum covers a batch's base offset, a recovery keeps both")

    def _event(self, position: int, reason: str, text: str) -> Row:
        return {
            **self._place,
            "event": "log-corruption",
            "byte": position,
            "offset": self._end,
            "reason": reason,
            "text": text[:MAX_TEXT],
        }


EVENTS = frozenset({"segment", "log-corruption"})
FORMATS = (FileKind("segment", "record batches of a partition", read_segment, EVENTS, rf"\d{{20}}\.log{SEGMENT_SUFFIX}", binary=True),)
