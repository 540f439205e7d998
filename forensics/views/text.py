"""The summary a terminal shows: the verdict, losses, present failures, what happened, next steps, findings, causes, and unknowns.

Here: the text and the order. Not here: the findings themselves. Log text is hostile: control characters never reach the terminal, and
markup in it is printed literally.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import LEVELS, Evidence, Finding, Purpose
from forensics.output.display_times import DisplayZone
from forensics.output.sanitise import clean
from forensics.output.version import version
from forensics.rules import of_purpose
from forensics.views import happened
from forensics.views.document import Report
from forensics.views.headline import BROKEN, EXCLUDED, FOUND, UNSETTLED
from forensics.views.impact import broken
from forensics.views.losses import LostRange, by_kind, losses, spans_days, unsettled
from forensics.views.losses import first_screen as losses_of_first_screen
from forensics.views.notes import after_earlier_clusters, notes
from forensics.views.terminal import Line, WordTable, hung, indent, put, rendered
from forensics.words import of_incident, summary, words
from forensics.words.formats import began, counted, some

COLOURS = {"critical": "bold white on red", "high": "bold red", "medium": "yellow", "low": "cyan", "info": "dim"}
MODES = {"kraft": "KRaft", "zookeeper": "ZooKeeper", "unknown": "mode unknown"}
ALWAYS_LISTED = ("critical", "high")
LISTED = 12
"""Lines of one severity; the rest are counted."""
TOLD = 3
"""Findings whose explanation is printed."""
QUOTED = 2
PRESENT = 8
"""Present failures on the first screen."""
COPIED, SAID = 2, 240
"""Sentences per group in the closing summary, and characters of one."""
WHOLE = 24
"""Lines of the verdict, and of the closing summary, which are never shortened."""
ENTRY = 2
"""Blanks before an entry, at most."""
MOST = 120
"""Lines of the whole summary: the amount that an engineer on call reads before acting."""


def show(report: Report, console: Console) -> None:
    """Never more than MOST lines: the longest sections are cut between two entries, with a note."""
    top, closing = (rendered(console, part(report))[:WHOLE] for part in (_top, _closing))
    sections = [lines for section in _SECTIONS if (lines := rendered(console, section(report)))]
    room = MOST - len(top) - len(closing)
    share = next(n for n in range(room, 0, -1) if sum(min(n, len(lines)) for lines in sections) <= room)
    put(console, top)
    for lines in sections:
        cut = lines if len(lines) <= share else lines[: _between(lines, share - 2)]
        put(console, cut)
        if cut is not lines:
            console.print(Text(f"  and {len(lines) - len(cut)} lines more; --json has all\n", style="dim"))
    put(console, closing)


def _between(lines: Sequence[Line], most: int) -> int:
    """As many lines as make whole entries; the lines of an entry are indented more than its first."""
    starts = [n for n in range(2, most + 1) if indent(lines[n]) <= ENTRY]
    return starts[-1] if starts else most


def _top(report: Report) -> Iterator[RenderableType]:
    yield _head(report)
    yield Text()
    yield headline(report)
    yield Text()


def _found(report: Report) -> Iterator[RenderableType]:
    if report.findings:
        yield _table(report)
        yield Text()


def _why(report: Report) -> Iterator[RenderableType]:
    worst = _worst_of_each_kind(report.findings)
    if worst:
        yield Text("Why", style="bold")
    for finding in worst:
        yield from _story(finding, report)


def subject(report: Report) -> list[str]:
    """Scope of the report: nodes, versions, partitions, sources."""
    cluster = report.cluster
    brokers = [n for n in cluster.nodes.values() if n.broker]
    versions = sorted({n.version for n in cluster.nodes.values() if n.version})
    size = sum(s.bytes or 0 for s in cluster.sources)
    controllers = len(cluster.nodes) - len(brokers)
    return [
        counted(len(brokers), "broker") + (f" and {counted(controllers, 'controller')}" if controllers else ""),
        f"Kafka {', '.join(versions)}" if versions else _protocol(cluster),
        MODES[cluster.mode],
        _partitions(report),
        f"{len(cluster.sources):,} sources, {sized(size)}",
    ]


def _partitions(report: Report) -> str:
    inside, every = len(report.partitions), len(report.all_partitions)
    return counted(every) if inside == every else f"{inside:,} of {counted(every)}"


def _head(report: Report) -> Text:
    cluster = report.cluster
    firsts = [s.first for s in cluster.sources if s.first]
    lasts = [s.last for s in cluster.sources if s.last]
    text = Text(" · ".join(map(clean, subject(report))))
    if firsts and lasts:
        text.append(f"\n{_covered(min(firsts), max(lasts), report.zone)}", style="dim")
    for line in notes(cluster):
        text.append(f"\n{clean(line)}", style="bold")
    return text


def _protocol(cluster: Cluster) -> str:
    """Lower bound of the version if no startup line gives it: brokers are at least as new as their protocol."""
    values = {cluster.settings.value("inter.broker.protocol.version", broker=n.id) for n in cluster.nodes.values() if n.broker}
    versions = sorted({value.split("-")[0] for value in values if value})
    return f"Kafka {', '.join(versions)} or later (inter.broker.protocol.version)" if versions else "Kafka version unknown"


def _covered(first: datetime, last: datetime, zone: DisplayZone) -> str:
    begin, end = zone.seconds(first), zone.seconds(last)
    return f"{begin} to {end[11:] if begin[:10] == end[:10] else end} {zone.label((first, last))}"


def sized(size: int) -> str:
    value = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


_TONES = {FOUND: "bold red", BROKEN: "bold red", UNSETTLED: "bold yellow", EXCLUDED: "bold green"}


def headline(report: Report) -> Text:
    verdict = report.headline
    return Text(_said(report, verdict.summary), style=_TONES[verdict.tone])


def _lost(report: Report) -> Iterator[RenderableType]:
    """Losses partition by partition, the worst first, and the disks that must not be changed."""
    every = losses(report.findings)
    dates = spans_days(every)
    for listed in losses_of_first_screen(every):
        yield Text(listed.heading, style="bold")
        if listed.shown:
            yield _loss_table(listed.shown, report.zone, dates=dates)
        if listed.more:
            yield Text(f"  and {listed.more:,} more; --json has all")
        yield Text()
    for line in report.untouchable:
        yield Text(_said(report, line), style="bold red")
        yield Text()


def _loss_table(ranges: Sequence[LostRange], zone: DisplayZone, *, dates: bool) -> RenderableType:
    times = [at for r in ranges if r.place.written is not None for at in (r.place.written.since, r.place.written.until) if at is not None]
    header = ("partition", "offsets", f"written ({zone.label(times) if times else zone.name})", "recoverable", "groups beyond")
    rows = [[clean(cell) for cell in (r.name, r.extent, r.written(zone, dates=dates), r.recoverable, r.readers)] for r in ranges]
    return Padding(WordTable(header, rows), (0, 0, 0, 2))


def _present(report: Report) -> Iterator[RenderableType]:
    """What does not work when the evidence ends."""
    now = list(broken(report.findings, report.partitions))
    if now:
        yield Text("Broken now", style="bold")
        yield from (_item(report, line) for line in now[:PRESENT])
        if len(now) > PRESENT:
            yield Text(f"  and {len(now) - PRESENT:,} more")
        yield Text()


def _item(report: Report, words: str) -> RenderableType:
    return hung("  - ", Text(_said(report, words)))


def _said(report: Report, words: str) -> str:
    """A sentence of ours as the terminal shows it."""
    return report.zone.sentence(clean(words))


def _incidents(report: Report) -> Iterator[RenderableType]:
    shown, more = happened.first_screen(report.incidents)
    if shown:
        yield Text("What happened", style="bold")
    for incident in shown:
        at = f"  {report.zone.seconds(incident.start)}  " if incident.start is not None else "  "
        mark = f" [{incident.cluster}]" if incident.cluster else ""
        words = Text(f"{incident.kind}{mark}  ", style=_colour(incident.severity)).append(
            _said(report, happened.course(incident)), style="none"
        )
        yield hung(at, words, _colour(incident.severity))
    if more:
        yield Text(f"  and {more:,} smaller ones; --json has all")
    if shown:
        yield Text()


def _table(report: Report) -> Table:
    findings, zone = report.findings, report.zone
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=True, header_style="bold", expand=False)
    for name in ("severity", "kind", "when"):
        table.add_column(name, no_wrap=True)
    table.add_column("what", overflow="fold")
    several_days = len({zone.wall(at).date() for f in findings if (at := f.happened) is not None}) > 1
    time_format = "%m-%d %H:%M:%S" if several_days else "%H:%M:%S"
    for level in reversed(LEVELS[1:]):
        rows = [f for f in findings if f.severity == level]
        for finding in rows[:LISTED]:
            at = finding.happened
            when = zone.wall(at).strftime(time_format) if at is not None else ""
            table.add_row(Text(level, style=COLOURS[level]), finding.kind, when, Text(_said(report, _what(finding))))
        if len(rows) > LISTED:
            table.add_row(Text(level, style=COLOURS[level]), "", "", f"and {len(rows) - LISTED:,} more; --json has all")
    if harmless := Counter(f.kind for f in findings if f.severity == LEVELS[0]):
        kinds = ", ".join(f"{kind} ({count})" if count > 1 else kind for kind, count in harmless.items())
        table.add_row(Text(LEVELS[0], style=COLOURS[LEVELS[0]]), "", "", f"{kinds}; --json has them")
    return table


def _what(finding: Finding) -> str:
    notes = [note for note in (finding.confidence if finding.confidence != "certain" else "", finding.cluster) if note]
    return summary(finding) + "".join(f" [{note}]" for note in notes)


def _worst_of_each_kind(findings: Sequence[Finding]) -> list[Finding]:
    """The worst findings, one of each kind and cause before a second."""
    serious = [f for f in findings if f.severity in ALWAYS_LISTED]
    chosen: list[Finding] = []
    seen: set[tuple[str, str | None]] = set()
    for finding in serious:
        if (finding.kind, finding.cause) not in seen:
            seen.add((finding.kind, finding.cause))
            chosen.append(finding)
    return chosen[:TOLD]


def _story(finding: Finding, report: Report) -> Iterator[RenderableType]:
    colour = _colour(finding.severity)
    yield hung(f"  {finding.kind}  ", Text(_said(report, words(finding).summary), style=colour), colour)
    yield Padding(Text(_said(report, words(finding).explanation)), (0, 0, 0, 4))
    for evidence in finding.evidence[:QUOTED]:
        yield from _quote(evidence)
    yield Text()


def _colour(severity: str) -> str:
    return COLOURS[severity] if severity != "critical" else "bold red"


def _quote(evidence: Evidence) -> Iterator[RenderableType]:
    where = f":{evidence.line}" if evidence.line is not None else f"@{evidence.byte}" if evidence.byte is not None else ""
    yield Padding(Text(clean(evidence.source + where), style="cyan"), (0, 0, 0, 4))
    yield Padding(Text(clean(evidence.shown.splitlines()[0] if evidence.text else ""), style="dim"), (0, 0, 0, 6))


def _unknowns(report: Report) -> Iterator[RenderableType]:
    gaps = [summary(f) for f in of_purpose(report.findings, Purpose.MISSING_EVIDENCE, Purpose.CONTRADICTION)]
    missing = report.not_collected()
    zones = report.unsure_zones()
    if not gaps and not missing and not zones:
        return
    yield Text("What limits this report", style="bold")
    for gap in gaps[:LISTED]:
        yield _item(report, gap)
    if missing:
        yield _item(report, f"not collected: {'; '.join(missing)}")
    for zone in zones:
        yield _item(report, f"{zone}; state it with --timezone")
    yield Text()


def _next(report: Report) -> Iterator[RenderableType]:
    steps = report.next_steps
    if steps:
        yield Text("What to do next", style="bold")
        yield from (_item(report, step) for step in steps)
        yield Text()


def _closing(report: Report) -> Iterator[RenderableType]:
    """A summary that fits into a message: understandable alone, and the last text in a terminal."""
    verdict = report.headline
    numbers = ", ".join(f"{n:,} {name}" for name, n in verdict.partitions.items() if n) or "none"
    lines = [f"{verdict.title}. Of {counted(len(report.partitions))}: {numbers}."]
    if report.scope is not None:
        lines += report.scope.after()
    lines += after_earlier_clusters(report.cluster)
    every = losses(report.findings)
    lines += [f"{heading} ({some(list(dict.fromkeys(r.name for r in own)))})." for heading, own in by_kind(every)]
    if open_ones := unsettled(every, report.partitions):
        lines.append(f"Unknown whether data was lost in {counted(len(open_ones))} ({some(open_ones)}).")
    if causes := [i for i in report.incidents if i.severity != "info"]:
        lines.append(f"Cause: {of_incident(causes[0]).summary} ({began(causes[0].start, causes[0].start_latest)}).")
    lines += [f"Now: {line}." for line in list(broken(report.findings, report.partitions))[:COPIED]]
    lines += report.untouchable[:COPIED]
    lines += [f"Next: {step}" for step in report.next_steps[:1]]
    brokers = sum(n.broker for n in report.cluster.nodes.values())
    times = "Times are UTC." if report.zone.zone is None else f"Times are of the zone {report.zone.name}."
    lines.append(
        f"{times} Made by kafka-forensics {version()} from {counted(len(report.cluster.sources), 'file')} of {counted(brokers, 'broker')}."
    )
    yield Text("In short", style="bold")
    yield from (hung("  ", Text(_said(report, _short(line)))) for line in lines)


def _short(line: str) -> str:
    """The line, shortened at the end of a clause or a word."""
    if len(line) <= SAID:
        return line
    kept = line[:SAID]
    clauses, clause, _ = kept.rpartition("; ")
    return f"{clauses}; …" if clause else f"{kept.rpartition(' ')[0]} …"


_SECTIONS = (_lost, _present, _incidents, _next, _found, _why, _unknowns)
