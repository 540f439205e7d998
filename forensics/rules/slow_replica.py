"""slow-replica: a replica fell out of the ISR although it continued fetching."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_replicas import Episode, Telling, fell_out
from forensics.model.findings import Finding, moment
from forensics.model.partition.absences import ABSENCES, SLOW
from forensics.model.rows import Rows


def of_cluster(cluster: Cluster, partitions: Rows) -> Iterator[Finding]:
    yield from fell_out(partitions, "slow-replica", SLOW, _words)


def _words(broker: int, episode: Episode, ending: str) -> Telling:
    return Telling(
        what="could not keep up",
        explanation=(
            f"From {moment(episode.start)} on broker {broker} was out of the ISR of {episode.shown()} {ending}. It was not stuck, but did not reach "
            f"the log end offsets of its leaders for replica.lag.time.max.ms: {episode.words()}. A replica is caught up when it has all records that "
            "its leader had at the previous fetch."
        ),
        next_steps=(
            f"Check the disk and the network of broker {broker}, and the rate of produced bytes in its partitions just before {moment(episode.start)}.",
            f"Check the limits of the copying speed of broker {broker}: num.replica.fetchers, replica.fetch.max.bytes, and replication throttles. Remove throttles "
            "that a reassignment left behind: they do not limit in-sync replicas, but replicas out of sync and new fetchers.",
        ),
    )


READS = (ABSENCES,)
