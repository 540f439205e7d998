"""What witnesses say of a partition's state: its leader, ISR and replicas at one leader epoch and partition epoch.

Here: a State, and how each kind of witness tells one: metadata records, controllers, leaders, brokers that were told. Not here: how the
tellings of all become one sequence (chain).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from spark.events import Event
from spark.replicas import IsrUpdate, Replica

LEADER_RECOVERY_LEVEL = 3
"""metadata.version 3.2-IV0, from which on an unclean election is marked RECOVERING (KIP-704)."""

UNKNOWN_EPOCH = -1
"""Stands before every known one: logs often begin long after the last election."""

AUTHORITY = {
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
    """Who says so, of AUTHORITY: what a znode holds ('stored') is right, but its time is often that of a file."""
    event: Event
    also: tuple[Event, ...] = ()
    """Other events that say the same."""

    @property
    def known_epoch(self) -> int | None:
        return self.leader_epoch if self.leader_epoch != UNKNOWN_EPOCH else None


def _source_of(event: Event) -> str:
    if event.event.startswith("metadata-"):
        return "metadata"
    if event.event == "partition-state":
        return event.reason if event.reason in AUTHORITY else "replayed"
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


def collect_states(events: Sequence[Event], replicas: dict[int, Replica]) -> list[State]:
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
        s for s in told if (s.partition_epoch < version if s.partition_epoch is not None and version is not None else not_after(s.at, at))
    ]
    return max(before, key=lambda s: (s.leader_epoch, s.partition_epoch or 0), default=None)


def not_after(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and other is not None and one <= other
