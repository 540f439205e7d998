"""The resources of a command up to its very end: wall-clock seconds, CPU seconds of all its processes, and the most memory of each kind of
them.

Linux only: orphans (a JVM) become children of this process, so that their CPU time is the kernel's own count of it. That leaves out
processes whose parent ignores that they end (SIGCHLD), as pyspark.daemon does with Spark's workers: their usage is sampled while they run.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.corpora import ROOT

PR_SET_CHILD_SUBREAPER = 36
PERIOD_S = 0.2
"""Interval between two samples of a command's processes; for processes that are not waited for, CPU time since the last sample is
unknown."""
LOOKS_FOR_MEMORY = 3
"""Memory is sampled once in this many samples, because it takes longer."""
ORPHANS_S = 20.0
"""How long processes that a command leaves may take to end."""

Command = Sequence[str | os.PathLike[str]]


@dataclass
class Spent:
    """Resources that one run took."""

    wall: float
    cpu: float
    peaks: dict[str, float] = field(default_factory=dict)
    """Peak MiB of the JVM, of all Python workers together and of the driver, with shared pages divided among processes."""
    said: dict[str, Any] = field(default_factory=dict)
    """Values that a way of benchmarks.ways printed about itself; its own `cpu` excludes imports."""


class Failed(RuntimeError):
    """A command ended with an error; the message is the end of its output."""


def adopt_orphans() -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run(command: Command, environment: Mapping[str, str] | None = None) -> Spent:
    """Raises Failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    variables = (
        os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])} | dict(environment or {})
    )
    running = subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    seen = _Seen(running.pid)
    out, err = running.communicate()
    wall = time.perf_counter() - began
    buried = _bury()
    seen.end()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if running.returncode:
        raise Failed(err.decode(errors="replace").strip()[-400:] or f"code {running.returncode}")
    uncounted = sum(spent for pid, spent in seen.unwaited.items() if pid not in buried)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime + uncounted
    lines = out.splitlines()
    printed = json.loads(lines[-1]) if lines and lines[-1].startswith(b'{"cpu"') else {}
    return Spent(wall, printed.get("cpu", cpu), seen.peaks, printed)


def _bury() -> set[int]:
    """Waits for the processes that the command left, so that their CPU time is counted; returns these."""
    end = time.monotonic() + ORPHANS_S
    buried = set()
    with suppress(ChildProcessError):
        while True:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            buried.add(pid)
            if not pid and time.monotonic() > end:
                for orphan in _descendants():
                    with suppress(ProcessLookupError):
                        os.kill(orphan, signal.SIGKILL)
            if not pid:
                time.sleep(0.01)
    return buried


def paired(ways: Mapping[str, Callable[[], Spent]], rounds: int) -> dict[str, list[Spent]]:
    """All ways in turn, this many times: a machine's speed drifts, and only measurements side by side are comparable. If another program's
    way fails, that is printed and the way is left out from then on. Raises Failed if ours, the first, fails."""
    ours = next(iter(ways))
    taken: dict[str, list[Spent]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way in [*taken]:
            try:
                taken[way].append(ways[way]())
            except Failed as error:
                if way == ours:
                    raise
                print(f"  {way} failed: {error}", file=sys.stderr, flush=True)
                del taken[way]
    return taken


@dataclass
class Result:
    """One comparison of ways to do the same; the first is ours."""

    name: str
    by: str
    """The measure that is compared: `cpu` or `wall`."""
    ways: dict[str, list[Spent]]
    facts: dict[str, Any] = field(default_factory=dict)
    reach: dict[str, float] = field(default_factory=dict)
    """The target ratio to each way."""

    def ratio(self, other: str, by: str | None = None) -> float:
        """Ours to another's: the median over the rounds."""
        ours = next(iter(self.ways.values()))
        pairs = [(asdict(a)[by or self.by], asdict(b)[by or self.by]) for a, b in zip(ours, self.ways[other], strict=True)]
        return float(median(a / b for a, b in pairs))

    def medians(self, way: str) -> tuple[float, float]:
        """Seconds of wall-clock time, and of CPU time."""
        return median(s.wall for s in self.ways[way]), median(s.cpu for s in self.ways[way])

    def row(self) -> dict[str, Any]:
        """The values for the history."""
        ours, *others = self.ways
        ways = {
            way: {"wall": [s.wall for s in spent], "cpu": [s.cpu for s in spent], "peaks": _most(spent)} for way, spent in self.ways.items()
        }
        ratios = {other: {by: round(self.ratio(other, by), 3) for by in ("wall", "cpu")} for other in others}
        return {**{k: v for k, v in asdict(self).items() if k != "ways"}, "own": ours, "ratios": ratios, "ways": _rounded(ways)}


def _most(spent: Sequence[Spent]) -> dict[str, float]:
    return {kind: max(s.peaks.get(kind, 0) for s in spent) for kind in {kind for s in spent for kind in s.peaks}}


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return [_rounded(v) for v in value] if isinstance(value, list) else round(value, 3)


# while it runs


class _Seen(threading.Thread):
    """Samples of a command's processes while they run."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.root = root
        self.peaks: dict[str, float] = {}
        """MiB by kind of process."""
        self.unwaited: dict[int, float] = {}
        """CPU seconds, at the last sample, of processes whose parent ignores their end, and of the children that they waited for."""
        self._over = threading.Event()
        self.start()

    def end(self) -> None:
        self._over.set()
        self.join()

    def run(self) -> None:
        looks = count()
        while not self._over.wait(PERIOD_S):
            processes = _descendants()
            ignoring = {parent for parent, _ in processes.values() if _ignores_children(parent)}
            self.unwaited |= {pid: cpu for pid, (parent, cpu) in processes.items() if parent in ignoring}
            if next(looks) % LOOKS_FOR_MEMORY == 0:
                self._weigh(processes)

    def _weigh(self, pids: Iterable[int]) -> None:
        now: dict[str, float] = {}
        for pid in pids:
            kind = "driver" if pid == self.root else "JVM" if _name(pid) == "java" else "workers"
            now[kind] = now.get(kind, 0) + _kilobytes(pid) / 1024
        for kind, size in now.items():
            self.peaks[kind] = max(self.peaks.get(kind, 0), round(size))


def _descendants() -> dict[int, tuple[int, float]]:
    """The processes below this one: the parent of each, and the CPU seconds of the process and of the children it waited for (proc(5))."""
    all_of_them: dict[int, tuple[int, float]] = {}
    for name in os.listdir("/proc"):
        with suppress(ValueError, OSError):
            pid = int(name)
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            all_of_them[pid] = int(fields[1]), sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    below = {os.getpid()}
    while more := {pid for pid, (parent, _) in all_of_them.items() if parent in below and pid not in below}:
        below |= more
    return {pid: all_of_them[pid] for pid in below - {os.getpid()}}


def _ignores_children(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    ignored = int(status.partition("SigIgn:")[2].split()[0], 16)
    return bool(ignored >> (signal.SIGCHLD - 1) & 1)


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _kilobytes(pid: int) -> int:
    try:
        rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(row.split()[1]) for row in rows if row.startswith("Pss:")), 0)
