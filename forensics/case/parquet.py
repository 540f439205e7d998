"""The report as Parquet tables, written like those of a case, plus a flat table of findings by partition.

Here: which tables, and the atomic creation of their directory. Not here: columns (forensics.case.tables), or a case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from forensics.case.tables import EXPORTED, PROOF
from forensics.case.write import CaseRefused, Writer, handovers, of_report, outside
from forensics.incidents.folding import places
from forensics.incidents.judging import NAME, PARTITION
from forensics.model.findings import Finding
from forensics.model.message import Range
from forensics.model.rows import Rows
from forensics.output.files import whole_directory
from forensics.views.document import Report


def check(directory: Path, evidence: Iterable[str]) -> None:
    """Raises Refused if the tables cannot be written here; existing tables are replaced, anything else never."""
    outside(directory, evidence)
    if directory.exists() and not (directory.is_dir() and {p.name for p in directory.iterdir()} <= {t.file for t in EXPORTED}):
        raise CaseRefused(f"{directory}: the directory has other files than such tables; give a new or an empty one")


def write(report: Report, directory: Path) -> None:
    told = of_report(report.cluster, report.findings, report.incidents)
    told["partitions"] = _table("partitions", map(dict, report.partitions))
    told[PROOF] = _proof(report.partitions)
    told["places"] = _table("places", (row for n, f in enumerate(report.findings) for row in _places(n, f)))
    with whole_directory(directory, replace=True) as to:
        for table in EXPORTED:
            with Writer(to, table) as writer:
                writer.add(told[table.name])


def _table(name: str, rows: Iterable[dict[str, Any]]) -> pa.Table:
    schema = next(t.schema for t in EXPORTED if t.name == name)
    return pa.Table.from_pylist([{column: row[column] for column in schema.names} for row in rows], schema=schema)


def _proof(partitions: Sequence[Mapping[str, Any]]) -> pa.Table:
    names = [*NAME, PROOF]
    if isinstance(partitions, Rows):
        table = partitions.table(*names)
    else:
        table = pa.Table.from_pylist([{n: p[n] for n in names} for p in partitions], schema=pa.schema([PARTITION.field(n) for n in names]))
    return handovers(table.append_column("cluster", pa.array([0] * len(table), pa.int32())))


def _places(number: int, f: Finding) -> Iterator[dict[str, Any]]:
    of_finding = {"finding": number, "id": f.id, "kind": f.kind, "severity": f.severity, "confidence": f.confidence, "cause": f.cause}
    for p in places(f) or (f.place,):
        there = {name: getattr(p, name) for name in ("topic", "partition", "leader_epoch", "start", "end", "committed")}
        parts: dict[Range | None, dict[str, Any]] = {
            part.offsets: {"committed": part.committed, "confidence": part.confidence} for part in p.parts
        }
        for r in parts or p.offsets or (None,):
            ends = {"first_offset": r.start if r is not None else None, "end_offset": r.end if r is not None else None}
            yield {**of_finding, **there, **parts.get(r, {}), "brokers": list(p.brokers or f.brokers), **ends}
