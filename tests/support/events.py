"""Events, which come as rows and as batches of them, one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from parsers.schemas import Row, Rows


def one_by_one(read: Iterable[Rows]) -> Iterator[Row]:
    """Each as a row, columns that are null left out."""
    for one in read:
        if isinstance(one, dict):
            yield one
        else:
            yield from ({name: value for name, value in row.items() if value is not None} for row in one.to_pylist())
