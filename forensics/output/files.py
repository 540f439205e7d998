"""Files and directories that exist either complete or not at all: everything that commands write goes through here.

Here: temporary names, the rename into place, clean-up when a signal ends the process, and the check that evidence is never written to.
Not here: the content of files, or other checks of a path (forensics.commands.targets).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

OF_ALL = 0o666
"""Mode of a new file, as `open` uses it, before the umask."""

PART = ".part-"
"""Prefix of the names of unfinished files; a process that was killed leaves such files."""

_parts: set[Path] = set()


def forget() -> None:
    """Removes unfinished files, for a process that ends now."""
    for part in list(_parts):
        _remove(part)


def in_evidence(path: str | Path, evidence: Iterable[str]) -> str | None:
    """Why nothing may be written at a path, if it is a file of the evidence or lies below it; otherwise None."""
    place = Path(os.path.realpath(path))
    for one in evidence:
        read = Path(os.path.realpath(one))
        if place == read and place.is_file():
            return "this file is the evidence, which is never written to; give another name"
        if read.is_dir() and place.is_relative_to(read):
            return f"it lies in the evidence ({one}), which is never written to; give a path outside of it"
    return None


@contextmanager
def whole_file(path: str | Path, mode: int | None = None) -> Iterator[BinaryIO]:
    """A file that is renamed into place when all is written, and removed if that fails. It has the mode of a new file, or of the one it
    replaces. Anything but a regular file, such as a pipe or a device, is written directly."""
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        with place.open("wb") as out:
            yield out
        return
    with whole_path(place, mode) as part, part.open("wb") as out:
        yield out


@contextmanager
def whole_path(place: Path, mode: int | None = None) -> Iterator[Path]:
    """The same for a file that is read again before it is renamed: an empty file to write to, readable by its owner only."""
    handle, name = tempfile.mkstemp(prefix=PART, dir=place.parent)
    os.close(handle)
    part = Path(name)
    _parts.add(part)
    try:
        yield part
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.chmod(mode if mode is not None else place.stat().st_mode & 0o7777 if place.exists() else OF_ALL & ~_umask())
        part.replace(place)
    finally:
        _remove(part)


@contextmanager
def whole_directory(directory: Path, mode: int | None = None) -> Iterator[Path]:
    """A temporary directory that is renamed into place when all is written, and removed if that fails or nothing was written."""
    place = directory.resolve()
    _make(place.parent, mode)
    within = place.is_dir() and not any(place.iterdir()) and (place.samefile(".") or os.path.ismount(place))
    made = Path(tempfile.mkdtemp(prefix=PART, dir=place if within else place.parent))
    _parts.add(made)
    try:
        yield made
        if any(made.iterdir()):
            _sync(made)
            made.chmod(mode if mode is not None else 0o777 & ~_umask())
            _put(made, place, within)
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


def _put(made: Path, place: Path, within: bool) -> None:
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
