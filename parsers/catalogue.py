"""The search for Kafka's lines in a log file: literals first, over whole chunks; expressions only on the lines they hit.

Here: the tuple of all patterns, the walk of a log of any size in bounded memory, and the account of what was not recognised.
Not here: the lines themselves (parsers.patterns), how a record is laid out (parsers.layouts), what is around it
(parsers.wrappers) or which file is a log.

One pass of Aho-Corasick over the raw bytes finds every literal; a line without one costs no Python at all. The names of the
loggers that tell of replication are literals too: a line of theirs that no pattern knows is counted and shown.

A file whose lines lie in wrappers is unwrapped into chunks of plain lines, one sequence of them for each writer in it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from io import BytesIO
from itertools import accumulate
from statistics import median_low
from typing import Any, BinaryIO, cast

import regex
from ahocorasick_rs import BytesAhoCorasick

from parsers.layouts import LOG4J, STATE_CHANGE, Layout, Record, abbreviates, fitting, misfit, prefix, sniff
from parsers.patterns import PATTERNS
from parsers.patterns.loggers import RELEVANT_LOGGERS, TRACED_BY_DEFAULT
from parsers.patterns.pattern import Pattern, check, column
from parsers.schemas import MAX_TEXT, Member, Row, problem
from parsers.sniff import log_kind
from parsers.wrappers import MAX_LINE, UTF16, Decoded, Line, Outer, Unwrapper, time_of

CHUNK = 4 << 20
"""Bytes searched at a time; also the longest line that is looked into as a whole."""
MAX_RECORD = 64 << 10
"""Bytes of a record of several lines that a multi-line pattern gets to see."""
MAX_SAMPLES = 5
MAX_WRITERS = 200
"""Writers (pods, joined files) of one file that are told apart."""
MAX_LAYOUTS = 8
"""Layouts one file may change between."""
MAX_TURNS = 16
"""Changes within a chunk from which on no more is learnt from them: each has the chunk searched anew."""
WRAPPED = 4 << 20
"""Bytes of unwrapped lines that are kept for all writers together."""
LONG_MESSAGE = 2048
"""Characters from which on an expression gets a time limit: no line Kafka writes needs it, a hostile one may."""
_PATIENCE = 5.0
_LAST_LINES = 10_000
_IDENTITY_BYTES = 64 << 10

_NOISE = bytes(set(range(0x20)) - set(b"\t\n\r\x1b"))
_FIRST_NOISE = regex.compile(b"[" + b"".join(b"\\x%02x" % code for code in _NOISE) + b"]")
_NOISE_TEXT = _NOISE.decode() + "\r\ufeff"
_NODE_NAMED = (
    r"\[(?:[\w, =]*?(?:\b(?:id|nodeId|brokerId|replicaId|controllerId|broker)=| on [Bb]roker )|"
    r"(?:GroupCoordinator|Kafka Server) |KafkaApi-)(\d{1,9})[\], ]"
)
_NODE = regex.compile(rf"(?m)^\[[^\]\n]{{23}}\] [A-Z]+ +{_NODE_NAMED}".encode())
_NODE_FIRST = regex.compile(_NODE_NAMED)
_WITNESSES, _SURE = 300, 3
_QUARTER = timedelta(minutes=15)
_SHOWN_LINES, _SHOWN = 3, 200
_WRAPPED_FROM = (b"\n==> ", b'\n{"', b"\n[pod/")
"""Where a file may begin to be wrapped in the middle; otherwise a line with a literal shows it."""
_LOG_MARK = regex.compile(rb"\d\d:\d\d:\d\d|\d{1,4}[-./]\d\d?[-./]\d{1,4}|\b(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b")


class _Literals:
    """The automaton over all literals and what each of them stands for. `logged`: what may stand around a logger's name;
    `whole`: it is always Kafka's ` (logger)` behind the message, which some literals are part of."""

    def __init__(self, patterns: Sequence[Pattern], logged: Iterable[tuple[str, str]], whole: bool) -> None:
        self.patterns = patterns
        by_literal: dict[bytes, list[int]] = {}
        for rank, pattern in enumerate(patterns):
            for literal in (pattern.literal,) if whole else _without_logger(pattern):
                by_literal.setdefault(literal.encode(), []).append(rank)
        self.ranks = list(by_literal.values())
        names = {f"{before}{name}{after}" for before, after in logged for name in _names(before, after)}
        self.automaton = BytesAhoCorasick([*by_literal, *(name.encode() for name in sorted(names))])
        self.candidates = lru_cache(maxsize=1 << 14)(self._candidates)

    def find(self, data: bytes) -> list[tuple[int, int, int]]:
        """(literal, start, end) of every occurrence, by end; literals may overlap."""
        return self.automaton.find_matches_as_indexes(data, overlapping=True)

    def _candidates(self, hits: tuple[int, ...]) -> tuple[Pattern, ...]:
        """Patterns to try on a line with these literals, in the order of the catalogue."""
        ranks = {rank for hit in hits if hit < len(self.ranks) for rank in self.ranks[hit]}
        return tuple(self.patterns[rank] for rank in sorted(ranks))


_MIN_LITERAL = 4


def _without_logger(pattern: Pattern) -> Sequence[str]:
    """A pattern's literals where its logger does not stand behind the message: what of its literal stands in the messages of
    its samples; else what they begin with, and its loggers' own names."""
    messages = [
        prefix(record.message, record.logger)[1] for sample in pattern.samples if (record := LOG4J.read(sample.line.partition("\n")[0]))
    ]
    whole = [
        "\n".join((sample.line.partition(" (kafka.")[0].partition(" (org.")[0], *sample.line.split("\n")[1:])) for sample in pattern.samples
    ]
    ends = [end for end in range(len(pattern.literal), _MIN_LITERAL - 1, -1) if not _WITHIN_WORD.match(pattern.literal, end - 1)]
    for end in ends:
        if all(pattern.literal[:end] in text for text in whole):
            return (pattern.literal[:end],)
    names = {name.rpartition(".")[2].strip("( )$") for name in (*pattern.loggers, pattern.literal)}
    return sorted(names | {begin for message in messages if len(begin := _beginning(pattern, message)) >= 2 * _MIN_LITERAL}) or (
        pattern.literal,
    )


_WITHIN_WORD = regex.compile(r"\w\w")


def _beginning(pattern: Pattern, message: str) -> str:
    """A message up to the first thing that varies in it."""
    found = pattern.compiled.fullmatch(message)
    return message[: min((at for at, _ in found.regs[1:] if at >= 0), default=len(message))] if found else ""


_FULL = (LOG4J.logged,)


def _names(before: str, after: str) -> Iterable[str]:
    """How the loggers that matter may be printed; Kafka's own layout prints them whole."""
    if (before, after) in _FULL:
        return RELEVANT_LOGGERS
    short = {".".join(["", *name.split(".")[at:]]).lstrip(".") for name in RELEVANT_LOGGERS for at in range(name.count(".") + 1)}
    initials = {".".join([*(part[:1] for part in name.split(".")[:-1]), name.split(".")[-1]]) for name in RELEVANT_LOGGERS}
    return short | initials


@lru_cache(maxsize=64)
def _literals(logged: frozenset[tuple[str, str]], whole: bool) -> _Literals:
    return _Literals(PATTERNS, sorted(logged), whole)


_LITERALS = _literals(frozenset(_FULL), True)


@lru_cache(maxsize=1 << 12)
def _relevant(logger: str) -> str | None:
    """The first logger that matters which may have been printed so."""
    return logger if logger in RELEVANT_LOGGERS else next((name for name in RELEVANT_LOGGERS if abbreviates(logger, name)), None)


@lru_cache(maxsize=1 << 14)
def _is_one_of(logger: str, loggers: tuple[str, ...]) -> bool:
    return logger in loggers or any(abbreviates(logger, name) for name in loggers)


def read_log(stream: BinaryIO, member: Member, kind: str, layouts: Sequence[Layout] = ()) -> Iterator[Row]:
    """Events of one log file in file order, then one `source` row about the file as a whole.

    `byte` counts in the stream as given (decompressed), `line` from 1. `kind` is the name of the source's kind, kept in
    `collected`. `layouts` are the user's own. Where lines name their writer (a pod, a joined file), events have the source
    `path#writer`, and each of these has a `source` row too. Damage gives `problem` rows: 'out-of-range', 'long-line',
    'slow-line', 'binary-noise', 'read-error', 'unknown-layout', 'no-date', 'many-writers'.
    """
    return _File(member, kind, layouts).rows(stream)


def mentions(head: bytes) -> bool:
    """Whether a line with a time or a level holds a literal of Kafka's: a log, though in no layout that is known."""
    return any(_LOG_MARK.search(head, head.rfind(b"\n", 0, start) + 1, start) for _, start, _ in _LITERALS.find(head))


def search(line: str) -> Row | None:
    """The first event of one record (its first line and those after it), 'irrelevant' ones included; None if unknown."""
    return next(iter(search_all(line)), None)


def search_all(line: str) -> list[Row]:
    """All events of one record, 'irrelevant' ones included."""
    reading = _File(Member("", None, None), "", irrelevant=True)
    return [
        row
        for row in reading.rows(BytesIO(line.encode()))
        if row["event"] not in ("source", "problem") or row.get("reason") == "out-of-range"
    ]


def matching(line: str) -> list[Pattern]:
    """Every pattern whose literal and expression fit the record; more than one is a fault of the catalogue."""
    data = line.encode()
    hits = tuple(hit for hit, _, _ in _LITERALS.find(data))
    first, _, rest = line.partition("\n")
    record = LOG4J.read(first)
    return [p for p in _LITERALS.candidates(hits) if _matches(p, record, first, rest)]


def _matches(pattern: Pattern, record: Record | None, first: str, rest: str) -> bool:
    if record is not None and pattern.multiline:
        message, logger = _whole_message(record, rest, LOG4J)
    elif record is not None:
        message, logger = record.message, record.logger
    else:
        message, logger = first, None
    return _apply(pattern, prefix(message, logger)[1], logger) is not None


def _apply(pattern: Pattern, message: str, logger: str | None, bare: bool = False) -> regex.Match[str] | None:
    """`bare`: no logger is printed, so any may have said it."""
    if pattern.loggers and not (bare if logger is None else _is_one_of(logger, pattern.loggers)):
        return None
    if len(message) > LONG_MESSAGE:
        return pattern.compiled.fullmatch(message, timeout=_PATIENCE)
    return pattern.compiled.fullmatch(message)


def _whole_message(record: Record, rest: str, layout: Layout) -> tuple[str, str | None]:
    """Message and logger of a record of several lines; the logger may stand at the end of a later line than the first."""
    if not rest:
        return record.message, record.logger
    found = layout.tail.search(rest) if layout.tail is not None and record.logger is None else None
    if found is None:
        return f"{record.message}\n{rest}", record.logger
    return f"{record.message}\n{rest[: found.start()]}{rest[found.end() :]}", found["logger"]


def _leading_noise(line: bytes) -> int:
    return len(line) - len(line.lstrip(_NOISE))


@dataclass(slots=True)
class _Seen:
    """What is looked at: one line, or a record of several."""

    text: str
    message: str
    logger: str | None
    begin: int
    end: int
    bare: bool = False
    """Its layout names no logger."""
    lines_before: int = 0
    """Lines between the record's first one and the one the literal was found in."""
    noise: int = 0
    """Control bytes in front of it."""


class _Reading:
    """The state of one walk through the plain lines of one writer, chunk by chunk."""

    def __init__(self, member: Member, source: str, kind: str, layouts: Sequence[Layout] = (), *, irrelevant: bool = False) -> None:
        self.member = member
        self.source = source
        self.kind = kind
        self.given = layouts
        self.irrelevant = irrelevant
        self.layouts: list[Layout] = []  # in use, the latest first; one that names no logger comes last
        self.literals = _LITERALS
        self.begins = LOG4J.begins
        self.offset = 0  # of the chunk's first byte
        self.line = 1  # number of the chunk's first line
        self.unended = False
        self.unrecognised = 0
        self.samples: list[str] = []
        self.first: datetime | None = None
        self.last: datetime | None = None
        self.utc: bool | None = None  # clock of these two
        self.nodes: Counter[int] = Counter()
        self.noise = 0
        self.noise_at: int | None = None
        self.problem: str | None = None
        self.slow = False
        self.hits = 0  # lines that hold a literal
        self.undated = 0  # events of records that print no date
        self.shown: list[str] = []  # first lines, while no layout is known
        self.tail: Record | None = None  # last record of the chunk, which may go on in the next
        self.owner: Record | None = None  # record the lines looked at last belong to
        self.owner_at = -1  # its place in the chunk; -1 where it began in an earlier one
        self.known = 0  # up to here in the chunk `owner` is known
        self.told = False  # a pattern of several lines has told all of `owner`
        self.layout = LOG4J  # that of `owner`
        self.turns = 0  # changes of the layout within the chunk
        self.wrapped_at = -1  # place in the chunk from which on lines are wrapped

    def chunk(self, data: bytes) -> Iterator[Row]:
        """Events of a piece of whole lines."""
        if not self.layouts:
            self._learn(data[:_IDENTITY_BYTES])
        self._survey(data)
        yield from self._search(data)
        self.owner = self.tail
        self.offset += len(data) if self.wrapped_at < 0 else self.wrapped_at
        self.unended = not data.endswith(b"\n")

    def end(self) -> Iterator[Row]:
        """What can be said only of the whole; the `source` row last."""
        if self.noise:
            text = f"{self.noise} control bytes (NUL and the like), the first at byte {self.noise_at}"
            yield {**problem("binary-noise", text, byte=self.noise_at), "source": self.source}
        if self.problem:
            yield {**problem("read-error", self.problem, byte=self.offset), "source": self.source}
        if not self.layouts and (self.hits or any(_LOG_MARK.search(line.encode()) for line in self.shown)):
            text = f"no known layout: {misfit(self.shown, self.given)}; the file begins {self.shown}"
            yield {**problem("unknown-layout", text, line=1, byte=0), "source": self.source}
        if self.undated and self.first is None:
            text = f"the lines print no date: {self.undated} events could not be placed in time"
            yield {**problem("no-date", text, line=1, byte=0), "source": self.source}
        yield self._source()

    def collected(self) -> Row:
        return {
            "kind": self.kind,
            "bytes": self.offset,
            "modified": self.member.modified,
            "lines": self.line - 1 + self.unended,
            "unrecognised": self.unrecognised,
            "samples": self.samples,
            "first": self.first,
            "last": self.last,
            "clock": "utc" if self.utc else "line",
            "nodes": sorted(self.nodes, key=lambda node: (-self.nodes[node], node)),
            "problem": self.problem,
        }

    def _wraps(self, line: bytes) -> bool:
        """Whether a line that begins no record is a wrapped one."""
        return False

    def _source(self) -> Row:
        return {"source": self.source, "event": "source", "pattern": "log", "collected": self.collected()}

    def _learn(self, head: bytes) -> None:
        """Looks at lines for the layout they are in."""
        found = sniff(head, self.given)
        if found is not None:
            self._use(found)
        elif not self.shown:
            lines = (line.decode("utf-8", "replace").strip(_NOISE_TEXT) for line in head.split(b"\n", 64)[:64])
            self.shown = [line[:_SHOWN] for line in lines if line.strip()][:_SHOWN_LINES]

    def _use(self, layout: Layout) -> None:
        self.layouts = sorted([layout, *(other for other in self.layouts if other is not layout)], key=lambda known: known.bare)[
            :MAX_LAYOUTS
        ]
        whole = all(known is LOG4J for known in self.layouts)
        self.literals = _literals(frozenset((*_FULL, *(known.logged for known in self.layouts))), whole)
        self.begins = layout.begins if len(self.layouts) == 1 else self._begins_any

    def _begins_any(self, data: bytes, at: int) -> bool:
        return any(layout.begins(data, at) for layout in self.layouts)

    def _read(self, text: str, data: bytes, at: int) -> Record | None:
        """The record that begins with this line, in a layout in use or in another one the file changes to."""
        for layout in self.layouts:
            record = layout.read(text)
            if record is not None:
                self.layout = layout
                return record
        found = fitting(text, self.given)
        if found is None:
            return None
        if self.turns < MAX_TURNS:
            self.turns += 1
            better = sniff(data[at : at + _IDENTITY_BYTES], self.given)
            found = better if better is not None and better.fits(text) else found
            self._use(found)
        self.layout = found
        return found.read(text)

    def _cut(self, data: bytes) -> int:
        """Where the last record begins, or else after the last whole line; 0 where there is none."""
        end = data.rfind(b"\n") + 1
        at = data.rfind(b"\n", 0, max(end - 1, 0)) + 1
        while at > 0 and end - at <= MAX_RECORD:
            if self.begins(data, at):
                return at
            at = data.rfind(b"\n", 0, at - 1) + 1
        return end

    def _survey(self, data: bytes) -> None:
        """Noise, the first and the last time, and who wrote the chunk by a look at its beginning."""
        noise = len(data) - len(data.translate(None, _NOISE))
        if noise and self.noise_at is None:
            found = _FIRST_NOISE.search(data)
            self.noise_at = self._noise_byte(data, found.start() if found else 0)
        self.noise += noise
        self._survey_nodes(data)
        if self.first is None:
            self._pass_by(
                next((r for layout in self.layouts if (h := layout.head.search(data)) and (r := self._record_at(data, h.start()))), None)
            )
        at = len(data)
        for _ in range(_LAST_LINES):
            at = data.rfind(b"\n", 0, max(at - 1, 0)) + 1
            if self.begins(data, at):
                self.tail = self._record_at(data, at)
                self._pass_by(self.tail)
                return
            if at == 0:
                return

    def _survey_nodes(self, data: bytes) -> None:
        if all(layout is LOG4J for layout in self.layouts):
            self.nodes.update(int(node) for node in _NODE.findall(data, 0, _IDENTITY_BYTES))
            return
        for layout in self.layouts:
            for head in layout.head.finditer(data, 0, _IDENTITY_BYTES):
                record = layout.read(self._text(data, head.start(), self._line_end(data, head.start())))
                if record is not None and (found := _NODE_FIRST.match(record.message)):
                    self.nodes[int(found[1])] += 1

    def _pass_by(self, record: Record | None) -> None:
        """Widens what is known of the time covered; a file whose lines are UTC only in part is told by the clock of its first."""
        if record is None or record.time is None or self.utc not in (None, record.utc):
            return
        self.utc = record.utc
        self.first = self.first or record.time
        self.last = record.time

    def _noise_byte(self, data: bytes, at: int) -> int:
        return self.offset + at

    def _record_at(self, data: bytes, at: int) -> Record | None:
        text = self._text(data, at, self._line_end(data, at))
        return next((record for layout in self.layouts if (record := layout.read(text)) is not None), None)

    def _line_end(self, data: bytes, at: int) -> int:
        end = data.find(b"\n", at)
        return len(data) if end < 0 else end

    def _text(self, data: bytes, begin: int, end: int) -> str:
        return data[begin:end].decode("utf-8", "replace").strip(_NOISE_TEXT)

    def _search(self, data: bytes) -> Iterator[Row]:
        self.owner_at, self.known, self.turns = -1, 0, 0
        at: int | None = 0
        while at is not None:
            at = yield from self._search_from(data, at)

    def _search_from(self, data: bytes, base: int) -> Generator[Row, None, int | None]:
        """Events of a chunk from a line's end on. Returns where to search anew once the literals have become others."""
        literals = self.literals
        hits = literals.find(data[base:] if base else data)
        at, count, floor = 0, len(hits), base
        while at < count:
            start = hits[at][1] + base
            line = self.line
            begin = data.rfind(b"\n", floor, start) + 1 or floor
            end = self._line_end(data, start)
            self.line += data.count(b"\n", floor, begin)
            after = at + 1
            while after < count and hits[after][1] + base < end:
                after += 1
            yield from self._look(data, begin, end, tuple([hit[0] for hit in hits[at:after]]))
            if self.wrapped_at >= 0:
                return None
            if self.literals is not literals:
                self.line = line
                return floor
            at, floor = after, end
        self.line += data.count(b"\n", floor)
        return None

    def _look(self, data: bytes, begin: int, end: int, ids: tuple[int, ...]) -> Iterator[Row]:
        """Events of the line at [begin, end), which holds these literals."""
        self.hits += 1
        raw = data[begin:end]
        text = raw.decode("utf-8", "replace").strip(_NOISE_TEXT)
        noise = _leading_noise(raw) if self.noise else 0
        literals = self.literals
        record = self._read(text, data, begin)
        if self.literals is not literals:
            return
        if record is None:
            if self._wraps(raw):
                self.wrapped_at = begin
                return
            self._find_owner(data, begin)
            if self.told:
                return
            seen = _Seen(text, text.strip(), None, begin, end, noise=noise)
        else:
            self.owner, self.owner_at, self.told = record, begin, False
            bare = self.layout.bare and record.logger is None
            seen = _Seen(text, record.message, record.logger, begin, end, bare=bare, noise=noise)
        self.known = end
        if len(text) > LONG_MESSAGE and self.slow:
            return
        try:
            yield from self._try(data, seen, ids)
        except TimeoutError:
            self.slow = True
            yield self._problem("slow-line", "a very long line could not be read in time; such lines are left out from here on", seen)
        except ValueError as error:
            yield self._problem("out-of-range", f"{error}: {text}", seen)

    def _try(self, data: bytes, seen: _Seen, ids: tuple[int, ...]) -> Iterator[Row]:
        readings = _readings(seen)
        if "node" in readings[0][0]:
            self.nodes[readings[0][0]["node"]] += 1
        for pattern in self.literals.candidates(ids):
            if pattern.multiline:
                whole = self._whole(data, seen)
                found = _apply(pattern, prefix(whole.message, whole.logger)[1], whole.logger, whole.bare)
                if found is not None:
                    self.told = True
                    yield from self._events(pattern, found, readings[0][0], whole)
                    return
                continue
            for context, message in readings:
                found = _apply(pattern, message, seen.logger, seen.bare)
                if found is not None:
                    yield from self._events(pattern, found, context, seen)
                    return
        if max(ids) >= len(self.literals.ranks):
            self._count_unrecognised(seen)

    def _events(self, pattern: Pattern, found: regex.Match[str], context: Mapping[str, Any], seen: _Seen) -> Iterable[Row]:
        if pattern.event == "irrelevant" and not self.irrelevant:
            return ()
        line, byte = self._place(seen)
        time, clock = self._when(seen)
        self.undated += time is None and self.owner is not None
        row: Row = {
            "source": self.source,
            "line": line,
            "byte": byte,
            "time": time,
            "clock": clock,
            "event": pattern.event,
            "pattern": pattern.name,
            "level": (self.owner.level or None) if self.owner else None,
            "text": self._raw(seen),
            **context,
        }
        for name in pattern.columns:
            value = found[name]
            if value is not None:
                row[name] = column(name, value)
        row.update(pattern.fixed)
        if pattern.explode is None:
            return (row,)
        row["_groups"] = found.groupdict()
        rows = [check(made) for made in pattern.explode(row)]
        for made in rows:
            made.pop("_groups", None)
        return rows

    def _place(self, seen: _Seen) -> tuple[int, int]:
        """Line and byte in the file."""
        return self.line - seen.lines_before, self.offset + seen.begin + seen.noise

    def _when(self, seen: _Seen) -> tuple[datetime | None, str]:
        """Time of the record, and the clock that told it."""
        return (self.owner.time, "utc" if self.owner.utc else "line") if self.owner else (None, "line")

    def _raw(self, seen: _Seen) -> str:
        """The file's own text."""
        return seen.text[:MAX_TEXT]

    def _problem(self, reason: str, text: str, seen: _Seen) -> Row:
        line, byte = self._place(seen)
        return {**problem(reason, text, line=line, byte=byte), "source": self.source}

    def _find_owner(self, data: bytes, begin: int) -> None:
        """The record a line that begins none belongs to, looked for backwards as far as it is not known yet."""
        at = begin
        while at > self.known:
            at = data.rfind(b"\n", self.known, at - 1) + 1 or self.known
            if self.begins(data, at):
                self.owner = self._record_at(data, at)
                self.owner_at, self.told = at, False
                return

    def _whole(self, data: bytes, seen: _Seen) -> _Seen:
        """All lines of the record `seen` is in, as far as they lie in this chunk and within MAX_RECORD."""
        if self.owner is None or self.owner_at < 0:
            return seen
        begin, end, at = self.owner_at, seen.end, seen.end + 1
        limit = min(len(data), begin + MAX_RECORD)
        while at < limit and not self.begins(data, at):
            end = self._line_end(data, at)
            at = end + 1
        first_end = self._line_end(data, begin)
        rest = "\n".join(self._text(data, first_end + 1, end).splitlines()) if end > first_end else ""
        message, logger = _whole_message(self.owner, rest, self.layout)
        text = self._text(data, begin, min(end, begin + 4 * MAX_TEXT))
        noise = _leading_noise(data[begin:first_end]) if self.noise else 0
        before = data.count(b"\n", begin, seen.begin)
        return _Seen(text, message, logger, begin, end, bare=self.layout.bare and logger is None, lines_before=before, noise=noise)

    def _count_unrecognised(self, seen: _Seen) -> None:
        logger, level = seen.logger, self.owner.level if self.owner else "INFO"
        if logger is None:
            logger = next((name for name in RELEVANT_LOGGERS if seen.text.endswith(f" ({name})")), None)
        name = _relevant(logger) if logger is not None else None
        if name is None or (level in ("TRACE", "DEBUG") and not name.startswith(TRACED_BY_DEFAULT)):
            return
        self.unrecognised += 1
        if len(self.samples) < MAX_SAMPLES:
            self.samples.append(self._raw(seen))


def _readings(seen: _Seen) -> Sequence[tuple[Mapping[str, Any], str]]:
    """Component and message; where no logger is told, both with and without the writer that state changes begin with."""
    plain = prefix(seen.message, seen.logger)
    if not seen.bare:
        return (plain,)
    state_change = prefix(seen.message, STATE_CHANGE)
    return (plain,) if state_change == plain else (state_change, plain)


class _Inner(_Reading):
    """The walk through what one writer's lines hold."""

    def __init__(self, member: Member, source: str, kind: str, layouts: Sequence[Layout]) -> None:
        super().__init__(member, source, kind, layouts)
        self.lines: list[Line] = []
        self.starts: list[int] = []  # where each begins in the chunk
        self.size = 0
        self.count = 0
        self.differences: deque[int] = deque(maxlen=_WITNESSES)  # wall clock of records minus UTC of the wrapper, ms
        self.seconds = True  # records print whole seconds only

    def add(self, line: Line, limit: int) -> Iterator[Row]:
        """Events of the lines so far, once there are `limit` bytes of them."""
        self.lines.append(line)
        self.size += len(line.text) + 1
        self.count += 1
        if self.size >= limit:
            yield from self.flush()

    def flush(self, *, last: bool = False) -> Iterator[Row]:
        """Events of the lines kept; unless these are the last, the last record waits for what follows."""
        if not self.lines:
            return
        data = b"\n".join([line.text for line in self.lines]) + b"\n"
        self.starts = list(accumulate((len(line.text) + 1 for line in self.lines), initial=0))
        if not self.layouts:
            self._learn(data[:_IDENTITY_BYTES])
        done = len(self.lines) if last else bisect_right(self.starts, self._cut(data)) - 1 or len(self.lines)
        self._compare(self.lines[:done])
        yield from self.chunk(data[: self.starts[done]])
        self.lines = self.lines[done:]
        self.size = len(data) - self.starts[done]

    def collected(self) -> Row:
        told = median_low(self.differences) if self.differences else None
        return {**super().collected(), "bytes": None, "lines": self.count, "wall_minus_utc_ms": told}

    def _compare(self, lines: Sequence[Line]) -> None:
        """The wrapper's UTC against the wall clock of the records, at lines spread over the chunk."""
        for line in lines[:: max(1, len(lines) // _WITNESSES)]:
            at = time_of(line) if line.utc is not None else None
            record = self._record_at(line.text, 0) if at is not None else None
            if at is not None and record is not None and record.time is not None and not record.utc:
                self.differences.append(round((record.time - at).total_seconds() * 1000))
                self.seconds = self.seconds and not record.time.microsecond

    def _at(self, begin: int) -> Line:
        return self.lines[min(bisect_right(self.starts, begin) - 1, len(self.lines) - 1)]

    def _place(self, seen: _Seen) -> tuple[int, int]:
        line = self._at(seen.begin)
        return line.line, line.byte

    def _when(self, seen: _Seen) -> tuple[datetime | None, str]:
        time, clock = super()._when(seen)
        if time is None:
            at = time_of(self._at(seen.begin))
            return (at, "utc") if at is not None else (None, clock)
        if self.seconds and len(self.differences) >= _SURE:
            return self._finer(time, time_of(self._at(seen.begin))), clock
        return time, clock

    def _finer(self, time: datetime, stamp: datetime | None) -> datetime:
        """A time of whole seconds with the fraction of the wrapper's, if that is of the same second in some zone."""
        if stamp is None:
            return time
        zone = round((time - stamp) / _QUARTER) * _QUARTER
        return stamp + zone if timedelta(0) <= stamp + zone - time < timedelta(seconds=1) else time

    def _raw(self, seen: _Seen) -> str:
        first = bisect_right(self.starts, seen.begin) - 1
        after = max(bisect_left(self.starts, seen.end), first + 1)
        return b"\n".join([line.raw for line in self.lines[first:after]]).decode("utf-8", "replace").strip(_NOISE_TEXT)[:MAX_TEXT]

    def _noise_byte(self, data: bytes, at: int) -> int:
        return self._at(at).byte


class _File(_Reading):
    """The walk through one file: through its lines as they are, and from where they are wrapped on through what they hold."""

    def __init__(self, member: Member, kind: str, layouts: Sequence[Layout] = (), *, irrelevant: bool = False) -> None:
        super().__init__(member, member.path, kind, layouts, irrelevant=irrelevant)
        self.pending = b""  # what follows the chunk
        self.cut_short = False
        self.unwrapper = Unwrapper(layouts)
        self.own = _Inner(member, member.path, kind, layouts)  # unwrapped lines that name no writer
        self.writers: dict[str, _Inner] = {}
        self.host = ""
        self.crowd = 0  # lines of writers beyond MAX_WRITERS

    def rows(self, stream: BinaryIO) -> Iterator[Row]:
        self.pending = self._block(stream, b"")
        if self.pending.startswith(UTF16):
            stream = cast(BinaryIO, Decoded(stream, self.pending))
            self.pending = self._block(stream, b"")
        if self.unwrapper.prepare(self.pending[:_IDENTITY_BYTES]):
            yield from self._unwrapped(self.pending, stream)
        else:
            yield from self._plain(stream)
        yield from self.end()

    def _plain(self, stream: BinaryIO) -> Iterator[Row]:
        self._learn(self.pending[:_IDENTITY_BYTES])
        for data in self._chunks(stream):
            begin = self.offset
            yield from self.chunk(data)
            if self.wrapped_at >= 0:
                yield from self._unwrapped(data[self.wrapped_at :] + self.pending, stream)
                return
            if self.cut_short:
                text = f"a line longer than {CHUNK} bytes; the rest of it was not read"
                yield {**problem("long-line", text, line=self.line, byte=begin), "source": self.source}
                self.cut_short = False

    def chunk(self, data: bytes) -> Iterator[Row]:
        begin = self._wrapped_from(data)
        yield from super().chunk(data[:begin])
        if self.wrapped_at < 0 and begin < len(data):
            self.wrapped_at = begin

    def _wrapped_from(self, data: bytes) -> int:
        """Where the first line begins that is plainly a wrapped one; the end where none is."""
        found = [at + 1 for mark in _WRAPPED_FROM if (at := data.find(mark)) >= 0]
        return min((at for at in found if self._wraps(data[at : self._line_end(data, at)])), default=len(data))

    def _wraps(self, line: bytes) -> bool:
        return self.unwrapper.wraps(line)

    def _unwrapped(self, data: bytes, stream: BinaryIO) -> Iterator[Row]:
        """Events of what follows `offset`: `data` and the rest of the stream."""
        outer = Outer(stream, data, self.line, self.offset)
        for line in self.unwrapper.lines(outer):
            yield from self._reading_of(line).add(line, WRAPPED // max(4, len(self.writers)))
        for reading in (self.own, *self.writers.values()):
            yield from reading.flush(last=True)
        for reading in self.writers.values():
            yield from reading.end()
        if outer.cut:
            yield {
                **problem("long-line", f"{outer.cut} lines longer than {MAX_LINE} bytes; the rest of each was not read"),
                "source": self.source,
            }
        if self.crowd:
            text = f"{self.crowd} lines of more than {MAX_WRITERS} writers were not told apart"
            yield {**problem("many-writers", text), "source": self.source}
        self.problem = self.problem or outer.problem
        self.line, self.offset, self.unended = outer.line, outer.byte, outer.unended
        self._take_over(self.own)

    def _reading_of(self, line: Line) -> _Inner:
        """The walk a line belongs to. The first host is the file's own, for most journals are of one."""
        self.host = self.host or line.host
        writer = line.writer or (line.host if line.host != self.host else "")
        if not writer:
            return self.own
        found = self.writers.get(writer)
        if found is None:
            if len(self.writers) == MAX_WRITERS:
                self.crowd += 1
                return self.own
            source = f"{self.source}#{writer}"
            found = _Inner(self.member, source, log_kind(writer) or self.kind, self.given)
            self.writers[writer] = found
        return found

    def _take_over(self, own: _Inner) -> None:
        """What was unwrapped and names no writer is this file's."""
        self.layouts = self.layouts or own.layouts
        self.shown = self.shown or (own.shown if own.hits or not self.writers else [])
        self.hits += own.hits
        self.undated += own.undated
        self.noise += own.noise
        self.noise_at = own.noise_at if self.noise_at is None else self.noise_at
        self.unrecognised += own.unrecognised
        self.samples = (self.samples + own.samples)[:MAX_SAMPLES]
        self.nodes.update(own.nodes)
        if own.utc is not None and self.utc in (None, own.utc):
            self.utc, self.first, self.last = own.utc, self.first or own.first, own.last

    def collected(self) -> Row:
        of_writers = sum(reading.count for reading in self.writers.values())
        told = self.own.collected()["wall_minus_utc_ms"]
        return {**super().collected(), "lines": max(0, self.line - 1 + self.unended - of_writers), "wall_minus_utc_ms": told}

    def _chunks(self, stream: BinaryIO) -> Iterator[bytes]:
        """Pieces of whole lines, where possible of whole records; a line longer than CHUNK comes as its first CHUNK bytes."""
        while block := self._block(stream, self.pending):
            self.pending = b""
            if len(block) < CHUNK:
                yield block
                return
            cut = self._cut(block)
            zeros = not cut and not block[:CHUNK].strip(b"\0")  # of a crashed file system: a record may follow in the same line
            self.pending = block[cut or CHUNK :]
            self.cut_short = not cut and not zeros
            yield block[: cut or CHUNK]
            if not cut and not zeros:
                self.pending = self._skip_line(stream, self.pending)

    def _block(self, stream: BinaryIO, pending: bytes) -> bytes:
        """What is pending and as much more as makes a chunk; less only at the end. Decompressors give small pieces."""
        pieces, size = [pending], len(pending)
        while size < CHUNK and (piece := self._read_more(stream, CHUNK)):
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)

    def _read_more(self, stream: BinaryIO, size: int) -> bytes:
        if self.problem:
            return b""
        try:
            return stream.read(size)
        except Exception as error:  # whatever the container's decompressor raises on damaged data
            self.problem = f"reading stopped: {type(error).__name__}: {error}"
            return b""

    def _skip_line(self, stream: BinaryIO, pending: bytes) -> bytes:
        """Drops the rest of a line that is too long, newline included."""
        while (end := pending.find(b"\n")) < 0:
            self.offset += len(pending)
            pending = self._read_more(stream, CHUNK)
            if not pending:
                return b""
        self.offset += end + 1
        self.line += 1
        self.unended = False
        return pending[end + 1 :]
