"""Redacted evidence: no name is left in it, and it says of losses what it said."""

from __future__ import annotations

import io
import json
import re
import stat
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.case.read import Case
from forensics.case.redacted import redact_case, redact_report
from forensics.case.tables import MANIFEST, TABLES
from forensics.cli import cli
from forensics.commands.inputs import CaseInput
from forensics.incidents.judging import OF_REPORT, with_facts
from forensics.model.presence import process_errors
from forensics.tools.redaction import logs, reading, segments, text
from forensics.tools.redaction.bundle import Leak, redact
from forensics.tools.redaction.check import Check
from forensics.tools.redaction.names import INTERNAL, KeptWords, Names
from forensics.views.document import Report
from forensics.views.notes import notes
from parsers.catalogue.record import search_all
from parsers.decoding.batches import Batch, Damage, headers
from parsers.decoding.bodies import BatchRecord
from parsers.formats import group_offsets, metadata_log, transaction_states
from parsers.formats.segments import read_segment
from parsers.patterns import PATTERNS
from parsers.schemas import Member, Row
from tests.bundles.test_bundles import BUNDLES
from tests.forensics.case.test_case import make as make_case
from tests.parsers.decoding import test_batches, test_bodies
from tests.parsers.formats import test_group_offsets, test_metadata_log, test_transaction_states
from tests.support import local, recorded
from tests.support.archives import read, spread
from tests.support.same_findings import found
from tests.support.schemas import violations
from tests.support.wrapped import JSON_RECORDS

SECRET = b"a secret"
TOPICS = st.text("abcXYZ019._-", min_size=1, max_size=12) | st.sampled_from(
    ["orders", "orders-v2", "log", "leader", "partition", "my_topic", "1"]
)


# text


def names_of(rows: list[Row]) -> Names:
    names = Names()
    for row in rows:
        reading.note(row, names)
    return names


def left_in(copy: str, names: Names) -> str | None:
    """What the last check finds in a log."""
    return Check(names).file(Member("server.log", None, None), io.BytesIO(copy.encode()), binary=False)


_THROWN = re.compile(r"(?:Exception|Error)\b")
"""A key that is the text of an exception, or a value that is the class of one, whose text is the key."""


_IN_EXCEPTION = {p.name for p in PATTERNS if getattr(p.expand, "__name__", "") == "with_storage_error"}
"""Patterns that find an error of a log directory in the text of an exception, which a copy does not keep (docs/redacting.md)."""


def _before_key(row: Row) -> str:
    """The words of a line before its key."""
    return str(row.get("text")).partition(str(row["key"]))[0] if row.get("key") else ""


def statements(rows: list[Row], names: Names | None = None) -> list[dict[str, Any]]:
    """What lines state, names aside: these as their stand-ins."""
    known = {**names.known["topic"], **names.known["id"], **names.known["cluster"]} if names is not None else {}
    free = ("text", "byte", "value", "directory", "host")
    rows = [r for r in rows if r.get("pattern") not in _IN_EXCEPTION or not r["event"].startswith("log-")]
    rows = [{**r, "key": None} if _THROWN.search(f"{r.get('key')} {r.get('value')} {_before_key(r)}") else r for r in rows]
    return [{k: known.get(v, v) if isinstance(v, str) else v for k, v in r.items() if k not in free} for r in rows]


def test_every_line_that_is_read_is_read_alike_with_other_names() -> None:
    for pattern in PATTERNS:
        for sample in pattern.samples if pattern.event != "irrelevant" else ():
            rows = search_all(sample.line)
            names = names_of([*rows, {"event": "", "topic": "orders", "partition": 0}])
            anew = "".join(logs.log(io.BytesIO(sample.line.encode()), names, reading.taken(rows)))
            assert statements(search_all(anew)) == statements(rows, names), anew
            assert left_in(anew, names) is None


@given(st.lists(TOPICS, unique=True, min_size=1, max_size=6), st.data())
@settings(max_examples=60)
def test_no_name_is_left_and_each_is_replaced_by_one_thing(topics: list[str], data: st.DataObject) -> None:
    names = Names()
    stand_ins = {topic: names.add("topic", topic) for topic in topics}
    assert len(set(stand_ins.values())) == len(topics)
    for topic in data.draw(st.lists(st.sampled_from(topics), min_size=1, max_size=4)):
        line = f"[2026-11-21 02:15:38,147] INFO [Log partition={topic}-0, dir=/data] Truncating to offset 7 (kafka.log.Log)"
        rows = search_all(line)
        reading.note(rows[0], names)
        anew = "".join(logs.log(io.BytesIO(line.encode()), names, reading.taken(rows)))
        assert anew == line.replace(f"{topic}-0", f"{stand_ins[topic]}-0")
        assert left_in(anew, names) is None
    assert {names.add("topic", topic) for topic in INTERNAL} == INTERNAL


@pytest.mark.parametrize(
    ("line", "anew"),
    [
        ("/10.1.2.3:9092, 10.1.2.33, ip-10-1-2-3.ec2", "/198.18.0.1:9092, 198.18.0.2, wordxaaaa"),
        (
            "fe80::1%eth0 [2001:4860::8888]:9092 0:0:0:0:0:0:0:1 127.0.0.1",
            "2001:db8::1%wordxaaaa [2001:db8::2]:9092 0:0:0:0:0:0:0:1 127.0.0.1",
        ),
        ("version 17.5.84, id=471903 pin:8247 -7", "wordxaaaa 0.0.0, id=0 wordxaaab:0 -7"),
        ("h-x-q-z h, x, q\tz \u24d7\u24e7 <->", "wordxaaaa x, x, x\tx x <->"),
        ('{"leader": 7, "customer": "Max"}', '{"leader": 7, "wordxaaaa": "wordxaaab"}'),
        ("orders-3 orders-4 my-orders", "topicxaaaa-3 topicxaaaa-0 x-topicxaaaa"),
        ("User:CN=Alice M\u00fcller,O=Acme hunter2@acme.example", "wordxaaaa:x=wordxaaab wordxaaac,x=wordxaaad wordxaaae@wordxaaaf"),
    ],
)
def test_of_free_text_only_what_is_listed_stays(line: str, anew: str) -> None:
    names = Names()
    names.add("topic", "orders")
    names.seen.partitions.add(("orders", "3"))
    assert names.text(line, KeptWords(frozenset(), {"7", "9092"})) == anew


# segments


def rewritten(data: bytes, topic: str = "orders", names: Names | None = None, kind: str = "segment") -> bytes:
    path = f"data/{topic}-0/00000000000000000000.log"
    return b"".join(segments.rewritten(io.BytesIO(data), path, kind, names or Names(), SECRET))


def seen(data: bytes) -> list[Any]:
    """All that headers say but the checksum."""
    keep = (
        "position",
        "size",
        "base_offset",
        "last_offset",
        "leader_epoch",
        "magic",
        "codec",
        "timestamp_type",
        "control",
        "base_timestamp",
    )
    keep = (*keep, "max_timestamp", "producer_id", "base_sequence", "record_count", "valid", "horizon")
    return [tuple(getattr(b, name) for name in keep) if isinstance(b, Batch) else (b.position, b.reason) for b in headers(io.BytesIO(data))]


def test_a_damaged_length_in_an_old_message_moves_nothing() -> None:
    for at in range(len(test_batches.V1)):
        damaged = bytearray(test_batches.V1)
        damaged[at] ^= 0x40
        assert seen(rewritten(bytes(damaged))) == seen(bytes(damaged)), at


@pytest.mark.parametrize("wrong", [*test_batches.LENGTHS, *test_batches.MAGICS])
def test_batches_behind_a_damaged_header_stay_readable(wrong: bytes) -> None:
    data = test_batches.v2(0, 9) + wrong + test_batches.v2(15, 19)
    assert len(rewritten(data)) == len(data) and seen(rewritten(data)) == seen(data)


@pytest.mark.parametrize("data", [test_batches.V1, test_batches.TWO_EPOCHS, test_batches.DISK_FULL, test_batches.v0(3, b"hunter2"), b""])
@given(st.data())
@settings(max_examples=8)
def test_of_a_segment_only_the_bodies_go(data: bytes, chance: st.DataObject) -> None:
    kind = chance.draw(st.sampled_from(["whole", "cut", "flipped", "zeros"]))
    if data and kind == "cut":
        data = data[: chance.draw(st.integers(1, len(data)))]
    elif data and kind == "flipped":
        at = chance.draw(st.integers(0, len(data) - 1))
        data = data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1 :]
    elif kind == "zeros":
        data += bytes(100)
    anew = rewritten(data)
    assert seen(anew) == seen(data) and len(anew) == len(data)
    rows, again = (list(read_segment(io.BytesIO(d), test_batches.member())) for d in (data, anew))
    assert [(r["event"], r.get("reason"), r.get("log_end_offset")) for r in rows] == [
        (r["event"], r.get("reason"), r.get("log_end_offset")) for r in again
    ]


def test_no_body_passes_for_a_marker() -> None:
    """A wrong bit makes a batch one of control records: found by the fuzzer."""
    commit, data = BatchRecord(0, 1000, b"\0\0\0\1", b"\0\0\0\0\0\7"), BatchRecord(0, 1000, None, b"hunter2 was here")
    marker, made, longer = (
        test_bodies.v2(test_bodies.body(0, record, 1000), 1, attributes=48)
        for record in (commit, data, replace(commit, value=b"hunter2" * 3))
    )
    assert rewritten(marker) == marker
    for whole in (made, longer):
        for damaged in (whole, whole[:40] + b"\1" + whole[41:]):
            anew = rewritten(damaged)
            assert seen(anew) == seen(damaged) and b"hunter2" not in anew


HIDDEN = b"hunter2"
LEADER_CHANGE = b"\0\0" + struct.pack(">i", 3) + b"\x02\0\0\0\x03\0" * 2 + b"\0"


@pytest.mark.parametrize(
    ("key", "value", "attributes"),
    [
        (b"\0\0\0\2", LEADER_CHANGE + HIDDEN, 32),
        (b"\0\0\0\2", LEADER_CHANGE[:-1] + b"\1\0\7" + HIDDEN, 32),
        (b"\0\0\0\2" + HIDDEN, LEADER_CHANGE, 32),
        (b"\0\0\0\3", bytes(11) + HIDDEN, 32),
        (b"\0\0\0\x09", HIDDEN, 32),
        (HIDDEN, HIDDEN, 48),
        (HIDDEN[:4], HIDDEN, 32),
        (None, b"\1\x09\0" + bytes(16) + b"\1\5\7" + HIDDEN, 0),
        (None, b"\1\x09\0" + bytes(16) + b"\0" + HIDDEN, 0),
        (None, b"\1\x0f\0" + bytes(20) + b"\1\0\7" + HIDDEN, 0),
        (None, b"\1\x14\0\0" + HIDDEN, 0),
        (None, b"\1\2\0\2t" + bytes(16) + b"\1\0\7" + HIDDEN, 0),
        (HIDDEN, b"\1\x14\0\0", 0),
    ],
)
def test_what_no_reader_knows_of_a_metadata_record_is_not_in_the_copy(key: bytes | None, value: bytes, attributes: int) -> None:
    data = test_bodies.v2(test_bodies.body(0, BatchRecord(0, 1000, key, value), 1000), 1, attributes=attributes)
    anew = rewritten(data, kind="metadata-segment")
    assert HIDDEN in data and HIDDEN[:4] not in anew and len(list(headers(io.BytesIO(anew)))) == 1


def test_a_whole_leader_change_stays() -> None:
    data = test_bodies.v2(test_bodies.body(0, BatchRecord(0, 1000, b"\0\0\0\2", LEADER_CHANGE), 1000), 1, attributes=32)
    assert rewritten(data, kind="metadata-segment") == data


def test_copies_stay_alike_and_what_differs_stays_different() -> None:
    bodies = [b"hunter2 was here", b"hunter2 was here", b"hunter3 was here"]
    one, two, other = (rewritten(test_batches.v2(0, 0, payload=body)) for body in bodies)
    assert one == two != other
    assert [b.crc for b in test_batches.whole(one)] != [b.crc for b in test_batches.whole(other)]
    assert b"hunter" not in one + other
    assert b"".join(segments.rewritten(io.BytesIO(test_batches.v2(0, 0, payload=bodies[0])), "x", "segment", Names(), b"another")) != one


def without(rows: list[Row], *fields: str) -> list[Row]:
    return [{k: v for k, v in r.items() if k not in ("byte", "text", "value", "topic", *fields)} for r in rows]


def test_groups_and_transactions_keep_their_stories_under_other_names() -> None:
    offsets = test_group_offsets.segment(
        (0, [(test_group_offsets.key(), test_group_offsets.value(v, 7 + v)) for v in range(5)]),
        (0, [(test_group_offsets.key(), None), (test_group_offsets.key(kind=2), b"acme's member")]),
    )
    names = Names()
    anew = rewritten(offsets, group_offsets.TOPIC, names)
    rows = [test_group_offsets.rows(data) for data in (offsets, anew)]
    assert rows[0] and without(rows[0]) == without(rows[1])
    assert {r["value"] for r in rows[1]} == {names.known["group"]["billing"]}
    assert {r["topic"] for r in rows[1]} == {names.known["topic"]["orders"]}
    assert b"acme" not in anew and b"billing" not in anew
    for version in (0, 1):
        states = test_group_offsets.segment(
            (0, [(test_transaction_states.key(), test_transaction_states.value(version, 1, [("orders", [0, 2])]))])
        )
        found = [transaction_rows(data) for data in (states, rewritten(states, transaction_states.TOPIC, names))]
        assert len(found[0]) == 2 and without(found[0]) == without(found[1])
        assert {r["value"] for r in found[1]} == {names.known["transaction"]["payments-1"]}


def transaction_rows(data: bytes) -> list[Row]:
    path = f"data/{transaction_states.TOPIC}-0/00000000000000000000.log"
    return [r for r in transaction_states.read_segment(io.BytesIO(data), Member(path, None, None)) if r["event"] == "transaction-state"]


def test_the_metadata_log_keeps_its_offsets_and_loses_what_nobody_reads() -> None:
    real = test_metadata_log.UNCLEAN
    acl = test_metadata_log.message(18, 0, bytes(16), b"\x02", test_metadata_log.text("acme"))
    reason = test_metadata_log.text("acme's pwd is hunter2")
    abort = test_metadata_log.message(25, 0, b"\x01\x00", bytes([len(reason)]), reason)
    data = real + test_metadata_log.log(acl, abort, base=10**6)
    names = Names()
    anew = rewritten(data, "__cluster_metadata", names, "metadata-segment")
    rows = [list(metadata_log.read_metadata(io.BytesIO(d), test_metadata_log.LOG, snapshot=False)) for d in (data, anew)]
    assert without(rows[0]) == without(rows[1])
    assert b"acme" not in anew and b"hunter2" not in anew and b"hunter2" in data
    assert all(r["topic"] in {*names.known["topic"].values(), *INTERNAL} for r in rows[1] if r.get("topic"))
    assert [getattr(b, "record_count", None) for b in headers(io.BytesIO(anew))] == [
        getattr(b, "record_count", None) for b in headers(io.BytesIO(data)) if not isinstance(b, Damage)
    ]


def test_features_keep_the_names_that_are_kafkas() -> None:
    made = [test_metadata_log.message(12, 0, test_metadata_log.text(name), bytes(3)) for name in ("metadata.version", "acme")]
    anew = rewritten(test_metadata_log.log(*made), "__cluster_metadata", Names(), "metadata-segment")
    assert b"metadata.version" in anew and b"acme" not in anew


RAISED = "[2026-11-21 02:15:38,147] ERROR Error while accepting connection (kafka.network.Acceptor)\n"


@pytest.mark.parametrize(
    ("line", "stays"),
    [
        ("java.lang.OutOfMemoryError: Java heap space", "java.lang.OutOfMemoryError: Java heap space"),
        ("java.lang.OutOfMemoryError: unable to create native thread of Alice", "native thread"),
        (
            "java.lang.InternalError: a fault occurred in a recent unsafe memory access operation",
            "fault occurred in a recent unsafe memory access",
        ),
        (
            "com.acme.Broken: x\nCaused by: java.io.IOException: No space left on device (Alice)",
            "Caused by: java.io.IOException: No space left on device",
        ),
        ("java.io.IOException: Too many open files, 4711 of Alice", "Too many open files"),
    ],
)
def test_words_that_name_the_cause_of_an_error_stay(line: str, stays: str) -> None:
    rows = search_all(RAISED + line)
    anew = "".join(logs.log(io.BytesIO((RAISED + line).encode()), names_of(rows), reading.taken(rows)))
    assert stays in anew and not any(part in anew for part in ("acme", "Alice", "4711"))
    assert [[e for e in process_errors.EXPRESSIONS if re.search(e, t)] for t in (anew,)] == [
        [e for e in process_errors.EXPRESSIONS if re.search(e, line)]
    ]


def test_a_session_of_zookeeper_stays_one() -> None:
    assert Names().without_hexadecimal("sessionid 0x0, sessionid 0x1a2024b475b0002") == "sessionid 0x0, sessionid 0x1"


# bundles


@pytest.mark.parametrize(
    "name",
    [
        "acks1-failover-1.1.1-zk",
        "clients-unclean-4.2.0-kraft",
        "delete-recreate-retention-3.9.1-kraft",
        "log-dir-failure-4.1.1-kraft",
        "out-of-memory-4.1.1-kraft",
        "unclean-election-0.8.2.2-zk",
        "wiped-everything-3.9.1-kraft",
    ],
)
def test_the_findings_on_a_redacted_bundle_are_those_on_the_bundle(name: str, tmp_path: Path) -> None:
    out, mapping = tmp_path / "r.tar.gz", tmp_path / "m.json"
    redact([str(BUNDLES / f"{name}.tar.gz")], out, mapping)
    report = local.report(local.events_of(out))
    assert found(report.document(), json.loads(mapping.read_text())["names"]) == found(recorded.report(name).document(), {})
    assert report.document()["evidence"]["redacted"] and "The evidence was redacted: names in this report are not the real ones." in notes(
        report.cluster
    )
    assert {stat.S_IMODE(p.stat().st_mode) for p in (out, mapping)} == {0o600}


@pytest.mark.parametrize("name", ["clients-unclean-4.2.0-kraft", "last-replica-standing-2.8.2-zk"])
def test_the_findings_in_redacted_results_are_those_in_the_results(name: str, tmp_path: Path) -> None:
    whole, out, mapping = tmp_path / "a.json", tmp_path / "r.json", tmp_path / "m.json"
    whole.write_text(recorded.report(name).json())
    expected = found(json.loads(whole.read_text()), {})
    redact_report(str(whole), out, mapping)
    names = json.loads(mapping.read_text())["names"]
    assert found(json.loads(out.read_text()), names) == expected
    assert json.loads(out.read_text())["evidence"]["redacted"] and violations("report", [json.loads(out.read_text())]) == []

    redact_case(make_case(tmp_path / "a.case", recorded.events(name)), copy := tmp_path / "r.case", mapping, replace=True)
    statements = CaseInput(Case(copy))
    found_in = statements.conclusion(None)
    report = Report(statements.cluster, found_in.findings, with_facts(found_in.partitions, OF_REPORT), found_in.incidents)
    assert found(report.document(), names | json.loads(mapping.read_text())["names"]) == expected

    own = {*names["topic"], *names.get("group", ()), *names.get("transaction", ())}
    left = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(own, key=len, reverse=True))})(?![\w])")
    texts = [
        out.read_text(),
        *(json.dumps(Case(copy).table(t.name).to_pylist(), default=str) for t in TABLES),
        (copy / MANIFEST).read_text(),
    ]
    assert own and [left.findall(text) for text in texts] == [[]] * len(texts)


def test_settings_and_loads_keep_the_values_that_are_read(tmp_path: Path) -> None:
    """Numbers of ConfigRecords became 0, and times with T and Z made broker 0 of every broker."""
    config = [
        test_metadata_log.message(4, 0, b"\x02", *map(test_metadata_log.text, ("orders", key, value)), b"\0")
        for key, value in (("min.insync.replicas", "2"), ("min.insync.replicas", "1"), ("retention.ms", "604800000"), ("note", "4711"))
    ]
    files = {
        "broker-1/data/__cluster_metadata-0/00000000000000000000.log": test_metadata_log.log(*config),
        "cluster/load.csv": b"broker;time;cpu;secret\n1;2026-11-21T02:40:00Z;7,5%;12\n2;2026-11-21T02:40:00+01:00;97.5;x\n",
    }
    source = spread(tmp_path / "source", files)
    names = redact([str(source)], tmp_path / "r.tar.gz", tmp_path / "m.json").names.known
    before, after = (local.events_of(path).to_pylist() for path in (source, tmp_path / "r.tar.gz"))
    settings, again = ([(r["key"], r["value"]) for r in rows if r["event"] == "metadata-config"] for rows in (before, after))
    assert len(settings) == 4 and again == [*settings[:3], (names["word"]["note"], "0")]
    loads, shown = ([(r["broker"], r["time"], r["value"]) for r in rows if r["event"] == "load-metric"] for rows in (before, after))
    assert len(loads) == 3 and shown == loads


MADE = {
    "acme-prod/broker-1/logs/server.log": (
        "[2026-11-21 02:15:38,147] INFO [Log partition=log-0, dir=/data/acme] Truncating to offset 7 (kafka.log.Log)\n"
        "[2026-11-21 02:15:39,147] INFO Customer Alice paid (com.acme.Payments)\n\tat com.acme.Payments.pay(Payments.java:7)\n"
        "[2026-11-21 02:15:40,147] INFO [ReplicaManager broker=1] Handed over to acme (kafka.server.ReplicaManager)\n"
    ),
    "acme-prod/broker-1/logs/wrapped.log": "".join(f"{json.dumps({**r, 'pod': 'acme-7'})}\n" for r in JSON_RECORDS.values()),
    "acme-prod/broker-1/data/replication-offset-checkpoint": "0\n3\nlog 0 7\nacme.orders 1 9\na 0 1\n",
    "acme-prod/broker-1/data/meta.properties": "#\n#Sat Nov 21 02:15:38 UTC 2026\nbroker.id=1\nversion=0\ncluster.id=acme-prod-cluster-1\n",
    "acme-prod/broker-1/config/server.properties": (
        "# of Alice\nbroker.id=1\nlisteners=SASL_SSL://kafka1.acme.example:9093\nssl.key.password=hunter2\nlog.dirs=/data/acme\n"
        "listener.name.x.plain.sasl.jaas.config=org.apache.X required username=alice password=hunter2;\nmin.insync.replicas=2\n"
    ),
    "acme-prod/plan.json": '{"version":1,"partitions":[{"topic":"acme.orders","partition":1,"replicas":[1,2],"log_dirs":["any","any"]}]}',
    "acme-prod/notes.txt": "Alice says hunter2",
    "acme-prod/heap.hprof": "\0\1\2hunter2" * 50,
}


def test_what_is_made_of_each_kind_of_file(tmp_path: Path) -> None:
    source = spread(tmp_path / "source", {name: content.encode() for name, content in MADE.items()})
    out = tmp_path / "r.tar.gz"
    done = CliRunner().invoke(cli, ["redact", str(source), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert (
        "notes.txt (text)" in done.stdout
        and "heap.hprof (binary)" in done.stdout
        and "'log' is also a word in Kafka's log lines" in done.stdout
    )
    found = read(out)
    everything = b"".join((*found.values(), *(name.encode() for name in found)))
    for leak in (b"acme", b"lice", b"hunter", b"paid", b"Payments", b"Handed", b"log-0", b"log 0"):
        assert leak not in everything, leak
    before, after = (local.events_of(p).to_pylist() for p in (source, out))
    names = json.loads(out.with_name("r.tar.gz.mapping.json").read_text())["names"]
    for event in ("truncation", "hw-checkpoint", "assignment"):
        pairs = [
            sorted((names["topic"].get(r["topic"], r["topic"]), r["partition"], r["offset"]) for r in rows if r["event"] == event)
            for rows in (before, after)
        ]
        assert pairs[0] and sorted(pairs[0]) == sorted((t, p, o) for t, p, o in pairs[1])
    (log,) = (content.decode() for name, content in found.items() if name.endswith("/server.log"))
    assert log.splitlines()[1:] == [
        f"[2026-11-21 02:15:39,147] INFO (redacted) ({names['word']['com.acme.Payments']})",
        "[2026-11-21 02:15:40,147] INFO [ReplicaManager broker=1] (redacted) (kafka.server.ReplicaManager)",
    ]
    again = CliRunner().invoke(cli, ["redact", str(source), "--out", str(out)])
    assert again.exit_code == 2 and "the file exists already" in again.stderr


def test_where_a_name_is_left_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = spread(tmp_path / "source", {"hw/replication-offset-checkpoint": b"0\n1\nacme.orders 1 9\n"})
    monkeypatch.setattr(text, "rewritten", lambda stream, *_: (line.decode() for line in stream))
    with pytest.raises(Leak, match=r"acme"):
        redact([str(source)], tmp_path / "r.tar.gz", tmp_path / "m.json")
    assert [p.name for p in tmp_path.iterdir()] == ["source"]
