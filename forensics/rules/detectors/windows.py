"""Windows of time in which a partition had no leader, or too few replicas in sync.

    [find]
    condition   name of the condition, in CONDITIONS
    together    values that partitions of one event have together: brokers of all of them
    causes      causes of absences (forensics.model.partition.absences), each with the cause of the finding

Here: the windows that are findings, how severe they are and the values of their sentences. Not here: windows in general
(forensics.model.partition.windows), or why a replica was missing (forensics.model.partition.absences).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_directories import OF_REPLICA
from forensics.model.coverage.log_coverage import silent_leaders
from forensics.model.events import Event
from forensics.model.findings import Finding, Statement, quote
from forensics.model.message import Message, Value, said, values
from forensics.model.partition.absences import (
    ENDED,
    EXPECTED,
    GONE,
    IN_ORDER,
    LOG_DIR,
    NOT_STATED,
    UNKNOWN,
    AbsenceInterval,
    absences,
    intervals,
)
from forensics.model.partition.durability import as_settled, at_min_isr, below_min_isr, min_isr, required
from forensics.model.partition.final_state import DESCRIBED
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.partition.windows import (
    Window,
    cluster_stopped,
    condensed,
    eligible_leaders,
    leaderless,
    lived,
    named_eligible,
    reassigning,
    said_of,
    together,
    windows,
    without_leader,
)
from forensics.model.settings.effective import Effective, strict
from forensics.model.times import contains, grouped
from forensics.thresholds import BRIEF_S

CLUSTER_STOPPED = "cluster-stopped"
"""Cause of a window without a leader that lasts to the end because all brokers were shut down cleanly then."""
_MOST_ISRS = 3
_AT_THE_END = ("still", "back")
"""Brokers that were missing in a window that lasts to the end of the evidence: those that still are, and the others."""


class _FoundWindow(NamedTuple):
    """A window, and what its condition says of it."""

    window: Window
    state: State | None
    """Its leader epoch is that of the finding."""
    brokers: tuple[int, ...]
    why: Sequence[AbsenceInterval]
    severity: str
    """Low if the evidence lacks the log of a leader that would show how long the state lasted."""
    quoted: Iterable[Event | Iterable[Event] | None]
    values: Mapping[str, Value]
    gap: bool = False
    """Changes are missing at its end, so it may have been shorter."""
    assumed: bool = False
    """The value of the setting is assumed."""
    silent: tuple[int, ...] = ()
    """Leaders whose log would show changes of the ISR, and is missing."""
    cause: str | None = None
    raised: bool = False
    """It began because the setting was raised."""
    message: str = "found"


def judges(kind: str, declaration: Mapping[str, Any]) -> Mapping[str, Any]:
    find = declaration["find"]
    condition, united, causes = CONDITIONS[find["condition"]], (*find.get("together", ()), *_AT_THE_END), find.get("causes")

    def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
        for found in condition(timeline, cluster):
            yield _finding(found, _cause(found.why, causes) if causes else found.cause, timeline, cluster)

    def merged(first: Finding, group: Sequence[Statement]) -> Mapping[str, Value]:
        own = [f.known_of(united) for f in group]
        found = together(group) | {name: _union(known.get(name) for known in own) for name in united}
        return found | {"back": _without(found["back"], found["still"])}

    return {"of_partition": of_partition, "merged": merged}


def _union(brokers: Iterable[Any]) -> tuple[int, ...]:
    return tuple(sorted({b for of_one in brokers for b in of_one or ()}))


def _without(brokers: Any, others: Any) -> tuple[int, ...]:
    return tuple(b for b in brokers if b not in others)


def _still(window: Window, brokers: Sequence[int], timeline: PartitionTimeline) -> tuple[int, ...]:
    """Those of the brokers, and of the replicas that --describe shows, that are missing from the last ISR; none if the window ended."""
    last = timeline.states_with_describe[-1]
    shown = last.replicas if last.source == DESCRIBED and last.replicas else brokers
    return tuple(b for b in shown if window.end is None and b not in last.isr and (not last.replicas or b in last.replicas))


def _finding(found: _FoundWindow, cause: str | None, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    window, still = found.window, _still(found.window, found.brokers, timeline)
    return Finding(
        severity="low" if found.silent else found.severity,
        confidence="possible" if found.silent or found.gap else "probable" if found.assumed else "certain",
        brokers=found.brokers,
        leader_epoch=found.state.known_epoch if found.state is not None else None,
        start=window.start,
        end=window.end,
        cause=cause,
        message=found.message,
        values=values(
            **said_of(window, cluster, raised=found.raised),
            reasons=tuple(_reasons(found.why)),
            silence=said("window/silence", leaders=found.silent) if found.silent else None,
            still=still,
            back=_without(found.brokers, still) if still else (),
            **found.values,
        ),
        evidence=quote(*found.quoted),
    )


def _reasons(why: Sequence[AbsenceInterval]) -> Iterator[Message]:
    """Why the replicas were missing, each reason once: brokers that ended alike are named together."""
    ended = [i for i in why if all(c.id == ENDED for c in i.clauses)]
    alike = grouped((tuple(map(_of_any, i.clauses)) if i in ended else i.clauses, i) for i in why)
    for clauses, own in alike.items():
        brokers = tuple(sorted({i.broker for i in own}))
        together = len(brokers) > 1 and own[0] in ended
        yield said("absence/sentence", clauses=tuple(_of_all(c, brokers) for c in clauses) if together else own[0].clauses)


def _of_any(clause: Message) -> Message:
    return Message(clause.id, tuple(value for value in clause.values if value[0] != "broker"))


def _of_all(clause: Message, brokers: tuple[int, ...]) -> Message:
    how = dict(clause.values)["how"]
    assert isinstance(how, Message)
    return Message(clause.id, (("brokers", brokers), *clause.values, ("how", said(how.id, **dict(how.values), several=True))))


def _under_replicated(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[_FoundWindow]:
    failed = [i for i in intervals(timeline, cluster) if i.cause not in EXPECTED]
    short = {id(s) for i in failed for s in timeline.states[i.first : i.last]}

    def holds(state: State) -> bool:
        return id(state) in short or (state.source == DESCRIBED and len(state.isr) < len(state.replicas or ()))

    found = lived(windows(timeline, holds), timeline, cluster)
    for window in condensed([w for w in found if w.seconds is None or w.seconds >= BRIEF_S]):
        why = [i for i in absences(timeline, cluster).within(window) if i.cause not in EXPECTED]
        out = tuple(i.broker for i in why)
        smallest = min(window.states, key=lambda s: len(s.isr))
        still = [i for i in why if i.broker in _still(window, out, timeline)]
        yield _FoundWindow(
            window,
            window.states[0],
            out,
            why,
            "low" if _excused(window, why, cluster) else "medium",
            [window.states[0].event, *(e for i in why for e in i.evidence[:2]), *(s.event for s in window.states[1:2])],
            {
                "never_at_once": len(out) > max(len(s.replicas or timeline.assigned) - len(s.isr) for s in window.states),
                "smallest": smallest.isr,
                "replicas": tuple(smallest.replicas or timeline.assigned),
                "unexplained": tuple(sorted({i.broker for i in why if i.cause in (NOT_STATED, UNKNOWN)})),
                "without_dir": tuple(sorted({i.broker for i in still if i.cause == LOG_DIR})),
                "absent": tuple(sorted({i.broker for i in still if i.cause != LOG_DIR})),
            },
            silent=silent_leaders(window.states, timeline, cluster),
        )


def _excused(window: Window, why: Sequence[AbsenceInterval], cluster: Cluster) -> bool:
    """It is over, and was a clean shutdown, a reassignment all the time, or a broker that printed nothing and came back; or the whole
    cluster was being stopped."""
    if why and _no_fault(window, why, cluster):
        return True
    if window.end is None:
        return _stopped(why) and cluster_stopped(window, [i.broker for i in why], cluster) is not None
    unheard_of = all(i.cause == UNKNOWN or (i.cause == GONE and i.end is not None) for i in why)
    return _stopped(why) or (bool(why) and unheard_of) or all(reassigning(s) for s in window.states)


def _stopped(why: Sequence[AbsenceInterval]) -> bool:
    return bool(why) and all(i.cause in IN_ORDER for i in why)


def _cause(why: Sequence[AbsenceInterval], causes: Mapping[str, str]) -> str | None:
    """All causes, so that partitions with other causes are not reported as the same."""
    offline = {causes[LOG_DIR] for i in why if any(e.event in OF_REPLICA for e in i.evidence)}  # its broker had also crashed or stopped
    return " and ".join(sorted({causes[i.cause] for i in why} | offline)) or None


def _below_min_isr(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[_FoundWindow]:
    if timeline.conflicting_epoch is not None:
        return
    for window in _settled(timeline, cluster, below_min_isr):
        needed, fewest = _fewest(window, timeline, cluster)
        setting = min_isr(fewest, timeline, cluster)
        why = absences(timeline, cluster).within(window)
        out = tuple(i.broker for i in why)
        refused = [e for e in timeline.of("append-refused") if window.start is not None and contains(window, e.at)]
        stopped = cluster_stopped(window, out, cluster) if _stopped(why) else None
        harmless = not refused and _harmless(window, why, stopped is not None, cluster)
        waits = strict(cluster, fewest.leader, fewest.at)
        first = next((s.at for s in timeline.states if s.event is window.states[0].event), window.start)
        yield _FoundWindow(
            window,
            fewest,
            out,
            why,
            "medium" if harmless else "high",
            [window.states[0].event, fewest.event, setting.event, refused[:2], *(e for i in why for e in i.evidence[1:2])],
            {
                "isr": fewest.isr,
                "needed": needed,
                "setting": setting.value,
                "setting_place": _place(setting),
                "refused": sum(e.repeats for e in refused) or None,
                "waits": waits is True,
                "commits": waits is False,
                "assigned": bool(fewest.replicas),
                "cluster_stopped": stopped,
            },
            assumed=setting.assumed,
            silent=() if refused else silent_leaders(window.states, timeline, cluster),
            raised=first != window.start,
        )


def _settled(timeline: PartitionTimeline, cluster: Cluster, condition: Callable[[State, int | None], bool]) -> Sequence[Window]:
    """The windows of a condition on the ISR and the number of replicas that must be in sync."""
    found = windows(as_settled(timeline, cluster), lambda state: condition(state, required(state, timeline, cluster)))
    return condensed([w for w in lived(found, timeline, cluster) if w.seconds is None or w.seconds > 0])


def _fewest(window: Window, timeline: PartitionTimeline, cluster: Cluster) -> tuple[int, State]:
    """The state of the window that lacks most replicas, and the number that was required then."""
    states = ((required(s, timeline, cluster) or 0, s) for s in window.states)
    return max(states, key=lambda pair: (pair[0] - len(pair[1].isr), -len(pair[1].isr)))


def _harmless(window: Window, why: Sequence[AbsenceInterval], closed: bool, cluster: Cluster) -> bool:
    """All missing brokers were stopped cleanly and the window is over; or the partition is gone, and the evidence shows no fault."""
    return _no_fault(window, why, cluster) or ((window.end is not None or closed) and _stopped(why))


def _no_fault(window: Window, why: Sequence[AbsenceInterval], cluster: Cluster) -> bool:
    """The partition is gone, and the evidence shows no fault: a cluster that ended was stopped as a whole."""
    return (window.deleted or cluster.number < 0) and all(i.cause in IN_ORDER | {UNKNOWN} for i in why)


def _place(setting: Effective) -> Value:
    of_leader = setting.event is not None and setting.event.event == "append-refused"
    return said("under-min-isr/place-of-refusal") if of_leader else setting.place


def _at_min_isr(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[_FoundWindow]:
    for window in _settled(timeline, cluster, at_min_isr):
        state = window.states[0]
        setting = min_isr(state, timeline, cluster)
        why = absences(timeline, cluster).within(window)
        yield _FoundWindow(
            window,
            state,
            tuple(i.broker for i in why),
            why,
            "low",
            [state.event, setting.event, *(e for i in why for e in i.evidence[1:2])],
            {
                "isrs": _isrs(window),
                "needed": len(state.isr),
                "replicas": len(state.replicas or ()),
                "setting_place": setting.place,
                "leader_only": len(state.isr) == 1,
            },
            assumed=setting.assumed,
            silent=silent_leaders(window.states, timeline, cluster),
        )


def _isrs(window: Window) -> tuple[Message, ...]:
    """The ISRs of the window, one after the other; ISRs that differ only in order are one."""
    found: dict[frozenset[int], Message] = {}
    for state in window.states:
        found.setdefault(frozenset(state.isr), said("window/isr", isr=state.isr))
    isrs = tuple(found.values())
    return isrs if len(isrs) <= _MOST_ISRS else (isrs[0], said("window/more", number=len(isrs) - 2), isrs[-1])


def _leaderless(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[_FoundWindow]:
    for window in condensed(leaderless(timeline, cluster)):
        last = window.states[-1]
        index = timeline.states.index(window.states[0])
        gone = _missing_brokers(last, timeline.states[index - 1] if index else None)
        why = [absences(timeline, cluster).of(b, window.states[0], last) for b in gone]
        stopped = cluster_stopped(window, gone, cluster) if _stopped(why) else None
        planned = _stopped(why) and window.end is not None
        after = timeline.states[index + len(window.states) :][:1]
        yield _FoundWindow(
            window,
            last,
            gone,
            why,
            "low" if stopped is not None else "medium" if planned else "high",
            [window.states[0].event, *(e for i in why for e in i.evidence[1:2]), *(s.event for s in after)],
            {**_electable(last, window, timeline, cluster), "cluster_stopped": stopped},
            cause=CLUSTER_STOPPED if stopped is not None else None,
            gap=(window.deleted and window.unseen is not None)  # a controller takes replicas of a topic offline to delete it
            or any(s.missing_changes or (s.partition_epoch or 0) > (last.partition_epoch or s.partition_epoch or 0) + 1 for s in after),
        )
    now = [*takewhile(without_leader, reversed(timeline.states_with_describe))]
    if now and now[-1].source == DESCRIBED:
        window, last = Window(now[0].at, None, (now[0],)), now[0]
        yield _FoundWindow(
            window, None, last.isr, (), "high", [last.event], _electable(last, window, timeline, cluster), message="described"
        )


def _missing_brokers(state: State, before: State | None) -> tuple[int, ...]:
    """The leader before and the ISR: the partition had no leader because they were gone."""
    leader = (before.leader,) if before is not None and before.leader >= 0 else ()
    return tuple(dict.fromkeys((*leader, *state.isr)))


def _electable(state: State, window: Window, timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Value]:
    """The brokers that can lead without loss: the ISR; when that is empty, its eligible leader replicas (KIP-966) that did not crash."""
    able = state.isr or eligible_leaders(state, window.end, timeline, cluster)
    crashed = () if state.isr else tuple(b for b in named_eligible(state) if b not in able)
    return {"isr": state.isr, "candidates": able, "crashed": crashed}


CONDITIONS: Mapping[str, Callable[[PartitionTimeline, Cluster], Iterator[_FoundWindow]]] = {
    "under-replicated": _under_replicated,
    "below-min-isr": _below_min_isr,
    "at-min-isr": _at_min_isr,
    "leaderless": _leaderless,
}
