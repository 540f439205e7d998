"""What Kafka prints and leaves on disk where a reader who takes it at its word goes wrong: one test or more for each trap.

Lines are real ones, or composed after the statement of the version named. What else reads the same kinds of line is in the tests of the parsers;
what the rules make of incidents is in tests/forensics.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import regex
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from fixtures.templates.matching import search
from forensics.model.cluster.facts import Cluster, Node
from forensics.model.events import Event
from forensics.model.partition.timeline import PartitionTimeline, build
from forensics.views.document import Report
from forensics.views.text import show
from forensics.words import words
from parsers import formats
from parsers.catalogue.record import search_all
from parsers.containers.units import units
from parsers.evidence import events, read_source
from parsers.paths import partition_of
from parsers.schemas import Member, Row
from parsers.sniff import sniff
from tests.forensics.staged import of, report, timeline
from tests.support import local
from tests.support.events import one_by_one

SC = "state.change.logger"
FETCHER = "kafka.server.ReplicaFetcherThread"
ID = "MlpAEC9lTCOuG5EVp6OGOg"


def line(second: float, level: str, message: str, logger: str) -> str:
    return f"[2026-11-21 01:53:{second:06.3f}] {level} {message} ({logger})\n".replace(".", ",", 1)


def read(path: str, content: bytes | str, modified: datetime | None = None) -> list[Row]:
    """Events of one file without its `source` event."""
    data = content.encode() if isinstance(content, str) else content
    return [r for r in one_by_one(read_source(Member(path, len(data), modified), BytesIO(data))) if r["event"] != "source"]


def row_of(message: str, logger: str = "kafka.log.Log", level: str = "INFO") -> dict[str, Any]:
    row = search(line(1, level, message, logger))
    assert row is not None, message
    return row


def fields(row: Mapping[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in names)


# T1: ZooKeeper controllers from 1.1 on print no word about unclean elections


def elected(leader: int) -> Report:
    states = line(1, "INFO", "[Controller id=2 epoch=2] Changed partition orders-0 from OfflinePartition to OnlinePartition with state "
                  f"LeaderAndIsr(leader={leader}, leaderEpoch=4, isr=List({leader}), zkVersion=7)", SC)  # fmt: skip
    before = line(0, "INFO", "[Controller id=2 epoch=2] Partition orders-0 state changed to (Leader:-1,ISR:3,LeaderEpoch:3,ControllerEpoch:2)"
                  " after removing replica 3 from the ISR as part of transition to OfflineReplica", SC)  # fmt: skip
    return report({"broker-2/logs/state-change.log": before + states})


def test_unclean_election_without_a_word_is_seen_by_its_leader_outside_the_isr() -> None:
    assert [(f.topic, f.partition, f.leader_epoch) for f in of(elected(1), "unclean-election")] == [("orders", 0, 4)]


def test_election_of_a_member_of_the_isr_in_the_same_words_is_clean() -> None:
    assert of(elected(3), "unclean-election") == []


# T2: "UNCLEAN partition change" is no proof

REASSIGNED = (
    "[QuorumController id=100] UNCLEAN partition change for profile-0 with topic ID IhaXblexRp-gFGpK86thiw: replicas: [1, 2, 3, 4] -> "
    "[1, 2, 3], directories: [vJOlZe1NSYPmbZDcHNbovg] -> [vJOlZe1NSYPmbZDcHNbovg], isr: [4, 2, 3] -> [2, 3, 1], removingReplicas: [4] -> [], "
    "addingReplicas: [1] -> [], leader: 4 -> 1, leaderEpoch: 0 -> 1, partitionEpoch: 1 -> 2"
)
RECOVERING = (
    f"[QuorumController id=100] UNCLEAN partition change for orders-0 with topic ID {ID}: isr: [3] -> [1], leader: -1 -> 1, "
    "leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 1 -> 2, partitionEpoch: 3 -> 4"
)
AGAIN = RECOVERING.replace("leaderRecoveryState: RECOVERED -> RECOVERING, ", "").replace("isr: [3] -> [1], ", "")
LOST_AND_BACK = (
    AGAIN.replace("-1 -> 1, leaderEpoch: 1 -> 2, partitionEpoch: 3 -> 4", "1 -> -1, leaderEpoch: 2 -> 3, partitionEpoch: 4 -> 5"),
    AGAIN.replace("leaderEpoch: 1 -> 2, partitionEpoch: 3 -> 4", "leaderEpoch: 3 -> 4, partitionEpoch: 5 -> 6"),
)
"""What 4.1 prints of a partition that is still RECOVERING when its leader goes and comes back."""
CONTROL = "org.apache.kafka.controller.ReplicationControlManager"


def test_the_word_unclean_over_a_finished_reassignment_is_no_unclean_election() -> None:
    assert fields(row_of(REASSIGNED, CONTROL), "event", "leader", "isr", "recovering") == ("partition-state", 1, [2, 3, 1], None)
    assert of(report({"controller-100/logs/controller.log": line(1, "INFO", REASSIGNED, CONTROL)}), "unclean-election") == []


def test_the_word_unclean_over_a_leader_marked_recovering_is_one_and_over_what_follows_it_none() -> None:
    log = "".join(line(n, "INFO", said, CONTROL) for n, said in enumerate((RECOVERING, *LOST_AND_BACK)))
    assert [t.epoch for t in timeline({"controller-100/logs/controller.log": log})[0].terms] == [2, 4]
    (found,) = of(report({"controller-100/logs/controller.log": log}), "unclean-election")
    assert (found.topic, found.partition, found.leader_epoch) == ("orders", 0, 2)
    assert words(found).summary.endswith("from outside the ISR [3]")


def test_the_word_unclean_over_an_eligible_leader_replica_is_no_unclean_election() -> None:
    """3.7..3.9: the ISR is empty, and an ELR member has all that was committed (KIP-966)."""
    last = f"[QuorumController id=100] partition change for orders-0 with topic ID {ID}: isr: [1] -> [], leader: 1 -> -1, leaderEpoch: 0 -> 1, elr: [] -> [1], partitionEpoch: 2 -> 3"
    back = f"[QuorumController id=100] UNCLEAN partition change for orders-0 with topic ID {ID}: isr: [] -> [1], leader: -1 -> 1, leaderEpoch: 1 -> 2, elr: [1] -> [], partitionEpoch: 3 -> 4"
    for log in (line(1, "DEBUG", last, CONTROL) + line(2, "INFO", back, CONTROL), line(2, "INFO", back, CONTROL)):
        assert of(report({"controller-100/logs/controller.log": log}), "unclean-election") == []


# T3: KRaft controllers print a change when they replay it: each of them, and again after a restart


def test_a_change_that_all_controllers_replay_twice_happened_once() -> None:
    again = line(1, "INFO", RECOVERING, CONTROL) + line(40, "INFO", RECOVERING, CONTROL)
    files = {f"controller-{n}/logs/controller.log": again.replace("id=100", f"id={n}") for n in (100, 101, 102)}
    story, _ = timeline(files)
    assert [(s.leader_epoch, s.partition_epoch, s.source) for s in story.states] == [(2, 4, "replayed")]
    assert len(of(report(files), "unclean-election")) == 1


# T4: a new leader epoch is not a new leader


def test_leader_epochs_that_rise_without_a_change_of_leader() -> None:
    """Below metadata.version 3.6-IV0 a shrink of the ISR raises it."""
    change = f"[QuorumController id=100] partition change for orders-0 with topic ID {ID}: isr: [1, 2, 3] -> [1, 2], leaderEpoch: 0 -> 1, "
    created = (
        f"[QuorumController id=100] Replayed PartitionRecord for new partition orders-0 with topic ID {ID} and PartitionRegistration("
        "replicas=[1, 2, 3], isr=[1, 2, 3], removingReplicas=[], addingReplicas=[], leader=1, leaderRecoveryState=RECOVERED, leaderEpoch=0, "
        "partitionEpoch=0)."
    )
    log = line(1, "INFO", created, CONTROL) + line(2, "DEBUG", f"{change}partitionEpoch: 0 -> 1", CONTROL)
    leads = "[Broker id=1] Leader orders-0 with topic id Some({id}) starts at leader epoch {epoch} from offset {offset} with partition epoch {epoch}, high watermark 0, ISR [{isr}], adding replicas [] and removing replicas [] . Previous leader {before} and previous leader epoch was {was}."
    own = line(1, "INFO", leads.format(id=ID, epoch=0, offset=0, isr="1,2,3", before="None", was=-1), SC) + line(
        2, "INFO", leads.format(id=ID, epoch=1, offset=90, isr="1,2", before="Some(1)", was=0), SC
    )
    files = {"controller-100/logs/controller.log": log, "broker-1/logs/state-change.log": own}
    story, _ = timeline(files)
    assert [(s.leader_epoch, s.leader, s.isr) for s in story.states] == [(0, 1, (1, 2, 3)), (1, 1, (1, 2))]
    assert [(t.epoch, t.leader, t.restart) for t in story.terms] == [(0, 1, 0), (1, 1, 0)]
    assert of(report(files), "data-loss", "unclean-election", "broker-crash", "preferred-election", "offline-partition") == []


def test_an_epoch_without_leader_stands_between_the_old_leader_and_the_unclean_one() -> None:
    gone = RECOVERING.replace("UNCLEAN ", "").replace("[3] -> [1]", "[3] -> [3]").replace("leader: -1 -> 1", "leader: 3 -> -1")
    gone = gone.replace("leaderRecoveryState: RECOVERED -> RECOVERING, ", "").replace(
        "1 -> 2, partitionEpoch: 3 -> 4", "0 -> 1, partitionEpoch: 2 -> 3"
    )
    story, _ = timeline({"controller-100/logs/controller.log": line(1, "DEBUG", gone, CONTROL) + line(2, "INFO", RECOVERING, CONTROL)})
    assert [(s.leader_epoch, s.leader) for s in story.states] == [(1, -1), (2, 1)]
    assert [(t.epoch, t.leader) for t in story.terms] == [(2, 1)]


# T5: the Follower line of 3.6..4.1 names the new leader as the previous one


def test_follower_line_of_3_6_to_4_1_does_not_name_the_previous_leader() -> None:
    said = (
        "[2026-11-21 02:15:38,147] INFO [Broker id=3] Follower bank-1 starts at leader epoch 1 from offset 190 with partition "
        "epoch 2 and high watermark 190. Current leader is 2. Previous leader Some({leader}) and previous leader epoch was {epoch}. "
        "(state.change.logger)"
    )
    wrong = search(said.format(leader=2, epoch=1))
    right = search(said.format(leader=1, epoch=0))
    assert wrong is not None
    assert right is not None
    assert (wrong.get("previous_leader"), wrong.get("previous_leader_epoch")) == (None, None)
    assert (right["previous_leader"], right["previous_leader_epoch"]) == (1, 0)


# T6: the high watermark in "Completed load of Log(...)" is the log start offset


def test_hw_of_a_loaded_log_is_not_taken_for_the_checkpointed_one() -> None:
    row = search(
        "[2026-11-21 02:15:38,147] INFO Completed load of Log(dir=/data/orders-0, topic=orders, partition=0, highWatermark=7, "
        "lastStableOffset=7, logStartOffset=7, logEndOffset=90) with 1 segments in 8ms (2/4 loaded in /data) (kafka.log.LogManager)"
    )
    assert row is not None
    assert "high_watermark" not in row
    assert (row["log_start_offset"], row["log_end_offset"], row["directory"]) == (7, 90, "/data")
    loaded = row_of(
        "[Partition orders-0 broker=1] Log loaded for partition orders-0 with initial high watermark 80", "kafka.cluster.Partition"
    )
    assert fields(loaded, "event", "high_watermark") == ("hw-loaded", 80)


# T7: FATAL became ERROR in 1.1


@pytest.mark.parametrize("level", ["FATAL", "ERROR"])
@pytest.mark.parametrize(
    ("message", "logger", "event"),
    [
        ("Halting Kafka.", "kafka.server.KafkaServerStartable", "fatal-error"),
        ("Shutdown broker because all log dirs in /data have failed", "kafka.log.LogManager", "fatal-error"),
        (
            "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Exiting because log truncation is not allowed for partition orders-0, "
            "current leader's latest offset 40 is less than replica's latest offset 44",
            FETCHER,
            "truncation-refused",
        ),
    ],
)
def test_what_is_fatal_is_fatal_at_either_level(level: str, message: str, logger: str, event: str) -> None:
    assert fields(row_of(message, logger, level), "event", "level") == (event, level)


# T8: from 2.6 on state-change.log has counts where it had a line for each partition


def test_counts_of_partitions_state_nothing_of_any_partition() -> None:
    counted = "[Broker id=1] Handling LeaderAndIsr request correlationId 1 from controller 2 for 12 partitions"
    each = (
        "[Broker id=1] Received LeaderAndIsr request LeaderAndIsrPartitionState(topicName='orders', partitionIndex=0, controllerEpoch=1, "
        "leader=1, leaderEpoch=0, isr=[1, 2], zkVersion=0, replicas=[1, 2], addingReplicas=[], removingReplicas=[], isNew=true) "
        "correlation id 1 from controller 2 epoch 1"
    )
    assert "partition" not in row_of(counted, SC)
    assert fields(row_of(each, SC, "TRACE"), "event", "topic", "leader", "isr", "controller") == ("partition-state", "orders", 1, [1, 2], 2)


# T9: text that Kafka forgot to fill in


@pytest.mark.parametrize(
    ("message", "logger", "event"),
    [
        (
            "[Broker id=1] Received stop replica request from an old controller epoch ${stopReplicaRequest.controllerEpoch}. Latest known "
            "controller epoch is $controllerEpoch",
            "state.change.logger",
            "controller-refused",
        ),
        (
            "[Broker id=1] Skipped the become-leader state change for ${tp} with topic id ${info.topicId} because this partition is already "
            "a local leader.",
            "state.change.logger",
            "irrelevant",
        ),
        (
            "Haven't been able to send leader and isr requests, current state of the map is $leaderAndIsrRequestMap. Exception message: $e",
            "kafka.controller.ControllerBrokerRequestBatch",
            "irrelevant",
        ),
        (
            "[KafkaServer id=1] Controlled shutdown request returned successfully after ${clientResponse.requestLatencyMs}ms",
            "kafka.server.KafkaServer",
            "controlled-shutdown",
        ),
        (
            "[BrokerLifecycleManager id=1] Unable to register broker $nodeId because of an API version problem.",
            "org.apache.kafka.server.BrokerLifecycleManager",
            "broker-state",
        ),
        (
            "Broker 1 received stop replica request from an old controller epoch 4. Latest known controller epoch is %d 5",
            "state.change.logger",
            "controller-refused",
        ),
        ("Failed to create or validate data directory /data.getAbsolutePath", "kafka.log.LogManager", "log-dir-offline"),
    ],
)
def test_text_kafka_forgot_to_fill_in(message: str, logger: str, event: str) -> None:
    row = search(f"[2024-05-01 12:00:00,123] WARN {message} ({logger})")
    assert row is not None
    assert row["event"] == event


# T10: "<n> recovered" of 4.0 and 4.1 is a quotient, and counts nothing


def test_quotient_of_4_0_is_no_count_of_segments() -> None:
    said = "[LogLoader partition=orders-0, dir=/data] Recovering unflushed segment 70. {} recovered for orders-0."
    loader = "org.apache.kafka.storage.internals.log.LogLoader"
    assert fields(row_of(said.format("0"), loader), "event", "offset", "count") == ("log-recovery", 70, None)
    assert fields(row_of(said.format("1/3"), "kafka.log.LogLoader"), "event", "offset", "count") == ("log-recovery", 70, 3)


# T11: the metadata log is recovered at every start


def starts(*recovered: str) -> Report:
    def process(second: int) -> str:
        clean = line(
            second + 1, "INFO", "Skipping recovery of 2 logs from /data since clean shutdown file was found", "kafka.log.LogManager"
        )
        begun = line(second, "INFO", "[KafkaServer id=1] starting", "kafka.server.KafkaServer")
        loads = [
            line(
                second + 0.5,
                "INFO",
                f"[LogLoader partition={tp}, dir=/data] Recovering unflushed segment 0. 0/1 recovered for {tp}.",
                "kafka.log.LogLoader",
            )
            for tp in recovered
        ]
        return begun + "".join(loads) + ("" if "orders-0" in recovered else clean)

    return report({"broker-1/logs/server.log": process(1) + process(30)})


def test_recovery_of_the_metadata_log_is_no_sign_of_a_crash() -> None:
    both = [f.brokers for f in of(starts("__cluster_metadata-0", "orders-0"), "broker-crash")]
    assert both == [(1,)]
    assert of(starts("__cluster_metadata-0"), "log-divergence", "data-loss") == []


# T12: "Expanding ISR" ends at 2.7: growth is seen in what took effect

LEADS = line(0, "INFO", "[Broker id=1] Leader orders-0 starts at leader epoch 0 from offset 0 with high watermark 0 ISR [1] addingReplicas [] "
             "removingReplicas []. Previous leader epoch was -1.", SC)  # fmt: skip


@pytest.mark.parametrize(
    "grown",
    [
        line(1, "INFO", "[Partition orders-0 broker=1] Expanding ISR from 1 to 1,2", "kafka.cluster.Partition"),
        line(1, "INFO", "[Partition orders-0 broker=1] ISR updated to 1,2 and version updated to [1]", "kafka.cluster.Partition"),
    ],
    ids=["2.3", "2.8"],
)
def test_growth_of_an_isr_with_and_without_the_word_for_it(grown: str) -> None:
    story, _ = timeline({"broker-1/logs/state-change.log": LEADS, "broker-1/logs/server.log": grown})
    assert [s.isr for s in story.states] == [(1,), (1, 2)]


# T13: two blanks, brackets or none, and a name for the version by minor


@pytest.mark.parametrize(
    ("said", "isr", "version", "reason"),
    [
        ("ISR updated to [1,2] and zkVersion updated to [3]", [1, 2], 3, None),
        ("ISR updated from AlterIsr to 1,2 and version updated to [3]", [1, 2], 3, None),
        ("ISR updated to 1,2 and version updated to [3]", [1, 2], 3, None),
        ("ISR updated to 2,1 and version updated to 3", [2, 1], 3, None),
        ("ISR updated to 2,3,1  and version updated to 6", [2, 3, 1], 6, None),
        ("ISR updated to 2 (under-min-isr) and version updated to 6", [2], 6, "under-min-isr"),
    ],
)
def test_isr_that_took_effect_in_the_words_of_every_version(said: str, isr: list[int], version: int, reason: str | None) -> None:
    row = row_of(f"[Partition orders-0 broker=1] {said}", "kafka.cluster.Partition")
    assert fields(row, "event", "isr", "partition_epoch", "reason") == ("isr-update", isr, version, reason)


# T14: [t,p] and t-p, where a topic may itself hold all that parts them


@pytest.mark.parametrize("topic", ["orders", "my-orders-2", "a.b_c-1-", "-0", "x-future", "t-0.1-delete"])
def test_the_last_dash_parts_topic_and_partition(topic: str) -> None:
    new = row_of(f"[Partition {topic}-7 broker=1] Shrinking ISR from 1,2 to 1", "kafka.cluster.Partition")
    old = row_of(f"Partition [{topic},7] on broker 1: Shrinking ISR for partition [{topic},7] from 1,2 to 1", "kafka.cluster.Partition")
    mixed = row_of(f"Partition [{topic},7] on broker 1: Expanding ISR for partition {topic}-7 from 1 to 1,2", "kafka.cluster.Partition")
    for row in (new, old, mixed):
        assert fields(row, "topic", "partition", "node") == (topic, 7, 1)


def test_lists_of_partitions_in_either_spelling() -> None:
    manager = "kafka.server.ReplicaFetcherManager"
    for listed in ("my-t-11,orders-0", "Set(my-t-11, orders-0)", "[my-t,11],[orders,0]"):
        rows = search_all(line(1, "INFO", f"[ReplicaFetcherManager on broker 1] Removed fetcher for partitions {listed}", manager))
        assert [fields(row, "topic", "partition") for row in rows] == [("my-t", 11), ("orders", 0)]


# T15: the logger is that of the object, not of the class the statement stands in


@pytest.mark.parametrize(
    ("message", "logger", "event"),
    [
        ("Truncating partition orders-0 to local high watermark 55", "kafka.server.ReplicaFetcherThread", "truncation-plan"),
        ("Truncating partition orders-0 to local high watermark 55", "kafka.server.ReplicaAlterLogDirsThread", "truncation-plan"),
        ("[LogLoader partition=orders-0, dir=/d] Recovering unflushed segment 7", "kafka.log.LogLoader$", "log-recovery"),
        ("[LogLoader partition=orders-0, dir=/d] Recovering unflushed segment 7", "kafka.log.LogLoader", "log-recovery"),
    ],
)
def test_loggers_of_subclasses_and_companions(message: str, logger: str, event: str) -> None:
    assert row_of(message, logger)["event"] == event


# T16: up to 0.10.2 the end of a session is only on standard output


def test_standard_output_is_read_as_a_log() -> None:
    said = line(1, "INFO", "zookeeper state changed (Expired)", "org.I0Itec.zkclient.ZkClient")
    name = "broker-1/logs/kafkaServer.out"
    assert sniff(Member(name, None, None), said.encode()) == "stdout-log"
    assert [row["event"] for row in read(name, said)] == ["session-expired"]


# T17: before 3.3 the lines of a KRaft controller are in server.log


@pytest.mark.parametrize("name", ["server.log", "controller.log", "kafkaServer.out", "all.txt"])
def test_a_controllers_lines_are_read_in_whatever_file_they_are(name: str) -> None:
    fenced = line(1, "INFO", "[Controller 100] Fencing broker 3 because its session has timed out.", CONTROL)
    assert [fields(row, "event", "node", "broker") for row in read(f"c/{name}", fenced)] == [("broker-fenced", 100, 3)]


# T18: from 3.8 on the epoch file is written some time after a truncation


def test_entries_beyond_the_log_are_read_and_the_file_is_whole() -> None:
    rows = read("data/orders-0/leader-epoch-checkpoint", "0\n2\n0 0\n3 1560\n")
    assert [fields(row, "event", "leader_epoch", "offset") for row in rows] == [
        ("epoch-entry", 0, 0),
        ("epoch-entry", 3, 1560),
        ("epoch-file", None, None),
    ]


# T19: .kafka_cleanshutdown is empty up to 3.6, and JSON from 3.7


@pytest.mark.parametrize(
    ("content", "epoch"), [(b"", None), (b'{"version":0,"brokerEpoch":57}', 57), (b'{"version":0,"brokerEpoch":-1}', -1), (b'{"version":0,"brokerEpoch":5,"new":1}', 5)]
)  # fmt: skip
def test_clean_shutdown_file_of_either_form(content: bytes, epoch: int | None) -> None:
    rows = read("broker-1/data/.kafka_cleanshutdown", content)
    assert [fields(row, "event", "broker_epoch") for row in rows] == [("clean-shutdown-file", epoch)]


# T20: the high watermark's checkpoint is up to five seconds old


def test_a_checkpoint_behind_what_the_leader_said_is_no_regression() -> None:
    files = {
        "broker-1/logs/state-change.log": LEADS.replace("from offset 0 with high watermark 0", "from offset 90 with high watermark 90"),
        "broker-1/data/replication-offset-checkpoint": "0\n1\norders 0 60\n",
    }
    assert of(report(files), "hw-regression", "data-loss") == []


# T21: a truncation that has no effect is none, and prints the end of the log less one


@pytest.mark.parametrize(
    ("said", "end"),
    [
        ("Truncating my-t-0 to 30 has no effect as the largest offset in the log is 29.", 30),
        ("[Log partition=my-t-0, dir=/data] Truncating to 30 has no effect as the largest offset in the log is 19", 20),
        ("[Log partition=my-t-0, dir=/data] Truncating to 0 has no effect as the largest offset in the log is -1", 0),
    ],
)
def test_truncation_without_effect_tells_the_end_of_the_log(said: str, end: int) -> None:
    assert fields(row_of(said), "event", "topic", "log_end_offset") == ("truncation-noop", "my-t", end)


def test_reasons_of_a_truncation() -> None:
    by_hw = row_of(
        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Truncating partition orders-0 to local high watermark 55", FETCHER
    )
    by_epoch = row_of(
        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Truncating partition orders-0 with TruncationState(offset=100, completed=true) "
        "due to leader epoch and offset EpochEndOffset(errorCode=0, partition=0, leaderEpoch=0, endOffset=200)",
        FETCHER,
    )
    bare = row_of("Truncating log my-t-0 to offset 30.")
    assert [fields(row, "event", "offset", "reason") for row in (by_hw, by_epoch, bare)] == [
        ("truncation-plan", 55, "high-watermark"),
        ("truncation-plan", 100, "leader-epoch"),
        ("truncation", 30, None),
    ]


# T22 is of a tool this one replaces: tests/forensics/commands/test_merge.py has both spellings.

# T23: times without a zone; rolled files carry the hour


def test_rolled_files_are_logs_and_their_times_are_of_an_unknown_zone() -> None:
    said = line(1, "INFO", "[KafkaServer id=1] starting", "kafka.server.KafkaServer")
    (row,) = read("broker-1/logs/server.log.2026-11-21-01", said)
    assert fields(row, "event", "time", "clock") == ("broker-starting", datetime(2026, 11, 21, 1, 53, 1), "line")
    assert sniff(Member("state-change.log.2026-11-21-01", None, None), said.encode()) == "state-change-log"


# T24: what follows on lines that do not begin with a bracket belongs to the record before


def test_text_within_a_record_is_none_of_its_own() -> None:
    trace = (
        line(1, "ERROR", "[ReplicaManager broker=1] Error processing append operation on partition orders-0", "kafka.server.ReplicaManager")
        + "org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current ISR Set(1) is insufficient to satisfy the "
        "min.isr requirement of 2 for partition orders-0\n\tat kafka.cluster.Partition.append(Partition.scala:1)\n"
        "[Partition is a word that may begin a line too] Truncating to offset 5 (kafka.log.Log)\n"
    )
    rows = read("broker-1/logs/server.log", trace + line(9, "INFO", "Truncating log my-t-0 to offset 30.", "kafka.log.Log"))
    assert [fields(row, "event", "partition", "count", "offset") for row in rows] == [
        ("append-refused", 0, 2, None),
        ("truncation", 0, None, 30),
    ]
    assert [row["time"].second for row in rows] == [1, 9]


# a move between two log directories of one broker (KIP-113): the copy prints what the replica's own log prints

MANAGER = "kafka.log.LogManager"


def moving(created_in: str, replica_in: str = "/d1/orders-0", *, then: str = "") -> PartitionTimeline:
    server = (
        line(1, "INFO", f"Created log for partition orders-0 in {replica_in} with properties {{}}", MANAGER)
        + line(2, "INFO", "[Log partition=orders-0, dir=/d1] Rolled new log segment at offset 500 in 1 ms.", "kafka.log.Log")
        + line(3, "INFO", f"Created log for partition orders-0 in {created_in} with properties {{}}", MANAGER)
        + line(
            4,
            "INFO",
            "[Log partition=orders-0, dir=/d2] Truncating to 0 has no effect as the largest offset in the log is -1",
            "kafka.log.Log",
        )
        + line(5, "INFO", "[Log partition=orders-0, dir=/d2] Rolled new log segment at offset 100 in 1 ms.", "kafka.log.Log")
        + then
    )
    story, _ = timeline({"broker-1/logs/server.log": server, "broker-1/logs/state-change.log": LEADS})
    return story


MOVED = line(6, "INFO", "The current replica is successfully replaced with the future replica for orders-0", MANAGER)
AFTER = line(7, "INFO", "[Log partition=orders-0, dir=/d2] Rolled new log segment at offset 600 in 1 ms.", "kafka.log.Log")
STILL = line(7, "INFO", "[Log partition=orders-0, dir=/d1] Rolled new log segment at offset 600 in 1 ms.", "kafka.log.Log")
FUTURE = "/d2/orders-0.57e231e54e64485c9ac790cf39e67c49-future"


@pytest.mark.parametrize("then", [MOVED + AFTER, STILL], ids=["replaced", "under way"])
@pytest.mark.parametrize(("copy", "own"), [(FUTURE, "/d1/orders-0"), ("/d2", "/d1")], ids=["2.8", "1.1"])
def test_the_copy_of_a_move_is_not_the_replica(copy: str, own: str, then: str) -> None:
    replica = moving(copy, own, then=then).replicas[1]
    assert replica.removals == []
    assert [o.offset for o in replica.observations if o.quantity == "log-end-offset"] == [0, 0, 500, 600]


def test_a_log_created_anew_in_another_directory_is_empty() -> None:
    """A disk was replaced: nothing is heard of the old directory again."""
    (removal,) = moving("/d2", "/d1").replicas[1].removals
    assert (removal.start, removal.end, removal.cause) == (0, 500, "empty")


def test_a_copy_that_is_loaded_at_a_start_is_told_from_the_replica() -> None:
    said = (
        "Completed load of Log(dir={}, topic=orders, partition=0, highWatermark=0, lastStableOffset=0, logStartOffset=0, "
        "logEndOffset={}) with 1 segments in 8ms (2/4 loaded in /d) (kafka.log.LogManager)"
    )
    server = line(1, "INFO", said.format("/d1/orders-0", 500).removesuffix(" (kafka.log.LogManager)"), MANAGER)
    server += line(2, "INFO", said.format(FUTURE, 90).removesuffix(" (kafka.log.LogManager)"), MANAGER)
    story, _ = timeline({"broker-1/logs/server.log": server, "broker-1/logs/state-change.log": LEADS.replace("53:00", "53:09")})
    assert [load.offset for load in story.replicas[1].loads] == [500]


def test_a_copy_cut_below_its_high_watermark_says_so() -> None:
    said = "[UnifiedLog partition=orders-0, dir=/d2] Truncating {}orders-0 to offset 30 below high watermark 40"
    logger = "org.apache.kafka.storage.internals.log.UnifiedLog"
    assert [row_of(said.format(which), logger, "WARN").get("reason") for which in ("future ", "")] == ["future", None]


@pytest.mark.parametrize(("state", "reach"), [(None, [500]), ("delete", []), ("future", []), ("stray", [])])
def test_a_directory_that_is_no_replica_says_nothing_of_the_replicas_log(state: str | None, reach: list[int]) -> None:
    """In a collection of an hour before, which stands among the broker's lines."""
    row_of = {"source": "s", "topic": "t", "partition": 0, "writer": 1, "collection": "old", "at": datetime(2026, 11, 21)}
    segment = Event(event="segment", reason=state, offset=0, log_end_offset=500, **row_of)
    later = Event(event="follower-start", line=1, leader_epoch=1, **{**row_of, "at": datetime(2026, 11, 21, 1), "collection": "new"})
    (found,) = build("t", 0, [segment, later], Cluster(nodes={1: Node(1, collections=["old", "new"])}))
    assert [o.offset for o in found.replicas[1].observations if o.quantity == "log-end-offset"] == reach


# changes of which a KRaft controller prints only what is new


def test_what_a_change_does_not_name_is_as_it_was() -> None:
    said = f"[QuorumController id=100] partition change for orders-0 with topic ID {ID}: "
    changes = (
        "isr: [1, 2, 3] -> [1, 2], leader: 3 -> 1, leaderEpoch: 0 -> 1, partitionEpoch: 0 -> 1",
        "leader: 1 -> -1, leaderEpoch: 1 -> 2, partitionEpoch: 1 -> 2",
        "leader: -1 -> 2, leaderEpoch: 2 -> 3, partitionEpoch: 2 -> 3",
        "isr: [1, 2] -> [2], partitionEpoch: 3 -> 4",
        "leader: 2 -> 9, leaderEpoch: 7 -> 8, partitionEpoch: 9 -> 10",
    )
    log = "".join(line(n, "DEBUG", said + change, CONTROL) for n, change in enumerate(changes))
    story, _ = timeline({"controller-100/logs/controller.log": log})
    assert [(s.leader_epoch, s.partition_epoch, s.leader, s.isr) for s in story.states] == [
        (1, 1, 1, (1, 2)),
        (2, 2, -1, (1, 2)),
        (3, 3, 2, (1, 2)),
        (3, 4, 2, (2,)),
    ]


# files of a log directory


@pytest.mark.parametrize(
    ("content", "rows", "problems"),
    [
        (b"", 0, []),
        (b"0\n", 0, []),
        (b"0\n0\n", 0, []),
        (b"0\r\n1\r\norders 0 15\r\n", 1, []),
        (b"0\n1\norders\t 0   15\n", 1, []),
        (b"0\n1\norders 0 15", 1, ["checkpoint-cut"]),
        (b"0\n2\norders 0 15\n", 1, ["checkpoint-corrupt"]),
        (b"1\n1\norders 0 15\n", 1, ["checkpoint-corrupt"]),
        (bytes(24), 0, ["checkpoint-corrupt"]),
    ],
)
def test_offset_checkpoints_as_kafka_reads_them_and_as_it_does_not(content: bytes, rows: int, problems: list[str]) -> None:
    """No bytes, or a version only, are an empty file; each row ends in a line end, the last one too, so one that does not may be cut."""
    found = read("data/replication-offset-checkpoint", content)
    assert sum(row["event"] == "hw-checkpoint" for row in found) == rows
    assert [row["reason"] for row in found if row["event"] == "problem"] == problems


def test_a_checkpoint_lost_to_a_power_failure_is_described_in_words() -> None:
    (problem,) = read("data/replication-offset-checkpoint", bytes(4000))
    assert "4000 NUL bytes" in problem["text"]


def test_a_checkpoint_that_was_being_written_is_not_taken_for_the_file() -> None:
    rows = read("data/replication-offset-checkpoint.tmp", "0\n1\norders 0 15\n")
    assert [fields(row, "event", "reason") for row in rows] == [("problem", "checkpoint-unfinished"), ("hw-checkpoint", "unfinished")]


HEX = "57e231e54e64485c9ac790cf39e67c49"


@pytest.mark.parametrize(
    ("directory", "expected"),
    [
        ("my-orders-12", ("my-orders", 12, "current")),
        (f"my-orders-12.{HEX}-delete", ("my-orders", 12, "delete")),
        (f"my-orders-12.{HEX}-future", ("my-orders", 12, "future")),
        (f"my-orders-12.{HEX}-stray", ("my-orders", 12, "stray")),
        ("a.b-delete-0", ("a.b-delete", 0, "current")),
    ],
)
def test_directories_that_are_no_replica_any_more_or_not_yet(directory: str, expected: tuple[str, int, str]) -> None:
    assert partition_of(f"data/{directory}/leader-epoch-checkpoint") == expected
    rows = read(f"data/{directory}/leader-epoch-checkpoint", "0\n1\n0 0\n")
    state = None if expected[2] == "current" else expected[2]
    assert {fields(row, "topic", "partition", "reason") for row in rows} == {(*expected[:2], state)}


def test_meta_properties_in_any_order_and_of_either_version() -> None:
    old = read("data/meta.properties", "#\n#Sat Nov 21 01:53:00 UTC 2026\ncluster.id=kVtMIqPFRzW3yc9-6hFJ6g\nbroker.id=1\nversion=0\n")
    new = read("data/meta.properties", "#\n#Sat Nov 21 01:53:00 UTC 2026\nnode.id=1\ndirectory.id=vJOlZe1NSYPmbZDcHNbovg\nversion=1\ncluster.id=kVtMIqPFRzW3yc9-6hFJ6g\n")  # fmt: skip
    names = ("event", "node", "value", "directory")
    assert [fields(row, *names) for row in old] == [("log-directory-identity", 1, "kVtMIqPFRzW3yc9-6hFJ6g", None)]
    assert [fields(row, *names) for row in new] == [("log-directory-identity", 1, "kVtMIqPFRzW3yc9-6hFJ6g", "vJOlZe1NSYPmbZDcHNbovg")]


def test_partition_metadata_has_no_line_end_and_quorum_state_two_forms() -> None:
    (row,) = read("data/orders-0/partition.metadata", f"version: 0\ntopic_id: {ID}")
    assert fields(row, "event", "topic", "topic_id") == ("partition-metadata", "orders", ID)
    v0 = '{"clusterId":"","leaderId":100,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,"currentVoters":[{"voterId":100}],"data_version":0}'
    v1 = '{"leaderId":-1,"leaderEpoch":2,"votedId":1,"votedDirectoryId":"vJOlZe1NSYPmbZDcHNbovg","data_version":1}'
    for text, leader, epoch in ((v0, 100, 1), (v1, -1, 2)):
        (row,) = read("data/__cluster_metadata-0/quorum-state", text)
        assert fields(row, "event", "leader", "controller_epoch") == ("quorum-state", leader, epoch)


# znodes: their keys come in the order of a hash map


@pytest.mark.parametrize(
    ("path", "content", "event"),
    [
        ("brokers/topics/t", '{"version":1,"partitions":{"0":[1]}}', "assignment"),
        ("brokers/topics/t", f'{{"removing_replicas":{{}},"partitions":{{"0":[1]}},"topic_id":"{ID}","adding_replicas":{{}},"version":3}}', "assignment"),
        ("brokers/topics/t", f'{{"adding_replicas":{{}},"partitions":{{"0":[1]}},"topic_id":"{ID}","removing_replicas":{{}},"version":3}}', "assignment"),
        ("brokers/topics/t/partitions/0/state", '{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":2,"isr":[1]}', "partition-state"),
        ("brokers/topics/t/partitions/0/state", '{"isr":[1],"leader":1,"leader_recovery_state":0,"version":1,"leader_epoch":2,"controller_epoch":1}', "partition-state"),
        ("brokers/topics/t/partitions/0/state", '{"leader_recovery_state":0,"isr":[1],"leader":1,"version":1,"leader_epoch":2,"controller_epoch":1}', "partition-state"),
        ("log_dir_event_notification/log_dir_event_0000000004", '{"version":1,"broker":1,"event":1}', "log-dir-reported"),
        ("isr_change_notification/isr_change_0000000004", '{"version":1,"partitions":[{"topic":"t","partition":3}]}', "isr-change-notified"),
    ],
)  # fmt: skip
def test_znodes_with_their_keys_in_any_order(path: str, content: str, event: str) -> None:
    assert [row["event"] for row in read(f"zk/{path}", content)] == [event]
    assert [row["event"] for row in read(f"zk/{path.replace('/', '_')}.txt", content)] == [event]


# output of tools


@pytest.mark.parametrize(
    ("text", "leader", "isr"),
    [
        ("Topic:t\tPartitionCount:1\tReplicationFactor:3\tConfigs:\n\tTopic: t\tPartition: 0\tLeader: none\tReplicas: 1,2,3\tIsr: \n", -1, []),
        ("Topic:t\tPartitionCount:1\tReplicationFactor:2\tConfigs:\tMarkedForDeletion:true\n\tTopic: t\tPartition: 0\tLeader: -1\tReplicas: 1,2\tIsr: 2\tMarkedForDeletion: true\n", -1, [2]),
        (f"Topic: t\tTopicId: {ID}\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: \n\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1\tAdding Replicas: 3\tRemoving Replicas: 1\n", 1, [1]),
        (f"Topic: t\tTopicId: {ID}\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: \n\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1\tElr: N/A\tLastKnownElr: N/A\n", 1, [1]),
        (f"Topic: t\tTopicId: {ID}\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: \n\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1\tElr: \tLastKnownElr: 2\n", 1, [1]),
    ],
    ids=["0.8.2", "marked", "2.8", "3.8", "3.9"],
)  # fmt: skip
def test_describe_of_every_version(text: str, leader: int, isr: list[int]) -> None:
    (row,) = [row for row in read("cluster/topics.txt", text) if row["event"] == "describe-partition"]
    assert fields(row, "topic", "partition", "leader", "isr") == ("t", 0, leader, isr)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("Reassignment of partition [my-t,0] completed successfully", "completed"),
        ("Reassignment of partition my-t-0 completed successfully", "completed"),
        ("Reassignment of partition my-t-0 failed", "failed"),
        ("Reassignment of partition my-t-0 is still in progress", "in-progress"),
        ("Reassignment of partition my-t-0 is completed.", "completed"),
        ("Reassignment of partition my-t-0 is still in progress.", "in-progress"),
        ("There is no active reassignment of partition my-t-0, but replica set is 1,2 rather than 2,3.", "not-active"),
    ],
)
def test_what_verify_says_in_every_version(said: str, reason: str) -> None:
    rows = read("cluster/verify.txt", f"Status of partition reassignment:\n{said}\n")
    assert [fields(row, "event", "topic", "partition", "reason") for row in rows] == [("tool-reassignment", "my-t", 0, reason)]


# what a crash or a collector makes of a log

STARTING = line(1, "INFO", "[KafkaServer id=1] starting", "kafka.server.KafkaServer").encode()


@pytest.mark.parametrize("zeros", [300, 70_000, 5_000_000])
@pytest.mark.parametrize("place", ["first", "between", "last"])
def test_zeros_of_a_crashed_file_system_are_read_around(place: str, zeros: int) -> None:
    later = STARTING.replace(b":01,", b":09,")
    content = {
        "first": bytes(zeros) + STARTING + later,
        "between": STARTING + bytes(zeros) + later,
        "last": STARTING + later + bytes(zeros),
    }
    rows = read("broker-1/logs/server.log", content[place])
    assert [row["time"].second for row in rows if row["event"] == "broker-starting"] == [1, 9]
    assert [row["reason"] for row in rows if row["event"] == "problem"] == ["binary-noise"]


@pytest.mark.parametrize("name", ["server.log.1", "kafkaServer.out", "state-change.log.2026-11-21-01", "config/server.properties.old"])
def test_binary_content_under_the_name_of_text_is_told(name: str) -> None:
    assert [row["reason"] for row in read(name, b"\x00\x01\xff\xfe" * 40)] == ["unreadable"]


def test_a_mistake_of_a_reader_ends_the_reading_of_its_file_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(stream: io.BufferedIOBase, member: Member) -> list[Row]:
        return [{"event": "config"}, {}["HOST"]]

    monkeypatch.setitem(vars(formats)["READERS"], "server-properties", mistaken)
    content = b"broker.id=1\n" * 9000
    problem, source = read_source(Member("server.properties", None, None), io.BytesIO(content))
    assert isinstance(source, dict) and isinstance(problem, dict)
    assert problem["text"] == "server.properties: KeyError 'HOST'" == source["collected"]["problem"]
    assert source["collected"]["sha256"] == hashlib.sha256(content).hexdigest()


# any evidence at all: what is read, and a named problem for the rest


def gz(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def tarred(data: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("broker-1/logs/server.log")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zipped(data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("broker-1/logs/server.log", data)
    return out.getvalue()


WRAPPERS = (gz, tarred, zipped, bz2.compress, lzma.compress)
DAMAGES = st.one_of(
    st.tuples(st.just("cut"), st.integers(0, 5000), st.just(0)),
    st.tuples(st.just("flip"), st.integers(0, 5000), st.integers(1, 255)),
    st.tuples(st.just("zeros"), st.integers(0, 5000), st.integers(1, 3000)),
    st.tuples(st.just("noise"), st.integers(0, 5000), st.integers(1, 300)),
)


def damaged(data: bytes, kind: str, at: int, much: int) -> bytes:
    at = at % (len(data) + 1)
    if kind == "cut":
        return data[:at]
    if kind == "flip":
        return data[:at] + bytes([data[at] ^ much]) + data[at + 1 :] if at < len(data) else data
    return data[:at] + (bytes(much) if kind == "zeros" else bytes(range(256))[: much % 256]) + data[at:]


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(WRAPPERS), max_size=3),
    st.lists(DAMAGES, max_size=2),
    st.sampled_from(["a.tar.gz", "server.log", "a.zip", "a"]),
)
@example([zipped], [("flip", 2, 1)], "a.zip")  # without its signature it is a file with some bytes before the first line
def test_damaged_containers_give_what_they_hold_or_say_what_is_wrong(
    tmp_path: Path, wrappers: list[Callable[[bytes], bytes]], damages: list[tuple[str, int, int]], name: str
) -> None:
    data = STARTING * 30
    for wrap in wrappers:
        data = wrap(data)
    whole = data
    for damage in damages:
        data = damaged(data, *damage)
    (tmp_path / "evidence").mkdir(exist_ok=True)
    for old in (tmp_path / "evidence").iterdir():
        old.unlink()
    (tmp_path / "evidence" / name).write_bytes(data)
    rows = [row for unit in units([str(tmp_path)]) for batch in events(unit) for row in batch.to_pylist()]
    read_whole = sum(row["event"] == "broker-starting" for row in rows) == 30
    told_of = [row for row in rows if row["event"] == "problem" or (row["event"] == "source" and row["collected"]["unrecognised"])]
    assert any(row["event"] == "source" for row in rows)
    if data == whole:
        assert read_whole
        assert told_of == []
    elif wrappers[-1:] == [tarred] and len(data) < tarfile.BLOCKSIZE:
        pass  # a part of the header, which is text as in any log
    elif set(wrappers) - {tarred} and not read_whole:  # a tar has no checksum of what is in it
        assert told_of or any(row["event"] == "source" and row["collected"]["kind"] in ("empty", "binary", "text") for row in rows)
    assert all((row["source"] or "").isprintable() for row in rows)


HOSTILE = ["nl\nname.log", "esc\x1b[31mred\x07.log", "<script>alert(1)<.log", "[bold]x[italic].log", "\u202egol.log", "bad\udcff.log"]


def test_hostile_names_reach_no_terminal_and_stop_nothing(tmp_path: Path) -> None:
    for name in HOSTILE:
        (tmp_path / name).write_bytes(b"\0\1\2" * 99)
    (tmp_path / "server.log").write_bytes(STARTING)
    found = local.report(local.events_of(tmp_path))
    out = io.StringIO()
    show(found, Console(file=out, width=500, force_terminal=False, highlight=False))
    problems = sorted(s.path for s in found.cluster.sources if s.problem)
    assert problems == sorted(
        ["nl\ufffdname.log", "esc\ufffd[31mred\ufffd.log", "<script>alert(1)<.log", "[bold]x[italic].log", "\ufffdgol.log", "bad\ufffd.log"]
    )
    assert not regex.search(r"[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e]", out.getvalue() + found.json())
    assert "[bold]x[italic].log" in out.getvalue()


def test_a_damaged_file_of_which_much_was_read_is_one_source_with_its_problem(tmp_path: Path) -> None:
    (tmp_path / "server.log.gz").write_bytes(gz(STARTING * 30) + b"other bytes")
    (tmp_path / "cut.zip").write_bytes(zipped(STARTING)[:-30])
    rows = [row for unit in units([str(tmp_path)]) for batch in events(unit) for row in batch.to_pylist()]
    sources = {row["source"]: row["collected"] for row in rows if row["event"] == "source"}
    assert len(sources) == sum(row["event"] == "source" for row in rows)
    assert (sources["server.log.gz"]["kind"], sources["server.log.gz"]["lines"]) == ("server-log", 30)
    assert sources["server.log.gz"]["problem"].endswith("they were not read")
    assert sources["cut.zip"]["kind"] == "unreadable"
