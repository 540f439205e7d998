"""broker-fenced: the controller took a living broker out of the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from forensics.model import Finding, Many, Rule, moment, quote
from spark.cluster.facts import Cluster
from spark.cluster.presence import Presence
from spark.events import Event

TOGETHER = timedelta(seconds=10)
"""The metadata record, the controller's line and the broker's own session loss tell of one fencing."""
ONE_EXPIRY = timedelta(seconds=1)
"""A broker prints several lines of one expiry."""


def judge(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    runs: dict[int, list[list[Event]]] = {}
    for event in cluster.events:
        broker = _fenced(event)
        if broker is None or event.at is None or _down(cluster.presence(broker), event, event.at):
            continue
        own = runs.setdefault(broker, [])
        if own and own[-1][-1].at is not None and event.at - own[-1][-1].at <= TOGETHER:
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


def _down(presence: Presence, event: Event, at: datetime) -> bool:
    """The broker was dead, stopping or starting: being fenced is then the consequence, told by broker-crash or controlled-shutdown."""
    if not presence.lives:
        return event.event != "broker-fenced"
    return presence.away(at, TOGETHER) is not None or bool(presence.begun(at - TOGETHER, at))


def _finding(broker: int, group: list[Event], cluster: Cluster) -> Finding:
    first = group[0]
    if first.event == "session-expired":
        return _expired(broker, group, cluster)
    presence = cluster.presence(broker)
    back = next(iter(presence.between("back", first.at, datetime.max)), None) if first.at is not None else None
    if not any(presence.went_on(e) for e in group):
        return _unheard(broker, group, back)
    return Finding(
        kind="broker-fenced",
        severity="medium",
        confidence="certain",
        brokers=(broker,),
        start=first.at,
        end=back.at if back is not None else None,
        summary=f"broker {broker} was fenced while it was alive" + (f", until {moment(back.at)}" if back else ""),
        explanation=(
            f"At {moment(first.at)} broker {broker} lost its session with the controller although its process had not ended: it lost the "
            f"leaderships it had and its place in the ISRs. {'It was let in again at ' + moment(back.at) + '.' if back else 'The evidence does not show its return.'} "
            "A long pause, a cut network or an overloaded machine does that."
        ),
        next_steps=(f"Look at broker {broker}'s GC log and the machine's metrics just before {moment(first.at)}.",),
        evidence=quote(group, back),
    )


def _expired(broker: int, group: list[Event], cluster: Cluster) -> Finding:
    """ZooKeeper: the broker itself learns of it only when it can speak with ZooKeeper again; the controller saw its znode vanish before."""
    first, last = group[0], group[-1]
    learnt = first.at or datetime.min
    presence = cluster.presence(broker)
    seen_go = [e for e in presence.between("lost", datetime.min, learnt) if e.writer != broker][-1:]
    gone = seen_go[0] if seen_go and not presence.between("back", seen_go[0].at or learnt, learnt) else None
    back = presence.returned(last.at or learnt)
    begin = gone.at if gone is not None else first.at
    times = 1 + sum(b.at is not None and a.at is not None and b.at - a.at > ONE_EXPIRY for a, b in pairwise(group))
    often = f", {times} times until {moment(last.at)}" if times > 1 else ""
    seen = f", and the controller had seen it go at {moment(gone.at)}" if gone is not None else ""
    return Finding(
        kind="broker-fenced",
        severity="medium",
        confidence="certain",
        brokers=(broker,),
        start=begin,
        end=back.at if back is not None else None,
        summary=f"broker {broker} lost its ZooKeeper session while it was alive" + (f", until {moment(back.at)}" if back else ""),
        explanation=(
            f"At {moment(first.at)} broker {broker} learnt that its ZooKeeper session had expired{often}{seen}. Its process had not ended, but as "
            "soon as the session is over the controller takes the broker's leaderships and its place in the ISRs away. "
            f"{'It was registered again at ' + moment(back.at) + '.' if back else 'The evidence does not show its return.'} "
            "A long pause, a cut network or an overloaded machine does that, and so does a ZooKeeper that stalls."
        ),
        next_steps=(f"Look at broker {broker}'s GC log, the machine's metrics and ZooKeeper's log just before {moment(begin)}.",),
        evidence=quote(gone, group, back),
    )


def _unheard(broker: int, group: list[Event], back: Event | None) -> Finding:
    """Where nothing tells that its process went on, a fencing may as well be the consequence of its death or its shutdown."""
    first = group[0]
    return Finding(
        kind="broker-fenced",
        severity="low",
        confidence="possible",
        brokers=(broker,),
        start=first.at,
        end=back.at if back is not None else None,
        summary=f"broker {broker} was fenced" + (f" until {moment(back.at)}" if back else "") + "; whether it was alive is not in evidence",
        explanation=(
            f"At {moment(first.at)} the controller took broker {broker} out of the cluster. Nothing tells that its process went on, so it may have "
            "been stopped, dead, or alive and cut off."
        ),
        next_steps=(f"Collect server.log of broker {broker}.",),
        evidence=quote(group, back),
    )


RULE = Rule(
    kind="broker-fenced",
    rank=300,
    level="medium",
    meaning="The controller fenced a broker, or its ZooKeeper session expired, while the process lived.",
    benign=(
        "A broker that is being shut down or was dead: reported as such.",
        "A broker that registers: it is fenced until it has caught up.",
    ),
    references=("KIP-631", "KIP-841"),
    cluster=judge,
    root="lost its session while it lived",
    many=Many(),
)
