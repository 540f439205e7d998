"""Findings about errors that nodes print. KIND.toml declares which, in any number of tables:

    [[find]]
    of = "partition"        the errors of each partition; without it, those of the cluster
    events = ["NAME"]       kinds of events
    where.FIELD = 'REGEX'   an error must match all of these; FIELD is a column of the event, or `exception`, the class of what was thrown
    unless.FIELD = 'REGEX'  and none of these
    if = "FUNCTION"         and this: FUNCTION(error, cluster), of a partition FUNCTION(error, timeline, cluster)
    group = ["writer"]      what the errors of one finding have in common: fields or functions of the error; usually their node
    whenever = true         errors of one finding may be far apart; without it SAME_FAILURE at most
    lasting = true          only errors that were repeated for longer than a leader change takes
    until = ["NAME"]        the finding ends with the next of these events of the node; without it with the last error
    severity = "medium"     without it the level of the kind
    cause = "NAME"          "{why}": what the errors name (forensics/model/presence/causes.toml); "{FIELD}": of the first error
    meanwhile = true        `{meanwhile}` is what the partitions of the node missed in this time
    values = "FUNCTION"     FUNCTION(errors, cluster), of a partition with its timeline: more values, and what else its statement says; None if
                            there is nothing to report
    partitions = true       FUNCTION(errors, cluster, partitions): it also gets the rows of partitions, with their FIRST_STATE_AT
    message = "found"       name of its message

Messages can name {who}, {span}, {thrown}, {why} and {cause_steps} (of a cause that the errors name), {value}, {back} (the time of
the event that `until` found), {meanwhile}, and what FUNCTION gives.

Here: the detector. Not here: the functions that declarations name (conditions).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.events import COLUMNS, Event
from forensics.model.findings import Finding, quote
from forensics.model.partition.absences import FIRST_STATE_AT
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.presence.crash_times import FACTS, CrashTimes
from forensics.model.presence.process_errors import cause_of, exception, failures, lasted, span, who_all
from forensics.model.rows import Rows
from forensics.rules.detectors import conditions
from forensics.thresholds import SAME_FAILURE

Values = Mapping[str, Any]
_Test = tuple[Callable[[Event], Any], str]
"""A field, and an expression that it matches."""
WHY = "{why}"
QUOTED = 4
"""The number of errors that are quoted, besides the last one."""
_STATEMENT = frozenset(f.name for f in fields(Finding))


@dataclass(frozen=True)
class _Find:
    """A table `[[find]]`, with the functions that it names."""

    declared: Mapping[str, Any]
    where: Sequence[_Test]
    unless: Sequence[_Test]
    asked: Callable[..., bool]
    common: Callable[[Event], object]
    own: Callable[..., Values | None]

    @classmethod
    def of(cls, declared: Mapping[str, Any], functions: Mapping[str, Any]) -> _Find:
        common = [_field(name, functions) for name in declared.get("group", ("writer",))]
        return cls(
            declared,
            [(_field(name), found) for name, found in declared.get("where", {}).items()],
            [(_field(name), found) for name, found in declared.get("unless", {}).items()],
            functions[declared["if"]] if "if" in declared else _always,
            lambda error: tuple(field(error) for field in common),
            functions[declared["values"]] if "values" in declared else _nothing,
        )

    def findings(self, times: CrashTimes | None, *scope: Any, **rows: Rows) -> Iterator[Finding]:
        """`scope`: the cluster, or a timeline and the cluster."""
        chosen = [e for e in scope[0].of(*self.declared["events"]) if self._fits(e) and self.asked(e, *scope)]
        for errors in failures(chosen, self.common, None if self.declared.get("whenever") else SAME_FAILURE) if chosen else ():
            if not self.declared.get("lasting") or lasted(errors):
                own = self.own(errors, *scope, **rows)
                if own is not None:
                    yield self._finding(errors, own, times, *scope)

    def _fits(self, error: Event) -> bool:
        return all(_matches(error, *test) for test in self.where) and not any(_matches(error, *test) for test in self.unless)

    def _finding(self, errors: Sequence[Event], own: Values, times: CrashTimes | None, *scope: Any) -> Finding:
        declared, first, last, cluster = self.declared, errors[0], errors[-1], scope[-1]
        nodes = tuple(sorted({e.writer for e in errors if e.writer is not None}))
        until, named, node = declared.get("until"), declared.get("cause"), nodes[0] if nodes else None
        back = own["back"] if "back" in own else cluster.next_of(node, last.at, *until) if until and node is not None else None
        cause = cause_of(errors) if named == WHY else None
        statement = {
            "severity": declared.get("severity", ""),
            "confidence": declared.get("confidence", "certain"),
            **({"topic": scope[0].topic, "partition": scope[0].partition} if len(scope) > 1 else {}),
            "brokers": nodes,
            "start": first.at,
            "end": back.at if back is not None else last.last_at if until is None else None,
            "cause": cause.name if cause is not None else _named(named, first),
            "message": declared.get("message", "found"),
            "evidence": quote(errors[:QUOTED], last, back),
        }
        values = {
            "who": who_all(nodes, cluster),
            "span": span(errors),
            "thrown": exception(errors),
            "why": cause.why if cause is not None else None,
            "cause_steps": cause.steps if cause is not None else None,
            "value": next((e.value for e in errors if e.value), None),
            "meanwhile": tuple(times.meanwhile(node, first.at, last.last_at)) if times is not None and node is not None else None,
            **own,
            "back": back.at if back is not None else None,
        }
        statement |= {name: value for name, value in values.items() if name in _STATEMENT}
        known = ((name, value) for name, value in values.items() if name not in _STATEMENT)
        return Finding(**statement, values=tuple(v for v in known if not (v[1] is None or v[1] is False or v[1] == ())))


def _field(name: str, functions: Mapping[str, Any] = MappingProxyType({})) -> Callable[[Event], Any]:
    """What a table names: a column of the event, the class of the exception, or one of the functions."""
    if name == "exception":
        return lambda error: (error.key or "").partition(":")[0]
    return attrgetter(name) if name in COLUMNS else functions[name]


def _matches(error: Event, field: Callable[[Event], Any], found: str) -> bool:
    value = field(error)
    return value is not None and re.search(found, str(value)) is not None


def _named(cause: str | None, error: Event) -> str | None:
    if cause is None or not cause.startswith("{"):
        return cause
    value: str | None = _field(cause[1:-1])(error) if cause != WHY else None
    return value


def _always(error: Event, *scope: Any) -> bool:
    return True


def _nothing(errors: Sequence[Event], *scope: Any) -> Values:
    return {}


def _of_partition(finds: Iterable[_Find], timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for find in finds:
        yield from find.findings(None, timeline, cluster)


def _of_cluster(finds: Iterable[_Find], cluster: Cluster, partitions: Rows) -> Iterator[Finding]:
    times = CrashTimes(cluster, partitions)
    for find in finds:
        rows = {"partitions": partitions} if find.declared.get("partitions") else {}
        yield from find.findings(times if find.declared.get("meanwhile") else None, cluster, **rows)


def judges(kind: str, declared: Mapping[str, Any]) -> Mapping[str, Any]:
    finds = [_Find.of(find, vars(conditions)) for find in declared["find"]]
    of_partition, of_cluster = ([f for f in finds if (f.declared.get("of") == "partition") is way] for way in (True, False))
    return {
        **({"of_partition": partial(_of_partition, of_partition)} if of_partition else {}),
        **({"of_cluster": partial(_of_cluster, of_cluster)} if of_cluster else {}),
        "NEEDS": frozenset(event for find in of_partition for event in find.declared["events"]),
        "READS": tuple(
            fact
            for key, facts in (("meanwhile", FACTS), ("partitions", (FIRST_STATE_AT,)))
            for fact in facts
            if any(f.declared.get(key) for f in finds)
        ),
    }
