"""Many clusters on one screen, worst first: losses, current failures, clusters that could not be judged, files read.

Here: an audit's summary of a cluster, the order of clusters, the text and the JSON. Not here: one cluster's report (text, document), or the
location of an audit's files (forensics.case).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from forensics.model.clock.sources import line_times
from forensics.model.cluster.facts import Cluster
from forensics.model.findings import LEVELS, Finding
from forensics.model.message import timestamp
from forensics.output.display_times import UTC, DisplayZone
from forensics.output.json_text import encoded
from forensics.output.sanitise import clean
from forensics.output.version import version
from forensics.proof.verdict import INTACT, LOST, TAIL_CUT, UNKNOWN
from forensics.views.headline import EXCLUDED, FOUND
from forensics.views.headline import headline as verdict_of
from forensics.views.impact import broken
from forensics.views.losses import line, losses
from forensics.views.scope import Partitions
from forensics.views.terminal import hung, put, rendered
from forensics.words.formats import counted, some
from parsers.schemas import located

SCHEMA = "kafka-forensics/clusters/1"
NOT_JUDGED = "not judged"
DATA = {FOUND: "LOST", EXCLUDED: "not lost"}
LOUD = ("high", "critical")
"""Severities of new findings that are listed."""
RANK = {FOUND: 0, NOT_JUDGED: 1}
"""A cluster that could not be judged may be in any state."""
LISTED = 40
"""Clusters that are shown, and names of files in the JSON; the rest are counted."""
CLUSTERS = 8
"""Clusters whose losses or current failures are listed line by line."""
LINES = 3
"""Lines of one cluster."""
KEPT = 50
"""Lines of one cluster that are kept."""
WIDEST = 40
"""Characters of a cluster's name in a line."""


class Shown(Protocol):
    """What a summary needs of the results of a cluster."""

    @property
    def findings(self) -> Sequence[Finding]: ...
    @property
    def partitions(self) -> Partitions: ...


def brief(conclusion: Shown, cluster: Cluster, of_verdict: Sequence[Finding] | None = None) -> dict[str, Any]:
    """Results for a cluster, as JSON values. `of_verdict`: findings that decide the verdict; None: those of the conclusion."""
    times = line_times(cluster.sources)
    verdict = verdict_of(conclusion.findings if of_verdict is None else of_verdict, conclusion.partitions, cluster=cluster)
    problems = [located(s.path, s.problem) for s in cluster.sources if s.problem]
    return {
        "loss": verdict.loss if cluster.usable else NOT_JUDGED,
        "summary": verdict.summary if cluster.usable else "No Kafka logs or checkpoints found.",
        "partitions": verdict.partitions,
        "gone_records": TAIL_CUT in verdict.losses,
        "findings": {level: sum(f.severity == level for f in conclusion.findings) for level in reversed(LEVELS)},
        "lost": [line(loss, UTC) for loss in losses(conclusion.findings)[:KEPT]],
        "broken": list(broken(conclusion.findings, conclusion.partitions))[:KEPT],
        "mode": cluster.mode,
        "brokers": [node.id for node in cluster.nodes.values() if node.broker],
        "sources": len(cluster.sources),
        "bytes": sum(s.bytes or 0 for s in cluster.sources),
        "problems": len(problems),
        "problem": problems[0] if problems else None,
        "first": timestamp(min(times, default=None)),
        "last": timestamp(max(times, default=None)),
    }


@dataclass(frozen=True)
class OlderCatalogue:
    """Files that only a version with another catalogue of log lines read. Their results follow from what that version kept."""

    files: Sequence[str]
    """Those that can be read again."""
    gone: Sequence[str]
    """Those that are no longer in the archive."""
    versions: Sequence[str]
    """Versions of the tool that read them."""
    command: Sequence[str]
    """Reads them again."""

    def document(self) -> dict[str, Any]:
        """The numbers of files, and the first of their names, as JSON values."""
        return {
            "files": len(self.files),
            "names": list(self.files[:LISTED]),
            "gone": len(self.gone),
            "gone_names": list(self.gone[:LISTED]),
            "versions": list(self.versions),
            "command": list(self.command) if self.files else [],
        }


@dataclass(frozen=True)
class Clusters:
    found: Mapping[str, Mapping[str, Any]]
    """By name, as returned by `brief`."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """Clusters that could not be judged this time, and why; their other values, if any, are from an earlier run."""
    remarks: Sequence[str] = ()
    """How files were assigned to clusters, what was read, what was kept."""
    zone: DisplayZone = UTC
    """The zone of times in outputs for people."""
    history: Mapping[str, Any] = field(default_factory=dict)
    """The last run, and what is new since the run before, as JSON values (forensics.audit.history)."""

    scope: str = ""
    """The part of each cluster that is shown, in words; empty: everything."""
    older: OlderCatalogue | None = None
    calendar: tuple[Sequence[str], Mapping[str, Sequence[str | None]]] = ((), {})
    """As forensics.audit.history.History.calendar."""

    def ordered(self) -> list[str]:
        """Names, worst first."""
        return sorted(self.found.keys() | self.failed.keys(), key=self._order)

    def _order(self, name: str) -> tuple[Any, ...]:
        b = self.found.get(name)
        if b is None:
            return 1, name
        badness = [-b["findings"][level] for level in reversed(LEVELS)]
        loss = RANK.get(b["loss"], 3 if b["loss"] == EXCLUDED else 2)
        return loss, -b["partitions"][LOST], -len(b["broken"]), *badness, name

    @property
    def unjudged(self) -> bool:
        """Whether a cluster could not be judged."""
        return bool(self.failed) or any(b["loss"] == NOT_JUDGED for b in self.found.values())

    def worst(self) -> str | None:
        """The highest severity of any finding."""
        return next((level for level in reversed(LEVELS) if any(b["findings"][level] for b in self.found.values())), None)

    def json(self) -> str:
        rows = [{"cluster": n, **self.found.get(n, {}), "failed": self.failed.get(n)} for n in self.ordered()]
        document: dict[str, Any] = {"schema": SCHEMA, "tool": {"version": version()}, "remarks": list(self.remarks)}
        document |= {"older_catalogue": self.older.document() if self.older is not None else None, **self.history, "clusters": rows}
        return encoded(document, indent=1) + "\n"


def pieces(clusters: Clusters, _files: Mapping[str, str]) -> Iterator[str]:
    """The summary as JSON, with the interface of a format (forensics.output.format.AuditSummary)."""
    yield clusters.json()


def show(clusters: Clusters, console: Console) -> None:
    put(console, rendered(console, _parts(clusters)))


def _parts(clusters: Clusters) -> Iterator[RenderableType]:
    judged = [n for n in clusters.ordered() if n in clusters.found]
    yield Text(headline(clusters), style="bold red" if any(b["loss"] == FOUND for b in clusters.found.values()) else "bold")
    yield Text()
    if said := news(clusters):
        heading, *lines = (clusters.zone.sentence(clean(line)) for line in said)
        yield from (Text(heading, style="bold"), *(hung("  - ", Text(line)) for line in lines), Text())
    if judged:
        yield _table(clusters, judged)
        yield Text()
    yield from _lines(clusters, "Lost or truncated", "lost", judged)
    yield from _lines(clusters, "Broken now", "broken", judged)
    troubles = list(_troubles(clusters))
    if troubles:
        yield Text("Problems", style="bold")
        for line in troubles[:LISTED]:
            yield hung("  - ", Text(clean(line)))
        if len(troubles) > LISTED:
            yield Text(f"  and {counted(len(troubles) - LISTED, 'cluster')} more; --json lists all")
        yield Text()
    for remark in clusters.remarks:
        yield Text(clean(remark), style="dim")


def news(clusters: Clusters) -> list[str]:
    """What changed since the run before, if there was one: a heading, the counts, and the new findings from high on."""
    if clusters.scope or not clusters.history or clusters.history["before"] is None:
        return []
    new, resolved, gone = (clusters.history[name] for name in ("new", "resolved", "gone"))
    became = [f"{counted(count, 'partition')} became {verdict}" for verdict, count in clusters.history["worse"].items() if count]
    lines = [f"Since the run of {clusters.history['before'][:16].replace('T', ' ')} UTC"]
    lines.append("; ".join([f"{counted(len(new), 'new finding')}, {len(resolved)} resolved, {len(gone)} gone", *became]) + ".")
    loud = [row for row in new if row["severity"] in LOUD]
    for row in loud[:CLUSTERS]:
        risen = f", was {row['severity_before']}" if row["severity_before"] else ""
        lines.append(f"{row['cluster']}: {row['summary']} ({row['severity']}{risen}; {row['finding']})")
    if len(loud) > CLUSTERS:
        lines.append(f"and {counted(len(loud) - CLUSTERS, 'finding')} more; --json lists all")
    return lines


def _lines(clusters: Clusters, title: str, key: str, judged: Sequence[str]) -> Iterator[RenderableType]:
    """The lines of a summary under `key`, for each cluster that has some."""
    names = [n for n in judged if clusters.found[n][key]]
    if not names:
        return
    yield Text(title, style="bold")
    for name in names[:CLUSTERS]:
        lines = clusters.found[name][key]
        yield Text(f"  {clean(name)}")
        yield from (hung("    - ", Text(clusters.zone.sentence(clean(line)))) for line in lines[:LINES])
        if len(lines) > LINES:
            yield Text(f"    and {len(lines) - LINES} more; report --cluster shows all")
    if len(names) > CLUSTERS:
        yield Text(f"  and {counted(len(names) - CLUSTERS, 'cluster')} more; --json lists all")
    yield Text()


def headline(clusters: Clusters) -> str:
    """In how many clusters data was lost, in how many it was not, and for how many this is unknown."""
    of = Counter(b["loss"] for b in clusters.found.values())
    lost_in = [n for n in clusters.ordered() if n in clusters.found and clusters.found[n]["loss"] == FOUND]
    unjudged = of[NOT_JUDGED] + len(clusters.failed.keys() - clusters.found.keys())
    total = len(clusters.found.keys() | clusters.failed.keys())
    sentences = [*([f"Only {clusters.scope}."] if clusters.scope else []), f"{counted(total, 'cluster')}."]
    if lost_in:
        sentences.append(f"DATA WAS LOST in {len(lost_in)} ({clean(some(lost_in))}).")
    if unknown := total - len(lost_in) - of[EXCLUDED] - unjudged:
        sentences.append(f"Unknown whether data was lost in {unknown}.")
    if of[EXCLUDED]:
        sentences.append(f"{of[EXCLUDED]} lost nothing that was committed.")
    if unjudged:
        sentences.append(f"{unjudged} could NOT BE JUDGED.")
    return " ".join(sentences)


def _table(clusters: Clusters, names: Sequence[str]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold", expand=False)
    table.add_column("cluster", no_wrap=True, max_width=WIDEST)
    table.add_column("data", no_wrap=True)
    for name in (LOST, TAIL_CUT, INTACT, UNKNOWN, "broken", "crit", "high"):
        table.add_column(name, no_wrap=True, justify="right")
    for name in names[:LISTED]:
        b = clusters.found[name]
        style = {FOUND: "bold red", EXCLUDED: "green"}.get(b["loss"], "yellow")
        levels = (b["findings"]["critical"], b["findings"]["high"])
        numbers = [*(b["partitions"][v] for v in (LOST, TAIL_CUT, INTACT, UNKNOWN)), len(b["broken"]), *levels]
        table.add_row(Text(clean(name)), Text(DATA.get(b["loss"], b["loss"]), style=style), *(str(n) if n else "-" for n in numbers))
    if len(names) > LISTED:
        table.add_row(Text(f"and {len(names) - LISTED} more; --json has all"))
    return table


def _troubles(clusters: Clusters) -> Iterator[str]:
    for name, why in sorted(clusters.failed.items()):
        before = "; the results shown are from an earlier run" if name in clusters.found else ""
        yield f"{name}: could not be judged: {why}{before}"
    for name in clusters.ordered():
        b = clusters.found.get(name)
        if b is not None and (b["loss"] == NOT_JUDGED or b["problem"]):
            what = b["summary"] if b["loss"] == NOT_JUDGED else f"{b['problems']} source{'s' if b['problems'] > 1 else ''} with problems"
            yield f"{name}: {what}" + (f" (for example {b['problem']})" if b["problem"] else "")
