"""Exceptions and system errors: the columns that they fill."""

from __future__ import annotations

from collections.abc import Iterator

import regex

from parsers.schemas import Row

_LONGEST = 400
"""Characters of an exception that an event keeps."""
_REFUSALS = (
    ("full", regex.compile(r"No space left on device|not enough space on the disk|Disk quota exceeded")),
    ("read-only", regex.compile(r"Read-only file system")),
    ("io", regex.compile(r"Input/output error|Structure needs cleaning")),
    ("handles", regex.compile(r"Too many open files")),
    ("maps", regex.compile(r"Map failed")),
    ("unsupported", regex.compile(r"Invalid argument|[nN]ot supported|No locks available")),
    ("denied", regex.compile(r"Permission denied|Operation not permitted|\(Access is denied\)")),
    ("missing", regex.compile(r"NoSuchFileException|No such file or directory|cannot find the (?:path|file) specified")),
    ("in-use", regex.compile(r"(?m)^(?>.*?(?:AccessDenied|FileAlreadyExists|FileSystem)Exception: ).*\\")),
    ("denied", regex.compile(r"AccessDeniedException")),
)
"""What the system refused, by its message, which may be in its language, or by Java's class. Windows refuses files that are mapped or
open."""

_STORAGE_ERROR = regex.compile(
    r"KafkaStorageException: (?P<action>(?:Error|Exception) .*?) (?P<topic>[\w.-]+)-(?P<partition>\d+)(?: to \S+)? in (?:log )?dir "
    r"(?P<directory>.*?)(?: with offset \d.*?| due to [\w ]+)?; Caused by: "
    r"(?P<cause>[\w.$]+(?:: (?P<file>(?:[A-Za-z]:)?[/\\][^:(]*[^:( ]))?.*)"
)
"""Log.maybeHandleIOException: it takes the directory offline, then throws this."""
_LONGEST = 2000
"""Characters of an exception that are searched for it."""


def with_exception(row: Row) -> Iterator[Row]:
    """The event with the exception in `key`: its first line, and the first line of the exception that caused it in the end."""
    yield {**row, "key": _exception(row)}


def with_exception_class(row: Row) -> Iterator[Row]:
    """As `with_exception`; `reason` is the class of the exception, without its package, unless the pattern gives the reason."""
    thrown = _exception(row)
    named = thrown.partition(":")[0].rpartition(".")[2].split(";")[0].strip() if thrown else None
    yield {**row, "key": thrown, "reason": row.get("reason") or named}


def with_storage_error(row: Row) -> Iterator[Row]:
    """What failed, as `with_exception_class`, and the error that took a log directory offline (KIP-112) if the exception is that one."""
    (failed,) = with_exception_class(row)
    if failed.get("topic") is not None:
        yield failed
    if (error := _STORAGE_ERROR.search((failed["key"] or "")[:_LONGEST])) is not None:
        of = {"topic": error["topic"], "partition": int(error["partition"])}
        yield {**row, **of, "event": "log-dir-error", "directory": error["directory"], "value": error["action"]}
        about = {"event": "log-file-refused", "topic": None, "partition": None, "value": error["file"]}
        yield from refused_by_system({**row, **about, "_groups": {"_said": error["cause"]}})


def _exception(row: Row) -> str | None:
    lines = (row["_groups"]["_exception"] or "").split("\n")
    thrown = [line.strip() for line in lines if line[:1].strip()]
    causes = [line for line in thrown[1:] if line.startswith("Caused by: ")]
    return "; ".join(one[:_LONGEST] for one in (*thrown[:1], *causes[-1:])) or None


def exception_as_reason(row: Row) -> Iterator[Row]:
    """The row with the exception's class, without its package, as the reason."""
    exception = row["_groups"]["_exception"]
    if exception:
        row["reason"] = exception.rsplit(".", 1)[-1]
    yield row


def fetch_broken_off(row: Row) -> Iterator[Row]:
    """The error, as `fetch-broken-off` if the connection was lost during a fetch: this shows when the leader stopped, a failed attempt to
    connect does not."""
    lost = row["_groups"]["_lost"] is not None
    yield from ({**one, "event": "fetch-broken-off"} if lost else one for one in exception_as_reason(row))


def with_refusal(row: Row) -> Iterator[Row]:
    """The error and, if the layout prints the exception in the same line, what the system refused."""
    yield row
    if row["_groups"]["_said"]:
        about = {"event": "log-file-refused", "topic": None, "partition": None, "directory": None, "value": None}
        yield from refused_by_system({**row, **about})


def refused_by_system(row: Row) -> Iterator[Row]:
    """The row with what the system refused as the reason; no row if that is unknown."""
    message = row["_groups"]["_said"]
    for reason, shape in _REFUSALS:
        if shape.search(message):
            yield {**row, "reason": reason}
            return


def if_unexpected(row: Row) -> Iterator[Row]:
    """The row, unless it is printed below WARN: then Kafka expected that the znode may be missing."""
    if row.get("level") not in ("INFO", "DEBUG", "TRACE"):
        yield row


FUNCTIONS = (
    with_exception,
    with_exception_class,
    with_storage_error,
    exception_as_reason,
    fetch_broken_off,
    with_refusal,
    refused_by_system,
    if_unexpected,
)
