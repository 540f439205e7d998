"""culprit-broker: one broker causes all under-replication of a period."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import datetime

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_replicas import Degradation, Episode, degradations, episodes, of_all_brokers, outs, shared
from forensics.model.cluster.under_replication import series
from forensics.model.findings import Finding, counted, moment, raw
from forensics.model.partition.absences import ABSENCES, CRASHED, GONE, SHORTS, TOLD_FROM
from forensics.model.partition.windows import ending
from forensics.model.rows import Rows

OFFLINE = "offline"


def of_cluster(cluster: Cluster, partitions: Rows) -> Iterator[Finding]:
    gone = episodes(outs(partitions, CRASHED, GONE), lambda o: o.broker)
    shared_by_all = {id(episode) for group in of_all_brokers(gone, cluster) for episode in group}
    gone = [episode for episode in gone if id(episode) not in shared_by_all]
    slack = [found for found in degradations(partitions) if found.culprit is not None]
    if not gone and not slack:
        return
    whole = _Whole(partitions)
    for episode in gone:
        yield _offline(episode.outs[0].broker, episode, whole, cluster)
    for found in slack:
        yield _slack(found, whole, cluster)


class _Whole:
    """Data of all partitions for the comparison with the episodes, collected once."""

    def __init__(self, partitions: Rows) -> None:
        self._shared = shared(partitions)
        self._short = [
            (f"{p['topic']}-{p['partition']}", [s for s in p["shorts"] or () if not s["planned"]]) for p in partitions if p["shorts"]
        ]
        self.count = series(partitions, leaders=False)[0]
        """Number of under-replicated partitions over time."""

    def shared(self, broker: int, until: datetime | None) -> int:
        """Number of partitions with a replica on this broker and on others, without partitions that were created later."""
        own = self._shared.get(broker, [])
        return len(own) if until is None else bisect_left(own, until)

    def short_without(self, broker: int, start: datetime | None, end: datetime | None) -> list[str]:
        """Partitions that were under-replicated in that period while this broker was in sync."""
        within = ((name, [s for s in own if _overlap(s["start"], s["end"], start, end)]) for name, own in self._short)
        return [name for name, own in within if own and not any(broker in s["missing"] for s in own)]


def _offline(broker: int, episode: Episode, whole: _Whole, cluster: Cluster) -> Finding:
    """The finding for an offline broker: its partitions should be the under-replicated ones."""
    hit = set(episode.names)
    held = max(whole.shared(broker, episode.end), len(hit))
    others = whole.short_without(broker, episode.start, episode.end)
    back = f"until {moment(episode.end) if not episode.open else ending(cluster)}"
    peak = whole.count.at(episode.start, episode.end)
    return raw(
        kind="culprit-broker",
        severity="high" if any(o.end is None and o.back is None for o in episode.outs) else "medium",
        confidence=episode.confidence,
        brokers=(broker,),
        start=episode.start,
        end=episode.end,
        cause=OFFLINE,
        summary=f"broker {broker} was offline: missing from the ISR of {_share(len(hit), held)} that it shares with other brokers",
        explanation=(
            f"From {moment(episode.start)} {back} broker {broker} was missing from the ISR of {episode.shown()}: {_share(len(hit), held)} "
            f"that it shared with other brokers{'' if len(hit) == held else '; in the others it was the last in-sync replica or out of the ISR for another reason, or the evidence shows no change'}. "
            f"The cluster had at most {counted(peak)} under-replicated at once in that period. {_sum(others, broker)} Cause: {episode.words()}."
        ),
        next_steps=(f"Bring broker {broker} back, or move its replicas to other brokers.",) if episode.open else (),
        evidence=episode.evidence,
    )


def _share(hit: int, held: int) -> str:
    """'2 of 5 partitions', 'all 5 partitions', 'the only partition'."""
    return "the only partition" if held == 1 else f"all {counted(held)}" if hit == held else f"{hit:,} of {counted(held)}"


def _overlap(start: datetime | None, end: datetime | None, begin: datetime | None, until: datetime | None) -> bool:
    return not (end is not None and begin is not None and end <= begin) and not (start is not None and until is not None and start >= until)


def _sum(others: Sequence[str], broker: int) -> str:
    if not others:
        return f"The counts add up: every under-replicated partition of that period lacked broker {broker}."
    shown = ", ".join(others[:3]) + (" and more" if len(others) > 3 else "")
    return f"Broker {broker} does not explain all of them: {counted(len(others))} lacked other replicas only ({shown})."


def _slack(found: Degradation, whole: _Whole, cluster: Cluster) -> Finding:
    episode, only, broker = found.episode, found.episode.only, found.culprit
    assert broker is not None
    own = [o for o in episode.outs if (o.broker if found.side == "replica" else o.leader) == broker]
    of_all = "all" if found.whole else f"{sum(o.times for o in own)} of the {episode.times} times that replicas fell out of sync"
    where = counted(len(episode.names)) if only is None else only.name
    return raw(
        kind="culprit-broker",
        severity=found.severity,
        confidence="certain" if found.whole else "probable",
        brokers=(broker,),
        start=episode.start,
        end=episode.end,
        cause=found.side,
        summary=f"broker {broker} is the cause of {of_all}{' under-replication' if found.whole else ''}: "
        + (f"it is missing from the ISR of {where}" if found.side == "replica" else f"it leads {where} with missing replicas"),
        explanation=_why(broker, found, of_all, whole, cluster),
        next_steps=(
            f"Check broker {broker}: GC log, disk latency and errors, network, CPU, and whether its load is above that of the others.",
            f"Compare the metrics of broker {broker} with those of the other brokers at the same time; they were not affected.",
        ),
        evidence=episode.evidence,
    )


def _why(broker: int, found: Degradation, of_all: str, whole: _Whole, cluster: Cluster) -> str:
    episode = found.episode
    begin = f"From {moment(episode.start)} to {episode.until(cluster)} replicas fell out of sync {episode.times} times"
    manner = "The count of under-replicated partitions went up and down" if found.fluctuating else "The count stayed up"
    if found.side == "replica":
        held = max(whole.shared(broker, episode.end), len({o.name for o in episode.outs if o.broker == broker}))
        of_them = "Every time" if found.whole else f"In {of_all}"
        common = (
            f"{of_them} the missing replica was on broker {broker}, in {_share(len(episode.names), held)} that it shares with other brokers"
        )
    else:
        missing = sorted({o.broker for o in episode.outs})
        common = f"The partitions are led by broker {broker}, and brokers {missing} were missing from their ISRs; these brokers keep up with other leaders"
    return f"{begin}, while their brokers were running, in {episode.shown()}. {common}. {manner}: this is a performance problem, not an offline broker. Cause: {episode.words()}."


READS = (ABSENCES, SHORTS, TOLD_FROM)
