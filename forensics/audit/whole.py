"""Judges a whole cluster of an archive in one task, from the kept rows of its files, and writes the files of its tables.

Here: the way from kept rows to the entry of an audit, without Spark. Not here: judging, or a case's tables (judge, write); which clusters
are small enough for one task (forensics.commands.audit).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics import rule_files
from forensics.audit.archive import ClusterSources
from forensics.audit.audited import KEPT
from forensics.audit.dated import parted
from forensics.audit.kept import events_of, records_of
from forensics.case.judge import ROW, judge
from forensics.case.tables import MANIFEST
from forensics.case.write import Origin, write
from forensics.incidents.judging import Conclusion
from forensics.model.clock.gathered import Gathered, is_gathered
from forensics.model.cluster.balance import measures, sums
from forensics.model.cluster.build import build_cluster
from forensics.model.cluster.facts import Cluster
from forensics.model.timelines import identified, judged
from forensics.tools.ordered_records import merger
from forensics.views.clusters import brief
from spark.failures import NO_ROOM


@dataclass(frozen=True)
class Work:
    """A cluster to be judged."""

    sources: ClusterSources
    directory: Path
    """Options of the audit."""
    staged: Path
    """Where the files of its tables wait to be committed."""
    origin: Origin


@dataclass(frozen=True)
class Judged:
    """The result: its entry, or the error."""

    name: str
    entry: dict[str, Any] | None
    problem: str | None = None


def judged_whole(work: Work) -> Judged:
    """Raises OSError only if the disk is full: any other failure in one cluster must not affect the others."""
    rule_files.put_in_force(work.origin.rules)
    try:
        with case_directory(work) as to:
            return Judged(work.sources.name, entry(work, to, *_written(work, to)))
    except OSError as error:
        if error.errno in NO_ROOM:
            raise OSError(error.errno, os.strerror(error.errno), str(work.directory)) from None
        return failed(work, error)
    except Exception as error:
        return failed(work, error)


def failed(work: Work, error: Exception) -> Judged:
    """Message for a cluster that could not be judged."""
    return Judged(work.sources.name, None, " ".join(f"{type(error).__name__}: {error}".split())[:300])


def _written(work: Work, to: Path) -> tuple[Conclusion, Cluster]:
    kept = str(work.directory / KEPT)
    events = events_of(work.sources.events, kept)
    gathered = events.filter(is_gathered(events))
    cluster, resolver = build_cluster(Gathered.of(gathered), work.origin.options)
    named = (resolver.apply(b) for b in events.filter(pc.equal(events["event"], "load-metric")).to_batches())
    cluster.measures = measures(row for batch in sums(named) for row in batch.to_pylist())
    rows = judged(identified(events, resolver, cluster), cluster, judge(cluster), ROW)
    records: Iterator[pa.RecordBatch] = iter(())
    if work.sources.records:
        records = records_of(work.sources.records, kept, merger(cluster, resolver, None, work.origin.log_patterns))
    return write(to, work.origin, gathered, cluster, resolver, rows, records), cluster


@contextmanager
def case_directory(work: Work) -> Iterator[Path]:
    """A directory for the case until it becomes part of the audit."""
    shutil.rmtree(work.staged, ignore_errors=True)
    to = work.staged / "case"
    to.mkdir(parents=True)
    try:
        yield to
    finally:
        shutil.rmtree(to, ignore_errors=True)


def entry(work: Work, case: Path, conclusion: Conclusion, cluster: Cluster) -> dict[str, Any]:
    """The audit's data on a cluster whose case was written: its manifest, the files of its tables, its results in short."""
    manifest = json.loads((case / MANIFEST).read_bytes())
    tables = parted(case, work.staged, manifest["evidence"]["root"])
    return {"cluster": work.sources.name, "case": manifest, "tables": tables, "summary": brief(conclusion, cluster)}
