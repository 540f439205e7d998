"""Fuzzes readers with atheris, each in a process of its own, and says what it found: `python -m tests.fuzzing [READER…] --minutes N`.

With `--by-chance` it mutates the corpus without guidance.
An input that breaks the contract is written below DIR/findings, and the fuzzing goes on; one that hangs or takes too much memory ends it
for its reader (libFuzzer writes it there too). An input of DIR/findings is tried again with `--again FILE`.
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import importlib.util
import random
import re
import resource
import subprocess
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SLOW = 5.0
"""Seconds of the processor that no input of some kilobytes may take."""
SIZE = 2048
AT_ONCE = 100
WATCHED = 300
"""So many executions by chance that together take longer (seconds) end with a traceback."""
LONGER = {"container": 8192, "hand-overs-of-a-case": 8192}
"""Bytes of an input of these: a tar has blocks of 512 bytes, and a row many cells."""


class _Findings:
    """Runs inputs of a target, and writes one input for each place in the code that an error comes from."""

    def __init__(self, name: str, directory: Path) -> None:
        from tests.fuzzing.targets import TARGETS

        self.name, self.target, self.directory = name, TARGETS[name], directory / "findings"
        self.seen: set[tuple[str, str]] = set()

    def run(self, data: bytes) -> None:
        begun = time.process_time()
        try:
            self.target(data)
            if (took := time.process_time() - begun) > SLOW:
                raise TimeoutError(f"{took:.1f} s")
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            where = f"{frames[-1].filename}:{frames[-1].lineno}"
            if (key := (type(error).__name__, where)) not in self.seen:
                self.seen.add(key)
                path = self.directory / f"{self.name}-{hashlib.sha256(data).hexdigest()[:12]}"
                path.write_bytes(data)
                print(f"FINDING {path} {key[0]} {where}: {str(error)[:200]}", file=sys.stderr, flush=True)


def _guided(name: str, directory: Path, runs: int, seconds: int) -> None:
    import atheris  # of no extra: there is no wheel for the oldest Python this project is for

    with atheris.instrument_imports(include=["parsers", "forensics.tools.redaction", "forensics.tools.salvage"]):
        findings = _Findings(name, directory)
    given = [
        "-timeout=20",
        "-rss_limit_mb=2048",
        f"-max_len={LONGER.get(name, SIZE)}",
        f"-runs={runs}" if runs else f"-max_total_time={seconds}",
    ]
    claimed = [f"-artifact_prefix={findings.directory}/{name}-", "-print_final_stats=1", "-verbosity=1"]
    atheris.Setup([sys.argv[0], *given, *claimed, str(directory / "corpus" / name)], findings.run)
    atheris.Fuzz()


def _by_chance(name: str, directory: Path, runs: int, seconds: int, seed: int) -> None:
    """Everything of the corpus, also what the guided fuzzer found earlier, mutated by chance. An input that hangs ends it with its traceback."""
    from tests.fuzzing.mutations import mutated

    findings, chance = _Findings(name, directory), random.Random(seed)
    inputs = [path.read_bytes() for path in sorted((directory / "corpus" / name).iterdir())]
    resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))
    end, count = time.monotonic() + seconds, 0
    while count < runs if runs else time.monotonic() < end:
        if count % AT_ONCE == 0:
            faulthandler.dump_traceback_later(WATCHED, exit=True)
            print(f"#{count}", file=sys.stderr, flush=True)
        findings.run(mutated(inputs, chance, LONGER.get(name, SIZE)))
        count += 1
    print(f"#{count}", file=sys.stderr)


def _run(name: str, directory: Path, given: list[str]) -> str:
    """One line on what became of it."""
    log = directory / f"{name}.log"
    with log.open("wb") as out:
        command = [sys.executable, "-m", "tests.fuzzing", "--one", name, "--directory", str(directory), *given]
        code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False).returncode
    text = log.read_text(errors="replace")
    executed = re.findall(r"number_of_executed_units: (\d+)|^#(\d+)", text, re.MULTILINE)
    covered = re.findall(r"cov: (\d+) ft: (\d+)", text)
    last = covered[-1] if covered else ("?", "?")
    count = next((a or b for a, b in reversed(executed)), "?")
    return f"{name:26} {count:>9} executions  {last[0]:>6} edges {last[1]:>7} features  {text.count('FINDING'):3} findings  {'' if code == 0 else f'exit {code}'}"


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m tests.fuzzing", description="Fuzzes readers, guided by what they cover.")
    options.add_argument("readers", nargs="*", help="all if none is named")
    options.add_argument("--minutes", type=float, default=30, help="of all of them together, in one process (%(default)s)")
    options.add_argument("--runs", type=int, default=0, help="executions of each, instead of a time")
    options.add_argument("--jobs", type=int, default=2, help="processes side by side (%(default)s)")
    options.add_argument("--directory", type=Path, default=Path("build/fuzzing"), help="corpus and findings (%(default)s)")
    options.add_argument("--again", type=Path, help="an input to be tried again, of the reader that is named")
    options.add_argument(
        "--by-chance", action="store_true", help="mutate the corpus without guidance: many more executions, without atheris"
    )
    options.add_argument("--seed", type=int, default=0, help="of --by-chance (%(default)s)")
    options.add_argument("--one", help=argparse.SUPPRESS)
    options.add_argument("--seconds", type=int, default=0, help=argparse.SUPPRESS)
    given = options.parse_args()
    (given.directory / "findings").mkdir(parents=True, exist_ok=True)
    if given.one:
        if given.by_chance:
            return _by_chance(given.one, given.directory, given.runs, given.seconds, given.seed)
        return _guided(given.one, given.directory, given.runs, given.seconds)

    from tests.fuzzing.seeds import seeds
    from tests.fuzzing.targets import TARGETS

    if given.again:
        return TARGETS[given.readers[0]](given.again.read_bytes())
    if unknown := set(given.readers) - set(TARGETS):
        options.error(f"no reader: {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    if not given.by_chance and importlib.util.find_spec("atheris") is None:
        options.error("there is no atheris here: pip install atheris, or give --by-chance")
    names = given.readers or list(TARGETS)
    for name, found in seeds().items():
        corpus = given.directory / "corpus" / name
        corpus.mkdir(parents=True, exist_ok=True)
        for data in found if name in names else ():
            (corpus / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
    limits = ["--runs", str(given.runs)] if given.runs else ["--seconds", str(max(1, round(given.minutes * 60 / len(names))))]
    limits += ["--by-chance", "--seed", str(given.seed)] if given.by_chance else []
    with ThreadPoolExecutor(given.jobs) as pool:
        for line in pool.map(lambda name: _run(name, given.directory, limits), names):
            print(line, flush=True)
    return None


if __name__ == "__main__":
    main()
