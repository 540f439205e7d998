"""`kafka-forensics timeline`: one partition's timeline in the terminal, with a lane for each broker.

Here: the options and the output. Not here: the steps (forensics.views.story) or their display (forensics.views.lanes).
"""

from __future__ import annotations

import os
import re
import shlex

import click

from forensics.commands.evidence import InvalidInput, Progress, evidence_options
from forensics.commands.help import described
from forensics.commands.inputs import open_input
from forensics.commands.output import console, json_option, write_text
from forensics.commands.selection import PARTITION, Request, check_brokers, selection_options, unknown_partition
from forensics.commands.targets import OutputFile
from forensics.commands.times import display_timezone_option, display_zone, window

_NAME = re.compile(r"(?P<topic>[\w.-]{1,249})-(?P<partition>\d{1,9})", re.ASCII)


@described(
    rank=50,
    examples=(
        ("The history of partition 0 of the topic orders", "incident.tar.gz orders-0"),
        ("Ten minutes, with every event", "incident.case orders-0 --all --since 2026-01-31T12:00:00Z --until 2026-01-31T12:10:00Z"),
    ),
)
@evidence_options
@click.option("--topic", metavar="NAME", help="Name of the topic, in place of TOPIC-N.")
@click.option("--partition", type=PARTITION, metavar="N", help="Number of the partition.")
@selection_options("entries", "broker", "since")
@click.option("--all", "everything", is_flag=True, help="Show every event, also repeated ones.")
@display_timezone_option
@json_option("Write the history as JSON; - is stdout, instead of the lanes.")
@click.option("--csv", "csv_file", metavar="FILE", type=OutputFile(), help="Write the history as CSV; - is stdout, instead of the lanes.")
def command(
    paths: tuple[str, ...],
    topic: str | None,
    partition: int | None,
    request: Request,
    everything: bool,
    json_file: str | None,
    csv_file: str | None,
) -> None:
    """Show the history of one partition, with a lane for each broker.

    One PATH is the partition, as in orders-0, unless --topic and --partition name it. The history shows the leaders, the in-sync replicas
    (ISR), what the log of each broker contained and truncated, and what was lost. It is in causal order: by leader epoch and partition
    epoch. Times are UTC, with time zones and clock offsets corrected. Of repeated events, the first and the last are shown; --all shows
    every event.

    Below the history is the proof of the verdict. The proof has a row for each hand-over to a new leader, with the possible offsets and
    states, the log lines that show them, and the reasons if the verdict is unknown.
    """
    from forensics.views.story.step import Wanted

    paths, topic, partition = _partition(paths, topic, partition)
    progress = Progress()
    found = open_input(paths, progress)
    begin, end = window(request.since, request.until, found.cluster)
    with progress.stage(f"Reconstructing {topic}-{partition}"):
        rows, proof = found.proven_story(topic, partition, Wanted(begin, end, everything))
    if not rows:
        raise InvalidInput(unknown_partition(found.partitions(), topic, partition))
    if request.brokers:
        check_brokers(found.cluster.nodes, request.brokers)
        rows = [row for row in rows if row["broker"] in request.brokers or set(request.brokers) & set(row["roles"] or ())]
    from forensics.case.parquet import csv_lines
    from forensics.views.lanes import json_text, show, table

    printed = csv_file is not None and write_text("".join(csv_lines(*table(rows, topic, partition))), csv_file)
    if (json_file is None or not write_text(json_text(rows, topic, partition, proof), json_file)) and not printed:
        show(rows, topic, partition, console(), proof, everything=everything, zone=display_zone())


def _partition(paths: tuple[str, ...], topic: str | None, partition: int | None) -> tuple[tuple[str, ...], str, int]:
    """The evidence, and the partition, which may be one of the arguments. Raises click.UsageError without one."""
    named = {path: name for path in paths if (name := _NAME.fullmatch(path)) is not None and not os.path.lexists(path)}
    others = tuple(path for path in paths if path not in named)
    if topic is None and partition is None and len(named) == 1 and others:
        (name,) = named.values()
        return others, name["topic"], int(name["partition"])
    if topic is None or partition is None:
        evidence = shlex.quote((others or ("incident.case",))[0])
        raise click.UsageError(f"name one partition, for example: kafka-forensics timeline {evidence} orders-0")
    return paths, topic, partition
