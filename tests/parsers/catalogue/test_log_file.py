"""Events of a log file, each in its place, and the account of the file: whatever is wrong with it or around its lines."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.templates.matching import search
from parsers.catalogue.log_file import read_log
from parsers.limits import Limits
from parsers.log_pattern import compiled
from parsers.patterns import PATTERNS
from parsers.schemas import MAX_SHARED, Member, Row
from tests.fuzzing.contract import kept

MEMBER = Member("broker-1/logs/server.log", None, datetime(2026, 11, 21))
LINES = [sample.line for pattern in PATTERNS for sample in pattern.samples]
TRUNCATED = "[2026-11-21 02:15:38,147] INFO [Log partition=clicks-0, dir=/data] Truncating to offset {} (kafka.log.Log)"
NOISE = "[2026-11-21 02:15:38,147] INFO [GroupCoordinator 7]: Stabilized group g generation 1 (kafka.coordinator.group.GroupCoordinator)"
TRACE = "java.io.IOException: Connection to 2 was disconnected before the response was read\n\tat org.apache.kafka.clients.X.y(X.java:1)"


def read(data: bytes | str) -> list[Row]:
    rows = list(read_log(BytesIO(data.encode() if isinstance(data, str) else data), MEMBER, "server-log"))
    kept(rows)
    assert [row["event"] for row in rows].count("source") == 1
    assert rows[-1]["event"] == "source"
    return rows


def of(rows: list[Row], event: str) -> list[Row]:
    return [row for row in rows if row["event"] == event]


def collected(rows: list[Row]) -> dict[str, Any]:
    found: dict[str, Any] = rows[-1]["collected"]
    return found


def test_place_and_time_of_a_line() -> None:
    data = "\n".join([NOISE, NOISE, TRUNCATED.format(190), NOISE, TRUNCATED.format(80), ""]).encode()
    first, second = of(read(data), "truncation")
    assert (first["line"], second["line"]) == (3, 5)
    for row, offset in ((first, 190), (second, 80)):
        line = TRUNCATED.format(offset).encode()
        assert data[row["byte"] :].startswith(line)
        assert row["text"] == line.decode()
        assert row["offset"] == offset
    assert first["time"] == datetime(2026, 11, 21, 2, 15, 38, 147000)
    assert (first["clock"], first["level"], first["source"]) == ("line", "INFO", MEMBER.path)


def test_windows_line_ends() -> None:
    data = "\r\n".join([NOISE, TRUNCATED.format(190), ""])
    (row,) = of(read(data), "truncation")
    assert (row["line"], row["byte"], row["offset"]) == (2, len(NOISE) + 2, 190)
    assert not row["text"].endswith("\r")


def test_last_line_cut_in_the_middle_tells_nothing() -> None:
    rows = read(TRUNCATED.format(190) + "\n" + TRUNCATED.format(1234)[:-20])
    assert [row["offset"] for row in of(rows, "truncation")] == [190]
    assert collected(rows)["lines"] == 2


def test_record_of_several_lines_is_one_event() -> None:
    refused = next(s.line for p in PATTERNS if p.name == "append-below-min-isr" for s in p.samples)
    (row,) = of(read("\n".join([NOISE, refused, "\tat x", NOISE, ""])), "append-refused")
    assert row["line"] == 2
    assert row["text"].startswith(refused)
    assert "NotEnoughReplicas" in row["text"]
    assert NOISE not in row["text"]


def test_line_within_a_record_takes_the_records_time() -> None:
    error = "[2026-11-21 03:00:00,000] ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] x (kafka.server.Nobody)"
    inner = "Truncating to offset 7"
    (row,) = of(read("\n".join([NOISE, error, "\tat a.B", inner, ""])), "truncation")
    assert (row["line"], row["time"], row["level"]) == (4, datetime(2026, 11, 21, 3), "ERROR")


def test_line_before_any_record_has_no_time() -> None:
    (row,) = of(read("Truncating to offset 7\n"), "truncation")
    assert (row["line"], row["byte"], row["time"]) == (1, 0, None)


def test_what_is_known_of_the_source() -> None:
    lines = [
        NOISE,
        "[2026-11-21 02:15:38,147] INFO [Partition a-0 broker=1] ISR updated to 1,2  and version updated to 2 (kafka.cluster.Partition)",
        "[2026-11-21 02:15:39,147] INFO [Partition a-1 broker=1] ISR updated to 1,2  and version updated to 2 (kafka.cluster.Partition)",
        "[2026-11-21 02:15:40,000] WARN [Partition a-1 broker=1] A line of a later Kafka (kafka.cluster.Partition)",
        "[2026-11-21 02:15:40,000] DEBUG [Partition a-1 broker=1] Only where debugging is on (kafka.cluster.Partition)",
        "[2026-11-21 02:15:40,000] TRACE [Broker id=1] A state change never seen (state.change.logger)",
        "[2026-11-21 02:15:41,500] INFO Anything else (org.example.Plugin)",
    ]
    known = collected(read("\n".join(lines)))
    assert known["lines"] == 7
    assert known["bytes"] == len("\n".join(lines))
    assert known["unrecognised"] == 2
    assert known["samples"] == [lines[3], lines[5]]
    assert known["nodes"] == [1, 7]
    assert (known["first"], known["last"]) == (datetime(2026, 11, 21, 2, 15, 38, 147000), datetime(2026, 11, 21, 2, 15, 41, 500000))
    assert (known["kind"], known["modified"], known["problem"]) == ("server-log", MEMBER.modified, None)


def test_empty_file() -> None:
    (row,) = read(b"")
    assert (row["collected"]["lines"], row["collected"]["first"], row["collected"]["nodes"]) == (0, None, [])


def test_irrelevant_lines_are_known_but_give_no_event() -> None:
    rows = read("[2026-11-21 02:15:38,147] INFO Loading logs. (kafka.log.LogManager)\n")
    assert len(rows) == 1
    assert collected(rows)["unrecognised"] == 0


@pytest.mark.parametrize(
    "line",
    [
        TRUNCATED.format(2**63),
        "[2026-11-21 02:15:38,147] INFO [Partition a-99999999999 broker=1] Expanding ISR from 1 to 1,2 (kafka.cluster.Partition)",
        "[2026-11-21 02:15:38,147] INFO [Partition a-0 broker=1] Expanding ISR from 1 to 1,4294967296 (kafka.cluster.Partition)",
        "[2026-11-21 02:15:38,147] INFO [ReplicaFetcherManager on broker 1] Added fetcher to broker 2 for partitions Map(a-0 -> "
        "(offset=99999999999999999999, leaderEpoch=0)) (kafka.server.ReplicaFetcherManager)",
        TRUNCATED.format("9" * 6000),
    ],
)
def test_number_that_fits_no_column_is_a_problem(line: str) -> None:
    rows = read("\n".join([NOISE, line, TRUNCATED.format(190), ""]))
    (problem,) = of(rows, "problem")
    assert (problem["reason"], problem["line"], problem["byte"]) == ("out-of-range", 2, len(NOISE) + 1)
    assert [row["offset"] for row in of(rows, "truncation")] == [190]


def test_zero_bytes_of_a_crash_are_told_and_read_around() -> None:
    first, second = TRUNCATED.format(190).encode(), TRUNCATED.format(80).encode()
    data = first + b"\n" + b"\0" * 1000 + second + b"\n" + b"\0" * 24
    rows = read(data)
    assert [row["offset"] for row in of(rows, "truncation")] == [190, 80]
    assert data[of(rows, "truncation")[1]["byte"] :].startswith(second)
    (problem,) = of(rows, "problem")
    assert (problem["reason"], problem["byte"]) == ("binary-noise", len(first) + 1)
    assert "1024" in problem["text"]


def test_invalid_utf8_is_replaced() -> None:
    (row,) = of(
        read(b"[2026-11-21 02:15:38,147] INFO [Log partition=a-0, dir=/d\xff] Truncating to offset 7 (kafka.log.Log)\n"), "truncation"
    )
    assert row["directory"] == "/d\N{REPLACEMENT CHARACTER}"


def test_text_is_cut_but_the_place_stays() -> None:
    partitions = ", ".join(f"topic-{n}" for n in range(2000))
    message = f"[ReplicaFetcherManager on broker 1] Removed fetcher for partitions Set({partitions})"
    line = f"[2026-11-21 02:15:38,147] INFO {message} (kafka.server.ReplicaFetcherManager)"
    rows = of(read(f"{NOISE}\n{line}\n"), "fetcher-removed")
    assert [row["partition"] for row in rows] == list(range(2000))
    assert {(row["line"], row["byte"], len(row["text"])) for row in rows} == {(2, len(NOISE) + 1, MAX_SHARED // 2000)}


def test_line_longer_than_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.catalogue.log_file.CHUNK", 4096)
    long = "[2026-11-21 02:15:38,147] INFO " + "x" * 100_000 + " (a.B)"
    rows = read("\n".join([NOISE, long, TRUNCATED.format(190), ""]))
    (problem,) = of(rows, "problem")
    (row,) = of(rows, "truncation")
    assert (problem["reason"], problem["line"], problem["byte"]) == ("long-line", 2, len(NOISE) + 1)
    assert (row["line"], row["byte"]) == (3, len(NOISE) + len(long) + 2)
    assert (collected(rows)["lines"], collected(rows)["bytes"]) == (3, len(NOISE) + len(long) + len(TRUNCATED.format(190)) + 3)


def test_long_line_without_an_end_is_read_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.catalogue.log_file.CHUNK", 1 << 16)

    class Endless(BytesIO):
        left = 1 << 28
        largest = 0

        def read(self, size: int | None = -1) -> bytes:
            assert size is not None
            assert 0 < size <= 1 << 16
            size = min(size, self.left)
            self.left -= size
            return b"x" * size

    rows = list(read_log(Endless(), MEMBER, "server-log"))
    assert [row.get("reason") for row in rows] == ["long-line", None]
    assert (collected(rows)["bytes"], collected(rows)["lines"]) == (1 << 28, 1)


def test_hostile_long_line_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.limits._in_force", Limits(patience=0.001))
    hostile = (
        "[2026-11-21 02:15:38,147] INFO [Partition a-0 broker=1] Failed to alter partition to " + "since the controller rejected " * 20_000
    )
    rows = read(f"{hostile} (kafka.cluster.Partition)\n{hostile} (kafka.cluster.Partition)\n{TRUNCATED.format(190)}\n")
    assert [row["reason"] for row in of(rows, "problem")] == ["slow-line"]
    assert [row["line"] for row in of(rows, "truncation")] == [3]


@pytest.mark.parametrize("error", [OSError("truncated"), EOFError("no end"), ValueError("bad frame")])
def test_stream_that_breaks_keeps_what_was_read(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell() >= 200:
                raise error
            return super().read(200)

    rows = list(read_log(Broken((TRUNCATED.format(190) + "\n").encode() * 3), MEMBER, "server-log"))
    assert [row["offset"] for row in of(rows, "truncation")] == [190]
    (problem,) = of(rows, "problem")
    assert problem["reason"] == "read-error"
    assert type(error).__name__ in problem["text"]
    assert collected(rows)["problem"] == problem["text"]


def test_unknown_line_is_none() -> None:
    assert search(NOISE) is None


def _log(seed: int, lines: int) -> bytes:
    chosen = random.Random(seed)
    return "".join(f"{chosen.choice([*LINES, NOISE, TRACE])}\n" for _ in range(lines)).encode()


@settings(max_examples=20)
@given(st.integers(0, 1000), st.sampled_from([4096, 5000, 9999, 1 << 15]))
def test_chunks_make_no_difference(seed: int, chunk: int) -> None:
    data = _log(seed, 150)
    whole = read(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("parsers.catalogue.log_file.CHUNK", chunk)
        assert read(data) == whole


@given(st.binary(max_size=2000))
def test_any_bytes(data: bytes) -> None:
    rows = read(data)
    if not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        assert collected(rows)["bytes"] == len(data)
        assert collected(rows)["lines"] == data.count(b"\n") + (not data.endswith(b"\n") and data != b"")


def _overwrite(data: bytearray, at: int, noise: bytes) -> None:
    data[at : at + len(noise)] = noise


def _insert(data: bytearray, at: int, noise: bytes) -> None:
    data[at:at] = noise


def _remove(data: bytearray, at: int, noise: bytes) -> None:
    del data[at : at + len(noise)]


@settings(max_examples=150)
@given(
    st.integers(0, 1000),
    st.lists(
        st.tuples(
            st.sampled_from([_overwrite, _insert, _remove]),
            st.integers(0, 20_000),
            st.one_of(st.binary(min_size=1, max_size=12), st.sampled_from([b"\n", b"9" * 30, b"\0" * 50, b"-", b"(", b"]", b"\r\n"])),
        ),
        max_size=12,
    ),
)
def test_damaged_logs(seed: int, damages: list[tuple[Callable[[bytearray, int, bytes], None], int, bytes]]) -> None:
    data = bytearray(_log(seed, 25))
    for damage, at, noise in damages:
        damage(data, at % (len(data) + 1), noise)
    for row in read(bytes(data))[:-1]:
        if row["event"] == "problem":
            assert row["reason"] in {"out-of-range", "binary-noise", "unknown-layout", "read-error"}  # a line may begin a journal's export
        else:
            assert bytes(data[: row["byte"]]).count(b"\n") == row["line"] - 1
            assert row["text"][:20] in bytes(data[row["byte"] :]).decode("utf-8", "replace")


STAMP = "2026-11-21T00:15:38.147123456Z"


def own_and_others(rows: list[Row]) -> dict[str, Row]:
    return {row["source"]: row["collected"] for row in rows if row["event"] == "source"}


def test_pods_of_one_file_are_told_apart() -> None:
    lines = [
        f"[pod/kafka-0/kafka] {TRUNCATED.format(1)}",
        "[pod/kafka-1/kafka] [2026-11-21 02:15:38,147] ERROR [ReplicaManager broker=1] Error while writing (kafka.server.ReplicaManager)",
        "[pod/kafka-0/kafka] [2026-11-21 02:15:39,147] INFO [Broker id=8] x (state.change.logger)",
        f"[pod/kafka-1/kafka] {TRUNCATED.format(2)}",
    ]
    rows = list(read_log(BytesIO("\n".join(lines).encode()), MEMBER, "server-log"))
    assert [(row["source"], row["offset"], row["line"], row["text"]) for row in of(rows, "truncation")] == [
        (f"{MEMBER.path}#kafka-0", 1, 1, lines[0]),
        (f"{MEMBER.path}#kafka-1", 2, 4, lines[3]),
    ]
    known = own_and_others(rows)
    assert list(known) == [f"{MEMBER.path}#kafka-0", f"{MEMBER.path}#kafka-1", MEMBER.path]
    assert [c["lines"] for c in known.values()] == [2, 2, 0]
    assert [c["nodes"] for c in known.values()] == [[8], [1], []]
    assert known[MEMBER.path]["bytes"] == len("\n".join(lines))


def test_the_first_host_of_a_journal_is_the_files_own() -> None:
    lines = [f"Nov 21 02:15:38 {host} kafka[1]: {TRUNCATED.format(n)}" for n, host in enumerate(("h1", "h2", "h1"))]
    rows = list(read_log(BytesIO("\n".join(lines).encode()), MEMBER, "server-log"))
    assert [(row["source"], row["line"]) for row in of(rows, "truncation")] == [
        (MEMBER.path, 1),
        (MEMBER.path, 3),
        (f"{MEMBER.path}#h2", 2),
    ]


def test_more_writers_than_can_be_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.wrappers.writers.MAX_WRITERS", 2)
    data = "".join(f"[pod/k-{n}/kafka] {TRUNCATED.format(n)}\n" for n in range(4))
    rows = list(read_log(BytesIO(data.encode()), MEMBER, "server-log"))
    assert [row["reason"] for row in of(rows, "problem")] == ["many-writers"]
    assert {row["source"] for row in of(rows, "truncation")} == {MEMBER.path, f"{MEMBER.path}#k-0", f"{MEMBER.path}#k-1"}
    assert len(of(rows, "truncation")) == 4


def test_stamps_of_a_container_tell_the_zone() -> None:
    rows = read(f"{STAMP} stdout F {NOISE}\n{STAMP} stdout F {TRUNCATED.format(1)}\n")
    (row,) = of(rows, "truncation")
    assert (row["clock"], row["time"]) == ("line", datetime(2026, 11, 21, 2, 15, 38, 147000))
    assert (collected(rows)["wall_minus_utc_ms"], collected(rows)["clock"]) == (7_200_000, "line")
    assert collected(read(NOISE))["wall_minus_utc_ms"] is None


def test_whole_seconds_take_the_fraction_of_the_containers_stamps() -> None:
    line = f"{STAMP} stdout F 2026-11-21 05:45:38 INFO  [main] Log:1 - [Log partition=clicks-0, dir=/data] Truncating to offset 7\n"
    assert {row["time"] for row in of(read(line * 5), "truncation")} == {datetime(2026, 11, 21, 5, 45, 38, 147123)}
    later = line.replace("T00:15:38.1", "T00:15:39.9")
    assert {row["time"] for row in of(read(later * 5), "truncation")} == {datetime(2026, 11, 21, 5, 45, 38)}


def test_line_without_a_date_takes_the_containers() -> None:
    (layout,) = (compiled("%d{ABSOLUTE} %p %m (%c)%n"),)
    line = TRUNCATED.format(7).removeprefix("[2026-11-21 ").replace("]", "", 1)
    (row,) = of(list(read_log(BytesIO(f"{STAMP} stdout F {line}\n".encode()), MEMBER, "server-log", [layout])), "truncation")
    assert (row["time"], row["clock"]) == (datetime(2026, 11, 21, 0, 15, 38, 147123), "utc")
    rows = list(read_log(BytesIO(f"{line}\n".encode()), MEMBER, "server-log", [layout]))
    assert of(rows, "truncation") == [], "among what has a time it would be a truncation of no time"
    assert [row["reason"] for row in of(rows, "problem")] == ["no-date"]


def test_time_with_a_zone_is_utc() -> None:
    line = TRUNCATED.format(7).replace("02:15:38,147", "02:15:38,147+0200")
    rows = read(f"{line}\n")
    (row,) = of(rows, "truncation")
    assert (row["time"], row["clock"]) == (datetime(2026, 11, 21, 0, 15, 38, 147000), "utc")
    assert (collected(rows)["first"], collected(rows)["clock"]) == (row["time"], "utc")


@pytest.mark.parametrize("logger", ["ReplicaManager", "k.s.ReplicaManager", "server.ReplicaManager"])
def test_relevant_loggers_are_known_by_short_names(logger: str) -> None:
    rows = read(f"2026-11-21 02:15:38 INFO  [main] {logger}:12 - A line of a later Kafka\n" * 2)
    assert collected(rows)["unrecognised"] == 2


def test_pattern_of_one_logger_is_read_without_it() -> None:
    line = "2026-11-21 02:15:38,147 INFO Broker 3 received LeaderAndIsr request nobody knows"
    state = "2026-11-21 02:15:38,147 INFO [KafkaServer id=3] started"
    rows = read(f"{line}\n{line}\n{line}\n{state}\n")
    assert [(row["event"], row["node"]) for row in rows[:-1]] == [("broker-started", 3)]


def test_unknown_layout_is_told_and_nothing_left_out() -> None:
    rows = read("21.11.2026 02h15 NOTICE a (kafka.log.Log)\nTruncating to offset 7\n")
    (problem,) = of(rows, "problem")
    assert problem["reason"] == "unknown-layout"
    assert "21.11.2026 02h15 NOTICE a" in problem["text"]
    assert [row["offset"] for row in of(rows, "truncation")] == [7]


@pytest.mark.parametrize(
    "text",
    [
        "kafka.common.InconsistentClusterIdException: The Cluster ID a doesn't match stored clusterId Some(b) in meta.properties.\n\tat x.Y",
        "[] ERROR [KafkaServer id=1] Fatal error during KafkaServer startup. Prepare to shutdown (kafka.server.KafkaServer)\njava.lang.Error: x",
        "Fatal error during KafkaServer startup. Prepare to shutdown (kafka.server.KafkaServer)",
        "`[main] ERROR kafka.server.KafkaServer - [KafkaServer id=1] Fatal error during KafkaServer startup. Prepare to shutdown\njava.lang.Error: x\n`",
        "[io-4] ERROR kafka.server.ReplicaManager - [ReplicaManager broker=2] Error processing append operation on partition birds-0\njava.lang.Error: x",
        "Found a corrupted index file, /data/birds-0/00000000000000000000.index, deleting and rebuilding index...",
    ],
)
def test_a_paste_without_times_is_read_and_its_times_are_unknown(text: str) -> None:
    event, problem = (row for row in read(text) if row["event"] != "source")
    assert event["event"] in ("cluster-id-mismatch", "fatal-error", "append-error", "index-rebuilt") and event.get("time") is None
    assert problem["reason"] == "no-date"


@pytest.mark.parametrize(
    "text",
    [
        "\tat kafka.controller.RequestSendThread.brokerReady(ControllerChannelManager.scala:292)",
        "java.io.IOException: Connection to node 2 failed.\n\tat org.apache.kafka.clients.NetworkClientUtils.awaitReady(NetworkClientUtils.java:7)",
        "\tbroker.id = 2\n\toffsets.topic.replication.factor = 3",
    ],
)
def test_the_rest_of_a_record_that_begins_in_another_file_lacks_no_date(text: str) -> None:
    assert [row["event"] for row in read(text)] == ["source"]


def test_a_literal_in_a_later_line_of_a_record_makes_no_second_event() -> None:
    text = "[2026-11-21 02:15:38,147] ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)\njava.lang.Error: x\nkafka 02:15 INFO ==> Starting Kafka\n"
    assert len(of(read(text), "fatal-error")) == 1


def test_an_exception_in_the_line_of_its_error_is_its_cause() -> None:
    line = (
        "[2026-11-21 02:15:38,147] ERROR Exiting Kafka due to fatal exception (kafka.Kafka$) kafka.common.KafkaException: no at kafka.Kafka"
    )
    assert [row["key"] for row in of(read(line), "fatal-error")] == ["kafka.common.KafkaException: no at kafka.Kafka"]


def test_an_exception_in_the_line_of_its_error_is_read_as_if_below_it() -> None:
    head = (
        "[2026-11-21 02:15:38,147] ERROR Error while flushing log for t-0 in dir C:\\kd with offset 8 (kafka.server.LogDirFailureChannel)"
    )
    thrown, trace = (
        "java.nio.file.NoSuchFileException: C:\\kd\\t-0\\8.index",
        "at sun.nio.fs.WindowsException.translate(WindowsException.java:79)",
    )

    def read_of(text: str) -> list[object]:
        return [(r["event"], r.get("directory"), r.get("value"), r.get("reason")) for r in read(text) if r["event"] != "source"]

    assert read_of(f"{head} {thrown} {trace}\n") == read_of(f"{head}\n{thrown}\n\t{trace}\n") != []


@pytest.mark.parametrize("mark", ["`", "> ", '"', "> `", "“"])
def test_only_the_first_line_of_a_quoted_block_has_a_mark(mark: str) -> None:
    thrown = "kafka.common.InconsistentClusterIdException: The Cluster ID AAAAAAAAAAAAAAAAAAAAAA doesn't match stored clusterId Some(BBBBBBBBBBBBBBBBBBBBBA) in meta.properties."
    error = "[2026-11-21 02:15:38,147] ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)"
    assert len(of(read(f"{mark}{thrown}\n\tat kafka.server.KafkaServer.startup(KafkaServer.scala:220)\n"), "cluster-id-mismatch")) == 1
    assert len(of(read(f"{mark}{error}\n{error.replace(':38', ':39')}\n"), "fatal-error")) == 2


def test_text_without_times_is_no_unknown_layout() -> None:
    assert of(read("nohup: ignoring input\nOpenJDK Server VM warning: x\n"), "problem") == []


@pytest.mark.parametrize(
    "other",
    [
        "2026-11-21 02:15:38 INFO  [main] Log:12 - [Log partition=clicks-0, dir=/data] Truncating to offset {}",
        f"{STAMP} stdout F {TRUNCATED}",
        f"kafka-1 | {TRUNCATED}",
        "==> a/server.log <==\n" + TRUNCATED,
        "\x1b[31m" + TRUNCATED,
        '{{"log":"' + TRUNCATED + '\\n","stream":"stdout","time":"' + STAMP + '"}}',
        '{{"@timestamp":"' + STAMP + '","log.level":"INFO","message":"Truncating to offset {}","log.logger":"kafka.log.Log"}}',
    ],
)
def test_file_that_changes_in_the_middle(other: str) -> None:
    lines = [TRUNCATED.format(0), other.format(1), other.format(2), TRUNCATED.format(3), other.format(4)]
    data = "".join(f"{NOISE}\n{line}\n" for line in lines).encode()
    rows = list(read_log(BytesIO(data), MEMBER, "server-log"))
    found = sorted(of(rows, "truncation"), key=lambda row: row["line"])
    assert [row["offset"] for row in found] == [0, 1, 2, 3, 4]
    for row, line in zip(found, lines, strict=True):
        last = line.rpartition("\n")[2]
        assert row["text"] == last
        assert data[row["byte"] :].startswith(last.encode())
        assert data[: row["byte"]].count(b"\n") == row["line"] - 1


def test_record_of_several_wrapped_lines() -> None:
    refused = next(s.line for p in PATTERNS if p.name == "append-below-min-isr" for s in p.samples)
    lines = [f"{STAMP} stdout F {line}" for line in [NOISE, *refused.split("\n"), "\tat x", NOISE]]
    (row,) = of(read("\n".join(lines)), "append-refused")
    assert (row["line"], row["text"]) == (2, "\n".join(lines[1:-1]))


@settings(max_examples=30)
@given(st.integers(0, 1000), st.sampled_from([2000, 5000]))
def test_chunks_of_wrapped_lines_make_no_difference(seed: int, size: int) -> None:
    data = b"".join(f"{STAMP} stdout F ".encode() + line + b"\n" for line in _log(seed, 60).splitlines())
    whole = read(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("parsers.catalogue.log_file.WRAPPED", size * 4)
        pieces = read(data)
    assert pieces[:-1] == whole[:-1]


WRAPPINGS = (
    b"",
    f"{STAMP} stdout F ".encode(),
    b"[pod/a-1/k] ",
    b"\x1b[0m",
    b"kafka-1 | ",
    b"Nov 21 02:15:38 h k: ",
    b'{"log":"',
    b"\n",
    b"==> x <==\n",
)


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.sampled_from(WRAPPINGS), st.one_of(st.sampled_from(LINES).map(str.encode), st.binary(max_size=40))), max_size=15)
)
def test_any_wrapping(parts: list[tuple[bytes, bytes]]) -> None:
    data = b"\n" + b"\n".join(wrapping + line for wrapping, line in parts)
    rows = list(read_log(BytesIO(data), MEMBER, "server-log"))
    kept(rows)
    assert rows[-1]["source"] == MEMBER.path
    assert collected(rows)["bytes"] == len(data)
    assert len(own_and_others(rows)) == len(of(rows, "source"))
    for row in rows:
        if row.get("line") and row["event"] != "problem":
            assert data[: row["byte"]].count(b"\n") == row["line"] - 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_log_saved_by_powershell(encoding: str) -> None:
    lines = [NOISE, TRUNCATED.format(190), f"[pod/kafka-0/kafka] {TRUNCATED.format(80)}", ""]
    data = "\r\n".join(lines).encode(encoding)
    rows = list(read_log(BytesIO(data if encoding == "utf-16" else b"\xfe\xff" + data), MEMBER, "server-log"))
    assert [(row["line"], row["offset"]) for row in of(rows, "truncation")] == [(2, 190), (3, 80)]
