"""The form of case.json, which is checked before anything in it is used.

Here: its JSON Schema. Not here: its content (forensics.case.write), or the rows of tables (forensics.case.table_schema).
"""

from __future__ import annotations

from forensics.output.json_schema import COUNT, INTEGER, NUMBER, TEXT, Schema, by_name, listed, nullable, one_of, record
from forensics.views.headline import EXCLUDED, FOUND, UNSETTLED

_DAY_MS = 24 * 3600 * 1000
_BROKER: Schema = {**TEXT, "pattern": r"^-?\d{1,10}$"}
_TEXTS = listed(TEXT)


def _within(most: int) -> Schema:
    return {**INTEGER, "minimum": -most, "maximum": most}


_OPTIONS = record(
    {
        "zone_offset_ms": nullable(_within(_DAY_MS)),
        "zone_name": nullable(TEXT),
        "clock_offsets_ms": by_name(_within(366 * _DAY_MS), _BROKER),
        "log_patterns": _TEXTS,
        "limits": by_name(NUMBER),
        "patterns": listed(record({"path": TEXT, "sha256": TEXT}, others=True)),
        "rules": listed(record({"path": TEXT, "sha256": TEXT, "text": TEXT}, others=True)),
    },
    optional=("limits", "patterns", "rules"),
    others=True,
)
CASE = record(
    {
        "schema": TEXT,
        "tool": record({"version": TEXT, "command": _TEXTS, "rules": TEXT}, others=True),
        "evidence": record({"paths": _TEXTS, "root": TEXT}, others=True),
        "options": _OPTIONS,
        "verdict": record({"loss": one_of((FOUND, EXCLUDED, UNSETTLED)), "summary": TEXT, "partitions": by_name(COUNT)}, others=True),
        "tables": by_name(record({"rows": COUNT}, others=True)),
    },
    others=True,
)
"""Other properties are those of a newer version of the tool with the same schema."""
