"""controller-crash: a node that is only a controller ended without a shutdown.

Here: KRaft nodes with the role controller alone, and their orderly stops, which are not crashes. Not here: brokers (broker_crash).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from forensics.model.cluster.availability import KILLED, MISSED, Outage
from forensics.model.cluster.facts import Cluster, Node
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, moment, quote

_STOPPING = timedelta(minutes=2)
"""A controller ends within this time after a signal."""


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node in cluster.nodes.values():
        for outage in cluster.availability(node.id).outages if not node.broker else ():
            ended = outage.how in (KILLED, MISSED) and outage.life is not None and outage.event.cluster == cluster.number
            if ended and _signal(node, outage, cluster) is None:
                yield _finding(node, outage, cluster)


def _signal(node: Node, outage: Outage, cluster: Cluster) -> Event | None:
    """The signal to end that the process received just before its last line."""
    last = outage.since or datetime.min
    signals = cluster.between("broker-signal", last - _STOPPING if outage.since else last, outage.until or datetime.max)
    return next((e for e in signals if e.writer == node.id), None)


def _finding(node: Node, outage: Outage, cluster: Cluster) -> Finding:
    since, until = outage.since, outage.until
    back = f", back at {moment(until)}" if until is not None else ""
    return Finding(
        kind="controller-crash",
        severity="medium",
        confidence="probable",
        brokers=(node.id,),
        start=since,
        end=until,
        summary=f"controller {node.id} crashed{back}",
        explanation=(
            f"Controller {node.id} was running at {moment(since)} (last line about its process). "
            + (
                f"Controller {node.id} was started again at {moment(until)}, "
                if until is not None
                else "Its absence was noticed by another node, "
            )
            + "and its log has no signal to end before that. Possible causes: a kill, the OOM killer, or a failed machine. A metadata quorum "
            "continues while a majority of its controllers is running."
        ),
        next_steps=(
            f"Search the system journal of controller {node.id} for the OOM killer, a kernel panic or a power loss after {moment(since)}.",
            f"Look for hs_err_pid*.log in the working directory of controller {node.id}: it shows a JVM crash.",
        ),
        evidence=quote(outage.event, outage.life.last_seen if outage.life else None, outage.life.begin if outage.life else None),
    )


RULE = Rule(
    kind="controller-crash",
    rank=292,
    level="medium",
    meaning="A node that is only a controller crashed: it ended without a signal to end.",
    benign=("An orderly stop: the process prints the signal to end.",),
    cluster=detect,
    many=Aggregation(),
    root="crashed",
)
