"""halted-on-truncation: a broker halted because a follower's log was longer than the leader's.

Before 2.0 a follower whose log was longer than the leader's, on a topic without unclean elections, halted the broker. Here: that line.
Not here: why the leader's log was shorter (data_loss, unclean_election).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, moment, period, quote, raw
from forensics.model.message import Range


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """One finding for each broker and partition, over all restarts; up to 0.10.0 the line only names the topic."""
    halts: dict[tuple[int, str, int], list[Event]] = {}
    for event in cluster.of("truncation-refused"):
        broker = event.writer if event.writer is not None else event.node
        if event.topic is not None and event.offset is not None and event.log_end_offset is not None:
            key = (broker if broker is not None else -1, event.topic, event.partition if event.partition is not None else -1)
            halts.setdefault(key, []).append(event)
    for (broker, topic, partition), events in sorted(halts.items()):
        yield _finding(broker, topic, partition, events)


def _finding(broker: int, topic: str, partition: int, events: list[Event]) -> Finding:
    last = events[-1]
    name = f"{topic}-{partition}" if partition >= 0 else f"a partition of {topic}"
    leader = f"broker {last.broker}" if last.broker is not None else "its leader"
    assert last.offset is not None and last.log_end_offset is not None
    ahead = Range(last.offset, last.log_end_offset) if last.offset < last.log_end_offset else None
    times = f"{len(events)} times from {period(events[0].at, last.at)}" if len(events) > 1 else f"at {moment(last.at)}"
    return raw(
        kind="halted-on-truncation",
        severity="high",
        confidence="certain",
        topic=topic,
        partition=partition if partition >= 0 else None,
        brokers=tuple(b for b in (broker, last.broker) if b is not None and b >= 0),
        start=events[0].at,
        end=last.at,
        offsets=(ahead,) if ahead is not None else (),
        summary=f"broker {broker} halted: its log of {name} ends at {last.log_end_offset}, that of {leader} at {last.offset}",
        explanation=(
            f"Broker {broker} halted {times}: it had to follow {leader}, whose log of {name} ends at {last.offset}, but its own log ends at "
            f"{last.log_end_offset}, and unclean.leader.election.enable=false on the topic forbids the truncation. It halts again at every "
            f"start. Its disk has records that the leader does not have{f' (offsets {ahead})' if ahead is not None else ''}."
        ),
        next_steps=(
            f"Copy {name} from broker {broker} before anything else: it may hold the only copy of committed records.",
            f"After that copy, either let broker {broker} lead {name}, or set unclean.leader.election.enable=true on {topic} while broker {broker} starts, so that it truncates.",
        ),
        evidence=quote(events[:1], events[-1:]),
    )
