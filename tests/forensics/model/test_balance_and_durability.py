"""Settings, exposure, preferred leaders and load as the recorded incidents have them, and on Spark as in one process."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from forensics.cli import cli
from forensics.commands.analyze import weight
from forensics.commands.inputs import measures_of
from forensics.model.clock.gathered import Gathered
from forensics.model.cluster.balance import measures, ratios
from forensics.model.findings import LEVELS, Finding
from forensics.words import words
from tests.forensics.staged import of
from tests.support import local, recorded
from tests.support.each import for_each
from tests.support.paths import BUNDLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OURS = ("at-min-isr", "risky-setting", "leader-imbalance", "load-imbalance", "preferred-election")
NAMES = sorted(p.name.removesuffix(".tar.gz") for p in BUNDLES.glob("*.tar.gz"))
METRICS = "broker,cpu,disk io\n1,80,10\n2,20,30\n1,60,10\n3,40,20\n"


def named(pattern: str) -> list[str]:
    found = [n for n in NAMES if n.startswith(pattern)]
    assert found, f"no bundle is named {pattern}"
    return found


def risk(name: str, cause: str) -> list[Finding]:
    return [f for f in of(recorded.report(name), "risky-setting") if f.cause == cause]


@for_each(named("unclean-election-"))
def test_the_setting_that_allowed_it_is_named_with_what_it_cost(name: str) -> None:
    """All of these set it for the topic `orders` when they create it."""
    (found,) = risk(name, "unclean.leader.election.enable=true")
    truth: dict[str, Any] = json.loads((BUNDLES / f"{name}.expected.json").read_text())
    assert found.severity == "high"
    assert all(f"{place} lost " in words(found).explanation for place in truth["lost"])
    assert any("unclean" in e.text for e in found.evidence)


@for_each(named("last-replica-standing-"))
def test_min_isr_of_one_cost_what_the_last_replica_lost(name: str) -> None:
    truth: dict[str, Any] = json.loads((BUNDLES / f"{name}.expected.json").read_text())
    (found,) = risk(name, "min.insync.replicas=1")
    proven = [place for place, lost in truth["lost"].items() if lost.get("provable", True)]
    reported = [f for f in of(recorded.report(name), "data-loss") if f.confidence != "possible"]
    assert found.severity == ("medium" if proven or reported else "low")
    assert all(f"{place} lost " in words(found).explanation for place in proven)


@for_each(NAMES)
def test_one_finding_for_each_setting_and_value(name: str) -> None:
    causes = [(f.cluster, f.cause) for f in of(recorded.report(name), "risky-setting")]
    assert len(causes) == len(set(causes))


@for_each([n for n in NAMES if n.startswith(("rolling-restart", "reassignment", "grow-replicas", "delete-recreate"))])
def test_what_was_planned_is_worth_advice_at_most(name: str) -> None:
    worst = [words(f).summary for f in of(recorded.report(name), *OURS) if LEVELS.index(f.severity) > LEVELS.index("low")]
    assert worst == []


@for_each(named("rolling-restart-"))
def test_who_gave_the_leaderships_back(name: str) -> None:
    """The recorder runs kafka-leader-election (before 2.4 kafka-preferred-replica-election), with automatic rebalance off."""
    found = of(recorded.report(name), "preferred-election")
    assert found
    assert {f.cause for f in found} <= {"AdminClientTriggered", "ZkTriggered", "command"}
    assert all("moved from broker" in words(f).explanation and "by a command" in words(f).explanation for f in found)


@for_each(NAMES)
def test_exposure_adds_up(name: str) -> None:
    reported = recorded.report(name).document()["cluster"]["durability"]["exposure"]
    whole = reported["cluster"]["watched_partition_minutes"]
    assert whole > 0
    for what in ("offline", "below", "at", "alone", "not_covered"):
        assert 0 <= reported["cluster"][f"{what}_partition_minutes"] <= whole
    for topic in reported["topics"]:
        assert topic["watched_partition_minutes"] <= whole


@for_each(NAMES)
def test_windows_and_exposure_agree(name: str) -> None:
    """A topic with a window below min.insync.replicas was exposed, and the other way round."""
    reported = recorded.report(name).document()["cluster"]["durability"]["exposure"]["topics"]
    exposed = {t["topic"] for t in reported if t["below_partition_minutes"] > 0.02}
    windows = {f.topic for f in of(recorded.report(name), "under-min-isr")}
    assert exposed <= windows


@for_each(NAMES)
def test_every_place_is_in_the_evidence(name: str) -> None:
    document = recorded.report(name).document()
    paths = {s["path"] for s in document["evidence"]["sources"]}
    durability = document["cluster"]["durability"]
    for stated in (*durability["settings"], *durability["changes"]):
        place = stated["place"].removeprefix("Kafka's default, version in ")
        assert place == "Kafka's default" or place in paths or place.rpartition(":")[0] in paths


@for_each(NAMES)
def test_shares_are_of_one_whole(name: str) -> None:
    reported = recorded.report(name).document()["cluster"]["balance"]
    assert sum(b["share"] for b in reported["load"]["brokers"]) == pytest.approx(1, abs=1e-4)
    for broker in reported["leaders"]["brokers"]:
        assert 0 <= broker["elsewhere"] <= broker["preferred"] or broker["preferred"] == 0
        assert broker["series"][-1]["elsewhere"] == broker["elsewhere"]


@for_each(named("clean-failover-"))
def test_imbalance_is_what_describe_shows(name: str) -> None:
    """Each broker's partitions it is the first replica of and does not lead; 0.10 brokers print replicas without their order."""
    described = recorded.events(name).to_pylist()
    rows = {
        (e["topic"], e["partition"]): e for e in described if e["event"] == "describe-partition" and e["reason"] == "topics-describe-end"
    }
    should = Counter(e["replicas"][0] for e in rows.values())
    outage = Counter(e["replicas"][0] for e in rows.values() if e["leader"] != e["replicas"][0])
    stated = {
        b: points[-1] for b, points in ratios([p for p in recorded.report(name).partitions if (p["topic"], p["partition"]) in rows]).items()
    }
    assert {b: (r.preferred, r.elsewhere) for b, r in stated.items()} == {b: (n, outage[b]) for b, n in should.items()}


# the user's load metrics


def test_on_spark_as_in_one_process(session: SparkSession, tmp_path: Path) -> None:
    from forensics.jobs import read
    from forensics.model.cluster.build import build_cluster
    from parsers.containers.units import units

    (tmp_path / "load-metrics.csv").write_text(METRICS)
    described = "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\n"
    (tmp_path / "topics-describe.txt").write_text(described)
    events = read(session, units([str(tmp_path)]))
    cluster, resolver = build_cluster(Gathered(events.parts_of_cluster))
    found = measures_of(events, resolver, cluster)
    assert list(found) == list(local.report(local.events_of(tmp_path)).cluster.measures)
    assert {(m.broker, m.metric): (m.mean, m.count) for m in found}[1, "cpu"] == (70, 2)
    assert measures([]) == []


def test_weights_on_the_command_line() -> None:
    assert weight("Disk IO=2.5") == ("disk io", 2.5)
    for wrong in ("cpu", "=1", "cpu=", "cpu=-1", "cpu=nan", "cpu=inf", "cpu=much"):
        result = CliRunner().invoke(cli, ["analyze", "--weight", wrong, "."])
        assert result.exit_code != 0 and "METRIC=W" in result.output
