"""The kept files of an audit: what was read from the archive, as Parquet files of parsers.schemas.EVENTS or parsers.records.RECORDS.

Here: writing these files, and reading them for one cluster. Not here: the Spark jobs (spark.audit), or which files and clusters there are
(forensics.audit.archive). Rows are kept as the parsers made them: writer and UTC time depend on all files of a cluster together, and are
found again each time the cluster is judged.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from forensics.audit.dated import digest, is_intact
from forensics.case.files import parquet
from forensics.model.clock.cluster_history import CLUSTER_ID
from forensics.tools.ordered_records import KEPT, Merger, logs
from parsers import evidence
from parsers.containers.storage import held, regular, storage
from parsers.containers.units import Unit
from parsers.evidence import LOG_KINDS
from parsers.records import RECORDS, batches
from parsers.schemas import EVENTS, Row
from spark.sorting import ORDER

ROWS = 20_000
"""Rows of a row group of a kept file."""
NAME = 40
"""Hexadecimal digits of the SHA-256 of a kept file that are its name."""
MAGIC = b"PAR1"
"""First and last bytes of a Parquet file."""
COLUMNS = ("events", "records")
"""What is kept of a file."""
Group = Callable[[str], str]
"""A name that is the same for paths whose rows are kept together."""

CONTENTS = pa.schema(
    [
        ("file", pa.string()),
        ("source", pa.string()),
        ("rows", pa.int64()),
        ("kind", pa.string()),
        ("problem", pa.string()),
        ("ids", pa.list_(pa.struct([("id", pa.string()), ("at", pa.timestamp("us"))]))),
        ("sha256", pa.string()),
    ]
)
"""The contents of kept files: for each source its number of rows, its kind, its problem, the cluster ids it states, and its digest if all
of it was read. Rows without a file have the digests of containers."""


class ClusterPart(NamedTuple):
    """The part of a kept file that belongs to one cluster."""

    file: str
    names: Mapping[str, str]
    """Name in the cluster of each source, by its path in the archive."""


def record_batches(units: Iterable[Unit], kinds: Mapping[str, str], log_patterns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The log records of units (schema RECORDS). `kinds`: the kind of each log that is read, by path."""
    return batches(chain.from_iterable(logs(units, kinds, log_patterns)))


def keep_units(
    units: Iterator[Unit], columns: Sequence[str], room: int, log_patterns: Sequence[str], group: Group, directory: Path
) -> Iterator[Row]:
    """Reads each unit, writes its rows, and returns rows of CONTENTS with the column (events, records). Each unit must come as often as
    there are columns. Objects are requested once if those of a unit have up to `room` bytes together."""
    for unit in units:
        with held(room if _is_read_whole(unit) else 0):
            events = written(evidence.events(unit, log_patterns), EVENTS, group, directory)
            yield from ({**row, "column": "events"} for row in events)
            if "records" in columns:
                found = record_batches([next(units)], log_kinds(events), log_patterns)
                yield from ({**row, "column": "records"} for row in written(found, RECORDS, group, directory))


def _is_read_whole(unit: Unit) -> bool:
    """Whether this unit is not a share of an archive, of which a reader skips the rest."""
    return unit.dealt is None and (unit.select is None or storage(unit.path).is_directory())


def log_kinds(contents: Iterable[Row]) -> dict[str, str]:
    """The kinds of the logs in rows of CONTENTS, by path."""
    return {row["source"]: row["kind"] for row in contents if row["kind"] in LOG_KINDS}


def written(given: Iterable[pa.RecordBatch], schema: pa.Schema, group: Group, directory: Path) -> list[Row]:
    """Writes rows to new files in `directory`, one for each group, and returns rows of CONTENTS. The rows of one group must come
    together."""
    writers: dict[str, _KeptWriter] = {}
    contents: list[Row] = []
    for batch in given:
        if "event" in batch.schema.names:
            contents.extend(_containers(batch))
            batch = batch.filter(pc.not_equal(batch["event"], "archive"))  # the manifest has the digest of each file of the archive
            if not batch.num_rows:
                continue
        index = batch["source"].dictionary_encode()
        groups = [group(name) for name in index.dictionary.to_pylist()]
        for finished in writers.keys() - set(groups):
            contents.extend(writers.pop(finished).close())
        for name in dict.fromkeys(groups):
            if name not in writers:
                writers[name] = _KeptWriter(directory, schema)
            if len(set(groups)) > 1:
                mask = pa.array([g == name for g in groups], pa.bool_())
                writers[name].add(batch.filter(mask.take(index.indices)))
            else:
                writers[name].add(batch)
    for writer in writers.values():
        contents.extend(writer.close())
    return pa.RecordBatch.from_pylist(contents, schema=CONTENTS).to_pylist()  # type: ignore[no-any-return]


def _containers(batch: pa.RecordBatch) -> Iterator[Row]:
    """The digests of the containers that were read."""
    found = batch.filter(pc.equal(batch["event"], "archive")).select(["source", "value"]).to_pylist()
    return ({**dict.fromkeys(CONTENTS.names), "source": row["source"], "rows": 0, "ids": [], "sha256": row["value"]} for row in found)


class _KeptWriter:
    """A kept file while it is written."""

    def __init__(self, directory: Path, schema: pa.Schema) -> None:
        self._path = directory / f"{uuid.uuid4().hex}.parquet"
        self._out = pq.ParquetWriter(self._path, schema, compression="zstd", write_page_checksum=True)
        self._schema = schema
        self._pending: list[pa.RecordBatch] = []
        self._contents: dict[str, Row] = {}

    def add(self, batch: pa.RecordBatch) -> None:
        self._pending.append(batch)
        for count in batch["source"].value_counts().to_pylist():
            empty = {**dict.fromkeys(CONTENTS.names), "source": count["values"], "rows": 0, "ids": []}
            self._contents.setdefault(count["values"], empty)["rows"] += count["counts"]
        if self._schema.equals(EVENTS):
            self._describe(batch)
        if sum(b.num_rows for b in self._pending) >= ROWS:
            self._flush()

    def _describe(self, batch: pa.RecordBatch) -> None:
        sources = batch.filter(pc.equal(batch["event"], "source")).select(["source", "collected"])
        for row in sources.to_pylist():
            collected = row["collected"] or {}
            stated = {name: collected.get(name) for name in ("kind", "problem", "sha256")}
            self._contents[row["source"]].update(stated)
        printed = pc.and_(pc.equal(batch["event"], "config"), pc.equal(batch["key"], CLUSTER_ID))
        named = pc.or_(pc.fill_null(printed, False), pc.equal(batch["event"], "log-directory-identity"))
        for row in batch.filter(pc.and_(named, pc.is_valid(batch["value"]))).select(["source", "value", "time"]).to_pylist():
            self._contents[row["source"]]["ids"].append({"id": row["value"], "at": row["time"]})

    def _flush(self) -> None:
        self._out.write_table(pa.Table.from_batches(self._pending, schema=self._schema).combine_chunks(), row_group_size=ROWS)
        self._pending = []

    def close(self) -> Iterable[Row]:
        if self._pending:
            self._flush()
        self._out.close()
        named = self._path.rename(self._path.with_stem(digest(self._path)[:NAME]))
        for row in self._contents.values():
            last: dict[str, datetime | None] = {}
            for stated in row["ids"]:
                last[stated["id"]] = max(filter(None, (stated["at"], last.get(stated["id"]))), default=None)
            row["file"] = named.name
            row["ids"] = [{"id": cluster_id, "at": at} for cluster_id, at in last.items()]
        return self._contents.values()


def is_kept(path: Path) -> bool:
    """Whether a kept file has the content that it is named after; of an older version's file, whether it is complete."""
    if len(path.stem) == NAME:
        return is_intact(path)
    try:
        with regular(path) as file:
            first = file.read(len(MAGIC))
            file.seek(-len(MAGIC), os.SEEK_END)
            return first == MAGIC == file.read(len(MAGIC))
    except OSError:
        return False


def conform(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Rows that a version with other columns kept, in the columns of this version: what it did not keep is null."""
    if batch.schema.equals(schema):
        return batch
    names = set(batch.schema.names)
    columns = [_column(batch[f.name], f.type) if f.name in names else pa.nulls(batch.num_rows, f.type) for f in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _column(values: pa.Array, kind: pa.DataType) -> pa.Array:
    if values.type.equals(kind):
        return values
    try:
        return values.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return pa.array(values.to_pylist(), kind)


def rows_of(part: ClusterPart, directory: str) -> Iterator[pa.RecordBatch]:
    """The rows of a part in their order, with the names that the sources have in the cluster."""
    paths = pa.array(sorted(part.names), pa.string())
    names = pa.array([part.names[path] for path in paths.to_pylist()], pa.string())
    with parquet(Path(directory), part.file) as file:
        schema = EVENTS if "event" in file.schema_arrow.names else RECORDS
        for batch in (conform(batch, schema) for batch in file.iter_batches(batch_size=4096)):
            at = pc.index_in(batch["source"], value_set=paths)
            if at.null_count:
                batch = batch.filter(pc.is_valid(at))
                at = at.drop_null()
            if batch.num_rows:
                yield batch.set_column(batch.schema.get_field_index("source"), batch.schema.field("source"), names.take(at))


def events_of(parts: Sequence[ClusterPart], directory: str) -> pa.Table:
    """The events of a cluster, in an order that does not depend on how they were read."""
    read = [batch for part in parts for batch in rows_of(part, directory)]
    events = pa.Table.from_batches(read).cast(EVENTS) if read else EVENTS.empty_table()
    return events.sort_by([(name, "ascending") for name in ("source", "line", "byte")]).combine_chunks()


def placed(part: ClusterPart, directory: str, merger: Merger) -> Iterator[pa.RecordBatch]:
    """The records of a part, with their sort keys (schema `merger.schema`)."""
    yield from batches(merger.placed(row for batch in rows_of(part, directory) for row in batch.to_pylist()), merger.schema)


def records_of(parts: Sequence[ClusterPart], directory: str, merger: Merger) -> Iterator[pa.RecordBatch]:
    """The records of a cluster, sorted (schema forensics.tools.ordered_records.KEPT)."""
    rows = merger.placed(row for part in parts for batch in rows_of(part, directory) for row in batch.to_pylist())
    table = pa.Table.from_batches(batches(rows, merger.schema), schema=merger.schema).combine_chunks()
    if merger.copies and table.num_rows:
        twins = table["twin"].combine_chunks().dictionary_encode()
        ranks = pa.table({"twin": twins.indices, "rank": table["rank"]}).group_by("twin").aggregate([("rank", "min")]).sort_by("twin")
        table = table.filter(pc.equal(table["rank"], ranks["rank_min"].combine_chunks().take(twins.indices)))
    ordered = table.sort_by([(name, "ascending") for name in ORDER]).select(KEPT.names)
    return iter(ordered.cast(KEPT).to_batches())
