"""What standard output has for characters that its encoding lacks.

Here: the stand-ins. Not here: characters that control a terminal (sanitise).
"""

from __future__ import annotations

import codecs
from typing import TextIO

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
