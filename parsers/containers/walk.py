"""Walks evidence: every file of a directory, archive or compressed file as an open binary stream.

Here: what lies in what, tar, zip and compressed files in any nesting, read as streams in bounded memory; what cannot be read
comes out as a named problem. Not here: what is in one of them (tar, zip, compression), how evidence is divided (units), or
what a file means (parsers.sniff and the readers).

Nothing is unpacked beside the evidence. The one exception to pure streaming: a zip inside another container has its
directory at its end, so it is spooled (zip.Spool).
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import IO, cast

from parsers.containers.compression import DECOMPRESSORS, Inflated, Unpacked, compression
from parsers.containers.magic import UNREAD, form_of
from parsers.containers.names import clean, join
from parsers.containers.storage import File, Storage, Version, storage
from parsers.containers.streams import BUFFER, CHUNK, Allowance, Entry, Guarded, Read, buffered, why
from parsers.containers.tar import Ahead, is_tar, tar_entries
from parsers.containers.units import Unit
from parsers.containers.zip import Spool, zip_entries
from parsers.limits import put_in_force
from parsers.schemas import Member

_FAST = frozenset({"gzip", "zstd"})
"""Compressions that give hundreds of megabytes in a second."""

Found = tuple[Member, io.BufferedReader | None, str | None]
"""A member with its stream (`peek`, `read`, `readline`; valid until the next iteration), or with what is wrong with it."""
_Walk = Generator[Found, None, str | None]
"""Returns what was wrong with the container itself."""


Sealed = Callable[[Member, str, int, str], None]
"""Is told of each file on disk that is a container: its form, its size and SHA-256 as it lies there."""


@dataclass(frozen=True, slots=True)
class _Nest:
    """Where in the nesting a container lies."""

    inside: str
    """Path of the members' container; empty for the evidence itself."""
    depth: int = 0
    layers: int = 0
    allowance: Allowance = field(default_factory=Allowance)
    disk: Ahead | None = None
    """The file whose own container this is; None inside another one, which cannot be read ahead."""
    dealt: tuple[int, int] | None = None
    """Which hand of its members is read (Unit.dealt)."""


def members(path: str | os.PathLike[str]) -> Iterator[Found]:
    """Every regular file below `path`, in a fixed order, as (member, stream, problem); see `Found`.

    Exactly one of stream and problem is None. A damaged file first comes with a stream of what can be read of it, and
    again with the problem after that. Never raises on what it reads.
    """
    yield from read_unit(Unit(os.fspath(path), None, 0))


def read_unit(unit: Unit, sealed: Sealed | None = None) -> Iterator[Found]:
    """The members of one unit, as `members` gives them. `sealed` is told once of each container, in the first unit that is of it."""
    put_in_force(unit.limits)
    place = storage(unit.path)
    if not place.is_directory():
        yield from _file(place, "", label_of(unit, ""), _Nest(unit.prefix, dealt=unit.dealt), unit.select, *unit.versions, sealed=sealed)
        return
    names = [leaf.name for leaf in place.leaves()] if unit.select is None else unit.select
    for name, version in zip_longest(names, unit.versions):
        label = label_of(unit, name)
        refused = place.refusal(name)
        if refused is None:
            yield from _file(place, name, label, _Nest(label, dealt=unit.dealt), None, version, sealed=sealed)
        elif refused[0]:
            yield Member(label, None, refused[1]), None, f"{label}: {refused[0]}"


def label_of(unit: Unit, name: str) -> str:
    """The path inside the evidence of a file of a unit."""
    return join(unit.prefix, clean(name)) or storage(unit.path).name


def lone_file(unit: Unit) -> tuple[Member, File] | None:
    """The file on disk that is all of a unit, to be closed by the caller; None where there is no such one. Raises OSError."""
    put_in_force(unit.limits)
    place = storage(unit.path)
    names = unit.select if place.is_directory() else ("",) if unit.select is None else ()
    if names is None or len(names) != 1 or (place.is_directory() and place.refusal(names[0]) is not None):
        return None
    file = place.open(names[0], *unit.versions)
    return Member(label_of(unit, names[0]), file.size, file.modified), file


def lone_content(unit: Unit) -> tuple[Member, File] | None:
    """The same, but of one that is compressed what is in it, where decompressing it is far faster than reading logs. Raises OSError."""
    found = lone_file(unit)
    if found is None:
        return None
    member, file = found
    form = compression(file.read(BUFFER))
    file.seek(0)
    return (replace(member, size=None), Inflated(file, form)) if form in _FAST else found


def hands(unit: Unit, ways: int) -> list[Unit]:
    """The unit in so many hands if it is a compressed tar that is read from its start far faster than it is parsed; itself if not."""
    try:
        found = lone_file(unit) if ways > 1 else None
        if found is None:
            return [unit]
        with buffered(Guarded(found[1].read, Allowance())) as packed, found[1]:
            form = compression(packed.peek(BUFFER))
            if form not in _FAST or not is_tar(unit.path, buffered(Guarded(Unpacked(packed, form).read, Allowance())).peek(BUFFER)):
                return [unit]
    except OSError:  # whoever reads it meets the same, and names it
        return [unit]
    return [replace(unit, size=unit.size // ways, dealt=(number, ways)) for number in range(ways)]


def _file(
    place: Storage,
    name: str,
    label: str,
    nest: _Nest,
    select: tuple[str, ...] | None,
    version: Version | None = None,
    *,
    sealed: Sealed | None = None,
) -> Iterator[Found]:
    try:
        file = place.open(name, version)
    except OSError as error:
        yield Member(label, None, None), None, f"{label}: cannot be opened: {error}"
        return
    with file:
        member = Member(label, file.size, file.modified)
        whole = _Digested(file) if sealed is not None and _is_first(select, nest) else None
        read = _Range(file, select).read if select and "-" in select[0] else whole.read if whole is not None else file.read
        guard = Guarded(read, nest.allowance, on_disk=True)
        stream = buffered(guard)
        form = form_of(label, stream.peek(BUFFER))
        if form == "plain" and whole is not None:
            whole.leave()
        if form == "zip":
            nest.allowance.taken += file.size
            file.seek(0)
            problem = yield from _archive("zip", zip_entries(cast(IO[bytes], file), nest.allowance, select), nest)
        else:
            problem = yield from _content(member, stream, replace(nest, disk=Ahead(place, name)), select)
        if sealed is not None and whole is not None and form != "plain" and (digest := whole.finish(at_once=version is None)):
            sealed(member, form, whole.size, digest)
        trouble = guard.problem or problem or file.changed()
        if trouble and (nest.dealt is None or nest.dealt[0] == 0):  # every hand meets what is wrong with the archive itself
            yield member, None, f"{label}: {trouble}"


def _is_first(select: tuple[str, ...] | None, nest: _Nest) -> bool:
    """Whether this is the first share of its file, or all of it."""
    return (select is None or select[0].split("-")[0] == "0") and (nest.dealt is None or nest.dealt[0] == 0)


class _Digested:
    """A file that is digested while it is read from its start on. Not what a share leaves out, and not a zip, whose directory is at its
    end: these are read once more, from a disk, at a hundredth of what reading their logs costs; from a store they would be transferred twice."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self._left = False
        self.size = 0

    def read(self, size: int) -> bytes:
        data = self._file.read(size) or b""
        if not self._left:
            self._digest.update(data)
            self.size += len(data)
        return data

    def leave(self) -> None:
        """It is no archive: whoever reads it as a source digests it."""
        self._left = True

    def finish(self, *, at_once: bool) -> str | None:
        """SHA-256 of all of it; None where it cannot be had. `at_once`: it costs little to read it again."""
        try:
            if self._file.tell() != self.size:
                if not at_once:
                    return None
                self._file.seek(0)
                self._digest, self.size = hashlib.sha256(), 0
            while self.read(CHUNK * 16):
                pass
        except (OSError, ValueError):
            return None
        return self._digest.hexdigest()


class _Range:
    """A byte range 'start-end' of a file; an empty end is the file's."""

    def __init__(self, file: File, select: tuple[str, ...]) -> None:
        start, end = select[0].split("-")
        self._file = file
        self._left = int(end) - int(start) if end else None
        file.seek(int(start))

    def read(self, size: int) -> bytes:
        data = self._file.read(size if self._left is None else min(size, self._left)) or b""
        if self._left is not None:
            self._left -= len(data)
        return data


def _content(member: Member, stream: io.BufferedReader, nest: _Nest, select: tuple[str, ...] | None = None) -> _Walk:
    """What a stream holds: itself, or the members of the container it is."""
    form = form_of(member.path, stream.peek(BUFFER))
    if form == "plain":
        yield member, stream, None
        stream.close()
        return None
    if form in UNREAD:
        return f"is a {form}, which cannot be read here; tar, zip, gz, bz2, xz and zst can"
    if form in DECOMPRESSORS:
        return (yield from _compressed(member, stream, form, nest))
    if nest.depth >= (most := nest.allowance.limits.archives):
        return f"lies deeper than {most} archives, not opened (--limit archives)"
    if form == "tar":
        return (yield from _archive("tar", tar_entries(stream, nest.disk, select, nest.dealt), nest))
    with Spool() as spool:
        return spool.fill(stream) or (yield from _archive("zip", zip_entries(spool, nest.allowance, None), nest))


def _compressed(member: Member, stream: io.BufferedReader, form: str, nest: _Nest) -> _Walk:
    if nest.layers >= (most := nest.allowance.limits.compressions):
        return f"is compressed more than {most} times over, not opened (--limit compressions)"
    guard = Guarded(Unpacked(stream, form).read, nest.allowance)
    with buffered(guard) as unpacked:
        inner = replace(member, size=None)
        problem = yield from _content(inner, unpacked, replace(nest, layers=nest.layers + 1))
    return f"{form}: {guard.problem}" if guard.problem else problem


def _archive(form: str, entries: Iterator[Entry], nest: _Nest) -> _Walk:
    """The members of an archive."""
    try:
        for entry, read, trouble in entries:
            nest.allowance.member()
            member = replace(entry, path=join(nest.inside, entry.path))
            if read is None:
                yield member, None, f"{member.path}: {trouble}"
            else:
                yield from _nested(member, read, nest)
    except Exception as error:  # damaged bytes make every library fail in its own way
        return f"{form}: {why(error)}"
    return None


def _nested(member: Member, read: Read, nest: _Nest) -> Iterator[Found]:
    """A member of an archive, which may be a container itself."""
    guard = Guarded(read, nest.allowance)
    with buffered(guard) as stream:
        problem = yield from _content(member, stream, _Nest(member.path, nest.depth + 1, 0, nest.allowance))
    if trouble := guard.problem or problem:
        yield member, None, f"{member.path}: {trouble}"
