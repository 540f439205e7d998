"""Output of the salvage command: recovered records, missing ones, and how to send them again. Never the content of a record.

Here: the text and the JSON kafka-forensics/salvage/1. Not here: the files themselves (forensics.tools.salvage).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.text import Text

from forensics.model.message import Range
from forensics.output.display_times import DisplayZone
from forensics.output.json_text import encoded
from forensics.output.sanitise import clean
from forensics.output.version import version
from forensics.tools.salvage.rows import Row
from forensics.tools.salvage.segments import Lot
from forensics.tools.salvage.written import Sending
from forensics.views.text import sized
from forensics.words import text
from forensics.words.formats import brokers_named, counted, some
from parsers.paths import partition_of

SCHEMA = "kafka-forensics/salvage/1"
LISTED = 40
"""Losses, and problems, that a terminal shows."""


@dataclass
class SalvagedPartition:
    """Records and files written for one partition."""

    topic: str
    partition: int
    lots: Sequence[Lot]
    files: dict[str, str] = field(default_factory=dict)
    """By format, relative to the directory."""
    records: int = 0
    markers: int = 0
    aborted: int = 0
    open: int = 0
    sending: Sending | None = None
    command: str | None = None
    not_sendable: str | None = None

    def count(self, row: Row) -> None:
        self.records += row.control is None
        self.markers += row.control is not None
        self.aborted += row.transaction == "aborted"
        self.open += row.transaction == "open"


@dataclass
class Salvage:
    partitions: Sequence[SalvagedPartition]
    directory: str
    problems: Sequence[str]
    values: bool
    command: Sequence[str]

    @property
    def incomplete(self) -> bool:
        """Some of the lost records were not written."""
        return bool(self.problems) or any(lot.missing() for p in self.partitions for lot in p.lots)

    def document(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "tool": {"version": version(), "command": list(self.command)},
            "bodies_read": any(p.records for p in self.partitions),
            "values_written": self.values,
            "complete": not self.incomplete,
            "partitions": [
                {
                    "topic": p.topic,
                    "partition": p.partition,
                    "records": p.records,
                    "control_records": p.markers,
                    "aborted": p.aborted,
                    "open_transactions": p.open,
                    "files": p.files,
                    "losses": [_lot(lot) for lot in p.lots],
                    "send": {"command": p.command, "why_not": p.not_sendable, **_sent(p.sending)},
                }
                for p in self.partitions
            ],
            "problems": list(self.problems),
        }

    def json(self) -> str:
        return encoded(self.document(), indent=1) + "\n"


def _lot(lot: Lot) -> dict[str, Any]:
    return {
        "finding": lot.finding,
        "lost": lot.lost,
        "leader_epoch": lot.leader_epoch,
        "committed": lot.committed,
        "offsets": [r.row() for r in lot.offsets],
        "salvaged": [r.row() for r in lot.copied],
        "certain": lot.found.certain,
        "differing": [d.row() for d in lot.found.differing],
        "from": [
            {"source": h.source, "broker": h.broker, "leader_epoch": h.leader_epoch, "offsets": h.offsets.row()} for h in lot.found.held
        ],
        "bytes": lot.bytes,
        "codecs": sorted(lot.codecs),
        "missing": [r.row() for r in lot.missing()],
        "elsewhere": text(lot.found.elsewhere) if lot.found.elsewhere is not None else None,
    }


def _sent(sending: Sending | None) -> dict[str, int]:
    return {} if sending is None else {"lines": sending.count, "not_text": sending.unsendable, "unfinished": sending.unfinished}


def show(salvage: Salvage, console: Console, zone: DisplayZone) -> None:
    for line in _lines(salvage):
        console.print(Text(zone.sentence(line.plain), style=line.style), soft_wrap=True)


def _lines(salvage: Salvage) -> Iterator[Text]:
    if not salvage.partitions:
        yield Text("The evidence shows no lost records, and no records outside the logs, so there is nothing to recover.")
        return
    recovered = [p for p in salvage.partitions if p.records or p.markers]
    if recovered:
        lost = all(lot.lost for p in recovered for lot in p.lots)
        records = counted(sum(p.records for p in recovered), "lost record" if lost else "record")
        yield Text(f"{records} of {counted(len(recovered))} recovered into {clean(salvage.directory)}", style="bold green")
        yield Text("The files contain record bodies. Only their owner can read the files.\n", style="dim")
    else:
        yield Text("No collected disk contains any of the lost records.\n", style="bold yellow")
    for partition in salvage.partitions[:LISTED]:
        yield from _partition(partition)
    if len(salvage.partitions) > LISTED:
        yield Text(f"and {counted(len(salvage.partitions) - LISTED)} more; --json has all\n")
    if salvage.incomplete and recovered:
        yield Text("INCOMPLETE: the files do not contain all of the lost records (exit code 1).\n", style="bold yellow")
    for problem in salvage.problems[:LISTED]:
        yield Text(f"! {clean(problem)}", style="yellow")
    yield from _commands(recovered)


def _commands(recovered: Sequence[SalvagedPartition]) -> Iterator[Text]:
    """How to send the records again."""
    sendable = any(p.command is not None for p in recovered)
    if sendable:
        yield Text("To send the records again (nothing was sent): set BOOTSTRAP=host:port", style="bold")
    commands = [p for p in recovered if p.command is not None or p.not_sendable is not None]
    yield from (_inner(p.command or f"{p.topic}-{p.partition}: {p.not_sendable}") for p in commands[:LISTED])
    if sendable:
        yield Text(
            "First check whether the producers have sent the records again. Records with a key go to their original partition, in order, if "
            "the topic still has the same number of partitions and its producers used Kafka's default partitioner; records without a key can "
            "go to any partition. Records get the time of sending. kafka-console-producer ends with exit code 0 even if a broker refused a "
            "record; look for errors in its output.",
            style="dim",
        )


def _partition(p: SalvagedPartition) -> Iterator[Text]:
    special = [
        words
        for count, words in (
            (p.aborted, f"{p.aborted} of aborted transactions"),
            (p.open, f"{p.open} of transactions without a known end"),
            (p.markers, f"also {counted(p.markers, 'control record')}"),
        )
        if count
    ]
    yield Text(clean(f"{p.topic}-{p.partition}: {p.records} records" + (f" ({', '.join(special)})" if special else "")), style="bold")
    for lot in p.lots:
        yield from _lot_lines(lot)
    if p.files:
        yield _inner(f"in {', '.join(p.files.values())}", style="dim")
    if p.command is not None and (left := _not_sent(p.sending)):
        yield _inner(f"the command below leaves out {' and '.join(left)}", style="yellow")
    yield Text()


def _lot_lines(lot: Lot) -> Iterator[Text]:
    for copy in lot.found.held:
        whose = f" ({brokers_named([copy.broker])})" if copy.broker is not None else ""
        epoch = f", leader epoch {copy.leader_epoch}" if copy.leader_epoch >= 0 else ""
        yield _inner(f"offsets {copy.offsets}{epoch}, from {copy.source}{whose}{_set_aside(copy.source)}")
    if not lot.lost:
        yield _inner(
            "The log of the partition does not contain these records. Nothing shows whether they are lost or were never committed.",
            style="yellow",
        )
    if lot.copied:
        codecs = ", ".join(sorted(lot.codecs))
        sure = "" if lot.found.certain else "; probably, but not provably, the lost records and not others at the same offsets"
        yield _inner(f"{sized(lot.bytes)} of batches, compression {codecs}{sure}", style="dim")
    if missing := lot.missing():
        where = f": {text(lot.found.elsewhere)}" if lot.found.elsewhere is not None else ""
        yield _inner(f"NOT FOUND: offsets {_ranges(missing)}{where}", style="yellow")


def _set_aside(source: str) -> str:
    """What kind of file it is, if it is not a file of a current log."""
    where = partition_of(source)
    if where is not None and where[2] != "current":
        return f", a directory that Kafka renamed to -{where[2]}"
    mark = next((mark for mark in ("deleted", "swap", "cleaned") if source.endswith(f".{mark}")), None)
    return f", a file that Kafka renamed to .{mark}" if mark is not None else ""


def _not_sent(sending: Sending | None) -> list[str]:
    if sending is None:
        return []
    left = [f"{counted(sending.unsendable, 'record')} that cannot be a line of text"] if sending.unsendable else []
    unfinished = f"{sending.unfinished} of transactions that did not commit or have no known end"
    return left + ([unfinished] if sending.unfinished else [])


def _inner(words: str, style: str = "") -> Text:
    return Text(f"  {clean(words)}", style=style)


def _ranges(ranges: Sequence[Range]) -> str:
    return some([str(r) for r in ranges])
