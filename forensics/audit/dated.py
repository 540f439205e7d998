"""A case's tables partitioned by day, as an audit keeps them, and a cluster of an audit opened as a case.

Here: the day of a row, the files of each day, and their rows in the order of the case. Not here: which files of an audit are committed
(audited), or the tables (tables).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypedDict

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from forensics.audit.layout import DAY_IN_PATH
from forensics.case.read import Case
from forensics.case.tables import BY_NAME, MANIFEST, TABLES, Table
from forensics.case.write import Writer
from parsers.containers.storage import regular
from parsers.schemas import documented

NEVER = "__HIVE_DEFAULT_PARTITION__"
"""The day of rows without a time, in Hive's spelling."""
FIRST = datetime(1970, 1, 1)
"""Earlier times are not days."""
ROWS = 4096
"""Bytes of a row group: many days are written at once."""
PLACE = documented("place", pa.int64(), "place among the rows of the cluster's table, from 0: the order that a case has them in")


class DayFile(TypedDict):
    date: str
    file: str
    rows: int


def parted(case: Path, to: Path, root: str) -> dict[str, list[DayFile]]:
    """The tables of a case as one file per day, by table and then by day. A file is named by its content. `root`: prefix that is removed
    from the case's paths."""
    lasts = pq.read_table(case / BY_NAME["sources"].file, columns=["last"])["last"]
    ends = pc.max(lasts).as_py() if len(lasts) else None
    of_case = ends.date().isoformat() if ends is not None and ends >= FIRST else NEVER
    of_findings = _days(pq.read_table(case / BY_NAME["finding_details"].file, columns=["start"])["start"])
    files: dict[str, list[DayFile]] = {}
    for table in TABLES:
        days = _Days(to, table)
        place = 0
        with pq.ParquetFile(case / table.file) as file:
            for batch in file.iter_batches(ROWS):
                rows = pa.Table.from_batches([batch])
                of_rows = _of_rows(table, rows, of_case, of_findings, root)
                days.add(rows.append_column(PLACE, pa.array(range(place, place + len(rows)), pa.int64())), of_rows)
                place += len(rows)
        files[table.name] = days.end()
    return files


class _Days:
    """The files of a table while they are written."""

    def __init__(self, to: Path, table: Table) -> None:
        self._to, self._table = to, table
        self._open: dict[str, Writer] = {}
        self._done: list[DayFile] = []

    def add(self, rows: pa.Table, days: pa.ChunkedArray) -> None:
        present = pc.unique(days).to_pylist()
        if self._table.day == "key":  # in order of time: a day that has ended does not occur again
            for day in self._open.keys() - {*present}:
                self._close(day)
        for day in present:
            if day not in self._open:
                self._open[day] = Writer(self._to, self._of(day), ROWS)
            self._open[day].add(rows.filter(pc.equal(days, day)))

    def end(self) -> list[DayFile]:
        for day in list(self._open):
            self._close(day)
        return sorted(self._done, key=lambda day: (day["date"] != NEVER, day["date"]))

    def _close(self, day: str) -> None:
        with self._open.pop(day) as writer:
            pass
        part = self._to / self._of(day).file
        name = f"{digest(part)[:32]}.parquet"
        part.rename(self._to / name)
        self._done.append({"date": day, "file": name, "rows": writer.rows})

    def _of(self, day: str) -> Table:
        return Table(f"{self._table.name}-{day}", self._table.doc, self._table.schema.append(PLACE))


def _of_rows(table: Table, rows: pa.Table, of_case: str, of_findings: pa.ChunkedArray, root: str) -> pa.ChunkedArray:
    if table.day is None:
        return pa.chunked_array([pa.array([of_case] * len(rows), pa.string())])
    if table.day == "finding":
        return of_findings.take(rows["finding"])
    days = _days(rows[table.day])
    if table.name != "sources":
        return days
    day = pc.extract_regex(pc.binary_join_element_wise(pa.scalar(root), rows["path"], ""), DAY_IN_PATH)
    named = pc.binary_join_element_wise(*(pc.struct_field(day, name) for name in ("year", "month", "day")), "-")
    return pc.coalesce(named, days)


def _days(times: pa.ChunkedArray) -> pa.ChunkedArray:
    known = pc.fill_null(pc.greater_equal(times, pa.scalar(FIRST, times.type)), False)
    return pc.fill_null(pc.strftime(pc.if_else(known, times, None), "%Y-%m-%d"), NEVER)


def is_intact(file: Path) -> bool:
    """Whether the file of a day has the content that it is named after."""
    try:
        return digest(file).startswith(file.stem)
    except OSError:
        return False


def digest(path: Path) -> str:
    """SHA-256 of a file. Raises OSError."""
    found = hashlib.sha256()
    with regular(path) as file:
        while data := file.read(1 << 20):
            found.update(data)
    return found.hexdigest()


class DatedCase(Case):
    """A cluster of an audit, opened as a case. `files`: the files of each table, relative to the directory, in the order of days."""

    added = (PLACE.name,)

    def __init__(
        self,
        directory: Path,
        manifest: dict[str, Any],
        files: Mapping[str, Sequence[DayFile]],
        *,
        with_records: bool,
        tolerant: bool = False,
    ) -> None:
        self._manifest, self._days_of, self.with_records = manifest, files, with_records
        super().__init__(directory, tolerant=tolerant)

    def _told(self) -> dict[str, Any]:
        return self._manifest

    def _check_tables(self) -> None:
        for table in self._tables():
            schema = table.schema.append(PLACE)
            with self._readable(MANIFEST):
                days = [(day["file"], day["rows"]) for day in self._days_of[table.name]]
            for file, rows in days:
                self._check(file, schema, rows)

    def _files(self, table: Table) -> Sequence[str]:
        return [day["file"] for day in self._days_of[table.name]]

    def table(self, name: str, columns: Sequence[str] | None = None, topic: str | None = None) -> pa.Table:
        if not self._days_of.get(name):
            return super().table(name, columns, topic)
        placed = super().table(name, None if columns is None else [*columns, PLACE.name], topic)
        return placed.sort_by(PLACE.name).drop_columns([PLACE.name])
