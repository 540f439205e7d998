"""The order of findings: the reader must act on the first one first."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from forensics.incidents.findings import Findings
from forensics.incidents.incidents import ClusterFindings, recurring_of_each
from forensics.incidents.judging import distinct, in_order
from forensics.model.findings import Finding, LostPart
from forensics.model.message import Range
from forensics.rules import RULES

NOON = datetime(2026, 11, 21, 12)


def one(kind: str, severity: str, *, over: bool, committed: bool | None = None, cluster: int = 0) -> Finding:
    end = NOON + timedelta(minutes=1) if over else None
    about = ("t", 0) if kind != "broker-crash" else (None, None)
    return Finding(
        kind=kind,
        severity=severity,
        confidence="certain",
        topic=about[0],
        partition=about[1],
        brokers=(1,),
        start=NOON,
        end=end,
        committed=committed,
        loss=kind == "data-loss",
        parts=(LostPart(Range(1, 5), committed, "certain"),) if kind == "data-loss" else (),
        cluster=cluster,
        evidence=(),
    )


def test_losses_come_first_then_what_is_unavailable_at_risk_broken_over_and_minor() -> None:
    expected = [
        one("data-loss", "critical", over=True, committed=True),
        one("offline-partition", "high", over=False),
        one("under-replicated", "medium", over=False),
        one("broker-crash", "medium", over=False),
        one("under-min-isr", "high", over=True),
        one("at-min-isr", "low", over=False),
    ]
    found = Findings()
    found.add(reversed(expected))
    ordered = in_order(recurring_of_each([ClusterFindings(found, RULES)], RULES))
    assert [(f.kind, f.over) for f in ordered] == [(f.kind, f.over) for f in expected]


def test_a_loss_that_is_only_possible_comes_after_what_is_unavailable() -> None:
    possible = one("data-loss", "medium", over=False).at_most("possible")
    found = Findings()
    found.add((possible, one("offline-partition", "high", over=False)))
    ordered = in_order(recurring_of_each([ClusterFindings(found, RULES)], RULES))
    assert [f.kind for f in ordered] == ["offline-partition", "data-loss"]


def test_what_was_never_committed_and_what_an_earlier_cluster_suffered_is_over() -> None:
    current = one("under-replicated", "medium", over=False)
    for past in (one("data-loss", "high", over=True, committed=False), replace(one("offline-partition", "high", over=False), cluster=-1)):
        found = Findings()
        found.add((past, current))
        ordered = in_order(recurring_of_each([ClusterFindings(found, RULES)], RULES))
        assert [f.kind for f in ordered] == ["under-replicated", past.kind]


def test_findings_that_are_alike_have_ids_of_their_own() -> None:
    sure, other = one("data-loss", "critical", over=True), one("data-loss", "critical", over=True, committed=True)
    unsure = replace(sure, confidence="possible")
    elsewhere = replace(sure, topic="u")
    for given in ([sure, unsure, elsewhere, other, sure], [unsure, other, sure, elsewhere]):
        stated = distinct(given)
        assert len({f.id for f in stated}) == len(stated) == 4
        assert {f.id for f in stated} == {f.id for f in distinct(reversed(given))}
        assert elsewhere in stated and [f.id for f in stated if f.confidence == "possible"] != [unsure.id]
