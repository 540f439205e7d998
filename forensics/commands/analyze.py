"""`kafka-forensics analyze`: the main job, from evidence to verdicts.

Here: the options, the two Spark jobs in a row, where results go. Not here: reading, judging or the words of the report.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import click

from forensics.commands.evidence import Opened, Progress, evidence_options, invocation, open_evidence
from forensics.commands.output import TIMES, json_option, write_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from forensics.judge import Asked
    from forensics.views.document import Report
    from spark.cluster.facts import Cluster, Measure

LOAD_METRICS = "load-metrics"
"""Kind of the sources that hold load as the user measured it."""
LEVELS = ("info", "low", "medium", "high", "critical")


@click.command("analyze")
@evidence_options
@click.option("--topic", "topics", multiple=True, help="Only findings of this topic (may be repeated).")
@click.option("--partition", "partitions", multiple=True, type=int, help="Only findings of this partition number (may be repeated).")
@click.option("--broker", "brokers", multiple=True, type=int, help="Only findings about this broker (may be repeated).")
@click.option(
    "--since",
    type=TIMES,
    help="Only findings that end after this time (UTC).",
)
@click.option(
    "--until",
    type=TIMES,
    help="Only findings that begin before this time (UTC).",
)
@json_option("Write the report as JSON; '-' is stdout, in place of the summary.")
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="METRIC=W",
    help="How much a metric of load counts, 1 if not told: partitions, leaders, bytes on disk, bytes in, or a column of a CSV of load metrics.",
)
@click.option("--fail-on", type=click.Choice(LEVELS), help="Exit with 1 when a finding is at least this severe.")
def command(
    paths: tuple[str, ...],
    timezone: str | None,
    clock_offsets: tuple[str, ...],
    master: str | None,
    topics: tuple[str, ...],
    partitions: tuple[int, ...],
    brokers: tuple[int, ...],
    since: datetime | None,
    until: datetime | None,
    json_file: str | None,
    weights: tuple[str, ...],
    fail_on: str | None,
) -> None:
    """Say what was lost, when and why.

    All PATHs together are the evidence of ONE cluster: directories, tar, tar.gz, tar.bz2, tar.xz, tar.zst, zip or single
    files, nested as they were collected. The summary goes to stdout; --json FILE writes everything.
    """
    progress = Progress()
    weighed = dict(map(weight, weights))
    opened = open_evidence(paths, timezone, clock_offsets, master, progress)
    opened.cluster.weights = weighed
    with progress.stage("Judging partitions"):
        report = _report(opened, paths, _asked(topics, partitions))
    report = _narrowed(report, topics, partitions, brokers, since, until)
    _write(report, json_file)
    if fail_on is not None and any(LEVELS.index(f.severity) >= LEVELS.index(fail_on) for f in report.findings):
        raise click.exceptions.Exit(1)


def _asked(topics: Sequence[str], partitions: Sequence[int]) -> Asked:
    return lambda topic, partition: (not topics or topic in topics) and (not partitions or partition in partitions)


def _report(opened: Opened, paths: Sequence[str], asked: Asked) -> Report:
    from forensics.judge import OF_REPORT, VERDICTS, conclude, judge_partition, with_facts
    from forensics.views.document import Report
    from spark.engine.pipeline import identified, verdicts

    known = identified(opened.events, opened.identifier)
    opened.cluster.measures = _measures(known, opened.cluster)
    _check_weights(opened.cluster)
    told = conclude(verdicts(known, opened.cluster, judge_partition, VERDICTS).toArrow(), opened.cluster, asked)
    return Report(opened.cluster, told.findings, with_facts(told.partitions, OF_REPORT), told.incidents, invocation("analyze", paths))


def _measures(events: DataFrame, cluster: Cluster) -> Sequence[Measure]:
    """Means of the user's load metrics; a job of its own, for evidence that holds any."""
    if not any(s.kind == LOAD_METRICS for s in cluster.sources):
        return ()
    from pyspark.sql import functions as F
    from pyspark.sql.pandas.types import from_arrow_schema

    from forensics.cluster.balance import MEASURES, measures, sums

    found = events.where(F.col("event") == "load-metric").mapInArrow(sums, from_arrow_schema(MEASURES))
    return measures(found.toArrow().to_pylist())


def weight(text: str) -> tuple[str, float]:
    """What --weight says: a metric, and how much it counts."""
    metric, sep, value = text.rpartition("=")
    try:
        if not sep or not metric or not 0 <= float(value) < float("inf"):
            raise ValueError
        return metric.strip().lower(), float(value)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not METRIC=W, as cpu=2", param_hint="--weight") from None


def _check_weights(cluster: Cluster) -> None:
    from forensics.cluster.balance import COUNTED, MEASURED

    known = COUNTED | MEASURED | {m.metric for m in cluster.measures}
    for metric in cluster.weights:
        if metric not in known:
            raise click.BadParameter(f"{metric!r} is none of the metrics there are: {', '.join(sorted(known))}", param_hint="--weight")


def _narrowed(
    report: Report, topics: Sequence[str], partitions: Sequence[int], brokers: Sequence[int], since: datetime | None, until: datetime | None
) -> Report:
    """The report with only the findings asked for and the verdict on the partitions asked for; what is known of the evidence stays whole."""
    from dataclasses import replace

    from forensics.cluster.folding import places

    asked = _asked(topics, partitions)
    there = list(report.findings)
    if topics or partitions:
        there = [f for f in there if any(asked(p.topic, p.partition) for p in places(f))]
    kept = [
        f
        for f in there
        if (not brokers or set(brokers) & set(f.brokers))
        and (since is None or (f.end or f.start) is None or (f.end or f.start or since) >= since)
        and (until is None or f.start is None or f.start <= until)
    ]
    states = [p for p in report.partitions if asked(p["topic"], p["partition"])]
    incidents = [i for i in report.incidents if any(f.incident == i.id for f in kept)]
    return replace(report, findings=kept, incidents=incidents, asked=(there, states))


def _write(report: Report, json_file: str | None) -> None:
    if json_file is not None and write_json(report.json(), json_file):
        return
    from rich.console import Console

    from forensics.views.text import show

    show(report, Console(highlight=False))
