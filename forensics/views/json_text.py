"""JSON as it is written: what a terminal would obey in it, or what turns a line round, is escaped, which no parser tells from the character.

Here: that. Not here: the documents.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from forensics.views.unseen import UNSEEN


def encoded(value: Any, **form: Any) -> str:
    """`form` as json.dumps has it."""
    told = _encoder(**form).encode(value)
    return told if told.isascii() and "\x7f" not in told else UNSEEN.sub(_escaped, told)


@cache
def _encoder(**form: Any) -> json.JSONEncoder:
    """json.dumps makes one for each of 100,000 places."""
    return json.JSONEncoder(ensure_ascii=False, check_circular=False, **form)


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1].replace("\x7f", "\\u007f")
