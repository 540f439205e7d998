"""log4j's conversion patterns, as `%d{ISO8601} %-5p %m (%c)%n`, compiled to the Layout of the lines they print.

Here: PatternLayout's grammar of log4j 1 and 2 and SimpleDateFormat's letters. Not here: the built-in patterns (parsers.layouts). Sources:
org.apache.log4j.helpers.PatternParser, org.apache.logging.log4j.core.pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from parsers.layouts import LEVELS, Layout, LayoutPart, build, escaped, in_turn, shifted

MAX_PATTERN = 1000
MAX_DEPTH = 10
MAX_PIECES = 40
"""Characters of a date, including text between its fields: some fields have an unknown number of digits."""
_When = Callable[[str], "tuple[datetime | None, bool]"]

_CONVERTERS: Mapping[str, Sequence[str]] = {
    "time": ("d", "date"),
    "level": ("p", "level"),
    "logger": ("c", "logger"),
    "message": ("m", "msg", "message"),
    "newline": ("n",),
    "thread": ("t", "tn", "thread", "threadName"),
    "number": (
        "L",
        "line",
        "pid",
        "processId",
        "r",
        "relative",
        "sn",
        "sequenceNumber",
        "T",
        "tid",
        "threadId",
        "tp",
        "threadPriority",
        "N",
        "nano",
    ),
    "word": ("C", "class", "M", "method", "F", "file", "u", "uuid", "fqcn", "marker", "markerSimpleName", "endOfBatch"),
    "text": ("X", "mdc", "MDC", "x", "NDC", "K", "map", "MAP", "l", "location"),
    "exception": (
        "ex",
        "exception",
        "throwable",
        "rEx",
        "rException",
        "rThrowable",
        "xEx",
        "xException",
        "xThrowable",
        "throwableInformation",
    ),
    "within": (
        *("highlight", "style", "enc", "encode", "maxLen", "maxLength"),
        *("black", "blue", "cyan", "green", "magenta", "red", "white", "yellow"),
    ),
    "never": ("replace", "equals", "equalsIgnoreCase", "repeat", "R"),
    "maybe": ("notEmpty", "varsNotEmpty", "variablesNotEmpty"),
}
_KINDS = {name: kind for kind, names in _CONVERTERS.items() for name in names}
_CONVERTER = re.compile(r"%(?P<left>-)?0?(?P<least>\d{1,3})?(?:\.(?P<behind>-)?(?P<most>\d{1,4}))?(?P<name>[A-Za-z]+)")
_NUMBER, _WORD, _ANY = r"-?[\d?]*", r"\S*?", r"[^\n]{0,1000}?"
_LOGGER, _THREAD = r"[^()\[\]\s,;|:]*[^()\[\]\s,;|:.]", r"[^\n]{0,300}?"


@dataclass
class _Printed:
    """Properties of a pattern's fields that its expression does not show."""

    dates: list[_Date] = field(default_factory=list)
    levels: dict[str, str] = field(default_factory=dict)
    """Levels by their printed text if truncated at the front."""


@lru_cache(maxsize=64)
def compiled(pattern: str) -> Layout:
    """The layout of the lines a conversion pattern prints. Raises ValueError, one line that names the converter at fault."""
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"a log pattern of more than {MAX_PATTERN} characters")
    printed = _Printed()
    parts = _merged(_record(list(_parts(pattern, printed))))
    if not any(part.what == "message" for part in parts):
        raise ValueError(f"{pattern!r}: there is no %m, so it prints no messages")
    try:
        return build(pattern, parts, printed.dates[0].read if printed.dates else None, printed.levels)
    except ValueError as error:
        raise ValueError(f"{pattern!r}: {error}") from None


def _record(parts: Sequence[LayoutPart]) -> list[LayoutPart]:
    """The parts of a record's first line; after the message's line feed comes a stack trace."""
    first_line: list[LayoutPart] = []
    for part in parts:
        if part.what == "newline":
            if any(before.what == "message" for before in first_line):
                break
            raise ValueError("%n: a record whose message begins on another line than the record cannot be read")
        twice = part.what in ("time", "level", "logger", "message") and any(before.what == part.what for before in first_line)
        first_line.append(LayoutPart("again", _AGAIN[part.what]) if twice else part)
    return first_line


_AGAIN = {"time": _ANY, "level": r"\w+ *", "logger": _WORD, "message": _ANY}


def _merged(parts: Sequence[LayoutPart]) -> list[LayoutPart]:
    """Joins neighbouring texts, so that the text around the logger is one part."""
    merged: list[LayoutPart] = []
    for part in parts:
        if merged and part.what == "" and merged[-1].what == "":
            merged[-1] = LayoutPart("", merged[-1].expression + part.expression, merged[-1].text + part.text)
        else:
            merged.append(part)
    return merged


def _parts(pattern: str, printed: _Printed, depth: int = 0) -> Iterator[LayoutPart]:
    if depth > MAX_DEPTH:
        raise ValueError("a log pattern with too many braces in braces")
    at = 0
    while at < len(pattern):
        if pattern[at] != "%" or pattern[at : at + 2] == "%%":
            text = _ESCAPES.get(pattern[at : at + 2], pattern[at])
            yield LayoutPart("", escaped(text), text)
            at += 2 if pattern[at : at + 2] in _ESCAPES else 1
            continue
        match = _CONVERTER.match(pattern, at)
        name = _longest(match["name"]) if match is not None else ""
        if match is None or not name:
            raise ValueError(
                f"{pattern[at : at + 12]!r} is not a converter of log4j; give the pattern of the appender, as '%d{{ISO8601}} %-5p %m (%c)%n'"
            )
        at = match.start("name") + len(name)
        options, at = _options(pattern, at, name)
        if _KINDS[name] == "level" and match["most"] is not None:
            yield from _padded(match, name, [_cut(match, printed)])
        else:
            yield from _padded(match, name, list(_converted(name, options, printed, depth)))


_ESCAPES = {"%%": "%", "\\t": "\t", "\\\\": "\\"}
"""Escape sequences of log4j and of the properties file that it reads."""


def _longest(letters: str) -> str:
    """The converter's name: log4j takes the longest match, the rest is text."""
    return next((letters[:end] for end in range(len(letters), 0, -1) if letters[:end] in _KINDS), "")


def _options(pattern: str, at: int, name: str) -> tuple[list[str], int]:
    options: list[str] = []
    while pattern[at : at + 1] == "{":
        depth, end = 1, at + 1
        while end < len(pattern) and depth:
            depth += {"{": 1, "}": -1}.get(pattern[end], 0)
            end += 1
        if depth:
            raise ValueError(f"%{name}: a brace is not closed")
        options.append(pattern[at + 1 : end - 1])
        at = end
    return options, at


def _padded(match: re.Match[str], name: str, parts: list[LayoutPart]) -> list[LayoutPart]:
    """`%-5p` pads on the right, `%5p` on the left."""
    if not match["least"] or not parts or _KINDS[name] == "message":
        return parts
    blanks = LayoutPart("", f" {{0,{match['least']}}}", " ")
    return [*parts, blanks] if match["left"] else [blanks, *parts]


def _cut(match: re.Match[str], printed: _Printed) -> LayoutPart:
    """A level of this many characters: `%.-1p` prints I for INFO, `%.1p` its last character, O."""
    most = int(match["most"])
    if not most:
        raise ValueError(f"{match[0]!r} prints no level")
    if not match["behind"]:
        printed.levels.update({level[-most:]: level for level in LEVELS.split("|")})
    return LayoutPart("level", "|".join(level[:most] if match["behind"] else level[-most:] for level in LEVELS.split("|")))


def _converted(name: str, options: Sequence[str], printed: _Printed, depth: int) -> Iterator[LayoutPart]:
    kind = _KINDS[name]
    if kind == "never":
        raise ValueError(f"%{name}: the pattern does not determine what this converter prints")
    if kind == "time":
        date = _date(options)
        printed.dates.append(date)
        yield LayoutPart("time", date.expression)
    elif kind in ("within", "maybe"):
        if not options:
            raise ValueError(f"%{name}: nothing in braces")
        inner = list(_parts(options[0], printed, depth + 1))
        if kind == "maybe":
            if any(part.what in _AGAIN for part in inner):
                raise ValueError(f"%{name}: time, level, logger and message cannot be left out at times")
            yield LayoutPart("maybe", f"(?:{in_turn(inner)})?")
            return
        yield from inner
    elif kind != "exception":
        yield _field(name, kind, options)


def _field(name: str, kind: str, options: Sequence[str]) -> LayoutPart:
    if kind == "level" and options:
        return LayoutPart("level", _levels(name, options[0]))
    expression = {
        "level": LEVELS,
        "logger": _LOGGER,
        "message": ".*",
        "newline": "",
        "thread": _THREAD,
        "number": _NUMBER,
        "word": _WORD,
        "text": _ANY,
    }[kind]
    return LayoutPart(kind, expression)


def _levels(name: str, option: str) -> str:
    """`%p{lowerCase=true}` and `%p{length=…}` are supported; custom level names are not."""
    length, either = 5, ""
    for setting in option.split(","):
        key, _, value = (word.strip() for word in setting.partition("="))
        if key == "length" and value.isdigit() and int(value):
            length = int(value)
        elif key == "lowerCase":
            either = "i"
        else:
            raise ValueError(f"%{name}{{{option}}}: levels by other names are not read")
    return f"(?{either}:{'|'.join(dict.fromkeys(level[:length] for level in LEVELS.split('|')))})"


# dates

_DATES: Mapping[str, str] = {
    "": "yyyy-MM-dd HH:mm:ss,SSS",
    "DEFAULT": "yyyy-MM-dd HH:mm:ss,SSS",
    "DEFAULT_PERIOD": "yyyy-MM-dd HH:mm:ss.SSS",
    "DEFAULT_MICROS": "yyyy-MM-dd HH:mm:ss,SSSSSS",
    "DEFAULT_NANOS": "yyyy-MM-dd HH:mm:ss,SSSSSSSSS",
    "ISO8601": "yyyy-MM-dd[T]HH:mm:ss,SSS",
    "ISO8601_PERIOD": "yyyy-MM-dd[T]HH:mm:ss.SSS",
    "ISO8601_PERIOD_MICROS": "yyyy-MM-dd[T]HH:mm:ss.SSSSSS",
    "ISO8601_BASIC": "yyyyMMdd[T]HHmmss,SSS",
    "ISO8601_BASIC_PERIOD": "yyyyMMdd[T]HHmmss.SSS",
    "ISO8601_OFFSET_DATE_TIME_HH": "yyyy-MM-dd[T]HH:mm:ss,SSSX",
    "ISO8601_OFFSET_DATE_TIME_HHMM": "yyyy-MM-dd[T]HH:mm:ss,SSSXX",
    "ISO8601_OFFSET_DATE_TIME_HHCMM": "yyyy-MM-dd[T]HH:mm:ss,SSSXXX",
    "ABSOLUTE": "HH:mm:ss,SSS",
    "ABSOLUTE_PERIOD": "HH:mm:ss.SSS",
    "ABSOLUTE_MICROS": "HH:mm:ss,SSSSSS",
    "ABSOLUTE_NANOS": "HH:mm:ss,SSSSSSSSS",
    "COMPACT": "yyyyMMddHHmmssSSS",
    "DATE": "dd MMM yyyy HH:mm:ss,SSS",
    "DATE_PERIOD": "dd MMM yyyy HH:mm:ss.SSS",
    "US_MONTH_DAY_YEAR2_TIME": "dd/MM/yy HH:mm:ss.SSS",
    "US_MONTH_DAY_YEAR4_TIME": "dd/MM/yyyy HH:mm:ss.SSS",
}
"""log4j's named date formats. log4j 1 prints its ISO8601 with a blank, log4j 2 with a T: [T] matches either."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LETTERS = re.compile(r"'(?P<quoted>[^']*)'|(?P<either>\[T\])|(?P<letters>(?P<letter>[A-Za-z])(?P=letter)*)|(?P<text>[^A-Za-z'])")
_GROUPS: Mapping[str, tuple[str, str]] = {
    "y": ("year", ""),
    "u": ("year", ""),
    "M": ("month", ""),
    "L": ("month", ""),
    "d": ("day", r"\d\d?"),
    "H": ("hour", r"\d\d?"),
    "k": ("hour", r"\d\d?"),
    "h": ("half", r"\d\d?"),
    "K": ("half", r"\d\d?"),
    "m": ("minute", r"\d\d?"),
    "s": ("second", r"\d\d?"),
    "a": ("noon", r"[AaPp]\.?[Mm]\.?"),
    "z": ("zone", r"[A-Z]{1,5}(?:[+-]\d\d:?\d\d)?|[+-]\d\d:?\d\d"),
    "Z": ("zone", r"[+-]\d\d:?\d\d"),
    "X": ("zone", r"Z|[+-]\d\d(?::?\d\d)?"),
    "x": ("zone", r"[+-]\d\d(?::?\d\d)?"),
}


@dataclass(frozen=True)
class _Date:
    """A date as %d prints it. `expression` has no groups, `parsed` has year, month, day, hour, …"""

    expression: str
    parsed: re.Pattern[str]
    zone: tzinfo | None

    def read(self, text: str) -> tuple[datetime | None, bool]:
        match = self.parsed.fullmatch(text)
        if match is None:
            return None, False
        try:
            return self._instant({name: value for name, value in match.groupdict().items() if value is not None})
        except (ValueError, OverflowError):
            return None, False

    def _instant(self, fields: Mapping[str, str]) -> tuple[datetime | None, bool]:
        if (epoch := fields.get("epoch")) is not None:
            seconds, millis = divmod(int(epoch), 1000) if len(epoch) > 11 else (int(epoch), 0)
            micros = int(fields.get("fraction", "0")[:6].ljust(6, "0")) if len(epoch) <= 11 else 0
            return datetime(1970, 1, 1) + timedelta(seconds=seconds, milliseconds=millis, microseconds=micros), True
        if not {"year", "month", "day"} <= set(fields):
            return None, False
        at = _wall(fields)
        zone = fields.get("zone", "").removeprefix("GMT").removeprefix("UTC") if fields.get("zone") not in ("GMT", "UTC") else "Z"
        if zone and (zone == "Z" or zone[0] in "+-"):
            return shifted(at, zone), True
        if self.zone is not None:
            return at.replace(tzinfo=self.zone).astimezone(timezone.utc).replace(tzinfo=None), True
        return at, False


def _wall(fields: Mapping[str, str]) -> datetime:
    year = int(fields["year"])
    month = fields["month"]
    hour = int(fields.get("hour", 0)) % 24
    if "half" in fields:
        hour = int(fields["half"]) % 12 + (12 if fields.get("noon", "a")[0] in "Pp" else 0)
    return datetime(
        year + 2000 if len(fields["year"]) == 2 else year,
        int(month) if month.isdigit() else _MONTHS.index(month[:3].lower()) + 1,
        int(fields["day"]),
        hour,
        int(fields.get("minute", 0)),
        int(fields.get("second", 0)),
        int(fields.get("fraction", "0")[:6].ljust(6, "0")),
    )


def _date(options: Sequence[str]) -> _Date:
    name = options[0].strip() if options else ""
    zone = _zone(options[1].strip()) if len(options) > 1 and options[1].strip() else None
    if name in ("UNIX", "UNIX_MILLIS"):
        return _Date(r"\d{9,14}(?:\.\d{1,9})?", re.compile(r"(?P<epoch>\d{9,14})(?:\.(?P<fraction>\d{1,9}))?"), None)
    pieces = list(_pieces(_DATES.get(name, name), name))
    if len(pieces) > MAX_PIECES:
        raise ValueError(f"%d{{{name}}}: a date of more than {MAX_PIECES} pieces")
    seen: set[str] = set()
    grouped = []
    for group, expression in pieces:
        once = group and group not in seen
        grouped.append(f"(?P<{group}>{expression})" if once else f"(?:{expression})")
        seen.add(group)
    return _Date("".join(f"(?:{expression})" for _, expression in pieces), re.compile("".join(grouped)), zone)


def _pieces(text: str, name: str) -> Iterator[tuple[str, str]]:
    """(group, expression) of each piece of a date."""
    at = 0
    while at < len(text):
        match = _LETTERS.match(text, at)
        if match is None:
            raise ValueError(f"%d{{{name}}}: a quote is not closed")
        at = match.end()
        if match["letters"]:
            yield _lettered(match["letters"], name)
        elif match["either"]:
            yield "", "[T ]"
        else:
            quoted = match["quoted"]
            yield "", escaped(match["text"] if quoted is None else quoted or "'")


def _lettered(letters: str, name: str) -> tuple[str, str]:
    letter, count = letters[0], len(letters)
    if letter in "Sn":
        return "fraction", rf"\d{{{count}}}"
    if letter in "yu":
        return "year", r"\d\d" if count == 2 else r"\d{4}"
    if letter in "ML":
        return "month", r"\d\d?" if count < 3 else r"[A-Za-z]{3,9}\.?"
    if letter == "E":
        return "", r"[A-Za-z]{2,9}\.?"
    if letter not in _GROUPS:
        raise ValueError(f"%d{{{name}}}: {letters!r} in a date is not read")
    return _GROUPS[letter]


def _zone(name: str) -> tzinfo:
    """A zone as Java names it: `UTC`, `GMT+2`, `GMT+02:00` or one of the time zone database."""
    match = re.fullmatch(r"(?:GMT|UTC)?([+-])(\d\d?)(?::?(\d\d))?", name)
    if match is not None:
        ahead = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
        if ahead < timedelta(days=1):
            return timezone(-ahead if match[1] == "-" else ahead)
    try:
        return timezone.utc if name in ("UTC", "GMT", "Z") else ZoneInfo(name)
    except (ValueError, ZoneInfoNotFoundError, OSError):
        raise ValueError(f"%d: unknown time zone {name!r}") from None
