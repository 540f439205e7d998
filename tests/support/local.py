"""The pipeline's pure parts in one process, without Spark: for tests of parsers, timelines and rules that need no engine.

That Spark gives the same is a test of its own (tests/spark/test_pipeline.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa

from forensics.commands.evidence import Opened
from forensics.commands.inputs import EvidenceInput
from forensics.jobs import MASKS
from forensics.model.clock.gathered import Gathered, is_gathered
from forensics.model.clock.node_clocks import Options
from forensics.model.clock.resolver import EventResolver
from forensics.model.cluster.build import build_cluster
from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, Place
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.timelines import by_partition, identified
from forensics.model.timelines import timelines as built
from forensics.rules import rule_of
from forensics.views.document import Report
from forensics.views.story.assembly import proven
from forensics.views.story.step import Wanted
from parsers import evidence, schemas
from parsers.containers.units import units
from parsers.schemas import EVENTS, Member
from spark.datasets import backend
from spark.in_process import in_process
from spark.pipeline import SparkEvents, blocks


def events_of(*paths: str | Path, log_patterns: Sequence[str] = ()) -> pa.Table:
    batches = [b for unit in units([str(p) for p in paths]) for b in evidence.events(unit, log_patterns)]
    return pa.Table.from_batches(batches, schema=EVENTS).combine_chunks()


def events_of_files(files: Mapping[str, str | bytes]) -> pa.Table:
    """Events of files given by path and content."""
    stated: list[schemas.Rows] = []
    for path, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        stated.extend(evidence.read_source(Member(path, len(data), None), BytesIO(data)))
    return pa.Table.from_batches(list(schemas.batches(stated)), schema=EVENTS)


def gathered(table: pa.Table, options: Options | None = None) -> tuple[Cluster, EventResolver]:
    return build_cluster(Gathered.of(of_cluster(table)), options)


def of_cluster(table: pa.Table) -> pa.Table:
    return table.filter(is_gathered(table))


def timelines(table: pa.Table) -> Iterable[tuple[PartitionTimeline, Cluster]]:
    cluster, resolver = gathered(table)
    for topic, partition, events in by_partition(identified(table, resolver, cluster)):
        yield from built(topic, partition, events, cluster)


def opened(table: pa.Table, options: Options | None = None) -> Opened:
    """Events of evidence, as a command has them that runs without Java."""
    session = in_process()
    read = backend(session).dataset([table]).map_tasks(lambda given: (b for events in given for b in blocks(events.to_batches(), MASKS)))
    events = SparkEvents(read.keep(), backend(session))
    cluster, resolver = build_cluster(Gathered(events.parts_of_cluster), options)
    return Opened([], options or Options(), lambda: events.of_cluster, cluster, resolver, session, events, [])


def report(table: pa.Table, options: Options | None = None) -> Report:
    read = EvidenceInput(opened(table, options))
    read.measure()
    judged = read.conclusion(None)
    return Report(read.cluster, judged.findings, judged.partitions, judged.incidents)


def found_by(kind: str, timeline: PartitionTimeline, cluster: Cluster) -> list[Finding]:
    """What the rule of this kind finds in a partition."""
    judge = rule_of(kind).partition
    assert judge is not None
    return [f if f.topic is not None else f.of_partition(timeline.topic, timeline.partition) for f in judge(timeline, cluster)]


def spread(findings: Iterable[Finding]) -> list[Finding]:
    """One finding a place: what one event did to many partitions is one finding."""
    return [own for f in findings for own in ([_at(f, p) for p in f.places] or [f])]


def _at(f: Finding, p: Place) -> Finding:
    own = {
        k: getattr(p, k)
        for k in (
            "topic",
            "partition",
            "leader_epoch",
            "start",
            "end",
            "offsets",
            "committed",
            "brokers",
            "written",
            "records",
            "parts",
            "salvageable",
            "clients",
        )
    }
    return replace(f, **own, places=(), folds=())


def story_rows(timeline: PartitionTimeline, cluster: Cluster, wanted: Wanted) -> list[Mapping[str, Any]]:
    """The entries of one timeline, in order."""
    return [row["story"] for row in proven(timeline, cluster, wanted) if row.get("story") is not None]
