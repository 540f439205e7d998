"""Upper limits on what is read, which normal evidence does not reach. Each is a setting, so that one file cannot stop the reading of
others.

Here: the settings and their defaults. Not here: the problems reported when a limit is exceeded (each reader).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any


def _limit(default: int, means: str) -> Any:
    made: Any = field(default=default, metadata={"means": means})
    return made


@dataclass(frozen=True, slots=True)
class Limits:
    """Data beyond a limit is left out, and the source reports a problem."""

    archives: int = _limit(5, "Depth of archives inside archives; the archive of the evidence is the first.")
    compressions: int = _limit(3, "Compressions around one file (`x.gz.gz`) between two archives.")
    members: int = _limit(500_000, "Members of all archives in one file on disk.")
    ratio: int = _limit(
        1100, "Bytes that one compressed byte on disk may expand to. Deflate reaches at most 1032; nested bombs reach more than a million."
    )
    free: int = _limit(64 << 20, "Bytes of all files in one file on disk that are not blocks of zeros, whatever their ratio.")
    stream: int = _limit(
        4 << 30,
        "Bytes of one file in an archive, whatever its ratio: zstd compresses preallocated segments of zeros to almost nothing. "
        "Also bytes of zeros that are read of one sparse file on disk.",
    )
    streams: int = _limit(64 << 30, "Bytes of all files in one file on disk; containers in containers count at each level.")
    zip: int = _limit(4 << 30, "Bytes of a zip inside another container. Such a zip is copied first, because its directory is at its end.")
    document: int = _limit(16 << 20, "Bytes of a JSON document or of the output of a tool, which is kept in memory as a whole.")
    partitions: int = _limit(200_000, "Partitions of an offset checkpoint; a broker has some thousand.")
    epochs: int = _limit(
        20_000, "Entries of a leader epoch checkpoint; a partition that changes its leader every hour has 9,000 in a year."
    )
    named: int = _limit(
        500_000, "Partitions that one file names; Kafka clusters have up to about 200,000, and a controller's log names all."
    )
    properties: int = _limit(1 << 20, "Bytes of a properties file.")
    patience: float = _limit(5, "Seconds that one expression may take for a line of more than 2,048 characters.")


DEFAULTS = Limits()


def given(texts: Iterable[str], base: Limits = DEFAULTS) -> Limits:
    """The limit in `NAME=VALUE`, with k, m and g for powers of 1024. Raises ValueError."""
    known = {f.name for f in fields(Limits)}
    for text in texts:
        match = re.fullmatch(r"(\w+)=(\d{1,15})([kmg]?)", text.strip().lower())
        if match is None or match[1] not in known or not int(match[2]):
            raise ValueError(f"{text!r} is not a limit; give NAME=NUMBER, for example stream=16g (names: {', '.join(sorted(known))})")
        base = replace(base, **{match[1]: int(match[2]) << {"": 0, "k": 10, "m": 20, "g": 30}[match[3]]})
    return base


def changed(limits: Limits) -> dict[str, int]:
    """Limits that differ from the defaults, which are needed to read the same evidence again."""
    values = {f.name: getattr(limits, f.name) for f in fields(Limits)}
    return {name: value for name, value in values.items() if value != getattr(DEFAULTS, name)}


_in_force = DEFAULTS


def in_force() -> Limits:
    """The limits in this process."""
    return _in_force


def put_in_force(limits: Limits) -> None:
    """A process reads for one command only, under the limits of that command."""
    global _in_force
    _in_force = limits
