"""The archive: every file of the evidence is read, and rewritten or left out; then the whole archive is read again, and nothing may be in
it that is not on the lists.

Here: two passes over the evidence, because all names must be known before the first is replaced; the archive, the mark in it, the mapping
file, the last check. Not here: how a file is rewritten (text, segments).
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import secrets
import tarfile
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timezone
from itertools import takewhile
from pathlib import Path
from typing import IO, BinaryIO, cast

from forensics.output.files import whole_file, whole_path
from forensics.output.json_text import encoded
from forensics.output.version import version
from forensics.tools.redaction import logs, reading, segments, text
from forensics.tools.redaction.check import Check
from forensics.tools.redaction.names import Names
from forensics.tools.redaction.stand_ins import StandIns
from forensics.tools.salvage.places import OF_OWNER
from parsers.containers.units import Unit, units
from parsers.containers.walk import members, read_unit
from parsers.decoding.bodies import UnreadableBatch
from parsers.evidence import HEAD, LOG_KINDS, kind_of, read_source
from parsers.formats.checkpoints import EVENTS_OF_KIND as CHECKPOINT_KINDS
from parsers.formats.unread import REDACTION
from parsers.limits import DEFAULTS, Limits
from parsers.paths import directories_above
from parsers.schemas import Member

SCHEMA = "kafka-forensics/redacted/1"
MAPPING = "kafka-forensics/mapping/1"
POLICY = "allow-list/5"
"""The rules of docs/redacting.md by which the copy was made; changes when they do."""
IN_MEMORY = 32 << 20
"""Bytes of a file that are kept in memory; a larger file goes to an unnamed temporary file."""
CHUNK = 1 << 20
SEGMENTS = frozenset({"segment", "metadata-segment", "metadata-snapshot"})
NOT_NEEDED = frozenset({"index", "producer-snapshot", "redaction"})
"""Kinds without information about losses, which are left out without a note for each file."""


class Leak(Exception):
    """A name is left in the output."""


class NothingCopied(Exception):
    """The evidence has no file that may be in the output."""


@dataclass
class Redacted:
    written: int = 0
    left_out: list[tuple[str, str, str]] = field(default_factory=list)
    """Original path, kind and reason."""
    names: Names = field(default_factory=Names)

    @property
    def count(self) -> Counter[str]:
        return Counter(kind for _, kind, _ in self.left_out)


def redact(paths: Sequence[str], out: Path, mapping: Path, limits: Limits = DEFAULTS, *, replace: bool = False) -> Redacted:
    """Writes archive and mapping, in place of earlier ones only with `replace`. The archive gets its name after it was searched, and the
    mapping before that. Raises Leak, NothingCopied and OSError."""
    planned = units(paths, limits)
    done = Redacted(names=_names(planned))
    with whole_path(out, OF_OWNER, new=not replace) as part:
        with (
            part.open("wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
            tarfile.open(fileobj=cast(IO[bytes], packed), mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            binary = _write(planned, tar, done)
        if not done.written:
            raise NothingCopied
        _check(part, done.names, binary)
        write_mapping(mapping, part, done.names, replace=replace)
    return done


def write_mapping(mapping: Path, of: Path, names: Names, *, replace: bool) -> None:
    """`of`: the copy, or the file of it that the mapping names by its digest."""
    with whole_file(mapping, OF_OWNER, new=not replace) as kept:
        kept.write((encoded({"schema": MAPPING, "of": _sha256(of), "names": names.mapping()}, indent=1) + "\n").encode())


def _names(planned: Sequence[Unit]) -> Names:
    """The first pass: all names, with stand-ins that occur nowhere in the evidence."""
    names, used = Names(), StandIns()
    for unit in planned:
        _note(unit, names, used)
    return names.settled(used.infixes, used.addresses)


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while data := stream.read(CHUNK):
            digest.update(data)
    return digest.hexdigest()


def _note(unit: Unit, names: Names, used: StandIns) -> None:
    """Collects the names of one unit, and what looks like a stand-in."""
    for member, bare, _ in read_unit(unit):
        reading.note_member(member, names)
        used.look(member.path.encode("utf-8", "replace"))
        if bare is None:
            continue
        stream = io.BufferedReader(used.looking(bare), CHUNK)
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as spool:
            kind = kind_of(member, stream.peek(HEAD)[:HEAD], ())
            copied = segments.names_records(member.path) or kind in CHECKPOINT_KINDS
            whole = _spooled(stream, cast(BinaryIO, spool)) if copied else stream
            for told in read_source(member, whole):
                reading.note_all(told, names, binary=kind in SEGMENTS)
            if copied:  # events do not contain all the names in these files
                whole.seek(0)
                for _ in _anew(member, whole, kind, names, b"-"):
                    pass


def _spooled(stream: BinaryIO, spool: BinaryIO) -> BinaryIO:
    while data := stream.read(CHUNK):
        spool.write(data)
    spool.seek(0)
    return spool


def _write(planned: Sequence[Unit], tar: tarfile.TarFile, done: Redacted) -> set[str]:
    """The second pass. Returns the paths of binary files."""
    secret = secrets.token_bytes(32)
    binary: set[str] = set()
    paths = _Paths(done.names)
    directories: list[list[str]] = []
    for unit in planned:
        for member, stream, trouble in read_unit(unit):
            if stream is None:
                done.left_out.append((member.path, "unreadable", trouble or ""))
                continue
            head = stream.peek(HEAD)[:HEAD]
            kind = kind_of(member, head, ())
            try:
                with tempfile.SpooledTemporaryFile(IN_MEMORY) as spool:
                    spool.writelines(_anew(member, stream, kind, done.names, secret))
                    path = paths.of(member.path)
                    _add(tar, path, member, cast(BinaryIO, spool))
            except (logs.Unsafe, UnreadableBatch) as why:
                done.left_out.append((member.path, kind, str(why)))
                continue
            done.written += 1
            directories.append(path.split("/")[:-1])
            if kind in SEGMENTS:
                binary.add(path)
    first, last = min(directories, default=[]), max(directories, default=[])
    common = [a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))]
    mark = {"schema": SCHEMA, "policy": POLICY, "version": version(), "files": done.written, "left_out": dict(sorted(done.count.items()))}
    content = (json.dumps(mark, indent=1) + "\n").encode()
    _add(tar, "/".join((*common, REDACTION)), Member(REDACTION, None, None), io.BytesIO(content))
    return binary


def _anew(member: Member, stream: BinaryIO, kind: str, names: Names, secret: bytes) -> Iterator[bytes]:
    """A rewritten file in pieces. Raises Unsafe or UnreadableBatch if it must be left out."""
    if kind in SEGMENTS:
        yield from segments.rewritten(stream, member.path, kind, names, secret)
    elif kind != "empty":
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as spool:
            whole = _spooled(stream, cast(BinaryIO, spool))
            read: reading.Taken = {}
            if kind in LOG_KINDS or kind in text.PLAIN:
                read = reading.taken(read_source(member, whole))
                whole.seek(0)
            lines = text.rewritten(whole, kind, names, read)
            if lines is None:
                raise logs.Unsafe("contents unknown" if kind not in NOT_NEEDED else "not needed")
            yield from (line.encode("utf-8", "replace") for line in lines)


class _Paths:
    """Names of members in the copy, a different one for each different one in the evidence; no file has the name of a directory."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._new: dict[str, str] = {}
        self._given: set[str] = set()
        self._directories: set[str] = set()

    def of(self, path: str) -> str:
        if path not in self._new:
            bare = found = self._names.path(path)
            number = 1
            while found in self._given or found in self._directories or not self._given.isdisjoint(directories_above(found)):
                number += 1
                found = f"other-{number}/{bare}"
            self._given.add(found)
            self._directories.update(directories_above(found))
            self._new[path] = found
        return self._new[path]


def _add(tar: tarfile.TarFile, path: str, member: Member, content: BinaryIO) -> None:
    info = tarfile.TarInfo(path)
    info.size = content.seek(0, os.SEEK_END)
    info.mtime = member.modified.replace(tzinfo=timezone.utc).timestamp() if member.modified is not None else 0
    content.seek(0)
    tar.addfile(info, content)


def _check(out: Path, names: Names, binary: Collection[str]) -> None:
    """Reads the archive as any recipient would. Raises Leak if something is in it that must not be."""
    check = Check(names)
    for member, stream, _ in members(out):
        left = check.path(member.path)
        if stream is not None and left is None and not member.path.endswith(REDACTION):
            with tempfile.SpooledTemporaryFile(IN_MEMORY) as spool:
                left = check.file(member, _spooled(stream, cast(BinaryIO, spool)), binary=member.path in binary)
        if left is not None:
            raise Leak(f"{left!r} is left in {member.path}")
