"""What a case or a report knows of a source beyond its name: where INFO is on, the order of its lines, and whether they were cut."""

from __future__ import annotations

import pickle
from datetime import datetime, timedelta

from forensics.model.cluster.build import Options
from forensics.model.cluster.facts import Source
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
