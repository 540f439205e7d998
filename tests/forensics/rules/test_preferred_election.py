"""preferred-election: who asked for it, as far as lines, tools, settings and the controller's own rounds tell."""

from __future__ import annotations

import pytest

from forensics.words import words
from tests.forensics.staged import Story, at, of, report

REQUEST = "INFO [Controller id=3] Starting preferred replica leader election for partitions t-0 (kafka.controller.KafkaController)"
ROUND = "INFO [Controller id=3] Processing automatic preferred replica leader election (kafka.controller.KafkaController)"
TRACED = "TRACE [Controller id=3] Checking need to trigger auto leader balancing (kafka.controller.KafkaController)"


def moved() -> Story:
    """Leadership goes from broker 2 to broker 1, first of the replicas, at second 600; both stay in the ISR."""
    s = Story()
    s.leads(2, 0, 0, 0, 0, [1, 2])
    s.leads(1, 600, 1, 0, 0, [1, 2], previous=0)
    s.put("cluster/topics-describe.txt", ["\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2"])
    return s


def asked(story: Story) -> str | None:
    (found,) = of(report(story.files), "preferred-election")
    return found.cause


@pytest.mark.parametrize("words", [ROUND, TRACED])
@pytest.mark.parametrize(
    ("rounds", "asker"),
    [
        ((599.9,), "AutoTriggered"),
        ((299.9, 599.9, 899.9), "AutoTriggered"),
        ((450, 750), "command-between-rounds"),
        ((450,), None),
        ((601,), None),
        ((100, 1100), None),
        ((), None),
    ],
    ids=["just before", "one of several", "between two", "after the last", "just after", "between two far apart", "untold"],
)
def test_rounds_of_a_controller_before_2_4(words: str, rounds: tuple[float, ...], asker: str | None) -> None:
    s = moved()
    for seconds, text in sorted([*((r, words) for r in rounds), (600, REQUEST)]):
        s.line(3, "controller", seconds, text)
    assert asked(s) == asker


@pytest.mark.parametrize(
    "form",
    [
        "maybeBalancePartitionLeaders: generated {} records in 331 microseconds.",
        "Periodic task electPreferred generated {} records in 331 microseconds.",
    ],
)
@pytest.mark.parametrize(
    ("rounds", "asker"),
    [
        (((600, 1),), "AutoTriggered"),
        (((600, 0), (900, 0)), None),
        (((450, 0), (750, 0)), "command-between-rounds"),
        (((450, 2), (750, 1)), "command-between-rounds"),
        (((450, 2),), None),
    ],
)
def test_rounds_of_a_kraft_controller(form: str, rounds: tuple[tuple[float, int], ...], asker: str | None) -> None:
    s = moved()
    lines = [f"[{at(r)}] INFO [QuorumController id=100] {form.format(n)} (org.apache.kafka.controller.QuorumController)" for r, n in rounds]
    s.put("controller-100/logs/controller.log", lines)
    assert asked(s) == asker


def test_the_round_is_quoted() -> None:
    s = moved()
    s.line(3, "controller", 599.9, ROUND)
    s.line(3, "controller", 600, REQUEST)
    (found,) = of(report(s.files), "preferred-election")
    assert any("Processing automatic" in e.text for e in found.evidence)
    assert "auto.leader.rebalance.enable" in words(found).explanation


def test_rounds_lie_as_far_apart_as_is_set() -> None:
    s = moved()
    s.put("broker-1/config/server.properties", ["broker.id=1", "leader.imbalance.check.interval.seconds=1000"])
    for seconds, text in ((100, ROUND), (600, REQUEST), (1100, ROUND)):
        s.line(3, "controller", seconds, text)
    assert asked(s) == "command-between-rounds"


def test_what_a_broker_prints_of_its_settings_tells_when_leaders_are_moved_back() -> None:
    s = Story()
    s.leads(2, 0, 0, 0, 0, [1, 2])
    s.put("cluster/topics-describe.txt", ["\tTopic: t\tPartition: 0\tLeader: 2\tReplicas: 1,2\tIsr: 1,2"])
    settings = (
        "auto.leader.rebalance.enable = true",
        "leader.imbalance.check.interval.seconds = 77",
        "leader.imbalance.per.broker.percentage = 60",
    )
    s.line(
        2,
        "server",
        -5,
        "INFO KafkaConfig values: \n" + "\n".join(f"\t{one}" for one in ("broker.id = 2", *settings)) + "\n (kafka.server.KafkaConfig)",
    )
    (found,) = of(report(s.files), "leader-imbalance")
    assert "every 77 s" in words(found).explanation
    assert "above 60%" in words(found).explanation
