"""The spans in which the metadata quorum had no leader: what shows them, where they begin and end, and what only looks like one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import pytest

from forensics.exemplars import exemplars_of
from forensics.model.quorum.quorum import DOWN, SEARCHED, UNREACHED, NoLeader, first_without, voters, without_leader
from tests.support import local

EXEMPLARS = {e.name: e.files for e in exemplars_of("quorum-lost")}


def at(clock: str) -> datetime:
    return datetime.fromisoformat(f"2026-11-21 {clock}")


def spans(files: Mapping[str, bytes]) -> tuple[NoLeader, ...]:
    return without_leader(local.gathered(local.events_of_files(files))[0])


def only(name: str, *nodes: int) -> dict[str, bytes]:
    """An exemplar with the logs of these nodes only."""
    return {path: text for path, text in EXEMPLARS[name].items() if int(path.split("/")[0].partition("-")[2]) in nodes}


def test_two_that_are_down_and_one_that_searches_show_one_span() -> None:
    (span,) = spans(EXEMPLARS["two-killed"])
    assert (span.voters, span.gone, span.majority) == ((101, 102, 103), (101, 102), 2)
    assert span.shown_by == {DOWN, SEARCHED}
    assert span.latest <= at("02:10:00.300") and span.end == at("02:10:21.300")
    assert (span.epoch, span.leader, span.following) == (1, 101, 103)
    assert (span.searched, span.attempts) == (at("02:10:02"), 3), "the last of four got the votes"


def test_the_searching_one_alone_shows_less() -> None:
    (span,) = spans(only("two-killed", 103))
    assert span.shown_by == {SEARCHED}
    assert (span.gone, span.latest, span.end) == ((), at("02:10:02"), at("02:10:21.300"))
    (all_of_them,) = spans(EXEMPLARS["two-killed"])
    assert span.start <= all_of_them.start


def test_those_that_were_down_show_it_alone() -> None:
    (span,) = spans(only("two-stopped", 101, 102))
    assert (span.shown_by, span.gone, span.latest) == ({DOWN}, (101, 102), at("02:10:00.005"))
    assert spans(only("two-killed", 101, 102)) == (), "each may have run until just before it was started again"


def test_who_asks_in_vain_and_follows_the_dead_leader_has_found_none() -> None:
    (span,) = spans(EXEMPLARS["pre-vote"])
    assert (span.latest, span.end, span.attempts) == (at("02:10:02"), at("02:10:20.100"), 4)


def test_heartbeats_count_only_where_no_voter_says_more() -> None:
    (span,) = spans(EXEMPLARS["no-heartbeats"])
    assert span.shown_by == {UNREACHED} and span.leader is None
    leads = {path: text for path, text in EXEMPLARS["one-voter-cut-off"].items() if "controller-101" in path}
    assert spans({**EXEMPLARS["no-heartbeats"], **leads}) == ()


@pytest.mark.parametrize("name", ["rolling-restart", "one-voter-cut-off", "first-start", "one-broker-cut-off"])
def test_what_is_no_loss_of_the_quorum(name: str) -> None:
    assert spans(EXEMPLARS[name]) == ()


def test_voters_are_those_of_the_settings_else_of_a_role() -> None:
    assert voters(local.gathered(local.events_of_files(EXEMPLARS["two-killed"]))[0]) == (101, 102, 103)
    role = b"[2026-11-21 02:09:00,000] INFO [RaftManager id=1] Completed transition to Unattached(epoch=0, voters=[7, 8, 9], electionTimeoutMs=1) from null (org.apache.kafka.raft.QuorumState)\n"
    assert voters(local.gathered(local.events_of_files({"broker-1/logs/server.log": role}))[0]) == (7, 8, 9)


def test_when_a_leader_was_lost_first() -> None:
    cluster = local.gathered(local.events_of_files(EXEMPLARS["two-killed"]))[0]
    assert first_without(cluster, 101, at("02:05:00"), at("02:11:00")) == at("02:10:02")
    assert first_without(cluster, 101, at("02:05:00"), at("02:10:01")) is None
    assert first_without(cluster, 102, at("02:05:00"), at("02:11:00")) is None, "it did not lead"
