"""log-dir-failure: a log directory went offline, with its cause, and whether the broker continued without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.failed_directories import AT_START, FailedDirectory, failed_directories
from forensics.model.cluster.failed_starts import failed_starts
from forensics.model.cluster.process_errors import FREE_SPACE, named_node
from forensics.model.events import Event
from forensics.model.findings import Finding, capital, counted, moment, quote, raw

DISK = ("full", "read-only", "io")


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    in_vain = {id(e) for attempts in failed_starts(cluster).values() for a in attempts for e in a.errors}
    for failure in failed_directories(cluster):
        if failure.lines[0].reason != AT_START or id(failure.halted) not in in_vain:
            yield _finding(failure)


def _finding(failure: FailedDirectory) -> Finding:
    broker, at, who = failure.broker, failure.at, named_node(failure.broker, failure.cluster)
    where = failure.directory or "a log directory"
    refused, halted, back = failure.refused, failure.halted, failure.returned
    cause = refused.reason if refused is not None else None
    what = "was removed under the running broker" if cause == "missing" else "went offline"
    if failure.lines[0].reason == AT_START:
        what = "could not be used when the broker started"
    return raw(
        kind="log-dir-failure",
        severity="high",
        confidence="certain",
        brokers=(broker,) if broker is not None else (),
        start=at,
        end=back.at if back is not None else None,
        cause=cause,
        summary=f"{who}: {'log directory ' if failure.directory else ''}{where} {what}"
        + (", and the broker halted" if failure.alone else "")
        + (f"; in use again at {moment(back.at)}" if back is not None else ""),
        explanation=f"At {moment(at)} {who} {_took_offline(failure, where)}{_why(refused)}. {_went_on(failure, halted, back)} {_records(cause, failure.alone)}",
        next_steps=_next_steps(cause, f"{where} on {who}", over=back is not None),
        evidence=quote(refused, failure.lines, halted, back),
    )


def _took_offline(failure: FailedDirectory, where: str) -> str:
    return f"started without {where}" if failure.lines[0].reason == AT_START else f"took {where} offline"


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
        "maps": ": the kernel refused to map another index file into memory",
        "unsupported": ": its file system refused a request that Kafka needs, such as mapping an index file into memory",
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


def _went_on(failure: FailedDirectory, halted: Event | None, back: Event | None) -> str:
    again = failure.again
    still = f" It still failed at {counted(len(again), 'start')}, the last one at {moment(again[-1].at)}." if again else ""
    if not failure.alone:
        goes_on = (
            "the broker continues with its other directories"
            if failure.configured
            else "with other directories a broker continues, without any it halts"
        )
        used = f" The directory was in use again when the broker was up at {moment(back.at)}." if back is not None else ""
        return f"Its replicas there are offline; {goes_on} (KIP-112).{still}{used}"
    ended = f"No other log directory was left, so the broker halted at {moment((halted or failure.lines[-1]).at)}, without a shutdown"
    return (
        f"{ended}.{still} {capital(named_node(failure.broker, failure.cluster))} was up again at {moment(back.at)}."
        if back is not None
        else f"{ended}.{still} No later successful start of the broker is in evidence."
    )


def _records(cause: str | None, alone: bool) -> str:
    if cause == "missing":
        return (
            "All records in the removed files are gone, unless another broker has a copy; a partition with no other replica has lost all its "
            "records. The broker creates an empty directory at its next start."
        )
    if cause in ("in-use", "handles", "denied", "maps", "unsupported"):
        return "The disk is probably not damaged: written records are still there" + (
            ", except unflushed ones if the machine failed too." if alone else "."
        )
    return "The replicas return only after a restart on a working disk; on an empty disk they are copied again."


def _next_steps(cause: str | None, where: str, *, over: bool) -> tuple[str, ...]:
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
    if cause == "maps":
        return (
            "Raise `vm.max_map_count` with `sysctl -w vm.max_map_count=262144` (each index file of a segment is a map), check that the machine has free memory, and restart the broker.",
        )
    if cause == "unsupported":
        return (
            "Move the log directory to a local file system such as XFS or ext4: shared folders and some network file systems cannot map files into memory.",
        )
    if cause == "denied":
        return (
            "Give the log directory and all its files back to the user that runs the broker; find out who started the broker as another user.",
        )
    if cause == "full":
        return (FREE_SPACE,)
    return (
        f"Check whether the disk of {where} is full, read-only or failing (`dmesg`)."
        if over or cause not in DISK
        else f"Repair or replace the disk of {where} before the broker is started again.",
        f"Before the disk of {where} is replaced, check that every partition on the disk has another in-sync replica, and copy the partitions that have none.",
    )
