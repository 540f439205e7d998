"""kafka-topics --describe in the forms of all versions, with noise around it."""

from __future__ import annotations

import io
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.formats.describe import read
from parsers.formats.problems import MAX_PROBLEMS
from parsers.kinds import KINDS
from parsers.schemas import Member, Row
from tests.fuzzing.contract import kept

TIME = datetime(2026, 11, 21, 2, 25, 42)
OLD = (
    b"Topic:orders\tPartitionCount:2\tReplicationFactor:3\tConfigs:min.insync.replicas=1,unclean.leader.election.enable=true\n"
    b"\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 2,1,3\tIsr: 1,3,2\n"
    b"\tTopic: orders\tPartition: 1\tLeader: none\tReplicas: 3,2,1\tIsr: 3\tMarkedForDeletion: true\n"
)
NEW = (
    b"Topic: clicks\tTopicId: 6Tjk54FSTMK4XDIimEZmUg\tPartitionCount: 1\tReplicationFactor: 3\t"
    b"Configs: min.insync.replicas=1,segment.bytes=262144\n"
    b"\tTopic: clicks\tPartition: 0\tLeader: 3\tReplicas: 2,3,1\tIsr: 3,1,2\tElr: \tLastKnownElr: \n"
)
MOVING = (
    b"\tTopic: profile\tPartition: 0\tLeader: 4\tReplicas: 1,2,3,4\tIsr: 4,2,3\t"
    b"Adding Replicas: 1\tRemoving Replicas: 4\tElr: 2\tLastKnownElr: N/A\n"
)


def rows(content: bytes, path: str = "cluster/topics-describe-end.txt") -> tuple[list[Row], list[Row]]:
    found = list(read(io.BytesIO(content), Member(path, len(content), TIME)))
    assert {row["event"] for row in found} <= set(KINDS)
    return [row for row in found if row["event"] != "problem"], [row for row in found if row["event"] == "problem"]


def brief(facts: list[Row]) -> list[tuple[object, ...]]:
    names = {"describe-topic": ("topic", "topic_id", "count"), "config": ("topic", "key", "value")}
    partition = ("topic", "partition", "leader", "replicas", "isr", "adding_replicas", "removing_replicas", "eligible")
    return [(f["event"], *(f.get(name) for name in names.get(f["event"], partition))) for f in facts]


def test_the_old_form() -> None:
    facts, problems = rows(OLD)
    assert problems == []
    assert brief(facts) == [
        ("describe-topic", "orders", None, 2),
        ("config", "orders", "min.insync.replicas", "1"),
        ("config", "orders", "unclean.leader.election.enable", "true"),
        ("describe-partition", "orders", 0, 1, [2, 1, 3], [1, 3, 2], None, None, None),
        ("describe-partition", "orders", 1, -1, [3, 2, 1], [3], None, None, None),
    ]
    assert {(f["time"], f["clock"], f["reason"]) for f in facts} == {(TIME, "mtime", "topics-describe-end")}
    assert [(f["line"], f["byte"]) for f in facts[-2:]] == [(2, OLD.index(b"\tTopic")), (3, OLD.rindex(b"\tTopic"))]


def test_the_new_form() -> None:
    facts, problems = rows(NEW)
    assert problems == []
    assert brief(facts) == [
        ("describe-topic", "clicks", "6Tjk54FSTMK4XDIimEZmUg", 1),
        ("config", "clicks", "min.insync.replicas", "1"),
        ("config", "clicks", "segment.bytes", "262144"),
        ("describe-partition", "clicks", 0, 3, [2, 3, 1], [3, 1, 2], None, None, []),
    ]


def test_a_partition_in_reassignment() -> None:
    facts, problems = rows(MOVING)
    assert problems == []
    assert brief(facts) == [("describe-partition", "profile", 0, 4, [1, 2, 3, 4], [4, 2, 3], [1], [4], [2])]


@pytest.mark.parametrize("content", [OLD, NEW, MOVING])
def test_tabs_may_have_become_blanks(content: bytes) -> None:
    facts, problems = rows(content.replace(b"\t", b"    "))
    assert problems == []
    assert brief(facts) == brief(rows(content)[0])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_output_redirected_on_windows(encoding: str) -> None:
    facts, problems = rows(NEW.decode().replace("\n", "\r\n").encode(encoding))
    assert problems == []
    assert brief(facts) == brief(rows(NEW)[0])


def test_noise_is_passed_over() -> None:
    noise = b"\n\nOpenJDK 64-Bit Server VM warning: x\n$ kafka-topics.sh --describe --under-replicated-partitions\n"
    facts, problems = rows(noise + MOVING + noise + NEW)
    assert problems == []
    assert brief(facts) == brief(rows(MOVING + NEW)[0])
    assert facts[0]["line"] == 5
    assert facts[0]["byte"] == len(noise)


def test_values_with_commas_stay_whole() -> None:
    configs = b"cleanup.policy=compact,delete,leader.replication.throttled.replicas=0:1,1:2"
    line = b"Topic: t\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: " + configs + b"\n"
    assert brief(rows(line)[0])[1:] == [
        ("config", "t", "cleanup.policy", "compact,delete"),
        ("config", "t", "leader.replication.throttled.replicas", "0:1,1:2"),
    ]


def test_labels_of_other_distributions_are_passed_over() -> None:
    line = b"\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1\tOffline: 2\tObservers: 3\n"
    expected = [("describe-partition", "t", 0, 1, [1, 2], [1], None, None, None)]
    assert brief(rows(line)[0]) == expected
    assert brief(rows(line.replace(b"\t", b" "))[0]) == expected


@pytest.mark.parametrize(
    "line",
    [
        b"\tTopic: t\tPartition: x\tLeader: 1\tReplicas: 1\tIsr: 1\n",
        b"\tTopic: t\tPartition: 2147483648\tLeader: 1\tReplicas: 1\tIsr: 1\n",
        b"\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,x\tIsr: 1\n",
        b"\tTopic: t\tPartition: 0\tLeader: 1\n",
        b"Topic: t\tPartitionCount: many\tReplicationFactor: 1\tConfigs: \n",
        b"Topic: \xff\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n",
    ],
)
def test_a_broken_line_is_a_problem_and_the_rest_comes(line: bytes) -> None:
    facts, problems = rows(line + MOVING)
    assert brief(facts) == brief(rows(MOVING)[0])
    assert [(p["reason"], p["line"]) for p in problems] == [("describe-malformed", 1)]


def test_many_problems_are_counted() -> None:
    _, problems = rows(b"Topic: t\tPartition: x\n" * 100)
    assert len(problems) == MAX_PROBLEMS + 1


@pytest.mark.parametrize(("path", "stem"), [("a/before.txt", "before"), ("b.log.gz", "b"), ("c", "c"), ("t.2024.out", "t.2024")])
def test_the_reason_is_the_stem_of_the_file(path: str, stem: str) -> None:
    assert {fact["reason"] for fact in rows(MOVING, path)[0]} == {stem}


PIECES = [
    b"Topic: t",
    b"Topic:",
    b"\t",
    b"  ",
    b"Partition: ",
    b"PartitionCount: ",
    b"Leader: ",
    b"Replicas: ",
    b"Isr: ",
    b"1",
    b",",
    b"none",
    b"\n",
    b"Configs: a=",
]


@settings(max_examples=150)
@given(st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(PIECES)).map(b"".join)))
def test_any_bytes_become_rows_or_problems(content: bytes) -> None:
    facts, problems = rows(content)
    kept(facts + problems)
