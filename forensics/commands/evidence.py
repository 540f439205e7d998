"""Shared parts of commands that read evidence: the paths and clock options, the session in the background, progress.

Here: from paths on the command line to a Cluster and its events. Not here: the commands.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

from forensics.commands.names import similar

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from forensics.model.cluster.build import EventResolver, Options
    from forensics.model.cluster.facts import Cluster
    from parsers.containers.units import Unit
    from parsers.limits import Limits
    from parsers.own_files import OwnFile
    from spark.pipeline import SparkEvents
    from spark.progress import DoneSoFar
    from spark.session import Starting

F = TypeVar("F", bound=Callable[..., Any])
TIMEZONE, CLOCK_OFFSETS, MASTER = "forensics.timezone", "forensics.clock_offsets", "forensics.master"
LOG_PATTERNS = "forensics.log_patterns"
PATTERNS = "forensics.patterns"
LIMITS = "forensics.limits"
CLUSTER = "forensics.cluster"
MEMORY = "forensics.memory"
CONF = "forensics.conf"
PLAN = ("plan.json", "kafka-forensics/plan")
"""The overview in the directory of a plan, and the family of its schema."""
LEAST_MEMORY = 512 * 2**20
"""Spark does not start with a smaller heap."""
_REMOTE = re.compile(r"yarn|(spark|k8s|sc)://.+")
QUIET_S = 1.0
"""Shorter work is not reported."""
LOOK_S = 0.5
"""Time of the processor for a look at evidence before Spark starts."""
PERIOD_S = 0.5
"""Interval of progress updates."""


class InvalidInput(click.ClickException):
    exit_code = 2

    def format_message(self) -> str:
        return str(self.message)


def _log_patterns(context: click.Context, option: click.Parameter, patterns: tuple[str, ...]) -> None:
    """Checks the patterns before anything is read, and stores them in the command's context for open_evidence."""
    for pattern in patterns:
        from parsers.log_pattern import compiled  # a fifth of a command's time on a case, which needs no patterns

        try:
            compiled(pattern)
        except ValueError as error:
            raise click.BadParameter(str(error), context, option) from None
    context.meta[LOG_PATTERNS] = patterns


def _patterns(context: click.Context, option: click.Parameter, paths: tuple[str, ...]) -> None:
    """Checks the files of line patterns before anything is read, and stores them in the command's context for open_evidence."""
    if not paths:
        return
    from parsers.catalogue.samples import check
    from parsers.own_files import opened

    try:
        files = [opened(path) for path in dict.fromkeys(paths)]
        check(files)
    except ValueError as error:
        raise click.BadParameter(str(error), context, option) from None
    context.meta[PATTERNS] = tuple(files)


def _rules(context: click.Context, option: click.Parameter, paths: tuple[str, ...]) -> None:
    """Checks the files of rules before anything is read, and puts them in force."""
    from forensics import rule_files

    rule_files.put_in_force(own_rules(context, option, paths) if paths else ())


def own_rules(context: click.Context, option: click.Parameter, paths: Sequence[str]) -> tuple[OwnFile, ...]:
    """The files of rules, which are valid. Raises click.BadParameter."""
    from forensics.own_rules import check
    from parsers.own_files import opened

    try:
        files = tuple(opened(path) for path in dict.fromkeys(paths))
        check(files)
    except ValueError as error:
        raise click.BadParameter(str(error), context, option) from None
    return files


def _limits(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> None:
    """Checks the limits before anything is read, and stores them in the command's context for open_evidence."""
    from parsers.limits import given

    try:
        context.meta[LIMITS] = given(texts)
    except ValueError as error:
        raise click.BadParameter(str(error), context, option) from None


def _timezone(context: click.Context, option: click.Parameter, text: str | None) -> None:
    """Checks the time zone before anything is read, and stores it in the command's context for given_clocks."""
    zone(text)
    context.meta[TIMEZONE] = text


def _clock_offsets(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> None:
    """The same for the clock offsets."""
    brokers = [clock_offset(text)[0] for text in texts]
    if twice := next((broker for broker in brokers if brokers.count(broker) > 1), None):
        raise click.BadParameter(f"broker {twice} has two offsets; give one for each broker", context, option)
    context.meta[CLOCK_OFFSETS] = texts


def _master(context: click.Context, option: click.Parameter, url: str | None) -> None:
    """Rejects what is not the URL of a Spark master before a JVM starts."""
    context.meta[MASTER] = url
    if url is None:
        return
    from spark.session import LOCAL

    if not LOCAL.fullmatch(url) and not _REMOTE.fullmatch(url):
        message = f"{url!r} is not a Spark master; give local[N], spark://HOST:PORT, sc://HOST:PORT, yarn or k8s://https://HOST:PORT"
        raise click.BadParameter(message, context, option)


def _memory(context: click.Context, option: click.Parameter, size: str | None) -> None:
    """Stores the requested heap in the command's context for open_evidence."""
    found = re.fullmatch(r"(\d{1,6})([mg])", size.lower()) if size is not None else None
    if size is not None and (found is None or int(found[1]) * {"m": 2**20, "g": 2**30}[found[2]] < LEAST_MEMORY):
        raise click.BadParameter(f"{size!r} is not a valid size (minimum 512m, for example 2g)", context, option)
    context.meta[MEMORY] = found[0] if found is not None else None


OWN_OPTIONS = {"spark.master": "--master", "spark.driver.memory": "--memory"}
"""Settings of Spark for which there is an option."""


def _conf(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> None:
    """Checks the settings of Spark, and stores them in the command's context for open_evidence."""
    found: dict[str, str] = {}
    for text in texts:
        name, sep, value = text.partition("=")
        if not sep or not re.fullmatch(r"spark\.[\w.-]+", name):
            raise click.BadParameter(f"{name!r} is not spark.NAME=VALUE, for example spark.executor.memory=4g", context, option)
        if name in OWN_OPTIONS:
            raise click.BadParameter(f"{name} has an option of its own; give {OWN_OPTIONS[name]}", context, option)
        found[name] = value
    context.meta[CONF] = found


def cluster_option(command: F) -> F:
    """Stores the requested cluster of an audit for chosen_cluster."""

    def leave(context: click.Context, _option: click.Parameter, name: str | None) -> None:
        context.meta[CLUSTER] = name

    return click.option(
        "--cluster", metavar="NAME", expose_value=False, callback=leave, help="The cluster to read, if the input is the tables of an audit."
    )(command)


def chosen_cluster() -> str | None:
    return _given().get(CLUSTER)


def evidence_options(command: F) -> F:
    """PATH… and the options about clocks and Spark. A PATH may be a URI (parsers.containers.storage), a case, or an audit's tables."""
    return cluster_option(reading_options("PATH...")(command))


patterns_option = click.option(
    "--patterns",
    multiple=True,
    metavar="FILE",
    expose_value=False,
    callback=_patterns,
    help="TOML file of more line patterns, in the form that `patterns --toml NAME` prints (may be repeated).",
)


def reading_options(paths: str, *, required: bool = True) -> Callable[[F], F]:
    """Paths of evidence, and the options for reading it."""
    return lambda command: _reading(command, paths, required)


def limit_option(command: F) -> F:
    """Limits on reading, for the module limits."""
    return click.option(
        "--limit",
        multiple=True,
        metavar="NAME=VALUE",
        expose_value=False,
        callback=_limits,
        help="A limit on reading, for example stream=16g (may be repeated). The report names every limit that was reached.",
    )(command)


def _without_cache(_context: click.Context, _option: click.Parameter, given: bool) -> None:
    if given:
        from spark.class_archive import SWITCH

        os.environ[SWITCH] = "off"


def _reading(command: F, paths: str, required: bool) -> F:
    for decorate in (
        click.argument("paths", nargs=-1, required=required, type=click.Path(path_type=str), metavar=paths),
        click.option(
            "--timezone",
            metavar="ZONE",
            expose_value=False,
            callback=_timezone,
            help="Time zone of the log lines, for example Europe/Berlin or +02:00; default is an estimate for each broker.",
        ),
        click.option(
            "--clock-offset",
            multiple=True,
            metavar="BROKER=SECONDS",
            expose_value=False,
            callback=_clock_offsets,
            help="How far the clock of a broker is ahead (+) or behind (-), for example 2=-1.5 (may be repeated).",
        ),
        click.option(
            "--log-pattern",
            multiple=True,
            metavar="PATTERN",
            expose_value=False,
            callback=_log_patterns,
            help="log4j pattern of logs in another layout, for example '%d{ISO8601} %-5p %m (%c)%n' (may be repeated).",
        ),
        patterns_option,
        click.option(
            "--rules",
            multiple=True,
            metavar="FILE",
            expose_value=False,
            callback=_rules,
            help="TOML file of a rule of your own, in the form that `rules --toml KIND` prints (may be repeated).",
        ),
        limit_option,
        click.option(
            "--memory",
            metavar="SIZE",
            expose_value=False,
            callback=_memory,
            help="Spark heap, for example 8g; default is half of the machine's memory, at most 4g.",
        ),
        click.option(
            "--conf",
            multiple=True,
            metavar="NAME=VALUE",
            expose_value=False,
            callback=_conf,
            help="A setting of Spark, for example spark.executor.memory=4g (may be repeated).",
        ),
        click.option(
            "--master",
            metavar="URL",
            expose_value=False,
            callback=_master,
            help="URL of a Spark master; default is to run Spark inside this command.",
        ),
        click.option(
            "--no-cache",
            is_flag=True,
            expose_value=False,
            callback=_without_cache,
            help="Write nothing to the cache directory. It keeps Spark's classes, so that later commands start faster.",
        ),
    ):
        command = decorate(command)
    return command


class Progress:
    """One line on stderr about the current work, if it takes longer than a moment; on a terminal with the share done and the remaining
    time."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._session: Any = None

    def watch(self, session: Any) -> None:
        """Shows the progress of this Spark session from now on."""
        self._session = session

    @contextmanager
    def stage(self, words: str) -> Iterator[None]:
        from parsers.containers.names import printable  # clusters of an audit are named like directories

        words = printable(words)
        if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
            if time.monotonic() - self._began > QUIET_S:
                click.echo(f"{words} ...", err=True)
            yield
            return
        seen = _seen_of(self._session)
        over = threading.Event()
        shown = threading.Thread(target=self._show, args=(words, seen, over), name="progress", daemon=True)
        shown.start()
        try:
            yield
        finally:
            over.set()
            shown.join()

    def _show(self, words: str, seen: Callable[[], DoneSoFar | None], over: threading.Event) -> None:
        if over.wait(max(0.0, self._began + QUIET_S - time.monotonic())):
            return
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn
        from rich.progress import Progress as Bars

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(10), TextColumn("{task.fields[progress]}"))
        with Bars(*columns, console=Console(stderr=True), transient=True, refresh_per_second=1 / PERIOD_S) as bars:
            bar = bars.add_task(words, total=None, progress="")
            first: dict[bool, tuple[float, int]] = {}
            while not over.wait(PERIOD_S):
                if (now := seen()) is not None and now.done:
                    began, before = first.setdefault(now.bytes, (time.monotonic(), now.done))
                    text = progress_text(now, time.monotonic() - began, now.done - before)
                    bars.update(bar, total=now.total, completed=now.done, progress=text)


def _seen_of(session: Any) -> Callable[[], DoneSoFar | None]:
    if session is None:
        return lambda: None
    from spark.progress import Watch
    from spark.session import directory

    watch = Watch(session, directory(session))

    def seen() -> DoneSoFar | None:
        try:
            return watch.seen()
        except Exception:  # Spark is just ending: the error does not matter here
            return None

    return seen


def progress_text(seen: DoneSoFar, lately_s: float, lately: int) -> str:
    """The share done, and the pace of the last seconds with the time that remains at it."""
    unit, digits, of = (1, 0, "tasks") if not seen.bytes else (10**6, 0, "MB") if seen.total < 10**10 else (10**9, 1, "GB")
    done = f"{seen.done / unit:.{digits}f}/{seen.total / unit:.{digits}f} {of}"
    if seen.files[1] > 1:
        done = f"{seen.files[0]}/{seen.files[1]} files, {done}"
    if lately_s < 2 or not lately or seen.done >= seen.total:
        return done
    rate = lately / lately_s / 10**6
    pace = f", {rate:.{0 if rate >= 10 else 1}f} MB/s" if seen.bytes else ""
    left = timedelta(seconds=round(lately_s * (seen.total - seen.done) / lately))
    return f"{done}{pace}, {str(left).removeprefix('0:')} left"


@dataclass
class Opened:
    """Evidence read into Spark."""

    paths: Sequence[str]
    options: Options
    cluster_events: Callable[[], pa.Table]
    """Opens the events about the cluster, from which `cluster` and `resolver` are made."""
    cluster: Cluster
    resolver: EventResolver
    session: SparkSession
    events: SparkEvents
    units: list[Unit]


def open_evidence(
    paths: Sequence[str],
    progress: Progress,
    *,
    beside: Opened | None = None,
    keep: bool = True,
) -> Opened:
    """Reads everything once, into the Spark session of other evidence if `beside` is given. Raises Unusable if no path can be used, or
    Spark cannot start. Without `keep` Spark drops the events, and reads the files again when the events are needed."""
    options = given_clocks()
    check(paths)
    with progress.stage("Listing what was collected"):
        from parsers.containers.units import units

        planned = units(list(paths), limits(), pattern_files())
        _check_usable(paths, planned)
    starting = start() if beside is None else None
    if beside is not None:
        return read_units(beside.session, paths, planned, options, progress, keep)
    with progress.stage("Starting Spark"):
        session = started(starting, planned if _given().get(MASTER) is None else None)
    return read_units(session, paths, planned, options, progress, keep)


def read_units(
    session: SparkSession, paths: Sequence[str], planned: list[Unit], options: Options, progress: Progress, keep: bool = True
) -> Opened:
    """Reads the units of these paths. Raises Unusable if none of them is evidence."""
    from forensics.commands.selection import check_brokers
    from forensics.jobs import read
    from forensics.model.cluster.build import build_cluster
    from forensics.model.cluster.gathered import Gathered
    from forensics.output.sanitise import clean

    progress.watch(session)
    with progress.stage("Reading evidence"):
        events = read(session, planned, log_patterns(), cut=keep)
        if not keep:
            events.unpersist()
        cluster, resolver = build_cluster(Gathered(events.parts_of_cluster), options)
    check_brokers(cluster.nodes, options.clock_offsets_ms, "--clock-offset: ")
    if not cluster.usable:
        raise InvalidInput(_nothing_usable(paths, [*_not_usable(cluster)]))
    for damage in _damaged_archives(cluster):
        click.echo(clean(f"Warning: {damage}; only what could be read is judged. Copy the archive again."), err=True)
    return Opened(paths, options, lambda: events.of_cluster, cluster, resolver, session, events, planned)


def _check_usable(paths: Sequence[str], planned: Sequence[Unit]) -> None:
    """Raises Unusable before Spark starts if it takes but a moment to see that none of this is evidence."""
    from parsers.containers.storage import is_object_store, storage
    from parsers.evidence import not_evidence

    if any(map(is_object_store, paths)) or (found := not_evidence(planned, LOOK_S, log_patterns())) is None:
        return
    nothing = "the directory contains no file" if all(storage(path).is_directory() for path in paths) else "there is no file in it"
    raise InvalidInput(_nothing_usable(paths, [*found.values()] or [nothing]))


def _damaged_archives(cluster: Cluster) -> Iterator[str]:
    from parsers.containers.magic import is_archive_name
    from parsers.schemas import located

    compressed = {archive.path for archive in cluster.archives}
    yield from (located(s.path, s.problem) for s in cluster.sources if s.problem and (s.path in compressed or is_archive_name(s.path)))


def _not_usable(cluster: Cluster) -> Iterator[str]:
    from parsers.schemas import located

    yield from (located(s.path, s.problem) for s in cluster.sources if s.problem)
    yield from (f"{s.path} is the log of another process, such as ZooKeeper" for s in cluster.sources if s.of_other_process)


def _nothing_usable(paths: Sequence[str], reasons: Sequence[str]) -> str:
    from parsers.containers.storage import without_secrets

    more = f"; {len(reasons) - 1} more" if len(reasons) > 1 else ""
    reason = f" ({reasons[0]}{more})" if reasons else ""
    return f"No Kafka logs or checkpoints found in {', '.join(map(without_secrets, paths))}{reason}; `kafka-forensics collect --print` prints a script that collects them."


def given_clocks() -> Options:
    """The values of --timezone and --clock-offset of the command that runs."""
    return clocks(given_timezone(), _given().get(CLOCK_OFFSETS, ()))


def given_timezone() -> str | None:
    """The value of --timezone, as given."""
    return _given().get(TIMEZONE)


def clocks(timezone: str | None, clock_offsets: Sequence[str]) -> Options:
    from forensics.model.cluster.build import Options

    offset, name = zone(timezone)
    return Options(zone_offset_ms=offset, zone_name=name, clock_offsets_ms=dict(map(clock_offset, clock_offsets)))


def reading_words(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The options for reading evidence, as words of a command; `options` as in a case's manifest."""
    offset = options["zone_offset_ms"]
    zone = options["zone_name"] or (
        None if offset is None else f"{'-' if offset < 0 else '+'}{abs(offset) // 3_600_000:02}:{abs(offset) // 60_000 % 60:02}"
    )
    words = ["--timezone", zone] if zone is not None else []
    for broker, error in options["clock_offsets_ms"].items():
        words += ["--clock-offset", f"{broker}={error / 1000:+g}"]
    words += [word for pattern in options["log_patterns"] for word in ("--log-pattern", pattern)]
    words += [word for file in options.get("patterns", ()) for word in ("--patterns", file["path"])]
    words += [word for file in options.get("rules", ()) for word in ("--rules", file["path"])]
    return (*words, *(word for name, value in options.get("limits", {}).items() for word in ("--limit", f"{name}={value}")))


def start() -> Starting:
    """Starts Spark in the background."""
    from spark.java import java_home_trouble
    from spark.session import LOCAL, Starting

    given = _given()
    master = given.get(MASTER)
    memory = {"spark.driver.memory": given[MEMORY]} if given.get(MEMORY) else {}
    if (trouble := java_home_trouble()) is not None and (master is None or LOCAL.fullmatch(master)):
        click.echo(f"Warning: {trouble}; another Java is used if there is one", err=True)
    return Starting(master, conf={**given.get(CONF, {}), **memory})


def check(paths: Sequence[str]) -> None:
    """Raises Unusable if a path names nothing readable."""
    from forensics.case.files import is_marked
    from parsers.containers.storage import storage, without_secrets

    for path in paths:
        if not path.strip():
            raise InvalidInput(f"{path!r} is not a path; give a directory, an archive or a file")
        if trouble := storage(path).trouble():
            advice = "" if "; check " in trouble else f"; {_advice(path)}"
            raise InvalidInput(f"{without_secrets(path)}: {trouble}{advice}")
        if os.path.isfile(os.path.join(path, PLAN[0])) and is_marked(Path(path), *PLAN):
            raise InvalidInput(
                f"{path}: this is a plan that `kafka-forensics plan` wrote, not evidence; give the evidence from which it was made"
            )


def _advice(path: str) -> str:
    """Similar names in the directory of a path that does not exist."""
    directory, name = os.path.split(path)
    known = os.listdir(directory or ".") if os.path.isdir(directory or ".") else ()
    return similar(name, known, "check the path")


def _given() -> dict[str, Any]:
    """The options of the command that runs, by their names in its context; empty in a notebook."""
    context = click.get_current_context(silent=True)
    return context.meta if context is not None else {}


def log_patterns() -> Sequence[str]:
    return _given().get(LOG_PATTERNS, ())  # type: ignore[no-any-return]


def pattern_files() -> tuple[OwnFile, ...]:
    return _given().get(PATTERNS, ())  # type: ignore[no-any-return]


def limits() -> Limits:
    from parsers.limits import DEFAULTS

    return _given().get(LIMITS) or DEFAULTS


def started(starting: Starting | None, units: Sequence[Unit] | None = None) -> SparkSession:
    """The session, once it has started. Without Java, few units need none. Raises Unusable if it does not start."""
    from spark.java import JavaFailed, NoJava
    from spark.session import SparkRefused

    assert starting is not None
    try:
        return starting.session()
    except NoJava as error:
        from spark.in_process import MOST_BYTES, in_process, suits

        if units is None or not suits(units):
            few = f"; without Java, `analyze` reads up to {MOST_BYTES >> 20} MB of evidence" if units is not None else ""
            raise InvalidInput(f"{error}{few}") from None
        click.echo("No Java was found: this evidence is read without Spark, on one core.", err=True)
        return in_process()
    except (JavaFailed, SparkRefused) as error:
        raise InvalidInput(str(error)) from None


_OFFSET = re.compile(r"([+-])(\d{1,2})(?::?([0-5]\d))?")


def zone(text: str | None) -> tuple[int | None, str | None]:
    """The value of --timezone: milliseconds that wall clocks are ahead of UTC, as '+02:00', or a name of the time zone database."""
    if text is None:
        return None, None
    if text.upper() in ("UTC", "Z"):
        return 0, None
    if found := _OFFSET.fullmatch(text):
        minutes = int(found[2]) * 60 + int(found[3] or 0)
        if minutes <= 14 * 60:
            return minutes * (-60_000 if found[1] == "-" else 60_000), None
    else:
        try:
            return None, ZoneInfo(text).key
        except (ValueError, ZoneInfoNotFoundError, OSError):
            pass
    raise click.BadParameter(f"{text!r} is not a time zone; use for example +02:00 or Europe/Berlin", param_hint="--timezone")


def clock_offset(text: str) -> tuple[int, int]:
    """The value of --clock-offset: a broker, and the milliseconds that its clock is ahead."""
    broker, sep, seconds = text.partition("=")
    try:
        if not sep or abs(float(seconds)) > 366 * 86400:
            raise ValueError
        return int(broker), round(float(seconds) * 1000)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not BROKER=SECONDS, for example 2=-1.5", param_hint="--clock-offset") from None
