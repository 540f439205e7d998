"""Which copy holds what was lost: leader epochs decide, whatever the copies' age, and each offset comes from one place."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

import google_crc32c
import pytest

from forensics.model.findings import Finding, Salvageable
from forensics.model.message import Range
from forensics.tools.salvage.segments import lots
from forensics.words import text, words
from tests.forensics.staged import START, Story, of, report, timeline
from tests.parsers.decoding.test_batches import v1

SEGMENT = "00000000000000000000.log"
LATE = START + timedelta(hours=1)


def batch(base: int, epoch: int, *, count: int = 10, producer: int = -1) -> bytes:
    """Records that are others in every epoch."""
    payload = struct.pack(">qi", base, epoch) * count
    fields = struct.pack(">hiqqqhii", 0, count - 1, 1000, 2000, producer, 0, -1, count) + payload
    return struct.pack(">qiibI", base, 9 + len(fields), epoch, 2, google_crc32c.value(fields)) + fields


def log(*spans: tuple[int, int, int]) -> bytes:
    """Batches of ten from start to end (exclusive) of a leader epoch."""
    return b"".join(batch(base, epoch) for start, end, epoch in spans for base in range(start, end, 10))


def unclean(s: Story, *, start: int = 200, end: int = 300, epoch: int = 2, old: int = 1, new: int = 2, seconds: float = 10) -> None:
    """`old` led alone from `start` on and reached `end`; `new` is elected without that, in the next epoch but one."""
    s.leads(old, seconds, epoch, start, start, [old], previous=epoch - 1)
    s.offline(3, seconds + 9, epoch + 1, [old], epoch + 1, old)
    s.online(3, seconds + 9.5, epoch + 2, new, [new], epoch + 2)
    s.leads(new, seconds + 10, epoch + 2, start, start, [new], previous=epoch + 1)
    s.follows(old, seconds + 20, epoch + 2, end, end, previous=epoch)
    s.truncates(old, seconds + 20.1, start)


def losses(s: Story, disks: Mapping[str, bytes], modified: Mapping[str, datetime] | None = None) -> list[Finding]:
    files = {f"{place}/t-0/{SEGMENT}": data for place, data in disks.items()}
    reported = report({**s.files, **files}, {**dict.fromkeys(files, LATE), **(modified or {})})
    return sorted(of(reported, "data-loss"), key=lambda f: f.leader_epoch or 0)


def held(found: Finding) -> list[tuple[str, int, Range]]:
    assert found.salvageable is not None
    return [(h.source.removesuffix(f"/t-0/{SEGMENT}"), h.leader_epoch, h.offsets) for h in found.salvageable.held]


@pytest.fixture
def story() -> Story:
    s = Story()
    unclean(s)
    return s


NOW = log((0, 200, 1), (200, 260, 4))
BEFORE = log((0, 200, 1), (200, 300, 2))


def test_the_copy_from_before_the_cut_and_not_what_stands_there_now(story: Story) -> None:
    (found,) = losses(story, {"broker-1/data": NOW, "broker-2/data": NOW, "before/broker-1/data": BEFORE})
    assert held(found) == [("before/broker-1/data", 2, Range(200, 300))]
    assert (
        found.salvageable == Salvageable(found.salvageable.held, (), True, None, found.salvageable.producers)
        if found.salvageable
        else False
    )


def test_no_copy_says_where_one_might_be(story: Story) -> None:
    (found,) = losses(story, {"broker-1/data": NOW, "broker-2/data": NOW})
    assert found.salvageable is not None and not found.salvageable.held and found.salvageable.missing == (Range(200, 300),)
    assert found.salvageable.elsewhere is not None and "broker 1 had them" in text(found.salvageable.elsewhere)


@pytest.mark.parametrize("aside", ["t-0.0123456789abcdef0123456789abcdef-delete", "t-0.0123456789abcdef0123456789abcdef-stray"])
def test_a_directory_that_was_put_aside(story: Story, aside: str) -> None:
    files = {f"broker-2/data/t-0/{SEGMENT}": NOW, f"broker-1/data/{aside}/{SEGMENT}": BEFORE}
    (found,) = of(report({**story.files, **files}, dict.fromkeys(files, LATE)), "data-loss")
    assert found.salvageable is not None and [h.offsets for h in found.salvageable.held] == [Range(200, 300)]


@pytest.mark.parametrize("mark", [".deleted", ".swap", ".cleaned"])
def test_a_renamed_file_of_a_known_loss_is_offered_once(story: Story, mark: str) -> None:
    cut = f"broker-1/data/t-0/00000000000000000200.log{mark}"
    files = {f"broker-{n}/data/t-0/{SEGMENT}": NOW for n in (1, 2)} | {cut: log((200, 300, 2))}
    reported = report({**story.files, **files}, dict.fromkeys(files, LATE))
    (found,) = of(reported, "data-loss")
    assert found.salvageable is not None and [(h.source, h.offsets) for h in found.salvageable.held] == [(cut, Range(200, 300))]
    assert not of(reported, "records-outside-log")


def test_only_a_renamed_file_shows_what_the_new_leader_never_had() -> None:
    """Without the lines of the broker whose log was cut."""
    s = Story()
    s.leads(2, 20, 4, 200, 200, [2], previous=3)
    files = {f"broker-{n}/data/t-0/{SEGMENT}": NOW for n in (1, 2)} | {f"broker-1/data/t-0/{200:020d}.log.deleted": log((200, 300, 2))}
    reported = report({**s.files, **files}, dict.fromkeys(files, LATE))
    (found,) = of(reported, "data-loss")
    assert found.offsets == (Range(200, 300),) and found.committed is None and found.confidence != "certain"
    assert found.salvageable is not None and [h.offsets for h in found.salvageable.held] == [Range(200, 300)]


def test_records_that_only_renamed_files_have_are_offered_and_not_called_lost() -> None:
    s = Story()
    s.leads(1, 0, 1, 0, 0, [1])
    parts = {200: log((200, 240, 1)), 240: log((240, 300, 1))}
    files = {f"broker-1/data/t-0/{SEGMENT}": log((0, 200, 1))} | {f"broker-1/data/t-0/{n:020d}.log.deleted": d for n, d in parts.items()}
    reported = report({**s.files, **files}, dict.fromkeys(files, LATE))
    (found,) = of(reported, "records-outside-log")
    assert not of(reported, "data-loss") and found.committed is None
    (lot,) = lots(reported.findings)
    assert not lot.lost and [(h.source[-31:], h.offsets) for h in lot.found.held] == [
        (f"{200:020d}.log.deleted"[-31:], Range(200, 240)),
        (f"{240:020d}.log.deleted"[-31:], Range(240, 300)),
    ]


def test_a_start_that_completes_a_swap_reads_the_swap_files() -> None:
    """LogLoader.load: complete `.swap` files replace the segments that they were made of, and a `.cleaned` file shows an incomplete set."""
    old, new = log((0, 40, 1)), batch(0, 1) + batch(30, 1)
    files = {
        f"broker-1/data/t-0/{SEGMENT}.swap": new,
        f"broker-1/data/t-0/{0:020d}.log": old,
        f"broker-1/data/t-0/{40:020d}.log": log((40, 60, 1)),
    }
    loaded, _ = timeline(files)
    assert [b["base_offset"] for b in loaded.collected_logs[1].batches()] == [0, 30, 40, 50]
    incomplete, _ = timeline(files | {f"broker-1/data/t-0/{0:020d}.log.cleaned": new})
    assert [b["base_offset"] for b in incomplete.collected_logs[1].batches()] == [0, 10, 20, 30, 40, 50]


def test_parts_of_several_copies_make_one_whole_and_the_rest_is_missing(story: Story) -> None:
    parts = {"one/broker-1/data": log((0, 200, 1), (200, 240, 2)), "two/broker-1/data": log((250, 300, 2))}
    (found,) = losses(story, {"broker-1/data": NOW, "broker-2/data": NOW, **parts})
    assert [(source, offsets) for source, _, offsets in held(found)] == [
        ("one/broker-1/data", Range(200, 240)),
        ("two/broker-1/data", Range(250, 300)),
    ]
    assert found.salvageable is not None and found.salvageable.missing == (Range(240, 250),)


def test_each_of_two_losses_at_the_same_offsets_has_its_own_records(story: Story) -> None:
    """What epoch 4 wrote at 200 and on is lost in turn; the newer copy holds it, the older one what was lost before."""
    unclean(story, start=200, end=260, epoch=4, old=2, new=3, seconds=60)
    now = log((0, 200, 1), (200, 230, 6))
    disks = {f"broker-{n}/data": now for n in (1, 2, 3)} | {"first/broker-1/data": BEFORE, "second/broker-2/data": NOW}
    first, second = losses(story, disks)
    assert held(first) == [("first/broker-1/data", 2, Range(200, 300))]
    assert held(second) == [("second/broker-2/data", 4, Range(200, 260))]


def test_a_damaged_batch_is_not_taken_for_what_was_lost(story: Story) -> None:
    torn = bytearray(BEFORE)
    torn[len(log((0, 200, 1))) + 70] ^= 1
    (found,) = losses(story, {"broker-1/data": NOW, "broker-2/data": NOW, "before/broker-1/data": bytes(torn)})
    assert found.salvageable is not None
    assert ([h.offsets for h in found.salvageable.held], found.salvageable.missing) == ([Range(210, 300)], (Range(200, 210),))


def test_without_epochs_the_saved_log_of_who_had_them_is_no_more_than_probable(story: Story) -> None:
    def old(tag: bytes, span: Iterable[int]) -> bytes:
        return b"".join(v1(n, b"%b-%d" % (tag, n)) for n in span)

    now = old(b"a", range(200)) + old(b"new", range(200, 260))
    before = old(b"a", range(200)) + old(b"lost", range(200, 300))
    (found,) = losses(story, {"broker-1/data": now, "broker-2/data": now, "before/broker-1/data": before, "before/broker-3/data": before})
    assert held(found) == [("before/broker-1/data", -1, Range(200, 300))]
    assert found.salvageable is not None and not found.salvageable.certain


def test_producers_are_counted_of_what_is_held(story: Story) -> None:
    before = log((0, 200, 1)) + b"".join(batch(base, 2, producer=7 if base < 250 else -1) for base in range(200, 300, 10))
    (found,) = losses(story, {"broker-1/data": NOW, "broker-2/data": NOW, "before/broker-1/data": before})
    assert found.salvageable is not None
    assert [(p.id, p.records) for p in found.salvageable.producers] == [(None, 50), (7, 50)]


def other(base: int, end: int, epoch: int) -> bytes:
    """A valid batch that no leader of the story wrote."""
    return batch(base, epoch, count=end - base, producer=9)


@pytest.mark.parametrize("forged", [log((0, 200, 1)) + other(200, 300, 2), log((0, 200, 1)) + other(200, 210, 2) + log((210, 300, 2))])
@pytest.mark.parametrize("place", ["aaa/broker-1/data", "zzz/broker-1/data"])
def test_copies_that_differ_in_one_epoch_are_named_and_none_is_certain(story: Story, forged: bytes, place: str) -> None:
    (found,) = losses(story, {"broker-1/data": NOW, "broker-2/data": NOW, "before/broker-1/data": BEFORE, place: forged})
    assert found.salvageable is not None and not found.salvageable.certain
    (differing,) = found.salvageable.differing
    assert (differing.leader_epoch, differing.offsets.start) == (2, 200)
    assert [source.removesuffix(f"/t-0/{SEGMENT}") for source in differing.sources] == sorted(["before/broker-1/data", place])


def test_differing_copies_are_a_finding_whatever_the_directory(story: Story) -> None:
    forged = log((0, 200, 1)) + other(200, 300, 2)
    aside = "t-0.0123456789abcdef0123456789abcdef-stray"
    files = {
        f"broker-2/data/t-0/{SEGMENT}": NOW,
        f"before/broker-1/data/t-0/{SEGMENT}": BEFORE,
        f"broker-3/data/{aside}/{SEGMENT}": forged,
    }
    reported = report({**story.files, **files}, dict.fromkeys(files, LATE))
    assert any("different records at offsets 200" in words(f).summary for f in of(reported, "log-divergence"))


def test_a_copy_that_may_only_be_compressed_again_is_no_proof_of_other_records(story: Story) -> None:
    body = struct.pack(">hiqqqhii", 1, 9, 1000, 2000, -1, 0, -1, 10) + b"gzip"
    packed = struct.pack(">qiibI", 210, 9 + len(body), 2, 2, google_crc32c.value(body)) + body
    files = {
        f"broker-2/data/t-0/{SEGMENT}": NOW,
        f"before/broker-1/data/t-0/{SEGMENT}": BEFORE,
        f"again/broker-1/data/t-0/{SEGMENT}": log((0, 200, 1), (200, 210, 2)) + packed + log((220, 300, 2)),
    }
    (found,) = of(report({**story.files, **files}, dict.fromkeys(files, LATE)), "log-divergence")
    assert (found.confidence, found.severity, found.offsets) == ("possible", "medium", (Range(210, 220),))
    assert "different batches" in words(found).summary and "kafka-dump-log" in words(found).next_steps[0]


@pytest.mark.parametrize("mark", ["deleted", "swap", "cleaned"])
def test_a_file_that_kafka_renamed_is_offered(story: Story, mark: str) -> None:
    files = {f"broker-2/data/t-0/{SEGMENT}": NOW, f"broker-1/data/t-0/{SEGMENT}": NOW, f"broker-1/data/t-0/{SEGMENT}.{mark}": BEFORE}
    (found,) = of(report({**story.files, **files}, dict.fromkeys(files, LATE)), "data-loss")
    assert found.salvageable is not None and [h.offsets for h in found.salvageable.held] == [Range(200, 300)]
    assert found.salvageable.held[0].source.endswith(f".{mark}")


def test_a_leader_whose_directory_was_collected_without_segments_is_not_compared(story: Story) -> None:
    """What its follower copied after the cut is of the new leader epoch: these are not the lost records."""
    story.put("broker-2/data/t-0/leader-epoch-checkpoint", ["0", "3", "1 0", "2 200", "4 200"])
    (found,) = losses(story, {"broker-1/data": NOW})
    assert found.offsets == (Range(200, 300),) and held(found) == []
    assert found.salvageable is not None and found.salvageable.missing == (Range(200, 300),)


def test_records_are_counted_of_each_part_and_not_of_whole_batches() -> None:
    """A batch crosses the high watermark."""
    s = Story()
    s.leads(1, 10, 2, 200, 200, [1, 3], previous=1)
    s.offline(9, 19, 3, [3], 3, 1)
    s.online(9, 19.5, 4, 2, [2], 4)
    s.leads(2, 20, 4, 200, 200, [2], previous=3)
    s.follows(1, 30, 4, 300, 245, previous=2)
    s.truncates(1, 30.1, 200)
    (loss,) = losses(s, {"broker-1/data": NOW, "broker-2/data": NOW, "before/broker-1/data": BEFORE})
    assert [(p.offsets, p.committed, p.records) for p in loss.parts] == [(Range(200, 245), True, 45), (Range(245, 300), None, 55)]
    assert loss.salvageable is not None and [p.records for p in loss.salvageable.producers] == [100]
