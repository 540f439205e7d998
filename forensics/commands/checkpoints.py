"""`kafka-forensics checkpoints`: the checkpoint and epoch files of all brokers side by side.

Here: the options and the two Spark jobs. Not here: the comparison (forensics.partition.side_by_side) or its words (report.checkpoints).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from forensics.commands.evidence import Opened, Progress, evidence_options, invocation, open_evidence
from forensics.commands.output import json_option, write_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from forensics.views.checkpoints import Comparison


@click.command("checkpoints")
@evidence_options
@click.option("--topic", "topics", multiple=True, help="Only this topic (may be repeated).")
@click.option("--partition", "partitions", multiple=True, type=int, help="Only this partition number (may be repeated).")
@click.option("--against", multiple=True, metavar="PATH", help="An earlier collection of the same cluster; what changed since is told.")
@click.option("--all", "everything", is_flag=True, help="Also the partitions whose replicas agree.")
@json_option("Write the comparison as JSON; '-' is stdout, in place of the tables.")
def command(
    paths: tuple[str, ...],
    timezone: str | None,
    clock_offsets: tuple[str, ...],
    master: str | None,
    topics: tuple[str, ...],
    partitions: tuple[int, ...],
    against: tuple[str, ...],
    everything: bool,
    json_file: str | None,
) -> None:
    """Put the checkpoint and epoch files of all brokers side by side.

    For each partition: high watermark, log end, log start, flushed offset and leader epochs of every replica, where lineages
    part, what contradicts itself. Partitions whose replicas agree are only counted. Where a broker was collected twice, or with
    --against PATH, also what changed in between.
    """
    progress = Progress()
    opened = open_evidence(paths, timezone, clock_offsets, master, progress)
    before = open_evidence(against, timezone, clock_offsets, master, progress, beside=opened) if against else None
    with progress.stage("Comparing replicas"):
        found = _compared(opened, before, paths, against, topics, partitions, everything)
    if json_file is not None and write_json(found.json(), json_file):
        return
    from rich.console import Console

    from forensics.views.checkpoints import show

    show(found, Console(highlight=False))


def _compared(
    opened: Opened,
    before: Opened | None,
    paths: Sequence[str],
    against: Sequence[str],
    topics: Sequence[str],
    partitions: Sequence[int],
    everything: bool,
) -> Comparison:
    from forensics.partition.side_by_side import BEFORE, SCHEMA, as_before, comparison
    from forensics.views.checkpoints import Comparison
    from parsers.containers.storage import without_secrets
    from spark.engine.pipeline import identified, verdicts

    events = identified(opened.events, opened.identifier)
    if before is not None:
        events = events.unionByName(as_before(identified(before.events, before.identifier)))
    events = _chosen(events, topics, partitions)
    judge = comparison(opened.cluster, before.cluster if before is not None else None, everything=everything)
    rows = verdicts(events, opened.cluster, judge, SCHEMA).toArrow().to_pylist()

    def shown(place: str) -> str:
        if place.startswith(BEFORE) and before is not None:
            return BEFORE + (before.identifier.shown(place.removeprefix(BEFORE)) or ", ".join(map(without_secrets, against)))
        return opened.identifier.shown(place)

    return Comparison(opened.cluster, rows, shown, invocation("checkpoints", paths, against), everything)


def _chosen(events: DataFrame, topics: Sequence[str], partitions: Sequence[int]) -> DataFrame:
    from pyspark.sql import functions as F

    if topics:
        events = events.where(F.col("topic").isin(*topics))
    if partitions:
        events = events.where(F.col("partition").isin(*partitions))
    return events
