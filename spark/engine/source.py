"""Evidence as a Spark data source: balanced splits in, Arrow batches of events out.

Here: the Python Data Source (Spark 4) whose partitions are the units the containers were divided into. Not here: what a
container or a file is (parsers), or what the events mean.
"""

from __future__ import annotations

import json
import pickle
import tempfile
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from parsers.containers.units import Unit
from parsers.pieces import events
from parsers.schemas import EVENTS
from spark.engine.progress import metered

NAME = "kafka-evidence"


class Split(InputPartition):
    """The units one task reads, in order; as a line of a plan."""

    def __init__(self, line: str) -> None:
        super().__init__(0)
        self.line = line


class EvidenceReader(DataSourceReader):
    """Reads the units handed to it; a unit never fails, what it could not read is a row. It travels with each task, and knows none of
    the others' names."""

    def __init__(self, plan: str, log_patterns: tuple[str, ...] = (), told: str = "") -> None:
        self._plan = plan
        self._log_patterns = log_patterns
        self._told = told

    def partitions(self) -> list[InputPartition]:
        return [Split(line) for line in Path(self._plan).read_text("utf-8").splitlines()]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Split)
        for unit in metered(decode(partition.line), Path(self._told)):
            yield from events(unit, self._log_patterns)


class EvidenceSource(DataSource):
    """`spark.read.format("kafka-evidence").option("plan", …)`: events of schema parsers.schemas.EVENTS.

    Options: `plan`, a file of the driver's machine with a line for each split, as `write_plan` makes it. Splits are planned once, where
    the paths are named, so that the plan and the list of what was collected cannot differ; in a file, since an option travels with
    every task and is shown where plans are. `log_patterns`, JSON list of log4j conversion patterns that logs may be in. `told`, a file
    for what is read (progress).
    """

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> StructType:
        return from_arrow_schema(EVENTS, prefer_timestamp_ntz=True)

    def reader(self, schema: StructType) -> EvidenceReader:
        return EvidenceReader(self.options["plan"], tuple(json.loads(self.options.get("log_patterns", "[]"))), self.options.get("told", ""))


def balance(units: list[Unit], ways: int) -> list[list[Unit]]:
    """Units dealt to `ways` splits, largest first to the lightest, so that no task is left with the whole archive."""
    splits: list[list[Unit]] = [[] for _ in range(max(1, min(ways, len(units))))]
    weights = [0] * len(splits)
    for unit in sorted(units, key=lambda u: (-u.size, u.path, u.select or ())):
        lightest = weights.index(min(weights))
        splits[lightest].append(unit)
        weights[lightest] += unit.size
    return splits


def write_plan(splits: list[list[Unit]], directory: Path) -> Path:
    """The splits as a new file in `directory`, which only this user may read: a URI may hold secrets."""
    handle, name = tempfile.mkstemp(prefix="plan-", dir=directory)
    with open(handle, "w", encoding="utf-8") as file:
        file.writelines(f"{encode(split)}\n" for split in splits)
    return Path(name)


def encode(split: Iterable[Unit]) -> str:
    return b64encode(zlib.compress(pickle.dumps(list(split)), 1)).decode()


def decode(line: str) -> list[Unit]:
    units: list[Unit] = pickle.loads(zlib.decompress(b64decode(line)))
    return units
