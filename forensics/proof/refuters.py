"""What would contradict a finding, asked before it is made. Each rule names its refuters in forensics/rules/KIND.toml, or says why it needs
none.

Here: the refuters by name; each returns two statements that cannot both be true, or None. Not here: which kind has which, what becomes of a
finding that is refuted (forensics.incidents.judging), or statements that contradict each other without a finding (contradictions).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import denied_error
from forensics.model.events import Event
from forensics.model.findings import Finding
from forensics.model.message import said
from forensics.model.partition.replicas import Contradiction
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.contradictions import contradictions
from parsers.kinds import ON_DISK


def statements(finding: Finding, timeline: PartitionTimeline, cluster: Cluster) -> Contradiction | None:
    """A line or a file of a log directory that the finding quotes contradicts another statement."""
    known = [c for c in contradictions(timeline, cluster) if c.about != "witness"]
    quoted = {(e.source, e.line) for e in finding.evidence} if known else set()
    directories = {_directory(source) for source, line in quoted if line is None}

    def is_quoted(e: Event) -> bool:
        return (e.source, e.line) in quoted or (e.event in ON_DISK and _directory(e.source) in directories)

    return next((c for c in known if is_quoted(c.one) or is_quoted(c.other)), None)


def _directory(path: str) -> str:
    return path.rpartition("/")[0]


def high_watermarks(finding: Finding, timeline: PartitionTimeline, cluster: Cluster) -> Contradiction | None:
    """An in-sync follower has a higher high watermark than the leader, from which it got its own."""
    leader = finding.brokers[0]
    mark = timeline.collected_logs[leader].high_watermark
    for broker in sorted({*timeline.standing.isr} & timeline.collected_logs.keys() - {leader}):
        other = timeline.collected_logs[broker].high_watermark
        if mark is not None and other is not None and (mark.offset or 0) < (other.offset or 0):
            return Contradiction("high-watermark", mark, mark.offset or 0, other, other.offset or 0)
    return None


def records(finding: Finding, timeline: PartitionTimeline, cluster: Cluster) -> Contradiction | None:
    """The log that the last leader continued after the loss has the records from before it."""
    leader, epoch = timeline.standing.leader, finding.leader_epoch
    disk = timeline.collected_logs.get(leader) if leader is not None else None
    term = next((t for t in timeline.terms if t.epoch == epoch and t.evidence), None)
    if disk is None or epoch is None or term is None or all(b["leader_epoch"] < epoch for b in disk.batches()):
        return None
    for start, segment, b in ((r.start, s, b) for r in finding.offsets for s in disk.segments for b in s.batches or ()):
        if b["base_offset"] <= start <= b["last_offset"] and 0 <= b["leader_epoch"] < epoch:
            kept = said("contradiction/kept", offset=start, epoch=b["leader_epoch"])
            return Contradiction("records", term.evidence[0], said("contradiction/lost", offset=start, epoch=epoch), segment, kept)
    return None


OfPartition = Callable[[Finding, PartitionTimeline, Cluster], Contradiction | None]
OF_PARTITION: Mapping[str, OfPartition] = {"statements": statements, "high-watermarks": high_watermarks, "records": records}


def controller_epochs(finding: Finding, cluster: Cluster) -> Contradiction | None:
    """The controller epochs of the cluster that began continue those of the cluster that ended, as within one cluster."""
    before = next((c for c in cluster.whole if c.number == cluster.number - 1), None)
    if before is None or len({cluster.id, before.id} - {None}) > 1:
        return None
    then, now = ([e for e in c.events if e.controller_epoch is not None and e.line is not None] for c in (before, cluster))
    last, first = (of(own, key=lambda e: e.controller_epoch or 0, default=None) for of, own in ((max, then), (min, now)))
    if last is None or first is None or (first.controller_epoch or 0) <= (last.controller_epoch or 0):
        return None
    one, other = (said("contradiction/controller-epoch-of", epoch=e.controller_epoch) for e in (last, first))
    return Contradiction("controller-epoch", last, one, first, other)


def start_times(finding: Finding, cluster: Cluster) -> Contradiction | None:
    """A process printed the time in UTC by the clock that is said to be wrong, and shows no such error."""
    clock = cluster.nodes[finding.brokers[0]].clock
    denied = denied_error(finding.brokers[0], cluster) if finding.message == "found" and clock.evidence else None
    if denied is None:
        return None
    first, second = (said("contradiction/clock-of", seconds=ms / 1000) for ms in (clock.skew_ms, denied[1]))
    return Contradiction("start-time", clock.evidence[0], first, denied[0], second)


OfCluster = Callable[[Finding, Cluster], Contradiction | None]
OF_CLUSTER: Mapping[str, OfCluster] = {"controller-epochs": controller_epochs, "start-times": start_times}


def refuted(names: tuple[str, ...], finding: Finding, timeline: PartitionTimeline | None, cluster: Cluster) -> Contradiction | None:
    """The first contradiction that the refuters of these names find."""
    of_partition = (OF_PARTITION[name](finding, timeline, cluster) for name in names if name in OF_PARTITION and timeline is not None)
    of_cluster = (OF_CLUSTER[name](finding, cluster) for name in names if name in OF_CLUSTER)
    return next((found for asked in (of_partition, of_cluster) for found in asked if found is not None), None)
