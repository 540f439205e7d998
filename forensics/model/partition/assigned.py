"""A partition's assigned replicas in order: the first is the preferred leader.

Here: the order if a controller sent the replicas as a set, and the assignment of states without one. Not here: reassignment files
(parsers).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from forensics.model.events import Event
from forensics.model.partition.final_state import Snapshot
from forensics.model.partition.states import State, not_after
from parsers.frozen import replace

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
