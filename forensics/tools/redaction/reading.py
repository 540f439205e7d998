"""What readers take from the evidence: the numbers and statements of each line, and the names to replace.

Here: these, from events. Not here: the replacements (names), or how files are rewritten (logs, text, segments).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timezone
from typing import Any

import pyarrow as pa

from forensics.tools.redaction.names import NUMERIC, Names, is_address
from forensics.tools.redaction.vocabulary import is_id, is_random, is_read, phrases
from parsers.kinds import named
from parsers.paths import partition_of
from parsers.schemas import EVENTS, Member, Row, Rows

_PLACES = frozenset({"line", "byte"})
_COLUMNS = [f.name for f in EVENTS if f.name not in _PLACES and f.name not in ("source", "text", "time", "collected", "topic", "host")]


@dataclass
class Read:
    """What a reader took from a line."""

    values: set[str] = field(default_factory=set)
    """Numbers and versions."""
    patterns: set[str] = field(default_factory=set)


Taken = Mapping["int | tuple[int, int]", Read]
"""By line, and by line and byte."""


def taken(rows: Iterable[Rows], *, texts: bool = False) -> dict[int | tuple[int, int], Read]:
    """What is in the events of each line. `texts`: numbers in columns of text, too, as in a copy only those are that a reader took."""
    found: dict[int | tuple[int, int], Read] = defaultdict(Read)
    for table in rows:
        for row in _filled(table) if isinstance(table, pa.RecordBatch) else (table,):
            if row.get("line") is None or row["event"] == "last-line":  # of that line, only its time counts
                continue
            values = {str(n + by) for name in row.keys() - _PLACES for n in _numbers(row[name]) for by in (-1, 0, 1)}
            value = row.get("value") or ""
            if row["event"] == "kafka-version" or (row["event"] == "config" and is_read(row.get("key") or "")):
                values.update((value, *re.findall(r"\d+", value)) if NUMERIC.fullmatch(value) else ())
            if texts and row["event"] != "config":
                told_in = [row.get(name) or "" for name in ("value", "reason", "key")]
                values.update(text for text in told_in if text.isdecimal())
                values.update(n for text in told_in for phrase in phrases() for m in phrase.finditer(text) for n in m.groups() if n)
            if row.get("clock") == "stamp":
                values.add(str(round(row["time"].replace(tzinfo=timezone.utc).timestamp() * 1000)))
            for place in (row["line"], (row["line"], row.get("byte") or 0)):
                found[place].values |= values
                found[place].patterns.add(row.get("pattern") or "")
    return found


def _filled(batch: pa.RecordBatch) -> Iterator[Row]:
    """The rows with those columns that have values."""
    names = [name for name in _COLUMNS if batch[name].null_count < len(batch) and not pa.types.is_boolean(batch[name].type)]
    yield from batch.select(["line", "byte", *names]).to_pylist()


def _numbers(value: Any) -> Iterator[int]:
    """The numbers in a column; readers also compute the offset before or after an offset that they read."""
    if isinstance(value, int):
        yield abs(value)
    elif isinstance(value, dict | list):
        yield from (n for inner in (value.values() if isinstance(value, dict) else value) for n in _numbers(inner))


_OF_GROUPS = named("group-commit", "client-reset", "group-coordinated")
"""Kinds whose value is a group."""
_OF_ADDRESSES = named("connection-failed", "authentication-failed", "broker-registered", "group-member")
"""Kinds whose value or host is an address."""
_OF_CLUSTERS = named("log-directory-identity", "cluster-id-mismatch")
"""Kinds whose value is a cluster id."""
_WITH_HOSTS = re.compile(
    r"(?:advertised\.)?(?:listeners|host\.name)|zookeeper\.connect|(?:controller\.quorum\.)?bootstrap\.servers|controller\.quorum\.voters"
)
"""Settings in which a word before a number is a host; in `super.users` it is the type of a principal."""
HOSTED = re.compile(r"(?:^|[@/,\s\[(])([A-Za-z0-9][A-Za-z0-9.-]*[A-Za-z0-9])(?::|, ?)(\d{2,5})(?!\d)", re.ASCII)
_IN_PATH = re.compile(r"[/\\]([A-Za-z0-9._-]{1,249})-(\d{1,10})[/\\]\d{20}\.", re.ASCII)
_PORT = re.compile(r"://[^,]{0,300}:(\d{2,5})(?=,|$)", re.ASCII)
_NOTED = ["event", "topic", "partition", "topic_id", "key", "value", "host", "reason", "directory", "node", "broker", "leader"]


def note_all(table: Rows, names: Names, *, binary: bool = False) -> None:
    """Collects the names in events. `binary`: from records in which ids are not text, and stay."""
    if isinstance(table, dict):
        note(table, names, binary=binary)
        return
    for row in {tuple(r.items()): r for r in table.select(_NOTED).to_pylist()}.values():
        note(row, names, binary=binary)


def note(row: Row, names: Names, *, binary: bool = False) -> None:
    """Collects the names in one event."""
    seen = names.seen
    seen.nodes.update(str(node) for key in ("node", "broker", "leader") if (node := row.get(key)) is not None and node >= 0)
    ids = (text for key in ("topic_id", "directory") if (text := row.get(key)))
    seen.ids.update(text for text in ids if is_random(text) or (binary and is_id(text)))
    if row.get("topic"):
        names.add("topic", row["topic"])
        seen.partitions.add((row["topic"], str(row.get("partition"))))
    event, key, value = row["event"], row.get("key") or "", row.get("value") or ""
    for topic, partition in _IN_PATH.findall(value):
        names.add("topic", topic)
        seen.partitions.add((topic, partition))
    if event in _OF_GROUPS:
        names.add("group", value)
    elif event == "group-member":
        names.add("group", value)
        names.add("client", key)
    elif event == "transaction-state":
        names.add("transaction", value)
    elif event in _OF_CLUSTERS or (event == "config" and key == "cluster.id"):
        for cluster in (value, row.get("reason") or "" if event == "cluster-id-mismatch" else ""):
            names.add("cluster", cluster)
    if event in _OF_ADDRESSES or (event == "config" and _WITH_HOSTS.fullmatch(key)):
        _note_hosts(f"{value} {row.get('host') or ''}", names)


def _note_hosts(text: str, names: Names) -> None:
    for host, port in HOSTED.findall(text):
        names.seen.ports.add(port)
        if host != "localhost" and not is_address(host):
            names.add("host", host)
    names.seen.ports.update(_PORT.findall(text))


def note_member(member: Member, names: Names) -> None:
    """Collects the names in one path."""
    where = partition_of(member.path)
    if where is not None and re.search(r"/\d{20}\.log|partition\.metadata|leader-epoch-checkpoint", member.path):
        names.add("topic", where[0])
        names.seen.partitions.add((where[0], str(where[1])))
