"""stuck-replica: a replica fell out of the ISR because it fetched nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.absences import STUCK
from forensics.failed_replicas import Episode, counted, episodes, outs
from forensics.model import Finding, Rule, moment
from spark.cluster import Cluster


def judge(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    stuck = (o for o in outs(partitions) if o.cause == STUCK and o.told)
    for episode in episodes(stuck, lambda o: o.broker):
        yield _finding(episode.outs[0].broker, episode)


def _finding(broker: int, episode: Episode) -> Finding:
    only, names = episode.only, episode.names
    where = counted(len(names)) if only is None else names[0]
    ending = "and is not back in sync" if episode.open else f"and was in sync again at {moment(episode.end)}"
    return Finding(
        kind="stuck-replica",
        severity="medium",
        confidence=episode.confidence,
        topic=only.topic if only is not None else None,
        partition=only.partition if only is not None else None,
        brokers=(broker,),
        start=episode.start,
        end=episode.end,
        cause=STUCK,
        summary=f"broker {broker} stopped fetching and fell out of the ISR of {where}"
        + (f", {episode.times} times" if episode.times > 1 else ""),
        explanation=(
            f"From {moment(episode.start)} on broker {broker} fetched nothing for replica.lag.time.max.ms from the leaders of {episode.shown()}, {ending}. "
            f"{episode.told()}. It stood still rather than being slow: a long pause, a frozen machine or disk, or a cut network."
        ),
        next_steps=(
            f"Look at broker {broker}'s GC log, at its machine (steal time, swap, disk) and at its network just before {moment(episode.start)}.",
        ),
        evidence=episode.evidence,
    )


RULE = Rule(
    kind="stuck-replica",
    level="medium",
    meaning="A replica was taken out of the ISR because it fetched nothing for replica.lag.time.max.ms: a pause, a frozen process, a cut network.",
    benign=(
        "A broker that was shut down or died: told by controlled-shutdown, restarted-replica and broker-crash.",
        "A replica that went on fetching: slow-replica.",
        "A replica that a reassignment added: new-replica.",
    ),
    references=("KIP-16", "KIP-537"),
    cluster=judge,
)
