"""Storage of evidence: local files, or objects of a store that pyarrow reads (`s3://`, `gs://`, `abfs://`, `hdfs://`).

Here: the only module that opens, lists and queries evidence, and that detects objects replaced since they were listed. Not here: the
contents of files (walk) or the division of evidence (units).

An argument is a path, or a URI with the options of `pyarrow.fs.FileSystem.from_uri`. Credentials in a URI are never shown.
"""

from __future__ import annotations

import errno
import io
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache, partial
from socket import gaierror
from typing import Any, ClassVar, NamedTuple, Protocol
from urllib.parse import parse_qs, unquote, urlsplit

from parsers.cached import cached_property
from parsers.containers.directories import leaves, link_trouble
from parsers.containers.names import moment, printable
from parsers.containers.streams import why
from parsers.limits import in_force
from parsers.lines import is_zeros

_REMOTE = re.compile(r"(?:s3|gs|gcs|abfs|abfss|hdfs|viewfs)://", re.IGNORECASE)
_UP_TO_AT = re.compile(r"[^\s'@]+@?")
_USER = re.compile(r"[^/]*:(?!\d+/)|[^/]*@")
"""In a URI, what follows its scheme if it has a user and a password (which may contain a slash that should have been written %2F)."""
_OPTIONS = re.compile(r"\?[^\s']*")
"""The options of a URI, some of which are keys."""
_NO_ANSWER = re.compile(r"curlCode: \d+, (?P<why>[^;]*)")
NO_FILE = "is not a regular file (socket, pipe or device)"
CHANGED = "was changed while it was read"
_BLOCK = 512
"""Bytes of a block in which file systems count."""
READ_AHEAD = range(2**17, 2**23)
"""Bytes requested from a store at a time: few at first, twice as many with each further sequential read."""


class _HeldObjects:
    """The content of objects that are read more than once."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.contents: dict[tuple[str, str, Version | None], memoryview] = {}


_held: _HeldObjects | None = None


@contextmanager
def held(room: int) -> Iterator[None]:
    """Objects opened in this context are read whole, by one request each, and opened again without a request, as far as they fit into
    `room` bytes together. For a process that reads the same objects more than once; one context at a time."""
    global _held
    _held = _HeldObjects(room)
    try:
        yield
    finally:
        _held = None


class Version(NamedTuple):
    """Version of an object, as listed."""

    size: int
    changed: int
    """Seconds since 1970, the precision of some of a store's answers; 0 if unknown."""


class Leaf(NamedTuple):
    """A directory entry: a file, or anything else with a name."""

    name: str
    """Relative to the directory; '' is the argument itself."""
    size: int | None
    version: Version | None
    """Only for objects: local files may grow while they are collected."""
    changed: int | None = None
    """Nanoseconds since 1970, as reported by the file system or the store."""


class EvidenceFile(io.RawIOBase):
    """An open file of the evidence, unbuffered."""

    meter: ClassVar[Callable[[EvidenceFile, int], None] | None] = None
    """Called with the number of bytes of each read; progress displays set it."""
    size: int
    modified: datetime | None
    thin = False
    """The content is far longer than what is stored of it."""

    def changed(self) -> str | None:
        """Why the content read may be a mixture of old and new."""
        return None


class Storage(Protocol):
    """The evidence of one argument."""

    name: str
    """Name used if the evidence has no other."""

    def trouble(self) -> str | None:
        """Why nothing can be read from this storage."""

    def is_directory(self) -> bool: ...
    def leaves(self) -> Iterator[Leaf]:
        """Everything except readable directories, in a fixed order."""

    def open(self, name: str = "", version: Version | None = None) -> EvidenceFile:
        """Opens the leaf. Raises OSError, also if the object is not this version any more."""

    def refusal(self, name: str) -> tuple[str, datetime | None] | None:
        """Why a leaf cannot be opened as a file, and its modification time; '' for a readable directory."""


@lru_cache(maxsize=64)
def storage(path: str) -> Storage:
    """The storage an argument names."""
    if _REMOTE.match(path):
        return _Objects(path)
    return _LocalStore(unquote(urlsplit(path).path) if path.lower().startswith("file://") else path)


def is_object_store(path: str) -> bool:
    """Whether the path is the URI of an S3 bucket."""
    return path.lower().startswith("s3://")


def silent_endpoint(uri: str, error: Exception) -> str | None:
    """Which endpoint of an S3 store cannot be reached, and what to check, if that is the error."""
    if (found := _NO_ANSWER.search(str(error).partition("NETWORK_CONNECTION")[2])) is not None:
        reason = found["why"].strip()
    elif isinstance(error, ConnectionRefusedError | TimeoutError | gaierror):
        reason = error.strerror or "no answer in time"
    else:
        return None
    parts = urlsplit(uri)
    in_uri = parse_qs(parts.query).get("endpoint_override", [""])[-1]
    if given := in_uri or os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL"):
        where = f"the endpoint of the store, {printable(given.rpartition('@')[2])}, does not answer"
        return f"{where} ({reason}); check that it runs, the network, and endpoint_override and scheme in the URI or AWS_ENDPOINT_URL"
    return f"Amazon S3 does not answer ({reason}); check the network, and for another store, set endpoint_override in the URI or AWS_ENDPOINT_URL"


def identity(path: str) -> str:
    """A key that is equal for all ways to name the same evidence."""
    return path.rstrip("/") if _REMOTE.match(path) else os.path.realpath(_local(path))


def absolute(path: str) -> str:
    """The argument in a form that works from any working directory."""
    return path if _REMOTE.match(path) else os.path.abspath(_local(path))


def without_secrets(path: str) -> str:
    """An argument, or a text that may contain one, without secrets."""
    return _OPTIONS.sub("", _UP_TO_AT.sub(lambda piece: _without_user(piece[0]), path)) if "://" in path else path


def _without_user(piece: str) -> str:
    at = piece.find("://") + 3 if piece.endswith("@") else 2
    while at > 2 and _USER.match(piece, at) is None:
        at = piece.find("://", at) + 3
    return piece[:at] if at > 2 else piece


def _local(path: str) -> str:
    at = storage(path)
    assert isinstance(at, _LocalStore)
    return at.path


def _untouched(path: str, flags: int) -> int:
    """Opens a local file for reading, if possible without changing its access time, which is evidence too. Does not wait for a pipe."""
    flags |= getattr(os, "O_NONBLOCK", 0)
    try:
        return os.open(path, flags | getattr(os, "O_NOATIME", 0))
    except PermissionError:
        return os.open(path, flags)


def _written(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def regular(directory: str | os.PathLike[str], name: str = "") -> EvidenceFile:
    """Opens a file of a local directory, or with '' the path itself: the way to open anything that a user names or a stranger made. Raises
    OSError if there is no such file, if it is a pipe or a device, or if a link leads out of the directory."""
    place = _LocalStore(os.fspath(directory))
    base, target = os.path.realpath(place.path), os.path.realpath(os.path.join(place.path, name))
    if name and os.path.commonpath([base, target]) != base:
        raise OSError(f"leads out of {printable(place.path)}, not followed")
    return place.open(name)


class _LocalFile(EvidenceFile, io.FileIO):
    """A local file."""

    def __init__(self, path: str) -> None:
        io.FileIO.__init__(self, path, "rb", opener=_untouched)
        status = os.fstat(self.fileno())
        if not stat.S_ISREG(status.st_mode):
            self.close()
            raise OSError(errno.EINVAL, NO_FILE)
        self.size, self.modified = status.st_size, moment(status.st_mtime)
        self._first = _written(status)
        self._most = in_force().stream
        self.thin = status.st_size - getattr(status, "st_blocks", status.st_size) * _BLOCK > self._most
        self._zeros = 0

    def changed(self) -> str | None:
        now = os.fstat(self.fileno())
        return None if _written(now) == self._first else f"{CHANGED}: it had {self.size} bytes and has {now.st_size}"

    def read(self, size: int | None = -1) -> bytes:
        data = io.FileIO.read(self, size)
        self._pass(data)
        return data

    def readinto(self, buffer: Any) -> int:
        size = io.FileIO.readinto(self, buffer)
        self._pass(memoryview(buffer).cast("B")[:size])
        return size

    def _pass(self, data: bytes | memoryview) -> None:
        """Counts what was read. Raises OSError after too many zeros of a sparse file: a hole costs nothing, and may have terabytes."""
        if EvidenceFile.meter is not None:
            EvidenceFile.meter(self, len(data))
        if self.thin and is_zeros(bytes(data)):
            self._zeros += len(data)
            if self._zeros > self._most:
                raise OSError(f"is a sparse file of {self.size} bytes: not read further after {self._most} bytes of zeros (--limit stream)")


class _LocalStore:
    """A local file or directory."""

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

    def open(self, name: str = "", version: Version | None = None) -> EvidenceFile:
        try:
            return _LocalFile(self._full(name))
        except OSError as error:
            raise OSError(error.strerror) from None  # the label already contains the path

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
    """An object, or all objects below a prefix.

    No modification time: a store's time is that of the upload, which would be wrong as evidence.
    """

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._kind: str | None = None
        """The type that `trouble`, or else the first question, found: a prefix does not become an object during a run."""
        parts = urlsplit(uri)
        self.name = printable(unquote((parts.path.rstrip("/") or parts.netloc.rpartition("@")[2]).rsplit("/", 1)[-1]))

    def trouble(self) -> str | None:
        try:
            kind = self._kind = self._info().type.name
        except Exception as error:  # a store's client raises its own errors, also for missing objects
            return silent_endpoint(self._uri, error) or f"cannot be read: {_message(error)}"
        return "no such object or prefix" if kind == "NotFound" else None

    def is_directory(self) -> bool:
        try:
            if self._kind is None:
                self._kind = self._info().type.name
        except Exception:  # the error occurs again on opening, where it is reported
            return False
        return self._kind == "Directory"

    def leaves(self) -> Iterator[Leaf]:
        if not self.is_directory():
            yield self._leaf("", self._info())
            return
        from pyarrow.fs import FileSelector

        files, base = self._there
        infos = files.get_file_info(FileSelector(base, recursive=True))
        named = ((info.path[len(base) :].lstrip("/"), info) for info in infos if info.type.name != "Directory")
        for name, info in sorted(named, key=lambda one: one[0].split("/")):
            yield self._leaf(name, info)

    def open(self, name: str = "", version: Version | None = None) -> EvidenceFile:
        key = self._uri, name, version
        if _held is not None and key in _held.contents:
            return _Object(None, "", _held.contents[key])
        files, base = self._there
        path = f"{base.rstrip('/')}/{name}" if name else base
        try:
            file = _Object(files, path)
            if version is not None and (now := file.version()) != version:
                file.close()
                raise OSError(_other(version, now))
        except FileNotFoundError as error:
            raise OSError(_message(error) if version is None else _other(version, None)) from None
        except Exception as error:
            raise OSError(_message(error)) from None
        if _held is not None and file.size <= _held.room:
            _held.room -= file.size
            file.keep = partial(_held.contents.__setitem__, key)
        return file

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


class _Object(EvidenceFile):
    """An object as a seekable file, read in few requests."""

    keep: Callable[[memoryview], None] | None = None
    """Takes the content, which is then read whole."""

    def __init__(self, files: Any, path: str, content: memoryview | None = None) -> None:
        """`content`: that of the object, if it is known: then nothing is requested."""
        super().__init__()
        self._files, self._path, self._content = files, path, content
        if content is not None:
            self._source: Any = None
            self._first: Any = None
            self.size = len(content)
        else:
            self._source = files.open_input_file(path)
            self._first = self._source.metadata()
            self.size = self._source.size()
        self.modified = None
        self._at = self._asked = 0
        self._window, self._begin = memoryview(b""), 0
        self._ahead = READ_AHEAD.start

    def version(self) -> Version | None:
        """From the answer to the opening, without another request, if the store states both size and time there."""
        try:
            at = datetime.fromisoformat(self._first["Last-Modified"].decode().replace("Z", "+00:00"))
        except (KeyError, ValueError, TypeError, AttributeError):
            return _version(self._files.get_file_info(self._path))
        return Version(self.size, int(at.timestamp()))

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
        if EvidenceFile.meter is not None:
            EvidenceFile.meter(self, len(piece))
        return len(piece)

    def _fetch(self, wanted: int) -> None:
        if self.keep is not None and self._content is None:
            self._content = self._requested(self.size, 0)
            self.keep(self._content)
        if self._content is not None:
            self._window, self._begin = self._content, 0
            return
        goes_on = self._at == self._begin + len(self._window)
        self._ahead = min(self._ahead * 2, READ_AHEAD.stop) if goes_on and self._window else READ_AHEAD.start
        size = max(wanted, self._ahead)
        begin = max(0, min(self._at, self.size - size))  # at the end of a zip, the bytes before are needed next
        size = min(size, self.size - begin) if self._at < self.size else 0
        self._window, self._begin = memoryview(b""), self._at
        if size:
            self._window, self._begin = self._requested(size, begin), begin

    def _requested(self, size: int, begin: int) -> memoryview:
        """A part of the object. Raises OSError, and EOFError if the store returns less."""
        if not size:
            return memoryview(b"")
        self._asked += 1
        try:
            data = memoryview(self._source.read_at(size, begin))
        except Exception as error:
            raise OSError(_message(error)) from None
        if len(data) < size:
            self._window, self._begin = data, begin
            raise EOFError(f"ends at byte {begin + len(data)} of {self.size}: the store cut it off, or it was changed")
        return data

    def changed(self) -> str | None:
        if self._asked < 2:  # one answer has one content
            return None
        try:
            with self._files.open_input_file(self._path) as now:
                same = now.metadata() == self._first and now.size() == self.size
        except Exception as error:
            return f"may have changed while it was read: {_message(error)}"
        return None if same else f"{CHANGED}: what was read of it may be of both"

    def close(self) -> None:
        if not self.closed and self._source is not None:
            self._source.close()
        super().close()


def _version(info: Any) -> Version | None:
    return Version(info.size, (info.mtime_ns or 0) // 10**9) if info.size is not None else None


def _other(was: Version, now: Version | None) -> str:
    if now is None:
        return "is gone since it was listed"
    if now.size != was.size:
        return f"was changed since it was listed: it had {was.size} bytes and has {now.size}"
    return "was overwritten after it was listed"


def _message(error: Exception) -> str:
    """The message of a store's client, in one line."""
    return printable(" ".join(without_secrets(why(error)).split()))[:300]
