"""The differences between two cases: in the terminal, as JSON and as Markdown.

Here: the documents and their words. Not here: what is compared (forensics.tools.case_diff), or the cases (forensics.case).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from forensics.incidents.folding import places
from forensics.model.findings import Finding
from forensics.model.message import timestamp
from forensics.model.times import grouped
from forensics.output.display_times import UTC, DisplayZone
from forensics.output.json_text import encoded
from forensics.output.sanitise import clean
from forensics.output.version import version
from forensics.tools.case_diff import ChangedField, Difference
from forensics.views.document import finding_row, rules_digest
from forensics.views.markdown import prose
from forensics.views.terminal import hung, put, rendered
from forensics.words import summary
from forensics.words.formats import counted, some

SCHEMA = "kafka-forensics/diff/1"
LISTED = 20
"""Lines of a list in the terminal and in Markdown."""
TOGETHER = 4
"""Files of one directory that are listed one by one."""
NAMED = 6
"""Partitions that a line names."""
OPTIONS = {
    "zone_offset_ms": "--timezone",
    "zone_name": "--timezone",
    "clock_offsets_ms": "--clock-offset",
    "log_patterns": "--log-pattern",
    "limits": "--limit",
    "patterns": "--patterns",
    "rules": "--rules",
}
"""Options of the command line, by their names in a case's manifest."""
FILES = {"additional": "new", "missing": "gone", "changed": "changed", "moved": "moved", "same": "same", "unread": "unread"}
"""Words for the states of files (forensics.tools.custody.STATES)."""


@dataclass(frozen=True)
class CaseFacts:
    """What is printed about one of the two cases."""

    path: str
    cluster_id: str | None
    tool: Mapping[str, Any]
    """`tool` of the case's manifest."""
    options: Mapping[str, Any]
    """How the evidence was read."""
    verdict: Mapping[str, Any]
    """`verdict` of the case's manifest: loss, summary, partitions."""
    first: datetime | None
    """Time of the first line of the evidence (UTC)."""
    last: datetime | None

    def row(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "cluster_id": self.cluster_id,
            "tool": {"version": self.tool["version"], "rules": self.tool["rules"]},
            "options": dict(self.options),
            "verdict": {name: self.verdict[name] for name in ("loss", "summary", "partitions")},
            "first": timestamp(self.first),
            "last": timestamp(self.last),
        }


@dataclass(frozen=True)
class DiffReport:
    """The difference between two cases, and the facts about each."""

    before: CaseFacts
    after: CaseFacts
    difference: Difference
    command: Sequence[str] = ()
    zone: DisplayZone = UTC

    @property
    def apart(self) -> list[str]:
        """That the cases are of two clusters, so that nothing of them can be compared."""
        before, after = self.before.cluster_id, self.after.cluster_id
        if None in (before, after) or before == after:
            return []
        return [f"The cases are of different clusters: id {before} before, id {after} after."]

    def notes(self) -> list[str]:
        """What a reader must know before the differences."""
        lines = self.apart
        if self.before.tool["rules"] != self.after.tool["rules"]:
            versions = f"version {self.before.tool['version']} before, version {self.after.tool['version']} after"
            lines.append(f"The cases were made by different programs ({versions}), so some differences may come from the tool.")
        names = {**self.before.options, **self.after.options}
        options = sorted({OPTIONS.get(n, n) for n in names if self.before.options.get(n) != self.after.options.get(n)})
        if options:
            lines.append(f"The evidence was read with different options ({', '.join(options)}), so some differences may come from these.")
        return lines

    def document(self) -> dict[str, Any]:
        """Schema kafka-forensics/diff/1."""
        d = self.difference
        files = Counter(FILES[c.state] for c in d.files)
        return {
            "schema": SCHEMA,
            "tool": {"version": version(), "command": list(self.command), "rules": rules_digest()},
            "same": not d,
            "before": self.before.row(),
            "after": self.after.row(),
            "notes": self.notes(),
            "partitions": {
                "new": [_partition(name, verdict) for name, verdict in d.new_partitions],
                "gone": [_partition(name, verdict) for name, verdict in d.gone_partitions],
                "changed": [
                    {"topic": c.partition[0], "partition": c.partition[1], "before": c.before, "after": c.after, "why": c.why}
                    for c in d.verdicts
                ],
                "same": d.same_verdicts,
            },
            "findings": {
                "new": [_finding(f) for f in d.new_findings],
                "gone": [_finding(f) for f in d.gone_findings],
                "changed": [{"before": _finding(c.before), "after": _finding(c.after), "fields": _fields(c.fields)} for c in d.findings],
                "same": d.same_findings,
            },
            "brokers": {
                "new": [node.id for node in d.new_nodes],
                "gone": [node.id for node in d.gone_nodes],
                "changed": [{"id": node, "fields": _fields(fields)} for node, fields in d.nodes],
                "same": d.same_nodes,
            },
            "sources": {
                **{word: [c.path for c in d.files if FILES[c.state] == word] for word in ("new", "gone", "changed")},
                "moved": [{"path": c.path, "at": c.at} for c in d.files if c.state == "moved"],
                "same": files["same"],
                "unread": files["unread"],
            },
        }

    def json(self) -> str:
        return encoded(self.document(), indent=1) + "\n"

    def markdown(self) -> str:
        return "\n".join(_markdown(self)) + "\n"


def _partition(name: tuple[str, int], verdict: str) -> dict[str, Any]:
    return {"topic": name[0], "partition": name[1], "verdict": verdict}


COMPARED = ("kind", "severity", "confidence", "brokers", "start", "start_latest", "end", "cause")
"""Fields of a finding that the document has."""


def _finding(f: Finding) -> dict[str, Any]:
    row = finding_row(f)
    partitions = [{"topic": p.topic, "partition": p.partition, "offsets": [r.row() for r in p.offsets]} for p in places(f)]
    return {"id": f.id, **{name: row[name] for name in COMPARED}, "partitions": partitions, "summary": summary(f)}


def _fields(fields: Sequence[ChangedField]) -> dict[str, Any]:
    return {field.name: {"before": field.before, "after": field.after} for field in fields}


# words


@dataclass(frozen=True)
class _Section:
    """A list under a heading; an entry is a line and the lines below it."""

    title: str
    entries: Sequence[tuple[str, Sequence[str]]]


def _sections(report: DiffReport) -> Iterator[_Section]:
    d = report.difference
    yield _Section(
        f"Partitions: {_counts(d.new_partitions, d.gone_partitions, d.verdicts, d.same_verdicts)}",
        [*_verdicts(d)],
    )
    entries = [
        *((f"new {_line(f)}", ()) for f in d.new_findings),
        *((f"gone {_line(f)}", ()) for f in d.gone_findings),
        *((f"changed {_line(c.after)}", [*map(_field, c.fields)]) for c in d.findings),
    ]
    yield _Section(f"Findings: {_counts(d.new_findings, d.gone_findings, d.findings, d.same_findings)}", entries)
    nodes = [
        *((f"new broker {node.id}, Kafka {node.version or 'version unknown'}", ()) for node in d.new_nodes),
        *((f"gone broker {node.id}, Kafka {node.version or 'version unknown'}", ()) for node in d.gone_nodes),
        *((f"changed broker {node}", [*map(_field, fields)]) for node, fields in d.nodes),
    ]
    yield _Section(f"Brokers and controllers: {_counts(d.new_nodes, d.gone_nodes, d.nodes, d.same_nodes)}", nodes)
    of = defaultdict(list)
    for c in d.files:
        of[FILES[c.state]].append(c)
    files = [(f"{word} {line}", ()) for word in ("new", "gone", "changed") for line in _paths([c.path for c in of[word]])]
    same = len(of["same"]) + len(of["moved"]) + len(of["unread"])
    yield _Section(f"Files: {_counts(of['new'], of['gone'], of['changed'], same)}", files)


def _paths(paths: Sequence[str]) -> Iterator[str]:
    """One line for each directory at the top with more than TOGETHER of the files."""
    by_top = grouped((path.partition("/")[0], path) for path in paths)
    for top, own in by_top.items():
        yield from [f"{top}/ ({len(own)} files)"] if len(own) > TOGETHER else own


def _counts(new: Sequence[Any], gone: Sequence[Any], changed: Sequence[Any], same: int) -> str:
    """'2 new, 1 changed, 5 the same'."""
    words = {"new": len(new), "gone": len(gone), "changed": len(changed), "the same": same}
    return ", ".join(f"{n:,} {word}" for word, n in words.items() if n) or "none"


def _verdicts(d: Difference) -> Iterator[tuple[str, Sequence[str]]]:
    """Partitions with the same change are one line."""
    changed = grouped((f"{c.before} -> {c.after}", f"{c.partition[0]}-{c.partition[1]}") for c in d.verdicts)
    for word, only in (("new", d.new_partitions), ("gone", d.gone_partitions)):
        for name, verdict in only:
            changed[f"{word}, {verdict}"].append(f"{name[0]}-{name[1]}")
    yield from (
        (f"{change}: {some(names, NAMED)} ({counted(len(names))})" if len(names) > 1 else f"{change}: {names[0]}", ())
        for change, names in changed.items()
    )


def _line(f: Finding) -> str:
    return f"[{f.severity}, {f.confidence}] {f.kind}: {summary(f)}"


def _field(field: ChangedField) -> str:
    """'severity: medium -> high'. Of lists, only the entries that differ."""
    name = field.name.replace("_", " ").replace(" ms", " in ms")
    if isinstance(field.before, dict):
        names = [n for n in {**field.before, **field.after} if field.before.get(n) != field.after.get(n)]
        shown = [f"{n} {_ranges(field.before.get(n, ()))} -> {_ranges(field.after.get(n, ()))}" for n in names]
        return f"{name}: {some(shown, NAMED)}"
    if isinstance(field.before, list):
        new = [str(v) for v in field.after if v not in field.before]
        gone = [str(v) for v in field.before if v not in field.after]
        return f"{name}: " + "; ".join([*([f"new {some(new, NAMED)}"] if new else []), *([f"gone {some(gone, NAMED)}"] if gone else [])])
    return f"{name}: {_value(field.before)} -> {_value(field.after)}"


def _ranges(ranges: Sequence[Mapping[str, Any]]) -> str:
    words = [f"{r['start']}–{r['end'] - 1}" if r["end"] is not None else f"{r['start']} and later" for r in ranges]
    return some(words, NAMED) or "none"


def _value(value: Any) -> str:
    return "none" if value is None else {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _headline(report: DiffReport) -> str:
    """'2 verdicts changed; findings: 3 new, 1 gone; files: 36 new.'"""
    d = report.difference
    if not d:
        return "No differences."
    files = Counter(FILES[c.state] for c in d.files)
    counts = {
        "partitions": (len(d.new_partitions), len(d.gone_partitions), len(d.verdicts)),
        "findings": (len(d.new_findings), len(d.gone_findings), len(d.findings)),
        "brokers and controllers": (len(d.new_nodes), len(d.gone_nodes), len(d.nodes)),
        "files": (files["new"], files["gone"], files["changed"]),
    }
    words = {
        what: ", ".join(f"{n:,} {word}" for n, word in zip(numbers, ("new", "gone", "changed"), strict=True) if n)
        for what, numbers in counts.items()
    }
    return (
        "; ".join(f"{what.capitalize() if not n else what}: {said}" for n, (what, said) in enumerate((w, t) for w, t in words.items() if t))
        + "."
    )


def _facts(facts: CaseFacts, zone: DisplayZone) -> str:
    partitions = ", ".join(f"{count:,} {verdict}" for verdict, count in facts.verdict["partitions"].items() if count) or "no partitions"
    times = "evidence without times"
    if facts.first and facts.last:
        times = f"evidence {zone.seconds(facts.first)} to {zone.seconds(facts.last)} {zone.label([facts.first, facts.last])}"
    return f"{facts.path}: {partitions}; {times}; made by kafka-forensics {facts.tool['version']}"


def show(report: DiffReport, console: Console) -> None:
    put(console, rendered(console, _parts(report)))


def _parts(report: DiffReport) -> Iterator[RenderableType]:
    for line in (*report.apart, _headline(report)):
        yield Text(clean(line), style="bold")
    for word, facts in (("before", report.before), ("after ", report.after)):
        yield hung(f"  {word}  ", Text(clean(_facts(facts, report.zone))))
    for note in report.notes()[len(report.apart) :]:
        yield Text(clean(note), style="bold")
    for section in _sections(report):
        yield Text(f"\n{section.title}", style="bold")
        for line, below in section.entries[:LISTED]:
            yield hung("  - ", Text(clean(line)))
            yield from (hung("      ", Text(clean(detail), style="dim")) for detail in below)
        if len(section.entries) > LISTED:
            yield Text(f"    and {len(section.entries) - LISTED} more; --json lists all")


def _markdown(report: DiffReport) -> Iterator[str]:
    yield from ("# What changed", "", *(f"**{prose(line)}**\n" for line in report.apart), prose(_headline(report)), "")
    yield from (f"- {word}: {prose(_facts(facts, report.zone))}" for word, facts in (("Before", report.before), ("After", report.after)))
    yield from (f"- **{prose(note)}**" for note in report.notes()[len(report.apart) :])
    for section in _sections(report):
        yield from ("", f"## {prose(section.title)}", "")
        for line, below in section.entries[:LISTED]:
            yield f"- {prose(line)}"
            yield from (f"    - {prose(detail)}" for detail in below)
        if len(section.entries) > LISTED:
            yield f"\nand {len(section.entries) - LISTED} more; `--json` lists all"
