"""`kafka-forensics inspect`: the collected files, and the missing ones.

Here: the inventory. Not here: verdicts (analyze).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING

from forensics.commands.evidence import Progress, evidence_options
from forensics.commands.help import described
from forensics.commands.inputs import open_input
from forensics.commands.output import console, json_option, write_text
from forensics.commands.selection import Request, check_brokers, selection_options
from forensics.commands.times import display_timezone_option, display_zone
from forensics.model.times import grouped
from forensics.output.json_text import encoded

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from forensics.model.clock.clocks import Clock
    from forensics.model.clock.sources import Source
    from forensics.model.cluster.facts import Node
    from forensics.model.cluster.names import Name
    from forensics.views.document import Report


FEW = 4
"""Number of a node's runs that are listed one by one."""
MOST_LOGS = 40
"""Number of logs that are listed."""
NUMBERS = frozenset({"files", "bytes", "lines", "understood"})


@described(
    rank=40,
    summary="Show what was collected, and what is missing.",
    examples=(
        ("Show the collected files, and what to collect next", "incident.tar.gz"),
        ("Check that logs in your own layout are understood", "logs/ --log-pattern '%d{ISO8601} %-5p %m (%c)%n'"),
    ),
)
@evidence_options
@selection_options("files", "broker")
@display_timezone_option
@json_option("Write the inventory as JSON; - is stdout.")
def command(paths: tuple[str, ...], request: Request, json_file: str | None) -> None:
    """Show what was collected: files, brokers, versions, the times they cover, clocks, lines that were not understood, and what to collect
    next."""
    from forensics.incidents.judging import conclude
    from forensics.views.document import Report

    found = open_input(paths, Progress())
    check_brokers(found.cluster.nodes, request.brokers)
    conclusion = conclude((), found.cluster)
    report = Report(found.cluster, conclusion.findings, conclusion.partitions, command=("inspect", *found.paths))
    if json_file is not None and write_text(encoded(report.inventory(), indent=1) + "\n", json_file):
        return
    from forensics.views.terminal import put, rendered

    out = console()
    put(out, rendered(out, _parts(report, request.brokers)))


def _runs(outcomes: Sequence[str]) -> str:
    """One by one if there are few."""
    if len(outcomes) <= FEW:
        return ", ".join(outcomes) or "-"
    before = ", ".join(f"{outcome} {count} times" for outcome, count in Counter(outcomes[:-1]).most_common())
    return f"{before}, finally {outcomes[-1]}"


def _covered(days: Collection[date], zone: str) -> str | None:
    """Heading of the table of files: the days that its times leave out."""
    if not days:
        return None
    covered = f"{min(days)}" if len(days) == 1 else f"{min(days)} to {max(days)}"
    return f"{covered}, times in {zone}; understood: share of Kafka's lines"


def _parts(report: Report, brokers: Collection[int] = ()) -> Iterator[RenderableType]:
    from rich.text import Text

    from forensics.model.cluster.names import names
    from forensics.output.sanitise import clean
    from forensics.views.notes import notes
    from parsers.schemas import located

    cluster = report.cluster
    sources = [s for s in report.cluster.sources if not brokers or s.node in brokers]
    yield _nodes(node for node in cluster.nodes.values() if not brokers or node.id in brokers)
    yield Text()
    for line in (lines := notes(cluster)):
        yield Text(clean(line), style="bold")
    if lines:
        yield Text()
    yield from _list(
        "Names of nodes", [_named(node, own) for node, own in names(cluster).items() if own and (not brokers or node in brokers)]
    )
    yield _files(sources)
    yield from _not_in_order(sources)
    yield from _list("Lines that were there twice, and were read once", [f"{s.path}: {s.repeated:,}" for s in sources if s.repeated])
    yield from _layouts(sources)
    yield from _list("Logs", [*_logs(sources)])
    yield from _unrecognised(sources)
    yield from _list("Problems", [located(s.path, s.problem) for s in sources if s.problem])
    unnamed = [
        f"{s.path}, with a field that names the node of each line: {_numbered(sorted(s.shared))} write to it" for s in sources if s.shared
    ]
    yield from _list("Collect next", [*unnamed, *report.not_collected()])


def _named(node: int, own: Sequence[Name]) -> str:
    """'1: broker-1 (directory), kafka-1:9092 (address; also of node 2)'."""
    return f"{node}: " + ", ".join(f"{n.name} ({n.kind}{'; also of node ' + ', '.join(map(str, n.also)) if n.also else ''})" for n in own)


def _nodes(nodes: Iterable[Node]) -> Table:
    from rich.table import Table

    from forensics.output.sanitise import clean

    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    for name in ("node", "role", "Kafka", "clock", "collections", "runs"):
        table.add_column(name, overflow="fold")
    shown = list(nodes)
    every = [name for node in shown for name in node.collections]
    bare = len({*every}) == len({name.rpartition("/")[2] for name in every})
    for node in shown:
        table.add_row(
            str(node.id),
            "broker" if node.broker else "controller",
            clean(node.version or "?"),
            _clock(node.clock),
            clean(", ".join(name.rpartition("/")[2] if bare else name for name in node.collections)),
            _runs([run.outcome for run in node.runs]),
        )
    return table


def _clock(clock: Clock) -> str:
    from forensics.model.clock.clocks import UNSURE

    skew = f" {clock.skew_ms / 1000:+.1f} s" if clock.skew_ms else ""
    around = f" ± {clock.uncertainty_ms:,} ms" if clock.uncertainty_ms is not None else ""
    return clock.zone + skew + around + (" (assumed)" if clock.basis in UNSURE else "")


def _files(sources: Sequence[Source]) -> Table:
    """The files by node and kind, with the times that they cover."""
    from rich.table import Table

    groups = grouped(((source.node is None, source.node or 0, source.kind), source) for source in sources)
    zone = display_zone()
    times = [at for s in sources for at in (s.first, s.last) if at is not None]
    days = {zone.wall(at).date() for at in times}
    table = Table(
        box=None,
        padding=(0, 1, 0, 0),
        header_style="bold",
        title=_covered(days, zone.label(times)),
        title_justify="left",
        title_style="dim",
    )
    for name in ("node", "kind", "files", "bytes", "lines", "understood", "first", "last"):
        table.add_column(name, no_wrap=name != "kind", overflow="fold", justify="right" if name in NUMBERS else "left")
    time_format = "%H:%M:%S" if len(days) == 1 else "%m-%d %H:%M"
    for (no_node, node, kind), own in sorted(groups.items()):
        table.add_row("-" if no_node else str(node), kind, *_counts(own), *_times(own, time_format))
    return table


def _counts(sources: Sequence[Source]) -> Iterator[str]:
    from forensics.views.text import sized

    lines = [s.lines for s in sources if s.lines is not None]
    yield str(len(sources))
    yield sized(sum(s.bytes or 0 for s in sources))
    yield str(sum(lines)) if lines else ""
    known, others = (sum(counts) for counts in ([s.understood or 0 for s in sources], [s.unrecognised or 0 for s in sources]))
    yield f"{known / (known + others):.0%}" + (f", {others:,} not" if others else "") if known + others else ""


def _times(sources: Sequence[Source], time_format: str) -> tuple[str, str]:
    first = min((s.first for s in sources if s.first), default=None)
    last = max((s.last for s in sources if s.last), default=None)
    zone = display_zone()
    begin, end = (zone.wall(at).strftime(time_format) if at is not None else "" for at in (first, last))
    return begin, end


def _not_in_order(sources: Sequence[Source]) -> Iterator[RenderableType]:
    """The files whose lines are not in the order in which they were written. The lines of one file may be of several writers."""
    from rich.text import Text

    from forensics.output.sanitise import clean

    for file, joined in sorted({(source.path.partition("#")[0], bool(source.parts)) for source in sources if source.parts is not None}):
        how = "parts of logs were joined" if joined else "the newest line comes first"
        yield Text(clean(f"\n{file}: {how}; lines are read in the order of their times"))


def _layouts(sources: Sequence[Source]) -> Iterator[RenderableType]:
    from rich.text import Text

    from forensics.output.sanitise import clean
    from forensics.words.formats import counted

    learned = Counter(pattern for source in sources for pattern in (source.layout or "").splitlines())
    for pattern, count in learned.most_common():
        yield Text(clean(f"\nlayout learned: {pattern} ({counted(count, 'file')}); use it with --log-pattern"))


def _logs(sources: Sequence[Source]) -> Iterator[str]:
    """The share of Kafka's lines of each log that was understood, its layout, and its nodes with what names them. The logs of a directory
    of which all lines were understood in a listed layout are counted: nothing has to be known of them."""
    from forensics.words.formats import counted

    by_file: dict[str, list[Source]] = defaultdict(list)
    for source in sources:
        if source.lines and source.understood is not None:
            by_file[source.path.partition("#")[0]].append(source)
    plain = shown = 0
    for path, own in by_file.items():
        named = [f"{s.path.partition('#')[2] or 'its first host'} (node {s.node})" for s in own if len(own) > 1 and s.node is not None]
        shared = sorted({node for s in own for node in s.shared})
        (s, *_), share = own, [*_counts(own)][-1]
        nodes = (
            f"its lines name {', '.join(named[:FEW])}{f' and {len(named) - FEW} more' if len(named) > FEW else ''}"
            if named
            else f"{_numbered(shared)} by what their own lines contain, because nothing names the writer of each line"
            if shared
            else f"node {s.node} by {f'the directory {s.collection}' if s.collection else 'its own lines'}"
            if s.node is not None
            else "no node"
        )
        layouts = sorted({pattern for s in own for pattern in (s.layout or "").splitlines()})
        if not (named or layouts or shared or s.node is None or "," in share):
            plain += 1
        elif share or named:
            shown += 1
            yield f"{path}: {share or '0 lines'} understood; {f'layout {layouts[0]}' if layouts else 'a listed layout'}; {nodes}"
        if shown == MOST_LOGS:
            yield "and more logs; --json lists all"
            break
    if plain:
        yield f"{counted(plain, 'log')}: all of Kafka's lines understood, in a listed layout, of one node each"


def _numbered(nodes: Sequence[int]) -> str:
    return f"nodes {', '.join(map(str, nodes[:-1]))} and {nodes[-1]}"


def _unrecognised(sources: Sequence[Source]) -> Iterator[RenderableType]:
    from rich.text import Text

    from forensics.output.sanitise import clean

    for source in sources:
        if source.unrecognised:
            yield Text(clean(f"\n{source.path}: {source.unrecognised} relevant lines not recognised, for example"))
            for sample in source.samples:
                yield Text(clean(f"  {sample}"), style="dim")


def _list(title: str, lines: Sequence[str]) -> Iterator[RenderableType]:
    from rich.text import Text

    from forensics.output.sanitise import clean

    if lines:
        yield Text(f"\n{title}", style="bold")
        yield from (Text(clean(f"  {line}")) for line in lines)
