"""What is fuzzed: each a function that takes any bytes and raises where the contract is broken."""

from __future__ import annotations

import base64
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import pyarrow as pa

from forensics.case.recheck import INVALID, _rechecked
from forensics.model.findings import Held, Salvageable
from forensics.model.message import Range
from forensics.proof.judgement import Judgement
from forensics.proof.records import records as records_of_table
from forensics.proof.verdict import INTACT, UNKNOWN, VERDICTS, Handover, Verdict, rows_of, verdict
from forensics.tools.redaction import bundle, logs, reading, segments
from forensics.tools.redaction.names import Names
from forensics.tools.salvage.rows import markers, rows
from forensics.tools.salvage.segments import Lot
from parsers import evidence
from parsers.catalogue.log_file import read_log, read_log_by_columns
from parsers.containers.walk import members
from parsers.decoding.batches import CODECS, Batch, headers
from parsers.decoding.bodies import BatchRecord, UnreadableBatch, records
from parsers.decoding.encoding import Malformed
from parsers.formats import READERS, cluster_tools
from parsers.formats.checkpoints import EVENTS_OF_KIND
from parsers.learning.layout import layout_of
from parsers.lines import Outer
from parsers.log_pattern import compiled
from parsers.paths import partition_of
from parsers.schemas import EVENTS, Member, batches
from parsers.sniff import KINDS, sniff
from parsers.wrappers.unwrapper import Unwrapper, time_of
from tests.forensics.proof.tables import Choices, contradicts, rows_at_random, surer, wider_row
from tests.fuzzing.contract import kept, known, not_silent
from tests.parsers.decoding.test_bodies import body, message, v2
from tests.support.planted import Plant, survivors

Target = Callable[[bytes], None]
AT = datetime(2026, 11, 21)
SEGMENT = "00000000000000000000.log"
CHUNK = 1 << 16
_FEW = 7
BETWEEN, WITHIN = b"\xff\xfe\xfd", b"\xfd\xfe\xff"
"""What stands between records, and between a key and its value, in what is fuzzed of bodies: batches around them have the right checksums."""
NULL = b"\xfc"

PATHS: Mapping[str, str] = {
    "server-log": "broker-1/logs/server.log",
    "hw-checkpoint": "broker-1/data/replication-offset-checkpoint",
    "recovery-point-checkpoint": "broker-1/data/recovery-point-offset-checkpoint",
    "log-start-checkpoint": "broker-1/data/log-start-offset-checkpoint",
    "cleaner-checkpoint": "broker-1/data/cleaner-offset-checkpoint",
    "epoch-checkpoint": "broker-1/data/orders-0/leader-epoch-checkpoint",
    "meta-properties": "broker-1/data/meta.properties",
    "partition-metadata": "broker-1/data/orders-0/partition.metadata",
    "clean-shutdown": "broker-1/data/.kafka_cleanshutdown",
    "server-properties": "broker-1/server.properties",
    "quorum-state": "broker-1/data/__cluster_metadata-0/quorum-state",
    "segment": f"broker-1/data/orders-0/{SEGMENT}",
    "metadata-segment": f"broker-1/data/__cluster_metadata-0/{SEGMENT}",
    "metadata-snapshot": "broker-1/data/__cluster_metadata-0/00000000000000000000-0000000000.checkpoint",
    "znode": "brokers/topics/orders",
    "describe": "describe.txt",
    "gc-log": "broker-1/logs/kafkaServer-gc.log",
    "load-metrics": "load.json",
}
"""Where a file of a kind lies; the others are reported by what is in them."""
_TOOLS = frozenset(kind for kind, reader in READERS.items() if reader is cluster_tools.read)
_PLANS = {"reassignment-json", "election-json", "znode"}
SILENT = _TOOLS | {"clean-shutdown", "metadata-segment", "metadata-snapshot", "load-metrics", "server-properties"} | _PLANS
"""Kinds of files that may state nothing: of many metadata records nothing is asked, what stands between tools' lines is passed over, cells
may be empty, all settings comments, and a plan of no partitions."""
BLANK: Mapping[str, bytes] = dict.fromkeys(EVENTS_OF_KIND, b"+-0")
"""What tells nothing in a file of a kind, besides blanks: a checkpoint may have no entries."""
OF_INTERNAL = {"group-offsets": "__consumer_offsets", "share-states": "__share_group_state", "transaction-states": "__transaction_state"}


def path_of(kind: str) -> str:
    return PATHS.get(kind, f"{kind}.txt")


def _reader(kind: str, path: str | None = None) -> Target:
    member = Member(path or path_of(kind), None, AT)

    def read(data: bytes) -> None:
        found = kept(evidence.parse(BytesIO(data), member, kind))
        if kind not in SILENT and sniff(member, data[: evidence.HEAD]) == kind:  # some are known by what they hold
            not_silent(found, data.translate(None, BLANK.get(kind, b"")))

    return read


def _log(data: bytes) -> None:
    """The reader by columns gives what the one line by line gives."""
    member = Member(PATHS["server-log"], None, AT)
    by_columns, by_lines = (list(read(BytesIO(data), member, "server-log")) for read in (read_log_by_columns, read_log))
    not_silent(by_columns, data)
    if not any(isinstance(one, pa.RecordBatch) for one in by_columns):
        assert kept(by_columns) == by_lines, "by columns otherwise than line by line"
        return
    one, other = (pa.Table.from_batches(list(batches(stated)), EVENTS) for stated in (by_columns, by_lines))
    assert one.equals(other) or one.to_pylist() == other.to_pylist(), "by columns otherwise than line by line"
    known(one)


def _learning(data: bytes) -> None:
    found = layout_of(data, written=AT)
    assert found.layout is None or found.layout.name


def _pattern(data: bytes) -> None:
    """A conversion pattern in the first line, and a log behind it."""
    first, _, rest = data.partition(b"\n")
    try:
        layout = compiled(first.decode("utf-8", "replace"))
    except ValueError as error:
        assert str(error)
        return
    for line in rest.decode("utf-8", "replace").split("\n"):
        record = layout.read(line)
        assert record is None or record.message in line
    kept(read_log_by_columns(BytesIO(rest), Member(PATHS["server-log"], None, AT), "server-log", [layout]))


def _any_kind(data: bytes) -> None:
    """A file whose name is in its first line, as it comes."""
    first, _, rest = data.partition(b"\n")
    member = Member(first.decode("utf-8", "replace"), None, AT)
    partition_of(member.path)
    assert sniff(member, rest[: evidence.HEAD]) in KINDS
    kept(evidence.parse(BytesIO(rest), member, evidence.kind_of(member, rest[: evidence.HEAD], ())))
    read = kept(evidence.read_source(member, BytesIO(rest)))
    source = read[-1]
    assert isinstance(source, dict)
    assert source["collected"]["bytes"] == len(rest)


def _file(data: bytes, suffix: str = "") -> str:
    handle, path = tempfile.mkstemp(suffix)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    return path


def _container(data: bytes) -> None:
    """Every member has a stream or a problem, and a path that leads nowhere else."""
    path = _file(data)
    found = 0
    try:
        for member, stream, trouble in members(path):
            found += 1
            assert (stream is None) is bool(trouble)
            assert member.path.isprintable() and not {"", "."} & {*member.path.split("/")}
            while stream is not None and stream.read(CHUNK):
                pass
    finally:
        os.unlink(path)
    assert found or not data.strip(b"\0"), "silence"


class _Slow(BytesIO):
    """Reads only some bytes at a time, as a decompressor or a store does."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(min(size or 0, _FEW))


def _wrapper(data: bytes) -> None:
    """Lines in their wrappers, which are the same however the stream is read."""
    read = []
    for stream in (BytesIO(data), _Slow(data)):
        unwrapper = Unwrapper(())
        unwrapper.prepare(data[: evidence.HEAD])
        read.append(list(unwrapper.lines(Outer(stream))))
    assert read[0] == read[1], "otherwise if read in pieces"
    for line in read[0]:
        assert line.line > 0 and 0 <= line.byte <= len(data)
        stamp = time_of(line.utc)
        assert stamp is None or stamp.tzinfo is None


def _records_of(rows: Sequence[Handover], found: Verdict) -> list[dict[str, Any]]:
    return records_of_table(Judgement(found.verdict, None, None, "", True, tuple(rows), found.decides))


def records_at_random(data: bytes) -> bytes:
    """What a case keeps of a table."""
    rows = rows_at_random(Choices(data))
    return json.dumps(_records_of(rows, verdict(rows))).encode()


def _records_of_a_case(data: bytes) -> None:
    """Whatever a case says of hand-overs, it gets a verdict, or is called invalid with the reason."""
    try:
        records = json.loads(data)
    except (ValueError, RecursionError):
        return
    if isinstance(records, list) and all(isinstance(record, dict) for record in records):
        found = _rechecked(("orders", 0, 0), INTACT, records)
        assert found.recomputed in VERDICTS or (found.recomputed == INVALID and found.decides)


def _hand_overs(data: bytes) -> None:
    """A table in which one cell is wider gives no surer verdict, and the records of a case give the same verdict."""
    c = Choices(data)
    rows = rows_at_random(c)
    number = c.among(range(len(rows)))
    wide = [*rows[:number], wider_row(c, rows[number]), *rows[number + 1 :]]
    before, after = verdict(rows), verdict(wide)
    assert rows_of(_records_of(rows, before)) == rows
    if contradicts(rows[number]):
        return
    assert after.verdict in (before.verdict, UNKNOWN)
    assert list(surer(before.lost, after.lost)) == []


def _codecs(data: bytes) -> None:
    """Records of each codec in the current format, and in those before it."""
    if len(data) < 2:
        return
    codec, magic = data[0] % (len(CODECS) + 1), data[1] % 3
    payload = data[2:]
    whole = v2(payload, data[1] // 3, attributes=codec) if magic == 2 else message(3, magic, 5, None, payload, codec)
    for batch in headers(BytesIO(whole), payload=1 << 20):
        try:
            assert all(isinstance(r, BatchRecord) for r in records(cast(Any, batch), 1 << 20))
        except (Malformed, UnreadableBatch) as fault:
            assert str(fault)


def framed(data: bytes) -> bytes:
    """A batch of such keys and values; those of the first byte's attributes."""
    stated = [tuple(None if p == NULL else p for p in one.partition(WITHIN)[::2]) for one in data[1:].split(BETWEEN)]
    attributes = data[0] & 0b110000 if data else 0
    payload = b"".join(body(n, BatchRecord(0, 1000, k, v), 1000) for n, (k, v) in enumerate(stated))
    return v2(payload, len(stated), attributes=attributes)


def _of_records(kind: str, path: str | None = None) -> Target:
    read = _reader(kind, path)
    return lambda data: read(framed(data))


def _copied(path: str, data: bytes, kind: str) -> tuple[Names, bytes]:
    """The copy of a file; empty if it is left out."""
    names, member = Names(), Member(path, None, AT)
    reading.note_member(member, names)
    for stated in evidence.read_source(member, BytesIO(data)):
        reading.note_all(stated, names)
    try:
        return names, b"".join(bundle._anew(member, BytesIO(data), kind, names, b"secret"))
    except (logs.Unsafe, UnreadableBatch) as why:
        assert str(why)
        return names, b""


def _redacted(path: str, data: bytes) -> None:
    """A redacted copy can be read as what it was, or is left out for a reason."""
    kind = evidence.kind_of(Member(path, None, AT), data[: evidence.HEAD], ())
    names, anew = _copied(path, data, kind)
    if not anew:
        return
    if kind == "segment" and not segments.names_records(path):
        found = headers(BytesIO(data), payload=len(data))
        assert not any(len({*(b.payload or b"")}) > _FEW and (b.payload or b"") in anew for b in found if isinstance(b, Batch)), (
            "a body is left"
        )
    kept(evidence.parse(BytesIO(anew), Member(names.path(path), None, AT), kind))


SECRETS = (
    *("qzvxkwjb", "qzvxkwjb-prod-1", "svc.qzvxkwjb.internal", "qzvxkwjb_7", "qzvxkwjb@qzvxkwjb.example", "kafka-qzvxkwjb", "Qzvxkwjb"),
    *("10.77.166.55", "10.77.166.55-1", "10.77.166.55.1", "ip-10-77-166-55", "a_10_77_166_55", "/10.77.166.55:9092", "::ffff:10.77.166.55"),
    *("2a01:4f8:c0c:9d51:0:0:7e57:2", "/2a01:4f8:c0c:9d51:0:0:7e57:2:9092", "[2a01:4f8::9d51:7e57]:9092", "b8:27:eb:c0:9d:51"),
    *(
        "7e57c0de-4f8a-41d7-9c51-d0c7a11c0ffe",
        "x-7e57c0de-4f8a-41d7-9c51-d0c7a11c0ffe.1",
        "7e57c0de4f8a41d7",
        "AKIA7QZVXKWJB3",
        "ghp_q7zvx0kwjb",
    ),
    *("password=qz 12vx", "secret_key=qz12vx", "Bearer qz12vxkwjb34", "https://qzvx:k7wjb@qzvxkwjb.example/?qzvxkwjb=1"),
)
"""What is planted in fuzzed files."""
LEFT = (
    *("qzvxkwjb", "77.166.55", "77-166-55", "77_166_55", "4f8:c0c", "9d51:0:0", "7e57:2", "4f8::9d51", "27:eb:c0", "7e57c0de", "4f8a-41d7"),
    *("akia7", "q7zvx0", "12vx", "k7wjb"),
)
"""Of which none of these parts may be left."""
_BETWEEN = (" ", '"', "=", ", ", "/", "(", "[", "'", ": ", "\t", "-", "\\")


def _planted(data: bytes) -> None:
    """Something that is planted in a file, anywhere and in any spelling, is not in the copy."""
    choices, (first, _, rest) = data[:4].ljust(4, b"\0"), data[4:].partition(b"\n")
    path = first.decode("utf-8", "replace")
    shown = _BETWEEN[choices[1] % len(_BETWEEN)] + spelt(SECRETS[choices[0] % len(SECRETS)], choices[2])
    at = len(rest) * choices[3] // 255
    place = rest.rfind(b" ", 0, at) if choices[2] & 64 else at
    content = rest[: max(place, 0)] + f"{shown} ".encode() + rest[max(place, 0) :]
    kind = evidence.kind_of(Member(path, None, AT), content[: evidence.HEAD], ())
    if kind in bundle.SEGMENTS or any(part in data.decode("latin-1").lower() for part in LEFT):
        return
    names, anew = _copied(path, content, kind)
    assert not survivors(_PLANTS, {names.path(path): anew}), "something that was planted is left"


_PLANTS = [Plant("", "", LEFT)]


def spelt(text: str, choice: int) -> str:
    """In one of the ways in which JSON, URLs, mails and PowerShell write text."""
    way = choice % 8
    if way == 1:
        return "".join(f"\\u{ord(c):04x}" for c in text)
    if way == 2:
        return "".join(f"%{ord(c):02X}" for c in text)
    if way == 3:
        return base64.b64encode(text.encode()).decode()
    if way == 4:
        return quote(text)
    return json.dumps(text)[1:-1] if way == 5 else text


def _redaction(data: bytes) -> None:
    first, _, rest = data.partition(b"\n")
    _redacted(first.decode("utf-8", "replace"), rest)


def _redaction_of_records(data: bytes) -> None:
    paths = [f"broker-1/data/{topic}-0/{SEGMENT}" for topic in OF_INTERNAL.values()] + [
        PATHS["metadata-segment"],
        PATHS["metadata-snapshot"],
    ]
    if data:
        _redacted(paths[data[0] % len(paths)], framed(data[1:]))


def _salvage(data: bytes) -> None:
    path = Path(_file(data))
    held = Held(str(path), 0, 1, -1, Range(0, None))
    lot = Lot("f", 0, "orders", 0, None, None, (held.offsets,), Salvageable((held,)), [path])
    problems: list[str] = []
    try:
        list(rows(lot, markers([lot]), problems))
    finally:
        path.unlink()
    assert all(problems)


_BY_KIND = sorted(READERS)
TARGETS: Mapping[str, Target] = {
    "log": _log,
    "wrapper": _wrapper,
    "hand-overs": _hand_overs,
    "hand-overs-of-a-case": _records_of_a_case,
    "learned-layout": _learning,
    "log-pattern": _pattern,
    "any-kind": _any_kind,
    "container": _container,
    "codecs": _codecs,
    **{name: _of_records("segment", f"broker-1/data/{topic}-0/{SEGMENT}") for name, topic in OF_INTERNAL.items()},
    "metadata-records": _of_records("metadata-segment"),
    "snapshot-records": _of_records("metadata-snapshot"),
    "redaction": _redaction,
    "planted": _planted,
    "redacted-records": _redaction_of_records,
    "salvage": _salvage,
    **{kind: _reader(kind) for kind in _BY_KIND},
}
