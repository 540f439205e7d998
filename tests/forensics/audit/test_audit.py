"""Audits: what is new is read once, the result is that of all at once, kills lose nothing and double nothing, clusters are distinguished."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from forensics import jobs
from forensics.audit import archive as archives
from forensics.audit import kept as kept_files
from forensics.audit import remote, upkeep
from forensics.audit.audited import Audit, escaped
from forensics.audit.history import TABLES as HISTORY
from forensics.audit.history import History
from forensics.audit.layout import UNNAMED, NamedInPath, PathLayout, Teller, clusters
from forensics.case.tables import PROOF, TABLES
from forensics.cli import cli
from forensics.commands import audit as command
from forensics.commands.inputs import CaseInput
from forensics.incidents.judging import OF_REPORT, OF_VERDICT, with_facts
from forensics.views.document import Report
from forensics.views.story.step import Wanted
from parsers.patterns import PATTERNS
from parsers.patterns.pattern_toml import write
from spark import audit as spark_audit
from spark.session import DIRECTORY
from tests.bundles.test_bundles import BUNDLES
from tests.conftest import Done
from tests.forensics import staged
from tests.forensics.output.test_files import full
from tests.support import recorded
from tests.support.schemas import of_rows, violations

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.objects import Objects

DAY = 86400.0
BUNDLE = BUNDLES / "zombie-leader-3.9.1-kraft.tar.gz"


class Here:
    """As much of a SparkSession as work without DataFrames takes, in this process."""

    defaultParallelism = 2

    def __init__(self, directory: Path) -> None:
        self.sparkContext = self
        self.conf = {DIRECTORY: str(directory)}
        self.value: Any = None
        self._items: Sequence[Any] = ()

    def broadcast(self, value: Any) -> Here:
        self.value = value
        return self

    def parallelize(self, items: Sequence[Any], ways: int) -> Here:
        self._items = list(items)
        return self

    def mapPartitions(self, do: Callable[[Any], Iterable[Any]]) -> Here:
        self._items = [made for item in self._items for made in do([item])]
        return self

    def collect(self) -> Sequence[Any]:
        return self._items


KEEP = jobs.keep


@dataclass
class Run:
    """Audits without Spark, and what each of them read."""

    archive: str
    read: list[str]

    def __call__(self, out: Path, *words: str, archive: str | None = None) -> Done:
        self.read.clear()
        given = [] if archive == "" else [archive or self.archive]
        done = CliRunner(env={"COLUMNS": "80"}).invoke(cli, ["audit", *given, "--out", str(out), *words])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Done(done.exit_code, done.stdout, done.stderr)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    made = Run(str(tmp_path / "archive"), [])

    def keep(session: Any, units: list[Any], *given: Any, with_records: bool) -> Any:
        made.read += [name for unit in units for name in unit.select or (unit.path,)]
        return KEEP(session, units, *given, with_records=with_records)

    monkeypatch.setattr(jobs, "keep", keep)
    monkeypatch.setattr(command, "start", lambda: object())
    monkeypatch.setattr(command, "started", lambda _: Here(tmp_path))
    return made


def lossy() -> staged.Story:
    """A leader that dies on the second day with records that the one elected from outside the ISR does not have: only the first day tells
    who led, and not before the third is it in the ISR again."""
    s = staged.Story()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.isr(1, 3600, [1], 2)
    s.offline(2, DAY + 10, 1, [1], 3, 1)
    s.online(2, DAY + 20, 2, 2, [2], 4)
    s.leads(2, DAY + 20.1, 2, 50, 50, [2], 0)
    s.follows(1, DAY + 100, 2, 100, 100)
    s.truncates(1, DAY + 100.2, 50)
    s.isr(2, 2 * DAY + 110, [2, 1], 5)
    return s


def quiet() -> staged.Story:
    s = staged.Story("q")
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    return s


def days(cluster: str, story: staged.Story) -> Iterator[tuple[str, str, str]]:
    """Day, path and content of each log of a story, cut by day."""
    for path, content in story.files.items():
        lines: dict[str, str] = {}
        for line in content.splitlines(keepends=True):
            lines[line[1:11]] = lines.get(line[1:11], "") + line
        for day, text in lines.items():
            yield day, f"cluster={cluster}/date={day}/{path}", text


def put(root: Path, path: str, content: str | bytes) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    last = max(re.findall(rb"(?m)^\[([\d-]{10} [\d:]{8})", file.read_bytes()), default=b"2026-11-21 01:53:00").decode()
    at = datetime.strptime(last, "%Y-%m-%d %H:%M:%S").replace(tzinfo=timezone.utc).timestamp()
    os.utime(file, (at, at))


def tables(out: Path) -> dict[str, bytes]:
    """Every file that counts: tables, and what is reported of clusters. Which files were read how, and since when what is known, is of the run."""
    files = [p for p in out.rglob("*") if p.is_file() and p.parts[len(out.parts)] not in ("_audit", *HISTORY)]
    files += [p for p in (out / "_audit").glob("*.json") if p.name != "manifest.json"]
    return {str(p.relative_to(out)): p.read_bytes() for p in files}


def archive_of_days(root: Path) -> list[list[tuple[str, str]]]:
    story = [*days("eu", lossy()), *days("us/1".replace("/", "%2F"), quiet())]
    return [[(path, text) for day, path, text in story if day == one] for one in sorted({day for day, _, _ in story})]


# from scratch, day by day, killed


def test_day_by_day_is_the_same_as_from_scratch_and_nothing_is_read_twice(run: Run, tmp_path: Path) -> None:
    archive = Path(run.archive)
    by_day = archive_of_days(archive)
    assert len(by_day) == 3
    for number, files in enumerate(by_day):
        for path, text in files:
            put(archive, path, text)
        if number == 2:  # one grew, and one is new of a day that was read before
            path, text = by_day[1][0]
            put(archive, path, text + "[2026-11-22 02:00:00,000] INFO [KafkaServer id=2] started (kafka.server.KafkaServer)\n")
            put(
                archive,
                "cluster=us%2F1/date=2026-11-21/broker-2/logs/server.log",
                "[2026-11-21 02:00:00,000] INFO starting (kafka.server.KafkaServer)\n",
            )
        done = run(tmp_path / "days")
        assert done.returncode == 0, done.stderr
        expected = {path for path, _ in files} | (
            {by_day[1][0][0], "cluster=us%2F1/date=2026-11-21/broker-2/logs/server.log"} if number == 2 else set()
        )
        assert set(run.read) == expected
        assert len(run.read) == len(expected)
    before = tables(tmp_path / "days")
    assert run(tmp_path / "days").returncode == 0
    assert (run.read, tables(tmp_path / "days")) == ([], before)
    assert run(tmp_path / "scratch").returncode == 0
    assert tables(tmp_path / "days") == tables(tmp_path / "scratch")
    audit = Audit(tmp_path / "days")
    assert set(audit.clusters) == {"eu", "us/1"}
    assert audit.entry("eu")["summary"]["loss"] == "found"
    assert "DATA WAS LOST in 1 (eu)" in run(tmp_path / "days").stdout
    printed = CliRunner().invoke(cli, ["report", str(tmp_path / "days"), "--html", str(tmp_path / "all.html")])
    assert printed.exit_code == 0, printed.output
    page = (tmp_path / "all.html").read_text("utf-8")
    assert "DATA WAS LOST in 1 (eu)" in page
    for link in re.findall(r'<a href="(all\.clusters/[^"]+)">', page):
        assert "kafka-forensics" in (tmp_path / unquote(link)).read_text("utf-8")
    assert set(re.findall(r'href="(all\.clusters/[^"]+)">([^<]+)<', page)) == {
        ("all.clusters/eu.html", "eu"),
        ("all.clusters/us%252F1.html", "us/1"),
    }


def test_of_a_cluster_with_nothing_new_no_file_is_touched(run: Run, tmp_path: Path) -> None:
    archive = Path(run.archive)
    by_day = archive_of_days(archive)
    for path, text in by_day[0]:
        put(archive, path, text)
    run(tmp_path / "out")
    before = {p: p.stat().st_ino for p in (tmp_path / "out").rglob("*/cluster=us%2F1/**/*.parquet")}
    for path, text in by_day[1]:
        put(archive, path, text)
    assert "Judged 1 of 2 clusters" in " ".join(run(tmp_path / "out").stdout.split())
    assert before
    assert {p: p.stat().st_ino for p in before} == before


class Killed(BaseException):
    pass


class Mortal:
    """Ends all work below a directory at the so-manyth change of it: nothing is done after that, no matter who asks."""

    def __init__(self) -> None:
        self.place, self.left, self.on = "", 0, False
        self.done: list[str] = []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, given: tuple[Any, ...]) -> None:
        if not self.on or event not in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "open"):
            return
        if not str(given[0]).startswith(self.place) or (event == "open" and "r" in str(given[1] or "r")):
            return
        if len(self.done) >= self.left:
            raise Killed
        self.done.append(f"{event} {given[1] if event == 'os.rename' else given[0]}")


MORTAL = Mortal()
"""One for all: a hook can never be taken away."""


def test_killed_at_any_moment_and_run_again(run: Run, tmp_path: Path) -> None:
    archive = Path(run.archive)
    by_day = archive_of_days(archive)
    for path, text in (one for files in by_day[:2] for one in files):
        put(archive, path, text)
    assert run(tmp_path / "first").returncode == 0
    for path, text in by_day[2]:
        put(archive, path, text)

    def killed_after(steps: int) -> Path:
        place = tmp_path / f"killed-{steps}"
        shutil.copytree(tmp_path / "first", place)
        MORTAL.place, MORTAL.left, MORTAL.on, MORTAL.done = str(place), steps, True, []
        try:
            run(place)
        except Killed:
            pass
        finally:
            MORTAL.on = False
        return place

    there = tables(killed_after(sys.maxsize))
    steps = MORTAL.done
    commits = [n for n, step in enumerate(steps) if step.endswith("/_audit/manifest.json")]
    assert len(commits) == 3
    for number in sorted({0, *commits, *(n + 1 for n in commits)}):
        place = killed_after(number)
        for name in Audit(place).clusters:  # what counts is whole at any moment
            Audit(place).case(name)
        assert run(place).returncode == 0
        assert tables(place) == there, steps[number]


def test_a_full_disk_changes_nothing_that_counts(run: Run, tmp_path: Path) -> None:
    archive = Path(run.archive)
    by_day = archive_of_days(archive)
    for path, text in by_day[0]:
        put(archive, path, text)
    assert run(tmp_path / "out").returncode == 0
    before = tables(tmp_path / "out")
    for path, text in by_day[1]:
        put(archive, path, text)
    for limit in (500, 5000):
        with full(limit):
            done = run(tmp_path / "out")
        assert done.returncode == 2 and "could not be written: File too large\nEverything that was committed is kept." in done.stderr, (
            done.stderr
        )
        assert before.items() <= tables(tmp_path / "out").items()
    assert run(tmp_path / "out").returncode == 0 and run(tmp_path / "scratch").returncode == 0
    assert tables(tmp_path / "out") == tables(tmp_path / "scratch")


# what is new


def summary(run: Run, out: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """Exit code and JSON of a run."""
    file = out.parent / "summary.json"
    return run(out, "--json", str(file), *words).returncode, json.loads(file.read_text("utf-8"))


def test_a_run_says_what_is_new_since_the_run_before(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive, out = Path(run.archive), tmp_path / "out"
    by_day = archive_of_days(archive)
    found = []
    for files in by_day[:2]:
        for path, text in files:
            put(archive, path, text)
        found.append(summary(run, out, "--fail-on-new", "critical"))
    (quiet_code, first), (code, second) = found
    assert (quiet_code, code) == (0, 1)
    assert (first["before"], first["run"]["run"], second["before"], second["run"]["run"]) == (None, 1, first["run"]["started"], 2)
    critical = [row for row in second["new"] if row["severity"] == "critical"]
    assert critical and {row["cluster"] for row in critical} == {"eu"}
    assert all(row["first_seen"] == row["last_seen"] == second["run"]["started"] for row in critical)
    assert second["worse"] == {"lost": 1, "tail-cut": 0, "unknown": 0}
    assert second["worse_partitions"] == [{"cluster": "eu", "topic": "t", "partition": 0, "before": "unknown", "after": "lost"}]
    assert {c["cluster"]: c["partitions"]["unknown"] for c in first["clusters"]}["eu"] == 1
    assert (second["run"]["read"], second["run"]["judged"], second["run"]["clusters"]) == (len(by_day[1]), 1, 2)
    shown = " ".join(CliRunner(env={"COLUMNS": "80"}).invoke(cli, ["report", str(out)]).stdout.split())
    assert "1 partition became lost" in shown and critical[0]["finding"] in shown
    code, third = summary(run, out, "--fail-on-new", "info")
    assert (code, third["new"], third["gone"], third["worse"]) == (0, [], [], {"lost": 0, "tail-cut": 0, "unknown": 0})
    seen = {row["finding"]: row for row in ds.dataset(out / "seen").to_table().to_pylist()}
    started = [row["started"] for row in sorted(ds.dataset(out / "runs").to_table().to_pylist(), key=lambda row: row["run"])]
    assert {(seen[row["finding"]]["first_seen"], seen[row["finding"]]["last_seen"]) for row in critical} == {(started[1], started[2])}

    def killed(*_: object, **__: object) -> None:
        raise Killed

    for path, _ in by_day[1]:
        (archive / path).unlink()
    scratch = tmp_path / "killed"
    run(scratch)
    for path, text in by_day[1]:
        put(archive, path, text)
    with monkeypatch.context() as once:
        once.setattr(History, "end", killed)
        with pytest.raises(Killed):
            run(scratch)
    code, after = summary(run, scratch, "--fail-on-new", "lost")
    assert (code, run.read, after["worse"]["lost"]) == (1, [], 1)
    assert {row["finding"] for row in critical} <= {row["finding"] for row in after["new"]}


# the same as analyze


def test_a_cluster_is_told_as_analyze_tells_it(run: Run, tmp_path: Path) -> None:
    put(Path(run.archive), "prod.tar.gz", BUNDLE.read_bytes())
    how = ("--limit", "archives=4")
    assert run(tmp_path / "out", "--layout", "{cluster}/…", *how).returncode == 0
    found = CaseInput(Audit(tmp_path / "out").case("prod"))
    assert found.case.manifest["tool"]["command"] == ["audit", run.archive, "--layout", "{cluster}/…", *how]
    claimed = found.conclusion(None)
    there = recorded.report("zombie-leader-3.9.1-kraft")
    there.cluster.archives = ()  # an audit has them in its manifest, whosever they are
    here = Report(found.cluster, claimed.findings, with_facts(claimed.partitions, OF_REPORT), claimed.incidents)
    assert here.document() == there.document()
    (name, number) = sorted(found.partitions())[0]
    assert found.story(name, number, Wanted())
    assert found.case.proof("sessions", 0) == next(
        {n: p[n] for n in (*OF_VERDICT, PROOF)} for p in there.partitions if (p["topic"], p["partition"]) == ("sessions", 0)
    )
    rechecked = CliRunner().invoke(cli, ["verify", str(tmp_path / "out"), "--cluster", "prod", "--proof"])
    assert rechecked.exit_code == 0 and "same verdict as the case for 5 partitions" in rechecked.stdout
    (orders,) = (t for t in TABLES if t.name == "records")
    times = [r["key"] for b in found.case.batches(orders.name, ["key"]) for r in b.to_pylist()]
    assert times == sorted(times)
    assert len(times) > 100


def test_other_engines_read_the_tables_by_cluster_and_date(run: Run, tmp_path: Path) -> None:
    archive = Path(run.archive)
    for path, text in (one for files in archive_of_days(archive) for one in files):
        put(archive, path, text)
    run(tmp_path / "out")
    steps = ds.dataset(
        tmp_path / "out" / "steps",
        partitioning=ds.partitioning(pa.schema([("cluster", pa.string()), ("date", pa.string())]), flavor="hive"),
    )
    rows = steps.to_table(columns=["cluster", "date", "time", "cluster_number"]).to_pylist()
    assert {r["cluster"] for r in rows} == {"eu", "us/1"}
    assert all(r["time"] is None or r["date"] == r["time"].date().isoformat() for r in rows)
    assert {r["date"] for r in rows if r["time"] is not None} == {"2026-11-21", "2026-11-22", "2026-11-23"}


def test_rows_and_the_summary_are_what_their_schemas_say(run: Run, tmp_path: Path) -> None:
    for of_day in archive_of_days(Path(run.archive)):
        for path, text in of_day:
            put(Path(run.archive), path, text)
    assert run(tmp_path / "out", "--json", str(tmp_path / "summary.json")).returncode == 0
    hive = ds.partitioning(pa.schema([("cluster", pa.string()), ("date", pa.string())]), flavor="hive")
    for table in TABLES:
        if (directory := tmp_path / "out" / table.name).exists():
            rows = ds.dataset(directory, partitioning=hive).head(200)
            assert len(rows) and of_rows(f"audit-{table.name}", rows) == [], table.name
    assert violations("clusters", [json.loads((tmp_path / "summary.json").read_text())]) == []
    for name in HISTORY:
        assert of_rows(f"audit-{name}", ds.dataset(tmp_path / "out" / name).head(200)) == [], name


def test_spark_makes_the_same_bytes_of_a_small_cluster_and_of_a_large_one(
    run: Run, tmp_path: Path, called: Callable[..., Done], session: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = Path(run.archive)
    for path, text in (one for files in archive_of_days(archive) for one in files):
        put(archive, path, text)
    done = run(tmp_path / "here")
    assert done.returncode == 0, done.stdout
    there = tables(tmp_path / "here")
    monkeypatch.setattr(command, "started", lambda _: session)
    monkeypatch.setattr(command, "WHOLE", 10)  # rows of the quiet one
    assert called("audit", archive, "--out", tmp_path / "spark", cwd=tmp_path).returncode == 0
    assert tables(tmp_path / "spark") == there


# what is wrong


def test_what_cannot_be_judged_is_named_and_the_rest_goes_on(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Path(run.archive)
    for _, path, text in (*days("eu", lossy()), *days("us", quiet())):
        put(archive, path, text)
    (archive / "cluster=us" / "server.log").symlink_to("/nowhere")
    put(archive, "cluster=dead/broker-1.tar.gz", b"\x1f\x8b\x08" + b"rubbish" * 50)
    put(archive, "cluster=us/date=2026-11-21/broker-1/logs/server.log.gz", b"\x1f\x8b\x08" + b"rubbish" * 50)
    done = run(tmp_path / "out")
    said = " ".join(done.stdout.split())
    assert done.returncode == 3
    assert "1 could NOT BE JUDGED" in said
    assert "dead: No Kafka logs or checkpoints found" in said
    assert "us: 2 sources with problems" in said
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    from forensics.audit import whole

    def broken(*_: object) -> None:
        raise ZeroDivisionError("of this cluster")

    put(
        archive,
        "cluster=us/date=2026-11-22/broker-1/logs/server.log",
        "[2026-11-22 02:00:00,000] INFO starting (kafka.server.KafkaServer)\n",
    )
    with monkeypatch.context() as once:
        once.setattr(whole, "build_cluster", broken)
        done = run(tmp_path / "out")
    said = " ".join(done.stdout.split())
    assert "us: could not be judged: ZeroDivisionError: of this cluster; the results shown are from an earlier run" in said
    assert done.returncode == 3
    shown = CliRunner(env={"COLUMNS": "80"}).invoke(cli, ["report", str(tmp_path / "out"), "--json", str(tmp_path / "all.json")])
    assert shown.exit_code == 3 and "us: could not be judged: ZeroDivisionError" in " ".join(shown.stdout.split())
    of_clusters = {c["cluster"]: c["failed"] for c in json.loads((tmp_path / "all.json").read_text())["clusters"]}
    assert of_clusters == {"dead": None, "eu": None, "us": "ZeroDivisionError: of this cluster"}
    assert run(tmp_path / "out", "--fail-on", "critical").returncode == 1
    assert run.read == []
    assert "us: could not be judged" not in run(tmp_path / "out").stdout


def test_all_files_are_read_again_if_a_file_of_patterns_changed(run: Run, tmp_path: Path) -> None:
    archive, out, file = Path(run.archive), tmp_path / "out", tmp_path / "my.toml"
    for _, path, text in days("eu", quiet()):
        put(archive, path, text)
    logs = sorted(str(path.relative_to(archive)) for path in archive.rglob("*.log"))
    gone = archive / logs[0]
    pattern = next(pattern for pattern in PATTERNS if pattern.name == "segment-corrupt")
    file.write_text(write(pattern))
    assert run(out).returncode == 0
    assert sorted(run.read) == logs
    assert run(out, "--patterns", str(file)).returncode == 0
    assert sorted(run.read) == logs, "a file more"
    moved = file.rename(tmp_path / "moved.toml")
    assert run(out, "--patterns", str(moved)).returncode == 0
    assert run.read == [], "the content counts, not the name"
    before = Audit(out).entry("eu")["summary"]
    gone.unlink()
    moved.write_text(write(replace(pattern, note="changed")))
    assert run(out, "--patterns", str(moved)).returncode == 0
    assert sorted(run.read) == logs[1:]
    assert Audit(out).entry("eu")["summary"] == before, "what is kept of a file that is gone stays"
    assert run(out, "--patterns", str(moved)).returncode == 0
    assert run.read == []
    assert run(out).returncode == 0
    assert sorted(run.read) == logs[1:], "a file less"
    assert "--patterns" not in Audit(out).case("eu").manifest["tool"]["command"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("audit", "--out", "{out}-new"), "give the archive (ARCHIVE...)"),
        (("audit", "--out", "{out}", "--force"), "give the archive (ARCHIVE...)"),
        (("audit", "--out", "{out}", "--reread"), "--reread needs the archive"),
        (("audit", "{archive}", "--out", "{archive}/out"), "lies in the evidence"),
        (("audit", "{archive}", "--out", "{archive}/.."), "not an audit"),
        (("audit", "{archive}", "--out", "{out}", "--layout", "{{nobody}}"), "is not a placeholder; use {cluster}"),
        (("report", "{out}", "--cluster", "asia"), "has no cluster 'asia'"),
        (("analyze", "{out}"), "choose one with --cluster"),
        (("analyze", "{archive}", "--cluster", "eu"), "--cluster needs the tables of an audit"),
    ],
)
def test_what_cannot_be_done_is_one_line(words: Sequence[str], says: str, run: Run, tmp_path: Path) -> None:
    archive = Path(run.archive)
    for _, path, text in days("eu", quiet()):
        put(archive, path, text)
    run(tmp_path / "out")
    done = CliRunner().invoke(cli, [w.format(archive=archive, out=tmp_path / "out") for w in words])
    assert (done.exit_code, done.stdout) == (2, "")
    assert says in done.stderr


def test_a_report_of_all_clusters_and_of_one(run: Run, tmp_path: Path) -> None:
    archive = Path(run.archive)
    for _, path, text in (*days("eu", lossy()), *days("us", quiet())):
        put(archive, path, text)
    made = run(tmp_path / "out", "--no-records").stdout
    invoke = CliRunner(env={"COLUMNS": "80"}).invoke
    assert made.startswith(invoke(cli, ["report", str(tmp_path / "out")]).stdout.rstrip())
    every = json.loads(invoke(cli, ["report", str(tmp_path / "out"), "--json", "-"]).stdout)
    assert [c["cluster"] for c in every["clusters"]] == ["eu", "us"]
    assert invoke(cli, ["report", str(tmp_path / "out"), "--fail-on", "critical"]).exit_code == 1
    for words in (
        ["report"],
        ["timeline", "--topic", "t", "--partition", "0"],
        ["inspect"],
        ["checkpoints"],
        ["plan"],
        ["report", "--html", os.devnull],
    ):
        done = invoke(cli, [words[0], str(tmp_path / "out"), "--cluster", "eu", *words[1:]])
        assert done.exit_code == 0, (words, done.stderr)
    only = invoke(cli, ["report", str(tmp_path / "out"), "--topic", "t", "--json", "-"])
    assert [(c["cluster"], c["loss"]) for c in json.loads(only.stdout)["clusters"]] == [("eu", "found")]
    said = " ".join(invoke(cli, ["report", str(tmp_path / "out"), "--topic", "t", "--since", "2026-11-23", "--broker", "2"]).stdout.split())
    assert said.startswith("Only --topic t") and "1 cluster without it: us." in said
    assert "has no topic 'nosuch'" in invoke(cli, ["report", str(tmp_path / "out"), "--topic", "nosuch"]).stderr
    whole = ["verify", str(tmp_path / "out"), run.archive, "--cluster", "eu"]
    assert f"SAME. All {len(list(days('eu', lossy())))} files" in invoke(cli, whole).stdout, invoke(cli, whole).output
    put(archive, "cluster=us/date=2026-11-21/broker-9/new.log", "another")
    assert invoke(cli, whole).exit_code == 0, "of another cluster"
    put(archive, "cluster=eu/date=2026-11-21/broker-9/new.log", "another")
    assert (invoke(cli, whole).exit_code, "1 additional" in invoke(cli, whole).stdout) == (1, True)
    findings = next((tmp_path / "out" / "findings" / "cluster=us").rglob("*.parquet"))
    findings.write_bytes(findings.read_bytes()[:-1] + b"?")
    assert "another SHA-256" in invoke(cli, ["verify", str(tmp_path / "out"), "--cluster", "us", "--proof"]).stderr
    done = invoke(cli, ["merge", str(tmp_path / "out"), "--cluster", "eu"])
    assert (done.exit_code, "no log lines" in done.stderr) == (2, True)


def test_objects_that_are_uploaded_again_are_not_read_again(run: Run, tmp_path: Path, objects: Objects) -> None:
    story = list(days("eu", lossy()))
    for _, path, text in story:
        objects.put(f"audit/{path}", text.encode())
    uri = objects.uri("audit")
    objects.requests.clear()
    assert run(tmp_path / "out", archive=uri).returncode == 0
    assert len(run.read) == len(story)
    requests = Counter(method for method, path in objects.requests if path.endswith(".log"))
    assert requests == {"HEAD": len(story), "GET": len(story)}, "events and log lines are read from one answer"
    before = tables(tmp_path / "out")
    assert "nobody" not in "".join(p.read_text("utf-8", "replace") for p in (tmp_path / "out").rglob("*") if p.is_file())
    _, path, text = story[0]
    objects.put(f"audit/{path}", text.encode())
    run(tmp_path / "out", archive=uri)
    assert (run.read, tables(tmp_path / "out")) == ([], before)
    objects.put(f"audit/{path}", text.encode() + b"more\n")
    objects.put("audit/cluster=eu/torn.gz", b"\x1f\x8b\x08" + b"rubbish" * 50)
    run(tmp_path / "out", archive=uri)
    assert set(run.read) == {path, "cluster=eu/torn.gz"}
    for read in (["cluster=eu/torn.gz"], []):
        run(tmp_path / "out", archive=uri)
        assert run.read == read


# upkeep


def put_days(run: Run, days_of: Iterable[Iterable[tuple[str, str]]]) -> None:
    for path, text in (one for files in days_of for one in files):
        put(Path(run.archive), path, text)


def test_another_version_judges_again_without_the_archive(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    put_days(run, archive_of_days(Path(run.archive)))
    with monkeypatch.context() as patch:
        patch.setattr(kept_files, "NAME", 32)  # as long as the names of older versions, which are not digests
        assert run(out, "--layout", "cluster={cluster}/date={date}/…").returncode == 0
    before, fingerprints = tables(out), Audit(out).manifest["fingerprints"]
    shutil.rmtree(run.archive)
    for kept in (out / "_audit" / "kept").iterdir():  # of a version with a column less and another more
        rows = pq.read_table(kept)
        pq.write_table(rows.drop_columns(["text"]).append_column("other", rows["line"]) if "event" in rows.column_names else rows, kept)
    monkeypatch.setattr(archives, "_tool", lambda: {"version": "9.9", "rules": "sha256:0"})
    monkeypatch.setattr(archives, "version", lambda: "9.9")
    done = run(out, archive="")
    assert (done.returncode, run.read) == (0, [])
    assert "Read nothing. Judged 2 of 2 clusters" in " ".join(done.stdout.split())
    assert Audit(out).manifest["fingerprints"].keys() == fingerprints.keys()
    assert all(Audit(out).manifest["fingerprints"][name] != fingerprints[name] for name in fingerprints)
    assert Audit(out).manifest["settings"]["layout"] == "cluster={cluster}/date={date}/…"
    assert {name.partition("/")[0] for name in tables(out)} == {name.partition("/")[0] for name in before}
    assert Audit(out).entry("eu")["summary"]["loss"] == "found"


def test_files_that_another_catalogue_read_are_read_again_on_request(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    put_days(run, archive_of_days(Path(run.archive)))
    assert run(out).returncode == 0
    before = tables(out)
    gone, locked, *others = sorted(Path(run.archive).rglob("*.log"))
    gone.unlink()
    others = [str(path.relative_to(run.archive)) for path in others]
    monkeypatch.setattr(archives, "reading_digest", lambda: "sha256:9")
    real = spark_audit._digest
    monkeypatch.setattr(spark_audit, "_digest", lambda file: None if file.name == str(locked.relative_to(run.archive)) else real(file))
    summary = tmp_path / "summary.json"
    done = run(out, "--json", str(summary))
    older = json.loads(summary.read_text())["older_catalogue"]
    command = f"kafka-forensics audit {run.archive} --out {out} --reread"
    assert (done.returncode, run.read, tables(out)) == (0, [], before), done.stderr
    assert f"8 files not read again after an upgrade ({locked.relative_to(run.archive)}" in " ".join(done.stdout.split())
    assert "".join(command.split()) in "".join(done.stdout.split())
    assert (older["files"], older["gone_names"], older["command"]) == (8, [str(gone.relative_to(run.archive))], command.split())
    done = run(out, "--reread")
    said = " ".join(done.stdout.split())
    assert (done.returncode, sorted(run.read), tables(out)) == (0, others, before), done.stderr
    assert "Read 7 files again that another build of version" in said
    assert f"1 file could not be opened and not be read again ({locked.relative_to(run.archive)})" in said
    assert "1 file read only by another build of version" in said and str(gone.relative_to(run.archive)) in said
    monkeypatch.setattr(spark_audit, "_digest", real)
    assert run(out).returncode == 0 and run.read == []
    assert run(out, "--reread").returncode == 0 and run.read == [str(locked.relative_to(run.archive))]
    assert run(out, "--reread").returncode == 0 and run.read == []


def test_what_is_forgotten_is_as_if_it_had_never_been_there(run: Run, tmp_path: Path) -> None:
    archive = Path(run.archive)
    by_day = archive_of_days(archive)
    put_days(run, by_day[1:])
    assert run(tmp_path / "later").returncode == 0
    put_days(run, by_day[:1])
    assert run(tmp_path / "all").returncode == 0
    shutil.copytree(tmp_path / "all", tmp_path / "path")
    archive.rename(tmp_path / "away")
    assert "forgotten" in run(tmp_path / "all", "--before", "2026-11-22", archive="").stdout
    for path in ("cluster=eu/date=2026-11-21", str(archive / "cluster=us%2F1")):
        assert run(tmp_path / "path", "--forget", path, archive="").returncode == 0
    (tmp_path / "away").rename(archive)
    assert tables(tmp_path / "all") == tables(tmp_path / "later") == tables(tmp_path / "path")
    assert run(tmp_path / "all").returncode == 0 and run.read == []
    assert tables(tmp_path / "all") == tables(tmp_path / "later")


def test_damaged_files_are_named_and_made_again(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    put_days(run, archive_of_days(Path(run.archive)))
    assert run(out).returncode == 0
    before = tables(out)
    steps = sorted((out / "steps").rglob("*.parquet"))[0]
    content = steps.read_bytes()
    steps.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
    gone = sorted((out / "partitions" / "cluster=us%2F1").rglob("*.parquet"))[0]
    gone.unlink()
    entry = out / "_audit" / Audit(out).clusters["us/1"]
    entry.write_text("{}")
    shown = CliRunner(env={"COLUMNS": "80"}).invoke(cli, ["report", str(out)])
    assert shown.exit_code == 3 and "us/1: could not be judged" in " ".join(shown.stdout.split()) and "eu" in shown.stdout
    done = run(out, archive="")
    said = "".join(done.stdout.split())
    assert done.returncode == 0
    assert f"{steps.relative_to(out)}isdamaged;euisjudgedagain." in said
    assert f"{entry.relative_to(out)}isdamaged;us/1isjudgedagain." in said
    assert tables(out) == before
    kept = sorted((out / "_audit" / "kept").iterdir())[0]
    whole = kept.read_bytes()
    at = len(whole) // 2
    intact = CliRunner().invoke(cli, ["verify", str(out)])
    assert (intact.exit_code, intact.stdout.startswith("INTACT. All ")) == (0, True), intact.output
    status = steps.stat()
    steps.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    os.utime(steps, ns=(status.st_atime_ns, status.st_mtime_ns))
    kept.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    shown = CliRunner().invoke(cli, ["verify", str(out), "--json", str(tmp_path / "verify.json")])
    assert (shown.exit_code, shown.stdout.startswith("DAMAGED. 2 of ")) == (1, True), shown.output
    assert json.loads((tmp_path / "verify.json").read_text())["damaged"] == sorted(str(p.relative_to(out)) for p in (steps, kept))
    steps.write_bytes(content)
    kept.write_bytes(whole[:-4])
    done = run(out, archive="")
    assert done.returncode == 2 and f"{kept.name} is missing or damaged" in done.stderr
    assert run(out).returncode == 0 and run.read
    assert tables(out) == before
    seen = ds.dataset(out / "seen").to_table().to_pylist()
    assert all(row["gone"] is None for row in seen) and len({row["first_seen"] for row in seen}) == 1


def test_an_archive_that_is_empty_all_at_once_is_an_error(run: Run, tmp_path: Path) -> None:
    put_days(run, archive_of_days(Path(run.archive)))
    assert run(tmp_path / "out").returncode == 0
    before = tables(tmp_path / "out")
    shutil.rmtree(run.archive)
    Path(run.archive).mkdir()
    done = run(tmp_path / "out")
    assert (done.returncode, tables(tmp_path / "out")) == (2, before)
    assert "archive: no files found, but 9 files were read from it earlier; check that it is mounted" in done.stderr


def test_small_kept_files_are_put_together(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "MANY", 2)
    for files in archive_of_days(Path(run.archive)):
        put_days(run, [files])
        assert run(tmp_path / "days").returncode == 0
    assert len(list((tmp_path / "days" / "_audit" / "kept").iterdir())) <= 4
    monkeypatch.setattr(upkeep, "MANY", sys.maxsize)
    assert run(tmp_path / "scratch").returncode == 0
    assert tables(tmp_path / "days") == tables(tmp_path / "scratch")


def test_an_archive_more_and_another_layout_read_only_what_is_new(run: Run, tmp_path: Path) -> None:
    more = tmp_path / "more"
    put_days(run, archive_of_days(Path(run.archive)))
    put(
        more,
        "cluster=asia/date=2026-11-21/broker-1/logs/server.log",
        "[2026-11-21 02:00:00,000] INFO starting (kafka.server.KafkaServer)\n",
    )
    out = tmp_path / "out"
    assert run(out).returncode == 0
    assert run(out, str(more)).returncode in (0, 3)
    assert run.read == ["cluster=asia/date=2026-11-21/broker-1/logs/server.log"]
    run(tmp_path / "both", str(more))
    assert tables(out) == tables(tmp_path / "both")
    layout = ("--layout", "*/cluster={cluster}/date={date}/…")
    run(out, str(more), *layout)
    assert run.read == []
    run(tmp_path / "layout", str(more), *layout)
    assert tables(out) == tables(tmp_path / "layout")


# in a bucket


def test_tables_in_a_bucket_are_those_of_a_directory(run: Run, tmp_path: Path, objects: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "PAUSE_S", 0.0)
    uri = objects.uri("tables")
    out = cast("Path", uri)
    objects.put("other/x", b"")  # the bucket exists
    by_day = archive_of_days(Path(run.archive))
    put_days(run, by_day[:1])
    assert run(out).returncode == 0
    failures = iter([503, None, "cut", 503, None, None, None, "cut", 503])
    monkeypatch.setattr(objects, "writing", lambda method, path: next(failures, None) if method in ("GET", "PUT") else None)
    put_days(run, by_day[1:])
    done = run(out)
    assert done.returncode == 0 and "secret" not in done.stderr.lower() and "tell" not in done.stderr, done.stderr
    assert len(run.read) == sum(map(len, by_day[1:]))
    assert next(failures, None) is None
    assert run(tmp_path / "scratch").returncode == 0
    copy = remote.Remote(uri)
    assert copy.pull(tmp_path / "copy")
    copy.bring_all()
    assert tables(tmp_path / "copy") == tables(tmp_path / "scratch")
    assert not (Path.cwd() / "s3:").exists()
    objects.requests.clear()
    assert run(out).returncode == 0 and run.read == []
    assert not [path for method, path in objects.requests if method in ("GET", "PUT") and ("/cluster=" in path or "/kept/" in path)]
    objects.requests.clear()
    shown = CliRunner(env={"COLUMNS": "80"}).invoke(cli, ["report", uri])
    assert shown.exit_code == 0 and "DATA WAS LOST in 1 (eu)" in shown.stdout
    assert not [path for _, path in objects.requests if "/cluster=" in path], "the summary is in the entries"
    absent = CliRunner().invoke(cli, ["report", uri, "--cluster", "nowhere"])
    assert absent.stderr.startswith("Error: s3://evidence/tables: the audit has no cluster 'nowhere' (clusters: "), absent.stderr
    story = CliRunner().invoke(cli, ["timeline", uri, "--cluster", "eu", "--topic", "t", "--partition", "0"])
    assert story.exit_code == 0, story.stderr
    of_clusters = {path.split("/cluster=")[1].split("/")[0] for _, path in objects.requests if "/cluster=" in path}
    assert of_clusters == {"eu"}
    page = CliRunner().invoke(cli, ["report", uri, "--html", str(tmp_path / "all.html")])
    assert page.exit_code == 0 and len(list((tmp_path / "all.clusters").iterdir())) == 2
    verified = CliRunner().invoke(cli, ["verify", uri])
    assert verified.exit_code == 0 and verified.stdout.startswith("INTACT. "), verified.output


def test_a_case_in_a_bucket(tmp_path: Path, objects: Objects, called: Callable[..., Done]) -> None:
    objects.put("other/x", b"")
    evidence_of = tmp_path / "evidence"
    for path, text in quiet().files.items():
        put(evidence_of, path, text)
    uri = objects.uri("incident.case")
    done = called("analyze", evidence_of, "--case", uri, cwd=tmp_path)
    assert done.returncode == 3 and "Wrote s3://evidence/incident.case\n" in done.stderr, "its only partition lacks evidence"
    assert called("report", uri, cwd=tmp_path).stdout == done.stdout
    again = called("analyze", evidence_of, "--case", uri, cwd=tmp_path)
    assert (again.returncode, "there are objects already" in again.stderr) == (2, True)


def test_of_two_audits_into_one_bucket_one_commits(run: Run, tmp_path: Path, objects: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "PAUSE_S", 0.0)
    out = cast("Path", objects.uri("shared"))
    objects.put("other/x", b"")
    put_days(run, archive_of_days(Path(run.archive))[:1])
    assert run(out).returncode == 0

    pushed = remote.Remote._put

    def late(self: remote.Remote, content: bytes) -> None:
        monkeypatch.setattr(remote.Remote, "_put", pushed)
        objects.put("shared/_audit/manifest.json", b"{}")
        pushed(self, content)

    monkeypatch.setattr(remote.Remote, "_put", late)
    done = run(out)
    assert (done.returncode, "another run was committed" in done.stderr) == (2, True)
    for status, where, words in (
        (403, "shared", "the store refuses access; check the keys"),
        (404, "new", "there is no such bucket; create it"),
    ):
        monkeypatch.setattr(objects, "writing", lambda method, path, status=status: status if method == "PUT" else None)
        run.read.append("before")
        done = run(cast("Path", objects.uri(where)))
        assert (done.returncode, words in done.stderr, run.read) == (2, True, []), done.stderr
    monkeypatch.setattr(objects, "writing", lambda method, path: 503 if method == "PUT" and path.endswith("manifest.json") else None)
    done = run(cast("Path", objects.uri("failing")))
    assert (done.returncode, "did not accept the manifest (503 No)" in done.stderr) == (2, True), done.stderr


def test_an_endpoint_that_does_not_answer_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "PAUSE_S", 0.0)
    Path(run.archive).mkdir()
    done = run(cast("Path", "s3://key:nobody@bucket/tables?scheme=http&endpoint_override=127.0.0.1:1&region=us-east-1"))
    assert done.returncode == 2 and "nobody" not in done.stderr
    assert (
        "s3://bucket/tables: the endpoint of the store, 127.0.0.1:1, does not answer (Connection refused); check that it runs"
        in done.stderr
    )


# which cluster


@pytest.mark.parametrize(
    ("pattern", "path", "cluster", "name"),
    [
        (None, "a/cluster=eu%2F1/date=2026-03-02/b/x.log", "eu/1", "a/date=2026-03-02/b/x.log"),
        (None, "a/b", None, "a/b"),
        ("{cluster}/{date}/{broker}/…", "kafka-3/20260302/1/logs/server.log", "kafka-3", "date=2026-03-02/broker-1/logs/server.log"),
        ("{cluster}/…", "eu.tar.gz/broker-1/x", "eu", "broker-1/x"),
        ("{cluster}/…", "eu.tar.gz", "eu", "eu.tar.gz"),
        ("{cluster}/…", "README", None, "README"),
        ("{cluster}-{date}.tar.gz", "eu-1-20260302.tar.gz/broker-1/x", "eu-1", "eu-1-20260302.tar.gz/broker-1/x"),
        ("…/{cluster}/logs/*", "x/y/eu/logs/server.log", "eu", "x/y/logs/server.log"),
        ("{date}/{cluster}", "2026-01-01/eu/b", "eu", "date=2026-01-01/b"),
    ],
)
def test_what_a_path_says(pattern: str | None, path: str, cluster: str | None, name: str) -> None:
    assert PathLayout(pattern).read(path) == NamedInPath(cluster, name)


def test_clusters_by_the_ids_that_files_tell() -> None:
    early, late = datetime(2026, 1, 1), datetime(2026, 2, 1)
    stated = [
        Teller("a/logs/server.log", None, [("X", early)]),
        Teller("a/logs/server.log.1", None, [("Z", late)]),  # formatted anew: lives of one
        Teller("a/logs/state-change.log", None),
        Teller("a/data/meta.properties", None),
        Teller("b.tar.gz/1/server.log", None, [("Y", None)]),
        Teller("b.tar.gz/2/controller.log", None),
        Teller("describe.txt", None),
        Teller("c/server.log", "given", [("Y", None)]),
    ]
    assert clusters(stated) == {
        **dict.fromkeys((t.path for t in stated[:4]), "Z"),
        **dict.fromkeys((t.path for t in stated[4:6]), "Y"),
        "describe.txt": UNNAMED,
        "c/server.log": "given",
    }
    assert set(clusters([Teller("a", None), Teller("b/c", None)]).values()) == {UNNAMED}


def test_an_archive_without_names_is_told_apart_by_ids(run: Run, tmp_path: Path) -> None:
    for at, cluster_id in (("a", "8d9m_bTrRiCpwmRarvC_0w"), ("b", "qaLRQMKtRuO9tYchoRN7kA")):
        for path, text in quiet().files.items():
            put(Path(run.archive), f"{at}/{path}", text)
        line = f"[2026-11-21 01:53:00,000] INFO Cluster ID = {cluster_id} (kafka.server.KafkaServer)\n"
        put(Path(run.archive), f"{at}/broker-1/logs/server.log", line)
    assert run(tmp_path / "out").returncode == 0
    assert set(Audit(tmp_path / "out").clusters) == {"8d9m_bTrRiCpwmRarvC_0w", "qaLRQMKtRuO9tYchoRN7kA"}
    put(Path(run.archive), "c/describe.txt", "Topic: t PartitionCount: 1 ReplicationFactor: 1\n")
    done = run(tmp_path / "out")
    assert set(Audit(tmp_path / "out").clusters) == {"8d9m_bTrRiCpwmRarvC_0w", "qaLRQMKtRuO9tYchoRN7kA", UNNAMED}
    assert "the rest is taken to be one" in " ".join(done.stdout.split())


def test_names_of_clusters_are_steps_of_paths() -> None:
    for name in ("a/b", "..", ".", "a b", "ü%", "x" * 60):
        assert "/" not in escaped(name)
        assert escaped(name) not in (".", "..")
