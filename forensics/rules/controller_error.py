"""controller-error: the controller failed to elect a leader, or at another step of its work.

Here: what the active controller stated about itself. Not here: controllers that ended (controller_crash), orders of a controller that had been
replaced (stale_controller), or a lost connection to ZooKeeper (zookeeper_lost).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import exception, failures, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, brokers_named, capital, counted, period, quote
from forensics.model.partition.timeline import PartitionTimeline
from forensics.output.shell import option

_PREFERRED = "PREFERRED"
_NOT_ELIGIBLE = "StateChangeFailedException"
_ZOOKEEPER = re.compile(r"SessionExpired|ConnectionLoss|session expired|ZooKeeperClientExpired|AuthFailed|InterruptedException")
"""The connection to ZooKeeper was lost, or the process was ending."""
_OF_ANY_BROKER = re.compile(r"electing or becoming|event (?:RegisterBrokerAndReelect|Reelect|Startup|Expire|ControllerChange)\b")
"""Steps of any broker, which want to become the controller; all others are those of the active controller."""
_REGISTERED = re.compile(r"NodeExists")
"""A registration that was refused has a finding of its own (registration_refused)."""
_BATCH_LEFT = re.compile(r"state change requests batch is not empty")


def detect(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    events = timeline.of("election-failed")
    if without_leader := [e for e in events if e.reason != _PREFERRED]:
        yield _finding(timeline, without_leader)
    if kept := [e for e in events if e.reason == _PREFERRED and e.value is not None]:
        yield _preferred(timeline, kept)


def _finding(timeline: PartitionTimeline, events: Sequence[Event]) -> Finding:
    first, last = events[0], events[-1]
    writers = tuple(sorted({e.writer for e in events if e.writer is not None}))
    who = brokers_named(writers)
    return Finding(
        kind="controller-error",
        severity="low",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=writers,
        start=first.at,
        end=last.last_at,
        cause="election-failed",
        summary=f"{timeline.name}: the controller failed to elect a leader",
        explanation=(
            f"From {period(first.at, last.last_at)} the controller ({who}) failed {counted(sum(e.repeats for e in events), 'time')} to elect a leader of {timeline.name}, because no replica "
            "that it may elect was running."
        ),
        next_steps=(
            f"Start a broker that was in the last ISR of {timeline.name}. An election of another replica (`kafka-leader-election.sh --election-type unclean`) loses records.",
        ),
        evidence=quote(events[:4], last),
    )


def _preferred(timeline: PartitionTimeline, events: Sequence[Event]) -> Finding:
    first, last, thrown = events[0], events[-1], exception(events)
    writers = tuple(sorted({e.writer for e in events if e.writer is not None}))
    who = f" ({brokers_named(writers)})" if writers else ""
    barred = thrown is None or _NOT_ELIGIBLE in thrown
    because = "because this replica was not running or not in the ISR" if barred else f"because of an error: {thrown}"
    return Finding(
        kind="controller-error",
        severity="low",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=writers,
        start=first.at,
        end=last.last_at,
        cause="preferred-election",
        summary=f"{timeline.name}: the controller could not move the leadership to the preferred replica",
        explanation=f"The controller{who} failed {span(events)} to move the leadership of {timeline.name} to its preferred replica, {because}. {timeline.name} keeps its leader.",
        next_steps=(
            f"Compare Replicas with Isr in `kafka-topics.sh --describe {option('--topic', timeline.topic)}`: start the first broker of Replicas if it is down, and find out why it does not catch up if it is running. Then move the leadership with `kafka-leader-election.sh --election-type preferred {option('--topic', timeline.topic)} --partition {timeline.partition}`.",
            f"If the first broker of Replicas of {timeline.name} stays out of the ISR, upgrade: before 2.6.0 the controller tries this election at each check in vain and prints the error each time (KAFKA-9866).",
        ),
        evidence=quote(events[:4], last),
    )


# other steps of a ZooKeeper controller


def detect_steps(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    failed = (e for e in cluster.of("controller-step-failed") if not _REGISTERED.search(e.key or ""))
    for node, errors in failures(failed, lambda e: (e.value, (e.key or "").partition(":")[0])):
        yield _of_candidate(node, errors, cluster) if _OF_ANY_BROKER.search(errors[0].value or "") else _of_step(node, errors, cluster)


def _of_candidate(node: int | None, errors: Sequence[Event], cluster: Cluster) -> Finding:
    """A broker that could not take part in the election of a controller, or not become the controller."""
    step, thrown, who = errors[0].value or "", exception(errors), named_node(node, cluster)
    of_zookeeper = thrown is not None and _ZOOKEEPER.search(thrown) is not None
    return Finding(
        kind="controller-error",
        severity="low" if of_zookeeper else "medium",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=errors[0].at,
        end=errors[-1].last_at,
        cause="zookeeper" if of_zookeeper else "not-elected",
        summary=f"{who} could not become the controller, or take part in its election: it failed while {step}",
        explanation=" ".join(
            (
                f"{capital(who)} failed while {step}, {span(errors)}.",
                *((f"The error is: {thrown}.",) if thrown else ()),
                "A step of this kind registers a broker, or elects the controller; another broker can be elected instead.",
            )
        ),
        next_steps=(
            f"Check that a broker is the controller (`zookeeper-shell.sh HOST:2181 get /controller`) and that {who} is registered (`zookeeper-shell.sh HOST:2181 ls /brokers/ids`); restart {who} if it is not.",
        ),
        evidence=quote(errors[:4], errors[-1]),
    )


def _of_step(node: int | None, errors: Sequence[Event], cluster: Cluster) -> Finding:
    step, thrown = errors[0].value or "", exception(errors)
    who = f"the controller on {named_node(node, cluster)}" if node is not None else "the controller"
    of_zookeeper = thrown is not None and _ZOOKEEPER.search(thrown) is not None
    left = next((e for e in errors if _BATCH_LEFT.search(e.key or "")), None)
    return Finding(
        kind="controller-error",
        severity="low" if of_zookeeper else "high" if left is not None else "medium",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=errors[0].at,
        end=errors[-1].last_at,
        cause="zookeeper" if of_zookeeper else "requests-left" if left is not None else "step-failed",
        summary=f"{who} failed while {step}",
        explanation=" ".join(
            (
                f"{capital(who)} failed while {step}, {span(errors)}.",
                *((f"The error is: {thrown}.",) if thrown else ()),
                "What it had decided in this step may not have reached ZooKeeper or the brokers: partitions can stay without a leader, and brokers can work with an old state.",
                *((_OF_LEFT,) if left is not None else ()),
            )
        ),
        next_steps=_steps(who, of_zookeeper, left is not None),
        evidence=quote(errors[:4], errors[-1]),
    )


_OF_LEFT = "Requests of an earlier step were left over, so each later step fails in the same way until another broker becomes the controller (KAFKA-2300)."
_MOVE = "delete its znode (`zookeeper-shell.sh HOST:2181 delete /controller`), or restart its broker"


def _steps(who: str, of_zookeeper: bool, left: bool) -> tuple[str, ...]:
    if of_zookeeper:
        return (
            f"Find out why {who} lost its session or connection to ZooKeeper, or was stopped; a new controller reads the whole state again.",
        )
    check = "Check `kafka-topics.sh --describe --unavailable-partitions` and `kafka-topics.sh --describe --under-replicated-partitions`"
    if left:
        return (
            f"Have another broker become the controller: {_MOVE}. From 0.9.0 on the controller resigns by itself after this error.",
            f"{check} after the new controller is elected.",
        )
    return (
        f"{check}. If partitions on running brokers have no leader, have another broker become the controller instead of {who}: {_MOVE}.",
    )


RULE = Rule(
    kind="controller-error",
    rank=322,
    level="medium",
    meaning="The controller failed to elect a leader of a partition (low), or at another step of its work (low to high).",
    benign=(
        "While all replicas of a partition are restarted, each attempt in between fails.",
        "A preferred leader that is down or not in the ISR cannot be elected; the partition keeps its leader.",
    ),
    references=("KAFKA-2300", "KAFKA-9866"),
    partition=detect,
    cluster=detect_steps,
    many=Aggregation(whenever=True, key=lambda f: f.brokers),
)
