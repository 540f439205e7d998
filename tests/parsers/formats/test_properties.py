"""The files that name things: Java properties in all their syntax, identities, settings without their secrets."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import settings as checks
from hypothesis import strategies as st

from parsers.formats.properties import (
    read_clean_shutdown,
    read_meta_properties,
    read_partition_metadata,
    read_quorum_state,
    read_server_properties,
    settings,
)
from parsers.kinds import KINDS
from parsers.limits import Limits
from parsers.masking import HIDDEN, masked
from parsers.schemas import Member, Row
from tests.fuzzing.contract import kept

TIME = datetime(2026, 11, 21, 1, 58, 32)
META = b"#\n#Sat Nov 21 01:58:32 UTC 2026\nnode.id=1\ndirectory.id=XYGwLlXrp-O7TmMGtIXB-w\nversion=1\ncluster.id=oPeJfyBuTgms-rYWFCdskg\n"
QUORUM = (
    b'{"clusterId":"","leaderId":100,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,"currentVoters":[{"voterId":100}],"data_version":0}'
)
QUORUM_1 = b'{"leaderId":-1,"leaderEpoch":2,"votedId":1,"votedDirectoryId":"XYGwLlXrp-O7TmMGtIXB-w","data_version":1}'
Reader = Callable[[BinaryIO, Member], Iterator[Row]]
READERS: list[Reader] = [read_meta_properties, read_server_properties, read_partition_metadata, read_clean_shutdown, read_quorum_state]


def rows(reader: Reader, content: bytes, path: str = "broker-1/data/x") -> tuple[list[Row], list[Row]]:
    found = list(reader(io.BytesIO(content), Member(path, len(content), TIME)))
    assert {row["event"] for row in found} <= set(KINDS)
    return [row for row in found if row["event"] != "problem"], [row for row in found if row["event"] == "problem"]


def pairs(content: bytes) -> list[tuple[str, str]]:
    out = []
    for setting in settings(io.BytesIO(content)):
        assert not isinstance(setting, dict)
        out.append(setting[2:])
    return out


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a=1\nb:2\nc 3\nd\t=\t4\n  e = 5", [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"), ("e", "5")]),
        (b"# x=1\n  ! y=2\n\n   \nz=3 # no comment\n", [("z", "3 # no comment")]),
        (b"a=1,\\\n   2,\\\r\n\t3\nb=4", [("a", "1,2,3"), ("b", "4")]),
        (b"a=1\\\\\nb=2", [("a", "1\\"), ("b", "2")]),
        (b"a=1\\\n# still a\n", [("a", "1# still a")]),
        (b"a=1\\", [("a", "1")]),
        (b"a\\=b\\:c\\ d=1", [("a=b:c d", "1")]),
        (b"a=C\\:\\\\logs\\tx\\n\\u00e9\\q", [("a", "C:\\logs\tx\n\u00e9q")]),
        (b"a=\\ud83d\\ude00", [("a", "\U0001f600")]),
        (b"a==1", [("a", "=1")]),
        (b"a\nb=\n=c", [("a", ""), ("b", ""), ("", "c")]),
        (b"a=1\rb=2\r", [("a", "1"), ("b", "2")]),
        (b"a=\xe9", [("a", "\u00e9")]),
    ],
)
def test_properties_as_java_reads_them(content: bytes, expected: list[tuple[str, str]]) -> None:
    assert pairs(content) == expected


def test_settings_know_their_place() -> None:
    assert list(settings(io.BytesIO(b"#\na=1\\\n 2\r\nb=3\n"))) == [(2, 2, "a", "12"), (4, 11, "b", "3")]


def test_a_broken_escape_is_a_problem_and_the_rest_comes() -> None:
    facts, problems = rows(read_server_properties, b"a=\\u12\nb=2\n")
    assert [(fact["key"], fact["value"]) for fact in facts] == [("b", "2")]
    assert [(p["reason"], p["line"]) for p in problems] == [("properties-corrupt", 1)]
    assert "Malformed \\uxxxx encoding" in problems[0]["text"]


def test_a_file_without_end_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.limits._in_force", Limits(properties=6))
    facts, problems = rows(read_server_properties, b"a=1\nb=2\nc=3\n")
    assert [fact["key"] for fact in facts] == ["a", "b"]
    assert [p["reason"] for p in problems] == ["properties-corrupt"]


def test_meta_properties_of_kraft() -> None:
    (fact,), problems = rows(read_meta_properties, META)
    assert problems == []
    assert fact["event"] == "log-directory-identity"
    assert (fact["node"], fact["value"], fact["directory"]) == (1, "oPeJfyBuTgms-rYWFCdskg", "XYGwLlXrp-O7TmMGtIXB-w")
    assert (fact["key"], fact["count"], fact["time"], fact["clock"]) == ("version", 1, TIME, "mtime")


def test_meta_properties_of_zookeeper() -> None:
    (fact,), problems = rows(read_meta_properties, b"#\n#Sat Nov 21 02:25:14 UTC 2026\nbroker.id=3\nversion=0\n")
    assert problems == []
    assert (fact["node"], fact["value"], fact["directory"], fact["count"]) == (3, None, None, 0)


@pytest.mark.parametrize(
    ("content", "facts", "problems"),
    [
        (b"", 0, 1),
        (b"version=0\n", 0, 1),
        (b"version=7\nbroker.id=1\n", 1, 1),
        (b"version=0\nbroker.id=99999999999\n", 0, 1),
        (b"version=0\nbroker.id=-1\ncluster.id=x\n", 1, 1),
        (b"version=1\ncluster.id=x\n", 1, 1),
        (bytes(100), 0, 1),
    ],
)
def test_damaged_meta_properties(content: bytes, facts: int, problems: int) -> None:
    found, wrong = rows(read_meta_properties, content)
    assert (len(found), len(wrong)) == (facts, problems)


def test_server_properties_carry_their_node() -> None:
    facts, problems = rows(read_server_properties, b"log.dirs=/a,/b\n# x\nnum.io.threads=8\nnode.id=4\nnum.io.threads=9\n")
    assert problems == []
    assert [(f["key"], f["value"], f["node"], f["line"]) for f in facts] == [
        ("log.dirs", "/a,/b", 4, 1),
        ("num.io.threads", "9", 4, 5),
        ("node.id", "4", 4, 4),
    ]
    assert facts[0]["text"] == "log.dirs=/a,/b"


@pytest.mark.parametrize(
    "line",
    [
        "ssl.keystore.password=hunter2",
        "listener.name.a.plain.sasl.jaas.config=x required username=u \\\n password=hunter2;",
        "password.encoder.secret: hunter2",
        "delegation.token.master.key hunter2",
        "ssl.keystore.key=hunter2",
        "metrics.api.key=hunter2",
        "my.credentials=hunter2",
        "proxy.url=http://user:hunter2@proxy:3128",
        "custom.options=user=a password = hunter2",
    ],
)
def test_no_secret_is_in_any_row(line: str) -> None:
    facts, _ = rows(read_server_properties, f"{line}\n".encode())
    assert [fact["value"] for fact in facts] == [HIDDEN]
    assert "hunter2" not in repr(facts)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ssl.keystore.location", "/etc/kafka/keystore.jks"),
        ("log.dirs", "/data"),
        ("listeners", "PLAINTEXT://127.0.0.1:53799"),
        ("delegation.token.max.lifetime.ms", "1"),
        ("ssl.keystore.password", ""),
    ],
)
def test_what_is_no_secret_stays(key: str, value: str) -> None:
    assert masked(key, value) == value


def test_partition_metadata() -> None:
    path = "broker-1/data/clicks-0/partition.metadata"
    (fact,), problems = rows(read_partition_metadata, b"version: 0\ntopic_id: 6Tjk54FSTMK4XDIimEZmUg", path)
    assert problems == []
    assert (fact["topic_id"], fact["topic"], fact["partition"]) == ("6Tjk54FSTMK4XDIimEZmUg", "clicks", 0)


@pytest.mark.parametrize(
    ("content", "facts", "said"),
    [
        (b"", 0, "Invalid topic ID"),
        (bytes(43), 0, "Invalid topic ID"),
        (b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", 0, "Invalid topic ID"),
        (b"version: 0\ntopic_id: short", 0, "Invalid topic ID"),
        (b"version: 1\ntopic_id: 6Tjk54FSTMK4XDIimEZmUg", 1, "Unrecognized version"),
    ],
)
def test_damaged_partition_metadata(content: bytes, facts: int, said: str) -> None:
    found, wrong = rows(read_partition_metadata, content)
    assert len(found) == facts
    assert any(said in p["text"] for p in wrong)


@pytest.mark.parametrize(
    ("content", "epoch", "problems"),
    [
        (b"", None, 0),
        (b'{"version":0,"brokerEpoch":37}', 37, 0),
        (b'{"version":0,"brokerEpoch":-1}', -1, 0),
        (b"\0\0", None, 1),
        (b"[]", None, 1),
    ],
)
def test_clean_shutdown_file(content: bytes, epoch: int | None, problems: int) -> None:
    (fact,), wrong = rows(read_clean_shutdown, content, "broker-1/data/.kafka_cleanshutdown")
    assert (fact["event"], fact.get("broker_epoch"), fact["directory"]) == ("clean-shutdown-file", epoch, "broker-1/data")
    assert len(wrong) == problems


@pytest.mark.parametrize(("content", "leader", "epoch", "voters"), [(QUORUM, 100, 1, [100]), (QUORUM_1, -1, 2, None)])
def test_quorum_state(content: bytes, leader: int, epoch: int, voters: list[int] | None) -> None:
    (fact,), problems = rows(read_quorum_state, content)
    assert problems == []
    assert (fact["leader"], fact["controller_epoch"], fact["brokers"]) == (leader, epoch, voters)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        bytes(50),
        b"[1]",
        b"{}",
        b'{"leaderId":true,"leaderEpoch":1}',
        b'{"leaderId":99999999999,"leaderEpoch":1}',
        b"[" * 100_000,
        QUORUM[:40],
    ],
)
def test_damaged_quorum_state(content: bytes) -> None:
    facts, problems = rows(read_quorum_state, content)
    assert facts == []
    assert [p["reason"] for p in problems] == ["quorum-state-corrupt"]


SNIPPETS = [
    b"version=",
    b"node.id=",
    b"broker.id=",
    b"cluster.id=",
    b"topic_id: ",
    b'{"leaderId":1,"leaderEpoch":',
    b"\\u",
    b"\\\n",
    b"=",
    b"1",
    b"-",
    b"\n",
]


@checks(max_examples=150)
@given(st.sampled_from(READERS), st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(SNIPPETS)).map(b"".join)))
def test_any_bytes_become_rows_or_problems(reader: Reader, content: bytes) -> None:
    facts, problems = rows(reader, content)
    kept(facts + problems)
