"""at-min-isr: just as many in-sync replicas as min.insync.replicas asks for, and not all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model import Finding, Many, Rule, Statement, brokers_named, moment, quote
from forensics.partition.absences import absences
from forensics.partition.durability import as_settled, at_min_isr, min_isr, required
from forensics.partition.windows import Window, condensed, lasted, missing, until, up_to, windows
from forensics.proof.coverage import silence_words, silent_leaders
from spark.cluster.facts import Cluster
from spark.partition.states import State
from spark.partition.timeline import PartitionTimeline


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    def at(state: State) -> bool:
        return at_min_isr(state, required(state, timeline, cluster))

    for window in condensed([w for w in windows(as_settled(timeline, cluster), at) if w.seconds is None or w.seconds > 0]):
        yield _finding(window, timeline, cluster)


def _finding(window: Window, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    state = window.states[0]
    setting, asked = min_isr(state, timeline, cluster), len(state.isr)
    why = absences(timeline, cluster).within(window)
    out = tuple(i.broker for i in why)
    silent = silent_leaders(window.states, timeline, cluster)
    return Finding(
        kind="at-min-isr",
        severity="low",
        confidence="possible" if silent else "probable" if setting.assumed else "certain",
        brokers=out,
        leader_epoch=state.known_epoch,
        start=window.start,
        end=window.end,
        summary=f"{timeline.name}: ISR {_isrs(window)} just at min.insync.replicas={asked} {lasted(window, cluster)}",
        explanation=(
            f"From {moment(window.start)} {until(window, cluster)} {timeline.name} had "
            f"{len(state.isr)} of {len(state.replicas or ())} replicas in sync, just what min.insync.replicas={asked} ({setting.place}) asks for. "
            f"{_threat(asked)} {'; '.join(i.words for i in why)}.{silence_words(silent)}"
        ),
        next_steps=() if window.end is not None else (f"Bring {brokers_named(out)} back in sync.",),
        evidence=quote(state.event, setting.event, *(e for i in why for e in i.evidence[1:2])),
    )


def _isrs(window: Window) -> str:
    """The ISRs of the window, one after the other; the order of their replicas does not tell them apart."""
    found: dict[frozenset[int], tuple[int, ...]] = {}
    for state in window.states:
        found.setdefault(frozenset(state.isr), state.isr)
    isrs = [str(list(isr)) for isr in found.values()]
    return ", then ".join(isrs if len(isrs) <= 3 else [isrs[0], f"{len(isrs) - 2} more", isrs[-1]])


def _threat(required: int) -> str:
    if required == 1:
        return "What was acknowledged then stood on the leader alone: its failure could have lost it, whatever acks was."
    return "One more replica out of sync, and acks=all writes would have been refused."


def _many(first: Finding, group: Sequence[Statement]) -> str:
    return f"just at min.insync.replicas without {missing(group)} {up_to(group)}"


RULE = Rule(
    kind="at-min-isr",
    rank=220,
    level="low",
    meaning="Just as many replicas were in sync as min.insync.replicas asks for: one more failure blocks writes, or loses them where that is one.",
    benign=("min.insync.replicas is as large as the replication factor: then it is never otherwise (see risky-setting).",),
    references=("KIP-351",),
    partition=judge,
    many=Many(words=_many, key=lambda f: f.end is None),
)
