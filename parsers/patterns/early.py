"""What Kafka 0.8.0 and 0.8.1 print in words that 0.8.2 changed, and the next few versions in words that were soon given up.

Here: their logs, fetchers, high watermarks and state changes. Not here: lines that kept their words, or nearly so (the module of
their component).
"""

from __future__ import annotations

from parsers.patterns.pattern import TOPIC, TP, WITHIN, Pattern, Sample, Statement, recognised

_LOG = ("kafka.log.Log",)
_LOG_MANAGER = ("kafka.log.LogManager",)
_MANAGER = ("kafka.server.ReplicaFetcherManager",)
_CHECKPOINT = ("kafka.server.HighwaterMarkCheckpoint",)
_STATE_CHANGE = ("state.change.logger",)
_REPLICA_MANAGER = ("kafka.server.ReplicaManager",)
_CONTROLLER = ("kafka.controller.KafkaController",)
_REPLICAS = ("kafka.controller.ReplicaStateMachine",)
_BEFORE_081 = ("0.8.0", "0.8.0")
_BEFORE_082 = ("0.8.0", "0.8.1")
_SEGMENT = rf"{WITHIN}(?P<topic>{TOPIC})-(?P<partition>\d+)[/\\]"
_REQUEST = r"with correlation id \d+ from controller (?P<controller>-?\d+) epoch (?P<controller_epoch>-?\d+)"

_EVENTS: tuple[Pattern, ...] = (
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
        note="Of each log only the active segment.",
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
        samples=(
            Sample(
                "[2014-01-14 12:00:00,123] INFO [ReplicaFetcherManager on broker 1] Adding fetcher for partition [orders,0], initOffset 180"
                " to broker 2 with fetcherId 0 (kafka.server.ReplicaFetcherManager)",
                {"node": 1, "topic": "orders", "partition": 0, "offset": 180, "broker": 2},
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
        note="The broker exits.",
    ),
    Pattern(
        name="early-controller-old",
        event="controller-refused",
        literal="received LeaderAndIsr request correlation id ",
        regex=r"received LeaderAndIsr request correlation id \d+ with an old controller epoch \d+\. Latest known controller epoch is \d+",
        versions=_BEFORE_082,
        loggers=_STATE_CHANGE,
        samples=(
            Sample(
                "[2014-01-14 12:00:00,123] WARN Broker 1 received LeaderAndIsr request correlation id 5 with an old controller epoch 3."
                " Latest known controller epoch is 4 (state.change.logger)",
                {"node": 1, "controller_epoch": None},
                "source: 0.8.1 ReplicaManager",
            ),
        ),
        note="0.8.0 prints epoch and correlation id in each other's place, so neither is told.",
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

_IRRELEVANT: tuple[Statement, ...] = (
    ("bytes-found", "Found invalid messages in log ", "{}[^ ]*-\\d+", _BEFORE_081, _LOG, "Found invalid messages in log orders-0"),
    ("roll-due", "Rolling ", "{}\\S+ due to .*", _BEFORE_081, _LOG, "[Kafka Log on Broker 1], Rolling orders-0 due to full data log"),
    ("segment-deleting", "Deleting log segment ", "{}\\d+ from .*", _BEFORE_081, _LOG,
     "[Kafka Log on Broker 1], Deleting log segment 0 from orders-0"),
    ("segment-undeleted", " still exists", "(?:Data log|Index) file .*{}", _BEFORE_081, _LOG,
     "[Kafka Log on Broker 1], Data log file /data/orders-0/00000000000000000000.log still exists"),
    ("segments-undeleted", "Failed to delete some segments when attempting to truncate to offset ", "{}\\d+\\)", _BEFORE_081, _LOG,
     "[Kafka Log on Broker 1], Failed to delete some segments when attempting to truncate to offset 5)"),
    ("truncation-beyond", " cannot be greater than the last message offset ", "Target offset \\d+{}\\d+ in the log .*", _BEFORE_081, _LOG,
     "[Kafka Log on Broker 1], Target offset 9 cannot be greater than the last message offset 7 in the log"
     " /data/orders-0/00000000000000000000.log"),
    ("loading", "Loading log '", "{}.*'", _BEFORE_082, _LOG_MANAGER, "Loading log 'orders-0'"),
    ("periods", "Starting log ", "{}(?:cleaner|flusher) every .*", _BEFORE_081, _LOG_MANAGER,
     "[Log Manager on Broker 1] Starting log flusher every 3000 ms with the following overrides Map()"),
    ("request-handling", "Handling LeaderAndIsr request Name:", "{}.*", _BEFORE_081, _REPLICA_MANAGER,
     "[Replica Manager on Broker 1]: Handling LeaderAndIsr request Name:LeaderAndIsrRequest;Version:0;Controller:1"),
    ("request-handled", "Handled leader and isr request ", "{}.*", _BEFORE_081, _REPLICA_MANAGER,
     "[Replica Manager on Broker 1]: Handled leader and isr request Name:LeaderAndIsrRequest;Version:0;Controller:1"),
    ("replica-manager-stopped", "Shutted down completely", "{}", _BEFORE_082, _REPLICA_MANAGER,
     "[Replica Manager on Broker 1]: Shutted down completely"),
    ("controller-stopped", "Controller shutdown complete", "{}", _BEFORE_082, _CONTROLLER, "[Controller 1]: Controller shutdown complete"),
    ("replica-kept", "Cannot remove replica ", "{}\\d+ from ISR of \\S+\\. Leader = .*", _BEFORE_081, _CONTROLLER,
     "[Controller 1]: Cannot remove replica 2 from ISR of [orders,0]. Leader = 2 ; ISR = List(2)"),
    ("no-partitions", "No state transitions triggered since no partitions are assigned to brokers ", "{}.*", _BEFORE_081, _REPLICAS,
     "[Replica state machine on controller 1]: No state transitions triggered since no partitions are assigned to brokers 1"),
    ("state-unprinted", "received LeaderAndIsr request org.apache.kafka.common.requests.LeaderAndIsrRequest$PartitionState@", "{}.*",
     ("0.9.0", "0.9.0"), _STATE_CHANGE,
     "Broker 1 received LeaderAndIsr request org.apache.kafka.common.requests.LeaderAndIsrRequest$PartitionState@1b2c3d4e correlation id 1"
     " from controller 2 epoch 6 for partition [orders,0]"),
    ("deletion-thread", "(kafka.controller.TopicDeletionManager$DeleteTopicsThread)", "(?:Starting|Shutting down|Stopped|Shutdown completed) ?",
     ("0.8.1", "0.10.2"), ("kafka.controller.TopicDeletionManager$DeleteTopicsThread",),
     "[delete-topics-thread-1], Shutdown completed"),
    ("no-leader", "Leader not assigned yet for partition ", "{}.*", _BEFORE_081, (),
     "Leader not assigned yet for partition [orders,0]. Skip sending udpate metadata request"),
    ("request-unsent", " failed to send ", "Controller \\d+ epoch \\d+{}\\S+ request with correlation id \\S+ to broker .*", _BEFORE_082,
     ("kafka.controller.RequestSendThread",),
     "[Controller-1-to-broker-2-send-thread], Controller 1 epoch 3 failed to send LeaderAndIsr request with correlation id 5 to broker"
     " id:2,host:h,port:9092. Reconnecting to broker."),
)  # fmt: skip

PATTERNS: tuple[Pattern, ...] = (*_EVENTS, *recognised("early", _LOG[0], _IRRELEVANT))
