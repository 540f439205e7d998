"""The order of findings: what was lost, what clients cannot use now, what may be lost next, what is broken, and then what is over.

Here: the place of a finding in that order. Not here: the order of findings of one kind (findings), or of incidents (incidents).
"""

from __future__ import annotations

from forensics.model.findings import LEVELS, Statement

UNAVAILABLE = frozenset({"offline-partition", "under-min-isr", "hw-stuck", "quorum-lost", "topic-id-mismatch", "start-failed"})
"""Kinds that, while they are not over, keep clients from reading or writing."""
AT_RISK = frozenset({"at-min-isr", "under-replicated", "stale-isr-candidate", "empty-replica-joins", "zombie-leader", "disk-full"})
"""Kinds that, while they are not over, need only one more failure for a loss."""
MINOR = LEVELS.index("low")

LOST, NOW, NEXT, BROKEN, OVER, SMALL = range(6)


def urgency(f: Statement) -> int:
    """What the reader must act on comes first. A finding without a beginning, such as a setting, is never over, so it is not urgent."""
    if f.of_records and f.committed is not False:
        return LOST
    if LEVELS.index(f.severity) <= MINOR:
        return SMALL
    if f.end is not None or f.start is None or f.cluster:
        return OVER
    return NOW if f.kind in UNAVAILABLE else NEXT if f.kind in AT_RISK else BROKEN
