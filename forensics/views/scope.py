"""What a report was narrowed to: the requested topics, partitions, brokers and times, and what lies outside.

Here: the request, its words, and the facts outside that every format shows. Not here: the options of the command line (forensics.commands).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from forensics.model.findings import LEVELS, Finding
from forensics.model.record import Int32, Record
from forensics.model.times import is_later
from forensics.proof.verdict import LOST, UNKNOWN
from forensics.words.formats import brokers_named, counted, moment, some

Partitions = Sequence[Mapping[str, Any]]
NAMED = 3
"""Partitions or topics that a sentence lists by name."""


@dataclass(frozen=True)
class Selection(Record):
    """The requested part of a report. Empty fields select everything."""

    topics: Annotated[tuple[str, ...], "topics; empty: all"] = ()
    partitions: Annotated[tuple[Int32, ...], "partition numbers; empty: all"] = ()
    brokers: Annotated[tuple[Int32, ...], "brokers of the findings; empty: all"] = ()
    since: Annotated[datetime | None, "begin of the time of the findings (UTC)"] = None
    until: Annotated[datetime | None, "end of the time of the findings (UTC)"] = None
    kinds: Annotated[tuple[str, ...], "kinds of the findings; empty: all"] = ()
    severity: Annotated[str | None, "the lowest severity of the findings"] = None

    def __bool__(self) -> bool:
        return self != Selection()

    @property
    def by_partition(self) -> bool:
        """Whether topics or partitions are selected, so that the verdict is about these only."""
        return bool(self.topics or self.partitions)

    def has_partition(self, topic: str | None, partition: int | None) -> bool:
        return (not self.topics or topic in self.topics) and (not self.partitions or partition in self.partitions)

    def has(self, finding: Finding) -> bool:
        """Whether a finding about a selected partition is also about a selected broker and time, and of a selected kind and severity."""
        if (self.kinds and finding.kind not in self.kinds) or LEVELS.index(finding.severity) < LEVELS.index(self.severity or LEVELS[0]):
            return False
        if self.brokers and not set(self.brokers) & set(finding.brokers):
            return False
        end = finding.end or finding.start
        if is_later(self.since, end):
            return False
        return self.until is None or finding.start is None or finding.start <= self.until

    @property
    def subject(self) -> str:
        """The selected partitions in words: 'topic orders', 'partition 0 of topics a, b'; empty if all are selected."""
        topics = f"topic{'s' if len(self.topics) > 1 else ''} {some(list(self.topics), NAMED)}" if self.topics else ""
        numbers = some([str(n) for n in self.partitions], NAMED)
        partitions = f"partition{'s' if len(self.partitions) > 1 else ''} {numbers}" if self.partitions else ""
        return " of ".join(words for words in (partitions, topics or ("every topic" if partitions else "")) if words)

    @property
    def window(self) -> str:
        """The selected brokers, times, kinds and severities in words."""
        times = [f"{word} {moment(at)}" for word, at in (("since", self.since), ("until", self.until)) if at is not None]
        of = [f"of kind {some(list(self.kinds))}"] if self.kinds else []
        of += [f"of severity {self.severity} or worse"] if self.severity is not None else []
        return " ".join([*of, *([f"about {brokers_named(self.brokers)}"] if self.brokers else []), *times])


@dataclass(frozen=True)
class Scope:
    """A selection, and the results outside of it."""

    selection: Selection
    findings: Sequence[Finding]
    """Findings about the selected partitions, also about other brokers and times: the verdict covers these."""
    outside: Partitions
    """States of the partitions that are not selected."""
    hidden: int
    """Findings about the selected partitions that are not shown because of their broker or time."""

    def before(self, inside: int) -> list[str]:
        """Sentences before the verdict on the selected partitions. `inside`: their number."""
        lines = []
        if self.selection.by_partition:
            lines.append(f"{self.selection.subject}: {inside:,} of {counted(inside + len(self.outside))}")
        if window := self.selection.window:
            hidden = counted(self.hidden, "other finding")
            lines.append(f"findings {window} are shown; {hidden} {'is' if self.hidden == 1 else 'are'} not shown")
        return lines

    def after(self) -> list[str]:
        """Sentences about the partitions outside of the selection."""
        if not self.outside:
            return []
        parts = []
        for verdict, words in ((LOST, "lost data"), (UNKNOWN, "unknown")):
            if names := [f"{p['topic']}-{p['partition']}" for p in self.outside if p["verdict"] == verdict]:
                parts.append(f"{counted(len(names))} {words} ({some(names, NAMED)})")
        rest = "the others are" if parts else f"all {counted(len(self.outside))} are" if len(self.outside) > 1 else "the other partition is"
        whole = any(p["verdict"] not in (LOST, UNKNOWN) for p in self.outside)
        return [f"{', '.join([*parts, *([f'{rest} proven intact'] if whole else [])])}"]
