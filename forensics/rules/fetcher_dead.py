"""fetcher-dead: a replica fetcher of a broker ended because of an error.

Here: threads that ended because of an error. Not here: threads that a shutdown ends, and other threads (fatal_error).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import cause_of, exception, failures, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, moment, quote


def of_fetcher(error: Event) -> bool:
    return error.event == "fatal-error" and error.reason == "thread" and "ReplicaFetcher" in (error.text or "").split("\n")[0]


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for node, errors in failures(e for e in cluster.of("fatal-error") if of_fetcher(e)):
        yield _finding(node, errors, cluster)


def _finding(node: int | None, errors: Sequence[Event], cluster: Cluster) -> Finding:
    who, cause, thrown = named_node(node, cluster), cause_of(errors), exception(errors)
    back = cluster.next_of(node, errors[-1].at, "broker-starting") if node is not None else None
    return Finding(
        kind="fetcher-dead",
        severity="high",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=errors[0].at,
        end=back.at if back is not None else None,
        cause=cause.name if cause is not None else None,
        summary=f"a replica fetcher of {who} ended because of an error" + (f": {cause.words}" if cause is not None else ""),
        explanation=(
            f"A replica fetcher of {who} ended because of an error {span(errors)}."
            + (f" The error is: {thrown}." if thrown else "")
            + f" The replicas that this thread fetched for do not follow their leaders any more, and leave the ISR, until {who} is restarted."
            + (f" {who[0].upper()}{who[1:]} was started again at {moment(back.at)}." if back else "")
        ),
        next_steps=(
            *(cause.next_steps if cause is not None else ()),
            f"Restart {who} after the cause is removed, and check with `kafka-topics.sh --describe --under-replicated-partitions` that its replicas return to the ISR.",
        ),
        evidence=quote(errors[:5], errors[-1:], back),
    )


RULE = Rule(
    kind="fetcher-dead",
    rank=285,
    level="high",
    meaning="A replica fetcher thread ended because of an error: the replicas of its partitions stop following until the broker is restarted.",
    benign=("A thread that ends because its broker shuts down.",),
    cluster=detect,
    many=Aggregation(key=lambda f: f.brokers),
    root="lost a replica fetcher",
)
