"""`kafka-forensics rules`: every kind of finding, what it means and what it does not, and the exemplars that prove it."""

from __future__ import annotations

import json as jsonlib
import shutil

import click

from forensics.commands.help import Command
from forensics.commands.names import similar
from forensics.commands.output import json_option, write_text


@click.command(
    "rules",
    cls=Command,
    rank=130,
    summary="List the kinds of findings.",
    examples=(
        ("All rules", ""),
        ("Two rules", "data-loss unclean-election"),
    ),
)
@click.argument("kinds", nargs=-1, metavar="[KIND]...")
@json_option("Write the rules as JSON; - is stdout, instead of the list.")
def command(kinds: tuple[str, ...], json_file: str | None) -> None:
    """List the kinds of findings: level, meaning, harmless causes, references, and the small incidents that test each rule."""
    from forensics.exemplars import exemplars_of
    from forensics.rules import RULES

    known = {rule.kind: rule for rule in RULES}
    for kind in kinds:
        if kind not in known:
            advice = similar(kind, known, "`kafka-forensics rules` lists all rules")
            raise click.BadParameter(f"{kind!r} is not a kind of finding; {advice}", param_hint="KIND")
    chosen = [known[k] for k in kinds] or list(RULES)
    if json_file is not None:
        rows = [
            {
                "kind": r.kind,
                "level": r.level,
                "meaning": r.meaning,
                "benign": r.benign,
                "references": r.references,
                "exemplars": [{"name": e.name, "found": e.found, "story": e.story, "from": e.origin} for e in exemplars_of(r.kind)],
            }
            for r in chosen
        ]
        if write_text(jsonlib.dumps(rows, indent=1) + "\n", json_file):
            return
    for rule in chosen:
        click.echo(click.style(rule.kind, bold=True) + f"  {rule.level}")
        click.echo(_wrapped(rule.meaning))
        for cause in rule.benign:
            click.echo(_wrapped(f"not this: {cause}"))
        if rule.references:
            click.echo(_wrapped("see " + ", ".join(rule.references)))
        for exemplar in exemplars_of(rule.kind):
            click.echo(_wrapped(f"{'found' if exemplar.found else 'not found'} in the test {exemplar.name}: {exemplar.story}"))
        click.echo()


def _wrapped(text: str) -> str:
    return click.wrap_text(text, min(shutil.get_terminal_size((100, 24)).columns, 100), "    ", "      ")
