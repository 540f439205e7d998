"""coordinator-load-failed: a coordinator could not load its state, so its groups or transactions cannot continue.

Here: group, transaction and share coordinators. Not here: partitions of __consumer_offsets without a leader (offline_partition), or offsets
that were lost (offset_commit_loss).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import cause_of, exception, failures, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Finding, capital, moment, quote, raw
from forensics.model.partition.timeline import PartitionTimeline

_WHOSE = {
    "__consumer_offsets": "Consumer groups whose offsets are in this partition cannot commit, and get no assignment",
    "__transaction_state": "Transactional producers whose ids are in this partition cannot begin or end a transaction",
}


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for node, errors in failures(timeline.of("coordinator-load-failed")):
        yield _finding(node, errors, timeline, cluster)


def _finding(node: int | None, errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    who, cause = named_node(node, cluster), cause_of(errors)
    thrown = exception(errors) or next((e.value for e in errors if e.value), None)
    later = [s.at for r in timeline.replicas.values() for s in r.leader_starts if s.at and errors[-1].at and s.at > errors[-1].at]
    again = min(later, default=None)
    effect = _WHOSE.get(timeline.topic, "The clients of this coordinator cannot go on")
    return raw(
        kind="coordinator-load-failed",
        severity="high",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=(node,) if node is not None else (),
        start=errors[0].at,
        end=again,
        cause=cause.name if cause is not None else None,
        summary=f"{timeline.name}: the coordinator on {who} could not load its state",
        explanation=(
            f"The coordinator on {who} could not load its state from {timeline.name} {span(errors)}."
            + (f" The error is: {thrown}." if thrown else "")
            + f" {effect}, until the partition is loaded without an error."
            + (f" A leader of {timeline.name} loaded the partition again at {moment(again)}." if again is not None else "")
        ),
        next_steps=(
            *(cause.next_steps if cause is not None else ()),
            f"Move the leadership of {timeline.name} to another in-sync replica: that broker loads the state from its own log.",
            f"If every replica of {timeline.name} fails, keep a copy of its directory, and check its segments with `kafka-dump-log.sh --files SEGMENT --offsets-decoder` (or `--transaction-log-decoder`).",
            f"Look for the groups with `kafka-consumer-groups.sh --list` after that; {capital(who)} answers for them only when the partition is loaded.",
        ),
        evidence=quote(errors[:4], errors[-1]),
    )
