"""How evidence is divided into units of work for parallel readers: every member is in exactly one.

Here: division of directories by files, of uncompressed tars by byte ranges, of zips by members, from names and sizes only. Not here: the
reading of a unit (walk).
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from parsers import pattern_files
from parsers.containers.magic import form_of
from parsers.containers.names import printable
from parsers.containers.storage import Leaf, Version, absolute, identity, storage, without_secrets
from parsers.containers.streams import BUFFER
from parsers.containers.tar import offsets
from parsers.containers.zip import opened
from parsers.limits import DEFAULTS, Limits
from parsers.limits import put_in_force as put_limits_in_force
from parsers.own_files import OwnFile

UNIT_BYTES = range(8 * 2**20, 256 * 2**20)
"""Smallest and largest target for the size of a unit; between them a 64th of the evidence."""
_COMPRESSED_WEIGHT = 8  # typical compression of text logs; only balances units
_FILE_COST = 16 * 2**10  # cost of opening one file, in bytes read

T = TypeVar("T")


class LogPiece(NamedTuple):
    """Byte range of a large log, from `begin` to `end`, or to the end of the file if `end` is None (parsers.catalogue.piece)."""

    begin: int
    end: int | None
    lines: int = 0
    """Line feeds before `begin`."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A share of the evidence for one reader."""

    path: str
    """The argument that contains it: a path or a URI (storage)."""
    select: tuple[str, ...] | None
    """Files relative to a directory; indexes of a zip; one 'start-end' range of a tar; None means all."""
    size: int
    """Estimated bytes to read, compressed bytes counted several times; only for balance."""
    prefix: str = ""
    """Prefix of member paths; empty if the evidence is one argument."""
    versions: tuple[Version | None, ...] = ()
    """Versions of the objects that were listed, for the selected files or the argument itself; empty for local files."""
    piece: LogPiece | None = None
    """The part to read if the unit is a single file; None means all of the file."""
    dealt: tuple[int, int] | None = None
    """(number, of) of the share of members to read if the unit is a single compressed tar; None means all of them."""
    limits: Limits = DEFAULTS
    patterns: tuple[OwnFile, ...] = ()
    """The user's files of line patterns."""

    def put_in_force(self) -> None:
        """This process now reads with the limits and patterns of the unit."""
        put_limits_in_force(self.limits)
        pattern_files.put_in_force(self.patterns)


class ListedUnit(NamedTuple):
    """The unit for one argument."""

    path: str
    prefix: str
    leaves: Sequence[Leaf]


def units(paths: Sequence[str], limits: Limits = DEFAULTS, patterns: Sequence[OwnFile] = ()) -> list[Unit]:
    """Divides evidence into shares for parallel readers; every member is in exactly one. Reads names and sizes only.

    Directories are divided by files, uncompressed tars by byte ranges and zips by members; a compressed tar can only be read from its
    start. If there are several arguments, each gets a prefix: the shortest ending of its path that is unique.
    """
    return divided(listed(paths), limits, patterns)


def listed(paths: Sequence[str]) -> list[ListedUnit]:
    """The arguments to be divided."""
    return [ListedUnit(path, prefix, list(storage(path).leaves())) for path, prefix in prefixes(paths).items()]


def prefixes(paths: Sequence[str]) -> dict[str, str]:
    """The prefix of the files of each argument; none if there is only one."""
    unique = list({identity(path): absolute(path) for path in paths}.values())
    return dict.fromkeys(unique, "") if len(unique) == 1 else _prefixes(unique)


def divided(listed: Sequence[ListedUnit], limits: Limits = DEFAULTS, patterns: Sequence[OwnFile] = ()) -> list[Unit]:
    """The units of the listed files, or of some of them."""
    files = tuple(patterns)
    put_limits_in_force(limits)
    pattern_files.put_in_force(files)
    total = sum(_cost(one.path, leaf) for one in listed for leaf in one.leaves)
    aim = min(max(total // 64, UNIT_BYTES.start), UNIT_BYTES.stop)
    found_units = (replace(unit, prefix=one.prefix) for one in listed if one.leaves for unit in _divide(one.path, one.leaves, aim))
    return [replace(unit, limits=limits, patterns=files) for unit in found_units]


def _prefixes(paths: Sequence[str]) -> dict[str, str]:
    parts = {path: [printable(p) for p in without_secrets(path).split(os.sep) if p] for path in paths}
    for length in range(1, max(map(len, parts.values()), default=0) + 1):
        names = {path: "/".join(words[-length:]) for path, words in parts.items()}
        if len(set(names.values())) == len(names):
            return names
    return {path: f"{number}/{'/'.join(words)}" for number, (path, words) in enumerate(parts.items(), 1)}


def _cost(path: str, leaf: Leaf) -> int:
    packed = (leaf.name or without_secrets(path)).lower().endswith((".gz", ".tgz", ".bz2", ".xz", ".zst", ".zip", ".tbz2", ".txz"))
    return _FILE_COST + (leaf.size or 0) * (_COMPRESSED_WEIGHT if packed else 1)


def _divide(path: str, leaves: Sequence[Leaf], aim: int) -> Iterator[Unit]:
    if storage(path).is_directory():
        for size, group in _groups(((_cost(path, leaf), leaf) for leaf in leaves), aim):
            yield Unit(path, tuple(leaf.name for leaf in group), size, versions=_versions(group))
        return
    (leaf,) = leaves
    cost = _cost(path, leaf)
    shares: list[tuple[int, tuple[str, ...] | None]] = [*_shares(path, aim)] if cost > aim else []
    for size, select in shares or [(cost, None)]:
        yield Unit(path, select, size, versions=_versions(leaves))


def _versions(leaves: Sequence[Leaf]) -> tuple[Version | None, ...]:
    return tuple(leaf.version for leaf in leaves) if any(leaf.version for leaf in leaves) else ()


def _groups(weighed: Iterable[tuple[int, T]], aim: int) -> Iterator[tuple[int, list[T]]]:
    total, group = 0, list[T]()
    for weight, one in weighed:
        if group and total + weight > aim:
            yield total, group
            total, group = 0, []
        total += weight
        group.append(one)
    if group:
        yield total, group


def _shares(path: str, aim: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    try:
        with io.BufferedReader(storage(path).open(), BUFFER) as file:
            form = form_of(path, file.peek(BUFFER))
            if form == "tar":
                yield from _tar_shares(file, aim)
            elif form == "zip":
                with opened(file) as archive:
                    sizes = ((_FILE_COST + info.file_size, str(index)) for index, info in enumerate(archive.infolist()))
                    yield from ((size, tuple(names)) for size, names in _groups(sizes, aim))
    except Exception:  # a damaged archive is not divided: its reader reports the damage
        return


def _tar_shares(file: io.BufferedReader[Any], aim: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    end = file.seek(0, os.SEEK_END)
    cuts = [0]
    for offset in offsets(file):
        if offset - cuts[-1] >= aim:
            cuts.append(offset)
    for start, stop in zip(cuts, [*cuts[1:], end], strict=True):
        yield stop - start, (f"{start}-{stop if stop != end else ''}",)
