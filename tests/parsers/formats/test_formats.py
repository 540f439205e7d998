"""Every kind of file declares what recognises it, what reads it, and the events it gives."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from parsers.formats import FORMATS, READERS, kind_by_name, reader_of
from parsers.formats.file_kind import FileKind
from parsers.kinds import KINDS as EVENT_KINDS
from parsers.schemas import Member
from tests.support import recorded
from tests.support.local import events_of

ABOUT_THE_FILE = {"source", "problem"}


@pytest.mark.parametrize("kind", FORMATS, ids=lambda kind: f"{kind.name}-{kind.rank}{kind.topic or ''}")
def test_a_kind_is_recognised_and_gives_known_events(kind: FileKind) -> None:
    assert kind.expression or kind.content or kind.topic
    assert kind.events <= EVENT_KINDS.keys() - ABOUT_THE_FILE
    assert kind.read is not None or not kind.events


def test_json_by_columns_is_named_as_unread(tmp_path: Path) -> None:
    lines = ["[2026-11-21 02:15:38,147] INFO Truncating to offset 7 (kafka.log.Log)"] * 9
    (tmp_path / "results.json").write_text(json.dumps({"fields": ["_raw", "host"], "columns": [lines, ["kafka-1"] * 9]}))
    problems = [event["text"] for event in events_of(tmp_path).to_pylist() if event["event"] == "problem"]
    assert problems == ["JSON with a list for each column cannot be read here; export its rows as JSON or CSV"]


def test_a_segment_of_an_internal_topic_has_its_own_reader() -> None:
    path = "data/{}-0/00000000000000000000.log"
    assert kind_by_name(path.format("orders"), "00000000000000000000.log") == "segment"
    assert kind_by_name(path.format("__cluster_metadata"), "00000000000000000000.log") == "metadata-segment"
    of_groups, of_orders = (reader_of("segment", Member(path.format(t), None, None)) for t in ("__consumer_offsets", "orders"))
    assert of_orders is READERS["segment"] is not of_groups


@pytest.mark.parametrize("name", ["clean-failover-3.9.1-kraft", "clean-failover-2.8.2-zk"])
def test_files_give_only_the_events_that_their_kind_declares(name: str) -> None:
    declared: dict[str, set[str]] = defaultdict(set)
    for kind in FORMATS:
        declared[kind.name] |= kind.events
    events = recorded.events(name).select(["source", "event", "collected"]).to_pylist()
    kinds = {e["source"]: e["collected"]["kind"] for e in events if e["event"] == "source"}
    wrong = {(kinds[e["source"]], e["event"]) for e in events if kinds.get(e["source"]) in declared}
    assert {(kind, event) for kind, event in wrong if event not in declared[kind] | ABOUT_THE_FILE} == set()
