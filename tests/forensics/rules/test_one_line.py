"""One line of Kafka at WARN or above is a finding, or unreported.tsv says why it is none."""

from __future__ import annotations

import pytest

from parsers.layouts import LOG4J
from parsers.patterns import PATTERNS
from parsers.patterns.pattern import Pattern
from tests.support.local import events_of_files, report
from tests.support.paths import ROOT

REASONS = dict(
    line.split("\t", 1) for line in (ROOT / "tests/forensics/rules/unreported.tsv").read_text().splitlines() if not line.startswith("#")
)
ABOUT_EVIDENCE = {"evidence-gap", "unrecognised-lines", "unexplained-error"}


def severe(pattern: Pattern) -> str | None:
    """The first sample at WARN or above, or without a level of its own: exceptions and lines of the JVM."""
    records = ((LOG4J.read(line.partition("\n")[0]), line) for line in (s.line.lstrip("\n") for s in pattern.samples))
    return next((line for record, line in records if record is None or record.level in ("WARN", "ERROR", "FATAL")), None)


SEVERE = {p.name: line for p in PATTERNS if p.event != "irrelevant" and (line := severe(p)) is not None}


def is_reported(line: str) -> bool:
    found = report(events_of_files({"broker-1/server.log": f"{line}\n"})).findings
    return not {f.kind for f in found} <= ABOUT_EVIDENCE


@pytest.mark.parametrize("name", SEVERE)
def test_a_severe_line_is_a_finding_or_says_why_not(name: str) -> None:
    assert is_reported(SEVERE[name]) is (name not in REASONS)


def test_reasons_are_of_severe_lines() -> None:
    assert REASONS.keys() <= SEVERE.keys()
    assert all(REASONS.values())
