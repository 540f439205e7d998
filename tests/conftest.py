"""What tests share: one Spark session, because the start of a JVM takes longer than a small test, and the directory of a test run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from hypothesis import settings

from spark.class_archive import SWITCH
from tests.support.recorded import SHARED

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from tests.support.objects import Objects

# Neither is what a user's cache holds a part of any test, nor may a test leave a process behind that fills it.
os.environ[SWITCH] = "off"

# A deadline measures the machine, not the code. Every run draws the same examples: what fails has to do with the change that is tested.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("others", deadline=None)
settings.load_profile("same")


def pytest_configure(config: pytest.Config) -> None:
    """Makes the directory of this run, before its other processes start."""
    if not hasattr(config, "workerinput"):
        os.environ[SHARED] = mkdtemp(prefix="kafka-forensics-test-run-")


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ.pop(SHARED))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what needs Spark, for a run without a JVM."""
    for item in items:
        if isinstance(item, pytest.Function) and "session" in item.fixturenames:
            item.add_marker("jvm")


@pytest.fixture(scope="session")
def session() -> Iterator[SparkSession]:
    """An embedded session as the commands have it, with two tasks at a time."""
    from spark.java import stop_all
    from spark.session import start

    running = start("local[2]")
    yield running
    running.stop()
    stop_all()


@pytest.fixture(scope="session")
def objects() -> Iterator[Objects]:
    """An S3 server; what a test puts there it names after itself."""
    from tests.support.objects import serving

    with serving() as there:
        yield there


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def called(session: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """A command in this process, on the Spark that is there: what a user sees of it, without another JVM. What is a process's own (signals,
    pipes, how it ends) is tests/forensics/commands/test_cli.py's, which starts real ones."""
    from forensics.cli import cli

    class Started:
        def __init__(self, *_: object, **__: object) -> None:
            pass

        def session(self) -> SparkSession:
            return session

    def call(*args: str | Path, cwd: Path) -> Done:
        monkeypatch.chdir(cwd)
        done = CliRunner(env={"COLUMNS": "120"}).invoke(cli, [*map(str, args)])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Done(done.exit_code, done.stdout, done.stderr)

    monkeypatch.setattr("spark.session.Starting", Started)
    return call
