"""The kind of a file of the evidence, from its name and its first bytes; content takes precedence where it is clear.

Here: the order of decisions, and the kinds of logs. Not here: the other kinds (parsers.formats), names of files (paths), or the reading of
files.
"""

from __future__ import annotations

from collections.abc import Mapping

from parsers import formats
from parsers.containers.documents import LOG_LINE, is_document
from parsers.containers.magic import is_cut
from parsers.formats.file_kind import Head
from parsers.lines import decoded, is_utf16
from parsers.paths import log_kind, name_of
from parsers.schemas import Member
from parsers.wrappers.exports import records_of

LOGS: Mapping[str, str] = {
    "server-log": "server.log of a broker or controller",
    "state-change-log": "state-change.log",
    "controller-log": "controller.log",
    "log-cleaner-log": "log-cleaner.log",
    "request-log": "kafka-request.log",
    "authorizer-log": "kafka-authorizer.log",
    "stdout-log": "standard output of a process, as kafkaServer.out",
    "other-log": "log lines under an unknown name; read like a broker's log",
}
"""Kinds of files that are read line by line as logs."""
KINDS: Mapping[str, str] = {
    **LOGS,
    **formats.KINDS,
    "empty": "no bytes, under a name that gives that no meaning",
    "binary": "not text, and the name does not explain the content; for example a log of NUL bytes",
    "pointer": "a pointer of Git LFS, in place of the file itself",
    "text": "other text",
}
NOT_EVIDENCE = frozenset({"unreadable", "empty", "binary", "pointer", "document", "text", "json", "unread-rows", "index", "redaction"})
"""Kinds of files from which alone nothing can be judged."""
_POINTER = b"version https://git-lfs.github.com/spec/"
_LOGGERS = (
    ("state-change-log", "(state.change.logger)"),
    ("controller-log", "(kafka.controller."),
    ("controller-log", "(org.apache.kafka.controller."),
    ("log-cleaner-log", "LogCleaner)"),
    ("request-log", "(kafka.request.logger)"),
    ("authorizer-log", "(kafka.authorizer.logger)"),
)


def sniff(member: Member, head: bytes) -> str:
    """The kind of a member, one of KINDS, from its path and its first bytes (some thousand, fewer only at its end)."""
    name = name_of(member.path)
    if head.startswith(_POINTER):
        return "pointer"
    if kind := formats.kind_by_name(member.path, name):
        return kind
    if not head:
        return "empty"
    text = Head(member.path, name, decoded(head))
    if is_document(name, text.text):
        return "document"
    if records_of(text.text.encode() if is_utf16(head) else head) is not None:
        return log_kind(member.path) or "other-log"
    return formats.kind_before_logs(text) or _log_by_lines(text) or _without_lines(text, head)


def _log_by_lines(head: Head) -> str | None:
    """The kind of a log; None for a file without log lines, or with log lines only within JSON about partitions."""
    if not LOG_LINE.search(head.text) or head.text.lstrip().startswith(('{"version"', '{"partitions"')):
        return None
    if kind := log_kind(head.path):
        return kind
    lines = sum(1 for _ in LOG_LINE.finditer(head.text))  # a line of JSON may hold many
    return next((kind for kind, logger in _LOGGERS if head.text.count(logger) * 2 > lines), "other-log")


def _without_lines(text: Head, head: bytes) -> str:
    if _is_binary(head):
        return "binary"
    return formats.kind_after_logs(text) or (None if is_cut(head) else log_kind(text.path)) or "text"


def _is_binary(head: bytes) -> bool:
    if is_utf16(head):
        return "\0" in decoded(head)
    control = sum(head.count(byte) for byte in (*range(9), *range(14, 27), *range(28, 32)))
    broken = head.decode("utf-8", "replace").count("\ufffd")
    return b"\0" in head or (control + broken) * 10 > len(head)
