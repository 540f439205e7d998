"""Every record of a log comes as a row, whole, in its place, with what the catalogue reads in it; in any layout and wrapping."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers import records as module
from parsers.catalogue.log_file import read_log
from parsers.log_pattern import compiled
from parsers.records import MAX_RECORD, RECORDS, batches, records
from parsers.schemas import Member
from tests.bundles.test_layouts_of_bundles import LAYOUTS, entries, exported
from tests.support.shapes import bundle

NAME = "unclean-election-2.8.2-zk"
FIRST = "[2026-11-21 01:53:03,279] INFO Working (kafka.server.KafkaServer)"
SECOND = "[2026-11-21 01:53:04,000] ERROR Failed (kafka.log.Log)"
TRACE = "java.io.IOException: No space left on device\n\tat java.base/sun.nio.ch.FileDispatcherImpl.write0(Native Method)"


def read(data: str | bytes, path: str = "logs/server.log", **more: Any) -> list[dict[str, Any]]:
    content = data.encode() if isinstance(data, str) else data
    return list(records(BytesIO(content), Member(path, len(content), None), "server-log", **more))


def statements(rows: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    return Counter((r["source"], e["event"], e["topic"], e["partition"], e["node"]) for r in rows for e in r["events"])


def expected(data: bytes, path: str = "logs/server.log") -> Counter[tuple[Any, ...]]:
    events = read_log(BytesIO(data), Member(path, len(data), None), "server-log")
    return Counter(
        (e["source"], e["event"], e.get("topic"), e.get("partition"), e.get("node"))
        for e in events
        if e["event"] not in ("source", "last-line") and e.get("line")
    )


def logs(name: str) -> dict[str, bytes]:
    return {path: file.content for path, file in bundle(name).items() if "/logs/" in path and path.endswith(".log") and file.content}


@pytest.mark.parametrize(
    "name",
    [NAME, "unclean-election-1.0.2-zk", "last-replica-standing-0.11.0.3-zk", "power-loss-divergence-3.9.1-kraft", "min-isr-2.8.2-zk"],
)
def test_nothing_of_a_real_log_is_lost_and_all_that_is_known_of_it_is_told(name: str) -> None:
    for path, data in logs(name).items():
        rows = read(data, path)
        assert [line for r in rows for line in r["text"].split("\n") if line] == [line for line in data.decode().split("\n") if line]
        assert statements(rows) == expected(data, path)
        assert [r["number"] for r in rows] == list(range(len(rows)))
        for row in rows:
            assert data[row["byte"] :].startswith(row["text"].partition("\n")[0].encode())
            assert data.count(b"\n", 0, row["byte"]) + 1 == row["line"]


@pytest.mark.parametrize(("layout", "broker"), [(layout, 1 + turn % 3) for turn, layout in enumerate(LAYOUTS)])
def test_every_layout_and_wrapper_gives_the_same_records(layout: str, broker: int) -> None:
    write = LAYOUTS[layout]
    for path, data in logs(NAME).items():
        if not path.startswith(f"broker-{broker}/"):
            continue
        plain = list(entries(data))
        text = "".join(write(entry, number) for number, entry in enumerate(plain))
        made = text.encode("latin-1" if write is exported else "utf-8")
        rows = read(made, path)
        assert [r["time"] for r in rows] == [entry.utc for entry in plain]
        assert [r["level"] for r in rows] == [entry.level for entry in plain]
        if layout != "no-logger":
            assert all(entry.logger.endswith(r["logger"].rpartition(".")[2]) for r, entry in zip(rows, plain, strict=True) if entry.logger)
        assert all(entry.trace in r["text"] for r, entry in zip(rows, plain, strict=True))
        assert statements(rows) == expected(made, path)


def test_small_pieces_give_what_a_large_one_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    data = logs(NAME)["broker-1/logs/server.log"]
    whole = read(data)
    monkeypatch.setattr(module, "PIECE", 5000)
    assert read(data) == whole
    assert len(whole) > 200


@pytest.mark.parametrize("mark", ["utf-16-le", "utf-16-be"])
def test_utf_16_as_powershell_writes_it(mark: str) -> None:
    data = logs(NAME)["broker-1/logs/server.log"]
    rows = read(("\ufeff" + data.decode()).encode(mark))
    assert [r["text"].lstrip("\ufeff") for r in rows] == [r["text"] for r in read(data)]
    assert [(r["time"], r["events"]) for r in rows] == [(r["time"], r["events"]) for r in read(data)]


def test_a_stack_trace_stays_with_its_record() -> None:
    rows = read(f"{FIRST}\n{SECOND}\n{TRACE}\n{FIRST}\n")
    assert [r["text"] for r in rows] == [FIRST, f"{SECOND}\n{TRACE}", FIRST]
    assert [(r["line"], r["lines"]) for r in rows] == [(1, 1), (2, 3), (5, 1)]
    assert [r["byte"] for r in rows] == [0, len(FIRST) + 1, len(f"{FIRST}\n{SECOND}\n{TRACE}\n")]
    assert (rows[1]["level"], rows[1]["logger"], rows[1]["time"]) == ("ERROR", "kafka.log.Log", datetime(2026, 11, 21, 1, 53, 4))


def test_the_logger_may_stand_at_the_end_of_a_later_line() -> None:
    (row,) = read("[2026-11-21 01:53:03,279] INFO KafkaConfig values: \n\tbroker.id = 1\n (kafka.server.KafkaConfig)\n")
    assert (row["logger"], row["lines"]) == ("kafka.server.KafkaConfig", 3)


def test_lines_before_the_first_record_are_rows_without_time() -> None:
    rows = read(f"\tat kafka.Kafka$.main(Kafka.scala)\nsecond\n\n{FIRST}\nafter\n")
    assert [(r["text"], r["line"], r["time"], r["level"]) for r in rows] == [
        ("\tat kafka.Kafka$.main(Kafka.scala)", 1, None, None),
        ("second", 2, None, None),
        (f"{FIRST}\nafter", 4, datetime(2026, 11, 21, 1, 53, 3, 279000), "INFO"),
    ]


def test_a_record_without_a_date_has_the_time_of_the_one_before() -> None:
    rows = read("\n".join([FIRST, SECOND.replace("2026-11-21", "2026-99-99"), FIRST.replace("03,279", "09,000")]))
    assert [r["time"].second for r in rows] == [3, 3, 9]


def test_a_piece_without_any_record_is_no_file_without_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIECE", 4000)
    rows = read(FIRST + "\n\tat kafka.Endless.call(Endless.scala) 01:53:03 (kafka.cluster.Partition)" * 5000)
    assert len(rows) > 1
    assert not any(r["events"] for r in rows)


def test_a_log_in_no_known_layout_comes_line_by_line() -> None:
    assert [(r["text"], r["line"], r["time"]) for r in read("one\ntwo\nthree")] == [("one", 1, None), ("two", 2, None), ("three", 3, None)]


def test_the_users_own_pattern() -> None:
    data = "21.11.2026 01-53-03-279 <main> INFO >> Started\nmore\n21.11.2026 01-53-04-000 <main> WARN >> Next\n"
    rows = read(data, layouts=[compiled("%d{dd.MM.yyyy HH-mm-ss-SSS} <%t> %p >> %m%n")])
    assert [(r["time"], r["level"], r["lines"]) for r in rows] == [
        (datetime(2026, 11, 21, 1, 53, 3, 279000), "INFO", 2),
        (datetime(2026, 11, 21, 1, 53, 4), "WARN", 1),
    ]


def test_a_record_without_end_goes_on_in_further_rows() -> None:
    line = "\tat kafka.Endless.call(Endless.scala)"
    rows = read(FIRST + f"\n{line}" * 5000)
    assert len(rows) == 3
    assert max(len(r["text"]) for r in rows) <= MAX_RECORD
    assert sum(r["text"].count(line) for r in rows) == 5000
    assert {r["time"] for r in rows} == {datetime(2026, 11, 21, 1, 53, 3, 279000)}


def test_a_long_line_goes_on_in_further_rows() -> None:
    rows = read(FIRST.replace("Working", "x" * 200_000))
    assert [len(r["text"]) for r in rows] == [MAX_RECORD, MAX_RECORD, MAX_RECORD, len(rows[-1]["text"])]
    assert "".join(r["text"] for r in rows) == FIRST.replace("Working", "x" * 200_000)
    assert {(r["line"], r["level"]) for r in rows} == {(1, "INFO")}


def test_a_file_that_begins_to_be_wrapped_in_the_middle() -> None:
    wrapped = f"2026-11-21T01:53:05.000000000Z stdout F {SECOND}\n"
    rows = read(f"{FIRST}\n" * 300 + wrapped * 2)
    assert [r["text"] for r in rows] == [FIRST] * 300 + [SECOND] * 2
    assert [r["line"] for r in rows] == list(range(1, 303))


def test_files_joined_by_tail_are_sources_of_their_own() -> None:
    rows = read(f"==> a/server.log <==\n{FIRST}\n\n==> b/state-change.log <==\n{SECOND}\n{TRACE}\n", "all.txt")
    assert [(r["source"], r["number"], r["line"], r["text"]) for r in rows] == [
        ("all.txt#a/server.log", 0, 2, FIRST),
        ("all.txt#b/state-change.log", 0, 5, f"{SECOND}\n{TRACE}"),
    ]


def test_interleaved_writers_keep_their_traces_apart() -> None:
    lines = [("a", FIRST), ("b", SECOND), ("a", "\tat a"), ("b", "\tat b"), ("a", "\tat aa")]
    rows = read("".join(f"[pod/{pod}/kafka] {line}\n" for pod, line in lines))
    assert {(r["source"].partition("#")[2], r["text"], r["lines"]) for r in rows} == {
        ("a", f"{FIRST}\n\tat a\n\tat aa", 1),
        ("b", f"{SECOND}\n\tat b", 1),
    }


def test_whole_seconds_take_the_fraction_of_their_container() -> None:
    line = FIRST.replace(",279", "").replace("[", "").replace("]", "")
    (row,) = read(f"2026-11-20T23:53:03.123456789Z stdout F {line}\n")
    assert (row["time"], row["clock"]) == (datetime(2026, 11, 21, 1, 53, 3, 123456), "line")


def test_a_stream_that_breaks_says_so_after_what_was_read() -> None:
    class Breaking(BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            data = super().read(size)
            if not data:
                raise OSError("CRC error")
            return data

    rows = list(records(Breaking(f"{FIRST}\n{SECOND}\n".encode()), Member("a", None, None), "server-log"))
    assert [r["text"] for r in rows[:2]] == [FIRST, SECOND]
    assert [e["event"] for e in rows[2]["events"]] == ["problem"]
    assert "CRC error" in rows[2]["text"]
    assert len(rows) == 3


def test_events_are_read_only_when_asked_for() -> None:
    assert [r["events"] for r in read(f"{FIRST}\n", stated=False)] == [None]


def test_number_out_of_range_is_a_problem_of_its_record() -> None:
    line = "[2026-11-21 01:53:03,279] INFO [Log partition=t-99999999999, dir=/d] Truncating to offset 7 (kafka.log.Log)"
    (row,) = read(line)
    assert [e["event"] for e in row["events"]] == ["problem"]


PIECES = st.lists(
    st.one_of(
        st.binary(max_size=40),
        st.sampled_from(
            [
                FIRST,
                SECOND,
                TRACE,
                "",
                "\t",
                "==> x <==",
                "__CURSOR=a",
                "MESSAGE",
                '{"log":"x\\n","stream":"stdout","time":"2026-11-21T00:15:38.1Z"}',
            ]
        ).map(str.encode),
    ),
    max_size=12,
)


@given(PIECES, st.sampled_from([b"\n", b"\r\n", b"\x00", b" "]))
@settings(max_examples=150)
def test_any_bytes(pieces: list[bytes], between: bytes) -> None:
    rows = read(between.join(pieces))
    for batch in batches(rows):
        assert batch.schema == RECORDS
        batch.validate(full=True)
    for source in {r["source"] for r in rows}:
        numbers = [r["number"] for r in rows if r["source"] == source]
        assert numbers == list(range(len(numbers)))
    assert all(r["level"] is None or r["clock"] is None or r["time"] is not None for r in rows)


@given(st.lists(st.sampled_from([FIRST, SECOND, TRACE, "plain", "\tat x"]), max_size=20))
@settings(max_examples=100)
def test_no_line_is_lost(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert [line for r in read(text) for line in r["text"].split("\n")] == (text.split("\n") if text else [])
