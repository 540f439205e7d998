"""The measurements, with machine and versions: a line of JSON for each run, and the table of them."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.corpora import ROOT
from benchmarks.measuring import Result

HISTORY = ROOT / "benchmarks" / "history.jsonl"
PACKAGES = ("pyspark", "pyarrow", "ahocorasick-rs", "regex", "duckdb", "polars")


def add(file: Path, results: list[Result], rounds: int, scale: float) -> None:
    run = {
        "at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": _said(["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]),
        "machine": machine(),
        "versions": versions(),
        "rounds": rounds,
        "scale": scale,
        "results": [result.row() for result in results],
    }
    with file.open("a") as history:
        history.write(json.dumps(run) + "\n")


def machine() -> dict[str, Any]:
    model = re.search(r"^model name\s*: (.+)$", _read("/proc/cpuinfo"), re.MULTILINE)
    return {
        "system": platform.platform(terse=True),
        "cpu": model[1] if model else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 10**9, 1),
        "load": round(os.getloadavg()[0], 1),
    }


def versions() -> dict[str, str]:
    from spark.java import find_java

    versions_of = {"python": platform.python_version(), "java": find_java().version}
    for package in PACKAGES:
        try:
            versions_of[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions_of | ({"rg": _said(["rg", "--version"]).split()[1]} if shutil.which("rg") else {})


def _said(command: list[str]) -> str:
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def table(history: Path) -> str:
    """The newest measurement of each comparison as a Markdown table: those at full size, or at the largest size if there is none."""
    runs = [json.loads(line) for line in history.read_text().splitlines()] if history.exists() else []
    size = max((min(run["scale"], 1) for run in runs), default=0)
    newest = {result["name"]: (run, result) for run in runs if min(run["scale"], 1) == size for result in run["results"]}
    if not newest:
        return "No measurements.\n"
    shown = "".join(f"- {_run(run)}\n" for run in runs if any(of is run for of, _ in newest.values()))
    rows = "".join(_rows(result) for _, result in newest.values())
    return f"{_HEAD}{rows}\n{shown}"


_HEAD = """\
| comparison | seconds, CPU seconds | other program | seconds, CPU seconds | ratio | goal | details |
|---|---|---|---|---|---|---|
"""


def _run(run: dict[str, Any]) -> str:
    at, of = run["machine"], ", ".join(f"{name} {number}" for name, number in run["versions"].items())
    place = f"{at['cores']} cores of {at['cpu']}, {at['memory_gb']:.0f} GB, {at['system']}, load {at['load']} at the end"
    return f"{run['at'][:10]}, commit {run['commit']}, rounds: {run['rounds']}, scale: {run['scale']:g}: {place}; {of}"


def _rows(result: dict[str, Any]) -> str:
    ours, by = result["own"], result["by"]
    facts = "; ".join(f"{name} {'yes' if value is True else value}" for name, value in result["facts"].items())
    peaks = result["ways"][ours]["peaks"]
    if "JVM" in peaks:
        facts = "; ".join(filter(None, [facts, ", ".join(f"{kind} {size:.0f} MiB" for kind, size in sorted(peaks.items()))]))
    cells = [f"{result['name']} ({ours})", _seconds(result["ways"][ours])]
    rows = []
    for other, ratio in result["ratios"].items() or [("", {})]:
        theirs = [other, _seconds(result["ways"][other]), _ratio(ratio, by)] if other else [""] * 3
        aim = f"≤ {result['reach'][other]:g}" if other in result["reach"] else ""
        rows.append(f"| {' | '.join([*cells, *theirs, aim, facts])} |\n")
        cells, facts = ["", ""], ""
    return "".join(rows)


def _ratio(ratio: dict[str, float], by: str) -> str:
    """The ratio in words. Next to wall-clock time, CPU time is given too: on a busy machine only CPU time is meaningful."""
    return f"**{ratio['cpu']:.2f}** of CPU" if by == "cpu" else f"**{ratio['wall']:.2f}** of time, {ratio['cpu']:.2f} of CPU"


def _seconds(way: dict[str, Any]) -> str:
    return ", ".join(f"{median(way[by]):.{2 if median(way[by]) < 10 else 1}f}" for by in ("wall", "cpu"))
