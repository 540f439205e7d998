"""Texts line by line, each line with its place, in bounded memory: a line that is too long is cut to its beginning.

Here: the lines of small text files, those of a log of any size, and UTF-16 converted to UTF-8. Not here: wrappers around a log's lines
(parsers.wrappers) or the content of lines (the parsers of each kind of file).
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from typing import IO, BinaryIO

MAX_LINE = 2**20
"""Bytes read of one line of a small file; damaged files contain lines of gigabytes."""
MAX_LOG_LINE = 4 << 20
"""Bytes examined of a line of a log, or of a line that a runtime cut into several."""
_BLOCK = 1 << 20


def lines(stream: IO[bytes]) -> Iterator[tuple[int, int, bytes]]:
    """(1-based line, byte offset, bytes without the line end) of a text; a line is cut at MAX_LINE, its rest skipped."""
    number, at = 0, 0
    while raw := stream.readline(MAX_LINE):
        number, start, at = number + 1, at, at + len(raw)
        line = raw.rstrip(b"\r\n")
        while not raw.endswith(b"\n") and (raw := stream.readline(MAX_LINE)):
            at += len(raw)
        yield number, start, line


def is_zeros(data: bytes) -> bool:
    """Whether the bytes are zeros, at least one."""
    return data[:1] == b"\0" and data == bytes(len(data))


def read_on(stream: BinaryIO, size: int) -> tuple[bytes, str | None]:
    """At most this many bytes of a stream, and the error if they end early."""
    try:
        return stream.read(size), None
    except Exception as error:  # whatever the container's decompressor raises on damaged data
        return b"", f"reading stopped: {type(error).__name__}: {error}"


class Outer:
    """A stream line by line, with places, in bounded memory. A line longer than MAX_LOG_LINE is cut to its beginning."""

    def __init__(self, stream: BinaryIO, pending: bytes = b"", line: int = 1, byte: int = 0) -> None:
        self._stream = stream
        self._data = pending
        self._at = 0
        self.line = line
        self.byte = byte
        self.cut = 0
        """Lines that were too long."""
        self.problem: str | None = None
        self.unended = False
        """The last line had no line feed."""

    def next(self) -> tuple[bytes, int, int] | None:
        """The next line without its line feed, its number and its first byte; None at the end."""
        at, number, byte = self._at, self.line, self.byte
        end = self._data.find(b"\n", at)
        if end >= 0:
            self._at, self.line, self.byte = end + 1, number + 1, byte + end + 1 - at
            return self._data[at:end], number, byte
        while end < 0 and len(self._data) - self._at < MAX_LOG_LINE:
            searched = len(self._data) - self._at
            if not self._more():
                break
            end = self._data.find(b"\n", searched)
        if end < 0:
            return self._last(number, byte)
        text = self._data[self._at : end]
        self.skip(end + 1 - self._at)
        return text, number, byte

    def buffered(self) -> tuple[bytes, int]:
        """Bytes in the buffer, and where in them the next line begins."""
        return self._data, self._at

    def ahead(self, size: int) -> bytes:
        """The next bytes, at least so many unless the stream ends before."""
        while len(self._data) - self._at < size and self._more():
            pass
        return self._data[self._at : self._at + size]

    def exactly(self, size: int) -> bytes:
        """Up to this many bytes, fewer at the end; beyond MAX_LOG_LINE only the beginning is kept."""
        kept = bytearray()
        while size > 0 and (self._at < len(self._data) or self._more()):
            piece = self._data[self._at : self._at + size]
            kept += piece[: MAX_LOG_LINE - len(kept)]
            self.line += piece.count(b"\n")
            self.skip(len(piece), lines=0)
            size -= len(piece)
        return bytes(kept)

    def _last(self, number: int, byte: int) -> tuple[bytes, int, int] | None:
        """Text without a line end: the last line, or the beginning of a line that is too long."""
        text = self._data[self._at : self._at + MAX_LOG_LINE]
        if not text:
            return None
        self.skip(len(text), lines=0)
        self.unended = True
        if len(text) == MAX_LOG_LINE and (self._at < len(self._data) or self._more()):
            self.cut += 1
            self._drop_line()
        return text, number, byte

    def _drop_line(self) -> None:
        while self._at < len(self._data) or self._more():
            end = self._data.find(b"\n", self._at)
            if end >= 0:
                self.unended = False
                self.skip(end + 1 - self._at)
                return
            self.skip(len(self._data) - self._at, lines=0)

    def skip(self, size: int, lines: int = 1) -> None:
        """Skips this many bytes of `buffered`."""
        self._at += size
        self.byte += size
        self.line += lines

    def _more(self) -> bool:
        pieces, size = [self._data[self._at :]], 0
        while size < _BLOCK and (piece := self._read()):
            pieces.append(piece)
            size += len(piece)
        self._data, self._at = b"".join(pieces), 0
        return size > 0

    def _read(self) -> bytes:
        if self.problem:
            return b""
        data, self.problem = read_on(self._stream, _BLOCK)
        return data


def is_utf16(head: bytes) -> bool:
    """Whether a text with this beginning is UTF-16, as PowerShell's `>` writes it: with its mark, or by every second byte."""
    return head.startswith((b"\xff\xfe", b"\xfe\xff")) or (len(head) > 3 and not any(head[1:200:2]) and all(head[0:200:2]))


def ends_in_returns(head: bytes) -> bool:
    """Whether carriage returns alone end the records of a log with this beginning."""
    return b"\n" not in head and re.search(rb"\r[^\r]{0,80}\d{4}-\d\d-\d\d", head) is not None


def _codec(head: bytes) -> str:
    return "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-16-le"


def decoded(data: bytes) -> str:
    """The text of a small file, UTF-16 with its mark or UTF-8."""
    if is_utf16(data):
        return data.decode(_codec(data), "replace")
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


class DecodedText(io.RawIOBase):
    """A stream of UTF-16, of which `head` was read, as UTF-8; places in it are those of its UTF-8 form."""

    def __init__(self, stream: BinaryIO, head: bytes) -> None:
        super().__init__()
        self._stream = stream
        self._head = head
        self._decoder = codecs.getincrementaldecoder(_codec(head))("replace")

    def read(self, size: int = -1) -> bytes:
        """About so many bytes; none at the end."""
        while data := self._head or self._stream.read(size):
            self._head = b""
            if text := self._decoder.decode(data):
                return text.encode("utf-8", "replace")
        return self._decoder.decode(b"", final=True).encode("utf-8", "replace")


class WithFeeds(DecodedText):
    """A stream in which carriage returns alone end the lines, with line feeds in their place."""

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes; none at the end."""
        data, self._head = self._head or self._stream.read(size), b""
        return data.replace(b"\r", b"\n")
