"""Truncation of logs: who truncates and why, fetch offset resets, leader epoch caches, regressions of the HW.

Here: the truncation lines of logs, the follower's reasons in every generation of the protocol (HW, KIP-101,
KIP-279, KIP-595), and the entries of the leader epoch cache. Not here: fetching as such (fetching), recovery after a crash
(loading).
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.patterns.pattern import TOPIC, TP, Pattern, Sample
from parsers.schemas import Row

_EPOCH_ENTRY = r"EpochEntry\((?:epoch=)?(?P<leader_epoch>-?\d+), ?(?:startOffset=)?(?P<offset>-?\d+)\)"
_FOLLOWER = r"(?:follower|replica|future replica)"


def _end_after_largest(row: Row) -> Iterator[Row]:
    """`the largest offset in the log` is one less than the log end offset."""
    row["log_end_offset"] = int(row["_groups"]["_largest"]) + 1
    yield row


_TIER = (
    "A follower whose fetch offset is below its leader's local log (OFFSET_MOVED_TO_TIERED_STORAGE, KIP-405) removes its records and starts "
    "after the last remote segment below that log, at offset or above. Tiered storage has all records below."
)

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="truncating",
        event="truncation",
        literal="Truncating log ",
        regex=rf"Truncating log {TP} to offset (?P<offset>(?P<log_end_offset>-?\d+))\.?",
        versions=("0.8.2", "0.11.0"),
        samples=(
            Sample(
                line="[2026-11-21 03:01:20,433] INFO Truncating log orders-1 to offset 0. (kafka.log.Log)",
                fields={"topic": "orders", "partition": 1, "offset": 0, "log_end_offset": 0, "reason": None},
                origin="real: unclean-election-0.10.2.2-zk",
            ),
        ),
        note="Also printed for a log that already ends there.",
    ),
    Pattern(
        name="truncating-longer",
        event="truncation",
        literal="Truncating to offset ",
        regex=r"Truncating to offset (?P<offset>(?P<log_end_offset>-?\d+))\.?",
        versions=("1.0", "4.4"),
        fixed={"reason": "longer"},
        samples=(
            Sample(
                line="[2026-11-21 02:25:28,090] INFO [Log partition=clicks-0, dir=/var/lib/kafka/broker-2/data] "
                "Truncating to offset 300 (kafka.log.Log)",
                fields={
                    "topic": "clicks",
                    "partition": 0,
                    "directory": "/var/lib/kafka/broker-2/data",
                    "offset": 300,
                    "log_end_offset": 300,
                    "reason": "longer",
                },
                origin="real: acks1-failover-1.1.1-zk",
            ),
            Sample(
                line="[2026-11-21 02:15:38,140] INFO [UnifiedLog partition=bank-1, dir=/var/lib/kafka/broker-2/data] "
                "Truncating to offset 190 (kafka.log.UnifiedLog)",
                fields={"topic": "bank", "partition": 1, "directory": "/var/lib/kafka/broker-2/data", "offset": 190, "log_end_offset": 190},
                origin="real: power-loss-divergence-3.9.1-kraft",
            ),
        ),
        note="Printed only if the log is longer; otherwise Kafka prints that truncating has no effect (Log.truncateTo).",
    ),
    Pattern(
        name="truncating-needless",
        event="truncation-noop",
        literal=" has no effect as the largest offset in the log is ",
        regex=rf"Truncating (?:{TP} )?to (?P<offset>-?\d+) has no effect as the largest offset in the log is (?P<_largest>-?\d+)\.?",
        versions=("0.8.2", "4.4"),
        explode=_end_after_largest,
        samples=(
            Sample(
                line="[2026-11-21 02:25:24,837] INFO [Log partition=clicks-0, dir=/var/lib/kafka/broker-3/data] "
                "Truncating to 300 has no effect as the largest offset in the log is 299 (kafka.log.Log)",
                fields={
                    "topic": "clicks",
                    "partition": 0,
                    "directory": "/var/lib/kafka/broker-3/data",
                    "offset": 300,
                    "log_end_offset": 300,
                },
                origin="real: acks1-failover-1.1.1-zk",
            ),
            Sample(
                line="[2026-11-21 03:06:01,416] INFO [UnifiedLog partition=calm-0, dir=/var/lib/kafka/broker-1/data] "
                "Truncating to 0 has no effect as the largest offset in the log is -1 (kafka.log.UnifiedLog)",
                fields={"topic": "calm", "partition": 0, "directory": "/var/lib/kafka/broker-1/data", "offset": 0, "log_end_offset": 0},
                origin="real: last-replica-standing-3.9.1-kraft",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO Truncating orders-0 to 300 has no effect as the largest offset in "
                "the log is 199. (kafka.log.Log)",
                fields={"topic": "orders", "partition": 0, "offset": 300, "log_end_offset": 200},
                origin="source: 0.11.0 Log",
            ),
        ),
    ),
    Pattern(
        name="truncating-fully",
        event="truncation",
        literal="Truncate and start ",
        regex=rf"Truncate and start (?:log '{TP}' )?(?:at offset|to) (?P<offset>(?P<log_end_offset>-?\d+))"
        r"(?:, logStartOffset: (?:Optional\[|Some\()?(?:(?P<log_start_offset>-?\d+)|None|Optional\.empty|\S+?)[\])]?)?",
        versions=("0.8.2", "4.4"),
        fixed={"reason": "start"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] DEBUG [Log partition=orders-0, dir=/data] Truncate and start at offset 500 (kafka.log.Log)",
                fields={"topic": "orders", "partition": 0, "directory": "/data", "offset": 500, "log_end_offset": 500, "reason": "start"},
                origin="source: 2.8 Log",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] DEBUG [UnifiedLog partition=orders-0, dir=/data] Truncate and start at "
                "offset 500, logStartOffset: Some(400) (kafka.log.UnifiedLog)",
                fields={
                    "topic": "orders",
                    "partition": 0,
                    "directory": "/data",
                    "offset": 500,
                    "log_end_offset": 500,
                    "log_start_offset": 400,
                    "reason": "start",
                },
                origin="source: 3.9 UnifiedLog",
            ),
        ),
        note="Printed at DEBUG; by default the WARN of the fetcher (fetch-offset-reset) has the same content.",
    ),
    Pattern(
        name="truncating-below-hw",
        event="truncation-below-hw",
        literal=" below high watermark ",
        regex=rf"Truncating (?:(?P<reason>future) )?{TP} to offset (?P<offset>-?\d+) below high watermark (?P<high_watermark>-?\d+)",
        versions=("2.0", "4.4"),
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating "
                "orders-0 to offset 267 below high watermark 298 (kafka.server.ReplicaFetcherThread)",
                fields={"node": 1, "broker": 2, "topic": "orders", "partition": 0, "offset": 267, "high_watermark": 298},
                origin="source: 2.8 ReplicaFetcherThread",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [UnifiedLog partition=orders-0, dir=/data] Truncating future "
                "orders-0 to offset 267 below high watermark 298 (org.apache.kafka.storage.internals.log.UnifiedLog)",
                fields={"topic": "orders", "partition": 0, "directory": "/data", "offset": 267, "high_watermark": 298},
                origin="source: 4.3 UnifiedLog",
            ),
        ),
        note="The replica removes records that it knew to be committed.",
    ),
    Pattern(
        name="truncation-planned-by-hw",
        event="truncation-plan",
        literal=" local high watermark ",
        regex=rf"Truncating partition {TP} (?:to|with TruncationState\(offset=(?P<offset>-?\d+), completed=\w+\) due to) local "
        rf"high watermark "
        r"(?P<high_watermark>(?P<offset>-?\d+))",
        versions=("2.1", "4.4"),
        fixed={"reason": "high-watermark"},
        samples=(
            Sample(
                line="[2026-11-21 02:02:40,302] INFO [ReplicaFetcher replicaId=1, leaderId=3, fetcherId=0] Truncating "
                "partition profile-1 to local high watermark 0 (kafka.server.ReplicaFetcherThread)",
                fields={
                    "node": 1,
                    "broker": 3,
                    "topic": "profile",
                    "partition": 1,
                    "offset": 0,
                    "high_watermark": 0,
                    "reason": "high-watermark",
                },
                origin="real: reassignment-2.8.2-zk",
            ),
            Sample(
                line="[2026-11-21 03:31:28,074] INFO [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncating "
                "partition catalog-1 with TruncationState(offset=0, completed=true) due to local high watermark 0 "
                "(kafka.server.ReplicaFetcherThread)",
                fields={
                    "node": 1,
                    "broker": 2,
                    "topic": "catalog",
                    "partition": 1,
                    "offset": 0,
                    "high_watermark": 0,
                    "reason": "high-watermark",
                },
                origin="real: grow-replicas-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="truncation-planned-by-epoch",
        event="truncation-plan",
        literal=" due to leader epoch and offset ",
        regex=rf"Truncating partition {TP} with TruncationState\(offset=(?P<offset>-?\d+), completed=\w+\) due to leader epoch "
        rf"and offset "
        r"EpochEndOffset\((?:.*, )?leaderEpoch=(?P<leader_epoch>-?\d+), endOffset=-?\d+\)",
        versions=("3.1", "4.4"),
        fixed={"reason": "leader-epoch"},
        samples=(
            Sample(
                line="[2026-11-21 02:15:38,139] INFO [ReplicaFetcher replicaId=2, leaderId=3, fetcherId=0] Truncating "
                "partition bank-1 with TruncationState(offset=190, completed=true) due to leader epoch and offset "
                "EpochEndOffset(errorCode=0, partition=1, leaderEpoch=0, endOffset=190) "
                "(kafka.server.ReplicaFetcherThread)",
                fields={
                    "node": 2,
                    "broker": 3,
                    "topic": "bank",
                    "partition": 1,
                    "offset": 190,
                    "leader_epoch": 0,
                    "reason": "leader-epoch",
                },
                origin="real: power-loss-divergence-3.9.1-kraft",
            ),
        ),
        note="leader_epoch is the largest epoch known to the leader up to the follower's; offset is the smaller end of both logs in that "
        "epoch.",
    ),
    Pattern(
        name="truncation-unneeded",
        event="truncation-noop",
        literal="No truncation needed.",
        regex=r"Based on follower's leader epoch, leader replied with an offset (?P<offset>-?\d+) >= the follower's log end offset "
        rf"(?P<log_end_offset>-?\d+) in {TP}\. No truncation needed\.",
        versions=("0.11.0", "1.1"),
        samples=(
            Sample(
                line="[2026-11-21 02:25:24,837] INFO [ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Based on "
                "follower's leader epoch, leader replied with an offset 300 >= the follower's log end offset 300 in "
                "clicks-0. No truncation needed. (kafka.server.ReplicaFetcherThread)",
                fields={"node": 3, "broker": 1, "offset": 300, "log_end_offset": 300, "topic": "clicks", "partition": 0},
                origin="real: acks1-failover-1.1.1-zk",
            ),
        ),
    ),
    Pattern(
        name="truncation-epoch-unknown-to-leader",
        event="truncation-plan",
        literal=", leader replied with an unknown offset in ",
        regex=rf"Based on {_FOLLOWER}'s leader epoch, leader replied with an unknown offset in {TP}\. "
        r"(?:High watermark (?P<high_watermark>(?P<offset>-?\d+))|The initial fetch offset (?P<offset>-?\d+)) will be used for "
        r"truncation\.",
        versions=("0.11.0", "4.4"),
        fixed={"reason": "high-watermark"},
        samples=(
            Sample(
                line="[2026-11-21 02:25:18,683] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Based on "
                "follower's leader epoch, leader replied with an unknown offset in clicks-0. The initial fetch "
                "offset 0 will be used for truncation. (kafka.server.ReplicaFetcherThread)",
                fields={"node": 1, "broker": 2, "topic": "clicks", "partition": 0, "offset": 0, "reason": "high-watermark"},
                origin="real: acks1-failover-1.1.1-zk",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [ReplicaFetcherThread-0-2]: Based on follower's leader epoch, leader "
                "replied with an unknown offset in orders-0. High watermark 90 will be used for truncation. "
                "(kafka.server.ReplicaFetcherThread)",
                fields={"broker": 2, "topic": "orders", "partition": 0, "high_watermark": 90, "offset": 90, "reason": "high-watermark"},
                origin="source: 0.11.0 ReplicaFetcherThread",
            ),
        ),
        note="As long as OffsetsForLeaderEpoch is used, the initial fetch offset of a follower is its HW.",
    ),
    Pattern(
        name="truncation-by-old-protocol",
        event="truncation-plan",
        literal=" is on protocol version where leader epoch is not considered ",
        regex=rf"Leader or {_FOLLOWER} is on protocol version where leader epoch is not considered in the OffsetsForLeaderEpoch "
        rf"response\. "
        rf"The leader's offset (?P<offset>-?\d+) will be used for truncation in {TP}\.",
        versions=("2.0", "4.4"),
        fixed={"reason": "leader-epoch"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Leader or "
                "replica is on protocol version where leader epoch is not considered in the OffsetsForLeaderEpoch "
                "response. The leader's offset 90 will be used for truncation in orders-0. "
                "(kafka.server.ReplicaFetcherThread)",
                fields={"node": 1, "broker": 2, "offset": 90, "topic": "orders", "partition": 0, "reason": "leader-epoch"},
                origin="source: 2.8 AbstractFetcherThread",
            ),
        ),
    ),
    Pattern(
        name="truncation-by-foreign-epoch",
        event="truncation-plan",
        literal="'s leader epoch, leader replied with epoch ",
        regex=rf"Based on {_FOLLOWER}'s leader epoch, leader replied with epoch (?P<leader_epoch>-?\d+) (?:"
        rf"below any {_FOLLOWER}'s tracked epochs for {TP}\. The leader's offset only (?P<offset>-?\d+) will be used for truncation\.|"
        rf"unknown to the {_FOLLOWER} for {TP}\. Will truncate to (?P<offset>-?\d+) and send another leader epoch request to "
        rf"the leader\.)",
        versions=("2.0", "4.4"),
        fixed={"reason": "leader-epoch"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Based on "
                "replica's leader epoch, leader replied with epoch 3 unknown to the replica for orders-0. Will "
                "truncate to 90 and send another leader epoch request to the leader. "
                "(kafka.server.ReplicaFetcherThread)",
                fields={
                    "node": 1,
                    "broker": 2,
                    "leader_epoch": 3,
                    "topic": "orders",
                    "partition": 0,
                    "offset": 90,
                    "reason": "leader-epoch",
                },
                origin="source: 2.8 AbstractFetcherThread",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Based on "
                "follower's leader epoch, leader replied with epoch 3 below any follower's tracked epochs for "
                "orders-0. The leader's offset only 90 will be used for truncation. "
                "(kafka.server.ReplicaFetcherThread)",
                fields={
                    "node": 1,
                    "broker": 2,
                    "leader_epoch": 3,
                    "topic": "orders",
                    "partition": 0,
                    "offset": 90,
                    "reason": "leader-epoch",
                },
                origin="source: 2.0 AbstractFetcherThread",
            ),
        ),
    ),
    Pattern(
        name="fetch-offset-reset-to-leader",
        event="fetch-offset-reset",
        literal="eset ",
        regex=rf"(?:Replica (?P<node>\d+) for partition {TP} reset its fetch offset|Reset fetch offset for partition {TP})"
        r"(?: from (?P<previous_offset>-?\d+))? to current leader(?: (?P<broker>\d+))?'s (?P<reason>latest|start) offset (?P<offset>-?\d+)",
        versions=("0.8.0", "4.4"),
        samples=(
            Sample(
                line="[2014-01-14 12:00:00,123] WARN [ReplicaFetcherThread-0-2], Replica 3 for partition [orders,0] reset "
                "its fetch offset to current leader 2's latest offset 267 (kafka.server.ReplicaFetcherThread)",
                fields={"broker": 2, "node": 3, "topic": "orders", "partition": 0, "previous_offset": None, "offset": 267},
                origin="source: 0.8.1 ReplicaFetcherThread",
            ),
            Sample(
                line="[2026-11-21 03:01:56,682] WARN [ReplicaFetcherThread-0-2], Replica 3 for partition orders-0 reset "
                "its fetch offset from 298 to current leader 2's latest offset 267 "
                "(kafka.server.ReplicaFetcherThread)",
                fields={
                    "broker": 2,
                    "node": 3,
                    "topic": "orders",
                    "partition": 0,
                    "previous_offset": 298,
                    "reason": "latest",
                    "offset": 267,
                },
                origin="real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Reset fetch "
                "offset for partition orders-0 from 298 to current leader's latest offset 267 "
                "(kafka.server.ReplicaFetcherThread)",
                fields={
                    "node": 1,
                    "broker": 2,
                    "topic": "orders",
                    "partition": 0,
                    "previous_offset": 298,
                    "reason": "latest",
                    "offset": 267,
                },
                origin="source: 2.8 AbstractFetcherThread",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [ReplicaFetcherThread-0-2], Replica 1 for partition [orders,0] reset "
                "its fetch offset from 298 to current leader 2's start offset 500 (kafka.server.ReplicaFetcherThread)",
                fields={
                    "broker": 2,
                    "node": 1,
                    "topic": "orders",
                    "partition": 0,
                    "previous_offset": 298,
                    "reason": "start",
                    "offset": 500,
                },
                origin="source: 0.8.2 ReplicaFetcherThread",
            ),
        ),
        note="previous_offset is the replica's LEO. A reset to the latest offset removes the records above it; a reset to the start offset"
        " removes all records.",
    ),
    Pattern(
        name="fetch-offset-reset-fully",
        event="fetch-offset-reset",
        literal="Truncate fully and reset fetch offset for partition ",
        regex=rf"Truncate fully and reset fetch offset for partition {TP} from (?P<previous_offset>-?\d+) to the current "
        rf"leader's (?P<reason>start) "
        r"offset (?P<offset>-?\d+) because the local replica's end offset is smaller than the current leader's start offsets\.",
        versions=("3.6", "4.4"),
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Truncate fully "
                "and reset fetch offset for partition orders-0 from 298 to the current leader's start offset 500 "
                "because the local replica's end offset is smaller than the current leader's start offsets. "
                "(kafka.server.ReplicaFetcherThread)",
                fields={
                    "node": 1,
                    "broker": 2,
                    "topic": "orders",
                    "partition": 0,
                    "previous_offset": 298,
                    "reason": "start",
                    "offset": 500,
                },
                origin="source: 3.9 AbstractFetcherThread",
            ),
        ),
    ),
    Pattern(
        name="fetch-offset-moved-to-tier",
        event="fetch-offset-reset",
        literal=" out of range or moved to remote tier. Reset fetch offset to ",
        regex=rf"Current offset (?P<previous_offset>-?\d+) for partition {TP} is out of range or moved to remote tier\. "
        r"Reset fetch offset to (?P<offset>-?\d+)",
        versions=("3.5", "4.4"),
        fixed={"reason": "tier"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] DEBUG [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Current offset 0 for "
                "partition orders-0 is out of range or moved to remote tier. Reset fetch offset to 350 (kafka.server.ReplicaFetcherThread)",
                fields={"node": 1, "broker": 2, "topic": "orders", "partition": 0, "previous_offset": 0, "reason": "tier", "offset": 350},
                origin="source: 3.9 AbstractFetcherThread",
            ),
        ),
        note=_TIER,
    ),
    Pattern(
        name="log-begun-behind-tier",
        event="fetch-offset-reset",
        literal="Updated the epoch cache from remote tier till offset: ",
        regex=rf"Updated the epoch cache from remote tier till offset: (?P<offset>\d+) with size: \d+ for "
        rf"(?:{TP}|Topic: (?P<topic>{TOPIC}); Partition: (?P<partition>\d+);.*)",
        versions=("3.5", "4.4"),
        fixed={"reason": "tier"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] INFO Updated the epoch cache from remote tier till offset: 340 with size: 2 for Topic: "
                "orders; Partition: 0; Leader: Some(2); Replicas: 1,2; ISR: 2; LeaderRecoveryState: RECOVERED "
                "(kafka.server.TierStateMachine)",
                fields={"topic": "orders", "partition": 0, "reason": "tier", "offset": 340},
                origin="source: 3.9 TierStateMachine",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] DEBUG [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Updated the epoch cache from "
                "remote tier till offset: 340 with size: 2 for orders-0 (kafka.server.ReplicaFetcherThread)",
                fields={"node": 1, "broker": 2, "topic": "orders", "partition": 0, "reason": "tier", "offset": 340},
                origin="source: 3.5 ReplicaFetcherThread",
            ),
        ),
        note=_TIER,
    ),
    Pattern(
        name="fetch-offset-reset-to-local-end",
        event="fetch-offset-reset",
        literal=" to the current local replica's end offset ",
        regex=rf"Reset fetch offset for partition {TP} from (?P<previous_offset>-?\d+) to the current local replica's end offset "
        r"(?P<offset>(?P<log_end_offset>-?\d+))",
        versions=("3.6", "4.4"),
        fixed={"reason": "local-end"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Reset fetch "
                "offset for partition orders-0 from 298 to the current local replica's end offset 300 "
                "(kafka.server.ReplicaFetcherThread)",
                fields={
                    "node": 1,
                    "broker": 2,
                    "topic": "orders",
                    "partition": 0,
                    "previous_offset": 298,
                    "offset": 300,
                    "log_end_offset": 300,
                    "reason": "local-end",
                },
                origin="source: 3.9 AbstractFetcherThread",
            ),
        ),
        note="Nothing is removed.",
    ),
    Pattern(
        name="truncation-forbidden",
        event="truncation-refused",
        literal=" because log truncation is not allowed for ",
        regex=rf"(?:Halting|Exiting) because log truncation is not allowed for (?:topic (?P<topic>[\w.-]+)|partition {TP}), "
        rf"[Cc]urrent leader"
        r"(?: (?P<broker>\d+))?'s latest offset (?P<offset>-?\d+) is less than replica(?: (?P<node>\d+))?'s latest offset "
        r"(?P<log_end_offset>-?\d+)",
        versions=("0.8.2", "1.1"),
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] FATAL [ReplicaFetcherThread-0-2], Halting because log truncation is not "
                "allowed for topic orders, Current leader 2's latest offset 267 is less than replica 1's latest "
                "offset 298 (kafka.server.ReplicaFetcherThread)",
                fields={"broker": 2, "topic": "orders", "offset": 267, "node": 1, "log_end_offset": 298},
                origin="source: 0.9.0 ReplicaFetcherThread",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Exiting "
                "because log truncation is not allowed for partition orders-0, current leader's latest offset 267 is "
                "less than replica's latest offset 298 (kafka.server.ReplicaFetcherThread)",
                fields={"node": 1, "broker": 2, "topic": "orders", "partition": 0, "offset": 267, "log_end_offset": 298},
                origin="source: 1.1 ReplicaFetcherThread",
            ),
        ),
        note="The broker then ends. Removed in 2.0.",
    ),
    Pattern(
        name="truncation-failed",
        event="fetch-error",
        literal="Failed to truncate ",
        regex=rf"Failed to truncate {TP}(?: at offset (?P<offset>-?\d+))?",
        versions=("1.0", "4.4"),
        fixed={"reason": "truncation-failed"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Failed to "
                "truncate orders-0 at offset 267 (kafka.server.ReplicaFetcherThread)",
                fields={"node": 1, "broker": 2, "topic": "orders", "partition": 0, "offset": 267, "reason": "truncation-failed"},
                origin="source: 2.8 AbstractFetcherThread",
            ),
        ),
    ),
    Pattern(
        name="truncation-error",
        event="fetch-error",
        literal="error occurred during truncation for ",
        regex=rf"Unexpected error occurred during truncation for {TP}(?: at offset (?P<offset>-?\d+))?",
        versions=("1.0", "4.4"),
        fixed={"reason": "truncation-failed"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Unexpected "
                "error occurred during truncation for orders-0 at offset 267 (kafka.server.ReplicaFetcherThread)",
                fields={"node": 1, "broker": 2, "topic": "orders", "partition": 0, "offset": 267, "reason": "truncation-failed"},
                origin="source: 2.8 AbstractFetcherThread",
            ),
        ),
    ),
    Pattern(
        name="hw-went-back",
        event="hw-regression",
        literal="Non-monotonic update of high watermark from ",
        regex=r"Non-monotonic update of high watermark from \(offset=(?P<previous_offset>-?\d+),? ?segment=\[-?\d+:-?\d+\]\) to "
        r"\(offset=(?P<high_watermark>-?\d+),? ?segment=\[-?\d+:-?\d+\]\)",
        versions=("2.7", "4.4"),
        samples=(
            Sample(
                line="[2026-11-21 02:07:43,241] WARN [Log partition=sessions-0, dir=/var/lib/kafka/broker-2/data] "
                "Non-monotonic update of high watermark from (offset=550 segment=[-1:-1]) to (offset=450 "
                "segment=[0:39245]) (kafka.log.Log)",
                fields={
                    "topic": "sessions",
                    "partition": 0,
                    "directory": "/var/lib/kafka/broker-2/data",
                    "previous_offset": 550,
                    "high_watermark": 450,
                },
                origin="real: zombie-leader-2.8.2-zk",
            ),
            Sample(
                line="[2026-11-21 02:15:38,147] WARN [UnifiedLog partition=bank-1, dir=/var/lib/kafka/broker-2/data] "
                "Non-monotonic update of high watermark from (offset=200, segment=[-1:-1]) to (offset=190, "
                "segment=[0:16789]) (kafka.log.UnifiedLog)",
                fields={
                    "topic": "bank",
                    "partition": 1,
                    "directory": "/var/lib/kafka/broker-2/data",
                    "previous_offset": 200,
                    "high_watermark": 190,
                },
                origin="real: power-loss-divergence-3.9.1-kraft",
            ),
            Sample(
                line="[2026-11-21 02:34:01,798] WARN [UnifiedLog partition=fast-7, dir=/var/lib/kafka/broker-3/data] "
                "Non-monotonic update of high watermark from (offset=80segment=[0:8066]) to "
                "(offset=40segment=[0:3963]) (kafka.log.UnifiedLog)",
                fields={
                    "topic": "fast",
                    "partition": 7,
                    "directory": "/var/lib/kafka/broker-3/data",
                    "previous_offset": 80,
                    "high_watermark": 40,
                },
                origin="real: mixed-fleet-3.5.2-zk",
            ),
        ),
    ),
    Pattern(
        name="epoch-assigned-0.11",
        event="epoch-assigned",
        literal="Updated PartitionLeaderEpoch. New: {epoch:",
        regex=r"Updated PartitionLeaderEpoch\. New: \{epoch:(?P<leader_epoch>-?\d+), offset:(?P<offset>-?\d+)\}, "
        r"Current: \{epoch:(?P<previous_leader_epoch>-?\d+), offset:? ?(?P<previous_offset>-?\d+)\} for Partition: "
        rf"{TP}\. Cache now contains (?P<count>\d+) entries\.",
        versions=("0.11.0", "1.1"),
        samples=(
            Sample(
                line="[2026-11-21 02:25:18,712] INFO Updated PartitionLeaderEpoch. New: {epoch:0, offset:0}, Current: "
                "{epoch:-1, offset:-1} for Partition: clicks-0. Cache now contains 0 entries. "
                "(kafka.server.epoch.LeaderEpochFileCache)",
                fields={
                    "leader_epoch": 0,
                    "offset": 0,
                    "previous_leader_epoch": -1,
                    "previous_offset": -1,
                    "topic": "clicks",
                    "partition": 0,
                    "count": 0,
                },
                origin="real: acks1-failover-1.1.1-zk",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO Updated PartitionLeaderEpoch. New: {epoch:3, offset:300}, Current: "
                "{epoch:2, offset250} for Partition: orders-0. Cache now contains 3 entries. "
                "(kafka.server.epoch.LeaderEpochFileCache)",
                fields={
                    "leader_epoch": 3,
                    "offset": 300,
                    "previous_leader_epoch": 2,
                    "previous_offset": 250,
                    "topic": "orders",
                    "partition": 0,
                    "count": 3,
                },
                origin="source: 0.11.0 LeaderEpochFileCache",
            ),
        ),
        note="count is that before the entry is added; 0.11 lacks the second colon.",
    ),
    Pattern(
        name="epoch-assigned",
        event="epoch-assigned",
        literal="Appended new epoch entry ",
        regex=rf"Appended new epoch entry {_EPOCH_ENTRY}\. Cache now contains (?P<count>\d+) entries\.",
        versions=("2.0", "4.4"),
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] DEBUG [LeaderEpochCache orders-0] Appended new epoch entry "
                "EpochEntry(epoch=3, startOffset=300). Cache now contains 3 entries. "
                "(kafka.server.epoch.LeaderEpochFileCache)",
                fields={"topic": "orders", "partition": 0, "leader_epoch": 3, "offset": 300, "count": 3},
                origin="source: 2.8 LeaderEpochFileCache",
            ),
        ),
    ),
    Pattern(
        name="epoch-entries-conflict",
        event="epoch-conflict",
        literal=" caused truncation of conflicting entries ",
        regex=rf"New epoch entry {_EPOCH_ENTRY} caused truncation of conflicting entries .*\. Cache now contains (?P<count>\d+) "
        rf"entries\.",
        versions=("2.0", "4.4"),
        fixed={"reason": "conflict"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [LeaderEpochCache orders-0] New epoch entry EpochEntry(epoch=3, "
                "startOffset=300) caused truncation of conflicting entries ListBuffer(EpochEntry(epoch=2, "
                "startOffset=310)). Cache now contains 2 entries. (kafka.server.epoch.LeaderEpochFileCache)",
                fields={"topic": "orders", "partition": 0, "leader_epoch": 3, "offset": 300, "count": 2, "reason": "conflict"},
                origin="source: 2.8 LeaderEpochFileCache",
            ),
        ),
    ),
    Pattern(
        name="epochs-out-of-order",
        event="epoch-conflict",
        literal="This implies messages have arrived out of order.",
        regex=r"Received (?:a PartitionLeaderEpoch assignment for an (?:epoch < latestEpoch|offset < latest offset for the "
        r"most recent, stored "
        r"PartitionLeaderEpoch)\. This implies messages have arrived out of order\. "
        r"New: \{epoch:(?P<leader_epoch>-?\d+), offset:(?P<offset>-?\d+)\}, Current: \{epoch:(?P<previous_leader_epoch>-?\d+), "
        rf"offset:? ?(?P<previous_offset>-?\d+)\}} for Partition: {TP}|leader epoch assignment {_EPOCH_ENTRY} which has (?:an "
        rf"epoch less than the epoch|"
        r"a starting offset which is less than the starting offset) of the latest entry .*\. This implies messages have "
        r"arrived out of order\.)",
        versions=("0.11.0", "2.6"),
        fixed={"reason": "out-of-order"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN Received a PartitionLeaderEpoch assignment for an epoch < "
                "latestEpoch. This implies messages have arrived out of order. New: {epoch:2, offset:300}, Current: "
                "{epoch:3, offset250} for Partition: orders-0 (kafka.server.epoch.LeaderEpochFileCache)",
                fields={
                    "leader_epoch": 2,
                    "offset": 300,
                    "previous_leader_epoch": 3,
                    "previous_offset": 250,
                    "topic": "orders",
                    "partition": 0,
                    "reason": "out-of-order",
                },
                origin="source: 0.11.0 LeaderEpochFileCache",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [LeaderEpochCache orders-0] Received leader epoch assignment "
                "EpochEntry(epoch=2, startOffset=300) which has an epoch less than the epoch of the latest entry "
                "EpochEntry(epoch=3, startOffset=250). This implies messages have arrived out of order. "
                "(kafka.server.epoch.LeaderEpochFileCache)",
                fields={"topic": "orders", "partition": 0, "leader_epoch": 2, "offset": 300, "reason": "out-of-order"},
                origin="source: 2.0 LeaderEpochFileCache",
            ),
        ),
    ),
    Pattern(
        name="epochs-dropped-for-format",
        event="epoch-conflict",
        literal=" leader epoch cache ",
        regex=r"(?:Clearing leader epoch cache after unexpected append with message format v\d+|"
        r"Deleting non-empty leader epoch cache due to incompatible message format .*)",
        versions=("2.1", "4.4"),
        fixed={"reason": "message-format"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [Log partition=orders-0, dir=/data] Clearing leader epoch cache "
                "after unexpected append with message format v1 (kafka.log.Log)",
                fields={"topic": "orders", "partition": 0, "directory": "/data", "reason": "message-format"},
                origin="source: 2.8 Log",
            ),
        ),
        note="From then on, this replica truncates by HW, not by epoch.",
    ),
)
