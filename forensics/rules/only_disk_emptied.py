"""only-disk-emptied: a log directory that had been in use was new again at a start, and no other broker had its records.

Here: directories that were new twice. Not here: logs that were created again while other replicas were in sync (log_dir_emptied).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import values
from forensics.model.partition.emptied import EMPTIED, emptied_logs, new_again
from forensics.model.presence.process_errors import who
from forensics.model.rows import Rows
from forensics.model.times import is_later
from forensics.thresholds import LONGEST_START, NAMED


def of_cluster(cluster: Cluster, partitions: Rows) -> Iterator[Finding]:
    emptied = [(row["broker"], row["at"]) for _, row in emptied_logs(partitions)]
    for before, again in new_again(cluster):
        node, directory = again.writer, again.directory
        assert node is not None and directory is not None
        if _used(node, before, again, cluster) and not any(b == node and _soon(again, at) for b, at in emptied):
            names = _only_there(node, again, partitions)
            if names or [n.id for n in cluster.nodes.values() if n.broker] == [node]:
                yield _finding(node, directory, before, again, names, cluster)


def _used(node: int, before: Event, again: Event, cluster: Cluster) -> bool:
    """Whether a process was up after the first line, which had written the file then, and the second is of another process."""
    ups = (run.up.at for run in cluster.availability(node).runs if run.up is not None)
    return any(at is not None and before.at is not None and again.at is not None and before.at <= at < again.at for at in ups)


def _soon(again: Event, at: datetime | None) -> bool:
    """Whether a log was created again by the process of this start."""
    return at is not None and again.at is not None and timedelta(0) <= at - again.at <= LONGEST_START


def _only_there(node: int, again: Event, partitions: Rows) -> list[str]:
    """The partitions with no other replica in the ISR, whose last sign is of the time before."""
    old = (p for p in partitions if list(p["isr"] or ()) == [node] and is_later(again.at, p["until"]))
    return sorted(f"{p['topic']}-{p['partition']}" for p in old)


def _finding(node: int, directory: str, before: Event, again: Event, names: Sequence[str], cluster: Cluster) -> Finding:
    return Finding(
        confidence="certain",
        brokers=(node,),
        start=before.at,
        start_latest=again.at,
        end=again.at,
        values=values(
            who=who(node, cluster),
            directory=directory,
            begun=again.at,
            names=tuple(names[:NAMED]),
            more=len(names) - NAMED if len(names) > NAMED else None,
        ),
        evidence=quote(before, again),
    )


READS = (EMPTIED,)
