"""Mutation test of single modules: changes one place at a time and runs unit tests, which should then fail.

    python -m tests.mutation MODULE.py [MODULE.py ...] --tests PATH [PATH ...] [--jobs 2] [--sample N] [--only LINE] [--at-least 95]

It is started by hand from the root of the project and is not part of the test suite. For example:

    python -m tests.mutation forensics/model/coverage/log_coverage.py --tests tests/forensics/proof
    python -m tests.mutation forensics/model/coverage/log_coverage.py --tests tests/forensics/proof --only 112

A mutant is the module with one change (tests/mutation/rules.py lists them). Tests that fail kill it. A mutant that survives is printed as
`file:line: before -> after`: add a test that fails for it, or simplify the code. A mutant that takes several times as much processor time as
the tests without a mutation has timed out, and counts as killed in the percentage. The exit code is 1 if a module is below `--at-least`
percent, and 2 if the tests fail without a mutation, or do not import the module.

No file of the project is changed: tests/mutation/mutant.py imports the module from a temporary file. Each mutant runs in a forked process,
in which all modules are already imported that do not depend on the mutated one. Programs that a test starts run the original module.
Hypothesis generates the same examples each time. Tests that have killed a mutant run first for the next ones. Do not edit the project during
a run: each mutant imports the tests and all modules that depend on the mutated one from the disk.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import pickle
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from typing import NoReturn

import pytest

from tests.mutation.rules import Mutation, mutations, plain

PLUGIN, MODULE, SOURCE = "tests.mutation.mutant", "MUTANT_MODULE", "MUTANT_SOURCE"
OPTIONS = ("-n0", "-x", "-q", "-p", PLUGIN, "-p", "no:cacheprovider", "--assert=plain", "--hypothesis-seed=0")
MEMORY = 4 << 30
"""Bytes that the tests of one mutant may allocate: a mutant may fill a list without an end."""
TIMES_AS_LONG, SECONDS_MORE = 3, 5
"""Limit of processor time of a mutant, compared with the tests without a mutation. Other load on the machine does not count."""
WALL_CLOCK = 8
"""Times as long as that limit a mutant may take if it waits."""
_DYNAMIC = ("__import__", "exec_module", "import_module", "iter_modules", "run_module", "walk_packages")
_FORK = get_context("fork")


class Unusable(Exception):
    """The module cannot be tested with these tests."""


@dataclass(frozen=True, slots=True)
class Target:
    """A module to mutate, and how its tests run."""

    path: Path
    tests: tuple[str, ...]
    jobs: int
    sample: int | None
    line: int | None

    @property
    def module(self) -> str:
        return ".".join(p for p in self.path.with_suffix("").parts if p != "__init__")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the tests."""

    exit_code: int
    seconds: float
    """Of processor time."""
    timed_out: bool = False
    failed: tuple[str, ...] = ()
    """Tests."""
    modules: dict[str, str | None] = field(default_factory=dict)
    """All that are imported in the end, with their files."""
    output: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What the tests of a module are worth."""

    path: Path
    mutants: int
    timed_out: int
    survivors: tuple[Mutation, ...]

    @property
    def percentage(self) -> float:
        return 100 * (1 - len(self.survivors) / self.mutants) if self.mutants else 100.0


def measure(target: Target) -> Result:
    """Runs the tests against each mutant. Called in a process of its own: it imports the project."""
    found = _selected(target)
    with tempfile.TemporaryDirectory(prefix="mutation-") as directory:
        runner = _Runner(target, Path(directory))
        baseline = _warmed(target, runner)
        runner.limit = int(TIMES_AS_LONG * baseline.seconds + SECONDS_MORE)
        runs = runner.run_all([mutation.source for mutation in found])
    survivors = tuple(mutation for mutation, run in zip(found, runs, strict=True) if run.exit_code == 0 and not run.timed_out)
    return Result(target.path, len(found), sum(run.timed_out for run in runs), survivors)


def _selected(target: Target) -> list[Mutation]:
    found = mutations(target.path.read_text(encoding="utf-8"))
    if target.line is not None:
        found = [mutation for mutation in found if mutation.line == target.line]
        if not found:
            raise Unusable(f"{target.path} has no mutant in line {target.line}")
    if target.sample is not None and target.sample < len(found):
        chosen = sorted(random.Random(0).sample(range(len(found)), target.sample))
        return [found[index] for index in chosen]
    return found


def _warmed(target: Target, runner: _Runner) -> Run:
    """The run of the tests without a mutation, once all modules are imported that do not depend on the target."""
    source = plain(target.path.read_text(encoding="utf-8"))
    first = _passed(runner, source)
    if target.module not in first.modules:
        raise Unusable(f"{' '.join(target.tests)}: the tests do not import {target.module}")
    _warm(first.modules, target.module)
    return _passed(runner, source)


def _passed(runner: _Runner, source: str) -> Run:
    (run,) = runner.run_all([source])
    if run.exit_code != 0 or run.timed_out:
        raise Unusable(f"{' '.join(runner.target.tests)}: the tests fail without a mutation (exit code {run.exit_code})\n{run.output}")
    return run


# processes


class _Recorder:
    """pytest plugin that runs the named tests first and keeps the names of those that fail."""

    def __init__(self, first: Sequence[str]) -> None:
        self.rank = {name: index for index, name in enumerate(first)}
        self.failed: list[str] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self.rank.get(item.nodeid, len(self.rank)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)


@dataclass(slots=True)
class _Child:
    index: int
    slot: Path
    deadline: float
    killed: bool = False


class _Runner:
    """Runs the tests in forked processes, some of them at a time."""

    def __init__(self, target: Target, directory: Path) -> None:
        self.target, self.directory = target, directory
        self.parent = os.getppid()
        self.limit = 3600
        self.killers: Counter[str] = Counter()

    def run_all(self, sources: Sequence[str]) -> list[Run]:
        """A run of the tests for each of these sources of the module."""
        runs: dict[int, Run] = {}
        slots = [self.directory / str(number) for number in range(self.target.jobs)]
        running: dict[int, _Child] = {}
        waiting = iter(enumerate(sources))
        try:
            while len(runs) < len(sources):
                while slots and (following := next(waiting, None)) is not None:
                    child = _Child(following[0], slots.pop(), time.monotonic() + WALL_CLOCK * self.limit)
                    running[self._start(child.slot, following[1])] = child
                for child, run in self._ended(running):
                    slots.append(child.slot)
                    runs[child.index] = run
                    _show_progress(self.target, len(runs), len(sources))
        finally:
            for pid in running:
                _kill(pid)
        return [runs[index] for index in range(len(sources))]

    def _start(self, slot: Path, source: str) -> int:
        slot.mkdir(exist_ok=True)
        (slot / "result").unlink(missing_ok=True)
        (slot / "mutant.py").write_text(source, encoding="utf-8")
        first = [name for name, _ in self.killers.most_common()]
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if not pid:
            _run_tests(self.target, slot, self.limit, first)
        with suppress(OSError):  # the child does it, too: whichever comes first
            os.setpgid(pid, pid)
        return pid

    def _ended(self, running: dict[int, _Child]) -> Iterator[tuple[_Child, Run]]:
        pid, status, usage = os.wait4(-1, os.WNOHANG)
        if not pid:
            now = time.monotonic()
            for late, child in running.items():
                if now > child.deadline and not child.killed:
                    child.killed = True
                    _kill(late)
            if os.getppid() != self.parent:
                raise Unusable("the command was stopped")
            time.sleep(0.005)
        elif (ended := running.pop(pid, None)) is not None:
            _kill(pid)  # what the tests have started and left
            run = _read(ended, os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime)
            self.killers.update(run.failed[:1])
            yield ended, run


def _run_tests(target: Target, slot: Path, limit: int, first: Sequence[str]) -> NoReturn:
    """In the child: the tests against the mutant in that directory."""
    code = 70
    try:
        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        output = os.open(slot / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        os.environ.update({MODULE: target.module, SOURCE: str(slot / "mutant.py")})
        recorder = _Recorder(first)
        code = int(pytest.main([*OPTIONS, f"--basetemp={slot / 'tmp'}", *target.tests], plugins=[recorder]))
        modules = {name: getattr(module, "__file__", None) for name, module in [*sys.modules.items()]}
        (slot / "result").write_bytes(pickle.dumps((recorder.failed, modules)))
        sys.stdout.flush()
    finally:
        os._exit(code)


def _read(child: _Child, code: int, seconds: float) -> Run:
    result, output = child.slot / "result", child.slot / "output"
    failed, modules = pickle.loads(result.read_bytes()) if result.exists() else ((), {})
    text = output.read_text(encoding="utf-8", errors="replace")[-2000:] if output.exists() else ""
    return Run(code, seconds, child.killed or code == -signal.SIGXCPU, tuple(failed), modules, text)


def _kill(pid: int) -> None:
    """Kills a child of this process and what it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _show_progress(target: Target, done: int, of: int) -> None:
    if sys.stderr.isatty() and of > 1:
        print(f"\r{target.path}: {done} of {of} mutants", end="\n" if done == of else "", file=sys.stderr, flush=True)
    elif done % 50 == 0:
        print(f"{target.path}: {done} of {of} mutants", file=sys.stderr, flush=True)


# modules that are imported once, before all mutants


def _warm(modules: dict[str, str | None], target: str) -> None:
    """Imports those of the modules that do not depend on the target, and are not tests."""
    root = Path.cwd()
    files = {name: Path(path) for name, path in modules.items() if path is not None}
    own = {name: path for name, path in files.items() if root in path.parents and "site-packages" not in path.parts}
    tests = {name for name, path in own.items() if name.split(".")[0] == "tests" or path.name.startswith(("test_", "conftest"))}
    left_out = dependents(target, own) | tests | {"__main__"}
    for name in modules:
        if name not in left_out and name in files:
            with suppress(Exception):
                importlib.import_module(name)


def dependents(target: str, modules: dict[str, Path]) -> set[str]:
    """The target, and all modules that import it or may do so: directly, through others, or by a name that is only known at run time."""
    imported = {name: _imports(name, path) for name, path in modules.items()}
    found = {target} | {name for name, names in imported.items() if names is None}
    while more := {name for name, names in imported.items() if name not in found and names is not None and names & found}:
        found |= more
    return found


def _imports(name: str, path: Path) -> set[str] | None:
    """Modules that a module imports, its own packages included, and names that may be such; None if they are known only at run time."""
    source = path.read_text(encoding="utf-8")
    if any(word in source for word in _DYNAMIC):
        return None
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set(_parents(name))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(*(_parents(alias.name) for alias in node.names))
        elif isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] + "." if node.level else ""
            whole = (base + (node.module or "")).rstrip(".")
            found.update(*(_parents(f"{whole}.{alias.name}") for alias in node.names))
    return found - {name}


def _parents(name: str) -> Iterable[str]:
    """A dotted name and those of the packages it is in."""
    parts = name.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts) + 1))


# the command


def table(results: Sequence[Result]) -> str:
    """A row for each module, and below the mutants that survived."""
    rows: list[tuple[str, ...]] = [("module", "mutants", "killed", "survived", "timed out", "%")]
    for r in results:
        killed = r.mutants - r.timed_out - len(r.survivors)
        rows.append((str(r.path), *map(str, (r.mutants, killed, len(r.survivors), r.timed_out)), f"{r.percentage:.1f}"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]
    return "\n".join([*lines, *(f"{r.path}:{m.line}: {m.before} -> {m.after}" for r in results for m in r.survivors)])


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.mutation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="+", type=Path, metavar="MODULE.py", help="path from the current directory")
    parser.add_argument("--tests", nargs="+", required=True, metavar="PATH", help="files, directories or node ids of tests")
    parser.add_argument("--jobs", type=int, default=2, help="mutants that are tested at the same time (%(default)s)")
    parser.add_argument("--sample", type=int, metavar="N", help="test N mutants of each module, always the same ones")
    parser.add_argument("--only", type=int, metavar="LINE", help="test the mutants of one line")
    parser.add_argument("--at-least", type=float, default=95, metavar="PERCENT", help="exit with 1 if a module is below (%(default)s)")
    arguments = parser.parse_args(given)
    for path in arguments.modules:
        if path.suffix != ".py" or not path.is_file() or path.is_absolute():
            parser.error(f"{path} is not the relative path of a Python file")
    if arguments.jobs < 1:
        parser.error("--jobs must be at least 1")
    return arguments


def main(given: Sequence[str] | None = None) -> int:
    arguments = _arguments(given)
    results: list[Result] = []
    everything = Target(Path(), tuple(arguments.tests), arguments.jobs, arguments.sample, arguments.only)
    for path in arguments.modules:
        try:
            with ProcessPoolExecutor(1, mp_context=_FORK) as separate:
                results.append(separate.submit(measure, replace(everything, path=path)).result())
        except Unusable as error:
            print(error, file=sys.stderr)
    if results:
        print(table(results))
    if len(results) < len(arguments.modules):
        return 2
    return int(any(result.percentage < arguments.at_least for result in results))
