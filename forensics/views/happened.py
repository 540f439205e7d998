"""What happened, as events: the findings of one kind that happened together, with one line for all of them.

Here: which findings are one event, its times and its words. Not here: which events a screen shows (first_screen), or incidents
(forensics.incidents).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from forensics.incidents.folding import places
from forensics.model.cluster.facts import by_role
from forensics.model.findings import Finding
from forensics.model.message import Message, Value, said
from forensics.model.times import grouped, runs
from forensics.rules import KINDS, rule_of
from forensics.thresholds import SHOWN_AS_ONE
from forensics.words import has_words, text, together
from forensics.words.formats import natural


@dataclass(frozen=True, slots=True)
class Happening:
    """Findings of one kind that happened together."""

    findings: tuple[Finding, ...]
    controllers: Collection[int] = ()
    times: int = 1
    """How often it happened, if it is listed once."""

    @property
    def kind(self) -> str:
        return self.findings[0].kind

    @property
    def start(self) -> datetime | None:
        return min(self._starts, default=None)

    @property
    def latest(self) -> datetime | None:
        """The end of the time in which it began; None if its beginning is known exactly."""
        if self.findings[0].loss:
            return max((at for at in self._starts if at != self.start), default=None)
        known = [f.start_latest for f in self.findings if f.start_latest is not None and (self.times == 1 or f.happened == self.start)]
        return max(known, default=None)

    @property
    def _starts(self) -> list[datetime]:
        """When records were lost differs between partitions."""
        lost = (p.end or p.start for f in self.findings if f.loss for p in places(f))
        return [at for at in (*lost, *(f.happened for f in self.findings if not f.loss)) if at is not None]

    @property
    def end(self) -> datetime | None:
        ends = [f.end for f in self.findings]
        return None if None in ends else max(at for at in ends if at is not None)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p.name for f in self.findings for p in places(f)))

    def words(self, phrase: str) -> str | None:
        """The phrase of its kind, or of its kind and cause, that says this of all its findings; None if the rule has none, or if what the
        phrase says is unknown."""
        own = (f"{self.kind}/{phrase}-{self.findings[0].cause}", f"{self.kind}/{phrase}")
        found = next((id for id in own if has_words(id)), None)
        return (text(Message(found, self._values())) or None) if found is not None else None

    @property
    def course(self) -> str | None:
        """What happened: as its rule says it in a story, or as what happened to its nodes."""
        rule = rule_of(self.kind)
        of_nodes = rule.root is not None and (not rule.root_causes or self.findings[0].cause in rule.root_causes)
        own = self.words("story")
        if own is None and of_nodes and rule.root is not None:
            own = text(said("story/root", nodes=self.nodes, happened=said(rule.root, number=max(1, len(self._ids)))))
        return self.again(own, max((f.happened for f in self.findings if f.happened is not None), default=None))

    @property
    def title(self) -> str:
        """Of its kind, or of the cause of a loss."""
        first = self.findings[0]
        return self.words("title") or rule_of(first.cause if first.loss and first.cause in KINDS else first.kind).title

    @property
    def over(self) -> str | None:
        return self.again(self.words("over"), self.end)

    def again(self, what: str | None, last: datetime | None) -> str | None:
        """The words of an event that is listed once although it happened more often."""
        if what is None or self.times == 1:
            return what
        return text(said("story/again", what=what, times=self.times if self.times != len(self._ids) else None, until=last))

    @property
    def nodes(self) -> Value:
        """The brokers, and the nodes that are only controllers."""
        return by_role(self._ids, self.controllers)

    @property
    def _ids(self) -> list[int]:
        first = rule_of(self.kind).of_first_broker
        return sorted({b for f in self.findings for b in (f.brokers[:1] if first else f.brokers)})

    def _values(self) -> tuple[tuple[str, Value], ...]:
        """What all findings share."""
        start, end = self.start, self.end
        first, *others = map(together, self.findings)
        own = {name: value for name, value in first.items() if all(name in of and of[name] == value for of in others)}
        alike = len({p.brokers or f.brokers for f in self.findings for p in places(f)}) <= 1
        of_names = [(p.name, r) for f in self.findings if f.loss for p in places(f) for r in p.offsets]
        lost = [r for name in natural(name for name, _ in of_names) for own, r in of_names if own == name]
        starts, ends = {r.start for r in lost}, tuple(dict.fromkeys(str(r.end) for r in lost if r.end is not None))
        lasted = (end - start).total_seconds() if start is not None and end is not None and end > start else None
        of_all: dict[str, Value] = {
            "nodes": self.nodes,
            "number": len(self._ids),
            "names": self.names,
            "partitions": len(self.names),
            "start": start,
            "end": end,
            "lasted_for": lasted,
            "span": (start, end) if start is not None and end is not None else None,
            "broker": own.get("broker") if alike else None,
            "leader": own.get("leader") if alike else None,
            "holder": own.get("holder") if alike and own.get("holder") != own.get("leader") else None,
            "from_offset": starts.pop() if len(starts) == 1 else None,
            "ends": ends if 0 < len(ends) <= 2 else None,
        }
        return tuple({**own, **of_all}.items())


def events(findings: Iterable[Finding], controllers: Collection[int]) -> Iterator[Happening]:
    """What began, the events of one kind in order of time."""
    return _events(findings, controllers, lambda f: f.happened)


def over(findings: Iterable[Finding], controllers: Collection[int]) -> Iterator[Happening]:
    """What ended."""
    return _events((f for f in findings if f.start != f.end), controllers, lambda f: f.end)


def _events(findings: Iterable[Finding], controllers: Collection[int], time: Callable[[Finding], datetime | None]) -> Iterator[Happening]:
    by_kind = grouped(((f.kind, f.message_id, f.cause if f.loss else None), (at, f)) for f in findings if (at := time(f)) is not None)
    for own in by_kind.values():
        for group in runs(sorted(own, key=lambda item: item[0]), _together):
            yield Happening(tuple(f for _, f in group), controllers)


def _together(run: Sequence[tuple[datetime, Finding]], after: tuple[datetime, Finding]) -> bool:
    """If when is known only roughly: both may have begun at one time, and the latest time is the same."""
    (at, f), (then, later) = run[-1], after
    if f.happened == at and f.start_latest is not None and later.start_latest is not None:
        return then <= f.start_latest and later.start_latest <= f.start_latest + SHOWN_AS_ONE
    return then <= at + SHOWN_AS_ONE
