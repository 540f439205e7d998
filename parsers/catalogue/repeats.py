"""Rows that a shipper delivered twice, since shippers deliver at least once: a record that is in an export again.

Here: recognising and leaving out such a record with the lines that continue it. Not here: two copies of a log (parsers.records,
cluster.build). A broker may print a line twice in one millisecond, but its reading is the same if one of them is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from parsers.wrappers.unwrapper import WriterRun

MAX_REMEMBERED = 1 << 16
"""Records of a writer among which a repeated one is recognised, at least."""
_STAMP = len(b"[2026-01-31 12:00:00,000")
_LEAST = 40
"""Bytes of a record; shorter lines may repeat by chance."""


class Repeats:
    """The records of one writer, in the order of the file."""

    def __init__(self) -> None:
        self.count = 0
        """Lines that were left out."""
        self._recent: set[int] = set()
        self._before: set[int] = set()
        self._stamp = b""
        self._leaving_out = False

    def without(self, run: WriterRun, *, of_store: bool) -> WriterRun:
        """The lines of the run that are not repeated. Unless they are from a log store, lines next to each other do not count as
        repetitions."""
        kept = list(self._kept(run, of_store))
        return run if len(kept) == len(run) else run.at(kept)

    def _kept(self, run: WriterRun, of_store: bool) -> Iterator[int]:
        for index, text in enumerate(run.text):
            if len(text) >= _LEAST and text[1:5].isdigit():  # a record begins with its time
                self._leaving_out = self._is_repeated(text, of_store)
            if self._leaving_out:
                self.count += 1
            else:
                yield index

    def _is_repeated(self, text: bytes, of_store: bool) -> bool:
        """Whether the record came before; outside of a log store not next to records of the same time."""
        key, stamp = hash(text), text[:_STAMP]
        seen = key in self._recent or key in self._before
        if seen and (of_store or stamp != self._stamp):
            return True
        self._stamp = stamp
        self._recent.add(key)
        if len(self._recent) >= MAX_REMEMBERED:
            self._before, self._recent = self._recent, set()
        return False
