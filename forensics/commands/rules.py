"""`kafka-forensics rules`: every kind of finding, what it means and what it does not, and the exemplars that prove it."""

from __future__ import annotations

import json as jsonlib
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from forensics import rule_files
from forensics.commands.evidence import RULES, own_rules, pattern_files, patterns_option
from forensics.commands.exit_codes import FINDINGS
from forensics.commands.help import described
from forensics.commands.names import one_line, similar
from forensics.commands.options import kept
from forensics.commands.output import json_option, write_text

if TYPE_CHECKING:
    from forensics.model.findings import Rule
    from parsers.own_files import OwnFile

PREMISES = {"order": "the order of lines in a log", "time": "times of different brokers", "silence": "that a log would show it"}


@described(
    rank=130,
    summary="List the kinds of findings.",
    examples=(
        ("All rules", ""),
        ("What two rules mean", "data-loss unclean-election"),
        ("A rule as a start for a file for --rules", "--toml append-failed"),
        ("Whether a rule of your own finds its exemplars", "--check my-rule.toml"),
    ),
)
@click.argument("kinds", nargs=-1, metavar="[KIND]...")
@json_option("Write the rules as JSON; - is stdout, instead of the list.")
@click.option("--toml", "as_toml", is_flag=True, help="Print one rule as TOML, in the form that --rules of other commands reads.")
@click.option(
    "--check",
    multiple=True,
    metavar="FILE",
    help="Check a file for --rules with its exemplars (may be repeated).",
    **kept(RULES, own_rules),
)
@patterns_option
def command(kinds: tuple[str, ...], json_file: str | None, as_toml: bool) -> None:
    """List the kinds of findings, or explain those named: meaning, harmless causes, references, premises, next steps, and the small
    incidents that test each rule."""
    from forensics.exemplars import exemplars_of
    from forensics.rules import RULES

    files = rule_files.in_force()
    if (json_file is not None) + as_toml + bool(files) > 1 or (kinds and files):
        raise click.UsageError("give one of --json, --toml and --check; --check takes no KIND")
    if files:
        _show_results(files)
        return
    known = {rule.kind: rule for rule in RULES}
    for kind in kinds:
        if kind not in known:
            advice = similar(kind, known, "`kafka-forensics rules` lists all rules")
            raise click.BadParameter(f"{kind!r} is not a kind of finding; {advice}", param_hint="KIND")
    if as_toml:
        if len(kinds) != 1:
            raise click.UsageError("--toml prints one rule; give one KIND")
        click.echo(_toml(kinds[0]), nl=False)
        return
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
        if kinds:
            _explain(rule)
        else:
            click.echo(one_line(f"{rule.kind:28} {rule.level:9} {rule.meaning}"))


def _explain(rule: Rule) -> None:
    from forensics.exemplars import exemplars_of
    from forensics.words.catalogue import own_templates

    click.echo(click.style(rule.kind, bold=True) + f"  {rule.level}")
    click.echo(_wrapped(rule.meaning))
    for cause in rule.benign:
        click.echo(_wrapped(f"not this: {cause}"))
    if rule.references:
        click.echo(_wrapped("see " + ", ".join(rule.references)))
    click.echo(_wrapped(f"rests on the lines that it quotes{''.join(f', {PREMISES[premise]}' for premise in rule.rests_on)}"))
    for step in dict.fromkeys(step for own in own_templates(rule.kind) for step in own.next_steps):
        if shown := _outline(step):
            click.echo(_wrapped(f"next: {shown}"))
    for exemplar in exemplars_of(rule.kind):
        click.echo(_wrapped(f"{'found' if exemplar.found else 'not found'} in the test {exemplar.name}: {exemplar.story}"))
    click.echo()


def _outline(step: str) -> str | None:
    """The step with the names of its values; None if it is made of nothing else."""
    from forensics.words.template import outline

    return outline(step.removeprefix("!"))


def _toml(kind: str) -> str:
    """The file of a rule. Raises click.UsageError if a file of a user cannot have what it has."""
    from forensics.own_rules import as_own

    try:
        return as_own(kind)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _show_results(files: Sequence[OwnFile]) -> None:
    """Prints what each rule finds in its exemplars. Exits with FINDINGS if one is not as its exemplar says."""
    from forensics.own_rules import results
    from forensics.rules import kind_in
    from parsers.pattern_files import put_in_force

    put_in_force(pattern_files())
    failed = 0
    for file in files:
        click.echo(click.style(kind_in(file), bold=True) + f"  {file.path}")
        for result in results(file):
            failed += result.problem is not None
            state = "wrong" if result.problem is not None else "found" if result.found else "not found"
            click.echo(_wrapped(f"{state}: {result.exemplar.name}{f': {result.problem}' if result.problem is not None else ''}"))
            for summary in result.found:
                click.echo(_wrapped(f"    {summary}"))
    if failed:
        click.get_current_context().exit(FINDINGS)


def _wrapped(text: str) -> str:
    return click.wrap_text(text, min(shutil.get_terminal_size((100, 24)).columns, 100), "    ", "      ")
