"""A partition's state as each source reports it: its leader, ISR and replicas at one leader epoch and partition epoch.

Here: a State, how each kind of source reports one (metadata records, controllers, leaders, brokers that received requests), and whether the
evidence between two states is complete: the transition between them, as one of two types. A claim across a Gap is never certain: a claim
must hold one of the two types (forensics.proof.elections.Election). Not here: merging all reports into one sequence (chain).

A controller raises the leader epoch by one with each leader or ISR it writes, and every write, also the leader's, raises the partition
epoch by one (ZooKeeper's version of the znode; PartitionRegistration#merge in KRaft). Where no partition epoch is printed, as before
2.4, a leader's own ISR changes raise no printed epoch: only its log shows them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import Any, Literal

from forensics.model.events import Event
from forensics.model.message import Message, Value, said
from forensics.model.partition.replicas import IsrUpdate, Replica
from parsers.frozen import dataclass, replace
from parsers.kinds import RECORDS, By, Role, of
from parsers.schemas import INT32

LEADER_RECOVERY_LEVEL = 3
"""metadata.version 3.2-IV0, from which on an unclean election is marked RECOVERING (KIP-704)."""

UNKNOWN_EPOCH = -1
"""Sorts before every known epoch: logs often begin long after the last election."""

OF_THE_ISR = frozenset({"changed", "leader", "written", "intended"})
"""Sources that report a leader's ISR change without the assignment."""

LAST_EPOCH = INT32[-1]
"""No change can follow it: Kafka's epochs have 32 bits."""

AUTHORITY = {
    source: rank
    for rank, source in enumerate(
        ("metadata", "changed", "decided", "replayed", "sent", "leader", "written", "received", "cached", "stored", "intended"),
    )
}
"""Rank of the sources of a state, best first. 'changed': a leader's ISR change that took effect; the controller may report the state
much later. 'intended': a leader's ISR change without the line that would show that it took effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Leader, ISR and assignment of a partition between two changes."""

    leader_epoch: int
    """UNKNOWN_EPOCH: an epoch that began before the evidence."""
    partition_epoch: int | None
    leader: int
    """-1: none."""
    isr: tuple[int, ...]
    replicas: tuple[int, ...] | None = None
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    recovering: bool | None = None
    eligible: tuple[int, ...] = ()
    """Eligible leader replicas (KIP-966)."""
    at: datetime | None
    source: str
    """A source in AUTHORITY. The contents of a znode ('stored') are correct, but their time is often that of a file."""
    event: Event
    also: tuple[Event, ...] = ()
    """Other events that report the same state."""
    doubt: Event | None = None
    """A leader's intended change that may not have taken effect: either this state, so that the ISR before it may still have been in
    effect, or a change right after this state."""
    epoch_guessed: bool = False
    """`leader_epoch` is the latest known before, under the same leader. No line shows it."""
    missing_changes: int = 0
    """Number of changes that no line shows, between the nearest states with partition epochs: the last one before this state, and this
    state or the next one."""

    def follows(self, before: State | None) -> bool:
        """Whether no state between the two is missing from the evidence."""
        epochs = (before.partition_epoch if before is not None else None), self.partition_epoch
        return epochs[0] is not None and epochs[1] == epochs[0] + 1

    @property
    def known_epoch(self) -> int | None:
        return self.leader_epoch if self.leader_epoch != UNKNOWN_EPOCH else None


def _source_of(event: Event) -> str:
    if event.event in RECORDS:
        return "metadata"
    if event.event == "partition-state":
        return event.reason if event.reason in AUTHORITY else "replayed"
    return "leader"


def replay(events: Iterable[Event]) -> list[State]:
    """States from the metadata log: PartitionRecords as they are, PartitionChangeRecords applied to the previous state.

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
        elif now is not None and LAST_EPOCH not in (now.leader_epoch, now.partition_epoch):
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
        eligible=now.eligible if e.eligible is None else tuple(e.eligible),
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
        eligible=tuple(e.eligible or ()),
        at=e.at,
        source=_source_of(e),
        event=e,
    )


def _leader_state(e: Event) -> State | None:
    """The state in a leader's own start line; the leader is the broker that prints it."""
    if e.writer is None or e.leader_epoch is None or e.isr is None:
        return None
    return State(
        leader_epoch=e.leader_epoch,
        partition_epoch=e.partition_epoch,
        leader=e.writer,
        isr=tuple(e.isr),
        adding=tuple(e.adding_replicas or ()),
        removing=tuple(e.removing_replicas or ()),
        at=e.at,
        source="leader",
        event=e,
    )


_RECORDED = of(role=Role.STATE, by=By.RECORD)


def collect_states(events: Sequence[Event], replicas: dict[int, Replica]) -> list[State]:
    found = replay(e for e in events if e.event in _RECORDED)
    for e in events:
        state = None
        if e.event == "partition-state":
            state = _state(e, recovering=e.recovering)
        elif e.event == "leader-start":
            state = _leader_state(e)
        if state is not None:
            found.append(state)
    found.extend(_differences(events, found))
    found.extend(_before_raises(events, found))
    standing = _StatesBefore(found)
    for replica in replicas.values():
        for update in replica.isr_updates:
            if update.epoch is not None:
                found.append(_updated(update, update.epoch))
            elif (epoch := _epoch_of(update, standing)) is not None:
                guessed = epoch != UNKNOWN_EPOCH and not standing.proves(epoch, update.event.partition_epoch)
                found.append(replace(_updated(update, epoch), epoch_guessed=guessed))
    found.extend(s for e in events if e.event == "isr-written" if (s := _written(e, standing)) is not None)
    return found


def _written(e: Event, standing: _StatesBefore) -> State | None:
    """An ISR change that the controller reports as written: the leader is that of the state at the time."""
    before = standing.before(e.partition_epoch, e.at)
    if before is None or not e.isr or (e.broker is not None and e.broker != before.leader):
        return None
    state = _changed_isr(before.leader_epoch, before.leader, tuple(e.isr), e, "written")
    return replace(state, epoch_guessed=not standing.proves(before.leader_epoch, e.partition_epoch))


def _differences(events: Iterable[Event], found: Iterable[State]) -> list[State]:
    """States from a KRaft controller's lines that show only changed fields: the other fields come from the previous partition epoch."""
    known = {s.partition_epoch: s for s in found}
    lines = [
        (e.partition_epoch, e) for e in events if e.event == "partition-state" and e.reason == "replayed" and e.partition_epoch is not None
    ]
    filled: list[State] = []
    for partition_epoch, e in sorted(lines, key=itemgetter(0)):
        before = known.get(partition_epoch - 1)
        if before is not None and None in (e.leader_epoch, e.leader, e.isr):
            state = _changed_fields(before, e)
            known.setdefault(partition_epoch, state)
            filled.append(state)
    return filled


def _before_raises(events: Iterable[Event], found: Iterable[State]) -> list[State]:
    """States from a ZooKeeper controller's lines that it raised the leader epoch for a reassignment: the write leaves leader and ISR as
    they are (KafkaController#updateLeaderEpoch), so they show the state right before it, where the leader's own change was overtaken."""
    raised = {(e.leader_epoch, e.partition_epoch): e for e in events if is_raise(e)}
    after = ((s, e) for s in found if (e := raised.get((s.leader_epoch, s.partition_epoch))) is not None)
    return [
        replace(_changed_isr(s.leader_epoch - 1, s.leader, s.isr, e, "written"), partition_epoch=s.partition_epoch - 1)
        for s, e in after
        if s.leader_epoch and s.partition_epoch
    ]


def is_raise(e: Event) -> bool:
    """A controller raised the leader epoch without an election."""
    return e.event == "partition-state" and e.value == "leader-epoch"


def _changed_fields(before: State, e: Event) -> State:
    return State(
        leader_epoch=e.leader_epoch if e.leader_epoch is not None else before.leader_epoch,
        partition_epoch=e.partition_epoch,
        leader=e.leader if e.leader is not None else before.leader,
        isr=tuple(e.isr) if e.isr is not None else before.isr,
        replicas=tuple(e.replicas) if e.replicas else None,
        adding=tuple(e.adding_replicas or ()),
        removing=tuple(e.removing_replicas or ()),
        recovering=e.recovering,
        at=e.at,
        source=_source_of(e),
        event=e,
    )


def _updated(update: IsrUpdate, epoch: int) -> State:
    took_effect = update.event.event == "isr-update" and update.event.partition_epoch is not None
    source = "intended" if update.confirmed is False else "changed" if took_effect else "leader"
    state = _changed_isr(epoch, update.broker, update.isr, update.event, source)
    return state if update.confirmed else replace(state, doubt=update.event)


def _changed_isr(epoch: int, leader: int, isr: tuple[int, ...], event: Event, source: str) -> State:
    return State(
        leader_epoch=epoch,
        partition_epoch=event.partition_epoch,
        leader=leader,
        isr=isr,
        at=event.at,
        source=source,
        event=event,
    )


def _epoch_of(update: IsrUpdate, standing: _StatesBefore) -> int | None:
    """Leader epoch of an ISR change if the leader's own log begins after it became leader: that of the state at the time, by partition
    epoch, else by clock. None if another broker led at the time."""
    last = standing.before(update.event.partition_epoch, update.event.at)
    if last is None:
        return UNKNOWN_EPOCH
    return last.leader_epoch if last.leader == update.broker else None


class _StatesBefore:
    """The state before a change: the one with the highest epochs among those before it by partition epoch, else by clock."""

    def __init__(self, states: Sequence[State]) -> None:
        dated = [s for s in states if s.at is not None]
        numbered = [(s.partition_epoch, s) for s in states if s.partition_epoch is not None]
        self._by_version = _Best(numbered, _later)
        self._from_version = _Best(((-version, s) for version, s in numbered), _earlier)
        self._by_clock = _Best(((s.at, s) for s in dated), _later)
        self._without_version = _Best(((s.at, s) for s in dated if s.partition_epoch is None), _later)

    def proves(self, epoch: int, version: int | None) -> bool:
        """Whether a change with this partition epoch is proven to be of this leader epoch: the state right before it is of that epoch,
        or both an earlier and a later state are."""
        if version is None:
            return False
        before, after = self._by_version.up_to(version - 1), self._from_version.up_to(-version)
        if before is None or before.leader_epoch != epoch:
            return False
        return before.partition_epoch == version - 1 or (after is not None and after.leader_epoch == epoch)

    def before(self, version: int | None, at: datetime | None) -> State | None:
        if version is None:
            return self._by_clock.up_to(at)
        found = (self._by_version.up_to(version - 1), self._without_version.up_to(at))
        return max((s for s in found if s is not None), key=_epochs, default=None)


class _Best:
    """The best state among those with a key up to a given one, by bisection: a partition may have a million states."""

    def __init__(self, keyed: Iterable[tuple[Any, State]], better: Callable[[State, State], State]) -> None:
        ordered = sorted(keyed, key=lambda k: k[0])
        self._keys = [key for key, _ in ordered]
        self._states: list[State] = list(accumulate((s for _, s in ordered), better))

    def up_to(self, key: Any) -> State | None:
        count = bisect_right(self._keys, key) if key is not None else 0
        return self._states[count - 1] if count else None


def _later(one: State, other: State) -> State:
    return other if _epochs(other) > _epochs(one) else one


def _earlier(one: State, other: State) -> State:
    return other if _epochs(other) < _epochs(one) else one


def _epochs(s: State) -> tuple[int, int]:
    return s.leader_epoch, s.partition_epoch or 0


Unsure = Literal["probable", "possible"]
"""How sure a claim without a proof is. A certain claim holds its proof in place of this value."""


@dataclass(frozen=True, slots=True)
class Contiguous:
    """No change in between: the epochs are consecutive, and every broker that could have changed the ISR would have logged it."""

    before: State
    after: State


@dataclass(frozen=True, slots=True)
class Gap:
    """The evidence that is missing between two states."""

    before: State
    after: State
    epochs: range
    """Leader epochs without evidence."""
    changes: int | None
    """Changes of the partition's state within known leader epochs that no line shows; 0 if epochs are missing, None if the number is
    unknown. Negative if the later state has no higher partition epoch than the earlier one: the two belong to different topics with the
    same name."""
    intended: Event | None = None
    """A change that the leader intended, without evidence that it took effect."""
    changed_from: tuple[int, ...] | None = None
    """The ISR that must have been before the later state, if it differs from that of the earlier one: its line names it, or it is an
    election with members that were not in sync before."""
    at_most: bool = False
    """The number is an upper limit: the changes were counted over more states than these two."""

    @property
    def said(self) -> Message:
        if self.epochs:
            return said("gap/epochs", **bounds(self.epochs))
        if self.intended is not None:
            return said("gap/intended", isr=tuple(self.intended.isr or ()), broker=self.before.leader)
        if self.changed_from is not None:
            return said("gap/changed", isr=self.changed_from)
        if self.changes is None:
            return said("gap/no-log", broker=self.before.leader)
        if self.changes < 0:
            return said("gap/contradiction", before=self.before.partition_epoch, after=self.after.partition_epoch)
        return said("gap/changes", number=self.changes, at_most=self.at_most)


def between(before: State, after: State, *, isr_observable: bool) -> Contiguous | Gap:
    """The transition between two states. `isr_observable`: the leader of the earlier state would have logged its ISR changes."""
    if before.known_epoch is not None and after.leader_epoch > before.leader_epoch + 1:
        return Gap(before, after, range(before.leader_epoch + 1, after.leader_epoch), 0)
    if before.partition_epoch is not None and after.partition_epoch is not None:
        lacking = after.partition_epoch - before.partition_epoch - 1
        return Gap(before, after, range(0), lacking) if lacking else Contiguous(before, after)
    if after.missing_changes:
        return Gap(before, after, range(0), after.missing_changes, at_most=True)
    if before.doubt is not None:
        return Gap(before, after, range(0), None, before.doubt)
    if before.epoch_guessed or after.epoch_guessed:
        return Gap(before, after, range(0), None)
    if after.event.previous_isr is not None and {*after.event.previous_isr} != {*before.isr}:
        return Gap(before, after, range(0), None, changed_from=tuple(after.event.previous_isr))
    if after.leader_epoch > before.leader_epoch and before.isr and len(after.isr) > 1 and not {*after.isr} <= {*before.isr}:
        return Gap(before, after, range(0), None, changed_from=after.isr)  # no election adds to an ISR
    return Contiguous(before, after) if isr_observable or before.leader < 0 else Gap(before, after, range(0), None)


def bounds(epochs: range) -> dict[str, Value]:
    """Values of consecutive epochs: the first, the last if there are several, and their number."""
    return {"first": epochs[0], "last": epochs[-1] if len(epochs) > 1 else None, "number": len(epochs)}


def epochs_without_state(states: Sequence[State], heard: Iterable[int]) -> list[range]:
    """Leader epochs without a state in the evidence, from the first to the last that a state or a line names (`heard`). Up to 2.5 the
    line with which a leader starts names its epoch and no ISR. One damaged number can leave out two billion of them."""
    known = {s.leader_epoch for s in states if s.known_epoch is not None and not s.epoch_guessed}
    named = known | {epoch for epoch in heard if epoch >= 0}
    edges = sorted({*known, min(named) - 1, max(named) + 1}) if named else []
    return [range(one + 1, other) for one, other in pairwise(edges) if other > one + 1]
