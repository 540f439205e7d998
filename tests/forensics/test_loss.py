"""What counts as lost: small stories of leaders, followers and truncations, with what they cost."""

from __future__ import annotations

import random
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from forensics.loss import losses as lost
from forensics.model import Exemplar, Finding, Range
from forensics.rules import RULES
from spark.cluster import Cluster
from spark.events import Event
from spark.timeline import build
from tests import local
from tests.forensics.staged import START, Files, Story, at, of, report, shifted, table

Told = tuple[object, ...]


def losses(files: Files, modified: dict[str, datetime] | None = None) -> list[Finding]:
    return of(report(files, modified), "data-loss")


def told(finding: Finding) -> Told:
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


def test_a_cut_of_a_log_whose_end_nobody_told_proves_a_loss_without_an_end() -> None:
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
    assert (loss.offsets, loss.confidence, loss.cause, loss.committed) == ((Range(150, None),), "possible", "uncommitted-tail", False)
    assert "at least up to 150" in loss.summary and any("would settle it" in step for step in loss.next_steps)


def test_follower_ahead_of_a_leader_that_began_there_loses_only_what_lies_above() -> None:
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2, 3])
    s.loads(1, 20, 170, unclean=True)
    s.follows(1, 22, 2, 170, 156)
    s.truncates(1, 22.1, 156)
    s.leads(3, 10, 2, 163, 163, [3, 2], previous=0)
    (loss,) = losses(s.files)
    assert told(loss)[:3] == ((Range(163, 170),), False, "uncommitted-tail")


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
    assert told(loss)[:3] == ((Range(240, 398),), True, "unflushed-log")
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
    assert told(doubt) == ((Range(230, None),), None, "unflushed-log", "possible")
    assert any("before the restart" in step for step in doubt.next_steps), "says what would settle it"


def test_sole_leader_that_stopped_in_order_leaves_no_doubt() -> None:
    assert losses(alone(unclean=False, end=230).files) == []


# unclean elections


def unclean() -> Story:
    """Broker 2 alone leads from 200 to 358 and dies; broker 1, outside the ISR, leads from 200; broker 2 comes back."""
    s = Story()
    s.leads(2, 0, 0, 0, 0, [2, 1, 3])
    s.leads(2, 14, 2, 200, 200, [2], previous=0)
    s.offline(3, 40, 3, [2], 3, 2)
    s.online(3, 40.1, 4, 1, [1], 4)
    s.leads(1, 40.3, 4, 200, 200, [1])
    s.loads(2, 44, 358, unclean=True)
    s.follows(2, 46, 4, 358, 358)
    s.truncates(2, 46.1, 200)
    return s


def test_unclean_election_loses_what_the_isr_alone_had() -> None:
    (loss,) = losses(unclean().files)
    assert told(loss) == ((Range(200, 358),), True, "unclean-election", "certain")
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
    below, above = losses(s.files)
    assert told(below)[:3] == ((Range(200, 250),), True, "unclean-election")
    assert told(above)[:3] == ((Range(250, 300),), None, "unclean-election")
    assert (below.severity, above.severity) == ("critical", "high")


def test_clean_leader_without_the_tail_of_the_old_one() -> None:
    s = Story()
    s.leads(2, 0, 0, 0, 0, [2, 3, 1])
    s.leads(3, 19, 1, 340, 300, [3, 1], previous=0)
    s.follows(2, 22, 1, 405, 300)
    s.truncates(2, 22.1, 340)
    (loss,) = losses(s.files)
    assert told(loss) == ((Range(340, 405),), False, "uncommitted-tail", "certain")
    assert loss.severity == "high"


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
    assert told(loss) == ((Range(200, 358),), True, "unclean-election", "certain")
    assert "Broker 2 at 2026-11-21 01:53:45.000Z had them in the log it deleted when its replica was taken away" in loss.explanation
    assert not any(step.startswith("Copy the directory") for step in loss.next_steps)


def test_replica_put_aside_as_stray_still_has_its_tail() -> None:
    (loss,) = losses(taken_away("marked as stray and renamed to /d/t-0.57e231e54e64485c9ac790cf39e67c49-stray").files)
    assert told(loss) == ((Range(200, 358),), True, "unclean-election", "certain")
    assert "They still lie on the disk of broker 2" in loss.explanation
    assert loss.next_steps[0] == "Copy the directory of t-0 that ends in -stray from broker 2: it holds them."


def test_replica_deleted_after_it_had_handed_over_loses_nothing() -> None:
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.leads(2, 10, 1, 300, 300, [1, 2], previous=0)
    s.follows(1, 10.1, 1, 300, 300, previous=0)
    s.leads(2, 12, 2, 340, 340, [2], previous=1)
    gone = "INFO Log for partition t-0 is renamed to /d/t-0.57e231e54e64485c9ac790cf39e67c49-delete and is scheduled for deletion"
    s.line(1, "server", 13, f"{gone} (kafka.log.LogManager)")
    assert losses(s.files) == []


# producers with acks=all


def below_min_isr(*, end: int, refused: bool = False, shrunk_at: int | None = 340) -> Story:
    """min.insync.replicas=3. Broker 2 leads on to `end` with two replicas in sync; broker 3, one of them, takes over at 340."""
    s = Story()
    s.put("cluster/topics-describe.txt", ["Topic: t\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas=3"])
    s.leads(2, 0, 0, 0, 0, [2, 3, 1])
    if shrunk_at is not None:
        s.leads(2, 5, 1, shrunk_at, 300, [2, 3], previous=0)
    else:
        s.isr(2, 5, [2, 3], 1)
    if refused:
        who = "ERROR [ReplicaManager broker=2] Error processing append operation on partition t-0 (kafka.server.ReplicaManager)"
        s.line(2, "server", 6, who)
        too_few = "The size of the current ISR Set(2, 3) is insufficient to satisfy the min.isr requirement of 3 for partition t-0"
        s.put("broker-2/logs/server.log", [f"org.apache.kafka.common.errors.NotEnoughReplicasException: {too_few}"])
    epoch = 2 if shrunk_at is not None else 1
    s.leads(3, 19, epoch, 340, 300, [3], previous=0)
    s.follows(2, 22, epoch, end, 300)
    s.truncates(2, 22.1, 340)
    return s


@pytest.mark.parametrize("story", [below_min_isr(end=405), below_min_isr(end=405, refused=True), below_min_isr(end=405, shrunk_at=None)])
def test_tail_that_was_taken_below_min_isr_is_not_of_producers_with_acks_all(story: Story) -> None:
    (loss,) = losses(story.files)
    assert told(loss)[:3] == ((Range(340, 405),), False, "uncommitted-tail")
    assert (loss.confidence != "possible", loss.severity) == (True, "high")


@pytest.mark.parametrize("story", [below_min_isr(end=405, shrunk_at=405), below_min_isr(end=405, shrunk_at=None, refused=True)])
def test_tail_that_may_be_from_before_the_isr_fell_below_min_isr_was_acknowledged_to_nobody(story: Story) -> None:
    (loss,) = losses(story.files)
    assert (loss.committed, loss.confidence, loss.severity) == (False, "possible", "low")
    assert "min.insync.replicas is 3, which is set for producers with acks=all" in loss.explanation


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
    assert told(loss) == ((Range(0, 200),), True, "empty-replica", "certain")


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
    (loss,) = losses(s.files)
    assert (loss.offsets, loss.confidence) == ((Range(0, None),), "possible")


# before leader epochs, where only the records tell where a leader began


def replaced(*created: float) -> list[Told]:
    """Kafka 0.10: broker 1 led with a log that reached 4, broker 2 takes over after 60 s, broker 1 returns, cuts to 1 and copies. The
    records there are now were created at these seconds."""

    def told(broker: int, seconds: float, event: str, **fields: Any) -> Event:
        at = START + timedelta(seconds=seconds)
        common = {"source": f"broker-{broker}/logs/server.log", "line": int(seconds) + 1, "writer": broker, "at": at, "event": event}
        return Event(**common, topic="t", partition=0, **fields)

    def leads(broker: int, seconds: float, leader: int, epoch: int, isr: list[int]) -> Event:
        state = {"leader": leader, "leader_epoch": epoch, "partition_epoch": epoch, "isr": isr, "replicas": [1, 2]}
        return told(broker, seconds, "partition-state", reason="received", **state)

    began = START.replace(tzinfo=timezone.utc).timestamp() * 1000
    times = [int(began + second * 1000) for second in created]
    fields = {"leader_epoch": -1, "crc": 0, "producer_id": -1, "control": False}
    batches = [{**fields, "base_offset": n, "last_offset": n, "base_timestamp": t, "max_timestamp": t} for n, t in enumerate(times)]
    path = "broker-2/data/t-0/00000000000000000000.log"
    segment = Event(source=path, event="segment", writer=2, topic="t", partition=0, offset=0, log_end_offset=len(times), batches=batches)
    events = [leads(1, 0, 1, 0, [1, 2]), leads(2, 0, 1, 0, [1, 2]), leads(2, 60, 2, 1, [2]), segment]
    events += [told(1, 70, "log-load", log_end_offset=4), leads(1, 80, 2, 1, [2]), told(1, 81, "truncation", offset=1)]
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
PROVEN: list[tuple[str, Exemplar]] = [(r.kind, e) for r in RULES if r.kind in VERDICTS for e in r.exemplars]


def verdicts(files: Files, modified: dict[str, datetime]) -> list[Told]:
    found = of(report(files, modified), *VERDICTS)
    return sorted((f.kind, f.topic, f.partition, f.brokers, f.leader_epoch, *map(str, told(f))) for f in found)


def written(exemplar: Exemplar) -> dict[str, datetime]:
    """Modification times as a collection that keeps them has them: a log's is that of its last line, by a clock that is right."""
    logs = {p: last_line(d) for p, d in exemplar.files.items() if "/logs/" in p}
    return {**logs, **exemplar.modified}


def last_line(log: bytes) -> datetime:
    stamps = [line[1:24] for line in log.decode().split("\n") if line.startswith("[20")]
    return datetime.strptime(stamps[-1], "%Y-%m-%d %H:%M:%S,%f")


@pytest.mark.parametrize("seconds", [300, -300])
@pytest.mark.parametrize("exemplar", [e for _, e in PROVEN], ids=[f"{k}/{e.name}" for k, e in PROVEN])
def test_a_clock_that_is_wrong_changes_no_verdict(exemplar: Exemplar, seconds: int) -> None:
    straight = verdicts(exemplar.files, written(exemplar))
    for broker in sorted({p.split("/")[0] for p in exemplar.files if "/logs/" in p}):
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


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("exemplar", [e for _, e in PROVEN], ids=[f"{k}/{e.name}" for k, e in PROVEN])
def test_files_and_rows_in_any_order_give_the_same_report(exemplar: Exemplar, seed: int) -> None:
    straight = report(exemplar.files, exemplar.modified).json()
    paths = list(exemplar.files)
    random.Random(seed).shuffle(paths)
    files = {p: exemplar.files[p] for p in paths}
    assert report(files, exemplar.modified).json() == straight
    assert local.report(table(files, exemplar.modified, shuffled=seed)).json() == straight
