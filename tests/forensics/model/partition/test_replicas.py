"""One replica's walk: what its log held, with which certainty, and where records left it."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.model.events import Event
from forensics.model.partition.replicas import Removal, Replica, disk, history
from tests.support import local
from tests.support.shapes import File, Files, bundle

NOON = datetime(2026, 11, 21, 12)
Checked = tuple[str, dict[str, Any]]


def walked(*stated: Checked, broker: int = 1, confirms: bool | None = None) -> Replica:
    """A replica's history from (kind, fields), a second apart."""
    return history(
        broker,
        [
            Event(event=k, source="server.log", line=i + 1, at=NOON + timedelta(seconds=i), writer=broker, topic="t", partition=0, **f)
            for i, (k, f) in enumerate(stated)
        ],
        lambda _: confirms,
    )


def leads(epoch: int, end: int, previous: int | None = None) -> Checked:
    return "leader-start", {"leader_epoch": epoch, "log_end_offset": end, "high_watermark": 0, "previous_leader_epoch": previous}


def follows(epoch: int, end: int, previous: int | None = None) -> Checked:
    return "follower-start", {"leader_epoch": epoch, "log_end_offset": end, "high_watermark": 0, "previous_leader_epoch": previous}


def follows_at(epoch: int) -> Checked:
    """Told to follow; no line says where the log ended then."""
    return "partition-state", {"reason": "received", "leader_epoch": epoch, "leader": 2}


def loads(end: int) -> Checked:
    return "log-load", {"log_end_offset": end}


def ranges(replica: Replica) -> list[tuple[int, int, bool, str]]:
    return [(r.start, r.end, r.exact, r.cause) for r in replica.removals]


def only(replica: Replica) -> Removal:
    (removal,) = replica.removals
    return removal


# restarts


def test_log_that_loads_shorter_than_it_was_lost_its_tail() -> None:
    removal = only(walked(leads(3, 100), ("isr-shrink", {"log_end_offset": 170, "high_watermark": 150, "isr": [1]}), loads(160)))
    assert (removal.start, removal.end, removal.cause, removal.exact) == (160, 170, "restart", False)
    assert (removal.epoch, removal.under_epoch) == (3, 3)
    assert [e.event for e in removal.evidence] == ["isr-shrink", "log-load"]


def test_recovery_without_a_load_is_told_apart_and_makes_no_later_load_unclean() -> None:
    replica = walked(leads(3, 100), ("log-recovery", {}), follows(4, 100, previous=-1), loads(100))
    assert [(epoch, e.event) for epoch, e in replica.recovered] == [(3, "log-recovery")]
    assert [load.unclean for load in replica.loads] == [False]
    assert walked(leads(3, 100), ("log-recovery", {}), loads(100)).recovered == []


@pytest.mark.parametrize("back", [[loads(90)], [follows(4, 90, previous=-1)], [("log-created", {})]])
def test_what_a_follower_had_when_it_began_to_follow_is_of_earlier_epochs(back: list[Checked]) -> None:
    """The line about the cut that every follower makes then may be missing: what it lost later is still not of the new leader."""
    removal = only(walked(leads(3, 50), follows(4, 170, previous=3), ("fetcher-added", {"leader_epoch": 4}), *back))
    assert (removal.end, removal.epoch, removal.under_epoch) == (170, 3, 4)


def test_what_a_follower_is_seen_to_have_later_may_be_of_the_new_leader() -> None:
    rolled = ("segment-roll", {"offset": 200})
    removal = only(walked(leads(3, 50), follows(4, 170, previous=3), ("fetcher-added", {"leader_epoch": 4}), rolled, loads(90)))
    assert (removal.end, removal.epoch) == (200, 4)


def test_a_leader_change_received_before_the_log_is_loaded_says_nothing_of_its_records() -> None:
    """A broker whose disk was replaced creates the log when it handles its first request, which names the next leader."""
    rolled = "segment-roll", {"offset": 200}
    removal = only(walked(leads(5, 170), rolled, follows_at(6), loads(0), ("log-created", {})))
    assert (removal.end, removal.epoch, removal.under_epoch) == (200, 5, 6)


@pytest.mark.parametrize("end", [170, 171, 900])
def test_log_that_loads_as_long_or_longer_lost_nothing(end: int) -> None:
    replica = walked(leads(3, 100), ("segment-roll", {"offset": 170}), loads(end))
    assert (replica.removals, replica.log_end_offset) == ([], end)


def test_recovery_is_told_with_the_load_it_precedes_and_no_later_one() -> None:
    replica = walked(("log-recovery", {}), loads(10), loads(10))
    assert [(load.unclean, load.cut) for load in replica.loads] == [(True, False), (False, False)]


def test_corruption_that_recovery_cut_is_told_and_that_of_a_file_read_now_is_not() -> None:
    assert [load.cut for load in walked(("log-corruption", {}), loads(10)).loads] == [True]
    assert [load.cut for load in walked(("log-corruption", {"pattern": "segment"}), loads(10)).loads] == [False]


def test_start_line_of_a_new_process_below_what_the_log_held_is_a_restart() -> None:
    assert ranges(walked(leads(1, 100), ("segment-roll", {"offset": 200}), follows(2, 150, previous=-1))) == [(150, 200, False, "restart")]


def test_start_line_of_the_same_process_below_is_no_restart() -> None:
    assert walked(leads(1, 100), ("segment-roll", {"offset": 200}), follows(2, 150, previous=1)).removals == []


# truncations


def test_truncation_of_an_end_that_is_known_is_exact() -> None:
    removal = only(walked(leads(0, 0), follows(1, 170), ("truncation-plan", {"reason": "leader-epoch"}), ("truncation", {"offset": 156})))
    assert (removal.start, removal.end, removal.exact, removal.cause) == (156, 170, True, "leader-epoch")
    assert (removal.epoch, removal.under_epoch) == (0, 1)


def test_truncation_of_a_log_that_was_growing_is_a_lower_bound() -> None:
    replica = walked(leads(0, 0), ("segment-roll", {"offset": 170}), ("truncation", {"offset": 156}))
    assert ranges(replica) == [(156, 170, False, "truncation")]


def test_fetching_follower_may_have_grown() -> None:
    events = ("fetcher-added", {"offset": 170, "broker": 2}), ("fetcher-removed", {}), ("truncation", {"offset": 156})
    assert ranges(walked(follows(1, 170), *events)) == [(156, 170, False, "truncation")]


def test_truncation_that_changes_nothing_removes_nothing_and_tells_the_end() -> None:
    replica = walked(
        follows(1, 170), ("truncation-plan", {"reason": "leader-epoch"}), ("truncation-noop", {"offset": 170, "log_end_offset": 170})
    )
    assert replica.removals == []
    assert [(o.offset, o.bound) for o in replica.observations if o.event.event == "truncation-noop"] == [(170, "exact")]


def test_plan_counts_for_one_truncation_only() -> None:
    plan, cut = ("truncation-plan", {"reason": "high-watermark"}), ("truncation", {"offset": 150})
    replica = walked(follows(1, 170), plan, cut, ("segment-roll", {"offset": 160}), cut)
    assert [r.cause for r in replica.removals] == ["high-watermark", "truncation"]


@pytest.mark.parametrize("offset", [170, 171])
def test_truncation_at_or_above_the_end_removes_nothing(offset: int) -> None:
    assert walked(follows(1, 170), ("truncation", {"offset": offset})).removals == []


@pytest.mark.parametrize("before", [[], [leads(0, 100)]], ids=["nothing known", "known to have reached less"])
def test_a_cut_of_a_log_of_unknown_end_removes_one_record_for_sure_where_the_line_says_it_was_longer(before: list[Checked]) -> None:
    said = ("truncation", {"offset": 150, "reason": "longer"})
    replica = walked(*before, follows_at(1), said)
    assert [(r.start, r.end, r.exact, r.epoch) for r in replica.removals] == [(150, 151, False, 0 if before else None)]
    assert [e.event for e in only(replica).evidence] == ["truncation"]
    assert replica.log_end_offset == 150


def test_a_plan_for_another_offset_is_of_another_cut() -> None:
    plan, cut = ("truncation-plan", {"reason": "high-watermark", "offset": 0}), ("truncation", {"offset": 150})
    assert only(walked(follows(1, 170), plan, cut)).cause == "truncation"


@pytest.mark.parametrize(
    "stated",
    [
        [follows(1, 106, previous=0), ("fetcher-added", {"leader_epoch": 1}), ("truncation", {"offset": 133, "reason": "longer"})],
        [leads(1, 0), ("segment-roll", {"offset": 134}), ("truncation", {"offset": 133})],
        [follows(0, 0), follows(2, 134, previous=1), ("truncation", {"offset": 133})],
    ],
    ids=["a follower that had grown", "a leader", "a follower that says what it knew"],
)
def test_what_was_cut_is_of_the_epoch_it_lived_under_where_lines_of_later_ones_are_missing(stated: list[Checked]) -> None:
    removal = only(walked(*stated))
    assert (removal.start, removal.end, removal.epoch) == (133, 134, 1)
    assert removal.under_epoch == (2 if follows(2, 134, previous=1) in stated else None)


def test_a_high_watermark_that_falls_tells_nothing_of_the_epoch_before() -> None:
    replica = walked(follows(1, 170), ("hw-regression", {"previous_offset": 170, "high_watermark": 150}))
    assert [o.offset for o in replica.observations if o.quantity == "high-watermark"] == [0]


def test_a_cut_up_to_0_11_may_have_removed_nothing() -> None:
    assert walked(leads(0, 100), follows_at(1), ("truncation", {"offset": 150})).removals == []


# creation


def test_log_created_over_a_known_one_is_empty() -> None:
    assert ranges(walked(starts_at(0), leads(1, 170), ("log-created", {}))) == [(0, 170, False, "empty")]


def test_of_a_log_whose_start_no_line_gives_only_what_was_appended_since_was_surely_there() -> None:
    """Retention may have deleted what was below before the first line that is in the evidence."""
    assert ranges(walked(leads(1, 170), ("log-created", {}))) == []
    grown = leads(1, 170), ("segment-roll", {"offset": 200})
    assert ranges(walked(*grown, ("log-created", {}))) == [(170, 200, False, "empty")]
    assert [(r.start, r.end) for r in walked(*grown, ("log-deleted", {})).deleted_logs] == [(170, 200)]
    assert ranges(walked(leads(1, 170), ("log-load", {"log_end_offset": 150}))) == [(150, 170, False, "restart")]


def starts_at(offset: int) -> Checked:
    return "log-start-move", {"log_start_offset": offset}


def test_what_retention_had_deleted_was_not_in_the_log_that_was_created_again() -> None:
    assert ranges(walked(leads(1, 170), starts_at(120), ("log-created", {}))) == [(120, 170, False, "empty")]
    assert ranges(walked(leads(1, 170), starts_at(170), ("log-created", {}))) == []
    loaded = "log-load", {"log_end_offset": 290, "log_start_offset": 290}
    assert ranges(walked(loaded, ("log-created", {}))) == []


def test_where_a_log_begins_after_a_deletion_is_unknown_without_the_line_that_says_it() -> None:
    begun = (("log-created", {}), leads(0, 0), ("segment-roll", {"offset": 290}))
    deleted: Checked = ("segment-delete", {"offset": 0, "reason": "retention-time"})
    assert ranges(walked(*begun, ("log-created", {}))) == [(0, 290, False, "empty")]
    assert ranges(walked(*begun, deleted, ("log-created", {}))) == []
    assert ranges(walked(*begun, deleted, starts_at(100), ("log-created", {}))) == [(100, 290, False, "empty")]
    later: tuple[Checked, ...] = (("segment-roll", {"offset": 400}), ("segment-roll", {"offset": 500}))
    assert ranges(walked(*begun, deleted, *later, ("log-created", {}))) == [(400, 500, False, "empty")]
    assert ranges(walked(*begun, ("segment-delete", {"reason": "truncation"}), ("log-created", {}))) == [(0, 290, False, "empty")]


def test_a_log_that_was_created_again_begins_at_0() -> None:
    again = walked(leads(1, 170), starts_at(120), ("log-created", {}), ("segment-roll", {"offset": 40}), ("log-created", {}))
    assert [(r.start, r.end) for r in again.removals] == [(120, 170), (0, 40)]


def test_a_follower_that_was_reset_to_the_leaders_log_start_has_nothing_below() -> None:
    reset = "fetch-offset-reset", {"reason": "start", "previous_offset": 100, "offset": 500}
    replica = walked(follows(1, 100), reset, ("segment-roll", {"offset": 540}), ("log-created", {}))
    assert [(r.start, r.end) for r in replica.removals] == [(500, 540)]


def test_log_created_first_is_no_removal() -> None:
    replica = walked(("log-created", {}), leads(0, 0))
    assert (replica.removals, replica.log_end_offset) == ([], 0)


def test_log_that_was_deleted_is_created_anew_without_loss() -> None:
    assert walked(leads(1, 170), ("log-deleted", {}), ("log-created", {})).removals == []


def test_restarted_leader_whose_log_was_not_seen_before_ends_where_the_load_says() -> None:
    """Its older lines were rotated away; only a log that is created is loaded while its broker leads, with nothing in it."""
    replica = walked(("partition-state", {"reason": "received", "leader": 1, "leader_epoch": 0, "isr": [1]}), loads(4))
    assert (replica.log_end_offset, replica.ends_there) == (4, True)


def test_follower_that_creates_its_log_twice_had_lost_it() -> None:
    """What a follower fetches is printed nowhere: that its log held anything is for others to say."""
    replica = walked(("log-created", {}), follows(4, 0), ("fetcher-added", {"offset": 0}), ("log-created", {}), leads(6, 0))
    assert (replica.removals, [epoch for epoch, _ in replica.recreated]) == ([], [4])


@pytest.mark.parametrize("stated", [[("log-created", {})], [follows(4, 9), ("log-deleted", {}), ("log-created", {})]])
def test_log_that_is_created_in_order_was_not_lost(stated: list[Checked]) -> None:
    assert walked(*stated, leads(6, 0)).recreated == []


def test_high_watermark_that_is_read_after_the_first_request_of_a_life_is_of_the_one_before() -> None:
    asked = "partition-state", {"reason": "received", "leader": 2, "leader_epoch": 3, "isr": [2]}
    replica = walked(follows(1, 0), ("log-load", {"log_end_offset": 200}), asked, ("hw-loaded", {"high_watermark": 190}))
    assert [(o.offset, o.epoch) for o in replica.observations if o.event.event == "hw-loaded"] == [(190, 1)]


def test_log_that_was_deleted_is_remembered_as_far_as_it_reached() -> None:
    replica = walked(starts_at(0), leads(3, 100), ("segment-roll", {"offset": 170}), ("log-deleted", {}))
    (gone,) = replica.deleted_logs
    assert (gone.start, gone.end, gone.exact, gone.cause, gone.epoch) == (0, 170, False, "deleted", 3)
    assert [e.event for e in gone.evidence] == ["segment-roll", "log-deleted"]


def test_log_that_is_loaded_after_it_was_put_aside_as_stray_ends_where_it_says() -> None:
    """KRaft finds a stray while it loads the log: the line of the load comes after the renaming."""
    load = "log-load", {"log_end_offset": 386, "log_start_offset": 0}
    replica = walked(leads(3, 100), ("producer-snapshot", {"offset": 386}), ("log-deleted", {"reason": "stray"}), load)
    assert replica.reach is not None and replica.reach.quantity == "log-end-offset"
    assert (replica.reach.offset, replica.ends_there) == (386, True)
    assert [gone.cause for gone in replica.deleted_logs] == ["stray"]


def test_end_of_a_log_that_may_have_grown_is_no_end() -> None:
    assert walked(follows(1, 170)).ends_there
    assert not walked(follows(1, 170), ("fetcher-added", {"offset": 170})).ends_there
    assert not walked(leads(1, 170)).ends_there


def test_log_of_old_kafka_is_loaded_when_it_is_created() -> None:
    assert walked(loads(0), ("log-created", {})).loads == []


# checkpoints of an earlier collection


@pytest.mark.parametrize("saved", [("hw-checkpoint", {"offset": 170}), ("segment", {"offset": 0, "log_end_offset": 170})])
def test_a_file_of_an_earlier_collection_shows_the_least_that_the_log_had(saved: Checked) -> None:
    """It may have had more when it was saved, and a power loss may have taken it."""
    removal = only(walked(leads(0, 100), saved, loads(120)))
    assert (removal.start, removal.end, removal.exact) == (120, 170, False)


def test_checkpoint_below_what_is_known_takes_nothing_back() -> None:
    replica = walked(leads(0, 100), ("segment-roll", {"offset": 200}), ("hw-checkpoint", {"offset": 170}))
    assert replica.log_end_offset == 200


# terms and ISR


def test_leader_that_restarts_within_its_epoch_begins_another_term() -> None:
    replica = walked(leads(4, 10), loads(10), leads(4, 10, previous=-1))
    assert [(s.epoch, s.restart) for s in replica.leader_starts] == [(4, False), (4, True)]


def test_same_start_line_again_is_the_same_term() -> None:
    assert len(walked(leads(4, 10), leads(4, 12, previous=4)).leader_starts) == 1


def test_request_then_start_line_is_one_start_with_the_lines_offset() -> None:
    asked = ("partition-state", {"reason": "received", "leader": 1, "leader_epoch": 2, "isr": [1, 2]})
    (start,) = walked(asked, leads(2, 55)).leader_starts
    assert (start.offset, start.exact, start.event.event) == (55, True, "leader-start")


def test_follower_by_request_lives_under_the_leaders_epoch() -> None:
    replica = walked(loads(40), ("partition-state", {"reason": "received", "leader": 2, "leader_epoch": 5, "isr": [2]}))
    assert (replica.epoch, [(f.epoch, f.offset) for f in replica.follower_starts]) == (5, [(5, 40)])


def test_request_of_an_old_controller_is_left_out() -> None:
    replica = walked(follows(5, 40), ("partition-state", {"reason": "received", "leader": 1, "leader_epoch": 3, "isr": [1]}))
    assert (replica.epoch, replica.leader_starts) == (5, [])


# resets of the fetch offset


RESET: Checked = ("fetch-offset-reset", {"reason": "latest", "previous_offset": 290, "offset": 276})
CUT: Checked = ("truncation", {"offset": 276})


def shape(r: Removal) -> tuple[int, int, bool, str, int | None, int | None]:
    return (r.start, r.end, r.exact, r.cause, r.epoch, r.under_epoch)


def test_reset_to_the_leaders_log_end_is_a_removal_by_itself() -> None:
    removal = only(replica := walked(leads(1, 0), follows_at(2), RESET))
    assert shape(removal) == (276, 290, True, "latest", 1, 2)
    assert [e.event for e in removal.evidence] == ["fetch-offset-reset"]
    assert (replica.log_end_offset, replica.ends_there) == (276, False)


def test_reset_and_the_cut_that_follows_are_one_removal() -> None:
    removal = only(walked(leads(1, 0), follows_at(2), RESET, CUT))
    assert shape(removal) == (276, 290, True, "latest", 1, 2)
    assert [e.event for e in removal.evidence] == ["fetch-offset-reset", "truncation"]


def test_cut_to_another_offset_is_another_removal() -> None:
    replica = walked(leads(1, 0), follows_at(2), RESET, ("segment-roll", {"offset": 280}), ("truncation", {"offset": 270}))
    assert ranges(replica) == [(276, 290, True, "latest"), (270, 280, False, "truncation")]


def test_up_to_0_8_2_the_cut_comes_before_the_reset_that_names_the_new_end_alone() -> None:
    reset: Checked = ("fetch-offset-reset", {"reason": "latest", "previous_offset": 276, "offset": 276})
    removal = only(walked(leads(1, 0), follows_at(2), ("segment-roll", {"offset": 290}), CUT, reset))
    assert shape(removal) == (276, 290, False, "latest", 1, 2)


@pytest.mark.parametrize("previous", [276, None], ids=["0.8.2", "0.8.1"])
def test_up_to_0_8_2_a_reset_without_its_cut_proves_one_record_and_the_failed_fetch_proves_the_end(previous: int | None) -> None:
    events = leads(1, 0), follows_at(2), ("fetch-offset-reset", {"reason": "latest", "previous_offset": previous, "offset": 276})
    assert shape(only(walked(*events))) == (276, 277, False, "latest", 1, 2)
    error: Checked = ("fetch-error", {"reason": "OFFSET_OUT_OF_RANGE", "previous_offset": 290, "offset": 276})
    removal = only(walked(*events, error))
    assert shape(removal) == (276, 290, True, "latest", 1, 2)
    assert [e.event for e in removal.evidence] == ["fetch-error", "fetch-offset-reset"]


def test_failed_fetch_that_was_not_out_of_range_says_nothing_of_the_end() -> None:
    events = leads(1, 0), follows_at(2), ("fetch-offset-reset", {"reason": "latest", "previous_offset": 276, "offset": 276})
    assert only(walked(*events, ("fetch-error", {"reason": "NOT_LEADER_FOR_PARTITION", "previous_offset": 290, "offset": 276}))).end == 277


@pytest.mark.parametrize(("previous", "offset", "end"), [(298, 500, 500), (298, 0, 298)], ids=["the log is behind", "the log is kept"])
def test_reset_to_the_leaders_log_start_cuts_only_a_log_that_ends_below_it(previous: int, offset: int, end: int) -> None:
    reset: Checked = ("fetch-offset-reset", {"reason": "start", "previous_offset": previous, "offset": offset})
    replica = walked(follows(1, 100), reset)
    assert (replica.removals, replica.log_end_offset) == ([], end)


@pytest.mark.parametrize(
    "name", ["unclean-election-0.10.2.2-zk", "hw-truncation-0.10.2.2-zk", "unclean-election-0.8.2.2-zk", "wiped-zookeeper-1.1.1-zk"]
)
@pytest.mark.parametrize(
    "kept", [rb"WARN|ERROR|state\.change\.logger|kafka\.controller", rb"ISR|isr|[Ll]eader"], ids=["kafka.log at WARN", "grep"]
)
def test_real_resets_tell_the_same_removal_without_the_lines_of_the_log(name: str, kept: bytes) -> None:
    whole, part = resets(bundle(name)), resets(kept_lines(bundle(name), kept))
    assert whole and whole.keys() == part.keys()
    for place, removed in part.items():
        (start, end, exact), of_whole = removed, whole[place]
        assert start == of_whole[0] and end <= of_whole[1]
        assert (end, exact) == of_whole[1:] or (name == "unclean-election-0.8.2.2-zk" and not exact)


def resets(files: Files) -> dict[tuple[str, int], tuple[int, int, bool]]:
    """Removals by a reset of the fetch offset, by partition and broker."""
    table = local.events_of_files({path: file.content for path, file in files.items()})
    found = {}
    for timeline, _ in local.timelines(table):
        for broker, replica in timeline.replicas.items():
            for r in replica.removals:
                if r.cause == "latest":
                    assert (timeline.name, broker) not in found
                    found[timeline.name, broker] = (r.start, r.end, r.exact)
    return found


def kept_lines(files: Files, kept: bytes) -> Files:
    """Logs with the lines that match; other files as they are."""

    def lines(file: File) -> File:
        return File(b"".join(line for line in file.content.splitlines(True) if re.search(kept, line)), file.modified)

    return {path: lines(file) if "/logs/" in path else file for path, file in files.items()}


def test_log_of_a_follower_whose_fetching_is_not_in_evidence_has_no_exact_end() -> None:
    refused: Checked = ("become-refused", {"reason": "leader-unavailable"})
    replica = walked(
        follows_at(0),
        ("log-created", {}),
        follows_at(2),
        refused,
        ("partition-state", {"reason": "received", "leader_epoch": 3, "leader": 1}),
    )
    assert [(s.epoch, s.offset, s.exact) for s in replica.leader_starts] == [(3, 0, False)]


# epochs of what was cut


STOP: Checked = ("fetcher-removed", {})
ANSWER: Checked = ("truncation-plan", {"reason": "leader-epoch", "leader_epoch": 1, "offset": 247})


def fetches(offset: int) -> Checked:
    return "fetcher-added", {"offset": offset, "broker": 2}


def follows_in_log(epoch: int, offset: int) -> list[Checked]:
    """As before 2.6: a request, the fetcher that is replaced."""
    return [follows_at(epoch), STOP, fetches(offset)]


HEARD = {
    "its log ends where it ended when it heard of the epoch": [
        follows(1, 200),
        STOP,
        fetches(200),
        follows(2, 290),
        loads(290),
        follows(3, 290),
    ],
    "its fetcher was removed and not added": [*follows_in_log(1, 200), follows_at(2), STOP, loads(290), follows_at(3)],
    "it heard of two": [*follows_in_log(1, 200), follows_at(2), STOP, loads(290), follows_at(3), STOP, follows_at(4)],
}
FETCHED = {
    "it fetched in the epoch": [follows(1, 200), STOP, fetches(200), follows(2, 247), STOP, fetches(247), loads(290), follows(3, 290)],
    "its log grew": [follows(1, 200), STOP, fetches(200), follows(2, 247), loads(290), follows(3, 290)],
    "no line shows that it did not": [*follows_in_log(1, 200), follows_at(2), loads(290), follows_at(3)],
    "it was cut to the same end": [
        follows(1, 200),
        STOP,
        fetches(200),
        follows(2, 290),
        ("truncation", {"offset": 240}),
        loads(290),
        follows(3, 290),
    ],
    "a start line tells of another epoch": [*follows_in_log(0, 200), follows_at(1), STOP, follows(3, 290, previous=2)],
    "no fetchers are in evidence": [follows(1, 200), follows(2, 290), loads(290), follows(3, 290)],
}


@pytest.mark.parametrize("stated", HEARD.values(), ids=HEARD)
def test_epoch_that_a_follower_only_heard_of_has_no_records_in_its_log(stated: list[Checked]) -> None:
    replica = walked(*stated, fetches(290), ANSWER, ("truncation", {"offset": 247}))
    assert [(r.start, r.end, r.epoch, r.under_epoch) for r in replica.removals][-1] == (247, 290, 1, 4 if follows_at(4) in stated else 3)


@pytest.mark.parametrize("stated", FETCHED.values(), ids=FETCHED)
def test_epoch_in_which_a_follower_may_have_fetched_dates_its_records(stated: list[Checked]) -> None:
    added = [fetches(290)] if any(kind == "fetcher-added" for kind, _ in stated) else []
    replica = walked(*stated, *added, ANSWER, ("truncation", {"offset": 247}))
    assert [(r.end, r.epoch, r.under_epoch) for r in replica.removals][-1] == (290, 2, 3)


SHRINK: Checked = ("isr-shrink", {"isr": [1], "previous_isr": [1, 2]})
EXPAND: Checked = ("isr-expand", {"isr": [1, 2], "previous_isr": [1]})


def test_intent_that_is_refused_is_not_counted() -> None:
    replica = walked(leads(2, 0), SHRINK, ("isr-rejected", {}))
    assert (replica.isr_updates, [e.event for e in replica.rejected]) == ([], ["isr-rejected"])


def test_intent_stands_when_nothing_refuses_it() -> None:
    assert [(u.epoch, u.isr) for u in walked(leads(2, 0), SHRINK, EXPAND).isr_updates] == [(2, (1,)), (2, (1, 2))]


def test_refusal_takes_only_the_intent_before_it() -> None:
    assert [u.isr for u in walked(leads(2, 0), SHRINK, EXPAND, ("isr-rejected", {})).isr_updates] == [(1,)]


def test_update_that_is_printed_counts_in_place_of_the_intent() -> None:
    replica = walked(leads(2, 0), SHRINK, ("isr-update", {"isr": [1], "partition_epoch": 7}), EXPAND)
    assert [(u.isr, u.event.event) for u in replica.isr_updates if u.confirmed] == [((1,), "isr-update")]


@pytest.mark.parametrize(("confirms", "confirmed"), [(True, [True, False]), (None, [True, None]), (False, [True, None])])
def test_intent_is_confirmed_by_the_next_that_begins_with_it(confirms: bool | None, confirmed: list[bool | None]) -> None:
    assert [u.confirmed for u in walked(leads(2, 0), SHRINK, EXPAND, confirms=confirms).isr_updates] == confirmed


# disks and anything else


def test_disk_is_what_its_files_say() -> None:
    stated = [
        Event(event="hw-checkpoint", offset=80, source="data/replication-offset-checkpoint"),
        Event(event="segment", offset=50, log_end_offset=90, batches=[{"leader_epoch": 3}], source="data/t-0/50.log"),
        Event(event="segment", offset=0, log_end_offset=50, batches=[{"leader_epoch": -1}], source="data/t-0/0.log"),
        Event(event="epoch-entry", leader_epoch=1, offset=0, source="data/t-0/leader-epoch-checkpoint"),
        Event(event="partition-metadata", topic_id="id", source="data/t-0/partition.metadata"),
    ]
    found = disk(1, "top", stated)
    assert (found.log_end_offset, found.last_epoch, found.epochs, found.topic_id) == (90, 3, [(1, 0)], "id")
    assert [s.offset for s in found.segments] == [0, 50]
    assert found.high_watermark is stated[0]
    assert found.end_event() is stated[1]
    assert (found.directory, found.state) == ("data/t-0", None)


KINDS = (
    "log-load",
    "leader-start",
    "follower-start",
    "truncation",
    "truncation-noop",
    "segment-roll",
    "log-created",
    "fetcher-added",
    "hw-checkpoint",
)
NUMBERS = st.one_of(st.none(), st.integers(-1, 9))
FACTS = st.fixed_dictionaries({"offset": NUMBERS, "log_end_offset": NUMBERS, "leader_epoch": NUMBERS, "previous_leader_epoch": NUMBERS})


@given(st.lists(st.tuples(st.sampled_from(KINDS), FACTS), max_size=12))
@settings(max_examples=200)
def test_any_history_removes_only_what_was_there(stated: list[Checked]) -> None:
    replica = walked(*stated)
    reached = max((o.offset for o in replica.observations if o.quantity == "log-end-offset"), default=0)
    for removal in replica.removals:
        assert removal.start < removal.end <= reached
        assert removal.evidence
