"""No line runs away, however it is stretched: counted in steps (tests.support.steps), not in seconds."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

from parsers.expressions import quick
from parsers.layouts import LOG4J, Layout, prefix, shapes
from parsers.log_pattern import compiled
from parsers.patterns import PATTERNS
from tests.support.steps import Counter, TooMany, steps, with_room

SHORT, LONG, MOST = 60, 120, 30_000
"""Characters that are stretched to, and steps that no line so long may take: a line of 2,048 characters then takes less than ten million,
were it quadratic, and a longer one has a time limit."""
LINEAR, QUADRATIC = 3, 5
"""Times as many steps for a text twice as long: what is linear takes 2, what is quadratic 4."""


def of(expression: re.Pattern[str], text: str) -> int:
    try:
        return steps(expression, text, MOST)
    except TooMany:
        return MOST


def message(line: str) -> str:
    first, *rest = line.split("\n")
    record = LOG4J.read(first)
    return line if record is None else prefix("\n".join((record.message, *rest)), record.logger)[1]


def stretched(text: str, begin: int, end: int) -> Iterator[tuple[str, str]]:
    """What stands in one place again and again, and twice as often, with a character behind it no statement ends with."""
    unit = f"{text[begin:end]}, "
    times = max(2, SHORT // len(unit))
    yield f"{text[:begin]}{unit * times}{text[end:]}\x01", f"{text[:begin]}{unit * 2 * times}{text[end:]}\x01"


def test_the_counter_matches_what_re_matches() -> None:
    def each() -> None:
        for pattern in PATTERNS:
            assert pattern.quick is not None, "what `re` does not know is not counted"
            text = message(pattern.samples[0].line)
            expression = pattern.quick.expression
            for one in (text, text[:-1]) if text.isascii() else ():
                assert Counter(expression, one, MOST).fullmatch() == (expression.fullmatch(one) is not None), pattern.name

    with_room(each)


def test_no_pattern_runs_away() -> None:
    def each() -> None:
        for pattern in PATTERNS:
            expression = pattern.quick.expression if pattern.quick is not None else None
            assert expression is not None
            text = message(pattern.samples[0].line)
            found = expression.fullmatch(text)
            places = sorted({place for place in found.regs[1:] if place[0] >= 0})[:3] if found is not None else []
            for begin, end in places or [(0, len(text))]:
                for short, long in stretched(text, begin, end):
                    few, many = of(expression, short), of(expression, long)
                    assert many < MOST and many <= QUADRATIC * few, (pattern.name, text[begin:end], few, many)

    with_room(each)


GIVEN = (
    "%d{ISO8601} %-5p %X{a} %X{b} %X{c} [%t] %L%L%L%r %c: %m%n",
    "%d %X{a}%X{b}%X{c} %t%t%t %p %m%n",
    "%p %c %c %c %notEmpty{%x %x %x} %m %X{a} %X{b}]%n",
    "[%d] %p %m %x %x %x %x (%c)%n",
    "%-5p%-20t%20c%5L%-30X{a} %d{dd/MMM/yyyy:HH:mm:ss} %m%n",
)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="`re` has no atomic groups, so that these are `regex`'s alone")
def test_no_layout_runs_away() -> None:
    def each() -> None:
        layouts: list[Layout] = [LOG4J, *shapes(), *map(compiled, GIVEN)]
        for layout in layouts:
            made = quick(layout.line.pattern)
            grows = LINEAR if layout.parts[-1].what == "message" else QUADRATIC  # the message may end at each place before the rest
            for fill in (" ", "a ", "1", "[ ] ", "x.y (: - "):
                for begin in ("2026-01-01 00:00:00,000 INFO ", "[2026-01-01 00:00:00,000] INFO ", "INFO "):
                    if made is not None:
                        few, many = (of(made.expression, begin + (fill * size)[:size] + "\x01") for size in (SHORT, LONG))
                        assert many < MOST and many <= grows * few + LONG, (layout.name, fill, begin, few, many)

    with_room(each)


def lines_of(work: Callable[[], Any]) -> int:
    """Lines of Python that run."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    was = sys.gettrace()
    sys.settrace(trace)
    try:
        with contextlib.suppress(ValueError, KeyError):
            work()
    finally:
        sys.settrace(was)
    return count


@pytest.mark.parametrize("text", ["a-1, ", "a-1 -> InitialFetchState(BrokerEndPoint(", "x: [", "isr=(1"])
def test_what_expands_runs_lines_by_the_length_of_a_line(text: str) -> None:
    said = {"node": 1, "reason": "", "isr": [], "previous_isr": [], "broker": 1, "duration_ms": 1, "topic_id": ""}
    for pattern in PATTERNS:
        if pattern.expand is not None and pattern.quick is not None:
            short, long = (
                {name: text * (size // len(text)) if name.startswith("_") else None for name in pattern.quick.groups}
                for size in (500, 1000)
            )
            few, many = (lines_of(lambda groups=groups, of=pattern: of.events(groups, said, None, None)) for groups in (short, long))
            assert many <= LINEAR * few, (pattern.name, few, many)
