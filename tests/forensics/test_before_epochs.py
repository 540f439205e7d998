"""The first case of KIP-101: what its evidence proves when some of it is older, or is not there. From a recorded 0.10.2.2 cluster."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from forensics.model import Finding, Range
from tests.forensics.staged import of, report

BUNDLE = Path(__file__).parent.parent.parent / "fixtures" / "bundles" / "hw-truncation-0.10.2.2-zk.tar.gz"
OLD_LEADER = "/broker-2/logs/server.log"
"""Broker 2 led with offsets up to 265, broker 1 had them and cut them off before it led; then broker 2 followed it."""
RETURNED = b"[2026-11-21 10:41:1"


@cache
def collected() -> dict[str, bytes]:
    with tarfile.open(BUNDLE) as whole:
        return {info.name: content.read() for info in whole if (content := whole.extractfile(info)) is not None}


def losses(change: Callable[[str, bytes], bytes | None] = lambda _, data: data) -> list[Finding]:
    """Losses told where the collection is another: files changed, or left out."""
    changed = {path: change(path, data) for path, data in collected().items()}
    return of(report({path: data for path, data in changed.items() if data is not None}), "data-loss")


def quoted(finding: Finding) -> set[tuple[str, str]]:
    return {("/".join(e.source.split("/")[-3:]), e.text.partition("] INFO ")[2].strip()) for e in finding.evidence}


def test_the_old_leaders_checkpoint_proves_that_they_were_committed() -> None:
    (loss,) = losses()
    assert (loss.topic, loss.partition, loss.offsets) == ("payments", 0, (Range(200, 265),))
    assert (loss.cause, loss.committed, loss.severity, loss.confidence) == ("hw-truncation", True, "critical", "probable")
    assert {
        ("broker-1/logs/server.log", "Truncating log payments-0 to offset 200. (kafka.log.Log)"),
        ("broker-2/logs/server.log", "Truncating log payments-0 to offset 265. (kafka.log.Log)"),
        ("broker-2/logs/server.log", "Truncating log payments-0 to offset 200. (kafka.log.Log)"),
    } <= quoted(loss)
    assert "first case of KIP-101" in loss.explanation
    assert "Broker 1 itself had them, and cut its log from 265 to 200" in loss.explanation
    assert "a high watermark of 265 was seen" in loss.explanation
    assert loss.explanation.count("cut its log from") == 2


def as_0_8_2_says_it(path: str, data: bytes) -> bytes:
    """It cut its log first and said then that it was reset, from where the log ended by now."""
    if not path.endswith(OLD_LEADER):
        return data
    lines = data.splitlines(keepends=True)
    reset = next(n for n, line in enumerate(lines) if b"reset its fetch offset" in line)
    said = lines[reset].replace(b"from 265 to", b"from 200 to")
    return b"".join([*lines[:reset], lines[reset + 1], said, *lines[reset + 2 :]])


def test_the_order_in_which_a_follower_says_it_is_the_same_to_the_verdict() -> None:
    (loss,) = losses(as_0_8_2_says_it)
    (as_of_0_9,) = losses()
    assert (loss.offsets, loss.committed, loss.cause) == (as_of_0_9.offsets, as_of_0_9.committed, as_of_0_9.cause)
    assert "a high watermark of 265 was seen" in loss.explanation
    segments_apart = losses(lambda path, data: None if "/payments-" in path else as_0_8_2_says_it(path, data))
    assert [(f.offsets, f.committed) for f in segments_apart] == [((Range(200, 265),), True)]


def checkpointed_at(offset: int) -> Callable[[str, bytes], bytes]:
    """The old leader died long after its last checkpoint: it cuts its log twice when it is back."""

    def change(path: str, data: bytes) -> bytes:
        if not path.endswith(OLD_LEADER):
            return data
        end = b"%d" % offset
        lines = data.splitlines(keepends=True)
        return b"".join(
            line.replace(b"to offset 265.", b"to offset " + end + b".").replace(b"from 265 ", b"from " + end + b" ")
            if line.startswith(RETURNED) and b"payments-0" in line
            else line.replace(b"initOffset 265", b"initOffset " + end)
            for line in lines
        )

    return change


def test_an_older_checkpoint_leaves_it_to_the_logs_of_the_whole_isr() -> None:
    (loss,) = losses(checkpointed_at(250))
    assert (loss.offsets, loss.cause, loss.committed) == ((Range(200, 265),), "hw-truncation", True)
    assert "brokers 1 and 2, the whole ISR, had them before broker 1 cut its log" in loss.explanation.replace(
        "brokers 2 and 1", "brokers 1 and 2"
    )


def never_told(path: str, data: bytes) -> bytes:
    """The old leader had checkpointed what the new one had: it cuts its log to its own high watermark, and fetches."""
    if not path.endswith(OLD_LEADER):
        return data
    lines = checkpointed_at(200)(path, data).splitlines(keepends=True)
    return b"".join(line for line in lines if not (b"reset" in line or (line.startswith(RETURNED) and b"10,704" in line)))


def test_both_checkpoints_are_old_and_the_new_leader_wrote_other_records_there() -> None:
    (loss,) = losses(never_told)
    assert (loss.offsets, loss.cause, loss.committed) == ((Range(200, 265),), "hw-truncation", True)
    assert loss.confidence == "probable"


def test_both_checkpoints_are_old_and_nobody_hands_over_segments() -> None:
    """The new leader may have fetched them again: nothing is told for sure, and they are not said to be nobody's."""
    (loss,) = losses(lambda path, data: None if "/payments-" in path else never_told(path, data))
    assert (loss.confidence, loss.offsets) == ("possible", (Range(200, None),))


def fetched_some(path: str, data: bytes) -> bytes | None:
    """The new leader had got a part again before it led; no segments."""
    if path.endswith(OLD_LEADER):
        return data.replace(b"latest offset 200", b"latest offset 230").replace(b"payments-0 to offset 200", b"payments-0 to offset 230")
    return None if "/payments-" in path else data


def test_what_the_new_leader_had_fetched_again_is_not_lost() -> None:
    (loss,) = losses(fetched_some)
    assert (loss.offsets, loss.cause, loss.committed) == ((Range(230, 265),), "hw-truncation", True)


def without(*parts: str) -> Callable[[str, bytes], bytes | None]:
    return lambda path, data: None if any(part in path for part in parts) else data


@pytest.mark.parametrize("parts", [["/payments-0/"], ["replication-offset-checkpoint"], ["/cluster/"]], ids=str)
def test_neither_segments_nor_todays_checkpoints_are_needed(parts: list[str]) -> None:
    (loss,) = losses(without(*parts))
    assert (loss.offsets, loss.cause, loss.committed) == ((Range(200, 265),), "hw-truncation", True)


def test_never_said_to_be_nobodys_without_the_new_leaders_log() -> None:
    found = losses(without("/broker-1/logs/server.log"))
    assert [f.offsets for f in found] == [(Range(200, 265),)]
    assert found[0].committed is True
    assert found[0].severity == "critical"
