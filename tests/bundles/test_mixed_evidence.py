"""Evidence with files that are not of the cluster: another cluster, sample configurations, logs of clients and other services."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache

import pytest

from forensics.model.cluster.names import names
from forensics.views.document import Report
from forensics.views.notes import notes
from forensics.words import words
from tests.support import taken
from tests.support.shapes import HEAD, File, Files, bundle, moment, records

CLUSTERS = [
    ("unclean-election-3.9.1-kraft", "clean-failover-2.8.2-zk"),
    ("clean-failover-2.8.2-zk", "unclean-election-2.8.2-zk"),
    ("unclean-election-0.10.2.2-zk", "clean-failover-0.10.2.2-zk"),
]


def begin(files: Files) -> float:
    return min(moment(r) for path, file in files.items() if "/logs/" in path for r in records(file.content)[:1] if HEAD.match(r))


@cache
def whole(name: str) -> Report:
    return taken.report(bundle(name))


def later(files: Files, seconds: int) -> Files:
    """The same, as if it had happened later."""
    return {
        path: File(
            b"".join(taken.moved(r, seconds) for r in records(file.content)) if "/logs/" in path else file.content, file.modified + seconds
        )
        for path, file in files.items()
    }


@pytest.mark.parametrize(("one", "other"), CLUSTERS)
def test_of_two_clusters_at_the_same_time_the_smaller_one_is_set_aside(one: str, other: str) -> None:
    parts = {"a": bundle(one), "b": later(bundle(other), round(begin(bundle(one)) - begin(bundle(other))) + 7)}
    report = taken.report({f"{name}/{path}": file for name, files in parts.items() for path, file in files.items()})
    (aside,) = report.cluster.excluded
    (left,) = {"a", "b"} - {path.partition("/")[0] for path in aside.paths}
    assert len(aside.paths) == len(parts["ab".replace(left, "")])
    assert taken.judged(report).verdicts == taken.judged(taken.report(parts[left])).verdicts
    assert [line for line in notes(report.cluster) if aside.cluster_id in line]
    assert report.headline.tone != "excluded" and "not judged" in report.headline.title and not report.complete


SAMPLE = {
    "config/kraft/server.properties": (
        b"process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@localhost:9093\nlog.dirs=/tmp/kraft-combined-logs\n"
    ),
    "config/server.properties": b"broker.id=0\nlog.dirs=/tmp/kafka-logs\nzookeeper.connect=localhost:2181\n",
}
"""What decides in the files that Kafka ships (config/kraft/server.properties of 3.9, config/server.properties of 2.8)."""


@pytest.mark.parametrize(("path", "name"), [*zip(SAMPLE, CLUSTERS[0], strict=True)])
def test_a_sample_configuration_changes_nothing(path: str, name: str) -> None:
    report, expected = taken.report({**bundle(name), path: File(SAMPLE[path], 1.0)}), whole(name)
    assert (report.cluster.mode, [*report.cluster.nodes]) == (expected.cluster.mode, [*expected.cluster.nodes])
    assert [words(f).summary for f in report.findings] == [words(f).summary for f in expected.findings]
    assert notes(report.cluster) == [f"1 configuration file that no broker was started with was set aside: {path}."]


def test_the_configuration_of_a_broker_is_used() -> None:
    name = "clean-failover-2.8.2-zk"
    assert any(path.endswith("config/server.properties") for path in bundle(name))
    assert whole(name).cluster.excluded == ()


def test_an_address_of_two_brokers_is_a_conflict_and_every_name_has_a_place() -> None:
    files = {
        path: File(re.sub(rb"//127\.0\.0\.1:\d+", b"//kafka.example:9092", file.content), file.modified) if "/logs/" in path else file
        for path, file in bundle("clean-failover-2.8.2-zk").items()
    }
    report = taken.report(files)
    (conflict,) = (f for f in report.findings if f.kind == "evidence-conflict")
    assert conflict.brokers == (1, 2, 3) and "kafka.example:9092" in words(conflict).summary
    own = names(report.cluster)
    assert {n.also for n in own[1] if n.name == "kafka.example:9092"} == {(2, 3)}
    assert all(n.source in {s.path for s in report.cluster.sources} for of_node in own.values() for n in of_node)
    assert {n.name for n in own[2] if n.kind == "directory"} == {"broker-2"}


OTHER_LOGS = {
    "postgresql.log": "2026-11-21 01:56:{0:02} UTC [{0}] ERROR:  duplicate key value violates unique constraint",
    "zookeeper.log": "[2026-11-21 01:56:{0:02},123] INFO Expiring session 0x{0}, timeout of 6000ms exceeded (org.apache.zookeeper.server.ZooKeeperServer)",
    "connect.log": "[2026-11-21 01:56:{0:02},200] WARN [Producer clientId=sink-{0}] Connection to node 2 (localhost/127.0.0.1:9092) could not be "
    "established. Broker may not be available. (org.apache.kafka.clients.NetworkClient)",
}


def runs(report: Report) -> list[tuple[int, str | None, list[tuple[datetime | None, str]]]]:
    return [(n.id, n.version, [(run.begin_at, run.outcome) for run in n.runs]) for n in report.cluster.nodes.values()]


@pytest.mark.parametrize("log", OTHER_LOGS)
def test_a_log_of_another_service_is_assigned_to_no_broker(log: str) -> None:
    name = "clean-failover-2.8.2-zk"
    content = "".join(OTHER_LOGS[log].format(second) + "\n" for second in range(50)).encode()
    report, expected = taken.report({**bundle(name), f"logs/{log}": File(content, begin(bundle(name)) + 60)}), whole(name)
    assert runs(report) == runs(expected)
    assert taken.judged(report).verdicts == taken.judged(expected).verdicts
    assert {f.kind for f in report.findings} - {f.kind for f in expected.findings} <= {"evidence-gap"}
    assert notes(report.cluster) == [f"1 log that names no broker was not assigned to any broker: logs/{log}."]


@pytest.mark.parametrize(
    ("name", "suffix"),
    [(name, suffix) for name, own in ((CLUSTERS[0][0], (".bak", "~")), (CLUSTERS[0][1], (".old", ".20261121"))) for suffix in own],
)
def test_an_older_copy_beside_a_checkpoint_changes_nothing(suffix: str, name: str) -> None:
    files = bundle(name)
    names = ("replication-offset-checkpoint", "leader-epoch-checkpoint", "recovery-point-offset-checkpoint")
    copies = {path: file for path, file in files.items() if path.endswith(names)}
    older = {path + suffix: File(re.sub(rb"\d+\n$", b"1\n", file.content), file.modified - 20) for path, file in copies.items()}
    with_copies = taken.report(dict(files) | older)
    (aside,) = with_copies.cluster.excluded
    assert (aside.why, set(aside.paths)) == ("copy", set(older))
    assert taken.judged(with_copies).verdicts == taken.judged(whole(name)).verdicts
    assert [f.id for f in with_copies.findings] == [f.id for f in whole(name).findings]


@pytest.mark.parametrize("name", ["unclean-election-3.9.1-kraft", "clean-failover-2.8.2-zk"])
def test_a_number_that_may_be_cut_makes_no_finding(name: str) -> None:
    files = bundle(name)
    known = {f.id for f in whole(name).findings}
    for path in sorted(path for path in files if re.match(r"broker-1/.*(?:replication-offset|leader-epoch)-checkpoint$", path)):
        cut = {path: File(files[path].content[:-2], files[path].modified)}
        found = [f for f in taken.report(dict(files) | cut).findings if f.id not in known and f.confidence != "possible"]
        assert {f.kind for f in found} <= {"checkpoint-corrupt", "evidence-gap"}, path


QUOTED = """Hello,
this is what we saw:
[{at}] INFO [Broker id=2] Leader {name} starts at leader epoch 7 from offset 90 with high watermark 90 ISR [2] addingReplicas [] removingReplicas []. Previous leader epoch was 6. (state.change.logger)
[{at}] INFO [Log partition={name}, dir=/var/lib/kafka/data] Truncating to offset 90 (kafka.log.Log)
"""


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("notes.txt", "acks1-failover-2.8.2-zk"),
        ("broker-2/notes.txt", "unclean-election-2.8.2-zk"),
        ("broker-2/logs/mail.txt", "acks1-failover-2.8.2-zk"),
    ],
)
def test_what_a_person_wrote_is_not_a_log(place: str, name: str) -> None:
    """Lines that the broker's own log lacks, though it covers the time."""
    files = bundle(name)
    lines = [r for r in records(files["broker-2/logs/state-change.log"].content) if b" starts at leader epoch " in r]
    match = re.search(r"\[([\d :,-]+)\].* Leader (\S+) starts at", lines[0].decode())
    assert match is not None
    note = File(QUOTED.format(at=match[1], name=match[2]).encode(), files["broker-2/logs/state-change.log"].modified)
    report, expected = taken.report(dict(files) | {place: note}), whole(name)
    assert [(a.why, a.paths) for a in report.cluster.excluded] == [("quotation", (place,))]
    assert taken.judged(report).verdicts == taken.judged(expected).verdicts
    assert {f.id for f in report.findings} == {f.id for f in expected.findings}


@pytest.mark.parametrize(
    ("name", "right", "wrong", "of_topic"),
    [
        ("unclean-election-3.9.1-kraft", "ledger-0", "orders-1", True),  # with the topic id of the other topic
        ("unclean-election-3.9.1-kraft", "ledger-0", "orders-1", False),  # without partition.metadata
        ("rolling-restart-3.9.1-kraft", "inventory-0", "inventory-1", True),  # another partition of the same topic
        ("rolling-restart-2.8.2-zk", "inventory-0", "inventory-1", False),
    ],
)
def test_the_directory_of_another_partition_is_no_sure_divergence(name: str, right: str, wrong: str, of_topic: bool) -> None:
    files = bundle(name)
    found = {path: f for path, f in files.items() if path.startswith(f"broker-2/data/{wrong}/") and (of_topic or "metadata" not in path)}
    others = {path: f for path, f in files.items() if not path.startswith(f"broker-2/data/{right}/")}
    report = taken.report({**others, **{path.replace(f"/{wrong}/", f"/{right}/"): f for path, f in found.items()}})
    assert [f for f in report.findings if f.kind == "log-divergence" and f.confidence != "possible"] == []
    assert [f for f in report.findings if f.kind == "evidence-conflict" and f.topic == right[:-2] and 2 in f.brokers]


def halved(files: Files, pattern: str) -> Files:
    """Checkpoints with half of each high watermark, as they may have been before."""
    chosen = {path: f for path, f in files.items() if re.match(pattern, path) and path.endswith("/replication-offset-checkpoint")}
    return {
        path: File(re.sub(rb" (\d+)$", lambda m: b" %d" % (int(m[1]) // 2), f.content, flags=re.M), f.modified)
        for path, f in chosen.items()
    }


@pytest.mark.parametrize("name", ["acks1-failover-2.8.2-zk", "rolling-restart-3.9.1-kraft"])
def test_two_collections_with_equal_times_show_no_regression(name: str) -> None:
    """The earlier collection of broker 1 has the first half of each log and lower high watermarks."""
    files = bundle(name)
    own, at = {path: f for path, f in files.items() if path.startswith("broker-1/")}, max(f.modified for f in files.values())
    logs = {path: b"".join((lines := records(f.content))[: len(lines) // 2]) for path, f in own.items() if "/logs/" in path}
    earlier = {**{path: f.content for path, f in halved(own, "").items()}, **logs}
    equal = {path: File(f.content, at) if path in own else f for path, f in files.items()}
    both = taken.report(
        {**equal, **{path.replace("broker-1/", "broker-1-before/"): File(content, at) for path, content in earlier.items()}}
    )
    assert {f.id for f in both.findings if f.kind not in taken.OF_EVIDENCE} <= {f.id for f in whole(name).findings}
    assert taken.judged(both).verdicts == taken.judged(whole(name)).verdicts


@pytest.mark.parametrize(("name", "leader"), [("rolling-restart-3.9.1-kraft", 1), ("clean-failover-2.8.2-zk", 2)])
def test_an_older_checkpoint_of_a_leader_contradicts_those_of_its_followers(name: str, leader: int) -> None:
    files = bundle(name)
    older = {path: File(f.content, f.modified + 120) for path, f in halved(files, f"broker-{leader}/").items()}
    report, expected = taken.report({**files, **older}), whole(name)
    new = [f for f in report.findings if f.id not in {f.id for f in expected.findings}]
    assert {(f.kind, f.brokers[0], "which follows it" in words(f).summary) for f in new} == {("evidence-conflict", leader, True)}
    assert taken.judged(report).verdicts == taken.judged(expected).verdicts
