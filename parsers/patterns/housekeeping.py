"""What replicas, logs, fetchers, the log cleaner and servers print about their own upkeep: known, and no evidence.

Here: lines of loggers that matter which change no replica, or which another line tells better (a table by component). Not here: the
same of controllers and the quorum (controller, kraft, quorum), events of any kind (the other modules).
"""

from __future__ import annotations

from parsers.patterns.pattern import Pattern, Sample, Statement, recognised

_PARTITION = ("kafka.cluster.Partition",)
_STATE_CHANGE = ("state.change.logger",)
_ISR = (
    "kafka.server.DefaultAlterPartitionManager",
    "kafka.server.DefaultAlterIsrManager",
    "kafka.server.ZkAlterPartitionManager",
    "kafka.server.ZkIsrManager",
    "kafka.server.AlterIsrManagerImpl",
    "org.apache.kafka.server.partition.DefaultAlterPartitionManager",
)
_STORAGE = "org.apache.kafka.storage.internals.log"
_LOGS_OF_ALL_BUILDS = ("Log", "UnifiedLog", "MergedLog", "LocalLog", "LogLoader")
_LOG = tuple(f"{package}.{name}" for package in ("kafka.log", _STORAGE) for name in _LOGS_OF_ALL_BUILDS)
_PRODUCERS = ("kafka.log.ProducerStateManager", f"{_STORAGE}.ProducerStateManager")
_LOG_MANAGER = ("kafka.log.LogManager", f"{_STORAGE}.LogManager")
_FETCHERS = ("kafka.server.ReplicaFetcherThread", "kafka.server.ReplicaAlterLogDirsThread")
_FETCHER_MANAGERS = ("kafka.server.ReplicaFetcherManager",)
_REPLICA_MANAGER = ("kafka.server.ReplicaManager",)
_LOG_DIR_HANDLER = ("kafka.server.ReplicaManager$LogDirFailureHandler",)
_CLEANER = (
    "kafka.log.LogCleaner",
    "kafka.log.LogCleaner$CleanerThread",
    "kafka.log.LogCleanerManager",
    f"{_STORAGE}.LogCleaner",
    f"{_STORAGE}.LogCleaner$CleanerThread",
    f"{_STORAGE}.LogCleanerManager",
    f"{_STORAGE}.Cleaner",
)
_LIVES = "(?:Starting|Stopped|Shutting down|Shutdown completed) ?"

_REPLICAS: tuple[Statement, ...] = (
    ("log-dir-same", " is same as requested log dir ", "Current log directory .*{}.*", ("2.4", "4.3"), _PARTITION,
     "[Partition orders-0 broker=1] Current log directory /data/a is same as requested log dir /data/a. Skipping future replica creation."),
    ("fetch-of-stranger", "The replica state of replica ID:[", "{}.*", ("3.4", "4.3"), _PARTITION,
     "[Partition orders-0 broker=1] The replica state of replica ID:[2] doesn't exist in the leader node. It might because the topic is"
     " already deleted."),
    ("leader-without-log", "Leader does not have a local log", "{}", ("2.1", "2.3"), _PARTITION,
     "[Partition orders-0 broker=1] Leader does not have a local log"),
    ("isr-not-enqueued", "Failed to enqueue ISR change state ", "{}.*", ("3.0", "3.0"), _PARTITION,
     "[Partition orders-0 broker=1] Failed to enqueue ISR change state LeaderAndIsr(leader=1) for partition orders-0"),
    ("isr-request-failed", "Controller returned an unexpected top-level error when handling Alter", "{}.*", ("2.7", "4.3"), _ISR,
     "[DefaultAlterPartitionManager broker=1] Controller returned an unexpected top-level error when handling AlterPartition:"
     " BROKER_ID_NOT_REGISTERED"),
    ("isr-request-unauthorised", "Broker is not authorized to send Alter", "{}.*", ("2.7", "4.3"), _ISR,
     "[DefaultAlterPartitionManager broker=1] Broker is not authorized to send AlterPartition to controller"),
    ("isr-request-cleared", "Attempting to clear Alter", "{}.*", ("2.7", "4.3"), _ISR,
     "[DefaultAlterPartitionManager broker=1] Attempting to clear AlterPartition in-flight flag when no apparent request is in-flight"),
    ("isr-response-lacks", " was sent but not included in the response", "Partition \\S+{}", ("2.7", "4.3"), _ISR,
     "[AlterIsrManager broker=1]Partition orders-0 was sent but not included in the response"),
    ("isr-response-recovery", "Controller returned an invalid leader recovery state ", "{}.*", ("3.2", "4.3"), _ISR,
     "Controller returned an invalid leader recovery state (7) for orders-0: PartitionData(partitionIndex=0)"),
    ("isr-response-topic", " in the alter partition response, ignoring it.", "Received an unexpected topic .*{}", ("3.3", "4.3"), _ISR,
     "Received an unexpected topic orders in the alter partition response, ignoring it."),
    ("requests-handling", "Handling LeaderAndIsr request correlationId ", "{}\\d+ from controller -?\\d+ for \\d+ partitions", ("2.6", "4.1"),
     _STATE_CHANGE, "[Broker id=1] Handling LeaderAndIsr request correlationId 5 from controller 1 for 2 partitions"),
    ("requests-handled", "Finished LeaderAndIsr request in ", "{}\\d+ms correlationId .*", ("2.7", "4.1"), _STATE_CHANGE,
     "[Broker id=1] Finished LeaderAndIsr request in 47ms correlationId 5 from controller 1 for 2 partitions"),
    ("fetchers-stopped", "Stopped fetchers as part of LeaderAndIsr request correlationId ", "{}.*", ("2.6", "4.1"), _STATE_CHANGE,
     "[Broker id=2] Stopped fetchers as part of LeaderAndIsr request correlationId 1 from controller 3 epoch 1 as part of the become-leader"
     " transition for 1 partitions"),
    ("fetchers-stopping", "Stopped fetchers as part of controlled shutdown for ", "{}.*", ("3.3", "4.3"), _STATE_CHANGE,
     "[Broker id=2] Stopped fetchers as part of controlled shutdown for 3 partitions"),
    ("transition-needless", " after marking its partition as ", "[Ss]kipped the become-leader state change{}\\w+ with .*",
     ("0.8.2", "3.2"), _STATE_CHANGE,
     "Broker 3 skipped the become-leader state change after marking its partition as leader with correlation id 7 from controller 3"
     " epoch 1 for partition [ledger,0] since it is already the leader for the partition."),
    ("leader-already", " because this partition is already a local leader.", "Skipped the become-leader state change for .*{}",
     ("3.0", "3.2"), _STATE_CHANGE,
     "[Broker id=1] Skipped the become-leader state change for orders-0 with topic id MlpAEC9lTCOuG5EVp6OGOg because this partition is"
     " already a local leader."),
    ("metadata-full", "Received UpdateMetadataRequest with Type=FULL (2), but ", "{}.*", ("3.6", "3.9"), _STATE_CHANGE,
     "[Broker id=2] Received UpdateMetadataRequest with Type=FULL (2), but version of 5, which should not be possible. Not treating this"
     " as a full metadata update"),
    ("delete-records-failed", "Error processing delete records operation on partition ", "{}.*", ("0.11.0", "4.3"), _REPLICA_MANAGER,
     "[ReplicaManager broker=1] Error processing delete records operation on partition orders-0"),
    ("position-unplaced", " hasn't been created", "While recording the (?:replica LEO|follower position), the partition .*{}.*",
     ("0.8.2", "3.4"), _REPLICA_MANAGER,
     "[Replica Manager on Broker 3]: While recording the follower position, the partition [orders,0] hasn't been created, skip updating"
     " leader HW"),
    ("fetch-unserved", "Fetch request with correlation id ", "{}.* failed due to .*", ("0.8.2", "0.8.2"), _REPLICA_MANAGER,
     "[Replica Manager on Broker 1]: Fetch request with correlation id 0 from client ReplicaFetcherThread-0-1 on partition [ledger,0]"
     " failed due to Partition [ledger,0] doesn't exist on 1"),
    ("fetch-unasked", " not found in fetchInfos", "Partition .*{}.*", ("0.10.1", "4.3"), _REPLICA_MANAGER,
     "[ReplicaManager broker=1] Partition orders-0 not found in fetchInfos"),
    ("log-missing", " does not have a local log", "Leader for partition .*{}", ("0.8.2", "2.0"), _REPLICA_MANAGER,
     "[Replica Manager on Broker 1]: Leader for partition [orders,0] does not have a local log"),
    ("replica-manager-stopping", "hutting down (kafka.server.ReplicaManager", "[Ss]hutting down", ("0.8.2", "4.3"), _REPLICA_MANAGER,
     "[ReplicaManager broker=1] shutting down"),
    ("replica-manager-stopped", "Shut down", "{}(?: completely)?", ("0.8.2", "4.3"), _REPLICA_MANAGER,
     "[ReplicaManager broker=1] Shut down completely"),
    ("log-dirs-unaltered", "Unable to alter log dirs for ", "{}.*", ("1.1", "4.3"), _REPLICA_MANAGER,
     "[ReplicaManager broker=1] Unable to alter log dirs for orders-0"),
    ("log-dirs-undescribed", "Unable to describe replica dirs for ", "{}.*", ("1.0", "4.3"), _REPLICA_MANAGER,
     "[ReplicaManager broker=1] Unable to describe replica dirs for /data"),
    ("replica-dir-unchanged", "Error while changing replica dir for partition ", "{}.*", ("1.0", "4.3"), _REPLICA_MANAGER,
     "[ReplicaManager broker=1] Error while changing replica dir for partition orders-0"),
    ("replica-dir-undescribed", "Error while describing replica in dir ", "{}.*", ("1.0", "4.3"), _REPLICA_MANAGER,
     "[ReplicaManager broker=1] Error while describing replica in dir /data"),
    ("stray-partitions", "Found stray partitions ", "{}.*", ("3.6", "4.3"), _REPLICA_MANAGER,
     "[ReplicaManager broker=1] Found stray partitions orders-0"),
    ("stray-partition-kept", " stray partition ", "(?:Unable to stop|Failed to delete){}.*", ("3.6", "4.3"), _REPLICA_MANAGER,
     "[ReplicaManager broker=1] Unable to stop stray partition orders-0"),
    ("failure-untold-zk", "Unable to propagate log dir failure via Zookeeper in KRaft mode", "{}", ("2.8", "3.6"), _REPLICA_MANAGER,
     "[ReplicaManager broker=1] Unable to propagate log dir failure via Zookeeper in KRaft mode"),
    ("remote-fetch-failed", "Unable to fetch data from remote storage", "{}.*", ("3.6", "4.3"), _REPLICA_MANAGER,
     "[ReplicaManager broker=1] Unable to fetch data from remote storage"),
    ("offset-request-failed", "Error while responding to offset request", "{}", ("4.0", "4.3"), _REPLICA_MANAGER,
     "[ReplicaManager broker=1] Error while responding to offset request"),
    ("log-dir-handler", "[LogDirFailureHandler]: ", _LIVES, ("1.0", "4.3"), _LOG_DIR_HANDLER, "[LogDirFailureHandler]: Starting"),
)  # fmt: skip

_FETCHING: tuple[Statement, ...] = (
    ("thread", "(kafka.server.ReplicaFetcherThread)", _LIVES, ("0.8.2", "4.3"), _FETCHERS, "[ReplicaFetcherThread-0-1], Starting "),
    ("log-dirs-thread", "(kafka.server.ReplicaAlterLogDirsThread)", _LIVES, ("1.1", "4.3"), _FETCHERS[1:],
     "[ReplicaAlterLogDirsThread-0]: Starting"),
    ("leader-unclosed", "Failed to close ", "{}.* after shutting down replica fetcher thread", ("2.1", "4.3"), _FETCHERS,
     "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Failed to close RemoteLeaderEndPoint after shutting down replica fetcher"
     " thread"),
    ("leader-uninitiated", "Failed to initiate shutdown of ", "{}.*", ("2.1", "4.3"), _FETCHERS,
     "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Failed to initiate shutdown of RemoteLeaderEndPoint after initiating replica"
     " fetcher thread shutdown"),
    ("epoch-request-failed", "Error when sending leader epoch request for ", "{}.*", ("0.11.0", "4.3"),
     (*_FETCHERS, "kafka.server.RemoteLeaderEndPoint", "org.apache.kafka.server.RemoteLeaderEndPoint"),
     "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error when sending leader epoch request for Map(orders-0 -> 3)"),
    ("manager-stopping", "shutting down (kafka.server.Replica", "shutting down", ("0.8.2", "4.3"), _FETCHER_MANAGERS,
     "[ReplicaFetcherManager on broker 1] shutting down"),
    ("manager-stopped", "shutdown completed (kafka.server.Replica", "shutdown completed", ("0.8.2", "4.3"), _FETCHER_MANAGERS,
     "[ReplicaFetcherManager on broker 1] shutdown completed"),
    ("manager-resized", "Resizing fetcher thread pool size ", "{}.*", ("1.1", "4.3"), _FETCHER_MANAGERS,
     "[ReplicaFetcherManager on broker 1] Resizing fetcher thread pool size from 1 to 2"),
)  # fmt: skip

_LOGS: tuple[Statement, ...] = (
    ("segments-scheduled", "Scheduling segments for deletion ", "{}.*", ("2.4", "2.6"), _LOG,
     "[Log partition=orders-0, dir=/data] Scheduling segments for deletion List(LogSegment(baseOffset=0, size=1048576))"),
    ("segment-scheduled", "Scheduling log segment ", "{}.* for deletion\\.", ("0.8.2", "2.3"), _LOG,
     "[Log partition=orders-0, dir=/data] Scheduling log segment [baseOffset 0, size 1048576] for deletion."),
    ("segment-overflow", "Caught segment overflow error", "(?:Cleaner \\d+: )?{}.*", ("2.0", "4.3"), _LOG + _CLEANER,
     "[LogLoader partition=orders-0, dir=/data] Caught segment overflow error: x. Split segment and retry."),
    ("segment-split", " overflowed segment ", "(?:Splitting|Replacing){}.*", ("2.0", "4.3"), _LOG,
     "[Log partition=orders-0, dir=/data] Splitting overflowed segment LogSegment(baseOffset=0, size=1048576)"),
    ("segment-rolled-early", "Rolling the active segment to make it eligible for deletion", "{}", ("3.6", "4.3"), _LOG,
     "[UnifiedLog partition=orders-0, dir=/data] Rolling the active segment to make it eligible for deletion"),
    ("segment-rolled-again", "Trying to roll a new log segment with start offset ", "{}.*", ("2.1", "4.3"), _LOG,
     "[Log partition=orders-0, dir=/data] Trying to roll a new log segment with start offset 0 =max(provided offset = Some(0), LEO = 0)"
     " while it already exists and is active with size 0."),
    ("segment-file-exists", " already exists; deleting it first", "Newly rolled segment file .*{}", ("0.8.2", "4.3"), _LOG,
     "[LocalLog partition=orders-0, dir=/data] Newly rolled segment file /data/orders-0/00000000000000000000.log already exists; deleting"
     " it first"),
    ("segment-recreated", " was deleted and recreated due to ", "Empty active segment at .*{}.*", ("3.3", "4.3"), _LOG,
     "[UnifiedLog partition=orders-0, dir=/data] Empty active segment at 100 was deleted and recreated due to log truncation"),
    ("segment-from-future", " contains future timestamp(s), making it ineligible to be deleted", ".*{}", ("3.5", "4.3"), _LOG,
     "[UnifiedLog partition=orders-0, dir=/data] LogSegment(baseOffset=0, size=1048576) contains future timestamp(s), making it ineligible"
     " to be deleted"),
    ("remote-offset", "Unable to update the highest offset in remote storage with offset ", "{}.*", ("3.5", "4.3"), _LOG,
     "[UnifiedLog partition=orders-0, dir=/data] Unable to update the highest offset in remote storage with offset 5 since remote storage"
     " is not enabled. The existing highest offset is -1."),
    ("remote-disabled", "Ignoring the call as the remote log storage is disabled", "{}", ("3.6", "4.3"), _LOG,
     "[UnifiedLog partition=orders-0, dir=/data] Ignoring the call as the remote log storage is disabled"),
    ("swap-recovered", " by renaming from ", "Recovering file .*{}.* files\\.", ("3.0", "4.3"), _LOG,
     "[LogLoader partition=orders-0, dir=/data] Recovering file /data/orders-0/00000000000000000000.log.swap by renaming from .swap files."),
    ("topic-id-unkept", " will not be persisted to the partition metadata file since ", "The topic id \\S+{}.*", ("3.0", "4.3"), _LOG,
     "[UnifiedLog partition=orders-0, dir=/data] The topic id MlpAEC9lTCOuG5EVp6OGOg will not be persisted to the partition metadata file"
     " since the partition is deleted"),
    ("topic-id-undeleted", "Error while trying to delete partition metadata file ", "{}.*", ("3.0", "4.3"), _LOG,
     "[UnifiedLog partition=orders-0, dir=/data] Error while trying to delete partition metadata file /data/orders-0/partition.metadata"),
    ("retention-odd", " This may result in frequent log rolling.", ".* is set to \\d+\\. It is smaller than .*{}", ("1.1", "2.2"), _LOG,
     "[Log partition=orders-0, dir=/data] retention.ms for topic orders is set to 5. It is smaller than"
     " message.timestamp.difference.max.ms's value 9. This may result in frequent log rolling."),
    ("producer-epoch", "Detected invalid coordinator epoch for producerId ", "{}.*", ("2.4", "4.3"), _PRODUCERS,
     "[ProducerStateManager partition=orders-0] Detected invalid coordinator epoch for producerId 7 at offset 100 in partition orders-0:"
     " 3 is older than previously known coordinator epoch 4"),
    ("producer-expiration", "Reconfigure ", "{}\\S+ from \\S+ to \\S+", ("3.4", "4.3"), (),
     "Reconfigure producer.id.expiration.ms from 86400000 to 3600000"),
    ("manager-loading", "Loading logs", "{}(?:\\.| from log dirs .*)", ("0.8.2", "4.3"), _LOG_MANAGER, "Loading logs."),
    ("manager-loading-done", "Logs loading complete", "{}(?: in \\d+ ms)?\\.", ("0.8.2", "2.5"), _LOG_MANAGER,
     "Logs loading complete in 12 ms."),
    ("manager-loaded", " logs in ", "(?:Loaded \\d+|Error while loading){}.*", ("0.8.2", "4.3"), _LOG_MANAGER,
     "Loaded 1 logs in 22ms (unclean log dirs = ArrayBuffer(/var/lib/kafka/broker-2/data))"),
    ("manager-loading-failed", "There was an error in one of the threads during ", "{}.*", ("0.8.2", "4.3"), _LOG_MANAGER,
     "There was an error in one of the threads during logs loading: java.lang.IllegalStateException"),
    ("manager-recovery-reset", "Resetting the recovery checkpoint to 0", "{}", ("0.9.0", "2.5"), _LOG_MANAGER,
     "Resetting the recovery checkpoint to 0"),
    ("manager-periods", "Starting log ", "{}(?:cleanup|flusher) with a .*", ("0.8.2", "4.3"), _LOG_MANAGER,
     "Starting log flusher with a default period of 9223372036854775807 ms."),
    ("manager-stopping", "Shutting down. (", "Shutting down\\.", ("0.8.2", "4.3"), _LOG_MANAGER, "Shutting down."),
    ("manager-stopped", "Shutdown complete. (", "Shutdown complete\\.", ("0.8.2", "4.3"), _LOG_MANAGER, "Shutdown complete."),
    ("dir-created", " not found, creating it.", "Log directory .*{}", ("0.8.2", "4.3"), _LOG_MANAGER,
     "Log directory /data not found, creating it."),
    ("delete-thread", "Exception in kafka-delete-logs thread.", "{}", ("0.10.1", "4.3"), _LOG_MANAGER,
     "Exception in kafka-delete-logs thread."),
    ("delete-unscheduled", "Failed to schedule next delete in kafka-delete-logs thread", "{}", ("1.0", "4.3"), _LOG_MANAGER,
     "Failed to schedule next delete in kafka-delete-logs thread"),
    ("delete-failed", " deleting ", "Exception (?:in|while){}.*", ("0.10.1", "4.3"), _LOG_MANAGER,
     "Exception while deleting Log(dir=/data/orders-0) in dir /data."),
    ("broker-epoch-unread", "Unable to read the broker epoch in ", "{}.*", ("3.7", "4.3"), (), "Unable to read the broker epoch in /data."),
    ("broker-epochs-differ", "Found different broker epochs in ", "{}.*", ("3.7", "4.3"), _LOG_MANAGER,
     "Found different broker epochs in /data. Other=5 vs current=6."),
    ("recovery-threads", "Resizing recovery thread pool size for each data dir ", "{}.*", ("1.1", "4.3"), _LOG_MANAGER,
     "Resizing recovery thread pool size for each data dir from 1 to 2"),
    ("future-replacing", "Attempting to replace current log ", "{}.*", ("2.3", "4.3"), _LOG_MANAGER,
     "Attempting to replace current log Log(dir=/data/orders-0) with Log(dir=/data/orders-0.x-future) for orders-0"),
    ("future-recovering", " abandoned future log for ", "Attempting to recover{}.*", ("3.7", "4.3"),
     _LOG_MANAGER, "Attempting to recover abandoned future log for orders-0 at Log(dir=/data/orders-0.x-future)"),
    ("flush-failed", "Error flushing topic ", "{}.*", ("0.8.2", "4.3"), _LOG_MANAGER, "Error flushing topic orders"),
    ("cleaner-config", "The config `log.cleaner.enable` is ", "{}.*", ("4.1", "4.3"), _LOG_MANAGER,
     "The config `log.cleaner.enable` is deprecated and will be removed in Kafka 5.0."),
)  # fmt: skip

_CLEANING: tuple[Statement, ...] = (
    ("starting", "Starting the log cleaner", "{}", ("0.8.2", "4.3"), _CLEANER, "Starting the log cleaner"),
    ("stopping", "Shutting down the log cleaner.", "{}", ("0.8.2", "4.3"), _CLEANER, "Shutting down the log cleaner."),
    ("thread", "[kafka-log-cleaner-thread-", _LIVES, ("0.8.2", "4.3"), _CLEANER, "[kafka-log-cleaner-thread-0]: Starting"),
    ("buffer", "Cannot use more than 2G of cleaner buffer space per cleaner thread", "{}.*", ("0.8.2", "4.3"), _CLEANER,
     "Cannot use more than 2G of cleaner buffer space per cleaner thread, ignoring excess buffer space..."),
    ("threads", "Invalid value for `log.cleaner.threads`: ", "{}.*", ("4.1", "4.3"), _CLEANER,
     "Invalid value for `log.cleaner.threads`: must be >= 1 starting from Kafka 5.0 since log cleaner is always enabled."),
    ("throttled", "Updating logCleanerIoMaxBytesPerSecond: ", "{}.*", ("3.3", "4.3"), _CLEANER,
     "Updating logCleanerIoMaxBytesPerSecond: 5"),
    ("buffers-grown", "Growing cleaner I/O buffers ", "(?:Cleaner \\d+: )?{}.*", ("0.8.2", "4.3"), _CLEANER,
     "Cleaner 0: Growing cleaner I/O buffers from 262144 bytes to 524288 bytes."),
    ("begin", "Beginning cleaning of log ", "(?:Cleaner \\d+: )?{}.*", ("0.8.2", "4.3"), _CLEANER,
     "Cleaner 0: Beginning cleaning of log compact-3."),
    ("map", "Building offset map for ", "(?:Cleaner \\d+: )?{}.*", ("0.8.2", "4.3"), _CLEANER,
     "Cleaner 0: Building offset map for compact-3..."),
    ("map-done", "Offset map for log ", "(?:Cleaner \\d+: )?{}.*", ("0.8.2", "4.3"), _CLEANER,
     "Cleaner 0: Offset map for log compact-3 complete."),
    ("log", "Cleaning log ", "(?:Cleaner \\d+: )?{}.*", ("0.8.2", "4.3"), _CLEANER,
     "Cleaner 0: Cleaning log compact-3 (cleaning prior to Thu Jan 01 00:00:00 UTC 1970, discarding tombstones prior to Thu Jan 01"
     " 00:00:00 UTC 1970)..."),
    ("segment", "Cleaning segment ", "(?:Cleaner \\d+: )?{}.*", ("0.8.2", "2.3"), _CLEANER,
     "Cleaner 0: Cleaning segment 0 in log compact-3 (largest timestamp Thu Jan 01 00:00:00 UTC 1970) into 0, retaining deletes."),
    ("segment-object", "Cleaning LogSegment(", "(?:Cleaner \\d+: )?{}.*", ("2.4", "4.3"), _CLEANER,
     "Cleaner 0: Cleaning LogSegment(baseOffset=0, size=8192) in log compact-3 into 0 with deletion horizon 0, retaining deletes."),
    ("swapped", "Swapping in cleaned segment ", "(?:Cleaner \\d+: )?{}.*", ("0.8.2", "4.3"), _CLEANER,
     "Cleaner 0: Swapping in cleaned segment LogSegment(baseOffset=0, size=8192) for segment(s) List() in log compact-3"),
    ("found", "leaner-thread-", "\\s*(?:Found \\d+ invalid messages|Cleanable partitions).*",
     ("0.8.2", "4.3"), _CLEANER,
     "[kafka-log-cleaner-thread-0]: \tFound 5 invalid messages during compaction."),
    ("dirs-stopped", "Stopping cleaning logs in dir ", "{}.*", ("1.0", "4.3"), _CLEANER, "Stopping cleaning logs in dir /data"),
    ("aborted", "The cleaning for partition ", "{}.* is aborted(?: and paused)?", ("0.8.2", "4.3"), (),
     "The cleaning for partition orders-0 is aborted and paused"),
    ("aborted-delete", " is aborted", "Cleaning for partition .*{}(?: and paused)?", ("2.7", "4.3"), (),
     "Cleaning for partition orders-0 is aborted and paused"),
    ("resumed", " is resumed", "(?:Compaction|Cleaning) for partition .*{}", ("0.8.2", "4.3"), (),
     "Compaction for partition orders-0 is resumed"),
    ("below-log-start", "Resetting first dirty offset ", "{}(?:of .*? )?to log start offset \\d+ since the checkpointed offset \\d+ is"
     " invalid\\.", ("0.9.0", "4.3"), (),
     "Resetting first dirty offset of compact-3 to log start offset 40 since the checkpointed offset 12 is invalid."),
    ("stuck", " as uncleanable", "Unexpected exception thrown when cleaning log .*\\. Marking its partition \\(.*\\){}", ("2.1", "4.3"), (),
     "[kafka-log-cleaner-thread-0]: Unexpected exception thrown when cleaning log Log(dir=/data/k/compact-3). Marking its partition"
     " (compact-3) as uncleanable"),
)  # fmt: skip

_STATISTICS = Pattern(
    name="cleaner-statistics",
    event="irrelevant",
    literal="leaner-thread-",
    regex=r"\s*Log cleaner thread \d+ cleaned log .*",
    versions=("0.8.2", "4.3"),
    loggers=_CLEANER,
    multiline=True,
    samples=(
        Sample(
            "[2026-11-21 10:42:02,500] INFO [kafka-log-cleaner-thread-0]: \n"
            "\tLog cleaner thread 0 cleaned log state-0 (dirty section = [710, 770])\n"
            "\t0.0 MB of log processed in 0.1 seconds (0.3 MB/sec).\n"
            "\tIndexed 0.0 MB in 0.0 seconds (0.2 Mb/sec, 15.4% of total time)\n"
            "\tBuffer utilization: 0.0%\n"
            "\tCleaned 0.0 MB in 0.1 seconds (0.3 Mb/sec, 84.6% of total time)\n"
            "\tStart size: 0.0 MB (321 messages)\n"
            "\tEnd size: 0.0 MB (281 messages)\n"
            "\t3.5% size reduction (12.5% fewer messages)\n"
            " (kafka.log.LogCleaner)",
            {},
            "real: compacted-unclean-3.3.2-kraft",
        ),
    ),
)

PATTERNS: tuple[Pattern, ...] = (
    *recognised("replica", _REPLICA_MANAGER[0], _REPLICAS),
    *recognised("fetcher", _FETCHERS[0], _FETCHING),
    *recognised("log", _LOG_MANAGER[0], _LOGS),
    *recognised("cleaner", _CLEANER[0], _CLEANING),
    _STATISTICS,
)
