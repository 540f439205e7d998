"""Who wrote each line of a log that several brokers of one host write to.

Here: the brokers a log names as its writers, and for lines that name none the directory they name, the start they belong to, or the line
before them. Not here: whose a file is that one broker wrote (identity), or lines a wrapper names the writer of (parsers.wrappers).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

_DRIVE = re.compile(r"^[A-Za-z]:(?=/)")
_STARTS = frozenset({"broker-starting", "controller-starting"})
LOG_DIRECTORIES = ("log.dirs", "log.dir")


@dataclass(frozen=True, slots=True)
class Start:
    """Lines [begin, end) of a file that a starting process printed before it knew its id."""

    begin: int
    end: int
    node: int


@dataclass(frozen=True)
class SharedLogs:
    """What it takes to tell the writers apart; small, and sent to every task."""

    starts: Mapping[str, tuple[Start, ...]] = field(default_factory=dict)
    """By source, of the logs that several brokers write to."""
    directories: Mapping[str, int] = field(default_factory=dict)
    """Whose each log directory is."""

    def writers(self, batch: pa.RecordBatch, source: str) -> pa.Array:
        """Node by row of `batch`, for the rows of one source; null where nothing tells."""
        line = batch.column("line")
        starting = pa.nulls(batch.num_rows, pa.int32())
        for start in self.starts[source]:
            within = pc.and_(pc.greater_equal(line, start.begin), pc.less(line, start.end))
            starting = pc.if_else(pc.fill_null(within, False), pa.scalar(start.node, pa.int32()), starting)
        named = pc.unique(batch.column("directory")).to_pylist()
        owners = pa.array([self.owner(d) for d in named], pa.int32())
        of_directory = pc.take(owners, pc.index_in(batch.column("directory"), value_set=pa.array(named, pa.string())))
        return pc.coalesce(batch.column("node"), of_directory, starting, batch.column("near"))

    def owner(self, directory: str | None) -> int | None:
        """The node whose log directory this is, or one in it."""
        if directory is None:
            return None
        path = plain(directory)
        return self.directories.get(path, self.directories.get(path.rpartition("/")[0]))


def plain(directory: str) -> str:
    """A directory as both a broker's settings and its lines name it, on Windows, too."""
    return _DRIVE.sub("", directory.strip().replace("\\", "/")).rstrip("/")


def shared_logs(rows: Sequence[Mapping[str, object]], nodes: Mapping[str, Sequence[int]]) -> SharedLogs:
    """From rows of EVENTS of no partition, in file order, and the nodes that each log's lines name as their writers."""
    shared = {source for source, own in nodes.items() if len(own) > 1}
    told = _directories(rows)
    return SharedLogs({source: tuple(_starts([r for r in rows if r["source"] == source])) for source in sorted(shared)}, told)


def _directories(rows: Iterable[Mapping[str, object]]) -> dict[str, int]:
    """Log directories of one node each, by the brokers' settings."""
    owners: dict[str, set[int]] = {}
    for r in rows:
        if r["event"] == "config" and r["key"] in LOG_DIRECTORIES and isinstance(r["node"], int) and isinstance(r["value"], str):
            for directory in r["value"].split(","):
                if plain(directory):
                    owners.setdefault(plain(directory), set()).add(r["node"])
    return {directory: next(iter(own)) for directory, own in sorted(owners.items()) if len(own) == 1}


def _starts(rows: Iterable[Mapping[str, object]]) -> Iterable[Start]:
    """A start, and the first line after it that names a node: its settings are the first to."""
    begin: int | None = None
    for r in sorted((r for r in rows if isinstance(r["line"], int)), key=lambda r: (r["line"], r["byte"] or 0)):
        line, node = r["line"], r["node"]
        assert isinstance(line, int)
        if r["event"] in _STARTS and node is None:
            begin = line if begin is None else begin
        elif begin is not None and isinstance(node, int) and r["event"] == "config":
            yield Start(begin, line, node)
            begin = None
