"""stuck-replica: a replica fell out of the ISR because it fetched nothing, or its broker was fenced while it was stuck."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_replicas import Episode, Telling, fell_out
from forensics.model.findings import Aggregation, Finding, Rule, moment
from forensics.model.partition.absences import ABSENCES, LOST_SESSION, STUCK
from forensics.model.rows import Rows


def detect(cluster: Cluster, partitions: Rows) -> Iterator[Finding]:
    yield from fell_out(partitions, "stuck-replica", STUCK, _words)


def _words(broker: int, episode: Episode, ending: str) -> Telling:
    fenced = all(o.words.endswith(LOST_SESSION) for o in episode.outs)
    return Telling(
        what="lost its session" if fenced else "stopped fetching",
        explanation=(
            f"From {moment(episode.start)} on broker {broker} was out of the ISR of {episode.shown()} {ending}: {episode.words()}. "
            "It was stuck, not slow. Possible causes: a long pause, a frozen machine or disk, or a network failure."
        ),
        next_steps=(
            f"Check the GC log, the machine (steal time, swap, disk) and the network of broker {broker} just before {moment(episode.start)}.",
        ),
    )


RULE = Rule(
    kind="stuck-replica",
    rank=260,
    level="medium",
    meaning="A replica was removed from the ISR because it fetched nothing for replica.lag.time.max.ms, or its broker lost its session while it was running: a pause, a frozen process, a network failure.",
    benign=(
        "A broker that was shut down or crashed: reported as controlled-shutdown, restarted-replica and broker-crash.",
        "A replica that continued fetching: slow-replica.",
        "A replica that a reassignment added: new-replica.",
    ),
    references=("KIP-16", "KIP-537"),
    cluster=detect,
    facts=(ABSENCES,),
    root="was stuck",
    many=Aggregation(),
)
