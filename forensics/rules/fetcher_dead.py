"""fetcher-dead: a replica fetcher of a broker ended because of an error, or gave up one of its partitions.

Here: errors after which nothing is fetched until an operator acts. Not here: threads that a shutdown ends, other threads (fatal_error),
fetches that are tried again (fetch_failing), and partitions of a failed log directory (log_dir_failure).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import cause_of, exception, failures, named_node, of_fetcher, span
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, capital, moment, quote
from forensics.model.partition.crash_times import FACTS, CrashTimes
from forensics.model.partition.fetch_failures import resumed_soon
from forensics.model.partition.log_coverage import FETCHER, observable
from forensics.model.partition.timeline import PartitionTimeline
from forensics.output.shell import option
from forensics.thresholds import EPOCH_KNOWN

_SAME_FETCH = timedelta(seconds=2)
"""The error and the line that the partition is given up are printed one after the other."""


_AT = re.compile(r"rocessing data for partition (?P<place>\S+?)(?: at)? offset (?P<offset>\d+)")


def _place(errors: Sequence[Event]) -> str:
    """' while it processed t-0 at offset 300', if an error names that."""
    for e in errors:
        if (found := _AT.search(e.key or "")) is not None:
            return f" while it processed {found['place']} at offset {found['offset']}"
        if e.topic is not None and e.offset is not None:
            return f" while it processed {e.topic}-{e.partition} at offset {e.offset}"
    return ""


# threads


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    times = CrashTimes(cluster, partitions)
    for node, errors in failures((e for e in cluster.of("fatal-error") if of_fetcher(e)), lambda e: e.broker):
        yield _of_thread(node, errors, cluster, times)


def _of_thread(node: int | None, errors: Sequence[Event], cluster: Cluster, times: CrashTimes) -> Finding:
    who, cause, thrown = named_node(node, cluster), cause_of(errors), exception(errors)
    back = cluster.next_of(node, errors[-1].at, "broker-starting") if node is not None else None
    source = f", which fetched from broker {errors[0].broker}," if errors[0].broker is not None else ""
    return Finding(
        kind="fetcher-dead",
        severity="high",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=errors[0].at,
        end=back.at if back is not None else None,
        cause=cause.name if cause is not None else None,
        summary=f"a replica fetcher of {who} ended because of an error" + (f": {cause.words}" if cause is not None else ""),
        explanation=" ".join(
            (
                f"A replica fetcher of {who}{source} ended because of an error{_place(errors)}, {span(errors)}.",
                *((f"The error is: {thrown}.",) if thrown else ()),
                f"The replicas that this thread fetched for do not follow their leaders any more, and leave the ISR, until {who} is restarted.",
                *(times.meanwhile(node, errors[0].at, errors[-1].at) if node is not None else ()),
                *((f"{capital(who)} was started again at {moment(back.at)}.",) if back else ()),
            )
        ),
        next_steps=(
            *(cause.next_steps if cause is not None else ()),
            f"Restart {who} after the cause is removed, and check with `kafka-topics.sh --describe --under-replicated-partitions` that its replicas return to the ISR.",
        ),
        evidence=quote(errors[:5], errors[-1:], back),
    )


# partitions that a fetcher gave up (2.3 and later, KAFKA-8346)


def detect_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for failed in timeline.of("partition-failed"):
        if failed.writer is not None and not _settled(failed, timeline, cluster):
            yield _of_partition(failed, failed.writer, timeline)


def _settled(failed: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether the broker got the partition's new leader soon, stopped, or lost the log directory, or its logs would not show that."""
    last = cluster.last_line(failed.writer) if failed.writer is not None else None
    if failed.at is None or failed.writer is None or last is None or last < failed.at + EPOCH_KNOWN:
        return True
    soon = failed.at + EPOCH_KNOWN
    if not observable(failed.writer, timeline, cluster, FETCHER, since=failed.at, until=soon):
        return True
    near = [e for e in timeline.of("log-dir-partitions") if e.at is not None and abs(e.at - failed.at) <= EPOCH_KNOWN]
    if any(failed.writer in (e.broker, e.writer) for e in near):
        return True
    if resumed_soon(failed, timeline):
        return True
    return any(o.overlaps(failed.at, soon) for o in cluster.availability(failed.writer).outages)


def _reason(failed: Event, timeline: PartitionTimeline) -> list[Event]:
    """The error for which the partition was given up: the last one before."""
    at = failed.at
    errors = [
        e for e in timeline.of("fetch-error") if e.writer == failed.writer and at and e.last_at and abs(e.last_at - at) <= _SAME_FETCH
    ]
    return errors[-1:]


def _of_partition(failed: Event, broker: int, timeline: PartitionTimeline) -> Finding:
    why = _reason(failed, timeline)
    cause, thrown = cause_of(why), exception(why)
    back = timeline.resumed(broker, failed.at) if failed.at is not None else None
    out = timeline.out_of_isr(broker, failed.at, back or timeline.states[-1].at or failed.at) if failed.at and timeline.states else None
    leader = f" from broker {failed.broker}" if failed.broker is not None else ""
    named = f": {cause.words}" if cause is not None else ""
    return Finding(
        kind="fetcher-dead",
        severity="high",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=(broker,),
        start=failed.at,
        end=back,
        cause=cause.name if cause is not None else None,
        summary=f"{timeline.name}: broker {broker} gave up fetching because of an error{named}",
        explanation=" ".join(
            (
                f"At {moment(failed.at)} broker {broker} gave up fetching {timeline.name}{leader} because of an error{_place(why)}.",
                *((f"The error is: {thrown}.",) if thrown else ()),
                f"The replica on broker {broker} does not follow until the partition gets a new leader or broker {broker} is restarted.",
                *((f"Broker {broker} was missing from the ISR at {moment(out)}.",) if out is not None else ()),
                *((f"Broker {broker} got a role or a fetcher for {timeline.name} again at {moment(back)}.",) if back is not None else ()),
            )
        ),
        next_steps=(
            *(cause.next_steps if cause is not None else ()),
            f"Restart broker {broker} after the cause is removed, and check with `kafka-topics.sh --describe {option('--topic', timeline.topic)}` that its replica returns to the ISR.",
        ),
        evidence=quote(why, failed),
    )


RULE = Rule(
    kind="fetcher-dead",
    rank=285,
    level="high",
    meaning="A replica fetcher ended because of an error, or gave up a partition: its replicas do not follow until the broker is restarted or the partition gets a new leader.",
    benign=(
        "A thread that ends because its broker shuts down.",
        "A fetcher gives a partition up for a moment while the leader changes; the next request starts it again.",
    ),
    references=("KAFKA-8346",),
    partition=detect_partition,
    cluster=detect,
    facts=FACTS,
    many=Aggregation(key=lambda f: f.brokers),
    root="lost a replica fetcher",
)
