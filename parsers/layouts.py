"""The layout of a log line, and the component's prefix before its message.

Here: the record grammars of log4j as Layouts chosen per file from its content, and the prefixes by which Kafka's classes name themselves
(LogContext, Logging.logIdent), turned into columns. Not here: the meaning of messages (parsers.patterns), the walk over a file
(parsers.catalogue), wrappers around a whole log (parsers.wrappers), or the user's patterns (parsers.log_pattern).

A layout defines which line begins a record (on bytes, so that a whole chunk can be searched) and the fields of a line. Kafka's own is
written out; the others are SHAPES, compiled only if a file does not have Kafka's layout.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

import regex

from parsers.cached import cached_property
from parsers.expressions import quick
from parsers.matching.text import line_end
from parsers.patterns.fragments import filled
from parsers.patterns.pattern import column

STATE_CHANGE = "state.change.logger"
LEVELS = "TRACE|DEBUG|INFO|WARN|ERROR|FATAL"
_LEVEL_OF = {
    form(level[:length]): level
    for level in LEVELS.split("|")
    for length in range(5, 0, -1)
    for form in (str.upper, str.lower, str.capitalize)
}
"""Levels as log4j 2 may print them: in lower case, or truncated."""
_SNIFFED_LINES = 200
_SNIFFED_TEXT = 2048
LONG_LINE = 4096
"""Characters of a line from which on characters outside ASCII count as none of any class: `regex` may take time by the square of the
length."""
_AGREE = 0.9
_HALF = 0.5
_NOISE = r"[\x00-\x08\x0b-\x1f]*"
_QUOTED = 60


class LogRecord(NamedTuple):
    """The fields of one line; `logger` is None if the message continues in the next line or the layout has no logger."""

    time: datetime | None
    level: str
    message: str
    logger: str | None
    utc: bool = False
    """`time` is UTC: the text names its zone. Otherwise it is the broker's wall clock."""


class LayoutPart(NamedTuple):
    """A piece of a layout."""

    what: str
    """'time', 'level', 'thread', 'logger', 'number', 'message'; '' for constant text."""
    expression: str
    """Expression that matches it, without named groups."""
    text: str = ""
    """The constant text."""


@dataclass(frozen=True)
class Layout:
    """One way of laying out log records."""

    name: str
    head: regex.Pattern[bytes]
    """Matches at the start of a line that begins a record, including control characters before it (torn writes)."""
    line: regex.Pattern[str]
    """Matches the whole first line of a record, with the groups level, message and, if the layout has them, time and logger. The text after
    the message may be missing: the message continues in the next line."""
    parts: tuple[LayoutPart, ...]
    """The fields of a record, for explaining why a line does not match."""
    tail: regex.Pattern[str] | None = None
    """The text after the message at the end of a later line, with the group logger if it includes the logger."""
    logged: tuple[str, str] = (" (", ")")
    """The text directly before and after the logger's name."""
    bare: bool = False
    """The layout has no logger, as far as known: a record without one may come from any logger."""
    when: Callable[[str], tuple[datetime | None, bool]] | None = None
    """Reads the group time where `instant` does not."""
    levels: Mapping[str, str] = field(default_factory=dict)
    """Levels by their printed text if log4j's levels are truncated at the front."""

    def begins(self, data: bytes, at: int) -> bool:
        """Whether a record begins at the line that starts at byte `at`."""
        end = line_end(data, at) + 1  # else regex looks for a literal of the expression up to the end of the data
        return self.head.match(data, at, end) is not None

    def read(self, text: str) -> LogRecord | None:
        """The record that begins with this line; None if the line belongs to the record before it."""
        parts = self._matched(text)
        if parts is None:
            return None
        time, level, message, logger = parts
        at, utc = self.moment(time)
        return LogRecord(at, self.level(level), message, logger, utc)

    def fits(self, text: str) -> bool:
        """Whether the line is a whole record of this layout, including all text after the message."""
        record = self.read(text)
        return record is not None and (self.bare or record.logger is not None)

    def _matched(self, text: str) -> Sequence[str | Any] | None:
        """The groups time, level, message and logger."""
        if self.quick is None or not (text.isascii() or len(text) > LONG_LINE):
            match = self.line.fullmatch(text)
            return match.group("time", "level", "message", "logger") if match is not None else None
        expression, places = self.quick
        quickly = expression.fullmatch(text if text.isascii() else text.encode("ascii", "replace").decode())
        if quickly is None:
            return None
        groups = (text[slice(*quickly.span(place))] if quickly[place] is not None else None for place in places)
        time, level, message, other, logger = quickly.group(*places) if text.isascii() else groups
        return time, level, other if message is None else message, logger

    @cached_property
    def quick(self) -> tuple[re.Pattern[str], Sequence[int]] | None:
        """`line` for ASCII texts with the positions of its groups, the message's twice; None without a faster expression."""
        translated = quick(self.line.pattern)
        if (
            translated is None
            or any(len(translated.groups[what]) > 1 for what in ("time", "level", "logger"))
            or len(translated.groups["message"]) > 2
        ):
            return None
        time, level, logger, message = (translated.groups[what] for what in _NAMED)
        places = (time[0], level[0], message[0], message[-1], logger[0])
        return translated.expression, places

    def level(self, text: str | None) -> str:
        """The level for this printed text; '' if there is none."""
        return (self.levels or _LEVEL_OF).get(text or "", "")

    def moment(self, text: str | None) -> tuple[datetime | None, bool]:
        """A printed time, and whether it is UTC."""
        return self._instant(text) if text else (None, False)

    @cached_property
    def _instant(self) -> Callable[[str], tuple[datetime | None, bool]]:
        """Neighbouring lines usually have the same time."""
        return lru_cache(maxsize=1 << 12)(self.when or instant)

    @cached_property
    def _steps(self) -> tuple[tuple[str, regex.Pattern[str]], ...]:
        before = self.parts[: [part.what for part in self.parts].index("message")]
        return tuple((part.what, regex.compile(part.expression)) for part in before)

    def progress(self, text: str) -> tuple[int, str]:
        """The number of fields at the start of a line that match, and a description of the next one."""
        at, fields, after = 0, 0, "at its start"
        for what, expression in self._steps:
            match = expression.match(text, at)
            if match is None:
                return fields, f"no {what or 'such text'} {after}: {text[at : at + _QUOTED]!r}"
            at = match.end()
            if what:
                fields, after = fields + 1, f"after the {what}"
        return fields, f"something else behind the message: {text[-_QUOTED:]!r}"


def timestamp(text: str) -> datetime | None:
    """Local wall-clock time of a line, naive; None for digits that are not a valid date."""
    try:
        return datetime.fromisoformat(text.replace(",", "."))
    except ValueError:
        return None


_DATE = r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_ZONE = r"Z|UTC|(?:GMT)?[+-]\d\d(?::?\d\d)?|GMT"
TIME = rf"{_DATE}(?: ?(?:{_ZONE})(?![\w:]))?"
"""Every date format in sniffed layouts and wrappers: `T` or a space, any fraction or none, a zone or none."""
_INSTANT = regex.compile(rf"(?P<date>[^.,Z+UG]{{10,19}})(?:[.,](?P<fraction>\d{{1,9}}))? ?(?P<zone>{_ZONE})?")
_PLAIN = 23


def instant(text: str) -> tuple[datetime | None, bool]:
    """A time matched by TIME, and whether it is UTC because the text names a zone; None for digits that are not a valid date."""
    if len(text) == _PLAIN and text[4] == "-" and text[19] in ",.":
        return timestamp(text), False
    match = _INSTANT.fullmatch(text)
    if match is None:
        return None, False
    date, fraction, zone = match.group("date", "fraction", "zone")
    at = timestamp(date.replace("/", "-"))
    if at is None:
        return None, False
    if fraction:
        at = at.replace(microsecond=int(fraction[:6].ljust(6, "0")))
    return shifted(at, zone), zone is not None


def shifted(at: datetime, zone: str | None) -> datetime | None:
    """UTC of a wall clock in a zone written as `Z`, `UTC`, `+02`, `+0200`, `+02:00` or `GMT+02:00`; None beyond the range of datetime."""
    zone = (zone or "").removeprefix("GMT")
    if zone[:1] not in ("+", "-"):
        return at
    digits = zone[1:].replace(":", "").ljust(4, "0")
    ahead = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    try:
        return at + ahead if zone[0] == "-" else at - ahead
    except OverflowError:
        return None


def abbreviates(name: str, full: str) -> bool:
    """Whether a logger printed as `name` may be the logger `full`: `%c{1}`, `%c{2}`, `%c{1.}` or `%.30c` shorten it in these ways."""
    if name == full:
        return True
    short, long = name.rstrip("$").split("."), full.rstrip("$").split(".")
    if len(short) > len(long) or short[-1] != long[-1]:
        return False
    pairs = zip(short, long[len(long) - len(short) :], strict=True)
    return all(step.startswith(part) or (at == 0 and step.endswith(part)) for at, (part, step) in enumerate(pairs))


@lru_cache(maxsize=1 << 14)
def is_one_of(logger: str, loggers: tuple[str, ...]) -> bool:
    """Whether a printed logger may be one of these."""
    return logger in loggers or any(abbreviates(logger, name) for name in loggers)


_LOGGER = r"[^():\s]+"
LOG4J = Layout(
    name="[%d] %p %m (%c)%n",
    head=regex.compile(rb"(?m)^[\x00-\x08\x0b-\x1f]*\[\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[,.]\d{3}Z?\] +[A-Z]{4,5} "),
    line=regex.compile(
        rf"\[(?P<time>\d{{4}}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[,.]\d{{3}}Z?)\] +(?P<level>{LEVELS}) "
        rf"(?: *(?P<message>(?:[^ ].*)?) \((?P<logger>{_LOGGER})\)| *(?P<message>.*))[ \t\r]*"
    ),
    parts=(
        LayoutPart("", r"\["),
        LayoutPart("time", r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[,.]\d{3}Z?"),
        LayoutPart("", r"\] +"),
        LayoutPart("level", f"(?:{LEVELS}) +"),
        LayoutPart("message", r".*"),
    ),
    tail=regex.compile(r"(?m) \((?P<logger>(?>[\w$]+(?:\.[\w$]+)+))\)$"),
)
"""`[%d] %p %m (%c)%n` of every log4j.properties and log4j2.yaml that Kafka ships; a level padded by `%-5p` is accepted
too, and the `Z` of a record that was rendered from fields. The message may
itself end in parentheses, so the last ones are the logger."""

PASTED = Layout(
    name="%p %m (%c)%n",
    head=regex.compile(
        rf"(?m)^(?:\[[^\[\]\n]{{1,99}}\] (?=(?:{LEVELS}) )|\[ *\] *)?(?:(?:{LEVELS}):? +)?(?:[\w$]{{1,99}}(?:\.[\w$]{{1,99}}){{1,20}} - )?(?=[A-Z\[])(?!(?:Caused by|Suppressed|Exception)\b)".encode()
    ),
    line=regex.compile(
        rf"(?P<time>(?!))?(?:\[[^\[\]\n]{{1,99}}\] (?=(?:{LEVELS}) )|\[ *\] *)?(?:(?P<level>{LEVELS}):? +)?(?:(?P<logger>[\w$]{{1,99}}(?:\.[\w$]{{1,99}}){{1,20}}) - )?"
        r"(?!(?:Caused by|Suppressed|Exception)\b)"
        rf"(?P<message>[A-Z\[].*?)(?: \((?P<logger>[\w$]+(?:\.[\w$]+)+)\))?[ \t\r]*+"
    ),
    parts=(LayoutPart("level", f"(?:{LEVELS}) +"), LayoutPart("message", r".*")),
    tail=regex.compile(r"(?m) \((?P<logger>(?>[\w$]+(?:\.[\w$]+)+))\)$"),
    bare=True,
)
"""Messages of a paste that has no times; also as SLF4J's SimpleLogger prints them (`[main] ERROR a.b.C - message`)."""

_NAMED = ("time", "level", "logger", "message")
_DOTTED = r"[\w$]+(?:\.[\w$]+)+"


def build(
    name: str,
    parts: Sequence[LayoutPart],
    when: Callable[[str], tuple[datetime | None, bool]] | None = None,
    levels: Mapping[str, str] | None = None,
) -> Layout:
    """A layout from its parts, one of them the message. Raises ValueError if neither time nor level comes before the message."""
    whats = [part.what for part in parts]
    at = whats.index("message")
    before, suffix = parts[:at], in_turn(parts[at + 1 :])
    marks = [i for i, what in enumerate(whats[:at]) if what in ("time", "level")]
    if not marks:
        raise ValueError("a time or a level is required before the message, to find where a record begins; add %d{ISO8601} or %p")
    bare = "logger" not in whats
    head = in_turn(before[: marks[-1] + 1])
    behind = suffix or (rf" \((?P<logger>{_DOTTED})\)" if bare else "")
    message = ".*" if all(map(_is_strict, parts[at + 1 :])) else f".{{0,{_BEFORE_LOOSE}}}"
    # if the message is empty, padding before it may take the space before the next part
    empty = f"|(?<= )(?P<message>){behind.replace(' ', '', 1)}" if _begins_with_space(behind) else ""
    body = f"(?:(?P<message>{message}){behind}{empty}|(?P<message>.*))" if behind else "(?P<message>.*)"
    missing = "".join(f"(?P<{what}>(?!))?" for what in _NAMED if what not in whats)
    return Layout(
        name=name,
        head=regex.compile(f"(?m)^{_NOISE}{head}".encode()),
        line=regex.compile(f"{missing}{in_turn(before, end=False)}{body}[ \\t\\r]*"),
        parts=tuple(parts),
        tail=regex.compile(f"(?m){behind}$") if behind else None,
        logged=(" (", ")") if bare else _around(parts, whats.index("logger")),
        bare=bare,
        when=when,
        levels=levels or {},
    )


def in_turn(parts: Sequence[LayoutPart], *, end: bool = True) -> str:
    """The parts joined to one expression. A loose part ends where the strict parts after it first match, without backtracking, so that
    matching takes linear time for any number of parts. `end`: the end of the last part is fixed by the end of the text or by other
    means."""
    pieces, loose = [""], [False]
    for part in parts:
        if not _is_strict(part):
            pieces.append("")
            loose.append(True)
        pieces[-1] += _grouped(part)
    if end:
        loose[-1] = False
    return "".join(f"(?>{piece})" if is_loose else piece for piece, is_loose in zip(pieces, loose, strict=True))


def _begins_with_space(expression: str) -> bool:
    return expression.removeprefix("(?:").startswith(" ")


def _is_strict(part: LayoutPart) -> bool:
    """Whether the part matches in at most one way, or nearly so."""
    return part.what in ("", "time", "level")


_BEFORE_LOOSE = 1 << 14
"""Characters of a message before a part of unknown length: each of them may be the message's last."""


def _grouped(part: LayoutPart) -> str:
    return f"(?P<{part.what}>{part.expression})" if part.what in _NAMED else f"(?:{part.expression})"


def _around(parts: Sequence[LayoutPart], at: int) -> tuple[str, str]:
    before = parts[at - 1].text if at else ""
    after = parts[at + 1].text if at + 1 < len(parts) else ""
    return before[-1:], after[:1]


SHAPES = (
    "D L [T] C:N - M",
    "D [T] L C:N - M",
    "D L C:N - M",
    "D L M (C) [T]",
    "D L [T] M (C)",
    "D L [T] C - M",
    "D L [T] C: M",
    "D [T] L C - M",
    "D [T] L C: M",
    "D [T] L M (C)",
    "D L C - M",
    "D L [C:N] M",
    "D L [C] (T) M",
    "D L [T] (C) M",
    "D [L] [T] [C] M",
    "D [L] [T] M (C)",
    "D [L] [C] M",
    "D [L] M (C)",
    "D [L] C: M",
    "D [T] L [C] M",
    "D L [C] M",
    "D L C: M",
    "L D [T] C - M",
    "L D C - M",
    "L D M (C)",
    "D L M (C)",
    "D [T] L M",
    "D [L] M",
    "L D M",
    "D L M",
)
"""The orders in which people print (D)ate, (L)evel, (T)hread, (C) logger, line (N)umber and (M)essage, the strictest first. Confluent's and
Apache's images print as Kafka does; Strimzi printed `%d{ISO8601} %p %m (%c) [%t]%n` with log4j 1 and prints `%d{yyyy-MM-dd HH:mm:ss} %-5p
[%t] %c{1}:%L - %m%n` with log4j 2. D is any TIME, in brackets or not."""

_BRACKETED = (
    r"Partition {DASHED_TP} broker=(?P<node>\d+)",
    r"(?:Log|UnifiedLog|MergedLog|LocalLog|LogLoader|ProducerStateManager|MetadataLog) partition={DASHED_TP}"
    r"(?:, dir=(?P<directory>.*)|, nodeId=(?P<node>\d+))?",
    r"LeaderEpochCache {DASHED_TP}",
    r"ReplicaFetcher replicaId=(?P<node>\d+), leaderId=(?P<broker>-?\d+), fetcherId=\d+",
    r"ReplicaFetcherThread-\d+-(?P<broker>\d+)",
    r"Controller id=(?P<controller>(?P<node>\d+))(?: epoch=(?P<controller_epoch>\d+))?",
    r"(?:Channel manager on controller|(?:Broker|Topic|Partition)\w*Listener on|Replica state machine on controller|"
    r"Partition state machine on Controller|Topic Deletion Manager|Controller) ?(?:Controller )?(?P<node>\d+)",
    r"Controller-(?P<node>\d+)-to-broker-(?P<broker>\d+)-send-thread",
    r"(?:KafkaApi-|RemoteLogManager=)(?P<node>\d+)(?: partition=.*)?",
    r"(?:[A-Za-z ]+) on [Bb]roker (?P<node>\d+)",
    r"(?:Kafka Server|GroupCoordinator|Group Coordinator|Transaction Coordinator) (?P<node>\d+)",
    r"\w+Coordinator id=(?P<node>\d+) topic=(?P<topic>{TOPIC}) partition=(?P<partition>\d+)",
    r"(?:[A-Za-z]+ )+?(?:listenerType=\w+, )?(?:(?:broker )?id|nodeId|brokerId|controllerId|broker)=(?P<node>\d+)(?:[ ,].*)?",
    r"\w*[cC]onsumer (?=(?:.*?\bgroupId=(?:null(?=,|$)|(?P<value>[^,]+)))?).*",
)
_THREAD_NAMES = (4, 7)
"""Brackets of _BRACKETED that are also names of threads."""
_CONTEXT = regex.compile(filled("|".join(_BRACKETED)))
_COMPONENT = regex.compile(
    regex.sub(r"\?P<\w+>", "?:", filled("|".join(e for i, e in enumerate(_BRACKETED) if i not in _THREAD_NAMES))).replace(".*", r"[^\]\n]*")
)
_THREAD = regex.compile(r"[A-Za-z][\w$. :/=<>-]*")
_TEXT = regex.compile(filled(r"Partition \[(?P<topic>{TOPIC}),(?P<partition>\d+)\] on broker (?P<node>\d+): |(?P<cleaner>Cleaner \d+: )"))
_STATE_CHANGE_TEXT = regex.compile(
    r"Broker (?P<node>\d+) (?=[a-z])|Controller (?P<controller>(?P<node>\d+)) epoch (?P<controller_epoch>\d+) (?=[a-z])"
)
PREFIXES = (rf"\[(?:{_CONTEXT.pattern})\][:,]? ?", _TEXT.pattern, _STATE_CHANGE_TEXT.pattern)
"""Expressions of the texts that `prefix` takes off messages."""
_NAMES_COMPONENT = regex.compile(
    filled(
        r"(?:\[(?P<component>[^\[\]\n]{1,400})\][:,]? ?|Partition \[{TOPIC},\d+\] on broker \d+: |Cleaner \d+: "
        r"|Broker \d+ |Controller \d+ epoch \d+ )\Z"
    )
)
_EMPTY: Mapping[str, Any] = {}
_MAX_BRACKETS = 4
LONG_NAME = 4096
"""Characters of a component's name with a path: longer paths do not exist."""


_CONVERTERS = {"D": "%d", "L": "%p", "T": "%t", "C": "%c", "N": "%L", "M": "%m"}


def _parts(shape: str) -> tuple[LayoutPart, ...]:
    letters = {
        "D": LayoutPart("time", rf"{TIME}"),
        "L": LayoutPart("level", LEVELS),
        # A component's prefix may be at the place of a thread, and must stay in the message; a thread is never named like a date.
        "T": LayoutPart("thread", rf"(?!\d{{4}}-\d\d-|(?:{_COMPONENT.pattern})\])[^\]\n]*"),
        "C": LayoutPart("logger", r"(?:[A-Za-z_][\w$]*(?:\.[\w$]+)+|[A-Z][\w$]*|logger)"),
        "N": LayoutPart("number", r"\d*|\?"),
        "M": LayoutPart("message", ".*"),
    }
    pieces = regex.findall(r"[DLTCNM]|[^DLTCNM]+", shape)
    parts = tuple(letters.get(piece) or LayoutPart("", _between(pieces, at), piece) for at, piece in enumerate(pieces))
    return (LayoutPart("", r"\[?"), *parts) if shape[0] == "D" else parts


def _between(pieces: Sequence[str], at: int) -> str:
    """Text between the fields of a shape. Levels may be padded on either side, and dates may be in brackets."""
    before, after = pieces[at - 1], pieces[at + 1] if at + 1 < len(pieces) else ""
    expression = escaped(pieces[at]).replace(r"\] \[", r"\] ?\[")
    if before == "L":
        expression = expression.replace(r"\]", r" *\]", 1)
    if "L" in (before, after):
        expression = regex.sub(r" (?![*?])", " +", expression)
    expression = rf"\]?{expression}".replace(r" \[", r" ?\[").replace(r" +\[", r" *\[") if before == "D" else expression
    return rf"{expression}\[?" if after == "D" else expression


def escaped(text: str) -> str:
    """Text as an expression; spaces stay unescaped."""
    return str(regex.sub(r"([\\^$.|?*+()\[\]{}])", r"\\\1", text))


@lru_cache(maxsize=1)
def shapes() -> tuple[Layout, ...]:
    """The layouts of SHAPES, compiled on first use."""
    return tuple(build(regex.sub("[DLTCNM]", lambda match: _CONVERTERS[match[0]], shape), _parts(shape)) for shape in SHAPES)


def sniff(head: bytes, given: Sequence[Layout] = ()) -> Layout | None:
    """The layout of the first lines, one of `given` first; None if no line begins a record."""
    lines = [_shown(line) for line in head.split(b"\n", _SNIFFED_LINES)[:_SNIFFED_LINES]]
    for layout in given:
        if any(layout.fits(line) for line in lines):
            return layout
    if _is_kafkas(lines):
        return LOG4J
    likeliest, best = _best(lines)
    default = sum(LOG4J.read(line) is not None for line in lines)
    vague = likeliest.bare and default > 0 and best < _BARE_LINES
    same = likeliest.name == _AS_KAFKA and best <= default and any(map(_WHOLE_NAME.match, _loggers(lines)))
    if best == 0 or same or vague:
        return LOG4J if default else None
    return likeliest


def _is_kafkas(lines: Sequence[str]) -> bool:
    """Whether Kafka's own layout clearly explains the lines, so that no other has to be tried."""
    records = [record for line in lines if (record := LOG4J.read(line)) is not None]
    named = _loggers(lines)
    if not any(map(_WHOLE_NAME.match, named)) or len(named) <= _HALF * len(records):
        return False
    return sum(_behind_thread(record.message) for record in records) < _AGREE * len(records)


def _loggers(lines: Sequence[str]) -> list[str]:
    """Loggers of the records in Kafka's own layout."""
    return [record.logger for line in lines if (record := LOG4J.read(line)) is not None and record.logger is not None]


def _best(lines: Sequence[str]) -> tuple[Layout, int]:
    """The first listed layout with nearly the most records, and how many the best layout has. Records that continue in the next line
    count only if there are no others."""
    begins = [_MAY_BEGIN.match(line) is not None for line in lines]
    records = [(line, end) for line, begin, end in zip(lines, begins, [*begins[1:], True], strict=True) if begin]
    counts = [(_whole_records(records, layout), layout) for layout in shapes()]
    if not any(count for count, _ in counts):
        counts = [(sum(layout.fits(line) for line in lines), layout) for layout in shapes()]
    best = max(count for count, _ in counts)
    return next(layout for count, layout in counts if count >= _AGREE * best), best


_AS_KAFKA = "%d %p %m (%c)"
_BARE_LINES = 3
"""Records without a logger needed to conclude that there is none: their messages may just continue in other lines."""
_WHOLE_NAME = regex.compile(r"(?:kafka|org|state|com|io|net)\.")
"""A logger that `%c` prints, not `%c{1}`."""
_THREAD_FIRST = regex.compile(r"\[([^\]]*)\] (\[?)")


def _whole_records(records: Sequence[tuple[str, bool]], layout: Layout) -> int:
    """Number of lines that are whole records. If a record continues in the next line (a dump of settings, a stack trace), its first line
    does not show that the layout prints nothing after the message. `records`: lines that may begin one, and whether the next line does,
    too."""
    return sum((end or not layout.bare) and layout.fits(line) for line, end in records)


def _shown(line: bytes) -> str:
    return line.decode("utf-8", "replace")[:_SNIFFED_TEXT].strip("\0\r\ufeff")


def _behind_thread(message: str) -> bool:
    """Whether the message begins with a bracket other than Kafka's component prefixes, as in `[%d] %p [%t] %m (%c)`."""
    match = _THREAD_FIRST.match(message)
    return match is not None and (match[2] == "[" or _COMPONENT.fullmatch(match[1]) is None)


_MAY_BEGIN = regex.compile(rf"\W{{0,3}}(?:{TIME}|(?:{LEVELS})\b)")


def fitting(text: str, given: Sequence[Layout] = ()) -> Layout | None:
    """The first layout in which this line is a whole record."""
    candidates = (*given, LOG4J, *shapes()) if _MAY_BEGIN.match(text) else given
    return next((layout for layout in candidates if layout.fits(text)), None)


def misfit(lines: Sequence[str], given: Sequence[Layout] = ()) -> str:
    """The layout that matches these lines best, and a description of the difference."""
    attempts = [(*layout.progress(line), layout.name) for layout in (*given, *shapes()) for line in lines]
    fields, missing, name = max(attempts, key=lambda item: item[0], default=(0, "", ""))
    return f"closest is {name!r}, but there is {missing}" if fields else "no line begins with a time or a level as log4j prints them"


def prefix(message: str, logger: str | None) -> tuple[Mapping[str, Any], str]:
    """The columns from the component prefix of a message, and the message without it.

    Raises ValueError if a number in the prefix does not fit its column.
    """
    if message[:1] == "[":
        end = _closing(message)
        context = _bracketed(message[1:end]) if end > 0 else None
        if context is None:
            return _EMPTY, message
        at = end + 2 if message[end + 1 : end + 2] in (":", ",") else end + 1
        rest = message[at + 1 :] if message[at : at + 1] == " " else message[at:]
        return (context, rest) if context or rest[:1] != "[" else _second(rest)
    if message[:1] not in ("P", "C", "B"):
        return _EMPTY, message
    expression = _STATE_CHANGE_TEXT if logger is not None and abbreviates(logger, STATE_CHANGE) else _TEXT
    match = expression.match(message)
    if match is None:
        return _EMPTY, message
    return _columns(match), message[match.end() :]


def _closing(message: str) -> int:
    """Where the bracket at the start of a message ends; the log directory in it may contain brackets."""
    end = message.find("]")
    for _ in range(_MAX_BRACKETS):
        if end < 0 or message.count("[", 1, end) == message.count("]", 1, end):
            break
        end = message.find("]", end + 1)
    return end


def _second(message: str) -> tuple[Mapping[str, Any], str]:
    """A thread's name may come before the component's."""
    context, rest = prefix(message, None)
    return (context, rest) if context else (_EMPTY, message)


def component_before(text: str, at: int) -> int:
    """Where a message begins if the text after its prefix begins at `at`: a component's name before that is part of the message."""
    match = _NAMES_COMPONENT.search(text, 0, at)
    if match is None or (match["component"] is not None and _COMPONENT.fullmatch(match["component"]) is None):
        return at
    return int(match.start())


@lru_cache(maxsize=1 << 16)
def _bracketed(text: str) -> Mapping[str, Any] | None:
    """Columns of `[text]`; empty for a thread's name; None if the bracket is part of the message."""
    if len(text) > LONG_NAME:
        return None
    match = _CONTEXT.fullmatch(text)
    if match is not None:
        return _columns(match)
    return _EMPTY if _THREAD.fullmatch(text) else None


def _columns(match: regex.Match[str]) -> Mapping[str, Any]:
    return {name: column(name, value) for name, value in match.groupdict().items() if value is not None and name != "cleaner"}
