"""What is said beside losses and elections, held against what was done to real clusters: the actions and final states of
fixtures/bundles.

Here: deaths, stops, fencings, restarts, replicas that fell behind, and advice that names nobody. Not here: elections and losses (test_bundles).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import pytest

from forensics.model.findings import Finding
from forensics.words import words
from tests.support import local, recorded
from tests.support.each import for_each
from tests.support.paths import BUNDLES, truth_of

NAMES = sorted(p.name.removesuffix(".tar.gz") for p in BUNDLES.glob("*-kraft*.tar.gz"))
CLOCKS = timedelta(seconds=1)
"""By how much an action's time and a corrected clock may differ."""
START = timedelta(seconds=10)
"""A JVM that starts on a busy machine prints its first line so late."""


def done(name: str, action: str) -> list[tuple[datetime, int]]:
    """When an action was done to which node."""
    found = []
    for a in truth_of(name)["actions"]:
        if a["action"].startswith(action):
            at = datetime.fromisoformat(a["at"]).astimezone(timezone.utc).replace(tzinfo=None)
            nodes = a.get("nodes", [a.get("node", a.get("broker"))])
            found += [(at, n) for n in nodes if n is not None]
    return found


def deaths(name: str) -> list[tuple[datetime, int]]:
    """Processes that were killed or ended by themselves when they were up."""
    starting = done(name, "ended while starting")
    return [*done(name, "kill -9"), *(end for end in done(name, "ended") if end not in starting)]


def hindered_in(name: str) -> set[int]:
    """Brokers that were frozen or throttled, and the other brokers if a leader could not answer them or be reached."""
    actions = truth_of(name)["actions"]
    found = {b for _, b in done(name, "freeze")} | {b for a in actions for b in a.get("followers", ())}
    mute = {a["node"] for a in actions if a["action"] == "oversized request" or a.get("key") == "advertised.listeners"}
    return found | ({b for _, b in done(name, "start")} - mute if mute else set())


def tells_actions(name: str) -> bool:
    """The first bundles' truth has no word on what was killed, stopped or frozen."""
    return any(a["action"].startswith(("kill", "stop", "freeze", "slow")) for a in truth_of(name)["actions"])


def said(name: str, *kinds: str) -> Iterator[Finding]:
    return (f for f in recorded.report(name).findings if f.kind in kinds)


def within(at: datetime, finding: Finding) -> bool:
    return (finding.start is None or finding.start - CLOCKS <= at) and (finding.end is None or at <= finding.end + CLOCKS)


TOLD = [n for n in NAMES if tells_actions(n)]


@for_each([n for n in NAMES if done(n, "kill")])
def test_a_broker_was_killed_after_its_last_line_and_before_it_was_missed(name: str) -> None:
    """The recorder notes the time of a kill to the millisecond, before or after the signal."""
    near = timedelta(milliseconds=5)
    for at, broker in done(name, "kill"):
        spans = [(f.start, f.start_latest) for f in said(name, "broker-crash", "controller-crash") if broker in f.brokers]
        assert any(start - near <= at <= latest + near for start, latest in spans if start is not None and latest is not None), (at, spans)


@for_each(TOLD)
def test_every_death_is_told_once_and_no_other(name: str) -> None:
    killed = deaths(name)
    crashes = list(said(name, "broker-crash", "controller-crash"))
    for at, broker in killed:
        assert len([f for f in crashes if f.brokers == (broker,) and within(at, f)]) == 1, f"broker {broker} was killed at {at}"
    assert len(crashes) == len(killed)
    for at, broker in done(name, "ended while starting"):
        assert any(f.brokers == (broker,) and within(at, f) for f in said(name, "start-failed")), f"broker {broker} did not start at {at}"


@for_each(TOLD)
def test_a_death_ends_with_the_process_that_was_started_next(name: str) -> None:
    for f in said(name, "broker-crash"):
        if f.end is not None:
            begun = [at for at, broker in done(name, "start") if broker in f.brokers and at <= f.end + CLOCKS]
            assert f.end - begun[-1] < START


@for_each(TOLD)
def test_every_orderly_stop_is_told_and_no_other(name: str) -> None:
    stopped = done(name, "stop")
    events = [(f.start, f.brokers[0]) for f in said(name, "controlled-shutdown")]
    assert sorted(b for _, b in events) == sorted(b for _, b in stopped)
    for at, broker in stopped:
        assert any(b == broker and begun is not None and abs(begun - at) < 3 * CLOCKS for begun, b in events)


@for_each(TOLD)
def test_only_a_frozen_broker_is_fenced_alive(name: str) -> None:
    for f in said(name, "broker-fenced"):
        assert f.start is not None
        assert any(broker in f.brokers and at <= f.start + CLOCKS for at, broker in done(name, "freeze")), words(f).summary


@for_each(TOLD)
def test_a_restarted_replica_was_restarted_within_it(name: str) -> None:
    for f in said(name, "restarted-replica"):
        if f.cluster:
            continue  # back in another cluster
        begun = [at for at, broker in done(name, "start") if broker in f.brokers and (f.end is None or at <= f.end)]
        assert len(begun) > 1, "the first start is no restart"


@for_each(TOLD)
def test_nobody_is_slow_or_stuck_who_was_left_alone(name: str) -> None:
    hindered = hindered_in(name)
    for f in said(name, "stuck-replica", "slow-replica", "isr-flapping"):
        assert set(f.brokers) <= hindered, words(f).summary
    for f in said(name, "culprit-broker"):
        assert f.cause == "offline" or set(f.brokers) <= hindered, words(f).summary


@for_each(TOLD)
def test_a_broker_that_is_offline_was_killed_before(name: str) -> None:
    for f in said(name, "culprit-broker"):
        if f.cause == "offline":
            assert f.start is not None
            assert any(broker in f.brokers and at <= f.start + CLOCKS for at, broker in deaths(name)), words(f).summary


@for_each(NAMES)
def test_a_crash_touches_no_partition_that_its_broker_had_left_before(name: str) -> None:
    """Of two deaths only the one in which the replica fell out of the ISR is reported to have done it."""
    rows = {f"{p['topic']}-{p['partition']}": p for p in recorded.report(name).partitions}
    for f in said(name, "broker-crash"):
        named = words(f).explanation.partition("It dropped out of the ISR of ")[2].partition(". ")[0].removesuffix(".").split(" and ")[0]
        for place in named.split(", ") if named else ():
            left = [a["start"] for a in rows[place]["absences"] if a["broker"] in f.brokers]
            assert any(at is not None and (f.start is None or at >= f.start - 2 * CLOCKS) for at in left)


@for_each(NAMES)
def test_a_reassignment_is_over_when_the_last_replica_is_in_its_place(name: str) -> None:
    asked = [a for a in truth_of(name)["actions"] if a["action"].startswith("reassign")]
    assert not asked or list(said(name, "planned-reassignment"))
    for f in said(name, "planned-reassignment"):
        joined = [n.end for n in said(name, "new-replica") if n.topic == f.topic and n.end is not None]
        assert f.end is not None and joined
        assert timedelta(0) <= f.end - max(joined) < timedelta(milliseconds=100)


@for_each(NAMES)
def test_nothing_named_is_nobody(name: str) -> None:
    for f in recorded.report(name).findings:
        for text in (words(f).summary, words(f).explanation, *words(f).next_steps):
            assert "no broker" not in text.replace("no broker led", ""), text
            assert "of []" not in text


@for_each(NAMES)
def test_what_is_over_asks_for_no_repair(name: str) -> None:
    for f in said(name, "under-min-isr", "at-min-isr", "offline-partition", "under-replicated"):
        if f.end is not None:
            assert not [s for s in words(f).next_steps if s.startswith(("Bring", "Find out why", "Repair"))]


def test_a_broker_of_both_roles_dies_before_its_controller_starts_again() -> None:
    """A process of both roles starts its controller first: what that prints is no sign that the old process lived on."""
    name = next(n for n in NAMES if n.endswith("-kraft-combined"))
    assert not list(said(name, "broker-fenced"))
    crashes = list(said(name, "broker-crash"))
    assert crashes
    for f in crashes:
        killed = [at for at, broker in done(name, "kill -9") if broker in f.brokers]
        assert any(f.start is not None and f.start <= at for at in killed), "it is not seen alive after it was killed"


def test_a_leader_elected_from_outside_the_isr_did_not_catch_up() -> None:
    found = [f for n in NAMES for f in said(n, "restarted-replica") if "elected leader" in words(f).summary]
    elected = {(f.topic, f.brokers[0]) for n in NAMES for f in said(n, "unclean-election")}
    assert {(f.topic, f.brokers[0]) for f in found} & elected


@for_each([n for n in NAMES if n.startswith(("eligible-", "last-replica-standing-unprovable-4"))])
def test_an_empty_isr_names_who_may_lead(name: str) -> None:
    found = [f for f in said(name, "offline-partition") if "its ISR was empty" in words(f).explanation]
    assert all("With an empty ISR" in words(f).explanation for f in found)
    assert found or "unprovable" in name


def test_a_broker_that_restarts_before_its_session_is_over_has_died_not_lagged() -> None:
    """Its registration is refused until the old session ends, and the controller cleans up only then: seconds after the new start."""
    name = "last-replica-standing-unprovable-4.1.1-kraft"
    assert {f.cause for f in said(name, "culprit-broker", "cluster-wide-degradation") if 3 in f.brokers} == {"offline"}


def test_a_replica_that_came_back_before_it_died_did_not_leave_for_its_death() -> None:
    rows = {f"{p['topic']}-{p['partition']}": p for p in recorded.report("last-replica-standing-3.7.2-kraft").partitions}
    first, second = (a for a in rows["trades-0"]["absences"] if a["broker"] == 2)
    assert (first["cause"], second["cause"]) == ("not-in-log", "crashed")


NOT_MONOTONIC = (
    "[2026-11-21 10:55:15,313] WARN [RaftManager id=100] Detected non-monotonic update of fetch offset from nodeId 2: 35 -> 0"
    " (org.apache.kafka.raft.LeaderState)\n"
)


@pytest.mark.parametrize(("roles", "severity"), [("broker", "low"), ("broker,controller", "medium"), ("controller", "medium")])
def test_a_broker_without_a_vote_loses_no_metadata(roles: str, severity: str) -> None:
    files = {
        "controller-100/logs/server.log": NOT_MONOTONIC,
        "broker-2/config/server.properties": f"node.id=2\nprocess.roles={roles}\n",
        "controller-100/config/server.properties": "node.id=100\nprocess.roles=controller\n",
    }
    (found,) = (f for f in local.report(local.events_of_files(files)).findings if f.kind == "raft-truncation")
    assert (found.severity, found.brokers) == (severity, (2,))
    assert ("no metadata is lost" in words(found).explanation) == (severity == "low")


def test_a_failed_directory_is_what_keeps_its_replicas_out() -> None:
    for f in said("log-dir-failure-3.9.1-kraft", "under-replicated"):
        assert f.cause == "log-dir-failure"
        assert [s.partition(",")[0] for s in words(f).next_steps] == [
            "Repair the failed log directory of broker 2 and restart the broker: its replicas return only then."
        ]


def test_consumers_have_read_nothing_that_was_never_committed() -> None:
    losses = [f for n in NAMES for f in said(n, "data-loss") if f.confidence == "certain"]
    assert {f.committed for f in losses} >= {True, False}
    for f in losses:
        assert any(s.startswith("Consumers") for s in words(f).next_steps) == (f.committed is not False)
