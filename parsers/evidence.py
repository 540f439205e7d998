"""From a unit of evidence to events: the one place that knows which parser reads which kind of file.

Here: the dispatch by kind, the digest and size of every source, and the `source` event that says what it is. Not here: how
containers are walked (containers), how a kind is told (sniff), or how a kind is read (the other modules).
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from parsers import batches as segments
from parsers import catalogue, checkpoints, describe, epochs, metadata_log, properties, schemas
from parsers.containers import Unit, read_unit
from parsers.schemas import Member, Row
from parsers.sniff import sniff

HEAD = 64 * 1024
"""Bytes looked at to tell what a file is."""
CHUNK = 1 << 20
MAX_PROBLEMS = 50
"""Problems one source may report one by one; the rest are counted. A megabyte of noise must not become a million rows."""

LOG_KINDS = frozenset(
    {
        "server-log",
        "state-change-log",
        "controller-log",
        "log-cleaner-log",
        "request-log",
        "authorizer-log",
        "stdout-log",
        "other-log",
    }
)
CHECKPOINT_KINDS = frozenset({"hw-checkpoint", "recovery-point-checkpoint", "log-start-checkpoint", "cleaner-checkpoint"})

_READERS: dict[str, Callable[[BinaryIO, Member], Iterator[Row]]] = {
    "epoch-checkpoint": epochs.read,
    "meta-properties": properties.read_meta_properties,
    "partition-metadata": properties.read_partition_metadata,
    "clean-shutdown": properties.read_clean_shutdown,
    "server-properties": properties.read_server_properties,
    "quorum-state": properties.read_quorum_state,
    "describe": describe.read,
    "segment": segments.read_segment,
    "metadata-segment": lambda stream, member: metadata_log.read_metadata(stream, member, snapshot=False),
    "metadata-snapshot": lambda stream, member: metadata_log.read_metadata(stream, member, snapshot=True),
}


class Counted(io.RawIOBase):
    """A stream that counts and digests what is read through it; wrapped in a BufferedReader, whose `peek` shows the head."""

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


def parse(stream: BinaryIO, member: Member, kind: str) -> Iterator[Row]:
    """Events of one source of a known kind; kinds that state nothing (indexes, unknown text) give none."""
    if kind in LOG_KINDS:
        yield from catalogue.read_log(stream, member, kind)
    elif kind in CHECKPOINT_KINDS:
        yield from checkpoints.read(stream, member, kind)
    elif reader := _READERS.get(kind):
        yield from reader(stream, member)
    elif kind == "binary" and not _expected_binary(member.path):
        yield schemas.problem("unreadable", f"{member.path}: binary content that is no file Kafka writes; left out")


def _expected_binary(path: str) -> bool:
    return not path.lower().rsplit("/", 1)[-1].endswith((".log", ".txt", ".properties", ".json", "checkpoint"))


def read_source(member: Member, stream: BinaryIO) -> Iterator[Row]:
    """Events of one source, its `source` event last. Errors of reading become a problem row; what was read before stays."""
    collected: Row = {}
    trouble: str | None = None
    kind = "unreadable"
    counted = Counted(stream)
    problems = 0
    try:
        whole = io.BufferedReader(counted, HEAD)
        kind = sniff(member, whole.peek(HEAD))
        for row in parse(whole, member, kind):
            if row["event"] == "source":
                collected = row["collected"]
                continue
            if row["event"] == "problem":
                trouble = trouble or row.get("text")
                problems += 1
                if problems > MAX_PROBLEMS:
                    continue
            row["source"] = member.path
            yield row
        while whole.read(CHUNK):
            pass
    except (OSError, EOFError, ValueError, RuntimeError) as error:
        trouble = f"{member.path}: {error or type(error).__name__}"
        yield {**schemas.problem("unreadable", trouble), "source": member.path}
    if problems > MAX_PROBLEMS:
        yield {**schemas.problem("more", f"{problems - MAX_PROBLEMS} more problems of this kind"), "source": member.path}
    yield _source(member, kind, counted, collected, trouble)


def _source(member: Member, kind: str, counted: Counted | None, collected: Row, trouble: str | None) -> Row:
    facts = {
        **collected,
        "kind": kind,
        "bytes": counted.bytes if counted else None,
        "sha256": counted.sha256 if counted else None,
        "modified": member.modified,
        "problem": collected.get("problem") or trouble,
    }
    return {"event": "source", "source": member.path, "time": member.modified, "clock": "mtime", "collected": facts}


def _rows(unit: Unit) -> Iterator[Row]:
    for member, stream, trouble in read_unit(unit):
        if stream is not None:
            yield from read_source(member, stream)
        if trouble is not None:
            yield {**schemas.problem("unreadable", trouble), "source": member.path}
            if stream is None:
                yield _source(member, "unreadable", None, {}, trouble)


def events(unit: Unit) -> Iterator[pa.RecordBatch]:
    """Every event of a unit, as record batches of schemas.EVENTS."""
    yield from schemas.batches(_rows(unit))
