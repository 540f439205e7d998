"""Evidence taken away: the ways in which what an incident left behind is incomplete, and how a report on a part is held against the
report on the whole and against the truth.

Here: the ways and the relations. Not here: which ways a test run tries (test_evidence_taken_away). `python -m tests.support.taken [NAME…]` tries
all of them on the fixtures named, or on all, and prints the table; `--part K/N` every N-th of them from the K-th on, which is an even
sample, and all N parts together are the whole.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache, partial
from io import BytesIO
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from fixtures.exports import write
from forensics.incidents.folding import places
from forensics.model.findings import CONFIDENCES, LEVELS, Finding, Unrefuted
from forensics.proof.verdict import INTACT, LOST, TAIL_CUT, UNKNOWN
from forensics.rules import RULES, declared
from forensics.views.document import Report
from forensics.views.headline import EXCLUDED
from forensics.words import words
from parsers import evidence, schemas
from parsers.containers.names import moment as instant
from parsers.schemas import EVENTS, Member
from tests.support import local, recorded
from tests.support.altered import OTHERS, TIMES, alterations
from tests.support.contradictions import contradictions
from tests.support.paths import truth_of
from tests.support.shapes import BUNDLES, HEAD, File, Files, bundle, bundle_of, moment, nodes, only, records, without

NAMES = sorted(p.name.removesuffix(".tar.gz") for p in BUNDLES.glob("*.tar.gz"))


# parsing: a file is read once, whatever else is taken away


@lru_cache(maxsize=512)
def _events(path: str, file: File) -> pa.Table:
    if (name := bundle_of(path, file)) is not None:
        return _recorded(name)[path]
    rows = evidence.read_source(Member(path, len(file.content), instant(file.modified)), BytesIO(file.content))
    return pa.Table.from_batches(list(schemas.batches(rows)), schema=EVENTS)


@lru_cache(maxsize=4)
def _recorded(name: str) -> Mapping[str, pa.Table]:
    """The events of each file of a bundle, without the root of the bundle in paths."""
    events = recorded.events(name)
    for column in ("source", "directory"):
        values = pc.replace_substring_regex(events[column], f"^{re.escape(name)}/", "").cast(EVENTS.field(column).type)
        events = events.set_column(events.schema.get_field_index(column), EVENTS.field(column), values)
    return {path: events.filter(pc.equal(events["source"], path)) for path in bundle(name)}


def table(files: Files) -> pa.Table:
    return pa.concat_tables([EVENTS.empty_table(), *(_events(path, file) for path, file in files.items())]).combine_chunks()


def report(files: Files) -> Report:
    return local.report(table(files))


# ways of taking away


LOGS = r"(?:^|/)logs/|\.log\.\d|stdout"
TENTHS = 10
Way = tuple[str, str, Callable[[Files], Files]]
"""Family, what is gone or altered in words, and how the rest is made."""


@lru_cache(maxsize=1)
def ways(name: str) -> tuple[Way, ...]:
    """All ways of taking something away from a fixture, and of altering it, deterministic."""
    files = bundle(name)
    of_files = (_of_nodes, _of_kinds, _of_files, _of_time, _of_lines, _of_clocks)
    return (*(way for each in of_files for way in each(files)), *_of_exports(name), *alterations(name))


def _gone(family: str, words: str, expression: str) -> Way:
    return family, words, lambda files: without(files, expression)


def _left(family: str, words: str, expression: str) -> Way:
    return family, words, lambda files: only(files, expression)


def _of_nodes(files: Files) -> Iterator[Way]:
    for node in nodes(files):
        yield _gone("node", f"everything of {node}", f"^{node}/")
        yield _gone("logs of a node", f"logs of {node}", f"^{node}/logs/")
        yield _gone("disk of a node", f"disk of {node}", f"^{node}/data")
        yield _left("all but a node", f"all but {node}", f"^{node}/")


def _of_kinds(files: Files) -> Iterator[Way]:
    yield _gone("kind of file", "all logs", "/logs/")
    yield _gone("kind of file", "all disks", "/data")
    yield _gone("kind of file", "all outputs of tools", "^cluster/")
    by_kind: dict[str, list[str]] = defaultdict(list)
    for path, file in files.items():
        by_kind[_kind(path, file)].append(path)
    for kind, paths in sorted(by_kind.items()):
        own = "^(?:" + "|".join(map(re.escape, paths)) + ")$"
        yield _gone("kind of file", f"every {kind}", own)
        yield _left("all but a kind of file", f"all but every {kind}", own)


def _kind(path: str, file: File) -> str:
    events = _events(path, file)
    return str(events["collected"][len(events) - 1].as_py()["kind"])


def _of_files(files: Files) -> Iterator[Way]:
    for path, file in files.items():
        if len(_events(path, file)) > 1:  # more than that it is there
            yield _gone("file", path, f"^{re.escape(path)}$")


def _logs(files: Files, expression: str = "") -> list[str]:
    return [path for path in files if "/logs/" in path and re.search(expression, path)]


def _rewritten(files: Files, paths: Iterable[str], keep: Callable[[str, list[bytes]], Iterable[bytes]]) -> Files:
    """Logs with some of their records only, as old as if their last one had just been written."""
    made = dict(files)
    for path in paths:
        lines = records(files[path].content)
        left = list(keep(path, lines))
        before, after = (next((moment(r) for r in reversed(some) if HEAD.match(r)), None) for some in (lines, left))
        age = before - after if before is not None and after is not None else 0.0
        if left:
            made[path] = File(b"".join(left), files[path].modified - age)
        else:
            del made[path]
    return made


def _cut(family: str, words: str, expression: str, keep: Callable[[str, list[bytes]], Iterable[bytes]]) -> Way:
    return family, words, lambda files: _rewritten(files, _logs(files, expression), keep)


def _of_time(files: Files) -> Iterator[Way]:
    """By time, since a machine that goes on writing rotates sooner than one that stands still."""
    times = [moment(r) for path in _logs(files) for r in records(files[path].content) if HEAD.match(r)]
    if not times:
        return
    first, last = min(times), max(times) + 0.001
    step = (last - first) / TENTHS
    for part in range(TENTHS):
        begin, end = first + part * step, first + (part + 1) * step
        yield _cut("a tenth of the time", f"tenth {part + 1} of all logs", "", _outside(begin, end))
    for part in (2, 5):
        begin = first + part * step
        yield _cut("seconds", f"12 seconds of all logs after tenth {part}", "", _outside(begin, begin + 12))
    middle = first + 5 * step
    for stated, begin, end in (("first", first, middle), ("second", middle, last)):
        yield _cut("half of the time", f"{stated} half of all logs", "", _outside(begin, end))
    for node in nodes(files):
        for part in (3, 5, 7, 9):
            yield _cut("older logs of a node", f"logs of {node} up to tenth {part}", f"^{node}/", _outside(first, first + part * step))
            yield _cut("newer logs of a node", f"logs of {node} after tenth {part}", f"^{node}/", _outside(first + part * step, last))

    for fifths in (1, 2, 3):  # each log rotates on its own
        yield _cut(
            "older part of each log",
            f"first {fifths} of 5 parts of each log",
            "",
            lambda _, stated, n=fifths: stated[n * len(stated) // 5 :],
        )


def _outside(begin: float, end: float) -> Callable[[str, list[bytes]], Iterable[bytes]]:
    def keep(path: str, lines: list[bytes]) -> Iterator[bytes]:
        at = 0.0
        for record in lines:
            at = moment(record) if HEAD.match(record) else at
            if not begin <= at < end:
                yield record

    return keep


def _of_lines(files: Files) -> Iterator[Way]:
    for step in (2, 3, 5, 10):
        for offset in range(min(step, 3)):
            yield _cut("every n-th line", f"line {offset + 1} of every {step}", "", _not_every(step, offset))
    yield _cut(
        "level", "all but WARN and worse", "", lambda _, given: [r for r in given if re.match(rb"\[[^]]*\] (?:WARN|ERROR|FATAL)", r)]
    )
    yield _cut("level", "WARN and worse", "", lambda _, given: [r for r in given if not re.match(rb"\[[^]]*\] (?:WARN|ERROR|FATAL)", r)])
    yield _cut("level", "TRACE", "", lambda _, given: [r for r in given if not re.match(rb"\[[^]]*\] (?:TRACE|DEBUG)", r)])
    given: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for path in _logs(files):
        for event, line in zip(*(_events(path, files[path])[column].to_pylist() for column in ("event", "line")), strict=True):
            if event not in ("source", "problem") and line is not None:
                given[event][path].add(line)
    for event, places_of in sorted(given.items()):
        yield _cut("kind of event", f"every {event}", "", _but(places_of))


def _not_every(step: int, offset: int) -> Callable[[str, list[bytes]], Iterable[bytes]]:
    return lambda _, given: [r for n, r in enumerate(given) if n % step != offset]


def _but(lines: Mapping[str, set[int]]) -> Callable[[str, list[bytes]], Iterable[bytes]]:
    """Records without those in which one of these lines is."""

    def keep(path: str, stated: list[bytes]) -> Iterator[bytes]:
        at = 1
        for record in stated:
            after = at + record.count(b"\n") + (not record.endswith(b"\n"))
            if lines.get(path, set()).isdisjoint(range(at, after)):
                yield record
            at = after

    return keep


STEPS_S = (-3600, -120, -40, 40, 120, 3600)
BOOT_S = 8
"""Seconds after a start before a time service sets the clock."""
_BEGINS = re.compile(rb"Kafka version|\.Log4jControllerRegistration\$?\)")
_STAMP = "%Y-%m-%d %H:%M:%S,%f"


def _of_clocks(files: Files) -> Iterator[Way]:
    """One node's clock is wrong in all of its logs: for the second half of its time, for 20 s in the middle, or for some seconds after a restart.
    And the clocks of all nodes change by an hour, each in the middle of its time, or all of their lines have other dates."""
    halves: dict[str, tuple[float, float]] = {}
    for node in nodes(files):
        written = [record for path in _logs(files, f"^{node}/") for record in records(files[path].content) if HEAD.match(record)]
        if not written:
            continue
        times = [moment(record) for record in written]
        middle, first = (min(times) + max(times)) / 2, min(times)
        restart = min((at for at, record in zip(times, written, strict=True) if at > first + 15 and _BEGINS.search(record)), default=None)
        halves[node] = middle, math.inf
        for seconds in STEPS_S:
            yield _stepped(f"clock of {node} {seconds} s from the middle on", {node: halves[node]}, seconds)
            yield _stepped(f"clock of {node} {seconds} s for 20 s", {node: (middle, middle + 20)}, seconds)
            if restart is not None:
                yield _stepped(f"clock of {node} {seconds} s after a restart", {node: (restart, restart + BOOT_S)}, seconds)
    yield from (_stepped(f"clocks of all nodes {seconds} s from the middle on", halves, seconds) for seconds in (-3600, 3600))
    always = dict.fromkeys(halves, (-math.inf, math.inf))
    yield from (_stepped(f"dates of all nodes {days} days", always, days * 86_400) for days in (-29, -1, 1))


def _stepped(words: str, of: Mapping[str, tuple[float, float]], seconds: int) -> Way:
    """The nodes' clocks are wrong between two times."""

    def taken(files: Files) -> Files:
        made = dict(files)
        for node, (begin, end) in of.items():
            for path in _logs(files, f"^{node}/"):
                at, left = 0.0, []
                for record in records(files[path].content):
                    at = moment(record) if HEAD.match(record) else at
                    left.append(moved(record, seconds) if begin <= at < end else record)
                made[path] = File(b"".join(left), files[path].modified)
        return made

    return TIMES, words, taken


def moved(record: bytes, seconds: int) -> bytes:
    """The record with another time, if it has one."""
    found = HEAD.match(record)
    if found is None:
        return record
    stamp = found.group().strip(b"[] ").decode()
    return record.replace(stamp.encode(), (datetime.strptime(stamp, _STAMP) + timedelta(seconds=seconds)).strftime(_STAMP)[:-3].encode(), 1)


EXPORTS: Sequence[tuple[str, Mapping[str, Any]]] = (
    ("kibana-csv", {"limit": 500}),
    ("kibana-csv", {"limit": 1500, "newest_first": True}),
    ("elasticdump-ndjson", {"duplicates": 0.2}),
    ("elasticdump-ndjson", {"shuffle_ties": True}),
    ("cloudwatch-insights-csv", {"shuffle_ties": True, "newest_first": True}),
    ("splunk-csv", {"duplicates": 0.1, "shuffle_ties": True, "newest_first": True}),
    ("loki-jsonl", {"cut": 300, "duplicates": 0.1}),
    ("datadog-csv", {"level": "WARN"}),
)


def _of_exports(name: str) -> Iterator[Way]:
    """Only the lines, as a log store exports them: with a limit of rows, rows that are there twice, and rows of one millisecond in any order."""
    for form, options in EXPORTS:
        words = ", ".join(f"{option} {value}" for option, value in options.items())
        yield "export", f"{form} with {words}", partial(_exported, name, form, options)


def _exported(name: str, form: str, options: Mapping[str, Any], _: Files) -> Files:
    with TemporaryDirectory() as directory:
        made = write(BUNDLES / f"{name}.tar.gz", directory, form, **options)
        return {path.relative_to(directory).as_posix(): File(path.read_bytes(), path.stat().st_mtime) for path in made}


# relations


class Claim(NamedTuple):
    """A finding at one place."""

    kind: str
    place: str
    brokers: tuple[int, ...]
    offsets: frozenset[int]
    confidence: int
    severity: int
    committed: bool | None
    cause: str | None
    summary: str
    of_last: bool
    """It is about the cluster that exists at the end."""
    over: bool
    """It has an end."""


OF_EVIDENCE = frozenset(rule.kind for rule in RULES if rule.unrefuted is Unrefuted.EVIDENCE)
OF_LINES = frozenset(kind for kind, rule in declared().items() if rule.get("detector") == "errors")
"""What a line says, which the whole evidence has as well. There the line may be explained or be over."""
UNCOMPARED = OF_EVIDENCE | OF_LINES
OF_CLOCKS = frozenset({"clock-skew", "log-dir-emptied"})
"""True of clocks that are made wrong, which the whole evidence has right, and what compares two clocks when no line shows it (docs/limits.md)."""
_ABSENT = frozenset(
    {
        "broker-crash",
        "controlled-shutdown",
        "culprit-broker",
        "cluster-wide-degradation",
        "upgrade",
        "restarted-replica",
        "zombie-leader",
        "broker-fenced",
    }
)
INSTEAD: Mapping[str, frozenset[str]] = {
    "hw-regression": frozenset({"data-loss"}),  # a high watermark goes back where committed records are cut
    "truncate-to-start": frozenset({"data-loss"}),  # so does a log that is cut as a whole
    "culprit-broker": _ABSENT,  # a broker that is missing from ISRs, and no line shows why
    "controlled-shutdown": frozenset({"start-failed"}),  # a process that fails to start shuts down as on request
    "connection-failed": _ABSENT,  # another broker reaches it again when it is back
    "restarted-replica": _ABSENT,  # the return of a broker, which ends its absence
    "records-outside-log": frozenset({"topic-recreated", "topic-deleted"}),  # directories that end in -delete
    "topic-deleted": frozenset({"topic-recreated"}),  # the second half of it
    "writes-refused": frozenset({"under-min-isr"}),  # its effect on producers
    "under-replicated": frozenset({"isr-flapping"}),  # absences too brief to be reported, unless the end of one is not seen
    "isolated-error/leader-unavailable": frozenset({"offline-partition", "under-replicated"}),  # a client's view of it
}
"""What the whole evidence tells instead of a kind, about the same place or broker: the cause, or the event of which it is a part.
A kind can be named with its cause. Each is true by Kafka for the reason given."""


def instead(given: Finding | Claim) -> frozenset[str]:
    return INSTEAD.get(given.kind) or INSTEAD.get(f"{given.kind}/{given.cause}") or frozenset()


def claims(given: Iterable[Finding]) -> list[Claim]:
    found = []
    for f in given:
        for p in places(f) or (f.place,):
            name, level = f"{p.topic}-{p.partition}" if p.partition is not None else "", LEVELS.index(f.severity)
            parts = [((part.offsets,), part.confidence, part.committed) for part in p.parts] or [(p.offsets, f.confidence, p.committed)]
            for offsets, confidence, committed in parts:
                gone = frozenset(o for r in offsets if r.end is not None for o in range(r.start, r.end))
                rank = CONFIDENCES.index(confidence)
                found.append(
                    Claim(
                        f.kind, name, f.brokers, gone, rank, level, committed, f.cause, words(f).summary, f.cluster == 0, f.end is not None
                    )
                )
    return found


class Judged(NamedTuple):
    claims: list[Claim]
    verdicts: Mapping[str, str]
    since: Mapping[str, datetime]
    """Of those of which nothing is said of what was before."""
    until: Mapping[str, datetime]
    """Up to when each verdict holds."""
    open_since: Mapping[str, datetime]
    """When the last in-sync replicas were last seen, if a verdict is open only because none of them came back after that."""
    lost_at: Mapping[str, datetime]
    """When records were lost, or may have been."""
    gone: Mapping[str, range]
    """What a verdict says to be gone at least, where the finding it rests on leaves open how far it went."""
    loss: str
    summary: str
    itself: tuple[str, ...]
    """The invariants that the report violates (forensics.invariants)."""


AT_LEAST = re.compile(r"offsets (\d+)(?:–(\d+))? at least")
NOT_BACK = re.compile(r"sole_restart: .* back when the evidence ends")


def judged(reported: Report) -> Judged:
    verdicts = {f"{p['topic']}-{p['partition']}": p["verdict"] for p in reported.partitions}
    since = {f"{p['topic']}-{p['partition']}": p["since"] for p in reported.partitions if p["since"] is not None and not p["from_creation"]}
    until = {f"{p['topic']}-{p['partition']}": p["until"] for p in reported.partitions if p["until"] is not None}
    decides = {f"{p['topic']}-{p['partition']}": [d for row in p["handovers"] or () for d in row["decides"]] for p in reported.partitions}
    not_back = {name: until[name] for name, left in decides.items() if left and all(map(NOT_BACK.match, left)) and name in until}
    gone = [p for f in reported.findings if f.kind == "data-loss" for p in places(f)]
    lost_at = {f"{p.topic}-{p.partition}": at for p in gone if (at := p.end or p.start) is not None}
    least = {f"{p['topic']}-{p['partition']}": found for p in reported.partitions if (found := AT_LEAST.match(p["why"]))}
    sure = {name: range(int(found[1]), int(found[2] or found[1]) + 1) for name, found in least.items() if verdicts[name] == LOST}
    headline = reported.headline
    return Judged(
        claims(reported.findings),
        verdicts,
        since,
        until,
        not_back,
        lost_at,
        sure,
        headline.loss,
        headline.summary,
        contradictions(reported),
    )


Violation = tuple[str, str]
"""The relation that is broken, and how."""
FALSE, SURER, WORSE, DENIED, SILENT, CRASH, ITSELF = "false", "surer", "worse", "denied", "silent", "crash", "itself"
NEVER = (FALSE, SURER, WORSE, DENIED, SILENT, CRASH)
"""Worse: more severe than the whole evidence says, and at least probable. Denied: that lost records were committed, which was true or open.
Itself: the report contradicts itself."""


def broken(part: Judged, whole: Judged, truth: Mapping[str, Any], altered: frozenset[str] = UNCOMPARED) -> Iterator[Violation]:
    outside = {name for name, at in whole.lost_at.items() if not part.since.get(name, at) <= at <= part.until.get(name, at)}
    part = part._replace(
        verdicts={name: v for name, v in part.verdicts.items() if name not in outside}
    )  # of what came then it says nothing
    yield from ((FALSE, words) for words in _false(part, truth))
    yield from _surer(part, whole, altered)
    yield from ((SILENT, words) for words in _silent(part, truth))
    yield from ((ITSELF, invariant) for invariant in part.itself)


def _lost(truth: Mapping[str, Any]) -> dict[str, set[int]]:
    return {name: {o for a, b in lost["offsets"] for o in range(a, b)} for name, lost in truth["lost"].items()}


def _false(part: Judged, truth: Mapping[str, Any]) -> Iterator[str]:
    lost = _lost(truth)
    text: dict[str, set[int]] = defaultdict(set)
    unclean = {f"{u['topic']}-{u['partition']}" for u in truth["unclean_elections"]}
    for c in part.claims:
        if c.kind == "data-loss" and c.confidence:
            text[c.place] |= c.offsets
        if c.kind == "unclean-election" and c.confidence and c.place not in unclean:
            yield f"unclean election that never was: {c.summary}"
        if c.severity > LEVELS.index(truth["worst_allowed"]):
            yield f"above {truth['worst_allowed']}: {c.kind} {c.summary}"
    for name, offsets in text.items():
        if name in truth["nothing_lost"]:
            yield f"loss that never was: {name} {min(offsets, default=None)}..{max(offsets, default=None)}"
        elif name in lost and offsets and (min(offsets) < min(lost[name]) or len(offsets - lost[name]) > max(50, len(lost[name]) // 2)):
            yield f"loss on {name} {min(offsets)}..{max(offsets)}, really {min(lost[name])}..{max(lost[name])}"
    for name in lost:
        committed = any(
            m["kind"] == "data-loss" and f"{m['topic']}-{m['partition']}" == name and m.get("committed") for m in truth["must_find"]
        )
        if part.verdicts.get(name) in ((INTACT, TAIL_CUT) if committed else (INTACT,)):
            yield f"{name} is called {part.verdicts[name]}, but acknowledged records were lost"
    for name, verdict in part.verdicts.items():
        if verdict == LOST and name in truth["nothing_lost"]:
            yield f"{name} is called lost"


def _surer(part: Judged, whole: Judged, altered: frozenset[str]) -> Iterator[Violation]:
    """`altered`: kinds that tell what is wrong with the altered evidence."""
    for c in part.claims:
        about = [o for o in whole.claims if _same(c, o)]
        same = [o for o in about if o.kind == c.kind]
        if (
            c.kind in altered
            or any(o.kind in instead(c) for o in about)
            or (c.kind == "data-loss" and c.offsets and c.offsets <= {*whole.gone.get(c.place, ())})
        ):
            continue  # the verdict of the whole says no less
        best = max((o.confidence for o in same), default=-1)
        if c.confidence > max(best, 0):
            yield SURER, f"{c.kind} {CONFIDENCES[c.confidence]} instead of {CONFIDENCES[best] if same else 'nothing'}: {c.summary}"
        # how bad a loss is, or what is not over, depends on what its evidence leaves open
        open_question = (c.kind == "data-loss" and not c.committed) or (not c.over and any(o.over for o in same))
        if c.confidence and same and not open_question and c.severity > (worst := max(o.severity for o in same)):
            yield WORSE, f"{c.kind} {LEVELS[c.severity]} instead of {LEVELS[worst]}: {c.summary}"
        if c.committed is False and c.confidence and same and all(o.committed is not False for o in same):
            yield DENIED, f"{c.kind} committed {same[0].committed} became false: {c.summary}"
    for name, verdict in part.verdicts.items():
        before = whole.verdicts.get(name, UNKNOWN)
        if verdict in (INTACT, TAIL_CUT) and name in whole.open_since and name in part.until and part.until[name] <= whole.open_since[name]:
            continue  # the whole leaves open only what came after
        if verdict != UNKNOWN and verdict != before:
            yield SURER, f"{name}: {before} became {verdict}"


def _same(one: Claim, other: Claim) -> bool:
    """Two claims are about the same records, partition or broker; one that names no partition is about any."""
    if one.offsets and other.offsets and one.place == other.place:
        return bool(one.offsets & other.offsets)
    shared = not one.brokers or not other.brokers or bool({*one.brokers} & {*other.brokers})
    return one.place == other.place or (shared and "" in (one.place, other.place))


NOTHING_KNOWN = re.compile(r"UNKNOWN: |proven.* (?:from|until) |Nothing can be said|cannot be excluded|not (?:collected|in evidence)")


def _silent(part: Judged, truth: Mapping[str, Any]) -> Iterator[str]:
    stated = {c.place for c in part.claims if c.kind == "data-loss"}
    for name in truth["lost"]:
        if name in stated or (name not in part.verdicts and name in part.until and name not in part.since):
            continue
        if name not in part.verdicts and name in part.since:
            if NOTHING_KNOWN.search(part.summary) is None:
                yield f"nothing is said of what was before the evidence begins, and {name} lost records then"
        elif part.verdicts.get(name, UNKNOWN) != UNKNOWN:
            yield f"{name} is called {part.verdicts[name]}, and no loss is reported"
        elif part.loss == EXCLUDED:
            yield f"a loss is excluded, and {name} lost records"
        elif NOTHING_KNOWN.search(part.summary) is None:
            yield f"the loss on {name} is passed over: {part.summary}"


class Tried(NamedTuple):
    family: str
    words: str
    violations: tuple[Violation, ...]
    unknown: int
    listed: int


@lru_cache(maxsize=4)
def whole_of(name: str) -> Judged:
    return judged(recorded.report(name))


def tried(name: str, way: Way) -> Tried:
    family, words, take = way
    files = take(bundle(name))
    try:
        part = judged(report(files))
        if family == OTHERS:
            part = part._replace(claims=[c for c in part.claims if c.of_last])
    except Exception as error:  # whatever it is, it is what this looks for
        return Tried(family, words, ((CRASH, repr(error)),), 0, 0)
    altered = UNCOMPARED | OF_CLOCKS if family == TIMES else UNCOMPARED
    found = tuple(broken(part, whole_of(name), truth_of(name), altered))
    return Tried(family, words, found, sum(v == UNKNOWN for v in part.verdicts.values()), len(part.verdicts))


def chosen(name: str, part: int, parts: int) -> list[Way]:
    """Every so many-th way of a fixture, from another one on for each fixture, so that a part has all families in it."""
    return list(ways(name))[(part - 1 + NAMES.index(name)) % parts :: parts]


def main(arguments: list[str]) -> int:
    """Tries all, tells what is broken as it is found, and the table at the end."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.taken")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--part", default="1/1", metavar="K/N")
    asked = parser.parse_args(arguments)
    part, parts = map(int, asked.part.split("/"))
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for number, name in enumerate(names := asked.names or NAMES, 1):
        begun, before = time.monotonic(), Counter(rows["all"])
        for way in chosen(name, part, parts):
            result = tried(name, way)
            for row in (rows[result.family], rows["all"]):
                row["ways"] += 1
                row["unknown"] += result.unknown
                row["partitions"] += result.listed
                row.update({relation for relation, _ in result.violations})
            for relation, stated in result.violations:
                print(f"{name}\t{result.family}\t{result.words}\t{relation}\t{stated}", flush=True)
        _events.cache_clear()
        own = Counter(rows["all"]) - before
        stated = ", ".join(f"{own[r]} {r}" for r in NEVER if own[r]) or "nothing broken"
        print(
            f"{number} of {len(names)} {name}: {own['ways']} ways, {stated}, {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True
        )
    shown = (*NEVER, ITSELF)
    print(f"\n{'taken away':24} {'ways':>6} {' '.join(f'{r:>9}' for r in shown)}   verdicts unknown")
    for family, row in rows.items():
        print(f"{family:24} {row['ways']:6} {' '.join(f'{row[r]:9}' for r in shown)}   {row['unknown']} of {row['partitions']}")
    return int(any(rows["all"][relation] for relation in NEVER))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
