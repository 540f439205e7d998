"""KRaft metadata records, on a real cluster's log, on records encoded here, and on damage."""

from __future__ import annotations

import base64
import gzip
import io
import struct
from collections.abc import Iterable
from datetime import datetime

import google_crc32c
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.formats import metadata_log
from parsers.formats.metadata_log import read_metadata
from parsers.kinds import KINDS
from parsers.masking import HIDDEN
from parsers.schemas import Member, Row
from tests.fuzzing.contract import kept
from tests.support.paths import ROOT

BINARY = ROOT / "fixtures" / "files" / "binary"
UNCLEAN = (BINARY / "metadata-unclean-election-3.9.1.log").read_bytes()
BOOTSTRAP = (BINARY / "bootstrap-3.9.1.checkpoint").read_bytes()
LOG = Member("controller-100/data/__cluster_metadata-0/00000000000000000000.log", None, None)
ORDERS, LEDGER = "MlpAEC9lTCOuG5EVp6OGOg", "mOTEwEzRSu2FTtSmOLhOmg"
DIRECTORY = "JTZc_vd7imvAPSRh-mVNUg"
INT32 = st.integers(-(2**31), 2**31 - 1)
CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}


def unsigned(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def zigzag(value: int) -> bytes:
    return unsigned(value << 1 if value >= 0 else (-value << 1) - 1)


def text(value: str | None) -> bytes:
    return b"\0" if value is None else unsigned(len(value.encode()) + 1) + value.encode()


def ids(values: Iterable[int] | None) -> bytes:
    return b"\0" if values is None else unsigned(len(list(values)) + 1) + b"".join(struct.pack(">i", v) for v in values)


def uuid(value: str) -> bytes:
    return base64.urlsafe_b64decode(value + "==")


def uuids(values: list[str]) -> bytes:
    return unsigned(len(values) + 1) + b"".join(map(uuid, values))


def tagged(fields: dict[int, bytes] | None = None) -> bytes:
    fields = fields or {}
    return unsigned(len(fields)) + b"".join(unsigned(t) + unsigned(len(f)) + f for t, f in sorted(fields.items()))


def message(api_key: int, version: int, *fields: bytes, frame: int = 1) -> bytes:
    return unsigned(frame) + unsigned(api_key) + unsigned(version) + b"".join(fields)


def record(delta: int, value: bytes | None, key: bytes | None = None, time: int = 0) -> bytes:
    def sized(data: bytes | None) -> bytes:
        return zigzag(-1) if data is None else zigzag(len(data)) + data

    body = b"\0" + zigzag(time) + zigzag(delta) + sized(key) + sized(value) + b"\0"
    return zigzag(len(body)) + body


def batch(base: int, payload: bytes, count: int, *, epoch: int = 7, attributes: int = 0, time: int = 1_700_000_000_000) -> bytes:
    body = struct.pack(">hiqqqhii", attributes, count - 1, time, time, -1, -1, -1, count) + payload
    return struct.pack(">qiibI", base, 9 + len(body), epoch, 2, google_crc32c.value(body)) + body


def log(*values: bytes, base: int = 100) -> bytes:
    return batch(base, b"".join(record(n, value) for n, value in enumerate(values)), len(values))


def rows(data: bytes, member: Member = LOG, *, snapshot: bool = False) -> list[Row]:
    """The rows of the records themselves."""
    return [row for row in every_row(data, member, snapshot=snapshot) if row["event"] != "metadata-written"]


def every_row(data: bytes, member: Member = LOG, *, snapshot: bool = False) -> list[Row]:
    result = list(read_metadata(io.BytesIO(data), member, snapshot=snapshot))
    kept(result)
    assert all(row["event"] in KINDS for row in result)
    return result


def kinds(result: list[Row]) -> list[str]:
    return [row["event"] for row in result]


TOPIC = message(2, 0, text("orders"), uuid(ORDERS), tagged())
NO_OP = message(20, 0, tagged())


def change(partition: int = 0, /, **tags: bytes) -> bytes:
    return message(5, 0, struct.pack(">i", partition), uuid(ORDERS), tagged({int(tag[1:]): field for tag, field in tags.items()}))


def partition(index: int = 0, tags: dict[int, bytes] | None = None, version: int = 0, directories: bytes = b"") -> bytes:
    numbers = struct.pack(">iii", 3, 4, 9)
    arrays = ids([3, 2, 1]) + ids([3]) + ids([]) + ids([4])
    return message(3, version, struct.pack(">i", index), uuid(ORDERS), arrays, numbers, directories, tagged(tags))


# the log of a real cluster; what its controller.log says of the same moments is in the comments


def test_real_log_is_read_whole() -> None:
    result = rows(UNCLEAN)
    assert "problem" not in kinds(result)
    offsets = [row["metadata_offset"] for row in result]
    assert offsets == sorted(set(offsets))
    assert {(row["pattern"], row["clock"], row["controller_epoch"]) for row in result} == {("metadata-record", "batch", 1)}
    assert kinds(result)[0] == "metadata-leader" and result[0]["controller"] == 100 and result[0]["brokers"] == [100]


def test_real_topic_and_partition() -> None:
    # Replayed TopicRecord for topic orders with topic ID MlpAEC9lTCOuG5EVp6OGOg.
    topic = next(row for row in rows(UNCLEAN) if row["event"] == "metadata-topic")
    assert (topic["topic"], topic["topic_id"], topic["metadata_offset"]) == ("orders", ORDERS, 35)
    # 2026-11-21 01:55:09,029 Replayed PartitionRecord for new partition orders-1 ... replicas=[2, 3, 1] ... isr=[2, 3, 1] ... leader=2
    row = next(row for row in rows(UNCLEAN) if row["event"] == "metadata-partition" and row["partition"] == 1)
    assert (row["topic"], row["replicas"], row["isr"], row["leader"]) == ("orders", [2, 3, 1], [2, 3, 1], 2)
    assert (row["leader_epoch"], row["partition_epoch"], row["recovering"]) == (0, 0, False)
    assert (row["adding_replicas"], row["removing_replicas"]) == ([], [])
    assert row["time"] == datetime(2026, 11, 21, 1, 55, 9, 27000)
    assert f", {DIRECTORY}])" in row["text"]


@pytest.mark.parametrize(("index", "leader_epoch"), [(0, 2), (1, 3)])
def test_real_unclean_election(index: int, leader_epoch: int) -> None:
    # UNCLEAN partition change for orders-N: isr: [3] -> [1], leader: -1 -> 1, leaderRecoveryState: RECOVERED -> RECOVERING,
    # leaderEpoch: 1 -> 2 (orders-0) and 2 -> 3 (orders-1), partitionEpoch: 3 -> 4
    of = [r for r in rows(UNCLEAN) if r["event"] == "metadata-partition-change" and (r["topic"], r["partition"]) == ("orders", index)]
    at = next(n for n, row in enumerate(of) if row.get("recovering"))
    assert at + 1 == 4
    assert sum("leader" in row for row in of[: at + 1]) == leader_epoch
    assert (of[at - 1]["leader"], of[at]["leader"], of[at]["isr"]) == (-1, 1, [1])
    assert of[at]["text"] == f"PartitionChangeRecord(partitionId={index}, topicId={ORDERS}, isr=[1], leader=1, leaderRecoveryState=1)"
    assert of[at]["byte"] == 8811 and "replicas" not in of[at]
    assert of[at + 1]["recovering"] is False and "leader" not in of[at + 1]


def test_real_brokers_and_settings() -> None:
    result = rows(UNCLEAN)
    registered = next(row for row in result if row["event"] == "metadata-broker")
    assert (registered["broker"], registered["broker_epoch"], registered["reason"]) == (1, 16, "fenced")
    assert f"logDirs=[{DIRECTORY}]" in registered["text"]
    changes = [(row["broker"], row["reason"]) for row in result if row["event"] == "metadata-broker-change"]
    assert changes[:6] == [(1, "unfenced"), (2, "unfenced"), (3, "unfenced"), (1, "fenced"), (2, "fenced"), (3, "fenced")]
    settings_of = {(row["topic"], row["key"]): row["value"] for row in result if row["event"] == "metadata-config"}
    assert settings_of["orders", "unclean.leader.election.enable"] == "true"
    assert settings_of["ledger", "min.insync.replicas"] == "2"
    feature = next(row for row in result if row["event"] == "metadata-feature")
    assert (feature["key"], feature["count"]) == ("metadata.version", 21)


def test_real_bootstrap_checkpoint() -> None:
    (feature,) = rows(BOOTSTRAP, Member("data/bootstrap.checkpoint", None, None), snapshot=True)
    assert (feature["metadata_offset"], feature["reason"], feature["key"], feature["count"]) == (-1, "snapshot", "metadata.version", 21)


def test_snapshot_offset_is_of_its_name() -> None:
    member = Member("__cluster_metadata-0/00000000000000000500-0000000003.checkpoint.deleted", None, None)
    topic, broker = rows(log(TOPIC, message(8, 0, struct.pack(">iq", 2, 30), tagged()), base=0), member, snapshot=True)
    assert (topic["metadata_offset"], topic["reason"]) == (499, "snapshot")
    assert (broker["metadata_offset"], broker["reason"]) == (499, "unfenced")
    unnamed = rows(log(TOPIC), Member("x", None, None), snapshot=True)
    assert unnamed[0]["metadata_offset"] is None


# records of every kind and version


def test_offset_time_and_epoch_of_a_record() -> None:
    (row,) = rows(batch(40, record(2, TOPIC, time=1500), 1, epoch=12))
    assert (row["metadata_offset"], row["controller_epoch"], row["byte"]) == (42, 12, 0)
    assert row["time"] == datetime(2023, 11, 14, 22, 13, 21, 500000)


@pytest.mark.parametrize("version", [0, 1, 2])
def test_partition_of_every_version(version: int) -> None:
    directories = uuids([DIRECTORY]) if version else b""
    tags = {0: b"\1"} | ({1: ids([2]), 2: ids([1, 5])} if version == 2 else {})
    _, row = rows(log(TOPIC, partition(6, tags, version, directories)))
    assert (row["topic"], row["partition"], row["replicas"], row["isr"]) == ("orders", 6, [3, 2, 1], [3])
    assert (row["removing_replicas"], row["adding_replicas"], row["leader"]) == ([], [4], 3)
    assert (row["leader_epoch"], row["partition_epoch"], row["recovering"]) == (4, 9, True)
    assert row.get("eligible") == ([2] if version == 2 else None)
    assert (f"directories=[{DIRECTORY}]" in row["text"]) is bool(version)


def test_partition_change_tells_only_what_changed() -> None:
    tags = {"t0": ids([1]), "t2": ids([1, 2]), "t3": ids([2]), "t4": ids([]), "t5": b"\0", "t6": ids([2]), "t8": uuids([DIRECTORY])}
    nothing, null, full = rows(log(change(), change(t0=ids(None), t1=struct.pack(">i", -2), t5=b"\xff"), change(**tags)))
    for row in (nothing, null):
        assert not {"isr", "leader", "replicas", "removing_replicas", "adding_replicas", "recovering", "eligible", "topic"} & row.keys()
        assert row["text"] == f"PartitionChangeRecord(partitionId=0, topicId={ORDERS})"
    assert (full["isr"], full["replicas"], full["removing_replicas"], full["adding_replicas"]) == ([1], [1, 2], [2], [])
    assert (full["recovering"], full["eligible"]) == (False, [2])
    assert full["text"].endswith(f"leaderRecoveryState=0, directories=[{DIRECTORY}], eligibleLeaderReplicas=[2])")


def test_removed_topic_keeps_its_name() -> None:
    assert rows(log(TOPIC, message(9, 0, uuid(ORDERS), tagged())))[1]["topic"] == "orders"
    (unknown,) = rows(log(message(9, 0, uuid(ORDERS), tagged())))
    assert (unknown["event"], unknown["topic_id"], unknown.get("topic")) == ("metadata-topic-removed", ORDERS, None)


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4])
@pytest.mark.parametrize(("fenced", "stopping", "reason"), [(1, 0, "fenced"), (0, 0, "unfenced"), (0, 1, "shutdown")])
def test_register_broker_of_every_version(version: int, fenced: int, stopping: int, reason: str) -> None:
    end_points = unsigned(2) + text("PLAIN") + text("host") + struct.pack(">Hh", 50000, 0) + tagged()
    features = unsigned(2) + text("metadata.version") + struct.pack(">hh", 1, 21) + tagged()
    stop = bytes([stopping]) if version >= 1 else b""
    tags = ({0: uuids([DIRECTORY])} if version >= 3 else {}) | ({1: uuids([])} if version >= 4 else {})
    head = struct.pack(">i", 3) + (b"\0" if version >= 2 else b"") + uuid(DIRECTORY) + struct.pack(">q", 2**40)
    value = message(0, version, head, end_points, features, text("rack-a"), bytes([fenced]), stop, tagged(tags))
    (row,) = rows(log(value))
    assert (row["event"], row["broker"], row["broker_epoch"]) == ("metadata-broker", 3, 2**40)
    assert row["reason"] == (reason if version or not stopping else "unfenced")
    assert "PLAIN://host:50000" in row["text"] and "metadata.version: 1-21" in row["text"] and "rack='rack-a'" in row["text"]


@pytest.mark.parametrize(
    ("api_key", "tags", "reason"),
    [
        (1, {}, "unregistered"),
        (7, {}, "fenced"),
        (8, {}, "unfenced"),
        (17, {0: b"\1"}, "fenced"),
        (17, {0: b"\xff"}, "unfenced"),
        (17, {1: b"\1"}, "shutdown"),
        (17, {2: uuids([DIRECTORY])}, "registered"),
        (17, {3: uuids([DIRECTORY])}, "registered"),
    ],
)
def test_broker_changes(api_key: int, tags: dict[int, bytes], reason: str) -> None:
    (row,) = rows(log(message(api_key, 0, struct.pack(">iq", 5, 77), tagged(tags))))
    assert (row["event"], row["broker"], row["broker_epoch"], row["reason"]) == ("metadata-broker-change", 5, 77, reason)


def config(kind: int, name: str, key: str, value: str | None) -> list[Row]:
    return rows(log(message(4, 0, struct.pack(">b", kind), text(name), text(key), text(value), tagged())))


def test_settings_of_topics_brokers_and_the_cluster() -> None:
    (topic,) = config(2, "orders", "retention.ms", "5")
    assert (topic["topic"], topic.get("node"), topic["key"], topic["value"], topic.get("reason")) == (
        "orders",
        None,
        "retention.ms",
        "5",
        None,
    )
    (broker,) = config(4, "3", "log.retention.ms", "6")
    assert (broker.get("topic"), broker["node"], broker["value"]) == (None, 3, "6")
    (cluster,) = config(4, "", "min.insync.replicas", "2")
    assert (cluster.get("topic"), cluster.get("node"), cluster["value"]) == (None, None, "2")
    (deleted,) = config(2, "orders", "retention.ms", None)
    assert (deleted["value"], deleted["reason"]) == (None, "deleted")
    # a metrics subscription is no setting of the brokers and must not look like one
    assert config(16, "subscription", "interval.ms", "5") == []


@pytest.mark.parametrize("name", ["x", "-1", "99999999999", "2147483648", "٣"])
def test_a_broker_that_is_no_node(name: str) -> None:
    (row,) = config(4, name, "a", "b")
    assert (row["event"], row["reason"]) == ("problem", "metadata-record")


@pytest.mark.parametrize(
    "key",
    ["ssl.keystore.password", "listener.name.x.plain.sasl.jaas.config", "password.encoder.secret", "ssl.keystore.key"],
)
def test_secrets_are_masked(key: str) -> None:
    (row,) = config(4, "1", key, "hunter2")
    assert (row["key"], row["value"]) == (key, HIDDEN)
    assert "hunter2" not in repr(row)


@pytest.mark.parametrize("levels", [struct.pack(">h", 21), struct.pack(">hh", 1, 21)])
def test_feature_level_before_and_after_3_3(levels: bytes) -> None:
    (row,) = rows(log(message(12, 0, text("metadata.version"), levels, tagged())))
    assert (row["event"], row["key"], row["count"]) == ("metadata-feature", "metadata.version", 21)


@pytest.mark.parametrize("version", [0, 1])
def test_leader_change(version: int) -> None:
    def voters(*nodes: int) -> bytes:
        return unsigned(len(nodes) + 1) + b"".join(struct.pack(">i", n) + (uuid(DIRECTORY) if version else b"") + tagged() for n in nodes)

    value = struct.pack(">hi", version, 101) + voters(100, 101, 102) + voters(101, 102) + tagged()
    (row,) = rows(batch(9, record(0, value, key=struct.pack(">hh", 0, 2)), 1, epoch=4, attributes=32))
    assert (row["event"], row["controller"], row["controller_epoch"], row["brokers"]) == ("metadata-leader", 101, 4, [100, 101, 102])
    assert row["metadata_offset"] == 9


def test_other_control_records_tell_nothing() -> None:
    assert rows(batch(0, record(0, b"\0\0", key=struct.pack(">hh", 0, 3)), 1, attributes=32)) == []


def test_unknown_kinds_and_tags_are_passed_over() -> None:
    unknown = message(4711, 3, b"whatever")
    _, row = rows(log(TOPIC, unknown, NO_OP, change(t1=struct.pack(">i", 2), t99=b"new")))
    assert (row["metadata_offset"], row["leader"]) == (103, 2)


def test_newer_versions_are_read_where_they_add_only_tags() -> None:
    newer = message(5, 9, struct.pack(">i", 1), uuid(ORDERS), tagged({0: ids([1]), 30: b"?"}))
    (row,) = rows(log(newer))
    assert (row["event"], row["isr"]) == ("metadata-partition-change", [1])
    (unread,) = rows(log(message(2, 5, text("orders"), b"\7\7", uuid(ORDERS), tagged())))
    assert (unread["event"], unread["reason"], unread["metadata_offset"]) == ("problem", "metadata-version", 100)
    assert unread["text"] == "TopicRecord of version 5, newer than 0"


def test_preview_of_2_8_is_one_problem() -> None:
    old = message(2, 0, struct.pack(">h", 6) + b"orders" + uuid(ORDERS), frame=0)
    first, rest = rows(log(old, old, old) + log(old, base=103))
    assert (first["event"], first["reason"]) == ("problem", "metadata-frame")
    assert "preview of Kafka 2.8" in first["text"]
    assert (rest["event"], rest["text"].split()[0]) == ("problem", "3")


def test_append_time_and_times_that_are_none() -> None:
    (appended,) = rows(batch(0, record(0, TOPIC, time=50), 1, attributes=8, time=1000))
    assert appended["time"] == datetime(1970, 1, 1, 0, 0, 1)
    for time in (-1, 2**62):
        (row,) = rows(batch(0, record(0, TOPIC), 1, time=time))
        assert (row["time"], row["clock"]) == (None, None)


# transactions

BEGIN, END, ABORT = message(23, 0, tagged({0: text("x")})), message(24, 0, tagged()), message(25, 0, tagged())


def test_committed_transaction_over_batches() -> None:
    assert kinds(rows(log(BEGIN, TOPIC) + log(partition(), END, base=102))) == ["metadata-topic", "metadata-partition"]


def test_aborted_transaction_gives_nothing() -> None:
    assert kinds(rows(log(TOPIC, BEGIN, partition()) + log(partition(1), ABORT, change(), base=104))) == [
        "metadata-topic",
        "metadata-partition-change",
    ]


def test_transaction_that_leaves_the_file() -> None:
    read, topic = rows(log(BEGIN, TOPIC))
    assert (read["reason"], topic["event"]) == ("metadata-transaction", "metadata-topic")
    assert "begun at offset 100" in read["text"]
    topic, read = rows(log(TOPIC, ABORT))
    assert (topic["event"], read["reason"], read["metadata_offset"]) == ("metadata-topic", "metadata-transaction", 101)
    assert kinds(rows(log(TOPIC, END))) == ["metadata-topic"]


def test_transaction_too_long_to_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata_log, "MAX_HELD", 2)
    result = rows(log(BEGIN, TOPIC, partition(), partition(1), partition(2), ABORT))
    assert kinds(result) == ["problem", "metadata-topic", *["metadata-partition"] * 3, "problem"]


# compression and damage


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_compressed_batches(codec: str) -> None:
    payload = record(0, TOPIC) + record(1, partition())
    packed = gzip.compress(payload) if codec == "gzip" else zstandard.compress(payload)
    assert kinds(rows(batch(0, packed, 2, attributes=CODECS[codec]))) == ["metadata-topic", "metadata-partition"]
    (bad,) = rows(batch(0, b"\1\2\3" + packed, 2, attributes=CODECS[codec]))
    assert (bad["event"], bad["reason"]) == ("problem", "metadata-batch")


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_compression_bombs_are_refused(codec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata_log, "MAX_PAYLOAD", 1 << 16)
    packed = gzip.compress(bytes(10 << 20)) if codec == "gzip" else zstandard.compress(bytes(10 << 20))
    (row,) = rows(batch(0, packed, 1, attributes=CODECS[codec]))
    assert (row["event"], row["reason"]) == ("problem", "too-large")


def test_codec_nobody_knows() -> None:
    (row,) = rows(batch(0, b"x", 1, attributes=5))
    assert (row["event"], row["reason"]) == ("problem", "compression") and "unknown-5" in row["text"]


def test_flipped_bit_loses_one_batch_and_says_so() -> None:
    data = bytearray(log(TOPIC) + log(partition(), base=101) + log(change(), base=102))
    data[len(log(TOPIC)) + 70] ^= 1
    topic, stated, changed = rows(bytes(data))
    assert (topic["event"], changed["event"]) == ("metadata-topic", "metadata-partition-change")
    assert (stated["event"], stated["reason"], stated["byte"]) == ("problem", "crc", len(log(TOPIC)))


def test_truncated_real_log() -> None:
    whole = rows(UNCLEAN)
    cut = rows(UNCLEAN[:-10])
    assert cut[:-1] == whole[: len(cut) - 1]
    assert (cut[-1]["event"], cut[-1]["reason"]) == ("problem", "torn-tail")
    assert rows(UNCLEAN + bytes(4096)) == whole


def test_counts_that_lie() -> None:
    payload = record(0, TOPIC)
    assert kinds(rows(batch(0, payload, 2**31 - 1))) == ["metadata-topic", "problem"]
    assert kinds(rows(batch(0, payload, 0))) == ["problem"]
    huge = message(3, 0, struct.pack(">i", 0), uuid(ORDERS), unsigned(2**32 - 1))
    assert kinds(rows(log(huge))) == ["problem"]
    tags = message(5, 0, struct.pack(">i", 0), uuid(ORDERS), unsigned(2**31))
    assert kinds(rows(log(tags))) == ["problem"]


def test_offsets_out_of_range_are_problems() -> None:
    assert kinds(rows(batch(2**63 - 1, record(1, TOPIC), 1))) == ["problem"]


def test_garbage_behind_a_record_is_not_believed() -> None:
    (row,) = rows(log(TOPIC + b"\0"))
    assert (row["event"], row["reason"]) == ("problem", "metadata-record")
    assert row["text"] == "TopicRecord of version 0: bytes are left over"


def test_old_magic_in_a_metadata_log() -> None:
    (row,) = rows((BINARY / "v1-0.10.2.2.log").read_bytes(), LOG)[:1]
    assert (row["event"], row["reason"]) == ("problem", "magic")


def test_different_problems_are_bounded() -> None:
    result = rows(log(*(message(2, version, b"") for version in range(1, 500))))
    assert kinds(result) == ["problem"] * (metadata_log.MAX_PROBLEMS + 1)
    assert result[-1]["text"].startswith(str(499 - metadata_log.MAX_PROBLEMS))


@settings(max_examples=150)
@given(st.lists(st.binary(max_size=60), max_size=4), st.booleans())
def test_any_values_give_rows(values: list[bytes], snapshot: bool) -> None:
    framed = [b"\1" + value for value in values]
    rows(log(*values, *framed), snapshot=snapshot)


@settings(max_examples=150)
@given(st.sampled_from([0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 17, 23, 24, 25]), st.integers(0, 4), st.binary(max_size=80))
def test_any_fields_of_any_kind_give_rows(api_key: int, version: int, fields: bytes) -> None:
    rows(log(message(api_key, version, fields), TOPIC))


@settings(max_examples=100)
@given(st.binary(max_size=200), st.integers(-5, 5), st.integers(0, 63))
def test_any_payload_gives_rows(payload: bytes, count: int, attributes: int) -> None:
    rows(batch(0, payload, count, attributes=attributes))


@settings(max_examples=100)
@given(st.binary(max_size=300))
def test_any_bytes_give_rows(data: bytes) -> None:
    rows(data)
    rows(data, Member("bootstrap.checkpoint", None, None), snapshot=True)


@settings(max_examples=60)
@given(st.data())
def test_any_damage_with_a_right_checksum(data: st.DataObject) -> None:
    payload = bytearray(record(0, TOPIC) + record(1, partition(0, {1: ids([2])}, 2, uuids([DIRECTORY]))) + record(2, change(t0=ids([1]))))
    for _ in range(data.draw(st.integers(1, 3))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    rows(batch(0, bytes(payload), 3))


_ids = st.lists(INT32, max_size=6)


@settings(max_examples=100)
@given(st.none() | _ids, st.none() | INT32.filter(lambda n: n != -2), st.none() | _ids, st.none() | st.booleans(), INT32)
def test_round_trip_of_changes(
    isr: list[int] | None, leader: int | None, replicas: list[int] | None, recovering: bool | None, index: int
) -> None:
    tags: dict[str, bytes] = {}
    if isr is not None:
        tags["t0"] = ids(isr)
    if leader is not None:
        tags["t1"] = struct.pack(">i", leader)
    if replicas is not None:
        tags["t2"] = ids(replicas)
    if recovering is not None:
        tags["t5"] = bytes([recovering])
    (row,) = rows(log(change(index, **tags)))
    assert (row.get("isr"), row.get("leader"), row.get("replicas"), row.get("recovering")) == (isr, leader, replicas, recovering)
    assert row["partition"] == index


@settings(max_examples=60)
@given(st.text(max_size=60), st.text(max_size=60), st.none() | st.text(max_size=60))
def test_round_trip_of_settings(name: str, key: str, value: str | None) -> None:
    (row,) = config(2, name, "x." + key, value)
    masked = row["value"] == HIDDEN and value
    assert (row["topic"], row["key"]) == (name, "x." + key)
    assert masked or row["value"] == value


def test_the_last_record_of_each_leader_is_told() -> None:
    first = batch(100, record(0, TOPIC) + record(1, NO_OP, time=500), 2, epoch=4)
    second = batch(102, record(0, TOPIC), 1, epoch=4, time=1_700_000_010_000)
    third = batch(103, record(0, TOPIC), 1, epoch=6, time=1_700_000_060_000)
    last = [row for row in every_row(first + second + third) if row["event"] == "metadata-written"]
    assert [(row["controller_epoch"], row["metadata_offset"], row["reason"]) for row in last] == [(4, 102, "idle"), (6, 103, None)]
    assert [row["duration_ms"] for row in last] == [9_500, 0]
    assert [row["time"] for row in last] == [datetime(2023, 11, 14, 22, 13, 30), datetime(2023, 11, 14, 22, 14, 20)]


def test_a_snapshot_shows_no_last_record() -> None:
    assert "metadata-written" not in kinds(every_row(log(TOPIC, NO_OP), snapshot=True))


@pytest.mark.parametrize(("state", "name"), [(0, "NONE"), (1, "MIGRATION"), (2, "PRE_MIGRATION"), (3, "POST_MIGRATION"), (9, "9")])
def test_states_of_the_migration_from_zookeeper(state: int, name: str) -> None:
    (row,) = rows(log(message(21, 0, bytes([state]), tagged())))
    assert (row["event"], row["value"], row["text"]) == ("metadata-migration", name, f"ZkMigrationStateRecord(zkMigrationState={state})")
