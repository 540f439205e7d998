"""RDDs, DataFrames and this process alone give the same objects and the same case; the DataFrames are those that run over Spark Connect."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import forensics
from forensics.case.run import RUN
from spark.datasets import Backend, RddBackend, use
from spark.foreign_session import prepared
from spark.frames import FrameBackend
from spark.in_process import InProcessBackend, in_process
from tests.support.paths import BUNDLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BUNDLE = BUNDLES / "shared-log-clean-2.8.2-zk.tar.gz"


@pytest.fixture
def own(session: SparkSession) -> Iterator[SparkSession]:
    """A session whose jobs run over DataFrames alone."""
    own = prepared(session)
    use(own, FrameBackend(own))
    yield own
    use(own, RddBackend(own))


@pytest.fixture(params=[RddBackend, FrameBackend, InProcessBackend])
def spark(session: SparkSession, request: pytest.FixtureRequest) -> Backend:
    made: Backend = request.param(prepared(session))
    return made


def test_objects_of_each_task(spark: Backend) -> None:
    added = spark.share({"more": 10})
    objects = spark.dataset([1, 2, 3]).map_tasks(lambda given: (number + added()["more"] for number in given))
    kept = objects.map_tasks(lambda given: [list(given)]).keep()
    assert kept.collect() == [[11], [12], [13]]
    assert list(kept.union(spark.dataset([[14]])).iterate()) == [[11], [12], [13], [14]]
    kept.forget()
    assert kept.count() == 3
    assert spark.split("abcde", 2).map_tasks(lambda given: ["".join(given)]).collect() == ["ab", "cde"]


def test_pairs_go_to_the_task_of_their_number(spark: Backend) -> None:
    pairs = spark.dataset([(0, "a"), (1, "b"), (2, "c"), (0, "d")]).deal(3, [2, 0, 2])
    assert [sorted(task) for task in pairs.map_tasks(lambda given: [list(given)]).collect()] == [
        [(1, "b")],
        [],
        [(0, "a"), (0, "d"), (2, "c")],
    ]


def test_kept_objects_are_computed_once(spark: Backend, tmp_path: Path) -> None:
    def mark(given: Iterable[int]) -> Iterator[int]:
        with (tmp_path / "computed").open("a") as file:
            file.write("x")
        yield from given

    kept = spark.dataset([7]).map_tasks(mark).keep(on_disk=True)
    assert kept.count() == 1
    assert kept.collect() == [7]
    assert (tmp_path / "computed").read_text() == "x"


def test_every_backend_gives_the_same_case(
    session: SparkSession, own: SparkSession, called: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    twice = tmp_path / "twice"
    for collection in ("first", "second"):  # the records of each log count once
        shutil.copytree(unpacked(BUNDLE, tmp_path / "unpacked"), twice / collection)
    for evidence in (BUNDLE, twice):
        cases = {name: tmp_path / f"{evidence.name}-{name}" for name in ("rdds", "frames", "in-process")}
        assert called("analyze", evidence, "--case", cases["rdds"], cwd=tmp_path).returncode == 0
        forensics.analyze(evidence, own, case=cases["frames"])
        with monkeypatch.context() as here:
            here.setattr("spark.foreign_session.borrowed", nullcontext)
            forensics.analyze(evidence, in_process(), case=cases["in-process"])
        names = {file.name for file in cases["rdds"].iterdir()}
        for name, case in cases.items():
            assert {file.name for file in case.iterdir()} == names
            for file in names - {RUN}:
                assert (case / file).read_bytes() == (cases["rdds"] / file).read_bytes(), (evidence.name, name, file)


def unpacked(archive: Path, to: Path) -> Path:
    shutil.unpack_archive(archive, to, filter="data")
    return to
