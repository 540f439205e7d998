"""Numbers on the command line: broker ids, partition numbers, sizes.

Here: the parameter type, whose errors name the number and what would be right. Not here: which brokers and partitions exist (selection).
"""

from __future__ import annotations

from typing import Any

import click

INT32 = 2**31 - 1


class WholeNumber(click.ParamType):  # type: ignore[type-arg] # generic from click 8.4 on
    """A whole number within bounds. `meaning`: what it is, with its article."""

    name = "integer"

    def __init__(self, meaning: str, least: int = 0, most: int = INT32) -> None:
        self.meaning, self.least, self.most = meaning, least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            number = int(value)
        except ValueError:
            number = None
        if number is None or not self.least <= number <= self.most:
            upper = f"from {self.least} to {self.most}" if self.most < INT32 else f"of at least {self.least}"
            self.fail(f"{str(value)!r} is not {self.meaning}; give a whole number {upper}", param, ctx)
        return number


PARTITION = WholeNumber("a partition number")
BROKER = WholeNumber("a broker id")
