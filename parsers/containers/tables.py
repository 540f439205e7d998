"""Columnar files (Parquet, Arrow, ORC) as the text that a store would export: a JSON object for each row.

Here: the rows as a stream in bounded memory. Not here: which columns hold the lines, their times and writers (parsers.wrappers).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from typing import IO, Any

import pyarrow as pa

AT_ONCE = 1 << 12
"""Rows that are in memory together."""


def _parquet(file: IO[bytes]) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    from pyarrow import parquet

    opened = parquet.ParquetFile(file)
    return opened.schema_arrow, opened.iter_batches(AT_ONCE)


def _arrow(file: IO[bytes]) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    opened = pa.ipc.open_file(file)
    return opened.schema, map(opened.get_batch, range(opened.num_record_batches))


def _orc(file: IO[bytes]) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    from pyarrow import orc

    opened = orc.ORCFile(file)
    return opened.schema, map(opened.read_stripe, range(opened.nstripes))


TABLES: dict[str, Callable[[IO[bytes]], tuple[pa.Schema, Iterator[pa.RecordBatch]]]] = {"parquet": _parquet, "arrow": _arrow, "orc": _orc}
"""Readers by form (parsers.containers.magic)."""


def is_ours(schema: pa.Schema) -> bool:
    """Whether it is a table of a case or an audit: each of its columns says what it means."""
    return len(schema) > 0 and all(b"doc" in (field.metadata or {}) for field in schema)


class TableText:
    """The rows of an opened table as lines of JSON."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._lines = (row for batch in batches for part in range(0, len(batch), AT_ONCE) for row in batch.slice(part, AT_ONCE).to_pylist())
        self._rest = b""

    def read(self, size: int) -> bytes:
        parts = [self._rest]
        length = len(self._rest)
        while length < size and (row := next(self._lines, None)) is not None:
            parts.append(json.dumps(row, ensure_ascii=False, default=_text).encode("utf-8", "replace") + b"\n")
            length += len(parts[-1])
        data = b"".join(parts)
        self._rest = data[size:]
        return data[:size]


def _text(value: Any) -> str:
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.isoformat(" ")
    return (
        value.isoformat()
        if isinstance(value, datetime | date | time)
        else value.decode("utf-8", "replace")
        if isinstance(value, bytes)
        else str(value)
    )
