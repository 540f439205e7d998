"""`kafka-forensics patterns`: every log line that is understood, with the versions that print it and real samples."""

from __future__ import annotations

import json as jsonlib

import click

from forensics.commands.help import Command


@click.command(
    "patterns",
    cls=Command,
    rank=120,
    summary="List the log lines that are understood.",
    examples=(
        ("All patterns", ""),
        ("Patterns for the start of a leader", "--event leader-start"),
        ("One pattern, as JSON", "leader-starts --json"),
    ),
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--event", metavar="KIND", help="Only patterns for this kind of event.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--samples/--no-samples", default=True, help="Show sample lines.")
def command(names: tuple[str, ...], event: str | None, as_json: bool, samples: bool) -> None:
    """List the log lines that are understood, with Kafka versions, kind of event and sample lines."""
    from forensics.output.sanitise import clean
    from parsers.patterns import PATTERNS

    unknown = set(names) - {p.name for p in PATTERNS}
    if unknown:
        raise click.BadParameter(
            f"there is no pattern {sorted(unknown)[0]!r}; `kafka-forensics patterns` lists all patterns", param_hint="NAME"
        )
    chosen = [p for p in PATTERNS if (not names or p.name in names) and (event is None or p.event == event)]
    if as_json:
        told = [
            {
                "name": p.name,
                "event": p.event,
                "versions": p.versions,
                "loggers": p.loggers,
                "literal": p.literal,
                "regex": p.regex,
                "samples": [{"line": s.line, "fields": dict(s.fields), "origin": s.origin} for s in p.samples],
            }
            for p in chosen
        ]
        click.echo(jsonlib.dumps(told, indent=1, default=str))
        return
    for p in chosen:
        click.echo(click.style(p.name, bold=True) + f"  Kafka {p.versions[0]} to {p.versions[1]}  makes {p.event}")
        if samples:
            for s in p.samples:
                click.echo(f"    {clean(s.line)}".rstrip())
    click.echo(f"{len(chosen)} patterns", err=True)
