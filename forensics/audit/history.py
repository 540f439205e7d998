"""What changed from run to run of an audit: the table of runs, when each finding was first and last in the results, and what is new.

Here: these two tables and what is new since the last run that ended. Not here: which findings of two results are the same (case_diff),
commits (archive), or a sentence about it (views.clusters). None of it depends on the evidence alone, so it is not part of a case.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from forensics.case.files import parquet
from forensics.case.read import Case
from forensics.model.findings import LEVELS, Finding
from forensics.model.message import timestamp
from forensics.model.times import grouped
from forensics.output.version import version
from forensics.tools.case_diff import AS_BAD, pairs
from forensics.views.document import rules_digest
from forensics.views.runs import LISTED, RUNS, SEEN
from forensics.words import summary
from parsers.schemas import Row

TABLES = {"runs": RUNS, "seen": SEEN}


NIGHTS = 62
"""Days of a calendar."""


@dataclass(frozen=True)
class Results:
    """What is compared of a cluster."""

    findings: Sequence[Finding] = ()
    verdicts: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """By partition of the cluster at the end."""


def results(case: Case) -> Results:
    rows = case.table("partitions", ["cluster", "topic", "partition", "verdict"]).to_pylist()
    return Results(case.findings(), {(r["topic"], r["partition"]): r["verdict"] for r in rows if not r["cluster"]})


class History:
    """The two tables. `directory`: of the audit. `known`: its entry in the manifest, if it has one. Raises OSError or ValueError if
    a table is damaged."""

    def __init__(self, directory: Path, known: Mapping[str, Any] | None) -> None:
        self.files: dict[str, str] = dict(known["files"]) if known else {}
        self.runs: list[Row] = _rows(directory, self.files.get("runs"))
        self.seen: dict[tuple[str, str], Row] = {(row["cluster"], row["finding"]): row for row in _rows(directory, self.files.get("seen"))}
        self.worse: dict[str, int] = dict.fromkeys(AS_BAD, 0) | (dict(known["worse"]) if known else {})
        """Partitions that became lost, tail-cut or unknown since the last run that ended before this one."""
        self.partitions: list[dict[str, Any]] = list(known["partitions"]) if known else []
        """The first of them: cluster, topic, partition, verdict before (null: none) and after."""
        self.accepted: dict[tuple[str, str], dict[str, str]] = {}
        """Why and since when findings are accepted, by cluster and id."""

    def accept(self, cluster: str, entries: Mapping[str, dict[str, str]]) -> None:
        """These findings of a cluster, by id, are not new. The values are the reason and the date."""
        self.accepted |= {(cluster, id): entry for id, entry in entries.items()}

    # a run

    def begin(self) -> None:
        """Starts a run. If a run is killed, the next one reports the same news again."""
        if not self.runs or self.runs[-1]["ended"] is not None:
            self.worse, self.partitions = dict.fromkeys(AS_BAD, 0), []
        now = _now()
        last = max((row["started"] for row in self.runs), default=now)
        row = {
            **dict.fromkeys(RUNS.names),
            "run": len(self.runs) + 1,
            "started": max(now, last),
            "version": version(),
            "rules": rules_digest(),
        }
        self.runs.append(row)

    def end(self, **counts: int) -> None:
        """Ends the run. `counts`: files, read, bytes, clusters, judged, failed."""
        run, now = self.runs[-1], _now()
        changes = {name: len(rows) for name, rows in self._changed().items()}
        findings = sum(row["gone"] is None for row in self.seen.values())
        seconds = round(max((now - run["started"]).total_seconds(), 0.0), 3)
        run.update(ended=max(now, run["started"]), seconds=seconds, findings=findings, **changes, **counts)

    def judged(self, cluster: str, before: Results | None, after: Results) -> None:
        """Compares the results of a cluster with the results it had. `before` None: these cannot be read, and findings are compared by
        id."""
        at = self.runs[-1]["started"]
        if before is None:
            self._judged_by_id(cluster, after.findings, at)
            return
        known = {f.id: self.seen.pop((cluster, f.id), None) for f in before.findings}
        old = {id(new): f for f, new in pairs(before.findings, after.findings)}
        now: dict[tuple[str, str], Row] = {}
        for f in after.findings:
            was = old.get(id(f))
            row = known.pop(was.id, None) if was is not None else self.seen.get((cluster, f.id))
            now[cluster, f.id] = self._row(cluster, f, was, row, at)
        for row in filter(None, known.values()):
            self.seen[cluster, row["finding"]] = {**row, "gone": at}
        self.seen |= now
        self._compare(cluster, before.verdicts, after.verdicts)

    def _judged_by_id(self, cluster: str, findings: Sequence[Finding], at: datetime) -> None:
        now = {f.id: f for f in findings}
        for (name, finding), row in self.seen.items():
            if name == cluster and row["gone"] is None and finding not in now:
                row["gone"] = at
        for f in findings:
            self.seen[cluster, f.id] = self._row(cluster, f, None, self.seen.get((cluster, f.id)), at)

    def without(self, cluster: str) -> None:
        """For a cluster that is no longer in the archive."""
        for row in self.seen.values():
            if row["cluster"] == cluster and row["gone"] is None:
                row["gone"] = self.runs[-1]["started"]

    def _row(self, cluster: str, f: Finding, was: Finding | None, row: Row | None, at: datetime) -> Row:
        again = row is None or row["gone"] is not None
        raised = row is not None and not again and LEVELS.index(f.severity) > LEVELS.index(row["severity"])
        return {
            "cluster": cluster,
            "finding": f.id,
            "kind": f.kind,
            "severity": f.severity,
            "severity_before": None if row is None or again else row["severity" if raised else "severity_before"],
            "summary": summary(f),
            "first_seen": row["first_seen"] if row is not None else at,
            "last_seen": at,
            "new": at if raised or row is None or again else row["new"],
            "resolved": at if was is not None and was.end is None and f.end is not None else row["resolved"] if row is not None else None,
            "gone": None,
        }

    def _compare(self, cluster: str, before: Mapping[tuple[str, int], str], after: Mapping[tuple[str, int], str]) -> None:
        for (topic, partition), verdict in sorted(after.items()):
            was = before.get((topic, partition))
            if verdict in AS_BAD and was not in AS_BAD[verdict]:
                self.worse[verdict] += 1
                if len(self.partitions) < LISTED:
                    named = {"cluster": cluster, "topic": topic, "partition": partition}
                    self.partitions.append({**named, "before": was, "after": verdict})

    # what changed

    @property
    def before(self) -> datetime | None:
        """Start of the last run that ended before the last one; None if there was none."""
        return max((row["started"] for row in self.runs[:-1] if row["ended"] is not None), default=None)

    def _changed(self) -> dict[str, list[Row]]:
        """The findings that are new, resolved and gone since the last run that ended."""
        since = next((row["started"] for row in self._since()), None)
        if since is None:
            return {"new": [], "resolved": [], "gone": []}
        present = [row for key, row in self.seen.items() if row["gone"] is None and key not in self.accepted]
        return {
            "new": [row for row in present if row["new"] >= since],
            "resolved": [row for row in present if row["resolved"] is not None and row["resolved"] >= since and row["new"] < since],
            "gone": [row for row in self.seen.values() if row["gone"] is not None and row["gone"] >= since and row["first_seen"] < since],
        }

    def _since(self) -> Iterator[Row]:
        """The last run, and the runs before it that did not end, back to the last run that ended."""
        ended = [n for n, row in enumerate(self.runs[:-1]) if row["ended"] is not None]
        yield from self.runs[ended[-1] + 1 if ended else 0 :]

    def document(self) -> dict[str, Any]:
        """The last run and what it changed, as JSON values, for the summary of the audit."""
        changed = {name: [_brief(row) for row in sorted(rows, key=_urgency)] for name, rows in self._changed().items()}
        run = _brief(self.runs[-1]) if self.runs else None
        named = [{"cluster": cluster, "finding": id, **why} for (cluster, id), why in sorted(self.accepted.items())]
        return {
            "run": run,
            "before": timestamp(self.before),
            **changed,
            "accepted": named,
            "worse": dict(self.worse),
            "worse_partitions": list(self.partitions),
        }

    def calendar(self) -> tuple[list[str], dict[str, list[str | None]]]:
        """The days of the last NIGHTS runs that ended, the last run of each day, and for each cluster the highest severity on each of them;
        "" without a finding, None before the first."""
        days = {row["started"].date().isoformat(): row["started"] for row in self.runs if row["ended"] is not None}
        nights = sorted(days.items())[-NIGHTS:]
        of = grouped((cluster, row) for (cluster, _), row in self.seen.items())
        return [day for day, _ in nights], {cluster: [_worst(of[cluster], at) for _, at in nights] for cluster in sorted(of)}

    def fails(self, on: str) -> bool:
        """Whether a finding of this severity or above is new, or partitions became as bad as this verdict."""
        if on in LEVELS:
            return any(LEVELS.index(row["severity"]) >= LEVELS.index(on) > _before(row) for row in self._changed()["new"])
        return any(self.worse[verdict] for verdict in AS_BAD[on])

    # files

    def write(self) -> dict[str, bytes]:
        """The content of the files of both tables by their paths in the audit, which are digests of it."""
        for row in self.seen.values():
            if row["gone"] is None and self.runs:
                row["last_seen"] = self.runs[-1]["started"]
        rows = {"runs": self.runs, "seen": [self.seen[key] for key in sorted(self.seen)]}
        contents = {}
        for name, schema in TABLES.items():
            out = pa.BufferOutputStream()
            pq.write_table(pa.Table.from_pylist(rows[name], schema=schema), out, compression="zstd")
            data = out.getvalue().to_pybytes()
            self.files[name] = f"{name}/{hashlib.sha256(data).hexdigest()[:32]}.parquet"
            contents[self.files[name]] = data
        return contents

    def entry(self) -> dict[str, Any]:
        """For the manifest."""
        return {"files": self.files, "worse": self.worse, "partitions": self.partitions}


def _worst(rows: Sequence[Row], at: datetime) -> str | None:
    if all(row["first_seen"] > at for row in rows):
        return None
    there = [row["severity"] for row in rows if row["first_seen"] <= at and (row["gone"] is None or row["gone"] > at)]
    return max(there, key=LEVELS.index, default="")


def _before(row: Row) -> int:
    """The severity that a new finding had before, as its place in LEVELS; -1 if there was no such finding."""
    return LEVELS.index(row["severity_before"]) if row["severity_before"] is not None else -1


def _rows(directory: Path, file: str | None) -> list[Row]:
    if file is None:
        return []
    with parquet(directory, file) as opened:
        return opened.read().to_pylist()  # type: ignore[no-any-return]


def _brief(row: Row) -> dict[str, Any]:
    return {name: timestamp(value) if isinstance(value, datetime) else value for name, value in row.items()}


def _urgency(row: Row) -> tuple[Any, ...]:
    return -LEVELS.index(row["severity"]), row["cluster"], row["finding"]


def _now() -> datetime:
    return datetime.now(timezone.utc).replace(tzinfo=None)
