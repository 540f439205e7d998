"""Zone and error of a broker's clock from its files, from other machines' words, and when they are not believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.model.clock.clocks import DAY_MS, Clock, Relation, Subject, combined, estimate
from forensics.model.clock.comparisons import LEADERSHIPS, RELATING, FileSpans, relations
from forensics.model.clock.zones import (
    MINUTE_MS,
    NOISE_MS,
    ZONES,
    ClockEvidence,
    ClockOffset,
    Jump,
    PrintedUtc,
    ZoneChange,
    ZoneStep,
    anchor,
    changes,
    changes_in,
    floor,
    in_zone,
    nearest_zone,
    offset_changes,
    steps,
)
from forensics.model.events import Event

NOON = datetime(2026, 11, 21, 12)
HOUR_MS = 60 * MINUTE_MS
MTIME_UTC = ClockOffset(0, 2_000, "mtime")


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def witness(written: float, ahead: float, later: float = 0) -> ClockEvidence:
    """A log whose last line was written `written` seconds after noon by a clock so far ahead; touched `later` seconds after."""
    return ClockEvidence(after(written + ahead), after(written + later))


# one machine's files


def test_nothing_to_go_by_tells_nothing() -> None:
    assert anchor([]) is None
    assert anchor([ClockEvidence(NOON, None), ClockEvidence(None, NOON)]) is None


@pytest.mark.parametrize("minutes", [0, 60, 330, 345, -210, 765, -720])
def test_zone_shows_in_one_file(minutes: int) -> None:
    assert anchor([witness(0, minutes * 60)]) == ClockOffset(minutes * MINUTE_MS, 2_000, "mtime")


@pytest.mark.parametrize(("minutes", "zone"), [(0, "UTC"), (330, "UTC+05:30"), (-210, "UTC-03:30")])
def test_zone_as_people_write_it(minutes: int, zone: str) -> None:
    assert Clock(minutes).zone == zone


def test_whole_seconds_of_archives_do_no_harm() -> None:
    assert anchor([ClockEvidence(NOON + timedelta(hours=1, milliseconds=999), NOON)]) == ClockOffset(HOUR_MS, 2_000, "mtime")


def test_error_is_believed_when_files_of_different_times_agree() -> None:
    found = anchor([witness(0, 95), witness(40, 95.5)])
    assert found is not None
    assert found.offset_ms == 95_500


def test_error_on_top_of_a_zone() -> None:
    found = anchor([witness(0, 7200 + 20), witness(40, 7200 + 20)])
    assert found is not None
    clock = Clock.at_offset(found.offset_ms)
    assert (clock.zone, clock.skew_ms) == ("UTC+02:00", 20_000)


@pytest.mark.parametrize(
    "witnesses",
    [[witness(0, 95)], [witness(0, 95), witness(0, 95)], [witness(0, 95), witness(40, 300)]],
    ids=["one file", "one modification time", "files that disagree"],
)
def test_error_is_not_believed_else(witnesses: list[ClockEvidence]) -> None:
    assert anchor(witnesses) is None


def test_modification_times_of_a_copy_are_not_believed() -> None:
    copied = NOON + timedelta(hours=5, minutes=7)
    assert anchor([ClockEvidence(after(s), copied) for s in (0, 60, 130)]) is None


def test_modification_times_of_a_copy_near_a_zone_are_not_believed() -> None:
    copied = NOON + timedelta(hours=5, seconds=150)
    assert anchor([ClockEvidence(after(s), copied) for s in (0, 60, 130)]) is None


def test_copy_is_later_than_the_last_line() -> None:
    assert floor([ClockEvidence(after(s), after(600)) for s in (0, 60, 130)]) == -470_000
    assert floor([]) is None


def test_one_old_time_among_touched_files_counts() -> None:
    found = anchor([witness(0, 3600), witness(10, 3600, later=400), witness(20, 3600, later=5000)])
    assert found == ClockOffset(HOUR_MS, 2_000, "mtime")


def test_near_a_zone_is_the_zone_less_surely() -> None:
    assert anchor([witness(0, 3600 - 20)]) == ClockOffset(HOUR_MS, 30_000, "mtime")


def test_file_written_months_after_its_last_line_is_in_no_zone() -> None:
    assert anchor([ClockEvidence(NOON, NOON + timedelta(days=90))]) is None


def test_stamps_of_a_container_overrule_modification_times() -> None:
    stamped = ClockEvidence(after(7200.3), after(500), wall_minus_utc_ms=7_200_004)
    assert anchor([stamped, witness(0, 3600)]) == ClockOffset(2 * HOUR_MS, 2_000, "container")


@given(st.integers(-12 * 60 * MINUTE_MS, 14 * 60 * MINUTE_MS))
@settings(max_examples=100)
def test_zone_and_error_are_the_offset(offset: int) -> None:
    clock = Clock.at_offset(offset)
    assert clock.zone_minutes * MINUTE_MS + clock.skew_ms == clock.offset_ms == offset
    assert clock.zone_minutes in ZONES
    assert abs(clock.skew_ms) <= 30 * MINUTE_MS


@given(st.permutations([witness(0, 95), witness(40, 95), witness(50, 95, later=30), witness(3, 95, later=800)]))
@settings(max_examples=24)
def test_order_of_the_files_is_nothing(witnesses: list[ClockEvidence]) -> None:
    assert anchor(witnesses) == ClockOffset(95_000, 2_000, "mtime")


# machines against each other


def relation(one: int, two: int, best: int, width: int = 50, faces: tuple[str, str] = ("wall", "wall")) -> Relation:
    return Relation(Subject(one, faces[0]), Subject(two, faces[1]), best, best - width, best + width)


def test_one_clock_against_two_that_agree_is_wrong() -> None:
    found = estimate(dict.fromkeys((1, 2, 3), MTIME_UTC), [relation(1, 2, 10), relation(1, 3, 300_000)])
    assert {n: (c.zone_minutes, c.skew_ms, c.disputed) for n, c in found.items()} == {
        1: (0, 0, False),
        2: (0, 0, False),
        3: (0, 300_000, False),
    }
    assert (found[3].uncertainty_ms, found[3].basis, found[3].compared, found[3].files_ms) == (50, "mtime+events", (1,), 300_000)


def test_wrong_clock_that_all_others_were_compared_with() -> None:
    found = estimate(dict.fromkeys((1, 2, 3), MTIME_UTC), [relation(1, 2, 300_000), relation(1, 3, 300_020)])
    assert {n: round(c.skew_ms / 1000) for n, c in found.items()} == {1: -300, 2: 0, 3: 0}


def test_two_clocks_that_differ_are_in_dispute() -> None:
    found = estimate(dict.fromkeys((1, 2), MTIME_UTC), [relation(1, 2, 300_000)])
    assert all(c.disputed for c in found.values())
    assert min(c.uncertainty_ms or 0 for c in found.values()) >= 300_000


def test_files_on_a_right_clock_settle_a_dispute() -> None:
    """The file system's clock was another one than the process's."""
    found = estimate({1: MTIME_UTC, 2: ClockOffset(300_000, 2_000, "mtime")}, [relation(1, 2, 299_900)])
    assert {n: (c.skew_ms, c.disputed, c.files_ms) for n, c in found.items()} == {1: (0, False, 0), 2: (300_000, False, 0)}


def test_metadata_log_tells_zones_that_no_file_tells() -> None:
    active = relation(100, 100, 3 * HOUR_MS, NOISE_MS, ("utc", "wall"))
    broker = relation(100, 1, -8 * HOUR_MS + 20, 60, ("utc", "wall"))
    found = estimate({}, [active, broker])
    assert {n: (c.zone, c.skew_ms, c.basis) for n, c in found.items()} == {
        100: ("UTC+03:00", 0, "metadata"),
        1: ("UTC-08:00", 0, "metadata"),
    }


@pytest.mark.parametrize("days", [-29, -1, 1])
def test_dates_of_lines_that_differ_from_those_of_records_are_moved(days: int) -> None:
    """No zone explains a day. What a redaction did to all lines outvotes no record."""
    found = estimate({}, [relation(100, n, days * DAY_MS + HOUR_MS, faces=("utc", "wall")) for n in (1, 2, 3)])
    assert {(c.zone, c.skew_ms, c.days, c.offset_ms) for n, c in found.items() if n != 100} == {
        ("UTC+01:00", 0, days, days * DAY_MS + HOUR_MS)
    }


def test_controller_without_lines_has_the_clock_of_its_records() -> None:
    found = estimate(dict.fromkeys((1, 2, 3), MTIME_UTC), [relation(100, n, 300_000, faces=("utc", "wall")) for n in (1, 2, 3)])
    assert {n: (c.skew_ms, c.stamps_ms) for n, c in found.items()} == {1: (0, 0), 2: (0, 0), 3: (0, 0), 100: (0, -300_000)}


def test_without_any_zone_the_clocks_are_set_against_each_other() -> None:
    found = estimate({}, [relation(1, 2, 330 * MINUTE_MS), relation(1, 3, -8 * HOUR_MS)], nodes=[4])
    assert {n: c.zone for n, c in found.items()} == {1: "UTC", 2: "UTC+05:30", 3: "UTC-08:00", 4: "UTC"}
    assert {c.uncertainty_ms for c in found.values()} == {None}


def test_line_later_than_its_copy_shows_a_zone_ahead() -> None:
    found = estimate({}, nodes=[1], floors={1: 12 * HOUR_MS + 50 * MINUTE_MS})
    assert (found[1].zone, found[1].basis) == ("UTC+13:00", "copy")


def test_clock_nothing_is_known_of_is_in_the_zone_all_others_share() -> None:
    shared = ClockOffset(330 * MINUTE_MS, 2_000, "mtime")
    assert estimate({1: shared, 2: shared}, nodes=[3])[3] == Clock(330, basis="fleet")
    assert estimate({1: shared, 2: MTIME_UTC}, nodes=[3])[3] == Clock()


def test_comparisons_of_the_same_clocks_narrow_each_other() -> None:
    one, two = (Relation(Subject(1), Subject(2), b, low, high) for b, low, high in ((5, 0, 100), (40, 30, 60)))
    both = combined([one, two])
    assert (both.best, both.low, both.high) == (40, 30, 60), "the closer one is believed"


def test_comparisons_that_contradict_each_other_move_nothing() -> None:
    """Clock 2 was set in between; clocks 1 and 3 are compared without a contradiction."""
    one, two = (relation(1, 2, b) for b in (0, 90_000))
    both = combined([replace(one, evidence=(event("broker-started", 1, 0),)), replace(two, evidence=(event("broker-stopping", 2, 9),))])
    assert (both.conflict, [e.event for e in both.evidence]) == (True, ["broker-stopping", "broker-started"])
    found = estimate(dict.fromkeys((1, 2, 3), MTIME_UTC), [both, relation(1, 3, 300_000)])
    assert [(found[n].skew_ms, len(found[n].conflict)) for n in (2, 3)] == [(0, 2), (300_000, 0)]


@pytest.mark.parametrize(("third", "conflict"), [(300_000, False), (0, True)])
def test_a_ring_of_comparisons_that_cannot_all_hold_moves_nothing(third: int, conflict: bool) -> None:
    ring = [relation(1, 2, 0), relation(2, 3, 300_000), relation(1, 3, third)]
    found = estimate(dict.fromkeys((1, 2, 3), MTIME_UTC), [replace(r, evidence=(event("broker-started", 1, 0),)) for r in ring])
    assert [found[n].skew_ms for n in (1, 2, 3)] == ([0, 0, 0] if conflict else [0, 0, 300_000])
    assert all(bool(c.conflict) is conflict for c in found.values())


def test_comparisons_that_contradict_each_other_widen_the_bounds() -> None:
    both = combined([relation(1, 2, 0, 10), relation(1, 2, 500, 10)])
    assert (both.low, both.high, both.uncertainty_ms) == (0, 500, 500)


@given(
    st.lists(st.sampled_from(ZONES), min_size=3, max_size=6),
    st.lists(st.integers(-40, 40), min_size=6, max_size=6),
    st.integers(0, 5),
    st.sampled_from([-300_000, 0, 300_000]),
)
@settings(max_examples=100)
def test_estimate_is_right_within_what_it_says(zones: Sequence[int], noise: Sequence[int], wrong: int, error: int) -> None:
    wrong %= len(zones)
    true = {n: z * MINUTE_MS + (error if n == wrong else 0) for n, z in enumerate(zones)}
    ring = [relation(n, n + 1, true[n + 1] - true[n] + noise[n]) for n in range(len(zones) - 1)]
    found = estimate({n: ClockOffset(z * MINUTE_MS, 2_000, "mtime") for n, z in enumerate(zones)}, ring)
    for node, clock in found.items():
        assert clock.uncertainty_ms is not None
        assert abs(clock.offset_ms - true[node]) <= max(clock.uncertainty_ms, NOISE_MS)
        assert clock.zone_minutes == zones[node]


# events of one cause


def event(kind: str, writer: int, seconds: float, *, line: int | None = 1, **fields: object) -> Event:
    return Event(event=kind, writer=writer, at=after(seconds), line=line, source=f"{writer}", **fields)


def shutdown(broker: int, controller: int, ahead: float) -> list[Event]:
    return [
        event("controlled-shutdown", broker, ahead, reason="start"),
        event("controlled-shutdown", broker, ahead + 0.15, reason="done", line=2),
        event("shutdown-seen", controller, 0.05, broker=broker),
    ]


def spans(**logs: tuple[float, float]) -> FileSpans:
    """Of the logs of each node."""
    return {node.removeprefix("of"): (after(first), after(last)) for node, (first, last) in logs.items()}


SHOWN = spans(of1=(-1000, 9000), of3=(-1000, 9000))
"""The logs of brokers 1 and 3 hold the time of every line, so that no other event is missing there."""


def test_controlled_shutdown_bounds_from_both_sides() -> None:
    (found,) = relations(shutdown(1, 2, 300), {}, spans=SHOWN)
    assert (found.earlier, found.later, found.low, found.high) == (Subject(2), Subject(1), 299_950, 300_100)


def test_pairing_that_agrees_with_other_machines_is_chosen() -> None:
    """Broker 1 registered twice; each of two controllers saw one of it."""
    own = [
        event("broker-starting", 1, 299),
        event("broker-registered", 1, 300, broker=1, line=2),
        event("broker-starting", 1, 339, line=3),
        event("broker-registered", 1, 340, broker=1, line=4),
    ]
    seen = [event("brokers-changed", c, at, reason="added", brokers=[1]) for c, at in ((2, 0.01), (3, 40.01))]
    found = relations([*own, *seen], dict.fromkeys((1, 2, 3), MTIME_UTC))
    assert {(r.earlier.node, r.best) for r in found} == {(2, 299_990), (3, 299_990)}


def test_a_stop_and_the_controllers_line_about_the_next_one_are_not_compared() -> None:
    again = event("broker-starting", 1, 60, line=3)
    stop = [event("controlled-shutdown", 1, at, reason=r, line=n) for n, (at, r) in enumerate(((0, "start"), (0.15, "done")), 1)]
    zones = dict.fromkeys((1, 2), MTIME_UTC)
    events = [*stop, again, event("shutdown-seen", 2, 6484, broker=1)]
    assert relations(events, zones, spans=spans(of1=(0, 60), of2=(6000, 7000))) == []
    assert len(relations(events, zones, spans=spans(of1=(0, 7000), of2=(6000, 7000)))) == 1, "the broker's log would show the next one"


@pytest.mark.parametrize(
    ("logs", "controls", "compared"),
    [
        (spans(of1=(300, 400), of2=(0, 100)), (), 0),
        (spans(of1=(0, 400), of2=(0, 100)), (), 0),
        (spans(of1=(-50, 400), of2=(0, 100)), (), 1),
        (spans(of1=(300, 400), of2=(0, 500)), (), 1),
        (spans(of1=(300, 400), of2=(0, 500)), ((0, "elected"), (400, "elected")), 0),
        (spans(of1=(300, 400), of2=(0, 500)), ((0, "elected"), (400, "seen")), 1),
        (spans(of1=(300, 400), of2=(0, 310)), ((0, "elected"),), 0),
    ],
    ids=["neither log", "log of the broker begins later", "log of the broker", "in charge", "elected again", "other elected", "log ends"],
)
def test_a_lone_pair_counts_only_if_no_other_start_can_be_the_partner(
    logs: FileSpans, controls: Sequence[tuple[float, str]], compared: int
) -> None:
    """Broker 1 registered at 301 s, and the controller added it at 10 s: of two starts, or one start and a clock error."""
    own = [event("broker-starting", 1, 300), event("broker-registered", 1, 301, broker=1, line=2)]
    seen = [event("brokers-changed", 2, 10, line=2, reason="added", brokers=[1])]
    elections = [event("controller-elected", 2, at, line=n, reason=r, controller=2) for n, (at, r) in enumerate(controls, 3)]
    assert len(relations([*own, *seen, *elections], dict.fromkeys((1, 2), MTIME_UTC), spans=logs)) == compared


def test_decision_that_a_broker_meets_as_it_comes_up_compares_nothing() -> None:
    events = [state(2, 0, 1, "decided"), event("broker-starting", 1, 44), led(1, 46, 1, line=2)]
    assert relations(events, {}) == []


@pytest.mark.parametrize(("epoch", "compared"), [(1, 0), (0, 1)])
def test_a_process_that_knew_no_earlier_epoch_may_have_come_up_unseen(epoch: int, compared: int) -> None:
    events = [state(2, 0, epoch, "decided"), led(1, 46, epoch, previous_leader_epoch=-1)]
    assert len(relations(events, {})) == compared


def test_nodes_of_one_host_have_one_clock() -> None:
    events = [*shutdown(1, 2, 300), *shutdown(3, 4, 300)]
    assert len(relations(events, {}, spans=SHOWN)) == 2
    assert [(r.earlier, r.later) for r in relations(events, {}, {1: 1, 2: 1, 3: 3, 5: 3}, SHOWN)] == [(Subject(4), Subject(3))]
    (found,) = relations(events, {}, {1: 1, 3: 1, 2: 2, 4: 2}, SHOWN)
    assert (found.earlier, found.later) == (Subject(2), Subject(1))


def test_busy_controller_is_no_error_of_a_clock() -> None:
    own = [event("broker-starting", 1, -2), event("broker-registered", 1, 0, broker=1, line=2)]
    (found,) = relations([*own, event("brokers-changed", 2, 12, reason="added", brokers=[1])], dict.fromkeys((1, 2), MTIME_UTC))
    assert (found.best, found.low <= 0 <= found.high) == (0, True)


def test_records_of_the_metadata_log_against_lines() -> None:
    records = [
        event("metadata-leader", 100, -5, line=None, controller=100, controller_epoch=1, metadata_offset=0),
        event("metadata-broker", 100, 0, line=None, broker=1, broker_epoch=7, controller_epoch=1, metadata_offset=7),
    ]
    own = [
        event("broker-state", 1, 3599.98, reason="STARTING", broker=1),
        event("broker-registered", 1, 3600.04, broker=1, broker_epoch=7, line=2),
    ]
    lines = [event("broker-registered", 100, -18000, broker=1, broker_epoch=7, reason="decided")]
    found = {(r.earlier, r.later): r for r in relations([*records, *own, *lines], {})}
    claimed = found[(Subject(100, "utc"), Subject(1))]
    assert (claimed.low, claimed.best, claimed.high) == (HOUR_MS - 20, HOUR_MS + 10, HOUR_MS + 40)
    assert found[(Subject(100, "utc"), Subject(100))].best == -5 * HOUR_MS


def test_unfencing_of_a_broker_that_was_fenced_in_its_life_prints_nothing() -> None:
    records = [event("metadata-leader", 100, -5, line=None, controller=100, controller_epoch=1, metadata_offset=0)] + [
        event(
            "metadata-broker-change", 100, s, line=None, broker=1, broker_epoch=7, controller_epoch=1, metadata_offset=o, reason="unfenced"
        )
        for s, o in ((0.5, 9), (90, 40))
    ]
    own = [
        event("broker-registered", 1, 0.04, broker=1, broker_epoch=7),
        event("broker-state", 1, 0.4, reason="RECOVERY", line=2),
        event("broker-state", 1, 0.55, reason="RUNNING", line=3),
    ]
    (found,) = relations([*records, *own], {})
    assert (found.low, found.high) == (-100, 50)


def state(writer: int, seconds: float, epoch: int, reason: str, *, line: int = 1, **fields: object) -> Event:
    given = {"topic": "t", "partition": 0, "leader_epoch": epoch, "reason": reason, **fields}
    return event("partition-state", writer, seconds, line=line, **given)


def led(writer: int, seconds: float, epoch: int, *, line: int = 1, kind: str = "leader-start", **fields: object) -> Event:
    return event(kind, writer, seconds, line=line, topic="t", partition=0, leader_epoch=epoch, **fields)


def test_leader_begins_after_the_controller_decided() -> None:
    """The quickest start bounds from above; a slow one says nothing."""
    events = [
        *(state(2, s, n, "decided", line=n) for n, s in enumerate((0, 60, 120), 1)),
        *(led(1, s, n, line=n) for n, s in enumerate((300.03, 360.02, 431), 1)),
    ]
    (found,) = relations(events, {})
    assert (found.earlier, found.later, found.best, found.high) == (Subject(2), Subject(1), 300_020, 300_020)
    assert found.high - 10_000 <= found.low < 300_000


def test_one_decision_taken_up_late_is_no_error_of_a_clock() -> None:
    (found,) = relations([state(2, 0, 1, "decided"), led(1, 20, 1)], {})
    assert found.low <= 0 <= found.high == 20_000
    clocks = estimate(dict.fromkeys((1, 2), MTIME_UTC), [found])
    assert {c.skew_ms for c in clocks.values()} == {0}


def test_decision_about_a_topic_of_the_same_name_before_is_left_out() -> None:
    twice = [state(2, 0, 1, "decided"), state(2, 600, 1, "decided", line=2)]
    assert relations([*twice, led(1, 300, 1)], {}) == []


def test_isr_written_at_the_same_leader_epoch_caused_no_start() -> None:
    assert relations([state(2, 60, 1, "written"), led(1, 0, 1)], {}) == []


def follows(writer: int, seconds: float, epoch: int, *, line: int = 1) -> Event:
    return event("fetcher-added", writer, seconds, line=line, topic="t", partition=0, leader_epoch=epoch, broker=1)


def test_a_leaders_start_and_its_followers_fetcher_compare_brokers_that_nothing_else_does() -> None:
    starts = [led(1, s, n, line=n) for n, s in enumerate((0, 60, 120), 1)]
    (found,) = relations([*starts, *(follows(2, s, n, line=n) for n, s in enumerate((300.2, 359.9, 431), 1))], {})
    assert (found.earlier.node, found.later.node) == (1, 2)
    assert found.low < 300_000 < found.high and abs(found.best - 300_000) < 500


def test_epochs_that_are_told_again_after_a_restart_compare_nothing() -> None:
    """All of them in one moment: what the log began with is not in evidence."""
    starts = [led(1, s, n, line=n) for n, s in enumerate((0, 0.1, 0.2), 1)]
    assert relations([*starts, *(follows(2, s, n, line=n) for n, s in enumerate((90, 90.1, 90.2), 1))], {}) == []


def test_requests_are_matched_by_the_controllers_epoch() -> None:
    """A new controller sends the leader epochs there are anew; what the broker received before was another's."""
    received = [state(1, 300.01, 4, "received", controller_epoch=1), state(1, 360.02, 4, "received", controller_epoch=2, line=2)]
    sent = [state(2, 60, 4, "sent", controller_epoch=2, broker=1), state(2, 60, 4, "sent", controller_epoch=2, broker=3, line=2)]
    (found,) = relations([*received, *sent], {})
    assert found.high == 300_020
    assert relations([received[0], *sent], {}) == []
    assert relations([received[1], sent[1]], {}) == []


def test_controllers_lines_about_registrations_stand_for_the_metadata_log() -> None:
    own = [
        event("broker-state", 1, 300, reason="STARTING", broker=1),
        event("broker-registered", 1, 300.06, broker=1, broker_epoch=7, line=2),
    ]
    (found,) = relations([*own, event("broker-registered", 100, 0.02, broker=1, broker_epoch=7, reason="decided")], {})
    assert (found.earlier, found.later, found.low, found.high) == (Subject(100), Subject(1), 299_980, 300_040)
    replayed = event("broker-registered", 100, 3, broker=1, broker_epoch=7, reason="replayed", line=2)
    started = event("controller-starting", 100, -60)
    (slow,) = relations([*own, started, replayed], {}, spans=spans(of100=(-60, 60)))
    assert slow.low <= 300_000 <= slow.high
    assert relations([*own, replayed], {}, spans=spans(of100=(-60, 60))) == [], "it may have just started: it replays all records then"
    assert relations([*own, started, replayed], {}, spans=spans(of100=(-20, 60))) == []
    assert relations([*own, event("broker-registered", 100, 0, broker=1, broker_epoch=8, reason="decided")], {}) == []


def test_two_controllers_bound_each_other_from_both_sides() -> None:
    events = [state(2, 0, 1, "decided"), led(1, 300.02, 1), state(1, 400, 2, "decided", line=2), led(2, 100.03, 2, line=2)]
    (found,) = relations(events, {})
    assert (found.earlier, found.low, found.high) == (Subject(1), -300_020, -299_970)


_KINDS = st.sampled_from(sorted({*RELATING, *LEADERSHIPS}))
_IDS = st.one_of(st.none(), st.integers(-1, 3))
_EVENTS = st.builds(
    Event,
    event=_KINDS,
    writer=_IDS,
    broker=_IDS,
    brokers=st.one_of(st.none(), st.lists(st.integers(0, 3), max_size=2)),
    controller=_IDS,
    controller_epoch=_IDS,
    broker_epoch=_IDS,
    topic=st.sampled_from([None, "t"]),
    partition=st.just(0),
    leader_epoch=_IDS,
    metadata_offset=_IDS,
    line=_IDS,
    source=st.sampled_from("ab"),
    reason=st.sampled_from(
        [
            None,
            "start",
            "done",
            "added",
            "deleted",
            "elected",
            "seen",
            "STARTING",
            "RUNNING",
            "unfenced",
            "shutdown",
            "decided",
            "sent",
            "received",
        ]
    ),
    at=st.one_of(st.none(), st.datetimes(datetime(1, 1, 2), datetime(9999, 1, 1))),
)


@given(st.lists(_EVENTS, max_size=12), st.dictionaries(st.integers(0, 3), st.integers(-(10**15), 10**15), max_size=3))
@settings(max_examples=200)
def test_any_events_give_a_clock_for_each_node(events: list[Event], offsets: dict[int, int]) -> None:
    anchors = {n: ClockOffset(o, 2_000, "mtime") for n, o in offsets.items()}
    found = estimate(anchors, relations(events, anchors), nodes=range(4))
    assert set(found) >= set(range(4))
    assert all(c.zone_minutes in ZONES for c in found.values())


# changes of the zone's offset


AUTUMN = datetime(2026, 10, 25, 1)
"""UTC at which Central Europe goes back to UTC+01:00."""
SPRING = datetime(2026, 3, 29, 1)


def wall(at: datetime, hours: float, seconds: float) -> datetime:
    return at + timedelta(hours=hours, seconds=seconds)


BACK = Jump(500, wall(AUTUMN, 2, -40), wall(AUTUMN, 1, 25))
LEAP = Jump(500, wall(SPRING, 1, -40), wall(SPRING, 2, 25))


def test_hour_told_twice_is_a_change() -> None:
    assert changes([ClockEvidence(None, None, jumps=(BACK,))], HOUR_MS) == (ZoneChange(AUTUMN, 2 * HOUR_MS, HOUR_MS),)


def test_hour_left_out_is_a_change() -> None:
    assert changes([ClockEvidence(None, None, jumps=(LEAP,))], 2 * HOUR_MS) == (ZoneChange(SPRING, HOUR_MS, 2 * HOUR_MS),)


def test_quiet_night_is_no_change() -> None:
    quiet = Jump(500, wall(SPRING, 1, -1500), wall(SPRING, 2, 400))
    assert changes([ClockEvidence(None, None, jumps=(quiet,))], 2 * HOUR_MS) == ()


def test_quiet_night_between_files_that_tell_two_zones_is_a_change() -> None:
    quiet = Jump(500, wall(SPRING, 1, -1500), wall(SPRING, 2, 400))
    before = ClockEvidence(wall(SPRING, 1, -7200), SPRING - timedelta(hours=2))
    later = ClockEvidence(wall(SPRING, 2, 7200), SPRING + timedelta(hours=2), jumps=(quiet,))
    assert changes([before, later], 2 * HOUR_MS) == (ZoneChange(SPRING, HOUR_MS, 2 * HOUR_MS),)


@pytest.mark.parametrize(
    "jump",
    [
        Jump(5, wall(AUTUMN, 14, -40), wall(AUTUMN, 13, 25)),
        Jump(5, wall(AUTUMN, 2, -300), wall(AUTUMN, 2, -330)),
        Jump(5, wall(AUTUMN, 2, -40), wall(AUTUMN, -3, 0)),
        Jump(5, wall(SPRING, 12, -40), wall(SPRING, 13, 25)),
        Jump(5, datetime(2026, 6, 10, 2, 59, 20), datetime(2026, 6, 10, 2, 0, 25)),
        Jump(5, datetime(2026, 6, 10, 2, 40), datetime(2026, 6, 10, 2, 23)),
        Jump(5, datetime(2026, 6, 10, 1, 59, 20), datetime(2026, 6, 10, 3, 0, 25)),
    ],
    ids=["in the afternoon", "half a minute", "by hours", "leap at noon", "back in June", "17 minutes in June", "leap in June"],
)
def test_other_jumps_of_a_clock_are_no_change_of_its_zone(jump: Jump) -> None:
    assert changes([ClockEvidence(None, None, jumps=(jump,))], HOUR_MS) == ()


def test_file_that_ends_before_in_the_later_zone_contradicts() -> None:
    before = ClockEvidence(wall(AUTUMN, 1, -600), AUTUMN - timedelta(seconds=600))
    assert changes([before, ClockEvidence(None, None, jumps=(BACK,))], HOUR_MS) == ()


def test_files_rolled_in_between_tell_the_change() -> None:
    before = ClockEvidence(wall(AUTUMN, 2, -600), AUTUMN - timedelta(seconds=600))
    later = ClockEvidence(wall(AUTUMN, 1, 7200), AUTUMN + timedelta(hours=2))
    assert anchor([before, later]) == ClockOffset(HOUR_MS, 2_000, "mtime")
    (change,) = changes([before, later], HOUR_MS)
    assert (change.before_ms, change.after_ms) == (2 * HOUR_MS, HOUR_MS)
    assert before.modified is not None
    assert before.modified < change.at <= AUTUMN


def test_writers_of_one_log_in_two_zones_take_turns() -> None:
    jumps = [Jump(27, after(0), after(-7200 + 111)), Jump(76, after(-7200 + 284), after(300)), Jump(82, after(300), after(-7200 + 306))]
    before = [(27, 2 * HOUR_MS), (76, 0), (82, 2 * HOUR_MS)]
    stated = [(s.line, s.before_ms) for s in offset_changes(jumps, 2 * HOUR_MS, (90, after(-7200 + 400)))]
    assert stated == [*before, (91, 0)]
    assert [(s.line, s.before_ms) for s in offset_changes(jumps, 2 * HOUR_MS, (90, after(600)))] == [*before, (90, 0)]


@pytest.mark.parametrize(
    "jumps",
    [
        [],
        [Jump(5, after(0), after(-3600))],
        [Jump(5, after(0), after(-7200)), Jump(9, after(-7000), after(-14200))],
        [Jump(5, after(0), after(-400)), Jump(7, after(-400), after(0)), Jump(9, after(0), after(-400))],
    ],
    ids=["none", "once", "never ahead again", "no quarters of an hour"],
)
def test_other_jumps_are_no_turns(jumps: list[Jump]) -> None:
    assert offset_changes(jumps, 0, (20, after(0))) == ()


def test_source_is_split_at_its_own_jump() -> None:
    clock = Clock(60, changes=(ZoneChange(AUTUMN, 2 * HOUR_MS, HOUR_MS),))
    assert steps(clock.changes, wall(AUTUMN, 2, -9000), (BACK,)) == (ZoneStep(500, wall(AUTUMN, 2, 0), 2 * HOUR_MS),)
    assert steps(clock.changes, wall(AUTUMN, 2, -9000), ()) == (ZoneStep(None, wall(AUTUMN, 2, 0), 2 * HOUR_MS),)
    assert steps(clock.changes, wall(AUTUMN, 2, 60), ()) == ()


def test_changes_of_a_zone_that_was_named() -> None:
    assert in_zone("Europe/Berlin", NOON) == HOUR_MS
    spring, autumn = changes_in("Europe/Berlin", [ClockEvidence(NOON, None)], 5_000)
    assert autumn == ZoneChange(AUTUMN, 2 * HOUR_MS + 5_000, HOUR_MS + 5_000)
    assert spring.at == SPRING
    assert changes_in("Europe/Berlin", [ClockEvidence(NOON, None, first=wall(SPRING, 2, 0))], 5_000) == (autumn,)
    assert changes_in("Asia/Kolkata", [ClockEvidence(NOON, None)], 0) == ()


@given(st.lists(st.builds(Jump, st.integers(1, 9), st.datetimes(), st.datetimes()), max_size=4), st.integers(-(10**11), 10**11))
@settings(max_examples=100)
def test_any_jumps_are_looked_at(jumps: list[Jump], offset: int) -> None:
    found = changes([ClockEvidence(None, None, jumps=tuple(jumps))], offset)
    assert all(abs(c.before_ms - c.after_ms) == HOUR_MS for c in found)


# times in UTC that Kafka prints


def start(seconds: float, hours: float, late: float = 0.01, *, line: int = 100) -> PrintedUtc:
    """A process that took the time `seconds` after noon and told it so much later, by a clock in such a zone."""
    stated = after(seconds + late + 3600 * hours)
    return PrintedUtc(after(seconds), stated, line, stated - timedelta(seconds=2))


def started(*starts: PrintedUtc, source: str = "server.log", modified: datetime | None = None, last: float = 0) -> ClockEvidence:
    return ClockEvidence(after(last) if modified is not None else None, modified, source=source, starts=starts)


@pytest.mark.parametrize("hours", [0, 5.5, 5.75, -3.5, 13, -12])
@pytest.mark.parametrize("late", [0.003, 47.0, -0.9], ids=["at once", "after a pause", "whole seconds"])
def test_process_tells_the_zone(hours: float, late: float) -> None:
    assert anchor([started(start(0, hours, late))]) == ClockOffset(round(hours * HOUR_MS), NOISE_MS, "start")


@pytest.mark.parametrize("late", [400.0, -5.0], ids=["far later", "before it was taken"])
def test_time_told_far_from_its_line_tells_no_zone(late: float) -> None:
    assert start(0, 5.5, late).zone_ms is None
    assert anchor([started(start(0, 5.5, late))]) is None


def test_zone_told_overrules_times_of_an_archive_in_that_zone() -> None:
    """zip keeps the machine's own time of day."""
    assigned = started(start(0, 5.5), modified=after(5.5 * 3600), last=5.5 * 3600)
    assert anchor([assigned]) == ClockOffset(330 * MINUTE_MS, NOISE_MS, "start", files_ms=330 * MINUTE_MS)
    (clock,) = estimate({1: ClockOffset(330 * MINUTE_MS, NOISE_MS, "start", files_ms=330 * MINUTE_MS)}).values()
    assert (clock.zone_minutes, clock.skew_ms, clock.files_ms, clock.basis) == (330, 0, 330 * MINUTE_MS, "start")
    assert changes([assigned], 330 * MINUTE_MS, 330 * MINUTE_MS) == ()


def test_zone_an_hour_from_that_of_the_archives_times_is_no_change() -> None:
    assigned = started(start(0, 1), modified=after(3600), last=3600)
    assert anchor([assigned]) == ClockOffset(HOUR_MS, NOISE_MS, "start", files_ms=HOUR_MS)
    assert changes([assigned], HOUR_MS, HOUR_MS) == ()


def test_modification_times_that_agree_are_the_machines_own() -> None:
    assert anchor([started(start(0, 2), modified=after(100), last=7300)]) == ClockOffset(2 * HOUR_MS, NOISE_MS, "start+mtime")


def test_files_on_a_right_clock_show_the_error_of_the_process() -> None:
    one, two = (ClockEvidence(after(95 + s), after(s), starts=(start(0, 0),)) for s in (0, 40))
    assert anchor([one, two]) == ClockOffset(95_000, 2_000, "start+mtime")


def test_line_of_a_client_elsewhere_is_outvoted() -> None:
    server = started(start(0, 2), start(60, 2, line=900))
    client = started(start(90, -5), source="connect.log")
    assert anchor([server, client]) == ClockOffset(2 * HOUR_MS, NOISE_MS, "start")
    assert changes([server, client], 2 * HOUR_MS) == ()


def test_machine_that_was_moved_to_another_zone_shows_it_in_one_log() -> None:
    log = started(start(0, 5.5, line=100), start(50, 5.5, line=300), start(4000, 0, line=700))
    assert anchor([log]) == ClockOffset(0, NOISE_MS, "start")
    (change,) = changes([log], 0)
    assert (change.before_ms, change.after_ms, change.source, change.line) == (330 * MINUTE_MS, 0, "server.log", 700)
    assert change.at == after(4000 + 0.01 - 2)
    assert steps((change,), after(0), (), "server.log") == (ZoneStep(700, change.wall, 330 * MINUTE_MS),)
    other = Jump(40, change.wall - timedelta(minutes=3), change.at + timedelta(minutes=1))
    assert steps((change,), after(0), (other,), "state-change.log") == (ZoneStep(40, change.wall, 330 * MINUTE_MS),)


def test_offset_changed_between_two_processes() -> None:
    log = started(
        PrintedUtc(AUTUMN - timedelta(hours=30), wall(AUTUMN, 2, -30 * 3600), 100, wall(AUTUMN, 2, -30 * 3600 - 2)),
        PrintedUtc(AUTUMN + timedelta(hours=9), wall(AUTUMN, 1, 9 * 3600), 700, wall(AUTUMN, 1, 9 * 3600 - 2)),
    )
    assert anchor([log]) == ClockOffset(HOUR_MS, NOISE_MS, "start")
    (change,) = changes([log], HOUR_MS)
    assert (change.at, change.before_ms, change.after_ms) == (AUTUMN + timedelta(hours=9, seconds=-2), 2 * HOUR_MS, HOUR_MS)


def test_offset_changed_after_the_process_began() -> None:
    began = PrintedUtc(AUTUMN - timedelta(hours=30), wall(AUTUMN, 2, -30 * 3600), 100, wall(AUTUMN, 2, -30 * 3600))
    log = ClockEvidence(None, None, jumps=(BACK,), starts=(began,))
    assert anchor([log]) == ClockOffset(HOUR_MS, NOISE_MS, "start")
    assert changes([log], HOUR_MS) == (ZoneChange(AUTUMN, 2 * HOUR_MS, HOUR_MS),)


@given(
    st.lists(st.builds(PrintedUtc, st.datetimes(), st.datetimes(), st.integers(1, 9), st.datetimes()), max_size=4),
    st.integers(-(10**11), 10**11),
)
@settings(max_examples=100)
def test_any_times_told_are_looked_at(starts: list[PrintedUtc], offset: int) -> None:
    log = ClockEvidence(None, None, starts=tuple(starts))
    found = anchor([log])
    assert found is None or found.offset_ms % (15 * MINUTE_MS) == 0
    assert all(c.before_ms != c.after_ms for c in changes([log], offset))


def test_nearest_zone_of_two_is_the_one_nearer_to_utc() -> None:
    assert nearest_zone(-330 * MINUTE_MS) == -300
