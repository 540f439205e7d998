"""evidence-gap: files that are missing or unreadable, and what they would show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from forensics.model.clock.sources import Source
from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import filtered_files, lacking, log_coverage
from forensics.model.events import Event
from forensics.model.findings import MAX_EVIDENCE, Evidence, Finding, quote
from forensics.model.message import Message, values
from forensics.model.partition.emptied import EMPTIED, emptied_logs
from forensics.model.partition.floods import LEFT_OUT
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.rows import Rows
from forensics.model.times import grouped
from forensics.thresholds import EXPORT_LIMITS, NEXT_PAGE
from parsers.schemas import located

CORRUPT = frozenset({"checkpoint-corrupt", "epochs-not-rising"})
UNFINISHED = "checkpoint-unfinished"
NO_FILES, NO_LOGS = "no-files", "no-logs"
_SHOWN = 64
"""Partitions that a finding carries for its sentences."""

NEEDS = frozenset({LEFT_OUT})


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    """Events that were left out because there were too many (forensics.model.partition.floods)."""
    gaps = timeline.of(LEFT_OUT)
    if gaps:
        yield _left_out(gaps, timeline)


def of_cluster(cluster: Cluster, partitions: Rows) -> Iterator[Finding]:
    yield from map(_unreadable, _alike(_problems(cluster)))
    for brokers, what in _uncollected(cluster, partitions):
        yield _without_logs(brokers, what, cluster, partitions)
    yield from (_process_missing(broker, begun, before) for broker, begun, before in _replaced(cluster, partitions))
    yield from (_lines_missing(broker, reasons, cluster) for broker, reasons in _unreliable(cluster, partitions))
    yield from (_limited(file, rows) for file, rows in _at_limits(cluster))
    lack = {path.partition("#")[0] for path in lacking(cluster)}
    filtered = {file: why for file, why in filtered_files(cluster).items() if file in lack}
    yield from (_filtered([file for file, why in filtered.items() if why == reason], reason) for reason in dict.fromkeys(filtered.values()))


def _at_limits(cluster: Cluster) -> Iterator[tuple[str, int]]:
    """Files with the lines of several writers whose number of rows is a limit of log stores, without pages of an export that another file
    continues. The lines that name no writer are counted with the file itself, together with its header."""
    writers = grouped((source.path.partition("#")[0], source) for source in cluster.sources if source.path.partition("#")[2])
    unnamed = {source.path: source.lines or 0 for source in cluster.sources}
    for file, own in sorted(writers.items()):
        count = sum(source.lines or 0 for source in own)
        limits = [n for n in (count, count + unnamed.get(file, 0)) if n in EXPORT_LIMITS]
        if limits and not any(_continues(others, own) for other, others in writers.items() if other != file):
            yield from ((file, n) for n in limits)


def _continues(later: Sequence[Source], page: Sequence[Source]) -> bool:
    """Whether the rows of a file follow those of a page at once, in the order of the export."""
    (begin, end), (first, last) = _span(later), _span(page)
    if begin is None or end is None or first is None or last is None:
        return False
    step = first - end if page[0].newest_first else begin - last
    return abs(step) <= NEXT_PAGE


def _span(sources: Sequence[Source]) -> tuple[datetime | None, datetime | None]:
    """The first and the last time of the lines of a file."""
    firsts, lasts = ([at for source in sources if (at := getattr(source, name)) is not None] for name in ("first", "last"))
    return min(firsts, default=None), max(lasts, default=None)


def _problems(cluster: Cluster) -> list[tuple[str, list[Event]]]:
    """Problems of reading, by source. A checkpoint that a process did not finish leaves no gap: the one before it is still there."""
    by_source = grouped(
        (event.source, event) for event in cluster.of("problem") if event.reason not in CORRUPT and event.reason != UNFINISHED
    )
    return sorted(by_source.items())


def _alike(found: Sequence[tuple[str, list[Event]]]) -> Iterator[list[tuple[str, list[Event]]]]:
    """The sources of each broker whose only problem is the same."""
    yield from grouped(((own[0].writer, own[0].text) if len(own) == 1 else source, (source, own)) for source, own in found).values()


def _uncollected(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[tuple[tuple[int, ...], str]]:
    """Brokers with replicas from which nothing was collected, or no log with lines about replicas."""
    named = _named(partitions)
    if absent := tuple(sorted(named - cluster.collected)):
        yield absent, NO_FILES
    if silent := tuple(sorted(b for b in named & cluster.collected if log_coverage(b, cluster).begin is None)):
        yield silent, NO_LOGS


def _replaced(cluster: Cluster, partitions: Rows) -> Iterator[tuple[int, datetime, list[Mapping[str, Any]]]]:
    """Brokers that had logs before the first process that the evidence has of them began, when it began, and these logs."""
    found = grouped(((row["broker"], row["process_start"]), row) for _, row in emptied_logs(partitions))
    for (broker, begun), rows in sorted(found.items()):
        if all(run.begin_at is not None and run.begin_at >= begun for run in cluster.availability(broker).runs):
            yield broker, begun, rows


def _unreliable(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, Sequence[Message]]]:
    """Brokers whose logs were collected, but whose missing lines prove nothing, and the reasons."""
    of_files = {*filtered_files(cluster).values()}
    for broker in sorted(_named(partitions) & cluster.collected):
        coverage = log_coverage(broker, cluster)
        if coverage.begin is not None and (reasons := [reason for reason in coverage.reasons if reason not in of_files]):
            yield broker, reasons


def _named(partitions: Sequence[Mapping[str, Any]]) -> set[int]:
    return {b for p in partitions for b in _brokers(p) if b >= 0}


def _brokers(partition: Mapping[str, Any]) -> set[int]:
    return {*(partition["replicas"] or ()), *(partition["isr"] or ())}


def _left_out(gaps: Sequence[Event], timeline: PartitionTimeline) -> Finding:
    return Finding(
        confidence="certain",
        start=gaps[0].at,
        end=gaps[-1].last_at,
        message="left-out",
        values=values(events=sum(e.count or 0 for e in gaps), periods=len(gaps), span=(gaps[0].at, gaps[-1].last_at)),
        evidence=quote(gaps[:3]),
    )


_QUOTED = re.compile(r", for example |, such as |; the file begins: |: no known layout, ")
"""What follows in a problem quotes lines, which a summary does not."""


def _unreadable(alike: Sequence[tuple[str, list[Event]]]) -> Finding:
    """The problems of one source, or of several that have the same problem."""
    files, problems = tuple(source for source, _ in alike), [e for _, own in alike for e in own]
    first = problems[0]
    brief = _QUOTED.split(first.text or "", maxsplit=1)[0]
    one = len(files) == 1
    return Finding(
        confidence="certain",
        brokers=(first.writer,) if first.writer is not None else (),
        message="unreadable",
        values=values(
            files=files,
            problem=located(files[0], brief) if one else brief,
            several=len(files) if not one else None,
            more=(len(problems) - 1 or None) if one else None,
            problems=tuple(dict.fromkeys(e.text or "" for e in problems[:5])),
        ),
        evidence=quote(problems[:3]),
    )


def _without_logs(brokers: tuple[int, ...], what: str, cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Finding:
    replicas = tuple(f"{p['topic']}-{p['partition']}" for p in partitions if set(brokers) & _brokers(p))
    empty = tuple(s.path for b in brokers for s in cluster.sources_of(b) if s.kind == "empty" and "server.log" in s.path.rpartition("/")[2])
    return Finding(
        confidence="certain",
        brokers=brokers,
        message="empty-logs" if empty else what,
        values=values(replicas=replicas[:_SHOWN], number=len(replicas), empty=empty, alone=len(brokers) == 1),
        evidence=(
            Evidence(cluster.sources[0].path if cluster.sources else "", None, None, f"sources of nodes {sorted(cluster.collected)} only"),
        ),
    )


def _process_missing(broker: int, begun: datetime, before: Sequence[Mapping[str, Any]]) -> Finding:
    return Finding(
        confidence="certain",
        brokers=(broker,),
        message="process-missing",
        values=values(begun=begun, in_sync=max((row["in_sync_at"] for row in before if row["in_sync_at"] is not None), default=None)),
        evidence=tuple(dict.fromkeys(Evidence(**e) for row in before[:3] for e in row["evidence"])),
    )


def _lines_missing(broker: int, reasons: Sequence[Message], cluster: Cluster) -> Finding:
    logs = [s for s in cluster.sources_of(broker) if s.kind.endswith("-log")]
    return Finding(
        confidence="certain",
        brokers=(broker,),
        message="lines-missing",
        values=values(reason=reasons[0], reasons=tuple(reasons)),
        evidence=tuple(Evidence(s.path, None, None, f"{s.lines} lines") for s in logs[:3]),
    )


def _limited(file: str, rows: int) -> Finding:
    return Finding(
        confidence="certain",
        message="limited",
        values=values(file=file, rows=rows),
        evidence=(Evidence(file, None, None, f"{rows} rows"),),
    )


def _filtered(files: Sequence[str], reason: Message) -> Finding:
    return Finding(
        confidence="certain",
        message="filtered",
        values=values(files=tuple(files), reason=reason),
        evidence=tuple(Evidence(file, None, None, file) for file in files[:MAX_EVIDENCE]),
    )


READS = (EMPTIED,)
