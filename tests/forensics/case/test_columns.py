"""Columns of another version: what is missing is null, what is unknown is left out, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from forensics.case.files import adapted
from forensics.case.read import Case
from forensics.case.tables import TABLES
from tests.forensics.case.test_case import make
from tests.support import recorded

OLD = pa.schema([("id", pa.int32()), ("places", pa.list_(pa.struct([("topic", pa.string()), ("gone", pa.int8())])))])
NEW = pa.schema(
    [("id", pa.int64()), ("places", pa.list_(pa.struct([("count", pa.int64()), ("topic", pa.string())]))), ("why", pa.string())]
)


def test_fields_of_structs_in_lists_are_added_and_left_out() -> None:
    places = [[{"topic": "a", "gone": 1}, None], None, [], [{"topic": None, "gone": None}, {"topic": "b", "gone": 2}]]
    rows = pa.Table.from_pylist([{"id": n, "places": own} for n, own in enumerate(places)], schema=OLD)
    there = [[{"count": None, "topic": "a"}, None], None, [], [{"count": None, "topic": None}, {"count": None, "topic": "b"}]]
    expected = [{"id": n, "places": own, "why": None} for n, own in enumerate(there)]
    for begin in range(4):
        found = adapted(rows.slice(begin), NEW.names, NEW)
        assert (found.schema, found.to_pylist()) == (NEW, expected[begin:])


def test_a_type_that_cannot_be_converted_is_an_error() -> None:
    with pytest.raises(pa.ArrowInvalid):
        adapted(pa.table({"id": ["x"]}), ["id"], NEW)


def test_a_case_of_this_version_is_the_same_either_way(tmp_path: Path) -> None:
    make(tmp_path / "a.case", recorded.events("clients-unclean-1.1.1-zk"))
    strict, tolerant = Case(tmp_path / "a.case"), Case(tmp_path / "a.case", tolerant=True)
    for table in TABLES:
        assert tolerant.table(table.name).equals(strict.table(table.name)), table.name
