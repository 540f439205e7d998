"""What is measured on is what it says, and the page tells what the history holds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import corpora, history
from benchmarks.measuring import Result, Spent

MEASURED = """
import sys
from benchmarks.measuring import adopt_orphans, run
adopt_orphans()
print(run([sys.executable, "-c", sys.argv[1]]).cpu)
"""
WORKER = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.{by_parent})
if not (worker := os.fork()):
    while time.process_time() < 0.5:
        pass
    time.sleep(0.5)
    os._exit(0)
{parent_ends}
while os.path.exists(f"/proc/{{worker}}/exe"):
    time.sleep(0.05)
"""


@pytest.mark.parametrize(("by_parent", "parent_ends"), [("SIG_DFL", ""), ("SIG_IGN", ""), ("SIG_IGN", "os._exit(0)")])
def test_the_cpu_time_of_what_a_command_starts_is_counted_whoever_waits_for_it(by_parent: str, parent_ends: str) -> None:
    """As pyspark.daemon does, whose workers are most of an analysis: the kernel forgets children whose end is ignored."""
    command = WORKER.format(by_parent=by_parent, parent_ends=parent_ends)
    printed = subprocess.run([sys.executable, "-c", MEASURED, command], check=True, capture_output=True, text=True, cwd=corpora.ROOT)
    assert 0.5 <= float(printed.stdout) < 0.9


def test_brokers_logs_tell_each_time_of_other_topics(tmp_path: Path) -> None:
    place = corpora.brokers(tmp_path, 2_000_000)
    assert len([*place.rglob("*.log")]) == 15
    shown = (place / "broker-1" / "logs" / "state-change.log").read_text()
    assert {"acks1-rf3-min2.0", "acks1-rf3-min2.1"} <= set(re.findall(r"acks1-rf3-min2\.\d", shown))
    assert re.search(r"min\d(?:-idempotent)?(?!-idempotent)-\d", shown) is None, "each is renamed"
    times = [line[1:20] for line in shown.splitlines() if line.startswith("[2")]
    assert times == sorted(times)
    ends = {log.read_text().splitlines()[-1][1:14] for log in place.rglob("*.log")}
    assert len(ends) == 1, "to the hour"
    terms = [int(n) for n in re.findall(r"Controller id=\d+ epoch=(\d+)", shown)]
    assert terms == sorted(terms) and terms[-1] == 3, "one cluster's"


def test_on_quiet_days_each_replica_of_a_partition_rolls_its_segments(tmp_path: Path) -> None:
    place = corpora.quiet(tmp_path, 2_000_000)
    logs = {log.parent.parent.name: log.read_text() for log in place.rglob("server.log")}
    rolled = {name: re.findall(r"partition=topic7-3, dir=\S+ Rolled new log segment at offset (\d+)", log) for name, log in logs.items()}
    replicas = {name: offsets for name, offsets in rolled.items() if offsets}
    assert len(replicas) == 3
    (offsets,) = {tuple(map(int, own)) for own in replicas.values()}
    assert len(offsets) > 1 and list(offsets) == sorted(set(offsets))
    for log in logs.values():
        times = [line[1:24] for line in log.splitlines() if line.startswith("[2")]
        assert times == sorted(times)


def test_the_page_shows_the_newest_of_each_with_the_median_of_the_rounds(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"

    def result(own: float, scale: float = 1) -> None:
        ways = {"ours": [Spent(own, 2 * own), Spent(9, 18), Spent(own, own)], "theirs": [Spent(4, 5), Spent(1, 6), Spent(4, 7)]}
        history.add(file, [Result("reading", "wall", ways, {"megabytes": 32.5}, {"theirs": 0.6})], 3, scale)

    assert history.table(file) == "No measurements.\n"
    result(8)
    result(2)
    result(1, scale=0.1)
    events = history.table(file)
    assert [line for line in events.splitlines() if line.startswith("| reading")] == [
        "| reading (ours) | 2.00, 4.00 | theirs | 4.00, 6.00 | **0.50** of time, 0.80 of CPU | ≤ 0.6 | megabytes 32.5 |"
    ]
    assert len(re.findall(r"(?m)^- \d{4}-\d\d-\d\d, commit \w+", events)) == 1
