"""Segments of recorded incidents with damaged or changed batches: what damage hides is never reported as gone, and never makes a claim surer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import pytest

from forensics.model.findings import Finding
from forensics.model.message import Range, joined
from forensics.views.document import Report
from forensics.words import words
from tests.support import damaged, local, taken
from tests.support.damaged import Change, changed
from tests.support.shapes import File, Files, bundle, renamed, without

LEFT_DOWN = "producers-left-down-2.8.2-zk"
"""Broker 3 led orders-0, stopped, and was never started again: its segment ends with the lost offsets 211–382."""
OLD_LEADER = "broker-3/data/orders-0/00000000000000000000.log"
UNCLEAN = "unclean-election-2.8.2-zk"
CLEAN = "clean-failover-2.8.2-zk"
PAYMENTS = "broker-1/data/payments-0/00000000000000000000.log"
CHECKPOINT = "replication-offset-checkpoint$"
BELOW, FIRST_LOST, INSIDE, LAST = 12, 22, 30, 35
DAMAGES = (damaged.payload_flipped, damaged.length_damaged, damaged.magic_damaged, damaged.zeroed, damaged.torn)


class Checked(NamedTuple):
    verdicts: dict[str, str]
    findings: Sequence[Finding]

    def of(self, kind: str, name: str) -> list[Finding]:
        return [f for f in self.findings if f.kind == kind and f.name == name]


@cache
def unchanged(name: str) -> Checked:
    return checked(bundle(name))


@cache
def without_checkpoint(name: str) -> Checked:
    return checked(without(bundle(name), CHECKPOINT))


def checked(files: Files) -> Checked:
    found: Report = taken.report(files)
    return Checked({f"{p['topic']}-{p['partition']}": p["verdict"] for p in found.partitions}, local.spread(found.findings))


def whole(name: str, path: str) -> tuple[int, ...]:
    """All batches of a segment."""
    return tuple(range(len(damaged.frames(bundle(name)[path].content))))


def of_loss(found: Checked, name: str) -> list[tuple[str, Range, bool | None]]:
    return [(f.confidence, r, f.committed) for f in found.of("data-loss", name) for r in f.offsets]


def corrupt(found: Checked, name: str) -> list[tuple[str, tuple[int, ...], tuple[Range, ...]]]:
    return [(f.severity, f.brokers, f.offsets) for f in found.of("segment-corrupt", name)]


def test_the_premises() -> None:
    own = damaged.frames(bundle(LEFT_DOWN)[OLD_LEADER].content)
    assert [own[n].base for n in (BELOW, FIRST_LOST, INSIDE, LAST)] == [120, 211, 341, 373] and own[LAST].last == 382
    found = checked(bundle(LEFT_DOWN))
    assert found.verdicts["orders-0"] == "lost" and of_loss(found, "orders-0") == [("certain", Range(211, 383), True)]
    assert not [f for f in found.findings if f.kind in ("segment-corrupt", "log-divergence")]


# the log of the old leader, which shows how much was lost


@pytest.mark.parametrize("change", DAMAGES)
@pytest.mark.parametrize("batch", [0, BELOW, FIRST_LOST, INSIDE, LAST])
def test_damage_does_not_shrink_a_loss(change: Change, batch: int) -> None:
    """The checkpointed high watermark shows that the log had reached 383, and valid batches behind a damage show it as well."""
    found = checked(changed(bundle(LEFT_DOWN), OLD_LEADER, change, batch))
    assert found.verdicts["orders-0"] == "lost"
    sure = [r for confidence, r, committed in of_loss(found, "orders-0") if (confidence, committed) == ("certain", True)]
    assert joined(sure) == (Range(211, 383),), "in parts, by what the damaged disk still has"
    assert {(c, r.start) for c, r, _ in of_loss(found, "orders-0") if r not in sure} <= {("possible", 383)}


@pytest.mark.parametrize("change", DAMAGES)
@pytest.mark.parametrize("batch", [0, FIRST_LOST, INSIDE, LAST])
def test_without_a_checkpoint_less_is_known_and_nothing_is_surer(change: Change, batch: int) -> None:
    files = without(bundle(LEFT_DOWN), CHECKPOINT)
    before, after = without_checkpoint(LEFT_DOWN), checked(changed(files, OLD_LEADER, change, batch))
    assert after.verdicts["orders-0"] in (before.verdicts["orders-0"], "unknown")
    known = of_loss(before, "orders-0")
    for confidence, offsets, committed in of_loss(after, "orders-0"):
        if (confidence, offsets, committed) not in known and confidence != "possible":
            assert offsets.start == 211 and offsets.end is not None and offsets.end <= 383
            parts = [(p.confidence, p.offsets) for f in after.of("data-loss", "orders-0") for p in f.parts]
            assert ("possible", Range(offsets.end, None)) in parts
            assert committed is None or committed == known[0][2]


@pytest.mark.parametrize("change", DAMAGES[:3])
def test_a_damaged_segment_tells_no_more_than_a_missing_one(change: Change) -> None:
    files = bundle(LEFT_DOWN)
    missing = checked({p: f for p, f in files.items() if p != OLD_LEADER})
    found = checked(changed(files, OLD_LEADER, change, *whole(LEFT_DOWN, OLD_LEADER)))
    assert found.verdicts == missing.verdicts
    assert of_loss(found, "orders-0") == of_loss(missing, "orders-0")


def test_the_finding_names_file_byte_offsets_and_who_has_valid_batches() -> None:
    (inside,) = checked(changed(bundle(LEFT_DOWN), OLD_LEADER, damaged.payload_flipped, INSIDE)).of("segment-corrupt", "orders-0")
    frame = damaged.frames(bundle(LEFT_DOWN)[OLD_LEADER].content)[INSIDE]
    assert (inside.severity, inside.confidence, inside.brokers, inside.offsets) == ("high", "certain", (3,), (Range(341, 351),))
    assert f"{OLD_LEADER} has no valid batch from byte {frame.position} to byte {frame.end}" in words(inside).explanation
    assert "No other collected replica has valid batches at these offsets" in words(inside).explanation
    assert (
        "truncates the log to offset 341 and deletes the rest of the log, including valid batches up to offset 382"
        in words(inside).explanation
    )
    assert (inside.evidence[0].source, inside.evidence[0].byte) == (OLD_LEADER, frame.position)

    (below,) = checked(changed(bundle(LEFT_DOWN), OLD_LEADER, damaged.payload_flipped, BELOW)).of("segment-corrupt", "orders-0")
    assert (below.severity, below.offsets) == ("medium", (Range(120, 130),))
    assert "Brokers 1 and 2 have valid batches at these offsets" in words(below).explanation
    assert "Keep that copy of orders-0: the log has records that brokers 1 and 2 do not have." in words(below).next_steps


def test_a_damaged_log_has_no_valid_batches_for_itself() -> None:
    """The disk was full, so the segment of media-1 on broker 2 ends within a batch; the leader has the records, and no offsets are missing."""
    (torn,) = checked(bundle("disk-full-restarts-2.8.2-zk")).of("segment-corrupt", "media-1")
    assert torn.brokers == (2,) and "No offsets are missing there." in words(torn).explanation
    assert not any("Valid batches" in step for step in words(torn).next_steps)
    assert any("the directory of media-1 on broker 2" in step for step in words(torn).next_steps)


def test_a_stray_directory_that_holds_the_lost_records_is_looked_at_too() -> None:
    name, path = (
        "loser-moved-away-3.8.1-kraft-combined",
        "broker-4/data/orders-0.9ccab366bd9e40fe98f43f22aad86681-stray/00000000000000000000.log",
    )
    for batch, severity in ((35, "high"), (5, "low")):
        found = checked(changed(bundle(name), path, damaged.payload_flipped, batch))
        frame = damaged.frames(bundle(name)[path].content)[batch]
        assert corrupt(found, "orders-0") == [(severity, (4,), (Range(frame.base, frame.last + 1),))]
        assert of_loss(found, "orders-0") == [("certain", Range(300, 386), True)]


def test_damaged_records_are_not_salvageable() -> None:
    found = checked(changed(bundle(LEFT_DOWN), OLD_LEADER, damaged.payload_flipped, INSIDE)).of("data-loss", "orders-0")
    left = found[0].salvageable
    assert left is not None
    assert [h.offsets for h in left.held] == [Range(211, 341), Range(351, 383)]
    assert left.missing == (Range(341, 351),)


# logs of replicas that are up


@pytest.mark.parametrize("broker", [1, 2, 3])
@pytest.mark.parametrize(("change", "batch"), [(damaged.payload_flipped, 5), (damaged.payload_flipped, 21), (damaged.length_damaged, 10)])
def test_a_loss_that_lines_prove_stays_as_it_is(broker: int, change: Change, batch: int) -> None:
    path = f"broker-{broker}/data/orders-0/00000000000000000000.log"
    found = checked(changed(bundle(UNCLEAN), path, change, batch))
    assert found.verdicts["orders-0"] == "lost"
    assert of_loss(found, "orders-0") == [("certain", Range(200, 358), True)]
    assert [f.brokers for f in found.of("segment-corrupt", "orders-0")] == [(broker,)]


@pytest.mark.parametrize(
    ("change", "batch", "broker"),
    [(change, batch, 1 + (n + m) % 3) for n, change in enumerate(DAMAGES) for m, batch in enumerate((0, 55, 109))],
)
def test_damage_where_nothing_was_lost_claims_no_loss(change: Change, batch: int, broker: int) -> None:
    """Each damage and each batch is on the leader and on both followers once."""
    before = unchanged(CLEAN)
    found = checked(changed(bundle(CLEAN), PAYMENTS.replace("broker-1", f"broker-{broker}"), change, batch))
    assert found.verdicts["payments-0"] in (before.verdicts["payments-0"], "unknown")
    assert {n: v for n, v in found.verdicts.items() if n != "payments-0"} == {n: v for n, v in before.verdicts.items() if n != "payments-0"}
    assert [c for c, *_ in of_loss(found, "payments-0") if c != "possible"] == []


def test_the_leader_is_worse_than_a_follower() -> None:
    """Leader of payments-0 at the end: the replica that the last term names."""
    severities = {}
    for broker in (1, 2, 3):
        path = PAYMENTS.replace("broker-1", f"broker-{broker}")
        found = checked(changed(bundle(CLEAN), path, damaged.payload_flipped, 55))
        severities[broker] = [s for s, *_ in corrupt(found, "payments-0")]
    assert sorted(severities.values()) == [["high"], ["medium"], ["medium"]]


@pytest.mark.parametrize("change", [damaged.torn, damaged.zeroed])
def test_the_torn_end_of_a_log_is_no_finding(change: Change) -> None:
    assert corrupt(checked(changed(bundle(CLEAN), PAYMENTS, change, -1)), "payments-0") == []


# two contents


@pytest.mark.parametrize(
    "batches", [(0,), (55,), (109,), (107, 108, 109), tuple(range(110))], ids=["first", "middle", "last", "tail", "all"]
)
def test_other_records_in_the_same_epoch_are_found(batches: tuple[int, ...]) -> None:
    found = checked(changed(bundle(CLEAN), PAYMENTS, damaged.rewritten, *batches))
    (divergence,) = found.of("log-divergence", "payments-0")
    assert (divergence.severity, divergence.confidence) == ("critical", "certain")
    assert found.verdicts["payments-0"] == "unknown"
    assert "no election causes this" in words(divergence).explanation


@pytest.mark.parametrize(
    ("batches", "offsets", "confidence"),
    [((0,), Range(0, 10), "certain"), ((21,), Range(210, 211), "certain"), (tuple(range(22)), Range(0, 211), "certain")],
)
def test_other_records_in_the_same_epoch_are_found_on_a_replica_that_is_not_in_sync(
    batches: tuple[int, ...], offsets: Range, confidence: str
) -> None:
    """Broker 3 never came back. What it wrote in a later epoch than the new leader's log has is an ordinary tail; below, both have epoch 0."""
    found = checked(changed(bundle(LEFT_DOWN), OLD_LEADER, damaged.rewritten, *batches)).of("log-divergence", "orders-0")
    assert {f.offsets for f in found} == {(offsets,)}
    assert all(3 in f.brokers for f in found) and "certain" in {f.confidence for f in found}


def test_a_tail_of_an_older_epoch_on_a_replica_that_is_not_in_sync_is_no_finding() -> None:
    found = checked(changed(bundle(LEFT_DOWN), OLD_LEADER, damaged.rewritten, *range(FIRST_LOST, LAST + 1)))
    assert found.of("log-divergence", "orders-0") == []


def second(files: Files, place: str, *, earlier: float = 0) -> Files:
    """Another copy of broker 1's log of payments-0, next to the bundle's."""
    copied = renamed(files, lambda p: place + p.removeprefix("broker-1/data") if p.startswith("broker-1/data/payments-0") else None)
    if earlier:
        copied |= renamed(files, lambda p: place + p.removeprefix("broker-1/data") if p == "broker-1/data/meta.properties" else None)
    return {path: File(file.content, file.modified - earlier) for path, file in copied.items()}


@pytest.mark.parametrize(("place", "earlier"), [("broker-1/data2", 0.0), ("earlier/broker-1/data", 1.0)], ids=["directory", "collection"])
def test_two_copies_of_one_broker_with_other_records_are_found(place: str, earlier: float) -> None:
    files = bundle(CLEAN)
    copy = second(files, place, earlier=earlier)
    path = f"{place}/payments-0/00000000000000000000.log"
    assert checked({**files, **copy}).of("log-divergence", "payments-0") == []
    (found,) = checked({**files, **changed(copy, path, damaged.rewritten, 20)}).of("log-divergence", "payments-0")
    frame = damaged.frames(copy[path].content)[20]
    assert (found.severity, found.confidence, found.brokers) == ("high", "probable", (1,))
    assert found.offsets == (Range(frame.base, frame.last + 1),)
    assert "Other batches of the two logs are identical" in words(found).explanation
