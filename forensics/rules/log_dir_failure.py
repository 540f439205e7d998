"""log-dir-failure: a log directory went offline, with its cause, and whether the broker continued without it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_directories import AT_START, EARLIER, FailedDirectory, failed_directories
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import Message, said, values
from forensics.model.presence.failed_starts import errors_of_starts
from forensics.model.presence.process_errors import steps_of, who

DISK = ("full", "read-only", "io")
_CHANGES = {"-delete": "change-delete", ".deleted": "change-deleted", ".swap": "change-swap", "-checkpoint": "change-checkpoint"}
"""What Windows refused, by the end of the new name."""
_INTACT = ("renamed", "in-use", "handles", "denied", "maps", "unsupported")
"""Causes that do not damage a disk."""


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    in_vain = errors_of_starts(cluster)
    for failure in failed_directories(cluster):
        if failure.lines[0].reason != AT_START or id(failure.halted) not in in_vain:
            yield _finding(failure)


def _finding(failure: FailedDirectory) -> Finding:
    broker, refused, halted, back = failure.broker, failure.refused, failure.halted, failure.returned
    cause, at_start, earlier = _cause(failure), failure.lines[0].reason == AT_START, failure.lines[0].reason == EARLIER
    again = failure.again
    return Finding(
        confidence="certain",
        brokers=(broker,) if broker is not None else (),
        start=failure.at,
        end=back.at if back is not None else None,
        cause=cause,
        values=values(
            who=who(broker, failure.cluster),
            directory=failure.directory,
            where=failure.directory or "a log directory",
            at_start=at_start,
            removed=cause == "missing" and not at_start,
            offline=cause != "missing" and not at_start and not earlier,
            earlier=earlier,
            why=_why(cause, refused) if cause is not None and refused is not None else None,
            alone=failure.alone,
            others=bool(failure.configured),
            halted=(halted or failure.lines[-1]).at,
            again=len(again) or None,
            last_failed=again[-1].at if again else None,
            back=back.at if back is not None else None,
            records=_records(cause, failure.alone),
            repair=back is None and cause in DISK,
            steps=(_steps(cause),),
        ),
        evidence=quote(refused, failure.lines, halted, back),
    )


_RENAMED = re.compile(r"\.[0-9a-f]{32}-(?:future|delete|stray)(?:[/\\]|$)")
_REPLICA = re.compile(r"[/\\]([^/\\]+-\d+)(?:[/\\][^/\\]+)?$")


def _cause(failure: FailedDirectory) -> str | None:
    """What the exception names. A missing file of a replica that was moved or deleted at that moment is there under another name: the
    directory was renamed between two steps of another thread (KAFKA-15391, KAFKA-15572). So may one be whose path is the old one."""
    refused = failure.refused
    if refused is None or refused.reason != "missing":
        return refused.reason if refused is not None else None
    if _RENAMED.search(refused.value or ""):
        return "renamed"
    missing = [
        _REPLICA.search((e.value or "").removeprefix(failure.directory or ""))
        for e in failure.near("log-file-refused")
        if e.reason == "missing"
    ]
    return "file-missing" if None not in missing and len({m[1] for m in missing if m is not None}) == 1 else "missing"


def _why(cause: str, refused: Event) -> Message:
    if cause == "in-use":
        return said("log-dir-failure/in-use", change=_change(refused.value))
    return said(f"log-dir-failure/{cause}", file=refused.value)


def _change(value: str | None) -> Message:
    old, _, new = (value or "").partition(" -> ")
    named = next((name for suffix, name in _CHANGES.items() if new.endswith(suffix)), None)
    return said(f"log-dir-failure/{named}", old=old) if named is not None else said("log-dir-failure/change", file=value)


def _records(cause: str | None, alone: bool) -> Message:
    if cause == "missing":
        return said("log-dir-failure/records-gone")
    if cause == "file-missing":
        return said("log-dir-failure/records-of-file")
    return said("log-dir-failure/records-there", alone=alone) if cause in _INTACT else said("log-dir-failure/records-offline")


def _steps(cause: str | None) -> Message:
    if cause == "full":
        return steps_of("disk-full")
    return said(f"log-dir-failure/steps-{cause if cause in ('missing', 'file-missing', *_INTACT) else 'disk'}")
