"""Whether the evidence between two states of a partition is complete.

Here: the transition between two states, as one of two types. A claim across a Gap is never certain: a claim must hold one of the two
types (forensics.proof.elections.Election). Not here: how the states are derived (states, chain).

A controller raises the leader epoch by one with each leader or ISR it writes, and every write, also the leader's, raises the partition
epoch by one (ZooKeeper's version of the znode; PartitionRegistration#merge in KRaft). Where no partition epoch is printed, as before
2.4, a leader's own ISR changes raise no printed epoch: only its log shows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal

from forensics.model.events import Event
from forensics.model.message import Message, Value, said
from forensics.model.partition.states import State
from parsers.frozen import dataclass

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
