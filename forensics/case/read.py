"""A case on disk, opened: the cluster, and the rows from which views are made.

Here: the check that it is complete and of this version, and the conversion of each table to the original objects. Not here: the commands,
or the content of case.json (forensics.case.write), whose form is checked here before anything in it is used. No Spark, and no pyspark.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import click
import pyarrow as pa
import pyarrow.compute as pc

from forensics import rule_files
from forensics.case.files import adapted, checked, document, is_marked, parquet
from forensics.case.tables import BY_NAME, CLUSTER_NUMBER, MANIFEST, PROOF, SCHEMA, TABLES, Table
from forensics.incidents.incidents import Incident
from forensics.incidents.judging import NAME, OF_REPORT, OF_VERDICT, PARTITION, STANDING, VERDICTS, Asked, Conclusion, conclude
from forensics.model.clock.gathered import Gathered
from forensics.model.clock.node_clocks import Options
from forensics.model.clock.resolver import EventResolver
from forensics.model.cluster import final_state
from forensics.model.cluster.build import build_cluster
from forensics.model.cluster.facts import Cluster, Measure
from forensics.model.findings import FINDING, MAX_EVIDENCE, Finding
from forensics.model.record import reader
from forensics.model.rows import Rows
from forensics.model.times import grouped
from forensics.output.json_schema import COUNT, INTEGER, NUMBER, TEXT, Schema, by_name, listed, nullable, one_of, record
from forensics.proof.records import HANDOVER
from forensics.tools import checkpoint_diff
from forensics.tools.ordered_records import KEPT, RecordFilter
from forensics.views.headline import EXCLUDED, FOUND, UNSETTLED
from parsers.cached import cached_property
from parsers.own_files import OwnFile
from parsers.schemas import EVENTS, Row

if TYPE_CHECKING:
    import pyarrow.dataset as ds

FAMILY = SCHEMA.rpartition("/")[0]
FREE_QUOTES = 100_000
"""Quotes that the findings of a case may have in addition to MAX_EVIDENCE for each of them."""


class Unreadable(click.ClickException):
    """A case that cannot be used; the message is one line with the reason."""

    exit_code = 2


def is_case(path: Path) -> bool:
    """Whether the directory is marked as a case, of any version."""
    return is_marked(path, MANIFEST, FAMILY)


class Case:
    """Raises Unreadable if the case is incomplete, or of another version."""

    with_records = True
    """Whether log records were kept."""
    added: Sequence[str] = ()
    """Columns of the files besides those of a table."""

    def __init__(self, directory: Path, *, tolerant: bool = False) -> None:
        """`tolerant`: tables and columns may be those of another version of the tool with this schema. What the case lacks is then empty or
        null, and what this version does not know is ignored."""
        self.directory, self.tolerant = directory, tolerant
        with self._readable(MANIFEST):
            self.manifest: dict[str, Any] = self._told()
        if (schema := self.manifest.get("schema")) != SCHEMA:
            raise Unreadable(
                f"{directory}: the case has the schema {schema}, and this version reads {SCHEMA}; make the case again: kafka-forensics analyze "
                f"EVIDENCE --case {directory} --force"
            )
        with self._readable(MANIFEST):
            checked(self.manifest, CASE)
        self._check_tables()
        with self._readable(MANIFEST):
            self.rules = _own_rules(self.manifest["options"].get("rules", ()))
        rule_files.know(self.rules)

    def _told(self) -> dict[str, Any]:
        """Content of case.json."""
        return document(self.directory, MANIFEST)

    def _check_tables(self) -> None:
        for table in self._tables():
            with self._readable(MANIFEST):
                rows = self.manifest["tables"][table.name]["rows"]
            self._check(table.file, table.schema, rows)

    @property
    def verdict(self) -> Mapping[str, Any]:
        """`loss` ("found", "excluded" or "unknown"), `summary` (one line) and `partitions` (number of partitions by verdict)."""
        return dict(self.manifest["verdict"])

    def _tables(self) -> list[Table]:
        """The tables that this case must have."""
        if self.tolerant:
            return [table for table in TABLES if table.name in self.manifest["tables"]]
        return list(TABLES)

    def _check(self, name: str, schema: pa.Schema, rows: int) -> None:
        if not (path := self.directory / name).exists():
            raise Unreadable(f"{self.directory}: the case is incomplete: {name} is missing; analyze the evidence again")
        with self._readable(name), parquet(self.directory, name) as file:
            if not self.tolerant and not file.schema_arrow.equals(schema):
                made = self.manifest["tool"]["version"]
                raise Unreadable(
                    f"{path}: the columns are those of version {made} of the tool; use that version, or analyze the evidence again"
                )
            if file.metadata.num_rows != rows:
                raise Unreadable(f"{path}: the table has {file.metadata.num_rows} rows instead of {rows}; analyze the evidence again")

    def _files(self, table: Table) -> Sequence[str]:
        """Path of the table."""
        return [table.file]

    @contextmanager
    def _readable(self, file: str) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError, KeyError, TypeError) as error:  # ArrowInvalid is a ValueError
            words = " ".join(str(error).split())[:200]
            raise Unreadable(f"{self.directory / file}: damaged ({words}); analyze the evidence again") from None

    def table(self, name: str, columns: Sequence[str] | None = None, topic: str | None = None) -> pa.Table:
        """The table with this name (docs/case.md), or some of its columns. With `topic`, only the row groups that may hold this topic.
        Times are UTC. Raises KeyError for an unknown name, and Unreadable if the file of the table is damaged."""
        if name not in BY_NAME:
            raise KeyError(f"a case has no table {name!r} (tables: {', '.join(BY_NAME)})")
        table = BY_NAME[name]
        wanted = _stored(columns)
        files = self._files(table) if not self.tolerant or name in self.manifest["tables"] else ()
        found = [self._rows(file, table, wanted, topic) for file in files]
        known = table.known(pa.concat_tables(found or [table.schema.empty_table()]))
        return known.select(columns) if columns is not None else known

    def _rows(self, name: str, table: Table, columns: Sequence[str] | None, topic: str | None) -> pa.Table:
        with self._readable(name), parquet(self.directory, name) as file:
            groups = list(range(file.num_row_groups))
            if topic is not None:
                at = table.schema.get_field_index("topic")
                groups = [g for g in groups if _may_hold(file.metadata.row_group(g).column(at).statistics, topic)]
            if not self.tolerant:
                return file.read_row_groups(groups, columns=columns)
            names = columns if columns is not None else [*table.schema.names, *self.added]
            there = [name for name in names if name in file.schema_arrow.names]
            return adapted(file.read_row_groups(groups, columns=there), names, table.schema)

    def dataset(self, name: str) -> ds.Dataset:
        """The table, read when it is used."""
        import pyarrow.dataset as ds

        return ds.dataset([str(self.directory / file) for file in self._files(BY_NAME[name])], BY_NAME[name].schema, format="parquet")

    def batches(self, name: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The table, a piece at a time."""
        for path in self._files(BY_NAME[name]):
            with self._readable(path), parquet(self.directory, path) as file:
                yield from file.iter_batches(batch_size=4096, columns=columns)

    # metadata

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of the evidence, as given on the command line."""
        return tuple(self.manifest["evidence"]["paths"])

    @cached_property
    def _gathered(self) -> tuple[Cluster, EventResolver]:
        with self._readable(MANIFEST):
            given = self.manifest["options"]
            offsets = {int(broker): error for broker, error in given["clock_offsets_ms"].items()}
            zone = ZoneInfo(given["zone_name"]).key if given["zone_name"] is not None else None
            options = Options(given["zone_offset_ms"], zone, offsets)
            root = self.manifest["evidence"]["root"]
        rows = self.table("facts", EVENTS.names)
        paths = pc.binary_join_element_wise(pa.scalar(root), rows["source"], "")
        cluster, resolver = build_cluster(
            Gathered.of(rows.set_column(EVENTS.get_field_index("source"), EVENTS.field("source"), paths)), options
        )
        return cluster, resolver

    @property
    def cluster(self) -> Cluster:
        return self._gathered[0]

    @property
    def resolver(self) -> EventResolver:
        return self._gathered[1]

    def measures(self) -> list[Measure]:
        return [Measure(**row) for row in self.table("measures").to_pylist()]

    # results

    def conclusion(self, asked: Asked | None = None) -> Conclusion:
        """All results; of the results in partitions, only the requested ones. Hand-overs are read when a row is asked for them."""
        if asked is not None or self.cluster.weights:
            with rule_files.only(self.rules):
                found = conclude(verdicts([self.table("judged")], [self.table("partitions")]), self.cluster, asked)
        else:
            columns = dict.fromkeys(f.name for f in (*STANDING, *OF_REPORT) if f.name != PROOF)
            own = self.table("partitions", ["cluster", *columns])
            found = Conclusion(self.findings(), self._incidents(), Rows(own.filter(pc.equal(own["cluster"], self.cluster.number))))
        names = found.partitions.table(*NAME)
        return replace(found, partitions=found.partitions.later(**{PROOF: cache(lambda: self._handovers_of(names))}))

    def _handovers_of(self, names: pa.Table) -> pa.ChunkedArray:
        """The rows of each of these partitions of the cluster at the end."""
        rows = self.table(PROOF)
        return pa.chunked_array([handovers_of(names, rows.filter(pc.equal(rows["cluster"], self.cluster.number)))])

    def findings(self) -> list[Finding]:
        """All findings, in the order of the report."""
        rows, quoted = self.table("finding_details"), self.table("quotes")
        if len(quoted) > FREE_QUOTES + MAX_EVIDENCE * len(rows):
            raise Unreadable(f"{self.directory}: damaged ({len(quoted)} quotes for {len(rows)} findings); analyze the evidence again")
        quotes = grouped((q["finding"], q) for q in quoted.to_pylist())
        read = reader(Finding)
        return [read({**row, "evidence": quotes[row["number"]]}) for row in rows.to_pylist()]

    def _incidents(self) -> list[Incident]:
        return list(map(reader(Incident), self.table("incidents").to_pylist()))

    def records(self, wanted: RecordFilter, *, stated: bool) -> Iterator[Row]:
        """Rows of MERGED in their order; with their events only if `stated`."""
        stated = stated or wanted.of_events
        for batch in self.batches("records", [name for name in KEPT.names if stated or name != "events"]):
            for row in wanted.likely(batch).to_pylist():
                if (shown := wanted.shown({"events": None, **row})) is not None:
                    yield shown

    def around(self, places: Collection[tuple[str, int]], reach: int) -> dict[tuple[str, int], list[tuple[int, str]]]:
        """The records at these lines of these sources, with the records before and after: line and text, in file order."""
        rows = self.table("records", ["source", "number", "line"])
        kept = rows.filter(pc.is_in(rows["source"], pa.array({source for source, _ in places}, pa.string())))
        lines = kept.filter(pc.is_in(kept["line"], pa.array({line for _, line in places}, pa.int64()))).to_pylist()
        found = {(r["source"], r["line"]): r["number"] for r in lines if (r["source"], r["line"]) in places}
        wanted = {(source, n) for (source, _), number in found.items() for n in range(number - reach, number + reach + 1)}
        sources, numbers = pa.array({s for s, _ in wanted}, pa.string()), pa.array({n for _, n in wanted}, pa.int64())
        near: dict[tuple[str, int], tuple[int, str]] = {}
        for batch in self.batches("records", ["source", "number", "line", "text"]) if wanted else ():
            own = batch.filter(pc.and_(pc.is_in(batch["source"], sources), pc.is_in(batch["number"], numbers)))
            near.update(
                {
                    key: (r["line"], r["text"])
                    for r in own.to_pylist()
                    if (key := (r["source"], r["number"])) in wanted and r["line"] is not None
                }
            )
        return {
            (source, line): [near[source, n] for n in range(number - reach, number + reach + 1) if (source, n) in near]
            for (source, line), number in found.items()
        }

    # rows of partitions

    def partitions(self) -> set[tuple[str, int]]:
        """Names of all partitions with events."""
        names = self.table("steps", NAME).group_by(list(NAME)).aggregate([])
        return set(zip(names["topic"].to_pylist(), names["partition"].to_pylist(), strict=True))

    def steps(self, topic: str, partition: int) -> list[dict[str, Any]]:
        return self._of("steps", topic, partition)

    def offsets(self, topic: str, partition: int) -> list[dict[str, Any]]:
        return self._of("offsets", topic, partition)

    def _of(self, name: str, topic: str, partition: int, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
        found = self.table(name, columns, topic)
        own = pc.and_(pc.equal(found["topic"], topic), pc.equal(found["partition"], partition))
        return found.filter(own).to_pylist()  # type: ignore[no-any-return]

    def proof(self, topic: str, partition: int) -> dict[str, Any] | None:
        """The verdict on a partition of the cluster at the end, with the rows of its table of hand-overs."""
        number = self.cluster.number
        own = [r for r in self._of("partitions", topic, partition, [*NAME, "cluster", *OF_VERDICT]) if r["cluster"] == number]
        if not own:
            return None
        rows = [{n: r[n] for n in HANDOVER.names} for r in self._of(PROOF, topic, partition) if r["cluster"] == number]
        verdict = {name: own[0][name] for name in OF_VERDICT}
        return {**verdict, PROOF: rows}

    def standing(self) -> list[dict[str, Any]]:
        return self.table("standing", final_state.SCHEMA.names).to_pylist()  # type: ignore[no-any-return]

    def checkpoints(self) -> list[dict[str, Any]]:
        return self.table("checkpoints", checkpoint_diff.SCHEMA.names).to_pylist()  # type: ignore[no-any-return]


def handovers_of(names: pa.Table, handovers: pa.Table) -> pa.ListArray:
    """For each partition its rows of the table of hand-overs, in their order."""
    places = grouped((key, place) for place, key in enumerate(_names(handovers)))
    own = [places.get(key, []) for key in _names(names)]
    order = list(chain.from_iterable(own))
    rows = handovers.select(HANDOVER.names)
    if order != list(range(len(handovers))):
        rows = rows.take(pa.array(order, pa.int64()))
    offsets = pa.array(accumulate(map(len, own), initial=0), pa.int32())
    return pa.ListArray.from_arrays(offsets, _structs(rows, HANDOVER))


def _names(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    return zip(*(table[name].to_pylist() for name in NAME), strict=True)


def verdicts(judged: Iterable[pa.Table], partitions: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
    """Rows of VERDICTS, of pieces of the tables of these names. No rule reads hand-overs: they are null."""
    for some in judged:
        yield from _verdicts(some["cluster"], finding=_structs(some, FINDING))
    for some in partitions:
        whole = some.append_column(PROOF, pa.nulls(len(some), PARTITION.field(PROOF).type))
        yield from _verdicts(some["cluster"], partition_state=_structs(whole, PARTITION))


def _verdicts(cluster: pa.ChunkedArray, **column: pa.Array) -> list[pa.RecordBatch]:
    rows = pa.table({"cluster": cluster, **{f.name: pa.nulls(len(cluster), f.type) for f in VERDICTS if f.name != "cluster"}, **column})
    return rows.select(VERDICTS.names).cast(VERDICTS).to_batches()  # type: ignore[no-any-return]


def _stored(columns: Sequence[str] | None) -> Sequence[str] | None:
    return columns and [CLUSTER_NUMBER if name == "cluster" else name for name in columns]


def _may_hold(statistics: Any, topic: str) -> bool:
    if statistics is None or not statistics.has_min_max:
        return True
    return bool(statistics.min <= topic <= statistics.max)


def _structs(table: pa.Table, kind: pa.StructType) -> pa.Array:
    columns = [table[f.name].combine_chunks().cast(f.type) for f in kind]
    return pa.StructArray.from_arrays(columns, fields=list(kind))


def _own_rules(rows: Sequence[Mapping[str, str]]) -> tuple[OwnFile, ...]:
    """The user's rules, which are checked again. Most cases have none, and do not wait for the import."""
    if not rows:
        return ()
    from forensics.own_rules import of_rows

    return of_rows(rows)


_DAY_MS = 24 * 3600 * 1000
_BROKER: Schema = {**TEXT, "pattern": r"^-?\d{1,10}$"}
_TEXTS = listed(TEXT)


def _within(most: int) -> Schema:
    return {**INTEGER, "minimum": -most, "maximum": most}


_OPTIONS = record(
    {
        "zone_offset_ms": nullable(_within(_DAY_MS)),
        "zone_name": nullable(TEXT),
        "clock_offsets_ms": by_name(_within(366 * _DAY_MS), _BROKER),
        "log_patterns": _TEXTS,
        "limits": by_name(NUMBER),
        "patterns": listed(record({"path": TEXT, "sha256": TEXT}, others=True)),
        "rules": listed(record({"path": TEXT, "sha256": TEXT, "text": TEXT}, others=True)),
    },
    optional=("limits", "patterns", "rules"),
    others=True,
)
CASE = record(
    {
        "schema": TEXT,
        "tool": record({"version": TEXT, "command": _TEXTS, "rules": TEXT}, others=True),
        "evidence": record({"paths": _TEXTS, "root": TEXT}, others=True),
        "options": _OPTIONS,
        "verdict": record({"loss": one_of((FOUND, EXCLUDED, UNSETTLED)), "summary": TEXT, "partitions": by_name(COUNT)}, others=True),
        "tables": by_name(record({"rows": COUNT}, others=True)),
    },
    others=True,
)
"""Other properties are those of a newer version of the tool with the same schema."""
