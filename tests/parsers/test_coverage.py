"""Every statement of Kafka's that bears on replication is read as an event with its numbers in columns, or judged to be no evidence."""

from __future__ import annotations

import re
from functools import cache

import pytest

from fixtures.templates.coverage import Verdict, reason, reasons, verdicts
from fixtures.templates.lines import lines, printed, templates
from fixtures.templates.matching import matching, search
from fixtures.templates.values import PARTITION, TOPIC, values
from parsers.catalogue.record import search_all
from parsers.patterns import PATTERNS
from parsers.schemas import Row

IRRELEVANT = [p.name for p in PATTERNS if p.event == "irrelevant"]
TOLD_ELSEWHERE = {
    ("truncating-needless", "log_end_offset"): "Kafka prints LEO - 1; the column holds the LEO",
    ("log-loaded", "offset"): "the local log start offset of tiered storage",
    ("become-failed-on-disk", "controller_epoch"): "the epoch of the last update, not of this request",
    ("leader-unavailable", "controller_epoch"): "the epoch of the last update, not of this request",
    ("follower-kept", "controller_epoch"): "the epoch of the last update, not of this request",
}
"""Numbers of a line that are rightly in no column of its event, by pattern."""
NUMBERS = {
    "high_watermark": (r".*[hH]ighWatermark|hwm", 1190),
    "log_end_offset": (r".*([lL]ogEndOffset|leaderEndOffset|replicaEndOffset)", 1200),
    "leader_epoch": (r".*[lL]eaderEpoch", 5),
    "controller_epoch": (r".*[cC]ontrollerEpoch|controllerContext\.epoch|controller\.epoch", 3),
    "partition_epoch": (r".*[pP]artitionEpoch|.*zkVersion", 9),
    "broker_epoch": (r".*[bB]rokerEpoch", 81),
    "offset": (r".*(Offset|offset)", 1100),
}
"""Run-time values by name, and the number fixtures.templates puts in their place."""


def test_no_statement_is_neither_read_nor_judged() -> None:
    among = reasons()
    unjudged = [(v.template.statement, v.version, v.unread) for v in verdicts() if not v.events and reason(v, among) is None]
    assert unjudged == []


def test_a_statement_that_is_read_is_read_in_all_its_forms() -> None:
    assert [(v.template.statement, v.version, v.unread) for v in verdicts() if v.events and v.unread] == []


def test_a_line_is_read_by_one_pattern() -> None:
    assert [(v.version, v.ambiguous, v.patterns) for v in verdicts() if v.ambiguous] == []


def test_patterns_claim_the_versions_that_print_them() -> None:
    assert sorted({(name, v.version) for v in verdicts() for name in v.misplaced}) == []


def test_every_reason_is_needed_and_every_irrelevant_pattern_has_one() -> None:
    among = reasons()
    used = {reason(v, among) for v in verdicts() if not v.events}
    assert [r.match.pattern for r in among if r not in used] == []
    by_name = [r.match for r in among if r.by == "pattern"]
    assert [name for name in IRRELEVANT if not any(match.fullmatch(name) for match in by_name)] == []


def test_partitions_of_a_line_are_in_the_columns_of_its_event() -> None:
    missing = {
        (rows[0]["pattern"], verdict.template.statement)
        for verdict, line, rows in _events()
        if (f"{TOPIC}-{PARTITION}" in line or f"[{TOPIC},{PARTITION}]" in line)
        and not any((row.get("topic"), row.get("partition")) == (TOPIC, PARTITION) for row in rows)
    }
    assert {name for name, _ in missing} <= {"controller-topics-changed"}, missing  # an event of topics


@pytest.mark.parametrize("column", NUMBERS)
def test_numbers_of_a_line_are_in_the_columns_of_its_event(column: str) -> None:
    name, number = NUMBERS[column]
    missing = {
        (rows[0]["pattern"], verdict.template.statement)
        for verdict, line, rows in _events()
        if any(re.fullmatch(name, value) for value in re.findall(r"<([^<>]+)>", verdict.template.text))
        and re.search(rf"\b{number}\b", line.partition("] ")[2])
        and number not in _numbers(rows)
    }
    assert {n for n, _ in missing} <= {pattern for pattern, excepted in TOLD_ELSEWHERE if excepted == column}, missing


def test_a_line_with_other_words_is_not_read() -> None:
    for verdict in (v for v in verdicts() if v.events and len(v.template.text) > 30):
        line = next(lines(verdict.template, verdict.version))
        head, message = line.partition("] ")[::2]
        level, rest = message.split(" ", 1)
        changed = f"{head}] {level} Xyzzy {rest}"
        assert [p.name for p in matching(changed) if p.event in verdict.events and not p.regex.startswith((".*", "(?P<value>"))] == []


def test_a_value_nobody_described_is_an_error() -> None:
    with pytest.raises(LookupError, match="<unheardOf>"):
        values("Log: Truncating to <unheardOf>", "unheardOf", "2.8")


def test_trace_counts_where_kafka_prints_it() -> None:
    traces = {(t.logger, v) for t in templates() if t.level == "TRACE" for v in t.versions if printed(t, v)}
    assert ("state.change.logger", "2.5") in traces
    assert ("kafka.cluster.Partition", "2.3") not in traces
    changed = next(t for t in templates() if t.level == "TRACE" and "starting the become-leader transition" in t.text and t.last == "4.1")
    assert [printed(changed, v) for v in ("2.5", "2.6")] == [True, False]


@cache
def _events() -> tuple[tuple[Verdict, str, list[Row]], ...]:
    """Every distinct line that is read, with its rows."""
    found = {}
    for verdict in verdicts():
        if verdict.events:
            for line in lines(verdict.template, verdict.version):
                if line not in found and (rows := [r for r in search_all(line) if r["event"] != "irrelevant"]):
                    found[line] = (verdict, line, rows)
    return tuple(found.values())


def _numbers(rows: list[Row]) -> set[int]:
    numbers: set[int] = set()
    for value in (value for row in rows for value in row.values()):
        if isinstance(value, int):
            numbers.add(value)
        elif isinstance(value, list):
            numbers.update(n for item in value for n in (item.values() if isinstance(item, dict) else (item,)) if isinstance(n, int))
    return numbers


@pytest.mark.parametrize("level", ["FATAL", "ERROR"])
def test_fatal_is_a_level_until_1_0_and_an_error_after(level: str) -> None:
    row = search(f"[2024-05-01 12:00:00,123] {level} [Kafka Server 1], Fatal error during KafkaServer shutdown. (kafka.server.KafkaServer)")
    assert row is not None
    assert (row["event"], row["level"], row["node"]) == ("fatal-error", level, 1)


def test_the_empty_place_of_under_min_isr_leaves_two_blanks() -> None:
    for mark, reason_ in (("", None), ("(under-min-isr)", "under-min-isr")):
        row = search(
            f"[2024-05-01 12:00:00,123] INFO [Partition orders-0 broker=1] ISR updated to 2,3,1 {mark} and version updated to 6"
            " (kafka.cluster.Partition)"
        )
        assert row is not None
        assert (row["event"], row["isr"], row["partition_epoch"], row.get("reason")) == ("isr-update", [2, 3, 1], 6, reason_)


def test_the_quotient_of_4_0_is_no_count_of_segments() -> None:
    old = search(
        "[2024-05-01 12:00:00,123] INFO [LogLoader partition=t-0, dir=/d] Recovering unflushed segment 0. 1/3 recovered for t-0."
        " (kafka.log.LogLoader)"
    )
    new = search(
        "[2024-05-01 12:00:00,123] INFO [LogLoader partition=t-0, dir=/d] Recovering unflushed segment 0. 0 recovered for t-0."
        " (org.apache.kafka.storage.internals.log.LogLoader)"
    )
    assert old is not None
    assert new is not None
    assert (old["count"], new.get("count")) == (3, None)


def test_a_topic_may_hold_what_separates_it_from_its_partition() -> None:
    row = search(
        "[2024-05-01 12:00:00,123] WARN [Partition a-1.b_2-3 broker=1] No checkpointed highwatermark is found for partition a-1.b_2-3 (kafka.cluster.Partition)"
    )
    assert row is not None
    assert (row["topic"], row["partition"]) == ("a-1.b_2", 3)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("kafka.log.UnifiedLog$", "org.apache.kafka.storage.internals.log.UnifiedLog"),
        ("kafka.log.LogLoader$", "org.apache.kafka.storage.internals.log.LogLoader"),
    ],
)
def test_a_logger_may_be_a_companion_object(old: str, new: str) -> None:
    text = "[LogLoader partition=t-0, dir=/d] Loading producer state till offset 5"
    assert [[p.name for p in matching(f"[2024-05-01 12:00:00,123] INFO {text} ({name})")] for name in (old, new)] == [
        ["producer-state-loaded"]
    ] * 2
