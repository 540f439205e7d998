"""The cluster that each line and file belongs to, if a collection covers several clusters in succession.

Here: the evidence (cluster ids in start lines and meta.properties, controller epochs that restart at 1) and the time spans of each
broker that follow from it. Not here: which broker wrote a line (identity, shared_logs), or a topic's incarnations within a cluster
(generations).

A broker id, a host and a log directory outlive a cluster: ZooKeeper's data is wiped, storage is formatted again, another
zookeeper.connect is set. The next cluster starts with the same ids and topic names, with leader epoch 0 and controller epoch 1.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import MappingProxyType

from forensics.model.events import Event
from forensics.model.times import grouped, is_later
from forensics.thresholds import LONGEST_START, SAME_ELECTION
from parsers.kinds import Role, named, of

CLUSTER_ID = "cluster.id"
_BEGINS = of(role=Role.BEGINS) | named("controller-thread", "process-starting")
OF_CLUSTERS = _BEGINS | named("broker-state", "config", "controller-elected", "quorum-role", "cluster-id-mismatch", "broker-registered")
"""Kinds of events that are read here; partition states are read too, for their controller epochs."""


@dataclass(frozen=True, slots=True)
class ClusterSpan:
    """From `since` (wall clock) on, the node's lines belong to one cluster (index into ClusterHistory.ids)."""

    since: datetime
    cluster: int
    how: str
    """'first'; 'restarted': the process that started then belonged to another cluster; 'under-way': the cluster's state was lost while
    the process ran."""
    evidence: tuple[Event, ...] = ()


@dataclass(frozen=True)
class ClusterHistory:
    """The clusters of a collection, oldest first; the last is the one at the end of the evidence."""

    ids: tuple[str | None, ...] = (None,)
    """Cluster ids; None if no id is printed (before 0.10.1)."""
    spans: Mapping[int | None, tuple[ClusterSpan, ...]] = field(default_factory=dict)
    """By node, in order of time; None is the key for nodes without a start in the evidence. Empty if there is only one cluster."""

    @property
    def last(self) -> int:
        return len(self.ids) - 1

    def of_node(self, node: int | None) -> tuple[ClusterSpan, ...]:
        return self.spans.get(node) or self.spans.get(None, ())

    def between(self, node: int | None, first: datetime | None, last: datetime | None) -> tuple[ClusterSpan, ...]:
        """The node's spans between two wall-clock times; empty if a time is missing."""
        spans = self.of_node(node)
        if first is None or last is None:
            return ()
        begin, end = (bisect_right(spans, at, key=lambda s: s.since) for at in (first, last))
        return spans[max(begin - 1, 0) : end or 1]

    def of_id(self, cluster_id: str | None) -> int:
        """The last cluster with this id: storage may be formatted again with the same id. The last of all if the id is None or unknown."""
        known = [number for number, own in enumerate(self.ids) if cluster_id is not None and own == cluster_id]
        return known[-1] if known else self.last


@dataclass
class _Process:
    """Evidence from one process of a node, from its start to the next."""

    begin: datetime
    last: datetime
    """Time of its last event."""
    cluster_id: str | None = None
    named_by: Event | None = None
    terms: list[Event] = field(default_factory=list)
    """First events with each controller epoch: an election, or a request of that controller."""
    registered: list[Event] = field(default_factory=list)
    """Its own registrations; a second one follows the end of its session in ZooKeeper."""
    marks: set[tuple[str, str | None]] = field(default_factory=set)
    """Start lines seen so far: a KRaft broker prints several, each once."""

    def still_starts(self, e: Event) -> bool:
        """Whether the line belongs to the same start."""
        named = self.cluster_id is not None and e.event != "controller-thread"  # a controller thread starts after the id was printed
        joined = any(t.mode != "kraft" for t in self.terms)  # a KRaft node may lead the quorum before its broker starts
        fresh = not named and not joined and (e.event, e.pattern) not in self.marks
        return bool(self.marks) and fresh and e.at is not None and e.at - self.begin <= LONGEST_START


@dataclass(eq=False)
class _ClusterMembership:
    """A node's stay in one cluster, as far as its own lines show."""

    node: int
    span: ClusterSpan
    cluster_id: str | None
    processes: list[_Process] = field(default_factory=list)
    epochs: dict[int, datetime] = field(default_factory=dict)
    """Controller epochs, with the time each first appeared."""

    @property
    def last(self) -> datetime:
        return max([self.span.since, *(p.begin for p in self.processes), *self.epochs.values()])

    @property
    def heard(self) -> datetime:
        """Time of its last event."""
        return max([self.last, *(p.last for p in self.processes)])

    @property
    def reached(self) -> int:
        return max(self.epochs, default=0)


def cluster_history(
    events: Iterable[Event],
    on_disk: Collection[tuple[str, datetime | None]] = (),
    latest: Mapping[int, datetime] = MappingProxyType({}),
) -> ClusterHistory:
    """The clusters of a collection. `events`: those of OF_CLUSTERS and partition states, with uncorrected times. `on_disk`: the cluster ids
    of meta.properties, with the times of writing. `latest`: for the events of logs whose clock was set back, by their id, the latest time
    read up to them: these logs are in the order of their lines."""
    stays = [stay for node, own in _processes(events, latest).items() for stay in _stays(node, own)]
    groups = _registered_anew(_carried_over(_before_it_began(_together(stays))))
    groups.sort(key=lambda g: (max(s.last for s in g), min(s.span.since for s in g)))
    ids = [next((s.cluster_id for s in group if s.cluster_id is not None), None) for group in groups]
    unnamed = _only_on_disk(on_disk, set(ids))
    if ids == [None] and len(unnamed) == 1:
        return ClusterHistory(tuple(unnamed))  # no line names the only cluster, but its disks do
    if ids[-1:] and ids[-1] in {cluster_id for cluster_id, _ in on_disk}:  # it was there when the disks were collected
        ids, first = [*unnamed, *ids], len(unnamed)
    else:
        ids, first = [*ids, *unnamed], 0
    return ClusterHistory(tuple(ids), _spans(groups, first) if len(ids) > 1 else {}) if ids else ClusterHistory()


def _only_on_disk(on_disk: Iterable[tuple[str, datetime | None]], in_lines: Collection[str | None]) -> list[str]:
    """The cluster ids that only disks name, by the time they were written last."""
    written: dict[str, datetime] = {}
    for cluster_id, at in on_disk:
        if cluster_id not in in_lines:
            written[cluster_id] = max(written.get(cluster_id, datetime.min), at or datetime.min)
    return sorted(written, key=lambda i: (written[i], i))


def _spans(groups: Iterable[Sequence[_ClusterMembership]], first: int) -> dict[int | None, tuple[ClusterSpan, ...]]:
    """The spans of each node, and under None those of the clusters. `first`: the number of the first one."""
    spans: dict[int | None, list[ClusterSpan]] = defaultdict(list)
    for number, group in enumerate(groups, first):
        for stay in group:
            spans[stay.node].append(replace(stay.span, cluster=number))
        spans[None].append(ClusterSpan(min(s.span.since for s in group), number, "first"))
    return {node: tuple(sorted(own, key=lambda s: s.since)) for node, own in spans.items()}


def _processes(events: Iterable[Event], latest: Mapping[int, datetime]) -> dict[int, list[_Process]]:
    """Each node's processes in order. A process refused over a cluster id mismatch joined no cluster: it belongs to the previous one."""
    streams = grouped((e.writer, e) for e in events if e.writer is not None and e.at is not None and e.line is not None)
    return {node: _of_node(sorted(own, key=lambda e: (latest.get(id(e), e.at), e.source, e.line))) for node, own in sorted(streams.items())}


def _named(e: Event) -> str | None:
    """The cluster id that the line names."""
    return e.value if e.event == "config" and e.key == CLUSTER_ID else None


def _of_node(events: Iterable[Event]) -> list[_Process]:
    processes: list[_Process] = []
    for e in events:
        assert e.at is not None
        starts, named = (e.event in _BEGINS or (e.event == "broker-state" and e.reason == "STARTING")), _named(e)
        process = processes[-1] if processes else None
        if process is None or (starts and not process.still_starts(e)) or named not in (None, process.cluster_id or named):
            process = _Process(e.at, e.at)
            processes.append(process)
        process.last = e.at
        if starts:
            process.marks.add((e.event, e.pattern))
        if named is not None and process.cluster_id is None:
            process.cluster_id, process.named_by = e.value, e
        elif e.event == "cluster-id-mismatch" and e.key is None:
            process.cluster_id, process.named_by = None, None
        elif e.event == "broker-registered" and e.broker == e.writer:
            process.registered.append(e)
        elif _new_term(e, process):
            process.terms.append(e)
    return processes


_HEARSAY = frozenset({"seen", "cached", "replayed", "stored", "written"})


def _new_term(e: Event, process: _Process) -> bool:
    """Whether the event is the process's first of a controller epoch, or of another election with the same one."""
    if e.controller_epoch is None or e.reason in _HEARSAY or (e.event == "quorum-role" and not _elected(e)):
        return False
    same = [t for t in process.terms if t.controller_epoch == e.controller_epoch]
    return not same or (_elected(e) and all(is_later(e.at, t.at, SAME_ELECTION) for t in same))


def _elected(e: Event) -> bool:
    """The election of a controller: in KRaft its node says that it leads the quorum, too."""
    return e.event == "controller-elected" or (e.event == "quorum-role" and e.reason == "leader" and e.controller == e.writer)


def _stays(node: int, processes: Sequence[_Process]) -> list[_ClusterMembership]:
    """A node's stays in order. A new stay begins with a process that names another cluster, and where a controller epoch is taken again.
    A process without a cluster id continues the previous stay."""
    found: list[_ClusterMembership] = []
    terms = [t for p in processes for t in p.terms]
    terms_read = 0
    for number, p in enumerate(processes):
        stay = found[-1] if found else None
        if stay is None or _names_another(stay, processes, number):
            evidence = (p.named_by,) if p.named_by is not None else ()
            stay = _ClusterMembership(node, ClusterSpan(p.begin, 0, "restarted" if found else "first", evidence), p.cluster_id)
            found.append(stay)
        stay.cluster_id = stay.cluster_id if stay.cluster_id is not None else p.cluster_id
        stay.processes.append(p)
        for index, t in enumerate(p.terms):
            assert t.at is not None and t.controller_epoch is not None
            terms_read += 1
            if _taken_again(t, stay, (terms[later] for later in range(terms_read, len(terms)))):
                stay = _after_a_loss(node, p, index, t, stay)
                found.append(stay)
            stay.epochs.setdefault(t.controller_epoch, t.at)
    return found


def _names_another(stay: _ClusterMembership, processes: Sequence[_Process], number: int) -> bool:
    """Whether a process names another cluster than the stay's."""
    named = processes[number].cluster_id
    return (named is not None and stay.cluster_id not in (None, named)) or _ids_begin(stay, processes, number)


def _ids_begin(stay: _ClusterMembership, processes: Sequence[_Process], number: int) -> bool:
    """Whether the first printed id after a stay with no known id is that of another cluster: its controller epochs do not continue the
    stay's."""
    named = processes[number].cluster_id
    if stay.cluster_id is not None or named is None:
        return False
    first = next((t for p in processes[number:] if p.cluster_id in (None, named) for t in p.terms), None)
    return first is not None and (first.controller_epoch or 0) < stay.reached + _elected(first)


def _taken_again(t: Event, stay: _ClusterMembership, later: Iterable[Event]) -> bool:
    """Whether a controller epoch is taken a second time, which one cluster never does. Requests of an old controller may arrive late,
    but not those of two controllers in succession."""
    assert t.at is not None and t.controller_epoch is not None
    if _elected(t):
        heard = stay.epochs.get(t.controller_epoch)
        return t.controller_epoch < stay.reached or (heard is not None and t.at - heard > SAME_ELECTION)
    rising = next((e.controller_epoch or 0 for e in later if e.controller_epoch != t.controller_epoch), 0)
    return t.controller_epoch < rising < stay.reached


def _after_a_loss(node: int, process: _Process, number: int, term: Event, before: _ClusterMembership) -> _ClusterMembership:
    """The stay that begins where the state of ZooKeeper or of the quorum was found lost. If the process had already seen controller
    epochs or found the old id, the loss happened while it ran; otherwise the stay begins with its start. A node that keeps its id when
    its storage is formatted is stopped for that."""
    assert term.at is not None
    if number or (process.cluster_id is not None and term.mode != "kraft"):
        since = max(term.at - SAME_ELECTION, process.begin, *(at + timedelta(milliseconds=1) for at in before.epochs.values()))
        return _ClusterMembership(
            node, ClusterSpan(min(since, term.at), 0, "under-way", (term,)), None, [replace(process, terms=process.terms[number:])]
        )
    before.processes.remove(process)
    return _ClusterMembership(node, ClusterSpan(process.begin, 0, "restarted", (term,)), process.cluster_id, [process])


def _together(stays: Sequence[_ClusterMembership]) -> list[list[_ClusterMembership]]:
    """Groups stays by cluster: stays with the same id whose controller epochs continue, and stays that saw one controller epoch at the
    same time. A cluster that began while a broker ran gets its id from that broker's next start."""
    groups = _Groups()
    loose: list[_ClusterMembership] = []
    for stay in sorted(stays, key=lambda s: (s.cluster_id is None, s.span.since, s.node)):
        home = next((n for n in groups.named(stay.cluster_id) if _apart_by_loss(groups.all[n], stay) is None), None)
        if home is None:
            home = min((n for n in groups.at_once(stay) if None in (groups.ids[n], stay.cluster_id)), default=None)
        if home is None and stay.cluster_id is None and stay.span.how == "under-way":
            home = groups.next_of(stay)
        if home is None and stay.cluster_id is None and stay.span.how == "first":
            loose.append(stay)
        else:
            groups.put(stay, home)
    for stay in loose:
        groups.put(stay, min(groups.at_once(stay), default=_nearest(groups.all, stay)))
    return groups.all


class _Groups:
    """Groups of stays, with indexes for finding stays of the same cluster: a test machine may have thousands."""

    def __init__(self) -> None:
        self.all: list[list[_ClusterMembership]] = []
        self.ids: list[str | None] = []
        """Cluster id of each group. Stays with an id are added first, so a group's id does not change."""
        self._named: dict[str | None, list[int]] = defaultdict(list)
        self._heard: dict[tuple[int, int], list[tuple[int, _ClusterMembership]]] = defaultdict(list)
        self._restarted: dict[int, dict[int, list[_ClusterMembership]]] = defaultdict(lambda: defaultdict(list))

    def put(self, stay: _ClusterMembership, home: int | None) -> None:
        """Adds the stay to a group, or to a new one if `home` is None."""
        if home is None:
            home = len(self.all)
            self.all.append([])
            self.ids.append(stay.cluster_id)
            if stay.cluster_id is not None:
                self._named[stay.cluster_id].append(home)
        self.all[home].append(stay)
        for epoch, at in stay.epochs.items():
            self._heard[epoch, _tick(at)].append((home, stay))
        if stay.span.how == "restarted":
            self._restarted[stay.node][home].append(stay)

    def named(self, cluster_id: str | None) -> Sequence[int]:
        return self._named.get(cluster_id, ())

    def at_once(self, stay: _ClusterMembership) -> set[int]:
        """Groups in which another node saw one of the stay's controller epochs, or the epoch before or after it, at the same time: a
        node may receive the next epoch right away."""
        return {
            home
            for epoch, at in stay.epochs.items()
            for near in (epoch - 1, epoch, epoch + 1)
            for tick in range(_tick(at) - 1, _tick(at) + 2)
            for home, other in self._heard.get((near, tick), ())
            if other.node != stay.node and abs(other.epochs[near] - at) <= SAME_ELECTION
        }

    def next_of(self, stay: _ClusterMembership) -> int | None:
        """The group of the node's next stay, if its controller epochs continue this one's."""
        for home, own in sorted(self._restarted[stay.node].items()):
            after = next((s for s in own if s.span.since > stay.span.since), None)
            if after is not None and min(after.epochs, default=1 << 31) > stay.reached:
                return home
        return None


def _tick(at: datetime) -> int:
    return (at - datetime.min) // SAME_ELECTION


def _nearest(groups: Sequence[Sequence[_ClusterMembership]], stay: _ClusterMembership) -> int | None:
    """For a node whose lines name no cluster: the group that other nodes were in at the time."""
    others = [n for n, g in enumerate(groups) if all(s.node != stay.node for s in g)]

    def apart(number: int) -> tuple[timedelta, timedelta]:
        first, last = min(s.span.since for s in groups[number]), max(s.last for s in groups[number])
        return max(first - stay.last, stay.span.since - last, timedelta(0)), abs(first - stay.span.since)

    return min(others, key=apart, default=None)


def _apart_by_loss(group: Iterable[_ClusterMembership], stay: _ClusterMembership) -> _ClusterMembership | None:
    """An earlier stay of the same node in a cluster with the same id, separated from this one by a loss of state."""
    fell = [s for s in group if s.node == stay.node and min(stay.epochs, default=1 << 31) <= s.reached and s.span.since < stay.span.since]
    return fell[0] if fell else None


def _before_it_began(groups: list[list[_ClusterMembership]]) -> list[list[_ClusterMembership]]:
    """Moves processes without a cluster id that ran before the cluster's other nodes joined. By default they belong to the cluster that
    the node names later; they move to an earlier cluster if other nodes were in it at the time."""
    for group in groups:
        for stay in list(group):
            early, rest = _before_the_others(stay, group)
            old = next((g for g in groups if g is not group and _others_at(early, stay.node, g)), None) if early and rest else None
            if old is not None:
                named = tuple(p.named_by for p in rest[:1] if p.named_by is not None)
                group[group.index(stay)] = _split(stay, ClusterSpan(rest[0].begin, 0, "restarted", named), stay.cluster_id)
                stay.cluster_id = None
                old.append(stay)
    return groups


def _before_the_others(stay: _ClusterMembership, group: Iterable[_ClusterMembership]) -> tuple[list[_Process], list[_Process]]:
    """The processes of a stay that ended before other nodes joined the cluster, without a cluster id; and those after them."""
    joined = min((s.span.since for s in group if s.node != stay.node), default=datetime.min)
    early = [p for p in stay.processes if p.cluster_id is None and p.last < joined]
    return early, stay.processes[len(early) :]


def _others_at(processes: Sequence[_Process], node: int, group: Iterable[_ClusterMembership]) -> bool:
    """Whether other nodes of the group were in its cluster while these processes of the node ran."""
    return any(s.node != node and s.span.since <= processes[-1].last and processes[0].begin <= s.heard for s in group)


def _carried_over(groups: list[list[_ClusterMembership]]) -> list[list[_ClusterMembership]]:
    """Extends a loss of state to the other nodes of the cluster. Its evidence is on the node that was elected afterwards and on nodes
    that saw that election. The others changed clusters too: at their start nearest to the loss, or while they ran."""
    for group in groups:
        for stay in list(filter(_lost_state, group)):
            old = next((g for g in groups if g is not group and _was_in(stay.node, g, stay.span.since)), ())
            known = {s.node for s in group}
            group.extend(_moved(s, stay) for s in list(old) if s.node not in known and s.span.since < stay.span.since < s.heard)
    return groups


def _lost_state(stay: _ClusterMembership) -> bool:
    """Whether the stay began with a loss of the cluster's state, shown by a controller epoch."""
    return stay.span.how != "first" and bool(stay.span.evidence) and stay.span.evidence[0].controller_epoch is not None


def _registered_anew(groups: list[list[_ClusterMembership]]) -> list[list[_ClusterMembership]]:
    """A broker that ran on after its cluster ended: when all others had left it for the next one, the broker registered again without a
    restart. From then on it is in the next cluster, whose id it names at its next start only."""
    for group in groups:
        for stay in group:
            old = next(
                (g for g in groups if g is not group and stay.span.how == "restarted" and _was_in(stay.node, g, stay.span.since)), ()
            )
            before = max((s for s in old if s.node == stay.node), key=lambda s: s.span.since, default=None)
            again = before.processes[-1].registered[1:] if before is not None and before.processes else []
            moved = {s.node: s.span.since for s in group}
            gone = max((moved.get(s.node, datetime.max) for s in old if s.node != stay.node), default=datetime.max)
            event = next((e for e in again if e.at is not None and e.at > gone), None)
            if before is not None and event is not None and event.at is not None:
                later = _split(before, ClusterSpan(event.at, 0, "under-way", (event, *stay.span.evidence)), stay.cluster_id)
                stay.span, stay.epochs = later.span, {**stay.epochs, **later.epochs}
    return groups


def _was_in(node: int, group: Iterable[_ClusterMembership], before: datetime) -> bool:
    return any(s.node == node and s.span.since < before for s in group)


def _moved(other: _ClusterMembership, stay: _ClusterMembership) -> _ClusterMembership:
    begins = [p.begin for p in other.processes if p.begin > other.span.since]
    if stay.span.how == "under-way" or not begins:
        since, how = stay.span.since, "under-way"
    else:
        since, how = min(begins, key=lambda b: abs(b - stay.span.since)), "restarted"
    return _split(other, ClusterSpan(since, 0, how, stay.span.evidence), stay.cluster_id)


def _split(stay: _ClusterMembership, span: ClusterSpan, cluster_id: str | None) -> _ClusterMembership:
    """Splits a stay at the span's beginning: returns the later part for the other cluster; the stay keeps the rest."""
    gone = [p for p in stay.processes if p.begin >= span.since]
    stay.processes = [p for p in stay.processes if p.begin < span.since]
    moved = {e: at for e, at in stay.epochs.items() if at >= span.since}
    stay.epochs = {e: at for e, at in stay.epochs.items() if at < span.since}
    return _ClusterMembership(stay.node, span, cluster_id, gone, moved)
