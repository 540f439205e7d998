"""Logs on disk: start-up and recovery, creation and deletion, segments, log start, producer state, loaded HW.

Here: kafka.log.{LogManager,Log,UnifiedLog,LocalLog,LogLoader,LogSegment} and ProducerStateManager, and the HW that a Partition
takes from its checkpoint. Not here: truncation by replication (truncation), directories that fail (log_dirs).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from parsers.patterns.pattern import NAME, SETTING, TOPIC, TP, WITHIN, Pattern, Sample, column
from parsers.schemas import Row

_LOG = (
    rf"Log\(dir={WITHIN}{NAME}?(?:-(?P<reason>future))?, (?:topicId=(?:(?P<topic_id>[\w-]{{22}})|None|Some\([\w-]*\)), "
    rf")?topic=(?P<topic>{TOPIC}), partition=(?P<partition>\d+), "
    r"highWatermark=-?\d+, lastStableOffset=-?\d+, logStartOffset=(?P<log_start_offset>-?\d+), logEndOffset=(?P<log_end_offset>-?\d+)\)"
)
"""Log.toString since 2.4. Its highWatermark is the log start offset at load, not the checkpointed HW, so it is left out."""
_REASONS = {
    "local log": "tiered",
    "log truncation": "truncation",
    "log roll": "roll",
    "log recovery": "recovery",
    "retention time": "retention-time",
    "retention size": "retention-size",
    "log start offset": "log-start",
}
_MOVES = {
    "client delete records request": "delete-records",
    "segment deletion": "retention",
    "leader offset increment": "leader",
    "snapshot generated": "snapshot",
}
CLEANUP_POLICY = "cleanup.policy"


def _reason(row: Row) -> Iterator[Row]:
    """Why segments are deleted, as one short word."""
    words = row["_groups"]["_why"]
    row["reason"] = next((short for long, short in _REASONS.items() if long in words), "deletion")
    yield row


def _with_policy(row: Row) -> Iterator[Row]:
    """The row with cleanup.policy. Up to 2.4 the line has all settings of the topic with the broker's as defaults, later only the topic's."""
    properties = row["_groups"]["_properties"]
    if properties is not None:
        row["key"] = CLEANUP_POLICY
        row["value"] = _policy(properties)
    yield row


@lru_cache(maxsize=1 << 10)
def _policy(properties: str) -> str | None:
    """Logs of one topic have the same settings."""
    return next((s["value"] for s in SETTING.finditer(properties) if s["key"] == CLEANUP_POLICY), None)


def log_start_moved(row: Row) -> Iterator[Row]:
    """The row with the reason (LogStartOffsetIncrementReason) as a short word."""
    yield {**row, "reason": _MOVES.get(row.get("reason", ""), row.get("reason"))}


def _recovered(row: Row) -> Iterator[Row]:
    """`<done>/<total>` (3.3..3.9); 4.0 prints the quotient of the two instead."""
    if row["_groups"]["_total"]:
        row["count"] = column("count", row["_groups"]["_total"])
    yield row


PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="clean-shutdown-found",
        event="clean-start",
        literal="lean shutdown file",
        regex=r"(?:Found clean shutdown file\. Skipping recovery for all logs in data directory(?:: (?P<directory>.*)| '(?P<directory>.*)')|"
        r"Skipping recovery (?:for all|of (?P<count>\d+)) logs (?:in|from) (?P<directory>.*) since clean shutdown file was found)",
        versions=("0.8.1", "4.4"),
        samples=(
            Sample(
                line="[2014-04-14 12:00:00,123] INFO Found clean shutdown file. Skipping recovery for all logs in data directory "
                "'/data' (kafka.log.LogManager)",
                fields={"directory": "/data"},
                origin="source: 0.8.1 LogManager",
            ),
            Sample(
                line="[2026-11-21 02:01:03,186] INFO Skipping recovery for all logs in /var/lib/kafka/broker-1/data since "
                "clean shutdown file was found (kafka.log.LogManager)",
                fields={"directory": "/var/lib/kafka/broker-1/data"},
                origin="real: rolling-restart-2.8.2-zk",
            ),
            Sample(
                line="[2026-11-21 02:01:56,031] INFO Skipping recovery of 3 logs from /var/lib/kafka/broker-1/data since "
                "clean shutdown file was found (kafka.log.LogManager)",
                fields={"directory": "/var/lib/kafka/broker-1/data", "count": 3},
                origin="real: rolling-restart-3.9.1-kraft",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] DEBUG Found clean shutdown file. Skipping recovery for all logs in data "
                "directory: /data (kafka.log.LogManager)",
                fields={"directory": "/data"},
                origin="source: 2.0 LogManager",
            ),
        ),
        note="DEBUG from 0.8.2 to 2.5, so such a broker does not print it by default.",
    ),
    Pattern(
        name="clean-shutdown-missing",
        event="unclean-start",
        literal=" since no clean shutdown file was found",
        regex=r"(?:Attempting recovery for all|Recovering (?P<count>\d+)) logs (?:in|from) (?P<directory>.*) since no clean "
        r"shutdown file was found",
        versions=("2.6", "4.4"),
        samples=(
            Sample(
                line="[2026-11-21 01:58:09,055] INFO Attempting recovery for all logs in /var/lib/kafka/broker-1/data "
                "since no clean shutdown file was found (kafka.log.LogManager)",
                fields={"directory": "/var/lib/kafka/broker-1/data"},
                origin="real: acks1-failover-2.8.2-zk",
            ),
            Sample(
                line="[2026-11-21 01:58:50,591] INFO Recovering 1 logs from /var/lib/kafka/broker-2/data since no clean "
                "shutdown file was found (kafka.log.LogManager)",
                fields={"count": 1, "directory": "/var/lib/kafka/broker-2/data"},
                origin="real: acks1-failover-3.9.1-kraft",
            ),
        ),
        note="2.6..3.4 print it for a new, empty directory too.",
    ),
    Pattern(
        name="directory-empty",
        event="unclean-start",
        literal="No logs found to be loaded in ",
        regex=r"No logs found to be loaded in (?P<directory>.*)",
        versions=("3.5", "4.4"),
        fixed={"count": 0},
        samples=(
            Sample(
                line="[2026-11-21 01:58:37,622] INFO No logs found to be loaded in /var/lib/kafka/broker-1/data (kafka.log.LogManager)",
                fields={"directory": "/var/lib/kafka/broker-1/data", "count": 0},
                origin="real: acks1-failover-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="log-loaded",
        event="log-load",
        literal="Completed load of Log(",
        regex=rf"Completed load of {_LOG} with (?P<count>\d+) segments(?:, local-log-start-offset -?\d+ and log-end-offset "
        rf"-?\d+)? in \d+ms "
        r"\(\d+/\d+ (?:loaded|completed) in .*\)",
        versions=("2.6", "4.4"),
        samples=(
            Sample(
                line="[2026-11-21 02:02:03,759] INFO Completed load of Log(dir=/var/lib/kafka/broker-2/data/audit-0, "
                "topicId=0Vr1r_F2R-KtSGNhHPO65A, topic=audit, partition=0, highWatermark=0, lastStableOffset=0, "
                "logStartOffset=0, logEndOffset=0) with 1 segments, local-log-start-offset 0 and log-end-offset 0 in "
                "6ms (2/4 completed in /var/lib/kafka/broker-2/data) (kafka.log.LogManager)",
                fields={
                    "directory": "/var/lib/kafka/broker-2/data",
                    "topic": "audit",
                    "partition": 0,
                    "log_start_offset": 0,
                    "log_end_offset": 0,
                    "count": 1,
                },
                origin="real: rolling-restart-3.9.1-kraft",
            ),
            Sample(
                line="[2024-05-01 12:00:00,123] INFO Completed load of Log(dir=C:\\Kafka (old)\\kafka-logs\\audit-0, "
                "topic=audit, partition=0, highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset=0) "
                "with 1 segments in 8ms (2/4 loaded in C:\\Kafka (old)\\kafka-logs) (kafka.log.LogManager)",
                fields={"directory": "C:\\Kafka (old)\\kafka-logs", "topic": "audit", "partition": 0},
                origin="source: 2.8 LogManager",
            ),
            Sample(
                line="[2026-11-21 02:01:11,229] INFO Completed load of Log(dir=/var/lib/kafka/broker-2/data/audit-0, "
                "topic=audit, partition=0, highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset=0) "
                "with 1 segments in 8ms (2/4 loaded in /var/lib/kafka/broker-2/data) (kafka.log.LogManager)",
                fields={
                    "directory": "/var/lib/kafka/broker-2/data",
                    "topic": "audit",
                    "partition": 0,
                    "log_start_offset": 0,
                    "log_end_offset": 0,
                    "count": 1,
                },
                origin="real: rolling-restart-2.8.2-zk",
            ),
        ),
    ),
    Pattern(
        name="log-loaded-1.0",
        event="log-load",
        literal="Completed load of log ",
        regex=rf"Completed load of log (?:{TP} )?with (?:(?P<count>\d+) (?:log )?segments(?:, log start offset "
        rf"(?P<log_start_offset>-?\d+))? and )?"
        r"log end offset (?P<log_end_offset>-?\d+)(?: in \d+ ms)?",
        versions=("0.8.2", "2.5"),
        samples=(
            Sample(
                line="[2026-11-21 03:01:20,493] INFO Completed load of log orders-0 with 1 log segments and log end "
                "offset 0 in 1 ms (kafka.log.Log)",
                fields={"topic": "orders", "partition": 0, "count": 1, "log_end_offset": 0},
                origin="real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                line="[2026-11-21 02:21:45,668] INFO [Log partition=other-0, dir=/var/lib/kafka/broker-2/data] Completed "
                "load of log with 1 segments, log start offset 0 and log end offset 0 in 2 ms (kafka.log.Log)",
                fields={
                    "topic": "other",
                    "partition": 0,
                    "directory": "/var/lib/kafka/broker-2/data",
                    "count": 1,
                    "log_start_offset": 0,
                    "log_end_offset": 0,
                },
                origin="real: isr-flapping-2.4.1-zk",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO Completed load of log orders-0 with log end offset 300 (kafka.log.Log)",
                fields={"topic": "orders", "partition": 0, "log_end_offset": 300},
                origin="source: 0.8.2 Log",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO Completed load of log orders-0 with 2 log segments, log start offset "
                "100 and log end offset 300 in 12 ms (kafka.log.Log)",
                fields={"topic": "orders", "partition": 0, "count": 2, "log_start_offset": 100, "log_end_offset": 300},
                origin="source: 0.11.0 Log",
            ),
        ),
        note="Also printed for a new log.",
    ),
    Pattern(
        name="segment-recovering",
        event="log-recovery",
        literal="Recovering unflushed segment ",
        regex=rf"Recovering unflushed segment (?P<offset>\d+)(?: in log {TP}\.|\. (?:\d+/(?P<_total>\d+)|\d+) recovered for {TP}\.)?",
        versions=("0.8.2", "4.4"),
        explode=_recovered,
        samples=(
            Sample(
                line="[2026-11-21 03:01:46,222] INFO Recovering unflushed segment 0 in log ledger-2. (kafka.log.Log)",
                fields={"offset": 0, "topic": "ledger", "partition": 2},
                origin="real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                line="[2026-11-21 03:05:11,624] INFO [Log partition=calm-0, dir=/var/lib/kafka/broker-1/data] Recovering "
                "unflushed segment 0 (kafka.log.Log)",
                fields={"topic": "calm", "partition": 0, "directory": "/var/lib/kafka/broker-1/data", "offset": 0},
                origin="real: last-replica-standing-2.8.2-zk",
            ),
            Sample(
                line="[2026-11-21 03:06:28,675] INFO [LogLoader partition=calm-0, dir=/var/lib/kafka/broker-1/data] "
                "Recovering unflushed segment 0. 0/1 recovered for calm-0. (kafka.log.LogLoader)",
                fields={"topic": "calm", "partition": 0, "directory": "/var/lib/kafka/broker-1/data", "offset": 0, "count": 1},
                origin="real: last-replica-standing-3.9.1-kraft",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [LogLoader partition=orders-0, dir=/data] Recovering unflushed "
                "segment 100. 0 recovered for orders-0. (org.apache.kafka.storage.internals.log.LogLoader)",
                fields={"topic": "orders", "partition": 0, "directory": "/data", "offset": 100},
                origin="source: 4.0 LogLoader",
            ),
        ),
        note="For __cluster_metadata-0 printed at every start, even after a clean stop.",
    ),
    Pattern(
        name="segment-corrupt",
        event="log-corruption",
        literal="Corruption found in segment ",
        regex=rf"Corruption found in segment (?P<previous_offset>\d+)(?: of log {TP})?, truncating to offset "
        rf"(?P<offset>(?P<log_end_offset>\d+))\.?",
        versions=("0.8.2", "4.4"),
        fixed={"reason": "segment"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [Log partition=orders-0, dir=/data] Corruption found in segment 100, "
                "truncating to offset 180 (kafka.log.Log)",
                fields={
                    "topic": "orders",
                    "partition": 0,
                    "directory": "/data",
                    "previous_offset": 100,
                    "offset": 180,
                    "log_end_offset": 180,
                    "reason": "segment",
                },
                origin="source: 2.8 Log",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] WARN Corruption found in segment 100 of log orders-0, truncating to "
                "offset 180. (kafka.log.Log)",
                fields={
                    "previous_offset": 100,
                    "topic": "orders",
                    "partition": 0,
                    "offset": 180,
                    "log_end_offset": 180,
                    "reason": "segment",
                },
                origin="source: 0.9.0 Log",
            ),
        ),
        note="The log ends at offset afterwards; previous_offset is the base of the segment.",
    ),
    Pattern(
        name="segment-offset-invalid",
        event="log-corruption",
        literal="Found invalid offset during recovery",
        regex=rf"Found invalid offset during recovery(?: for log {TP})?\. Deleting the corrupt segment and creating an empty one with "
        r"starting offset (?P<offset>(?P<log_end_offset>\d+))",
        versions=("0.8.2", "4.4"),
        fixed={"reason": "invalid-offset"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [Log partition=orders-0, dir=/data] Found invalid offset during "
                "recovery. Deleting the corrupt segment and creating an empty one with starting offset 100 "
                "(kafka.log.Log)",
                fields={
                    "topic": "orders",
                    "partition": 0,
                    "directory": "/data",
                    "offset": 100,
                    "log_end_offset": 100,
                    "reason": "invalid-offset",
                },
                origin="source: 2.8 Log",
            ),
        ),
    ),
    Pattern(
        name="segment-bytes-invalid",
        event="log-corruption",
        literal="Found invalid messages in log segment ",
        regex=rf"Found invalid messages in log segment (?P<value>{WITHIN}(?P<topic>{TOPIC})-(?P<partition>\d+)[/\\]{NAME}|"
        rf".*?) at byte offset \d+(?:\.|: .*)",
        versions=("0.8.2", "4.4"),
        fixed={"reason": "invalid-bytes"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN Found invalid messages in log segment "
                "/data/orders-0/00000000000000000000.log at byte offset 4711: Record is corrupt (stored crc = 1, "
                "computed crc = 2). null (kafka.log.LogSegment)",
                fields={
                    "value": "/data/orders-0/00000000000000000000.log",
                    "directory": "/data",
                    "topic": "orders",
                    "partition": 0,
                    "reason": "invalid-bytes",
                },
                origin="source: 2.8 LogSegment",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] WARN Found invalid messages in log segment "
                "/data/orders-0/00000000000000000000.log at byte offset 4711. "
                "(org.apache.kafka.storage.internals.log.LogSegment)",
                fields={
                    "value": "/data/orders-0/00000000000000000000.log",
                    "directory": "/data",
                    "topic": "orders",
                    "partition": 0,
                    "reason": "invalid-bytes",
                },
                origin="source: 3.7 LogSegment",
            ),
        ),
    ),
    Pattern(
        name="log-dropped-below-start",
        event="log-corruption",
        literal="Deleting all segments because logEndOffset (",
        regex=r"Deleting all segments because logEndOffset \((?P<previous_offset>-?\d+)\) (?:is )?smaller than logStartOffset "
        r"\(?(?P<offset>-?\d+)\)?\. "
        r"This could happen if segment files were deleted from the file system\.",
        versions=("2.2", "4.4"),
        fixed={"reason": "end-below-start"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [Log partition=orders-0, dir=/data] Deleting all segments because "
                "logEndOffset (0) is smaller than logStartOffset (300). This could happen if segment files were "
                "deleted from the file system. (kafka.log.Log)",
                fields={
                    "topic": "orders",
                    "partition": 0,
                    "directory": "/data",
                    "previous_offset": 0,
                    "offset": 300,
                    "reason": "end-below-start",
                },
                origin="source: 2.8 Log",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] WARN [LogLoader partition=orders-0, dir=/data] Deleting all segments "
                "because logEndOffset (0) smaller than logStartOffset 300. This could happen if segment files were "
                "deleted from the file system. (kafka.log.LogLoader$)",
                fields={
                    "topic": "orders",
                    "partition": 0,
                    "directory": "/data",
                    "previous_offset": 0,
                    "offset": 300,
                    "reason": "end-below-start",
                },
                origin="source: 3.0 LogLoader",
            ),
        ),
    ),
    Pattern(
        name="checkpoint-unreadable",
        event="log-corruption",
        literal=" while reading ",
        regex=r"Error occur?red while reading (?P<value>recovery-point-offset-checkpoint|log-start-offset-checkpoint) file of "
        r"directory "
        r"(?P<directory>.*?)(?:, resetting (?:the recovery checkpoint to 0|to the base offset of the first segment))?",
        versions=("0.9.0", "4.4"),
        fixed={"reason": "checkpoint"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN Error occurred while reading recovery-point-offset-checkpoint file "
                "of directory /data, resetting the recovery checkpoint to 0 (kafka.log.LogManager)",
                fields={"value": "recovery-point-offset-checkpoint", "directory": "/data", "reason": "checkpoint"},
                origin="source: 2.8 LogManager",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] WARN Error occured while reading recovery-point-offset-checkpoint file of "
                "directory /data (kafka.log.LogManager)",
                fields={"value": "recovery-point-offset-checkpoint", "directory": "/data", "reason": "checkpoint"},
                origin="source: 0.9.0 LogManager",
            ),
        ),
    ),
    Pattern(
        name="hw-checkpoint-missing",
        event="hw-missing",
        literal="No checkpointed highwatermark is found for partition ",
        regex=rf"No checkpointed highwatermark is found for partition {TP}",
        versions=("0.8.2", "4.4"),
        samples=(
            Sample(
                line="[2026-11-21 01:53:12,792] INFO [Partition orders-0 broker=1] No checkpointed highwatermark is found "
                "for partition orders-0 (kafka.cluster.Partition)",
                fields={"topic": "orders", "partition": 0, "node": 1},
                origin="real: unclean-election-2.8.2-zk",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO Partition [orders,0] on broker 1: No checkpointed highwatermark is "
                "found for partition [orders,0] (kafka.cluster.Partition)",
                fields={"topic": "orders", "partition": 0, "node": 1},
                origin="source: 0.9.0 Partition",
            ),
        ),
    ),
    Pattern(
        name="hw-initial",
        event="hw-loaded",
        literal="Log loaded for partition ",
        regex=rf"Log loaded for partition {TP} with initial high watermark (?P<high_watermark>-?\d+)",
        versions=("2.4", "4.4"),
        samples=(
            Sample(
                line="[2026-11-21 02:33:45,883] INFO [Partition fast-3 broker=1] Log loaded for partition fast-3 with "
                "initial high watermark 40 (kafka.cluster.Partition)",
                fields={"topic": "fast", "partition": 3, "node": 1, "high_watermark": 40},
                origin="real: mixed-fleet-3.5.2-zk",
            ),
            Sample(
                line="[2026-11-21 02:02:40,176] INFO [Partition profile-0 broker=1] Log loaded for partition profile-0 "
                "with initial high watermark 0 (kafka.cluster.Partition)",
                fields={"topic": "profile", "partition": 0, "node": 1, "high_watermark": 0},
                origin="real: reassignment-2.8.2-zk",
            ),
        ),
    ),
    Pattern(
        name="hw-initial-of-replica",
        event="hw-loaded",
        literal="Replica loaded for partition ",
        regex=rf"Replica loaded for partition {TP} with initial high watermark (?P<high_watermark>[1-9]\d*)",
        versions=("0.11.0", "2.3"),
        samples=(
            Sample(
                line="[2026-11-21 02:25:28,030] INFO Replica loaded for partition clicks-0 with initial high watermark "
                "300 (kafka.cluster.Replica)",
                fields={"topic": "clicks", "partition": 0, "high_watermark": 300},
                origin="real: acks1-failover-1.1.1-zk",
            ),
        ),
    ),
    Pattern(
        name="log-created",
        event="log-created",
        literal="Created log for partition ",
        regex=rf"Created log for partition {TP} in (?P<directory>.*?)(?:[/\\](?P=topic)-(?P=partition)(?:\.\w+-(?P<reason>future))?)?"
        r"(?: with properties \{(?P<_properties>.*)\}\.?|\.)",
        versions=("0.8.0", "4.4"),
        explode=_with_policy,
        samples=(
            Sample(
                line="[2014-01-14 12:00:00,123] INFO [Log Manager on Broker 1] Created log for partition [orders,0] in /data. "
                "(kafka.log.LogManager)",
                fields={"node": 1, "topic": "orders", "partition": 0, "directory": "/data", "key": None},
                origin="source: 0.8.0 LogManager",
            ),
            Sample(
                line="[2024-05-01 12:00:00,123] INFO Created log for partition a-b-0 in D:\\Kafka (old)\\data-1\\a-b-0 with properties "
                "{min.insync.replicas=2} (kafka.log.LogManager)",
                fields={"topic": "a-b", "partition": 0, "directory": "D:\\Kafka (old)\\data-1"},
                origin="source: 2.8 LogManager",
            ),
            Sample(
                line="[2026-11-21 03:01:20,515] INFO Created log for partition [orders,0] in /var/lib/kafka/broker-1/data "
                "with properties {compression.type -> producer, message.format.version -> 0.10.2-IV0, "
                "file.delete.delay.ms -> 60000, max.message.bytes -> 1000012, min.compaction.lag.ms -> 0, "
                "message.timestamp.type -> CreateTime, min.insync.replicas -> 1, preallocate -> false, "
                "segment.jitter.ms -> 0, index.interval.bytes -> 4096, min.cleanable.dirty.ratio -> 0.5, "
                "unclean.leader.election.enable -> true, delete.retention.ms -> 86400000, retention.bytes -> -1, "
                "cleanup.policy -> [delete], flush.ms -> 9223372036854775807, segment.bytes -> 262144, retention.ms "
                "-> 604800000, segment.ms -> 604800000, message.timestamp.difference.max.ms -> 9223372036854775807, "
                "segment.index.bytes -> 10485760, flush.messages -> 9223372036854775807}. (kafka.log.LogManager)",
                fields={
                    "topic": "orders",
                    "partition": 0,
                    "directory": "/var/lib/kafka/broker-1/data",
                    "key": "cleanup.policy",
                    "value": "[delete]",
                },
                origin="real: unclean-election-0.10.2.2-zk",
            ),
            Sample(
                line="[2024-05-01 12:00:00,123] INFO Created log for partition a-0 in /data with properties {cleanup.policy -> [compact, delete],"
                " min.compaction.lag.ms -> 0}. (kafka.log.LogManager)",
                fields={"topic": "a", "partition": 0, "key": "cleanup.policy", "value": "[compact, delete]"},
                origin="source: 1.1 LogManager",
            ),
            Sample(
                line="[2024-05-01 12:00:00,123] INFO Created log for partition a-0 in /data/a-0 with properties {cleanup.policy=compact,delete,"
                " retention.ms=-1} (kafka.log.LogManager)",
                fields={"topic": "a", "partition": 0, "key": "cleanup.policy", "value": "compact,delete"},
                origin="source: 2.8 LogManager",
            ),
            Sample(
                line="[2026-11-21 02:02:40,174] INFO Created log for partition profile-0 in "
                "/var/lib/kafka/broker-1/data/profile-0 with properties {min.insync.replicas=2} "
                "(kafka.log.LogManager)",
                fields={
                    "topic": "profile",
                    "partition": 0,
                    "directory": "/var/lib/kafka/broker-1/data",
                    "key": "cleanup.policy",
                    "value": None,
                },
                origin="real: reassignment-2.8.2-zk",
            ),
            Sample(
                line="[2026-11-21 01:58:12,251] INFO Created log for partition clicks-0 in "
                "/var/lib/kafka/broker-1/data/clicks-0 with properties {min.insync.replicas=1} (kafka.log.LogManager)",
                fields={"topic": "clicks", "partition": 0, "directory": "/var/lib/kafka/broker-1/data"},
                origin="real: acks1-failover-2.8.2-zk",
            ),
        ),
        note="2.8 and later print the replica's directory, earlier versions the log directory. A future log is the copy made by a move "
        "between log directories (KIP-113); the replica continues in its old directory meanwhile.",
    ),
    Pattern(
        name="log-moved",
        event="log-moved",
        literal=" future ",
        regex=rf"(?:The current replica is successfully replaced with the future replica|Successfully recovered abandoned future log) for {TP}",
        versions=("1.1", "4.4"),
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] INFO The current replica is successfully replaced with the future replica for orders-0 "
                "(kafka.log.LogManager)",
                fields={"topic": "orders", "partition": 0},
                origin="source: 2.8 LogManager",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO Successfully recovered abandoned future log for orders-0 (kafka.log.LogManager)",
                fields={"topic": "orders", "partition": 0},
                origin="source: 3.7 LogManager",
            ),
        ),
    ),
    Pattern(
        name="log-renamed-for-deletion",
        event="log-deleted",
        literal="Log for partition ",
        regex=rf"Log for partition {TP} is (?:renamed to {WITHIN}(?P<value>{NAME}) and is scheduled for deletion|"
        rf"marked as (?P<reason>stray) and renamed to {WITHIN}(?P<value>{NAME}))",
        versions=("0.10.2", "4.4"),
        samples=(
            Sample(
                line="[2026-11-21 02:08:43,520] INFO Log for partition staging-0 is renamed to "
                "/var/lib/kafka/broker-1/data/staging-0.57e231e54e64485c9ac790cf39e67c49-delete and is scheduled for "
                "deletion (kafka.log.LogManager)",
                fields={
                    "topic": "staging",
                    "partition": 0,
                    "directory": "/var/lib/kafka/broker-1/data",
                    "value": "staging-0.57e231e54e64485c9ac790cf39e67c49-delete",
                },
                origin="real: delete-recreate-retention-2.8.2-zk",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] WARN Log for partition orders-0 is marked as stray and renamed to "
                "/data/orders-0.b4af12b8d6c0471a894cf005286f7f56-stray (kafka.log.LogManager)",
                fields={
                    "topic": "orders",
                    "partition": 0,
                    "directory": "/data",
                    "value": "orders-0.b4af12b8d6c0471a894cf005286f7f56-stray",
                    "reason": "stray",
                },
                origin="source: 3.6 LogManager",
            ),
        ),
    ),
    Pattern(
        name="log-marked-stray",
        event="log-deleted",
        literal=" marked stray and renamed to ",
        regex=rf"Log in {WITHIN}(?P<topic>{TOPIC})-(?P<partition>\d+) marked (?P<reason>stray) and renamed to "
        rf".*[/\\](?P<value>{NAME})",
        versions=("3.7", "4.4"),
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] WARN Log in /data/orders-0 marked stray and renamed to "
                "/data/orders-0.b4af12b8d6c0471a894cf005286f7f56-stray (kafka.log.LogManager)",
                fields={
                    "directory": "/data",
                    "topic": "orders",
                    "partition": 0,
                    "reason": "stray",
                    "value": "orders-0.b4af12b8d6c0471a894cf005286f7f56-stray",
                },
                origin="source: 3.7 LogManager",
            ),
        ),
    ),
    Pattern(
        name="segment-rolled",
        event="segment-roll",
        literal="Rolled new log segment ",
        regex=rf"Rolled new log segment (?:at offset (?P<offset>(?P<log_end_offset>\d+))|for '{TP}') in \d+ ms\.",
        versions=("0.8.2", "4.4"),
        samples=(
            Sample(
                line="[2026-11-21 03:31:29,740] INFO [LocalLog partition=catalog-0, dir=/var/lib/kafka/broker-2/data] "
                "Rolled new log segment at offset 1150 in 8 ms. (kafka.log.LocalLog)",
                fields={
                    "topic": "catalog",
                    "partition": 0,
                    "directory": "/var/lib/kafka/broker-2/data",
                    "offset": 1150,
                    "log_end_offset": 1150,
                },
                origin="real: grow-replicas-3.9.1-kraft",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO Rolled new log segment for 'orders-0' in 3 ms. (kafka.log.Log)",
                fields={"topic": "orders", "partition": 0},
                origin="source: 0.11.0 Log",
            ),
        ),
    ),
    Pattern(
        name="segments-expired",
        event="segment-delete",
        literal="Found deletable segments with base offsets [",
        regex=r"Found deletable segments with base offsets \[(?P<offset>\d+)(?:,\d+)*\] due to (?P<_why>.*)",
        versions=("0.11.0", "2.6"),
        explode=_reason,
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [Log partition=orders-0, dir=/data] Found deletable segments with "
                "base offsets [0,100] due to retention time 3600000ms breach (kafka.log.Log)",
                fields={"topic": "orders", "partition": 0, "directory": "/data", "offset": 0, "reason": "retention-time"},
                origin="source: 2.4 Log",
            ),
        ),
    ),
    Pattern(
        name="segment-expired",
        event="segment-delete",
        literal="Deleting segment ",
        regex=r"Deleting segment LogSegment\(baseOffset=(?P<offset>\d+), .*\) due to (?P<_why>(?:local )?(?:log )?retention .* "
        r"breach.*)",
        versions=("2.7", "4.4"),
        explode=_reason,
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [UnifiedLog partition=orders-0, dir=/data] Deleting segment "
                "LogSegment(baseOffset=0, size=1048576, lastModifiedTime=1577836800000, "
                "largestRecordTimestamp=1577836800000) due to log retention time 3600000ms breach based on the "
                "largest record timestamp in the segment (kafka.log.UnifiedLog)",
                fields={"topic": "orders", "partition": 0, "directory": "/data", "offset": 0, "reason": "retention-time"},
                origin="source: 3.9 UnifiedLog",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [Log partition=orders-0, dir=/data] Deleting segment "
                "LogSegment(baseOffset=0, size=1048576, lastModifiedTime=1577836800000, "
                "largestRecordTimestamp=Some(1577836800000)) due to retention size 2097152 breach. Log size after "
                "deletion will be 2000000. (kafka.log.Log)",
                fields={"topic": "orders", "partition": 0, "directory": "/data", "offset": 0, "reason": "retention-size"},
                origin="source: 2.8 Log",
            ),
        ),
    ),
    Pattern(
        name="segments-dropped",
        event="segment-delete",
        literal="Deleting segments ",
        regex=r"Deleting segments (?P<_why>due to (?:local log start offset \d+|log start offset (?P<log_start_offset>\d+)) "
        r"breach|as part of log (?:truncation|roll|recovery)|"
        r"as the log has been deleted): (?:(?:\w*\(|\[)?LogSegment\(baseOffset=(?P<offset>\d+), .*)?",
        versions=("2.7", "4.4"),
        explode=_reason,
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [LocalLog partition=orders-0, dir=/data] Deleting segments as the "
                "log has been deleted: LogSegment(baseOffset=0, size=1048576, lastModifiedTime=1577836800000, "
                "largestRecordTimestamp=1577836800000) (kafka.log.LocalLog)",
                fields={"topic": "orders", "partition": 0, "directory": "/data", "offset": 0, "reason": "deletion"},
                origin="source: 3.9 LocalLog",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [Log partition=orders-0, dir=/data] Deleting segments as part of log "
                "truncation: LogSegment(baseOffset=100, size=1048576, lastModifiedTime=1577836800000, "
                "largestRecordTimestamp=Some(1577836800000)) (kafka.log.Log)",
                fields={"topic": "orders", "partition": 0, "directory": "/data", "offset": 100, "reason": "truncation"},
                origin="source: 2.8 Log",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [Log partition=orders-0, dir=/data] Deleting segments due to log "
                "start offset 200 breach: LogSegment(baseOffset=0, size=1048576, lastModifiedTime=1577836800000, "
                "largestRecordTimestamp=Some(1577836800000)),LogSegment(baseOffset=100, size=1048576, "
                "lastModifiedTime=1577836800000, largestRecordTimestamp=Some(1577836800000)) (kafka.log.Log)",
                fields={
                    "topic": "orders",
                    "partition": 0,
                    "directory": "/data",
                    "log_start_offset": 200,
                    "offset": 0,
                    "reason": "log-start",
                },
                origin="source: 2.8 Log",
            ),
        ),
        note="offset is the base of the first segment.",
    ),
    Pattern(
        name="log-start-moved",
        event="log-start-move",
        literal=" log start offset ",
        regex=rf"Increment(?:ing|ed) log start offset (?:of partition {TP} )?to (?P<offset>(?P<log_start_offset>\d+))"
        r"(?: in dir (?P<directory>.*)| due to (?P<reason>.*))?",
        versions=("0.11.0", "4.4"),
        explode=log_start_moved,
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [Log partition=orders-0, dir=/data] Incremented log start offset to "
                "200 due to segment deletion (kafka.log.Log)",
                fields={
                    "topic": "orders",
                    "partition": 0,
                    "directory": "/data",
                    "offset": 200,
                    "log_start_offset": 200,
                    "reason": "retention",
                },
                origin="source: 2.8 Log",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [Log partition=orders-0, dir=/data] Incrementing log start offset to "
                "200 (kafka.log.Log)",
                fields={"topic": "orders", "partition": 0, "directory": "/data", "offset": 200, "log_start_offset": 200},
                origin="source: 1.1 Log",
            ),
            Sample(
                line="[2020-01-01 00:00:00,000] INFO Incrementing log start offset of partition orders-0 to 200 in dir "
                "/data (kafka.log.Log)",
                fields={"topic": "orders", "partition": 0, "offset": 200, "log_start_offset": 200, "directory": "/data"},
                origin="source: 0.11.0 Log",
            ),
        ),
    ),
    Pattern(
        name="first-append-above-start",
        event="log-start-move",
        literal="Unexpected offset in append to ",
        regex=rf"Unexpected offset in append to {TP}\. First offset (?P<offset>(?P<log_start_offset>\d+)) is less than log "
        rf"start offset (?P<previous_offset>\d+)\. "
        r"Since this is the first record to be appended to the .*'s log, will start the log from offset \d+\.",
        versions=("1.0", "4.4"),
        fixed={"reason": "first append"},
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] INFO [Partition orders-0 broker=1] Unexpected offset in append to "
                "orders-0. First offset 90 is less than log start offset 100. Since this is the first record to be "
                "appended to the follower's log, will start the log from offset 90. (kafka.cluster.Partition)",
                fields={
                    "topic": "orders",
                    "partition": 0,
                    "node": 1,
                    "offset": 90,
                    "log_start_offset": 90,
                    "previous_offset": 100,
                    "reason": "first append",
                },
                origin="source: 2.8 Partition",
            ),
        ),
    ),
    Pattern(
        name="producer-snapshot-written",
        event="producer-snapshot",
        literal=" producer snapshot ",
        regex=rf"(?:Writing|Wrote) producer snapshot (?:for partition {TP} )?at offset (?P<offset>(?P<log_end_offset>\d+))(?: "
        rf"with (?P<count>\d+) producer ids in \d+ ms\.)?",
        versions=("0.11.0", "4.4"),
        samples=(
            Sample(
                line="[2026-11-21 02:25:27,081] INFO [ProducerStateManager partition=clicks-0] Writing producer snapshot "
                "at offset 347 (kafka.log.ProducerStateManager)",
                fields={"topic": "clicks", "partition": 0, "offset": 347, "log_end_offset": 347},
                origin="real: acks1-failover-1.1.1-zk",
            ),
            Sample(
                line="[2026-11-21 03:31:29,722] INFO [ProducerStateManager partition=catalog-0] Wrote producer snapshot "
                "at offset 1150 with 0 producer ids in 0 ms. "
                "(org.apache.kafka.storage.internals.log.ProducerStateManager)",
                fields={"topic": "catalog", "partition": 0, "offset": 1150, "log_end_offset": 1150, "count": 0},
                origin="real: grow-replicas-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="stray-log-of-other-topic",
        event="topic-id-mismatch",
        literal=": this partition now exists with topic ID ",
        regex=rf"Found stray log dir {_LOG}: this partition now exists with topic ID (?P<value>[\w-]{{22}}) not (?P<reason>[\w-]{{22}})\.",
        versions=("3.6", "3.9"),
        samples=(
            Sample(
                line="[2020-01-01 00:00:00,000] INFO Found stray log dir Log(dir=/data/orders-0, topicId=_n8nZ4sJR5emhIbMqnlmZA, "
                "topic=orders, partition=0, highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset=300): this partition "
                "now exists with topic ID 8PPfwVtMQ_y0AfH5M2MHcA not _n8nZ4sJR5emhIbMqnlmZA. (kafka.log.LogManager)",
                fields={
                    "directory": "/data",
                    "topic": "orders",
                    "partition": 0,
                    "topic_id": "_n8nZ4sJR5emhIbMqnlmZA",
                    "value": "8PPfwVtMQ_y0AfH5M2MHcA",
                    "reason": "_n8nZ4sJR5emhIbMqnlmZA",
                    "log_end_offset": 300,
                },
                origin="source: 3.9 LogManager",
            ),
        ),
        note="The topic was deleted and created again while the broker was down; the log that is set aside is that of the old topic.",
    ),
)
