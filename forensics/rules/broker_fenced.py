"""broker-fenced: the controller fenced a running broker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event, lasting
from forensics.model.findings import Finding, quote
from forensics.model.message import values
from forensics.model.partition.isr_removal import session_time
from forensics.model.presence.availability import Availability
from forensics.model.times import grouped, is_later, runs
from forensics.thresholds import NOTICEABLE_PAUSE, SAME_EXPIRY, SAME_FENCING, SILENT_BEFORE


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    fenced = grouped(
        (broker, e)
        for e in cluster.events
        if (broker := _fenced(e)) is not None and e.at is not None and not _down(cluster.availability(broker), e, e.at)
    )
    for broker, events in sorted(fenced.items()):
        for group in runs(events, partial(_same, availability=cluster.availability(broker))):
            yield _finding(broker, group, cluster)


def _same(group: Sequence[Event], event: Event, availability: Availability) -> bool:
    """It is of the same process, and follows at once, or the controller had not unfenced the broker before: the record of a fencing can be
    much later than the line, if the machine slept in between."""
    last = group[-1]
    if last.at is None or event.at is None or len({e.broker_epoch for e in (*group, event)} - {None}) > 1:
        return False
    if event.at - last.at <= SAME_FENCING:
        return True
    expired = {e.event for e in (last, event)} & {"session-expired"}
    return not expired and not any(e.at is not None and e.at < event.at for e in availability.between("back", last.at, event.at))


def _fenced(event: Event) -> int | None:
    if event.event == "broker-fenced" or (event.event == "metadata-broker-change" and event.reason == "fenced"):
        return event.broker
    return event.writer if event.event == "session-expired" else None


def _down(availability: Availability, event: Event, at: datetime) -> bool:
    """The broker was down, stopping or starting, so the fencing is a consequence; broker-crash or controlled-shutdown report it."""
    if not availability.runs:
        return event.event != "broker-fenced" or availability.joining(event)
    return (
        availability.joining(event) or availability.outage(at, SAME_FENCING) is not None or bool(availability.begun(at - SAME_FENCING, at))
    )


def _noticed(broker: int, until: datetime, availability: Availability) -> Event | None:
    """The line with which another node last noticed that the broker was gone, if it was not back by then, and no process began since."""
    lost = next((e for e in reversed(availability.between("lost", datetime.min, until)) if e.writer != broker), None)
    if lost is None or lost.at is None or availability.between("back", lost.at, until) or availability.begun(lost.at, until):
        return None
    return lost


def _paused(broker: int, expired: datetime, cluster: Cluster) -> Event | None:
    """The longest silence before the expiry in which the process itself did not run: its ZooKeeper client checks after two thirds of the
    session timeout whether it has heard from the server (ClientCnxn), and found that much later."""
    since = expired - SILENT_BEFORE
    own = (e for e in cluster.of("zookeeper-silent") if e.writer == broker and e.at is not None and since <= e.at + lasting(e) <= expired)
    longest = max(own, key=lasting, default=None)
    return longest if longest is not None and lasting(longest) > session_time([broker], expired, cluster) + NOTICEABLE_PAUSE else None


def _finding(broker: int, group: list[Event], cluster: Cluster) -> Finding:
    first = group[0]
    if first.event == "session-expired":
        return _expired(broker, group, cluster)
    availability = cluster.availability(broker)
    back = next(iter(availability.between("back", first.at, datetime.max)), None) if first.at is not None else None
    itself = any(e.writer == broker and e.reason == "session-timeout" for e in group)  # a replayed record may be of the process before
    if not itself and not any(availability.survived_session_loss(e) for e in group):
        return _unheard(broker, group, back)
    return Finding(
        confidence="certain",
        brokers=(broker,),
        start=first.at,
        end=back.at if back is not None else None,
        values=values(itself=itself),
        evidence=quote(group, back),
    )


def _expired(broker: int, group: list[Event], cluster: Cluster) -> Finding:
    """ZooKeeper: the broker detects the expiry only when it reaches ZooKeeper again; the controller sees the znode vanish earlier."""
    first, last = group[0], group[-1]
    learnt = first.at or datetime.min
    availability = cluster.availability(broker)
    gone = _noticed(broker, learnt, availability)
    back = availability.returned(last.at or learnt)
    times, paused = 1 + sum(is_later(b.at, a.at, SAME_EXPIRY) for a, b in pairwise(group)), _paused(broker, learnt, cluster)
    return Finding(
        confidence="certain",
        brokers=(broker,),
        start=gone.at if gone is not None else first.at,
        end=back.at if back is not None else None,
        message="expired",
        values=values(
            learnt=first.at,
            times=times if times > 1 else None,
            last=last.at,
            noticed=gone.at if gone is not None else None,
            paused=paused.at if paused is not None else None,
            silent=lasting(paused).total_seconds() if paused is not None else None,
        ),
        evidence=quote(gone, group[:2], paused, group[2:], back),
    )


def _unheard(broker: int, group: list[Event], back: Event | None) -> Finding:
    """A fencing without evidence that the process continued: it may also follow from a crash or a shutdown."""
    return Finding(
        severity="low",
        confidence="possible",
        brokers=(broker,),
        start=group[0].at,
        end=back.at if back is not None else None,
        message="unheard",
        evidence=quote(group, back),
    )
