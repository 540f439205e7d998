"""The end of one replica's log by its segments, and the bytes in them without a valid batch.

Here: the log's end by its valid batches, the truncation that a recovery would make, damaged stretches and holes in the offsets.
Not here: how damaged bytes are found (parsers.decoding.batches), or the consequences for the partition (forensics).

Source: LogSegment.recover and LogLoader.recoverLog of Apache Kafka. After an unclean stop a broker recovers the segments from the
recovery point on. It truncates the first damaged one before its first invalid batch and deletes all later segments, although valid
batches may follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import accumulate, chain, pairwise, zip_longest
from typing import Any

from forensics.model.events import Event
from forensics.model.times import grouped
from parsers.formats.segments import Stretch, stretches_of
from parsers.frozen import dataclass

TAILS = frozenset({"torn-tail", "preallocated"})
"""Normal reasons at the end of a log: a write that an unclean stop interrupted, and zero bytes that were allocated or never written."""


@dataclass(frozen=True, slots=True)
class DamagedStretch:
    """Bytes of a segment file without a valid batch, and the offsets they may have contained."""

    segment: Event
    """The last `segment` event of the file."""
    reason: str
    """As in parsers.formats.segments.Stretch."""
    byte: int
    end_byte: int | None
    """None: up to the end of the file."""
    start: int
    end: int | None
    """The first offset known to come after it; None if the log has no valid batch after it."""
    claimed: int | None
    """The offset after its last batch by the batches' own headers, which are not verified."""
    last: bool
    """It is the end of the log's last file."""

    @property
    def ordinary(self) -> bool:
        """Whether this is a torn or zeroed end of the log, as an unclean stop leaves it."""
        return self.last and self.reason in TAILS

    @property
    def estimated_end(self) -> int | None:
        """`end`, else `claimed`."""
        return self.end if self.end is not None else self.claimed


@dataclass(frozen=True, slots=True)
class Extent:
    """Offsets in the segments of one log."""

    recovery_end: int | None = None
    """Log end after a broker's recovery from an unclean stop; without damage the end of the log."""
    recovery_cuts: bool = False
    """A recovery reads a damaged segment and truncates the log there."""
    reach: int | None = None
    """The offset after the last valid batch, including batches after a damage; the base offset of a last segment without valid batches."""
    unbroken: int | None = None
    """`reach` without the batches after a hole within a file that no damage explains."""
    end_unknown: bool = False
    """The log's end is not readable: `reach` is a lower bound."""
    stretches: tuple[DamagedStretch, ...] = ()
    holes: tuple[tuple[int, int], ...] = ()
    """Offsets [start, end) without a batch and without a damage that explains it: compaction, a missing file, a changed base offset."""
    overlaps: tuple[Overlap, ...] = ()

    @property
    def torn(self) -> bool:
        """Whether only the log's last batch is unreadable, and the file ends within it."""
        return bool(self.stretches) and self.stretches[-1].last and self.stretches[-1].reason == "torn-tail" and not self.overlaps


@dataclass(frozen=True, slots=True)
class Overlap:
    """A batch that begins at `start` although the batches before it in the file reach `end`: one of their base offsets is wrong."""

    segment: Event
    start: int
    end: int


@dataclass(slots=True)
class _DamagedFile:
    base: int | None
    rows: list[Event] = field(default_factory=list)

    @property
    def last_row(self) -> Event:
        return self.rows[-1]

    def batches(self) -> Iterator[Mapping[str, Any]]:
        return (b for row in self.rows for b in row.batches or () if b.get("base_offset") is not None)


def reach_of(segment: Event) -> int | None:
    """The batches' end offset in one `segment` event."""
    return _of_directory([_DamagedFile(segment.offset, [segment])], None).reach


def extent(segments: Iterable[Event], recovery_point: int | None) -> Extent:
    """The extent over all directories of the segments. With several directories: the furthest end, and the damages of all."""
    by_directory = grouped(((segment.source or "").rpartition("/")[0], segment) for segment in segments)
    found = [_of_directory(_files(own), recovery_point) for _, own in sorted(by_directory.items())]
    if len(found) < 2:
        return found[0] if found else Extent()
    return Extent(
        _furthest(e.recovery_end for e in found),
        any(e.recovery_cuts for e in found),
        _furthest(e.reach for e in found),
        _furthest(e.unbroken for e in found),
        any(e.end_unknown for e in found),
        tuple(chain.from_iterable(e.stretches for e in found)),
        tuple(chain.from_iterable(e.holes for e in found)),
        tuple(chain.from_iterable(e.overlaps for e in found)),
    )


def _furthest(offsets: Iterable[int | None]) -> int | None:
    return max((offset for offset in offsets if offset is not None), default=None)


def _files(segments: Iterable[Event]) -> list[_DamagedFile]:
    by_source = grouped((segment.source, segment) for segment in segments)
    files = [
        _DamagedFile(rows[0].offset, sorted(rows, key=lambda r: (r.log_end_offset is not None, r.byte or 0))) for rows in by_source.values()
    ]
    return sorted(files, key=lambda f: f.base or 0)


def _of_directory(files: Sequence[_DamagedFile], recovery_point: int | None) -> Extent:
    if (end := _contiguous_end(files)) is not None:
        return Extent(recovery_end=end, reach=end, unbroken=end)
    stretches = list(_stretches(files))
    overlaps = [o for f in files for o in _overlaps(f)]
    rises = not overlaps and _rises(files)
    furthest = _furthest(f.last_row.log_end_offset for f in files)
    cuts = _recovery_cuts(files, recovery_point)
    reach = furthest if furthest is not None and rises and not stretches else _reach(files)
    holes = list(_holes(files))
    return Extent(
        recovery_end=min(cuts, default=furthest),
        recovery_cuts=bool(cuts),
        reach=reach,
        unbroken=next((start for start, _, within in holes if within), reach),
        end_unknown=any(s.end is None for s in stretches) or any(o.segment is files[-1].last_row for o in overlaps),
        stretches=tuple(stretches),
        holes=tuple((start, end) for start, end, _ in holes),
        overlaps=tuple(overlaps),
    )


def _rises(files: Sequence[_DamagedFile]) -> bool:
    """Whether no batch begins before the end of the previous one."""
    return all(end <= start for (_, end), (start, _) in pairwise(_spans(files)))


def _recovery_cuts(files: Sequence[_DamagedFile], recovery_point: int | None) -> list[int]:
    """The offsets at which a recovery would truncate the log: the ends of damaged files that it reads."""
    return [
        f.last_row.log_end_offset
        for f, after in zip_longest(files, files[1:])
        if f.last_row.value and f.last_row.log_end_offset is not None and _recovered(after, recovery_point)
    ]


def _contiguous_end(files: Sequence[_DamagedFile]) -> int | None:
    """The end of a log without damage in which each batch begins where the previous one ended; else None."""
    reached: int | None = None
    for file in files:
        if file.last_row.value or file.last_row.log_end_offset is None or file.base is None or reached not in (None, file.base):
            return None
        reached = file.base
        for row in file.rows:
            for b in row.batches or ():
                if b.get("base_offset") != reached:
                    return None
                reached = b["last_offset"] + 1
    return reached if files and files[-1].last_row.log_end_offset == reached else None


def _recovered(after: _DamagedFile | None, recovery_point: int | None) -> bool:
    """Whether a recovery reads the segment before `after`: the recovery point is not beyond that segment."""
    return after is None or after.base is None or recovery_point is None or recovery_point < after.base


def _stretches(files: Sequence[_DamagedFile]) -> Iterator[DamagedStretch]:
    for file, after in zip(files, [*files[1:], None], strict=True):
        yield from (_stretch(stretch, file, after) for stretch in stretches_of(file.last_row.value))


def _stretch(stretch: Stretch, file: _DamagedFile, after: _DamagedFile | None) -> DamagedStretch:
    start = stretch.start or 0
    end = stretch.end if stretch.end is not None or after is None else after.base
    claimed = stretch.claimed if stretch.claimed is not None and stretch.claimed > start else None
    last = stretch.end_byte is None and after is None
    return DamagedStretch(file.last_row, stretch.reason, stretch.byte, stretch.end_byte, start, end, claimed, last)


def _spans(files: Sequence[_DamagedFile]) -> Iterator[tuple[int, int]]:
    """[start, end) of each batch, and an empty span at each file's base offset."""
    for file in files:
        if file.base is not None:
            yield file.base, file.base
        yield from ((b["base_offset"], b["last_offset"] + 1) for b in file.batches())


def _overlaps(file: _DamagedFile) -> Iterator[Overlap]:
    for before, b in pairwise(file.batches()):
        if b["base_offset"] <= before["last_offset"]:
            yield Overlap(file.last_row, b["base_offset"], before["last_offset"] + 1)


def _reach(files: Sequence[_DamagedFile]) -> int | None:
    """The largest batch end that no later batch contradicts: offsets rise in a log. No checksum covers a batch's base offset, so an end
    above the start of a later batch does not count."""
    spans = list(_spans(files))
    lowest = list(accumulate((start for start, _ in reversed(spans)), min))[::-1]
    return max((end for (_, end), later in zip_longest(spans, lowest[1:]) if later is None or end <= later), default=None)


def _holes(files: Sequence[_DamagedFile]) -> Iterator[tuple[int, int, bool]]:
    """Holes that no damaged stretch explains, and whether they are within a file. The base offset of a compressed message of the old
    formats is unknown, so a gap before it does not count as a hole."""
    reached: int | None = None
    for file in files:
        stretches = stretches_of(file.last_row.value)
        damaged = {(s.start, s.end) for s in stretches}
        if reached is not None and file.base is not None and file.base > reached:
            yield reached, file.base, False
        reached = file.base if file.base is not None else reached
        for b in file.batches():
            start = b["base_offset"]
            if reached is not None and start > reached and b.get("whole") is not None and (reached, start) not in damaged:
                yield reached, start, True
            reached = b["last_offset"] + 1
        if stretches and stretches[-1].end_byte is None:
            reached = None
