"""Names and modification times of members, for all containers.

Here: names converted to one printable path without archivers' additions, and times to UTC. Not here: the list of members (walk,
directories, tar, zip).
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parsers.schemas import Member

REPLACED = "replaced by a later entry of this name, not read"
"""If several entries of an archive have the same name, the last counts, as when the archive is unpacked."""
IGNORED = "ignored"
"""The form of a file that is not read."""


def shadowed(member: Member, byte: int) -> Member:
    """An entry that does not count because another one has its name, under a name of its own. `byte`: where it begins in the archive."""
    return replace(member, path=f"{member.path} (not read, at byte {byte})", ignored=True)


def join(inside: str, name: str) -> str:
    """The path of a member inside a container; either may be empty."""
    return f"{inside}/{name}" if inside and name else inside or name


def clean(name: str) -> str:
    """A member's name without './' and doubled slashes. A backslash never occurs in Kafka's file names: it is the separator of Windows, in
    archives made there and in the files that simple programs unpacked from them."""
    return "/".join(part for part in printable(name).replace("\\", "/").split("/") if part not in ("", "."))


def printable(name: str) -> str:
    """A name, possibly not UTF-8, without characters that a terminal must not receive."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)


def moment(seconds: float) -> datetime | None:
    """UTC; None for 0, which archivers write if they keep no time."""
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).replace(tzinfo=None) if seconds > 0 else None
    except (OverflowError, ValueError, OSError):
        return None


_JUNK = re.compile(r"(?:^|/)(?:\._[^/]*|__MACOSX|\.DS_Store|Thumbs\.db|desktop\.ini|@PaxHeader|PaxHeaders?(?:\.\d+)?|@LongLink)(?:/|$)")


def is_junk(name: str) -> bool:
    """Files that file managers add to archives and shares, and headers that a tar program without pax wrote out as files."""
    return _JUNK.search(name) is not None
