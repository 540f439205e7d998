"""Events that stay in memory have the attributes of all others."""

from __future__ import annotations

import pickle
from datetime import datetime, timedelta
from operator import attrgetter

import pyarrow as pa
import pytest

from forensics.model.events import IDENTIFIED, Event, compact, kept_together, rows
from parsers.schemas import EVENTS, filtered, whole

FIRST = datetime(2026, 1, 1)
ATTRIBUTES = attrgetter(*Event.__slots__)
BATCH = pa.RecordBatch.from_pylist(
    [
        {
            "source": "broker-1/logs/server.log",
            "line": n,
            "event": "brokers-changed",
            "text": f"line {n} \u2028 of \ud7ff a log" if n % 5 else None,
            "brokers": [1, n] if n % 2 else None,
            "writer": 1,
            "cluster": 0,
            "at": FIRST + timedelta(seconds=n) if n % 3 else None,
        }
        for n in range(200)
    ],
    IDENTIFIED,
)


@pytest.mark.parametrize("batch", [BATCH, BATCH.slice(70, 1), BATCH.slice(0, 0)], ids=len)
def test_compact_events_have_the_same_attributes(batch: pa.RecordBatch) -> None:
    whole_events, kept = list(rows(batch)), compact(batch)
    assert list(map(ATTRIBUTES, kept)) == list(map(ATTRIBUTES, whole_events))
    assert list(map(ATTRIBUTES, pickle.loads(pickle.dumps(kept)))) == list(map(ATTRIBUTES, whole_events))
    assert list(map(repr, kept)) == list(map(repr, whole_events))


@pytest.mark.parametrize("kept", [slice(0, 0), slice(60, 200, 2), slice(0, 200)], ids=["none", "some", "all"])
def test_pickled_compact_events_are_the_same_objects_wherever_they_are_and_have_their_corrected_times(kept: slice) -> None:
    events = compact(BATCH)
    kept_together(events[kept])
    events[70].at = FIRST - timedelta(days=1)
    again, some = pickle.loads(pickle.dumps((events, events[60:80])))
    assert [a is b for a, b in zip(again[60:80], some, strict=True)] == [True] * 20
    assert list(map(ATTRIBUTES, again)) == list(map(ATTRIBUTES, events))


def test_filtered_rows_are_those_of_the_mask_and_absent_columns_share_their_memory() -> None:
    table = whole(pa.Table.from_batches([BATCH]).select(["source", "line", "event"]), EVENTS)
    for mask in (pa.chunked_array([pa.array([n % 7 == 0 for n in range(200)])]), pa.chunked_array([pa.array([False] * 200)])):
        assert filtered(table, mask).equals(table.filter(mask))
    large = whole(pa.table({"line": pa.array(range(50_000), pa.int64())}), EVENTS)
    before = pa.total_allocated_bytes()
    kept = filtered(large, pa.chunked_array([pa.array([True] * 50_000)]))
    assert kept.num_rows == 50_000
    assert pa.total_allocated_bytes() - before < 3 * 8 * 50_000
