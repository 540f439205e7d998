"""Walks evidence: every file of a directory, archive or compressed file as an open binary stream.

Here: tar, zip, mails and compressed files in any nesting, read as streams in bounded memory; unreadable files give a named problem. Not
here: the individual formats (tar, zip, compression), the division of evidence (units), or the meaning of files (parsers.sniff and the
readers).

Nothing is unpacked to disk. The one exception to pure streaming: a zip inside another container has its directory at its end, so it is
spooled (zip.Spool).
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import IO, Any, cast

from parsers.containers import documents
from parsers.containers.compression import DECOMPRESSORS, Inflated, Unpacked, compression
from parsers.containers.magic import UNREAD, form_of
from parsers.containers.mail import mail_entries
from parsers.containers.names import IGNORED, clean, is_junk, join
from parsers.containers.storage import EvidenceFile, Storage, Version, storage
from parsers.containers.streams import BUFFER, CHUNK, Allowance, Entry, Guarded, Read, buffered, why
from parsers.containers.tables import TABLES, TableText, is_ours
from parsers.containers.tar import Ahead, is_tar, tar_entries
from parsers.containers.units import Unit
from parsers.containers.zip import Spool, zip_entries
from parsers.lines import decoded
from parsers.paths import name_of
from parsers.schemas import Member

NAMELESS = "(no name)"
"""A member of an archive whose name is empty, or nothing but `./`."""
MAX_NAME = 4096
"""Characters of a member's name. Longer ones exist in no file system."""
_FAST = frozenset({"gzip", "zstd"})
"""Compressions that decompress hundreds of megabytes per second."""

Found = tuple[Member, io.BufferedReader | None, str | None]
"""A member with its stream (`peek`, `read`, `readline`; valid until the next iteration), or with the reason why it cannot be read."""
_Walk = Generator[Found, None, str | None]
"""Returns what is wrong with the container itself."""


Sealed = Callable[[Member, str, int, str], None]
"""Called for each file on disk that is a container, with its form, its size and its SHA-256 on disk; and for each file that is not read,
with the form names.IGNORED."""


@dataclass(frozen=True, slots=True)
class _Nest:
    """Position of a container in the nesting."""

    inside: str
    """Path of the members' container; empty for the evidence itself."""
    depth: int = 0
    layers: int = 0
    allowance: Allowance = field(default_factory=Allowance)
    disk: Ahead | None = None
    """The file on disk that contains this one directly; None inside another container, which cannot be read ahead."""
    dealt: tuple[int, int] | None = None
    """Which share of its members is read (Unit.dealt)."""
    sealed: Sealed | None = None


def members(path: str | os.PathLike[str]) -> Iterator[Found]:
    """Every regular file below `path`, in a fixed order, as (member, stream, problem); see `Found`.

    Exactly one of stream and problem is None. A damaged file is returned first with a stream of its readable part, and then again with the
    problem. Never raises because of the evidence.
    """
    yield from read_unit(Unit(os.fspath(path), None, 0))


def read_unit(unit: Unit, sealed: Sealed | None = None) -> Iterator[Found]:
    """The members of one unit, as returned by `members`. `sealed` is called once per container, in the first unit of the container."""
    unit.put_in_force()
    place = storage(unit.path)
    if not place.is_directory():
        yield from _file(place, "", label_of(unit, ""), _Nest(unit.prefix, dealt=unit.dealt, sealed=sealed), unit.select, *unit.versions)
        return
    names = [leaf.name for leaf in place.leaves()] if unit.select is None else unit.select
    for name, version in zip_longest(names, unit.versions):
        label = label_of(unit, name)
        refused = place.refusal(name)
        if refused is None:
            yield from _file(place, name, label, _Nest(label, dealt=unit.dealt, sealed=sealed), None, version)
        elif is_junk(clean(name)):
            continue
        elif refused[0]:
            yield Member(label, None, refused[1]), None, f"{label}: {refused[0]}"


def label_of(unit: Unit, name: str) -> str:
    """The path inside the evidence of a file of a unit."""
    return join(unit.prefix, clean(name)) or storage(unit.path).name


def lone_file(unit: Unit) -> tuple[Member, EvidenceFile] | None:
    """The file on disk that makes up a whole unit, to be closed by the caller; None if there is none. Raises OSError."""
    unit.put_in_force()
    place = storage(unit.path)
    names = unit.select if place.is_directory() else ("",) if unit.select is None else ()
    if names is None or len(names) != 1 or (place.is_directory() and (is_junk(clean(names[0])) or place.refusal(names[0]) is not None)):
        return None
    file = place.open(names[0], *unit.versions)
    return Member(label_of(unit, names[0]), file.size, file.modified), file


def lone_content(unit: Unit) -> tuple[Member, EvidenceFile] | None:
    """The same; for a compressed file, its decompressed content if decompressing is far faster than reading logs. Raises OSError."""
    lone = lone_file(unit)
    if lone is None:
        return None
    member, file = lone
    form = compression(file.read(BUFFER))
    file.seek(0)
    return (replace(member, size=None), Inflated(file, form)) if form in _FAST else lone


def hands(unit: Unit, ways: int) -> list[Unit]:
    """The unit divided into this many shares if it is a compressed tar that decompresses far faster than it is parsed; else the unit
    itself."""
    try:
        lone = lone_file(unit) if ways > 1 else None
        if lone is None:
            return [unit]
        with buffered(Guarded(lone[1].read, Allowance())) as packed, lone[1]:
            form = compression(packed.peek(BUFFER))
            if form not in _FAST or not is_tar(unit.path, buffered(Guarded(Unpacked(packed, form).read, Allowance())).peek(BUFFER)):
                return [unit]
    except OSError:  # the reader meets the same error and reports it
        return [unit]
    return [replace(unit, size=unit.size // ways, dealt=(number, ways)) for number in range(ways)]


def _file(
    place: Storage,
    name: str,
    label: str,
    nest: _Nest,
    select: tuple[str, ...] | None,
    version: Version | None = None,
) -> Iterator[Found]:
    try:
        file = place.open(name, version)
    except OSError as error:
        yield Member(label, None, None), None, f"{label}: cannot be opened: {error}"
        return
    with file:
        member = Member(label, file.size, file.modified, is_junk(clean(name)))
        if member.ignored:
            _ignore(member, file.read, nest)
            return
        sealed = nest.sealed
        digested = _Digested(file) if sealed is not None and _is_first(select, nest) else None
        guard = Guarded(_read_of(file, select, digested), nest.allowance, on_disk=True)
        stream = buffered(guard)
        form = form_of(label, stream.peek(BUFFER))
        if form == "plain" and digested is not None:
            digested.leave()
        if form == "zip":
            nest.allowance.taken += file.size
            file.seek(0)
            problem = yield from _archive("zip", zip_entries(cast(IO[bytes], file), nest.allowance, select), nest)
        else:
            problem = yield from _content(member, stream, replace(nest, disk=Ahead(place, name)), select)
        if form != "plain":
            _seal(digested, sealed, member, form, at_once=version is None)
        trouble = guard.problem or problem or file.changed()
        if trouble and (nest.dealt is None or nest.dealt[0] == 0):  # every share reports what is wrong with the archive itself
            yield member, None, f"{label}: {trouble}"


def _read_of(file: EvidenceFile, select: tuple[str, ...] | None, digested: _Digested | None) -> Callable[[int], Any]:
    """Reads the selected range of a file, or all of it."""
    if select and "-" in select[0]:
        return _Range(file, select).read
    return digested.read if digested is not None else file.read


def _seal(digested: _Digested | None, sealed: Sealed | None, member: Member, form: str, *, at_once: bool) -> None:
    """Reports the digest of an archive, if this reader has to report it."""
    if sealed is not None and digested is not None and (digest := digested.finish(at_once=at_once)):
        sealed(member, form, digested.size, digest)


def _is_first(select: tuple[str, ...] | None, nest: _Nest) -> bool:
    """Whether this is the first share of its file, or all of it."""
    return (select is None or select[0].split("-")[0] == "0") and (nest.dealt is None or nest.dealt[0] == 0)


class _Digested:
    """A file that is digested while it is read from its start. Bytes that a share skips, and zips, whose directory is at the end, are read
    a second time: from disk that costs a hundredth of reading the logs; from a store it would transfer them twice."""

    def __init__(self, file: EvidenceFile) -> None:
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
        """Not an archive: its digest is computed when it is read as a source."""
        self._left = True

    def finish(self, *, at_once: bool) -> str | None:
        """SHA-256 of the whole file; None if unavailable. `at_once`: reading the file again is cheap."""
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

    def __init__(self, file: EvidenceFile, select: tuple[str, ...]) -> None:
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
    """The content of a stream: the stream itself, or the members if it is a container."""
    form = form_of(member.path, head := stream.peek(BUFFER))
    if form in ("plain", "document"):
        pasted = documents.lines_of(name_of(member.path), decoded(head)) if form == "document" else None
        if pasted is None:
            with stream as text:
                yield member, text, None
            return None
        guard = Guarded(pasted(stream.read), nest.allowance)
        with buffered(guard) as text:
            yield replace(member, size=None), text, None
        return guard.problem
    if form in UNREAD:
        return f"cannot be read here ({form}); {UNREAD[form]}"
    if form in DECOMPRESSORS:
        return (yield from _compressed(member, stream, form, nest))
    if nest.depth >= (most := nest.allowance.limits.archives):
        return f"lies deeper than {most} archives, not opened (--limit archives)"
    if form in TABLES:
        return (yield from _table(member, stream, form, nest))
    if form == "mail":
        return (yield from _archive("mail", mail_entries(stream), nest))
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


def _table(member: Member, stream: io.BufferedReader, form: str, nest: _Nest) -> _Walk:
    """The rows of a columnar file, as a text."""
    with Spool() as spool:
        if trouble := spool.fill(stream):
            return trouble
        try:
            schema, batches = TABLES[form](spool)
        except Exception as error:  # whatever pyarrow raises on damaged bytes
            return f"{form}: {why(error)}"
        if is_ours(schema):
            return "is a table of a case or an audit of this tool, not evidence; not read"
        guard = Guarded(TableText(batches).read, nest.allowance)
        with buffered(guard) as rows:
            yield replace(member, size=None), rows, None
        return f"{form}: {guard.problem}" if guard.problem else None


def _archive(form: str, entries: Iterator[Entry], nest: _Nest) -> _Walk:
    """The members of an archive."""
    try:
        for entry, read, trouble in entries:
            nest.allowance.member()
            member = replace(entry, path=join(nest.inside, entry.path[:MAX_NAME] or NAMELESS))
            if len(entry.path) > MAX_NAME:
                yield member, None, f"{member.path}: a name of {len(entry.path)} characters, which no file system has; not read"
            elif member.ignored:
                _ignore(member, read, nest)
            elif read is None:
                yield member, None, f"{member.path}: {trouble}"
            else:
                yield from _nested(member, read, nest, as_they_are=form == "tar")
    except Exception as error:  # each library raises its own errors on damaged bytes
        return f"{form}: {why(error)}"
    return None


def _ignore(member: Member, read: Callable[[int], Any] | None, nest: _Nest) -> None:
    """Reports the digest of a file that is not read; a link has no content."""
    if nest.sealed is None or read is None:
        return
    guard, digest = Guarded(read, nest.allowance), hashlib.sha256()
    with buffered(guard) as stream:
        while data := stream.read(CHUNK):
            digest.update(data)
    nest.sealed(member, IGNORED, guard.given, digest.hexdigest())


def _nested(member: Member, read: Read, nest: _Nest, *, as_they_are: bool) -> Iterator[Found]:
    """A member of an archive, which may be a container itself."""
    guard = Guarded(read, nest.allowance, as_they_are=as_they_are)
    with buffered(guard) as stream:
        problem = yield from _content(member, stream, _Nest(member.path, nest.depth + 1, 0, nest.allowance, sealed=nest.sealed))
    if trouble := guard.problem or problem:
        yield member, None, f"{member.path}: {trouble}"
