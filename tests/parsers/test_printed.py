"""Lines that show that INFO is on: which facet they belong to, and the few that are kept of many."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from io import BytesIO
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.evidence import SourceAccount, read_source
from parsers.patterns import PATTERNS
from parsers.patterns.facets import FACETS, facet_of, facet_of_line, facet_of_pattern, facets_of
from parsers.patterns.in_force import pattern_set
from parsers.printed import Places, Printed
from parsers.schemas import EVENTS, Member, Row
from tests.support.shapes import bundle

MEMBER = Member("server.log", None, None)
START = datetime(2026, 11, 21)
STATEMENTS = ("truncating-longer", "fetchers-added", "truncation-planned-by-epoch", "hw-initial", "hw-went-back", "kafka-version")
SAMPLES = [sample.line for pattern in PATTERNS for sample in pattern.samples if sample.line.startswith("[2")]


@pytest.fixture(scope="module", autouse=True)
def small() -> Iterator[None]:
    """Lines are thinned many times in a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Places, "WAITING", 50)
        yield


@pytest.mark.parametrize(
    ("logger", "facet"),
    [
        ("kafka.log.Log", "log"),
        ("kafka.log.UnifiedLog$", "log"),
        ("org.apache.kafka.storage.internals.log.UnifiedLog", "log"),
        ("kafka.log.LogCleaner", None),
        ("kafka.log.LogCleanerManager$", None),
        ("org.apache.kafka.storage.internals.log.Cleaner", None),
        ("kafka.log.remote.RemoteLogManager", None),
        ("kafka.cluster.Partition", "partition"),
        ("kafka.cluster.PartitionTest", None),
        ("kafka.server.ReplicaFetcherManager", "fetcher"),
        ("kafka.server.ReplicaFetcherThread", "fetcher"),
        ("kafka.server.ReplicaAlterLogDirsThread", None),
        ("kafka.server.ReplicaAlterLogDirsManager", None),
        ("kafka.server.KafkaServer", "process"),
        ("kafka.server.KafkaConfig", None),
        ("kafka.server.BrokerLifecycleManager", None),
        ("state.change.logger", "state"),
        ("kafka.controller.KafkaController", "controller"),
        ("org.apache.kafka.controller.QuorumController", "controller"),
    ],
)
def test_facet_of_a_logger(logger: str, facet: str | None) -> None:
    assert facet_of(logger) == facet


def test_every_facet_has_statements_at_info() -> None:
    assert {facet for facet, usual in facets_of(pattern_set()).by_pattern.values() if usual} == set(FACETS)


def test_a_statement_of_several_facets_has_none() -> None:
    by_name = {pattern.name: pattern for pattern in PATTERNS}
    assert facet_of_pattern(by_name["shutdown-controlled-start"]) is None, "also printed by BrokerLifecycleManager"
    assert facet_of_pattern(by_name["controller-elected"]) is None, "also printed by ZookeeperLeaderElector"
    assert facet_of_pattern(by_name["broker-config"]) is None


def test_the_level_of_a_line_counts_before_that_of_its_statement() -> None:
    assert facet_of_line("truncating-longer", "INFO", "") == "log"
    assert facet_of_line("truncating-longer", "WARN", "") is None
    assert facet_of_line("truncation-by-foreign-epoch", "INFO", "") == "fetcher"
    assert facet_of_line("truncating-longer", None, "") == "log", "a layout without levels"
    assert facet_of_line("hw-went-back", None, "") is None, "printed at WARN"
    assert facet_of_line("truncation-by-foreign-epoch", None, "") is None, "printed at WARN, too"


def test_the_fetcher_between_log_directories_is_another_one() -> None:
    assert facet_of_line("truncation-planned-by-epoch", "INFO", "… (kafka.server.ReplicaFetcherThread)") == "fetcher"
    assert facet_of_line("truncation-planned-by-epoch", "INFO", "… (kafka.server.ReplicaAlterLogDirsThread)") is None


def rows_of(lines: Sequence[int], seed: int = 0) -> list[Row]:
    """An event for each of these lines, whose statement, level, time and text depend on the number of the line only."""
    levels = ("INFO", "INFO", "DEBUG", "WARN", None)
    return [
        {
            "source": MEMBER.path,
            "line": line,
            "time": START + timedelta(seconds=line) if line % 7 else None,
            "clock": "utc" if line % 11 == 0 else "line",
            "event": "truncation",
            "pattern": STATEMENTS[(line * 31 + seed) % len(STATEMENTS)],
            "level": levels[line % len(levels)],
            "text": "kafka.server.ReplicaAlterLogDirsThread" if line % 3 == 0 else None,
        }
        for line in lines
    ]


def batch_of(rows: Sequence[Row]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(rows), schema=EVENTS)


def passed(parts: Sequence[Sequence[Row]], as_batches: Sequence[bool]) -> Printed:
    """What is known after these rows passed by, some as batches."""
    found = Printed()
    for part, as_batch in zip(parts, as_batches, strict=True):
        if as_batch and part:
            found.pass_by_all(batch_of(part))
        else:
            for row in part:
                found.pass_by(row)
    return found


def facets(printed: Printed) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place in printed.collected("line")["printed"] or ():
        found.setdefault(place["facet"], []).append(place["line"])
    return found


LINES = st.lists(st.one_of(st.integers(1, 400), st.integers(1, 10**7)), max_size=400)


@given(LINES, st.randoms(use_true_random=False), st.integers(1, 6))
@settings(max_examples=150)
def test_any_order_and_any_cut_give_the_same_places(lines: list[int], choose: Any, pieces: int) -> None:
    """Rows and batches in any order, and parts of the log that are put together again."""
    rows = rows_of(lines)
    expected = passed([rows], [False]).collected("line")
    assert passed([rows], [True]).collected("line") == expected
    choose.shuffle(rows)
    edges = sorted(choose.randint(0, len(rows)) for _ in range(pieces - 1))
    parts = [rows[a:b] for a, b in zip([0, *edges], [*edges, len(rows)], strict=True)]
    as_batches = [choose.random() < 0.5 for _ in parts]
    assert passed(parts, as_batches).collected("line") == expected
    joined = Printed()
    for part, as_batch in zip(parts, as_batches, strict=True):
        joined.follow(pickle.loads(pickle.dumps(passed([part], [as_batch]))))
    assert joined.collected("line") == expected


@given(LINES, st.data())
@settings(max_examples=100)
def test_fewer_lines_never_make_a_facet_appear(lines: list[int], data: st.DataObject) -> None:
    fewer = data.draw(st.lists(st.sampled_from(lines), unique=True)) if lines else []
    all_of, some = (facets(passed([rows_of(own)], [True])) for own in (lines, fewer))
    assert some.keys() <= all_of.keys()
    for facet, places in some.items():
        assert min(places) >= min(all_of[facet])
        assert max(places) <= max(all_of[facet])


def test_of_several_events_of_one_line_the_first_counts() -> None:
    row = {"pattern": "truncating-longer", "level": "INFO", "line": 5, "clock": "line"}
    rows = [{**row, "time": START + timedelta(seconds=n)} for n in range(200)]
    for as_batch in (False, True):
        assert passed([rows], [as_batch]).collected("line") == {"printed": [{"facet": "log", "line": 5, "time": START}]}


@given(LINES)
@settings(max_examples=100)
def test_places_are_few_and_hold_the_ends_of_each_block(lines: list[int]) -> None:
    rows = [row for row in rows_of(lines) if facet_of_line(row["pattern"], row["level"], row["text"]) == "log"]
    kept = facets(passed([rows], [True])).get("log", [])
    there = sorted({row["line"] for row in rows})
    assert kept == sorted(set(kept))
    assert set(kept) <= set(there)
    assert len(kept) <= 2 * Places.MOST_BLOCKS
    if there:
        assert (kept[0], kept[-1]) == (there[0], there[-1])
    size = next(2**n for n in range(40) if len({line >> n for line in there}) <= Places.MOST_BLOCKS)
    ends = {
        end for block in {line // size for line in there} for own in [[i for i in there if i // size == block]] for end in (own[0], own[-1])
    }
    assert kept == sorted(ends)


def test_the_time_of_another_clock_is_left_out() -> None:
    rows = [{**row, "pattern": "truncating-longer", "level": "INFO"} for row in rows_of([11, 12, 14])]
    printed = passed([rows], [True])
    at = [START + timedelta(seconds=n) for n in (11, 12)]
    assert [p["time"] for p in printed.collected("line")["printed"]] == [None, at[1], None]
    assert [p["time"] for p in printed.collected("utc")["printed"]] == [at[0], None, None]


def read(content: bytes) -> dict[str, list[int]]:
    (source,) = (row for row in read_source(MEMBER, BytesIO(content)) if isinstance(row, dict) and row["event"] == "source")
    found: dict[str, list[int]] = {}
    for place in source["collected"].get("printed") or ():
        found.setdefault(place["facet"], []).append(place["line"])
    return found


@given(st.lists(st.sampled_from(SAMPLES), min_size=1, max_size=60), st.data())
@settings(max_examples=60)
def test_a_log_with_fewer_lines_shows_no_more_facets(lines: list[str], data: st.DataObject) -> None:
    keep = data.draw(st.lists(st.booleans(), min_size=len(lines), max_size=len(lines)))
    fewer = [line for line, kept in zip(lines, keep, strict=True) if kept]
    assert read("\n".join(fewer).encode()).keys() <= read("\n".join(lines).encode()).keys()


@pytest.mark.parametrize("name", ["acks1-failover-1.1.1-zk", "acks1-failover-3.9.1-kraft"])
def test_a_server_log_shows_its_facets_and_a_filtered_one_lacks_those_that_were_filtered(name: str) -> None:
    content = bundle(name)["broker-1/logs/server.log"].content
    whole = read(content).keys()
    assert {"log", "replica", "fetcher", "process"} <= whole <= {"log", "partition", "replica", "fetcher", "process"}
    filtered = [line for line in content.split(b"\n") if b"(kafka.log." not in line or b" WARN " in line]
    assert read(b"\n".join(filtered)).keys() == whole - {"log"}
    warnings = [line for line in content.split(b"\n") if b"] INFO " not in line]
    assert read(b"\n".join(warnings)) == {}


def test_sources_of_an_account_are_kept_apart() -> None:
    account = SourceAccount("pods.log")
    for name, line in (("pods.log#a", 1), ("pods.log#b", 2)):
        (row,) = rows_of([line])
        list(account.pass_by({**row, "source": name, "pattern": "truncating-longer", "level": "INFO"}))
        list(account.pass_by({"event": "source", "source": name, "collected": {"clock": "line"}}))
    rows = account.end(Member("pods.log", None, None), "server-log", 0, "")
    assert {row["source"]: [p["line"] for p in row["collected"]["printed"] or ()] for row in rows} == {
        "pods.log#a": [1],
        "pods.log#b": [2],
        "pods.log": [],
    }
