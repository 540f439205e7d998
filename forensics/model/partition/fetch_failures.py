"""Fetches of one partition's followers that failed, and what that says about a replica that does not advance.

Here: errors that follow each other for longer than a leader change takes, and clauses about a replica that could not fetch. Not here:
fetchers that ended (forensics.model.presence.process_errors), or the findings (forensics.rules).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import FETCHER, PLACED, would_show
from forensics.model.events import Event
from forensics.model.message import Message, said
from forensics.model.partition.timeline import PartitionTimeline, cached_on_timeline
from forensics.model.presence.process_errors import lasted, of_fetcher, of_one_failure
from forensics.model.times import grouped
from forensics.thresholds import EPOCH_KNOWN, FETCHED_AGAIN, REFUSED_REPEATEDLY, SAME_FETCH_FAILURE, UNREACHABLE
from parsers.frozen import dataclass
from parsers.kinds import Role, of

ERRORS = of(role=Role.FETCH_FAILS) - {"partition-failed"}
_ELSEWHERE = ("KafkaStorageException", "not-assigned", "later-leader-epoch", "FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH")
"""A failed log directory has a finding of its own; a follower that is removed is not served rightly; a batch is skipped once; leader epochs
differ while a leader changes, and the follower then waits for its own new state."""
GAVE_UP, FAILED, ENDED, UNREACHED = (
    "absence/gave-up-fetching",
    "absence/fetches-failed",
    "absence/fetcher-ended",
    "absence/leader-unreached",
)
"""Clauses about what kept a replica from fetching."""


@dataclass(frozen=True, slots=True)
class Streak:
    """Errors of one follower without a pause in which fetching can have worked."""

    follower: int | None
    """None if its log does not name it."""
    reason: str
    events: tuple[Event, ...]
    first: datetime
    last: datetime


@cached_on_timeline
def streaks(timeline: PartitionTimeline) -> list[Streak]:
    """Failures that lasted."""
    failed = grouped(
        ((e.writer, e.reason or "error"), e)
        for e in timeline.of(*ERRORS)
        if e.writer is not None and e.writer != e.broker and e.at is not None and e.reason not in _ELSEWHERE
    )
    return [s for (follower, reason), events in sorted(failed.items()) for s in _lasting(follower, reason, events)]


def _lasting(follower: int, reason: str, events: Sequence[Event]) -> Iterator[Streak]:
    for streak in of_one_failure(events, SAME_FETCH_FAILURE):
        first, last = streak[0].at, streak[-1].last_at
        if first is not None and last is not None and lasted(streak):
            yield Streak(follower, reason, tuple(streak), first, last)


def unfinished(timeline: PartitionTimeline, cluster: Cluster) -> list[Streak]:
    """The last failures of logs that end with them, if no evidence shows the state of the partition: so it does not show whether they
    lasted, also if the follower is unknown."""
    if timeline.states or any(r.leader_starts for r in timeline.replicas.values()):
        return []
    lasting = {id(e) for s in streaks(timeline) for e in s.events}
    found: dict[tuple[str, int | None, str], list[Event]] = defaultdict(list)
    for e in timeline.of(*ERRORS):
        if e.at is not None and id(e) not in lasting and e.reason not in (*_ELSEWHERE, "OFFSET_OUT_OF_RANGE") and _ends_with(e, cluster):
            follower = e.writer if e.writer != e.broker else None  # a broker does not fetch from itself: lines of two brokers in one file
            found[e.source, follower, e.reason or "error"].append(e)
    return [
        Streak(f, r, tuple(own), first, own[-1].last_at or first)
        for (_, f, r), own in sorted(found.items(), key=str)
        if (first := own[0].at)
    ]


def _ends_with(failed: Event, cluster: Cluster) -> bool:
    """Whether the log ends before the fetcher would have tried again for long, and neither broker was down or ending."""
    if any(e.source == failed.source and of_fetcher(e) for e in cluster.of("fatal-error")):
        return False  # the fetcher ended, which is a finding of its own
    last = next((s.last_own or s.last for s in cluster.sources if s.path == failed.source), None)
    if last is None or failed.last_at is None or failed.at is None or last - failed.last_at > FETCHED_AGAIN:
        return False
    until = failed.last_at + UNREACHABLE
    return not any(
        cluster.availability(b).outage(failed.at, UNREACHABLE) for b in (failed.writer, failed.broker) if b is not None
    ) and not any(
        e.at is not None and failed.at <= e.at <= until for e in cluster.of("broker-stopping", "broker-signal", "controlled-shutdown")
    )


def hindered(
    follower: int, begin: datetime, end: datetime, ended: Sequence[Event], timeline: PartitionTimeline
) -> tuple[Message, Event] | None:
    """A clause that says why the follower could not fetch within this time, with its evidence. `ended`: fetchers that ended."""
    for e in timeline.of("partition-failed"):
        if e.writer == follower and e.at is not None and begin <= e.at < end and not resumed_soon(e, timeline):
            return said(GAVE_UP, at=e.at), e
    for s in streaks(timeline):
        if s.follower == follower and s.first < end and s.last > begin:
            return said(FAILED, span=(s.first, s.last)), s.events[0]
    for e in ended:
        if e.writer == follower and e.at is not None and begin <= e.at < end:
            return said(ENDED, at=e.at), e
    return None


def unreachable(follower: int, leader: int, begin: datetime, end: datetime, cluster: Cluster) -> tuple[Message, Event] | None:
    """The same for a leader that the follower could not connect to."""
    failed = [e for e in cluster.between("connection-failed", begin, end) if e.writer == follower and e.broker == leader]
    if sum(e.repeats for e in failed) < REFUSED_REPEATEDLY:
        return None
    return said(UNREACHED, leader=leader, span=(failed[0].at, failed[-1].last_at)), failed[0]


def resumed_soon(failed: Event, timeline: PartitionTimeline) -> bool:
    """A fetcher gives a partition up for a moment while its leader changes; its broker may be the next one."""
    if failed.writer is None or failed.at is None:
        return False
    soon = failed.at + EPOCH_KNOWN
    resumed = timeline.resumed(failed.writer, failed.at)
    return (resumed is not None and resumed <= soon) or _leads(failed.writer, failed.at, soon, timeline)


def would_show_a_role(broker: int, since: datetime, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether the broker's logs would show a role, or a fetcher, that it got for its replica soon after this time."""
    return bool(would_show(broker, cluster, FETCHER, *PLACED, since=since, until=since + EPOCH_KNOWN, of=timeline))


def _leads(broker: int, since: datetime, until: datetime, timeline: PartitionTimeline) -> bool:
    """The broker led the partition within this time: its own line about that may be missing."""
    replica = timeline.replicas.get(broker)
    updates = [u.event for u in replica.isr_updates] if replica is not None else []
    led = [s.at for s in timeline.states if s.leader == broker]
    return any(at is not None and since <= at <= until for at in (*led, *(e.at for e in updates)))


def says_hindered(clauses: Iterable[Message]) -> bool:
    """Whether what is said of an absence names an error of its fetches."""
    return any(
        m.id in (GAVE_UP, FAILED, ENDED, UNREACHED) for c in clauses for m in (c, dict(c.values).get("why")) if isinstance(m, Message)
    )
