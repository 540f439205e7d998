"""Whether copies with different checksums hold the same records: a batch that was compressed or batched again has other bytes.

Here: the comparison of decoded records, for the offsets at which copies differ. Not here: which copies those are
(forensics.model.partition.salvageable), or which of them is taken (segments).
"""

from __future__ import annotations

import hashlib
import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import BinaryIO

from forensics.model.findings import DifferingCopies
from forensics.model.message import Range
from forensics.tools.salvage.rows import MAX_UNPACKED
from forensics.tools.salvage.segments import MAX_BATCH, Lot, streams
from parsers.containers.units import Unit
from parsers.decoding.batches import Batch, headers
from parsers.decoding.bodies import BatchRecord, UnreadableBatch, records
from parsers.decoding.encoding import Malformed

MAX_RECORDS = 1_000_000
"""Maximum number of records of one file that are compared; about 200 bytes of memory for each."""

_FIXED = struct.Struct(">qq??q")
_SIZE = struct.Struct(">q")


@dataclass
class _Contents:
    """The records of one file at the offsets of one difference."""

    digests: dict[int, bytes] = field(default_factory=dict)
    spans: list[tuple[int, int]] = field(default_factory=list)
    """[start, end) of each batch."""
    problem: str | None = None


def settle(lots: Sequence[Lot], units: Sequence[Unit], shown: Callable[[str], str]) -> None:
    """Marks the differing copies as resolved whose records are equal, and notes why others could not be compared. `shown`: a file's path
    as findings name it."""
    found: dict[tuple[str, DifferingCopies], _Contents] = defaultdict(_Contents)
    by_source: dict[str, set[DifferingCopies]] = defaultdict(set)
    for lot in lots:
        for differing in lot.unresolved:
            for source in differing.sources:
                by_source[source].add(differing)
    for source, stream, problem in streams(units, by_source, shown):
        if stream is not None:
            _read(stream, {d: found[source, d] for d in by_source[source]})
        for differing in by_source[source] if problem is not None else ():
            found[source, differing].problem = problem
    for lot in lots:
        for differing in lot.unresolved:
            contents = [found[source, differing] for source in differing.sources]
            problem = next((p for c in contents if (p := c.problem or (None if c.spans else "a file has no valid batch there"))), None)
            if problem is not None:
                lot.not_compared[differing] = problem
            elif all(_equal(one, other) for one, other in combinations(contents, 2)):
                lot.resolved.add(differing)


def _read(stream: BinaryIO, wanted: Mapping[DifferingCopies, _Contents]) -> None:
    for batch in headers(stream, payload=MAX_BATCH):
        if not isinstance(batch, Batch) or not batch.valid:
            continue
        own = [(d, c) for d, c in wanted.items() if c.problem is None and batch.leader_epoch == d.leader_epoch and _overlaps(batch, d)]
        if own:
            _add(batch, own)


def _overlaps(batch: Batch, differing: DifferingCopies) -> bool:
    return differing.offsets.overlap(Range(batch.base_offset, batch.last_offset + 1)) is not None


def _add(batch: Batch, wanted: Iterable[tuple[DifferingCopies, _Contents]]) -> None:
    try:
        digests = {record.offset: _digest(batch, record) for record in records(batch, MAX_UNPACKED)}
        problem = None
    except (Malformed, UnreadableBatch) as fault:
        digests, problem = {}, str(fault)
    for _, contents in wanted:
        if len(contents.digests) + len(digests) > MAX_RECORDS:
            problem = problem or f"more than {MAX_RECORDS} records"
        contents.problem = problem
        contents.digests |= digests
        contents.spans.append((min([batch.base_offset, *digests]), batch.last_offset + 1))


def _digest(batch: Batch, record: BatchRecord) -> bytes:
    """A digest of what a consumer receives, and of the producer that wrote the record."""
    found = hashlib.blake2b(digest_size=16)
    found.update(_FIXED.pack(record.timestamp, batch.producer_id, batch.transactional, batch.control, len(record.headers)))
    for part in (record.key, record.value, *chain.from_iterable(record.headers)):
        found.update(_SIZE.pack(len(part) if part is not None else -1))
        found.update(part or b"")
    return found.digest()


def _equal(one: _Contents, other: _Contents) -> bool:
    """At the offsets that batches of both cover, both have the same records."""
    common = one.digests.keys() & other.digests.keys()
    alone = ((one.digests.keys() - common, other), (other.digests.keys() - common, one))
    return all(one.digests[offset] == other.digests[offset] for offset in common) and not any(
        start <= offset < end for offsets, beside in alone for offset in offsets for start, end in beside.spans
    )
