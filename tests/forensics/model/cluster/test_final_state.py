"""How recorded clusters stood at their end, and which brokers lived."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from forensics.commands.plan import overview
from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.final_state import SCHEMA, brokers, partitions, standing
from forensics.model.message import said
from forensics.model.timelines import judged
from forensics.tools.repair import REASSIGNMENTS, UNCLEAN, Broker, FinalPartition
from forensics.views.plan import Overview
from forensics.words import text
from tests.forensics.staged import START, Story, table
from tests.support import local, recorded
from tests.support.each import for_each
from tests.support.paths import BUNDLES, truth_of
from tests.support.shapes import Files, bundle, put, without

BEFORE_EPOCHS = "-0.10."
NAMES = sorted(p.name.removesuffix(".tar.gz") for p in BUNDLES.glob("*.tar.gz"))


def stood(path: Path) -> tuple[Cluster, list[FinalPartition]]:
    return standing_in(local.events_of(path))


def standing_in(table: pa.Table) -> tuple[Cluster, list[FinalPartition]]:
    cluster, resolver = local.gathered(table)
    rows = [r for b in judged(local.identified(table, resolver, cluster), cluster, standing, SCHEMA) for r in b.to_pylist()]
    return cluster, partitions(rows)


def planned(name: str, **more: Any) -> Overview:
    cluster, known = standing_in(recorded.events(name))
    return overview(cluster, known, **more)


@for_each(NAMES)
def test_leaders_and_assignments_are_those_the_cluster_had_and_every_plan_is_sound(name: str) -> None:
    cluster, known = standing_in(recorded.events(name))
    check_final_state(name, known)
    check_plan(name, overview(cluster, known))


def check_final_state(name: str, known: list[FinalPartition]) -> None:
    truth = truth_of(name)["final_state"]
    seen = {p.name: p for p in known}
    compared = 0
    for place, state in truth.items():
        if place in seen and isinstance(state, dict) and "leader" in state:
            p = seen[place]
            assert (p.leader, set(p.isr)) == (state["leader"], set(state["isr"])), place
            # Before 0.11 the observer saw a set; the order is that of --describe.
            assert list(p.replicas) == state["replicas"] or (BEFORE_EPOCHS in name and set(p.replicas) == set(state["replicas"])), place
            compared += 1
    assert compared, truth


def test_before_leader_epochs_only_describe_and_creation_tell_the_order(tmp_path: Path) -> None:
    _, known = standing_in(recorded.events("clean-failover-0.10.2.2-zk"))
    assert {p.name: p.replicas for p in known}["payments-0"] == (1, 3, 2)
    files = without(bundle("clean-failover-0.10.2.2-zk"), r"^cluster/|controller|state-change\.log")
    cluster, unordered = stood(put(tmp_path, files))
    assert {p.replicas for p in unordered} <= {()}
    assert overview(cluster, unordered).plan.steps == []


def seen(leader: int | str, isr: str) -> str:
    return f"\tTopic: t\tPartition: 0\tLeader: {leader}\tReplicas: 2,1,3\tIsr: {isr}\n"


@pytest.mark.parametrize(
    ("described", "leader", "isr"),
    [
        ({-60: seen(2, "2,1,3")}, 1, [1, 3]),
        ({20: seen(1, "2,1,3")}, 1, [1, 3]),
        ({20: seen(2, "2,1,3")}, 2, [2, 1, 3]),
        ({600: seen(1, "2,1,3")}, 1, [2, 1, 3]),
        ({600: seen(3, "3")}, 3, [3]),
        ({600: seen("none", "3")}, -1, [3]),
        ({-60: seen(2, "2,1,3"), 600: seen(3, "3"), 700: seen(2, "2")}, 2, [2]),
        ({600: seen(3, "3"), 600.001: seen(2, "2")}, 1, [1, 3]),
    ],
)
def test_whoever_asks_who_leads_now_is_told_the_same(described: dict[float, str], leader: int, isr: list[int]) -> None:
    """Older describes count for nothing; a newer one less than the leader's own word of a moment ago, for an ISR spreads within a minute;
    those printed at one time, copies, not at all where they contradict each other."""
    story = Story()
    story.leads(1, 1, 0, 0, 0, [1, 2, 3])
    story.isr(1, 10, [1, 3], 1)
    names = {f"cluster/describe-{n}.txt": (START + timedelta(seconds=s), text) for n, (s, text) in enumerate(described.items())}
    evidence = table({**story.files, **{n: text for n, (_, text) in names.items()}}, {n: when for n, (when, _) in names.items()})
    reported = local.report(evidence)
    (row,), (_, (planned,)) = reported.partitions, standing_in(evidence)
    assert (row["leader"], row["isr"], row["replicas"]) == (leader, isr, [2, 1, 3])
    assert (planned.leader, list(planned.isr), list(planned.replicas)) == (leader, isr, [2, 1, 3])
    assert (row["steps"][-1]["leader"], row["steps"][-1]["preferred"]) == (leader, 2)
    assert row["leader_epoch"] == (0 if leader == 1 else None)
    assert leader == 1 or row["verdict"] == "unknown", "how it came to lead, nobody tells"
    assert [f.end for f in reported.findings if f.kind == "offline-partition"] == ([None] if leader == -1 else [])
    over = [f.end is not None for f in reported.findings if f.kind == "under-replicated"]
    assert over == [len(isr) == 3], "as long as nobody saw it over"


def test_a_leader_that_was_seen_and_is_gone_again() -> None:
    story = Story()
    story.leads(1, 1, 0, 0, 0, [1, 2, 3])
    story.offline(1, 10, 1, [1], 1, 1)
    when = {f"cluster/describe-{s}.txt": START + timedelta(seconds=s) for s in (600, 700)}
    reported = local.report(table({**story.files, **dict(zip(when, (seen(2, "2"), seen("none", "2")), strict=True))}, when))
    assert [f.end for f in sorted((f for f in reported.findings if f.kind == "offline-partition"), key=lambda f: str(f.start))] == [
        START + timedelta(seconds=600),
        None,
    ]


def left_down(name: str) -> set[int]:
    """Brokers that were killed and never started again."""
    last: dict[int, str] = {}
    for action in truth_of(name)["actions"]:
        if action["action"] in ("start", "kill -9"):
            last |= dict.fromkeys(action.get("nodes") or [action.get("node", action.get("broker"))], action["action"])
    return {broker for broker, what in last.items() if what == "kill -9"}


def check_plan(name: str, found: Overview) -> None:
    dead = left_down(name)
    assert {b.id for b in found.brokers if b.state != "live"} == dead, "all others ran when the files were taken"
    assert dead or found.plan.of(UNCLEAN) is None, "all partitions had leaders"
    live = {b.id for b in found.brokers} - dead
    for step, written in found.steps:
        assert [c for w in written for c in w.file.changes] == list(step.changes)
        if step.kind in REASSIGNMENTS:
            assert all(set(c.after) <= live and len(set(c.after)) == len(c.before) for c in step.changes)


def at(files: Files, path: Path) -> Path:
    return put(path, files)


def test_a_broker_that_stopped_for_good_is_down(tmp_path: Path) -> None:
    """The second life of broker 2 is taken out of its log, and what was seen of it from the evidence."""
    files = without(bundle("rolling-restart-2.8.2-zk"), r"^cluster/|/data/")
    for path, file in list(files.items()):
        if path.endswith("broker-2/logs/server.log"):
            kept = file.content.split(b"Kafka version", 2)[0:2]
            cut = b"Kafka version".join(kept)
            files[path] = file._replace(content=cut[: cut.index(b"shut down completed") + 60])
    cluster, known = stood(at(files, tmp_path))
    state = {b.id: b for b in brokers(cluster, known)}
    assert state[2].state == "down"
    assert text(state[2].why).startswith("stopped at 2026-11-21")
    assert {b.id: b.state for b in brokers(cluster, known, live=[2])}[2] == "live", "the user knows better"
    assert {b.id: b.state for b in brokers(cluster, known, gone=[2])}[2] == "gone"


def test_a_broker_gone_for_good_is_replaced_on_the_fourth() -> None:
    found = planned("reassignment-2.8.2-zk", gone=(3,))
    replaced = found.plan.of("replace-broker")
    assert replaced is not None
    assert all(3 in c.before and 3 not in c.after for c in replaced.changes)
    after = {b.broker: b.replicas for b in found.plan.after}
    assert after[3] == 0
    assert {w.name for _, written in found.steps for w in written} >= {"01-replace-broker.json"}
    (written,) = found.steps[0][1]
    assert "--throttle" not in written.commands["run"][0], "the tool would wait for the dead broker"
    assert len(written.commands["throttle"]) == 5


def test_without_brokers_enough_nothing_is_replaced() -> None:
    found = planned("unclean-election-2.8.2-zk", gone=(3,))
    assert found.plan.of("replace-broker") is None
    assert any("already has a replica" in r.why for r in found.plan.refusals)


def test_commands_follow_the_version_in_the_evidence() -> None:
    old = planned("last-replica-standing-1.0.2-zk")
    assert any("--zookeeper $ZOOKEEPER" in line for _, ws in old.steps for w in ws for line in w.commands["run"])
    new = planned("reassignment-3.9.1-kraft")
    assert not any("$ZOOKEEPER" in line for _, ws in new.steps for w in ws for lines in w.commands.values() for line in lines)
    unknown = planned("unclean-election-0.8.2.2-zk")
    assert "version is not in the evidence" in unknown.assumptions[0]
    planned_steps = planned("unclean-election-0.8.2.2-zk", kafka_version="0.8.2")
    assert "log_dirs" not in "".join(content for name, content in planned_steps.files() if name != "plan.json")


def test_racks_come_from_the_settings(tmp_path: Path) -> None:
    files = bundle("reassignment-3.9.1-kraft")
    for broker, rack in ((1, b"a"), (2, b"null")):
        path = f"broker-{broker}/config/server.properties"
        files[path] = files[path]._replace(content=files[path].content + b"broker.rack=" + rack + b"\n")
    cluster, known = stood(put(tmp_path, files))
    assert [b.rack for b in brokers(cluster, known)] == ["a", None, None, None]
    assert any("some brokers only" in line for line in overview(cluster, known).assumptions)


def test_the_same_evidence_gives_the_same_files() -> None:
    first, second = (dict(planned("reassignment-2.8.2-zk", gone=(3,)).files()) for _ in range(2))
    assert first == second
    assert {"plan.json", "01-replace-broker.json", "01-replace-broker.rollback.json"} <= set(first)


def test_no_evidence_no_plan() -> None:
    found = overview(Cluster(), [])
    assert found.plan.steps == []
    assert found.document()["brokers"] == []
    assert brokers(Cluster(), [], gone=[7]) == [Broker(7, "gone", said("broker/named-gone"))]
