"""Files that give no events: those without any, and exports in a form that is not read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from parsers.formats.file_kind import AFTER_LOGS, SEGMENT_SUFFIX, FileKind, Head
from parsers.schemas import Member, Row, problem

REDACTION = "kafka-forensics-redacted.json"
"""The file that marks redacted evidence."""
_COLUMNS = re.compile(r'"columns"\s*:\s*\[\s*\[')


def _is_columns(head: Head) -> bool:
    return head.is_json and _COLUMNS.search(head.text) is not None


def _leave_columns(stream: BinaryIO, member: Member) -> Iterator[Row]:
    yield problem("json-columns", "JSON with a list for each column cannot be read here; export its rows as JSON or CSV")


FORMATS = (
    FileKind("producer-snapshot", "producer state of a partition", file_name=rf"\d{{20}}\.snapshot{SEGMENT_SUFFIX}", binary=True),
    FileKind(
        "index",
        "offset, time or transaction index of a segment",
        file_name=rf"\d{{20}}\.(?:index|timeindex|txnindex){SEGMENT_SUFFIX}",
        binary=True,
    ),
    FileKind("redaction", "mark of evidence in which names were replaced", file_name=re.escape(REDACTION)),
    FileKind("json-columns", "JSON with a list for each column, as Splunk writes it", _leave_columns, content=_is_columns, rank=50),
    FileKind("json", "other JSON", content=lambda head: head.is_json, rank=AFTER_LOGS + 40),
)
