"""`kafka-forensics merge`: the log lines of all brokers as one stream, in order of time.

Here: the options, and the output to stdout or a file. Not here: order and choice of records (forensics.tools.ordered_records), or their
display (forensics.views.merged).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

import click

from forensics.commands.evidence import Progress, evidence_options
from forensics.commands.help import described
from forensics.commands.inputs import Input, open_input
from forensics.commands.names import check_kind
from forensics.commands.output import discard_stdout, json_option, text_file
from forensics.commands.selection import Request, WholeNumber, check_brokers, check_partitions, selection_options
from forensics.commands.targets import noted
from forensics.commands.times import display_timezone_option, display_zone

if TYPE_CHECKING:
    from forensics.tools.ordered_records import RecordFilter, Show

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")


def _kinds(context: click.Context, option: click.Parameter, kinds: tuple[str, ...]) -> tuple[str, ...]:
    for kind in kinds:
        check_kind(context, option, kind)
    return kinds


@described(
    rank=60,
    examples=(
        ("All log lines of all brokers", "incident.tar.gz | less -S"),
        ("Log lines about one partition", "incident.case --topic orders --partition 0"),
        ("Errors of broker 2 since noon", "incident.case --broker 2 --level ERROR --since 2026-01-31T12:00:00Z"),
        ("Each start of a leader, as JSON lines", "incident.case --event leader-start --json -"),
    ),
)
@evidence_options
@selection_options("lines", "topic", "partition", "broker", "since")
@click.option(
    "--event",
    "events",
    multiple=True,
    metavar="KIND",
    callback=_kinds,
    help="Only lines about this kind of event, for example leader-start (may be repeated).",
)
@click.option(
    "--level",
    type=click.Choice(LEVELS, case_sensitive=False),
    metavar="LEVEL",
    help="Only lines of at least this level: TRACE, DEBUG, INFO, WARN, ERROR or FATAL.",
)
@click.option(
    "--logger",
    "loggers",
    multiple=True,
    metavar="NAME",
    help="Only lines of this logger: the full name, the package or the end of the name (may be repeated).",
)
@click.option("--grep", "text", metavar="TEXT", help="Only lines that contain this text, also in the stack trace.")
@click.option("-n", "--lines", "most", type=WholeNumber("a number of lines", 1), metavar="N", help="Only the first N lines.")
@click.option("--traces", is_flag=True, help="Print stack traces whole; otherwise frames that follow each other are one line.")
@display_timezone_option
@json_option("Write JSON lines instead of text; - is stdout.")
def command(
    paths: tuple[str, ...],
    most: int | None,
    traces: bool,
    json_file: str | None,
    request: Request,
    **asked: Any,
) -> None:
    """Print the log lines of all brokers in one order of time.

    Times are UTC, with time zones and clock offsets corrected; the text contains the original time. Lines of one file keep their order,
    stack traces stay with their line, and lines that are in two copies of a log are printed once.
    """
    progress = Progress()
    found = open_input(paths, progress, keep=False)
    with progress.stage("Sorting"):
        blocks = _first(most, _blocks(found, _wanted(found, request, **asked), json_file is not None, traces=traces))
        first = next(blocks, None)
    if first is None:
        check_partitions(found.partitions(), request.topics, request.partitions)
        check_brokers(found.cluster.nodes.keys(), request.brokers)
        click.echo("No log line matches.", err=True)
    _write(chain(() if first is None else (first,), blocks), json_file)


def _wanted(
    found: Input, request: Request, events: tuple[str, ...], level: str | None, loggers: tuple[str, ...], text: str | None
) -> RecordFilter:
    from forensics.tools.ordered_records import RecordFilter

    selection = request.selection(found.cluster)
    return RecordFilter(
        topics=frozenset(selection.topics),
        partitions=frozenset(selection.partitions),
        brokers=frozenset(selection.brokers),
        since=selection.since,
        until=selection.until,
        events=frozenset(events),
        level=level,
        loggers=loggers,
        text=text,
        topic_ids=found.resolver.topics,
    )


def _first(most: int | None, blocks: Iterator[str]) -> Iterator[str]:
    """The blocks up to this many lines."""
    if most is None:
        yield from blocks
        return
    for block in blocks:
        lines = block.splitlines(keepends=True)
        yield "".join(lines[:most])
        if (most := most - len(lines)) <= 0:
            return


def _blocks(found: Input, wanted: RecordFilter, as_json: bool, *, traces: bool) -> Iterator[str]:
    from forensics.views.merged import json_line, lines_of

    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    show: Show = json_line if as_json else lines_of(found.cluster, coloured=coloured, zone=display_zone(), traces=traces)
    return found.merged(wanted, show, stated=as_json)


def _write(blocks: Iterable[str], json_file: str | None) -> None:
    if json_file in (None, "-"):
        _copy(blocks, sys.stdout)
        return
    assert json_file is not None
    with noted(json_file), text_file(json_file) as out:
        _copy(blocks, out)


def _copy(blocks: Iterable[str], out: IO[str]) -> None:
    try:
        for block in blocks:
            out.write(block)
        out.flush()
    except BrokenPipeError:
        discard_stdout()
