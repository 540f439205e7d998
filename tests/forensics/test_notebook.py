"""The Python interface: the same case as the command makes, in a session of the caller, and the examples of docs/notebook.md."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import forensics
from forensics.case.run import RUN, read_run
from forensics.case.tables import BY_NAME
from tests.conftest import Done
from tests.support import recorded
from tests.support.paths import BUNDLES, ROOT

BUNDLE = BUNDLES / "unclean-election-3.9.1-kraft.tar.gz"
PAGE = (ROOT / "docs" / "notebook.md").read_text("utf-8")
EXAMPLES = re.findall(r"(?s)## ([^\n]+)\n\n```python\n(.*?)```", PAGE)


def files(directory: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in directory.iterdir() if file.name != RUN}


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with the evidence in it."""
    (tmp_path / "incident.tar.gz").symlink_to(BUNDLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_same_case_as_the_command(session: SparkSession, called: Callable[..., Done], there: Path) -> None:
    before = dict(session.conf.getAll)
    case = forensics.analyze("incident.tar.gz", session, case=there / "own", timezone="UTC", clock_offsets={1: 0.5})
    done = called("analyze", "incident.tar.gz", "--case", "other", "--timezone", "UTC", "--clock-offset", "1=0.5", cwd=there)
    assert done.returncode == 0, done.stderr
    assert files(there / "own") == files(there / "other")
    assert dict(session.conf.getAll) == before
    assert read_run(there / "own")["command"] == []
    for name, table in BY_NAME.items():
        assert isinstance(found := case.table(name), pa.Table)
        assert len(found.column_names) == len(table.schema)
    with pytest.raises(KeyError, match=r"no table 'finding' \(tables: sources, "):
        case.table("finding")
    assert case.verdict["loss"] == "found"
    assert forensics.open_case(there / "own").verdict == case.verdict


def test_a_temporary_case_is_removed_with_its_object(session: SparkSession, there: Path) -> None:
    case = forensics.analyze(there / "incident.tar.gz", session)
    directory = case.directory
    assert case.table("findings", ["kind"]).column_names == ["kind"]
    del case
    gc.collect()
    assert not directory.parent.exists()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: forensics.analyze([]), "no paths"),
        (lambda: forensics.analyze("missing.tar.gz"), "missing.tar.gz: "),
        (lambda: forensics.analyze("incident.tar.gz", timezone="Mars"), "'Mars' is not a time zone"),
        (lambda: forensics.open_case("incident.tar.gz"), "incident.tar.gz"),
        (lambda: forensics.Case("a.case"), "'a.case': open a case with forensics.open_case(PATH)"),  # type: ignore[arg-type]
    ],
    ids=["no path", "missing", "time zone", "not a case", "a path"],
)
def test_errors_are_one_line(session: SparkSession, there: Path, call: Callable[[], Any], words: str) -> None:
    with pytest.raises(forensics.Unusable, match=r"^[^\n]+$") as found:
        call()
    assert words in str(found.value)


def test_the_data_source_gives_all_events(session: SparkSession, there: Path) -> None:
    forensics.register_source(session)
    source = session.read.format("kafka-evidence")
    rows = source.option("tasks", "3").load([str(BUNDLE)]).select("source", "line", "byte", "event").toArrow()
    events = recorded.events("unclean-election-3.9.1-kraft").select(["source", "line", "byte", "event"])
    order = [(name, "ascending") for name in events.column_names]
    assert rows.sort_by(order).cast(events.schema).equals(events.sort_by(order))
    some = source.option("columns", "event,topic").option("events", "source, config").load(str(BUNDLE)).toArrow()
    assert some.column_names == ["event", "topic"]
    assert set(some["event"].to_pylist()) == {"source", "config"}
    for load in (lambda: source.load("missing.tar.gz"), lambda: source.option("columns", "offsets").load(str(BUNDLE))):
        with pytest.raises(AnalysisException, match=r"kafka-evidence: (missing.tar.gz: |unknown column 'offsets')"):
            load().collect()


@pytest.mark.parametrize(("title", "code"), EXAMPLES, ids=[title for title, _ in EXAMPLES])
def test_examples_of_the_page(
    session: SparkSession, there: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, title: str, code: str
) -> None:
    if "duckdb" in code:
        pytest.importorskip("duckdb")
    monkeypatch.setattr(SparkSession, "getActiveSession", classmethod(lambda cls: session))
    exec(compile(code, title, "exec"), {})  # noqa: S102 - our own page
    assert "found" in capsys.readouterr().out or title != EXAMPLES[0][0]
