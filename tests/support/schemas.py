"""Documents and tables held against the schemas that `kafka-forensics schema` prints."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import Any

import pyarrow as pa
from jsonschema import Draft202012Validator

from forensics.commands.schema import schemas
from forensics.views.document import Report


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(schemas()[name]())


def violations(name: str, documents: Iterable[Any]) -> list[str]:
    """What of the documents the schema does not allow: place and reason."""
    errors = (error for document in documents for error in validator(name).iter_errors(document))
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in errors]


def of_report(report: Report) -> list[str]:
    """What of the report as JSON its schema does not allow."""
    return violations("report", [json.loads(report.json())])


def of_rows(name: str, rows: pa.Table) -> list[str]:
    """What of the rows of a table, as JSON, the schema of the table does not allow."""
    return violations(name, map(_as_json, rows.to_pylist()))


def _as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _as_json(own) for name, own in value.items()}
    if isinstance(value, list):
        return [_as_json(own) for own in value]
    return f"{value.isoformat(timespec='microseconds')}Z" if isinstance(value, datetime) else value
