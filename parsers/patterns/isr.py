"""Changes of the ISR, as the leader of the partition prints them (kafka.cluster.Partition).

Here: the intention (Shrinking, Expanding), the change that took effect (ISR updated) and refusals. Not here: ISR changes that only the
controller decides (controller, kraft).
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from parsers.patterns.pattern import IDS, TP, Pattern, Sample, column
from parsers.schemas import Row

_REPLICA = regex.compile(
    r"\(brokerId: (?P<broker>\d+), endOffset: (?P<end>-?\d+|unknown)(?:, lastCaughtUpTimeMs: (?P<caught_up>-?\d+|unknown))?\)"
)

_STALE = (
    r"(?:since|because|due to) (?:it doesn't know about|the controller doesn't know about|(?P<_epoch>we sent an old leader epoch|the "
    r"leader epoch is old)|"
    r"invalid (?:zk )?version|the version is invalid|the partition epoch is invalid|the request is invalid|"
    r"there is a pending \w+(?: \w+)? still inflight).*"
)


def _removed_replicas(row: Row) -> Iterator[Row]:
    """The row with the brokers that are removed, and their offsets as the leader knew them (2.2 and later)."""
    removed = [broker for broker in row["previous_isr"] if broker not in row["isr"]]
    row["brokers"] = removed
    if len(removed) == 1:
        row["broker"] = removed[0]
    replicas = _REPLICA.findall(row["_groups"]["_replicas"] or "")
    if replicas:
        row["replica_offsets"] = [
            {"broker": column("broker", broker), "log_end_offset": _known(end), "last_caught_up_ms": _known(caught_up)}
            for broker, end, caught_up in replicas
        ]
    yield row


def _known(number: str) -> int | None:
    return int(number) if number not in ("", "unknown", "-1") else None


def _added_replicas(row: Row) -> Iterator[Row]:
    added = [broker for broker in row["isr"] if broker not in row["previous_isr"]]
    row["brokers"] = added
    if len(added) == 1:
        row["broker"] = added[0]
    yield row


def _old_epoch(row: Row) -> Iterator[Row]:
    old = row["_groups"].get("_epoch") or row["reason"] == "FENCED_LEADER_EPOCH"
    yield {**row, "reason": "old-leader-epoch"} if old else row


PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="isr-shrinking",
        event="isr-shrink",
        literal="Shrinking ISR ",
        regex=rf"Shrinking ISR (?:for partition {TP} )?from (?P<previous_isr>{IDS}) to (?P<isr>{IDS})"
        r"(?:\. Leader: \(highWatermark: (?P<high_watermark>-?\d+), endOffset: (?P<log_end_offset>-?\d+)\)\. "
        r"Out of sync replicas: (?P<_replicas>.*)\.)?",
        versions=("0.8.2", "4.4"),
        explode=_removed_replicas,
        samples=(
            Sample(
                line="[2026-11-21 03:04:00,339] INFO Partition [payments,2] on broker 2: Shrinking ISR for partition "
                "[payments,2] from 2,3,1 to 2,1 (kafka.cluster.Partition)",
                fields={
                    "topic": "payments",
                    "partition": 2,
                    "node": 2,
                    "previous_isr": [2, 3, 1],
                    "isr": [2, 1],
                    "brokers": [3],
                    "broker": 3,
                },
                origin="real: clean-failover-0.10.2.2-zk",
            ),
            Sample(
                line="[2026-11-21 02:00:13,320] INFO [Partition events-1 broker=3] Shrinking ISR from 3,2,1 to 3,2. "
                "Leader: (highWatermark: 90, endOffset: 100). Out of sync replicas: (brokerId: 1, endOffset: 90, "
                "lastCaughtUpTimeMs: 1795226410220). (kafka.cluster.Partition)",
                fields={
                    "topic": "events",
                    "partition": 1,
                    "node": 3,
                    "previous_isr": [3, 2, 1],
                    "isr": [3, 2],
                    "high_watermark": 90,
                    "log_end_offset": 100,
                    "brokers": [1],
                    "broker": 1,
                    "replica_offsets": [{"broker": 1, "log_end_offset": 90, "last_caught_up_ms": 1795226410220}],
                },
                origin="real: isr-flapping-3.9.1-kraft",
            ),
            Sample(
                line="[2026-11-21 01:59:14,701] INFO [Partition events-0 broker=2] Shrinking ISR from 2,3,1 to 2,3. "
                "Leader: (highWatermark: 90, endOffset: 100). Out of sync replicas: (brokerId: 1, endOffset: 90). "
                "(kafka.cluster.Partition)",
                fields={
                    "topic": "events",
                    "partition": 0,
                    "node": 2,
                    "previous_isr": [2, 3, 1],
                    "isr": [2, 3],
                    "high_watermark": 90,
                    "log_end_offset": 100,
                    "brokers": [1],
                    "broker": 1,
                    "replica_offsets": [{"broker": 1, "log_end_offset": 90, "last_caught_up_ms": None}],
                },
                origin="real: isr-flapping-2.8.2-zk",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [Partition orders-0 broker=1] Shrinking ISR from 1,2,3 to 1,2 "
                "(kafka.cluster.Partition)",
                fields={
                    "topic": "orders",
                    "partition": 0,
                    "node": 1,
                    "previous_isr": [1, 2, 3],
                    "isr": [1, 2],
                    "brokers": [3],
                    "broker": 3,
                },
                origin="source: 1.1 Partition",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [Partition orders-0 broker=1] Shrinking ISR from 1,2,3 to 1. Leader: "
                "(highWatermark: 90, endOffset: 100). Out of sync replicas: (brokerId: 2, endOffset: 95) (brokerId: "
                "3, endOffset: unknown). (kafka.cluster.Partition)",
                fields={
                    "topic": "orders",
                    "partition": 0,
                    "node": 1,
                    "previous_isr": [1, 2, 3],
                    "isr": [1],
                    "high_watermark": 90,
                    "log_end_offset": 100,
                    "brokers": [2, 3],
                    "replica_offsets": [
                        {"broker": 2, "log_end_offset": 95, "last_caught_up_ms": None},
                        {"broker": 3, "log_end_offset": None, "last_caught_up_ms": None},
                    ],
                },
                origin="source: 3.5 Partition",
            ),
        ),
        note="Printed before the controller or ZooKeeper accepts the change; `ISR updated` follows if it is accepted.",
    ),
    Pattern(
        name="isr-expanding",
        event="isr-expand",
        literal="Expanding ISR ",
        regex=rf"Expanding ISR (?:for partition {TP} )?from (?P<previous_isr>{IDS}) to (?P<isr>{IDS})",
        versions=("0.8.2", "2.7"),
        explode=_added_replicas,
        samples=(
            Sample(
                line="[2026-11-21 03:01:48,887] INFO Partition [orders,0] on broker 2: Expanding ISR for partition "
                "orders-0 from 2 to 2,1 (kafka.cluster.Partition)",
                fields={"topic": "orders", "partition": 0, "node": 2, "previous_isr": [2], "isr": [2, 1], "brokers": [1], "broker": 1},
                origin="real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                line="[2026-11-21 02:25:28,208] INFO [Partition clicks-0 broker=1] Expanding ISR from 1,3 to 1,3,2 "
                "(kafka.cluster.Partition)",
                fields={
                    "topic": "clicks",
                    "partition": 0,
                    "node": 1,
                    "previous_isr": [1, 3],
                    "isr": [1, 3, 2],
                    "brokers": [2],
                    "broker": 2,
                },
                origin="real: acks1-failover-1.1.1-zk",
            ),
        ),
        note="2.8 and later print only `ISR updated`.",
    ),
    Pattern(
        name="isr-updated",
        event="isr-update",
        literal="ISR updated ",
        regex=rf"ISR updated (?:from AlterIsr )?to (?P<isr>{IDS}) *(?:\((?P<reason>under-min-isr)\) )?and (?:zkV|v)ersion updated to "
        r"\[?(?P<partition_epoch>-?\d+)\]?",
        versions=("0.8.2", "4.4"),
        samples=(
            Sample(
                line="[2026-11-21 03:31:35,416] INFO [Partition catalog-0 broker=1] ISR updated to 1,2,3  and version "
                "updated to 2 (kafka.cluster.Partition)",
                fields={"topic": "catalog", "partition": 0, "node": 1, "isr": [1, 2, 3], "partition_epoch": 2},
                origin="real: grow-replicas-3.9.1-kraft",
            ),
            Sample(
                line="[2026-11-21 01:59:26,719] INFO [Partition events-0 broker=2] ISR updated to 2,3 and version updated "
                "to [3] (kafka.cluster.Partition)",
                fields={"topic": "events", "partition": 0, "node": 2, "isr": [2, 3], "partition_epoch": 3},
                origin="real: isr-flapping-2.8.2-zk",
            ),
            Sample(
                line="[2026-11-21 02:21:53,427] INFO [Partition events-1 broker=2] ISR updated to [2,1,3] and zkVersion "
                "updated to [2] (kafka.cluster.Partition)",
                fields={"topic": "events", "partition": 1, "node": 2, "isr": [2, 1, 3], "partition_epoch": 2},
                origin="real: isr-flapping-2.4.1-zk",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [Partition orders-0 broker=1] ISR updated to 1 (under-min-isr) and "
                "version updated to 6 (kafka.cluster.Partition)",
                fields={"topic": "orders", "partition": 0, "node": 1, "isr": [1], "reason": "under-min-isr", "partition_epoch": 6},
                origin="source: 3.5 Partition",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [Partition orders-0 broker=1] ISR updated from AlterIsr to 1,2 and "
                "version updated to [6] (kafka.cluster.Partition)",
                fields={"topic": "orders", "partition": 0, "node": 1, "isr": [1, 2], "partition_epoch": 6},
                origin="source: 2.7 Partition",
            ),
        ),
        note="TRACE before 2.4. From 3.5 on there are two blanks where (under-min-isr) is missing.",
    ),
    Pattern(
        name="isr-version-differs",
        event="isr-rejected",
        literal=" not equal to that in zookeeper, skip updating ISR",
        regex=r"Cached zkVersion \[?(?P<partition_epoch>-?\d+)\]? not equal to that in zookeeper, skip updating ISR",
        versions=("0.8.2", "2.7"),
        fixed={"reason": "version"},
        samples=(
            Sample(
                line="[2026-11-21 03:01:34,628] INFO Partition [orders,0] on broker 3: Cached zkVersion [0] not equal to "
                "that in zookeeper, skip updating ISR (kafka.cluster.Partition)",
                fields={"topic": "orders", "partition": 0, "node": 3, "partition_epoch": 0, "reason": "version"},
                origin="real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [Partition orders-0 broker=1] Cached zkVersion 5 not equal to that "
                "in zookeeper, skip updating ISR (kafka.cluster.Partition)",
                fields={"topic": "orders", "partition": 0, "node": 1, "partition_epoch": 5, "reason": "version"},
                origin="source: 2.4 Partition",
            ),
        ),
        note="Repeated at every check until the broker learns that it is not the leader.",
    ),
    Pattern(
        name="isr-change-rejected",
        event="isr-rejected",
        literal="Failed to alter partition to ",
        regex=r"Failed to alter partition to .* since the controller rejected the request with (?P<reason>\w+)\. "
        r"Partition state has been reset to the latest committed state .*\.",
        versions=("3.3", "4.4"),
        explode=_old_epoch,
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [Partition orders-0 broker=1] Failed to alter partition to "
                "PendingShrinkIsr(outOfSyncReplicaIds=Set(2), sentLeaderAndIsr=LeaderAndIsr(leader=1, leaderEpoch=4, "
                "isrWithBrokerEpoch=List(BrokerState(brokerId=1, brokerEpoch=-1)), leaderRecoveryState=RECOVERED, "
                "partitionEpoch=6), leaderRecoveryState=RECOVERED, "
                "lastCommittedState=CommittedPartitionState(isr=Set(1, 2), leaderRecoveryState=RECOVERED)) since the "
                "controller rejected the request with FENCED_LEADER_EPOCH. Partition state has been reset to the "
                "latest committed state CommittedPartitionState(isr=Set(1, 2), leaderRecoveryState=RECOVERED). "
                "(kafka.cluster.Partition)",
                fields={"topic": "orders", "partition": 0, "node": 1, "reason": "old-leader-epoch"},
                origin="source: 3.3 Partition",
            ),
        ),
    ),
    Pattern(
        name="isr-change-unexpected-error",
        event="isr-rejected",
        literal="ailed to update ISR to ",
        regex=r"(?:F|Controller f)ailed to update ISR to .* due to unexpected (?P<reason>\w+)\. Retrying\.",
        versions=("2.7", "4.4"),
        loggers=("kafka.cluster.Partition",),
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [Partition orders-0 broker=1] Failed to update ISR to "
                "PendingExpandIsr(isr=Set(1, 2), newInSyncReplicaId=3) due to unexpected UNKNOWN_SERVER_ERROR. "
                "Retrying. (kafka.cluster.Partition)",
                fields={"topic": "orders", "partition": 0, "node": 1, "reason": "UNKNOWN_SERVER_ERROR"},
                origin="source: 2.8 Partition",
            ),
        ),
    ),
    Pattern(
        name="isr-change-stale",
        event="isr-rejected",
        literal="Failed to alter partition to ",
        regex=rf"Failed to alter partition to .* {_STALE}",
        versions=("3.2", "4.4"),
        fixed={"reason": "stale"},
        explode=_old_epoch,
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] DEBUG [Partition orders-0 broker=1] Failed to alter partition to "
                "PendingShrinkIsr(outOfSyncReplicaIds=Set(2)) since the leader epoch is old. Partition state may be "
                "out of sync, awaiting new the latest metadata. (kafka.cluster.Partition)",
                fields={"topic": "orders", "partition": 0, "node": 1, "reason": "old-leader-epoch"},
                origin="source: 3.3 Partition",
            ),
        ),
        note="Printed at DEBUG, which an operator has to turn on.",
    ),
    Pattern(
        name="isr-change-stale-2.7",
        event="isr-rejected",
        literal="ailed to update ISR to ",
        regex=rf"(?:F|Controller f)ailed to update ISR to .* {_STALE}",
        versions=("2.7", "3.1"),
        loggers=("kafka.cluster.Partition",),
        fixed={"reason": "stale"},
        explode=_old_epoch,
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] DEBUG [Partition orders-0 broker=1] Failed to update ISR to "
                "PendingShrinkIsr(isr=Set(1, 2), outOfSyncReplicaIds=Set(2)) due to invalid version. Giving up. "
                "(kafka.cluster.Partition)",
                fields={"topic": "orders", "partition": 0, "node": 1, "reason": "stale"},
                origin="source: 2.8 Partition",
            ),
        ),
    ),
    Pattern(
        name="isr-broker-epoch-stale",
        event="isr-rejected",
        literal="Broker had a stale broker epoch (",
        regex=r"Broker had a stale broker epoch(?: \((?P<broker_epoch>-?\d+)\))?, retrying\.",
        versions=("2.7", "4.4"),
        fixed={"reason": "stale-broker-epoch"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [DefaultAlterPartitionManager broker=1] Broker had a stale broker "
                "epoch (53), retrying. (kafka.server.DefaultAlterPartitionManager)",
                fields={"node": 1, "broker_epoch": 53, "reason": "stale-broker-epoch"},
                origin="source: 3.3 DefaultAlterPartitionManager",
            ),
        ),
    ),
)
