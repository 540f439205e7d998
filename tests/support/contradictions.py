"""What a report says of itself: the invariants that it violates (forensics.invariants), and those that are known to be violated."""

from __future__ import annotations

from collections.abc import Mapping

from forensics.model.cluster.broker_states import UP
from forensics.model.findings import Purpose
from forensics.model.message import Message
from forensics.rules import of_purpose
from forensics.thresholds import ISR_TOLERANCE
from forensics.views.document import Report

ASKED = {"asked-for-is-not-there": "a reason asks for server.log of a broker of which it was collected (handovers._wanted)"}
AT_LEAST = {"verdicts-are-those-of-losses": "the end of a loss is not known, and so the whole loss is only possible in its finding"}
ORDER = {"begins-before-it-ends": "the end of a loss and the records lost are dated by two clocks, or in two orders"}
ABSENT = {"running-while-dead": "one absence is judged by two rules: offline, and running"}
OF_BEFORE = {"now-is-the-last-state": "what is not over belongs to the cluster before"}
MIXED = {"states-hold-together": "the ISR is that of the cluster before"}
OPEN = {"gone-has-an-end": "the reason for a verdict lists a range that may be empty as gone"}
KNOWN: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(
        (
            *("clients-unclean-3.9.1-kraft", "last-replica-standing-3.7.2-kraft", "last-replica-standing-4.1.1-kraft"),
            *("misnumbered-batch-1.1.1-zk", "wiped-zookeeper-3.7.2-zk"),
            *("culprit-broker/stopped-before-its-controller", "log-dir-emptied/topic-created-later"),
            *("a fleet without 0.1 of its lines", "a fleet without 0.3 of its lines"),
            "unclean-election-2.8.2-zk: second half of all logs",
            "power-loss-divergence-2.8.2-zk: clock of broker-1 3600 s for 20 s",
            "last-replica-standing-1.0.2-zk: clock of broker-1 3600 s for 20 s",
            "unclean-election-0.10.2.2-zk: every truncation",
            "misnumbered-batch-1.1.1-zk: line 2 of every 2",
            "busy-rolling-4.1.1-kraft: logs of broker-1 after tenth 5",
            "opposite-tails-0.10.1.1-zk: tenth 7 of all logs",
            "busy-two-at-once-2.8.2-zk: line 2 of every 3",
            "clients-unclean-3.9.1-kraft: everything of broker-2",
            "unclean-election-0.8.2.2-zk: line 1 of every 3",
            "wiped-after-retention-2.8.2-zk: line 2 of every 5",
        ),
        ASKED,
    ),
    **dict.fromkeys(("last-replica-standing-unprovable-3.9.1-kraft", "data-loss/files-of-the-log-removed"), AT_LEAST),
    **dict.fromkeys(
        (
            "last-replica-standing-1.0.2-zk: line 1 of every 5",
            "last-replica-standing-2.8.2-zk: clock of broker-1 -120 s after a restart",
            "busy-two-at-once-2.8.2-zk: clock of broker-4 -3600 s for 20 s",
        ),
        ORDER,
    ),
    **dict.fromkeys(("zombie-leader-2.2.2-zk", "a fleet without 0.02 of its lines"), OPEN),
    "busy-rolling-4.1.1-kraft: line 1 of every 3": {**ASKED, **ORDER},
    "busy-rolling-4.1.1-kraft: line 2 of every 3": {**ASKED, **ORDER, **OPEN},
    "wiped-zookeeper-outlived-2.3.1-zk: first 2 of 5 parts of each log": {**ORDER, **MIXED},
    "wiped-everything-3.9.1-kraft: line 3 of every 3": OF_BEFORE,
    "wiped-everything-0.10.0.1-zk: logs of broker-1 up to tenth 3": OF_BEFORE,
    "unclean-election-0.8.2.2-zk: 12 seconds of all logs after tenth 2": ABSENT,
    "busy-two-at-once-2.8.2-zk: line 1 of every 2": {**ASKED, **ABSENT},
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
