"""From the rows of a recording to a text: lines, objects, documents and tables."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from fixtures.exports.rows import Row
from parsers.layouts import LOG4J

Rows = Sequence[Row]
Write = Callable[[Rows], "bytes | str"]


def fields(row: Row) -> dict[str, str]:
    """The fields of a record as a layout with names prints them."""
    record = LOG4J.read(row.text.partition("\n")[0])
    rest = row.text.partition("\n")[2]
    if record is None:
        return {"level": "INFO", "logger": "kafka", "message": row.text}
    message = record.message if record.logger or not rest else f"{record.message}\n{rest}"
    if not record.logger and (end := _LOGGER.search(message)):  # a record of several lines ends in its logger
        return {"level": record.level, "logger": end[1], "message": message[: end.start()]}
    return {"level": record.level, "logger": record.logger or "", "message": message, **({"trace": rest} if record.logger and rest else {})}


_LOGGER = re.compile(r"\s*\(([\w.$]+)\)\s*\Z")


def each(write: Callable[[Row], str]) -> Write:
    """A line, or several, for each row."""
    return lambda rows: "".join(f"{write(row)}\n" for row in rows)


def objects(make: Callable[[Row], Any]) -> Write:
    return each(lambda row: json.dumps(make(row)))


def document(make: Callable[[Rows], Any], **options: Any) -> Write:
    return lambda rows: json.dumps(make(rows), **options) + "\n"


def table(header: Sequence[str], cells: Callable[[Row], Sequence[Any]], **dialect: Any) -> Write:
    def write(rows: Rows) -> str:
        out = io.StringIO()
        csv.writer(out, lineterminator="\n", **dialect).writerows([*([header] if header else []), *map(cells, rows)])
        return out.getvalue()

    return write
