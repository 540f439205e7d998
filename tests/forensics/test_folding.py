"""One event, one finding: nothing is lost in the fold, and nothing of another event gets into it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from forensics.folding import OFTEN, folded, places
from forensics.model import Evidence, Finding, Place, Range, Rule

NOON = datetime(2026, 11, 21, 12)
RULES = (
    Rule(kind="offline-partition", level="high", meaning="", together=lambda f: f.brokers, recurs=True),
    Rule(kind="data-loss", level="critical", meaning="", together=lambda f: f.brokers if f.confidence == "possible" else None),
    Rule(kind="under-replicated", level="medium", meaning=""),
)


def offline(partition: int, seconds: float = 0, brokers: tuple[int, ...] = (1,), kind: str = "offline-partition") -> Finding:
    return Finding(
        kind=kind,
        severity="high",
        confidence="certain",
        summary=f"t-{partition}: no leader for 5 s",
        explanation=f"t-{partition} had no leader.",
        evidence=(Evidence("broker-1/logs/state-change.log", partition + 1, None, "a line"),),
        topic="t",
        partition=partition,
        brokers=brokers,
        start=NOON + timedelta(seconds=seconds),
        end=NOON + timedelta(seconds=seconds + 5),
    )


def test_what_happened_to_many_partitions_at_once_is_one() -> None:
    (one,) = folded([offline(p, p / 100) for p in range(50)], RULES)
    assert (one.topic, one.partition, len(one.places)) == (None, None, 50)
    assert one.summary == "50 partitions (t-0, t-1, t-2, t-3 and 46 more): no leader for 5 s"
    assert (one.start, one.end) == (NOON, NOON + timedelta(seconds=5.49))


def test_other_brokers_other_times_and_rules_that_do_not_fold_stay_apart() -> None:
    told = [offline(0), offline(1, brokers=(2,)), offline(2, 60), offline(3, kind="under-replicated"), offline(4, kind="under-replicated")]
    assert sorted(f.summary for f in folded(told, RULES)) == sorted(f.summary for f in told)


def test_a_sure_loss_is_told_for_itself() -> None:
    sure = [replace(offline(p, kind="data-loss"), offsets=(Range(p, 9),)) for p in range(3)]
    doubts = [replace(f, confidence="possible", offsets=(Range(p, None),), end=None) for p, f in enumerate(sure)]
    found = folded([*sure, *doubts], RULES)
    assert [len(f.places) for f in found] == [0, 0, 0, 3]
    assert [p.offsets for p in found[-1].places] == [(Range(0, None),), (Range(1, None),), (Range(2, None),)]
    assert found[-1].end is None


def test_what_recurs_is_told_once_with_its_first_and_last_time() -> None:
    months = [offline(0, 86400.0 * day) for day in range(OFTEN + 1)]
    (one,) = folded(months, RULES)
    assert one.summary.startswith(f"{OFTEN + 1} times: t-0: no leader")
    assert (one.start, one.end) == (months[0].start, months[-1].end)
    assert len(folded(months[:-1], RULES)) == OFTEN


PLACES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 30), st.integers(1, 2)), max_size=30)


@given(PLACES, st.randoms())
def test_every_place_is_there_once_and_order_changes_nothing(told: list[tuple[int, int, int]], chance: object) -> None:
    findings = [offline(p, s, (b,)) for p, s, b in dict.fromkeys(told)]
    shuffled = list(findings)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    rules = [replace(rule, recurs=False) for rule in RULES]
    found = folded(findings, rules)

    def where(folds: list[Finding]) -> list[tuple[tuple[int, ...], Place]]:
        return sorted(((f.brokers, p) for f in folds for p in places(f)), key=repr)

    assert where(found) == sorted(((f.brokers, f.place) for f in findings), key=repr)
    assert {frozenset(places(f)) for f in folded(shuffled, rules)} == {frozenset(places(f)) for f in found}
