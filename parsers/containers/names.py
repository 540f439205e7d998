"""What members are called and when they were changed, whatever container keeps it.

Here: names made one path, printable and without what archivers add, and times made UTC. Not here: which members there are
(walk, directories, tar, zip).
"""

from __future__ import annotations

import re
from datetime import datetime, timezone

REPLACED = "replaced by a later entry of this name, not read"
"""Of an archive's entries of one name the last counts, as for whoever unpacks it."""


def join(inside: str, name: str) -> str:
    """The path of a member inside a container; either may be empty."""
    return f"{inside}/{name}" if inside and name else inside or name


def clean(name: str) -> str:
    """A member's name without './' and doubled slashes. A backslash, which no file of Kafka's has in its name, is Windows'
    separator: in its archives, and in what a program that knows no better took out of them."""
    return "/".join(part for part in printable(name).replace("\\", "/").split("/") if part not in ("", "."))


def printable(name: str) -> str:
    """A name whose bytes need be no UTF-8, without what no terminal should get."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)


def moment(seconds: float) -> datetime | None:
    """UTC; None for 0, which archivers write when they keep no time."""
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).replace(tzinfo=None) if seconds > 0 else None
    except (OverflowError, ValueError, OSError):
        return None


_JUNK = re.compile(r"(?:^|/)(?:\._[^/]*|__MACOSX|\.DS_Store|Thumbs\.db|desktop\.ini|@PaxHeader|PaxHeaders?(?:\.\d+)?|@LongLink)(?:/|$)")


def is_junk(name: str) -> bool:
    """What file managers add to archives and shares, and headers that a tar program without pax wrote out as files."""
    return _JUNK.search(name) is not None
