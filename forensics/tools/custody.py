"""Whether evidence is the evidence that a case was made of: compared file by file, by SHA-256, whatever archives the files are in now.

Here: what each file was and is. Not here: how files are found (parsers.containers), or the words (forensics.commands.verify).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from parsers.containers.names import IGNORED
from parsers.containers.storage import CHANGED
from parsers.containers.units import units
from parsers.containers.walk import read_unit
from parsers.limits import DEFAULTS, Limits
from parsers.schemas import Member, Row

STATES: Mapping[str, str] = {
    "same": "the same bytes at the same path",
    "moved": "the same bytes, in a directory or archive of another name",
    "changed": "other bytes at the same path",
    "missing": "in the case, not in the evidence",
    "additional": "in the evidence, not in the case",
    "unstable": "changed while it was read now",
    "unread": "could not be read when the case was made, nor now: nothing in the case rests on it",
}
GOOD = frozenset({"same", "moved", "unread"})
UNSTABLE = "unstable"
"""In place of a digest."""
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Sealed:
    """A file, or an archive as it was on disk. `digest` None: it could not be read."""

    path: str
    sha256: str | None
    archive: bool = False


@dataclass(frozen=True, slots=True)
class Compared:
    path: str
    state: str
    then: str | None
    now: str | None
    at: str | None = None
    """Its present path, if it was moved."""
    archive: bool = False


def of_case(rows: Iterable[Row], root: str) -> list[Sealed]:
    """The sources that a case lists: rows of its table, and the directory that its paths leave out. If a log has several writers, only the
    file counts."""
    whole = ("archive", IGNORED)
    files = (Sealed(("" if row["kind"] in whole else root) + row["path"], row["sha256"], row["kind"] == "archive") for row in rows)
    return _once_each(s for s in files if s.sha256 is not None or "#" not in s.path)


def sealed(paths: Sequence[str], limits: Limits = DEFAULTS) -> list[Sealed]:
    """All files of evidence with their digests, members of archives and ignored files too, and the archives."""
    found: dict[str, Sealed] = {}
    archives: list[Sealed] = []
    changing: dict[str, Sealed] = {}

    def tell(member: Member, form: str, size: int, sha256: str) -> None:
        if form == IGNORED:
            found[member.path] = Sealed(member.path, sha256)
        else:
            archives.append(Sealed(member.path, sha256, archive=True))

    for unit in units(paths, limits):
        for member, stream, trouble in read_unit(unit, tell):
            if stream is None:
                found.setdefault(member.path, Sealed(member.path, None))
                if CHANGED in (trouble or ""):
                    changing[member.path] = Sealed(member.path, UNSTABLE)
                continue
            digest = hashlib.sha256()
            while data := stream.read(CHUNK):
                digest.update(data)
            found[member.path] = Sealed(member.path, digest.hexdigest())
    return _once_each([*archives, *(found | changing).values()])


def _once_each(files: Iterable[Sealed]) -> list[Sealed]:
    """Removes duplicates: of a path that occurs twice, the entry that could be read is kept. Archives do not count as unreadable files."""
    ordered = sorted(files, key=lambda s: (s.path, s.archive, s.sha256 is not None))
    packed = {s.path for s in ordered if s.archive}
    return list({_key(s): s for s in ordered if s.sha256 is not None or s.path not in packed}.values())


def compare(then: Iterable[Sealed], now: Iterable[Sealed]) -> list[Compared]:
    """Each file of the case with its present state, and the files that only the evidence has. Archives count only if their files do not:
    the same files packed again are the same evidence."""
    was, is_now = ({_key(s): s for s in files} for files in (then, now))
    gone = {key: s for key, s in was.items() if key not in is_now}
    new = {key: s for key, s in is_now.items() if key not in was}
    moved = _moved(gone, new)
    compared = []
    for key, old in was.items():
        if key in is_now:
            compared.append(Compared(old.path, _state(old, is_now[key]), old.sha256, _digest(is_now[key]), archive=old.archive))
        elif key in moved:
            compared.append(Compared(old.path, "moved", old.sha256, old.sha256, moved[key][0]))
        else:
            compared.append(Compared(old.path, "missing" if old.sha256 is not None else "unread", old.sha256, None, archive=old.archive))
    taken = set(moved.values())
    compared += [
        Compared(s.path, UNSTABLE if s.sha256 == UNSTABLE else "additional", None, _digest(s), archive=s.archive)
        for key, s in new.items()
        if key not in taken
    ]
    return sorted(compared, key=lambda c: (c.path, c.archive))


_Key = tuple[str, bool]


def _key(s: Sealed) -> _Key:
    """Archives are identified by their bytes alone."""
    return (s.sha256 or "", True) if s.archive else (s.path, False)


def _digest(s: Sealed) -> str | None:
    return s.sha256 if s.sha256 != UNSTABLE else None


def _state(old: Sealed, now: Sealed) -> str:
    if now.sha256 == UNSTABLE:
        return UNSTABLE
    if old.sha256 is None and now.sha256 is None:
        return "unread"
    return "same" if old.sha256 == now.sha256 else "changed"


def _moved(gone: Mapping[_Key, Sealed], new: Mapping[_Key, Sealed]) -> dict[_Key, _Key]:
    """Files that have another name now: all files of one directory or archive moved together. Two files that swapped places do not count as
    moved."""
    to = _renamed(gone, new)
    found: dict[_Key, _Key] = {}
    for key, s in gone.items():
        if not key[1] and s.sha256 is not None:
            at = ((to[lead] + key[0][len(lead) :], False) for lead in _above(key[0]) if lead in to)
            found.update((key, other) for other in at if other in new and new[other].sha256 == s.sha256)
    return found


def _renamed(gone: Mapping[_Key, Sealed], new: Mapping[_Key, Sealed]) -> dict[str, str]:
    """Directories by their old paths, with the paths that most of their files have now."""
    then, now = _once(gone), _once(new)
    pairs = ((key[0], now[digest][0]) for digest, key in then.items() if not key[1] and digest in now)
    votes = Counter(_leads(path, other) for path, other in pairs if path.rpartition("/")[2] == other.rpartition("/")[2])
    to: dict[str, str] = {}
    for (old, lead), _ in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0])):
        if old not in to and lead not in to.values():
            to[old] = lead
    return to


def _once(files: Mapping[_Key, Sealed]) -> dict[tuple[str, bool], _Key]:
    """Files by digest; only digests that exactly one file has."""
    count = Counter((s.sha256, s.archive) for s in files.values())
    return {(s.sha256, s.archive): key for key, s in files.items() if s.sha256 is not None and count[s.sha256, s.archive] == 1}


def _leads(path: str, other: str) -> tuple[str, str]:
    """The leading parts of two paths, before the whole names that both paths end with."""
    a, b = path.split("/"), other.split("/")
    same = 0
    while same < min(len(a), len(b)) and a[-1 - same] == b[-1 - same]:
        same += 1
    rest = "/".join(a[len(a) - same :])
    return path.removesuffix(rest), other.removesuffix(rest)


def _above(path: str) -> Iterator[str]:
    """The leading directories of a path, from the empty one to all but its last name."""
    parts = path.split("/")
    return ("".join(f"{part}/" for part in parts[:count]) for count in range(len(parts)))
