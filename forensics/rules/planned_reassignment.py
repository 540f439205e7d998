"""planned-reassignment: a reassignment moved replicas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import values
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.partition.windows import reassigning
from parsers.frozen import replace


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    assigned = [s for s in timeline.states if s.replicas]
    changed = [b for a, b in pairwise(assigned) if a.replicas != b.replicas]
    states = [*changed, *filter(reassigning, timeline.states)]
    lines = timeline.of("reassignment")
    if states or lines:
        before = (assigned[0].replicas or ()) if assigned else ()
        found = _finding(before, states, lines, _times(states, lines, timeline, cluster), timeline)
        yield found if lines or not any(map(_of_two_topics, assigned)) else replace(found, confidence="possible")


def _of_two_topics(state: State) -> bool:
    """Lines about one state name two assignments: without a line about a reassignment, they may be of two topics of this name."""
    return len({tuple(e.replicas) for e in (state.event, *state.also) if e.replicas and not e.unordered}) > 1


def _times(states: Sequence[State], lines: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> list[datetime]:
    """Times of the states, their end and the lines. Every KRaft controller replays the line, a restarted one much later."""
    ended = [b for a, b in pairwise(timeline.states) if reassigning(a) and not reassigning(b)]
    replayed = cluster.mode == "kraft" and states
    times = [*(s.at for s in (*states, *ended)), *(e.at for e in (() if replayed else lines))]
    return [at for at in times if at is not None]


def _finding(
    before: Sequence[int], states: Sequence[State], lines: Sequence[Event], times: Sequence[datetime], timeline: PartitionTimeline
) -> Finding:
    now = timeline.standing
    after = tuple(b for b in now.replicas if b not in now.removing)
    return Finding(
        confidence="certain",
        brokers=tuple(b for b in after if b not in before) or after,
        start=min(times, default=None),
        end=max(times, default=None),
        values=values(before=tuple(before), after=after),
        evidence=quote(lines[:2], *(s.event for s in states[:2]), *(s.event for s in states[-1:]), lines[-1:]),
    )
