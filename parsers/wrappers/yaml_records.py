"""Records in the YAML that `gcloud logging read` prints: one document for each record, with mappings in blocks.

Here: documents of mappings and scalars. Not here: lists, anchors, tags and values in JSON's form, which such output does not need, or the
fields in which a record has its text, writer and time (json_records).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

SEPARATOR = "---"
_DEPTH = 20
_KEY = re.compile(r"""( *)('(?:[^']|'')*'|"(?:[^"\\]|\\.)*"|(?:-(?! )|[^\s'"#\[\]{}|>&*!%@`,-])(?:[^:]|:(?! |$))*):(?: +(.*)|$)""")
_BLOCK = re.compile(r"[|>](?:[+-]?([1-9])?|([1-9])[+-])")
_ESCAPE = re.compile(r"\\(?:x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|U([\dA-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPED = {"0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b"} | {
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
_NULL = ("", "~", "null")
_BLANKS = " \t"


def mapping(lines: Sequence[str]) -> Mapping[str, Any]:
    """The mapping in these lines; without what is not a mapping or a string in it."""
    return dict(_members(lines, _DEPTH))


def _members(lines: Sequence[str], depth: int) -> Iterator[tuple[str, Any]]:
    at = 0
    while at < len(lines):
        match = _KEY.fullmatch(lines[at])
        at += 1
        if match is None:
            continue
        begin = at
        while at < len(lines) and (not lines[at].strip(_BLANKS) or _indent(lines[at]) > len(match[1])):
            at += 1
        value = _value(match[3] or "", lines[begin:at], len(match[1]), depth)
        if value is not None:
            yield _scalar(match[2]), value


def _value(first: str, rest: Sequence[str], indent: int, depth: int) -> Any:
    """The value that begins in the line of its key and goes on in the lines that are indented more."""
    if block := _BLOCK.fullmatch(first):
        return _in_block(rest, indent, block)
    if not first and rest and _KEY.fullmatch(rest[0]):
        return dict(_members(rest, depth - 1)) if depth else None
    text = _folded([first, *rest])
    return None if text in _NULL else _scalar(text)


def _in_block(lines: Sequence[str], indent: int, block: re.Match[str]) -> str:
    given = block[1] or block[2]
    begin = indent + int(given) if given else next((_indent(line) for line in lines if line.strip(_BLANKS)), 0)
    texts = [line[begin:] for line in lines]
    return ("\n".join(texts) if block[0][0] == "|" else _folded(texts)).rstrip("\n")


def _folded(lines: Sequence[str]) -> str:
    """Lines of one scalar: a line break is a space, each blank line after it a line break."""
    parts: list[str] = []
    breaks = 0
    for line in lines:
        part = line.strip(_BLANKS) if parts else line.rstrip(_BLANKS)
        if not part:
            breaks += bool(parts)
        elif parts and parts[0].startswith('"') and (len(parts[-1]) - len(parts[-1].rstrip("\\"))) % 2:
            parts[-1:] = [parts[-1][:-1], part]
        else:
            parts += ["\n" * breaks or " ", part] if parts else [part]
            breaks = 0
    return "".join(parts)


def _scalar(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        return _ESCAPE.sub(_unescaped, text[1:-1])
    return text


def _unescaped(match: re.Match[str]) -> str:
    if code := match[1] or match[2] or match[3]:
        return chr(number) if (number := int(code, 16)) < 0x110000 else "\ufffd"
    return _ESCAPED.get(match[4], match[4])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
