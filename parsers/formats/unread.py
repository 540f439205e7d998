"""Files that give no events: those without any, and exports in a form that is not read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from parsers.containers.documents import LOG_LINE, is_document, is_own
from parsers.formats.file_kind import AFTER_LOGS, SEGMENT_SUFFIX, FileKind, Head
from parsers.lines import decoded
from parsers.schemas import Member, Row, problem

REDACTION = "kafka-forensics-redacted.json"
"""The file that marks redacted evidence."""
_FRAMES = r'\s*\{(?=.*?"frames"\s*:).*?"values"\s*:\s*\[\s*\['
"""Data frames of Grafana, in which the lines come after all labels and times."""
_UNREAD = tuple(
    (re.compile(expression, re.DOTALL), f"{what} cannot be read here; {instead}")
    for expression, what, instead in (
        (r'\s*\{.*"columns"\s*:\s*\[\s*\[', "JSON with a list for each column", "export its rows as JSON or CSV"),
        (_FRAMES, "JSON with a list for each column", "download the logs as JSON or CSV"),
        (r'\s*\{\s*"log"\s*:\s*\{.*"entries"', "a recording of a browser (HAR)", "save the answer that has the lines as a file"),
        (
            r"\s*(?:(?:--|SET |USE |/\*)[^\n]*\s+)*(?:INSERT INTO|COPY [^\n]{1,2000} FROM stdin;|(?:CREATE|DROP|LOCK) (?:TABLE|DATABASE|SCHEMA)\b)",
            "a dump in SQL",
            "load it, and export the table as CSV or JSON lines",
        ),
        (
            r"\s*<(?:\?xml|(?:log4j:)?[Ee]vents?|results?|resultset|rows?|records?)\b",
            "XML",
            "export the rows, or write the log, as JSON lines or text",
        ),
        (r"\+(?:-+\+){2,}\s+\|", "a table drawn with lines", "print it as CSV, or with tabs (mysql --batch)"),
        (r"\s*\{\s*'\w+'\s*:", "the text of a Python dictionary", "print the rows with json.dumps, one in each line"),
        (
            r'\s*(?:\{\s*"[@\w]+" => |\[\d+\] [\w.-]+: \[[^\n]{1,200}"=>)',
            "debug output of Logstash or Fluent Bit",
            "use its codec or format json_lines",
        ),
    )
)
"""Forms of rows that are not read: how a file in them begins, and what to say of it."""


def _problem_of(head: Head) -> str | None:
    return next((words for begins, words in _UNREAD if begins.match(head.text)), None)


def _is_unread(head: Head) -> bool:
    lines = LOG_LINE.search(head.text) is not None or ('"frames"' in head.text and re.match(_FRAMES, head.text, re.DOTALL) is not None)
    return lines and _problem_of(head) is not None


def _leave_rows(stream: BinaryIO, member: Member) -> Iterator[Row]:
    yield problem("unread-rows", _problem_of(Head(member.path, "", decoded(stream.read(_HEAD)))) or "rows in a form that is not read")


_HEAD = 64 * 1024


def _leave_document(stream: BinaryIO, member: Member) -> Iterator[Row]:
    head = decoded(stream.read(_HEAD))
    if LOG_LINE.search(head) and not is_own(head):
        yield problem("quoted", "a document that quotes log lines is not read; if they are of this incident, save them as a text file")


FORMATS = (
    FileKind("producer-snapshot", "producer state of a partition", file_name=rf"\d{{20}}\.snapshot{SEGMENT_SUFFIX}", binary=True),
    FileKind(
        "index",
        "offset, time or transaction index of a segment",
        file_name=rf"\d{{20}}\.(?:index|timeindex|txnindex){SEGMENT_SUFFIX}",
        binary=True,
    ),
    FileKind("redaction", "mark of evidence in which names were replaced", file_name=re.escape(REDACTION)),
    FileKind("unread-rows", "rows with log lines in a form that is not read", _leave_rows, content=_is_unread, rank=50),
    FileKind(
        "document",
        "a document, or a report of this tool: the log lines in it are quoted",
        _leave_document,
        content=lambda head: is_document(head.name, head.text),
        rank=0,
    ),
    FileKind("json", "other JSON", content=lambda head: head.is_json, rank=AFTER_LOGS + 40),
)
