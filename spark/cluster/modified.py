"""Modification times that tell nothing: those of a checkout, an unzip or a copy.

Here: which files have such. Not here: what true ones tell of a clock's zone (zones), or copies of an earlier collection (gather).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta

from spark.cluster.facts import Source

FARTHEST = timedelta(hours=15)
"""A log is touched with its last line; a zone is at most 14 hours away."""
ONE_TIME = timedelta(seconds=2)
"""A broker writes its files over its life; what is written within so much was put there at once."""
SEVERAL = 5
"""Files of one time from which on that is no chance."""


def meaningless(sources: Iterable[Source], logs: str) -> frozenset[str]:
    """Paths of the files whose modification times are no witness of anything, collection by collection; `logs` ends the kinds of logs.
    A collection without logs is judged by its own files, then by what is true of all the others."""
    groups: dict[tuple[int | None, str], list[Source]] = defaultdict(list)
    for s in sources:
        groups[(s.node, s.collection)].append(s)
    told = {key: _far(own, logs) for key, own in groups.items()}
    known = [far for far in told.values() if far is not None]
    everywhere = bool(known) and all(known)
    found = [
        s.path
        for key, own in groups.items()
        for s in own
        if told[key] or (told[key] is None and (everywhere or (not known and _at_once(own))))
    ]
    return frozenset(found)


def _far(own: Iterable[Source], logs: str) -> bool | None:
    """Most of the logs were touched long after, or before, their last lines; None where no log tells."""
    apart = [s.modified - s.last for s in own if s.kind.endswith(logs) and s.last is not None and s.modified is not None]
    return 2 * sum(abs(a) > FARTHEST for a in apart) > len(apart) if apart else None


def _at_once(own: Iterable[Source]) -> bool:
    times = [s.modified for s in own if s.modified is not None]
    return len(times) >= SEVERAL and max(times) - min(times) <= ONE_TIME
