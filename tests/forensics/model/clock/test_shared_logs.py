"""Logs that several brokers of one host write to: who began, whose a line without a name is, who is of one host."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from forensics.model.clock.shared_logs import StartLines, Turn, hosts, shared_logs
from forensics.thresholds import SETTINGS_PRINTED
from parsers import schemas
from tests.support import local

NOON = datetime(2026, 11, 21, 12)
SERVER = "logs/server.log"
LATE = SETTINGS_PRINTED.total_seconds() + 1
STARTING = {"event": "broker-starting"}


def settings(node: int) -> dict[str, Any]:
    return {"event": "config", "node": node, "key": "broker.id", "value": str(node)}


def started(node: int) -> dict[str, Any]:
    return {"event": "broker-started", "node": node}


def rows(*given: tuple[float, dict[str, Any]], source: str = SERVER) -> list[dict[str, Any]]:
    """Rows of a log, a line each, by the seconds after noon."""
    empty = {"source": source, "byte": None, "node": None, "key": None, "value": None, "text": None}
    return [{**empty, "line": n, "time": NOON + timedelta(seconds=s), **row} for n, (s, row) in enumerate(given, 1)]


def starts(*given: tuple[float, dict[str, Any]]) -> dict[int, int]:
    """Whose each line that begins a process is."""
    found: Sequence[StartLines] = shared_logs(rows(*given), {SERVER: (1, 2)}).starts[SERVER]
    return {start.begin: start.node for start in found}


def test_start_is_of_the_broker_that_tells_its_settings_next() -> None:
    assert starts((0, STARTING), (1, settings(1)), (5, started(1)), (60, STARTING), (61, settings(2))) == {1: 1, 4: 2}


def test_settings_are_told_twice_and_name_one_start() -> None:
    events = [(0.0, STARTING), (0.1, STARTING), (1.0, settings(1)), (1.1, settings(1)), (1.2, settings(2)), (1.3, settings(2))]
    assert starts(*events) == {1: 1, 2: 2}


def test_starts_at_a_time_are_of_those_named_after_in_their_order() -> None:
    assert starts((0, STARTING), (0.1, STARTING), (0.2, STARTING), (9, started(3)), (9.1, started(1)), (9.2, started(2))) == {
        1: 3,
        2: 1,
        3: 2,
    }


def test_settings_before_the_start_name_it_and_no_later_ones() -> None:
    assert starts((0, settings(1)), (0.1, STARTING), (4, started(1)), (20, settings(2)), (20.1, STARTING), (24, started(2))) == {2: 1, 5: 2}


def test_start_that_never_came_to_a_name_is_nobodys() -> None:
    assert starts((0, STARTING), (LATE, STARTING), (LATE + 1, settings(2))) == {2: 2}


def test_line_that_stands_in_one_brokers_own_log_is_its_own() -> None:
    said = {"event": "broker-starting", "text": "[12:00:00] INFO starting (kafka.server.KafkaServer)"}
    shared = rows((0, said), (0.1, {**STARTING, "text": "another"}), (1, settings(1)), (1.1, settings(2)))
    own = rows((0, said), source="two.log")
    found = shared_logs([*shared, *own], {SERVER: (1, 2), "two.log": (2,)}, {SERVER: 1, "two.log": 2}).starts[SERVER]
    assert found[-1] == StartLines(1, 2, 2)
    both = rows((0, said), source="one.log")
    known = {SERVER: (1, 2), "one.log": (1,), "two.log": (2,)}
    stated = shared_logs([*shared, *own, *both], known, {SERVER: 1, "one.log": 1, "two.log": 2}).starts[SERVER]
    assert StartLines(1, 2, 2) not in stated


@pytest.mark.parametrize("end", ["broker-stopping", "broker-stopped"])
def test_a_broker_that_failed_to_start_may_start_again_at_once(end: str) -> None:
    events = [(0, STARTING), (1, settings(1)), (2, {"event": end, "node": 1}), (5, STARTING), (6, settings(1)), (7, started(1))]
    assert starts(*events) == {1: 1, 4: 1}


def test_a_directory_of_two_brokers_is_that_of_the_last_one_that_was_started_with_it() -> None:
    read = rows(
        (0, {"event": "config", "node": 1, "key": "log.dirs", "value": "/data"}),
        (9, {"event": "config", "node": 2, "key": "log.dirs", "value": "/data,/more"}),
    )
    found = shared_logs(read, {SERVER: (1, 2)})
    assert found.directories == {"/more": 2}
    assert found.turns[SERVER] == (Turn(1, "/data", 1), Turn(2, "/data", 2))
    empty = dict.fromkeys(schemas.EVENTS.names)
    asked = [
        {**empty, "source": SERVER, "line": n, "event": "log-load", "directory": d} for n, d in ((1, "/data"), (3, "/data/t-0"), (3, "/x"))
    ]
    (batch,) = schemas.batches(asked)
    assert found.writers(batch, SERVER).to_pylist() == [1, 2, None]


def test_a_line_without_a_name_is_not_of_the_broker_of_the_line_before_it() -> None:
    lines = (
        "[2026-11-21 02:00:00,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)",
        "[2026-11-21 02:00:00,100] INFO [KafkaServer id=2] started (kafka.server.KafkaServer)",
        "[2026-11-21 02:01:00,000] INFO [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Starting (kafka.server.ReplicaFetcherThread)",
        "[2026-11-21 02:01:00,200] ERROR Shutdown broker because all log dirs in /data have failed (kafka.log.LogManager)",
        "[2026-11-21 02:02:00,000] INFO [KafkaServer id=1] shutting down (kafka.server.KafkaServer)",
    )
    report = local.report(local.events_of_files({SERVER: "\n".join((*lines, ""))}))
    assert [(e.line, e.writer) for e in report.cluster.of("fatal-error")] == [(4, None)]
    assert {f.kind: f.brokers for f in report.findings if f.severity == "high"} == {"log-dir-failure": ()}


@pytest.mark.parametrize(
    ("logs", "expected"),
    [
        ({"a/server.log": (2, 1), "b/server.log": (3,)}, {1: 1, 2: 1}),
        ({"a/server.log": (2, 1), "a/controller.log": (2, 3)}, {1: 1, 2: 1, 3: 1}),
        ({"a/server.log": (1,), "a/server.log.2026-11-21-08": (2,)}, {1: 1, 2: 1}),
        ({"a/server.log": (1,), "a/server.log.2026-11-21-08.gz": (2,)}, {1: 1, 2: 1}),
        ({"a/server.log": (1,), "a/server.log.2": (2,), "a/server.log.gz": (3,)}, {}),
        ({"a/server.log": (1, 3), "a/server.log.2": (2,)}, {1: 1, 2: 1, 3: 1}),
        ({"a/server.log": (1,), "b/server.log": (2,), "a/server-2.log": (3,)}, {}),
    ],
    ids=[
        "one file",
        "a chain of files",
        "rolled by date",
        "rolled and packed",
        "numbers may be a copy's",
        "rolled, and one shared",
        "apart",
    ],
)
def test_brokers_whose_lines_one_appender_writes_are_of_one_host(logs: dict[str, tuple[int, ...]], expected: dict[int, int]) -> None:
    assert hosts(logs) == expected
