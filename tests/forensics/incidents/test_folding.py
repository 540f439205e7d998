"""One event, one finding: nothing is lost in the fold, and nothing of another event gets into it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from forensics.incidents.findings import Findings
from forensics.incidents.folding import folded, places, recurring
from forensics.incidents.incidents import ClusterFindings, Incident, recurring_of_each
from forensics.model.findings import Aggregation, Evidence, Finding, Rule
from forensics.model.message import Range, said, values
from forensics.model.partition.windows import together
from forensics.rules import rule_of
from forensics.thresholds import MAX_SEPARATE_EVENTS
from forensics.words import of_incident, words
from tests.support import found

NOON = datetime(2026, 11, 21, 12)
STOPS = rule_of("controlled-shutdown")
RULES = (
    replace(rule_of("offline-partition"), many=Aggregation(("brokers",), merge=lambda first, group: together(group))),
    replace(rule_of("under-replicated"), many=None),
    *map(rule_of, ("data-loss", "log-divergence", "broker-crash", STOPS.kind, "restarted-replica", "upgrade")),
)


def incidents(findings: Findings, rules: Sequence[Rule], controllers: Collection[int] = ()) -> tuple[list[Finding], list[Incident]]:
    """The findings, those of one event and those that recur as one, and the incidents."""
    events = ClusterFindings(findings, rules, controllers)
    read = recurring_of_each([events], rules)
    return read, events.incidents(read)


def by_kind(findings: Sequence[Finding]) -> Findings:
    found = Findings()
    found.add(findings)
    return found


def fold(findings: Sequence[Finding]) -> list[Finding]:
    return [f for rule in RULES for f in folded([f for f in findings if f.kind == rule.kind], rule)]


def placed(partition: int, seconds: float, brokers: tuple[int, ...]) -> dict[str, Any]:
    evidence = (Evidence("broker-1/logs/state-change.log", partition + 1, None, "a line"),)
    start, end = (NOON + timedelta(seconds=seconds + passed) for passed in (0, 5))
    return {"topic": "t", "partition": partition, "brokers": brokers, "start": start, "end": end, "evidence": evidence}


def offline(partition: int, seconds: float = 0, brokers: tuple[int, ...] = (1,)) -> Finding:
    return found.offline(**placed(partition, seconds, brokers))


def short(partition: int, seconds: float = 0) -> Finding:
    return found.found("under-replicated", **placed(partition, seconds, (1,)))


def gone(partition: int, seconds: float = 0, **stated: Any) -> Finding:
    return found.loss(**{**placed(partition, seconds, (1,)), "severity": "high", **stated})


def test_what_happened_to_many_partitions_at_once_is_one() -> None:
    (one,) = fold([offline(p, p / 100) for p in range(50)])
    assert (one.topic, one.partition, len(one.places)) == (None, None, 50)
    assert words(one).summary == "50 partitions (t-0, t-1, t-2, t-3 and 46 more): no leader for up to 5.0 s"
    assert (one.start, one.end) == (NOON, NOON + timedelta(seconds=5.49))


def test_what_happened_to_many_topics_at_once_is_one() -> None:
    stated = [replace(offline(0, n), topic=name, partition=None) for n, name in enumerate("abc")]
    (one,) = fold([*stated, offline(7)])[:1]
    assert (one.topic, one.partition, [p.name for p in one.places]) == (None, None, ["a", "b", "c"])
    assert words(one).summary == "3 topics (a, b, c): no leader for up to 5.0 s"


def test_other_brokers_other_times_and_rules_that_do_not_fold_stay_apart() -> None:
    stated = [offline(0), offline(1, brokers=(2,)), offline(2, 90), short(3), short(4)]
    assert sorted(f.id for f in fold(stated)) == sorted(f.id for f in stated)


def test_losses_of_one_cause_keep_their_offsets_and_doubts_stay_apart_from_them() -> None:
    sure = [gone(p, offsets=(Range(p, 9),)) for p in range(3)]
    doubts = [gone(p, confidence="possible", offsets=(Range(p, None),), end=None, committed=None) for p in range(3)]
    together = fold([*sure, *doubts])
    assert [[p.offsets for p in f.places] for f in together] == [[f.offsets for f in stated] for stated in (sure, doubts)]
    assert [(f.committed, f.end is None) for f in together] == [(True, False), (None, True)]
    assert words(together[0]).explanation.endswith(" Also t-1 (offsets 1–8), t-2 (offsets 2–8), each with details of its own.")
    alike, one = fold([replace(f, offsets=(Range(4, 9),)) for f in sure]), fold([sure[0], replace(sure[1], offsets=(Range(42, 43),))])
    assert words(alike[0]).explanation.endswith(" Also t-1, t-2, each with details of its own.")
    assert words(one[0]).explanation.endswith(" Also t-1 (offset 42), each with details of its own.")
    twice = [sure[0], replace(sure[0], offsets=(Range(20, 30),))]
    assert fold(twice) == twice, "two losses of one partition are two"


def test_what_recurs_is_told_once_with_its_first_and_last_time() -> None:
    months = [offline(0, 86400.0 * day) for day in range(MAX_SEPARATE_EVENTS + 1)]
    (one,) = fold(months)
    assert words(one).summary.startswith(f"{MAX_SEPARATE_EVENTS + 1} times: t-0: no leader")
    assert (one.start, one.end) == (months[0].start, months[-1].end)
    assert len(fold(months[:-1])) == MAX_SEPARATE_EVENTS


def test_what_is_of_no_time_is_not_said_to_recur() -> None:
    """Files of one broker that could not be read, for instance."""
    damaged = [
        replace(offline(0), start=None, end=None, evidence=(Evidence(f"log.{n}", 1, None, "zlib.error"),))
        for n in range(MAX_SEPARATE_EVENTS + 1)
    ]
    dated = [offline(0, 86400.0 * day) for day in range(MAX_SEPARATE_EVENTS + 1)]
    again, alike = sorted(fold([*damaged, *dated]), key=lambda f: f.start is None)
    assert words(again).summary.startswith(f"{MAX_SEPARATE_EVENTS + 1} times: ")
    assert words(alike).summary == f"t-0: no leader for 5.0 s; and {MAX_SEPARATE_EVENTS} similar findings"
    assert (alike.start, alike.end) == (None, None)
    assert [e.source for e in alike.evidence] == [e.source for f in damaged for e in f.evidence][: len(alike.evidence)]
    assert "The others are about log.1, log.2, log.3, log.4" in words(alike).explanation and "0001" not in words(alike).explanation


def of_broker(kind: str, broker: int, since: float, until: float | None) -> Finding:
    times = {"start": NOON + timedelta(seconds=since), "end": None if until is None else NOON + timedelta(seconds=until)}
    return found.found(kind, brokers=(broker,), values=values(who=said("node/broker", id=broker)), **times)


def test_what_follows_from_a_crash_is_of_its_incident_until_the_broker_is_back() -> None:
    crash, back = of_broker("broker-crash", 1, 0, 30), replace(of_broker("restarted-replica", 1, 30, 60), cause="broker-crash")
    stated, (incident,) = incidents(by_kind([crash, back, offline(0, 5), offline(1, 50), offline(2, 300), offline(3, 5, (2,))]), RULES)
    assert (incident.kind, incident.brokers, incident.end) == ("broker-crash", (1,), NOON + timedelta(seconds=60))
    assert of_incident(incident).summary == "Broker 1 crashed: 2 partitions without a leader"
    assert {f.name for f in stated if f.incident is None} == {"t-2", "t-3"}
    assert set(incident.findings) == {f.id for f in stated if f.incident == incident.id}


JOINED, REFUSED, STUCK = map(rule_of, ("cluster-recreated", "connection-failed", "stuck-replica"))


def doubt(partition: int, seconds: float) -> Finding:
    """Records that the broker had not flushed may be lost."""
    possible = {"severity": "medium", "confidence": "possible", "cause": "unflushed-log"}
    return gone(partition, seconds, end=None, committed=None, offsets=(Range(partition, None),), **possible)


def test_doubts_of_each_crash_are_its_impact_although_they_are_folded_into_one_of_none() -> None:
    days = [86400.0 * day for day in range(MAX_SEPARATE_EVENTS + 1)]
    crashes = [of_broker("broker-crash", 1, at, at + 30) for at in days]
    stated, found = incidents(by_kind([*crashes, *(doubt(p, at + 5) for at in days for p in range(2))]), RULES)
    (often,) = [f for f in stated if f.kind == "data-loss"]
    assert often.incident is None
    assert {of_incident(i).summary for i in found} == {"Broker 1 crashed: a loss in 2 partitions cannot be excluded"}


def test_a_crash_has_no_impact_only_if_the_partitions_of_its_broker_were_judged() -> None:
    crash = by_kind([of_broker("broker-crash", 1, 0, 30)])
    for unjudged, impact in (
        ([], "no significant impact"),
        ([(2, 3)], "no significant impact"),
        ([(1, 2), (2, 3)], "no known impact; whether 1 partition lost records is unknown"),
        ([(1, 2), ()], "no known impact; whether 2 partitions lost records is unknown"),
        (None, "no known impact"),
    ):
        known = None if unjudged is None else (lambda replicas=unjudged: replicas)
        events = ClusterFindings(crash, RULES, unjudged=known)
        (incident,) = events.incidents(recurring_of_each([events], RULES))
        assert of_incident(incident).summary == f"Broker 1 crashed: {impact}"
        assert of_incident(incident).explanation.startswith(f"{of_incident(incident).summary.partition(':')[0]}. {impact.capitalize()}.")


def test_records_of_an_earlier_cluster_are_lost_by_the_change_and_not_by_a_later_stop() -> None:
    joined, stop = of_broker("cluster-recreated", 1, 0, 30), of_broker("controlled-shutdown", 1, 50, 55)
    lost = gone(0, 60, cause="inherited-log", offsets=(Range(0, 100),))
    _, found = incidents(by_kind([joined, stop, lost]), (*RULES, JOINED))
    assert {i.kind: of_incident(i).summary.partition(": ")[2] for i in found} == {
        "cluster-recreated": "100 offsets of 1 partition that were committed are lost",
        "controlled-shutdown": "no significant impact",
    }


def test_a_loss_is_not_put_down_to_a_crash_that_may_have_come_after_it() -> None:
    stop, back = of_broker("controlled-shutdown", 1, 0, 5), of_broker("restarted-replica", 1, 20, 30)
    crash = replace(of_broker("broker-crash", 2, 1.5, 60), start_latest=NOON + timedelta(seconds=12))
    lost = gone(0, brokers=(1, 2), end=NOON + timedelta(seconds=1), offsets=(Range(0, 4),), committed=False, cause="uncommitted-tail")
    _, found = incidents(by_kind([stop, replace(back, cause=stop.kind), crash, lost]), RULES)
    of = {i.kind: of_incident(i).summary.partition(": ")[2] for i in found}
    assert of == {
        "controlled-shutdown": "4 offsets of 1 partition that were never committed were truncated",
        "broker-crash": "no significant impact",
    }


def test_faults_of_two_brokers_are_one_incident_only_if_one_loss_needs_both() -> None:
    crashes = [of_broker("broker-crash", 1, 0, 300), of_broker("broker-crash", 2, 100, 300)]
    apart = [gone(0, 20, brokers=(1,), cause="unflushed-log"), short(1, 110)]
    together_ = [gone(0, 120, brokers=(1, 2), cause="unflushed-log")]
    for losses, brokers in ((apart, [(1,), (2,)]), (together_, [(1, 2)])):
        _, found = incidents(by_kind([*crashes, *losses]), RULES)
        assert sorted(i.brokers for i in found) == brokers


def test_an_unclean_election_is_the_cause_of_its_losses_and_the_setting_is_named() -> None:
    stop, crash = of_broker("controlled-shutdown", 1, 0, 200), of_broker("broker-crash", 2, 100, 200)
    headless = replace(offline(0, 100, (2,)), end=NOON + timedelta(seconds=150))
    at = NOON + timedelta(seconds=120)
    elected = found.found("unclean-election", topic="t", partition=0, brokers=(1,), start=at, end=at)
    lost = gone(0, brokers=(2, 1), start=NOON, end=at, cause="unclean-election", offsets=(Range(0, 9),), committed=True)
    risk, other = (
        found.found("risky-setting", cause=cause, values=values(consequences=(said("risky-setting/lost", name="t-0", of=of),)))
        for cause, of in (("x=true", "unclean-election"), ("y=1", "unflushed-log"))
    )
    rules = (*RULES, *map(rule_of, ("unclean-election", "risky-setting")))
    stated, (incident,) = incidents(by_kind([stop, crash, headless, elected, lost, risk, other]), rules)
    assert {f.kind for f in stated if f.incident is None} == {"risky-setting"}
    assert incident.kind == "unclean-election"
    assert of_incident(incident).summary.startswith(
        "A leader was elected from outside the ISR in 1 partition (x=true) after broker 1 shut down cleanly and broker 2 crashed: 9 offsets"
    )


def test_another_cluster_is_never_without_impact() -> None:
    _, (incident,) = incidents(by_kind([of_broker("cluster-recreated", 1, 0, 30)]), (*RULES, JOINED))
    assert of_incident(incident).summary.endswith("the records of the cluster before are not in this one, unless its logs were kept")


def test_what_was_not_over_in_an_earlier_cluster_ended_with_it() -> None:
    lost = replace(of_broker("zookeeper-lost", 1, 0, None), severity="high")
    rule = rule_of("zookeeper-lost")
    for number, lasted in ((0, "for the rest of the evidence"), (-1, "until the cluster ended")):
        events = ClusterFindings(by_kind([lost]), [rule], number=number)
        (incident,) = events.incidents(recurring_of_each([events], [rule]))
        assert of_incident(incident).summary == f"Broker 1 had no connection to ZooKeeper: no connection to ZooKeeper {lasted}"
        assert incident.cluster == number


def test_brokers_that_noticed_an_event_are_not_its_subject() -> None:
    refused = replace(of_broker("connection-failed", 2, 0, 60), brokers=(2, 1, 3))
    stuck = [of_broker("stuck-replica", b, 5, 60) for b in (1, 3)]
    _, (incident,) = incidents(by_kind([refused, *stuck]), (*RULES, REFUSED, STUCK))
    assert of_incident(incident).summary == "Broker 2 could not be reached; brokers 1 and 3 were stuck or cut off: no significant impact"
    assert incident.brokers == (2, 1, 3)


def test_what_was_never_over_goes_on_behind_what_came_and_went_after_it() -> None:
    crash, stop = of_broker("broker-crash", 1, 0, None), of_broker("controlled-shutdown", 1, 1000, 1005)
    stated, found = incidents(by_kind([crash, stop, short(0, 1002), offline(1, 5000)]), RULES)
    of = {i.id: i.kind for i in found}
    assert {f.kind: of[f.incident or ""] for f in stated if f.topic} == {
        "under-replicated": "controlled-shutdown",
        "offline-partition": "broker-crash",
    }


def test_brokers_that_are_stopped_one_after_the_other_are_a_rolling_restart_and_a_crash_among_them_is_none_of_it() -> None:
    stops = [of_broker("controlled-shutdown", b, 100 * b, 100 * b + 5) for b in range(1, 9)]
    stated, found = incidents(by_kind([*stops, of_broker("broker-crash", 9, 450, 500)]), RULES)
    assert [(i.kind, i.brokers) for i in found] == [("broker-crash", (9,)), ("rolling-restart", tuple(range(1, 9)))] or [
        (i.kind, i.brokers) for i in found
    ] == [("rolling-restart", tuple(range(1, 9))), ("broker-crash", (9,))]
    (all_of_them,) = [f for f in stated if f.kind == "controlled-shutdown"]
    assert all_of_them.brokers == tuple(range(1, 9))


def upgraded(*brokers: int, until: float | None = None) -> Finding:
    own = values(nodes=(brokers, ()), number=len(brokers), what="upgraded", sources=("3.8.0",), target="3.9.1")
    return replace(of_broker("upgrade", 1, 100, until), brokers=brokers, values=own)


def test_a_planned_change_explains_the_stops_of_its_nodes_and_no_others() -> None:
    stops = [of_broker("controlled-shutdown", b, 100 * b, 100 * b + 5) for b in (1, 2, 3, 100)]
    late, other = of_broker("controlled-shutdown", 1, 1000, 1005), of_broker("controlled-shutdown", 9, 200, 205)
    crash = of_broker("broker-crash", 3, 250, 260)
    plan = upgraded(1, 2, 3, until=400)
    stated, found = incidents(by_kind([*stops, late, other, crash, plan]), RULES, frozenset({100}))
    (upgrade,) = [i for i in found if i.kind == "upgrade"]
    assert of_incident(upgrade).summary == "Brokers 1, 2 and 3 were upgraded from 3.8.0 to 3.9.1: no significant impact"
    assert (upgrade.brokers, upgrade.start, upgrade.end) == ((1, 2, 3), NOON + timedelta(seconds=100), NOON + timedelta(seconds=400))
    within = {(f.kind, *f.brokers) for f in stated if f.incident == upgrade.id}
    assert within == {("upgrade", 1, 2, 3), *(("controlled-shutdown", b) for b in (1, 2, 3))}
    assert sorted(i.kind for i in found) == ["broker-crash", "controlled-shutdown", "rolling-restart", "upgrade"]


def test_a_planned_change_that_is_not_over_has_no_end() -> None:
    plan = upgraded(1, 2)
    _, (upgrade,) = incidents(by_kind([of_broker("controlled-shutdown", 1, 100, 105), plan]), RULES)
    assert (upgrade.kind, upgrade.end) == ("upgrade", None)


def test_nodes_that_are_only_controllers_are_called_controllers() -> None:
    stops = [of_broker("controlled-shutdown", b, 10 * b, 10 * b + 5) for b in (1, 100, 101)]
    stated, (incident,) = incidents(by_kind(stops), RULES, frozenset({100, 101}))
    assert of_incident(incident).summary.startswith("Broker 1 and controllers 100 and 101 shut down cleanly one after the other")
    assert len(stated) == 3


def test_what_recurs_in_clusters_that_ended_is_reported_once() -> None:
    count = MAX_SEPARATE_EVENTS + 1
    own = values(same=True, now=said("cluster-recreated/cluster"), before=said("cluster-recreated/cluster"))
    joined = [replace(of_broker("cluster-recreated", 1, 86400 * n, 86400 * n), values=own, cluster=n - count) for n in range(count)]
    (again,) = recurring(joined, JOINED)
    assert words(again).summary.startswith(f"{count} times: broker 1 joined another cluster")
    assert words(again).summary.endswith(", the last at 2026-11-27 12:00:00.000 UTC")
    assert (again.start, again.end, again.cluster) == (joined[0].start, joined[-1].end, -1)
    assert recurring(joined[1:], JOINED) == joined[1:]


def test_what_is_minor_and_happened_often_to_any_broker_is_reported_once() -> None:
    count = MAX_SEPARATE_EVENTS + 1
    minor = [replace(of_broker("controlled-shutdown", n % 3, 3600 * n, 3600 * n), severity="low") for n in range(count)]
    severe = [replace(f, severity="high") for f in minor]
    (often,) = recurring(minor, STOPS)
    assert (often.brokers, often.start, often.end) == ((0, 1, 2), minor[0].start, minor[-1].end)
    assert words(often).summary.startswith(f"{count} times from 2026-11-21 12:00:00.000 to 18:00:00.000 UTC. Example: broker 0 was")
    for separate in (severe, minor[1:], [replace(minor[0], end=None), *minor[1:]]):
        assert sorted(recurring(separate, STOPS), key=lambda f: str(f.start)) == separate


def test_what_is_of_several_incidents_belongs_to_the_first_of_them() -> None:
    count = MAX_SEPARATE_EVENTS + 1
    stops = [replace(of_broker("controlled-shutdown", n % 3, 3600 * n, 3600 * n), severity="low", incident=f"i{n}") for n in range(count)]
    (often,) = recurring(stops, STOPS)
    assert often.incident == "i0"
    (later,) = recurring([replace(stops[0], incident=None), *stops[1:]], STOPS)
    assert later.incident == "i1"


def test_steps_that_save_something_come_first_and_the_others_keep_their_order() -> None:
    names = ("confirm", "copy", "replace-one")
    replacing = tuple(said(f"log-divergence/{name}", on=(1, 3), odd=1, leader=3) for name in names)
    alike = [found.found("log-divergence", values=values(replacing=replacing), **placed(p, 0, (1, 3))) for p in range(2)]
    (together,) = fold(alike)
    assert [step.split(" ", 1)[0] for step in words(together).next_steps] == ["Copy", "Confirm", "When"]
    assert all("t-0, t-1" in step for step in words(together).next_steps)


def test_each_broker_is_in_the_steps_about_its_own_partitions() -> None:
    def damaged(partition: int, broker: int) -> Finding:
        own = values(who=said("node/broker", id=broker))
        return found.found("epoch-history-damaged", values=own, **placed(partition, 0, (broker,)))

    (together,) = folded([damaged(0, 1), damaged(1, 2), damaged(2, 1)], rule_of("epoch-history-damaged"))
    copies = [step.rstrip(".") for step in words(together).next_steps if step.startswith("Copy")]
    assert copies == ["Copy the directory of t-0, t-2 on broker 1", "Copy the directory of t-1 on broker 2"]


def test_losses_that_are_only_possible_after_many_events_are_one() -> None:
    count = MAX_SEPARATE_EVENTS + 1
    crashes = [of_broker("broker-crash", 1, 7200 * n, 7200 * n + 5) for n in range(count)]
    losses = [gone(p, 7200 * n + 6, confidence="possible") for n in range(count) for p in (n, n + 1)]
    stated, _ = incidents(by_kind([*crashes, *losses]), RULES)
    (possible,) = [f for f in stated if f.kind == "data-loss"]
    assert len(possible.places) == len(losses)
    few, _ = incidents(by_kind([*crashes[1:], *losses[2:]]), RULES)
    assert len([f for f in few if f.kind == "data-loss"]) == count - 1
    sure, _ = incidents(by_kind([*crashes, *(replace(f, confidence="certain") for f in losses)]), RULES)
    assert len([f for f in sure if f.kind == "data-loss"]) == count


PLACES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 30), st.integers(1, 2)), max_size=30)


@given(PLACES, st.randoms())
def test_every_place_is_there_once_and_order_changes_nothing(stated: list[tuple[int, int, int]], chance: object) -> None:
    findings = [offline(p, s, (b,)) for p, s, b in dict.fromkeys(stated)]
    shuffled = list(findings)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    found = fold(findings)

    def where(folds: list[Finding]) -> set[tuple[tuple[int, ...], str | None, int | None]]:
        return {(f.brokers, p.topic, p.partition) for f in folds for p in places(f)}

    assert where(found) == where(findings)
    assert sum(p.times for f in found for p in places(f)) == len(findings) or any("times:" in words(f).summary for f in found)
    assert {frozenset(places(f)) for f in fold(shuffled)} == {frozenset(places(f)) for f in found}
