"""Output of Kafka's command line tools in the spellings of 0.8.2 to 4.3, on what the tools really printed."""

from __future__ import annotations

import io
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.formats.cluster_tools import read
from parsers.formats.problems import MAX_PROBLEMS
from parsers.kinds import KINDS
from parsers.schemas import Member, Row
from tests.fuzzing.contract import kept

TIME = datetime(2026, 11, 21, 8)

EXECUTE_3_9 = b"""Current partition replica assignment

{"version":1,"partitions":[{"topic":"moved","partition":0,"replicas":[1],"log_dirs":["any"]},{"topic":"moved","partition":1,"replicas":[1],"log_dirs":["any"]}]}

Save this to use as the --reassignment-json-file option during rollback
Warning: You must run --verify periodically, until the reassignment completes, to ensure the throttle is removed.
The inter-broker throttle limit was set to 50000000 B/s
Successfully started partition reassignments for moved-0,moved-1
"""
GENERATE_2_5 = b"""Current partition replica assignment
{"version":1,"partitions":[{"topic":"moved","partition":0,"replicas":[1],"log_dirs":["any"]}]}

Proposed partition reassignment configuration
{"version":1,"partitions":[{"topic":"moved","partition":0,"replicas":[2],"log_dirs":["any"]}]}
"""
EXECUTE_0_8 = (
    b"Current partition replica assignment\n\n"
    b'{"version":1,"partitions":[{"topic":"moved","partition":0,"replicas":[1]}]}\n\n'
    b"Save this to use as the --reassignment-json-file option during rollback\n"
    b'Successfully started reassignment of partitions {"version":1,"partitions":[{"topic":"moved","partition":0,"replicas":[2]}]}\n'
)
LOG_DIRS = b"""Querying brokers for log directories information
Received log directory information from brokers 1,2
{"brokers":[{"broker":1,"logDirs":[{"partitions":[{"partition":"moved-1","size":4096,"offsetLag":7,"isFuture":false},{"partition":"a-b-1","size":0,"offsetLag":0,"isFuture":true}],"error":null,"logDir":"/data2"},{"partitions":[],"error":"org.apache.kafka.common.errors.KafkaStorageException","logDir":"/data"}]}],"version":1}
"""
STATUS_3_9 = b"""ClusterId:              S5AjtMJLTva4x39Tsx9RyQ
LeaderId:               100
LeaderEpoch:            1
HighWatermark:          123
MaxFollowerLag:         0
MaxFollowerLagTimeMs:   0
CurrentVoters:          [{"id": 100, "directoryId": null, "endpoints": ["CONTROLLER://127.0.0.1:43431"]}]
CurrentObservers:       [{"id": 2, "directoryId": "HT-jThfy2sGJ-sA1jlaoOQ"}]
"""
REPLICATION_3_9 = (
    b"NodeId\tDirectoryId           \tLogEndOffset\tLag\tLastFetchTimestamp\tLastCaughtUpTimestamp\tStatus  \t\n"
    b"100   \tAAAAAAAAAAAAAAAAAAAAAA\t124         \t0  \t1795247020992     \t1795247020992        \tLeader  \t\n"
    b"2     \tHT-jThfy2sGJ-sA1jlaoOQ\t120         \t4  \t1795247020606     \t1795247020606        \tObserver\t\n"
)
REPLICATION_3_3 = (
    b"NodeId\tLogEndOffset\tLag\tLastFetchTimestamp\tLastCaughtUpTimestamp\tStatus  \t\n"
    b"1     \t116         \t1  \t6 ms ago          \t6 ms ago             \tFollower\t\n"
)
CONFIGS_3_9 = b"""Dynamic configs for topic moved are:
Dynamic configs for topic orders are:
  min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:min.insync.replicas=2, DYNAMIC_DEFAULT_BROKER_CONFIG:min.insync.replicas=1, DEFAULT_CONFIG:min.insync.replicas=1}
  cleanup.policy=compact,delete sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:cleanup.policy=compact,delete}
Dynamic configs for broker 1 are:
  listener.name.x.ssl.keystore.password=null sensitive=true synonyms={DYNAMIC_BROKER_CONFIG:listener.name.x.ssl.keystore.password=null}
Default configs for brokers in the cluster are:
  min.insync.replicas=1 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:min.insync.replicas=1}
"""
FEATURES_4_3 = (
    b"Feature: group.version                             SupportedMinVersion: 0                SupportedMaxVersion: 1                "
    b"FinalizedVersionLevel: 0                Epoch: 176\n"
    b"Feature: metadata.version                          SupportedMinVersion: 3.3-IV3          SupportedMaxVersion: 4.3-IV0          "
    b"FinalizedVersionLevel: 4.3-IV0          Epoch: 176\n"
)


def read_all(content: bytes, path: str = "cluster/out.txt") -> tuple[list[Row], list[Row]]:
    found = list(read(io.BytesIO(content), Member(path, len(content), TIME)))
    assert {row["event"] for row in found} <= set(KINDS)
    kept(found)
    return [row for row in found if row["event"] != "problem"], [row for row in found if row["event"] == "problem"]


def facts(content: bytes, *names: str, path: str = "cluster/out.txt") -> list[tuple[Any, ...]]:
    found, problems = read_all(content, path)
    assert problems == []
    return [tuple(row.get(name) for name in names) for row in found]


def test_execute() -> None:
    assert facts(EXECUTE_3_9, "event", "reason", "topic", "partition", "replicas", "count") == [
        ("assignment", "current", "moved", 0, [1], None),
        ("assignment", "current", "moved", 1, [1], None),
        ("tool-reassignment", "throttled", None, None, None, 50000000),
        ("tool-reassignment", "started", "moved", 0, None, None),
        ("tool-reassignment", "started", "moved", 1, None, None),
    ]
    found, _ = read_all(EXECUTE_3_9)
    assert {(row["time"], row["clock"]) for row in found} == {(TIME, "mtime")}
    assert [row["line"] for row in found] == [3, 3, 7, 8, 8]
    assert EXECUTE_3_9[found[0]["byte"] :].startswith(b'{"version"')


def test_generate_tells_the_current_from_the_proposed() -> None:
    assert facts(GENERATE_2_5, "reason", "replicas") == [("current", [1]), ("proposed", [2])]


def test_0_8_prints_the_plan_on_the_line() -> None:
    assert facts(EXECUTE_0_8, "event", "reason", "replicas") == [
        ("assignment", "current", [1]),
        ("tool-reassignment", "started", None),
        ("assignment", "plan", [2]),
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Reassignment of partition moved-0 is completed.", ("completed", "moved", 0, None)),
        ("Reassignment of partition a-b-1 is complete.", ("completed", "a-b", 1, None)),
        ("Reassignment of partition moved-0 completed successfully", ("completed", "moved", 0, None)),
        ("Reassignment of partition [moved,0] completed successfully", ("completed", "moved", 0, None)),
        ("Reassignment of partition [moved,0] failed", ("failed", "moved", 0, None)),
        ("Reassignment of partition moved-0 is still in progress.", ("in-progress", "moved", 0, None)),
        ("Reassignment of replica moved-0-2 completed successfully.", ("completed", "moved", 0, 2)),
        ("Reassignment of replica moved-0-2 is still in progress", ("in-progress", "moved", 0, 2)),
        ("There is no active reassignment of partition moved-1, but replica set is 1,2 rather than 2.", ("not-active", "moved", 1, None)),
        ("Partition moved-0 on broker 2 is not being moved from log dir /a to /b.", ("failed", "moved", 0, 2)),
        ("Successfully started moving log directory to /data 2 for replica moved-0 with broker 2 ", ("started", "moved", 0, 2)),
        ("Successfully started log directory move for: moved-0-2", ("started", "moved", 0, 2)),
        ("Successfully started partition reassignment for moved-0", ("started", "moved", 0, None)),
        ("Successfully started reassignment of partitions.", ("started", None, None, None)),
        ("Successfully cancelled partition reassignment for: moved-0", ("cancelled", "moved", 0, None)),
        ("moved-1: replicas: 1,2. adding: 2. removing: 1.", ("in-progress", "moved", 1, None)),
        ("Error reassigning partition(s):\nmoved-1: The target broker is not online.", ("failed", "moved", 1, None)),
    ],
)
def test_what_the_reassignment_tool_says(line: str, expected: tuple[Any, ...]) -> None:
    assert facts(line.encode() + b"\n", "reason", "topic", "partition", "broker") == [expected]


def test_the_list_of_running_reassignments() -> None:
    shown = facts(
        b"Current partition reassignments:\nmoved-1: replicas: 1,2. adding: 2.\n", "replicas", "adding_replicas", "removing_replicas"
    )
    assert shown == [([1, 2], [2], [])]
    assert facts(b"No partition reassignments found.\n") == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Successfully completed leader election (UNCLEAN) for partitions moved-1, a-b-0",
         [("UNCLEAN", "completed", "moved", 1), ("UNCLEAN", "completed", "a-b", 0)]),
        ("Successfully completed preferred replica election for partitions moved-1", [("PREFERRED", "completed", "moved", 1)]),
        ("Successfully started preferred replica election for partitions Set([moved,1], [a-b,0])",
         [("PREFERRED", "started", "moved", 1), ("PREFERRED", "started", "a-b", 0)]),
        ("Valid replica already elected for partitions moved-1", [(None, "not-needed", "moved", 1)]),
        ("Valid replica already elected for partitions ", []),
        ("Error completing leader election (PREFERRED) for partition: nope-0: org.apache.kafka.common.errors.UnknownTopic: x",
         [("PREFERRED", "failed", "nope", 0)]),
        ("Skipping preferred replica leader election for partition [nope,0] since it doesn't exist.", [("PREFERRED", "skipped", "nope", 0)]),
    ],
)  # fmt: skip
def test_elections(line: str, expected: list[tuple[Any, ...]]) -> None:
    assert facts(line.encode() + b"\n", "reason", "value", "topic", "partition") == expected


def test_log_dirs() -> None:
    names = ("event", "broker", "directory", "topic", "partition", "bytes", "count", "reason", "value")
    assert facts(LOG_DIRS, *names) == [
        ("log-dir-reported", 1, "/data2", None, None, None, None, None, None),
        ("replica-size", 1, "/data2", "moved", 1, 4096, 7, None, None),
        ("replica-size", 1, "/data2", "a-b", 1, 0, 0, "future", None),
        ("log-dir-reported", 1, "/data", None, None, None, None, None, "org.apache.kafka.common.errors.KafkaStorageException"),
    ]


def test_the_quorum() -> None:
    names = ("event", "leader", "controller_epoch", "high_watermark", "brokers", "value")
    assert facts(STATUS_3_9, *names) == [("quorum-state", 100, 1, 123, [100], "S5AjtMJLTva4x39Tsx9RyQ")]
    before = STATUS_3_9.replace(b'[{"id": 100, "directoryId": null, "endpoints": ["CONTROLLER://127.0.0.1:43431"]}]', b"[100,101]")
    assert facts(before, "brokers") == [([100, 101],)]


def test_replicas_of_the_quorum() -> None:
    names = ("event", "broker", "directory", "log_end_offset", "count", "reason", "replica_offsets")
    assert facts(REPLICATION_3_9, *names)[1] == (
        "quorum-replica",
        2,
        "HT-jThfy2sGJ-sA1jlaoOQ",
        120,
        4,
        "observer",
        [{"broker": 2, "log_end_offset": 120, "last_caught_up_ms": 1795247020606}],
    )
    shown = [{"broker": 1, "log_end_offset": 116, "last_caught_up_ms": None}]
    assert facts(REPLICATION_3_3, *names) == [("quorum-replica", 1, None, 116, 1, "follower", shown)]
    assert facts(REPLICATION_3_9.replace(b"\t", b"   "), *names) == facts(REPLICATION_3_9, *names)


def test_settings_since_1_1() -> None:
    assert facts(CONFIGS_3_9, "topic", "broker", "key", "value", "reason") == [
        ("moved", None, None, "", "DYNAMIC_TOPIC_CONFIG"),
        ("orders", None, "min.insync.replicas", "2", "DYNAMIC_TOPIC_CONFIG"),
        ("orders", None, "cleanup.policy", "compact,delete", "DYNAMIC_TOPIC_CONFIG"),
        ("orders", None, None, "min.insync.replicas,cleanup.policy", "DYNAMIC_TOPIC_CONFIG"),
        (None, 1, "listener.name.x.ssl.keystore.password", "[hidden]", "DYNAMIC_BROKER_CONFIG"),
        (None, 1, None, "listener.name.x.ssl.keystore.password", "DYNAMIC_BROKER_CONFIG"),
        (None, None, "min.insync.replicas", "1", "DYNAMIC_DEFAULT_BROKER_CONFIG"),
        (None, None, None, "min.insync.replicas", "DYNAMIC_DEFAULT_BROKER_CONFIG"),
    ]


def test_all_settings_name_their_source_and_make_no_full_list() -> None:
    content = b"""All configs for topic orders are:
  cleanup.policy=delete sensitive=false synonyms={DEFAULT_CONFIG:log.cleanup.policy=delete}
  min.insync.replicas=2 sensitive=false synonyms={STATIC_BROKER_CONFIG:min.insync.replicas=2, DEFAULT_CONFIG:min.insync.replicas=1}
  flush.ms=9223372036854775807 sensitive=false synonyms={}
"""
    assert facts(content, "key", "value", "reason") == [
        ("cleanup.policy", "delete", "DEFAULT_CONFIG"),
        ("min.insync.replicas", "2", "STATIC_BROKER_CONFIG"),
        ("flush.ms", "9223372036854775807", "DEFAULT_CONFIG"),
    ]


@pytest.mark.parametrize(
    ("line", "topic", "broker"),
    [
        (b"Configs for topic 'orders' are cleanup.policy=compact,delete,retention.ms=1\n", "orders", None),
        (b"Configs for topics:orders are cleanup.policy=compact,delete,retention.ms=1\n", "orders", None),
        (b"Configs for broker '1' are cleanup.policy=compact,delete,retention.ms=1\n", None, 1),
        (b"Configs for default broker are cleanup.policy=compact,delete,retention.ms=1\n", None, None),
    ],
)
def test_settings_through_zookeeper(line: bytes, topic: str | None, broker: int | None) -> None:
    assert facts(line, "topic", "broker", "key", "value") == [
        (topic, broker, "cleanup.policy", "compact,delete"),
        (topic, broker, "retention.ms", "1"),
        (topic, broker, None, "cleanup.policy,retention.ms"),
    ]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("get-offsets.txt", (None, None, None)),
        ("offsets-latest.txt", ("latest", 233, None)),
        ("end-offsets.txt", ("latest", 233, None)),
        ("offsets_earliest.txt", ("earliest", None, 233)),
        ("legend.txt", (None, None, None)),
    ],
)
def test_offsets(path: str, expected: tuple[Any, ...]) -> None:
    shown = facts(b"a-b:1:233\nt:0:\n", "topic", "partition", "offset", "reason", "high_watermark", "log_start_offset", path=path)
    assert shown == [("a-b", 1, 233, *expected)]


def test_features_and_the_cluster_id() -> None:
    assert facts(FEATURES_4_3, "key", "value") == [("metadata.version", "4.3-IV0")]
    assert facts(b"Cluster ID: S5AjtMJLTva4x39Tsx9RyQ\n", "key", "value") == [("cluster.id", "S5AjtMJLTva4x39Tsx9RyQ")]


def test_several_tools_in_one_file() -> None:
    content = (
        b"$ kafka-configs\n"
        + CONFIGS_3_9
        + b"$ kafka-metadata-quorum\n"
        + STATUS_3_9
        + REPLICATION_3_9
        + b"$ x\n"
        + LOG_DIRS
        + FEATURES_4_3
    )
    assert len(facts(content)) == len(facts(CONFIGS_3_9)) + 1 + 2 + 4 + 1


@pytest.mark.parametrize(
    "content",
    [
        LOG_DIRS[:-40],
        LOG_DIRS.replace(b"4096", b"99999999999999999999"),
        b'{"brokers":[{"broker":1}]}',
        STATUS_3_9.replace(b"123", b"much"),
        b"Reassignment of partition t-99999999999 failed\n",
        b"Reassignment of replica t-0-99999999999 failed\n",
        b"t:2147483648:1\n",
        b'Failed to reassign partitions {"partitions":3}\n',
    ],
)
def test_what_is_broken_is_a_problem(content: bytes) -> None:
    _, problems = read_all(content)
    assert {p["reason"] for p in problems} == {"tool-output-malformed"}


def test_many_problems_are_counted() -> None:
    _, problems = read_all(b"t:2147483648:1\n" * 100)
    assert len(problems) == MAX_PROBLEMS + 1


def test_a_member_is_told_where_its_host_is_not() -> None:
    """The heading is damaged: found by the fuzzer."""
    table = b"GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOS\xff CLIENT-ID\ng t 0 5 7 2 app-1 /h app\n"
    assert facts(table, "event", "value", "offset", "key", "host") == [
        ("group-commit", "g", 5, None, None),
        ("group-member", "g", None, "app", None),
    ]


LINES = [
    *(EXECUTE_3_9 + STATUS_3_9 + REPLICATION_3_9 + CONFIGS_3_9 + LOG_DIRS + FEATURES_4_3).splitlines(True),
    b"t:0:1\n",
    b"{",
    b"\xff",
    b"\n",
]


@settings(max_examples=150)
@given(st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(LINES), max_size=12).map(b"".join)), st.integers(0, 40))
def test_any_bytes_become_rows_or_problems(content: bytes, cut: int) -> None:
    read_all(content[: len(content) - cut])
