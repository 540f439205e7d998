"""Many lines of a file in the same wrapper: most are whole, and hold a record or what goes on from one.

Here: the wrappers of which such lines can be told from their form alone, each as one expression for the line; that of flat JSON objects
is learned from one of them. Not here: any other line, nor what is made of them (unwrapper). The text of these begins with a date in
brackets or an indent, as nothing does that is wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from parsers.wrappers.forms import FROM, ISO, SHORT
from parsers.wrappers.json_records import flat

TAB = rb"(?:\\t)+"
"""How a quoted text begins that is indented by tabs."""


def _run(before: bytes, after: bytes = b"", quoted: bytes = b"") -> re.Pattern[bytes]:
    """Of what stands before the text and behind it, with the groups utc and host; `quoted`: what does not stand in it as it is."""
    rest = rb"[^\n\r\x1b" + quoted + rb"]*"
    indent = rb"(?: |" + TAB + rb")" if quoted else rb"[\t ]"
    return re.compile(before + rb"(?P<text>\[\d{4}-\d" + rest + rb"|" + indent + rest + rb"|)" + after + rb"\n")


RUNS: Sequence[re.Pattern[bytes]] = (
    _run(rb"(?P<utc>" + ISO + rb") (?:stdout|stderr) F (?P<host>)"),
    _run(rb'\{"log":"(?P<host>)', rb'\\n","stream":"(?:stdout|stderr)","time":"(?P<utc>[^"\\\n]{20,35})"\}', rb'"\\'),
    _run(SHORT + rb"(?P<host>" + FROM + rb":(?: |(?! ))(?P<utc>)"),
)
"""The container runtime interface's, docker's and syslog's."""


_PLAIN = rb"[ !#-\[\]-~]*"
"""Of a string in which nothing is escaped."""
_EDGE = rb"[!#-.0-\[\]-~]"
"""A character of it that is no space and no slash."""
_MANY = 100
"""Members of an object from which on nothing is learned from it."""
_MEMBER = re.compile(
    rb'[{,][ \t]*"(?P<key>'
    + _PLAIN
    + rb')"[ \t]*:[ \t]*(?P<value>(?P<string>"'
    + _PLAIN
    + rb'")|(?P<number>-?(?:0|[1-9]\d{0,99}))|true|false|null)'
)


def run_of(line: bytes) -> re.Pattern[bytes] | None:
    """What reads lines such as this, its line feed included."""
    return next((run for run in RUNS if run.fullmatch(line)), None)


def learned(line: bytes) -> re.Pattern[bytes] | None:
    """The same of a JSON object that holds no others: of those with its keys in this order, if the keys tell what is text, host and time."""
    members: list[re.Match[bytes]] = []
    at = 0
    while len(members) < _MANY and (found := _MEMBER.match(line, at)) is not None and (line[at] == ord("{")) == (at == 0):
        members.append(found)
        at = found.end()
    told = flat([found["key"].decode() for found in members]) if line[at:] == b"}\n" else None
    if told is None:
        return None
    pieces = []
    for found in members:
        key, quote = found["key"].decode(), rb'"' if found["string"] else b""
        if key == told.time:
            value = rb"(?P<utc>[1-9]\d{9,15})"  # any such number is a time
        elif key == told.host:
            value = rb"(?P<host>" + _EDGE + rb"(?:" + _PLAIN + _EDGE + rb")?)"
        elif key == told.text:
            value = rb"(?P<text>\[\d{4}-\d" + _PLAIN + rb"|(?: |" + TAB + rb")" + _PLAIN + rb"|)"
        elif found["string"]:
            value = _PLAIN
        else:
            value = rb"-?(?:0|[1-9]\d{0,99})" if found["number"] else rb"(?:true|false|null)"
        pieces.append(re.escape(line[found.start() : found.start("value")]) + quote + value + quote)
    expression = re.compile(b"".join(pieces) + rb"\}\n")
    return expression if expression.fullmatch(line) else None
