"""What is used of pyspark and Spark that they do not promise to keep, each with what tells whether this version has it.

Here: the one list, of which docs/spark-interfaces.md and the tests are made, and the line a user reads where something is missing.
`python -m spark.interfaces` prints the document.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from typing import NamedTuple

from spark.java import strings_of_class


class Interface(NamedTuple):
    """One that a later version may take away."""

    name: str
    users: str
    use: str
    there: Callable[[Path], bool]
    """Whether Spark at this home has it; raises what it likes where not."""


def _parameter(of: Callable[..., object], name: str) -> bool:
    return name in signature(of).parameters


def _in_class(home: Path, jar: str, path: str, *wanted: str) -> bool:
    """Whether a class of one of Spark's jars holds these constants."""
    (found,) = (home / "jars").glob(f"{jar}_*.jar")
    with zipfile.ZipFile(found) as classes:
        return set(wanted) <= set(strings_of_class(classes.read(f"org/apache/spark/{path}.class")))


def _gateway_by_environment(home: Path) -> bool:
    from pyspark import java_gateway

    return {"PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"} <= set(java_gateway.launch_gateway.__code__.co_consts)


def _contexts(home: Path) -> bool:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    return _parameter(SparkConf, "_jvm") and _parameter(SparkContext, "gateway") and _parameter(SparkSession, "sparkContext")


def _pandas_check(home: Path) -> bool:
    from pyspark.sql.pandas import functions

    return "require_minimum_pandas_version" in vars(functions)


def _arrow_types(home: Path) -> bool:
    from pyspark.sql.pandas.types import from_arrow_schema

    return _parameter(from_arrow_schema, "prefer_timestamp_ntz")


def _py4j_modules(home: Path) -> bool:
    from py4j import clientserver, java_gateway

    return {clientserver.logger.name, java_gateway.logger.name} == {"py4j.clientserver", "py4j.java_gateway"}


INTERFACES = (
    Interface(
        "`org.apache.spark.launcher.JavaModuleOptions`: its string constants",
        "spark/java.py",
        "The options a JVM needs for Spark, without starting Spark's launcher.",
        lambda home: _in_class(home, "spark-launcher", "launcher/JavaModuleOptions", "--add-opens=java.base/java.nio=ALL-UNNAMED"),
    ),
    Interface(
        "`org.apache.spark.api.python.PythonGatewayServer`, and `_PYSPARK_DRIVER_CONN_INFO_PATH` in its environment",
        "spark/java.py",
        "The JVM that serves as Spark's driver is started without a shell and a second JVM, and says where it listens.",
        lambda home: _in_class(home, "spark-core", "api/python/PythonGatewayServer$", "_PYSPARK_DRIVER_CONN_INFO_PATH"),
    ),
    Interface(
        "`pyspark.java_gateway.launch_gateway` with `PYSPARK_GATEWAY_PORT` and `PYSPARK_GATEWAY_SECRET`",
        "spark/session.py",
        "pyspark connects to that JVM in place of starting its own.",
        _gateway_by_environment,
    ),
    Interface(
        "`SparkConf(_jvm=…)`, `SparkContext(gateway=…)`, `SparkSession(sparkContext)`",
        "spark/session.py",
        "The session is made in that JVM, with no settings but ours.",
        _contexts,
    ),
    Interface(
        "`pyspark.sql.pandas.functions.require_minimum_pandas_version`",
        "spark/session.py",
        "Taken out: mapInArrow and applyInArrow ask for pandas and do not use it.",
        _pandas_check,
    ),
    Interface(
        "`pyspark.sql.pandas.types.from_arrow_schema(…, prefer_timestamp_ntz=…)`",
        "spark/sorting.py",
        "Spark's schema of Arrow columns, with times that have no zone.",
        _arrow_types,
    ),
    Interface(
        "`spark.sql.execution.arrow.maxBytesPerBatch`",
        "spark/session.py",
        "Set so high that Spark does not weigh the whole batch at each row.",
        lambda home: _in_class(home, "spark-catalyst", "sql/internal/SQLConf$", "spark.sql.execution.arrow.maxBytesPerBatch"),
    ),
    Interface(
        "`spark.sql.artifact.isolation.enabled`",
        "spark/session.py",
        "Off: no directory for artifacts, and workers that are used again.",
        lambda home: _in_class(home, "spark-catalyst", "sql/internal/SQLConf$", "spark.sql.artifact.isolation.enabled"),
    ),
    Interface(
        "The loggers `py4j.java_gateway` and `py4j.clientserver`",
        "spark/session.py",
        "Kept quiet: they log, with a traceback, what they then raise.",
        _py4j_modules,
    ),
)


def lacking(home: Path) -> list[str]:
    """Names of those that Spark at this home does not have."""
    return [interface.name for interface in INTERFACES if not _there(interface, home)]


def _there(interface: Interface, home: Path) -> bool:
    try:
        return interface.there(home)
    except Exception:  # whatever another version does in its place
        return False


def document() -> str:
    """docs/spark-interfaces.md."""
    rows = "".join(f"| {i.name} | {i.users} | {i.use} |\n" for i in INTERFACES)
    return (
        "# What is used of Spark that it does not promise to keep\n\n"
        "Made by `python -m spark.interfaces`. tests/spark/test_interfaces.py says of each whether the pyspark that is installed\n"
        "has it, and a session that cannot start says which are missing. `make test-oldest` runs what needs Spark with the oldest pyspark that\n"
        "pyproject.toml claims, in an environment of its own.\n\n"
        "| interface | used in | for |\n|---|---|---|\n" + rows
    )


def missing(home: Path) -> str | None:
    """One line for a user whose pyspark lacks something."""
    names = lacking(home)
    return f"pyspark {version('pyspark')} lacks what is used of it: {'; '.join(names).replace('`', '')}" if names else None


if __name__ == "__main__":
    print(document(), end="")
