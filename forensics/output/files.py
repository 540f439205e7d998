"""Files and directories that exist either complete or not at all: everything that commands write goes through here.

Here: temporary names, the rename into place, clean-up when a signal ends the process, and the check that neither evidence nor what a link
of another user names is written to. Not here: the content of files, or other checks of a path (forensics.commands.targets).
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

OF_ALL = 0o666
"""Mode of a new file, as `open` uses it, before the umask."""

PART = ".part-"
"""Prefix of the names of unfinished files; a process that was killed leaves such files."""

MEANWHILE = "another command wrote it in the meantime"
_parts: set[Path] = set()


def forget() -> None:
    """Removes unfinished files, for a process that ends now."""
    for part in list(_parts):
        _remove(part)


LINKS = 40
"""Symbolic links on the way to a file that Linux follows."""


def resolved(path: str | Path) -> Path:
    """The path without symbolic links. Raises OSError at a link of another user: with a link in a directory that both can write, such as
    /tmp, that user could have any file of this one replaced. The system follows such links, depending on its settings."""
    place, rest, links = Path("/"), [*reversed(Path(path).absolute().parts[1:])], 0
    while rest:
        part = rest.pop()
        at = place.parent if part == ".." else place / part
        if not at.is_symlink():
            place = at
            continue
        if at.lstat().st_uid not in (0, os.geteuid()):
            raise OSError(f"{at} is a symbolic link of another user, which is not followed")
        if (links := links + 1) > LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        aim = Path(os.readlink(at))
        place = Path("/") if aim.is_absolute() else place
        rest += reversed(aim.parts[aim.is_absolute() :])
    return place


def forbidden(path: str | Path, evidence: Iterable[str]) -> str | None:
    """Why nothing may be written at a path, if it is a file of the evidence or lies below it; otherwise None. Raises OSError as
    `resolved`."""
    place = resolved(path)
    for one in evidence:
        read = Path(os.path.realpath(one))
        if place == read and place.is_file():
            return "this file is the evidence, which is never written to; give another name"
        if read.is_dir() and place.is_relative_to(read):
            return f"it lies in the evidence ({one}), which is never written to; give a path outside of it"
    return None


@contextmanager
def whole_file(path: str | Path, mode: int | None = None, *, new: bool = False) -> Iterator[BinaryIO]:
    """A file that is renamed into place when all is written, and removed if that fails. It has the mode of a new file, or of the one it
    replaces; `new`: it replaces none. Anything but a regular file, such as a pipe or a device, is written directly."""
    place = resolved(path)
    if place.exists() and not place.is_file():
        with place.open("wb") as out:
            yield out
        return
    with whole_path(place, mode, new=new) as part, part.open("wb") as out:
        yield out


@contextmanager
def whole_path(path: Path, mode: int | None = None, *, new: bool = False) -> Iterator[Path]:
    """The same for a file that is read again before it is renamed: an empty file to write to, readable by its owner only."""
    place = resolved(path)
    handle, name = tempfile.mkstemp(prefix=PART, dir=place.parent)
    os.close(handle)
    part = Path(name)
    _parts.add(part)
    try:
        yield part
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.chmod(mode if mode is not None else place.stat().st_mode & 0o7777 if place.exists() else OF_ALL & ~_umask())
        with _alone(place.parent):
            if new and os.path.lexists(place):
                raise OSError(MEANWHILE)
            part.replace(place)
    finally:
        _remove(part)


@contextmanager
def whole_directory(directory: Path, mode: int | None = None, *, replace: bool = False) -> Iterator[Path]:
    """A temporary directory that is renamed into place when all is written, and removed if that fails or nothing was written. Raises
    OSError if there is another content then, unless `replace`."""
    place = resolved(directory)
    _make(place.parent, mode)
    within = place.is_dir() and not _filled(place) and (place.samefile(".") or os.path.ismount(place))
    made = Path(tempfile.mkdtemp(prefix=PART, dir=place if within else place.parent))
    _parts.add(made)
    try:
        yield made
        if any(made.iterdir()):
            _sync(made)
            made.chmod(mode if mode is not None else 0o777 & ~_umask())
            with _alone(place if within else place.parent):
                _put(made, place, within, replace)
    finally:
        _remove(made)


def _make(directory: Path, mode: int | None) -> None:
    if not directory.is_dir():
        _make(directory.parent, mode)
        directory.mkdir(mode=0o777 if mode is None else mode, exist_ok=True)


def _sync(directory: Path) -> None:
    for file in directory.rglob("*"):
        if file.is_file():
            with file.open("rb") as written:
                os.fsync(written.fileno())


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """No other process of this tool puts a result into the directory meanwhile."""
    with ExitStack() as stack:
        with suppress(OSError):  # it may be unreadable, or of a network file system that locks no directories
            handle = os.open(directory, os.O_RDONLY)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _filled(directory: Path) -> bool:
    return any(not entry.name.startswith(PART) for entry in directory.iterdir())


def _put(made: Path, place: Path, within: bool, replace: bool) -> None:
    if not replace and place.is_dir() and _filled(place):
        raise OSError(MEANWHILE)
    if within:  # keep the directory itself: processes whose working directory it is would not see a new one
        for entry in made.iterdir():
            entry.rename(place / entry.name)
    elif not place.exists():
        made.rename(place)
    else:
        aside = made.with_name(f"{made.name}.old")
        place.rename(aside)
        made.rename(place)
        shutil.rmtree(aside)


def _remove(part: Path) -> None:
    if part.is_dir():
        shutil.rmtree(part, ignore_errors=True)
    else:
        part.unlink(missing_ok=True)
    _parts.discard(part)


def _umask() -> int:
    now = os.umask(0o077)
    os.umask(now)
    return now
