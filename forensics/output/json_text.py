"""JSON output in which characters that control a terminal or the text direction are escaped; parsers read the same values.

Here: the escaping. Not here: the documents.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from forensics.output.sanitise import UNSEEN


def encoded(value: Any, **form: Any) -> str:
    """`form` is passed to json.dumps."""
    text = _encoder(**form).encode(value)
    return text if text.isascii() and "\x7f" not in text else UNSEEN.sub(_escaped, text)


@cache
def _encoder(**form: Any) -> json.JSONEncoder:
    """json.dumps would make a new string for each of 100,000 places"""
    return json.JSONEncoder(ensure_ascii=False, check_circular=False, **form)


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1].replace("\x7f", "\\u007f")
