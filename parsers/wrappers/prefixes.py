"""The name of a host, pod or file before each line of a file, as pdsh, kubetail, `docker service logs` and grep print it.

Here: where the name ends, and whether it is the writer of the lines or a field of their layout: both are learned from the first lines. Not
here: wrappers that are known by their form alone (forms), or the names that may be machines (roles).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from parsers.layouts import Layout, fitting
from parsers.learning.layout import goes_on, layout_of
from parsers.matching.text import THROWN
from parsers.wrappers.forms import ISO
from parsers.wrappers.peeled import RAW, Peeled
from parsers.wrappers.roles import are_writers

_SHAPES = tuple(
    re.compile(rb"(?:(?P<utc>" + ISO + rb") )?" + name + rb" ?(?P<text>.*)", re.DOTALL)
    for name in (
        rb"\[(?P<name>[^\[\]\s]{1,200})\]:?",
        rb"(?P<name>[^\s\[:][^\s:]{0,400})(?::\d+)?:",
        rb"(?P<name>[^\s\[|][^\s|]{0,400})(?: *\||(?= ))",
    )
)
"""`[name] line`; `name: line`, with grep's number of the line; `name | line` or `name line`. Each also after a time, as `aws logs tail` prints it."""
_NO_NAME = re.compile(rb"\W+|(?i:trace|debug|info|warn|error|fatal|main)|(?!(?:\d{1,3}\.){3}\d{1,3}\Z)[\d.:,TZ+-]*")
"""Levels, times and numbers, which layouts begin with."""
_SHARE = 0.9
_MOST_NAMES = 1000


class _Prefixed(NamedTuple):
    name: str
    text: str


class Prefix:
    """Removes the names of writers from lines."""

    def __init__(self, shape: re.Pattern[bytes], names: set[str], is_record: Callable[[str], bool]) -> None:
        self._shape = shape
        self._names = names
        self._is_record = is_record
        self._last = ""

    def peel(self, text: bytes) -> Peeled:
        """The line without the name before it. A line without a name continues the one before it."""
        match = _match(self._shape, text)
        if match is not None:
            name = _text(match["name"])
            if name in self._names or self._is_record(_text(match["text"][:RAW])):
                if len(self._names) < _MOST_NAMES:
                    self._names.add(name)
                self._last = name
                return Peeled(match["text"], writer=name, utc=match["utc"])
        return Peeled(text, writer=self._last)


class Lead:
    """Removes what an unknown program or a person printed before log lines: `INFO|5652/0|22-01-19|[2022-…`, quotes, indentation."""

    def __init__(self, constant: re.Pattern[bytes] | None) -> None:
        self._constant = constant

    def peel(self, text: bytes) -> Peeled:
        if self._constant is not None and (lead := self._constant.match(text)) is not None:
            text = text[lead.end() :]
        return Peeled(_QUOTED.sub(rb")", text[marks.end(1) :]) if (marks := _MARKS.match(text)) is not None else text)


def lead_of(lines: Sequence[bytes], given: Sequence[Layout]) -> Lead | None:
    """The lead of a file with these first lines; None if its log lines have none. A lead is the same before nearly all of them, except for
    its digits."""
    leads = [found[1] for line in lines if (found := _LED.match(line)) is not None]
    forms = Counter(_DIGITS.sub(rb"\\d+", re.escape(lead)) for lead in leads if not _MARKS_ALONE.fullmatch(lead))
    form, count = forms.most_common(1)[0] if forms else (b"", 0)
    # what is before the time may be a field of the layout, unless it has a time of its own
    learned = layout_of(b"\n".join(lines), given) if form and not _TIMED.search(leads[0]) else None
    whole = learned is not None and learned.layout is not None and learned.trouble is None
    constant = re.compile(form) if count >= max(1, _SHARE * len(leads)) and not whole else None
    return Lead(constant) if constant is not None or any(map(_MARKS.match, lines)) else None


_TIMED = re.compile(rb"\d\d:\d\d:\d\d")
_DIGITS = re.compile(rb"\d+")
_LEVELS = rb"(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)"
_LOG4J = rb"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] +" + _LEVELS + rb" "
_LED = re.compile(rb"(.{0,120}?)(?=" + _LOG4J + rb")")
_MARKS_ALONE = re.compile(rb"(?:[ \t>`\"'*]|\xe2\x80[\x98-\x9d])*")
_MARKS = re.compile(rb"((?:[ \t>`\"'*]|\xe2\x80[\x98-\x9d])+)(?:" + _LOG4J + rb"|" + _LEVELS + rb" |" + THROWN + rb")")
"""Quotes and blanks before a log line or an exception."""
_QUOTED = re.compile(rb"\)[`\"']+$")


def prefix_of(lines: Sequence[bytes], given: Sequence[Layout]) -> Prefix | None:
    """The prefix of a file with these first lines; None if the lines are not prefixed, or if it is not certain that the prefix names the
    writer of a line: it may be a thread."""
    first = [line for line in lines if not goes_on(_text(line))]
    least = max(1, _SHARE * len(first))
    for shape in _SHAPES:
        matches = [match for line in first if (match := _match(shape, line)) is not None]
        if len(matches) < least:
            continue
        lines_of = [_Prefixed(_text(match["name"]), _text(match["text"][:RAW])) for match in matches]
        is_record = _records(lines_of, given)
        names = {line.name for line in lines_of if is_record(line.text)}
        named = [line for line in lines_of if line.name in names]
        if len(named) >= least and _name_writers(named):
            return Prefix(shape, names, is_record)
    return None


def _match(shape: re.Pattern[bytes], line: bytes) -> re.Match[bytes] | None:
    match = shape.fullmatch(line)
    return None if match is None or _NO_NAME.fullmatch(match["name"]) else match


def _records(lines: Sequence[_Prefixed], given: Sequence[Layout]) -> Callable[[str], bool]:
    """Whether a text is a record, in a listed layout or, if the texts after the names are in none, in the layout that they are in."""
    if any(fitting(line.text, given) is not None for line in lines):
        return lambda text: fitting(text, given) is not None
    layout = layout_of("\n".join(line.text for line in lines).encode(), given).layout
    return lambda text: layout is not None and (record := layout.read(text)) is not None and record.time is not None


def _name_writers(lines: Sequence[_Prefixed]) -> bool:
    """No layout prints anything before the lines that continue a record, so names there are of writers."""
    return any(goes_on(line.text) for line in lines) or are_writers([line.name for line in lines], [line.text for line in lines])


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
