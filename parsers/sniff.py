"""The kind of a file of the evidence, from its name and its first bytes; content takes precedence where it is clear.

Here: the kinds, Kafka's file names (rotated, compressed, renamed, half written) and how their content looks. Not here: the reading of
files. Names are from Kafka's log4j configuration, LogManager, UnifiedLog, LocalLog, Snapshots and the checkpoint classes.
"""

from __future__ import annotations

import re

from parsers.lines import UTF16, decoded
from parsers.schemas import Member

KINDS: dict[str, str] = {
    "server-log": "server.log of a broker or controller",
    "state-change-log": "state-change.log",
    "controller-log": "controller.log",
    "log-cleaner-log": "log-cleaner.log",
    "request-log": "kafka-request.log",
    "authorizer-log": "kafka-authorizer.log",
    "gc-log": "garbage collection log of the JVM",
    "stdout-log": "standard output of a process, as kafkaServer.out",
    "other-log": "log lines under an unknown name; read like a broker's log",
    "hw-checkpoint": "replication-offset-checkpoint",
    "recovery-point-checkpoint": "recovery-point-offset-checkpoint",
    "log-start-checkpoint": "log-start-offset-checkpoint",
    "cleaner-checkpoint": "cleaner-offset-checkpoint",
    "epoch-checkpoint": "leader-epoch-checkpoint",
    "meta-properties": "meta.properties",
    "partition-metadata": "partition.metadata",
    "clean-shutdown": ".kafka_cleanshutdown",
    "server-properties": "configuration of a broker or controller",
    "segment": "record batches of a partition",
    "metadata-segment": "record batches of __cluster_metadata-0",
    "metadata-snapshot": "snapshot of __cluster_metadata-0, or bootstrap.checkpoint",
    "quorum-state": "quorum-state of __cluster_metadata-0",
    "producer-snapshot": "producer state of a partition",
    "index": "offset, time or transaction index of a segment",
    "describe": "output of kafka-topics --describe",
    "reassignment-json": "partition assignments as kafka-reassign-partitions reads and prints them",
    "election-json": "partitions for kafka-leader-election or kafka-preferred-replica-election",
    "znode": "what ZooKeeper holds of a Kafka cluster, as files or as its shell prints it",
    "reassignment-output": "output of kafka-reassign-partitions",
    "election-output": "output of kafka-leader-election or kafka-preferred-replica-election",
    "log-dirs": "output of kafka-log-dirs",
    "metadata-quorum": "output of kafka-metadata-quorum",
    "config-output": "output of kafka-configs --describe",
    "offsets-output": "output of kafka-get-offsets",
    "groups-output": "output of kafka-consumer-groups or kafka-share-groups --describe",
    "features-output": "output of kafka-features",
    "cluster-id": "output of kafka-cluster cluster-id",
    "load-metrics": "load of brokers, CSV",
    "redaction": "mark of evidence in which names were replaced",
    "json": "other JSON",
    "empty": "no bytes, under a name that gives that no meaning",
    "binary": "bytes that are no text, under no name that explains them; a log that is all NUL, for one",
    "text": "other text",
}

REDACTION = "kafka-forensics-redacted.json"
"""The file that marks redacted evidence."""

_SEGMENT_SUFFIX = r"(?:\.(?:deleted|cleaned|swap|part))*"
_NAMES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(expression, re.IGNORECASE))
    for kind, expression in (
        ("segment", rf"\d{{20}}\.log{_SEGMENT_SUFFIX}"),
        ("index", rf"\d{{20}}\.(?:index|timeindex|txnindex){_SEGMENT_SUFFIX}"),
        ("producer-snapshot", rf"\d{{20}}\.snapshot{_SEGMENT_SUFFIX}"),
        ("metadata-snapshot", rf"(?:\d{{20}}-\d{{10}}|bootstrap)\.checkpoint{_SEGMENT_SUFFIX}"),
        ("hw-checkpoint", r"(?:.*[^a-z])?replication-offset-checkpoint(?:[^a-z].*)?"),
        ("recovery-point-checkpoint", r"(?:.*[^a-z])?recovery-point-offset-checkpoint(?:[^a-z].*)?"),
        ("log-start-checkpoint", r"(?:.*[^a-z])?log-start-offset-checkpoint(?:[^a-z].*)?"),
        ("cleaner-checkpoint", r"(?:.*[^a-z])?cleaner-offset-checkpoint(?:[^a-z].*)?"),
        ("epoch-checkpoint", r"(?:.*[^a-z])?leader-epoch-checkpoint(?:[^a-z].*)?"),
        ("meta-properties", r"(?:.*[^a-z])?meta\.properties(?:[^a-z].*)?"),
        ("partition-metadata", r"partition\.metadata(?:[^a-z].*)?"),
        ("clean-shutdown", r"\.?kafka_cleanshutdown"),
        ("quorum-state", r"quorum-state(?:[^a-z].*)?"),
        ("redaction", re.escape(REDACTION)),
    )
)
"""Names that determine the kind regardless of content: a damaged or empty file of this kind is itself evidence about its broker."""

_LOG_NAMES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(expression, re.IGNORECASE))
    for kind, expression in (
        ("gc-log", r"(?:^|[^a-z]|server|controller)gc[^a-z/]*(?:\.log|\.current|$)|garbage.?collection"),
        ("state-change-log", r"state[-_.]?change"),
        ("log-cleaner-log", r"log[-_.]?cleaner"),
        ("request-log", r"(?:^|[^a-z])(?:kafka[-_.])?request.*\.log"),
        ("authorizer-log", r"(?:^|[^a-z])(?:kafka[-_.])?authorizer.*\.log"),
        ("controller-log", r"(?:^|[^a-z])controller.*\.log"),
        ("stdout-log", r"\.(?:out|stdout|stderr)(?:[^a-z]|$)|^(?:stdout|stderr|console|nohup)(?:[^a-z]|$)"),
        ("server-log", r"(?:^|[^a-z])(?:kafka[-_.]?)?(?:server|broker).*\.log"),
    )
)

_COMPRESSION = re.compile(r"\.(?:gz|bz2|xz|zst|zip|z)$", re.IGNORECASE)
_LEVEL = r"(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)"
_STAMP = r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d"
_LOG_LINE = re.compile(
    rf"{_STAMP}\S*\s[^\n]{{0,80}}?\b{_LEVEL}\b|\b{_LEVEL}\b[^\n]{{0,80}}?{_STAMP}"
    rf'|"(?:level|severity|log\.level)" ?: ?"(?i:{_LEVEL})"'
)
_LOGGERS = (
    ("state-change-log", "(state.change.logger)"),
    ("controller-log", "(kafka.controller."),
    ("controller-log", "(org.apache.kafka.controller."),
    ("log-cleaner-log", "LogCleaner)"),
    ("request-log", "(kafka.request.logger)"),
    ("authorizer-log", "(kafka.authorizer.logger)"),
)
_GC_LINE = re.compile(
    r"^(?:\[[^\]\n]*\])*\[gc[\],\s]|: \[(?:Full )?GC[ (]|^\S* ?\d+\.\d+: \[(?:Full )?GC|^Java HotSpot\(TM\)|^OpenJDK 64-Bit Server VM|^(?:\[[^\]\n]*\])+ ?GC\(\d+\) ",
    re.M,
)
_DESCRIBE = re.compile(
    r"^\s*Topic: ?\S+\s+(?:TopicId: ?\S+\s+)?PartitionCount: ?\d+\s+ReplicationFactor:"
    r"|^\s*Topic: ?\S+\s+Partition: ?\d+\s+Leader: ?(?:-?\d+|none)\b",
    re.M,
)
_BROKER_SETTING = r"log\.dirs?|process\.roles|zookeeper\.connect|controller\.quorum\.(?:voters|bootstrap\.servers)|listeners"
_SETTING = re.compile(rf"^[ \t]*(?:broker\.id|node\.id|{_BROKER_SETTING})[ \t]*[=:]", re.M)
_SETTING_OF_SERVER = re.compile(rf"^[ \t]*(?:{_BROKER_SETTING})[ \t]*[=:]", re.M)
_PROPERTIES_NAME = re.compile(r"\.(?:properties|conf|cfg)(?:[^a-z].*)?$", re.IGNORECASE)
_ASSIGNMENTS = re.compile(r'"partitions"\s*:\s*\[.*"replicas"\s*:\s*\[', re.S)
_ELECTIONS = re.compile(r'\{\s*(?:"version"\s*:\s*\d+\s*,\s*)?"partitions"\s*:\s*\[\s*\{[^{}\[]*"(?:topic|partition)"\s*:[^{}\[]*\}')
_TOOLS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(expression, re.M))
    for kind, expression in (
        ("znode", r"^WATCHER::$|^cZxid = 0x|^(?:/[\w./<>-]+[ :=]*)?\{(?=[^\n]*\"leader_epoch\"\s*:)"
         r"(?=[^\n]*\"controller_epoch\"\s*:)[^\n]*\"isr\"\s*:\s*\["),
        ("reassignment-output", r"^(?:Current partition replica assignment|Proposed partition reassignment|Status of partition reassignment:"
         r"|Current partition reassignments:|No partition reassignments found|Successfully (?:started|cancelled) (?:partition )?reassignment"
         r"|Failed to reassign partitions |Error reassigning partition|Error cancelling partition reassignment)"),
        ("election-output", r"^(?:(?:Successfully completed|Error completing) (?:leader election \(|preferred replica election)"
         r"|Valid replica already elected for |Successfully started preferred replica election)"),
        ("log-dirs", r"^(?:Querying brokers for log directories information|\{[^\n]*\"brokers\"\s*:\s*\[\s*\{[^\n]{0,99}\"logDirs\"\s*:)"),
        ("metadata-quorum", r"^LeaderEpoch: +\d+\s*$|^NodeId\s+(?:DirectoryId\s+)?LogEndOffset\s+Lag\s"),
        ("config-output", r"^(?:(?:All|Dynamic) configs|Configs|Default configs?) for (?:topic|broker|default)[^\n]* (?:are:|are |are$)"),
        ("groups-output", r"^(?:GROUP\s+)?TOPIC\s+PARTITION\s+(?:LEADER-EPOCH\s+)?(?:CURRENT-OFFSET\s+LOG-END|START)-OFFSET\s+LAG\b"),
        ("features-output", r"^Feature: \S+\s+SupportedMinVersion: "),
        ("cluster-id", r"^Cluster ID: \S{22}\s*$"),
    )
)  # fmt: skip
"""Lines that identify the output of Kafka's tools, or of ZooKeeper's shell, under any file name."""
_OFFSETS = re.compile(r"(?!\d\d:\d\d:\d\d\s*$)[a-zA-Z0-9._-]{1,249}:\d{1,10}:\d*(?:,\d+)*\s*")
_COLUMNS_PART = re.compile(r"[,;\t]")
_BROKER_COLUMN = re.compile(r' *"?(?:broker|node)[ _.]?(?:id)?"? *', re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_ZNODE_PATH = re.compile(
    r"(?:^|[/_.-])(?:brokers[/_.-](?:ids[/_.-]\d+|topics[/_.-].+)|controller|controller_epoch|cluster[/_.-]id|(?:isr_change|log_dir_event)_notification(?:\b|_).*"
    r"|admin[/_.-](?:reassign_partitions|preferred_replica_election)|config[/_.-](?:topics|brokers)[/_.-].+)(?:\.(?:json|txt|out|znode|data))?$"
)
_ZNODE_CONTENT = re.compile(r'\s*(?:\{\s*"(?:version|controller_epoch|leader|partitions|config|listener_security_protocol_map|endpoints'
                            r'|features|jmx_port|host|brokerid|id|topic_id|adding_replicas|removing_replicas|isr|leader_epoch|leader_recovery_state)"\s*:|\d{1,10}\s*$)')  # fmt: skip
_IDENTITY = re.compile(r"^(?:cluster\.id|directory\.id)\s*=", re.M)

_PARTITION = re.compile(r"(?P<topic>[a-zA-Z0-9._-]{1,249})-(?P<partition>\d{1,10})(?:\.[0-9a-f]{32}-(?P<state>delete|future|stray))?")


def sniff(member: Member, head: bytes) -> str:
    """The kind of a member, one of KINDS, from its path and its first bytes (some thousand, fewer only at its end)."""
    name = _name(member.path)
    if kind := _by_name(member.path, name):
        return kind
    if not head:
        return "empty"
    text = decoded(head)
    if _DESCRIBE.search(text):
        return "describe"
    if kind := _told_by_tool(member.path, text):
        return kind
    if _LOG_LINE.search(text) and not text.lstrip().startswith(('{"version"', '{"partitions"')):
        return _log_kind(name, text)
    if _is_binary(head):
        return "binary"
    return _gc(name, text) or _structured(name, text) or _first(_LOG_NAMES, name) or "text"


def log_kind(path: str) -> str | None:
    """The kind of a log by its name alone; None if the name does not determine it."""
    return _first(_LOG_NAMES, _name(path))


def partition_of(path: str) -> tuple[str, int, str] | None:
    """(topic, partition, state) from the directory a path lies in; state is 'current', 'delete', 'future' or 'stray'.

    The names are those of UnifiedLog.logDirName and its kin. Any directory named `<word>-<number>`, such as `broker-1`, looks the same:
    call this only for files that Kafka keeps in partition directories.
    """
    parts = path.split("/")
    match = _PARTITION.fullmatch(parts[-2]) if len(parts) > 1 else None
    if match is None or int(match["partition"]) >= 2**31:
        return None
    return match["topic"], int(match["partition"]), match["state"] or "current"


def is_unfinished(path: str) -> bool:
    """A checkpoint's temporary file: the process ended before the write was finished."""
    return path.endswith(".tmp")


def _name(path: str) -> str:
    name = path.rpartition("/")[2]
    return _COMPRESSION.sub("", name)


def _by_name(path: str, name: str) -> str | None:
    kind = next((kind for kind, expression in _NAMES if expression.fullmatch(name)), None)
    parts = path.split("/")
    if kind == "segment" and len(parts) > 1 and parts[-2] == "__cluster_metadata-0":
        return "metadata-segment"
    return kind


def _first(names: tuple[tuple[str, re.Pattern[str]], ...], name: str) -> str | None:
    return next((kind for kind, expression in names if expression.search(name)), None)


def _is_binary(head: bytes) -> bool:
    if head.startswith(UTF16):
        return "\0" in decoded(head)
    control = sum(head.count(byte) for byte in (*range(9), *range(14, 27), *range(28, 32)))
    broken = head.decode("utf-8", "replace").count("\ufffd")
    return b"\0" in head or (control + broken) * 10 > len(head)


def _log_kind(name: str, text: str) -> str:
    if kind := _first(_LOG_NAMES, name):
        return kind
    lines = sum(1 for line in text.splitlines() if _LOG_LINE.search(line))
    return next((kind for kind, logger in _LOGGERS if text.count(logger) * 2 > lines), "other-log")


def _told_by_tool(path: str, text: str) -> str | None:
    if kind := next((kind for kind, expression in _TOOLS if expression.search(text)), None):
        return kind
    rows = (text[: text.rfind("\n") + 1] or text).strip().splitlines()
    if rows and all(_OFFSETS.fullmatch(row) for row in rows):
        return "offsets-output"
    if _ZNODE_PATH.search(path) and _ZNODE_CONTENT.match(text):
        return "znode"
    return None


def _gc(name: str, text: str) -> str | None:
    return "gc-log" if _GC_LINE.search(text) and _first(_LOG_NAMES, name) in ("gc-log", None) else None


def _structured(name: str, text: str) -> str | None:
    if text.lstrip()[:1] in ("{", "["):
        if '"leaderEpoch"' in text and '"votedId"' in text:
            return "quorum-state"
        if _ASSIGNMENTS.search(text):
            return "reassignment-json"
        return "election-json" if _ELECTIONS.match(text.lstrip()) else "json"
    if name.lower().endswith((".csv", ".tsv")) or _metrics(text):
        return "load-metrics"
    if _PROPERTIES_NAME.search(name):
        if _IDENTITY.search(text) and "version=" in text and not _SETTING_OF_SERVER.search(text):
            return "meta-properties"
        if _SETTING.search(text) or name.lower().startswith(("server", "broker", "controller", "kafka")):
            return "server-properties"
    return None


def _metrics(text: str) -> bool:
    """A header with a broker column, and a number below it."""
    header, _, below = text.partition("\n")
    columns = _COLUMNS_PART.split(header.rstrip("\r"))
    named = len(columns) > 1 and any(map(_BROKER_COLUMN.fullmatch, columns))
    return named and _DIGIT.search(below.partition("\n")[0]) is not None
