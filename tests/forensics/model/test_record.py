"""Records from their declarations: types, rows and back, JSON values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

import pyarrow as pa
import pytest

from forensics.case.tables import TABLES
from forensics.model.findings import FINDING, FOLDED, Client, ClientOfGroup, Evidence, Finding, Fold, Held, Place, Salvageable, Written
from forensics.model.message import PACKED, Message, Range, said, timestamp, values
from forensics.model.record import Int32, NamedColumn, Record, RowWriters, reader, row_of, struct

AT = datetime(2026, 3, 1, 12)
LOST = Salvageable((Held("a.log", 7, 1, 2, Range(3, 5)),), (Range(5, None),), False, said("loss/elsewhere", broker=2))
READER = Client("g", "skips", 4, 2, AT, Range(3, 4), None, members=(ClientOfGroup("c", None),))
FOUND = Finding(
    kind="data-loss",
    severity="critical",
    confidence="certain",
    topic="orders",
    partition=0,
    brokers=(1, 2),
    start=AT,
    offsets=(Range(3, None),),
    salvageable=LOST,
    clients=(READER,),
    written=Written(AT, None),
    values=values(at=AT, left=Range(3, 5)),
    evidence=(Evidence("server.log", 1, None, "a line"),),
)
FOLDED_TWICE = Finding(
    kind="under-replicated",
    severity="medium",
    confidence="probable",
    incident="0123456789ab",
    places=(Place("orders", 0, 2, AT, None, (), None, (1,), salvageable=LOST, clients=(READER,)),),
    folds=(Fold("places", values(n=2)), Fold("again")),
    evidence=(),
)


@dataclass(frozen=True)
class Small(Record):
    number: Annotated[Int32, "a number"]
    since: Annotated[datetime | None, NamedColumn("from"), "a time"]
    said: Annotated[Message | None, PACKED, "a message"] = None
    ranges: Annotated[tuple[Range, ...], "ranges"] = ()
    own: object = None


def test_the_type_of_a_record() -> None:
    offsets = pa.struct([("start", pa.int64()), ("end", pa.int64())])
    assert struct(Small) == pa.struct(
        [("number", pa.int32()), ("from", pa.timestamp("us")), ("said", pa.string()), ("ranges", pa.list_(offsets))]
    )


@pytest.mark.parametrize("found", [FOUND, FOLDED_TWICE], ids=["loss", "folded"])
def test_a_record_is_the_same_after_it_was_a_row(found: Finding) -> None:
    (row,) = pa.array([row_of(Finding)(found)], struct(Finding)).to_pylist()
    assert reader(Finding)(row) == found


def test_a_row_has_the_columns_of_its_type() -> None:
    assert list(FOUND.row()) == [field.name for field in FINDING]
    assert not {*FOLDED} & {field.name for field in FINDING}


def test_json_has_words_and_times_as_text() -> None:
    small = Small(1, AT, said("loss/elsewhere", broker=2), (Range(1, None),))
    made = RowWriters({datetime: timestamp, Message: lambda message: message.id}).of(Small, "number")(small)
    assert made == {"from": "2026-03-01T12:00:00.000Z", "said": "loss/elsewhere", "ranges": [{"start": 1, "end": None}]}


def test_each_column_of_each_table_has_a_doc() -> None:
    for table in TABLES:
        assert [f.name for f in table.schema if not (f.metadata or {}).get(b"doc")] == [], table.name
