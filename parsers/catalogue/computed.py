"""What statements compute of their lines (Pattern.explode)."""

from __future__ import annotations

from parsers.catalogue import columns
from parsers.catalogue.columns import Events, Part, Said, TooMany, constants, of_rows
from parsers.catalogue.heads import moment_of
from parsers.schemas import Row, shared


def add_computed(events: Events, said: Said) -> None:
    rows: list[Row] = []
    places: list[int] = []
    lines, pattern = events.lines, said.pattern
    size = 0
    for line, found in zip(said.lines, said.found, strict=True):
        try:
            made = pattern.events(said.groupdict(found), lines.context[line], moment_of(lines.time[line]), lines.level[line])
        except ValueError as error:
            events.add_problem(line, error)
            continue
        text = shared(lines.text[line], len(made))
        size += len(text) * len(made)
        for row in made:
            row.setdefault("event", pattern.event)
            row.setdefault("text", text)
        rows += made
        places += [line] * len(made)
        if events.bounded and (len(rows) > columns.MAX_ROWS or size > columns.MAX_CHARACTERS):
            raise TooMany
    events.add(Part(places, of_rows(rows) | constants({"pattern": pattern.name}, len(rows))))
