"""Records in YAML, as `gcloud logging read` prints them: one document for each record.

Here: one document as a mapping of strings. Not here: the fields in which a record has its text, writer and time (json_records).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SEPARATOR = "---"
_NULL = ("", "~", "null")


def mapping(text: str) -> Mapping[str, Any] | None:
    """The mapping in a document, with strings as values and without nulls; None if the document has none or is not valid. A document with
    an alias is refused, because a few of them can name billions of values."""
    import yaml  # few files need it

    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.CBaseLoader)):
            return None
        value = yaml.load(text, Loader=yaml.CBaseLoader)  # noqa: S506 - the base loader makes strings, lists and mappings only
    except (yaml.YAMLError, RecursionError, ValueError, TypeError):
        return None
    return _without_nulls(value) if isinstance(value, dict) else None


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if isinstance(key, str) and inner not in _NULL}
    return value
