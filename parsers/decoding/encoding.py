"""Kafka's wire encoding, including flexible versions (KIP-482), as far as records need it.

Here: numbers, varints, compact strings and arrays, uuids, tagged fields. Not here: the records of a batch (parsers.decoding.bodies), or the
meaning of fields (parsers.decoding.metadata_records). Malformed bytes raise Malformed.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from typing import TypeVar

MAX_LENGTH = 0x7FFF
"""Longest string that Kafka's generated readers accept; more elements than any of these arrays ever has."""

_INT8, _INT16, _UINT16 = struct.Struct(">b"), struct.Struct(">h"), struct.Struct(">H")
_INT32, _INT64 = struct.Struct(">i"), struct.Struct(">q")
_INT32_BITS, _INT64_BITS = 32, 64

T = TypeVar("T")


class Malformed(ValueError):
    """Bytes that cannot be decoded; the message contains no numbers, so that equal faults have equal messages."""


class Fields:
    """Reads fields one after another from bytes in memory. All methods that read raise Malformed on invalid or missing bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def remaining(self) -> int:
        return len(self._data) - self._at

    def raw(self, size: int) -> bytes:
        """The next `size` bytes. Raises Malformed if fewer are left."""
        if not 0 <= size <= self.remaining:
            raise Malformed("a length reaches past the end of the record")
        self._at += size
        return self._data[self._at - size : self._at]

    def int8(self) -> int:
        return self._number(_INT8)

    def int16(self) -> int:
        return self._number(_INT16)

    def uint16(self) -> int:
        return self._number(_UINT16)

    def int32(self) -> int:
        return self._number(_INT32)

    def int64(self) -> int:
        return self._number(_INT64)

    def boolean(self) -> bool:
        return self.int8() != 0

    def _number(self, form: struct.Struct) -> int:
        number: int = form.unpack(self.raw(form.size))[0]
        return number

    def bits64(self) -> int:
        """A zig-zag varint of 64 bits."""
        return self.varint(_INT64_BITS)

    def sized(self) -> bytes | None:
        """The bytes after a zig-zag varint that gives their length; null for a negative length."""
        size = self.varint()
        return None if size < 0 else self.raw(size)

    def unsigned_varint(self, bits: int = _INT32_BITS) -> int:
        """A varint of at most `bits` bits. Raises Malformed if it is longer."""
        if self._at < len(self._data) and self._data[self._at] < 0x80:  # nearly always
            self._at += 1
            return self._data[self._at - 1]
        value = shift = 0
        while shift < bits:
            byte = self.raw(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value >> bits:
                    break
                return value
            shift += 7
        raise Malformed("a varint is too long")

    def varint(self, bits: int = _INT32_BITS) -> int:
        """Zig-zag encoded, as in record bodies."""
        value = self.unsigned_varint(bits)
        return (value >> 1) ^ -(value & 1)

    def uuid(self) -> str:
        """22 characters base64url, as Uuid.toString prints it."""
        return base64.urlsafe_b64encode(self.raw(16))[:22].decode("ascii")

    def short_string(self) -> str:
        """Length in 16 bits, as before KIP-482; null is read as empty."""
        size = self.int16()
        return "" if size < 0 else self.raw(size).decode("utf-8", errors="replace")

    def string(self) -> str:
        """A string with a compact length. Raises Malformed if it is null."""
        value = self.nullable_string()
        if value is None:
            raise Malformed("a required string is null")
        return value

    def nullable_string(self) -> str | None:
        size = self._length()
        return None if size is None else self.raw(size).decode("utf-8", errors="replace")

    def array(self, element: Callable[[], T]) -> list[T]:
        """An array with a compact length, whose elements `element` reads. Raises Malformed if it is null."""
        values = self.nullable_array(element)
        if values is None:
            raise Malformed("a required array is null")
        return values

    def nullable_array(self, element: Callable[[], T]) -> list[T] | None:
        count = self._length()
        return None if count is None else [element() for _ in range(count)]

    def _length(self) -> int | None:
        """Compact length: the encoded number minus one; 0 means null."""
        length = self.unsigned_varint() - 1
        if length > MAX_LENGTH:
            raise Malformed("a string or array is longer than Kafka allows")
        return None if length < 0 else length

    def tagged(self) -> dict[int, Fields]:
        """The tagged fields at the end of a struct, each as a reader of its bytes; unknown fields are never read. Raises Malformed."""
        count = self.unsigned_varint()
        if count > MAX_LENGTH:
            raise Malformed("a record has more tagged fields than Kafka could ever define")
        by_tag: dict[int, Fields] = {}
        for _ in range(count):
            tag = self.unsigned_varint()
            by_tag[tag] = Fields(self.raw(self.unsigned_varint()))
        return by_tag

    def end(self) -> None:
        """Raises Malformed if bytes are left."""
        if self.remaining:
            raise Malformed("bytes are left over")
