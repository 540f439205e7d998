"""broker-fenced: the controller took a living broker out of the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from forensics.model import Finding, Many, Rule, moment, quote
from spark.cluster import Cluster, Node
from spark.events import Event

TOGETHER = timedelta(seconds=10)
"""The metadata record, the controller's line and the broker's own session loss tell of one fencing."""
ONE_EXPIRY = timedelta(seconds=1)
"""A broker prints several lines of one expiry."""


def judge(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    runs: dict[int, list[list[Event]]] = {}
    for event in cluster.events:
        broker = _fenced(event)
        if broker is None or event.at is None or _down(cluster.nodes.get(broker), event):
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


def _down(node: Node | None, event: Event) -> bool:
    """The broker was dead or stopping: being fenced is then the consequence, told by broker-crash or controlled-shutdown."""
    if node is None or not node.lives or event.at is None:
        return event.event != "broker-fenced"
    for life in node.lives:
        stopping = life.stopping or (life.end if life.outcome == "stopped" else None)
        if stopping is not None and stopping.at is not None and stopping.at - TOGETHER <= event.at:
            back = next((x for x in node.lives if x.begin_at is not None and x.begin_at >= stopping.at), None)
            if back is None or back.begin_at is None or event.at <= back.begin_at + TOGETHER:
                return True
        if life.outcome == "crashed" and life.end_at is not None:
            last = life.last_seen.at if life.last_seen is not None else life.begin_at
            if last is not None and last <= event.at <= life.end_at + TOGETHER:
                return True
        if life.begin_at is not None and timedelta(0) <= event.at - life.begin_at <= TOGETHER:
            return True
    return False


def _finding(broker: int, group: list[Event], cluster: Cluster) -> Finding:
    first = group[0]
    if first.event == "session-expired":
        return _expired(broker, group, cluster)
    back = next((e for e in cluster.events if e.at is not None and first.at is not None and e.at > first.at and _unfenced(e, broker)), None)
    if (node := cluster.nodes.get(broker)) is None or not node.lives:
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
    before = [e for e in cluster.of("brokers-changed") if e.at is not None and e.at <= learnt and broker in (e.brokers or ())]
    gone = before[-1] if before and before[-1].reason == "deleted" else None
    back = next((e for e in cluster.events if e.at is not None and e.at >= (last.at or learnt) and _registered(e, broker)), None)
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


def _registered(event: Event, broker: int) -> bool:
    if event.event == "broker-registered":
        return event.writer == broker and event.broker in (None, broker)
    return event.event == "brokers-changed" and event.reason in ("added", "bounced") and broker in (event.brokers or ())


def _unheard(broker: int, group: list[Event], back: Event | None) -> Finding:
    """Without a log of the broker's own a fencing may as well be the consequence of its death or its shutdown."""
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
            f"At {moment(first.at)} the controller took broker {broker} out of the cluster. No log of broker {broker} was collected, so it may have "
            "been stopped, dead, or alive and cut off."
        ),
        next_steps=(f"Collect server.log of broker {broker}.",),
        evidence=quote(group, back),
    )


def _unfenced(event: Event, broker: int) -> bool:
    if event.event in ("broker-unfenced",):
        return event.broker == broker
    return event.event == "metadata-broker-change" and event.reason == "unfenced" and event.broker == broker


RULE = Rule(
    kind="broker-fenced",
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
