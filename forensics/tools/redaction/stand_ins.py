"""Names and addresses in the evidence that look like stand-ins: those of an earlier redaction, or real names of the same form.

Here: the search for them while the evidence is read. Not here: the stand-ins themselves (names).
"""

from __future__ import annotations

import io
import re
from typing import Any, BinaryIO

_KINDS = rb"topic|group|transaction|client|member|host|cluster|word"
_LOOKALIKE = re.compile(rb"(?:(?<![A-Za-z0-9])(?:" + _KINDS + rb")([a-z]{1,2})[a-z]{4}|198[._-]1([89])[._-](\d{1,3})[._-](\d{1,3})(?!\d))")
_V6 = re.compile(rb"2001:db8:(?:0:)*:?([0-9a-f]{1,4})(?![0-9a-f:])")
_OVERLAP = 64


class StandIns:
    """What was found so far."""

    def __init__(self) -> None:
        self.infixes: set[str] = set()
        """Letters between a kind and the letters of a possible stand-in."""
        self.addresses: set[int] = set()
        """Numbers of addresses in the networks that stand-ins are from."""

    def look(self, data: bytes) -> None:
        """Searches a piece of the evidence."""
        for match in _LOOKALIKE.finditer(data):
            if match[1] is not None:
                self.infixes.update((match[1].decode(), match[1][:1].decode()))
            else:
                self.addresses.add((int(match[2]) - 8) << 16 | int(match[3]) << 8 | int(match[4]))
        self.addresses.update(int(found, 16) for found in _V6.findall(data))

    def looking(self, stream: BinaryIO) -> io.RawIOBase:
        """The stream, searched while it is read."""
        return _Looking(stream, self)


class _Looking(io.RawIOBase):
    def __init__(self, stream: BinaryIO, into: StandIns) -> None:
        super().__init__()
        self._stream, self._into = stream, into
        self._tail = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self._into.look(self._tail + data)
        self._tail = data[-_OVERLAP:]
        buffer[: len(data)] = data
        return len(data)
