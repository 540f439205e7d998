"""The overall verdict: one word, the counts, and the sentences at the top of every format.

Here: the sum of the verdicts on partitions and of the losses. Not here: the verdict on a partition (forensics.proof.verdict), the words of a
scope (scope), or present failures (impact).

The verdict never exceeds what is proven: a partition that cannot be judged is described differently from an intact one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from forensics.incidents.folding import hit, places
from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.sources import SetAside
from forensics.model.findings import CUT, POSSIBLE, Finding, Purpose, lost_parts
from forensics.model.findings import LOST as GONE
from forensics.model.findings import UNSETTLED as UNCLEAR
from forensics.proof.verdict import INTACT, LOST, TAIL_CUT, UNKNOWN, VERDICTS
from forensics.rules import of_purpose, rule_of
from forensics.thresholds import LOG_GAP
from forensics.views.impact import failures, stopped, unusable
from forensics.views.losses import LostRange, is_one, losses, partitions_of, total
from forensics.views.scope import Partitions, Scope
from forensics.words import summary
from forensics.words.formats import capital, counted, moment, some
from forensics.words.rows import missing

FOUND, EXCLUDED, UNSETTLED, BROKEN = "found", "excluded", "unknown", "broken"
SAID = 3
"""Present failures that the headline lists."""


def loss_of(findings: Sequence[Finding], states: Partitions) -> str:
    """'found', 'excluded' (each partition is proven intact, or only tails were cut) or 'unknown'. Partitions of earlier clusters count, too:
    a topic of the same name does not bring their records back."""
    verdicts = {p["verdict"] for p in states}
    ended = {f.cause for f in of_purpose(findings, Purpose.EARLIER_VERDICT)}
    if LOST in verdicts | ended or GONE in (kinds := {part.kind for *_, part in lost_parts(findings)}):
        return FOUND
    gone = any(rule_of(f.kind).records_gone for f in findings if not f.loss and not f.cluster)  # with the cluster before this one
    doubted = gone or UNKNOWN in ended or kinds - {CUT}
    return EXCLUDED if verdicts and verdicts <= {INTACT, TAIL_CUT} and not doubted else UNSETTLED


def counts(states: Partitions) -> dict[str, int]:
    verdicts = Counter(p["verdict"] for p in states)
    return {verdict: verdicts[verdict] for verdict in VERDICTS}


@dataclass(frozen=True, slots=True)
class Headline:
    """The overall verdict on the partitions in scope."""

    loss: str
    """'found', 'excluded' or 'unknown'."""
    tone: str
    """How the headline is coloured: as `loss`, or 'broken' (nothing known to be lost, but something is unusable now). 'excluded' only if
    nothing is known to be lost outside the scope."""
    title: str
    """A few words, for example 'Committed data was lost', with the scope if there is one."""
    sentences: tuple[str, ...]
    """In this order: the scope, losses, present failures, cut tails, unknown partitions, proven ones, and what lies outside the scope."""
    partitions: Mapping[str, int]
    """Number of partitions by verdict."""

    @property
    def summary(self) -> str:
        return " ".join(self.sentences)


def headline(findings: Sequence[Finding], states: Partitions, scope: Scope | None = None, cluster: Cluster | None = None) -> Headline:
    """The headline of a report on these partitions. `findings`: those about these partitions, and those about no partition. `cluster`: for
    the end of the evidence, and what was set aside."""
    loss = loss_of(findings, states)
    before, after = (scope.before(len(states)), scope.after()) if scope is not None else ([], [])
    aside = cluster.not_judged if cluster is not None else []
    sentences = [*before, *_not_judged(aside), *_sentences(findings, states, cluster.until if cluster is not None else None), *after]
    return Headline(loss, _tone(loss, findings, scope, aside), _title(loss, findings, scope, aside), tuple(sentences), counts(states))


TITLES = {FOUND: "Committed data was lost", EXCLUDED: "No committed data was lost"}
NOT_KNOWN = "Unknown whether data was lost"


def _not_judged(aside: Sequence[SetAside]) -> Iterator[str]:
    for other in aside:
        yield f"{counted(len(other.paths), 'file')} of another cluster (id {other.cluster_id}) {'was' if len(other.paths) == 1 else 'were'} not judged."


def _tone(loss: str, findings: Sequence[Finding], scope: Scope | None, aside: Sequence[SetAside]) -> str:
    if loss == FOUND:
        return FOUND
    if any(True for _ in failures(findings)):
        return BROKEN
    if aside or (scope is not None and any(p["verdict"] == LOST for p in scope.outside)):
        return UNSETTLED
    return loss


def _title(loss: str, findings: Sequence[Finding], scope: Scope | None, aside: Sequence[SetAside]) -> str:
    """The verdict, the number of partitions that clients cannot use now, the scope, and whether another cluster was not judged."""
    title = TITLES.get(loss, NOT_KNOWN)
    if scope is not None and scope.selection.by_partition:
        title += f" in {scope.selection.subject}"
    others = f"{'another cluster' if len(aside) == 1 else f'{len(aside)} other clusters'} not judged"
    return "; ".join((title, *unusable(findings), *((others,) if aside else ())))


def _sentences(findings: Sequence[Finding], states: Partitions, end: datetime | None) -> list[str]:
    ranges = losses(findings)
    now = list(failures(findings))
    lines = [
        *_lost(ranges),
        *_lost_before(findings, ranges),
        *([f"Now: {'; '.join(now[:SAID])}."] if now else []),
        *stopped(findings),
        *_missing(findings, states),
        *_cut(ranges),
        *_unknown(findings, states),
        *_whole(findings, states, end),
        *([] if states else ["Unknown whether data was lost: the evidence contains no partition."]),
        *(f"{summary(f)}." for f in findings if rule_of(f.kind).records_gone and not f.loss and not f.cluster),
    ]
    if unclean := sum(p.times for f in of_purpose(findings, Purpose.UNCLEAN_ELECTION) if f.confidence != "possible" for p in places(f)):
        lines.append(f"{counted(unclean, 'unclean election')}.")
    return [capital(t) for t in lines]


def _missing(findings: Sequence[Finding], states: Partitions) -> list[str]:
    """Evidence that was not collected or not understood, if the verdict is unknown because of it."""
    gaps = [summary(f) for f in of_purpose(findings, Purpose.MISSING_EVIDENCE) if not f.cluster]
    if not gaps or (states and all(p["verdict"] != UNKNOWN for p in states)):
        return []
    more = f" ({len(gaps) - 1} more gaps)" if len(gaps) > 2 else " (1 more gap)" if len(gaps) == 2 else ""
    return [f"Evidence is missing: {gaps[0]}{more}."]


def _lost(ranges: Sequence[LostRange]) -> list[str]:
    lines = []
    if gone := [r for r in ranges if r.kind == GONE]:
        were = "was" if is_one(gone) else "were"
        lines.append(f"DATA WAS LOST: {total(gone)} that {were} committed, in {partitions_of(gone)}.")
    if gone := [r for r in ranges if r.kind == UNCLEAR]:
        are, were = ("is", "it was") if is_one(gone) else ("are", "they were")
        lines.append(f"{total(gone)} {are} gone in {partitions_of(gone)}; whether {were} committed is unknown.")
    return lines


def _lost_before(findings: Sequence[Finding], ranges: Sequence[LostRange]) -> list[str]:
    """Losses in earlier clusters of which no evidence shows how far they went."""
    known = {(r.finding.cluster, r.place.topic, r.place.partition) for r in ranges if r.kind == GONE}
    lost = {(f.cluster, *name) for f in of_purpose(findings, Purpose.EARLIER_VERDICT) if f.cause == LOST for name in hit([f])} - known
    return [f"DATA WAS LOST in {counted(len(lost))} of earlier clusters: how many records is unknown."] if lost else []


def _cut(ranges: Sequence[LostRange]) -> list[str]:
    lines = []
    for possible, perhaps in ((False, ""), (True, "; possibly none are")):
        if cut := [r for r in ranges if r.kind == CUT and (r.confidence == "possible") == possible]:
            were = "was" if is_one(cut) else "were"
            lines.append(
                f"{total(cut)} that {were} never committed {were} truncated in {partitions_of(cut)}; only acks=0/1 producers can be "
                f"affected{perhaps}."
            )
    return lines


def _unknown(findings: Sequence[Finding], states: Partitions) -> list[str]:
    unknown = [p for p in states if p["verdict"] == UNKNOWN]
    known = {(p["topic"], p["partition"]) for p in states}
    doubtful = {(f.cluster, p.topic, p.partition) for f, p, part in lost_parts(findings) if part.kind == POSSIBLE}
    doubtful |= {(f.cluster, *name) for f in of_purpose(findings, Purpose.EARLIER_VERDICT) if f.cause == UNKNOWN for name in hit([f])}
    elsewhere = len(doubtful - {(0, *name) for name in known})
    lines = []
    if unknown:
        elected = hit(f for f in of_purpose(findings, Purpose.UNCLEAN_ELECTION) if f.confidence != "possible" and not f.cluster)
        unclean_first = sorted(unknown, key=lambda p: (p["topic"], p["partition"]) not in elected)
        names = some([f"{p['topic']}-{p['partition']}" for p in unclean_first])
        why, most = Counter(missing(p) for p in unknown).most_common(1)[0]
        reason = why if len(unknown) == most else f"for {counted(most)}, {why}"
        more = "more " if any(p["verdict"] == LOST for p in states) else ""
        lines.append(f"Unknown whether {more}data was lost in {counted(len(unknown))} ({names}): {reason}.")
    if elsewhere:
        lines.append(f"A loss cannot be excluded in {counted(elsewhere)} of deleted topics or earlier clusters.")
    return lines


def _whole(findings: Sequence[Finding], states: Partitions, end: datetime | None) -> list[str]:
    by_verdict = counts(states)
    elsewhere = loss_of(findings, states) != EXCLUDED
    whole = [p for p in states if p["verdict"] in (INTACT, TAIL_CUT)]
    intact = len(whole)
    if not intact:
        return []
    if intact == len(states) and elsewhere:
        all_of_them = f"all {intact:,} partitions that exist now are" if intact > 1 else "the partition that exists now is"
        lines = [f"{all_of_them} proven to have lost no committed record."]
    elif intact == len(states):
        all_of_them = f"all {intact:,} partitions" if intact > 1 else "the partition"
        proven = (
            f"this is proven for {all_of_them}" if by_verdict[TAIL_CUT] else f"{all_of_them} {'are' if intact > 1 else 'is'} proven intact"
        )
        lines = [f"No committed record was lost: {proven}."]
    else:
        lines = [f"{counted(intact)} {'is' if intact == 1 else 'are'} proven to have lost no committed record."]
    if late := [p["since"] for p in whole if not p["from_creation"]]:
        last = max((at for at in late if at is not None), default=None)
        lines.append(_not_covered(late, intact, "before the evidence begins", "at the latest ", last))
    if early := [p["until"] for p in whole if end is not None and p["until"] is not None and end - p["until"] >= LOG_GAP]:
        lines.append(_not_covered(early, intact, "after the logs of the leaders end", "at the earliest ", min(early)))
    return lines


def _not_covered(times: Sequence[datetime | None], intact: int, when: str, bound: str, at: datetime | None) -> str:
    where = "" if len(times) == intact else f" in {len(times):,} of these partitions"
    moments = f" ({bound if len({*times}) > 1 else ''}at {moment(at)})" if at is not None else ""
    return f"Losses{where} {when}{moments} are unknown."
