"""fatal-error: an error ended a process that was up, or one of its threads.

Here: processes, and threads without a finding of their own. Not here: failed starts (start_failed), failed log directories
(log_dir_failure), replica fetchers (fetcher_dead) and the log cleaner (cleaner_dead).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_starts import failed_starts
from forensics.model.cluster.process_errors import cause_of, exception, failures, named_node, of_fetcher, span
from forensics.model.events import Event
from forensics.model.findings import Finding, capital, moment, quote, raw
from forensics.rules.cleaner_dead import of_cleaner


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    starting = {id(e) for attempts in failed_starts(cluster).values() for a in attempts for e in a.errors}
    errors = (e for e in cluster.of("fatal-error") if id(e) not in starting and not _reported_elsewhere(e))
    for node, same in failures(errors, _what):
        yield _finding(node, same, cluster)


def _reported_elsewhere(error: Event) -> bool:
    return error.reason in ("log-dir", "locked") or of_fetcher(error) or of_cleaner(error)


def _what(error: Event) -> str | None:
    """The process ends once; threads and faults are told apart by their names."""
    return None if _ends(error) else f"{error.reason} {error.value}"


def _ends(error: Event) -> bool:
    """Whether the process ended."""
    return error.reason in ("process", "fatal", "disk")


def _finding(node: int | None, errors: Sequence[Event], cluster: Cluster) -> Finding:
    first, ended = errors[0], _ends(errors[0])
    who, cause, thrown = named_node(node, cluster), cause_of(errors), exception(errors)
    back = cluster.next_of(node, errors[-1].at, "broker-starting") if node is not None and ended else None
    name = f" ({first.value})" if first.value else ""
    what = (
        "ended because of a fatal error"
        if ended
        else "lost a thread"
        if first.reason == "thread"
        else f"reported a {first.reason or ''} fault"
    )
    why = f": {cause.words}" if cause is not None else ""
    return raw(
        kind="fatal-error",
        severity="high" if ended else "medium",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=first.at,
        end=back.at if back is not None else None,
        cause=cause.name if cause is not None else None,
        summary=f"{who} {what}{name}{why}",
        explanation=(
            f"{capital(who)} {what}{name} {span(errors)}{why}."
            + (f" The error is: {thrown}." if thrown else "")
            + ("" if ended or first.reason != "thread" else f" The process of {who} continued without this thread until its next restart.")
            + (f" {capital(who)} was started again at {moment(back.at)}." if back else "")
        ),
        next_steps=cause.next_steps
        if cause is not None
        else (f"Read the exception in server.log of {who} at {moment(first.at)}, and search Kafka's issue tracker for it.",),
        evidence=quote(errors[:5], errors[-1:], back),
    )
