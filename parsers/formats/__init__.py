"""File formats: one module for each format of file, except log files. A module declares its kinds of files in FORMATS and is found by
itself.

Here: the kinds of all modules, and which of them a file is. Not here: the decoding of binary records (parsers.decoding), log files
(parsers.catalogue), or what the kinds of logs are called (parsers.sniff).
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType

from parsers.formats.file_kind import AFTER_LOGS, FileKind, Head, Reader
from parsers.paths import partition_of
from parsers.schemas import Member

MODULES: tuple[ModuleType, ...] = tuple(import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__))
FORMATS: tuple[FileKind, ...] = tuple(
    sorted((kind for module in MODULES for kind in getattr(module, "FORMATS", ())), key=lambda kind: kind.rank)
)
"""Every kind, in the order in which their contents are examined."""
TEXT_MODULES = tuple(module for module in MODULES if any(not kind.binary for kind in getattr(module, "FORMATS", ())))
"""Modules that read text: the words in them are words of Kafka and its tools."""
KINDS: Mapping[str, str] = {kind.name: kind.meaning for kind in FORMATS if not kind.topic}
READERS: Mapping[str, Reader] = {kind.name: kind.read for kind in FORMATS if kind.read is not None and not kind.topic}
_OF_TOPIC: Mapping[tuple[str, str], Reader] = {(kind.name, kind.topic): kind.read for kind in FORMATS if kind.read and kind.topic}
_BEFORE = tuple(kind for kind in FORMATS if kind.content is not None and kind.rank < AFTER_LOGS)
_AFTER = tuple(kind for kind in FORMATS if kind.content is not None and kind.rank >= AFTER_LOGS)
_NAMED = sorted((kind for kind in FORMATS if kind.expression is not None), key=lambda kind: kind.directory is None)
CALLED: Mapping[str, str] = {kind.name: kind.called for kind in FORMATS if kind.called is not None}
"""Kafka's name of the files of a kind."""


def kind_by_name(path: str, name: str) -> str | None:
    """The kind whose files have such a name, whatever they contain; None if the content has to be examined."""
    for kind in _NAMED:
        named = kind.expression is not None and kind.expression.fullmatch(name)
        if named and (kind.directory is None or path.split("/")[-2:-1] == [kind.directory]):
            return kind.name
    return None


def kind_before_logs(head: Head) -> str | None:
    """The kind whose files may contain log lines."""
    return next((kind.name for kind in _BEFORE if kind.content is not None and kind.content(head)), None)


def kind_after_logs(head: Head) -> str | None:
    """The kind of a text that contains no log lines."""
    return next((kind.name for kind in _AFTER if kind.content is not None and kind.content(head)), None)


def reader_of(kind: str, member: Member) -> Reader | None:
    """The reader of a file of this kind; None if such files give no events. The topic determines the type of the records in a segment,
    because key versions begin at 0 in each topic."""
    where = partition_of(member.path) if any(kind == of_topic for of_topic, _ in _OF_TOPIC) else None
    return (_OF_TOPIC.get((kind, where[0])) if where is not None else None) or READERS.get(kind)
