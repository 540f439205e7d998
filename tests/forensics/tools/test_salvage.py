"""Lost records brought back: what is copied out of the evidence is what clients had been told was written, and nothing else."""

from __future__ import annotations

import hashlib
import json
import stat
import struct
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import google_crc32c
import pyarrow.parquet as pq
import pytest

from forensics.model.clock.resolver import EventResolver
from forensics.model.findings import DifferingCopies, Held, Salvageable
from forensics.model.message import Range
from forensics.tools.kafka_tools import Tools
from forensics.tools.salvage import places
from forensics.tools.salvage.equal_records import settle
from forensics.tools.salvage.rows import Row, markers, rows
from forensics.tools.salvage.segments import Lot, choose, copy, lots
from forensics.tools.salvage.written import NULL, JsonLines, Parquet, Sending, write_lines
from forensics.views.salvage import Salvage, SalvagedPartition
from parsers.containers.units import units
from parsers.decoding.batches import CODECS, Batch, headers
from parsers.decoding.bodies import BatchRecord
from tests.parsers.decoding.test_bodies import PACK, batch, body, v2
from tests.support import local, recorded
from tests.support.paths import BUNDLES, truth_of

SAVED = sorted(p.name.removesuffix(".tar.gz") for p in (*BUNDLES.glob("clients-*.tar.gz"), *BUNDLES.glob("producers-*.tar.gz")))


@cache
def wanted(name: str) -> tuple[tuple[Lot, ...], EventResolver]:
    table = recorded.events(name)
    return tuple(lots(local.report(table).findings)), local.gathered(table)[1]


def salvaged(name: str, directory: Path) -> tuple[list[Lot], list[str]]:
    found, resolver = wanted(name)
    own = [replace(lot, segments=[], copied=[], codecs=set()) for lot in found]
    return own, copy(units([str(BUNDLES / f"{name}.tar.gz")]), own, resolver.shown, directory)


def rows_of(own: list[Lot]) -> list[Row]:
    problems: list[str] = []
    found = [row for lot in own for row in rows(lot, markers(own), problems)]
    assert not problems
    return found


@pytest.mark.parametrize("name", SAVED)
def test_what_is_brought_back_is_what_clients_cannot_read_any_more(name: str, tmp_path: Path) -> None:
    own, problems = salvaged(name, tmp_path)
    assert not problems
    for partition, loss in truth_of(name)["lost"].items():
        mine = [r for r in rows_of([lot for lot in own if lot.name == partition]) if r.control is None]
        assert [r.record.offset for r in mine] == sorted(r.record.offset for r in mine)
        lines = b"".join(b"%d %b\n" % (r.record.offset, r.record.value or b"") for r in mine)
        assert len(mine) == loss["acked_records"]
        assert hashlib.sha256(lines).hexdigest() == loss["records_sha256"]
    assert {lot.name for lot in own if lot.copied} == set(truth_of(name)["lost"])


@pytest.mark.parametrize("name", SAVED)
def test_how_transactions_ended_and_who_sent_what(name: str, tmp_path: Path) -> None:
    own, _ = salvaged(name, tmp_path)
    found = rows_of(own)
    assert Counter(r.transaction for r in found if r.control is None and r.transaction) == {"committed": 20, "aborted": 10, "open": 10}
    assert sorted(r.control for r in found if r.control) == ["abort", "commit"]
    by_tag = {bytes(r.record.value or b"").split(b"|")[1].decode(): r.batch.codec for r in found if r.control is None}
    assert all(
        codec == tag.removeprefix("doomed-")
        for tag, codec in by_tag.items()
        if tag.removeprefix("doomed-") in ("gzip", "snappy", "lz4", "zstd", "none")
    )
    assert {r.record.sequence for r in found if (r.record.value or b"").startswith(b"orders|doomed-idempotent")} == set(range(30))


@pytest.mark.parametrize("name", SAVED[:1])
def test_the_segments_hold_these_batches_and_no_others(name: str, tmp_path: Path) -> None:
    own, _ = salvaged(name, tmp_path)
    for lot in own:
        for path in lot.segments:
            with path.open("rb") as file:
                batches = list(headers(file))
            assert all(isinstance(b, Batch) and b.valid for b in batches)
            first = batches[0]
            assert isinstance(first, Batch) and path.name == f"{first.base_offset:020d}.log"
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert all(stat.S_IMODE(d.stat().st_mode) == 0o700 for d in path.parents if d != tmp_path and d.is_relative_to(tmp_path))


@pytest.mark.parametrize("name", SAVED[:1])
def test_json_lines_and_parquet_say_the_same_and_keys_only_says_no_value(name: str, tmp_path: Path) -> None:
    own, _ = salvaged(name, tmp_path)
    found = rows_of(own)
    for values in (True, False):
        lines, table = tmp_path / f"{values}.jsonl", tmp_path / f"{values}.parquet"
        for writer in (JsonLines(lines, values=values), Parquet(table, values=values)):
            for row in found:
                writer.add(row)
            writer.close()
        read = [json.loads(line) for line in lines.read_text().splitlines()]
        kept = pq.read_table(table).to_pylist()
        assert [r["offset"] for r in read] == [r["offset"] for r in kept]
        assert [r.get("key") for r in read] == [k["key"].decode() if k["key"] is not None else None for k in kept]
        assert [r.get("value") for r in read] == [k["value"].decode() if k["value"] is not None else None for k in kept]
        assert {stat.S_IMODE(p.stat().st_mode) for p in (lines, table)} == {0o600}
        if not values:
            assert not any("value" in r for r in read) and b"doomed" not in lines.read_bytes() + table.read_bytes()


def row(key: bytes | None = None, value: bytes | None = b"v", own_headers: tuple[tuple[bytes, bytes | None], ...] = (), **own: Any) -> Row:
    lot = Lot("f", 0, "t", 0, 1, True, (Range(0, 9),), Salvageable())
    return Row(lot, BatchRecord(0, 5, key, value, own_headers), batch(v2(b"", 0)), own.get("control"), own.get("transaction"))


@pytest.mark.parametrize(
    ("sent", "lines", "properties"),
    [
        ([row(value=b"a"), row(value=b"b")], "a\nb\n", {}),
        ([row(b"k", b"a"), row(b"l", b"")], "k\ta\nl\t\n", {"parse.key": "true"}),
        ([row(b"k", b"a"), row(None, None)], f"k\ta\n{NULL}\t{NULL}\n", {"parse.key": "true", "null.marker": NULL}),
        ([row(own_headers=((b"h", None),))], f"h:{NULL}\tv\n", {"parse.headers": "true", "null.marker": NULL}),
        ([row(value=b"a", own_headers=((b"h", b"1"), (b"i", None))), row(value=b"b")], f"h:1,i:{NULL}\ta\n{NULL}\tb\n", {"parse.headers": "true", "null.marker": NULL}),
        ([row(value=b"a\nb"), row(value=b"\xff"), row(value=b"c", transaction="aborted"), row(value=b"d", transaction="open"), row(control="commit"), row(value=b"e", transaction="committed")], "e\n", {}),
        ([row(b"a\tb", b"v"), row(b"k", NULL.encode())], "", {"parse.key": "true"}),
    ],
)  # fmt: skip
def test_lines_for_the_console_producer(sent: list[Row], lines: str, properties: dict[str, str], tmp_path: Path) -> None:
    sending = Sending()
    for each in sent:
        sending.look(each)
    write_lines(tmp_path / "out", sent, sending)
    assert (tmp_path / "out").read_text() == lines
    assert sending.properties == properties
    assert sending.count + sending.unsendable + sending.unfinished == sum(r.control is None for r in sent)


@pytest.mark.parametrize(("version", "of_lines"), [((3, 9), "--property"), ((4, 2), "--reader-property")])
def test_the_command_sends_what_is_large_and_compressed(version: tuple[int, int], of_lines: str) -> None:
    command = Tools(version, kraft=True).produce("t", {"parse.key": "true"}, "lines", largest=2_000_000, codec="zstd")
    assert f"{of_lines} parse.key=true" in command and "--compression-codec=zstd" in command and "max.request.size=4000000" in command
    assert "max.request.size" not in Tools(version, kraft=True).produce("t", {}, "lines", largest=5)


@pytest.mark.parametrize("topic", ["..", ".", "../../etc/passwd", "a/b", "x" * 600, "orders", "\0"])
def test_a_topics_name_leads_nowhere_else(topic: str, tmp_path: Path) -> None:
    path = tmp_path / places.named(topic, 0)
    places.created(path).close()
    assert path.parent == tmp_path and path.resolve().parent == tmp_path.resolve()
    with pytest.raises(FileExistsError):
        places.created(path)


def test_what_is_not_where_it_was_is_told(tmp_path: Path) -> None:
    name = SAVED[0]
    lot = wanted(name)[0][0]
    gone = replace(lot, found=Salvageable((Held("broker-9/data/t-0/0.log", 0, 9, 1, Range(0, 5)),)), segments=[], copied=[], codecs=set())
    assert copy(units([str(BUNDLES / f"{name}.tar.gz")]), [gone], wanted(name)[1].shown, tmp_path) == [
        "broker-9/data/t-0/0.log: it is not there any more"
    ]
    assert gone.missing() == [Range(0, 5)]


def test_where_copies_differ_one_has_to_be_named() -> None:
    differing = DifferingCopies(2, Range(220, 260), ("a/broker-1/t-0/0.log", "b/broker-1/t-0/0.log"))
    held = (Held("b/broker-1/t-0/0.log", 0, 1, 2, Range(200, 300)),)
    lot = Lot("x", 0, "t", 0, 2, True, (Range(200, 300),), Salvageable(held, differing=(differing,)))
    for useless in ((), ("c",), ("a/broker-1", "b/broker-1")):
        choose(lot, useless)
        assert lot.unresolved == [differing] and lot.found.held == held
    choose(lot, ("a/broker-1",))
    assert lot.unresolved == []
    assert [(h.source[0], h.offsets) for h in lot.found.held] == [("a", Range(200, 300))], "nothing from the file that was not chosen"


def frame(own: list[BatchRecord], *, codec: str = "none", epoch: int = 3) -> bytes:
    """One batch of these records."""
    payload = PACK[codec](b"".join(body(r.offset - own[0].offset, r, own[0].timestamp) for r in own))
    last = own[-1].offset - own[0].offset
    fields = struct.pack(">hiqqqhii", CODECS.index(codec), last, own[0].timestamp, own[-1].timestamp, 7, 0, -1, len(own)) + payload
    return struct.pack(">qiibI", own[0].offset, 9 + len(fields), epoch, 2, google_crc32c.value(fields)) + fields


LOST = [BatchRecord(n, 1000 + n, b"k%d" % n, b"v%d" % n, ((b"h", None),)) for n in range(100, 110)]
BATCHED = [frame(LOST), frame(LOST, codec="gzip"), frame(LOST, codec="zstd"), frame(LOST[:4], codec="lz4") + frame(LOST[4:])]
FORGED = [
    frame([*LOST[:9], replace(LOST[9], **other)], codec=codec)
    for other in ({"value": b"w"}, {"key": None}, {"headers": ()}, {"timestamp": 5}, {"offset": 110})
    for codec in ("none", "gzip")
]


def settled(directory: Path, *contents: bytes) -> tuple[bool, str | None]:
    """Whether files with these contents are no obstacle, and why their records were not compared."""
    sources = tuple(f"{n}/t-0/{0:020d}.log" for n in range(len(contents)))
    for source, content in zip(sources, contents, strict=True):
        (directory / source).parent.mkdir(parents=True)
        (directory / source).write_bytes(content)
    differing = DifferingCopies(3, Range(100, 110), sources)
    lot = Lot("x", 0, "t", 0, 3, True, (Range(100, 110),), Salvageable(differing=(differing,)))
    settle([lot], units([str(directory)]), lambda path: path.removeprefix(f"{directory}/"))
    return not lot.unresolved, lot.not_compared.get(differing)


def test_records_that_were_only_compressed_or_batched_again_are_equal(tmp_path: Path) -> None:
    assert settled(tmp_path, *BATCHED) == (True, None)


@pytest.mark.parametrize("forged", FORGED)
def test_another_record_in_a_batch_of_any_codec_is_not_equal(forged: bytes, tmp_path: Path) -> None:
    assert settled(tmp_path, BATCHED[0], BATCHED[1], forged) == (False, None)


def test_records_that_cannot_be_decoded_are_not_compared(tmp_path: Path) -> None:
    unknown = bytearray(BATCHED[1])
    unknown[22] = 6
    unknown[17:21] = struct.pack(">I", google_crc32c.value(bytes(unknown[21:])))
    equal, why = settled(tmp_path, BATCHED[0], bytes(unknown))
    assert not equal and "unknown-6" in (why or "")


def test_a_loss_without_all_its_records_is_incomplete() -> None:
    whole = Lot("x", 0, "t", 0, 2, True, (Range(200, 300),), Salvageable((Held("s", 0, 1, 2, Range(200, 300)),)), copied=[Range(200, 300)])
    part = replace(whole, found=Salvageable(whole.found.held, (Range(190, 200),)))
    found = [Salvage([SalvagedPartition("t", 0, [lot])], "out", [], True, ()) for lot in (whole, part)]
    assert [(s.incomplete, s.document()["complete"]) for s in found] == [(False, True), (True, False)]
    assert Salvage([], "out", [], True, ()).incomplete is False
    assert Salvage([SalvagedPartition("t", 0, [whole])], "out", ["a batch cannot be read"], True, ()).incomplete
