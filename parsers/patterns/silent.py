"""Patterns of lines that are known but are not evidence, so that they are not counted as unrecognised.

Here: the patterns from the table silent.tsv. Not here: statements that make events (the TOML files) or why these make none
(fixtures/templates/irrelevant.tsv).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

import regex

from parsers import package_data
from parsers.patterns.fragments import filled
from parsers.patterns.pattern import Pattern, Sample


def patterns() -> Iterator[Pattern]:
    rows = [
        line.split("\t") for line in package_data.text("parsers.patterns", "silent.tsv").split("\n") if line and not line.startswith("#")
    ]
    groups = {row[0]: row[1].split() for row in rows if row[0].startswith("@")}
    for name, of_name in groupby((row for row in rows if row[0] not in groups), key=itemgetter(0)):
        (_, literal, written, first, last, loggers, *_), *_ = statement = list(of_name)
        samples = tuple(_sample(text, origin) for *_, text, origin in statement)
        if "{}" in written:
            written = written.replace("{}", regex.escape(literal))
        yield Pattern(
            name=name,
            event="irrelevant",
            literal=literal,
            regex=filled(written),
            written=written,
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
