"""What befell a fleet is one incident of the right brokers, whatever the size, and findings stay few."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest

from forensics.views.document import Report
from tests.forensics.fleets import Fleet
from tests.forensics.staged import report, table
from tests.support import local
from tests.support.contradictions import check_contradictions, contradictions

Story = Callable[[Fleet], list[tuple[str, set[int]]]]


def rack(fleet: Fleet) -> list[tuple[str, set[int]]]:
    gone = [b for b in fleet.brokers if b % 3 == 2]
    fleet.crash(gone, 300, 500)
    return [("broker-crash", set(gone))]


def slow_disk(fleet: Fleet) -> list[tuple[str, set[int]]]:
    for turn in range(8):
        fleet.stall(5, 300 + turn * 300, 340 + turn * 300)
    return [("culprit-broker", {5})]


def rolling(fleet: Fleet) -> list[tuple[str, set[int]]]:
    for turn, broker in enumerate(fleet.brokers):
        fleet.stop(broker, 300 + turn * 120, 320 + turn * 120)
    return [("rolling-restart", set(fleet.brokers))]


def controller_lost(fleet: Fleet) -> list[tuple[str, set[int]]]:
    """In the midst of a rolling restart, which leaves the controller to the last."""
    first = fleet.controller
    for turn, broker in enumerate(fleet.brokers[1:]):
        fleet.stop(broker, 300 + turn * 120, 320 + turn * 120)
        if broker == 4:
            fleet.crash([first], 360 + turn * 120, 375 + turn * 120)
    return [("broker-crash", {first}), ("rolling-restart", set(fleet.brokers[1:]))]


STORIES = (rack, slow_disk, rolling, controller_lost)


def kinds(reported: Report) -> set[str]:
    return {f.kind for f in reported.findings}


@pytest.mark.parametrize("story", STORIES)
def test_an_incident_is_told_once_and_loses_nothing(story: Story) -> None:
    fleet = Fleet(9, 60)
    expected = story(fleet)
    reported = report(fleet.files)
    assert [(i.kind, set(i.brokers)) for i in reported.incidents] == expected
    assert all(i.end is not None and set(i.findings) for i in reported.incidents)
    assert {p["verdict"] for p in reported.partitions} == {"intact"} and len(reported.partitions) == 60
    assert len(reported.findings) <= len(fleet.brokers) + 40
    assert not any(f.incident is None for f in reported.findings if f.severity != "info")
    assert contradictions(reported) == ()


@pytest.mark.parametrize("story", STORIES)
def test_the_size_of_a_fleet_changes_no_kind_of_finding_and_no_verdict(story: Story) -> None:
    def of(brokers: int, partitions: int) -> Report:
        fleet = Fleet(brokers, partitions)
        story(fleet)
        return report(fleet.files)

    small, large = of(6, 24), of(12, 48)
    assert kinds(small) == kinds(large)
    assert {p["verdict"] for p in (*small.partitions, *large.partitions)} == {"intact"}
    assert [i.kind for i in small.incidents] == [i.kind for i in large.incidents]


def test_the_order_of_partitions_changes_nothing() -> None:
    fleet = Fleet(6, 24)
    controller_lost(fleet)
    one, other = (local.report(table(fleet.files, shuffled=seed)).document() for seed in (1, 2))
    for stated in (one, other):
        stated["evidence"]["sources"].sort(key=lambda s: s["path"])
    assert json.dumps(one) == json.dumps(other)


@pytest.mark.parametrize("missing", [0.02, 0.1, 0.3])
def test_lines_that_are_missing_make_no_loss_no_wrong_clock_and_no_leader_that_led_on(missing: float) -> None:
    """As in the sample of lines that some stores keep."""
    fleet, dice = Fleet(6, 36, tail=30), random.Random(missing)
    for turn, broker in enumerate(fleet.brokers[1:]):
        fleet.stop(broker, 300 + turn * 180, 340 + turn * 180)
        fleet.prefer(420 + turn * 180)
    whole = report(fleet.files)
    assert {p["verdict"] for p in whole.partitions} == {"intact", "tail-cut"}
    kept = {path: "".join(line for line in text.splitlines(True) if dice.random() >= missing) for path, text in fleet.files.items()}
    reported = report(kept)
    assert not {p["verdict"] for p in reported.partitions} & {"lost"}
    assert not {"clock-skew", "zombie-leader"} & kinds(reported)
    assert all(f.confidence == "possible" for f in reported.findings if f.kind == "data-loss" and f.committed is not False)
    check_contradictions(f"a fleet without {missing} of its lines", contradictions(reported))
