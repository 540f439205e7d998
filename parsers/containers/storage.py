"""Where evidence lies: files of this machine, or objects of a store that pyarrow reads (`s3://`, `gs://`, `abfs://`, `hdfs://`).

Here: the one place that opens, lists and asks for evidence, and tells where an object is another one than was listed. Not here:
what is in a file (walk) or how evidence is divided (units).

An argument is a path, or a URI with the options of `pyarrow.fs.FileSystem.from_uri`. What a URI says of credentials is never shown.
"""

from __future__ import annotations

import errno
import io
import os
import re
import stat
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Protocol
from urllib.parse import unquote, urlsplit

from parsers.cached import cached_property
from parsers.containers.directories import leaves, link_trouble
from parsers.containers.names import clean, is_junk, moment, printable
from parsers.containers.streams import why

_REMOTE = re.compile(r"(?:s3|gs|gcs|abfs|abfss|hdfs|viewfs)://", re.IGNORECASE)
_SECRET = re.compile(r"(?<=://)(?:[^/@\s']*:(?!\d+/)[^@\s']*|[^/@\s']*)@|\?[^\s']*")
"""In a URI: user and password (which may hold a slash that should have been written %2F), and its options, of which some are keys."""
NO_FILE = "is no regular file but a socket, pipe or device"
READ_AHEAD = range(2**17, 2**23)
"""Bytes asked of a store at a time: few where something is looked up, twice as many each time while it is read on."""


class Version(NamedTuple):
    """Which object it was, as a listing told it."""

    size: int
    changed: int
    """Seconds since 1970, for some answers of a store have no more; 0 where it does not say."""


class Leaf(NamedTuple):
    """A file of a directory, or whatever else has a name there."""

    name: str
    """Relative to the directory; '' is the argument itself."""
    size: int | None
    version: Version | None
    """Only of objects: local files may grow while they are collected."""
    changed: int | None = None
    """Nanoseconds since 1970, as the file system or the store tells them."""


class File(io.RawIOBase):
    """An open file of the evidence, unbuffered."""

    meter: ClassVar[Callable[[File, int], None] | None] = None
    """Is told how many bytes come from each, by whoever shows how far this process is."""
    size: int
    modified: datetime | None

    def changed(self) -> str | None:
        """Why what was read may be neither the old content nor the new one."""
        return None


class Storage(Protocol):
    """One argument's evidence."""

    name: str
    """What it is called where nothing else names it."""

    def trouble(self) -> str | None:
        """Why nothing can be read there at all."""

    def is_directory(self) -> bool: ...
    def leaves(self) -> Iterator[Leaf]:
        """All that is no readable directory, in a fixed order."""

    def open(self, name: str = "", version: Version | None = None) -> File:
        """Raises OSError, also where it is not this version any more."""

    def refusal(self, name: str) -> tuple[str, datetime | None] | None:
        """Why a leaf is no file that can be opened, and when it was changed; '' for a directory that can be read."""


@lru_cache(maxsize=64)
def storage(path: str) -> Storage:
    """The storage an argument names."""
    if _REMOTE.match(path):
        return _Objects(path)
    return _Local(unquote(urlsplit(path).path) if path.lower().startswith("file://") else path)


def identity(path: str) -> str:
    """The same for all ways to name the same evidence."""
    return path.rstrip("/") if _REMOTE.match(path) else os.path.realpath(_local(path))


def absolute(path: str) -> str:
    """The argument as it can be used from any working directory."""
    return path if _REMOTE.match(path) else os.path.abspath(_local(path))


def without_secrets(path: str) -> str:
    """An argument, or a text that may name one, without what is secret in it."""
    return _SECRET.sub("", path) if "://" in path else path


def _local(path: str) -> str:
    at = storage(path)
    assert isinstance(at, _Local)
    return at.path


def _untouched(path: str, flags: int) -> int:
    """Opened for reading without a new access time, where it is ours and the system knows how: that is evidence, too. A pipe is not waited for."""
    flags |= getattr(os, "O_NONBLOCK", 0)
    try:
        return os.open(path, flags | getattr(os, "O_NOATIME", 0))
    except PermissionError:
        return os.open(path, flags)


class _LocalFile(File, io.FileIO):
    """A file of this machine."""

    def __init__(self, path: str) -> None:
        io.FileIO.__init__(self, path, "rb", opener=_untouched)
        status = os.fstat(self.fileno())
        if not stat.S_ISREG(status.st_mode):
            self.close()
            raise OSError(errno.EINVAL, NO_FILE)
        self.size, self.modified = status.st_size, moment(status.st_mtime)

    def read(self, size: int | None = -1) -> bytes:
        data = io.FileIO.read(self, size)
        if File.meter is not None:
            File.meter(self, len(data))
        return data

    def readinto(self, buffer: Any) -> int:
        size = io.FileIO.readinto(self, buffer)
        if File.meter is not None:
            File.meter(self, size)
        return size


class _Local:
    """A file or directory of this machine."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = printable(os.path.basename(os.path.normpath(path)))

    def trouble(self) -> str | None:
        return None if os.path.exists(self.path) else "no such file or directory"

    def is_directory(self) -> bool:
        return os.path.isdir(self.path)

    def leaves(self) -> Iterator[Leaf]:
        for name in leaves(self.path) if self.is_directory() else ("",):
            try:
                status = os.lstat(self._full(name))
                yield Leaf(name, status.st_size, None, status.st_mtime_ns)
            except OSError:
                yield Leaf(name, None, None)

    def open(self, name: str = "", version: Version | None = None) -> File:
        try:
            return _LocalFile(self._full(name))
        except OSError as error:
            raise OSError(error.strerror) from None  # the path is in the label already

    def refusal(self, name: str) -> tuple[str, datetime | None] | None:
        full = self._full(name)
        try:
            status = os.lstat(full)
            if stat.S_ISDIR(status.st_mode):
                os.scandir(full).close()
                return "", None
        except OSError as error:
            return f"cannot be read: {error.strerror}", None
        if stat.S_ISREG(status.st_mode):
            return None
        if not stat.S_ISLNK(status.st_mode):
            return NO_FILE, moment(status.st_mtime)
        trouble = link_trouble(self.path, full)
        return (trouble or "", moment(status.st_mtime))

    def _full(self, name: str) -> str:
        return os.path.join(self.path, name) if name else self.path


class _Objects:
    """An object, or all below a prefix.

    No modification time: a store's is that of the upload, and as evidence it would be wrong.
    """

    def __init__(self, uri: str) -> None:
        self._uri = uri
        parts = urlsplit(uri)
        self.name = printable(unquote((parts.path.rstrip("/") or parts.netloc.rpartition("@")[2]).rsplit("/", 1)[-1]))

    def trouble(self) -> str | None:
        try:
            kind = self._info().type.name
        except Exception as error:  # a store's client fails in its own ways, and so does what it cannot find
            return f"cannot be read: {_told(error)}"
        return "no such object or prefix" if kind == "NotFound" else None

    def is_directory(self) -> bool:
        try:
            return bool(self._info().type.name == "Directory")
        except Exception:  # whoever opens it meets the same, and names it
            return False

    def leaves(self) -> Iterator[Leaf]:
        if not self.is_directory():
            yield self._leaf("", self._info())
            return
        from pyarrow.fs import FileSelector

        files, base = self._there
        found = files.get_file_info(FileSelector(base, recursive=True))
        named = ((info.path[len(base) :].lstrip("/"), info) for info in found if info.type.name != "Directory")
        for name, info in sorted(named, key=lambda one: one[0].split("/")):
            if not is_junk(clean(name)):
                yield self._leaf(name, info)

    def open(self, name: str = "", version: Version | None = None) -> File:
        files, base = self._there
        path = f"{base.rstrip('/')}/{name}" if name else base
        try:
            if version is not None and (now := _version(files.get_file_info(path))) != version:
                raise OSError(_other(version, now))
            return _Object(files, path)
        except Exception as error:
            raise OSError(_told(error)) from None

    def refusal(self, name: str) -> tuple[str, datetime | None] | None:
        return None

    def _leaf(self, name: str, info: Any) -> Leaf:
        version = _version(info)
        return Leaf(name, version.size if version else None, version, info.mtime_ns)

    def _info(self) -> Any:
        files, base = self._there
        return files.get_file_info(base)

    @cached_property
    def _there(self) -> tuple[Any, str]:
        from pyarrow.fs import FileSystem

        files, base = FileSystem.from_uri(self._uri)
        return files, base.rstrip("/")


class _Object(File):
    """An object as a file that can be read from any place, in few requests."""

    def __init__(self, files: Any, path: str) -> None:
        super().__init__()
        self._files, self._path = files, path
        self._source = files.open_input_file(path)
        self._first = self._source.metadata()
        self.size = self._source.size()
        self.modified = None
        self._at = self._asked = 0
        self._window, self._begin = memoryview(b""), 0
        self._ahead = READ_AHEAD.start

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        self._at = position + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        if not self._begin <= self._at < self._begin + len(self._window):
            self._fetch(len(view))
        at = self._at - self._begin
        piece = self._window[at : at + len(view)]
        view[: len(piece)] = piece
        self._at += len(piece)
        if File.meter is not None:
            File.meter(self, len(piece))
        return len(piece)

    def _fetch(self, wanted: int) -> None:
        goes_on = self._at == self._begin + len(self._window)
        self._ahead = min(self._ahead * 2, READ_AHEAD.stop) if goes_on and self._window else READ_AHEAD.start
        size = max(wanted, self._ahead)
        begin = max(0, min(self._at, self.size - size))  # at the end of a zip what stands before is wanted next
        size = min(size, self.size - begin) if self._at < self.size else 0
        try:
            self._window = memoryview(self._source.read_at(size, begin) if size else b"")
        except Exception as error:
            raise OSError(_told(error)) from None
        self._begin = begin if size else self._at
        self._asked += size > 0
        if len(self._window) < size:
            raise EOFError(f"ends at byte {begin + len(self._window)} of {self.size}: the store cut it off, or it was changed")

    def changed(self) -> str | None:
        if self._asked < 2:  # what came in one answer is one content
            return None
        try:
            with self._files.open_input_file(self._path) as now:
                same = now.metadata() == self._first and now.size() == self.size
        except Exception as error:
            return f"may have changed while it was read: {_told(error)}"
        return None if same else "was changed while it was read: what was read of it may be of both"

    def close(self) -> None:
        if not self.closed:
            self._source.close()
        super().close()


def _version(info: Any) -> Version | None:
    return Version(info.size, (info.mtime_ns or 0) // 10**9) if info.size is not None else None


def _other(was: Version, now: Version | None) -> str:
    if now is None:
        return "is gone since it was listed"
    if now.size != was.size:
        return f"was changed since it was listed: it had {was.size} bytes and has {now.size}"
    return "was written anew since it was listed"


def _told(error: Exception) -> str:
    """What a store's client says, in one line."""
    return printable(" ".join(without_secrets(why(error)).split()))[:300]
