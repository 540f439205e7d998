"""The same incident tells the same, however its logs were laid out, wrapped or thrown together."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner
from rich.console import Console

from forensics.commands.inspect import _parts, command
from forensics.views.document import Report
from forensics.words import words
from tests.support import local, recorded, taken
from tests.support.paths import BUNDLES, truth_of
from tests.support.shapes import File, Files, bundle, put, records

NAMES = (
    "unclean-election-2.8.2-zk",
    "power-loss-divergence-3.9.1-kraft",
    "unclean-election-1.0.2-zk",
    "loser-moved-away-3.8.1-kraft-combined",
)
FIRST = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})\] ([A-Z]+) +(.*)", re.DOTALL)
LOGGER = re.compile(r" \(([\w$]+(?:\.[\w$]+)+)\)(?=\n|$)")


class Entry(NamedTuple):
    """A record of a log as Kafka laid it out."""

    time: str
    millis: str
    level: str
    message: str
    logger: str
    trace: str
    """Lines behind the logger."""

    def stamp(self, form: str = "{date} {clock},{millis}") -> str:
        date, _, clock = self.time.partition(" ")
        return form.format(date=date, clock=clock, millis=self.millis)

    @property
    def utc(self) -> datetime:
        return datetime.fromisoformat(f"{self.time}.{self.millis}")

    def plain(self) -> str:
        logger = f" ({self.logger})" if self.logger else ""
        return f"[{self.time},{self.millis}] {self.level} {self.message}{logger}{self.trace}\n"


def entries(data: bytes) -> Iterator[Entry]:
    for record in re.split(r"(?m)^(?=\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] [A-Z]+ )", data.decode()):
        found = FIRST.fullmatch(record.removesuffix("\n"))
        if found is None:
            continue
        time, millis, level, text = found.groups()
        logger = LOGGER.search(text)
        message, name, trace = (text[: logger.start()], logger[1], text[logger.end() :]) if logger else (text, "", "")
        yield Entry(time, millis, level, message, name, trace)


def laid_out(form: str, date: str = "{date} {clock},{millis}") -> Callable[[Entry, int], str]:
    """Records as another conversion pattern prints them."""

    def write(entry: Entry, number: int) -> str:
        return (
            form.format(
                time=entry.stamp(date),
                level=entry.level,
                low=entry.level.lower(),
                letter=entry.level[0],
                message=entry.message,
                logger=entry.logger,
                short=entry.logger.rpartition(".")[2],
                initials=".".join([*(part[0] for part in entry.logger.split(".")[:-1]), entry.logger.rpartition(".")[2]]),
                thread=("main", "kafka-request-handler-3", "ReplicaFetcherThread-0-2")[number % 3],
            )
            + entry.trace
            + "\n"
        )

    return write


def as_json(fields: Callable[[Entry], dict[str, object]]) -> Callable[[Entry, int], str]:
    return lambda entry, number: json.dumps(fields(entry)) + "\n"


def iso(entry: Entry) -> str:
    return entry.utc.isoformat(timespec="milliseconds") + "Z"


def micros(entry: Entry) -> int:
    return round((entry.utc - datetime(1970, 1, 1)) / timedelta(microseconds=1))


def by_line(write: Callable[[str, Entry], str]) -> Callable[[Entry, int], str]:
    """Each line of a record in a wrapper of its own."""
    return lambda entry, number: "".join(write(line, entry) + "\n" for line in entry.plain().splitlines())


def docker(line: str, entry: Entry) -> str:
    return json.dumps({"log": line + "\n", "stream": "stdout", "time": iso(entry)}, separators=(",", ":"), ensure_ascii=False)


def docker_cut(line: str, entry: Entry) -> str:
    """As docker does with lines that are too long for it, only sooner."""
    pieces = [line[at : at + 50] for at in range(0, len(line), 50)] or [""]
    ends = ["" for _ in pieces[1:]] + ["\n"]
    return "\n".join(docker(piece, entry).replace('\\n"', f'{json.dumps(end)[1:-1]}"') for piece, end in zip(pieces, ends, strict=True))


def cri_cut(line: str, entry: Entry) -> str:
    pieces = [line[at : at + 70] for at in range(0, len(line), 70)] or [""]
    return "\n".join(f"{iso(entry)} stdout {'P' if n + 1 < len(pieces) else 'F'} {piece}" for n, piece in enumerate(pieces))


def exported(entry: Entry, number: int) -> str:
    text = entry.plain().rstrip("\n")
    size = len(text.encode()).to_bytes(8, "little").decode("latin-1")
    message = f"MESSAGE\n{size}{text}" if "\n" in text else f"MESSAGE={text}"
    return f"__CURSOR=s={number}\n__REALTIME_TIMESTAMP={micros(entry)}\nPRIORITY=6\n{message}\n_HOSTNAME=h\n\n"


LAYOUTS: dict[str, Callable[[Entry, int], str]] = {
    "strimzi-log4j1": laid_out("{time} {level} {message} ({logger}) [{thread}]"),
    "thread-before-message": laid_out("[{time}] {level} [{thread}] {message} ({logger})"),
    "all-in-brackets": laid_out("[{time}] [{level}] [{thread}] [{logger}] {message}"),
    "log4j2-default": laid_out("{time} [{thread}] {level:5} {initials} - {message}", "{date} {clock}.{millis}"),
    "no-brackets": laid_out("{time} {level:5} {message} ({logger})"),
    "short-logger": laid_out("[{time}] {level} {message} ({short})"),
    "no-logger": laid_out("{time} {level} {message}"),
    "zoned": laid_out("{time} {level} {message} ({logger})", "{date}T{clock}.{millis}Z"),
    "ecs": as_json(
        lambda e: {
            "@timestamp": iso(e),
            "log.level": e.level,
            "message": e.message,
            "log.logger": e.logger,
            "error.stack_trace": e.trace[1:],
        }
    ),
    "logstash": as_json(
        lambda e: {"logger_name": e.logger, "level": e.level, "stack_trace": e.trace[1:], "message": e.message, "@timestamp": iso(e)}
    ),
    "json-layout": as_json(
        lambda e: {
            "instant": {"epochSecond": micros(e) // 10**6, "nanoOfSecond": micros(e) % 10**6 * 1000},
            "level": e.level,
            "loggerName": e.logger,
            "message": e.message,
            "thrown": {"message": "", "extendedStackTrace": e.trace[1:]},
        }
    ),
    "gcp": as_json(
        lambda e: {
            "timestamp": iso(e),
            "severity": {"WARN": "WARNING", "FATAL": "CRITICAL"}.get(e.level, e.level),
            "message": e.message,
            "_logger": e.logger,
            "_exception": {"stackTrace": e.trace[1:]},
        }
    ),
    "docker": by_line(docker),
    "docker-cut": by_line(docker_cut),
    "cri": by_line(lambda line, e: f"{iso(e)} stdout F {line}"),
    "cri-cut": by_line(cri_cut),
    "kubectl": by_line(lambda line, e: f"[pod/a-0/kafka] {line}"),
    "kubectl-timestamps": by_line(lambda line, e: f"{iso(e)} {line}"),
    "compose": by_line(lambda line, e: f"kafka-7   | {line}"),
    "journal": by_line(lambda line, e: f"{e.utc:%b %d %H:%M:%S} host kafka-server-start.sh[812]: {line}"),
    "journal-iso": by_line(lambda line, e: f"{e.utc:%Y-%m-%dT%H:%M:%S}+0000 host kafka[812]: {line}"),
    "journal-json": as_json(lambda e: {"MESSAGE": e.plain().rstrip("\n"), "__REALTIME_TIMESTAMP": str(micros(e)), "_HOSTNAME": "h"}),
    "journal-export": exported,
    "rfc5424": by_line(lambda line, e: f"<134>1 {iso(e)} host kafka 812 - - {line}"),
    "colours": by_line(lambda line, e: f"\x1b[33m{line}\x1b[m"),
    "fluent-bit": by_line(lambda line, e: json.dumps({"date": micros(e) / 10**6, "log": line, "kubernetes": {"pod_name": "x"}})),
    "fluent-array": by_line(lambda line, e: json.dumps([micros(e) / 10**6, {"log": line}])),
    "docker-in-kubectl": by_line(lambda line, e: f"[pod/a-0/kafka] {docker(line, e)}"),
    "ecs-in-cri": lambda entry, number: f"{iso(entry)} stdout F {LAYOUTS['ecs'](entry, number)}",
}


def is_log(path: str) -> bool:
    return "/logs/" in path and ".log" in path.rpartition("/")[2]


def records_of(name: str) -> dict[str, list[Entry]]:
    """All records each node wrote, in the order in which it wrote them, as on the standard output of a container."""
    found: dict[str, list[Entry]] = {}
    for path, file in bundle(name).items():
        if is_log(path):
            found.setdefault(path.split("/")[0], []).extend(entries(file.content))
    return {node: sorted(records, key=lambda entry: entry.utc) for node, records in found.items()}


def replaced(name: str, logs: dict[str, str]) -> Files:
    """The bundle with other logs."""
    files = bundle(name)
    modified = {path.split("/")[0]: file.modified for path, file in files.items() if is_log(path)}
    made = {path: File(text.encode(), modified.get(path.split("/")[0], 0)) for path, text in logs.items()}
    return {path: file for path, file in files.items() if not is_log(path)} | made


def rewritten(name: str, write: Callable[[Entry, int], str]) -> Files:
    coding = "latin-1" if write is exported else "utf-8"

    def again(content: bytes) -> bytes:
        return "".join(write(entry, number) for number, entry in enumerate(entries(content))).encode(coding)

    return {path: File(again(file.content), file.modified) if is_log(path) else file for path, file in bundle(name).items()}


Verdict = tuple[object, ...]


def verdicts(report: Report, without: frozenset[str] = frozenset()) -> set[Verdict]:
    """What is said of partitions, findings of some severities left out."""
    claimed = [f for f in report.findings if f.topic and f.severity not in without]
    return {(f.kind, f.topic, f.partition, tuple((r.start, r.end) for r in f.offsets), f.cause, f.committed) for f in claimed}


@lru_cache(maxsize=8)
def as_it_was(name: str, without: frozenset[str] = frozenset()) -> frozenset[Verdict]:
    return frozenset(verdicts(recorded.report(name), without))


def dated(form: str, date: str) -> Callable[[Entry, int], str]:
    """Records with a date that is not put together of Kafka's own; `%f` is milliseconds."""
    return lambda entry, number: laid_out(form, entry.utc.strftime(date.replace("%f", "{millis}")))(entry, number)


UNLISTED: dict[str, tuple[Callable[[Entry, int], str], str]] = {
    "pipes": (laid_out("{time}|{level}|{thread}|{logger}|{message}"), "%d{ISO8601}|%p|%t|%c|%m%n"),
    "pipes-padded": (laid_out("{time} | {level:5} | {thread} | {short} | {message}"), "%d{ISO8601} | %-5p | %t | %c | %m%n"),
    "level-first": (laid_out("{level:5} [{thread}] {time} {logger}: {message}"), "%-5p [%t] %d{ISO8601} %c: %m%n"),
    "one-letter": (laid_out("{letter} {time} {short} {message}"), "%.-1p %d{ISO8601} %c %m%n"),
    "one-letter-in-brackets": (laid_out("[{time}][{letter}][{initials}] {message}"), "[%d{ISO8601}][%.-1p][%c] %m%n"),
    "dash": (laid_out("{time} {level} - {message}"), "%d{ISO8601} %-5p - %m%n"),
    "thread-and-dash": (laid_out("[{time}] {level:5} {thread} {short} - {message}"), "[%d{ISO8601}] %-5p %t %c - %m%n"),
    "epoch-millis": (
        lambda e, n: laid_out("{time} {level} {logger} {message}", str(micros(e) // 1000))(e, n),
        "%d{UNIX_MILLIS} %-5p %c %m%n",
    ),
    "day-first": (
        dated("{time} {level} {thread} ({logger}) {message}", "%d/%m/%Y %H:%M:%S.%f"),
        "%d{dd/MM/yyyy HH:mm:ss.SSS} %-5p %t (%c) %m%n",
    ),
    "month-by-name": (dated("{time} [{level}] {initials} | {message}", "%d %b %Y %H:%M:%S,%f"), "%d{DATE} [%p] %c | %m%n"),
    "logger-in-braces-first": (laid_out("{{{logger}}} {time} {level} {message}"), "{%c} %d{ISO8601} %-5p %m%n"),
    "tabs": (laid_out("{time}\t{level}\t{thread}\t{logger}\t{message}"), "%d{ISO8601}\\t%-5p\\t%t\\t%c\\t%m%n"),
    "logfmt": (
        laid_out('ts={time} level={low} logger={logger} msg="{message}"', "{date}T{clock}.{millis}Z"),
        "ts=%d{yyyy-MM-dd'T'HH:mm:ss.SSSX} level=%-5p{lowerCase=true} logger=%c msg=\"%m\"%n",
    ),
    "host-and-program": (
        laid_out("kafka-7.example.org kafka[{level}] {time} {message} <{logger}>"),
        "kafka[%p] %d{ISO8601} %m <%c>%n",  # the host is the writer, and not a part of the layout
    ),
    "tags": (laid_out('<e t="{time}" l="{level}" c="{logger}">{message}</e>'), '<e t="%d{ISO8601}" l="%p" c="%c">%m</e>%n'),
    "double-colons": (laid_out("{time}::{level}::{short}::{message}"), "%d{ISO8601}::%p::%c::%m%n"),
    "spring": (laid_out("{time} {level} 4711 --- [{thread}] {initials} : {message}"), "%d{ISO8601} %-5p %L --- [%t] %c : %m%n"),
    "date-behind-clock": (
        dated("{level} {time} {short}: {message}", "%H:%M:%S.%f %Y-%m-%d"),
        "%-5p %d{HH:mm:ss.SSS yyyy-MM-dd} %c: %m%n",
    ),
    "logger-behind": (laid_out("{time} {low} {message} | {logger} | {thread}"), "%d{ISO8601} %-5p{lowerCase=true} %m | %c | %t%n"),
}
"""Layouts in no list, and the pattern that is learned of them."""
SHORT = ("acks1-failover-2.8.2-zk", "power-loss-divergence-3.9.1-kraft", "unclean-election-1.0.2-zk")
"""One of each family, with few lines: what a layout is like does not depend on how much was printed in it."""
LEARNED = [(SHORT[turn % 3], layout) for turn, layout in enumerate(UNLISTED)]


@pytest.mark.parametrize(("name", "layout"), LEARNED)
def test_verdicts_are_the_same_in_layouts_no_list_holds(name: str, layout: str) -> None:
    write, pattern = UNLISTED[layout]
    table = taken.table(rewritten(name, write))
    assert [row["text"] for row in table.to_pylist() if row["event"] == "problem"] == []
    report = local.report(table)
    assert pattern in {s.layout for s in report.cluster.sources}
    assert verdicts(report) == as_it_was(name)


UNDATED = {"no-date": dated("{time} {level} {logger} - {message}", "%H:%M:%S,%f"), "no-time": laid_out("{level} {logger} - {message}")}


@pytest.mark.parametrize("layout", UNDATED)
def test_lines_without_a_date_prove_nothing(layout: str) -> None:
    """Beside disks and metadata that have their times: what has no place among these must not be reported as if it came first."""
    report = taken.report(rewritten(NAMES[0], UNDATED[layout]))
    assert [words(f).summary for f in report.findings if f.kind in ("data-loss", "unclean-election") and f.confidence != "possible"] == []
    assert {p["verdict"] for p in report.partitions} == {"unknown"}
    assert re.search("MISSING: .* the lines print no date", report.document()["verdict"]["summary"])


def test_inspect_shows_the_pattern_that_was_learned(tmp_path: Path) -> None:
    write, pattern = UNLISTED["pipes"]
    made = put(tmp_path, rewritten(NAMES[0], write))
    report = local.report(local.events_of(made))
    console = Console(width=200, file=StringIO(), highlight=False)
    for part in _parts(report):
        console.print(part)
    assert isinstance(console.file, StringIO)
    (shown,) = [line for line in console.file.getvalue().splitlines() if line.startswith("layout learned")]
    count = sum(s.layout == pattern for s in report.cluster.sources)
    assert count > 1
    assert shown == f"layout learned: {pattern} ({count} files); use it with --log-pattern"
    assert pattern in {source["layout"] for source in report.document()["evidence"]["sources"]}
    again = local.report(local.events_of(made, log_patterns=[pattern]))
    assert verdicts(again) == verdicts(report)
    assert {s.layout for s in again.cluster.sources} == {None}


@pytest.mark.parametrize(("name", "layout"), [(NAMES[turn % 3], layout) for turn, layout in enumerate(LAYOUTS)])
def test_verdicts_are_the_same_in_every_layout(name: str, layout: str) -> None:
    table = taken.table(rewritten(name, LAYOUTS[layout]))
    assert [row["text"] for row in table.to_pylist() if row["event"] == "problem"] == []
    assert as_it_was(name)
    assert verdicts(local.report(table)) == as_it_was(name)


@pytest.mark.parametrize("name", ["unclean-election-2.8.2-zk", "power-loss-divergence-3.9.1-kraft", "wiped-zookeeper-3.7.2-zk"])
def test_without_loggers_the_runs_of_brokers_are_the_same(name: str) -> None:
    """Fetchers and other threads print `Starting` and `Shutting down` as well."""

    def runs(files: Files) -> list[tuple[object, ...]]:
        rows = taken.table(files).select(["event", "source", "line", "node"]).to_pylist()
        return sorted(tuple(row.values()) for row in rows if row["event"].startswith(("broker-st", "controller-st", "controlled-")))

    assert runs(rewritten(name, LAYOUTS["no-logger"])) == runs(rewritten(name, lambda entry, number: entry.plain()))


def overlapping(lines: list[bytes], share: float, overlap: float) -> list[bytes]:
    """Parts of the log, each of which begins before the end of the one before, one after the other."""
    size = max(1, round(len(lines) * share))
    return [record for begin in range(0, len(lines), size) for record in lines[max(0, begin - round(size * overlap)) : begin + size]]


AGAIN: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "the whole log twice": lambda given: given + given,
    "each record by two appenders": lambda given: [record for record in given for _ in range(2)],
    "two parts that overlap": lambda given: overlapping(given, 0.6, 0.3),
    "a part every hour": lambda given: overlapping(given, 0.15, 0.5),
}


@pytest.mark.parametrize(("name", "again"), [(NAMES[(n + m) % 4], again) for n, again in enumerate(AGAIN) for m in range(2)])
def test_records_that_are_there_again_tell_nothing_more(name: str, again: str) -> None:
    """As `kubectl logs --since=2h >> kafka.log` every hour leaves them."""
    files = {
        path: File(b"".join(AGAIN[again](records(file.content))), file.modified) if is_log(path) else file
        for path, file in bundle(name).items()
    }
    assert verdicts(taken.report(files)) == as_it_was(name)


STDOUT = {
    "strimzi-log4j2": laid_out("{time} {level:5} [{thread}] {short}:66 - {message}", "{date} {clock}"),
    "one-second": laid_out("[{time}] {level} {message} ({logger})", "{date} {clock}"),
    "docker": LAYOUTS["docker"],
}
WHOLE_SECONDS = ("strimzi-log4j2", "one-second")
"""In these, what lasted less than a second is not seen to have lasted."""


@pytest.mark.parametrize(
    ("name", "layout"), [(name, layout) for n, name in enumerate(NAMES) for m, layout in enumerate(STDOUT) if (n + m) % 2 == 0]
)
def test_verdicts_are_the_same_from_one_stream_a_broker(name: str, layout: str) -> None:
    logs = {
        f"{node}/stdout.log": "".join(STDOUT[layout](entry, number) for number, entry in enumerate(records))
        for node, records in records_of(name).items()
    }
    report = taken.report(replaced(name, logs))
    brief = frozenset({"info", "low"}) if layout in WHOLE_SECONDS else frozenset()
    assert verdicts(report, brief) == as_it_was(name, brief)


@pytest.mark.parametrize("name", ["unclean-election-1.0.2-zk", "last-replica-standing-1.0.2-zk"])
def test_whole_seconds_make_nothing_surer(name: str) -> None:
    part = taken.judged(taken.report(rewritten(name, STDOUT["one-second"])))
    found = taken.broken(part, taken.whole_of(name), truth_of(name))
    assert [violation for violation in found if violation[0] in taken.NEVER] == []


def _pod(node: str) -> str:
    return f"my-cluster-kafka-{int(node.rpartition('-')[2]) - 1}"


@pytest.mark.parametrize("name", NAMES[:2])
def test_pods_interleaved_in_one_file(name: str) -> None:
    """`kubectl logs --prefix --timestamps`; the number in a pod's name is not the broker's."""
    lines = [
        (entry.utc, f"[pod/{_pod(node)}/kafka] {iso(entry)} {line}\n")
        for node, records in records_of(name).items()
        for entry in records
        for line in entry.plain().splitlines()
    ]
    text = "".join(line for _, line in sorted(lines, key=lambda item: item[0]))
    report = taken.report(replaced(name, {"kafka-pods.log": text}))
    pods = {s.path.rpartition("#")[2]: s.node for s in report.cluster.sources if "#" in s.path}
    assert pods == {_pod(node): int(node.rpartition("-")[2]) for node in records_of(name)}
    assert verdicts(report) == as_it_was(name)


@pytest.mark.parametrize("name", NAMES[2:])
def test_files_joined_by_tail(name: str) -> None:
    parts = [f"==> {path} <==\n{file.content.decode()}" for path, file in bundle(name).items() if is_log(path)]
    report = taken.report(replaced(name, {"all.txt": "\n".join(parts)}))
    assert {s.kind for s in report.cluster.sources if "#" in s.path} >= {"server-log", "state-change-log"}
    assert verdicts(report) == as_it_was(name)


@pytest.mark.parametrize("name", NAMES[2:])
def test_layouts_one_after_another_in_one_file(name: str) -> None:
    """As `cat` of rotated logs does when the configuration was changed between them."""
    order = ("no-brackets", "docker", "plain", "ecs", "all-in-brackets", "cri", "log4j2-default")
    changing = {**LAYOUTS, "plain": laid_out("[{time}] {level} {message} ({logger})")}

    def write(entry: Entry, number: int) -> str:
        return changing[order[number // 40 % len(order)]](entry, number)

    assert verdicts(taken.report(rewritten(name, write))) == as_it_was(name)


def test_stamps_of_containers_tell_the_zone() -> None:
    """The brokers' lines are of another zone, and no file kept its modification time, no start-up tells UTC."""
    name, ahead = NAMES[0], timedelta(minutes=330)

    def write(entry: Entry, number: int) -> str:
        at = entry.utc + ahead
        line = entry._replace(time=f"{at:%Y-%m-%d %H:%M:%S}").plain()
        return "".join(f"{iso(entry)} stdout F {part}\n" for part in line.splitlines())

    files = {
        path: File(
            "".join(write(e, 0) for e in entries(file.content) if "startTimeMs" not in e.message).encode()
            if is_log(path)
            else file.content,
            1_800_000_000,
        )
        for path, file in bundle(name).items()
    }
    report = taken.report(files)
    clocks = [n.clock for n in report.cluster.nodes.values() if n.broker]
    assert {(clock.zone, clock.basis.split("+")[0]) for clock in clocks} == {("UTC+05:30", "container")}
    assert verdicts(report) >= {verdict for verdict in as_it_was(name) if verdict[0] == "data-loss"}


def test_logs_in_utc_beside_logs_in_local_time() -> None:
    """The console as JSON, the files as ever: only these are moved by the zone."""
    name = NAMES[0]
    both = {f"{node}/console.log": "".join(LAYOUTS["ecs"](e, 0) for e in records) for node, records in records_of(name).items()}
    local_time = {
        f"{node}/logs/server.log": "".join(e._replace(time=f"{e.utc + timedelta(hours=2):%Y-%m-%d %H:%M:%S}").plain() for e in records)
        for node, records in records_of(name).items()
    }
    report = taken.report(replaced(name, {**both, **local_time}))
    assert {n.clock.zone for n in report.cluster.nodes.values() if n.broker} == {"UTC+02:00"}
    spans = {s.path.rpartition("/")[2]: (s.first, s.last) for s in report.cluster.sources if s.path.startswith("broker-1/") and s.first}
    assert spans["console.log"] == spans["server.log"]


def test_pattern_of_the_user(tmp_path: Path) -> None:
    name, pattern = NAMES[0], "%d{dd.MM.yyyy HH'h'mm'm'ss.SSS} <%t> %c{2} %p >> %m%n"

    def write(entry: Entry, number: int) -> str:
        two = ".".join(entry.logger.split(".")[-2:])
        return f"{entry.utc:%d.%m.%Y %Hh%Mm%S}.{entry.millis} <main> {two or 'x'} {entry.level} >> {entry.message}{entry.trace}\n"

    made = put(tmp_path, rewritten(name, write))
    assert verdicts(local.report(local.events_of(made, log_patterns=[pattern]))) == as_it_was(name)
    read = [row["reason"] for row in local.events_of(made).to_pylist() if row["event"] == "problem"]
    assert set(read) == {"no-date"}


def test_pattern_that_cannot_be_compiled_is_refused_before_anything_is_read() -> None:
    done = CliRunner().invoke(command, [str(BUNDLES), "--log-pattern", "%d %p %m%n", "--log-pattern", "%d %Q %m"])
    assert done.exit_code == 2
    assert "--log-pattern" in done.output
    assert "%Q" in done.output
