"""The search for names that are left in a finished copy, in its text and in what its text encodes.

Here: tokens of text and of binary files, and texts inside JSON escapes, percent escapes, base64 and UTF-16. Not here: what a name is
(names), or what happens if one is left (bundle).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import unquote

from ahocorasick_rs import AhoCorasick

from forensics.tools.redaction.names import PLACEHOLDER, Names, as_name
from forensics.tools.redaction.numbers import without_times
from forensics.tools.redaction.vocabulary import corpus, vocabulary

SEARCHED = 20_000
"""Maximum number of names that are also searched for within words."""
_LONG = 5
"""Shorter names occur in other words, and in binary files, by chance."""
_TOKEN = re.compile(r"[\w.-]+")
_V4 = re.compile(r"(?<!\d)\d{1,3}([._-])\d{1,3}\1\d{1,3}\1\d{1,3}(?!\d)")
_V6 = re.compile(r"[0-9A-Fa-f:]*:[0-9A-Fa-f:.]+")
_OF_STAND_INS = re.compile(r"2001(?::db8::|_db8__)[0-9a-f]{1,4}(?:(?=:\d{2,5}(?![^\W_]|:))|(?![^\W_]|:))")
"""Addresses that are stand-ins, also before a port and in names of files."""
_OF_NUMBERS = ("0", "0x0", "0x1")
"""What hides a number, also if a topic has this name."""
_OF_WRAPPERS = re.compile(r'(?:^\{|, )"(?:@timestamp|pod|hostname|message)": |^@timestamp,pod,hostname,message$')
"""What the copy itself writes around unwrapped lines (forensics.tools.redaction.text), whatever names there are."""
_PIECE = re.compile(r"[^\W_]+")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_ENCODED = re.compile(r"(?<![\w+/-])[A-Za-z0-9+/_-]{8,}={0,2}")
_RUN = re.compile(rb"[A-Za-z0-9._-]{5,}")
_WIDE = re.compile(rb"(?:[\x20-\x7e]\0){5,}|(?:\0[\x20-\x7e]){5,}")


class Search:
    """The names of a mapping, and the texts in which none of them was found."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._words = {word for word in names.known["word"].keys() - names.given if not word.isdigit()}
        """Without numbers: one that is hidden in one place may stay in another, because a reader took it there."""
        self._addresses = names.known["address"].keys() - {*names.known["address"].values()}
        self._clean: set[str] = set()
        words = " ".join(vocabulary())
        exact = [name for name in names.whole if len(name) > _LONG and name not in words and name not in corpus()]
        self._exact = exact if len(exact) <= SEARCHED else []
        self._automaton = AhoCorasick(self._exact) if self._exact else None

    def left(self, text: str) -> Iterator[str]:
        """Names that occur in a text or in what it encodes."""
        yield from self._left(text)
        for decoded in _decoded(text):
            yield from self._left(decoded)

    def _left(self, text: str) -> Iterator[str]:
        text = _OF_STAND_INS.sub("::", PLACEHOLDER.sub("()", _OF_WRAPPERS.sub("", text)))
        marked, odd = self._names.marked_in(text), self._names.odd_in(text)
        if marked or odd:
            timeless = without_times(text)
            yield from (name for name in marked if name not in _OF_NUMBERS and as_name(name).search(timeless))
            yield from (name for name in odd if name in timeless)
        if ":" in text and self._addresses:
            yield from (found for found in _V6.findall(text) if found in self._addresses)
        for token in {*_TOKEN.findall(text)} - self._clean:
            if found := next(self._in_token(token), None):
                yield found
            else:
                self._clean.add(token)

    def _in_token(self, token: str) -> Iterator[str]:
        names = self._names
        if (bare := token.rstrip(".")) in names.given or bare in names.ids:
            return
        yield from (found for m in _V4.finditer(token) if (found := re.sub(r"[_-]", ".", m[0])) in self._addresses)
        yield from (name for name in names.names_in(token))
        yield from self._within(token)
        yield from (word for word in _PIECE.findall(token) if word in self._words)

    def _within(self, text: str) -> Iterator[str]:
        """Names that occur within words, too."""
        if self._automaton is not None:
            yield from (self._exact[at] for at, _, _ in self._automaton.find_matches_as_indexes(text, overlapping=True))

    def left_in_bytes(self, data: bytes) -> Iterator[str]:
        """Names that occur in bytes, except those that can occur there by chance."""
        for run in {*_RUN.findall(data), *(wide.replace(b"\0", b"") for wide in _WIDE.findall(data))}:
            text = run.decode("ascii")
            if text not in self._clean:
                found = [name for name in (*self._names.names_in(text), *self._within(text)) if len(name) >= _LONG]
                yield from found
                if not found:
                    self._clean.add(text)
        yield from (name for name in self._names.odd if len(name) >= _LONG and name.encode() in data)


def _decoded(text: str) -> Iterator[str]:
    """Texts that are encoded in a text."""
    if "\0" in text:
        yield text.replace("\0", "")
    if "\\u" in text:
        yield _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    if "%" in text:
        yield unquote(text)
    for token in _ENCODED.findall(text):
        if (decoded := _of_base64(token)) is not None:
            yield decoded


@lru_cache(1 << 14)
def _of_base64(token: str) -> str | None:
    """The text that a token encodes; None if it encodes no text."""
    bare = token.rstrip("=").translate(_STANDARD)
    if len(bare) % 4 == 1:
        return None
    try:
        text = base64.b64decode(bare + "=" * (-len(bare) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return text if text.isprintable() else None


_STANDARD = str.maketrans("-_", "+/")
