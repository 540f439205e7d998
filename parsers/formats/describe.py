"""Saved output of kafka-topics.sh --describe: topics and partitions as the tool saw them.

Here: all its forms, 0.8.2 (`Topic:t`) to 4.x (`Elr: `), tabs kept or converted to blanks, with any other lines between. Not here: other
tools. Source: Kafka's TopicCommand.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import BinaryIO

from parsers.formats.checkpoints import integer
from parsers.formats.file_kind import FileKind, with_line
from parsers.formats.problems import limited
from parsers.lines import lines
from parsers.masking import masked
from parsers.schemas import INT32, INT64, MAX_TEXT, Member, Row, problem

MAX_UTF16 = 64 * 2**20
"""Bytes of an output in UTF-16 (written by PowerShell), which is held in memory."""

_TOPIC_LINE = re.compile(r"Topic: ?\S+\s+(?:TopicId: ?\S+\s+)?PartitionCount:")
_PARTITION_LINE = re.compile(r"Topic: ?\S+\s+Partition:")
_LABEL = re.compile(r"(?:^|\s)([A-Z][A-Za-z]*(?: Replicas)?):[ ]?")
_CONFIG = re.compile(r",(?=[a-z][a-z0-9._-]*=)")
_EXTENSIONS = frozenset({"txt", "log", "out", "tsv", "gz", "bz2", "xz", "zst"})


def read(stream: BinaryIO, member: Member) -> Iterator[Row]:
    """'describe-topic' with a 'config' per setting of the topic, and 'describe-partition', at the file's time (UTC).

    `reason` is the file's name without extensions, leader -1 for none, value of a partition its eligible leader replicas as printed
    (KIP-966). Other lines are skipped; malformed ones are problems with reason 'describe-malformed'.
    """
    yield from limited(_rows(stream, member), member, "malformed lines", "describe-malformed")


def _rows(stream: BinaryIO, member: Member) -> Iterator[Row]:
    common = {"pattern": "describe", "time": member.modified, "clock": "mtime", "reason": _stem(member.path)}
    for line, at, raw in _lines(stream):
        text = raw.decode("utf-8", "replace").strip().removeprefix("\ufeff")
        place = {**common, "line": line, "byte": at, "text": text[:MAX_TEXT]}
        try:
            if _PARTITION_LINE.match(text):
                yield {**place, **_partition(_fields(text))}
            elif _TOPIC_LINE.match(text):
                yield from ({**place, **row} for row in _topic(_fields(text)))
        except (ValueError, KeyError) as error:
            yield problem("describe-malformed", f"{member.path}: {error.args[0]}: {text[:200]}", line=line, byte=at)


def _lines(stream: BinaryIO) -> Iterator[tuple[int, int | None, bytes]]:
    mark = stream.read(2)
    if mark in (b"\xff\xfe", b"\xfe\xff"):
        text = (mark + stream.read(MAX_UTF16)).decode("utf-16", "replace")
        yield from ((line, None, raw) for line, _, raw in lines(io.BytesIO(text.encode("utf-8", "replace"))))
        return
    first = mark if mark.endswith(b"\n") else mark + stream.readline(MAX_TEXT)
    yield from lines(io.BytesIO(first))
    yield from ((line + first.count(b"\n"), at + len(first), raw) for line, at, raw in lines(stream))


def _fields(text: str) -> dict[str, str]:
    """Values by label; labels are separated by tabs or, if these were lost, by the next label."""
    if "\t" in text:
        parts = (part.strip().partition(":") for part in text.split("\t"))
        return {label: value.strip() for label, _, value in parts}
    labels = list(_LABEL.finditer(text))
    ends = [match.start() for match in labels[1:]] + [len(text)]
    return {match[1]: text[match.end() : end].strip() for match, end in zip(labels, ends, strict=True)}


def _topic(fields: dict[str, str]) -> Iterator[Row]:
    topic = _name(fields)
    topic_id = fields.get("TopicId")
    yield {"event": "describe-topic", "topic": topic, "topic_id": topic_id, "count": _number(fields["PartitionCount"], INT64)}
    for setting in _CONFIG.split(fields.get("Configs", "")):
        key, separator, value = setting.partition("=")
        if separator:
            yield {"event": "config", "topic": topic, "topic_id": topic_id, "key": key.strip(), "value": masked(key, value)}


def _partition(fields: dict[str, str]) -> Row:
    return {
        "event": "describe-partition",
        "topic": _name(fields),
        "topic_id": fields.get("TopicId"),
        "partition": _number(fields["Partition"], range(2**31)),
        "leader": -1 if fields["Leader"] in ("none", "") else _number(fields["Leader"], INT32),
        "replicas": _ids(fields["Replicas"]),
        "isr": _ids(fields["Isr"]),
        "adding_replicas": _ids(fields["Adding Replicas"]) if "Adding Replicas" in fields else None,
        "removing_replicas": _ids(fields["Removing Replicas"]) if "Removing Replicas" in fields else None,
        "eligible": _ids(elr) if (elr := fields.get("Elr", "N/A")) != "N/A" else None,
    }


def _name(fields: dict[str, str]) -> str:
    if not re.fullmatch(r"[a-zA-Z0-9._-]{1,249}", fields["Topic"]):
        raise ValueError("no topic name")
    return fields["Topic"]


def _ids(text: str) -> list[int]:
    return [_number(number.strip(), INT32) for number in text.split(",")] if text else []


def _number(text: str, bounds: range) -> int:
    value = integer(text, bounds)
    if value is None:
        raise ValueError(f"{text[:50]!r} is not a valid number here")
    return value


def _stem(path: str) -> str:
    parts = path.rpartition("/")[2].split(".")
    while len(parts) > 1 and parts[-1].lower() in _EXTENSIONS:
        parts.pop()
    return ".".join(parts)


_OUTPUT = (
    r"^[ \t]*Topic: ?\S+\s+(?:TopicId: ?\S+\s+)?PartitionCount: ?\d+\s+ReplicationFactor:"
    r"|^[ \t]*Topic: ?\S+\s+Partition: ?\d+\s+Leader: ?(?:-?\d+|none)\b"
)
EVENTS = frozenset({"describe-topic", "describe-partition", "config"})
FORMATS = (FileKind("describe", "output of kafka-topics --describe", read, EVENTS, content=with_line(_OUTPUT), rank=10),)
