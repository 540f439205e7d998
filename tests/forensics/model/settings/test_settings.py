"""What was set when, and which of Kafka's sources of a setting counts."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from forensics.model.events import Event
from forensics.model.settings.effective import MIN_ISR, effective
from forensics.model.settings.settings import BROKER, CLUSTER, DEFAULT, STATIC, TOPIC, Settings, same_directory
from tests.support import local

NOON = datetime(2026, 11, 21, 12)


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def config(minutes: int, key: str | None, value: str | None, **fields: Any) -> Event:
    return Event(**{"event": "config", "key": key, "value": value, "at": at(minutes), **fields})


def test_the_topic_counts_before_the_broker_and_that_before_the_cluster_and_the_file() -> None:
    configured = Settings()
    sources = [(DEFAULT, None, "1"), (STATIC, 1, "2"), (CLUSTER, None, "3"), (BROKER, 1, "4"), (TOPIC, "t", "5")]
    for source, owner, value in sources:
        configured.put(MIN_ISR, value, source, owner)
        assert configured.value(MIN_ISR, topic="t", broker=1) == value
    assert configured.value(MIN_ISR, topic="u", broker=1) == "4"
    assert configured.value(MIN_ISR, topic="u") == "4"
    assert configured.value(MIN_ISR) == "4"
    assert configured.value("unclean.leader.election.enable") is None


def test_a_value_holds_from_its_change_on() -> None:
    configured = Settings([config(0, MIN_ISR, "1", topic="t"), config(10, MIN_ISR, "2", topic="t"), config(20, MIN_ISR, "null", topic="t")])
    configured.put(MIN_ISR, "3", STATIC, 1)
    assert [configured.value(MIN_ISR, topic="t", at=at(m)) for m in (-5, 0, 9, 10, 19, 20)] == ["1", "1", "1", "2", "2", "3"]
    assert configured.value(MIN_ISR, topic="t") == "3"
    assert [(c.at, c.value) for c in configured.history(MIN_ISR, topic="t") if c.event is not None] == [
        (at(0), "1"),
        (at(10), "2"),
        (at(20), None),
    ]


def test_a_full_list_takes_away_what_it_does_not_name() -> None:
    configured = Settings(
        [
            config(0, MIN_ISR, "2", topic="t", reason=TOPIC),
            config(0, "retention.ms", "5", topic="t", reason=TOPIC),
            config(0, None, "min.insync.replicas,retention.ms", topic="t", reason=TOPIC),
            config(5, "retention.ms", "6", topic="t", reason=TOPIC),
            config(5, None, "retention.ms", topic="t", reason=TOPIC),
            config(9, None, "", topic="t", reason=TOPIC),
        ]
    )
    assert [configured.value(MIN_ISR, topic="t", at=at(m)) for m in (1, 6)] == ["2", None]
    assert [configured.value("retention.ms", topic="t", at=at(m)) for m in (1, 6, 9)] == ["5", "6", None]


def test_settings_of_brokers_go_to_the_broker_they_are_of() -> None:
    configured = Settings(
        [
            config(0, MIN_ISR, "1", writer=1),
            config(1, MIN_ISR, "2", writer=100, broker=2, reason=BROKER),
            config(2, MIN_ISR, "3", writer=1, reason=CLUSTER),
            Event(event="metadata-config", key=MIN_ISR, value="4", node=3, writer=100, at=at(3)),
            config(4, MIN_ISR, "5", broker=4, reason=STATIC),
        ]
    )
    assert configured.brokers() == [1, 2, 3, 4]
    assert [configured.value(MIN_ISR, broker=b) for b in (1, 2, 3, 4)] == ["3", "2", "4", "3"]
    assert configured.of_broker(1) == {MIN_ISR: "1"}


def test_what_holds_for_a_topic_by_a_source_further_down_is_no_setting_of_the_topic() -> None:
    configured = Settings([config(0, MIN_ISR, "2", topic="t", reason=STATIC)])
    assert configured.value(MIN_ISR, topic="t") == "2"
    configured.put(MIN_ISR, "3", CLUSTER)
    assert configured.value(MIN_ISR, topic="t") == "3"


def test_hidden_values_tell_nothing() -> None:
    configured = Settings([config(0, "a.rate", "5", broker=1, reason=BROKER), config(1, "a.rate", "[hidden]", broker=1, reason=BROKER)])
    assert configured.value("a.rate", broker=1) == "5"


def test_a_deleted_topic_loses_its_settings() -> None:
    configured = Settings([config(0, MIN_ISR, "2", topic="t"), Event(event="metadata-topic-removed", topic="t", at=at(5))])
    assert [configured.value(MIN_ISR, topic="t", at=at(m)) for m in (1, 6)] == ["2", None]


def test_brokers_keep_the_defaults_of_topics_under_other_names() -> None:
    configured = Settings([config(0, "log.cleanup.policy", "compact", writer=1)])
    assert configured.value("cleanup.policy", topic="t") == "compact"
    assert configured.value("cleanup.policy", broker=1) is None


LINE = "[2026-11-21 {}] INFO Processing override for entityPath: topics/orders with config: {} (kafka.server.DynamicConfigManager)\n"


@pytest.mark.parametrize(("minute", "expected"), [(30, 2), (50, 3), (59, 1)])
def test_from_the_lines_of_a_broker(minute: int, expected: int) -> None:
    stated = [
        ("07:10:00,000", "Map(min.insync.replicas -> 2)"),
        ("07:40:00,000", "Map(min.insync.replicas -> 3)"),
        ("07:55:00,000", "Map()"),
    ]
    lines = "".join(LINE.format(*change) for change in stated)
    files = {"broker-1/logs/server.log": lines, "broker-1/config/server.properties": "broker.id=1\nmin.insync.replicas=1\n"}
    cluster, _ = local.gathered(local.events_of_files(files))
    assert effective(cluster, MIN_ISR, topic="orders", at=datetime(2026, 11, 21, 7, minute)).value == str(expected)


def test_a_znode_is_no_brokers_own() -> None:
    state = '{"controller_epoch":26,"leader":1,"version":1,"leader_epoch":2,"isr":[1,2]}'
    table = local.events_of_files(
        {"zk/brokers/topics/orders/partitions/0/state": state, "zk/brokers/topics/orders": '{"version":1,"partitions":{"0":[1,2,3]}}'}
    )
    ((timeline, cluster),) = list(local.timelines(table))
    assert (cluster.nodes, [s.node for s in cluster.sources]) == ({}, [None, None])
    assert timeline.final is not None
    assert (timeline.final.leader, timeline.final.isr, timeline.final.leader_epoch, timeline.final.source) == (1, (1, 2), 2, "stored")
    assert timeline.assigned == (1, 2, 3)


@pytest.mark.parametrize(
    ("setting", "printed", "same"),
    [
        ("/mnt/data", "/mnt/data", True),
        ("/mnt/data/", "/mnt//data", True),
        ("/mnt/data", "/mnt/Data", False),
        ("/mnt/data", "/srv/data", False),
        ("./data", "/opt/kafka/./data", True),
        ("../data", "/opt/kafka/../data", True),
        ("data", "/opt/kafka/data2", False),
        ("other/data", "/data", False),
        ("C:/kafka/data", r"C:\kafka\data", True),
        ("c:/Kafka/data", r"C:\kafka\data", True),
        ("/var/kafka-logs", r"D:\var\kafka-logs", True),
        ("D:/kafka/data", r"C:\kafka\data", False),
        ("/var/kafka-logs", r"D:\kafka-logs", False),
        ("/var/kafka-logs", r"D:\srv\var\kafka-logs", False),
        ("C://kafka/data", r"C:\kafka\data", True),
        ("//kafka//data/", "/kafka/data", True),
        ("data", "C:/kafka/data", True),
        ("C:kafka-logs", r"C:\Users\kafka\kafka-logs", True),
        ("C:kafka-logs", r"D:\Users\kafka\kafka-logs", False),
        ("C:kafka-logs", r"C:\Users\kafka\logs", False),
        ("/data", "data", True),
        ("", "/mnt/data", True),
    ],
)
def test_a_directory_is_the_same_however_it_is_spelled(setting: str, printed: str, same: bool) -> None:
    assert same_directory(setting, printed) == same_directory(printed, setting) == same
