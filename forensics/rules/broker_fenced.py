"""broker-fenced: the controller fenced a running broker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from forensics.model.cluster.availability import Availability
from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, moment, quote
from forensics.thresholds import SAME_EXPIRY, SAME_FENCING


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    runs: dict[int, list[list[Event]]] = {}
    for event in cluster.events:
        broker = _fenced(event)
        if broker is None or event.at is None or _down(cluster.availability(broker), event, event.at):
            continue
        own = runs.setdefault(broker, [])
        if own and own[-1][-1].at is not None and event.at - own[-1][-1].at <= SAME_FENCING:
            own[-1].append(event)
        else:
            own.append([event])
    for broker, groups in sorted(runs.items()):
        for group in groups:
            yield _finding(broker, group, cluster)


def _fenced(event: Event) -> int | None:
    if event.event == "broker-fenced":
        return event.broker
    if event.event == "metadata-broker-change" and event.reason == "fenced":
        return event.broker
    if event.event == "session-expired":
        return event.writer
    return None


def _down(availability: Availability, event: Event, at: datetime) -> bool:
    """The broker was down, stopping or starting, so the fencing is a consequence; broker-crash or controlled-shutdown report it."""
    if not availability.lives:
        return event.event != "broker-fenced"
    return availability.outage(at, SAME_FENCING) is not None or bool(availability.begun(at - SAME_FENCING, at))


def _noticed(broker: int, until: datetime, availability: Availability) -> Event | None:
    """The line with which another node last noticed that the broker was gone, if it was not back by then."""
    lost = next((e for e in reversed(availability.between("lost", datetime.min, until)) if e.writer != broker), None)
    return None if lost is None or availability.between("back", lost.at or until, until) else lost


def _expiries(group: Sequence[Event]) -> int:
    return 1 + sum(b.at is not None and a.at is not None and b.at - a.at > SAME_EXPIRY for a, b in pairwise(group))


def _finding(broker: int, group: list[Event], cluster: Cluster) -> Finding:
    first = group[0]
    if first.event == "session-expired":
        return _expired(broker, group, cluster)
    availability = cluster.availability(broker)
    back = next(iter(availability.between("back", first.at, datetime.max)), None) if first.at is not None else None
    if not any(availability.went_on(e) for e in group):
        return _unheard(broker, group, back)
    return Finding(
        kind="broker-fenced",
        severity="medium",
        confidence="certain",
        brokers=(broker,),
        start=first.at,
        end=back.at if back is not None else None,
        summary=f"broker {broker} was fenced while it was running" + (f", until {moment(back.at)}" if back else ""),
        explanation=(
            f"At {moment(first.at)} broker {broker} lost its session with the controller although its process was running: it lost its "
            f"leaderships and left the ISRs. Broker {broker} {'was unfenced at ' + moment(back.at) if back else 'is not seen to return in the evidence'}. "
            "Possible causes: a long pause, a network failure or an overloaded machine."
        ),
        next_steps=(f"Check the GC log and the machine metrics of broker {broker} just before {moment(first.at)}.",),
        evidence=quote(group, back),
    )


def _expired(broker: int, group: list[Event], cluster: Cluster) -> Finding:
    """ZooKeeper: the broker detects the expiry only when it reaches ZooKeeper again; the controller sees the znode vanish earlier."""
    first, last = group[0], group[-1]
    learnt = first.at or datetime.min
    availability = cluster.availability(broker)
    gone = _noticed(broker, learnt, availability)
    back = availability.returned(last.at or learnt)
    begin = gone.at if gone is not None else first.at
    times = _expiries(group)
    often = f", {times} times until {moment(last.at)}" if times > 1 else ""
    noticed = f", and the controller had noticed its absence at {moment(gone.at)}" if gone is not None else ""
    until = f", until {moment(back.at)}" if back is not None else ""
    registered = f"was registered again at {moment(back.at)}" if back is not None else "is not seen to return in the evidence"
    return Finding(
        kind="broker-fenced",
        severity="medium",
        confidence="certain",
        brokers=(broker,),
        start=begin,
        end=back.at if back is not None else None,
        summary=f"broker {broker} lost its ZooKeeper session while it was running{until}",
        explanation=(
            f"At {moment(first.at)} broker {broker} detected that its ZooKeeper session had expired{often}{noticed}. The process of broker "
            f"{broker} was running, but when a session expires, the controller removes the broker from its leaderships and from the ISRs. "
            f"Broker {broker} {registered}. "
            "Possible causes: a long pause, a network failure, an overloaded machine, or a ZooKeeper that stalled."
        ),
        next_steps=(f"Check the GC log and the machine metrics of broker {broker}, and the ZooKeeper log, just before {moment(begin)}.",),
        evidence=quote(gone, group, back),
    )


def _unheard(broker: int, group: list[Event], back: Event | None) -> Finding:
    """A fencing without evidence that the process continued: it may also follow from a crash or a shutdown."""
    first = group[0]
    return Finding(
        kind="broker-fenced",
        severity="low",
        confidence="possible",
        brokers=(broker,),
        start=first.at,
        end=back.at if back is not None else None,
        summary=f"broker {broker} was fenced" + (f" until {moment(back.at)}" if back else "") + "; unknown whether it was running",
        explanation=(
            f"At {moment(first.at)} the controller fenced broker {broker}. No evidence shows that its process was running, so it may have "
            "been stopped, crashed, or running and cut off."
        ),
        next_steps=(f"Collect server.log of broker {broker}.",),
        evidence=quote(group, back),
    )


RULE = Rule(
    kind="broker-fenced",
    rank=300,
    level="medium",
    meaning="The controller fenced a broker, or its ZooKeeper session expired, while its process was running.",
    benign=(
        "A broker that is shutting down or has crashed: reported as controlled-shutdown or broker-crash.",
        "A broker that registers: it is fenced until it has caught up.",
    ),
    references=("KIP-631", "KIP-841"),
    cluster=detect,
    root="lost its session while it was running",
    many=Aggregation(),
)
