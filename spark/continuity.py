"""Whether anything can have happened between two states that nobody told of.

Here: the gap between two states of a partition, as a value that whoever claims something across it has to look at. Not here: how the states
come about (states, chain), or what follows for a claim (forensics).

A controller raises the leader epoch by one with each leader or ISR it writes, and every write, the leader's too, raises the partition epoch
by one (ZooKeeper's version of the znode; PartitionRegistration#merge in KRaft).
"""

from __future__ import annotations

from dataclasses import dataclass

from spark.states import State


@dataclass(frozen=True, slots=True)
class Gap:
    """What is missing between two states."""

    before: State
    after: State
    epochs: range
    """Leader epochs of which nothing is known."""
    changes: int
    """Changes of the partition's state within known leader epochs that nobody tells; 0 where epochs are missing."""

    def __str__(self) -> str:
        if self.epochs:
            first, last = self.epochs[0], self.epochs[-1]
            return f"of leader epoch{f' {first}' if first == last else f's {first} to {last}'} nothing is known"
        several = self.changes > 1
        return f"{self.changes} change{'s' if several else ''} of the partition's state {'are' if several else 'is'} not in evidence"


def gap(before: State, after: State) -> Gap | None:
    """None where the two follow each other, for all that their epochs tell."""
    if before.known_epoch is not None and after.leader_epoch > before.leader_epoch + 1:
        return Gap(before, after, range(before.leader_epoch + 1, after.leader_epoch), 0)
    if before.partition_epoch is None or after.partition_epoch is None:
        return None
    lacking = after.partition_epoch - before.partition_epoch - 1
    return Gap(before, after, range(0), lacking) if lacking > 0 else None
