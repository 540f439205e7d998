"""The archive of Spark's classes: where it is, when it is trusted, and that nothing about it can fail a run."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark import class_archive
from spark.class_archive import KEEP, SWITCH, ClassArchive, archive_for, make_at_exit, prune
from spark.java import Java, find_java
from spark.training import jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(SWITCH, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "kafka-forensics" / "java"


@pytest.fixture
def at_exit(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was put off until this process ends."""
    registered: list[Any] = []

    def register(function: Callable[..., object], *arguments: object) -> None:
        registered.append((function, *arguments))

    monkeypatch.setattr(atexit, "register", register)
    return registered


def found() -> ClassArchive:
    archive = archive_for(find_java())
    assert archive is not None
    return archive


def test_it_is_private_and_named_for_spark_and_java(cache: Path) -> None:
    java = find_java()
    archive = found()
    assert archive.path.parent == cache
    assert cache.stat().st_mode & 0o077 == 0
    assert f"-java-{java.version}-" in archive.path.name
    assert archive.path.name.startswith("spark-4.")


def test_another_java_at_the_same_version_has_another(cache: Path, tmp_path: Path) -> None:
    java = find_java()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "modules").write_bytes(b"another build")
    other = archive_for(Java(tmp_path, java.version))
    assert other is not None
    assert other.path != found().path


def test_the_switch_turns_it_off(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "off")
    assert archive_for(find_java()) is None
    assert not cache.exists()


def test_a_cache_that_cannot_be_is_no_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert archive_for(find_java()) is None


@pytest.mark.parametrize(
    ("ahead_of_time", "use", "record"),
    [(True, "-XX:AOTCache={}", "-XX:AOTCacheOutput={}"), (False, "-XX:SharedArchiveFile={}", "-XX:ArchiveClassesAtExit={}")],
)
def test_options_to_use_and_to_record(tmp_path: Path, ahead_of_time: bool, use: str, record: str) -> None:
    archive = ClassArchive(tmp_path / "a", ahead_of_time)
    assert archive.recording(tmp_path / "b") == [record.format(tmp_path / "b")]
    assert archive.options() == []
    archive.path.touch(mode=0o600)
    assert archive.options() == [use.format(archive.path)]


def test_an_archive_others_may_write_is_not_trusted(tmp_path: Path) -> None:
    archive = ClassArchive(tmp_path / "a", True)
    archive.path.touch()
    archive.path.chmod(0o666)
    assert archive.options() == []


def test_it_is_made_when_missing_but_not_when_that_failed_lately(cache: Path, at_exit: list[Any]) -> None:
    archive = found()
    make_at_exit(find_java(), archive)
    assert at_exit == [(class_archive._train, find_java())]
    archive.failed.touch()
    make_at_exit(find_java(), archive)
    assert len(at_exit) == 1
    os.utime(archive.failed, (0, 0))
    make_at_exit(find_java(), archive)
    assert len(at_exit) == 2


def test_it_is_not_made_on_a_full_disk(cache: Path, at_exit: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_archive, "ROOM", 2**80)
    make_at_exit(find_java(), found())
    assert at_exit == []


def test_the_last_used_are_kept(tmp_path: Path) -> None:
    for age in range(KEEP + 2):
        path = tmp_path / f"spark-{age}.{'aot' if age % 2 else 'jsa'}"
        path.touch()
        os.utime(path, (1000 - age, 1000 - age))
    for other in ("part-spark-9.aot", "lock", "spark-8.failed"):
        (tmp_path / other).touch()
    prune(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", "spark-0.jsa", "spark-1.aot", "spark-8.failed"]


def test_the_jobs_of_the_training_run(session: SparkSession) -> None:
    assert jobs(session) == 64
