"""The one table that every parser fills: an event is one fact stated in a file, with the place where it was read.

Here: the Arrow schema with a doc for each field, and the builder of batches. Not here: the kinds of events (kinds), how a fact is read (the
parser modules) or interpreted (forensics.model.partition.timeline, forensics.rules).

One wide schema, with most columns null in any row, because every kind of evidence goes through one Spark source: Arrow keeps an all-null
column at almost no cost, and one pass over an archive is enough for all commands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

Row = dict[str, Any]
"""One event; keys are field names of EVENTS, an absent key is null."""

Rows: TypeAlias = "Row | pa.RecordBatch"
"""One event, or many of one source, in the order of the source."""

MAX_TEXT = 4096
"""Characters of raw text that an event keeps; longer text is cut, the place stays exact."""

MAX_SHARED, LEAST_SHARED = 1 << 20, 256
"""Characters that all events of one line together keep of it, as long as each keeps at least this minimum: a line may name ten thousand
partitions."""

INT32 = range(-(2**31), 2**31)
INT64 = range(-(2**63), 2**63)
"""Ranges of the number columns. A number outside them (hostile or damaged input) makes its row a problem, never a crash."""

_EPOCH = datetime(1970, 1, 1)

REPLICA_OFFSET = pa.struct([("broker", pa.int32()), ("log_end_offset", pa.int64()), ("last_caught_up_ms", pa.int64())])
BATCH = pa.struct(
    [
        ("base_offset", pa.int64()),
        ("last_offset", pa.int64()),
        ("leader_epoch", pa.int32()),
        ("crc", pa.int64()),
        ("base_timestamp", pa.int64()),
        ("max_timestamp", pa.int64()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int16()),
        ("base_sequence", pa.int32()),
        ("control", pa.bool_()),
        ("codec", pa.string()),
        ("bytes", pa.int64()),
        ("append_time", pa.bool_()),
        ("whole", pa.bool_()),
    ]
)
"""`append_time`: the times are those of the leader that appended the batch (LogAppendTime), not those of its producer. `whole`: the batch
is as it was appended, the log cleaner has removed no record and set no delete horizon; null if only decompression would show it."""
JUMP = pa.struct([("line", pa.int64()), ("before", pa.timestamp("us")), ("after", pa.timestamp("us"))])
"""Two neighbouring events of a log between which the wall clock went back, or advanced by an hour or more; `line` is the later one's."""
PRINTED = pa.struct([("facet", pa.string()), ("line", pa.int64()), ("time", pa.timestamp("us"))])
"""A line that shows that INFO is on for the loggers of a facet (parsers.patterns.facets)."""
# `clock` is that of `first` and `last`; `wall_minus_utc_ms`: by how much the times of lines exceed the UTC stamps of the wrapper (median).
# `layout`: conversion patterns learned from the file, one per line. `printed`: the first and last of such lines in each block of lines, by
# facet. `ascents`, `descents`: how often the time of a line is later or earlier than that of the line before, for lines that give events.
# `steps_back`: the largest descents of more than a second. `consecutive`: whether the parts that these descents separate continue each
# other in another order. `cut_at`: the length in characters at which the lines of the file were cut, if they were.
# `repeated`: lines that were there twice, out of their place, and were read once.
# `understood`: lines with words of a statement of Kafka that were understood.
# `suppressed`: messages that a rate limit dropped, as its own lines state. `informed`: a line has the level INFO.
# `common_words`: words that all lines contain, apart from levels and loggers.
# `errors`: what a short source prints as errors: messages of ERROR and FATAL with their exceptions, else exceptions.
COLLECTED = pa.struct(
    [
        ("kind", pa.string()),
        ("bytes", pa.int64()),
        ("sha256", pa.string()),
        ("modified", pa.timestamp("us")),
        ("lines", pa.int64()),
        ("unrecognised", pa.int64()),
        ("understood", pa.int64()),
        ("samples", pa.list_(pa.string())),
        ("errors", pa.list_(pa.string())),
        ("first", pa.timestamp("us")),
        ("last", pa.timestamp("us")),
        ("last_own", pa.timestamp("us")),
        ("jumps", pa.list_(JUMP)),
        ("printed", pa.list_(PRINTED)),
        ("ascents", pa.int64()),
        ("descents", pa.int64()),
        ("steps_back", pa.list_(JUMP)),
        ("consecutive", pa.bool_()),
        ("cut_at", pa.int32()),
        ("repeated", pa.int64()),
        ("suppressed", pa.int64()),
        ("informed", pa.bool_()),
        ("common_words", pa.list_(pa.string())),
        ("nodes", pa.list_(pa.int32())),
        ("clock", pa.string()),
        ("wall_minus_utc_ms", pa.int64()),
        ("layout", pa.string()),
        ("problem", pa.string()),
    ]
)


def documented(name: str, kind: pa.DataType, doc: str) -> pa.Field:
    """A field with its description, as in all tables of the project."""
    return pa.field(name, kind, metadata={"doc": doc})


_ids = pa.list_(pa.int32())

EVENTS = pa.schema(
    [
        documented(
            "source",
            pa.string(),
            "path of the source inside the evidence; containers joined with '/', the writer in a log of several after '#'",
        ),
        documented("line", pa.int64(), "1-based line of a text source, null for binary ones"),
        documented("byte", pa.int64(), "byte offset in the (decompressed) source at which the fact begins"),
        documented("time", pa.timestamp("us"), "time of the event by the clock that `clock` names; lines carry no zone"),
        documented(
            "clock",
            pa.string(),
            "line: broker's local wall clock; mtime: file's modification time, UTC; batch: record timestamp, UTC; stamp: time in the text itself, UTC; utc: a log line's time that names its zone, or its container's, UTC",
        ),
        documented("event", pa.string(), "kind of fact, one of parsers.kinds"),
        documented("pattern", pa.string(), "line pattern or file parser that read it"),
        documented("level", pa.string(), "log level of the line"),
        documented("mode", pa.string(), "'zookeeper' or 'kraft', where only a process of a cluster of that mode states such a fact"),
        documented("text", pa.string(), f"the raw text, at most {MAX_TEXT} characters"),
        documented("node", pa.int32(), "node id the fact itself names as its writer (line prefix, broker.id); null when it names none"),
        documented("topic", pa.string(), "topic name"),
        documented("partition", pa.int32(), "partition index"),
        documented("topic_id", pa.string(), "topic id, 22 characters base64url (KIP-516)"),
        documented("leader", pa.int32(), "leader of the partition; -1 is none"),
        documented("leader_epoch", pa.int32(), "leader epoch (KIP-101)"),
        documented("partition_epoch", pa.int32(), "version of the partition's state: zkVersion or partitionEpoch"),
        documented("previous_leader", pa.int32(), "leader before the change, where the text names it"),
        documented("previous_leader_epoch", pa.int32(), "leader epoch before the change, as the writer knew it; -1 after its start"),
        documented("controller", pa.int32(), "controller node"),
        documented("controller_epoch", pa.int32(), "controller epoch; in KRaft the quorum's epoch"),
        documented("isr", _ids, "in-sync replicas after the change"),
        documented("previous_isr", _ids, "in-sync replicas before the change"),
        documented("replicas", _ids, "assigned replicas (AR), preferred leader first"),
        documented("unordered", pa.bool_(), "`replicas` were sent as a set (up to 0.10.2), so their order has no meaning"),
        documented("adding_replicas", _ids, "replicas a reassignment adds (KIP-455)"),
        documented("removing_replicas", _ids, "replicas a reassignment removes (KIP-455)"),
        documented("eligible", _ids, "eligible leader replicas after the change (KIP-966)"),
        documented("recovering", pa.bool_(), "leaderRecoveryState is RECOVERING (KIP-704)"),
        documented("broker", pa.int32(), "the other broker the fact is about: removed from an ISR, fenced, fetched from"),
        documented("brokers", _ids, "several brokers the fact is about"),
        documented("broker_epoch", pa.int64(), "broker epoch of a registration"),
        documented("offset", pa.int64(), "the offset the event is about: truncation target, epoch start, segment base, checkpoint value"),
        documented("previous_offset", pa.int64(), "the offset before the event, where the text names it"),
        documented("log_end_offset", pa.int64(), "log end offset (LEO) of the writer's log"),
        documented("high_watermark", pa.int64(), "high watermark (HW)"),
        documented("log_start_offset", pa.int64(), "log start offset"),
        documented("metadata_offset", pa.int64(), "offset in __cluster_metadata"),
        documented("count", pa.int64(), "a count the fact gives: logs, segments, required min ISR, metadata version"),
        documented("bytes", pa.int64(), "a size in bytes"),
        documented("duration_ms", pa.int64(), "how long the fact lasted, milliseconds; `time` is its beginning"),
        documented("reason", pa.string(), "short word for why or between which states"),
        documented("directory", pa.string(), "log directory, or directory id"),
        documented("key", pa.string(), "name of a setting; client id of a group's member; exception after a fatal error"),
        documented("host", pa.string(), "host of a group's member, as its coordinator saw it"),
        documented("value", pa.string(), "value of a setting, version, cluster id"),
        documented("replica_offsets", pa.list_(REPLICA_OFFSET), "what a leader knew of its followers"),
        documented("batches", pa.list_(BATCH), "record batches of a segment, in file order"),
        documented("collected", COLLECTED, "what is known of a source as a whole; only in `source` events"),
    ]
)


@dataclass(frozen=True, slots=True)
class Member:
    """One file of the evidence, in any container."""

    path: str
    """Path inside the evidence, '/' between containers and their members."""
    size: int | None
    """Bytes after decompression, if the container states them."""
    modified: datetime | None
    """Modification time, UTC, naive; null if the container keeps none."""
    ignored: bool = False
    """It has a digest, and is not read: a file of a file manager, or an entry that a later one replaces."""


def moment(milliseconds: int) -> datetime | None:
    """UTC of milliseconds since 1970 as in records; None for null."""
    try:
        return _EPOCH + timedelta(milliseconds=milliseconds) if milliseconds > 0 else None
    except OverflowError:
        return None


def problem(reason: str, text: str, *, line: int | None = None, byte: int | None = None) -> Row:
    """A row about data that could not be read; reading continues."""
    return {"event": "problem", "reason": reason, "text": text[:MAX_TEXT], "line": line, "byte": byte}


def located(source: str, text: str) -> str:
    """The text of a problem with the path of its source, once: some texts contain it, such as exceptions in Kafka's words."""
    return text if source in text else f"{source}: {text}"


def shared(text: str, events: int) -> str:
    """The text that each of this many events of one line keeps."""
    return text if len(text) * events <= MAX_SHARED else text[: max(MAX_SHARED // events, LEAST_SHARED)]


COST_OF_BATCH = 8
"""Rows that need as much memory as the columns of a batch without rows."""


def batches(events: Iterable[Rows], size: int = 4096) -> Iterator[pa.RecordBatch]:
    """Events as record batches of EVENTS, at most `size` rows each. Batches are much smaller with segments, because every record batch of a
    segment counts, and one row may list tens of thousands; and with very many short logs, because the fifty columns of each batch have a
    size of their own."""
    rows: list[Row] = []
    waiting: list[pa.RecordBatch] = []
    count = 0
    for one in events:
        if isinstance(one, pa.RecordBatch):
            waiting += [*_batch(rows), one]
            rows = []
            count += len(one) + COST_OF_BATCH
        else:
            rows.append(one)
            count += 1 + len(one.get("batches") or ())
        if count >= size:
            yield from _joined([*waiting, *_batch(rows)], size)
            rows, waiting, count = [], [], 0
    yield from _joined([*waiting, *_batch(rows)], size)


def whole(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows with all columns of the schema; missing columns are null, and share their memory."""
    present = set(rows.schema.names)
    nulls = pa.nulls(rows.num_rows, pa.struct([field for field in schema if field.name not in present]))
    missing = {field.name: nulls.field(n) for n, field in enumerate(nulls.type)}
    columns = [rows[name] if name in present else missing[name] for name in schema.names]
    return pa.Table.from_arrays(columns, schema=schema)


def filled(rows: pa.Table) -> pa.Table:
    """The rows without the columns that are null in all of them: to copy those of events takes longer than to copy the others."""
    return rows.select([name for name in rows.schema.names if rows[name].null_count < rows.num_rows])


def equal_rows(ordered: pa.Array) -> Iterator[tuple[Any, int, int]]:
    """Each value of a sorted column, with its first row and the row after its last one."""
    runs = pc.run_end_encode(ordered)
    ends = runs.run_ends.to_pylist()
    return zip(runs.values.to_pylist(), [0, *ends], ends, strict=False)


def filtered(rows: pa.Table, mask: pa.ChunkedArray) -> pa.Table:
    """As pyarrow.Table.filter; columns that are null in all rows share their memory. Most of the fifty columns of gathered events are."""
    kept = filled(filled(rows).filter(mask))
    if not kept.num_columns:
        number = pc.sum(mask).as_py() or 0
        return pa.table([pa.nulls(number, field.type) for field in rows.schema], schema=rows.schema)
    return whole(kept, rows.schema)


def numbered(rows: Sized) -> pa.Array:
    """The numbers of all rows."""
    return pc.indices_nonzero(pa.repeat(pa.scalar(True), len(rows))).cast(pa.int64())


def release() -> None:
    """Gives memory that Arrow does not use any more back to the system; otherwise that of a large table is kept for the next one."""
    pa.default_memory_pool().release_unused()


def _batch(rows: list[Row]) -> list[pa.RecordBatch]:
    return [pa.RecordBatch.from_pylist(rows, schema=EVENTS)] if rows else []


def _joined(batches: list[pa.RecordBatch], size: int) -> list[pa.RecordBatch]:
    table = pa.Table.from_batches(batches, schema=EVENTS)
    joined: list[pa.RecordBatch] = (table.combine_chunks() if len(batches) > 1 else table).to_batches(max_chunksize=size)
    return joined
