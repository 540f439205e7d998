"""Modification times that are witnesses, and those of a checkout or a copy, which are none."""

from __future__ import annotations

from datetime import datetime, timedelta

from forensics.model.clock.sources import Source
from forensics.model.clock.zones import meaningless

NOON = datetime(2026, 11, 21, 12)
LOG = "-log"


def source(path: str, kind: str, modified: datetime | None, last: datetime | None = None, node: int = 1) -> Source:
    return Source(path, kind, node, str(node), None, None, modified, None, None, (), None, last, None)


def logs(touched_after: timedelta, node: int = 1) -> list[Source]:
    return [source(f"{node}/server.log.{h}", "server-log", NOON + touched_after, NOON - timedelta(hours=h), node) for h in range(3)]


def test_a_log_touched_with_its_last_line_is_a_witness_in_any_zone() -> None:
    for zone in (-12, 0, 14):
        own = [source(f"1/server.log.{h}", "server-log", NOON - timedelta(hours=h + zone), NOON - timedelta(hours=h)) for h in range(3)]
        assert meaningless(own, LOG) == frozenset()


def test_files_of_a_checkout_tell_nothing_whatever_they_are() -> None:
    own = [*logs(timedelta(days=900)), source("1/data/replication-offset-checkpoint", "hw-checkpoint", NOON + timedelta(days=900))]
    assert meaningless(own, LOG) == {s.path for s in own}


def test_disks_without_logs_are_what_the_others_are() -> None:
    disk = source("2/data/replication-offset-checkpoint", "hw-checkpoint", NOON + timedelta(days=900), node=2)
    assert disk.path in meaningless([*logs(timedelta(days=900)), disk], LOG)
    assert meaningless([*logs(timedelta(0)), disk], LOG) == frozenset()


def test_disks_alone_whose_files_are_all_of_one_moment_were_copied() -> None:
    own = [source(f"1/data/t-{p}/00000000000000000000.log", "segment", NOON + timedelta(seconds=p / 10)) for p in range(9)]
    assert meaningless(own, LOG) == {s.path for s in own}
    assert meaningless([*own, source("1/data/meta.properties", "meta-properties", NOON - timedelta(minutes=1))], LOG) == frozenset()
    assert meaningless(own[:3], LOG) == frozenset()
