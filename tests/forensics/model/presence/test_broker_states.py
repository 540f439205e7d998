"""What nodes were doing over time agrees with itself, with what befell them, and with what partitions heard of them."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest

from forensics.model.presence.broker_states import CONTROLLER, DOWN, ENDED, FENCED, RECOVERING, STARTING, STOPPING, UNSTATED, UP, StateSpan
from forensics.views.document import Report
from tests.forensics.fleets import Fleet
from tests.forensics.staged import START, table
from tests.support import local, recorded

PROCESS = (UP, STARTING, RECOVERING, STOPPING, ENDED, DOWN)
"""A process is in one of them at a time."""


def fleet() -> Fleet:
    story = Fleet(5, 10)
    story.crash([2], 60, 90)
    story.stop(3, 200, 230)
    return story


@pytest.fixture(scope="module")
def report() -> Report:
    return local.report(table(fleet().files))


def states(report: Report, broker: int, *kinds: str) -> list[StateSpan]:
    return [s for s in report.states.get(broker, ()) if s.state in kinds]


def test_a_crash_and_a_stop_are_told_apart(report: Report) -> None:
    assert [s.state for s in states(report, 2, *PROCESS)] == [STARTING, UP, ENDED, DOWN, RECOVERING, UP]
    assert [s.state for s in states(report, 3, *PROCESS)] == [STARTING, UP, STOPPING, DOWN, STARTING, UP]
    assert [s.state for s in states(report, 4, *PROCESS)] == [STARTING, UP]
    ended, stopping = states(report, 2, ENDED)[0], states(report, 3, STOPPING)[0]
    died = START + timedelta(seconds=60)
    assert ended.start is not None and ended.end is not None and ended.start <= died + timedelta(seconds=2) and ended.end >= died
    assert stopping.start is not None and abs(stopping.start - START - timedelta(seconds=200)) < timedelta(seconds=2)


@pytest.mark.parametrize("name", ["last-replica-standing-3.9.1-kraft", "many-lives-2.1.1-zk", "zombie-leader-4.1.1-kraft"])
def test_spans_of_a_process_follow_each_other_and_have_evidence(name: str) -> None:
    report = recorded.report(name)
    for broker in report.cluster.nodes:
        own = states(report, broker, *PROCESS)
        for before, after in pairwise(own):
            assert before.end is not None and after.start is not None and before.end <= after.start, (broker, before, after)
        assert all(s.start is None or s.end is None or s.start <= s.end for s in report.states.get(broker, ()))
        assert all(s.evidence for s in own if s.state != UP)
    crashed = {f.brokers for f in report.findings if f.kind == "broker-crash" and f.confidence == "certain"}
    assert {(b,) for b in report.cluster.nodes if states(report, b, ENDED)} >= crashed


def test_who_lives_though_it_was_fenced_is_up_and_fenced() -> None:
    report = recorded.report("zombie-leader-4.1.1-kraft")
    (fenced,) = states(report, 1, FENCED)
    assert [s.state for s in states(report, 1, ENDED, DOWN)] == []
    assert any(s.start is not None and fenced.start is not None and s.start < fenced.start and s.end is None for s in states(report, 1, UP))


def test_one_controller_at_a_time(report: Report) -> None:
    spans = sorted((s for b in report.states for s in states(report, b, CONTROLLER)), key=lambda s: s.start or START)
    assert [s.broker for s in spans] == [1] and spans[0].end is None
    story = fleet()
    story.crash([1], 300, 330)
    spans = [s for own in local.report(table(story.files)).states.values() for s in own if s.state == CONTROLLER]
    assert len(spans) == 2 and all(
        a.end is not None and a.end <= b.start for a in spans for b in spans if b.start and a.start and a.start < b.start
    )


def test_without_its_logs_a_node_is_not_told_of() -> None:
    files = {path: text for path, text in fleet().files.items() if not path.startswith("broker-4/")}
    report = local.report(table(files))
    assert not states(report, 4, *PROCESS)
    assert {s.state for s in report.states[5]} >= {UP, UNSTATED}


def test_partitions_without_a_leader_are_counted_as_the_findings_tell() -> None:
    report = recorded.report("unclean-election-3.9.1-kraft")
    counts = report.document()["cluster"]["under_replication"]["offline"]
    hit = {(p.topic, p.partition) for f in report.findings if f.kind == "offline-partition" for p in f.places or (f,)}
    assert counts["peak"] == len(hit) == 5 and counts["steps"][-1]["offline"] == 0
