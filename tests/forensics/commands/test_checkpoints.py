"""`kafka-forensics checkpoints` as a user meets it, on Spark: stdout, JSON, a second collection to compare with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.conftest import Done
from tests.forensics.commands.test_cli import BUNDLES
from tests.support.shapes import bundle, put, renamed

STANDING = "last-replica-standing-2.8.2-zk"


def test_the_tables_say_what_contradicts_and_only_count_what_agrees(tmp_path: Path, called: Callable[..., Done]) -> None:
    done = called("checkpoints", BUNDLES / f"{STANDING}.tar.gz", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "6 partitions compared · 2 with contradictions" in done.stdout
    assert "HW went back from 398 to 300" in done.stdout
    assert "calm-0" not in done.stdout
    assert "\x1b" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_json_of_one_partition(tmp_path: Path, called: Callable[..., Done]) -> None:
    done = called(
        "checkpoints", BUNDLES / f"{STANDING}.tar.gz", "--topic", "calm", "--partition", "0", "--all", "--json", "-", cwd=tmp_path
    )
    found = json.loads(done.stdout)
    assert found["schema"] == "kafka-forensics/checkpoints/1"
    assert [(p["topic"], p["partition"], p["verdict"]) for p in found["partitions"]] == [("calm", 0, "agree")]
    assert found["summary"] == {"partitions": 1, "odd": 0, "differ": 0, "single": 0, "agree": 1, "moved": 0}
    assert [c["collection"] for c in found["partitions"][0]["copies"]] == ["before-restart", "broker-1", "broker-2", "broker-3"]


def test_an_earlier_collection_apart_is_compared_with(tmp_path: Path, called: Callable[..., Done]) -> None:
    """The same disk as in the bundle's before-restart, handed over as evidence of its own."""
    files = bundle(STANDING)
    saved = put(
        tmp_path / "saved", renamed(files, lambda p: p.removeprefix("before-restart/") if p.startswith("before-restart/") else None)
    )
    now = put(tmp_path / "now", renamed(files, lambda p: None if p.startswith("before-restart/") else p))
    done = called("checkpoints", now, "--against", saved, "--json", "out.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "(against:" in done.stdout
    assert "against: )" not in done.stdout
    found = json.loads((tmp_path / "out.json").read_text())
    changes = [
        (p["topic"], p["partition"], c["what"], c["way"], c["before"], c["after"]) for p in found["partitions"] for c in p["changes"]
    ]
    assert ("trades", 0, "high_watermark", "back", 398, 300) in changes
    assert ("trades", 1, "high_watermark", "back", 397, 300) in changes
    assert ("__consumer_offsets", 0, "partition", "appeared", None, None) in changes
    back = called("checkpoints", saved, "--against", now, "--json", "-", cwd=tmp_path)
    turned = {c["way"] for p in json.loads(back.stdout)["partitions"] for c in p["changes"] if c["what"] == "partition"}
    assert turned == {"vanished"}


def test_evidence_without_such_files_says_what_to_collect(tmp_path: Path, called: Callable[..., Done]) -> None:
    logs = put(tmp_path / "logs", renamed(bundle(STANDING), lambda p: p if p.endswith("logs/server.log") else None))
    done = called("checkpoints", logs, cwd=tmp_path)
    assert done.returncode == 0
    assert "replication-offset-checkpoint of each log directory" in done.stdout
