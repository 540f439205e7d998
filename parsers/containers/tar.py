"""The entries of a tar, one after another, from a stream that is read once; a damaged archive is read as far as possible.

Here: wrong headers, joined archives, repeated names. Not here: containers around the tar or in its members (walk).
"""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import IO, Any, NamedTuple, cast

from parsers.containers.compression import Unpacked, compression
from parsers.containers.names import REPLACED, clean, is_junk, moment, printable, shadowed
from parsers.containers.storage import Storage
from parsers.containers.streams import BUFFER, CHUNK, Allowance, Entry, Guarded, StreamPart, buffered, read1
from parsers.lines import is_zeros
from parsers.schemas import Member

MAX_TAR_HEADER = 2**20
"""Bytes of a long name or pax header; tarfile holds the whole of it in memory."""
MAX_TAR_HEADERS = 8 * 2**20
"""Bytes of all headers of an entry together, including the map of a sparse file."""
MAX_LOOKED_AHEAD = 256 * 2**20
"""Bytes of a compressed tar whose headers are read before its members; the tar is then decompressed twice."""
MAX_NAMES = 2**20
"""Entries of a tar whose names are remembered, to detect repeated names."""

_ENTRY = 2**14
"""Bytes that count for an entry in addition to its content."""

_EXTENSIONS = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
_END_MARK = tarfile.EOFHeaderError  # type: ignore[attr-defined]
_DAMAGED = tarfile.InvalidHeaderError  # type: ignore[attr-defined]
_CUT = tarfile.TruncatedHeaderError  # type: ignore[attr-defined]


class _Header(tarfile.TarInfo):
    """Rejects headers at which tarfile would end silently, that it would hold in memory whole, or on which it would loop."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        info = super().frombuf(buf, encoding, errors)
        if info.size < 0 or (info.type in _EXTENSIONS and info.size > MAX_TAR_HEADER):
            raise tarfile.ReadError(f"tar header with an impossible size ({info.size})")
        return info

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> _Header:
        assert isinstance(archive, _Tar)
        try:
            info = super().fromtarfile(archive)
        except _END_MARK:
            archive.ended = True
            archive.offset += cast(_Forward, archive.fileobj).skip_zeros()  # gigabytes of them may follow, and tarfile looks at each block
            raise
        except _DAMAGED as error:
            archive.damage = archive.damage or f"damaged header at byte {archive.offset}: {error}; read on from the next whole one"
            raise  # tarfile looks for it block by block
        except _CUT as error:
            raise tarfile.ReadError(f"damaged header at byte {archive.offset}: {error}") from None
        archive.ended = False
        return info


class _Tar(tarfile.TarFile):
    tarinfo = _Header
    members: list[tarfile.TarInfo]
    ended = False
    """The last block read was an end-of-archive mark."""
    damage: str | None = None
    """The first header that could not be read."""


class _Forward:
    """A stream as tarfile needs it: with a position, only moved forward, and never beyond its end."""

    def __init__(self, stream: io.BufferedReader[Any], *, skips: bool = False) -> None:
        self._stream = stream
        self._skips = skips
        self._at = 0
        self.of_header: int | None = MAX_TAR_HEADERS
        """Bytes that the next header may still have; None while content is read."""

    def tell(self) -> int:
        return self._at

    def seekable(self) -> bool:
        return True

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        if position < self._at:
            raise tarfile.ReadError("a header points back into what was read")
        if self._skips:
            self._at = self._stream.seek(position)
            return self._at
        allowed, self.of_header = self.of_header, None
        while self._at < position and self.read(min(CHUNK, position - self._at)):
            pass
        self.of_header = allowed
        return self._at

    def skip_zeros(self) -> int:
        """Passes over blocks of zeros, as far as they are buffered. Returns their bytes."""
        begin = self._at
        while size := len(ahead := self._stream.peek(BUFFER)) // tarfile.BLOCKSIZE * tarfile.BLOCKSIZE:
            if not is_zeros(ahead[:size]):
                break
            self._at += len(self._stream.read(size))
        return self._at - begin

    def read(self, size: int) -> bytes:
        if self.of_header is not None:
            self.of_header -= size
            if self.of_header < 0:
                raise tarfile.ReadError(f"an entry whose headers, or whose map of a sparse file, have more than {MAX_TAR_HEADERS} bytes")
        data = self._stream.read(size)
        self._at += len(data)
        return data


def _entries(tar: _Tar) -> Iterator[tarfile.TarInfo]:
    """Entries one by one, up to the first that points back."""
    last = -1
    while (info := _next(tar)) is not None and info.offset > last:
        tar.members.clear()
        last = info.offset
        yield info


def _next(tar: _Tar) -> tarfile.TarInfo | None:
    """tarfile holds the map of a sparse file in memory, a hundred bytes for each two bytes of the map."""
    ahead: Any = tar.fileobj
    ahead.of_header = MAX_TAR_HEADERS
    try:
        return tar.next()
    finally:
        ahead.of_header = None


def tar_entries(
    stream: io.BufferedReader, disk: Ahead | None, select: tuple[str, ...] | None, dealt: tuple[int, int] | None = None
) -> Iterator[Entry]:
    """Entries of a tar in archive order; raises at the end if the archive itself is damaged.

    `disk`: the file that contains this stream, None if the stream cannot be read ahead. `select`: the 'start-end' range of the file that
    the stream covers, None for all. `dealt`: (number, of) of the share of entries to return, None for all of them.
    """
    ahead = _Forward(stream)
    start, end = select[0].split("-") if select is not None else ("0", "")
    begin = int(start)
    names = _Names(_replaced_in(disk), begin)
    # joined archives (`cat a.tar b.tar`) go on after the end mark of the first
    tar = _Tar(fileobj=cast(IO[bytes], ahead), mode="r", encoding="utf-8", ignore_zeros=True)
    hands = [0] * (dealt[1] if dealt else 1)
    for info in _entries(tar):
        lightest = hands.index(min(hands))  # each reader of a share divides the entries in the same way
        hands[lightest] += info.size + _ENTRY
        trouble = names.against(info) if info.isreg() else None
        if dealt and lightest != dealt[0]:
            continue
        if trouble is not None:
            yield _member(info), None, trouble
            _, read, _ = _entry(tar, ahead, info)
            yield shadowed(_member(info), begin + info.offset), read, None
        elif not info.isdir():
            yield _entry(tar, ahead, info)
    if tar.damage is not None:
        raise tarfile.ReadError(tar.damage)
    if not tar.ended and not end:
        raise tarfile.ReadError("ends without an end-of-archive mark: the file may be cut off")


def _entry(tar: _Tar, ahead: _Forward, info: tarfile.TarInfo) -> Entry:
    if not info.isreg():
        return _member(info), None, _not_regular(info)
    if info.issparse():
        sparse = tar.extractfile(info)
        assert sparse is not None
        return _member(info), read1(sparse), None
    ahead.seek(info.offset_data)
    return _member(info), StreamPart(ahead.read, info.size).read, None


def _member(info: tarfile.TarInfo) -> Member:
    name = clean(info.name)
    return Member(name, info.size, moment(info.mtime), is_junk(name))


class _Names:
    """Which entry of a tar counts if a name is repeated (`tar -r`, `tar -u`, a file named twice to `tar -c`): the last, as in tar itself;
    the first if the archive can only be read once."""

    def __init__(self, replaced: frozenset[int] | None, start: int) -> None:
        self._replaced = replaced
        self._start = start
        self._seen: set[int] = set()

    def against(self, info: tarfile.TarInfo) -> str | None:
        """Why this entry cannot be read; None if it can."""
        if self._replaced is not None:
            return REPLACED if self._start + info.offset in self._replaced else None
        name = hash(clean(info.name))
        if name in self._seen:
            return "replaces an earlier entry of this name, which was read already; not read"
        if len(self._seen) < MAX_NAMES:
            self._seen.add(name)
        return None


class Ahead(NamedTuple):
    """A file of the evidence that can be scanned before it is read."""

    place: Storage
    name: str


def _replaced_in(disk: Ahead | None) -> frozenset[int] | None:
    """Offsets of the entries that later ones replace; None if the archive cannot be read ahead."""
    if disk is None:
        return None
    try:
        with disk.place.open(disk.name) as file:
            size, modified = file.size, file.modified
        return _looked_ahead(disk, size, modified)
    except OSError:
        return None


@lru_cache(maxsize=4)
def _looked_ahead(disk: Ahead, size: int, _modified: datetime | None) -> frozenset[int] | None:
    """Every unit of a tar needs this; a reader of many units computes it once."""
    allowance = Allowance()
    last: dict[int, int] = {}
    replaced: set[int] = set()
    with io.BufferedReader(disk.place.open(disk.name), BUFFER) as file:
        stream: Any = file
        while (form := compression(stream.peek(BUFFER))) is not None:
            if size > MAX_LOOKED_AHEAD:
                return None
            allowance.taken = size
            stream = buffered(Guarded(Unpacked(stream, form).read, allowance))
        ahead = _Forward(stream, skips=stream is file)
        try:
            for info in _entries(_Tar(fileobj=cast(IO[bytes], ahead), mode="r", encoding="utf-8", ignore_zeros=True)):
                name = hash(clean(info.name))
                if info.isreg() and name in last:
                    replaced.add(last[name])
                if info.isreg() and (name in last or len(last) < MAX_NAMES):
                    last[name] = info.offset
        except Exception:  # noqa: S110 - the reader meets the same fault and names it
            pass
    return frozenset(replaced)


def _not_regular(info: tarfile.TarInfo) -> str:
    if info.issym():
        return f"the archive holds a symbolic link to {printable(info.linkname)}, not its content"
    if info.islnk():
        return f"the archive holds a hard link to {printable(info.linkname)}; its content is read there"
    return "is not a regular file (pipe, device or unknown type)"


def is_tar(name: str, head: bytes) -> bool:
    """Whether a stream with this name and beginning is a tar, including damaged or empty ones."""
    try:
        _Header.frombuf(head[: tarfile.BLOCKSIZE], "utf-8", "surrogateescape")
    except _END_MARK:
        return name.lower().endswith((".tar", ".tgz", ".tar.gz"))  # zeros: an empty archive, or a file the disk lost
    except tarfile.ReadError:
        return True
    except Exception:  # any bytes are possible here
        return head[257:262] == b"ustar"  # a damaged header: what follows is a tar all the same
    return True


def offsets(file: io.BufferedReader[Any]) -> Iterator[int]:
    """Where the entries of a tar begin, as far as its headers are readable."""
    file.seek(0)
    try:
        ahead = _Forward(file, skips=True)
        yield from (info.offset for info in _entries(_Tar(fileobj=cast(IO[bytes], ahead), mode="r", ignore_zeros=True)))
    except Exception:  # the rest stays in the last share, whose reader reports the error
        return
