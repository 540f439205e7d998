"""Renamed copies of checkpoints in the directory of the file itself: what an editor, an operator or a backup left behind.

Here: which files are such copies. Not here: files of an earlier collection of the same broker, which lie in directories of their own (build).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from forensics.model.cluster.facts import Source
from parsers.formats import CALLED
from parsers.paths import is_unfinished, name_of


def renamed(sources: Iterable[Source]) -> list[str]:
    """The paths of the copies. Of several copies without the file itself nothing shows which is the last, so none of them counts."""
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for s in sources:
        if s.kind in CALLED and not is_unfinished(s.path):
            places[s.path.rpartition("/")[0], s.kind].append(s.path)
    return sorted(path for (_, kind), own in places.items() if len(own) > 1 for path in own if name_of(path) != CALLED[kind])
