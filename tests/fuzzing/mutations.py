"""Inputs made from others by chance, without looking at what they cover: five to ten times as many a second as a guided fuzzer runs."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

Edit = Callable[[bytearray, random.Random, Sequence[bytes]], None]
_NUMBERS = (
    b"\0",
    b"\xff",
    b"\x7f\xff\xff\xff",
    b"\xff" * 4,
    b"\xff" * 8,
    b"\x80" + b"\0" * 7,
    b"0",
    b"-1",
    b"9" * 19,
    b"2147483648",
    b"1e999",
)
_MARKS = (
    b"\n",
    b"\r\n",
    b"\r",
    b"\0",
    b'"',
    b"'",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b",",
    b":",
    b"=",
    b"\t",
    b" ",
    b"\x1b[2J",
    b"%0a",
)
_TEXT = (
    b"\\u0000",
    b"\xed\xa0\x80",
    b"\xe2\x80\xa8",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    "\u0660".encode(),
    "\u202e".encode(),
    "\u00fc".encode(),
)
WORDS = (*_NUMBERS, *_MARKS, *_TEXT)
MOST_EDITS, LONGEST = 6, 64


def _span(data: bytearray, chance: random.Random, longest: int = LONGEST) -> slice:
    begin = chance.randrange(len(data) + 1)
    return slice(begin, begin + chance.randrange(1, longest))


def _flip(data: bytearray, chance: random.Random, others: Sequence[bytes]) -> None:
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _byte(data: bytearray, chance: random.Random, others: Sequence[bytes]) -> None:
    if data:
        data[chance.randrange(len(data))] = chance.randrange(256)


def _remove(data: bytearray, chance: random.Random, others: Sequence[bytes]) -> None:
    del data[_span(data, chance)]


def _repeat(data: bytearray, chance: random.Random, others: Sequence[bytes]) -> None:
    span = _span(data, chance)
    data[span.stop : span.stop] = data[span] * chance.choice((1, 1, 2, 9))


def _word(data: bytearray, chance: random.Random, others: Sequence[bytes]) -> None:
    at = chance.randrange(len(data) + 1)
    data[at : at + chance.choice((0, 0, 1, 4))] = chance.choice(WORDS)


def _splice(data: bytearray, chance: random.Random, others: Sequence[bytes]) -> None:
    other = bytearray(chance.choice(others))
    data[_span(data, chance)] = other[_span(other, chance, 4 * LONGEST)]


def _lines(data: bytearray, chance: random.Random, others: Sequence[bytes]) -> None:
    """Its lines and those of another, mixed."""
    lines = [*data.split(b"\n"), *chance.choice(others).split(b"\n")]
    data[:] = b"\n".join(chance.sample(lines, chance.randrange(1, len(lines) + 1)))


def _cut(data: bytearray, chance: random.Random, others: Sequence[bytes]) -> None:
    del data[chance.randrange(len(data) + 1) :]


EDITS: Sequence[Edit] = (_flip, _byte, _remove, _repeat, _word, _word, _splice, _splice, _lines, _cut)


def mutated(inputs: Sequence[bytes], chance: random.Random, longest: int) -> bytes:
    """One of the inputs with one to six edits, at most so many bytes."""
    data = bytearray(chance.choice(inputs))
    for _ in range(chance.randrange(1, MOST_EDITS)):
        chance.choice(EDITS)(data, chance, inputs)
    return bytes(data[:longest])
