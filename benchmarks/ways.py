"""Ways to read logs and to start Spark, each in a process of its own: `python -m benchmarks.ways WAY PATH...` prints its resource use.

The readers other than ours answer one question with one expression, QUERY: how many lines have each partition as their subject. Ours reads
all known lines. CPU seconds exclude imports, except for Spark, where the start is included.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

QUERY = r"([Ll]eader|[Ff]ollower|[Pp]artition)[ =]([A-Za-z0-9._-]+)-([0-9]+)"
"""In the syntax shared by Python, RE2, Rust and Java."""
NO_SEPARATOR = "\x01"
Groups = tuple[int, int]
"""The number of groups, and of their lines."""


def logs(paths: list[str]) -> list[str]:
    """The logs at or below the paths."""
    return [str(f) for path in map(Path, paths) for f in ([path] if path.is_file() else sorted(path.rglob("*.log*")))]


def columns(paths: list[str]) -> dict[str, Any]:
    from parsers import evidence
    from parsers.containers.units import Unit

    began = time.process_time()
    events = sum(batch.num_rows for path in paths for batch in evidence.events(Unit(path, None, os.path.getsize(path))))
    return {"cpu": time.process_time() - began, "events": events, "peak": _peak()}


def _peak() -> float:
    """The most MiB of this process. The kernel's ru_maxrss may be that of the process that started it."""
    (kilobytes,) = re.findall(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(kilobytes) / 1024


def rows(paths: list[str]) -> dict[str, Any]:
    from parsers import evidence
    from parsers.catalogue.log_file import read_log

    vars(evidence)["read_log_by_columns"] = read_log
    return columns(paths)


def loop(paths: list[str]) -> dict[str, Any]:
    query = re.compile(QUERY)
    began = time.process_time()
    counts: Counter[tuple[str, ...]] = Counter()
    for path in logs(paths):
        with open(path, encoding="utf-8", errors="replace", newline="\n") as lines:
            for line in lines:
                if match := query.search(line):
                    counts[match.groups()] += 1
    return {"cpu": time.process_time() - began, "groups": (len(counts), counts.total())}


def of_duckdb(paths: list[str]) -> dict[str, Any]:
    import duckdb

    database = duckdb.connect()
    database.execute("SET threads = 1")
    began = time.process_time()
    counted = database.execute(
        f"""
        SELECT count(*), sum(lines) FROM (
            SELECT found.what, found.topic, found.partition, count(*) AS lines
            FROM (SELECT regexp_extract(line, '{QUERY}', ['what', 'topic', 'partition']) AS found FROM read_csv(
                {logs(paths)}, columns = {{'line': 'VARCHAR'}}, delim = '{NO_SEPARATOR}', quote = '', escape = '', header = false,
                auto_detect = false, null_padding = true, strict_mode = false, max_line_size = 10000000
            ))
            WHERE found.partition <> '' GROUP BY ALL
        )"""
    ).fetchone()
    return {"cpu": time.process_time() - began, "groups": counted}


def of_polars(paths: list[str]) -> dict[str, Any]:
    os.environ["POLARS_MAX_THREADS"] = "1"
    import polars as pl

    began = time.process_time()
    lines = pl.scan_csv(
        logs(paths), has_header=False, separator=NO_SEPARATOR, quote_char=None, schema={"line": pl.String}, encoding="utf8-lossy"
    )
    groups = lines.select(pl.col("line").str.extract_groups(QUERY).alias("found")).unnest("found")
    counted = groups.drop_nulls().group_by(pl.all()).len().select(pl.len().alias("groups"), pl.col("len").sum()).collect()
    return {"cpu": time.process_time() - began, "groups": counted.row(0)}


def spark_text(paths: list[str]) -> None:
    """As installed by pip: without settings."""
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F

    session = SparkSession.builder.master("local[*]").getOrCreate()
    lines = session.read.text(logs(paths))
    groups = lines.select(*(F.regexp_extract("value", QUERY, group).alias(f"g{group}") for group in (1, 2, 3)))
    groups.where("g3 <> ''").groupBy("g1", "g2", "g3").count().collect()


def spark_bare(paths: list[str]) -> None:
    from pyspark.sql import SparkSession

    SparkSession.builder.master("local[*]").getOrCreate().range(100).count()


# the smallest job, on Spark sessions started in different ways


def spark_submit(paths: list[str]) -> None:
    """Spark's own way: a shell, its launcher, the JVM."""
    from pyspark.sql import SparkSession

    from spark.session import allow_arrow_alone

    allow_arrow_alone()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    _job(SparkSession.builder.master("local[*]").config("spark.sql.shuffle.partitions", os.cpu_count() or 1).getOrCreate())


def ours(paths: list[str]) -> None:
    from spark.session import start

    _job(start())


def ours_for_long(paths: list[str]) -> None:
    """With all of Java's compilers."""
    from spark.session import start

    _job(start(small=False))


def _job(session: SparkSession) -> None:
    """A data source, a map, a shuffle by key with a function for each group, a sort: what the smallest analysis needs."""
    from spark.training import SCHEMA, TrainingRows

    session.dataSource.register(TrainingRows)
    mapped = session.read.format(TrainingRows.name()).load().mapInArrow(_same, SCHEMA)
    counted = mapped.groupBy("partition").applyInArrow(_count, "partition int, rows bigint").orderBy("partition").toArrow()
    if sum(counted["rows"].to_pylist()) != 64:
        sys.exit("wrong result")


def _same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def _count(key: tuple[pa.Scalar, ...], rows: pa.Table) -> pa.Table:
    import pyarrow as pa

    return pa.table({"partition": pa.array([key[0].as_py()], pa.int32()), "rows": pa.array([rows.num_rows], pa.int64())})


WAYS: dict[str, Callable[[list[str]], dict[str, Any] | None]] = {
    "columns": columns,
    "rows": rows,
    "loop": loop,
    "duckdb": of_duckdb,
    "polars": of_polars,
    "spark-text": spark_text,
    "spark-bare": spark_bare,
    "spark-submit": spark_submit,
    "ours": ours,
    "ours-for-long": ours_for_long,
}

if __name__ == "__main__":
    if told := WAYS[sys.argv[1]](sys.argv[2:]):
        print(json.dumps(told))
