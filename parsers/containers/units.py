"""How evidence is divided into units of work for parallel readers: every member is in exactly one.

Here: shares of directories by files, of uncompressed tars by byte ranges, of zips by members, from names and sizes only. Not
here: how a unit is read (walk).
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from parsers.containers.directories import leaves
from parsers.containers.magic import form_of
from parsers.containers.names import printable
from parsers.containers.streams import BUFFER
from parsers.containers.tar import offsets

UNIT_BYTES = range(8 * 2**20, 256 * 2**20)
"""Smallest and largest aim for the size of a unit; between them a 64th of the evidence."""
_COMPRESSED_WEIGHT = 8  # text logs shrink about so much; only balances units
_FILE_COST = 16 * 2**10  # what opening one file costs, in bytes read


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


def units(paths: Sequence[str]) -> list[Unit]:
    """Divides evidence into shares for parallel readers; every member is in exactly one. Reads names and sizes only.

    Divided are directories (by files), uncompressed tars (by byte ranges) and zips (by members); a compressed tar can
    only be read from its start. Several arguments get prefixes: the shortest endings of their paths that differ.
    """
    unique = list({os.path.realpath(path): os.path.abspath(path) for path in paths}.values())
    names = dict.fromkeys(unique, "") if len(unique) == 1 else _prefixes(unique)
    aim = min(max(sum(map(_total, unique)) // 64, UNIT_BYTES.start), UNIT_BYTES.stop)
    return [replace(unit, prefix=names[path]) for path in unique for unit in _divide(path, aim)]


def _prefixes(paths: Sequence[str]) -> dict[str, str]:
    parts = {path: [printable(p) for p in path.split(os.sep) if p] for path in paths}
    for length in range(1, max(map(len, parts.values()), default=0) + 1):
        names = {path: "/".join(words[-length:]) for path, words in parts.items()}
        if len(set(names.values())) == len(names):
            return names
    return {path: f"{number}/{'/'.join(words)}" for number, (path, words) in enumerate(parts.items(), 1)}


def _total(path: str) -> int:
    return sum(_cost(path, name) for name in leaves(path)) if os.path.isdir(path) else _cost(path, "")


def _cost(root: str, name: str) -> int:
    try:
        size = os.lstat(os.path.join(root, name) if name else root).st_size
    except OSError:
        return _FILE_COST
    packed = (name or root).lower().endswith((".gz", ".tgz", ".bz2", ".xz", ".zst", ".zip", ".tbz2", ".txz"))
    return _FILE_COST + size * (_COMPRESSED_WEIGHT if packed else 1)


def _divide(path: str, aim: int) -> Iterator[Unit]:
    if os.path.isdir(path):
        for size, names in _groups(((_cost(path, name), name) for name in leaves(path)), aim):
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
            form = form_of(path, file.peek(BUFFER))
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
    for offset in offsets(file):
        if offset - cuts[-1] >= aim:
            cuts.append(offset)
    for start, stop in zip(cuts, [*cuts[1:], end], strict=True):
        yield stop - start, (f"{start}-{stop if stop != end else ''}",)
