"""`kafka-forensics merge`: the log lines of all brokers as one stream, in order of time.

Here: the options, the display of a record, and the output to stdout or a file. Not here: order and choice of records (forensics.tools.ordered_records)
or the definition of a record (parsers.records).
"""

from __future__ import annotations

import difflib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

import click

from forensics.commands.evidence import Progress, evidence_options
from forensics.commands.help import Told
from forensics.commands.inputs import Input, open_found
from forensics.commands.output import TIME_FORMATS, json_option, opened_file
from forensics.model.findings import timestamp

if TYPE_CHECKING:
    from forensics.model.cluster.facts import Cluster
    from forensics.tools.ordered_records import RecordFilter, Show

TIMES = click.DateTime(["%Y-%m-%dT%H:%M:%S.%fZ", *TIME_FORMATS])
LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
COLOURS = (36, 33, 35, 32, 34, 31, 96, 93, 95, 92, 94, 91)
WIDEST = 60
"""Longest place for which lines are aligned, in characters."""


def _kinds(context: click.Context, option: click.Parameter, kinds: tuple[str, ...]) -> tuple[str, ...]:
    from parsers.kinds import KINDS

    for kind in kinds:
        if kind not in KINDS:
            close = difflib.get_close_matches(kind, KINDS, 3, 0.5)
            hint = f"is it {' or '.join(close)}? " if close else ""
            raise click.BadParameter(f"{kind!r} is no kind of event; {hint}`kafka-forensics patterns` lists them", context, option)
    return kinds


@click.command(
    "merge",
    cls=Told,
    examples=(
        ("What all brokers logged, in one order", "incident.tar.gz | less -S"),
        ("What they logged about one partition", "incident.case --topic orders --partition 0"),
        ("Errors of broker 2 from noon on", "incident.case --broker 2 --level ERROR --since 2026-01-31T12:00:00Z"),
        ("Who became leader when, as JSON lines", "incident.case --event leader-start --json -"),
    ),
)
@evidence_options
@click.option("--topic", "topics", multiple=True, metavar="NAME", help="Only lines about this topic, or that name it (may be repeated).")
@click.option(
    "--partition",
    "partitions",
    multiple=True,
    type=click.IntRange(0, 2**31 - 1),
    metavar="N",
    help="Only this partition number (may be repeated).",
)
@click.option("--broker", "brokers", multiple=True, type=int, metavar="ID", help="Only lines of this broker (may be repeated).")
@click.option("--since", type=TIMES, metavar="TIME", help="Only lines from this time on (UTC), as 2026-01-31T12:00:00.000Z or 2026-01-31.")
@click.option("--until", type=TIMES, metavar="TIME", help="Only lines up to this time (UTC).")
@click.option(
    "--event",
    "events",
    multiple=True,
    metavar="KIND",
    callback=_kinds,
    help="Only lines that state this, as leader-start (may be repeated).",
)
@click.option(
    "--level",
    type=click.Choice(LEVELS, case_sensitive=False),
    metavar="LEVEL",
    help="Only lines at least this grave: TRACE, DEBUG, INFO, WARN, ERROR or FATAL.",
)
@click.option(
    "--logger",
    "loggers",
    multiple=True,
    metavar="NAME",
    help="Only lines of this logger: its name, its package or the name's end (may be repeated).",
)
@click.option("--grep", "text", metavar="TEXT", help="Only lines with this text in them, or in the stack trace below them.")
@json_option("Write one JSON object a line, in place of the text; '-' is stdout.")
def command(
    paths: tuple[str, ...],
    timezone: str | None,
    clock_offsets: tuple[str, ...],
    master: str | None,
    json_file: str | None,
    **asked: Any,
) -> None:
    """Print the log lines of all brokers in one order of time.

    Times are UTC, after each broker's zone and skew were estimated; the text keeps the original. No file's own order is ever
    changed. Stack traces stay with their line, and what two copies of a log both hold comes once.
    """
    progress = Progress()
    found = open_found(paths, timezone, clock_offsets, master, progress, keep=False)
    with progress.stage("Sorting"):
        blocks = _blocks(found, _wanted(found, **asked), json_file is not None)
        first = next(blocks, None)
    if first is None:
        click.echo("No line is like that.", err=True)
    with _quiet_when_unread():
        _write(chain(() if first is None else (first,), blocks), json_file)


def _wanted(
    found: Input,
    topics: tuple[str, ...],
    partitions: tuple[int, ...],
    brokers: tuple[int, ...],
    since: datetime | None,
    until: datetime | None,
    events: tuple[str, ...],
    level: str | None,
    loggers: tuple[str, ...],
    text: str | None,
) -> RecordFilter:
    from forensics.tools.ordered_records import RecordFilter

    return RecordFilter(
        topics=frozenset(topics),
        partitions=frozenset(partitions),
        brokers=frozenset(brokers),
        since=since,
        until=until,
        events=frozenset(events),
        level=level,
        loggers=loggers,
        text=text,
        topic_ids=found.resolver.topics,
    )


def _blocks(found: Input, wanted: RecordFilter, as_json: bool) -> Iterator[str]:
    show: Show = json_line if as_json else lines_of(found.cluster, coloured=sys.stdout.isatty() and not os.environ.get("NO_COLOR"))
    return found.merged(wanted, show, stated=as_json)


def _write(blocks: Iterable[str], json_file: str | None) -> None:
    if json_file in (None, "-"):
        _copy(blocks, sys.stdout)
        return
    assert json_file is not None
    with opened_file(json_file) as out:
        _copy(blocks, out)


def _copy(blocks: Iterable[str], out: IO[str]) -> None:
    for block in blocks:
        out.write(block)
    out.flush()


@contextmanager
def _quiet_when_unread() -> Iterator[None]:
    """`| head` closes stdout early; the text that Python still holds is discarded."""
    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def json_line(row: Mapping[str, Any]) -> str:
    """A row of MERGED as a line of JSON, ASCII only."""
    told = {name: row[name] for name in ("source", "line", "byte", "level", "logger", "event", "topic", "partition", "text")}
    return json.dumps({"time": timestamp(row["at"]), "broker": row["broker"], **told}) + "\n"


@dataclass(frozen=True)
class Lines:
    """Shows a row of MERGED as lines `time broker-N file:line | text`, one for each of the record's lines."""

    nodes: Mapping[int, str]
    files: Mapping[str, str]
    """Shortest distinct names of the sources."""
    widths: tuple[int, int]
    """Length of the longest node and the longest place."""
    colours: Mapping[int, int]

    def __call__(self, row: Mapping[str, Any]) -> str:
        at = timestamp(row["at"]) or "-"
        broker = row["broker"]
        node = f"{at:24} {self.nodes.get(broker) or (f'broker-{broker}' if broker is not None else '-'):{self.widths[0]}}"
        if broker in self.colours:
            node = f"\x1b[{self.colours[broker]}m{node}\x1b[0m"
        texts = row["text"].split("\n")
        name, line = self.files.get(row["source"]) or _name(row["source"]), row["line"]
        step = 1 if row["lines"] == len(texts) else 0
        return "".join(f"{node} {f'{name}:{line + i * step}':{self.widths[1]}} | {_shown(text)}\n" for i, text in enumerate(texts))


def _shown(text: str) -> str:
    """Text without characters that control a terminal."""
    if text.isprintable() or text.replace("\t", "").isprintable():
        return text
    from forensics.output.sanitise import clean

    return clean(text)


def _name(path: str) -> str:
    return _shown(path.replace("\n", "\ufffd"))


def lines_of(cluster: Cluster, *, coloured: bool) -> Lines:
    """Lines for the sources and nodes of a cluster."""
    nodes = {n: f"{'broker' if node.broker else 'controller'}-{n}" for n, node in cluster.nodes.items()}
    logs = [s for s in cluster.sources if s.first is not None]
    counts = Counter((s.node, _last(s.path)) for s in logs)
    files = {s.path: _name(_last(s.path) if s.node is not None and counts[s.node, _last(s.path)] == 1 else s.path) for s in logs}
    widest = max((len(files[s.path]) + 1 + len(str(s.lines or 1)) for s in logs), default=0)
    colours = {n: COLOURS[i % len(COLOURS)] for i, n in enumerate(sorted(nodes))} if coloured else {}
    return Lines(nodes, files, (max(map(len, nodes.values()), default=1), min(widest, WIDEST)), colours)


def _last(path: str) -> str:
    return path.rsplit("/", 1)[-1]
