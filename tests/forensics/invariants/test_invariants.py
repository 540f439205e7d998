"""Each invariant is violated by a report in which something cannot be true together, which is then weakened; and a sound report stays as it is.

That no report on recorded, staged or altered evidence violates one is in the tests of this evidence (tests.support.contradictions).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from forensics.incidents.judging import PARTITION
from forensics.invariants import checked
from forensics.invariants.declared import ASKED, GONE, INVARIANTS, ReportFacts, violations
from forensics.model.findings import Client, Finding, Held, Records, Salvageable, Written
from forensics.model.message import Range, encoded, said
from forensics.model.rows import Rows
from forensics.rules import RULES, declared
from forensics.words import catalogue, words
from tests.support import recorded
from tests.support.contradictions import contradictions

SOUND = recorded.report("acks1-failover-2.8.2-zk")
"""A broker crashed and was restarted; the end of its log, offsets that were never committed, is gone."""
SHORT, LONG = timedelta(milliseconds=1), timedelta(hours=1)
Changes = dict[str, Any]


def one(kind: str) -> Finding:
    (found,) = (f for f in SOUND.findings if f.kind == kind)
    return found


LOSS, CRASH, BACK = one("data-loss"), one("broker-crash"), one("restarted-replica")


def when(at: datetime | None) -> datetime:
    assert at is not None
    return at


def reset(to: int) -> Finding:
    client = Client("billing", "reset", 353, None, None, None, None)
    own = {"kind": "consumer-reset", "message": "found", "loss": False, "cause": "reset", "clients": (client,), "confidence": "probable"}
    return replace(LOSS, **own, values=(("steps", (said("consumer-reset/step", to=to),)),))


def held(epoch: int) -> Salvageable:
    return Salvageable(held=(Held("broker-1/data/t-0/0.log", 0, 1, epoch, Range(LOSS.offsets[0].start, LOSS.offsets[0].start + 1)),))


NEVER_OVER = replace(LOSS, kind="offline-partition", message="found", loss=False, cause=None, start=None, end=None, offsets=())
WANTED = said("handover/unknown-stop", leader=1, wanted=said("coverage/server-log", broker=1))
IN_SYNC = (1,)
AFTER, LIFE = when(CRASH.start) + SHORT, {"start_latest": None, "end": None, "values": ()}
SPOILED: Mapping[str, tuple[tuple[Finding, Changes] | Finding, Changes]] = {
    "running-while-dead": (replace(CRASH, kind="stuck-replica", message="found", **{**LIFE, "start": AFTER}), {}),
    "one-end": ((BACK, {"values": tuple((n, n == "cleanly" or v) for n, v in BACK.values)}), {}),
    "begins-before-it-ends": ((LOSS, {"written": Written(when(LOSS.end), when(LOSS.end) - LONG)}), {}),
    "inside-the-evidence": ((CRASH, {"end": when(SOUND.cluster.until) + LONG}), {}),
    "counts-add-up": ((LOSS, {"records": Records(10**6, "plain")}), {}),
    "parts-of-the-loss": ((LOSS, {"salvageable": Salvageable(missing=(Range(0, 10**6),))}), {}),
    "offered-are-the-lost": ((LOSS, {"salvageable": held(LOSS.leader_epoch or 0)}), {}),
    "one-cut-one-place": (reset(50), {}),
    "now-is-the-last-state": (NEVER_OVER, {}),
    "missing-is-out-of-sync": (replace(NEVER_OVER, kind="under-replicated", values=(("still", IN_SYNC),)), {"isr": IN_SYNC}),
    "ids-differ": (replace(BACK, confidence="possible"), {}),
    "verdicts-are-those-of-losses": (LOSS, {"verdict": "lost"}),
    "gone-has-an-end": (LOSS, {"reason": encoded((("why", said("verdict/tail-cut", offsets=(Range(1, None),))),))}),
    "asked-for-is-not-there": (LOSS, {"reason": encoded((("why", WANTED),))}),
    "causes-come-first": ((LOSS, {"start": None, "end": when(CRASH.start) - LONG}), {}),
    "states-hold-together": (LOSS, {"log_end_offset": 1, "high_watermark": 2}),
}
"""By invariant, a finding that is added or changed, and the columns of its partition that are."""


def spoiled(invariant: str) -> tuple[list[Finding], Rows]:
    stated, of_partition = SPOILED[invariant]
    findings = [*SOUND.findings, *([reset(49)] if invariant == "one-cut-one-place" else [])]
    if isinstance(stated, tuple):
        findings[findings.index(stated[0])] = replace(stated[0], **stated[1])
    elif stated not in findings:
        findings.append(stated)
    rows = [
        dict(row) | (of_partition if row["topic"] == LOSS.topic and row["partition"] == LOSS.partition else {}) for row in SOUND.partitions
    ]
    return findings, Rows(pa.Table.from_pylist(rows, schema=pa.schema(list(PARTITION))))


def test_a_sound_report_stays_as_it_is() -> None:
    assert checked(ReportFacts(SOUND.findings, spoiled("ids-differ")[1], SOUND.cluster)) == list(SOUND.findings)


@pytest.mark.parametrize("invariant", SPOILED)
def test_what_cannot_be_true_together_is_weakened_and_reported(invariant: str) -> None:
    findings, rows = spoiled(invariant)
    found = [v for v in violations(ReportFacts(findings, rows, SOUND.cluster)) if v.what.id == f"invariant/{invariant}"]
    assert found, "this invariant is violated"
    *stated, conflict = checked(ReportFacts(findings, rows, SOUND.cluster))
    assert invariant in contradictions(replace(SOUND, findings=[conflict]))
    assert words(conflict).summary.startswith("this report contradicts itself: ") and words(conflict).next_steps
    for v in found:
        for f in v.findings:
            weaker = stated[findings.index(f)]
            assert (weaker.incident is None and f.incident is not None) if v.apart else weaker.confidence != "certain"
            assert weaker.id == f.id
            assert "the report contradicts itself" in words(weaker).explanation
    assert {f.kind for f in stated} == {f.kind for f in findings}


def test_every_invariant_is_tried_and_has_its_words() -> None:
    functions = {invariant.__name__.replace("_", "-") for invariant in INVARIANTS}
    assert {*SPOILED} - {"parts-of-the-loss"} == functions
    assert all(isinstance(catalogue.phrase(f"invariant/{name}"), str) for name in SPOILED)


def test_what_rules_declare_for_the_invariants_exists() -> None:
    """Messages that say that a broker was running or gone, and those that ask for files."""
    for rule in RULES:
        assert {*rule.alive, *rule.gone} <= {*declared()[rule.kind].get("message", ())}, rule.kind
    assert all(isinstance(catalogue.phrase(id_), str) for id_ in (*ASKED, *GONE))


def test_a_report_of_a_report_is_the_same() -> None:
    """What was weakened violates nothing more, except what weakening does not change."""
    findings, rows = spoiled("one-end")
    again = checked(ReportFacts(once := checked(ReportFacts(findings, rows, SOUND.cluster)), rows, SOUND.cluster))
    assert again == once


def test_partitions_that_were_not_asked_for_are_not_compared() -> None:
    """Their verdicts are in the report, and their findings are not."""
    _, rows = spoiled("verdicts-are-those-of-losses")
    others = [f for f in SOUND.findings if f.topic != LOSS.topic]
    stated = ReportFacts(others, rows, SOUND.cluster, lambda topic, _: topic != LOSS.topic)
    assert list(violations(stated)) == []
    assert list(violations(replace(stated, asked=None))) != []
