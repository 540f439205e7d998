"""Rows that wait on disk: the same as in memory, whichever columns and rows are read."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import forensics.model.rows as stored
from forensics.model.rows import InMemory, OnDisk, Rows, Store, Stored
from tests.support import local, recorded

SCHEMA = pa.schema([("number", pa.int64()), ("name", pa.string()), ("list", pa.list_(pa.int32()))])
ROWS = [{"number": n, "name": f"name {n}" if n % 3 else None, "list": list(range(n % 5)) if n % 4 else None} for n in range(3000)]


def kept() -> Stored:
    store = Store(SCHEMA)
    for begin in range(0, len(ROWS), 700):
        store.add(pa.RecordBatch.from_pylist(ROWS[begin : begin + 700], SCHEMA))
    return store.kept()


@pytest.fixture(params=[0, stored.IN_MEMORY_BYTES], ids=["on disk", "in memory"])
def rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Stored:
    monkeypatch.setattr(stored, "IN_MEMORY_BYTES", request.param)
    found = kept()
    assert isinstance(found.batches, InMemory if request.param else OnDisk)
    return found


def test_rows_and_single_values_are_those_that_were_added(rows: Stored) -> None:
    assert [dict(row) for row in Rows(rows.batches)] == ROWS
    for number in random.Random(1).sample(range(len(ROWS)), 50):
        assert rows.value(number, "name").as_py() == ROWS[number]["name"]


def test_rows_are_taken_in_any_order(rows: Stored) -> None:
    numbers = random.Random(2).sample(range(len(ROWS)), 2500)
    taken = pa.Table.from_batches(rows.taken(pa.array(numbers, pa.int64())), SCHEMA)
    assert taken.to_pylist() == [ROWS[number] for number in numbers]
    view = Rows(rows.batches)
    assert view.at("list", numbers[:20]) == [ROWS[number]["list"] for number in numbers[:20]]
    assert view.lengths("list") == [len(row["list"] or ()) for row in ROWS]


def test_column_from_disk_takes_no_memory_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "IN_MEMORY_BYTES", 0)
    found, before = kept(), pa.total_allocated_bytes()
    column = found.column("number")
    assert pa.total_allocated_bytes() - before < 2 * column.nbytes


def test_view_has_no_other_columns(rows: Stored) -> None:
    with pytest.raises(KeyError):
        next(iter(Rows(rows.batches).of("number")))["name"]


def test_no_rows_have_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    none = Store(SCHEMA).kept()
    assert not len(none)
    assert none.column("list").type == SCHEMA.field("list").type
    assert not list(none.taken(pa.array([], pa.int64())))


def test_report_is_the_same_from_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    events = recorded.events("last-replica-standing-2.8.2-zk")
    in_memory = local.report(events).json()
    monkeypatch.setattr(stored, "IN_MEMORY_BYTES", 0)
    assert local.report(events).json() == in_memory
