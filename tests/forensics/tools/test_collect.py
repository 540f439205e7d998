"""The script that collects a bundle, in real shells: evidence with its times, no secrets, and nothing at all without an option."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from forensics.cli import cli
from tests.support import local
from tests.support.paths import BUNDLES, ROOT

SCRIPT = ROOT / "forensics" / "tools" / "collect.sh"
SHELLS = [name for name in ("dash", "bash", "busybox") if shutil.which(name)] or ["sh"]
SECRET = "hunter2"
AT = 1_700_000_000
SETTINGS = f"""
broker.id=2
# ssl.key.password={SECRET}
! was {SECRET}
ssl.keystore.password={SECRET}
  sasl.jaas.config = org.apache.kafka.common.security.plain.PlainLoginModule required \\
    username="admin" \\
    password="{SECRET}";
ssl.keystore.key: -----BEGIN PRIVATE KEY----- \\
  {SECRET}
listener.name.sasl.plain.sasl.jaas.config={SECRET}
metrics.url=http://user:{SECRET}@example/
custom.list=one,\\
  password={SECRET},\\
  two
pass\\u0077ord={SECRET}
min.insync.replicas=2
"""
EVIDENCE = (
    "config/server.properties",
    "logs/server.log",
    "logs/server.log.2026-01-01-00.gz",
    "logs/state-change.log",
    "data/meta.properties",
    "data/replication-offset-checkpoint",
    "data/.kafka_cleanshutdown",
    "data/orders-0/leader-epoch-checkpoint",
    "data/orders-0/partition.metadata",
    "data-2/recovery-point-offset-checkpoint",
    "data-2/orders-archive-0/leader-epoch-checkpoint",
    "data-2/__cluster_metadata-0/quorum-state",
)
SEGMENTS = ("data/orders-0/00000000000000000000.log", "data-2/orders-archive-0/00000000000000000000.log")
METADATA = "data-2/__cluster_metadata-0/00000000000000000000.log"
OTHERS = ("config/keystore.jks", "logs/truststore.p12", "logs/kafka-authorizer.log", "logs/kafka-request.log", "data/orders-0/notes.txt")


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    """A broker with two data directories, and with secrets next to the evidence."""
    there = tmp_path / "a broker"
    for name in (*EVIDENCE, *SEGMENTS, METADATA, *OTHERS):
        (there / name).parent.mkdir(parents=True, exist_ok=True)
        (there / name).write_text(f"content of {name}\n" if name in EVIDENCE else SECRET)
    config = there / "config" / "server.properties"
    config.write_text(f"{SETTINGS}log.dirs={there}/data, {there}/data-2\n")
    for name in EVIDENCE:
        os.utime(there / name, (AT, AT))
    return there


def command(shell: str, tmp_path: Path) -> tuple[list[str], dict[str, str]]:
    """The shell, and an environment. busybox has its own tools, and only those, as in small images."""
    if shell != "busybox":
        return [shell, *(["--posix"] if shell == "bash" else [])], dict(os.environ)
    tools = tmp_path / "tools"
    tools.mkdir(exist_ok=True)
    subprocess.run(["busybox", "--install", "-s", str(tools)], check=True)
    return [str(tools / "sh")], {**os.environ, "PATH": str(tools)}


def collected(*words: str, cwd: Path, shell: str = SHELLS[0], **env: str) -> subprocess.CompletedProcess[bytes]:
    start, environment = command(shell, cwd)
    return subprocess.run([*start, str(SCRIPT), *words], cwd=cwd, capture_output=True, check=True, env=environment | env, timeout=120)


def content(bundle: Path) -> dict[str, tuple[int, bytes]]:
    """Modification time and content of each file of a bundle, by path below its top directory."""
    with tarfile.open(bundle) as archive:
        files = {m.name.partition("/")[2]: (int(m.mtime), archive.extractfile(m).read()) for m in archive if m.isfile()}  # type: ignore[union-attr]
    del files["collected.txt"]
    return files


def words(broker: Path) -> list[str]:
    return ["-c", str(broker / "config/server.properties"), "-l", str(broker / "logs")]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_bundle_contains_the_evidence_with_its_times_and_no_secret(shell: str, broker: Path, tmp_path: Path) -> None:
    before = sorted(broker.rglob("*"))
    (tmp_path / "tmp").mkdir()
    collected("-n", "broker-2", *words(broker), cwd=tmp_path, shell=shell, TMPDIR=str(tmp_path / "tmp"))
    found = content(tmp_path / "broker-2.tar.gz")
    assert sorted(found) == sorted(EVIDENCE)
    assert {at for at, _ in found.values()} == {AT}
    settings = found.pop("config/server.properties")[1].decode()
    assert {name: data for name, (_, data) in found.items()} == {name: (broker / name).read_bytes() for name in found}
    assert SECRET not in settings
    assert {"min.insync.replicas=2", "ssl.keystore.password=[hidden]", "metrics.url=http://[hidden]@example/", "broker.id=2"} <= set(
        settings.splitlines()
    )
    assert sorted(broker.rglob("*")) == before and list((tmp_path / "tmp").iterdir()) == []
    assert (tmp_path / "broker-2.tar.gz").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("shell", SHELLS)
def test_without_an_option_it_only_prints_its_help(shell: str, tmp_path: Path) -> None:
    start, environment = command(shell, tmp_path)
    (tmp_path / "here").mkdir()

    def run(*given: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*start, str(SCRIPT), *given], cwd=tmp_path / "here", capture_output=True, text=True, check=False, env=environment, timeout=60
        )

    nothing, asked = run(), run("--help")
    assert (nothing.returncode, nothing.stdout, asked.returncode, asked.stderr) == (2, "", 0, "")
    assert nothing.stderr.startswith(asked.stdout) and nothing.stderr.endswith("give at least -n NAME\n")
    assert asked.stdout == run("-h").stdout
    for given, said in (
        (("-n", "../b"), "-n '../b': a name consists of letters"),
        (("-n", "b", "-a", "x"), "-a 'x': give a number of days"),
        (("-z",), "--help lists the options"),
        (("-n", "b", "more"), "'more' is not an option"),
        (("-n", "b", "-D", "kafka", "-K", "kafka-0"), "give either a container or a pod"),
        (("-n", "b", "-N", "prod"), "-N and -C belong to a pod"),
        (("-n", "b", "-D", "kafka", "-o", "-"), "-o - does not work with -D and -K"),
        (("-n", "b", "-D", "kafka", "-d", "/a;b"), "paths and topics in a container may only have"),
    ):
        refused = run(*given)
        assert refused.returncode == 2 and said in refused.stderr, given
    assert list((tmp_path / "here").iterdir()) == []


def test_the_options_of_the_script_are_those_of_its_help() -> None:
    shown = subprocess.run(["sh", str(SCRIPT), "-h"], capture_output=True, text=True, check=True).stdout
    options = next(line for line in SCRIPT.read_text().splitlines() if line.startswith("while getopts")).split()[2]
    assert [letter for letter in options.replace(":", "") if f"-{letter}" not in shown] == []


def test_segments_and_metadata_are_included_on_request_only(broker: Path, tmp_path: Path) -> None:
    collected("-n", "a", *words(broker), "-s", "orders", cwd=tmp_path)
    assert set(content(tmp_path / "a.tar.gz")) == {*EVIDENCE, SEGMENTS[0]}
    collected("-n", "b", *words(broker), "-m", cwd=tmp_path)
    assert set(content(tmp_path / "b.tar.gz")) == {*EVIDENCE, METADATA}


def test_old_log_files_can_be_left_out(broker: Path, tmp_path: Path) -> None:
    (broker / "logs" / "server.log").touch()
    collected("-n", "a", *words(broker), "-a", "7", cwd=tmp_path)
    assert [name for name in content(tmp_path / "a.tar.gz") if name.startswith("logs/")] == ["logs/server.log"]


def test_the_printed_script_runs_from_standard_input(broker: Path, tmp_path: Path) -> None:
    printed = CliRunner().invoke(cli, ["collect", "--print"]).stdout
    assert printed == SCRIPT.read_text("utf-8")
    done = subprocess.run(
        ["sh", "-s", "--", "-n", "b", "-o", "-", *words(broker)], input=printed.encode(), capture_output=True, check=True, cwd=tmp_path
    )
    (tmp_path / "b.tar.gz").write_bytes(done.stdout)
    assert sorted(content(tmp_path / "b.tar.gz")) == sorted(EVIDENCE)


@pytest.mark.parametrize("given", [("-D", "kafka"), ("-K", "kafka-0", "-N", "prod", "-C", "broker")], ids=["docker", "kubernetes"])
def test_in_containers_the_script_runs_inside(given: tuple[str, ...], tmp_path: Path) -> None:
    """With a docker and a kubectl that run their arguments on this machine."""
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "server.log").write_text("a line\n")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("docker", "kubectl"):
        (tools / name).write_text('#!/bin/sh\nasked="$*"\ncase $1 in logs) echo "2026-01-01T00:00:00Z $asked"; exit ;; esac\n'
                                  'while [ "$1" != sh ]; do shift; done\nexec "$@"\n')  # fmt: skip
        (tools / name).chmod(0o755)
    collected("-n", "broker-2", *given, "-c", "/dev/null", "-l", str(logs), cwd=tmp_path, PATH=f"{tools}:{os.environ['PATH']}")
    assert set(content(tmp_path / "broker-2" / "broker-2.tar.gz")) == {"logs/server.log"}
    assert given[1] in (tmp_path / "broker-2" / "stdout.log").read_text()


def test_the_collected_files_show_the_loss_of_a_recorded_incident(tmp_path: Path) -> None:
    subprocess.run(["tar", "-xzf", str(BUNDLES / "unclean-election-2.8.2-zk.tar.gz"), "-C", str(tmp_path)], check=True)
    for there in tmp_path.glob("*/broker-*"):
        given = [
            word for option, name in (("-c", "config/server.properties"), ("-l", "logs"), ("-d", "data")) for word in (option, there / name)
        ]
        collected("-n", there.name, *map(str, given), cwd=tmp_path)
    document = local.report(local.events_of(*map(str, sorted(tmp_path.glob("broker-*.tar.gz"))))).document()
    assert document["verdict"]["partitions"]["lost"] == 2 and [b["id"] for b in document["cluster"]["brokers"]] == [1, 2, 3]
    losses = [f for f in document["findings"] if f["kind"] == "data-loss" and f["committed"]]
    assert [p["offsets"] for f in losses for p in f["places"]] == [[{"start": 200, "end": 358}]] * 2


def test_shellcheck_has_no_complaint() -> None:
    shellcheck = shutil.which("shellcheck", path=str(Path(sys.executable).parent)) or shutil.which("shellcheck")
    if shellcheck is None:
        pytest.skip("shellcheck is not installed; the extra dev has it")
    done = subprocess.run([shellcheck, "--shell=sh", "--severity=style", str(SCRIPT)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
