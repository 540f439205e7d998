"""Texts that quote lines of a broker whose own logs were collected: notes, mails, pastes. What a person wrote is not a log.

Here: which files are such texts. A line that the broker's own log lacks, although it covers the time and prints such lines, was not printed by
it then; one that it has adds nothing. Not here: excerpts of logs that were not collected, which are evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from forensics.model.cluster.facts import Source
from parsers.sniff import LOGS

UNNAMED = "other-log"
"""Kind of a text whose name is not that of a log."""
LONGEST = 500
"""Lines of a text that may be a quotation."""


def quotations(sources: Iterable[Source], nodes: Mapping[str, Collection[int]]) -> list[str]:
    """The paths of such texts. `nodes`: those that the lines of a log name as its writers."""
    logs: dict[int, list[Source]] = defaultdict(list)
    texts: list[Source] = []
    for s in sources:
        if s.kind == UNNAMED and (s.lines or 0) <= LONGEST and s.printed:
            texts.append(s)
        elif s.kind in LOGS and len(own := nodes.get(s.path, ())) == 1:
            logs[next(iter(own))].append(s)

    def quotes(text: Source) -> bool:
        own = nodes.get(text.path, ())
        return bool(own) and all(_covers(logs[node], facet, text) for node in own for facet in text.printed)

    return sorted(text.path for text in texts if quotes(text))


def _covers(logs: Iterable[Source], facet: str, text: Source) -> bool:
    """Whether a log has lines of this facet from before the text's first line until after its last one."""
    return any(_within(text, [at for _, at in s.printed.get(facet, ()) if at is not None]) for s in logs)


def _within(text: Source, times: Collection[datetime]) -> bool:
    return text.first is not None and text.last is not None and bool(times) and min(times) <= text.first and text.last <= max(times)
