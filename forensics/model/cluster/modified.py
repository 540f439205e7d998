"""Modification times without meaning: those that a checkout, an unzip or a copy set.

Here: which files have such times. Not here: what valid times show about a clock's zone (zones), or copies of an earlier collection
(build).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from forensics.model.cluster.sources import Source
from forensics.thresholds import FARTHEST_ZONE, WRITTEN_AT_ONCE

SEVERAL = 5
"""From this many files with one time on, it is not a coincidence."""


def meaningless(sources: Iterable[Source], logs: str) -> frozenset[str]:
    """Paths of the files whose modification times are meaningless, decided per collection. `logs`: suffix of the kinds that are logs. A
    collection without logs is judged by all other collections; if none has logs, by its own files."""
    groups: dict[tuple[int | None, str], list[Source]] = defaultdict(list)
    for s in sources:
        groups[(s.node, s.collection)].append(s)
    distances = {key: _far(own, logs) for key, own in groups.items()}
    known = [far for far in distances.values() if far is not None]
    everywhere = bool(known) and all(known)
    found = [
        own for key, own in groups.items() if distances[key] or (distances[key] is None and (everywhere or (not known and _at_once(own))))
    ]
    return frozenset(s.path for own in found for s in own)


def _far(own: Iterable[Source], logs: str) -> bool | None:
    """Whether most logs were modified long before or after their last lines. None if no log has both times."""
    apart = [s.modified - s.last for s in own if s.kind.endswith(logs) and s.last is not None and s.modified is not None]
    return 2 * sum(abs(a) > FARTHEST_ZONE for a in apart) > len(apart) if apart else None


def _at_once(own: Iterable[Source]) -> bool:
    times = [s.modified for s in own if s.modified is not None]
    return len(times) >= SEVERAL and max(times) - min(times) <= WRITTEN_AT_ONCE
