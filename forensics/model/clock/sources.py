"""The collected files: what each is, whose, from when until when, and in which order its lines are.

Here: the record of a file, of an archive, and of files that are set aside. Not here: which are set aside (excluded), or whose they are
(identity).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil
from typing import Annotated

from forensics.model.record import Int32, NamedColumn, Record
from forensics.thresholds import ASCENTS_PER_DESCENT, MAX_CLOCK_STEPS
from parsers.sniff import LOGS


@dataclass
class Source(Record):
    """A row of the report's list of sources."""

    path: Annotated[str, "path inside the evidence; containers joined with '/'"]
    kind: Annotated[str, "kind of the file: server-log, hw-checkpoint, segment, …"]
    node: Annotated[Int32 | None, NamedColumn("broker"), "broker that wrote it; null if unknown, or if several wrote it"]
    collection: Annotated[str, "top directory of its collection; a broker may have several collections"]
    bytes: Annotated[int | None, "size"]
    sha256: Annotated[str | None, "SHA-256"]
    modified: Annotated[datetime | None, "modification time (UTC); null if it is only the time of the copy"]
    lines: Annotated[int | None, "lines of a log"]
    unrecognised: Annotated[int | None, "relevant lines that were not recognised"]
    samples: Annotated[Sequence[str], "some of those lines"]
    first: Annotated[datetime | None, "time of its first line, UTC"]
    last: Annotated[datetime | None, "time of its last line, UTC"]
    problem: Annotated[str | None, "why it could not be read, or not completely"]
    shared: Annotated[tuple[Int32, ...], "the brokers, if several wrote it"] = ()
    last_own: datetime | None = None
    """Time of the last line that a broker wrote, if it is known: another process, such as ZooKeeper, may write to the same log."""

    understood: Annotated[int | None, "lines with words of Kafka's statements that were understood"] = None
    layout: Annotated[str | None, "conversion patterns learned from its lines, one a line"] = None
    printed: Mapping[str, Sequence[tuple[int, datetime | None]]] = field(default_factory=dict, repr=False)
    """Lines that show that INFO is enabled, by facet (parsers.patterns.facets): their numbers and times (UTC), in the order of lines.
    For a long log, only the first and last lines of blocks."""
    ascents: int = 0
    """Number of lines with events whose time is later than that of the line before."""
    descents: int = 0
    """Number of such lines whose time is earlier. Lines of several threads may be some milliseconds out of order."""
    steps_back: Sequence[tuple[int, datetime, datetime]] = field(default=(), repr=False)
    """The largest steps back of more than a second: the number of the later line, and the times of the line before and of this line in UTC.
    A change of the zone is not a step."""
    parts: tuple[int, ...] | None = None
    """None if its lines are in the order in which they were written. Empty if the newest line comes first, as some log stores export it.
    Else parts of logs were joined: the first lines of all but the first part."""
    repeated: int = 0
    """Lines that were there twice, as shippers deliver them again, and were read once."""
    suppressed: int = 0
    """Messages that a rate limit dropped before collection, as the log states."""
    informed: bool = True
    """A line has the level INFO."""
    common_words: tuple[str, ...] = ()
    """Words that all its lines contain, the longest first."""
    errors: tuple[str, ...] = ()
    """What a short log prints as errors."""
    of_seconds: bool = False
    """Its lines show whole seconds only."""
    shifted_ms: int = 0
    """By how much the times in it are later than those of another log of its broker with the same lines (shifted_copies)."""
    cut_at: int | None = None
    """Maximum line length in characters to which lines were truncated before collection; None if they were not."""

    @property
    def unsorted(self) -> bool:
        """Lines are out of order: time goes back more often than a clock is set, or than threads overtake each other."""
        steps = len(self.steps_back)
        return steps > MAX_CLOCK_STEPS or (steps > 0 and self.descents > 2 * steps + ceil(self.ascents / ASCENTS_PER_DESCENT))

    @property
    def clock_set_back(self) -> bool:
        """Whether its clock was set back. Unsorted logs, joined ones, and those with the lines of several brokers show nothing about the
        clock."""
        return bool(self.steps_back) and not (self.unsorted or self.shared or self.parts)

    @property
    def newest_first(self) -> bool:
        return self.parts == ()

    @property
    def largest_step_back(self) -> timedelta:
        return max((before - after for _, before, after in self.steps_back), default=timedelta())

    @property
    def nodes(self) -> tuple[int, ...]:
        return self.shared or (() if self.node is None else (self.node,))

    @property
    def of_other_process(self) -> bool:
        """Whether it is a log in which only another process than a broker or controller wrote, such as ZooKeeper."""
        of_broker = self.last_own is not None or self.newest_first or self.ascents or self.descents or self.printed
        return self.kind in LOGS and self.last is not None and not of_broker


def line_times(sources: Iterable[Source]) -> list[datetime]:
    """The times of the first and the last line of each: in a paste, these are in any order."""
    return [at for s in sources for at in (s.first, s.last) if at is not None]


@dataclass(frozen=True, slots=True)
class ExcludedFiles:
    """Files that are not used."""

    why: str
    """'cluster': of another cluster; 'sample': a configuration that Kafka ships; 'copy': a renamed copy of a file;
    'quotation': lines of a broker whose own logs cover their times."""
    paths: tuple[str, ...]
    cluster_id: str | None = None
    """The id of the other cluster."""


@dataclass(frozen=True, slots=True, order=True)
class Archive:
    """A collected archive, as it was on disk; or a file that was not read."""

    path: str
    bytes: int
    sha256: str
