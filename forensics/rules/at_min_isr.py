"""at-min-isr: the ISR is exactly as large as min.insync.replicas, and smaller than the replica set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, Statement, brokers_named, capital, moment, quote, raw
from forensics.model.partition.absences import absences
from forensics.model.partition.durability import as_settled, at_min_isr, min_isr, required
from forensics.model.partition.log_coverage import silence_words, silent_leaders
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.partition.windows import Window, condensed, lasted, lived, missing, until, up_to, windows


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    def at(state: State) -> bool:
        return at_min_isr(state, required(state, timeline, cluster))

    found = lived(windows(as_settled(timeline, cluster), at), timeline, cluster)
    for window in condensed([w for w in found if w.seconds is None or w.seconds > 0]):
        yield _finding(window, timeline, cluster)


def _finding(window: Window, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    state = window.states[0]
    setting, asked = min_isr(state, timeline, cluster), len(state.isr)
    why = absences(timeline, cluster).within(window)
    out = tuple(i.broker for i in why)
    silent = silent_leaders(window.states, timeline, cluster)
    return raw(
        kind="at-min-isr",
        severity="low",
        confidence="possible" if silent else "probable" if setting.assumed else "certain",
        brokers=out,
        leader_epoch=state.known_epoch,
        start=window.start,
        end=window.end,
        summary=f"{timeline.name}: ISR {_isrs(window)} exactly at min.insync.replicas={asked} {lasted(window, cluster)}",
        explanation=(
            f"From {moment(window.start)} {until(window, cluster)} {timeline.name} had "
            f"{len(state.isr)} of {len(state.replicas or ())} replicas in sync, exactly the number that min.insync.replicas={asked} ({setting.place}) requires. "
            f"{_threat(asked)} {capital('; '.join(i.words for i in why))}.{silence_words(silent)}"
        ),
        next_steps=() if window.end is not None else (f"Bring {brokers_named(out)} back in sync for {timeline.name}.",),
        evidence=quote(state.event, setting.event, *(e for i in why for e in i.evidence[1:2])),
    )


def _isrs(window: Window) -> str:
    """The ISRs of the window, one after the other; ISRs that differ only in order are one."""
    found: dict[frozenset[int], tuple[int, ...]] = {}
    for state in window.states:
        found.setdefault(frozenset(state.isr), state.isr)
    isrs = [str(list(isr)) for isr in found.values()]
    return ", then ".join(isrs if len(isrs) <= 3 else [isrs[0], f"{len(isrs) - 2} more", isrs[-1]])


def _threat(required: int) -> str:
    if required == 1:
        return "Only the leader had the records acknowledged then: its failure could have lost them, with any acks setting."
    return "With one more replica out of sync, acks=all writes would have been refused."


def many_words(first: Finding, group: Sequence[Statement]) -> str:
    return f"exactly at min.insync.replicas without {missing(group)} {up_to(group)}"
