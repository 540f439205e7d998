"""Errors that end a process or a thread, grouped into failures, and the causes that their exceptions name.

Here: attempts to start, failures of one process, causes with their next steps. Not here: the runs of a process (availability), or findings.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import moment, period
from forensics.thresholds import SAME_FAILURE
from parsers.kinds import named


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause that an error names: `words` completes 'because …'."""

    name: str
    found: re.Pattern[str]
    words: str
    next_steps: tuple[str, ...]


def _cause(name: str, found: str, words: str, *steps: str) -> Cause:
    return Cause(name, re.compile(found, re.IGNORECASE), words, steps)


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
        "Free space on the disk outside the log directories, or enlarge the disk; check with `df -h` and `df -i`. Do not delete segment files by hand.",
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
        "cluster-id",
        r"InconsistentClusterIdException|Cluster ID \S+ doesn't match stored clusterId|Invalid cluster\.id|INCONSISTENT_CLUSTER_ID|cluster\.id.*(?:mismatch|expected)|StaleClusterId",
        "meta.properties in its log directories names another cluster",
        "Compare `cluster.id` in meta.properties of the log directories with the id of the cluster. Do not delete meta.properties before it is known which of the two is wrong.",
    ),
    _cause(
        "broker-id",
        r"InconsistentBrokerId|InconsistentBrokerMetadata|InconsistentNodeId|doesn't match stored (?:broker|node)\.id|Stored node id|node\.id.*(?:mismatch|expected)",
        "meta.properties in its log directories names another node id than the configuration",
        "Compare `broker.id` or `node.id` in the configuration with meta.properties of the log directories, and mount the disks that belong to the node.",
    ),
    _cause(
        "missing-meta-properties",
        r"No [`\"']?meta\.properties[`\"']? found|No readable meta\.properties|not (?:been )?formatted|kafka-storage",
        "its log directory has no meta.properties",
        "Check that the right disk is mounted. Only for a new node, run `kafka-storage.sh format --cluster-id ID --config FILE` with the id of the existing cluster.",
    ),
    _cause(
        "locked",
        r"Failed to acquire lock on file",
        "another process uses its log directory",
        "Find the other process with `fuser -v` on the file .lock of the log directory; do not delete the file while a broker is running.",
    ),
    _cause(
        "port-in-use",
        r"Address already in use|Port already in use",
        "another process uses its port",
        "Find the process that listens on the port with `ss -ltnp`, and stop that process or change the port.",
    ),
    _cause(
        "listener",
        r"Socket server failed to bind|Cannot assign requested address|Unresolved address|UnresolvedAddressException",
        "it could not bind a listener to its address",
        "Set `listeners` to an address of this machine or to 0.0.0.0; only `advertised.listeners` may name an outside address.",
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
        r"UnsupportedVersionException|No MetadataVersion|unsupported (?:metadata|feature|version)|UnsupportedClassVersionError|incompatible|inter\.broker\.protocol\.version|metadata\.version",
        "versions do not fit together",
        "Compare the version of the software with `metadata.version` or `inter.broker.protocol.version` of the cluster, and start the version that the cluster supports.",
    ),
    _cause(
        "wrong-libraries",
        r"NoSuchMethodError|NoSuchFieldError|NoClassDefFoundError|ClassNotFoundException",
        "its libraries are of different versions",
        "Remove libraries of other versions from the directory `libs` and from CLASSPATH, and install one version of Kafka completely.",
    ),
    _cause(
        "metadata-record",
        r"snapshot|MetadataLoader|Error (?:replaying|loading|applying) (?:metadata|record)|metadata (?:record|log|loading)|__cluster_metadata",
        "a snapshot or a record of the metadata log could not be applied",
        "Keep a copy of the directory __cluster_metadata-0 before any change, and compare its newest snapshot with that of another controller using `kafka-dump-log.sh --cluster-metadata-decoder`.",
    ),
    _cause(
        "permission",
        r"AccessDenied|Permission denied|is not writable|not readable|Read-only file system",
        "it was not allowed to read or write its files",
        "Give the log directories and their files to the user that runs the broker (`chown -R`), and check that the file system is not mounted read-only.",
    ),
    _cause(
        "corrupt-file",
        r"CorruptRecord|CorruptIndex|Malformed line|checkpoint file|KafkaStorageException|InvalidOffsetException|EOFException|BufferUnderflow",
        "a file in a log directory could not be read",
        "Copy the log directory before any repair, and search the lines before the error for the name of the file.",
    ),
    _cause(
        "setting",
        r"ConfigException|IllegalArgumentException|requirement failed|NumberFormatException|Missing required configuration",
        "a setting is missing or not valid",
        "Correct the setting that the error names in the configuration of the node, and start the node again.",
    ),
    _cause(
        "controller-not-ready",
        r"Received a fatal error while waiting",
        "the wait for the controller ended with an error",
        "Read the first error or fault in the log before the end of the start, and check that the controllers run a version that supports the metadata.version of the cluster.",
    ),
    _cause(
        "timed-out",
        r"TimeoutException|Timed out",
        "it waited too long for another node",
        "Check that the controllers are running and have a majority, and that `controller.quorum.voters` or `controller.quorum.bootstrap.servers` names addresses that this node can reach.",
    ),
)


def cause_of(errors: Iterable[Event]) -> Cause | None:
    """The cause that the exceptions of these errors name; the most specific one."""
    said = "\n".join(part for e in errors for part in (e.key, _message(e)) if part)
    return next((c for c in _CAUSES if c.found.search(said)), None)


def _message(error: Event) -> str:
    """The error without its stack trace and logger, whose names of classes are not a cause."""
    return "\n".join(line.rpartition(" (")[0] or line for line in (error.text or "").split("\n") if line[:1].strip())


def exception(errors: Iterable[Event]) -> str | None:
    """The exception of the first error that has one."""
    return next((e.key.split("; Caused by: ")[-1] for e in errors if e.key), None)


@dataclass(frozen=True, slots=True)
class FailedStart:
    """One attempt to start that failed: the start, if in evidence, and the errors after it."""

    begin: Event | None
    errors: tuple[Event, ...]


_STARTING = named("broker-starting", "controller-starting")
_OF_PROCESS = frozenset({"process", "fatal", "locked"})


def failed_starts(cluster: Cluster) -> dict[int | None, list[FailedStart]]:
    """The failed starts of each node, in order of time."""
    own: dict[int | None, list[Event]] = defaultdict(list)
    for e in cluster.of(
        "broker-starting", "controller-starting", "broker-started", "fatal-error", "cluster-id-mismatch", "broker-id-mismatch"
    ):
        if e.event == "fatal-error" or e.writer is not None:
            own[e.writer].append(e)
    return {node: found for node, events in own.items() if (found := list(_attempts(events)))}


def _attempts(events: Sequence[Event]) -> Iterator[FailedStart]:
    begin: Event | None = None
    errors: list[Event] = []
    for e in events:
        if e.event in _STARTING:
            yield from _attempt(begin, errors)
            begin, errors = e, []
        elif e.event == "broker-started":
            begin = begin if errors else None  # a start that fails may still print that it is done, before it stops
        elif e.event != "fatal-error":
            errors += [e] if begin is not None else []
        elif e.reason in _OF_PROCESS and (begin is not None or errors or _of_start(e)):
            errors.append(e)
    yield from _attempt(begin, errors)


def _attempt(begin: Event | None, errors: Sequence[Event]) -> Iterator[FailedStart]:
    if any(e.event == "fatal-error" for e in errors):
        yield FailedStart(begin, tuple(errors))


def _of_start(error: Event) -> bool:
    return bool(
        re.search(r"start(?:ing|up)|while waiting for|unable to register|meta\.properties|ConfigException", f"{error.text} {error.key}")
    )


def failures(events: Iterable[Event], key: Callable[[Event], object] = lambda e: None) -> Iterator[tuple[int | None, list[Event]]]:
    """The errors of each node grouped by `key` and, if they are far apart, by time."""
    groups: dict[tuple[int | None, object], list[Event]] = defaultdict(list)
    for e in events:
        groups[(e.writer, key(e))].append(e)
    for (node, _), own in sorted(groups.items(), key=str):
        current: list[Event] = []
        for e in own:
            if current and e.at is not None and current[-1].at is not None and e.at - current[-1].at > SAME_FAILURE:
                yield node, current
                current = []
            current.append(e)
        yield node, current


def named_node(node: int | None, cluster: Cluster) -> str:
    """'broker 1', or 'controller 100' for a node that is only a controller."""
    known = cluster.nodes.get(node) if node is not None else None
    return "a broker" if node is None else f"controller {node}" if known is not None and not known.broker else f"broker {node}"


def span(events: Sequence[Event]) -> str:
    """When it happened, and how often."""
    first, last = events[0].at, events[-1].at
    return f"at {moment(first)}" if len(events) == 1 or first == last else f"{len(events)} times from {period(first, last)}"
