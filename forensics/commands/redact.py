"""`kafka-forensics redact`: a copy of evidence that may be shared.

Here: the options and the output. Not here: what is replaced and how (forensics.tools.redaction).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forensics.commands.evidence import Progress, Unusable, check, limit_option, limits
from forensics.commands.help import Told
from forensics.commands.output import console

if TYPE_CHECKING:
    from forensics.tools.redaction.bundle import Redacted

SHOWN = 20
"""Omitted files that are listed."""


@click.command(
    "redact",
    cls=Told,
    examples=(
        ("A copy for support, with the mapping beside it in redacted.tar.gz.mapping.json", "incident.tar.gz --out redacted.tar.gz"),
        ("The mapping somewhere safe", "broker-*.tar.gz --out redacted.tar.gz --mapping ~/vault/mapping.json"),
    ),
)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=str), metavar="PATH...")
@click.option("--out", required=True, metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), help="The archive, a new .tar.gz.")
@click.option(
    "--mapping",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write here what was replaced by what; default is FILE.mapping.json beside the archive. Not to be handed on.",
)
@limit_option
def command(paths: tuple[str, ...], out: Path, mapping: Path | None) -> None:
    """Write a copy of evidence that may be handed on: names replaced, records gone, verdicts the same.

    Topics, groups, transactional ids, hosts, addresses, cluster ids and every word that is not Kafka's own are replaced, the same by the same
    everywhere; secrets and the bodies of records are removed. What is not understood is left out and named. At the end the copy is searched
    for every name that was replaced, and there is none where one is found. Both files are readable by their owner alone.
    """
    from forensics.case.write import outside
    from forensics.output.sanitise import clean
    from forensics.tools.redaction.bundle import Leak, redact

    mapping = mapping or out.with_name(f"{out.name}.mapping.json")
    check(paths)
    for file in (out, mapping):
        outside(file, paths)
        if file.exists() or file.is_symlink():
            raise Unusable(f"{file}: it is there already")
    try:
        with Progress().stage("Replacing names"):
            done = redact(paths, out, mapping, limits())
    except Leak as error:
        raise click.ClickException(f"{error}: nothing was written") from None
    except OSError as error:
        raise click.FileError(str(error.filename or out), error.strerror or str(error)) from None
    for line in _words(done, out, mapping):
        console().print(clean(line), markup=False, highlight=False, soft_wrap=True)


def _words(done: Redacted, out: Path, mapping: Path) -> Iterator[str]:
    from forensics.tools.redaction.bundle import NOT_NEEDED

    counts = ", ".join(
        f"{len(own)} {kind}{'' if len(own) == 1 else 's' if kind != 'address' else 'es'}" for kind, own in done.names.mapping().items()
    )
    yield f"{out}: {done.written} files; replaced: {counts or 'nothing'}."
    yield f"{mapping}: what was replaced by what. Keep it; whoever has both has the original names."
    for name in done.names.guarded:
        yield f"  {name!r} is a word of Kafka's, too: it is replaced where it stands as a name, and left in Kafka's own sentences."
    odd = [(path, kind, why) for path, kind, why in done.left_out if kind not in NOT_NEEDED]
    plain = {kind: n for kind, n in done.count.items() if kind in NOT_NEEDED and kind != "redaction"}
    if plain:
        yield f"Left out, for they say nothing of losses: {', '.join(f'{n} of kind {kind}' for kind, n in sorted(plain.items()))}."
    if odd:
        yield f"Left out, for nobody can say what is in them ({len(odd)}):"
        yield from (f"  {path} ({kind}): {why}" for path, kind, why in odd[:SHOWN])
        if len(odd) > SHOWN:
            yield f"  and {len(odd) - SHOWN} more"
