"""Fetching by followers: fetchers are added and removed, fetches fail, partitions stop being fetched.

Here: kafka.server.{ReplicaFetcherManager,ReplicaFetcherThread}, and what a leader prints about fetches that it could not serve. Not
here: truncation of a follower's log (truncation).
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.expressions import quickest
from parsers.patterns.exceptions import EXCEPTION, classified, with_exception
from parsers.patterns.pattern import TP, Pattern, Sample, column
from parsers.schemas import Row

_TP = r"(?:\[(?P<topic>[\w.-]+), ?(?P<partition>\d+)\]|(?<![\w.-])(?P<topic>[\w.-]+)-(?P<partition>\d+))"
_ADDED = quickest(
    rf"\[{_TP}, (?P<_own>initOffset) (?P<offset>-?\d+) to broker (?:\w+[(\[])?(?:id[=:])?(?P<broker>\d+)"
    rf"|{_TP} -> (?:\(offset=(?P<offset>-?\d+), leaderEpoch=(?P<leader_epoch>-?\d+)\)"
    r"|InitialFetchState\((?:(?:Some|Optional)[(\[](?P<topic_id>[\w-]{22})[)\]],|None,|"
    r"Optional\.empty,)?BrokerEndPoint[(\[][^)\]]{0,400}[)\]],"
    r"(?P<leader_epoch>-?\d+),(?P<offset>-?\d+)\)"
    r"|InitialFetchState\[.{0,400}?currentLeaderEpoch=(?P<leader_epoch>-?\d+), initOffset=(?P<offset>-?\d+)\])"
)
"""One partition of an `Added fetcher` line: 0.8.2..2.0, 2.1..2.6, 2.7 and later, a Java record. A name begins at the
beginning of a word, and the text in brackets has a limit, so that the search takes time in proportion to the text."""
_REMOVED = quickest(rf"(?<![\w.-]){_TP}(?![\w.-])")
_MANAGER = ("kafka.server.ReplicaFetcherManager", "kafka.server.AsyncReplicaFetcherManager")
_EXCEPTION = r"(?:\n(?P<_exception>[\w.$]+).*)?"


def _added(row: Row) -> Iterator[Row]:
    for match in _ADDED.expression.finditer(row["_groups"]["_entries"]):
        entry = _ADDED.groupdict(match)
        at_end = entry.pop("_own")
        named = {name: column(name, text) for name, text in entry.items() if text is not None}
        yield {**row, **named, "reason": "own-end" if at_end else None}


def _removed(row: Row) -> Iterator[Row]:
    for match in _REMOVED.expression.finditer(row["_groups"]["_entries"]):
        entry = _REMOVED.groupdict(match)
        yield {**row, "topic": entry["topic"], "partition": column("partition", entry["partition"])}


def exception_named(row: Row) -> Iterator[Row]:
    """The row with the exception's class, without its package, as the reason."""
    exception = row["_groups"]["_exception"]
    if exception:
        row["reason"] = exception.rsplit(".", 1)[-1]
    yield row


def _broken_off(row: Row) -> Iterator[Row]:
    """The error, as `fetch-broken-off` if the connection was lost during a fetch: this shows when the leader stopped, a failed attempt to
    connect does not."""
    lost = row["_groups"]["_lost"] is not None
    yield from ({**one, "event": "fetch-broken-off"} if lost else one for one in exception_named(row))


PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="fetchers-added",
        event="fetcher-added",
        literal="Added fetcher ",
        regex=r"Added fetcher (?:to broker (?:BrokerEndPoint[(\[]id=)?(?P<broker>\d+)(?:, [^)\]]*[)\]])? )?for partitions "
        r"(?P<_entries>.*)",
        versions=("0.8.2", "4.4"),
        loggers=_MANAGER,
        explode=_added,
        samples=(
            Sample(
                line="[2026-11-21 02:25:17,673] INFO [ReplicaFetcherManager on broker 1] Added fetcher for partitions "
                "List([clicks-0, initOffset 0 to broker BrokerEndPoint(2,127.0.0.1,40141)] ) "
                "(kafka.server.ReplicaFetcherManager)",
                fields={"node": 1, "topic": "clicks", "partition": 0, "offset": 0, "broker": 2, "reason": "own-end"},
                origin="real: acks1-failover-1.1.1-zk",
            ),
            Sample(
                line="[2026-11-21 03:31:28,078] INFO [ReplicaFetcherManager on broker 2] Added fetcher to broker 1 for "
                "partitions HashMap(catalog-0 -> InitialFetchState(Some(8PPfwVtMQ_y0AfH5M2MHcA),BrokerEndPoint(id=1, "
                "host=127.0.0.1:51103),0,0)) (kafka.server.ReplicaFetcherManager)",
                fields={
                    "node": 2,
                    "broker": 1,
                    "topic": "catalog",
                    "partition": 0,
                    "offset": 0,
                    "leader_epoch": 0,
                    "topic_id": "8PPfwVtMQ_y0AfH5M2MHcA",
                    "reason": None,
                },
                origin="real: grow-replicas-3.9.1-kraft",
            ),
            Sample(
                line="[2026-11-21 02:02:40,302] INFO [ReplicaFetcherManager on broker 1] Added fetcher to broker 3 for "
                "partitions Map(profile-1 -> InitialFetchState(BrokerEndPoint(id=3, host=127.0.0.1:60917),1,0)) "
                "(kafka.server.ReplicaFetcherManager)",
                fields={"node": 1, "broker": 3, "topic": "profile", "partition": 1, "offset": 0, "leader_epoch": 1},
                origin="real: reassignment-2.8.2-zk",
            ),
            Sample(
                line="[2026-11-21 02:21:43,280] INFO [ReplicaFetcherManager on broker 1] Added fetcher to broker "
                "BrokerEndPoint(id=2, host=127.0.0.1:48081) for partitions Map(events-1 -> (offset=0, "
                "leaderEpoch=0)) (kafka.server.ReplicaFetcherManager)",
                fields={"node": 1, "broker": 2, "topic": "events", "partition": 1, "offset": 0, "leader_epoch": 0},
                origin="real: isr-flapping-2.4.1-zk",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [ReplicaFetcherManager on broker 1] Added fetcher for partitions "
                "List([[orders,0], initOffset 300 to broker id:2,host:broker2.example.org,port:9092] ) "
                "(kafka.server.ReplicaFetcherManager)",
                fields={"node": 1, "topic": "orders", "partition": 0, "offset": 300, "broker": 2},
                origin="source: 0.8.2 AbstractFetcherManager",
            ),
        ),
        note="offset is the HW up to 0.10.2 and when OffsetsForLeaderEpoch is used, and the LEO from inter-broker protocol 2.7 on.",
    ),
    Pattern(
        name="fetchers-removed",
        event="fetcher-removed",
        literal="Removed fetcher for partitions ",
        regex=r"Removed fetcher for partitions ?(?P<_entries>.*)",
        versions=("0.8.2", "4.4"),
        loggers=_MANAGER,
        explode=_removed,
        samples=(
            Sample(
                line="[2026-11-21 02:25:17,620] INFO [ReplicaFetcherManager on broker 1] Removed fetcher for partitions "
                "clicks-0 (kafka.server.ReplicaFetcherManager)",
                fields={"node": 1, "topic": "clicks", "partition": 0},
                origin="real: acks1-failover-1.1.1-zk",
            ),
            Sample(
                line="[2026-11-21 02:02:40,295] INFO [ReplicaFetcherManager on broker 1] Removed fetcher for partitions "
                "HashSet(profile-1) (kafka.server.ReplicaFetcherManager)",
                fields={"node": 1, "topic": "profile", "partition": 1},
                origin="real: reassignment-2.8.2-zk",
            ),
        ),
    ),
    Pattern(
        name="partition-marked-failed",
        event="partition-failed",
        literal=" marked as failed",
        regex=rf"Partition {TP} marked as failed",
        versions=("2.3", "4.4"),
        samples=(
            Sample(
                line="[2026-11-21 02:07:41,841] WARN [ReplicaFetcher replicaId=2, leaderId=3, fetcherId=0] Partition "
                "sessions-1 marked as failed (kafka.server.ReplicaFetcherThread)",
                fields={"node": 2, "broker": 3, "topic": "sessions", "partition": 1},
                origin="real: zombie-leader-2.8.2-zk",
            ),
        ),
        note="The partition is not fetched until the next leader change.",
    ),
    Pattern(
        name="fetch-epoch-older",
        event="fetch-error",
        literal=" has an older epoch (",
        regex=rf"Partition {TP} has an older epoch \((?P<leader_epoch>-?\d+)\) than the current leader\. Will await the new "
        rf"LeaderAndIsr state before "
        r"resuming fetching\.",
        versions=("2.1", "4.4"),
        fixed={"reason": "FENCED_LEADER_EPOCH"},
        samples=(
            Sample(
                line="[2026-11-21 02:07:41,839] INFO [ReplicaFetcher replicaId=2, leaderId=3, fetcherId=0] Partition "
                "sessions-1 has an older epoch (0) than the current leader. Will await the new LeaderAndIsr state "
                "before resuming fetching. (kafka.server.ReplicaFetcherThread)",
                fields={"node": 2, "broker": 3, "topic": "sessions", "partition": 1, "leader_epoch": 0, "reason": "FENCED_LEADER_EPOCH"},
                origin="real: zombie-leader-2.8.2-zk",
            ),
        ),
    ),
    Pattern(
        name="fetch-epoch-newer",
        event="fetch-error",
        literal=" than the current leader. ",
        regex=rf"Partition {TP} has an? newe?r? epoch \((?P<leader_epoch>-?\d+)\) than the current leader\. [rR]etry the "
        rf"partition later\.?",
        versions=("2.5", "4.4"),
        fixed={"reason": "UNKNOWN_LEADER_EPOCH"},
        samples=(
            Sample(
                line="[2026-11-21 02:33:30,501] INFO [ReplicaFetcher replicaId=2, leaderId=4, fetcherId=0] Partition "
                "safe-9 has a newer epoch (1) than the current leader. Retry the partition later. "
                "(kafka.server.ReplicaFetcherThread)",
                fields={"node": 2, "broker": 4, "topic": "safe", "partition": 9, "leader_epoch": 1, "reason": "UNKNOWN_LEADER_EPOCH"},
                origin="real: mixed-fleet-3.5.2-zk",
            ),
            Sample(
                line="[2026-11-21 02:12:40,485] INFO [ReplicaFetcher replicaId=1, leaderId=3, fetcherId=0] Partition "
                "tasks-1 has an new epoch (1) than the current leader. retry the partition later "
                "(kafka.server.ReplicaFetcherThread)",
                fields={"node": 1, "broker": 3, "topic": "tasks", "partition": 1, "leader_epoch": 1, "reason": "UNKNOWN_LEADER_EPOCH"},
                origin="real: controller-failover-2.8.2-zk",
            ),
        ),
    ),
    Pattern(
        name="fetch-epoch-ahead",
        event="fetch-error",
        literal="Remote broker has a smaller leader epoch for partition ",
        regex=rf"Remote broker has a smaller leader epoch for partition {TP} than this replica's current leader epoch of "
        rf"(?P<leader_epoch>-?\d+)\.",
        versions=("2.1", "4.4"),
        fixed={"reason": "UNKNOWN_LEADER_EPOCH"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] DEBUG [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Remote broker "
                "has a smaller leader epoch for partition orders-0 than this replica's current leader epoch of 5. "
                "(kafka.server.ReplicaFetcherThread)",
                fields={"node": 1, "broker": 2, "topic": "orders", "partition": 0, "leader_epoch": 5, "reason": "UNKNOWN_LEADER_EPOCH"},
                origin="source: 2.8 AbstractFetcherThread",
            ),
        ),
    ),
    Pattern(
        name="fetch-not-leader",
        event="fetch-error",
        literal="Remote broker is not the leader for partition ",
        regex=rf"Remote broker is not the leader for partition {TP}, which could indicate that the partition is being moved",
        versions=("1.1", "4.4"),
        fixed={"reason": "NOT_LEADER_OR_FOLLOWER"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Remote broker "
                "is not the leader for partition orders-0, which could indicate that the partition is being moved "
                "(kafka.server.ReplicaFetcherThread)",
                fields={"node": 1, "broker": 2, "topic": "orders", "partition": 0, "reason": "NOT_LEADER_OR_FOLLOWER"},
                origin="source: 1.1 AbstractFetcherThread",
            ),
        ),
    ),
    Pattern(
        name="fetch-topic-unknown",
        event="fetch-error",
        literal=" from the leader for partition ",
        regex=rf"Received (?P<reason>\w+) from the leader for partition {TP}\. This error may be returned transiently when the "
        rf"partition is being created "
        r"or deleted, but it is not expected to persist\.",
        versions=("2.7", "4.4"),
        samples=(
            Sample(
                line="[2026-11-21 02:33:11,514] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Received "
                "UNKNOWN_TOPIC_ID from the leader for partition safe-8. This error may be returned transiently when "
                "the partition is being created or deleted, but it is not expected to persist. "
                "(kafka.server.ReplicaFetcherThread)",
                fields={"node": 1, "broker": 2, "reason": "UNKNOWN_TOPIC_ID", "topic": "safe", "partition": 8},
                origin="real: mixed-fleet-3.5.2-zk",
            ),
            Sample(
                line="[2026-11-21 02:14:14,605] WARN [ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Received "
                "UNKNOWN_TOPIC_OR_PARTITION from the leader for partition bank-0. This error may be returned "
                "transiently when the partition is being created or deleted, but it is not expected to persist. "
                "(kafka.server.ReplicaFetcherThread)",
                fields={"node": 3, "broker": 2, "reason": "UNKNOWN_TOPIC_OR_PARTITION", "topic": "bank", "partition": 0},
                origin="real: power-loss-divergence-2.8.2-zk",
            ),
        ),
    ),
    Pattern(
        name="fetch-epoch-request-refused",
        event="fetch-error",
        literal="Retrying leaderEpoch request for partition ",
        regex=rf"Retrying leaderEpoch request for partition {TP} as the leader reported an error: (?P<reason>\w+)",
        versions=("0.11.0", "4.4"),
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Retrying "
                "leaderEpoch request for partition orders-0 as the leader reported an error: NOT_LEADER_OR_FOLLOWER "
                "(kafka.server.ReplicaFetcherThread)",
                fields={"node": 1, "broker": 2, "topic": "orders", "partition": 0, "reason": "NOT_LEADER_OR_FOLLOWER"},
                origin="source: 2.8 AbstractFetcherThread",
            ),
        ),
    ),
    Pattern(
        name="fetch-out-of-range",
        event="fetch-error",
        literal="Current offset ",
        regex=rf"Current offset (?P<previous_offset>-?\d+) for partition {TP} (?:is )?out of range(?:; reset offset|, which "
        rf"typically implies a leader change\. "
        r"Reset fetch offset) to (?P<offset>-?\d+)",
        versions=("0.8.2", "4.4"),
        fixed={"reason": "OFFSET_OUT_OF_RANGE"},
        samples=(
            Sample(
                line="[2026-11-21 03:01:56,695] ERROR [ReplicaFetcherThread-0-2], Current offset 298 for partition "
                "[orders,0] out of range; reset offset to 267 (kafka.server.ReplicaFetcherThread)",
                fields={
                    "broker": 2,
                    "previous_offset": 298,
                    "topic": "orders",
                    "partition": 0,
                    "offset": 267,
                    "reason": "OFFSET_OUT_OF_RANGE",
                },
                origin="real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Current offset "
                "298 for partition orders-0 is out of range, which typically implies a leader change. Reset fetch "
                "offset to 267 (kafka.server.ReplicaFetcherThread)",
                fields={
                    "node": 1,
                    "broker": 2,
                    "previous_offset": 298,
                    "topic": "orders",
                    "partition": 0,
                    "offset": 267,
                    "reason": "OFFSET_OUT_OF_RANGE",
                },
                origin="source: 2.8 AbstractFetcherThread",
            ),
        ),
    ),
    Pattern(
        name="fetch-error-of-partition",
        event="fetch-error",
        literal="Error for partition ",
        regex=rf"Error for partition {TP} (?:to broker (?P<broker>\d+):(?:class )?(?P<_exception>[\w.$]+).*|at offset "
        rf"(?P<offset>-?\d+){_EXCEPTION})",
        versions=("0.8.2", "4.4"),
        multiline=True,
        explode=exception_named,
        samples=(
            Sample(
                line="[2026-11-21 03:01:20,734] ERROR [ReplicaFetcherThread-0-1], Error for partition [orders,1] to "
                "broker 1:org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not host "
                "this topic-partition. (kafka.server.ReplicaFetcherThread)",
                fields={"broker": 1, "topic": "orders", "partition": 1, "reason": "UnknownTopicOrPartitionException"},
                origin="real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                line="[2026-11-21 06:24:46,221] ERROR [ReplicaFetcherThread-0-3], Error for partition [orders,0] to "
                "broker 3:class kafka.common.UnknownException (kafka.server.ReplicaFetcherThread)",
                fields={"broker": 3, "topic": "orders", "partition": 0, "reason": "UnknownException"},
                origin="real: unclean-election-0.8.2.2-zk",
            ),
            Sample(
                line="[2026-11-21 02:25:40,312] ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error for "
                "partition __consumer_offsets-1 at offset 0 "
                "(kafka.server.ReplicaFetcherThread)\norg.apache.kafka.common.errors.UnknownTopicOrPartitionException:"
                " This server does not host this topic-partition.",
                fields={
                    "node": 1,
                    "broker": 2,
                    "topic": "__consumer_offsets",
                    "partition": 1,
                    "offset": 0,
                    "reason": "UnknownTopicOrPartitionException",
                },
                origin="real: acks1-failover-1.1.1-zk",
            ),
        ),
    ),
    Pattern(
        name="fetch-error-of-response",
        event="fetch-error",
        literal="Error in ",
        regex=r"Error in (?:fetch to broker (?P<broker>\d+), request .*?|fetch .*?(?:\. Possible cause: (?P<_exception>[\w.$]+).*?)?|"
        r"response for fetch request .*?)"
        r"(?:\n(?P<_exception>[\w.$]+)(?:: Connection to \S+ (?P<_lost>was disconnected before the response was read))?.*)?",
        versions=("0.8.2", "4.4"),
        loggers=("kafka.server.ReplicaFetcherThread",),
        multiline=True,
        explode=_broken_off,
        samples=(
            Sample(
                line="[2026-11-22 09:24:34,972] WARN [ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Error in response for fetch "
                "request (type=FetchRequest, replicaId=3, maxWait=500, minBytes=1, maxBytes=10485760, fetchData={}, "
                "isolationLevel=READ_UNCOMMITTED, toForget=, metadata=(sessionId=41545530, epoch=76), rackId=) "
                "(kafka.server.ReplicaFetcherThread)\njava.io.IOException: Connection to 2 was disconnected before the response was read",
                fields={"event": "fetch-broken-off", "node": 3, "broker": 2, "reason": "IOException"},
                origin="real: busy-crashes-2.8.2-zk",
            ),
            Sample(
                line="[2026-11-21 02:25:20,787] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error in "
                "response for fetch request (type=FetchRequest, replicaId=1, maxWait=500, minBytes=1, "
                "maxBytes=10485760, fetchData={}, isolationLevel=READ_UNCOMMITTED, toForget=, "
                "metadata=(sessionId=1682536845, epoch=5)) (kafka.server.ReplicaFetcherThread)\njava.io.IOException: "
                "Connection to 127.0.0.1:40141 (id: 2 rack: null) failed.",
                fields={"node": 1, "broker": 2, "reason": "IOException"},
                origin="real: acks1-failover-1.1.1-zk",
            ),
            Sample(
                line="[2026-11-21 03:03:32,432] WARN [ReplicaFetcherThread-0-1], Error in fetch "
                "kafka.server.ReplicaFetcherThread$FetchRequest@4527805 "
                "(kafka.server.ReplicaFetcherThread)\njava.io.IOException: Connection to 127.0.0.1:44979 (id: 1 rack: "
                "null) failed",
                fields={"broker": 1, "reason": "IOException"},
                origin="real: clean-failover-0.10.2.2-zk",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [ReplicaFetcherThread-0-2], Error in fetch Name: FetchRequest; "
                "Version: 0; CorrelationId: 3; ClientId: ReplicaFetcherThread-0-2; ReplicaId: 1; MaxWait: 500 ms; "
                "MinBytes: 1 bytes; RequestInfo: [orders,0] -> PartitionFetchInfo(300,1048576). Possible cause: "
                "java.net.ConnectException: Connection refused (kafka.server.ReplicaFetcherThread)",
                fields={"broker": 2, "reason": "ConnectException"},
                origin="source: 0.8.2 AbstractFetcherThread",
            ),
        ),
        note="When a process crashes, its machine closes the connections; NetworkClientUtils#sendAndReceive prints that once.",
    ),
    Pattern(
        name="fetched-data-unusable",
        event="fetch-error",
        literal=" processing data for partition ",
        regex=rf"(?:Unexpected error occurred while|Error while) processing data for partition {TP}(?: at offset "
        rf"(?P<offset>-?\d+))?{EXCEPTION}",
        versions=("1.0", "4.4"),
        multiline=True,
        explode=classified,
        samples=(
            Sample(
                line="[2026-11-21 02:11:32,163] ERROR [ReplicaFetcher replicaId=2, leaderId=3, fetcherId=0] Error while "
                "processing data for partition media-3 at offset 75 "
                "(kafka.server.ReplicaFetcherThread)\norg.apache.kafka.common.errors.KafkaStorageException: Error "
                "while appending records to media-3 in dir /var/lib/kafka/broker-2/data1",
                fields={"node": 2, "broker": 3, "topic": "media", "partition": 3, "offset": 75, "reason": "KafkaStorageException"},
                origin="real: log-dir-failure-2.8.2-zk",
            ),
        ),
    ),
    Pattern(
        name="fetched-messages-invalid",
        event="fetch-error",
        literal="Found invalid messages during fetch for partition ",
        regex=rf"Found invalid messages during fetch for partition {TP} offset (?P<offset>-?\d+)(?: error (?P<value>[^\n]*))?{EXCEPTION}",
        versions=("0.8.2", "4.4"),
        multiline=True,
        inner=True,
        explode=with_exception,
        fixed={"reason": "invalid-messages"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Found invalid "
                "messages during fetch for partition orders-0 offset 300 (kafka.server.ReplicaFetcherThread)",
                fields={"node": 1, "broker": 2, "topic": "orders", "partition": 0, "offset": 300, "reason": "invalid-messages"},
                origin="source: 2.8 AbstractFetcherThread",
            ),
        ),
    ),
    Pattern(
        name="fetch-offset-not-got",
        event="fetch-error",
        literal=" offset for ",
        regex=rf"(?:Error getting offset for partition {TP}(?: to broker (?P<broker>\d+))?|Could not fetch offset for {TP} due "
        rf"to error: [^\n]*){EXCEPTION}",
        versions=("0.8.2", "4.4"),
        multiline=True,
        inner=True,
        explode=with_exception,
        fixed={"reason": "list-offsets"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error getting "
                "offset for partition orders-0 (kafka.server.ReplicaFetcherThread)",
                fields={"node": 1, "broker": 2, "topic": "orders", "partition": 0, "reason": "list-offsets"},
                origin="source: 2.8 AbstractFetcherThread",
            ),
        ),
    ),
    Pattern(
        name="fetch-message-too-large",
        event="fetch-error",
        literal="Replication is failing due to a message that is greater than replica.fetch.max.bytes",
        regex=rf"Replication is failing due to a message that is greater than replica\.fetch\.max\.bytes(?: for partition {TP})?\. .*",
        versions=("0.9.0", "4.0"),
        fixed={"reason": "message-too-large"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Replication "
                "is failing due to a message that is greater than replica.fetch.max.bytes for partition orders-0. "
                "This generally occurs when the max.message.bytes has been overridden to exceed this value and a "
                "suitably large message has also been sent. To fix this problem increase replica.fetch.max.bytes in "
                "your broker config to be equal or larger than your settings for max.message.bytes, both at a broker "
                "and topic level. (kafka.server.ReplicaFetcherThread)",
                fields={"node": 1, "broker": 2, "topic": "orders", "partition": 0, "reason": "message-too-large"},
                origin="source: 1.1 ReplicaFetcherThread",
            ),
        ),
    ),
    Pattern(
        name="fetch-remote-log-state",
        event="fetch-error",
        literal=" remote log auxiliary state for ",
        regex=rf"(?:Could not build|Error building) remote log auxiliary state for {TP}(?: due to error: .*)?",
        versions=("3.5", "4.4"),
        fixed={"reason": "remote-log"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error "
                "building remote log auxiliary state for orders-0 (kafka.server.ReplicaFetcherThread)",
                fields={"node": 1, "broker": 2, "topic": "orders", "partition": 0, "reason": "remote-log"},
                origin="source: 3.6 AbstractFetcherThread",
            ),
        ),
    ),
    Pattern(
        name="fetched-batch-of-later-epoch",
        event="fetch-error",
        literal=" because its partition leader epoch ",
        regex=r"Skipping batch .* from an origin of .* because its partition leader epoch (?P<leader_epoch>-?\d+) is higher "
        r"than the replica's "
        r"current leader epoch (?P<previous_leader_epoch>-?\d+)",
        versions=("4.1", "4.4"),
        fixed={"reason": "later-leader-epoch"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [UnifiedLog partition=orders-0, dir=/data] Skipping batch "
                "DefaultRecordBatch(magic=2, offsets=[300, 309]) from an origin of REPLICATION because its partition "
                "leader epoch 6 is higher than the replica's current leader epoch 5 "
                "(org.apache.kafka.storage.internals.log.UnifiedLog)",
                fields={
                    "topic": "orders",
                    "partition": 0,
                    "directory": "/data",
                    "leader_epoch": 6,
                    "previous_leader_epoch": 5,
                    "reason": "later-leader-epoch",
                },
                origin="source: 4.1 UnifiedLog",
            ),
        ),
    ),
    Pattern(
        name="fetch-not-served",
        event="read-failed",
        literal="rocessing fetch ",
        regex=rf"Error (?:when )?processing fetch (?:with max size \S+ from [^\n]*? on partition {TP}: "
        r"(?:[^\n]*?fetchOffset=(?P<offset>-?\d+))?[^\n]*"
        rf"|operation on partition {TP},? offset (?P<offset>-?\d+)"
        rf"|request for partition {TP} offset (?P<offset>-?\d+) from [^\n]*){EXCEPTION}",
        versions=("0.8.2", "4.4"),
        multiline=True,
        inner=True,
        explode=classified,
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [ReplicaManager broker=1] Error processing fetch with max size "
                "1048576 from replica 2 on partition orders-0: PartitionData(fetchOffset=300, logStartOffset=0, "
                "maxBytes=1048576, currentLeaderEpoch=Optional[5], lastFetchedEpoch=Optional[5]) "
                "(kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.CorruptRecordException: Found record size 0 "
                "smaller than minimum record overhead (14) in file /data/orders-0/00000000000000000000.log.",
                fields={
                    "node": 1,
                    "topic": "orders",
                    "partition": 0,
                    "offset": 300,
                    "reason": "CorruptRecordException",
                    "key": "org.apache.kafka.common.errors.CorruptRecordException: Found record size 0 smaller than minimum record "
                    "overhead (14) in file /data/orders-0/00000000000000000000.log.",
                },
                origin="source: 2.8 ReplicaManager",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] ERROR [Replica Manager on Broker 1]: Error processing fetch operation on "
                "partition [orders,0] offset 300 (kafka.server.ReplicaManager)",
                fields={"node": 1, "topic": "orders", "partition": 0, "offset": 300, "reason": None},
                origin="source: 0.9.0 ReplicaManager",
            ),
        ),
        note="Printed by the leader about a follower or a consumer. Errors that a client can cause have no such line.",
    ),
    Pattern(
        name="follower-not-assigned",
        event="fetch-error",
        literal=" since the replica is not recognized to be one of the assigned replicas ",
        regex=r"Leader (?P<leader>\d+) failed to record follower (?P<broker>\d+)'s position .* since the replica is not "
        r"recognized to be one of the assigned "
        rf"replicas .* for partition (?:[\w-]{{22}}:)?{TP}\. Empty records will be returned for this partition\.",
        versions=("1.0", "3.2"),
        fixed={"reason": "not-assigned"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [ReplicaManager broker=1] Leader 1 failed to record follower 4's "
                "position 300, and last sent HW since the replica is not recognized to be one of the assigned "
                "replicas 1,2,3 for partition orders-0. Empty records will be returned for this partition. "
                "(kafka.server.ReplicaManager)",
                fields={"node": 1, "leader": 1, "broker": 4, "topic": "orders", "partition": 0, "reason": "not-assigned"},
                origin="source: 2.4 ReplicaManager",
            ),
        ),
    ),
)
