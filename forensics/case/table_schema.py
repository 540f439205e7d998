"""The JSON Schema of each table: of a row as JSON, in a case and in the tables of an audit.

Here: the schemas, made from the Arrow schemas of the tables, and the values of columns that have a fixed set. Not here: the columns
(tables), or a report's schema (forensics.views.document_schema).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from forensics.case.tables import BY_NAME, PROOF, SCHEMA
from forensics.model.findings import CONFIDENCES, LEVELS
from forensics.model.presence.broker_states import STATES
from forensics.output.json_schema import Schema, document, of_field, record
from forensics.proof.verdict import REMOVED_CELLS, VERDICTS, Cell
from forensics.tools.checkpoint_diff import AGREE, DIFFER, ODD, SINGLE
from forensics.views.document_schema import CELL_WORDS, HANDOVERS, INCIDENT, KIND, LOGS, SOURCES
from forensics.views.story.step import STATUSES, TONES
from parsers.containers.names import IGNORED
from parsers.kinds import KINDS as EVENTS

_OF_FINDING = {"kind": KIND, "severity": LEVELS, "confidence": CONFIDENCES, "log": LOGS}
_WORDS: Mapping[str, Mapping[str, Collection[str]]] = {
    "sources": {"kind": (*SOURCES, "archive", IGNORED)},
    "brokers": {"role": ("broker", "controller")},
    "broker_states": {"state": tuple(STATES)},
    "facts": {"event": tuple(EVENTS)},
    "partitions": {"verdict": VERDICTS},
    PROOF: {"kind": HANDOVERS, **CELL_WORDS, **dict.fromkeys(REMOVED_CELLS[2:], (Cell.YES, Cell.NO))},
    "judged": _OF_FINDING,
    "checkpoints": {"verdict": (ODD, DIFFER, AGREE, SINGLE)},
    "steps": {"tone": TONES, "status": STATUSES},
    "findings": _OF_FINDING,
    "incidents": {**_OF_FINDING, "kind": INCIDENT},
    "finding_details": _OF_FINDING,
}
"""Values of columns, by table."""


def row(name: str) -> Schema:
    table = BY_NAME[name]
    columns = {field.name: of_field(field, _WORDS.get(table.name)) for field in table.schema}
    body = record(columns)
    body["description"] = f"{table.doc} A row as JSON: times as RFC 3339 in UTC."
    return document(f"{SCHEMA}/{name}", f"A row of the table {name}", body)
