"""hw-regression: what consumers notice."""

from __future__ import annotations

from forensics.words import words
from tests.forensics.proof.staging import handed_over
from tests.forensics.staged import of, report


def test_consumers_wait_below_the_log_end() -> None:
    """Only an offset beyond the log end is out of range (Log#read)."""
    s = handed_over()
    fell = "Non-monotonic update of high watermark from (offset=195segment=[0:1000]) to (offset=190segment=[0:900])"
    s.line(1, "server", 20, f"WARN [Log partition=t-0, dir=/var/lib/kafka/broker-1/data] {fell} (kafka.log.Log)")
    (found,) = of(report(s.files), "hw-regression")
    assert (
        "A consumer that fetches from broker 1 beyond offset 190 gets no records until the high watermark has risen again."
        in words(found).explanation
    )
    assert "OffsetOutOfRange" not in words(found).explanation
