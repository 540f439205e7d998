"""Epoch lineages side by side: of files and of lines, where they part, who was right, who was cut and by which word."""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.message import Range
from forensics.model.partition.lineage import Entry, Lineage, on_disk
from forensics.model.partition.replicas import Disk
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.lineage import committed, cuts, lineages, part, partings, same_batches
from tests.forensics import staged
from tests.forensics.model.partition.test_salvageable import log as log_of
from tests.support import local, recorded
from tests.support.local import found_by

META = "broker.id={}\nversion=0\ncluster.id=S__m9uKITl2lDhWYpvDFyw\n"


def lineage(broker: int, end: int, *entries: tuple[int, int], start: int = 0) -> Lineage:
    return Lineage(broker, tuple(Entry(e, s, s) for e, s in entries), start, end, "epoch-file", ())


def timeline_of(bundle: str, name: str) -> PartitionTimeline:
    table = recorded.events(bundle)
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
    return lineage(1, end, *zip(epochs, offsets, strict=True), start=draw(st.integers(0, end)))


@settings(max_examples=150)
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
    assert (cut.broker, cut.start, cut.end, cut.reason, cut.leader, cut.answered_epoch, cut.right) == (
        1,
        200,
        250,
        "leader-epoch",
        2,
        0,
        True,
    )


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
    timeline = timeline_of(bundle, "orders-0")
    found = lineages(timeline)
    assert set(found) == {1, 2, 3} and {x.source for x in found.values()} == {"batches"}
    assert partings(timeline) == []
    assert all(a.epoch < b.epoch and a.start <= b.start for x in found.values() for a, b in pairwise(x.entries))
    truth = dict(committed(timeline))
    for log in found.values():
        assert all(truth.get(e.epoch, e.start) == e.start for e in log.entries)


# records that differ


def diverged(
    one: list[dict[str, Any]], other: list[dict[str, Any]], cleaned: bool | None, epochs: list[list[tuple[int, int]]]
) -> list[Any]:
    """(offsets, confidence) of what log-divergence says of two in-sync replicas."""
    disks = {}
    for broker, rows in ((1, one), (2, other)):
        end = rows[-1]["last_offset"] + 1 if rows else 200
        segments = [Event(event="segment", source=f"{broker}/0.log", offset=0, log_end_offset=end, batches=rows)] if rows else []
        mark = Event(event="hw-checkpoint", source=f"{broker}/hw", offset=end)
        disks[broker] = Disk(broker, "c", log_end_offset=end, segments=segments, high_watermark=mark, epochs=epochs[broker - 1])
    event = Event(event="partition-state", source="s", line=1)
    state = State(leader_epoch=3, partition_epoch=3, leader=1, isr=(1, 2), replicas=(1, 2), at=staged.START, source="metadata", event=event)
    known = {b: found for b, d in disks.items() if (found := on_disk(d, cleaned=cleaned)) is not None}
    timeline = PartitionTimeline("t", 0, 0, states=[state], collected_logs=disks, cleaned=cleaned, lineages=known)
    return [(*f.offsets, f.confidence) for f in found_by("log-divergence", timeline, Cluster())]


def batch(base: int, last: int, crc: int, *, epoch: int = 0, whole: bool | None = True, **own: Any) -> dict[str, Any]:
    """Batches with other checksums are from other requests: their records have other timestamps."""
    times = {"base_timestamp": 1000 + crc, "max_timestamp": 1000 + crc, "append_time": False}
    producer = {"producer_id": -1, "producer_epoch": -1, "base_sequence": -1, "control": False, "codec": "none"}
    return {"base_offset": base, "last_offset": last, "leader_epoch": epoch, "crc": crc, "whole": whole, **times, **producer, **own}


OLD = {"epoch": -1}
BOTH = [batch(0, 9, 1), batch(30, 39, 9)]


@pytest.mark.parametrize(
    ("one", "other", "cleaned", "expected"),
    [
        (batch(10, 19, 2), batch(10, 19, 3), None, (Range(10, 30), "certain")),
        (batch(10, 19, 2), batch(10, 19, 3), True, (Range(10, 30), "certain")),  # of neither is anything missing
        (batch(10, 19, 2, whole=False), batch(10, 19, 3), True, None),  # one replica was cleaned, the other not yet
        (batch(10, 19, 2, whole=False), batch(10, 19, 3, epoch=1, whole=False), True, (Range(10, 30), "certain")),
        (batch(10, 19, 2), batch(15, 19, 3), True, None),
        (batch(19, 19, 2, whole=None, **OLD), batch(19, 19, 3, whole=None, **OLD), False, (Range(10, 30), "certain")),
        (batch(19, 19, 2, whole=None, **OLD), batch(19, 19, 3, whole=None, **OLD), None, (Range(10, 30), "possible")),
        (batch(19, 19, 2, whole=None, **OLD), batch(19, 19, 3, whole=None, **OLD), True, None),
    ],
)
def test_the_log_cleaner_is_no_divergence(one: Any, other: Any, cleaned: bool | None, expected: Any) -> None:
    found = diverged([BOTH[0], one, BOTH[1]], [BOTH[0], other, BOTH[1]], cleaned, [[], []])
    assert found == ([expected] if expected else [])


TIMES = {"base_timestamp": 5, "max_timestamp": 9}
PLAIN = batch(10, 29, 2, **TIMES)


@pytest.mark.parametrize(
    ("other", "confidence"),
    [
        (batch(10, 29, 3, codec="gzip", **TIMES), "possible"),
        (batch(10, 14, 3, base_timestamp=5, max_timestamp=7), "possible"),
        (batch(10, 29, 3, **TIMES), "certain"),  # without compression equal records have equal bytes
        (batch(10, 29, 3, codec="gzip", base_timestamp=5, max_timestamp=8), "certain"),
        (batch(10, 29, 3, codec="gzip", producer_id=4, **TIMES), "certain"),
    ],
)
@pytest.mark.parametrize("cleaned", [False, None])
def test_batches_that_may_have_been_compressed_again_do_not_prove_other_records(
    other: dict[str, Any], confidence: str, cleaned: bool | None
) -> None:
    found = diverged([BOTH[0], PLAIN, BOTH[1]], [BOTH[0], other, BOTH[1]], cleaned, [[], []])
    assert found == [(Range(10, 30), confidence)]


@pytest.mark.parametrize(("cleaned", "found"), [(False, [(Range(100, 200), "probable")]), (None, []), (True, [])])
def test_an_epoch_that_begins_later_in_a_copy_of_a_cleaned_log(cleaned: bool | None, found: list[Any]) -> None:
    assert diverged([], [], cleaned, [[(0, 0), (2, 100)], [(0, 0), (2, 130)]]) == found


# where terms began


def epoch_file(broker: int, *entries: tuple[int, int], log_start: int = 0) -> dict[str, str]:
    rows = "".join(f"{epoch} {start}\n" for epoch, start in entries)
    found = copy(broker, f"0\n{len(entries)}\n{rows}", 400)
    return found | ({f"broker-{broker}/data/log-start-offset-checkpoint": f"0\n1\nt 0 {log_start}\n"} if log_start else {})


@pytest.mark.parametrize(
    ("files", "lost"),
    [
        ([epoch_file(3, (0, 0), (3, 200))], [(Range(200, 358), "certain")]),
        ([epoch_file(1, (3, 358)), epoch_file(3, (0, 0), (3, 200))], [(Range(200, 358), "certain")]),  # 1 is a fresh copy
        ([epoch_file(1, (3, 300)), epoch_file(3, (3, 300), log_start=300)], [(Range(200, 300), "possible"), (Range(300, 358), "certain")]),
        ([epoch_file(3, (3, 380), log_start=380)], []),  # retention took what would tell
    ],
)
def test_a_proven_loss_does_not_vanish_with_the_first_entry_of_a_file(files: list[dict[str, str]], lost: list[Any]) -> None:
    """The leader's own line of epoch 3 has rotated away; the old leader, whose log ended at 358, cuts it to 200."""
    s = staged.Story()
    s.leads(2, 0, 0, 0, 0, [2, 3])
    s.isr(2, 5, [2], 1)
    s.offline(9, 10, 2, [2], 2, 2)
    s.online(9, 10.1, 3, 3, [3], 3)
    s.follows(2, 31, 3, 358, 200)
    s.truncates(2, 32, 200)
    reported = staged.report({**s.files, **{path: text for f in files for path, text in f.items()}})
    assert {(p.offsets, p.confidence) for f in staged.of(reported, "data-loss") for p in f.parts} == set(lost)
    (row,) = [r for r in reported.document()["partitions"] if r["topic"] == "t"]
    assert row["verdict"] not in ("intact", "tail-cut")


def test_a_cut_by_leader_epoch_is_proof_wherever_the_term_began() -> None:
    s = staged.Story()
    s.leads(2, 0, 0, 0, 0, [2, 3])
    s.isr(2, 5, [2], 1)
    s.offline(9, 10, 2, [2], 2, 2)
    s.online(9, 10.1, 3, 3, [3], 3)
    s.follows(2, 31, 3, 358, 200, previous=0)
    text = (
        "INFO [ReplicaFetcher replicaId=2, leaderId=3, fetcherId=0] Truncating partition t-0 with TruncationState(offset=200, completed=true) due to "
        "leader epoch and offset EpochEndOffset(errorCode=0, partition=0, leaderEpoch=0, endOffset=200) (kafka.server.ReplicaFetcherThread)"
    )
    s.line(2, "server", 32, text)
    s.truncates(2, 32.1, 200)
    reported = staged.report({**s.files, **epoch_file(3, (3, 380), log_start=380)})
    assert [f.offsets[0] for f in staged.of(reported, "data-loss")] == [Range(200, 358)]


@pytest.mark.parametrize("base", [10, 45, 70])
def test_a_batch_with_a_wrong_base_offset_is_no_other_record(base: int) -> None:
    """No checksum covers the base offset: one flipped bit moves a batch to the offsets of others."""
    right = log_of((0, 70, 1))
    at = len(log_of((0, 30, 1)))
    wrong = right[:at] + struct.pack(">q", base) + right[at + 8 :]
    files = {f"broker-{n}/data/t-0/{0:020d}.log": data for n, data in ((1, log_of((0, 90, 1))), (2, wrong + log_of((70, 90, 1))))}
    found, _ = staged.timeline(files)
    one, two = (found.collected_logs[n] for n in (1, 2))
    assert {same_batches(one, two, cleaned)[0] for cleaned in (None, True, False)} == {True}
    assert False not in {*same_batches(one, two, None).values(), *same_batches(one, two, False).values()}
