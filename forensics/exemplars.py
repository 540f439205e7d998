"""The exemplars of the rules: small incidents as text files next to the rules, rules/exemplars/KIND/NAME.txt.

Here: the format and its reader. Not here: what a rule makes of an exemplar (tests/forensics/rules/test_rules.py).

    # expects: found                    or: not found
    # story: what happened, in a sentence
    # from: where the lines are from
    # partition: 0                      any more of it: attributes the finding must have
    # offsets: 200..358, 400..          ends are exclusive; none is open
    --- broker-1/logs/server.log
    lines of that file
    --- broker-1/data/replication-offset-checkpoint at 2026-11-21T01:53:44Z
    --- broker-1/data/t-0/00000000000000000000.log as base64
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any

from forensics.model.findings import Exemplar
from forensics.model.message import Range

_SECTION = "--- "
_ABOUT = ("expects", "story", "from")
_EXPECTS = {"found": True, "not found": False}
_TRUTHS = {"true": True, "false": False, "unknown": None}


@cache
def exemplars_of(kind: str) -> tuple[Exemplar, ...]:
    """The exemplars of a rule, by name; empty if the rule has no directory. Raises ValueError if a file is not an exemplar."""
    directory = resources.files("forensics.rules") / "exemplars" / kind
    if not directory.is_dir():
        return ()
    found = sorted((f.name.removesuffix(".txt"), f.read_text("utf-8")) for f in directory.iterdir() if f.name.endswith(".txt"))
    return tuple(parse(name, text) for name, text in found)


def parse(name: str, text: str) -> Exemplar:
    """An exemplar from its text. Raises ValueError if the text does not follow the format."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith(_SECTION)), len(lines))
    header = _header(name, lines[:start])
    if header.get("expects") not in _EXPECTS or not header.get("story") or not header.get("from"):
        raise ValueError(f"{name}: an exemplar says what it `expects` (found, not found), its `story` and where it is `from`")
    files: dict[str, bytes] = {}
    modified: dict[str, datetime] = {}
    for head, body in _sections(lines[start:]):
        path, at, encoded = _place(name, head)
        if path in files:
            raise ValueError(f"{name}: {path} comes twice")
        files[path] = _decoded(name, path, body) if encoded else "".join(f"{line}\n" for line in body).encode()
        if at is not None:
            modified[path] = at
    fields = {key: _value(name, key, value) for key, value in header.items() if key not in _ABOUT}
    return Exemplar(name, header["story"], header["from"], _EXPECTS[header["expects"]], fields, files, modified)


def _header(name: str, lines: Iterable[str]) -> dict[str, str]:
    header: dict[str, str] = {}
    for line in lines:
        if not line.strip():
            continue
        key, colon, value = line.removeprefix("# ").partition(": ")
        if not line.startswith("# ") or not colon:
            raise ValueError(f"{name}: {line!r} is not a line `# key: value`")
        header[key] = value.strip()
    return header


def _sections(lines: Iterable[str]) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith(_SECTION):
            found.append((line.removeprefix(_SECTION).strip(), []))
        else:
            found[-1][1].append(line)
    return found


def _place(name: str, head: str) -> tuple[str, datetime | None, bool]:
    """Path, modification time and whether the content is base64, from the head of a section."""
    head, _, form = head.partition(" as ")
    path, _, at = head.partition(" at ")
    if form not in ("", "base64"):
        raise ValueError(f"{name}: {path} is written as {form!r}, which is not known")
    return path, datetime.fromisoformat(at.removesuffix("Z")) if at else None, bool(form)


def _decoded(name: str, path: str, body: Iterable[str]) -> bytes:
    try:
        return base64.b64decode("".join(body), validate=True)
    except binascii.Error as error:
        raise ValueError(f"{name}: {path} is not valid base64: {error}") from None


def _range(text: str) -> Range:
    start, _, end = text.partition("..")
    return Range(int(start), int(end) if end else None)


_READ: Mapping[str, Callable[[str], Any]] = {
    "topic": str,
    "cause": str,
    "severity": str,
    "confidence": str,
    "partition": int,
    "leader_epoch": int,
    "committed": _TRUTHS.__getitem__,
    "brokers": lambda text: tuple(int(broker) for broker in text.split(",")),
    "offsets": lambda text: tuple(_range(part.strip()) for part in text.split(",")),
    **dict.fromkeys(("start", "start_latest", "end"), lambda text: datetime.fromisoformat(text.removesuffix("Z"))),
}


def _value(name: str, key: str, text: str) -> Any:
    try:
        return _READ[key](text)
    except (KeyError, ValueError):
        raise ValueError(f"{name}: `{key}: {text}` is not an attribute of a finding, or not a valid value") from None
