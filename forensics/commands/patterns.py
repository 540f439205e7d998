"""`kafka-forensics patterns`: every log line that is understood, with the versions that print it and real samples."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from forensics.commands.help import described
from forensics.commands.names import check_kind, similar
from forensics.commands.output import json_option, write_text

if TYPE_CHECKING:
    from parsers.patterns.pattern import Pattern


def _event(context: click.Context, option: click.Parameter, kind: str | None) -> str | None:
    if kind is not None:
        check_kind(context, option, kind)
    return kind


@described(
    rank=120,
    summary="List the log lines that are understood.",
    examples=(
        ("All patterns", ""),
        ("Patterns for the start of a leader", "--event leader-start"),
        ("One pattern, as JSON", "leader-starts --json -"),
        ("One pattern, as a start for a file for --patterns", "--toml leader-starts"),
    ),
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--event", metavar="KIND", callback=_event, help="Only patterns for this kind of event.")
@json_option("Write the patterns as JSON; - is stdout, instead of the list.")
@click.option("--toml", "as_toml", is_flag=True, help="Print as TOML, in the form that --patterns of other commands reads.")
def command(names: tuple[str, ...], event: str | None, json_file: str | None, as_toml: bool) -> None:
    """List the log lines that are understood, one line each, or explain those named: Kafka versions, kind of event, loggers, sample
    lines."""
    if json_file is not None and as_toml:
        raise click.UsageError("give --json or --toml, not both")
    chosen = _chosen(names, event)
    if json_file is not None and write_text(jsonlib.dumps(list(map(_row, chosen)), indent=1, default=str) + "\n", json_file):
        return
    if as_toml:
        from parsers.patterns.pattern_toml import write

        click.echo("\n".join(map(write, chosen)), nl=False)
    else:
        _list(chosen, explained=bool(names))


def _chosen(names: Sequence[str], event: str | None) -> list[Pattern]:
    from parsers.patterns import PATTERNS

    unknown = sorted(set(names) - {p.name for p in PATTERNS})
    if unknown:
        advice = similar(unknown[0], (p.name for p in PATTERNS), "`kafka-forensics patterns` lists all patterns")
        raise click.BadParameter(f"{unknown[0]!r} is not a pattern; {advice}", param_hint="NAME")
    return [p for p in PATTERNS if (not names or p.name in names) and (event is None or p.event == event)]


def _row(pattern: Pattern) -> dict[str, Any]:
    return {
        "name": pattern.name,
        "event": pattern.event,
        "versions": pattern.versions,
        "loggers": pattern.loggers,
        "literal": pattern.literal,
        "regex": pattern.regex,
        "samples": [{"line": s.line, "fields": dict(s.fields), "origin": s.origin} for s in pattern.samples],
    }


def _list(patterns: Sequence[Pattern], *, explained: bool) -> None:
    from forensics.output.sanitise import clean

    width = max((len(pattern.name) for pattern in patterns), default=0)
    for pattern in patterns:
        first, last = pattern.versions
        click.echo(f"{click.style(f'{pattern.name:{width}}', bold=True)}  {f'Kafka {first} to {last}':22}  {pattern.event}")
        if explained:
            click.echo("".join(f"    logger  {logger}\n" for logger in pattern.loggers), nl=False)
            click.echo("".join(f"    sample  {clean(sample.line)}".rstrip() + "\n" for sample in pattern.samples), nl=False)
    click.echo(f"{len(patterns)} patterns", err=True)
