"""Silence is a fact only where somebody who was collected would have spoken."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from forensics.exemplars import exemplars_of
from forensics.model.clock.sources import Source
from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import LOG, PROCESS, READ, isr_changes_observable, silent_leaders, would_show
from forensics.words import words
from tests.forensics.staged import START, Story, of, report, timeline

FENCED = "[{at}] INFO [QuorumController id=100] Fencing broker 1 because its session has timed out. (org.apache.kafka.controller.ReplicationControlManager)"


def led() -> Story:
    """Broker 2 led on with a smaller ISR, by its state-change.log."""
    s = Story()
    s.leads(2, 0, 0, 0, 0, [2, 1, 3])
    s.leads(2, 10, 1, 100, 100, [2, 3], previous=0)
    return s


def source(kind: str, node: int) -> Source:
    return Source(f"{node}/{kind}", kind, node, "", None, None, None, 1, None, (), None, None, None)


@pytest.mark.parametrize(
    ("kind", "is_stated"),
    [
        ("server-log", True),
        ("stdout-log", True),
        ("other-log", True),
        ("state-change-log", False),
        ("controller-log", False),
        ("gc-log", False),
        ("hw-checkpoint", False),
    ],
)
def test_leader_tells_of_its_isr_in_its_own_log(kind: str, is_stated: bool) -> None:
    found, cluster = timeline(led().files)
    cluster = replace(cluster, sources=[replace(source(kind, 2), first=found.states[0].at)])
    assert isr_changes_observable(2, found, cluster) is is_stated
    assert not isr_changes_observable(3, found, cluster)
    assert silent_leaders(found.states, found, cluster) == (() if is_stated else (2,))


def test_metadata_log_tells_of_every_isr() -> None:
    found, cluster = timeline(led().files)
    cluster = replace(cluster, sources=[source("metadata-segment", 100)])
    assert isr_changes_observable(2, found, cluster)
    assert isr_changes_observable(3, found, cluster)


def test_change_that_was_printed_shows_that_changes_are() -> None:
    s = led()
    s.isr(2, 20, [2, 3, 1], 3)
    found, cluster = timeline(s.files)
    cluster = replace(cluster, sources=[])
    assert isr_changes_observable(2, found, cluster)


def test_isr_that_may_have_grown_unseen_is_only_possibly_short() -> None:
    s = led()
    s.put("cluster/describe.txt", ["\tTopic: t\tPartition: 0\tLeader: 2\tReplicas: 2,1,3\tIsr: 2,3"])
    (alone,) = of(report(s.files), "under-replicated")
    assert (alone.severity, alone.confidence) == ("low", "possible")
    assert "is missing or incomplete: the ISR may have changed" in words(alone).explanation
    s.loads(2, -5, 0, unclean=False)
    (heard,) = of(report(s.files), "under-replicated")
    assert (heard.severity, heard.confidence) == ("medium", "certain")


def test_tail_beyond_the_new_leader_is_no_proof_that_nothing_was_lost() -> None:
    s = Story()
    s.leads(2, 14, 2, 200, 200, [2], previous=0)
    s.offline(3, 40, 3, [2], 3, 2)
    s.online(3, 40.1, 4, 1, [1], 4)
    s.leads(1, 40.3, 4, 200, 200, [1])
    s.follows(2, 46, 4, 358, 358, previous=2)
    (finding,) = of(report(s.files), "unclean-election")
    assert finding.severity == "critical"
    assert "ended at offset 358, beyond the new leader's" in words(finding).explanation
    assert "nothing was lost" not in words(finding).explanation


def test_fenced_broker_of_which_nothing_was_collected_is_not_said_to_have_lived() -> None:
    files = {"controller-100/logs/controller.log": FENCED.replace("{at}", "2026-11-21 01:53:00,000") + "\n"}
    (finding,) = of(report(files), "broker-fenced")
    assert (finding.severity, finding.confidence) == ("low", "possible")
    assert "unknown whether it was running" in words(finding).summary


@pytest.mark.parametrize(("name", "confidence"), [("dead-broker", "possible"), ("session-timed-out", "certain")])
def test_a_fenced_broker_lived_if_it_came_back_with_its_broker_epoch(name: str, confidence: str) -> None:
    known = next(e for e in exemplars_of("broker-fenced") if e.name == name)
    first, later = (
        "[2026-11-21 01:58:49,466] INFO [BrokerServer id=2] Starting broker",
        "[2026-11-21 01:58:51,466] INFO [BrokerServer id=2] Transition from STARTING to STARTED",
    )
    files = {path: data.decode().replace(first, later) for path, data in known.files.items()}  # its first lines were not collected
    (finding,) = of(report(files), "broker-fenced")
    assert finding.confidence == confidence


def test_a_log_of_a_broker_that_no_cluster_knows_reaches_back_as_far_as_it_does() -> None:
    known = Cluster()
    known.sources = [replace(source("server-log", 2), first=START), source("server-log", 2)]  # of which one has no time
    assert [bool(would_show(2, known, LOG, PROCESS, READ, since=START + timedelta(seconds=s))) for s in (-1, 1)] == [False, True]
