"""Arrow tables packed as bytes, for the way between Spark's tasks and from the tasks to the driver.

Here: packing and unpacking, and iterators for the driver. Not here: which rows are sent, and their order (pipeline, sorting).

Spark handles only bytes. An event has fifty columns, most of them null. Converting events to Spark's rows and back to columns at each step
took longer than reading the logs. On small evidence, planning a query over columns took a JVM that had just started longer than the query.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import zstandard

from parsers.schemas import filled, whole

if TYPE_CHECKING:
    from spark.datasets import Dataset

_ZSTD = pa.Codec("zstd")


def packed(rows: pa.Table) -> bytes:
    """The rows as compressed bytes, without the columns that are null in all rows."""
    return zstandard.ZstdCompressor(level=1).compress(streamed(filled(rows).replace_schema_metadata(None)))


def opened(piece: bytes) -> pa.Table:
    """The rows that were packed, without the columns that were null in all rows."""
    size = zstandard.frame_content_size(piece)
    # in Arrow's memory, which can be given back: among Python's small objects, the space of large ones that are gone is not
    return pa.ipc.open_stream(_ZSTD.decompress(piece, size)).read_all()


class Packed:
    """Packed rows of one schema, in Spark."""

    def __init__(self, packed_rows: Dataset[bytes], schema: pa.Schema, *, many: bool = False) -> None:
        """`many`: the rows of all Spark partitions together are too many for the driver."""
        self._packed, self._schema, self._many = packed_rows, schema, many

    def table(self) -> pa.Table:
        """All rows, as one table on the driver."""
        tables = [whole(opened(piece), self._schema) for piece in self._packed.collect()]
        return pa.concat_tables(tables) if tables else self._schema.empty_table()

    def on_driver(self) -> Iterator[pa.RecordBatch]:
        """All rows, computed in parallel. Many of them wait on the workers' disks, and come one Spark partition after another."""
        if not self._many:
            for piece in self._packed.collect():
                yield from whole(opened(piece), self._schema).to_batches()
            return
        self.keep()
        try:
            yield from self.batches()
        finally:
            self.forget()

    def keep(self) -> None:
        """Computes all rows in parallel and keeps them on disk. Without it, `batches` computes one Spark partition at a time."""
        self._packed.keep(on_disk=True).count()

    def forget(self) -> None:
        """Lets Spark delete the rows that `keep` put on disk."""
        self._packed.forget()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, one Spark partition after another; the driver holds at most two partitions at a time."""
        for piece in self._packed.iterate():
            yield from whole(opened(piece), self._schema).to_batches()


def streamed(rows: pa.RecordBatch | pa.Table) -> pa.Buffer:
    """The rows in Arrow's format of streams."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write(rows)
    return sink.getvalue()
