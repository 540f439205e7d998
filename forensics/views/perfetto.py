"""What happened as a trace in the JSON form of the Trace Event Format, for Perfetto (ui.perfetto.dev) and other readers of the format.

Here: brokers as processes with a lane for their state and one for each affected partition; findings and incidents as separate spans; the
number of under-replicated partitions as counters. Not here: the events. Unknown parts of a lane are not drawn.

Only the parts of the format that Perfetto's importer documents are used: X (must nest on their track), b and e with a local id2 (with a
plain id they would have no process), i, C, M; times are microseconds (docs/getting-started/other-formats.md, json_trace_tokenizer.cc). Text
is ASCII with JSON's escapes.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Any

from forensics.incidents.folding import places
from forensics.model.clock.sources import line_times
from forensics.model.cluster.under_replication import capped, offline, series
from forensics.model.findings import LEVELS, MINOR, Finding, Place
from forensics.model.message import said, timestamp
from forensics.model.presence.broker_states import DOWN, ENDED, RECOVERING, STARTING, STOPPING, UP
from forensics.model.times import grouped
from forensics.output.sanitise import cleaned
from forensics.output.version import version
from forensics.views.document import Report
from forensics.views.states import label
from forensics.words import of_incident, summary, text, words
from parsers.cached import cached_property

MAX_PARTITIONS = 400
"""Partitions with lanes of their own, worst first: the viewer cannot show more usefully."""
OF_PROCESS = frozenset({UP, STARTING, RECOVERING, STOPPING, ENDED, DOWN})
EPOCH = datetime(1970, 1, 1)

Event = dict[str, Any]
Name = tuple[str, int]


def pieces(report: Report) -> Iterator[str]:
    """The file, one line per event."""
    trace = _Trace(report)
    yield '{"displayTimeUnit": "ms",\n"traceEvents": [\n'
    for number, event in enumerate(trace.events()):
        yield ("" if number == 0 else ",\n") + json.dumps(cleaned(event))
    yield "\n]}\n"


class _Trace:
    def __init__(self, report: Report) -> None:
        self.report = report
        self.states = {(p["topic"], p["partition"]): p for p in report.partitions}
        times = [at for f in report.findings for at in (f.start, f.end) if at is not None]
        self.since = min((*line_times(report.cluster.sources), *times), default=EPOCH)
        self.until = max((at for at in (report.cluster.until, *times) if at is not None), default=EPOCH)
        grave: dict[Name, int] = dict.fromkeys(self.states, -1)
        self.there: dict[Name, list[tuple[Finding, Place]]] = defaultdict(list)
        for f in report.findings:
            for p in places(f):
                name = (p.topic or "", p.partition if p.partition is not None else -1)
                self.there[name].append((f, p))
                grave[name] = max(grave.get(name, -1), LEVELS.index(f.severity))
        order = sorted(grave, key=lambda name: (-grave[name], name))
        self.shown, self.left_out = order[:MAX_PARTITIONS], order[MAX_PARTITIONS:]

    @cached_property
    def processes(self) -> Mapping[int, int]:
        """Process ids of brokers: their ids, except 0, which Perfetto takes for the kernel's."""
        known = set(self.report.cluster.nodes)
        known.update(b for f in self.report.findings for b in (*f.brokers, *(b for p in f.places for b in p.brokers)))
        known.update(b for name in self.states for b in self._replicas(name))
        return {broker: broker or max(known) + 1 for broker in sorted(known)}

    @cached_property
    def cluster(self) -> int:
        """Process for events without a broker."""
        return max(self.processes.values(), default=0) + 1

    @cached_property
    def lanes(self) -> Mapping[tuple[int, Name], int]:
        """Thread ids of partitions on brokers; a broker's own lane has its process's number."""
        pairs = [
            (broker, name)
            for name in self.shown
            for broker in sorted({*self._replicas(name), *(b for f, p in self.there[name] for b in p.brokers or f.brokers)})
        ]
        return {pair: self.cluster + 1 + n for n, pair in enumerate(pairs)}

    def _replicas(self, name: Name) -> set[int]:
        state = self.states.get(name, {})
        led = {step["leader"] for step in state.get("steps") or () if step["leader"] is not None}
        return {broker for broker in led | set(state.get("replicas") or ()) if broker >= 0}

    def about(self) -> dict[str, Any]:
        headline = self.report.headline
        return {
            "tool": f"kafka-forensics {version()}",
            "loss": headline.loss,
            "summary": headline.summary,
            "partitions": headline.partitions,
            "partitions_without_lanes": len(self.left_out),
        }

    def events(self) -> Iterator[Event]:
        yield from self._names()
        about = self.about()
        yield from self._span(self.cluster, f"loss: {about['loss']}", "report", self.since, self.until, about)
        yield from self._counters()
        for i in self.report.incidents:
            fields = {
                "incident": i.id,
                "severity": i.severity,
                "brokers": i.brokers,
                "summary": of_incident(i).summary,
                "explanation": of_incident(i).explanation,
            }
            yield from self._span(self.cluster, f"incident: {i.kind}", f"incident {i.id}", i.start, i.end, fields)
        for f in self.report.findings:
            process = self.processes[f.brokers[0]] if f.brokers else self.cluster
            yield from self._span(process, f.kind, f"finding {f.id}", f.start, f.end, _finding(f))
        for name in self.shown:
            yield from self._partition(name)
        for broker, process in self.processes.items():
            yield from self._states(broker, process)

    def _names(self) -> Iterator[Event]:
        yield _about("process_name", self.cluster, self.cluster, "cluster")
        yield _about("process_sort_index", self.cluster, self.cluster, 0)
        for broker, process in self.processes.items():
            node = self.report.cluster.nodes.get(broker)
            name = f"{'controller' if node is not None and not node.broker else 'broker'} {broker}"
            yield _about("process_name", process, process, name)
            yield _about("process_sort_index", process, process, broker + 1)
            yield _about("thread_name", process, process, "up and down")
        for n, ((broker, (topic, partition)), lane) in enumerate(self.lanes.items()):
            yield _about("thread_name", self.processes[broker], lane, f"{topic}-{partition}")
            yield _about("thread_sort_index", self.processes[broker], lane, n + 1)

    def _counters(self) -> Iterator[Event]:
        for own in series(self.report.all_partitions):
            process = self.cluster if own.leader is None else self.processes.get(own.leader)
            if process is None:
                continue
            for step in capped(own.steps, lambda step: step.missing):
                counts = {"under-replicated": step.under_replicated, "reassigning": step.reassigning}
                yield _count("partitions", process, step.at or self.since, counts)
        for point in capped(offline(self.report.all_partitions), lambda x: x.offline):
            yield _count("partitions", self.cluster, point.at or self.since, {"without a leader": point.offline})

    def _span(
        self, process: int, name: str, key: str, start: datetime | None, end: datetime | None, fields: Mapping[str, Any]
    ) -> Iterator[Event]:
        """Spans outside the lanes. One that has not ended lasts to the end, where those without a time are placed too."""
        begin = start or end or self.until
        over = max(begin, end or self.until)
        words = name if start or end else f"{name} (no time in evidence)"
        span = {"cat": "found", "name": words, "id2": {"local": key}, "pid": process, "tid": process}
        moments = {"start": timestamp(start), "end": timestamp(end)}
        yield {"ph": "b", "ts": _ts(begin), **span, "args": _known({**moments, **fields})}
        yield {"ph": "e", "ts": _ts(over), **span}

    def _partition(self, name: Name) -> Iterator[Event]:
        state = self.states.get(name)
        partition = f"{name[0]}-{name[1]}"
        if state is not None:
            fields = {"partition": partition, "verdict": state["verdict"], "why": state["why"]}
            yield from self._span(
                self.cluster, f"{state['verdict']}: {partition}", f"verdict {partition}", state["since"], state["until"], fields
            )
            yield from self._roles(name, state)
        for f, p in self.there[name]:
            if f.severity in MINOR:
                continue
            at = (p.end or p.start) if f.loss else p.start
            for broker in p.brokers or f.brokers if at is not None else ():
                where = {"pid": self.processes[broker], "tid": self.lanes[broker, name], "s": "t"}
                yield {"ph": "i", "cat": "found", "name": f.kind, "ts": _ts(at or self.until), **where, "args": _known(_place(f, p))}

    def _roles(self, name: Name, state: Mapping[str, Any]) -> Iterator[Event]:
        """The leader, and the brokers missing from the ISR."""
        spans = grouped((leader, (start, end, "leader")) for leader, start, end in self._terms(state))
        for short in state.get("under_replicated_windows") or ():
            for broker in short["missing"]:
                spans[broker].append((short["start"] or self.since, short["end"] or self.until, "out of sync"))
        for broker, roles in spans.items():
            if (lane := self.lanes.get((broker, name))) is not None:
                yield from _without_overlaps(self.processes[broker], lane, roles)

    def _terms(self, state: Mapping[str, Any]) -> Iterator[tuple[int, datetime, datetime]]:
        """Leaders with the start and the end of their terms."""
        steps = [s for s in state.get("steps") or () if s["leader"] is not None]
        for step, following in zip_longest(steps, steps[1:]):
            end = (following["at"] or self.since) if following is not None else self.until
            if step["leader"] >= 0:
                yield step["leader"], step["at"] or self.since, end

    def _states(self, broker: int, process: int) -> Iterator[Event]:
        """The process state has a lane; additional states (fenced, paused, controller) are separate spans."""
        lane = []
        for n, span in enumerate(self.report.states.get(broker, ())):
            start, end = span.start or self.since, span.end or self.until
            if span.state in OF_PROCESS:
                lane.append((start, end, span.state))
            else:
                args = {
                    "words": text(span.detail or said(f"broker-state/{span.state}")),
                    "start": timestamp(span.start),
                    "end": timestamp(span.end),
                }
                yield from self._span(process, label(span.state), f"state {broker}.{n}", start, end, args)
        yield from _without_overlaps(process, process, lane)


def _without_overlaps(process: int, lane: int, spans: Sequence[tuple[datetime, datetime, str]]) -> Iterator[Event]:
    """Spans of one lane, cut so that they do not overlap: clocks may contradict each other."""
    ordered = sorted(spans)
    for n, (start, end, name) in enumerate(ordered):
        until = min(end, ordered[n + 1][0]) if n + 1 < len(ordered) else end
        if until > start:
            yield {"ph": "X", "cat": "state", "name": name, "pid": process, "tid": lane, "ts": _ts(start), "dur": _ts(until) - _ts(start)}


def _ts(at: datetime) -> int:
    return (at - EPOCH) // timedelta(microseconds=1)


def _count(name: str, process: int, at: datetime, counts: Mapping[str, int]) -> Event:
    return {"ph": "C", "name": name, "pid": process, "tid": process, "ts": _ts(at), "args": counts}


def _about(what: str, process: int, thread: int, value: str | int) -> Event:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name" if isinstance(value, str) else "sort_index": value}}


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    """Without unknown values."""
    return {name: value for name, value in values.items() if value not in (None, (), [], "")}


def _finding(f: Finding) -> dict[str, Any]:
    fields = {name: getattr(f, name) for name in ("severity", "confidence", "cause", "committed", "brokers", "leader_epoch")}
    own = words(f)
    quoted = [f"{e.source}:{e.line}" if e.line is not None else e.source for e in f.evidence]
    return {
        "finding": f.id,
        **fields,
        "summary": own.summary,
        "explanation": own.explanation,
        "partition": f.name if f.topic is not None else None,
        "offsets": _offsets(f.place),
        "evidence": quoted,
        "places": [_known({"partition": p.name, "offsets": _offsets(p), "committed": p.committed}) for p in f.places],
    }


def _place(f: Finding, p: Place) -> dict[str, Any]:
    return {"finding": f.id, "summary": summary(f), "offsets": _offsets(p), "committed": p.committed, "leader_epoch": p.leader_epoch}


def _offsets(p: Place) -> list[str]:
    return [str(r) for r in p.offsets]
