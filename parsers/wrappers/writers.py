"""The writer of each line of a file: a pod, a container, a joined file, a host.

Here: how many are distinguished, and which lines are the file's own. Not here: the state kept for each (catalogue, records).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from parsers.wrappers.unwrapper import Line, WriterRun

MAX_WRITERS = 200
"""Writers of one file that are distinguished."""

W = TypeVar("W")


class FileWriters(Generic[W]):
    """The writers of one file, as objects that `begin` makes from their names; `own` is for lines without a writer."""

    def __init__(self, own: W, begin: Callable[[str], W]) -> None:
        self.own = own
        self.named: dict[str, W] = {}
        self._begin = begin
        self._host = ""
        self._crowd = 0

    def __iter__(self) -> Iterator[W]:
        """All of them, `own` first."""
        yield self.own
        yield from self.named.values()

    def of(self, line: Line | WriterRun, lines: int = 1) -> W:
        """The writer of a line, or of several like it. The first host counts as the file's own, because most journals have one host."""
        self._host = self._host or line.host
        name = line.writer or (line.host if line.host != self._host else "")
        if not name:
            return self.own
        writer = self.named.get(name)
        if writer is None:
            if len(self.named) == MAX_WRITERS:
                self._crowd += lines
                return self.own
            writer = self.named[name] = self._begin(name)
        return writer

    def problem(self) -> str | None:
        """Problem about writers beyond the limit."""
        return f"{self._crowd} lines of more than {MAX_WRITERS} writers were not separated" if self._crowd else None
