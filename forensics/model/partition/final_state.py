"""The final state of a partition at the end of the evidence: leader, ISR and assignment, with source and time.

Here: which of the last reports counts: the last state, or a later kafka-topics --describe; and the assigned replicas in order (the first
is the preferred leader), if a controller sent them as a set or a state has none. Not here: which brokers are up
(forensics.model.cluster.final_state), the earlier states (states, timeline), or reassignment files (parsers).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from forensics.model.events import Event
from forensics.model.partition.states import UNKNOWN_EPOCH, State
from forensics.model.times import not_after, runs, undated_first
from forensics.thresholds import ISR_PROPAGATION, TOOL_RUN
from parsers.frozen import dataclass, replace


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A `kafka-topics --describe` line."""

    leader: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    at: datetime | None
    event: Event


@dataclass(frozen=True, slots=True)
class FinalState:
    leader: int | None = None
    """-1: none; None: unknown."""
    isr: tuple[int, ...] = ()
    replicas: tuple[int, ...] = ()
    """Last assignment; empty if unknown."""
    preferred: int | None = None
    """The first of `replicas`, if their order is known."""
    removing: tuple[int, ...] = ()
    moving: bool = False
    """Whether a reassignment is in progress."""
    leader_epoch: int | None = None
    at: datetime | None = None
    event: Event | None = None
    """Evidence of leader and ISR."""


def seen_after(final: State | None, snapshots: Sequence[Snapshot]) -> list[Snapshot]:
    """--describe lines after the last state, in order of time. Contradicting lines with one time are dropped: they are copies whose
    modification times do not show which is the latest."""
    of_one_run = runs(snapshots, lambda run, s: undated_first(s) - undated_first(run[-1]) < TOOL_RUN)
    agreed = (run for run in of_one_run if len({(s.leader, frozenset(s.isr), s.replicas) for s in run}) == 1)
    return [s for run in agreed for s in run if final is None or _newer(s, final)]


def _newer(seen: Snapshot, final: State) -> bool:
    if seen.at is None or final.at is None or seen.at <= final.at:
        return False
    return seen.leader != final.leader or seen.at - final.at > ISR_PROPAGATION


def repeated(seen: Snapshot, states: Sequence[State]) -> State | None:
    """The earlier state under another leader that a --describe line shows. Its file's time is the latest at which it can have been written:
    a copy has a later one."""
    if not states or seen.leader == states[-1].leader:
        return None
    own = (seen.leader, {*seen.isr}, {*seen.replicas})
    return next((s for s in reversed(states[:-1]) if (s.leader, {*s.isr}, {*(s.replicas or seen.replicas)}) == own), None)


DESCRIBED = "described"
"""Source of a state that only --describe shows. It begins no term, because its cause is unknown."""


def as_states(final: State | None, later: Sequence[Snapshot]) -> list[State]:
    """States that only --describe shows. The leader epoch is kept while the leader is the same."""
    found: list[State] = []
    now = final
    for s in later:
        if now is None or (s.leader, {*s.isr}, {*(s.replicas or now.replicas or ())}) != (now.leader, {*now.isr}, {*(now.replicas or ())}):
            now = State(
                leader_epoch=now.leader_epoch if now is not None and s.leader == now.leader else UNKNOWN_EPOCH,
                partition_epoch=None,
                leader=s.leader,
                isr=s.isr,
                replicas=s.replicas or (now.replicas if now is not None else None),
                adding=tuple(s.event.adding_replicas or ()),
                removing=tuple(s.event.removing_replicas or ()),
                at=s.at,
                source=DESCRIBED,
                event=s.event,
            )
            found.append(now)
    return found


Of = Callable[..., list[Event]]
"""Events of the given kinds, in order (PartitionTimeline.of)."""


class Orders:
    """The order of a partition's replicas. Up to 0.10.2 a controller sends them as a set, and brokers print them in any order
    (LeaderAndIsrRequest, PartitionStateInfo). The order then comes from the line that assigned or described the partition."""

    def __init__(self, events: Iterable[Event] = (), snapshots: Iterable[Snapshot] = ()) -> None:
        assigned: dict[tuple[int, ...], None] = dict.fromkeys(s.replicas for s in snapshots if s.replicas)
        self.lost = False
        for e in events:
            if e.replicas and (e.event != "assignment" or e.reason in ("stored", "current")):
                self.lost |= bool(e.unordered)
                if not e.unordered:
                    assigned[tuple(e.replicas)] = None
        self._told = assigned
        self._by_set = {frozenset(t): t for t in assigned}

    def arranged(self, replicas: tuple[int, ...] | None) -> tuple[int, ...] | None:
        """The replicas in their order; unchanged if the order is unknown."""
        if not replicas or not self.lost or replicas in self._told:
            return replicas
        return self._by_set.get(frozenset(replicas), replicas)

    def first(self, replicas: Sequence[int] | None) -> int | None:
        """The preferred leader of this assignment; None if its order is unknown."""
        if not replicas or (self.lost and frozenset(replicas) not in self._by_set):
            return None
        return (self.arranged(tuple(replicas)) or replicas)[0]


def assigned_from(states: Sequence[State], of: Of, snapshots: Sequence[Snapshot]) -> list[State]:
    """Fills in missing assignments from the controller's creation line, else from --describe: a ZooKeeper cluster at default log level
    (2.6 and later) prints the assignment nowhere else."""
    if all(s.replicas for s in states):
        return _as_created(states, of, snapshots)
    assigned = [e.replicas for e in of("partition-transition", "topic-created") if e.replicas]
    stored = (e.replicas for e in of("assignment") if e.reason in ("stored", "current") and e.replicas)
    known = assigned[0] if assigned else next((list(s.replicas) for s in snapshots if s.replicas), None) or next(stored, None)
    return [s if s.replicas or not known else replace(s, replicas=tuple(known)) for s in states]


def _as_created(states: Sequence[State], of: Of, snapshots: Sequence[Snapshot]) -> list[State]:
    """Orders the assignment before a reassignment. A reassignment lists its target first and the rest as a set, so the earlier order
    comes from the creation line or the first --describe."""
    assigned = [tuple(e.replicas) for e in of("partition-transition", "topic-created") if e.replicas]
    assigned += [s.replicas for s in snapshots if s.replicas]
    named = next((i for i, s in enumerate(states) if any(e.replicas for e in (s.event, *s.also))), 0)
    known = next((t for t in assigned if named and set(t) == set(states[0].replicas or ())), None)
    return [replace(s, replicas=known) if known is not None and i < named else s for i, s in enumerate(states)]


def reassigned(of: Of) -> list[Event]:
    """Assignments that a ZooKeeper controller wrote during a reassignment, in order of time. Before 2.4 it wrote old and new replicas
    first, then the remaining ones."""
    return [e for e in of("reassignment") if (e.reason == "completed" or e.value == "assigned") and e.replicas and e.at is not None]


def after_reassignments(states: Sequence[State], of: Of) -> list[State]:
    """Updates assignments after reassignments. A ZooKeeper controller removes the old replicas without another state, so later states
    that name no replicas get the remaining ones."""
    done = reassigned(of)
    left = [
        next((e for e in reversed(done) if not_after(e.at, s.at)), None) if s.replicas and not s.event.replicas else None for s in states
    ]
    return [
        replace(s, replicas=tuple(e.replicas or ()), adding=(), removing=())
        if e is not None and set(e.replicas or ()) < set(s.replicas or ())
        else s
        for s, e in zip(states, left, strict=True)
    ]
