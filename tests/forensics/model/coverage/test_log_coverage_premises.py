"""What a missing line proves: from when on a broker's logs were collected, which loggers print in which run, and which premises do not hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from forensics.incidents import judging
from forensics.model.clock.sources import Source
from forensics.model.cluster.facts import Cluster, Node
from forensics.model.coverage.log_coverage import (
    CLOCK,
    COMPLETE,
    FETCHER,
    LOG,
    ORDER,
    PARTITION,
    PLACED,
    PROCESS,
    READ,
    REPLICA,
    STATE,
    LogCoverage,
    Run,
    isr_changes_observable,
    log_coverage,
    silent_leaders,
    weakened,
    would_show,
)
from forensics.model.events import Event
from forensics.model.findings import Evidence, Finding
from forensics.model.message import said
from forensics.model.presence.availability import BrokerRun
from forensics.rules import rule_of
from forensics.thresholds import MAX_CLOCK_STEPS
from forensics.words import text, words
from parsers.patterns.facets import FACETS
from tests.forensics.proof.staging import (
    Records,
    altered,
    at_warn,
    cut_lines,
    handed_over,
    judge,
    made,
    of_bundle,
    reversed_lines,
    set_back,
    shuffled_lines,
    when,
    without_lines,
)
from tests.support import shapes

NAMED: dict[str, Any] = dict.fromkeys(("bytes", "sha256", "modified", "unrecognised", "problem"))


def source(broker: int = 1, kind: str = "server-log", **known: Any) -> Source:
    """A log with lines from 0 to 100 s, of which nothing is wrong."""
    usual = {"path": f"broker-{broker}/{kind}", "collection": "", "lines": 9, "samples": (), "first": when(0), "last": when(100)}
    return Source(kind=kind, node=broker, **{**NAMED, **usual, **known})


def cluster(*sources: Source, events: Sequence[Event] = (), **nodes: Node) -> Cluster:
    found = {node.id: node for node in nodes.values()} or {1: Node(1, collections=[""])}
    return Cluster(sources=list(sources), nodes=found, events=list(events))


def lines(count: int, since: float = 0) -> list[tuple[int, datetime | None]]:
    return [(n, when(since + n)) for n in range(count)]


# from when on


@pytest.mark.parametrize("kind", ["server-log", "stdout-log", "other-log"])
def test_a_log_in_which_a_broker_prints_of_its_partitions(kind: str) -> None:
    found = log_coverage(1, cluster(source(kind=kind)))
    assert (found.broker, found.begin) == (1, when(0))
    assert found.begin is not None
    assert found.would_show(FETCHER, since=when(0))
    assert not found.would_show(FETCHER, since=when(-1))


@pytest.mark.parametrize(
    "kind",
    [
        "state-change-log",
        "controller-log",
        "log-cleaner-log",
        "request-log",
        "authorizer-log",
        "gc-log",
        "hw-checkpoint",
        "server-properties",
    ],
)
def test_a_file_in_which_no_broker_prints_of_its_partitions(kind: str) -> None:
    found = log_coverage(1, cluster(source(kind=kind)))
    assert found.begin is None
    assert found.begin is None


@pytest.mark.parametrize("count", [0, None])
def test_an_empty_log_covers_nothing(count: int | None) -> None:
    assert log_coverage(1, cluster(source(lines=count))).begin is None


def test_of_a_broker_of_which_nothing_was_collected_nothing_is_covered() -> None:
    for broker in (7, None):
        found = log_coverage(broker, cluster(source()))
        assert found == LogCoverage(7 if broker == 7 else -1)
        assert not found.would_show(LOG)


def test_the_first_line_of_all_rotated_files_counts() -> None:
    found = log_coverage(1, cluster(source(first=when(50)), source(first=when(20), last=when(50), path="broker-1/server.log.1")))
    assert found.begin == when(20)


def test_a_log_without_times_covers_no_time() -> None:
    """It may hold the rest of a record only, and then lacks no line."""
    found = log_coverage(1, cluster(source(first=None, last=None)))
    assert not found.would_show(LOG, since=when(0))


@pytest.mark.parametrize(("last", "begin"), [(60, 0), (61, 0), (59, 60), (None, 0)])
def test_logs_of_an_earlier_collection_count_if_they_reach_the_first_line_of_the_later(last: float | None, begin: float) -> None:
    """Else what was between the two is missing."""
    node = Node(1, collections=["before", "after"])
    before = source(collection="before", first=when(0), last=when(last) if last is not None else None)
    after = source(collection="after", first=when(60), last=when(100))
    assert log_coverage(1, cluster(before, after, one=node)).begin == when(begin)
    assert log_coverage(1, cluster(after, before, one=node)).begin == when(begin)


def test_an_older_collection_counts_only_through_the_one_between() -> None:
    node = Node(1, collections=["a", "b", "c"])
    a, b, c = (source(collection=name, first=when(at), last=when(at + 20)) for name, at in (("a", 0), ("b", 20), ("c", 60)))
    assert log_coverage(1, cluster(a, b, c, one=node)).begin == when(60)
    assert log_coverage(1, cluster(a, replace(b, last=when(60)), c, one=node)).begin == when(0)


def test_one_log_of_the_earlier_collection_that_reaches_the_later_is_enough() -> None:
    """Rotated files of it end earlier."""
    rotated, last = (source(collection="a", path=path, first=when(at), last=when(at + 30)) for path, at in (("x.1", 0), ("x", 30)))
    after = source(collection="b", first=when(60))
    assert log_coverage(1, cluster(rotated, last, after, one=Node(1, collections=["a", "b"]))).begin == when(0)


def test_a_log_of_several_brokers_counts_for_each() -> None:
    """It is in the collection of one."""
    shared = replace(source(collection="broker-1"), node=None, shared=(1, 2))
    found = cluster(shared, one=Node(1, collections=["broker-1"]), two=Node(2, collections=["broker-2"]))
    assert [log_coverage(b, found).begin for b in (1, 2, 3)] == [when(0), when(0), None]


def test_a_broker_that_its_cluster_does_not_know_has_its_log_all_the_same() -> None:
    assert log_coverage(5, cluster(source(5))).begin == when(0)


# which loggers print


def coverage(**known: Any) -> LogCoverage:
    return LogCoverage(1, **{"begin": when(0), **known})


@pytest.mark.parametrize(
    ("since", "until", "prints"),
    [
        (None, None, False),
        (when(10), when(20), False),
        (when(5), when(10), False),
        (when(20), when(30), False),
        (when(5), when(9.9), True),
        (when(20.1), when(30), True),
        (when(20.1), None, True),
        (None, when(9.9), True),
        (None, when(10), False),
        (when(20), None, False),
    ],
)
def test_a_silent_run_matters_only_for_its_time(since: datetime | None, until: datetime | None, prints: bool) -> None:
    found = coverage(runs=(Run(when(10), when(20), frozenset({LOG})),))
    assert bool(found.would_show(LOG, since=since, until=until)) is prints
    assert bool(found.would_show(PROCESS, LOG, since=since, until=until)) is prints
    assert found.would_show(PROCESS, since=since, until=until)


def test_a_log_prints_nothing_before_it_begins() -> None:
    assert coverage().would_show(LOG, since=when(0))
    assert not coverage().would_show(LOG, since=when(-1))
    assert not coverage(begin=None).would_show(LOG)


def test_lines_about_leader_epochs_may_begin_later() -> None:
    found = log_coverage(1, cluster(source(), source(kind="state-change-log", first=when(50), printed={STATE: lines(9, 50)})))
    assert (found.begin, found.states_begin) == (when(0), when(50))
    assert found.would_show(STATE, since=when(50))
    assert not found.would_show(STATE, since=when(49))
    assert not log_coverage(1, cluster(source())).would_show(STATE)


@pytest.mark.parametrize(("premise", "prints"), [(COMPLETE, False), (ORDER, True), (CLOCK, True)])
def test_where_lines_are_missing_silence_proves_nothing(premise: str, prints: bool) -> None:
    why = said("coverage/cut", path="server.log", characters=9)
    found = coverage(failed={premise: why})
    assert bool(found.would_show(LOG)) is prints
    assert not found.would_show(premise)
    assert not found.would_show(ORDER, CLOCK, COMPLETE)
    assert all(found.would_show(other) for other in {ORDER, CLOCK, COMPLETE} - {premise})
    assert coverage().would_show(ORDER, CLOCK, COMPLETE)
    assert found.reasons == [why]


def test_reasons_name_each_silent_logger_once() -> None:
    silent = frozenset({LOG, PROCESS})
    found = coverage(
        runs=(Run(when(0), when(1), silent), Run(when(1), when(2), silent)),
        failed={CLOCK: said("coverage/steps-back", path="server.log", seconds=40)},
    )
    first, *loggers = map(text, found.reasons)
    assert first == "the times in server.log go back by 40 s"
    assert len(loggers) == 2
    assert all(
        f"{name} " in line and "broker 1" in line for name, line in zip(("kafka.log", "kafka.server.KafkaServer"), loggers, strict=True)
    )
    assert coverage(runs=(Run(when(0), when(1), frozenset({"unknown facet"})),)).reasons == []


def with_runs(*begins: float, failed: Sequence[float] = ()) -> Node:
    def run(at: float) -> BrokerRun:
        start = Event(source="", event="broker-starting", at=when(at))
        return BrokerRun(1, start, outcome="failed" if at in failed else "crashed")

    return Node(1, runs=[BrokerRun(1, None), *map(run, begins)], collections=[""])


def covered_runs(node: Node, printed: Mapping[str, Sequence[tuple[int, datetime | None]]], version: str | None = None) -> Sequence[Run]:
    found = cluster(source(printed=printed), one=replace(node, version=version))
    return log_coverage(1, found).runs


EVERYTHING = {facet: lines(2) for facet in FACETS}
TWICE = {facet: [*lines(2), *lines(2, 1000)] for facet in FACETS}
"""In a run before 500 s and in one after it."""


def silent(*facets: str, version: str | None = None) -> set[str]:
    """What counts as silent of a broker whose one run has lines of these facets."""
    (run,) = covered_runs(with_runs(), {facet: lines(2) for facet in facets}, version)
    return {*run.silent}


def test_facets_are_those_by_which_lines_are_counted() -> None:
    assert {LOG, PARTITION, REPLICA, FETCHER, PROCESS, STATE} <= {*FACETS}


def test_a_run_in_which_every_logger_prints() -> None:
    (run,) = covered_runs(with_runs(), EVERYTHING)
    assert run == Run(datetime.min, datetime.max, frozenset())
    assert covered_runs(with_runs(), {}) == (), "nothing is known of a run without lines"


def test_a_broker_that_takes_up_a_replica_has_loaded_or_created_its_log() -> None:
    assert silent(REPLICA, PARTITION, PROCESS, FETCHER, STATE) == {LOG}
    assert silent(REPLICA, PROCESS, STATE) == {LOG}
    first, second = covered_runs(with_runs(500), {**TWICE, LOG: lines(2)})
    assert [run.silent for run in (first, second)] == [set(), {LOG}]
    first, second = covered_runs(with_runs(500), {**TWICE, LOG: lines(2), REPLICA: lines(2)})
    assert [run.silent for run in (first, second)] == [set(), set()], "it took up none in the second run"


def test_a_broker_with_fetchers_has_replicas() -> None:
    """So that kafka.log or kafka.cluster.Partition prints; one of the two alone may have had nothing to print."""
    assert silent(PROCESS, FETCHER, STATE) == {LOG, PARTITION}
    assert silent(PROCESS, FETCHER, STATE, LOG) == set()
    assert silent(PROCESS, FETCHER, STATE, PARTITION) == set()


def test_a_broker_without_replicas() -> None:
    assert silent(PROCESS, STATE) == set()
    assert silent(PROCESS) == {STATE}


def test_a_log_that_begins_after_the_start_of_its_broker() -> None:
    """Then no line of the process need be there."""
    assert silent(LOG, PARTITION, REPLICA, FETCHER, STATE) == set()
    assert silent(LOG, STATE) == set()


def test_lines_that_somebody_chose() -> None:
    """Such as by grep: lines of neither kafka.log nor the process are among them, or what goes with a fetcher is missing."""
    assert silent(STATE) == {LOG, PROCESS}
    assert silent(PARTITION, STATE) == {LOG, PROCESS}
    assert silent(FETCHER, STATE) == {LOG, PROCESS, PARTITION}
    assert silent(LOG, FETCHER, STATE) == {PROCESS}


def test_the_state_change_log_may_be_missing() -> None:
    assert silent(*({*FACETS} - {STATE})) == {STATE}


@pytest.mark.parametrize(
    ("version", "found"), [("0.8.2.2", set()), ("0.9", {LOG, PARTITION}), ("0.9.0.1", {LOG, PARTITION}), (None, {LOG, PARTITION})]
)
def test_before_0_9_partitions_print_nothing_when_they_are_taken_up(version: str | None, found: set[str]) -> None:
    assert silent(PROCESS, FETCHER, STATE, version=version) == found


def test_lines_count_in_the_run_in_which_they_were_printed() -> None:
    """One at the time of a start is of that start."""
    at_start: list[tuple[int, datetime | None]] = [(99, when(500))]
    first, second = covered_runs(with_runs(500), {**TWICE, LOG: at_start})
    assert (first.end, second.begin) == (when(500), when(500))
    assert [run.silent for run in (first, second)] == [{LOG}, set()]
    untimed: list[tuple[int, datetime | None]] = [(1, None)]
    assert [run.silent for run in covered_runs(with_runs(500), {**TWICE, LOG: untimed})] == [set(), set()]


def test_a_start_that_failed_prints_little() -> None:
    printed = {facet: [*lines(2), *lines(2, 600), *lines(2, 1000)] for facet in FACETS}
    assert [run.begin for run in covered_runs(with_runs(500, 900, failed=(500,)), printed)] == [datetime.min, when(900)]


def test_lines_in_any_of_a_brokers_logs_count() -> None:
    one, other = (
        source(printed={STATE: lines(2)}, kind="state-change-log"),
        source(printed={f: lines(2) for f in FACETS if f != STATE}),
    )
    (run,) = log_coverage(1, cluster(one, other, one=with_runs())).runs
    assert run.silent == set()


# premises


def failed(*sources: Source, events: Sequence[Event] = ()) -> Mapping[str, str]:
    return {premise: text(why) for premise, why in log_coverage(1, cluster(*sources, events=events)).failed.items()}


def steps(count: int, seconds: int = 40) -> Sequence[tuple[int, datetime, datetime]]:
    return [(n, when(50), when(50) - timedelta(seconds=seconds)) for n in range(count)]


def test_a_log_of_which_nothing_is_wrong() -> None:
    assert failed(source(ascents=5, descents=5)) == {}


def test_lines_that_are_out_of_order() -> None:
    reason = {ORDER: "the lines of broker-1/server-log are not in the order of their time"}
    assert failed(source(ascents=4, descents=5)) == reason
    assert failed(source(ascents=50, steps_back=steps(MAX_CLOCK_STEPS + 1, 40))) == reason


def test_a_clock_that_stepped() -> None:
    assert failed(source(ascents=50, descents=1, steps_back=steps(1, 1800))) == {
        CLOCK: "the times in broker-1/server-log go back by 1800 s"
    }
    assert failed(source(ascents=50, steps_back=steps(MAX_CLOCK_STEPS, 1))).keys() == {CLOCK}


def test_lines_that_were_cut_or_not_read() -> None:
    assert failed(source(cut_at=200)) == {COMPLETE: "the lines of broker-1/server-log are cut at 200 characters"}
    assert failed(source(problem="truncated")) == {READ: "broker-1/server-log was not read completely (truncated)"}
    assert failed(source(problem="truncated", cut_at=200))[COMPLETE].endswith("cut at 200 characters")


def test_a_quiet_hour_of_a_log_was_not_filtered() -> None:
    quiet: dict[str, Any] = {"lines": 99, "informed": False, "common_words": ("GroupCoordinator",)}
    assert failed(source(**quiet))[COMPLETE] == "broker-1/server-log has no line of level INFO: its lines were filtered by level"
    rolled = source(path="broker-1/server-log.2026-11-21-08", **quiet)
    assert failed(source(lines=99), rolled) == {}
    assert failed(source(**quiet), rolled)[COMPLETE].startswith(
        "broker-1/server-log and 1 more file of this log have no line of level INFO"
    )


def test_a_state_change_log_of_any_name_was_not_filtered() -> None:
    alike: dict[str, Any] = {"kind": "stdout-log", "lines": 99, "informed": False, "common_words": ("Broker",)}
    assert COMPLETE in failed(source(**alike))
    assert COMPLETE not in failed(source(**alike, printed={"state": [(1, None)]}))


def test_lines_of_several_brokers_that_are_out_of_order_show_nothing_about_the_clock() -> None:
    reason = "brokers 1 and 2 write to broker-1/server-log, and its lines are up to 40 s out of order"
    assert failed(source(ascents=50, steps_back=steps(1), shared=(1, 2))) == {ORDER: reason}


def test_the_first_log_of_which_something_is_wrong_is_named() -> None:
    one, other = source(cut_at=200, steps_back=steps(9)), source(path="other", cut_at=300, steps_back=steps(9))
    assert all("broker-1/server-log" in reason for reason in failed(one, other).values())
    one, other = (
        source(steps_back=steps(1, 2)),
        source(path="other", steps_back=steps(1, 9)),
    )
    assert failed(one, other) == {CLOCK: "the times in broker-1/server-log go back by 2 s"}


@pytest.mark.parametrize("kind", ["hw-checkpoint", "server-properties"])
def test_files_that_are_no_logs_break_no_premise(kind: str) -> None:
    assert failed(source(kind=kind, cut_at=200, problem="truncated", steps_back=steps(9))) == {}


def test_what_is_wrong_with_the_controllers_log_of_a_broker_counts_too() -> None:
    assert failed(source(kind="controller-log", cut_at=200)).keys() == {COMPLETE}


# holes


def registered(epoch: int, broker: int = 1, writer: int = 1, kind: str = "broker-registered") -> Event:
    return Event(source="log", line=epoch, event=kind, broker=broker, writer=writer, broker_epoch=epoch, at=when(epoch))


@pytest.mark.parametrize("kind", ["broker-registered", "broker-epoch-known", "metadata-broker"])
def test_a_registration_that_the_brokers_own_log_does_not_show(kind: str) -> None:
    """Every start registers, with a higher broker epoch: the log has a hole where the line of this start would be."""
    found = failed(source(), events=[registered(5), registered(9, writer=100, kind=kind)])
    assert found == {COMPLETE: "broker 1 registered with broker epoch 9, and its own log does not show it"}


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([registered(5), registered(9), registered(9, writer=100)], id="shown"),
        pytest.param([registered(9), registered(5, writer=100)], id="before its log begins"),
        pytest.param([registered(5), registered(5, writer=100)], id="the same"),
        pytest.param([registered(9, writer=100)], id="a version that does not print its broker epoch"),
        pytest.param([registered(5), registered(9, broker=2, writer=100)], id="of another broker"),
        pytest.param([registered(5), registered(9, broker=2, writer=1)], id="of another broker, in its log"),
    ],
)
def test_registrations_that_show_no_hole(events: list[Event]) -> None:
    assert failed(source(), events=events) == {}


def test_a_registration_that_a_broker_prints_of_another_is_not_its_own() -> None:
    events = [registered(5), registered(9, writer=100), registered(9, broker=2, writer=1)]
    assert failed(source(), events=events).keys() == {COMPLETE}


def test_the_first_registration_that_is_missing_is_named() -> None:
    found = failed(source(), events=[registered(5), registered(9, writer=100), registered(7, writer=100)])
    assert "broker epoch 7" in found[COMPLETE]


def test_a_registration_between_two_that_the_log_shows() -> None:
    assert "broker epoch 7" in failed(source(), events=[registered(5), registered(7, writer=100), registered(9)])[COMPLETE]


def test_registrations_without_a_broker_epoch_show_nothing() -> None:
    """Before KIP-380 there was none."""
    assert failed(source(), events=[registered(5), replace_epoch(registered(9, writer=100), None)]) == {}
    assert failed(source(), events=[replace_epoch(registered(5), None), registered(9, writer=100)]) == {}


def replace_epoch(event: Event, epoch: int | None) -> Event:
    event.broker_epoch = epoch
    return event


def printed(*kinds: str, writer: int = 1, line: int | None = 1) -> list[Event]:
    return [Event(source="log", line=line, event=kind, writer=writer, at=when(n)) for n, kind in enumerate(kinds)]


@pytest.mark.parametrize("part", ["clean-start", "unclean-start", "broker-started", "controller-thread"])
def test_a_part_of_a_start_without_its_first_line(part: str) -> None:
    """Only a process that starts prints it, and the one before is up."""
    found = failed(source(), events=printed("broker-starting", "broker-started", part))
    assert found.keys() == {COMPLETE}
    assert "only a part of its start at 2026-11-21 01:53:02" in found[COMPLETE]


@pytest.mark.parametrize(
    "kinds",
    [
        pytest.param(("broker-starting", "clean-start", "controller-thread", "broker-started"), id="a whole start"),
        pytest.param(("broker-starting", "broker-started", "broker-starting", "clean-start", "broker-started"), id="two of them"),
        pytest.param(("clean-start", "broker-started"), id="the log begins within a start"),
        pytest.param(("broker-starting", "clean-start"), id="a start that was not completed"),
    ],
)
def test_whole_starts(kinds: tuple[str, ...]) -> None:
    assert failed(source(), events=printed(*kinds)) == {}


def test_only_lines_of_the_broker_itself_are_parts_of_its_start() -> None:
    others = [*printed("broker-started"), *printed("broker-started", writer=2), *printed("clean-start", line=None)]
    assert failed(source(), events=others) == {}


def test_registrations_are_named_before_parts_of_starts() -> None:
    events = [registered(5), registered(9, writer=100), *printed("broker-started", "broker-started")]
    assert "registered" in failed(source(), events=events)[COMPLETE]
    assert "cut" in failed(source(cut_at=90), events=events)[COMPLETE]


# what follows for a partition


@pytest.mark.parametrize(
    ("silent", "covered"), [(set(), True), ({LOG}, False), ({PROCESS}, False), ({PARTITION}, True), ({FETCHER, STATE}, True)]
)
def test_a_log_that_shows_what_a_broker_cut_off(silent: set[str], covered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found = cluster(source())
    known = replace(log_coverage(1, found), runs=(Run(when(10), when(20), frozenset(silent)),))
    monkeypatch.setattr("forensics.model.coverage.log_coverage.log_coverage", lambda *_: known)
    assert bool(would_show(1, found, LOG, PROCESS, READ)) is covered
    assert bool(would_show(1, found, LOG, PROCESS, READ, since=when(0))) is covered
    assert not would_show(1, found, LOG, PROCESS, READ, since=when(-1))


def missing(*kinds: str, reason: str | None = None) -> bool:
    timeline, _ = made(handed_over())
    timeline.replicas[1].events = [
        Event(source="", event=kind, writer=1, reason=reason if kind == "log-created" else None) for kind in kinds
    ]
    return not would_show(1, Cluster(), of=timeline)


def test_a_log_that_is_created_has_a_first_high_watermark() -> None:
    """The line about it is missing, and others may be."""
    assert missing("log-created")
    assert missing("log-created", "segment-roll")
    assert missing("log-created", "hw-missing", "log-created")
    for line in ("hw-missing", "hw-loaded"):
        assert not missing("log-created", line)
    assert not missing("segment-roll")
    assert not missing("log-created", reason="future"), "the copy of a move between directories"
    assert would_show(7, Cluster(), of=made(handed_over())[0])


def test_a_broker_whose_lines_would_be_there_in_their_place() -> None:
    timeline, known = made(handed_over())
    assert would_show(1, known, LOG, PROCESS, *PLACED, of=timeline)
    assert not would_show(1, known, LOG, *PLACED, since=when(-2), of=timeline)
    assert not would_show(7, known, LOG, *PLACED, of=timeline)
    for premise in ({"cut_at": 200}, {"descents": 9}, {"steps_back": steps(1)}):
        assert not would_show(1, cluster(source(**premise)), LOG, *PLACED, of=timeline)
    timeline, _ = made(handed_over())
    timeline.replicas[1].events = [Event(source="", event="log-created", writer=1)]
    assert not would_show(1, known, LOG, PROCESS, *PLACED, of=timeline)
    assert not isr_changes_observable(1, timeline, known)


def test_a_silent_run_counts_for_its_time() -> None:
    timeline, _ = made(handed_over())
    known = cluster(source(printed={**TWICE, LOG: lines(2, 1000)}), one=with_runs(500))
    assert not would_show(1, known, LOG, *PLACED, of=timeline)
    assert not would_show(1, known, LOG, *PLACED, until=when(400), of=timeline)
    assert would_show(1, known, LOG, *PLACED, since=when(600), of=timeline)


def test_isr_changes_of_a_leader_are_in_its_own_log() -> None:
    timeline, known = made(handed_over())
    assert isr_changes_observable(1, timeline, known)
    assert isr_changes_observable(1, timeline, known, when(0))
    assert not isr_changes_observable(1, timeline, known, when(-2))
    assert not isr_changes_observable(1, timeline, cluster(source(printed={FETCHER: lines(2), PROCESS: lines(2)})))
    assert isr_changes_observable(1, timeline, cluster(source(printed={**EVERYTHING, FETCHER: []})))
    assert not isr_changes_observable(1, timeline, cluster(source(ascents=1, descents=9)))
    assert not isr_changes_observable(1, timeline, cluster(source(steps_back=steps(1))))


def test_the_metadata_log_has_all_isr_changes() -> None:
    timeline, _ = made(handed_over())
    assert isr_changes_observable(3, timeline, cluster(source(100, "metadata-segment")))
    assert not isr_changes_observable(3, timeline, cluster(source(100)))


def test_without_its_log_the_changes_of_a_leader_are_those_that_are_in_evidence() -> None:
    s = handed_over()
    s.isr(2, 20, [2], 3)
    timeline, _ = made(s)
    none = cluster()
    assert isr_changes_observable(2, timeline, none)
    assert isr_changes_observable(2, timeline, none, when(20))
    assert not isr_changes_observable(2, timeline, none, when(19)), "changes before its line may be missing"
    assert not isr_changes_observable(1, timeline, none)


def test_leaders_whose_isr_changes_are_not_in_evidence() -> None:
    timeline, _ = made(handed_over())
    known = cluster(source(1))
    assert silent_leaders(timeline.states, timeline, known) == (2,)
    assert silent_leaders([*timeline.states, replace(timeline.states[-1], leader=-1)], timeline, known) == (2,)
    assert silent_leaders(timeline.states, timeline, cluster()) == (1, 2)
    assert silent_leaders([replace(timeline.states[0], leader=0)], timeline, known) == (0,), "0 is the id of a broker"


# findings


def finding(kind: str = "data-loss", severity: str = "critical", brokers: tuple[int, ...] = (1,), evidence: Sequence[str] = ()) -> Finding:
    quoted = tuple(Evidence(path, 1, 0, "text") for path in evidence)
    return Finding(kind=kind, severity=severity, confidence="certain", message="lost", evidence=quoted, brokers=brokers)


LINES = ("order",)
STEPPED = cluster(source(steps_back=steps(1, 40)), source(2, path="other"))


def test_a_finding_that_rests_on_lines_out_of_order_is_only_possible() -> None:
    found = weakened(finding(), LINES, STEPPED)
    assert (found.confidence, found.severity) == ("possible", "medium")
    assert words(found).explanation.endswith("This is only possible, because the times in broker-1/server-log go back by 40 s.")
    assert weakened(finding(severity="low"), LINES, STEPPED).severity == "low"


def test_lines_in_no_order_weaken_a_finding_as_well() -> None:
    assert weakened(finding(), LINES, cluster(source(descents=9))).confidence == "possible"


def test_a_finding_that_quotes_such_a_log_is_only_possible() -> None:
    assert weakened(finding(brokers=(2,), evidence=["broker-1/server-log"]), LINES, STEPPED).confidence == "possible"
    for other in (finding(brokers=(2,), evidence=["other"]), finding(brokers=()), finding(brokers=(3,), evidence=["elsewhere"])):
        assert weakened(other, LINES, STEPPED) is other


CAME_AFTER = (
    *("data-loss", "unclean-election", "hw-stuck", "hw-regression", "zombie-leader", "missed-epoch-change", "truncate-to-start"),
    *("empty-replica-joins", "log-wiped-at-load", "stale-isr-candidate", "offset-commit-loss", "transaction-marker-loss", "read-then-lost"),
    *("consumer-skip", "consumer-reset", "client-side-echo"),
    *("quorum-lost", "zookeeper-lost", "connection-failed", "log-dir-emptied", "stale-controller"),
)


def test_findings_of_what_came_after_what_rest_on_the_order_of_lines_or_their_times() -> None:
    assert all({"order", "time"} & {*rule_of(kind).rests_on} for kind in CAME_AFTER)


@pytest.mark.parametrize(("kind", "confidence"), [("hw-stuck", "possible"), ("evidence-conflict", "certain")])
def test_only_findings_that_rest_on_the_order_of_lines_are_weakened(kind: str, confidence: str) -> None:
    assert judging._weakened(finding(kind), rule_of(kind), STEPPED).confidence == confidence


@pytest.mark.parametrize("known", [{"cut_at": 200}, {}])
def test_a_finding_is_not_weakened_by_logs_whose_order_can_be_trusted(known: dict[str, Any]) -> None:
    claimed = finding()
    assert weakened(claimed, LINES, cluster(source(**known))) is claimed


def test_of_a_log_out_of_order_whose_clock_stepped_the_order_is_named() -> None:
    both = cluster(source(descents=9), source(path="other", steps_back=steps(1)))
    assert "not in the order of their time" in words(weakened(finding(), LINES, both)).explanation
    two = cluster(source(steps_back=steps(1, 2)), source(2, path="other", descents=9))
    assert "go back by 2 s" in words(weakened(finding(brokers=(2, 1)), LINES, two)).explanation, "the broker with the lower id"


def test_coverage_is_that_of_the_cluster_as_it_is() -> None:
    """One that a case makes anew is another."""
    assert log_coverage(1, cluster(source())).begin is not None
    assert log_coverage(1, cluster()).begin is None


def test_premises_of_both_leaders_are_in_the_table() -> None:
    s = handed_over()
    assert [r.premises for r in judge(s).rows] == [{}, {}, {}]
    for n in range(30):
        s.line(1, "server", 20 - n, "INFO [KafkaServer id=1] started (kafka.server.KafkaServer)")
    judged = judge(s)
    assert [{*r.premises} for r in judged.rows] == [{1}, {1}, set()]


# recorded logs in which something is missing


RESTARTED = "controller-failover-2.8.2-zk"
"""Brokers 1 and 2 were restarted; broker 3 leads alone for a while."""
BROKER_2, BROKER_3 = r"broker-2/logs/server\.log", r"broker-3/logs/server\.log"
STARTING = rb"\] INFO (?:\[KafkaServer id=\d\] )?starting \(kafka\.server\.KafkaServer\)"
REGISTERED = rb"Registered broker \d at path"
ALTERED = {
    "a logger at WARN": (at_warn(b"kafka.log"), BROKER_2, "kafka.log prints no INFO line in a run of broker 2", "unexplained_truncations"),
    "lines that were cut": (cut_lines(200), BROKER_2, "are cut at 200 characters", "unexplained_truncations"),
    "a registration that is missing": (
        without_lines(REGISTERED, 1),
        BROKER_2,
        "broker 2 registered with broker epoch",
        "unexplained_truncations",
    ),
    "half a start": (without_lines(STARTING, 1), BROKER_2, "only a part of its start", "unexplained_truncations"),
    "lines in no order": (shuffled_lines, BROKER_3, "are not in the order of their time", "sole_restart"),
    "a clock that was set back": (set_back(40, 0.7), BROKER_3, "go back by 40 s", "sole_restart"),
}


def test_a_recorded_partition_of_which_nothing_is_missing() -> None:
    judged = of_bundle(RESTARTED, "tasks-0")
    assert (judged.verdict, [r.premises for r in judged.rows if r.premises]) == ("intact", [])


@pytest.mark.parametrize(("change", "path", "words", "cell"), ALTERED.values(), ids=ALTERED)
def test_recorded_logs_in_which_something_is_missing_prove_less(change: Records, path: str, words: str, cell: str) -> None:
    judged = of_bundle(RESTARTED, "tasks-0", altered(shapes.bundle(RESTARTED), path, change))
    assert judged.verdict == "unknown"
    assert words in text(judged.why)
    assert cell in [left.cell for left in judged.decides]
    assert any(words in text(reason) for r in judged.rows for reason in r.premises.values())


def test_a_recorded_log_whose_lines_stand_in_the_reverse_order_is_read_the_right_way_round() -> None:
    judged = of_bundle(RESTARTED, "tasks-0", altered(shapes.bundle(RESTARTED), BROKER_3, reversed_lines))
    assert judged.verdict == "intact"


@pytest.mark.parametrize("logger", [b"kafka.network", b"kafka.coordinator", b"org.apache.zookeeper"])
def test_a_logger_of_which_no_premise_rests_may_print_nothing(logger: bytes) -> None:
    """The twin of the first of them: other loggers at WARN prove as much as before."""
    judged = of_bundle(RESTARTED, "tasks-0", altered(shapes.bundle(RESTARTED), BROKER_2, at_warn(logger)))
    assert judged.verdict == "intact"
