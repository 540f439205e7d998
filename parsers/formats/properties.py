"""The small files that name things: meta.properties, server.properties, partition.metadata, .kafka_cleanshutdown, quorum-state.

Here: Java's .properties form as java.util.Properties reads it, and one reader per file. Values of settings that may
contain a secret are replaced (parsers.masking). Not here: checkpoints, or what the settings mean for an incident.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from parsers.formats.checkpoints import integer
from parsers.formats.file_kind import AFTER_LOGS, FileKind, Head
from parsers.limits import in_force
from parsers.masking import masked
from parsers.paths import partition_of
from parsers.schemas import INT32, INT64, MAX_TEXT, Member, Row, problem

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_SEPARATOR = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.S)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|u|.|$)", re.S)
_COLON = re.compile(r":\s+")

Setting = tuple[int, int, str, str]
"""Line, byte offset, key and value."""


def settings(stream: BinaryIO) -> Iterator[Setting | Row]:
    """Settings of a .properties file in file order, with continuation lines joined and escapes resolved.

    Latin-1, as java.util.Properties reads a stream. Problems have reason 'properties-corrupt': a broken unicode escape (Java rejects the
    file), or a file longer than the limit, of which the start is read.
    """
    most = in_force().properties
    content = stream.read(most + 1)
    if len(content) > most:
        yield problem("properties-corrupt", f"longer than {most} bytes, the rest is not read (--limit properties)", byte=most)
    for line, at, text in _logical(content[:most].decode("latin-1")):
        match = _SEPARATOR.fullmatch(text)
        assert match is not None  # every part of the expression may be empty
        try:
            yield line, at, _unescaped(match[1]), _unescaped(match[2])
        except ValueError as error:
            yield problem("properties-corrupt", str(error), line=line, byte=at)


def read_meta_properties(stream: BinaryIO, member: Member) -> Iterator[Row]:
    """'log-directory-identity': node, cluster id in value, directory id in directory, version in count.

    Source: Kafka's MetaProperties (before 3.7 BrokerMetadataCheckpoint). Missing or invalid entries are problems with reason
    'properties-corrupt'; a row needs only one of the ids.
    """
    properties: dict[str, str] = {}
    for setting in settings(stream):
        if isinstance(setting, dict):
            yield _named(setting, member)
        else:
            properties[setting[2]] = setting[3].strip()
    version = integer(properties.get("version", ""), INT32)
    if version not in (0, 1):
        yield _corrupt(member, f"version is {properties.get('version', 'missing')!r:.50}, 0 or 1 expected")
    node = _node(properties)
    without_ids = version == 0 and properties.keys().isdisjoint(("cluster.id", "directory.id"))
    if node is None and ("broker.id" in properties or "node.id" in properties or version == 1 or without_ids):
        yield _corrupt(member, "has no valid node id")
    text = ", ".join(
        f"{key}={properties[key]}" for key in ("node.id", "broker.id", "cluster.id", "directory.id", "version") if key in properties
    )
    if node is not None or "cluster.id" in properties or "directory.id" in properties:
        yield {
            **_common(member, "log-directory-identity", "meta-properties"),
            "text": text[:MAX_TEXT],
            "node": node,
            "value": properties.get("cluster.id"),
            "directory": properties.get("directory.id"),
            "key": "version",
            "count": version,
        }


def read_server_properties(stream: BinaryIO, member: Member) -> Iterator[Row]:
    """A 'config' row per setting of a broker's configuration file, secrets as masking.HIDDEN; for a repeated key, the last value.

    `node` is the file's own node.id or broker.id. The file contains the settings for the next start, not those of a running broker.
    """
    by_key: dict[str, Setting] = {}
    for setting in settings(stream):
        if isinstance(setting, dict):
            yield _named(setting, member)
        else:
            by_key[setting[2]] = setting
    node = _node({key: setting[3].strip() for key, setting in by_key.items()})
    for line, at, key, value in by_key.values():
        shown = masked(key, value.strip())
        place = {"line": line, "byte": at, "text": f"{key}={shown}"[:MAX_TEXT]}
        yield {**_common(member, "config", "server-properties"), **place, "node": node, "key": key, "value": shown[:MAX_TEXT]}


def read_partition_metadata(stream: BinaryIO, member: Member) -> Iterator[Row]:
    """'partition-metadata': topic id, with topic and partition of the directory (KIP-516, Kafka's PartitionMetadataFile)."""
    text = stream.read(1024).decode("utf-8", "replace")
    fields = dict(parts for line in text.splitlines() if len(parts := _COLON.split(line.strip(), maxsplit=1)) == 2)
    topic_id = fields.get("topic_id", "")
    if fields.get("version") != "0":
        yield problem("partition-metadata-corrupt", f"Unrecognized version of partition metadata file ({member.path})", line=1, byte=0)
    if not _is_topic_id(topic_id):
        yield problem("partition-metadata-corrupt", f"Invalid topic ID in partition metadata file ({member.path})", line=2)
        return
    topic, partition, state = partition_of(member.path) or (None, None, "current")
    yield {
        **_common(member, "partition-metadata", "partition-metadata"),
        "text": text,
        "topic_id": topic_id,
        "topic": topic,
        "partition": partition,
        "reason": None if state == "current" else state,
    }


def read_clean_shutdown(stream: BinaryIO, member: Member) -> Iterator[Row]:
    """'clean-shutdown-file', with the broker epoch that 3.7+ writes into it (Kafka's CleanShutdownFileHandler)."""
    content = stream.read(1024)
    row = {**_common(member, "clean-shutdown-file", "clean-shutdown"), "directory": member.path.rpartition("/")[0]}
    if content.strip():
        document = _json(content)
        epoch = _whole(document.get("brokerEpoch"), INT64) if isinstance(document, dict) else None
        if epoch is None:
            yield problem("clean-shutdown-corrupt", f"{member.path}: contains no broker epoch", line=1, byte=0)
        row |= {"text": content.decode("utf-8", "replace"), "broker_epoch": epoch}
    yield row


def read_quorum_state(stream: BinaryIO, member: Member) -> Iterator[Row]:
    """'quorum-state': leader (-1 none), quorum epoch in controller_epoch, voters in brokers (Kafka's QuorumStateData)."""
    content = stream.read(in_force().properties)
    document = _json(content)
    state = document if isinstance(document, dict) else {}
    leader, epoch = _whole(state.get("leaderId"), INT32), _whole(state.get("leaderEpoch"), INT32)
    if leader is None or epoch is None:
        yield problem("quorum-state-corrupt", f"{member.path}: names no leader and epoch", line=1, byte=0)
        return
    voters = state.get("currentVoters")
    ids = [_whole(voter.get("voterId"), INT32) for voter in voters if isinstance(voter, dict)] if isinstance(voters, list) else []
    yield {
        **_common(member, "quorum-state", "quorum-state"),
        "text": content.decode("utf-8", "replace")[:MAX_TEXT],
        "leader": leader,
        "controller_epoch": epoch,
        "brokers": [number for number in ids if number is not None] or None,
    }


def _logical(text: str) -> Iterator[tuple[int, int, str]]:
    """Lines without comments and blank ones, continuations joined; line and byte are those of the beginning."""
    pending, place, at = "", (0, 0), 0
    continued = False
    for number, raw in enumerate(re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text), 1):
        line = raw.rstrip("\r\n").lstrip(" \t\f")
        start, at = at, at + len(raw)
        if not continued:
            if not line or line[0] in "#!":
                continue
            pending, place = "", (number, start)
        continued = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        pending += line[:-1] if continued else line
        if not continued:
            yield *place, pending
    if continued:
        yield *place, pending


def _unescaped(text: str) -> str:
    def resolve(match: re.Match[str]) -> str:
        escape = match[1]
        if escape == "u":
            raise ValueError("Malformed \\uxxxx encoding.")
        return chr(int(escape[1:], 16)) if len(escape) > 1 else _ESCAPES.get(escape, escape)

    if "\\" not in text:
        return text
    resolved = _ESCAPE.sub(resolve, text)
    return resolved.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _node(properties: dict[str, str]) -> int | None:
    for key in ("node.id", "broker.id"):
        node = integer(properties.get(key, ""), INT32)
        if node is not None and node >= 0:
            return node
    return None


def _is_topic_id(text: str) -> bool:
    if not re.fullmatch(r"[A-Za-z0-9_-]{22}", text):
        return False
    try:
        return base64.urlsafe_b64decode(text + "==") != bytes(16)
    except binascii.Error:
        return False


def _json(content: bytes) -> Any:
    try:
        return json.loads(content.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _whole(value: object, bounds: range) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value in bounds else None


def _named(row: Row, member: Member) -> Row:
    return {**row, "text": f"{member.path}: {row['text']}"[:MAX_TEXT]}


def _corrupt(member: Member, why: str) -> Row:
    return problem("properties-corrupt", f"{member.path}: {why}")


def _common(member: Member, event: str, pattern: str) -> Row:
    return {"event": event, "pattern": pattern, "time": member.modified, "clock": "mtime", "line": 1, "byte": 0}


_BROKER_SETTING = r"log\.dirs?|process\.roles|zookeeper\.connect|controller\.quorum\.(?:voters|bootstrap\.servers)|listeners"
_SETTING = re.compile(rf"^[ \t]*(?:broker\.id|node\.id|{_BROKER_SETTING})[ \t]*[=:]", re.M)
_SETTING_OF_SERVER = re.compile(rf"^[ \t]*(?:{_BROKER_SETTING})[ \t]*[=:]", re.M)
_IDENTITY = re.compile(r"^(?:cluster\.id|directory\.id)\s*=", re.M)
_PROPERTIES_NAME = re.compile(r"\.(?:properties|conf|cfg)(?:[^a-z].*)?$", re.IGNORECASE)


def _identifies_directory(head: Head) -> bool:
    is_identity = _IDENTITY.search(head.text) and "version=" in head.text and not _SETTING_OF_SERVER.search(head.text)
    return _PROPERTIES_NAME.search(head.name) is not None and bool(is_identity)


def _configures_server(head: Head) -> bool:
    if not _PROPERTIES_NAME.search(head.name):
        return False
    return bool(_SETTING.search(head.text)) or head.name.lower().startswith(("server", "broker", "controller", "kafka"))


FORMATS = (
    FileKind(
        "meta-properties",
        "meta.properties",
        read_meta_properties,
        frozenset({"log-directory-identity"}),
        called="meta.properties",
        content=_identifies_directory,
        rank=AFTER_LOGS + 60,
    ),
    FileKind(
        "server-properties",
        "configuration of a broker or controller",
        read_server_properties,
        frozenset({"config"}),
        content=_configures_server,
        rank=AFTER_LOGS + 70,
    ),
    FileKind(
        "partition-metadata",
        "partition.metadata",
        read_partition_metadata,
        frozenset({"partition-metadata"}),
        r"partition\.metadata(?:[^a-z].*)?",
    ),
    FileKind(
        "clean-shutdown",
        ".kafka_cleanshutdown",
        read_clean_shutdown,
        frozenset({"clean-shutdown-file"}),
        r"\.?kafka_cleanshutdown",
    ),
    FileKind(
        "quorum-state",
        "quorum-state of __cluster_metadata-0",
        read_quorum_state,
        frozenset({"quorum-state"}),
        r"quorum-state(?:[^a-z].*)?",
        content=lambda head: head.is_json and '"leaderEpoch"' in head.text and '"votedId"' in head.text,
        rank=AFTER_LOGS + 10,
    ),
)
