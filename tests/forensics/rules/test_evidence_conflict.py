"""What a conflict in the table of hand-overs may mean."""

from __future__ import annotations

from forensics.words import words
from tests.forensics.proof.staging import begun, made
from tests.support.local import found_by


def test_a_high_watermark_above_the_log_of_a_leader_from_the_isr_may_be_true() -> None:
    """Up to 1.1 a replica may join the ISR without all committed records (KAFKA-7128)."""
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.leads(2, 10, 1, 200, 200, [1, 2], previous=0)
    s.follows(1, 10.1, 1, 205, 203, previous=0)
    s.truncates(1, 10.2, 200)
    found = {words(f).summary.split(" about ")[1]: words(f).explanation for f in found_by("evidence-conflict", *made(s))}
    assert [*found] == [
        f"{what} in leader epoch 1 contradicts itself"
        for what in ("the high watermark", "whether the new leader had all committed records")
    ]
    assert all("a member of the ISR lacked committed records" in explanation for explanation in found.values())
