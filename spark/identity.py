"""Which broker each source belongs to, and which sources are one collection of one broker.

Here: the votes (ids that log lines name, meta.properties, server.properties, the path) and how they settle. Content comes
first; the path speaks only where content is silent. Not here: clocks, or anything a source says about partitions.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_ONCE = re.compile(r"(?:leader-epoch-checkpoint|partition\.metadata|server\.log|state-change\.log|controller\.log|\d{20}\.log)$")
"""Files of which a broker has one of that name in a directory of that name: a second one is another collection's."""
_ONCE_A_DISK = re.compile(r"(?:meta\.properties|replication-offset-checkpoint)$")
"""Files of which each log directory has one, so that their path must agree one step further."""
_PATH_ID = re.compile(r"(?:broker|kafka|node|controller|server)[-_=]?(\d+)$|-kafka-(\d+)$|^(\d+)$", re.IGNORECASE)
MAX_NODE_ID = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Clues:
    """What one source says about whose it is."""

    path: str
    nodes: tuple[int, ...] = ()
    """Node ids its content names as its own, most frequent first."""
    authoritative: bool = False
    """meta.properties and server.properties: written by or for exactly one node."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Who wrote a source. `node` is None when nothing tells; `collection` is the directory it was collected in."""

    node: int | None
    collection: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """A source whose content names another node than its surroundings."""

    path: str
    says: int
    surroundings: int


@dataclass
class Identity:
    owners: dict[str, Owner]
    conflicts: list[Conflict] = field(default_factory=list)


def _parents(path: str) -> Iterable[str]:
    """Directories above a path, nearest first, the root ('') last."""
    while "/" in path:
        path = path.rsplit("/", 1)[0]
        yield path
    yield ""


def _votes(clues: Iterable[Clues]) -> dict[str, set[int]]:
    """The nodes that sources below each directory name first."""
    votes: dict[str, set[int]] = defaultdict(set)
    for clue in clues:
        if clue.nodes:
            for parent in _parents(clue.path):
                votes[parent].add(clue.nodes[0])
    return votes


def _by_path(path: str) -> int | None:
    for part in reversed(path.split("/")[:-1]):
        if match := _PATH_ID.search(part):
            number = int(next(g for g in match.groups() if g is not None))
            if number <= MAX_NODE_ID:
                return number
    return None


def _nearest(path: str, votes: Mapping[str, set[int]]) -> set[int]:
    """The nodes named in the nearest directory above, the root excepted, that names any."""
    return next((votes[parent] for parent in _parents(path) if parent and parent in votes), set())


def _owner(clue: Clues, votes: Mapping[str, set[int]]) -> int | None:
    if clue.nodes:
        return clue.nodes[0]
    around = _nearest(clue.path, votes)
    if len(around) == 1:
        return next(iter(around))
    if (named := _by_path(clue.path)) is not None:
        return named
    whole = votes.get("", set())
    return next(iter(whole)) if len(whole) == 1 and "/" in clue.path else None


def _collection(path: str, node: int, below: Mapping[str, set[int]], twice: set[tuple[str, int]]) -> str:
    """The topmost directory above `path` that is this node's alone, and holds it once."""
    best = path.rsplit("/", 1)[0] if "/" in path else ""
    for parent in _parents(path):
        if below[parent] != {node} or (parent, node) in twice:
            break
        best = parent
    return best


def _held_twice(nodes: Mapping[str, int | None]) -> set[tuple[str, int]]:
    """Directories that hold more than one collection of a node: the same file in directories of the same name."""
    places: dict[tuple[int, str], list[str]] = defaultdict(list)
    for path, node in nodes.items():
        steps = 2 if _ONCE.search(path) else 3 if _ONCE_A_DISK.search(path) else 0
        if node is not None and steps:
            places[(node, "/".join(path.split("/")[-steps:]))].append(path)
    found: set[tuple[str, int]] = set()
    for (node, _), paths in places.items():
        seen: set[str] = set()
        for path in paths if len(paths) > 1 else ():
            parents = set(_parents(path))
            found.update((parent, node) for parent in parents & seen)
            seen |= parents
    return found


def identify(clues: Iterable[Clues]) -> Identity:
    """Owners of all sources. A source that names a node is that node's; one that names none is its neighbours'. Where
    meta.properties or server.properties in the same tree say otherwise, the conflict is reported."""
    clues = sorted(clues, key=lambda c: c.path)
    votes = _votes(clues)
    keepers = _votes(c for c in clues if c.authoritative)
    nodes = {clue.path: _owner(clue, votes) for clue in clues}
    conflicts = []
    for clue in clues:
        around = _nearest(clue.path, keepers)
        if clue.nodes and not clue.authoritative and around and not around & set(clue.nodes):
            conflicts.append(Conflict(clue.path, clue.nodes[0], min(around)))
    below: dict[str, set[int]] = defaultdict(set)
    for path, node in nodes.items():
        if node is not None:
            for parent in _parents(path):
                below[parent].add(node)
    twice = _held_twice(nodes)
    owners = {p: Owner(n, _collection(p, n, below, twice) if n is not None else "") for p, n in nodes.items()}
    return Identity(owners, conflicts)
