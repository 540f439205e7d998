"""What reading logs costs one core: by columns as `analyze` does, line by line, and beside `rg -c -F` with the same literals.

    python benchmarks/reading.py [--megabytes 32] [--rounds 5] [--rg rg] [--case state-change, ZooKeeper] [--history FILE]

Grows logs from those recorded in fixtures/bundles: all brokers' one after the other, again and again, each time some hours later;
a dump of settings, which a broker prints when it starts, only once. Each way runs in a process of its own, in turn; prints
the median of its CPU seconds without imports, of the ratios round by round, and its peak memory. A machine's speed drifts: only
ratios of one run say something. `--history` adds a line of JSON for each case to a file.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

STAMP = re.compile(rb"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})\]")
SETTING = re.compile(rb"\t[\w.-]+ = ")


class Case(NamedTuple):
    """A kind of log."""

    bundles: str
    log: str
    wrap: Callable[[datetime, bytes], bytes] | None = None


def cri(at: datetime, line: bytes) -> bytes:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%f000Z stdout F ").encode() + line


def docker(at: datetime, line: bytes) -> bytes:
    entry = {"log": line.decode("utf-8", "replace") + "\n", "stream": "stdout", "time": at.strftime("%Y-%m-%dT%H:%M:%S.%f000Z")}
    return json.dumps(entry, separators=(",", ":")).encode()


def journal(at: datetime, line: bytes) -> bytes:
    entry = {"MESSAGE": line.decode("utf-8", "replace"), "__REALTIME_TIMESTAMP": str(int(at.timestamp() * 10**6)), "_HOSTNAME": "h"}
    return json.dumps(entry).encode()


def syslog(at: datetime, line: bytes) -> bytes:
    return at.strftime("%b %d %H:%M:%S broker-1 kafka[7]: ").encode() + line


CASES = {
    "state-change, ZooKeeper": Case("*-zk.tar.gz", "state-change.log"),
    "state-change, KRaft": Case("*-kraft.tar.gz", "state-change.log"),
    "server, ZooKeeper": Case("*-zk.tar.gz", "server.log"),
    "server, KRaft": Case("*-kraft.tar.gz", "server.log"),
    "server in CRI": Case("*-zk.tar.gz", "server.log", cri),
    "server in docker's JSON": Case("*-zk.tar.gz", "server.log", docker),
    "server in the journal's JSON": Case("*-zk.tar.gz", "server.log", journal),
    "server in syslog": Case("*-zk.tar.gz", "server.log", syslog),
}
WAYS = ("columns", "rows")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--megabytes", type=float, default=32)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--rg", default=shutil.which("rg"), help="ripgrep, if it is to be measured beside")
    arguments.add_argument("--case", action="append", choices=CASES)
    arguments.add_argument("--history", type=Path)
    arguments.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    arguments.add_argument("file", nargs="?", type=Path, help=argparse.SUPPRESS)
    asked = arguments.parse_args()
    if asked.way:
        read(asked.way, asked.file)
        return
    with tempfile.TemporaryDirectory() as place:
        literals = Path(place, "literals")
        literals.write_text("\n".join(searched()) + "\n")
        for name in asked.case or CASES:
            file = Path(place, Path(CASES[name].log).name)
            grow(CASES[name], file, int(asked.megabytes * 10**6))
            told = compare(name, file, literals, asked.rounds, asked.rg)
            if asked.history:
                with asked.history.open("a") as history:
                    history.write(json.dumps({"at": datetime.now(timezone.utc).isoformat(timespec="seconds"), **told}) + "\n")


def searched() -> list[str]:
    """The literals that are searched for in lines of Kafka's own layout."""
    from parsers.patterns import PATTERNS
    from parsers.patterns.loggers import RELEVANT_LOGGERS

    return sorted({pattern.literal for pattern in PATTERNS} | {f" ({name})" for name in RELEVANT_LOGGERS})


def compare(name: str, file: Path, literals: Path, rounds: int, rg: str | None) -> dict[str, object]:
    seconds: dict[str, list[float]] = {way: [] for way in (*WAYS, *(["rg"] if rg else []))}
    told: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        for way in WAYS:
            told[way] = json.loads(subprocess.run([sys.executable, __file__, "--way", way, file], check=True, capture_output=True).stdout)
            seconds[way].append(told[way]["seconds"])
        if rg:
            seconds["rg"].append(cpu_of([rg, "-j1", "-c", "-F", "-f", str(literals), str(file)]))
    size, own = file.stat().st_size / 1e6, statistics.median(seconds["columns"])
    ratios = {way: statistics.median(a / b for a, b in zip(seconds["columns"], seconds[way], strict=True)) for way in seconds}
    events = told["columns"]["events"]
    print(f"{name}: {size:.0f} MB, {events:.0f} events, {size / own:.1f} MB/s, {events / own / 1e3:.0f} k events/s, ", end="")
    print(f"{told['columns']['peak']:.0f} MB at most; ", end="")
    print(", ".join(f"{ratio:.2f} of {way} ({statistics.median(seconds[way]):.2f} s)" for way, ratio in ratios.items()), flush=True)
    return {"case": name, "megabytes": size, "events": events, "peak": told["columns"]["peak"], "seconds": own, "ratios": ratios}


def cpu_of(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def read(way: str, file: Path) -> None:
    """Reads a log in this process and prints what that took."""
    from parsers import evidence
    from parsers.catalogue.log_file import read_log
    from parsers.containers.units import Unit

    if way == "rows":
        vars(evidence)["read_log_by_columns"] = read_log
    began = time.process_time()
    events = sum(batch.num_rows for batch in evidence.events(Unit(str(file), None, file.stat().st_size)))
    seconds = time.process_time() - began
    print(json.dumps({"seconds": seconds, "events": events, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def grow(case: Case, file: Path, size: int) -> None:
    recorded = list(logs(case))
    written, again = 0, 0
    with file.open("wb") as log:
        while written < size:
            for content in recorded:
                written += sum(map(log.write, lines(content, timedelta(hours=7 * again), written > 0, case.wrap)))
            again += 1


def logs(case: Case) -> Iterator[bytes]:
    for bundle in sorted((ROOT / "fixtures" / "bundles").glob(case.bundles)):
        with tarfile.open(bundle) as tar:
            for member in tar:
                if member.isfile() and member.name.endswith(f"/logs/{case.log}") and (found := tar.extractfile(member)) is not None:
                    yield found.read()


def lines(content: bytes, later: timedelta, running: bool, wrap: Callable[[datetime, bytes], bytes] | None) -> Iterator[bytes]:
    at = datetime(2026, 1, 1)
    for line in content.splitlines():
        if running and (SETTING.match(line) or b"Config values: " in line):
            continue
        if stamp := STAMP.match(line):
            at = datetime.fromisoformat(stamp[1].decode()) + later
            line = f"[{at}".encode() + line[20:]
        yield (wrap(at, line) if wrap else line) + b"\n"


if __name__ == "__main__":
    main()
