"""controller-crash: a node that is only a controller ended without a shutdown.

Here: KRaft nodes with the role controller alone, and their orderly stops, which are not crashes. Not here: brokers (broker_crash).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, moment, quote
from parsers.kinds import named

_ENDS = named("broker-signal", "broker-stopping", "broker-stopped", "fatal-error")
_STARTUP = timedelta(seconds=10)
"""A process prints lines about its start this long before the line "Starting controller"."""


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node in (n for n in cluster.nodes.values() if not n.broker):
        own = [e for e in cluster.events if e.writer == node.id and e.line is not None and e.at is not None]
        starts = [e for e in own if e.event == "controller-starting"]
        for before, again in pairwise(starts):
            run = [e for e in own if before.at <= e.at < again.at]  # type: ignore[operator]
            if not any(e.event in _ENDS for e in run):
                yield _finding(node.id, _last(run, again), again)


def _last(run: Sequence[Event], again: Event) -> Event:
    """The last line of the earlier process."""
    limit = (again.at or datetime.max) - _STARTUP
    return next((e for e in reversed(run) if e.at is not None and e.at < limit), run[0])


def _finding(node: int, last: Event, again: Event) -> Finding:
    return Finding(
        kind="controller-crash",
        severity="medium",
        confidence="probable",
        brokers=(node,),
        start=last.at,
        end=again.at,
        summary=f"controller {node} crashed, back at {moment(again.at)}",
        explanation=(
            f"Controller {node} was running at {moment(last.at)} (last line about its process). Controller {node} was started again at "
            f"{moment(again.at)}, and its log has neither a signal to end nor an error before that. Possible causes: a kill, the OOM killer, or a "
            "failed machine. A metadata quorum continues while a majority of its controllers is running."
        ),
        next_steps=(
            f"Search the system journal of controller {node} for the OOM killer, a kernel panic or a power loss after {moment(last.at)}.",
            f"Look for hs_err_pid*.log in the working directory of controller {node}: it shows a JVM crash.",
        ),
        evidence=quote(last, again),
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
