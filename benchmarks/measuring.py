"""What a command takes to its very end: seconds of the clock, CPU seconds of all its processes, and the most memory of each kind of them.

Linux only: orphans (a JVM, Spark's workers) become children of this process, so that their CPU time is the kernel's own count of it.
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.corpora import ROOT

PR_SET_CHILD_SUBREAPER = 36
PERIOD_S = 0.5
ORPHANS_S = 20.0
"""How long what a command leaves behind may take to end."""

Command = Sequence[str | os.PathLike[str]]


@dataclass
class Spent:
    """What one run took."""

    wall: float
    cpu: float
    peaks: dict[str, float] = field(default_factory=dict)
    """MiB that the JVM, all Python workers together and the driver had at most, shared pages dealt out."""
    said: dict[str, Any] = field(default_factory=dict)
    """What a way of benchmarks.ways printed about itself; its own `cpu` is without imports."""


class Failed(RuntimeError):
    """A command ended with an error; the message is the end of what it said."""


def adopt_orphans() -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run(command: Command, environment: Mapping[str, str] | None = None) -> Spent:
    """Raises Failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    own = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])} | dict(environment or {})
    running = subprocess.Popen(command, env=own, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    peaks: dict[str, float] = {}
    over = threading.Event()
    watching = threading.Thread(target=_watch, args=(running.pid, peaks, over))
    watching.start()
    out, err = running.communicate()
    wall = time.perf_counter() - began
    over.set()
    watching.join()
    _bury()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if running.returncode:
        raise Failed(err.decode(errors="replace").strip()[-400:] or f"code {running.returncode}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    lines = out.splitlines()
    said = json.loads(lines[-1]) if lines and lines[-1].startswith(b'{"cpu"') else {}
    return Spent(wall, said.get("cpu", cpu), peaks, said)


def _bury() -> None:
    """Waits for what the command left, so that its CPU time is counted."""
    end = time.monotonic() + ORPHANS_S
    with suppress(ChildProcessError):
        while True:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if not pid and time.monotonic() > end:
                for orphan in [*_descendants(os.getpid())][1:]:
                    with suppress(ProcessLookupError):
                        os.kill(orphan, signal.SIGKILL)
            if not pid:
                time.sleep(0.01)


def paired(ways: Mapping[str, Callable[[], Spent]], rounds: int) -> dict[str, list[Spent]]:
    """All ways in turn, so many times: a machine's speed drifts, and only what was measured side by side can be compared. Another's way
    that fails is said, and left out from then on. Raises Failed where ours does, which is the first."""
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
    """One comparison of ways to do the same; the first of them is ours."""

    name: str
    by: str
    """What is compared: `cpu` or `wall`."""
    ways: dict[str, list[Spent]]
    facts: dict[str, Any] = field(default_factory=dict)
    reach: dict[str, float] = field(default_factory=dict)
    """The ratio to each way that is aimed at."""

    def ratio(self, other: str, by: str | None = None) -> float:
        """Ours to another's: the median over the rounds."""
        own = next(iter(self.ways.values()))
        pairs = [(asdict(a)[by or self.by], asdict(b)[by or self.by]) for a, b in zip(own, self.ways[other], strict=True)]
        return float(median(a / b for a, b in pairs))

    def medians(self, way: str) -> tuple[float, float]:
        """Seconds of the clock, and of CPUs."""
        return median(s.wall for s in self.ways[way]), median(s.cpu for s in self.ways[way])

    def row(self) -> dict[str, Any]:
        """For the history."""
        own, *others = self.ways
        ways = {
            way: {"wall": [s.wall for s in spent], "cpu": [s.cpu for s in spent], "peaks": _most(spent)} for way, spent in self.ways.items()
        }
        ratios = {other: {by: round(self.ratio(other, by), 3) for by in ("wall", "cpu")} for other in others}
        return {**{k: v for k, v in asdict(self).items() if k != "ways"}, "own": own, "ratios": ratios, "ways": _rounded(ways)}


def _most(spent: Sequence[Spent]) -> dict[str, float]:
    return {kind: max(s.peaks.get(kind, 0) for s in spent) for kind in {kind for s in spent for kind in s.peaks}}


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return [_rounded(v) for v in value] if isinstance(value, list) else round(value, 3)


# memory


def _watch(root: int, peaks: dict[str, float], over: threading.Event) -> None:
    while not over.wait(PERIOD_S):
        now: dict[str, float] = {}
        for pid in _descendants(root):
            kind = "driver" if pid == root else "JVM" if _name(pid) == "java" else "workers"
            now[kind] = now.get(kind, 0) + _kilobytes(pid) / 1024
        for kind, size in now.items():
            peaks[kind] = max(peaks.get(kind, 0), round(size))


def _descendants(pid: int) -> Iterator[int]:
    yield pid
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{thread}/children").read_text().split():
                yield from _descendants(int(child))


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
