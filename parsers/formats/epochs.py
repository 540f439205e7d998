"""The leader-epoch-checkpoint of a replica: the offset at which each leader epoch began in its log (KIP-101).

Here: its rows. Not here: the format it shares with the offset checkpoints (parsers.formats.checkpoints). Source: Kafka's
LeaderEpochCheckpointFile and LeaderEpochFileCache.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from parsers.formats.checkpoints import DAMAGED, entries, integer, malformed
from parsers.formats.file_kind import FileKind
from parsers.formats.problems import limited
from parsers.limits import in_force
from parsers.paths import is_unfinished, partition_of
from parsers.schemas import INT32, INT64, MAX_TEXT, Member, Row, problem


def read(stream: BinaryIO, member: Member) -> Iterator[Row]:
    """An 'epoch-entry' per row, then one 'epoch-file' with the number of them, at the file's modification time (UTC).

    Topic and partition are those of the directory; `reason` is its state unless that is 'current', 'unfinished' for a file that was never
    finished, or 'damaged' if entries are missing or may be cut: the epochs of such a file are not all there were. Problems:
    'checkpoint-corrupt' for entries that Kafka rejects, 'epochs-not-rising' where an epoch does not exceed, or an offset falls below, the
    one before. Equal offsets are valid: 0.11..1.x wrote epochs without records.
    """
    rows = list(limited(_entries(stream, member), member, "malformed lines", "checkpoint-corrupt"))
    own = [row for row in rows if row["event"] == "epoch-entry"]
    doubt = {"reason": DAMAGED} if any(row["reason"] in _INCOMPLETE for row in rows if row["event"] == "problem") else {}
    yield from (row | doubt if row["event"] == "epoch-entry" else row for row in rows)
    yield {**_common(member), **doubt, "event": "epoch-file", "count": len(own), "line": 1, "byte": 0}


def _entries(stream: BinaryIO, member: Member) -> Iterator[Row]:
    common = _common(member)
    previous, count = None, 0
    for entry in entries(stream, member, 2):
        if isinstance(entry, dict):
            yield entry
            continue
        line, at, text, fields, cut = entry
        epoch, offset = integer(fields[0], INT32), integer(fields[1], INT64)
        if epoch is None or offset is None or epoch < 0 or offset < 0:
            yield malformed(member, text, "epoch and offset are not numbers that Kafka accepts", line, at)
            continue
        if previous and not cut and (epoch <= previous[0] or offset < previous[1]):
            yield problem("epochs-not-rising", _falls(member, previous, (epoch, offset)), line=line, byte=at)
        previous = epoch, offset
        if count >= (most := in_force().epochs):
            text = f"{member.path}: more than {most} leader epochs, the rest is not read (--limit epochs)"
            yield problem("checkpoint-cut", text, line=line, byte=at)
            return
        count += 1
        place = {"line": line, "byte": at, "text": text[:MAX_TEXT]}
        yield {**common, **place, "event": "epoch-entry", "leader_epoch": epoch, "offset": offset}


def _falls(member: Member, before: tuple[int, int], after: tuple[int, int]) -> str:
    return f"{member.path}: epoch {after[0]} from offset {after[1]} follows epoch {before[0]} from offset {before[1]}"


def _common(member: Member) -> dict[str, Any]:
    topic, partition, state = partition_of(member.path) or (None, None, "current")
    return {
        "pattern": "checkpoint",
        "time": member.modified,
        "clock": "mtime",
        "topic": topic,
        "partition": partition,
        "directory": member.path.rpartition("/")[0],
        "reason": "unfinished" if is_unfinished(member.path) else None if state == "current" else state,
    }


_INCOMPLETE = frozenset({"checkpoint-corrupt", "checkpoint-cut"})
EVENTS = frozenset({"epoch-entry", "epoch-file"})
FORMATS = (FileKind("epoch-checkpoint", "leader-epoch-checkpoint", read, EVENTS, called="leader-epoch-checkpoint"),)
