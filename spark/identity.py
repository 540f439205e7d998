"""Which broker each source belongs to, and which sources are one collection of one broker.

Here: the votes (ids that log lines name, meta.properties, server.properties, the path) and how they settle. Content comes
first; the path speaks only where content is silent. Not here: clocks, or anything a source says about partitions.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

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


def _votes(clues: Iterable[Clues]) -> dict[str, dict[int, int]]:
    votes: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for clue in clues:
        if clue.nodes:
            for parent in _parents(clue.path):
                votes[parent][clue.nodes[0]] += 3 if clue.authoritative else 1
    return votes


def _by_path(path: str) -> int | None:
    for part in reversed(path.split("/")[:-1]):
        if match := _PATH_ID.search(part):
            number = int(next(g for g in match.groups() if g is not None))
            if number <= MAX_NODE_ID:
                return number
    return None


def _nearest(path: str, votes: Mapping[str, Mapping[int, int]]) -> int | None:
    """The node of the nearest directory above that speaks with one voice."""
    for parent in _parents(path):
        if voted := votes.get(parent):
            return next(iter(voted)) if len(voted) == 1 else None
    return None


def _collection(path: str, node: int, nodes_below: Mapping[str, set[int]]) -> str:
    """The topmost directory above `path` in which every source is this node's."""
    best = path.rsplit("/", 1)[0] if "/" in path else ""
    for parent in _parents(path):
        if nodes_below[parent] != {node}:
            break
        best = parent
    return best


def identify(clues: Iterable[Clues]) -> Identity:
    """Owners of all sources. A source that names a node is that node's, unless an authoritative neighbour in the same
    directory tree says otherwise: then it is the neighbour's, and the conflict is reported."""
    clues = sorted(clues, key=lambda c: c.path)
    votes = _votes(clues)
    nodes: dict[str, int | None] = {}
    conflicts: list[Conflict] = []
    for clue in clues:
        around = _nearest(clue.path, {k: v for k, v in votes.items() if k}) if not clue.nodes else None
        nodes[clue.path] = clue.nodes[0] if clue.nodes else around if around is not None else _by_path(clue.path)
        if clue.authoritative or not clue.nodes:
            continue
        keepers = {
            c.nodes[0] for c in clues if c.authoritative and c.nodes and _same_machine(c.path, clue.path)
        }
        if keepers and clue.nodes[0] not in keepers and not keepers & set(clue.nodes):
            conflicts.append(Conflict(clue.path, clue.nodes[0], min(keepers)))
    below: dict[str, set[int]] = defaultdict(set)
    for path, node in nodes.items():
        if node is not None:
            for parent in _parents(path):
                below[parent].add(node)
    owners = {p: Owner(n, _collection(p, n, below) if n is not None else "") for p, n in nodes.items()}
    return Identity(owners, conflicts)


def _same_machine(one: str, other: str) -> bool:
    """Two paths whose nearest common directory is below the root and holds `logs` or `data` side by side."""
    a, b = one.split("/")[:-1], other.split("/")[:-1]
    common = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        common += 1
    return common > 0 and max(len(a), len(b)) - common <= 2 and bool(_PATH_ID.search(a[common - 1]) or common > 1)
