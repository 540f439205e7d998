"""What a broker on Windows leaves behind: its paths, its line ends, and settings in which a backslash is no separator."""

from __future__ import annotations

import re
from datetime import datetime
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.templates.matching import matching
from parsers.catalogue.record import search_all
from parsers.evidence import read_source
from parsers.patterns import PATTERNS
from parsers.schemas import Member, Row
from tests.support.events import one_by_one

_PATH = re.compile(
    r"(?<![\w./\\-])(?!/(?:brokers|controller\w*|admin|config|kafka|isr_change_notification|bitnami)\b|/\d+\.\d)/(?:[\w.-]+/)*[\w.-]+"
)
"""A path of a sample, unless it is one of ZooKeeper's or of an image, or an address as Java prints it."""
WITH_PATHS = [(p, s) for p in PATTERNS for s in p.samples if _PATH.search(s.line)]

FOLDERS = st.sampled_from(
    ("kafka_2.13-2.8.0", "kafka-logs-1", "orders-0", "Program Files (x86)", "kafka [old]", "in dir of t-7", "t-0.x-delete")
) | st.text("ab7 -_.()é", min_size=1, max_size=8).filter(lambda name: name == name.strip())
"""Names of directories, which have no comma: log.dirs is a list of names with commas between them (CoreUtils.parseCsvList)."""
PLACES = st.builds(
    lambda root, folders: ("\\" if root[0] != "/" else "/").join((root, *folders)),
    st.sampled_from(("C:", "d:", r"\\files\kafka data", "/mnt", "/Volumes/My Disk")),
    st.lists(FOLDERS, max_size=3),
)


def moved(text: str, place: str) -> str:
    """The text with its paths below another place, in that system's spelling."""
    separator = "/" if place[0] == "/" else "\\"
    return _PATH.sub(lambda path: place + path[0].replace("/", separator), text)


@settings(max_examples=15)
@given(place=PLACES)
def test_lines_are_read_wherever_the_log_directory_lies(place: str) -> None:
    for pattern, sample in WITH_PATHS:
        line = moved(sample.line, place)
        assert [p.name for p in matching(line)] == [pattern.name], line
        expected = [
            {k: moved(v, place) if k in ("directory", "value", "text", "key") and v else v for k, v in r.items()}
            for r in search_all(sample.line)
        ]
        assert _told(search_all(line)) == _told(expected), line


def test_lines_are_read_with_the_line_ends_of_windows() -> None:
    for line in (s.line for p in PATTERNS for s in p.samples):
        expected = search_all(line + "\n")
        assert _told(search_all(line.replace("\n", "\r\n") + "\r\n")) == _told(expected), line


FILES: dict[str, bytes] = {
    "d/replication-offset-checkpoint": b"0\n2\nt 0 17\na-b 1 4\n",
    "d/recovery-point-offset-checkpoint": b"0\n1\nt 0 17\n",
    "d/log-start-offset-checkpoint": b"0\n1\nt 0 17\n",
    "d/cleaner-offset-checkpoint": b"0\n1\nt 0 17\n",
    "d/t-0/leader-epoch-checkpoint": b"0\n2\n0 0\n3 17\n",
    "d/t-0/partition.metadata": b"version: 0\ntopic_id: 0Vr1r_F2R-KtSGNhHPO65A",
    "d/meta.properties": b"#\n#Sat May 01 12:00:00 CEST 2021\nversion=0\nbroker.id=1\ncluster.id=8d9m_bTrRiCpwmRarvC_0w\n",
    "config/server.properties": b"# x\nbroker.id=1\nlog.dirs=/data/a,\\\n  /data/b\nzookeeper.connect=localhost:2181\n",
    "d/.kafka_cleanshutdown": b'{"version":0,"brokerEpoch":7}\n',
    "d/__cluster_metadata-0/quorum-state": b'{"leaderId":1,\n"leaderEpoch":3,"votedId":-1,"currentVoters":[{"voterId":1}],"data_version":0}\n',
}


@pytest.mark.parametrize("path", FILES)
def test_a_file_is_read_with_the_line_ends_of_windows(path: str) -> None:
    unix, windows = _read(path, FILES[path]), _read(path, FILES[path].replace(b"\n", b"\r\n"))
    assert len(unix) > 1
    assert "problem" not in [row["event"] for row in windows]
    assert _told(windows) == _told(unix)


@pytest.mark.parametrize(
    ("written", "read"),
    [(r"D:\\kafka\\logs", r"D:\kafka\logs"), ("D:/kafka/logs", "D:/kafka/logs"), (r"D:\kafka\logs", "D:kafkalogs"), (r"D:\tmp", "D:\tmp")],
    ids=["doubled", "slashes", "lost", "tab"],
)
def test_a_backslash_in_a_setting_escapes_as_java_has_it(written: str, read: str) -> None:
    rows = _read("config/server.properties", f"broker.id=1\r\nlog.dirs={written}\r\n".encode())
    assert [row["value"] for row in rows if row.get("key") == "log.dirs"] == [read]


def _read(path: str, content: bytes) -> list[Row]:
    return list(one_by_one(read_source(Member(path, len(content), datetime(2024, 5, 1)), BytesIO(content))))


def _told(rows: list[Row]) -> list[dict[str, Any]]:
    """Rows without what tells of their place and of the file's own bytes."""
    return [{k: v for k, v in row.items() if k not in ("text", "byte", "collected")} for row in rows]
