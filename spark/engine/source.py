"""Evidence as a Spark data source: balanced splits in, Arrow batches of events out.

Here: the Python Data Source (Spark 4) whose partitions are the units the containers were divided into. Not here: what a
container or a file is (parsers), or what the events mean.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from parsers.containers.units import Unit
from parsers.evidence import events
from parsers.schemas import EVENTS

NAME = "kafka-evidence"


class Split(InputPartition):
    """The units one task reads, in order."""

    def __init__(self, units: tuple[Unit, ...]) -> None:
        super().__init__(0)
        self.units = units


class EvidenceReader(DataSourceReader):
    """Reads the units handed to it; a unit never fails, what it could not read is a row."""

    def __init__(self, splits: tuple[Split, ...], log_patterns: tuple[str, ...] = ()) -> None:
        self._splits = splits
        self._log_patterns = log_patterns

    def partitions(self) -> list[InputPartition]:
        return list(self._splits)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Split)
        for unit in partition.units:
            yield from events(unit, self._log_patterns)


class EvidenceSource(DataSource):
    """`spark.read.format("kafka-evidence").option("units", …)`: events of schema parsers.schemas.EVENTS.

    Options: `units`, JSON of the list of splits, each a list of units as parsers.containers.units plans them. They are
    planned once, where the paths are named, so that the plan and the list of what was collected cannot differ. `log_patterns`,
    JSON list of log4j conversion patterns that logs may be in.
    """

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> StructType:
        return from_arrow_schema(EVENTS, prefer_timestamp_ntz=True)

    def reader(self, schema: StructType) -> EvidenceReader:
        return EvidenceReader(decode(self.options["units"]), tuple(json.loads(self.options.get("log_patterns", "[]"))))


def balance(units: list[Unit], ways: int) -> list[list[Unit]]:
    """Units dealt to `ways` splits, largest first to the lightest, so that no task is left with the whole archive."""
    splits: list[list[Unit]] = [[] for _ in range(max(1, min(ways, len(units))))]
    weights = [0] * len(splits)
    for unit in sorted(units, key=lambda u: (-u.size, u.path, u.select or ())):
        lightest = weights.index(min(weights))
        splits[lightest].append(unit)
        weights[lightest] += unit.size
    return splits


def encode(splits: list[list[Unit]]) -> str:
    return json.dumps([[[u.path, u.select, u.size, u.prefix] for u in split] for split in splits])


def decode(text: str) -> tuple[Split, ...]:
    def unit(fields: list[Any]) -> Unit:
        path, select, size, prefix = fields
        return Unit(path=path, select=tuple(select) if select is not None else None, size=size, prefix=prefix)

    return tuple(Split(tuple(unit(u) for u in split)) for split in json.loads(text))
