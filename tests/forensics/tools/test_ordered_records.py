"""One order of time over all brokers: nothing lost, no file reordered, each record once, and only what was asked for."""

from __future__ import annotations

import json
import os
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.exports import write
from forensics.jobs import record_text
from forensics.model.clock.resolver import EventResolver
from forensics.tools.ordered_records import Merger, RecordFilter, blocks, merger
from parsers.containers.units import units
from parsers.schemas import Row
from spark import sorting
from spark.sorting import ORDER
from tests.support import local
from tests.support.paths import BUNDLES
from tests.support.shapes import HEAD, File, bundle, cut, later, only, put, records, renamed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "unclean-election-2.8.2-zk"
ZONES = "acks1-failover-zones-2.5.1-zk"
LOGS = r"/logs/.*\.log"
GREAT = 64 << 20
"""Characters, far more than a piece of the result holds."""


def reading(path: Path, wanted: RecordFilter | None = None, *, stated: bool = True) -> Merger:
    cluster, resolver = local.gathered(local.events_of(path))
    return merger(cluster, resolver, wanted or RecordFilter(topic_ids=resolver.topics), stated=stated)


def in_process(path: Path, wanted: RecordFilter | None = None) -> list[Row]:
    """Rows in order, without Spark; copies stay."""
    rows = reading(path, wanted).rows(units([str(path)]))
    return sorted(rows, key=lambda row: tuple(row[name] for name in ORDER))


def as_json(row: Mapping[str, Any]) -> str:
    return json.dumps({k: str(v) if isinstance(v, datetime) else v for k, v in row.items()}) + "\n"


def on_spark(session: SparkSession, path: Path, wanted: RecordFilter | None = None) -> list[dict[str, Any]]:
    text = record_text(session, units([str(path)]), reading(path, wanted), as_json)
    return [json.loads(line) for block in text for line in block.splitlines()]


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return put(tmp_path_factory.mktemp("evidence"), bundle(NAME))


@pytest.fixture(scope="module")
def everything(evidence: Path) -> list[Row]:
    return in_process(evidence)


def own_orders(rows: list[dict[str, Any]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for row in rows:
        found.setdefault(row["source"], []).append(row["line"])
    return found


@pytest.mark.parametrize("small", [True, False])
def test_all_records_of_all_brokers_in_order(session: SparkSession, evidence: Path, small: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if small:
        monkeypatch.setattr(sorting, "PART_BYTES", 100_000)
    rows = on_spark(session, evidence)
    files = only(bundle(NAME), LOGS)
    assert {row["broker"] for row in rows} == {1, 2, 3}
    assert Counter(row["source"] for row in rows) == {path: len(records(f.content)) for path, f in files.items() if f.content}
    assert [row["key"] for row in rows] == sorted(row["key"] for row in rows)
    assert all(lines == sorted(lines) for lines in own_orders(rows).values())
    assert Counter(row["text"] for row in rows) == Counter(r.decode().rstrip("\n") for f in files.values() for r in records(f.content))


def test_spark_gives_what_one_process_gives(session: SparkSession, evidence: Path) -> None:
    assert [(r["source"], r["number"]) for r in on_spark(session, evidence)] == [(r["source"], r["number"]) for r in in_process(evidence)]


def test_zones_are_corrected(tmp_path: Path) -> None:
    rows = in_process(put(tmp_path, bundle(ZONES)))
    shown = {
        r["broker"]: r["at"] - datetime.strptime(r["text"][1:24], "%Y-%m-%d %H:%M:%S,%f") for r in rows if HEAD.match(r["text"].encode())
    }
    assert len({round(ahead / timedelta(hours=1)) for ahead in shown.values()}) > 1
    elected = [r for r in rows if r["event"] == "leader-start"]
    assert max(r["at"] for r in elected) - min(r["at"] for r in elected) < timedelta(minutes=10)


def test_rotated_files_follow_each_other(session: SparkSession, tmp_path: Path) -> None:
    files = only(bundle(NAME), r"broker-1/")
    log = files.pop("broker-1/logs/state-change.log")
    lines = [r.count(b"\n") for r in records(log.content)]
    pieces = cut(log, [sum(lines[: len(lines) // 3]), sum(lines[: 2 * len(lines) // 3])])
    for name, piece in zip((".2026-11-21-00", ".2026-11-21-01", ""), pieces, strict=True):
        files[f"broker-1/logs/state-change.log{name}"] = piece
    rows = [r for r in on_spark(session, put(tmp_path, files)) if "state-change" in r["source"]]
    assert [r["text"] for r in rows] == [r.decode().rstrip("\n") for r in records(log.content)]


def test_an_earlier_copy_of_a_log_is_told_once(session: SparkSession, tmp_path: Path) -> None:
    whole = only(bundle(NAME), r"broker-\d/")
    first = {
        path: File(b"".join(records(f.content)[: len(records(f.content)) // 2]), f.modified - 5) for path, f in only(whole, LOGS).items()
    }
    rest = {path: f for path, f in whole.items() if path not in first}
    both = {**renamed({**rest, **first}, lambda p: f"monday/{p}"), **renamed(whole, lambda p: f"tuesday/{p}")}
    rows = on_spark(session, put(tmp_path, both))
    expected = [r.decode().rstrip("\n") for f in only(whole, LOGS).values() for r in records(f.content)]
    assert Counter(r["text"] for r in rows) == Counter(expected)
    for path in only(whole, LOGS):
        stated = [r["text"] for r in rows if r["source"].partition("/")[2] == path]
        assert stated == [r.decode().rstrip("\n") for r in records(whole[path].content)]


def test_records_of_a_copy_with_other_times_have_those_of_the_log(tmp_path: Path) -> None:
    own = only(bundle(NAME), r"broker-\d/")
    copy = {f"export/{p}": later(f, timedelta(minutes=-210)) for p, f in only(own, r"broker-1/logs/server.log").items()}
    rows = in_process(put(tmp_path, {**own, **copy}))
    log, exported = ([r["at"] for r in rows if r["source"] == path] for path in ("broker-1/logs/server.log", *copy))
    assert log == exported != []


def test_topic_and_partition(evidence: Path) -> None:
    wanted = RecordFilter(topics=frozenset({"orders"}), partitions=frozenset({0}))
    rows, everything = in_process(evidence, wanted), in_process(evidence)
    assert {(r["source"], r["number"]) for r in rows if r["event"] == "leader-start"} == {
        (r["source"], r["number"]) for r in everything if r["event"] == "leader-start" and (r["topic"], r["partition"]) == ("orders", 0)
    }
    named = {(r["source"], r["number"]) for r in everything if "orders-0 " in r["text"] or "orders-0)" in r["text"]}
    assert named <= {(r["source"], r["number"]) for r in rows}
    assert 0 < len(rows) < len(everything)
    assert {r["partition"] for r in rows} <= {0, None}
    assert not [r for r in rows if "orders-1" in r["text"] and "orders-0" not in r["text"]]


@pytest.mark.parametrize(
    ("wanted", "holds"),
    [
        (RecordFilter(brokers=frozenset({2})), lambda r: r["broker"] == 2),
        (RecordFilter(level="WARN"), lambda r: r["level"] in ("WARN", "ERROR", "FATAL")),
        (RecordFilter(loggers=("state.change.logger",)), lambda r: r["logger"] == "state.change.logger"),
        (RecordFilter(loggers=("kafka.controller",)), lambda r: (r["logger"] or "").startswith("kafka.controller.")),
        (RecordFilter(loggers=("KafkaController",)), lambda r: r["logger"] == "kafka.controller.KafkaController"),
        (RecordFilter(text="The size of the current ISR Set"), lambda r: "The size of the current ISR Set" in r["text"]),
        (RecordFilter(since=datetime(2026, 11, 21, 1, 53, 20)), lambda r: r["at"] >= datetime(2026, 11, 21, 1, 53, 20)),
        (RecordFilter(until=datetime(2026, 11, 21, 1, 53, 20)), lambda r: r["at"] <= datetime(2026, 11, 21, 1, 53, 20)),
    ],
)
def test_filters(evidence: Path, everything: list[Row], wanted: RecordFilter, holds: Any) -> None:
    rows = in_process(evidence, wanted)
    assert [(r["source"], r["number"]) for r in rows] == [(r["source"], r["number"]) for r in everything if holds(r)]
    assert 0 < len(rows) < len(everything)


def test_logs_of_brokers_not_asked_for_are_not_opened(evidence: Path) -> None:
    everything = {path: f for path, f in only(bundle(NAME), LOGS).items() if path.startswith("broker-2/")}
    assert set(reading(evidence, RecordFilter(brokers=frozenset({2}))).kinds) == set(everything)


def test_a_file_of_several_writers_is_read_for_any_of_them(tmp_path: Path) -> None:
    logs = [only(bundle(NAME), rf"broker-{broker}/logs/server\.log")[f"broker-{broker}/logs/server.log"] for broker in (2, 3)]
    lines = [b"kafka-%d | %s" % (broker, line) for broker, log in zip((2, 3), logs, strict=True) for line in log.content.splitlines(True)]
    place = put(tmp_path, {"compose.log": File(b"".join(lines), logs[0].modified)})
    for broker in (2, 3):
        assert {row["broker"] for row in in_process(place, RecordFilter(brokers=frozenset({broker})))} == {broker}


def test_events(evidence: Path) -> None:
    rows = in_process(evidence, RecordFilter(events=frozenset({"leader-start"})))
    assert {r["event"] for r in rows} == {"leader-start"}
    assert all("starts at" in r["text"] for r in rows)


MENTIONS = [
    ("orders-0", True),
    ("[orders,0]", True),
    ("Set([clicks,1], [orders, 0])", True),
    ("/data/orders-0/00000000000000000000.log", True),
    ("orders-0.a5f-delete", True),
    ("Tz9xk3_rQ7u0Qm1s2bQ9Bw:orders-0", True),
    ("Topic: orders\tPartition: 0\tLeader: 1", True),
    ('{"topic":"orders","partition":0}', True),
    ("topicName='orders', partitionIndex=0,", True),
    ("PartitionRecord(partitionId=0, topicId=Tz9xk3_rQ7u0Qm1s2bQ9Bw, replicas=[1])", True),
    ("orders-01", False),
    ("orders-0-1", False),
    ("my-orders-0", False),
    ("my.orders-0", False),
    ("[orders,01]", False),
    ("orders-1", False),
    ("orders", False),
    ("topicName='orders', partitionIndex=10,", False),
]


@pytest.mark.parametrize(("text", "named"), MENTIONS)
def test_spellings_of_a_partition(text: str, named: bool) -> None:
    ids = {"Tz9xk3_rQ7u0Qm1s2bQ9Bw": "orders", "AAAAAAAAAAAAAAAAAAAAAA": "clicks"}
    wanted = RecordFilter(topics=frozenset({"orders"}), partitions=frozenset({0}), topic_ids=ids)
    assert wanted.mention is not None
    assert (wanted.mention.search(f"said {text}") is not None) == named


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("orders", True),
        ("orders-12,", True),
        ("orders.", True),
        ("orders-archive", False),
        ("orders.v2", False),
        ("reorders", False),
        ("orders-1-2", False),
    ],
)
def test_spellings_of_a_topic(text: str, named: bool) -> None:
    wanted = RecordFilter(topics=frozenset({"orders"}))
    assert wanted.mention is not None
    assert (wanted.mention.search(f"said {text} and") is not None) == named


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-3, 20)), max_size=40))
@settings(max_examples=150)
def test_what_was_split_into_files_comes_back_in_each_files_order(written: list[tuple[int, int]]) -> None:
    """Clocks go back in between; still no file is reordered, and where no clock went back the order is that of time."""
    begin = datetime(2026, 1, 1)
    files: dict[str, list[Row]] = {}
    for file, second in written:
        rows = files.setdefault(f"f{file}", [])
        place = {"source": f"f{file}", "number": len(rows), "line": len(rows) + 1, "byte": 0, "lines": 1, "clock": "line"}
        rows.append({**place, "time": begin + timedelta(seconds=second), "level": "INFO", "logger": None, "text": "", "events": None})
    merging = Merger(EventResolver({}, {}, {}, {}), RecordFilter(), {}, {name: i for i, name in enumerate(files)}, {}, frozenset())
    found = [row for rows in files.values() for row in merging.placed(rows)]
    found.sort(key=lambda row: tuple(row[name] for name in ORDER))
    for name, rows in files.items():
        assert [r["number"] for r in found if r["source"] == name] == list(range(len(rows)))
    if all([r["time"] for r in rows] == sorted(r["time"] for r in rows) for rows in files.values()):
        assert [r["at"] for r in found] == sorted(r["at"] for r in found)


def test_lines_before_the_first_time_have_the_files_first() -> None:
    first = datetime(2026, 1, 1)
    row = {"source": "a", "number": 0, "line": 1, "byte": 0, "lines": 1, "clock": None, "time": None, "level": None, "logger": None}
    merging = Merger(EventResolver({}, {}, {}, {}), RecordFilter(), {}, {"a": 0}, {"a": first}, frozenset())
    (made,) = merging.placed([{**row, "text": "x", "events": None}])
    assert (made["at"], made["key"]) == (first, first)


def test_repeats_in_one_log_are_no_copies() -> None:
    row = {
        "line": 1,
        "byte": 0,
        "lines": 1,
        "clock": "line",
        "time": datetime(2026, 1, 1),
        "level": "INFO",
        "logger": None,
        "text": "x",
        "events": None,
    }
    merging = Merger(EventResolver({"a": 1, "b": 1}, {}, {}, {}), RecordFilter(), {}, {"a": 0, "b": 1}, {}, frozenset({"a", "b"}))
    one = [r["twin"] for r in merging.placed({**row, "source": "a", "number": n} for n in range(3))]
    other = [r["twin"] for r in merging.placed({**row, "source": "b", "number": n} for n in range(2))]
    assert len(set(one)) == 3
    assert other == one[:2]


def test_the_jvm_keeps_nothing_of_what_was_handed_out(session: SparkSession, evidence: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "PART_BYTES", 20_000)

    def great(row: Row) -> str:
        return b64encode(os.urandom(600_000)).decode() if row["number"] % 8 == 0 else ""

    found = record_text(session, units([str(evidence)]), reading(evidence), great)
    next(found)
    before, handed_out = heap_in_use(session), 0
    while handed_out < GREAT:
        handed_out += len(next(found))
    for _ in range(60):  # a task's result that is taken is let go by a thread of Spark's own
        if (kept := heap_in_use(session) - before) < GREAT // 4:
            break
        time.sleep(0.5)
    assert kept < GREAT // 4


def heap_in_use(session: SparkSession) -> int:
    """Bytes, garbage collected."""
    java = session._jvm
    assert java is not None
    java.System.gc()
    runtime = java.Runtime.getRuntime()
    return int(runtime.totalMemory() - runtime.freeMemory())


def test_blocks_are_cut_by_size() -> None:
    rows: Iterator[Row] = ({"text": "x" * 100_000} for _ in range(7))
    assert [len(block) for block in blocks(rows, lambda row: row["text"])] == [300_000, 300_000, 100_000]


def test_records_of_an_export_come_oldest_first_whatever_its_direction(tmp_path: Path) -> None:
    """The order of records of one millisecond is not compared: a store that sorts by time only does not keep it."""
    found = []
    for newest_first in (False, True):
        directory = tmp_path / str(newest_first)
        write(BUNDLES / "unclean-election-3.9.1-kraft.tar.gz", directory, "kibana-csv", newest_first=newest_first)
        cluster, resolver = local.gathered(local.events_of(directory))
        rows = sorted(
            merger(cluster, resolver, None).rows(units([str(directory)])), key=lambda row: (row["key"], row["rank"], row["number"])
        )
        found.append([(row["at"], row["source"], row["text"].partition("\n")[0]) for row in rows])
    forward, backward = found
    assert [at for at, _, _ in backward] == sorted(at for at, _, _ in backward)
    assert sorted(forward) == sorted(backward) and len(forward) > 1000
