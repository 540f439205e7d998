"""What counts as lost: small stories of leaders, followers and truncations, with what they cost."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from forensics.exemplars import exemplars_of
from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Exemplar, Finding, Held, Salvageable, Written
from forensics.model.message import Message, Range
from forensics.model.partition.replicas import Disk, disk
from forensics.model.partition.timeline import build
from forensics.proof.losses import losses as lost
from forensics.rules import RULES
from forensics.rules.data_loss import merged
from forensics.words import text, words
from forensics.words.formats import moment
from tests.forensics.proof.staging import Staged
from tests.forensics.staged import START, Files, Story, at, of, report, shifted, table, timeline
from tests.forensics.staged import timeline as staged_timeline
from tests.support import local

Checked = tuple[object, ...]


def losses(files: Files, modified: dict[str, datetime] | None = None) -> list[Finding]:
    return of(report(files, modified), "data-loss")


def checked(finding: Finding) -> Checked:
    return finding.offsets, finding.committed, finding.cause, finding.confidence


# no loss


def test_follower_that_cuts_and_fetches_again_loses_nothing() -> None:
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2, 3])
    s.loads(1, 20, 170, unclean=True)
    s.follows(1, 22, 2, 170, 156)
    s.truncates(1, 22.1, 156)
    s.leads(3, 10, 2, 170, 163, [3, 2], previous=0)
    assert losses(s.files) == []


def test_a_cut_of_a_log_whose_end_nobody_told_proves_one_record_and_leaves_the_rest_open() -> None:
    """Broker 1 led on after broker 3 was elected at 150: that it had more by then only the line of its cut says."""
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2, 3])
    s.leads(3, 10, 1, 150, 150, [3, 2], previous=0)
    s.line(
        1,
        "state-change",
        11,
        "TRACE [Broker id=1] Received LeaderAndIsr request PartitionState(controllerEpoch=1, leader=3, leaderEpoch=1, isr=[3, 2], zkVersion=1, "
        "replicas=[1, 2, 3], isNew=false) correlation id 1 from controller 3 epoch 1 for partition t-0 (state.change.logger)",
    )
    s.truncates(1, 12, 150)
    (loss,) = losses(s.files)
    ranges = (Range(150, 151), Range(151, None))
    assert checked(loss) == (ranges, False, "uncommitted-tail", "possible"), "what producers sent is not in evidence"
    assert any("would show the exact end" in step for step in words(loss).next_steps)


def test_follower_ahead_of_a_leader_that_began_there_loses_only_what_lies_above() -> None:
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2, 3])
    s.loads(1, 20, 170, unclean=True)
    s.follows(1, 22, 1, 170, 156)
    s.truncates(1, 22.1, 156)
    s.leads(3, 10, 1, 163, 163, [3, 2], previous=0)
    (loss,) = losses(s.files)
    assert checked(loss)[:3] == ((Range(163, 170),), False, "uncommitted-tail")


def test_epoch_that_rises_under_the_same_leader_loses_nothing() -> None:
    s = Story()
    s.leads(2, 0, 0, 0, 0, [2, 1, 3])
    s.leads(2, 10, 1, 200, 200, [2, 3], previous=0)
    s.leads(2, 11, 2, 358, 358, [2], previous=1)
    s.follows(3, 0, 0, 0, 0)
    assert of(report(s.files), "data-loss", "unclean-election") == []


def test_truncation_that_changes_nothing_loses_nothing() -> None:
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 5, 0, 100, 100)
    s.truncates(2, 5.1, 100)
    s.leads(1, 9, 1, 100, 100, [1], previous=0)
    assert losses(s.files) == []


def test_orderly_stop_of_a_leader_loses_nothing() -> None:
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(1, 10, 1, 41, 41, previous=0)
    s.leads(2, 10, 1, 41, 34, [2], previous=0)
    s.loads(1, 16, 41, unclean=False)
    s.follows(1, 17, 1, 41, 41)
    assert losses(s.files) == []


# leaders that lead on alone


def alone(*, unclean: bool, end: int) -> Story:
    """Broker 1 is the whole ISR from 200 on, goes down, comes back at `end` and leads on in the same epoch."""
    s = Story("trades")
    s.leads(1, 0, 0, 0, 0, [1, 2, 3])
    s.leads(1, 12, 2, 200, 200, [1], previous=0)
    s.loads(1, 30, end, unclean=unclean)
    s.leads(1, 33, 2, end, end, [1])
    s.put("broker-2/data/meta.properties", ["version=0", "broker.id=2"])
    return s


def saved(s: Story, hw: int) -> tuple[dict[str, str], dict[str, datetime]]:
    """The same with the dead broker's checkpoint, copied before the restart."""
    s.put("broker-1/data/meta.properties", ["version=0", "broker.id=1"])
    s.put("broker-1/data/replication-offset-checkpoint", ["0", "1", "trades 0 300"])
    s.put("before-restart/broker-1/data/meta.properties", ["version=0", "broker.id=1"])
    s.put("before-restart/broker-1/data/replication-offset-checkpoint", ["0", "1", f"trades 0 {hw}"])
    return s.files, {
        "broker-1/data/replication-offset-checkpoint": START.replace(second=55),
        "before-restart/broker-1/data/replication-offset-checkpoint": START.replace(second=20),
    }


def test_sole_leader_that_restarts_shorter_than_its_saved_checkpoint() -> None:
    (loss,) = losses(*saved(alone(unclean=True, end=240), 398))
    assert checked(loss)[:3] == ((Range(240, 398),), True, "unflushed-log")
    assert loss.severity == "critical"
    assert loss.brokers == (1,)


def test_saved_checkpoint_when_only_that_broker_was_collected() -> None:
    s = alone(unclean=True, end=240)
    s.forget("broker-2/data/meta.properties")
    (loss,) = losses(*saved(s, 398))
    assert loss.offsets == (Range(240, 398),)


def test_sole_leader_that_restarts_as_long_as_its_saved_checkpoint() -> None:
    found = losses(*saved(alone(unclean=True, end=398), 398))
    assert [f for f in found if f.confidence != "possible"] == []


def test_sole_leader_that_restarts_with_nothing_saved_leaves_a_doubt() -> None:
    (doubt,) = losses(alone(unclean=True, end=230).files)
    assert checked(doubt) == ((Range(230, None),), None, "unflushed-log", "possible")
    assert any("before the restart" in step for step in words(doubt).next_steps), "says what would settle it"


def test_sole_leader_that_stopped_in_order_leaves_no_doubt() -> None:
    assert losses(alone(unclean=False, end=230).files) == []


# unclean elections


def unclean(hw: int = 358) -> Story:
    """Broker 2 alone leads from 200 to 358 and dies; broker 1, outside the ISR, leads from 200; broker 2 comes back."""
    s = Story()
    s.leads(2, 0, 0, 0, 0, [2, 1, 3])
    s.leads(2, 14, 2, 200, 200, [2], previous=0)
    s.offline(3, 40, 3, [2], 3, 2)
    s.online(3, 40.1, 4, 1, [1], 4)
    s.leads(1, 40.3, 4, 200, 200, [1])
    s.loads(2, 44, 358, unclean=True)
    s.follows(2, 46, 4, 358, hw)
    s.truncates(2, 46.1, 200)
    return s


def test_unclean_election_loses_what_the_isr_alone_had() -> None:
    (loss,) = losses(unclean().files)
    assert checked(loss) == ((Range(200, 358),), True, "unclean-election", "certain")
    assert loss.brokers == (2, 1)
    assert loss.leader_epoch == 4


def test_two_unclean_elections_in_a_row_each_lose_their_part() -> None:
    s = Story()
    s.leads(1, 0, 1, 100, 100, [1])
    s.offline(9, 10, 2, [1], 5, 1)
    s.online(9, 10.1, 3, 2, [2], 6)
    s.leads(2, 10.2, 3, 200, 200, [2])
    s.offline(9, 20, 4, [2], 7, 2)
    s.online(9, 20.1, 5, 3, [3], 8)
    s.leads(3, 20.2, 5, 150, 150, [3])
    s.loads(1, 30, 300, unclean=True)
    s.follows(1, 31, 5, 300, 300)
    s.truncates(1, 31.1, 150)
    s.loads(2, 32, 250, unclean=True)
    s.follows(2, 33, 5, 250, 250)
    s.truncates(2, 33.1, 150)
    found = report(s.files)
    assert [(f.leader_epoch, f.offsets, f.cause) for f in sorted(of(found, "data-loss"), key=lambda f: f.leader_epoch or 0)] == [
        (3, (Range(200, 300),), "unclean-election"),
        (5, (Range(150, 250),), "unclean-election"),
    ]
    assert [f.brokers[0] for f in sorted(of(found, "unclean-election"), key=lambda f: f.leader_epoch or 0)] == [2, 3]


def test_an_unclean_election_back_to_a_longer_older_log_loses_what_the_shorter_one_had_taken() -> None:
    """Broker 1's term begins above all that broker 2 ever had, and yet it has none of the records of epoch 3."""
    s = Story()
    s.leads(1, 0, 2, 0, 0, [1, 2])
    s.isr(1, 5, [1], 3)
    s.leads(2, 20, 3, 200, 200, [2], previous=2)
    s.loads(1, 30, 300, unclean=False)
    s.leads(1, 40, 4, 300, 300, [1], previous=2)
    s.loads(2, 50, 220, unclean=False)
    s.follows(2, 52, 4, 220, 220, previous=3)
    s.truncates(2, 52.1, 200)
    (loss,) = losses(s.files)
    assert (loss.offsets, loss.committed, loss.cause, loss.confidence) == ((Range(200, 220),), True, "unclean-election", "certain")


def test_what_a_cut_off_leader_had_in_their_place_may_be_the_same_records() -> None:
    """Broker 1 was cut off while broker 2 led, and had appended what its producers then sent to broker 2."""
    s = Story()
    s.leads(1, 0, 2, 0, 0, [1, 2])
    s.leads(2, 20, 3, 200, 200, [2], previous=2)
    s.leads(1, 40.1, 4, 210, 200, [1], previous=2)
    s.loads(2, 50, 220, unclean=False)
    s.follows(2, 52, 4, 220, 220, previous=3)
    s.truncates(2, 52.1, 200)
    (loss,) = losses(s.files)
    replaced, gone, _ = loss.parts
    assert (replaced.offsets, replaced.confidence) == (Range(200, 210), "possible")
    assert (gone.offsets, gone.committed, gone.confidence) == (Range(210, 220), True, "certain")


def test_a_loss_is_split_at_the_high_watermark() -> None:
    """Two replicas were in sync, so the high watermark was not the log's end: below it committed, above it nobody can tell."""
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2, 3])
    s.offline(3, 40, 1, [1, 2], 3, 1)
    s.online(3, 40.1, 2, 3, [3], 4)
    s.leads(3, 40.2, 2, 200, 200, [3], previous=0)
    s.loads(1, 44, 300, unclean=True)
    s.follows(1, 46, 2, 300, 250)
    s.truncates(1, 46.1, 200)
    (loss,) = losses(s.files)
    assert checked(loss)[:3] == ((Range(200, 300),), None, "unclean-election")
    assert [(p.offsets, p.committed) for p in loss.parts] == [(Range(200, 250), True), (Range(250, 300), None)]
    assert loss.severity == "critical"
    assert words(loss).summary == "t-0: offsets 200–249 committed, lost; offsets 250–299 lost (unclean election of broker 3, epoch 2)"


@pytest.mark.parametrize(("obeyed", "isr", "severity"), [(19.3, [3, 1, 2], "low"), (19.3, [3, 1], "medium"), (40, [3, 1], "high")])
def test_clean_leader_without_the_tail_of_the_old_one(obeyed: float, isr: list[int], severity: str) -> None:
    """The cut is as sure however it came about; a leader that was given up and went on alone is what makes it worse. That anybody was told of
    them is no more than possible, for no records are in evidence."""
    s = Story()
    s.leads(2, 0, 0, 0, 0, [2, 3, 1])
    s.leads(3, 19, 1, 340, 300, isr, previous=0)
    s.follows(2, obeyed, 1, 405, 300, previous=0)
    s.truncates(2, obeyed + 0.1, 340)
    (loss,) = losses(s.files)
    assert checked(loss) == ((Range(340, 405),), False, "uncommitted-tail", "possible")
    assert loss.severity == severity


def taken_away(ending: str) -> Story:
    """Broker 2 alone led to 358 and died; broker 1 led uncleanly from 200, and a reassignment took the replica of broker 2 away."""
    s = unclean()
    s.forget("broker-2/logs/state-change.log")
    s.forget("broker-2/logs/server.log")
    s.leads(2, 0, 0, 0, 0, [2, 1, 3])
    s.leads(2, 14, 2, 200, 200, [2], previous=0)
    s.loads(2, 44, 358, unclean=True)
    s.line(2, "server", 45, f"INFO Log for partition t-0 is {ending} (kafka.log.LogManager)")
    return s


def test_replica_deleted_before_it_followed_the_new_leader_takes_its_tail_with_it() -> None:
    (loss,) = losses(taken_away("renamed to /d/t-0.57e231e54e64485c9ac790cf39e67c49-delete and is scheduled for deletion").files)
    assert checked(loss) == ((Range(200, 358),), True, "unclean-election", "certain")
    (removed,) = dict(loss.values)["removed"]  # type: ignore[misc,union-attr]
    assert text(removed).startswith("At 2026-11-21 01:53:45.000 UTC broker 2 had the lost records in the log that it deleted")
    assert not any(step.startswith("Copy") for step in words(loss).next_steps)


def test_replica_put_aside_as_stray_still_has_its_tail() -> None:
    (loss,) = losses(taken_away("marked as stray and renamed to /d/t-0.57e231e54e64485c9ac790cf39e67c49-stray").files)
    assert checked(loss) == ((Range(200, 358),), True, "unclean-election", "certain")
    assert "The lost records are still on the disk of broker 2" in words(loss).explanation
    assert (
        words(loss)
        .next_steps[0]
        .startswith("Copy the directories of t-0 (also if they end in -stray) from broker 2 now, and before any start")
    )


def test_replica_deleted_after_it_had_handed_over_loses_nothing() -> None:
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.leads(2, 10, 1, 300, 300, [1, 2], previous=0)
    s.follows(1, 10.1, 1, 300, 300, previous=0)
    s.leads(2, 12, 2, 340, 340, [2], previous=1)
    gone = "INFO Log for partition t-0 is renamed to /d/t-0.57e231e54e64485c9ac790cf39e67c49-delete and is scheduled for deletion"
    s.line(1, "server", 13, f"{gone} (kafka.log.LogManager)")
    assert losses(s.files) == []


# a log is short of what it had only if it had it


def crashed_before(*, rejoined: bool, hw: int = 300) -> Story:
    """Broker 3, in sync, dies and its log is recovered at 320; broker 2, the leader, takes it into the ISR again, or not, and dies at 405."""
    s = Story()
    s.leads(2, 0, 0, 0, 0, [2, 3])
    s.follows(3, 0, 0, 0, 0)
    if rejoined:
        s.isr(2, 3, [2], 1)
    s.loads(3, 5, 320, unclean=True)
    s.follows(3, 5.5, 0, 320, 300)
    if rejoined:
        s.isr(2, 6, [2, 3], 2)
    s.leads(3, 19, 1, 340, 300, [3], previous=0)
    s.loads(2, 30, 405, unclean=True)
    s.follows(2, 32, 1, 405, hw)
    s.truncates(2, 32.1, 340)
    return s


def test_a_crash_says_nothing_of_a_replica_that_came_into_the_isr_again() -> None:
    (loss,) = losses(crashed_before(rejoined=True).files)
    assert checked(loss) == ((Range(340, 405),), False, "uncommitted-tail", "possible")


def test_whether_a_replica_that_crashed_in_the_isr_had_the_records_only_a_witness_can_say() -> None:
    (loss,) = losses(crashed_before(rejoined=False).files)
    assert checked(loss) == ((Range(340, 405),), None, "unknown", "possible")
    (loss,) = losses(crashed_before(rejoined=False, hw=380).files)
    seen, beyond = loss.parts
    assert (seen.offsets, seen.committed, seen.confidence) == (Range(340, 380), True, "certain"), (
        "a high watermark is reached by the whole ISR"
    )
    assert (beyond.offsets, beyond.committed, loss.cause) == (Range(380, 405), None, "unflushed-log")


@pytest.mark.parametrize(("version", "committed"), [("3.6.2", True), ("3.7.0", None)])
def test_below_min_isr_a_leader_commits_alone_up_to_3_6(version: str, committed: bool | None) -> None:
    """KAFKA-15583: the high watermark waits for min.insync.replicas from 3.7 on."""
    s = unclean(hw=200)
    s.put("cluster/topics-describe.txt", ["Topic: t\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas=2"])
    for broker in (1, 2, 3):
        s.line(broker, "server", -1, f"INFO Kafka version: {version} (org.apache.kafka.common.utils.AppInfoParser)")
    (loss,) = losses(s.files)
    assert checked(loss)[:2] == ((Range(200, 358), Range(358, None)), committed)


def test_several_followers_that_cut_the_same_tail_are_one_loss() -> None:
    s = unclean()
    s.follows(3, 15, 2, 200, 200, previous=0)
    s.follows(3, 46, 4, 300, 290, previous=2)
    s.truncates(3, 46.1, 200)
    (loss,) = losses(s.files)
    assert loss.offsets == (Range(200, 358),)


def test_a_tail_of_unknown_epoch_is_lost_to_the_leader_it_was_cut_for() -> None:
    """The log of broker 3 begins with its cut under epoch 4; epoch 2 happens to have begun at the same offset."""
    s = unclean()
    s.follows(3, 46, 4, 300, 290)
    s.truncates(3, 46.1, 200)
    (loss,) = losses(s.files)
    assert (loss.offsets, loss.leader_epoch) == ((Range(200, 358),), 4)


def test_follower_that_comes_back_with_an_empty_log_and_leads() -> None:
    """Both in-sync replicas had died; the disk of broker 2 was replaced, it came first. Its log's end before that is nowhere."""
    s = Story()
    created = "INFO Created log for partition t-0 in /var/lib/kafka/broker-2/data/t-0 with properties {} (kafka.log.LogManager)"
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.line(2, "server", 0, created)
    s.follows(2, 0.1, 0, 0, 0)
    s.line(2, "server", 39, created)
    s.online(3, 40, 1, 2, [2], 1)
    s.leads(2, 40.1, 1, 0, 0, [2])
    s.loads(1, 44, 200, unclean=True)
    s.follows(1, 46, 1, 200, 200)
    s.truncates(1, 46.1, 0)
    (loss,) = losses(s.files)
    assert checked(loss) == ((Range(0, 200),), True, "empty-replica", "certain")


@pytest.mark.parametrize(("seconds", "completed", "ends"), [(21, True, True), (21, False, False), (18, True, False)])
def test_a_log_that_was_closed_in_a_clean_stop_ended_there(seconds: float, completed: bool, ends: bool) -> None:
    """The snapshot of its producers is at its end. One from before the stop, or of a stop that was not completed, is only where it had come by then."""
    s = Staged()
    s.runs(3, -1)
    s.creates(3, 0)
    s.online(3, 0, 0, 3, [3], 0)
    s.leads(3, 0.1, 0, 0, 0, [3])
    snapshot = "INFO [ProducerStateManager partition=t-0] Writing producer snapshot at offset 364 (kafka.log.ProducerStateManager)"
    if seconds < 20:
        s.line(3, "server", seconds, snapshot)
    s.process(3, 20, "shutting down")
    if seconds > 20:
        s.line(3, "server", seconds, snapshot)
    if completed:
        s.process(3, 22, "shut down completed")
    s.starts(3, 40)
    s.creates(3, 41)
    s.offline(3, 23, 1, [3], 1, 3)
    s.online(3, 42, 2, 3, [3], 2)
    s.leads(3, 42.1, 2, 0, 0, [3])
    (loss,) = losses(s.files)
    assert checked(loss) == ((Range(0, 364),), True, "empty-replica", "certain")
    assert [p.offsets for p in loss.parts[1:]] == ([] if ends else [Range(364, None)])


def test_leader_of_whose_last_life_nothing_is_left_may_have_gone_on_alone() -> None:
    """The machine of broker 1 was replaced, its logs with it: how far it had come before is not in evidence, only where the others stood."""
    s = Story()
    created = "INFO Created log for partition t-0 in /var/lib/kafka/broker-1/data/t-0 with properties {} (kafka.log.LogManager)"
    s.line(2, "server", 0, created.replace("broker-1", "broker-2"))
    s.follows(2, 0.1, 0, 0, 0)
    s.online(3, 0, 0, 1, [1, 2], 0)
    s.line(1, "server", 40, created)
    s.leads(1, 40.1, 2, 0, 0, [1])
    s.loads(2, 44, 300, unclean=True)
    s.follows(2, 46, 2, 300, 300)
    s.truncates(2, 46.1, 0)
    found = report(s.files)
    (loss,) = of(found, "data-loss")
    assert checked(loss) == ((Range(0, 300),), True, "empty-replica", "certain"), "as sure as the verdict"
    assert [(p["verdict"], p["why"]) for p in found.document()["partitions"]] == [
        ("lost", "offsets 0–299 at least, which were committed, are gone (empty-replica)")
    ]


# what the records themselves tell of a cut tail


def batches(*created: float, epoch: int = -1, producer: int = -1) -> list[dict[str, Any]]:
    """A record each, created at these seconds."""
    began = START.replace(tzinfo=timezone.utc).timestamp() * 1000
    times = [int(began + second * 1000) for second in created]
    fields = {"leader_epoch": epoch, "crc": 0, "producer_id": producer, "control": False, "append_time": False, "whole": True}
    return [{**fields, "base_offset": n, "last_offset": n, "base_timestamp": t, "max_timestamp": t} for n, t in enumerate(times)]


def one_batch(*created: float, **changed: Any) -> list[dict[str, Any]]:
    """These records in one batch, of the next leader's, and another one after it."""
    first, *_, last, after = batches(*created, 63, epoch=1)
    return [{**first, "last_offset": len(created) - 1, "max_timestamp": last["max_timestamp"], **changed}, after]


def gives_way(s: Story) -> None:
    s.follows(1, 60.2, 1, 2, 0, previous=0)


def is_asked(s: Story) -> None:
    """Before 2.6: to give way, at 60.2 s, and takes that up 200 ms later."""
    state = "PartitionState(controllerEpoch=1, leader=2, leaderEpoch=1, isr=[1, 2], zkVersion=1, replicas=[1, 2], isNew=false)"
    asked = f"TRACE [Broker id=1] Received LeaderAndIsr request {state} correlation id 1 from controller 3 epoch 1 for partition t-0"
    s.line(1, "state-change", 60.2, f"{asked} (state.change.logger)")
    removed = "INFO [ReplicaFetcherManager on broker 1] Removed fetcher for partitions Set(t-0) (kafka.server.ReplicaFetcherManager)"
    s.line(1, "server", 60.4, removed)


def dies(s: Story, *checked: float) -> None:
    """Until 59.5 s after the beginning, which only its followers tell; its own last line is older, and one of them had lost it before."""
    starts = "INFO [KafkaServer id=1] starting (kafka.server.KafkaServer)"
    s.line(1, "server", -5, starts)
    for seconds in checked:
        breaks_off(s, 1, seconds, leader=3)
    s.line(1, "server", 66, starts)
    for seconds in (40, 59.5):
        breaks_off(s, 2, seconds, leader=1)
    s.follows(1, 70, 1, 2, 0)


def dies_at_work(s: Story) -> None:
    """The same, and just before it told something."""
    dies(s, 59.45)


def breaks_off(s: Story, follower: int, seconds: float, leader: int) -> None:
    checked = f"WARN [ReplicaFetcher replicaId={follower}, leaderId={leader}, fetcherId=0] Error in response for fetch request (type=FetchRequest, "
    cause = f"java.io.IOException: Connection to {leader} was disconnected before the response was read"
    s.line(follower, "server", seconds, f"{checked}replicaId={follower}) (kafka.server.ReplicaFetcherThread)\n{cause}")


def die(s: Story) -> None:
    """Both, broker 2 a little later; its log came through as far as its page cache did."""
    s.line(2, "server", -5, "INFO [KafkaServer id=2] starting (kafka.server.KafkaServer)")
    dies_at_work(s)
    s.line(2, "server", 59.7, "INFO [KafkaServer id=2] starting (kafka.server.KafkaServer)")
    s.loads(2, 59.8, 0, unclean=True)


def cut(
    ends: Callable[[Story], None], held: list[dict[str, Any]], lost_batches: Sequence[dict[str, Any]] = ()
) -> list[tuple[Checked, str | None]]:
    """Broker 1 is followed by broker 2 at 60 s with two records that it alone has; what broker 2 has on its disk now, and broker 1 still."""
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.leads(2, 60.001, 1, 0, 0, [1, 2], previous=-1 if ends is die else 0)
    ends(s)
    s.truncates(1, 70.3, 0)
    timeline, cluster = staged_timeline(s.files)
    timeline.collected_logs = {broker: holding(broker, own) for broker, own in ((1, lost_batches), (2, held)) if own}
    return [((x.parts[0].offsets, x.committed, x.confidence), x.excuse) for x in lost(timeline, cluster)]


def holding(broker: int, held: Sequence[dict[str, Any]]) -> Disk:
    path = f"broker-{broker}/data/t-0/00000000000000000000.log"
    segment = {"writer": broker, "topic": "t", "partition": 0, "offset": 0, "log_end_offset": len(held), "batches": [*held]}
    return disk(broker, "", [Event(source=path, event="segment", **segment)])


@pytest.mark.parametrize(
    ("ends", "held", "missed"),
    [
        pytest.param(gives_way, one_batch(59.8, 59.9), "excused", id="a batch of both was sent again"),
        pytest.param(gives_way, one_batch(59.9, 60.1), "excused", id="it was not full when the next leader began"),
        pytest.param(gives_way, one_batch(59.9, 60.3), "certainly", id="it was made when the old one had refused them"),
        pytest.param(gives_way, one_batch(60.1, 60.15), "perhaps", id="it was begun when both led"),
        pytest.param(gives_way, one_batch(59.7, 59.8, 59.9), "excused", id="librdkafka sends them again with a newer one"),
        pytest.param(gives_way, one_batch(59.9, 60, 60.3), "excused", id="with newer ones, of which some are made when both led"),
        pytest.param(gives_way, one_batch(59.8, 59.9, append_time=True), "perhaps", id="times of the leader tell nothing of its producers"),
        pytest.param(
            gives_way,
            one_batch(59.8, 60.3, whole=False),
            "perhaps",
            id="the log cleaner wrote the batch again, and its times are not the first ones",
        ),
        pytest.param(gives_way, batches(59.8, 59.9, 61, epoch=1), "excused", id="several producers may have waited"),
        pytest.param(gives_way, batches(59.9, 61, epoch=1), "certainly", id="one of them at most was sent again"),
        pytest.param(gives_way, batches(60.3, 61, epoch=1), "certainly", id="what came after the hand-over is new"),
        pytest.param(gives_way, batches(61, 62, epoch=1, producer=7), "certainly", id="another producer may have written the lost ones"),
        pytest.param(gives_way, [], "perhaps", id="no records were collected"),
        pytest.param(is_asked, one_batch(59.9, 60.3), "excused", id="it was made before the old one had taken up that it follows"),
        pytest.param(dies_at_work, one_batch(59.3, 59.4), "excused", id="sent to a leader that died after that"),
        pytest.param(dies, one_batch(59.3, 59.4), "excused", id="its connections ended when it had died, or a little later"),
        pytest.param(dies, one_batch(59.4, 59.6), "certainly", id="made when it had died"),
        pytest.param(die, one_batch(59.3, 59.4), "excused", id="who was told that it is committed does not send it again"),
    ],
)
def test_a_tail_that_was_acknowledged_to_nobody_is_no_certain_loss(
    ends: Callable[[Story], None], held: list[dict[str, Any]], missed: str
) -> None:
    ((found, excuse),) = cut(ends, held)
    confidence = "certain" if missed == "certainly" else "possible"
    assert found == (Range(0, 1 if ends is is_asked else 2), None if ends is die else False, confidence)
    assert (excuse is not None) == (missed == "excused")


def test_producers_of_the_lost_records_that_wait_until_they_are_committed() -> None:
    """If they were never committed, no producer with acks=all got an acknowledgement. If they may have been, that is unknown."""
    later, lost_batches = batches(61, 62, epoch=1), batches(58, 59, epoch=0, producer=7)
    assert [(found[2], excuse is None) for found, excuse in cut(gives_way, later, lost_batches)] == [("possible", False)]
    assert [(found[2], excuse is None) for found, excuse in cut(die, later, lost_batches)] == [("possible", True)]


# before leader epochs, where only the records tell where a leader began


def replaced(*created: float) -> list[Checked]:
    """Kafka 0.10: broker 1 led with a log that reached 4, broker 2 takes over after 60 s, broker 1 returns, cuts to 1 and copies. The
    records there are now were created at these seconds."""

    def checked(broker: int, seconds: float, event: str, **fields: Any) -> Event:
        at = START + timedelta(seconds=seconds)
        common = {"source": f"broker-{broker}/logs/server.log", "line": int(seconds) + 1, "writer": broker, "at": at, "event": event}
        return Event(**common, topic="t", partition=0, **fields)

    def leads(broker: int, seconds: float, leader: int, epoch: int, isr: list[int]) -> Event:
        state = {"leader": leader, "leader_epoch": epoch, "partition_epoch": epoch, "isr": isr, "replicas": [1, 2]}
        return checked(broker, seconds, "partition-state", reason="received", **state)

    path = "broker-2/data/t-0/00000000000000000000.log"
    held = batches(*created)
    segment = Event(source=path, event="segment", writer=2, topic="t", partition=0, offset=0, log_end_offset=len(held), batches=held)
    events = [leads(1, 0, 1, 0, [1, 2]), leads(2, 0, 1, 0, [1, 2]), leads(2, 60, 2, 1, [2]), segment]
    events += [checked(1, 70, "log-load", log_end_offset=4), leads(1, 80, 2, 1, [2]), checked(1, 81, "truncation", offset=1)]
    logs = {f"broker-{b}/logs/server.log": f"[{at(0)}] INFO started (kafka.server.KafkaServer)\n" for b in (1, 2)}
    cluster = Cluster(mode="zookeeper", sources=local.gathered(table(logs))[0].sources)
    ((timeline),) = build("t", 0, events, cluster)
    return [(x.range, x.committed, x.cause, x.confidence) for x in lost(timeline, cluster)]


def test_records_created_in_the_next_term_stand_where_the_lost_ones_did() -> None:
    assert replaced(1, 2, 65, 66, 67) == [(Range(2, 4), False, "uncommitted-tail", "probable")]


@pytest.mark.parametrize(
    "created",
    [
        pytest.param((1, 2, 3, 4, 65), id="copied again: all that was cut is there"),
        pytest.param((100, 101, 102, 103, 104), id="a producer's clock that is ahead tells nothing"),
        pytest.param((57, 59, 61, 63, 85), id="a producer's clock that is ahead, and written until the leader died"),
        pytest.param((1, 2), id="nothing was written in their place"),
        pytest.param((), id="no records were collected"),
    ],
)
def test_records_that_do_not_tell_where_a_leader_began(created: tuple[float, ...]) -> None:
    assert replaced(*created) == []


# topics


def test_topic_made_again_under_its_name_is_never_compared() -> None:
    s = Story()
    s.leads(2, 0, 0, 0, 0, [2, 3])
    s.leads(2, 4, 1, 500, 500, [2], previous=0)
    s.line(
        3,
        "controller",
        10,
        "INFO [Topic Deletion Manager 3] Deletion of topic t successfully completed (kafka.controller.TopicDeletionManager)",
    )
    where = "/var/lib/kafka/broker-2/data/t-0"
    s.line(
        2,
        "server",
        10,
        f"INFO Log for partition t-0 is renamed to {where}.1289b606d36642e1b9c5b32a9a5a6746-delete and is scheduled for deletion (kafka.log.LogManager)",
    )
    s.line(2, "server", 20, f"INFO Created log for partition t-0 in {where} with properties {{}} (kafka.log.LogManager)")
    s.follows(2, 20.1, 0, 0, 0)
    s.leads(3, 20, 0, 0, 0, [3, 2])
    found = report(s.files)
    assert of(found, "data-loss", "unclean-election", "hw-regression") == []


# clocks and order: neither moves a verdict

VERDICTS = ("data-loss", "unclean-election", "log-divergence")
PROVEN: list[tuple[str, Exemplar]] = [(r.kind, e) for r in RULES if r.kind in VERDICTS for e in exemplars_of(r.kind)]


def verdicts(files: Files, modified: dict[str, datetime]) -> list[Checked]:
    found = of(report(files, modified), *VERDICTS)
    return sorted((f.kind, f.topic, f.partition, f.brokers, f.leader_epoch, *map(str, checked(f))) for f in found)


def written(exemplar: Exemplar) -> dict[str, datetime]:
    """Modification times as a collection that keeps them has them: a log's is that of its last line, by a clock that is right."""
    logs = {p: last_line(d) for p, d in exemplar.files.items() if "/logs/" in p}
    return {**logs, **exemplar.modified}


def last_line(log: bytes) -> datetime:
    stamps = [line[1:24] for line in log.decode().split("\n") if line.startswith("[20")]
    return datetime.strptime(stamps[-1], "%Y-%m-%d %H:%M:%S,%f")


@pytest.mark.parametrize(("number", "exemplar"), [*enumerate(e for _, e in PROVEN)], ids=[f"{k}/{e.name}" for k, e in PROVEN])
def test_a_clock_that_is_wrong_changes_no_verdict(exemplar: Exemplar, number: int) -> None:
    """Each broker's clock in turn, by turns ahead and behind."""
    straight = verdicts(exemplar.files, written(exemplar))
    for turn, broker in enumerate(sorted({p.split("/")[0] for p in exemplar.files if "/logs/" in p})):
        seconds = 300 if (number + turn) % 2 else -300
        wrong = {p: shifted(d, seconds) if p.startswith(f"{broker}/logs/") else d for p, d in exemplar.files.items()}
        assert verdicts(wrong, written(exemplar)) == straight, f"{broker} {seconds:+} s"


@pytest.mark.parametrize("story", [unclean().files, alone(unclean=True, end=230).files], ids=["unclean", "alone"])
@pytest.mark.parametrize("seconds", [300, -300])
def test_a_clock_that_is_wrong_changes_no_story(story: dict[str, str], seconds: int) -> None:
    straight = verdicts(story, {})
    assert straight
    for broker in sorted({p.split("/")[0] for p in story if "/logs/" in p}):
        wrong = {p: shifted(d.encode(), seconds) if p.startswith(f"{broker}/logs/") else d for p, d in story.items()}
        assert verdicts(wrong, {}) == straight, f"{broker} {seconds:+} s"


@pytest.mark.parametrize(("seed", "exemplar"), [(n, e) for n, (_, e) in enumerate(PROVEN)], ids=[f"{k}/{e.name}" for k, e in PROVEN])
def test_files_and_rows_in_any_order_give_the_same_report(exemplar: Exemplar, seed: int) -> None:
    straight = report(exemplar.files, exemplar.modified).json()
    paths = list(exemplar.files)
    random.Random(seed).shuffle(paths)
    files = {p: exemplar.files[p] for p in paths}
    assert local.report(table(files, exemplar.modified, shuffled=seed)).json() == straight


def test_a_follower_that_begins_behind_the_remote_tier_has_lost_nothing() -> None:
    """Its leader keeps locally what is above 340 (KIP-405); local retention deletes no head of the log either."""
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.isr(1, 5, [1], 1)
    s.follows(2, 100, 0, 120, 110)
    tier = "INFO Updated the epoch cache from remote tier till offset: 340 with size: 1 for Topic: t; Partition: 0; Leader: Some(1); Replicas: 1,2; ISR: 1"
    s.line(2, "server", 101, f"{tier}; LeaderRecoveryState: RECOVERED (kafka.server.TierStateMachine)")
    dropped = (
        "INFO [UnifiedLog partition=t-0, dir=/d] Deleting segment LogSegment(baseOffset=0, size=10, lastModifiedTime=1, largestRecordTimestamp=1) due to "
        "local log retention time 1000ms breach based on the largest record timestamp in the segment (kafka.log.UnifiedLog)"
    )
    s.line(1, "server", 90, dropped)
    checked = report(s.files)
    assert of(checked, "data-loss", "truncate-to-start", "log-wiped-at-load", "retention") == []
    found, _ = timeline(s.files)
    assert (found.replicas[2].removals, found.replicas[2].log_end_offset) == ([], 340)


# steps for losses of one event


def gone(partition: int, first: int, end: int, since: float, until: float, held: tuple[Range, ...] = (), **changes: Any) -> Finding:
    """A loss of offsets that were written in these seconds, and of which a collected file contains the held ones."""
    missing = tuple(Range(h.end or 0, end) for h in held if h.end != end)
    saved = Salvageable(tuple(Held("orders.log", 0, 1, 2, h) for h in held), missing) if held else Salvageable(missing=(Range(first, end),))
    return Finding(
        kind="data-loss",
        severity="critical",
        confidence="certain",
        topic="t",
        partition=partition,
        offsets=(Range(first, end),),
        committed=True,
        salvageable=saved,
        written=Written(*(START + timedelta(seconds=s) for s in (since, until))),
        evidence=(),
        **changes,
    )


def asked(*losses: Finding) -> list[str]:
    """The steps that ask for records."""
    recovery = merged(losses[0], losses)["recovery"]
    assert isinstance(recovery, tuple)
    return [text(step) for step in recovery if isinstance(step, Message) and step.id == "data-loss/resend"]


def test_producers_are_not_asked_for_records_that_a_collected_file_has() -> None:
    """They would be there twice: `salvage` writes them."""
    (step,) = asked(gone(0, 200, 305, 0, 10, held=(Range(200, 251),)), gone(1, 200, 300, 1, 9))
    assert "the producers of t-0 and t-1 resend" in step and "some of it may have survived, so compare first" in step
    assert asked(gone(0, 200, 305, 0, 10, held=(Range(200, 305),))) == []


def test_losses_of_other_times_are_not_asked_for_in_one_span() -> None:
    """Nearly all records of a span from the first to the last would not be lost."""
    first, overlapping, last = gone(0, 1, 5, 0, 2), gone(1, 1, 5, 1, 4), gone(2, 1, 5, 60, 62)
    one, other = asked(last, overlapping, first)
    assert "t-0 and t-1 resend" in one and moment(START).removesuffix(" UTC") in one
    assert "t-2 resend" in other and "t-0" not in other
    undated = replace(gone(3, 1, 5, 0, 2), written=Written(None, None))
    assert [("t-3" in step, "around the time of the loss" in step) for step in asked(undated, first)] == [(False, False), (True, True)]
