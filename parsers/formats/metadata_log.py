"""The KRaft metadata log as events: segments of `__cluster_metadata-0`, its snapshots, and `bootstrap.checkpoint`.

Here: batches to records, each record's offset, time and controller epoch, transactions (KIP-868), topic names for topic ids.
Not here: batch frames (parsers.decoding.batches), the fields of a record (parsers.decoding.metadata_records), the replay of changes into
states, and what a damaged tail means for the log's end (the `segment` event of parsers.decoding.batches).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import BinaryIO

from parsers.decoding.batches import Batch, Damage, headers
from parsers.decoding.bodies import BatchRecord, UnreadableBatch, records
from parsers.decoding.encoding import Malformed
from parsers.decoding.metadata_records import (
    ABORT_TRANSACTION,
    BEGIN_TRANSACTION,
    END_TRANSACTION,
    NO_OP_RECORD,
    Unsupported,
    decode,
    decode_control,
)
from parsers.formats.file_kind import SEGMENT_SUFFIX, FileKind
from parsers.schemas import INT64, Member, Row, problem

MAX_PAYLOAD = 32 << 20
"""Largest payload read, and its largest decompressed size in bytes; a raft batch is at most 8 MiB
(KafkaRaftClient.MAX_BATCH_SIZE_BYTES)."""
MAX_TOPICS = 1_000_000
"""Topic names kept for records that contain only the topic's id."""
MAX_HELD = 100_000
"""Rows held back until their transaction ends."""
MAX_PROBLEMS = 100
"""Different problems reported one by one; equal ones are reported once and counted."""

_EPOCH = datetime(1970, 1, 1)
_SNAPSHOT_NAME = re.compile(r"(?:^|/)(\d{20})-\d{10,}(?:-\d+)?\.checkpoint(?:\.\w+)*$")
_BOOTSTRAP_NAME = re.compile(r"(?:^|/)bootstrap\.checkpoint(?:\.\w+)*$")


def read_metadata(stream: BinaryIO, member: Member, *, snapshot: bool) -> Iterator[Row]:
    """`metadata-*` events in file order, and a `problem` for unreadable data.

    Each row has `metadata_offset`, `time` (record timestamp, clock 'batch'), `controller_epoch` (the batch's leader epoch) and `byte`
    (where its batch begins). In a snapshot all rows have one `metadata_offset`: the last log offset the snapshot contains, from its file
    name, and -1 for bootstrap.checkpoint; `time` is when the snapshot was written; a `reason` not otherwise used is 'snapshot'. Fields that
    are unchanged or null in a PartitionChangeRecord are absent from its row. Records of an aborted transaction give no rows. The last
    batch of each leader epoch in a segment gives a `metadata-written`.
    """
    log = _MetadataLog(snapshot, _contained_offset(member.path) if snapshot else None)
    for batch in headers(stream, payload=MAX_PAYLOAD):
        yield from log.add(batch)
    yield from log.finish()


def _contained_offset(path: str) -> int | None:
    """Last offset in a snapshot: its name has the first offset that it does not contain (Snapshots.filenameFromSnapshotId)."""
    if _BOOTSTRAP_NAME.search(path):
        return -1
    name = _SNAPSHOT_NAME.search(path)
    return int(name[1]) - 1 if name and int(name[1]) in INT64 else None


class _MetadataLog:
    """State from earlier records that is needed to read the next one."""

    def __init__(self, snapshot: bool, contained: int | None) -> None:
        self._snapshot = snapshot
        self._contained = contained
        self._topics: dict[str, str] = {}
        self._began: int | None = None
        self._held: list[Row] | None = None
        self._reported: set[tuple[str, str]] = set()
        self._unreported = 0
        self._idle = False
        """Whether the last record is a NoOpRecord."""
        self._last: Row | None = None
        """The 'metadata-written' of the current leader epoch."""

    def add(self, batch: Batch | Damage) -> Iterator[Row]:
        if isinstance(batch, Damage):
            if batch.reason != "preallocated":
                yield from self._problem(batch.reason, batch.text, batch.position)
            return
        try:
            if batch.magic != 2:
                raise UnreadableBatch("magic", f"batches of magic {batch.magic} in a metadata log, which has magic 2 only")
            for record in records(batch, MAX_PAYLOAD):
                yield from self._record(batch, record)
                if not self._snapshot:
                    yield from self._written(batch, record)
        except Malformed as fault:
            yield from self._problem("metadata-batch", f"records of a batch: {fault}", batch.position)
        except UnreadableBatch as fault:
            yield from self._problem(fault.reason, str(fault), batch.position)

    def finish(self) -> Iterator[Row]:
        if self._began is not None:
            text = f"the transaction begun at offset {self._began} does not end in this file; its records are given as if it had"
            yield from self._problem("metadata-transaction", text, None)
            yield from self._release()
        if self._last is not None:
            yield self._last
        if self._unreported:
            yield problem(
                "metadata-record", f"{self._unreported} more records or batches could not be read, for the reasons above or similar ones"
            )

    def _written(self, batch: Batch, record: BatchRecord) -> Iterator[Row]:
        """Notes a record as the last of its leader epoch, and returns the last one of the epoch before. The leader of the quorum writes a
        NoOpRecord if it has written nothing for metadata.max.idle.interval.ms (KIP-835)."""
        before, epoch = self._last, batch.leader_epoch
        same = before if before is not None and before["controller_epoch"] == epoch else None
        idle = self._idle or (same is not None and same["reason"] == "idle")
        text = f"last record of controller epoch {epoch} in this file: offset {record.offset}"
        row: Row = {"event": "metadata-written", "reason": "idle" if idle else None, "text": text}
        self._last = self._placed(row, batch, record) | {"duration_ms": _longest(same, _time(record))}
        if before is not None and before["controller_epoch"] != epoch:
            yield before

    def _record(self, batch: Batch, record: BatchRecord) -> Iterator[Row]:
        self._idle = not batch.control and record.value == NO_OP_RECORD
        try:
            api_key, row = self._decoded(batch, record)
        except (Malformed, Unsupported) as fault:
            reason = fault.reason if isinstance(fault, Unsupported) else "metadata-record"
            yield from self._problem(reason, str(fault), batch.position, record.offset)
            return
        if api_key in (BEGIN_TRANSACTION, END_TRANSACTION, ABORT_TRANSACTION):
            yield from self._transaction(api_key, batch.position, record.offset)
        elif row:
            yield from self._give(self._placed(row, batch, record))

    def _decoded(self, batch: Batch, record: BatchRecord) -> tuple[int | None, Row | None]:
        if batch.control:
            return None, decode_control(record.key or b"", record.value or b"")
        decoded = decode(record.value or b"")
        return decoded.api_key, decoded.row

    def _placed(self, row: Row, batch: Batch, record: BatchRecord) -> Row:
        time = _time(record)
        row |= {
            "pattern": "metadata-record",
            "byte": batch.position,
            "metadata_offset": self._contained if self._snapshot else record.offset,
            "controller_epoch": batch.leader_epoch,
            "time": time,
            "clock": "batch" if time else None,
        }
        if self._snapshot:
            row.setdefault("reason", "snapshot")
        if topic_id := row.get("topic_id"):
            self._name(row, topic_id)
        return row

    def _name(self, row: Row, topic_id: str) -> None:
        if row["event"] == "metadata-topic":
            if len(self._topics) < MAX_TOPICS:
                self._topics[topic_id] = row["topic"]
        elif topic_id in self._topics:
            row["topic"] = self._topics[topic_id]

    def _transaction(self, api_key: int, position: int, offset: int) -> Iterator[Row]:
        if api_key == ABORT_TRANSACTION:
            if self._held is None:
                text = "a transaction is aborted of which records were given, for it began in an earlier file or was very long"
                yield from self._problem("metadata-transaction", text, position, offset)
            self._began = self._held = None
            return
        yield from self._release()
        if api_key == BEGIN_TRANSACTION:
            self._began, self._held = offset, []

    def _give(self, row: Row) -> Iterator[Row]:
        if self._held is None:
            yield row
            return
        self._held.append(row)
        if len(self._held) > MAX_HELD:
            text = "a transaction is too long to be held back; its records are given before its end is known"
            yield from self._problem("metadata-transaction", text, row["byte"], self._began)
            yield from self._release()

    def _release(self) -> Iterator[Row]:
        """Returns the rows held back, and holds back none until the next transaction."""
        held, self._held, self._began = self._held or [], None, None
        yield from held

    def _problem(self, reason: str, text: str, position: int | None, offset: int | None = None) -> Iterator[Row]:
        if (reason, text) in self._reported or len(self._reported) >= MAX_PROBLEMS:
            self._unreported += 1
            return
        self._reported.add((reason, text))
        yield problem(reason, text, byte=position) | {"metadata_offset": self._contained if self._snapshot else offset}


def _longest(before: Row | None, time: datetime | None) -> int:
    """The longest time between two records so far, in milliseconds."""
    longest: int = before["duration_ms"] if before is not None else 0
    if before is None or before["time"] is None or time is None:
        return longest
    apart: timedelta = time - before["time"]
    return max(longest, round(apart.total_seconds() * 1000))


def _time(record: BatchRecord) -> datetime | None:
    try:
        return _EPOCH + timedelta(milliseconds=record.timestamp) if record.timestamp >= 0 else None
    except OverflowError:
        return None


EVENTS = frozenset(
    {
        "metadata-broker",
        "metadata-broker-change",
        "metadata-config",
        "metadata-feature",
        "metadata-leader",
        "metadata-migration",
        "metadata-partition",
        "metadata-partition-change",
        "metadata-topic",
        "metadata-topic-removed",
        "metadata-written",
    }
)
FORMATS = (
    FileKind(
        "metadata-segment",
        "record batches of __cluster_metadata-0",
        partial(read_metadata, snapshot=False),
        EVENTS,
        rf"\d{{20}}\.log{SEGMENT_SUFFIX}",
        directory="__cluster_metadata-0",
        binary=True,
    ),
    FileKind(
        "metadata-snapshot",
        "snapshot of __cluster_metadata-0, or bootstrap.checkpoint",
        partial(read_metadata, snapshot=True),
        EVENTS,
        rf"(?:\d{{20}}-\d{{10}}|bootstrap)\.checkpoint{SEGMENT_SUFFIX}",
        binary=True,
    ),
)
