"""Streams that end where their source fails, and what keeps them from growing without bound.

Here: the guard every member is read through, against damage and decompression bombs, and pieces of streams. Not here: what
decompresses (compression), what an archive holds (tar, zip) or what lies in what (walk).
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import IO, Any

from parsers.limits import in_force
from parsers.schemas import Member

BUFFER = 2**17
"""Bytes of a stream that may be looked at before it is read."""
CHUNK = 2**16

Read = Callable[[int], bytes]
"""At most so many bytes; none at the end. Raises anything where they are damaged."""
Entry = tuple[Member, Read | None, str | None]
"""A member as its archive names it, with what reads it (valid until the next one) or with what is wrong with it."""


class Allowance:
    """What a file on disk may still grow to; shared by all containers nested in it."""

    def __init__(self) -> None:
        self.limits = in_force()
        self.taken = 0
        self.given = 0
        self.members = 0

    def give(self, size: int, given: int) -> None:
        """`size` more bytes of a stream that has given so many. Raises OSError once it has given too much, or all of them have."""
        self.given += size
        self.check(given)
        if self.given > self.limits.streams + self.limits.ratio * self.taken:
            raise OSError(
                f"all that is in it grows beyond {self.limits.ratio} times its size: taken for a decompression bomb, not read further "
                "(--limit streams, --limit ratio)"
            )

    def check(self, given: int) -> None:
        """Raises OSError where so many bytes of one stream are too much."""
        if given > self.limits.stream + self.limits.ratio * self.taken:
            raise OSError(
                f"grows beyond {self.limits.ratio} times its compressed size: taken for a decompression bomb, not read further "
                "(--limit stream, --limit ratio)"
            )

    def member(self) -> None:
        """One more member of an archive. Raises OSError where there are too many."""
        self.members += 1
        if self.members > self.limits.members:
            raise OSError(f"holds more than {self.limits.members} members; the others are not read (--limit members)")


class Guarded(io.RawIOBase):
    """A stream that ends where its source fails and remembers why; always fills the reader's buffer if it can."""

    def __init__(self, read: Read, allowance: Allowance, *, on_disk: bool = False) -> None:
        self._read = read
        self._allowance = allowance
        self._on_disk = on_disk
        self.given = 0
        self.problem: str | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view, filled = memoryview(buffer), 0
        while filled < len(view) and self.problem is None:
            try:
                data = self._read(len(view) - filled)
                self._count(len(data))
            except Exception as error:  # damaged bytes make every library fail in its own way
                self.problem = why(error)
                break
            if not data:
                break
            view[filled : filled + len(data)] = data
            filled += len(data)
        return filled

    def _count(self, size: int) -> None:
        self.given += size
        if self._on_disk:
            self._allowance.taken += size
        else:
            self._allowance.give(size, self.given)


def buffered(guard: Guarded) -> io.BufferedReader:
    """The stream with `peek` and `readline`."""
    return io.BufferedReader(guard, BUFFER)


def why(error: Exception) -> str:
    """What an error says, or at least its name."""
    return str(error) or type(error).__name__


def read1(source: IO[bytes]) -> Read:
    """One read of the source at a time: `read` would lose what came before an error."""
    read: Read = source.read1  # type: ignore[attr-defined]
    return read


class Part:
    """The next `size` bytes of a stream; raises when the stream ends before."""

    def __init__(self, read: Read, size: int) -> None:
        self._read = read
        self.left = size

    def read(self, size: int) -> bytes:
        data = self._read(min(size, self.left))
        if not data and self.left and size:
            raise EOFError("the file is cut off")
        self.left -= len(data)
        return data

    def skip(self) -> None:
        while self.left and (data := self._read(min(CHUNK, self.left))):
            self.left -= len(data)
