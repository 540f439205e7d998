"""Salvaged records as files: JSON lines, Parquet, and lines for kafka-console-producer.

Here: the formats, and what each cannot represent. Not here: which records (rows).
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from forensics.output.json_text import encoded
from forensics.tools.salvage.places import created
from forensics.tools.salvage.rows import Row
from parsers.decoding.bodies import BatchRecord
from parsers.schemas import documented

ROW_GROUP_BYTES = 32 << 20
"""Size of keys and values that are in memory at a time."""
ROW_GROUP = 50_000
NULL = "kafka-forensics:null"
"""The representation of null in lines for kafka-console-producer (null.marker, KIP-810)."""
SEPARATOR = "\t"
OF_HEADERS, OF_A_HEADER = ",", ":"
"""Its own separators between headers, and between a header's key and value (KIP-798)."""

_HEADER = pa.struct([("key", pa.string()), ("value", pa.binary())])
SCHEMA = pa.schema(
    [
        documented("topic", pa.string(), "topic"),
        documented("partition", pa.int32(), "partition"),
        documented("offset", pa.int64(), "offset it had"),
        documented("timestamp", pa.timestamp("ms", "UTC"), "its time; null where its format has none"),
        documented("timestamp_type", pa.string(), "create: the producer's clock; append: the broker's"),
        documented("leader_epoch", pa.int32(), "leader epoch that wrote it; null before message format v2"),
        documented("key", pa.binary(), "key"),
        documented("value", pa.binary(), "value; null is a tombstone, or left out with --keys-only"),
        documented("headers", pa.list_(_HEADER), "headers, in their order"),
        documented("producer_id", pa.int64(), "id of an idempotent or transactional producer"),
        documented("producer_epoch", pa.int32(), "its epoch"),
        documented("sequence", pa.int32(), "the record's number in what that producer sent to the partition"),
        documented("transaction", pa.string(), "committed, aborted, or open: no marker of its end was found; null outside of transactions"),
        documented("control", pa.string(), "commit or abort: no record of a producer, but the marker that ends its transaction"),
        documented("finding", pa.string(), "id of the finding that says it is lost"),
    ]
)
"""Schema of the Parquet files; JSON lines have the same fields."""


def _text(data: bytes | None) -> str | dict[str, str] | None:
    """The data as a string, or in base64 if it is not UTF-8."""
    if data is None:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def _fields(row: Row) -> dict[str, Any]:
    """The fields of a record besides its body."""
    batch = row.batch
    return {
        "topic": row.lot.topic,
        "partition": row.lot.partition,
        "offset": row.record.offset,
        "timestamp": row.record.timestamp if row.record.timestamp >= 0 else None,
        "timestamp_type": batch.timestamp_type,
        "leader_epoch": batch.leader_epoch if batch.leader_epoch >= 0 else None,
        "producer_id": batch.producer_id if batch.producer_id >= 0 else None,
        "producer_epoch": batch.producer_epoch if batch.producer_id >= 0 else None,
        "sequence": row.record.sequence if row.record.sequence >= 0 else None,
        "transaction": row.transaction,
        "control": row.control,
        "finding": row.lot.finding,
    }


def sized(record: BatchRecord) -> int:
    return len(record.key or b"") + len(record.value or b"") + sum(len(k) + len(v or b"") for k, v in record.headers)


class JsonLines:
    """A line for each record. Rarely used fields without a value are left out; key and value never are."""

    def __init__(self, path: Path, *, values: bool) -> None:
        self._out, self._values = created(path), values

    def add(self, row: Row) -> None:
        chosen = {k: v for k, v in _fields(row).items() if v is not None}
        if row.control is None:
            chosen["key"] = _text(row.record.key)
            if self._values:
                chosen["value"] = _text(row.record.value)
            chosen["headers"] = [{"key": _text(k), **({"value": _text(v)} if self._values else {})} for k, v in row.record.headers]
        self._out.write(encoded({name: chosen[name] for name in SCHEMA.names if name in chosen}).encode() + b"\n")

    def close(self) -> None:
        self._out.close()


class Parquet:
    def __init__(self, path: Path, *, values: bool) -> None:
        self._values = values
        self._out = created(path)
        self._writer = pq.ParquetWriter(self._out, SCHEMA, compression="zstd")
        self._rows: list[dict[str, Any]] = []
        self._bytes = 0

    def add(self, row: Row) -> None:
        record = row.record
        body = row.control is None
        headers = [
            {"key": k.decode("utf-8", errors="replace"), "value": v if self._values else None} for k, v in (record.headers if body else ())
        ]
        self._rows.append(
            {
                **_fields(row),
                "key": record.key if body else None,
                "value": record.value if body and self._values else None,
                "headers": headers,
            }
        )
        self._bytes += sized(record)
        if self._bytes > ROW_GROUP_BYTES or len(self._rows) >= ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, SCHEMA))
        self._rows, self._bytes = [], 0

    def close(self) -> None:
        self._flush()
        self._writer.close()
        self._out.close()


@dataclass
class Sending:
    """Requirements of the lines for kafka-console-producer, and records that they cannot represent: they are text, one record per line."""

    keys: bool = False
    no_key: bool = False
    nulls: bool = False
    """Nulls occur as values or as values of headers."""
    headers: bool = False
    no_header: bool = False
    largest: int = 0
    """Bytes of the largest record."""
    count: int = 0
    unsendable: int = 0
    """Records that consumers would have received, left out because they are not UTF-8, or contain a separator where it would split them."""
    unfinished: int = 0
    """Left out because their transaction was aborted, or no marker of its end was found."""

    def look(self, row: Row) -> None:
        if row.control is not None:
            return
        if not row.for_consumers:
            self.unfinished += 1
            return
        record = row.record
        self.keys |= record.key is not None
        self.no_key |= record.key is None
        self.nulls |= record.value is None or any(value is None for _, value in record.headers)
        self.headers |= bool(record.headers)
        self.no_header |= not record.headers
        self.largest = max(self.largest, sized(record))

    @property
    def of_late(self) -> bool:
        """Only newer releases can read such lines."""
        return self.headers or self._with_nulls

    @property
    def _with_nulls(self) -> bool:
        return self.nulls or (self.keys and self.no_key)

    @property
    def properties(self) -> dict[str, str]:
        """The properties that the console producer needs for these lines."""
        chosen = {"parse.key": "true"} if self.keys else {}
        if self.headers:
            chosen["parse.headers"] = "true"
        return chosen | ({"null.marker": NULL} if self._with_nulls or (self.headers and self.no_header) else {})

    def line(self, row: Row) -> str | None:
        """A record as a line; None if it cannot be represented."""
        record = row.record
        try:
            parts = [self._headers(row)] if self.headers else []
            if self.keys:
                parts.append(_part(record.key, SEPARATOR))
            parts.append(_part(record.value, ""))
        except ValueError:
            return None
        return SEPARATOR.join(parts)

    def _headers(self, row: Row) -> str:
        if not row.record.headers:
            return NULL
        return OF_HEADERS.join(
            f"{_part(k, OF_A_HEADER + OF_HEADERS + SEPARATOR)}{OF_A_HEADER}{_part(v, OF_HEADERS + SEPARATOR)}"
            for k, v in row.record.headers
        )


def _part(data: bytes | None, separators: str) -> str:
    """Raises ValueError if the line would not be read back unchanged."""
    if data is None:
        return NULL
    text = data.decode("utf-8")
    if text == NULL or any(c in text for c in ("\n", "\r", *separators)):
        raise ValueError
    return text


def write_lines(path: Path, chosen: Iterable[Row], sending: Sending) -> None:
    """Lines in the order of offsets, counted in `sending`."""
    with created(path) as out:
        for line in _lines(chosen, sending):
            out.write(line.encode() + b"\n")


def _lines(chosen: Iterable[Row], sending: Sending) -> Iterator[str]:
    for row in chosen:
        if row.for_consumers:
            line = sending.line(row)
            if line is None:
                sending.unsendable += 1
            else:
                sending.count += 1
                yield line
