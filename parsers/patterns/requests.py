"""Produce requests that a leader refused or that failed.

Here: too small an ISR (min.insync.replicas), sequence errors that show lost records, other failed appends. Not here: fetch
requests (fetching), request and authorizer logs.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from parsers.patterns.exceptions import EXCEPTION, classified
from parsers.patterns.pattern import IDS, TP, Pattern, Sample, column
from parsers.schemas import Row

_TP = rf"(?:[\w-]{{22}}:)?{TP}"
"""4.1 and later print a TopicIdPartition."""
_TOO_FEW = (
    r"(?:Number of insync replicas for partition \S+ is \[\d+\], below required minimum \[(?P<count>\d+)\]"
    rf"|The size of the current ISR (?:(?P<isr>{IDS})|: \d+) is insufficient to satisfy the min\.isr requirement of "
    rf"(?P<count>\d+) for partition [^\s,]+"
    rf"(?:, live replica\(s\) broker\.id are : (?P<isr>{IDS}))?)"
)
_FAILED = regex.compile(r"(?<![\w.-])(?P<topic>[\w.-]+)-(?P<partition>\d+) -> (?P<exception>[\w.$]+)")


def _failed_partitions(row: Row) -> Iterator[Row]:
    for failed in _FAILED.finditer(row["_groups"]["_failed"] or ""):
        reason = failed["exception"].rsplit(".", 1)[-1]
        yield {**row, "topic": failed["topic"], "partition": column("partition", failed["partition"]), "reason": reason}


PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="append-below-min-isr",
        event="append-refused",
        literal="Error processing append operation on partition ",
        regex=rf"Error processing append operation on partition {_TP}\n[\w.$]*NotEnoughReplicasException: {_TOO_FEW}.*",
        versions=("0.9.0", "4.4"),
        multiline=True,
        samples=(
            Sample(
                line="[2026-11-21 02:06:25,720] ERROR [ReplicaManager broker=2] Error processing append operation on "
                "partition billing-0 (kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.NotEnoughReplicasEx"
                "ception: The size of the current ISR Set(2) is insufficient to satisfy the min.isr requirement of 2 "
                "for partition billing-0",
                fields={"node": 2, "topic": "billing", "partition": 0, "count": 2, "isr": [2]},
                origin="real: min-isr-2.8.2-zk",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [ReplicaManager broker=1] Error processing append operation on "
                "partition orders-0 (kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.NotEnoughReplicasExc"
                "eption: Number of insync replicas for partition orders-0 is [1], below required minimum [2]",
                fields={"node": 1, "topic": "orders", "partition": 0, "count": 2},
                origin="source: 1.1 ReplicaManager",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [ReplicaManager broker=1] Error processing append operation on "
                "partition 8PPfwVtMQ_y0AfH5M2MHcA:orders-0 "
                "(kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.NotEnoughReplicasException: The size "
                "of the current ISR : 1 is insufficient to satisfy the min.isr requirement of 2 for partition "
                "orders-0, live replica(s) broker.id are : Set(1)",
                fields={"node": 1, "topic": "orders", "partition": 0, "count": 2, "isr": [1]},
                origin="source: 4.1 ReplicaManager",
            ),
        ),
        note="acks=all only; nothing was appended.",
    ),
    Pattern(
        name="append-failed",
        event="append-error",
        literal="Error processing append operation on partition ",
        regex=rf"Error processing append operation on partition {_TP}(?!\n[\w.$]*NotEnoughReplicasException: "
        rf"){EXCEPTION}",
        versions=("0.9.0", "4.4"),
        multiline=True,
        inner=True,
        explode=classified,
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [ReplicaManager broker=1] Error processing append operation on "
                "partition orders-0 (kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.OutOfOrderSequenceEx"
                "ception: Out of order sequence number for producer 7 at offset 300 in partition orders-0: 12 "
                "(incoming seq. number), 3 (current end sequence number)",
                fields={"node": 1, "topic": "orders", "partition": 0, "reason": "OutOfOrderSequenceException"},
                origin="source: 2.8 ReplicaManager",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [ReplicaManager broker=1] Error processing append operation on "
                "partition orders-0 (kafka.server.ReplicaManager)",
                fields={"node": 1, "topic": "orders", "partition": 0},
                origin="source: 2.8 ReplicaManager",
            ),
        ),
        note="A producer sees a gap in the sequence if the leader lost its last records.",
    ),
    Pattern(
        name="produce-below-min-isr",
        event="append-refused",
        literal=" failed due to Number of insync replicas for partition ",
        regex=rf"Produce request with correlation id \d+ from client .* on partition {TP} failed due to {_TOO_FEW}.*",
        versions=("0.8.2", "0.8.2"),
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [KafkaApi-1] Produce request with correlation id 3 from client c on "
                "partition [orders,0] failed due to Number of insync replicas for partition [orders,0] is [1], below "
                "required minimum [2] (kafka.server.KafkaApis)",
                fields={"node": 1, "topic": "orders", "partition": 0, "count": 2},
                origin="source: 0.8.2 KafkaApis",
            ),
        ),
    ),
    Pattern(
        name="produce-unacknowledged-failed",
        event="append-error",
        literal="Closing connection due to error during produce request with correlation id ",
        regex=r"Closing connection due to error during produce request with correlation id \d+ from client id .*? with ack=0\n"
        r"Topic and partition to exceptions: (?P<_failed>.*)",
        versions=("0.11.0", "4.4"),
        multiline=True,
        explode=_failed_partitions,
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [KafkaApi-1] Closing connection due to error during produce request with "
                "correlation id 3 "
                "from client id c with ack=0\nTopic and partition to exceptions: orders-0 -> "
                "org.apache.kafka.common.errors.NotLeaderOrFollowerException (kafka.server.KafkaApis)",
                fields={"node": 1, "topic": "orders", "partition": 0, "reason": "NotLeaderOrFollowerException"},
                origin="source: 2.8 KafkaApis",
            ),
        ),
        note="With acks=0 the closed connection is the only sign for the producer.",
    ),
)
