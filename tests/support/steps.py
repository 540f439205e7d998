"""How many steps an expression takes: a backtracking matcher without any of the shortcuts that real ones take, which counts.

Seconds depend on the machine; steps do not. What `re` and `regex` do is never more, but for a constant.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as c
    from re import _parser as parser
else:
    import sre_constants as c
    import sre_parse as parser

Then = Callable[[int], bool]
Match = Callable[[int, Then], bool]


class TooMany(Exception):
    """More steps than were allowed."""


class Counter:
    """Counts the steps of one expression over one text."""

    def __init__(self, expression: re.Pattern[str], text: str, most: int) -> None:
        self.text, self.most, self.steps = text, most, 0
        self.groups: dict[int, tuple[int, int]] = {}
        self._dot_all = bool(expression.flags & re.DOTALL)
        self._whole = self._sequence(parser.parse(expression.pattern, expression.flags & ~re.UNICODE))

    def fullmatch(self) -> bool:
        return self._whole(0, lambda at: at == len(self.text))

    def step(self, count: int = 1) -> None:
        self.steps += count
        if self.steps > self.most:
            raise TooMany

    def _sequence(self, items: Any) -> Match:
        made = [self._item(op, argument) for op, argument in items]

        def match(at: int, then: Then, first: int = 0) -> bool:
            if first == len(made):
                return then(at)
            return made[first](at, lambda end: match(end, then, first + 1))

        return match

    def _item(self, op: Any, argument: Any) -> Match:
        if (one := self._one(op, argument)) is not None:

            def character(at: int, then: Then) -> bool:
                self.step()
                return at < len(self.text) and one(self.text[at]) and then(at + 1)

            return character
        return getattr(self, f"_{str(op).lower()}")(argument)  # type: ignore[no-any-return]

    def _one(self, op: Any, argument: Any) -> Callable[[str], bool] | None:
        """Whether one character is matched, where the item is of one."""
        if op is c.LITERAL:
            return lambda char: ord(char) == argument
        if op is c.NOT_LITERAL:
            return lambda char: ord(char) != argument
        if op is c.ANY:
            return lambda char: self._dot_all or char != "\n"
        if op is c.IN:
            tests = [self._in(*item) for item in argument if item[0] is not c.NEGATE]
            negated = argument[0][0] is c.NEGATE
            kept: dict[str, bool] = {}
            return lambda char: kept[char] if char in kept else kept.setdefault(char, any(test(char) for test in tests) != negated)
        return None

    @staticmethod
    def _in(op: Any, argument: Any) -> Callable[[str], bool]:
        if op is c.LITERAL:
            return lambda char: ord(char) == argument
        if op is c.RANGE:
            return lambda char: argument[0] <= ord(char) <= argument[1]
        assert op is c.CATEGORY
        form = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}[str(argument).rsplit("_", 1)[-1]]
        wanted = re.compile(form.upper() if "NOT" in str(argument) else form)
        return lambda char: wanted.match(char) is not None

    def _repeated(self, argument: Any, greedy: bool) -> Match:
        least, most, items = argument
        of_one = self._one(*items[0]) if len(items) == 1 else None
        if of_one is not None:

            def run(at: int, then: Then) -> bool:
                end, last = at, len(self.text) if most is c.MAXREPEAT else min(len(self.text), at + most)
                if greedy:
                    while end < last and of_one(self.text[end]):
                        end += 1
                    self.step(end - at + 1)
                    for stop in range(end, at + least - 1, -1):
                        self.step()
                        if then(stop):
                            return True
                    return False
                while True:
                    self.step()
                    if end >= at + least and then(end):
                        return True
                    if end >= last or not of_one(self.text[end]):
                        return False
                    end += 1

            return run
        inner = self._sequence(items)

        def match(at: int, then: Then, count: int = 0) -> bool:
            self.step()

            def more() -> bool:
                return (most is c.MAXREPEAT or count < most) and inner(
                    at, lambda end: (end > at or count < least) and match(end, then, count + 1)
                )

            return (more() or (count >= least and then(at))) if greedy else ((count >= least and then(at)) or more())

        return match

    def _max_repeat(self, argument: Any) -> Match:
        return self._repeated(argument, True)

    def _min_repeat(self, argument: Any) -> Match:
        return self._repeated(argument, False)

    def _subpattern(self, argument: Any) -> Match:
        group, inner = argument[0], self._sequence(argument[3])

        def match(at: int, then: Then) -> bool:
            def ended(end: int) -> bool:
                was = self.groups.get(group)
                self.groups[group] = (at, end)
                if then(end):
                    return True
                if was is None:
                    del self.groups[group]
                else:
                    self.groups[group] = was
                return False

            return inner(at, ended if group is not None else then)

        return match

    def _branch(self, argument: Any) -> Match:
        branches = [self._sequence(items) for items in argument[1]]
        return lambda at, then: any(branch(at, then) for branch in branches)

    def _atomic_group(self, argument: Any) -> Match:
        inner = self._sequence(argument)

        def match(at: int, then: Then) -> bool:
            ends: list[int] = []
            return inner(at, lambda end: not ends.append(end)) and then(ends[0])  # type: ignore[func-returns-value]

        return match

    def _looked(self, argument: Any) -> Callable[[int], bool]:
        direction, items = argument
        inner = self._sequence(items)
        if direction > 0:
            return lambda at: inner(at, lambda end: True)
        return lambda at: any(inner(begin, lambda end: end == at) for begin in range(at, max(-1, at - 20), -1))

    def _assert(self, argument: Any) -> Match:
        found = self._looked(argument)
        return lambda at, then: found(at) and then(at)

    def _assert_not(self, argument: Any) -> Match:
        found = self._looked(argument)
        return lambda at, then: not found(at) and then(at)

    def _at(self, argument: Any) -> Match:
        form = {c.AT_BEGINNING: r"\A", c.AT_BEGINNING_STRING: r"\A", c.AT_END: r"$", c.AT_END_STRING: r"\Z", c.AT_BOUNDARY: r"\b"}[argument]
        place = re.compile(form)
        return lambda at, then: place.match(self.text, at) is not None and then(at)

    def _groupref(self, argument: Any) -> Match:
        def match(at: int, then: Then) -> bool:
            if argument not in self.groups:
                return False
            begin, end = self.groups[argument]
            self.step(end - begin + 1)
            return self.text.startswith(self.text[begin:end], at) and then(at + end - begin)

        return match

    def _groupref_exists(self, argument: Any) -> Match:
        group, yes, no = argument
        matched, otherwise = self._sequence(yes), self._sequence(no) if no is not None else None
        return lambda at, then: matched(at, then) if group in self.groups else then(at) if otherwise is None else otherwise(at, then)


def steps(expression: re.Pattern[str], text: str, most: int) -> int:
    """Raises TooMany."""
    counter = Counter(expression, text, most)
    counter.fullmatch()
    return counter.steps


def with_room(work: Callable[[], None]) -> None:
    """Runs it where recursion may be as deep as a text is long."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    was, size = sys.getrecursionlimit(), threading.stack_size(256 << 20)
    sys.setrecursionlimit(50_000)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(was)
        threading.stack_size(size)
    if failed:
        raise failed[0]
