"""Incidents: a cause with all its consequences.

Here: which findings are causes, which of them are one incident, which findings are consequences, and the few sentences that describe the
incident. Not here: how the findings of one incident become one of each kind (folding), or how a screen shows it (forensics.views).

A finding about what happened to a broker (Rule.root) is a cause. Later findings about the same broker, until it was in sync again, are its
consequences, and so are those that a rule declares to be caused by a finding about the same partition (Rule.caused_by).
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise, takewhile
from operator import attrgetter, itemgetter
from typing import Annotated

from forensics.incidents.folding import by_event, hit, places, recurring
from forensics.model.cluster.facts import by_role
from forensics.model.findings import (
    CLUSTER_DOC,
    CONFIDENCES,
    CUT,
    LEVELS,
    LOST,
    POSSIBLE,
    UNSETTLED,
    Finding,
    Impact,
    LossPart,
    Purpose,
    Rule,
    Statement,
    Urgency,
    lost_parts,
    offsets_in,
)
from forensics.model.message import ENCODED, Message, Value, Values, said
from forensics.model.presence.availability import Spans
from forensics.model.record import Int32, Record
from forensics.model.times import grouped
from forensics.proof.aftermath import sentences
from forensics.rules import KINDS, RULES, kind_of, rule_of
from forensics.thresholds import CLOCK_TOLERANCE, CRASH_NOTICED, LEADERSHIP_RETURNS, SAME_INCIDENT, STOP_NOTICED_EARLY
from parsers.cached import cached_property

ROLLING = "rolling-restart"
"""The kind of an incident in which several brokers were stopped one after the other."""
_EXPLAINED_BY = {cause: rule.kind for rule in RULES for cause in rule.explains}
"""Causes that findings name, with the kind of event that explains them; other causes are kinds themselves."""


@dataclass(frozen=True, slots=True)
class Incident(Record):
    """A cause with its consequences."""

    id: Annotated[str, "identifier; the same evidence gives the same one"]
    kind: Annotated[str, "kind of the finding that is the cause"]
    severity: Annotated[str, "critical, high, medium, low or info"]
    brokers: Annotated[tuple[Int32, ...], "brokers concerned"]
    start: Annotated[datetime | None, "begin (UTC); if `start_latest` is given, the earliest possible one"]
    end: Annotated[datetime | None, "end (UTC); null if it lasts to the end of the evidence, or is unknown"]
    values: Annotated[Values, ENCODED, 'values that its sentences name, as JSON; `{"time": …}` is a time (UTC)']
    findings: Annotated[tuple[str, ...], "ids of the findings that are the cause or its consequences"] = ()
    cluster: Annotated[Int32, CLUSTER_DOC] = 0
    start_latest: Annotated[datetime | None, "latest possible begin (UTC); null: it began at `start`"] = None


@dataclass(frozen=True, slots=True)
class _Root:
    """An event of these brokers from `start` to `end`, when they were in sync again; `end` None: not known. A crash is noticed within
    DETECTION, so of a broker that printed nothing for weeks before it, only that time counts."""

    brokers: tuple[int, ...]
    start: datetime
    end: datetime | None
    cause: Statement


@dataclass(frozen=True, slots=True)
class _Group:
    """Roots of one incident, in order of time."""

    id: str
    kind: str
    roots: tuple[_Root, ...]
    plan: Statement | None = None
    """The planned change that explains the roots."""

    @property
    def brokers(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys((*(self.plan.brokers if self.plan is not None else ()), *(b for r in self.roots for b in r.brokers))))

    @property
    def first(self) -> Statement:
        return self.plan or self.roots[0].cause

    @property
    def end(self) -> datetime | None:
        ends = [r.end for r in self.roots] + ([self.plan.end] if self.plan is not None else [])
        return None if None in ends else max(at for at in ends if at is not None)


class ClusterFindings:
    """What happened in one cluster: its findings, those of one event as one, and the incidents they belong to."""

    def __init__(
        self,
        findings: Mapping[str, Sequence[Statement]],
        rules: Sequence[Rule],
        controllers: Collection[int] = (),
        number: int = 0,
        unjudged: Callable[[], Iterable[Collection[int]]] | None = tuple,
    ) -> None:
        """`findings` are given by kind; `controllers` are the nodes that are only controllers; `number` is that of the cluster; `unjudged`:
        the replicas of each partition whose verdict is unknown; None if the evidence contains no partition."""
        self._found, self._number, self._controllers = findings, number, controllers
        self._unjudged = unjudged
        self._causes = {r.kind: r for r in rules if r.root or r.plan}
        self._caused_by = {r.kind: _ByPlace(r.caused_by, findings) for r in rules if r.caused_by}
        self._groups = _groups(findings, self._causes, rules)
        self._roots = {c: g.id for g in self._groups for c in (*(r.cause for r in g.roots), *([g.plan] if g.plan is not None else []))}
        self._of_brokers = _BrokerEvents(r for g in self._groups for r in g.roots)

    def findings(self, rule: Rule) -> list[Finding]:
        """The findings of the rule, those of one event as one."""
        found = by_event(self._found.get(rule.kind, ()), rule, self._incident_of, self._controllers)
        return [replace(f, cluster=self._number) for f in found] if self._number else found

    def _incident_of(self, f: Statement) -> str | None:
        if f.kind in self._causes and (own := self._roots.get(f)) is not None:
            return own
        if f.kind in self._caused_by and (cause := self._caused_by[f.kind].of(f)) is not None:
            return self._incident_of(cause)
        root = self._of_brokers.followed(f)
        return self._roots[root.cause] if root is not None else None

    def incidents(self, folded: Iterable[Finding]) -> list[Incident]:
        """The incidents, worst first, with the folded findings that belong to them. Incidents whose findings were folded into a recurring
        one are left out."""
        by_incident = grouped((f.incident, f) for f in folded if f.incident is not None)
        doubtful = self._doubtful()
        found = [self._incident(group, members, doubtful[group.id]) for group in self._groups if (members := by_incident[group.id])]
        return sorted(found, key=lambda i: (_gravity([i]), i.start or datetime.min, i.id))

    def _doubtful(self) -> Mapping[str | None, set[tuple[str | None, int | None]]]:
        """By incident, the partitions that may have lost records in it. Many findings that are only possible are folded into one of no
        incident, so the folded ones do not show it."""
        doubtful: dict[str | None, set[tuple[str | None, int | None]]] = defaultdict(set)
        for f, place, part in lost_parts(self._found.get(kind_of(Purpose.LOSS), ())):
            if part.kind == POSSIBLE:
                doubtful[self._incident_of(f)].add((place.topic, place.partition))
        return doubtful

    def _incident(self, group: _Group, members: Sequence[Finding], doubtful: Collection[tuple[str | None, int | None]]) -> Incident:
        ended = self._number != 0
        mechanisms = self._mechanisms(members)
        impact = tuple(_impact(members, doubtful, mechanisms, ended=ended))
        of_losses = sentences((f, p) for f in members if f.loss for p in places(f))
        leading = (f.kind for f in members if rule_of(f.kind).leads and f.confidence != CONFIDENCES[0])
        named = (*mechanisms, *leading, group.kind)
        values = {
            "title": _title(named[0]),
            "mechanisms": tuple(mechanisms.values()),
            "what": _what(group, members, self._causes, self._controllers),
            "when": _when(group, self._causes, self._controllers),
            "impact": impact,
            "none": None if impact or mechanisms else self._without_impact(group),
            "ending": _ending(group, members, ended=ended),
            "losses": tuple(of_losses),
        }
        return Incident(
            id=group.id,
            kind=next((of for of in named if of in KINDS), group.kind),
            severity=max((f.severity for f in members), key=LEVELS.index),
            brokers=group.brokers,
            start=group.first.start,
            start_latest=group.first.start_latest,
            end=group.end,
            values=tuple(values.items()),
            findings=tuple(f.id for f in members),
            cluster=self._number,
        )

    def _mechanisms(self, members: Sequence[Finding]) -> dict[str, Message]:
        """What made of the events of brokers what it is, such as an unclean election: by kind of finding, or cause of a loss, with the
        setting that made it possible. The causes of losses first, then what affected most partitions."""
        counted = (f for f in members if f.confidence != CONFIDENCES[0] and not (f.loss and f.committed is False))
        named = ((next((of for of in (f.cause, f.kind) if of in rule_of(f.kind).mechanisms), None), f) for f in counted)
        alike = grouped((of, f) for of, f in named if of is not None)
        loss, setting = (kind_of(purpose) for purpose in (Purpose.LOSS, Purpose.SETTING))
        found: dict[str, Message] = {}
        for of, group in sorted(alike.items(), key=lambda item: (not any(f.loss for f in item[1]), -len(hit(item[1])))):
            names = {f"{topic}-{partition}" for topic, partition in hit(group)}
            settings = (f.cause for f in map(attrgetter("whole"), self._found.get(setting, ())) if names & _made_possible(f, of))
            phrase = f"{of}/mechanism" if of in KINDS else f"{loss}/mechanism-{of}"
            lasted = _lasted(group[0], ended=self._number != 0)
            found[of] = said(phrase, partitions=len(names), settings=tuple(dict.fromkeys(settings)), lasted=lasted)
        return found

    @cached_property
    def _unjudged_by_replicas(self) -> Counter[tuple[int, ...]]:
        """The number of partitions whose verdict is unknown, by their replicas: many partitions have the same ones."""
        return Counter(tuple(replicas or ()) for replicas in (self._unjudged or tuple)())

    def _without_impact(self, group: _Group) -> Message:
        if (kind := next((r.cause.kind for r in group.roots if rule_of(r.cause.kind).explains), None)) is not None:
            return said(f"{kind}/without-impact")
        brokers = {*group.brokers}
        unknown = sum(count for replicas, count in self._unjudged_by_replicas.items() if not replicas or not brokers.isdisjoint(replicas))
        return said("incident/unjudged", partitions=unknown or None) if unknown or self._unjudged is None else said("incident/no-impact")


def _title(of: str) -> Value:
    """The name of a kind, or of a cause of a loss."""
    return rule_of(of).title if of in KINDS else said("incident/rolling" if of == ROLLING else f"{kind_of(Purpose.LOSS)}/title-{of}")


def _made_possible(setting: Finding, of: str) -> set[Value]:
    """The partitions in which a setting made this mechanism possible."""
    consequences = setting.known.get("consequences")
    known = (dict(m.values) for m in (consequences if isinstance(consequences, tuple) else ()) if isinstance(m, Message))
    return {own["name"] for own in known if own.get("of") == of}


def recurring_of_each(clusters: Sequence[ClusterFindings], rules: Sequence[Rule]) -> list[Finding]:
    """The findings of each rule in all these clusters, with what recurs often as one finding. Those of one rule at a time become whole:
    before what recurs becomes one, those of all rules are the largest objects on the driver."""
    return [f for rule in rules for f in recurring([f for events in clusters for f in events.findings(rule)], rule)]


def _gravity(of: Iterable[Finding | Incident]) -> int:
    """The most severe first."""
    return -max(LEVELS.index(f.severity) for f in of)


_Found = tuple[bool, bool, datetime]
"""How well an event explains a finding: whether the finding names it, whether it had surely begun, and its begin."""


class _BrokerEvents:
    """The events of each broker by time. Events of different causes, and events that never ended, are apart, so that each search looks only
    at its own."""

    def __init__(self, roots: Iterable[_Root]) -> None:
        own = grouped(
            ((broker, kind, root.end is None), root) for root in roots for broker in root.brokers for kind in (None, root.cause.kind)
        )
        self._own = {key: Spans(events, attrgetter("start"), attrgetter("end")) for key, events in own.items()}

    def followed(self, f: Statement) -> _Root | None:
        """The last event of one of the finding's brokers that began before the finding and was not over. An event with the cause that the
        finding itself names has priority."""
        found = [best for broker in f.brokers if (best := self.of_broker(f, broker)) is not None]
        return max(found, key=itemgetter(0))[1] if found else None

    def of_broker(self, f: Statement, broker: int) -> tuple[_Found, _Root] | None:
        """The event of one broker that explains the finding best."""
        kinds = (None,) if f.cause is None else (_EXPLAINED_BY.get(f.cause, f.cause), None)
        best = (max(found, key=itemgetter(0)) for kind in kinds if (found := [*self._before(f, broker, kind)]))
        return next(best, None)

    def _before(self, f: Statement, broker: int, kind: str | None) -> Iterator[tuple[_Found, _Root]]:
        """The last event that surely had begun, and was not over: what may have begun later is not a cause. A loss comes after its causes;
        another finding may be noticed a little before, and a finding that went on when the event surely had begun may have begun with it."""
        settles = LEADERSHIP_RETURNS if rule_of(f.kind).with_leadership else CRASH_NOTICED
        if (at := f.happened or f.end) is None:
            return
        for events in (self._own.get((broker, kind, still)) for still in (True, False)):
            for root in events.within(at - settles, at + STOP_NOTICED_EARLY) if events is not None else ():
                latest = root.cause.start_latest
                sure = (latest or root.start) - at <= (CLOCK_TOLERANCE if f.loss and latest is not None else STOP_NOTICED_EARLY)
                lasted = latest is not None and root.start <= at and (f.end is None or f.end >= latest)
                if sure or (lasted and not f.loss and f.severity != LEVELS[0]):
                    yield (kind is not None, sure, root.start), root
                if sure:
                    break


def _groups(findings: Mapping[str, Sequence[Statement]], causes: Mapping[str, Rule], rules: Sequence[Rule]) -> list[_Group]:
    """The events of each incident: those of one broker that follow from each other, those that nothing tells apart in time, and those of
    several brokers that one finding needs together. Others are events of their own, even at the same time."""
    returns = _returns(findings.get(kind_of(Purpose.RETURN), ()))
    roots = [
        _Root(f.brokers if f.partition is None else f.brokers[:1], _counted_from(f.start, f.start_latest), _over(f, returns), f)
        for kind, rule in causes.items()
        for f in findings.get(kind, ())
        if rule.root
        if f.start is not None and f.brokers and (not rule.root_causes or f.cause in rule.root_causes)
    ]
    roots.sort(key=_order)
    plans = [f for kind, rule in causes.items() if rule.plan for f in findings.get(kind, ()) if f.start is not None]
    planned = _planned([r for r in roots if _is(r, Purpose.CLEAN_STOP)], sorted(plans, key=_start))
    of_plans = {x for own in planned.values() for x in own}
    free = [r for r in roots if r not in of_plans]
    stops, faults = ([r for r in free if _is(r, Purpose.CLEAN_STOP) is clean] for clean in (True, False))
    rolling = (pair for pair in pairwise(stops) if _next(*pair))
    found = _together(free, (*_pairs(faults), *rolling, *_needed_by_one(_BrokerEvents(free), findings, rules)))
    return [
        *(_Group(_id(own, plan), plan.kind, tuple(own), plan) for plan, own in planned.items()),
        *(_Group(_id(group), _kind(group), tuple(group)) for group in found),
    ]


def _together(roots: Iterable[_Root], pairs: Iterable[tuple[_Root, _Root]]) -> list[list[_Root]]:
    """The events of each incident, by time. `pairs`: two of one incident."""
    own = {root: [root] for root in roots}
    for pair in pairs:
        few, many = sorted((own[root] for root in pair), key=len)
        if few is not many:
            many.extend(few)
            own.update(dict.fromkeys(few, many))
    found = grouped((id(group), root) for root, group in own.items())
    return list(found.values())


def _needed_by_one(
    events: _BrokerEvents, findings: Mapping[str, Sequence[Statement]], rules: Sequence[Rule]
) -> Iterator[tuple[_Root, _Root]]:
    """Events of several brokers that one finding takes, as its rule declares."""
    for rule in (r for r in rules if r.of_all_brokers):
        others = _ByPlace(rule.made_possible_by, findings)
        for f in findings.get(rule.kind, ()):
            if f.confidence != "possible" and not (f.loss and f.committed is False):
                brokers = dict.fromkeys((*f.brokers, *(because.brokers if (because := others.of(f)) is not None else ())))
                found = (events.of_broker(f, broker) for broker in brokers) if len(brokers) > 1 else ()
                yield from pairwise(best[1] for best in found if best is not None)


def _planned(stops: Sequence[_Root], plans: Sequence[Statement]) -> dict[Statement, list[_Root]]:
    """The clean stops of each planned change: those of its nodes from its beginning to its end."""
    found: dict[Statement, list[_Root]] = {plan: [] for plan in plans}
    for stop in stops:
        for plan in plans:
            within = _start(plan) - STOP_NOTICED_EARLY <= stop.start and (plan.end is None or stop.start <= plan.end + STOP_NOTICED_EARLY)
            if within and set(stop.brokers) <= set(plan.brokers):
                found[plan].append(stop)
                break
    return found


def _order(root: _Root) -> tuple[datetime, datetime, bool, str, Sequence[int]]:
    """A crash is the effect of a cause of the same time, such as exhausted memory. What is only known to be after the same last line, such
    as an emptied disk, came after the crash."""
    latest, crash = root.cause.start_latest, _is(root, Purpose.CRASH)
    return root.start, latest or root.start, crash is (latest is None), root.cause.kind, root.brokers


def _counted_from(start: datetime, latest: datetime | None) -> datetime:
    return start if latest is None else max(start, latest - CRASH_NOTICED)


def _returns(restarts: Iterable[Statement]) -> dict[tuple[int, str | None], list[Statement]]:
    """By broker and cause, the findings of its return to the ISR, by time."""
    return grouped(((broker, f.cause), f) for f in sorted((f for f in restarts if f.start is not None), key=_start) for broker in f.brokers)


def _kind(roots: Sequence[_Root]) -> str:
    """Of the first event that keeps brokers from serving their clients, such as a failed start; else of the first fault."""
    faults = [r for r in roots if not _is(r, Purpose.CLEAN_STOP)]
    rolling = not faults and len({b for r in roots for b in r.brokers}) > 1
    lasting = (r for r in faults if rule_of(r.cause.kind).urgency is Urgency.UNAVAILABLE)
    return ROLLING if rolling else next(lasting, (faults or roots)[0]).cause.kind


def _is(root: _Root, purpose: Purpose) -> bool:
    return rule_of(root.cause.kind).purpose is purpose


def _id(roots: Sequence[_Root], plan: Statement | None = None) -> str:
    causes = [*(r.cause for r in roots), *([plan] if plan is not None else [])]
    return hashlib.sha256("|".join(sorted(c.id for c in causes)).encode()).hexdigest()[:12]


def _over(f: Statement, back: Mapping[tuple[int, str | None], Sequence[Statement]]) -> datetime | None:
    """When its brokers were in sync again; else its own end."""
    if f.start is None or f.end is None:
        return None
    returns = (back.get((broker, f.kind), ()) for broker in f.brokers)
    after = [own[place] for own in returns if (place := bisect_left(own, f.start - STOP_NOTICED_EARLY, key=_start)) < len(own)]
    if not after:
        return f.end
    first = min(after, key=_start)
    return None if first.end is None else max(first.end, f.end)


def _start(f: Statement) -> datetime:
    return f.start or datetime.max


def _during(before: _Root, after: _Root) -> bool:
    """It is of the same broker, and began before the other was over and soon after its start; or the same happened to both at one time.
    What other brokers notice first, the controller notices when the session has expired; the ends of their own processes are other
    events."""
    if shared := {*before.brokers} & {*after.brokers}:
        noticed = rule_of(before.cause.kind).of_first_broker
        if noticed and before.brokers[0] not in shared and (_is(after, Purpose.CRASH) or _is(after, Purpose.CLEAN_STOP)):
            return False
        over = before.end is not None and after.start > before.end + (CRASH_NOTICED if noticed else timedelta())
        return not over and after.start <= before.start + SAME_INCIDENT
    until = before.cause.start_latest or before.start
    return before.cause.kind == after.cause.kind and after.start <= until + STOP_NOTICED_EARLY


def _next(before: _Root, after: _Root) -> bool:
    return before.end is not None and after.start <= before.end + SAME_INCIDENT


def _pairs(roots: Iterable[_Root]) -> Iterator[tuple[_Root, _Root]]:
    """Each event, by time, with the last one of each of its brokers, and the last one of its kind, that is of the same incident."""
    seen: dict[int | str, list[_Root]] = defaultdict(list)
    for after in roots:
        keys: tuple[int | str, ...] = (*after.brokers, after.cause.kind)
        for key in keys:
            lately = takewhile(lambda r, since=after.start - SAME_INCIDENT: r.start >= since, reversed(seen[key]))  # type: ignore[misc]
            if (before := next((r for r in lately if _during(r, after)), None)) is not None:
                yield before, after
            seen[key].append(after)


class _ByPlace:
    """Findings by partition, as causes of others."""

    def __init__(self, kinds: Iterable[str], findings: Mapping[str, Sequence[Statement]]) -> None:
        self._of = grouped(((f.topic, f.partition), f) for f in (f for kind in kinds for f in findings.get(kind, ())))

    def of(self, f: Statement) -> Statement | None:
        """The last one in whose time the finding happened."""
        at, own = f.happened, self._of.get((f.topic, f.partition), ())
        if at is None:
            return None
        return max((c for c in own if c.start is not None and _within(c, at)), key=_start, default=None)


def _within(cause: Statement, at: datetime) -> bool:
    until = datetime.max if cause.end is None else cause.end + STOP_NOTICED_EARLY
    return _start(cause) - STOP_NOTICED_EARLY <= at <= until


def _when(group: _Group, causes: Mapping[str, Rule], controllers: Collection[int]) -> Message | None:
    """When the first cause was, if the evidence leaves a span of time."""
    first = group.first
    if first.start_latest is None:
        return None
    began = (first.start, first.start_latest)
    if group.plan is not None or len(group.roots) == 1:
        return said("incident/when", began=began)
    happened = said(causes[first.kind].root or "", number=len(first.brokers))
    return said("incident/first", nodes=by_role(first.brokers, controllers), happened=happened, began=began)


def _ending(group: _Group, members: Sequence[Finding], *, ended: bool) -> Message | None:
    if lasting := tuple(_not_over(members)):
        return said("incident/not-over", cluster_ended=ended, states=lasting)
    return said("incident/ended", end=group.end) if group.end is not None else None


def _what(group: _Group, members: Sequence[Finding], causes: Mapping[str, Rule], controllers: Collection[int]) -> tuple[Message, ...]:
    """The planned change; else the nodes and what happened to them, by time."""
    if (planned := next((f.said for f in members if group.plan is not None and f.kind == group.kind), None)) is not None:
        return (planned,)
    rules: dict[int, dict[str, Rule]] = defaultdict(dict)
    for root in group.roots:
        rule = causes[root.cause.kind]
        for broker in root.brokers[:1] if rule.of_first_broker else root.brokers:
            rules[broker].setdefault(rule.root or "", rule)
    alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for broker, phrases in rules.items():
        least = min(rule.unspecific for rule in phrases.values())
        alike[tuple(phrase for phrase, rule in phrases.items() if rule.unspecific == least)].append(broker)
    return tuple(
        said(
            "incident/what",
            nodes=by_role(brokers, controllers),
            happened=tuple(said(phrase, number=len(brokers)) for phrase in phrases),
            rolling=group.kind == ROLLING,
        )
        for phrases, brokers in alike.items()
    )


def _impact(
    members: Sequence[Finding], doubtful: Collection[tuple[str | None, int | None]], reported: Collection[str], *, ended: bool
) -> Iterator[Message]:
    """`doubtful`: the partitions that may have lost records. `reported`: kinds that are reported before. `ended`: of a cluster before the
    one at the end."""
    yield from _impact_of_losses([f for f in members if f.loss])
    if doubtful:
        yield said("incident/doubtful", partitions=len(doubtful))
    yield from _states(members, still=False)
    for rule in _OF_IMPACT:
        own = [f for f in members if f.kind == rule.kind and f.kind not in reported]
        if rule.impact is Impact.TIME:
            yield from (said(f"{rule.kind}/impact", lasted=_lasted(f, ended=ended)) for f in own)
        elif rule.impact is Impact.HIT and (affected := hit(f for f in own if f.places)):
            yield said(f"{rule.kind}/impact", partitions=len(affected))
        elif rule.impact is Impact.CHANGED and any(len(f.brokers) > 1 for f in own):
            yield said(f"{rule.kind}/impact")


_OF_IMPACT = [rule for rule in RULES if rule.impact is not None]


def _states(members: Sequence[Finding], *, still: bool) -> Iterator[Message]:
    for rule in _OF_IMPACT:
        if rule.impact is Impact.PARTITIONS and (affected := hit((f for f in members if f.kind == rule.kind), still=still)):
            yield said(f"{rule.kind}/impact", partitions=len(affected))


def _lasted(f: Statement, *, ended: bool) -> Message:
    since = f.start_latest or f.start
    if f.end is not None and since is not None:
        return said("incident/for", seconds=(f.end - since).total_seconds())
    return said("incident/until-the-cluster-ended" if ended else "incident/rest-of-the-evidence")


def _impact_of_losses(losses: Sequence[Finding]) -> Iterator[Message]:
    alike = grouped(((part.kind, part.confidence == CONFIDENCES[0]), (f, place, part)) for f, place, part in lost_parts(losses))
    for kind, name in ((LOST, "committed"), (UNSETTLED, "unknown-status"), (CUT, "uncommitted")):
        if own := alike[kind, False]:
            at_least = any(part.at_least or part.offsets.end is None for *_, part in own)
            yield said(f"incident/{name}", offsets=offsets_in(own) or None, at_least=at_least, partitions=_partitions_of(own))
    if uncommitted := _partitions_of(alike[CUT, True]):
        yield said("incident/perhaps-uncommitted", partitions=uncommitted)


def _partitions_of(lost: Iterable[LossPart]) -> int:
    return len({(place.topic, place.partition) for _, place, _ in lost})


def _not_over(members: Sequence[Finding]) -> Iterator[Message]:
    """Findings that are not over when the evidence ends."""
    return _states(members, still=True)
