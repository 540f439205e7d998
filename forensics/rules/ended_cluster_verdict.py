"""ended-cluster-verdict: a partition of a cluster that has ended lost records, or may have.

Here: the verdict on these partitions, which are in no list of partitions. Not here: the records (data_loss), or partitions of the cluster
that exists at the end, each of which has its verdict in the report.
"""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, quote
from forensics.model.message import said, values
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.judgement import judgement
from forensics.proof.verdict import LOST, UNKNOWN


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    event = timeline.standing.event
    if not cluster.number or timeline.generation or event is None:
        return
    own = judgement(timeline, cluster, ())
    if own.verdict in (LOST, UNKNOWN):
        yield Finding(
            confidence="possible" if own.verdict == UNKNOWN else "certain",
            start=own.since,
            end=own.until,
            cause=own.verdict,
            values=values(verdict=own.verdict, found=said(f"ended-cluster-verdict/{own.verdict}"), why=own.why),
            evidence=quote(event),
        )
