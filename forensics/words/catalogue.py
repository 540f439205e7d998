"""The catalogue of messages: the templates of a finding, of a step, or of a phrase, by their id 'FILE/NAME'.

The messages of a rule are in its file, forensics/rules/KIND.toml, those of causes in forensics/model/presence/causes.toml, all others in
the files of forensics/words:

    [message.NAME]        of a finding: `summary`; `many`, the summary if it affected several partitions; `explanation` and `next_steps`,
                          lists of sentences. A step that saves what a later one may destroy begins with `!`.
    [phrase]              NAME = "words that other sentences contain", or a list of sentences
    [not-collected]       the same, of reasons that other files would settle

Here: their files. Not here: how templates are filled (template).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from forensics import rule_files
from forensics.model.presence import process_errors
from forensics.rules import declared
from parsers.own_files import OwnFile
from parsers.package_data import table


class Templates(NamedTuple):
    summary: str
    explanation: Sequence[str] = ()
    next_steps: Sequence[str] = ()
    many: str | None = None


def templates(id: str) -> Templates | None:
    """The templates of a finding; None if the id is that of a phrase."""
    return _templates(id, rule_files.known())


@cache
def _templates(id: str, own: tuple[OwnFile, ...]) -> Templates | None:
    """`own`: the user's files from which messages are known."""
    name, _, message = id.partition("/")
    found = _file(name).get("message", {}).get(message)
    return Templates(**found) if found is not None else None


def own_templates(kind: str) -> list[Templates]:
    """The templates of all messages of a kind."""
    return [Templates(**message) for message in _file(kind).get("message", {}).values()]


def meaning(kind: str) -> str:
    """What a finding of this kind means, whatever it knows."""
    return _file(kind)["meaning"]  # type: ignore[no-any-return]


def phrase(id: str) -> str | Sequence[str]:
    """The template of a phrase, or of its sentences. Raises KeyError if the catalogue has no such phrase."""
    name, _, own = id.partition("/")
    return _file(name)["phrase"][own]  # type: ignore[no-any-return]


def has_phrase(id: str) -> bool:
    name, _, own = id.partition("/")
    return own in _file(name).get("phrase", {})


def settled_by_files(id: str) -> bool:
    """Whether a phrase is a reason for an open verdict that other files would settle."""
    name, _, own = id.partition("/")
    return own in _file(name).get("not-collected", {})


def _file(name: str) -> Mapping[str, Any]:
    if (rule := declared().get(name)) is not None:
        return rule
    return _of_package(name)


@cache
def _of_package(name: str) -> Mapping[str, Any]:
    if name == "cause":
        return {"phrase": process_errors.PHRASES}
    content = table("forensics.words", name)
    return {**content, "phrase": {**content.get("phrase", {}), **content.get("not-collected", {})}}
