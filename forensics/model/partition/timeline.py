"""One partition's timeline: states in causal order, leader terms, replicas, disks.

Here: the assembly of a partition's events (all brokers, all sources) into a PartitionTimeline, ordered by topic id, leader epoch,
partition epoch and the order inside each file before any clock is used. Not here: a replica's own history (replicas), and the assessment
of events (forensics).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from functools import partial, wraps
from itertools import pairwise, takewhile
from operator import itemgetter
from typing import Any, Concatenate, ParamSpec, TypeVar

from forensics.model.clock.copies import once
from forensics.model.clock.order import FileOrders
from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.message import Message, said
from forensics.model.partition.chain import chain, disputed
from forensics.model.partition.final_state import (
    FinalState,
    Orders,
    Snapshot,
    after_reassignments,
    as_states,
    assigned_from,
    reassigned,
    repeated,
    seen_after,
)
from forensics.model.partition.folding import fold, joins, without_future_logs
from forensics.model.partition.generations import generations, makes
from forensics.model.partition.lineage import Lineage, began, may_be_cleaned, on_disk
from forensics.model.partition.replicas import (
    ASIDE,
    AT_LEAST,
    AT_MOST,
    EXACT,
    REWRITTEN_FILES,
    Contradiction,
    Disk,
    LeaderStart,
    Removal,
    Replica,
    disk,
    history,
)
from forensics.model.partition.states import OF_THE_ISR, UNKNOWN_EPOCH, State, collect_states
from forensics.model.settings.versions import versions
from forensics.model.times import grouped, is_later, not_after, undated_first
from parsers.cached import cached_property
from parsers.frozen import dataclass, replace
from parsers.kinds import ON_DISK, STARTS, By, Role, named, of

OF_CLIENTS = named("group-commit", "group-member", "transaction-state")
"""Events about clients that read or write a partition."""


@dataclass(frozen=True, slots=True)
class Term:
    """A leader's term in one leader epoch, by one process. A leader restarted within its epoch begins a second term."""

    epoch: int
    restart: int
    leader: int
    state: State | None
    before: State | None
    """The partition's state this term replaced."""
    start_offset: int | None
    """The leader's log end when the term began."""
    bound: str
    """Bound of start_offset: 'exact', 'at-least', 'at-most'."""
    high_watermark: int | None
    at: datetime | None
    evidence: tuple[Event, ...]
    earliest: int = 0
    """If start_offset is 'at-most': the term began at this offset or above."""

    @property
    def exact(self) -> bool:
        return self.start_offset is not None and self.bound == EXACT

    @property
    def at_least(self) -> int:
        """Lower bound of the term's first offset."""
        return self.earliest if self.start_offset is None or self.bound == AT_MOST else self.start_offset

    @property
    def at_most(self) -> int | None:
        """Upper bound of the term's first offset; None if unknown."""
        return self.start_offset if self.bound != AT_LEAST else None

    @property
    def began(self) -> Message:
        """start_offset with its bound."""
        return said(f"log/{self.bound}", offset=self.start_offset) if self.start_offset is not None else said("log/unknown")

    @property
    def order(self) -> tuple[int, int]:
        return (self.epoch, self.restart)


@dataclass
class PartitionTimeline:
    topic: str
    partition: int
    generation: int
    """0 is the current topic, -1 the one deleted before it, and so on."""
    kinds: frozenset[str] = frozenset()
    """Kinds of all its events, also of its files and its clients."""
    topic_id: str | None = None
    succeeded_by: datetime | None = None
    """When the next topic of this name is first seen."""
    states: list[State] = field(default_factory=list)
    terms: list[Term] = field(default_factory=list)
    replicas: dict[int, Replica] = field(default_factory=dict)
    collected_logs: dict[int, Disk] = field(default_factory=dict)
    """The disk in each broker's latest collection."""
    cleaned: bool | None = None
    """The log cleaner may have removed records; None: unknown (lineage.may_be_cleaned)."""
    lineages: dict[int, Lineage] = field(default_factory=dict)
    """Epoch lineage of each disk's log, by broker."""
    stray_logs: dict[int, list[Disk]] = field(default_factory=dict)
    """Other directories of the partition in the same collection: to be deleted, strays, future logs."""
    segments: list[Event] = field(default_factory=list)
    """All collected segment files, from every directory and collection: other places that may contain a record."""
    commits: list[Event] = field(default_factory=list)
    """Offsets that consumer groups committed: client events, not part of the partition's history."""
    members: list[Event] = field(default_factory=list)
    """Group members to which the partition was assigned, also client events."""
    transactions: list[Event] = field(default_factory=list)
    """States of transactions that wrote to the partition, also client events."""
    snapshots: list[Snapshot] = field(default_factory=list)
    contradictions: list[Contradiction] = field(default_factory=list)
    """Statements that cannot all be true: about one log, and about the states."""
    events: list[Event] = field(default_factory=list)
    """All events, each broker's in its own order, brokers merged by corrected time."""
    orders: Orders = field(default_factory=Orders)
    """The known order of the replicas; already applied to `states`."""
    _by_kind: dict[str, list[Event]] | None = None

    @cached_property
    def cache(self) -> dict[Any, Any]:
        """Cached values; see `cached_on_timeline`."""
        return {}

    @cached_property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    def of(self, *kinds: str) -> list[Event]:
        """Events of these kinds, in order. The first call indexes the events; they must not change afterwards."""
        if self._by_kind is None:
            self._by_kind = defaultdict(list)
            for e in self.events:
                self._by_kind[e.event].append(e)
        if len(kinds) == 1:
            return self._by_kind.get(kinds[0], [])
        known = sorted(self._by_kind.keys() & kinds)
        found = [e for kind in known for e in self._by_kind[kind]]
        return sorted(found, key=_in_time) if len(known) > 1 else found

    def resumed(self, broker: int, after: datetime) -> datetime | None:
        """When the broker next got a role, or a fetcher, for its replica; None if no evidence shows that."""
        replica = self.replicas.get(broker)
        starts = [s.event for s in replica.starts] if replica is not None else []
        added = [e for e in self.of("fetcher-added") if e.writer == broker]
        return min((e.at for e in (*starts, *added) if e.at is not None and e.at >= after), default=None)

    def out_of_isr(self, broker: int, since: datetime, until: datetime) -> datetime | None:
        """When the ISR first lacked the broker within this time; None if it did not, or no state is known."""
        before = next((s for s in reversed(self.states) if s.at is not None and s.at < since), None)
        own = [before, *self.states_between(since, until)]
        return next((max(s.at, since) for s in own if s is not None and s.at is not None and broker not in s.isr), None)

    @property
    def final(self) -> State | None:
        return self.states[-1] if self.states else None

    @cached_property
    def later(self) -> list[Snapshot]:
        """--describe lines after the last state, without those that show an earlier state again: they may be older than their files."""
        return [s for s in seen_after(self.final, self.snapshots) if repeated(s, self.states) is None]

    @cached_property
    def described_again(self) -> tuple[Snapshot, State] | None:
        """The last --describe line that a file dates after the last state, and the earlier state that it shows."""
        found = ((s, repeated(s, self.states)) for s in reversed(seen_after(self.final, self.snapshots)))
        return next(((s, state) for s, state in found if state is not None), None)

    @cached_property
    def states_with_describe(self) -> list[State]:
        """The states, and later states that only --describe shows. Terms and losses are not derived from the latter."""
        return [*self.states, *as_states(self.final, self.later)]

    @cached_property
    def standing(self) -> FinalState:
        """The partition's state at the end of the evidence."""
        final, seen = self.final, self.later[-1] if self.later else None
        last = seen or final
        replicas, adding, removing = self._final_assignment(last, seen)
        preferred, moving = self.orders.first(replicas), bool(adding or removing)
        if last is None:
            return FinalState(None, (), replicas, preferred, removing, moving, None, None, None)
        epoch = final.known_epoch if final is not None and final.leader == last.leader else None
        return FinalState(last.leader, last.isr, replicas, preferred, removing, moving, epoch, last.at, last.event)

    def _final_assignment(
        self, last: State | Snapshot | None, seen: Snapshot | None
    ) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """The replicas at the end, and those of them being added and removed."""
        done = reassigned(self.of)[-1:]
        if done and (last is None or not_after(last.at, done[0].at)):
            return tuple(done[0].replicas or ()), (), ()
        assigned: list[State | Snapshot] = [*self.snapshots, *self.states, *self.later]
        replicas = next((one.replicas for one in reversed(assigned) if one.replicas), ())
        return replicas, *aims(seen, self.states)

    @cached_property
    def term_orders(self) -> Sequence[tuple[int, int]]:
        """The order of each term; they rise."""
        return [t.order for t in self.terms]

    def terms_before(self, term: Term) -> Iterator[Term]:
        """The terms of earlier leaders or processes, latest first."""
        return map(self.terms.__getitem__, reversed(range(bisect_left(self.term_orders, term.order))))

    def before(self, term: Term) -> Term | None:
        """The last term of an earlier leader or process."""
        return next(self.terms_before(term), None)

    @cached_property
    def epochs_led(self) -> frozenset[int]:
        """The leader epochs of the terms."""
        return frozenset(t.epoch for t in self.terms)

    def states_between(self, since: datetime, until: datetime) -> Iterator[State]:
        """The states from these times, both included, by time."""
        dated = self._dated_states
        begin, end = bisect_left(dated, since, key=itemgetter(0)), bisect_right(dated, until, key=itemgetter(0))
        return (state for _, state in dated[begin:end])

    @cached_property
    def _dated_states(self) -> Sequence[tuple[datetime, State]]:
        return sorted(((s.at, s) for s in self.states if s.at is not None), key=itemgetter(0))

    def knows_epoch(self, epoch: int) -> bool:
        """A state or a term of this leader epoch is known."""
        return epoch in self._states_by_epoch or epoch in self.epochs_led

    def states_of_epoch(self, epoch: int) -> Sequence[State]:
        return self._states_by_epoch.get(epoch, ())

    @cached_property
    def _states_by_epoch(self) -> Mapping[int, Sequence[State]]:
        return grouped((state.leader_epoch, state) for state in self.states)

    def removals_of(self, broker: int) -> Sequence[Removal]:
        """The removals from a broker's log."""
        return self.replicas[broker].removals if broker in self.replicas else ()

    @cached_property
    def assigned(self) -> tuple[int, ...]:
        """The last assigned replicas, preferred leader first, if known; otherwise all replicas that were in an ISR."""
        return self.standing.replicas or tuple(sorted({b for s in self.states for b in s.isr}))

    def log_start(self, broker: int) -> int | None:
        """A replica's last known log start offset: by its files, else by its broker's lines. Kafka checkpoints the log start offset only
        if it is not the base of the first segment."""
        disk, replica = self.collected_logs.get(broker), self.replicas.get(broker)
        if disk is not None and disk.log_start is not None and disk.log_start.offset is not None:
            return disk.log_start.offset
        if disk is not None and disk.segments:
            return disk.segments[0].offset
        seen = [o.offset for o in replica.observations if o.quantity == "log-start-offset"] if replica is not None else []
        return seen[-1] if seen else None

    @property
    def low_watermark(self) -> int | None:
        """The smallest log start offset of the assigned replicas; None if one of them is unknown."""
        starts = [self.log_start(broker) for broker in self.assigned]
        known = [start for start in starts if start is not None]
        return min(known) if known and len(known) == len(starts) else None

    @cached_property
    def has_epochs(self) -> bool:
        """Whether leader epochs (0.11, KIP-101) are in use: followers truncate where lineages diverge, not at their high watermark."""
        if any(d.epochs for d in self.collected_logs.values()) or any(d.last_epoch is not None for d in self.collected_logs.values()):
            return True
        return any(e.event in _OF_EPOCHS for e in self.events)

    @cached_property
    def conflicting_epoch(self) -> int | None:
        """A leader epoch that two brokers led, or None. In one generation of a topic each epoch has one leader, because each state is
        written once, based on the version of the previous one (ZkPartitionStateMachine, PartitionRegistration#merge): here two
        generations are mixed."""
        led = grouped((term.epoch, term.leader) for term in self.terms)
        return next((epoch for epoch, leaders in led.items() if len(set(leaders)) > 1), None)

    @property
    def begins_in_first_epoch(self) -> bool:
        """Whether the first known state has the epochs with which a partition is created. It may be much older: they do not change while
        its leader and its ISR stay the same, as in a cluster of one broker."""
        return bool(self.states) and self.states[0].leader_epoch == 0 and (self.states[0].partition_epoch or 0) == 0

    @cached_property
    def made_by_controller(self) -> bool:
        """Whether a ZooKeeper controller prints that it created the partition."""
        return any(makes(e) or "NewPartition" in (e.value or "") for e in self.of("partition-transition", "partition-state"))

    def created(self) -> bool:
        """Whether the evidence reaches back to the partition's creation."""
        return self.begins_in_first_epoch and (self.made_by_controller or self._made_in_evidence())

    def _made_in_evidence(self) -> bool:
        """The first leader created its log before it led, or the metadata log has the first record, and that leader did not have a log
        already. Snapshots contain records of partitions of any age."""
        replica = self.replicas.get(self.states[0].leader)
        before = takewhile(lambda e: e.event not in STARTS, replica.events) if replica is not None else ()
        for e in before:
            if e.event == "log-created" or (e.event == "log-load" and e.log_end_offset):
                return e.event == "log-created"
        return any(e.leader_epoch == e.partition_epoch == 0 and e.reason != "snapshot" for e in self.of("metadata-partition"))


def aims(seen: Snapshot | None, states: Sequence[State]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Replicas being added and removed. States from a leader's own ISR changes do not name them: while the assignment is the same, the
    reassignment continues."""
    if seen is not None:
        return tuple(seen.event.adding_replicas or ()), tuple(seen.event.removing_replicas or ())
    for state in reversed(states):
        if state.replicas != states[-1].replicas:
            break
        if state.event.adding_replicas is not None or state.adding or state.removing or state.source not in OF_THE_ISR:
            return state.adding, state.removing
    return (), ()


# terms


def _starts(replicas: dict[int, Replica]) -> dict[tuple[int, int], list[LeaderStart]]:
    """Leader starts by (epoch, leader), in the leader's own order: the first start, and restarts within the epoch."""
    found: dict[tuple[int, int], list[LeaderStart]] = defaultdict(list)
    for replica in replicas.values():
        for start in replica.leader_starts:
            own = found[(start.epoch, start.broker)]
            if not own or start.restart:
                own.append(start)
    return found


def terms_of(states: Sequence[State], replicas: dict[int, Replica], lineages: Mapping[int, Lineage]) -> list[Term]:
    starts = _starts(replicas)
    terms: list[Term] = []
    known: set[tuple[int, int]] = set()
    for index, state in enumerate(states):
        key = (state.leader_epoch, state.leader)
        if state.leader < 0 or state.leader_epoch == UNKNOWN_EPOCH or key in known:
            continue
        known.add(key)
        terms.extend(
            _reign(key, state, states[index - 1] if index else None, starts.get(key, []), lineages, states, replicas.get(state.leader))
        )
    for key, own in starts.items():
        if key not in known:
            terms.extend(_reign(key, None, None, own, lineages, states, replicas.get(key[1])))
    terms.sort(key=lambda t: (t.epoch, t.restart, t.leader))
    return terms


def _reign(
    key: tuple[int, int],
    state: State | None,
    before: State | None,
    own: Sequence[LeaderStart],
    lineages: Mapping[int, Lineage],
    states: Sequence[State],
    replica: Replica | None,
) -> list[Term]:
    """The terms of one leader in one epoch: the first, and one more for each restart of its process."""
    of_epoch = [s for s in states if (s.leader_epoch, s.leader) == key] if len(own) > 1 else []
    restarts = (_after_restart(key, number, start, _state_at(start, of_epoch)) for number, start in enumerate(own[1:], 1))
    return [_first_term(key, state, before, own[0] if own else None, lineages, replica), *restarts]


def _first_term(
    key: tuple[int, int],
    state: State | None,
    before: State | None,
    start: LeaderStart | None,
    lineages: Mapping[int, Lineage],
    replica: Replica | None,
) -> Term:
    epoch, leader = key
    offset, bound = (start.offset, EXACT if start.exact else AT_LEAST) if start is not None else (None, AT_LEAST)
    evidence = [x.event for x in (state, start) if x is not None]
    earliest = 0
    at = state.at if state is not None and state.at is not None else start.at if start is not None else None
    filed = began(epoch, leader, lineages) if bound != EXACT else None
    if filed is not None and not _brought(filed.start, at, replica):
        earliest = max(filed.earliest, offset or 0)
        offset, bound = filed.start, EXACT if earliest >= filed.start else AT_MOST
        evidence.extend([filed.event] if filed.event is not None else [])
    high_watermark = start.high_watermark if start is not None else None
    return Term(epoch, 0, leader, state, before, offset, bound, high_watermark, at, tuple(dict.fromkeys(evidence)), earliest)


def _after_restart(key: tuple[int, int], number: int, start: LeaderStart, state: State | None) -> Term:
    """The term of a restarted leader in the same epoch."""
    bound = EXACT if start.exact else AT_LEAST
    return Term(key[0], number, key[1], state, state, start.offset, bound, start.high_watermark, start.at, (start.event,))


def _brought(start: int, at: datetime | None, replica: Replica | None) -> bool:
    """Whether the entry in the leader's epoch file came from elsewhere: before it knew of any epoch, the leader had loaded a longer log."""
    loads = replica.loads if replica is not None else ()
    return any(x.epoch is None and x.offset > start and is_later(at, x.at) for x in loads)


def _state_at(start: LeaderStart, states: Sequence[State]) -> State | None:
    """The partition's state within the epoch when the restarted leader began to lead again."""
    version = start.event.partition_epoch
    if version is not None:
        states = [s for s in states if s.partition_epoch is None or s.partition_epoch <= version] or states
    elif start.at is not None:
        states = [s for s in states if s.at is None or s.at <= start.at] or states
    return states[-1] if states else None


# assembly


def build(topic: str, partition: int, events: Sequence[Event], cluster: Cluster) -> list[PartitionTimeline]:
    """Timelines of a topic-partition, one per generation of the topic, oldest first; generations that only client events name are left
    out, or --describe with the id of an earlier one, whose output is older than its file."""
    orders = FileOrders(cluster.parts, cluster.steps_back)
    split = sorted(generations(topic, once(events, cluster.copies.of_seconds, joins(cluster)), cluster, orders).items())
    last = max((e.at for _, own in split for e in own if e.at is not None and e.event not in _NAMING), default=datetime.min)
    gone = {e.topic_id for e in cluster.of("topic-created", topic=topic) if e.topic_id and e.at is not None and e.at <= last}
    older = {e.source for e in cluster.of("describe-topic", topic=topic) if e.topic_id in gone}

    def only_named(own: Sequence[Event]) -> bool:
        return all(e.event in OF_CLIENTS or (e.event in _NAMING and e.source in older) for e in own)

    found = [_assemble(topic, partition, g, own, cluster, orders) for g, own in split if not only_named(own)]
    for before, after in pairwise(found):
        before.succeeded_by = next((s.at for s in after.states if s.at is not None), None)
    return found


_NAMING = OF_CLIENTS | named("describe-partition")


def _assemble(
    topic: str, partition: int, generation: int, events: Sequence[Event], cluster: Cluster, orders: FileOrders
) -> PartitionTimeline:
    timeline = PartitionTimeline(topic, partition, generation, frozenset(e.event for e in events))
    sorted_events = _sort(events, cluster)
    timeline.topic_id = next((e.topic_id for e in events if e.topic_id and e.event != "describe-partition"), None)
    of_clients = sorted_events.of_clients
    timeline.commits, timeline.members = of_clients["group-commit"], of_clients["group-member"]
    timeline.transactions = of_clients["transaction-state"]
    timeline.segments, timeline.snapshots = sorted_events.segments, sorted_events.snapshots
    for writer, own in sorted(sorted_events.streams.items(), key=lambda item: (item[0] is not None, item[0] or 0)):
        ordered = fold(without_future_logs(orders.of(own)), cluster.copies)
        timeline.events.extend(ordered)
        if writer is not None and any(map(_of_a_replica, ordered)):
            timeline.replicas[writer] = history(writer, ordered, partial(_confirms, cluster), partial(_stops, cluster))
    timeline.collected_logs = {w: disk(w, _latest(cluster, w) or "", own) for w, own in sorted(sorted_events.directories.items())}
    timeline.stray_logs = {w: _aside(w, _latest(cluster, w) or "", own) for w, own in sorted(sorted_events.stray_logs.items())}
    timeline.events.sort(key=_in_time)
    timeline.orders = Orders(timeline.events, timeline.snapshots)
    found = collect_states(timeline.events, timeline.replicas)
    starts = (e for e in timeline.events if e.event in STARTS)
    timeline.contradictions = [*(c for r in timeline.replicas.values() for c in r.contradictions), *disputed(found, starts)]
    states = assigned_from(chain([_arranged(s, timeline.orders) for s in found]), timeline.of, timeline.snapshots)
    timeline.states = after_reassignments(states, timeline.of)
    timeline.lineages = _lineages(timeline, cluster)
    timeline.terms = terms_of(timeline.states, timeline.replicas, timeline.lineages)
    return timeline


@dataclass(slots=True)
class _Sorted:
    """A partition's events by where they belong in its timeline."""

    of_clients: dict[str, list[Event]] = field(default_factory=lambda: defaultdict(list))
    streams: dict[int | None, list[Event]] = field(default_factory=lambda: defaultdict(list))
    """Its history, by writer."""
    directories: dict[int, list[Event]] = field(default_factory=lambda: defaultdict(list))
    """Files of the replicas' directories in the latest collections, by broker."""
    stray_logs: dict[int, list[Event]] = field(default_factory=lambda: defaultdict(list))
    segments: list[Event] = field(default_factory=list)
    snapshots: list[Snapshot] = field(default_factory=list)


def _sort(events: Iterable[Event], cluster: Cluster) -> _Sorted:
    result = _Sorted()
    for e in events:
        if e.event in OF_CLIENTS:
            result.of_clients[e.event].append(e)
        elif e.event in ON_DISK:
            _sort_file(e, cluster, result)
        elif e.event == "describe-partition":
            leader = e.leader if e.leader is not None else -1
            result.snapshots.append(Snapshot(leader, tuple(e.isr or ()), tuple(e.replicas or ()), e.at, e))
        else:
            result.streams[e.writer].append(e)
    result.snapshots.sort(key=lambda s: (undated_first(s), s.event.source))
    return result


def _sort_file(e: Event, cluster: Cluster, result: _Sorted) -> None:
    """Sorts an event from a file of a log directory. A reason names a directory that is not, or not yet, a replica, or an unfinished
    file."""
    latest = e.writer is not None and e.collection == _latest(cluster, e.writer)
    if e.event == "segment":
        result.segments.append(e)
    if e.reason is not None and not (latest and e.reason in REWRITTEN_FILES):
        if e.reason in ASIDE and latest and e.writer is not None:
            result.stray_logs[e.writer].append(e)
    elif latest and e.writer is not None:
        result.directories[e.writer].append(e)
    elif e.writer is None or e.at is not None:  # files of an earlier collection with an unknown save time have no place in the order
        result.streams[e.writer].append(e)


def _confirms(cluster: Cluster, intent: Event) -> bool | None:
    """Whether the leader prints at INFO that an ISR change took effect: from 2.4 on (Partition#updateIsr). From 2.2 on the intention to
    shrink contains the leader's offsets."""
    known = {v >= (2, 4) for v in versions(cluster, intent.writer, intent.at)}
    if len(known) == 1:
        return known.pop()
    return False if intent.event == "isr-shrink" and intent.high_watermark is None else None


def _stops(cluster: Cluster, event: Event) -> bool:
    """Whether a broker printed the line in a clean stop that it completed."""
    if event.at is None or event.writer is None:
        return False
    run = next(cluster.availability(event.writer).living(event.at, event.at), None)
    return run is not None and run.outcome == "stopped" and run.stop is not None and not_after(run.stop.at, event.at)


def _arranged(state: State, orders: Orders) -> State:
    replicas = orders.arranged(state.replicas)
    return state if replicas == state.replicas else replace(state, replicas=replicas)


def _lineages(timeline: PartitionTimeline, cluster: Cluster) -> dict[int, Lineage]:
    """Lineages by broker; also sets `timeline.cleaned`, which they depend on."""
    timeline.cleaned = may_be_cleaned(timeline.topic, timeline.events, timeline.collected_logs.values(), cluster)
    starts = ((s.broker, s.epoch) for r in timeline.replicas.values() for s in r.leader_starts)
    led = grouped((*((s.leader, s.leader_epoch) for s in timeline.states), *starts))
    found = {b: on_disk(d, set(led[b]), cleaned=timeline.cleaned) for b, d in timeline.collected_logs.items()}
    return {b: lineage for b, lineage in found.items() if lineage is not None}


def _aside(broker: int, collection: str, events: Iterable[Event]) -> list[Disk]:
    """One disk per directory."""
    found = grouped((e.source.rpartition("/")[0], e) for e in events)
    return [replace(disk(broker, collection, own), state=own[0].reason) for _, own in sorted(found.items())]


_OF_A_REPLICA = of(by=By.LEADER | By.FOLLOWER | By.REPLICA | By.LOG | By.BROKER | By.FILE)
"""Kinds of events that a broker prints about its own replica; other kinds may be about other brokers' replicas."""


def _of_a_replica(event: Event) -> bool:
    """Whether the event is about the broker's own replica. States count only if a controller sent them to it: a controller also prints
    states that it decided, sent or cached for any partition."""
    return event.event in _OF_A_REPLICA and (event.event != "partition-state" or event.reason == "received")


_OF_EPOCHS = of(role=Role.START | Role.EPOCH)


def _latest(cluster: Cluster, node: int) -> str | None:
    known = cluster.nodes.get(node)
    return known.collections[-1] if known is not None and known.collections else None


def _in_time(e: Event) -> tuple[datetime, str, int]:
    return (undated_first(e), e.source, e.line or 0)


P = ParamSpec("P")
T = TypeVar("T")


def cached_on_timeline(compute: Callable[Concatenate[PartitionTimeline, P], T]) -> Callable[Concatenate[PartitionTimeline, P], T]:
    """Caches `compute` on the timeline. Its second argument, if any, is the cluster, which is the same for all calls with one timeline;
    further ones must be hashable. Timeline and cluster must not change any more."""

    @wraps(compute)
    def answer(timeline: PartitionTimeline, /, *of: P.args, **named: P.kwargs) -> T:
        kept: dict[Any, T] = timeline.cache
        asked = (compute, *of[1:], *named.values()) if len(of) > 1 or named else compute
        try:
            return kept[asked]
        except KeyError:
            found = kept[asked] = compute(timeline, *of, **named)
            return found

    return answer
