"""Matches many lines of a chunk at a time against the patterns whose literals they contain.

Here: lines with the same literals and the same logger are matched by the same expressions. Not here: the lines in file order, and those
left to Reading (vectorised).

Measured on recorded lines: to extract groups, RE2 over many lines at once takes two to five times as long as `re`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import compress

from parsers.catalogue.columnar.columns import StatementMatches
from parsers.catalogue.columnar.heads import columns_of, microseconds
from parsers.catalogue.reading import Reading
from parsers.layouts import LogRecord, prefix
from parsers.learning.worth import leaves_over
from parsers.matching.messages import LONG_MESSAGE, SeenText, apply
from parsers.matching.tried import Tried


class Chunk:
    """The data shared by all lines of a chunk."""

    def __init__(self, reading: Reading, data: bytes) -> None:
        self.reading, self.data = reading, data
        self.literals, self.known = reading.layouts.literals, reading.layouts.known
        self.heads = reading.layouts.heads
        self.text = data.decode("latin-1")
        self.clean = data.isascii() and not reading.survey.noisy and b"\r" not in data


class Block:
    """Lines with literals in file order, and their matches in any order; lists are indexed by line."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk, self.reading = chunk, chunk.reading
        self.begins: list[int] = []
        self.ends: list[int] = []
        self.numbers: list[int] = []
        self.literals: list[tuple[int, ...]] = []
        self.stops: list[int] = []
        """Where the last literal of each line ends."""
        self.heads = columns_of("", 0)
        """The records of the lines; without a logger where Reading has to read the line."""
        self.statements: dict[str, StatementMatches] = {}
        self.records: dict[int, SeenText] = {}
        self.continued: set[int] = set()  # records whose further lines other patterns may read, too
        """The whole record of several lines, if a pattern has matched all of it."""
        self.unknown: list[int] = []
        """Lines that no pattern matches although their logger matters."""

    def line(self, at: int) -> str:
        return self.chunk.text[self.begins[at] : self.ends[at]].removesuffix("\r")

    def match(self) -> None:
        """Matches the lines against the patterns that may match them."""
        chunk = self.chunk
        if chunk.heads is None:
            self.heads = columns_of("", len(self.begins))
            return
        ends, known = self._readable(), chunk.literals.loggers.get
        loggers = [known(ids[-1]) if stop == end else None for ids, stop, end in zip(self.literals, self.stops, ends, strict=True)]
        self.heads = chunk.heads.read_all(chunk.data, chunk.text, self.begins, ends, loggers)
        alike: dict[tuple[tuple[int, ...], str], list[int]] = defaultdict(list)
        for at, (ids, logger) in enumerate(zip(self.literals, self.heads.loggers, strict=True)):
            if logger is not None:
                alike[ids, logger].append(at)
            elif chunk.clean:
                self._take_open(at, ids)
        for (ids, logger), lines in alike.items():
            self._put(ids, logger, lines)

    def _readable(self) -> Sequence[int]:
        """Where each line ends if it is printable ASCII; for other lines, where it begins."""
        if self.chunk.clean:
            return self.ends
        lines = [self.line(at) for at in range(len(self.ends))]
        return [begin + len(line) * (line.isascii() and line.isprintable()) for begin, line in zip(self.begins, lines, strict=True)]

    def _put(self, ids: tuple[int, ...], logger: str, lines: Sequence[int]) -> None:
        """Groups lines by literals and logger."""
        loggers, texts, firsts, afters = self.heads.loggers, self.heads.texts, self.heads.firsts, self.heads.afters
        for one in self.chunk.literals.tried(ids, logger):
            fullmatch = one.fullmatch
            if fullmatch is None:
                for at in lines:
                    self.heads.put(at, None)
                return
            if one.pattern.multiline:
                matches = [self._of_record(at, fullmatch) for at in lines]
                if one.pattern.match_continuation_lines:
                    self.continued.update(at for at, match in zip(lines, matches, strict=True) if match is not None)
            else:
                matches = [fullmatch(texts[at], firsts[at], afters[at]) for at in lines]
            missed = None in matches
            if one.relevant:
                statement = self._matches_of(one)
                statement.lines += compress(lines, matches) if missed else lines
                statement.matches += filter(None, matches)
            lines = [at for at, match in zip(lines, matches, strict=True) if match is None and loggers[at] is not None] if missed else ()
            if not lines:
                return
        if self.chunk.literals.names_logger(ids):
            self.unknown += lines

    def _matches_of(self, one: Tried) -> StatementMatches:
        statement = self.statements.get(one.pattern.name)
        if statement is None:
            statement = self.statements[one.pattern.name] = StatementMatches(one.pattern, one.groupdict, one.by_columns)
        return statement

    def _take_open(self, at: int, ids: tuple[int, ...]) -> None:
        """Reads a record whose logger is printed at the end of a later line (for example a dump of settings), if only one statement can
        match."""
        candidates, layout = self.chunk.literals.candidates(ids), self.chunk.known[0]
        if len(candidates) != 1 or not candidates[0].multiline:
            return
        record = layout.read(self.line(at))
        if record is None or record.time is None or record.logger is not None or leaves_over(record, layout):
            return
        complete = self._whole(at, record)
        only = self._of_only_statement(ids, complete.message, complete.logger)
        if only is not None and complete.logger is not None:
            one, match = only
            self.heads.put(
                at,
                (
                    complete.logger,
                    microseconds(record.time),
                    record.utc,
                    record.level,
                    {},
                    True,
                    complete.message,
                    0,
                    len(complete.message),
                ),
            )
            self.records[at] = complete
            statement = self._matches_of(one)
            statement.lines.append(at)
            statement.matches.append(match)

    def _of_only_statement(self, ids: tuple[int, ...], message: str, logger: str | None) -> tuple[Tried, re.Match[str]] | None:
        """The first statement with these literals, and its match with a whole message without a component."""
        tried = self.chunk.literals.tried(ids, logger) if logger is not None else ()
        if logger is None or not tried or tried[0].fullmatch is None or not tried[0].relevant or prefix(message, logger)[1] != message:
            return None
        with suppress(TimeoutError):  # Reading reports the timeout
            if message.isascii() and apply(tried[0].pattern, message, logger):
                match = tried[0].fullmatch(message)
                return (tried[0], match) if match is not None else None
        return None

    def _whole(self, at: int, record: LogRecord) -> SeenText:
        """The whole record that begins here."""
        seen = SeenText(self.line(at), record.message, record.logger, self.begins[at], self.ends[at])
        return self.reading.whole_record(self.chunk.data, seen, record, seen.begin, self.chunk.known[0])

    def _of_record(self, at: int, fullmatch: Callable[..., re.Match[str] | None]) -> re.Match[str] | None:
        """The match with the record that begins here, or None if the line is left to Reading."""
        message = self.heads.texts[at][self.heads.firsts[at] : self.heads.afters[at]]
        if self.heads.bracketed[at] and not message.startswith("["):
            record = self.record(at)
            complete = self._whole(at, record)
            message += complete.message[len(record.message) :]
            if len(message) <= LONG_MESSAGE and message.isascii():
                match = fullmatch(message)
                if match is not None:
                    self.records[at] = complete
                return match
        self.heads.put(at, None)
        return None

    def record(self, at: int) -> LogRecord:
        assert self.chunk.heads is not None
        record = self.chunk.heads.layout.read(self.line(at))
        assert record is not None
        return record
