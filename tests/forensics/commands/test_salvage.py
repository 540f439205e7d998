"""`kafka-forensics salvage` as a user meets it, on Spark."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

from tests.conftest import Done
from tests.forensics.commands.test_cli import BUNDLES

LEFT_DOWN = BUNDLES / "producers-left-down-3.9.1-kraft.tar.gz"


def test_records_are_written_for_their_owner_and_shown_to_nobody(tmp_path: Path, called: Callable[..., Done]) -> None:
    done = called("salvage", LEFT_DOWN, "--out", "found", "--json", "-", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["schema"] == "kafka-forensics/salvage/1" and printed["problems"] == []
    (orders,) = [p for p in printed["partitions"] if p["records"]]
    assert set(orders["files"]) == {"jsonl", "parquet", "segment", "send"}
    assert "doomed" not in done.stdout + done.stderr
    written = [p for p in (tmp_path / "found").rglob("*") if p.is_file()]
    assert {stat.S_IMODE(p.stat().st_mode) for p in written} == {0o600}
    assert all(b"doomed" in p.read_bytes() for p in written if p.suffix in (".jsonl", ".send"))
    read = [json.loads(line) for line in (tmp_path / "found" / orders["files"]["jsonl"]).read_text().splitlines()]
    assert sum("control" not in r for r in read) == orders["records"]
    (loss,) = orders["losses"]
    assert {r["finding"] for r in read} == {loss["finding"]} and loss["salvaged"] == loss["offsets"] and not loss["missing"]
    again = called("salvage", LEFT_DOWN, "--out", "found", cwd=tmp_path)
    assert (again.returncode, "not empty" in again.stderr) == (2, True)
    refused = called("salvage", LEFT_DOWN, "--out", "other", "--keys-only", "--format", "send", cwd=tmp_path)
    assert refused.returncode == 2 and not (tmp_path / "other").exists()
