"""Chain of custody: what was read has digests, it was only read, and a case can be held against evidence by whoever was not there."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.case.run import write_run
from forensics.case.tables import BY_NAME
from forensics.case.write import told_options
from forensics.cli import cli
from forensics.commands.evidence import reading_words
from forensics.model.clock.node_clocks import Options
from forensics.tools.custody import GOOD, UNSTABLE, Sealed, compare, sealed
from parsers import limits
from parsers.containers import units as dividing
from parsers.containers.units import Unit, units
from parsers.containers.walk import hands, read_unit
from tests.bundles.test_bundles import BUNDLES
from tests.forensics.case.test_case import make
from tests.support import local, recorded
from tests.support.archives import FILES, put, spread, tar, zipped
from tests.support.paths import ROOT

BUNDLE = BUNDLES / "zombie-leader-3.9.1-kraft.tar.gz"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# digests


@pytest.mark.parametrize("form", ["a.tar", "a.tar.gz", "a.zip", "server.log.gz"])
@pytest.mark.parametrize("shared", [False, True])
def test_an_archive_has_the_digest_of_its_file_however_it_is_divided(
    form: str, shared: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = {"a.tar": tar, "a.tar.gz": lambda files: tar(files, "w:gz"), "a.zip": zipped, "server.log.gz": lambda _: gzip.compress(b"x")}[
        form
    ]
    path = put(tmp_path / form, packed(FILES) + (b"" if form == "a.zip" else b"\0" * 10_240))
    monkeypatch.setattr(dividing, "UNIT_BYTES", range(1, 2) if shared else dividing.UNIT_BYTES)
    planned: list[Unit] = [hand for unit in units([str(path)]) for hand in hands(unit, 3 if shared else 1)]
    assert len(planned) > 1 or not shared or form == "server.log.gz"
    stated: list[tuple[str, int, str]] = []
    for unit in random.Random(0).sample(planned, len(planned)):
        for _, stream, _ in read_unit(unit, lambda member, _, size, sha256: stated.append((member.path, size, sha256))):
            if stream is not None:
                stream.read(10)
    assert stated == [(form, path.stat().st_size, digest(path.read_bytes()))]


def test_the_report_has_the_digest_of_each_file_and_archive(tmp_path: Path) -> None:
    spread(tmp_path / "a")
    path = put(tmp_path / "a" / "b.tar.gz", tar(FILES, "w:gz"))
    evidence = local.report(local.events_of(tmp_path / "a")).document()["evidence"]
    wanted = {f"{inside}{name}": digest(data) for name, data in FILES.items() for inside in ("", "b.tar.gz/")}
    assert {s["path"]: s["sha256"] for s in evidence["sources"]} == wanted
    assert [tuple(a.values()) for a in evidence["archives"]] == [("b.tar.gz", digest(path.read_bytes()), path.stat().st_size)]


# evidence is only read


_WATCHED: list[str] = []
_WRITTEN: list[str] = []


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    """Takes down what would change something below the directories watched; there is no way to take such a hook away again."""
    if not _WATCHED or event not in (
        "open",
        "os.rename",
        "os.remove",
        "os.mkdir",
        "os.link",
        "os.symlink",
        "os.utime",
        "os.chmod",
        "os.truncate",
    ):
        return
    paths = [os.path.abspath(os.fsdecode(a)) for a in arguments[:2] if isinstance(a, (str, bytes, os.PathLike))]
    writing = event != "open" or (isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))
    if writing and any(path.startswith(watched) for path in paths for watched in _WATCHED):
        _WRITTEN.append(f"{event} {paths}")


@contextmanager
def watched(directory: Path) -> Iterator[None]:
    if not getattr(sys, "_custody_hook", False):
        sys.addaudithook(_hook)
        sys._custody_hook = True  # type: ignore[attr-defined]
    _WATCHED.append(str(directory))
    _WRITTEN.clear()
    try:
        yield
    finally:
        _WATCHED.clear()


def look(directory: Path) -> dict[str, tuple[int, ...]]:
    """Sizes, modes, times of modification and of access."""
    return {
        str(p): (s.st_size, s.st_mode, s.st_mtime_ns, s.st_ctime_ns, 0 if p.is_dir() else s.st_atime_ns)
        for p in sorted(directory.rglob("*"))
        for s in [p.stat()]
    }


def test_evidence_is_opened_to_be_read_and_nothing_is_written_beside_it(tmp_path: Path) -> None:
    evidence = spread(tmp_path / "evidence" / "a")
    put(tmp_path / "evidence" / "b.zip", zipped(FILES))
    put(tmp_path / "evidence" / "c.tar", tar({"d.zip": zipped(FILES), "e.tar.gz": tar(FILES, "w:gz")}))
    events = local.events_of(evidence)
    before = look(tmp_path / "evidence")
    with watched(tmp_path / "evidence"):
        (evidence / "broker-1").chmod(0o755)
        assert _WRITTEN, "the hook sees nothing"
        before = look(tmp_path / "evidence")
        _WRITTEN.clear()
        local.report(local.events_of(tmp_path / "evidence"))
        make(tmp_path / "a.case", events)
        runner = CliRunner()
        done = [
            runner.invoke(cli, ["verify", str(tmp_path / "a.case"), str(evidence)]),
            runner.invoke(cli, ["redact", str(tmp_path / "evidence"), "--out", str(tmp_path / "r.tar.gz")]),
        ]
    assert [d.exit_code for d in done] == [0, 0], [d.output for d in done]
    assert _WRITTEN == []
    assert look(tmp_path / "evidence") == before


# verify


def files(text: dict[str, str]) -> list[Sealed]:
    return [Sealed(path, sha256) for path, sha256 in text.items()]


def states(then: dict[str, str], now: dict[str, str]) -> dict[str, str]:
    return {c.path: c.state for c in compare(files(then), files(now))}


def test_what_became_of_each_file() -> None:
    then = {"a/x": "1", "a/y": "2", "a/z": "3"}
    assert states(then, then) == dict.fromkeys(then, "same")
    assert states(then, {"a/x": "1", "a/y": "9", "a/w": "4"}) == {"a/x": "same", "a/y": "changed", "a/z": "missing", "a/w": "additional"}
    assert states(then, {"a/x": "2", "a/y": "1", "a/z": "3"}) == {"a/x": "changed", "a/y": "changed", "a/z": "same"}
    assert states(then, {f"b/{path}": s for path, s in then.items()}) == dict.fromkeys(then, "moved")
    assert states(then, {"a/x": "1", "a/y": "2", "a/z.old": "3"}) == {
        "a/x": "same",
        "a/y": "same",
        "a/z": "missing",
        "a/z.old": "additional",
    }


def test_copies_of_two_brokers_that_changed_places_are_not_the_same() -> None:
    """What a path says of whose file it is counts, too."""
    then = {"b-1/log": "1", "b-1/hw": "2", "b-2/log": "3", "b-2/hw": "4"}
    found = states(then, {"b-2/log": "1", "b-2/hw": "2", "b-1/log": "3", "b-1/hw": "4"})
    assert set(found.values()) == {"changed"}


NAMES = st.lists(st.sampled_from(["a/x", "a/y", "b/x", "b/c/x", "z"]), unique=True, min_size=1)


@given(names=NAMES, chance=st.randoms(use_true_random=False), form=st.sampled_from(["dir", "tar", "tar.gz", "zip"]))
@settings(max_examples=15)
def test_packing_and_order_change_nothing(
    names: list[str], chance: random.Random, form: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = {name: f"{chance.random()}".encode() for name in names}
    root = tmp_path_factory.mktemp("packed")
    then = sealed([str(spread(root / "evidence", content))])
    shuffled = {name: content[name] for name in chance.sample(names, len(names))}
    if form == "dir":
        path = spread(root / "other", shuffled)
    else:
        path = put(root / f"p.{form}", zipped(shuffled) if form == "zip" else tar(shuffled, "w:gz" if form == "tar.gz" else "w"))
    again = compare(then, sealed([str(path)]))
    assert {c.state for c in again if not c.archive} == {"same"}
    changed = compare(then, [*sealed([str(path)])[:-1], Sealed("z/new", digest(b"new"))])
    assert any(c.state not in GOOD for c in changed if not c.archive)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A case: sessions-0 lost a tail that was never committed, four partitions are intact."""
    made = make(tmp_path_factory.mktemp("kept") / "a.case", recorded.events("zombie-leader-3.9.1-kraft"))
    write_run(made.directory, ["analyze", str(BUNDLE)])
    return made.directory


def test_verify_tells_a_third_party(kept: Path, tmp_path: Path) -> None:
    same = CliRunner().invoke(cli, ["verify", str(kept), str(BUNDLE)])
    assert same.exit_code == 0
    assert "SAME." in same.stdout and "made on 20" in same.stdout and digest(BUNDLE.read_bytes()) in same.stdout
    other = BUNDLES / "acks1-failover-3.9.1-kraft.tar.gz"
    printed = CliRunner().invoke(cli, ["verify", str(kept), str(other), "--json", "-"])
    assert printed.exit_code == 1
    document = json.loads(printed.stdout)
    assert not document["same"] and document["run"]["command"][0] == "kafka-forensics"
    assert {"missing", "additional"} <= {f["state"] for f in document["files"]}
    assert CliRunner().invoke(cli, ["verify", str(tmp_path), str(BUNDLE)]).exit_code == 2


@pytest.mark.parametrize("form", ["a", "a.tar", "a.tar.gz", "a.zip"])
@pytest.mark.parametrize("name", ["__MACOSX/x/server.log", "x/._server.log", ".DS_Store", "x/Thumbs.db", "x/@PaxHeader"])
def test_files_that_are_not_read_are_listed(form: str, name: str, tmp_path: Path) -> None:
    def packed(files: dict[str, bytes]) -> Path:
        if form == "a":
            return spread(tmp_path / form, files)
        return put(tmp_path / form, zipped(files) if form == "a.zip" else tar(files, "w:gz" if form == "a.tar.gz" else "w"))

    then = sealed([str(packed(FILES))])
    added = packed({**FILES, name: b"hidden"})
    found = [c for c in compare(then, sealed([str(added)])) if c.state not in GOOD and not c.archive]
    assert [(c.path, c.state, c.now) for c in found] == [(name, "additional", digest(b"hidden"))]
    evidence = local.report(local.events_of(added)).document()["evidence"]
    assert evidence["ignored"] == [{"path": name, "sha256": digest(b"hidden"), "bytes": 6}]
    assert name not in {s["path"] for s in evidence["sources"]}


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize("nested", [False, True])
def test_an_entry_that_another_one_replaces_is_listed(mode: str, nested: bool, tmp_path: Path) -> None:
    def packed(*contents: bytes) -> list[Sealed]:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w" if nested else mode) as archive:  # type: ignore[call-overload]
            for content in contents:
                info = tarfile.TarInfo("server.log")
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        return sealed([str(put(tmp_path / "a.tar", tar({"in.tar": out.getvalue()}, mode) if nested else out.getvalue()))])

    first, second = b"[first]\n", b"[second]\n"
    then, now = packed(first if nested else second), packed(first, second)  # the last counts, if a tar can be read ahead
    (extra,) = [c for c in compare(then, now) if c.state not in GOOD and not c.archive]
    assert extra.state == "additional" and extra.now == digest(second if nested else first)


def test_evidence_that_changes_while_it_is_read_is_noticed(tmp_path: Path) -> None:
    path = spread(tmp_path / "a") / "broker-1/logs/server.log"
    then = sealed([str(tmp_path / "a")])
    (tmp_path / "b.tar.gz").write_bytes(tar(FILES, "w:gz"))
    for evidence, changing, named in ((tmp_path / "a", path, "broker-1/logs/server.log"), (tmp_path / "b.tar.gz",) * 2 + ("b.tar.gz",)):
        troubles = []
        for member, stream, trouble in read_unit(Unit(str(evidence), None, 0)):
            if stream is not None and member.path.endswith("logs/server.log"):
                stream.read(1)
                os.utime(changing, (1, 1))
            troubles += [(member.path, trouble)] if trouble is not None else []
        assert troubles == [(named, f"{named}: was changed while it was read: it had {(n := changing.stat().st_size)} bytes and has {n}")]
    now = [Sealed(s.path, UNSTABLE if s.path.endswith("server.log") else s.sha256) for s in then]
    assert [(c.path, c.state, c.now) for c in compare(then, now) if c.state not in GOOD] == [("broker-1/logs/server.log", UNSTABLE, None)]


# verify --proof


Rewritten = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]


def tampered(kept: Path, to: Path, table: str, change: Rewritten) -> str:
    """A copy of a case with other rows in one table."""
    directory = shutil.copytree(kept, to)
    own = BY_NAME[table]
    rows = change(pq.read_table(directory / own.file).to_pylist())
    pq.write_table(pa.Table.from_pylist(rows, schema=own.schema), directory / own.file)
    manifest = json.loads((directory / "case.json").read_text())
    manifest["tables"][table]["rows"] = len(rows)
    (directory / "case.json").write_text(json.dumps(manifest))
    return str(directory)


def changed(cells: dict[str, Any], **where: Any) -> Rewritten:
    """Other cells in the rows of which this holds."""
    return lambda rows: [{**r, **cells} if all(r[name] == value for name, value in where.items()) else r for r in rows]


SESSIONS = {"topic": "sessions", "partition": 0}


def rechecked(case: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["verify", case, "--proof"])
    assert done.exit_code in (0, 1), done.output
    return done.exit_code, done.stdout


def test_the_verdicts_of_a_case_follow_from_its_table(kept: Path) -> None:
    code, said = rechecked(str(kept))
    assert code == 0 and "same verdict as the case for 5 partitions" in said
    assert re.findall(r"(?m)^ +(\d+) (.*)$", said) == [("4", "intact"), ("1", "tail-cut")]
    both = CliRunner().invoke(cli, ["verify", str(kept), str(BUNDLE), "--proof", "--json", "-"])
    document = json.loads(both.stdout)
    assert (
        both.exit_code == 0
        and document["files"]
        and document["proof"]
        == {
            "partitions": 5,
            "verdicts": {"intact": 4, "tail-cut": 1},
            "differences": [],
        }
    )
    assert CliRunner().invoke(cli, ["verify", str(kept)]).exit_code == 2


def test_a_verdict_that_was_changed_is_found(kept: Path, tmp_path: Path) -> None:
    code, said = rechecked(tampered(kept, tmp_path / "a", "partitions", changed({"verdict": "intact"}, **SESSIONS)))
    assert code == 1 and "sessions-0: the case states intact, the hand-overs give tail-cut" in said
    assert "row 1, removed and high_watermark: offsets 450–569 gone, never committed, certain" in said


def test_a_cell_that_was_narrowed_counts_as_it_stands(kept: Path, tmp_path: Path) -> None:
    reached = {"high_watermark": {"at_least": 500, "at_most": 500, "evidence": []}, "had_all": ["no"]}
    code, said = rechecked(tampered(kept, tmp_path / "a", "handovers", changed(reached, **SESSIONS, row=1)))
    assert code == 1 and "the case states tail-cut, the hand-overs give lost" in said and "offsets 450–499 gone, committed, certain" in said
    code, said = rechecked(tampered(kept, tmp_path / "b", "handovers", changed({"removed": []}, **SESSIONS, row=1)))
    assert code == 1 and "row 1, old_log_end" in said
    narrower = changed({"process": ["kept-running"], "log": ["kept"]}, **SESSIONS, row=0)
    assert rechecked(tampered(kept, tmp_path / "c", "handovers", narrower))[0] == 0, "nothing rests on these cells of the first row"
    wider = changed({"unexplained_truncations": ["no", "yes"]}, topic="sessions", partition=1, row=1)
    code, said = rechecked(tampered(kept, tmp_path / "d", "handovers", wider))
    assert code == 1 and "sessions-1: the case states intact, the hand-overs give unknown\n    row 1, unexplained_truncations" in said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: [r for r in rows if (r["topic"], r["partition"], r["row"]) != ("sessions", 0, 1)], "rows are missing or there twice"),
        (lambda rows: [*rows, *rows], "rows are missing or there twice"),
        (changed({"old_leader": 77}, **SESSIONS, row=1), "hands over from broker 77"),
        (changed({"kind": "end"}, **SESSIONS, row=1), "the first row must be of kind 'begin'"),
        (changed({"election": None}, **SESSIONS, row=1), "a cell cannot be read"),
        (changed({"unseen": {"at_least": None, "at_most": 0, "evidence": []}}, **SESSIONS, row=1), "a cell cannot be read"),
        (changed({"topic": "\x1b[31m\u202e"}, **SESSIONS), "the table 'partitions' does not"),
    ],
    ids=["gone", "twice", "leader", "kind", "null", "bound", "topic"],
)
def test_rows_that_are_no_table_give_no_verdict(change: Rewritten, words: str, kept: Path, tmp_path: Path) -> None:
    code, said = rechecked(tampered(kept, tmp_path / "a", "handovers", change))
    assert code == 1 and "invalid" in said and words in said and "\x1b" not in said and "\u202e" not in said


def test_the_verdicts_are_rechecked_without_this_tool(kept: Path, tmp_path: Path) -> None:
    """The program on the page about custody, with one file of the tool and pyarrow."""
    root = ROOT
    (program,) = re.findall(r"```python\n(.*?)```", (root / "docs" / "custody.md").read_text("utf-8"), re.DOTALL)
    (tmp_path / "recheck.py").write_text(program)
    shutil.copy(root / "forensics" / "proof" / "verdict.py", tmp_path)
    shutil.copytree(kept, tmp_path / "incident.case")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([sys.executable, "recheck.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["same"] * 5
    assert "sessions 0 0 tail-cut tail-cut Lost(row=1, start=450, end=570" in done.stdout


def test_limits_that_were_raised_are_in_the_command_that_reads_the_evidence_again() -> None:
    given_words = ("--limit", "stream=17179869184", "--limit", "archives=8")
    raised = limits.given(["archives=8", "stream=16g"])
    assert sorted(reading_words(told_options(Options(), [], raised))) == sorted(given_words)
    assert limits.given(given_words[1::2]) == raised
    assert reading_words(told_options(Options(), [], limits.DEFAULTS)) == ()
