"""What commands that read evidence share: the paths and clock options, the session in the background, progress.

Here: the road from paths on the command line to a Cluster and its events. Not here: what a command makes of them.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from parsers.containers import Unit
    from spark.cluster import Cluster
    from spark.gather import Identifier, Options

F = TypeVar("F", bound=Callable[..., Any])
QUIET_S = 1.0
"""Work shorter than this is not worth a word."""


class Unusable(click.ClickException):
    """Input nothing can be done with."""

    exit_code = 2

    def format_message(self) -> str:
        return str(self.message)


def evidence_options(command: F) -> F:
    """PATH… and the options about clocks and Spark."""
    for decorate in (
        click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=str), metavar="PATH..."),
        click.option("--timezone", metavar="ZONE", help="Zone of the lines' times, as Europe/Berlin or +02:00; estimated when not given."),
        click.option(
            "--clock-offset",
            "clock_offsets",
            multiple=True,
            metavar="BROKER=SECONDS",
            help="A broker's clock is fast (+) or slow (-) by so much.",
        ),
        click.option("--master", metavar="URL", help="Spark master; default is a Spark inside this command."),
    ):
        command = decorate(command)
    return command


class Progress:
    """One line on stderr that says what is being done, once it takes longer than a moment."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._console: Any = None

    @contextmanager
    def stage(self, words: str) -> Iterator[None]:
        if not sys.stderr.isatty():
            if time.monotonic() - self._began > QUIET_S:
                click.echo(f"{words} ...", err=True)
            yield
            return
        from rich.console import Console

        self._console = self._console or Console(stderr=True)
        with self._console.status(words):
            yield


@dataclass
class Opened:
    """Evidence read into Spark."""

    cluster: Cluster
    identifier: Identifier
    events: DataFrame


def open_evidence(
    paths: Sequence[str], timezone: str | None, clock_offsets: Sequence[str], master: str | None, progress: Progress
) -> Opened:
    """Reads everything once. Raises Unusable when no path can be used, or Spark cannot start."""
    from spark.gather import Options
    from spark.session import Starting

    options = Options(zone_offset_ms=zone_offset(timezone), clock_offsets_ms=dict(map(clock_offset, clock_offsets)))
    _check(paths)
    starting = Starting(master)
    with progress.stage("Listing what was collected"):
        from parsers.containers import units

        planned = units(list(paths))
    with progress.stage("Starting Spark"):
        session = _session(starting)
    return _read(session, planned, options, progress)


def _read(session: Any, planned: list[Unit], options: Options, progress: Progress) -> Opened:
    from spark.pipeline import gathered, read

    with progress.stage(f"Reading {sum(u.size for u in planned) / 1e6:.0f} MB of evidence"):
        events = read(session, planned)
        cluster, identifier = gathered(events, options)
    usable = [s for s in cluster.sources if s.kind not in ("unreadable", "empty", "binary", "text", "json", "index")]
    if not usable:
        told = next((s.problem for s in cluster.sources if s.problem), None)
        raise Unusable(f"Nothing of Kafka's was found in it{f': {told}' if told else ''}.")
    return Opened(cluster, identifier, events)


def _check(paths: Sequence[str]) -> None:
    for path in paths:
        if not os.path.exists(path):
            raise Unusable(f"{path}: no such file or directory")


def _session(starting: Any) -> Any:
    from spark.java import JavaFailed, NoJava

    try:
        return starting.session()
    except (NoJava, JavaFailed) as error:
        raise Unusable(str(error)) from None


def zone_offset(text: str | None) -> int | None:
    """Milliseconds a zone's wall clock is ahead of UTC, from '+02:00' or a name of the time zone database (its offset today)."""
    if text is None:
        return None
    if text.upper() in ("UTC", "Z"):
        return 0
    try:
        if text[0] in "+-":
            hours, _, minutes = text[1:].partition(":")
            ahead = timedelta(hours=int(hours), minutes=int(minutes or 0))
            return int(ahead.total_seconds() * 1000) * (-1 if text[0] == "-" else 1)
        offset = datetime.now(ZoneInfo(text)).utcoffset()
        assert offset is not None
        return int(offset.total_seconds() * 1000)
    except (ValueError, ZoneInfoNotFoundError, IndexError, OSError):
        raise click.BadParameter(f"{text!r} is no time zone; say +02:00 or Europe/Berlin", param_hint="--timezone") from None


def clock_offset(text: str) -> tuple[int, int]:
    broker, sep, seconds = text.partition("=")
    try:
        if not sep:
            raise ValueError
        return int(broker), round(float(seconds) * 1000)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not BROKER=SECONDS, as 2=-1.5", param_hint="--clock-offset") from None
