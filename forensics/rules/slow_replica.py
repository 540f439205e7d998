"""slow-replica: a replica fell out of the ISR although it went on fetching."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.absences import SLOW
from forensics.failed_replicas import Episode, counted, episodes, outs
from forensics.model import Finding, Rule, moment
from spark.cluster import Cluster


def judge(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    slow = (o for o in outs(partitions) if o.cause == SLOW and o.told)
    for episode in episodes(slow, lambda o: o.broker):
        yield _finding(episode.outs[0].broker, episode)


def _finding(broker: int, episode: Episode) -> Finding:
    only, names = episode.only, episode.names
    where = counted(len(names)) if only is None else names[0]
    ending = "and is not back in sync" if episode.open else f"and was in sync again at {moment(episode.end)}"
    return Finding(
        kind="slow-replica",
        severity="medium",
        confidence=episode.confidence,
        topic=only.topic if only is not None else None,
        partition=only.partition if only is not None else None,
        brokers=(broker,),
        start=episode.start,
        end=episode.end,
        cause=SLOW,
        summary=f"broker {broker} could not keep up and fell out of the ISR of {where}"
        + (f", {episode.times} times" if episode.times > 1 else ""),
        explanation=(
            f"From {moment(episode.start)} on broker {broker} went on fetching from the leaders of {episode.shown()}, but did not reach their log end "
            f"offsets for replica.lag.time.max.ms, {ending}. {episode.told()}. Fetching is not catching up: a replica is caught up when it has all that "
            "its leader had at the fetch before."
        ),
        next_steps=(
            f"Look at broker {broker}'s disk and network, and at what was produced to these partitions just before {moment(episode.start)}.",
            "num.replica.fetchers and replica.fetch.max.bytes bound how fast a follower copies; replication throttles do, too.",
        ),
        evidence=episode.evidence,
    )


RULE = Rule(
    kind="slow-replica",
    level="medium",
    meaning="A replica was taken out of the ISR because it did not catch up with its leader for replica.lag.time.max.ms although it was fetching.",
    benign=("A replica that fetched nothing: stuck-replica.", "A replica that a reassignment added: new-replica."),
    references=("KIP-16", "KIP-537"),
    cluster=judge,
)
