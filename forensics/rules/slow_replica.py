"""slow-replica: a replica fell out of the ISR although it went on fetching."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.cluster.failed_replicas import Episode, Telling, fell_out
from forensics.model import Finding, Many, Rule, moment
from forensics.partition.absences import ABSENCES, SLOW
from forensics.rows import Rows
from spark.cluster.facts import Cluster


def judge(cluster: Cluster, partitions: Rows) -> Iterator[Finding]:
    yield from fell_out(partitions, "slow-replica", SLOW, _told)


def _told(broker: int, episode: Episode, ending: str) -> Telling:
    return Telling(
        what="could not keep up",
        explanation=(
            f"From {moment(episode.start)} on broker {broker} was out of the ISR of {episode.shown()} {ending}. It did not stand still, but did not reach "
            f"its leaders' log end offsets for replica.lag.time.max.ms: {episode.told()}. Fetching is not catching up: a replica is caught "
            "up when it has all that its leader had at the fetch before."
        ),
        next_steps=(
            f"Look at broker {broker}'s disk and network, and at what was produced to these partitions just before {moment(episode.start)}.",
            "num.replica.fetchers and replica.fetch.max.bytes bound how fast a follower copies. A replication throttle spares a replica in sync, but not one "
            "that is out, nor one whose fetcher has only begun: take away what a reassignment left behind.",
        ),
    )


RULE = Rule(
    kind="slow-replica",
    rank=270,
    level="medium",
    meaning="A replica was taken out of the ISR because it did not catch up with its leader for replica.lag.time.max.ms although it was fetching.",
    benign=("A replica that fetched nothing: stuck-replica.", "A replica that a reassignment added: new-replica."),
    references=("KIP-16", "KIP-537"),
    cluster=judge,
    facts=(ABSENCES,),
    root="could not keep up",
    many=Many(),
)
