"""Characters in evidence that control a terminal or are invisible, and those that the encoding of standard output lacks.

Here: which characters these are, text without them, and what replaces them. Not here: their names in JSON and pages (json_text,
html.safe).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from typing import Any, TextIO

UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\uf8ff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
"""Control characters except tab and line feed; characters that change the text direction, have no width, are unassigned or private."""


def clean(text: str) -> str:
    """Text without characters that control a terminal: they become their pictures or '?'."""
    return text if text.isascii() and text.isprintable() else UNSEEN.sub(_pictured, text)


def _pictured(found: re.Match[str]) -> str:
    return chr(0x2400 + ord(found[0])) if found[0] < " " else "?"


def cleaned(value: Any) -> Any:
    """JSON values with their text clean."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {key: cleaned(own) for key, own in value.items()}
    return [cleaned(own) for own in value] if isinstance(value, list | tuple) else value


STAND_INS = str.maketrans({"–": "-", "…": "...", "·": "*", "±": "+-", "●": "*", "○": "o", "✗": "x", **dict.fromkeys("┊┃│¦", "|")})
"""Characters of reports, in ASCII."""


def tolerate(stream: TextIO) -> None:
    """Characters that the encoding of a standard stream lacks no longer end the command: ranges stay readable, others become \\uXXXX."""
    if hasattr(stream, "reconfigure"):
        codecs.register_error("stand-ins", _stand_in)
        stream.reconfigure(errors="stand-ins")


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(STAND_INS)
    return text.encode("ascii", "backslashreplace").decode(), error.end
