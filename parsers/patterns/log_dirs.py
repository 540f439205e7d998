"""Disk failures: the error that takes a log directory offline, the partitions that go offline with it, and brokers that halt.

Here: LogDirFailureChannel, the failure handlers of ReplicaManager and LogManager (KIP-112), KRaft's marking of directories
(KIP-858), the exceptions with the system's error, and the halts on I/O errors before 1.0. Not here: corruption found while loading
(loading), replicas that a broker refuses to lead because of a failed directory (leadership).
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from parsers.patterns.controller import each_partition
from parsers.patterns.exceptions import EXCEPTION, with_exception
from parsers.patterns.pattern import NAME, TP, WITHIN, Pattern, Sample
from parsers.schemas import Row

_CHANNEL = ("kafka.server.LogDirFailureChannel", "org.apache.kafka.storage.internals.log.LogDirFailureChannel")
_REPLICA_MANAGER = ("kafka.server.ReplicaManager",)
_LOG_MANAGER = ("kafka.log.LogManager", "org.apache.kafka.storage.internals.log.LogManager")
_CLEANER = (
    "kafka.log.LogCleaner",
    "kafka.log.LogCleanerManager",
    "org.apache.kafka.storage.internals.log.LogCleaner",
    "org.apache.kafka.storage.internals.log.LogCleanerManager",
)
_REPLICATION = ("org.apache.kafka.controller.ReplicationControlManager",)
_DIRECTORY_ID = regex.compile(r"[\w-]{22}")
_AT_START = r"Error while loading log dir |Failed to create or validate data directory |Disk error while locking directory "
"""Errors of a start."""
_LOG_FILE = r"(?P<value>.*?[/\\](?:[^/\\]*-checkpoint|meta\.properties|[^/\\]+-\d+)\b.*?)"
"""A file of a log directory, or two with ' -> ' between."""
_REFUSALS = (
    ("full", regex.compile(r"No space left on device|not enough space on the disk|Disk quota exceeded")),
    ("read-only", regex.compile(r"Read-only file system")),
    ("io", regex.compile(r"Input/output error|Structure needs cleaning")),
    ("handles", regex.compile(r"Too many open files")),
    ("maps", regex.compile(r"Map failed")),
    ("unsupported", regex.compile(r"Invalid argument|Operation not supported")),
    ("denied", regex.compile(r"Permission denied|Operation not permitted|\(Access is denied\)")),
    ("missing", regex.compile(r"NoSuchFileException|No such file or directory|cannot find the (?:path|file) specified")),
    ("in-use", regex.compile(r"(?:AccessDenied|FileAlreadyExists|FileSystem)Exception: .*\\")),
    ("denied", regex.compile(r"AccessDeniedException")),
)
"""What the system refused, by its own words, which are of its language, or by Java's class. Windows refuses what is still mapped or open."""


def _each_directory(row: Row) -> Iterator[Row]:
    for directory in _DIRECTORY_ID.findall(row["_groups"]["_directories"]):
        yield {**row, "directory": directory}


def _with_refusal(row: Row) -> Iterator[Row]:
    """The error and, if the layout prints the exception in the same line, what the system refused."""
    yield row
    if row["_groups"]["_said"]:
        about = {"event": "log-file-refused", "topic": None, "partition": None, "directory": None, "value": None}
        yield from _refused({**row, **about})


def _refused(row: Row) -> Iterator[Row]:
    message = row["_groups"]["_said"]
    for reason, shape in _REFUSALS:
        if shape.search(message):
            yield {**row, "reason": reason}
            return


PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="log-dir-error",
        event="log-dir-error",
        literal="LogDirFailureChannel)",
        regex=rf"(?!{_AT_START})(?P<value>Error while \w+(?: to)? checkpoint file) {WITHIN}{NAME}"
        rf"|(?P<value>.*?) {TP} (?:in|to) (?:log )?dir(?:ectory)? (?P<directory>.*?)(?: with offset \d+.*| due to \w+"
        r"|: (?P<_said>(?:[a-z]\w*\.)+\w+(?:Exception|Error): .*))?"
        rf"|(?!{_AT_START})(?P<value>(?:Error|Exception|Disk error|Failed).*?(?: in| to)? (?:log dir|dir|directory))"
        r" (?P<directory>.*?)(?:: .*)?",
        versions=("1.0", "4.4"),
        loggers=_CHANNEL,
        explode=_with_refusal,
        samples=(
            Sample(
                "[2026-11-21 02:11:32,133] ERROR Error while appending records to media-1 in dir /var/lib/kafka/broker-2/data1"
                " (kafka.server.LogDirFailureChannel)",
                {
                    "topic": "media",
                    "partition": 1,
                    "directory": "/var/lib/kafka/broker-2/data1",
                    "value": "Error while appending records to",
                },
                "real: log-dir-failure-2.8.2-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Error while flushing log for a-b-7 in dir /data/k with offset 812"
                " (org.apache.kafka.storage.internals.log.LogDirFailureChannel)",
                {"topic": "a-b", "partition": 7, "directory": "/data/k"},
                "source: 3.6 UnifiedLog",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Error while writing to checkpoint file /data/k/replication-offset-checkpoint"
                " (kafka.server.LogDirFailureChannel)",
                {"directory": "/data/k", "topic": None, "value": "Error while writing to checkpoint file"},
                "source: 2.8 CheckpointFile",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Disk error while writing recovery offsets checkpoint in directory /data/k: No space left"
                " on device"
                " (kafka.server.LogDirFailureChannel)",
                {"directory": "/data/k"},
                "source: 2.8 LogManager",
            ),
        ),
        note="The text names the failed action; the exception after the line is the cause.",
    ),
    Pattern(
        name="log-dir-error-unplaced",
        event="log-dir-error",
        literal="LogDirFailureChannel)",
        regex=r"(?!.* (?:dir|directory|checkpoint file) )(?P<value>.*)",
        versions=("1.0", "4.4"),
        loggers=_CHANNEL,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Error while opening log segments (kafka.server.LogDirFailureChannel)",
                {"directory": None, "value": "Error while opening log segments"},
                "source: 2.8 LogDirFailureChannel",
            ),
        ),
    ),
    Pattern(
        name="log-dir-unusable",
        event="log-dir-offline",
        literal="ing log dir ",
        regex=r"Error while loading log dir (?P<directory>.*)",
        versions=("1.0", "4.4"),
        loggers=_LOG_MANAGER + _CHANNEL,
        fixed={"reason": "start"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Error while loading log dir /data/k (kafka.log.LogManager)",
                {"directory": "/data/k", "reason": "start"},
                "source: 2.8 LogManager",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Error while loading log dir /data/k (kafka.server.LogDirFailureChannel)",
                {"directory": "/data/k", "reason": "start"},
                "source: 2.8 LogManager",
            ),
        ),
        note="The broker starts without the directory: no line says that it stops serving its replicas.",
    ),
    Pattern(
        name="log-dir-invalid",
        event="log-dir-offline",
        literal=" directory ",
        regex=r"(?:Failed to create or validate data|Disk error while locking) directory (?P<directory>.*?)(?:\.getAbsolutePath)?",
        versions=("1.0", "4.4"),
        loggers=_LOG_MANAGER + _CHANNEL,
        fixed={"reason": "start"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Failed to create or validate data directory /data/k.getAbsolutePath (kafka.log.LogManager)",
                {"directory": "/data/k", "reason": "start"},
                "source: 1.0 LogManager",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Failed to create or validate data directory /data/k (kafka.server.LogDirFailureChannel)",
                {"directory": "/data/k", "reason": "start"},
                "source: 2.8 LogManager",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Disk error while locking directory /data/k (kafka.server.LogDirFailureChannel)",
                {"directory": "/data/k", "reason": "start"},
                "source: 2.8 LogManager",
            ),
        ),
        note="As above. 1.0 prints the name of a method instead of its result.",
    ),
    Pattern(
        name="log-dir-offsets-unwritable",
        event="log-dir-error",
        literal=" offsets checkpoint in directory ",
        regex=r"Disk error while writing (?:recovery|log start) offsets checkpoint in directory (?P<directory>.*?): (?P<value>.*)",
        versions=("2.7", "4.4"),
        loggers=_LOG_MANAGER,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Disk error while writing recovery offsets checkpoint in directory /data/k: No space left on"
                " device (kafka.log.LogManager)",
                {"directory": "/data/k", "value": "No space left on device"},
                "source: 2.8 LogManager",
            ),
        ),
    ),
    Pattern(
        name="log-dir-clean-file-stuck",
        event="log-dir-error",
        literal="Error while deleting the clean shutdown file ",
        regex=rf"Error while deleting the clean shutdown file {WITHIN}{NAME}",
        versions=("1.0", "4.4"),
        loggers=_LOG_MANAGER,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Error while deleting the clean shutdown file /data/k/.kafka_cleanshutdown"
                " (kafka.log.LogManager)",
                {"directory": "/data/k"},
                "source: 2.4 LogManager",
            ),
        ),
        note="If the file stays, the next start looks clean whatever happens before it.",
    ),
    Pattern(
        name="log-dir-cleaner-file",
        event="log-dir-error",
        literal="Failed to access checkpoint file ",
        regex=r"Failed to access checkpoint file (?:\S+ )?in dir (?P<directory>.*)",
        versions=("1.0", "4.4"),
        loggers=_CLEANER,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Failed to access checkpoint file cleaner-offset-checkpoint in dir /data/k"
                " (kafka.log.LogCleaner)",
                {"directory": "/data/k"},
                "source: 2.8 LogCleanerManager",
            ),
        ),
    ),
    Pattern(
        name="log-dir-hw-file",
        event="log-dir-error",
        literal="Error while writing to highwatermark file in directory ",
        regex=r"Error while writing to highwatermark file in directory (?P<directory>.*)",
        versions=("1.0", "4.4"),
        loggers=_REPLICA_MANAGER,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [ReplicaManager broker=2] Error while writing to highwatermark file in directory /data/k"
                " (kafka.server.ReplicaManager)",
                {"node": 2, "directory": "/data/k"},
                "source: 2.8 ReplicaManager",
            ),
        ),
        note="From then on, the HW on disk is out of date.",
    ),
    Pattern(
        name="log-file-refused",
        event="log-file-refused",
        literal="java.nio.file.",
        regex=rf"(?P<_said>java\.nio\.file\.(?:AccessDenied|FileAlreadyExists|FileSystem|NoSuchFile)Exception: {_LOG_FILE}(?:: .*)?)",
        versions=("0.10.0", "4.4"),
        explode=_refused,
        samples=(
            Sample(
                "java.nio.file.AccessDeniedException: D:\\kafka-logs\\orders-0 -> D:\\kafka-logs\\orders-0.5b1c2a9e8f7d4c3b9a8e7f6d5c4b3a21-delete",
                {
                    "value": "D:\\kafka-logs\\orders-0 -> D:\\kafka-logs\\orders-0.5b1c2a9e8f7d4c3b9a8e7f6d5c4b3a21-delete",
                    "reason": "in-use",
                },
                "source: 2.3 Utils.atomicMoveWithFallback",
            ),
            Sample(
                "java.nio.file.FileSystemException: C:\\k\\orders-0\\00000000000000000000.timeindex ->"
                " C:\\k\\orders-0\\00000000000000000000.timeindex.deleted: The process cannot access the file because it is being used by"
                " another process.",
                {
                    "value": "C:\\k\\orders-0\\00000000000000000000.timeindex -> C:\\k\\orders-0\\00000000000000000000.timeindex.deleted",
                    "reason": "in-use",
                },
                "source: 2.3 Utils.atomicMoveWithFallback",
            ),
            Sample(
                "java.nio.file.FileSystemException: /data/k/orders-0/00000000000000000000.log: No space left on device",
                {"value": "/data/k/orders-0/00000000000000000000.log", "reason": "full"},
                "source: 2.8 FileRecords",
            ),
            Sample(
                "java.nio.file.FileAlreadyExistsException: C:\\k\\log-start-offset-checkpoint.tmp -> C:\\k\\log-start-offset-checkpoint",
                {"value": "C:\\k\\log-start-offset-checkpoint.tmp -> C:\\k\\log-start-offset-checkpoint", "reason": "in-use"},
                "source: 2.1 Utils.atomicMoveWithFallback",
            ),
            Sample(
                "java.nio.file.NoSuchFileException: /data/k/cleaner-offset-checkpoint",
                {"value": "/data/k/cleaner-offset-checkpoint", "reason": "missing"},
                "source: 2.8 CheckpointFile",
            ),
        ),
        note="The exception of the error that takes the directory offline; 'Caused by' and 'Suppressed' repeat it.",
    ),
    Pattern(
        name="log-file-not-opened",
        event="log-file-refused",
        literal="java.io.FileNotFoundException: ",
        regex=rf"(?P<_said>java\.io\.FileNotFoundException: {_LOG_FILE} \([^()]*\)(?![^\s]))",
        versions=("0.8.0", "4.4"),
        explode=_refused,
        samples=(
            Sample(
                "java.io.FileNotFoundException: /data/k/replication-offset-checkpoint.tmp (No such file or directory)",
                {"value": "/data/k/replication-offset-checkpoint.tmp", "reason": "missing"},
                "source: 2.7 CheckpointFile",
            ),
            Sample(
                "java.io.FileNotFoundException: /data/k/orders-0/00000000000000000000.index (Too many open files)",
                {"value": "/data/k/orders-0/00000000000000000000.index", "reason": "handles"},
                "source: 2.7 AbstractIndex",
            ),
        ),
    ),
    Pattern(
        name="log-write-refused",
        event="log-file-refused",
        literal="java.io.IOException: ",
        regex=r"(?P<_said>java\.io\.IOException: (?:No space left on device|There is not enough space on the disk|Disk quota exceeded"
        r"|Read-only file system|Input/output error|Structure needs cleaning|Too many open files|Map failed|Invalid argument"
        r"|Operation not supported))",
        versions=("0.8.0", "4.4"),
        explode=_refused,
        samples=(
            Sample("java.io.IOException: No space left on device", {"value": None, "reason": "full"}, "source: 2.8 FileRecords"),
            Sample("java.io.IOException: Input/output error", {"value": None, "reason": "io"}, "source: 2.8 FileRecords"),
            Sample("java.io.IOException: Map failed", {"value": None, "reason": "maps"}, "source: 2.8 AbstractIndex"),
            Sample("java.io.IOException: Invalid argument", {"value": None, "reason": "unsupported"}, "source: 2.8 AbstractIndex"),
        ),
        note="The file was open; the line does not name it.",
    ),
    Pattern(
        name="socket-refused",
        event="log-file-refused",
        literal="java.net.SocketException: Too many open files",
        regex=r"(?P<_said>java\.net\.SocketException: Too many open files)(?: \(.*\))?",
        versions=("0.8.0", "4.4"),
        explode=_refused,
        samples=(
            Sample(
                "java.net.SocketException: Too many open files (Accept failed)",
                {"value": None, "reason": "handles"},
                "source: 2.8 SocketServer",
            ),
        ),
        note="Sockets and files are limited together; also printed about the JMX port.",
    ),
    Pattern(
        name="log-dir-offline",
        event="log-dir-offline",
        literal=" in dir ",
        regex=r"(?P<reason>Stopping|Stopped) serving (?:replicas|logs) in dir (?P<directory>.*?)(?: with uuid \S+ because the log"
        r" directory has failed\.)?",
        versions=("1.0", "4.4"),
        loggers=_REPLICA_MANAGER + _LOG_MANAGER,
        samples=(
            Sample(
                "[2026-11-21 02:11:32,166] WARN [ReplicaManager broker=2] Stopping serving replicas in dir /var/lib/kafka/broker-2/data1"
                " (kafka.server.ReplicaManager)",
                {"node": 2, "directory": "/var/lib/kafka/broker-2/data1", "reason": "Stopping"},
                "real: log-dir-failure-2.8.2-zk",
            ),
            Sample(
                "[2026-11-21 02:12:08,020] WARN Stopping serving logs in dir /var/lib/kafka/broker-2/data1 (kafka.log.LogManager)",
                {"directory": "/var/lib/kafka/broker-2/data1"},
                "real: log-dir-failure-3.9.1-kraft",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] WARN [ReplicaManager broker=2] Stopping serving replicas in dir /data/k with uuid"
                " BTKAL8inuuOgzFARJXZJfg because the log directory has failed. (kafka.server.ReplicaManager)",
                {"node": 2, "directory": "/data/k"},
                "source: 3.8 ReplicaManager",
            ),
        ),
    ),
    Pattern(
        name="log-dir-partitions-fetching",
        event="log-dir-partitions",
        literal=" because they are in the failed log dir",
        regex=r"Broker \d+ stopped fetcher for partitions (?P<_partitions>.*?)(?: and stopped moving logs for partitions .*)?"
        r" because they are in the failed log (?:directory (?P<directory>.*)\.|dir (?P<directory>.*))",
        versions=("1.0", "4.4"),
        loggers=_REPLICA_MANAGER,
        explode=each_partition,
        samples=(
            Sample(
                "[2026-11-21 02:12:08,017] WARN [ReplicaManager broker=2] Broker 2 stopped fetcher for partitions media-1,media-3 and"
                " stopped moving"
                " logs for partitions  because they are in the failed log directory /var/lib/kafka/broker-2/data1."
                " (kafka.server.ReplicaManager)",
                {"node": 2, "topic": "media", "partition": 1, "directory": "/var/lib/kafka/broker-2/data1"},
                "real: log-dir-failure-3.9.1-kraft",
            ),
            Sample(
                "[2026-11-21 05:55:42,001] INFO [ReplicaManager broker=2] Broker 2 stopped fetcher for partitions media-1, media-3 because"
                " they are in the failed log dir /var/lib/kafka/broker-2/data1 (kafka.server.ReplicaManager)",
                {"node": 2, "topic": "media", "partition": 3, "directory": "/var/lib/kafka/broker-2/data1"},
                "source: 1.0 ReplicaManager",
            ),
        ),
    ),
    Pattern(
        name="log-dir-partitions-offline",
        event="log-dir-partitions",
        literal=" are offline due to failure on log directory ",
        regex=r"(?:Partitions (?P<_partitions>.*)|Logs for partitions (?P<_partitions>.*?) are offline and logs for future partitions .*)"
        r" are offline due to failure on log directory (?P<directory>.*)",
        versions=("1.0", "4.4"),
        loggers=_LOG_MANAGER + _REPLICA_MANAGER,
        explode=each_partition,
        samples=(
            Sample(
                "[2026-11-21 02:12:08,081] WARN Logs for partitions media-1,media-3 are offline and logs for future partitions  are"
                " offline due to"
                " failure on log directory /var/lib/kafka/broker-2/data1 (kafka.log.LogManager)",
                {"topic": "media", "partition": 3, "directory": "/var/lib/kafka/broker-2/data1"},
                "real: log-dir-failure-3.9.1-kraft",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [ReplicaManager broker=2] Partitions t-0,t-1 are offline due to failure on log directory"
                " /data/k"
                " (kafka.server.ReplicaManager)",
                {"node": 2, "topic": "t", "partition": 0, "directory": "/data/k"},
                "source: 1.0 ReplicaManager",
            ),
        ),
    ),
    Pattern(
        name="log-dir-offline-kraft",
        event="log-dir-offline",
        literal=" marked offline, remaining directories: ",
        regex=r"Directories (?P<_directories>.*) in broker (?P<broker>\d+) marked offline, remaining directories: (?P<value>.*)",
        versions=("3.7", "4.4"),
        loggers=_REPLICATION,
        explode=_each_directory,
        samples=(
            Sample(
                "[2026-11-21 02:12:08,090] WARN [QuorumController id=100] Directories [BTKAL8inuuOgzFARJXZJfg] in broker 2 marked"
                " offline, remaining"
                " directories: [1cMsTFPG-S7nx7gt53AEGw] (org.apache.kafka.controller.ReplicationControlManager)",
                {"node": 100, "broker": 2, "directory": "BTKAL8inuuOgzFARJXZJfg", "value": "[1cMsTFPG-S7nx7gt53AEGw]"},
                "real: log-dir-failure-3.9.1-kraft",
            ),
        ),
    ),
    Pattern(
        name="log-dirs-all-failed",
        event="fatal-error",
        literal=" broker because ",
        regex=r"Shutdown broker because (?:all log dirs in (?P<value>.*) have failed"
        r"|none of the specified log dirs from (?P<value>.*?),? can be created or validated|the metadata log dir (?P<directory>.*) has"
        r" failed|some log directory has failed during migration mode: (?P<directory>.*))"
        r"|Halting broker because dir (?P<directory>.*) is offline",
        versions=("1.0", "4.4"),
        fixed={"reason": "log-dir"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR Shutdown broker because all log dirs in /data/k1, /data/k2 have failed"
                " (kafka.log.LogManager)",
                {"value": "/data/k1, /data/k2", "reason": "log-dir"},
                "source: 2.8 LogManager",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [ReplicaManager broker=2] Shutdown broker because some log directory has failed during"
                " migration mode: /data/k (kafka.server.ReplicaManager)",
                {"node": 2, "directory": "/data/k", "reason": "log-dir"},
                "source: 3.7 ReplicaManager",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] FATAL [ReplicaManager broker=2] Halting broker because dir /data/k is offline"
                " (kafka.server.ReplicaManager)",
                {"node": 2, "directory": "/data/k"},
                "source: 1.0 ReplicaManager",
            ),
        ),
    ),
    Pattern(
        name="log-dir-without-id",
        event="log-dir-error",
        literal=" has no UUID",
        regex=r"Unable to propagate directory failure disabled because directory (?P<directory>.*) has no UUID",
        versions=("3.7", "4.4"),
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [ReplicaManager broker=2] Unable to propagate directory failure disabled because"
                " directory /data/k"
                " has no UUID (kafka.server.ReplicaManager)",
                {"node": 2, "directory": "/data/k"},
                "source: 3.7 ReplicaManager",
            ),
        ),
    ),
    Pattern(
        name="disk-error-replicating",
        event="fatal-error",
        literal="Disk error while replicating data",
        regex=rf"Disk error while replicating data(?: for {TP})?\.?{EXCEPTION}",
        versions=("0.8.2", "0.11.0"),
        explode=with_exception,
        multiline=True,
        inner=True,
        fixed={"reason": "disk"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] FATAL [ReplicaFetcherThread-0-2], Disk error while replicating data for t-0"
                " (kafka.server.ReplicaFetcherThread)",
                {"topic": "t", "partition": 0, "reason": "disk"},
                "source: 0.10.2 ReplicaFetcherThread",
            ),
        ),
    ),
    Pattern(
        name="disk-error-halting",
        event="fatal-error",
        literal="Halting ",
        regex=r"Halting (?:due to unrecoverable I/O error while (?:handling (?:produce request|DeleteRecordsRequest): ?|flushing logs: (?P<value>[^\n]*))"
        r"|writes to (?:offset )?checkpoint file(?: \((?P<value>[^\n]*)\))? because the underlying file system is inaccessible ?: ?)"
        + EXCEPTION,
        versions=("0.8.0", "0.11.0"),
        explode=with_exception,
        multiline=True,
        inner=True,
        fixed={"reason": "disk"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] FATAL [Replica Manager on Broker 1]: Halting due to unrecoverable I/O error while handling"
                " produce request: "
                " (kafka.server.ReplicaManager)",
                {"node": 1, "reason": "disk"},
                "source: 0.10.2 ReplicaManager",
            ),
            Sample(
                "[2014-01-14 12:00:00,123] FATAL [Log Manager on Broker 1] Halting due to unrecoverable I/O error while flushing logs: No"
                " space left on device (kafka.log.LogManager)",
                {"node": 1, "value": "No space left on device", "reason": "disk"},
                "source: 0.8.0 LogManager",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] FATAL Halting writes to checkpoint file (/data/k/replication-offset-checkpoint) because the"
                " underlying file"
                " system is inaccessible:  (kafka.server.checkpoints.CheckpointFile)",
                {"value": "/data/k/replication-offset-checkpoint", "reason": "disk"},
                "source: 0.11.0 CheckpointFile",
            ),
        ),
    ),
    Pattern(
        name="disk-error-deleting",
        event="fatal-error",
        literal="Error deleting the log for partition ",
        regex=rf"Error deleting the log for partition {TP}{EXCEPTION}",
        versions=("0.8.2", "0.11.0"),
        explode=with_exception,
        multiline=True,
        inner=True,
        fixed={"reason": "disk"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] FATAL Partition [t,0] on broker 1: Error deleting the log for partition [t,0]"
                " (kafka.cluster.Partition)",
                {"node": 1, "topic": "t", "partition": 0, "reason": "disk"},
                "source: 0.9.0 Partition",
            ),
        ),
        note="The broker then halts.",
    ),
    Pattern(
        name="disk-error-hw-file",
        event="fatal-error",
        literal="Error writing to highwatermark file",
        regex=r"Error writing to highwatermark file: ?" + EXCEPTION,
        versions=("0.8.2", "0.11.0"),
        explode=with_exception,
        multiline=True,
        inner=True,
        fixed={"reason": "disk"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] FATAL [Replica Manager on Broker 1]: Error writing to highwatermark file: "
                " (kafka.server.ReplicaManager)",
                {"node": 1, "reason": "disk"},
                "source: 0.10.2 ReplicaManager",
            ),
        ),
    ),
)
