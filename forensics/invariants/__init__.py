"""A report is checked against itself: what cannot be true together is weakened, and the report says so.

Here: which statements are weakened, and how far. Not here: the invariants (declared), or what the report says of it
(forensics.rules.evidence_conflict).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from forensics.invariants.declared import ReportFacts, Violation, violations
from forensics.model.findings import CONFIDENCES, LEVELS, Finding, lower
from forensics.rules.evidence_conflict import of_report
from parsers.frozen import replace


def checked(report: ReportFacts) -> list[Finding]:
    """The findings of a report: those that contradict others with less confidence, and one more that says so."""
    findings = report.findings
    if not (found := list(violations(report))):
        return list(findings)
    doubts: dict[Finding, list[Violation]] = defaultdict(list)
    for violation in found:
        for f in violation.findings:
            doubts[f].append(violation)
    weaker = {f: _weakened(f, why) for f, why in doubts.items()}
    first = {v.what.id: v.what for v in reversed(found)}
    said = dict.fromkeys((*reversed(first.values()), *(v.what for v in found)))
    evidence = [*(e for f in doubts for e in f.evidence[:1]), *(e for v in found for e in v.evidence[:1])]
    return [*(weaker.get(f, f) for f in findings), of_report(list(said), doubts, evidence)]


def _weakened(f: Finding, why: Sequence[Violation]) -> Finding:
    confidence = lower(f.confidence, min((v.leaves for v in why), key=CONFIDENCES.index))
    severity = min(f.severity, "medium", key=LEVELS.index) if confidence == CONFIDENCES[0] != f.confidence else f.severity
    contradicted = tuple(dict.fromkeys(v.what for v in why))
    incident = None if any(v.apart for v in why) else f.incident
    return replace(f.at_most(confidence), severity=severity, incident=incident, values=(*f.values, ("contradicted", contradicted)))
