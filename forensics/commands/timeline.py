"""`kafka-forensics timeline`: one partition's timeline in the terminal, with a lane for each broker.

Here: the options and the output. Not here: the steps (forensics.views.story) or their display (forensics.views.lanes).
"""

from __future__ import annotations

import difflib
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from forensics.commands.evidence import Progress, Unusable, evidence_options
from forensics.commands.help import Command
from forensics.commands.inputs import open_input
from forensics.commands.output import TIMES, console, json_option, write_text

if TYPE_CHECKING:
    from forensics.views.proof import Proof

CLOSE = 5
"""Number of suggestions for an unknown name."""


@click.command(
    "timeline",
    cls=Command,
    rank=50,
    summary="Show the history of one partition, with a lane for each broker.",
    examples=(
        ("The history of orders-0", "incident.tar.gz --topic orders --partition 0"),
        (
            "Ten minutes, with every event",
            "incident.case --topic orders --partition 0 --all --since 2026-01-31T12:00:00Z --until 2026-01-31T12:10:00Z",
        ),
    ),
)
@evidence_options
@click.option("--topic", required=True, metavar="NAME", help="Name of the topic.")
@click.option("--partition", required=True, type=click.IntRange(0, 2**31 - 1), metavar="N", help="Number of the partition.")
@click.option("--since", type=TIMES, metavar="TIME", help="Only events from this time on (UTC), for example 2026-01-31T12:00:00Z.")
@click.option("--until", type=TIMES, metavar="TIME", help="Only events up to this time (UTC).")
@click.option("--all", "everything", is_flag=True, help="Show every event, also repeated ones.")
@json_option("Write the history as JSON; - is stdout, instead of the lanes.")
def command(
    paths: tuple[str, ...],
    timezone: str | None,
    clock_offsets: tuple[str, ...],
    master: str | None,
    topic: str,
    partition: int,
    since: datetime | None,
    until: datetime | None,
    everything: bool,
    json_file: str | None,
) -> None:
    """Show the history of one partition, with a lane for each broker.

    The history shows the leaders, the in-sync replicas (ISR), what the log of each broker contained and truncated, and what was lost. It is
    in causal order: by leader epoch and partition epoch. Times are UTC, with time zones and clock offsets corrected. Of repeated events, the
    first and the last are shown; --all shows every event.

    Below the history is the proof of the verdict. The proof has a row for each hand-over to a new leader, with the possible offsets and
    states, the log lines that show them, and the reasons if the verdict is unknown.
    """
    from forensics.views.story.step import Wanted

    progress = Progress()
    found = open_input(paths, timezone, clock_offsets, master, progress)
    with progress.stage(f"Reconstructing {topic}-{partition}"):
        rows, proof = found.proven_story(topic, partition, Wanted(since, until, everything))
    if not rows:
        raise Unusable(_unknown(found.partitions(), topic, partition))
    _write(rows, proof, topic, partition, json_file, everything=everything)


def _unknown(known: set[tuple[str, int]], topic: str, partition: int) -> str:
    """A line with the existing names in place of the unknown one."""
    from forensics.output.sanitise import clean

    if partitions := sorted(number for name, number in known if name == topic):
        shown = ", ".join(map(str, partitions[:20])) + (" ..." if len(partitions) > 20 else "")
        return clean(f"{topic} has no partition {partition} (found: {shown})")
    names = sorted({name for name, _ in known})
    close = difflib.get_close_matches(topic, names, CLOSE, 0.5) or names[:CLOSE]
    if not close:
        return "The evidence names no topic; run `kafka-forensics inspect` to see what was collected."
    return " ".join(clean(f"The evidence has no topic {topic!r} (similar: {', '.join(close)})").split())


def _write(rows: list[dict[str, Any]], proof: Proof | None, topic: str, partition: int, json_file: str | None, *, everything: bool) -> None:
    from forensics.views.lanes import json_text, show

    if json_file is not None and write_text(json_text(rows, topic, partition, proof), json_file):
        return
    show(rows, topic, partition, console(), proof, everything=everything)
