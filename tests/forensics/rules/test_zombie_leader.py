"""zombie-leader: which writes a leader that was deposed could still accept."""

from __future__ import annotations

import pytest

from forensics.words import words
from tests.forensics.proof.staging import Staged, begun
from tests.forensics.staged import of, report


def deposed(isr: list[int], *, version: int = 2) -> Staged:
    """Broker 1 loses its session and leads on with 400 records, although broker 2 was elected at 50."""
    s = begun(1, 2, 3)
    s.online(3, 0, 0, 1, [1, 2], 0)
    s.leads(1, 0.1, 0, 0, 0, [1, 2])
    s.follows(2, 0.2, 0, 0, 0)
    s.isr(1, 30, isr, 1)
    s.online(3, 60, 1, 2, [2], version)
    s.leads(2, 60.1, 1, 50, 50, [2], previous=0)
    s.line(1, "server", 100, "INFO Creating /brokers/ids/1 (is it secure? false) (kafka.zk.KafkaZkClient)")
    s.follows(1, 101, 1, 400, 50, previous=0)
    s.truncates(1, 101.1, 50)
    return s


@pytest.mark.parametrize(
    ("story", "ending"),
    [
        (deposed([1, 2]), "acks=all writes could not succeed there, because broker 2, a member of its ISR, no longer fetched from it."),
        (deposed([1]), "and acks=all writes, too, if min.insync.replicas allowed: broker 2 was not in its ISR [1]."),
        (deposed([1], version=4), "and acks=all writes, too, if broker 2 was not in its ISR."),
    ],
)
def test_acks_all_waits_for_the_isr_of_the_leader_that_was_deposed(story: Staged, ending: str) -> None:
    (found,) = of(report(story.files), "zombie-leader")
    assert words(found).explanation.endswith(ending)
