"""Line patterns as TOML, with the fields of the class Pattern: reading, with every error naming file, pattern and key, and writing.

Here: the form. Not here: whether a pattern reads its samples (parsers.catalogue.samples), or how it ranks among others (in_force).

TOML has no null: a sample's column that must stay empty is listed in its key `absent`. `expand` is the name of a function of this
package; other code is never run. Built-in files have the same form as the user's and are not checked here, because the tests check them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from typing import Any

import pyarrow as pa
import regex

from parsers import package_data
from parsers.kinds import KINDS, Scope
from parsers.own_files import Keys, checked, did_you_mean, document, flag, is_tables, some_text, string, texts
from parsers.patterns.expand import FUNCTIONS
from parsers.patterns.fragments import filled
from parsers.patterns.pattern import Pattern, Sample
from parsers.schemas import EVENTS, Row

MIN_LITERAL = 4
"""Characters. Files are searched for literals, and a shorter one would be in half of their lines."""
OF_LINE = frozenset({"source", "line", "byte", "time", "clock", "event", "pattern", "level", "text", "collected", "batches"})
"""Columns that do not come from the text of a message."""
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")
_VERSION = re.compile(r"\d+(\.\d+){1,2}")
_NEAR = 5
_WIDTH = 140
_TABLE = "pattern"


@dataclass(frozen=True)
class PatternPlace:
    """A pattern of a file, or one of its samples, as errors name it. Patterns and samples are counted from 1."""

    file: str
    number: int
    name: object
    sample: int | None = None

    def error(self, text: str) -> ValueError:
        named = f" `{self.name}`" if isinstance(self.name, str) and self.name else ""
        sample = f": sample {self.sample}" if self.sample is not None else ""
        return ValueError(f"{self.file}: pattern {self.number}{named}{sample}: {text}")


def built_in(name: str) -> list[Pattern]:
    """The patterns of a file of this package."""
    return [_pattern(table) for table in package_data.table("parsers.patterns", name)[_TABLE]]


def read(text: str, file: str) -> list[Pattern]:
    """The patterns of a user's file. Raises ValueError naming the file, the pattern and the key."""
    content = document(text, file, "`kafka-forensics patterns --toml NAME` prints a valid file")
    if unknown := next((key for key in content if key != _TABLE), None):
        raise ValueError(f"{file}: key `{unknown}` is not known; each pattern is a table [[{_TABLE}]]")
    tables = content.get(_TABLE)
    if not is_tables(tables) or not tables:
        raise ValueError(f"{file}: it has no table [[{_TABLE}]]")
    patterns: dict[str, Pattern] = {}
    for number, table in enumerate(tables, 1):
        place = PatternPlace(file, number, table.get("name"))
        pattern = _pattern(_checked(table, place))
        _check_expression(pattern, place)
        if pattern.name in patterns:
            raise place.error("another pattern of the file has the same name")
        patterns[pattern.name] = pattern
    return list(patterns.values())


def _pattern(table: Row) -> Pattern:
    read = {
        "regex": filled(table["regex"]),
        "written": table["regex"],
        "versions": tuple(table["versions"]),
        "loggers": tuple(table.get("loggers", ())),
        "expand": FUNCTIONS[table["expand"]] if "expand" in table else None,
        "samples": tuple(map(_sample, table["samples"])),
    }
    return Pattern(**table | read)


def _sample(table: Row) -> Sample:
    fields = {**table.get("fields", {}), **dict.fromkeys(table.get("absent", ()))}
    for name in fields.keys() & _MEMBERS.keys():
        fields[name] = [dict.fromkeys(_MEMBERS[name]) | one for one in fields[name]]
    return Sample(table["line"], fields, table.get("origin", ""))


_MEMBERS = {"replica_offsets": [field.name for field in EVENTS.field("replica_offsets").type.value_type]}
"""Members of structures, by column: a sample leaves out those that are null."""


def _checked(table: Row, place: PatternPlace) -> Row:
    found = checked(table, _PATTERN_KEYS, _REQUIRED, place.error, _OTHER_NAMES)
    return {**found, "samples": [_checked_sample(sample, replace(place, sample=at)) for at, sample in enumerate(table["samples"], 1)]}


def _checked_sample(table: Row, place: PatternPlace) -> Row:
    found = checked(table, _SAMPLE_KEYS, ("line",), place.error, _OTHER_NAMES)
    if both := next((name for name in found.get("absent", ()) if name in found.get("fields", ())), None):
        raise place.error(f"column `{both}` is in `fields` and in `absent`")
    return found


_OTHER_NAMES = {
    "expression": "regex",
    "logger": "loggers",
    "version": "versions",
    "sample": "samples",
    "kind": "event",
    "columns": "fields",
    "explode": "expand",
    "inner": "match_continuation_lines",
}
"""Words that mean a key and are not spelled like it."""


def _check_expression(pattern: Pattern, place: PatternPlace) -> None:
    """Raises ValueError if the expression or a column that it fills is not valid."""
    try:
        groups = pattern.compiled.groupindex
    except regex.error as error:
        raise place.error(f"key `regex`: {error}") from None
    columns = frozenset(EVENTS.names) - OF_LINE
    for name in groups:
        if name not in columns and not (pattern.expand is not None and name not in OF_LINE):
            raise place.error(f"key `regex`: group `{name}` is not a column of events{did_you_mean(name, columns)}")


# values


def _name(value: Any) -> str:
    if not _NAME.fullmatch(string(value)):
        raise ValueError("must be made of lower-case letters, digits, dots and hyphens")
    return string(value)


def _event(value: Any) -> str:
    kinds = [*(kind for kind in KINDS if KINDS[kind].scope is not Scope.EVIDENCE), "irrelevant"]
    if string(value) not in kinds:
        near = get_close_matches(value, kinds, _NEAR, 0.5)
        listed = f"; near ones: {', '.join(f'`{kind}`' for kind in near)}" if near else ""
        raise ValueError(f"`{value}` is not a kind of event{listed}; `kafka-forensics patterns` shows a kind for each pattern")
    return string(value)


def _literal(value: Any) -> str:
    if len(string(value)) < MIN_LITERAL or "\n" in value:
        raise ValueError(f"must be text within one line, of at least {MIN_LITERAL} characters")
    return string(value)


def _expression(value: Any) -> str:
    filled(string(value))
    return string(value)


def _versions(value: Any) -> Sequence[str]:
    if not (isinstance(value, list) and len(value) == 2 and all(isinstance(v, str) and _VERSION.fullmatch(v) for v in value)):
        raise ValueError('must be the first and the last version, as ["2.4", "4.4"]')
    first, last = value
    if _number(first) > _number(last):
        raise ValueError(f"the first version, {first}, is after the last, {last}")
    return value


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _fixed(value: Any) -> Row:
    if reserved := next((name for name in _table(value) if name in OF_LINE), None):
        raise ValueError(f"column `{reserved}` comes from the line and cannot be fixed")
    return _fields(value)


def _fields(value: Any) -> Row:
    return {name: _value_of(_column(name), field) for name, field in _table(value).items()}


def _table(value: Any) -> Row:
    if not isinstance(value, dict):
        raise ValueError("must be a table of columns and values")
    return value


def _absent(value: Any) -> Sequence[str]:
    return [_column(name).name for name in texts(value)]


def _column(name: str) -> pa.Field:
    if name not in EVENTS.names:
        raise ValueError(f"`{name}` is not a column of events{did_you_mean(name, EVENTS.names)}")
    return EVENTS.field(name)


def _value_of(column: pa.Field, value: Any) -> Any:
    """The value as Arrow returns it. Raises ValueError if it does not fit its column."""
    integer = pa.types.is_integer(column.type)
    try:
        if (integer and not isinstance(value, int)) or isinstance(value, bool) != pa.types.is_boolean(column.type):
            raise TypeError
        converted = pa.scalar(value, column.type).as_py()
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise ValueError(f"column `{column.name}` has values of type {column.type}, not {value!r}") from None
    return converted


def _function(value: Any) -> str:
    if string(value) not in FUNCTIONS:
        raise ValueError(f"`{value}` is not a function of a built-in pattern{did_you_mean(value, FUNCTIONS)}")
    return string(value)


def _samples(value: Any) -> list[Row]:
    if not is_tables(value) or not value:
        raise ValueError("must be at least one table [[pattern.samples]]")
    return value


_PATTERN_KEYS: Keys = {
    "name": _name,
    "event": _event,
    "literal": _literal,
    "regex": _expression,
    "versions": _versions,
    "loggers": texts,
    "fixed": _fixed,
    "expand": _function,
    "multiline": flag,
    "match_continuation_lines": flag,
    "first_of_process": flag,
    "note": string,
    "samples": _samples,
}
_REQUIRED = ("name", "event", "literal", "regex", "versions", "samples")
_SAMPLE_KEYS: Keys = {"line": some_text, "origin": string, "fields": _fields, "absent": _absent}


# writing


def write(pattern: Pattern) -> str:
    """The pattern in the form that `read` reads."""
    values = vars(pattern) | {"regex": pattern.written or pattern.regex, "expand": pattern.expand and pattern.expand.__name__}
    lines = [f"[[{_TABLE}]]", *_pairs({key: values[key] for key in _PATTERN_KEYS if key != "samples"})]
    for sample in pattern.samples:
        given = {name: value for name, value in sample.fields.items() if value is not None}
        absent = [name for name, value in sample.fields.items() if value is None]
        values = {"line": sample.line, "fields": given, "absent": absent, "origin": sample.origin}
        lines += ["", f"[[{_TABLE}.samples]]", *_pairs(values)]
    return "\n".join(lines) + "\n"


def _pairs(values: Mapping[str, Any]) -> Iterator[str]:
    """The values that are not empty, one in a line; long lists take several lines."""
    for key, value in values.items():
        pair = f"{key} = {_toml(value)}" if value else ""
        if len(pair) > _WIDTH and isinstance(value, tuple):
            yield from (f"{key} = [", *(f"    {_toml(part)}," for part in value), "]")
        elif pair:
            yield pair


def _toml(value: Any) -> str:
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{name} = {_toml(part)}" for name, part in value.items() if part is not None)
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return str(int(value))


def _string(text: str) -> str:
    """A literal string where TOML allows it: an expression stays as it is."""
    if all(character.isprintable() or character == "\t" for character in text) and "'" not in text:
        return f"'{text}'"
    if text.isprintable() and not {"\\", '"'} & set(text):
        return f'"{text}"'
    if all(character.isprintable() or character in "\t\n" for character in text) and not re.search(r"'''| \n|'\Z", text):
        return f"'''\n{text}'''" if "\n" in text else f"'''{text}'''"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
