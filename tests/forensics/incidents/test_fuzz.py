"""Whatever rows evidence turns into, the timeline and every rule answer: no order, no gap and no number makes them raise."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forensics.model.findings import LEVELS
from forensics.views.document import Report
from parsers.kinds import KINDS
from parsers.schemas import EVENTS, INT32, INT64
from tests.forensics.views.test_report import text
from tests.support import local

BROKERS = st.sampled_from([-1, 0, 1, 2, 3])
SMALL = st.one_of(st.integers(-1, 6), st.integers(0, 400))
IDS = st.lists(BROKERS, max_size=4)
REASONS = st.sampled_from(
    [
        "decided",
        "received",
        "cached",
        "sent",
        "leader-epoch",
        "high-watermark",
        "latest",
        "start",
        "PREFERRED",
        "UNCLEAN",
        "fenced",
        "unfenced",
        "added",
        "deleted",
        "bounced",
        "done",
        "failed",
        "retry",
        "retention-time",
        "checkpoint-corrupt",
        "NonExistentPartition->NewPartition",
        "longer",
        "own-end",
        "STARTING",
    ]
)
PATHS = st.sampled_from(
    [
        "broker-1/logs/server.log",
        "broker-2/logs/state-change.log",
        "before-restart/broker-1/data/x",
        "broker-3/data/t-0/leader-epoch-checkpoint",
        "describe.txt",
    ]
)
BATCH = st.fixed_dictionaries(
    {
        "base_offset": SMALL,
        "last_offset": SMALL,
        "leader_epoch": SMALL,
        "crc": st.integers(0, 3),
        "base_timestamp": st.sampled_from([-1, 0, 1795230083684]),
        "max_timestamp": st.sampled_from([-1, 0, 1795230083684, 2**62]),
        "producer_id": st.sampled_from([-1, 5]),
        "control": st.booleans(),
        "bytes": st.integers(61, 1000),
    }
)
COLLECTED = st.fixed_dictionaries(
    {"kind": st.sampled_from(["server-log", "meta-properties", "metadata-segment", "hw-checkpoint"])},
    optional={
        "unrecognised": st.integers(0, 3),
        "samples": st.lists(st.text(max_size=5), max_size=2),
        "nodes": st.lists(st.integers(0, 3), max_size=2),
        "first": st.datetimes(datetime(2026, 1, 1), datetime(2026, 1, 2)),
        "last": st.datetimes(datetime(2026, 1, 1), datetime(2026, 1, 2)),
        "modified": st.datetimes(datetime(2026, 1, 1), datetime(2026, 1, 2)),
        "problem": st.text(max_size=5),
    },
)
TELLING = [
    *("leader-start", "follower-start", "partition-state", "metadata-partition", "metadata-partition-change", "isr-update", "isr-shrink"),
    *(
        "log-load",
        "log-created",
        "log-deleted",
        "log-recovery",
        "truncation",
        "fetch-offset-reset",
        "hw-checkpoint",
        "epoch-entry",
        "segment",
    ),
    *(
        "broker-starting",
        "broker-started",
        "broker-stopped",
        "broker-fenced",
        "metadata-broker-change",
        "describe-partition",
        "hw-regression",
        "topic-deleted",
    ),
]
"""Kinds that timelines are made of; the others are drawn as well."""
SPECIAL: Mapping[str, st.SearchStrategy[Any]] = {
    "source": PATHS,
    "event": st.one_of(st.sampled_from(TELLING), st.sampled_from(sorted(KINDS))),
    "topic": st.sampled_from(["t", "u", "__cluster_metadata"]),
    "partition": st.sampled_from([0, 0, 1]),
    "topic_id": st.sampled_from(["MlpAEC9lTCOuG5EVp6OGOg", "6Tjk54FSTMK4XDIimEZmUg"]),
    "time": st.datetimes(datetime(2026, 1, 1), datetime(2026, 1, 1, 0, 5)),
    "clock": st.sampled_from(["line", "mtime"]),
    "text": st.text(max_size=8),
    "reason": REASONS,
    "value": st.sampled_from(["1", "2", "made", "x", "", "9" * 40]),
    "key": st.sampled_from(["min.insync.replicas", "metadata.version", "replica.lag.time.max.ms", "cleanup.policy", "process.roles"]),
    "replica_offsets": st.lists(
        st.fixed_dictionaries({"broker": BROKERS, "log_end_offset": SMALL, "last_caught_up_ms": SMALL}), max_size=2
    ),
    "batches": st.lists(BATCH, max_size=3),
    "collected": COLLECTED,
}


def _column(field: pa.Field, extreme: bool) -> st.SearchStrategy[Any]:
    if field.name in SPECIAL:
        return SPECIAL[field.name]
    if pa.types.is_list(field.type):
        return IDS
    if pa.types.is_integer(field.type):
        bounds = INT32 if pa.types.is_int32(field.type) else INT64
        whole = st.sampled_from([bounds.start, bounds.stop - 1])
        return st.one_of(SMALL, whole) if extreme else SMALL
    return st.booleans() if pa.types.is_boolean(field.type) else st.text(max_size=6)


ALWAYS = ("source", "event", "topic", "partition")


def _rows(*, extreme: bool) -> st.SearchStrategy[list[dict[str, Any]]]:
    columns = {f.name: _column(f, extreme) for f in EVENTS}
    stated = {n: c for n, c in columns.items() if n not in ALWAYS}
    return st.lists(st.fixed_dictionaries({n: columns[n] for n in ALWAYS}, optional=stated), max_size=20)


def judged(rows: list[dict[str, Any]]) -> Report:
    return local.report(pa.Table.from_pylist(rows, schema=EVENTS))


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(_rows(extreme=False) | _rows(extreme=True))
def test_any_rows_are_judged(rows: list[dict[str, Any]]) -> None:
    report = judged(rows)
    assert all(f.severity in LEVELS for f in report.findings)
    assert json.loads(report.json())["schema"]
    assert text(report)


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(_rows(extreme=False), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows: list[dict[str, Any]], dealer: Any) -> None:
    """Rows of one file keep their order by line and byte; each row here has a place of its own."""
    placed = [{**row, "line": index + 1, "byte": 100 * index} for index, row in enumerate(rows)]
    straight = judged(placed).json()
    dealer.shuffle(placed)
    assert judged(placed).json() == straight
