"""The broker that each source belongs to, and the sources that form one collection of one broker.

Here: the clues (ids in log lines, meta.properties, server.properties, the path) and their priority. Content comes first. What content
shows for one file named kafka-0 applies to all files with that name. The number in a name counts only if no content identifies the
broker. Not here: clocks, or what a source says about partitions.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from forensics.model.times import grouped

_ONCE = re.compile(r"(?:leader-epoch-checkpoint|partition\.metadata|server\.log|state-change\.log|controller\.log|\d{20}\.log)$")
"""Files that a broker has once per directory name: a second one belongs to another collection."""
_ONCE_A_DISK = re.compile(r"(?:meta\.properties|replication-offset-checkpoint)$")
"""Files that each log directory has once, so one more path step must match."""
_PARTITION_DIR = re.compile(r"(?:^|/)([^/]+-\d+)/(?:leader-epoch-checkpoint|partition\.metadata|\d{20}\.\w+)$")
_DIRECTORY_ID = re.compile(r"(broker|kafka|node|controller|server)[-_=]?(\d{1,10})$|^()(\d{1,10})$", re.IGNORECASE)
_FILE_ID = re.compile(r"(?:^|[^a-z])(broker|kafka|node|controller)[-_]?(\d{1,10})(?=[-_.]|$)(?!\.\d|-\d\d-\d\d)", re.IGNORECASE)
"""A file's name may begin with its broker's (my-cluster-kafka-0-kafka.log), but also contain a version or a date."""
_REPLICA = re.compile(r"(?=[^#]*#)(.*)(?:_\d+|-(\d+))$")
"""docker compose appends the number of a container of its service: after `_` in version 1, after `-` in version 2, where a service may
itself be called kafka-1, as a pod of a StatefulSet is. Pods have no `_` in their names."""
MAX_NODE_ID = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Clues:
    """Clues to the owner of one source."""

    path: str
    nodes: tuple[int, ...] = ()
    """Node ids its content names as its own, most frequent first."""
    authoritative: bool = False
    """meta.properties and server.properties: written by or for exactly one node."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The writer of a source. `node` is None if unknown; `collection` is the directory it was collected in."""

    node: int | None
    collection: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """A source whose content names another node than the files around it."""

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
    """By directory, the nodes that the sources below it name first."""
    votes: dict[str, set[int]] = defaultdict(set)
    for clue in clues:
        if clue.nodes:
            for parent in _parents(clue.path):
                votes[parent].add(clue.nodes[0])
    return votes


def _name(step: str, expression: re.Pattern[str]) -> tuple[str, int] | None:
    """A broker's name in one step of a path: its word and number."""
    match = expression.search(step)
    if match is None:
        return None
    word, number = (group for group in match.groups() if group is not None)
    return (word.lower(), int(number)) if int(number) <= MAX_NODE_ID else None


def _names(path: str) -> Iterable[tuple[str, int]]:
    """Brokers' names in a path, nearest first."""
    *directories, file = path.split("/")
    if _PARTITION_DIR.search(path):
        directories.pop()  # a topic may be called kafka
    named = [_name(file, _FILE_ID), *(_name(step, _DIRECTORY_ID) for step in reversed(directories))]
    return [name for name in named if name is not None]


class _Signs:
    """Node ids from content, and the nodes that they imply for names in paths: directories, names such as kafka-0, and the names on the
    level where the brokers' paths diverge."""

    def __init__(self, clues: Sequence[Clues]) -> None:
        telling = [clue for clue in clues if clue.nodes]
        self.votes = _votes(telling)
        self._named: dict[tuple[str, int], set[int]] = defaultdict(set)
        for clue in telling:
            for name in _names(clue.path):
                self._named[name].add(clue.nodes[0])
        replicas = [match for clue in clues if (match := _REPLICA.fullmatch(clue.path)) is not None]
        others = {match[1] for match in replicas if match[2] not in (None, "1")}
        self._services = {match[0].rpartition("/")[2]: match[1].rpartition("/")[2] for match in replicas if match[1] not in others}
        """Names that end with the number of a container, without it: the number is not one of several after `-`."""
        self._ordinals = {word for (word, number), nodes in self._named.items() if nodes and number not in nodes}
        self._steps: dict[str, set[int]] = defaultdict(set)
        for directory, nodes in self.votes.items():
            parent, _, step = directory.rpartition("/")
            if directory and len(nodes) == 1 and len(self.votes[parent]) > 1:
                self._steps[step] |= nodes

    def called(self, step: str, *, file: bool = False) -> int | None:
        """The node that a path step names. If one such number is not the node's id (the ordinal of a pod), no number of that word
        counts."""
        name = _name(self._services.get(step, step) if file else step, _FILE_ID if file else _DIRECTORY_ID)
        known = self._named.get(name, set()) if name is not None else set() if file else self._steps.get(step, set())
        if len(known) == 1:
            return next(iter(known))
        return name[1] if name is not None and not known and name[0] not in self._ordinals else None


def _nearest(path: str, votes: Mapping[str, set[int]]) -> set[int]:
    """The nodes named by content in the nearest directory above, excluding the root."""
    return next((votes[parent] for parent in _parents(path) if parent and parent in votes), set())


def _owner(clue: Clues, signs: _Signs) -> int | None:
    if clue.nodes:
        return clue.nodes[0]
    if (called := signs.called(clue.path.rpartition("/")[2], file=True)) is not None:
        return called
    replica = clue.path.rpartition("/")[0] if _PARTITION_DIR.search(clue.path) else None
    for parent in _parents(clue.path):
        around = signs.votes.get(parent, set())
        if parent and len(around) == 1:
            return next(iter(around))
        if parent and parent != replica and (called := signs.called(parent.rpartition("/")[2])) is not None:
            return called
    whole = signs.votes.get("", set())
    return next(iter(whole)) if len(whole) == 1 and "/" in clue.path else None


def _topmost(directory: str, node: int, below: Mapping[str, set[int]], twice: set[tuple[str, int]]) -> str:
    """The topmost directory, from this one up, that contains only this node's files, from one collection."""
    best = directory
    for parent in (directory, *_parents(directory)):
        if below[parent] != {node} or (parent, node) in twice:
            break
        best = parent
    return best


def _once(path: str) -> str | None:
    """The end of a path that one collection of a broker contains once."""
    steps = 2 if _ONCE.search(path) else 3 if _ONCE_A_DISK.search(path) else 0
    return "/".join(path.split("/")[-steps:]) if steps else None


def _held_twice(owned: Mapping[str, tuple[int, str]], once: Mapping[str, str]) -> set[tuple[str, int]]:
    """Directories that contain more than one collection of a node: the same file in directories of the same name. `owned`: node and
    directory of each path; `once`: of which paths a collection has one (_once)."""
    places = grouped(((owned[path][0], of_path), path) for path, of_path in once.items())
    found: set[tuple[str, int]] = set()
    for (node, _), paths in places.items():
        seen: set[str] = set()
        for path in paths if len(paths) > 1 else ():
            parents = set(_parents(path))
            found.update((parent, node) for parent in parents & seen)
            seen |= parents
    return found


@dataclass
class _Part:
    """Files of one node below one directory."""

    directory: str
    once: set[str] = field(default_factory=set)
    partitions: set[str] = field(default_factory=set)
    disk: bool = False

    def add(self, path: str, once: str | None) -> None:
        if once is not None:
            self.once.add(once)
        if (found := _PARTITION_DIR.search(path)) is not None:
            self.partitions.add(found[1])
        self.disk = self.disk or bool(_ONCE_A_DISK.search(path))

    def repeats(self, other: _Part) -> bool:
        """Whether both are copies of the same data. Two log directories of one broker share no partition."""
        if self.once & other.once or self.partitions & other.partitions:
            return True
        return self.disk and other.disk and not (self.partitions and other.partitions)

    def join(self, other: _Part) -> None:
        self.once |= other.once
        self.partitions |= other.partitions
        self.disk = self.disk or other.disk


def _collections(nodes: Mapping[str, int | None]) -> dict[str, str]:
    """Collection of each path with an owner. A broker's logs and disks may be in different trees (logs/kafka-0, data/kafka-0):
    directories that repeat nothing of each other form one collection, named after the first of them."""
    owned = {path: (node, path.rpartition("/")[0]) for path, node in nodes.items() if node is not None}
    below: dict[str, set[int]] = defaultdict(set)
    for node, directory in {*owned.values()}:
        for parent in (directory, *_parents(directory)):
            below[parent].add(node)
    once = {path: of_path for path in owned if (of_path := _once(path)) is not None}
    twice = _held_twice(owned, once)
    topmost = {place: _topmost(place[1], place[0], below, twice) for place in owned.values()}
    places = {path: (place[0], topmost[place]) for path, place in owned.items()}
    parts: dict[int, dict[str, _Part]] = defaultdict(dict)
    for path, (node, directory) in places.items():
        parts[node].setdefault(directory, _Part(directory)).add(path, once.get(path))
    called = {(node, directory): name for node, own in parts.items() for directory, name in _joined(list(own.values())).items()}
    return {path: called[place] for path, place in places.items()}


MAX_PARTS = 64
"""Maximum number of one node's directories that are compared with each other; an hourly hive layout has thousands, with logs only."""


def _joined(parts: Sequence[_Part]) -> dict[str, str]:
    """The collection of each directory. Directories with disks start collections; the others join the nearest."""
    telling = sorted((p for p in parts if p.disk or p.partitions), key=lambda p: p.directory)
    found: list[_Part] = []
    names: dict[str, str] = {}
    for part in telling[:MAX_PARTS] or parts[:1]:
        home = next((f for f in sorted(found, key=lambda f: -_shared(f.directory, part.directory)) if not f.repeats(part)), None)
        if home is None:
            found.append(_Part(part.directory, set(part.once), set(part.partitions), part.disk))
        else:
            home.join(part)
        names[part.directory] = (home or part).directory
    for part in parts:
        if part.directory not in names:
            near = max(found, key=lambda f: _shared(f.directory, part.directory))
            names[part.directory] = part.directory if part.disk or part.partitions else near.directory
    return names


def _shared(one: str, other: str) -> int:
    """Number of steps that two directories have in common at their beginning and at their end."""
    a, b = one.split("/"), other.split("/")
    ahead = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    behind = next((i for i, (x, y) in enumerate(zip(a[::-1], b[::-1], strict=False)) if x != y), min(len(a), len(b)))
    return ahead + behind


def _copied(clues: Iterable[Clues]) -> list[Conflict]:
    """Identities of disks that are copies of another node's: the node has its own, the files around the copy all name one other node, and
    that one has none. Kafka does not start with such a file."""
    disks: dict[int, list[str]] = defaultdict(list)
    others = []
    for clue in clues:
        if clue.nodes and clue.path.rpartition("/")[2] == "meta.properties":
            disks[clue.nodes[0]].append(clue.path)
        else:
            others.append(clue)
    votes = _votes(others)
    around = {path: _nearest(path, votes) for own in disks.values() for path in own}
    return [
        Conflict(path, node, *around[path])
        for node, own in disks.items()
        if any(around[path] == {node} for path in own)
        for path in own
        if len(around[path]) == 1 and around[path].isdisjoint(disks)
    ]


def identify(clues: Iterable[Clues]) -> Identity:
    """Owners of all sources. A source that names a node belongs to that node; a source that names none belongs to the node of its
    neighbours. If meta.properties or server.properties in the same tree name another node, the conflict is reported."""
    clues = sorted(clues, key=lambda c: c.path)
    conflicts = _copied(clues)
    copied = {c.path for c in conflicts}
    clues = [replace(c, nodes=()) if c.path in copied else c for c in clues]
    signs = _Signs(clues)
    keepers = _votes(c for c in clues if c.authoritative)
    nodes = {clue.path: _owner(clue, signs) for clue in clues}
    for clue in clues:
        around = _nearest(clue.path, keepers)
        if clue.nodes and not clue.authoritative and around and not around & set(clue.nodes):
            conflicts.append(Conflict(clue.path, clue.nodes[0], min(around)))
    collections = _collections(nodes)
    return Identity({p: Owner(n, collections.get(p, "")) for p, n in nodes.items()}, conflicts)
