"""Whether the patterns of a file read their own samples, as the reader of logs does.

Here: the check of each sample, and the reason if it fails. Not here: the form of the file (parsers.patterns.pattern_toml).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from parsers import pattern_files
from parsers.catalogue.record import search_all
from parsers.layouts import LOG4J, is_one_of, prefix
from parsers.matching.messages import apply, whole_message
from parsers.own_files import OwnFile
from parsers.patterns.in_force import of_files
from parsers.patterns.pattern import Pattern, Sample
from parsers.patterns.pattern_toml import PatternPlace, read
from parsers.schemas import Row

BEFORE = "[2024-05-01 12:00:00,123] INFO a record (org.eclipse.jetty.server.Server)\n"
"""The record that a line without a time belongs to: the text of an exception follows the record that reports it."""


def check(files: Sequence[OwnFile]) -> None:
    """Raises ValueError naming file, pattern and sample if a file is not valid, or a pattern does not read its samples."""
    of_files(files)
    with _in_force(files):
        for file in files:
            for number, pattern in enumerate(read(file.text, file.path), 1):
                for at, sample in enumerate(pattern.samples, 1):
                    if problem := problem_of(pattern, sample):
                        raise PatternPlace(file.path, number, pattern.name, at).error(problem)


@contextmanager
def _in_force(files: Sequence[OwnFile]) -> Iterator[None]:
    before = pattern_files.in_force()
    pattern_files.put_in_force(tuple(files))
    try:
        yield
    finally:
        pattern_files.put_in_force(before)


def problem_of(pattern: Pattern, sample: Sample) -> str | None:
    """Why the pattern, which is in force, does not read the sample as it promises; None if it does."""
    return _unmatched(pattern, sample.line) or _misread(pattern, sample)


def _unmatched(pattern: Pattern, line: str) -> str | None:
    if pattern.literal not in line:
        return f"the literal `{pattern.literal}` is not in the line"
    first, _, rest = line.partition("\n")
    record = LOG4J.read(first)
    message, logger = (line, None) if record is None else whole_message(record, rest if pattern.multiline else "", LOG4J)
    if logger is not None and pattern.loggers and not is_one_of(logger, pattern.loggers):
        return f"the logger `{logger}` is not one of `loggers`"
    text = prefix(message, logger)[1]
    return f"the regex does not match the message `{text}`" if apply(pattern, text, logger) is None else None


def _misread(pattern: Pattern, sample: Sample) -> str | None:
    try:
        rows = search_all(sample.line) or search_all(BEFORE + sample.line)
    except (KeyError, TypeError, AttributeError) as error:
        if pattern.expand is None:
            raise
        return f"the function `{pattern.expand.__name__}` of `expand` needs other groups in the regex: {error}"
    if out_of_range := next((row for row in rows if row["event"] == "problem"), None):
        return f"a number does not fit its column: {out_of_range['text']}"
    other = next((row["pattern"] for row in rows if row.get("pattern") != pattern.name), None)
    if other is not None:
        return f"the pattern `{other}`, which is tried before, reads the line"
    if not rows:
        return None if pattern.expand is not None and not sample.fields else "it gives no event"
    return None if any(not _differences(row, sample) for row in rows) else min((_differences(row, sample) for row in rows), key=len)[0]


def _differences(row: Row, sample: Sample) -> list[str]:
    return [f"column `{name}` is {row.get(name)!r}, not {value!r}" for name, value in sample.fields.items() if row.get(name) != value]
