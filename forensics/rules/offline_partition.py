"""offline-partition: a partition had no leader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, Statement, brokers_named, capital, moment, quote, raw
from forensics.model.partition.absences import IN_ORDER, Interval, absences
from forensics.model.partition.eligible import eligible_leaders, named_eligible
from forensics.model.partition.final_state import DESCRIBED
from forensics.model.partition.leaderless import leaderless, without_leader
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.partition.windows import Window, closing, condensed, lasted, until, up_to

CLUSTER_STOPPED = "cluster-stopped"
"""Cause of a window that lasts to the end because all brokers were shut down cleanly then."""


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for window in condensed(leaderless(timeline, cluster)):
        yield _finding(window, timeline, cluster)
    now = [*takewhile(without_leader, reversed(timeline.states_with_describe))]
    if now and now[-1].source == DESCRIBED:
        yield _seen(now[0], timeline, cluster)


def _seen(now: State, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    """The finding for a partition whose missing leader only --describe shows."""
    able = now.isr or eligible_leaders(now, None, timeline, cluster)
    return raw(
        kind="offline-partition",
        severity="high",
        confidence="certain",
        brokers=now.isr,
        start=now.at,
        summary=f"{timeline.name}: no leader in kafka-topics --describe at {moment(now.at)}",
        explanation=(
            f"At {moment(now.at)} kafka-topics --describe showed {timeline.name} without a leader, with ISR {list(now.isr)}. The evidence does not "
            f"show the start and the cause. {_electable(now, able)}"
        ),
        next_steps=_steps(timeline.name, able, now.isr),
        evidence=quote(now.event),
    )


def _finding(window: Window, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    last = window.states[-1]
    able = last.isr or eligible_leaders(last, window.end, timeline, cluster)
    index = timeline.states.index(window.states[0])
    gone = _missing_brokers(last, timeline.states[index - 1] if index else None)
    why = [absences(timeline, cluster).of(b, window.states[0], last) for b in gone]
    stopped = bool(why) and all(i.cause in IN_ORDER for i in why)
    closed = closing(window, gone, cluster) if stopped else ""
    planned = stopped and window.end is not None
    return raw(
        kind="offline-partition",
        severity="low" if closed else "medium" if planned else "high",
        confidence="certain",
        brokers=gone,
        leader_epoch=last.known_epoch,
        start=window.start,
        end=window.end,
        cause=CLUSTER_STOPPED if closed else None,
        summary=f"{timeline.name}: no leader {lasted(window, cluster)}",
        explanation=(
            f"From {moment(window.start)} {until(window, cluster)} {timeline.name} had no leader; its ISR was {list(last.isr)}. "
            f"{_reasons(why, timeline)}. {_electable(last, able)}{closed}"
        ),
        next_steps=_steps(timeline.name, able, gone) if window.end is None and not window.deleted else (),
        evidence=quote(
            window.states[0].event,
            *(e for i in why for e in i.evidence[1:2]),
            *(s.event for s in timeline.states[index + len(window.states) :][:1]),
        ),
    )


def _missing_brokers(state: State, before: State | None) -> tuple[int, ...]:
    """The leader before and the ISR: the partition had no leader because they were gone."""
    leader = (before.leader,) if before is not None and before.leader >= 0 else ()
    return tuple(dict.fromkeys((*leader, *state.isr)))


def _reasons(why: Sequence[Interval], timeline: PartitionTimeline) -> str:
    words = "; ".join(i.words for i in why) or f"no broker is known to have led {timeline.name} before"
    return capital(words)


def _electable(state: State, able: tuple[int, ...]) -> str:
    """The brokers that can lead without loss: the ISR; when that is empty, its eligible leader replicas (KIP-966) that did not crash."""
    if state.isr:
        return f"Only {brokers_named(state.isr)} could be elected cleanly."
    crashed = tuple(b for b in named_eligible(state) if b not in able)
    again = (
        f" {brokers_named(crashed).capitalize()} crashed: the controller removes a crashed broker from the eligible leader replicas when it registers again."
        if crashed
        else ""
    )
    if able:
        return f"With an empty ISR {brokers_named(able)}, as eligible leader {'replica' if len(able) == 1 else 'replicas'} (KIP-966), could be elected cleanly.{again}"
    if crashed:
        return f"With an empty ISR, and no eligible leader replica (KIP-966) that did not crash, no clean election was possible.{again}"
    return "With an empty ISR, and no eligible leader replica (KIP-966) in evidence, no clean election was possible."


def _steps(name: str, able: tuple[int, ...], gone: tuple[int, ...]) -> tuple[str, ...]:
    if able:
        have = "this broker has" if len(able) == 1 else "these brokers have"
        return (f"Bring {brokers_named(able)} back; an unclean election of {name} would lose the records that only {have}.",)
    last = f" The last leader and the ISR were {brokers_named(gone)}." if gone else ""
    return (
        f"Compare the log end offsets of the replicas of {name} before an election: the replica that reaches furthest in the latest leader epoch loses least.{last}",
    )


def many_words(first: Finding, group: Sequence[Statement]) -> str:
    return f"no leader {up_to(group)}"
