"""Files and directories that are there whole or not at all: all that commands write goes through here.

Here: names beside the place, the way into it, and what is left when a signal ends the process. Not here: what is written.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

OF_ALL = 0o666
"""What a file's mode is made of, as `open` makes it; the umask takes from it."""

PART = ".part-"
"""What names of unfinished ones begin with; a process that was killed leaves them."""

_parts: set[Path] = set()


def forget() -> None:
    """Takes away what is not finished, for a process that ends here and now."""
    for part in list(_parts):
        _remove(part)


@contextmanager
def whole_file(path: str | Path, mode: int | None = None) -> Iterator[BinaryIO]:
    """A file that takes its place when all is written, and is gone when that fails. Modes are those of a new file, or of the one it replaces.
    What is no regular file, as a pipe or a device, is written as it is."""
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        with place.open("wb") as out:
            yield out
        return
    with whole_path(place, mode) as part, part.open("wb") as out:
        yield out


@contextmanager
def whole_path(place: Path, mode: int | None = None) -> Iterator[Path]:
    """The same of a file that is read again before it takes its place: there is an empty one, for its owner alone, to be written to."""
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
    """A directory beside it that takes its place when all is written, and is gone when that fails or nothing was written."""
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
    if within:  # another in its place would not be seen by who stands in it
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
