"""The offset checkpoints at the root of a log directory: the high watermark, flushed, start and clean offsets that a broker wrote.

Here: the text format that all checkpoint files share (`entries`, used by parsers.formats.epochs as well) and the rows of the four offset
checkpoints. Not here: the leader epochs of a partition (parsers.formats.epochs). Source: Kafka's CheckpointFile (before 3.6 with its
CheckpointReadBuffer) and OffsetCheckpointFile. Kafka rejects a damaged file as a whole; here its good rows are still read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import IO, BinaryIO, cast

from parsers.formats.file_kind import FileKind
from parsers.formats.problems import limited
from parsers.limits import in_force
from parsers.lines import lines
from parsers.paths import is_unfinished
from parsers.schemas import INT32, INT64, MAX_TEXT, Member, Row, problem

EVENTS_OF_KIND = {
    "hw-checkpoint": "hw-checkpoint",
    "recovery-point-checkpoint": "recovery-point",
    "log-start-checkpoint": "log-start-checkpoint",
    "cleaner-checkpoint": "cleaner-checkpoint",
}
"""Event for the rows of each kind of file."""

Entry = tuple[int, int, str, list[str], bool]
"""Line, byte offset, raw text and fields of one row, and whether it may be cut within a number."""
DAMAGED = "damaged"
"""Reason of rows that may not be what Kafka wrote."""

_NUMBER = re.compile(r"[+-]?[0-9]{1,20}")
_BLANK = re.compile(r"[ \t\x0b\f\r]+")
_COLUMN = {"hw-checkpoint": "high_watermark", "log-start-checkpoint": "log_start_offset"}


def read(stream: BinaryIO, member: Member, kind: str) -> Iterator[Row]:
    """Rows of an offset checkpoint: topic, partition, offset, at the file's modification time (UTC).

    `kind` is one of EVENTS_OF_KIND. Rows of a file that was never finished (`.tmp`) have reason 'unfinished', a
    last row without a line feed has 'damaged': its number may be cut. Rows that Kafka would reject,
    negative offsets and duplicate partitions give problems with reason 'checkpoint-corrupt'.
    """
    yield from limited(_rows(stream, member, kind), member, "malformed lines", "checkpoint-corrupt")


def entries(stream: BinaryIO, member: Member, fields: int) -> Iterator[Entry | Row]:
    """Rows of any checkpoint file with `fields` fields each, with problem rows for errors in the file.

    A file of no bytes, or of a version line only, is valid and empty: Kafka creates such files.
    """
    if is_unfinished(member.path):
        text = f"{member.path}: a checkpoint whose writing was not finished: the process ended first"
        yield problem("checkpoint-unfinished", text, line=1, byte=0)
    expected, found, number = None, 0, 0
    ended = _Ended(stream)
    for number, at, raw in lines(cast(IO[bytes], ended)):
        text = raw.decode("utf-8", "replace")
        text = text.removeprefix("\ufeff") if number == 1 else text  # editors and shells of Windows add it to a copy
        row = _BLANK.split(text.rstrip(" \t\x0b\f\r"))
        if number > 2 or len(row) == fields:  # a row in the first two lines: the head is lost, the row is not
            found += 1
            if len(row) == fields and row[0]:
                yield number, at, text, row, not ended.by_newline
            elif ended.by_newline or "\0" in text:
                yield malformed(member, text, f"{fields} fields expected", number, at)
        elif number == 1:
            yield from _version(member, text, at)
        elif (expected := integer(text, INT32)) is None:
            yield malformed(member, text, "the number of rows expected", number, at)
    if expected is not None and expected != found:
        message = f"Expected [{expected}] entries in checkpoint file [{member.path}], but found only [{found}]"
        yield problem("checkpoint-corrupt", message, line=2)
    elif expected is None and found:
        yield problem("checkpoint-corrupt", f"{member.path}: rows without the lines of version and count before them", line=1)
    elif found and not ended.by_newline:
        text = f"{member.path}: the last line has no line feed, which Kafka always writes: the file may be cut within a number"
        yield problem("checkpoint-cut", text, line=number)


class _Ended:
    """A stream that records whether its last line had a line end."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.by_newline = True

    def readline(self, size: int) -> bytes:
        line = self._stream.readline(size)
        if line:
            self.by_newline = line.endswith(b"\n")
        return line


def malformed(member: Member, text: str, why: str, line: int, byte: int) -> Row:
    """The problem of one line, in Kafka's own words."""
    shown = "".join(c if c.isprintable() else "\ufffd" for c in text[:200]) if text.strip("\0") else f"{len(text)} NUL bytes"
    return problem("checkpoint-corrupt", f"Malformed line in checkpoint file [{member.path}]: {shown} ({why})", line=line, byte=byte)


def integer(text: str, bounds: range) -> int | None:
    """A decimal number as accepted by Java's parseInt and parseLong; None for everything else."""
    if not _NUMBER.fullmatch(text) or (value := int(text)) not in bounds:
        return None
    return value


def _version(member: Member, text: str, at: int) -> Iterator[Row]:
    version = integer(text, INT32)
    if version is None:
        yield malformed(member, text, "the version, 0, expected", 1, at)
    elif version != 0:
        message = f"Unrecognised version:{version}, expected version: 0 in checkpoint file at: {member.path}"
        yield problem("checkpoint-corrupt", message, line=1, byte=at)


def _rows(stream: BinaryIO, member: Member, kind: str) -> Iterator[Row]:
    seen: set[tuple[str, int]] = set()
    for entry in entries(stream, member, 3):
        if isinstance(entry, dict):
            yield entry
            continue
        line, at, text, (topic, index, number), cut = entry
        partition, offset = integer(index, INT32), integer(number, INT64)
        if partition is None or partition < 0 or offset is None:
            yield malformed(member, text, "partition and offset are not numbers that Kafka accepts", line, at)
            continue
        if offset < 0:
            yield malformed(member, text, "the offset is negative", line, at)
            continue
        if (topic, partition) in seen:
            yield malformed(member, text, "the partition is given twice; Kafka takes the last", line, at)
        elif len(seen) >= (most := in_force().partitions):
            words = f"{member.path}: more than {most} partitions, the rest is not read (--limit partitions)"
            yield problem("checkpoint-cut", words, line=line, byte=at)
            return
        seen.add((topic, partition))
        yield {
            "event": EVENTS_OF_KIND[kind],
            "pattern": "checkpoint",
            "line": line,
            "byte": at,
            "time": member.modified,
            "clock": "mtime",
            "text": text[:MAX_TEXT],
            "topic": topic,
            "partition": partition,
            "offset": offset,
            "directory": member.path.rpartition("/")[0],
            "reason": "unfinished" if is_unfinished(member.path) else DAMAGED if cut else None,
            **({_COLUMN[kind]: offset} if kind in _COLUMN else {}),
        }


def _of(kind: str, name: str) -> FileKind:
    return FileKind(kind, name, partial(read, kind=kind), frozenset({EVENTS_OF_KIND[kind]}), called=name)


FORMATS = (
    _of("hw-checkpoint", "replication-offset-checkpoint"),
    _of("recovery-point-checkpoint", "recovery-point-offset-checkpoint"),
    _of("log-start-checkpoint", "log-start-offset-checkpoint"),
    _of("cleaner-checkpoint", "cleaner-offset-checkpoint"),
)
