"""Output of the salvage command: recovered records, missing ones, and how to send them again. Never the content of a record.

Here: the text and the JSON kafka-forensics/salvage/1. Not here: the files themselves (forensics.tools.salvage).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.text import Text

from forensics.model.findings import Range, brokers_named, counted, some
from forensics.output.json_text import encoded
from forensics.output.sanitise import clean
from forensics.output.version import version
from forensics.tools.salvage.segments import Lot
from forensics.tools.salvage.written import Sending
from forensics.views.text import sized

SCHEMA = "kafka-forensics/salvage/1"
LISTED = 40
"""Losses, and problems, that a terminal shows."""


@dataclass
class Partition:
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


@dataclass
class Salvage:
    partitions: Sequence[Partition]
    directory: str
    problems: Sequence[str]
    values: bool
    command: Sequence[str]

    def document(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "tool": {"version": version(), "command": list(self.command)},
            "bodies_read": any(p.records for p in self.partitions),
            "values_written": self.values,
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
        "leader_epoch": lot.leader_epoch,
        "committed": lot.committed,
        "offsets": [r.row() for r in lot.offsets],
        "salvaged": [r.row() for r in lot.copied],
        "certain": lot.found.certain,
        "from": [
            {"source": h.source, "broker": h.broker, "leader_epoch": h.leader_epoch, "offsets": h.offsets.row()} for h in lot.found.held
        ],
        "bytes": lot.bytes,
        "codecs": sorted(lot.codecs),
        "missing": [r.row() for r in lot.missing()],
        "elsewhere": lot.found.elsewhere,
    }


def _sent(sending: Sending | None) -> dict[str, int]:
    return {} if sending is None else {"lines": sending.count, "not_text": sending.unsendable, "unfinished": sending.unfinished}


def show(told: Salvage, console: Console) -> None:
    for line in _lines(told):
        console.print(line, soft_wrap=True)


def _lines(told: Salvage) -> Iterator[Text]:
    found = [p for p in told.partitions if p.records or p.markers]
    if not told.partitions:
        yield Text("Nothing is lost, as far as the evidence tells: there is nothing to bring back.")
        return
    records = sum(p.records for p in found)
    if found:
        yield Text(
            f"{counted(records, 'lost record')} of {counted(len(found))} brought back into {clean(told.directory)}",
            style="bold green",
        )
        yield Text("Records' bodies were read for it, as no other command does. Only their owner can read the files.\n", style="dim")
    else:
        yield Text("None of the lost records is on a disk that was collected.\n", style="bold yellow")
    for partition in told.partitions[:LISTED]:
        yield from _partition(partition, told)
    if len(told.partitions) > LISTED:
        yield Text(f"and {counted(len(told.partitions) - LISTED)} more; --json has all\n")
    for problem in told.problems[:LISTED]:
        yield Text(f"! {clean(problem)}", style="yellow")
    if commands := [p for p in found if p.command is not None or p.not_sendable is not None]:
        yield Text("To send them again (nothing was sent): set BOOTSTRAP=host:port", style="bold")
        yield from (_inner(p.command or f"{p.topic}-{p.partition}: {p.not_sendable}") for p in commands[:LISTED])
        yield Text(
            "Look first whether their producers have sent them again themselves. What has a key goes to the partition it was in if the topic has as many "
            "partitions as then and its producers chose by Kafka's own rule, in its order; what has none may go to any. Times are those of the sending. The tool ends "
            "with 0 even where a broker refused a record: it prints that.",
            style="dim",
        )


def _partition(p: Partition, told: Salvage) -> Iterator[Text]:
    marked = [
        words
        for count, words in (
            (p.aborted, f"{p.aborted} of aborted transactions"),
            (p.open, f"{p.open} of transactions whose end was not found"),
            (p.markers, f"{counted(p.markers, 'control record')} beside them"),
        )
        if count
    ]
    yield Text(clean(f"{p.topic}-{p.partition}: {p.records} records" + (f" ({', '.join(marked)})" if marked else "")), style="bold")
    for lot in p.lots:
        for held in lot.found.held:
            whose = f" ({brokers_named([held.broker])})" if held.broker is not None else ""
            epoch = f", leader epoch {held.leader_epoch}" if held.leader_epoch >= 0 else ""
            yield _inner(f"offsets {held.offsets}{epoch}, from {held.source}{whose}")
        if lot.copied:
            codecs = ", ".join(sorted(lot.codecs))
            sure = "" if lot.found.certain else "; that they are the lost ones and not others at the same offsets is probable, not proven"
            yield _inner(f"{sized(lot.bytes)} of batches, compression {codecs}{sure}", style="dim")
        if missing := lot.missing():
            where = f": {lot.found.elsewhere}" if lot.found.elsewhere else ""
            yield _inner(f"NOT FOUND: offsets {_ranges(missing)}{where}", style="yellow")
    if p.files:
        yield _inner(f"in {', '.join(p.files.values())}", style="dim")
    if p.sending is not None and p.command is not None and (p.sending.unsendable or p.sending.unfinished):
        left = [f"{p.sending.unsendable} that are no line of text"] if p.sending.unsendable else []
        left += [f"{p.sending.unfinished} of transactions that did not commit, or whose end is not known"] if p.sending.unfinished else []
        yield _inner(f"the command below leaves out {' and '.join(left)}", style="yellow")
    yield Text()


def _inner(words: str, style: str = "") -> Text:
    return Text(f"  {clean(words)}", style=style)


def _ranges(ranges: Sequence[Range]) -> str:
    return some([str(r) for r in ranges])
