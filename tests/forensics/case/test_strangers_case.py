"""A case that a stranger made: whatever is in it, a command says which file is wrong and what, and ends with exit code 2."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from forensics.case import files
from forensics.cli import cli
from tests.forensics.case.test_case import make
from tests.support import recorded


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("cases") / "a.case"
    make(directory, recorded.events("unclean-election-4.3.0-kraft"))
    return directory


@pytest.fixture
def case(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "b.case")


def refused(*words: str | Path) -> str:
    """What the command says."""
    result = CliRunner().invoke(cli, list(map(str, words)))
    assert result.exit_code == 2, result.output
    return result.stderr


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def outside(path: Path) -> None:
    path.rename(path.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent / "elsewhere")


@pytest.mark.parametrize("replace", [pipe, device, outside])
def test_only_regular_files_of_the_case_are_opened(case: Path, replace: Callable[[Path], None]) -> None:
    replace(case / "findings.parquet")
    assert "findings.parquet" in refused("report", case)
    replace(case / "case.json")
    assert "this is not a case" in refused("report", case)


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 100_000, "null", "[]", "{", ""])
def test_a_document_of_another_form_is_no_case(case: Path, text: str) -> None:
    (case / "case.json").write_text(text)
    assert "this is not a case" in refused("report", case)


ODD: dict[str, Any] = {
    "evidence": None,
    "evidence.paths": [1],
    "evidence.root": {},
    "options": [],
    "options.zone_offset_ms": 10**12,
    "options.zone_name": "No/Where",
    "options.clock_offsets_ms": {"one": 1},
    "options.limits": {"stream": "much"},
    "options.patterns": [{}],
    "verdict.loss": "perhaps",
    "verdict.partitions": {"lost": -1},
    "tables.quotes": {"rows": True},
    "tables.facts": None,
    "tool": "me",
    "tool.command": None,
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_manifest_is_named_with_its_place(case: Path, name: str) -> None:
    shown = json.loads((case / "case.json").read_text())
    *above, last = name.split(".")
    at = shown
    for step in above:
        at = at[step]
    at[last] = ODD[name]
    (case / "case.json").write_text(json.dumps(shown))
    said = refused("report", case)
    assert str(case / "case.json") in said and (name in said or "No/Where" in said)


def rewritten(file: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    pq.write_table(change(pq.read_table(file)), file)


def test_tables_with_other_columns_or_rows_are_named(case: Path) -> None:
    rewritten(case / "steps.parquet", lambda rows: rows.drop_columns(["topic"]))
    assert "steps.parquet: the columns are those of version" in refused("report", case)
    (case / "steps.parquet").write_bytes(b"PAR1" * 10)
    assert "steps.parquet: damaged" in refused("report", case)


@pytest.mark.parametrize(("table", "column"), [("facts", "source"), ("facts", "event")])
def test_rows_that_no_run_writes_are_no_defect(case: Path, table: str, column: str) -> None:
    def without(rows: pa.Table) -> pa.Table:
        at = rows.schema.get_field_index(column)
        return rows.set_column(at, rows.schema.field(at), pa.nulls(len(rows), rows.schema.field(at).type))

    rewritten(case / f"{table}.parquet", without)
    assert f"{case}: damaged, or not made by this tool" in refused("report", case)


def test_bombs_are_not_unpacked(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "VALUES", 1000)
    monkeypatch.setattr(files, "VALUES_OF_BYTE", 0)
    assert "taken for a decompression bomb" in refused("report", case)


def test_findings_have_few_quotes(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = json.loads((case / "case.json").read_text())
    shown["tables"]["quotes"]["rows"] *= 100
    (case / "case.json").write_text(json.dumps(shown))
    rewritten(case / "quotes.parquet", lambda rows: pa.concat_tables([rows] * 100))
    monkeypatch.setattr("forensics.case.read.FREE_QUOTES", 0)
    assert "quotes for" in refused("report", case)


def test_a_pipe_is_no_file_of_patterns(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is not a regular file" in refused("inspect", tmp_path, "--patterns", tmp_path / "pipe")
