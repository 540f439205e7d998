"""From a unit of evidence to events: the kind of each source, its reader, and a summary of what was read.

Here: the digest and size of every source, and the `source` event that describes it. Not here: how containers are walked (containers), how
a kind is detected (sniff), or how a kind is read (parsers.formats, parsers.catalogue).
"""

from __future__ import annotations

import hashlib
import io
import re
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, BinaryIO, cast

import pyarrow as pa
import pyarrow.compute as pc

from parsers import schemas
from parsers.catalogue.log_file import read_log_by_columns
from parsers.containers.magic import is_archive_name
from parsers.containers.units import Unit
from parsers.containers.walk import read_unit
from parsers.formats import reader_of
from parsers.layouts import Layout
from parsers.line_order import LineOrder
from parsers.log_pattern import compiled
from parsers.matching.literals import mentions
from parsers.named_partitions import NamedPartitions
from parsers.paths import log_kind
from parsers.printed import Printed
from parsers.schemas import Member, Row, Rows
from parsers.sniff import KINDS, LOGS, NOT_EVIDENCE, sniff
from parsers.thresholds import MICROSECOND
from parsers.wrappers.unwrapper import holds_log

HEAD = 64 * 1024
"""Bytes examined to detect the kind of a file."""
CHUNK = 1 << 20
MAX_PROBLEMS = 50
"""Problems that one source may report one by one; the rest are counted. A megabyte of noise must not become a million rows."""

LOG_KINDS = frozenset(LOGS)
UNCLAIMED = frozenset({"text", "json", "binary"})
_NOT_READ = {
    "text": "text without a line that Kafka prints",
    "binary": "binary, and not a file that Kafka writes",
    "empty": "empty (0 bytes)",
}


class Counted(io.RawIOBase):
    """A stream that counts and digests the bytes read through it; wrapped in a BufferedReader, whose `peek` shows the head."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream
        self._digest = hashlib.sha256()
        self.bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fills the buffer unless the stream ends, so that one peek is enough to sniff."""
        view = memoryview(buffer).cast("B")
        filled = 0
        while filled < len(view) and (part := self._stream.read(len(view) - filled)):
            view[filled : filled + len(part)] = part
            filled += len(part)
        self._digest.update(view[:filled])
        self.bytes += filled
        return filled

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()


def parse(stream: BinaryIO, member: Member, kind: str, layouts: Sequence[Layout] = ()) -> Iterator[Rows]:
    """Events of one source of a known kind; kinds without facts (indexes, unknown text) give none."""
    if kind in LOG_KINDS:
        yield from read_log_by_columns(stream, member, kind, layouts)
    elif reader := reader_of(kind, member):
        yield from reader(stream, member)
    elif kind in (*UNCLAIMED, "empty") and is_archive_name(member.path):
        yield schemas.problem("unreadable", "the file is empty (0 bytes)" if kind == "empty" else "not an archive, in spite of its name")
    elif kind == "binary" and not _expected_binary(member.path):
        yield schemas.problem("unreadable", "binary content, not a file that Kafka writes; not read")
    elif kind == "pointer":
        yield schemas.problem("unreadable", "a pointer of Git LFS, not the file itself, which `git lfs pull` fetches")


def _expected_binary(path: str) -> bool:
    return _TEXT_NAME.search(path.rsplit("/", 1)[-1]) is None and log_kind(path) is None


_TEXT_NAME = re.compile(r"\.(?:log|txt|out|properties|json|csv|tsv|ya?ml|conf|cfg)(?:[^a-z].*)?$|checkpoint", re.IGNORECASE)
"""Names of text files, including rotated and renamed ones."""


class Jumps:
    """Where a log's wall clock jumps back by minutes, or ahead by over an hour: at most MAX_JUMPS places, the latest."""

    MAX_JUMPS = 64
    BACK = timedelta(minutes=1)
    FORWARD = timedelta(hours=1)

    def __init__(self) -> None:
        self._first: tuple[datetime, int | None] | None = None
        self._last: datetime | None = None
        self.found: deque[Row] = deque(maxlen=self.MAX_JUMPS)

    def pass_by(self, row: Row) -> None:
        if row.get("clock") == "line" and row.get("time") is not None:
            self._step(row["time"], row.get("line"))

    def pass_by_all(self, batch: pa.RecordBatch) -> None:
        """The same for many events."""
        of_line = batch.select(["time", "line"]).filter(pc.and_(pc.equal(batch["clock"], "line"), pc.is_valid(batch["time"])))
        if not len(of_line):
            return
        micros = of_line["time"].cast(pa.int64())
        steps = pc.subtract(micros[1:], micros[:-1])
        jumps = pc.or_(pc.greater_equal(steps, self.FORWARD // MICROSECOND), pc.less_equal(steps, -self.BACK // MICROSECOND))
        times, lines = of_line["time"], of_line["line"]
        self._step(times[0].as_py(), lines[0].as_py())
        for at in pc.indices_nonzero(jumps).to_pylist():
            self._last = times[at].as_py()
            self._step(times[at + 1].as_py(), lines[at + 1].as_py())
        self._last = times[-1].as_py()

    def _step(self, at: datetime, line: int | None) -> None:
        self._first = self._first or (at, line)
        last = self._last
        if last is not None and (at - last >= self.FORWARD or last - at >= self.BACK):
            self.found.append({"line": line, "before": last, "after": at})
        self._last = at

    def follow(self, later: Jumps) -> None:
        """Adds the result of a later part of the log."""
        if later._first is not None:
            self._step(*later._first)
            self.found.extend(later.found)
            self._last = later._last


class LinesAccount:
    """Facts that follow from the lines of a source together: jumps of the clock, where INFO is on, and the order of times."""

    def __init__(self) -> None:
        self._jumps, self._printed, self._order = Jumps(), Printed(), LineOrder()

    def pass_by(self, rows: Rows) -> None:
        if isinstance(rows, pa.RecordBatch):
            self._jumps.pass_by_all(rows)
            self._printed.pass_by_all(rows)
            self._order.pass_by_all(rows)
        else:
            self._jumps.pass_by(rows)
            self._printed.pass_by(rows)
            self._order.pass_by(rows)

    def follow(self, later: LinesAccount) -> None:
        """Adds the result of a later part of the source."""
        self._jumps.follow(later._jumps)
        self._printed.follow(later._printed)
        self._order.follow(later._order)

    @property
    def may_come_again(self) -> bool:
        """As LineOrder.may_come_again."""
        return self._order.may_come_again

    def collected(self, clock: str | None) -> Row:
        """Fields of schemas.COLLECTED; `clock` is that of the source."""
        order = self._order.collected()
        jumps = [jump for jump in self._jumps.found if jump["line"] not in self._order.again]
        return {"jumps": jumps, **self._printed.collected(clock), **order}


def kind_of(member: Member, head: bytes, layouts: Sequence[Layout]) -> str:
    """The kind of a source; a file of unknown kind is a log if it contains log records, in any wrapping."""
    kind = sniff(member, head)
    if kind == "binary" and len(head) == HEAD and not head.strip(b"\0"):
        return log_kind(member.path) or kind  # zeros from a crashed file system may continue for long before the lines begin
    if kind in UNCLAIMED and (holds_log(head, layouts) or (kind != "binary" and mentions(head))):
        return log_kind(member.path) or "other-log"
    return kind


def not_evidence(units: Sequence[Unit], within_s: float, log_patterns: Sequence[str] = ()) -> dict[str, str] | None:
    """What each file is, by path, if nothing can be judged from any of them; None if something can, or if a look at the files takes more
    time of the processor."""
    found: dict[str, str] = {}
    end, layouts = time.process_time() + within_s, [compiled(pattern) for pattern in log_patterns]
    for unit in units:
        for member, stream, trouble in read_unit(unit):
            if time.process_time() > end:
                return None
            if stream is not None:
                head = stream.read(HEAD)
                kind = kind_of(member, head, layouts)
                if kind not in NOT_EVIDENCE:
                    return None
                row = next(parse(io.BytesIO(head), member, kind), None) if kind in (*UNCLAIMED, "empty", "pointer", "unread-rows") else None
                found[member.path] = f"{member.path} is {_NOT_READ.get(kind, KINDS[kind])}"
                trouble = trouble or (row["text"] if isinstance(row, dict) else None)
            if trouble is not None:
                found[member.path] = schemas.located(member.path, trouble)
    return found


class SourceAccount:
    """Summary of a source, or of a part of it, collected while its rows are read."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._collected: dict[str, Row] = {}
        self._troubles: dict[str, str] = {}
        self._lines: dict[str, LinesAccount] = defaultdict(LinesAccount)
        self._partitions = NamedPartitions()
        self.problems = 0

    def pass_by(self, row: Rows) -> Iterator[Rows]:
        """The row with its source; none if the row only belongs to the summary, is a problem too many, or is about a partition too many. A
        batch contains events of one source."""
        if (within := self._partitions.within(row)) is None:
            return
        row = within
        if isinstance(row, pa.RecordBatch):
            self._lines[row["source"][0].as_py()].pass_by(row)
            yield row
            return
        source = row.get("source") or self._path
        if row["event"] == "source":
            self._collected[source] = row["collected"]
            return
        if row["event"] == "problem":
            self._troubles.setdefault(source, row.get("text") or "")
            self.problems += 1
            if self.problems > MAX_PROBLEMS:
                return
        row["source"] = source
        self._lines[source].pass_by(row)
        yield row

    def fail(self, error: Exception) -> Row:
        """The reading ended with an error."""
        expected = str(error) if isinstance(error, OSError | EOFError | ValueError | RuntimeError) else ""
        self._troubles[self._path] = f"{self._path}: {expected or f'{type(error).__name__} {error}'.rstrip()}"
        return {**schemas.problem("unreadable", self._troubles[self._path]), "source": self._path}

    def follow(self, later: SourceAccount) -> None:
        """Adds the summary of a later part of the source."""
        for source, trouble in later._troubles.items():
            self._troubles.setdefault(source, trouble)
        for source, lines in later._lines.items():
            self._lines[source].follow(lines)
        self._partitions.follow(later._partitions)
        self.problems += later.problems

    @property
    def may_come_again(self) -> bool:
        """As LineOrder.may_come_again, of any of its writers."""
        return any(lines.may_come_again for lines in self._lines.values())

    def end(self, member: Member, kind: str, size: int, sha256: str) -> Iterator[Row]:
        """The last rows: a `source` event for each writer."""
        if (trouble := self._partitions.trouble(self._path)) is not None:
            self._troubles.setdefault(self._path, trouble["text"])
            yield {**trouble, "source": self._path}
        if self.problems > MAX_PROBLEMS:
            yield _more(self.problems, self._path)
        for path in dict.fromkeys((*self._collected, self._path)):
            collected = self._collected.get(path, {})
            facts = {"kind": kind, **collected, **self._lines[path].collected(collected.get("clock"))}
            complete = path == self._path
            part = replace(member, path=path)
            yield _source(part, facts["kind"], size if complete else None, sha256 if complete else None, facts, self._troubles.get(path))


def read_source(member: Member, stream: BinaryIO, layouts: Sequence[Layout] = ()) -> Iterator[Rows]:
    """Events of one source, its `source` event last. A read error becomes a problem row; the rows before it are kept. A log of several
    writers has a `source` event for each (read_log)."""
    account = SourceAccount(member.path)
    kind = "unreadable"
    counted = Counted(stream)
    try:
        buffered = io.BufferedReader(counted, HEAD)
        kind = kind_of(member, buffered.peek(HEAD), layouts)
        for row in parse(buffered, member, kind, layouts):
            yield from account.pass_by(row)
        while buffered.read(CHUNK):
            pass
    except Exception as error:  # a bug in one reader, too, ends only the reading of its source
        yield account.fail(error)
        with suppress(Exception):  # size and digest cover all readable bytes
            while counted.read(CHUNK):
                pass
    yield from account.end(member, kind, counted.bytes, counted.sha256)


def _source(member: Member, kind: str, size: int | None, sha256: str | None, collected: Row, trouble: str | None) -> Row:
    facts = {
        **collected,
        "kind": kind,
        "bytes": size,
        "sha256": sha256,
        "modified": member.modified,
        "problem": collected.get("problem") or trouble,
    }
    return {"event": "source", "source": member.path, "time": member.modified, "clock": "mtime", "collected": facts}


def archive(member: Member, form: str, size: int, sha256: str) -> Row:
    """The event that describes a container as it is on disk."""
    return {"event": "archive", "source": member.path, "value": sha256, "bytes": size, "reason": form}


def _rows(unit: Unit, log_patterns: Sequence[str]) -> Iterator[Rows]:
    layouts = [compiled(pattern) for pattern in log_patterns]
    archives: list[Row] = []
    troubles: Counter[str] = Counter()
    last: Row | None = None  # `source` event of the file read last: problems of a container are known only after it
    for member, stream, trouble in read_unit(unit, lambda *facts: archives.append(archive(*facts))):
        if last is not None and (stream is not None or last["source"] != member.path):
            yield last
            last = None
        if stream is not None:
            for row in read_source(member, stream, layouts):
                if _is_source(row, member):
                    last = cast(Row, row)
                else:
                    yield row
        if trouble is not None:
            troubles[member.path] += 1
            if troubles[member.path] <= MAX_PROBLEMS:
                yield {**schemas.problem("unreadable", trouble), "source": member.path}
            last = last or _source(member, "unreadable", None, None, {}, trouble)
            last["collected"]["problem"] = last["collected"]["problem"] or trouble
    if last is not None:
        yield last
    yield from (_more(count, path) for path, count in troubles.items() if count > MAX_PROBLEMS)
    yield from archives


def _more(problems: int, source: str) -> Row:
    """Counts the problems of a source that were not reported one by one."""
    return {**schemas.problem("more", f"{problems - MAX_PROBLEMS} more problems of this kind"), "source": source}


def _is_source(row: Rows, member: Member) -> bool:
    return isinstance(row, dict) and row["event"] == "source" and row["source"] == member.path


def events(unit: Unit, log_patterns: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
    """Every event of a unit, as record batches of schemas.EVENTS. `log_patterns`: the user's log4j conversion patterns; raises ValueError
    if one cannot be compiled."""
    yield from schemas.batches(_rows(unit, log_patterns))
