"""A case: what every command says of it is what it says of the evidence; it is whole or not there; nothing of Spark is needed to read it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from forensics.case import write as writing
from forensics.case.judge import ROW, judge
from forensics.case.read import Case
from forensics.case.run import RUN, public
from forensics.case.tables import TABLES
from forensics.case.write import CaseRefused, Origin, check, write
from forensics.cli import cli
from forensics.commands.inputs import CaseInput
from forensics.incidents.judging import OF_REPORT, with_facts
from forensics.model.clock.node_clocks import Options
from forensics.model.cluster import final_state
from forensics.model.timelines import judged
from forensics.output.files import whole_directory
from forensics.tools import checkpoint_diff
from forensics.views.document import Report
from forensics.views.story.assembly import PROVEN, proven
from forensics.views.story.step import STORY, Wanted, in_order
from spark import sorting
from tests.bundles.test_bundles import BUNDLES
from tests.conftest import Done
from tests.support import local, recorded
from tests.support.local import story_rows
from tests.support.paths import ROOT
from tests.support.schemas import of_rows

BUNDLE = BUNDLES / "acks1-failover-zones-2.5.1-zk.tar.gz"
KEPT = (("zombie-leader-3.9.1-kraft", 40), ("wiped-everything-3.9.1-kraft", 40), ("shared-log-2.8.2-zk", writing.ROWS))
"""Bundles, and rows of a row group: size changes nothing."""
STORIES = (Wanted(), Wanted(everything=True))


def make(directory: Path, events: pa.Table) -> Case:
    """A case made in this process, without the records of logs."""
    cluster, resolver = local.gathered(events)
    origin = Origin(["evidence"], ["analyze", "evidence"], Options(), [])
    rows = judged(local.identified(events, resolver, cluster), cluster, judge(cluster), ROW)
    with whole_directory(directory) as to:
        write(to, origin, local.of_cluster(events), cluster, resolver, rows, [])
    return Case(directory)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("cases") / "a.case"
    make(directory, recorded.events("zombie-leader-3.9.1-kraft"))
    return directory


def of(directory: Path) -> dict[str, bytes]:
    """All that was found: not who made it, and when."""
    return {file.name: file.read_bytes() for file in directory.iterdir() if file.name != RUN}


# the same words


COMMANDS: Sequence[Sequence[str]] = (
    ("analyze",),
    ("inspect",),
    ("timeline", "--topic", "clicks", "--partition", "0"),
    ("checkpoints",),
    ("plan",),
    ("merge", "--topic", "clicks"),
)
DRAWN = {"analyze", "report"}


def _without_commands(shown: str) -> str:
    """Without what the first screen gives to type next: it names the evidence, or the case."""
    return re.sub(r"(?m)^( +\d+ more steps?, )?.*kafka-forensics (?:analyze|report|timeline)\b.*\n(?:  +\S.*\n)*", "", shown)


def test_every_command_says_of_a_case_what_it_says_of_the_evidence(tmp_path: Path, called: Callable[..., Done]) -> None:
    def stated(path: Path, words: Sequence[str], file: Path) -> tuple[int, str, list[str], str]:
        page = file.with_suffix(".html")
        drawn = ("--html", page) if words[0] in DRAWN else ()
        done = called(words[0], path, *words[1:], "--json", file, *drawn, cwd=tmp_path)
        said = [line for line in done.stderr.splitlines() if not line.endswith("...") and not line.startswith("Wrote ")]
        return done.returncode, _without_commands(done.stdout), said, "".join(made.read_text() for made in (file, page) if made.exists())

    directory = tmp_path / "a.case"
    wanted = ("--json", tmp_path / "made.json", "--html", tmp_path / "made.html")
    made = called("analyze", BUNDLE, "--case", directory, *wanted, cwd=tmp_path)
    for n, words in enumerate(COMMANDS):
        there = stated(BUNDLE, words, tmp_path / f"{n}-evidence.json")
        assert stated(directory, words, tmp_path / f"{n}-case.json") == there, words
        assert there[0] == 0 and there[1] + there[3], words
        if words == ("analyze",):
            assert (_without_commands(made.stdout), "".join((tmp_path / f"made.{kind}").read_text() for kind in ("json", "html"))) == (
                there[1],
                there[3],
            )
            assert stated(directory, ("report",), tmp_path / "report.json") == there


@pytest.mark.parametrize(("name", "rows"), KEPT)
def test_what_comes_back_is_what_was_kept(name: str, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "ROWS", rows)
    events = recorded.events(name)
    there = local.report(events)
    found = CaseInput(make(tmp_path / "a.case", events))
    claimed = found.conclusion(None)
    here = Report(found.cluster, claimed.findings, with_facts(claimed.partitions, OF_REPORT), claimed.incidents)
    assert here.document() == there.document()
    assert list(claimed.findings) == list(there.findings)
    assert [p["handovers"] for p in claimed.partitions] == [p["handovers"] for p in there.partitions]
    anew = found.conclusion(lambda topic, partition: True)
    assert (list(anew.findings), list(anew.incidents)) == (list(there.findings), list(there.incidents))
    pairs = list(local.timelines(events))
    assert found.case.standing() == through([r for t, c in pairs for r in final_state.standing(t, c)], final_state.SCHEMA)
    compare = checkpoint_diff.comparison(there.cluster)
    assert found.compared((), (), None, everything=False) == through([r for t, c in pairs for r in compare(t, c)], checkpoint_diff.SCHEMA)
    assert found.partitions() == {(t.topic, t.partition) for t, _ in pairs}
    for topic, partition in found.partitions():
        own = [(t, c) for t, c in pairs if (t.topic, t.partition) == (topic, partition)]
        proofs = [r["proof"] for t, c in own for r in through(list(proven(t, c, Wanted())), PROVEN) if r["proof"] is not None]
        assert found.case.proof(topic, partition) == next(iter(proofs), None)
        for wanted in (*STORIES, *(replace(w, since=t.events[len(t.events) // 2].at) for w in STORIES for t, _ in own if t.events)):
            story = in_order(dict(r) for t, c in own for r in story_rows(t, c, wanted))
            assert through(found.story(topic, partition, wanted), STORY) == through(story, STORY)


def test_a_case_has_no_facts_of_files_that_were_set_aside(case: Path, tmp_path: Path) -> None:
    sample = "process.roles=broker,controller\nnode.id=77\nlog.dirs=/tmp/kraft-combined-logs\n"
    events = recorded.events("zombie-leader-3.9.1-kraft")
    other = local.events_of_files({"config/kraft/server.properties": sample})
    make(tmp_path / "a.case", pa.concat_tables([events, other]))
    assert pq.read_table(tmp_path / "a.case" / "facts.parquet").equals(pq.read_table(case / "facts.parquet"))


def through(rows: Sequence[Any], schema: pa.Schema) -> list[dict[str, Any]]:
    return pa.RecordBatch.from_pylist(list(rows), schema=schema).to_pylist()  # type: ignore[no-any-return]


def test_tasks_and_their_order_change_no_byte(tmp_path: Path, called: Callable[..., Done], monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark import SparkContext

    for ways, part in ((1, 16 << 20), (3, 20_000)):
        monkeypatch.setattr(SparkContext, "defaultParallelism", ways)
        monkeypatch.setattr(sorting, "PART_BYTES", part)
        assert called("analyze", BUNDLE, "--case", tmp_path / f"{ways}.case", cwd=tmp_path).returncode == 0
    assert of(tmp_path / "1.case") == of(tmp_path / "3.case")
    records = pq.read_table(tmp_path / "1.case" / "records.parquet")
    assert len(records) > 100 and of_rows("records", records.slice(0, 100)) == []


def test_a_case_is_read_without_pyspark(case: Path) -> None:
    commands = [["analyze"], ["inspect"], ["timeline", "--topic", "sessions", "--partition", "0"], ["checkpoints"], ["plan"], ["merge"]]
    code = f"""
import sys
from forensics.cli import cli
for words in {commands!r}:
    cli([*words, {str(case)!r}], standalone_mode=False)
assert not [name for name in sys.modules if name.startswith(("pyspark", "py4j"))]
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


# whole, or not there


def test_what_breaks_off_leaves_what_was_there(case: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(case, tmp_path / "a.case")
    before = of(directory)
    with pytest.raises(ZeroDivisionError), whole_directory(directory) as to:
        (to / "records.parquet").write_bytes(b"half")
        raise ZeroDivisionError
    assert of(directory) == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.case"]
    with whole_directory(directory, replace=True) as to:
        (to / "case.json").write_text("{}")
    assert of(directory) == {"case.json": b"{}"}
    assert [p.name for p in tmp_path.iterdir()] == ["a.case"]


def test_a_case_takes_no_place_that_is_not_its_own(case: Path, tmp_path: Path) -> None:
    (tmp_path / "evidence" / "logs").mkdir(parents=True)
    (tmp_path / "evidence" / "logs" / "server.log").touch()
    for directory, force in ((case, False), (tmp_path / "evidence" / "new", True), (tmp_path / "evidence", True)):
        with pytest.raises(CaseRefused):
            check(directory, [str(tmp_path / "evidence")], force=force)
    with pytest.raises(CaseRefused, match="not a case"):
        check(tmp_path / "evidence", [], force=True)
    check(case, [], force=True)
    check(tmp_path / "new", [str(tmp_path / "evidence")], force=False)


def missing(directory: Path) -> None:
    (directory / "steps.parquet").unlink()


def of_another_version(directory: Path) -> None:
    manifest = json.loads((directory / "case.json").read_text())
    (directory / "case.json").write_text(json.dumps({**manifest, "schema": "kafka-forensics/case/999"}))


def cut_short(directory: Path) -> None:
    data = (directory / "facts.parquet").read_bytes()
    (directory / "facts.parquet").write_bytes(data[: len(data) // 2])


def other_bytes(directory: Path) -> None:
    data = bytearray((directory / "facts.parquet").read_bytes())
    for at in range(len(data) // 5, len(data) // 2, 100):
        data[at] ^= 0xFF
    (directory / "facts.parquet").write_bytes(data)


def other_columns(directory: Path) -> None:
    pq.write_table(pa.table({"topic": ["a"]}), directory / "judged.parquet")


def fewer_rows(directory: Path) -> None:
    pq.write_table(pq.read_table(directory / "steps.parquet").slice(1), directory / "steps.parquet")


def without_tables(directory: Path) -> None:
    (directory / "case.json").write_text('{"schema": "kafka-forensics/case/4"}')


@pytest.mark.parametrize("damage", [missing, of_another_version, cut_short, other_bytes, other_columns, fewer_rows, without_tables])
def test_a_case_that_cannot_be_used_is_one_line(damage: Callable[[Path], None], case: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(case, tmp_path / "a.case")
    damage(directory)
    done = CliRunner().invoke(cli, ["analyze", str(directory)])
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert str(directory) in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("analyze", "{case}", "{case}"),
        ("analyze", "{case}", "--timezone", "UTC"),
        ("analyze", "{case}", "--case", "{new}"),
        ("merge", "{case}", "--log-pattern", "%d %m%n"),
        ("merge", "{case}", "--patterns", "{patterns}"),
        ("checkpoints", "{case}", "--against", "{case}"),
        ("report", "{evidence}"),
    ],
)
def test_what_a_case_cannot_do_is_one_line(
    words: Sequence[str], case: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    patterns = tmp_path_factory.mktemp("patterns") / "my.toml"
    patterns.write_text(CliRunner().invoke(cli, ["patterns", "--toml", "leader-starts"]).stdout)
    places = {"case": case, "new": tmp_path / "b.case", "evidence": BUNDLE, "patterns": patterns}
    done = CliRunner().invoke(cli, [w.format(**places) for w in words])
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


# documented


def columns() -> Iterator[tuple[str, pa.Field]]:
    yield from ((table.name, field) for table in TABLES for field in table.schema)


def test_every_column_is_explained() -> None:
    assert [(name, field.name) for name, field in columns() if not (field.metadata or {}).get(b"doc")] == []


def test_a_command_is_recorded_without_secrets() -> None:
    words = [
        "--master",
        "sc://host:1/;token=s3cret",
        "--master=sc://host/;token=s3cret",
        "--conf",
        "spark.a=s3cret",
        "--conf=spark.b=s3cret",
    ]
    assert [*public(words)] == ["--master", "sc://host:1", "--master=sc://host", "--conf", "spark.a=…", "--conf=spark.b=…"]
