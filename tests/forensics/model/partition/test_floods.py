"""Of more events than a partition may have only the middle of floods is left out, and that is reported."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.model.cluster.facts import Cluster
from forensics.model.events import IDENTIFIED
from forensics.model.partition.absences import intervals
from forensics.model.partition.floods import LEFT_OUT
from forensics.model.partition.runs import folded
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.timelines import by_partition, timelines
from forensics.words import summary
from tests.support.local import found_by

NOON = datetime(2026, 11, 21, 12)
OF_FLOODS = {"isr-shrink", "isr-update", "isr-expand", "append-refused", "fetch-error"}


@pytest.fixture(autouse=True)
def of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forensics.model.partition.floods.MOST", 60)
    monkeypatch.setattr("forensics.model.partition.floods.ENDS", (16, 8, 4))


def flaps(count: int, epoch: int = 0, since: int = 0) -> Iterator[dict[str, Any]]:
    """Replica 3 leaves and comes back, as a leader in this epoch prints it."""
    yield {"event": "leader-start", "leader_epoch": epoch, "leader": 1, "isr": [1, 2, 3], "replicas": [1, 2, 3], "partition_epoch": since}
    for version in range(since + 1, since + 2 * count, 2):
        yield {"event": "isr-shrink", "isr": [1, 2], "previous_isr": [1, 2, 3]}
        yield {"event": "isr-update", "isr": [1, 2], "partition_epoch": version}
        yield {"event": "append-refused", "count": version}
        yield {"event": "isr-expand", "isr": [1, 2, 3], "previous_isr": [1, 2]}
        yield {"event": "isr-update", "isr": [1, 2, 3], "partition_epoch": version + 1}


def table(stated: list[dict[str, Any]], partition: int = 0) -> pa.Table:
    of_all = {"source": "broker-1/logs/server.log", "topic": "t", "partition": partition, "writer": 1, "node": 1, "cluster": 0}
    rows = [
        {**of_all, "line": n, "byte": n * 100, "text": f"line {n}", "at": NOON + timedelta(seconds=n), **e} for n, e in enumerate(stated)
    ]
    return pa.Table.from_pylist(rows, schema=IDENTIFIED)


def left(whole: pa.Table, pieces: int = 3) -> pa.Table:
    size = whole.num_rows // pieces + 1
    return folded([partial(whole.slice, at, size) for at in range(0, whole.num_rows, size)], Cluster())


def timeline(events: pa.Table) -> PartitionTimeline:
    ((topic, partition, stated),) = by_partition(events.to_batches())
    ((found, _),) = timelines(topic, partition, stated, Cluster())
    return found


@given(st.lists(st.sampled_from([*OF_FLOODS, "truncation", "leader-start"]), max_size=30), st.integers(0, 60), st.integers(1, 4))
@settings(max_examples=60)
def test_what_is_left_out_is_counted_and_only_of_floods(kinds: list[str], flaps_: int, pieces: int) -> None:
    events = [*({"event": kind, "leader_epoch": 1} for kind in kinds), *flaps(flaps_, 1), *({"event": kind} for kind in kinds)]
    whole, other = table(events), table([{"event": "isr-shrink"}] * 5, 1)
    found = left(pa.concat_tables([whole, other]), pieces).to_pylist()
    own = [row for row in found if not row["partition"]]
    assert sum(row["count"] if row["event"] == LEFT_OUT else row.get("repeats") or 1 for row in own) == whole.num_rows
    assert {row["line"] for row in whole.to_pylist() if row["event"] not in OF_FLOODS} <= {row["line"] for row in own}
    assert sum(row["partition"] for row in found) == 5


def test_flood_is_cut_between_two_tellings_of_the_whole_isr() -> None:
    whole = timeline(table([*flaps(500), *flaps(500, epoch=1, since=2000), {"event": "truncation", "offset": 7}]))
    events = left(table([*flaps(500), *flaps(500, epoch=1, since=2000), {"event": "truncation", "offset": 7}]))
    assert events.num_rows < 80
    fewer = timeline(events)
    gaps = fewer.of(LEFT_OUT)
    assert len(gaps) == 2
    assert [t.order for t in fewer.terms] == [t.order for t in whole.terms]
    assert fewer.final is not None and whole.final is not None and fewer.final.isr == whole.final.isr
    absent = [(i.start, i.end) for i in intervals(fewer, Cluster())]
    assert absent and set(absent) <= {(i.start, i.end) for i in intervals(whole, Cluster())}
    (finding,) = found_by("evidence-gap", fewer, Cluster())
    count = sum(e.count or 0 for e in gaps)
    assert count == 5002 + 1 - events.num_rows + 2
    assert f"{count:,} events" in summary(finding) and (finding.start, finding.end) == (gaps[0].at, gaps[-1].last_at)
    assert found_by("evidence-gap", whole, Cluster()) == []
    (flapping,) = found_by("isr-flapping", fewer, Cluster())
    assert f"left the ISR at least {len(absent)} times" in summary(flapping)
    assert "1,000 times" in summary(found_by("isr-flapping", whole, Cluster())[0])


def test_one_that_is_within_the_limit_is_whole() -> None:
    events = table(list(flaps(11)))
    assert left(events).num_rows == events.num_rows
