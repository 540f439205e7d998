"""Verdicts and times of real bundles whose brokers' clocks are moved: other zones, errors of minutes, modification times kept,
moved along or lost."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from functools import cache
from io import BytesIO
from typing import Any

import click
import pyarrow as pa
import pytest

from forensics.commands.evidence import clock_offset
from forensics.commands.evidence import zone as zone_option
from forensics.model.clock.clocks import UNSURE
from forensics.model.clock.node_clocks import Options
from forensics.model.clock.zones import NOISE_MS, in_zone
from forensics.model.events import rows
from forensics.views.document import Report
from forensics.views.notes import notes
from forensics.words import words
from parsers import evidence, schemas
from parsers.schemas import EVENTS, Member
from tests.forensics.staged import table
from tests.support import local, recorded, taken
from tests.support.each import for_each
from tests.support.events import one_by_one
from tests.support.paths import BUNDLES, truth_of
from tests.support.shapes import bundle
from tests.support.taken import ways

NAMES = sorted(p.name.removesuffix(".tar.gz") for p in BUNDLES.glob("*.tar.gz"))
RECORDED = datetime(2026, 11, 21, 12)
"""About when; no zone changed its offset in those days."""
ZONED = {
    "unclean-election-2.8.2-zk": (1, 2, 3),
    "unclean-election-3.9.1-kraft": (1, 2, 3, 100),
    "power-loss-divergence-3.9.1-kraft": (1, 2, 3, 100),
    "last-replica-standing-2.8.2-zk": (1, 2, 3),
    "acks1-failover-2.8.2-zk": (1, 2, 3),
    "zombie-leader-2.8.2-zk": (1, 2, 3),
    "zombie-leader-3.9.1-kraft": (1, 2, 3, 100),
    "rolling-restart-2.8.2-zk": (1, 2, 3),
    "reassignment-3.9.1-kraft": (1, 2, 3, 4, 100),
    "unclean-election-0.10.2.2-zk": (1, 2, 3),
    "power-loss-divergence-0.10.2.2-zk": (1, 2, 3),
    "loser-moved-away-3.8.1-kraft-combined": (1, 2, 3, 4),
    "eligible-unclean-4.1.0-kraft": (1, 2, 3, 100),
    "opposite-tails-0.10.1.1-zk": (1, 2, 3),
    "disk-replaced-in-isr-2.3.1-zk": (1, 2, 3),
}
"""Bundles and their nodes."""
CONTROLLERS = {"loser-moved-away-3.8.1-kraft-combined": {1: 1, 3: 3}}
"""Nodes whose clocks stamp the metadata log, by controller epoch; elsewhere it is node 100 all the time."""
HOUR = 3600.0
COLLECTED = datetime(2026, 11, 21, 12, 34, 56)
"""When the copy that lost modification times was made."""


@cache
def rows_of(name: str) -> tuple[tuple[Member, list[schemas.Row]], ...]:
    """Rows of each file as the parsers give them, so that only times are left to be moved."""
    found = []
    with tarfile.open(BUNDLES / f"{name}.tar.gz") as whole:
        for info in whole:
            content = whole.extractfile(info)
            if content is not None:
                data = content.read()
                modified = datetime.fromtimestamp(info.mtime, timezone.utc).replace(tzinfo=None)
                member = Member(info.name, len(data), modified)
                found.append((member, list(one_by_one(evidence.read_source(member, BytesIO(data))))))
    return tuple(found)


def node_of(path: str) -> int | None:
    found = (re.fullmatch(r"(?:broker|controller)-(\d+)", part) for part in path.split("/"))
    return next((int(match[1]) for match in found if match), None)


def later(at: datetime | None, seconds: float) -> datetime | None:
    return at + timedelta(seconds=seconds) if at is not None else None


def moved(
    name: str,
    walls: Mapping[int, float],
    clocks: Mapping[int, float] | None = None,
    *,
    lost: bool = False,
    along: bool = False,
    kept: Callable[[str], bool] = lambda path: True,
) -> pa.Table:
    """Events of a bundle's `kept` files with each node's log lines `walls` (zone) and `clocks` (error) seconds ahead, the
    metadata log's stamps with the clock of who was the active controller. Modification times: true ones, `along` with the node's clock's error, or `lost`: that of the copy."""
    found: list[schemas.Row] = []
    for member, given in rows_of(name):
        if not kept(member.path):
            continue
        node = node_of(member.path)
        error = (clocks or {}).get(node, 0.0) if node is not None else 0.0
        wall = error + (walls.get(node, 0.0) if node is not None else 0.0)
        ahead = {"line": wall, "mtime": error if along else 0.0}
        for row in given:
            if "__cluster_metadata" in member.path:
                ahead["batch"] = (clocks or {}).get(CONTROLLERS.get(name, {}).get(row.get("controller_epoch") or 0, 100), 0.0)
            new = {**row, "time": later(row.get("time"), ahead.get(row.get("clock") or "", 0.0))}
            if row["event"] == "start-time":
                new["count"] = row["count"] + round(error * 1000)
            if lost and row.get("clock") == "mtime":
                new["time"] = COLLECTED
            if row["event"] == "source":
                c = dict(row["collected"])
                c |= {name: later(c.get(name), wall) for name in ("first", "last", "last_own")}
                c["modified"] = COLLECTED if lost else later(c["modified"], ahead["mtime"])
                new["collected"] = c
            found.append(new)
    return pa.Table.from_batches(list(schemas.batches(found)), schema=EVENTS)


def verdicts(report: Report) -> set[tuple[Any, ...]]:
    """What was found, without times and words."""
    return {
        (f.kind, f.topic, f.partition, f.offsets, f.cause, f.committed, f.confidence)
        for f in local.spread(report.findings)
        if f.kind in KINDS
    }


def lost_offsets(report: Report) -> set[tuple[str | None, int | None, int]]:
    """Topic, partition and offset of what is said to be lost up to a known end."""
    losses = [f for f in local.spread(report.findings) if f.kind == "data-loss"]
    return {(f.topic, f.partition, o) for f in losses for r in f.offsets if r.end is not None for o in range(r.start, r.end)}


KINDS = {
    "broker-crash",
    "controlled-shutdown",
    "data-loss",
    "log-divergence",
    "planned-reassignment",
    "preferred-election",
    "unclean-election",
    "zombie-leader",
}


def began(report: Report) -> dict[tuple[Any, ...], datetime]:
    return {
        (f.kind, f.topic, f.partition, f.brokers, f.offsets, f.leader_epoch): f.start
        for f in report.findings
        if f.kind in KINDS and f.start is not None
    }


@cache
def unmoved(name: str) -> Report:
    return local.report(moved(name, {}))


def check(name: str, reported: Report, true_ms: Mapping[int, float]) -> None:
    """Verdicts stay; clocks and the times of findings are right within what is said of them."""
    assert verdicts(reported) == verdicts(unmoved(name))
    doubts = [n.clock.uncertainty_ms for n in reported.cluster.nodes.values()]
    for node in reported.cluster.nodes.values():
        if node.clock.uncertainty_ms is not None:
            assert abs(node.clock.offset_ms - true_ms.get(node.id, 0)) <= node.clock.uncertainty_ms + NOISE_MS, node.id
    if None not in doubts:
        slack = timedelta(milliseconds=max(d for d in doubts if d is not None) + NOISE_MS)
        right = began(unmoved(name))
        late = {key: at for key, at in began(reported).items() if key in right and abs(at - right[key]) > slack}
        assert late == {}


@pytest.mark.parametrize(("name", "hours", "lost"), [(name, *((5.0, False), (13.0, True))[n % 2]) for n, name in enumerate(ZONED)])
def test_all_in_another_zone(name: str, hours: float, lost: bool) -> None:
    reported = local.report(moved(name, dict.fromkeys(ZONED[name], hours * HOUR), lost=lost))
    if lost and name == "opposite-tails-0.10.1.1-zk":
        # the records' own times prove its losses, and there is no comparing them with lines of a zone that nobody knows
        assert {v for v in verdicts(reported) if v[0] != "data-loss"} == {v for v in verdicts(unmoved(name)) if v[0] != "data-loss"}
        assert lost_offsets(reported) <= lost_offsets(unmoved(name))
    else:
        check(name, reported, dict.fromkeys(ZONED[name], hours * HOUR * 1000))
    if not lost or "-0.10." not in name:  # Kafka prints the time in UTC from 2.3 on
        assert {n.clock.zone_minutes for n in reported.cluster.nodes.values()} == {hours * 60}
    else:
        assert {n.clock.basis for n in reported.cluster.nodes.values()} <= UNSURE
        assert reported.document()["evidence"]["gaps"]


@pytest.mark.parametrize(("name", "lost"), [(name, n % 2 == 0) for n, name in enumerate(ZONED)])
def test_each_in_its_own_zone(name: str, lost: bool) -> None:
    hours = dict(zip(ZONED[name], (0.0, 5.5, -8.0, 13.0, -5.0), strict=False))
    reported = local.report(moved(name, {n: h * HOUR for n, h in hours.items()}, lost=lost))
    check(name, reported, {n: h * HOUR * 1000 for n, h in hours.items()})
    assert [f for f in reported.findings if f.kind == "clock-skew"] == []


WRONG = [("kept", 300.0), ("along", -300.0), ("lost", 300.0), ("lost", -300.0)]
"""How modification times were kept, and by how many seconds a clock is wrong."""


ONE_WRONG = [(name, wrong, *WRONG[(n + m) % 4]) for n, name in enumerate(ZONED) for m, wrong in enumerate(ZONED[name])]
"""Each clock of each bundle is wrong once; over the bundles, leaders', followers' and controllers' clocks are wrong in all four ways."""


@pytest.mark.parametrize(("name", "wrong", "mtimes", "seconds"), ONE_WRONG)
def test_one_clock_is_wrong(name: str, wrong: int, seconds: float, mtimes: str) -> None:
    reported = local.report(moved(name, {}, {wrong: seconds}, lost=mtimes == "lost", along=mtimes == "along"))
    check(name, reported, {wrong: seconds * 1000})
    said = {b for f in reported.findings if f.kind == "clock-skew" for b in f.brokers}
    assert not said or wrong in said or reported.cluster.nodes[wrong].clock.disputed or mtimes == "lost"
    if mtimes == "kept" or (len(reported.cluster.nodes[wrong].clock.compared) > 1 and mtimes == "along"):
        assert said == {wrong}


def test_error_is_told_with_how_it_was_seen() -> None:
    reported = local.report(moved("rolling-restart-2.8.2-zk", {}, {3: 300.0}, along=True))
    (finding,) = (f for f in reported.findings if f.kind == "clock-skew")
    assert (finding.brokers, finding.severity, finding.confidence) == ((3,), "medium", "certain")
    assert "ahead" in words(finding).summary and len(finding.evidence) == 2
    (broker,) = (b for b in reported.document()["cluster"]["brokers"] if b["id"] == 3)
    assert abs(broker["clock_offset_ms"] - 300_000) <= broker["clock_uncertainty_ms"]
    assert (broker["timezone"], broker["clock_basis"]) == ("UTC", "start+mtime+events")


@for_each(NAMES)
def test_clocks_of_recorded_clusters(name: str) -> None:
    truth = truth_of(name)
    zones, errors = truth["broker_timezone"], truth["broker_clock_offsets"]
    for node in recorded.report(name).cluster.nodes.values():
        zone = zones.get(str(node.id), "UTC") if isinstance(zones, dict) else zones
        offset = in_zone(zone, RECORDED) + 1000 * errors.get(str(node.id), 0)
        assert abs(node.clock.offset_ms - offset) <= NOISE_MS
        assert node.clock.basis not in UNSURE


# the zone's offset changes in the middle of a log


AUTUMN = datetime(2026, 10, 25, 1)
SPRING = datetime(2026, 3, 29, 1)


def log_of(change: datetime, before: int, after: int, path: str) -> tuple[dict[str, str], dict[str, datetime], list[datetime]]:
    """A log with a line each minute around a change of the offset (hours), its modification time, and the true times."""
    true = [change + timedelta(minutes=m, seconds=7) for m in range(-90, 90)]
    walls = [at + timedelta(hours=before if at < change else after) for at in true]
    where = "/var/lib/kafka/data"
    lines = (
        f"[{at:%Y-%m-%d %H:%M:%S},000] INFO [Log partition=t-0, dir={where}] Truncating to offset {n} (kafka.log.Log)\n"
        for n, at in enumerate(walls)
    )
    started = f"[{walls[0]:%Y-%m-%d %H:%M:%S},000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
    return {path: started + "".join(lines)}, {path: true[-1]}, true


@pytest.mark.parametrize(("change", "before", "after"), [(AUTUMN, 2, 1), (SPRING, 1, 2)], ids=["back", "forward"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"], ids=["estimated", "given"])
def test_offset_changes_in_the_middle_of_a_file(change: datetime, before: int, after: int, zone: str | None) -> None:
    files, modified, true = log_of(change, before, after, "broker-1/logs/server.log")
    events = table(files, modified)
    cluster, known = local.gathered(events, Options(zone_name=zone))
    read = [e for b in events.to_batches() for e in rows(known.apply(b)) if e.event == "truncation"]
    assert [e.at for e in read] == true
    (source,) = cluster.sources
    assert (source.first, source.last) == (true[0], true[-1])
    assert [(c.at, c.before_ms, c.after_ms) for c in cluster.nodes[1].clock.changes] == [(change, before * 3_600_000, after * 3_600_000)]


def test_offset_changes_in_logs_of_the_same_broker_that_do_not_show_it() -> None:
    files, modified, _ = log_of(AUTUMN, 2, 1, "broker-1/logs/server.log")
    other = "broker-1/logs/state-change.log"
    text = "INFO [Broker id=1] Leader t-0 starts at leader epoch {} from offset 0 with high watermark 0 ISR [1] addingReplicas [] removingReplicas []. Previous leader epoch was -1. (state.change.logger)"
    files[other] = f"[2026-10-25 01:00:00,000] {text.format(0)}\n[2026-10-25 09:00:00,000] {text.format(1)}\n"
    events = table(files, modified)
    _, known = local.gathered(events)
    read = [e.at for b in events.to_batches() for e in rows(known.apply(b)) if e.event == "leader-start"]
    assert read == [datetime(2026, 10, 24, 23), datetime(2026, 10, 25, 8)]


# what the user says


def test_zone_and_errors_that_are_given_overrule_the_estimate() -> None:
    events = moved("rolling-restart-2.8.2-zk", dict.fromkeys((1, 2, 3), 5.0 * HOUR), {3: 300.0}, lost=True)
    cluster, _ = local.gathered(events, Options(zone_offset_ms=18_000_000, clock_offsets_ms={3: 300_000}))
    assert {n: (c.clock.zone, c.clock.skew_ms) for n, c in cluster.nodes.items()} == {
        1: ("UTC+05:00", 0),
        2: ("UTC+05:00", 0),
        3: ("UTC+05:00", 300_000),
    }


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (None, (None, None)),
        ("utc", (0, None)),
        ("+05:30", (19_800_000, None)),
        ("-8", (-28_800_000, None)),
        ("+0200", (7_200_000, None)),
        ("Europe/Berlin", (None, "Europe/Berlin")),
    ],
)
def test_timezone_option(text: str | None, meant: tuple[int | None, str | None]) -> None:
    assert zone_option(text) == meant


@pytest.mark.parametrize("text", ["", "+", "+25:00", "+02:75", "Mars/Base", "../etc/passwd", "+1_0"])
def test_timezone_option_that_is_none(text: str) -> None:
    with pytest.raises(click.BadParameter):
        zone_option(text)


@pytest.mark.parametrize(("text", "meant"), [("2=-1.5", (2, -1_500)), ("100=+300", (100, 300_000))])
def test_clock_offset_option(text: str, meant: tuple[int, int]) -> None:
    assert clock_offset(text) == meant


@pytest.mark.parametrize("text", ["2", "=5", "2=", "2=nan", "2=inf", "x=1", "2=1e300"])
def test_clock_offset_option_that_is_none(text: str) -> None:
    with pytest.raises(click.BadParameter):
        clock_offset(text)


@pytest.mark.parametrize("year", ["0001", "9999"])
def test_times_at_the_calendars_ends_are_no_crash(year: str) -> None:
    line = "[{}-{} 00:00:00,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
    path = "broker-1/logs/server.log"
    files = {path: line.format(year, "01-01") + line.format("2026", "11-21") + line.format(year, "12-31")}
    for zone in (50_400_000, -43_200_000):
        cluster, _ = local.gathered(
            table(files, {path: datetime(2026, 11, 21)}), Options(zone_offset_ms=zone, clock_offsets_ms={1: 86_400_000})
        )
        assert datetime(2026, 11, 21) - timedelta(milliseconds=zone + 86_400_000) in [e.at for e in cluster.of("broker-started")]


@pytest.mark.parametrize(
    ("name", "given", "contradicted"),
    [
        ("clean-failover-2.8.2-zk", 7200_000, True),
        ("clean-failover-2.8.2-zk", 0, False),
        ("clean-failover-3.9.1-kraft", -18_000_000, True),
        ("clean-failover-3.9.1-kraft", 0, False),
    ],
)
def test_a_zone_that_the_user_gave_and_the_evidence_contradicts_is_noted(name: str, given: int, contradicted: bool) -> None:
    report = local.report(moved(name, {}), Options(zone_offset_ms=given))
    found = [line for line in notes(report.cluster) if line.startswith("--timezone")]
    assert bool(found) is contradicted
    assert all("show UTC. " in line and "Run the command again without --timezone." in line for line in found)


def test_a_clock_that_was_set_back_is_reported_with_its_lines() -> None:
    name = "clean-failover-3.9.1-kraft"
    (way,) = (way for way in ways(name) if way[1] == "clock of broker-2 -120 s from the middle on")
    found = [f for f in taken.report(way[2](bundle(name))).findings if f.kind == "clock-skew" and "was set back" in words(f).summary]
    assert [f.brokers for f in found] == [(2,)]
    assert all(e.source.startswith("broker-2/logs/") and e.line for e in found[0].evidence)
    set_back = float(words(found[0]).summary.split("about ")[1].split(" s")[0])
    assert 0 < set_back <= 120, "at most the step: time passed between the two lines"


def test_a_time_before_the_first_line_may_be_that_of_a_joined_part() -> None:
    name = "clean-failover-3.9.1-kraft"
    (way,) = (way for way in ways(name) if way[1] == "clock of broker-2 -120 s from the middle on")
    (found,) = (f for f in taken.report(way[2](bundle(name))).findings if f.kind == "clock-skew" and "was set back" in words(f).summary)
    assert found.confidence == "possible"
    assert "logs or parts that were joined in another order" in words(found).explanation


def test_a_process_that_begins_an_hour_earlier_is_in_another_zone() -> None:
    """It prints the UTC time of its start; its first lines are before that line."""
    name = "clean-failover-3.9.1-kraft"
    (way,) = (way for way in ways(name) if way[1] == "clock of broker-2 -3600 s from the middle on")
    report = taken.report(way[2](bundle(name)))
    (change,) = report.cluster.nodes[2].clock.changes
    assert (change.before_ms, change.after_ms, change.source, change.line) == (0, -3_600_000, "broker-2/logs/server.log", 469)
    assert not [f for f in report.findings if f.kind == "clock-skew" and "was set back" in words(f).summary]
