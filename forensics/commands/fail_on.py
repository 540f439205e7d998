"""The option `--fail-on`: exit code 1 if a finding is severe, or if data was lost.

Here: its values and what they mean. Not here: the exit itself, or new findings of an audit or a diff.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from forensics.commands.options import Option

LEVELS = ("info", "low", "medium", "high", "critical")
VERDICTS = ("lost", "tail-cut", "unknown")
"""'lost': committed data was lost; 'tail-cut': it was, or records that producers with acks=0 or acks=1 count as written; 'unknown': it was
lost, or that is unknown."""
_FAILING = {"lost": ("found",), "tail-cut": ("found", "tail-cut"), "unknown": ("found", "unknown")}
"""The losses (Headline.losses in forensics.views) for which each of them fails."""


def fail_on_option(more: str = "") -> Option[Any]:
    """`more`: what else fails, as a clause."""
    return click.option(
        "--fail-on",
        type=click.Choice((*LEVELS, *VERDICTS)),
        metavar="LEVEL|VERDICT",
        help=f"Exit with code 1 if a finding has at least this severity ({', '.join(LEVELS)}){more}; or if data was lost (lost), if that "
        "is not excluded (unknown), or if records are gone that producers with acks=0/1 count as written (tail-cut).",
    )


def fails(on: str | None, severities: Iterable[str], losses: Iterable[str]) -> bool:
    """Whether one of these severities or overall verdicts is what `--fail-on` names, or worse."""
    if on is None:
        return False
    if on in _FAILING:
        return any(loss in _FAILING[on] for loss in losses)
    return any(LEVELS.index(severity) >= LEVELS.index(on) for severity in severities)
