"""ended-cluster-verdict: a partition of a cluster that has ended lost records, or may have.

Here: the verdict on these partitions, which are in no list of partitions. Not here: the records (data_loss), or partitions of the cluster that
exists at the end, each of which has its verdict in the report.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, Statement, quote, raw
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.judgement import judgement
from forensics.proof.verdict import LOST, UNKNOWN


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    event = timeline.standing.event
    if not cluster.number or timeline.generation or event is None:
        return
    own = judgement(timeline, cluster, ())
    if own.verdict in (LOST, UNKNOWN):
        yield raw(
            kind="ended-cluster-verdict",
            severity="low",
            confidence="possible" if own.verdict == UNKNOWN else "certain",
            start=own.since,
            end=own.until,
            cause=own.verdict,
            summary=f"{timeline.name} of the cluster that ended: {_WORDS[own.verdict]}",
            explanation=f"The verdict on {timeline.name} in the cluster that ended is {own.verdict}: {own.why}. A topic of that name in a later cluster is another topic.",
            next_steps=(
                f"Search backups and old disks for the log of {timeline.name} of the cluster that ended, if its records are still needed.",
            ),
            evidence=quote(event),
        )


_WORDS = {LOST: "records were lost", UNKNOWN: "unknown whether records were lost"}


def many_words(first: Finding, group: Sequence[Statement]) -> str:
    return f"in the cluster that ended, {_WORDS[first.cause or UNKNOWN]}"
