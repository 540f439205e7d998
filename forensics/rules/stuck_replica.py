"""stuck-replica: a replica fell out of the ISR because it fetched nothing, or its broker was fenced while it was stuck."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_replicas import Episode, Telling, fell_out
from forensics.model.events import Event
from forensics.model.findings import Finding, moment
from forensics.model.partition.absences import ABSENCES, LOST_SESSION, STUCK
from forensics.model.partition.fetch_failures import says_hindered
from forensics.model.rows import Rows

_UNANSWERED = timedelta(minutes=1)
"""A follower waits for an answer for replica.socket.timeout.ms (30 s), and leaves the ISR meanwhile."""


def of_cluster(cluster: Cluster, partitions: Rows) -> Iterator[Finding]:
    def tell(broker: int, episode: Episode, ending: str) -> Telling:
        fenced = all(o.words.endswith(LOST_SESSION) for o in episode.outs)
        why, step = _why(broker, episode, cluster)
        return Telling(
            what="lost its session" if fenced else "stopped fetching",
            explanation=f"From {moment(episode.start)} on broker {broker} was out of the ISR of {episode.shown()} {ending}: {episode.words()}. {why}",
            next_steps=(step,),
        )

    yield from fell_out(partitions, "stuck-replica", STUCK, tell)


def _why(broker: int, episode: Episode, cluster: Cluster) -> tuple[str, str]:
    """A sentence about the cause, and the next step."""
    start = moment(episode.start)
    if all(says_hindered(o.words) for o in episode.outs):
        return "It was stuck, not slow.", f"Search server.log of broker {broker} for the error of its replica fetcher just before {start}."
    if (memory := _leader_without_memory(episode, cluster)) is not None:
        leader = f"broker {memory.writer}"
        return (
            f"It was stuck, not slow. Its leader, {leader}, ran out of memory at {moment(memory.at)}: probably it did not answer.",
            f"Search server.log of {leader} for OutOfMemoryError before {start}, and give it the memory that is missing, before you look at broker {broker}.",
        )
    return (
        "It was stuck, not slow. Possible causes: a long pause, a frozen machine or disk, or a network failure.",
        f"Check the GC log, the machine (steal time, swap, disk) and the network of broker {broker} just before {start}.",
    )


def _leader_without_memory(episode: Episode, cluster: Cluster) -> Event | None:
    leaders, start = {o.leader for o in episode.outs}, episode.start
    if start is None or len(leaders) > 1:
        return None
    near = cluster.between("out-of-memory", start - _UNANSWERED, start)
    return next((e for e in reversed(near) if e.writer in leaders), None)


READS = (ABSENCES,)
