"""Decompression: gzip, bzip2, xz and zstd as streams in bounded memory, recognised by their first bytes.

Here: one interface for the four libraries, joined streams, and a compressed file as a file of its decompressed bytes. Not here: the limit
on decompressed size (streams), or archives inside (walk).
"""

from __future__ import annotations

import bz2
import lzma
import os
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, Protocol

import zstandard

from parsers.containers.storage import EvidenceFile
from parsers.containers.streams import BUFFER, CHUNK, Allowance, Guarded, buffered

MAX_DICTIONARY = 2**28
"""Bytes an xz or zstd decoder may keep; `xz -9` needs 65 MiB, `zstd --long` 128 MiB."""
MAX_SHORT_STREAMS = 100_000
"""Joined streams that may contain less than SHORT bytes on average: each costs the same time, however little is in it."""
SHORT = 32
_ZSTD_CHUNK = 2**11  # a zstd block of four bytes may expand to 128 KiB: small inputs limit the output of one call to 64 MiB
_MAGIC = {b"\x1f\x8b\x08": "gzip", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_LONGEST_MAGIC = 10
"""Bytes that `compression` examines; the longest signature is that of bzip2."""


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int = ...) -> bytes: ...


class _Gzip:
    """zlib with the interface of bz2 and lzma: keeps the input that a bounded call did not consume."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)

    eof = property(lambda self: self._inflate.eof)
    unused_data = property(lambda self: self._inflate.unused_data)
    needs_input = property(lambda self: not self._inflate.unconsumed_tail)

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._inflate.decompress(self._inflate.unconsumed_tail + data, max_length)


class _Zstd:
    """zstd with the interface of bz2 and lzma; small inputs replace the output limit that zstd does not have."""

    def __init__(self) -> None:
        self._frame = zstandard.ZstdDecompressor(max_window_size=MAX_DICTIONARY).decompressobj()
        self._rest = b""

    eof = property(lambda self: self._frame.eof)
    unused_data = property(lambda self: self._frame.unused_data + self._rest)
    needs_input = property(lambda self: not self._rest)

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        data = self._rest + data
        self._rest = data[_ZSTD_CHUNK:]
        return self._frame.decompress(data[:_ZSTD_CHUNK])


DECOMPRESSORS: dict[str, Callable[[], _Decompressor]] = {
    "gzip": _Gzip,
    "bzip2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(memlimit=MAX_DICTIONARY),
    "zstd": _Zstd,
}


SIGNATURES = (*_MAGIC, *(b"BZh%d1AY&SY" % level for level in range(1, 10)))
"""How compressed streams begin."""


def compression(head: bytes) -> str | None:
    """How bytes with this beginning are compressed: a key of DECOMPRESSORS; None if they are not."""
    for magic, form in _MAGIC.items():
        if head.startswith(magic):
            return form
    if head[:3] == b"BZh" and head[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return "bzip2"
    if len(head) >= 4 and head[0] & 0xF0 == 0x50 and head[1:4] == b"\x2a\x4d\x18":
        return "zstd"  # a skippable frame, as pzstd writes first
    return None


class Unpacked:
    """Decompresses one or more joined gzip, bzip2, xz or zstd streams; raises if the stream is truncated or damaged."""

    def __init__(self, packed: BinaryIO, form: str) -> None:
        self._packed = packed
        self._form = form
        self._fresh = DECOMPRESSORS[form]
        self._engine: _Decompressor | None = self._fresh()
        self._data = b""
        self._pending = memoryview(b"")
        self._streams, self._taken, self._given = 1, 0, 0

    def read(self, size: int) -> bytes:
        while not self._pending and self._engine is not None:
            self._pending = memoryview(self._step(size))
        out, self._pending = bytes(self._pending[:size]), self._pending[size:]
        return out

    def _step(self, size: int) -> bytes:
        assert self._engine is not None
        if self._engine.eof:
            self._next_stream()
            return b""
        ended = False
        if not self._data and self._engine.needs_input:
            self._data = self._take()
            ended = not self._data
        out = self._engine.decompress(self._data, max(size, CHUNK))
        self._data = b""
        self._given += len(out)
        if ended and not out and not self._engine.eof:
            raise EOFError("compressed data end too soon: the file is cut off")
        return out

    def _take(self) -> bytes:
        """The next compressed bytes: few of them if streams are short, because the end of each stream copies the rest."""
        data = self._packed.read(CHUNK if self._taken > _ZSTD_CHUNK * self._streams else _ZSTD_CHUNK)
        self._taken += len(data)
        return data

    def _next_stream(self) -> None:
        """The next of several joined streams; zeros after the last one are padding."""
        assert self._engine is not None
        rest = self._engine.unused_data.lstrip(b"\0")
        while len(rest) < _LONGEST_MAGIC and (more := self._take()):
            rest = (rest + more).lstrip(b"\0")
        if rest and compression(rest) != self._form:
            raise OSError("other bytes follow the compressed ones; they were not read")
        self._streams += 1
        if self._streams > MAX_SHORT_STREAMS and self._given < SHORT * self._streams:
            raise OSError(f"more than {MAX_SHORT_STREAMS} joined {self._form} streams with almost nothing in them; not read further")
        self._data = rest
        self._engine = self._fresh() if rest else None


class Inflated(EvidenceFile):
    """The decompressed content of a file, of unknown size. Seeking forward reads on; seeking back starts again. Raises OSError if the file
    is damaged."""

    def __init__(self, packed: EvidenceFile, form: str) -> None:
        super().__init__()
        self.packed, self.form = packed, form
        self.size, self.modified = 0, packed.modified
        self._begin()

    def _begin(self) -> None:
        self.packed.seek(0)
        allowance = Allowance()
        self._taken = Guarded(self.packed.read, allowance, on_disk=True)
        self._given = Guarded(Unpacked(buffered(self._taken), self.form).read, allowance)
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        """Moves to a position from the start, by decompressing everything before it. Raises OSError for any other `whence`."""
        if whence != os.SEEK_SET:
            raise OSError("the end of the file is unknown")
        if position < self._at:
            self._begin()
        while self._at < position and self.read(min(BUFFER, position - self._at)):
            pass
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Reads into the buffer and returns the number of bytes. Raises OSError on damaged data or beyond a limit."""
        size = self._given.readinto(buffer)
        if problem := self._taken.problem or self._given.problem:
            raise OSError(problem)
        self._at += size
        return size

    def changed(self) -> str | None:
        return self.packed.changed()

    def close(self) -> None:
        if not self.closed:
            self.packed.close()
        super().close()
