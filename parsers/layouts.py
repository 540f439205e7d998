"""How a log line is laid out, and what the component that wrote it says in front of its message.

Here: the record grammars of log4j as Layouts chosen per file from its content, and the prefixes by which Kafka's classes
name themselves (LogContext, Logging.logIdent), turned into columns. Not here: what the messages mean (parsers.patterns), how
a file is walked (parsers.catalogue), what stands around a whole log (parsers.wrappers), or patterns the user gives
(parsers.log_pattern).

A layout says two things: which line begins a record (on bytes, so that a whole chunk can be searched) and what a line
holds. Kafka's own is written out; the others are SHAPES, compiled only when a file is not laid out as Kafka does it.
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
from parsers.patterns.pattern import TOPIC, column

STATE_CHANGE = "state.change.logger"
LEVELS = "TRACE|DEBUG|INFO|WARN|ERROR|FATAL"
_LEVEL_OF = {
    form(level[:length]): level
    for level in LEVELS.split("|")
    for length in range(5, 0, -1)
    for form in (str.upper, str.lower, str.capitalize)
}
"""Levels as log4j 2 may print them: in small letters, cut."""
_SNIFFED_LINES = 200
_SNIFFED_TEXT = 2048
_AGREE = 0.9
_HALF = 0.5
_NOISE = r"[\x00-\x08\x0b-\x1f]*"
_QUOTED = 60


class Record(NamedTuple):
    """What one line holds; `logger` is None where the message goes on in the next line, or the layout names none."""

    time: datetime | None
    level: str
    message: str
    logger: str | None
    utc: bool = False
    """`time` is UTC: the text names its zone. Otherwise it is the broker's wall clock."""


class Part(NamedTuple):
    """A piece of a layout."""

    what: str
    """'time', 'level', 'thread', 'logger', 'number', 'message'; '' for text that is always the same."""
    expression: str
    """Matches it; without named groups."""
    text: str = ""
    """The text that is always the same."""


@dataclass(frozen=True)
class Layout:
    """One way of laying out log records."""

    name: str
    head: regex.Pattern[bytes]
    """Matches at the start of a line that begins a record, control characters before it included (torn writes)."""
    line: regex.Pattern[str]
    """Fullmatch of a first line; groups level, message and, where the layout has them, time and logger. When something stands
    behind the message, it may be missing: the message goes on in the next line."""
    parts: tuple[Part, ...]
    """What a record consists of, for saying why a line does not fit."""
    tail: regex.Pattern[str] | None = None
    """What stands behind the message at the end of a later line, with the group logger if that is part of it."""
    logged: tuple[str, str] = (" (", ")")
    """What stands directly before and behind the logger's name."""
    bare: bool = False
    """Names no logger, as far as is known: a record without one may be anybody's."""
    when: Callable[[str], tuple[datetime | None, bool]] | None = None
    """Reads the group time where `instant` does not."""
    levels: Mapping[str, str] = field(default_factory=dict)
    """What the group level stands for where the levels of log4j are cut in front."""

    def begins(self, data: bytes, at: int) -> bool:
        """Whether a record begins at the line that starts at byte `at`."""
        return self.head.match(data, at) is not None

    def read(self, text: str) -> Record | None:
        """The record that begins with this line; None when the line belongs to the record before it."""
        found = self._matched(text)
        if found is None:
            return None
        time, level, message, logger = found
        at, utc = self.moment(time)
        return Record(at, self.level(level), message, logger, utc)

    def fits(self, text: str) -> bool:
        """Whether the line is a whole record of this layout, with all that stands behind the message."""
        record = self.read(text)
        return record is not None and (self.bare or record.logger is not None)

    def _matched(self, text: str) -> Sequence[str | Any] | None:
        """The groups time, level, message and logger."""
        if self.quick is None or not text.isascii():
            found = self.line.fullmatch(text)
            return found.group("time", "level", "message", "logger") if found is not None else None
        expression, places = self.quick
        quickly = expression.fullmatch(text)
        if quickly is None:
            return None
        time, level, message, other, logger = quickly.group(*places)
        return time, level, other if message is None else message, logger

    @cached_property
    def quick(self) -> tuple[re.Pattern[str], Sequence[int]] | None:
        """`line` for ASCII texts and the places of its groups, the message's twice; None where there is no faster one."""
        found = quick(self.line.pattern)
        if found is None or any(len(found.groups[what]) > 1 for what in ("time", "level", "logger")) or len(found.groups["message"]) > 2:
            return None
        time, level, logger, message = (found.groups[what] for what in _NAMED)
        places = (time[0], level[0], message[0], message[-1], logger[0])
        return found.expression, places

    def level(self, text: str | None) -> str:
        """The level that is printed so; '' where none is."""
        return (self.levels or _LEVEL_OF).get(text or "", "")

    def moment(self, text: str | None) -> tuple[datetime | None, bool]:
        """A time as it is printed, and whether that is UTC."""
        return self._instant(text) if text else (None, False)

    @cached_property
    def _instant(self) -> Callable[[str], tuple[datetime | None, bool]]:
        """Neighbouring lines are of the same moment as a rule."""
        return lru_cache(maxsize=1 << 12)(self.when or instant)

    @cached_property
    def _steps(self) -> tuple[tuple[str, regex.Pattern[str]], ...]:
        before = self.parts[: [part.what for part in self.parts].index("message")]
        return tuple((part.what, regex.compile(part.expression)) for part in before)

    def progress(self, text: str) -> tuple[int, str]:
        """How many fields a line begins with, and in words what is missing then."""
        at, fields, after = 0, 0, "at its start"
        for what, expression in self._steps:
            found = expression.match(text, at)
            if found is None:
                return fields, f"no {what or 'such text'} {after}: {text[at : at + _QUOTED]!r}"
            at = found.end()
            if what:
                fields, after = fields + 1, f"after the {what}"
        return fields, f"something else behind the message: {text[-_QUOTED:]!r}"


def timestamp(text: str) -> datetime | None:
    """Local wall-clock time of a line, naive; None for digits that are no date."""
    try:
        return datetime.fromisoformat(text.replace(",", "."))
    except ValueError:
        return None


_DATE = r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_ZONE = r"Z|UTC|GMT|[+-]\d\d(?::?\d\d)?"
TIME = rf"{_DATE}(?: ?(?:{_ZONE})(?![\w:]))?"
"""Every date a sniffed layout or a wrapper may print: `T` or a space, any fraction or none, a zone or none."""
_INSTANT = regex.compile(rf"(?P<date>[^.,Z+UG]{{10,19}})(?:[.,](?P<fraction>\d{{1,9}}))? ?(?P<zone>{_ZONE})?")
_PLAIN = 23


def instant(text: str) -> tuple[datetime | None, bool]:
    """A time as TIME matches it, and whether it is UTC because its text names a zone; None for digits that are no date."""
    if len(text) == _PLAIN and text[19] in ",.":
        return timestamp(text), False
    found = _INSTANT.fullmatch(text)
    if found is None:
        return None, False
    date, fraction, zone = found.group("date", "fraction", "zone")
    at = timestamp(date.replace("/", "-"))
    if at is None:
        return None, False
    if fraction:
        at = at.replace(microsecond=int(fraction[:6].ljust(6, "0")))
    return shifted(at, zone), zone is not None


def shifted(at: datetime, zone: str | None) -> datetime | None:
    """UTC of a wall clock in a zone written as `Z`, `UTC`, `+02`, `+0200` or `+02:00`; None beyond the calendar's ends."""
    if zone is None or zone[0] not in "+-":
        return at
    digits = zone[1:].replace(":", "").ljust(4, "0")
    ahead = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    try:
        return at + ahead if zone[0] == "-" else at - ahead
    except OverflowError:
        return None


def abbreviates(name: str, full: str) -> bool:
    """Whether a logger printed as `name` may be the logger `full`: `%c{1}`, `%c{2}`, `%c{1.}` or `%.30c` cut it so."""
    if name == full:
        return True
    short, long = name.rstrip("$").split("."), full.rstrip("$").split(".")
    if len(short) > len(long) or short[-1] != long[-1]:
        return False
    pairs = zip(short, long[len(long) - len(short) :], strict=True)
    return all(whole.startswith(part) or (at == 0 and whole.endswith(part)) for at, (part, whole) in enumerate(pairs))


@lru_cache(maxsize=1 << 14)
def is_one_of(logger: str, loggers: tuple[str, ...]) -> bool:
    """Whether a logger as it was printed may be one of these."""
    return logger in loggers or any(abbreviates(logger, name) for name in loggers)


_LOGGER = r"[^()\s]+"
LOG4J = Layout(
    name="[%d] %p %m (%c)%n",
    head=regex.compile(rb"(?m)^[\x00-\x08\x0b-\x1f]*\[\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[,.]\d{3}\] +[A-Z]{4,5} "),
    line=regex.compile(
        rf"\[(?P<time>\d{{4}}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[,.]\d{{3}})\] +(?P<level>{LEVELS}) "
        rf"(?: *(?P<message>(?:[^ ].*)?) \((?P<logger>{_LOGGER})\)| *(?P<message>.*))[ \t\r]*"
    ),
    parts=(
        Part("", r"\["),
        Part("time", r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[,.]\d{3}"),
        Part("", r"\] +"),
        Part("level", f"(?:{LEVELS}) +"),
        Part("message", r".*"),
    ),
    tail=regex.compile(r"(?m) \((?P<logger>[\w$]+(?:\.[\w$]+)+)\)$"),
)
"""`[%d] %p %m (%c)%n` of every log4j.properties and log4j2.yaml Kafka ships; a level padded by `%-5p` is taken too. The
message may itself end in parentheses, so the last ones are the logger."""

_NAMED = ("time", "level", "logger", "message")
_DOTTED = r"[\w$]+(?:\.[\w$]+)+"


def build(
    name: str,
    parts: Sequence[Part],
    when: Callable[[str], tuple[datetime | None, bool]] | None = None,
    levels: Mapping[str, str] | None = None,
) -> Layout:
    """A layout from its parts, one of them the message. Raises ValueError where neither time nor level stands before it."""
    whats = [part.what for part in parts]
    at = whats.index("message")
    before, suffix = parts[:at], in_turn(parts[at + 1 :])
    marks = [i for i, what in enumerate(whats[:at]) if what in ("time", "level")]
    if not marks:
        raise ValueError("neither a time nor a level stands before the message, so nothing tells where a record begins")
    bare = "logger" not in whats
    head = in_turn(before[: marks[-1] + 1])
    behind = suffix or (rf" \((?P<logger>{_DOTTED})\)" if bare else "")
    message = ".*" if all(map(_is_strict, parts[at + 1 :])) else f".{{0,{_BEFORE_LOOSE}}}"
    # of an empty message the space before what follows it may be taken by the padding of what stands before it
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


def in_turn(parts: Sequence[Part], *, end: bool = True) -> str:
    """Parts one after another. A loose one ends where all that is strict behind it first fits, and where it ended is never tried anew:
    however many there are, a line takes the time of its length. `end`: the last one ends where the text does, or something else."""
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


def _is_strict(part: Part) -> bool:
    """Matches in one way at most, or nearly so."""
    return part.what in ("", "time", "level")


_BEFORE_LOOSE = 1 << 14
"""Characters of a message behind which a part stands whose length nobody knows: each of them may be its last."""


def _grouped(part: Part) -> str:
    return f"(?P<{part.what}>{part.expression})" if part.what in _NAMED else f"(?:{part.expression})"


def _around(parts: Sequence[Part], at: int) -> tuple[str, str]:
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
"""The orders in which people print (D)ate, (L)evel, (T)hread, (C) logger, line (N)umber and (M)essage, those that ask for
most first. Confluent's and Apache's images print as Kafka does; Strimzi printed `%d{ISO8601} %p %m (%c) [%t]%n` with log4j 1
and prints `%d{yyyy-MM-dd HH:mm:ss} %-5p [%t] %c{1}:%L - %m%n` with log4j 2. D is any TIME, in brackets or not."""

_BRACKETED = (
    rf"Partition (?P<topic>{TOPIC})-(?P<partition>\d+) broker=(?P<node>\d+)",
    rf"(?:Log|UnifiedLog|MergedLog|LocalLog|LogLoader|ProducerStateManager|MetadataLog) partition=(?P<topic>{TOPIC})-(?P<partition>\d+)"
    r"(?:, dir=(?P<directory>.*)|, nodeId=(?P<node>\d+))?",
    rf"LeaderEpochCache (?P<topic>{TOPIC})-(?P<partition>\d+)",
    r"ReplicaFetcher replicaId=(?P<node>\d+), leaderId=(?P<broker>-?\d+), fetcherId=\d+",
    r"ReplicaFetcherThread-\d+-(?P<broker>\d+)",
    r"Controller id=(?P<controller>(?P<node>\d+))(?: epoch=(?P<controller_epoch>\d+))?",
    r"(?:Channel manager on controller|(?:Broker|Topic|Partition)\w*Listener on|Replica state machine on controller|"
    r"Partition state machine on Controller|Topic Deletion Manager|Controller) ?(?:Controller )?(?P<node>\d+)",
    r"Controller-(?P<node>\d+)-to-broker-(?P<broker>\d+)-send-thread",
    r"KafkaApi-(?P<node>\d+)",
    r"(?:[A-Za-z ]+) on [Bb]roker (?P<node>\d+)",
    r"(?:Kafka Server|GroupCoordinator|Group Coordinator|Transaction Coordinator) (?P<node>\d+)",
    rf"\w+Coordinator id=(?P<node>\d+) topic=(?P<topic>{TOPIC}) partition=(?P<partition>\d+)",
    r"(?:[A-Za-z]+ )+?(?:listenerType=\w+, )?(?:(?:broker )?id|nodeId|brokerId|controllerId|broker)=(?P<node>\d+)(?:[ ,].*)?",
    r"\w*[cC]onsumer (?:.*?\bgroupId=(?:null(?=,|$)|(?P<value>[^,]+)))?.*",
)
_THREAD_NAMES = (4, 7)
"""Those of _BRACKETED that are names of threads as well."""
_CONTEXT = regex.compile("|".join(_BRACKETED))
_COMPONENT = regex.compile(
    regex.sub(r"\?P<\w+>", "?:", "|".join(e for i, e in enumerate(_BRACKETED) if i not in _THREAD_NAMES)).replace(".*", r"[^\]\n]*")
)
_THREAD = regex.compile(r"[A-Za-z][\w$. :/=<>-]*")
_TEXT = regex.compile(
    rf"Partition \[(?P<topic>{TOPIC}),(?P<partition>\d+)\] on broker (?P<node>\d+): "
    r"|(?P<cleaner>Cleaner \d+: )"
)
_STATE_CHANGE_TEXT = regex.compile(
    r"Broker (?P<node>\d+) (?=[a-z])|Controller (?P<controller>(?P<node>\d+)) epoch (?P<controller_epoch>\d+) (?=[a-z])"
)
_NAMES_COMPONENT = regex.compile(
    rf"(?:\[(?P<component>[^\[\]\n]{{1,400}})\][:,]? ?|Partition \[{TOPIC},\d+\] on broker \d+: |Cleaner \d+: "
    r"|Broker \d+ |Controller \d+ epoch \d+ )\Z"
)
_EMPTY: Mapping[str, Any] = {}
_MAX_BRACKETS = 4


_CONVERTERS = {"D": "%d", "L": "%p", "T": "%t", "C": "%c", "N": "%L", "M": "%m"}


def _parts(shape: str) -> tuple[Part, ...]:
    letters = {
        "D": Part("time", rf"{TIME}"),
        "L": Part("level", LEVELS),
        # A component's prefix stands where a thread may stand, and must stay in the message; no thread is called like a date.
        "T": Part("thread", rf"(?!\d{{4}}-\d\d-|(?:{_COMPONENT.pattern})\])[^\]\n]*"),
        "C": Part("logger", r"(?:[A-Za-z_][\w$]*(?:\.[\w$]+)+|[A-Z][\w$]*|logger)"),
        "N": Part("number", r"\d*|\?"),
        "M": Part("message", ".*"),
    }
    pieces = regex.findall(r"[DLTCNM]|[^DLTCNM]+", shape)
    found = tuple(letters.get(piece) or Part("", _between(pieces, at), piece) for at, piece in enumerate(pieces))
    return (Part("", r"\[?"), *found) if shape[0] == "D" else found


def _between(pieces: Sequence[str], at: int) -> str:
    """Text between the fields of a shape. Levels are padded on either side, and dates may stand in brackets."""
    before, after = pieces[at - 1], pieces[at + 1] if at + 1 < len(pieces) else ""
    expression = escaped(pieces[at]).replace(r"\] \[", r"\] ?\[")
    if before == "L":
        expression = expression.replace(r"\]", r" *\]", 1)
    if "L" in (before, after):
        expression = regex.sub(r" (?![*?])", " +", expression)
    expression = rf"\]?{expression}".replace(r" \[", r" ?\[").replace(r" +\[", r" *\[") if before == "D" else expression
    return rf"{expression}\[?" if after == "D" else expression


def escaped(text: str) -> str:
    """Text as an expression; spaces stay as they are."""
    return str(regex.sub(r"([\\^$.|?*+()\[\]{}])", r"\\\1", text))


@lru_cache(maxsize=1)
def shapes() -> tuple[Layout, ...]:
    """The layouts of SHAPES, compiled on first use."""
    return tuple(build(regex.sub("[DLTCNM]", lambda found: _CONVERTERS[found[0]], shape), _parts(shape)) for shape in SHAPES)


def sniff(head: bytes, given: Sequence[Layout] = ()) -> Layout | None:
    """The layout the first lines are in, one of `given` first; None where no line begins a record."""
    lines = [_shown(line) for line in head.split(b"\n", _SNIFFED_LINES)[:_SNIFFED_LINES]]
    for layout in given:
        if any(layout.fits(line) for line in lines):
            return layout
    own = [record for line in lines if (record := LOG4J.read(line)) is not None]
    named = [record.logger for record in own if record.logger is not None]
    whole = any(_WHOLE_NAME.match(logger) for logger in named)
    if whole and len(named) > _HALF * len(own) and sum(_behind_thread(record.message) for record in own) < _AGREE * len(own):
        return LOG4J
    counts = [(_whole_records(lines, layout), layout) for layout in shapes()]
    best = max(count for count, _ in counts)
    if best == 0:
        counts = [(sum(layout.fits(line) for line in lines), layout) for layout in shapes()]
        best = max(count for count, _ in counts)
    found = next(layout for count, layout in counts if count >= _AGREE * best)
    if best == 0 or (found.name == _AS_KAFKA and whole and len(own) >= best) or (found.bare and own and best < _BARE_LINES):
        return LOG4J if own else None
    return found


_AS_KAFKA = "%d %p %m (%c)"
_BARE_LINES = 3
"""Records without a logger from which on it is believed that there is none: their messages may just go on in other lines."""
_WHOLE_NAME = regex.compile(r"(?:kafka|org|state|com|io|net)\.")
"""A logger that `%c` prints, not `%c{1}`."""
_THREAD_FIRST = regex.compile(r"\[([^\]]*)\] (\[?)")


def _whole_records(lines: Sequence[str], layout: Layout) -> int:
    """How many lines are a record. Where a record goes on in the next line (a dump of settings, a stack trace), its first one does
    not tell that nothing stands behind its message."""
    ends = [*(_MAY_BEGIN.match(line) is not None for line in lines[1:]), True]
    return sum(layout.fits(line) and (end or not layout.bare) for line, end in zip(lines, ends, strict=True))


def _shown(line: bytes) -> str:
    return line.decode("utf-8", "replace")[:_SNIFFED_TEXT].strip("\0\r\ufeff")


def _behind_thread(message: str) -> bool:
    """Whether the message begins with a bracket that is no component of Kafka's, as in `[%d] %p [%t] %m (%c)`."""
    found = _THREAD_FIRST.match(message)
    return found is not None and (found[2] == "[" or _COMPONENT.fullmatch(found[1]) is None)


_MAY_BEGIN = regex.compile(rf"\W{{0,3}}(?:{TIME}|(?:{LEVELS})\b)")


def fitting(text: str, given: Sequence[Layout] = ()) -> Layout | None:
    """The first layout in which this line is a whole record."""
    candidates = (*given, LOG4J, *shapes()) if _MAY_BEGIN.match(text) else given
    return next((layout for layout in candidates if layout.fits(text)), None)


def misfit(lines: Sequence[str], given: Sequence[Layout] = ()) -> str:
    """Which layout comes closest to these lines, and where they differ from it, in words."""
    found = [(*layout.progress(line), layout.name) for layout in (*given, *shapes()) for line in lines]
    fields, missing, name = max(found, key=lambda item: item[0], default=(0, "", ""))
    return f"closest is {name!r}, but there is {missing}" if fields else "no line begins with a time or a level as log4j prints them"


def prefix(message: str, logger: str | None) -> tuple[Mapping[str, Any], str]:
    """What the component prefix of a message names, as columns, and the message without it.

    Raises ValueError when a number in the prefix fits no column.
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
    found = expression.match(message)
    if found is None:
        return _EMPTY, message
    return _columns(found), message[found.end() :]


def _closing(message: str) -> int:
    """Where the bracket a message begins with ends; the log directory it may name may hold brackets, some at least."""
    end = message.find("]")
    for _ in range(_MAX_BRACKETS):
        if end < 0 or message.count("[", 1, end) == message.count("]", 1, end):
            break
        end = message.find("]", end + 1)
    return end


def _second(message: str) -> tuple[Mapping[str, Any], str]:
    """A thread's name may stand before the component's."""
    context, rest = prefix(message, None)
    return (context, rest) if context else (_EMPTY, message)


def component_before(text: str, at: int) -> int:
    """Where a message begins whose rest begins at `at`: the component's name before it, if there is one, is its own."""
    found = _NAMES_COMPONENT.search(text, 0, at)
    if found is None or (found["component"] is not None and _COMPONENT.fullmatch(found["component"]) is None):
        return at
    return int(found.start())


@lru_cache(maxsize=1 << 16)
def _bracketed(text: str) -> Mapping[str, Any] | None:
    """Columns of `[text]`; empty for a thread's name; None where the bracket is no prefix but part of the message."""
    found = _CONTEXT.fullmatch(text)
    if found is not None:
        return _columns(found)
    return _EMPTY if _THREAD.fullmatch(text) else None


def _columns(found: regex.Match[str]) -> Mapping[str, Any]:
    return {name: column(name, value) for name, value in found.groupdict().items() if value is not None and name != "cleaner"}
