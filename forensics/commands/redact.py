"""`kafka-forensics redact`: a copy of evidence or of results that may be shared.

Here: the options and the output. Not here: what is replaced and how (forensics.tools.redaction).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forensics.commands.evidence import InvalidInput, Progress, check, limit_option, limits
from forensics.commands.help import described
from forensics.commands.output import console, force_option
from forensics.commands.targets import OutputFile, noted, usable, written

if TYPE_CHECKING:
    from forensics.tools.redaction.bundle import Redacted

SHOWN = 20
"""Omitted files that are listed."""


class RedactedCopy(OutputFile):
    """A new file or case."""

    def trouble(self, path: str, *, force: bool = False) -> str | None:
        from forensics.case.read import is_case

        if is_case(Path(path)):
            return None if force else "there is a case already; give another name, or --force to replace the case"
        return super().trouble(path, force=force)


@described(
    rank=110,
    summary="Write a copy of evidence, a case or a report that can be shared, with names replaced.",
    examples=(
        ("Write a copy, and the mapping to redacted.tar.gz.mapping.json", "incident.tar.gz --out redacted.tar.gz"),
        ("Write the mapping to a safe place", "broker-*.tar.gz --out redacted.tar.gz --mapping ~/vault/mapping.json"),
        ("A case, from which pages and tables can be made", "incident.case --out redacted.case"),
        ("A report that was written with --json", "report.json --out redacted.json"),
    ),
)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=str), metavar="PATH...")
@click.option(
    "--out",
    "-o",
    required=True,
    metavar="COPY",
    type=RedactedCopy(stdout=False, new=True),
    help="The copy: a .tar.gz file, a case or a JSON file.",
)
@force_option("an earlier copy and its mapping")
@click.option(
    "--mapping",
    metavar="FILE",
    type=OutputFile(stdout=False, new=True),
    help="File for the names and their replacements; default is the name of the copy with .mapping.json. Keep this file private.",
)
@limit_option
def command(paths: tuple[str, ...], out: str, force: bool, mapping: str | None) -> None:
    """Write a copy of evidence, of a case or of a report that can be shared: names replaced, records and secrets removed, same findings.

    Of texts, only Kafka's own words stay where Kafka prints them, and numbers that a reader takes. Topics, groups, hosts, addresses and all
    other words are replaced consistently. Files that are not understood are left out and listed. Then the copy is read again; if anything
    is in it that is on no list, no copy is written. Only the owner can read both files.

    PATH can also be one case, or one report in JSON. Verdicts, offsets and times stay. A redacted case has only those log lines that a
    result quotes.
    """
    from forensics.output.sanitise import clean
    from forensics.tools.redaction.bundle import Leak, NothingCopied, redact
    from parsers.containers.storage import without_secrets

    if mapping is None:
        mapping = f"{out.rstrip('/')}.mapping.json"
        usable(click.get_current_context(), "--mapping", OutputFile(stdout=False, new=True), mapping)
    check(paths)
    results = _of_results(paths, out, force=force)
    done = None
    try:
        with noted(out), Progress().stage("Replacing names"):
            if results is not None:
                done = results(Path(out), Path(mapping), replace=force)
            else:
                done = redact(paths, Path(out), Path(mapping), limits(), replace=force)
    except Leak as error:
        raise InvalidInput(f"{error}; nothing was written") from None
    except NothingCopied:
        raise InvalidInput(
            f"{', '.join(map(without_secrets, paths))}: no file that redact understands; give the logs and data directories of brokers, a case, or a "
            "report in JSON"
        ) from None
    if done is None:
        return
    written().paths.append(mapping)
    for line in _words(done, Path(out), Path(mapping)):
        console().print(clean(line), markup=False, highlight=False, soft_wrap=True)


def _of_results(paths: Sequence[str], out: str, *, force: bool) -> Callable[..., Redacted] | None:
    """What redacts a case or a report; None for evidence. Raises InvalidInput or CaseRefused."""
    from forensics.audit.audited import is_audit
    from forensics.case.read import Case, is_case
    from forensics.case.redacted import is_report, redact_case, redact_report
    from forensics.case.write import check as check_case

    if kept := [path for path in paths if is_audit(Path(path))]:
        raise InvalidInput(f"{kept[0]}: an audit cannot be redacted; redact the evidence, or a case of one cluster")
    results = [path for path in paths if is_case(Path(path)) or is_report(path)]
    if not results:
        return None
    if len(paths) > 1:
        raise InvalidInput(f"{results[0]}: a case or a report is redacted alone; give no other PATH")
    if not is_case(Path(paths[0])):
        return partial(redact_report, paths[0])
    check_case(Path(out), (), force=force)
    return partial(redact_case, Case(Path(paths[0])))


def _words(done: Redacted, out: Path, mapping: Path) -> Iterator[str]:
    from forensics.tools.redaction.bundle import NOT_NEEDED
    from forensics.words.formats import counted

    counts = ", ".join(_counted(len(names), kind) for kind, names in done.names.mapping().items())
    yield f"{out}: {counted(done.written, 'file')}; replaced: {counts or 'nothing'}."
    yield f"{mapping}: the names and their replacements. Keep this file private; with both files, the original names can be restored."
    for name in done.names.guarded:
        yield f"  {name!r} is also a word in Kafka's log lines: it was replaced where it is a name, and kept in Kafka's own sentences."
    plain = {kind: n for kind, n in done.count.items() if kind in NOT_NEEDED and kind != "redaction"}
    if plain:
        yield f"Left out, because they show nothing about losses: {', '.join(f'{n} of kind {kind}' for kind, n in sorted(plain.items()))}."
    yield from _not_understood([(path, kind, why) for path, kind, why in done.left_out if kind not in NOT_NEEDED])


def _counted(number: int, kind: str) -> str:
    plural = "addresses" if kind == "address" else f"{kind}s"
    return f"{number} {kind if number == 1 else plural}"


def _not_understood(files: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    if files:
        yield f"Left out, because their contents are unknown ({len(files)}):"
        yield from (f"  {path} ({kind}): {why}" for path, kind, why in files[:SHOWN])
    if len(files) > SHOWN:
        yield f"  and {len(files) - SHOWN} more"
