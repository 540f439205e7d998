"""`diff`: what changed between two cases, in every output, and the exit code."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from forensics.cli import cli
from forensics.model.clock.clocks import Clock
from forensics.model.cluster.facts import Node
from forensics.model.findings import Finding, Place
from forensics.model.message import Range
from forensics.tools.case_diff import AS_BAD, Side, difference
from forensics.tools.custody import Sealed
from tests.forensics.case.test_case import make
from tests.support import local
from tests.support.paths import BUNDLES

AT = datetime(2026, 11, 21, 2, 0)


def finding(**own: Any) -> Finding:
    stated = {"kind": "broker-crash", "severity": "medium", "confidence": "certain", "brokers": (1,), "start": AT}
    return Finding(**{"evidence": (), **stated, **own})


def side(
    *findings: Finding, verdicts: dict[int, str] | None = None, nodes: tuple[Node, ...] = (), files: dict[str, str] | None = None
) -> Side:
    named = {("t", n): (verdict, "why") for n, verdict in (verdicts or {}).items()}
    return Side(findings, named, {n.id: n for n in nodes}, [Sealed(path, digest) for path, digest in (files or {}).items()])


def loss(*offsets: Range, partition: int = 0, **own: Any) -> Finding:
    return finding(
        **{"kind": "data-loss", "loss": True, "topic": "t", "partition": partition, "offsets": offsets, "cause": "unclean-election", **own}
    )


# findings


def test_a_finding_with_the_same_id_is_changed_only_if_its_statement_is() -> None:
    before = finding(end=None)
    found = difference(side(before), side(replace(before, message="other-words")))
    assert (found.same_findings, found.findings, bool(found)) == (1, [], False)
    (changed,) = difference(side(before), side(replace(before, severity="high", end=AT + timedelta(minutes=5)))).findings
    assert {f.name: (f.before, f.after) for f in changed.fields} == {
        "severity": ("medium", "high"),
        "end": (None, "2026-11-21T02:05:00.000Z"),
    }


@pytest.mark.parametrize(
    ("old", "new", "fields"),
    [
        (finding(), finding(start=AT + timedelta(seconds=20)), {"start"}),
        (finding(brokers=(1, 2)), finding(brokers=(2, 3)), {"brokers"}),
        (loss(Range(200, 300)), loss(Range(200, 358)), {"offsets"}),
        (loss(Range(200, 300)), loss(Range(250, None), start=AT + timedelta(days=1)), {"offsets", "start"}),
        (loss(Range(200, 300)), loss(Range(200, 300), cause="corruption"), {"cause"}),
    ],
)
def test_a_finding_with_another_id_is_recognised(old: Finding, new: Finding, fields: set[str]) -> None:
    assert old.id != new.id
    found = difference(side(old), side(new))
    assert [(c.before, c.after, {f.name for f in c.fields}) for c in found.findings] == [(old, new, fields)]
    assert (found.new_findings, found.gone_findings) == ([], [])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (finding(), finding(kind="broker-fenced")),
        (finding(), finding(brokers=(2,))),
        (finding(), finding(start=AT + timedelta(minutes=31))),
        (finding(), finding(cluster=-1, start=AT + timedelta(seconds=1))),
        (loss(Range(200, 300)), loss(Range(200, 300), partition=1)),
        (loss(Range(200, 300)), loss(Range(300, 400), start=AT + timedelta(days=1))),
        (finding(topic="t", partition=0), finding()),
    ],
)
def test_a_finding_about_something_else_is_new_and_the_other_gone(old: Finding, new: Finding) -> None:
    found = difference(side(old), side(new))
    assert (found.new_findings, found.gone_findings, found.findings) == ([new], [old], [])


def test_each_finding_has_one_counterpart_the_nearest() -> None:
    old = [finding(start=AT), finding(start=AT + timedelta(minutes=20))]
    new = [finding(start=AT + timedelta(minutes=n)) for n in (1, 19, 25)]
    found = difference(side(*old), side(*new))
    assert [(c.before, c.after) for c in found.findings] == [(old[0], new[0]), (old[1], new[1])]
    assert found.new_findings == [new[2]]


def test_a_finding_with_places_lists_new_partitions_and_other_offsets() -> None:
    def many(*places: tuple[int, int]) -> Finding:
        of = tuple(Place("t", n, None, AT, None, (Range(0, end),), True) for n, end in places)
        return finding(kind="data-loss", places=of)

    (changed,) = difference(side(many((0, 10), (1, 10))), side(many((1, 12), (2, 5)))).findings
    fields = {f.name: (f.before, f.after) for f in changed.fields}
    assert fields["partitions"] == (["t-0", "t-1"], ["t-1", "t-2"])
    assert fields["offsets"][1] == {"t-1": [{"start": 0, "end": 12}], "t-2": [{"start": 0, "end": 5}]}


# the rest


def test_partitions_brokers_and_files() -> None:
    nodes = (Node(1, version="2.8.2"), Node(2)), (Node(1, version="3.9.1"), Node(3))
    before = side(verdicts={0: "lost", 1: "unknown", 2: "intact"}, nodes=nodes[0], files={"a/server.log": "1" * 64, "b/x.log": "2" * 64})
    after = side(verdicts={0: "lost", 1: "intact", 3: "lost"}, nodes=nodes[1], files={"a/server.log": "3" * 64, "c/y.log": "4" * 64})
    found = difference(before, after)
    assert [(c.partition, c.before, c.after) for c in found.verdicts] == [(("t", 1), "unknown", "intact")]
    assert (found.new_partitions, found.gone_partitions, found.same_verdicts) == ([(("t", 3), "lost")], [(("t", 2), "intact")], 1)
    assert [(node, [(f.name, f.before, f.after) for f in fields]) for node, fields in found.nodes] == [(1, [("version", "2.8.2", "3.9.1")])]
    assert ([n.id for n in found.new_nodes], [n.id for n in found.gone_nodes]) == ([3], [2])
    assert {c.path: c.state for c in found.files} == {"a/server.log": "changed", "b/x.log": "missing", "c/y.log": "additional"}
    assert (found.became("lost"), found.became("unknown")) == ([("t", 3)], [("t", 3)])


@pytest.mark.parametrize(
    ("before", "after", "levels"),
    [
        ("intact", "lost", {"lost", "tail-cut", "unknown"}),
        ("intact", "tail-cut", {"tail-cut"}),
        ("unknown", "lost", {"lost", "tail-cut"}),
        ("tail-cut", "unknown", {"unknown"}),
        ("tail-cut", "lost", {"lost", "unknown"}),
        ("lost", "tail-cut", set()),
        ("lost", "unknown", set()),
        ("lost", "intact", set()),
    ],
)
def test_a_verdict_counts_as_new_if_it_was_better_before(before: str, after: str, levels: set[str]) -> None:
    found = difference(side(verdicts={0: before}), side(verdicts={0: after}))
    assert {level for level in AS_BAD if found.became(level)} == levels


@pytest.mark.parametrize(("skew", "differs"), [(900, False), (1100, True)])
def test_a_clock_differs_beyond_its_uncertainty(skew: int, differs: bool) -> None:
    nodes = [Node(1, clock=Clock(skew_ms=ms, uncertainty_ms=1000)) for ms in (0, skew)]
    assert bool(difference(side(nodes=(nodes[0],)), side(nodes=(nodes[1],))).nodes) is differs


def test_worsened_are_new_findings_and_raised_ones() -> None:
    low, same = finding(severity="low"), finding(severity="high", brokers=(2,))
    raised, new = replace(low, severity="critical"), finding(severity="high", brokers=(3,))
    found = difference(side(low, same), side(raised, same, new))
    assert found.worsened("high") == [new, raised]
    assert (found.worsened("critical"), difference(side(raised), side(low)).worsened("low")) == ([raised], [])


# the command


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Of the brokers 1 and 2 of an incident, and of all three."""
    top = tmp_path_factory.mktemp("cases")
    shutil.unpack_archive(BUNDLES / "unclean-election-2.8.2-zk.tar.gz", top / "whole", filter="data")
    (bundle,) = (top / "whole").iterdir()
    shutil.copytree(bundle, top / "part", ignore=lambda _, names: [n for n in names if n == "broker-3"])
    for name, path in (("before", top / "part"), ("after", bundle)):
        make(top / f"{name}.case", local.events_of(path))
    return str(top / "before.case"), str(top / "after.case")


def run(*words: str) -> Result:
    return CliRunner(env={"COLUMNS": "120"}).invoke(cli, ["diff", *words])


def test_more_evidence_settles_partitions_and_every_output_says_so(cases: tuple[str, str], tmp_path: Path) -> None:
    done = run(*cases, "--json", str(tmp_path / "diff.json"), "--markdown", str(tmp_path / "diff.md"))
    assert done.exit_code == 0, done.output
    document = json.loads((tmp_path / "diff.json").read_text())
    assert document["schema"] == "kafka-forensics/diff/1" and document["same"] is False
    assert all(path.startswith("broker-3/") for path in document["sources"]["new"]) and not document["sources"]["gone"]
    changed = document["partitions"]["changed"]
    assert changed and {(c["before"], c["after"]) for c in changed} == {("unknown", "intact")}
    name = f"{changed[0]['topic']}-{changed[0]['partition']}"
    for text in (done.stdout, (tmp_path / "diff.md").read_text().replace("\\", "")):
        assert "unknown -&gt; intact" in text or "unknown -> intact" in text
        assert name in text and "Files: " in text
    assert done.stderr.splitlines() == [f"Wrote {tmp_path / 'diff.json'}", f"Wrote {tmp_path / 'diff.md'}"]
    assert run(*cases, "--json", "-").stdout == (tmp_path / "diff.json").read_text()


def test_the_reverse_swaps_new_and_gone(cases: tuple[str, str]) -> None:
    there, back = (json.loads(run(*order, "--json", "-").stdout) for order in (cases, cases[::-1]))
    for part in ("partitions", "findings", "brokers", "sources"):
        assert (there[part]["new"], there[part]["gone"]) == (back[part]["gone"], back[part]["new"]), part
        assert len(there[part]["changed"]) == len(back[part]["changed"]) and there[part]["same"] == back[part]["same"]


def test_a_case_is_the_same_as_itself(cases: tuple[str, str]) -> None:
    done = run(cases[1], cases[1], "--fail-on-new", "info")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, "No differences.")
    document = json.loads(run(cases[1], cases[1], "--json", "-").stdout)
    assert document["same"] is True and document["notes"] == []


def test_the_tool_and_its_options_are_compared(cases: tuple[str, str], tmp_path: Path) -> None:
    other = shutil.copytree(cases[1], tmp_path / "other.case")
    manifest = json.loads((other / "case.json").read_text())
    manifest["tool"] = {**manifest["tool"], "version": "9.9", "rules": f"sha256:{'0' * 64}"}
    manifest["options"]["zone_offset_ms"] = 0
    (other / "case.json").write_text(json.dumps(manifest))
    notes = json.loads(run(cases[1], str(other), "--json", "-").stdout)["notes"]
    assert "different programs (version 0.1.0 before, version 9.9 after)" in notes[0] and "(--timezone)" in notes[1]


@pytest.mark.parametrize(("level", "code"), [("critical", 0), ("unknown", 1), ("lost", 0)])
def test_fail_on_new(level: str, code: int, cases: tuple[str, str]) -> None:
    """Less evidence leaves verdicts open, and adds no critical finding."""
    assert run(*cases[::-1], "--fail-on-new", level).exit_code == code


def older(directory: Path) -> None:
    """Changes a case into one of a version that had fewer columns and tables, and one more column."""

    def without_new_fields(kind: pa.DataType) -> pa.DataType:
        if pa.types.is_list(kind):
            return pa.list_(without_new_fields(kind.value_type))
        if pa.types.is_struct(kind):
            return pa.struct([f.with_type(without_new_fields(f.type)) for f in kind if f.name not in ("written", "records", "clients")])
        return kind

    file = directory / "finding_details.parquet"
    rows = pq.read_table(file)
    schema = pa.schema([pa.field(f.name, without_new_fields(f.type)) for f in rows.schema if f.name not in ("written", "start_latest")])
    former = pa.Table.from_pylist([{**row, "of_old": 1} for row in rows.to_pylist()], schema=schema.append(pa.field("of_old", pa.int8())))
    pq.write_table(former, file)
    (directory / "offsets.parquet").unlink()
    manifest = json.loads((directory / "case.json").read_text())
    del manifest["tables"]["offsets"]
    (directory / "case.json").write_text(json.dumps(manifest))


def test_a_case_of_another_version_with_other_columns_can_be_compared(cases: tuple[str, str], tmp_path: Path) -> None:
    former = shutil.copytree(cases[1], tmp_path / "older.case")
    older(former)
    assert CliRunner().invoke(cli, ["report", str(former)]).exit_code == 2, "other commands need every column"
    found = json.loads(run(str(former), cases[1], "--json", "-").stdout)
    assert found["partitions"]["changed"] == [] and found["findings"]["new"] == [] == found["findings"]["gone"]
    assert {name for c in found["findings"]["changed"] for name in c["fields"]} == {"start_latest"}
    assert found["findings"]["same"] > 10
