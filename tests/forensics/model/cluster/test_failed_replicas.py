"""Failed replicas and under-replication in evidence of real clusters, held against what was done to their brokers."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Mapping
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from forensics.model.findings import LEVELS, Finding
from forensics.model.partition.absences import CRASHED, LOG_DIR, NEW, NOT_STATED, REASSIGNED, RESTARTED, SLOW, STUCK
from forensics.views.document import Report
from forensics.words import words
from tests.support import local, recorded
from tests.support.paths import BUNDLES

MARGIN = timedelta(seconds=1)


def done(name: str, action: str) -> list[tuple[datetime, int]]:
    """When something was done to a broker, by the truth recorded beside the bundle."""
    actions = json.loads((BUNDLES / f"{name}.expected.json").read_text())["actions"]
    return [
        (datetime.fromisoformat(a["at"]).replace(tzinfo=None), a.get("node", a.get("broker")))
        for a in actions
        if a["action"].startswith(action)
    ]


def of(report: Report, kind: str) -> list[Finding]:
    return [f for f in report.findings if f.kind == kind]


def absences(report: Report) -> list[Mapping[str, Any]]:
    return [a for p in report.partitions for a in p["absences"] if not p["topic"].startswith("__")]


FLAPPING = {"isr-flapping-1.0.2-zk": 1, "isr-flapping-2.4.1-zk": 3, "isr-flapping-2.8.2-zk": 1, "isr-flapping-3.9.1-kraft": 1}


@pytest.mark.parametrize("name", FLAPPING)
def test_a_broker_that_is_frozen_again_and_again_is_the_culprit(name: str) -> None:
    broker = FLAPPING[name]
    report = recorded.report(name)
    (culprit,) = of(report, "culprit-broker")
    assert (culprit.brokers, culprit.cause, culprit.severity, culprit.confidence) == ((broker,), "replica", "high", "certain")
    assert "went up and down: this is a performance problem, not an offline broker" in words(culprit).explanation
    assert of(report, "cluster-wide-degradation") == of(report, "slow-replica") == of(report, "restarted-replica") == []
    assert {a["broker"] for a in absences(report)} == {broker}


@pytest.mark.parametrize("name", [n for n in FLAPPING if "1.0.2" not in n])
def test_frozen_is_told_from_slow(name: str) -> None:
    report = recorded.report(name)
    assert {a["cause"] for a in absences(report)} == {STUCK}
    (stuck,) = of(report, "stuck-replica")
    assert (stuck.brokers, stuck.severity, stuck.confidence) == ((FLAPPING[name],), "medium", "certain")
    assert len(stuck.evidence) > 2


def test_a_follower_behind_a_slow_network_is_slow() -> None:
    """Kafka 3.9 prints when a replica was caught up last; segments show that it holds what was written after that."""
    report = recorded.report("slow-replica-3.9.1-kraft")
    (slow,) = of(report, "slow-replica")
    # the leaders' shrink lines
    first = datetime.fromisoformat("2026-11-21T10:30:39.212")
    assert (slow.brokers, slow.cause, slow.severity) == ((3,), SLOW, "medium")
    assert slow.start is not None and abs(slow.start - first) < MARGIN
    assert {(a["broker"], a["cause"]) for a in absences(report)} == {(3, SLOW)}
    (culprit,) = of(report, "culprit-broker")
    assert (culprit.brokers, culprit.cause, culprit.confidence) == ((3,), "replica", "certain")
    assert of(report, "stuck-replica") == of(report, "cluster-wide-degradation") == of(report, "data-loss") == []


def test_where_no_line_tells_when_it_was_caught_up_slow_is_not_taken_for_frozen() -> None:
    report = recorded.report("slow-replica-2.8.2-zk")
    assert {(a["broker"], a["cause"]) for a in absences(report)} == {(3, NOT_STATED)}
    assert of(report, "stuck-replica") == []
    (culprit,) = of(report, "culprit-broker")
    assert (culprit.brokers, culprit.cause) == ((3,), "replica")


def test_a_network_slow_for_all_is_nobodys_own() -> None:
    report = recorded.report("slow-network-2.8.2-zk")
    (wide,) = of(report, "cluster-wide-degradation")
    first = datetime.fromisoformat("2026-11-21T10:35:10.584")
    assert wide.brokers == (1, 2, 3) and "led by brokers 1, 2 and 3" in words(wide).explanation
    assert wide.start is not None and abs(wide.start - first) < MARGIN
    assert "All replicas whose cause is known continued fetching" in words(wide).explanation
    assert {f.brokers for f in of(report, "slow-replica")} == {(1,), (2,), (3,)}
    assert of(report, "culprit-broker") == of(report, "stuck-replica") == of(report, "data-loss") == []


def test_a_throttle_left_behind_is_named() -> None:
    """It keeps out a replica that was restarted, and one that had fetched no record yet when the throttle came."""
    report = recorded.report("throttled-replica-2.8.2-zk")
    (slow,) = of(report, "slow-replica")
    first = datetime.fromisoformat("2026-11-21T10:54:03.974")
    assert (slow.brokers, slow.topic, slow.partition, slow.confidence) == ((3,), "telemetry", 1, "probable")
    assert slow.start is not None and abs(slow.start - first) < MARGIN
    assert "follower.replication.throttled.rate=4000 applies until" in words(slow).explanation
    (restarted,) = of(report, "restarted-replica")
    assert "follower.replication.throttled.rate=4000 of broker 3 slows its copying" in words(restarted).explanation
    assert any("throttled.rate -> 4000" in e.text for e in restarted.evidence)
    assert of(report, "stuck-replica") == of(report, "culprit-broker") == []


def test_lines_without_offsets_do_not_tell_frozen_from_slow() -> None:
    """Kafka 1.0 says only that it shrinks the ISR; that the broker was frozen at these times is known from elsewhere."""
    name = "isr-flapping-1.0.2-zk"
    report = recorded.report(name)
    assert {a["cause"] for a in absences(report)} == {NOT_STATED}
    frozen = done(name, "freeze")
    assert all(any(timedelta(0) <= a["start"] - at <= timedelta(seconds=7) for at, _ in frozen) for a in absences(report))
    assert of(report, "stuck-replica") == []
    short = of(report, "under-replicated")
    assert {f.cause for f in short} == {"not-in-sync"}
    assert all("the evidence does not show whether it was stuck or too slow" in words(f).explanation for f in short)
    assert all(any("GC log of broker 1" in step for step in words(f).next_steps) for f in short)


@pytest.mark.parametrize("name", ["zombie-leader-1.0.2-zk", "zombie-leader-4.1.1-kraft"])
def test_a_leader_that_was_frozen_is_stuck_when_others_lead(name: str) -> None:
    ((begin, broker),) = done(name, "freeze")
    ((end, _),) = done(name, "thaw")
    report = recorded.report(name)
    (stuck,) = of(report, "stuck-replica")
    assert stuck.brokers == (broker,) and stuck.start is not None and stuck.end is not None
    assert begin < stuck.start < end + MARGIN and stuck.end > end


@pytest.mark.parametrize("name", ["min-isr-2.8.2-zk", "min-isr-3.9.1-kraft"])
def test_brokers_that_were_killed_were_gone_until_they_had_caught_up(name: str) -> None:
    killed = {broker: at for at, broker in done(name, "kill")}
    started = {broker: at for at, broker in done(name, "start")}
    report = recorded.report(name)
    gone = {a["broker"]: a for a in absences(report)}
    assert {a["cause"] for a in gone.values()} == {CRASHED} and set(gone) == set(killed)
    for broker, a in gone.items():
        assert killed[broker] < a["start"] < started[broker] < a["back"] + MARGIN < a["end"] + MARGIN
    assert {f.brokers[0]: f.cause for f in of(report, "restarted-replica")} == dict.fromkeys(killed, "broker-crash")
    for f in of(report, "culprit-broker"):
        assert (f.cause, f.severity) == ("offline", "medium")
        assert "the only partition that it shared" in words(f).explanation and "The counts add up" in words(f).explanation
    assert {f.brokers[0] for f in of(report, "culprit-broker")} == set(killed)
    assert of(report, "stuck-replica") == of(report, "slow-replica") == of(report, "cluster-wide-degradation") == []


@pytest.mark.parametrize("name", ["clean-failover-0.10.2.2-zk", "clean-failover-2.8.2-zk", "clean-failover-3.9.1-kraft"])
def test_the_counts_add_up_to_the_partitions_of_the_broker_that_is_offline(name: str) -> None:
    report = recorded.report(name)
    crashed = {f.brokers[0] for f in of(report, "broker-crash")}
    offline = of(report, "culprit-broker")
    assert {f.brokers[0] for f in offline} == crashed and {f.cause for f in offline} == {"offline"}
    assert all("all 3 partitions that it shares" in words(f).summary and "The counts add up" in words(f).explanation for f in offline[:1])
    assert report.document()["cluster"]["under_replication"]["cluster"]["peak"] == 3


ROLLING = ["rolling-restart-2.8.2-zk", "rolling-restart-3.9.1-kraft", "rolling-restart-4.1.1-kraft"]


@pytest.mark.parametrize("name", ROLLING)
def test_a_rolling_restart_is_maintenance(name: str) -> None:
    report = recorded.report(name)
    assert {a["cause"] for a in absences(report)} == {RESTARTED}
    back = of(report, "restarted-replica")
    assert sorted(f.brokers[0] for f in back) == [1, 2, 3] and {(f.severity, f.cause) for f in back} == {("info", "controlled-shutdown")}
    assert {f.severity for f in of(report, "under-replicated")} == {"low"}
    for kind in ("culprit-broker", "cluster-wide-degradation", "stuck-replica", "slow-replica", "isr-flapping"):
        assert of(report, kind) == []


@pytest.mark.parametrize("name", ROLLING)
@pytest.mark.parametrize("missing", ["broker-2/logs/", "broker-1/logs/server.log", "controller-100/", "broker-3/logs/state-change.log"])
def test_a_rolling_restart_of_which_logs_are_missing_raises_no_alarm(name: str, missing: str, tmp_path: Path) -> None:
    target = tmp_path / "part.tar"
    with tarfile.open(BUNDLES / f"{name}.tar.gz") as whole, tarfile.open(target, "w") as part:
        for member in whole:
            content = whole.extractfile(member)
            if content is not None and missing not in member.name:
                part.addfile(member, BytesIO(content.read()))
    report = local.report(local.events_of(target))
    assert [words(f).summary for f in report.findings if LEVELS.index(f.severity) > LEVELS.index("medium")] == []


@pytest.mark.parametrize(
    "name", ["grow-replicas-2.8.2-zk", "grow-replicas-3.9.1-kraft", "reassignment-2.8.2-zk", "reassignment-3.9.1-kraft"]
)
def test_replicas_on_their_way_in_or_out_are_no_failure(name: str) -> None:
    report = recorded.report(name)
    assert {a["cause"] for a in absences(report)} <= {NEW, REASSIGNED} and absences(report)
    count = report.document()["cluster"]["under_replication"]["cluster"]
    assert count["peak"] == 0 and max(s["reassigning"] for s in count["steps"]) == 2
    assert of(report, "under-replicated") == of(report, "culprit-broker") == []
    how = "raised the replication factor from 2 to 3" if name.startswith("grow") else "by a reassignment,"
    assert all(how in words(f).explanation for f in of(report, "new-replica"))


@pytest.mark.parametrize("name", ["log-dir-failure-2.8.2-zk", "log-dir-failure-3.9.1-kraft", "log-dir-failure-4.1.1-kraft"])
def test_replicas_whose_directory_failed(name: str) -> None:
    report = recorded.report(name)
    out = [a for a in absences(report) if a["cause"] == LOG_DIR]
    assert {(a["broker"], a["end"]) for a in out} == {(2, None)} and len(out) >= 2
    assert of(report, "stuck-replica") == of(report, "slow-replica") == of(report, "cluster-wide-degradation") == []


@pytest.mark.parametrize("name", ["isr-flapping-3.9.1-kraft", "clean-failover-2.8.2-zk"])
def test_the_series_says_what_each_partitions_states_say(name: str) -> None:
    """Counted anew at each step, from the states themselves."""
    events = recorded.events(name)
    lines = [tl for tl, _ in local.timelines(events) if tl.topic != "__cluster_metadata"]
    reported = recorded.report(name).document()["cluster"]["under_replication"]
    for step in reported["cluster"]["steps"]:
        at = datetime.fromisoformat(step["at"].removesuffix("Z")) + timedelta(microseconds=999)
        now = [[s for s in tl.states if s.at is not None and s.at <= at][-1:] for tl in lines]
        assert step["under_replicated"] == sum(bool(s and not set(s[0].replicas or ()) <= set(s[0].isr)) for s in now)
    assert sum(1 for s in reported["leaders"] if s["peak"]) > 1
