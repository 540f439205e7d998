"""cluster-wide-degradation: replicas of several brokers fall out of sync with several leaders at the same time, or all brokers were
offline one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_replicas import SHOWN, Degradation, Episode, degradations, departures, of_all_brokers
from forensics.model.cluster.under_replication import series
from forensics.model.findings import Finding
from forensics.model.message import Values, said, values
from forensics.model.partition.absences import ABSENCES, NOT_STATED, SLOW, STUCK, UNDER_REPLICATED
from forensics.model.rows import Rows
from forensics.thresholds import WIDE_SHARE


def of_cluster(cluster: Cluster, partitions: Rows) -> Iterator[Finding]:
    yield from (_offline(group, cluster) for group in of_all_brokers(departures(partitions, cluster), cluster))
    for found in degradations(partitions):
        leaders = {o.leader for o in found.episode.outs if o.leader >= 0}
        wide = len(found.episode.names) >= WIDE_SHARE * len(partitions)
        if found.culprit is None and len(leaders) > 1 and wide and not _changed(found.episode, leaders, cluster):
            yield _finding(found, sorted(leaders), partitions, cluster)


def _changed(episode: Episode, leaders: Iterable[int], cluster: Cluster) -> bool:
    """One of the brokers was down during the episode."""
    brokers, start = {*leaders, *(o.broker for o in episode.outs)}, episode.start
    return start is not None and any(cluster.availability(b).away(start, episode.end) for b in brokers)


def _offline(group: Sequence[Episode], cluster: Cluster) -> Finding:
    whole = Episode(tuple(o for e in group for o in e.outs))
    spans = (
        said("cluster-wide-degradation/span", broker=e.outs[0].broker, start=e.start, **e.over(), ended=cluster.number < 0) for e in group
    )
    return Finding(
        severity="high" if any(o.end is None and o.back is None for o in whole.outs) else "medium",
        confidence=whole.confidence,
        brokers=tuple(sorted({o.broker for o in whole.outs})),
        start=whole.start,
        end=whole.end,
        cause="offline",
        message="offline",
        values=_values(whole, cluster) + values(spans=tuple(islice(spans, SHOWN)), more=len(group) > SHOWN),
        evidence=whole.evidence,
    )


def _values(episode: Episode, cluster: Cluster) -> Values:
    return values(
        partition_count=len(episode.names), where=episode.shown, reasons=episode.reasons(), ended=cluster.number < 0, **episode.over()
    )


def _finding(found: Degradation, leaders: Sequence[int], partitions: Rows, cluster: Cluster) -> Finding:
    episode = found.episode
    causes = {o.cause for o in episode.outs}
    return Finding(
        severity=found.severity,
        confidence="probable",
        brokers=tuple(sorted({o.broker for o in episode.outs})),
        start=episode.start,
        end=episode.end,
        values=_values(episode, cluster)
        + values(
            since=episode.start,
            times=episode.times,
            leaders=tuple(leaders),
            peak=series(partitions, leaders=False)[0].at(episode.start, episode.end),
            fluctuating=found.fluctuating,
            alive=found.alive,
            some_known=NOT_STATED in causes,
            only_slow=causes - {NOT_STATED} == {SLOW},
            only_stuck=causes - {NOT_STATED} == {STUCK},
        ),
        evidence=episode.evidence,
    )


READS = (ABSENCES, UNDER_REPLICATED)
