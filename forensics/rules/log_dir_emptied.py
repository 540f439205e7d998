"""log-dir-emptied: a broker came back without logs that it had: a log directory was emptied, or a disk or the machine was replaced.

Here: the broker, the time and the partitions. Not here: the records that were lost with the logs (data_loss), replicas that were still in
the ISR with an empty log (empty_replica_joins), and log directories that failed (log_dir_failure).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Evidence, Finding, quote
from forensics.model.message import values
from forensics.model.partition.absences import ABSENCES
from forensics.model.partition.emptied import EMPTIED, emptied_logs
from forensics.model.partition.isr_removal import session_time
from forensics.model.rows import Rows
from forensics.model.times import Span, contains, grouped
from forensics.thresholds import MIN_SKEW_MS, NAMED

Made = tuple[str, Mapping[str, Any]]
"""Name of a partition, and a row of its fact EMPTIED."""
REMOVED, REPLACED = "removed", "replaced"


def of_cluster(cluster: Cluster, partitions: Rows) -> Iterator[Finding]:
    made = grouped(((row["broker"], row["process_start"]), (name, row)) for name, row in emptied_logs(partitions))
    yield from (_finding(broker, begun, own, cluster, partitions) for (broker, begun), own in sorted(made.items()))


def _finding(broker: int, begun: datetime, own: Sequence[Made], cluster: Cluster, partitions: Rows) -> Finding:
    names, sole = sorted({name for name, _ in own}), sorted({name for name, row in own if row["only_in_sync"]})
    missing = _missing(broker, begun, cluster)
    since, latest = _when(broker, begun, own, missing, cluster)
    out, end = _in_sync_again(broker, begun, own, partitions)
    end = max(end, since or end) if end is not None else None
    in_isr = any(row["in_sync_at"] is not None for _, row in own)
    alone = not in_isr and [n.id for n in cluster.nodes.values() if n.broker] == [broker]
    first = min((run.begin_at or datetime.min for run in cluster.availability(broker).runs), default=None)
    wrong = any(abs(node.clock.skew_ms) >= MIN_SKEW_MS for node in cluster.nodes.values())  # a corrected time may be before or after
    return Finding(
        severity="high" if sole or alone else "medium",
        confidence="possible" if wrong else "certain" if in_isr and any(row["had_log"] for _, row in own) else "probable",
        brokers=(broker,),
        start=since,
        start_latest=latest,
        end=end,
        cause=REMOVED if missing else REPLACED,
        values=values(
            logs=len(names),
            names=tuple(names[:NAMED]),
            more=len(names) - NAMED if len(names) > NAMED else None,
            removed=bool(missing),
            begun=begun,
            back=end if out else None,
            first_process=not missing and first == begun,
            unexplained=not missing and first != begun,
            sole=tuple(sole[:NAMED]),
            sole_more=len(sole) - NAMED if len(sole) > NAMED else None,
            in_isr=in_isr,
            alone=alone,
            copied=in_isr and len(sole) < len(names),
        ),
        evidence=tuple(dict.fromkeys((*quote(missing[:1]), *(Evidence(**e) for _, row in own[:3] for e in row["evidence"])))),
    )


def _missing(broker: int, begun: datetime, cluster: Cluster) -> list[Event]:
    """The lines of the process before that a file of a log directory was missing."""
    begins = (run.begin_at or datetime.min for run in cluster.availability(broker).runs)
    before = max((at for at in begins if at < begun), default=begun)
    missing = (e for e in cluster.of("log-file-refused") if e.writer == broker and e.reason == "missing")
    return [e for e in missing if e.at is not None and before <= e.at < begun]


def _when(
    broker: int, begun: datetime, own: Sequence[Made], missing: Sequence[Event], cluster: Cluster
) -> tuple[datetime | None, datetime | None]:
    """The earliest and the latest time: between the last sign of the process that had the logs and the next process, or before a running
    process missed a file."""
    in_sync = [row["in_sync_at"] for _, row in own if row["in_sync_at"] is not None]
    if missing:
        return max((at for at in in_sync if at <= missing[0].at), default=None), missing[0].at
    ended = cluster.availability(broker).ended_before(begun)
    # a clean stop writes to the log directories until its end, and a broker that has ended is in the ISR until others notice
    last = ended.run.end_at if ended is not None and ended.clean and ended.run is not None else ended.since if ended is not None else None
    since = max((at for at in (last, *(at - session_time([broker], at, cluster) for at in in_sync)) if at is not None), default=None)
    return since, max(begun, since or begun)  # its clock may have been set back before the next process began


def _in_sync_again(broker: int, begun: datetime, own: Sequence[Made], partitions: Rows) -> tuple[bool, datetime | None]:
    """Whether the broker was out of an ISR, and when it had new logs and was in sync; None if it is not in sync in all of them."""
    names = {name for name, _ in own}
    absent = [
        a
        for p in partitions
        if f"{p['topic']}-{p['partition']}" in names
        for a in p["absences"] or ()
        if a["broker"] == broker and contains(Span(a["start"], a["end"]), begun)
    ]
    ends = [*(a["end"] for a in absent), *(row["at"] for _, row in own)]
    return bool(absent), None if None in ends else max(ends)


READS = (EMPTIED, ABSENCES)
