"""The overall verdict: one word, the counts, and the sentences at the top of every format.

Here: the sum of the verdicts on partitions and of the losses. Not here: the verdict on a partition (forensics.proof.verdict).

The verdict never exceeds what is proven: a partition that cannot be judged is described differently from an intact one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from forensics.incidents.folding import hit, places
from forensics.model.findings import Finding, counted, offsets_in, some
from forensics.proof.verdict import INTACT, LOST, TAIL_CUT, UNKNOWN, VERDICTS

FOUND, EXCLUDED = "found", "excluded"
Partitions = Sequence[Mapping[str, Any]]


def loss_of(findings: Sequence[Finding], states: Partitions) -> str:
    """'found', 'excluded' (each partition is proven intact, or only tails were cut) or 'unknown'."""
    verdicts = {p["verdict"] for p in states}
    if LOST in verdicts or any(f.kind == "data-loss" and f.committed and f.confidence != "possible" for f in findings):
        return FOUND
    doubted = any(f.kind == "data-loss" and f.committed is not False for f in findings)
    return EXCLUDED if verdicts and verdicts <= {INTACT, TAIL_CUT} and not doubted else UNKNOWN


def counts(states: Partitions) -> dict[str, int]:
    verdicts = Counter(p["verdict"] for p in states)
    return {verdict: verdicts[verdict] for verdict in VERDICTS}


def summary(findings: Sequence[Finding], states: Partitions) -> str:
    """The sentences, joined."""
    return " ".join(sentences(findings, states))


def sentences(findings: Sequence[Finding], states: Partitions) -> list[str]:
    """A few sentences: missing evidence, losses, cut tails, unknown partitions with reasons, partitions proven intact."""
    sure = [f for f in findings if f.kind == "data-loss" and f.confidence != "possible"]
    lines = [*_missing(findings, states), *_lost(sure), *_cut(findings), *_unknown(findings, states), *_whole(states)]
    unclean = hit(f for f in findings if f.kind == "unclean-election" and f.confidence != "possible")
    if unclean:
        lines.append(f"{counted(len(unclean), 'unclean election')}.")
    return [t[0].upper() + t[1:] for t in lines] or ["Losses are NOT KNOWN: the evidence contains no partition."]


def _missing(findings: Sequence[Finding], states: Partitions) -> list[str]:
    """Evidence that was not collected or not understood, if the verdict is unknown because of it."""
    gaps = [f.summary for f in findings if f.kind == "evidence-gap" and not f.cluster]
    if not gaps or (states and all(p["verdict"] != UNKNOWN for p in states)):
        return []
    more = f" ({len(gaps) - 1} more gaps)" if len(gaps) > 2 else " (1 more gap)" if len(gaps) == 2 else ""
    return [f"Evidence is missing: {gaps[0]}{more}."]


def _lost(sure: Sequence[Finding]) -> list[str]:
    lines = []
    if gone := [f for f in sure if f.committed]:
        offsets, one = _offsets(gone)
        lines.append(f"DATA WAS LOST: {offsets} that {'was' if one else 'were'} committed, in {counted(len(hit(gone)))}.")
    if gone := [f for f in sure if f.committed is None]:
        offsets, one = _offsets(gone)
        lines.append(
            f"{offsets} {'is' if one else 'are'} gone in {counted(len(hit(gone)))}; whether {'it was' if one else 'they were'} committed is unknown."
        )
    return lines


def _cut(findings: Sequence[Finding]) -> list[str]:
    lines = []
    for possible, perhaps in ((False, ""), (True, "; possibly none are")):
        if cut := [f for f in findings if f.kind == "data-loss" and f.committed is False and (f.confidence == "possible") == possible]:
            offsets, one = _offsets(cut)
            were = "was" if one else "were"
            lines.append(
                f"{offsets} that {were} never committed {were} cut in {counted(len(hit(cut)))}; only acks=0/1 producers can be affected{perhaps}."
            )
    return lines


def _offsets(findings: Sequence[Finding]) -> tuple[str, bool]:
    """The number of offsets in words, and whether it is exactly one."""
    count = offsets_in((f, p) for f in findings for p in places(f))
    more = " or more" if any(r.end is None for f in findings for p in places(f) for r in p.offsets) else ""
    return f"{count or 'an unknown number of'} offset{'s' if count != 1 else ''}{more if count else ''}", count == 1 and not more


def _unknown(findings: Sequence[Finding], states: Partitions) -> list[str]:
    unknown = [p for p in states if p["verdict"] == UNKNOWN]
    known = {(p["topic"], p["partition"]) for p in states}
    doubtful = (f for f in findings if f.kind == "data-loss" and f.confidence == "possible" and f.committed is not False)
    elsewhere = hit(doubtful) - known
    lines = []
    if unknown:
        names = some([f"{p['topic']}-{p['partition']}" for p in unknown])
        why, most = Counter(p["why"] for p in unknown).most_common(1)[0]
        reason = why if len(unknown) == most else f"for {counted(most)}, {why}"
        lines.append(
            f"Whether {'more was' if any(p['verdict'] == LOST for p in states) else 'data was'} lost is NOT KNOWN for {counted(len(unknown))} ({names}): {reason}."
        )
    if elsewhere:
        lines.append(f"A loss cannot be excluded in {counted(len(elsewhere))} of deleted topics or earlier clusters.")
    return lines


def _whole(states: Partitions) -> list[str]:
    by_verdict = counts(states)
    intact = by_verdict[INTACT] + by_verdict[TAIL_CUT]
    if not intact:
        return []
    if intact == len(states):
        all_of_them = f"all {intact} partitions are" if intact > 1 else "the partition is"
        lines = [f"No committed record was lost: {all_of_them} proven intact."]
    else:
        lines = [f"{counted(intact)} {'is' if intact == 1 else 'are'} proven to have lost no committed record."]
    late = [p["since"] for p in states if p["verdict"] in (INTACT, TAIL_CUT) and not p["from_creation"]]
    if late:
        subject = "Losses" if len(late) == intact else f"For {len(late)} of these partitions, losses"
        when = max((at for at in late if at is not None), default=None)
        begins = f" ({'at the latest ' if len({*late}) > 1 else ''}at {when:%Y-%m-%d %H:%M:%S})" if when is not None else ""
        lines.append(f"{subject} before the evidence begins{begins} are NOT KNOWN.")
    return lines
