"""The command as a user meets it: exit codes, what goes where, bad input. One real run of each sort, on Spark."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.commands.inputs import EvidenceInput
from forensics.commands.inspect import _clock
from forensics.model.clock.clocks import Clock
from forensics.views import text
from tests.conftest import Done
from tests.support.paths import BUNDLES
from tests.support.shapes import bundle, put

BUNDLE = BUNDLES / "unclean-election-2.8.2-zk.tar.gz"


COMMAND = [sys.executable, "-c", "from forensics.cli import main; main()"]
ENVIRONMENT = {**os.environ, "COLUMNS": "120", "KAFKA_FORENSICS_CLASS_ARCHIVE": "off"}


def run(*args: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=ENVIRONMENT, timeout=300)


def test_ctrl_c_in_the_middle_of_a_job_says_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    environment = ENVIRONMENT | {"TMPDIR": str(tmp_path / "tmp")}
    command = [*COMMAND, "analyze", str(BUNDLE)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True) as running:
        assert running.stderr is not None
        said = ""
        while "Reading" not in said:
            line = running.stderr.readline()
            assert line, said
            said += line
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to everything it started
        rest = running.stderr.read()
    assert (running.returncode, rest) == (130, "Interrupted.\n")
    for _ in range(200):
        if not list((tmp_path / "tmp").iterdir()):
            return
        time.sleep(0.05)
    raise AssertionError("the session's files are still there")


def java_of(process: int) -> int:
    """The JVM among what a process started."""
    parents, javas = {}, []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = stat.read_text().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        pid = int(stat.parent.name)
        parents[pid] = int(rest.split()[1])
        javas += [pid] if name == "java" else []

    def ancestors(pid: int) -> set[int]:
        return {pid} | (ancestors(parents[pid]) if pid in parents else set())

    (java,) = [pid for pid in javas if process in ancestors(pid)]
    return java


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
def test_a_spark_that_falls_is_one_line_that_says_what_to_do() -> None:
    """As it does when it runs out of memory."""
    with subprocess.Popen([*COMMAND, "analyze", str(BUNDLE)], stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as running:
        assert running.stderr is not None
        while "Reading" not in (line := running.stderr.readline()):
            assert line
        os.kill(java_of(running.pid), signal.SIGKILL)
        rest = running.stderr.read()
    assert running.returncode == 2
    assert "Traceback" not in rest
    assert rest.splitlines()[-1].startswith("Error: Spark ended") and "--memory" in rest


@pytest.mark.parametrize(("size", "said"), [("100m", "minimum 512m"), ("much", "for example 2g")])
def test_a_memory_that_is_none_is_told_at_once(size: str, said: str, tmp_path: Path, called: Callable[..., Done]) -> None:
    done = called("analyze", BUNDLE, "--memory", size, cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr


def test_damaged_evidence_is_named_and_the_rest_analysed(tmp_path: Path, called: Callable[..., Done]) -> None:
    top = put(tmp_path / "bundle", bundle("unclean-election-2.8.2-zk"))
    (top / "broker-3" / "logs" / "server.log").write_bytes(os.urandom(4096))
    (top / "broker-3" / "data" / "replication-offset-checkpoint").write_text("0\n7\norders 0 x\norders 1 233\n")
    (top / "broker-3" / "half.tar.gz").write_bytes(BUNDLE.read_bytes()[:40_000])
    (top / "broker-3" / "empty.log").write_bytes(b"")
    (top / "broker-3" / "secret").mkdir(mode=0)
    before = {p: p.stat().st_mtime_ns for p in top.rglob("*")}
    done = called("analyze", top, "--json", "-", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    report = json.loads(done.stdout)
    problems = {s["path"].rsplit("/", 1)[-1] for s in report["evidence"]["sources"] if s["problem"]}
    assert {"server.log", "replication-offset-checkpoint", "half.tar.gz"} <= problems
    kinds = {f["kind"] for f in report["findings"]}
    assert {"checkpoint-corrupt", "evidence-gap", "unclean-election"} <= kinds
    assert {p: p.stat().st_mtime_ns for p in top.rglob("*")} == before, "evidence is read-only"
    (warning,) = [line for line in done.stderr.splitlines() if line.startswith("Warning: ")]
    assert warning.count("half.tar.gz") == 1 and "cut off" in warning


ZOOKEEPER = (
    b"[2026-11-21 02:05:02,000] INFO Expiring session 0x1, timeout of 18000ms exceeded (org.apache.zookeeper.server.ZooKeeperServer)\n"
)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("notes.txt", b"we saw errors at three", "No Kafka logs or checkpoints"),
        ("zookeeper.log", ZOOKEEPER, "zookeeper.log is the log of another process, such as ZooKeeper"),
        ("notes.md", b"Broker 1 printed:\n\n    " + ZOOKEEPER.replace(b"zookeeper.server", b"kafka"), "No Kafka logs or checkpoints"),
        ("empty.tar.gz", b"", "empty.tar.gz: the file is empty (0 bytes)"),
        ("bundle.tar.gz", bytes(range(255, 0, -1)) * 40, "bundle.tar.gz: not an archive"),
        ("bundle.tar.gz", b"\x1f\x8b\x08half", "bundle.tar.gz"),
        ("nothing.tar", bytes(10240), "nothing.tar (there is no file in it)"),
        ("empty", None, "empty (the directory contains no file)"),
    ],
)
def test_nothing_usable_is_one_line_and_exit_2(
    name: str, content: bytes | None, said: str, tmp_path: Path, called: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    if name != "zookeeper.log":  # only a reader of lines knows whose they are
        monkeypatch.setattr("forensics.commands.evidence.start", lambda: pytest.fail("Spark was started for nothing"))
    if content is None:
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).write_bytes(content)
    done = called("analyze", name, cwd=tmp_path)
    assert done.returncode == 2
    lines = [line for line in done.stderr.splitlines() if not line.endswith("...")]
    assert len(lines) == 1
    assert said in lines[0]
    assert done.stdout == ""


def test_the_verdict_is_shown_before_the_case_is_written(
    tmp_path: Path, called: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    def noting(name: str, do: Callable[..., object]) -> Callable[..., object]:
        return lambda *given, **named: (order.append(name), do(*given, **named))[1]

    monkeypatch.setattr(text, "show", noting("verdict", text.show))
    monkeypatch.setattr(EvidenceInput, "keep", noting("case", EvidenceInput.keep))
    assert called("analyze", BUNDLE, "--case", "a.case", "--html", "page.html", cwd=tmp_path).returncode == 0
    assert order == ["verdict", "case"]
    assert (tmp_path / "a.case" / "case.json").exists() and (tmp_path / "page.html").exists()


def test_partitions_that_lack_evidence_give_exit_code_3(tmp_path: Path, called: Callable[..., Done]) -> None:
    """In the whole bundle, partitions are unknown because of Kafka: the only in-sync replica crashed. Code 3 is not for these."""
    top = put(tmp_path / "bundle", bundle("unclean-election-2.8.2-zk"))
    whole = called("analyze", top, "--json", "-", cwd=tmp_path)
    assert json.loads(whole.stdout)["verdict"]["partitions"]["unknown"] and whole.returncode == 0
    assert called("analyze", top / "broker-1" / "logs" / "state-change.log", cwd=tmp_path).returncode == 3


def test_an_offset_of_a_broker_that_is_not_there_is_refused(tmp_path: Path, called: Callable[..., Done]) -> None:
    done = called("inspect", BUNDLE, "--clock-offset", "9=1.5", cwd=tmp_path)
    assert done.returncode == 2 and "--clock-offset: the evidence has no broker 9 (found: 1, 2, 3)" in done.stderr


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    done = run("analyze", "nowhere.tar.gz", cwd=tmp_path)
    assert (done.returncode, done.stderr.strip()) == (2, "Error: nowhere.tar.gz: no such file or directory; check the path")


def test_fail_on_and_filters(tmp_path: Path, called: Callable[..., Done]) -> None:
    done = called("analyze", BUNDLE, "--fail-on", "critical", "--topic", "orders", cwd=tmp_path)
    assert done.returncode == 1
    assert "orders-0" in done.stdout
    assert "ONLY     topic orders: 2 of 8 partitions" in done.stdout
    assert done.stdout.count("ledger-0") == done.stdout.count("OUTSIDE") == 1


def test_inspect_tells_what_is_there_and_what_is_not(tmp_path: Path, called: Callable[..., Done]) -> None:
    done = called("inspect", BUNDLES / "last-replica-standing-2.8.2-zk.tar.gz", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "before-restart" in done.stdout
    assert "2.8.2" in done.stdout


def test_a_clock_is_printed_with_its_uncertainty() -> None:
    assert _clock(Clock(skew_ms=-300_000, uncertainty_ms=40, basis="start")) == "UTC -300.0 s ± 40 ms"
    assert _clock(Clock()) == "UTC (assumed)"


def test_rules_and_patterns_need_no_spark(tmp_path: Path) -> None:
    rules = run("rules", "unclean-election", cwd=tmp_path)
    assert "unclean-election  critical" in rules.stdout
    patterns = json.loads(run("patterns", "--json", "-", cwd=tmp_path).stdout)
    assert all(p["samples"] for p in patterns)
    assert run("rules", "no-such-kind", cwd=tmp_path).returncode == 2
