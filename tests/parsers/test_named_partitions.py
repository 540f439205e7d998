"""The bound on the partitions that one file names."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pytest

from forensics.words import words
from parsers.limits import DEFAULTS, Limits, put_in_force
from parsers.named_partitions import NamedPartitions
from parsers.schemas import problem
from tests.support import local

AT = "[2026-11-21 02:15:38,147] INFO "
LINES = [f"{AT}[Log partition=a-{n % 6}, dir=/data] Truncating to offset {n} (kafka.log.Log)" for n in range(12)]
SET = f"{AT}[ReplicaFetcherManager on broker 1] Removed fetcher for partitions Set(b-0, b-1, b-2) (kafka.server.ReplicaFetcherManager)"


@pytest.fixture(autouse=True)
def _at_most_four() -> Iterator[None]:
    put_in_force(Limits(named=4))
    yield
    put_in_force(DEFAULTS)


@pytest.mark.parametrize(
    ("lines", "known"),
    [([*LINES, SET, *LINES], [("a", n) for n in range(4)]), ([SET, *LINES], [*(("b", n) for n in range(3)), ("a", 0)])],
)
def test_further_partitions_are_left_out_and_the_report_says_so(lines: list[str], known: list[tuple[str, int]]) -> None:
    table = local.events_of_files({"broker-1/logs/server.log": "\n".join(lines)})
    rows = [(row["topic"], row["partition"], row["offset"]) for row in table.to_pylist() if row["partition"] is not None]
    assert list(dict.fromkeys(row[:2] for row in rows)) == known
    offsets = [n for line in lines for n in range(12) if line == LINES[n]]
    assert [row for row in rows if row[0] == "a"] == [("a", n % 6, n) for n in offsets if ("a", n % 6) in known]
    gap = next(f for f in local.report(table).findings if f.kind == "evidence-gap" and "more than 4 partitions" in words(f).explanation)
    assert "--limit named" in words(gap).explanation


def test_other_files_have_their_own_bound_and_events_without_a_partition_stay() -> None:
    files = {f"broker-{n}/logs/server.log": "\n".join(LINES[n : n + 4]) for n in (1, 2)}
    table = local.events_of_files(files)
    assert not [row for row in table.to_pylist() if row["reason"] == "many-partitions"]
    assert NamedPartitions().within(problem("x", "y")) is not None


def test_the_parts_of_a_file_count_together() -> None:
    whole, part = NamedPartitions(), NamedPartitions()
    assert [part.within({"event": "x", "topic": "t", "partition": n}) is not None for n in (0, 1, 2, 3, 4, 0)] == [True] * 4 + [False, True]
    whole.follow(pickle.loads(pickle.dumps(part)))
    stated = whole.trouble("f")
    assert stated is not None and "left out: 1 " in stated["text"]
