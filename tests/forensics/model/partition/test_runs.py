"""What is folded while it is columns makes the timeline that is made of all of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.model.clock.copies import Copies
from forensics.model.clock.sources import Source
from forensics.model.cluster.facts import Cluster
from forensics.model.events import IDENTIFIED, Event
from forensics.model.partition.runs import FEW, folded
from forensics.model.timelines import by_partition, sorted_partitions, timelines

NOON = datetime(2026, 11, 21, 12)
KINDS: list[dict[str, Any]] = [
    *[{"event": "append-refused"}, {"event": "fetch-error", "reason": "unknown"}, {"event": "fetcher-removed"}] * 3,
    {"event": "append-refused", "isr": [1]},
    {"event": "append-refused", "isr": [1, 2]},
    {"event": "fetch-error"},
    {"event": "log-deleted", "directory": "/d"},
    {"event": "log-created", "directory": "/d"},
    {"event": "partition-transition", "value": "made"},
    {"event": "leader-start", "leader_epoch": 0, "isr": [1, 2]},
    {"event": "follower-start", "leader_epoch": 3},
    *[{"event": "partition-state", "reason": "received", "leader": 1, "isr": [1], "leader_epoch": epoch} for epoch in (0, 2)],
    {"event": "isr-update", "isr": [1], "partition_epoch": 4},
]
FILES: list[dict[str, Any]] = [
    {"source": "a", "writer": 1},
    {"source": "b", "writer": 1},
    {"source": "c", "writer": 2},
    {"source": "copy", "writer": 2},
]
LINES = st.lists(
    st.tuples(st.sampled_from(FILES), st.sampled_from(KINDS), st.sampled_from([-5, 0, 0, 1, 1, 2, 30]), st.booleans()), max_size=40
)
TOPICS = st.lists(st.tuples(st.sampled_from(["topic-created", "topic-deletion", "topic-deleted"]), st.integers(0, 60)), max_size=3)


def rows(stated: list[tuple[dict[str, Any], dict[str, Any], int, bool]]) -> Iterator[dict[str, Any]]:
    """Lines of several files as they came, each some seconds after the one before it in its file."""
    at: dict[str, int] = {}
    for line, (file, fact, seconds, again) in enumerate(stated, 1):
        for n in range(1, 4 if again else 2):
            now = at[file["source"]] = at.get(file["source"], 0) + seconds
            where = {"line": line * 3 + n, "byte": line * 300 + n, "topic": "t", "partition": 0, "cluster": 0, "text": fact["event"]}
            yield {**where, **file, **fact, "at": NOON + timedelta(seconds=now)}


def story(table: pa.Table, cluster: Cluster) -> list[Any]:
    names = ("source", "line", "event", "at", "repeats", "last_at")
    return [
        (own.generation, own.states, [tuple(getattr(e, name) for name in names) for e in own.events])
        for topic, partition, events in by_partition(table.to_batches())
        for own, _ in timelines(topic, partition, events, cluster)
    ]


@given(LINES, TOPICS, st.integers(0, 20), st.sampled_from([1, 2, 64]))
@settings(max_examples=60)
def test_timeline_is_that_of_all_rows(stated: Any, topic: list[tuple[str, int]], cut: int, piece: int) -> None:
    of_topic = [Event(event=kind, topic="t", at=NOON + timedelta(seconds=at), source="controller") for kind, at in topic]
    copies = Copies(frozenset({"c", "copy"}), of_seconds=frozenset(file["source"] for file in FILES))
    cluster = Cluster(copies=copies, events=of_topic, recreated={"t": [e.at for e in of_topic]} if topic else {})
    table = pa.Table.from_pylist(list(rows(stated)), schema=IDENTIFIED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("forensics.model.partition.runs.PIECE", piece)
        fewer = folded([partial(table.slice, 0, cut), partial(table.slice, cut)], cluster)
    assert [str(s) for s in story(fewer, cluster)] == [str(s) for s in story(table, cluster)]


def test_run_is_one_row_unless_something_is_between() -> None:
    again = [(FILES[0], KINDS[0], 1, True)] * (FEW // 3 + 1)
    whole = pa.Table.from_pylist(list(rows(again)), schema=IDENTIFIED)
    (row,) = folded([lambda: whole], Cluster()).to_pylist()
    assert (row["repeats"], row["last_at"] - row["at"]) == (whole.num_rows, timedelta(seconds=whole.num_rows - 1))
    for at, parts in ((1500, 2), (1500.5, 2), (5000, 1)):
        other = {
            **next(rows([(FILES[1], {"event": "isr-update", "isr": [1], "partition_epoch": 4}, 0, False)])),
            "at": NOON + timedelta(seconds=at),
        }
        beside = pa.Table.from_pylist([other], schema=IDENTIFIED)
        parted = folded([lambda: whole, partial(beside.slice, 0)], Cluster())
        assert parted.num_rows >= parts + 1
        assert sum(parted["repeats"].to_pylist()) == whole.num_rows + 1


@pytest.mark.parametrize("overlap", [0, 2_000])
def test_attempts_are_as_many_as_their_lines_however_they_were_cut(overlap: int) -> None:
    """Forty lines of a millisecond are equal; `overlap`: so many of them are in the file again, where a part of it was joined."""
    lines = 3 * FEW + 17

    def of(partition: int, line: int, n: int) -> dict[str, Any]:
        at, isr = NOON + timedelta(milliseconds=n // 40), [1] if n % 13 else [1, 2]
        where = {"source": "a", "writer": 1, "line": line, "byte": line, "topic": "t", "partition": partition, "cluster": 0}
        return {**where, "event": "append-refused", "isr": isr, "text": f"{at} refused {isr}", "at": at}

    joined = [*range(lines), *range(lines - overlap, lines)]
    tables = [
        pa.Table.from_pylist([of(partition, 3 * line + partition, n) for line, n in enumerate(joined, 1)], schema=IDENTIFIED)
        for partition in (0, 1)
    ]
    cluster = Cluster(sources=[_of_parts(3 * lines + 3)] if overlap else [])
    both = pa.concat_tables(tables).sort_by([("line", "ascending")])
    for slices in ([tables[0]], [both], [both[:7_001], both[7_001:]], [both[n : n + 999] for n in range(0, len(both), 999)]):
        found = dict.fromkeys((0,), 0)
        for _, partition, events in by_partition(sorted_partitions([partial(own.slice, 0) for own in slices], cluster)):
            found[partition] = sum(e.repeats for own, _ in timelines("t", partition, events, cluster) for e in own.events)
        assert set(found.values()) == {lines}


def _of_parts(line: int) -> Source:
    """A log of two parts, of which the second begins at this line."""
    columns = {f.name: None for f in fields(Source) if f.default is MISSING and f.default_factory is MISSING}
    return Source(**{**columns, "path": "a", "kind": "server-log", "samples": ()}, steps_back=[(line, NOON + timedelta(hours=1), NOON)])
