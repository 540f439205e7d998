"""What a report says beside elections and losses, held against what was done to the recorded ZooKeeper clusters (fixtures/bundles).

Here: crashes, shutdowns, absences with their causes, windows, clocks, reassignments, and the lines that once misled each of them.
Not here: unclean elections and losses (test_bundles), clusters with KRaft (test_truth_of_kraft).
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding
from forensics.model.partition.absences import intervals
from forensics.model.partition.timeline import PartitionTimeline
from forensics.thresholds import MAX_SEPARATE_EVENTS
from forensics.words import of_incident, title_of, words
from tests.support import local, recorded
from tests.support.each import for_each
from tests.support.paths import BUNDLES, truth_of

NEAR = timedelta(seconds=5)
ENDED_AT_ONCE = timedelta(seconds=10)
"""A start is an action before the process prints its first line; a machine that records is busy."""
AT_ONCE = timedelta(milliseconds=500)
"""A broker that is stopped just when another gives up on it."""


ALL = sorted(p.name.removesuffix(".tar.gz") for p in BUNDLES.glob("*-zk*.tar.gz"))
RECORDED = [n for n in ALL if any(a["action"] == "produced" for a in truth_of(n)["actions"])]
"""Bundles whose truth tells all that was done to the brokers; the oldest ones tell only starts."""


def of(name: str, *kinds: str) -> list[Finding]:
    return [f for f in local.spread(recorded.report(name).findings) if f.kind in kinds]


def when(action: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(action["at"]).replace(tzinfo=None)


def done(name: str, what: str) -> list[tuple[datetime, int]]:
    """Times and brokers of the actions whose names begin so."""
    stated = truth_of(name)["actions"]
    found = [a for a in stated if a["action"].startswith(what) and ("nodes" in a or whose(a) is not None)]
    ended_otherwise = {a["node"] for a in stated if a["action"] == "kill -9: it does not stop"} if what == "stop" else set()
    return [(when(a), b) for a in found for b in a.get("nodes") or [whose(a)] if not (b in ended_otherwise and killed_after(a, stated))]


def whose(action: dict[str, Any]) -> int | None:
    """The node an action was done to; None where it was ZooKeeper or the whole."""
    return action.get("node", action.get("broker"))


def killed_after(stop: dict[str, Any], actions: list[dict[str, Any]]) -> bool:
    """The stop went on for ever, and was no stop in the end."""
    later = [a for a in actions[actions.index(stop) + 1 :] if whose(a) == whose(stop)]
    return bool(later) and later[0]["action"] == "kill -9: it does not stop"


def fates(name: str) -> dict[int, list[tuple[datetime, str]]]:
    """What each broker was, since when."""
    found: dict[int, list[tuple[datetime, str]]] = defaultdict(list)
    for what, fate in (("start", "up"), ("thaw", "up"), ("kill -9", "dead"), ("stop", "stopped"), ("freeze", "frozen")):
        for at, broker in done(name, what):
            found[broker].append((at, fate))
    return {b: sorted(own) for b, own in found.items()}


def fate(name: str, broker: int, at: datetime) -> str:
    return next((f for since, f in reversed(fates(name).get(broker, [])) if since <= at), "none")


def test_there_are_bundles_with_a_whole_truth() -> None:
    assert len(RECORDED) >= 10


@for_each([n for n in ALL if done(n, "kill")])
def test_a_broker_was_killed_after_its_last_line_and_before_it_was_missed(name: str) -> None:
    """The recorder notes the time of a kill to the millisecond, before or after the signal."""
    near = timedelta(milliseconds=5)
    for at, broker in done(name, "kill"):
        spans = [(f.start, f.start_latest) for f in of(name, "broker-crash", "controller-crash") if broker in f.brokers]
        assert any(start - near <= at <= latest + near for start, latest in spans if start is not None and latest is not None), (at, spans)


@for_each(RECORDED)
def test_every_crash_is_a_kill_and_every_kill_a_crash(name: str) -> None:
    left = [*done(name, "kill -9"), *done(name, "ended by itself")]
    in_vain = done(name, "ended while starting")
    starts = [(at, b) for at, b in done(name, "start") if not any(b == c and at < end < at + ENDED_AT_ONCE for end, c in in_vain)]
    for crash in of(name, "broker-crash"):
        (broker,) = crash.brokers
        own = [k for k in left if k[1] == broker and (crash.start or k[0]) <= k[0] + NEAR and (crash.end is None or k[0] <= crash.end)]
        assert own, words(crash).summary
        left.remove(own[0])
        if crash.cluster:
            continue  # back in another cluster
        back = min((at for at, b in starts if b == broker and at > own[0][0]), default=None)
        assert (crash.end is None) == (back is None), words(crash).summary
        assert crash.end is None or back is None or timedelta(0) <= crash.end - back <= NEAR, words(crash).summary
    assert left == [], "a kill that no finding tells"


@for_each(RECORDED)
def test_every_shutdown_in_order_is_a_stop(name: str) -> None:
    found = of(name, "controlled-shutdown")
    claimed = sorted((f.start, f.brokers[0]) for f in found if f.start is not None)
    really = sorted(done(name, "stop"))
    if len(really) > MAX_SEPARATE_EVENTS and len(found) == 1:
        if len(found[0].brokers) > 1:
            assert list(found[0].brokers) == list(dict.fromkeys(b for _, b in really))
            return
        assert words(found[0]).summary.startswith(f"{len(really)} times: broker {really[0][1]} was shut down cleanly")
        return
    assert len(claimed) == len(really)
    assert all(b == c and timedelta(0) <= at - then <= NEAR for (at, b), (then, c) in zip(claimed, really, strict=True))


_BECAUSE = {
    "crashed": {"dead", "frozen"},  # nobody can tell a process that was killed from one that stood still and was killed then
    "gone": {"dead", "frozen"},
    "restarted": {"stopped"},
    "stopped": {"stopped"},
    "stuck": {"frozen", "up"},
    "slow": {"up"},
    "log-dir": {"up"},
    "reassigned": {"up"},
}


@for_each(RECORDED)
def test_what_is_said_of_an_absent_replica_is_what_its_broker_was(name: str) -> None:
    deleted = {a["topic"] for a in truth_of(name)["actions"] if a["action"] == "delete-topic"}
    for timeline, cluster in local.timelines(recorded.events(name)):
        if timeline.topic in deleted:
            continue
        for i in intervals(timeline, cluster):
            if i.start is not None and i.cause in _BECAUSE:
                seen = {fate(name, i.broker, at) for at in (i.start, i.start + AT_ONCE)}
                if any(b.node == i.broker and b.at <= i.start for later in cluster.later for b in later.begun):
                    seen = {
                        next(f for since, f in reversed(fates(name)[i.broker]) if since <= i.start and f != "up")
                    }  # up in the next cluster
                assert seen & _BECAUSE[i.cause], f"{timeline.name}: {i.words} at {i.start}, when it was {seen}"


@for_each(RECORDED)
def test_a_replica_that_came_back_says_how_it_had_gone(name: str) -> None:
    for f in of(name, "restarted-replica"):
        if f.cluster:
            continue  # back in another cluster
        if f.cause is None:
            continue  # several restarts as one
        gone = [(at, end) for at, end in fates(name)[f.brokers[0]] if end in ("dead", "stopped") and (f.end is None or at < f.end)]
        assert gone[-1][1] == {"broker-crash": "dead", "controlled-shutdown": "stopped"}[f.cause], words(f).summary
        assert "-" not in words(f).summary.rpartition("in sync after")[2], "nobody is in sync before the start"


@for_each(RECORDED)
def test_what_was_acknowledged_could_be_written(name: str) -> None:
    """While a whole batch of records was acknowledged a partition cannot have been closed for them all that time."""
    for f in of(name, "offline-partition", "under-min-isr"):
        for a in truth_of(name)["actions"]:
            if a["action"] == "produced" and a["topic"] == f.topic and a["acked"] == a["sent"] and f.start is not None and not f.cluster:
                closed = f.kind == "offline-partition" or a["acks"] in ("all", "-1")
                begun = f.start < when(a) - timedelta(milliseconds=500)
                assert not (closed and begun and (f.end is None or f.end > when(a))), f"{words(f).summary}, but {a}"


@for_each(RECORDED)
def test_a_clock_is_wrong_only_where_it_was_set_wrong(name: str) -> None:
    assert {b for f in of(name, "clock-skew") for b in f.brokers} == {int(b) for b in truth_of(name)["broker_clock_offsets"]}


@for_each(ALL)
def test_nothing_ends_before_it_begins(name: str) -> None:
    assert [words(f).summary for f in recorded.report(name).findings if f.start is not None and f.end is not None and f.end < f.start] == []


@for_each([n for n in RECORDED if done(n, "freeze")])
def test_who_lost_a_session_alive_was_frozen(name: str) -> None:
    frozen = {b for _, b in done(name, "freeze")}
    assert {b for f in of(name, "broker-fenced") for b in f.brokers} <= frozen


@for_each([n for n in ALL if n.startswith(("zombie-leader", "isr-flapping-2"))])
def test_a_session_that_expired_is_told_with_the_return(name: str) -> None:
    for f in of(name, "broker-fenced"):
        assert "lost its ZooKeeper session while it was running" in words(f).summary
        assert f.end is not None and "was registered again at" in words(f).explanation


def test_a_reassignment_is_no_preferred_election_and_names_what_it_aims_at() -> None:
    name = "reassignment-2.8.2-zk"
    created = next(a for a in truth_of(name)["actions"] if a["action"] == "create-topic")
    found = of(name, "planned-reassignment")
    for partition, before in enumerate(created["assignment"]):
        after = truth_of(name)["final_state"][f"profile-{partition}"]["replicas"]
        assert [f.brokers for f in found if f.partition == partition] == [tuple(dict.fromkeys(b for b in after if b not in before))]
    assert of(name, "preferred-election") == []


# lines that once misled


def one(files: dict[str, str]) -> tuple[PartitionTimeline, Cluster]:
    ((timeline, cluster),) = local.timelines(local.events_of_files(files))
    return timeline, cluster


STATE_CHANGE = "(state.change.logger)\n"


def test_a_controller_that_repeats_an_isr_from_its_cache_changes_nothing() -> None:
    """0.8.2: it never learns what the leader made of the ISR, and sends what it decided to a broker that comes back."""
    sent = "TRACE Controller 2 epoch 2 sending become-follower LeaderAndIsr request (Leader:3,ISR:3,LeaderEpoch:3,ControllerEpoch:2) with"
    timeline, _ = one(
        {
            "broker-2/logs/state-change.log": (
                f"[2026-11-21 06:24:46,161] {sent} correlationId 1 to broker 2 for partition [orders,0] {STATE_CHANGE}"
                f"[2026-11-21 06:24:47,512] {sent} correlationId 5 to broker 1 for partition [orders,0] {STATE_CHANGE}"
            ),
            "broker-3/logs/server.log": (
                "[2026-11-21 06:24:46,257] INFO Partition [orders,0] on broker 3: Expanding ISR for partition [orders,0] from 3 to 3,2"
                " (kafka.cluster.Partition)\n"
                "[2026-11-21 06:24:47,684] INFO Partition [orders,0] on broker 3: Expanding ISR for partition [orders,0] from 3,2 to 3,2,1"
                " (kafka.cluster.Partition)\n"
            ),
        }
    )
    assert [s.isr for s in timeline.states] == [(3,), (3, 2), (3, 2, 1)]


def test_a_shrink_is_as_old_as_its_leader_says_not_as_the_controller_that_reads_it_later() -> None:
    sent = "sending become-follower LeaderAndIsr request"
    timeline, _ = one(
        {
            "broker-1/logs/state-change.log": (
                f"[2026-11-21 05:58:33,693] TRACE Controller 1 epoch 1 {sent} (Leader:3,ISR:3,2,1,LeaderEpoch:0,ControllerEpoch:1) to broker"
                f" 2 for partition [orders,0] {STATE_CHANGE}"
                f"[2026-11-21 05:58:54,081] TRACE Controller 1 epoch 3 {sent} (Leader:3,ISR:3,LeaderEpoch:0,ControllerEpoch:1) to broker 2"
                f" for partition [orders,0] {STATE_CHANGE}"
            ),
            "broker-3/logs/server.log": (
                "[2026-11-21 05:58:45,215] INFO Partition [orders,0] on broker 3: Shrinking ISR for partition [orders,0] from 3,2,1 to 3"
                " (kafka.cluster.Partition)\n"
            ),
        }
    )
    first, shrunk = timeline.states
    assert (shrunk.isr, shrunk.at) == ((3,), datetime(2026, 11, 21, 5, 58, 45, 215000))
    assert shrunk.event.event == "isr-shrink"
    assert shrunk.at is not None and first.at is not None and first.at < shrunk.at


ELECTED = (
    "[2026-11-21 11:0{}] INFO [Controller id={}] {} successfully elected as the controller. Epoch incremented to {} and epoch zk version is"
    " now {} (kafka.controller.KafkaController)\n"
)


def test_a_new_controller_that_repeats_a_leader_epoch_did_not_make_it() -> None:
    """2.6 on: of a replica that was in no ISR the controller says that it was removed, with the state as it stands."""
    cut = "after removing replica 2 from the ISR as part of transition to OfflineReplica"
    files = {
        "broker-1/logs/state-change.log": (
            "[2026-11-21 11:01:03,870] INFO [Controller id=1 epoch=3] Partition orders-0 state changed to"
            f" (Leader:3,ISR:3,LeaderEpoch:2,ZkVersion:2,ControllerEpoch:3) {cut} {STATE_CHANGE}"
            "[2026-11-21 11:01:03,984] INFO [Controller id=1 epoch=3] Partition orders-0 state changed to"
            f" (Leader:-1,ISR:3,LeaderEpoch:3,ZkVersion:3,ControllerEpoch:3) {cut} {STATE_CHANGE}"
        ),
        "broker-3/logs/state-change.log": (
            "[2026-11-21 11:00:53,760] INFO [Controller id=3 epoch=2] Partition orders-0 state changed to"
            f" (Leader:3,ISR:3,LeaderEpoch:2,ZkVersion:2,ControllerEpoch:2) {cut} {STATE_CHANGE}"
            "[2026-11-21 11:00:53,784] INFO [Broker id=3] Leader orders-0 starts at leader epoch 2 from offset 200 with high watermark 200 ISR"
            f" [3] addingReplicas [] removingReplicas []. Previous leader epoch was 0. {STATE_CHANGE}"
        ),
    }
    cluster, _ = local.gathered(local.events_of_files(files))
    assert {n: (c.skew_ms, c.compared) for n, c in ((n, node.clock) for n, node in cluster.nodes.items())} == {1: (0, ()), 3: (0, ())}


def test_a_controller_epoch_nobody_tells_of_had_a_controller() -> None:
    files = {
        "broker-1/logs/controller.log": ELECTED.format("0:36,000", 1, 1, 1, 1),
        "broker-3/logs/controller.log": ELECTED.format("0:56,000", 3, 3, 3, 3),
    }
    (found,) = [f for f in local.report(local.events_of_files(files)).findings if f.kind == "controller-change"]
    assert words(found).summary == "node 3 became controller in epoch 3; the controller of epoch 2 is unknown"
    assert found.brokers == (3,)


def test_controllers_one_after_the_other_follow_each_other() -> None:
    files = {
        "broker-1/logs/controller.log": ELECTED.format("0:36,000", 1, 1, 1, 1),
        "broker-3/logs/controller.log": ELECTED.format("0:56,000", 3, 3, 2, 2),
    }
    (found,) = [f for f in local.report(local.events_of_files(files)).findings if f.kind == "controller-change"]
    assert words(found).summary == "node 3 became controller in epoch 2, after node 1"


def test_title_and_summary_of_an_incident_name_the_same_mechanism() -> None:
    (incident,) = recorded.report("hw-truncation-0.10.2.2-zk").incidents
    assert title_of(incident) == "Truncation to the high watermark"
    assert of_incident(incident).summary.startswith("A replica that had truncated to its high watermark became leader of 1 partition after")
