"""The check of a document agrees with a full validator of JSON Schema."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator

from forensics.case.read import CASE
from forensics.output.json_schema import Schema, violation

ODD = (None, True, -1, 10**30, 1.5, "", "x", [], [1], [None], {}, {"a": 1}, {"7": 5})
GOOD: dict[str, Any] = {
    "schema": "kafka-forensics/case/2",
    "tool": {"version": "1", "command": ["analyze"], "rules": "sha256:0"},
    "evidence": {"paths": ["a"], "root": ""},
    "options": {
        "zone_offset_ms": None,
        "zone_name": None,
        "clock_offsets_ms": {"1": -5},
        "log_patterns": [],
        "limits": {"stream": 5},
        "patterns": [{"path": "p", "sha256": "0"}],
    },
    "verdict": {"loss": "found", "summary": "", "partitions": {"lost": 1}},
    "tables": {"facts": {"rows": 0}},
}


def changed(value: Any) -> Iterator[Any]:
    """The value with one part replaced or left out, and the value replaced."""
    yield from ODD
    for at in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        for own in changed(value[at]):
            other = copy.copy(value)
            other[at] = own
            yield other
    for name in value if isinstance(value, dict) else ():
        yield {other: own for other, own in value.items() if other != name}


def test_the_check_agrees_with_a_full_validator() -> None:
    schemas: list[Schema] = [CASE, {"type": ["string", "null"], "enum": ["x", None]}, {"const": "x"}]
    for schema in schemas:
        full = Draft202012Validator(schema)
        for value in (GOOD, *changed(GOOD)):
            assert (violation(value, schema) is None) == full.is_valid(value), json.dumps(value)
