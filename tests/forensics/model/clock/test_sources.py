"""What a case or a report knows of a source beyond its name: where INFO is on, the order of its lines, and whether they were cut."""

from __future__ import annotations

import pickle
from datetime import datetime, timedelta

import pytest

from forensics.model.clock.node_clocks import Options
from forensics.model.clock.sources import Source
from tests.support import local

START = datetime(2026, 11, 21, 2, 0)
PATH = "broker-1/logs/server.log"


def line(seconds: int, offset: int) -> str:
    at = f"{START + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S},000"
    return f"[{at}] INFO [Log partition=clicks-0, dir=/data] Truncating to offset {offset} (kafka.log.Log)"


def source(lines: list[str], options: Options | None = None) -> Source:
    cluster, _ = local.gathered(local.events_of_files({PATH: "\n".join(lines) + "\n"}), options)
    (found,) = cluster.sources
    sent: Source = pickle.loads(pickle.dumps(found))  # as it comes to a task
    return sent


def test_places_of_lines_and_steps_back_are_in_utc() -> None:
    lines = [line(0, 9), line(10, 8), line(5, 7), "\tat x.Y.z(Y.java:1)", line(7, 6)]
    found = source(lines, Options(zone_offset_ms=3_600_000))
    utc = START - timedelta(hours=1)
    assert found.printed == {"log": [(n, utc + timedelta(seconds=s)) for n, s in ((1, 0), (2, 10), (3, 5), (5, 7))]}
    assert (found.first, found.last) == (utc, utc + timedelta(seconds=7))
    assert (found.ascents, found.descents, found.largest_step_back, found.cut_at) == (2, 1, timedelta(seconds=5), None)
    assert found.steps_back == ((3, utc + timedelta(seconds=10), utc + timedelta(seconds=5)),)


def leads(seconds: int, epoch: int) -> str:
    at = f"{START + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S},000"
    return f"[{at}] INFO [Partition clicks-0 broker=1] clicks-0 starts at Leader Epoch {epoch} from offset 9. Previous Leader Epoch was: {epoch - 1} (kafka.cluster.Partition)"


def test_a_clock_that_was_set_back_does_not_set_back_leader_epochs() -> None:
    found = source([leads(9000, 0), leads(9010, 1), leads(600, 2), leads(610, 3)])
    assert (found.parts, found.clock_set_back, found.last) == (None, True, START + timedelta(seconds=610))


def test_parts_of_a_log_that_were_joined_in_another_order() -> None:
    found = source([leads(100, 2), leads(110, 3), line(60, 9), leads(70, 1), leads(80, 1), line(20, 8), leads(30, 0), line(50, 7)])
    assert (found.parts, found.steps_back, found.clock_set_back) == ((3, 6), (), False)
    assert (found.first, found.last) == (START + timedelta(seconds=20), START + timedelta(seconds=110))


@pytest.mark.parametrize("again", [105, -900], ids=["they overlap", "a part between them is missing"])
def test_joined_parts_that_do_not_continue_each_other_are_not_in_order(again: int) -> None:
    found = source([leads(100, 2), leads(110, 3), leads(again, 0), leads(again + 10, 1)])
    assert (found.parts, len(found.steps_back), found.clock_set_back) == ((3,), 1, False)


def test_lines_that_print_no_date_have_places_without_times() -> None:
    assert source([line(0, 9)[26:]] * 3).printed == {}, "no record begins there"
    cluster, _ = local.gathered(local.events_of_files({PATH: "\n".join(line(n, n)[12:] for n in range(3))}))
    assert [s.printed for s in cluster.sources] in ([{}], [{"log": [(1, None), (2, None), (3, None)]}])


def test_cut_lines_are_known_of_the_source() -> None:
    started = f"[{START:%Y-%m-%d %H:%M:%S},000] INFO started (kafka.server.KafkaServer)"
    assert source([*[started] * 3, *[line(n, 10**6 + n)[:90] for n in range(9)]]).cut_at == 90
    assert source([*[started] * 3, *[line(n, 10**6 + n) for n in range(9)]]).cut_at is None


def test_files_that_are_no_logs_have_none_of_it() -> None:
    cluster, _ = local.gathered(local.events_of_files({"broker-1/data/replication-offset-checkpoint": "0\n1\nclicks 0 5\n"}))
    (found,) = cluster.sources
    assert (found.printed, found.ascents, found.descents, found.steps_back, found.cut_at) == ({}, 0, 0, (), None)
