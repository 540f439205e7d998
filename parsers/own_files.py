"""The user's files of patterns and rules: as text, so that a task gets them with its work and a case can keep them, and the check of their
keys and values.

Here: what both have in common. Not here: the files that are in force (pattern_files, forensics.rule_files), or their keys
(parsers.patterns.pattern_toml, forensics.own_rules).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeGuard

from parsers.containers.storage import regular
from parsers.package_data import parsed
from parsers.schemas import Row

Keys = Mapping[str, Callable[[Any], Any]]
"""Keys of a table, each with the function that converts its value, or raises ValueError with what is wrong."""


class OwnFile(NamedTuple):
    """A file of the user (`--patterns`, `--rules`)."""

    path: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def opened(path: str) -> OwnFile:
    """The file at this path. Raises ValueError if it cannot be read, or is not UTF-8."""
    try:
        with regular(path) as file:
            return OwnFile(path, file.read().decode("utf-8").replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8: {error}") from None
    except OSError as error:
        raise ValueError(f"{path}: {error}; give an existing file") from None


def document(text: str, file: str, advice: str) -> Row:
    """The content of a file. Raises ValueError if it is not TOML."""
    try:
        return parsed(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}: not valid TOML: {error}; {advice}") from None


def checked(
    table: Row, keys: Keys, required: Sequence[str], error: Callable[[str], ValueError], meant: Mapping[str, str] | None = None
) -> Row:
    """The converted values of a table by key. Raises `error` of what is wrong. `meant`: words that mean a key and are not spelled like
    it."""
    for key in table:
        if key not in keys:
            raise error(f"key `{key}` is not known{did_you_mean(key, keys, meant)}")
    if missing := next((key for key in required if key not in table), None):
        raise error(f"key `{missing}` is missing")
    converted = {}
    for key, value in table.items():
        try:
            converted[key] = keys[key](value)
        except ValueError as problem:
            raise error(f"key `{key}`: {problem}") from None
    return converted


def did_you_mean(word: str, words: Iterable[str], meant: Mapping[str, str] | None = None) -> str:
    near = (meant or {}).get(word) or next(iter(get_close_matches(word, list(words), 1)), None)
    return f" (did you mean `{near}`?)" if near else ""


def string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return value


def some_text(value: Any) -> str:
    if not string(value).strip():
        raise ValueError("must not be empty")
    return string(value)


def texts(value: Any) -> Sequence[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) and text for text in value):
        raise ValueError("must be a list of strings")
    return value


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def is_tables(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(value, list) and all(isinstance(table, dict) for table in value)
