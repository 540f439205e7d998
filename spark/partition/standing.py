"""How a partition stands where the evidence ends: leader, ISR and assignment, with who says so and when.

Here: which of the last words counts: that of the last state, or of what kafka-topics --describe saw after it. Not here: which brokers live
(forensics.cluster.standing), or how the partition came to stand so (states, timeline).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from spark.events import Event
from spark.partition.states import UNKNOWN_EPOCH, State

PROPAGATION = timedelta(seconds=60)
"""Before KIP-497 (2.7) other brokers, and the tools that ask them, hear of an ISR change only so late (isrChangeNotification,
ReplicaManager's IsrChangePropagationInterval): its leader's own word counts more until then."""


RUN = timedelta(milliseconds=500)
"""The tool's JVM does not start and ask sooner than that: files closer to each other were copied, not printed, one after the other."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A `kafka-topics --describe` line."""

    leader: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    at: datetime | None
    event: Event


@dataclass(frozen=True, slots=True)
class Standing:
    """The last word on a partition."""

    leader: int | None = None
    """-1: it has none; None: nobody tells."""
    isr: tuple[int, ...] = ()
    replicas: tuple[int, ...] = ()
    """Assigned last; empty where nobody tells."""
    preferred: int | None = None
    """The first of them, where their order is told."""
    removing: tuple[int, ...] = ()
    moving: bool = False
    """A reassignment is under way."""
    leader_epoch: int | None = None
    at: datetime | None = None
    event: Event | None = None
    """Who says leader and ISR."""


def seen_after(final: State | None, snapshots: Sequence[Snapshot]) -> list[Snapshot]:
    """What --describe saw after the last state, in order of time. Left out are those that say different things at one time: copies whose
    modification times do not tell which was taken last."""
    runs: list[list[Snapshot]] = []
    for s in snapshots:
        if runs and (s.at or datetime.min) - (runs[-1][-1].at or datetime.min) < RUN:
            runs[-1].append(s)
        else:
            runs.append([s])
    agreed = (run for run in runs if len({(s.leader, frozenset(s.isr), s.replicas) for s in run}) == 1)
    return [s for run in agreed for s in run if final is None or _newer(s, final)]


def _newer(seen: Snapshot, final: State) -> bool:
    if seen.at is None or final.at is None or seen.at <= final.at:
        return False
    return seen.leader != final.leader or seen.at - final.at > PROPAGATION


DESCRIBED = "described"
"""Source of a state that only --describe tells: no term begins with it, for how it came about nobody says."""


def as_states(final: State | None, later: Sequence[Snapshot]) -> list[State]:
    """States that --describe saw and no other evidence tells; of the same leader epoch as far as that leads on."""
    found: list[State] = []
    now = final
    for s in later:
        if now is None or _differs(s, now):
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


def _differs(seen: Snapshot, now: State) -> bool:
    return (seen.leader, set(seen.isr), set(seen.replicas or now.replicas or ())) != (now.leader, set(now.isr), set(now.replicas or ()))
