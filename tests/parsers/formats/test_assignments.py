"""Plans and znodes: the JSON Kafka's tools read and write, and what ZooKeeper's shell prints around it."""

from __future__ import annotations

import io
import json
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.formats.assignments import read_plan, read_znodes, znode_of
from parsers.formats.problems import MAX_PROBLEMS
from parsers.kinds import KINDS
from parsers.limits import Limits
from parsers.schemas import Member, Row
from tests.fuzzing.contract import kept

TIME = datetime(2026, 11, 21, 8)
PLAN = (
    b'{"version":1,"partitions":[{"topic":"moved","partition":0,"replicas":[2,1],"log_dirs":["any","/data2"]},\n'
    b'{"topic":"a-b.c","partition":7,"replicas":[3],"log_dirs":["any"]}]}'
)
STATE = b'{"controller_epoch":26,"leader":0,"version":1,"leader_epoch":2,"isr":[0,1]}'
# zookeeper-shell of 2.5.1 with `get -s`; 3.4's prints the stat without being asked
SHELL = (
    b"Connecting to 127.0.0.1:43047\n\nWATCHER::\n\nWatchedEvent state:SyncConnected type:None path:null\n"
    b'get /brokers/topics/orders/partitions/0/state\n{"controller_epoch":2,"leader":2,"version":1,"leader_epoch":2,"isr":[2]}\n'
    b"cZxid = 0x37\nctime = Sat Nov 21 07:44:12 UTC 2026\nmZxid = 0x97\nmtime = Sat Nov 21 07:44:49 UTC 2026\npZxid = 0x37\n"
    b"cversion = 0\ndataVersion = 2\naclVersion = 0\nephemeralOwner = 0x0\ndataLength = 72\nnumChildren = 0\n"
    b'[zk: localhost(CONNECTED) 0] get /brokers/topics/orders\n{"version":2,"partitions":{"1":[2,1],"0":[1,2]},'
    b'"adding_replicas":{"0":[2]},"removing_replicas":{}}\n'
    b"get /controller_epoch\n2\n"
)


def read(reader: Any, content: bytes, path: str) -> tuple[list[Row], list[Row]]:
    found = list(reader(io.BytesIO(content), Member(path, len(content), TIME)))
    assert {row["event"] for row in found} <= set(KINDS)
    kept(found)
    return [row for row in found if row["event"] != "problem"], [row for row in found if row["event"] == "problem"]


def of(row: Row, *names: str) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in names)


def test_a_plan_with_log_directories() -> None:
    facts, problems = read(read_plan, PLAN, "plan.json")
    assert problems == []
    assert [of(f, "event", "reason", "topic", "partition", "replicas", "directory") for f in facts] == [
        ("assignment", "plan", "moved", 0, [2, 1], "any,/data2"),
        ("assignment", "plan", "a-b.c", 7, [3], None),
    ]
    assert of(facts[0], "time", "clock", "line", "byte") == (TIME, "mtime", 1, 0)
    assert json.loads(facts[1]["text"])["replicas"] == [3]


def test_an_election() -> None:
    facts, problems = read(read_plan, b'{"partitions":[{"topic":"t","partition":0},{"topic":"t","partition":"1"}]}', "election.json")
    assert problems == []
    assert [of(f, "event", "topic", "partition") for f in facts] == [("election-plan", "t", 0), ("election-plan", "t", 1)]


@pytest.mark.parametrize(
    "content",
    [
        b'{"partitions":[{"topic":"t","partition":0,"replicas":[1]}',
        b'{"partitions":[{"topic":"t","partition":2147483648,"replicas":[1]}]}',
        b'{"partitions":[{"topic":"t","partition":0,"replicas":[99999999999]}]}',
        b'{"partitions":[{"topic":"t","partition":0,"replicas":[true]}]}',
        b'{"partitions":[{"topic":"../t","partition":0,"replicas":[1]}]}',
        b'{"partitions":[{"topic":"\\ud800","partition":0,"replicas":[1]}]}',
        b'{"partitions":[{"topic":"t","partition":0,"replicas":[1],"log_dirs":[3]}]}',
        b'{"partitions":{}}',
        b"[" * 100_000,
        b'{"partitions":[1' + b"0" * 5000 + b"]}",
    ],
)
def test_what_is_no_plan_is_a_problem(content: bytes) -> None:
    facts, problems = read(read_plan, content, "plan.json")
    assert facts == []
    assert {p["reason"] for p in problems} == {"assignments-malformed"}


def test_the_good_entries_of_a_plan_come_and_problems_are_counted() -> None:
    content = json.dumps({"partitions": [{"topic": "t", "partition": n if n % 2 else -1, "replicas": [1]} for n in range(200)]})
    facts, problems = read(read_plan, content.encode(), "plan.json")
    assert [f["partition"] for f in facts] == list(range(1, 200, 2))
    assert len(problems) == MAX_PROBLEMS + 1


def test_a_state_of_its_own_file() -> None:
    facts, problems = read(read_znodes, STATE, "zk/brokers/topics/orders/partitions/3/state")
    assert problems == []
    names = ("event", "reason", "topic", "partition", "leader", "leader_epoch", "partition_epoch", "isr", "controller_epoch", "recovering")
    assert [of(f, *names) for f in facts] == [("partition-state", "stored", "orders", 3, 0, 2, None, [0, 1], 26, None)]
    assert of(facts[0], "time", "clock", "text") == (TIME, "mtime", STATE.decode())


def test_leader_recovery_state_since_3_2() -> None:
    content = STATE.replace(b"[0,1]}", b'[0],"leader_recovery_state":1}')
    (fact,), _ = read(read_znodes, content, "topics/orders/partitions/3/state")
    assert fact["recovering"] is True


def test_what_the_shell_prints() -> None:
    facts, problems = read(read_znodes, SHELL, "zk.txt")
    assert problems == []
    state, one, zero, epoch = facts
    assert of(state, "event", "topic", "partition", "leader", "partition_epoch") == ("partition-state", "orders", 0, 2, 2)
    assert of(state, "time", "line", "byte") == (datetime(2026, 11, 21, 7, 44, 49), 7, SHELL.index(b'{"controller_epoch"'))
    assert of(one, "event", "reason", "partition", "replicas", "adding_replicas", "time") == ("assignment", "stored", 1, [2, 1], [], TIME)
    assert of(zero, "partition", "replicas", "adding_replicas", "removing_replicas") == (0, [1, 2], [2], [])
    assert of(epoch, "event", "controller_epoch", "controller") == ("controller-elected", 2, None)


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        (
            "zk/controller",
            b'{"version":1,"brokerid":2,"timestamp":"1795247089666"}',
            {"event": "controller-elected", "controller": 2, "time": datetime(2026, 11, 21, 7, 44, 49, 666000), "clock": "stamp"},
        ),
        (
            "brokers_ids_2.txt",
            b'{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"endpoints":["PLAINTEXT://127.0.0.1:35127"],"jmx_port":-1,'
            b'"host":"127.0.0.1","timestamp":"1795247052135","port":35127,"version":4}',
            {"event": "broker-registered", "broker": 2, "node": None, "clock": "stamp"},
        ),
        (
            "brokers/topics/t",
            b'{"removing_replicas":{},"partitions":{"0":[1]},"topic_id":"6Tjk54FSTMK4XDIimEZmUg","adding_replicas":{},"version":3}',
            {"event": "assignment", "topic": "t", "partition": 0, "topic_id": "6Tjk54FSTMK4XDIimEZmUg"},
        ),
        (
            "config_brokers_<default>.txt",
            b'{"version":1,"config":{"min.insync.replicas":"1"}}',
            {"event": "config", "key": "min.insync.replicas", "value": "1", "broker": None, "reason": "DYNAMIC_DEFAULT_BROKER_CONFIG"},
        ),
        (
            "config/brokers/1",
            b'{"version":1,"config":{"listener.name.x.ssl.keystore.password":"s3cret"}}',
            {"event": "config", "broker": 1, "value": "(hidden)", "reason": "DYNAMIC_BROKER_CONFIG"},
        ),
        ("config/topics/t", b'{"version":1,"config":{}}', {"event": "config", "topic": "t", "key": None, "value": "", "count": 0}),
        (
            "isr_change_notification/isr_change_0000000004",
            b'{"version":1,"partitions":[{"topic":"t","partition":3}]}',
            {"event": "isr-change-notified", "topic": "t", "partition": 3},
        ),
        (
            "admin/reassign_partitions",
            b'{"version":1,"partitions":[{"topic":"t","partition":3,"replicas":[1,2]}]}',
            {"event": "assignment", "reason": "plan", "partition": 3},
        ),
        ("admin_preferred_replica_election", b'{"version":1,"partitions":[{"topic":"t","partition":3}]}', {"event": "election-plan"}),
        ("cluster/id", b'{"version":"1","id":"pY4O1sGBRLurwR2hn2Grjg"}', {"key": "cluster.id", "value": "pY4O1sGBRLurwR2hn2Grjg"}),
        (
            "log_dir_event_notification/x",
            b'{"version":1,"broker":1,"event":1}',
            {"event": "log-dir-reported", "broker": 1, "value": "failed"},
        ),
    ],
)
def test_znodes(path: str, content: bytes, expected: dict[str, Any]) -> None:
    facts, problems = read(read_znodes, content, path)
    assert problems == []
    assert expected in [{name: f.get(name) for name in expected} for f in facts]


def test_a_dump_with_the_path_before_the_value() -> None:
    facts, problems = read(read_znodes, b"/brokers/topics/t/partitions/5/state = " + STATE + b"\n/consumers/g\n", "dump.txt")
    assert problems == []
    assert [of(f, "topic", "partition", "leader") for f in facts] == [("t", 5, 0)]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("zk.txt", STATE),
        ("brokers/topics/t/partitions/0/state", STATE.replace(b'"leader":0', b'"leader":99999999999')),
        ("brokers/topics/t/partitions/0/state", STATE[:-3]),
        ("brokers/topics/t", b'{"partitions":{"x":[1]}}'),
        ("config/topics/t", b'{"config":{"a":1}}'),
        ("controller_epoch", b"99999999999"),
    ],
)
def test_a_broken_znode_is_a_problem(path: str, content: bytes) -> None:
    facts, problems = read(read_znodes, content, path)
    assert facts == []
    assert {p["reason"] for p in problems} == {"znode-malformed"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/brokers/topics/a_b.c/partitions/0/state", ("state", "a_b.c", "0")),
        ("brokers_topics_a_b.c_partitions_10_state.json", ("state", "a_b.c", "10")),
        ("dump/orders/partitions/1/state", ("state", "orders", "1")),
        ("/brokers/topics/orders", ("topic", "orders", None)),
        ("/config/topics/orders", ("config", "orders", None)),
        ("/controller_epoch", ("epoch", None, None)),
        ("server.log", None),
    ],
)
def test_paths(path: str, expected: tuple[str, str | None, str | None] | None) -> None:
    found = znode_of(path)
    assert (found and (found[0], found[1].get("topic"), found[1].get("partition"))) == expected


def test_a_file_beyond_the_limit_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.limits._in_force", Limits(document=len(PLAN)))
    facts, problems = read(read_plan, PLAN + b"\n" + PLAN, "plan.json")
    assert len(facts) == 2
    assert [p["reason"] for p in problems] == ["too-large"]


PIECES = [
    b'{"',
    b'"',
    b":",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b"1",
    b"\n",
    b'"partitions"',
    b'"topic"',
    b'"t"',
    b'"replicas"',
    STATE,
    b"/brokers/topics/t",
]
PATHS = st.sampled_from(["plan.json", "brokers/topics/t/partitions/0/state", "config/brokers/1", "brokers/topics/t", "controller_epoch"])


@settings(max_examples=150)
@given(st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join)), PATHS)
def test_any_bytes_become_rows_or_problems(content: bytes, path: str) -> None:
    read(read_plan, content, path)
    read(read_znodes, content, path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["t", "any"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["partitions", "topic", "replicas", "leader", "isr", "config", "brokerid", "host", "port"]), inner
        )
    ),
    max_leaves=12,
)


@settings(max_examples=150)
@given(JSON, PATHS)
def test_any_json_becomes_rows_or_problems(value: Any, path: str) -> None:
    read(read_plan, json.dumps(value).encode(), path)
    read(read_znodes, json.dumps(value).encode(), path)
