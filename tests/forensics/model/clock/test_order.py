"""The order of one broker's files: each as it is, merged by time, ties by what Kafka can do."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from forensics.model.clock.order import file_order
from forensics.model.events import Event

NOON = datetime(2026, 11, 21, 12)


def event(kind: str, source: str, line: int, seconds: int = 0, **fields: Any) -> Event:
    return Event(event=kind, source=source, line=line, at=NOON + timedelta(seconds=seconds), writer=1, **fields)


def kinds(*events: Event) -> list[str]:
    return [e.event for e in file_order(events)]


def test_log_is_loaded_before_its_replica_starts_and_cut_after_it() -> None:
    roll = event("segment-roll", "server.log", 1)
    load = event("log-load", "server.log", 2, log_end_offset=358)
    cut = event("truncation", "server.log", 3, offset=200)
    start = event("follower-start", "state-change.log", 1, leader_epoch=4, log_end_offset=358)
    assert kinds(roll, load, cut, start) == ["segment-roll", "log-load", "follower-start", "truncation"]


def test_follower_that_was_cut_leads_with_what_is_left() -> None:
    follows = event("follower-start", "state-change.log", 1, -1, leader_epoch=1, log_end_offset=300)
    leads = event("leader-start", "state-change.log", 2, leader_epoch=2, log_end_offset=200)
    cut = event("truncation", "server.log", 1, offset=200)
    assert kinds(leads, cut, follows) == ["follower-start", "truncation", "leader-start"]


def test_zombie_shrinks_the_isr_before_it_obeys() -> None:
    leads = event("leader-start", "state-change.log", 1, -9, leader_epoch=0)
    obeys = event("follower-start", "state-change.log", 2, leader_epoch=1, log_end_offset=270)
    shrink = event("isr-shrink", "server.log", 1, isr=[1])
    assert kinds(obeys, shrink, leads) == ["leader-start", "isr-shrink", "follower-start"]


def test_new_leader_starts_before_it_changes_the_isr() -> None:
    follows = event("follower-start", "state-change.log", 1, -9, leader_epoch=0)
    leads = event("leader-start", "state-change.log", 2, leader_epoch=1)
    shrink = event("isr-shrink", "server.log", 1, isr=[1])
    assert kinds(shrink, leads, follows) == ["follower-start", "leader-start", "isr-shrink"]


KINDS = ["log-load", "leader-start", "follower-start", "truncation", "isr-shrink", "fetcher-added", "segment-roll", "partition-state"]


@given(st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from("abc"), st.integers(-2, 2)), max_size=30))
def test_no_file_is_reordered_and_nothing_is_lost(stated: list[tuple[str, str, int]]) -> None:
    events = [event(kind, source, line, seconds) for line, (kind, source, seconds) in enumerate(stated)]
    ordered = file_order(reversed(events))
    assert sorted(e.line or 0 for e in ordered) == list(range(len(events)))
    for source in "abc":
        lines = [e.line or 0 for e in ordered if e.source == source]
        assert lines == sorted(lines)
