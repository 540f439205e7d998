"""The overall verdict: one word, the counts, and the sentences at the top of every format.

Here: the sum of the verdicts on partitions and of the losses. Not here: the verdict on a partition (forensics.proof.verdict), the words of
a scope (scope), or present failures (impact).

The verdict never exceeds what is proven: a partition that cannot be judged is described differently from an intact one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from forensics.incidents.folding import hit
from forensics.incidents.incidents import ROLLING, Incident
from forensics.model.clock.sources import ExcludedFiles
from forensics.model.cluster.facts import Cluster
from forensics.model.findings import CUT, LEVELS, POSSIBLE, Finding, Purpose, lost_parts
from forensics.model.findings import LOST as GONE
from forensics.model.findings import UNSETTLED as UNCLEAR
from forensics.model.message import Message, Value, said
from forensics.model.settings.settings import WRITTEN_BY_BROKERS
from forensics.proof.verdict import INTACT, LOST, TAIL_CUT, UNKNOWN, VERDICTS
from forensics.rules import of_purpose, rule_of
from forensics.thresholds import LOG_GAP
from forensics.views.happened import Happening
from forensics.views.impact import failures, stopped, unusable
from forensics.views.losses import LostRange, is_one, losses, total
from forensics.views.scope import Partitions, Scope
from forensics.words import parts, summary, text
from forensics.words.formats import capital, is_internal
from forensics.words.rows import missing

FOUND, EXCLUDED, UNSETTLED, BROKEN, AFFECTED = "found", "excluded", "unknown", "broken", "affected"
GONE_LABEL = "GONE"
SAID = 3
"""Present failures that the headline lists."""
AFFECTS = LEVELS.index("medium")


def loss_of(findings: Sequence[Finding], states: Partitions) -> str:
    """'found', 'excluded' (each partition is proven intact, or only tails were cut) or 'unknown'. Partitions of earlier clusters count,
    too: a topic of the same name does not bring their records back."""
    verdicts = {p["verdict"] for p in states}
    ended = {f.cause for f in of_purpose(findings, Purpose.EARLIER_VERDICT)}
    if LOST in verdicts | ended or GONE in (kinds := {part.kind for *_, part in lost_parts(findings)}):
        return FOUND
    gone = any(_is_gone(f) for f in findings if not f.loss and not f.cluster)  # with the cluster before this one
    doubted = gone or UNKNOWN in ended or kinds - {CUT}
    return EXCLUDED if verdicts and verdicts <= {INTACT, TAIL_CUT} and not doubted else UNSETTLED


def counts(states: Partitions) -> dict[str, int]:
    verdicts = Counter(p["verdict"] for p in states)
    return {verdict: verdicts[verdict] for verdict in VERDICTS}


@dataclass(frozen=True, slots=True)
class VerdictLine:
    """A line of the verdict: LOST, GONE, UNKNOWN, SAFE, the label of an incident, and others."""

    label: str
    subject: str
    tone: str
    reason: str | None = None

    @property
    def text(self) -> str:
        return self.subject if self.reason is None else f"{self.subject}: {self.reason}"

    @property
    def sentence(self) -> str:
        return f"{self.label}: {self.text}."


@dataclass(frozen=True, slots=True)
class Headline:
    """The overall verdict on the partitions in scope."""

    loss: str
    """'found', 'excluded' or 'unknown'."""
    tone: str
    """How the headline is coloured: as `loss`, 'broken' (nothing known to be lost, but something is unusable now), or 'affected' (records
    that were acknowledged are gone, or something did not work). 'excluded' only if nothing is known to be lost outside the scope."""
    title: str
    """A few words: what happened, and whether committed data was lost, with the scope if there is one."""
    lines: tuple[VerdictLine, ...]
    """In this order: the scope, losses, incidents, unknown partitions, harmless tails, proven partitions, present failures, and what lies
    outside the scope."""
    partitions: Mapping[str, int]
    """Number of partitions by verdict."""
    lead: Sequence[Finding] = ()
    """The findings that the line of the incident is about, if there is one."""

    @property
    def summary(self) -> str:
        return " ".join(line.sentence for line in self.lines)

    @property
    def losses(self) -> tuple[str, ...]:
        """`loss`, and 'tail-cut' if records are gone that producers with acks=0 or acks=1 count as written."""
        missed = any(line.tone == AFFECTED and line.label == GONE_LABEL for line in self.lines)
        return (self.loss, TAIL_CUT) if missed else (self.loss,)


def headline(
    findings: Sequence[Finding],
    states: Partitions,
    scope: Scope | None = None,
    cluster: Cluster | None = None,
    incidents: Sequence[Incident] = (),
) -> Headline:
    """The headline of a report on these partitions. `findings`: those about these partitions, and those about no partition. `cluster`: for
    the end of the evidence, and what was set aside. `incidents`: to which the findings belong."""
    loss = loss_of(findings, states)
    before, after = (scope.before(len(states)), scope.after()) if scope is not None else ([], [])
    excluded = cluster.not_judged if cluster is not None else []
    controllers = cluster.controllers if cluster is not None else ()
    ranges = losses(findings)
    gone = [f for f in findings if _is_gone(f) and not f.loss and not f.cluster]
    lead = () if gone or any(r.kind in (GONE, UNCLEAR) or r.missed for r in ranges) else _lead(findings)
    incident = [
        VerdictLine(rule_of(f.kind).label or GONE_LABEL, Happening((f,), controllers).words("headline") or summary(f), UNSETTLED)
        for f in gone
    ]
    incident += [_incident(lead, controllers, incidents)] if lead else []
    lines = [
        *(_line("scope", UNSETTLED, what=words) for words in before),
        *(_line("not-judged", UNSETTLED, files=len(other.paths), cluster_id=other.cluster_id) for other in excluded),
        *_lost(ranges),
        *_lost_before(findings, ranges),
        *incident,
        *_missing(findings, states),
        *_unknown(findings, states),
        *_cut(ranges),
        *_safe(findings, states, ranges, cluster.until if cluster is not None else None),
        *_now(findings),
        *(_line("outside", UNSETTLED, what=words) for words in after),
    ]
    tone = _tone(loss, findings, scope, excluded, lines)
    return Headline(loss, tone, _title(loss, findings, scope, excluded, ranges, incident), tuple(lines), counts(states), lead)


TITLES = {FOUND: "Committed data was lost", EXCLUDED: "No committed data was lost"}
NOT_KNOWN = "Unknown whether data was lost"


def _line(name: str, tone: str, **values: Value) -> VerdictLine:
    label, subject, *reason = parts(said(f"headline/{name}", **values))
    return VerdictLine(label, subject, tone, *reason)


def _tone(
    loss: str, findings: Sequence[Finding], scope: Scope | None, excluded: Sequence[ExcludedFiles], lines: Sequence[VerdictLine]
) -> str:
    if loss == FOUND:
        return FOUND
    if any(True for _ in failures(findings)):
        return BROKEN
    if excluded or loss != EXCLUDED or (scope is not None and any(p["verdict"] == LOST for p in scope.outside)):
        return UNSETTLED
    return AFFECTED if any(line.tone == AFFECTED for line in lines) else loss


def _title(
    loss: str,
    findings: Sequence[Finding],
    scope: Scope | None,
    excluded: Sequence[ExcludedFiles],
    ranges: Sequence[LostRange],
    incident: Sequence[VerdictLine],
) -> str:
    """What happened, the verdict, the number of partitions that clients cannot use now, the scope, and whether another cluster was not
    judged."""
    title = TITLES.get(loss, NOT_KNOWN)
    if lost := [r for r in ranges if r.kind == GONE]:
        title = f"{title}: {_line('lost', loss, **_of(lost, COMMITTED)).text}"
    if scope is not None and scope.selection.by_partition:
        title += f" in {scope.selection.subject}"
    if missed := [r for r in ranges if r.missed]:
        title = f"{capital(_line('acknowledged', AFFECTED, **_of(missed)).text)}; {title[:1].lower()}{title[1:]}"
    elif incident:
        title = f"{capital(incident[0].text)}; {title[:1].lower()}{title[1:]}"
    others = f"{'another cluster' if len(excluded) == 1 else f'{len(excluded)} other clusters'} not judged"
    return "; ".join((title, *unusable(findings), *((others,) if excluded else ())))


COMMITTED = "committed "


def _of(ranges: Sequence[LostRange], kind: str = "") -> dict[str, Value]:
    return {"what": total(ranges, kind), "names": tuple(r.name for r in ranges), "one": (1,) if is_one(ranges) else (1, 2)}


def _lost(ranges: Sequence[LostRange]) -> Iterator[VerdictLine]:
    if gone := [r for r in ranges if r.kind == GONE]:
        yield _line("lost", FOUND, **_of(gone, COMMITTED))
    if gone := [r for r in ranges if r.kind == UNCLEAR]:
        yield _line("unsettled", UNSETTLED, **_of(gone))
    if gone := [r for r in ranges if r.missed]:
        yield _line("acknowledged", AFFECTED, **_of(gone))


def _lost_before(findings: Sequence[Finding], ranges: Sequence[LostRange]) -> Iterator[VerdictLine]:
    """Losses in earlier clusters of which no evidence shows how far they went."""
    known = {(r.finding.cluster, *name) for r in ranges if r.kind == GONE and r.finding.committed for name in hit([r.finding])}
    lost = {(f.cluster, *name) for f in of_purpose(findings, Purpose.EARLIER_VERDICT) if f.cause == LOST for name in hit([f])} - known
    if lost:
        yield _line("lost-before", FOUND, partitions=len(lost))


def _is_gone(f: Finding) -> bool:
    return rule_of(f.kind).records_gone


def _lead(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings of the kind that is the main point if no records are lost: of the worst severity, causes and outages before their
    effects."""
    labelled = [f for f in findings if rule_of(f.kind).label and not _is_gone(f) and not f.cluster and f.confidence != "possible"]
    if not labelled:
        return ()
    first = min(labelled, key=lambda f: (-LEVELS.index(f.severity), not rule_of(f.kind).leads, f.happened or datetime.max))
    return tuple(f for f in labelled if f.kind == first.kind and f.severity == first.severity)


def _incident(lead: Sequence[Finding], controllers: Collection[int], incidents: Sequence[Incident]) -> VerdictLine:
    event, label = Happening(tuple(lead), controllers), rule_of(lead[0].kind).label
    said_of = event.words("headline")
    if said_of is None and len(lead) > len({b for f in lead for b in f.brokers}) and (course := event.course) is not None:
        said_of = text(said("headline/times", what=course, times=len(lead)))
    own = next((i for i in incidents if {i.id} == {f.incident for f in lead}), None)
    if said_of is None and own is not None and (what := dict(own.values).get("what")) is not None:
        label, said_of = (rule_of(own.kind).label if own.kind != ROLLING else None) or label, text(said("headline/incident", what=what))
    return VerdictLine(
        label or "", said_of or event.course or summary(lead[0]), AFFECTED if LEVELS.index(lead[0].severity) >= AFFECTS else EXCLUDED
    )


def _now(findings: Sequence[Finding]) -> Iterator[VerdictLine]:
    now = [*failures(findings)][:SAID]
    if everything := (*now, *stopped(findings)):
        yield _line("now", BROKEN if now else UNSETTLED, what=everything)


def _missing(findings: Sequence[Finding], states: Partitions) -> Iterator[VerdictLine]:
    """Evidence that was not collected or not understood, if the verdict is unknown because of it."""
    gaps = [summary(f) for f in of_purpose(findings, Purpose.MISSING_EVIDENCE) if not f.cluster]
    if gaps and not (states and all(p["verdict"] != UNKNOWN for p in states)):
        yield _line("missing", UNSETTLED, gap=gaps[0], more=len(gaps) - 1 or None)


def _cut(ranges: Sequence[LostRange]) -> Iterator[VerdictLine]:
    """Records that were never committed, and that possibly no producer misses."""
    calm = [r for r in ranges if r.kind == CUT and not r.missed]
    for name, cut in (
        ("of-brokers", [r for r in calm if r.place.topic in WRITTEN_BY_BROKERS]),
        ("excused", [r for r in calm if r.place.topic not in WRITTEN_BY_BROKERS]),
    ):
        if cut:
            reasons = {r.finding.known.get("excuse") for r in cut}
            yield _line(name, EXCLUDED, **_of(cut), why=reasons.pop() if len(reasons) == 1 else None)


def _unknown(findings: Sequence[Finding], states: Partitions) -> Iterator[VerdictLine]:
    """The partitions that could not be judged, with the most frequent reason; the users' topics first."""
    elected = hit(f for f in of_purpose(findings, Purpose.UNCLEAN_ELECTION) if f.confidence != "possible" and not f.cluster)
    unknown = [p for p in states if p["verdict"] == UNKNOWN]
    for internal in (False, True):
        own = sorted((p for p in unknown if is_internal(p["topic"]) is internal), key=lambda p: (p["topic"], p["partition"]) not in elected)
        if own:
            why, most = Counter(missing(p) for p in own).most_common(1)[0]
            names = tuple(f"{p['topic']}-{p['partition']}" for p in own)
            yield _line("unknown", UNSETTLED, names=names, some=most if most < len(own) else None, why=why)
    known = {(p["topic"], p["partition"]) for p in states}
    doubtful = {(f.cluster, p.topic, p.partition) for f, p, part in lost_parts(findings) if part.kind == POSSIBLE}
    doubtful |= {(f.cluster, *name) for f in of_purpose(findings, Purpose.EARLIER_VERDICT) if f.cause == UNKNOWN for name in hit([f])}
    if elsewhere := len(doubtful - {(0, *name) for name in known}):
        yield _line("unknown-before", UNSETTLED, partitions=elsewhere)
    if not states:
        yield _line("no-partition", UNSETTLED)


def _safe(findings: Sequence[Finding], states: Partitions, ranges: Sequence[LostRange], end: datetime | None) -> Iterator[VerdictLine]:
    """The proven partitions; without any of users' topics, if others were lost or are unknown, they do not help."""
    whole = [p for p in states if p["verdict"] in (INTACT, TAIL_CUT)]
    if not whole:
        return
    limits = tuple(_limits(whole, end))
    if len(whole) == len(states):
        existing = loss_of(findings, states) != EXCLUDED
        gone = any(r.missed for r in ranges)
        yield _line("safe", EXCLUDED, acknowledged=gone, every=len(whole) > 1, partitions=len(whole), existing=existing, limits=limits)
    elif of_users := [p for p in whole if not is_internal(p["topic"])]:
        yield _line("safe-rest", EXCLUDED, partitions=len(of_users), limits=limits)


def _limits(whole: Partitions, end: datetime | None) -> Iterator[Message]:
    """The times for which the verdicts hold, if they begin after the topics did, or end before the evidence does."""
    late = [p["since"] for p in whole if not p["from_creation"] and p["since"] is not None]
    if late:
        yield said("headline/from", some=len(late) if len(late) < len(whole) else None, at=max(late))
    early = [p["until"] for p in whole if end is not None and p["until"] is not None and end - p["until"] >= LOG_GAP]
    if early:
        yield said("headline/to", some=len(early) if len(early) < len(whole) else None, at=min(early))
