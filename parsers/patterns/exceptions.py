"""The exception that log4j prints after an error: the expression that matches its lines, and the columns that it fills.

Here: what patterns of several families share. Not here: the patterns, or what an exception means (forensics.model.cluster.process_errors).
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.schemas import Row

EXCEPTION = r"(?:\n(?P<_exception>.*))?"
"""The lines after an error: the exception, its stack trace, and the exceptions that caused it. For patterns that are `multiline`."""
_LONGEST = 400
"""Characters of an exception that an event keeps."""


def with_exception(row: Row) -> Iterator[Row]:
    """The event with the exception in `key`: its first line, and the first line of the exception that caused it in the end."""
    yield {**row, "key": _exception(row)}


def classified(row: Row) -> Iterator[Row]:
    """As `with_exception`; `reason` is the class of the exception, without its package, unless the pattern gives the reason."""
    thrown = _exception(row)
    named = thrown.partition(":")[0].rpartition(".")[2].split(";")[0].strip() if thrown else None
    yield {**row, "key": thrown, "reason": row.get("reason") or named}


def _exception(row: Row) -> str | None:
    lines = (row["_groups"]["_exception"] or "").split("\n")
    thrown = [line.strip() for line in lines if line[:1].strip()]
    causes = [line for line in thrown[1:] if line.startswith("Caused by: ")]
    return "; ".join(one[:_LONGEST] for one in (*thrown[:1], *causes[-1:])) or None
