"""Output of the checkpoints command: a comparison of replicas' files, for a terminal and as JSON kafka-forensics/checkpoints/1.

Here: the text, the tables, the document. Not here: the comparison itself (forensics.tools.checkpoint_diff).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from forensics.model.cluster.facts import Cluster
from forensics.model.message import timestamp
from forensics.output.display_times import UTC, DisplayZone
from forensics.output.json_text import encoded
from forensics.output.sanitise import clean
from forensics.output.version import version
from forensics.tools.checkpoint_diff import AGREE, DIFFER, ODD, SINGLE
from forensics.views.terminal import put, rendered
from forensics.words.formats import counted

SCHEMA = "kafka-forensics/checkpoints/1"
LISTED = 40
"""Partitions that a terminal shows; the rest are counted."""
PROBLEMS = frozenset(
    {"checkpoint-corrupt", "checkpoint-unfinished", "epochs-not-rising", "partition-metadata-corrupt", "clean-shutdown-corrupt"}
)
WIDE = 120
"""Terminal width from which times and directories have columns of their own."""
_RANK = {ODD: 0, DIFFER: 1, SINGLE: 2, AGREE: 3}
_OFFSETS = (("HW", "high_watermark"), ("log end", "log_end_offset"), ("start", "log_start_offset"), ("flushed", "recovery_point"))
_NAMES = {
    "high_watermark": "HW",
    "log_end_offset": "log end",
    "log_start_offset": "log start",
    "recovery_point": "recovery point",
    "leader_epoch": "last leader epoch",
    "leader_epoch_entry": "leader epochs",
    "partition": "the partition",
}
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Comparison:
    """Rows of forensics.tools.checkpoint_diff.SCHEMA and their sources."""

    cluster: Cluster
    rows: Sequence[Row]
    shown: Callable[[str], str]
    """A path inside the evidence as reports name it."""
    command: Sequence[str] = ()
    everything: bool = False
    zone: DisplayZone = UTC

    @property
    def counts(self) -> dict[str, int]:
        return {verdict: sum(r["verdict"] == verdict for r in self.rows) for verdict in _RANK}

    @property
    def listed(self) -> list[Row]:
        """Rows worth showing, the worst first."""
        wanted = [r for r in self.rows if self.everything or r["verdict"] in (ODD, DIFFER)]
        return sorted(wanted, key=lambda r: (_RANK[r["verdict"]], r["topic"], r["partition"], r["generation"]))

    @property
    def moved(self) -> int:
        return sum(bool(r["moved"]) for r in self.rows)

    @property
    def problems(self) -> list[dict[str, Any]]:
        """Files that could not be parsed."""
        return [
            {"source": e.source, "line": e.line, "reason": e.reason, "text": e.text}
            for e in self.cluster.of("problem")
            if e.reason in PROBLEMS
        ]

    def document(self) -> dict[str, Any]:
        """The comparison as JSON values. Partitions without differences are only counted unless all were requested."""
        partitions = sorted(self.listed, key=lambda r: (r["topic"], r["partition"], -r["generation"]))
        return {
            "schema": SCHEMA,
            "tool": {"version": version(), "command": list(self.command)},
            "summary": {"partitions": len(self.rows), **self.counts, "moved": self.moved},
            "brokers": [
                {"id": n.id, "version": n.version, "collections": [self.shown(c) for c in n.collections]}
                for n in self.cluster.nodes.values()
                if n.broker
            ],
            "problems": self.problems,
            "partitions": [self._partition(r) for r in partitions],
        }

    def json(self) -> str:
        return encoded(self.document(), indent=1) + "\n"

    def _partition(self, row: Row) -> dict[str, Any]:
        places = [{**c, "from": self.shown(c["from"]), "to": self.shown(c["to"])} for c in row["changes"] or ()]
        return {**row, "copies": [self._copy(c) for c in row["copies"] or ()], "changes": places}

    def _copy(self, copy: Row) -> dict[str, Any]:
        return {**copy, "collection": self.shown(copy["collection"]), "taken": timestamp(copy["taken"])}


def show(comparison: Comparison, console: Console) -> None:
    put(console, rendered(console, parts(comparison, console.width)))


def parts(comparison: Comparison, width: int) -> Iterator[RenderableType]:
    yield _head(comparison)
    listed = comparison.listed
    for row in listed[:LISTED]:
        yield Text()
        yield from _partition(comparison, row, width)
    if len(listed) > LISTED:
        yield Text(f"\nand {counted(len(listed) - LISTED)} more; --json lists all, --topic and --partition select some", style="dim")
    if problems := comparison.problems:
        yield Text("\nFiles that cannot be read", style="bold red")
        for problem in problems[:LISTED]:
            yield Padding(Text(clean(str(problem["text"]))), (0, 0, 0, 2), expand=False)
        if len(problems) > LISTED:
            yield Text(f"  and {len(problems) - LISTED} more")
    if not comparison.rows:
        yield Text("\nTo collect: replication-offset-checkpoint of each log directory, leader-epoch-checkpoint of each partition.")


def _head(comparison: Comparison) -> Text:
    counts = comparison.counts
    if not comparison.rows:
        return Text("No checkpoint, epoch or segment file of any partition was collected.", style="bold")
    text = Text(f"{counted(len(comparison.rows))} compared", style="bold")
    for verdict, words, style in (
        (ODD, "with contradictions", "bold red"),
        (DIFFER, "that differ", "yellow"),
        (AGREE, "in agreement", "green"),
        (SINGLE, "of one collected replica", "dim"),
    ):
        if counts[verdict]:
            text.append(" · ")
            text.append(f"{counts[verdict]} {words}", style=style)
    if comparison.moved:
        text.append(f"\n{counted(comparison.moved)} changed between two collections of a broker", style="dim")
    return text


def _partition(comparison: Comparison, row: Row, width: int) -> Iterator[RenderableType]:
    yield _title(row, width)
    if row["copies"]:
        yield Padding(_copies(comparison, row, width), (0, 0, 0, 2), expand=False)
    for remark in sorted(row["remarks"] or (), key=lambda r: not r["odd"]):
        style = "red" if remark["odd"] else "yellow"
        yield Padding(Text(clean(f"broker {remark['broker']}: {remark['text']}"), style=style), (0, 0, 0, 2), expand=False)
    for change in row["changes"] or ():
        yield Padding(_change(comparison, change), (0, 0, 0, 2), expand=False)


def _title(row: Row, width: int) -> Text:
    text = Text(clean(f"{row['topic']}-{row['partition']}"), style="bold red" if row["verdict"] == ODD else "bold")
    words = []
    if row["leader"] is not None:
        epoch = f" (epoch {row['leader_epoch']})" if row["leader_epoch"] is not None else ""
        words.append(f"leader {row['leader']}{epoch}" if row["leader"] >= 0 else "no leader")
    if row["isr"]:
        words.append(f"ISR {_ids(sorted(row['isr']))}")
    if row["replicas"]:
        words.append(f"replicas {_ids(row['replicas'])}")
    if row["topic_id"] and width >= WIDE:
        words.append(f"topic id {row['topic_id']}")
    if row["generation"] < 0:
        words.append("an older topic of this name")
    text.append(clean("  " + " · ".join(words)), style="dim" if words else "")
    return text


def _ids(ids: Sequence[int]) -> str:
    return ",".join(map(str, ids))


def _copies(comparison: Comparison, row: Row, width: int) -> Table:
    columns = [(name, key) for name, key in _OFFSETS if any(c[key] is not None for c in row["copies"])]
    several = len({c["broker"] for c in row["copies"]}) < len(row["copies"])
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", expand=False)
    table.add_column("broker", no_wrap=True, overflow="fold")
    for name, _ in columns:
        table.add_column(name, no_wrap=True, justify="right", overflow="fold")
    table.add_column("epoch@start", overflow="fold")
    if width >= WIDE:
        times = [copy["taken"] for copy in row["copies"] if copy["taken"] is not None]
        table.add_column(f"written ({comparison.zone.label(times)})", no_wrap=True)
        table.add_column("log directory", overflow="fold")
    elif several:
        table.add_column("collection", overflow="fold")
    odd = {r["broker"] for r in row["remarks"] or () if r["odd"]}
    for copy in row["copies"]:
        cells = [_whose(copy), *(_number(copy[key]) for _, key in columns), _epochs(copy["epochs"], 12 if width >= WIDE else 4)]
        if width >= WIDE:
            cells += _written(comparison, copy)
        elif several:
            cells.append(comparison.shown(copy["collection"]))
        style = "dim" if not copy["latest"] else "red" if copy["broker"] in odd else ""
        table.add_row(*(Text(clean(cell), style=style) for cell in cells))
    return table


def _whose(copy: Row) -> str:
    return f"{copy['broker']}{'' if copy['latest'] else ' before'}{' ' + copy['state'] if copy['state'] else ''}"


def _written(comparison: Comparison, copy: Row) -> tuple[str, str]:
    at = comparison.zone.seconds(copy["taken"]) if copy["taken"] is not None else "-"
    return at, ", ".join(copy["directories"]) or comparison.shown(copy["collection"])


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _epochs(epochs: Sequence[Row], limit: int) -> str:
    """The latest entries; these usually include the point where replicas diverge."""
    shown = [f"{e['epoch']}@{e['start']}" for e in epochs[-limit:]]
    return " ".join([*(["…"] if len(epochs) > limit else []), *shown]) or "-"


def _change(comparison: Comparison, change: Row) -> Text:
    back = change["way"] == "back"
    style = "red" if back else "yellow" if change["way"] in ("appeared", "vanished") else "dim"
    where = f" ({comparison.shown(change['from'])} to {comparison.shown(change['to'])})"
    name = _NAMES[change["what"]]
    if change["what"] == "partition":
        words = f"{name} {change['way']}"
    elif change["what"] == "leader_epoch_entry":
        words = f"{name} went back: the entry of epoch {change['before']} is gone, the last is now {change['after']}"
    else:
        words = f"{name} {'went back' if back else 'moved on'} from {change['before']} to {change['after']}"
    if back and change["what"] != "leader_epoch_entry":
        words += f", by {change['before'] - change['after']}"
    return Text(clean(f"broker {change['broker']}: {words}{where}"), style=style)
