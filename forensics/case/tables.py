"""The tables of a case: the content, columns and order of each.

Here: names, Arrow schemas with a doc for every column, and the version of all tables. Not here: the source of the rows (judge, write), the
files (write, read), or the page about them (reference).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa

from forensics.incidents.judging import FACTS, STANDING
from forensics.model.cluster import broker_states, final_state
from forensics.model.events import IDENTIFIED
from forensics.model.findings import CLIENTS, FINDING, SALVAGEABLE
from forensics.model.partition import offsets
from forensics.proof.records import HANDOVER
from forensics.tools import checkpoint_diff as checkpoint_diff
from forensics.tools.ordered_records import KEPT
from forensics.views.story.step import STEPS
from parsers.schemas import EVENTS, documented

SCHEMA = "kafka-forensics/case/1"
MANIFEST = "case.json"
PROOF = "handovers"
"""The table with the proof of each verdict, and the column of a partition's row that holds its part of that table. Older cases have neither."""
INCARNATION = "incarnation"
"""Name on disk of the column `cluster`, because audits use that name for the cluster's name."""
CLUSTER_DOC = "which of the clusters that lived on these brokers: 0 the one at the end, -1 the one before it, and so on"


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
        names = [INCARNATION if name == "cluster" else name for name in rows.column_names]
        return rows.rename_columns(names).select(self.schema.names).cast(self.schema)

    def known(self, rows: pa.Table) -> pa.Table:
        """A stored row in the form in which it is used."""
        return rows.rename_columns(["cluster" if name == INCARNATION else name for name in rows.column_names])


_TIME = pa.timestamp("us")
_INTS = pa.list_(pa.int32())
_RANGES = FINDING.field("offsets").type
_PARTITION_KEY = (
    documented("topic", pa.string(), "topic name"),
    documented("partition", pa.int32(), "partition index"),
    documented(INCARNATION, pa.int32(), CLUSTER_DOC),
)

_DOCS: Mapping[str, str] = MappingProxyType(
    {
        "topic": "topic name; null where the finding is of no single partition",
        "partition": "partition index; null where the finding is of no single partition",
        "topic_id": "topic id, where it is known",
        "cluster": CLUSTER_DOC,
        "generation": "which topic of this name: 0 the last one, -1 the one deleted before it, and so on",
        "replicas": "assigned replicas, the preferred leader first; null or empty where no evidence names them",
        "leader": "leader at the end; -1 is none, null not known",
        "isr": "in-sync replicas at the end",
        "leader_epoch": "leader epoch",
        "log_end_offset": "log end offset (LEO) of the leader, where it is known",
        "high_watermark": "high watermark (HW), where it is known",
        "low_watermark": "below it records were deleted on request (DeleteRecords)",
        "verdict": "partitions: lost, tail-cut, intact or unknown; checkpoints: odd, differ, agree or single",
        "since": "what the verdict is about begins here (UTC)",
        "until": "and ends here (UTC)",
        "why": "why it is the verdict, or what would settle it",
        "from_creation": "the verdict reaches back to the partition's creation",
        "leaderless": "since when it has no leader (UTC), where it has none",
        "moving": "a reassignment is under way",
        "ends": "how far each replica's log is known to have reached; only without a leader",
        "moved": "offsets or epochs changed between two collections",
        "copies": "what each collection of each broker holds of the partition",
        "remarks": "what is odd or worth knowing of a broker's copy",
        "changes": "what changed between two collections of a broker",
        "kind": "kind of the finding, as `kafka-forensics rules` lists them",
        "severity": "critical, high, medium, low or info",
        "confidence": "certain, probable or possible",
        "brokers": "the brokers it is about",
        "start": "when it began (UTC)",
        "end": "when it ended (UTC); null where it had not, or nothing tells",
        "offsets": "offsets from start to end (exclusive; null: nobody knows how far)",
        "committed": "whether the records were committed; null where nobody knows",
        "cause": "cause, of kinds that have several",
        "summary": "one line",
        "explanation": "how it is known",
        "next_steps": "what to do",
        "still_on": "brokers on whose disks the lost records still lie",
        "salvageable": "what the disks that were collected still hold of what is lost, and where the rest might lie; null of what is no loss",
        "clients": "what a loss does to consumer groups: what each had read of it, and what it is not given",
        "evidence": "what is quoted: source, line, byte and text",
    }
)


_HANDOVER_DOCS: Mapping[str, str] = MappingProxyType(
    {
        "row": "number of the hand-over within the partition, from 0, in the order of leader epochs",
        "kind": "begin (first leader in the evidence), leader-change, restart (same leader epoch, new process) or end (of the evidence)",
        "at": "time of the hand-over (UTC); null if unknown",
        "leader_epoch": "leader epoch that begins",
        "restart": "number of the leader's process within this leader epoch, from 0",
        "old_leader": "leader before; null in the first row",
        "new_leader": "leader from here on",
        "unseen": "number of leader epochs and ISR changes since the row before that no evidence shows",
        "old_log_end": "log end offset of the old leader when it followed the new one",
        "new_log_end": "log end offset of the new leader when it took over; in the last row: of the leader's log on disk",
        "high_watermark": "highest high watermark before the hand-over",
        "election": "where the new leader was when it was elected: in-isr, eligible (ELR, KIP-966) or outside",
        "untraced_cuts": "yes: records were cut off a log, and it is unknown whether the leader had them",
        "process": "process of the new leader since it last had all committed records: kept-running, stopped (cleanly) or crashed",
        "log": "log of the new leader in that time: kept, recovered (an unflushed tail is gone), damaged (cut at damaged records), "
        "cut-to-high-watermark or wiped",
        "had_all": "yes: the new leader had every committed record when it took over",
        "sole_commit": "yes: the old leader was the whole ISR, so it committed everything that it appended",
        "sole_restart": "restarts of the only in-sync replica since the row before: none, clean or unclean",
        "sole_end_lost": "yes: the only in-sync replica lost the end of its own log, and no evidence shows where that end was",
        "resent": "yes: producers sent the removed records again, or never got an acknowledgement for them",
        "truncation": "how followers cut their logs: by leader-epoch (KIP-101), or to their high-watermark (before 0.11)",
        "removed": "records that a log had and the new leader's log did not have: offsets from `start` to before `end`, by which broker and how; "
        "`exact_end`: that log did not go on; `earlier`: all were written before this hand-over; `here`: lost in this hand-over, not in a later "
        "one; `foreign`: of another topic or cluster of this name; `likely_start`: probably gone from this offset on",
        "resent_because": "why the removed records were probably sent again",
        "premises": "premises that do not hold, with the reason; nothing that rests on them narrows a cell",
        "contradictions": "statements about the partition that cannot all be true",
        "decides": "cells of this row that leave the verdict open, each as `cell: what is missing`",
    }
)


def _handover_columns() -> list[pa.Field]:
    return [documented(f.name, f.type, _HANDOVER_DOCS[f.name]) for f in HANDOVER]


def _told(fields: pa.StructType | pa.Schema, *but: str) -> list[pa.Field]:
    return [documented(INCARNATION if f.name == "cluster" else f.name, f.type, _DOCS[f.name]) for f in fields if f.name not in but]


PLACES = pa.list_(
    pa.struct(
        [
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("leader_epoch", pa.int32()),
            ("start", _TIME),
            ("end", _TIME),
            ("offsets", _RANGES),
            ("committed", pa.bool_()),
            ("brokers", _INTS),
            ("times", pa.int32()),
            ("salvageable", SALVAGEABLE),
            ("clients", CLIENTS),
        ]
    )
)

TABLES = (
    Table(
        "sources",
        "What was collected, a row for each file, and one (kind archive) for each archive they lay in.",
        pa.schema(
            [
                documented("path", pa.string(), "path inside the evidence; containers joined with '/'"),
                documented("kind", pa.string(), "what it is: server-log, hw-checkpoint, segment, …"),
                documented("broker", pa.int32(), "whose it is; null where nobody knows, or where several write to it"),
                documented("shared", _INTS, "brokers that write to it together"),
                documented("collection", pa.string(), "top directory of the collection it belongs to; a broker may have several"),
                documented("bytes", pa.int64(), "its size"),
                documented("sha256", pa.string(), "its digest"),
                documented("modified", _TIME, "modification time, UTC; null where it tells nothing"),
                documented("lines", pa.int64(), "lines of a log"),
                documented("unrecognised", pa.int64(), "relevant lines that were not recognised"),
                documented("samples", pa.list_(pa.string()), "some of those lines"),
                documented("first", _TIME, "time of its first line, UTC"),
                documented("last", _TIME, "time of its last line, UTC"),
                documented("layout", pa.string(), "conversion patterns learned from its lines, one a line"),
                documented("problem", pa.string(), "why it could not be read, or not whole"),
            ]
        ),
        day="last",
    ),
    Table(
        "brokers",
        "The nodes of each cluster, controllers included.",
        pa.schema(
            [
                documented(INCARNATION, pa.int32(), CLUSTER_DOC),
                documented("id", pa.int32(), "node id"),
                documented("role", pa.string(), "broker or controller (only that)"),
                documented("version", pa.string(), "Kafka's version, as it printed it last"),
                documented("timezone", pa.string(), "zone of its clock"),
                documented("clock_offset_ms", pa.int64(), "by how much its clock is fast, the zone aside"),
                documented("clock_basis", pa.string(), "where the clock is known from"),
                documented("clock_uncertainty_ms", pa.int64(), "how sure that is"),
                documented("collections", pa.list_(pa.string()), "its collections, oldest first"),
                documented(
                    "lives",
                    pa.list_(pa.struct([("begin", _TIME), ("end", _TIME), ("outcome", pa.string())])),
                    "from start to stop or crash (UTC); null where nothing tells",
                ),
            ]
        ),
    ),
    Table(
        "broker_states",
        "What each node was doing over time; spans of one node may overlap, as it may be up, fenced and the controller.",
        pa.schema(
            [
                documented(INCARNATION, pa.int32(), CLUSTER_DOC),
                documented("broker", pa.int32(), "node id"),
                documented("state", pa.string(), "; ".join(f"{state}: {words}" for state, words in broker_states.STATES.items())),
                documented("start", _TIME, "from when on (UTC); null: since before the evidence"),
                documented("end", _TIME, "to when (UTC); null: to the end of the evidence"),
                documented("words", pa.string(), "what more there is to say"),
                documented("evidence", FINDING.field("evidence").type, "what is quoted: source, line, byte and text"),
            ]
        ),
        day="start",
    ),
    Table(
        "facts",
        "What is stated of the cluster as a whole: restarts, elections of controllers, settings, topics, sources, in the order of the files. "
        "From these rows everything outside partitions is known again when a case is opened.",
        pa.schema([*EVENTS, *(f.with_name(INCARNATION) if f.name == "cluster" else f for f in IDENTIFIED if f.name not in EVENTS.names)]),
        day="at",
    ),
    Table(
        "measures",
        "Load as the user measured it, the mean by broker and metric.",
        pa.schema(
            [
                documented("broker", pa.int32(), "broker"),
                documented("metric", pa.string(), "column of the CSV of load metrics"),
                documented("mean", pa.float64(), "mean of its values"),
                documented("count", pa.int64(), "how many there are"),
                documented("source", pa.string(), "file of the first"),
                documented("line", pa.int64(), "its line"),
                documented("byte", pa.int64(), "its byte"),
                documented("text", pa.string(), "its text"),
            ]
        ),
    ),
    Table(
        "partitions",
        "How each partition stands at the end, the verdict on it, and what rules read of it.",
        pa.schema(
            [*_PARTITION_KEY, *_told(STANDING, "topic", "partition", PROOF), *(documented(f.name, f.type, f.meaning) for f in FACTS)]
        ),
    ),
    Table(
        PROOF,
        "The proof of each verdict: a row for each hand-over of a partition, in order. A cell holds what is still possible: offsets as an interval "
        "(`at_most` null: no upper bound) with the evidence of its bounds (`text` only if the partition is not intact), everything else as a list "
        "of words. `kafka-forensics verify CASE --proof` computes the verdicts again from these rows alone.",
        pa.schema([*_PARTITION_KEY, *_handover_columns()]),
    ),
    Table(
        "judged",
        "What the rules found in single partitions, before what one event did to many of them became one finding.",
        pa.schema(_told(FINDING)),
        day="start",
    ),
    Table(
        "standing",
        "What a plan starts from: assignment, leader and ISR of each partition that still exists.",
        pa.schema([*_PARTITION_KEY, *_told(final_state.SCHEMA, "topic", "partition")]),
    ),
    Table(
        "checkpoints",
        "Checkpoint and epoch files of all replicas side by side.",
        pa.schema([*_PARTITION_KEY, *_told(checkpoint_diff.SCHEMA, "topic", "partition")]),
    ),
    Table("steps", "Every partition's story, nothing folded or left out.", pa.schema([*_PARTITION_KEY, *STEPS]), day="time"),
    Table(
        "offsets",
        "Where each replica's log ended and where its high watermark was, as far as its own lines and files say, and what it lost.",
        pa.schema([*_PARTITION_KEY, *offsets.SCHEMA]),
        day="time",
    ),
    Table("records", "All log records of all brokers in one order of time, each of several copies once.", KEPT, day="key"),
    Table(
        "findings",
        "The findings as the report has them, in its order; what one event did to many partitions is one.",
        pa.schema(
            [
                documented("number", pa.int32(), "place in the report, from 0"),
                documented("id", pa.string(), "the same for the same evidence"),
                documented("incident", pa.string(), "id of the incident it belongs to"),
                *_told(FINDING, "evidence"),
                documented("places", PLACES, "the partitions it is of, and what differs, where these are several; `topic` is null then"),
            ]
        ),
        day="start",
    ),
    Table(
        "incidents",
        "Causes with all that followed, in the order of the report.",
        pa.schema(
            [
                documented("number", pa.int32(), "place in the report, from 0"),
                documented("id", pa.string(), "the same for the same evidence"),
                documented("kind", pa.string(), "kind of the finding that is the cause"),
                *_told(pa.schema([FINDING.field(n) for n in ("severity", "brokers", "start", "end", "summary", "explanation")])),
                documented("findings", pa.list_(pa.string()), "ids of the findings that are the cause or followed"),
                documented(INCARNATION, pa.int32(), CLUSTER_DOC),
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
                documented("number", pa.int32(), "place among its quotes, from 0"),
                documented("source", pa.string(), "path of the source"),
                documented("line", pa.int64(), "1-based line; null in binary files"),
                documented("byte", pa.int64(), "byte offset in the (decompressed) source"),
                documented("text", pa.string(), "what stands there"),
            ]
        ),
        day="finding",
    ),
)
BY_NAME: Mapping[str, Table] = {t.name: t for t in TABLES}

EXPORTED = (
    *(BY_NAME[name] for name in ("sources", "brokers", "findings", "incidents", "quotes", PROOF)),
    Table(
        "partitions",
        "How each partition stands at the end, and the verdict on it.",
        pa.schema([*_PARTITION_KEY[:2], *_told(STANDING, "topic", "partition", PROOF)]),
    ),
    Table(
        "places",
        "What each finding says of each partition, a row for each range of offsets: nothing in it is nested but lists of brokers.",
        pa.schema(
            [
                documented("finding", pa.int32(), "`number` of the finding"),
                documented("id", pa.string(), "its id"),
                *_told(pa.schema([FINDING.field(n) for n in ("kind", "severity", "confidence", "topic", "partition")])),
                *_told(pa.schema([FINDING.field(n) for n in ("brokers", "leader_epoch", "start", "end")])),
                documented("first_offset", pa.int64(), "first offset of the range; null where none is told"),
                documented("end_offset", pa.int64(), "offset after its last; null where nobody knows how far it goes"),
                *_told(pa.schema([FINDING.field(n) for n in ("committed", "cause")])),
            ]
        ),
    ),
)
"""The tables that `--parquet` writes: flat where those of a case are nested, and only with the content of a report."""
