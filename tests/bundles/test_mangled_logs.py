"""A relation: whatever escapes, wrappers or lost lines are put on the logs of an incident, no verdict gets surer, and nothing is said that
never happened."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Callable, Sequence
from functools import cache

import pytest

from fixtures.exports.rows import read
from tests.support import forms, local
from tests.support.paths import BUNDLES
from tests.support.taken import Judged, judged

NAMES = ("acks1-failover-1.1.1-zk", "zombie-leader-1.0.2-zk", "isr-flapping-1.0.2-zk")
HEAD = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] ")
Lines = list[str]
Line = Callable[[str], str]
ESCAPES: Sequence[Line] = (
    lambda line: line.replace('"', '\\"').replace("[", "\\["),
    lambda line: line.replace("'", "\\'").replace("-", "\\-"),
    lambda line: json.dumps(line).replace("[", "\\u005b"),
    html.escape,
    lambda line: line.replace("=", "=3D").replace(" ", "=20"),
    lambda line: line.replace(",", ";"),
    lambda line: line.encode().decode("latin-1").swapcase(),
    lambda line: line.replace(" ", "  "),
    lambda line: line.replace(":", "%3A"),
)
WRAPPERS: Sequence[Callable[[str, str], str]] = (
    lambda line, at: line,
    lambda line, at: f"kafka-1  | {line}",
    lambda line, at: f"{at}Z stdout F {line}",
    lambda line, at: json.dumps({"log": f"{line}\n", "stream": "stdout", "time": f"{at}Z"}),
    lambda line, at: json.dumps({"a": 1, "b": {"c": line}}),
    lambda line, at: f'"{line}",7',
    lambda line, at: f"<30>Nov 21 02:00:00 host kafka[1]: {line}",
    lambda line, at: f"> {line}",
    lambda line, at: f"{line} @host-1",
    lambda line, at: f"7\t{line}\tx",
)
LOSSES: Sequence[Callable[[Lines, random.Random], Lines]] = (
    lambda lines, _: lines,
    lambda lines, chance: [line for line in lines if chance.random() > 0.1],
    lambda lines, chance: [line for line in lines if chance.random() > 0.5],
    lambda lines, chance: lines[chance.randrange(len(lines)) :],
    lambda lines, chance: lines[: 1 + chance.randrange(len(lines))],
    lambda lines, chance: [line[:150] for line in lines],
    lambda lines, chance: (lambda at: lines[:at] + lines[at + 40 :])(chance.randrange(len(lines))),
)


@cache
def logs(name: str) -> dict[str, Lines]:
    found: dict[str, Lines] = {}
    for record in read(BUNDLES / f"{name}.tar.gz"):
        found.setdefault(f"{record.node}/logs/{record.file}", []).extend(record.lines)
    return found


@cache
def plain(name: str) -> Judged:
    return forms.plain(name)


def mangled(lines: Lines, chance: random.Random) -> str:
    """The lines, some of which are escaped or lost, in a wrapper that has the time of their record."""
    escape, wrap, lose = chance.choice(ESCAPES), chance.choice(WRAPPERS), chance.choice(LOSSES)
    share, made = chance.choice((0, 0.02, 0.2, 1)), ""
    at = lines[0][1:24]
    for line in lose(lines, chance):
        at = line[1:24] if HEAD.match(line) else at
        made += wrap(escape(line) if chance.random() < share else line, at.replace(" ", "T").replace(",", ".")) + "\n"
    return made


@pytest.mark.parametrize("seed", range(15))
def test_no_verdict_gets_surer(seed: int) -> None:
    name, chance = NAMES[seed % len(NAMES)], random.Random(seed)
    altered = chance.choice((0.3, 1))
    files = {
        path: mangled(own, chance) if chance.random() < altered else "".join(f"{x}\n" for x in own) for path, own in logs(name).items()
    }
    report = local.report(local.events_of_files(files))
    assert forms.contradictions(judged(report), plain(name), name) == []
