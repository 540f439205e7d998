"""The draft of a post-incident review as Markdown (GitHub's): events, impact, evidence, what to do.

Here: sections, tables and escapes. Not here: the findings. Log text is hostile: in a sentence it is escaped, a quote is in a fence longer
than any in it, so that log text cannot become markup, a link, a mention or a reference.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from rich.cells import cell_len

from forensics.model.clock.sources import line_times
from forensics.model.findings import LEVELS, Evidence, Finding, Purpose
from forensics.output.sanitise import clean
from forensics.output.version import version
from forensics.rules import of_purpose, rule_of
from forensics.views.document import Report, rules_digest
from forensics.views.first_screen import Size, first_screen
from forensics.views.impact import broken
from forensics.views.losses import LostRange, loss_tables, losses
from forensics.views.notes import notes
from forensics.views.text import MODES
from forensics.words import of_incident, summary, title_of, words
from forensics.words.formats import began, capital, counted, moment, nodes_named, period

SERIOUS = ("critical", "high")
WORTH_A_LINE = (*SERIOUS, "medium")
"""Severities that are in the timeline."""
MOMENTS = 100
"""Lines of the timeline; if there are more, the most severe."""
PLACES = 200
"""Lost ranges that the tables of losses list."""
ANNOUNCED = 12
"""Causes with a section each."""
PROVEN = 40
"""Findings whose evidence is quoted."""
STEPS = 30

_SPECIAL = re.compile(r"([\\`*\[\]|~$])")
_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
"""Characters that may begin or end emphasis."""
_REFERENCE = re.compile(r"[@#](?=\w)|\bGH-(?=\d)")
"""Text that GitHub turns into a mention or an issue reference."""
_LINK = re.compile(r"(?i)\b(https?|ftp|mailto|xmpp|www)(?=[.:])")
_BLOCK = re.compile(r"^(\d+)([.)])(?=\s|$)|^([-+=#])")
"""Text that would begin a list, a heading or a quotation."""
_TICKS = re.compile("`+")
_COMMAND = re.compile("`([^`]+)`")
_SPACES = re.compile(r"\s+")


def prose(text: str) -> str:
    """Text in a sentence, on one line."""
    return _not_a_block(_escaped(text))


def _escaped(text: str) -> str:
    shown = _SPACES.sub(" ", clean(text)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    shown = _UNDERSCORE.sub(r"\\_", _SPECIAL.sub(r"\\\1", shown))
    return _LINK.sub(r"\1<!-- -->", _REFERENCE.sub(lambda m: f"{m[0]}<!-- -->", shown))


def _not_a_block(shown: str) -> str:
    shown = shown.strip()
    return _BLOCK.sub(lambda m: f"{m[1]}\\{m[2]}" if m[1] else f"\\{m[3]}", shown)


def _said(report: Report, text: str) -> str:
    """A sentence of ours, with its times in the zone of the report and its commands as code."""
    parts = _COMMAND.split(report.zone.sentence(text))
    return _not_a_block("".join(code(part) if n % 2 else _escaped(part) for n, part in enumerate(parts)))


def code(text: str) -> str:
    """Text as code, on one line; in a table, too."""
    shown = " ".join(clean(text).split()).replace("|", "¦") or " "
    fence = "`" * (max((len(run) for run in _TICKS.findall(shown)), default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def block(lines: Iterable[str]) -> Iterator[str]:
    """Text in a fence."""
    shown = [clean(line).replace("\n", " ") for line in lines]
    fence = "`" * max(3, max((len(run) for line in shown for run in _TICKS.findall(line)), default=0) + 1)
    yield from (f"{fence}text", *shown, fence)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Cells are Markdown; all columns except the last are padded, for readers of the raw file."""
    widths = [max(cell_len(row[n]) for row in (head, *rows)) for n in range(len(head) - 1)]

    def line(cells: Sequence[str]) -> str:
        even = [cell + " " * (width - cell_len(cell)) for cell, width in zip(cells[:-1], widths, strict=True)]
        return f"| {' | '.join((*even, cells[-1]))} |"

    yield line(head)
    yield line(["-" * max(3, width) for width in (*widths, cell_len(head[-1]))])
    yield from map(line, rows)


def pieces(report: Report) -> Iterator[str]:
    for section in (_summary, _impact, _course, _causes, _evidence, _actions, _limits, _findings, _made):
        lines = list(section(report))
        if lines:
            yield "\n".join(lines) + "\n\n"


def _summary(report: Report) -> Iterator[str]:
    begin = min(line_times(report.cluster.sources), default=None)
    day = f" of {begin:%Y-%m-%d}" if begin is not None else ""
    yield f"# Post-incident review: Kafka incident{day}, {prose(report.headline.title[:1].lower() + report.headline.title[1:])}"
    yield ""
    yield f"_Draft by kafka-forensics, from the logs and checkpoints of the brokers. {_times(report)} `TODO` marks what only people know._"
    yield ""
    yield "## Summary"
    yield ""
    for line in notes(report.cluster):
        yield f"> **Note:** {prose(line)}"
        yield ""
    yield from table(("", "Verdict"), [(f"**{line.label}**", _said(report, line.text)) for line in report.headline.lines])
    yield ""
    screen = first_screen(report)(Size())
    for why in screen.why:
        yield f"**Why:** {_said(report, why)}"
        yield ""
    people = [("Severity", "`TODO`"), ("Noticed at, by", "`TODO`"), ("Owner of this review", "`TODO`")]
    yield from table(("", ""), [*_facts(report), *people])


def _times(report: Report) -> str:
    return "Times are UTC." if report.zone.zone is None else f"Times are of the zone {prose(report.zone.name)}."


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    cluster = report.cluster
    brokers = [n for n in cluster.nodes.values() if n.broker]
    id_ = f", id {code(cluster.id)}" if cluster.id else ""
    yield "Cluster", f"{counted(len(brokers), 'broker')}, {MODES[cluster.mode]}{id_}"
    yield "Kafka", prose(", ".join(sorted({n.version for n in brokers if n.version}))) or "version unknown"
    if times := line_times(cluster.sources):
        yield "Evidence", _said(report, f"{len(cluster.sources):,} sources, {period(min(times), max(times))}")
    verdicts = ", ".join(f"{n:,} {verdict}" for verdict, n in report.headline.partitions.items())
    yield "Partitions", f"{len(report.partitions):,}: {verdicts}"


def _impact(report: Report) -> Iterator[str]:
    yield "## Impact"
    yield ""
    every = losses(report.findings)
    for listed in loss_tables(every, PLACES):
        yield f"**{prose(listed.heading)}**"
        yield ""
        yield from table(_COLUMNS, [_loss(r, report) for r in listed.shown]) if listed.shown else ()
        if listed.more:
            yield f"\nand {listed.more:,} more; the JSON report has all."
        yield ""
    if not every:
        yield "No record is known to be lost."
        yield ""
    yield from (f"- {_said(report, line)}" for line in report.untouchable)
    yield from (f"- When the evidence ends: {_said(report, line)}." for line in broken(report.findings, report.partitions))
    yield "- Who was affected, and how: `TODO`"


_COLUMNS = ("Partition", "Offsets", "Records", "Written", "Lost", "Sure", "Cause", "Recoverable", "Read by groups", "Finding")


def _loss(r: LostRange, report: Report) -> tuple[str, ...]:
    written = r.place.written
    return (
        code(r.name),
        ", ".join(map(str, r.offsets)) or "unknown",
        r.size or "unknown",
        _said(report, period(written.since, written.until)) if written is not None else "unknown",
        report.zone.moment(r.at) if r.at is not None else "unknown",
        r.confidence,
        prose(r.finding.cause or ""),
        prose(r.recoverable),
        prose(r.readers),
        code(r.finding.id),
    )


_Moment = tuple[datetime | None, str, str, str, str]
"""Time, severity, kind, words, id."""


def _moments(report: Report) -> Iterator[_Moment]:
    """Starts and ends of incidents, and findings without an incident."""
    for i in report.incidents:
        title = title_of(i)
        yield i.start, i.severity, title, of_incident(i).summary, i.id
        if i.end is not None and i.end != i.start:
            yield i.end, i.severity, title, "ended", i.id
    known = {i.id for i in report.incidents}
    for f in report.findings:
        timed = f.happened is not None or f.loss  # settings have none, and are among the causes
        if timed and (f.severity in SERIOUS or (f.severity in WORTH_A_LINE and f.incident not in known)):
            yield f.happened, f.severity, rule_of(f.kind).title, summary(f), f.id


def _course(report: Report) -> Iterator[str]:
    """Events in order of time."""
    moments = list(_moments(report))
    if not moments:
        return
    yield "## Timeline"
    yield ""
    worst = [row for level in reversed(LEVELS) for row in moments if row[1] == level][:MOMENTS]
    for at, _, kind, what, id_ in sorted(worst, key=lambda row: (row[0] is None, row[0] or datetime.min)):
        when = report.zone.moment(at) if at is not None else "at an unknown time"
        yield f"- {when}: **{prose(kind)}** {_said(report, what)} ({code(id_)})"
    if len(moments) > MOMENTS:
        yield f"- and {len(moments) - MOMENTS} less severe; the JSON report has all"
    yield "- `TODO`: when it was noticed, what was done, when users were no longer affected"


def _causes(report: Report) -> Iterator[str]:
    yield "## Causes"
    yield ""
    serious = [i for i in report.incidents if i.severity != "info"]
    for i in serious[:ANNOUNCED]:
        yield f"### {prose(title_of(i))} ({code(i.id)}, {i.severity}, {nodes_named(i.brokers, report.cluster.controllers)})"
        yield ""
        over = f", until {moment(i.end)}" if i.end is not None else ""
        yield _said(report, f"{capital(began(i.start, i.start_latest))}{over}: {of_incident(i).explanation}")
        yield ""
    if len(serious) > ANNOUNCED:
        yield f"and {len(serious) - ANNOUNCED} smaller ones; the JSON report has all."
        yield ""
    if not serious:
        yield "The evidence names none."
        yield ""
    yield "Why that could happen, and why it was not noticed before: `TODO`"


def _evidence(report: Report) -> Iterator[str]:
    serious = [f for f in report.findings if f.severity in SERIOUS or f.loss]
    if not serious:
        return
    yield "## Evidence"
    for f in serious[:PROVEN]:
        yield ""
        yield f"### {_said(report, summary(f))} ({code(f.id)}, {f.severity}, {f.confidence})"
        yield ""
        yield _said(report, words(f).explanation)
        yield ""
        yield from block(line for e in f.evidence for line in _quoted(e))
    if len(serious) > PROVEN:
        yield f"\nand {len(serious) - PROVEN} more; the JSON report has all."


def _quoted(e: Evidence) -> tuple[str, ...]:
    where = f":{e.line}" if e.line is not None else f"@{e.byte}" if e.byte is not None else ""
    return f"{e.source}{where}", *(f"    {line}" for line in e.shown.splitlines())


def _actions(report: Report) -> Iterator[str]:
    yield "## Actions"
    yield ""
    first = report.next_steps
    grave = (f for f in report.findings if f.severity in WORTH_A_LINE or f.loss)
    steps = list(dict.fromkeys((*first, *(step for f in grave for step in words(f).next_steps))))
    yield from (f"- [ ] {_said(report, step)} (who, until when: `TODO`)" for step in steps[:STEPS])
    if len(steps) > STEPS:
        yield f"- [ ] and {len(steps) - STEPS:,} more; the JSON report has all"
    yield "- [ ] `TODO`: what makes it not happen again"


def _limits(report: Report) -> Iterator[str]:
    limits = [summary(f) for f in of_purpose(report.findings, Purpose.MISSING_EVIDENCE, Purpose.CONTRADICTION)]
    limits += report.unsure_zones()
    limits += [f"not collected: {words}" for words in report.not_collected()]
    if limits:
        yield "## What limits this review"
        yield ""
        yield from (f"- {_said(report, line)}" for line in limits)


def _findings(report: Report) -> Iterator[str]:
    if report.findings:
        yield "## All findings"
        yield ""
        yield from table(("Id", "Severity", "Sure", "Kind", "Begins", "Ends", "What"), [_finding(f, report) for f in report.findings])


def _finding(f: Finding, report: Report) -> tuple[str, ...]:
    return (
        code(f.id),
        f.severity,
        f.confidence,
        prose(f.kind),
        report.zone.moment(f.start) if f.start is not None else "unknown",
        report.zone.moment(f.end) if f.end is not None else "unknown",
        _said(report, summary(f)),
    )


def _made(report: Report) -> Iterator[str]:
    quoted = {e.source for f in report.findings for e in f.evidence}
    yield "## How this was made"
    yield ""
    yield f"{code(shlex.join(['kafka-forensics', *report.command]))}, version {version()}, rules {code(rules_digest())}."
    rows = [(code(a.path), code(a.sha256)) for a in report.cluster.archives]
    rows += [(code(s.path), code(s.sha256 or "not known")) for s in report.cluster.sources if s.path in quoted]
    if rows:
        yield ""
        yield from table(("Archive, or source quoted", "SHA-256"), rows)
