"""With evidence taken away nothing false is told, nothing is surer than with all of it, and no loss is passed over in silence (tests.taken).

A sample, for time's sake. KAFKA_FORENSICS_TAKEN=all tries every way on every fixture, which takes hours;
KAFKA_FORENSICS_TAKEN=NAME,NAME those fixtures; `python -m tests.taken [NAME...]` does the same and prints the table.
"""

from __future__ import annotations

import os

import pytest

from tests.taken import NAMES, NEVER, tried, ways

ASKED = os.environ.get("KAFKA_FORENSICS_TAKEN", "")
SAMPLE = (
    "unclean-election-2.8.2-zk",
    "acks1-failover-3.9.1-kraft",
    "power-loss-divergence-2.8.2-zk",
    "last-replica-standing-1.0.2-zk",
    "zombie-leader-4.1.1-kraft",
    "shared-log-2.8.2-zk",
    "wiped-disk-twice-2.8.2-zk",
    "unclean-election-0.10.2.2-zk",
)
WAYS = 4
"""Ways tried on a fixture of the sample: evenly over all there are, and others on each fixture."""


@pytest.mark.parametrize("name", NAMES if ASKED == "all" else ASKED.split(",") if ASKED else SAMPLE)
def test_nothing_false_nothing_surer_and_no_silence(name: str) -> None:
    chosen = list(ways(name))
    if not ASKED:
        step = len(chosen) // WAYS
        chosen = chosen[SAMPLE.index(name) * step // len(SAMPLE) :: step]
    broken = [(way[1], *violation) for way in chosen for violation in tried(name, way).violations if violation[0] in NEVER]
    assert broken == []
