"""The last check: everything in a finished copy is on a list, a stand-in, or a number that a reader takes.

Here: the words, numbers and other characters of a copy, judged without the rules by which it was written: the copy is read as evidence, and
the numbers of a line must be those of its events. Not here: what happens if something else is found (bundle).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from typing import BinaryIO

import regex

from forensics.tools.redaction.logs import lines_of
from forensics.tools.redaction.names import HEXADECIMAL, INTERNAL, SHORT, Names
from forensics.tools.redaction.reading import Read, taken
from forensics.tools.redaction.text import NUMERIC_KINDS, PLAIN
from forensics.tools.redaction.vocabulary import everything, of_samples, with_digits
from parsers.evidence import HEAD, kind_of, read_source
from parsers.layouts import TIME, prefix
from parsers.learning.layout import layout_of
from parsers.schemas import Member

CHUNK = 1 << 20
_OF_COPIES = frozenset(
    ["IV", "redacted", "hidden", "other", "timestamp", "pod", "hostname", "message", "kafka", "forensics", "json", "file"]
)
"""Words that the copy itself adds."""
_TIME = re.compile(
    rf"{TIME}|\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?Z?|#?(?:[A-Z][a-z]{{2}} )?[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d (?:[A-Z]{{3,4}} )?20\d\d",
    re.ASCII,
)
_ID = re.compile(r"(?<![\w-])[\w-]{22}(?![\w-])", re.ASCII)
_STAND_IN_ADDRESS = re.compile(
    r"198[._-]1[89](?:[._-]\d{1,3}){2}|2001[:_]db8[:_]{2}[0-9a-f]{0,4}|127(?:\.\d{1,3}){3}|0\.0\.0\.0|::1?(?!\w)"
)
_ASIDE = re.compile(r"\.[0-9a-f]{32}(?=-(?:delete|future|stray))")
_ESCAPE = re.compile(r"\\[nrt\"\\]")
_TOKEN = re.compile(r"[A-Za-z0-9]+")
_PART = re.compile(r"[A-Za-z]+|[0-9]+")
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ODD = re.compile(r"[^\x20-\x7e\t\r\n]+|[!#$%&*+?@^`|~<]{3,}")
_SPELT = re.compile(r"(?<![A-Za-z0-9])(?:[A-Za-z][^A-Za-z0-9]{1,3}){3,}[A-Za-z](?![A-Za-z0-9])")
_OF_FILES = re.compile(r"0{7}\d{13}(?:-\d{10})?|(?<=\.log)[.-]20[0-9-]{6,11}|(?<=\.log\.)\d{1,3}|(?<=other-)\d+")
_ORDINAL = re.compile(r"((?:broker|kafka|node|controller|server)[-_=]?)\d{1,2}(?![\w.])", re.IGNORECASE)
_RUN = re.compile(rb"[A-Za-z0-9._-]{5,}")
_SHORTEST, _LONG = 5, 8
"""Letters that follow each other in random bytes once in a million."""


class Check:
    """The lists for one copy."""

    def __init__(self, names: Names) -> None:
        entities = {word for kind, own in names.known.items() if kind != "word" for name in own for word in _PART.findall(name)}
        self._words = everything() | (of_samples() - entities) | _OF_COPIES | {*HEXADECIMAL}
        self._words |= {word.lower() for word in self._words}
        self._stand_ins = names.stand_ins
        self._bytes = re.compile("|".join((names.stand_ins.pattern, *INTERNAL)).encode())
        self._names = names
        self._partitions = {f"{names.whole.get(topic, topic)}-{number}" for topic, number in names.seen.partitions}
        self._partition = re.compile(rf"(?:{'|'.join((names.stand_ins.pattern, *INTERNAL))})-\d+")
        self._seen = names.seen.nodes | names.seen.ports | {"0"}
        self._ids = names.seen.ids | {*names.known["id"].values()} | {*names.known["cluster"].values()}
        self._entities = {word for word in entities if len(word) >= _SHORTEST} - self._words
        self._clean: set[str] = set()

    def path(self, path: str) -> str | None:
        """What must not be in the path of a file."""
        return self._left(path, self._seen | {number for _, number in self._names.seen.partitions})

    def file(self, member: Member, stream: BinaryIO, *, binary: bool) -> str | None:
        """What must not be in a file."""
        if binary:
            return next((left for data in _overlapping(stream) for left in self._in_bytes(data)), None)
        head = stream.read(HEAD)
        kind, layout = kind_of(member, head, ()), layout_of(head).layout
        stream.seek(0)
        read = taken(read_source(member, stream), texts=True)
        stream.seek(0)
        whole = self._seen.union(*(own.values for own in read.values())) if kind in PLAIN else None
        current: Set[str] = frozenset()
        for number, line in enumerate(lines_of(stream), 1):
            body = line.rstrip("\r\n")
            begins = layout.line.fullmatch(body) if layout is not None else None
            if begins is not None and begins["time"] is not None:
                body = body[: begins.start("time")] + body[begins.end("time") :]
            if number in read or begins is not None:
                current = read.get(number, Read()).values | _of_prefix(begins)
            self.last = line
            if (left := self._left(_TIME.sub("", body), None if kind in NUMERIC_KINDS else whole or (self._seen | current))) is not None:
                return left
        return None

    def _left(self, text: str, values: Set[str] | None) -> str | None:
        """The first thing that is on no list. `values`: the numbers that may be there; None: any."""
        text = _ORDINAL.sub(r"\1", _OF_FILES.sub("", _ASIDE.sub("", _ESCAPE.sub(" ", text) if text[:1] in '{"' else text)))
        text = self._partition.sub(lambda found: "" if found[0] in self._partitions else found[0], text)
        text = _STAND_IN_ADDRESS.sub("", self._stand_ins.sub(" ", _ID.sub(lambda found: "" if found[0] in self._ids else found[0], text)))
        if (odd := _ODD.search(text) or _SPELT.search(re.sub(rf"\b{SHORT}\b", "", text))) is not None:
            return odd[0]
        return next((token for token in _TOKEN.findall(text) if not self._may_stay(token, values)), None)

    def _may_stay(self, token: str, values: Set[str] | None) -> bool:
        if token in self._clean:
            return True
        if token in self._words or (
            token.isalpha() and all(len(hump) == 1 or hump.lower() in self._words for hump in _HUMP.findall(token))
        ):
            self._clean.add(token)
            return True
        if token.isdigit():
            return values is None or not token.strip("0") or token in values
        parts = _PART.findall(token)
        return token in with_digits() or (len(parts) > 1 and all(self._may_stay(part, values) for part in parts))

    def _in_bytes(self, data: bytes) -> Iterator[str]:
        """Names, and words on no list, in a segment."""
        for run in {*_RUN.findall(self._bytes.sub(b" ", data))}:
            for word in _PART.findall(run.decode("ascii")):
                known = not word.isalpha() or word in self._words
                if not known and (word in self._entities or len(word) >= _LONG):
                    yield word


def _of_prefix(begins: regex.Match[str] | None) -> Set[str]:
    """The numbers in the name of the component that printed a record."""
    try:
        columns, _ = prefix(begins["message"], begins["logger"]) if begins is not None else ({}, "")
    except ValueError:
        return frozenset()
    return {str(value) for value in columns.values() if isinstance(value, int)}


def _overlapping(stream: BinaryIO) -> Iterator[bytes]:
    tail = b""
    while data := stream.read(CHUNK):
        yield tail + data
        tail = data[-512:]
