"""Spark's Python data source `kafka-evidence`: the events in evidence as a DataFrame, one row for each event.

Here: the options and how the evidence is divided into tasks. Not here: what an event is (parsers.schemas.EVENTS). Times, brokers and topics
are as each file states them: comparing clocks and finding out which broker wrote a file need all files (the pipeline).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema

from parsers import pieces
from parsers.containers.storage import storage, without_secrets
from parsers.containers.units import Unit, units
from parsers.schemas import EVENTS
from spark.pipeline import LEAST_BYTES, SPLIT_BYTES, balance

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

NAME = "kafka-evidence"
OPTIONS = ("path", "paths", "columns", "events", "tasks")
MOST_TASKS = 8
"""Most tasks for evidence below SPLIT_BYTES each: a data source does not know how many cores there are."""


class Split(InputPartition):
    """Units that one task reads."""

    def __init__(self, units: Sequence[Unit]) -> None:
        super().__init__(None)
        self.units = units


class KafkaEvidence(DataSource):
    """Options: `path`, or `paths` as a JSON array (`load` sets one of them); `columns` and `events`, separated by commas: the columns, and
    the kinds of events to read, default all; `tasks`: the number of tasks. Raises ValueError for an unknown option or value."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> StructType:
        wanted = pa.schema([EVENTS.field(name) for name in self._columns()])
        return from_arrow_schema(wanted, prefer_timestamp_ntz=True)

    def reader(self, schema: StructType) -> EvidenceReader:
        tasks = self.options.get("tasks")
        if tasks is not None and not (tasks.isdecimal() and int(tasks)):
            raise ValueError(f"{NAME}: the option tasks is {tasks!r}; give a number of at least 1")
        return EvidenceReader(_paths(self.options), self._columns(), _words(self.options, "events"), int(tasks) if tasks else None)

    def _columns(self) -> Sequence[str]:
        if unknown := sorted(set(self.options) - set(OPTIONS)):
            raise ValueError(f"{NAME}: unknown option {unknown[0]!r} (options: {', '.join(OPTIONS)})")
        named = _words(self.options, "columns") or EVENTS.names
        if missing := [name for name in named if name not in EVENTS.names]:
            raise ValueError(f"{NAME}: unknown column {missing[0]!r} (columns: {', '.join(EVENTS.names)})")
        return named


def _words(options: Mapping[str, str], name: str) -> list[str]:
    return [word.strip() for word in options.get(name, "").split(",") if word.strip()]


def _paths(options: Mapping[str, str]) -> list[str]:
    paths = json.loads(options["paths"]) if "paths" in options else [options[name] for name in ("path",) if name in options]
    if not paths:
        raise ValueError(f"{NAME}: no path; give a path, or a list of paths, to load()")
    return [str(path) for path in paths]


class EvidenceReader(DataSourceReader):
    """Reads the events of units. What cannot be read is a row with the problem, as in an analysis."""

    def __init__(self, paths: Sequence[str], columns: Sequence[str], events: Collection[str], tasks: int | None) -> None:
        self._paths, self._columns, self._events, self._tasks = paths, columns, events, tasks

    def partitions(self) -> Sequence[Split]:
        """Raises ValueError if a path does not exist. A relative path is one of the directory in which Spark started."""
        for path in self._paths:
            if trouble := storage(path).trouble():
                raise ValueError(f"{NAME}: {without_secrets(path)}: {trouble}; give an absolute path or a URI")
        planned = units(list(self._paths))
        size = sum(unit.size for unit in planned)
        tasks = self._tasks or max(size // SPLIT_BYTES, min(MOST_TASKS, size // LEAST_BYTES), 1)
        return [Split(split) for split in balance(planned, tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Split)
        wanted = pa.array(sorted(self._events), pa.string())
        for unit in partition.units:
            for batch in pieces.events(unit):
                chosen = batch.filter(pc.is_in(batch["event"], wanted)) if self._events else batch
                if chosen.num_rows:
                    yield chosen.select(self._columns)
