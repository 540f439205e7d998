"""`kafka-forensics plan` as a user meets it, on Spark: files in a directory of their own, nothing else touched."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from forensics.cli import cli
from tests.conftest import Done
from tests.forensics.case.test_case import make
from tests.forensics.commands.test_cli import BUNDLES
from tests.support import recorded

MOVED = BUNDLES / "reassignment-2.8.2-zk.tar.gz"


def test_files_go_into_the_directory_and_the_overview_names_them(tmp_path: Path, called: Callable[..., Done]) -> None:
    done = called("plan", MOVED, "--gone", "3", "--out", "repair", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["repair"]
    overview = json.loads((tmp_path / "repair" / "plan.json").read_text())
    assert overview["schema"] == "kafka-forensics/plan/1"
    named = {f[k] for s in overview["steps"] for f in s["files"] for k in ("file", "rollback") if f[k]}
    assert {p.name for p in (tmp_path / "repair").iterdir()} == named | {"plan.json"}
    replaced = json.loads((tmp_path / "repair" / "01-replace-broker.json").read_text())
    assert replaced["version"] == 1
    assert all(3 not in p["replicas"] and len(p["replicas"]) == 3 == len(p["log_dirs"]) for p in replaced["partitions"])
    back = json.loads((tmp_path / "repair" / "01-replace-broker.rollback.json").read_text())
    assert all(3 in p["replicas"] for p in back["partitions"])
    assert "gone, named with --gone" in done.stdout
    again = called("plan", MOVED, "--gone", "3", "--out", "repair", cwd=tmp_path)
    assert again.returncode == 2
    assert "not empty" in again.stderr
    assert called("plan", MOVED, "-o", "repair", "--force", cwd=tmp_path).returncode == 0, "an earlier plan is replaced if asked"
    plan = called("analyze", "repair", cwd=tmp_path)
    assert plan.returncode == 2 and "a plan that `kafka-forensics plan` wrote, not evidence" in plan.stderr


def test_printed_it_can_be_copied_line_by_line(tmp_path: Path, called: Callable[..., Done]) -> None:
    done = called("plan", MOVED, "--gone", "3", cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []
    lines = [line.strip() for line in done.stdout.splitlines()]
    run_lines = [line for line in lines if line.startswith("run: ")]
    assert run_lines
    assert all(line.endswith((".json", "--execute", "--throttle $THROTTLE")) for line in run_lines), "no command is broken in two"
    start = lines.index("01-replace-broker.json") + 1
    text = "\n".join(lines[start : lines.index("]}", start) + 1])
    assert json.loads(text)["version"] == 1
    assert "\x1b" not in done.stdout


def test_the_overview_as_json(tmp_path: Path, called: Callable[..., Done]) -> None:
    found = json.loads(called("plan", MOVED, "--json", "-", "--kafka-version", "2.5", cwd=tmp_path).stdout)
    assert found["kafka"] == {"version": "2.5", "mode": "zookeeper"}
    assert found["assumptions"]
    assert {b["state"] for b in found["brokers"]} == {"live"}


def test_contradictory_options_are_refused_at_once(tmp_path: Path, called: Callable[..., Done]) -> None:
    both = called("plan", MOVED, "--gone", "3", "--live", "3", cwd=tmp_path)
    assert (both.returncode, "cannot be both --live and --gone" in both.stderr) == (2, True)
    version = called("plan", MOVED, "--kafka-version", "new", cwd=tmp_path)
    assert (version.returncode, "is not a Kafka version" in version.stderr, "Spark" in version.stderr) == (2, True, False)


def test_the_disk_with_the_only_copy_is_named_before_the_steps(tmp_path: Path) -> None:
    """The plan says how to start the last member of the ISR again; its disk has what orders-0 lost, and would truncate it."""
    make(tmp_path / "a.case", recorded.events("producers-left-down-3.9.1-kraft"))
    text = " ".join(CliRunner().invoke(cli, ["plan", str(tmp_path / "a.case")]).stdout.split())
    assert 0 < text.index("DO NOT START OR WIPE broker 3") < text.index("start broker 3")
    overview = json.loads(CliRunner().invoke(cli, ["plan", str(tmp_path / "a.case"), "--json", "-"]).stdout)
    assert ["broker 3" in line and "orders-0" in line for line in overview["warnings"]] == [True]
