"""What a report says of itself: the invariants that it violates (forensics.invariants)."""

from __future__ import annotations

from forensics.model.findings import Purpose
from forensics.model.message import Message
from forensics.model.presence.broker_states import UP
from forensics.rules import of_purpose
from forensics.thresholds import ISR_TOLERANCE
from forensics.views.document import Report


def contradictions(report: Report) -> tuple[str, ...]:
    """The names of the invariants, each once."""
    said = (v for f in report.findings if f.message_id == "evidence-conflict/report" for n, v in f.values if n == "what")
    found = {m.id.rpartition("/")[2] for what in said if isinstance(what, tuple) for m in what if isinstance(m, Message)}
    return tuple(sorted(found))


def check_contradictions(evidence: str, found: tuple[str, ...]) -> None:
    """The report on this evidence does not contradict itself."""
    assert found == (), evidence


def check_nobody_is_up_after_a_crash(report: Report) -> None:
    """The states of a broker agree with its crashes: no span in which it is up goes on beyond one."""
    crashes = (f for f in of_purpose(report.findings, Purpose.CRASH) if f.confidence != "possible" and not f.folds and not f.cluster)
    for f in crashes:
        up = [s for s in report.states.get(f.brokers[0], ()) if s.state == UP and not s.cluster]
        latest = f.start_latest or f.start
        assert f.start is not None and latest is not None
        assert [s for s in up if (s.start is None or s.start < f.start) and (s.end is None or s.end > latest + ISR_TOLERANCE)] == []
