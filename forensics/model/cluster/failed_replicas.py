"""Absences of many partitions put together: one event of one broker is one episode, however many partitions it affected.

Here: the absences from the partitions' rows (absences.ABSENCES); episodes of one broker and cause; and times of bad performance, with the
broker that they have in common, if any. Not here: how the cause in one partition is determined (absences), or the findings (rules).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import groupby, islice, repeat
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.cluster.facts import Cluster
from forensics.model.events import values
from forensics.model.findings import MAX_EVIDENCE, Evidence
from forensics.model.message import Message, Value, said, unpacked
from forensics.model.partition.absences import CRASHED, GONE, NOT_SHOWN_RUNNING, NOT_STATED, QUOTED_EACH, SLOW, STUCK, UNKNOWN
from forensics.model.rows import Rows
from forensics.model.times import begins, ends, grouped, overlapping
from forensics.thresholds import COMMON_SHARE, CRASH_NOTICED, LASTING_S, MAX_SEPARATE_WINDOWS, MIN_FLUCTUATIONS, ONE_DEGRADATION
from parsers.cached import cached_property

ALL_OF = 3
"""With two brokers, the one that crashed first is still worth naming."""
SHOWN = 5
"""Number of partitions that an aggregate names."""
_OF_NODES = ("broker", "brokers", "leader", "of")
"""Values of clauses that are ids of brokers."""


@dataclass(frozen=True, slots=True)
class ReplicaAbsence:
    """An absence of one replica, from a partition's row."""

    topic: str
    partition: int
    broker: int
    leader: int
    start: datetime | None
    end: datetime | None
    cause: str
    confidence: str
    back: datetime | None
    stated: bool
    times: int
    packed: str
    """Its clauses, as JSON."""
    elected: bool
    quotes: pa.Array
    at: int
    """Index of its first quote among all quotes of its row."""

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    @property
    def clauses(self) -> tuple[Message, ...]:
        return _clauses(self.packed)

    @property
    def alive(self) -> bool:
        """Whether its process is known to have run when it was absent."""
        return self.cause != UNKNOWN and all(c.id not in NOT_SHOWN_RUNNING for c in self.clauses)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return tuple(Evidence(**e) for e in self.quotes[self.at].as_py() or ())


@lru_cache(1024)
def _clauses(text: str) -> tuple[Message, ...]:
    found = unpacked(text)
    assert isinstance(found, tuple)
    return tuple(clause for clause in found if isinstance(clause, Message))


@dataclass(frozen=True)
class Episode:
    """Absences of one kind, near in time; `end` None: some have not ended."""

    outs: tuple[ReplicaAbsence, ...]
    episodes: int = 1
    """More than one: this many are reported as one."""

    @cached_property
    def start(self) -> datetime | None:
        return min((o.start for o in self.outs if o.start is not None), default=None)

    @cached_property
    def end(self) -> datetime | None:
        ends = [o.end for o in self.outs]
        return None if None in ends else max((e for e in ends if e is not None), default=None)

    @cached_property
    def open(self) -> bool:
        return any(o.end is None for o in self.outs)

    @cached_property
    def times(self) -> int:
        return sum(o.times for o in self.outs)

    @cached_property
    def names(self) -> list[str]:
        return list(dict.fromkeys(o.name for o in self.outs))

    @cached_property
    def confidence(self) -> str:
        return next((c for c in ("certain", "probable") if any(o.confidence == c for o in self.outs)), "possible")

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The first piece of evidence of each partition, then the second ones, up to MAX_EVIDENCE."""
        found: dict[Evidence, None] = {}
        for turn in range(QUOTED_EACH):
            for own in (o.evidence for o in self.outs):
                found.update(dict.fromkeys(own[turn : turn + 1]))
                if len(found) == MAX_EVIDENCE:
                    return tuple(found)
        return tuple(found)

    @property
    def only(self) -> ReplicaAbsence | None:
        """The first absence, when all are of one partition."""
        return self.outs[0] if len(self.names) == 1 else None

    @property
    def shown(self) -> Message:
        return shown(self.names)

    def over(self) -> dict[str, Value]:
        """Until when it lasted, and, if it ended in some partitions only, in which others it did not."""
        ended, still = [o.end for o in self.outs if o.end is not None], [o.name for o in self.outs if o.end is None]
        return {"until": max(ended, default=None), "still": shown(still) if ended and still else None}

    def reasons(self) -> tuple[Message, ...]:
        """What the partitions say of each broker. Clauses that differ only in offsets and times are said once, as in the first
        partition."""
        outs = [o for o in sorted(self.outs, key=lambda o: o.cause == NOT_STATED) if o.confidence == self.confidence]
        found: dict[Hashable, tuple[int, Message, dict[str, None]]] = {}
        for o in outs:
            for clause in o.clauses:
                found.setdefault((o.broker, _alike(clause)), (o.broker, clause, {}))[2][o.name] = None
        together = groupby(islice(found.values(), 2 * SHOWN), key=lambda own: (own[0], list(own[2])))
        reasons = (said("absence/of-partitions", clauses=tuple(c for _, c, _ in own), where=shown(names)) for (_, names), own in together)
        return tuple(islice(reasons, SHOWN))

    def seconds(self) -> float | None:
        """How long the longest absence lasted that ended."""
        lasted = [(o.end - o.start).total_seconds() for o in self.outs if o.end is not None and o.start is not None and o.times == 1]
        return max(lasted, default=None)


def shown(names: Sequence[str], most: int = SHOWN) -> Message:
    """The names of the first partitions, and the number of the others."""
    return said("absence/partitions", names=tuple(names[:most]), more=max(len(names) - most, 0) or None)


def _alike(value: Value, name: str = "") -> Hashable:
    """What is the same of clauses that differ only in offsets and times."""
    if isinstance(value, Message):
        return value.id, tuple(_alike(own, name) for name, own in value.values)
    if isinstance(value, tuple):
        return tuple(_alike(own, name) for own in value)
    return value if isinstance(value, (str, bool)) or name in _OF_NODES else type(value).__name__


def shared(partitions: Iterable[Mapping[str, Any]]) -> dict[int, list[datetime]]:
    """By broker, the times from which on it shares the replicas of a partition with other brokers, sorted."""
    return grouped(
        (broker, row["first_state_at"] or datetime.min)
        for row in sorted(partitions, key=lambda r: r["first_state_at"] or datetime.min)
        if len(row["replicas"] or ()) > 1
        for broker in set(row["replicas"] or ())
    )


def outs(partitions: Rows, *causes: str) -> list[ReplicaAbsence]:
    """Absences with these causes that the leaders report. A cause that is unknown in one partition is not taken from another: a replica
    fetches from each leader with separate threads, and a fetcher can give up one partition and go on with the rest
    (AbstractFetcherManager)."""
    return [o for o in _outs(partitions, causes) if o.stated]


def _outs(partitions: Rows, causes: Collection[str]) -> Iterator[ReplicaAbsence]:
    rest = ("broker", "leader", "start", "end", "cause", "confidence", "back", "stated", "times", "clauses", "elected")
    for batch in partitions.batches("topic", "partition", "absences"):
        own = batch.column("absences")
        absences = own.flatten()
        at = pc.indices_nonzero(pc.is_in(absences.field("cause"), pa.array(sorted(causes))))
        if not len(at):
            continue
        of = batch.select(["topic", "partition"]).take(pc.list_parent_indices(own).take(at))
        kept = pa.RecordBatch.from_arrays([absences.field(n) for n in rest], rest).take(at)
        columns, quotes = map(values, (*of.columns, *kept.columns)), absences.field("evidence")
        yield from (ReplicaAbsence(*one) for one in zip(*columns, repeat(quotes), at.to_pylist(), strict=False))


def episodes(found: Iterable[ReplicaAbsence], key: Callable[[ReplicaAbsence], Hashable], gap: timedelta = CRASH_NOTICED) -> list[Episode]:
    """Absences with the same key, split where nothing happened for `gap`. More than MAX_SEPARATE_WINDOWS episodes of one key become one."""
    groups = grouped((key(o), o) for o in found)
    result: list[Episode] = []
    for own in groups.values():
        split = [Episode(tuple(run)) for run in overlapping(sorted(own, key=lambda o: (begins(o), o.name)), begins, ends, gap)]
        result.extend(split if len(split) <= MAX_SEPARATE_WINDOWS else [Episode(tuple(o for e in split for o in e.outs), len(split))])
    return result


def departures(partitions: Rows, cluster: Cluster) -> list[Episode]:
    """The times at which each broker was gone, each after another of its processes."""
    begun = {b: cluster.availability(b).begun for b in cluster.nodes}
    found = outs(partitions, CRASHED, GONE)
    return episodes(found, lambda o: (o.broker, len(begun[o.broker](datetime.min, begins(o))) if o.broker in begun else 0))


def of_all_brokers(found: Iterable[Episode], cluster: Cluster) -> list[list[Episode]]:
    """Overlapping episodes in which every broker of the cluster takes part, three at least: then none of them is the culprit."""
    everyone = {n.id for n in cluster.nodes.values() if n.broker}
    return [chain for chain in _chains(found) if len(everyone) >= ALL_OF and {o.broker for e in chain for o in e.outs} >= everyone]


def _chains(found: Iterable[Episode]) -> Iterator[list[Episode]]:
    """By time, episodes of which each begins before one of those before it ends."""
    return overlapping(sorted(found, key=begins), begins, ends, timedelta(0))


# performance


@dataclass(frozen=True)
class Degradation:
    """A time in which replicas of running brokers fell out of sync. `culprit` None: they have no broker in common.

    `side`: 'replica' when the culprit is missing from the ISRs, 'leader' when it leads the under-replicated partitions.
    """

    episode: Episode
    culprit: int | None
    side: str
    whole: bool
    """The culprit takes part in all of it, not only in most."""

    @property
    def fluctuating(self) -> bool:
        return max(_times_left(self.episode.outs).values(), default=0) >= MIN_FLUCTUATIONS

    @property
    def alive(self) -> bool:
        """The processes of all replicas are known to have run."""
        return all(o.alive for o in self.episode.outs)

    @property
    def severity(self) -> str:
        """A stall that passed is medium, and so is a stall that restarts of an uncollected broker may have caused."""
        lasting = self.episode.open or (self.episode.seconds() or 0) >= LASTING_S
        return "high" if any(o.cause != UNKNOWN for o in self.episode.outs) and (self.fluctuating or lasting) else "medium"


def _times_left(found: Iterable[ReplicaAbsence]) -> Counter[tuple[str, int]]:
    """How often each replica left the ISR."""
    return Counter((o.name, o.broker) for o in found for _ in range(o.times))


def degradations(partitions: Rows) -> list[Degradation]:
    """Times of bad performance. Brokers that were down, restarts and reassignments do not count."""
    found = outs(partitions, STUCK, SLOW, NOT_STATED, UNKNOWN)
    left = _times_left(found)
    slack = [o for o in found if o.cause != UNKNOWN or left[o.name, o.broker] >= MIN_FLUCTUATIONS]
    counted = [e for e in episodes(slack, lambda o: None, ONE_DEGRADATION) if e.times >= MIN_FLUCTUATIONS]
    return [found for e in counted for found in _blamed(e, partitions)]


def _blamed(episode: Episode, partitions: Rows) -> list[Degradation]:
    missing: Counter[int] = Counter()
    leading: Counter[int] = Counter()
    for o in episode.outs:
        missing[o.broker] += o.times
        leading[o.leader] += o.times
    (broker, most), (leader, led) = missing.most_common(1)[0], leading.most_common(1)[0]
    if most >= COMMON_SHARE * episode.times:
        return [Degradation(episode, broker, "replica", most == episode.times)]
    elsewhere = any(row["leader"] != leader and len(row["replicas"] or ()) > 1 for row in partitions)
    if led >= COMMON_SHARE * episode.times and leader >= 0 and elsewhere:
        return [Degradation(episode, leader, "leader", led == episode.times)]
    if len(parts := _one_after_the_other(episode)) == 1:
        return [Degradation(episode, None, "", False)]
    return [found for e in parts if e.times >= MIN_FLUCTUATIONS for found in _blamed(e, partitions)]


def _one_after_the_other(episode: Episode) -> list[Episode]:
    """Its parts, if brokers were missing only before or after others: what happened to single brokers is not an event of the cluster."""
    return [Episode(tuple(o for e in own for o in e.outs)) for own in _chains(episodes(episode.outs, lambda o: o.broker))]
