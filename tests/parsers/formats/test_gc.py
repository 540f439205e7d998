"""Garbage collection logs, as Java 17 and 25 wrote them and as Java 8 did."""

from __future__ import annotations

import io
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.formats.gc import MAX_WAITING, THRESHOLD_MS, read
from parsers.kinds import KINDS
from parsers.schemas import Member, Row
from tests.fuzzing.contract import kept

TIME = datetime(2026, 11, 21, 7, 45, 40)
UNIFIED = """\
[2026-11-21T07:43:52.812+0000][gc,init] CardTable entry size: 512
[2026-11-21T07:43:53.195+0000][gc,start    ] GC(1) Pause Young (Allocation Failure)
[2026-11-21T07:43:53.283+0000][gc          ] GC(1) Pause Young (Allocation Failure) 199M->199M(365M) 246.522ms
[2026-11-21T07:43:53.297+0000][gc,start    ] GC(2) Pause Full (System.gc())
[2026-11-21T07:43:53.297+0000][gc,phases,start] GC(2) Phase 1: Mark live objects
[2026-11-21T07:43:54.900+0000][gc,phases      ] GC(2) Phase 1: Mark live objects 1603.100ms
[2026-11-21T07:43:56.416+0000][gc             ] GC(2) Pause Full (System.gc()) 275M->275M(609M) 3119.204ms
[2026-11-21T07:43:56.418+0000][safepoint      ] Safepoint "GenCollectFull", Time since last: 13931984 ns, Reaching safepoint: 3029 ns, Cleanup: 59381 ns, At safepoint: 3120613678 ns, Total: 3120676088 ns
[2026-11-21T07:43:59.000+0000][gc             ] GC(3) Concurrent Mark Cycle 5000.000ms
[2026-11-21T07:44:10.000+0000][safepoint      ] Safepoint "RevokeBias", Time since last: 13931984 ns, Reaching safepoint: 2000000000 ns, Cleanup: 59381 ns, At safepoint: 100 ns, Total: 2000059481 ns
"""
JAVA_8_CMS = """\
Java HotSpot(TM) 64-Bit Server VM (25.201-b09) for linux-amd64 JRE (1.8.0_201-b09), built on Dec 15 2018
2014-11-30T01:51:35.632+0000: [GC (CMS Final Remark) [YG occupancy: 292006 K (1179648 K)][class unloading, 29.2450253 secs][1 CMS-remark: 1101173K(1835008K)] 1393180K(3014656K), 34.3796360 secs] [Times: user=0.92 sys=0.38, real=34.37 secs]
2014-11-30T01:55:35.632+0000: 267.006: [GC 267.006: [ParNew: 629120K->629120K(629120K), 0.0000200 secs]267.006: [CMS267.350: [CMS-concurrent-mark: 2.683/2.804 secs] [Times: user=4.81 sys=0.02, real=2.80 secs]
 (concurrent mode failure): 1378132K->1366755K(1398144K), 5.6213320 secs] 2007252K->1366755K(2027264K), [CMS Perm : 57231K->57222K(95548K)], 5.6215150 secs] [Times: user=5.63 sys=0.00, real=5.62 secs]
2014-11-30T01:55:41.254+0000: 272.628: Total time for which application threads were stopped: 5.6216000 seconds, Stopping threads took: 0.0000100 seconds
2014-11-30T01:56:41.254+0000: 332.628: [CMS-concurrent-mark: 7.5/7.5 secs] [Times: user=4.81 sys=0.02, real=7.50 secs]
"""
JAVA_8_G1 = """\
2017-04-18T09:12:34.891+0000: 3847.234: [GC pause (G1 Evacuation Pause) (young)
Desired survivor size 134217728 bytes, new threshold 15 (max threshold 15)
, 1.2345000 secs]
   [Parallel Time: 44.3 ms, GC Workers: 8]
 [Times: user=0.33 sys=0.02, real=1.23 secs]
2017-04-18T09:12:36.131+0000: 3848.474: Total time for which application threads were stopped: 1.2400000 seconds, Stopping threads took: 0.1 seconds
2017-04-18T09:12:44.891+0000: 3857.234: [GC concurrent-mark-end, 5.3000000 secs]
2017-04-18T09:12:45.891+0000: 3858.234: [GC remark 3858.235: [Finalize Marking, 0.1000000 secs], 1.0071000 secs]
 [Times: user=0.33 sys=0.02, real=1.01 secs]
2017-04-18T09:12:55.891+0000: 3868.234: [Full GC (Allocation Failure)  3900M->3100M(4096M), 12.3000000 secs]
 [Times: user=14 sys=0.02, real=12.30 secs]
2017-04-18T09:13:30.000+0000: 3902.343: Total time for which application threads were stopped: 2.5000000 seconds, Stopping threads took: 2.4 seconds
"""


def rows(content: str | bytes, modified: datetime | None = TIME) -> list[Row]:
    data = content.encode() if isinstance(content, str) else content
    found = list(read(io.BytesIO(data), Member("logs/kafkaServer-gc.log", len(data), modified)))
    assert {row["event"] for row in found} <= set(KINDS)
    kept(found)
    assert [row["event"] for row in found].count("source") == 1
    assert found[-1]["event"] == "source"
    return found


def pauses(content: str | bytes) -> list[tuple[Any, ...]]:
    return [tuple(row.get(n) for n in ("line", "time", "clock", "duration_ms", "reason", "value")) for row in rows(content)[:-1]]


def test_unified_logging() -> None:
    assert pauses(UNIFIED) == [
        (7, datetime(2026, 11, 21, 7, 43, 53, 297000), "utc", 3119, "full", "Pause Full (System.gc())"),
        (10, datetime(2026, 11, 21, 7, 44, 8), "utc", 2000, "safepoint", "RevokeBias"),
    ]
    *_, source = rows(UNIFIED)
    collected = source["collected"]
    assert (collected["lines"], collected["clock"], collected["first"], collected["last"]) == (
        10,
        "utc",
        datetime(2026, 11, 21, 7, 43, 52, 812000),
        datetime(2026, 11, 21, 7, 44, 10),
    )
    full = rows(UNIFIED)[0]
    assert UNIFIED[full["byte"] :].startswith(full["text"])


@pytest.mark.parametrize(
    ("decorations", "clock"),
    [
        ("[2026-11-21T07:43:56.416+0000]", "utc"),
        ("[2026-11-21T09:43:56.416+0200][12.345s][info][gc          ]", "utc"),
        (
            "[2026-11-21T02:13:56.416-0530][2026-11-21T07:43:56.416+0000][0.07s][1795247135604ms][70ms][1315994897ns][vm][12507][info][gc]",
            "utc",
        ),
        ("[1795247036416ms][info][gc]", "utc"),
        ("[2026-11-21T07:43:56.416][info][gc]", "line"),
    ],
)
def test_decorations(decorations: str, clock: str) -> None:
    (found,) = pauses(f"{decorations} GC(2) Pause Full (System.gc()) 275M->275M(609M) 3119.204ms\n")
    assert found[1:4] == (datetime(2026, 11, 21, 7, 43, 53, 297000), clock, 3119)


def test_time_since_the_start_is_reckoned_back_from_the_files_last_change() -> None:
    content = (
        "[0.179s][info][gc] GC(0) Pause Young (x) 100M->98M(365M) 1000.000ms\n[10.0s][info][gc] GC(1) Pause Young (x) 1M->1M(3M) 2.0ms\n"
    )
    assert pauses(content) == [(1, datetime(2026, 11, 21, 7, 45, 29, 179000), "mtime", 1000, "young", "Pause Young (x)")]
    (row, _) = rows(content, None)
    assert (row["time"], row["duration_ms"]) == (None, 1000)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Pause Full (G1 Compaction Pause) 4000M->3900M(4096M)", "full"),
        ("Pause Young (Mixed) (G1 Evacuation Pause) 40M->39M(4096M)", "mixed"),
        ("Pause Young (Concurrent Start) (G1 Humongous Allocation) 40M->39M(96M)", "young"),
        ("Pause Remark 40M->39M(4096M)", "remark"),
        ("Pause Cleanup 40M->39M(4096M)", "cleanup"),
        ("Pause Initial Mark (System.gc()) 40M->39M(4096M)", "initial-mark"),
        ("Pause Init Mark", "initial-mark"),
        ("Pause Degenerated GC (Outside of Cycle) 40M->39M(4096M)", "degenerated"),
        ("Y: Pause Mark Start (Major)", "initial-mark"),
        ("Pause Mark End", "remark"),
        ("Pause Relocate Start", "other"),
    ],
)
def test_kinds_of_pauses(name: str, reason: str) -> None:
    (found,) = pauses(f"[2026-11-21T07:43:56.416+0000][gc] GC(2) {name} 1500.000ms\n")
    assert found[3:5] == (1500, reason)


def test_a_stalled_allocation_of_zgc() -> None:
    (found,) = pauses("[2026-11-21T07:43:56.416+0000][gc] Allocation Stall (kafka-request-handler-3) 1500.123ms\n")
    assert found[3:] == (1500, "allocation-stall", "Allocation Stall (kafka-request-handler-3) 1500.123ms")


def test_java_8_cms() -> None:
    assert pauses(JAVA_8_CMS) == [
        (2, datetime(2014, 11, 30, 1, 51, 35, 632000), "utc", 34380, "remark", "GC (CMS Final Remark)"),
        (3, datetime(2014, 11, 30, 1, 55, 35, 632000), "utc", 5622, "full", "GC"),
    ]


def test_java_8_g1() -> None:
    assert pauses(JAVA_8_G1) == [
        (1, datetime(2017, 4, 18, 9, 12, 34, 891000), "utc", 1234, "young", "GC pause (G1 Evacuation Pause) (young)"),
        (8, datetime(2017, 4, 18, 9, 12, 45, 891000), "utc", 1010, "remark", "GC remark"),
        (10, datetime(2017, 4, 18, 9, 12, 55, 891000), "utc", 12300, "full", "Full GC (Allocation Failure)"),
        (12, datetime(2017, 4, 18, 9, 13, 27, 500000), "utc", 2500, "safepoint", "stopped"),
    ]


@pytest.mark.parametrize(
    ("line", "reason", "milliseconds"),
    [
        ("668.806: [GC (Allocation Failure) [PSYoungGen: 3K->5K(5K)] 6K->3K(1K), 3.3093583 secs] [Times: user=1 sys=0.1, real=3.31 secs]",
         "young", 3310),
        ("668.806: [Full GC (Ergonomics) [PSYoungGen: 3K->5K(5K)] 6K->3K(1K), 3.3093583 secs] [Times: user=1 sys=0.1, real=3.31 secs]",
         "full", 3310),
        ("668.806: [GC cleanup 10M->9M(20M), 1.5 secs]", "cleanup", 1500),
        ("668.806: [GC (CMS Initial Mark) [1 CMS-initial-mark: 1K(2K)] 1K(3K), 1.5 secs] [Times: user=1 sys=0, real=1.50 secs]",
         "initial-mark", 1500),
        ("668.806: [GC pause (G1 Evacuation Pause) (mixed), 1.5 secs]", "mixed", 1500),
    ],
)  # fmt: skip
def test_java_8_kinds(line: str, reason: str, milliseconds: int) -> None:
    (found,) = pauses(line + "\n")
    assert found[2:5] == ("mtime", milliseconds, reason)


def test_short_pauses_are_not_told() -> None:
    line = "[2026-11-21T07:43:56.416+0000][gc] GC(2) Pause Full (x) 1M->1M(6M) {}ms\n"
    assert pauses(line.format(f"{THRESHOLD_MS - 1}.0")) == []
    assert len(pauses(line.format(f"{THRESHOLD_MS}.0"))) == 1


def test_a_record_that_goes_on_for_ever_holds_no_memory() -> None:
    content = "1.0: [GC pause (x) (young)\n" + "   [Parallel Time: 44.3 ms]\n" * 5000 + ", 9.0 secs]\n"
    assert pauses(content) == []


def test_pauses_without_dates_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_WAITING >= 1000
    monkeypatch.setattr("parsers.formats.gc.MAX_WAITING", 2)
    found = rows("[1.0s][gc] GC(2) Pause Full (x) 1M->1M(6M) 2000.0ms\n" * 5)
    assert [row["event"] for row in found] == ["jvm-pause", "jvm-pause", "problem", "source"]
    assert found[2]["text"].startswith("logs/kafkaServer-gc.log: 3 more")


@pytest.mark.parametrize(
    "line",
    [
        "[0001-01-01T00:00:00.000+0000][gc] GC(2) Pause Full (x) 1M->1M(6M) 999999999999.0ms",
        "[2026-99-21T07:43:56.416+0000][gc] GC(2) Pause Full (x) 1M->1M(6M) 2000.0ms",
        "[999999999999s][gc] GC(2) Pause Full (x) 1M->1M(6M) 2000.0ms",
        "[99999999999999ms][gc] GC(2) Pause Full (x) 1M->1M(6M) 2000.0ms",
        "999999999999.0: [Full GC 1M->1M(6M), 999999999.0 secs]",
    ],
)
def test_impossible_times(line: str) -> None:
    rows(line + "\n")


PIECES = [*(UNIFIED + JAVA_8_CMS + JAVA_8_G1).encode().splitlines(True), b"[", b"]", b"1.0: ", b"[GC ", b", 2.0 secs]", b"\xff\n", b"\n"]


@settings(max_examples=150)
@given(st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(PIECES), max_size=15).map(b"".join)))
def test_any_bytes_become_rows(content: bytes) -> None:
    rows(content)
