"""What a report finds, without what differs between evidence and its redacted copy: for tests of redaction.

Here: findings with names translated back. Not here: the evidence or the copy.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

_PLACE = re.compile(r"(?:Kafka )?\S*(?:/|\.(?:log|csv|json|txt|out|properties)\b)[\w.#/-]*(?::? ?(?:line )?\d+)*")
"""Where a text quotes a file: lines are elsewhere in a copy."""
_WORD = re.compile(r"[^\s,;:()]+")
_OF_TEXT = ("summary", "explanation", "next_steps")
_OWN_SIZES = "load-imbalance"
"""Shares of bytes: the segments of Kafka's own topics have other names in their records, and so another size."""


def found(document: Mapping[str, Any], names: Mapping[str, Mapping[str, str]]) -> tuple[dict[str, Any], list[str]]:
    """The verdict, and all findings with their kinds, levels, places, offsets and values. `names`: the mapping, {} for the evidence itself."""
    back = {stand_in: name for own in names.values() for name, stand_in in own.items()}
    either = re.compile("|".join(sorted(map(re.escape, back), key=len, reverse=True)) or r"(?!)")

    def original(text: str) -> str:
        return either.sub(lambda match: back[match[0]], text)

    verdict = _mapped({key: value for key, value in document["verdict"].items() if key != "summary"}, original)
    return verdict, sorted(_finding(f, original) for f in document["findings"])


def _finding(finding: Mapping[str, Any], original: Callable[[str], str]) -> str:
    kept = _mapped({key: value for key, value in finding.items() if key not in ("id", "incident")}, original)
    if kept["kind"] == _OWN_SIZES:
        kept["values"] = None
    kept["evidence"], kept["brokers"] = len(kept["evidence"]), sorted(kept["brokers"])
    for key in _OF_TEXT:
        text = kept[key] if isinstance(kept[key], str) else " ".join(kept[key])
        kept[key] = sorted(Counter(_WORD.findall(_PLACE.sub("", text))).items()) if kept["kind"] != _OWN_SIZES else None
    kept["places"] = sorted(json.dumps(place, sort_keys=True, default=str) for place in kept.get("places") or ())
    return json.dumps(kept, sort_keys=True, default=str)


def _mapped(value: Any, original: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {key: _mapped(inner, original) for key, inner in value.items()}
    if isinstance(value, list):
        return [_mapped(inner, original) for inner in value]
    return _PLACE.sub("", original(value)) if isinstance(value, str) else value
