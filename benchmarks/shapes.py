"""How long `analyze` takes on the two shapes that hurt: very many partitions, and one partition with very many events.

    python benchmarks/shapes.py [--partitions 20000] [--events 1000000]

Writes evidence of each shape, in the words of a 2.8 broker, to a temporary directory; prints size, seconds of the whole
command, and findings. Run it before and after a change: a machine's speed drifts, only the ratio says something.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

BEGIN = datetime(2026, 1, 1)
TOPICS = 200


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--partitions", type=int, default=20_000)
    arguments.add_argument("--events", type=int, default=1_000_000)
    asked = arguments.parse_args()
    measure(f"{asked.partitions:,} partitions, led by each of 3 brokers in turn", lambda d: many_partitions(d, asked.partitions))
    measure(f"one partition with {asked.events:,} events", lambda d: many_events(d, asked.events))


def measure(name: str, write: Callable[[Path], None]) -> None:
    with tempfile.TemporaryDirectory() as place:
        evidence, report = Path(place, "evidence"), Path(place, "report.json")
        write(evidence)
        size = sum(f.stat().st_size for f in evidence.rglob("*") if f.is_file())
        command = [str(Path(sys.executable).with_name("kafka-forensics")), "analyze", str(evidence), "--json", str(report)]
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        took = time.perf_counter() - began
        kinds = sorted({f["kind"] for f in json.loads(report.read_text())["findings"]})
        print(f"{name}: {size / 1e6:.0f} MB in {took:.1f} s; findings: {', '.join(kinds) or 'none'}")


def stamp(seconds: float) -> str:
    return f"[{BEGIN + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S,%f}"[:-3] + "]"


def many_partitions(place: Path, partitions: int) -> None:
    names = [f"t{p % TOPICS}-{p // TOPICS}" for p in range(partitions)]
    for broker in (1, 2, 3):
        logs, data = place / f"broker-{broker}" / "logs", place / f"broker-{broker}" / "data"
        logs.mkdir(parents=True)
        data.mkdir()
        (data / "meta.properties").write_text(f"version=0\nbroker.id={broker}\n")
        rows = "".join(f"{name.replace('-', ' ')} 100\n" for name in names)
        (data / "replication-offset-checkpoint").write_text(f"0\n{partitions}\n{rows}")
        with (logs / "state-change.log").open("w") as log:
            for epoch in range(3):
                for p, name in enumerate(names):
                    leads = broker == (p + epoch) % 3 + 1
                    log.write(
                        f"{stamp(epoch * 100 + p / 1000)} INFO [Broker id={broker}] {'Leader' if leads else 'Follower'} {name} starts at "
                        f"leader epoch {epoch} from offset {epoch * 50} with high watermark {epoch * 50}"
                        f"{' ISR [1,2,3] addingReplicas [] removingReplicas []' if leads else ''}. "
                        f"Previous leader epoch was {epoch - 1}. (state.change.logger)\n"
                    )


def many_events(place: Path, events: int) -> None:
    logs = place / "broker-1" / "logs"
    logs.mkdir(parents=True)
    with (logs / "server.log").open("w") as log:
        for i in range(events // 4):
            lines = (
                f"Shrinking ISR from 1,2,3 to 1,2. Leader: (highWatermark: {i}, endOffset: {i + 1}). "
                f"Out of sync replicas: (brokerId: 3, endOffset: {i}).",
                f"ISR updated to 1,2 and version updated to [{2 * i}]",
                "Expanding ISR from 1,2 to 1,2,3",
                f"ISR updated to 1,2,3 and version updated to [{2 * i + 1}]",
            )
            for step, line in enumerate(lines):
                log.write(f"{stamp(i + step / 5)} INFO [Partition hot-0 broker=1] {line} (kafka.cluster.Partition)\n")


if __name__ == "__main__":
    main()
