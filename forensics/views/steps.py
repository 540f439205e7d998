"""What to do next: the steps of all findings, in the order in which they help.

Here: which steps a report lists, and their number. Not here: the steps of a finding (rules, forensics.incidents.folding).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from forensics.incidents.folding import places
from forensics.model.findings import LEVELS, Finding, saving_first, some

STEPS = 7
"""Steps that somebody on call reads."""
FIRST = 3
"""Steps of one finding, before those of the next one."""
SERIOUS = LEVELS[LEVELS.index("high") :]


def next_steps(findings: Sequence[Finding]) -> list[str]:
    """The steps of serious findings and of losses, in the order of the findings, but those that save something first. A step for several partitions is listed once."""
    names_of: dict[str, dict[str, None]] = {}
    for step, names in _in_turns([f for f in findings if f.severity in SERIOUS or f.kind == "data-loss"]):
        general = step.replace(some(names), "{}") if names else step
        names_of.setdefault(general, {}).update(dict.fromkeys(names))
    steps = (general.replace("{}", some(list(names))) for general, names in names_of.items())
    return list(saving_first(steps))[:STEPS]


def _in_turns(findings: Sequence[Finding]) -> Iterator[tuple[str, list[str]]]:
    """The first steps of each finding, and then the rest."""
    named = [(f, [p.name for p in places(f)]) for f in findings]
    for part in (slice(FIRST), slice(FIRST, None)):
        for f, names in named:
            yield from ((step, names) for step in f.next_steps[part])
