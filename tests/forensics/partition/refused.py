"""What cannot be claimed without its ground: mypy, which reads this module, complains of an ignore that it has no need of."""

from __future__ import annotations

from dataclasses import replace

from forensics.partition.elections import Election
from forensics.partition.loss import Earlier, Loss, Measured, NeverCommitted
from spark.partition.continuity import Contiguous, Gap


def refused(gap: Gap, election: Election, loss: Loss, earlier: Earlier) -> None:
    NeverCommitted(gap)  # type: ignore[arg-type]
    NeverCommitted(None)  # type: ignore[arg-type]
    NeverCommitted(election.clean)  # type: ignore[arg-type]
    Measured(loss.removals[0], "certain")  # type: ignore[arg-type]
    replace(election, ground=gap)  # type: ignore[arg-type]
    replace(election, confidence="certain")  # type: ignore[call-arg]
    replace(loss, commitment=False)  # type: ignore[arg-type]
    replace(loss, grade="certain")  # type: ignore[arg-type]
    replace(earlier, confidence="certain")  # type: ignore[arg-type]


def held(ground: Contiguous, loss: Loss, election: Election) -> tuple[Loss, Election]:
    return replace(loss, commitment=NeverCommitted(ground), grade="probable"), replace(election, ground=ground)
