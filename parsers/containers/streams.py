"""Streams that end where their source fails, with limits on their size.

Here: the guard every member is read through, against damage and decompression bombs, and pieces of streams. Not here: decompression
(compression), archives (tar, zip) or nesting (walk).
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from parsers.limits import in_force
from parsers.lines import is_zeros

if TYPE_CHECKING:
    from parsers.schemas import Member

BUFFER = 2**17
"""Bytes that may be examined before a stream is read."""
CHUNK = 2**16

Read = Callable[[int], bytes]
"""Reads at most this many bytes; none at the end. Raises any exception on damaged data."""
Entry: TypeAlias = "tuple[Member, Read | None, str | None]"
"""A member as its archive names it, with a function that reads it (valid until the next one) or with the reason why it cannot be read."""


class Allowance:
    """Remaining size that a file on disk may expand to; shared by all containers nested in it."""

    def __init__(self) -> None:
        self.limits = in_force()
        self.taken = 0
        self.given = self.solid = 0
        self.members = 0

    def give(self, data: bytes, given: int, *, as_they_are: bool) -> None:
        """Counts more bytes of a stream that has returned this many. `as_they_are`: these bytes were counted before, in the stream around
        it. Raises OSError if the stream, or all streams together, exceed the limit."""
        self.given += len(data)
        self.check(given)
        self._check(self.given, self.limits.streams, "all that is in it grows", "streams")
        if not as_they_are and not is_zeros(data):
            self.solid += len(data)
            self._check(self.solid, self.limits.free, "all that is in it, without blocks of zeros, grows", "free")

    def check(self, given: int) -> None:
        """Raises OSError if one stream may not have this many bytes."""
        self._check(given, self.limits.stream, "grows", "stream")

    def _check(self, size: int, free: int, what: str, limit: str) -> None:
        if size > free + self.limits.ratio * self.taken:
            raise OSError(
                f"{what} beyond {self.limits.ratio} times its compressed size: taken for a decompression bomb, not read further "
                f"(--limit {limit}, --limit ratio)"
            )

    def member(self) -> None:
        """Counts one more member of an archive. Raises OSError if there are too many."""
        self.members += 1
        if self.members > self.limits.members:
            raise OSError(f"holds more than {self.limits.members} members; the others are not read (--limit members)")


class Guarded(io.RawIOBase):
    """A stream that ends where its source fails and keeps the reason; always fills the reader's buffer if possible."""

    def __init__(self, read: Read, allowance: Allowance, *, on_disk: bool = False, as_they_are: bool = False) -> None:
        """`on_disk`: the bytes of a file on disk; `as_they_are`: those of another stream, neither decompressed nor repeated."""
        self._read = read
        self._allowance = allowance
        self._on_disk, self._as_they_are = on_disk, as_they_are
        self.given = 0
        self.problem: str | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view, filled = memoryview(buffer), 0
        while filled < len(view) and self.problem is None:
            try:
                data = self._read(len(view) - filled)
                self._count(data)
            except Exception as error:  # each library raises its own errors on damaged bytes
                self.problem = why(error)
                break
            if not data:
                break
            view[filled : filled + len(data)] = data
            filled += len(data)
        return filled

    def _count(self, data: bytes) -> None:
        self.given += len(data)
        if self._on_disk:
            self._allowance.taken += len(data)
        else:
            self._allowance.give(data, self.given, as_they_are=self._as_they_are)


def buffered(guard: Guarded) -> io.BufferedReader:
    """The stream with `peek` and `readline`."""
    return io.BufferedReader(guard, BUFFER)


def why(error: Exception) -> str:
    """The message of an error, or at least its type."""
    return str(error) or type(error).__name__


def read1(source: IO[bytes]) -> Read:
    """One read of the source at a time: `read` would lose the bytes read before an error."""
    read: Read = source.read1  # type: ignore[attr-defined]
    return read


class StreamPart:
    """The next `size` bytes of a stream. `read` raises EOFError if the stream ends before."""

    def __init__(self, read: Read, size: int) -> None:
        self._read = read
        self.left = size

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; empty at the end of the part. Raises EOFError if the stream ends before."""
        data = self._read(min(size, self.left))
        if not data and self.left and size:
            raise EOFError("the file is cut off")
        self.left -= len(data)
        return data

    def skip(self) -> None:
        while self.left and (data := self._read(min(CHUNK, self.left))):
            self.left -= len(data)
