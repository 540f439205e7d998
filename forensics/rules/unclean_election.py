"""unclean-election: a leader was elected outside the ISR."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import silent_leaders
from forensics.model.findings import Finding, Statement, quote, union
from forensics.model.message import Value, Values, joined, values
from forensics.model.partition.replicas import EXACT
from forensics.model.partition.timeline import PartitionTimeline, Term
from forensics.proof.elections import Election
from forensics.proof.handovers import transitions
from forensics.proof.losses import Loss, loss_of
from forensics.proof.verdict import Cell, Handover, suspected_outside
from parsers.kinds import Role, of


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for row, transition in transitions(timeline, cluster):
        if transition.election is not None and suspected_outside(row):
            yield _finding(row, transition.election, loss_of(row, transition), timeline, cluster)


def _finding(row: Handover, election: Election, lost: Loss | None, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    term = election.term
    before = term.before
    isr = tuple(before.isr if before is not None else (term.state.event.previous_isr if term.state is not None else None) or ())
    cost, certain = _cost(row, election, lost, timeline)
    certain_election = row.election.only(Cell.OUTSIDE)
    silent = silent_leaders((before,), timeline, cluster) if before is not None and not certain_election else ()
    log_end = term.began if term.start_offset is not None else None
    return Finding(
        severity="low" if silent else "medium" if not certain_election else "high" if certain and lost is None else "critical",
        confidence="certain" if certain_election else "possible",
        brokers=(term.leader, *(b for b in isr if b != term.leader)),
        leader_epoch=term.epoch,
        start=term.at,
        end=term.at,
        values=(*values(epoch=term.epoch, isr=isr, why=election.why, log_end=log_end, silent=silent), *cost),
        evidence=quote(*election.evidence, *term.evidence),
    )


def _cost(row: Handover, election: Election, lost: Loss | None, timeline: PartitionTimeline) -> tuple[Values, bool]:
    """What is known of the records that it lost, and whether it is known that there were some, or none."""
    if lost is not None:
        return values(lost=joined(part.offsets for part in lost.parts)), True
    before = election.term.before
    start, at_most = election.term.at_least, election.term.at_most
    if row.high_watermark.at_most is not None and row.high_watermark.at_most <= start:
        return values(none_beyond=start), True
    ends = (_given_up(b, election.term, timeline) for b in (before.isr if before else ()))
    beyond = max((e for e in ends if e is not None), default=None)
    return values(beyond=beyond if at_most is not None and beyond is not None and beyond > at_most else None), False


def _given_up(broker: int, term: Term, timeline: PartitionTimeline) -> int | None:
    """A broker's log end offset when it first became a follower in this term or a later one, before its first fetch."""
    replica = timeline.replicas.get(broker)
    start = next((f for f in replica.follower_starts if f.epoch >= term.epoch), None) if replica is not None else None
    if replica is None or start is None:
        return None
    if start.offset is not None:
        return start.offset
    ends = [o for o in replica.observations if o.quantity == "log-end-offset" and o.bound == EXACT]
    return next((o.offset for o in ends if o.epoch == start.epoch and o.event.event in _CUTS), None)


_CUTS = of(role=Role.CUT)


def merged(first: Finding, group: Sequence[Statement]) -> Mapping[str, Value]:
    return {"silent": union(group, "silent")}
