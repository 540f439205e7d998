"""Which elections were unclean: small stories of controllers, by ZooKeeper and by KRaft."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.partition.timeline import build
from forensics.proof.elections import Election, elections
from forensics.words import text, words
from tests.forensics.proof.test_handovers import crashed_both
from tests.forensics.staged import START, Story, of, report, timeline

ID = "MlpAEC9lTCOuG5EVp6OGOg"
CONTROLLER = "controller-100/logs/controller.log"


def judged(story: Story) -> list[tuple[int, int, bool | None, str]]:
    """(epoch, leader, unclean, confidence) of each election."""
    return [(e.term.epoch, e.term.leader, e.unclean, e.confidence) for e in elections(*timeline(story.files))]


# ZooKeeper


def test_leader_from_outside_the_isr() -> None:
    s = Story()
    s.offline(3, 10, 3, [2], 3, 2)
    s.online(3, 10.1, 4, 1, [1], 4)
    assert judged(s) == [(4, 1, True, "certain")]


def test_leader_from_the_isr() -> None:
    s = Story()
    s.offline(3, 10, 1, [3, 1], 1, 2)
    s.online(3, 10.1, 2, 3, [3, 1], 2)
    assert judged(s) == [(2, 3, False, "certain")]


def test_leader_that_comes_back_after_a_time_without_one() -> None:
    s = Story()
    s.leads(2, 0, 2, 100, 100, [2])
    s.offline(3, 10, 3, [2], 3, 2)
    s.online(3, 60, 4, 2, [2], 4)
    assert judged(s) == [(4, 2, False, "certain")]
    assert of(report(s.files), "unclean-election") == []


def test_two_unclean_elections_in_a_row() -> None:
    s = Story()
    s.offline(9, 10, 2, [1], 5, 1)
    s.online(9, 10.1, 3, 2, [2], 6)
    s.offline(9, 20, 4, [2], 7, 2)
    s.online(9, 20.1, 5, 3, [3], 8)
    assert judged(s) == [(3, 2, True, "certain"), (5, 3, True, "certain")]


def test_epoch_bump_is_no_election() -> None:
    s = Story()
    s.leads(2, 0, 0, 0, 0, [2, 1, 3])
    s.leads(2, 10, 1, 200, 200, [2, 3], previous=0)
    s.leads(2, 11, 2, 200, 200, [2], previous=1)
    assert judged(s) == []


def test_restart_within_an_epoch_is_no_election() -> None:
    s = Story()
    s.leads(1, 12, 2, 200, 200, [1], previous=0)
    s.loads(1, 30, 240, unclean=True)
    s.leads(1, 33, 2, 240, 240, [1])
    assert judged(s) == []


def test_a_gap_in_the_versions_leaves_room_for_a_clean_explanation() -> None:
    """Between version 3 and 7 the replica may have joined the ISR."""
    s = Story()
    s.offline(3, 10, 3, [2], 3, 2)
    s.online(3, 50, 6, 1, [1], 7)
    assert judged(s) == [(6, 1, True, "possible")]


def test_new_leader_that_is_not_alone_in_the_isr() -> None:
    s = Story()
    s.offline(3, 10, 3, [2], 3, 2)
    s.online(3, 10.1, 4, 1, [1, 3], 4)
    assert judged(s) == [(4, 1, False, "certain")]


def test_isr_before_it_unknown() -> None:
    s = Story()
    s.online(3, 10.1, 4, 1, [1], 4)
    s.offline(3, 20, 5, [1], 5, 1)
    assert of(report(s.files), "unclean-election") == []


def test_leader_start_is_the_first_state_of_its_epoch() -> None:
    """2.8 start lines name no version: [2, 3] at 10 s is another state than [2, 3] at 14 s, with broker 1 back in between."""
    s = Story()
    s.leads(2, 0, 0, 0, 0, [2, 3, 1])
    s.leads(2, 10, 1, 50, 50, [2, 3], previous=0)
    s.isr(2, 12, [2, 3, 1], 6)
    s.isr(2, 14, [2, 3], 7)
    s.isr(2, 16, [2, 3, 1], 8)
    found, _ = timeline(s.files)
    assert [state.isr for state in found.states] == [(2, 3, 1), (2, 3), (2, 3, 1), (2, 3), (2, 3, 1)]


REASSIGNED = (
    "INFO [Controller id=4 epoch=3] Sent LeaderAndIsr request (Leader:1,ISR:1,2,LeaderEpoch:1,ZkVersion:1,ControllerEpoch:3) with new replica "
    "assignment ReplicaAssignment(replicas=3,1,2, addingReplicas=3, removingReplicas=1,2) to leader 1 for partition being reassigned t-0 "
    "(state.change.logger)"
)


def test_a_replica_that_is_being_added_is_elected_when_the_isr_is_dead() -> None:
    """A ZooKeeper controller takes any live assigned replica (offlinePartitionLeaderElection)."""
    s = Story()
    s.line(4, "state-change", 10, REASSIGNED)
    s.online(4, 40, 2, 3, [3], 2)
    assert judged(s) == [(2, 3, True, "certain")]


def test_a_replica_that_has_been_added_joins_the_isr_before_it_leads() -> None:
    """A ZooKeeper controller elects nobody else for a reassignment (reassignPartitionLeaderElection)."""
    s = Story()
    s.line(4, "state-change", 10, REASSIGNED)
    s.isr(1, 30, [1, 2, 3], 2)
    s.online(4, 40, 2, 3, [1, 2, 3], 3)
    assert judged(s) == [(2, 3, False, "certain")]


def marks(s: Story, seconds: float) -> None:
    marked = "The topic partition t-0 was marked as RECOVERING. Marking the topic partition as RECOVERED."
    s.line(1, "state-change", seconds, f"INFO [Broker id=1] {marked} (state.change.logger)")


def leads_alone(
    s: Story,
    seconds: float,
    epoch: int,
    previous: str,
    *,
    version: int | None = None,
    moving: str = "adding replicas [] and removing replicas []",
) -> None:
    """As brokers print it from 3.4 on."""
    leads = f"Leader t-0 with topic id Some({ID}) starts at leader epoch {epoch} from offset 200 with partition epoch {version or epoch}, high watermark 200, ISR [1]"
    s.line(1, "state-change", seconds, f"INFO [Broker id=1] {leads}, {moving} . Previous leader {previous}. (state.change.logger)")


@pytest.mark.parametrize(
    ("previous", "expected"),
    [
        ("Some(2) and previous leader epoch was 0", [(1, 1, True, "certain"), (3, 1, None, "possible")]),
        ("None and previous leader epoch was -1", [(3, 1, None, "possible")]),
    ],
)
def test_a_partition_stays_recovering_while_the_same_leader_is_elected_again(previous: str, expected: list[tuple[Any, ...]]) -> None:
    """Until the ISR changes (LeaderAndIsr#newLeaderAndIsr): the line shows an unclean election in this epoch, or in an earlier one."""
    s = Story()
    for seconds, epoch, before in ((60, 1, previous), (613, 3, "None and previous leader epoch was -1")):
        marks(s, seconds)
        leads_alone(s, seconds + 0.01, epoch, before)
    assert judged(s) == expected
    found = of(report(s.files), "unclean-election")
    assert [f.leader_epoch for f in found] == [epoch for epoch, _, unclean, _ in expected if unclean]
    assert all(words(f).summary.endswith("from outside the ISR") for f in found)


@pytest.mark.parametrize(("epoch", "confidence"), [(1, "certain"), (3, "possible")])
def test_a_recovering_partition_whose_isr_was_another_one(epoch: int, confidence: str) -> None:
    """In the epochs 1 and 2, if they are missing, broker 1 may have been elected, too."""
    s = Story()
    s.leads(2, 0, 0, 100, 100, [2])
    marks(s, 60)
    leads_alone(s, 60.01, epoch, "None and previous leader epoch was -1")
    assert judged(s) == [(epoch, 1, True, confidence)]


# KRaft, by its text


def kraft(s: Story, seconds: float, text: str, logger: str = "ReplicationControlManager") -> None:
    stamp = (START + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
    s.put(CONTROLLER, [f"[{stamp}] INFO {text} (org.apache.kafka.controller.{logger})"])


def born(s: Story, isr: str = "[3, 2, 1]", leader: int = 3) -> None:
    registration = (
        f"PartitionRegistration(replicas=[3, 2, 1], directories=[], isr={isr}, removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], "
        f"leader={leader}, leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=0)"
    )
    kraft(s, 0, f"[QuorumController id=100] Replayed PartitionRecord for new partition t-0 with topic ID {ID} and {registration}.")


def test_kraft_calls_it_unclean() -> None:
    s = Story()
    born(s, "[3]")
    kraft(s, 30, f"Setting new leader for topicId {ID}, partition 0 to 1 using an unclean election", "PartitionChangeBuilder")
    change = "isr: [3] -> [1], leader: 3 -> 1, leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 0 -> 1, partitionEpoch: 0 -> 1"
    kraft(s, 30, f"[QuorumController id=100] UNCLEAN partition change for t-0 with topic ID {ID}: {change}")
    assert judged(s) == [(1, 1, True, "certain")]


def test_kraft_calls_it_unclean_and_the_states_between_are_missing() -> None:
    """KRaft's controller prints creations and unclean changes only; that the ISR had shrunk stands in its own line."""
    s = Story()
    born(s)
    kraft(s, 30, f"Setting new leader for topicId {ID}, partition 0 to 1 using an unclean election", "PartitionChangeBuilder")
    change = "isr: [3] -> [1], leader: -1 -> 1, leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 1 -> 2, partitionEpoch: 3 -> 4"
    kraft(s, 30, f"[QuorumController id=100] UNCLEAN partition change for t-0 with topic ID {ID}: {change}")
    assert judged(s) == [(2, 1, True, "certain")]


def test_kraft_says_unclean_of_a_topic_id_that_the_controllers_log_names() -> None:
    s = Story()
    kraft(s, 0, f"[QuorumController id=100] Replayed TopicRecord for topic t with topic ID {ID}.")
    s.leads(3, 20, 1, 100, 100, [3])
    kraft(s, 30, f"Setting new leader for topicId {ID}, partition 0 to 1 using an unclean election", "PartitionChangeBuilder")
    s.leads(1, 30.1, 3, 100, 100, [1])
    assert judged(s) == [(3, 1, True, "certain")]


def test_the_last_known_leader_that_kraft_elects_again_leads_on() -> None:
    """By the controller's line alone (KIP-966): what was before it is not in evidence."""
    s = Story()
    born(s)
    change = (
        "isr: [] -> [1], leader: -1 -> 1, leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 4 -> 5, lastKnownElr: [1] -> [], "
        "partitionEpoch: 8 -> 9"
    )
    kraft(s, 30, f"[QuorumController id=100] UNCLEAN partition change for t-0 with topic ID {ID}: {change}")
    assert [(e[1], e[2]) for e in judged(s)] == [(1, None)]


def test_kraft_prints_unclean_for_the_last_step_of_a_reassignment() -> None:
    s = Story()
    born(s)
    change = (
        "replicas: [4, 3, 2, 1] -> [4, 3, 2], isr: [3, 2, 1] -> [2, 3, 4], removingReplicas: [1] -> [], addingReplicas: [4] -> [], "
        "leader: 3 -> 4, leaderEpoch: 0 -> 1, partitionEpoch: 0 -> 1"
    )
    kraft(s, 30, f"[QuorumController id=100] UNCLEAN partition change for t-0 with topic ID {ID}: {change}")
    assert judged(s) == [(1, 4, False, "certain")]


@pytest.mark.parametrize(
    ("after", "unclean"),
    [("adding replicas [] and removing replicas []", False), ("adding replicas [1] and removing replicas [3]", True)],
)
def test_a_leader_prints_whether_the_reassignment_was_completed_when_it_was_elected(after: str, unclean: bool) -> None:
    """A KRaft controller completes it in the change in which the replica joins the ISR; an unclean election leaves it as it was."""
    s = Story()
    kraft(s, 0, f"[QuorumController id=100] Replayed TopicRecord for topic t with topic ID {ID}.")
    line = (
        f"Leader t-0 with topic id Some({ID}) starts at leader epoch 1 from offset 100 with partition epoch 1, high watermark 100, ISR [3]"
    )
    before = "adding replicas [1] and removing replicas [3] . Previous leader Some(3) and previous leader epoch was 0."
    s.line(3, "state-change", 10, f"INFO [Broker id=3] {line}, {before} (state.change.logger)")
    s.isr(3, 20, [3, 2], 2)  # these lines do not show the reassignment
    s.isr(3, 30, [3], 3)
    leads_alone(s, 40, 2, "Some(3) and previous leader epoch was 1", moving=after, version=4)
    assert judged(s) == [(2, 1, unclean, "certain")]


# KRaft, by its metadata log


def records(*changes: dict[str, Any], level: int = 21) -> list[Election]:
    """Elections of a partition created with replicas and ISR 1, 2, 3 under leader 1, and changed since."""
    source = "controller-100/data/__cluster_metadata-0/00000000000000000000.log"
    common = {"source": source, "topic": "t", "partition": 0, "writer": 100, "collection": ""}
    first = Event(
        **common,
        event="metadata-partition",
        metadata_offset=10,
        leader=1,
        leader_epoch=0,
        partition_epoch=0,
        isr=[1, 2, 3],
        replicas=[1, 2, 3],
        at=START,
    )
    later = [
        Event(**common, event="metadata-partition-change", metadata_offset=11 + i, at=START + timedelta(seconds=i + 1), **change)
        for i, change in enumerate(changes)
    ]
    feature = Event(source=source, event="metadata-feature", key="metadata.version", count=level)
    cluster = Cluster(mode="kraft", events=[feature])
    ((found),) = build("t", 0, [first, *later], cluster)
    return elections(found, cluster)


def test_recovering_in_the_record_is_unclean() -> None:
    (election,) = records({"isr": [1]}, {"leader": -1}, {"leader": 2, "isr": [2], "recovering": True})[-1:]
    assert (election.unclean, election.confidence, election.term.leader) == (True, "certain", 2)


def test_eligible_leader_replica_is_clean() -> None:
    """KIP-966: the ISR is empty, and a replica that left it with all committed records is elected."""
    elected = records(
        {"isr": [1], "eligible": [2]},
        {"leader": -1, "isr": [], "eligible": [1, 2]},
        {"leader": 2, "isr": [2], "eligible": [1]},
    )
    assert [(e.term.leader, e.unclean, e.confidence) for e in elected] == [(2, False, "certain")]
    assert "KIP-966" in text(elected[0].why)


def test_recovering_leader_is_unclean_even_if_it_had_been_eligible() -> None:
    """Before its unclean stop, which took it out of the ELR when it registered again. The ISR was empty."""
    emptied = ({"isr": [1], "eligible": [2]}, {"leader": -1, "isr": [], "eligible": [1, 2]})
    elected = records(*emptied, {"eligible": [1]}, {"leader": 2, "isr": [2], "recovering": True})
    assert [(e.term.leader, e.unclean, e.confidence) for e in elected] == [(2, True, "certain")]
    assert "empty ISR" in text(elected[0].why)


def test_last_known_leader_that_is_elected_again_is_not_called_unclean() -> None:
    """Its record carries RECOVERING, but the same log leads on (KIP-966)."""
    elected = records({"isr": [1]}, {"leader": -1, "isr": []}, {"leader": 1, "isr": [1], "recovering": True})
    assert [(e.term.leader, e.unclean) for e in elected] == [(1, None)]


def test_eligible_leader_replica_beside_an_isr_is_clean() -> None:
    elected = records({"isr": [1], "eligible": [2]}, {"leader": 2, "isr": [2]})
    assert [(e.unclean, e.confidence) for e in elected] == [(False, "certain")]
    assert "KIP-966" in text(elected[0].why)


def test_record_without_recovering_is_clean_where_the_level_would_say_so() -> None:
    outside = ({"isr": [1]}, {"leader": 2, "isr": [2]})
    assert [(e.unclean, e.clean) for e in records(*outside, level=21)] == [(False, None)]
    assert [e.unclean for e in records(*outside, level=1)] == [True]


def test_isr_shrink_that_bumps_the_epoch_is_no_election() -> None:
    """Below metadata.version 3.6-IV0 every shrink names the leader again and so raises its epoch."""
    assert records({"isr": [1, 2], "leader": 1}, {"isr": [1], "leader": 1}, level=7) == []


def test_reassignment_that_completes_with_another_leader_is_clean() -> None:
    elected = records(
        {"replicas": [4, 1, 2, 3], "adding_replicas": [4], "removing_replicas": [1]},
        {"replicas": [4, 2, 3], "isr": [4], "leader": 4, "adding_replicas": [], "removing_replicas": []},
    )
    assert [(e.unclean, e.confidence) for e in elected] == [(False, "certain")]


REASSIGNMENT = {"replicas": [4, 5, 1, 2, 3], "adding_replicas": [4, 5], "removing_replicas": [1, 2, 3]}
CANCELLED = {"replicas": [1, 2, 3], "isr": [1], "leader": 1, "adding_replicas": [], "removing_replicas": []}


def test_unclean_election_during_a_reassignment() -> None:
    """Up to 3.1 no record says RECOVERING."""
    elected = records(REASSIGNMENT, {"isr": [1]}, {"leader": 4, "isr": [4]}, level=1)
    assert [(e.unclean, e.confidence) for e in elected] == [(True, "certain")]


def test_reassignment_that_only_removes_completes_with_another_leader() -> None:
    """Broker 1, which is being removed, was the only member of the ISR until broker 2 joined it."""
    done = {"replicas": [2, 3], "isr": [2], "leader": 2, "removing_replicas": []}
    elected = records({"isr": [1]}, {"removing_replicas": [1]}, done, level=1)
    assert [(e.unclean, e.confidence) for e in elected] == [(False, "certain")]


@pytest.mark.parametrize(("level", "unclean"), [(1, True), (21, False)])
def test_cancelled_reassignment_may_elect_a_leader_from_outside_the_isr(level: int, unclean: bool) -> None:
    """Without RECOVERING, if only added replicas were in sync (PartitionReassignmentRevert)."""
    last = records(REASSIGNMENT, {"isr": [1, 4]}, {"leader": 4, "isr": [4]}, CANCELLED, level=level)[-1]
    assert (last.term.leader, last.unclean, last.clean) == (1, unclean, None)


# what the finding says


@pytest.mark.parametrize("isr", [[2], [2, 3]])
def test_unclean_election_that_cost_nothing_says_so(isr: list[int]) -> None:
    (finding,) = of(report(crashed_both(clean=True, isr=isr).files), "unclean-election")
    assert finding.severity == "high"
    assert "nothing was lost that the evidence shows" in words(finding).explanation
    assert finding.brokers == (1, *isr)


def test_unclean_election_after_a_crash_may_have_cost_what_was_not_flushed() -> None:
    """The old leader is back with a log that ends where the new one began."""
    (finding,) = of(report(crashed_both(clean=False, isr=[2]).files), "unclean-election")
    assert finding.severity == "critical"
    assert "Unknown from this evidence" in words(finding).explanation


def test_unclean_election_whose_cost_is_unknown_is_critical() -> None:
    s = Story()
    s.offline(3, 40, 3, [2], 3, 2)
    s.online(3, 40.1, 4, 1, [1], 4)
    (finding,) = of(report(s.files), "unclean-election")
    assert finding.severity == "critical"
    assert "Unknown from this evidence" in words(finding).explanation


def test_a_replica_that_is_elected_while_it_is_being_added_did_not_join_the_isr() -> None:
    s = Story()
    s.online(4, 0, 0, 1, [1, 2], 0)
    s.leads(1, 0.1, 0, 0, 0, [1, 2])
    s.line(
        4,
        "state-change",
        0,
        "INFO [Controller id=4 epoch=3] Changed partition t-0 state from NonExistentPartition to NewPartition with assigned replicas 1,2 (state.change.logger)",
    )
    s.line(4, "state-change", 10, REASSIGNED)
    s.online(4, 40, 2, 3, [3], 2)
    reported = report(s.files)
    (added,) = of(reported, "new-replica")
    assert added.end is None
    assert "was elected leader at 2026-11-21 01:53:40.000 UTC, before it is known to have joined the ISR" in words(added).explanation
    assert [f.confidence for f in of(reported, "unclean-election")] == ["certain"]


# across gaps


def test_nothing_certain_can_be_said_across_a_gap() -> None:
    s = Story()
    s.offline(3, 10, 3, [2], 3, 2)
    s.online(3, 50, 6, 1, [1], 7)
    (election,) = elections(*timeline(s.files))
    assert election.confidence == "possible"
    assert replace(election, unclean=False).clean is None


@pytest.mark.parametrize(
    ("epoch", "isr", "expected"),
    [
        (1, [1, 2], (False, True)),  # whatever the ISR was before, 2 was in it
        (1, [2], (None, False)),
        (3, [1, 2], (False, False)),  # epochs 1 and 2 may have been anybody's
        (3, [2], (None, False)),
    ],
)
def test_a_leader_whose_shrink_line_has_rotated_away(epoch: int, isr: list[int], expected: tuple[bool | None, bool]) -> None:
    """Broker 1 led with [1, 2]; its log of what it did then is gone, and what it had beyond 200 is cut."""
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.leads(2, 60, epoch, 200, 200, isr, previous=0)
    s.follows(1, 61, epoch, 260, 200, previous=0)
    s.truncates(1, 61.1, 200)
    (election,) = elections(*timeline(s.files))
    assert (election.unclean, election.clean is not None) == expected
    (lost,) = of(report(s.files), "data-loss")
    assert lost.committed is (False if election.clean else None)


@pytest.mark.parametrize(
    ("version", "statement", "expected"),
    [
        ("2.3.1", "", None),  # it prints that at TRACE only
        ("2.8.2", "ISR updated to [1] and version updated to [1]", "certain"),
        ("2.8.2", "", None),
        (None, "", None),
    ],
)
def test_a_shrink_that_nothing_shows_to_have_taken_effect(version: str | None, statement: str, expected: str | None) -> None:
    """Broker 1 meant to take 2 out, and 2 was elected: uncleanly, if its write to ZooKeeper succeeded."""
    s = Story()
    if version is not None:
        s.line(1, "server", 0, f"INFO Kafka version: {version} (org.apache.kafka.common.utils.AppInfoParser)")
    s.leads(1, 1, 0, 0, 0, [1, 2])
    shrinks = (
        "Shrinking ISR from 1,2 to 1. Leader: (highWatermark: 90, endOffset: 100). Out of sync replicas: (brokerId: 2, endOffset: 90)."
    )
    for n, line in enumerate(filter(None, (shrinks, statement))):
        s.line(1, "server", 10 + n, f"INFO [Partition t-0 broker=1] {line} (kafka.cluster.Partition)")
    s.leads(2, 60, 1, 200, 200, [2], previous=0)
    ((_, _, unclean, confidence),) = judged(s)
    assert confidence == (expected or "possible")
    assert unclean or not expected


def test_a_leader_that_leads_again_after_epochs_nobody_tells_of() -> None:
    """Another may have been elected in epoch 1 or 2, uncleanly."""
    s = Story()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.leads(1, 60, 3, 200, 200, [1], previous=0)
    s.follows(2, 61, 3, 260, 200, previous=0)
    s.truncates(2, 61.1, 200)
    assert judged(s) == [(3, 1, None, "possible")]
    assert {f.committed for f in of(report(s.files), "data-loss")} <= {None}
