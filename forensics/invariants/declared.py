"""The invariants of a report: what cannot be true together, over the values of its findings and the states of its partitions.

Here: the invariants, each a function that yields what violates it; the name of the function is that of its phrase in words/invariant.toml.
Not here: what becomes of the statements (forensics.invariants). None of them reads the evidence or a sentence: they hold for any report.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import PLACES, Evidence, Finding, Place, Purpose, Salvageable, places
from forensics.model.message import Message, Range, Value, decoded, joined
from forensics.model.rows import Rows
from forensics.proof.verdict import FOREIGN, HW_TRUNCATION, INTACT, LOST, TAIL, TAIL_CUT, UNCLEAN_ELECTION, UNKNOWN
from forensics.rules import named_in_steps, rule_of
from forensics.thresholds import ISR_TOLERANCE
from parsers.cached import cached_property
from parsers.frozen import dataclass, replace

NAME = ("topic", "partition")
STATE = (*NAME, "replicas", "leader", "isr", "log_end_offset", "high_watermark", "verdict")
OF_ELECTIONS = frozenset({UNCLEAN_ELECTION, TAIL, HW_TRUNCATION})
"""Causes of losses at which another broker begins to lead."""
GONE = ("verdict/tail-cut", "verdict/lost")
"""Reasons that state which offsets are gone."""
ASKED = {"coverage/server-log": frozenset({"server-log", "stdout-log"})}
"""Messages that ask for files of a broker, with the kinds of these files."""


@dataclass(frozen=True, slots=True)
class Violation:
    what: Message
    findings: tuple[Finding, ...] = ()
    leaves: str = "possible"
    """The most confidence that these findings keep: 'probable' if only a part of them is wrong."""
    evidence: tuple[Evidence, ...] = ()
    """Besides that of the findings."""
    apart: bool = False
    """They do not belong to their incident."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a finding says about the end of a process: the last time at which it was alive, and when the next one began."""

    finding: Finding
    alive: datetime
    next: datetime


@dataclass(frozen=True)
class ReportFacts:
    """What a report says."""

    findings: Sequence[Finding]
    partitions: Rows
    cluster: Cluster
    asked: Callable[[str | None, int | None], bool] | None = None
    """Which partitions the findings are about; None: all."""

    @cached_property
    def losses(self) -> dict[tuple[int, str | None, int | None], list[tuple[Finding, Place]]]:
        """Losses by cluster and partition."""
        found: dict[tuple[int, str | None, int | None], list[tuple[Finding, Place]]] = defaultdict(list)
        for f in self.findings:
            for p in places(f) if f.loss else ():
                found[f.cluster, p.topic, p.partition].append((f, p))
        return found

    @cached_property
    def begun(self) -> dict[tuple[int, int], list[datetime]]:
        """When the processes of each node of each cluster began."""
        return {
            (number, node.id): sorted(run.begin_at for run in node.runs if run.begin_at is not None)
            for number, cluster in self.cluster.by_number.items()
            for node in cluster.nodes.values()
        }

    def states(self) -> Iterator[dict[str, Any]]:
        """The states of the partitions at the end."""
        for batch in self.partitions.batches(*STATE):
            yield from self._of_asked(batch)

    def reasons(self, *ids: str) -> Iterator[tuple[dict[str, Any], Value]]:
        """The partitions with the reasons for their verdicts that say one of these messages."""
        for batch in self.partitions.batches(*NAME, "reason"):
            saying = batch.filter(pc.match_substring_regex(pc.fill_null(batch["reason"], ""), "|".join(ids)))
            yield from ((row, dict(decoded(row["reason"])).get("why")) for row in self._of_asked(saying))

    def _of_asked(self, rows: pa.RecordBatch) -> Iterator[dict[str, Any]]:
        return (row for row in rows.to_pylist() if self.asked is None or self.asked(row["topic"], row["partition"]))

    def _ended(self, f: Finding, alive: datetime, back: datetime | None = None) -> Ended:
        begun = self.begun.get((f.cluster, f.brokers[0]), [])
        n = bisect_right(begun, alive)
        return Ended(f, alive, back or (begun[n] if n < len(begun) else datetime.max))

    @cached_property
    def ends(self) -> dict[tuple[int, int], list[Ended]]:
        """What findings say about the ends of the processes of each broker, each for one process."""
        found: dict[tuple[int, int], list[Ended]] = defaultdict(list)
        for f in self.findings:
            if f.confidence == "possible" or f.start is None or len(f.brokers) != 1 or {fold.how for fold in f.folds} - {PLACES}:
                continue
            purpose, back, broker = rule_of(f.kind).purpose, dict(f.values).get("back"), (f.cluster, f.brokers[0])
            back = back if isinstance(back, datetime) else None
            if purpose is Purpose.CRASH:
                found[broker].append(self._ended(f, f.start, back))
            elif purpose is Purpose.CLEAN_STOP and f.end is not None:
                found[broker].append(self._ended(f, f.end))
            elif purpose is Purpose.RETURN and back is not None:
                found[broker].append(Ended(f, back, back))
            elif f.message in rule_of(f.kind).gone and not f.known.get("unseen"):
                found[broker].append(self._ended(f, f.start - ISR_TOLERANCE, f.end))
        return {broker: [_until_alive(end, own) for end in own] for broker, own in found.items()}


def _until_alive(end: Ended, others: Iterable[Ended]) -> Ended:
    """Another process, whose start may not be in evidence, was alive before it crashed."""
    alive = (e.alive for e in others if e.alive > end.alive and rule_of(e.finding.kind).purpose is Purpose.CRASH)
    return replace(end, next=min((end.next, *alive)))


Invariant = Callable[[ReportFacts], Iterator[Violation]]


def violations(report: ReportFacts) -> Iterator[Violation]:
    for invariant in INVARIANTS:
        yield from invariant(report)


def _violated(
    invariant: str,
    *findings: Finding,
    leaves: str = "possible",
    evidence: tuple[Evidence, ...] = (),
    apart: bool = False,
    **named: Value,
) -> Violation:
    return Violation(Message(f"invariant/{invariant}", tuple(named.items())), findings, leaves, evidence, apart)


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['topic']}-{row['partition']}"


def _of_state(row: Mapping[str, Any]) -> tuple[Evidence]:
    """The state of a partition as the report has it."""
    return (Evidence("partitions", None, None, " ".join(f"{name}={row[name]}" for name in STATE)),)


def running_while_dead(report: ReportFacts) -> Iterator[Violation]:
    """A process is not stuck, slow or fenced while it runs after the last line that shows it alive, until the next one begins."""
    for f in report.findings:
        if f.confidence == "possible" or f.start is None or f.message not in rule_of(f.kind).alive:
            continue
        for broker in f.brokers:
            for end in report.ends.get((f.cluster, broker), ()):
                if end.alive < f.start < end.next:
                    yield _violated("running-while-dead", f, end.finding, broker=broker, at=f.start, of=f.kind, other=end.finding.kind)


def one_end(report: ReportFacts) -> Iterator[Violation]:
    """A process that crashed was not stopped cleanly."""
    for (_, broker), own in report.ends.items():
        for crash in (e for e in own if rule_of(e.finding.kind).purpose is Purpose.CRASH):
            for other in (e for e in own if e.next == crash.next and _clean(e.finding)):
                yield _violated("one-end", crash.finding, other.finding, broker=broker, of=crash.finding.kind, other=other.finding.kind)


def _clean(f: Finding) -> bool:
    purpose = rule_of(f.kind).purpose
    return purpose is Purpose.CLEAN_STOP or (purpose is Purpose.RETURN and bool(dict(f.values).get("cleanly")))


def begins_before_it_ends(report: ReportFacts) -> Iterator[Violation]:
    for f in report.findings:
        spans = [(f.start, f.start_latest), (f.start, f.end), *((p.start, p.end) for p in f.places)]
        written = [(p.written.since, p.written.until) for p in places(f) if p.written is not None]
        for kind, own in (("finding", spans), ("written", written)):
            wrong = next(((a, b) for a, b in own if a is not None and b is not None and a > b), None)
            if wrong is not None:
                of_span = kind == "finding" and not {"time", "silence"}.isdisjoint(rule_of(f.kind).rests_on)
                leaves = "possible" if of_span else "probable"
                yield _violated("begins-before-it-ends", f, leaves=leaves, of=f.kind, span=kind, start=wrong[0], end=wrong[1])


def inside_the_evidence(report: ReportFacts) -> Iterator[Violation]:
    clusters = report.cluster.by_number.values()
    of_files = (at for own in clusters for s in own.sources for at in (s.last, s.modified, *(before for _, before, _ in s.steps_back)))
    if (until := max((at for at in (*(own.until for own in clusters), *of_files) if at is not None), default=None)) is None:
        return
    for f in report.findings:
        if (late := next((at for at in (f.start, f.end) if at is not None and at > until + ISR_TOLERANCE), None)) is not None:
            yield _violated("inside-the-evidence", f, leaves="probable", of=f.kind, at=late, until=until)


def counts_add_up(report: ReportFacts) -> Iterator[Violation]:
    """No more records than offsets, and what is recoverable and what is missing are the lost offsets, each once."""
    for own in report.losses.values():
        for f, p in own:
            lost = joined(part.offsets for part in p.parts)
            if (total := _length(lost)) is None:
                continue
            saved = p.salvageable or Salvageable()
            many = max((p.records.count if p.records is not None else None) or 0, sum(x.records for x in saved.producers))
            if many > total:
                yield _violated("counts-add-up", f, leaves="probable", place=p.name, records=many, offsets=total)
            parts = (*(h.offsets for h in saved.held), *saved.missing)
            if (_length(parts) or 0) > total or not all(any(r.covers(part) for r in lost) for part in parts):
                yield _violated("parts-of-the-loss", f, leaves="probable", place=p.name)


def _length(ranges: Iterable[Range]) -> int | None:
    lengths = [r.length for r in ranges]
    return None if None in lengths else sum(n for n in lengths if n is not None)


def offered_are_the_lost(report: ReportFacts) -> Iterator[Violation]:
    """Records that are offered as the lost ones were written before the epoch in which these were lost began."""
    for own in report.losses.values():
        for f, p in own:
            held = p.salvageable.held if p.salvageable is not None and f.cause in OF_ELECTIONS and p.leader_epoch is not None else ()
            if (new := next((h for h in held if h.leader_epoch >= (p.leader_epoch or 0)), None)) is not None:
                yield _violated("offered-are-the-lost", f, leaves="probable", place=p.name, source=new.source, epoch=new.leader_epoch)


def one_cut_one_place(report: ReportFacts) -> Iterator[Violation]:
    """What the report asks of the reader about one event of one partition and group is one step."""
    steps: dict[Any, list[Finding]] = defaultdict(list)
    for f in report.findings:
        if f.topic is not None and f.groups and not f.loss and not f.folds and named_in_steps(f.message_id):
            steps[f.message_id, f.cluster, f.topic, f.partition, f.leader_epoch, f.brokers, f.groups].append(f)
    for (message, *_), own in steps.items():
        if len(own) > 1:
            named = sorted(named_in_steps(message))
            said = {tuple(dict(f.values).get(name) for name in named) for f in own}
            if len(said) > 1:
                yield _violated("one-cut-one-place", *own, place=own[0].name, groups=own[0].groups, number=len(said))


def now_is_the_last_state(report: ReportFacts) -> Iterator[Violation]:
    """What is not over when the evidence ends is so in the last state of the partition."""
    open_: dict[tuple[str | None, int | None], list[tuple[str, Finding]]] = defaultdict(list)
    for f in report.findings:
        if f.confidence != "possible" and not f.cluster and (over_when := rule_of(f.kind).over_when) is not None:
            for p in places(f):
                if p.end is None:
                    open_[p.topic, p.partition].append((over_when, f))
    if not open_:
        return
    for row in report.states():
        replicas = {*(row["replicas"] or ())}
        now = {
            "led": (row["leader"] if row["leader"] is not None else -1) >= 0,
            "in-sync": bool(replicas) and replicas == {*(row["isr"] or ())},
            "there": True,
        }
        for over_when, f in (*open_.get((row["topic"], row["partition"]), ()), *open_.get((row["topic"], None), ())):
            if now[over_when]:
                yield _violated("now-is-the-last-state", f, place=_name(row), of=f.kind)


def missing_is_out_of_sync(report: ReportFacts) -> Iterator[Violation]:
    """A broker that is still missing when the evidence ends is not in the last ISR of all partitions of the finding."""
    open_ = [(f, still) for f in report.findings if isinstance(still := f.known.get("still"), tuple) and still and not f.cluster]
    isrs = {(row["topic"], row["partition"]): row["isr"] or () for row in (report.states() if open_ else ())}
    for f, still in open_:
        own = [isrs[p.topic, p.partition] for p in places(f) if p.end is None and (p.topic, p.partition) in isrs]
        if back := tuple(b for b in still if own and all(b in isr for isr in own)):
            yield _violated("missing-is-out-of-sync", f, of=f.kind, place=f.name, brokers=back)


def ids_differ(report: ReportFacts) -> Iterator[Violation]:
    alike: dict[str, list[Finding]] = defaultdict(list)
    for f in report.findings:
        alike[f.id].append(f)
    for id_, own in alike.items():
        if len(own) > 1:
            yield _violated("ids-differ", leaves="certain", evidence=own[0].evidence, id=id_, number=len(own))


def verdicts_are_those_of_losses(report: ReportFacts) -> Iterator[Violation]:
    """Lost: a loss that is sure, and was not surely uncommitted; unknown: none that was surely committed; a cut tail: only uncommitted
    ones."""
    for row in report.states():
        own = report.losses.get((0, row["topic"], row["partition"]), ())
        own = [(f, p) for f, p in own if f.cause != FOREIGN or row["verdict"] == LOST]
        sure = {part.committed for _, p in own for part in p.parts if part.confidence != "possible"}
        verdict = row["verdict"]
        wrong = {LOST: not sure - {False}, UNKNOWN: True in sure, TAIL_CUT: sure - {False} or not own, INTACT: sure}
        if wrong.get(verdict):
            named = {"place": _name(row), "verdict": verdict}
            yield _violated(
                "verdicts-are-those-of-losses", *dict.fromkeys(f for f, _ in own), leaves="probable", evidence=_of_state(row), **named
            )


def gone_has_an_end(report: ReportFacts) -> Iterator[Violation]:
    """A verdict states that offsets are gone only up to where evidence shows that they were there."""
    for row, why in report.reasons(*GONE):
        ranges = dict(why.values).get("offsets") if isinstance(why, Message) and why.id in GONE else None
        if isinstance(ranges, tuple) and any(isinstance(r, Range) and r.end is None for r in ranges):
            own = report.losses.get((0, row["topic"], row["partition"]), ())
            evidence = next((f.evidence for f, _ in own), ())
            yield _violated("gone-has-an-end", evidence=evidence, place=_name(row))


def asked_for_is_not_there(report: ReportFacts) -> Iterator[Violation]:
    """A reason that asks for a file names none that was collected, unless it says what is missing of it."""
    there: dict[tuple[str, Value], str] = {}
    for s in (s for s in report.cluster.sources if not s.problem):
        there |= {(id_, node): s.path for id_, kinds in ASKED.items() if s.kind in kinds for node in s.nodes}
    for row, why in report.reasons(*ASKED):
        for m in _messages(why):
            broker = dict(m.values).get("broker")
            if m.id in ASKED and (path := there.get((m.id, broker))) is not None:
                own = (Evidence(path, None, None, path),)
                yield _violated("asked-for-is-not-there", evidence=own, place=_name(row), broker=broker)


def _messages(value: Value) -> Iterator[Message]:
    if isinstance(value, Message):
        yield value
        for _, inner in value.values:
            yield from _messages(inner)
    elif isinstance(value, tuple):
        for inner in value:
            yield from _messages(inner)


def causes_come_first(report: ReportFacts) -> Iterator[Violation]:
    """A process that was alive after a loss did not cause it by its crash: the incident of a loss has another cause, too."""
    roots: dict[str, list[Finding]] = defaultdict(list)
    for f in report.findings:
        rule = rule_of(f.kind)
        if f.incident is not None and f.start is not None and rule.root and (not rule.root_causes or f.cause in rule.root_causes):
            roots[f.incident].append(f)
    for f in report.findings:
        if f.loss and f.incident is not None and (at := f.end) is not None:
            own = [r for r in roots[f.incident] if not {*r.brokers}.isdisjoint(f.brokers)]
            late = [r for r in own if r.start is not None and r.start > at + ISR_TOLERANCE and rule_of(r.kind).purpose is Purpose.CRASH]
            if own and len(late) == len(own):
                yield _violated(
                    "causes-come-first", f, leaves="certain", apart=True, of=f.kind, at=at, cause=own[0].kind, start=own[0].start
                )


def states_hold_together(report: ReportFacts) -> Iterator[Violation]:
    """The leader is a replica, in-sync replicas are replicas, and nothing is committed beyond the end of the log."""
    for row in report.states():
        replicas, members = {*(row["replicas"] or ())}, {*(row["isr"] or ()), *(b for b in (row["leader"],) if b is not None and b >= 0)}
        hw, end = row["high_watermark"], row["log_end_offset"]
        if (replicas and not members <= replicas) or (hw is not None and end is not None and hw > end):
            yield _violated("states-hold-together", evidence=_of_state(row), place=_name(row))


INVARIANTS: tuple[Invariant, ...] = (
    running_while_dead,
    one_end,
    begins_before_it_ends,
    inside_the_evidence,
    counts_add_up,
    offered_are_the_lost,
    one_cut_one_place,
    now_is_the_last_state,
    missing_is_out_of_sync,
    ids_differ,
    verdicts_are_those_of_losses,
    gone_has_an_end,
    asked_for_is_not_there,
    causes_come_first,
    states_hold_together,
)
