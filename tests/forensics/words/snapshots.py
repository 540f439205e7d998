"""The words of every exemplar's findings, and of some recorded incidents, as text files next to this module: wording is reviewed as a diff.

`python -m tests.forensics.words.snapshots [KIND | BUNDLE …]` rewrites the files, all of them if none is named. KIND.txt has the findings of
a kind in its exemplars, recorded/BUNDLE.txt all findings and incidents of a bundle. Here: how words are written to a file. Not here: the
comparison (tests/forensics/rules/test_rules.py, test_words.py).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from forensics.exemplars import exemplars_of
from forensics.model.findings import Finding
from forensics.rules import RULES
from forensics.views.document import Report
from forensics.words import Words, of_incident, words
from tests.forensics.staged import report
from tests.support import recorded

HERE = Path(__file__).parent
RECORDED = ("clients-unclean-3.9.1-kraft", "min-isr-3.9.1-kraft", "rolling-restart-2.8.2-zk", "unclean-election-0.10.2.2-zk")
"""Bundles with losses and consumers, partitions that cannot be written, planned restarts, and replicas that differ."""
_SENTENCE = re.compile(r"(?<=[a-z0-9)`'\]][.:]) (?=[A-Z`])")
_SECTION = "== "


def of_findings(findings: Iterable[Finding]) -> str:
    """Each finding: its statement and message, then its summary, a sentence of its explanation per line, and its steps."""
    return "\n".join(
        block(f"{f.kind}, {f.severity}, {f.confidence} ({f.message_id}{''.join(f' {fold.how}' for fold in f.folds)})", words(f))
        for f in sorted(findings, key=lambda f: (f.kind, f.name, str(f.start), f.id))
    )


def block(head: str, said: Words) -> str:
    return "".join(f"{line}\n" for line in (head, f"  {said.summary}", *_lines(said)))


def _lines(said: Words) -> Iterator[str]:
    yield from (f"    {sentence}" for sentence in _SENTENCE.split(said.explanation))
    yield from (f"  - {step}" for step in said.next_steps)


def of_report(reported: Report) -> str:
    incidents = (block(f"incident {i.kind}, {i.severity}", of_incident(i)) for i in reported.incidents)
    return "\n".join((reported.headline.summary + "\n", *incidents, of_findings(reported.findings)))


def path_of(kind: str) -> Path:
    return HERE / f"{kind}.txt"


@cache
def sections(kind: str) -> dict[str, str]:
    """The words in the file of a kind, by exemplar."""
    parts = path_of(kind).read_text("utf-8").split(f"{_SECTION}")[1:]
    return {name: text.strip("\n") + "\n" for name, _, text in (part.partition("\n") for part in parts)}


def _write(names: Sequence[str]) -> None:
    for kind in (rule.kind for rule in RULES if not names or rule.kind in names):
        found = {e.name: [f for f in report(e.files, e.modified).findings if f.kind == kind] for e in exemplars_of(kind)}
        path_of(kind).write_text("\n".join(f"{_SECTION}{name}\n{of_findings(own)}" for name, own in found.items() if own), "utf-8")
    for name in (name for name in RECORDED if not names or name in names):
        (HERE / "recorded" / f"{name}.txt").write_text(of_report(recorded.report(name)), "utf-8")


if __name__ == "__main__":
    _write(sys.argv[1:])
