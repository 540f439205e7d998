"""Internal interfaces of pyspark and Spark that this tool uses, each with a check whether the installed version has it.

Spark may change these interfaces in any version. Here: the list, from which docs/spark-interfaces.md and the tests are made, and the error
message for an interface that is missing. `python -m spark.interfaces` prints the document.
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
    """An internal interface of pyspark or Spark, which a later version may remove."""

    name: str
    users: str
    """The files that use the interface."""
    use: str
    """The purpose, as a sentence."""
    there: Callable[[Path], bool]
    """Whether the Spark in this home directory has the interface. May also raise if not."""


def _parameter(of: Callable[..., object], name: str) -> bool:
    return name in signature(of).parameters


def _in_class(home: Path, jar: str, path: str, *wanted: str) -> bool:
    """Whether a class in the jar has these string constants."""
    (file,) = (home / "jars").glob(f"{jar}[_-][0-9]*.jar")
    with zipfile.ZipFile(file) as classes:
        return set(wanted) <= set(strings_of_class(classes.read(f"org/apache/{path}.class")))


def _gateway_by_environment(home: Path) -> bool:
    from pyspark import java_gateway

    return {"PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"} <= set(java_gateway.launch_gateway.__code__.co_consts)


def _launching(home: Path) -> bool:
    from pyspark import java_gateway

    return _parameter(java_gateway.launch_gateway, "popen_kwargs")


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


def _pickling(home: Path) -> bool:
    from pyspark import util
    from pyspark.core import broadcast

    return all("print_exec" in vars(module) for module in (util, broadcast))


INTERFACES = (
    Interface(
        "`org.apache.spark.launcher.JavaModuleOptions`: its string constants",
        "spark/java.py",
        "Gives the JVM options that Spark requires, without starting Spark's launcher.",
        lambda home: _in_class(home, "spark-launcher", "spark/launcher/JavaModuleOptions", "--add-opens=java.base/java.nio=ALL-UNNAMED"),
    ),
    Interface(
        "`org.apache.spark.api.python.PythonGatewayServer`, and `_PYSPARK_DRIVER_CONN_INFO_PATH` in its environment",
        "spark/java.py",
        "Starts Spark's driver without a shell and a second JVM, and gives the port on which the driver listens.",
        lambda home: _in_class(home, "spark-core", "spark/api/python/PythonGatewayServer$", "_PYSPARK_DRIVER_CONN_INFO_PATH"),
    ),
    Interface(
        "`pyspark.java_gateway.launch_gateway` with `PYSPARK_GATEWAY_PORT` and `PYSPARK_GATEWAY_SECRET`",
        "spark/session.py",
        "Connects pyspark to that JVM. Otherwise pyspark would start a JVM itself.",
        _gateway_by_environment,
    ),
    Interface(
        "`pyspark.java_gateway.launch_gateway(…, popen_kwargs=…)`",
        "spark/session.py",
        "Sends what the JVM of a cluster's driver prints to a file, and starts it outside of the working directory.",
        _launching,
    ),
    Interface(
        "`SparkConf(_jvm=…)`, `SparkContext(gateway=…)`, `SparkSession(sparkContext)`",
        "spark/session.py",
        "Creates the session in that JVM, with only the settings of this tool.",
        _contexts,
    ),
    Interface(
        "`org.apache.hadoop.security.UserGroupInformation.setLoginUser`",
        "spark/session.py",
        "Gives Hadoop the name of a user whose id has none in the system.",
        lambda home: _in_class(home, "hadoop-client-api", "hadoop/security/UserGroupInformation", "setLoginUser", "createRemoteUser"),
    ),
    Interface(
        "`pyspark.sql.pandas.functions.require_minimum_pandas_version`",
        "spark/session.py",
        "Replaced: mapInArrow and applyInArrow require pandas but do not use it.",
        _pandas_check,
    ),
    Interface(
        "`pyspark.sql.pandas.types.from_arrow_schema(…, prefer_timestamp_ntz=…)`",
        "spark/sorting.py",
        "Gives Spark's schema for Arrow columns with times without a time zone.",
        _arrow_types,
    ),
    Interface(
        "`spark.sql.execution.arrow.maxBytesPerBatch`",
        "spark/session.py",
        "Set to its maximum. With a lower limit, Spark computes the size of the batch again at each row.",
        lambda home: _in_class(home, "spark-catalyst", "spark/sql/internal/SQLConf$", "spark.sql.execution.arrow.maxBytesPerBatch"),
    ),
    Interface(
        "`spark.sql.artifact.isolation.enabled`",
        "spark/session.py",
        "Switched off, so that Spark makes no directory for artifacts and reuses its Python workers.",
        lambda home: _in_class(home, "spark-catalyst", "spark/sql/internal/SQLConf$", "spark.sql.artifact.isolation.enabled"),
    ),
    Interface(
        "`print_exec` in `pyspark.util` and `pyspark.core.broadcast`",
        "spark/session.py",
        "Replaced: both print a traceback of each error in pickling, before they raise it.",
        _pickling,
    ),
    Interface(
        "The loggers `py4j.java_gateway` and `py4j.clientserver`",
        "spark/session.py",
        "Suppressed: these loggers print a traceback of each error before py4j raises it.",
        _py4j_modules,
    ),
)


def lacking(home: Path) -> list[str]:
    """Names of the interfaces that the Spark in this home directory does not have."""
    return [interface.name for interface in INTERFACES if not _there(interface, home)]


def _there(interface: Interface, home: Path) -> bool:
    try:
        return interface.there(home)
    except Exception:  # another version may fail in any way
        return False


def document() -> str:
    """The text of docs/spark-interfaces.md."""
    rows = "".join(f"| {i.name} | {i.users} | {i.use} |\n" for i in INTERFACES)
    return (
        "# Internal interfaces of Spark\n\n"
        "The tool uses these interfaces, which Spark may change in any version. `python -m spark.interfaces` writes this page.\n"
        "tests/spark/test_interfaces.py checks that the installed pyspark has each interface. A session that cannot start reports the missing\n"
        "interfaces. `make test-oldest` runs the tests that need Spark with the oldest pyspark that pyproject.toml allows, in a separate\n"
        "environment.\n\n"
        "| interface | used in | for |\n|---|---|---|\n" + rows
    )


def missing(home: Path) -> str | None:
    """The error message if the installed pyspark lacks interfaces, otherwise None."""
    names = lacking(home)
    return f"pyspark {version('pyspark')} lacks interfaces that this tool uses: {'; '.join(names).replace('`', '')}" if names else None


if __name__ == "__main__":
    print(document(), end="")
