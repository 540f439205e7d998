"""One partition's timeline: states in the order of their cause, leader terms, replicas, disks.

Here: the assembly of a partition's events (all brokers, all sources) into a PartitionTimeline, ordered by topic id, leader
epoch, partition epoch and the order inside each file before any clock is asked. Not here: a replica's own history
(replicas), and whether anything that happened was bad (forensics).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from spark.cluster import Cluster
from spark.events import Event
from spark.order import file_order
from spark.replicas import ASIDE, DISK_EVENTS, Disk, IsrUpdate, LeaderStart, Replica, disk, history

LEADER_RECOVERY_LEVEL = 3
"""metadata.version 3.2-IV0, from which on an unclean election is marked RECOVERING (KIP-704)."""

UNKNOWN_EPOCH = -1
"""Stands before every known one: logs often begin long after the last election."""

SAME_CHANGE = timedelta(seconds=1)
"""A leader prints a change of its ISR and what follows from it within milliseconds."""


class Orders:
    """The order of a partition's replicas. Up to 0.10.2 a controller sends them as a set, and brokers print them in any order
    (LeaderAndIsrRequest, PartitionStateInfo); who assigned or described the partition tells the order."""

    def __init__(self, events: Iterable[Event] = (), snapshots: Iterable[Snapshot] = ()) -> None:
        told: dict[tuple[int, ...], None] = dict.fromkeys(s.replicas for s in snapshots if s.replicas)
        self.lost = False
        for e in events:
            if e.replicas and (e.event != "assignment" or e.reason in ("stored", "current")):
                unordered = e.event == "partition-state" and _as_set(e.text or "")
                self.lost |= unordered
                if not unordered:
                    told[tuple(e.replicas)] = None
        self._told = told
        self._by_set = {frozenset(t): t for t in told}

    def arranged(self, replicas: tuple[int, ...] | None) -> tuple[int, ...] | None:
        """The replicas in their order, as far as it is told."""
        if not replicas or not self.lost or replicas in self._told:
            return replicas
        return self._by_set.get(frozenset(replicas), replicas)

    def first(self, replicas: Sequence[int] | None) -> int | None:
        """The preferred leader of this assignment; None where its order is not told."""
        if not replicas or (self.lost and frozenset(replicas) not in self._by_set):
            return None
        return (self.arranged(tuple(replicas)) or replicas)[0]


def _as_set(text: str) -> bool:
    return "AllReplicas:" in text or ("LeaderAndIsr request PartitionState(" in text and "replicas=[" in text)


_AUTHORITY = {
    source: rank
    for rank, source in enumerate(
        ("metadata", "changed", "decided", "replayed", "sent", "leader", "written", "received", "cached", "stored"),
    )
}
"""Who tells a state best. 'changed': the leader, of a change of its ISR that took effect; the controller may name the state much later."""


@dataclass(frozen=True, slots=True)
class State:
    """Leader, ISR and assignment of a partition between two changes."""

    leader_epoch: int
    """UNKNOWN_EPOCH: of an epoch that began before the evidence does."""
    partition_epoch: int | None
    leader: int
    """-1: none."""
    isr: tuple[int, ...]
    replicas: tuple[int, ...] | None
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    recovering: bool | None
    eligible: tuple[int, ...]
    """Eligible leader replicas (KIP-966)."""
    at: datetime | None
    source: str
    """'metadata', 'decided', 'replayed', 'sent', 'leader', 'received', 'cached', 'stored': who says so, best first: what a znode holds is right,
    but its time is often that of a file."""
    event: Event
    also: tuple[Event, ...] = ()
    """Other events that say the same."""

    @property
    def known_epoch(self) -> int | None:
        return self.leader_epoch if self.leader_epoch != UNKNOWN_EPOCH else None


@dataclass(frozen=True, slots=True)
class Term:
    """A leader's reign in one leader epoch, by one process. A leader restarted within its epoch begins a second term."""

    epoch: int
    restart: int
    leader: int
    state: State | None
    before: State | None
    """The partition's state this term replaced."""
    start_offset: int | None
    exact: bool
    high_watermark: int | None
    at: datetime | None
    evidence: tuple[Event, ...]

    @property
    def order(self) -> tuple[int, int]:
        return (self.epoch, self.restart)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A `kafka-topics --describe` line."""

    leader: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    at: datetime | None
    event: Event


@dataclass
class PartitionTimeline:
    topic: str
    partition: int
    generation: int
    """0 is the topic as it is now, -1 the one deleted before it, and so on."""
    topic_id: str | None = None
    states: list[State] = field(default_factory=list)
    terms: list[Term] = field(default_factory=list)
    replicas: dict[int, Replica] = field(default_factory=dict)
    disks: dict[int, Disk] = field(default_factory=dict)
    """What each broker's latest collection holds."""
    aside: dict[int, list[Disk]] = field(default_factory=dict)
    """Directories beside the replica's in the same collection: to be deleted, strays, future logs."""
    snapshots: list[Snapshot] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    """All events, each broker's in its own order, brokers merged by corrected time."""
    orders: Orders = field(default_factory=Orders)
    """What is told of the order of the replicas; `states` have theirs in it already."""
    _by_kind: dict[str, list[Event]] | None = None

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    def of(self, *kinds: str) -> list[Event]:
        """Events of these kinds, in order. The first call indexes the events, which do not change any more then."""
        if self._by_kind is None:
            self._by_kind = defaultdict(list)
            for e in self.events:
                self._by_kind[e.event].append(e)
        if len(kinds) == 1:
            return self._by_kind.get(kinds[0], [])
        found = [e for kind in kinds for e in self._by_kind.get(kind, [])]
        return sorted(found, key=_in_time) if len(kinds) > 1 else found

    @property
    def final(self) -> State | None:
        return self.states[-1] if self.states else None

    @property
    def assigned(self) -> tuple[int, ...]:
        """The replicas assigned last, preferred leader first, as far as anybody said; else those that were in an ISR."""
        done = _reassigned(self)
        if done and (not self.states or _not_after(self.states[-1].at, done[-1].at)):
            return tuple(done[-1].replicas or ())
        for state in reversed(self.states):
            if state.replicas:
                return state.replicas
        if self.snapshots:
            return self.snapshots[-1].replicas
        return tuple(sorted({b for s in self.states for b in s.isr}))

    def log_start(self, broker: int) -> int | None:
        """Where a replica's log began when it was last seen: by its files, else by its broker's lines. Kafka checkpoints it only where it
        is not the base of the first segment."""
        disk, replica = self.disks.get(broker), self.replicas.get(broker)
        if disk is not None and disk.log_start is not None and disk.log_start.offset is not None:
            return disk.log_start.offset
        if disk is not None and disk.segments:
            return disk.segments[0].offset
        seen = [o.offset for o in replica.observations if o.quantity == "log-start-offset"] if replica is not None else []
        return seen[-1] if seen else None

    @property
    def low_watermark(self) -> int | None:
        """The smallest log start offset over the assigned replicas; None where one of them is not known."""
        starts = [self.log_start(broker) for broker in self.assigned]
        known = [start for start in starts if start is not None]
        return min(known) if known and len(known) == len(starts) else None

    @property
    def has_epochs(self) -> bool:
        """Leader epochs (0.11, KIP-101) are in use: followers truncate where lineages part, not at their high watermark."""
        if any(d.epochs for d in self.disks.values()) or any(d.last_epoch is not None for d in self.disks.values()):
            return True
        return any(e.event in ("leader-start", "follower-start", "epoch-assigned", "epoch-file") for e in self.events)

    def created(self) -> bool:
        """The evidence reaches back to the partition's creation."""
        return bool(self.states) and self.states[0].leader_epoch == 0 and (self.states[0].partition_epoch or 0) == 0


# order


def _in_time(e: Event) -> tuple[datetime, str, int]:
    return (e.at or datetime.min, e.source, e.line or 0)


def fold(events: Sequence[Event], copies: Collection[str] = ()) -> list[Event]:
    """Drops what another copy of the same log repeats (`copies`: sources that may hold lines of others), and folds runs of one
    and the same fact of one file."""
    seen: dict[tuple[str | None, datetime | None], str] = {}
    kept: list[Event] = []
    last: dict[str, tuple[tuple[object, ...], Event]] = {}
    for e in events:
        copied = e.line is not None and e.text and e.source in copies and e.event not in DISK_EVENTS
        if copied and seen.setdefault((e.text, e.at), e.source) != e.source:
            continue
        key = (
            e.event,
            e.leader,
            e.leader_epoch,
            e.partition_epoch,
            e.offset,
            e.log_end_offset,
            e.high_watermark,
            e.broker,
            e.reason,
            str(e.isr),
        )
        previous = last.get(e.source)
        if previous is not None and previous[0] == key and e.event in _FOLDED:
            previous[1].repeats += 1
            previous[1].last_at = e.at
            continue
        last[e.source] = (key, e)
        kept.append(e)
    return kept


_FOLDED = frozenset(
    {"fetch-error", "isr-rejected", "append-refused", "append-error", "partition-state", "become-refused", "fetcher-removed"}
)


# copies that a move between log directories fills

_OF_A_LOG = frozenset(
    {
        *("log-load", "log-created", "log-deleted", "log-recovery", "log-corruption", "log-start-move", "producer-snapshot"),
        *("truncation", "truncation-noop", "truncation-below-hw", "segment-roll", "segment-delete", "hw-regression"),
    }
)


def without_future_logs(events: Sequence[Event]) -> list[Event]:
    """A broker's events of a partition, in its own order, less those of a future log: the copy that a move between its log directories
    (KIP-113, 1.1) fills prints the lines that the replica's own log prints, in another directory, until it takes its place.

    Before 2.8 nothing says that a log is created as a copy: it is one if the replica has a log elsewhere that is there afterwards.
    """
    kept: list[Event] = []
    own: str | None = None
    future: str | None = None
    for place, e in enumerate(events):
        if e.event == "log-moved":
            own, future = future or own, None
        elif e.line is not None and e.directory is not None and e.event in _OF_A_LOG:
            if e.reason == "future" or (e.event == "log-created" and own not in (None, e.directory) and _goes_on(events[place + 1 :], own)):
                future = e.directory
            elif e.directory == future and e.pattern == "log-loaded":
                future = None  # it took the replica's place where no line tells
            if e.directory == future:
                future = None if e.event == "log-deleted" else future
                continue
            own = None if e.event == "log-deleted" else e.directory
        kept.append(e)
    return kept


def _goes_on(later: Sequence[Event], own: str | None) -> bool:
    """The log the replica had when another was created is still there after it."""
    for e in later:
        if e.event == "log-moved":
            return True
        if e.line is not None and e.event in _OF_A_LOG and e.directory is not None:
            if e.directory == own:
                return True
            if e.event in ("log-created", "log-load"):
                return False
    return False


# generations of a topic


def generations(topic: str, events: Sequence[Event], cluster: Cluster) -> dict[int, list[Event]]:
    """Events by generation of the topic. One generation unless a deletion of the topic, or a second topic id, is in evidence:
    a replica's directory is also deleted when a reassignment takes the replica away."""
    order = _topic_ids(events)
    deletions = sorted({t for t in cluster.recreated.get(topic, []) if t is not None})
    if len(order) < 2 and topic not in cluster.recreated:
        return {0: list(events)}
    age = {topic_id: i - len(order) + 1 for i, topic_id in enumerate(order)}
    result: dict[int, list[Event]] = defaultdict(list)
    streams: dict[tuple[int | None, str | None], list[Event]] = defaultdict(list)
    for event in events:
        if event.topic_id in age:
            result[age[event.topic_id]].append(event)
        else:
            streams[(event.writer, None if event.line is not None else event.source)].append(event)
    for stream in streams.values():
        for event, generation in _by_marks(stream, deletions):
            result[generation].append(event)
    return dict(result)


def _topic_ids(events: Iterable[Event]) -> list[str]:
    """Topic ids in the order they came to be."""
    first: dict[str, tuple[int, datetime]] = {}
    for e in events:
        if e.topic_id and e.event != "describe-partition":
            known = first.get(e.topic_id)
            now = (e.metadata_offset if e.metadata_offset is not None else 1 << 60, e.at or datetime.max)
            first[e.topic_id] = min(known, now) if known else now
    return sorted(first, key=lambda i: (first[i], i))


def _by_marks(stream: Sequence[Event], deletions: Sequence[datetime]) -> list[tuple[Event, int]]:
    """Generations of a stream without topic ids: a new one begins after the log was deleted, or where the controller
    creates the partition again. A stream with no such mark is split by the time of the deletion."""
    ordered = file_order(stream)
    marks = 0
    numbered: list[tuple[Event, int]] = []
    deleted = False
    for event in ordered:
        again = event.event == "partition-transition" and (event.reason or "").startswith("NonExistentPartition->")
        if deleted and event.event not in ("log-deleted", "segment-delete", "fetcher-removed", "fetch-error"):
            marks, deleted = marks + 1, False
        elif again and numbered and not deleted:
            marks += 1
        numbered.append((event, marks))
        deleted = deleted or event.event == "log-deleted"
    if marks or not deletions:
        return [(e, n - marks) for e, n in numbered]
    return [(e, -sum(1 for d in deletions[-1:] if e.at is not None and e.at <= d)) for e in ordered]


# states


def _source_of(event: Event) -> str:
    if event.event.startswith("metadata-"):
        return "metadata"
    if event.event == "partition-state":
        return event.reason if event.reason in _AUTHORITY else "replayed"
    return "leader"


def _eligible(value: str | None) -> tuple[int, ...]:
    if not value or "elr=[" not in value:
        return ()
    inside = value.split("elr=[", 1)[1].split("]", 1)[0]
    return tuple(int(n) for n in inside.replace(",", " ").split() if n.lstrip("-").isdigit())


def replay(events: Iterable[Event]) -> list[State]:
    """States from the metadata log: PartitionRecords as they are, PartitionChangeRecords applied to what was before.

    A change raises the partition epoch by one, and the leader epoch by one exactly when it names a leader
    (org.apache.kafka.metadata.PartitionRegistration#merge).
    """
    by_offset: dict[tuple[int, str], Event] = {}
    for e in sorted(events, key=lambda e: (e.source, e.byte or 0)):
        by_offset.setdefault((e.metadata_offset if e.metadata_offset is not None else -1, e.event), e)
    states: list[State] = []
    for (_, kind), e in sorted(by_offset.items(), key=lambda item: (item[0][0], item[0][1] != "metadata-partition")):
        now = states[-1] if states else None
        if kind == "metadata-partition":
            new = _state(e, recovering=bool(e.recovering))
            if new is not None and (now is None or (new.leader_epoch, new.partition_epoch) != (now.leader_epoch, now.partition_epoch)):
                states.append(new)
        elif now is not None:
            states.append(_changed(now, e))
    return states


def _changed(now: State, e: Event) -> State:
    return State(
        leader_epoch=now.leader_epoch + (e.leader is not None),
        partition_epoch=None if now.partition_epoch is None else now.partition_epoch + 1,
        leader=now.leader if e.leader is None else e.leader,
        isr=now.isr if e.isr is None else tuple(e.isr),
        replicas=now.replicas if e.replicas is None else tuple(e.replicas),
        adding=now.adding if e.adding_replicas is None else tuple(e.adding_replicas),
        removing=now.removing if e.removing_replicas is None else tuple(e.removing_replicas),
        recovering=now.recovering if e.recovering is None else e.recovering,
        eligible=now.eligible if e.value is None else _eligible(e.value),
        at=e.at,
        source="metadata",
        event=e,
    )


def _state(e: Event, *, recovering: bool | None) -> State | None:
    if e.leader_epoch is None or e.leader is None or e.isr is None or e.leader_epoch < 0:
        return None
    return State(
        leader_epoch=e.leader_epoch,
        partition_epoch=e.partition_epoch,
        leader=e.leader,
        isr=tuple(e.isr),
        replicas=tuple(e.replicas) if e.replicas else None,
        adding=tuple(e.adding_replicas or ()),
        removing=tuple(e.removing_replicas or ()),
        recovering=recovering,
        eligible=_eligible(e.value),
        at=e.at,
        source=_source_of(e),
        event=e,
    )


def _leader_state(e: Event) -> State | None:
    """A leader's own start line, whose leader is the broker that prints it."""
    if e.writer is None or e.leader_epoch is None or e.isr is None:
        return None
    return State(
        leader_epoch=e.leader_epoch,
        partition_epoch=e.partition_epoch,
        leader=e.writer,
        isr=tuple(e.isr),
        replicas=None,
        adding=tuple(e.adding_replicas or ()),
        removing=tuple(e.removing_replicas or ()),
        recovering=None,
        eligible=(),
        at=e.at,
        source="leader",
        event=e,
    )


def _collect_states(events: Sequence[Event], replicas: dict[int, Replica]) -> list[State]:
    found = replay(e for e in events if e.event in ("metadata-partition", "metadata-partition-change"))
    for e in events:
        state = None
        if e.event == "partition-state":
            state = _state(e, recovering=e.recovering)
        elif e.event == "leader-start":
            state = _leader_state(e)
        if state is not None:
            found.append(state)
    found.extend(_differences(events, found))
    told = list(found)
    for replica in replicas.values():
        for update in replica.isr_updates:
            epoch = update.epoch if update.epoch is not None else _epoch_of(update, told)
            if epoch is not None:
                found.append(_updated(update, epoch))
    found.extend(s for e in events if e.event == "isr-written" if (s := _written(e, told)) is not None)
    return found


def _written(e: Event, told: Sequence[State]) -> State | None:
    """An ISR change as the controller says that wrote it: the leader is that of the state which stood then."""
    before = _standing_before(e.partition_epoch, e.at, told)
    if before is None or not e.isr or (e.broker is not None and e.broker != before.leader):
        return None
    return _changed_isr(before.leader_epoch, before.leader, tuple(e.isr), e, "written")


def _differences(events: Iterable[Event], found: Iterable[State]) -> list[State]:
    """States of which a KRaft controller's line tells only what is new: the rest is as it was one partition epoch before."""
    known = {s.partition_epoch: s for s in found}
    lines = [e for e in events if e.event == "partition-state" and e.reason == "replayed" and e.partition_epoch is not None]
    filled: list[State] = []
    for e in sorted(lines, key=lambda e: e.partition_epoch or 0):
        before = known.get((e.partition_epoch or 0) - 1)
        if before is None or None not in (e.leader_epoch, e.leader, e.isr):
            continue
        state = State(
            leader_epoch=e.leader_epoch if e.leader_epoch is not None else before.leader_epoch,
            partition_epoch=e.partition_epoch,
            leader=e.leader if e.leader is not None else before.leader,
            isr=tuple(e.isr) if e.isr is not None else before.isr,
            replicas=tuple(e.replicas) if e.replicas else None,
            adding=tuple(e.adding_replicas or ()),
            removing=tuple(e.removing_replicas or ()),
            recovering=e.recovering,
            eligible=(),
            at=e.at,
            source=_source_of(e),
            event=e,
        )
        known.setdefault(state.partition_epoch, state)
        filled.append(state)
    return filled


def _updated(update: IsrUpdate, epoch: int) -> State:
    took_effect = update.event.event == "isr-update" and update.event.partition_epoch is not None
    return _changed_isr(epoch, update.broker, update.isr, update.event, "changed" if took_effect else "leader")


def _changed_isr(epoch: int, leader: int, isr: tuple[int, ...], event: Event, source: str) -> State:
    return State(
        leader_epoch=epoch,
        partition_epoch=event.partition_epoch,
        leader=leader,
        isr=isr,
        replicas=None,
        adding=(),
        removing=(),
        recovering=None,
        eligible=(),
        at=event.at,
        source=source,
        event=event,
    )


def _epoch_of(update: IsrUpdate, told: Sequence[State]) -> int | None:
    """Leader epoch of an ISR change whose leader's own log begins after it became leader: that of the state that stood then, by
    partition epoch, else by clock. None if another broker led then."""
    last = _standing_before(update.event.partition_epoch, update.event.at, told)
    if last is None:
        return UNKNOWN_EPOCH
    return last.leader_epoch if last.leader == update.broker else None


def _standing_before(version: int | None, at: datetime | None, told: Sequence[State]) -> State | None:
    """The state that stood before a change, by partition epoch, else by clock."""
    before = [
        s for s in told if (s.partition_epoch < version if s.partition_epoch is not None and version is not None else _not_after(s.at, at))
    ]
    return max(before, key=lambda s: (s.leader_epoch, s.partition_epoch or 0), default=None)


def _not_after(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and other is not None and one <= other


def chain(found: Sequence[State]) -> list[State]:
    """States in the order of their cause, one for each change, told by the best witness.

    Leader epoch first; within it the partition epoch where it is known. A witness that does not know the partition epoch
    (before 2.6 the controller's tuples carry none) tells the same state as one that does if leader and ISR agree.
    """
    by_epoch: dict[int, list[State]] = defaultdict(list)
    for state in found:
        by_epoch[state.leader_epoch].append(state)
    ordered: list[State] = []
    for epoch in sorted(by_epoch):
        ordered.extend(_within(by_epoch[epoch]))
    return _carry(_in_effect(ordered))


def _in_effect(states: Sequence[State]) -> list[State]:
    """Without the intents of a leader that never took effect: what a leader cut off from ZooKeeper printed when it tried to change
    the ISR. Each write raises the partition epoch by one, so two states whose epochs follow each other have none in between;
    and a controller elects from the ISR it read, keeping its live members, or else a new leader alone."""
    earlier: list[int | None] = []
    last: int | None = None
    for s in states:
        earlier.append(last)
        last = s.partition_epoch if s.partition_epoch is not None else last
    kept: list[State] = []
    for s, before in zip(reversed(states), reversed(earlier), strict=True):
        if s.partition_epoch is None and s.source == "leader" and s.event.event in _INTENTS and kept:
            after = kept[-1]
            no_room = before is not None and after.partition_epoch == before + 1
            other_isr = after.leader_epoch > s.leader_epoch and len(after.isr) > 1 and not set(after.isr) <= set(s.isr)
            if no_room or other_isr:
                continue
        kept.append(s)
    return kept[::-1]


_INTENTS = ("isr-shrink", "isr-expand")


def _within(states: Sequence[State]) -> list[State]:
    """The states of one leader epoch. Before 2.4 the leader's intents carry no partition epoch, but they are all the ISR changes
    there are: a ZooKeeper controller's own changes begin another leader epoch. So they are the spine then, and what others
    cached or were sent is hung on it."""
    numbered: dict[int, list[State]] = defaultdict(list)
    bare: list[State] = []
    spine: list[State] = []
    for s in states:
        if s.partition_epoch is not None and s.partition_epoch >= 0:
            numbered[s.partition_epoch].append(s)
        elif s.event.event in _INTENTS:
            spine.append(s)
        else:
            bare.append(s)
    result = [_best(numbered[n]) for n in sorted(numbered)]
    if spine:
        result = _on_spine(result, sorted(spine, key=lambda s: s.at or datetime.max))
    for s in sorted(bare, key=lambda s: (s.at or datetime.max, _AUTHORITY[s.source])):
        twin = next((i for i, r in enumerate(result) if r.leader == s.leader and set(r.isr) == set(s.isr) and not _apart(r, s)), None)
        repeated = _repeated(s, result) if twin is None and spine else None
        if twin is not None:
            result[twin] = _confirmed(result[twin], s)
        elif repeated is not None:
            result[repeated] = replace(result[repeated], also=(*result[repeated].also, s.event)[:8])
        else:
            place = next((i for i, r in enumerate(result) if r.at is not None and s.at is not None and r.at > s.at), len(result))
            result.insert(place, s)
    return result


def _confirmed(own: State, other: State) -> State:
    """Two tellings of one state. A leader's change of its ISR is dated and shown by the leader's own line: a controller may read it
    from ZooKeeper much later, when it takes over."""
    merged = _merged(own, other)
    if own.event.event not in _INTENTS or not _not_after(own.at, other.at):
        return merged
    others = [e for e in (merged.event, *merged.also) if e is not own.event]
    return replace(merged, at=own.at, event=own.event, also=tuple(others[:8]))


def _repeated(state: State, told: Sequence[State]) -> int | None:
    """The earlier state that a controller repeats from its cache: what the leader changed since it may not know (0.8.2 never does),
    and the leader would have said that it changed back."""
    return next(
        (i for i, t in enumerate(told) if t.leader == state.leader and set(t.isr) == set(state.isr) and _not_after(t.at, state.at)), None
    )


def _on_spine(others: Sequence[State], spine: Sequence[State]) -> list[State]:
    """The leader's own changes after the state the epoch began with, in its order; each later state of others joins the first
    of them that tells the same, and one that none tells is put where its time is."""
    result = [*others[:1], *spine]
    reached = 0
    for other in others[1:]:
        same = next(
            (i for i in range(reached, len(result)) if (result[i].leader, set(result[i].isr)) == (other.leader, set(other.isr))), None
        )
        if same is not None:
            reached = same
            result[same] = replace(_confirmed(result[same], other), at=result[same].at)
        elif other.source != "cached":
            place = next(
                (i for i, r in enumerate(result) if i > reached and r.at is not None and other.at is not None and r.at > other.at),
                len(result),
            )
            result.insert(place, other)
            reached = place
    return result


def _apart(one: State, other: State) -> bool:
    """One broker, by one clock, said the same at two times: it may have been otherwise in between."""
    if one.event.writer is None or one.event.writer != other.event.writer or one.at is None or other.at is None:
        return False
    return abs(one.at - other.at) > SAME_CHANGE


def _best(states: Sequence[State]) -> State:
    best, *others = sorted(states, key=lambda s: (_AUTHORITY[s.source], s.at or datetime.max, s.event.source, s.event.line or 0))
    for other in others:
        best = _merged(best, other)
    return best


def _merged(one: State, other: State) -> State:
    better, worse = (one, other) if _AUTHORITY[one.source] <= _AUTHORITY[other.source] else (other, one)
    return replace(
        better,
        partition_epoch=better.partition_epoch if better.partition_epoch is not None else worse.partition_epoch,
        replicas=better.replicas or worse.replicas,
        adding=better.adding or worse.adding,
        removing=better.removing or worse.removing,
        recovering=better.recovering if better.recovering is not None else worse.recovering,
        also=(*better.also, worse.event, *worse.also)[:8],
    )


def _carry(states: Sequence[State]) -> list[State]:
    """Fills in the assignment from the state before (at the beginning: from the first known one, less what it adds), and drops
    states that change nothing."""
    result: list[State] = []
    first = next((s for s in states if s.replicas), None)
    begin = tuple(b for b in first.replicas or () if b not in first.adding) + first.removing if first is not None else None
    for s in states:
        if not result and s.replicas is None and begin:
            s = replace(s, replicas=tuple(dict.fromkeys(begin)))
        before = result[-1] if result else None
        if before is not None and s.replicas is None:
            s = replace(s, replicas=before.replicas)
        same = before is not None and (before.leader_epoch, before.leader, set(before.isr)) == (s.leader_epoch, s.leader, set(s.isr))
        if (
            same
            and before is not None
            and (s.replicas or ()) == (before.replicas or ())
            and s.partition_epoch in (None, before.partition_epoch)
        ):
            result[-1] = replace(before, also=(*before.also, s.event)[:8])
            continue
        result.append(s)
    return result


def assigned_from(states: Sequence[State], timeline: PartitionTimeline) -> list[State]:
    """States whose assignment no state tells get it from the controller's creation line, else from --describe: a ZooKeeper
    cluster at default log level (2.6 and later) says it nowhere else."""
    if all(s.replicas for s in states):
        return _as_created(states, timeline)
    told = [e.replicas for e in timeline.of("partition-transition", "topic-created") if e.replicas]
    stored = (e.replicas for e in timeline.of("assignment") if e.reason in ("stored", "current") and e.replicas)
    known = told[0] if told else next((list(s.replicas) for s in timeline.snapshots if s.replicas), None) or next(stored, None)
    return [s if s.replicas or not known else replace(s, replicas=tuple(known)) for s in states]


def _as_created(states: Sequence[State], timeline: PartitionTimeline) -> list[State]:
    """A reassignment names its target first, so that what stood before it (the rest, as a set) gets its order from the creation line or
    from the first --describe."""
    told = [tuple(e.replicas) for e in timeline.of("partition-transition", "topic-created") if e.replicas]
    told += [s.replicas for s in timeline.snapshots if s.replicas]
    named = next((i for i, s in enumerate(states) if any(e.replicas for e in (s.event, *s.also))), 0)
    known = next((t for t in told if named and set(t) == set(states[0].replicas or ())), None)
    return [replace(s, replicas=known) if known is not None and i < named else s for i, s in enumerate(states)]


def _reassigned(timeline: PartitionTimeline) -> list[Event]:
    """Assignments that a ZooKeeper controller wrote in the course of a reassignment, in time; before 2.4 it wrote old and new replicas
    first, then those that stay."""
    return [
        e for e in timeline.of("reassignment") if (e.reason == "completed" or e.value == "assigned") and e.replicas and e.at is not None
    ]


def after_reassignments(states: Sequence[State], timeline: PartitionTimeline) -> list[State]:
    """A ZooKeeper controller takes away the old replicas without another state: later ones that name no replicas have those that stay."""
    done = _reassigned(timeline)
    left = [
        next((e for e in reversed(done) if _not_after(e.at, s.at)), None) if s.replicas and not s.event.replicas else None for s in states
    ]
    return [
        replace(s, replicas=tuple(e.replicas or ()), adding=(), removing=())
        if e is not None and set(e.replicas or ()) < set(s.replicas or ())
        else s
        for s, e in zip(states, left, strict=True)
    ]


# terms


def _starts(replicas: dict[int, Replica]) -> dict[tuple[int, int], list[LeaderStart]]:
    """Leader starts by (epoch, leader), in the leader's own order; the first of them, and restarts within the epoch."""
    found: dict[tuple[int, int], list[LeaderStart]] = defaultdict(list)
    for replica in replicas.values():
        for start in replica.leader_starts:
            own = found[(start.epoch, start.broker)]
            if not own or start.restart:
                own.append(start)
    return found


def _epoch_start(epoch: int, disks: Iterable[Disk]) -> tuple[int | None, Event | None]:
    """Start offset of a leader epoch by epoch files, else by the first batch of that epoch in a segment."""
    for d in disks:
        for (known, offset), event in zip(d.epochs, d.epoch_events, strict=False):
            if known == epoch:
                return offset, event
    for d in disks:
        for segment in d.segments:
            for batch in segment.batches or ():
                if batch["leader_epoch"] == epoch:
                    return batch["base_offset"], segment
    return None, None


def _terms(states: Sequence[State], replicas: dict[int, Replica], disks: Sequence[Disk]) -> list[Term]:
    starts = _starts(replicas)
    terms: list[Term] = []
    known: set[tuple[int, int]] = set()
    for index, state in enumerate(states):
        key = (state.leader_epoch, state.leader)
        if state.leader < 0 or state.leader_epoch == UNKNOWN_EPOCH or key in known:
            continue
        known.add(key)
        terms.extend(_reign(key, state, states[index - 1] if index else None, starts.get(key, []), disks, states))
    for key, own in starts.items():
        if key not in known:
            terms.extend(_reign(key, None, None, own, disks, states))
    terms.sort(key=lambda t: (t.epoch, t.restart, t.leader))
    return terms


def _reign(
    key: tuple[int, int],
    state: State | None,
    before: State | None,
    own: Sequence[LeaderStart],
    disks: Sequence[Disk],
    states: Sequence[State],
) -> list[Term]:
    """The terms of one leader in one epoch: the first, and one more for each restart of its process."""
    epoch, leader = key
    first = own[0] if own else None
    offset, exact = (first.offset, first.exact) if first else (None, False)
    evidence = [e for e in (state.event if state else None, first.event if first else None) if e is not None]
    if not exact:
        filed, event = _epoch_start(epoch, disks)
        if filed is not None and event is not None:
            offset, exact = filed, True
            evidence.append(event)
    at = state.at if state is not None and state.at is not None else first.at if first else None
    high_watermark = first.high_watermark if first else None
    reign = [Term(epoch, 0, leader, state, before, offset, exact, high_watermark, at, tuple(dict.fromkeys(evidence)))]
    for number, start in enumerate(own[1:], 1):
        standing = _standing(start, [s for s in states if (s.leader_epoch, s.leader) == key])
        reign.append(
            Term(epoch, number, leader, standing, standing, start.offset, start.exact, start.high_watermark, start.at, (start.event,))
        )
    return reign


def _standing(start: LeaderStart, states: Sequence[State]) -> State | None:
    """The state within the epoch in which a restarted leader found the partition."""
    version = start.event.partition_epoch
    if version is not None:
        states = [s for s in states if s.partition_epoch is None or s.partition_epoch <= version] or states
    elif start.at is not None:
        states = [s for s in states if s.at is None or s.at <= start.at] or states
    return states[-1] if states else None


# assembly


def build(topic: str, partition: int, events: Sequence[Event], cluster: Cluster) -> list[PartitionTimeline]:
    """Timelines of a topic-partition, one per generation of the topic, oldest first."""
    split = generations(topic, events, cluster)
    return [_assemble(topic, partition, g, split[g], cluster) for g in sorted(split)]


def _assemble(topic: str, partition: int, generation: int, events: Sequence[Event], cluster: Cluster) -> PartitionTimeline:
    timeline = PartitionTimeline(topic, partition, generation)
    streams: dict[int | None, list[Event]] = defaultdict(list)
    directories: dict[int, list[Event]] = defaultdict(list)
    aside: dict[int, list[Event]] = defaultdict(list)
    for e in events:
        timeline.topic_id = timeline.topic_id or (e.topic_id if e.event != "describe-partition" else None)
        latest = e.writer is not None and e.collection == _latest(cluster, e.writer)
        if e.event in DISK_EVENTS and e.reason is not None:
            if e.reason in ASIDE and latest and e.writer is not None:
                aside[e.writer].append(e)
            continue  # of a directory that is no replica any more or not yet, or of a file never finished
        if e.event in DISK_EVENTS and e.writer is not None and (latest or e.at is None):
            if latest:  # what an earlier collection saved at a time unknown has no place in the order
                directories[e.writer].append(e)
        elif e.event == "describe-partition":
            timeline.snapshots.append(
                Snapshot(e.leader if e.leader is not None else -1, tuple(e.isr or ()), tuple(e.replicas or ()), e.at, e)
            )
        else:
            streams[e.writer].append(e)
    for writer, own in sorted(streams.items(), key=lambda item: (item[0] is not None, item[0] or 0)):
        ordered = fold(without_future_logs(file_order(own)), cluster.copies)
        timeline.events.extend(ordered)
        if writer is not None and any(e.event not in _CONTROLLER_ONLY for e in ordered):
            timeline.replicas[writer] = history(writer, ordered)
    timeline.disks = {w: disk(w, _latest(cluster, w) or "", own) for w, own in sorted(directories.items())}
    timeline.aside = {w: _aside(w, _latest(cluster, w) or "", own) for w, own in sorted(aside.items())}
    timeline.snapshots.sort(key=lambda s: (s.at or datetime.min, s.event.source))
    timeline.events.sort(key=_in_time)
    timeline.orders = Orders(timeline.events, timeline.snapshots)
    found = _collect_states(timeline.events, timeline.replicas)
    states = assigned_from(chain([replace(s, replicas=timeline.orders.arranged(s.replicas)) for s in found]), timeline)
    timeline.states = after_reassignments(states, timeline)
    timeline.terms = _terms(timeline.states, timeline.replicas, list(timeline.disks.values()))
    return timeline


def _aside(broker: int, collection: str, events: Iterable[Event]) -> list[Disk]:
    """One for each directory."""
    found: dict[str, list[Event]] = defaultdict(list)
    for e in events:
        found[e.source.rpartition("/")[0]].append(e)
    return [replace(disk(broker, collection, own), state=own[0].reason) for _, own in sorted(found.items())]


_CONTROLLER_ONLY = frozenset(
    {
        "metadata-partition",
        "metadata-partition-change",
        "partition-transition",
        "election-failed",
        "election-requested",
        "preferred-election",
        "reassignment",
        "topic-deletion",
        "assignment",
        "election-plan",
        "election-told",
        "client-reset",
        "group-coordinated",
        "isr-change-notified",
        "isr-written",
        "offset-told",
        "reassignment-told",
        "replica-size",
    }
)


def _latest(cluster: Cluster, node: int) -> str | None:
    known = cluster.nodes.get(node)
    return known.collections[-1] if known is not None and known.collections else None
