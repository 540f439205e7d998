"""The tables of a report, as those of a case: as Parquet files, or the flat ones as CSV.

Here: which rows, and the atomic creation of their directory. Not here: columns (forensics.case.tables), or a case.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from forensics.case.read import Case
from forensics.case.tables import BY_NAME, TABLES, Table
from forensics.case.write import CaseRefused, Writer, finding_rows, of_report, outside
from forensics.incidents.judging import STANDING
from forensics.model.message import timestamp
from forensics.output.files import whole_directory
from forensics.output.sanitise import clean
from forensics.views.document import Report

CSV = {"findings.csv": "findings", "partitions.csv": "partitions", "timeline.csv": "steps"}
"""The files of CSV, and the table of each."""
OF_PROGRAMS = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would run as a formula: text of a log must not."""


class WithCase(Protocol):
    """What the tables are read from: forensics.commands.inputs.CaseInput."""

    case: Case


def check(directory: Path, evidence: Iterable[str]) -> None:
    """Raises Refused if the tables cannot be written here; existing tables are replaced, anything else never."""
    outside(directory, evidence)
    own = {*CSV, *(table.file for table in TABLES)}
    if directory.exists() and not (directory.is_dir() and {p.name for p in directory.iterdir()} <= own):
        raise CaseRefused(f"{directory}: the directory has other files than such tables; give a new or an empty one")


def write(report: Report, directory: Path, source: WithCase) -> None:
    """All tables, restricted to the partitions of the report's scope."""
    with whole_directory(directory, replace=True) as to:
        tables = of_report(report.cluster, report.findings, report.incidents)
        for table in TABLES:
            with Writer(to, table) as writer:
                for rows in _rows(table, tables, report, source.case):
                    writer.add(rows)


def write_csv(report: Report, directory: Path, source: WithCase) -> None:
    """Findings, verdicts and steps, restricted in the same way."""
    with whole_directory(directory, replace=True) as to:
        tables = of_report(report.cluster, report.findings, report.incidents)
        for name, of in CSV.items():
            table = BY_NAME[of]
            columns = [name for name in _flat(table) if of != "partitions" or name in (*KEY, *STANDING.names)]
            with (to / name).open("w", encoding="utf-8", newline="") as file:
                rows = (row for some in _rows(table, tables, report, source.case) for row in some.select(columns).to_pylist())
                file.writelines(csv_lines(columns, rows))


def findings_csv(report: Report) -> Iterator[str]:
    """The table of findings, a row for each place."""
    return csv_lines(_flat(BY_NAME["findings"]), finding_rows(report.findings))


def _flat(table: Table) -> list[str]:
    return [f.name for f in table.schema if not _nested(f.type)]


def csv_lines(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The head and the rows of a CSV file: cells that a spreadsheet would take for a formula are quoted."""
    for cells in chain([columns], ([_cell(row[name]) for name in columns] for row in rows)):
        line = io.StringIO(newline="")
        csv.writer(line, lineterminator="\n").writerow(cells)
        yield line.getvalue()


KEY = ("topic", "partition")


def _rows(table: Table, tables: dict[str, pa.Table], report: Report, case: Case) -> Iterator[pa.Table]:
    if table.name in tables:
        yield tables[table.name]
        return
    selection = report.scope.selection if report.scope is not None else None
    for batch in case.batches(table.name, table.schema.names):
        rows = pa.Table.from_batches([batch])
        if selection is not None and selection.by_partition and {*KEY} <= {*table.schema.names}:
            if selection.topics:
                rows = rows.filter(pc.is_in(rows["topic"], pa.array(selection.topics, pa.string())))
            if selection.partitions:
                rows = rows.filter(pc.is_in(rows["partition"], pa.array(selection.partitions, pa.int32())))
        yield rows


def _nested(kind: pa.DataType) -> bool:
    return pa.types.is_struct(kind) or (pa.types.is_list(kind) and _nested(kind.value_type))


def _cell(value: Any) -> Any:
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, list):
        return " ".join(map(str, value))
    if not isinstance(value, str):
        return value
    return f"'{clean(value)}" if value.startswith(OF_PROGRAMS) else clean(value)
