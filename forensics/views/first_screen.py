"""The first screen: what happened, why, in which order, whether it is over, and what to do, as values that each format draws.

Here: what is on it, each fact once. Not here: the verdict (headline), the losses (losses), the steps (steps), the words (forensics.words),
or the look of a format.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import islice
from typing import NamedTuple

from forensics.incidents.folding import places
from forensics.model.clock.sources import line_times
from forensics.model.findings import CUT, MINOR, POSSIBLE, Evidence, Finding, Purpose, shortened
from forensics.model.message import Message, Value, said
from forensics.model.times import grouped
from forensics.rules import of_purpose, rule_of
from forensics.views.document import Report
from forensics.views.happened import Happening, events, over
from forensics.views.headline import VerdictLine
from forensics.views.impact import broken, outage, stopped
from forensics.views.losses import LostRange, held_until, losses
from forensics.words import text
from forensics.words.formats import capital, natural

LEAST = 6
"""Lines of a story that is filled up with what is small or belongs to other incidents."""
OFTEN = 3
"""Events of one kind that are listed one by one."""
SHORT = 40
"""Characters of a line in a few words."""
COPIES = 2
QUOTED = 140
"""Characters of the exception that is the reason."""


@dataclass(frozen=True, slots=True)
class Size:
    """How many lines of each part there are at most."""

    story: int = 7
    steps: int = 3
    ranges: int = 6
    why: int = 2
    now: int = 3
    earlier: int = 1
    commands: int = 2
    reasons: int = 9
    """Of what is unknown, and of tails that no producer misses."""


@dataclass(frozen=True, slots=True)
class StoryLine:
    """A line of the story."""

    at: datetime
    latest: datetime | None
    """The end of the time in which it happened; None if `at` is exact."""
    text: str
    short: str
    """The same in a few words."""
    marked: bool
    """It is the loss, or what the headline is about."""


@dataclass(frozen=True, slots=True)
class FirstScreen:
    day: date | None
    """The day of all times on it; None if they are of several days, and need their dates."""
    lines: Sequence[VerdictLine]
    ranges: Sequence[LostRange]
    more_ranges: int
    copies: Sequence[str]
    """Where the lost records may still be, in sentences."""
    why: Sequence[str]
    story: Sequence[StoryLine]
    now: Sequence[str]
    """What does not work when the evidence ends; empty: nothing is known to fail."""
    earlier: Sequence[str]
    """What did not work before, and for how long."""
    until: datetime | None
    """The end of the evidence."""
    warnings: Sequence[str]
    """Disks that must not be changed."""
    steps: Sequence[str]
    more_steps: int


def first_screen(report: Report) -> Callable[[Size], FirstScreen]:
    """The first screen by its size. What may be on it is found once, for all sizes."""
    gone = [r for r in losses(report.findings) if r.kind != POSSIBLE and (r.kind != CUT or r.missed)]
    lines = [line for line in report.headline.lines if line.label != "NOW"]
    copies, why, earlier = list(_copies(gone)), list(_why(report, gone)), list(_earlier(report))
    candidates = _candidates(report, gone)
    now = [*broken(report.findings, report.partitions), *stopped(report.findings)]
    until = max(line_times(report.cluster.sources), default=None)
    warnings, steps = report.untouchable, report.next_steps

    def sized(size: Size) -> FirstScreen:
        story = list(_story(candidates, size.story, lost=bool(gone)))
        order = natural(r.name for r in gone[: size.ranges])
        shown = sorted(gone[: size.ranges], key=lambda r: order.index(r.name))
        return FirstScreen(
            day=_day(report, story, shown),
            lines=list(_shorter(lines, size.reasons)),
            ranges=shown,
            more_ranges=len(gone) - len(shown),
            copies=copies,
            why=why[: size.why],
            story=story,
            now=now[: size.now] + ([text(said("first-screen/more", number=len(now) - size.now))] if len(now) > size.now else []),
            earlier=earlier[: size.earlier],
            until=until,
            warnings=warnings,
            steps=steps[: size.steps],
            more_steps=max(len(steps) - size.steps, 0),
        )

    return sized


def _shorter(lines: Iterable[VerdictLine], reasons: int) -> Iterator[VerdictLine]:
    """The lines, without reasons for which there is no room."""
    for line in lines:
        reasons -= line.reason is not None
        yield line if reasons >= 0 else replace(line, reason=None)


def _earlier(report: Report) -> Iterator[str]:
    """How long clients could not use partitions, if the headline does not say it."""
    lead = report.headline.lead
    worst = outage([f for f in report.findings if f not in lead])
    if worst is not None and (what := Happening((worst,), report.cluster.controllers).words("headline")) is not None:
        again = any(f.kind == worst.kind for f in lead)
        yield text(said("first-screen/earlier", what=what, span=(worst.start, worst.end) if again else None))


def _day(report: Report, story: Sequence[StoryLine], ranges: Sequence[LostRange]) -> date | None:
    times = [t.at for t in story] + [at for r in ranges for at in r.times]
    times = times or line_times(report.cluster.sources)
    days = {report.zone.wall(at).date() for at in times}
    return days.pop() if len(days) == 1 else None


def _copies(gone: Sequence[LostRange]) -> Iterator[str]:
    """Who had read the lost records, the collected files with some, and disks that had all of them, unless the first step is to find
    these."""
    if groups := tuple(dict.fromkeys(group for r in gone for group in r.groups)):
        yield text(said("first-screen/read", groups=groups))
    found = [r.place.salvageable for r in gone if r.place.salvageable is not None]
    held = sorted({h.broker for s in found for h in s.held if h.broker is not None})
    if any(s.held for s in found):
        yield text(said("first-screen/held", some=any(s.missing or not s.held for s in found), brokers=tuple(held)))
        return
    if found and not any(part.still_on or part.perhaps_on for r in gone for part in r.parts):
        yield text(said("first-screen/not-held"))
    if gone and all(r.kind == CUT for r in gone):
        until = [dict(held_until(r.place)) for r in gone]
        for broker in [b for b in until[0] if all(b in own for own in until)][:COPIES]:
            yield text(said("first-screen/until", broker=broker, until=min(own[broker] for own in until)))


def _why(report: Report, gone: Sequence[LostRange]) -> Iterator[str]:
    """The mechanism, with the setting that made it possible or the line that shows it."""
    by_cause = grouped((r.finding.cause, r.finding) for r in gone)
    for own in by_cause.values():
        event = Happening(tuple(dict.fromkeys(own)))
        yield _because(event.findings, event.words("why") or rule_of(event.kind).title, _setting(report, own))
    lead = [f for f in report.headline.lead if f.severity not in MINOR]
    if lead and (words := Happening((lead[0],)).words("why")) is not None:
        yield _because(lead[:1], words, None)
        return
    thrown = ((f, error) for f in lead if isinstance(error := f.known.get("thrown"), str))
    for f, error in islice(thrown, 1):
        yield _because([f], shortened(error, QUOTED), None)


def _because(findings: Sequence[Finding], what: str, setting: str | None) -> str:
    place = next((_place(e) for f in findings for e in f.evidence if e.line is not None), None)
    return text(said("first-screen/why", what=capital(what).removesuffix("."), setting=setting, place=place if setting is None else None))


def _place(e: Evidence) -> str:
    return f"{e.source}:{e.line}"


def _setting(report: Report, lost: Sequence[Finding]) -> str | None:
    """The most severe setting that made the cause of one of these losses possible."""
    causes = {(p.name, f.cause) for f in lost for p in places(f)}
    for f in of_purpose(report.findings, Purpose.SETTING):
        consequences = f.known.get("consequences")
        for message in consequences if isinstance(consequences, tuple) else ():
            known = dict(message.values) if isinstance(message, Message) else {}
            if (known.get("name"), known.get("of")) in causes:
                topics = {p.topic for own in lost for p in places(own)}
                return Happening((replace(f, values=tuple((n, _at_one_place(v, topics)) for n, v in f.values)),)).words("why")
    return None


def _at_one_place(value: Value, topics: Collection[str | None]) -> Value:
    """Where a setting was seen, with the first place of each; of topics, only these, if it was seen of any of them."""
    if isinstance(value, tuple):
        return tuple(_at_one_place(v, topics) for v in value)
    if not isinstance(value, Message):
        return value
    known = dict(value.values)
    names, each = known.get("topics"), known.get("each")
    if isinstance(names, tuple) and isinstance(each, tuple):
        own = [n for n, name in enumerate(names) if name in topics] or range(len(names))
        known |= {"topics": tuple(names[n] for n in own), "places": tuple(each[n] for n in own)}
    return Message(value.id, tuple((n, v[:1] if n == "places" and isinstance(v, tuple) else v) for n, v in known.items()))


class _Candidate(NamedTuple):
    weight: int
    late: int
    """Its place among lines of the same time: a crash is the effect of what was before it, and a loss of both."""
    line: StoryLine
    began: Collection[Finding] = ()
    ended: Collection[Finding] = ()
    """It says that these are over, and is shown only with the line that says that one of them began."""


def _candidates(report: Report, gone: Sequence[LostRange]) -> Sequence[_Candidate]:
    """The lines that explain the losses, or else the worst incidents, the lightest first."""
    sure = _specific([f for f in report.findings if f.confidence != "possible" and not f.cluster and _belongs(f)])
    lost = {id(r.finding) for r in gone}
    causes = {r.finding.cause for r in gone}
    main = {r.finding.incident for r in gone} or {i.id for i in report.incidents[:1]}
    lead = {f.kind for f in report.headline.lead if f.severity not in MINOR}
    if lead and lead.isdisjoint(f.kind for f in sure):
        lead |= {f.kind for f in sure if f.incident in main and rule_of(f.kind).root}
    names = {r.name for r in gone}
    lost_at = max((at for r in gone if (at := r.finding.happened) is not None), default=None)
    found: list[_Candidate] = []
    for event in _few(events((f for f in sure if f.kind not in causes), report.cluster.controllers)):
        marked = event.kind in lead or any(id(f) in lost for f in event.findings)
        if (event.findings[0].loss and not marked) or event.start is None or (words := event.course) is None:
            continue
        apart = 0 if marked or any(f.incident in main for f in event.findings) else APART
        apart += SMALL if names and event.names and names.isdisjoint(event.names) else 0
        line = StoryLine(event.start, event.latest, words, _short(event, words), marked)
        late = 2 if event.findings[0].loss else int(_is(event, Purpose.CRASH))
        found.append(_Candidate(apart + _weight(event, marked=marked), late, line, event.findings))
    found += (_Candidate(CUT_OFF, 3, line) for line in _cuts(gone))
    for event in _few(over(sure, report.cluster.controllers)):
        if (words := event.over) is not None and event.end is not None:
            back = _is(event, Purpose.RETURN)
            weight = (BACK if back else OVER) + (0 if any(f.incident in main for f in event.findings) else APART)
            ended = event.end if event.times == 1 else min(f.end for f in event.findings if f.end is not None)
            line = StoryLine(ended, None, words, _short(event, words, "over"), False)
            found.append(_Candidate(weight, 0, line, ended=() if back else event.findings))
    if lost_at is None:
        return sorted(found, key=lambda item: item.weight)
    return sorted(found, key=lambda item: (item.weight, item.line.at > lost_at, abs(item.line.at - lost_at)))


def _specific(found: Sequence[Finding]) -> list[Finding]:
    """Without what says less than another finding about the same brokers in the same incident."""
    least: dict[tuple[str | None, int], int] = {}
    for f in (f for f in found if rule_of(f.kind).root):
        for broker in f.brokers:
            key = f.incident, broker
            least[key] = min(least.get(key, rule_of(f.kind).unspecific), rule_of(f.kind).unspecific)
    return [
        f
        for f in found
        if not (own := rule_of(f.kind).unspecific) or not f.brokers or any(least.get((f.incident, b), own) >= own for b in f.brokers)
    ]


def _story(candidates: Sequence[_Candidate], most: int, *, lost: bool) -> Iterator[StoryLine]:
    """At most so many of these lines, in order of time. `lost`: all losses are marked, and not only the first line that is."""
    chosen: list[_Candidate] = []
    began: set[int] = set()
    for item in candidates:
        if len(chosen) < (most if item.weight < SMALL else min(most, LEAST)) and (not item.ended or began & set(map(id, item.ended))):
            chosen.append(item)
            began.update(map(id, item.began))
    lines = [item.line for item in sorted(chosen, key=lambda item: (item.line.at, item.late))]
    first = next((line for line in lines if line.marked), None)
    yield from (replace(line, marked=line.marked and (lost or line is first)) for line in lines)


def _short(event: Happening, words: str, phrase: str = "short") -> str:
    return words if len(words) <= SHORT else text(said(f"first-screen/{phrase}", title=event.title))


LOSS, ROOT, CUT_OFF, BACK, EFFECT, OVER, SMALL, APART = 0, 1, 2, 3, 4, 5, 6, 10
"""Weights of lines: the lightest are shown. APART is added for what belongs to another incident."""


def _weight(event: Happening, *, marked: bool) -> int:
    if marked:
        return LOSS
    if event.findings[0].severity in MINOR and not _is(event, Purpose.CLEAN_STOP):
        return SMALL
    return ROOT if rule_of(event.kind).root else EFFECT


def _belongs(f: Finding) -> bool:
    rule = rule_of(f.kind)
    return f.loss or f.severity not in MINOR or bool(rule.root or rule.impact) or rule.purpose is Purpose.RETURN


def _is(event: Happening, purpose: Purpose) -> bool:
    return rule_of(event.kind).purpose is purpose


def _few(found: Iterable[Happening]) -> Iterator[Happening]:
    """Events of a kind that happened more often are one event, without those that have no line in a story."""
    by_kind = grouped(((event.kind, event.course is None), event) for event in found)
    for alike in by_kind.values():
        if len(alike) <= OFTEN:
            yield from alike
        else:
            yield Happening(tuple(f for e in alike for f in e.findings), alike[0].controllers, times=len(alike))


def _cuts(gone: Sequence[LostRange]) -> Iterator[StoryLine]:
    """When replicas removed the lost records from their logs: the first time of each broker, with offsets if they are the same
    everywhere."""
    by_broker: dict[tuple[str, object], list[dict[str, object]]] = defaultdict(list)
    for f in dict.fromkeys(r.finding for r in gone):
        removed = f.known.get("removed")
        for message in removed if isinstance(removed, tuple) else ():
            if isinstance(message, Message) and isinstance((known := dict(message.values)).get("at"), datetime):
                phrase = "data-loss/cut-own" if message.id == "data-loss/cut-itself" else "data-loss/cut"
                by_broker[phrase, known["broker"]].append(dict(known))
    for (phrase, _), cuts in by_broker.items():
        times = Counter(at for c in cuts if isinstance(at := c["at"], datetime))
        same = len({(c.get("before"), c.get("now")) for c in cuts}) == 1 and len(gone) == 1
        values = {**cuts[0], **({} if same else {"before": None, "now": None})}
        short = text(said("first-screen/cut", broker=cuts[0]["broker"]))  # type: ignore[arg-type]
        yield StoryLine(min(times), None, text(Message(phrase, tuple(values.items()))), short, False)  # type: ignore[arg-type]
