"""A case on its way to disk.

Here: the tables written row by row as they come from Spark, in an order that does not depend on how many tasks there were. Not here: the
results (forensics.incidents.judging, judge), the schemas (tables), or the atomic creation of the directory (forensics.output.files).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, groupby
from pathlib import Path
from types import TracebackType
from typing import Any

import click
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from forensics import rule_files
from forensics.case.judge import ROW
from forensics.case.read import is_case, verdicts
from forensics.case.tables import BY_NAME, CLUSTER_NUMBER, MANIFEST, PROOF, SCHEMA, TABLES, Table
from forensics.incidents.folding import places
from forensics.incidents.incidents import Incident
from forensics.incidents.judging import Conclusion, conclude
from forensics.model.clock.node_clocks import Options
from forensics.model.clock.resolver import EventResolver
from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.names import names
from forensics.model.events import IDENTIFIED
from forensics.model.findings import Finding
from forensics.model.message import Message, Range
from forensics.model.presence.broker_states import StateSpan, spans
from forensics.model.record import RowWriters, row_of
from forensics.output.files import forbidden
from forensics.output.version import version
from forensics.views.document import rules_digest
from forensics.views.headline import headline
from forensics.words import of_incident, text, words
from parsers.containers.names import IGNORED
from parsers.limits import DEFAULTS, Limits, changed
from parsers.own_files import OwnFile
from parsers.schemas import EVENTS

ROWS = 20_000
"""Bytes of a row group: the least that is decoded to read one partition."""


class CaseRefused(click.ClickException):
    """A path where no case can be written; the message is one line with the reason."""

    exit_code = 2


@dataclass(frozen=True)
class Origin:
    """Versions and options from which a case is made."""

    paths: Sequence[str]
    command: Sequence[str]
    options: Options
    log_patterns: Sequence[str]
    limits: Limits = DEFAULTS
    patterns: Sequence[OwnFile] = ()
    rules: tuple[OwnFile, ...] = field(default_factory=rule_files.in_force)


def check(directory: Path, paths: Iterable[str], *, force: bool) -> None:
    """Raises Refused if a case cannot be written here, or the path has other content."""
    outside(directory, paths)
    if not os.path.lexists(directory):
        return
    if is_case(directory):
        if not force:
            raise CaseRefused(f"{directory}: there is a case already; give another directory, or --force to replace the case")
    elif not directory.is_dir() or any(directory.iterdir()):
        what = "the directory is not empty and is not a case" if directory.is_dir() else "this is a file"
        raise CaseRefused(f"{directory}: {what}; give a new directory")


def outside(directory: Path, evidence: Iterable[str]) -> None:
    """Raises Refused if nothing may be written at the path."""
    try:
        reason = forbidden(directory, evidence)
    except OSError as error:
        reason = str(error)
    if reason:
        raise CaseRefused(f"{directory}: {reason}")


def write(
    to: Path,
    origin: Origin,
    events: pa.Table,
    cluster: Cluster,
    resolver: EventResolver,
    partitions: Iterable[pa.RecordBatch],
    records: Iterable[pa.RecordBatch],
) -> Conclusion:
    """Writes all tables into a directory and returns the results. `events`: the events that were gathered; `partitions`: rows of judge.ROW,
    those of a partition together; `records`: rows of forensics.tools.ordered_records.KEPT in their order."""
    tables: dict[str, int] = {}

    def put(name: str, rows: Iterable[pa.Table | pa.RecordBatch]) -> None:
        with Writer(to, BY_NAME[name]) as writer:
            for some in rows:
                writer.add(some)
        tables[name] = writer.rows

    put("records", records)
    put("facts", [facts(events, resolver)])
    put("measures", [_table("measures", (m.row() for m in cluster.measures))])
    with _sorted(partitions, to / "rows") as slices:
        put("partitions", slices("partition_state"))
        put(PROOF, map(handovers, slices("partition_state")))
        put("judged", slices("finding"))
        for name, column in (("standing", "standing"), ("checkpoints", "checkpoints"), ("steps", "step"), ("offsets", "offset")):
            put(name, slices(column))
    return brought_together(to, cluster, _head(origin, resolver), tables)


COMPUTED = ("broker_states", "sources", "brokers", "findings", "finding_details", "incidents", "quotes")
"""Tables of what the others say together."""


def brought_together(to: Path, cluster: Cluster, head: Mapping[str, Any], tables: dict[str, int]) -> Conclusion:
    """Writes these tables, and the manifest. `head`: its first part; `tables`: rows of the other tables, which are written."""
    found = conclude(verdicts(*(_pieces(to, BY_NAME[name]) for name in ("judged", "partitions"))), cluster)
    states = _table("broker_states", map(_span, spans(cluster, found.partitions)))
    for name, table in {"broker_states": states, **of_report(cluster, found.findings, found.incidents)}.items():
        with Writer(to, BY_NAME[name]) as writer:
            writer.add(table)
        tables[name] = writer.rows
    verdict = headline(found.findings, found.partitions, cluster=cluster, incidents=found.incidents)
    manifest(to, head, {"loss": verdict.loss, "summary": verdict.summary, "partitions": verdict.partitions}, tables)
    return found


def _pieces(directory: Path, table: Table) -> Iterator[pa.Table]:
    """A table that was written, some rows at a time."""
    with pq.ParquetFile(directory / table.file) as file:
        for batch in file.iter_batches():
            yield table.known(pa.Table.from_batches([batch]))


def of_report(cluster: Cluster, findings: Sequence[Finding], incidents: Sequence[Incident]) -> dict[str, pa.Table]:
    """The tables for a report by name, without partitions."""
    return {
        "sources": _table("sources", chain((s.row() for s in cluster.sources), _digests(cluster))),
        "brokers": _table("brokers", (row for each in cluster.clusters_until_now for row in _brokers(each))),
        "findings": _table("findings", finding_rows(findings)),
        "finding_details": _table(
            "finding_details", ({"number": n, "id": f.id, **_whole(f), **words(f)._asdict()} for n, f in enumerate(findings))
        ),
        "incidents": _table("incidents", (_incident(n, i) for n, i in enumerate(incidents))),
        "quotes": _table("quotes", (q for n, f in enumerate(findings) for q in _quotes(n, f))),
    }


def told_options(given: Options, log_patterns: Sequence[str], limits: Limits, patterns: Sequence[OwnFile] = ()) -> dict[str, Any]:
    """How the evidence was read and judged."""
    return {
        "zone_offset_ms": given.zone_offset_ms,
        "zone_name": given.zone_name,
        "clock_offsets_ms": {str(broker): error for broker, error in given.clock_offsets_ms.items()},
        "log_patterns": list(log_patterns),
        "limits": changed(limits),
        "patterns": [{"path": file.path, "sha256": file.sha256} for file in patterns],
        "rules": rule_files.rows(),
    }


def _head(origin: Origin, resolver: EventResolver) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "tool": {"version": version(), "command": list(origin.command), "rules": rules_digest()},
        "evidence": {"paths": list(origin.paths), "root": resolver.root},
        "options": told_options(origin.options, origin.log_patterns, origin.limits, origin.patterns),
    }


def manifest(to: Path, head: Mapping[str, Any], verdict: Mapping[str, Any], tables: Mapping[str, int]) -> None:
    whole = {**head, "verdict": verdict, "tables": {t.name: {"rows": tables[t.name]} for t in TABLES}}
    (to / MANIFEST).write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", "utf-8")


class Writer:
    """Writes a table in row groups of this many rows, for any number of rows per call."""

    def __init__(self, directory: Path, table: Table, size: int | None = None) -> None:
        self._table = table
        self._out = pq.ParquetWriter(directory / table.file, table.schema, compression="zstd", write_page_checksum=True)
        self._size = size or ROWS
        self._pending: list[pa.Table] = []
        self._held = 0
        self.rows = 0

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self._flush()
        self._out.close()

    def add(self, rows: pa.Table | pa.RecordBatch) -> None:
        table = self._table.stored(pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows)
        self.rows += table.num_rows
        while table.num_rows:
            some = table.slice(0, self._size - self._held)
            self._pending.append(some)
            self._held += some.num_rows
            table = table.slice(some.num_rows)
            if self._held == self._size:
                self._flush()

    def _flush(self) -> None:
        if self._held:
            self._out.write_table(pa.concat_tables(self._pending).combine_chunks(), row_group_size=self._size)
        self._pending, self._held = [], 0


def _table(name: str, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist([*map(_numbered, rows)], schema=BY_NAME[name].schema)


def _numbered(row: Mapping[str, Any]) -> dict[str, Any]:
    return {CLUSTER_NUMBER: row.get("cluster"), **row}


def finding_rows(findings: Sequence[Finding]) -> Iterator[dict[str, Any]]:
    """The rows of the table of findings."""
    return (_numbered(row) for n, f in enumerate(findings) for row in _places(n, f))


def facts(events: pa.Table, resolver: EventResolver) -> pa.Table:
    """Events as they were gathered, with broker and time; in file order."""
    used = [resolver.used(b) for b in events.cast(EVENTS).to_batches()]
    known = pa.Table.from_batches([resolver.apply(b) for b in used], schema=IDENTIFIED)
    topics = pa.Table.from_batches(used, schema=EVENTS)["topic"]
    whole = known.set_column(EVENTS.get_field_index("topic"), EVENTS.field("topic"), topics)
    return whole.sort_by([(name, "ascending") for name in ("source", "line", "byte")])


def _digests(cluster: Cluster) -> Iterator[dict[str, Any]]:
    """Files that are not sources."""
    for kind, files in (("archive", cluster.archives), (IGNORED, cluster.ignored)):
        yield from ({"path": a.path, "kind": kind, "bytes": a.bytes, "sha256": a.sha256} for a in files)


def _brokers(cluster: Cluster) -> Iterator[dict[str, Any]]:
    for node in cluster.nodes.values():
        yield {
            "cluster": cluster.number,
            "id": node.id,
            "role": "broker" if node.broker else "controller",
            "version": node.version,
            "timezone": node.clock.zone,
            "clock_offset_ms": node.clock.skew_ms,
            "clock_basis": node.clock.basis,
            "clock_uncertainty_ms": node.clock.uncertainty_ms,
            "collections": node.collections,
            "names": [name.row() for name in names(cluster).get(node.id, ())],
            "runs": [{"begin": run.begin_at, "end": run.end_at, "outcome": run.outcome} for run in node.runs],
        }


def _finding(number: int, f: Finding) -> dict[str, Any]:
    return {"number": number, "id": f.id, **_whole(f), **words(f)._asdict()}


def _places(number: int, f: Finding) -> Iterator[dict[str, Any]]:
    of_all = {name: getattr(f, name) for name in ("id", "incident", "kind", "severity", "confidence", "cause", "cluster")}
    summary = words(f).summary
    for p in places(f) or (f.place,):
        there = {name: getattr(p, name) for name in ("topic", "partition", "leader_epoch", "start", "end", "committed")}
        parts: dict[Range | None, dict[str, Any]] = {
            part.offsets: {"committed": part.committed, "confidence": part.confidence} for part in p.parts
        }
        for r in parts or p.offsets or (None,):
            offsets = {"first_offset": r.start if r is not None else None, "end_offset": r.end if r is not None else None}
            latest = f.start_latest if p.start == f.start else None
            brokers = list(p.brokers or f.brokers)
            yield {
                "number": number,
                **of_all,
                **there,
                **parts.get(r, {}),
                **offsets,
                "brokers": brokers,
                "start_latest": latest,
                "summary": summary,
            }


_whole, _span = row_of(Finding), RowWriters({Message: text}).of(StateSpan)


def _incident(number: int, i: Incident) -> dict[str, Any]:
    own = of_incident(i)
    return {"number": number, **i.row(), "summary": own.summary, "explanation": own.explanation}


def _quotes(finding: int, f: Finding) -> Iterator[dict[str, Any]]:
    for number, e in enumerate(f.evidence):
        yield {"finding": finding, "number": number, **e.row()}


# rows of partitions

KEY = ("topic", "partition", "cluster")
KINDS = tuple(name for name in ROW.names if name not in KEY)
TOGETHER = 1024
"""Runs of rows from which a piece of a table is made."""


@contextmanager
def _sorted(rows: Iterable[pa.RecordBatch], path: Path) -> Iterator[Callable[[str], Iterator[pa.Table]]]:
    """Rows of ROW by topic and partition, rows of one partition in input order: for each column, the rows that have a value, as pieces of a
    table. The rows wait on disk; only the current pieces are in memory."""
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, ROW) as out:
        for batch in rows:
            out.write_batch(batch)
    with pa.memory_map(str(path)) as source:
        file = pa.ipc.open_file(source)
        held = [file.get_batch(i) for i in range(file.num_record_batches)]
        runs = sorted((run for batch in held for run in _runs(batch)), key=lambda run: run.name)

        def pieces(kind: str) -> Iterator[pa.Table]:
            own = [run for run in runs if run.kind == kind]
            for begin in range(0, len(own), TOGETHER):
                yield _piece(own[begin : begin + TOGETHER], kind)

        yield pieces
    path.unlink()


@dataclass(frozen=True, slots=True)
class _RowRun:
    """Consecutive rows of one partition with the same column."""

    name: tuple[str, int]
    kind: str
    batch: pa.RecordBatch
    begin: int
    length: int

    def column(self, name: str) -> pa.Array:
        return self.batch.column(name).slice(self.begin, self.length)


def _runs(batch: pa.RecordBatch) -> Iterator[_RowRun]:
    which = pa.array([None] * batch.num_rows, pa.string())
    for kind in KINDS:
        which = pc.if_else(pc.is_valid(batch.column(kind)), kind, which)
    alike = zip(*(column.to_pylist() for column in (batch.column("topic"), batch.column("partition"), which)), strict=True)
    begin = 0
    for (topic, partition, kind), rows in groupby(alike):
        length = sum(1 for _ in rows)
        yield _RowRun((topic, partition), kind, batch, begin, length)
        begin += length


def _piece(runs: Sequence[_RowRun], kind: str) -> pa.Table:
    events = pa.chunked_array([run.column(kind) for run in runs], ROW.field(kind).type)
    columns = {field.name: pc.struct_field(events, field.name) for field in events.type}
    for key in KEY:
        if key == "cluster" or key not in columns:
            columns[key] = pa.chunked_array([run.column(key) for run in runs], ROW.field(key).type)
    return pa.table(columns).combine_chunks()


def handovers(partitions: pa.Table) -> pa.Table:
    """The hand-overs of these partitions, one row each."""
    lists = partitions[PROOF].combine_chunks()
    flat = pc.list_flatten(lists)
    keys = partitions.select(list(KEY)).take(pc.list_parent_indices(lists))
    return pa.table({**{name: keys[name] for name in KEY}, **{f.name: pc.struct_field(flat, f.name) for f in flat.type}})
