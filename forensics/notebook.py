"""The public Python interface: `forensics.analyze`, `open_case`, `register_source` and `Case`, for notebooks and programs.

Here: the functions, the class, and their errors. Not here: the work, which is that of the command `analyze --case`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forensics.case.read import Case
from forensics.case.tables import BY_NAME
from forensics.commands.evidence import Progress

if TYPE_CHECKING:
    import duckdb
    import polars
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from parsers.containers.units import Unit
    from spark.session import Starting

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
_own: list[Starting] = []
"""The session that was started here, for all later calls."""
_queried: list[OpenedCase] = []
"""Cases whose files DuckDB may still read, in a query that outlives the objects."""
SHOWN = 50
"""Findings that a notebook shows."""


class Unusable(ValueError):
    """Evidence, a case or an option cannot be used, or Spark did not start. The message is one line with the reason."""


def analyze(
    paths: Paths,
    spark: SparkSession | None = None,
    *,
    case: str | os.PathLike[str] | None = None,
    timezone: str | None = None,
    clock_offsets: Mapping[int, float] | None = None,
) -> OpenedCase:
    """Analyzes evidence of one cluster and returns the results as a case.

    `paths`: a directory, an archive, a file or a URI such as s3://bucket/key, or several of them, as for the command `analyze`.
    `spark`: the session to use. Its settings and views do not change. Default: the active session, or else a new one inside this process.
    `case`: a new directory in which the case is kept. Default: a temporary directory, removed when the returned object is no longer used.
    `timezone`: time zone of the log lines, for example "Europe/Berlin" or "+02:00". Default: an estimate for each broker.
    `clock_offsets`: seconds by which the clock of a broker is ahead (+) or behind (-), by broker id.

    Raises Unusable.
    """
    given = [os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    with _errors():
        if case is not None:
            return _kept(given, spark, Path(case), timezone, clock_offsets or {})
        temporary = tempfile.mkdtemp(prefix="kafka-forensics-")
        try:
            found = _kept(given, spark, Path(temporary) / "case", timezone, clock_offsets or {})
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        weakref.finalize(found, shutil.rmtree, temporary, ignore_errors=True)
        return found


class OpenedCase:
    """The results of an analysis, as tables. `directory`: where they are. Made by `analyze` and `open_case`."""

    def __init__(self, case: Case) -> None:
        if not isinstance(case, Case):
            raise Unusable(f"{str(case)!r}: open a case with forensics.open_case(PATH)")
        self._case = case
        self.directory = case.directory

    @property
    def verdict(self) -> Mapping[str, Any]:
        """`loss` ("found", "excluded" or "unknown"), `summary` (one line) and `partitions` (number of partitions by verdict)."""
        return self._case.verdict

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """The table with this name (docs/case.md), or some of its columns. Times are UTC. Raises KeyError for an unknown name, and Unusable
        if the table is damaged."""
        with _errors():
            return self._case.table(name, columns)

    def pandas(self, name: str, columns: Sequence[str] | None = None) -> Any:
        """The same as a DataFrame of pandas, which must be installed."""
        return self.table(name, columns).to_pandas()

    def polars(self, name: str, columns: Sequence[str] | None = None) -> polars.DataFrame:
        """The same as a DataFrame of polars, which must be installed."""
        import polars

        return polars.DataFrame(polars.from_arrow(self.table(name, columns)))

    def duckdb(self) -> duckdb.DuckDBPyConnection:
        """A connection to a new database in memory, with each table as a view: `case.duckdb().sql("SELECT * FROM findings")`. DuckDB must
        be installed."""
        import duckdb

        _queried.append(self)
        found = duckdb.connect()
        for name in BY_NAME:
            found.register(name, self._case.dataset(name))
        return found

    def __repr__(self) -> str:
        return f"<kafka-forensics case {str(self.directory)!r}: {self.verdict['summary']}>"

    def _repr_html_(self) -> str:
        """For notebooks: the verdict, and the findings, the most severe first."""
        from html import escape

        from forensics.output.sanitise import clean

        columns = ["severity", "confidence", "kind", "summary"]
        rows = list(dict.fromkeys(tuple(row.values()) for row in self.table("findings", columns).to_pylist()))
        shown = (f"<tr>{''.join(f'<td>{escape(clean(str(cell)))}</td>' for cell in row)}</tr>" for row in rows[:SHOWN])
        more = f"<p>and {len(rows) - SHOWN} more</p>" if len(rows) > SHOWN else ""
        head = "".join(f"<th>{column}</th>" for column in columns)
        return f"<p><b>{escape(clean(self.verdict['summary']))}</b></p><table><tr>{head}</tr>{''.join(shown)}</table>{more}"


def open_case(path: str | os.PathLike[str], cluster: str | None = None) -> OpenedCase:
    """The case in a directory that `analyze` made, or a cluster in the tables of an audit. Spark is not needed. Raises Unusable."""
    from forensics.audit.audited import Audit, is_audit

    directory = Path(path)
    with _errors():
        if is_audit(directory):
            audit = Audit(directory)
            if cluster is None:
                raise Unusable(f"{directory}: the audit has {len(audit.clusters)} clusters; choose one with cluster=NAME")
            return OpenedCase(audit.case(cluster))
        return OpenedCase(Case(directory))


def register_source(spark: SparkSession) -> None:
    """Registers the data source `kafka-evidence` in this session, and sends the modules that it needs to the workers:
    `spark.read.format("kafka-evidence").load(paths)` is a DataFrame of the events (docs/notebook.md)."""
    from spark.evidence_source import KafkaEvidence
    from spark.foreign_session import send_packages

    send_packages(spark)
    spark.dataSource.register(KafkaEvidence)


def _kept(
    paths: Sequence[str], spark: SparkSession | None, to: Path, timezone: str | None, clock_offsets: Mapping[int, float]
) -> OpenedCase:
    from forensics.case.read import is_case
    from forensics.case.write import check as check_target
    from forensics.commands import evidence
    from forensics.commands.inputs import EvidenceInput
    from forensics.commands.targets import check_temporary
    from parsers.containers.units import units

    if not paths:
        raise Unusable("no paths; give at least one directory, archive or file")
    if cases := [path for path in paths if is_case(Path(path))]:
        raise Unusable(f"{cases[0]}: this is a case already; open it with open_case")
    check_temporary()
    options = evidence.clocks(timezone, [f"{broker}={seconds}" for broker, seconds in clock_offsets.items()])
    evidence.check(paths)
    check_target(to, paths, force=False)
    planned = units(list(paths))
    with _session(spark, planned) as session:
        opened = evidence.read_units(session, paths, planned, options, _Quiet())
        try:
            EvidenceInput(opened).keep(to, _Quiet(), command=())
        finally:
            opened.events.unpersist()
    return OpenedCase(Case(to))


@contextmanager
def _session(given: SparkSession | None, units: Sequence[Unit]) -> Iterator[SparkSession]:
    from forensics.commands.evidence import started
    from spark.foreign_session import active, borrowed
    from spark.session import Starting

    if (running := given or (None if _own else active())) is not None:
        with borrowed(running) as session:
            yield session
        return
    starting = _own[0] if _own else Starting()
    session = started(starting, units)
    _own[:] = [starting]
    yield session


class _Quiet(Progress):
    """Prints nothing."""

    @contextmanager
    def stage(self, words: str) -> Iterator[None]:
        yield


@contextmanager
def _errors() -> Iterator[None]:
    """Raises the errors of the command line as Unusable."""
    from spark.java import JavaFailed, NoJava
    from spark.session import SparkRefused

    try:
        yield
    except click.ClickException as error:
        raise Unusable(error.format_message()) from error
    except (NoJava, JavaFailed, SparkRefused) as error:
        raise Unusable(str(error)) from error
