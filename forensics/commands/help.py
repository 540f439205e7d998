"""The help text of a command: description, examples, and options under headings.

Here: the command class, and the heading of each option. Not here: the texts of options.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

HEADINGS: Mapping[str, Sequence[str]] = {
    "Which findings, lines or partitions": (
        *("--topic", "--partition", "--broker", "--since", "--until", "--event", "--level", "--logger", "--grep", "--all"),
    ),
    "Where results go": (
        "--json",
        "--html",
        "--markdown",
        "--timesketch",
        "--perfetto",
        "--sarif",
        "--parquet",
        "--case",
        "--force",
        "--out",
        "--mapping",
    ),
    "How the evidence is read": ("--layout", "--timezone", "--clock-offset", "--log-pattern", "--patterns", "--memory", "--master"),
}
"""Options under none of them are listed under other options."""
OTHERS = "Other options"


class Told(click.Command):
    """With examples: an aim, and the command for it."""

    def __init__(self, *args: Any, examples: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for wish, words in self.examples:
                formatter.write_text(f"{wish}:")
                formatter.write(f"{'':{formatter.current_indent + 2}}kafka-forensics {self.name} {words}\n")
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        told = {p.opts[0]: _plain(record) for p in options if (record := p.get_help_record(ctx)) is not None}
        rest = [name for name in told if not any(name in names for names in HEADINGS.values())]
        for heading, names in (*HEADINGS.items(), (OTHERS, rest)):
            if own := [told[name] for name in names if name in told]:
                with formatter.section(heading):
                    formatter.write_dl(own, col_max=24)


def _plain(record: tuple[str, str]) -> tuple[str, str]:
    """Without the range of valid partition numbers."""
    name, words = record
    return name, words.replace("0<=x<=2147483647; ", "").replace("  [0<=x<=2147483647]", "")
