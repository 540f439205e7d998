"""Rewritten text files other than logs: what their readers take from them.

Here: one way for each kind of text. Not here: logs (logs), the replacements of names and the rules of free text (names).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from io import StringIO
from typing import BinaryIO

import regex

from forensics.tools.redaction.in_place import marked
from forensics.tools.redaction.logs import MAX_LINE, RewrittenRecord, Unsafe, lines_of, log
from forensics.tools.redaction.names import SHORT, KeptWords, Names
from forensics.tools.redaction.reading import Taken
from forensics.tools.redaction.vocabulary import OF_GC, of_code, of_paths, of_settings, of_tools, words
from parsers.evidence import LOG_KINDS
from parsers.formats import gc, load_metrics
from parsers.formats.checkpoints import EVENTS_OF_KIND as CHECKPOINT_KINDS
from parsers.formats.checkpoints import integer
from parsers.formats.properties import settings
from parsers.learning.sample import HEAD
from parsers.lines import is_utf16
from parsers.masking import masked
from parsers.schemas import INT32, INT64

_DATE = re.compile(r"#[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d? \d\d:\d\d:\d\d [A-Z]{1,5} 20\d\d\s*", re.ASCII)
_CLEAN_SHUTDOWN = re.compile(r'\s*\{\s*"version"\s*:\s*\d{1,4}\s*,\s*"brokerEpoch"\s*:\s*-?\d{1,19}\s*\}\s*', re.ASCII)
_ASSIGNED = re.compile(r"(?<![\w.-])([\w.-]+)=([^,\s\"'{}()\[\]]+)")
_ZNODE_TIME = re.compile(r"[cm]time = [A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d (?:UTC|GMT) 20\d\d\s*", re.ASCII)
_JSON_ESCAPE = regex.compile(r"(?<!\\)(?:\\\\)*\K\\(?:u([0-9a-fA-F]{4})|[^\\u])")
_SIZE = re.compile(r"(?<![\w.])\d+([BKMG])(?![A-Za-z])", re.ASCII)
_COLUMNS_OF_LOAD = frozenset((*load_metrics.BROKER_COLUMNS, *load_metrics.TIME_COLUMNS))
_HEADER = 2
"""Lines of a checkpoint before its entries: a version, and the number of entries."""
_SMALL = 6
"""Digits of such a number."""


def checkpoint(stream: BinaryIO, names: Names, fields: int) -> Iterator[str]:
    """A version, a number of entries, and entries that end with two numbers, before which there may be a topic."""
    for number, line in enumerate(lines_of(stream)):
        cells = line.split()
        numbers = all(integer(cell, INT64) is not None for cell in cells[-2:])
        if len(cells) == fields and numbers:
            yield " ".join((*(names.add("topic", topic) for topic in cells[:-2]), *cells[-2:])) + "\n"
        else:
            header = number < _HEADER and len(cells) == 1 and len(cells[0]) <= _SMALL and integer(cells[0], INT32) is not None
            yield names.text(line, KeptWords(values=frozenset(cells if header else ())))


def clean_shutdown(stream: BinaryIO, names: Names) -> Iterator[str]:
    """The epoch of the broker (CleanShutdownFileHandler)."""
    return (line if _CLEAN_SHUTDOWN.fullmatch(line) is not None else names.text(line, KeptWords()) for line in lines_of(stream))


def properties(stream: BinaryIO, names: Names) -> Iterator[str]:
    """Settings without secrets and without comments, except for the date that Java writes."""
    date = stream.readline(MAX_LINE)
    while date.startswith(b"#") and not _DATE.fullmatch(date.decode("latin-1")):
        date = stream.readline(MAX_LINE)
    if _DATE.fullmatch(date.decode("latin-1")):
        yield date.decode("latin-1")
    stream.seek(0)
    for setting in settings(stream):
        if not isinstance(setting, dict):
            _, _, key, value = setting
            shown = names.text(key, KeptWords(of_settings())), names.setting(key, value)
            yield f"{'='.join(text.replace(chr(92), chr(92) * 2).replace(chr(10), '').replace(chr(13), '') for text in shown)}\n"


def plain(stream: BinaryIO, names: Names, read: Taken) -> Iterator[str]:
    """Output of tools, and files of JSON: words of these, and numbers that a reader took from any line."""
    head = stream.read(HEAD)
    stream.seek(0)
    if is_utf16(head):
        raise Unsafe("text in UTF-16")
    values = set[str]().union(names.seen.nodes, names.seen.ports, *(own.values for own in read.values()))
    kept = KeptWords(of_tools() | of_code() | of_settings() | of_paths(), values)
    for line in lines_of(stream):
        line = _JSON_ESCAPE.sub(_unescaped, line) if '"' in line else line
        line = _ASSIGNED.sub(lambda found: f"{found[1]}={masked(found[1], found[2])}", line)
        yield line if _ZNODE_TIME.fullmatch(line) is not None else names.text(names.without_hexadecimal(line), kept)


def _unescaped(escape: regex.Match[str]) -> str:
    """The character of a JSON escape, if it needs none."""
    character = chr(int(escape[1], 16)) if escape[1] else ""
    return character if character.isalnum() or (character and character in "._-@: ") else "_"


def of_gc(stream: BinaryIO, names: Names) -> Iterator[str]:
    """The times and pauses of a log of garbage collections."""
    kept = KeptWords(words(OF_GC) | {"0B", "0K", "0M", "0G"})
    for line in lines_of(stream):
        body = _SIZE.sub(r"0\1", line.rstrip("\r\n"))
        record = RewrittenRecord([body], names, kept)
        for expression in gc.TAKEN:
            for found in marked(expression).finditer(body):
                record.fix(found, [(0, len(body))])
        yield f"{next(record.lines())}\n"


def of_load(stream: BinaryIO, names: Names) -> Iterator[str]:
    """Ids of brokers, times and numbers of a table of metrics."""
    mark, columns = None, []
    for line in lines_of(stream):
        if mark is None and line.strip():
            mark = load_metrics.delimiter(line.removeprefix("\ufeff"))
            if mark is None:
                raise Unsafe("a table without brokers")
            columns = load_metrics.columns(line, mark)
            yield mark.join(c if c in _COLUMNS_OF_LOAD or not c else names.add("word", c) for c in columns) + "\n"
        elif mark is not None:
            try:
                cells = next(csv.reader(StringIO(line), delimiter=mark), [])
            except csv.Error:
                cells = ["?"]
            yield mark.join(_cell(cell.strip(), column, mark) for cell, column in zip(cells, columns, strict=False)) + "\n"


def _cell(cell: str, column: str, mark: str) -> str:
    if column in load_metrics.BROKER_COLUMNS:
        return cell if integer(cell, INT32) is not None else SHORT
    if column in load_metrics.TIME_COLUMNS:
        time = load_metrics.time_of(cell)
        return f"{time.isoformat()}Z" if time is not None else SHORT if cell else ""
    return (load_metrics.number(cell, mark) or SHORT) if cell else ""


PLAIN = frozenset(
    {
        "partition-metadata",
        "quorum-state",
        "describe",
        "reassignment-json",
        "election-json",
        "znode",
        "reassignment-output",
        "election-output",
        "log-dirs",
        "metadata-quorum",
        "config-output",
        "offsets-output",
        "groups-output",
        "features-output",
        "cluster-id",
    }
)
NUMERIC_KINDS = frozenset({"load-metrics", "gc-log", "epoch-checkpoint", *CHECKPOINT_KINDS, "clean-shutdown"})
"""Files that hold hardly anything but numbers."""
PROPERTIES = frozenset({"meta-properties", "server-properties"})
_WAYS: Mapping[str, Callable[[BinaryIO, Names], Iterator[str]]] = {
    **dict.fromkeys(PROPERTIES, properties),
    **dict.fromkeys(CHECKPOINT_KINDS, partial(checkpoint, fields=3)),
    "epoch-checkpoint": partial(checkpoint, fields=2),
    "load-metrics": of_load,
    "gc-log": of_gc,
    "clean-shutdown": clean_shutdown,
}


def rewritten(stream: BinaryIO, kind: str, names: Names, read: Taken) -> Iterator[str] | None:
    """A rewritten file; None if its kind is not a known kind of text. `read`: what its reader took."""
    if kind in LOG_KINDS:
        return log(stream, names, read, kind)
    if kind in PLAIN:
        return plain(stream, names, read)
    way = _WAYS.get(kind)
    return way(stream, names) if way is not None else None
