"""The final state of a partition at the end of the evidence: leader, ISR and assignment, with source and time.

Here: which of the last reports counts: the last state, or a later kafka-topics --describe. Not here: which brokers are up
(forensics.model.cluster.final_state), or the earlier states (states, timeline).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from forensics.model.events import Event
from forensics.model.partition.states import UNKNOWN_EPOCH, State
from forensics.model.times import runs, undated_first
from forensics.thresholds import ISR_PROPAGATION, TOOL_RUN
from parsers.frozen import dataclass


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
