"""JSON about partitions: plans for reassignments and elections, and the contents of ZooKeeper's znodes, as files or as printed by
ZooKeeper's shell.

Here: the JSON documents of a text of any kind (`pieces`, used by parsers.formats.cluster_tools as well), reassignment and election files,
znodes of the ZooKeeper mode. Not here: the text the tools print around their JSON (parsers.formats.cluster_tools). Sources: Kafka's
ReassignPartitionsCommand, LeaderElectionCommand, kafka.zk.ZkData (before 1.1 ZkUtils), ZooKeeper's GetCommand and StatPrinter.
"""

from __future__ import annotations

import base64
import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, BinaryIO

from parsers.formats.checkpoints import integer
from parsers.formats.file_kind import AFTER_LOGS, FileKind, Head, with_line
from parsers.formats.problems import limited
from parsers.limits import in_force
from parsers.lines import decoded
from parsers.masking import masked
from parsers.schemas import INT32, INT64, MAX_TEXT, Member, Row, problem

MAX_FAILURES = 50
"""Failed attempts to parse JSON after which a text is taken to contain none."""

TOPIC = r"[a-zA-Z0-9._-]{1,249}"
_TOPIC = re.compile(TOPIC)
_DECODER = json.JSONDecoder(parse_constant=lambda _: None)
_JSON_BEGINS = re.compile(r"[{\[]")
_LINE = re.compile(r"[^\n]*\n?")


@dataclass(frozen=True, slots=True)
class DocumentPiece:
    """A line, or a JSON document that begins a line or follows a znode's path; `value` is the document."""

    line: int
    byte: int | None
    """Null where the text is not ASCII."""
    text: str
    value: Any = None


class MalformedDocument(ValueError):
    """The document does not have the form that its znode or file requires."""


def pieces(stream: BinaryIO, member: Member) -> Iterator[DocumentPiece | Row]:
    """Lines and JSON documents of a text, in file order; UTF-16 with a byte order mark is read too. Text beyond the limit is a problem
    row."""
    most = in_force().document
    data = stream.read(most + 1)
    text = decoded(data[:most])
    exact = text.isascii() and len(text) == len(data[:most])
    at, line, failures = 0, 1, 0
    while at < len(text):
        match = _LINE.match(text, at)
        assert match is not None
        raw = match[0]
        begin = _document(raw)
        end, value = at + len(raw), None
        if begin is not None and failures < MAX_FAILURES:
            try:
                value, end = _DECODER.raw_decode(text, at + begin)
            except (ValueError, RecursionError):
                failures += 1
        before = raw if value is None else raw[:begin]
        if before.strip():
            yield DocumentPiece(line, at if exact else None, before.strip()[:MAX_TEXT])
        if value is not None:
            start = at + (begin or 0)
            yield DocumentPiece(line, start if exact else None, text[start:end][:MAX_TEXT], value)
            end = text.find("\n", end) + 1 or len(text)
        line += text.count("\n", at, end)
        at = end
    if len(data) > most:
        yield problem("too-large", f"{member.path}: longer than {most} bytes, the rest is not read (--limit document)", byte=most)


def _document(raw: str) -> int | None:
    """Where in a line a document may begin: at its start, or after the path of a znode."""
    match = _JSON_BEGINS.search(raw)
    if match is None or match.start() > 500:
        return None
    before = raw[: match.start()].strip()
    if not before:
        return match.start() if match[0] == "{" or raw[match.start() :].lstrip("[ \n")[:1] == "{" else None
    return match.start() if match[0] == "{" and (before.startswith("/") or before.endswith("partitions")) else None


def common(member: Member, pattern: str, piece: DocumentPiece) -> Row:
    """The columns all rows of a piece share: its place, and the file's time (UTC)."""
    place = {"line": piece.line, "byte": piece.byte, "text": piece.text}
    return {"pattern": pattern, "time": member.modified, "clock": "mtime", **place}


def read_plan(stream: BinaryIO, member: Member) -> Iterator[Row]:
    """'assignment' (reason 'plan') per partition of a reassignment file, 'election-plan' per partition of an election file.

    Problems have reason 'assignments-malformed'.
    """
    yield from limited(_plan(stream, member), member)


def read_znodes(stream: BinaryIO, member: Member) -> Iterator[Row]:
    """Rows of the znodes in a file: one znode saved as a file, or the ZooKeeper shell's output for any number of them.

    The path printed before a znode, or the path of the file, identifies it. 'partition-state' (reason 'stored', partition epoch and time of
    the last change where the shell printed them), 'assignment' (reason 'stored'), 'config', 'controller-elected' at the time in the znode
    itself, 'broker-registered', 'isr-change-notified', 'election-plan', 'log-dir-reported'. Problems have reason 'znode-malformed'.
    """
    yield from limited(_znodes(stream, member), member)


# plans


def _plan(stream: BinaryIO, member: Member) -> Iterator[Row]:
    present = False
    for piece in pieces(stream, member):
        if isinstance(piece, dict):
            yield piece
        elif piece.value is not None:
            present = True
            yield from partitions(piece, member, "plan")
    if not present:
        yield problem("assignments-malformed", f"{member.path}: no JSON that Kafka's tools would read", line=1, byte=0)


def partitions(piece: DocumentPiece, member: Member, reason: str, pattern: str = "reassignment-json") -> Iterator[Row]:
    """The rows of `{"version":1,"partitions":[…]}`: 'assignment' where entries have replicas, else 'election-plan'."""
    entries = piece.value.get("partitions") if isinstance(piece.value, dict) else None
    if not isinstance(entries, list):
        yield malformed(member, piece, "no list of partitions")
        return
    for entry in entries:
        try:
            yield {**common(member, pattern, piece), "text": shown(entry), **_entry(entry, reason)}
        except MalformedDocument as error:
            yield malformed(member, piece, f"{error}: {shown(entry)[:200]}")


def malformed(member: Member, piece: DocumentPiece, why: str, reason: str = "assignments-malformed") -> Row:
    return problem(reason, f"{member.path}: {why}", line=piece.line, byte=piece.byte)


def shown(value: object) -> str:
    """A part of a document as text."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)[:MAX_TEXT]


def _entry(entry: object, reason: str) -> Row:
    if not isinstance(entry, dict):
        raise MalformedDocument("no object")
    named: Row = {"topic": topic_name(entry.get("topic")), "partition": number(entry.get("partition"), range(2**31))}
    if "replicas" not in entry:
        return {"event": "election-plan", **named}
    directories = entry.get("log_dirs")
    if directories is not None and not (isinstance(directories, list) and all(isinstance(d, str) for d in directories)):
        raise MalformedDocument("log_dirs is not a list of directories")
    chosen = [d for d in directories or () if d != "any"]
    where = ",".join(directories or ())[:MAX_TEXT] if chosen else None
    return {"event": "assignment", "reason": reason, **named, "replicas": broker_ids(entry["replicas"]), "directory": _clean(where)}


def topic_name(value: object) -> str:
    """The value, if it is a valid topic name. Raises Malformed if not."""
    if not isinstance(value, str) or not _TOPIC.fullmatch(value):
        raise MalformedDocument("no topic name")
    return value


def number(value: object, bounds: range) -> int:
    """The number in the value, which may be text. Raises Malformed if it is missing or out of bounds."""
    if isinstance(value, str):
        value = integer(value, bounds)
    if not isinstance(value, int) or isinstance(value, bool) or value not in bounds:
        raise MalformedDocument("a number is missing or out of range")
    return value


def broker_ids(value: object) -> list[int]:
    """The broker ids in a list. Raises Malformed if the value is not such a list."""
    if not isinstance(value, list):
        raise MalformedDocument("no list of brokers")
    return [number(broker, INT32) for broker in value]


def _clean(text: str | None) -> str | None:
    """JSON may escape half of a surrogate pair, which no Arrow column can hold."""
    return None if text is None else text.encode("utf-8", "replace").decode("utf-8")


# znodes

_S = "[/_.-]"
_END = r"(?:\.(?:json|txt|out|znode|data))*$"
_T = "(?P<topic>[a-zA-Z0-9._-]{1,249}?)"
_PATHS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(expression + _END))
    for name, expression in (
        ("state", rf"(?:^|[/_.-])topics{_S}{_T}{_S}partitions{_S}(?P<partition>\d{{1,10}}){_S}state"),
        ("state", r"(?:^|/)(?P<topic>[a-zA-Z0-9._-]{1,249})/partitions/(?P<partition>\d{1,10})/state"),
        ("config", rf"(?:^|[/_.-])config{_S}topics{_S}(?P<topic>[a-zA-Z0-9._-]{{1,249}}?)"),
        ("config", rf"(?:^|[/_.-])config{_S}brokers{_S}(?P<broker>\d{{1,10}}|<?default>?)"),
        ("topic", rf"(?:^|[/_.-])topics{_S}(?P<topic>[a-zA-Z0-9._-]{{1,249}}?)"),
        ("broker", rf"(?:^|[/_.-])brokers{_S}ids{_S}(?P<broker>\d{{1,10}})"),
        ("epoch", r"(?:^|[/_.-])controller_epoch"),
        ("controller", r"(?:^|[/_.-])controller"),
        ("isr-change", rf"(?:^|[/_.-])isr_change_notification(?:{_S}isr_change_\d+)?"),
        ("election", r"(?:^|[/_.-])preferred_replica_election"),
        ("cluster-id", rf"(?:^|[/_.-])cluster{_S}id"),
        ("other", r"^/(?:admin|brokers|cluster|config|consumers|feature|kafka-acl|latest_producer|log_dir|migration)\S*"),
    )
)
_PRINTED_PATH = re.compile(r"(?:^|\bget (?:-[sw] )*|^ls (?:-\w )*)(/[\w./<>-]+)(?: (?:true|watch))?[ :=]*$")
_STAT = re.compile(r"(?P<name>mtime|dataVersion) = (?P<value>.+)")
_CTIME = "%a %b %d %H:%M:%S %Y"
_EPOCH = datetime(1970, 1, 1)

Znode = tuple[str, dict[str, Any]]


def znode_of(path: str) -> Znode | None:
    """Which znode a path names, with topic, partition and broker from the path. Names with '_', '.' or '-' in place of '/' count too."""
    for name, expression in _PATHS:
        if match := expression.search(path):
            return name, match.groupdict()
    return None


@dataclass(slots=True)
class _HeldRows:
    """Rows of the previous znode; its stat output follows it."""

    rows: list[Row] = field(default_factory=list)
    stat: dict[str, str] = field(default_factory=dict)

    def release(self) -> Iterator[Row]:
        changed = _ctime(self.stat.get("mtime", ""))
        version = integer(self.stat.get("dataVersion", ""), INT32)
        for row in self.rows:
            if changed is not None and row.get("clock") == "mtime" and row["event"] != "problem":
                row["time"] = changed
            if row["event"] == "partition-state":
                row["partition_epoch"] = version
            yield row
        self.rows, self.stat = [], {}


def _ctime(text: str) -> datetime | None:
    """A time as Java's Date prints it, if its zone is UTC."""
    words = text.split()
    if len(words) != 6 or words[4] not in ("UTC", "GMT"):
        return None
    try:
        return datetime.strptime(" ".join((*words[:4], words[5])), _CTIME)
    except ValueError:
        return None


def _znodes(stream: BinaryIO, member: Member) -> Iterator[Row]:
    of_file = znode_of(member.path)
    printed: Znode | None = None
    held = _HeldRows()
    for piece in pieces(stream, member):
        if isinstance(piece, dict):
            yield piece
        elif piece.value is not None or (piece.text.isdecimal() and (printed or of_file or ("", {}))[0] == "epoch"):
            yield from held.release()
            held.rows = list(_znode(piece, member, printed or of_file))
        elif stat := _STAT.fullmatch(piece.text):
            held.stat[stat["name"]] = stat["value"]
        elif path := _PRINTED_PATH.search(piece.text):
            yield from held.release()
            printed = znode_of(path[1])
        elif piece.text.startswith("{"):
            yield malformed(member, piece, f"JSON that is cut off or damaged: {piece.text[:200]}", "znode-malformed")
    yield from held.release()


def _znode(piece: DocumentPiece, member: Member, znode: Znode | None) -> Iterator[Row]:
    name, path = znode or ("", {})
    value = piece.value
    base = common(member, "znode", piece)
    try:
        if value is None:
            yield {**base, "event": "controller-elected", "controller_epoch": number(piece.text, INT32), "reason": "stored"}
        elif not isinstance(value, dict):
            raise MalformedDocument("no object")
        elif isinstance(value.get("partitions"), list):
            yield from _listed(piece, member, name)
        else:
            yield from ({**base, **row} for row in _facts(value, name, path))
    except MalformedDocument as error:
        yield malformed(member, piece, f"znode {name or 'without a path'}: {error}", "znode-malformed")


def _listed(piece: DocumentPiece, member: Member, name: str) -> Iterator[Row]:
    for row in partitions(piece, member, "plan", "znode"):
        if name == "isr-change" and row["event"] == "election-plan":
            row["event"] = "isr-change-notified"
        yield row


def _facts(value: dict[str, Any], name: str, path: dict[str, Any]) -> Iterator[Row]:
    if "leader" in value and "isr" in value:
        yield _state(value, path)
    elif isinstance(value.get("partitions"), dict):
        yield from _topic(value, path)
    elif "brokerid" in value:
        yield {"event": "controller-elected", "controller": number(value["brokerid"], INT32), "reason": "stored", **_stamp(value)}
    elif isinstance(value.get("config"), dict) and name == "config":
        yield from _settings(value["config"], path)
    elif "endpoints" in value or ("host" in value and "port" in value):
        yield {"event": "broker-registered", "broker": number(path.get("broker"), INT32), "reason": "stored", **_stamp(value)}
    elif name == "cluster-id" and isinstance(value.get("id"), str):
        yield {"event": "config", "key": "cluster.id", "value": _clean(value["id"])}
    elif "broker" in value and "event" in value:
        yield {"event": "log-dir-reported", "broker": number(value["broker"], INT32), "value": "failed", "reason": "notified"}
    elif name != "other":
        raise MalformedDocument(f"not what Kafka keeps there: {shown(value)[:200]}")


def _state(value: dict[str, Any], path: dict[str, Any]) -> Row:
    recovery = value.get("leader_recovery_state")
    return {
        "event": "partition-state",
        "reason": "stored",
        **_partition(path),
        "leader": number(value["leader"], INT32),
        "leader_epoch": number(value.get("leader_epoch"), INT32),
        "isr": broker_ids(value["isr"]),
        "controller_epoch": number(value.get("controller_epoch"), INT32) if "controller_epoch" in value else None,
        "recovering": recovery == 1 if recovery in (0, 1) else None,
    }


def _partition(path: dict[str, Any]) -> Row:
    if not path.get("partition"):
        raise MalformedDocument("nothing says of which partition this state is")
    return {"topic": topic_name(path["topic"]), "partition": number(path["partition"], range(2**31))}


def _topic(value: dict[str, Any], path: dict[str, Any]) -> Iterator[Row]:
    topic = topic_name(path.get("topic"))
    adding, removing = _object(value.get("adding_replicas")), _object(value.get("removing_replicas"))
    for partition, replicas in value["partitions"].items():
        yield {
            "event": "assignment",
            "reason": "stored",
            "topic": topic,
            "topic_id": _topic_id(value.get("topic_id")),
            "partition": number(partition, range(2**31)),
            "replicas": broker_ids(replicas),
            "adding_replicas": broker_ids(adding.get(partition, [])),
            "removing_replicas": broker_ids(removing.get(partition, [])),
        }


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _topic_id(value: object) -> str | None:
    """The znode has the id as Kafka's Uuid prints it (base64url); the long form of java.util.UUID is accepted too."""
    if isinstance(value, str) and re.fullmatch(r"[\w-]{22}", value, re.ASCII):
        return value
    try:
        return base64.urlsafe_b64encode(uuid.UUID(value).bytes).decode().rstrip("=") if isinstance(value, str) else None
    except ValueError:
        return None


def _settings(config: dict[str, Any], path: dict[str, Any]) -> Iterator[Row]:
    broker = path.get("broker")
    if path.get("topic"):
        scope: Row = {"topic": path["topic"], "reason": "DYNAMIC_TOPIC_CONFIG"}
    elif broker and broker.isdecimal():
        scope = {"broker": number(broker, INT32), "reason": "DYNAMIC_BROKER_CONFIG"}
    else:
        scope = {"reason": "DYNAMIC_DEFAULT_BROKER_CONFIG"}
    for key, value in config.items():
        if not isinstance(value, str):
            raise MalformedDocument("the value of a setting is not a text")
        kept = _clean(masked(key, value))
        yield {"event": "config", **scope, "key": _clean(key), "value": kept, "text": _clean(f"{key}={kept}"[:MAX_TEXT])}
    yield {"event": "config", **scope, "value": _clean(",".join(config)[:MAX_TEXT]), "count": len(config), "text": "config"}


def _stamp(value: dict[str, Any]) -> Row:
    """The time that a broker wrote into the znode, milliseconds since 1970 by the broker's clock."""
    try:
        milliseconds = number(value.get("timestamp"), INT64)
        return {"time": _EPOCH + timedelta(milliseconds=milliseconds), "clock": "stamp"}
    except (MalformedDocument, OverflowError):
        return {}


_ZNODE_PATH = re.compile(
    r"(?:^|[/_.-])(?:brokers[/_.-](?:ids[/_.-]\d+|topics[/_.-].+)|controller|controller_epoch|cluster[/_.-]id|(?:isr_change|log_dir_event)_notification(?:\b|_).*"
    r"|admin[/_.-](?:reassign_partitions|preferred_replica_election)|config[/_.-](?:topics|brokers)[/_.-].+)(?:\.(?:json|txt|out|znode|data))?$"
)
_ZNODE_CONTENT = re.compile(r'\s*(?:\{\s*"(?:version|controller_epoch|leader|partitions|config|listener_security_protocol_map|endpoints'
                            r'|features|jmx_port|host|brokerid|id|topic_id|adding_replicas|removing_replicas|isr|leader_epoch|leader_recovery_state)"\s*:|\d{1,10}\s*$)')  # fmt: skip
_PARTITIONS, _REPLICAS = re.compile(r'"partitions"\s*:\s*\['), re.compile(r'"replicas"\s*:\s*\[')
_ELECTIONS = re.compile(r'\{\s*(?:"version"\s*:\s*\d+\s*,\s*)?"partitions"\s*:\s*\[\s*\{(?=[^{}\[]*\})[^{}\[]*"(?:topic|partition)"\s*:')
_ZNODES_PRINTED = r"^WATCHER::$|^cZxid = 0x|^(?:/[\w./<>-]+[ :=]*)?\{(?=[^\n]*\"leader_epoch\"\s*:)(?=[^\n]*\"controller_epoch\"\s*:)[^\n]*\"isr\"\s*:\s*\["


def _is_znode(head: Head) -> bool:
    return _ZNODE_PATH.search(head.path) is not None and _ZNODE_CONTENT.match(head.text) is not None


def _is_reassignment(head: Head) -> bool:
    found = _PARTITIONS.search(head.text) if head.is_json else None
    return found is not None and _REPLICAS.search(head.text, found.end()) is not None


_ZNODES = FileKind(
    "znode",
    "what ZooKeeper holds of a Kafka cluster, as files or as its shell prints it",
    read_znodes,
    frozenset(
        {
            "assignment",
            "broker-registered",
            "config",
            "controller-elected",
            "election-plan",
            "isr-change-notified",
            "log-dir-reported",
            "partition-state",
        }
    ),
    content=with_line(_ZNODES_PRINTED),
    rank=20,
)
_PLANNED = frozenset({"assignment", "election-plan"})
FORMATS = (
    _ZNODES,
    replace(_ZNODES, content=_is_znode, rank=50),
    FileKind(
        "reassignment-json",
        "partition assignments as kafka-reassign-partitions reads and prints them",
        read_plan,
        _PLANNED,
        content=_is_reassignment,
        rank=AFTER_LOGS + 20,
    ),
    FileKind(
        "election-json",
        "partitions for kafka-leader-election or kafka-preferred-replica-election",
        read_plan,
        _PLANNED,
        content=lambda head: _ELECTIONS.match(head.text.lstrip()) is not None,
        rank=AFTER_LOGS + 30,
    ),
)
