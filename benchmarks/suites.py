"""The comparisons: the promises of the tool, each measured against other programs for the same or a smaller task."""

from __future__ import annotations

import hashlib
import importlib.util
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import corpora
from benchmarks.corpora import BUNDLES, LOGS, RECORDED
from benchmarks.measuring import Result, Spent, paired, run
from spark.class_archive import SWITCH, archive_for
from spark.java import find_java

MB = 10**6
SPARKS = "Spark's own read.text"


@dataclass(frozen=True)
class Asked:
    """The amount to measure."""

    rounds: int
    scale: float
    """Factor for the sizes below."""
    seed: int = 1

    def size(self, megabytes: float) -> int:
        return int(megabytes * MB * self.scale)


def _python(module: str, *arguments: object) -> list[str]:
    return [sys.executable, "-m", module, *map(str, arguments)]


def _way(name: str, *paths: Path) -> Callable[[], Spent]:
    return lambda: run(_python("benchmarks.ways", name, *paths))


def _tool(*arguments: object) -> Callable[[], Spent]:
    return lambda: run([sys.executable, "-c", "from forensics.cli import main; main()", *map(str, arguments)])


@contextmanager
def _place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        yield Path(place)


def _bytes(place: Path) -> float:
    return round(sum(f.stat().st_size for f in place.rglob("*") if f.is_file()) / MB, 1)


def absent() -> list[str]:
    """Programs for comparison that are not installed."""
    tools = [name for name in ("duckdb", "polars") if importlib.util.find_spec(name) is None]
    return [*tools, *(() if shutil.which("rg") else ("rg",))]


def make_archive() -> None:
    """Makes the archive of Spark classes. It exists in every run except a user's first, so a measurement must not include making it."""
    java = find_java()
    archive = archive_for(java)
    if archive is not None and not archive.path.exists():
        subprocess.run(_python("spark.training", java.home), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


# one core


def reading(asked: Asked) -> Iterator[Result]:
    """The reader on one log, in one process; the log is so large that the startup of `rg` does not matter."""
    missing = absent()
    for name, log in LOGS.items():
        with _place() as place:
            file, literals = corpora.one_log(log, place, asked.size(200 if log.wrap is None else 32)), place / "literals"
            literals.write_text("\n".join(_searched()) + "\n")
            ways = {"by columns": _way("columns", file), "a loop with one regex": _way("loop", file)}
            if log.wrap is not None:
                ways["line by line"] = _way("rows", file)
            if "rg" not in missing:
                ways["rg -c"] = partial(run, ["rg", "-j1", "-c", "-F", "-f", literals, file])
            others = {"DuckDB": "duckdb", "polars": "polars"}
            ways |= {shown: _way(way, file) for shown, way in others.items() if way not in missing}
            runs = paired(ways, asked.rounds)
            groups = {tuple(spent[0].said["groups"]) for spent in runs.values() if "groups" in spent[0].said}
            printed = runs["by columns"][0].said
            facts = {
                "megabytes": _bytes(file.parent),
                "events": printed["events"],
                "peak": round(printed["peak"]),
                "same answers": len(groups) == 1,
            }
            reach = {"rg -c": 20.0 if "state-change" in name else 10.0} if log.wrap is None else {"line by line": 0.5}
            yield Result(f"reading {name}", "cpu", runs, facts, reach)


def _searched() -> list[str]:
    """The literals that are searched for in lines in Kafka's default layout."""
    from parsers.patterns import PATTERNS
    from parsers.patterns.loggers import RELEVANT_LOGGERS

    return sorted({pattern.literal for pattern in PATTERNS} | {f" ({name})" for name in RELEVANT_LOGGERS})


# whole commands


def analyze(asked: Asked) -> Iterator[Result]:
    """The whole command on brokers' logs in which most lines are relevant."""
    return _of_two_sizes("brokers' logs", corpora.brokers, asked)


def quiet(asked: Asked) -> Iterator[Result]:
    """The whole command on logs of quiet days."""
    return _of_two_sizes("quiet days", corpora.quiet, asked)


def _of_two_sizes(shape: str, write: Callable[[Path, int, int], Path], asked: Asked) -> Iterator[Result]:
    """The whole command, and the cost of further megabytes."""
    with _place() as place:
        sizes: list[float] = []
        runs: list[dict[str, list[Spent]]] = []
        for megabytes in (256, 1024):
            evidence, report = write(place / str(megabytes), asked.size(megabytes), asked.seed), place / "report.json"
            ways = {"analyze": _tool("analyze", evidence, "--json", report), SPARKS: _way("spark-text", evidence)}
            sizes.append(_bytes(evidence))
            runs.append(paired(ways, asked.rounds))
            facts: dict[str, Any] = {"megabytes": sizes[-1]}
            if len(runs) > 1:
                facts["of the megabytes from the smaller size on"] = f"{_further(*runs):.2f} of time"
            name = f"analyze, {shape}" if megabytes == 256 else f"analyze, {shape}, {megabytes:,} MB"
            yield Result(name, "wall", runs[-1], facts, {SPARKS: 1.15} if megabytes == 256 else {})


def _further(less: Mapping[str, Sequence[Spent]], more: Mapping[str, Sequence[Spent]]) -> float:
    """The ratio of the first way to the second, of the time that the additional evidence takes."""
    ours, theirs = (median(s.wall for s in more[way]) - median(s.wall for s in less[way]) for way in less)
    return ours / theirs


def bundle(asked: Asked) -> Iterator[Result]:
    """A small incident, mostly startup time."""
    recorded = BUNDLES / "rolling-restart-2.8.2-zk.tar.gz"
    with _place() as place:
        ways = {"analyze": _tool("analyze", recorded, "--json", place / "report.json"), "bare SparkSession": _way("spark-bare")}
        runs = paired(ways, asked.rounds)
    unpacked = sum(len(content) for _, content in corpora.files_of(recorded, "")) / MB
    yield Result("analyze, a bundle", "wall", runs, {"megabytes unpacked": round(unpacked, 2)}, {"bare SparkSession": 0.6})


def case(asked: Asked) -> Iterator[Result]:
    """An answer from a case, compared with the same from evidence."""
    with _place() as place:
        kept, report = place / "kept.case", place / "report.json"
        _tool("analyze", RECORDED, "--case", kept)()
        of = ("--topic", "acks1-rf3-min2", "--partition", 0)
        ways = {"from a case": _tool("timeline", kept, *of), "from evidence": _tool("timeline", RECORDED, *of)}
        yield Result("timeline", "wall", paired(ways, asked.rounds), {"case, megabytes": _bytes(kept)}, {"from evidence": 0.15})
        ways = {"from a case": _tool("report", kept, "--json", report), "from evidence": _tool("analyze", RECORDED, "--json", report)}
        yield Result("report", "wall", paired(ways, asked.rounds), {"case, megabytes": _bytes(kept)}, {"from evidence": 0.15})


def fleets(asked: Asked) -> Iterator[Result]:
    """Healthy fleets that restart, with a slow disk and a rack failure."""
    for brokers, partitions in ((12, 600), (100, round(20_000 * min(asked.scale, 1)))):
        with _place() as place:
            evidence = corpora.fleet(place / "evidence", brokers, partitions, asked.seed)
            ways = {"analyze": _tool("analyze", evidence, "--json", place / "report.json"), SPARKS: _way("spark-text", evidence)}
            runs = paired(ways, asked.rounds)
            yield Result(f"analyze, {partitions:,} partitions on {brokers} brokers", "wall", runs, {"megabytes": _bytes(evidence)})


def hot(asked: Asked) -> Iterator[Result]:
    """One partition with a very large number of events."""
    events = round(1_000_000 * asked.scale)
    with _place() as place:
        evidence = corpora.hot(place / "evidence", events)
        ways = {"analyze": _tool("analyze", evidence, "--json", place / "report.json"), SPARKS: _way("spark-text", evidence)}
        runs = paired(ways, asked.rounds)
        yield Result(f"analyze, {events:,} events of one partition", "wall", runs, {"megabytes": _bytes(evidence)})


def growth(asked: Asked) -> Iterator[Result]:
    """How the cost grows with the evidence: the exponent of a power of its bytes, 1 where twice as much takes twice as long."""
    with _place() as place:
        made = [corpora.brokers(place / str(size), asked.size(size)) for size in (10, 40, 160, 640)]
        names = {f"{_bytes(evidence):.0f} MB": evidence for evidence in made}
        report = place / "report.json"
        runs = paired({name: _tool("analyze", evidence, "--json", report) for name, evidence in names.items()}, asked.rounds)
        all_of_them = Result("", "cpu", runs)
        points = [(_bytes(names[name]), *all_of_them.medians(name)) for name in runs]
        facts = {
            "exponent of CPU": _exponent([(size, cpu) for size, _, cpu in points]),
            "exponent of wall": _exponent([(size, wall) for size, wall, _ in points]),
            "exponent of CPU, last step": _exponent([(size, cpu) for size, _, cpu in points][-2:]),
            "CPU seconds": ", ".join(f"{cpu:.1f} of {name}" for name, (_, _, cpu) in zip(runs, points, strict=True)),
        }
        largest = [*runs][-1]
        yield Result("analyze, as evidence grows", "cpu", {largest: runs[largest]}, facts)


def _exponent(points: list[tuple[float, float]]) -> float:
    """The slope of the least-squares line through the logarithms."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    x0, y0 = sum(xs) / len(xs), sum(ys) / len(ys)
    return round(sum((x - x0) * (y - y0) for x, y in zip(xs, ys, strict=True)) / sum((x - x0) ** 2 for x in xs), 3)


def memory(asked: Asked) -> Iterator[Result]:
    """Evidence far larger than the heap: the same answers with a small one."""
    for shape, write in (("noise", corpora.noise), ("brokers' logs", corpora.brokers)):
        with _place() as place:
            evidence = write(place / "evidence", asked.size(500), asked.seed)
            for command in ("merge", "analyze"):
                outs = {name: place / f"{command}-{number}" for number, name in enumerate(("heap of 640 MiB", "default heap"))}
                ways = {
                    name: _tool(command, evidence, "--json", out, *(("--memory", "640m") if "640" in name else ()))
                    for name, out in outs.items()
                }
                runs = paired(ways, max(asked.rounds // 3, 1))
                same = len({_digest(out) for out in outs.values()}) == 1
                yield Result(f"{command} with a small heap, {shape}", "wall", runs, {"megabytes": _bytes(evidence), "same answers": same})


def _digest(file: Path) -> str:
    with file.open("rb") as printed:
        return hashlib.file_digest(printed, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else str(file.stat().st_size)


def start(asked: Asked) -> Iterator[Result]:
    """The smallest job, from a cold start."""
    off = {SWITCH: "off"}

    def way(name: str, environment: dict[str, str]) -> Callable[[], Spent]:
        return lambda: run(_python("benchmarks.ways", name), environment)

    ways = {
        "ours, every later run": way("ours", {}),
        "ours, the first run": way("ours", off),
        "ours, for long jobs": way("ours-for-long", {}),
        "ours, for long jobs, the first run": way("ours-for-long", off),
        "spark-submit": way("spark-submit", {"JAVA_HOME": os.fspath(find_java().home)}),
    }
    yield Result("start to the end of the smallest job", "wall", paired(ways, asked.rounds), reach={"spark-submit": 0.35})


SUITES: dict[str, Callable[[Asked], Iterator[Result]]] = {
    f.__name__: f for f in (reading, start, bundle, case, analyze, quiet, fleets, hot, growth, memory)
}
