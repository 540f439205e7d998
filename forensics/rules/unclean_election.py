"""unclean-election: a leader was elected outside the ISR."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, Statement, brokers_named, moment, quote, raw
from forensics.model.partition.log_coverage import silent_leaders
from forensics.model.partition.replicas import EXACT
from forensics.model.partition.timeline import PartitionTimeline, Term
from forensics.proof.causes import suspected_outside
from forensics.proof.elections import Election
from forensics.proof.handovers import transitions
from forensics.proof.losses import Loss, losses_of
from forensics.proof.verdict import OUTSIDE, Handover
from parsers.kinds import Role, of


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for row, hop in transitions(timeline, cluster):
        if hop.election is not None and suspected_outside(row):
            yield _finding(row, hop.election, list(losses_of(row, hop)), timeline, cluster)


def _finding(row: Handover, election: Election, lost: list[Loss], timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    term = election.term
    before = term.before
    isr = list(before.isr) if before is not None else list((term.state.event.previous_isr if term.state is not None else None) or ())
    cost, certain = _cost(row, election, lost, timeline)
    certain_election = row.election.only(OUTSIDE)
    silent = silent_leaders((before,), timeline, cluster) if before is not None and not certain_election else ()
    explanation = (
        f"At {moment(term.at)} broker {term.leader} became leader of {timeline.name} in leader epoch {term.epoch} although "
        f"{_outside(isr)}: {election.why}. {_start(election)} {cost}"
    )
    return raw(
        kind="unclean-election",
        severity="low" if silent else "medium" if not certain_election else "high" if certain and not lost else "critical",
        confidence="certain" if certain_election else "possible",
        brokers=(term.leader, *(b for b in isr if b != term.leader)),
        leader_epoch=term.epoch,
        start=term.at,
        end=term.at,
        summary=f"{timeline.name}: broker {term.leader} was elected leader (epoch {term.epoch}) from outside the ISR{f' {isr}' if isr else ''}",
        explanation=explanation.strip(),
        next_steps=(
            *(
                (f"Collect server.log of {brokers_named(silent)}: no other log shows how the ISR changed before this election.",)
                if silent
                else ()
            ),
            f"Find out who allowed the unclean election of {timeline.name}: the setting unclean.leader.election.enable of the topic and the brokers "
            "(default true before 0.11), or an operator with kafka-leader-election.sh.",
        ),
        evidence=quote(*election.evidence, *term.evidence),
    )


def _outside(isr: list[int]) -> str:
    return f"the in-sync replicas were {brokers_named(isr)} only" if isr else "it was not known to be in sync"


def _start(election: Election) -> str:
    offset = election.term.start_offset
    if offset is None:
        return "Its log end offset at that time is unknown."
    return f"Its log ended at offset {election.term.began}."


def _cost(row: Handover, election: Election, lost: list[Loss], timeline: PartitionTimeline) -> tuple[str, bool]:
    if lost:
        return f"Offsets {', '.join(str(x.range) for x in lost)} of the previous leader were lost.", True
    before = election.term.before
    start, at_most = election.term.at_least, election.term.at_most
    if row.high_watermark.at_most is not None and row.high_watermark.at_most <= start:
        return (
            f"No divergence was found: no log of the ISR had reached past offset {start}; nothing was lost that the evidence shows.",
            True,
        )
    ends = (_given_up(b, election.term, timeline) for b in (before.isr if before else ()))
    beyond = max((e for e in ends if e is not None), default=None)
    if at_most is not None and beyond is not None and beyond > at_most:
        return (
            f"A log of the ISR ended at offset {beyond}, beyond the new leader's; unknown whether those records were lost.",
            False,
        )
    return "Unknown from this evidence: whether the election lost records.", False


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


def many_words(first: Finding, group: Sequence[Statement]) -> str:
    return f"{brokers_named(sorted({f.brokers[0] for f in group}))} elected from outside the ISR"
