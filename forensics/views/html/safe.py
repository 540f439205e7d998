"""Safe text and data for a page. Log text is hostile: it may hold markup, escapes for terminals, and characters that change the text
direction.

Here: the displayed form of a text, and JSON that an HTML parser cannot take for markup. Not here: escaping for HTML, which Jinja does for
everything not marked as safe.
"""

from __future__ import annotations

import json
import re
from typing import Any

from forensics.output.sanitise import UNSEEN

_OF_MARKUP = re.compile("[<>&\u2028\u2029]")


def visible(text: str) -> str:
    """Text without hidden characters: those without a glyph are named."""
    return UNSEEN.sub(_named, text)


def _named(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"[U+{code:04X}]"


def block(value: Any) -> str:
    """JSON for a data block in a page."""
    text = json.dumps(_visible(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _OF_MARKUP.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def _visible(value: Any) -> Any:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {str(key): _visible(item) for key, item in value.items()}
    return [_visible(item) for item in value] if isinstance(value, list | tuple) else value
