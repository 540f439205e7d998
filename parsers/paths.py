"""What the path of a file says: its name, its partition, and which log it is.

Names are from Kafka's log4j configuration, LogManager, UnifiedLog, LocalLog and the checkpoint classes. Not here: the kind of a file, for
which the content matters too (sniff).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LOG_NAMES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(expression, re.IGNORECASE))
    for kind, expression in (
        ("gc-log", r"(?:^|[^a-z]|server|controller)gc[^a-z/]*(?:\.log|\.current|$)|garbage.?collection"),
        ("state-change-log", r"state[-_.]?change"),
        ("log-cleaner-log", r"log[-_.]?cleaner"),
        ("request-log", r"(?:^|[^a-z])(?:kafka[-_.])?request.*\.log"),
        ("authorizer-log", r"(?:^|[^a-z])(?:kafka[-_.])?authorizer.*\.log"),
        ("controller-log", r"(?:^|[^a-z])controller(?![-_]\d).*\.log"),
        ("stdout-log", r"\.(?:out|stdout|stderr)(?:[^a-z]|$)|^(?:stdout|stderr|console|nohup)(?:[^a-z]|$)"),
        ("server-log", r"(?:^|[^a-z])(?:kafka[-_.]?)?server.*\.log"),
    )
)

_COMPRESSION = re.compile(r"\.(?:gz|bz2|xz|zst|zip|z)$", re.IGNORECASE)
_PARTITION = re.compile(r"(?P<topic>[a-zA-Z0-9._-]{1,249})-(?P<partition>\d{1,10})(?:\.[0-9a-f]{32}-(?P<state>delete|future|stray))?")


def unpacked(path: str) -> str:
    """The path, without the suffix of a compression."""
    return _COMPRESSION.sub("", path)


def name_of(path: str) -> str:
    """The file name, without the suffix of a compression."""
    return unpacked(path.rpartition("/")[2])


def directories_above(path: str) -> Iterator[str]:
    """The directories that contain a file, nearest first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def log_kind(path: str) -> str | None:
    """The kind of a log by its name alone; None if the name does not determine it."""
    name = name_of(path)
    return next((kind for kind, expression in _LOG_NAMES if expression.search(name)), None)


def partition_of(path: str) -> tuple[str, int, str] | None:
    """(topic, partition, state) from the directory a path lies in; state is 'current', 'delete', 'future' or 'stray'.

    The names are those of UnifiedLog.logDirName and its kin. Any directory named `<word>-<number>`, such as `broker-1`, looks the same:
    call this only for files that Kafka keeps in partition directories.
    """
    parts = path.split("/")
    match = _PARTITION.fullmatch(parts[-2]) if len(parts) > 1 else None
    if match is None or int(match["partition"]) >= 2**31:
        return None
    return match["topic"], int(match["partition"]), match["state"] or "current"


def is_unfinished(path: str) -> bool:
    """A checkpoint's temporary file: the process ended before the write was finished."""
    return path.endswith(".tmp")
