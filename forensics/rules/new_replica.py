"""new-replica: a replica was added, by a reassignment or a higher replication factor, and had to catch up before it could join the ISR."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, Statement, brokers_named, moment, quote, raw
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
    waited = (joined.at - added.at).total_seconds() if joined is not None and joined.at is not None and added.at is not None else None
    ending, outcome = "had not joined the ISR when the evidence ends", " and is not in sync yet"
    if elected is not None:
        ending = f"was elected leader at {moment(elected.at)}, before it is known to have joined the ISR"
        outcome = " and was elected leader before it was known to be in sync"
    elif joined is not None:
        ending, outcome = f"joined the ISR at {moment(joined.at)}", f" and was in sync after {waited:.1f} s" if waited is not None else ""
    return raw(
        kind="new-replica",
        severity="info",
        confidence="certain",
        brokers=(broker,),
        leader_epoch=added.known_epoch,
        start=added.at,
        end=joined.at if joined is not None else None,
        summary=f"{timeline.name}: broker {broker} was added as a replica{outcome}",
        explanation=(
            f"At {moment(added.at)} broker {broker} became a replica of {timeline.name} by {_by(broker, timeline)}, started with an empty log and {ending}. "
            "Until then the partition counts as under-replicated without any failure."
        ),
        evidence=quote(
            added.event, fetch[:2], joined.event if joined is not None else None, elected.evidence if elected is not None else ()
        ),
    )


def _by(broker: int, timeline: PartitionTimeline) -> str:
    """The kind of reassignment; a higher replication factor is a reassignment that removes no replica."""
    before = next((s.replicas for s in timeline.states if s.replicas and broker not in s.replicas), ())
    after = timeline.assigned
    if before and set(before) < set(after) and not any(s.removing for s in timeline.states):
        return f"a reassignment that raised the replication factor from {len(before)} to {len(after)}"
    return "a reassignment"


def _caught_up(group: Sequence[Statement]) -> str:
    behind = sum(f.end is None for f in group)
    return f"did not catch up in {behind} of them" if behind else "caught up in all of them"


def many_words(first: Finding, group: Sequence[Statement]) -> str:
    return f"{brokers_named(first.brokers)} was added as a replica and {_caught_up(group)}"
