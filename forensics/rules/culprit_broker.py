"""culprit-broker: one broker is behind all the under-replication of a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from forensics.cluster.failed_replicas import Degradation, Episode, degradations, episodes, outs, shared
from forensics.cluster.under_replication import series
from forensics.model import Finding, Many, Rule, counted, moment
from forensics.partition.absences import ABSENCES, CRASHED, GONE, SHORTS, TOLD_FROM
from forensics.partition.windows import ending
from spark.cluster.facts import Cluster

OFFLINE = "offline"


def judge(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    gone = (o for o in outs(partitions) if o.cause in (CRASHED, GONE) and o.told)
    for episode in episodes(gone, lambda o: o.broker):
        yield _offline(episode.outs[0].broker, episode, partitions, cluster)
    for found in degradations(partitions):
        if found.culprit is not None:
            yield _slack(found.culprit, found, partitions, cluster)


def _offline(broker: int, episode: Episode, partitions: Sequence[Mapping[str, Any]], cluster: Cluster) -> Finding:
    """A broker that is gone: what is under-replicated ought to be what it holds."""
    hit = set(episode.names)
    held = max(shared(broker, episode.end, partitions), len(hit))
    others = _short_without(broker, episode.start, episode.end, partitions)
    back = f"until {moment(episode.end)}" if not episode.open else f"and was not back in sync when {ending(cluster)}"
    peak = series(partitions)[0].at(episode.start, episode.end)
    return Finding(
        kind="culprit-broker",
        severity="high" if any(o.end is None and o.back is None for o in episode.outs) else "medium",
        confidence=episode.confidence,
        brokers=(broker,),
        start=episode.start,
        end=episode.end,
        cause=OFFLINE,
        summary=f"broker {broker} was offline: missing from the ISR of {len(hit)} of the {counted(held)} it shares with others",
        explanation=(
            f"From {moment(episode.start)} {back} broker {broker} was missing from the ISR of {episode.shown()}: {len(hit)} of the {counted(held)} "
            f"that it shared with other brokers then{'' if len(hit) == held else '; where it stayed in the ISR it was the last in sync, or nothing tells'}. "
            f"The cluster had at most {counted(peak)} under-replicated at once in that time. {_sum(others, broker)} Why: {episode.told()}."
        ),
        next_steps=(f"Bring broker {broker} back, or move its replicas to other brokers.",) if episode.open else (),
        evidence=episode.evidence,
    )


def _short_without(broker: int, start: datetime | None, end: datetime | None, partitions: Sequence[Mapping[str, Any]]) -> list[str]:
    """Partitions that were under-replicated in that time and never lacked the broker."""
    found = []
    for row in partitions:
        within = [s for s in row.get("shorts") or () if not s["planned"] and _overlap(s["start"], s["end"], start, end)]
        if within and not any(broker in s["missing"] for s in within):
            found.append(f"{row['topic']}-{row['partition']}")
    return found


def _overlap(start: datetime | None, end: datetime | None, begin: datetime | None, until: datetime | None) -> bool:
    return not (end is not None and begin is not None and end <= begin) and not (start is not None and until is not None and start >= until)


def _sum(others: Sequence[str], broker: int) -> str:
    if not others:
        return f"The counts add up: every partition that was under-replicated then lacked broker {broker}."
    shown = ", ".join(others[:3]) + (" and more" if len(others) > 3 else "")
    return f"Not all of it is this broker's: {counted(len(others))} lacked other replicas only ({shown})."


def _slack(broker: int, found: Degradation, partitions: Sequence[Mapping[str, Any]], cluster: Cluster) -> Finding:
    episode, only = found.episode, found.episode.only
    own = [o for o in episode.outs if (o.broker if found.side == "replica" else o.leader) == broker]
    of_all = "all" if found.whole else f"{sum(o.times for o in own)} of the {episode.times} times that replicas fell out of sync"
    where = counted(len(episode.names)) if only is None else only.name
    return Finding(
        kind="culprit-broker",
        severity=found.severity,
        confidence="certain" if found.whole else "probable",
        brokers=(broker,),
        start=episode.start,
        end=episode.end,
        cause=found.side,
        summary=f"broker {broker} is behind {of_all}{' under-replication' if found.whole else ''}: "
        + (f"it is the one missing from the ISR of {where}" if found.side == "replica" else f"it leads {where} that are short of replicas"),
        explanation=_why(broker, found, of_all, partitions, cluster),
        next_steps=(
            f"Look at broker {broker}: GC log, disk latency and errors, network, CPU, and whether it carries more than the others.",
            "Compare with the other brokers' metrics of the same time; they were not hit.",
        ),
        evidence=episode.evidence,
    )


def _why(broker: int, found: Degradation, of_all: str, partitions: Sequence[Mapping[str, Any]], cluster: Cluster) -> str:
    episode = found.episode
    begin = f"From {moment(episode.start)} to {episode.until(cluster)} replicas fell out of sync {episode.times} times"
    manner = "The count of under-replicated partitions went up and down" if found.fluctuating else "The count stayed up"
    if found.side == "replica":
        held = max(shared(broker, episode.end, partitions), len({o.name for o in episode.outs if o.broker == broker}))
        of_them = "Every time" if found.whole else f"In {of_all}"
        common = (
            f"{of_them} it was broker {broker} that was missing, from {len(episode.names)} of the {counted(held)} it shares with others"
        )
    else:
        missing = sorted({o.broker for o in episode.outs})
        common = (
            f"The partitions are led by broker {broker}, and brokers {missing} were missing from them, which keep up with other leaders"
        )
    return f"{begin}, while their brokers lived, in {episode.shown()}. {common}. {manner}: that is performance, not a broker that is gone. Why: {episode.told()}."


RULE = Rule(
    kind="culprit-broker",
    rank=240,
    level="high",
    meaning="All under-replication of a time has one broker in common: it is offline (then the counts add up to its partitions), the one missing from every ISR, or the one leader.",
    benign=(
        "Brokers that are shut down in order, one after the other.",
        "Replicas that a reassignment adds or takes away.",
        "A broker that was gone and came back (medium).",
    ),
    references=("KIP-16",),
    cluster=judge,
    facts=(ABSENCES, SHORTS, TOLD_FROM),
    many=Many(),
    root="was slow or cut off while it lived",
    root_causes=frozenset({"replica", "leader"}),
)
