"""Large logs divided into pieces that are read in parallel and joined with the same result as a single reader's.

Here: which files are divided and where, the output of a piece, and the rows about the file as a whole. Not here: how a piece is read
(parsers.catalogue.piece) or run (spark).

The summary of a piece (PieceSummary) is pickled into a row of its own by `read` in a task, and unpickled by `put_together` on the driver of
the same run. No other code gives rows with the event EVENT, so nothing from the evidence is unpickled.

Only text logs are divided: plain ones, and those compressed by gzip or zstd, of which each piece decompresses everything before it. A log
in an archive, with wrapped lines (JSON, a container's runtime, several writers) or in UTF-16 is read by a single reader.
"""

from __future__ import annotations

import hashlib
import io
import pickle
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO, cast

import pyarrow as pa

from parsers import evidence, schemas
from parsers.catalogue import log_file
from parsers.catalogue.piece import Account, PieceOfLog, fit, joined
from parsers.containers.compression import Inflated
from parsers.containers.magic import form_of
from parsers.containers.storage import EvidenceFile
from parsers.containers.units import LogPiece, Unit
from parsers.containers.walk import label_of, lone_content
from parsers.evidence import CHUNK, HEAD, LOG_KINDS, MAX_PROBLEMS, SourceAccount, kind_of
from parsers.layouts import Layout
from parsers.learning.sample import HEAD as WRAPPING
from parsers.lines import is_utf16
from parsers.log_pattern import compiled
from parsers.schemas import Member, Row, Rows
from parsers.wrappers.unwrapper import Unwrapper

PIECE_BYTES = 128 << 20
"""Approximate size of a piece; a smaller file is not divided. Each piece reads two extra chunks only for their state."""
DIGEST = 16
"""At least this many bytes are digested, or decompressed, in the time in which one is read."""
MOST_OF_COMPRESSED = 8
"""Pieces of a compressed log; the last ones decompress nearly all of it."""
UNCUT = LogPiece(0, None)
"""Pieces of a compressed log before its size is known."""
EVENT = "piece"
"""Event of the row that ends a piece, with its summary in `value`. Not one of the kinds (kinds): the row is removed before events are
used."""


@dataclass(frozen=True)
class PieceSummary:
    """Summary of a piece for its file."""

    unit: Unit
    member: Member
    kind: str
    account: Account
    source: SourceAccount
    sha256: str | None
    """SHA-256 of the whole file; only the first piece has it."""
    bytes: int | None
    archive: Row | None
    """The event of the compressed file itself; only the first piece has it."""


def cut(unit: Unit, layouts: Sequence[Layout] = ()) -> list[Unit]:
    """The pieces of a unit that is one large log; otherwise the unit itself. Opens large files only."""
    if unit.size < PIECE_BYTES:
        return [unit]
    try:
        lone = lone_content(unit)
        if lone is None:
            return [unit]
        member, file = lone
        with io.BufferedReader(file, HEAD) as stream:
            head = stream.peek(HEAD)[:HEAD]
            plain = not file.thin and form_of(member.path, head) == "plain" and not is_utf16(head)
            if not plain or kind_of(member, head, layouts) not in LOG_KINDS or Unwrapper(layouts).prepare(head[:WRAPPING]):
                return [unit]
    except OSError:  # the reader meets the same error and reports it
        return [unit]
    if isinstance(file, Inflated):
        return [replace(unit, piece=UNCUT)]
    size = member.size or 0
    pieces = _cut(size, round(size / PIECE_BYTES)) if size >= PIECE_BYTES else []
    return [replace(unit, piece=p, size=(p.end or size) - p.begin + (0 if p.begin else size // DIGEST)) for p in pieces] or [unit]


def _cut(size: int, count: int) -> list[LogPiece]:
    """The unit in this many pieces of whole chunks, at least two; none if it has fewer than two chunks."""
    chunks = size // log_file.CHUNK
    count = min(max(2, count), chunks)
    begins = [number * chunks // count * log_file.CHUNK for number in range(count)] if count > 1 else []
    return [LogPiece(begin, end) for begin, end in zip(begins, [*begins[1:], None], strict=False)]


def line_feeds(unit: Unit) -> list[int]:
    """Line feeds in each chunk of a piece; none if it cannot be read."""
    assert unit.piece is not None
    counts = []
    try:
        lone = lone_content(unit)
        if lone is None:
            return []
        with io.BufferedReader(lone[1], log_file.CHUNK) as stream:
            at = stream.seek(unit.piece.begin)
            while unit.piece.end is None or at < unit.piece.end:
                data = stream.read(log_file.CHUNK)
                if not data:
                    break
                counts.append(data.count(b"\n"))
                at += len(data)
    except (OSError, EOFError):
        return []
    return counts


def numbered(units: Sequence[Unit], counts: Iterable[Sequence[int]]) -> list[Unit]:
    """Pieces with the number of lines before them, and pieces of files whose size is known only now; other files stay undivided. `units`
    are in the order of their files, `counts` their line_feeds."""
    before, out = 0, []
    for unit, chunks in zip(units, counts, strict=True):
        assert unit.piece is not None
        if unit.piece == UNCUT:
            out.extend(_of_compressed(unit, chunks))
            continue
        before = before if unit.piece.begin else 0
        out.append(replace(unit, piece=unit.piece._replace(lines=before)))
        before += sum(chunks)
    return out


def _of_compressed(unit: Unit, chunks: Sequence[int]) -> list[Unit]:
    size = len(chunks) * log_file.CHUNK
    count = min(round(size / PIECE_BYTES), MOST_OF_COMPRESSED)
    pieces = [p._replace(lines=sum(chunks[: p.begin // log_file.CHUNK])) for p in (_cut(size, count) if count > 1 else [])]
    weighs = [(p.end or size) - p.begin + (p.begin or size) // DIGEST for p in pieces]
    return [replace(unit, piece=p, size=weight) for p, weight in zip(pieces, weighs, strict=True)] or [replace(unit, piece=None)]


def events(unit: Unit, log_patterns: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
    """Events of a unit or a piece, as parsers.evidence returns them."""
    if unit.piece is None:
        yield from evidence.events(unit, log_patterns)
    else:
        yield from schemas.batches(read(unit, [compiled(pattern) for pattern in log_patterns]))


def read(unit: Unit, layouts: Sequence[Layout] = ()) -> Iterator[Rows]:
    """Events of a piece, with its summary last. Without a summary the piece could not be read, and the pieces of its file are rejected."""
    assert unit.piece is not None
    try:
        lone = lone_content(unit)
        if lone is None:
            return
        member, file = lone
        with cast(BinaryIO, io.BufferedReader(file, CHUNK)) as stream:
            kind = kind_of(member, stream.read(HEAD), layouts)
            stream.seek(0)
            log, source = PieceOfLog(unit.piece, member, kind, layouts), SourceAccount(member.path)
            for row in log.rows(stream):
                yield from source.pass_by(row)
            sha256, size = (None, None) if unit.piece.begin else _digest(stream)
            packed = _digest(file.packed) if isinstance(file, Inflated) and not unit.piece.begin else None
            archive = evidence.archive(member, file.form, packed[1], packed[0]) if isinstance(file, Inflated) and packed else None
            summary = PieceSummary(unit, member, kind, log.account(), source, sha256, size, archive)
            if file.changed() is not None:
                return
    except Exception:  # the reader of the whole file then meets the error again and reports it
        return
    yield {"event": EVENT, "source": member.path, "value": b64encode(pickle.dumps(summary)).decode()}


def _digest(stream: BinaryIO | EvidenceFile) -> tuple[str, int]:
    digest, size = hashlib.sha256(), stream.seek(0)
    while data := stream.read(CHUNK):
        digest.update(data)
        size += len(data)
    return digest.hexdigest(), size


def put_together(planned: Iterable[Unit], values: Iterable[str], layouts: Sequence[Layout] = ()) -> tuple[list[Rows], list[Unit]]:
    """The last rows of files whose pieces fit together, and the other files as units to be read whole, also those in which lines may come
    again. `values` are of the rows EVENT."""
    pieces: dict[Unit, int] = Counter()
    sizes: dict[Unit, int] = Counter()
    for unit in planned:
        pieces[_whole(unit)] += 1
        sizes[_whole(unit)] += unit.size
    files: dict[Unit, list[PieceSummary]] = {unit: [] for unit in pieces}
    for value in values:
        summary: PieceSummary = pickle.loads(b64decode(value))  # noqa: S301 - pickled by `read` in a task of this run, never evidence
        files[_whole(summary.unit)].append(summary)
    rows: list[Rows] = []
    torn: list[Unit] = []
    for unit, summaries in files.items():
        summaries.sort(key=lambda piece: piece.account.before.offset)
        if len(summaries) == pieces[unit] and _fit(summaries) and not (source := _followed(summaries)).may_come_again:
            rows.extend(_last_rows(summaries, source, layouts))
        else:
            torn.append(replace(unit, size=sizes[unit]))
    return rows, torn


def source_of(unit: Unit) -> str:
    """Name of a piece's file in its rows."""
    return label_of(unit, unit.select[0] if unit.select else "")


def _whole(unit: Unit) -> Unit:
    return replace(unit, piece=None, size=0)


def _fit(summaries: Sequence[PieceSummary]) -> bool:
    accounts = [piece.account for piece in summaries]
    few = sum(piece.source.problems for piece in summaries) <= MAX_PROBLEMS
    return few and fit(accounts) and len({piece.member for piece in summaries}) == 1 and summaries[0].bytes == accounts[-1].after.offset


def _followed(summaries: Sequence[PieceSummary]) -> SourceAccount:
    account = SourceAccount(summaries[0].member.path)
    for piece in summaries:
        account.follow(piece.source)
    return account


def _last_rows(summaries: Sequence[PieceSummary], account: SourceAccount, layouts: Sequence[Layout]) -> Iterator[Rows]:
    first = summaries[0]
    for row in joined([piece.account for piece in summaries], first.member, first.kind, layouts):
        yield from account.pass_by(row)
    assert first.bytes is not None
    assert first.sha256 is not None
    yield from account.end(first.member, first.kind, first.bytes, first.sha256)
    if first.archive is not None:
        yield first.archive
