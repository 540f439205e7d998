"""What is measured on is what it says, and the page tells what the history holds."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks import corpora, history
from benchmarks.measuring import Result, Spent


def test_brokers_logs_tell_each_time_of_other_topics(tmp_path: Path) -> None:
    place = corpora.brokers(tmp_path, 2_000_000)
    assert len([*place.rglob("*.log")]) == 15
    told = (place / "broker-1" / "logs" / "state-change.log").read_text()
    assert {"acks1-rf3-min2.0", "acks1-rf3-min2.1"} <= set(re.findall(r"acks1-rf3-min2\.\d", told))
    assert re.search(r"min\d(?:-idempotent)?(?!-idempotent)-\d", told) is None, "each is renamed"
    times = [line[1:20] for line in told.splitlines() if line.startswith("[2")]
    assert times == sorted(times)


def test_the_page_shows_the_newest_of_each_with_the_median_of_the_rounds(tmp_path: Path) -> None:
    file, page = tmp_path / "history.jsonl", history.PAGE.read_text()

    def result(own: float, scale: float = 1) -> None:
        ways = {"ours": [Spent(own, 2 * own), Spent(9, 18), Spent(own, own)], "theirs": [Spent(4, 5), Spent(1, 6), Spent(4, 7)]}
        history.add(file, [Result("reading", "wall", ways, {"megabytes": 32.5}, {"theirs": 0.6})], 3, scale)

    assert history.table(file) == "Nothing was measured yet.\n"
    result(8)
    result(2)
    result(1, scale=0.1)
    told = history.table(file)
    assert [line for line in told.splitlines() if line.startswith("| reading")] == [
        "| reading (ours) | 2.00, 4.00 | theirs | 4.00, 6.00 | **0.50** of time | ≤ 0.6 | megabytes 32.5 |"
    ]
    assert len(re.findall(r"(?m)^- \d{4}-\d\d-\d\d, commit \w+", told)) == 1
    shown = history.with_table(page, file)
    assert told in shown
    assert history.with_table(shown, tmp_path / "none") != shown, "it is written again and again"
