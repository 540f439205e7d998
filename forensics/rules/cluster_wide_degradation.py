"""cluster-wide-degradation: replicas of several brokers fall out of sync with several leaders at the same time, or all brokers were
offline one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_replicas import SHOWN, Degradation, Episode, degradations, episodes, of_all_brokers, outs
from forensics.model.cluster.under_replication import series
from forensics.model.findings import Finding, brokers_named, capital, counted, moment, raw
from forensics.model.partition.absences import ABSENCES, CRASHED, GONE, NOT_STATED, SHORTS, SLOW, STUCK
from forensics.model.rows import Rows
from forensics.thresholds import WIDE_SHARE


def of_cluster(cluster: Cluster, partitions: Rows) -> Iterator[Finding]:
    for group in of_all_brokers(episodes(outs(partitions, CRASHED, GONE), lambda o: o.broker), cluster):
        yield _offline(group, cluster)
    for found in degradations(partitions):
        leaders = {o.leader for o in found.episode.outs if o.leader >= 0}
        wide = len(found.episode.names) >= WIDE_SHARE * len(partitions)
        if found.culprit is None and len(leaders) > 1 and wide and not _changed(found.episode, leaders, cluster):
            yield _finding(found, sorted(leaders), partitions, cluster)


def _changed(episode: Episode, leaders: Iterable[int], cluster: Cluster) -> bool:
    """One of the brokers was down during the episode."""
    outages = (a for b in {*leaders, *(o.broker for o in episode.outs)} for a in cluster.availability(b).outages)
    return episode.start is not None and any(a.overlaps(episode.start, episode.end) for a in outages)


def _offline(group: Sequence[Episode], cluster: Cluster) -> Finding:
    whole = Episode(tuple(o for e in group for o in e.outs))
    brokers = tuple(sorted({o.broker for o in whole.outs}))
    spans = "; ".join(f"broker {e.outs[0].broker} from {moment(e.start)} to {e.until(cluster)}" for e in group[:SHOWN])
    return raw(
        kind="cluster-wide-degradation",
        severity="high" if any(o.end is None and o.back is None for o in whole.outs) else "medium",
        confidence=whole.confidence,
        brokers=brokers,
        start=whole.start,
        end=whole.end,
        cause="offline",
        summary=f"all {len(brokers)} brokers were offline, at the same time or before the others were back: missing from the ISR of "
        f"{counted(len(whole.names))}",
        explanation=(
            f"Missing from the ISR of {whole.shown()}: {spans}{'; and more' if len(group) > SHOWN else ''}. Every broker of the cluster is among "
            f"them, so none of them alone is the cause. {capital(whole.words())}."
        ),
        next_steps=(
            "Look for what all brokers share: power, a host or its memory, storage, the network, or a rollout that restarted them.",
        ),
        evidence=whole.evidence,
    )


def _finding(found: Degradation, leaders: Sequence[int], partitions: Rows, cluster: Cluster) -> Finding:
    episode = found.episode
    missing = sorted({o.broker for o in episode.outs})
    peak = series(partitions, leaders=False)[0].at(episode.start, episode.end)
    manner = "went up and down" if found.fluctuating else "stayed up"
    return raw(
        kind="cluster-wide-degradation",
        severity=found.severity,
        confidence="probable",
        brokers=tuple(missing),
        start=episode.start,
        end=episode.end,
        summary=f"replicas of {brokers_named(missing)} fell out of sync {episode.times} times in {counted(len(episode.names))} while their brokers were running",
        explanation=(
            f"From {moment(episode.start)} to {episode.until(cluster)} replicas of {brokers_named(missing)} fell out of the ISR of {episode.shown()}, led by "
            f"{brokers_named(leaders)}, while all of these brokers were running; the cluster had at most {counted(peak)} under-replicated at once, and the count {manner}. "
            f"No single broker leads all of them or is missing from all of them, so a shared cause is likely: the network, the storage, or too much load "
            f"for the cluster. {_manner(episode)}{capital(episode.words())}."
        ),
        next_steps=(
            f"Check the resources that all brokers share just before {moment(episode.start)}: network, storage, hypervisor, and the rate of produced bytes.",
            f"Look for a reassignment or a new consumer of old data around {moment(episode.start)}: both compete with replication for disk and network.",
        ),
        evidence=episode.evidence,
    )


def _manner(episode: Episode) -> str:
    """Fetching too slowly and fetching nothing have different causes."""
    causes = {o.cause for o in episode.outs}
    who = "All of them" if NOT_STATED not in causes else "All replicas whose cause is known"
    if causes - {NOT_STATED} == {SLOW}:
        return f"{who} continued fetching: they were too slow, but not stuck or cut off. "
    if causes - {NOT_STATED} == {STUCK}:
        return f"{who} fetched nothing for a time: pauses, frozen storage, or a network failure. "
    return ""


READS = (ABSENCES, SHORTS)
