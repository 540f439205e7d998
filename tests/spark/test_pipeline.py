"""The run on Spark gives what one process gives, from units dealt evenly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.incidents.judging import VERDICTS, conclude, judge_partition
from forensics.jobs import identified, read, verdicts
from forensics.model.clock.gathered import Gathered
from forensics.model.cluster.build import build_cluster
from forensics.model.cluster.facts import Cluster
from forensics.model.events import IDENTIFIED
from forensics.model.partition.numbers import counted
from forensics.model.partition.quiet_times import FEW
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.timelines import by_partition
from forensics.views.document import Report
from forensics.words.rows import Worded
from parsers import pieces
from parsers.containers.units import Unit, units
from parsers.own_files import OwnFile
from parsers.schemas import EVENTS
from spark import pipeline
from spark.ipc import opened
from spark.pipeline import CELLS, JUDGED_ROWS, LEAST_A_CORE, Identified, SparkEvents, balance, judging_tasks, of_block, tasks
from tests.support import local
from tests.support.paths import BUNDLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.objects import Objects


SIZES = st.lists(st.integers(0, 10**9), max_size=40)


def of_sizes(sizes: list[int]) -> list[Unit]:
    return [Unit(f"f{i}", None, size) for i, size in enumerate(sizes)]


@given(SIZES, st.integers(1, 12))
@settings(max_examples=100)
def test_splits_cover_every_unit_once_and_weigh_alike(sizes: list[int], ways: int) -> None:
    dealt = of_sizes(sizes)
    splits = balance(dealt, ways)
    assert sorted((u for s in splits for u in s), key=lambda u: u.path) == sorted(dealt, key=lambda u: u.path)
    assert 1 <= len(splits) <= ways
    weights = [sum(u.size for u in s) for s in splits]
    assert max(weights) - min(weights) <= max(sizes, default=0)


@given(st.integers(1, 64), st.integers(0, 10**9))
def test_all_cores_judge_alike_and_few_events_are_one_task(cores: int, events: int) -> None:
    ways = judging_tasks(cores, events)
    assert ways <= cores or ways % cores == 0
    assert ways >= events // JUDGED_ROWS
    assert ways == 1 or events >= LEAST_A_CORE * min(ways, 2)


def test_no_evidence_is_one_empty_split_and_no_ways_are_one() -> None:
    assert balance([], 4) == [[]]
    assert balance(of_sizes([1, 2]), 0) == [of_sizes([1, 2])[::-1]]


def test_order_of_the_units_is_nothing() -> None:
    dealt = of_sizes([5, 9, 5, 1, 7])
    assert balance(dealt, 2) == balance(dealt[::-1], 2)


def test_ten_thousand_small_files_and_a_huge_one_are_dealt_by_their_bytes(session: SparkSession) -> None:
    assert [tasks(session, size) for size in (0, 1 << 20, 3 << 20, 30 << 20, 20 << 30)] == [1, 1, 1, 4, 640]
    assert [tasks(session, size << 20) for size in (5, 7, 225)] == [2, 4, 8]


def events(*places: tuple[str, int]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"topic": t, "partition": p, "event": "truncation"} for t, p in places], schema=IDENTIFIED)


def test_partition_that_spans_batches_is_one_group() -> None:
    batches = [events(("a", 0), ("a", 1)), events(("a", 1)), events(("a", 1), ("b", 1))]
    assert [(t, p, len(group)) for t, p, group in by_partition(batches)] == [("a", 0, 1), ("a", 1, 3), ("b", 1, 1)]
    assert list(by_partition([])) == []


@given(st.dictionaries(st.integers(0, 255), st.integers(1, 10**6), min_size=1, max_size=40), st.integers(1, 9))
@settings(max_examples=30)
def test_tasks_judge_alike_much_the_heaviest_partitions_first(weights: dict[int, int], ways: int) -> None:
    tasks = Identified(cast("Any", None), cast("Any", None), 256, weights).dealt(ways)
    loads = [sum(n for bucket, n in weights.items() if tasks[bucket] == task) for task in range(ways)]
    assert max(loads) - min(loads) <= max(weights.values()) + 256
    assert weights[max(weights, key=lambda bucket: (weights[bucket], -bucket))] <= loads[0]


def test_heavy_cell_is_spread_over_the_buckets_it_may_mean() -> None:
    for buckets in (256, CELLS, 4 * CELLS):
        tasks = Identified(cast("Any", None), cast("Any", None), buckets, {7: 10**6, 8: 9}).dealt(5)
        heavy = [tasks[bucket] for bucket in range(7, buckets, CELLS)]
        assert sorted(heavy) == list(range(len(heavy)))
        assert tasks[8] not in heavy


def everything(events: SparkEvents) -> pa.Table:
    return pa.concat_tables(map(of_block, events.blocks.collect()))


def on_spark(session: SparkSession, *paths: Path) -> Report:
    found = read(session, units([str(p) for p in paths]))
    try:
        cluster, resolver = build_cluster(Gathered(found.parts_of_cluster))
        claimed = conclude(verdicts(identified(found, resolver, cluster), cluster, Worded(judge_partition), VERDICTS).on_driver(), cluster)
    finally:
        found.unpersist()
    return Report(cluster, claimed.findings, claimed.partitions, claimed.incidents)


@pytest.mark.parametrize(("name", "at_once"), [("last-replica-standing-2.8.2-zk", 10**6), ("unclean-election-3.9.1-kraft", 0)])
def test_report_is_that_of_one_process(name: str, at_once: int, session: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "MANY_EVENTS", at_once)
    path = BUNDLES / f"{name}.tar.gz"
    there = on_spark(session, path).document()
    assert there["findings"]
    assert there["partitions"]
    assert there == local.report(local.events_of(path)).document()


def test_columns_come_through_spark_as_they_are_from_a_store_too(session: SparkSession, objects: Objects) -> None:
    path = BUNDLES / "unclean-election-0.10.2.2-zk.tar.gz"
    found = read(session, units([objects.put(path.name, path.read_bytes())]))
    try:
        claimed = everything(found)
    finally:
        found.unpersist()
    assert claimed.schema.names == EVENTS.names
    here = local.events_of(path)
    order = [("source", "ascending"), ("line", "ascending"), ("byte", "ascending"), ("event", "ascending"), ("topic", "ascending")]
    order += [("partition", "ascending"), ("offset", "ascending"), ("leader_epoch", "ascending"), ("key", "ascending")]
    assert claimed.sort_by(order).to_pylist() == here.sort_by(order).to_pylist()


REFUSED = "INFO Partition [orders,0] on broker 3: Cached zkVersion [0] not equal to that in zookeeper, skip updating ISR (kafka.cluster.Partition)"
"""real: unclean-election-0.10.2.2-zk"""
TIMES = 50_000


def refusals() -> Iterator[str]:
    start = datetime(2026, 11, 21, 3, 1, 34)
    for i in range(TIMES):
        at = start + timedelta(milliseconds=10 * i)
        yield f"[{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}] {REFUSED}\n"


def test_leader_that_repeats_itself_fifty_thousand_times_is_one_fact(session: SparkSession, tmp_path: Path) -> None:
    def runs(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Mapping[str, Any]]:
        for e in timeline.of("isr-rejected"):
            yield {
                "name": timeline.name,
                "repeats": e.repeats,
                "seconds": (e.last_at - e.at).total_seconds() if e.last_at and e.at else None,
            }

    log = tmp_path / "broker-3" / "logs" / "server.log"
    log.parent.mkdir(parents=True)
    log.write_text("".join(refusals()))
    found = read(session, units([str(tmp_path)]))
    try:
        cluster, resolver = build_cluster(Gathered(found.parts_of_cluster))
        schema = pa.schema([("name", pa.string()), ("repeats", pa.int64()), ("seconds", pa.float64())])
        claimed = verdicts(identified(found, resolver, cluster), cluster, runs, schema).table().to_pylist()
    finally:
        found.unpersist()
    assert claimed == [{"name": "orders-0", "repeats": TIMES, "seconds": (TIMES - 1) / 100}]
    assert [s.lines for s in cluster.sources] == [TIMES]


def test_routine_of_quiet_times_is_left_out_before_it_travels(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = datetime(2026, 11, 21, 3, 1, 34)
    log = tmp_path / "broker-3" / "logs" / "server.log"
    log.parent.mkdir(parents=True)
    rolled = "INFO [Log partition=orders-0, dir=/d] Rolled new log segment at offset {} in 2 ms. (kafka.log.Log)"
    cut = "INFO [Log partition=orders-0, dir=/d] Truncating to offset 7000 (kafka.log.Log)"
    stated = [rolled.format(5 * n) if n != 1500 else cut for n in range(3 * FEW)]
    lines = (f"[{start + n * timedelta(minutes=10):%Y-%m-%d %H:%M:%S},000] {line}\n" for n, line in enumerate(stated))
    log.write_text("".join(lines))
    monkeypatch.setattr(pipeline, "JUDGED_ROWS", FEW)
    found = read(session, units([str(tmp_path)]))
    cluster, resolver = build_cluster(Gathered(found.parts_of_cluster))
    travels = counted(pa.concat_tables([opened(data) for _, data in identified(found, resolver, cluster).data.collect()]))
    found.unpersist()
    first, last, truncation, at_its_offset = 1, len(stated), 1501, {1400, 1401, 1402}
    assert {first, last, *range(truncation - 6, truncation + 7), *at_its_offset} <= set(travels["line"].to_pylist())
    assert len(travels) < 40
    assert sum(travels["repeats"].to_pylist()) == len(stated)
    there = on_spark(session, tmp_path).document()
    monkeypatch.undo()
    assert there == on_spark(session, tmp_path).document() == local.report(local.events_of(tmp_path)).document()


def test_logs_in_pieces_give_what_one_reader_gives(session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one does not fit: a line is in another layout that neither the head nor the chunk before the cut shows."""
    monkeypatch.setattr("parsers.pieces.PIECE_BYTES", 12 << 20)
    some = f"[2026-11-21 03:01:34,000] {REFUSED}\n" + "[2026-11-21 03:01:34,001] INFO Nothing to tell (kafka.server.Nobody)\n" * 500
    for broker, more in (
        (3, ""),
        (4, "2026-11-21T03:02:00.000Z INFO  [main] kafka.log.Log - [Log partition=a-0, dir=/d] Truncating to offset 7\n"),
    ):
        log = tmp_path / f"broker-{broker}" / "logs" / "server.log"
        log.parent.mkdir(parents=True)
        log.write_text(some * 150 + more + "\tat some.Class.method(Class.java:1)\n" * 5 + some * 700)
    order = [("source", "ascending"), ("line", "ascending"), ("event", "ascending")]
    torn = []

    def put_together(*given: Any) -> Any:
        last, whole = pieces.put_together(*given)
        torn.extend(unit.select for unit in whole)
        return last, whole

    monkeypatch.setattr("spark.pipeline.put_together", put_together)
    there = everything(read(session, units([str(tmp_path)]))).sort_by(order).to_pylist()
    assert torn == [("broker-4/logs/server.log",)]
    assert len(there) == 2 * (150 + 700) + 1 + 2
    assert there == local.events_of(tmp_path).sort_by(order).to_pylist()


def test_tasks_read_with_the_patterns_of_the_user(session: SparkSession, tmp_path: Path) -> None:
    line = "[2024-05-01 12:00:01,123] INFO Xyzzy happened to orders-0 (kafka.log.Log)"
    (tmp_path / "server.log").write_text(f"{line}\n")
    text = f"""
        [[pattern]]
        name = 'xyzzy'
        event = 'segment-roll'
        literal = 'Xyzzy happened'
        regex = 'Xyzzy happened to (?P<topic>.*)-(?P<partition>\\d+)'
        versions = ['2.0', '4.3']
        [[pattern.samples]]
        line = '{line}'
        """

    def patterns(*files: OwnFile) -> set[str]:
        return set(everything(read(session, units([str(tmp_path)], patterns=files)))["pattern"].to_pylist())

    assert "xyzzy" in patterns(OwnFile("my.toml", text))
    assert "xyzzy" not in patterns(), "the worker's process is the same"
