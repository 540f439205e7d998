"""The script that collects a bundle: what it takes tells as much as the whole did, with its times, and no secret is in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.bundles.test_bundles import BUNDLES
from tests.support import local
from tests.support.paths import ROOT

SCRIPT = ROOT / "docs" / "collect.sh"
SHELLS = [words for words in (("sh",), ("bash", "--posix"), ("busybox", "sh")) if shutil.which(words[0])]
SECRET = "hunter2"
SETTINGS = f"""
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


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    """A broker of a recorded cluster, with secrets beside what is evidence."""
    (tmp_path / "whole").mkdir()
    subprocess.run(["tar", "-xzf", str(BUNDLES / "unclean-election-2.8.2-zk.tar.gz"), "-C", str(tmp_path / "whole")], check=True)
    (there,) = (tmp_path / "whole").glob("*/broker-2")
    config = there / "config" / "server.properties"
    config.write_text(config.read_text().replace("/var/lib/kafka/broker-2/data", str(there / "data")) + SETTINGS)
    for place in ("config/keystore.jks", "logs/truststore.p12", "logs/kafka-authorizer.log", "data/orders-0/notes.txt"):
        (there / place).write_text(SECRET)
    os.utime(config, (1_700_000_000, 1_700_000_000))
    return there


def collected(shell: tuple[str, ...], *words: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    command = [*shell, str(SCRIPT), *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, check=True, env={**os.environ, **env}, timeout=120)


def held(bundle: Path) -> dict[str, tuple[int, bytes]]:
    with tarfile.open(bundle) as archive:
        return {m.name: (int(m.mtime), archive.extractfile(m).read()) for m in archive if m.isfile()}  # type: ignore[union-attr]


@pytest.mark.parametrize("shell", SHELLS, ids=[" ".join(words) for words in SHELLS])
def test_a_bundle_holds_what_is_evidence_with_its_times_and_nothing_secret(shell: tuple[str, ...], broker: Path, tmp_path: Path) -> None:
    collected(shell, "-n", "broker-2", "-c", str(broker / "config/server.properties"), "-l", str(broker / "logs"), cwd=tmp_path)
    found = held(tmp_path / "broker-2.tar.gz")
    for name, (at, data) in found.items():
        assert SECRET.encode() not in data, name
        place = broker / name.removeprefix("broker-2/")
        if place.exists():
            assert at == int(place.stat().st_mtime), name
            assert data == place.read_bytes() or place.name == "server.properties"
    names = {name.removeprefix("broker-2/") for name in found}
    whole = {str(p.relative_to(broker)) for p in broker.rglob("*") if p.is_file()}
    assert {
        "logs/server.log",
        "logs/state-change.log",
        "data/replication-offset-checkpoint",
        "data/orders-0/leader-epoch-checkpoint",
    } <= names
    assert names - {"collected.txt"} <= whole
    assert not [name for name in names if name.endswith((".jks", ".p12", "notes.txt", "authorizer.log")) or "/0000" in name]
    settings = found["broker-2/config/server.properties"][1].decode()
    assert {"min.insync.replicas=2", "ssl.keystore.password=[hidden]", "metrics.url=http://[hidden]@example/", "broker.id=2"} <= set(
        settings.splitlines()
    )


def test_what_is_collected_tells_of_the_loss(broker: Path, tmp_path: Path) -> None:
    for there in sorted(broker.parent.glob("broker-*")):
        collected(
            ("sh",),
            "-n",
            there.name,
            "-c",
            str(there / "config/server.properties"),
            "-l",
            str(there / "logs"),
            "-d",
            str(there / "data"),
            cwd=tmp_path,
        )
    told = local.report(local.events_of(*map(str, sorted(tmp_path.glob("broker-*.tar.gz"))))).document()
    assert told["verdict"]["partitions"]["lost"] == 2 and [b["id"] for b in told["cluster"]["brokers"]] == [1, 2, 3]
    losses = [f for f in told["findings"] if f["kind"] == "data-loss" and f["committed"]]
    assert [p["offsets"] for f in losses for p in f["places"]] == [[{"start": 200, "end": 358}]] * 2


def test_segments_are_taken_of_topics_that_are_named_alone(broker: Path, tmp_path: Path) -> None:
    (broker / "data" / "orders-archive-0").mkdir()
    shutil.copy(next((broker / "data" / "orders-0").glob("0*.log")), broker / "data" / "orders-archive-0")
    collected(("sh",), "-n", "b", "-d", str(broker / "data"), "-l", str(broker / "logs"), "-c", "/dev/null", "-s", "orders", cwd=tmp_path)
    segments = {Path(name).parent.name for name in held(tmp_path / "b.tar.gz") if name.endswith(".log") and "/data/" in name}
    assert segments == {"orders-0", "orders-1"}


@pytest.mark.parametrize("words", [("-D", "kafka"), ("-K", "kafka-0", "-N", "prod", "-C", "broker")], ids=["docker", "kubernetes"])
def test_in_containers_the_script_runs_inside(words: tuple[str, ...], broker: Path, tmp_path: Path) -> None:
    """With a docker and a kubectl that run what they are told to on this machine."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("docker", "kubectl"):
        (tools / name).write_text('#!/bin/sh\nasked="$*"\ncase $1 in logs) echo "2026-01-01T00:00:00Z $asked"; exit ;; esac\n'
                                  'while [ "$1" != sh ]; do shift; done\nexec "$@"\n')  # fmt: skip
        (tools / name).chmod(0o755)
    given = ("-c", str(broker / "config/server.properties"), "-l", str(broker / "logs"))
    collected(("sh",), "-n", "broker-2", *words, *given, cwd=tmp_path, PATH=f"{tools}:{os.environ['PATH']}")
    assert "broker-2/logs/server.log" in held(tmp_path / "broker-2" / "broker-2.tar.gz")
    assert words[1] in (tmp_path / "broker-2" / "stdout.log").read_text()
