"""Which cluster each line and file is of, where a collection holds the lives of several.

Here: the witnesses (cluster ids that starts print and meta.properties hold, controller epochs that begin anew) and the spans of each
broker's time they make. Not here: which broker wrote a line (identity, shared_logs), or the lives of a topic within a cluster (generations).

A broker id, a host and a log directory outlive a cluster: ZooKeeper's data is wiped, storage is formatted anew, another
zookeeper.connect is set, and the next cluster begins with the same ids and topic names, with leader epoch 0 and controller epoch 1.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from spark.events import Event

CLUSTER_ID = "cluster.id"
TELLING = frozenset({"broker-starting", "controller-starting", "broker-state", "config", "controller-elected", "cluster-id-mismatch"})
"""Kinds of events that are looked at here; partition states, too, for the controller epochs they are of."""
SAME_ELECTION = timedelta(seconds=10)
"""One election is told by several lines, in several files."""


@dataclass(frozen=True, slots=True)
class Span:
    """From a moment of a node's wall clock on, its lines are of one cluster (index into Incarnations.ids)."""

    since: datetime
    cluster: int
    how: str
    """'first'; 'restarted': the process that began then named another cluster; 'under-way': the cluster's state was gone under the
    living process."""
    evidence: tuple[Event, ...] = ()


@dataclass(frozen=True)
class Incarnations:
    """The clusters of a collection, oldest first; the last is the one that stands at the end."""

    ids: tuple[str | None, ...] = (None,)
    """Cluster ids; None where none is printed (before 0.10.1)."""
    spans: Mapping[int | None, tuple[Span, ...]] = field(default_factory=dict)
    """By node, in order of time; None stands for nodes of which no start is in evidence. Empty where there is but one cluster."""

    @property
    def last(self) -> int:
        return len(self.ids) - 1

    def at(self, node: int | None, wall: datetime) -> int:
        """The cluster of what a node's clock dates so; what is before its first span is of the first."""
        spans = self.of_node(node)
        return spans[max(bisect_right([s.since for s in spans], wall) - 1, 0)].cluster if spans else self.last

    def of_node(self, node: int | None) -> tuple[Span, ...]:
        return self.spans.get(node) or self.spans.get(None, ())

    def of_id(self, cluster_id: str | None) -> int:
        """The cluster of a file that names its id; the last where it names none."""
        return self.ids.index(cluster_id) if cluster_id in self.ids else self.last


@dataclass
class _Process:
    """What one process of a node tells, from its start to the next."""

    node: int
    begin: datetime
    cluster_id: str | None = None
    named_by: Event | None = None
    terms: list[Event] = field(default_factory=list)
    """First words of controllers of one epoch each: that one was elected, or orders of it."""


@dataclass
class _Life:
    """A cluster while it is being put together."""

    cluster_id: str | None
    processes: list[_Process] = field(default_factory=list)
    spans: list[tuple[int, Span]] = field(default_factory=list)

    @property
    def first(self) -> datetime:
        return min((span.since for _, span in self.spans), default=datetime.max)

    @property
    def last(self) -> datetime:
        """When it was last heard of; one that only disks name is as it was collected."""
        return max((span.since for _, span in self.spans), default=datetime.max)


def incarnations(telling: Iterable[Event], on_disk: Iterable[tuple[str, datetime | None]] = ()) -> Incarnations:
    """The clusters of a collection. `telling` are events of TELLING with the times their clocks told; `on_disk` the cluster ids of
    meta.properties, with when these were written."""
    lives = _named_late(_reborn(_by_id(_processes(telling))))
    known = {life.cluster_id for life in lives}
    written: dict[str, datetime] = {}
    for cluster_id, at in on_disk:
        if cluster_id not in known:
            written[cluster_id] = max(written.get(cluster_id, datetime.min), at or datetime.min)
    if len(written) == len(lives) == 1 and lives[0].cluster_id is None:
        lives[0].cluster_id = next(iter(written))  # no line names the only cluster there is, but its disks do
    else:
        lives.extend(_Life(cluster_id) for cluster_id in sorted(written, key=lambda i: (written[i], i)))
    if len(lives) < 2:
        return Incarnations((lives[0].cluster_id,) if lives else (None,))
    lives.sort(key=lambda life: (life.last, life.first))
    spans: dict[int | None, list[Span]] = defaultdict(list)
    for number, life in enumerate(lives):
        for node, span in life.spans:
            spans[node].append(replace(span, cluster=number))
        if life.spans:
            spans[None].append(Span(life.first, number, "first"))
    ordered = {node: tuple(sorted(own, key=lambda s: s.since)) for node, own in spans.items()}
    return Incarnations(tuple(life.cluster_id for life in lives), ordered)


def _processes(telling: Iterable[Event]) -> dict[int, list[_Process]]:
    """Each node's processes in order. One that was refused, by whichever side is wrong, joined nothing: it is of the cluster before."""
    streams: dict[int, list[Event]] = defaultdict(list)
    for e in telling:
        if e.writer is not None and e.at is not None and e.line is not None:
            streams[e.writer].append(e)
    found: dict[int, list[_Process]] = {}
    for node, own in sorted(streams.items()):
        processes: list[_Process] = []
        for e in sorted(own, key=lambda e: (e.at, e.source, e.line)):
            assert e.at is not None
            starts = e.event in ("broker-starting", "controller-starting") or (e.event == "broker-state" and e.reason == "STARTING")
            names = e.event == "config" and e.key == CLUSTER_ID and e.value is not None
            now = processes[-1] if processes else None
            if starts or now is None or (names and now.cluster_id not in (None, e.value)):
                now = _Process(node, e.at)
                processes.append(now)
            if names and now.cluster_id is None:
                now.cluster_id, now.named_by = e.value, e
            elif e.event == "cluster-id-mismatch" and e.key is None:
                now.cluster_id, now.named_by = None, None
            elif e.controller_epoch is not None and e.reason not in _HEARSAY and _new_term(e, now):
                now.terms.append(e)
        found[node] = processes
    return found


def _by_id(processes: Mapping[int, Sequence[_Process]]) -> list[_Life]:
    """Lives by the ids that starts print. A process that prints none is of the cluster of the one before it, the first ones of that
    of the next."""
    lives: dict[str | None, _Life] = {}
    for node, own in processes.items():
        known = next((p.cluster_id for p in own if p.cluster_id is not None), None)
        before: str | None = None
        for number, p in enumerate(own):
            p.cluster_id = known = p.cluster_id if p.cluster_id is not None else known
            life = lives.setdefault(known, _Life(known))
            life.processes.append(p)
            if number == 0 or known != before:
                evidence = (p.named_by,) if p.named_by is not None else ()
                life.spans.append((node, Span(p.begin, 0, "restarted" if number else "first", evidence)))
            before = known
    return list(lives.values())


_HEARSAY = frozenset({"seen", "cached", "replayed", "stored", "written"})


def _new_term(e: Event, process: _Process) -> bool:
    return not any(t.controller_epoch == e.controller_epoch and (t.event == e.event or _elected(t)) for t in process.terms)


def _elected(e: Event) -> bool:
    return e.event == "controller-elected"


def _reborn(lives: Iterable[_Life]) -> list[_Life]:
    """A controller epoch is taken once in a cluster's life: where one is taken again, ZooKeeper or the quorum had lost its state,
    under living brokers or, with the same id or none printed, between two starts."""
    found: list[_Life] = []
    for life in lives:
        pieces = [life]
        terms = sorted(((e.at, p.node, p, e) for p in life.processes for e in p.terms if e.at is not None), key=lambda t: t[:2])
        told = [e for *_, e in terms]
        begun = 0
        for number, (_, _, process, e) in enumerate(terms):
            if number > begun and _taken_again(e, told[begun:number], told[number + 1 :]):
                earlier = terms[number - 1][0]
                pieces.append(_Life(None if _under_way(process, earlier, e) else life.cluster_id))
                _cut(pieces[-2], pieces[-1], process, earlier, e)
                begun = number
        found.extend(pieces)
    return found


def _taken_again(e: Event, earlier: Sequence[Event], later: Sequence[Event]) -> bool:
    """By clocks of several machines only the same epoch twice is sure; by one machine's, any that does not rise. Orders of an old
    controller may come late, but not of two, one after the other."""
    assert e.at is not None and e.controller_epoch is not None
    own = [t.controller_epoch or 0 for t in earlier if t.writer == e.writer]
    if _elected(e):
        same = (t for t in earlier if _elected(t) and t.controller_epoch == e.controller_epoch and t.at is not None)
        return any(e.at - t.at > SAME_ELECTION for t in same if t.at is not None) or any(
            _elected(t) and t.writer == e.writer and (t.controller_epoch or 0) > e.controller_epoch for t in earlier
        )
    reached = max(own, default=0)
    after = (t.controller_epoch or 0 for t in later if t.writer == e.writer)
    rising = next((epoch for epoch in after if epoch != e.controller_epoch), 0)
    return e.controller_epoch < rising < reached


def _under_way(process: _Process, earlier: datetime, term: Event) -> bool:
    """The state was lost under a living process: it had begun before, or had named the cluster whose epochs these are not. What keeps
    its id when its storage is formatted is stopped for it."""
    kraft = "QuorumController" in (term.text or "")
    return process.begin <= earlier or (process.cluster_id is not None and not kraft)


def _cut(old: _Life, new: _Life, process: _Process, earlier: datetime, term: Event) -> None:
    """Spans of the life that a controller's term shows: where brokers lived on, from then on; else from their starts around it."""
    assert term.at is not None
    nodes = sorted({p.node for p in old.processes})
    for node in nodes:
        own = [p for p in old.processes if p.node == node]
        begins = [p.begin for p in own if p.begin > earlier]
        if _under_way(process, earlier, term):
            since, how = term.at, "under-way"
        elif not begins:
            continue
        else:
            since, how = min(begins, key=lambda b: abs(b - process.begin)), "restarted"
        new.spans.append((node, Span(since, 0, how, (term,))))
        new.processes.extend(p for p in own if p.begin >= since or p is process)
        old.processes = [p for p in old.processes if p.node != node or p.begin < since]
        late = [(n, s) for n, s in old.spans if n == node and s.since > since]
        new.spans.extend(late)
        old.spans = [(n, s) for n, s in old.spans if (n, s) not in late]


def _named_late(lives: Sequence[_Life]) -> list[_Life]:
    """A cluster id is made when a broker starts: what began under living brokers is named by the next start of one of them, unless its
    controller epochs show that the state was lost once more."""
    found = list(lives)
    for unnamed in [life for life in lives if life.cluster_id is None and life.spans]:
        following = [(s.since, life) for n, since in _begun(unnamed) for life in found for m, s in life.spans if m == n and s.since > since]
        after = min(following, key=lambda f: f[0], default=None)
        if after is None or after[1].cluster_id is None or not _goes_on(unnamed, after[1]):
            continue
        life = after[1]
        unnamed.cluster_id = life.cluster_id
        unnamed.processes.extend(life.processes)
        began = {node for node, _ in unnamed.spans}
        unnamed.spans.extend((node, span) for node, span in life.spans if node not in began)
        found.remove(life)
    return found


def _begun(life: _Life) -> list[tuple[int, datetime]]:
    return [(node, span.since) for node, span in life.spans]


def _goes_on(before: _Life, life: _Life) -> bool:
    """The controllers of a life follow those of the one before it."""
    since = before.first
    reached = max((e.controller_epoch or 0 for p in before.processes for e in p.terms if e.at is not None and e.at >= since), default=0)
    return all((e.controller_epoch or 0) > reached for p in life.processes for e in p.terms if _elected(e))
