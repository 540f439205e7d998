"""Reads many lines of a file in the same wrapper at once: most contain a whole record or its continuation.

Here: the wrappers for which the form of a line alone is sufficient, each as one expression for the line; the expression for flat JSON
objects is learned from one of them. Not here: all other lines, or the further processing (unwrapper). The unwrapped text begins with a date
in brackets or an indent, so it cannot be wrapped again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from parsers.wrappers.forms import ESCAPED, FROM, ISO, SHORT
from parsers.wrappers.json_records import flat

TAB = rb"(?:\\t)+"
"""How a quoted text that is indented by tabs begins."""


def _run(before: bytes, after: bytes = b"", quoted: bytes = b"") -> re.Pattern[bytes]:
    """Expressions for the text before and after the message, with the groups utc and host; `quoted`: characters that the message does not
    contain unescaped."""
    rest = rb"[^\n\r\x1b" + quoted + rb"]*"
    indent = rb"(?: |" + TAB + rb")" if quoted else rb"[\t ]"
    return re.compile(before + rb"(?P<text>\[\d{4}-\d" + rest + rb"|" + indent + rest + rb"|)" + after + rb"\n")


RUNS: Sequence[re.Pattern[bytes]] = (
    _run(rb"(?P<utc>" + ISO + rb") (?:stdout|stderr) F (?P<host>)"),
    _run(rb'\{"log":"(?P<host>)', rb'\\n","stream":"(?:stdout|stderr)","time":"(?P<utc>[^"\\\n]{20,35})"\}', rb'"\\'),
    _run(rb"(?![^\n]*" + ESCAPED + rb")" + SHORT + rb"(?P<host>" + FROM + rb":(?: |(?! ))(?P<utc>)"),
)
"""The wrappers of the container runtime interface, docker and syslog."""


_PLAIN = rb"[ !#-\[\]-~]*"
"""Content of a string without escapes."""
_EDGE = rb"[!#-.0-\[\]-~]"
"""One character of such a string that is not a space or a slash."""
_MANY = 100
"""Members of an object from which on no expression is learned."""
_MEMBER = re.compile(
    rb'[{,][ \t]*"(?P<key>'
    + _PLAIN
    + rb')"[ \t]*:[ \t]*(?P<value>(?P<string>"'
    + _PLAIN
    + rb'")|(?P<number>-?(?:0|[1-9]\d{0,99}))|true|false|null)'
)


def run_of(line: bytes) -> re.Pattern[bytes] | None:
    """The expression for lines like this one, including the line feed."""
    return next((run for run in RUNS if run.fullmatch(line)), None)


def learned(line: bytes) -> re.Pattern[bytes] | None:
    """The same for a JSON object without nested objects: matches objects with the same keys in this order, if the keys determine text, host
    and time."""
    members: list[re.Match[bytes]] = []
    at = 0
    while len(members) < _MANY and (member := _MEMBER.match(line, at)) is not None and (line[at] == ord("{")) == (at == 0):
        members.append(member)
        at = member.end()
    fields = flat([member["key"].decode() for member in members]) if line[at:] == b"}\n" else None
    if fields is None:
        return None
    pieces = []
    for member in members:
        key, quote = member["key"].decode(), rb'"' if member["string"] else b""
        if key == fields.time:
            value = rb"(?P<utc>[1-9]\d{9,15})"  # any number in this form is a time
        elif key == fields.host:
            value = rb"(?P<host>" + _EDGE + rb"(?:" + _PLAIN + _EDGE + rb")?)"
        elif key == fields.text:
            value = rb"(?P<text>\[\d{4}-\d" + _PLAIN + rb"|(?: |" + TAB + rb")" + _PLAIN + rb"|)"
        elif member["string"]:
            value = _PLAIN
        else:
            value = rb"-?(?:0|[1-9]\d{0,99})" if member["number"] else rb"(?:true|false|null)"
        pieces.append(re.escape(line[member.start() : member.start("value")]) + quote + value + quote)
    expression = re.compile(b"".join(pieces) + rb"\}\n")
    return expression if expression.fullmatch(line) else None
