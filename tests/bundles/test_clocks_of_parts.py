"""Clocks and verdicts when only a part of a bundle was handed over, and what a log's own times in UTC tell of its zone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import cache
from io import StringIO
from itertools import product

import pytest
from rich.console import Console

from forensics.model.clock.clocks import UNSURE
from forensics.model.clock.zones import NOISE_MS
from forensics.model.events import rows
from forensics.views.document import Report
from forensics.views.text import show
from tests.bundles.test_clocks_of_bundles import HOUR, moved, node_of, verdicts
from tests.forensics.staged import report, table
from tests.support import local

Kept = Callable[[str], bool]

PARTS: Mapping[str, Kept] = {
    "all": lambda path: True,
    "without segments": lambda path: not path.endswith(".log") or "/logs/" in path or "__cluster_metadata" in path,
    "without metadata": lambda path: "__cluster_metadata" not in path,
    "logs only": lambda path: "/logs/" in path,
    "first broker": lambda path: node_of(path) in (None, 1),
    "first broker's logs": lambda path: node_of(path) == 1 and "/logs/" in path,
    "server.log only": lambda path: "/logs/server.log" in path,
}
NODES = {
    "acks1-failover-2.8.2-zk": (1, 2, 3),
    "isr-flapping-2.4.1-zk": (1, 2, 3),
    "mixed-fleet-3.5.2-zk": (1, 2, 3, 4, 5),
    "unclean-election-2.5.1-zk": (1, 2, 3),
    "zombie-leader-2.8.2-zk": (1, 2, 3),
    "unclean-election-3.3.2-kraft": (1, 2, 3, 100),
    "zombie-leader-3.9.1-kraft": (1, 2, 3, 100),
    "rolling-restart-4.1.1-kraft": (1, 2, 3, 100),
}
"""Bundles of versions that print the time in UTC (2.3 and later), and their nodes."""


@cache
def _unmoved(name: str, part: str) -> Report:
    return local.report(moved(name, {}, kept=PARTS[part]))


@pytest.mark.parametrize(
    ("name", "part"), [(name, part) for n, name in enumerate(NODES) for m, part in enumerate(PARTS) if (n + m) % 4 == 0]
)
def test_zones_are_exact_without_modification_times(name: str, part: str) -> None:
    hours = dict(zip(NODES[name], (5.5, 0.0, -8.0, 13.0, -3.5), strict=False))
    reported = local.report(moved(name, {n: h * HOUR for n, h in hours.items()}, lost=True, kept=PARTS[part]))
    known = [n for n in reported.cluster.nodes.values() if n.id == 1 or not part.startswith("first")]
    assert known
    assert {n.id: (n.clock.zone_minutes, n.clock.skew_ms) for n in known} == {n.id: (hours[n.id] * 60, 0) for n in known}
    assert all(n.clock.basis not in UNSURE for n in known)
    assert verdicts(reported) == verdicts(_unmoved(name, part))


WAYS = [*product(("without metadata", "logs only"), ("along", "lost"), (300.0, -300.0))]
IN_TURN = [(name, *way) for n, name in enumerate(NODES) for m, way in enumerate(WAYS) if m % 4 == n % 4]
"""Four neighbouring bundles together have every way."""


@pytest.mark.parametrize(("name", "part", "mtimes", "seconds"), IN_TURN)
def test_one_wrong_clock_shows_in_logs_alone(name: str, part: str, mtimes: str, seconds: float) -> None:
    reported = local.report(moved(name, {1: 5.5 * HOUR}, {2: seconds}, lost=mtimes == "lost", along=mtimes == "along", kept=PARTS[part]))
    assert verdicts(reported) == verdicts(_unmoved(name, part))
    assert {node.id for node in reported.cluster.nodes.values() if node.clock.uncertainty_ms is not None} >= {1, 2, 3}
    for node in reported.cluster.nodes.values():
        true = (5.5 * 3_600_000 if node.id == 1 else 0) + (1000 * seconds if node.id == 2 else 0)
        if node.clock.uncertainty_ms is None:
            assert not node.broker and node.clock.offset_ms == 0
            continue
        assert abs(node.clock.offset_ms - true) <= min(node.clock.uncertainty_ms, 1_000) + NOISE_MS, node.id
    assert {b for f in reported.findings if f.kind == "clock-skew" for b in f.brokers} == {2}


# the zone as a log's own lines tell it


AUTUMN = datetime(2026, 10, 25, 1)
"""UTC at which Central Europe goes back to UTC+01:00."""


def printed(lines: list[tuple[datetime, int, str]]) -> str:
    """Lines of a broker 1 from UTC, the zone's offset in hours and the text."""
    return "".join(
        f"[{at + timedelta(hours=hours):%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}] INFO {text}\n" for at, hours, text in lines
    )


def life(at: datetime, hours: int) -> list[tuple[datetime, int, str]]:
    """How a broker's process begins, printing the UTC it is."""
    ms = round((at + timedelta(seconds=2) - datetime(1970, 1, 1)).total_seconds() * 1000)
    return [
        (at, hours, "starting (kafka.server.KafkaServer)"),
        (at + timedelta(seconds=2, milliseconds=4), hours, f"Kafka startTimeMs: {ms} (org.apache.kafka.common.utils.AppInfoParser)"),
        (at + timedelta(seconds=2, milliseconds=5), hours, "[KafkaServer id=1] started (kafka.server.KafkaServer)"),
        (at + timedelta(seconds=9), hours, "[Log partition=t-0, dir=/d] Truncating to offset 5 (kafka.log.Log)"),
    ]


def told_at(content: str, path: str = "broker-1/logs/server.log") -> tuple[list[datetime | None], Report]:
    events = table({path: content})
    _, known = local.gathered(events)
    return [e.at for b in events.to_batches() for e in rows(known.apply(b)) if e.event in ("truncation", "broker-starting")], local.report(
        events
    )


@pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 2), (5, -8), (-8, 5)])
def test_each_process_is_in_the_zone_it_tells(before: int, after: int) -> None:
    first, second = AUTUMN - timedelta(hours=30), AUTUMN + timedelta(hours=9)
    found, stated = told_at(printed([*life(first, before), *life(second, after)]))
    seconds = timedelta(seconds=9)
    assert found == [first, first + seconds, second, second + seconds]
    (node,) = stated.cluster.nodes.values()
    assert (node.clock.zone_minutes, node.clock.basis, len(node.clock.changes)) == (after * 60, "start", 1)


def test_processes_close_together_are_parted_where_the_clock_goes_back() -> None:
    first, second = AUTUMN - timedelta(minutes=40), AUTUMN + timedelta(minutes=5)
    found, _ = told_at(printed([*life(first, 2), *life(second, 1)]))
    seconds = timedelta(seconds=9)
    assert found == [first, first + seconds, second, second + seconds]


@pytest.mark.parametrize("number", ["9" * 30, "9223372036854775807", "9223372036854775808", "0"])
def test_times_that_are_none_tell_nothing(number: str) -> None:
    line = f"[2026-11-21 12:00:00,000] INFO Kafka startTimeMs: {number} (org.apache.kafka.common.utils.AppInfoParser)\n"
    events = table({"broker-1/logs/server.log": line})
    assert {e.event for b in events.to_batches() for e in rows(b)} == {"source", "problem" if int(number) >= 2**63 else "start-time"}
    cluster, _ = local.gathered(events)
    assert {n.clock.basis for n in cluster.nodes.values()} == {"assumed"}


# what is said of zones nobody told


def test_every_report_says_which_zones_were_only_assumed() -> None:
    line = "[2026-11-21 12:00:00,000] INFO [KafkaServer id={0}] started (kafka.server.KafkaServer)\n"
    reported = report({f"broker-{n}/logs/server.log": line.format(n) for n in (1, 2)})
    words = "the zone of the clock of nodes 1 and 2 is unknown and was assumed to be UTC"
    assert words in reported.document()["evidence"]["gaps"]
    out = StringIO()
    show(reported, Console(file=out, width=400))
    assert words in out.getvalue()


def test_reports_name_a_zone_that_is_only_that_of_the_fleet() -> None:
    ahead = "[2026-11-21 17:30:00,000] INFO [KafkaServer id={0}] started (kafka.server.KafkaServer)\n"
    files = {f"broker-{n}/logs/server.log": ahead.format(n) for n in (1, 2, 3)}
    reported = report(files, {f"broker-{n}/logs/server.log": datetime(2026, 11, 21, 12) for n in (1, 2)})
    words = "the zone of the clock of node 3 is unknown and was assumed to be UTC+05:30"
    assert words in reported.document()["evidence"]["gaps"]
    out = StringIO()
    show(reported, Console(file=out, width=400))
    assert words in out.getvalue()
