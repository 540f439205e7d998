"""The order of findings: what was lost, what clients cannot use now, what may be lost next, what is broken, and then what is over.

Here: the place of a finding in that order. Not here: which findings are urgent (their rules), the order of findings of one kind (findings),
or of incidents (incidents).
"""

from __future__ import annotations

from forensics.model.findings import CUT, MINOR, Rule, Statement, Urgency, lost_parts


def urgency(f: Statement, rule: Rule) -> Urgency:
    """A finding of an earlier cluster is over. A loss that is only possible comes after what clients cannot use now."""
    if f.severity in MINOR:
        return Urgency.MINOR
    if rule.urgency is not Urgency.LOST:
        return Urgency.OVER if f.end is not None or f.cluster else rule.urgency
    if f.loss and all(part.kind == CUT for *_, part in lost_parts([f])):
        return Urgency.OVER
    if f.confidence == "possible":
        return Urgency.OVER if f.cluster else Urgency.BROKEN
    return Urgency.LOST
