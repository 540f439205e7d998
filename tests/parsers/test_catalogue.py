from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers import catalogue
from parsers.catalogue import read_log, search
from parsers.patterns import PATTERNS
from parsers.schemas import MAX_TEXT, Member, Row, batches

MEMBER = Member("broker-1/logs/server.log", None, datetime(2026, 11, 21))
LINES = [sample.line for pattern in PATTERNS for sample in pattern.samples]
TRUNCATED = "[2026-11-21 02:15:38,147] INFO [Log partition=clicks-0, dir=/data] Truncating to offset {} (kafka.log.Log)"
NOISE = "[2026-11-21 02:15:38,147] INFO [GroupCoordinator 7]: Stabilized group g generation 1 (kafka.coordinator.group.GroupCoordinator)"
TRACE = "java.io.IOException: Connection to 2 was disconnected before the response was read\n\tat org.apache.kafka.clients.X.y(X.java:1)"


def read(data: bytes | str) -> list[Row]:
    rows = list(read_log(BytesIO(data.encode() if isinstance(data, str) else data), MEMBER, "server-log"))
    assert sum(batch.num_rows for batch in batches(rows)) == len(rows)
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
    assert {(row["line"], row["byte"], len(row["text"])) for row in rows} == {(2, len(NOISE) + 1, MAX_TEXT)}


def test_line_longer_than_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "CHUNK", 4096)
    long = "[2026-11-21 02:15:38,147] INFO " + "x" * 100_000 + " (a.B)"
    rows = read("\n".join([NOISE, long, TRUNCATED.format(190), ""]))
    (problem,) = of(rows, "problem")
    (row,) = of(rows, "truncation")
    assert (problem["reason"], problem["line"], problem["byte"]) == ("long-line", 2, len(NOISE) + 1)
    assert (row["line"], row["byte"]) == (3, len(NOISE) + len(long) + 2)
    assert (collected(rows)["lines"], collected(rows)["bytes"]) == (3, len(NOISE) + len(long) + len(TRUNCATED.format(190)) + 3)


def test_long_line_without_an_end_is_read_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "CHUNK", 1 << 16)

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
    monkeypatch.setattr(catalogue, "_PATIENCE", 0.001)
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


def test_uninterpolated_text_is_no_obstacle() -> None:
    line = (
        "[2026-11-21 02:15:38,147] WARN [Broker id=1] Received stop replica request from an old controller epoch "
        "${stopReplicaRequest.controllerEpoch}. Latest known controller epoch is $controllerEpoch (state.change.logger)"
    )
    row = search(line)
    assert row is not None
    assert (row["event"], row["node"]) == ("controller-refused", 1)


def test_unknown_line_is_none() -> None:
    assert search(NOISE) is None


def _log(seed: int, lines: int) -> bytes:
    chosen = random.Random(seed)
    return "".join(f"{chosen.choice([*LINES, NOISE, TRACE])}\n" for _ in range(lines)).encode()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([4096, 5000, 9999, 1 << 15]))
def test_chunks_make_no_difference(seed: int, chunk: int) -> None:
    data = _log(seed, 150)
    whole = read(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue, "CHUNK", chunk)
        assert read(data) == whole


@given(st.binary(max_size=2000))
def test_any_bytes(data: bytes) -> None:
    rows = read(data)
    assert collected(rows)["bytes"] == len(data)
    assert collected(rows)["lines"] == data.count(b"\n") + (not data.endswith(b"\n") and data != b"")


def _overwrite(data: bytearray, at: int, noise: bytes) -> None:
    data[at : at + len(noise)] = noise


def _insert(data: bytearray, at: int, noise: bytes) -> None:
    data[at:at] = noise


def _remove(data: bytearray, at: int, noise: bytes) -> None:
    del data[at : at + len(noise)]


@settings(max_examples=150, deadline=None)
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
            assert row["reason"] in {"out-of-range", "binary-noise"}
        else:
            assert bytes(data[: row["byte"]]).count(b"\n") == row["line"] - 1
            assert row["text"][:20] in bytes(data[row["byte"] :]).decode("utf-8", "replace")
