"""Replicas of one broker that fell out of ISRs together and for the same cause.

    [find]
    causes   causes of absences (forensics.model.partition.absences), each with the cause of the finding
    back     true: only after the process of the broker was up again; those of one process are one finding

Here: these episodes and the values of their sentences. Not here: why a replica was missing (forensics.model.partition.absences), or
episodes in general (forensics.model.cluster.failed_replicas).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_replicas import Episode, ReplicaAbsence, episodes, outs, shown
from forensics.model.events import Event
from forensics.model.findings import Finding
from forensics.model.message import Message, values
from forensics.model.partition.absences import ABSENCES, CRASHED, GONE, LOST_SESSION, RESTARTED
from forensics.model.partition.emptied import EMPTIED, emptied_logs
from forensics.model.partition.fetch_failures import says_hindered
from forensics.model.presence.availability import KILLED
from forensics.model.rows import Rows
from forensics.model.times import contains, grouped
from forensics.thresholds import FETCH_UNANSWERED


def judges(kind: str, declaration: Mapping[str, Any]) -> Mapping[str, Any]:
    causes, back = declaration["find"]["causes"], declaration["find"].get("back", False)

    def of_cluster(cluster: Cluster, partitions: Rows) -> Iterator[Finding]:
        found = outs(partitions, *causes)
        gone = outs(partitions, CRASHED, GONE) if found and not back else []
        for episode in episodes(_back(found, partitions), _process) if back else episodes(found, lambda o: o.broker):
            first, only = episode.outs[0], episode.only
            crashed = back and first.cause != RESTARTED  # its crash has a finding of its own
            at = episode.start
            elsewhere = any(o.broker == first.broker and contains(o, at) for o in gone)  # its process had ended
            yield Finding(
                confidence="possible" if elsewhere else episode.confidence,
                topic=only.topic if only is not None else None,
                partition=only.partition if only is not None else None,
                brokers=(first.broker,),
                start=first.back if crashed else episode.start,
                end=episode.end,
                cause=causes[first.cause],
                values=values(
                    left=episode.start,
                    where=episode.shown,
                    partition_count=len(episode.names),
                    times=episode.times if episode.times > len(episode.names) else None,
                    reasons=episode.reasons(),
                    **episode.over(),
                    **(_of_restart(episode, cluster) if back else _of_running(episode, cluster)),
                ),
                evidence=episode.evidence,
            )

    return {"of_cluster": of_cluster, "READS": (ABSENCES, EMPTIED) if back else (ABSENCES,)}


def _of_running(episode: Episode, cluster: Cluster) -> dict[str, Any]:
    """What may have kept the replicas of a running broker from fetching."""
    hindered = all(says_hindered(o.clauses) for o in episode.outs)
    memory = _leader_without_memory(episode, cluster) if not hindered else None
    return {
        "fenced": all(o.clauses[-1].id == LOST_SESSION for o in episode.outs),
        "hindered": hindered,
        "alive": all(o.alive for o in episode.outs),
        "leader": memory.writer if memory is not None else None,
        "without_memory": memory.at if memory is not None else None,
    }


def _leader_without_memory(episode: Episode, cluster: Cluster) -> Event | None:
    leaders, start = {o.leader for o in episode.outs}, episode.start
    if start is None or len(leaders) > 1:
        return None
    near = cluster.between("out-of-memory", start - FETCH_UNANSWERED, start)
    return next((e for e in reversed(near) if e.writer in leaders), None)


def _back(found: Sequence[ReplicaAbsence], partitions: Rows) -> Iterator[ReplicaAbsence]:
    """Absences up to a restart, without those in which the log was created again: log-dir-emptied reports these."""
    made = grouped(((name, row["broker"]), row["at"]) for name, row in emptied_logs(partitions))
    for o in found:
        if o.back is not None and not any(contains(o, at) for at in made.get((o.name, o.broker), ())):
            yield o


def _process(o: ReplicaAbsence) -> Hashable:
    return o.broker, o.cause, o.back if o.times == 1 else None


def _of_restart(episode: Episode, cluster: Cluster) -> dict[str, Any]:
    """How the process before had ended, and how the replicas of the restarted broker came back."""
    first, left, end = episode.outs[0], episode.start, episode.end
    elected = list(dict.fromkeys(o.name for o in episode.outs if o.elected))
    copied = [name for name in episode.names if name not in elected]
    assert first.back is not None
    ended = cluster.availability(first.broker).ended_before(first.back)
    return {
        "cleanly": ended is not None and ended.clean,
        "crashed": ended.how == KILLED if ended is not None else first.cause != RESTARTED,
        "ended": ended.ending if ended is not None else None,
        "back": first.back,
        "early": left is not None and first.back < left,
        "behind": sum(o.end is None for o in episode.outs) or None,
        "elected": _shown(elected),
        "caught_up": _shown(copied),
        "seconds": (end - first.back).total_seconds() if end is not None and first.times == 1 else None,
    }


def _shown(names: Sequence[str]) -> Message | None:
    return shown(names) if names else None
