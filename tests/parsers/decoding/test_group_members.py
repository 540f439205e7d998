"""Members of groups of each protocol, by what was assigned to them; nothing else that clients wrote into those records is reported."""

from __future__ import annotations

import struct
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parsers.formats.test_group_offsets import key, rows, segment, text, value

SECRET = "s3cret"
TOPIC = uuid.UUID("12345678-1234-5678-1234-567812345678")


def compact(data: str | bytes | None) -> bytes:
    encoded = data.encode() if isinstance(data, str) else data
    return b"\0" if encoded is None else bytes([len(encoded) + 1]) + encoded


def members_of(*records: tuple[bytes | None, bytes | None]) -> list[tuple[object, ...]]:
    found = rows(segment((0, records)), "group-member")
    assert SECRET not in str(found)
    return [(r["value"], r["topic"] or r["topic_id"], r["partition"], r["key"], r["host"], r["reason"]) for r in found]


def classic(version: int, kind: str = "consumer") -> bytes:
    """A group of two members, after GroupMetadataValue; the second has nothing assigned yet."""
    flexible = version == 4

    def string(data: str) -> bytes:
        return compact(data) if flexible else text(data)

    def data(content: bytes) -> bytes:
        return compact(content) if flexible else struct.pack(">i", len(content)) + content

    def member(client: str, assignment: bytes) -> bytes:
        head = string(f"{client}-{SECRET}") + (string(SECRET) if version >= 3 else b"") + string(client) + string(f"/host-of-{client}")
        times = struct.pack(">i", 1) * (2 if version >= 1 else 1)
        return head + times + data(SECRET.encode()) + data(assignment) + (b"\0" if flexible else b"")

    assignment = struct.pack(">hi", 1, 1) + text("orders") + struct.pack(">iii", 2, 0, 3) + struct.pack(">i", 6) + SECRET.encode()
    members = [member("app-1", assignment), member("app-2", b"")]
    count = bytes([len(members) + 1]) if flexible else struct.pack(">i", len(members))
    state = struct.pack(">q", 1) if version >= 2 else b""
    head = struct.pack(">h", version) + string(kind) + struct.pack(">i", 7) + string("range") + string(SECRET)
    return head + state + count + b"".join(members) + (b"\0" if flexible else b"")


@pytest.mark.parametrize("version", range(5))
def test_members_of_the_classic_protocol(version: int) -> None:
    group = struct.pack(">h", 2) + text("billing")
    assert members_of((group, classic(version))) == [("billing", "orders", n, "app-1", "host-of-app-1", "classic") for n in (0, 3)]
    assert members_of((group, classic(version, "connect"))) == [] == members_of((group, None))


@pytest.mark.parametrize(("protocol", "kinds"), [("consumer", (5, 8)), ("share", (10, 14))])
def test_members_that_a_coordinator_assigns_partitions_to(protocol: str, kinds: tuple[int, int]) -> None:
    member, assigned = (struct.pack(">h", kind) + text("billing") + text("a-member-id") for kind in kinds)
    rack = compact(SECRET) * (2 if protocol == "consumer" else 1)
    who = struct.pack(">h", 0) + rack + compact("app") + compact("/10.0.0.5") + bytes([2]) + compact(SECRET)
    partitions = bytes([2]) + TOPIC.bytes + bytes([3]) + struct.pack(">ii", 0, 3) + b"\0"
    given_to = struct.pack(">hiib", 0, 4, 3, 1) + partitions + bytes([1, 0])
    topic_id = "EjRWeBI0VngSNFZ4EjRWeA"
    assert members_of((member, who), (assigned, given_to)) == [("billing", topic_id, n, "app", "10.0.0.5", protocol) for n in (0, 3)]
    assert members_of((assigned, given_to)) == [], "a member that nothing names"


def test_a_record_of_a_group_that_cannot_be_is_told_and_commits_beside_it_are_read() -> None:
    wrong = segment((0, [(struct.pack(">h", 2) + text("g"), struct.pack(">h", 9)), (key(), value(1, 42))]))
    assert len(rows(wrong, "problem")) == 1 and [r["offset"] for r in rows(wrong)] == [42]


@settings(max_examples=200)
@given(st.sampled_from([2, 5, 8, 10, 14]), st.binary(max_size=30), st.integers(0, 4), st.binary(max_size=60))
def test_any_records_give_rows(kind: int, rest: bytes, version: int, body: bytes) -> None:
    group = struct.pack(">h", kind) + text("g") + text("m")
    rows(segment((0, [(struct.pack(">h", kind) + rest, body), (group, struct.pack(">h", version) + body)])), "group-member")
