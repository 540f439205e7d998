"""The JSON Schema of the report (`--json`), of the summary of an audit, and of the difference between two cases (`diff --json`).

Here: the schemas, with the values of fields that have a fixed set. A field that a document has and its schema does not is an error, which
the tests find. Not here: the documents (document, clusters, diff), or the schemas of tables (forensics.case.table_schema).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from forensics.incidents.incidents import ROLLING, Incident
from forensics.incidents.judging import STANDING
from forensics.model.clock.sources import Source
from forensics.model.cluster.names import Name
from forensics.model.findings import (
    COMPACTED,
    CONFIDENCES,
    EVIDENCE,
    LEVELS,
    PLAIN_LOG,
    TRANSACTIONAL,
    UNKNOWN_LOG,
    Finding,
    LostPart,
    Place,
    Records,
)
from forensics.model.message import Range
from forensics.model.partition.durability import SPENT
from forensics.model.presence.broker_states import STATES, StateSpan
from forensics.model.record import Field, arrow_type, declared, inner_of, is_record, items_of
from forensics.output.json_schema import (
    BOOLEAN,
    COUNT,
    INTEGER,
    NUMBER,
    TEXT,
    TIME,
    Schema,
    by_name,
    described,
    document,
    listed,
    nullable,
    of_arrow,
    of_field,
    one_of,
    record,
)
from forensics.proof.records import HANDOVER
from forensics.proof.verdict import BEGIN, CELLS, CHANGE, END, REMOVED_CELLS, RESTART, VERDICTS, Cell, Handover, Possible
from forensics.rules import KINDS, OWN_NAME
from forensics.tools.case_diff import AS_BAD
from forensics.views.clusters import NOT_JUDGED
from forensics.views.clusters import SCHEMA as CLUSTERS
from forensics.views.diff import COMPARED
from forensics.views.diff import SCHEMA as DIFF
from forensics.views.document import INVENTORY, OF_PARTITION
from forensics.views.document import SCHEMA as REPORT
from forensics.views.headline import EXCLUDED, FOUND, UNSETTLED
from forensics.views.runs import LISTED, RUNS, SEEN
from forensics.views.scope import Selection
from parsers.sniff import KINDS as FILES

LOGS = (PLAIN_LOG, COMPACTED, TRANSACTIONAL, UNKNOWN_LOG)
"""What the offsets of a log say about its records."""
SOURCES = (*FILES, "unreadable")
"""Kinds of files."""
CELL_WORDS: Mapping[str, Sequence[str]] = {
    name: sorted(cell.values) for name in CELLS if isinstance(cell := getattr(Handover(BEGIN, 0), name), Possible)
}
"""The words of a cell of a hand-over: those that are possible before any evidence."""
HANDOVERS = (BEGIN, CHANGE, RESTART, END)
MODE = one_of(("zookeeper", "kraft", "unknown"))
BROKER = INTEGER
BROKERS = listed(BROKER)
TEXTS = listed(TEXT)
OWN_KIND: Schema = {"type": "string", "pattern": OWN_NAME.pattern, "description": "a kind of a user's rule (`tool.own_rules`)"}


def _kind(words: Sequence[str]) -> Schema:
    return {"type": "string", "anyOf": [{"enum": list(words)}, OWN_KIND]}


KIND, INCIDENT = _kind(KINDS), _kind((*KINDS, ROLLING))
"""Kinds of findings, and kinds of incidents: the kind of the finding that is the cause, or several restarts of one kind together."""
SEVERITY = one_of(reversed(LEVELS))
CONFIDENCE = one_of(reversed(CONFIDENCES))
VERDICT = one_of(VERDICTS)
LOSS = one_of((FOUND, EXCLUDED, UNSETTLED))
SHA256: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
ID: Schema = {"type": "string", "pattern": "^[0-9a-f]{12}$"}
DIGEST: Schema = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_WORDS: Mapping[type, Mapping[str, Schema]] = {
    Finding: {"kind": KIND, "severity": SEVERITY, "confidence": CONFIDENCE, "incident": ID},
    Incident: {"id": ID, "kind": INCIDENT, "severity": SEVERITY, "findings": listed(ID)},
    LostPart: {"confidence": CONFIDENCE},
    Records: {"log": one_of(LOGS)},
    Selection: {"severity": SEVERITY},
    Source: {"kind": one_of(SOURCES), "sha256": SHA256},
    StateSpan: {"state": one_of(STATES)},
}
"""Values of fields that their types do not say."""


def of_record(cls: type, *without: str) -> dict[str, Schema]:
    """The properties of a record as JSON, without these."""
    known = _WORDS.get(cls, {})
    return {f.column: _of_declared(f, known.get(f.column)) for f in declared(cls) if f.column not in without}


def _of_declared(f: Field, known: Schema | None) -> Schema:
    schema = known or (TEXT if f.packed is not None else _of_type(f.hint))
    return described(nullable(schema) if inner_of(f.hint) is not f.hint else schema, f.doc)


def _of_type(hint: Any) -> Schema:
    inner = inner_of(hint)
    if (items := items_of(inner)) is not None:
        return listed(_of_type(items))
    return record(of_record(inner)) if is_record(inner) else of_arrow(arrow_type(inner))


RANGE = _of_type(Range)
RANGES = described(listed(RANGE), "`end` is exclusive; null: the end is unknown")
COUNTS = record(dict.fromkeys(VERDICTS, COUNT))
"""Partitions by verdict."""
TOOL = record(
    {
        "version": TEXT,
        "command": described(TEXTS, "the options that determine the content, without the destination and without secrets"),
        "rules": described(DIGEST, "digest of the whole program: the same digest means the same results for the same evidence"),
        "own_rules": described(
            listed(record({"kind": OWN_KIND, "level": SEVERITY, "meaning": TEXT, "path": TEXT, "sha256": SHA256})),
            "the user's rules (--rules), if there are any",
        ),
    },
    optional=("own_rules",),
)
BOUNDS = record({"at_least": INTEGER, "at_most": nullable(INTEGER), "evidence": nullable(listed(of_arrow(EVIDENCE)))})
"""Offsets that are still possible; `at_most` null: no upper bound."""


def report() -> Schema:
    body = record(
        {
            "schema": {"const": REPORT},
            "tool": TOOL,
            "scope": described({"anyOf": [_scope(), {"type": "null"}]}, "what the report was narrowed to; null: the whole evidence"),
            "evidence": _evidence(),
            "cluster": _cluster(),
            "partitions": listed(_partition()),
            "verdict": record(
                {
                    "loss": LOSS,
                    "title": TEXT,
                    "summary": TEXT,
                    "partitions": COUNTS,
                    "handovers_left_out": described(COUNT, "partitions whose `handovers` are null to keep the report small"),
                }
            ),
            "incidents": listed(_incident()),
            "findings": listed(_finding()),
        }
    )
    return document(REPORT, "Report of kafka-forensics", body)


def inventory() -> Schema:
    """The schema of what was collected, without verdicts."""
    body = record({"schema": {"const": INVENTORY}, "tool": TOOL, "evidence": _evidence(), "cluster": _cluster()})
    return document(INVENTORY, "Inventory of kafka-forensics", body)


BRIEF = record(
    {
        "loss": one_of((FOUND, EXCLUDED, UNSETTLED, NOT_JUDGED)),
        "summary": TEXT,
        "partitions": COUNTS,
        "gone_records": described(BOOLEAN, "whether records are gone that producers with acks=0 or acks=1 count as written"),
        "findings": described(record(dict.fromkeys(reversed(LEVELS), COUNT)), "number of findings by severity"),
        "lost": TEXTS,
        "broken": TEXTS,
        "mode": MODE,
        "brokers": BROKERS,
        "sources": COUNT,
        "bytes": COUNT,
        "problems": COUNT,
        "problem": nullable(TEXT),
        "first": nullable(TIME),
        "last": nullable(TIME),
    },
    optional=("gone_records",),  # tables of an earlier version have no such value
    others=True,
)
"""Results for a cluster in short (forensics.views.clusters.brief)."""


def clusters() -> Schema:
    """The schema of the summary of an audit."""
    known = BRIEF["properties"]
    failed = described(nullable(TEXT), "why the cluster could not be judged; the other values are then from an earlier run or absent")
    cluster = record({"cluster": TEXT, **known, "failed": failed}, optional=known)
    new, old = listed(of_arrow(pa.struct(list(SEEN)))), nullable(of_arrow(pa.struct(list(RUNS))))
    partition = record(
        {"cluster": TEXT, "topic": TEXT, "partition": COUNT, "before": nullable(one_of(VERDICTS)), "after": one_of(VERDICTS)}
    )
    of_runs = {
        "run": described(old, "the last run: a row of the table `runs`; null: none"),
        "before": described(nullable(TIME), "start of the run before, with which it is compared"),
        "new": described(new, "findings that are new since then, or were less severe: rows of the table `seen`"),
        "resolved": described(new, "findings whose end is known now and was not then"),
        "gone": described(new, "findings that are not in the results any more"),
        "accepted": described(
            listed(record({"cluster": TEXT, "finding": ID, "reason": TEXT, "date": TEXT})),
            "findings that kafka-forensics.toml accepts: they are in the results, and are not new",
        ),
        "worse": described(record(dict.fromkeys(AS_BAD, COUNT)), "number of partitions that became lost, tail-cut or unknown since then"),
        "worse_partitions": described(listed(partition), f"the first {LISTED} of these partitions"),
    }
    older = record({"files": COUNT, "names": TEXTS, "gone": COUNT, "gone_names": TEXTS, "versions": TEXTS, "command": TEXTS})
    of_older = described(
        nullable(older),
        "files that only a version with another catalogue of log lines read: those that `command` reads again, those that are gone from the "
        "archive, and the first names; null: none, or this is not the summary of a run",
    )
    fields = {"schema": {"const": CLUSTERS}, "tool": record({"version": TEXT}), "remarks": TEXTS, "older_catalogue": of_older}
    body = record({**fields, **of_runs, "clusters": listed(cluster)})
    return document(CLUSTERS, "Summary of an audit of kafka-forensics", body)


def difference() -> Schema:
    """The schema of the difference between two cases."""
    partition = {"topic": TEXT, "partition": INTEGER}
    case = record(
        {
            "path": TEXT,
            "cluster_id": nullable(TEXT),
            "tool": record({"version": TEXT, "rules": DIGEST}),
            "options": by_name({}),
            "verdict": record({"loss": LOSS, "summary": TEXT, "partitions": COUNTS}),
            "first": nullable(TIME),
            "last": nullable(TIME),
        }
    )
    own = of_record(Finding)
    kind = described(TEXT, "a kind of finding; an older case may have one that this version no longer has")
    of_place = record({"topic": TEXT, "partition": nullable(INTEGER), "offsets": RANGES})
    finding = record({"id": ID, **{name: own[name] for name in COMPARED}, "kind": kind, "partitions": listed(of_place), "summary": TEXT})
    fields = by_name(record({"before": {}, "after": {}}))
    changed = record({"before": finding, "after": finding, "fields": described(fields, "by name, the attributes with another value")})
    verdict = record({**partition, "before": VERDICT, "after": VERDICT, "why": nullable(TEXT)})

    def changes(whole: Schema, of_changed: Schema) -> Schema:
        return record({"new": listed(whole), "gone": listed(whole), "changed": listed(of_changed), "same": COUNT})

    moved = record({"path": TEXT, "at": TEXT})
    sources = {**dict.fromkeys(("new", "gone", "changed"), TEXTS), "moved": listed(moved), "same": COUNT, "unread": COUNT}
    body = record(
        {
            "schema": {"const": DIFF},
            "tool": TOOL,
            "same": BOOLEAN,
            "before": case,
            "after": case,
            "notes": TEXTS,
            "partitions": changes(record({**partition, "verdict": VERDICT}), verdict),
            "findings": changes(finding, changed),
            "brokers": changes(BROKER, record({"id": BROKER, "fields": fields})),
            "sources": record(sources),
        }
    )
    return document(DIFF, "Difference between two cases of kafka-forensics", body)


def _scope() -> Schema:
    outside = described(COUNTS, "partitions outside of the scope, by verdict")
    return record({**of_record(Selection), "outside": outside, "findings_not_shown": COUNT})


def _evidence() -> Schema:
    source = record(
        {
            **of_record(Source, "collection", "modified", "samples", "shared"),
            "newest_first": described(BOOLEAN, "its newest line comes first"),
            "repeated": described(COUNT, "lines that were there twice and were read once; absent if there are none"),
        },
        optional=("repeated",),
    )
    archive = record({"path": TEXT, "sha256": nullable(SHA256), "bytes": nullable(COUNT)})
    texts = dict.fromkeys(("not_collected", "gaps"), TEXTS)
    ignored = described(
        listed(archive), "files that were not read: those of file managers, and entries of archives that a later one replaces"
    )
    known = {"sources": listed(source), "archives": listed(archive), "ignored": ignored}
    return record({**known, "notes": TEXTS, "redacted": BOOLEAN, **texts})


def _cluster() -> Schema:
    return record(
        {
            "id": nullable(TEXT),
            "mode": MODE,
            "brokers": listed(_node()),
            "under_replication": _under_replication(),
            "durability": _durability(),
            "balance": _balance(),
            "ended": listed(
                record(
                    {
                        "number": INTEGER,
                        "id": nullable(TEXT),
                        "mode": MODE,
                        "brokers": BROKERS,
                        "since": nullable(TIME),
                        "until": nullable(TIME),
                    }
                )
            ),
        }
    )


def _node() -> Schema:
    state = of_record(StateSpan, "broker", "detail", "evidence")
    return record(
        {
            "id": BROKER,
            "role": one_of(("broker", "controller")),
            "version": nullable(TEXT),
            "clock_offset_ms": INTEGER,
            "timezone": TEXT,
            "clock_basis": TEXT,
            "clock_uncertainty_ms": nullable(COUNT),
            "timezone_changes": listed(record({"at": nullable(TIME), "before": TEXT, "after": TEXT})),
            "names": listed(record(of_record(Name))),
            "states": listed(record(state, optional=("cluster",))),
        }
    )


def _under_replication() -> Schema:
    def steps(*counts: str) -> Mapping[str, Schema]:
        step = record({"at": nullable(TIME), **dict.fromkeys(counts, COUNT)})
        return {"peak": COUNT, "steps": listed(step), "steps_left_out": COUNT}

    missing = steps("under_replicated", "reassigning")
    return record(
        {
            "cluster": record(missing),
            "leaders": listed(record({"broker": BROKER, **missing})),
            "leaders_left_out": COUNT,
            "offline": record(steps("offline")),
            "windows_left_out": COUNT,
        }
    )


def _durability() -> Schema:
    minutes = {f"{name.removesuffix('_ms')}_partition_minutes": NUMBER for name in SPENT}
    setting = {
        "key": TEXT,
        "value": nullable(TEXT),
        "source": nullable(TEXT),
        "brokers": BROKERS,
        "topics": TEXTS,
        "topic_count": COUNT,
        "place": nullable(TEXT),
    }
    change = {
        "at": nullable(TIME),
        "key": TEXT,
        "value": nullable(TEXT),
        "topic": nullable(TEXT),
        "broker": nullable(BROKER),
        "source": nullable(TEXT),
        "place": nullable(TEXT),
    }
    topic = {"topic": TEXT, "partitions": COUNT, "replication_factor": nullable(COUNT), **minutes}
    return record(
        {
            "settings": listed(record(setting)),
            "changes": listed(record(change)),
            "exposure": record({"cluster": record(minutes), "topics": listed(record(topic))}),
        }
    )


def _balance() -> Schema:
    ratio: dict[str, Schema] = {"preferred": COUNT, "elsewhere": COUNT, "ratio": NUMBER}
    leaders = {
        "limit": NUMBER,
        "auto_rebalance": nullable(TEXT),
        "check_interval_seconds": nullable(TEXT),
        "brokers": listed(record({"broker": BROKER, **ratio, "series": listed(record({"at": nullable(TIME), **ratio}))})),
    }
    share = {"broker": BROKER, "share": NUMBER, "deviation": NUMBER, "metrics": by_name(NUMBER)}
    load = {"brokers": listed(record(share)), "weights": by_name(NUMBER), "sigma": NUMBER, "limit": NUMBER}
    series = listed(record({"at": TIME, "bytes": COUNT}))
    bytes_in = {"interval_seconds": COUNT, "brokers": listed(record({"broker": BROKER, "series": series}))}
    return record({"leaders": record(leaders), "load": record(load), "bytes_in": record(bytes_in)})


def _partition() -> Schema:
    known = {"topic": TEXT, "partition": INTEGER, "verdict": VERDICT}
    own = {name: of_field(STANDING.field(name), known) for name in (*OF_PARTITION, "since", "until", "why")}
    handovers = described(nullable(listed(_handover())), "the proof; null if it was left out to keep the report small")
    return record({**own, "handovers": handovers})


def _handover() -> Schema:
    """A row of the proof. Cells in which everything is possible are absent, except the three offsets."""
    cells = {name: listed(one_of(CELL_WORDS[name])) if name in CELL_WORDS else BOUNDS for name in CELLS}
    known = {
        "row": COUNT,
        "kind": one_of(HANDOVERS),
        "at": nullable(TIME),
        "resent_because": TEXT,
        "removed": listed(_removal()),
        "premises": listed(record({"premise": TEXT, "reason": TEXT})),
        **dict.fromkeys(("contradictions", "decides"), TEXTS),
    }
    properties = {f.name: known.get(f.name) or cells.get(f.name) or nullable(of_arrow(f.type)) for f in HANDOVER}
    always = {"old_log_end", "new_log_end", "high_watermark"}
    return record(properties, optional=("resent_because", *(name for name in CELLS if name not in always)))


def _removal() -> Schema:
    return record(
        {
            "broker": nullable(BROKER),
            "how": TEXT,
            "start": BOUNDS,
            "end": BOUNDS,
            "exact_end": nullable(BOOLEAN),
            **dict.fromkeys(REMOVED_CELLS[2:], listed(one_of((Cell.YES, Cell.NO)))),
            "likely_start": nullable(INTEGER),
        }
    )


VALUES: Schema = {"type": "object"}
_SENTENCES = {"summary": TEXT, "explanation": TEXT}
_CLUSTER = described(INTEGER, "only if the evidence has several clusters: 0 the last one, -1 the one before")


def _incident() -> Schema:
    return record(
        {**of_record(Incident, "values"), "title": described(TEXT, "its mechanism, in words"), **_SENTENCES, "cluster": _CLUSTER},
        optional=("cluster",),
    )


def _finding() -> Schema:
    own, place = of_record(Finding, "loss", "folds"), of_record(Place)
    recoverable = described(listed(record({"offsets": RANGE, "source": TEXT})), "lost offsets that collected files contain, by file")
    of_loss = ("still_on", "perhaps_on", "salvageable", "clients", "written", "records", "parts", "recoverable")
    of_place = record({**place, "recoverable": recoverable}, optional={*place, "recoverable"} - {"topic", "partition"})
    whole = {
        "id": described(ID, "stable for the same evidence (docs/schemas.md)"),
        **own,
        **_SENTENCES,
        "next_steps": TEXTS,
        "message": described(TEXT, "id of its message; with `values` a program needs no sentence"),
        "values": described(VALUES, "values that the sentences name: times as text, ranges and messages as objects"),
        "recoverable": recoverable,
        "places": {**own["places"], "items": of_place},
        "cluster": _CLUSTER,
    }
    return record(whole, optional=(*of_loss, "places", "cluster"))
