"""culprit-broker: one broker causes all under-replication of a period."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_replicas import Degradation, Episode, degradations, departures, of_all_brokers, shared, shown
from forensics.model.cluster.under_replication import series
from forensics.model.coverage.log_coverage import all_read
from forensics.model.findings import Finding
from forensics.model.message import Values, said, values
from forensics.model.partition.absences import ABSENCES, CRASHED, FIRST_STATE_AT, LOG_ENDS, UNDER_REPLICATED
from forensics.model.rows import Rows
from forensics.model.times import Span, overlap
from parsers.frozen import replace

OFFLINE = "offline"


def of_cluster(cluster: Cluster, partitions: Rows) -> Iterator[Finding]:
    gone = departures(partitions, cluster)
    shared_by_all = {id(episode) for group in of_all_brokers(gone, cluster) for episode in group}
    gone = [episode for episode in gone if id(episode) not in shared_by_all]
    slack = [found for found in degradations(partitions) if found.culprit is not None and not _down(found, cluster)]
    if not gone and not slack:
        return
    whole = _Whole(partitions)
    found = [_offline(episode.outs[0].broker, episode, whole, cluster) for episode in gone] + [_slack(one, whole, cluster) for one in slack]
    yield from (
        found if all_read(cluster) else (replace(f, confidence="possible") for f in found)
    )  # other brokers may have been affected, too


def _down(found: Degradation, cluster: Cluster) -> bool:
    """Whether the process of its broker may have ended when it began."""
    start, availability = found.episode.start, cluster.availability(found.culprit if found.culprit is not None else -1)
    return start is not None and availability.outage(start, timedelta()) is not None


class _Whole:
    """Data of all partitions for the comparison with the episodes, collected once."""

    def __init__(self, partitions: Rows) -> None:
        self._shared = shared(partitions)
        self._short = [
            (f"{p['topic']}-{p['partition']}", [s for s in p["under_replicated_windows"] or () if not s["planned"]])
            for p in partitions
            if p["under_replicated_windows"]
        ]
        self.count = series(partitions, leaders=False)[0]
        """Number of under-replicated partitions over time."""

    def shared(self, broker: int, until: datetime | None) -> int:
        """Number of partitions with a replica on this broker and on others, without partitions that were created later."""
        own = self._shared.get(broker, [])
        return len(own) if until is None else bisect_left(own, until)

    def short_without(self, broker: int, start: datetime | None, end: datetime | None) -> list[str]:
        """Partitions that were under-replicated in that period while this broker was in sync."""
        return [name for name, own in self._within(start, end) if own and not any(broker in s["missing"] for s in own)]

    def explained(self, found: Degradation) -> bool:
        """Whether every replica that was missing in that time was on the broker, or every partition with a missing one was led by it."""
        own = (s for _, of in self._within(found.episode.start, found.episode.end) for s in of)
        return all(s["leader"] == found.culprit if found.side == "leader" else {*s["missing"]} == {found.culprit} for s in own)

    def _within(self, start: datetime | None, end: datetime | None) -> Iterator[tuple[str, list[Any]]]:
        return ((name, [s for s in own if overlap(Span(s["start"], s["end"]), Span(start, end))]) for name, own in self._short)


def _offline(broker: int, episode: Episode, whole: _Whole, cluster: Cluster) -> Finding:
    """The finding for an offline broker: its partitions should be the under-replicated ones."""
    hit = len(set(episode.names))
    returned = cluster.availability(broker).returned(episode.start) if episode.start is not None else None
    away = returned is None and any(o.end is None and o.back is None for o in episode.outs)
    # a broker that is back may not be in sync everywhere yet
    back = (at for at in (returned.at if returned is not None else None, *(o.end or o.back for o in episode.outs)) if at is not None)
    end = None if away else episode.end or max(back, default=None)
    others = whole.short_without(broker, episode.start, end)
    return Finding(
        severity="high" if away else "medium",
        confidence=episode.confidence,
        brokers=(broker,),
        start=episode.start,
        end=end,
        cause=OFFLINE,
        message=OFFLINE,
        values=_values(episode, hit, max(whole.shared(broker, end), hit), cluster)
        + values(away=away, peak=whole.count.at(episode.start, end), others=shown(others, 3) if others else None, lacking=len(others))
        + values(unseen=not any(o.cause == CRASHED or o.clauses[-1].id == LOG_ENDS for o in episode.outs)),
        evidence=episode.evidence,
    )


def _values(episode: Episode, hit: int, held: int, cluster: Cluster) -> Values:
    """`hit` of the partitions that the broker shares with others, `held`, are affected."""
    share = said("culprit-broker/share", hit=hit if hit < held else None, held=held if held > 1 else None)
    return values(
        since=episode.start,
        where=episode.shown,
        reasons=episode.reasons(),
        share=share,
        all=hit == held,
        ended=cluster.number < 0,
        **episode.over(),
    )


def _slack(found: Degradation, whole: _Whole, cluster: Cluster) -> Finding:
    episode, only, broker = found.episode, found.episode.only, found.culprit
    assert broker is not None
    own = [o for o in episode.outs if (o.broker if found.side == "replica" else o.leader) == broker]
    held = max(whole.shared(broker, episode.end), len({o.name for o in episode.outs if o.broker == broker}))
    return Finding(
        severity=found.severity,
        confidence="certain" if found.whole and found.alive else "probable",
        brokers=(broker,),
        start=episode.start,
        end=episode.end,
        cause=found.side,
        message=found.side,
        values=_values(episode, len(episode.names), held, cluster)
        + values(
            only=only.name if only is not None else None,
            partition_count=len(episode.names),
            part=sum(o.times for o in own) if not found.whole else None,
            times=episode.times,
            missing=tuple(sorted({o.broker for o in episode.outs})),
            fluctuating=found.fluctuating,
            alive=found.alive,
            whole=found.whole and whole.explained(found),
        ),
        evidence=episode.evidence,
    )


READS = (ABSENCES, UNDER_REPLICATED, FIRST_STATE_AT)
