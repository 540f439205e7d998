"""On Spark's own standalone cluster the answer is that of the Spark inside the command, even when an executor dies on the way.

Two minutes of JVMs: `KAFKA_FORENSICS_STANDALONE=on pytest tests/spark/test_standalone.py` asks for it.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from spark.java import find_java
from tests.support.hostile import command, executed, fill
from tests.support.paths import BUNDLES, ROOT

pytestmark = pytest.mark.skipif(not os.environ.get("KAFKA_FORENSICS_STANDALONE"), reason="asked for by KAFKA_FORENSICS_STANDALONE=on")

BUNDLE = BUNDLES / "unclean-election-3.9.1-kraft.tar.gz"
SPARK = Path(pyspark.__file__).parent
WAIT_S = 60


def wait_for(log: Path, words: str) -> None:
    end = time.monotonic() + WAIT_S
    while words not in log.read_text():
        assert time.monotonic() < end, log.read_text()[-2000:]
        time.sleep(0.2)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[int]]]:
    """URL of a master with two workers on the loopback, and the ids of the workers' processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(tmp_path / "work"), "JAVA_HOME": str(find_java().home)}
    environment = os.environ | own | {"PYSPARK_PYTHON": sys.executable}
    url = f"spark://127.0.0.1:{port}"
    started = []

    def launch(name: str, role: str, *arguments: str) -> Path:
        log = tmp_path / f"{name}.log"
        command = [str(SPARK / "bin" / "spark-class"), f"org.apache.spark.deploy.{role}", "--webui-port", "0", *arguments]
        with log.open("w") as out:
            started.append(subprocess.Popen(command, env=environment, stdout=out, stderr=out, start_new_session=True))
        return log

    try:
        wait_for(launch("master", "master.Master", "--host", "127.0.0.1", "--port", str(port)), "I have been elected leader")
        logs = [launch(f"worker-{n}", "worker.Worker", "--cores", "1", "--memory", "1g", url) for n in (1, 2)]
        for log in logs:
            wait_for(log, "Successfully registered with master")
        yield url, [worker.pid for worker in started[1:]]
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(WAIT_S)


def analysed(tmp_path: Path, *more: str) -> subprocess.Popen[str]:
    environment = os.environ | {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "JAVA_HOME": str(find_java().home),
        "PYTHONPATH": str(ROOT),
        "PYSPARK_PYTHON": sys.executable,
    }
    words = [*command(tmp_path), "analyze", str(BUNDLE), "--json", "-", *more]
    return subprocess.Popen(words, env=environment, cwd=hostile(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def hostile(tmp_path: Path) -> Path:
    """The working directory, whose parent could be the home of Spark."""
    directory = tmp_path / "hostile"
    if not directory.exists():
        fill(directory)
        fill(directory / "there")
    return directory / "there"


def executors(worker: int) -> list[int]:
    """Processes a worker started."""
    return [int(pid) for pid in Path(f"/proc/{worker}/task/{worker}/children").read_text().split()] + [
        int(child) for task in Path(f"/proc/{worker}/task").iterdir() for child in (task / "children").read_text().split()
    ]


@pytest.mark.parametrize("killed", [False, True], ids=["whole", "an executor is killed"])
def test_same_bytes_as_inside_the_command(cluster: tuple[str, list[int]], tmp_path: Path, killed: bool) -> None:
    url, workers = cluster
    there = analysed(tmp_path, "--master", url)
    if killed:
        assert there.stderr is not None
        while "Reading" not in (line := there.stderr.readline()):
            assert line, "it ended before it read"
        own = {pid for worker in workers for pid in executors(worker)}
        os.kill(min(own), signal.SIGKILL)
    on_cluster, printed = there.communicate(timeout=300)
    assert there.returncode == 0, printed
    inside, _ = analysed(tmp_path).communicate(timeout=300)
    assert on_cluster == inside
    assert executed(hostile(tmp_path)) == executed(hostile(tmp_path).parent) == []
