"""Which eligible leader replicas (KIP-966) can still be elected, and what a report recommends."""

from __future__ import annotations

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from forensics.model.events import Event
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.partition.windows import eligible_leaders, named_eligible
from forensics.model.presence.availability import CONTROLLED, KILLED, PRESUMED_CRASHED, Outage
from forensics.words import words
from tests.support import local
from tests.support.shapes import bundle

NOON = datetime(2026, 11, 21, 12)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def state(seconds: float, leader: int, isr: tuple[int, ...], elr: tuple[int, ...] = (), **fields: Any) -> State:
    events = Event(event="metadata-partition-change", source="s", at=at(seconds), **fields)
    shape = {"leader_epoch": int(seconds), "partition_epoch": int(seconds), "leader": leader, "isr": isr, "eligible": elr}
    return State(**shape, at=at(seconds), source="metadata", event=events)


def able(ends: dict[int, tuple[str, float, float | None]], until: float | None = None) -> tuple[int, ...]:
    """Brokers 1 and 2 are the eligible leader replicas from 30 s on; broker 2 was in the ISR last at 10 s, broker 1 at 20 s. `ends`: how each was
    away, since when and until when."""
    emptied = state(30, -1, (), (1, 2))
    timeline = PartitionTimeline("t", 0, 0, states=[state(10, 1, (1, 2)), state(20, 1, (1,), (2,)), emptied])
    outages = {
        b: [Outage(how, None, at(since), None if back is None else at(back), None, Event(event="x", source="s"))]
        for b, (how, since, back) in ends.items()
    }
    cluster: Any = SimpleNamespace(availability=lambda b: SimpleNamespace(outages=outages.get(b, [])))
    return eligible_leaders(emptied, None if until is None else at(until), timeline, cluster)


@pytest.mark.parametrize(
    ("ends", "until", "expected"),
    [
        pytest.param({}, None, (1, 2), id="nothing is known of either"),
        pytest.param({1: (CONTROLLED, 28, None), 2: (CONTROLLED, 19, 50)}, None, (1, 2), id="both were stopped"),
        pytest.param({1: (KILLED, 28, None), 2: (CONTROLLED, 19, None)}, None, (2,), id="the last leader crashed"),
        pytest.param({1: (KILLED, 28, 60), 2: (CONTROLLED, 19, None)}, None, (2,), id="it is back, and was removed"),
        pytest.param({1: (PRESUMED_CRASHED, 28, None)}, None, (2,), id="its log ends without a stop"),
        pytest.param({2: (KILLED, 2, 8)}, None, (1, 2), id="it crashed before it was in the ISR"),
        pytest.param({2: (KILLED, 40, None)}, 35, (1, 2), id="it crashed after the election"),
        pytest.param({2: (KILLED, 40, None)}, None, (1,), id="it came back and crashed then"),
    ],
)
def test_eligible_leader_replica_that_crashed_is_not_elected(
    ends: dict[int, tuple[str, float, float | None]], until: float | None, expected: tuple[int, ...]
) -> None:
    assert able(ends, until) == expected


def test_describe_names_eligible_leader_replicas_too() -> None:
    assert named_eligible(state(1, -1, (), (), eligible=[3])) == (3,)
    assert named_eligible(state(1, -1, (), (2,), eligible=[3])) == (2,)


def leaderless(name: str) -> Any:
    table = local.events_of_files({path: file.content for path, file in bundle(name).items()})
    (found,) = (f for f in local.spread(local.report(table).findings) if f.kind == "offline-partition" and f.topic == "orders")
    return found


def test_real_leader_that_crashed_is_not_recommended() -> None:
    """Broker 2 crashed and registered again, and the controller removed it; broker 1, the only one left in the set, had crashed, too."""
    found = leaderless("eligible-unclean-4.1.0-kraft")
    assert "no clean election was possible" in words(found).explanation
    assert "Broker 1 crashed" in words(found).explanation
