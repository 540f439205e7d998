"""new-replica: a replica was added, by a reassignment or a higher replication factor, and had to catch up before it could join the ISR."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, Statement, quote
from forensics.model.message import Value, values
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline, Term
from forensics.proof.elections import elections


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    known: set[int] = set()
    unclean = [e.term for e in elections(timeline, cluster) if e.unclean]
    for index, state in enumerate(timeline.states):
        assigned = set(state.replicas or ())
        if known:
            for broker in sorted(assigned - known):
                joined = next((s for s in timeline.states[index:] if broker in s.isr), None)
                elected = next((t for t in unclean if t.state is joined and t.leader == broker), None)
                yield _finding(broker, state, joined if elected is None else None, elected, timeline)
        known |= assigned


def _finding(broker: int, added: State, joined: State | None, elected: Term | None, timeline: PartitionTimeline) -> Finding:
    """`elected`: an election that may have been unclean made the replica the leader before it is known to have joined the ISR."""
    fetch = [e for e in timeline.of("log-created", "fetcher-added") if e.writer == broker]
    end = joined.at if joined is not None else None
    before, after = next((s.replicas for s in timeline.states if s.replicas and broker not in s.replicas), ()), timeline.assigned
    raised = before and set(before) < set(after) and not any(s.removing for s in timeline.states)
    return Finding(
        confidence="certain",
        brokers=(broker,),
        leader_epoch=added.known_epoch,
        start=added.at,
        end=end,
        values=values(
            added=added.at,
            more=(len(before), len(after)) if raised else None,
            joined=joined is not None,
            elected=elected is not None,
            elected_at=elected.at if elected is not None else None,
            seconds=(end - added.at).total_seconds() if end is not None and added.at is not None else None,
        ),
        evidence=quote(
            added.event, fetch[:2], joined.event if joined is not None else None, elected.evidence if elected is not None else ()
        ),
    )


def merged(first: Finding, group: Sequence[Statement]) -> Mapping[str, Value]:
    return {"behind": sum(f.end is None for f in group) or None}
