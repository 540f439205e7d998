"""Epoch lineages side by side: of files and of lines, where they part, who was right, who was cut and by which word."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.lineage import Lineage, committed, cuts, lineages, part, partings
from spark.timeline import PartitionTimeline
from tests import local
from tests.forensics import staged

BUNDLES = Path(__file__).parents[2] / "fixtures" / "bundles"
META = "broker.id={}\nversion=0\ncluster.id=S__m9uKITl2lDhWYpvDFyw\n"


def lineage(broker: int, end: int, *entries: tuple[int, int], start: int = 0) -> Lineage:
    return Lineage(broker, entries, start, end, "epoch-file", ())


def recorded(bundle: str, name: str) -> PartitionTimeline:
    table = local.events_of(BUNDLES / f"{bundle}.tar.gz")
    return next(t for t, _ in local.timelines(table) if t.name == name and t.generation == 0)


def copy(broker: int, epochs: str, hw: int) -> dict[str, str]:
    data = f"broker-{broker}/data"
    return {
        f"{data}/meta.properties": META.format(broker),
        f"{data}/replication-offset-checkpoint": f"0\n1\nt 0 {hw}\n",
        f"{data}/t-0/leader-epoch-checkpoint": epochs,
    }


def test_the_epoch_of_an_offset() -> None:
    log = lineage(1, 300, (0, 0), (2, 100), (3, 250), start=50)
    assert [log.epoch_at(o) for o in (49, 50, 99, 100, 249, 250, 299, 300)] == [None, 0, 0, 2, 2, 3, 3, None]


@pytest.mark.parametrize(
    ("one", "other", "at"),
    [
        (lineage(1, 300, (0, 0), (2, 100)), lineage(2, 300, (0, 0), (2, 100)), None),
        (lineage(1, 300, (0, 0), (2, 100)), lineage(2, 300, (0, 0), (3, 100)), 100),
        (lineage(1, 300, (0, 0), (2, 200)), lineage(2, 300, (0, 0), (2, 180)), 180),
        (lineage(1, 100, (0, 0)), lineage(2, 300, (0, 0), (2, 100)), None),
        (lineage(1, 300, (2, 100), start=100), lineage(2, 100, (0, 0)), None),
        (lineage(1, 300, (2, 100), start=100), lineage(2, 150, (0, 0)), 100),
    ],
)
def test_where_two_logs_part(one: Lineage, other: Lineage, at: int | None) -> None:
    assert part(one, other) == at
    assert part(other, one) == at


@st.composite
def logs(draw: st.DrawFn) -> Lineage:
    epochs = sorted(draw(st.sets(st.integers(0, 9), min_size=1, max_size=4)))
    offsets = sorted(draw(st.lists(st.integers(0, 40), min_size=len(epochs), max_size=len(epochs))))
    end = draw(st.integers(offsets[-1], 60))
    return Lineage(1, tuple(zip(epochs, offsets, strict=True)), draw(st.integers(0, end)), end, "epoch-file", ())


@settings(max_examples=150, deadline=None)
@given(logs(), logs())
def test_parting_is_the_first_offset_that_differs(one: Lineage, other: Lineage) -> None:
    both = [(o, one.epoch_at(o), other.epoch_at(o)) for o in range(61)]
    assert part(one, other) == next((o for o, a, b in both if a is not None and b is not None and a != b), None)


def test_the_partitions_own_lineage_forgets_what_a_later_leader_wrote_over() -> None:
    s = staged.Story()
    s.leads(1, 0, 0, 0, 0, [1, 2, 3])
    s.leads(2, 10, 1, 300, 300, [2])
    s.leads(3, 20, 2, 200, 200, [3], previous=0)
    timeline, _ = staged.timeline(s.files)
    assert committed(timeline) == ((0, 0), (2, 200))


def test_who_was_right() -> None:
    s = staged.Story()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.leads(2, 20, 3, 200, 200, [2], previous=0)
    files: dict[str, str | bytes] = {**s.files, **copy(1, "0\n2\n0 0\n1 200\n", 250), **copy(2, "0\n2\n0 0\n3 200\n", 250)}
    timeline, _ = staged.timeline(files)
    (parting,) = partings(timeline)
    assert ({parting.one.broker, parting.other.broker}, parting.offset, parting.right) == ({1, 2}, 200, 2)


def test_who_was_cut_and_by_which_word() -> None:
    s = staged.Story()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.leads(2, 10, 1, 200, 190, [2], previous=0)
    s.follows(1, 12, 1, 250, 190, previous=0)
    text = (
        "INFO [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating partition t-0 with TruncationState(offset=200, completed=true) due to "
        "leader epoch and offset EpochEndOffset(errorCode=0, partition=0, leaderEpoch=0, endOffset=200) (kafka.server.ReplicaFetcherThread)"
    )
    s.line(1, "server", 13, text)
    s.truncates(1, 13.1, 200)
    timeline, _ = staged.timeline(s.files)
    (cut,) = cuts(timeline)
    assert (cut.broker, cut.start, cut.end, cut.reason, cut.leader, cut.told_epoch, cut.right) == (1, 200, 250, "leader-epoch", 2, 0, True)


def test_a_cut_below_the_parting_took_too_much() -> None:
    s = staged.Story()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.leads(2, 10, 1, 200, 190, [2], previous=0)
    s.follows(1, 12, 1, 250, 190, previous=0)
    s.truncates(1, 13.1, 150)
    timeline, _ = staged.timeline(s.files)
    (cut,) = cuts(timeline)
    assert (cut.reason, cut.right) == ("truncation", False)


@pytest.mark.parametrize("bundle", ["unclean-election-2.8.2-zk", "unclean-election-3.9.1-kraft"])
def test_replicas_agree_after_a_real_unclean_election(bundle: str) -> None:
    timeline = recorded(bundle, "orders-0")
    found = lineages(timeline)
    assert set(found) == {1, 2, 3} and {x.source for x in found.values()} == {"batches"}
    assert partings(timeline) == []
    assert all(a[0] < b[0] and a[1] <= b[1] for x in found.values() for a, b in pairwise(x.entries))
    truth = dict(committed(timeline))
    for log in found.values():
        assert all(truth.get(epoch, start) == start for epoch, start in log.entries)
