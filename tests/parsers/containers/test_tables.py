"""Columnar files give the events that the same rows give as JSON lines."""

from __future__ import annotations

import json
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import orc, parquet

from tests.support.local import events_of
from tests.support.shapes import HEAD, bundle, records

FILES = bundle("unclean-election-2.8.2-zk")
OF_PLACE = ("source", "byte", "text", "collected", "log_end_offset")


def rows() -> list[dict[str, Any]]:
    """Each record with its time, its pod and its file, as a collector stores them."""
    found = []
    for path, file in FILES.items():
        if "/logs/" in path:
            for record in map(bytes.decode, records(file.content)):
                at = datetime.strptime(record[1:24], "%Y-%m-%d %H:%M:%S,%f") if HEAD.match(record.encode()) else None
                found.append({"@timestamp": at, "pod": path.split("/")[0], "file": path.rsplit("/", 1)[1], "message": record.rstrip("\n")})
    return found


def written(form: str) -> bytes:
    table, out = pa.Table.from_pylist(rows()), BytesIO()
    if form == "parquet":
        parquet.write_table(table, out, row_group_size=1000)
    elif form == "arrow":
        with pa.ipc.new_file(out, table.schema) as file:
            file.write_table(table, max_chunksize=1000)
    else:
        orc.write_table(table, out)
    return out.getvalue()


def facts(path: Path) -> list[dict[str, Any]]:
    read = [row for row in events_of(path).to_pylist() if row["event"] not in ("source", "archive")]
    assert all(row["event"] != "problem" for row in read)
    return [{name: value for name, value in row.items() if name not in OF_PLACE} for row in read]


@pytest.mark.parametrize("form", ["parquet", "arrow", "orc"])
def test_rows_of_a_table_are_those_of_json_lines(form: str, tmp_path: Path) -> None:
    lines = tmp_path / "json" / "logs.json"
    table = tmp_path / form / "logs.json"
    for path, content in ((lines, "\n".join(json.dumps(row, default=str) for row in rows()).encode()), (table, written(form))):
        path.parent.mkdir()
        path.write_bytes(content)
    assert len(facts(lines)) > 500
    assert facts(table) == facts(lines)


@pytest.mark.parametrize("form", ["parquet", "arrow", "orc"])
@pytest.mark.parametrize("left", [0.2, 0.7, 0.99])
def test_a_table_that_is_cut_off_is_named(form: str, left: float, tmp_path: Path) -> None:
    content = written(form)
    (tmp_path / "logs.bin").write_bytes(content[: int(len(content) * left)])
    read = events_of(tmp_path / "logs.bin").to_pylist()
    assert [row["collected"]["problem"] for row in read if row["event"] == "source" and form in (row["collected"]["problem"] or "")]


def test_a_table_of_a_case_is_not_evidence(tmp_path: Path) -> None:
    schema = pa.schema([pa.field("text", pa.string(), metadata={"doc": "the line"})])
    parquet.write_table(pa.table([[row["message"] for row in rows()]], schema=schema), tmp_path / "quotes.parquet")
    read = events_of(tmp_path / "quotes.parquet").to_pylist()
    assert {row["event"] for row in read} <= {"source", "problem", "archive"}
    assert any("not evidence" in (row["collected"] or {}).get("problem", "") for row in read if row["event"] == "source")
