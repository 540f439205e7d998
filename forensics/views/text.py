"""What a terminal shows: the first screen, the text to paste, and with `--all` also every loss, finding, step and limit.

Here: the look. Not here: the content of the first screen (first_screen), or the findings themselves. Log text is hostile: control
characters never reach the terminal, and markup in it is printed literally.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from itertools import islice

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from forensics.model.clock.sources import line_times
from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding, Purpose
from forensics.output.display_times import DisplayZone
from forensics.output.sanitise import clean
from forensics.rules import of_purpose, rule_of
from forensics.views.document import Report
from forensics.views.first_screen import FirstScreen, Size, first_screen
from forensics.views.headline import AFFECTED, BROKEN, EXCLUDED, FOUND, UNSETTLED
from forensics.views.losses import LostRange, is_one, loss_tables, losses
from forensics.views.notes import notes
from forensics.views.terminal import Line, WordTable, hung, put, rendered
from forensics.words import summary, words
from forensics.words.formats import counted, natural

COLOURS = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "cyan", "info": "dim"}
TONES = {FOUND: "bold red", BROKEN: "bold red", UNSETTLED: "bold yellow", AFFECTED: "bold yellow", EXCLUDED: "bold green"}
MODES = {"kraft": "KRaft", "zookeeper": "ZooKeeper", "unknown": "mode unknown"}
SERIOUS = ("critical", "high")
LISTED = 50
"""Findings of a complete report, unless another number is requested."""
QUOTED = 2
LEAST_TEXT = 20
"""Columns of text in the narrowest terminal."""
MOST = 28
"""Lines of the first screen."""
END = 18
"""Its last lines that are never cut: disks that must not be changed, the first step, how to see more, and what the evidence is."""
SMALLEST = Size(story=1, steps=1, ranges=0, why=1, now=1, earlier=0, commands=1, reasons=0)
GROWTH = (
    *("story", "ranges", "story", "reasons", "steps", "story", "ranges", "now", "earlier", "story", "commands", "steps", "why", "reasons"),
    *("story", "ranges", "ranges", "now", "reasons", "reasons", "story", "ranges", "ranges"),
)
"""The part of which one more is shown, if there is room: the most important first."""
WORDS = 60
"""Characters of the paths and options that a command on the screen repeats."""


def show(
    report: Report, console: Console, *, every: bool = False, most: int | None = None, quiet: bool = False, case: str | None = None
) -> None:
    """`every`: also all losses, findings (at most `most`), steps and limits. `quiet`: only the verdict. `case`: the case that
    the report is in."""

    sized = first_screen(report)

    def drawn(size: Size) -> tuple[list[Line], list[Line]]:
        screen = sized(size)
        body = () if quiet else _body(report, screen, console, every=every)
        end = () if quiet else _end(report, screen, size, case, every=every)
        return rendered(console, (*_verdict(report, screen, console), *body)), rendered(console, end)

    lines, end = drawn(Size())
    if not every and len(lines) + len(end) > MOST:
        lines, end = drawn(size := SMALLEST)
        for part in GROWTH:
            larger = replace(size, **{part: getattr(size, part) + 1})
            if sum(map(len, grown := drawn(larger))) <= MOST:
                size, (lines, end) = larger, grown
    more = (part for section in (_losses, _next, _limits) for part in section(report)) if every and not quiet else ()
    findings = _findings(report, most or LISTED) if every and not quiet else ()
    kept = end[-END:]
    put(console, [*(lines if every else lines[: MOST - len(kept)]), *kept, *rendered(console, [*more, *findings])])


def _verdict(report: Report, screen: FirstScreen, console: Console) -> Iterator[RenderableType]:
    """A line for each verdict, with the date of all times at the end of the first, if there is room."""
    assumed = (f"{zone}; state it with --timezone" for zone in report.unsure_zones())
    noted = [("NOTE", line, TONES[UNSETTLED]) for line in (*notes(report.cluster), *assumed)]
    lines = [*((line.label, line.text, TONES[line.tone]) for line in screen.lines), *noted]
    day = _day(report, screen)
    width = max([7, *(len(label) for label, _, _ in lines)]) + 2
    room = max(console.width - width, LEAST_TEXT)
    dated = False
    for label, said, style in lines:
        for row, part in enumerate(Text(_brief(report, screen, said)).wrap(console, room)):
            if not dated and (space := room - part.cell_len - len(day)) > 1:
                part, dated = Text.assemble(part, (" " * space + day, "dim")), True
            yield Text.assemble((f"{label if row == 0 else '':<{width}}", style), part)


def _day(report: Report, screen: FirstScreen) -> str:
    return f"{screen.day} {report.zone.name}" if screen.day is not None else report.zone.name


def _brief(report: Report, screen: FirstScreen, said: str) -> str:
    return report.zone.brief(clean(said), screen.day)


def _told(report: Report, screen: FirstScreen, lead: str, said: str, style: str = "") -> RenderableType:
    return hung(lead, Text(_brief(report, screen, said), style=style), "bold" if lead.strip() else "")


def _body(report: Report, screen: FirstScreen, console: Console, *, every: bool) -> Iterator[RenderableType]:
    if screen.ranges or screen.copies:
        yield Text()
    if screen.ranges and not every:
        yield Padding(WordTable(None, [_row(r, report.zone, screen.day) for r in screen.ranges]), (0, 0, 0, 2))
        if screen.more_ranges:
            yield Text(f"  and {counted(screen.more_ranges, 'more').removesuffix('s')}")
    yield from (_told(report, screen, "  ", line) for line in screen.copies)
    yield Text()
    for n, line in enumerate(screen.why):
        yield _told(report, screen, "Why  " if n == 0 else "     ", line)
    yield from _story(report, screen, console)
    ends = f" ({report.zone.clock(screen.until, screen.day)})" if screen.until is not None else ""
    for n, line in enumerate((*(screen.now or (f"no failure at the end of the evidence{ends}",)), *screen.earlier)):
        yield _told(report, screen, "Now  " if n == 0 else "     ", line)


def _end(report: Report, screen: FirstScreen, size: Size, case: str | None, *, every: bool) -> Iterator[RenderableType]:
    yield Text()
    yield from (_told(report, screen, "     ", line, TONES[FOUND]) for line in screen.warnings)
    if not every:
        for n, step in enumerate(screen.steps, 1):
            yield _told(report, screen, f"{'Do' if n == 1 else '':<5}{n} ", step)
        commands = islice(_more(report, screen, case), size.commands)
        yield from (hung("     ", Text(line, style="dim")) for line in commands)
    yield Text(_subject(report, screen), style="dim")


def _row(r: LostRange, zone: DisplayZone, day: date | None) -> list[str]:
    cells = (r.name, f"offset{'' if is_one([r]) else 's'} {r.spans}", r.size, f"written {r.written(zone, day)}")
    return [clean(cell) for cell in cells]


def _story(report: Report, screen: FirstScreen, console: Console) -> Iterator[RenderableType]:
    cross = "✗" if console.encoding.lower().startswith("utf") else "x"
    times = [_at(report.zone.span(t.at, t.latest or t.at, screen.day)) for t in screen.story]
    width = max(map(len, times), default=0)
    for at, t in zip(times, screen.story, strict=True):
        style = TONES[FOUND] if t.marked else ""
        yield hung(f"  {at:<{width}}  {cross if t.marked else ' '} ", Text(_brief(report, screen, t.text), style=style), style)


def _at(span: str) -> str:
    """'02:17:14–23': what the end of a span has in common with its begin is left out."""
    begin, _, end = span.partition("–")
    while ":" in end and begin.startswith(f"{end.partition(':')[0]}:", len(begin) - len(end)):
        end = end.partition(":")[2]
    return f"{begin}–{end}" if end else begin


def _more(report: Report, screen: FirstScreen, case: str | None) -> Iterator[str]:
    """The commands that show more."""
    words = report.command[1:] if case is None else (case,)
    shown = joined if len(joined := shlex.join(words)) <= WORDS else f"{shlex.join(words[:1])} …"
    counts = [counted(screen.more_steps, "more step")] if screen.more_steps else []
    counts += [counted(len(report.findings), "finding")] if report.findings else []
    if counts:
        yield f"{', '.join(counts)}: kafka-forensics {'analyze' if case is None else 'report'} {shown} --all"
    unknown = natural(f"{p['topic']}-{p['partition']}" for p in report.partitions if p["verdict"] == UNSETTLED)
    if doubtful := [*(r.name for r in screen.ranges), *sorted(unknown, key=lambda name: name.startswith("__"))]:
        yield f"proof of a verdict: kafka-forensics timeline {shown} {shlex.quote(clean(doubtful[0]))}"


def subject(report: Report) -> list[str]:
    """Scope of the report: nodes, versions, partitions, sources."""
    cluster = report.cluster
    brokers = [n for n in cluster.nodes.values() if n.broker]
    versions = sorted({n.version for n in cluster.nodes.values() if n.version})
    controllers = len(cluster.nodes) - len(brokers)
    return [
        counted(len(brokers), "broker"),
        *([counted(controllers, "controller")] if controllers else []),
        f"Kafka {', '.join(versions)}" if versions else _protocol(cluster),
        *([] if controllers else [MODES[cluster.mode]]),
        _partitions(report),
    ]


def _subject(report: Report, screen: FirstScreen) -> str:
    sources = report.cluster.sources
    times = line_times(sources)
    covered = f"{report.zone.span(min(times), max(times), screen.day)}, " if times else ""
    absent = report.not_collected()
    words = absent if len(absent) <= 1 else (f"{len(absent)} kinds of files",)
    gaps = any(of_purpose(report.findings, Purpose.MISSING_EVIDENCE))
    missing = f"not collected: {words[0]}" if words else "incomplete" if gaps else "nothing missing"
    return clean(f"{', '.join(subject(report)[:-1])} · evidence {covered}{counted(len(sources), 'file')}, {missing}")


def _partitions(report: Report) -> str:
    inside, every = len(report.partitions), len(report.all_partitions)
    return counted(every) if inside == every else f"{inside:,} of {counted(every)}"


def _protocol(cluster: Cluster) -> str:
    """Lower bound of the version if no startup line gives it: brokers are at least as new as their protocol."""
    values = {cluster.settings.value("inter.broker.protocol.version", broker=n.id) for n in cluster.nodes.values() if n.broker}
    versions = sorted({value.split("-")[0] for value in values if value})
    return f"Kafka {', '.join(versions)} or later (inter.broker.protocol.version)" if versions else "Kafka version unknown"


def sized(size: int) -> str:
    value = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def _losses(report: Report) -> Iterator[RenderableType]:
    """Losses partition by partition, the worst first."""
    for table in loss_tables(losses(report.findings)):
        yield Text(f"\n{table.heading}", style="bold")
        times = [at for r in table.shown for at in r.times]
        days = {report.zone.wall(at).date() for at in times}
        day = days.pop() if len(days) == 1 else None
        written = f"written ({f'{day} ' if day is not None else ''}{report.zone.label(times) if times else report.zone.name})"
        rows = [(r.name, r.extent, r.written(report.zone, day), r.recoverable, r.readers) for r in table.shown]
        header = ("partition", "offsets", written, "recoverable", "groups that had read them")
        yield Padding(WordTable(header, [list(map(clean, row)) for row in rows]), (0, 0, 0, 2))


def _next(report: Report) -> Iterator[RenderableType]:
    if report.next_steps:
        yield Text("\nWhat to do next", style="bold")
        for n, step in enumerate(report.next_steps, 1):
            yield hung(f"  {n} ", Text(report.zone.sentence(clean(step))))


def _limits(report: Report) -> Iterator[RenderableType]:
    lines = [summary(f) for f in of_purpose(report.findings, Purpose.MISSING_EVIDENCE, Purpose.CONTRADICTION)]
    lines += [f"not collected: {words}" for words in report.not_collected()]
    lines += [f"{zone}; state it with --timezone" for zone in report.unsure_zones()]
    if lines:
        yield Text("\nWhat limits this report", style="bold")
        yield from (hung("  - ", Text(report.zone.sentence(clean(line)))) for line in lines)


def _findings(report: Report, most: int) -> Iterator[RenderableType]:
    """All findings, those of a severity below the most severe without their explanations: explain shows each."""
    shown = report.findings[:most]
    if shown:
        yield Text("\nFindings", style="bold")
    for finding in shown:
        yield _head(finding, report)
        if finding.severity in SERIOUS:
            yield from _explained(finding, report)
    if len(report.findings) > most:
        yield Text(f"  and {counted(len(report.findings) - most, 'more finding')}; -n {len(report.findings)} shows all")


def _head(finding: Finding, report: Report) -> RenderableType:
    notes = [note for note in (finding.confidence if finding.confidence != "certain" else "", finding.cluster) if note]
    at = f"{report.zone.seconds(finding.happened)}  " if finding.happened is not None else ""
    what = f"{at}{report.zone.sentence(clean(summary(finding)))}{''.join(f' [{note}]' for note in notes)}"
    return hung(f"  {finding.severity:<8}  {finding.id}  ", Text(f"{rule_of(finding.kind).title}: {what}"), COLOURS[finding.severity])


def explain(report: Report, finding: Finding, console: Console) -> None:
    """One finding with its explanation, its steps, and all lines it quotes."""
    said = words(finding)
    parts: list[RenderableType] = [_head(finding, report), Text(), *_explained(finding, report, len(finding.evidence))]
    parts += [Text(), *(hung("    - ", Text(report.zone.sentence(clean(step)))) for step in said.next_steps)]
    put(console, rendered(console, parts))


def _explained(finding: Finding, report: Report, quoted: int = QUOTED) -> Iterator[RenderableType]:
    yield Padding(Text(report.zone.sentence(clean(words(finding).explanation))), (0, 0, 0, 4))
    for evidence in finding.evidence[:quoted]:
        where = f":{evidence.line}" if evidence.line is not None else f"@{evidence.byte}" if evidence.byte is not None else ""
        yield Padding(Text(clean(evidence.source + where), style="cyan"), (0, 0, 0, 4))
        yield Padding(Text(clean(evidence.shown.splitlines()[0] if evidence.text else ""), style="dim"), (0, 0, 0, 6))
