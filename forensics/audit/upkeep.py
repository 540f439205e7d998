"""What an audit has, looked after: names after a change of the arguments, what is to be forgotten, damaged files, and small kept files put
together.

Here: the checks and changes of the rows of FILES, and of kept files. Not here: when they happen and the commit (archive).
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics.audit.dated import digest
from forensics.audit.kept import conform, written
from forensics.audit.layout import DAY_IN_PATH, PathLayout
from forensics.case.files import document, parquet
from forensics.model.times import grouped
from forensics.output.files import whole_file
from parsers.containers.names import join
from parsers.containers.units import prefixes
from parsers.records import RECORDS
from parsers.schemas import EVENTS, Row

MANY = 16
"""Kept files of a cluster that are put together into one."""
SMALL = 50_000
"""Rows of a kept file that is put together with others."""
SCHEMAS = {"events": EVENTS, "records": RECORDS}


@dataclass(frozen=True)
class Forgotten:
    """Files whose content is not used any more, and which are not read again."""

    paths: Sequence[str] = ()
    """Files and directories of the archive, named as in FILES."""
    before: str | None = None
    """A day, as 2026-03-02: files of earlier days."""

    def and_also(self, other: Forgotten) -> Forgotten:
        return Forgotten(sorted({*self.paths, *other.paths}), max(filter(None, (self.before, other.before)), default=None))

    def covers(self, path: str, changed: int | None, layout: PathLayout) -> bool:
        """Whether a file belongs to it. `changed`: modification time in ns since 1970. The day is the one in the path, or else that of the
        modification time."""
        if any(path == own or path.startswith(f"{own}/") for own in self.paths):
            return True
        return self.before is not None and (day := _day(path, changed, layout)) is not None and day < self.before


def _day(path: str, changed: int | None, layout: PathLayout) -> str | None:
    named = re.search(DAY_IN_PATH, layout.read(path).name)
    if named is not None:
        return "-".join(named.groups())
    return datetime.fromtimestamp(changed / 1e9, timezone.utc).date().isoformat() if changed is not None else None


def changed_of(row: Row) -> int | None:
    """The modification time in a row of FILES."""
    stated = str(row["stamp"]).split(" ")[0].rpartition(".")[2]
    return int(stated) if stated.isdigit() else None


def in_archive(path: str, archive: Sequence[str]) -> str:
    """A file or directory named as in FILES. `path`: the same, or with the argument of the command that contains it."""
    for argument, prefix in prefixes(archive).items():
        inside = argument.rstrip("/") + "/"
        if path.rstrip("/") == argument.rstrip("/"):
            return prefix
        if path.startswith(inside):
            return join(prefix, path[len(inside) :].strip("/"))
    return path.strip("/")


def renamed(known: Mapping[str, Row], before: Sequence[str], now: Sequence[str]) -> dict[str, Row]:
    """The rows of FILES by the names that they have with other arguments of the command: an argument more gives all files a prefix."""
    old, new = prefixes(before), prefixes(now)
    changes = [(old[path], new[path]) for path in old if path in new and old[path] != new[path]]
    return {row["path"]: row for row in (_renamed(row, changes) for row in known.values())}


def _renamed(row: Row, changes: Iterable[tuple[str, str]]) -> Row:
    for old, new in changes:
        if old in ("", row["path"]) or row["path"].startswith(f"{old}/"):
            sources = [{**s, "path": _moved(s["path"], old, new), "kept_as": s["kept_as"] or s["path"]} for s in row["sources"]]
            return {**row, "path": _moved(row["path"], old, new), "sources": sources}
    return row


def _moved(path: str, old: str, new: str) -> str:
    return join(new, path[len(old) :].lstrip("/"))


# damage


RACY_NS = 2 * 10**9
"""A file modified so shortly before it was examined may be modified again without a change of its modification time."""


class Checked:
    """The files of an audit that had the right content when they were last examined, by size and modification time. A file is examined
    once, and again only if one of these changed. `name`: the file that keeps it, relative to the directory; if it is missing or damaged,
    all files are examined."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory, self._file = directory, directory / name
        try:
            self._before = document(directory, name)
        except (OSError, ValueError):
            self._before = {}
        self._now: dict[str, list[int]] = {}

    def has(self, path: Path, good: Callable[[Path], bool]) -> bool:
        """Whether the file is there and good."""
        name = str(path.relative_to(self._directory))
        try:
            status = path.stat()
        except OSError:
            return False
        stamp = [status.st_size, status.st_mtime_ns]
        if self._before.get(name) != stamp:
            if not good(path):
                return False
            if time.time_ns() - status.st_mtime_ns < RACY_NS:
                return True
        self._now[name] = stamp
        return True

    def write(self) -> None:
        """Keeps what was examined in this run. Raises OSError."""
        if self._now != self._before:
            with whole_file(self._file) as file:
                file.write(json.dumps(self._now, sort_keys=True).encode())


def is_entry(path: Path) -> bool:
    """Whether the file with the results of a cluster has the content that it is named after."""
    try:
        document(path.parent, path.name)
        return path.stem.endswith(digest(path)[:16])
    except (OSError, ValueError):
        return False


# compaction


def compact(sources: Iterable[Row], directory: Path) -> int:
    """Puts small kept files of these sources together, and changes the rows of the sources accordingly. Returns the number of files that
    are not needed any more. `sources`: all sources of some clusters; files that other clusters use as well are left alone."""
    given = list(sources)
    return sum(_compact(given, column, schema, directory) for column, schema in SCHEMAS.items())


def _compact(sources: Sequence[Row], column: str, schema: pa.Schema, directory: Path) -> int:
    users = grouped((part["file"], (s, part)) for s in sources for part in s[column])
    small = sorted(file for file, parts in users.items() if sum(part["rows"] for _, part in parts) <= SMALL)
    if len(small) < MANY:
        return 0

    def batches() -> Iterator[pa.RecordBatch]:
        for file in small:
            paths = pa.array([s["kept_as"] or s["path"] for s, _ in users[file]], pa.string())
            with parquet(directory, file) as read:
                for batch in read.iter_batches(batch_size=4096):
                    mine = batch.filter(pc.is_in(batch["source"], value_set=paths))
                    if mine.num_rows:
                        yield conform(mine, schema)

    contents = written(batches(), schema, lambda _: "", directory)
    if not contents:
        return 0
    (new,) = {row["file"] for row in contents}
    rows = {row["source"]: row["rows"] for row in contents}
    gone = set(small)
    for s in {id(s): s for file in small for s, _ in users[file]}.values():
        s[column] = [part for part in s[column] if part["file"] not in gone]
        s[column].append({"file": new, "rows": rows[s["kept_as"] or s["path"]]})
    return len(small) - 1


def unlike(made: Mapping[str, Any], wanted: Mapping[str, Any], names: Iterable[str]) -> bool:
    """Whether one of these settings of an audit differs."""
    return any(made.get(name) != wanted.get(name) for name in names)
