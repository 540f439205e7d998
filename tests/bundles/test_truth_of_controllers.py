"""What is said of controllers, of a quorum without majority, of a lost ZooKeeper, of a migration and of an upgrade, held against what was
done to real clusters: the actions of fixtures/bundles.

Here: bundles whose controllers were stopped or killed, or whose nodes got another mode or release. Not here: brokers (test_truth_of_kraft).
"""

from __future__ import annotations

import re
import tarfile
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from forensics.model.findings import Finding
from forensics.model.presence.crash_times import CrashTimes
from forensics.model.presence.unreplaced import unreplaced
from forensics.model.quorum.zookeeper import migration, without_zookeeper
from forensics.model.settings.versions import version_changes
from forensics.words import of_incident, words
from tests.support import local, recorded
from tests.support.paths import BUNDLES, truth_of

QUORUM, MIGRATED, UPGRADED = "quorum-lost-4.1.1-kraft", "migration-3.9.1-zk", "rolling-upgrade-2.8.2-zk"
ZOOKEEPER = "zookeeper-lost-3.6.2-zk"
STARTUP = timedelta(seconds=20)
"""A process on a busy machine needs so long to start."""


def found(name: str, kind: str) -> list[Finding]:
    return [f for f in recorded.report(name).findings if f.kind == kind]


def actions(name: str, begins: str) -> list[tuple[datetime, dict[str, Any]]]:
    done = (a for a in truth_of(name)["actions"] if a["action"].startswith(begins))
    return [(datetime.fromisoformat(a["at"]).astimezone(timezone.utc).replace(tzinfo=None), a) for a in done]


def node(action: dict[str, Any]) -> int:
    return int(action.get("node", action.get("broker")))


def test_the_quorum_was_lost_when_the_second_controller_was_killed_and_until_one_was_back() -> None:
    (lost,) = found(QUORUM, "quorum-lost")
    killed = actions(QUORUM, "kill")
    back = [at for at, a in actions(QUORUM, "start") if at > killed[-1][0]]
    assert lost.brokers == tuple(sorted(node(a) for _, a in killed))
    assert lost.start is not None and lost.start_latest is not None and lost.end is not None
    assert lost.start <= killed[-1][0] <= lost.start_latest
    assert lost.start_latest - lost.start < timedelta(seconds=1)
    assert back[0] <= lost.end <= back[0] + STARTUP
    assert lost.confidence == "certain"


@pytest.mark.parametrize(
    ("left_out", "sure"),
    [
        ("/controller-", True),
        ("/logs/", False),
        ("/controller-|__cluster_metadata", False),
        ("/controller-10[01]/|__cluster_metadata", False),
        ("/controller.log|__cluster_metadata", True),
        ("/broker-|__cluster_metadata", True),
    ],
)
def test_the_lost_quorum_is_found_from_every_part_of_the_evidence(left_out: str, sure: bool) -> None:
    """Brokers, records or controllers alone; with less evidence its beginning is less exact, and it is less certain."""
    (lost,) = [f for f in local.report(local.events_of_files(part_of(QUORUM, left_out))).findings if f.kind == "quorum-lost"]
    killed = actions(QUORUM, "kill")[-1][0]
    back = next(at for at, a in actions(QUORUM, "start") if at > killed)
    begun = lost.start_latest or lost.start
    assert lost.start is not None and begun is not None and lost.end is not None
    assert lost.start <= killed + timedelta(seconds=1) and killed <= begun <= killed + timedelta(seconds=4)
    assert back <= lost.end <= back + STARTUP
    assert (lost.confidence == "certain") == sure


def part_of(name: str, left_out: str) -> dict[str, bytes]:
    with tarfile.open(BUNDLES / f"{name}.tar.gz") as whole:
        wanted = [m for m in whole if m.isfile() and not re.search(left_out, m.name)]
        return {m.name: file.read() for m in wanted if (file := whole.extractfile(m)) is not None}


def test_controllers_that_crash_lose_the_quorum() -> None:
    (incident,) = [i for i in recorded.report(QUORUM).incidents if i.kind == "quorum-lost"]
    summary = of_incident(incident).summary
    assert summary.startswith("The metadata quorum had no leader for ") and summary.endswith("after controllers 100 and 101 crashed")
    assert incident.brokers == (100, 101)
    assert {f.kind for f in recorded.report(QUORUM).findings if f.incident == incident.id} >= {"controller-crash", "quorum-lost"}


@pytest.mark.parametrize("name", [QUORUM, MIGRATED, UPGRADED, ZOOKEEPER])
def test_every_node_that_was_killed_crashed_in_its_bracket_and_no_other(name: str) -> None:
    crashes = [f for f in recorded.report(name).findings if f.kind in ("broker-crash", "controller-crash")]
    killed = actions(name, "kill")
    assert len(crashes) == len(killed)
    for at, a in killed:
        (crash,) = [f for f in crashes if f.brokers == (node(a),)]
        assert crash.start is not None and crash.start_latest is not None
        assert crash.start <= at <= crash.start_latest


def test_zookeeper_was_lost_while_it_was_stopped_and_left_a_killed_leader_in_place() -> None:
    (lost,) = found(ZOOKEEPER, "zookeeper-lost")
    ((stopped, _),) = actions(ZOOKEEPER, "stop ZooKeeper")
    back = actions(ZOOKEEPER, "start ZooKeeper")[-1][0]
    ((killed, victim),) = actions(ZOOKEEPER, "kill")
    assert lost.start is not None and lost.end is not None
    assert abs(lost.start - stopped) < timedelta(seconds=1) and back <= lost.end <= back + STARTUP
    assert (lost.brokers, lost.confidence) == ((1, 2, 3), "certain")
    (kept,) = unreplaced(
        *without_zookeeper(cluster := recorded.report(ZOOKEEPER).cluster), cluster, recorded.report(ZOOKEEPER).partitions, times(ZOOKEEPER)
    )
    assert kept.broker == node(victim) and killed > lost.start
    (created,) = (a["assignment"] for _, a in actions(ZOOKEEPER, "create-topic"))
    assert set(kept.led) == {f"tasks-{p}" for p, replicas in enumerate(created) if replicas[0] == kept.broker}
    assert set(kept.in_isr) == {f"tasks-{p}" for p, replicas in enumerate(created) if kept.broker in replicas[1:]}
    assert all(at is not None and at > lost.end for at in (*kept.led.values(), *kept.in_isr.values()))


def times(name: str) -> CrashTimes:
    report = recorded.report(name)
    return CrashTimes(report.cluster, report.partitions)


def test_phases_of_the_migration_are_those_that_were_done() -> None:
    m = migration(recorded.report(MIGRATED).cluster)
    assert m is not None and m.copied is not None and m.copied.at is not None and m.finished is not None and m.finished.at is not None
    starts = [(at, node(a)) for at, a in actions(MIGRATED, "start") if "broker" in a]
    turned = {
        mode: [node(a) for _, a in actions(MIGRATED, "reconfigured") if a["mode"] == mode and node(a) < 100] for mode in ("zk", "kraft")
    }
    assert (list(m.brokers), list(m.kraft), m.zookeeper) == (turned["zk"], turned["kraft"], ())
    assert sorted(m.controllers) == [100, 101, 102]
    for seen in (m.controllers, m.brokers, m.kraft):
        for number, e in seen.items():
            assert e.at is not None
            assert any(n == number and at <= e.at <= at + STARTUP for at, n in starts)
    ((migrated, _),) = actions(MIGRATED, "metadata migrated")
    assert abs(m.copied.at - migrated) < timedelta(seconds=2)
    without = [at for at, a in actions(MIGRATED, "reconfigured") if node(a) >= 100]
    assert without[0] <= m.finished.at <= without[0] + STARTUP


def test_a_migration_is_one_incident_and_nothing_else() -> None:
    report = recorded.report(MIGRATED)
    (finding,) = found(MIGRATED, "migration")
    assert sorted(i.kind for i in report.incidents) == ["broker-crash", "migration"]
    (incident,) = [i for i in report.incidents if i.kind == "migration"]
    assert (incident.start, set(incident.brokers)) == (finding.start, {1, 2, 3, 100, 101, 102})
    false = {"raft-truncation", "isr-flapping", "zombie-leader", "stale-controller", "cluster-recreated", "clock-skew", "broker-fenced"}
    assert not {f.kind for f in report.findings} & (false | {"unrecognised-lines", "quorum-lost", "stuck-replica", "evidence-conflict"})
    assert [f.brokers for f in found(MIGRATED, "culprit-broker")] == [(2,)], "the one that was killed"


def test_a_new_controller_of_the_quorum_does_not_follow_one_of_zookeeper() -> None:
    """The quorum's epoch 6 has nothing to do with epoch 2 of ZooKeeper."""
    assert [f.brokers for f in found(MIGRATED, "controller-change")] == [(2, 1), (100, 101)]


def test_an_upgrade_is_told_in_its_order_with_its_protocol() -> None:
    report = recorded.report(UPGRADED)
    upgraded = [node(a) for _, a in actions(UPGRADED, "upgraded")]
    (finding,) = found(UPGRADED, "upgrade")
    assert list(finding.brokers) == upgraded
    starts = [(at, node(a)) for at, a in actions(UPGRADED, "start") if "broker" in a]
    for change in version_changes(report.cluster):
        assert (change.before, change.after) == ("2.8.2", "3.6.2")
        assert any(n == change.node and at <= change.at <= at + STARTUP for at, n in starts)
    assert words(finding).explanation.count("`inter.broker.protocol.version` of broker") == 3
    last = actions(UPGRADED, "reconfigured")[-1][0]
    assert finding.end is not None and last <= finding.end <= last + STARTUP


def test_restarts_of_an_upgrade_are_part_of_it() -> None:
    report = recorded.report(UPGRADED)
    assert sorted(i.kind for i in report.incidents) == ["broker-crash", "upgrade"]
    (incident,) = [i for i in report.incidents if i.kind == "upgrade"]
    assert {f.incident for f in found(UPGRADED, "controlled-shutdown")} == {incident.id}
    assert "were upgraded from 2.8.2 to 3.6.2 one after the other" in of_incident(incident).summary
