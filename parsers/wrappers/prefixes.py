"""What a tool prints before each line of a file: the name of a host, pod or file (pdsh, kubetail, `docker service logs`, grep), its own
time (multilog, s6-log, svlogd, ts), or a number (`cat -n`).

Here: where it ends, and whether a name in it is the writer of the lines or a field of their layout: both are learned from the first lines.
Not here: wrappers that are known by their form alone (forms), or the names that may be machines (roles).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from parsers.layouts import Layout, fitting
from parsers.learning.layout import goes_on, layout_of
from parsers.wrappers.forms import ISO, unescaped
from parsers.wrappers.json_records import is_record_of_json
from parsers.wrappers.peeled import RAW, Peeled
from parsers.wrappers.roles import are_writers

_SHAPES = tuple(
    re.compile(rb"(?:(?P<utc>" + ISO + rb") )?" + name + rb" ?(?P<text>.*)", re.DOTALL)
    for name in (
        rb"\[(?P<name>[^\[\]\s]{1,200})\]:?",
        rb"(?P<name>[^\s\[:][^\s:]{0,400}(?=:)|\S{1,400}\.(?:log|out)(?:\.[\w.]{1,60})?(?=-\d+-(?:\[?\d{4}-|[\s}]|\Z)))(?:[:-]\d+)?[:-]",
        rb"(?P<name>[^\s\[|][^\s|]{0,400})(?: *\||(?= ))",
    )
)
"""`[name] line`; `name: line`, with grep's number of the line; `name | line` or `name line`. Each also after a time, as `aws logs tail`
prints it."""
_NO_NAME = re.compile(rb"\W+|(?i:trace|debug|info|warn|error|fatal|main)|(?!(?:\d{1,3}\.){3}\d{1,3}\Z)[\d.:,TZ+-]*")
"""Levels, times and numbers, which layouts begin with."""
_SHARE = 0.9
_MOST_NAMES = 1000
_FEW_NAMES = 9
"""Names that need not recur in the first lines."""


_LEVEL = re.compile(rb"\b(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b")
_LOG4J = re.compile(rb"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] +(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) ")
_QUOTED = re.compile(rb'((?:[^"\\]|\\.)*)"(?!")')
"""The rest of a text in quotes: what follows is not of the line."""
_CLOSED = re.compile(rb"\)[`\"']+$")
"""Quotes after a line; they are before it, too."""


class _Prefixed(NamedTuple):
    name: str
    text: str


class Prefix:
    """Removes what is before the lines, and the quotes after them."""

    def __init__(self, shape: re.Pattern[bytes], names: set[str], is_record: Callable[[str], bool]) -> None:
        self._shape = shape
        self._names = names
        self._is_record = is_record
        self._last = ""

    def peel(self, text: bytes) -> Peeled:
        """The line without its prefix. A line without one continues the one before it."""
        match = _match(self._shape, text)
        if match is not None:
            name = _name(match)
            if not name or name in self._names or self._is_record(_text(match["text"][:RAW])):
                if len(self._names) < _MOST_NAMES:
                    self._names.add(name)
                self._last = name
                begin = match.start("text")
                quoted = _QUOTED.match(text, begin) if text[begin - 1 : begin] == b'"' else None
                line = unescaped(quoted[1]) if quoted is not None else _CLOSED.sub(rb")", match["text"])
                return Peeled(line, writer=name, utc=match["utc"])
        return Peeled(text, writer=self._last)


def prefix_of(lines: Sequence[bytes], given: Sequence[Layout], *, named: bool = False) -> Prefix | None:
    """The prefix of a file with these first lines; None if the lines are not prefixed, or if it is not certain that the prefix names the
    writer of a line: it may be a thread. `named`: only a prefix that names a writer."""
    first = [line for line in lines if not goes_on(_text(line))]
    least = max(1, _SHARE * len(first))
    begins = [begin for line in first if (begin := _before_record(line, given))]
    for shape in (*_learned(begins, lambda: _is_of_layout(lines, given)), *_SHAPES):
        matches = [match for line in first if (match := _match(shape, line)) is not None]
        if len(matches) < least:
            continue
        lines_of = [_Prefixed(_name(match), _text(match["text"][:RAW])) for match in matches]
        is_record = _records(lines_of, given)
        names = {line.name for line in lines_of if is_record(line.text)}
        with_name = [line for line in lines_of if line.name in names]
        recur = 2 * len(names) <= len(with_name) or len(names) <= _FEW_NAMES
        if len(with_name) >= least and recur and (_name_writers(with_name) if names != {""} else not named):
            return Prefix(shape, names, is_record)
    return None


_STAMP = (
    rb"\d{4}-\d\d-\d\d[T _]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d)(?!\w))?"
    rb"|(?:[A-Z][a-z]{2} [ \d]\d|\d\d-\d\d) \d\d:\d\d:\d\d(?:\.\d{1,9})?|@[0-9a-f]{24}|\d{10}\.\d{1,9}"
)
_PIECE = re.compile(
    rb"(?P<stamp>" + _STAMP + rb")|(?P<number>\d+)(?![\w./-])|(?P<word>[^\s\[\]()<>{}|:,;=\"']+)|(?P<blank>[ \t]+)|(?P<sign>.)", re.DOTALL
)
_MAY_BEGIN = re.compile(rb"(?:(?<=[\s\]:|>+`\"'])|(?<=^))(?=[\[(<]?(?:\d{4}[-/]|TRACE|DEBUG|INFO|WARN|ERROR|FATAL)|\{)")
_ZONED = re.compile(rb"\d{4}-\d\d-\d\d.\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)\Z")
_LONGEST = 300
"""Bytes of a prefix."""


def _is_of_layout(lines: Sequence[bytes], given: Sequence[Layout]) -> bool:
    """Whether what is before the lines is a field of their layout."""
    learned = layout_of(b"\n".join(lines), given)
    return learned.layout is not None and learned.trouble is None


def _before_record(line: bytes, given: Sequence[Layout]) -> bytes:
    """What is before the last place at which a record in a listed layout begins: whatever copied a line puts its own time before that of
    the writer."""
    if line.startswith((b"{", b"[{")):
        return b""  # a record of JSON that may be cut, and what is before its text is no prefix
    places = [found.start() for found in _MAY_BEGIN.finditer(line, 0, _LONGEST)]
    is_one = (at for at in reversed(places) if _is_record(line[at:], given))
    begin = line[: next(is_one, 0)]
    return b"" if _LEVEL.search(begin) and _LOG4J.match(line, len(begin)) is None else begin


def _is_record(text: bytes, given: Sequence[Layout]) -> bool:
    return is_record_of_json(text) if text[:1] == b"{" else fitting(_text(text[:RAW]), given) is not None


def _learned(begins: Sequence[bytes], of_layout: Callable[[], bool]) -> Iterator[re.Pattern[bytes]]:
    """The expressions for lines with these prefixes: constant text, times and numbers, and one of the words as the name, or none."""
    groups: dict[tuple[str | bytes, ...], list[list[re.Match[bytes]]]] = defaultdict(list)
    for begin in begins:
        pieces = [*_PIECE.finditer(begin)]
        groups[tuple(piece[0] if piece.lastgroup == "sign" else piece.lastgroup or "" for piece in pieces)].append(pieces)
    group = max(groups.values(), key=len, default=[])
    if not group:
        return
    columns = list(zip(*group, strict=True))
    words = [at for at, column in enumerate(columns) if column[0].lastgroup == "word"]
    varying = [at for at in words if len({piece[0] for piece in columns[at]}) > 1]
    named = [at for at in words if at not in varying and are_writers([_text(columns[at][0][0])], [""])]
    levelled = any(_LEVEL.fullmatch(columns[at][0][0]) for at in words)
    constant = [*named, *(at for at in words if at not in (*varying, *named) and not levelled)]
    marked = any(column[0].lastgroup in ("stamp", "number") for column in columns) or not words
    for name in (*varying, *constant):
        yield _expression(columns, name, set(varying))
    if (marked and not varying) or not of_layout():
        yield _expression(columns, -1, set(varying))


def _expression(columns: Sequence[Sequence[re.Match[bytes]]], name: int, varying: set[int]) -> re.Pattern[bytes]:
    before, zoned = b"", next((at for at, column in enumerate(columns) if _ZONED.match(column[0][0])), -1)
    for at, column in enumerate(columns):
        what, text = column[0].lastgroup, column[0][0]
        if what == "stamp":
            before += (rb"(?P<utc>" if at == zoned else rb"(?:") + _STAMP + rb")"
        elif what == "number":
            before += rb"\d+"
        elif at == name or at in varying:
            before += (rb"(?P<name>" if at == name else rb"(?:") + rb"[^\s\[\]()<>{}|:,;=\"']+)"
        elif what == "blank" and (at == 0 or len({piece[0] for piece in column}) > 1):
            before += rb" *"
        else:
            before += re.escape(text)
    missing = (b"" if zoned >= 0 else rb"(?P<utc>(?!))?") + (b"" if name >= 0 else rb"(?P<name>(?!))?")
    return re.compile(missing + before + rb"(?P<text>.*)", re.DOTALL)


def _match(shape: re.Pattern[bytes], line: bytes) -> re.Match[bytes] | None:
    match = shape.fullmatch(line)
    return None if match is None or (match["name"] is not None and _NO_NAME.fullmatch(match["name"])) else match


def _name(match: re.Match[bytes]) -> str:
    return _text(match["name"] or b"")


def _records(lines: Sequence[_Prefixed], given: Sequence[Layout]) -> Callable[[str], bool]:
    """Whether a text is a record, in a listed layout or, if the texts after the names are in none, in the layout that they are in."""
    if any(_is_record(line.text.encode(), given) for line in lines):
        return lambda text: _is_record(text.encode(), given)
    layout = layout_of("\n".join(line.text for line in lines).encode(), given).layout
    return lambda text: layout is not None and (record := layout.read(text)) is not None and record.time is not None


def _name_writers(lines: Sequence[_Prefixed]) -> bool:
    """No layout prints anything before the lines that continue a record, so names there are of writers."""
    return any(goes_on(line.text) for line in lines) or are_writers([line.name for line in lines], [line.text for line in lines])


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
