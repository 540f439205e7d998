"""Every pattern proves itself: its samples hold its literal, match it and nothing else, and give the columns it promises."""

from __future__ import annotations

import contextlib
import time
from collections import Counter

import pytest

from fixtures.templates.matching import matching
from fixtures.templates.values import EARLIER, VERSIONS
from parsers.catalogue.record import search_all
from parsers.kinds import KINDS
from parsers.patterns import PATTERNS
from parsers.patterns.pattern import check, column
from parsers.schemas import EVENTS

MINORS = (*EARLIER, *VERSIONS)
BEHIND = "[2024-05-01 12:00:00,123] INFO a record (org.eclipse.jetty.server.Server)\n"
"""What was thrown stands behind the record that tells its time."""
SAMPLES = [(p, s) for p in PATTERNS for s in p.samples]
"""One test checks all samples: a test of its own for each would take longer to start than to run."""


def test_samples_are_read_by_their_pattern_alone() -> None:
    assert [(p.name, s.line) for p, s in SAMPLES if p.literal not in s.line] == []
    found = [(p.name, [m.name for m in matching(s.line)], s.line) for p, s in SAMPLES]
    assert [(name, names, line) for name, names, line in found if names != [name]] == []


def test_samples_give_their_columns() -> None:
    for pattern, sample in SAMPLES:
        rows = search_all(sample.line) or search_all(BEHIND + sample.line)
        assert {row["pattern"] for row in rows} == ({pattern.name} if rows else set()), sample.line
        assert rows or (pattern.expand is not None and not sample.fields), f"{sample.line}: only a map of no partitions gives nothing"
        assert not rows or dict(sample.fields) in [{name: row.get(name) for name in sample.fields} for row in rows], sample.line
        for row in rows:
            assert row["event"] == "irrelevant" or row["event"] in KINDS, sample.line
            assert set(row) <= set(EVENTS.names), sample.line
            check(row)


def test_declarations() -> None:
    for pattern in PATTERNS:
        assert pattern.event == "irrelevant" or pattern.event in KINDS, pattern.name
        assert pattern.samples, f"{pattern.name}: a pattern without proof"
        assert len(pattern.literal) >= 4, f"{pattern.name}: a literal this short would have half of every file looked at"
        first, last = (MINORS.index(version) for version in pattern.versions)
        assert first <= last, pattern.name
        assert set(pattern.fixed) <= set(EVENTS.names), pattern.name
        assert [s.origin for s in pattern.samples if not s.origin.startswith(("real: ", "source: "))] == [], pattern.name


def test_names_are_unique() -> None:
    assert [name for name, count in Counter(p.name for p in PATTERNS).items() if count > 1] == []


def test_numbers_out_of_range_are_told() -> None:
    assert column("partition", "2147483647") == 2**31 - 1
    assert column("offset", "-9223372036854775808") == -(2**63)
    for name, text in (("partition", "2147483648"), ("offset", "9223372036854775808"), ("isr", "[1, 2147483648]")):
        with pytest.raises(ValueError, match="does not fit"):
            column(name, text)
    with pytest.raises(ValueError, match="does not fit"):
        check({"replica_offsets": [{"broker": 1, "log_end_offset": 2**63, "last_caught_up_ms": None}]})


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("isr", "Set()", []),
        ("isr", "List(1, 2)", [1, 2]),
        ("replicas", "1,2,3", [1, 2, 3]),
        ("recovering", "RECOVERING", True),
        ("recovering", "0", False),
        ("topic", None, None),
    ],
)
def test_columns(name: str, text: str | None, value: object) -> None:
    assert column(name, text) == value


@pytest.mark.parametrize("text", ["a-1", "a-1 ", "a-1 -> InitialFetchState(BrokerEndPoint(", "x: [", "isr=(1", "a=b,"])
def test_what_expands_takes_the_time_of_reading(text: str) -> None:
    """A list in a line has no end: what is quadratic in it takes minutes where this takes milliseconds."""
    said = {"node": 1, "reason": "", "isr": [], "previous_isr": [], "broker": 1, "duration_ms": 1, "topic_id": ""}
    began = time.process_time()
    for pattern in PATTERNS:
        if pattern.expand is not None and pattern.quick is not None:
            groups = {name: text * (15_000 // len(text)) if name.startswith("_") else None for name in pattern.quick.groups}
            with contextlib.suppress(ValueError, KeyError):
                pattern.events(groups, said, None, None)
    assert time.process_time() - began < 5
