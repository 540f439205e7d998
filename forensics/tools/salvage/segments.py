"""The second read: lost batches are copied whole from the collected files into segments that Kafka's own tools can read.

Here: from findings to lots, from lots to segment files. A batch is copied if it begins and ends at the expected offsets, has the leader
epoch of the loss, and matches its checksum. Not here: which file is the right one (forensics.model.partition.salvageable), or the contents
of records (rows).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

from forensics.incidents.folding import places
from forensics.model.findings import DifferingCopies, Finding, Held, Salvageable
from forensics.model.message import Range, joined
from forensics.model.times import grouped, runs
from forensics.tools.salvage.places import created, named
from parsers.containers.storage import storage
from parsers.containers.units import Unit
from parsers.containers.walk import label_of, read_unit
from parsers.decoding.batches import Batch, headers

MAX_BATCH = 256 << 20
"""Largest batch that is copied; the brokers' limit is 1 MB unless it was raised (message.max.bytes)."""
SEGMENT_BYTES = 1 << 30
"""Maximum size of a segment, as in Kafka (log.segment.bytes); then the next one begins."""
SEGMENT_OFFSETS = 2**31 - 1
"""Maximum offset range of a segment: its indexes store offsets relative to its base."""
PROBLEMS = 100
"""Maximum number of problems reported."""


@dataclass
class Lot:
    """The records of one partition in one finding, and the part of them that was copied."""

    finding: str
    cluster: int
    topic: str
    partition: int
    leader_epoch: int | None
    committed: bool | None
    offsets: tuple[Range, ...]
    found: Salvageable
    lost: bool = True
    """False: the log lacks these records, and nothing shows whether they are lost (records-outside-log)."""
    segments: list[Path] = field(default_factory=list)
    """In the order of offsets."""
    copied: list[Range] = field(default_factory=list)
    bytes: int = 0
    codecs: set[str] = field(default_factory=set)
    resolved: set[DifferingCopies] = field(default_factory=set)
    """The differing copies of which one was chosen, or whose records are equal."""
    not_compared: dict[DifferingCopies, str] = field(default_factory=dict)
    """Why the records of differing copies could not be compared."""

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    @property
    def wanted(self) -> tuple[Range, ...]:
        return tuple(h.offsets for h in self.found.held)

    def has(self, offset: int) -> bool:
        return any(r.covers(Range(offset, offset + 1)) for r in self.wanted)

    def missing(self) -> list[Range]:
        """Lost offsets that were not copied."""
        gone = [gap for h in self.found.held for gap in _gaps(h.offsets, self.copied)]
        return sorted({*self.found.missing, *gone}, key=lambda r: r.start)

    @property
    def unresolved(self) -> list[DifferingCopies]:
        """Offsets with different copies of which none was chosen, and whose records are not known to be equal."""
        return [d for d in self.found.differing if d not in self.resolved]


def choose(lot: Lot, paths: Sequence[str]) -> None:
    """Takes the offsets of which there are different copies from the files at these paths, and nothing from the files that were not
    chosen: the rest of their contents is as doubtful."""
    instead: dict[str, str] = {}
    for differing in lot.found.differing:
        sources = [s for s in differing.sources if any(_lies_at(s, path) for path in paths)]
        if len(sources) == 1:
            lot.found = replace(lot.found, held=tuple(_from(lot.found.held, differing, sources[0])))
            lot.resolved.add(differing)
            instead.update((s, sources[0]) for s in differing.sources if s != sources[0])
    chosen = {*instead.values()}
    held = (_elsewhere(h, instead[h.source]) if h.source in instead and h.source not in chosen else h for h in lot.found.held)
    lot.found = replace(lot.found, held=tuple(_joined(held)))


def _elsewhere(held: Held, source: str) -> Held:
    return Held(source, None, None, held.leader_epoch, held.offsets)


def _joined(held: Iterable[Held]) -> Iterator[Held]:
    """Adjacent ranges of one file as one."""

    def joins(run: Sequence[Held], h: Held) -> bool:
        return (run[-1].source, run[-1].leader_epoch, run[-1].offsets.end) == (h.source, h.leader_epoch, h.offsets.start)

    return (replace(run[0], offsets=Range(run[0].offsets.start, run[-1].offsets.end)) for run in runs(held, joins))


def _lies_at(source: str, path: str) -> bool:
    path = path.rstrip("/")
    return source == path or source.startswith(f"{path}/") or source.endswith(f"/{path}") or f"/{path}/" in source


def _from(held: Iterable[Held], differing: DifferingCopies, source: str) -> Iterator[Held]:
    """The held ranges, with the differing offsets from one file."""
    start, end = differing.offsets.start, differing.offsets.end
    for h in held:
        own = h.offsets
        if h.leader_epoch != differing.leader_epoch or end is None or own.overlap(differing.offsets) is None:
            yield h
            continue
        last = end if own.end is None else min(end, own.end)
        pieces = ((h.source, own.start, start), (source, max(own.start, start), last), (h.source, end, own.end))
        for place, begin, stop in pieces:
            if stop is None or begin < stop:
                own = Range(begin, stop)
                yield replace(h, offsets=own) if place == h.source else _elsewhere(replace(h, offsets=own), place)


def _gaps(wanted: Range, copied: Sequence[Range]) -> Iterator[Range]:
    """The part of a run behind its copied batches, or all of it. A gap inside does not count: the log cleaner removed records there, or the
    list of batches would have been split."""
    own = [c for c in copied if c.end is not None and wanted.end is not None and c.start < wanted.end and c.end > wanted.start]
    if not own:
        yield wanted
        return
    end = max(c.end or 0 for c in own)
    if wanted.end is not None and end < wanted.end:
        yield Range(end, wanted.end)


def lots(findings: Iterable[Finding]) -> list[Lot]:
    """One for each finding with salvageable records and partition, sorted by partition and leader epoch."""
    found = [
        Lot(
            f.id,
            f.cluster,
            p.topic,
            p.partition,
            p.leader_epoch,
            p.committed,
            joined(x.offsets for x in p.parts) or p.offsets,
            p.salvageable,
            f.loss,
        )
        for f in findings
        for p in places(f)
        if p.salvageable is not None and p.topic is not None and p.partition is not None
    ]
    return sorted(
        found, key=lambda x: (x.topic, x.partition, x.cluster, x.leader_epoch or 0, x.offsets[0].start if x.offsets else 0, x.finding)
    )


def copy(units: Sequence[Unit], wanted: Sequence[Lot], shown: Callable[[str], str], directory: Path) -> list[str]:
    """Copies the held batches of the lots into segments below `directory`; returns the problems. `shown`: a file's path as findings name
    it."""
    by_source = grouped((held.source, (lot, held)) for lot in wanted for held in lot.found.held)
    problems: list[str] = []
    for source, stream, problem in streams(units, by_source, shown):
        if stream is not None:
            problems.extend(_copied(stream, by_source.pop(source), directory))
        elif problem is not None:
            problems.append(problem)
    problems.extend(f"{source}: it is not there any more" for source in by_source)
    for lot in wanted:
        lot.segments.sort(key=lambda p: p.name)
        lot.copied.sort(key=lambda r: r.start)
    return problems[:PROBLEMS]


def streams(
    units: Sequence[Unit], sources: Mapping[str, object], shown: Callable[[str], str]
) -> Iterator[tuple[str, BinaryIO | None, str | None]]:
    """The files of these names: name, contents, and why there are none."""
    for unit in units:
        narrowed = _narrowed(unit, sources, shown)
        for member, stream, problem in read_unit(narrowed) if narrowed is not None else ():
            source = shown(member.path)
            if source in sources and (stream is not None or problem is not None):
                yield source, stream, problem


def _narrowed(unit: Unit, sources: Mapping[str, object], shown: Callable[[str], str]) -> Unit | None:
    """The unit, limited to the files of a directory that are wanted or contain wanted files."""
    if unit.select is None or not storage(unit.path).is_directory():
        return unit
    kept = [
        (name, version)
        for name, version in zip_longest(unit.select, unit.versions)
        if (label := shown(label_of(unit, name))) in sources or any(s.startswith(f"{label}/") for s in sources)
    ]
    return replace(unit, select=tuple(n for n, _ in kept), versions=tuple(v for _, v in kept)) if kept else None


def _copied(stream: BinaryIO, wanted: Sequence[tuple[Lot, Held]], directory: Path) -> Iterator[str]:
    """Copies from one file; returns its problems."""
    with ExitStack() as open_files:
        runs = [open_files.enter_context(_BatchRun(lot, held, directory)) for lot, held in wanted]
        reached = -1
        for batch in headers(stream, payload=MAX_BATCH):
            if not isinstance(batch, Batch):
                continue
            for run in runs if batch.valid and 0 <= batch.base_offset <= batch.last_offset else ():
                yield from run.take(batch, min(reached + 1, batch.base_offset) if batch.record_count is None else batch.base_offset)
            reached = batch.last_offset


class _BatchRun:
    """The batches of one run of offsets while they are copied from one file into segments."""

    def __init__(self, lot: Lot, held: Held, directory: Path) -> None:
        self._lot, self._held = lot, held
        self._directory = directory / "segments" / lot.finding / named(lot.topic, lot.partition)
        self._out: BinaryIO | None = None
        self._base = self._written = 0
        self._reached = -1

    def __enter__(self) -> _BatchRun:
        return self

    def __exit__(self, *_: object) -> None:
        if self._out is not None:
            self._out.close()

    def take(self, batch: Batch, first: int) -> Iterator[str]:
        """`first`: offset of its first record, if its header and the batch before show it; for a compressed message of the old formats it
        may be a later one."""
        wanted, end = self._held.offsets, batch.last_offset + 1
        if batch.record_count is None:
            first = max(first, min(wanted.start, batch.base_offset))
        mine = batch.leader_epoch == self._held.leader_epoch and wanted.overlap(Range(first, end)) is not None
        if not mine or first <= self._reached:
            return
        if batch.payload is None:
            yield f"{self._held.source}: the batch at offset {batch.base_offset} has {batch.size} bytes, more than are read, and is left out"
            return
        if self._out is None or self._written + batch.size > SEGMENT_BYTES or end - self._base > SEGMENT_OFFSETS:
            self._roll(first)
        assert self._out is not None
        self._out.write(batch.head)
        self._out.write(batch.payload)
        self._written += batch.size
        self._reached = batch.last_offset
        copied = self._lot.copied
        copied[-1:] = [Range(copied[-1].start, end)] if copied and copied[-1].end == first else [*copied[-1:], Range(first, end)]
        self._lot.bytes += batch.size
        self._lot.codecs.add(batch.codec)

    def _roll(self, base: int) -> None:
        if self._out is not None:
            self._out.close()
        path = self._directory / f"{base:020d}.log"
        self._out, self._base, self._written = created(path), base, 0
        self._lot.segments.append(path)
