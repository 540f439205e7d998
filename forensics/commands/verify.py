"""`kafka-forensics verify`: whether a case was made of this evidence, and whether its verdicts follow from its proof, for a third party.

Here: the options and the output. Not here: the comparison of files (forensics.tools.custody) or of verdicts (forensics.case.recheck).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forensics.commands.evidence import InvalidInput, Progress, check, chosen_cluster, cluster_option, limit_option, limits
from forensics.commands.help import described
from forensics.commands.output import console, json_option, write_text
from forensics.commands.tables import as_given, local_tables

if TYPE_CHECKING:
    from forensics.audit.audited import Audit
    from forensics.audit.remote import Remote
    from forensics.case.read import Case
    from forensics.case.recheck import Rechecked
    from forensics.tools.custody import Compared

SHOWN = 50
"""Files of a state, or partitions, that are listed; --json lists all."""
DECIDING = 4
"""What decides a verdict that differs."""


@described(
    rank=100,
    summary="Check that a case was made from this evidence.",
    examples=(
        ("Check that this case was made from this evidence", "incident.case incident.tar.gz"),
        ("The evidence was unpacked in the meantime", "incident.case unpacked/"),
        ("Keep the result for each file", "incident.case broker-1.tar.gz broker-2.tar.gz --json verified.json"),
        ("Check that the verdicts follow from the table of hand-overs", "incident.case --proof"),
        ("Check one cluster of an audit against the archive", "tables /archive --cluster prod-eu --proof"),
        ("Check every file of an audit for damage", "tables"),
    ),
)
@click.argument("case", type=click.Path(path_type=str))
@click.argument("paths", nargs=-1, type=click.Path(path_type=str), metavar="[PATH...]")
@click.option("--proof", is_flag=True, help="Compute every verdict of the case again from its table of hand-overs.")
@cluster_option
@json_option("Write the result for each file, and for each partition whose verdict differs, as JSON; - is stdout.")
@limit_option
def command(case: str, paths: tuple[str, ...], proof: bool, json_file: str | None) -> None:
    """Check whether a case was made of this evidence, and whether its verdicts follow from it.

    Each file the case rests on is read again, in archives too, and its SHA-256 compared with the one the case has: same, changed, missing,
    additional. How files are packed and in which order does not matter. Exit code 0: every file is the same; 1: not all are.

    With --proof, every verdict is computed again from the table `handovers` of the case alone and compared with the verdict that the case
    states. PATH is not needed for that; exit code 1: a verdict differs.

    If CASE is the tables of an audit, and neither PATH nor --cluster is given, every file of the tables is read and compared with its
    digest; exit code 1: a file is missing or damaged.
    """
    from forensics.audit.audited import Audit, is_audit
    from forensics.case.run import read_run
    from forensics.commands.inputs import kept_case
    from forensics.output.json_text import encoded

    place, remote = local_tables(case)
    if not paths and not proof:
        if chosen_cluster() is not None or not is_audit(place):
            raise click.UsageError("give the evidence (PATH...) to compare it with the case, or --proof to compute the verdicts again")
        if remote is not None:
            remote.bring_all()
        _examine(Audit(place), json_file)
        return
    audit = _audit(place, remote)
    kept = kept_case(place)
    rechecked = _recheck(kept) if proof else None
    files = _compare(kept, paths, audit) if paths else None
    document: dict[str, Any] = {"schema": "kafka-forensics/verify/1", "same": _good(files, rechecked), "tool": kept.manifest["tool"]}
    document |= {"run": read_run(place)}
    document |= {"files": [_row(c) for c in files]} if files is not None else {}
    document |= {"proof": _proof(rechecked)} if rechecked is not None else {}
    if json_file is None or not write_text(encoded(document, indent=1) + "\n", json_file):
        for line in _words(place, kept.manifest["tool"], read_run(place), files, rechecked):
            console().print(line, markup=False, highlight=False, soft_wrap=True)
    if not document["same"]:
        raise click.exceptions.Exit(1)


def _examine(audit: Audit, json_file: str | None) -> None:
    """Compares each file of an audit with what was written."""
    from forensics.output.json_text import encoded
    from forensics.output.sanitise import clean
    from forensics.words.formats import counted

    with Progress().stage("Reading the tables"):
        found = dict(audit.examined())
    damaged = sorted(file for file, good in found.items() if not good)
    document = {"schema": "kafka-forensics/verify/1", "same": not damaged, "tables": len(found), "damaged": damaged}
    if json_file is None or not write_text(encoded(document, indent=1) + "\n", json_file):
        if damaged:
            click.echo(
                f"DAMAGED. {len(damaged)} of {counted(len(found), 'file')} of the tables are missing or damaged; the next audit makes them again."
            )
        else:
            click.echo(f"INTACT. All {counted(len(found), 'file')} of the tables have the content with which they were written.")
        for file in damaged[:SHOWN]:
            click.echo(f"  {'damaged' if (audit.directory / file).exists() else 'missing'}  {clean(file)}")
        if len(damaged) > SHOWN:
            click.echo(f"  and {len(damaged) - SHOWN} more; --json lists all")
    if damaged:
        raise click.exceptions.Exit(1)


def _recheck(case: Case) -> list[Rechecked]:
    from forensics.case.recheck import recheck

    with Progress().stage("Recomputing verdicts"):
        return recheck(case)


def _audit(path: Path, remote: Remote | None) -> Audit | None:
    """The audit that the case is in. Raises Unusable if its tables of the cluster are damaged."""
    from forensics.audit.audited import Audit, is_audit

    cluster = chosen_cluster()
    if cluster is None or not is_audit(path):
        return None
    audit = Audit(path) if remote is None else Audit(path, remote.bring)
    if cluster not in audit.clusters:
        return audit
    if damaged := audit.damaged(cluster):
        more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
        raise InvalidInput(f"{path / damaged[0]}{more}: damaged (another SHA-256 than when it was written); the next audit makes it again")
    return audit


def _compare(case: Case, paths: Sequence[str], audit: Audit | None) -> list[Compared]:
    from forensics.tools.custody import compare, of_case, sealed

    check(paths)
    then = of_case(case.table("sources", ["path", "kind", "sha256"]).to_pylist(), case.manifest["evidence"]["root"])
    if not any(s.sha256 for s in then):
        raise InvalidInput(f"{case.directory}: the case contains no SHA-256 digests of its evidence, so it cannot be compared")
    with Progress().stage("Reading evidence"):
        now = sealed(paths, limits())
        if audit is not None:  # the evidence is the archive of all clusters
            cluster = chosen_cluster() or ""
            now = [replace(s, path=name) for s in now if (name := audit.named(s.path, cluster)) is not None]
        return compare(then, now)


def _good(files: Sequence[Compared] | None, rechecked: Sequence[Rechecked] | None) -> bool:
    from forensics.tools.custody import GOOD

    return all(c.state in GOOD for c in files or () if not c.archive) and all(r.same for r in rechecked or ())


def _proof(rechecked: Sequence[Rechecked]) -> dict[str, Any]:
    return {
        "partitions": len(rechecked),
        "verdicts": dict(sorted(Counter(r.recomputed or "" for r in rechecked).items())),
        "differences": [
            {
                "topic": r.topic,
                "partition": r.partition,
                "cluster_number": r.cluster_number,
                "said": r.said,
                "recomputed": r.recomputed,
                "decides": list(r.decides),
            }
            for r in rechecked
            if not r.same
        ],
    }


def _row(c: Compared) -> dict[str, Any]:
    row = {"path": c.path, "archive": c.archive, "state": c.state, "sha256_of_case": c.then, "sha256": c.now}
    return row | ({"at": c.at} if c.at is not None else {})


def _words(
    case: Path, tool: dict[str, Any], run: dict[str, Any], files: Sequence[Compared] | None, rechecked: Sequence[Rechecked] | None
) -> Iterator[str]:
    from forensics.output.sanitise import clean

    when = f" on {run['at']}" if "at" in run else ""
    yield f"{clean(as_given(str(case)))}: made{clean(when)} by kafka-forensics {clean(tool['version'])}, rules {clean(tool['rules'])}"
    if files is not None:
        yield ""
        yield from map(clean, _of_files(files))
    if rechecked is not None:
        yield ""
        yield from map(clean, _of_proof(rechecked))


def _of_proof(rechecked: Sequence[Rechecked]) -> Iterator[str]:
    from forensics.words.formats import counted

    different = [r for r in rechecked if not r.same]
    if different:
        yield f"THE VERDICTS DIFFER. {counted(len(different))} of {len(rechecked)}: the table handovers gives another verdict than the case states."
    else:
        yield f"THE VERDICTS FOLLOW. The table handovers gives the same verdict as the case for {counted(len(rechecked))}."
    for verdict, count in sorted(Counter(r.recomputed or "" for r in rechecked).items()):
        yield f"  {count:>6} {verdict}"
    for r in different[:SHOWN]:
        cluster = f" (cluster {r.cluster_number})" if r.cluster_number else ""
        yield f"  {r.topic}-{r.partition}{cluster}: the case states {r.said or 'nothing'}, the hand-overs give {r.recomputed}"
        yield from (f"    {words}" for words in r.decides[:DECIDING])
        if not r.decides:
            yield "    no row shows a loss, and no cell leaves the verdict open"
    if len(different) > SHOWN:
        yield f"  and {len(different) - SHOWN} more; --json lists all"


def _of_files(found: Sequence[Compared]) -> Iterator[str]:
    from forensics.tools.custody import STATES

    files = [c for c in found if not c.archive]
    if _good(found, None):
        yield f"SAME. All {sum(c.then is not None for c in files)} files of the case are in this evidence, byte for byte (SHA-256), and no others."
    else:
        yield "NOT THE SAME. The results in the case do not hold for this evidence."
    count = Counter(c.state for c in files)
    for state, meaning in STATES.items():
        if count[state]:
            yield f"  {count[state]:>6} {state}: {meaning}"
    for state in STATES:
        yield from _listed(state, [c for c in files if c.state == state])
    for c in found:
        if c.archive and c.state != "additional":
            words = "the same file" if c.state == "same" else "missing or different; its files are compared above"
            yield f"  archive {c.path}, SHA-256 {c.then}: {words}"


def _listed(state: str, files: Sequence[Compared]) -> Iterator[str]:
    """The files in a state that is worth a list."""
    from forensics.tools.custody import GOOD

    if state in GOOD and state != "unread":
        return
    for c in files[:SHOWN]:
        yield f"  {state}  {c.path}"
        if state == "changed":
            yield f"    case {c.then or 'could not be read'}"
            yield f"    now  {c.now or 'cannot be read'}"
    if len(files) > SHOWN:
        yield f"  and {len(files) - SHOWN} more {state}; --json lists all"
