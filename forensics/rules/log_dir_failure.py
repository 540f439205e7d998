"""log-dir-failure: a log directory went offline, with its cause, and whether the broker continued without it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.settings import plain_directory
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, moment, quote
from forensics.thresholds import SAME_DISK_FAILURE
from parsers.cached import cached_property
from parsers.kinds import Role, named, of

_AT_START = of(role=Role.MARKER) | named("log-dir-offline")
DISK = ("full", "read-only", "io")


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    groups: dict[int | None, list[Event]] = defaultdict(list)
    for event in cluster.of("log-dir-offline"):
        groups[event.broker if event.broker is not None else event.writer].append(event)
    for broker, events in sorted(groups.items(), key=lambda g: str(g[0])):
        halts = [e.at for e in cluster.of("fatal-error") if e.writer == broker and e.reason == "log-dir" and e.at is not None]
        for failure in _failures(broker, events, halts):
            for directory, lines in _by_directory([e for e in failure if e.writer == broker] or failure):
                yield _finding(_Failure(broker, directory, lines, cluster))


def _by_directory(events: Sequence[Event]) -> list[tuple[str | None, list[Event]]]:
    lines: dict[str | None, list[Event]] = defaultdict(list)
    for event in events:
        lines[event.directory].append(event)
    return sorted(lines.items(), key=lambda group: str(group[0]))


def _failures(broker: int | None, events: Sequence[Event], halts: Sequence[datetime]) -> Iterator[list[Event]]:
    """Lines grouped by failure: a directory may fail again, months later or seconds after it halted the broker."""
    current: list[Event] = []
    for event in events:
        first = current[0].at if current else None
        if first is not None and event.at is not None:
            again = event.writer == broker and any(first <= halt < event.at for halt in halts)
            if again or event.at - first > SAME_DISK_FAILURE:
                yield current
                current = []
        current.append(event)
    if current:
        yield current


@dataclass
class _Failure:
    broker: int | None
    directory: str | None
    lines: Sequence[Event]
    cluster: Cluster

    @property
    def at(self) -> datetime | None:
        return self.lines[0].at

    def near(self, kind: str) -> list[Event]:
        if self.at is None:
            return []
        lines = (e for e in self.cluster.of(kind) if e.writer == self.broker and e.at is not None)
        return [e for e in lines if e.at is not None and abs(e.at - self.at) <= SAME_DISK_FAILURE]

    def refused(self) -> Event | None:
        """The exception that caused the failure: the last one before it about this directory."""
        lines = [e for e in self.near("log-file-refused") if e.value is None or e.value.startswith(self.directory or "")]
        before = [e for e in lines if e.at is not None and self.at is not None and e.at <= self.at]
        return before[-1] if before else next(iter(lines), None)

    def halted(self) -> Event | None:
        lines = (e for e in self.near("fatal-error") if e.reason == "log-dir")
        return next((e for e in lines if e.at is not None and self.at is not None and e.at >= self.at), None)

    def returned(self) -> Event | None:
        """The start at which the directory worked again: the broker looked there for the marker of a clean shutdown."""
        if self.at is None or self.directory is None or self.broker is None:
            return None
        own = plain_directory(self.directory)
        of_directory = [e for e in self.cluster.of(*_AT_START) if e.writer == self.broker and plain_directory(e.directory or "") == own]
        failed_at = [e.at for e in of_directory if e.event == "log-dir-offline" and e.at is not None]
        for e in of_directory:
            after = e.event != "log-dir-offline" and e.at is not None and e.at > self.at
            if after and not any(timedelta(0) <= at - e.at <= SAME_DISK_FAILURE for at in failed_at):  # type: ignore[operator]
                return e
        return None

    @cached_property
    def set(self) -> tuple[str, ...]:
        """The log directories in the broker's settings; empty if unknown."""
        return self.cluster.log_dirs(self.broker, self.at) if self.broker is not None else ()


def _finding(failure: _Failure) -> Finding:
    broker, at = failure.broker, failure.at
    where = failure.directory or "a log directory"
    refused, halted = failure.refused(), failure.halted()
    cause = refused.reason if refused is not None else None
    alone = halted is not None or len(failure.set) == 1
    back = failure.cluster.next_of(broker, at, "broker-started") if alone and broker is not None else failure.returned()
    return Finding(
        kind="log-dir-failure",
        severity="high",
        confidence="certain",
        brokers=(broker,) if broker is not None else (),
        start=at,
        end=back.at if back is not None else None,
        cause=cause,
        summary=f"broker {broker}: log directory {where} "
        + ("was removed under the running broker" if cause == "missing" else "went offline")
        + (", and the broker halted" if alone else ""),
        explanation=f"At {moment(at)} broker {broker} took {where} offline{_why(refused)}. {_went_on(failure, halted, back)} {_records(cause, alone)}",
        next_steps=_next_steps(cause),
        evidence=quote(refused, failure.lines, halted, back),
    )


def _why(refused: Event | None) -> str:
    if refused is None:
        return " after an I/O error"
    file = refused.value or "a file in it"
    return {
        "in-use": f": Windows refused {_change(refused.value)}, because a file there is mapped or open (KAFKA-1194, KAFKA-9458)",
        "missing": f": {file} was missing. The directory or its content was removed while the broker was running",
        "full": ": its disk was full",
        "read-only": ": its file system had become read-only",
        "io": ": its disk returned an input/output error",
        "handles": f": the process could not open {file}, because it had too many open files",
        "denied": f": the process was denied access to {file}",
    }[refused.reason or ""]


def _change(value: str | None) -> str:
    old, _, new = (value or "").partition(" -> ")
    for suffix, change in (
        ("-delete", "to rename the directory of a replica whose topic was deleted"),
        (".deleted", "to rename a segment that was to be deleted"),
        (".swap", "to put a compacted segment in its place"),
        ("-checkpoint", "to replace a checkpoint file"),
    ):
        if new.endswith(suffix):
            return f"{change} ({old})"
    return f"a change of {value}" if value else "a change of a file"


def _went_on(failure: _Failure, halted: Event | None, back: Event | None) -> str:
    if halted is None and len(failure.set) != 1:
        goes_on = (
            "the broker continues with its other directories"
            if failure.set
            else "with other directories a broker continues, without any it halts"
        )
        again = f" The directory worked again at the start of {moment(back.at)}." if back is not None else ""
        return f"Its replicas there stopped immediately; {goes_on} (KIP-112).{again}"
    ended = f"No other log directory was left, so the broker halted at {moment((halted or failure.lines[-1]).at)}, without a shutdown"
    return (
        f"{ended}; it had restarted by {moment(back.at)}." if back is not None else f"{ended}. No later start of the broker is in evidence."
    )


def _records(cause: str | None, alone: bool) -> str:
    if cause == "missing":
        return (
            "All records in the removed files are gone, unless another broker has a copy; a partition with no other replica has lost all its "
            "records. The broker creates an empty directory at its next start."
        )
    if cause in ("in-use", "handles", "denied"):
        return "The disk is probably not damaged: written records are still there" + (
            ", except unflushed ones if the machine failed too." if alone else "."
        )
    return "The replicas return only after a restart on a working disk; on an empty disk they are copied again."


def _next_steps(cause: str | None) -> tuple[str, ...]:
    if cause == "in-use":
        return (
            "Complete the refused change by hand while the broker is stopped (for a deleted topic, remove its directories); otherwise the failure "
            "returns at every start.",
            "Do not delete the whole log directory: it contains the records of the other topics.",
            "Run Kafka on a system that can rename open files: Linux, a container, or WSL 2 on its own file system.",
        )
    if cause == "missing":
        return (
            "Find out what removed the log directory: a person, a script, or a cleaner of temporary directories. Keep log.dirs out of directories such as /tmp.",
            "For each partition of the log directory, find another in-sync replica; if there is none, have the producers resend the records.",
        )
    if cause == "handles":
        return ("Raise the limit of open files (ulimit -n): a broker needs two for every segment and one for every connection.",)
    if cause == "denied":
        return (
            "Give the log directory and all its files back to the user that runs the broker; find out who started the broker as another user.",
        )
    return (
        "Check whether the disk is full, read-only or failing (dmesg)."
        if cause not in DISK
        else "Repair the disk before the broker starts on it.",
        "Before the disk is replaced, check that every partition on it has another in-sync replica, and copy the partitions that have none.",
    )


RULE = Rule(
    kind="log-dir-failure",
    rank=330,
    level="high",
    meaning="A log directory failed; the broker continues without it, or halts if it was the last.",
    benign=("On Windows a file that is mapped or open cannot be renamed: the directory goes offline although the disk is healthy.",),
    references=("KIP-112", "KIP-858", "KAFKA-1194", "KAFKA-9458"),
    cluster=detect,
    many=Aggregation(),
    root="lost a log directory",
)
