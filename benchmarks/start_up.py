"""How long from nothing to the first result of a small Spark job, for each way of starting Spark. Whole processes, in turn.

    python benchmarks/start_up.py [--rounds 5] [--java-home DIR]

Prints the median seconds of each way and the median of its ratios to Spark's own way (or, on a Java where that does not
start, to ours at its plainest), taken round by round, since a machine's speed drifts. The first use makes the archive of classes (a minute or two) in the user's cache.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from spark.engine.class_archive import SWITCH, archive_for
from spark.engine.java import find_java, python_path

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

WAYS = {
    "spark-submit": "Spark's own way: a shell, its launcher, the JVM; workers import pyspark from a zip",
    "direct": "the JVM started by session.start(small=False), no archive",
    "direct, light": "session.start(), no archive: the first run",
    "archive": "session.start(small=False) with the archive",
    "archive, light": "session.start() with the archive: every later run",
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--java-home", help="the Java to measure; the one that would be chosen if not given")
    arguments.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    asked = arguments.parse_args()
    if asked.way:
        job(session_by(asked.way))
    else:
        compare(asked.rounds, asked.java_home)


def compare(rounds: int, java_home: str | None) -> None:
    if java_home:
        os.environ["JAVA_HOME"] = java_home
    java = find_java()
    os.environ["JAVA_HOME"] = str(java.home)
    os.environ["PYTHONPATH"] = python_path()
    make_archive(java.home)
    taken: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way, seconds in taken.items():
            seconds.append(run(way))
    base = "spark-submit" if not math.isnan(sum(taken["spark-submit"])) else "direct"
    print(f"Java {java.version}, {os.cpu_count()} cores, {rounds} rounds, ratios to {base!r}")
    for way, seconds in taken.items():
        ratios = [own / other for own, other in zip(seconds, taken[base], strict=True)]
        print(f"{way:15} {statistics.median(seconds):6.2f} s  ratio {statistics.median(ratios):5.2f}  {WAYS[way]}")


def make_archive(home: Path) -> None:
    archive = archive_for(find_java())
    if archive is None:
        sys.exit(f"no archive can be made: {SWITCH} is off, or there is no cache directory")
    if not archive.path.exists():
        subprocess.run(
            [sys.executable, "-m", "spark.engine.training", str(home)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )


def run(way: str) -> float:
    """Seconds until the process is done; `nan` if it fails, as Spark's own way does on a Java without the vector module."""
    environment = dict(os.environ) if way.startswith("archive") else os.environ | {SWITCH: "off"}
    began = time.perf_counter()
    done = subprocess.run([sys.executable, __file__, "--way", way], check=False, env=environment, capture_output=True)
    return time.perf_counter() - began if done.returncode == 0 else float("nan")


def session_by(way: str) -> SparkSession:
    from spark.engine.session import _allow_arrow_alone, start

    if way != "spark-submit":
        return start(small="light" in way)
    from pyspark.sql import SparkSession

    _allow_arrow_alone()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return SparkSession.builder.master("local[*]").config("spark.sql.shuffle.partitions", os.cpu_count() or 1).getOrCreate()


def job(session: SparkSession) -> None:
    """A data source, a map, a shuffle by key with a function for each group, a sort: what the smallest analysis needs."""
    from spark.engine.training import SCHEMA, Rows

    session.dataSource.register(Rows)
    mapped = session.read.format(Rows.name()).load().mapInArrow(same, SCHEMA)
    counted = mapped.groupBy("partition").applyInArrow(count, "partition int, rows bigint").orderBy("partition").toArrow()
    if sum(counted["rows"].to_pylist()) != 64:
        sys.exit("wrong result")


def same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def count(key: tuple[pa.Scalar, ...], rows: pa.Table) -> pa.Table:
    import pyarrow as pa

    return pa.table({"partition": pa.array([key[0].as_py()], pa.int32()), "rows": pa.array([rows.num_rows], pa.int64())})


if __name__ == "__main__":
    main()
