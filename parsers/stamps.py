"""Printed times, and the conversion patterns that print them.

Here: where a time is in a line and which forms of %d it may have; day and month may be in either order. Not here: which of these forms a
file uses (parsers.learning.layout), or how a form is read (parsers.log_pattern).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
_LONG_MONTH = r"(?:January|February|March|April|June|July|August|September|October|November|December)"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_LONG_DAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_NAMED_ZONE = r"(?:UTC|GMT|WES?T|CES?T|EES?T|MSK|[ECMP][SD]T|IST|JST|KST|BST|AES?T|SGT|HKT)"

_DATES: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(expression), formats)
    for expression, formats in (
        (r"\d{4}([-/.])\d\d\1\d\d", ("yyyy{}MM{}dd",)),
        (r"\d{8}(?=(?:T|[ _-])?\d\d:?\d\d:?\d\d)()", ("yyyyMMdd",)),
        (r"\d\d?([-/.])\d\d?\1\d{4}", ("dd{}MM{}yyyy", "MM{}dd{}yyyy")),
        (r"\d\d([-/.])\d\d\1\d\d", ("yy{}MM{}dd", "dd{}MM{}yy", "MM{}dd{}yy")),
        (rf"\d\d?([-/ .]){_LONG_MONTH}\1\d{{4}}", ("dd{}MMMM{}yyyy",)),
        (rf"\d\d?([-/ .]){_MONTH}\1\d{{4}}", ("dd{}MMM{}yyyy",)),
        (rf"\d\d?([-/ .]){_MONTH}\1\d\d", ("dd{}MMM{}yy",)),
        (rf"{_LONG_MONTH} \d\d?(,?) \d{{4}}", ("MMMM dd{} yyyy",)),
        (rf"{_MONTH} \d\d?(,?) \d{{4}}", ("MMM dd{} yyyy",)),
        (rf"{_MONTH} \d\d?()(?= \d\d:\d\d:\d\d \S+ \d{{4}}\b)", ("MMM dd",)),
        (rf"{_MONTH} \d\d?()(?= )", ("MMM dd",)),
    )
)
_WEEKDAY = re.compile(rf"(?:{_LONG_DAY}|({_DAY}))(?P<after>\.?,? )")
_JOINT = re.compile(r",? {1,2}|T|[:_-]")
_CLOCK = re.compile(
    r"(?P<hour>\d\d?)(?P<between>[:.-])\d\d(?P=between)\d\d|(?P<compact>\d{6}(?=[^\d]|\d{3}(?!\d)))",
)
_FRACTION = re.compile(r"(?P<mark>[.,:])(?P<digits>\d{1,9})(?!\d)")
_FRACTION_BEHIND_DASHES = re.compile(r"(?P<mark>[.,:-])(?P<digits>\d{1,9})(?!\d)")
_NOON = re.compile(r"(?P<before> ?)[AaPp][Mm]\b")
_ZONE = re.compile(
    rf"(?P<before> ?)(?:(?P<number>[+-]\d\d(?P<colon>:?)\d\d)|(?P<letter>Z)|(?P<hours>[+-]\d\d)|(?P<name>{_NAMED_ZONE}))(?![\w:])"
)
_LATE_YEAR = re.compile(r" \d{4}(?!\d)")
_EPOCH = re.compile(r"(?:9[5-9]\d{7}|[1-3]\d{9})(?:(?P<millis>\d{3})|(?P<mark>\.)\d{1,9})?(?!\d)")
"""Years 2000 to 2096, so that the length of an offset alone does not make it a time."""
_MAY_BEGIN = re.compile(r"(?<![\w.:/+-])(?=[\dA-Z])|(?<=[^\d]T)(?=\d\d:)|(?<=[=-])(?=\d{2})")
_ENDS = re.compile(r"(?!\w|:(?!:))")


class Stamp(NamedTuple):
    """A time in a line."""

    begin: int
    end: int
    formats: tuple[str, ...]
    """Possible texts in the braces of %d: several, if the digits do not distinguish day and month."""
    dated: bool


def stamps(text: str, begin: int = 0, end: int | None = None) -> Iterator[Stamp]:
    """The times in a text, from left to right."""
    at, end = begin, len(text) if end is None else end
    while (place := _MAY_BEGIN.search(text, at, end)) is not None:
        stamp = _stamp(text, place.start())
        if stamp is not None and stamp.end <= end:
            yield stamp
            at = stamp.end
        else:
            at = place.start() + 1


def _stamp(text: str, begin: int) -> Stamp | None:
    weekday = _WEEKDAY.match(text, begin)
    start = weekday.end() if weekday is not None else begin
    before = ("EEE" if weekday[1] else "EEEE") + _quoted(weekday["after"]) if weekday is not None else ""
    for expression, formats in _DATES:
        date = expression.match(text, start)
        dated = _dated(text, date, formats) if date is not None else None
        if dated is not None and _ENDS.match(text, dated[1]):
            forms = [before + form for form in dated[0]]
            return Stamp(begin, dated[1], tuple(map(_named, forms)), "yy" in forms[0])
    return _undated(text, begin) if weekday is None else None


def _dated(text: str, date: re.Match[str], formats: Sequence[str]) -> tuple[list[str], int] | None:
    """The forms of a date and the time of day after it, and where they end; None if no time of day follows."""
    joint = _JOINT.match(text, date.end())
    clock = _clock(text, joint.end() if joint is not None else date.end())
    if clock is None:
        return None
    between = _quoted(joint[0]) if joint is not None else ""
    after, end = clock
    year = " yyyy" if "yy" not in formats[0] and _LATE_YEAR.match(text, end) else ""
    return [form.replace("{}", date[1]) + between + after + year for form in formats], end + len(year)


def _undated(text: str, begin: int) -> Stamp | None:
    """Seconds or milliseconds since 1970, or a time of day, perhaps with a date after it."""
    epoch = _EPOCH.match(text, begin)
    if epoch is not None and _ENDS.match(text, epoch.end()):
        return Stamp(begin, epoch.end(), ("UNIX_MILLIS" if epoch["millis"] else "UNIX",), True)
    clock = _clock(text, begin)
    if clock is None or "mm" not in clock[0] or text[begin + 2 : begin + 3] != ":":
        return None
    return _date_behind(text, begin, *clock) or (
        Stamp(begin, clock[1], (_named(clock[0]),), False) if _ENDS.match(text, clock[1]) else None
    )


def _date_behind(text: str, begin: int, clock: str, at: int) -> Stamp | None:
    joint = _JOINT.match(text, at)
    for expression, formats in _DATES if joint is not None else ():
        date = expression.match(text, joint.end() if joint is not None else at)
        if joint is not None and date is not None and "yy" in formats[0] and _ENDS.match(text, date.end()):
            return Stamp(begin, date.end(), tuple(clock + joint[0] + form.replace("{}", date[1]) for form in formats), True)
    return None


def _clock(text: str, at: int) -> tuple[str, int] | None:
    """The form of the time of day at this place, and where it ends."""
    match = _CLOCK.match(text, at)
    if match is None:
        return None
    end = match.end()
    between = match["between"] or ""
    noon_at = end
    form = f"{{}}{between}mm{between}ss"
    if match["compact"]:
        digits = 3 if text[end : end + 3].isdigit() and len(text[end : end + 3]) == 3 else 0
        form, end = form + "S" * digits, end + digits
    if (fraction := (_FRACTION_BEHIND_DASHES if between == "-" else _FRACTION).match(text, end)) is not None:
        form, end = form + fraction["mark"] + "S" * len(fraction["digits"]), fraction.end()
        noon_at = end
    hour = "HH"
    if (noon := _NOON.match(text, noon_at)) is not None:
        hour, form, end = "hh", f"{form}{noon['before']}a", noon.end()
    if (zone := _ZONE.match(text, end)) is not None:
        form, end = form + zone["before"] + _zone(zone), zone.end()
    return form.format(hour), end


def _zone(match: re.Match[str]) -> str:
    if match["number"]:
        return "XXX" if match["colon"] else "Z"
    return "z" if match["name"] else "X"


def _quoted(text: str) -> str:
    return text.replace("T", "'T'")


_NAMES = {
    "yyyy-MM-dd HH:mm:ss,SSS": "ISO8601",
    "HH:mm:ss,SSS": "ABSOLUTE",
    "dd MMM yyyy HH:mm:ss,SSS": "DATE",
    "yyyyMMddHHmmssSSS": "COMPACT",
}


def _named(form: str) -> str:
    """log4j's own name of a form, where it has one."""
    return _NAMES.get(form, form)
