"""`kafka-forensics inspect`: the collected files, and the missing ones.

Here: the inventory. Not here: verdicts (analyze).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING

import click

from forensics.commands.evidence import Progress, evidence_options
from forensics.commands.help import Command
from forensics.commands.inputs import open_input
from forensics.commands.output import console, json_option, write_text
from forensics.output.json_text import encoded

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forensics.model.cluster.facts import Source
    from forensics.views.document import Report


FEW = 4
"""Number of a node's runs that are listed one by one."""
NUMBERS = frozenset({"files", "bytes", "lines", "unread"})


@click.command(
    "inspect",
    cls=Command,
    rank=40,
    summary="Show what was collected, and what is missing.",
    examples=(
        ("Show the collected files, and what to collect next", "incident.tar.gz"),
        ("Check that logs in your own layout are understood", "logs/ --log-pattern '%d{ISO8601} %-5p %m (%c)%n'"),
    ),
)
@evidence_options
@json_option("Write the inventory as JSON; - is stdout.")
def command(
    paths: tuple[str, ...], timezone: str | None, clock_offsets: tuple[str, ...], master: str | None, json_file: str | None
) -> None:
    """Show what was collected: files, brokers, versions, the times they cover, clocks, lines that were not understood, and what to collect next."""
    from forensics.incidents.judging import VERDICTS, conclude
    from forensics.views.document import Report

    found = open_input(paths, timezone, clock_offsets, master, Progress())
    told = conclude(VERDICTS.empty_table(), found.cluster)
    report = Report(found.cluster, told.findings, told.partitions, command=("inspect", *found.paths))
    if json_file is not None:
        document = {k: v for k, v in report.document(proof=False).items() if k in ("schema", "tool", "evidence", "cluster")}
        text = encoded(document, indent=1) + "\n"
        if write_text(text, json_file):
            return
    from forensics.views.terminal import put, rendered

    out = console()
    put(out, rendered(out, _parts(report)))


def _lives(outcomes: Sequence[str]) -> str:
    """One by one if there are few."""
    if len(outcomes) <= FEW:
        return ", ".join(outcomes) or "-"
    before = ", ".join(f"{outcome} {count} times" for outcome, count in Counter(outcomes[:-1]).most_common())
    return f"{before}, at last {outcomes[-1]}"


def _covered(days: Collection[date], *, odd: bool) -> str | None:
    """Note on what the times below leave out."""
    if not days:
        return None
    covered = f"{min(days)}" if len(days) == 1 else f"{min(days)} to {max(days)}"
    return f"{covered}, times in UTC" + ("; unread: relevant lines that were not recognised" if odd else "")


def _parts(report: Report) -> Iterator[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    from forensics.model.cluster.clocks import UNSURE
    from forensics.model.findings import counted
    from forensics.output.sanitise import clean
    from forensics.views.text import sized

    cluster = report.cluster
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    for name in ("node", "role", "Kafka", "clock", "collections", "lives"):
        table.add_column(name, overflow="fold")
    for node in cluster.nodes.values():
        clock = (
            node.clock.zone
            + (f" {node.clock.skew_ms / 1000:+.1f} s" if node.clock.skew_ms else "")
            + ("" if node.clock.basis not in UNSURE else " (assumed)")
        )
        table.add_row(
            str(node.id),
            "broker" if node.broker else "controller",
            clean(node.version or "?"),
            clock,
            clean(", ".join(node.collections)),
            _lives([life.outcome for life in node.lives]),
        )
    yield table
    yield Text()
    if cluster.redacted:
        yield Text("This evidence was redacted: names are not the real ones.", style="bold")
        yield Text()
    groups: dict[tuple[int | None, str], list[Source]] = defaultdict(list)
    for source in cluster.sources:
        groups[(source.node, source.kind)].append(source)
    days = {at.date() for s in cluster.sources for at in (s.first, s.last) if at is not None}
    moment = "%H:%M:%S" if len(days) == 1 else "%m-%d %H:%M"
    odd = any(source.unrecognised for source in cluster.sources)
    kinds = Table(
        box=None, padding=(0, 1, 0, 0), header_style="bold", title=_covered(days, odd=odd), title_justify="left", title_style="dim"
    )
    for name in ("node", "kind", "files", "bytes", "lines", *(("unread",) if odd else ()), "first", "last"):
        kinds.add_column(name, no_wrap=name != "kind", overflow="fold", justify="right" if name in NUMBERS else "left")
    for (owner, kind), sources in sorted(groups.items(), key=lambda g: (g[0][0] is None, g[0][0] or 0, g[0][1])):
        firsts, lasts = [s.first for s in sources if s.first], [s.last for s in sources if s.last]
        lines = [s.lines for s in sources if s.lines is not None]
        kinds.add_row(
            str(owner) if owner is not None else "-",
            kind,
            str(len(sources)),
            sized(sum(s.bytes or 0 for s in sources)),
            str(sum(lines)) if lines else "",
            *((str(sum(s.unrecognised or 0 for s in sources)) if lines else "",) if odd else ()),
            f"{min(firsts):{moment}}" if firsts else "",
            f"{max(lasts):{moment}}" if lasts else "",
        )
    yield kinds
    learned = Counter(pattern for source in cluster.sources for pattern in (source.layout or "").splitlines())
    for pattern, count in learned.most_common():
        yield Text(clean(f"\nlayout learned: {pattern} ({counted(count, 'file')}); --log-pattern takes it"))
    for source in cluster.sources:
        if source.unrecognised:
            yield Text(clean(f"\n{source.path}: {source.unrecognised} relevant lines not recognised, as"))
            for sample in source.samples:
                yield Text(clean(f"  {sample}"), style="dim")
    troubles = [s for s in cluster.sources if s.problem]
    if troubles:
        yield Text("\nProblems", style="bold")
        for source in troubles:
            yield Text(clean(f"  {source.path}: {source.problem}"))
    missing = report.not_collected()
    if missing:
        yield Text("\nCollect next", style="bold")
        for words in missing:
            yield Text(f"  {words}")
