"""Segments of real bundles with bytes changed: damaged batches, damaged headers, other contents with a valid checksum.

Here: the frames of a segment of magic 2 and the changes. Not here: what is expected of them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

import google_crc32c

from tests.support.shapes import File, Files

_HEADER = 61
_CRC = 17
_COVERED = 21


class Frame(NamedTuple):
    """One batch of a segment: where it lies, and its offsets by its header."""

    position: int
    size: int
    base: int
    last: int
    epoch: int

    @property
    def end(self) -> int:
        return self.position + self.size


def frames(content: bytes) -> list[Frame]:
    """The batches of a whole segment of magic 2, without preallocated zeros at its end."""
    found = []
    at = 0
    while at + _HEADER <= len(content):
        base, size, epoch, magic = struct.unpack_from(">qiib", content, at)
        if magic != 2 or size < 49 or at + 12 + size > len(content):
            break
        (delta,) = struct.unpack_from(">i", content, at + 23)
        found.append(Frame(at, 12 + size, base, base + delta, epoch))
        at += 12 + size
    return found


Change = Callable[[bytes, Frame], bytes]


def _with(content: bytes, at: int, other: bytes) -> bytes:
    return content[:at] + other + content[at + len(other) :]


def payload_flipped(content: bytes, batch: Frame) -> bytes:
    """The last byte of a batch is another one: its checksum does not match."""
    return _with(content, batch.end - 1, bytes([content[batch.end - 1] ^ 0xFF]))


def length_damaged(content: bytes, batch: Frame) -> bytes:
    """The batch's size field is 0, so that nothing says where the next batch begins."""
    return _with(content, batch.position + 8, bytes(4))


def magic_damaged(content: bytes, batch: Frame) -> bytes:
    """The batch's magic is one no version of Kafka writes."""
    return _with(content, batch.position + 16, b"\x7f")


def zeroed(content: bytes, batch: Frame) -> bytes:
    """The whole batch is zero bytes, as after a write that a file system lost."""
    return _with(content, batch.position, bytes(batch.size))


def torn(content: bytes, batch: Frame) -> bytes:
    """The file ends within the batch."""
    return content[: batch.position + batch.size // 2]


def rewritten(content: bytes, batch: Frame) -> bytes:
    """The batch has other records with a valid checksum: offsets, epoch, size and count are the same."""
    body = payload_flipped(content, batch)[batch.position + _COVERED : batch.end]
    return _with(_with(content, batch.position + _COVERED, body), batch.position + _CRC, struct.pack(">I", google_crc32c.value(body)))


def moved(offset: int) -> Change:
    """The batch's base offset is another one, which no checksum covers."""
    return lambda content, batch: _with(content, batch.position, struct.pack(">q", offset))


def changed(files: Files, path: str, change: Change, *numbers: int) -> Files:
    """The files with these batches of one segment changed, counted from 0; negative numbers count from the end."""
    content = files[path].content
    own = frames(content)
    for batch in sorted((own[n] for n in numbers), key=lambda b: -b.position):
        content = change(content, batch)
    return {**files, path: File(content, files[path].modified)}
