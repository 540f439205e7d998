"""The members of a zip, from the directory at its end, or one after another if the directory is lost.

Here: times, passwords, links, and zips inside another container, which must be kept whole. Not here: the content of members (walk).
"""

from __future__ import annotations

import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from datetime import datetime
from typing import IO

from parsers.containers.names import REPLACED, clean, is_junk, moment, shadowed
from parsers.containers.streams import CHUNK, Allowance, Entry, Guarded, StreamPart, buffered, read1, why
from parsers.limits import in_force
from parsers.schemas import Member

SPOOLED_IN_MEMORY = 32 * 2**20
"""Bytes of a zip inside another container that are kept in memory."""
_LEAST_ENTRY = 46
_MEMBER = b"PK\x03\x04"
"""Begin of a member; a zip without members begins with the end of its directory."""


class Spool(tempfile.SpooledTemporaryFile[bytes]):
    """A zip inside another container, spooled because its directory is at its end: an unnamed file that is removed after reading."""

    def __init__(self) -> None:
        super().__init__(max_size=SPOOLED_IN_MEMORY)

    def seekable(self) -> bool:  # Python 3.10 has none
        return True

    def fill(self, stream: IO[bytes]) -> str | None:
        """Stores the stream; returns the reason if it is too large."""
        size = 0
        while data := stream.read(CHUNK):
            size += len(data)
            if size > (most := in_force().zip):
                return f"zip of more than {most} bytes inside another container, not read: take it out first, or --limit zip"
            self.write(data)
        self.seek(0)
        return None


class TooManyMembers(OSError):
    """A directory that is too large to be held in memory."""


def opened(file: IO[bytes]) -> zipfile.ZipFile:
    """zipfile holds the whole directory in memory, some 600 bytes per member. Raises TooMany, and any exception of zipfile."""
    most = in_force().members
    end = zipfile._EndRecData(file)  # type: ignore[attr-defined]
    if end is not None and end[_SIZE] > most * _LEAST_ENTRY and _counted(file, end[_PLACE] - end[_SIZE], end[_SIZE], most) > most:
        raise TooManyMembers(f"holds more than {most} members, and is not read (--limit members)")
    found = zipfile.ZipFile(file)
    if not found.infolist():
        file.seek(0)
        if file.read(len(_MEMBER)) == _MEMBER:
            raise zipfile.BadZipFile("the directory at its end names no member, and there are some")
    return found


_SIZE, _PLACE = 5, 9
"""The fields of zipfile's end record with the size and end of the directory."""


def _counted(file: IO[bytes], begin: int, size: int, most: int) -> int:
    """Counts members of a directory, up to one more than the limit."""
    file.seek(max(0, begin))
    stream, count = StreamPart(buffered(Guarded(file.read, Allowance(), on_disk=True)).read, size), 0
    while count <= most and stream.left >= _LEAST_ENTRY:
        head = stream.read(_LEAST_ENTRY)
        names = struct.unpack_from("<HHH", head, 28) if len(head) == _LEAST_ENTRY else (0, 0, 0)
        rest = StreamPart(stream.read, min(sum(names), stream.left))
        rest.skip()
        count += 1
    return count


def zip_entries(file: IO[bytes], allowance: Allowance, select: tuple[str, ...] | None) -> Iterator[Entry]:
    """Members of a zip in the order of its directory; raises at the end if the archive itself is damaged.

    `select`: indexes of the members to read, None for all of them.
    """
    try:
        archive = opened(file)
    except TooManyMembers:
        raise
    except Exception as error:  # zipfile raises various errors on damaged bytes
        trouble = why(error)
    else:
        with archive:
            yield from _listed(archive, allowance, select)
        return
    yield from _headless(file, allowance, trouble)


def _listed(archive: zipfile.ZipFile, allowance: Allowance, select: tuple[str, ...] | None) -> Iterator[Entry]:
    infos = archive.infolist()
    last = {clean(info.filename): info for info in infos}
    given = 0
    for info in infos if select is None else [infos[int(index)] for index in select]:
        if last[clean(info.filename)] is not info:
            yield Member(clean(info.filename), info.file_size, None), None, REPLACED
        allowance.check(given)  # entries may overlap: then each is small but their total is huge
        given += info.file_size
        yield from _listed_member(archive, info, replaced=last[clean(info.filename)] is not info)


def _listed_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, *, replaced: bool) -> Iterator[Entry]:
    name = clean(info.filename)
    if info.filename.endswith(("/", "\\")) and not info.file_size:
        return
    member = Member(name, info.file_size, _time(info), is_junk(name))
    if replaced:
        member = shadowed(member, info.header_offset)
    try:
        if stat.S_ISLNK(info.external_attr >> 16):
            raise OSError("the archive holds a symbolic link, not its content")
        if info.flag_bits & 1:
            raise OSError("is encrypted with a password, which cannot be read here")
        source = archive.open(info)
    except Exception as error:
        yield member, None, why(error)
        return
    with source:
        yield member, read1(source), None


def _time(info: zipfile.ZipInfo) -> datetime | None:
    """Info-ZIP's extended timestamp is UTC; the plain one is local time of an unknown zone, taken as UTC. Archivers write its minimum if
    they keep no time."""
    extra = info.extra
    while len(extra) >= 4:
        tag, size = struct.unpack_from("<HH", extra)
        if tag == 0x5455 and size >= 5 and len(extra) >= 9 and extra[4] & 1:
            return moment(struct.unpack_from("<i", extra, 5)[0])
        extra = extra[4 + size :]
    try:
        return datetime(*info.date_time) if info.date_time > (1980, 1, 1, 0, 0, 0) else None
    except ValueError:
        return None


_LOCAL_HEADER = struct.Struct("<4sHHHHHLLLHH")


def _headless(file: IO[bytes], allowance: Allowance, trouble: str) -> Iterator[Entry]:
    """A zip whose directory at the end is lost: its members one after another from their own headers."""
    file.seek(0)
    stream = buffered(Guarded(file.read, allowance))
    while len(head := stream.read(_LOCAL_HEADER.size)) == _LOCAL_HEADER.size:
        magic, _, flags, method, _, _, _, packed, size, name_size, extra_size = _LOCAL_HEADER.unpack(head)
        if magic != b"PK\x03\x04":
            break
        raw = stream.read(name_size).decode("utf-8", "replace")
        name = clean(raw)
        stream.read(extra_size)
        if flags & 9 or method not in (0, 8) or packed == 0xFFFFFFFF:
            raise OSError(f"{trouble}; its directory is lost and {name} cannot be read without it")
        part = StreamPart(stream.read, packed)
        read = _Inflated(part).read if method else part.read
        if not (raw.endswith(("/", "\\")) and not packed):
            yield Member(name, size or None, None, is_junk(name)), read, None
        part.skip()
    raise OSError(f"{trouble}; read from its start as far as it goes")


class _Inflated:
    """A deflated zip member; raises where it is cut off."""

    def __init__(self, packed: StreamPart) -> None:
        self._packed = packed
        self._inflate = zlib.decompressobj(wbits=-zlib.MAX_WBITS)

    def read(self, size: int) -> bytes:
        out = b""
        while not out and not self._inflate.eof:
            data = self._inflate.unconsumed_tail or self._packed.read(CHUNK)
            out = self._inflate.decompress(data, size)
            if not data and not out:
                raise EOFError("compressed data end too soon: the file is cut off")
        return out
