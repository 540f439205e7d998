"""`kafka-forensics timeline` as a user meets it, on Spark: the story of one partition, and names that are not there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.proof.verdict import Lost, rows_of, verdict
from tests.conftest import Done
from tests.forensics.commands.test_cli import BUNDLE
from tests.forensics.views.test_story import entries_of


def test_the_story_on_spark_is_the_one_told_in_process(tmp_path: Path, called: Callable[..., Done]) -> None:
    file = tmp_path / "story.json"
    done = called("timeline", BUNDLE, "--topic", "orders", "--partition", "0", "--json", file, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "!! LOSS: offsets 200–357" in done.stdout
    assert "\x1b" not in done.stdout
    said = " ".join(done.stdout.split())
    assert "The proof: lost" in said and "!! gone: offsets 200–357: committed, certain" in said
    assert "removed: broker-2/logs/server.log:1345" in said and "Truncating to offset 200 (kafka.log.Log)" in said
    document = json.loads(file.read_text())
    assert document["schema"] == "kafka-forensics/timeline/1"
    assert (document["topic"], document["partition"], document["brokers"]) == ("orders", 0, [1, 2, 3])
    rows = document["proof"]["handovers"]
    assert (document["proof"]["verdict"], [r["row"] for r in rows]) == ("lost", list(range(5)))
    assert verdict(rows_of(rows)).lost == (Lost(3, 200, 358, True, "certain"), Lost(3, 358, None, None, "possible"))
    expected = entries_of("unclean-election-2.8.2-zk", "orders-0")
    assert [e["text"] for e in document["entries"]] == [r["text"] for r in expected]
    assert [e["lanes"] for e in document["entries"]] == [{str(x["broker"]): x["status"] for x in r["lanes"]} for r in expected]


@pytest.mark.parametrize(
    ("topic", "partition", "said"),
    [("ordesr", "0", "similar: orders"), ("orders", "9", "orders has no partition 9 (found: 0, 1)")],
)
def test_a_name_that_is_not_there_is_one_line_and_exit_2(
    topic: str, partition: str, said: str, tmp_path: Path, called: Callable[..., Done]
) -> None:
    done = called("timeline", BUNDLE, "--topic", topic, "--partition", partition, "--json", "-", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    lines = [line for line in done.stderr.splitlines() if not line.endswith("...")]
    assert len(lines) == 1
    assert said in lines[0]


def test_a_topic_must_be_named(tmp_path: Path, called: Callable[..., Done]) -> None:
    assert called("timeline", BUNDLE, "--partition", "0", cwd=tmp_path).returncode == 2
