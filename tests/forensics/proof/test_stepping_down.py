"""When a leader that was replaced, and lived on, became a follower; and that it did so in the process in which it had led."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from forensics.model.events import Event
from forensics.proof.old_log import SteppedDown, became_follower, stepped_down
from forensics.thresholds import ORDINARY_HANDOVER
from tests.forensics.proof.staging import Evidence, Staged, begun, handed_over, made, when


def stepped(evidence: Evidence) -> SteppedDown | None:
    timeline, cluster = made(evidence)
    before, term = timeline.terms[:2]
    return stepped_down(before, term, timeline, cluster)


def follows(evidence: Evidence) -> bool:
    timeline, cluster = made(evidence)
    before, term = timeline.terms[:2]
    return became_follower(before, term, timeline, cluster) is not None


def test_a_leader_that_becomes_a_follower() -> None:
    assert stepped(handed_over(late=0.1)) == SteppedDown(1, when(10.1), timedelta(milliseconds=100), orderly=True)
    assert stepped(handed_over(late=30)) == SteppedDown(1, when(40), timedelta(seconds=30), orderly=True)


def test_a_leader_that_is_not_in_sync_any_more_was_given_up() -> None:
    found = stepped(handed_over(isr=[2]))
    assert found is not None
    assert not found.orderly


def stopping(seconds: float, line: str = "shutting down") -> Staged:
    s = handed_over(isr=[2], late=2)
    s.process(1, seconds, line)
    return s


@pytest.mark.parametrize(
    ("seconds", "line", "orderly"),
    [
        (9.5, "shutting down", True),
        (12, "shutting down", True),
        (12.1, "shutting down", False),
        (9.5, "Starting controlled shutdown", True),
        (12.1, "Starting controlled shutdown", False),
    ],
)
def test_a_leader_that_was_stopping_gave_way_in_an_orderly_way(seconds: float, line: str, orderly: bool) -> None:
    found = stepped(stopping(seconds, line))
    assert found is not None
    assert found.orderly is orderly


def test_one_of_two_processes_that_was_stopping_is_enough() -> None:
    s = handed_over(isr=[2], late=2)
    s.stops(1, 10.2)
    s.starts(1, 11.5)
    found = stepped(s)
    assert found is not None
    assert found.orderly


def test_a_leader_that_stays_does_not_step_down() -> None:
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.leads(1, 10, 1, 200, 200, [1], previous=0)
    s.follows(1, 20, 2, 200, 200, previous=1)
    assert stepped(s) is None


def test_a_leader_whose_log_does_not_show_it() -> None:
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.leads(2, 10, 1, 200, 200, [1, 2], previous=0)
    assert stepped(s) is None
    s.forget("broker-1/logs/state-change.log")
    s.forget("broker-1/logs/server.log")
    s.online(3, 0, 0, 1, [1, 2], 0)
    assert stepped(s) is None
    assert not follows(s)


def test_times_that_are_not_known() -> None:
    timeline, cluster = made(handed_over())
    before, term = timeline.terms
    assert stepped_down(before, replace(term, at=None), timeline, cluster) is None
    replica = timeline.replicas[1]
    replica.follower_starts = [replace(f, at=None) for f in replica.follower_starts]
    assert stepped_down(before, term, timeline, cluster) is None
    assert became_follower(before, term, timeline, cluster) is None


def test_only_a_line_of_the_next_leader_epoch_or_a_later_one_counts() -> None:
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.leads(2, 10, 1, 200, 200, [1, 2], previous=0)
    s.follows(1, 20, 4, 200, 200, previous=0)
    assert stepped(s) == SteppedDown(1, when(20), timedelta(seconds=10), orderly=True)
    timeline, cluster = made(s)
    before, term = timeline.terms[0], timeline.terms[1]
    assert became_follower(before, replace(term, epoch=5), timeline, cluster) is None
    assert became_follower(before, replace(term, epoch=4), timeline, cluster) is not None


# before 2.6 a broker prints the request, and follows when it has removed the fetchers


def started() -> Staged:
    """Both brokers, each with the whole of its start."""
    s = Staged()
    for broker in (1, 2):
        s.starts(broker, -5)
        s.runs(broker, -4)
    return s


def asked() -> Staged:
    s = started()
    s.receives(1, 0, 1, 0, [1, 2], 0)
    s.receives(2, 10, 2, 1, [1, 2], 1)
    s.receives(1, 10.2, 2, 1, [1, 2], 1)
    return s


def after_removal(*removed: float, writer: int = 1) -> SteppedDown:
    """With the times at which a broker removed fetchers."""
    timeline, cluster = made(asked())
    timeline.events += [Event(source="", event="fetcher-removed", writer=writer, at=when(seconds)) for seconds in removed]
    timeline._by_kind = None
    before, term = timeline.terms[:2]
    found = stepped_down(before, term, timeline, cluster)
    assert found is not None
    return found


def test_fetchers_that_are_removed_are_read_from_lines() -> None:
    s = asked()
    text = "INFO [ReplicaFetcherManager on broker 1] Removed fetcher for partitions Set(t-0) (kafka.server.ReplicaFetcherManager)"
    s.line(1, "server", 10.4, text)
    found = stepped(s)
    assert found is not None
    assert (found.at, found.late) == (when(10.4), timedelta(milliseconds=400))


@pytest.mark.parametrize(
    ("removed", "at"),
    [
        ((), 10.2),
        ((10.4,), 10.4),
        ((10.6, 10.4), 10.4),
        ((10.1, 10.5), 10.5),
        ((10.1,), 10.2),
        ((10.2, 10.5), 10.2),
        ((10.2 + ORDINARY_HANDOVER.total_seconds(),), 10.2 + ORDINARY_HANDOVER.total_seconds()),
        ((11.3,), 10.2),
    ],
)
def test_a_request_is_followed_when_its_fetchers_are_removed(removed: tuple[float, ...], at: float) -> None:
    found = after_removal(*removed)
    assert (found.at, found.late) == (when(at), when(at) - when(10))


def test_fetchers_of_another_broker_say_nothing() -> None:
    assert after_removal(10.4, writer=2).at == when(10.2)


def test_a_line_that_says_that_it_follows_is_when_it_does() -> None:
    """From 2.6 on; fetchers are removed a moment later."""
    s = handed_over()
    text = "INFO [ReplicaFetcherManager on broker 1] Removed fetcher for partitions Set(t-0) (kafka.server.ReplicaFetcherManager)"
    s.line(1, "server", 10.3, text)
    found = stepped(s)
    assert found is not None
    assert found.at == when(10.1)


# in the process in which it had led


@pytest.mark.parametrize(("previous", "same"), [(0, True), (-1, False)])
def test_a_process_that_was_just_started_knows_of_no_leader_epoch(previous: int, same: bool) -> None:
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.leads(2, 10, 1, 200, 200, [1, 2], previous=0)
    s.follows(1, 20, 1, 200, 200, previous=previous)
    assert follows(s) is same
    assert (stepped(s) is not None) is same


def asked_after(*, starts: float | None = None, loads: float | None = None, offset: int = 200) -> Staged:
    """Requests carry no epoch of before: only other lines show whether it is still the same process."""
    s = started()
    s.receives(1, 0, 1, 0, [1, 2], 0)
    if starts is not None:
        s.starts(1, starts)
    if loads is not None:
        s.loads(1, loads, offset, unclean=False)
    s.receives(2, 10, 2, 1, [1, 2], 1)
    s.receives(1, 20, 2, 1, [1, 2], 1)
    return s


@pytest.mark.parametrize(
    ("story", "same"),
    [
        pytest.param(asked_after(), True, id="ran on"),
        pytest.param(asked_after(starts=0), True, id="started as it began to lead"),
        pytest.param(asked_after(starts=15), False, id="started"),
        pytest.param(asked_after(starts=25), True, id="started later"),
        pytest.param(asked_after(starts=20), False, id="started at that time"),
        pytest.param(asked_after(loads=15), False, id="loaded its log"),
        pytest.param(asked_after(loads=15, offset=0), False, id="loaded an empty log that it had led"),
        pytest.param(asked_after(loads=25), True, id="loaded its log later"),
    ],
)
def test_lines_of_a_restart_in_between(story: Staged, same: bool) -> None:
    assert follows(story) is same


@pytest.mark.parametrize(("offset", "same"), [(0, True), (200, False)])
def test_a_log_that_is_loaded_after_the_election(offset: int, same: bool) -> None:
    """Up to 0.10 an empty log is loaded as it is created, which is when its broker hears that it leads; one with records is that of a restart."""
    s = started()
    s.online(3, -0.5, 0, 1, [1, 2], 0)
    s.loads(1, -0.1, offset, unclean=False)
    s.receives(1, 0, 1, 0, [1, 2], 0)
    s.receives(2, 10, 2, 1, [1, 2], 1)
    s.receives(1, 20, 2, 1, [1, 2], 1)
    timeline, _ = made(s)
    assert timeline.terms[0].at == when(-0.5)
    assert follows(s) is same


def test_a_log_in_which_a_start_may_be_missing() -> None:
    """Of the process that follows no start is in evidence, so the one that led need not be the same."""
    s = asked_after()
    s.forget("broker-1/logs/server.log")
    assert not follows(s)
    s.runs(1, 5)
    assert not follows(s), "its log begins after it had led"


@pytest.mark.parametrize(("epoch", "at", "same"), [(9, 15, False), (9, 25, True)])
def test_a_registration_that_others_saw_in_between(epoch: int, at: float, same: bool) -> None:
    timeline, cluster = made(asked_after())
    registered = Event(source="metadata", event="metadata-broker", broker=1, broker_epoch=epoch, at=when(at))
    cluster.events = sorted([*cluster.events, registered], key=lambda e: e.at or when(0))
    before, term = timeline.terms[:2]
    assert (became_follower(before, term, timeline, cluster) is not None) is same


def test_a_registration_in_zookeeper_need_not_be_of_another_process() -> None:
    """A broker whose session expired registers again."""
    timeline, cluster = made(asked_after())
    again = Event(source="controller", event="broker-registered", broker=1, broker_epoch=9, writer=3, at=when(15))
    cluster.events = sorted([*cluster.events, again], key=lambda e: e.at or when(0))
    before, term = timeline.terms[:2]
    assert became_follower(before, term, timeline, cluster) is not None


def test_its_own_registration_when_it_began_to_lead_is_that_of_its_process() -> None:
    timeline, cluster = made(asked_after())
    registered = Event(source="metadata", event="metadata-broker", broker=1, broker_epoch=9, at=when(0))
    cluster.events = sorted([*cluster.events, registered], key=lambda e: e.at or when(0))
    before, term = timeline.terms[:2]
    assert became_follower(before, term, timeline, cluster) is not None
    assert became_follower(replace(before, at=None), term, timeline, cluster) is not None


def test_lines_without_a_time_may_lie_in_between() -> None:
    timeline, cluster = made(asked_after(loads=25))
    before, term = timeline.terms[:2]
    replica = timeline.replicas[1]
    replica.loads = [replace(load, at=None) for load in replica.loads]
    assert became_follower(before, term, timeline, cluster) is None
