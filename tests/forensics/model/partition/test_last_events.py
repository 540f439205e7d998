"""Last words before deaths: as looking at every death for every word finds them."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import pytest

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.partition.replicas import Replica
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.presence import crash_times


def at(minute: int) -> datetime:
    return datetime(2026, 1, 1) + timedelta(minutes=minute)


@pytest.mark.parametrize("seed", range(20))
def test_each_death_has_the_last_word_of_its_life(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(seed)
    ends = sorted(dice.choices(range(60), k=2 * dice.randrange(12)))
    deaths = list(zip(map(at, ends[::2]), map(at, ends[1::2]), strict=True))
    words = [at(dice.randrange(60)) for _ in range(dice.randrange(12))]
    monkeypatch.setattr(crash_times, "killed", lambda cluster: {1: deaths})
    rows = [Event(event="log-load", source="server.log", line=n, at=word) for n, word in enumerate(words)]
    timeline = PartitionTimeline("t", 0, 0, replicas={1: Replica(1, events=rows)})
    before = [(died, max((w for w in words if w < died), default=datetime.min), since) for since, died in deaths]
    expected = [{"broker": 1, "next_start": died, "at": last} for died, last, since in before if last > since]
    assert list(crash_times.last_events(timeline, Cluster())) == expected
