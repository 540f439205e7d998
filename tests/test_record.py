"""The pure parts of the recorder: formats, layouts, truth, bundles. No Kafka is started here."""

from __future__ import annotations

import hashlib
import json
import struct
import tarfile
import time
import zipfile
import zlib
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import google_crc32c
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from fixtures.record import bundle, busy, jars, layout, producers, records, truth
from fixtures.record.__main__ import main, offsets, zones
from fixtures.record.client import PRODUCE, Ack, Client, Cut, PartitionState, View
from fixtures.record.clock import Clock
from fixtures.record.cluster import Cluster, Node, RecordingError, Settings
from fixtures.record.jars import Jars
from fixtures.record.observer import Observer, Sighting, Source
from fixtures.record.recording import command, findings
from fixtures.record.scenarios import SCENARIOS
from fixtures.record.segments import Segment, Watch
from fixtures.record.stage import Stage
from fixtures.record.tools import Tools
from fixtures.record.truth import Partition
from fixtures.record.versions import KafkaVersion
from fixtures.record.wire import ProtocolError, Reader, array, blob, i16, i32, i64, string
from parsers.batches import Batch, headers

FILES = Path(__file__).parent.parent / "fixtures" / "bundles"
VERSIONS = [
    KafkaVersion(text) for text in ("0.8.2.2", "0.9.0.1", "0.10.2.2", "0.11.0.3", "1.0.2", "2.3.1", "2.8.2", "3.3.2", "3.9.1", "4.1.1")
]


@pytest.mark.parametrize(
    ("text", "scala", "modes", "log4j2"),
    [
        ("0.8.2.2", "2.11", ("zk",), False),
        ("2.3.1", "2.12", ("zk",), False),
        ("3.2.3", "2.13", ("zk",), False),
        ("3.9.1", "2.13", ("zk", "kraft"), False),
        ("4.1.1", "2.13", ("kraft",), True),
    ],
)
def test_what_a_version_can_do(text: str, scala: str, modes: tuple[str, ...], log4j2: bool) -> None:
    version = KafkaVersion(text)
    assert (version.scala, version.modes, version.log4j2) == (scala, modes, log4j2)


@pytest.mark.parametrize("text", ["4", "4.1", "x.y.z", ""])
def test_half_a_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        KafkaVersion(text)


def test_maven_is_asked_for_what_a_version_needs_besides_the_broker() -> None:
    artifacts = {version.text: [artifact for _, artifact, _ in jars.coordinates(version)] for version in VERSIONS}
    assert "kafka-tools" not in artifacts["0.8.2.2"]
    assert "kafka-tools" in artifacts["0.9.0.1"]
    assert "log4j-core" in artifacts["4.1.1"]
    assert [text for text, names in artifacts.items() if "zookeeper" in names] == ["2.3.1"]
    assert [text for text, names in artifacts.items() if "jaxb-api" in names] == ["0.10.2.2", "0.11.0.3"]
    assert "<artifactId>kafka_2.13</artifactId><version>4.1.1</version>" in jars.pom(jars.coordinates(KafkaVersion("4.1.1")))


def jars_at(root: Path, version: KafkaVersion, *classes: str) -> Jars:
    directory = root / version.text
    directory.mkdir(parents=True)
    (directory / ".complete").touch()
    with zipfile.ZipFile(directory / "kafka.jar", "w") as archive:
        for name in classes:
            archive.writestr(name.replace(".", "/") + ".class", b"")
    return Jars(version, root)


def test_a_class_that_moved_is_found_where_it_is(tmp_path: Path) -> None:
    found = jars_at(tmp_path, KafkaVersion("2.8.2"), "kafka.admin.TopicCommand")
    assert found.main_class("org.apache.kafka.tools.TopicCommand", "kafka.admin.TopicCommand") == "kafka.admin.TopicCommand"
    with pytest.raises(LookupError):
        found.main_class("kafka.Nothing")


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_every_appender_a_logger_names_is_there(version: KafkaVersion) -> None:
    lines = dict(line.split("=", 1) for line in layout.properties(version).splitlines())
    if version.log4j2:
        named = {value for key, value in lines.items() if key.endswith(".ref")}
        made = {key.split(".")[1] for key in lines if key.startswith("appender.")}
    else:
        named = {part.strip() for key, value in lines.items() if "ogger" in key for part in value.split(",")[1:]}
        made = {key.split(".")[2] for key in lines if key.startswith("log4j.appender.")}
    assert named == made


def test_state_changes_are_traced_before_2_6_only() -> None:
    levels = {v.text: next(s.level for s in layout.specials(v) if s.name == "state.change.logger") for v in VERSIONS}
    assert (levels["2.3.1"], levels["2.8.2"]) == ("TRACE", "INFO")


# --- records


def log(values: Sequence[bytes], magic: int = 2, start: int = 0, batch: int = 10) -> bytes:
    """A segment as a leader writes it: batches of `values` with their offsets."""
    data = b""
    for at in range(0, len(values), batch):
        sent = records.encode(values[at : at + batch], magic, 1_700_000_000_000)
        for entry in records.entries(sent):
            raw = sent[entry.position : entry.position + entry.size]
            data += struct.pack(">q", start + at + entry.base_offset) + raw[8:]
    return data


@given(st.lists(st.binary(max_size=200), min_size=1, max_size=20), st.sampled_from([0, 1, 2]))
@profile(max_examples=100)
def test_what_a_producer_sends_can_be_read(values: list[bytes], magic: int) -> None:
    read = [value for entry in records.entries(records.encode(values, magic, 1)) for _, value in entry.values]
    assert read == values


@given(st.binary(max_size=300))
@profile(max_examples=100)
def test_batches_are_checked_as_kafka_checks_them(data: bytes) -> None:
    assert records.crc32c(data) == google_crc32c.value(data)
    sent = records.encode([data], 2, 1)
    assert struct.unpack_from(">I", sent, 17)[0] == google_crc32c.value(sent[21:])
    old = records.encode([data], 1, 1)
    assert struct.unpack_from(">I", old, 12)[0] == zlib.crc32(old[16:])


@given(st.binary(max_size=300), st.integers(0, 2))
@profile(max_examples=200)
def test_any_bytes_give_entries_or_a_value_error(noise: bytes, magic: int) -> None:
    for data in (noise, struct.pack(">qi", 0, len(noise)) + noise, struct.pack(">qiib", 0, len(noise) + 5, 0, magic) + noise):
        try:
            found = list(records.entries(data))
        except ValueError:
            continue
        assert sum(entry.size for entry in found) <= len(data)


def producer_of(data: bytes) -> tuple[int, int, int, bool]:
    """Of one batch, as the tool reads it: producer id and epoch, base sequence, whether it is transactional."""
    (batch,) = headers(BytesIO(data))
    assert isinstance(batch, Batch) and batch.valid
    return batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.transactional


def test_a_batch_holds_keys_and_its_producer() -> None:
    data = records.batch([b"v", b"w"], 1_700_000_000_000, [b"key", b""], (77, 3, 40), transactional=True)
    (entry,) = records.entries(data)
    assert entry.values == ((0, b"v"), (1, b"w"))
    assert producer_of(data) == (77, 3, 40, True)


def test_a_torn_batch_is_left_out() -> None:
    data = log([b"a", b"b", b"c", b"d"], batch=2)
    assert [entry.base_offset for entry in records.entries(data[:-1])] == [0]


@pytest.mark.parametrize("name", ["unclean-election-0.10.2.2-zk", "unclean-election-2.8.2-zk"])
def test_segments_of_real_brokers_are_read(name: str) -> None:
    with tarfile.open(FILES / f"{name}.tar.gz") as archive:
        data = cast("tarfile.ExFileObject", archive.extractfile(f"{name}/broker-1/data/ledger-0/{0:020}.log")).read()
    read = dict(value for entry in records.entries(data) for value in entry.values)
    assert sorted(read) == list(range(120))
    assert all(value.startswith(b"m-") for value in read.values())


# --- protocol


def test_a_short_answer_is_no_answer() -> None:
    with pytest.raises(ProtocolError):
        Reader(b"\0\0\0\2\0\0").array(Reader(b"\0").i32)


@pytest.mark.parametrize("text", ["0.9.0.1", "0.10.2.2", "4.1.1"])
def test_acknowledgements_are_read_by_partition(text: str) -> None:
    client = Client(KafkaVersion(text), dict)
    times = i64(-1) if client.produce_version >= 2 else b""
    body = array([string("t") + array([i32(1) + i16(0) + i64(40) + times, i32(2) + i16(6) + i64(-1) + times])])
    assert client.read_produced(Reader(body)) == {("t", 1): (0, 40), ("t", 2): (6, -1)}


def test_a_produce_request_holds_the_records() -> None:
    client = Client(KafkaVersion("2.8.2"), dict)
    reader = Reader(client.produce_body("all", {("t", 3): [b"one", b"two"]}))
    assert (reader.string(), reader.i16(), reader.i32(), reader.i32()) == (None, -1, 3000, 1)
    assert (reader.string(), reader.i32(), reader.i32()) == ("t", 1, 3)
    assert [value for entry in records.entries(reader.blob() or b"") for _, value in entry.values] == [b"one", b"two"]


def test_null_and_empty_are_told_apart() -> None:
    assert Reader(blob(None)).blob() is None
    assert Reader(blob(b"")).blob() == b""
    assert Reader(string(None)).string() is None


# --- truth


@given(st.sets(st.integers(0, 60)))
@profile(max_examples=100)
def test_ranges_hold_their_offsets_and_do_not_touch(found: set[int]) -> None:
    made = truth.ranges(found)
    assert {o for start, end in made for o in range(start, end)} == found
    assert all(a[1] < b[0] for a, b in pairwise(made))


def ack(offset: int, value: bytes, acks: str = "all", at: str = "2026-01-01T00:00:00.000+00:00") -> Ack:
    return Ack("t", 0, offset, value, acks, at)


def test_a_record_is_lost_by_its_value_not_its_offset() -> None:
    acks = [ack(0, b"a"), ack(1, b"b"), ack(2, b"c")]
    views = {("t", 0): View({0: b"a", 1: b"other", 2: b"b"}, 3)}
    missing = truth.unreadable(acks, [], views)
    assert truth.lost(missing, True) == {
        "t-0": {
            "offsets": [[2, 3]],
            "acked_records": 1,
            "acks": ["all"],
            "acked_between": [acks[2].at, acks[2].at],
            "records_sha256": hashlib.sha256(b"2 c\n").hexdigest(),
        }
    }
    assert truth.lost(missing, False)["t-0"]["provable"] is False


def test_where_ends_are_not_told_the_first_record_of_a_tail_is_and_what_was_lost_before() -> None:
    early, *late = (ack(n, b"%d" % n, "1", f"2026-01-01T00:00:0{n}") for n in (3, 7, 8, 9))
    loss = truth.lost({("t", 0): [early, *late], ("t", 1): late[:1], ("t", 2): [early]}, True, "2026-01-01T00:00:05")
    assert [part["offsets"] for part in loss.values()] == [[[3, 4], [7, 8]], [[7, 8]], [[3, 4]]]
    assert [part.get("end_untold") for part in loss.values()] == [[[8, 10]], None, None]
    assert [part["acked_records"] for part in loss.values()] == [2, 1, 1]


def test_what_was_deleted_on_request_is_not_lost() -> None:
    views = {("t", 0): View({5: b"f"}, 6)}
    acks = [ack(n, bytes([97 + n])) for n in range(6)]
    assert truth.unreadable(acks, [Cut("t", 0, 5)], views) == {}
    assert [a.offset for a in truth.unreadable(acks, [Cut("t", 0, 4)], views)["t", 0]] == [4]


def test_a_cut_tail_is_told_apart_from_what_was_committed() -> None:
    appended = {("t", 0): {(0, b"a"), (1, b"b"), (2, b"c"), (3, b"d"), (4, b"e")}, ("u", 0): {(0, b"a")}}
    views: dict[Partition, View] = {("t", 0): View({0: b"a", 1: b"e"}, 2), ("u", 0): View({0: b"a"}, 1)}
    missing = {("t", 0): [ack(2, b"c", "1"), ack(5, b"unseen", "1")]}
    with_1 = truth.tail_cut(appended, {"t": "1", "u": "1"}, missing, views)
    assert with_1 == {"t-0": {"acks": "1", "offsets": [[1, 4], [5, 6]], "acked_offsets": [[2, 3], [5, 6]]}}
    assert truth.tail_cut(appended, {"t": "0", "u": "0"}, {}, views) == {"t-0": {"acks": "0", "offsets": [[1, 4]], "acked_offsets": []}}
    with_all = truth.tail_cut(appended, {"t": "all", "u": "all"}, {("t", 0): [ack(2, b"c")]}, views)
    assert with_all == {"t-0": {"acks": "all", "offsets": [[1, 2], [3, 4]], "acked_offsets": []}}


def test_a_partition_from_which_a_tail_was_cut_that_nobody_was_told_of_is_neither_lost_from_nor_whole() -> None:
    acks = [Ack("t", partition, 0, b"a", "1", "") for partition in (3, 2, 1, 0)]
    assert truth.nothing_lost(acks, ["t-3"], ["t-1", "t-3"]) == ["t-0", "t-2"]


def test_records_above_the_high_watermark_are_kept() -> None:
    acks = [ack(n, b"%d" % n, "1") for n in range(4)]
    views: dict[Partition, View] = {("t", 0): View({0: b"0", 1: b"1"}, 2)}
    missing = truth.unreadable(acks, [], views)
    whole, cut = log([b"0", b"1", b"2", b"3"]), log([b"0", b"1", b"2"])
    assert truth.kept(missing, views, {("t", 0): whole}) == {"t-0": {"offsets": [[2, 4]], "high_watermark": 2, "leader_leo": 4}}
    assert truth.kept(missing, views, {("t", 0): cut}) == {}


def test_what_retention_deleted_is_not_lost() -> None:
    views: dict[Partition, View] = {("t", 0): View({3: b"d", 5: b"f"}, 6)}
    acks = [ack(n, bytes([97 + n])) for n in range(6)]
    assert [a.offset for a in truth.unreadable(acks, truth.deleted_heads(views), views)["t", 0]] == [4]
    assert truth.deleted_heads({("t", 1): View({}, 7)}) == [Cut("t", 1, 7)]


def seen(*states: tuple[int, Sequence[int]]) -> list[Sighting]:
    return [Sighting(f"{n}", "t", 0, PartitionState(leader, n, tuple(isr), (1, 2, 3))) for n, (leader, isr) in enumerate(states)]


@pytest.mark.parametrize(
    ("states", "leaders"),
    [
        ([(1, [1, 2, 3]), (1, [1]), (-1, [1]), (2, [2])], [2]),
        ([(1, [1]), (2, [2, 3])], [2]),
        ([(1, [1, 2]), (2, [2])], []),
        ([(1, [1]), (-1, [1]), (1, [1])], []),
        ([(1, [1]), (-1, []), (1, [1])], []),
        ([(1, [1]), (-1, []), (2, [2])], [2]),
        # the end of a reassignment: the new replica joined and took over in one step
        ([(4, [4, 2, 3]), (1, [2, 3, 1])], []),
    ],
)
def test_a_leader_from_outside_the_isr_is_unclean(states: list[tuple[int, list[int]]], leaders: list[int]) -> None:
    assert [e["new_leader"] for e in truth.unclean_elections(seen(*states))] == leaders


def test_a_leader_out_of_an_empty_isr_is_told_apart() -> None:
    found = truth.last_known_leaders(seen((1, [1, 2]), (-1, []), (1, [1]), (1, [1, 2])))
    assert [(e["leader"], e["seen_at"]) for e in found] == [(1, "2")]
    assert truth.last_known_leaders(seen((1, [1]), (-1, []), (2, [2]))) == []
    assert truth.last_known_leaders(seen((1, [1]), (-1, [1]), (1, [1]))) == []


def test_only_different_records_at_one_offset_diverge() -> None:
    same, longer = log([b"a", b"b"]), log([b"a", b"b", b"c"])
    other = log([b"a", b"x", b"c"])
    assert truth.diverged({1: same, 2: longer}) == []
    assert truth.diverged({1: longer, 2: other}) == [[1, 2]]


def test_findings_follow_from_what_was_measured() -> None:
    elections = [{"topic": "t", "partition": 1, "new_leader": 2}]
    found = findings(SCENARIOS["unclean-election"], elections, {"t-1": {}}, {"a-b-0": []}, {})
    assert found == [
        {"kind": "unclean-election", "topic": "t", "partition": 1, "broker": 2},
        {"kind": "data-loss", "topic": "t", "partition": 1, "cause": "unclean-election", "committed": True},
        {"kind": "log-divergence", "topic": "a-b", "partition": 0},
    ]
    zombie = SCENARIOS["zombie-leader"]
    ends_told = {v: zombie.provable(KafkaVersion(v)) for v in ("0.10.2.2", "0.11.0.3", "1.0.2", "1.1.1", "2.5.1", "2.6.3")}
    assert [v for v, told in ends_told.items() if not told] == ["0.10.2.2"]
    assert [v for v in ends_told if KafkaVersion(v).tells_zombie_ends] == ["0.11.0.3", "1.0.2", "2.5.1", "2.6.3"]
    assert findings(zombie, [], {"t-0": {"provable": False}}, {}, {}) == []
    assert not SCENARIOS["last-replica-standing-unprovable"].provable(KafkaVersion("3.9.1"))


def test_what_evidence_need_not_tell_is_not_asked_for() -> None:
    (loss,) = findings(SCENARIOS["eligible-unclean"], [], {"t-0": {}}, {}, {})
    assert loss == {"kind": "data-loss", "topic": "t", "partition": 0, "cause": "unclean-election"}


def test_what_was_acknowledged_with_acks_all_was_committed() -> None:
    found = findings(SCENARIOS["busy-crashes"], [], {"t-0": {"acks": ["1"]}, "t-1": {"acks": ["all"]}}, {}, {})
    assert [(loss["partition"], loss.get("cause"), loss["committed"]) for loss in found] == [
        (0, "uncommitted-tail", False),
        (1, None, True),
    ]


def test_the_command_that_makes_it_again_is_told() -> None:
    settings = Settings(KafkaVersion("4.1.1"), "kraft", timezones={2: "Asia/Kolkata"}, clock_offsets={1: 300})
    told = command("zombie-leader", settings)
    assert told == "python -m fixtures.record zombie-leader 4.1.1 --mode kraft --timezone 2=Asia/Kolkata --clock-offset 1=+300"
    combined = command("loser-moved-away", Settings(KafkaVersion("3.8.1"), "kraft", combined=True))
    assert combined == "python -m fixtures.record loser-moved-away 3.8.1 --mode kraft --combined"


# --- observer


class Script:
    """Gives the observer one look after the other."""

    def __init__(self, *looks: dict[tuple[str, int], PartitionState]) -> None:
        self._looks = list(looks)

    def look(self) -> dict[tuple[str, int], PartitionState]:
        return self._looks.pop(0)


def watched(*states: PartitionState) -> list[PartitionState]:
    source: Source = Script(*({("t", 0): state, ("__consumer_offsets", 0): state} for state in states))
    observer = Observer(source)
    for _ in states:
        observer.poll()
    assert {s.topic for s in observer.sightings} == {"t"}
    return [s.state for s in observer.sightings]


def test_the_observer_keeps_changes_and_not_what_is_older() -> None:
    first = PartitionState(1, 3, (1, 2), (1, 2))
    later = PartitionState(2, 4, (2,), (1, 2))
    assert watched(first, first, later, first) == [first, later]


def test_without_epochs_every_change_counts() -> None:
    first, later = PartitionState(1, -1, (1, 2), (1, 2)), PartitionState(2, -1, (2,), (1, 2))
    assert watched(first, later, first) == [first, later, first]


# --- what brokers append


def test_a_segment_is_read_along_whether_it_grows_or_is_cut(tmp_path: Path) -> None:
    path = tmp_path / f"{0:020}.log"
    segment = Segment(path)
    assert segment.news() == []
    whole = log([b"a", b"b", b"c", b"d", b"e", b"f"], batch=2)
    path.write_bytes(whole[:-1])
    assert segment.news() == [(0, b"a"), (1, b"b"), (2, b"c"), (3, b"d")]
    path.write_bytes(whole)
    assert segment.news() == [(4, b"e"), (5, b"f")]
    assert segment.news() == []
    path.write_bytes(log([b"a", b"b", b"X", b"Y", b"Z", b"e", b"f"], batch=2))
    assert dict(segment.news()) == dict(enumerate([b"a", b"b", b"X", b"Y", b"Z", b"e", b"f"]))
    path.write_bytes(log([b"a"]))
    assert segment.news() == [(0, b"a")]


def test_what_makes_no_sense_for_a_moment_is_read_again(tmp_path: Path) -> None:
    path, whole = tmp_path / f"{0:020}.log", log([b"a", b"b", b"c", b"d"], batch=2)
    segment = Segment(path)
    path.write_bytes(log([b"a", b"b"]) + struct.pack(">qiib", 2, 5, 0, 2).ljust(len(whole) // 2, b"\0"))
    assert len(path.read_bytes()) == len(whole)
    assert segment.news() == [(0, b"a"), (1, b"b")]
    path.write_bytes(whole)
    assert segment.news() == [(2, b"c"), (3, b"d")]


def test_what_any_replica_ever_held_is_kept(tmp_path: Path) -> None:
    cluster = cluster_at(tmp_path)
    one, two = (cluster.node(n).home / "data" / "t-0" for n in (1, 2))
    for replica in (one, two):
        replica.mkdir()
    (one / f"{0:020}.log").write_bytes(log([b"a", b"b"]))
    watch = Watch(cluster.brokers.values(), [("t", 0)])
    watch.list()
    watch.look()
    (one / f"{0:020}.log").write_bytes(b"")
    with watch:
        (two / f"{0:020}.log").write_bytes(log([b"a", b"c"]))
    assert watch.appended == {("t", 0): {(0, b"a"), (1, b"b"), (1, b"c")}}


# --- the cluster's files


def cluster_at(root: Path, version: str = "2.8.2", mode: str = "zk", combined: bool = False) -> Cluster:
    kafka = KafkaVersion(version)
    cluster = Cluster(Settings(kafka, mode, combined=combined), jars_at(root / "cache", kafka), root / "work")
    cluster.work.mkdir()
    cluster.prepare()
    return cluster


def configuration(cluster: Cluster, number: int) -> dict[str, str]:
    return dict(line.split("=", 1) for line in cluster.node(number).properties.read_text().splitlines())


@pytest.mark.parametrize(("version", "mode"), [("0.8.2.2", "zk"), ("2.8.2", "zk"), ("3.9.1", "kraft"), ("4.1.1", "kraft")])
def test_configuration_names_what_the_mode_needs(tmp_path: Path, version: str, mode: str) -> None:
    lines = configuration(cluster_at(tmp_path, version, mode), 1)
    assert ("node.id" in lines, "broker.id" in lines) == (mode == "kraft", mode == "zk")
    assert ("port" in lines) == (version == "0.8.2.2")
    assert int(lines["log.segment.bytes"]) == (1048576 if version == "4.1.1" else 262144)


def test_with_combined_roles_every_broker_votes(tmp_path: Path) -> None:
    cluster = cluster_at(tmp_path, "3.8.1", "kraft", combined=True)
    assert [node.name for node in cluster.nodes] == ["broker-1", "broker-2", "broker-3"]
    voters = dict(voter.split("@") for voter in configuration(cluster, 1)["controller.quorum.voters"].split(","))
    for number in cluster.brokers:
        lines = configuration(cluster, number)
        assert lines["process.roles"] == "broker,controller"
        assert lines["listeners"] == f"{lines['advertised.listeners']},CONTROLLER://{voters[str(number)]}"
        assert lines["advertised.listeners"] == f"PLAINTEXT://127.0.0.1:{cluster.node(number).port}"


def test_the_active_controller_may_be_a_broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = cluster_at(tmp_path, "3.8.1", "kraft", combined=True)
    monkeypatch.setattr(Node, "running", property(lambda node: node.id == 2))
    for number, leader in ((1, 1), (2, 3)):
        quorum = cluster.node(number).home / "data" / "__cluster_metadata-0"
        quorum.mkdir()
        (quorum / "quorum-state").write_text(json.dumps({"leaderId": leader}))
    assert cluster.active_controller() == 3


@pytest.mark.parametrize(
    ("machine", "left"), [(False, ["config/server.properties", "logs/server.log"]), (True, ["config/server.properties"])]
)
def test_a_replaced_disk_is_empty(machine: bool, left: list[str], tmp_path: Path) -> None:
    cluster = cluster_at(tmp_path)
    home = cluster.node(1).home
    (home / "data" / "t-0").mkdir()
    for name in ("logs/server.log", "data/t-0/0.log", "data/meta.properties"):
        (home / name).write_text("x")
    cluster.wipe(1, machine)
    assert sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()) == left
    assert (home / "data").is_dir() and (home / "logs").is_dir()
    assert cluster.actions[-1]["node"] == 1


def test_where_a_replica_stands_is_read_from_its_disk(tmp_path: Path) -> None:
    node = cluster_at(tmp_path).node(1)
    assert (node.log_bytes("t", 0), node.checkpointed("t", 0)) == (0, None)
    replica = node.home / "data" / "t-0"
    replica.mkdir()
    (replica / f"{0:020}.log").write_bytes(bytes(7))
    (replica / f"{7:020}.log").write_bytes(bytes(5))
    (replica / f"{7:020}.index").write_bytes(bytes(90))
    (node.home / "data" / "replication-offset-checkpoint").write_text("0\n2\nt 10 9\nt 0 200\n")
    assert (node.log_bytes("t", 0), node.checkpointed("t", 0)) == (12, 200)
    assert node.checkpointed("t", 1) is None


def test_a_clock_that_is_off_leaves_waiting_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fixtures.record.cluster.LIBFAKETIME", (Path("/lib/libfaketime.so.1"),))
    ahead = Node(1, "broker", 9092, Path("/x"), ("data",), clock_offset=300)
    assert Cluster._clock(ahead) == {
        "LD_PRELOAD": "/lib/libfaketime.so.1",
        "FAKETIME": "+300s",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_FORCE_MONOTONIC_FIX": "0",
    }
    assert Cluster._clock(Node(2, "broker", 9092, Path("/x"), ("data",))) == {}
    monkeypatch.setattr("fixtures.record.cluster.LIBFAKETIME", ())
    with pytest.raises(RecordingError):
        Cluster._clock(ahead)


def test_a_clock_set_back_dates_the_files_written_under_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fixtures.record.clock.LIBFAKETIME", (Path("/lib/libfaketime.so.1"),))
    clock = Clock(tmp_path / "clock")
    assert clock.environment() == {}
    clock.set(-86400, [])
    (tmp_path / "home").mkdir()
    first, second = tmp_path / "home" / "first", tmp_path / "home" / "second"
    first.touch()
    written = first.stat().st_mtime
    clock.set(-3600, [tmp_path / "home"])
    second.touch()
    clock.set(0, [tmp_path / "home"])
    assert [path.stat().st_mtime for path in (first, second)] == pytest.approx([written - 86400, written - 3600], abs=5)
    assert clock.environment()["FAKETIME_TIMESTAMP_FILE"] == str(tmp_path / "clock")
    assert (tmp_path / "clock").read_text() == "+0s\n"


def test_clocks_of_running_processes_do_not_jump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fixtures.record.cluster.LIBFAKETIME", (Path("/lib/libfaketime.so.1"),))
    cluster = cluster_at(tmp_path)
    cluster.set_clock(-60)
    monkeypatch.setattr(Node, "running", property(lambda node: node.id == 2))
    with pytest.raises(RecordingError):
        cluster.set_clock(-30)
    cluster.node(2).frozen = True
    cluster.set_clock(-30)
    assert cluster.clock.offset == -30


def test_a_clock_can_only_be_set_with_libfaketime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fixtures.record.cluster.LIBFAKETIME", ())
    with pytest.raises(RecordingError):
        cluster_at(tmp_path).set_clock(-60)


def test_a_dead_broker_is_given_another_clusters_id_and_its_own_again(tmp_path: Path) -> None:
    cluster = cluster_at(tmp_path)
    data = cluster.node(1).home / "data"
    (data / "t-0").mkdir()
    for name in ("meta.properties", "t-0/partition.metadata"):
        (data / name).write_text("#Sun Nov 22\nversion=0\nbroker.id=1\ncluster.id=right\n")
    assert cluster.change_cluster_id(1, "wrong") == "right"
    assert (data / "meta.properties").read_text() == "version=0\nbroker.id=1\ncluster.id=wrong\n"
    assert cluster.change_cluster_id(1, "right") == "wrong"
    cluster.forget_cluster_id(1)
    cluster.forget_topic_ids(1)
    assert [path for path in data.rglob("*") if path.is_file()] == []


def test_a_wiped_cluster_is_another_one_and_keeps_its_logs(tmp_path: Path) -> None:
    cluster = cluster_at(tmp_path)
    home, before = cluster.node(2).home, cluster.cluster_id
    (cluster.work / "zookeeper" / "version-2").mkdir(parents=True)
    (home / "logs" / "server.log").touch()
    (home / "data" / "meta.properties").touch()
    cluster.wipe_all()
    assert cluster.cluster_id != before
    assert not (cluster.work / "zookeeper" / "version-2").exists()
    assert sorted(path.name for path in home.rglob("*") if path.is_file()) == ["server.log", "server.properties"]


def test_brokers_of_one_host_share_their_logs_and_nothing_else(tmp_path: Path) -> None:
    kafka = KafkaVersion("3.9.1")
    cluster = Cluster(Settings(kafka, "kraft", one_host=True), jars_at(tmp_path / "cache", kafka), tmp_path / "work")
    cluster.work.mkdir()
    cluster.prepare()
    home = cluster.work / "kafka"
    assert {node.home for node in cluster.nodes} == {home}
    files = {path.name for path in (home / "config").iterdir()}
    assert files == {"server-1.properties", "server-2.properties", "server-3.properties", "controller-100.properties"}
    assert {configuration(cluster, n)["log.dirs"] for n in cluster.brokers} == {str(home / f"kafka-logs-{n}") for n in (1, 2, 3)}
    (home / "logs" / "server.log").write_text(f"Loading {home}/kafka-logs-2/t-0")
    (cluster.work / "cluster").mkdir()
    path = bundle.write(cluster, "made", tmp_path / "out")
    with tarfile.open(path) as archive:
        names = archive.getnames()
        text = cast("tarfile.ExFileObject", archive.extractfile("made/kafka/logs/server.log")).read().decode()
    assert len(names) == len(set(names)) == 5
    assert text == "Loading /var/lib/kafka/kafka/kafka-logs-2/t-0"


def test_power_loss_cuts_at_a_batch_and_takes_the_indexes(tmp_path: Path) -> None:
    cluster = cluster_at(tmp_path)
    replica = cluster.node(1).home / "data" / "t-0"
    replica.mkdir()
    segment = replica / f"{0:020}.log"
    data = log([b"%d" % n for n in range(40)])
    segment.write_bytes(data)
    for name in (f"{0:020}.index", f"{0:020}.timeindex", "leader-epoch-checkpoint"):
        (replica / name).touch()
    cluster.lose_power(1, "t", 0, keep=15)
    assert [entry.base_offset for entry in records.entries(segment.read_bytes())] == [0, 10]
    assert sorted(path.name for path in replica.iterdir()) == [segment.name, "leader-epoch-checkpoint"]
    assert cluster.actions[-1]["bytes_before"] == len(data)
    assert cluster.actions[-1]["bytes_after"] == segment.stat().st_size
    with pytest.raises(RecordingError):
        cluster.lose_power(2, "t", 0, keep=15)


def test_a_saved_copy_holds_logs_and_checkpoints_only(tmp_path: Path) -> None:
    cluster = cluster_at(tmp_path)
    home = cluster.node(1).home
    (home / "data" / "t-0").mkdir()
    for name in ("logs/server.log", "logs/kafkaServer.out", "data/t-0/0.log", "data/t-0/0.index", "data/t-0/leader-epoch-checkpoint"):
        (home / name).write_text("x")
    cluster.save(1, "before-restart")
    saved = cluster.work / "before-restart" / "broker-1"
    found = {str(path.relative_to(saved)) for path in saved.rglob("*") if path.is_file()}
    assert found == {"logs/server.log", "data/t-0/leader-epoch-checkpoint"}


def test_the_bundle_has_neither_indexes_nor_the_recorders_paths(tmp_path: Path) -> None:
    cluster = cluster_at(tmp_path)
    home = cluster.node(1).home
    line = f"Loading {home}/data with {cluster.jars.directory}/kafka.jar environment:host.name=here.example environment:user.home=/home/me environment:user.name=me."
    (home / "logs" / "server.log").write_text(line)
    (home / "logs" / "empty.log").touch()
    (home / "data" / "0.index").write_text("x")
    (home / "data" / "0.log").write_bytes(b"\xff\x00")
    (cluster.work / "cluster").mkdir()
    path = bundle.write(cluster, "made", tmp_path / "out")
    bundle.write_truth({"lost": {}}, "made", tmp_path / "out")
    with tarfile.open(path) as archive:
        names = {n for n in archive.getnames() if n.startswith("made/broker-1/")}
        text = cast("tarfile.ExFileObject", archive.extractfile("made/broker-1/logs/server.log")).read().decode()
        mtime = archive.getmember("made/broker-1/data/0.log").mtime
    assert names == {f"made/broker-1/{name}" for name in ("config/server.properties", "data/0.log", "logs/server.log")}
    assert (
        text
        == "Loading /var/lib/kafka/broker-1/data with /opt/kafka/libs/kafka.jar environment:host.name=localhost environment:user.home=/home/kafka environment:user.name=kafka"
    )
    assert mtime == pytest.approx((home / "data" / "0.log").stat().st_mtime, abs=0.01)
    assert json.loads((tmp_path / "out" / "made.expected.json").read_text()) == {"lost": {}}


def test_options_name_one_broker_or_all() -> None:
    assert zones(("Asia/Kolkata", "2=UTC"), 3) == {1: "Asia/Kolkata", 2: "UTC", 3: "Asia/Kolkata"}
    assert offsets(("1=+300", "3=-20")) == {1: 300, 3: -20}


@pytest.mark.parametrize(
    ("scenario", "version"),
    [("hw-truncation", "0.11.0.3"), ("eligible-leader", "4.0.0"), ("disk-replaced-in-isr", "1.1.1"), ("other-cluster-id", "2.3.1")],
)
def test_what_a_release_cannot_do_is_refused(scenario: str, version: str) -> None:
    told = CliRunner().invoke(main, [scenario, version])
    assert told.exit_code == 2
    assert f"{scenario} does not happen with Kafka {version}" in told.output


def test_combined_roles_are_of_kraft() -> None:
    told = CliRunner().invoke(main, ["unclean-election", "3.9.1", "--combined"])
    assert told.exit_code == 2
    assert "only KRaft has combined roles" in told.output


def test_a_scenario_of_one_mode_is_refused_in_the_other() -> None:
    told = CliRunner().invoke(main, ["wiped-zookeeper", "3.9.1", "--mode", "kraft"])
    assert told.exit_code == 2
    assert "wiped-zookeeper does not happen in kraft mode" in told.output


def test_every_scenario_is_in_the_readme() -> None:
    readme = (FILES.parent / "record" / "README.md").read_text()
    assert [name for name in SCENARIOS if f"`{name}`" not in readme] == []
    assert all(scenario.what and name == scenario.name for name, scenario in SCENARIOS.items())


# --- the console consumer


class Answers:
    """A console consumer that reads this, then that."""

    def __init__(self, *answers: list[bytes]) -> None:
        self.left = list(answers)

    def consume(self, topic: str) -> list[bytes]:
        return self.left.pop(0)


def staged(tmp_path: Path, *answers: list[bytes]) -> tuple[Stage, Answers]:
    stage, tools = Stage(cluster_at(tmp_path), "seed"), Answers(*answers)
    stage.tools = cast("Tools", tools)
    stage.topics["t"] = 1
    return stage, tools


VIEWS = {("t", 0): View({0: b"a", 1: b"b"}, 2)}


def test_a_consumer_that_gave_up_before_it_began_is_run_again(tmp_path: Path) -> None:
    stage, tools = staged(tmp_path, [], [b"b", b"a"], [b"c"])
    stage.cross_check(VIEWS)
    assert tools.left == [[b"c"]]


@pytest.mark.parametrize("answers", [[[b"a"], [b"a", b"b"]], [[], [], [], [b"a", b"b"]]], ids=["other records", "nothing again and again"])
def test_a_consumer_that_reads_other_records_fails_the_recording(tmp_path: Path, answers: list[list[bytes]]) -> None:
    stage, tools = staged(tmp_path, *answers)
    with pytest.raises(RecordingError):
        stage.cross_check(VIEWS)
    assert tools.left == [[b"a", b"b"]]


def test_where_nothing_can_be_read_one_look_is_enough(tmp_path: Path) -> None:
    stage, tools = staged(tmp_path, [], [b"a"])
    stage.cross_check({("t", 0): View({}, 0)})
    assert tools.left == [[b"a"]]


# --- producing


class Leader:
    """Takes produce requests; nothing else is asked of it."""

    def __init__(self) -> None:
        self.taken: dict[int, list[bytes]] = {}

    def produce(self, topic: str, pending: dict[int, list[bytes]], acks: str, seconds: float) -> list[Ack]:
        self.taken = {partition: list(values) for partition, values in pending.items()}
        return [Ack(topic, partition, n, value, acks, "") for partition, values in pending.items() for n, value in enumerate(values)]


@pytest.mark.parametrize(("only", "dealt"), [(None, {0: 3, 1: 2}), (1, {1: 5})])
def test_records_go_to_all_partitions_or_to_one(only: int | None, dealt: dict[int, int], tmp_path: Path) -> None:
    stage, leader = Stage(cluster_at(tmp_path), "seed"), Leader()
    stage.client = cast("Client", leader)
    stage.topics["t"] = 2
    stage.produce("t", 5, "1", only=only)
    assert {partition: len(values) for partition, values in leader.taken.items()} == dealt
    assert len({ack.value for ack in stage.acks}) == 5


class Broker:
    """Answers a producer's requests as one broker does that leads everything; `refusals` are error codes it begins with."""

    def __init__(self, *refusals: int) -> None:
        self.refusals = list(refusals)
        self.asked: list[int] = []
        self.batches: list[bytes] = []
        self.produce_version = 3
        self.real = Client(KafkaVersion("2.8.2"), dict)
        self.append_body, self.read_produced, self.acknowledged = self.real.append_body, self.real.read_produced, self.real.acknowledged

    def metadata(self) -> dict[Partition, PartitionState]:
        return {("t", 0): PartitionState(1, 0, (1,), (1,))}

    def call(self, broker: int, api: int, version: int, body: bytes) -> Reader:
        self.asked.append(api)
        if api == PRODUCE:
            reader = Reader(body)
            for part in (reader.string, reader.i16, reader.i32, reader.i32, reader.string, reader.i32, reader.i32):
                part()
            self.batches.append(reader.blob() or b"")
            error = self.refusals.pop(0) if self.refusals else 0
            return Reader(array([string("t") + array([i32(0) + i16(error) + i64(10 * len(self.batches)) + i64(-1)])]))
        answers = {
            producers.FIND_COORDINATOR: i16(0) + string(None) + i32(1),
            producers.INIT_PRODUCER_ID: i16(0) + i64(4711) + i16(2),
            producers.ADD_PARTITIONS_TO_TXN: array([string("t") + array([i32(0) + i16(0)])]),
            producers.END_TXN: i16(0),
        }
        return Reader(i32(0) + answers[api])


def writing(tmp_path: Path, broker: Broker, monkeypatch: pytest.MonkeyPatch) -> Stage:
    stage = Stage(cluster_at(tmp_path), "seed")
    stage.client = cast("Client", broker)
    stage.topics["t"] = 1
    monkeypatch.setattr(stage, "ports", lambda: {1: 9092})
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    return stage


@pytest.mark.parametrize("transaction", [None, "tx"])
def test_a_producer_counts_its_records_and_ends_its_transaction(
    transaction: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = Broker()
    stage = writing(tmp_path, broker, monkeypatch)
    producers.Producer(stage, "t", transaction).send(20, "")
    transactional = transaction is not None
    assert [producer_of(data) for data in broker.batches] == [(4711, 2, 0, transactional), (4711, 2, 10, transactional)]
    assert [ack.offset for ack in stage.acks] == [*range(10, 20), *range(20, 30)]
    assert (producers.END_TXN in broker.asked) == (producers.ADD_PARTITIONS_TO_TXN in broker.asked) == transactional


def test_a_refused_batch_is_sent_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broker = Broker(6, 6)
    producers.keyed(writing(tmp_path, broker, monkeypatch), "t", 10, "", hot=0)
    assert len(broker.batches) == 3
    assert len(set(broker.batches)) == 1


def test_what_is_sent_in_vain_must_not_be_acknowledged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = writing(tmp_path, Broker(7, 7), monkeypatch)
    producer = producers.Producer(stage, "t")
    producer.send_in_vain(1, 20, "")
    assert stage.acks == []
    with pytest.raises(RecordingError):
        producer.send_in_vain(1, 10, "")


# --- producing under load


class Taker(Client):
    """A producer's client whose broker answers each batch with the next of `errors`; None hangs up."""

    def __init__(self, *errors: int | None) -> None:
        super().__init__(KafkaVersion("2.8.2"), dict)
        self.errors = list(errors)
        self.told = 0
        self.batches: list[bytes] = []

    def call(self, broker: int, api: int, version: int, body: bytes, timeout: float | None = None) -> Reader:
        if api == producers.INIT_PRODUCER_ID:
            return Reader(i32(0) + i16(0) + i64(4711 + len(self.batches)) + i16(0))
        reader = Reader(body)
        for part in (reader.string, reader.i16, reader.i32, reader.i32):
            part()
        topic = reader.string() or ""
        reader.i32(), reader.i32()
        self.batches.append(reader.blob() or b"")
        error = self.errors.pop(0)
        if error is None:
            raise ProtocolError("gone")
        return Reader(array([string(topic) + array([i32(0) + i16(error) + i64(100 * len(self.batches)) + i64(-1)])]))

    def tell(self, broker: int, api: int, version: int, body: bytes) -> None:
        self.told += 1

    def sent(self) -> list[list[bytes]]:
        return [[value for entry in records.entries(data) for _, value in entry.values] for data in self.batches]


def writer(way: busy.Way, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> busy.Writer:
    monkeypatch.setattr("fixtures.record.busy.Client", lambda *_: client)
    made = busy.Writer(busy.Load(Stage(cluster_at(tmp_path), "seed")), way)
    made._leaders = {0: 1}
    return made


class AtOnce(Executor):
    def submit(self, call: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        call(*args, **kwargs)
        return Future()


def turns(made: busy.Writer, count: int, make: bool = True) -> None:
    """So far apart that everything is due each time."""
    for n in range(count):
        made._turn(AtOnce(), time.monotonic() + 1000 * (n + 1), make)


@pytest.mark.parametrize("way", [busy.Way("1", 3, 1, 1), busy.Way("all", 3, 2, 1, idempotent=True)], ids=lambda way: way.topic)
def test_what_was_refused_is_sent_again_as_it_was(way: busy.Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Taker(0, 6, None, 0, 0)
    made = writer(way, client, tmp_path, monkeypatch)
    turns(made, 4)
    turns(made, 1, make=False)
    sent = client.sent()
    assert client.batches[1] == client.batches[2] == client.batches[3]
    # what was made while it waited came into one batch
    assert [len(values) for values in sent] == [1, 2, 2, 2, 3]
    assert made.sent == len({value for values in sent for value in values}) == 6
    assert [(ack.offset, ack.acks) for ack in made.acked] == [(n, way.acks) for n in (100, 400, 401, 500, 501, 502)]
    assert [producer_of(data)[2] for data in client.batches] == ([0, 1, 1, 1, 3] if way.idempotent else [-1] * 5)


def test_after_a_wrong_number_a_new_producer_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Taker(0, 45, 0)
    turns(writer(busy.Way("all", 3, 2, 1, idempotent=True), client, tmp_path, monkeypatch), 3)
    assert [producer_of(data)[2] for data in client.batches] == [0, 1, 0]
    assert len({producer_of(data)[0] for data in client.batches}) == 2
    assert client.sent()[1] == client.sent()[2]


def test_with_acks_0_nothing_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Taker()
    made = writer(busy.Way("0", 3, 1, 1), client, tmp_path, monkeypatch)
    turns(made, 1)
    assert (client.told, made.acked, made.sent) == (1, [], 1)


def test_the_load_is_heavy_on_those_that_are_to_be_harmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    load = busy.Load(Stage(cluster_at(tmp_path), "seed"))
    load.on(2)
    one, all_ = busy.Way("1", 3, 1, 1), busy.Way("all", 3, 1, 1)
    assert [load.pause(one, 1), load.pause(one, 2), load.pause(all_, 2)] == [busy.CALM, busy.HEAVY, busy.HEAVY_OF_ALL]


def test_topics_under_load_are_named_after_their_producers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kafka = KafkaVersion("2.8.2")
    stage = Stage(Cluster(Settings(kafka, "zk", brokers=5), jars_at(tmp_path / "cache", kafka), tmp_path), "seed")
    made: dict[str, Sequence[Sequence[int]]] = {}
    monkeypatch.setattr(stage, "create_topic", lambda topic, assignment, **config: made.update({topic: assignment}))
    busy._topics(stage)
    assert list(made)[::5] == ["acks0-rf3-min1", "acksall-rf3-min2-idempotent"]
    replicas = [brokers for assignment in made.values() for brokers in assignment]
    leads = [sum(brokers[0] == n for brokers in replicas) for n in range(1, 6)]
    assert 40 <= len(replicas) <= 60
    assert max(leads) - min(leads) <= 2
    assert all(len(set(brokers)) == len(brokers) for brokers in replicas)
    assert len({frozenset(brokers) for brokers in replicas if len(brokers) == 2}) > 5
