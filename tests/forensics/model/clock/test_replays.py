"""A controller that starts applies old records again: its lines are no news."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from forensics.model.clock.replays import without_repeats
from forensics.model.events import Event
from forensics.model.presence.availability import BrokerRun

NOON = datetime(2026, 11, 21, 12)


def fenced(second: float, writer: int, reason: str = "replayed", epoch: int = 7) -> Event:
    at = NOON + timedelta(seconds=second)
    return Event(source=f"c-{writer}", line=1, event="broker-fenced", reason=reason, broker=2, broker_epoch=epoch, writer=writer, at=at)


def runs(*starts: float) -> dict[int, list[BrokerRun]]:
    return {100: [BrokerRun(100, Event(event="controller-starting", at=NOON + timedelta(seconds=s))) for s in starts]}


@pytest.mark.parametrize(
    ("events", "kept"),
    [
        ([fenced(10, 100)], 1),  # at work since second 0
        ([fenced(10, 100), fenced(62, 100)], 1),  # repeated after its start at second 60
        ([fenced(10, 101), fenced(62, 100)], 1),  # another controller had printed it
        ([fenced(10, 100), fenced(62, 100), fenced(63, 100)], 2),  # true once more
        ([fenced(10, 100), fenced(62, 100, epoch=9)], 2),  # of another registration
        ([fenced(62, 100)], 1),  # known from nowhere else
        ([fenced(10, 100), fenced(62, 100, "decided")], 2),  # a decision is news
    ],
)
def test_only_what_was_known_before_a_start_is_a_repeat(events: list[Event], kept: int) -> None:
    assert len(without_repeats(events, runs(0, 60))) == kept


def test_without_a_start_nothing_is_a_repeat() -> None:
    events = [fenced(10, 100), fenced(62, 100)]
    assert without_repeats(events, {}) == events
