"""Each failure of docs/unattended.md: its exit code, and one line on stderr without a traceback."""

from __future__ import annotations

import errno
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from pickle import PicklingError
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from forensics.cli import cli
from tests.support.paths import BUNDLES, ROOT

PAGE = ROOT / "docs" / "unattended.md"
BUNDLE = BUNDLES / "unclean-election-2.8.2-zk.tar.gz"

# What pyspark raised on a standalone cluster whose workers lack something; stacks of the JVM are shortened.
JAVA = "An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.\n: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent failure: Lost task 0.3 in stage 0.0 (TID 3) (127.0.0.1 executor 0): "
STACK = "\n\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:581)\n"
IN_WORKERS = {
    "worker without pyarrow": "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
    '  File "/opt/spark/python/lib/pyspark.zip/pyspark/worker.py", line 2029, in main\n'
    "ModuleNotFoundError: No module named 'pyarrow'\n",
    "worker with another Python": "pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has different "
    "version: 3.9 than that in driver: 3.11, PySpark cannot run with different minor versions.\n",
    "worker whose Python is too old": "org.apache.spark.SparkException: \nError from python worker:\n  Traceback (most recent call last):\n"
    '    File "/usr/lib/python3.9/runpy.py", line 188, in _run_module_as_main\n      mod_name, mod_spec, code = _get_module_details(mod_name, _Error)\n'
    "  TypeError: unsupported operand type(s) for |: 'type' and 'type'\nPYTHONPATH was:\n  /opt/spark/python\n",
    "worker without Python": 'java.io.IOException: Cannot run program "/nowhere/python3": error=2, No such file or directory\n',
    "executors lost": "ExecutorLostFailure (executor 3 exited caused by one of the running tasks) Reason: Command exited with code 137\n",
    "Spark master that does not answer": "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.\n",
    "Python worker killed": "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed). Consider setting "
    "'spark.python.worker.faulthandler.enabled' configuration to 'true' for the better Python traceback.\n",
    "Spark out of memory": "java.lang.OutOfMemoryError: Java heap space\n",
}


def rows() -> list[tuple[str, int, str]]:
    """Failure, exit code and line of each row of the table."""
    table = PAGE.read_text("utf-8").partition("| failure | code |")[2].splitlines()[2:]
    cells = (re.split(r"(?<!\\)\|", line.strip().strip("|")) for line in table if line.startswith("|"))
    return [(name.strip(), int(code), line.strip().replace("\\|", "|")) for name, code, line in cells]


ROWS = rows()


@dataclass
class Faults:
    """Makes each failure of the table, and returns the exit code and what is on stderr."""

    place: Path
    patch: pytest.MonkeyPatch

    def __call__(self, name: str) -> tuple[int, str]:
        for variable in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
            self.patch.delenv(variable, raising=False)
        self.patch.setenv("SPARK_CONF_DIR", str(self.place))
        if name in IN_WORKERS:
            self.patch.setenv("PYSPARK_PYTHON", "/opt/python3")
            return self._raising(_spark_error(IN_WORKERS[name]))
        return getattr(self, f"_{name.lower().replace(' ', '_').replace(chr(39), '')}")()  # type: ignore[no-any-return]

    def _raising(self, error: Exception) -> tuple[int, str]:
        class Starting:
            def __init__(self, *_: object, **__: object) -> None:
                pass

            def session(self) -> None:
                raise error

        self.patch.setattr("spark.session.Starting", Starting)
        return analyze()

    def _no_java_and_much_evidence(self) -> tuple[int, str]:
        self.patch.setattr("spark.java._homes", lambda: iter(()))
        self.patch.setattr("spark.in_process.suits", lambda _: False)
        return analyze()

    def _no_java_for_a_local_master(self) -> tuple[int, str]:
        self.patch.setattr("spark.java._homes", lambda: iter(()))
        return analyze("local[2]")

    def _spark_master_absent(self) -> tuple[int, str]:
        return analyze("spark://127.0.0.1:1")

    def _spark_master_silent(self) -> tuple[int, str]:
        return self._at("spark://127.0.0.1:{}")

    def _port_of_the_masters_web_page(self) -> tuple[int, str]:
        return self._at("spark://127.0.0.1:{}", b"HTTP/1.1 400 Bad Request\r\n\r\n")

    def _spark_connect_server_silent(self) -> tuple[int, str]:
        self.patch.setattr("spark.connect.MODULES", ())
        return self._at("sc://127.0.0.1:{}/;token=secret")

    def _kubernetes_silent(self) -> tuple[int, str]:
        (self.place / "spark-defaults.conf").write_text("spark.kubernetes.container.image registry/spark:4\n")
        return self._at("k8s://https://127.0.0.1:{}")

    def _at(self, url: str, answer: bytes = b"", before: Callable[[int], None] = lambda _: None) -> tuple[int, str]:
        """With a master whose port accepts connections, and gives this answer. `before`: what to do with the port first."""
        self.patch.setattr("spark.masters.PATIENCE_S", 5.0 if answer else 0.2)
        self.patch.setattr("spark.masters.LEAST_S", 0.1)
        with socket.create_server(("127.0.0.1", 0)) as server:

            def answers() -> None:
                with server.accept()[0] as connection:
                    connection.recv(4096)
                    connection.sendall(answer)

            if answer:
                threading.Thread(target=answers, daemon=True).start()
            before(server.getsockname()[1])
            return analyze(url.format(server.getsockname()[1]))

    def _spark_master_without_a_port(self) -> tuple[int, str]:
        return analyze("spark://nowhere")

    def _yarn_without_a_configuration(self) -> tuple[int, str]:
        return analyze("yarn")

    def _yarn_with_an_empty_configuration(self) -> tuple[int, str]:
        self.patch.setenv("HADOOP_CONF_DIR", str(self.place))
        return analyze("yarn")

    def _yarn_resourcemanager_absent(self) -> tuple[int, str]:
        self._hadoop("<name>yarn.resourcemanager.address</name><value>${yarn.resourcemanager.hostname}:1</value>")
        return analyze("yarn")

    def _yarn_resourcemanager_silent(self) -> tuple[int, str]:
        return self._at(
            "yarn", before=lambda port: self._hadoop(f"<name>yarn.resourcemanager.address</name><value>127.0.0.1:{port}</value>")
        )

    def _hadoop(self, of_address: str) -> None:
        host = "<name>yarn.resourcemanager.hostname</name><value>127.0.0.1</value>"
        text = f"<configuration><property>{host}</property><property>{of_address}</property></configuration>"
        (self.place / "yarn-site.xml").write_text(text)
        self.patch.setenv("HADOOP_CONF_DIR", str(self.place))

    def _kubernetes_without_an_image(self) -> tuple[int, str]:
        return analyze("k8s://https://127.0.0.1:1")

    def _kubernetes_absent(self) -> tuple[int, str]:
        (self.place / "spark-defaults.conf").write_text("# ours\nspark.kubernetes.container.image  registry/spark:4\n")
        return analyze("k8s://https://127.0.0.1:1")

    def _few_file_descriptors(self) -> tuple[int, str]:
        self.patch.setattr("spark.session.getrlimit", lambda _: (64, 64))
        return analyze()

    def _loopback_interface_down(self) -> tuple[int, str]:
        """As with `unshare --net`: the JVM starts, and cannot be reached."""
        self.patch.setattr("spark.session.Jvm", lambda *_: SimpleNamespace(gateway=lambda: (1, "secret")))

        def unreachable(**_: object) -> None:
            raise OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))

        self.patch.setattr("pyspark.java_gateway.ClientServer", unreachable)
        return analyze()

    def _tmpdir_absent(self) -> tuple[int, str]:
        self.patch.setenv("TMPDIR", str(self.place / "absent"))
        return analyze()

    def _tmpdir_full(self) -> tuple[int, str]:
        """pyspark's error for a file that it cannot write."""
        self.patch.setattr("spark.failures._is_full", lambda _: True)
        return self._raising(PicklingError("Could not serialize broadcast: OSError: [Errno 28] No space left on device"))

    def _tables_full(self) -> tuple[int, str]:
        return self._raising(
            _spark_error(f"PythonException: Traceback\nOSError: [Errno 28] No space left on device: '{self.place / 'out'}'\n")
        )

    def _stdout_full(self) -> tuple[int, str]:
        with open("/dev/full", "w") as full:
            return process("rules", stdout=full)

    def _package_of_another_program(self) -> tuple[int, str]:
        (self.place / "parsers").mkdir()
        (self.place / "parsers" / "__init__.py").touch()
        return process(
            "rules",
            before=f"import sys\nsys.path.insert(0, {str(self.place)!r})\n[sys.modules.pop(n) for n in [*sys.modules] if n.startswith('parsers')]",
        )

    def _defect(self) -> tuple[int, str]:
        self.patch.setenv("TMPDIR", str(self.place))
        return process("rules", before="import forensics.rules\nforensics.rules.RULES = property()")

    def _reader_of_stdout_gone(self) -> tuple[int, str]:
        return unread("patterns")


def _spark_error(text: str) -> Exception:
    error: type[Exception] = type("Py4JJavaError", (Exception,), {"__module__": "py4j.protocol"})
    return error(JAVA + text + STACK)


def analyze(master: str | None = None) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["analyze", str(BUNDLE), *(["--master", master] if master else [])])
    assert isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stderr


def process(*words: str, before: str = "", stdout: Any = subprocess.PIPE) -> tuple[int, str]:
    """The command in a process of its own. `before`: Python that runs first."""
    command = [sys.executable, "-c", f"from forensics.cli import main\n{before}\nmain()", *words]
    done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=ROOT, timeout=300)
    return done.returncode, done.stderr


def unread(*words: str) -> tuple[int, str]:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        return process(*words, stdout=writing)
    finally:
        os.close(writing)


@pytest.mark.parametrize(("name", "code", "line"), ROWS, ids=[name for name, _, _ in ROWS])
def test_a_failure_is_one_line_and_its_exit_code(name: str, code: int, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    returned, printed = Faults(tmp_path, monkeypatch)(name)
    lines = [text for text in printed.splitlines() if text and not text.endswith("...")]
    assert returned == code, printed
    assert len(lines) == bool(line), printed
    if line:
        assert re.fullmatch(".*".join(map(re.escape, f"Error: {line}".split("…"))), lines[0]), lines[0]
    if name == "defect":
        _is_report(Path(lines[0].rpartition(" are in ")[2]), tmp_path)


def _is_report(file: Path, place: Path) -> None:
    """Whether the file about a defect has everything that a report needs, and nobody else can read it."""
    text = file.read_text("utf-8")
    assert file.parent == place and file.stat().st_mode & 0o077 == 0
    assert "Please report" in text and "kafka-forensics rules" in text and "\nTraceback" in text
    assert "TypeError: " in text and re.search(r"version +\S+, rules unknown", text)


def test_a_reader_that_stops_early_does_not_hide_what_was_asked_for(tmp_path: Path) -> None:
    from tests.forensics.case.test_case import make
    from tests.support import recorded

    make(tmp_path / "a.case", recorded.events("unclean-election-2.8.2-zk"))
    for output in ((), ("--json", "-"), ("--markdown", "-")):
        assert unread("report", str(tmp_path / "a.case"), "--fail-on", "critical", *output) == (1, ""), output


def test_ctrl_c_before_anything_is_read(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from forensics.cli import main; main()", "diff", str(tmp_path), str(tmp_path)]
    waiting = "import forensics.commands.diff as d, time; d.compare = lambda *_: (print('here', flush=True), time.sleep(60)); "
    command[2] = waiting + command[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as running:
        assert running.stdout is not None and running.stderr is not None
        assert running.stdout.readline() == "here\n"
        running.send_signal(signal.SIGINT)
        assert (running.stderr.read(), running.wait()) == ("Interrupted.\n", 130)
