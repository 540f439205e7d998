"""What was planted in evidence is not in its redacted copy, in any encoding, and no name in the evidence prevents the copy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from fixtures.exports import write
from forensics.tools.redaction.bundle import POLICY, Redacted, redact
from tests.forensics.tools.test_redaction import judged
from tests.support import local, planted
from tests.support.archives import read, spread, tar, zipped
from tests.support.paths import BUNDLES

READ = "[2026-11-21 02:15:38,147] INFO [Log partition={}-0, dir=/data] Truncating to offset 7 (kafka.log.Log)\n"


def copied(files: dict[str, bytes], directory: Path) -> tuple[Redacted, dict[str, bytes]]:
    source = spread(directory / "source", files)
    done = redact([str(source)], directory / "copy.tar.gz", directory / "mapping.json")
    return done, read(directory / "copy.tar.gz")


@pytest.mark.parametrize("made", [planted.logs, planted.others])
def test_nothing_that_was_planted_is_left(made: Callable[[int], tuple[list[planted.Plant], dict[str, bytes]]], tmp_path: Path) -> None:
    plants, files = made(7)
    assert len({secret for plant in plants for secret in plant.secrets}) >= 130
    assert planted.survivors(plants, files), "the search finds them in the evidence"
    done, copy = copied(files, tmp_path)
    assert done.written >= len(files) and done.left_out == []
    assert planted.survivors(plants, copy) == []


def test_a_reader_reads_the_same_offsets_in_the_copy(tmp_path: Path) -> None:
    copied(planted.logs(8)[1], tmp_path)
    before, after = (local.events_of(tmp_path / name).to_pylist() for name in ("source", "copy.tar.gz"))
    offsets = [sorted((r["offset"], r["partition"], r["time"]) for r in rows if r["event"] == "truncation") for rows in (before, after)]
    assert len(offsets[0]) > 400 and offsets[0] == offsets[1]


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


def test_a_number_before_a_word_counts_as_a_part_of_a_long_number(tmp_path: Path) -> None:
    _, copy = copied({"broker-1/logs/server.log": b"[2026-11-21 02:15:39,147] INFO [Broker 555-01-99id=3] left (kafka.x.Y)\n"}, tmp_path)
    assert not any(part in content for content in copy.values() for part in (b"555", b"99id"))


def test_the_copy_names_its_policy(tmp_path: Path) -> None:
    _, copy = copied({"broker-1/logs/server.log": READ.format("orders").encode()}, tmp_path)
    (mark,) = (json.loads(content) for name, content in copy.items() if name.endswith("kafka-forensics-redacted.json"))
    assert mark["policy"] == POLICY and mark["version"] and mark["files"] == 1


@pytest.mark.parametrize(
    ("form", "newest_first"), [("journald-json", False), ("kibana-csv", True), ("datadog-csv", False), ("stern", False)]
)
def test_the_verdict_on_a_redacted_export_is_that_on_the_export(form: str, newest_first: bool, tmp_path: Path) -> None:
    write(BUNDLES / "hw-truncation-0.10.2.2-zk.tar.gz", tmp_path / "export", form, newest_first=newest_first)
    redact([str(tmp_path / "export")], tmp_path / "copy.tar.gz", tmp_path / "mapping.json")
    back = {stand_in: name for name, stand_in in json.loads((tmp_path / "mapping.json").read_text())["names"]["topic"].items()}
    before, after = (local.report(local.events_of(tmp_path / name)) for name in ("export", "copy.tar.gz"))
    assert before.document()["verdict"]["partitions"]["lost"] == 1
    assert judged(after, back) == judged(before, {})
