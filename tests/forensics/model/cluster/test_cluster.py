"""Lives of broker processes: crashes, orderly stops, KRaft's starting lines, markers; and effective settings."""

from __future__ import annotations

import pickle
from datetime import datetime, timedelta
from typing import Any

import pytest

from forensics.model.cluster.facts import Cluster, recreated_topics
from forensics.model.events import Event
from forensics.model.presence.availability import CONTROLLED, KILLED, Availability, BrokerRun, broker_runs
from tests.support import local, recorded

NOON = datetime(2026, 11, 21, 12)


def lived(*kinds: str | tuple[str, dict[str, Any]]) -> list[BrokerRun]:
    """Lives from kinds of events a second apart."""
    stated = [k if isinstance(k, tuple) else (k, {}) for k in kinds]
    events = [
        Event(**{"event": k, "line": i + 1, "at": NOON + timedelta(seconds=i), "writer": 1, "source": "server.log", **f})
        for i, (k, f) in enumerate(stated)
    ]
    return broker_runs(1, events)


def outcomes(found: list[BrokerRun]) -> list[str]:
    return [run.outcome for run in found]


STARTING = ("broker-state", {"reason": "STARTING"})


def test_start_after_no_stop_is_a_crash_that_the_start_tells() -> None:
    crashed, running = lived("broker-starting", "broker-started", "broker-starting", "broker-started")
    assert outcomes([crashed, running]) == ["crashed", "running"]
    assert crashed.end is running.begin
    assert crashed.last_seen is not None and crashed.last_seen.event == "broker-started"


def test_orderly_stop_ends_at_its_own_line() -> None:
    stopped, running = lived("broker-starting", "broker-started", "broker-stopping", "broker-stopped", "broker-starting")
    assert outcomes([stopped, running]) == ["stopped", "running"]
    assert stopped.end_at == NOON + timedelta(seconds=3)
    assert stopped.stopping is not None and stopped.stopping.at == NOON + timedelta(seconds=2)


def test_stop_that_did_not_complete_is_a_crash() -> None:
    assert outcomes(lived("broker-starting", "broker-started", "broker-stopping", "broker-starting")) == ["crashed", "running"]


HANDED_OVER = ("controlled-shutdown", {"reason": "done"})


@pytest.mark.parametrize(
    ("then", "how"),
    [
        (("broker-started", {}), CONTROLLED),
        (("unclean-start", {}), KILLED),
        (("unclean-start", {"cluster": 1}), CONTROLLED),
        (("unclean-start", {"count": 0}), CONTROLLED),
    ],
)
def test_stop_that_handed_over_and_whose_end_is_missing(then: tuple[str, dict[str, Any]], how: str) -> None:
    events = lived("broker-starting", "broker-started", "broker-stopping", HANDED_OVER, "broker-starting", then)
    assert outcomes(events) == ["crashed", "running"]  # its logs may not have been closed
    assert [a.how for a in Availability(1, events, {}, ()).outages] == [how]


def test_halt_over_its_disks_ends_a_life_at_its_own_line_until_the_next_start_is_known() -> None:
    halt = ("fatal-error", {"reason": "log-dir"})
    (halted,) = lived("broker-starting", "broker-started", halt)
    assert (halted.outcome, halted.end_at) == ("crashed", NOON + timedelta(seconds=2))
    first, second = lived("broker-starting", "broker-started", halt, "broker-starting", "broker-started")
    assert (first.outcome, first.end, second.outcome) == ("crashed", second.begin, "running")
    assert first.halted is not None and first.last_seen is first.halted


LOCKED = ("fatal-error", {"reason": "locked"})


def test_start_that_finds_the_directories_locked_is_no_life_and_ends_none() -> None:
    (run,) = lived("broker-starting", "broker-started", "broker-starting", LOCKED, "broker-stopping", "broker-stopped")
    assert (run.outcome, run.end, run.stopping) == ("running", None, None)
    assert len(run.evidence) == 1


def test_what_a_broker_does_after_another_process_was_locked_out_is_its_own() -> None:
    (run,) = lived("broker-starting", "broker-started", "broker-starting", LOCKED, "broker-stopped", "broker-stopping", "broker-stopped")
    assert (run.outcome, run.end_at) == ("stopped", NOON + timedelta(seconds=6))


def test_process_that_was_locked_out_says_twice_that_it_shuts_down() -> None:
    again = ("broker-stopping", {"at": NOON + timedelta(seconds=5, milliseconds=3)})
    events = lived("broker-starting", "broker-started", "broker-starting", LOCKED, "broker-stopping", "broker-stopped", again)
    assert [(run.outcome, run.stopping) for run in events] == [("running", None)]


def test_first_line_may_be_of_a_process_that_is_locked_out() -> None:
    (run,) = lived("broker-starting", LOCKED, "broker-stopped", "broker-starting", "broker-started")
    assert (run.outcome, run.begin_at) == ("running", NOON + timedelta(seconds=3))


TAKEN = (
    "fatal-error",
    {"reason": "process", "key": "org.apache.zookeeper.KeeperException$NodeExistsException: KeeperErrorCode = NodeExists"},
)
GIVES_UP = ("broker-starting", TAKEN, "broker-stopping", "broker-stopped")


def test_a_second_process_whose_broker_id_is_taken_is_neither_a_start_nor_a_stop() -> None:
    (running,) = lived("broker-starting", "broker-started", *GIVES_UP, *GIVES_UP)
    assert (running.outcome, running.end, running.stopping) == ("running", None, None)
    assert running.last_seen is not None and running.last_seen.at == NOON + timedelta(seconds=1)
    (stopped,) = lived("broker-starting", "broker-started", *GIVES_UP, "broker-stopping", "broker-stopped")
    assert (stopped.outcome, stopped.end_at) == ("stopped", NOON + timedelta(seconds=7))
    crashed, again = lived("broker-starting", "broker-started", *GIVES_UP, "broker-starting", "broker-started")
    assert (crashed.outcome, crashed.end, again.outcome) == ("crashed", again.begin, "running")


def test_a_process_that_finds_the_log_directories_free_shows_that_the_one_before_had_ended() -> None:
    found = ("unclean-start", {"directory": "/data", "count": 3})
    first = lived("broker-starting", found, "broker-started", "broker-starting", found, *GIVES_UP[1:])
    assert outcomes(first) == ["crashed", "failed"]
    elsewhere = ("unclean-start", {"directory": "/other", "count": 3})
    assert outcomes(lived("broker-starting", found, "broker-started", "broker-starting", elsewhere, *GIVES_UP[1:])) == ["running"]


def test_lines_long_after_a_stop_are_of_a_process_whose_start_is_not_in_the_log() -> None:
    later = [(k, {"at": NOON + timedelta(minutes=9, seconds=s)}) for s, k in enumerate(("broker-stopping", "broker-stopped"))]
    stopped, unseen = lived("broker-starting", "broker-started", "broker-stopping", "broker-stopped", *later)
    assert (stopped.outcome, stopped.end_at) == ("stopped", NOON + timedelta(seconds=3))
    assert (unseen.begin, unseen.outcome, unseen.end_at) == (None, "stopped", NOON + timedelta(minutes=9, seconds=1))


def test_log_that_begins_in_the_middle_has_a_life_without_beginning() -> None:
    first, second = lived("broker-stopping", "broker-stopped", "broker-starting")
    assert (first.begin, first.begin_at, first.outcome) == (None, None, "stopped")
    assert second.begin_at == NOON + timedelta(seconds=2)


def test_kraft_announces_its_start_twice_and_lives_once() -> None:
    (run,) = lived(STARTING, "broker-starting", STARTING, "broker-started")
    assert run.outcome == "running"
    assert run.begin_at == NOON
    assert len([e for e in run.evidence if e.event in ("broker-starting", "broker-state")]) == 2


def test_kraft_life_cycle_after_the_starting_line_is_no_new_life() -> None:
    assert len(lived("broker-starting", STARTING, "broker-started")) == 1


def test_kraft_crash_is_one_crash() -> None:
    start = (STARTING, "broker-starting", STARTING, "broker-started")
    assert outcomes(lived(*start, *start)) == ["crashed", "running"]


def test_crash_during_the_start_is_a_life() -> None:
    assert outcomes(lived("broker-starting", "broker-starting", "broker-started")) == ["crashed", "running"]


def test_marker_of_a_clean_stop_overrules() -> None:
    stopped, running = lived("broker-starting", "broker-started", "broker-starting", "clean-start", "broker-started")
    assert outcomes([stopped, running]) == ["stopped", "running"]
    assert stopped.end is not None and stopped.end.event == "clean-start"


def test_a_process_that_ended_before_it_named_itself_prints_no_last_line_of_the_run_before() -> None:
    """An invalid setting ends Kafka before it prints that it starts: the broker crashed before these lines."""
    ended = ("process-starting", ("fatal-error", {"reason": "process"}), ("last-line", {"at": NOON + timedelta(seconds=3)}))
    crashed, _ = lived("broker-starting", "broker-started", *ended, *ended, "process-starting", "broker-starting")
    assert crashed.outcome == "crashed"
    assert crashed.last_seen is not None and crashed.last_seen.event == "broker-started"
    assert crashed.followed is not None and crashed.followed.at == NOON + timedelta(seconds=2)


def test_a_marker_that_a_failed_start_left_says_nothing_about_the_process_before_it() -> None:
    """Up to 2.8 at least, a start that fails marks the logs as closed cleanly that it was about to load (KafkaServer#shutdown)."""
    dirty, clean = ("unclean-start", {"directory": "/data", "count": 3}), ("clean-start", {"directory": "/data"})
    found = lived("broker-starting", dirty, "broker-started", "broker-starting", dirty, *GIVES_UP[1:], "broker-starting", clean)
    assert outcomes(found) == ["crashed", "failed", "running"]


def test_marker_counts_in_a_directory_that_holds_no_logs() -> None:
    assert outcomes(lived("broker-starting", "broker-started", "broker-starting", ("clean-start", {"count": 0}))) == ["stopped", "running"]


def test_missing_marker_is_evidence_of_the_crash() -> None:
    crashed, _ = lived("broker-starting", "broker-started", "broker-starting", ("unclean-start", {"count": 3}))
    assert crashed.outcome == "crashed"
    assert crashed.evidence[-1].event == "unclean-start"


def test_metadata_a_broker_copied_is_no_sign_of_life() -> None:
    started = Event(event="broker-started", line=1, at=NOON, writer=1)
    copied = Event(event="metadata-broker-change", at=NOON + timedelta(hours=1), writer=1)
    (run,) = broker_runs(1, [started, copied])
    assert run.last_seen is started


def test_controlled_shutdown_is_kept_with_its_last_word() -> None:
    events = [("controlled-shutdown", {"reason": r}) for r in ("start", "retry", "done")]
    (run,) = lived("broker-started", *events, "broker-stopped")
    assert run.controlled is not None and run.controlled.reason == "done"


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("rolling-restart-2.8.2-zk", "stopped"),
        ("rolling-restart-3.9.1-kraft", "stopped"),
        ("unclean-election-0.10.2.2-zk", "crashed"),
        ("last-replica-standing-3.9.1-kraft", "crashed"),
    ],
)
def test_lives_of_real_brokers(name: str, outcome: str) -> None:
    cluster, _ = local.gathered(recorded.events(name))
    assert {n.id: outcomes(n.runs) for n in cluster.nodes.values() if n.broker} == {b: [outcome, "running"] for b in (1, 2, 3)}


def test_deletions_of_topics_with_their_times() -> None:
    events = [Event(event=k, topic="t", at=NOON) for k in ("topic-deletion", "metadata-topic-removed", "topic-created")]
    assert recreated_topics(events) == {"t": [NOON, NOON]}


def test_clusters_that_followed_each_other_travel_however_many_they_were() -> None:
    runs = [Cluster(number) for number in range(-999, 1)]
    for cluster in runs:
        cluster.whole = runs
    assert [run.number for run in pickle.loads(pickle.dumps(runs[-1])).clusters_until_now] == list(range(-999, 1))
