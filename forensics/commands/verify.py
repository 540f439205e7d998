"""`kafka-forensics verify`: whether a case was made of this evidence, for somebody who was not there.

Here: the options and the words. Not here: the comparison (forensics.custody).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forensics.commands.evidence import Progress, Unusable, check, limit_option, limits
from forensics.commands.help import Told
from forensics.commands.output import console, json_option, write_text

if TYPE_CHECKING:
    from forensics.custody import Compared

SHOWN = 50
"""Files of a state that are named; --json names all."""


@click.command(
    "verify",
    cls=Told,
    examples=(
        ("Was this case made of this evidence?", "incident.case incident.tar.gz"),
        ("The same evidence, unpacked since", "incident.case unpacked/"),
        ("File by file, for the record", "incident.case broker-1.tar.gz broker-2.tar.gz --json verified.json"),
    ),
)
@click.argument("case", type=click.Path(path_type=Path))
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=str), metavar="PATH...")
@json_option("Write what became of each file as JSON; '-' is stdout.")
@limit_option
def command(case: Path, paths: tuple[str, ...], json_file: str | None) -> None:
    """Say whether a case was made of this evidence.

    Each file the case rests on is read again, in archives too, and its SHA-256 compared with the one the case has: same, changed, missing,
    additional. How files are packed and in which order does not matter. Exit code 0: every file is the same; 1: not all are.
    """
    from forensics.case.read import Case, Unreadable, is_case
    from forensics.case.run import read_run
    from forensics.custody import GOOD, compare, of_case, sealed
    from forensics.views.json_text import encoded

    if not is_case(case):
        raise Unreadable(f"{case}: no case; `kafka-forensics analyze PATH --case DIR` makes one")
    kept = Case(case)
    check(paths)
    then = of_case(kept.table("sources", ["path", "kind", "sha256"]).to_pylist(), kept.manifest["evidence"]["root"])
    if not any(s.sha256 for s in then):
        raise Unusable(f"{case}: it holds no digests")
    with Progress().stage("Reading evidence"):
        found = compare(then, sealed(paths, limits()))
    good = all(c.state in GOOD for c in found if not c.archive)
    told = {
        "schema": "kafka-forensics/verify/1",
        "same": good,
        "tool": kept.manifest["tool"],
        "run": read_run(case),
        "files": [_row(c) for c in found],
    }
    text = encoded(told, indent=1) + "\n"
    if json_file is None or not write_text(text, json_file):
        for line in _words(case, kept.manifest["tool"], read_run(case), found, good=good):
            console().print(line, markup=False, highlight=False, soft_wrap=True)
    if not good:
        raise click.exceptions.Exit(1)


def _row(c: Compared) -> dict[str, Any]:
    told = {"path": c.path, "archive": c.archive, "state": c.state, "sha256_of_case": c.then, "sha256": c.now}
    return told | ({"at": c.at} if c.at is not None else {})


def _words(case: Path, tool: dict[str, Any], run: dict[str, Any], found: Sequence[Compared], *, good: bool) -> Iterator[str]:
    from forensics.custody import GOOD, STATES
    from forensics.views.unseen import clean

    files = [c for c in found if not c.archive]
    when = f" on {run['at']}" if "at" in run else ""
    yield f"{clean(str(case))}: made{clean(when)} by kafka-forensics {clean(tool['version'])}, rules {clean(tool['rules'])}"
    yield ""
    if good:
        yield f"SAME. All {sum(c.then is not None for c in files)} files that the case rests on are in this evidence, byte for byte (SHA-256), and no others."
    else:
        yield "NOT THE SAME. The case cannot be taken for what this evidence says."
    count = Counter(c.state for c in files)
    for state, meaning in STATES.items():
        if count[state]:
            yield f"  {count[state]:>6} {state}: {meaning}"
    for state in STATES:
        own = [c for c in files if c.state == state and (state not in GOOD or state == "unread")]
        for c in own[:SHOWN]:
            yield f"  {state}  {clean(c.path)}"
            if state == "changed":
                yield f"    case {c.then or 'could not be read'}"
                yield f"    now  {c.now or 'cannot be read'}"
        if len(own) > SHOWN:
            yield f"  and {len(own) - SHOWN} more {state}; --json names all"
    for c in found:
        if c.archive and c.state != "additional":
            words = "the same file" if c.state == "same" else "not here as it was; its files are compared above"
            yield f"  archive {clean(c.path)}, SHA-256 {c.then}: {words}"
