"""Errors that end a process or a thread, grouped into failures, and the causes that their exceptions name.

Here: failures of one process, causes with their next steps. Not here: attempts to start (failed_starts), the runs of a process
(availability), or findings.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import moment, period, shortened
from forensics.model.message import Message, said
from forensics.thresholds import SAME_FAILURE


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause that an error names: `words` completes 'because …'."""

    name: str
    found: re.Pattern[str]
    words: str
    next_steps: tuple[str, ...]
    of_starts: bool = False
    """A process that was up cannot have it: there the same exception means something else."""


def _cause(name: str, found: str, words: str, *steps: str, of_starts: bool = False) -> Cause:
    return Cause(name, re.compile(found, re.IGNORECASE), words, steps, of_starts)


INTERRUPTED = "interrupted"
FREE_SPACE = "Free space on the disk outside the log directories, or enlarge the disk; check with `df -h` and `df -i`. Do not delete segment files by hand."
_SETTING = (
    "a setting is missing or not valid",
    "Correct the setting that the error names in the configuration of the node, and start the node again.",
)
_CAUSES = (
    _cause(
        "out-of-memory",
        r"OutOfMemoryError",
        "the JVM had no memory left",
        "Compare the heap (KAFKA_HEAP_OPTS) and MaxDirectMemorySize with the memory of the machine or container, and raise the one that the error names.",
    ),
    _cause(
        "disk-full",
        r"No space left on device|not enough space on the disk|Disk quota exceeded",
        "a disk was full",
        FREE_SPACE,
    ),
    _cause(
        "too-many-open-files",
        r"Too many open files",
        "the process had too many open files",
        "Raise the limit of open files of the broker (`ulimit -n`, or LimitNOFILE in systemd) to 100000 or more, and restart the broker.",
    ),
    _cause(
        "map-failed",
        r"Map failed",
        "the kernel refused to map another index file",
        "Raise `vm.max_map_count` with `sysctl -w vm.max_map_count=262144`, and restart the broker.",
    ),
    _cause(
        "offset-map",
        r"offset map can fit only",
        "a segment has more offsets than the offset map of the log cleaner can hold",
        "Raise `log.cleaner.dedupe.buffer.size` on the broker, or lower `log.cleaner.threads`, and restart the broker. Up to 0.10.0 a compacted segment counts all offsets of its range, not its records (KAFKA-3894): upgrade.",
    ),
    _cause(
        "log-start-ahead",
        r"Cannot increment the log start offset",
        "the leader named a log start above the high watermark that the follower knew",
        "Before 1.0.2, 1.1.1 and 2.0.0 a retention or DeleteRecords on the leader can do this to a follower that is in sync (KAFKA-7104): upgrade. Otherwise compare the log start offsets of both brokers with `kafka-get-offsets.sh --time earliest`.",
    ),
    _cause(
        "offsets-contradict",
        r"Offset mismatch|OffsetsOutOfOrder|Out of order offsets|UnexpectedAppendOffset|first offset in append",
        "the batches that it fetched did not continue its log",
        "Check the segments of the partition that the error names, on its leader and on the follower, with `kafka-dump-log.sh --files SEGMENT`: a batch with a wrong base offset, or a log that ends elsewhere than the fetcher believed, causes this error.",
        "If the segments are sound, upgrade: before 0.10.1.1 a fetcher went on at a wrong offset after a damaged batch (KAFKA-4384), and before 3.0.0 a change of the leader could leave a fetcher with an old offset (KAFKA-13266). A restart of the follower ends the error.",
    ),
    _cause(
        "corrupt-batch",
        r"CorruptRecord|InvalidMessage|InvalidRecord|Message is corrupt|Record is corrupt|corrupt size|minimum record overhead",
        "a batch was damaged",
        "Find the damaged batch with `kafka-dump-log.sh --files SEGMENT` on each replica. If another in-sync replica has it undamaged, move the leadership to that replica, and let the broker with the damaged copy copy the partition again.",
    ),
    _cause(
        "mapped-file",
        r"fault occurred in (?:a recent|an) unsafe memory access",
        "a page of a memory-mapped file could not be read or written, as on a full or failing disk",
        "Check the disks of the log directories with `df -h`, `df -i` and `dmesg`; free space outside the log directories, or replace the disk.",
    ),
    _cause(
        "cluster-id",
        r"InconsistentClusterIdException|Cluster ID \S+ doesn't match stored clusterId|Invalid cluster\.id|INCONSISTENT_CLUSTER_ID|cluster\.id.*(?:mismatch|expected)|StaleClusterId",
        "meta.properties in its log directories names another cluster",
        "Compare `cluster.id` in meta.properties of the log directories with the id of the cluster. Do not delete meta.properties before it is known which of the two is wrong.",
        of_starts=True,
    ),
    _cause(
        "broker-id",
        r"InconsistentBrokerId|InconsistentNodeId|doesn't match stored (?:broker|node)\.id|Stored node id|node\.id.*(?:mismatch|expected)",
        "meta.properties in its log directories names another node id than the configuration",
        "Compare `broker.id` or `node.id` in the configuration with meta.properties of the log directories, and mount the disks that belong to the node.",
        of_starts=True,
    ),
    _cause(
        "mixed-log-dirs",
        r"BrokerMetadata is not consistent across log\.dirs|InconsistentBrokerMetadata",
        "its log directories belong to different nodes",
        "Compare `broker.id` or `node.id` in meta.properties of all directories in `log.dirs`, and mount the disks that belong to the node.",
    ),
    _cause(
        "missing-meta-properties",
        r"No [`\"']?meta\.properties[`\"']? found|No readable meta\.properties|not (?:been )?formatted",
        "its log directory has no meta.properties",
        "Check that the right disk is mounted. Only for a new node, run `kafka-storage.sh format --cluster-id ID --config FILE` with the id of the existing cluster.",
        of_starts=True,
    ),
    _cause(
        "locked",
        r"Failed to acquire lock on file",
        "another process uses its log directory",
        "Find the other process with `fuser -v` on the file .lock of the log directory; do not delete the file while a broker is running.",
        of_starts=True,
    ),
    _cause(
        "port-in-use",
        r"Address already in use|Port already in use",
        "another process uses its port",
        "Find the process that listens on the port with `ss -ltnp`, and stop that process or change the port.",
        of_starts=True,
    ),
    _cause(
        "listener",
        r"Socket server failed to bind|Cannot assign requested address|Unresolved address|UnresolvedAddressException",
        "it could not bind a listener to its address",
        "Set `listeners` to an address of this machine or to 0.0.0.0; only `advertised.listeners` may name an outside address.",
        of_starts=True,
    ),
    _cause(
        "broker-id-taken",
        r"NodeExists|A broker is already registered|DuplicateBrokerRegistration",
        "another process is registered with its broker id, or its old session has not expired yet",
        "Check that no other broker has this id. After a crash, wait until the old session expires (`zookeeper.session.timeout.ms`) and start the broker again.",
    ),
    _cause(
        "authentication",
        r"AuthenticationException|SSLHandshake|SSL handshake|LoginException|Could not find a 'KafkaServer' or|InvalidPassword|keystore",
        "a login or a certificate failed",
        "Check the keystore, the truststore and their passwords, the JAAS configuration, and the validity of the certificates.",
    ),
    _cause(
        "zookeeper-unreachable",
        r"ZooKeeperClientTimeoutException|ZkTimeoutException|Unable to connect to zookeeper|Timed out waiting for connection while in state|UnknownHostException.*zoo|KeeperErrorCode = ConnectionLoss",
        "it could not reach ZooKeeper",
        "Check that ZooKeeper is running and has a majority, and that the addresses in `zookeeper.connect` can be reached from the broker.",
    ),
    _cause(
        "incompatible-version",
        r"UnsupportedVersionException|No MetadataVersion|unsupported (?:metadata|feature|version)|UnsupportedClassVersionError|incompatible|metadata\.version"
        r"|Found unexpected version in .*meta\.properties",
        "versions do not fit together",
        "Compare the version of the software with `metadata.version` or `inter.broker.protocol.version` of the cluster, and start the version that the cluster supports.",
        of_starts=True,
    ),
    _cause(
        "native-library",
        r"Could not initialize class (?:org\.xerial|com\.github\.luben|net\.jpountz)|UnsatisfiedLinkError|FAILED_TO_LOAD_NATIVE_LIBRARY",
        "the native library of a compression codec could not be loaded",
        "Check that java.io.tmpdir of the broker allows execution (not mounted with noexec) and has space, and that the libraries of snappy, zstd and lz4 in `libs` support the architecture of the machine. They need glibc, which Alpine Linux lacks without a package such as gcompat or libc6-compat. Until then, have the producers use another `compression.type`.",
    ),
    _cause(
        "wrong-libraries",
        r"NoSuchMethodError|NoSuchFieldError|NoClassDefFoundError|ClassNotFoundException",
        "its libraries are of different versions",
        "Remove libraries of other versions from the directory `libs` and from CLASSPATH, and install one version of Kafka completely.",
    ),
    _cause(
        "code-error",
        r"scala\.MatchError",
        "the code of this build has no case for what it read",
        "Report the exception to the maker of this build of Kafka, and run a release without this error. The data are not known to be damaged: delete nothing.",
    ),
    _cause(
        "log-dirs-failed",
        r"I/O error in metadata log directory|none of the specified log dirs|all log dirs in .* have failed|the metadata log dir .* has failed",
        "none of its log directories, or not that of the metadata log, could be used",
        "Check that the disks of `log.dirs` and `metadata.log.dir` are mounted, have space, and are writable for the user that runs the broker "
        "(`df -h`, `df -i`, `dmesg`, `ls -ld`).",
    ),
    _cause(
        "duplicate-log",
        r"Duplicate log directories (?:found|for)",
        "two of its directories are logs of the same partition",
        "Compare the two directories that the error names, and move the older one out of the log directories; keep a copy of both.",
    ),
    _cause(
        "foreign-directory",
        r"Found directory .* is not in the form of topic-partition",
        "one of its log directories contains a directory that is not a partition's",
        "Move the directory that the error names out of the log directory. If it is `lost+found`, the log directory is the root of a file system: "
        "set `log.dirs` to a directory below it and move the logs there.",
    ),
    _cause(
        "setting",
        r"ConfigException|Duplicate log directory found|Found unexpected metadata location|No broker ID found",
        *_SETTING,
        of_starts=True,
    ),
    _cause(
        "metadata-record",
        r"snapshot|MetadataLoader|Error (?:replaying|loading|applying) (?:metadata|record)|metadata (?:record|log|loading)|__cluster_metadata",
        "a snapshot or a record of the metadata log could not be read or applied",
        "Keep a copy of the directory __cluster_metadata-0 before any change, and compare its newest snapshot with that of another controller using `kafka-dump-log.sh --cluster-metadata-decoder`.",
    ),
    _cause(
        "permission",
        r"AccessDenied|Permission denied|is not writable|not readable|Read-only file system",
        "it was not allowed to read or write its files",
        "Give the log directories and their files to the user that runs the broker (`chown -R`), and check that the file system is not mounted read-only.",
    ),
    _cause(
        "file-in-use",
        r"being used by another process",
        "Windows refused to change a file that is mapped or open",
        "Complete the refused change by hand while the broker is stopped; the error names the file. Run Kafka on a system that can rename open files: "
        "Linux, a container, or WSL 2 on its own file system.",
    ),
    _cause(
        "configuration-missing",
        r"(?:NoSuchFile|FileNotFound)Exception: (?:\S*\.properties|--\S)",
        "its configuration file does not exist",
        "Start the broker with the path of its configuration file, from the directory that this path is relative to.",
    ),
    _cause(
        "corrupt-file",
        r"CorruptRecord|CorruptIndex|Malformed line|checkpoint file|KafkaStorageException|InvalidOffsetException|EOFException|BufferUnderflow",
        "a file in a log directory could not be read",
        "Copy the log directory before any repair, and search the lines before the error for the name of the file.",
    ),
    _cause(
        "setting",
        r"IllegalArgumentException|requirement failed|NumberFormatException|Missing required configuration",
        *_SETTING,
        of_starts=True,
    ),
    _cause(
        INTERRUPTED,
        r"Kafka server is still starting up, cannot shut down",
        "a signal ended it before it was up",
        "Find out who sent the signal: a person, or a supervisor whose start timeout is shorter than the start takes, for example with a long recovery of logs.",
        of_starts=True,
    ),
    _cause(
        "controller-not-ready",
        r"Received a fatal error while waiting",
        "the wait for the controller ended with an error",
        "Read the first error or fault in the log before the end of the start, and check that the controllers run a version that supports the metadata.version of the cluster.",
        of_starts=True,
    ),
    _cause(
        "timed-out",
        r"TimeoutException|Timed out",
        "it waited too long for another node",
        "Check that the controllers are running and have a majority, and that `controller.quorum.voters` or `controller.quorum.bootstrap.servers` names addresses that this node can reach.",
        of_starts=True,
    ),
)


EXPRESSIONS = tuple(cause.found.pattern for cause in _CAUSES)
"""What the errors say."""
_NAMED = {cause.name: cause for cause in _CAUSES}
_EFFECTS = ("mapped-file", "log-dirs-failed")
"""Causes that say what a process could not do, not why."""
_REFUSED = {
    "full": "disk-full",
    "in-use": "file-in-use",
    "denied": "permission",
    "read-only": "permission",
    "handles": "too-many-open-files",
    "maps": "map-failed",
}
"""Causes by the reason of a log-file-refused."""


def cause_of(errors: Iterable[Event], *, starting: bool = False) -> Cause | None:
    """The cause that the exceptions of these errors name; the most specific one."""
    said = "\n".join(part for e in errors for part in (e.key, _message(e)) if part)
    return next((c for c in _CAUSES if c.found.search(said) and (starting or not c.of_starts)), None)


def narrowed(cause: Cause, node: int | None, at: datetime | None, cluster: Cluster) -> Cause:
    """The cause behind one that names only its effect: what the system refused, by the node's last line about that since the node was up
    for the last time."""
    if cause.name not in _EFFECTS or node is None or at is None:
        return cause
    runs = cluster.availability(node).lives
    since = max((r.up.at for r in runs if r.up is not None and r.up.at is not None and r.up.at < at), default=datetime.min)
    refused = [e for e in cluster.of("log-file-refused") if e.writer == node and e.at is not None and since <= e.at <= at]
    reason = refused[-1].reason if refused else None
    if cause.name == "mapped-file" and reason != "full":
        return cause
    return _NAMED[_REFUSED[reason]] if reason in _REFUSED else cause


def _message(error: Event) -> str:
    """The error without its stack trace and logger, whose names of classes are not a cause."""
    return "\n".join(line.rpartition(" (")[0] or line for line in (error.text or "").split("\n") if line[:1].strip())


_SHOWN = 240
"""Characters of an exception that an explanation prints: some list all offsets of a batch."""


def exception(errors: Iterable[Event]) -> str | None:
    """The exception of the first error that has one."""
    thrown = next((e.key.split("; Caused by: ")[-1].rstrip(". ") for e in errors if e.key), None)
    return shortened(thrown, _SHOWN) if thrown is not None else None


def failures(
    events: Iterable[Event], key: Callable[[Event], object] = lambda e: None, apart: timedelta = SAME_FAILURE
) -> Iterator[tuple[int | None, list[Event]]]:
    """The errors of each node grouped by `key` and, if they are further apart than this, by time."""
    groups: dict[tuple[int | None, object], list[Event]] = defaultdict(list)
    for e in events:
        groups[(e.writer, key(e))].append(e)
    for (node, _), own in sorted(groups.items(), key=str):
        yield from ((node, run) for run in runs(own, apart))


def runs(events: Iterable[Event], apart: timedelta = SAME_FAILURE) -> Iterator[list[Event]]:
    """Errors in order of time, split where there was none for longer than one failure allows."""
    current: list[Event] = []
    for e in events:
        if current and e.at is not None and current[-1].last_at is not None and e.at - current[-1].last_at > apart:
            yield current
            current = []
        current.append(e)
    if current:
        yield current


def who(node: int | None, cluster: Cluster) -> Message:
    """A broker, or a node that is only a controller."""
    known = cluster.nodes.get(node) if node is not None else None
    return (
        said("node/unknown")
        if node is None
        else said(f"node/{'controller' if known is not None and not known.broker else 'broker'}", id=node)
    )


def named_node(node: int | None, cluster: Cluster) -> str:
    """'broker 1', or 'controller 100' for a node that is only a controller."""
    known = cluster.nodes.get(node) if node is not None else None
    return "a broker" if node is None else f"controller {node}" if known is not None and not known.broker else f"broker {node}"


def ends_the_jvm(memory: Event) -> bool:
    """Whether the JVM ended when it ran out of memory."""
    return memory.reason == "exit"


def of_fetcher(error: Event) -> bool:
    """Whether a replica fetcher ended."""
    return error.event == "fatal-error" and error.reason == "thread" and "ReplicaFetcher" in (error.text or "").split("\n")[0]


def span(events: Sequence[Event]) -> str:
    """When it happened, and how often."""
    first, last, times = events[0].at, events[-1].last_at, sum(e.repeats for e in events)
    return f"at {moment(first)}" if times == 1 or first == last else f"{times} times from {period(first, last)}"
