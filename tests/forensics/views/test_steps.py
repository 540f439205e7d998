"""What to do next: evidence that would settle a verdict is asked for, and nothing is destroyed before it is copied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from forensics.model.message import Range, said, values
from forensics.views.impact import failures, untouchable
from forensics.views.steps import STEPS, next_steps
from forensics.words import text, words
from tests.forensics.staged import Story, report
from tests.support import found, recorded
from tests.support.found import loss


def state(verdict: str, partition: int = 0) -> dict[str, Any]:
    where = said("verdict/change", leader_epoch=1)
    open_ = said("verdict/open", note=said("coverage/server-log", broker=3), where=where, row=1, cell="log")
    return found.state(verdict, partition, text(open_), reason=found.reason(open_))


LOST = loss(partition=1)
ELECTED = found.found("unclean-election", "critical", topic="t", partition=0)
GAP = found.found("evidence-gap", "low", message="no-logs", brokers=(3,))
SETTLE = "Settle whether t-0 lost records, with the missing evidence or the producers' last acknowledged offsets: server.log of broker 3 would show it."


def test_missing_evidence_comes_after_known_losses_and_before_all_else() -> None:
    steps = next_steps([ELECTED, LOST, GAP], [state("unknown"), state("lost", 1)])
    lost, gap, elected = (words(f).next_steps for f in (LOST, GAP, ELECTED))
    assert lost and gap and elected
    assert steps == [*lost, *gap, SETTLE, *elected]


def two_brokers() -> Story:
    """Broker 1 hands over to broker 2, and both are in sync."""
    story = Story()
    story.leads(1, 0, 0, 0, 0, [1, 2])
    story.isr(1, 1, [1, 2], 1)
    story.leads(2, 10, 1, 100, 100, [1, 2], previous=0)
    return story


def steps_of(files: Mapping[str, str | bytes]) -> list[str]:
    made = report(files)
    assert made.headline.loss == "unknown"
    return next_steps(made.findings, made.partitions)


def test_a_broker_that_was_not_collected_is_collected_before_it_starts() -> None:
    files = {path: text for path, text in two_brokers().files.items() if not path.startswith("broker-2/")}
    (step,) = [step for step in steps_of(files) if step.startswith("Collect the logs and data directories of broker 2: ")]
    assert "`sh collect.sh -n broker-2` on broker 2." in step
    assert "If broker 2 is down, collect its files before it starts" in step


def test_an_empty_log_is_collected_again() -> None:
    files = {**two_brokers().files, "broker-2/logs/server.log": ""}
    assert "Collect server.log* of broker 2 again: broker-2/logs/server.log is empty (0 bytes)." in steps_of(files)


def test_missing_evidence_that_no_verdict_needs_is_no_step() -> None:
    assert next_steps([GAP], [state("intact")]) == []


def test_a_possible_loss_brings_its_own_steps() -> None:
    possible = loss(severity="medium", confidence="possible", offsets=(Range(1, None),))
    assert next_steps([possible], [state("unknown")]) == [*words(possible).next_steps] != []


def test_evidence_without_a_partition_is_never_enough() -> None:
    assert next_steps([], []) == ["Collect the logs and data directories of all brokers: the evidence contains no partition."]


def test_many_steps_never_hide_what_saves_records() -> None:
    others = [replace(ELECTED, values=values(silent=(n,))) for n in range(2 * STEPS)]
    saving = loss(severity="high", values=values(recovery=(said("data-loss/look-for-copy"), said("data-loss/copy", on=(4,)))))
    assert next_steps([*others, saving], [state("intact")])[0].startswith("Copy the directories of t-0 ")


# disks with the only copy


def test_a_running_broker_can_no_longer_be_kept_from_starting() -> None:
    held = loss(still_on=(4,))
    assert [*untouchable([held], lambda: {4})] == ["DO NOT WIPE broker 4, which is running: its disk holds what t-0 lost. Copy it now."]
    assert [*untouchable([held], lambda: {1})] == ["DO NOT START OR WIPE broker 4: its disk holds what t-0 lost. Copy it first."]


def test_the_stray_log_of_a_running_broker_is_copied_now() -> None:
    """Broker 4 came back at 10:35:50 and renamed its log to -stray."""
    made = recorded.report("loser-moved-away-3.8.1-kraft-combined")
    assert made.untouchable == ["DO NOT WIPE broker 4, which is running: its disk holds what orders-0 lost. Copy it now."]


def test_the_only_copy_of_lost_records_is_not_deleted_before_it_is_copied() -> None:
    """Broker 1 alone has the lost offsets 200–250; broker 3 leads, and broker 2 agrees with it."""
    made = recorded.report("unclean-election-0.8.2.2-zk")
    steps = next_steps(made.findings, made.partitions)
    (copied,) = [n for n, step in enumerate(steps) if step.startswith("Copy the directories of orders-0, orders-1 from broker 1 ")]
    (recovered,) = [n for n, step in enumerate(steps) if "kafka-forensics salvage" in step]
    (deleted,) = [n for n, step in enumerate(steps) if "delete" in step and "while broker 1 is stopped" in step]
    assert copied < recovered < deleted
    assert not [step for step in steps if "delete" in step and "broker 3 is stopped" in step]


def test_replicas_that_differ_are_a_present_failure() -> None:
    now = list(failures(recorded.report("unclean-election-0.8.2.2-zk").findings))
    assert any(f.startswith("replicas with different records at the same offsets") and f.endswith(": orders-0 and orders-1") for f in now)
    perhaps = found.found("log-divergence", confidence="possible", topic="t", partition=0)
    assert not [*failures([perhaps])]


def test_partitions_that_differ_at_other_offsets_do_not_share_one_range() -> None:
    """orders-0 differs at 200–266, orders-1 at 200–265."""
    (differing,) = [f for f in recorded.report("unclean-election-0.10.2.2-zk").findings if f.kind == "log-divergence"]
    assert words(differing).summary == "2 partitions (orders-0, orders-1): replicas differ at 133 offsets"
    assert [p.offsets for p in differing.places] == [(Range(200, 267),), (Range(200, 266),)]
