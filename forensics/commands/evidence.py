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
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

from forensics.commands.names import similar
from forensics.commands.options import F, Option, given, kept, options

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from forensics.model.clock.node_clocks import Options
    from forensics.model.clock.resolver import EventResolver
    from forensics.model.cluster.facts import Cluster
    from parsers.containers.units import Unit
    from parsers.limits import Limits
    from parsers.own_files import OwnFile
    from spark.pipeline import SparkEvents
    from spark.progress import DoneSoFar
    from spark.session import Starting

TIMEZONE, CLOCK_OFFSETS, MASTER = "forensics.timezone", "forensics.clock_offsets", "forensics.master"
LOG_PATTERNS = "forensics.log_patterns"
PATTERNS = "forensics.patterns"
LIMITS = "forensics.limits"
CLUSTER = "forensics.cluster"
MEMORY = "forensics.memory"
CONF = "forensics.conf"
RULES, NO_CACHE = "forensics.rules", "forensics.no_cache"
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


def _log_patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    for pattern in patterns:
        from parsers.log_pattern import compiled  # a fifth of a command's time on a case, which needs no patterns

        compiled(pattern)
    return patterns


def _patterns(paths: tuple[str, ...]) -> tuple[OwnFile, ...]:
    if not paths:
        return ()
    from parsers.catalogue.samples import check

    return _checked(paths, check)


def own_rules(paths: Sequence[str]) -> tuple[OwnFile, ...]:
    """The files of rules, which are valid, and which are put in force. Raises ValueError."""
    from forensics import rule_files

    files: tuple[OwnFile, ...] = ()
    if paths:
        from forensics.own_rules import check

        files = _checked(paths, check)
    rule_files.put_in_force(files)
    return files


def _checked(paths: Sequence[str], check: Callable[[Sequence[OwnFile]], None]) -> tuple[OwnFile, ...]:
    from parsers.own_files import opened

    files = tuple(opened(path) for path in dict.fromkeys(paths))
    check(files)
    return files


def _limits(texts: tuple[str, ...]) -> Limits:
    from parsers.limits import given

    return given(texts)


def _timezone(text: str | None) -> str | None:
    zone(text)
    return text


def _clock_offsets(texts: tuple[str, ...]) -> tuple[str, ...]:
    brokers = [clock_offset(text)[0] for text in texts]
    if twice := next((broker for broker in brokers if brokers.count(broker) > 1), None):
        raise ValueError(f"broker {twice} has two offsets; give one for each broker")
    return texts


def _master(url: str | None) -> str | None:
    """Rejects what is not the URL of a Spark master before a JVM starts."""
    if url is not None:
        from spark.session import LOCAL

        if not LOCAL.fullmatch(url) and not _REMOTE.fullmatch(url):
            raise ValueError(
                f"{url!r} is not a Spark master; give local[N], spark://HOST:PORT, sc://HOST:PORT, yarn or k8s://https://HOST:PORT"
            )
    return url


def _memory(size: str | None) -> str | None:
    found = re.fullmatch(r"(\d{1,6})([mg])", size.lower()) if size is not None else None
    if size is not None and (found is None or int(found[1]) * {"m": 2**20, "g": 2**30}[found[2]] < LEAST_MEMORY):
        raise ValueError(f"{size!r} is not a valid size (minimum 512m, for example 2g)")
    return found[0] if found is not None else None


OWN_OPTIONS = {"spark.master": "--master", "spark.driver.memory": "--memory"}
"""Settings of Spark for which there is an option."""


def _conf(texts: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, sep, value = text.partition("=")
        if not sep or not re.fullmatch(r"spark\.[\w.-]+", name):
            raise ValueError(f"{name!r} is not spark.NAME=VALUE, for example spark.executor.memory=4g")
        if name in OWN_OPTIONS:
            raise ValueError(f"{name} has an option of its own; give {OWN_OPTIONS[name]}")
        found[name] = value
    return found


def _without_cache(given: bool) -> bool:
    if given:
        from spark.class_archive import SWITCH

        os.environ[SWITCH] = "off"
    return given


cluster_option = click.option(
    "--cluster", metavar="NAME", help="The cluster to read, if the input is the tables of an audit.", **kept(CLUSTER)
)


def chosen_cluster() -> str | None:
    return given(CLUSTER)  # type: ignore[no-any-return]


def evidence_options(command: F) -> F:
    """PATH… and the options about clocks and Spark. A PATH may be a URI (parsers.containers.storage), a case, or an audit's tables."""
    return options(reading_options("PATH..."), cluster_option)(command)  # type: ignore[no-any-return]


patterns_option = click.option(
    "--patterns",
    multiple=True,
    metavar="FILE",
    help="TOML file of more line patterns, in the form that `patterns --toml NAME` prints (may be repeated).",
    **kept(PATTERNS, _patterns),
)
limit_option = click.option(
    "--limit",
    multiple=True,
    metavar="NAME=VALUE",
    help="A limit on reading, for example stream=16g (may be repeated). The report names every limit that was reached.",
    **kept(LIMITS, _limits),
)
rules_option = click.option(
    "--rules",
    multiple=True,
    metavar="FILE",
    help="TOML file of a rule of your own, in the form that `rules --toml KIND` prints (may be repeated).",
    **kept(RULES, own_rules),
)


def reading_options(paths: str, *, required: bool = True) -> Option[Any]:
    """Paths of evidence, and the options for reading it."""
    return options(
        click.argument("paths", nargs=-1, required=required, type=click.Path(path_type=str), metavar=paths),
        click.option(
            "--timezone",
            metavar="ZONE",
            help="Time zone of the log lines, for example Europe/Berlin or +02:00; default is an estimate for each broker.",
            **kept(TIMEZONE, _timezone),
        ),
        click.option(
            "--clock-offset",
            multiple=True,
            metavar="BROKER=SECONDS",
            help="How far the clock of a broker is ahead (+) or behind (-), for example 2=-1.5 (may be repeated).",
            **kept(CLOCK_OFFSETS, _clock_offsets),
        ),
        click.option(
            "--log-pattern",
            multiple=True,
            metavar="PATTERN",
            help="log4j pattern of logs in another layout, for example '%d{ISO8601} %-5p %m (%c)%n' (may be repeated).",
            **kept(LOG_PATTERNS, _log_patterns),
        ),
        patterns_option,
        rules_option,
        limit_option,
        click.option(
            "--memory",
            metavar="SIZE",
            help="Spark heap, for example 8g; default is half of the machine's memory, at most 4g.",
            **kept(MEMORY, _memory),
        ),
        click.option(
            "--conf",
            multiple=True,
            metavar="NAME=VALUE",
            help="A setting of Spark, for example spark.executor.memory=4g (may be repeated).",
            **kept(CONF, _conf),
        ),
        click.option(
            "--master",
            metavar="URL",
            help="URL of a Spark master; default is to run Spark inside this command.",
            **kept(MASTER, _master),
        ),
        click.option(
            "--no-cache",
            is_flag=True,
            help="Write nothing to the cache directory. It keeps Spark's classes, so that later commands start faster.",
            **kept(NO_CACHE, _without_cache),
        ),
    )


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
        session = started(starting, planned if given(MASTER) is None else None)
    return read_units(session, paths, planned, options, progress, keep)


def read_units(
    session: SparkSession, paths: Sequence[str], planned: list[Unit], options: Options, progress: Progress, keep: bool = True
) -> Opened:
    """Reads the units of these paths. Raises Unusable if none of them is evidence."""
    from forensics.commands.selection import check_brokers
    from forensics.jobs import read
    from forensics.model.clock.gathered import Gathered
    from forensics.model.cluster.build import build_cluster
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
    return clocks(given_timezone(), given(CLOCK_OFFSETS, ()))


def given_timezone() -> str | None:
    """The value of --timezone, as given."""
    return given(TIMEZONE)  # type: ignore[no-any-return]


def clocks(timezone: str | None, clock_offsets: Sequence[str]) -> Options:
    from forensics.model.clock.node_clocks import Options

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

    master, size = given(MASTER), given(MEMORY)
    memory = {"spark.driver.memory": size} if size else {}
    if (trouble := java_home_trouble()) is not None and (master is None or LOCAL.fullmatch(master)):
        click.echo(f"Warning: {trouble}; another Java is used if there is one", err=True)
    return Starting(master, conf={**given(CONF, {}), **memory})


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


def log_patterns() -> Sequence[str]:
    return given(LOG_PATTERNS, ())  # type: ignore[no-any-return]


def pattern_files() -> tuple[OwnFile, ...]:
    return given(PATTERNS, ())  # type: ignore[no-any-return]


def limits() -> Limits:
    from parsers.limits import DEFAULTS

    return given(LIMITS) or DEFAULTS


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
