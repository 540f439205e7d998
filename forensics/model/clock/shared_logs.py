"""The writer of each line in a log that several brokers of one host write to.

Here: the brokers that a log names as its writers; for lines without a name, the directory they name or the start they belong to; and which
brokers share a host, by their logs. Other lines have no writer: the line before them may be of any broker. Not here: the owner of a file
that one broker wrote (identity), or lines with a writer from a wrapper (parsers.wrappers).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.settings.settings import LOG_DIRECTORIES, plain_directory
from forensics.model.times import grouped
from forensics.thresholds import SETTINGS_PRINTED
from parsers.kinds import Role, of
from parsers.paths import unpacked

_STARTS = of(role=Role.BEGINS)
_ENDS = of(role=Role.ENDS)
_ROLLED = re.compile(r"(?P<name>.*?)(?:\.(?:(?P<date>\d{4}-\d\d(?:-\d\d){0,3})|\d{1,3}))?")
"""The names log4j gives to rolled files: with a date, or (as other tools name copies) with a number."""


def rolled_from(path: str) -> str:
    """The path of the log that a rolled file, which may be packed, is a part of; the path itself for other files."""
    found = _ROLLED.fullmatch(unpacked(path))
    return found["name"] if found is not None else path


@dataclass(frozen=True, slots=True)
class StartLines:
    """Lines [begin, end) of a file that a starting process printed before it knew its id."""

    begin: int
    end: int
    node: int


@dataclass(frozen=True, slots=True)
class Turn:
    """From this line of a log on, its lines about the directory are the node's."""

    line: int
    directory: str
    node: int


@dataclass(frozen=True)
class SharedLogs:
    """The data needed to assign lines to writers; small, and sent to every task."""

    starts: Mapping[str, tuple[StartLines, ...]] = field(default_factory=dict)
    """By source, for the logs that several brokers write to."""
    directories: Mapping[str, int] = field(default_factory=dict)
    """Owner of each log directory that only one broker was started with."""
    turns: Mapping[str, tuple[Turn, ...]] = field(default_factory=dict)
    """By source, the starts with a directory that several brokers were started with, one after the other."""

    def writers(self, batch: pa.RecordBatch, source: str) -> pa.Array:
        """Node by row of `batch`, for the rows of one source; null if unknown."""
        line = batch.column("line")
        starting = pa.nulls(batch.num_rows, pa.int32())
        for start in self.starts[source]:
            within = pc.and_(pc.greater_equal(line, start.begin), pc.less(line, start.end))
            starting = pc.if_else(pc.fill_null(within, False), pa.scalar(start.node, pa.int32()), starting)
        named = pc.unique(batch.column("directory")).to_pylist()
        owners = pa.array([self.owner(d) for d in named], pa.int32())
        of_directory = pc.take(owners, pc.index_in(batch.column("directory"), value_set=pa.array(named, pa.string())))
        for turn in self.turns.get(source, ()):
            within = pa.array([d is not None and turn.directory in _paths(d) for d in named], pa.bool_())
            own = pc.and_(
                pc.take(within, pc.index_in(batch.column("directory"), value_set=pa.array(named, pa.string()))),
                pc.greater_equal(line, turn.line),
            )
            of_directory = pc.if_else(pc.fill_null(own, False), pa.scalar(turn.node, pa.int32()), of_directory)
        return pc.coalesce(batch.column("node"), of_directory, starting)

    def owner(self, directory: str | None) -> int | None:
        """The node whose log directory this is, or contains this directory."""
        return next((self.directories[path] for path in _paths(directory) if path in self.directories), None)


def _paths(directory: str | None) -> tuple[str, ...]:
    """A directory and the one above it, as settings name them."""
    path = plain_directory(directory) if directory is not None else None
    return (path, path.rpartition("/")[0]) if path is not None else ()


@dataclass(frozen=True, slots=True)
class RolledLog:
    """The files of one log, and the brokers that write to it."""

    name: str
    files: tuple[str, ...]
    writers: tuple[int, ...]


def rolled_logs(nodes: Mapping[str, Sequence[int]]) -> Iterator[RolledLog]:
    """The logs of which these are files. `nodes`: the writers that each file names."""
    named = ((path, _ROLLED.fullmatch(unpacked(path))) for path in nodes)
    rolled = grouped((m["name"], (path, m["date"] is not None or m["name"] == path)) for path, m in named if m is not None)
    for name, files in rolled.items():
        several = any(len(nodes[path]) > 1 for path, _ in files)
        own = tuple(path for path, certain in files if several or certain)
        yield RolledLog(name, own, tuple(sorted({n for path in own for n in nodes[path]})))


def hosts(nodes: Mapping[str, Sequence[int]]) -> dict[int, int]:
    """Brokers that share a host, mapped to one broker per host: their lines are in one file, or in files that log4j rolls in one
    directory. `nodes`: the writers that each log names."""
    standing: dict[int, int] = {}
    for log in rolled_logs(nodes):
        roots = {_root(standing, n) for n in log.writers}
        standing.update(dict.fromkeys(roots, min(roots, default=0)))
    least = {n: _root(standing, n) for n in standing}
    return {n: root for n, root in least.items() if Counter(least.values())[root] > 1}


def _root(standing: Mapping[int, int], node: int) -> int:
    while (above := standing.get(node, node)) != node:
        node = above
    return node


Row = Mapping[str, object]


def shared_logs(rows: Sequence[Row], nodes: Mapping[str, Sequence[int]], owners: Mapping[str, int | None] | None = None) -> SharedLogs:
    """Shared logs from the rows of EVENTS without a partition, in file order, and the nodes that each log's lines name as writers.
    `owners`: owners of the logs that one broker writes."""
    shared = {source for source, own in nodes.items() if len(own) > 1}
    copies = _copies(rows, {source: node for source, node in (owners or {}).items() if source not in shared and node is not None})
    used = list(_directories(rows))
    owners_of: dict[str, set[int]] = defaultdict(set)
    for _, turn in used:
        owners_of[turn.directory].add(turn.node)
    starts, turns = {}, {}
    for source in sorted(shared):
        own = [r for r in rows if r["source"] == source]
        starts[source] = (*_starts(own), *_copied(own, copies))
        changing = (turn for path, turn in used if path == source and len(owners_of[turn.directory]) > 1)
        turns[source] = tuple(sorted(changing, key=lambda turn: turn.line))
    lone = {directory: next(iter(nodes)) for directory, nodes in sorted(owners_of.items()) if len(nodes) == 1}
    return SharedLogs(starts, lone, turns)


def _directories(rows: Iterable[Row]) -> Iterable[tuple[str, Turn]]:
    """The log directories that the settings of brokers name, each with its source."""
    for r in rows:
        if r["event"] == "config" and r["key"] in LOG_DIRECTORIES and isinstance(r["node"], int) and isinstance(r["value"], str):
            line = r["line"] if isinstance(r["line"], int) else 0
            for directory in filter(None, map(plain_directory, r["value"].split(","))):
                yield str(r["source"]), Turn(line, directory, r["node"])


_Said = tuple[datetime, str]
"""Time and text of a line."""


def _said(r: Row) -> _Said | None:
    time, text = r["time"], r["text"]
    return (time, text) if isinstance(time, datetime) and isinstance(text, str) and r["node"] is None else None


def _copies(rows: Iterable[Row], owners: Mapping[str, int]) -> dict[_Said, int]:
    """Lines without a name that exactly one broker's own log contains: its console prints the same lines as its appender."""
    found: dict[_Said, set[int]] = defaultdict(set)
    for r in rows:
        if r["source"] in owners and (said := _said(r)) is not None:
            found[said].add(owners[str(r["source"])])
    return {said: next(iter(own)) for said, own in found.items() if len(own) == 1}


def _copied(rows: Iterable[Row], copies: Mapping[_Said, int]) -> Iterable[StartLines]:
    for r in rows:
        line, said = r["line"], _said(r)
        if isinstance(line, int) and said is not None and said in copies:
            yield StartLines(line, line + 1, copies[said])


@dataclass(slots=True)
class _Begun:
    """Started processes and their ids as far as known: each prints its settings and that it has started."""

    waiting: list[tuple[int, datetime | None]] = field(default_factory=list)
    """First lines of processes with no id yet."""
    named: dict[int, datetime | None] = field(default_factory=dict)
    """Starting processes with an id, and when the id was printed."""
    ahead: dict[int, datetime | None] = field(default_factory=dict)
    """Processes whose settings came before their first line, as until 1.0, with the time."""

    def starts(self, line: int, at: datetime | None) -> Iterable[StartLines]:
        self.ahead = {n: since for n, since in self.ahead.items() if _together(since, at)}
        self.waiting = [start for start in self.waiting if _together(start[1], at)]
        if self.ahead and not self.waiting:
            node = next(iter(self.ahead))
            yield StartLines(line, line + 1, node)
            del self.ahead[node]
            self.named[node] = at
        else:
            self.waiting.append((line, at))

    def settings(self, node: int, line: int, at: datetime | None) -> Iterable[StartLines]:
        if node in self.named and _together(self.named[node], at):
            return  # the broker prints them again after it has read meta.properties
        if self.waiting:
            yield self._next(node, line)
            self.named[node] = at
        else:
            self.ahead.setdefault(node, at)

    def started(self, node: int, line: int) -> Iterable[StartLines]:
        if node not in self.named and self.waiting:
            yield self._next(node, line)
        self.ended(node)

    def ended(self, node: int) -> None:
        """The node's start is over: settings that it prints later are of another process."""
        self.named.pop(node, None)
        self.ahead.pop(node, None)

    def _next(self, node: int, line: int) -> StartLines:
        """Assigns the node to the first waiting process. If that is the only one, all lines in between are its own."""
        alone = len(self.waiting) == 1 and not self.named
        begin, _ = self.waiting.pop(0)
        return StartLines(begin, line if alone else begin + 1, node)


def _together(one: datetime | None, other: datetime | None) -> bool:
    return one is None or other is None or abs(other - one) <= SETTINGS_PRINTED


def _starts(rows: Iterable[Row]) -> Iterable[StartLines]:
    """Starts, each with the broker that next prints its id as a starting process does; several at a time are matched in their order."""
    begun = _Begun()
    for r in sorted((r for r in rows if isinstance(r["line"], int)), key=lambda r: (r["line"], r["byte"] or 0)):
        line, node, at = r["line"], r["node"], r["time"]
        assert isinstance(line, int)
        assert at is None or isinstance(at, datetime)
        if r["event"] in _STARTS and node is None:
            yield from begun.starts(line, at)
        elif r["key"] == "broker.id" and isinstance(node, int):
            yield from begun.settings(node, line, at)
        elif r["event"] == "broker-started" and isinstance(node, int):
            yield from begun.started(node, line)
        elif r["event"] in _ENDS and isinstance(node, int):
            begun.ended(node)
