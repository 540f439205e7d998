"""What a report says of itself: the invariants that it violates (forensics.invariants), and those that are known to be violated."""

from __future__ import annotations

from collections.abc import Mapping

from forensics.model.cluster.broker_states import UP
from forensics.model.findings import Purpose
from forensics.model.message import Message
from forensics.rules import of_purpose
from forensics.thresholds import ISR_TOLERANCE
from forensics.views.document import Report

ORDER = {"begins-before-it-ends": "the two ends of a time are dated by two clocks, or in two orders"}
ABSENT = {"running-while-dead": "one absence is judged by two rules: offline, and running"}
OF_BEFORE = {"now-is-the-last-state": "what is not over belongs to the cluster before"}
MIXED = {"states-hold-together": "the ISR is that of the cluster before"}
KNOWN: Mapping[str, Mapping[str, str]] = {
    "last-replica-standing-2.8.2-zk: clock of broker-1 -120 s after a restart": ORDER,
    "power-loss-divergence-2.8.2-zk: clock of broker-2 -3600 s for 20 s": ORDER,
    "unclean-election-0.10.2.2-zk: clock of broker-1 -3600 s from the middle on": ORDER,
    "wiped-everything-3.9.1-kraft: clock of controller-100 -40 s for 20 s": ORDER,
    "busy-two-at-once-2.8.2-zk: clock of broker-4 -3600 s for 20 s": ORDER,
    "wiped-zookeeper-outlived-2.3.1-zk: first 2 of 5 parts of each log": MIXED,
    "wiped-everything-3.9.1-kraft: line 3 of every 3": OF_BEFORE,
    "wiped-everything-0.10.0.1-zk: logs of broker-1 up to tenth 3": OF_BEFORE,
    "unclean-election-0.8.2.2-zk: 12 seconds of all logs after tenth 2": ABSENT,
    "busy-two-at-once-2.8.2-zk: line 1 of every 2": ABSENT,
}
"""By evidence, the invariants that are violated, and why. An entry that is not violated any more makes its test fail."""


def contradictions(report: Report) -> tuple[str, ...]:
    """The names of the invariants, each once."""
    said = (v for f in report.findings if f.message_id == "evidence-conflict/report" for n, v in f.values if n == "what")
    found = {m.id.rpartition("/")[2] for what in said if isinstance(what, tuple) for m in what if isinstance(m, Message)}
    return tuple(sorted(found))


def check_contradictions(evidence: str, found: tuple[str, ...]) -> None:
    """The report on this evidence contradicts itself where that is known, and nowhere else."""
    assert {*found} == {*KNOWN.get(evidence, {})}, KNOWN.get(evidence)


def check_nobody_is_up_after_a_crash(report: Report) -> None:
    """The states of a broker agree with its crashes: no span in which it is up goes on beyond one."""
    crashes = (f for f in of_purpose(report.findings, Purpose.CRASH) if f.confidence != "possible" and not f.folds and not f.cluster)
    for f in crashes:
        up = [s for s in report.states.get(f.brokers[0], ()) if s.state == UP and not s.cluster]
        latest = f.start_latest or f.start
        assert f.start is not None and latest is not None
        assert [s for s in up if (s.start is None or s.start < f.start) and (s.end is None or s.end > latest + ISR_TOLERANCE)] == []
