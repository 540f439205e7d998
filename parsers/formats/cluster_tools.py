"""Saved output of the Kafka command line tools: reassignments, elections, sizes, quorum, settings, offsets, features.

Here: output of kafka-reassign-partitions, kafka-leader-election, kafka-preferred-replica-election, kafka-log-dirs, kafka-metadata-quorum,
kafka-configs, kafka-get-offsets, kafka-consumer-groups, kafka-features and kafka-cluster in the spellings of all versions, alone or one
after the other in one file. Not here: kafka-topics (parsers.formats.describe), the tools' input files (parsers.formats.assignments).
Sources: the tools' classes in kafka.admin, kafka.tools and, from 3.6 on, org.apache.kafka.tools.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, BinaryIO

from parsers.formats.assignments import (
    TOPIC,
    DocumentPiece,
    MalformedDocument,
    broker_ids,
    common,
    malformed,
    number,
    partitions,
    pieces,
    shown,
    topic_name,
)
from parsers.formats.file_kind import FileKind, Head, with_line
from parsers.formats.problems import limited
from parsers.masking import masked
from parsers.schemas import INT32, INT64, MAX_TEXT, Member, Row

_TP = rf"(?:\[(?P<t1>{TOPIC}), ?(?P<p1>\d+)\]|(?P<t2>{TOPIC})-(?P<p2>\d+))"
_EACH = re.compile(rf"\[({TOPIC}), ?(\d+)\]|(?:^|[\s,(])({TOPIC})-(\d+)(?=$|[\s,)])")
_PARTITION = range(2**31)
_GROUPS = re.compile(r"(?:GROUP\s+)?TOPIC\s+PARTITION\s+(?:LEADER-EPOCH\s+)?(?:CURRENT-OFFSET\s+LOG-END|START)-OFFSET\s+LAG\b")

Match = re.Match[str]
Reader = Callable[["_Output", DocumentPiece, Match], Iterator[Row]]


def read(stream: BinaryIO, member: Member) -> Iterator[Row]:
    """Rows of all tool output in a file, at the file's time (UTC); other text is skipped.

    'assignment' (reason current or proposed), 'tool-reassignment', 'tool-election', 'replica-size', 'log-dir-reported', 'quorum-state',
    'quorum-replica', 'config', 'tool-offset', 'group-commit', 'group-member'. A broken line is a problem with reason
    'tool-output-malformed'.
    """
    yield from limited(_Output(member).rows(stream), member)


class _Output:
    """The state of one walk: how earlier lines affect the reading of the next."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self.assignment = "plan"
        self.failed: str | None = None
        """Reason of the rows 'topic-0: why' after a heading that says so."""
        self.scope: Row | None = None
        """The entity whose settings follow, after a heading of kafka-configs."""
        self.heading: DocumentPiece | None = None
        self.settings: list[str] = []
        self.whole = False
        self.quorum: dict[str, str] = {}
        self.quorum_at: DocumentPiece | None = None
        self.columns: list[str] = []
        self.of_groups: list[str] = []
        """Columns of kafka-consumer-groups, or of kafka-share-groups."""

    def rows(self, stream: BinaryIO) -> Iterator[Row]:
        last: DocumentPiece | None = None
        for piece in pieces(stream, self.member):
            if isinstance(piece, dict):
                yield piece
                continue
            last = piece
            try:
                yield from self._document(piece) if piece.value is not None else self._line(piece)
            except MalformedDocument as error:
                yield malformed(self.member, piece, f"{error}: {piece.text[:200]}", "tool-output-malformed")
        if last is not None:
            yield from self._closed(last)

    def _row(self, piece: DocumentPiece, pattern: str, event: str, **columns: Any) -> Row:
        return {**common(self.member, pattern, piece), "event": event, **columns}

    def _document(self, piece: DocumentPiece) -> Iterator[Row]:
        document = piece.value
        if isinstance(document, dict) and isinstance(document.get("brokers"), list):
            yield from self._log_dirs(piece, document["brokers"])
        elif isinstance(document, dict) and isinstance(document.get("partitions"), list):
            yield from partitions(piece, self.member, self.assignment, "reassign-output")
        else:
            raise MalformedDocument("JSON that none of the tools prints")

    def _line(self, piece: DocumentPiece) -> Iterator[Row]:
        if piece.text.startswith("{"):
            raise MalformedDocument("JSON that is cut off or damaged")
        yield from self._headings(piece)
        if self.columns and (cells := _cells(piece.text)) and cells[0].isdecimal():
            yield self._quorum_replica(piece, cells)
            return
        if _GROUPS.match(piece.text):
            self.of_groups = piece.text.split()
            return
        if self.of_groups and len(cells := piece.text.split()) >= len(self.of_groups):
            yield from self._group(piece, dict(zip(self.of_groups, cells, strict=False)))
            return
        if match := _QUORUM.fullmatch(piece.text):
            self.quorum_at = self.quorum_at or piece
            self.quorum[match["name"]] = match["value"].strip()
            if match["name"] == "CurrentObservers":
                yield from self._quorum_state()
            return
        for expression, reader in _LINES:
            if match := expression.match(piece.text):
                yield from reader(self, piece, match)
                return

    def _headings(self, piece: DocumentPiece) -> Iterator[Row]:
        """Ends the section of earlier lines, and records the heading that applies to the lines after it."""
        text = piece.text
        if self.scope is not None and not _SETTING.match(text):
            yield from self._settings_end()
        if text.startswith("Current partition replica assignment"):
            self.assignment = "current"
        elif text.startswith("Proposed partition reassignment configuration"):
            self.assignment = "proposed"
        elif text.startswith(("Successfully started", "Successfully cancelled", "Failed to reassign")):
            self.assignment = "plan"
        if text.startswith("NodeId") and "LogEndOffset" in text:
            self.columns = _cells(text)
        elif self.columns and not text[:1].isdigit():
            self.columns = []
        if text.startswith(("Error reassigning partition", "Error cancelling partition reassignment")):
            self.failed = "failed"
        elif self.failed and not _FAILED.match(text):
            self.failed = None

    def _closed(self, last: DocumentPiece) -> Iterator[Row]:
        if self.scope is not None:
            yield from self._settings_end()
        if self.quorum:
            try:
                yield from self._quorum_state()
            except MalformedDocument as error:
                yield malformed(self.member, last, str(error), "tool-output-malformed")

    def _group(self, piece: DocumentPiece, cells: Mapping[str, str]) -> Iterator[Row]:
        """A group's position in a partition, and the member that reads the partition; up to 1.1 the tool did not print the group."""
        if "GROUP" not in cells or not cells["PARTITION"].isdecimal():
            return
        of = {"value": cells["GROUP"], "topic": topic_name(cells["TOPIC"]), "partition": number(cells["PARTITION"], _PARTITION)}
        if cells.get("START-OFFSET", "").isdecimal():
            yield self._row(piece, "groups-output", "group-commit", **of, offset=number(cells["START-OFFSET"], INT64), reason="share")
        if cells.get("CURRENT-OFFSET", "").isdecimal():
            epoch = cells.get("LEADER-EPOCH", "-")
            commit = {"offset": number(cells["CURRENT-OFFSET"], INT64), "leader_epoch": number(epoch, INT32) if epoch.isdecimal() else None}
            yield self._row(piece, "groups-output", "group-commit", **of, **commit)
        if cells.get("CONSUMER-ID", "-") != "-" and "CLIENT-ID" in cells:
            host = cells["HOST"].removeprefix("/") if "HOST" in cells else None
            yield self._row(piece, "groups-output", "group-member", **of, key=cells["CLIENT-ID"], host=host)

    # reassignments

    def _started_moves(self, piece: DocumentPiece, moves: Match) -> Iterator[Row]:
        for match in re.finditer(rf"(?<![a-zA-Z0-9._-])(?P<t2>{TOPIC})-(?P<p2>\d+)-(?P<broker>\d+)(?=,|$|\s)", moves["named"]):
            named = {"topic": topic_name(match["t2"]), "partition": number(match["p2"], _PARTITION)}
            columns = {**named, "broker": number(match["broker"], INT32)}
            yield self._row(piece, "reassign-output", "tool-reassignment", reason="started", **columns)

    def _failure(self, piece: DocumentPiece, match: Match) -> Iterator[Row]:
        if self.failed:
            columns = {"reason": self.failed, **_partition(match), "value": match["why"]}
            yield self._row(piece, "reassign-output", "tool-reassignment", **columns)

    # kafka-log-dirs

    def _log_dirs(self, piece: DocumentPiece, brokers: list[Any]) -> Iterator[Row]:
        for broker_json in brokers:
            if not isinstance(broker_json, dict) or not isinstance(broker_json.get("logDirs"), list):
                raise MalformedDocument("a broker without log directories")
            broker = number(broker_json.get("broker"), INT32)
            for directory in broker_json["logDirs"]:
                yield from self._log_dir(piece, broker, directory)

    def _log_dir(self, piece: DocumentPiece, broker: int, described: Any) -> Iterator[Row]:
        if (
            not isinstance(described, dict)
            or not isinstance(described.get("logDir"), str)
            or not isinstance(described.get("partitions", []), list)
        ):
            raise MalformedDocument("a log directory without a name")
        directory = described["logDir"].encode("utf-8", "replace").decode()[:MAX_TEXT]
        error = described.get("error")
        columns = {"text": directory, "broker": broker, "directory": directory, "value": shown(error).strip('"') if error else None}
        yield self._row(piece, "log-dirs", "log-dir-reported", **columns)
        for replica in described.get("partitions", []):
            try:
                yield self._row(piece, "log-dirs", "replica-size", **_replica(replica), broker=broker, directory=directory)
            except MalformedDocument as wrong:
                yield malformed(self.member, piece, f"{wrong}: {shown(replica)[:200]}", "tool-output-malformed")

    # kafka-metadata-quorum

    def _quorum_state(self) -> Iterator[Row]:
        quorum, piece = self.quorum, self.quorum_at
        self.quorum, self.quorum_at = {}, None
        assert piece is not None
        if "LeaderId" not in quorum or "LeaderEpoch" not in quorum:
            return
        columns = {
            "leader": number(quorum["LeaderId"], INT32),
            "controller_epoch": number(quorum["LeaderEpoch"], INT32),
            "high_watermark": number(quorum["HighWatermark"], INT64) if "HighWatermark" in quorum else None,
            "brokers": _voters(quorum.get("CurrentVoters", "")),
            "value": quorum.get("ClusterId"),
        }
        text = "\n".join(f"{name}: {value}" for name, value in quorum.items())
        yield {**self._row(piece, "metadata-quorum", "quorum-state", **columns), "text": text[:MAX_TEXT]}

    def _quorum_replica(self, piece: DocumentPiece, cells: list[str]) -> Row:
        cells_by_name = dict(zip(self.columns, cells, strict=False))
        broker, end = number(cells_by_name.get("NodeId"), INT32), number(cells_by_name.get("LogEndOffset"), INT64)
        caught_up = cells_by_name.get("LastCaughtUpTimestamp", "")
        seen = {"broker": broker, "log_end_offset": end, "last_caught_up_ms": number(caught_up, INT64) if caught_up.isdecimal() else None}
        return self._row(
            piece,
            "metadata-quorum",
            "quorum-replica",
            broker=broker,
            log_end_offset=end,
            count=number(cells_by_name.get("Lag"), INT64),
            directory=cells_by_name.get("DirectoryId"),
            reason=cells_by_name.get("Status", "").lower() or None,
            replica_offsets=[seen],
        )

    # kafka-configs

    def _settings_of(self, piece: DocumentPiece, match: Match) -> Iterator[Row]:
        """The heading from 1.1 on; settings follow, one per line."""
        kind, name = match["kind"] or "", match["name"]
        self.heading, self.settings, self.whole = piece, [], match["all"] != "All"
        if kind == "topic":
            self.scope = {"topic": topic_name(name)}
        elif kind == "broker":
            self.scope = {"broker": number(name, INT32)}
        elif match["default"]:
            self.scope = {}
        yield from ()

    def _settings_end(self) -> Iterator[Row]:
        """Without --all, the list contains all dynamic settings."""
        scope, self.scope = self.scope or {}, None
        if self.whole and self.heading is not None:
            yield self._complete(self.heading, scope, self.settings)

    def _complete(self, piece: DocumentPiece, scope: Row, keys: list[str]) -> Row:
        listed = {"value": ",".join(keys)[:MAX_TEXT], "count": len(keys), "reason": _source_of(scope)}
        return self._row(piece, "config-output", "config", **scope, **listed)

    def _setting(self, piece: DocumentPiece, match: Match) -> Iterator[Row]:
        if self.scope is None:
            return
        first = re.match(r"([A-Z_]+_CONFIG):", match["synonyms"])
        key, value = match["key"], match["value"]
        self.settings.append(key)
        kept = None if match["sensitive"] == "true" and value == "null" else masked(key, value)
        source = first[1] if first else _source_of(self.scope) if self.whole else "DEFAULT_CONFIG"
        columns = {"key": key, "value": "[hidden]" if kept is None else kept, "reason": source}
        text = f"{key}={columns['value']} synonyms={{{masked(key, match['synonyms'])}}}"
        yield {**self._row(piece, "config-output", "config", **self.scope, **columns), "text": text[:MAX_TEXT]}

    def _settings_listed(self, piece: DocumentPiece, match: Match) -> Iterator[Row]:
        """The format for --zookeeper, and for all settings before 1.1: one line."""
        scope: Row = {}
        if match["kind"] == "topic":
            scope = {"topic": topic_name(match["name"])}
        elif match["name"] not in (None, "<default>") and not match["default"]:
            scope = {"broker": number(match["name"], INT32)}
        keys: list[str] = []
        for setting in re.split(r",(?=[a-z][\w.-]*=)", match["settings"]):
            key, given, value = setting.partition("=")
            if given:
                keys.append(key)
                value = masked(key, value)
                row = self._row(piece, "config-output", "config", **scope, key=key, value=value, reason=_source_of(scope))
                yield {**row, "text": f"{key}={value}"[:MAX_TEXT]}
        yield {**self._complete(piece, scope, keys), "text": piece.text.split(" are ")[0] + " are"}

    # offsets, features, cluster id

    def _offset(self, piece: DocumentPiece, match: Match) -> Iterator[Row]:
        """The latest offset that a consumer sees is the high watermark, never the log end."""
        named = {"topic": topic_name(match["topic"]), "partition": number(match["partition"], _PARTITION)}
        offsets = [number(offset, INT64) for offset in match["offsets"].split(",") if offset]
        name = self.member.path.rpartition("/")[2].lower()
        latest = re.search(r"latest|(?:^|[^a-z])(?:end|hw)(?:[^a-z]|$)|high.?watermark", name) is not None
        earliest = re.search(r"earliest|beginning|(?:^|[^a-z])(?:begin|start)(?:[^a-z]|$)", name) is not None
        for offset in offsets[:1]:
            columns: Row = {"offset": offset, "reason": "latest" if latest else "earliest" if earliest else None}
            if latest != earliest:
                columns["high_watermark" if latest else "log_start_offset"] = offset
            yield self._row(piece, "get-offsets", "tool-offset", **named, **columns)

    def _feature(self, piece: DocumentPiece, match: Match) -> Iterator[Row]:
        if match["level"] not in ("-", "0") or match["name"] == "kraft.version":
            yield self._row(piece, "features", "config", key=match["name"], value=match["level"])

    def _cluster_id(self, piece: DocumentPiece, match: Match) -> Iterator[Row]:
        yield self._row(piece, "cluster-id", "config", key="cluster.id", value=match["id"])


def _partition(match: Match) -> Row:
    groups = match.groupdict()
    topic, partition = (groups.get("t1"), groups.get("p1")) if groups.get("t1") else (groups.get("t2"), groups.get("p2"))
    return {"topic": topic_name(topic), "partition": number(partition, _PARTITION)}


def _named(text: str) -> list[Row]:
    """Partitions of a list, with any separators."""
    named = ((m[1] or m[3], m[2] or m[4]) for m in _EACH.finditer(text))
    return [{"topic": topic_name(topic), "partition": number(partition, _PARTITION)} for topic, partition in named]


def _ids(text: str) -> list[int]:
    return [number(n, INT32) for n in re.findall(r"-?\d+", text)]


_COLUMNS: Mapping[str, tuple[str, Callable[[str], object]]] = {
    "broker": ("broker", lambda text: number(text, INT32)),
    "replicas": ("replicas", _ids),
    "adding": ("adding_replicas", _ids),
    "removing": ("removing_replicas", _ids),
    "directory": ("directory", str),
    "rate": ("count", lambda text: number(text, INT64)),
    "kind": ("reason", str),
}
"""By group of an expression the column that it gives."""


def _stating(pattern: str, event: str, **fixed: object) -> Reader:
    """A row for each partition that a line names. 0.11 to 2.5 do not name those of a reassignment, and earlier releases print the plan."""

    def rows(output: _Output, piece: DocumentPiece, match: Match) -> Iterator[Row]:
        groups = match.groupdict("")
        given = ((*_COLUMNS[group], text) for group, text in groups.items() if group in _COLUMNS)
        columns = fixed | {name: read(text) for name, read, text in given if text or read is _ids}
        named = _named(groups["named"]) if "named" in groups else [_partition(match)] if "t2" in groups else []
        for partition in named or [{}]:
            yield output._row(piece, pattern, event, **columns, **partition)

    return rows


_move = partial(_stating, "reassign-output", "tool-reassignment")
_election = partial(_stating, "election-output", "tool-election")


def _replica(replica: Any) -> Row:
    match = re.fullmatch(rf"(?P<t2>{TOPIC})-(?P<p2>\d+)", replica["partition"]) if isinstance(replica, dict) and _is_text(replica) else None
    if match is None:
        raise MalformedDocument("no partition")
    future = replica.get("isFuture") is True
    columns = {"bytes": number(replica.get("size"), INT64), "count": number(replica.get("offsetLag"), INT64)}
    return {"text": shown(replica), **_partition(match), **columns, "reason": "future" if future else None}


def _is_text(replica: dict[str, Any]) -> bool:
    return isinstance(replica.get("partition"), str)


def _voters(text: str) -> list[int] | None:
    """`[1,2]`, or from 3.9 on a list of objects."""
    try:
        voters = json.loads(text)
        return broker_ids([voter.get("id") if isinstance(voter, dict) else voter for voter in voters]) if isinstance(voters, list) else None
    except (MalformedDocument, ValueError, RecursionError):
        return None


def _cells(text: str) -> list[str]:
    cells = text.split("\t") if "\t" in text else re.split(r" {2,}", text)
    return [cell.strip() for cell in cells]


def _source_of(scope: Row) -> str:
    """The source of a dynamic setting, as named in Kafka's ConfigSource."""
    if "topic" in scope:
        return "DYNAMIC_TOPIC_CONFIG"
    return "DYNAMIC_BROKER_CONFIG" if "broker" in scope else "DYNAMIC_DEFAULT_BROKER_CONFIG"


_QUORUM = re.compile(
    r"(?P<name>ClusterId|LeaderId|LeaderEpoch|HighWatermark|MaxFollowerLag|MaxFollowerLagTimeMs|CurrentVoters|CurrentObservers):(?P<value>.*)"
)
_SETTING = re.compile(r"(?=.*\}$)(?P<key>[\w.-]+)=(?P<value>.*) sensitive=(?P<sensitive>true|false) synonyms=\{(?P<synonyms>.*)\}$")
_FAILED = re.compile(_TP + r": (?P<why>.+)")

_OF_PARTITION = rf"Reassignment of partition {_TP} "
_OF_REPLICA = rf"Reassignment of replica (?P<t2>{TOPIC})-(?P<p2>\d+)-(?P<broker>\d+) "
_ELECTION_OF = r"(?:leader election \((?P<kind>PREFERRED|UNCLEAN)\)|preferred replica election) for partition"

_LINES: tuple[tuple[re.Pattern[str], Reader], ...] = (
    (_SETTING, _Output._setting),
    (re.compile(rf"(?P<topic>{TOPIC}):(?P<partition>\d{{1,10}}):(?P<offsets>\d*(?:,\d+)*)$"), _Output._offset),
    (re.compile(rf"{_OF_PARTITION}(?:completed successfully|is completed?\b)"), _move(reason="completed")),
    (re.compile(rf"{_OF_REPLICA}completed"), _move(reason="completed")),
    (re.compile(rf"{_OF_PARTITION}failed"), _move(reason="failed")),
    (re.compile(rf"{_OF_REPLICA}failed"), _move(reason="failed")),
    (re.compile(rf"{_OF_PARTITION}is still in progress"), _move(reason="in-progress")),
    (re.compile(rf"{_OF_REPLICA}is still in progress"), _move(reason="in-progress")),
    (re.compile(rf"There is no active reassignment of partition {_TP}, but replica set is (?P<replicas>.*?) rather than"),
     _move(reason="not-active")),
    (re.compile(rf"Partition {_TP} (?:on broker (?P<broker>\d+) )?is being moved"), _move(reason="in-progress")),
    (re.compile(rf"Partition {_TP} (?:on broker (?P<broker>\d+) )?(?:is not found|cannot be found|is not being moved)"),
     _move(reason="failed")),
    (re.compile(rf"{_TP}: replicas: (?P<replicas>[\d,]*)\.(?: adding: (?P<adding>[\d,]+)\.)?(?: removing: (?P<removing>[\d,]+)\.)?$"),
     _move(reason="in-progress")),
    (re.compile(rf"Successfully started moving log directory to (?P<directory>.+) for replica {_TP} with broker (?P<broker>\d+)"),
     _move(reason="started")),
    (re.compile(r"Successfully started log directory moves? for: (?P<named>.*)"), _Output._started_moves),
    (re.compile(r"Successfully started (?:partition )?reassignments?(?: of partitions\.?)?(?: for)?(?P<named>.*)"), _move(reason="started")),
    (re.compile(r"Failed to reassign partitions (?P<named>.*)"), _move(reason="failed")),
    (re.compile(r"Successfully cancelled partition reassignments? for: (?P<named>.*)"), _move(reason="cancelled")),
    (re.compile(r"The (?:inter-broker )?throttle limit was set to (?P<rate>\d+) B/s"), _move(reason="throttled")),
    (re.compile(rf"Successfully completed {_ELECTION_OF}s (?P<named>.*\d.*)"), _election(reason="PREFERRED", value="completed")),
    (re.compile(rf"Successfully started {_ELECTION_OF}s (?P<named>.*\d.*)"), _election(reason="PREFERRED", value="started")),
    (re.compile(r"Valid replica already elected for partitions (?P<named>.*\d.*)"), _election(value="not-needed")),
    (re.compile(rf"Skipping preferred replica leader election for partition {_TP}"), _election(reason="PREFERRED", value="skipped")),
    (re.compile(rf"Error completing {_ELECTION_OF}:? {_TP}:"), _election(reason="PREFERRED", value="failed")),
    (re.compile(r"(?:(?P<all>All|Dynamic) configs|Configs) for (?P<kind>topic|broker) (?P<name>\S+) are:$|(?P<default>Default) configs? for brokers"),
     _Output._settings_of),
    (re.compile(r"Configs for (?:(?P<kind>topic|broker)s?[ :]'?(?P<name>[^' ]*)'?|(?P<default>(?:the )?default) (?:entity for )?brokers?)"
                r" are (?P<settings>.*)"), _Output._settings_listed),
    (re.compile(r"Feature: (?P<name>\S+)\s+Supported.*\sFinalized(?:Max)?VersionLevel: (?P<level>\S+)"), _Output._feature),
    (re.compile(r"Cluster ID: (?P<id>\S+)$"), _Output._cluster_id),
    (_FAILED, _Output._failure),
)  # fmt: skip
"""Lines by their beginning; the first match counts. `t1`/`p1` and `t2`/`p2` are the two spellings of a partition."""


_OFFSETS = re.compile(r"(?!\d\d:\d\d:\d\d\s*$)[a-zA-Z0-9._-]{1,249}:\d{1,10}:\d*(?:,\d+)*\s*")


def _is_offsets(head: Head) -> bool:
    rows = (head.text[: head.text.rfind("\n") + 1] or head.text).strip().splitlines()
    return bool(rows) and all(_OFFSETS.fullmatch(row) for row in rows)


EVENTS = frozenset(
    {
        "assignment",
        "config",
        "election-plan",
        "group-commit",
        "group-member",
        "log-dir-reported",
        "quorum-replica",
        "quorum-state",
        "replica-size",
        "tool-election",
        "tool-offset",
        "tool-reassignment",
    }
)
"""One file may contain the output of several tools."""

FORMATS = (
    FileKind(
        "reassignment-output",
        "output of kafka-reassign-partitions",
        read,
        EVENTS,
        content=with_line(
            r"^(?:Current partition replica assignment|Proposed partition reassignment|Status of partition reassignment:"
            r"|Current partition reassignments:|No partition reassignments found|Successfully (?:started|cancelled) (?:partition )?reassignment"
            r"|Failed to reassign partitions |Error reassigning partition|Error cancelling partition reassignment)"
        ),
        rank=30,
    ),
    FileKind(
        "election-output",
        "output of kafka-leader-election or kafka-preferred-replica-election",
        read,
        EVENTS,
        content=with_line(
            r"^(?:(?:Successfully completed|Error completing) (?:leader election \(|preferred replica election)"
            r"|Valid replica already elected for |Successfully started preferred replica election)"
        ),
        rank=30,
    ),
    FileKind(
        "log-dirs",
        "output of kafka-log-dirs",
        read,
        EVENTS,
        content=with_line(
            r"^(?:Querying brokers for log directories information|\{[^\n]*\"brokers\"\s*:\s*\[\s*\{[^\n]{0,99}\"logDirs\"\s*:)"
        ),
        rank=30,
    ),
    FileKind(
        "metadata-quorum",
        "output of kafka-metadata-quorum",
        read,
        EVENTS,
        content=with_line(r"^LeaderEpoch: +\d+\s*$|^NodeId\s+(?:DirectoryId\s+)?LogEndOffset\s+Lag\s"),
        rank=30,
    ),
    FileKind(
        "config-output",
        "output of kafka-configs --describe",
        read,
        EVENTS,
        content=with_line(r"^(?:(?:All|Dynamic) configs|Configs|Default configs?) for (?:topic|broker|default)[^\n]* (?:are:|are |are$)"),
        rank=30,
    ),
    FileKind(
        "groups-output",
        "output of kafka-consumer-groups or kafka-share-groups --describe",
        read,
        EVENTS,
        content=with_line(r"^(?:GROUP\s+)?TOPIC\s+PARTITION\s+(?:LEADER-EPOCH\s+)?(?:CURRENT-OFFSET\s+LOG-END|START)-OFFSET\s+LAG\b"),
        rank=30,
    ),
    FileKind(
        "features-output", "output of kafka-features", read, EVENTS, content=with_line(r"^Feature: \S+\s+SupportedMinVersion: "), rank=30
    ),
    FileKind("cluster-id", "output of kafka-cluster cluster-id", read, EVENTS, content=with_line(r"^Cluster ID: \S{22}\s*$"), rank=30),
    FileKind("offsets-output", "output of kafka-get-offsets", read, EVENTS, content=_is_offsets, rank=40),
)
