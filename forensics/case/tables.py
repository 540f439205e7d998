"""The tables of a case: the content, columns and order of each.

Here: names, Arrow schemas with a doc for every column, and the version of all tables. Not here: the source of the rows (judge, write), the
files (write, read), or the page about them (reference).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from forensics.incidents.incidents import Incident
from forensics.incidents.judging import FACTS, STANDING
from forensics.model.clock.sources import Source
from forensics.model.cluster import final_state
from forensics.model.cluster.facts import Measure
from forensics.model.cluster.names import Name
from forensics.model.events import IDENTIFIED
from forensics.model.findings import CLUSTER_DOC, FINDING, Evidence, Finding
from forensics.model.message import said
from forensics.model.partition import offsets
from forensics.model.presence import broker_states
from forensics.model.presence.broker_states import StateSpan
from forensics.model.record import columns, struct
from forensics.proof.records import HANDOVER
from forensics.tools import checkpoint_diff
from forensics.tools.ordered_records import KEPT
from forensics.views.story.step import STEPS
from forensics.words import text
from parsers.schemas import EVENTS, documented

SCHEMA = "kafka-forensics/case/4"
MANIFEST = "case.json"
PROOF = "handovers"
"""The table with the proof of each verdict, and the column of a partition's row that holds its part of that table."""
CLUSTER_NUMBER = "cluster_number"
"""Name on disk of the column `cluster`: in the tables of an audit, `cluster` is the name of the cluster."""


@dataclass(frozen=True)
class Table:
    name: str
    doc: str
    schema: pa.Schema
    """Every field has a doc."""
    day: str | None = None
    """The column with the time by which audits partition the rows; None: all rows belong to the day on which the evidence ends."""

    @property
    def file(self) -> str:
        return f"{self.name}.parquet"

    def stored(self, rows: pa.Table) -> pa.Table:
        """Rows in the form in which they are written."""
        names = [CLUSTER_NUMBER if name == "cluster" else name for name in rows.column_names]
        return rows.rename_columns(names).select(self.schema.names).cast(self.schema)

    def known(self, rows: pa.Table) -> pa.Table:
        """A stored row in the form in which it is used."""
        return rows.rename_columns(["cluster" if name == CLUSTER_NUMBER else name for name in rows.column_names])


_TIME = pa.timestamp("us")
_PARTITION_KEY = (
    documented("topic", pa.string(), "topic name"),
    documented("partition", pa.int32(), "partition index"),
    documented(CLUSTER_NUMBER, pa.int32(), CLUSTER_DOC),
)

_WORDS = (
    documented("summary", pa.string(), "one line"),
    documented("explanation", pa.string(), "how the evidence shows it"),
    documented("next_steps", pa.list_(pa.string()), "next steps"),
)
"""Columns of the words of a finding."""


def _without(fields: pa.StructType | pa.Schema, *names: str) -> list[pa.Field]:
    return [f for f in fields if f.name not in names]


def _of(record: type, *names: str) -> list[pa.Field]:
    """The columns of these fields of a record, in this order; without names all of them."""
    own = columns(record)
    return [own[name].with_name(CLUSTER_NUMBER) if name == "cluster" else own[name] for name in names or own]


BROKER_STATES = "; ".join(f"{state}: {text(said(f'broker-state/{state}'))}" for state in broker_states.STATES)
TABLES = (
    Table(
        "sources",
        "The evidence: a row for each file, a row of kind `archive` for each archive that contained files, and a row of kind `ignored` for each "
        "file that was not read (with its path from the top of the evidence).",
        pa.schema(_of(Source)),
        day="last",
    ),
    Table(
        "brokers",
        "The nodes of each cluster, controllers included.",
        pa.schema(
            [
                documented(CLUSTER_NUMBER, pa.int32(), CLUSTER_DOC),
                documented("id", pa.int32(), "node id"),
                documented("role", pa.string(), "broker or controller (only that)"),
                documented("version", pa.string(), "Kafka's version, as the node last printed it"),
                documented("timezone", pa.string(), "time zone of its clock"),
                documented("clock_offset_ms", pa.int64(), "error of its clock in ms, without the time zone; positive: the clock is ahead"),
                documented("clock_basis", pa.string(), "evidence for the clock"),
                documented("clock_uncertainty_ms", pa.int64(), "uncertainty of the clock in ms"),
                documented("collections", pa.list_(pa.string()), "its collections, oldest first"),
                documented("names", pa.list_(struct(Name)), "the names by which the evidence calls it"),
                documented(
                    "runs",
                    pa.list_(pa.struct([("begin", _TIME), ("end", _TIME), ("outcome", pa.string())])),
                    "runs of the node, from start to stop or crash (UTC); null if unknown",
                ),
            ]
        ),
    ),
    Table(
        "broker_states",
        "States of each node over time. States of one node may overlap: it can be up, fenced and the controller at the same time.",
        pa.schema(
            [f.with_metadata({"doc": BROKER_STATES}) if f.name == "state" else f for f in _of(StateSpan)],
        ),
        day="start",
    ),
    Table(
        "facts",
        "Statements about the cluster as a whole, in the order of the files: restarts, controller elections, settings, topics, sources. "
        "When a case is opened, everything outside partitions is computed from these rows.",
        pa.schema(
            [*EVENTS, *(f.with_name(CLUSTER_NUMBER) if f.name == "cluster" else f for f in IDENTIFIED if f.name not in EVENTS.names)]
        ),
        day="at",
    ),
    Table(
        "measures",
        "Load as the user measured it, the mean by broker and metric.",
        pa.schema(_of(Measure)),
    ),
    Table(
        "partitions",
        "Each partition at the end of the evidence: state, verdict, and the facts that rules read.",
        pa.schema(
            [*_PARTITION_KEY, *_without(STANDING, "topic", "partition", PROOF), *(documented(f.name, f.type, f.meaning) for f in FACTS)]
        ),
    ),
    Table(
        PROOF,
        "The proof of each verdict: a row for each hand-over of a partition, in order. A cell holds what is still possible: offsets as an interval "
        "(`at_most` null: no upper bound) with the evidence of its bounds (`text` only if the partition is not intact), everything else as a list "
        "of words. `kafka-forensics verify CASE --proof` computes the verdicts again from these rows alone.",
        pa.schema([*_PARTITION_KEY, *HANDOVER]),
    ),
    Table(
        "judged",
        "Findings of the rules in single partitions, before those with one cause were merged into one.",
        pa.schema(_of(Finding, *(f.name for f in FINDING))),
        day="start",
    ),
    Table(
        "standing",
        "Assignment, leader and ISR of each partition that still exists; the command `plan` starts from them.",
        pa.schema([*_PARTITION_KEY, *_without(final_state.SCHEMA, "topic", "partition")]),
    ),
    Table(
        "checkpoints",
        "The checkpoint and epoch files of all replicas, compared.",
        pa.schema([*_PARTITION_KEY, *_without(checkpoint_diff.SCHEMA, "topic", "partition")]),
    ),
    Table("steps", "The timeline of each partition, complete and unfolded.", pa.schema([*_PARTITION_KEY, *STEPS]), day="time"),
    Table(
        "offsets",
        "Log end offset and high watermark of each replica, as its own lines and files state them, and the records that it lost.",
        pa.schema([*_PARTITION_KEY, *offsets.SCHEMA]),
        day="time",
    ),
    Table("records", "All log records of all brokers in order of time; a record with several copies appears once.", KEPT, day="key"),
    Table(
        "findings",
        "Each finding in each partition, a row for each range of offsets, in the order of the report; a finding about no partition is one row. "
        "Only lists of brokers are nested.",
        pa.schema(
            [
                documented("number", pa.int32(), "position of the finding in the report, from 0; the same in all its rows"),
                documented("id", pa.string(), "identifier of the finding; the same evidence gives the same one"),
                *_of(Finding, "incident", "kind", "severity", "confidence", "topic", "partition", "brokers", "leader_epoch"),
                *_of(Finding, "start", "start_latest", "end"),
                documented("first_offset", pa.int64(), "first offset of the range; null without a range"),
                documented("end_offset", pa.int64(), "offset after the last one of the range; null if unknown"),
                *_of(Finding, "committed", "cause", "cluster"),
                _WORDS[0],
            ]
        ),
        day="start",
    ),
    Table(
        "finding_details",
        "All that is known of each finding, a row for each, in the order of the report. If a finding is about several partitions, `topic` and "
        "`partition` are null, and `places` has them.",
        pa.schema(
            [
                documented("number", pa.int32(), "position in the report, from 0"),
                documented("id", pa.string(), "identifier; the same evidence gives the same one"),
                *_of(Finding, "incident", *(f.name for f in FINDING if f.name != "evidence")),
                *_WORDS,
                *_of(Finding, "folds", "places"),
            ]
        ),
        day="start",
    ),
    Table(
        "incidents",
        "Incidents, each a cause with its consequences, in the order of the report.",
        pa.schema(
            [
                documented("number", pa.int32(), "position in the report, from 0"),
                *_of(Incident, "id", "kind", "severity", "brokers", "start", "start_latest", "end"),
                *_WORDS[:2],
                *_of(Incident, "values", "findings", "cluster"),
            ]
        ),
        day="start",
    ),
    Table(
        "quotes",
        "The evidence that findings quote.",
        pa.schema(
            [
                documented("finding", pa.int32(), "`number` of the finding"),
                documented("number", pa.int32(), "position among the quotes of the finding, from 0"),
                *_of(Evidence),
            ]
        ),
        day="finding",
    ),
)
BY_NAME: Mapping[str, Table] = {t.name: t for t in TABLES}
