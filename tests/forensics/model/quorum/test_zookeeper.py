"""The spans in which no broker had a connection to ZooKeeper: what shows them, where they begin and end, and what only looks like one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import pytest

from forensics.exemplars import exemplars_of
from forensics.model.quorum.zookeeper import NoZooKeeper, without_zookeeper
from tests.support import local

EXEMPLARS = {e.name: e.files for e in exemplars_of("zookeeper-lost")}
DOWN = b"""\
[2026-11-21 02:00:07,400] INFO Session establishment complete on server localhost/127.0.0.1:2181, sessionid = 0x100000000000003, negotiated timeout = 18000 (org.apache.zookeeper.ClientCnxn)
[2026-11-21 02:00:07,500] INFO [KafkaServer id=3] started (kafka.server.KafkaServer)
[2026-11-21 02:05:00,000] INFO [KafkaServer id=3] shutting down (kafka.server.KafkaServer)
[2026-11-21 02:05:01,000] INFO [KafkaServer id=3] shut down completed (kafka.server.KafkaServer)
"""
"""A third broker, which was shut down before the others lost their connections."""


def at(clock: str) -> datetime:
    return datetime.fromisoformat(f"2026-11-21 {clock}")


def spans(files: Mapping[str, bytes]) -> tuple[NoZooKeeper, ...]:
    return tuple(without_zookeeper(local.gathered(local.events_of_files(files))[0]))


def test_a_span_begins_when_the_last_connection_is_lost_and_ends_with_the_first_new_one() -> None:
    (span,) = spans(EXEMPLARS["server-crashed"])
    assert (span.brokers, span.latest, span.end) == ((1, 2), at("02:10:00.103"), at("02:10:28.400"))


def test_a_connection_without_answers_is_lost_when_the_client_closes_it() -> None:
    (span,) = spans(EXEMPLARS["no-answer"])
    assert (span.latest, span.end) == (at("02:10:13.005"), at("02:10:40"))


def test_a_span_without_end_is_known_until_the_last_line_of_its_brokers() -> None:
    (span,) = spans(EXEMPLARS["still-lost"])
    assert (span.latest, span.end, span.known_until) == (at("02:10:00.103"), None, at("02:10:40.100"))


@pytest.mark.parametrize("name", ["server-restarted", "one-after-the-other", "one-cut-off", "level-warn"])
def test_what_is_no_loss_of_zookeeper(name: str) -> None:
    assert spans(EXEMPLARS[name]) == ()


def test_one_broker_alone_may_be_cut_off_itself() -> None:
    assert spans({path: text for path, text in EXEMPLARS["server-crashed"].items() if "broker-1" in path}) == ()


def test_a_broker_that_is_not_connected_and_says_nothing_of_it_counts_as_connected() -> None:
    other = b"[2026-11-21 02:00:07,500] INFO [KafkaServer id=3] started (kafka.server.KafkaServer)\n"
    assert spans({**EXEMPLARS["server-crashed"], "broker-3/logs/server.log": other}) == ()


def test_a_broker_that_was_down_is_no_connection() -> None:
    assert [span.brokers for span in spans({**EXEMPLARS["server-crashed"], "broker-3/logs/server.log": DOWN})] == [(1, 2)]


def test_a_process_that_was_started_again_is_connected_again() -> None:
    starting = b"[2026-11-21 02:08:06,500] INFO starting (kafka.server.KafkaServer)\n"
    connected = b"".join(line.replace(b"02:00:", b"02:08:") for line in DOWN.splitlines(keepends=True)[:2])
    assert spans({**EXEMPLARS["server-crashed"], "broker-3/logs/server.log": DOWN + starting + connected}) == ()
