"""The states of a partition in the order of their cause, each once, from all that witnesses told.

Here: leader epoch before partition epoch before time; which tellings are one state, and which never took effect. Not here: what a single
witness says (states).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

from parsers.kinds import Role, of
from spark.events import Event
from spark.partition.states import AUTHORITY, State, not_after

SAME_CHANGE = timedelta(seconds=1)
"""A leader prints a change of its ISR and what follows from it within milliseconds."""


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
    return _counted(_carry(_in_effect(ordered)))


def _in_effect(states: Sequence[State]) -> list[State]:
    """Without the intents of a leader that never took effect: what a leader cut off from ZooKeeper printed when it tried to change
    the ISR. Each write raises the partition epoch by one, so two states whose epochs follow each other have none in between;
    and a controller elects from the ISR it read, keeping its live members, or else a new leader alone. What the leader would have told to
    have taken effect, and nobody tells, is no state, but a doubt about the one before."""
    earlier: list[int | None] = []
    last: int | None = None
    for s in states:
        earlier.append(last)
        last = s.partition_epoch if s.partition_epoch is not None else last
    kept: list[State] = []
    doubt: Event | None = None
    for s, before in zip(reversed(states), reversed(earlier), strict=True):
        if s.partition_epoch is None and s.source in ("leader", "intended") and s.event.event in _INTENTS:
            after = kept[-1] if kept else None
            no_room = after is not None and before is not None and after.partition_epoch == before + 1
            if no_room or (after is not None and _elected_otherwise(s, after)):
                continue
            if s.source == "intended":
                doubt = s.doubt
                continue
        kept.append(replace(s, doubt=doubt) if doubt is not None else s)
        doubt = None
    return kept[::-1]


def _elected_otherwise(intended: State, after: State) -> bool:
    return after.leader_epoch > intended.leader_epoch and len(after.isr) > 1 and not set(after.isr) <= set(intended.isr)


def _counted(states: Sequence[State]) -> list[State]:
    """With what is left of the partition epochs between two states for changes that nobody tells. Both epochs begin at 0, and what raises the
    leader epoch raises the partition epoch, too: that of the first state is no lower."""
    counted = list(states)
    epochs = [s.partition_epoch if s.partition_epoch is not None or i else max(s.leader_epoch, 0) for i, s in enumerate(states)]
    numbered = [(i, epoch) for i, epoch in enumerate(epochs) if epoch is not None]
    for (one, before), (other, after) in pairwise(numbered):
        lacking = after - before - (other - one)
        if lacking > 0 and (other - one > 1 or states[one].partition_epoch is None):
            counted[one + 1 : other + 1] = [replace(s, untold=lacking) for s in states[one + 1 : other + 1]]
        elif lacking <= 0:
            counted[one:other] = [replace(s, doubt=None) if s.doubt is not s.event else s for s in counted[one:other]]
    return counted


_INTENTS = of(role=Role.ISR_INTENT)


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
    for s in sorted(bare, key=lambda s: (s.at or datetime.max, AUTHORITY[s.source])):
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
    if own.event.event not in _INTENTS or not not_after(own.at, other.at):
        return merged
    others = [e for e in (merged.event, *merged.also) if e is not own.event]
    return replace(merged, at=own.at, event=own.event, also=tuple(others[:8]))


def _repeated(state: State, told: Sequence[State]) -> int | None:
    """The earlier state that a controller repeats from its cache: what the leader changed since it may not know (0.8.2 never does),
    and the leader would have said that it changed back."""
    return next(
        (i for i, t in enumerate(told) if t.leader == state.leader and set(t.isr) == set(state.isr) and not_after(t.at, state.at)), None
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
    best, *others = sorted(states, key=lambda s: (AUTHORITY[s.source], s.at or datetime.max, s.event.source, s.event.line or 0))
    for other in others:
        best = _merged(best, other)
    return best


def _merged(one: State, other: State) -> State:
    better, worse = (one, other) if AUTHORITY[one.source] <= AUTHORITY[other.source] else (other, one)
    return replace(
        better,
        partition_epoch=better.partition_epoch if better.partition_epoch is not None else worse.partition_epoch,
        replicas=better.replicas or worse.replicas,
        adding=better.adding or worse.adding,
        removing=better.removing or worse.removing,
        recovering=better.recovering if better.recovering is not None else worse.recovering,
        doubt=better.doubt and worse.doubt,
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
