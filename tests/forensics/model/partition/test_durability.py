"""Settings in force with their defaults and places, exposure of partitions, and the findings about both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.incidents.findings import Findings
from forensics.incidents.judging import judge_partition
from forensics.model.clock.sources import Source
from forensics.model.cluster.facts import Cluster, Node
from forensics.model.events import Event
from forensics.model.findings import FOLDED, LEVELS, Finding
from forensics.model.message import Message
from forensics.model.partition.durability import Exposure, at_min_isr, below_min_isr, document, exposure, required, settled, topics
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.partition.windows import together
from forensics.model.record import reader
from forensics.model.settings.effective import MIN_ISR, NEVER, UNCLEAN, default, effective, number, strict
from forensics.model.settings.settings import BROKER, CLUSTER, DEFAULT, STATIC, TOPIC, Settings
from forensics.rules import rule_of
from forensics.words import summary, text, words
from tests.forensics.staged import Story, of, report
from tests.forensics.staged import at as clock
from tests.support.local import found_by

NOON = datetime(2026, 11, 21, 12)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def config(key: str | None, value: str | None, line: int = 1, **fields: Any) -> Event:
    return Event(
        **{"event": "config", "key": key, "value": value, "source": "server.log", "line": line, "text": f"{key}={value}", **fields}
    )


def cluster(*events: Event, version: str | None = None, brokers: Sequence[int] = (1, 2, 3)) -> Cluster:
    read = [*events, *(Event(event="kafka-version", value=version, writer=b, source="v.log", line=9, text="v") for b in brokers if version)]
    nodes = {b: Node(b, version=version) for b in brokers}
    return Cluster(nodes=nodes, events=read, settings=Settings(e for e in read if e.event == "config"))


# defaults


@pytest.mark.parametrize(
    ("key", "version", "value"),
    [
        (UNCLEAN, (0, 10, 2, 2), "true"),
        (UNCLEAN, (0, 11), "false"),
        (UNCLEAN, (4, 3), "false"),
        (UNCLEAN, None, None),
        (MIN_ISR, None, "1"),
        ("replica.lag.time.max.ms", (2, 4, 1), "10000"),
        ("replica.lag.time.max.ms", (2, 5), "30000"),
        ("auto.leader.rebalance.enable", (0, 8, 1), "false"),
        ("auto.leader.rebalance.enable", (0, 8, 2), "true"),
        ("transaction.state.log.min.isr", (0, 10, 2), None),
        ("log.flush.interval.messages", (3, 0), NEVER),
        ("no.such.setting", (3, 0), None),
    ],
)
def test_defaults(key: str, version: tuple[int, ...] | None, value: str | None) -> None:
    assert default(key, version) == value


# values in force


def test_nobody_set_it() -> None:
    configured = effective(cluster(version="0.10.2.2"), UNCLEAN, topic="t")
    assert (configured.value, configured.source, configured.place) == ("true", DEFAULT, "Kafka's default, version in v.log:9")
    assert effective(cluster(), UNCLEAN, topic="t").value is None, "no version, no default"
    assert effective(cluster(), MIN_ISR).place == "Kafka's default"


def test_brokers_of_several_versions_have_no_one_default() -> None:
    mixed = cluster(version="0.10.2.2")
    mixed.nodes[3].version = "0.11.0.3"
    assert effective(mixed, UNCLEAN, topic="t").value is None
    assert effective(mixed, UNCLEAN, broker=3).value == "false"


def test_the_topic_before_the_broker_and_where_it_stands() -> None:
    known = cluster(
        config(MIN_ISR, "2", 7, topic="t", at=at(10)),
        config(MIN_ISR, "3", 8, topic="t", at=at(20)),
        config(MIN_ISR, "1", 3, writer=1, reason=STATIC),
    )
    configured = effective(known, MIN_ISR, topic="t", at=at(15))
    assert (configured.value, configured.source, configured.at, configured.place) == ("2", TOPIC, at(10), "server.log:7")
    assert effective(known, MIN_ISR, topic="t").value == "3"
    other = effective(known, MIN_ISR, topic="u")
    assert (other.value, other.source, other.place) == ("1", STATIC, "server.log:3")


def test_dynamic_settings_of_brokers_and_of_all() -> None:
    known = cluster(
        config("unclean.leader.election.enable", "true", broker=1, at=at(0), reason=BROKER),
        config("unclean.leader.election.enable", "false", at=at(0), reason=CLUSTER),
        config("min.insync.replicas", "2", writer=2, reason=STATIC),
    )
    assert effective(known, UNCLEAN, broker=1).source == BROKER
    assert effective(known, UNCLEAN, broker=2).source == CLUSTER


def test_flushing_goes_by_the_brokers_name() -> None:
    known = cluster(config("log.flush.interval.messages", "10000", writer=1, reason=STATIC), version="2.8.2")
    assert effective(known, "flush.messages", topic="t").value == "10000"
    assert effective(known, "flush.ms", topic="t").value == NEVER


def asked(known: Cluster, topic: str = "t", leader: int = 1, replicas: tuple[int, ...] = (1, 2, 3)) -> int | None:
    return required(state(0, leader, (leader,), replicas), PartitionTimeline(topic, 0, 0), known)


def test_the_leader_has_its_own_min_isr() -> None:
    known = cluster(config(MIN_ISR, "1", writer=1, reason=STATIC), config(MIN_ISR, "2", writer=2, reason=STATIC))
    assert [asked(known, leader=b) for b in (1, 2, 3)] == [1, 2, None], "of the third nobody tells, and the others differ"
    assert effective(known, MIN_ISR, topic="t").value is None
    assert asked(cluster(config(MIN_ISR, "many", topic="t"))) is None


def test_transactions_have_a_min_isr_of_their_own() -> None:
    known = cluster(config(MIN_ISR, "1", writer=1, reason=STATIC), version="2.8.2")
    assert [asked(known, topic) for topic in ("__transaction_state", "__consumer_offsets")] == [2, 1]
    cluster_known = cluster(
        config("transaction.state.log.min.isr", "1", writer=1, reason=STATIC), config(MIN_ISR, "3", topic="__transaction_state")
    )
    assert asked(cluster_known, "__transaction_state") == 3


@pytest.mark.parametrize(("version", "one", "waits"), [("3.6.2", 2, False), ("7.6.0-ccs", 2, False), ("3.7.0", 1, True), (None, 1, None)])
def test_from_3_7_on_no_more_than_all_replicas_are_asked_for(version: str | None, one: int, waits: bool | None) -> None:
    """KAFKA-15583; of a version nobody knows, what both have in common."""
    known = cluster(config(MIN_ISR, "2", topic="t"), version=version)
    assert (asked(known, replicas=(1,)), asked(known), strict(known, 1)) == (one, 2, waits)


def test_what_a_broker_ran_then_is_its_version() -> None:
    upgrade = [Event(event="kafka-version", value=v, writer=1, at=at(s), source="v.log", line=s) for s, v in ((10, "2.4.1"), (50, "2.5.0"))]
    known = cluster(*upgrade, config("broker.id", "1", writer=1, reason=STATIC))
    known.nodes[1].version = "2.5.0"
    configured = [effective(known, "replica.lag.time.max.ms", broker=1, at=when) for when in (at(0), at(20), at(60), None)]
    assert [(t.value, t.event and t.event.line) for t in configured] == [("10000", 10), ("10000", 10), ("30000", 50), ("30000", 50)]


def test_what_evidence_that_is_missing_may_tell_otherwise_is_assumed() -> None:
    """Of a later time, of a topic whose own settings nobody tells, of a broker whose start nobody saw, of another broker."""
    own = cluster(config(MIN_ISR, "2", topic="t", at=at(10)), config(MIN_ISR, "1", writer=1, reason=STATIC))
    assert [effective(own, MIN_ISR, topic="t", broker=1, at=at(s)).assumed for s in (0, 20)] == [True, False]
    assert effective(own, MIN_ISR, topic="u", broker=1).assumed
    assert not effective(own, MIN_ISR, broker=1).assumed
    assert effective(own, MIN_ISR, broker=2).assumed and effective(cluster(version="3.9.1"), MIN_ISR, broker=1).assumed


@settings(max_examples=200)
@given(st.none() | st.text(max_size=30), st.none() | st.text(max_size=30))
def test_any_value_and_version(value: str | None, version: str | None) -> None:
    known = cluster(config(MIN_ISR, value, topic="t"), version=version)
    assert number(value, 7) == 7 or effective(known, MIN_ISR, topic="t").value == value
    assert asked(known) in (None, number(value, 0), 3, 1)


# exposure


def state(seconds: float, leader: int, isr: tuple[int, ...], replicas: tuple[int, ...] | None = (1, 2, 3)) -> State:
    event = Event(event="partition-state", source="log", line=1, at=at(seconds), text="state")
    return State(
        leader_epoch=0, partition_epoch=None, leader=leader, isr=isr, replicas=replicas, at=at(seconds), source="decided", event=event
    )


def watched(*states: State, until: float, min_isr: str = "2") -> Exposure:
    last = Source("1/logs/server.log", "server-log", 1, "1", None, None, None, 1, None, (), None, at(until), None)
    known = cluster(config(MIN_ISR, min_isr, topic="t"))
    known.sources = [last]
    return exposure(PartitionTimeline("t", 0, 0, states=list(states)), known)


def test_every_state_counts_for_as_long_as_it_stood() -> None:
    found = watched(
        state(0, 1, (1, 2, 3)), state(60, 1, (1, 2)), state(90, 1, (1,)), state(100, -1, (1,)), state(130, 1, (1, 2, 3)), until=200
    )
    assert found == Exposure(
        200_000, offline_ms=30_000, below_ms=10_000, at_ms=30_000, alone_ms=10_000, not_covered_ms=0, alone_from=at(90)
    )


def test_one_replica_is_always_one_failure_from_loss() -> None:
    found = watched(state(0, 1, (1,), (1,)), until=60)
    assert (found.watched_ms, found.alone_ms, found.below_ms, found.at_ms) == (60_000, 60_000, 0, 0)


def test_a_leader_whose_log_is_missing_may_have_told_otherwise() -> None:
    assert watched(state(0, 2, (2, 3)), until=60).not_covered_ms == 60_000


def test_clocks_that_jump_do_not_give_negative_time() -> None:
    found = watched(state(50, 1, (1,)), state(20, 1, (1, 2)), until=60)
    assert found.watched_ms == 40_000
    assert watched(state(50, 1, (1,)), until=10).watched_ms == 0


def test_below_and_at() -> None:
    assert below_min_isr(state(0, 1, (1,)), 2) and not below_min_isr(state(0, 1, (1, 2)), 2)
    assert not below_min_isr(state(0, 1, (1,)), None), "how many are asked for is not told"
    assert not below_min_isr(state(0, -1, ()), 2), "nobody leads: offline, not under min ISR"
    assert at_min_isr(state(0, 1, (1, 2)), 2) and not at_min_isr(state(0, 1, (1, 2), (1, 2)), 2)
    assert not at_min_isr(state(0, 1, (1, 2), None), 2), "how many there are is not told"


# findings


def row(topic: str, partition: int = 0, factor: int | None = 3, **spent: Any) -> dict[str, Any]:
    stated = {"source": "describe.txt", "line": partition + 1, "byte": 0, "text": f"Topic: {topic}"}
    return {"topic": topic, "partition": partition, "factor": factor, "statement": stated, "exposure": {"alone_from": None, **spent}}


def lost(topic: str, cause: str, partition: int = 0, **fields: Any) -> Finding:
    from forensics.model.findings import Evidence, Range

    statement: dict[str, Any] = {
        "severity": "critical",
        "confidence": "certain",
        "evidence": (Evidence("s", 1, 0, "t"),),
        "start": at(0),
        "end": at(100),
        "offsets": (Range(200, 298),),
        "committed": True,
        "loss": True,
    }
    return Finding(kind="data-loss", topic=topic, partition=partition, cause=cause, **{**statement, **fields})


def risks(known: Cluster, rows: Sequence[dict[str, Any]], *findings: Finding) -> dict[str | None, Finding]:
    by_kind = Findings()
    by_kind.add(findings)
    found = list(rule_of("risky-setting").after_rules(known, rows, by_kind))  # type: ignore[misc]
    assert len({f.cause for f in found}) == len(found), "one finding for each setting and value"
    assert all(f.evidence and words(f).next_steps and f.severity in LEVELS for f in found)
    return {f.cause: f for f in found}


def test_an_unclean_election_that_the_setting_allowed() -> None:
    known = cluster(config(UNCLEAN, "true", 5, topic="orders", at=at(-60)), config(UNCLEAN, "false", writer=1, reason=STATIC))
    found = risks(known, [row("orders"), row("calm")], lost("orders", "unclean-election"), lost("calm", "unclean-election"))
    claimed = found[f"{UNCLEAN}=true"]
    assert (claimed.severity, claimed.topic) == ("high", "orders")
    assert "orders-0 lost 98 offsets at 2026-11-21 12:01:40.000 UTC" in words(claimed).summary
    assert "server.log:5" in words(claimed).summary and "calm" not in words(claimed).summary
    assert claimed.evidence[0].line == 5


def test_one_by_hand_is_not_the_settings_doing() -> None:
    known = cluster(config(UNCLEAN, "false", writer=1, reason=STATIC))
    assert f"{UNCLEAN}=true" not in risks(known, [row("orders")], lost("orders", "unclean-election"))


def test_unclean_elections_that_only_threaten() -> None:
    found = risks(cluster(config(UNCLEAN, "true", 4, writer=2, reason=STATIC)), [row("orders")])[f"{UNCLEAN}=true"]
    assert (found.severity, found.brokers) == ("medium", (2,))
    assert "The evidence shows no consequence in this incident" in words(found).explanation


def test_a_setting_that_was_taken_back_counts_while_it_held() -> None:
    known = cluster(
        config(UNCLEAN, "true", 5, topic="orders", at=at(50)),
        config(UNCLEAN, "false", 6, topic="orders", at=at(300)),
        config(UNCLEAN, "false", 1, writer=1, reason=STATIC),
    )
    events = risks(known, [row("orders")], lost("orders", "unclean-election"))[f"{UNCLEAN}=true"]
    assert events.severity == "high" and "server.log:5" in words(events).summary
    later = risks(known, [row("orders")], lost("orders", "unclean-election", end=at(400)))[f"{UNCLEAN}=true"]
    assert later.severity == "medium", "it was off again when that happened"


def test_the_default_before_0_11() -> None:
    events = risks(cluster(version="0.10.2.2"), [row("orders")], lost("orders", "unclean-election"))[f"{UNCLEAN}=true"]
    assert events.severity == "high" and "Kafka's default" in words(events).summary
    assert f"{UNCLEAN}=true" not in risks(cluster(version="0.11.0.3"), [row("orders")])
    assert f"{UNCLEAN}=true" not in risks(cluster(), [row("orders")]), "of which version it is, nothing tells"


def test_dedicated_controllers_decide() -> None:
    known = cluster(config(UNCLEAN, "true", writer=1, reason=STATIC), config(UNCLEAN, "false", writer=100, reason=STATIC))
    known.nodes[100] = Node(100, broker=False)
    assert f"{UNCLEAN}=true" not in risks(known, [row("orders")])


def test_topics_with_one_replica_are_one_finding() -> None:
    found = risks(cluster(), [row("a", factor=1), row("a", 1, factor=3), row("b", factor=1), row("c")])["replication.factor=1"]
    assert found.severity == "medium" and "2 topics: a, b" in words(found).summary and found.topic is None
    assert len(found.evidence) == 2
    assert "replication.factor=1" not in risks(cluster(), [row("c"), row("d", factor=None)])


def test_a_cluster_of_one_broker_can_have_no_more() -> None:
    assert risks(cluster(brokers=(1,)), [row("a", factor=1)])["replication.factor=1"].severity == "low"


def test_min_isr_of_one() -> None:
    known = cluster(config(MIN_ISR, "1", 3, writer=1, reason=STATIC), config(MIN_ISR, "2", topic="safe"))
    found = risks(known, [row("t"), row("safe"), row("two", factor=2)])[f"{MIN_ISR}=1"]
    assert (found.severity, found.topic) == ("low", "t")
    assert "acks" in words(found).explanation


def test_min_isr_of_one_that_lost_records() -> None:
    known = cluster(config(MIN_ISR, "1", 3, writer=1, reason=STATIC))
    rows = [row("t", alone_from=at(50)), row("u"), row("v", alone_from=at(500))]
    found = risks(known, rows, lost("t", "unflushed-log"), lost("u", "unflushed-log"), lost("v", "unflushed-log"))[f"{MIN_ISR}=1"]
    assert found.severity == "medium"
    assert "t-0 lost 98 offsets while down to one in-sync replica" in words(found).summary
    assert "u-0" not in words(found).summary and "v-0" not in words(found).summary, "more replicas than one were in sync until then"
    tail = risks(known, rows, lost("t", "uncommitted-tail", committed=False))[f"{MIN_ISR}=1"]
    assert tail.severity == "low", "what acks=1 lost no min.insync.replicas keeps"


def test_only_internal_topics() -> None:
    known = cluster(config(MIN_ISR, "1", 3, writer=1, reason=STATIC))
    assert risks(known, [row("__consumer_offsets")])[f"{MIN_ISR}=1"].severity == "info"


def test_as_many_as_there_are() -> None:
    known = cluster(config(MIN_ISR, "2", 3, topic="t"))
    found = risks(known, [row("t", factor=2)])[f"{MIN_ISR}=2"]
    assert found.severity == "low" and "exactly as many replicas" in words(found).summary


def test_more_than_there_are() -> None:
    known = [cluster(config(MIN_ISR, "3", 3, topic="t"), version=v) for v in ("3.6.2", "3.7.0")]
    old, new = (risks(k, [row("t", factor=2)])[f"{MIN_ISR}=3"] for k in known)
    assert (old.severity, new.severity) == ("medium", "low"), "from 3.7 on no more than all replicas are asked for (KAFKA-15583)"
    assert "every acks=all write is refused" in words(old).explanation


def test_internal_topics_to_come() -> None:
    known = cluster(config("offsets.topic.replication.factor", "1", 3, writer=1, reason=STATIC))
    key = "offsets.topic.replication.factor=1"
    assert risks(known, [row("t")])[key].severity == "low"
    assert key not in risks(known, [row("__consumer_offsets")])


def test_flushing_is_told_where_it_cost_something() -> None:
    known = cluster(version="2.8.2")
    found = risks(known, [row("t", alone_from=at(0))], lost("t", "unflushed-log"))["flush.messages=never"]
    assert found.severity == "low" and "98 offsets that were not flushed" in words(found).summary
    assert "flush.messages=never" not in risks(known, [row("t")], lost("t", "unclean-election"))
    set_ = cluster(config("flush.messages", "1", topic="t"), version="2.8.2")
    assert "flush.messages=never" not in risks(set_, [row("t")], lost("t", "unflushed-log"))


def test_what_is_only_possible_is_no_cost() -> None:
    known = cluster(config(UNCLEAN, "true", writer=1, reason=STATIC))
    assert risks(known, [row("t")], lost("t", "unclean-election", confidence="possible"))[f"{UNCLEAN}=true"].severity == "medium"


@pytest.mark.parametrize(
    ("version", "brokers", "key", "value", "found"),
    [
        ("0.10.2.2", None, UNCLEAN, "true", []),
        ("2.8.2", None, UNCLEAN, "true", [("false", "certain")]),
        (None, None, UNCLEAN, "true", [("the default", "probable")]),
        ("2.8.2", "true", UNCLEAN, "true", []),
        ("2.8.2", "3", MIN_ISR, "2", [("3", "certain")]),
        ("2.8.2", None, MIN_ISR, "2", []),
    ],
)
def test_less_safe_than_what_held_before(version: str, brokers: str | None, key: str, value: str, found: list[tuple[str, str]]) -> None:
    """What held while the topic had no value of its own is the brokers', else the default of their version."""
    configured = [config(key, brokers, writer=1, reason=STATIC)] if brokers is not None else []
    known = cluster(
        *configured,
        config(None, "", topic="t", at=at(0), reason=TOPIC),
        config(key, value, 2, topic="t", at=at(9), reason=TOPIC),
        version=version,
    )
    drifts = found_by("config-drift", PartitionTimeline("t", 0, 0), known)
    assert [(words(f).summary.split(" from ")[1].split(" to ")[0], f.confidence) for f in drifts] == found


# windows


def story(*later: tuple[float, Sequence[int], int], min_isr: int = 2) -> dict[str, str]:
    history = Story()
    history.line(
        1,
        "server",
        0,
        f"INFO Creating topic t with configuration {{min.insync.replicas={min_isr}}} and initial partition assignment "
        "HashMap(0 -> ArrayBuffer(1, 2, 3)) (kafka.zk.AdminZkClient)",
    )
    history.leads(1, 1, 0, 0, 0, [1, 2, 3])
    for seconds, isr, version in later:
        history.isr(1, seconds, isr, version)
    described = "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\n"
    return {**history.files, "cluster/topics-describe-end.txt": described}


def test_at_and_under_min_isr_follow_each_other() -> None:
    reported = report(story((10, [1, 2], 1), (20, [1], 2), (30, [1, 2], 3), (40, [1, 2, 3], 4)))
    assert [(f.start and f.start.second, f.end and f.end.second) for f in of(reported, "at-min-isr")] == [(10, 20), (30, 40)]
    (under,) = of(reported, "under-min-isr")
    assert (under.start and under.start.second, under.end and under.end.second) == (20, 30)
    assert under.severity == "high" and "logs/server.log:1" in words(under).explanation


def override(seconds: float, value: int) -> str:
    """The line of a broker whose topic was given another min.insync.replicas by command."""
    return (
        f"[{clock(seconds)}] INFO Processing override for entityPath: topics/t with config: HashMap(min.insync.replicas -> {value}) "
        "(kafka.server.DynamicConfigManager)\n"
    )


def set_later(*settings: tuple[float, int]) -> dict[str, str]:
    """ISR [1, 2] of three from second 10 to 50, with min.insync.replicas set to other values on the way."""
    files = story((10, [1, 2], 1), (50, [1, 2, 3], 2))
    own = "broker-1/logs/server.log"
    lines = [*files[own].splitlines(keepends=True), *(override(s, value) for s, value in settings)]
    creation, *others = lines
    return {**files, own: creation + "".join(sorted(others))}


def test_a_setting_that_nobody_tells_of_the_leader_is_no_certain_window() -> None:
    """Its own file names it, of the topic's overrides nothing is known: were there one, it would count."""
    history = {**Story().files, "broker-1/config/server.properties": "broker.id=1\nmin.insync.replicas=2\n"}
    lines = Story()
    lines.leads(1, 1, 0, 0, 0, [1, 2, 3])
    lines.isr(1, 10, [1], 1)
    lines.isr(1, 20, [1, 2, 3], 2)
    (under,) = of(report({**history, **lines.files}), "under-min-isr")
    assert under.confidence == "probable"
    (seen,) = of(report(story((10, [1], 1), (20, [1, 2, 3], 2))), "under-min-isr")
    assert seen.confidence == "certain"


def test_a_setting_that_is_raised_begins_a_window_and_lowered_ends_it() -> None:
    (under,) = of(report(set_later((20, 3), (30, 2))), "under-min-isr")
    assert (under.start and under.start.second, under.end and under.end.second) == (20, 30)
    assert "min.insync.replicas=3" in words(under).summary
    assert "when the setting was raised" in words(under).explanation and "server.log:" in words(under).explanation
    assert any("min.insync.replicas" in e.text for e in under.evidence)
    at_min = [(f.start and f.start.second, f.end and f.end.second) for f in of(report(set_later((20, 3), (30, 2))), "at-min-isr")]
    assert at_min == [(10, 20), (30, 50)]


def test_a_setting_that_is_raised_lasts_until_the_isr_is_large_enough() -> None:
    (under,) = of(report(set_later((20, 3))), "under-min-isr")
    assert (under.start and under.start.second, under.end and under.end.second) == (20, 50)


def test_a_setting_within_a_window_prolongs_it() -> None:
    files = story((10, [1], 1), (50, [1, 2, 3], 2))
    creation, *others = files["broker-1/logs/server.log"].splitlines(keepends=True)
    files["broker-1/logs/server.log"] = creation + "".join(sorted([*others, override(20, 3)]))
    (under,) = of(report(files), "under-min-isr")
    assert (under.start and under.start.second, under.end and under.end.second) == (10, 50)
    assert "below min.insync.replicas=3" in words(under).summary


def test_a_setting_that_changes_counts_from_then_on() -> None:
    known = cluster(config(MIN_ISR, "2", topic="t", at=at(0)), config(MIN_ISR, "3", line=2, topic="t", at=at(40)))
    known.sources = [Source("1/logs/server.log", "server-log", 1, "1", None, None, None, None, None, (), None, at(100), None)]
    found = exposure(PartitionTimeline("t", 0, 0, states=[state(10, 1, (1, 2))]), known)
    assert (found.watched_ms, found.at_ms, found.below_ms) == (90_000, 30_000, 60_000)


def test_a_setting_of_another_topic_or_broker_changes_nothing() -> None:
    timeline = PartitionTimeline("t", 0, 0, states=[state(10, 1, (1, 2))])
    for other in (config(MIN_ISR, "3", topic="u", at=at(40)), config(MIN_ISR, "3", broker=2, reason=STATIC, at=at(40))):
        assert settled(timeline, cluster(config(MIN_ISR, "2", topic="t", at=at(0)), other)) == timeline.states


SET = st.tuples(
    st.integers(-5, 40),
    st.sampled_from(["1", "2", "3", "many"]),
    st.sampled_from(
        [{"topic": "t"}, {"topic": "u"}, {"reason": CLUSTER}, {"broker": 1, "reason": BROKER}, {"writer": 2, "reason": STATIC}]
    ),
)


@given(st.lists(SET, max_size=8), st.lists(st.tuples(st.integers(0, 30), st.integers(1, 2), st.integers(1, 3)), min_size=1, max_size=4))
def test_exposure_is_what_holds_in_each_second(stated: list[tuple[int, str, dict[str, Any]]], stood: list[tuple[int, int, int]]) -> None:
    """However often a setting is reported again, and whoever tells it."""
    known = cluster(
        *(config(MIN_ISR, value, line, at=at(s), **whose) for line, (s, value, whose) in enumerate(sorted(stated, key=lambda c: c[0])))
    )
    known.sources = [Source("1/logs/server.log", "server-log", 1, "1", None, None, None, None, None, (), None, at(40), None)]
    states = [state(s, leader, tuple(range(1, 1 + size))) for s, leader, size in sorted({s: (s, *rest) for s, *rest in stood}.values())]
    timeline = PartitionTimeline("t", 0, 0, states=states)
    seconds = [
        (now, required(now, timeline, known))
        for one, end in zip(states, [*(s.at for s in states[1:]), at(40)], strict=True)
        for now in (replace(one, at=at(s)) for s in range(40) if one.at is not None and end is not None and one.at <= at(s) < end)
    ]
    found = exposure(timeline, known)
    assert found.below_ms == 1000 * sum(below_min_isr(now, asked) for now, asked in seconds)
    assert found.at_ms == 1000 * sum(at_min_isr(now, asked) for now, asked in seconds)


def test_at_a_min_isr_of_one_the_leader_stands_alone() -> None:
    (found,) = of(report(story((10, [1], 1), min_isr=1)), "at-min-isr")
    assert found.severity == "low" and found.end is None and "Only the leader had the records" in words(found).explanation


def test_many_windows_are_told_by_topic_and_broker() -> None:
    changes = [(10 + n, [1, 2] if n % 2 else [1, 2, 3], n + 1) for n in range(200)]
    found = of(report(story(*changes)), "at-min-isr")
    assert len(found) == 1 and "times" in summary(found[0])


def test_what_is_open_in_a_cluster_that_is_over_lasted_until_it_ended() -> None:
    """Told of one partition or of many."""
    timeline = PartitionTimeline("t", 0, 0, states=[state(10, 1, (1,))])
    for run, said in ((0, "until the evidence ends"), (-1, "until the cluster ended")):
        known = cluster(config(MIN_ISR, "2", topic="t"))
        known.number = run
        rows = (row["finding"] for row in judge_partition(timeline, known))
        open_ = [reader(Finding)({**f, **dict.fromkeys(FOLDED)}) for f in rows if f is not None and f["kind"] == "under-min-isr"]
        assert [said in summary(f) for f in open_] == [True]
        up_to = together(open_)["up_to"]
        assert isinstance(up_to, Message) and text(up_to) == said


# the document


def test_topics_add_up() -> None:
    rows = [row("t", 0, 3, watched_ms=60_000, at_ms=30_000), row("t", 1, 2, watched_ms=60_000, alone_ms=6_000), row("u", 0, None)]
    found = topics(rows)
    assert (found["t"].partitions, found["t"].factor, found["t"].largest) == (2, 2, 3)
    assert found["u"].factor is None
    shown = document(cluster(), rows)["exposure"]
    assert shown["cluster"]["watched_partition_minutes"] == 2
    assert [(t["topic"], t["at_partition_minutes"], t["alone_partition_minutes"]) for t in shown["topics"]] == [("t", 0.5, 0.1)]


def test_values_and_changes() -> None:
    known = cluster(
        config(MIN_ISR, "1", 3, writer=1, reason=STATIC, at=at(0)),
        config(MIN_ISR, "1", 4, writer=2, reason=STATIC, at=at(0)),
        config(MIN_ISR, "2", 5, topic="t", at=at(5)),
        config(MIN_ISR, "2", 6, topic="t", at=at(6)),
        config(MIN_ISR, None, 7, topic="t", at=at(7)),
        config(UNCLEAN, "true", 8, at=at(9), reason=CLUSTER),
        config("replica.lag.time.max.ms", "10000", 9, writer=1, reason=STATIC, at=at(0)),
        config("replica.lag.time.max.ms", "20000", 10, writer=1, reason=STATIC, at=at(70)),
    )
    events = document(known, [row("t")])
    values = {(s["key"], s["value"]): s for s in events["settings"]}
    assert values[MIN_ISR, "1"]["brokers"] == [1, 2] and values[MIN_ISR, "1"]["place"] == "server.log:3"
    assert (MIN_ISR, "2") not in values, "the topic has no value of its own any more"
    assert [(c["key"], c["value"], c["topic"], c["broker"]) for c in events["changes"]] == [
        (MIN_ISR, "2", "t", None),
        (MIN_ISR, None, "t", None),
        (UNCLEAN, "true", None, None),
        ("replica.lag.time.max.ms", "20000", None, 1),
    ]
    assert len({(s["key"], s["value"], s["source"]) for s in events["settings"]}) == len(events["settings"])
