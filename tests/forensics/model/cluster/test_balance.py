"""Preferred leaders and load: the formulas by their numbers, the rows partitions add, and what is said of them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.model.clock.sources import Source
from forensics.model.cluster.balance import (
    MAX_MEASURES,
    MAX_POINTS,
    MEASURES,
    Ratio,
    at_end,
    load,
    measures,
    metrics,
    ratios,
    since,
    sums,
    thinned,
    uneven,
)
from forensics.model.cluster.facts import Cluster, Measure, Node
from forensics.model.events import Event
from forensics.model.partition.final_state import Orders
from forensics.model.partition.placement import INTERVAL_S, MAX_INTERVALS, MAX_STEPS, factor, sizes, steps, traffic
from forensics.model.partition.replicas import Disk
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline, Snapshot, Term
from forensics.thresholds import LOAD_DEVIATION
from forensics.words import words
from parsers.schemas import EVENTS
from tests.forensics.staged import of, report

NOON = datetime(2026, 11, 21, 12)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def state(seconds: float, leader: int, replicas: tuple[int, ...] | None = (1, 2, 3), removing: tuple[int, ...] = ()) -> State:
    event = Event(event="partition-state", source="log", line=1, at=at(seconds))
    return State(
        leader_epoch=int(seconds),
        partition_epoch=None,
        leader=leader,
        isr=replicas or (leader,),
        replicas=replicas,
        removing=removing,
        at=at(seconds),
        source="decided",
        event=event,
    )


def timeline(*states: State) -> PartitionTimeline:
    return PartitionTimeline("t", 1, 0, states=list(states))


def row(number: int, *stated: tuple[float, int, int | None], **fields: Any) -> dict[str, Any]:
    """A row of judge.PARTITION with what balance reads of it."""
    made = [{"at": at(s), "leader": leader, "preferred": preferred} for s, leader, preferred in stated]
    empty: dict[str, Any] = {"replicas": [], "isr": [], "leader": None, "sizes": [], "traffic": [], "statement": None}
    return {"topic": "t", "partition": number, "steps": made, **empty, **fields}


# the formulas


def test_limit_of_four_brokers() -> None:
    even = load({"cpu": {1: 5, 2: 5, 3: 5, 4: 5}})
    assert even.limit == pytest.approx(0.025)
    assert even.sigma == 0
    assert even.deviations == {1: 0, 2: 0, 3: 0, 4: 0}


def test_every_broker_a_tenth_away_is_just_the_limit() -> None:
    edge = load({"cpu": {1: 110, 2: 90, 3: 110, 4: 90}})
    assert edge.sigma == pytest.approx(edge.limit) == pytest.approx(0.025)
    assert list(edge.deviations.values()) == [pytest.approx(LOAD_DEVIATION)] * 4


def test_an_unbalanced_cluster() -> None:
    """Loads with the standard deviation of the well-known example, 0.0595: far above the limit."""
    found = load({"cpu": {1: 3346, 2: 2746, 3: 2100, 4: 1808}})
    assert found.sigma == pytest.approx(0.0595, abs=1e-4)
    assert found.sigma > found.limit
    assert found.deviations[1] == pytest.approx(abs(0.3346 - 0.25) * 4)


def test_metrics_are_normalised_before_they_are_added() -> None:
    found = load({"cpu": {1: 30, 2: 10}, "network": {1: 1_000_000, 2: 3_000_000}})
    assert found.metrics == {"cpu": {1: 0.75, 2: 0.25}, "network": {1: 0.25, 2: 0.75}}
    assert found.shares == {1: 0.5, 2: 0.5}


def test_weights() -> None:
    found = load({"cpu": {1: 30, 2: 10}, "network": {1: 1, 2: 3}}, {"cpu": 3})
    assert found.shares == {1: pytest.approx((3 * 0.75 + 0.25) / 4), 2: pytest.approx((3 * 0.25 + 0.75) / 4)}
    assert load({"cpu": {1: 30, 2: 10}}, {"cpu": 0}).shares == {}


def test_no_load_at_all() -> None:
    assert load({}).shares == {}
    assert (load({}).sigma, load({}).limit) == (0.0, 0.0)
    assert load({"cpu": {1: 0, 2: 0}}).metrics == {}


@settings(max_examples=100)
@given(st.dictionaries(st.integers(0, 50), st.floats(0, 1e300), min_size=1), st.floats(0.1, 10))
def test_shares_are_of_one_whole(values: dict[int, float], weight: float) -> None:
    found = load({"m": values, "n": dict.fromkeys(values, 1.0)}, {"m": weight})
    assert sum(found.shares.values()) == pytest.approx(1)
    assert all(d >= 0 for d in found.deviations.values())


def test_loads_without_bounds_tell_nothing() -> None:
    assert load({"m": {1: 1e308, 2: 1e308}}).shares == {}
    cluster = Cluster(measures=[Measure(1, "m", float("inf"), 1, "m.csv", 2, 0, None)])
    assert load(metrics(cluster, [])).shares == {}


def test_what_cannot_be_more_even() -> None:
    assert not uneven("partitions", {1: 2, 2: 1, 3: 1})
    assert uneven("partitions", {1: 3, 2: 1, 3: 2})
    assert not uneven("bytes on disk", {1: 1000, 2: 0})
    assert uneven("bytes on disk", {1: 1 << 30, 2: 0})
    assert uneven("cpu", {1: 2, 2: 1})


# imbalance ratio


def test_ratio_over_time() -> None:
    rows = [row(0, (0, 1, 1), (10, 2, 1), (30, 1, 1)), row(1, (0, 1, 1)), row(2, (0, 2, 2), (20, -1, 2))]
    found = ratios(rows)
    assert found[1] == [Ratio(at(0), 2, 0), Ratio(at(10), 2, 1), Ratio(at(30), 2, 0)]
    assert [p.ratio for p in found[1]] == [0, 0.5, 0]
    assert found[2][-1] == Ratio(at(20), 1, 1), "nobody leads it: that counts as well"


def test_a_reassignment_changes_who_should_lead() -> None:
    found = ratios([row(0, (0, 1, 1), (10, 1, 3), (12, 3, 3))])
    assert found[1] == [Ratio(at(0), 1, 0), Ratio(at(10), 0, 0)]
    assert found[3] == [Ratio(at(10), 1, 1), Ratio(at(12), 1, 0)]
    assert found[1][-1].ratio == 0


def test_an_unknown_assignment_counts_for_nobody() -> None:
    assert ratios([row(0, (0, 1, None), (5, 2, None))]) == {}


@given(st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(-1, 3), st.none() | st.integers(1, 3)), max_size=4), max_size=6))
@settings(max_examples=50)
def test_what_holds_at_the_end_is_the_last_of_all(stated: list[list[tuple[int, int, int | None]]]) -> None:
    rows = [row(n, *sorted(own, key=lambda s: s[0])) for n, own in enumerate(stated)]
    last = {b: (points[-1].preferred, points[-1].elsewhere) for b, points in ratios(rows).items() if points[-1].preferred}
    assert last == {b: (now.preferred, now.elsewhere) for b, now in at_end(rows).items()}


def test_since_when() -> None:
    points = [Ratio(at(0), 4, 1), Ratio(at(5), 4, 0), Ratio(at(9), 4, 2), Ratio(at(12), 4, 1)]
    assert since(points, 0.1) == points[2]
    assert since([*points, Ratio(at(20), 10, 1)], 0.1) is None, "ten percent is allowed"
    assert since([], 0.1) is None


def test_a_series_is_cut_and_keeps_its_ends() -> None:
    points = [Ratio(at(s), 9, s % 9) for s in range(5000)]
    stated = thinned(points)
    assert len(stated) <= MAX_POINTS
    assert (stated[0], stated[-1]) == (points[0], points[-1])
    assert [p.at for p in stated] == sorted(p.at for p in stated if p.at)
    assert len(thinned([Ratio(None, 1, n) for n in range(900)])) == MAX_POINTS


# what a partition adds


def test_steps_tell_changes_only_and_the_last_ones() -> None:
    assert steps(timeline(state(0, 1), state(1, 1), state(2, 2))) == [
        {"at": at(0), "leader": 1, "preferred": 1},
        {"at": at(2), "leader": 2, "preferred": 1},
    ]
    many = steps(timeline(*(state(s, 1 + s % 2) for s in range(100))))
    assert len(many) == MAX_STEPS
    assert many[-1]["at"] == at(99)


def test_a_later_describe_is_the_last_step() -> None:
    seen = timeline(state(0, 1))
    event = Event(event="describe-partition", source="d", line=1, at=at(60))
    seen.snapshots = [Snapshot(3, (3,), (1, 2, 3), at(-60), event), Snapshot(2, (2, 1), (1, 2, 3), at(60), event)]
    assert [s["leader"] for s in steps(seen)] == [1, 2]


def test_a_set_of_replicas_has_no_first_one() -> None:
    """0.10 brokers print what is a set; who created the partition, or described it, knows the order."""
    seen = timeline(state(0, 3))
    sent = Event(event="partition-state", source="log", line=1, replicas=[1, 2, 3], unordered=True)
    seen.orders = Orders([sent])
    assert [s["preferred"] for s in steps(seen)] == [None]
    seen.orders = Orders([sent, Event(event="partition-transition", source="log", line=2, replicas=[3, 2, 1])])
    assert [s["preferred"] for s in steps(seen)] == [3]
    seen.orders = Orders([Event(event="partition-state", source="log", line=1, replicas=[1, 2, 3])])
    assert [s["preferred"] for s in steps(seen)] == [1], "from 0.11 on it is a list"


def test_factor() -> None:
    assert factor(timeline(state(0, 1), state(1, 1, None))) == 3
    assert factor(timeline(state(0, 1, (1, 2, 3, 4), removing=(1,)))) == 3
    assert factor(timeline(state(0, 1, None))) is None


def test_sizes_are_those_told_last() -> None:
    seen = timeline(state(0, 1))
    seen.events = [
        Event(event="replica-size", broker=1, directory="/a", bytes=10, at=at(0)),
        Event(event="replica-size", broker=1, directory="/a", bytes=30, at=at(9)),
        Event(event="replica-size", broker=2, directory="/b", bytes=-1, at=at(9)),
    ]
    assert sizes(seen) == [{"broker": 1, "directory": "/a", "bytes": 30}]


def batch(first: int, last: int, epoch: int, seconds: float, size: int = 100) -> dict[str, Any]:
    stamp = int((at(seconds) - datetime(1970, 1, 1)).total_seconds() * 1000)
    return {"base_offset": first, "last_offset": last, "leader_epoch": epoch, "max_timestamp": stamp, "control": False, "bytes": size}


def written(batches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    seen = timeline(state(0, 1), state(60, 2))
    seen.terms = [Term(n, 0, leader, None, None, None, "at-least", None, at(60 * n), ()) for n, leader in ((0, 1), (1, 2))]
    segment = Event(event="segment", source="2/t-1/0.log", offset=0, batches=batches)
    seen.collected_logs = {2: Disk(2, "2", segments=[segment], log_end_offset=100)}
    return traffic(seen)


def test_traffic_is_of_the_leader_of_the_epoch() -> None:
    found = written([batch(0, 49, 0, 1, 500), batch(50, 74, 0, 2, 70), batch(75, 75, 0, 61, 9000), batch(76, 99, 1, 62, 80)])
    assert [(t["broker"], t["at"], t["bytes"]) for t in found] == [(1, at(0), 570), (1, at(60), 9000), (2, at(60), 80)]
    assert {t["seconds"] for t in found} == {INTERVAL_S}


def test_traffic_before_leader_epochs_goes_by_time() -> None:
    assert [(t["broker"], t["bytes"]) for t in written([batch(0, 49, -1, 1), batch(50, 99, -1, 61, 7)])] == [(1, 100), (2, 7)]
    assert written([batch(0, 99, -1, -3600)]) == [], "nobody is known to have led then"


def test_traffic_over_years_is_told_by_longer_intervals() -> None:
    found = written([batch(n, n, 0, n * 86400) for n in range(2000)])
    assert len(found) <= MAX_INTERVALS
    assert sum(t["bytes"] for t in found) == 200_000


@settings(max_examples=100)
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "base_offset": st.integers(0, 2**62),
                "last_offset": st.integers(-1, 2**63 - 1),
                "leader_epoch": st.integers(-1, 3),
                "max_timestamp": st.integers(-(2**63), 2**63 - 1),
                "control": st.booleans(),
                "bytes": st.integers(26, 2**31 + 11),
            }
        ),
        max_size=80,
    )
)
def test_any_batches_give_a_bounded_row(batches: list[dict[str, Any]]) -> None:
    found = written(batches)
    assert len(found) <= MAX_INTERVALS
    assert pa.array([t["at"] for t in found], pa.timestamp("us")).null_count == 0


# load of brokers


def brokers(*ids: int) -> Cluster:
    return Cluster(nodes={i: Node(i) for i in ids})


def test_partitions_and_leaders() -> None:
    rows = [row(n, replicas=[1, 2], isr=[1, 2], leader=1) for n in range(3)]
    assert metrics(brokers(1, 2, 3), rows) == {"partitions": {1: 3, 2: 3, 3: 0}, "leaders": {1: 3, 2: 0, 3: 0}}


def test_a_broker_that_is_down_is_not_compared() -> None:
    rows = [row(n, replicas=[1, 2, 3], isr=[1, 2], leader=1) for n in range(2)]
    assert metrics(brokers(1, 2, 3), rows) == {"partitions": {1: 2, 2: 2}, "leaders": {1: 2, 2: 0}}


def test_a_metric_counts_only_when_it_is_known_of_all() -> None:
    cluster = brokers(1, 2)
    cluster.measures = [Measure(1, "cpu", 50, 1, "m.csv", 2, 0, None)]
    rows = [row(0, replicas=[1, 2], isr=[1, 2], leader=1, sizes=[{"broker": 1, "directory": "/d", "bytes": 5}])]
    assert set(metrics(cluster, rows)) == {"partitions", "leaders"}
    cluster.measures = [*cluster.measures, Measure(2, "cpu", 30, 1, "m.csv", 3, 9, None)]
    rows[0]["sizes"].append({"broker": 2, "directory": "/d", "bytes": 7})
    assert metrics(cluster, rows)["cpu"] == {1: 50, 2: 30}
    assert metrics(cluster, rows)["bytes on disk"] == {1: 5, 2: 7}


def test_segments_that_were_collected_are_the_bytes_on_disk() -> None:
    cluster = Cluster(nodes={1: Node(1, collections=["old", "new"]), 2: Node(2, collections=["b2"])})
    places = [(1, "old", 900), (1, "new", 10), (1, "new", 5), (2, "b2", 40)]
    cluster.sources = [
        Source(f"{c}/{i}.log", "segment", n, c, size, None, None, None, None, (), None, None, None) for i, (n, c, size) in enumerate(places)
    ]
    assert metrics(cluster, [row(0, replicas=[1, 2], isr=[1, 2], leader=1)])["bytes on disk"] == {1: 15, 2: 40}


# load metrics of the user


def events(*rows: dict[str, Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(rows), schema=EVENTS)


def metric(broker: int | None, key: str, value: str, line: int) -> dict[str, Any]:
    return {"event": "load-metric", "broker": broker, "key": key, "value": value, "line": line, "source": "load.csv", "text": f"{line}"}


def test_means_of_several_tasks() -> None:
    one = sums([events(metric(1, "cpu", "20", 3), metric(1, "cpu", "40", 2), {"event": "config"})])
    other = sums([events(metric(1, "cpu", "90", 9), metric(2, "cpu", "5", 4), metric(None, "cpu", "7", 5))])
    found = measures(r for b in (*one, *other) for r in b.to_pylist())
    assert [(m.broker, m.metric, m.mean, m.count, m.line) for m in found] == [(1, "cpu", 50, 3, 2), (2, "cpu", 5, 1, 4)]


def test_a_file_of_many_metrics_is_bounded() -> None:
    (found,) = sums([events(*(metric(n, "cpu", "1", n) for n in range(MAX_MEASURES + 5)))])
    assert found.num_rows == MAX_MEASURES
    assert found.schema.equals(MEASURES)
    (none,) = sums([])
    assert none.num_rows == 0


# what is said

EVEN = "broker,cpu\n1,50\n2,50\n3,50\n"


def describe(*lines: str) -> dict[str, str]:
    return {"cluster/topics-describe.txt": "".join(f"\tTopic: t\tPartition: {i}\t{line}\n" for i, line in enumerate(lines))}


def test_load_imbalance_names_its_numbers() -> None:
    reported = report({"load-metrics.csv": "broker,cpu\n1,3346\n2,2746\n3,2100\n4,1808\n"})
    (found,) = of(reported, "load-imbalance")
    assert found.brokers == (1, 4, 3) and found.severity == "low"
    assert "broker 1 carries 33.5% of the load, 34% above the mean of 4 brokers; most uneven: cpu" in words(found).summary
    assert "0.0595" in words(found).explanation and "0.0250" in words(found).explanation
    assert found.evidence[0].text == "1,3346" and found.evidence[0].line == 2
    assert of(report({"load-metrics.csv": EVEN}), "load-imbalance") == []


def test_partitions_on_one_broker() -> None:
    reported = report(describe(*["Leader: 1\tReplicas: 1\tIsr: 1"] * 6, "Leader: 2\tReplicas: 2\tIsr: 2"))
    (found,) = of(reported, "load-imbalance")
    assert found.brokers[0] in (1, 2) and "partitions" in words(found).explanation


def test_leaders_away_from_home_are_no_imbalance_of_load() -> None:
    lines = ["Leader: 1\tReplicas: 1,2\tIsr: 1,2"] * 4 + ["Leader: 1\tReplicas: 2,1\tIsr: 1,2"] * 4
    reported = report(describe(*lines))
    assert of(reported, "load-imbalance") == []
    (found,) = of(reported, "leader-imbalance")
    assert found.brokers == (2,) and "4 of its 4 preferred partitions" in words(found).summary


def test_a_broker_that_cannot_lead_is_told_as_information() -> None:
    (found,) = of(report(describe(*["Leader: 1\tReplicas: 2,1\tIsr: 1"] * 4)), "leader-imbalance")
    assert found.severity == "info" and words(found).next_steps[0] == "Bring broker 2 back in sync first."


MISSED = {
    "broker-2/logs/server.log": "[2026-11-21 01:53:00,000] INFO [KafkaServer id=2] started (kafka.server.KafkaServer)\n",
    "broker-1/logs/controller.log": "[2026-11-21 01:54:00,000] INFO [Controller id=1] Newly added brokers: , deleted brokers: 2, bounced brokers: , "
    "all live brokers: 1 (kafka.controller.KafkaController)\n",
}


@pytest.mark.parametrize(("files", "leader"), [({}, "none"), (MISSED, "1")])
def test_an_in_sync_broker_that_is_offline_cannot_lead(files: dict[str, str], leader: str) -> None:
    lines = [f"Leader: {leader}\tReplicas: 2,1\tIsr: 2,1"] * 4
    (found,) = of(report({**files, **describe(*lines)}), "leader-imbalance")
    assert found.severity == "info" and "Broker 2 was offline, or its replicas were" in words(found).explanation
    assert words(found).next_steps[0] == "Bring broker 2 back in sync first."


@pytest.mark.parametrize(
    ("settings_told", "who", "step"),
    [
        ("auto.leader.rebalance.enable=false", "only a preferred election by command", "kafka-leader-election"),
        ("auto.leader.rebalance.enable=true\nleader.imbalance.check.interval.seconds=60", "checks every 60 s", "Wait for the next check"),
        ("process.roles=broker,controller\nauto.leader.rebalance.enable=true", "KRaft does not use", "Wait for the next check"),
    ],
)
def test_who_acts(settings_told: str, who: str, step: str) -> None:
    files = {"broker-1/config/server.properties": f"broker.id=1\n{settings_told}\n"}
    (found,) = of(report({**files, **describe("Leader: 1\tReplicas: 2,1\tIsr: 1,2")}), "leader-imbalance")
    assert who in words(found).explanation
    assert any(s.startswith(step) or step in s for s in words(found).next_steps)
    assert any(e.source.endswith("server.properties") for e in found.evidence)


def test_the_limit_is_as_set() -> None:
    lines = ["Leader: 2\tReplicas: 2,1\tIsr: 1,2"] * 3 + ["Leader: 1\tReplicas: 2,1\tIsr: 1,2"]
    files = {"broker-1/config/server.properties": "broker.id=1\nleader.imbalance.per.broker.percentage=30\n"}
    assert of(report({**files, **describe(*lines)}), "leader-imbalance") == []
    assert len(of(report(describe(*lines)), "leader-imbalance")) == 1


def test_document() -> None:
    reported = report({"load-metrics.csv": EVEN, **describe("Leader: 1\tReplicas: 2,1\tIsr: 1,2")}).document()["cluster"]["balance"]
    (broker,) = reported["leaders"]["brokers"]
    assert (broker["broker"], broker["preferred"], broker["elsewhere"], broker["ratio"]) == (2, 1, 1, 1.0)
    assert reported["leaders"]["limit"] == 0.1
    assert {b["broker"]: b["metrics"]["cpu"] for b in reported["load"]["brokers"]} == {b: pytest.approx(1 / 3, abs=1e-6) for b in (1, 2, 3)}
    assert reported["bytes_in"] == {"interval_seconds": INTERVAL_S, "brokers": []}
