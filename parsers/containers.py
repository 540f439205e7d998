"""Walks evidence: every file of a directory, archive or compressed file as an open binary stream, and work plans over them.

Here: tar, zip, gzip, bzip2, xz and zstd in any nesting, told apart by their first bytes, read as streams in bounded memory;
what cannot be read comes out as a named problem. Not here: what a file means (parsers.sniff and the readers).

Nothing is unpacked beside the evidence. The one exception to pure streaming: a zip inside another container has its
directory at its end, so it is spooled into an unnamed temporary file (at most MAX_SPOOLED bytes) that is gone when read.
"""

from __future__ import annotations

import bz2
import io
import lzma
import os
import re
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import lru_cache
from typing import IO, Any, BinaryIO, Protocol, cast

import zstandard

from parsers.schemas import Member

MAX_DEPTH = 5
"""Archives inside archives; the evidence's own archive is the first."""
MAX_LAYERS = 3
"""Compressions around one file (`x.gz.gz`) between two archives."""
MAX_RATIO = 1100
"""Decompressed bytes a compressed byte on disk may give: deflate itself ends at 1032, nested bombs pass a million."""
FREE_BYTES = 4 * 2**30
"""Decompressed bytes that no ratio forbids: preallocated segments of zeros compress far better than MAX_RATIO in zstd."""
MAX_SPOOLED = 4 * 2**30
"""Bytes of a zip inside another container; SPOOLED_IN_MEMORY of them stay in memory."""
SPOOLED_IN_MEMORY = 32 * 2**20
MAX_TAR_HEADER = 2**20
"""Bytes of a long name or pax header; tarfile holds one in memory whole."""
MAX_DICTIONARY = 2**28
"""Bytes an xz or zstd decoder may keep; `xz -9` needs 65 MiB, `zstd --long` 128 MiB."""
MAX_LOOKED_AHEAD = 256 * 2**20
"""Bytes of a compressed tar whose headers are read before its members are, at the cost of decompressing it twice."""
MAX_NAMES = 2**20
"""Entries of a tar whose names are remembered, to tell when one comes again."""
MAX_LINE = 2**20
"""Bytes of one line that are read; damaged files hold lines of gigabytes."""
UNIT_BYTES = range(8 * 2**20, 256 * 2**20)
"""Smallest and largest aim for the size of a unit; between them a 64th of the evidence."""

_BUFFER = 2**17
_CHUNK = 2**16
_ZSTD_CHUNK = 2**11  # a zstd block of four bytes may hold 128 KiB: small bites keep what one bite can give at 64 MiB
_COMPRESSED_WEIGHT = 8  # text logs shrink about so much; only balances units
_FILE_COST = 16 * 2**10  # what opening one file costs, in bytes read

Found = tuple[Member, io.BufferedReader | None, str | None]
"""A member with its stream (`peek`, `read`, `readline`; valid until the next iteration), or with what is wrong with it."""
_Walk = Generator[Found, None, str | None]
"""Returns what was wrong with the container itself."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A share of the evidence one reader reads."""

    path: str
    """The argument it is a share of."""
    select: tuple[str, ...] | None
    """Files relative to a directory; indexes of a zip; one 'start-end' range of a tar; None is all of it."""
    size: int
    """Estimated bytes to read, compressed ones counted several times; for balance only."""
    prefix: str = ""
    """Goes before member paths; empty when the evidence is one argument."""


def members(path: str | os.PathLike[str]) -> Iterator[Found]:
    """Every regular file below `path`, in a fixed order, as (member, stream, problem); see `Found`.

    Exactly one of stream and problem is None. A damaged file first comes with a stream of what can be read of it, and
    again with the problem after that. Never raises on what it reads.
    """
    yield from read_unit(Unit(os.fspath(path), None, 0))


def read_unit(unit: Unit) -> Iterator[Found]:
    """The members of one unit, as `members` gives them."""
    if os.path.isdir(unit.path):
        for name in _leaves(unit.path) if unit.select is None else unit.select:
            yield from _leaf(unit.path, name, unit.prefix)
        return
    label = unit.prefix or _printable(os.path.basename(os.path.normpath(unit.path)))
    yield from _file(unit.path, label, _Nest(unit.prefix), unit.select)


def units(paths: Sequence[str]) -> list[Unit]:
    """Divides evidence into shares for parallel readers; every member is in exactly one. Reads names and sizes only.

    Divided are directories (by files), uncompressed tars (by byte ranges) and zips (by members); a compressed tar can
    only be read from its start. Several arguments get prefixes: the shortest endings of their paths that differ.
    """
    unique = list({os.path.realpath(path): os.path.abspath(path) for path in paths}.values())
    names = dict.fromkeys(unique, "") if len(unique) == 1 else _prefixes(unique)
    aim = min(max(sum(map(_total, unique)) // 64, UNIT_BYTES.start), UNIT_BYTES.stop)
    return [replace(unit, prefix=names[path]) for path in unique for unit in _divide(path, aim)]


def lines(stream: IO[bytes]) -> Iterator[tuple[int, int, bytes]]:
    """(1-based line, byte offset, bytes without the line end) of a text; a line is cut at MAX_LINE, its rest skipped."""
    number, at = 0, 0
    while raw := stream.readline(MAX_LINE):
        number, start, at = number + 1, at, at + len(raw)
        line = raw.rstrip(b"\r\n")
        while not raw.endswith(b"\n") and (raw := stream.readline(MAX_LINE)):
            at += len(raw)
        yield number, start, line


# --- planning ---


def _prefixes(paths: Sequence[str]) -> dict[str, str]:
    parts = {path: [_printable(p) for p in path.split(os.sep) if p] for path in paths}
    for length in range(1, max(map(len, parts.values()), default=0) + 1):
        names = {path: "/".join(words[-length:]) for path, words in parts.items()}
        if len(set(names.values())) == len(names):
            return names
    return {path: f"{number}/{'/'.join(words)}" for number, (path, words) in enumerate(parts.items(), 1)}


def _total(path: str) -> int:
    return sum(_cost(path, name) for name in _leaves(path)) if os.path.isdir(path) else _cost(path, "")


def _cost(root: str, name: str) -> int:
    try:
        size = os.lstat(os.path.join(root, name) if name else root).st_size
    except OSError:
        return _FILE_COST
    packed = (name or root).lower().endswith((".gz", ".tgz", ".bz2", ".xz", ".zst", ".zip", ".tbz2", ".txz"))
    return _FILE_COST + size * (_COMPRESSED_WEIGHT if packed else 1)


def _divide(path: str, aim: int) -> Iterator[Unit]:
    if os.path.isdir(path):
        for size, names in _groups(((_cost(path, name), name) for name in _leaves(path)), aim):
            yield Unit(path, tuple(names), size)
        return
    cost = _cost(path, "")
    shares = list(_shares(path, aim)) if cost > aim else []
    yield from (Unit(path, select, size) for size, select in shares) if shares else [Unit(path, None, cost)]


def _groups(weighed: Iterable[tuple[int, str]], aim: int) -> Iterator[tuple[int, list[str]]]:
    total, names = 0, list[str]()
    for weight, name in weighed:
        if names and total + weight > aim:
            yield total, names
            total, names = 0, []
        total += weight
        names.append(name)
    if names:
        yield total, names


def _shares(path: str, aim: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    try:
        with open(path, "rb") as file:
            form = _form(path, file.peek(_BUFFER))
            if form == "tar":
                yield from _tar_shares(file, aim)
            elif form == "zip":
                with zipfile.ZipFile(file) as archive:
                    sizes = ((_FILE_COST + info.file_size, str(index)) for index, info in enumerate(archive.infolist()))
                    yield from ((size, tuple(names)) for size, names in _groups(sizes, aim))
    except Exception:  # a damaged archive stays whole: its reader says what is wrong
        return


def _tar_shares(file: BinaryIO, aim: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    end = file.seek(0, os.SEEK_END)
    cuts = [0]
    for offset in _tar_offsets(file):
        if offset - cuts[-1] >= aim:
            cuts.append(offset)
    for start, stop in zip(cuts, [*cuts[1:], end], strict=True):
        yield stop - start, (f"{start}-{stop if stop != end else ''}",)


def _tar_offsets(file: BinaryIO) -> Iterator[int]:
    file.seek(0)
    try:
        with _Tar.open(fileobj=file, mode="r:", ignore_zeros=True) as tar:
            yield from (info.offset for info in _entries(tar))
    except Exception:  # what follows stays in the last share, whose reader meets the same fault and names it
        return


# --- directories ---


def _leaves(root: str) -> Iterator[str]:
    """Names relative to `root` of all that is no readable directory, sorted in each directory."""
    pending = [""]
    while pending:
        name = pending.pop()
        if name and not _is_directory(os.path.join(root, name)):
            yield name
            continue
        try:
            with os.scandir(os.path.join(root, name)) as entries:
                found = sorted((entry.name for entry in entries if not _is_junk(_clean(entry.name))), reverse=True)
        except OSError:
            yield name
            continue
        pending.extend(os.path.join(name, child) for child in found)


def _is_directory(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


_JUNK = re.compile(r"(?:^|/)(?:\._[^/]*|__MACOSX|\.DS_Store|Thumbs\.db|desktop\.ini|@PaxHeader|PaxHeaders?(?:\.\d+)?|@LongLink)(?:/|$)")


def _is_junk(name: str) -> bool:
    """What file managers add to archives and shares, and headers that a tar program without pax wrote out as files."""
    return _JUNK.search(name) is not None


def _leaf(root: str, name: str, prefix: str) -> Iterator[Found]:
    full = os.path.join(root, name)
    label = _join(prefix, _clean(name)) or _printable(os.path.basename(os.path.normpath(root)))
    try:
        status = os.lstat(full)
        if stat.S_ISDIR(status.st_mode):
            os.scandir(full).close()
            return
    except OSError as error:
        yield Member(label, None, None), None, f"{label}: cannot be read: {error.strerror}"
        return
    if stat.S_ISREG(status.st_mode):
        yield from _file(full, label, _Nest(label), None)
    elif why := _link(root, full) if stat.S_ISLNK(status.st_mode) else "is no regular file but a socket, pipe or device":
        yield Member(label, None, _moment(status.st_mtime)), None, f"{label}: {why}"


def _link(root: str, full: str) -> str | None:
    """Why a symbolic link hides evidence; None when what it leads to lies inside the tree and is read there."""
    try:
        target = os.path.realpath(full, strict=True)
    except OSError as error:
        return f"symbolic link that leads nowhere: {error.strerror}"
    base = os.path.realpath(root)
    if os.path.commonpath([base, target]) != base:
        return f"symbolic link that leads out of the evidence, not followed: {_printable(os.readlink(full))}"
    if os.path.commonpath([target, os.path.realpath(os.path.dirname(full))]) == target:
        return "symbolic link that leads back to a directory above it, not followed"
    return None


def _file(full: str, label: str, nest: _Nest, select: tuple[str, ...] | None) -> Iterator[Found]:
    try:
        file = open(full, "rb", buffering=0)  # noqa: SIM115
    except OSError as error:
        yield Member(label, None, None), None, f"{label}: cannot be opened: {error.strerror}"
        return
    with file:
        status = os.fstat(file.fileno())
        member = Member(label, status.st_size, _moment(status.st_mtime))
        guard = _Guarded(_Range(file, select).read if select and "-" in select[0] else file.read, nest.allowance, on_disk=True)
        stream = _buffered(guard)
        if _form(label, stream.peek(_BUFFER)) == "zip":
            nest.allowance.taken += status.st_size
            file.seek(0)
            problem = yield from _zip(member, file, nest, select)
        else:
            problem = yield from _content(member, stream, replace(nest, disk=full), select)
        if why := guard.problem or problem:
            yield member, None, f"{label}: {why}"


class _Range:
    """A byte range 'start-end' of a file; an empty end is the file's."""

    def __init__(self, file: io.FileIO, select: tuple[str, ...]) -> None:
        start, end = select[0].split("-")
        self._file = file
        self._left = int(end) - int(start) if end else None
        file.seek(int(start))

    def read(self, size: int) -> bytes:
        data = self._file.read(size if self._left is None else min(size, self._left))
        if self._left is not None:
            self._left -= len(data)
        return data


# --- streams ---


class _Allowance:
    """What a file on disk may still grow to; shared by all containers nested in it."""

    def __init__(self) -> None:
        self.taken = 0

    def check(self, given: int) -> None:
        if given > FREE_BYTES + MAX_RATIO * self.taken:
            raise OSError(f"grows beyond {MAX_RATIO} times its compressed size: taken for a decompression bomb, not read further")


@dataclass(frozen=True, slots=True)
class _Nest:
    """Where in the nesting a container lies."""

    inside: str
    """Path of the members' container; empty for the evidence itself."""
    depth: int = 0
    layers: int = 0
    allowance: _Allowance = field(default_factory=_Allowance)
    disk: str | None = None
    """The file whose own container this is; None inside another one, which cannot be read ahead."""


class _Guarded(io.RawIOBase):
    """A stream that ends where its source fails and remembers why; always fills the reader's buffer if it can."""

    def __init__(self, read: Callable[[int], bytes], allowance: _Allowance, *, on_disk: bool = False) -> None:
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
                self.problem = _why(error)
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
            self._allowance.check(self.given)


def _buffered(guard: _Guarded) -> io.BufferedReader:
    return io.BufferedReader(guard, _BUFFER)


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int = ...) -> bytes: ...


class _Gzip:
    """zlib in the shape of bz2 and lzma: keeps what a bounded call left of its input."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)

    eof = property(lambda self: self._inflate.eof)
    unused_data = property(lambda self: self._inflate.unused_data)
    needs_input = property(lambda self: not self._inflate.unconsumed_tail)

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._inflate.decompress(self._inflate.unconsumed_tail + data, max_length)


class _Zstd:
    """zstd in the shape of bz2 and lzma; bites stand in for the bound it has not."""

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


_DECOMPRESSORS: dict[str, Callable[[], _Decompressor]] = {
    "gzip": _Gzip,
    "bzip2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(memlimit=MAX_DICTIONARY),
    "zstd": _Zstd,
}


class _Unpacked:
    """Decompresses a stream of one or more joined gzip, bzip2, xz or zstd streams; raises where it is cut or damaged."""

    def __init__(self, packed: BinaryIO, form: str) -> None:
        self._packed = packed
        self._form = form
        self._fresh = _DECOMPRESSORS[form]
        self._engine: _Decompressor | None = self._fresh()
        self._data = b""
        self._pending = memoryview(b"")

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
            self._data = self._packed.read(_CHUNK)
            ended = not self._data
        out = self._engine.decompress(self._data, max(size, _CHUNK))
        self._data = b""
        if ended and not out and not self._engine.eof:
            raise EOFError("compressed data end too soon: the file is cut off")
        return out

    def _next_stream(self) -> None:
        """The next of several joined streams; zeros after the last one are padding."""
        assert self._engine is not None
        rest = self._engine.unused_data.lstrip(b"\0")
        while len(rest) < _LONGEST_MAGIC and (more := self._packed.read(_CHUNK)):
            rest = (rest + more).lstrip(b"\0")
        if rest and _form("", rest) != self._form:
            raise OSError("other bytes follow the compressed ones; they were not read")
        self._data = rest
        self._engine = self._fresh() if rest else None


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__


# --- forms ---

_MAGIC = {
    b"\x1f\x8b\x08": "gzip",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"PK\x07\x08PK\x03\x04": "zip",
    b"7z\xbc\xaf\x27\x1c": "7-Zip archive",
    b"Rar!\x1a\x07": "RAR archive",
    b"LZIP": "lzip file",
    b"\x04\x22\x4d\x18": "lz4 file",
    b"\x02\x21\x4c\x18": "lz4 file",
    b"\xff\x06\0\0sNaPpY": "snappy file",
    b"\x1f\x9d": "compress file",
    b"\x5d\0\0": "lzma file",
}
_UNREAD = {form for form in _MAGIC.values() if " " in form}
_LONGEST_MAGIC = 10
"""Bytes `_form` looks at for the longest of them, bzip2's; a tar has more, but joins no compressed stream."""


def _form(name: str, head: bytes) -> str:
    """What container the first bytes show: a key of _DECOMPRESSORS, 'tar', 'zip', one of _UNREAD, or 'plain'."""
    for magic, form in _MAGIC.items():
        if head.startswith(magic):
            return form
    if head[:3] == b"BZh" and head[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return "bzip2"
    if len(head) >= 4 and head[0] & 0xF0 == 0x50 and head[1:4] == b"\x2a\x4d\x18":
        return "zstd"  # a skippable frame, as pzstd writes first
    return "tar" if _is_tar(name, head[: tarfile.BLOCKSIZE]) else "plain"


def _is_tar(name: str, block: bytes) -> bool:
    try:
        _Header.frombuf(block, "utf-8", "surrogateescape")
    except _END_MARK:
        return name.lower().endswith((".tar", ".tgz", ".tar.gz"))  # zeros: an empty archive, or a file the disk lost
    except tarfile.ReadError:
        return True
    except Exception:  # any bytes may stand here
        return block[257:262] == b"ustar"  # a damaged header: what follows is a tar all the same
    return True


def _content(member: Member, stream: io.BufferedReader, nest: _Nest, select: tuple[str, ...] | None = None) -> _Walk:
    """What a stream holds: itself, or the members of the container it is."""
    form = _form(member.path, stream.peek(_BUFFER))
    if form == "plain":
        yield member, stream, None
        stream.close()
        return None
    if form in _UNREAD:
        return f"is a {form}, which cannot be read here; tar, zip, gz, bz2, xz and zst can"
    if form in _DECOMPRESSORS:
        return (yield from _compressed(member, stream, form, nest))
    if nest.depth >= MAX_DEPTH:
        return f"lies deeper than {MAX_DEPTH} archives, not opened"
    if form == "tar":
        return (yield from _tar(stream, nest, select))
    return (yield from _spooled_zip(member, stream, nest))


def _compressed(member: Member, stream: io.BufferedReader, form: str, nest: _Nest) -> _Walk:
    if nest.layers >= MAX_LAYERS:
        return f"is compressed more than {MAX_LAYERS} times over, not opened"
    guard = _Guarded(_Unpacked(stream, form).read, nest.allowance)
    with _buffered(guard) as unpacked:
        inner = replace(member, size=None)
        problem = yield from _content(inner, unpacked, replace(nest, layers=nest.layers + 1))
    return f"{form}: {guard.problem}" if guard.problem else problem


# --- tar ---


_EXTENSIONS = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
_END_MARK = tarfile.EOFHeaderError  # type: ignore[attr-defined]
_DAMAGED = tarfile.InvalidHeaderError  # type: ignore[attr-defined]
_CUT = tarfile.TruncatedHeaderError  # type: ignore[attr-defined]


class _Header(tarfile.TarInfo):
    """Refuses what tarfile would end at silently, hold in memory whole, or loop over."""

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
    """A stream as tarfile wants it: with a position, but only ever moved ahead, and never beyond its end."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._at = 0

    def tell(self) -> int:
        return self._at

    def seekable(self) -> bool:
        return True

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        if position < self._at:
            raise tarfile.ReadError("a header points back into what was read")
        while self._at < position and self.read(min(_CHUNK, position - self._at)):
            pass
        return self._at

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._at += len(data)
        return data


class _Part:
    """The next `size` bytes of a stream; raises when the stream ends before."""

    def __init__(self, stream: IO[bytes] | _Forward, size: int) -> None:
        self._stream = stream
        self.left = size

    def read(self, size: int) -> bytes:
        data = self._stream.read(min(size, self.left))
        if not data and self.left and size:
            raise EOFError("the file is cut off")
        self.left -= len(data)
        return data

    def skip(self) -> None:
        while self.left and (data := self._stream.read(min(_CHUNK, self.left))):
            self.left -= len(data)


def _entries(tar: _Tar) -> Iterator[tarfile.TarInfo]:
    """Entries one by one, to the first that points back."""
    last = -1
    while (info := tar.next()) is not None and info.offset > last:
        tar.members.clear()
        last = info.offset
        yield info


def _tar(stream: IO[bytes], nest: _Nest, select: tuple[str, ...] | None) -> _Walk:
    ahead = _Forward(stream)
    start, end = select[0].split("-") if select is not None else ("0", "")
    names = _Names(_replaced_in(nest.disk), int(start))
    partial = end != ""
    try:  # joined archives (`cat a.tar b.tar`) go on after the end mark of the first
        tar = _Tar(fileobj=cast(IO[bytes], ahead), mode="r", encoding="utf-8", ignore_zeros=True)
        for info in _entries(tar):
            if info.isreg() and (why := names.against(info)) is not None:
                member = Member(_join(nest.inside, _clean(info.name)), info.size, _moment(info.mtime))
                yield member, None, f"{member.path}: {why}"
            else:
                yield from _tar_member(tar, ahead, info, nest)
    except Exception as error:
        return f"tar: {_why(error)}"
    if tar.damage is not None:
        return f"tar: {tar.damage}"
    return None if tar.ended or partial else "tar: ends without an end-of-archive mark: the file may be cut off"


def _tar_member(tar: _Tar, ahead: _Forward, info: tarfile.TarInfo, nest: _Nest) -> Iterator[Found]:
    name = _clean(info.name)
    if info.isdir() or _is_junk(name):
        return
    member = Member(_join(nest.inside, name), info.size, _moment(info.mtime))
    if not info.isreg():
        yield member, None, f"{member.path}: {_not_regular(info)}"
        return
    if info.issparse():
        sparse = tar.extractfile(info)
        assert sparse is not None
        read = _read1(sparse)
    else:
        ahead.seek(info.offset_data)
        read = _Part(ahead, info.size).read
    yield from _nested(member, _Guarded(read, nest.allowance), nest)


class _Names:
    """Which entry of a tar counts when a name comes again (`tar -r`, `tar -u`, a file named twice to `tar -c`): the last, as for tar
    itself; the first where the archive can only be read once."""

    def __init__(self, replaced: frozenset[int] | None, start: int) -> None:
        self._replaced = replaced
        self._start = start
        self._seen: set[int] = set()

    def against(self, info: tarfile.TarInfo) -> str | None:
        """Why this entry is not to be read; None when it is."""
        if self._replaced is not None:
            return "replaced by a later entry of this name, not read" if self._start + info.offset in self._replaced else None
        name = hash(_clean(info.name))
        if name in self._seen:
            return "replaces an earlier entry of this name, which was read already; not read"
        if len(self._seen) < MAX_NAMES:
            self._seen.add(name)
        return None


def _replaced_in(path: str | None) -> frozenset[int] | None:
    """Offsets of the entries that later ones replace; None where nobody can look ahead."""
    if path is None:
        return None
    try:
        status = os.stat(path)
        return _looked_ahead(path, status.st_size, status.st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=4)
def _looked_ahead(path: str, size: int, _changed: int) -> frozenset[int] | None:
    """Every unit of a tar needs it; a reader of many units finds it once."""
    allowance = _Allowance()
    last: dict[int, int] = {}
    replaced: set[int] = set()
    with open(path, "rb") as file:
        stream: Any = file
        while (form := _form(path, stream.peek(_BUFFER))) in _DECOMPRESSORS:
            if size > MAX_LOOKED_AHEAD:
                return None
            allowance.taken = size
            stream = _buffered(_Guarded(_Unpacked(stream, form).read, allowance))
        ahead = file if stream is file else _Forward(stream)
        try:
            for info in _entries(_Tar(fileobj=cast(IO[bytes], ahead), mode="r", encoding="utf-8", ignore_zeros=True)):
                name = hash(_clean(info.name))
                if info.isreg() and name in last:
                    replaced.add(last[name])
                if info.isreg() and (name in last or len(last) < MAX_NAMES):
                    last[name] = info.offset
        except Exception:  # the reader meets the same fault and names it
            pass
    return frozenset(replaced)


def _read1(source: IO[bytes]) -> Callable[[int], bytes]:
    """One read of the source at a time: `read` would lose what came before an error."""
    read: Callable[[int], bytes] = source.read1  # type: ignore[attr-defined]
    return read


def _not_regular(info: tarfile.TarInfo) -> str:
    if info.issym():
        return f"the archive holds a symbolic link to {_printable(info.linkname)}, not its content"
    if info.islnk():
        return f"the archive holds a hard link to {_printable(info.linkname)}; its content is read there"
    return "is no regular file but a pipe, a device or of a type unknown"


def _nested(member: Member, guard: _Guarded, nest: _Nest) -> Iterator[Found]:
    """A member of an archive, which may be a container itself."""
    with _buffered(guard) as stream:
        problem = yield from _content(member, stream, _Nest(member.path, nest.depth + 1, 0, nest.allowance))
    if why := guard.problem or problem:
        yield member, None, f"{member.path}: {why}"


# --- zip ---


class _Spool(tempfile.SpooledTemporaryFile[bytes]):
    def seekable(self) -> bool:  # Python 3.10 has none
        return True


def _spooled_zip(member: Member, stream: io.BufferedReader, nest: _Nest) -> _Walk:
    with _Spool(max_size=SPOOLED_IN_MEMORY) as spool:
        size = 0
        while data := stream.read(_CHUNK):
            size += len(data)
            if size > MAX_SPOOLED:
                return f"zip of more than {MAX_SPOOLED} bytes inside another container, not read: take it out first"
            spool.write(data)
        spool.seek(0)
        return (yield from _zip(member, spool, nest, None))


def _zip(member: Member, file: IO[bytes], nest: _Nest, select: tuple[str, ...] | None) -> _Walk:
    if nest.depth >= MAX_DEPTH:
        return f"lies deeper than {MAX_DEPTH} archives, not opened"
    try:
        archive = zipfile.ZipFile(file)
    except Exception as error:
        return (yield from _headless_zip(file, nest, _why(error)))
    with archive:
        infos = archive.infolist()
        given = 0
        for info in infos if select is None else [infos[int(index)] for index in select]:
            try:
                nest.allowance.check(given)
            except OSError as error:  # entries may overlap, so that each is small and all are huge
                return f"zip: {error}"
            given += info.file_size
            yield from _zip_member(archive, info, nest)
    return None


def _zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, nest: _Nest) -> Iterator[Found]:
    name = _clean(info.filename)
    if info.is_dir() or info.filename.endswith("\\") or _is_junk(name):
        return
    member = Member(_join(nest.inside, name), info.file_size, _zip_time(info))
    try:
        if stat.S_ISLNK(info.external_attr >> 16):
            raise OSError("the archive holds a symbolic link, not its content")
        if info.flag_bits & 1:
            raise OSError("is encrypted with a password, which cannot be read here")
        source = archive.open(info)
    except Exception as error:
        yield member, None, f"{member.path}: {_why(error)}"
        return
    with source:
        yield from _nested(member, _Guarded(_read1(source), nest.allowance), nest)


def _zip_time(info: zipfile.ZipInfo) -> datetime | None:
    """Info-ZIP's extended timestamp is UTC; the plain one is local time of an unknown zone, taken as UTC. Its first moment is
    what archivers write when they keep no time."""
    extra = info.extra
    while len(extra) >= 4:
        tag, size = struct.unpack_from("<HH", extra)
        if tag == 0x5455 and size >= 5 and len(extra) >= 9 and extra[4] & 1:
            return _moment(struct.unpack_from("<i", extra, 5)[0])
        extra = extra[4 + size :]
    try:
        return datetime(*info.date_time) if info.date_time > (1980, 1, 1, 0, 0, 0) else None
    except ValueError:
        return None


_LOCAL_HEADER = struct.Struct("<4sHHHHHLLLHH")


def _headless_zip(file: IO[bytes], nest: _Nest, why: str) -> _Walk:
    """A zip whose directory at the end is lost: its members one after another from their own headers."""
    file.seek(0)
    stream = _buffered(_Guarded(file.read, nest.allowance))
    while len(head := stream.read(_LOCAL_HEADER.size)) == _LOCAL_HEADER.size:
        magic, _, flags, method, _, _, _, packed, size, name_size, extra_size = _LOCAL_HEADER.unpack(head)
        if magic != b"PK\x03\x04":
            break
        raw = stream.read(name_size).decode("utf-8", "replace")
        name = _clean(raw)
        stream.read(extra_size)
        member = Member(_join(nest.inside, name), size or None, None)
        if flags & 9 or method not in (0, 8) or packed == 0xFFFFFFFF:
            return f"zip: {why}; its directory is lost and {name} cannot be read without it"
        part = _Part(stream, packed)
        read = _Inflated(part).read if method else part.read
        if not raw.endswith(("/", "\\")) and not _is_junk(name):
            yield from _nested(member, _Guarded(read, nest.allowance), nest)
        part.skip()
    return f"zip: {why}; read from its start as far as it goes"


class _Inflated:
    """A deflated zip member; raises where it is cut off."""

    def __init__(self, packed: _Part) -> None:
        self._packed = packed
        self._inflate = zlib.decompressobj(wbits=-zlib.MAX_WBITS)

    def read(self, size: int) -> bytes:
        out = b""
        while not out and not self._inflate.eof:
            data = self._inflate.unconsumed_tail or self._packed.read(_CHUNK)
            out = self._inflate.decompress(data, size)
            if not data and not out:
                raise EOFError("compressed data end too soon: the file is cut off")
        return out


# --- names and times ---


def _join(inside: str, name: str) -> str:
    return f"{inside}/{name}" if inside and name else inside or name


def _clean(name: str) -> str:
    """A member's name without './' and doubled slashes. A backslash, which no file of Kafka's has in its name, is Windows'
    separator: in its archives, and in what a program that knows no better took out of them."""
    return "/".join(part for part in _printable(name).replace("\\", "/").split("/") if part not in ("", "."))


def _printable(name: str) -> str:
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)


def _moment(seconds: float) -> datetime | None:
    """UTC; None for 0, which archivers write when they keep no time."""
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).replace(tzinfo=None) if seconds > 0 else None
    except (OverflowError, ValueError, OSError):
        return None
