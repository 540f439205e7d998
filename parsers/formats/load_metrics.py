"""Broker load measured by the user: a CSV with a header, a column that names the broker, and any numeric columns.

Here: `broker,cpu,network_in,…`, with ',', ';' or tabs between, and an optional column of times. Not here: the balance of a cluster
(forensics).
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from typing import BinaryIO

from parsers.formats.checkpoints import integer
from parsers.formats.file_kind import AFTER_LOGS, FileKind, Head
from parsers.formats.problems import limited
from parsers.lines import lines
from parsers.schemas import INT32, MAX_TEXT, Member, Row, problem

BROKER_COLUMNS = ("broker", "broker_id", "broker id", "broker.id", "brokerid", "node", "node_id", "node id", "node.id", "nodeid")
TIME_COLUMNS = ("time", "timestamp", "date", "datetime", "at")
MAX_COLUMNS = 200

_NUMBER = re.compile(r"[+-]?\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,3})?")
_EPOCH = datetime(1970, 1, 1)
_MILLISECONDS_FROM = 10**11
"""Larger numbers are milliseconds since 1970: as seconds they would lie beyond the year 5000."""


def delimiter(header: str) -> str | None:
    """The separator of a header that has a broker column; None if there is none."""
    for mark in (",", ";", "\t"):
        if mark in header and any(name in BROKER_COLUMNS for name in columns(header, mark)):
            return mark
    return None


def read(stream: BinaryIO, member: Member) -> Iterator[Row]:
    """A 'load-metric' per cell with a number: broker, metric in key, number in value; at the row's time, else the file's (UTC).

    Empty cells give no event. Problems: 'load-metrics-unknown' for a layout without a broker column, 'load-metrics-malformed' for a row or
    cell that cannot be read.
    """
    yield from limited(_rows(stream, member), member, "cells that are not numbers", "load-metrics-malformed")


def _rows(stream: BinaryIO, member: Member) -> Iterator[Row]:
    mark, names = None, []
    for line, at, raw in lines(stream):
        text = raw.decode("utf-8", "replace").removeprefix("\ufeff")
        if not text.strip():
            continue
        if mark is not None:
            yield from ({**row, "line": line, "byte": at} for row in _cells(text, mark, names, member))
        else:
            mark = delimiter(text)
            if mark is None:
                message = f"{member.path}: no header with a column that names the broker, as in 'broker,cpu,network_in'"
                yield problem("load-metrics-unknown", message, line=line, byte=at)
                return
            names = columns(text, mark)[:MAX_COLUMNS]
    if mark is None:
        yield problem("load-metrics-unknown", f"{member.path}: no header", line=1, byte=0)


def columns(header: str, mark: str) -> list[str]:
    """The names in a header, in lower case."""
    return [name.strip().strip('"').lower() for name in header.removeprefix("\ufeff").rstrip("\r\n").split(mark)]


def _cells(text: str, mark: str, names: list[str], member: Member) -> Iterator[Row]:
    try:
        cells = [cell.strip() for cell in next(csv.reader(io.StringIO(text), delimiter=mark))]
    except (csv.Error, StopIteration):
        yield _malformed(member, f"not a row of a CSV: {text[:200]}")
        return
    by_name = dict(zip(names, cells, strict=False))
    named = _first_of(by_name, BROKER_COLUMNS) or ""
    broker = integer(named, INT32)
    if broker is None:
        yield _malformed(member, f"{named[:50]!r} is not a broker id: {text[:200]}")
        return
    stamp = _first_of(by_name, TIME_COLUMNS)
    time = time_of(stamp) if stamp is not None else None
    if stamp is not None and time is None:
        yield _malformed(member, f"{stamp[:50]!r} is not a readable time")
    common: Row = {"event": "load-metric", "pattern": "load-metrics", "text": text[:MAX_TEXT], "broker": broker}
    common |= {"time": time, "clock": "stamp"} if time is not None else {"time": member.modified, "clock": "mtime"}
    metrics = {name: cell for name, cell in by_name.items() if cell and name and name not in (*BROKER_COLUMNS, *TIME_COLUMNS)}
    for name, cell in metrics.items():
        value = number(cell, mark)
        if value is None:
            yield _malformed(member, f"{name}: {cell[:50]!r} is not a number")
        else:
            yield {**common, "key": name[:MAX_TEXT], "value": value}


def _first_of(cells: Mapping[str, str], names: Iterable[str]) -> str | None:
    return next((cells[name] for name in names if cells.get(name)), None)


def _malformed(member: Member, why: str) -> Row:
    return problem("load-metrics-malformed", f"{member.path}: {why}")


def number(cell: str, mark: str) -> str | None:
    """The number as text, with a decimal point; a percent sign is removed."""
    text = cell.removesuffix("%").strip()
    if mark != ",":
        text = text.replace(",", ".")
    return text if _NUMBER.fullmatch(text) and text.isascii() and math.isfinite(float(text)) else None


def time_of(text: str) -> datetime | None:
    """ISO 8601, UTC where it names no zone, or seconds or milliseconds since 1970."""
    try:
        if re.fullmatch(r"\d{1,16}(?:\.\d{1,9})?", text, re.ASCII):
            seconds = float(text)
            return _EPOCH + (timedelta(milliseconds=seconds) if seconds > _MILLISECONDS_FROM else timedelta(seconds=seconds))
        time = datetime.fromisoformat(text.removesuffix("Z") + ("+00:00" if text.endswith("Z") else ""))
        return time.astimezone(timezone.utc).replace(tzinfo=None) if time.tzinfo else time
    except (ValueError, OverflowError):
        return None


_COLUMNS_PART = re.compile(r"[,;\t]")
_BROKER_COLUMN = re.compile(r' *"?(?:broker|node)[ _.]?(?:id)?"? *', re.IGNORECASE)
_DIGIT = re.compile(r"\d")


def _is_table(head: Head) -> bool:
    """A name that says so, or a header with a broker column, and a number below it."""
    if head.name.lower().endswith((".csv", ".tsv")):
        return True
    header, _, below = head.text.partition("\n")
    columns = _COLUMNS_PART.split(header.rstrip("\r"))
    named = len(columns) > 1 and any(map(_BROKER_COLUMN.fullmatch, columns))
    return named and _DIGIT.search(below.partition("\n")[0]) is not None


FORMATS = (FileKind("load-metrics", "load of brokers, CSV", read, frozenset({"load-metric"}), content=_is_table, rank=AFTER_LOGS + 50),)
