"""The Spark jobs of kafka-forensics: the engine's jobs with the functions of the domain that run in their tasks.

Here: which function goes where. Not here: how work is divided into tasks (the package spark), or the functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from forensics import rule_files
from forensics.audit.kept import COLUMNS, ClusterPart, Group, keep_units, log_kinds, placed, record_batches, rows_of, written
from forensics.model.clock.gathered import is_gathered
from forensics.model.clock.resolver import EventResolver
from forensics.model.cluster.facts import Cluster
from forensics.model.partition.quiet_times import RoutineFilter, is_routine
from forensics.model.timelines import Judge, judged, sorted_partitions
from forensics.tools.ordered_records import KEPT, Merger, Show, blocks
from parsers.containers.units import Unit
from parsers.own_files import OwnFile
from parsers.records import RECORDS, batches
from parsers.schemas import EVENTS, Row
from spark import audit, pipeline, sorting
from spark.ipc import Packed
from spark.pipeline import Change, Identified, Masks, SparkEvents

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASKS = Masks(is_gathered, is_routine)


def read(session: SparkSession, units: list[Unit], log_patterns: Sequence[str] = (), *, cut: bool = True) -> SparkEvents:
    """The events of the units; see spark.pipeline.read."""
    return pipeline.read(session, units, log_patterns, MASKS, cut=cut)


def identified(events: SparkEvents, resolver: EventResolver, cluster: Cluster, change: Change | None = None) -> Identified:
    """Events of partitions, identified, without most of those in quiet times; see spark.pipeline.identified."""
    return pipeline.identified(events, resolver, change, thinning=RoutineFilter.of_parts(cluster))


def verdicts(events: Identified, cluster: Cluster, judge: Judge, schema: pa.Schema, *, ways: int | None = None) -> Packed:
    """Rows of `schema` that `judge` gives for the timeline of each partition."""
    work = partial(_judged, rules=rule_files.in_force(), judge=judge, schema=schema)
    return pipeline.by_partition(events, cluster, sorted_partitions, work, schema, ways=ways)


def _judged(
    rows: Iterable[pa.RecordBatch], cluster: Cluster, rules: tuple[OwnFile, ...], judge: Judge, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    rule_files.put_in_force(rules)
    return judged(rows, cluster, judge, schema)


def record_text(session: SparkSession, units: Sequence[Unit], merger: Merger, show: Show) -> Iterator[str]:
    """The log records that the merger selects, sorted, as blocks of text."""
    return sorting.text(_records(session, units, merger), partial(_shown, show=show))


def sorted_records(session: SparkSession, units: Sequence[Unit], merger: Merger) -> Iterator[pa.RecordBatch]:
    """All log records, sorted (schema forensics.tools.ordered_records.KEPT)."""
    return sorting.in_order(_records(session, units, merger), KEPT)


def _records(session: SparkSession, units: Sequence[Unit], merger: Merger) -> sorting.Unsorted:
    return sorting.records(session, units, partial(_merged, merger), merger.schema, copies=bool(merger.copies))


def _merged(merger: Merger, units: Iterable[Unit]) -> Iterator[pa.RecordBatch]:
    return batches(merger.rows(units), merger.schema)


def _shown(given: Iterator[pa.RecordBatch], show: Show) -> Iterator[str]:
    return blocks((row for batch in given for row in batch.to_pylist()), show)


def keep(
    session: SparkSession, units: list[Unit], log_patterns: Sequence[str], group: Group, directory: Path, *, with_records: bool
) -> Mapping[str, list[Row]]:
    """Reads the events of the units, and the log records if these are requested, and keeps them in new files of a directory that all
    workers share. Returns rows of forensics.audit.kept.CONTENTS, by column (events, records)."""
    columns = COLUMNS if with_records else COLUMNS[:1]
    alone, others = audit.undivided(session, units, log_patterns)
    keep_each = partial(keep_units, columns=columns, room=audit.HELD_BYTES, log_patterns=log_patterns, group=group, directory=directory)
    kept: dict[str, list[Row]] = {column: [] for column in columns}
    for row in audit.keep_undivided(session, alone, keep_each, times=len(columns)):
        kept[row.pop("column")].append(row)
    if others:
        events = _keep_events(session, others, log_patterns, group, directory)
        kept["events"] += events
        if with_records:
            kept["records"] += _keep_records(session, others, log_kinds(events), log_patterns, group, directory)
    return kept


def _keep_events(session: SparkSession, units: list[Unit], log_patterns: Sequence[str], group: Group, directory: Path) -> list[Row]:
    write = partial(written, schema=EVENTS, group=group, directory=directory)
    return audit.keep_events(session, units, log_patterns, MASKS, write)


def _keep_records(
    session: SparkSession, units: list[Unit], kinds: Mapping[str, str], log_patterns: Sequence[str], group: Group, directory: Path
) -> list[Row]:
    """`kinds`: the kind of each log, by path."""
    write = partial(written, schema=RECORDS, group=group, directory=directory)
    return audit.keep_records(session, units, partial(record_batches, kinds=kinds, log_patterns=log_patterns), write)


def kept_events(session: SparkSession, parts: Sequence[ClusterPart], directory: str) -> SparkEvents:
    """The events of a cluster from kept files."""
    return audit.kept_events(session, parts, partial(rows_of, directory=directory), MASKS)


def kept_records(session: SparkSession, parts: Sequence[ClusterPart], directory: str, merger: Merger) -> Iterator[pa.RecordBatch]:
    """All log records of a cluster from kept files, sorted (schema forensics.tools.ordered_records.KEPT)."""
    open_part = partial(placed, directory=directory, merger=merger)
    return audit.kept_records(session, parts, open_part, merger.schema, KEPT, copies=bool(merger.copies))
