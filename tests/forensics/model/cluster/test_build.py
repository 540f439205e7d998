"""The cluster put together from events of no partition, and what identification writes into every event."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

import pyarrow as pa
import pytest

from forensics.model.clock.copies import Copies
from forensics.model.clock.gathered import Gathered
from forensics.model.clock.node_clocks import Options
from forensics.model.clock.resolver import EventResolver
from forensics.model.clock.sources import Source
from forensics.model.cluster.build import build_cluster
from forensics.model.events import IDENTIFIED
from parsers.schemas import EVENTS
from tests.forensics.staged import START, Story, table
from tests.support import local, recorded


def batch(*rows: dict[str, object]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(rows), schema=EVENTS)


def test_time_of_lines_is_corrected_and_that_of_files_is_not() -> None:
    known = EventResolver(nodes={"a": 1}, collections={"a": "top"}, offsets_ms={"a": 3_600_000}, topics={})
    events = known.apply(batch(*({"source": "a", "time": START, "clock": c, "event": "segment"} for c in ("line", "mtime", None))))
    assert events.schema.equals(IDENTIFIED)
    assert events.column("at").to_pylist() == [START - timedelta(hours=1), START, START]
    assert events.column("writer").to_pylist() == [1, 1, 1]
    assert events.column("collection").to_pylist() == ["top"] * 3


def test_source_of_nobody_is_that_of_the_node_its_line_names() -> None:
    known = EventResolver(nodes={"a": None}, collections={}, offsets_ms={}, topics={})
    events = known.apply(batch({"source": "a", "node": 5, "event": "segment"}, {"source": "unheard", "event": "segment"}))
    assert events.column("writer").to_pylist() == [5, None]


def test_topic_ids_become_names_and_the_shared_root_is_left_out() -> None:
    known = EventResolver(nodes={}, collections={}, offsets_ms={}, topics={"id1": "clicks"}, root="dump/")
    ids: list[dict[str, object]] = [{"topic_id": "id1"}, {"topic_id": "id2"}, {"topic_id": None}, {"topic": "named", "topic_id": "id1"}]
    events = known.apply(batch(*({"source": "dump/a", "event": "segment", **i} for i in ids)))
    assert events.column("topic").to_pylist() == ["clicks", None, None, "named"]
    assert set(events.column("source").to_pylist()) == {"a"}


def test_empty_evidence_is_an_empty_cluster() -> None:
    cluster, known = build_cluster(Gathered.of(EVENTS.empty_table()))
    assert (cluster.nodes, cluster.sources, cluster.mode, known.root) == ({}, [], "unknown", "")


def story() -> Story:
    s = Story()
    for broker in (1, 2):
        s.leads(broker, 0, broker, 0, 0, [1, 2])
    return s


def test_clock_of_each_broker_by_its_own_files() -> None:
    files = story().files
    one, two = sorted(files)
    cluster, known = local.gathered(table(files, {one: START, two: START - timedelta(hours=2)}))
    assert {n: c.clock.zone for n, c in cluster.nodes.items()} == {1: "UTC", 2: "UTC+02:00"}
    assert known.offsets_ms == {one: 0, two: 7_200_000}
    assert {s.node: s.last for s in cluster.sources} == {1: START, 2: START - timedelta(hours=2)}


def test_what_the_user_says_of_clocks_overrules() -> None:
    files = story().files
    options = Options(zone_offset_ms=3_600_000, clock_offsets_ms={2: 1_500})
    cluster, known = local.gathered(table(files, dict.fromkeys(files, START)), options)
    assert known.offsets_ms == {p: 3_600_000 + (1_500 if "broker-2" in p else 0) for p in files}
    assert {n.clock.basis for n in cluster.nodes.values()} == {"given"}
    assert cluster.nodes[2].clock.skew_ms == 1_500


def test_clock_error_alone_comes_on_top_of_the_estimated_zone() -> None:
    files = story().files
    _, known = local.gathered(table(files, dict.fromkeys(files, START - timedelta(hours=1))), Options(clock_offsets_ms={1: -500}))
    assert sorted(known.offsets_ms.values()) == [3_599_500, 3_600_000]


def test_line_that_two_copies_hold_counts_once() -> None:
    line = "[2026-11-21 01:53:00,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
    later = "[2026-11-21 01:54:00,000] INFO [KafkaServer id=1] shutting down (kafka.server.KafkaServer)\n"
    files = {
        "before/broker-1/logs/server.log": line,
        "broker-1/logs/server.log": line + later,
        "broker-2/logs/server.log": line.replace("id=1", "id=2"),
    }
    cluster, _ = local.gathered(table(files))
    assert [(e.writer, e.event) for e in cluster.of("broker-started", "broker-stopping")] == [
        (1, "broker-started"),
        (2, "broker-started"),
        (1, "broker-stopping"),
    ]
    assert len(cluster.nodes[1].runs) == 1


META = "version=0\nbroker.id=1\n"
HW = "0\n1\nt 0 5\n"


def line(seconds: int, text: str = "starting") -> str:
    at = START + timedelta(seconds=seconds)
    return f"[{at:%Y-%m-%d %H:%M:%S},000] INFO [KafkaServer id=1] {text} (kafka.server.KafkaServer)\n"


def collected(logs: dict[str, str], data: Iterable[str]) -> dict[str, str]:
    """Collections by top directory: logs by their text, disks where named."""
    held = {f"{top}/logs/server.log": text for top, text in logs.items()}
    for top in data:
        held |= {f"{top}/data/meta.properties": META, f"{top}/data/replication-offset-checkpoint": HW}
    return held


def test_collections_are_ordered_by_their_newest_file() -> None:
    files = collected({}, ["a-later/broker-1", "z-before/broker-1"])
    cluster, _ = local.gathered(table(files, {p: START + timedelta(hours=p.startswith("a")) for p in files}))
    assert cluster.nodes[1].collections == ["z-before", "a-later"]


def test_collections_are_ordered_by_the_last_line_of_their_logs_where_modification_times_are_those_of_a_copy() -> None:
    files = collected({"a-later": line(0) + line(60), "z-before": line(0)}, ["a-later", "z-before"])
    copied = {p: START + timedelta(seconds=5003 - p.startswith("a")) for p in files}
    cluster, known = local.gathered(table(files, copied))
    assert cluster.nodes[1].collections == ["z-before", "a-later"]
    assert set(known.saved) == {"z-before/data/meta.properties", "z-before/data/replication-offset-checkpoint"}
    assert set(known.saved.values()) == {START + timedelta(microseconds=1)}


@pytest.mark.parametrize("kept", [timedelta(seconds=-5), timedelta(seconds=1)])
def test_modification_times_that_were_kept_are_believed(kept: timedelta) -> None:
    files = collected({"a-later": line(0) + line(60), "z-before": line(0)}, ["a-later", "z-before"])
    _, known = local.gathered(table(files, {p: START + (timedelta(minutes=1) if p.startswith("a") else kept) for p in files}))
    assert known.saved == {}


@pytest.mark.parametrize(
    ("written", "collections"), [(0, ["a"]), (60, ["a", "b/broker-1/logs"])], ids=["times-of-nothing", "started-since-the-disks-were-saved"]
)
def test_logs_that_lie_apart_are_a_later_collection_only_where_the_disks_are_surely_older(written: int, collections: list[str]) -> None:
    files = collected({"b/broker-1": line(0) + line(60)}, ["a/broker-1"])
    files |= {"a/broker-1/logs/server.log": line(0), "c/broker-2/data/meta.properties": META.replace("=1", "=2")}
    times = {path: START + timedelta(seconds=written if path.startswith("b") else 0) for path in files}
    cluster, _ = local.gathered(table(files, times))
    assert cluster.nodes[1].collections == collections


def spans(*given: tuple[str, int, int]) -> list[Source]:
    """Sources of node 1: kind, and the seconds of the first and the last line; in directories named by their place."""
    found = []
    for number, (kind, first, last) in enumerate(given):
        at = [START + timedelta(seconds=s) for s in (first, last)]
        path = f"{number}/{kind.removesuffix('-log')}.log"
        found.append(Source(path, kind, 1, "", None, None, None, None, None, (), at[0], at[1], None))
    return found


def repeating(sources: list[Source]) -> set[str]:
    return {path.split("/")[0] for path in Copies.of(sources).sources}


@pytest.mark.parametrize(
    ("given", "copies"),
    [
        ([("server-log", 0, 9), ("server-log", 9, 20), ("server-log", 21, 30)], ""),
        ([("server-log", 0, 9), ("state-change-log", 0, 9)], ""),
        ([("server-log", 0, 9), ("server-log", 0, 5)], "01"),
        ([("server-log", 0, 99), ("server-log", 3, 5), ("server-log", 50, 60), ("server-log", 100, 101)], "012"),
        ([("server-log", 0, 9), ("state-change-log", 5, 9), ("stdout-log", 3, 8)], "012"),
        ([("server-log", 9, 0), ("server-log", 100, 101)], "01"),
        ([("server-log", 5, 5), ("server-log", 5, 5), ("server-log", 6, 9)], "01"),
        ([("server-log", 5, 5), ("server-log", 5, 9)], "01"),
        ([("server-log", 0, 5), ("server-log", 5, 5), ("server-log", 5, 9)], "012"),
        ([("hw-checkpoint", 0, 9), ("hw-checkpoint", 0, 9)], ""),
    ],
    ids=[
        "rotated",
        "other kinds",
        "beginning",
        "around",
        "standard output",
        "clock that jumped back",
        "one record",
        "its first record",
        "its last",
        "no logs",
    ],
)
def test_logs_of_the_same_hours_may_hold_the_same_lines(given: list[tuple[str, int, int]], copies: str) -> None:
    assert repeating(spans(*given)) == set(copies)
    assert repeating(spans(*reversed(given))) == {str(len(given) - 1 - int(c)) for c in copies}


def test_standard_output_of_a_broker_may_hold_lines_of_the_log_that_it_shares() -> None:
    shared, own = spans(("server-log", 0, 99), ("stdout-log", 3, 8))
    shared.node, shared.shared = None, (1, 2)
    assert repeating([shared, own]) == {"0", "1"}


def test_a_log_whose_name_says_nothing_may_repeat_any_log() -> None:
    state_change, named_by_nobody = spans(("state-change-log", 0, 9), ("server-log", 3, 8))
    named_by_nobody.path = "1/broker-1.txt"
    assert repeating([state_change, named_by_nobody]) == {"0", "1"}


def test_line_of_a_rotated_file_and_its_packed_copy_counts_once() -> None:
    cluster, _ = local.gathered(table({f"broker-1/{name}": line(0) + line(9, "started") for name in ("server.log.1", "server.log.1.old")}))
    assert [e.event for e in cluster.of("broker-starting", "broker-started")] == ["broker-starting", "broker-started"]
    assert [run.outcome for run in cluster.nodes[1].runs] == ["running"]


def test_real_bundle_names_nodes_roles_versions_and_settings() -> None:
    cluster, known = local.gathered(recorded.events("acks1-failover-3.9.1-kraft"))
    assert {n.id for n in cluster.nodes.values() if n.broker} >= {1, 2}
    assert {n.id for n in cluster.nodes.values() if not n.broker} == {100}
    assert {n.version for n in cluster.nodes.values()} == {"3.9.1"}
    assert known.root == "acks1-failover-3.9.1-kraft/"
    assert set(known.topics.values()) >= {"clicks"}
    assert not any(s.path.startswith(known.root) for s in cluster.sources)


@pytest.mark.parametrize(
    "name",
    [
        "unclean-election-0.10.2.2-zk",
        "acks1-failover-1.1.1-zk",
        "acks1-failover-3.9.1-kraft",
        "acks1-failover-2.8.2-zk",
        "mixed-fleet-3.5.2-zk",
    ],
)
def test_mode(name: str) -> None:
    cluster, _ = local.gathered(recorded.events(name))
    assert cluster.mode == ("kraft" if name.endswith("kraft") else "zookeeper")


ZOOKEEPER = "INFO [KafkaServer id=1] started (kafka.server.KafkaServer)"
QUORUM = "INFO [BrokerLifecycleManager id=1] The broker is in RECOVERY. (kafka.server.BrokerLifecycleManager)"


@pytest.mark.parametrize(
    ("lines", "mode"),
    [
        ([ZOOKEEPER], "zookeeper"),
        (["INFO [ZooKeeperClient Kafka server] Session expired. (kafka.zookeeper.ZooKeeperClient)"], "zookeeper"),
        (["INFO [Controller id=1] 1 successfully elected as the controller (kafka.controller.KafkaController)"], "zookeeper"),
        (
            [
                "INFO [Controller id=1 epoch=2] Changed partition t-0 from NewPartition to OnlinePartition with state"
                " LeaderAndIsr(leader=1, leaderEpoch=0, isr=List(1, 2), zkVersion=0) (state.change.logger)"
            ],
            "zookeeper",
        ),
        ([QUORUM], "kraft"),
        (["INFO [Controller 3] Becoming active at controller epoch 4. (org.apache.kafka.controller.QuorumController)"], "kraft"),
        ([ZOOKEEPER, QUORUM], "kraft"),  # a broker in migration (KIP-866)
        (
            [
                "INFO [Broker id=1] Leader t-0 starts at leader epoch 0 from offset 0 with high watermark 0 ISR [1,2] addingReplicas []"
                " removingReplicas []. Previous leader epoch was -1. (state.change.logger)"
            ],
            "unknown",
        ),
    ],
)
def test_any_statement_that_one_mode_alone_makes_tells_it(lines: list[str], mode: str) -> None:
    log = "".join(f"[2026-11-21 03:00:0{n},000] {line}\n" for n, line in enumerate(lines))
    assert local.gathered(local.events_of_files({"broker-1/logs/server.log": log}))[0].mode == mode


def test_time_of_an_event_is_null_when_the_fact_has_none() -> None:
    known = EventResolver(nodes={}, collections={}, offsets_ms={"a": 5}, topics={})
    assert known.apply(batch({"source": "a", "clock": "line", "event": "config"})).column("at").to_pylist() == [None]
