"""under-min-isr: fewer in-sync replicas than min.insync.replicas requires."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from forensics.model.cluster.effective import Effective, strict
from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, Statement, brokers_named, capital, moment, quote, raw
from forensics.model.partition.absences import IN_ORDER, UNKNOWN, Interval, absences
from forensics.model.partition.durability import as_settled, below_min_isr, min_isr, required
from forensics.model.partition.log_coverage import silence_words, silent_leaders
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.partition.windows import Window, closing, condensed, lasted, lived, until, up_to, windows


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    if timeline.conflicting_epoch is not None:
        return

    def below(state: State) -> bool:
        return below_min_isr(state, required(state, timeline, cluster))

    found = lived(windows(as_settled(timeline, cluster), below), timeline, cluster)
    for window in condensed([w for w in found if w.seconds is None or w.seconds > 0]):
        yield _finding(window, timeline, cluster)


def _fewest(window: Window, timeline: PartitionTimeline, cluster: Cluster) -> tuple[int, State]:
    """The state of the window that lacks most replicas, and the number that was required then."""
    states = ((required(s, timeline, cluster) or 0, s) for s in window.states)
    return max(states, key=lambda pair: (pair[0] - len(pair[1].isr), -len(pair[1].isr)))


def _harmless(window: Window, why: Sequence[Interval], closed: bool, cluster: Cluster) -> bool:
    """All missing brokers were stopped cleanly and the window is over; or the partition is gone, and the evidence shows no fault."""
    ended = window.deleted or cluster.number < 0  # a cluster that ended was stopped as a whole
    over = window.end is not None or closed
    no_fault = ended and all(i.cause in IN_ORDER | {UNKNOWN} for i in why)
    return no_fault or (over and _stopped(why))


def _stopped(why: Sequence[Interval]) -> bool:
    return bool(why) and all(i.cause in IN_ORDER for i in why)


def _inside(window: Window, at: datetime | None) -> bool:
    if at is None or window.start is None:
        return False
    return window.start <= at and (window.end is None or at <= window.end)


def _finding(window: Window, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    needed, fewest = _fewest(window, timeline, cluster)
    setting = min_isr(fewest, timeline, cluster)
    why = absences(timeline, cluster).within(window)
    out = tuple(i.broker for i in why)
    refused = [e for e in timeline.of("append-refused") if _inside(window, e.at)]
    count = sum(e.repeats for e in refused)
    silent = () if refused else silent_leaders(window.states, timeline, cluster)
    closed = closing(window, out, cluster) if _stopped(why) else ""
    harmless = not refused and _harmless(window, why, bool(closed), cluster)
    return raw(
        kind="under-min-isr",
        severity="low" if silent else "medium" if harmless else "high",
        confidence="possible" if silent else "probable" if setting.assumed else "certain",
        brokers=out,
        leader_epoch=fewest.known_epoch,
        start=window.start,
        end=window.end,
        summary=f"{timeline.name}: ISR {list(fewest.isr)} below min.insync.replicas={needed} {lasted(window, cluster)}"
        + (f", {count:,} writes refused" if count else ""),
        explanation=(f"{_shrunk(window, fewest, setting, timeline, cluster)} {_reasons(why, fewest)}.{closed}{silence_words(silent)}"),
        next_steps=_steps(window, out, timeline.name),
        evidence=quote(window.states[0].event, fewest.event, setting.event, refused[:2], *(e for i in why for e in i.evidence[1:2])),
    )


def _shrunk(window: Window, fewest: State, setting: Effective, timeline: PartitionTimeline, cluster: Cluster) -> str:
    first = next((s.at for s in timeline.states if s.event is window.states[0].event), window.start)
    raised = "" if first == window.start else ", when the setting was raised,"
    return (
        f"From {moment(window.start)}{raised} {until(window, cluster)} the ISR of {timeline.name} shrank to {list(fewest.isr)} while "
        f"min.insync.replicas is {setting.value} ({_place(setting)}): writes with acks=all are refused (NotEnoughReplicas), others are not"
        f"{_of_others(fewest, cluster)}."
    )


def _of_others(state: State, cluster: Cluster) -> str:
    """Whether writes with acks=0 or acks=1 are committed meanwhile."""
    waits = strict(cluster, state.leader, state.at)
    if waits is None:
        return ""
    return "; the high watermark waits until the ISR is large enough" if waits else "; the remaining replicas commit those writes anyway"


def _reasons(why: Sequence[Interval], state: State) -> str:
    unknown = "The partition has no more replicas" if state.replicas else "The evidence does not show which replicas are missing"
    return capital("; ".join(i.words for i in why)) or unknown


def _steps(window: Window, out: Sequence[int], name: str) -> tuple[str, ...]:
    producers = (
        f"Look for expired records in the logs of the producers of {name}: they retry refused writes only until delivery.timeout.ms."
    )
    if window.end is not None:
        return (producers,)
    if not out:
        return (f"Assign {name} more replicas, or lower min.insync.replicas to its number of replicas.", producers)
    return (f"Bring {brokers_named(out)} back in sync for {name}.", producers)


def _place(setting: Effective) -> str:
    return (
        "from the leader's line when it refused a write"
        if setting.event is not None and setting.event.event == "append-refused"
        else setting.place
    )


def many_words(first: Finding, group: Sequence[Statement]) -> str:
    return f"below min.insync.replicas {up_to(group)}"
