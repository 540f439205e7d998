"""Over a Spark Connect server on the loopback, the report has the same bytes. Skipped without the extra `connect`; errors need no server."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pyspark
import pytest

from spark import connect
from spark.java import find_java
from spark.session import SparkRefused, start
from tests.support.hostile import command, executed, fill, run
from tests.support.paths import BUNDLES

BUNDLE = BUNDLES / "shared-log-clean-2.8.2-zk.tar.gz"
SPARK = Path(pyspark.__file__).parent
CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
with_extra = pytest.mark.skipif(find_spec("grpc_status") is None, reason="needs the extra connect")
WAIT_S = 90


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch) -> None:
    """The modules of the extra count as there."""
    monkeypatch.setattr(connect, "MODULES", ())


@pytest.mark.parametrize(
    ("url", "words"),
    [
        (f"sc://127.0.0.1:{free_port()}/;token=secret", "no Spark Connect server can be reached"),
        ("sc://:99999/;token=secret", "no valid host and port"),
    ],
    ids=["no server", "no port"],
)
def test_a_server_that_cannot_be_reached_is_one_line_without_the_token(complete: None, url: str, words: str) -> None:
    with pytest.raises(SparkRefused, match=r"^sc://[^\n]+$") as found:
        start(url)
    assert words in str(found.value)
    assert "secret" not in str(found.value)


def test_a_missing_package_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "MODULES", ("grpc_of_tests",))
    with pytest.raises(SparkRefused, match=r"^sc://host: [^\n]*grpc_of_tests[^\n]* extra connect$"):
        start("sc://host/;token=secret")


def test_memory_is_a_setting_of_the_server(complete: None) -> None:
    with pytest.raises(SparkRefused, match="leave out --memory"):
        start("sc://host", conf={"spark.driver.memory": "2g"})


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """URL of a server with two tasks at a time."""
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
    }
    words = [str(SPARK / "bin" / "spark-submit"), "--class", CLASS, "--master", "local[2]"]
    words += [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    own = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "JAVA_HOME": str(find_java().home)}
    log = tmp_path / "server.log"
    with log.open("w") as out:
        running = subprocess.Popen(words, env=os.environ | own, cwd=tmp_path, stdout=out, stderr=out)
    try:
        end = time.monotonic() + WAIT_S
        while "Spark Connect server started" not in log.read_text():
            assert time.monotonic() < end, log.read_text()[-2000:]
            time.sleep(0.2)
        yield f"sc://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait(WAIT_S)


@with_extra
def test_same_bytes_over_a_server_and_no_file_of_the_working_directory_is_executed(server: str, tmp_path: Path) -> None:
    def output(*arguments: str) -> str:
        done = run([*command(tmp_path), *arguments], tmp_path / "hostile" / "there")
        assert done.returncode == 0, done.stderr
        return done.stdout

    fill(tmp_path / "hostile" / "there")
    for words in (("analyze", str(BUNDLE), "--json", "-"), ("merge", str(BUNDLE))):
        assert output(*words, "--master", server) == output(*words)
    assert executed(tmp_path / "hostile" / "there") == []
