"""The states of a partition in causal order, each once, from all evidence.

Here: ordering by leader epoch, then partition epoch, then time; which reports are of one state, and which states never took effect.
Not here: the state in a single line or record (states).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from forensics.model.events import Event
from forensics.model.message import Message, said
from forensics.model.partition.replicas import Contradiction
from forensics.model.partition.states import AUTHORITY, UNKNOWN_EPOCH, State
from forensics.model.times import grouped, near, not_after, undated_last
from forensics.thresholds import DECISION_SENT, SAME_ISR_CHANGE
from parsers.frozen import replace
from parsers.kinds import Role, of


def chain(found: Sequence[State]) -> list[State]:
    """States in causal order, one for each change, from the best source.

    Leader epoch first, then partition epoch if known. A report without a partition epoch (before 2.6 the controller's tuples have none)
    is of the same state as a report with one if leader and ISR agree.
    """
    by_epoch = grouped((state.leader_epoch, state) for state in found)
    ordered: list[State] = []
    for epoch in sorted(by_epoch):
        ordered.extend(_within(by_epoch[epoch]))
    return _counted(_settled(_carry(_in_effect(ordered))))


def disputed(found: Iterable[State], starts: Iterable[Event]) -> Iterator[Contradiction]:
    """Reports of states that cannot all be true. Each change has the next partition epoch, so one partition epoch has one leader epoch,
    leader and ISR, and the leader epoch rises by the partition epoch at most. `starts`: lines with which brokers enter a leader epoch."""
    found = list(found)
    known = sorted(filter(_tells_epoch, found), key=lambda s: AUTHORITY[s.source])
    first: dict[int, State] = {}
    for s in known:
        if s.partition_epoch is not None and s.partition_epoch >= 0:
            one = first.setdefault(s.partition_epoch, s)
            if s.leader_epoch != one.leader_epoch or not _same(s, one):
                yield Contradiction("state", one.event, _said(one), s.event, _said(s))
    for s in found:
        same = first.get(s.partition_epoch) if s.partition_epoch is not None and s.source == "changed" else None
        if same is not None and {*s.isr} != {*same.isr}:
            changed = said("contradiction/isr-of", partition_epoch=s.partition_epoch, isr=tuple(s.isr))
            yield Contradiction("state", same.event, _said(same), s.event, changed)
    for one, s in pairwise(first[n] for n in sorted(first)):
        if not 0 <= s.leader_epoch - one.leader_epoch <= (s.partition_epoch or 0) - (one.partition_epoch or 0):
            yield Contradiction("state", one.event, _said(one), s.event, _said(s))
    yield from _entered_otherwise(first, known, starts)


def _tells_epoch(s: State) -> bool:
    """The leader epoch is in the line, and not that of the leader's last start: one may be missing."""
    return s.known_epoch is not None and (s.source == "metadata" or s.event.leader_epoch is not None)


def _entered_otherwise(first: Mapping[int, State], known: Iterable[State], starts: Iterable[Event]) -> Iterator[Contradiction]:
    """Starts whose epochs, leader or ISR are not those of the state. A ZooKeeper controller sends what it decided, and the first line of
    the new leader about that has no partition epoch."""
    decided: dict[int, State] = {}
    for s in known:
        if s.source == "decided":
            decided.setdefault(s.leader_epoch, s)
    led: set[tuple[int | None, int | None]] = set()
    for e in starts:
        state = first.get(e.partition_epoch) if e.partition_epoch is not None else None
        if state is not None and (e.leader_epoch != state.leader_epoch or e.leader not in (None, state.leader)):
            yield Contradiction("state", state.event, _said(state), e, _state(e.partition_epoch, e.leader_epoch, e.leader))
        elif e.event == "leader-start" and e.partition_epoch is None and e.isr and (e.writer, e.leader_epoch) not in led:
            led.add((e.writer, e.leader_epoch))
            state = decided.get(e.leader_epoch if e.leader_epoch is not None else UNKNOWN_EPOCH)
            if state is not None and _soon_after(state, e) and (state.leader != e.writer or {*state.isr} != {*e.isr}):
                yield Contradiction("state", state.event, _said(state), e, _state(None, e.leader_epoch, e.writer, tuple(e.isr)))


def _soon_after(state: State, start: Event) -> bool:
    """The start is of the request that the controller sent when it decided, and not of a later one after the leader changed the ISR."""
    return near(start.at, state.at, DECISION_SENT)


def _said(s: State) -> Message:
    return _state(s.partition_epoch, s.leader_epoch, s.leader, tuple(s.isr))


def _state(partition_epoch: int | None, leader_epoch: int | None, leader: int | None, isr: tuple[int, ...] | None = None) -> Message:
    known = {"partition_epoch": partition_epoch, "leader_epoch": leader_epoch, "leader": leader}
    return said("contradiction/state-of", **known, isr=isr, empty=isr == ())


def _in_effect(states: Sequence[State]) -> list[State]:
    """Drops ISR changes that a leader intended but that never took effect: lines of a leader cut off from ZooKeeper that tried to change
    the ISR. Each write raises the partition epoch by one, so two consecutive epochs have no state in between. A controller elects from
    the ISR it read and keeps the live members, or elects a new leader alone. If the leader would have printed that the change took
    effect and did not, the change is not a state, but a doubt about the previous one."""
    earlier: list[int | None] = []
    last: int | None = None
    for s in states:
        earlier.append(last)
        last = s.partition_epoch if s.partition_epoch is not None else last
    kept: list[State] = []
    doubt: Event | None = None
    for s, before in zip(reversed(states), reversed(earlier), strict=True):
        if s.partition_epoch is None and s.source in ("leader", "intended") and s.event.event in _INTENTS:
            if kept and _leaves_no_room(s, before, kept[-1]):
                continue
            if s.source == "intended":
                doubt = s.doubt
                continue
        kept.append(replace(s, doubt=doubt) if doubt is not None else s)
        doubt = None
    return kept[::-1]


def _leaves_no_room(intended: State, before: int | None, after: State) -> bool:
    """Whether the next state shows that the intended change never took effect. `before`: the last partition epoch before the change."""
    otherwise = after.leader_epoch > intended.leader_epoch and len(after.isr) > 1 and not set(after.isr) <= set(intended.isr)
    return (before is not None and after.partition_epoch == before + 1) or otherwise


def _settled(states: Sequence[State]) -> list[State]:
    """Drops intended changes that partition epochs refute, and clears the doubt about those that partition epochs or the next election
    confirm. All others stay in doubt: the ISR before them may be the last one."""
    result = list(states)
    for number, (s, after) in enumerate(pairwise(states)):
        if _in_doubt(s) and _shown_by(s, after):
            result[number] = replace(s, doubt=None)
    refuted: set[int] = set()
    for one, other, room, exact in _rooms(result):
        if any(s.epoch_guessed for s in result[one : other + 1]):
            continue
        between = range(one + 1, other)
        in_doubt = {i for i in between if _in_doubt(result[i])}
        certain = sum(_writes(result[i], result[i - 1]) for i in (*between, other) if i not in in_doubt) - 1
        if room == certain:
            refuted |= in_doubt
        elif exact and room == certain + len(in_doubt) and all(_continues(s, before) for before, s in pairwise(result[one:other])):
            result[one + 1 : other] = [replace(s, doubt=None) if _in_doubt(s) else s for s in result[one + 1 : other]]
    return [s for i, s in enumerate(result) if i not in refuted]


def _in_doubt(s: State) -> bool:
    """Whether the state itself is an intended change that may not have taken effect."""
    return s.doubt is not None and s.doubt is s.event


def _writes(s: State, before: State) -> int:
    """Minimum number of writes since the previous state: each leader epoch is one, and each change that its leader printed."""
    epochs = s.leader_epoch - before.leader_epoch if before.known_epoch is not None else 0
    return max(epochs, int(s.event.event in _CHANGES or s.partition_epoch is not None))


def _continues(s: State, before: State) -> bool:
    """Whether no change is missing between the two: the next leader epoch begins, or the leader's line says that it changed this ISR."""
    if s.leader_epoch > before.leader_epoch:
        return s.leader_epoch == before.leader_epoch + 1
    return s.event.event in _CHANGES and {*(s.event.previous_isr or ())} == {*before.isr}


def _shown_by(intended: State, after: State) -> bool:
    """Whether the controller's next state confirms the intended one. If a controller removes a leader from the ISR, the partition has no
    leader, and the ISR contains only that leader only if it was alone before (ReplicaStateMachine#removeReplicasFromIsr). An election
    adds no member."""
    before = {*(intended.event.previous_isr or ())}
    if after.leader_epoch != intended.leader_epoch + 1 or not before:
        return False
    alone = {*intended.isr} == {intended.leader} != before
    left_alone = alone and after.leader == -1 and {*after.isr} <= {intended.leader}
    return left_alone or (len(after.isr) > 1 and not {*after.isr} <= before and {*after.isr} <= {*intended.isr})


def _rooms(states: Sequence[State]) -> Iterator[tuple[int, int, int, bool]]:
    """Pairs of indexes of consecutive states with a partition epoch, with the number of changes between them, and whether this number is
    exact. Both epochs begin at 0, and each increment of the leader epoch also increments the partition epoch, so the first state's
    partition epoch is at least its leader epoch."""
    epochs = [s.partition_epoch if s.partition_epoch is not None or i else max(s.leader_epoch, 0) for i, s in enumerate(states)]
    numbered = [(i, epoch) for i, epoch in enumerate(epochs) if epoch is not None]
    for (one, before), (other, after) in pairwise(numbered):
        yield one, other, after - before - 1, states[one].partition_epoch is not None


def _counted(states: Sequence[State]) -> list[State]:
    """Adds the number of changes between two states that no line shows, by their partition epochs."""
    counted = list(states)
    for one, other, room, exact in _rooms(states):
        lacking = room - (other - one - 1)
        if lacking > 0 and (other - one > 1 or not exact):
            counted[one + 1 : other + 1] = [replace(s, missing_changes=lacking) for s in states[one + 1 : other + 1]]
        elif lacking <= 0:
            counted[one:other] = [s if s.doubt is None or _in_doubt(s) else replace(s, doubt=None) for s in counted[one:other]]
    return counted


_INTENTS = of(role=Role.ISR_INTENT)
_CHANGES = of(role=Role.ISR_INTENT | Role.ISR)


def _within(states: Sequence[State]) -> list[State]:
    """The states of one leader epoch. Before 2.4 the leader's intended changes have no partition epoch, but they are all ISR changes of
    the epoch: a ZooKeeper controller's own changes begin another leader epoch. So they form the sequence, and states that others cached
    or received are merged into it."""
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
        decision = next((s for s in bare if s.source == "decided"), None) if not result else None
        if decision is not None:  # a decision of a ZooKeeper controller begins a leader epoch
            bare.remove(decision)
            result = [decision]
        result = _on_spine(result, sorted(spine, key=undated_last))
    for s in sorted(bare, key=lambda s: (undated_last(s), AUTHORITY[s.source])):
        _merge_into(result, s, on_spine=bool(spine))
    return result


def _merge_into(result: list[State], s: State, *, on_spine: bool) -> None:
    """Merges a state without a partition epoch into an equal one, or inserts it by time."""
    twin = next((i for i, r in enumerate(result) if _same(r, s) and not _apart(r, s)), None)
    repeated = _repeated(s, result) if twin is None and on_spine else None
    if twin is not None:
        result[twin] = _confirmed(result[twin], s)
    elif repeated is not None:
        result[repeated] = replace(result[repeated], also=(*result[repeated].also, s.event)[:8])
    else:
        result.insert(_place(s, result), s)


def _same(one: State, other: State) -> bool:
    return one.leader == other.leader and set(one.isr) == set(other.isr)


def _place(state: State, result: Sequence[State], after: int = -1) -> int:
    """Index of the first later state beyond `after`."""
    if state.at is None:
        return len(result)
    return next((i for i in range(after + 1, len(result)) if (at := result[i].at) is not None and at > state.at), len(result))


def _confirmed(own: State, other: State) -> State:
    """Merges two reports of one state. For an ISR change of the leader, the leader's own line gives the date and the evidence: a
    controller may read the change from ZooKeeper much later, when it takes over. A mere request does not."""
    merged = _merged(own, other)
    if own.event.event not in _INTENTS or own.source == "intended" or not not_after(own.at, other.at):
        return merged
    others = [e for e in (merged.event, *merged.also) if e is not own.event]
    return replace(merged, at=own.at, event=own.event, also=tuple(others[:8]))


def _repeated(state: State, states: Sequence[State]) -> int | None:
    """Index of the earlier state that a controller repeats from its cache. The controller may not know the leader's later changes (0.8.2
    never does), and the leader would have printed a change back."""
    return next((i for i, s in enumerate(states) if _same(s, state) and not_after(s.at, state.at)), None)


def _on_spine(others: Sequence[State], spine: Sequence[State]) -> list[State]:
    """The leader's own changes after the epoch's first state, in their order. Each later state from another source is merged into the
    first equal state, but not into one with another partition epoch: also a change that leaves leader and ISR as they were has its own
    (KIP-858: other directories). A state without an equal one is inserted by time."""
    result = [*others[:1], *spine]
    reached = 0
    for other in others[1:]:
        same_epoch = (len({result[i].partition_epoch, other.partition_epoch, None}) < 3 for i in range(reached, len(result)))
        alike = [i for i, may_be in enumerate(same_epoch, reached) if may_be and _same(result[i], other)]
        counted = (other.partition_epoch or 0) - (others[0].partition_epoch or 0)
        same = counted if counted in alike else next(iter(alike), None)
        if same is not None:
            reached = same
            both = _confirmed(own := result[same], other)
            result[same] = both if own.source == "intended" else replace(both, at=own.at)
        elif other.source != "cached":
            reached = _place(other, result, reached)
            result.insert(reached, other)
    return result


def _apart(one: State, other: State) -> bool:
    """Whether one broker, by one clock, reported the same state at two times: it may have changed in between."""
    if one.event.writer is None or one.event.writer != other.event.writer or one.at is None or other.at is None:
        return False
    return abs(one.at - other.at) > SAME_ISR_CHANGE


def _best(states: Sequence[State]) -> State:
    best, *others = sorted(states, key=lambda s: (AUTHORITY[s.source], undated_last(s), s.event.source, s.event.line or 0))
    began = min((s.at for s in states if s.at is not None), default=None) if _copied(best.event) else best.at
    for other in sorted(others, key=lambda s: not _same(best, s)):  # another state of this number may be of another cluster
        best = _merged(best, other)
    return replace(best, at=began) if began != best.at else best


def _copied(event: Event) -> bool:
    """Whether it is a copy of a state that began earlier: a PartitionRecord begins a partition, and one with a later epoch is of the
    migration from ZooKeeper (KIP-866)."""
    return event.event == "metadata-partition" and event.reason != "snapshot" and (event.partition_epoch or 0) > 0


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
        epoch_guessed=better.epoch_guessed and worse.epoch_guessed,
        also=(*better.also, worse.event, *worse.also)[:8],
    )


def _changed_in_between(before: State, same: State) -> bool:
    """Whether the leader changed the ISR back: its line starts from another ISR and does not repeat the previous state's change."""
    changed = same.event.previous_isr if same.event.event in _INTENTS else None
    return changed is not None and {*changed} not in ({*before.isr}, {*(before.event.previous_isr or ())})


def _carry(states: Sequence[State]) -> list[State]:
    """Fills in the assignment from the previous state (for the first states: from the first known assignment, less the replicas being
    added), and drops states that change nothing."""
    result: list[State] = []
    first = next((s for s in states if s.replicas), None)
    begin = tuple(b for b in first.replicas or () if b not in first.adding) + first.removing if first is not None else ()
    for s in states:
        before = result[-1] if result else None
        known = before.replicas if before is not None else tuple(dict.fromkeys(begin)) or None
        if s.replicas is None and known is not None:
            s = replace(s, replicas=known)
        if before is not None and _changes_nothing(before, s):
            result[-1] = replace(before, also=(*before.also, s.event)[:8])
        else:
            result.append(s)
    return result


def _changes_nothing(before: State, s: State) -> bool:
    """Whether a state only repeats the one before it."""
    return (
        before.leader_epoch == s.leader_epoch
        and _same(before, s)
        and (s.replicas or ()) == (before.replicas or ())
        and s.partition_epoch in (None, before.partition_epoch)
        and not _changed_in_between(before, s)
    )
