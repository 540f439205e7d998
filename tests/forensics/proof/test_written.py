"""When lost records were written: the span of time from the brokers' lines holds the timestamps that the records themselves have."""

from __future__ import annotations

from datetime import timedelta
from functools import cache

import pytest

from forensics.model.findings import Salvageable
from forensics.model.partition.salvageable import salvageable
from forensics.proof.losses import losses, written
from forensics.thresholds import CLOCK_TOLERANCE
from tests.forensics.staged import START, Story, timeline
from tests.support import local, recorded

SAVED = [
    "clients-unclean-1.1.1-zk",
    "clients-unclean-3.9.1-kraft",
    "clients-unclean-4.2.0-kraft",
    "loser-moved-away-3.8.1-kraft-combined",
]
"""Bundles with a disk that still has the lost records of orders-0."""


@cache
def orders(name: str):  # type: ignore[no-untyped-def]
    return next(t for t in local.timelines(recorded.events(name)) if t[0].topic == "orders")


@pytest.mark.parametrize("name", SAVED)
def test_the_records_were_created_within_the_span_that_the_brokers_lines_show(name: str) -> None:
    found, cluster = orders(name)
    (loss,) = losses(found, cluster)
    saved = salvageable([loss.range], loss.term, loss.removals, found)
    of_records = written(loss.range, loss.transition, saved)
    of_brokers = written(loss.range, loss.transition, Salvageable())
    assert of_records.since is not None and of_records.until is not None
    assert of_brokers.since is not None and of_brokers.until is not None
    assert of_brokers.since - CLOCK_TOLERANCE <= of_records.since <= of_records.until <= of_brokers.until


def tail_of_broker_2() -> Story:
    """Broker 2 leads from second 0 with offset 100, rolls a segment at 200 in second 10, and is deposed in second 30; broker 1 has 200
    offsets, and broker 2 truncates from 300."""
    s = Story()
    s.leads(2, 0, 1, 100, 100, [2, 1])
    s.line(
        2,
        "server",
        10,
        "INFO [Log partition=t-0, dir=/var/lib/kafka/broker-2/data] Rolled new log segment at offset 200 in 1 ms. (kafka.log.Log)",
    )
    s.leads(1, 30, 2, 200, 200, [1])
    s.follows(2, 31, 2, 300, 200, 1)
    s.truncates(2, 32, 200)
    return s


def span_of_loss(s: Story) -> tuple[float | None, float | None]:
    found, cluster = timeline(s.files)
    (loss,) = losses(found, cluster)
    assert str(loss.range) == "200–299"
    span = written(loss.range, loss.transition, Salvageable())
    return tuple(None if at is None else (at - START) / timedelta(seconds=1) for at in (span.since, span.until))  # type: ignore[return-value]


def test_they_were_written_after_the_log_ended_below_them_and_before_the_leader_stepped_down() -> None:
    assert span_of_loss(tail_of_broker_2()) == (10, 31)


def test_without_a_line_about_the_log_they_were_written_in_the_leaders_term() -> None:
    s = tail_of_broker_2()
    lines = s.files["broker-2/logs/server.log"].splitlines()
    s.forget("broker-2/logs/server.log")
    s.put("broker-2/logs/server.log", [line for line in lines if "Rolled" not in line])
    assert span_of_loss(s) == (0, 31)


def test_they_were_written_before_the_log_was_seen_to_end_above_them() -> None:
    s = tail_of_broker_2()
    lines = s.files["broker-2/logs/server.log"].splitlines()
    s.forget("broker-2/logs/server.log")
    s.put("broker-2/logs/server.log", lines[:1])
    s.line(
        2,
        "server",
        20,
        "INFO [Log partition=t-0, dir=/var/lib/kafka/broker-2/data] Rolled new log segment at offset 300 in 1 ms. (kafka.log.Log)",
    )
    s.put("broker-2/logs/server.log", lines[1:])
    assert span_of_loss(s) == (10, 20)
