"""controlled-shutdown: what a broker that is shut down hands over."""

from __future__ import annotations

from forensics.words import words
from tests.forensics.proof.staging import Staged
from tests.forensics.staged import of, report


def test_partitions_without_another_replica_are_not_handed_over() -> None:
    """The controller acts only on those with several (KafkaController#doControlledShutdown)."""
    s = Staged()
    s.runs(1, 0)
    s.leads(1, 0, 0, 0, 0, [1])
    for seconds, text in ((10, "Starting controlled shutdown"), (10.1, "Controlled shutdown succeeded"), (12, "shut down completed")):
        s.process(1, seconds, text)
    (found,) = of(report(s.files), "controlled-shutdown")
    assert "handed over its leaderships where another replica could take over, and had stopped at" in words(found).explanation
