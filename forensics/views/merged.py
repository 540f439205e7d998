"""Log records of all brokers as lines of text or of JSON.

Here: the display of one record. Not here: order and choice of records (forensics.tools.ordered_records), or the definition of a record
(parsers.records).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.message import timestamp
from forensics.output.display_times import UTC, DisplayZone
from forensics.output.sanitise import clean

COLOURS = (36, 33, 35, 32, 34, 31, 96, 93, 95, 92, 94, 91)
_FRAME = re.compile(r"\s+(?:at |\.\.\. \d+ (?:more|common))")
WIDEST = 60
"""Longest place for which lines are aligned, in characters."""


def json_line(row: Mapping[str, Any]) -> str:
    """A row of MERGED as a line of JSON, ASCII only."""
    fields = {name: row[name] for name in ("source", "line", "byte", "level", "logger", "event", "topic", "partition", "text")}
    return json.dumps({"time": timestamp(row["at"]), "broker": row["broker"], **fields}) + "\n"


@dataclass(frozen=True)
class MergedLines:
    """Shows a row of MERGED as lines `time broker-N file:line | text`, one for each of the record's lines."""

    nodes: Mapping[int, str]
    files: Mapping[str, str]
    """Shortest distinct names of the sources."""
    widths: tuple[int, int]
    """Length of the longest node and the longest place."""
    colours: Mapping[int, int]
    zone: DisplayZone = UTC
    traces: bool = False
    """Whether stack traces are whole; otherwise frames that follow each other are one line."""

    def __call__(self, row: Mapping[str, Any]) -> str:
        at = self.zone.iso(row["at"]) if row["at"] is not None else "-"
        broker = row["broker"]
        node = (
            f"{at:{self.zone.iso_width}} {self.nodes.get(broker) or (f'broker-{broker}' if broker is not None else '-'):{self.widths[0]}}"
        )
        if broker in self.colours:
            node = f"\x1b[{self.colours[broker]}m{node}\x1b[0m"
        texts = row["text"].split("\n")
        shown = enumerate(texts) if self.traces or len(texts) == 1 else _folded(texts)
        name, line = self.files.get(row["source"]) or _name(row["source"]), row["line"]
        step = 1 if row["lines"] == len(texts) else 0
        return "".join(f"{node} {f'{name}:{line + i * step}':{self.widths[1]}} | {_shown(text)}\n" for i, text in shown)


def _folded(texts: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The lines of a record with their numbers; several frames of a stack trace are one line."""
    for framed, run in groupby(enumerate(texts), lambda line: _FRAME.match(line[1]) is not None):
        (number, first), *more = run
        yield number, f"\t… {len(more) + 1} frames" if framed and more else first
        yield from () if framed else more


def _shown(text: str) -> str:
    """Text without characters that control a terminal."""
    if text.isprintable() or text.replace("\t", "").isprintable():
        return text
    return clean(text)


def _name(path: str) -> str:
    return _shown(path.replace("\n", "\ufffd"))


def lines_of(cluster: Cluster, *, coloured: bool, zone: DisplayZone = UTC, traces: bool = False) -> MergedLines:
    """Lines for the sources and nodes of a cluster."""
    nodes = {n: f"{'broker' if node.broker else 'controller'}-{n}" for n, node in cluster.nodes.items()}
    logs = [s for s in cluster.sources if s.first is not None]
    counts = Counter((s.node, _last(s.path)) for s in logs)
    files = {s.path: _name(_last(s.path) if s.node is not None and counts[s.node, _last(s.path)] == 1 else s.path) for s in logs}
    widest = max((len(files[s.path]) + 1 + len(str(s.lines or 1)) for s in logs), default=0)
    colours = {n: COLOURS[i % len(COLOURS)] for i, n in enumerate(sorted(nodes))} if coloured else {}
    return MergedLines(nodes, files, (max(map(len, nodes.values()), default=1), min(widest, WIDEST)), colours, zone, traces)


def _last(path: str) -> str:
    return path.rsplit("/", 1)[-1]
