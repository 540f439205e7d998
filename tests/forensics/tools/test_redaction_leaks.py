"""What was planted in evidence is not in its redacted copy, in any encoding, and no name in the evidence prevents the copy."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path, PurePosixPath

import pytest

from fixtures.exports import write
from forensics.case.read import Case
from forensics.case.redacted import redact_case
from forensics.case.tables import TABLES
from forensics.tools.redaction.bundle import POLICY, Redacted, redact
from forensics.tools.redaction.check import Check
from forensics.tools.redaction.names import Names
from parsers.schemas import Member
from tests.forensics.case.test_case import make
from tests.support import local, planted
from tests.support.archives import read, spread, tar, zipped
from tests.support.paths import BUNDLES
from tests.support.same_findings import found

READ = "[2026-11-21 02:15:38,147] INFO [Log partition={}-0, dir=/data] Truncating to offset 7 (kafka.log.Log)\n"


def copied(files: dict[str, bytes], directory: Path) -> tuple[Redacted, dict[str, bytes]]:
    source = spread(directory / "source", files)
    done = redact([str(source)], directory / "copy.tar.gz", directory / "mapping.json")
    return done, read(directory / "copy.tar.gz")


@pytest.mark.parametrize("made", [planted.logs, planted.others, planted.names, planted.binary])
def test_nothing_that_was_planted_is_left(made: Callable[[int], planted.Made], tmp_path: Path) -> None:
    plants, files = made(7)
    secrets = {secret for plant in plants for secret in plant.secrets}
    assert len(secrets) >= 110 and len({plant.kind for plant in plants}) >= 110
    assert len(planted.survivors(plants, files)) > 0.8 * len(secrets), "the search finds them in the evidence"
    done, copy = copied(files, tmp_path)
    assert done.written >= len(files) and done.left_out == []
    assert planted.survivors(plants, copy) == []
    if made is planted.logs:  # a reader reads the same offsets in the copy
        before, after = (local.events_of(tmp_path / name).to_pylist() for name in ("source", "copy.tar.gz"))
        offsets = [sorted((r["offset"], r["partition"], r["time"]) for r in rows if r["event"] == "truncation") for rows in (before, after)]
        assert len(offsets[0]) > 300 and offsets[0] == offsets[1]


@pytest.mark.parametrize("made", [planted.logs, planted.others])
def test_of_results_no_name_is_left(made: Callable[[int], planted.Made], tmp_path: Path) -> None:
    """Numbers stay in sentences. Packaging is read before a result is made, so one log is enough."""
    plants, files = made(7)
    files = {path: content for path, content in files.items() if not re.search(r"logs/(?!plain)|export/", path)}

    def survivors(case: Case) -> list[str]:
        tables = {t.name: json.dumps(case.table(t.name).to_pylist(), default=str, ensure_ascii=False).encode() for t in TABLES}
        return [found for found in planted.survivors(plants, tables) if re.search(r"[^\W\d_]", found)]

    case = make(tmp_path / "a.case", local.events_of_files(files))
    assert len(survivors(case)) > 50
    redact_case(case, tmp_path / "r.case", tmp_path / "m.json")
    assert survivors(Case(tmp_path / "r.case")) == []


HOSTILE = (
    "../../etc/server.log",
    "C:/kafka/logs/server.log",
    "/abs/server.log",
    "a/../../b/server.log",
    "..\\up\\server.log",
    "C:\\x\\server.log",
    "a",
)


def test_names_of_members_are_rebuilt(tmp_path: Path) -> None:
    content = READ.format("orders").encode()
    files = {"one.tar": tar(dict.fromkeys(HOSTILE, content)), "two.zip": zipped(dict.fromkeys(HOSTILE, content))}
    done, copy = copied(files, tmp_path)
    assert done.written == 2 * len(HOSTILE)
    assert len(copy) == done.written + 1, "no name is there twice"
    for name in copy:
        path = PurePosixPath(name)
        assert not any(str(parent) in copy for parent in path.parents), "it unpacks as a whole"
        assert not path.is_absolute() and not {"..", "."} & {*path.parts} and ":" not in name and "\\" not in name


@pytest.mark.parametrize(
    "topic",
    ["topicxaaaa", "redacted", "hidden", "kafka.log.Log", "wordxaaaa", "state.change.logger", "clusterxaaaaAAAAAAAAAA", "topicyaaaa", "0"],
)
def test_any_topic_is_replaced_and_the_copy_can_be_redacted_again(topic: str, tmp_path: Path) -> None:
    log = READ.format(topic) + READ.format("orders") + "[2026-11-21 02:15:39,147] INFO Client 198.18.0.1 left 2001:db8::1 (kafka.x.Y)\n"
    files = {
        "broker-1/logs/server.log": log.encode(),
        "broker-1/logs/docker.log": "".join(
            json.dumps({"log": f"{line}\n", "stream": "stdout"}) + "\n" for line in log.splitlines()
        ).encode(),
        "broker-1/data/replication-offset-checkpoint": f"0\n2\n{topic} 0 7\norders 0 7\n".encode(),
    }
    bundle, names = spread(tmp_path / "source", files), [{topic, "orders"}]
    for number in range(3):
        copy = tmp_path / f"{number}.tar.gz"
        redact([str(bundle)], copy, tmp_path / f"{number}.json")
        mapping = json.loads((tmp_path / f"{number}.json").read_text())["names"]["topic"]
        assert mapping.keys() == names[-1] and not names[-1] & {*mapping.values()}
        rows = [r for r in local.events_of(copy).to_pylist() if r["topic"]]
        assert {(r["event"], r["topic"], r["offset"]) for r in rows} == {
            (event, mapping[name], 7) for event in ("truncation", "hw-checkpoint") for name in names[-1]
        }
        names.append({*mapping.values()})
        bundle = copy


NUMBERS = (
    "1234567890123456",
    "555-01-99",
    "2026-11-21",
    "007",
    "1.2.3",
    "10ms",
    "0xdeadbeef",
    "147",
    "0123456789abcdef0123456789abcdef",
    "38,147",
)
"""Topics, except the last one, which is a cluster id."""


def test_names_that_look_like_numbers_are_replaced_and_numbers_stay(tmp_path: Path) -> None:
    topics, cluster = NUMBERS[:-1], NUMBERS[-1]
    log = "".join(READ.format(topic) for topic in topics).replace("offset 7", "offset 1234567890123456")
    aside = "10ms-0.0123456789abcdef0123456789abcdef-delete/leader-epoch-checkpoint"
    files = {
        "broker-1/logs/server.log": log.encode(),
        "broker-1/logs/docker.log": "".join(
            json.dumps({"log": f"{line}\n", "stream": "stdout"}) + "\n" for line in log.split("\n")
        ).encode(),
        "broker-1/data/replication-offset-checkpoint": f"0\n{len(topics)}\n{''.join(f'{t} 0 1234567890123456{chr(10)}' for t in topics)}".encode(),
        "broker-1/data/meta.properties": f"version=1\ncluster.id={cluster}\nnode.id=1\n".encode(),
        **{f"broker-1/data/{name}": b"0\n1\n4 200\n" for name in (aside, *(f"{t}-0/leader-epoch-checkpoint" for t in topics))},
    }
    done, copy = copied(files, tmp_path)
    known = done.names.known
    rows = [row for row in local.events_of(tmp_path / "copy.tar.gz").to_pylist() if row["topic"]]
    found = {(row["event"], row["topic"]) for row in rows if row["offset"] in (1234567890123456, 200)}
    assert {*topics} == {*known["topic"]} and [*known["cluster"]] == [cluster]
    assert found == {(event, known["topic"][t]) for event in ("truncation", "hw-checkpoint", "epoch-entry") for t in topics}
    assert any("-delete/" in name for name in copy) and not any(aside[7:39] in name for name in copy)
    redact([str(tmp_path / "copy.tar.gz")], tmp_path / "again.tar.gz", tmp_path / "again.json")


def test_a_checkpoint_has_no_numbers_but_those_of_its_entries(tmp_path: Path) -> None:
    files = {
        "broker-1/data/replication-offset-checkpoint": b"0\n2\n4929123456789012\norders 0 7 4929123456789012 ms\norders 0 4929123456\n",
        "broker-1/data/orders-0/leader-epoch-checkpoint": b"0\n1\n4929123456789012\n/4929123456/ 17\n4 200\n",
    }
    files["broker-1/logs/kafkaServer-gc.log"] = b"12.345: [GC pause (young) 1M->1M(6M), 2.5 secs]\n/4929123456/\n"
    _, copy = copied(files, tmp_path)
    assert not any(b"4929" in data for name, data in copy.items() if name.endswith("gc.log"))
    marks, epochs = (next(data for name, data in copy.items() if name.endswith(kind)) for kind in ("offset-checkpoint", "epoch-checkpoint"))
    assert marks.count(b"4929") == 1 and b" 0 4929123456\n" in marks
    assert b"4929" not in epochs and epochs.endswith(b"4 200\n")


def test_a_number_before_a_word_counts_as_a_part_of_a_long_number(tmp_path: Path) -> None:
    _, copy = copied({"broker-1/logs/server.log": b"[2026-11-21 02:15:39,147] INFO [Broker 555-01-99id=3] left (kafka.x.Y)\n"}, tmp_path)
    assert not any(part in content for content in copy.values() for part in (b"555", b"99id"))


def test_the_copy_names_its_policy(tmp_path: Path) -> None:
    _, copy = copied({"broker-1/logs/server.log": READ.format("orders").encode()}, tmp_path)
    (mark,) = (json.loads(content) for name, content in copy.items() if name.endswith("kafka-forensics-redacted.json"))
    assert mark["policy"] == POLICY and mark["version"] and mark["files"] == 1


@pytest.mark.parametrize(("form", "newest_first"), [("journald-json", False), ("kibana-csv", True)])
def test_the_findings_on_a_redacted_export_are_those_on_the_export(form: str, newest_first: bool, tmp_path: Path) -> None:
    write(BUNDLES / "hw-truncation-0.10.2.2-zk.tar.gz", tmp_path / "export", form, newest_first=newest_first)
    redact([str(tmp_path / "export")], tmp_path / "copy.tar.gz", tmp_path / "mapping.json")
    before, after = (local.report(local.events_of(tmp_path / name)).document() for name in ("export", "copy.tar.gz"))
    assert before["verdict"]["partitions"]["lost"] == 1
    assert found(after, json.loads((tmp_path / "mapping.json").read_text())["names"]) == found(before, {})


READ_LINE = READ.format("topicxaaaa").rstrip()


@pytest.mark.parametrize(
    ("path", "line", "left"),
    [
        ("server.log", READ_LINE, None),
        ("server.log", f"{READ_LINE}\njava.io.IOException: Alice", "Alice"),
        ("server.log", f"{READ_LINE}\njava.io.IOException: offset 8247", "8247"),
        ("server.log", f"{READ_LINE}\njava.io.IOException: 17.5.84", "17"),
        ("server.log", READ_LINE.replace("Truncating", "Trunc\u24d0ting"), "\u24d0"),
        ("server.log", f"{READ_LINE}\njava.io.IOException: h-j-q-z-v", "h-j-q-z-v"),
        ("server.log", f"{READ_LINE}\njava.io.IOException: !$%&*", "!$%&*"),
        ("server.log", f"{READ_LINE}\njava.io.IOException: topicxaaaa-583016", "583016"),
        ("acme/server.log", READ_LINE, "acme"),
        ("broker-1/12.5.84/server.log", READ_LINE, "12"),
        ("config/server.properties", "min.insync.replicas=2\nconnection.id.size=4929817263541", "4929817263541"),
        ("meta.properties", "version=1\nnode.id=1\ncluster.id=clusterxaaaaAAAAAAAAAA", None),
        ("data/orders-0/00000000000000000000.log", "\0\0hunter\0", "hunter"),
    ],
)
def test_the_last_check_finds_what_is_on_no_list(path: str, line: str, left: str | None) -> None:
    names = Names()
    for kind, name in (("topic", "acme.orders"), ("host", "hunter"), ("cluster", "prod")):
        names.add(kind, name)
    names.seen.partitions.add(("acme.orders", "0"))
    check, member = Check(names), Member(path, None, None)
    found_in = check.path(path.replace("orders", "topicxaaaa"))
    assert (found_in or check.file(member, BytesIO(f"{line}\n".encode()), binary="00000" in path)) == left
