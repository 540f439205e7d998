"""How much memory `merge` and `analyze` take on evidence far greater than the heap: peaks of the JVM, the workers and the driver.

    python benchmarks/memory.py [--megabytes 500] [--heap 640] [--shape facts] [--command merge] [--evidence DIR] [--keep DIR]

Writes logs of each shape to a temporary directory (`--keep` leaves the results, `--evidence` takes logs that are there) and runs
whole commands, each with the default heap and with one of `--heap` MiB. Prints seconds, peak resident memory, and a digest of
what was printed: it must not depend on the heap. Linux only, as it reads /proc.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from shapes import many_partitions, stamp  # noqa: E402

BROKERS = (1, 2, 3)
FACT_BYTES = 1790
"""Bytes a partition of shapes.many_partitions takes, in the logs of all brokers together."""
PERIOD_S = 0.5


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--megabytes", type=int, default=500)
    arguments.add_argument("--heap", type=int, default=640, help="MiB of the small heap")
    arguments.add_argument("--shape", action="append", choices=SHAPES)
    arguments.add_argument("--command", action="append", choices=("merge", "analyze"))
    arguments.add_argument("--evidence", type=Path)
    arguments.add_argument("--keep", type=Path, help="directory for what the commands print")
    arguments.add_argument("--run", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    asked = arguments.parse_args()
    if asked.run:
        run_here(int(asked.run[0]), asked.run[1:])
        return
    commands, heaps = asked.command or ["merge", "analyze"], (0, asked.heap)
    if asked.evidence:
        compare(str(asked.evidence), asked.evidence, commands, heaps, asked.keep)
        return
    for shape in asked.shape or SHAPES:
        with tempfile.TemporaryDirectory() as place:
            SHAPES[shape](Path(place), asked.megabytes * 10**6)
            compare(shape, Path(place), commands, heaps, asked.keep)


def compare(name: str, evidence: Path, commands: list[str], heaps: tuple[int, ...], keep: Path | None) -> None:
    size = sum(f.stat().st_size for f in evidence.rglob("*") if f.is_file())
    print(f"{name}: {size / 1e6:.0f} MB", flush=True)
    for command in commands:
        for heap in heaps:
            given = f"{command}, heap {f'{heap} MiB' if heap else 'default'}"
            print(f"  {given:26}", measured(command, evidence, heap, keep), flush=True)


def measured(command: str, evidence: Path, heap: int, keep: Path | None) -> str:
    """Runs a command to its end and says what it took."""
    with tempfile.TemporaryDirectory() as directory:
        out = (keep or Path(directory)) / f"{command}-{heap}.out"
        arguments = ["--json", "-"] if command == "analyze" else []
        whole = [sys.executable, __file__, "--run", str(heap), command, str(evidence), *arguments]
        began = time.perf_counter()
        with out.open("wb") as stdout, out.with_suffix(".err").open("wb") as stderr:
            running = subprocess.Popen(whole, stdout=stdout, stderr=stderr, stdin=subprocess.DEVNULL)
            peaks = watched(running)
        took = time.perf_counter() - began
        digest = hashlib.sha256()
        with out.open("rb") as printed:
            while part := printed.read(1 << 20):
                digest.update(part)
        if running.returncode:
            return f"FAILED ({running.returncode}) after {took:.0f} s: {peaks}"
        return f"{took:5.0f} s  {peaks}  printed {out.stat().st_size / 1e6:.0f} MB, sha256 {digest.hexdigest()[:12]}"


def run_here(heap: int, arguments: list[str]) -> None:
    """The command in this process, with a heap of so many MiB; 0 is the default."""
    from forensics.cli import main as command
    from spark.engine import session

    if heap:
        vars(session)["_driver_memory"] = lambda: heap * 2**20
    sys.argv = ["kafka-forensics", *arguments]
    command()


# --- memory ---


def watched(running: subprocess.Popen[bytes]) -> str:
    """Waits for the end; the most that the JVM, all Python workers together, and the driver had at a time, shared pages dealt out."""
    most = {"JVM": 0, "workers": 0, "driver": 0}
    busy: dict[int, float] = {}
    while running.poll() is None:
        now = dict.fromkeys(most, 0)
        for pid in descendants(running.pid):
            now["driver" if pid == running.pid else "JVM" if name_of(pid) == "java" else "workers"] += kilobytes(pid)
            busy[pid] = max(busy.get(pid, 0), cpu_seconds(pid))
        most = {what: max(most[what], now[what]) for what in most}
        time.sleep(PERIOD_S)
    sizes = ", ".join(f"{what} {size / 1024:.0f} MiB" for what, size in most.items())
    return f"{sum(busy.values()):.0f} s of CPU; {sizes}"


def descendants(pid: int) -> Iterator[int]:
    yield pid
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{thread}/children").read_text().split():
                yield from descendants(int(child))
    except OSError:
        return


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def cpu_seconds(pid: int) -> float:
    try:
        ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")


def kilobytes(pid: int) -> int:
    try:
        rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(row.split()[1]) for row in rows if row.startswith("Pss:")), 0)


# --- evidence ---


def facts(place: Path, size: int) -> None:
    """Every line is a fact of a partition, few of any one; one file a broker."""
    many_partitions(place, size // FACT_BYTES)


def noise(place: Path, size: int) -> None:
    """Lines that state nothing, or one thing over and over, around the few of an incident; files of an hour, as Kafka rolls them."""
    for broker in BROKERS:
        logs = place / f"broker-{broker}" / "logs"
        logs.mkdir(parents=True)
        (logs.parent / "meta.properties").write_text(f"version=0\nbroker.id={broker}\n")
        lines = noisy_lines(broker)
        written, hour = 0, 0
        while written < size // len(BROKERS):
            with (logs / f"server.log.2026-01-{hour // 24 + 1:02}-{hour % 24:02}").open("w") as log:
                written += sum(
                    log.write(f"{stamp(hour * 3600 + i * 3600 / 40_000)} {line}\n") for i, line in enumerate(islice(lines, 40_000))
                )
            hour += 1


def noisy_lines(broker: int) -> Iterator[str]:
    """Of 1,000 lines 500 state nothing, 400 repeat one error of fetching, 98 are the log's daily work, 2 tell of an ISR."""
    dice = random.Random(broker)
    other = broker % 3 + 1
    fetcher = f"[ReplicaFetcher replicaId={broker}, leaderId={other}, fetcherId=0]"
    count = 0
    while True:
        count += 1
        kind, partition = dice.randrange(1000), f"orders-{dice.randrange(64)}"
        if kind < 500:
            yield (
                f"INFO [GroupCoordinator {broker}]: Preparing to rebalance group consumers-{kind} in state PreparingRebalance with old generation "
                f"{count} (__consumer_offsets-{kind % 50}) (reason: removing member client-{count} on heartbeat expiration) "
                "(kafka.coordinator.group.GroupCoordinator)"
            )
        elif kind < 900:
            yield (
                f"WARN {fetcher} Received UNKNOWN_TOPIC_OR_PARTITION from the leader for partition {partition}. This error may be returned "
                "transiently when the partition is being created or deleted, but it is not expected to persist. (kafka.server.ReplicaFetcherThread)"
            )
        elif kind < 998:
            yield (
                f"INFO [Log partition={partition}, dir=/var/lib/kafka] Rolled new log segment at offset {count} in {kind % 9} ms. (kafka.log.Log)"
            )
        else:
            isr = "1,2,3" if kind % 2 else f"{broker},{other}"
            yield f"INFO [Partition {partition} broker={broker}] ISR updated to {isr} and version updated to [{count}] (kafka.cluster.Partition)"


SHAPES: dict[str, Callable[[Path, int], None]] = {"facts": facts, "noise": noise}

if __name__ == "__main__":
    main()
