"""Patterns of lines that are known but are not evidence, so that they are not counted as unrecognised.

Here: the patterns from the table silent.tsv. Not here: statements that make events (the other modules) or why these make none
(fixtures/templates/irrelevant.tsv).
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from itertools import groupby
from operator import itemgetter

import regex

from parsers.patterns.pattern import TP, Pattern, Sample


def _read() -> Iterator[Pattern]:
    lines = resources.files("parsers.patterns").joinpath("silent.tsv").read_text("utf-8").split("\n")
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    groups = {row[0]: row[1].split() for row in rows if row[0].startswith("@")}
    for name, of_name in groupby((row for row in rows if row[0] not in groups), key=itemgetter(0)):
        (_, literal, expression, first, last, loggers, *_), *_ = statement = list(of_name)
        samples = tuple(_sample(text, origin) for *_, text, origin in statement)
        yield Pattern(
            name=name,
            event="irrelevant",
            literal=literal,
            regex=expression.replace("{}", regex.escape(literal)).replace("{TP}", TP),
            versions=(first, last),
            loggers=tuple(logger for word in loggers.split() for logger in groups.get(word, (word,))),
            multiline=any("\n" in sample.line for sample in samples),
            samples=samples,
        )


def _sample(text: str, origin: str) -> Sample:
    """The sample; a message alone becomes the record that its logger prints."""
    if not text.startswith(("[20", "(")):
        text = f"[2024-05-01 12:00:00,123] INFO {text} ({origin.split()[-1]})"
    return Sample(text.replace("\\n", "\n").replace("\\t", "\t"), {}, origin)


PATTERNS: tuple[Pattern, ...] = tuple(_read())
