"""A line without one of its wrappers, and the times of numeric wrapper stamps.

Here: the common result of all wrappers. Not here: any form of a wrapper (forms, json_records).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

RAW = 4 * 4096
"""Bytes of a line that are searched for a record, and that are kept of the file's own text."""
_EPOCH = datetime(1970, 1, 1)


@dataclass(slots=True)
class Peeled:
    """A line without one of its wrappers."""

    text: bytes
    writer: str = ""
    host: str = ""
    utc: datetime | bytes | None = None
    stream: str = ""
    partial: bool = False
    """The runtime split the line; the rest is in the next line of the stream."""
    final: bool = False
    """A rendered record, which contains no further wrapper."""
    plain: bytes = b""
    """The message of a record that was rendered without a logger: it may be a line that continues another record."""
    form: str = ""
    """The name of a wrapper that looks like ordinary text; it cannot be nested in itself."""


_UNITS = ((10**17, 10**9), (10**14, 10**6), (10**11, 10**3))
"""For times since 1973, nanoseconds, microseconds and milliseconds since 1970 have more digits than the next coarser unit."""


def epoch(number: int | float, nanos: int | float = 0) -> datetime | None:
    """UTC of seconds, milli-, micro- or nanoseconds since 1970."""
    unit = next((unit for least, unit in _UNITS if number >= least), 1)
    try:
        micros = number * 10**6 // unit if isinstance(number, int) else round(number * 10**6 / unit)
        return _EPOCH + timedelta(microseconds=int(micros) + int(nanos) // 1000)
    except (OverflowError, ValueError):
        return None
