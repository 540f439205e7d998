"""Failures of log directories: the lines of each, the exception that caused it, and the start at which the directory was in use again; and the
log directory of one replica.

Here: lines of one failure put together, from the first error to the return, and what a broker's own lines about a partition say about its
directory. Not here: the findings (forensics.rules.log_dir_failure, disk_full), or the directories of a broker's settings
(forensics.model.settings.settings).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.events import Event
from forensics.model.partition.timeline import PartitionTimeline, cached_on_timeline
from forensics.model.presence.availability import BrokerRun
from forensics.model.settings.settings import is_directory_id, same_directory
from forensics.model.times import grouped, near, not_after, runs
from forensics.thresholds import SAME_DISK_FAILURE
from parsers.cached import cached_property
from parsers.kinds import named

STORAGE_ERROR = "storage-error"
"""Reason of a refusal to lead or to follow: the directory of the replica is offline."""

OF_REPLICA = named("log-dir-partitions", "become-refused")
"""Kinds of lines that a replica is offline because its log directory failed."""


def log_directory(broker: int, before: datetime | None, timeline: PartitionTimeline) -> Event | None:
    """The broker's last line until a time (None: of all) that names the directory of its replica. None if there is none, or if the replica
    moved to another directory after it."""
    last = next((e for e in reversed(_lines(timeline).get(broker, ())) if (before is None or e.at is None or e.at <= before)), None)
    return last if last is not None and last.directory is not None else None


def failures_of_replica(broker: int, timeline: PartitionTimeline) -> Sequence[Event]:
    """Lines of the broker or of a controller that the replica is offline because its log directory failed."""
    return _failures(timeline).get(broker, ())


@cached_on_timeline
def _lines(timeline: PartitionTimeline) -> Mapping[int, Sequence[Event]]:
    """By broker, the lines that name the directory of its replica, and the moves to another one, which do not name it (KIP-113)."""
    return grouped(
        (e.writer, e)
        for e in timeline.of("log-created", "log-load", "log-moved")
        if e.writer is not None and (e.directory is not None or e.event == "log-moved")
    )


@cached_on_timeline
def _failures(timeline: PartitionTimeline) -> Mapping[int, Sequence[Event]]:
    named = ((e.broker if e.broker is not None and e.event == "log-dir-partitions" else e.writer, e) for e in timeline.of(*OF_REPLICA))
    return grouped((b, e) for b, e in named if b is not None and (e.event == "log-dir-partitions" or e.reason == STORAGE_ERROR))


AT_START = "start"
"""Reason of a line about a directory that failed while its broker was starting."""
EARLIER = "earlier"
"""Reason of a line about a directory that had failed before."""


@dataclass
class FailedDirectory:
    """A log directory that failed, and failed again at starts until it was in use again."""

    broker: int | None
    directory: str | None
    lines: Sequence[Event]
    cluster: Cluster

    @property
    def at(self) -> datetime | None:
        return self.lines[0].at

    def near(self, kind: str) -> list[Event]:
        """The broker's lines of a kind around the first failure; of lines without times, those of the same source."""
        first = self.lines[0]
        lines = (e for e in self.cluster.of(kind) if e.writer == self.broker)
        return [
            e for e in lines if near(e.at, first.at, SAME_DISK_FAILURE) or (e.at is None and first.at is None and e.source == first.source)
        ]

    @cached_property
    def refused(self) -> Event | None:
        """The exception that caused the failure: the last one before it about this directory."""
        refused = self.near("log-file-refused")
        lines = [e for e in refused if e.value is None or e.value.startswith(self.directory or "")]
        lines = lines or [e for e in refused if e.at == self.at and e.source == self.lines[0].source]  # the exception of this line
        before = [e for e in lines if not_after(e.at, self.at)]
        return before[-1] if before else next(iter(lines), None)

    @cached_property
    def halted(self) -> Event | None:
        """The halt of the broker because of this failure."""
        return next((e for e in self.near("fatal-error") if e.reason == "log-dir"), None)

    @cached_property
    def configured(self) -> tuple[str, ...]:
        """The log directories in the broker's settings; empty if unknown."""
        return self.cluster.log_dirs(self.broker, self.at) if self.broker is not None else ()

    @property
    def alone(self) -> bool:
        """It was the only log directory, so the broker halted."""
        return self.halted is not None or len(self.configured) == 1

    @cached_property
    def returned(self) -> Event | None:
        """The line that the broker was up again with this directory. A start without it prints an error."""
        run = _run_with(self, self.cluster)
        return run.up if run is not None else None

    @property
    def again(self) -> list[Event]:
        """The lines of starts at which it still failed, the first one of each process."""
        found: dict[datetime | None, Event] = {}
        for e in self.lines:
            if e.reason == AT_START and e is not self.lines[0] and self.broker is not None:
                begun = [r.begin_at for r in self.cluster.availability(self.broker).runs if r.begin_at and e.at and r.begin_at <= e.at]
                found.setdefault(max(begun, default=None), e)
        return list(found.values())


def _run_with(failure: FailedDirectory, cluster: Cluster) -> BrokerRun | None:
    """The first process that was up with the directory after its last failure."""
    last = failure.lines[-1].at
    if failure.broker is None or last is None:
        return None
    for run in (r for c in (cluster, *cluster.later) for r in c.availability(failure.broker).runs):
        if run.outcome == "failed" or run.up is None or run.begin_at is None or run.begin_at <= last:
            continue
        used = cluster.log_dirs(failure.broker, run.up.at)
        if not used or failure.directory is None or any(same_directory(d, failure.directory) for d in used):
            return run
    return None


@cached_on_cluster
def failed_directories(cluster: Cluster) -> list[FailedDirectory]:
    """All failures, by broker and directory."""
    groups = grouped(
        (event.broker if event.broker is not None else event.writer, event) for event in (*cluster.of("log-dir-offline"), *_alone(cluster))
    )
    return [f for broker, events in sorted(groups.items(), key=lambda g: str(g[0])) for f in _of_broker(broker, events, cluster)]


def _alone(cluster: Cluster) -> Iterator[Event]:
    """Errors that take a directory offline, and halts because of them, of brokers without any line that a directory is offline: the
    evidence is a part of a log."""
    reporting = {e.writer for e in cluster.of("log-dir-offline")}
    seen: set[tuple[int | None, str | None]] = set()
    halts = (e for e in cluster.of("fatal-error") if e.reason == "log-dir")
    for e in (*cluster.of("log-dir-error"), *halts):
        if (
            e.writer not in reporting
            and not (e.writer is None and reporting)
            and (e.writer, _directory(e)) not in seen
            and not (_directory(e) is None and any(w == e.writer for w, _ in seen))
        ):
            seen.add((e.writer, _directory(e)))
            yield e


def _of_broker(broker: int | None, events: Sequence[Event], cluster: Cluster) -> Iterator[FailedDirectory]:
    by_directory = grouped((_directory(event), event) for event in _own(broker, events))
    for directory, lines in sorted(by_directory.items(), key=lambda group: str(group[0])):
        yield from _separate(FailedDirectory(broker, directory, lines, cluster))


def _directory(event: Event) -> str | None:
    """The log directory that a line names; a halt names all of them, which may be one."""
    return event.directory or (event.value if event.event == "fatal-error" and ", " not in (event.value or ", ") else None)


def _own(broker: int | None, events: Sequence[Event]) -> list[Event]:
    """The broker's own lines, and of others those about failures that it did not print: they may know only the id of a directory."""
    own = [e for e in events if e.writer == broker]
    printed = [e.at for e in own if e.at is not None]

    def known(e: Event) -> bool:
        return e.at is None or any(abs(e.at - at) <= SAME_DISK_FAILURE for at in printed)

    return [e for e in events if e.writer == broker or not (own and known(e))]


def _separate(whole: FailedDirectory) -> Iterator[FailedDirectory]:
    """A directory that was in use again may fail again."""
    return (replace(whole, lines=own) for own in runs(whole.lines, lambda own, e: not _between(replace(whole, lines=own), e)))


def _between(failure: FailedDirectory, event: Event) -> bool:
    """Whether the event is of a later failure: the directory had been in use again, or nothing shows what happened for a while."""
    last, back = failure.lines[-1].at, failure.returned
    if event.at is None or last is None:
        return False
    if back is not None and back.at is not None:
        return back.at < event.at
    if failure.broker is None and event.source != failure.lines[-1].source:
        return True
    return event.at - last > SAME_DISK_FAILURE and (failure.broker is None or is_directory_id(event.directory or ""))
