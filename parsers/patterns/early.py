"""Lines of Kafka 0.8.0 and 0.8.1 that 0.8.2 changed, and of the next versions that were changed soon after.

Here: their logs, fetchers, high watermarks and state changes. Not here: lines that stayed the same, or nearly so (the module of
their component).
"""

from __future__ import annotations

from parsers.patterns.pattern import TOPIC, TP, WITHIN, Pattern, Sample

_LOG = ("kafka.log.Log",)
_MANAGER = ("kafka.server.ReplicaFetcherManager",)
_CHECKPOINT = ("kafka.server.HighwaterMarkCheckpoint",)
_STATE_CHANGE = ("state.change.logger",)
_BEFORE_081 = ("0.8.0", "0.8.0")
_BEFORE_082 = ("0.8.0", "0.8.1")
_SEGMENT = rf"{WITHIN}(?P<topic>{TOPIC})-(?P<partition>\d+)[/\\]"
_REQUEST = r"with correlation id \d+ from controller (?P<controller>-?\d+) epoch (?P<controller_epoch>-?\d+)"

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="early-truncated",
        event="truncation",
        literal="Truncated log segment ",
        regex=rf"Truncated log segment {_SEGMENT}\d+\.log to target offset (?P<offset>(?P<log_end_offset>\d+))",
        versions=_BEFORE_081,
        loggers=_LOG,
        samples=(
            Sample(
                "[2014-01-14 12:00:00,123] INFO [Kafka Log on Broker 1], Truncated log segment /data/orders-0/00000000000000000100.log to"
                " target offset 180 (kafka.log.Log)",
                {"node": 1, "directory": "/data", "topic": "orders", "partition": 0, "offset": 180, "log_end_offset": 180},
                "source: 0.8.0 Log",
            ),
        ),
    ),
    Pattern(
        name="early-recovering",
        event="log-recovery",
        literal="Recovering log segment ",
        regex=rf"Recovering log segment {_SEGMENT}(?P<offset>\d{{1,20}})\.log",
        versions=_BEFORE_081,
        loggers=_LOG,
        samples=(
            Sample(
                "[2014-01-14 12:00:00,123] INFO [Kafka Log on Broker 1], Recovering log segment /data/orders-0/00000000000000000100.log"
                " (kafka.log.Log)",
                {"node": 1, "directory": "/data", "topic": "orders", "partition": 0, "offset": 100},
                "source: 0.8.0 Log",
            ),
        ),
        note="Only the active segment of each log is recovered.",
    ),
    Pattern(
        name="early-bytes-invalid",
        event="log-corruption",
        literal=" invalid bytes from the log ",
        regex=rf"Truncated (?P<bytes>\d+) invalid bytes from the log {TP}\.",
        versions=_BEFORE_081,
        loggers=_LOG,
        fixed={"reason": "invalid-bytes"},
        samples=(
            Sample(
                "[2014-01-14 12:00:00,123] WARN [Kafka Log on Broker 1], Truncated 30 invalid bytes from the log orders-0. (kafka.log.Log)",
                {"node": 1, "topic": "orders", "partition": 0, "bytes": 30, "reason": "invalid-bytes"},
                "source: 0.8.0 Log",
            ),
        ),
    ),
    Pattern(
        name="early-offset-invalid",
        event="log-corruption",
        literal="Found invalid offset during recovery of the active segment for topic partition ",
        regex=rf"Found invalid offset during recovery of the active segment for topic partition {TP}\. Deleting the segment and creating"
        r" an empty one with starting offset (?P<offset>(?P<log_end_offset>\d+))",
        versions=_BEFORE_081,
        loggers=_LOG,
        fixed={"reason": "invalid-offset"},
        samples=(
            Sample(
                "[2014-01-14 12:00:00,123] WARN [Kafka Log on Broker 1], Found invalid offset during recovery of the active segment for"
                " topic partition orders-0. Deleting the segment and creating an empty one with starting offset 100 (kafka.log.Log)",
                {"node": 1, "topic": "orders", "partition": 0, "offset": 100, "log_end_offset": 100, "reason": "invalid-offset"},
                "source: 0.8.0 Log",
            ),
        ),
    ),
    Pattern(
        name="early-rolled",
        event="segment-roll",
        literal="Rolling log '",
        regex=rf"Rolling log '{TP}' to {WITHIN}(?P=topic)-(?P=partition)[/\\](?P<offset>(?P<log_end_offset>\d+))\.log and .*",
        versions=_BEFORE_081,
        loggers=_LOG,
        samples=(
            Sample(
                "[2014-01-14 12:00:00,123] INFO [Kafka Log on Broker 1], Rolling log 'orders-0' to /data/orders-0/00000000000000000180.log"
                " and /data/orders-0/00000000000000000180.index (kafka.log.Log)",
                {"node": 1, "directory": "/data", "topic": "orders", "partition": 0, "offset": 180, "log_end_offset": 180},
                "source: 0.8.0 Log",
            ),
        ),
    ),
    Pattern(
        name="early-fetcher-added",
        event="fetcher-added",
        literal="Adding fetcher for partition ",
        regex=rf"Adding fetcher for partition {TP}, initOffset (?P<offset>-?\d+) to broker (?P<broker>\d+) with fetcherId \d+",
        versions=_BEFORE_081,
        loggers=_MANAGER,
        fixed={"reason": "own-end"},
        samples=(
            Sample(
                "[2014-01-14 12:00:00,123] INFO [ReplicaFetcherManager on broker 1] Adding fetcher for partition [orders,0], initOffset 180"
                " to broker 2 with fetcherId 0 (kafka.server.ReplicaFetcherManager)",
                {"node": 1, "topic": "orders", "partition": 0, "offset": 180, "broker": 2, "reason": "own-end"},
                "source: 0.8.0 AbstractFetcherManager",
            ),
        ),
    ),
    Pattern(
        name="early-fetcher-removed",
        event="fetcher-removed",
        literal="Removing fetcher for partition ",
        regex=rf"Removing fetcher for partition {TP}",
        versions=_BEFORE_081,
        loggers=_MANAGER,
        samples=(
            Sample(
                "[2014-01-14 12:00:00,123] INFO [ReplicaFetcherManager on broker 1] Removing fetcher for partition [orders,0]"
                " (kafka.server.ReplicaFetcherManager)",
                {"node": 1, "topic": "orders", "partition": 0},
                "source: 0.8.0 AbstractFetcherManager",
            ),
        ),
    ),
    Pattern(
        name="early-hw-missing",
        event="hw-missing",
        literal="Returning 0 as the highwatermark",
        regex=rf"No highwatermark file is found\. Returning 0 as the highwatermark for partition {TP}"
        rf"|No previously checkpointed highwatermark value found for topic (?P<topic>{TOPIC}) partition (?P<partition>\d+)\."
        r" Returning 0 as the highwatermark",
        versions=_BEFORE_081,
        loggers=_CHECKPOINT,
        samples=(
            Sample(
                "[2014-01-14 12:00:00,123] WARN No highwatermark file is found. Returning 0 as the highwatermark for partition [orders,0]"
                " (kafka.server.HighwaterMarkCheckpoint)",
                {"topic": "orders", "partition": 0},
                "source: 0.8.0 HighwaterMarkCheckpoint",
            ),
            Sample(
                "[2014-01-14 12:00:00,123] WARN No previously checkpointed highwatermark value found for topic orders partition 0."
                " Returning 0 as the highwatermark (kafka.server.HighwaterMarkCheckpoint)",
                {"topic": "orders", "partition": 0},
                "source: 0.8.0 HighwaterMarkCheckpoint",
            ),
        ),
    ),
    Pattern(
        name="early-hw-file-unusable",
        event="fatal-error",
        literal="HighwaterMarkCheckpoint)",
        regex=r"Unrecognized version of the highwatermark checkpoint file -?\d+"
        r"|Attempt to swap the new high watermark file with the old one failed",
        versions=_BEFORE_081,
        loggers=_CHECKPOINT,
        fixed={"reason": "disk"},
        samples=(
            Sample(
                "[2014-01-14 12:00:00,123] FATAL Unrecognized version of the highwatermark checkpoint file 7"
                " (kafka.server.HighwaterMarkCheckpoint)",
                {"reason": "disk"},
                "source: 0.8.0 HighwaterMarkCheckpoint",
            ),
            Sample(
                "[2014-01-14 12:00:00,123] FATAL Attempt to swap the new high watermark file with the old one failed"
                " (kafka.server.HighwaterMarkCheckpoint)",
                {"reason": "disk"},
                "source: 0.8.0 HighwaterMarkCheckpoint",
            ),
        ),
        note="The broker then exits.",
    ),
    Pattern(
        name="early-controller-old",
        event="controller-refused",
        literal="received LeaderAndIsr request correlation id ",
        regex=r"received LeaderAndIsr request correlation id \d+ with an old controller epoch \d+\. Latest known controller epoch is \d+",
        versions=_BEFORE_082,
        loggers=_STATE_CHANGE,
        fixed={"mode": "zookeeper"},
        samples=(
            Sample(
                "[2014-01-14 12:00:00,123] WARN Broker 1 received LeaderAndIsr request correlation id 5 with an old controller epoch 3."
                " Latest known controller epoch is 4 (state.change.logger)",
                {"node": 1, "controller_epoch": None},
                "source: 0.8.1 ReplicaManager",
            ),
        ),
        note="0.8.0 swaps epoch and correlation id, so neither becomes a column.",
    ),
    Pattern(
        name="early-leader-epoch-old",
        event="become-refused",
        literal="received invalid LeaderAndIsr request ",
        regex=rf"received invalid LeaderAndIsr request {_REQUEST} with an older leader epoch (?P<leader_epoch>-?\d+) for partition {TP},"
        r" current leader epoch is (?P<previous_leader_epoch>-?\d+)",
        versions=("0.8.1", "0.8.1"),
        loggers=_STATE_CHANGE,
        fixed={"reason": "stale-leader-epoch"},
        samples=(
            Sample(
                "[2014-04-14 12:00:00,123] WARN Broker 1 received invalid LeaderAndIsr request with correlation id 9 from controller 2"
                " epoch 4 with an older leader epoch 6 for partition [orders,0], current leader epoch is 7 (state.change.logger)",
                {
                    "node": 1,
                    "controller": 2,
                    "controller_epoch": 4,
                    "topic": "orders",
                    "partition": 0,
                    "leader_epoch": 6,
                    "previous_leader_epoch": 7,
                    "reason": "stale-leader-epoch",
                },
                "source: 0.8.1 ReplicaManager",
            ),
        ),
    ),
    Pattern(
        name="early-not-a-replica",
        event="become-refused",
        literal=" as broker is not in assigned replica list ",
        regex=rf"ignoring LeaderAndIsr request {_REQUEST} as broker is not in assigned replica list (?P<replicas>[\d, ]*) for partition {TP}",
        versions=("0.8.1", "0.8.1"),
        loggers=_STATE_CHANGE,
        fixed={"reason": "not-a-replica"},
        samples=(
            Sample(
                "[2014-04-14 12:00:00,123] WARN Broker 1 ignoring LeaderAndIsr request with correlation id 5 from controller 2 epoch 4 as"
                " broker is not in assigned replica list 2,3 for partition [orders,0] (state.change.logger)",
                {"node": 1, "controller": 2, "controller_epoch": 4, "replicas": [2, 3], "topic": "orders", "partition": 0},
                "source: 0.8.1 ReplicaManager",
            ),
        ),
    ),
    Pattern(
        name="early-leader-unavailable",
        event="become-refused",
        literal="aborted the become-follower state change ",
        regex=rf"aborted the become-follower state change {_REQUEST} for partition {TP} new leader (?P<leader>-?\d+)",
        versions=_BEFORE_082,
        loggers=_STATE_CHANGE,
        fixed={"reason": "leader-unavailable"},
        samples=(
            Sample(
                "[2014-01-14 12:00:00,123] ERROR Broker 1 aborted the become-follower state change with correlation id 5 from controller 2"
                " epoch 4 for partition [orders,0] new leader 3 (state.change.logger)",
                {"node": 1, "controller": 2, "controller_epoch": 4, "topic": "orders", "partition": 0, "leader": 3},
                "source: 0.8.0 Partition",
            ),
        ),
    ),
)
