"""What happened as JSON lines for Timesketch: an event for each beginning and end.

Here: the events and their fields. Not here: the findings. Timesketch requires `message`, `datetime` and `timestamp_desc` of every line, and
takes `timestamp` as microseconds (timesketch.lib.utils.read_and_validate_jsonl). Log text is hostile: it is only displayed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from forensics.model.findings import MINOR, Finding, Place
from forensics.model.message import timestamp
from forensics.output.json_text import encoded
from forensics.output.sanitise import cleaned
from forensics.views.document import Report
from forensics.views.states import label
from forensics.words import of_incident, text, words

EPOCH = datetime(1970, 1, 1)
NO_TIME = "No time in evidence, placed at its end"
"""Name of a moment without a known time."""


def pieces(report: Report) -> Iterator[str]:
    """The file, one line per event, in order of time."""
    last = report.cluster.until or EPOCH
    rows = [_row(at, last, words, what) for at, words, what in _events(report)]
    for row in sorted(rows, key=lambda row: row["timestamp"]):
        yield encoded(cleaned(row)) + "\n"


Event = tuple[datetime | None, str, Mapping[str, Any]]
"""Time, name of the moment, and the fields."""


def _events(report: Report) -> Iterator[Event]:
    for i in report.incidents:
        fields = {
            "message": of_incident(i).summary,
            "data_type": "kafka:forensics:incident",
            "incident_id": i.id,
            "kind": i.kind,
            "severity": i.severity,
            "brokers": i.brokers,
            "explanation": of_incident(i).explanation,
            "cluster": i.cluster,
            "tag": [i.kind, i.severity],
        }
        yield from _moments("Incident", i.start, i.end, fields)
    for f in report.findings:
        yield from _moments("Finding", f.start, f.end, _finding(f))
        for p in f.places if f.severity not in MINOR else ():
            yield from _moments("Finding in a partition", p.start, p.end, _place(f, p))
    for broker, spans in report.states.items():
        node = report.cluster.nodes.get(broker)
        name = f"{'Broker' if node is None or node.broker else 'Controller'} {broker}"
        for span in spans:
            fields = {
                "message": f"{name}: {label(span.state)}{f', {text(span.detail)}' if span.detail else ''}",
                "data_type": "kafka:forensics:broker",
                "state": span.state,
                "brokers": [broker],
                "tag": ["broker", span.state],
            }
            if span.start is not None or span.end is not None:
                yield from _moments("State", span.start, span.end, fields)
    for state in report.partitions:
        yield (
            state["until"],
            "Verdict holds until",
            {
                "message": f"{state['topic']}-{state['partition']}: {state['verdict']}: {state['why']}",
                "data_type": "kafka:forensics:verdict",
                "topic": state["topic"],
                "partition": state["partition"],
                "verdict": state["verdict"],
                "since": timestamp(state["since"]),
                "brokers": list(state["replicas"] or ()),
                "tag": ["verdict", state["verdict"]],
            },
        )


def _moments(what: str, start: datetime | None, end: datetime | None, fields: Mapping[str, Any]) -> Iterator[Event]:
    if start is not None or end is None:
        yield start, f"{what} began" if end != start else what, fields
    if end is not None and end != start:
        yield end, f"{what} ended", fields


def _finding(f: Finding) -> dict[str, Any]:
    return {
        **_place(f, f.place),
        "message": words(f).summary,
        "incident_id": f.incident,
        "confidence": f.confidence,
        "cause": f.cause,
        "partitions": [" ".join((p.name, *map(str, p.offsets))) for p in f.places],
        "explanation": words(f).explanation,
        "evidence": [f"{e.source}:{e.line}  {e.text}" if e.line is not None else f"{e.source}  {e.text}" for e in f.evidence],
        "cluster": f.cluster,
        "tag": [f.kind, f.severity, f.confidence],
    }


def _place(f: Finding, p: Place) -> dict[str, Any]:
    return {
        "message": f"{p.name}: {f.kind}",
        "data_type": "kafka:forensics:finding",
        "finding_id": f.id,
        "kind": f.kind,
        "severity": f.severity,
        "topic": p.topic,
        "partition": p.partition,
        "brokers": p.brokers or f.brokers,
        "leader_epoch": p.leader_epoch,
        "offsets": [str(r) for r in p.offsets],
        "offset_start": [r.start for r in p.offsets],
        "offset_end": [r.end for r in p.offsets if r.end is not None],
        "committed": p.committed,
    }


def _row(at: datetime | None, last: datetime, words: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Unknown values are omitted: a data store would treat null as a value."""
    when = at if at is not None else last
    return {
        "message": fields["message"],
        "timestamp": (when - EPOCH) // timedelta(microseconds=1),
        "datetime": when.isoformat(timespec="microseconds") + "+00:00",
        "timestamp_desc": words if at is not None else NO_TIME,
        **{name: value for name, value in fields.items() if name != "message" and value not in (None, (), [])},
    }
