"""The report as data, schema kafka-forensics/report/1: the source of every format.

Here: the document and its deterministic JSON. Not here: its display (text), or the detection of findings.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import Any

from forensics import rule_files
from forensics.incidents.incidents import Incident
from forensics.model.clock.clocks import UNSURE, Clock
from forensics.model.clock.sources import Source
from forensics.model.cluster import balance
from forensics.model.cluster.facts import Cluster, Node
from forensics.model.cluster.names import Name, names
from forensics.model.cluster.under_replication import MAX_LEADERS, MAX_STEPS, OF_LEADERS, Series, capped, offline, series
from forensics.model.coverage.log_coverage import STATE
from forensics.model.findings import MINOR, Finding, Place, Purpose
from forensics.model.message import Message, timestamp
from forensics.model.partition import durability
from forensics.model.presence.broker_states import StateSpan, running, spans
from forensics.model.record import RowWriters
from forensics.model.settings.versions import versions
from forensics.model.times import grouped
from forensics.output.display_times import UTC, DisplayZone
from forensics.output.json_text import encoded
from forensics.output.version import version
from forensics.rules import kind_in, of_purpose, rule_of
from forensics.views.headline import Headline, counts, headline
from forensics.views.impact import untouchable
from forensics.views.notes import notes
from forensics.views.proof import of_report
from forensics.views.scope import Scope, Selection
from forensics.views.steps import next_steps
from forensics.words import of_incident, summary, text, title_of, words
from forensics.words.formats import brokers_named
from forensics.words.rows import lacks_evidence
from parsers.cached import cached_property

SCHEMA = "kafka-forensics/report/1"
INVENTORY = "kafka-forensics/inventory/1"

WANTED = {
    "server-log": "broker logs (server.log and its rotated files)",
    "state-change-log": "state-change.log of every broker",
    "controller-log": "controller.log",
    "hw-checkpoint": "replication-offset-checkpoint of every log directory",
    "epoch-checkpoint": "leader-epoch-checkpoint of every partition directory",
    "segment": "the segments (*.log) of the partitions in question (`collect.sh -s TOPIC`), or at least their batch headers",
    "server-properties": "server.properties",
    "describe": "kafka-topics --describe output",
}
"""Kinds of sources in a complete collection, as named in the list of missing ones."""
WANTED_KRAFT = {"metadata-segment": "the __cluster_metadata log of a controller (`collect.sh -m`)"}


def rules_digest() -> str:
    """Digest of everything that determines results: rules, also the user's, patterns, thresholds and the code that reads, orders and
    judges. Two reports with the same digest were made by the same program, whatever its version is called."""
    own = sorted(file.sha256 for file in rule_files.in_force())
    return _digest_of_program() if not own else f"sha256:{hashlib.sha256(' '.join((_digest_of_program(), *own)).encode()).hexdigest()}"


@lru_cache(maxsize=1)
def _digest_of_program() -> str:
    return _digest("parsers", "spark", "forensics")


def _own_rules() -> dict[str, list[dict[str, str]]]:
    """The user's rules that are in force, if there are any."""
    files = [(rule_of(kind_in(file)), file) for file in rule_files.in_force()]
    found = [{"kind": r.kind, "level": r.level, "meaning": r.meaning, "path": file.path, "sha256": file.sha256} for r, file in files]
    return {"own_rules": found} if found else {}


@lru_cache(maxsize=1)
def reading_digest() -> str:
    """Digest of everything that determines which events are read from a file: line patterns, kinds of files, and the code that reads."""
    return _digest("parsers")


def _digest(*packages: str) -> str:
    digest = hashlib.sha256()
    for package in packages:
        spec = find_spec(package)
        assert spec is not None
        root = Path(next(iter(spec.submodule_search_locations or ())))
        for file in sorted(file for kind in ("py", "tsv", "toml") for file in root.rglob(f"*.{kind}")):
            digest.update(f"{package}/{file.relative_to(root).as_posix()}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return "sha256:" + digest.hexdigest()


@dataclass(frozen=True)
class Report:
    cluster: Cluster
    findings: Sequence[Finding]
    partitions: Sequence[Mapping[str, Any]]
    incidents: Sequence[Incident] = ()
    """Worst first."""
    command: Sequence[str] = ()
    scope: Scope | None = None
    """What the report was narrowed to; `findings` and `partitions` are those in scope."""
    zone: DisplayZone = UTC
    """The zone of times in outputs for people; programs get UTC."""

    @cached_property
    def headline(self) -> Headline:
        findings = self.scope.findings if self.scope is not None else self.findings
        return headline(findings, self.partitions, self.scope, self.cluster, self.incidents)

    @property
    def complete(self) -> bool:
        """Whether everything was judged: no files of another cluster, none that could not be read to its end, some partition, and none in
        scope whose verdict is open for lack of evidence."""
        read = not any(s.problem for s in self.cluster.sources)
        return read and not self.cluster.not_judged and bool(self.all_partitions) and not any(map(lacks_evidence, self.partitions))

    @cached_property
    def all_partitions(self) -> Sequence[Mapping[str, Any]]:
        """Also those outside of the scope: for facts about the whole cluster."""
        return self.partitions if self.scope is None else [*self.partitions, *self.scope.outside]

    @cached_property
    def states(self) -> Mapping[int, Sequence[StateSpan]]:
        """The states of each node over time."""
        return grouped((span.broker, span) for span in spans(self.cluster, self.all_partitions))

    @cached_property
    def untouchable(self) -> list[str]:
        """Warnings not to change disks that have the only copy of lost records."""
        return list(untouchable(self.findings, lambda: running(chain.from_iterable(self.states.values()))))

    @cached_property
    def next_steps(self) -> list[str]:
        """What to do next, in the order in which it helps."""
        return next_steps(self.findings, self.partitions)

    def not_collected(self) -> list[str]:
        kinds = {s.kind for s in self.cluster.sources}
        if kinds & {"stdout-log", "other-log"}:  # as containers log: the lines of server.log, possibly with those of other files
            kinds |= {"server-log"} | ({"state-change-log"} if any(s.printed.get(STATE) for s in self.cluster.sources) else set())
            kinds |= {"controller-log"} if self.cluster.of("controller-elected") else set()
        if all(map(self.cluster.settings.knows, self.cluster.nodes)):  # a process prints its settings as it starts
            kinds.add("server-properties")
        wanted = {**WANTED, **(WANTED_KRAFT if self.cluster.mode == "kraft" else {})}
        if (known := versions(self.cluster)) and known[-1] < (0, 11):  # leader-epoch-checkpoint came with KIP-101
            kinds.add("epoch-checkpoint")
        return [words for kind, words in wanted.items() if kind not in kinds]

    def unsure_zones(self) -> list[str]:
        """Clocks of logs whose zone is unknown, with their nodes; their differences from other clocks may still be known."""
        by_zone = grouped(
            (node.clock.zone, node.id)
            for node in self.cluster.nodes.values()
            if node.clock.basis in UNSURE and self.cluster.last_line(node.id) is not None
        )
        return [
            f"the zone of the clock of {brokers_named(nodes).replace('broker', 'node')} is unknown and was assumed to be {zone}"
            for zone, nodes in by_zone.items()
        ]

    def document(self, *, proof: bool = True, listed: Callable[[Iterable[Any]], Any] = list) -> dict[str, Any]:
        """The report as JSON values, keys in the order of the contract. Without `proof`, the hand-overs of partitions are omitted. `listed`
        makes the lists that grow with the cluster."""
        handovers, left_out = of_report(self.partitions) if proof else (None, 0)
        return {
            "schema": SCHEMA,
            "tool": {"version": version(), "command": list(self.command), "rules": rules_digest(), **_own_rules()},
            "scope": _scope(self.scope) if self.scope is not None else None,
            "evidence": {
                "sources": [
                    {**_source_row(s), "newest_first": s.newest_first, **({"repeated": s.repeated} if s.repeated else {})}
                    for s in self.cluster.sources
                ],
                "archives": [{"path": a.path, "sha256": a.sha256, "bytes": a.bytes} for a in self.cluster.archives],
                "ignored": [{"path": a.path, "sha256": a.sha256, "bytes": a.bytes} for a in self.cluster.ignored],
                "notes": notes(self.cluster),
                "redacted": self.cluster.redacted,
                "not_collected": self.not_collected(),
                "gaps": [*(summary(f) for f in of_purpose(self.findings, Purpose.MISSING_EVIDENCE)), *self.unsure_zones()],
            },
            "cluster": {
                "id": self.cluster.id,
                "mode": self.cluster.mode,
                "brokers": [_node(n, self.states.get(n.id, ()), names(self.cluster).get(n.id, ())) for n in self.cluster.nodes.values()],
                "under_replication": _under_replication(self.all_partitions),
                "durability": durability.document(self.cluster, self.all_partitions),
                "balance": balance.document(self.cluster, self.all_partitions),
                "ended": [_ended(c) for c in self.cluster.ended],
            },
            "partitions": listed(
                _partition(p) | ({"handovers": handovers[n]} if handovers is not None else {}) for n, p in enumerate(self.partitions)
            ),
            "verdict": {
                "loss": self.headline.loss,
                "title": self.headline.title,
                "summary": self.headline.summary,
                "partitions": self.headline.partitions,
                **({"handovers_left_out": left_out} if proof else {}),
            },
            "incidents": [_incident(i, self.cluster) for i in self.incidents],
            "findings": listed(_finding(f, self.cluster, listed) for f in self.findings),
        }

    def inventory(self) -> dict[str, Any]:
        """What was collected, schema kafka-forensics/inventory/1: parts of the report, without verdicts."""
        whole = self.document(proof=False)
        return {"schema": INVENTORY, **{name: whole[name] for name in ("tool", "evidence", "cluster")}}

    def json(self) -> str:
        return "".join(pieces(self))


def pieces(report: Report) -> Iterator[str]:
    """The file. A partition, a finding and a place become JSON values when their turn comes."""
    yield from _dumped(report.document(listed=Later))
    yield "\n"


class Later:
    """A list whose items are made when they are written."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = iter(items)
        self._first = list(islice(self._items, 1))

    def __bool__(self) -> bool:
        return bool(self._first)

    def __iter__(self) -> Iterator[Any]:
        return chain(self._first, self._items)


LISTS = ("sources", "archives", "ignored", "partitions", "findings", "incidents", "places", "evidence", "steps")
"""Lists that grow with a cluster: one line per item."""
OF_PARTITIONS = ("partitions", "places")
"""Those that grow with its partitions: without a blank."""


def _dumped(value: Any, depth: int = 0, key: str = "") -> Iterator[str]:
    """JSON that is readable and stays small: short values on the line of their key."""
    inner = " " * (depth + 1)
    if isinstance(value, dict) and value and (depth < 2 or key == "findings"):
        yield "{"
        for n, (name, v) in enumerate(value.items()):
            yield f"{',' if n else ''}\n{inner}{encoded(name)}: "
            yield from _dumped(v, depth + 1, name)
        yield "\n" + " " * depth + "}"
    elif (
        isinstance(value, list | Later) and value and key in LISTS and (isinstance(value, Later) or any(isinstance(v, dict) for v in value))
    ):
        yield "["
        for n, v in enumerate(value):
            yield f"{',' if n else ''}\n{inner}"
            yield from _dumped(v, depth + 1, key)
        yield "\n" + " " * depth + "]"
    else:
        whole = list(value) if isinstance(value, Later) else value
        yield encoded(whole, separators=(",", ":") if key in OF_PARTITIONS else (", ", ": "))


def _scope(scope: Scope) -> dict[str, Any]:
    return {**_selection_row(scope.selection), "outside": counts(scope.outside), "findings_not_shown": scope.hidden}


OF_PARTITION = (
    *("topic", "partition", "topic_id", "replicas", "leader", "isr", "leader_epoch"),
    *("log_end_offset", "high_watermark", "low_watermark", "verdict"),
)


def _partition(p: Mapping[str, Any]) -> dict[str, Any]:
    return {k: p[k] for k in OF_PARTITION} | {"since": timestamp(p["since"]), "until": timestamp(p["until"]), "why": p["why"]}


def _node(node: Node, states: Sequence[StateSpan], named: Sequence[Name]) -> dict[str, Any]:
    return {
        "id": node.id,
        "role": "broker" if node.broker else "controller",
        "version": node.version,
        "clock_offset_ms": node.clock.skew_ms,
        "timezone": node.clock.zone,
        "clock_basis": node.clock.basis,
        "clock_uncertainty_ms": node.clock.uncertainty_ms,
        "timezone_changes": [
            {"at": timestamp(c.at), "before": Clock.at_offset(c.before_ms).zone, "after": Clock.at_offset(c.after_ms).zone}
            for c in node.clock.changes
        ],
        "names": [*map(_name_row, named)],
        "states": [{**_span_row(s), **({"cluster": s.cluster} if s.cluster else {})} for s in states],
    }


def _under_replication(partitions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The step series; `steps_left_out`, `leaders_left_out` and `windows_left_out` (for partitions that had too many) count the omitted
    entries."""
    counts = series(partitions)
    leaders = sorted((s for s in counts if s.leader is not None), key=lambda s: (-s.peak, s.leader or 0))
    by_leader = sorted(leaders[:MAX_LEADERS], key=lambda s: s.leader or 0)
    return {
        "cluster": _steps(next((s for s in counts if s.leader is None), Series(None, ()))),
        "leaders": [{"broker": s.leader, **_steps(s, min(MAX_STEPS, OF_LEADERS // len(by_leader)))} for s in by_leader],
        "leaders_left_out": len(leaders) - len(by_leader),
        "offline": _offline(partitions),
        "windows_left_out": sum(p.get("under_replicated_windows_omitted") or 0 for p in partitions),
    }


def _steps(s: Series, most: int = MAX_STEPS) -> dict[str, Any]:
    shown = capped(s.steps, lambda step: step.missing, most)
    return {
        "peak": s.peak,
        "steps": [{"at": timestamp(x.at), "under_replicated": x.under_replicated, "reassigning": x.reassigning} for x in shown],
        "steps_left_out": len(s.steps) - len(shown),
    }


def _offline(partitions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Those without a leader, over time."""
    steps = offline(partitions)
    shown = capped(steps, lambda x: x.offline)
    return {
        "peak": max((x.offline for x in steps), default=0),
        "steps": [{"at": timestamp(x.at), "offline": x.offline} for x in shown],
        "steps_left_out": len(steps) - len(shown),
    }


def _ended(cluster: Cluster) -> dict[str, Any]:
    """An earlier cluster on the same brokers; findings refer to it by `number`."""
    times = [e.at for e in cluster.events if e.at is not None]
    return {
        "number": cluster.number,
        "id": cluster.id,
        "mode": cluster.mode,
        "brokers": [n.id for n in cluster.nodes.values()],
        "since": timestamp(min(times, default=None)),
        "until": timestamp(max(times, default=None)),
    }


_JSON = RowWriters({datetime: timestamp, Message: text})
"""Records as JSON values."""
_OF_LOSS = ("still_on", "perhaps_on", "salvageable", "written", "records", "parts", "recoverable", "clients")
_incident_row = _JSON.of(Incident, "values", "cluster")
finding_row = _JSON.of(Finding, "loss", "message", "values", "cluster", "folds", "places")
_place_row, _name_row = _JSON.of(Place), _JSON.of(Name)
_selection_row = _JSON.of(Selection)
_source_row = _JSON.of(Source, "collection", "modified", "samples", "shared")
_span_row = _JSON.of(StateSpan, "broker", "detail", "evidence", "cluster")


def _incident(i: Incident, cluster: Cluster) -> dict[str, Any]:
    own = of_incident(i)
    row = _incident_row(i)
    end, of_it = row.pop("end"), row.pop("findings")
    last = {"end": end, "title": title_of(i), "summary": own.summary, "explanation": own.explanation, "findings": of_it}
    return {**row, **last, **({"cluster": i.cluster} if cluster.ended else {})}


def _finding(f: Finding, cluster: Cluster, listed: Callable[[Iterable[Any]], Any]) -> dict[str, Any]:
    row, own = finding_row(f), words(f)
    of_loss, incident, evidence = _of_loss(row), row.pop("incident"), row.pop("evidence")
    return {
        "id": f.id,
        "incident": incident,
        **row,
        "summary": own.summary,
        "explanation": own.explanation,
        "next_steps": list(own.next_steps),
        "message": f.message_id,
        "values": f.named,
        "evidence": evidence,
        **of_loss,
        **({"places": listed(_places(f))} if f.places else {}),
        **({"cluster": f.cluster} if cluster.ended else {}),
    }


def _of_loss(row: dict[str, Any]) -> dict[str, Any]:
    """Takes what only losses have out of the row. `recoverable`: the lost offsets that collected files contain, by file."""
    if (salvageable := row["salvageable"]) is not None:
        row["recoverable"] = [{"offsets": held["offsets"], "source": held["source"]} for held in salvageable["held"]]
    found = {name: row.pop(name, None) for name in _OF_LOSS}
    return {name: value for name, value in found.items() if value or (name == "recoverable" and value is not None)}


def _places(f: Finding) -> Iterable[dict[str, Any]]:
    """The partitions, and where they differ from the finding; if a harmless finding has a thousand partitions, only the distinct places."""
    if f.severity not in MINOR:
        return (_place(p, f) for p in f.places)
    alike = grouped(((p.topic, p.partition, p.committed), p) for p in f.places)
    joined = (
        replace(places_alike[0], offsets=tuple(r for p in places_alike for r in p.offsets), times=sum(p.times for p in places_alike))
        if len(places_alike) > 1
        else places_alike[0]
        for places_alike in alike.values()
    )
    return ({name: value for name, value in _place(p, f).items() if name in _OF_MINOR} for p in joined)


_OF_MINOR = ("topic", "partition", "offsets", "committed", "times")


def _place(p: Place, f: Finding) -> dict[str, Any]:
    """The partition, and what it does not have in common with the finding."""
    row = _place_row(p)
    of_loss = _of_loss(row)
    same = {name for name in ("brokers", "start", "end", "committed") if getattr(p, name) == getattr(f, name)}
    none = {name for name, value in (("leader_epoch", p.leader_epoch), ("offsets", p.offsets or None)) if value is None}
    return {name: value for name, value in row.items() if name not in same | none and (name != "times" or p.times > 1)} | of_loss
