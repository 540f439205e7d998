"""The one table every parser fills: an event is one fact some file states, with the place it was read.

Here: the Arrow schema with a doc for each field, the vocabulary of event kinds, and the builder of batches. Not here: how
a fact is read (the parser modules) or what it means (spark.partition.timeline, forensics.rules).

One wide schema, most columns null in any row, because every kind of evidence flows through one Spark source: Arrow keeps
an all-null column at almost no cost, and one pass over an archive feeds everything that follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

import pyarrow as pa

Row = dict[str, Any]
"""One event, keys are field names of EVENTS; an absent key is null."""

Told: TypeAlias = "Row | pa.RecordBatch"
"""One event, or many of one source, in the order in which the source tells them."""

MAX_TEXT = 4096
"""Characters of raw text an event keeps; longer text is cut, the place stays exact."""

INT32 = range(-(2**31), 2**31)
INT64 = range(-(2**63), 2**63)
"""What the columns hold. A number outside (hostile or damaged input) makes its row a problem, never a crash."""

REPLICA_OFFSET = pa.struct([("broker", pa.int32()), ("log_end_offset", pa.int64()), ("last_caught_up_ms", pa.int64())])
BATCH = pa.struct(
    [
        ("base_offset", pa.int64()),
        ("last_offset", pa.int64()),
        ("leader_epoch", pa.int32()),
        ("crc", pa.int64()),
        ("base_timestamp", pa.int64()),
        ("max_timestamp", pa.int64()),
        ("producer_id", pa.int64()),
        ("control", pa.bool_()),
        ("bytes", pa.int64()),
        ("append_time", pa.bool_()),
        ("whole", pa.bool_()),
    ]
)
"""`append_time`: its times are of the leader that appended it (LogAppendTime), not its producer's. `whole`: as it was appended, the log
cleaner has taken no record from it and set no delete horizon; null where only decompression would tell."""
JUMP = pa.struct([("line", pa.int64()), ("before", pa.timestamp("us")), ("after", pa.timestamp("us"))])
"""Two neighbouring events of a log between which the wall clock went back, or an hour or more passed; `line` is the later's."""
# `clock` is that of `first` and `last`; `wall_minus_utc_ms` what lines show more than the runtime that got them stamped (median).
# `layout`: conversion patterns that were learned from the file, one a line.
COLLECTED = pa.struct(
    [
        ("kind", pa.string()),
        ("bytes", pa.int64()),
        ("sha256", pa.string()),
        ("modified", pa.timestamp("us")),
        ("lines", pa.int64()),
        ("unrecognised", pa.int64()),
        ("samples", pa.list_(pa.string())),
        ("first", pa.timestamp("us")),
        ("last", pa.timestamp("us")),
        ("jumps", pa.list_(JUMP)),
        ("nodes", pa.list_(pa.int32())),
        ("clock", pa.string()),
        ("wall_minus_utc_ms", pa.int64()),
        ("layout", pa.string()),
        ("problem", pa.string()),
    ]
)


def _field(name: str, kind: pa.DataType, doc: str) -> pa.Field:
    return pa.field(name, kind, metadata={"doc": doc})


_ids = pa.list_(pa.int32())

EVENTS = pa.schema(
    [
        _field(
            "source",
            pa.string(),
            "path of the source inside the evidence; containers joined with '/', the writer in a log of several after '#'",
        ),
        _field("line", pa.int64(), "1-based line of a text source, null for binary ones"),
        _field("byte", pa.int64(), "byte offset in the (decompressed) source at which the fact begins"),
        _field("time", pa.timestamp("us"), "when, as the clock named by `clock` told it; lines carry no zone"),
        _field(
            "clock",
            pa.string(),
            "line: broker's local wall clock; mtime: file's modification time, UTC; batch: record timestamp, UTC; stamp: time in the text itself, UTC; utc: a log line's time that names its zone, or its container's, UTC",
        ),
        _field("event", pa.string(), "kind of fact, one of EVENT_KINDS"),
        _field("pattern", pa.string(), "line pattern or file parser that read it"),
        _field("level", pa.string(), "log level of the line"),
        _field("mode", pa.string(), "'zookeeper' or 'kraft', where only a process of a cluster of that mode states such a fact"),
        _field("text", pa.string(), f"the raw text, at most {MAX_TEXT} characters"),
        _field("node", pa.int32(), "node id the fact itself names as its writer (line prefix, broker.id); null when it names none"),
        _field("near", pa.int32(), "node that the last line before named as its writer, where this one names none"),
        _field("topic", pa.string(), "topic name"),
        _field("partition", pa.int32(), "partition index"),
        _field("topic_id", pa.string(), "topic id, 22 characters base64url (KIP-516)"),
        _field("leader", pa.int32(), "leader of the partition; -1 is none"),
        _field("leader_epoch", pa.int32(), "leader epoch (KIP-101)"),
        _field("partition_epoch", pa.int32(), "version of the partition's state: zkVersion or partitionEpoch"),
        _field("previous_leader", pa.int32(), "leader before the change, where the text names it"),
        _field("previous_leader_epoch", pa.int32(), "leader epoch before the change, as the writer knew it; -1 after its start"),
        _field("controller", pa.int32(), "controller node"),
        _field("controller_epoch", pa.int32(), "controller epoch; in KRaft the quorum's epoch"),
        _field("isr", _ids, "in-sync replicas after the change"),
        _field("previous_isr", _ids, "in-sync replicas before the change"),
        _field("replicas", _ids, "assigned replicas (AR), preferred leader first"),
        _field("unordered", pa.bool_(), "`replicas` were sent as a set, up to 0.10.2: their order tells nothing"),
        _field("adding_replicas", _ids, "replicas a reassignment adds (KIP-455)"),
        _field("removing_replicas", _ids, "replicas a reassignment removes (KIP-455)"),
        _field("eligible", _ids, "eligible leader replicas after the change (KIP-966)"),
        _field("recovering", pa.bool_(), "leaderRecoveryState is RECOVERING (KIP-704)"),
        _field("broker", pa.int32(), "the other broker the fact is about: removed from an ISR, fenced, fetched from"),
        _field("brokers", _ids, "several brokers the fact is about"),
        _field("broker_epoch", pa.int64(), "broker epoch of a registration"),
        _field("offset", pa.int64(), "the offset the event is about: truncation target, epoch start, segment base, checkpoint value"),
        _field("previous_offset", pa.int64(), "the offset before the event, where the text names it"),
        _field("log_end_offset", pa.int64(), "log end offset (LEO) of the writer's log"),
        _field("high_watermark", pa.int64(), "high watermark (HW)"),
        _field("log_start_offset", pa.int64(), "log start offset"),
        _field("metadata_offset", pa.int64(), "offset in __cluster_metadata"),
        _field("count", pa.int64(), "a count the fact gives: logs, segments, required min ISR, metadata version"),
        _field("bytes", pa.int64(), "a size in bytes"),
        _field("duration_ms", pa.int64(), "how long the fact lasted, milliseconds; `time` is its beginning"),
        _field("reason", pa.string(), "short word for why or between which states"),
        _field("directory", pa.string(), "log directory, or directory id"),
        _field("key", pa.string(), "name of a setting"),
        _field("value", pa.string(), "value of a setting, version, cluster id"),
        _field("replica_offsets", pa.list_(REPLICA_OFFSET), "what a leader knew of its followers"),
        _field("batches", pa.list_(BATCH), "record batches of a segment, in file order"),
        _field("collected", COLLECTED, "what is known of a source as a whole; only in `source` events"),
    ]
)

EVENT_KINDS: dict[str, str] = {
    # leadership
    "leader-start": "`node` begins to lead at leader_epoch; log_end_offset is its LEO then",
    "follower-start": "`node` begins to follow at leader_epoch; log_end_offset is its LEO then",
    "partition-state": "a partition's state as a controller decided or sent it, or a broker received it; reason is 'decided', 'sent', 'written' (a leader's ISR change), 'received', 'cached', or 'stored': read from its znode",
    "partition-transition": "the ZooKeeper controller's state machine moved the partition; reason is 'Old->New', value 'made' where there was none before",
    "unclean-election-said": "Kafka itself says that a leader was elected outside the ISR",
    "recovering-mark": "the new leader was told that its election was unclean (leaderRecoveryState)",
    "election-failed": "the controller found no replica it may elect",
    "election-requested": "an election was asked for; reason is PREFERRED or UNCLEAN, value who asked",
    "preferred-election": "a preferred leader election completed",
    "balance-checked": "the active controller looks for leaders to move back to preferred replicas (auto.leader.rebalance.enable); count the moves it made, where it tells",
    "follower-kept": "`node`, told to follow `leader`, did so already and changes nothing: it neither truncates nor fetches anew",
    "become-refused": "a broker could not become leader or follower; reason says why",
    "replica-added": "a broker takes up a replica of the partition, anew or at its start; topic_id as named",
    # ISR
    "isr-shrink": "a leader intends to shrink the ISR",
    "isr-expand": "a leader intends to expand the ISR",
    "isr-update": "an ISR change took effect, as the leader that made it says",
    "isr-written": "an ISR change took effect, as the controller that wrote it for a leader says; broker is the leader, where it is named",
    "isr-rejected": "an ISR change was refused: the leader is not the leader any more, or its view is old; reason 'old-leader-epoch' where that is why",
    # the log
    "log-load": "a log was loaded at start-up; log_end_offset is exact after recovery",
    "log-recovery": "a segment is recovered because the last stop was unclean",
    "log-corruption": "recovery or reading met bytes that are no valid records",
    "log-created": "a log was created empty; reason 'future' for the copy a move between log directories fills (KIP-113); key 'cleanup.policy' where its own settings are told, value that one, null where it is the broker's",
    "log-moved": "the copy took the replica's place: its log lies in another log directory now, whole",
    "log-deleted": "a replica's directory was marked for deletion",
    "hw-loaded": "HW a replica starts with, from its checkpoint, clamped to its log",
    "hw-missing": "no HW was checkpointed for the replica",
    "hw-regression": "HW went from previous_offset back to high_watermark",
    "truncation": "the log was cut to offset; reason 'longer' where only a log that goes beyond it says so",
    "truncation-noop": "a truncation to offset changed nothing; log_end_offset is exact",
    "truncation-plan": "a follower decides to truncate; reason is 'leader-epoch' or 'high-watermark'",
    "truncation-below-hw": "a follower truncates below its own HW",
    "truncation-refused": "a follower ahead of its leader stops rather than truncate (before 2.0)",
    "fetch-offset-reset": "a follower moved its fetch offset from previous_offset to offset; reason is 'latest', 'start', 'local-end', or 'tier': its log begins there or beyond, the remote tier has what is below",
    "segment-roll": "a new segment begins at offset, the LEO then",
    "segment-delete": "segments are deleted; reason is retention-time, retention-size, log-start, truncation, deletion, recovery, roll",
    "log-start-move": "log start offset moved; reason is delete-records, retention, leader (a follower's, after its leader's), snapshot or first append, where it is told",
    "producer-snapshot": "producer state was written at offset, the LEO then",
    "epoch-assigned": "an entry was appended to the leader epoch cache",
    "epoch-conflict": "a new epoch entry removed conflicting ones",
    "fetcher-added": "a fetcher from `broker` was started at offset; reason 'own-end' up to 2.0: at the follower's log end, from 1.1 on at its high watermark, which is never more",
    "fetcher-removed": "fetching stopped",
    "fetch-error": "a fetch failed",
    "fetch-broken-off": "the connection to `broker` was lost in the midst of a fetch",
    "partition-failed": "a partition's fetching stopped for good",
    "append-refused": "a produce was refused for too small an ISR; count is the required minimum",
    "append-error": "an append failed for another reason",
    # brokers
    "broker-starting": "a broker process begins",
    "controller-starting": "a KRaft node begins its controller; where it is a broker as well, its process began just before",
    "broker-started": "a broker is up",
    "broker-signal": "a process was asked to end by a signal",
    "broker-stopping": "an orderly stop begins",
    "broker-stopped": "an orderly stop is complete",
    "controlled-shutdown": "a broker hands over its leaderships; reason is 'start', 'done', 'retry' or 'failed'",
    "kafka-version": "value is the version the process printed",
    "start-time": "a process, or a client within it, tells the time it took just before, from the same clock but in UTC: count, milliseconds since 1970",
    "clean-start": "a log directory's last stop was clean",
    "unclean-start": "a log directory's last stop was not clean, or it is new (count 0 or null)",
    "log-directory-new": "a log directory held no meta.properties when a broker started: it was new, or had been emptied",
    "broker-registered": "a broker registered with the controller or in ZooKeeper",
    "broker-fenced": "the controller fenced `broker`",
    "broker-unfenced": "the controller unfenced `broker`",
    "broker-state": "KRaft broker life cycle; reason is the new state",
    "session-expired": "a ZooKeeper session expired",
    "brokers-changed": "the controller saw brokers come or go; reason is added, deleted or bounced, or live: those it found when it was elected",
    "zookeeper-silent": "the ZooKeeper client of a process heard nothing from `time` for duration_ms and gave its connection up: the server or the network was silent, or the process stood still",
    "znode-missing": "a znode that Kafka keeps for good (value) was not there; reason is 'no-node', or 'created': it was made anew, as in a new cluster or after ZooKeeper lost its data",
    "cluster-id-mismatch": "a broker's data are of another cluster than it was to join: value is that cluster's id, reason the id the data have, where they are told; key is 'registration' where a controller says so of another node",
    "broker-id-mismatch": "a broker's data are of another broker: value is the configured id, reason the stored one; brokers where log directories disagree",
    "topic-id-mismatch": "a replica's log is of another topic of that name: value is the id the cluster has for it, reason the log's",
    "log-dir-offline": "a log directory failed",
    "log-dir-error": "an I/O error that takes its log directory offline",
    "log-file-refused": "the exception below such an error: value is the file of the log directory, where it is named; reason is 'in-use' (Windows renames and deletes no file that is mapped or open), 'missing', 'full', 'read-only', 'io', 'handles' or 'denied'",
    "log-dir-partitions": "a partition is offline because its log directory is",
    "fatal-error": "the process or a thread of it ended on an error",
    # controllers
    "controller-elected": "`controller` became the active controller at controller_epoch",
    "controller-thread": "a ZooKeeper broker's controller thread began, once in the life of its process",
    "controller-resigned": "a controller stopped being active",
    "quorum-role": "`node` changes its role in the metadata quorum (reason); `controller` leads it at controller_epoch, where known",
    "controller-refused": "a request from an old controller was ignored",
    "shutdown-seen": "the controller handles the controlled shutdown of `broker`",
    # topics
    "topic-created": "a topic was created",
    "topic-deletion": "a topic's deletion started",
    "topic-deleted": "a topic's deletion completed",
    "client-reset": "a consumer at previous_offset learnt that the partition does not have it any more; reason is out-of-range or truncation, value its group",
    "group-coordinated": "a group coordinator names a consumer group (value) whose offsets the partition of __consumer_offsets keeps",
    "reassignment": "a reassignment step; reason is 'started', 'completed', 'failed' or 'waiting'",
    # KRaft metadata records
    "metadata-topic": "TopicRecord",
    "metadata-topic-removed": "RemoveTopicRecord",
    "metadata-partition": "PartitionRecord: a full state",
    "metadata-partition-change": "PartitionChangeRecord: only what changed",
    "metadata-config": "ConfigRecord",
    "metadata-broker": "RegisterBrokerRecord",
    "metadata-broker-change": "fence, unfence or registration change; reason is fenced, unfenced, shutdown, registered or unregistered",
    "metadata-feature": "FeatureLevelRecord",
    "metadata-leader": "LEADER_CHANGE control record: `controller` leads the quorum at controller_epoch",
    # files
    "hw-checkpoint": "row of replication-offset-checkpoint",
    "recovery-point": "row of recovery-point-offset-checkpoint: flushed below this offset",
    "log-start-checkpoint": "row of log-start-offset-checkpoint",
    "cleaner-checkpoint": "row of cleaner-offset-checkpoint: first dirty offset",
    "epoch-entry": "row of leader-epoch-checkpoint: leader_epoch starts at offset",
    "epoch-file": "a leader-epoch-checkpoint was read; count entries (an empty one says so)",
    "segment": "a segment file: offset is its base, log_end_offset after its last valid batch",
    "log-directory-identity": "meta.properties: node, cluster id in value, directory id in directory",
    "partition-metadata": "partition.metadata: the topic id of a replica",
    "clean-shutdown-file": ".kafka_cleanshutdown is there: the broker is stopped and stopped cleanly",
    "quorum-state": "quorum-state: who leads the metadata quorum",
    "config": "a setting: topic null is the broker's, broker null too the cluster's; value null or 'null' takes it away; reason is Kafka's ConfigSource where it is told; a row without key says that all dynamic settings there are are the `count` ones whose names value lists",
    "assignment": "a partition's replicas as a file has them; reason is plan, proposed, current or stored (in ZooKeeper); directory lists log_dirs",
    "election-plan": "a partition a leader election is asked for by a file",
    "isr-change-notified": "a leader's notification in ZooKeeper that the ISR of a partition changed",
    "reassignment-told": "what kafka-reassign-partitions said; reason is started, completed, in-progress, not-active, failed, cancelled or throttled; broker and directory for a move between log directories",
    "election-told": "what an election tool said of a partition; reason is PREFERRED or UNCLEAN, value is completed, started, not-needed, failed or skipped",
    "replica-size": "kafka-log-dirs: bytes of a replica of `broker` in a directory, count its offset lag; reason 'future' for the copy of a move",
    "log-dir-told": "a log directory of `broker` as kafka-log-dirs or a notification in ZooKeeper tells it; value is its error, null for none",
    "quorum-replica": "kafka-metadata-quorum: log_end_offset of `broker` in __cluster_metadata, count its lag; reason is leader, follower or observer",
    "offset-told": "kafka-get-offsets: offset of a partition; latest is the high watermark, earliest the log start offset",
    "load-metric": "a metric of `broker` from a file of load metrics: key its name, value the number",
    "describe-partition": "partition line of kafka-topics --describe",
    "describe-topic": "topic line of kafka-topics --describe",
    # the JVM
    "jvm-pause": "all threads of a process stood still from `time` for duration_ms; reason is full, young, mixed, initial-mark, remark, cleanup, degenerated, safepoint, allocation-stall or other, value what the JVM called it",
    # about the evidence
    "source": "what a source is; one per source",
    "problem": "something that could not be read; reason is a short word, text says what",
}


@dataclass(frozen=True, slots=True)
class Member:
    """One file of the evidence, whatever container it lies in."""

    path: str
    """Path inside the evidence, '/' between containers and their members."""
    size: int | None
    """Bytes after decompression where the container says so."""
    modified: datetime | None
    """Modification time, UTC, naive; null where the container keeps none."""


def problem(reason: str, text: str, *, line: int | None = None, byte: int | None = None) -> Row:
    """A row that says what could not be read; the reading goes on."""
    return {"event": "problem", "reason": reason, "text": text[:MAX_TEXT], "line": line, "byte": byte}


def batches(told: Iterable[Told], size: int = 4096) -> Iterator[pa.RecordBatch]:
    """Events as record batches of EVENTS, at most `size` rows each, and few of them smaller."""
    rows: list[Row] = []
    waiting: list[pa.RecordBatch] = []
    count = 0
    for one in told:
        if isinstance(one, pa.RecordBatch):
            waiting += [*_batch(rows), one]
            rows = []
            count += len(one)
        else:
            rows.append(one)
            count += 1
        if count >= size:
            yield from _joined([*waiting, *_batch(rows)], size)
            rows, waiting, count = [], [], 0
    yield from _joined([*waiting, *_batch(rows)], size)


def _batch(rows: list[Row]) -> list[pa.RecordBatch]:
    return [pa.RecordBatch.from_pylist(rows, schema=EVENTS)] if rows else []


def _joined(found: list[pa.RecordBatch], size: int) -> list[pa.RecordBatch]:
    whole = pa.Table.from_batches(found, schema=EVENTS)
    joined: list[pa.RecordBatch] = (whole.combine_chunks() if len(found) > 1 else whole).to_batches(max_chunksize=size)
    return joined
