"""Whether a broker was there, as all rules read it: a death nobody was left to notice, and one cause for one absence."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.model.cluster.final_state import brokers, partitions, standing
from forensics.model.events import Event
from forensics.model.findings import Finding
from forensics.model.message import said
from forensics.model.partition.absences import GONE, RESTARTED, absences
from forensics.model.partition.windows import Window
from forensics.model.presence.availability import BrokerRun, by_time
from forensics.thresholds import CLOCK_TOLERANCE
from forensics.words import words
from tests.forensics.staged import START, Story, of, report, table, timeline
from tests.support.local import gathered

STARTED = "INFO [KafkaServer id={0}] started (kafka.server.KafkaServer)"
STARTING = "INFO starting (kafka.server.KafkaServer)"
STOPPING = "INFO [KafkaServer id=1] shutting down (kafka.server.KafkaServer)"
LIVE = "INFO [Controller id=1] Currently active brokers in the cluster: Set({0}) (kafka.controller.KafkaController)"
CHANGED = "INFO [Controller id=1] Newly added brokers: {0}, deleted brokers: {1}, bounced brokers: , all live brokers: 1 (kafka.controller.KafkaController)"
SHUTDOWN = "INFO [Controller id=1] Shutting down broker 3 (kafka.controller.KafkaController)"
CHECKPOINT = "broker-3/data/replication-offset-checkpoint"
MARKER = "broker-3/data/.kafka_cleanshutdown"


def last_of_all() -> Story:
    """Broker 3 leads alone, as its last line at 10 s says; broker 1 begins a minute later."""
    s = Story()
    s.put("broker-3/data/meta.properties", ["version=0", "broker.id=3"])
    s.line(3, "server", 0, STARTED.format(3))
    s.leads(3, 10, 2, 100, 100, [3])
    s.line(1, "server", -100, STARTED.format(1))
    s.line(1, "server", 60, STARTING)
    s.line(1, "server", 62, STARTED.format(1))
    return s


def crash_of_3(s: Story) -> Finding | None:
    modified = {MARKER: START + timedelta(seconds=11), CHECKPOINT: START + timedelta(seconds=9)}
    return next((f for f in of(report(s.files, modified), "broker-crash") if f.brokers == (3,)), None)


def test_a_stop_counts_as_clean_only_if_its_end_is_shown() -> None:
    stop = [(0, STARTED.format(1)), (10, STOPPING)]
    done, again = (12, "INFO [KafkaServer id=1] shut down completed (kafka.server.KafkaServer)"), (60, STARTING)
    for lines, how, clean, until in (
        ([*stop, done], "clean", True, None),
        (stop, "asked", False, None),
        ([*stop, again], "did-not-finish", False, 60),
        ([(0, STARTED.format(1)), again], "crashed", False, 60),
    ):
        s = Story()
        for seconds, text in lines:
            s.line(1, "server", seconds, text)
        cluster, _ = gathered(table(s.files))
        (outage,) = cluster.availability(1).outages
        assert (outage.ending.id, outage.clean) == (f"end/{how}", clean)
        assert outage.until == (None if until is None else START + timedelta(seconds=until))
        assert outage.covers(START + timedelta(seconds=11)) and outage.covers(START + timedelta(seconds=5)) == (how == "crashed")


ZOOKEEPER = "INFO Expiring session 0x100000000000000, timeout of 6000ms exceeded (org.apache.zookeeper.server.ZooKeeperServer)"
PROCESS = "INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)"


@pytest.mark.parametrize("rolled", [False, True])
def test_lines_of_zookeeper_do_not_show_that_the_broker_was_running(rolled: bool) -> None:
    before, after = Story(), Story()
    for s, text in ((0, STARTING), (2, STARTED.format(3)), (300, ZOOKEEPER), (301, ZOOKEEPER)):
        before.line(3, "server", s, text)
    for s, text in ((400, PROCESS), (401, STARTING), (402, STARTED.format(3))):
        (after if rolled else before).line(3, "server", s, text)
    files = {f"{path}.2026-11-21-01" if rolled else path: text for path, text in before.files.items()} | after.files
    (crash,) = of(report(files), "broker-crash")
    assert (crash.start, crash.start_latest) == (START + timedelta(seconds=2), START + timedelta(seconds=400))


def unfound(s: Story) -> None:
    s.line(1, "controller", 61, LIVE.format(1))


def leaderless(s: Story) -> None:
    s.offline(1, 61.5, 3, [3], 3, 3)


@pytest.mark.parametrize("checkpoints", [False, True])
def test_the_last_to_die_is_missed_by_the_first_that_comes_back(checkpoints: bool) -> None:
    s = last_of_all()
    unfound(s)
    if checkpoints:
        s.put(CHECKPOINT, ["0", "1", "t 0 100"])
    story = crash_of_3(s)
    assert story is not None and (story.start, story.end) == (START + timedelta(seconds=10), None)
    assert story.confidence == ("probable" if checkpoints else "possible")
    assert "did not find it among the live brokers" in words(story).explanation
    assert any("Currently active brokers" in e.text for e in story.evidence)
    (three,) = [b for b in brokers(gathered(table(s.files))[0], ()) if b.id == 3]
    assert three.state == "down"


def test_what_the_last_to_die_led_has_no_leader_any_more() -> None:
    s = last_of_all()
    leaderless(s)
    story = crash_of_3(s)
    assert story is not None and story.confidence == "possible"
    assert "t-0, whose last in-sync replica was on it, had no leader" in words(story).explanation
    found, cluster = timeline(s.files)
    (three,) = [b for b in brokers(cluster, partitions(standing(found, cluster))) if b.id == 3]
    assert three.state == "down"


@pytest.mark.parametrize(
    "why",
    ["nobody misses it", "it is counted", "it came back", "it was asked to stop", "it had stopped cleanly", "it goes on"],
)
def test_a_log_that_just_ends_is_no_death(why: str) -> None:
    """One that lives when its files are collected ends so, too."""
    s = last_of_all()
    if why == "it is counted":
        s.line(1, "controller", 61, LIVE.format("1, 3"))
    elif why != "nobody misses it":
        unfound(s)
        leaderless(s)
    if why == "it came back":
        s.line(1, "controller", 90, CHANGED.format(3, ""))
        s.online(1, 91, 4, 3, [3], 4)
    elif why == "it was asked to stop":
        s.line(1, "controller", 20, SHUTDOWN)
    elif why == "it had stopped cleanly":
        s.put(MARKER, [])
    elif why == "it goes on":
        s.line(3, "server", 70, "INFO [GroupCoordinator 3]: Starting up. (kafka.coordinator.group.GroupCoordinator)")
    reported = report(s.files, {MARKER: START + timedelta(seconds=11)})
    assert [f for f in of(reported, "broker-crash") if f.brokers == (3,)] == []
    stopped = [f for f in of(reported, "controlled-shutdown") if f.brokers == (3,)]
    assert len(stopped) == (why == "it had stopped cleanly")


def test_a_replica_whose_broker_was_missed_is_gone_in_all_that_is_said_of_it() -> None:
    s = Story()
    s.put("cluster/describe.txt", ["\tTopic: t\tPartition: 0\tLeader: 2\tReplicas: 2,3,1\tIsr: 2,1"])
    s.leads(2, 0, 0, 100, 100, [2, 3, 1])
    s.line(3, "server", 0, STARTED.format(3))
    s.line(1, "controller", 20, CHANGED.format("", 3))
    s.isr(2, 21, [2, 1], 1)
    found, cluster = timeline(s.files)
    (one,) = absences(found, cluster).all
    assert one.cause == GONE and cluster.availability(3).running is None
    reported = report(s.files)
    assert [f.cause for f in of(reported, "under-replicated")] == ["broker-crash"]
    assert [f.confidence for f in of(reported, "broker-crash")] == ["probable"]
    assert of(reported, "broker-fenced", "stuck-replica") == []


def test_a_stop_explains_what_comes_after_it_and_every_window_of_it_says_so() -> None:
    s = Story()
    s.put("broker-2/config/server.properties", ["broker.id=2", "min.insync.replicas=2"])
    s.put("cluster/describe.txt", ["\tTopic: t\tPartition: 0\tLeader: 2\tReplicas: 2,1\tIsr: 2,1"])
    s.leads(2, 0, 0, 100, 100, [2, 1])
    s.line(1, "server", -60, STARTED.format(1))
    s.isr(2, 28, [2], 1)
    s.isr(2, 29, [2, 1], 2)
    s.line(1, "server", 30, STOPPING)
    s.isr(2, 30.2, [2], 3)
    s.line(1, "server", 31, "INFO [KafkaServer id=1] shut down completed (kafka.server.KafkaServer)")
    s.line(1, "server", 40, STARTING)
    s.isr(2, 47, [2, 1], 4)
    found, cluster = timeline(s.files)
    before, stopped = absences(found, cluster).all
    assert (before.cause == RESTARTED, stopped.cause) == (False, RESTARTED)
    why = {i.start: said("absence/sentence", clauses=i.clauses) for i in (before, stopped)}
    for f in of(report(s.files), "under-min-isr", "under-replicated"):
        assert dict(f.values)["reasons"] == (why[f.start],)
    state = found.states[stopped.first]
    assert absences(found, cluster).within(Window(state.at, None, (state,))) == [stopped] == [absences(found, cluster).of(1, state)]


MOMENTS = st.none() | st.integers(0, 9)


@given(st.lists(st.tuples(MOMENTS, MOMENTS), max_size=6), st.integers(0, 9))
def test_a_life_stood_where_it_had_begun_and_not_ended(stated: list[tuple[int | None, int | None]], second: int) -> None:
    def event(at: int | None) -> Event | None:
        return Event(at=START + timedelta(seconds=at)) if at is not None else None

    runs = [BrokerRun(1, event(begin), event(end)) for begin, end in stated]
    at = START + timedelta(seconds=second)
    stood = [run for run, (b, e) in zip(runs, stated, strict=True) if (b is None or b <= second) and (e is None or second <= e)]
    assert {id(run) for run in by_time(runs).within(at, at)} == set(map(id, stood))


LOST = (
    "WARN [ReplicaFetcher replicaId={0}, leaderId=3, fetcherId=0] Error in response for fetch request (type=FetchRequest, replicaId={0}) "
    "(kafka.server.ReplicaFetcherThread)\njava.io.IOException: Connection to 3 was disconnected before the response was read"
)
NO_CONNECTION = (
    "WARN [ReplicaFetcher replicaId={0}, leaderId=3, fetcherId=0] Connection to node 3 (/10.0.0.3:9092) could not be established. "
    "Broker may not be available. (org.apache.kafka.clients.NetworkClient)"
)


@pytest.mark.parametrize(
    ("broken", "latest"),
    [
        ([(20, LOST), (21, NO_CONNECTION), (27, NO_CONNECTION)], 20),
        ([(20, NO_CONNECTION), (29, NO_CONNECTION)], 20),
        ([(11, LOST), (28, NO_CONNECTION)], 28),  # in between it may have been connected
        ([(5, NO_CONNECTION), (14, NO_CONNECTION), (25, NO_CONNECTION)], 30),  # never connected: shows nothing
        ([(12, LOST)], 30),  # one lost connection long before shows nothing
    ],
)
def test_a_crash_was_before_another_node_lost_its_connection_for_good(broken: list[tuple[float, str]], latest: float) -> None:
    s = Story()
    s.put("broker-3/data/meta.properties", ["version=0", "broker.id=3"])
    s.line(3, "server", 0, STARTED.format(3))
    s.leads(3, 10, 2, 100, 100, [3])
    s.line(1, "server", -100, STARTED.format(1))
    for at, line in broken:
        s.line(1, "server", at, line.format(1))
    s.line(1, "controller", 30, CHANGED.format("", "3"))
    s.line(3, "server", 60, STARTING)
    s.line(3, "server", 62, STARTED.format(3))
    found = crash_of_3(s)
    assert found is not None and found.start == START + timedelta(seconds=10)
    assert found.start_latest == START + timedelta(seconds=latest) + CLOCK_TOLERANCE
