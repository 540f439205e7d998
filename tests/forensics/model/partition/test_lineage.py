"""What files tell of a log's epochs: of entries that retention moved, that a fresh copy begins with, that the log cleaner shifted."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from forensics.model import events
from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.partition.lineage import Lineage, began, may_be_cleaned, on_disk
from forensics.model.partition.replicas import Disk
from forensics.model.settings.settings import STATIC, TOPIC
from parsers.catalogue.record import search_all
from parsers.schemas import EVENTS

Span = tuple[int, int, int]
"""Epoch, base offset, last offset of a batch."""


def batch(epoch: int, base: int, last: int, *, whole: bool | None = True) -> dict[str, Any]:
    return {"leader_epoch": epoch, "base_offset": base, "last_offset": last, "whole": whole, "crc": base, "control": False}


def disk(broker: int = 1, epochs: tuple[tuple[int, int], ...] = (), batches: tuple[Span, ...] = (), *, start: int | None = None) -> Disk:
    found = Disk(broker, "c", epochs=list(epochs))
    if batches:
        rows = [batch(*b) for b in batches]
        found.segments = [Event(event="segment", source=f"{broker}/0.log", offset=batches[0][1], batches=rows)]
        found.log_end_offset = batches[-1][2] + 1
    if start is not None:
        found.log_start = Event(event="log-start-checkpoint", source="start", offset=start)
    return found


def lineage(of: Disk, led: tuple[int, ...] = (), *, cleaned: bool | None = False) -> Lineage:
    found = on_disk(of, led, cleaned=cleaned)
    assert found is not None
    return found


def bounds(of: Lineage) -> list[tuple[int, int, int]]:
    return [(e.epoch, e.earliest, e.start) for e in of.entries]


@pytest.mark.parametrize(
    ("of", "led", "cleaned", "expected"),
    [
        (disk(epochs=((0, 0), (2, 100))), (), False, [(0, 0, 0), (2, 100, 100)]),
        (disk(epochs=((2, 150), (3, 200))), (), False, [(2, 0, 150), (3, 200, 200)]),  # retention, or where the copy began
        (disk(epochs=((2, 150), (3, 200)), start=120), (2,), False, [(2, 150, 150), (3, 200, 200)]),  # above the log start, its own
        (disk(epochs=((2, 150), (3, 200)), start=150), (2,), False, [(2, 0, 150), (3, 200, 200)]),
        (disk(epochs=((0, 0), (2, 100))), (), None, [(0, 0, 0), (2, 0, 100)]),  # copied, it may be, from a log the cleaner had been in
        (disk(epochs=((0, 0), (2, 100))), (2,), True, [(0, 0, 0), (2, 100, 100)]),  # noted by the leader itself
        (disk(batches=((0, 0, 99), (2, 100, 150))), (), None, [(0, 0, 0), (2, 100, 100)]),
        (disk(batches=((0, 0, 90), (2, 130, 150))), (), True, [(0, 0, 0), (2, 91, 130)]),  # a hole between two batches
        (disk(epochs=((0, 0), (2, 100)), batches=((0, 0, 90), (2, 130, 150))), (2,), True, [(0, 0, 0), (2, 100, 100)]),
        (disk(epochs=((0, 0), (2, 100)), batches=((0, 0, 90), (2, 130, 150))), (), True, [(0, 0, 0), (2, 91, 100)]),
        (disk(epochs=((0, 0), (2, 70)), batches=((0, 0, 99), (2, 100, 150))), (2,), False, [(0, 0, 0), (2, 100, 100)]),  # a damaged file
        (disk(epochs=((0, 0), (5, 151)), batches=((0, 0, 150),)), (), False, [(0, 0, 0), (5, 151, 151)]),  # no record of epoch 5 yet
        (disk(epochs=((3, 5), (2, 9)), batches=((0, 0, 150),)), (), False, [(0, 0, 0)]),
    ],
)
def test_between_which_offsets_an_epoch_began(of: Disk, led: tuple[int, ...], cleaned: bool | None, expected: list[Span]) -> None:
    assert bounds(lineage(of, led, cleaned=cleaned)) == expected


def test_in_a_hole_the_epoch_of_an_offset_is_unknown() -> None:
    log = lineage(disk(batches=((0, 0, 90), (2, 130, 150))), cleaned=True)
    assert [log.epoch_at(o) for o in (0, 90, 91, 129, 130, 150, 151)] == [0, 0, None, None, 2, 2, None]


@pytest.mark.parametrize(
    ("of", "leader", "expected"),
    [
        ([disk(1, ((3, 358),)), disk(2, ((0, 0), (3, 200)))], 2, (200, 200)),  # 1 is a fresh copy: the first broker by id, and wrong
        ([disk(1, ((3, 358),)), disk(2, ((3, 300),), start=300)], 2, (0, 300)),
        ([disk(1, ((3, 358),)), disk(2, ((0, 0), (3, 200)))], 1, (200, 200)),
        ([disk(1, ((0, 0), (3, 180))), disk(2, ((0, 0), (3, 200)))], 2, (200, 200)),  # they contradict each other: the leader's own
        ([disk(1, ((0, 0), (3, 180))), disk(2, ((0, 0), (3, 200)))], 9, (0, 200)),
        ([disk(1, ((0, 0),))], 1, None),
    ],
)
def test_where_a_term_began_by_all_disks(of: list[Disk], leader: int, expected: tuple[int, int] | None) -> None:
    found = began(3, leader, {d.broker: lineage(d, (3,) if d.broker == leader else ()) for d in of})
    assert (found and (found.earliest, found.start)) == expected


@pytest.mark.parametrize(
    ("topic", "source", "value", "line", "whole", "expected"),
    [
        ("t", None, None, None, True, None),
        ("t", TOPIC, "delete", None, True, False),
        ("t", TOPIC, "compact,delete", None, True, True),
        ("t", STATIC, "[delete]", None, True, None),  # a topic may have its own
        ("t", STATIC, "[compact]", None, True, True),
        ("t", None, None, "{min.insync.replicas=2}", True, False),
        ("t", None, None, "{cleanup.policy=compact,delete, retention.ms=5}", True, True),
        ("t", None, None, "{cleanup.policy -> [delete], min.compaction.lag.ms -> 5}", True, False),
        ("t", None, None, None, False, True),
        ("__consumer_offsets", STATIC, "[delete]", None, True, True),
    ],
)
def test_whether_the_log_cleaner_may_have_been_there(
    topic: str, source: str | None, value: str | None, line: str | None, whole: bool, expected: bool | None
) -> None:
    cluster = Cluster()
    if source == TOPIC:
        cluster.settings.put("cleanup.policy", value, source, topic)
    elif source is not None:
        cluster.settings.put("log.cleanup.policy", value, source, 1)
    made = search_all(f"[2024-05-01 12:00:00,123] INFO Created log for partition t-0 in /d with properties {line} (kafka.log.LogManager)")
    held = disk(batches=((0, 0, 9),))
    held.segments[0].batches[0]["whole"] = whole  # type: ignore[index]
    assert may_be_cleaned(topic, list(events.rows(pa.RecordBatch.from_pylist(made, EVENTS))) if line else [], [held], cluster) is expected
