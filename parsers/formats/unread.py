"""Files that Kafka or this tool writes and that give no events."""

from __future__ import annotations

import re

from parsers.formats.file_kind import AFTER_LOGS, SEGMENT_SUFFIX, FileKind

REDACTION = "kafka-forensics-redacted.json"
"""The file that marks redacted evidence."""

FORMATS = (
    FileKind("producer-snapshot", "producer state of a partition", file_name=rf"\d{{20}}\.snapshot{SEGMENT_SUFFIX}", binary=True),
    FileKind(
        "index",
        "offset, time or transaction index of a segment",
        file_name=rf"\d{{20}}\.(?:index|timeindex|txnindex){SEGMENT_SUFFIX}",
        binary=True,
    ),
    FileKind("redaction", "mark of evidence in which names were replaced", file_name=re.escape(REDACTION)),
    FileKind("json", "other JSON", content=lambda head: head.is_json, rank=AFTER_LOGS + 40),
)
