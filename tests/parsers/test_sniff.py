"""Kinds of files by name and content, on the names and bytes Kafka really leaves."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsers.paths import is_unfinished, partition_of
from parsers.schemas import Member
from parsers.sniff import KINDS, sniff
from tests.support.local import events_of

LINE = b"[2026-11-21 02:25:12,827] INFO starting (kafka.server.KafkaServer)\n"
STATE = (
    b"[2026-11-21 02:25:17,518] TRACE [Broker id=3] Handling LeaderAndIsr request correlationId 1 from controller 2 epoch 1"
    b" starting the become-follower transition for partition clicks-0 (state.change.logger)\n"
)
CONTROLLER = (
    b"[2026-11-21 02:25:14,855] DEBUG [Controller id=3] Broker 2 has been elected as the controller (kafka.controller.KafkaController)\n"
)
DESCRIBE_OLD = (
    b"Topic:orders\tPartitionCount:2\tReplicationFactor:3\tConfigs:x=1\n"
    b"\tTopic: orders\tPartition: 0\tLeader: none\tReplicas: 1,2\tIsr: 1\n"
)
DESCRIBE_NEW = b"Topic: clicks\tTopicId: 6Tjk54FSTMK4XDIimEZmUg\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: \n"
UNDER_REPLICATED = (
    b"OpenJDK 64-Bit Server VM warning: Option X was deprecated\n\tTopic: a\tPartition: 0\tLeader: 3\tReplicas: 2,3\tIsr: 3\n"
)
NOISE = Random(1)
BATCH = bytes(8) + (61).to_bytes(4, "big") + bytes(4) + b"\x02" + NOISE.randbytes(44)
PLAN = b'{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2,3],"log_dirs":["any","any","any"]}]}'
QUORUM = (
    b'{"clusterId":"","leaderId":100,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,"currentVoters":[{"voterId":100}],"data_version":0}'
)
META = b"#\n#Sat Nov 21 01:58:32 UTC 2026\nnode.id=1\ndirectory.id=XYGwLlXrp-O7TmMGtIXB-w\nversion=1\ncluster.id=oPeJfyBuTgms-rYWFCdskg\n"
POINTER = (
    b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)
SERVER = b"log.dirs=/var/lib/kafka/broker-1/data\nnum.partitions=3\nnode.id=1\n"


def kind(path: str, head: bytes) -> str:
    found = sniff(Member(path, len(head), None), head)
    assert found in KINDS
    return found


@pytest.mark.parametrize("content", [b"P", b"PK", b"BZh", b"BZh91AY&S"])
def test_a_container_that_ends_within_its_signature_is_not_a_log(content: bytes) -> None:
    assert sniff(Member("server.log", len(content), None), content) == "text"
    assert sniff(Member("server.log", 2, None), b"26") == "server-log"


@pytest.mark.parametrize(
    ("path", "head", "expected"),
    [
        ("logs/state-change.log", b"     1\t" + STATE + b"     2\t" + STATE, "state-change-log"),
        ("broker-1/logs/server.log", LINE, "server-log"),
        ("server.log.2024-05-01-13", LINE, "server-log"),
        ("server.log.2024-05-01-13.gz", LINE, "server-log"),
        ("server.log.1", LINE, "server-log"),
        ("server-2024.log", LINE, "server-log"),
        ("server.log", b"java.io.IOException: No space left on device\n\tat sun.nio.ch.FileDispatcherImpl.write0\n", "server-log"),
        ("server.log", bytes(900) + LINE, "server-log"),
        ("state-change.log", STATE, "state-change-log"),
        ("state-change.log.2024-05-01-13.zst", STATE, "state-change-log"),
        ("controller.log", CONTROLLER, "controller-log"),
        ("controller.log.2026-11-21-01", CONTROLLER, "controller-log"),
        ("log-cleaner.log", LINE, "log-cleaner-log"),
        ("kafka-request.log", LINE, "request-log"),
        ("kafka-authorizer.log.3", LINE, "authorizer-log"),
        ("kafkaServer.out", LINE, "stdout-log"),
        ("kafkaServer-gc.log", b"[2024-05-01T12:00:00.123+0000][gc,start     ] GC(12) Pause Young\n", "gc-log"),
        ("kafkaServer-gc.log.0.current", b"2024-05-01T12:00:00.123+0000: 12.345: [GC pause (G1 Evacuation Pause) (young)\n", "gc-log"),
        ("messages", LINE, "other-log"),
        ("broker1.txt", STATE * 3, "state-change-log"),
        ("dump.txt", CONTROLLER * 3 + LINE, "controller-log"),
        (
            "pod-0.json",
            b'{"timestamp":"2024-05-01T12:00:00Z","level":"INFO","logger":"kafka.server.KafkaServer","message":"started"}\n',
            "other-log",
        ),
        ("kafka.log", b"2024-05-01T12:00:00.1Z stdout F [2024-05-01 12:00:00,100] INFO x (kafka.log.Log)\n", "other-log"),
    ],
)
def test_logs(path: str, head: bytes, expected: str) -> None:
    assert kind(path, head) == expected


@pytest.mark.parametrize(
    ("path", "head"),
    [
        ("docs/own-patterns.md", b"# Lines\n\n    " + LINE),
        ("report.html", b"<!DOCTYPE html>\n<pre>" + LINE),
        (
            "report.json",
            b'{\n "schema": "kafka-forensics/report/1",\n "partitions": [{"topic": "t", "partition": 0, "replicas": [1]}],\n "text": "'
            + LINE,
        ),
    ],
)
def test_documents_quote_log_lines(path: str, head: bytes) -> None:
    assert kind(path, head) == "document"


QUOTED = "a document that quotes log lines is not read; if they are of this incident, save them as a text file"
PAGE = "<!DOCTYPE html><title>Logs · {}</title><h1>Incident</h1><pre>{}</pre>{}"


@pytest.mark.parametrize(
    ("title", "lines", "prose", "read"),
    [("a", 12, 1, True), ("a", 9, 1, False), ("a", 12, 30, False), ("kafka-forensics", 12, 1, False)],
    ids=["mostly lines", "few lines", "mostly prose", "own report"],
)
def test_a_page_that_is_mostly_log_lines_is_read(title: str, lines: int, prose: int, read: bool, tmp_path: Path) -> None:
    text = PAGE.format(title, LINE.decode() * lines, "<p>It was late, and nobody saw it.</p>" * prose)
    (tmp_path / "page.html").write_text(text)
    rows = events_of(tmp_path / "page.html").to_pylist()
    assert [row["text"] for row in rows if row["event"] == "problem"] == ([] if read or title != "a" else [QUOTED])
    assert {row["collected"]["kind"] for row in rows if row["event"] == "source"} == {"other-log" if read else "document"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("data/replication-offset-checkpoint", "hw-checkpoint"),
        ("data/replication-offset-checkpoint.tmp", "hw-checkpoint"),
        ("broker-1-replication-offset-checkpoint.txt", "hw-checkpoint"),
        ("data/recovery-point-offset-checkpoint", "recovery-point-checkpoint"),
        ("data/log-start-offset-checkpoint", "log-start-checkpoint"),
        ("data/cleaner-offset-checkpoint", "cleaner-checkpoint"),
        ("data/t-0/leader-epoch-checkpoint", "epoch-checkpoint"),
        ("data/t-0/leader-epoch-checkpoint.gz", "epoch-checkpoint"),
        ("data/meta.properties", "meta-properties"),
        ("data/t-0/partition.metadata", "partition-metadata"),
        ("data/.kafka_cleanshutdown", "clean-shutdown"),
        ("data/t-0/00000000000000000000.log", "segment"),
        ("data/t-0/00000000000000000000.log.deleted", "segment"),
        ("data/t-0/00000000000000000000.log.swap", "segment"),
        ("data/t-0/00000000000000000000.log.cleaned", "segment"),
        ("data/t-0/00000000000000000350.snapshot", "producer-snapshot"),
        ("data/t-0/00000000000000000350.snapshot.deleted", "producer-snapshot"),
        ("data/t-0/00000000000000000000.timeindex", "index"),
        ("data/t-0/00000000000000000000.txnindex", "index"),
        ("data/t-0/00000000000000000000.index.deleted", "index"),
        ("data/__cluster_metadata-0/00000000000000000000.log", "metadata-segment"),
        ("data/__cluster_metadata-0/00000000000000004711-0000000007.checkpoint", "metadata-snapshot"),
        ("data/__cluster_metadata-0/00000000000000004711-0000000007.checkpoint.deleted", "metadata-snapshot"),
        ("data/bootstrap.checkpoint", "metadata-snapshot"),
        ("data/__cluster_metadata-0/quorum-state", "quorum-state"),
    ],
)
@pytest.mark.parametrize("head", [b"", bytes(100), BATCH, b"0\n0\n"])
def test_names_that_settle_the_kind(path: str, expected: str, head: bytes) -> None:
    assert kind(path, head) == expected


@pytest.mark.parametrize("head", [DESCRIBE_OLD, DESCRIBE_NEW, UNDER_REPLICATED, b"\xff\xfe" + DESCRIBE_NEW.decode().encode("utf-16-le")])
@pytest.mark.parametrize("path", ["cluster/topics-describe-end.txt", "x", "topics.log"])
def test_describe_under_any_name(path: str, head: bytes) -> None:
    assert kind(path, head) == "describe"


@pytest.mark.parametrize(
    ("path", "head", "expected"),
    [
        ("reassignment.json", PLAN, "reassignment-json"),
        ("plan.txt", json.dumps(json.loads(PLAN), indent=2).encode(), "reassignment-json"),
        ("x", QUORUM, "quorum-state"),
        ("election.json", b'{"partitions":[{"topic":"t","partition":0}]}', "election-json"),
        ("x", b'{"version":1,"partitions":[\n {"partition":0, "topic":"t"}]}', "election-json"),
        ("other.json", b'{"partitions":[1,2]}', "json"),
        ("zk.txt", b'{"controller_epoch":26,"leader":0,"version":1,"leader_epoch":2,"isr":[0,1]}', "znode"),
        ("zk/brokers/topics/t/partitions/0/state", b'{"leader":0,\n"leader_epoch":2,"isr":[0,1],"controller_epoch":1}', "znode"),
        ("zk/controller_epoch", b"26", "znode"),
        ("controller.log", b"26", "controller-log"),
        ("out.txt", b"Current partition replica assignment\n\n{}", "reassignment-output"),
        ("out.txt", b"Status of partition reassignment: \n", "reassignment-output"),
        ("out.txt", b"SLF4J: x\nValid replica already elected for partitions t-0\n", "election-output"),
        ("out.txt", b"Querying brokers for log directories information\n", "log-dirs"),
        ("out.txt", b"ClusterId:   x\nLeaderId:   1\nLeaderEpoch:            1\n", "metadata-quorum"),
        ("out.txt", b"NodeId\tLogEndOffset\tLag\tLastFetchTimestamp\n", "metadata-quorum"),
        ("out.txt", b"Dynamic configs for topic t are:\n", "config-output"),
        ("out.txt", b"Configs for topic 't' are a=b\n", "config-output"),
        ("end-offsets.txt", b"t:0:12\nt.b-c:1:\n", "offsets-output"),
        ("times.txt", b"12:30:45\n12:30:46\n", "text"),
        ("f", b"Feature: metadata.version\tSupportedMinVersion: 3.0-IV1\tSupportedMaxVersion: 3.9-IV0\n", "features-output"),
        ("c", b"Cluster ID: S5AjtMJLTva4x39Tsx9RyQ\n", "cluster-id"),
        ("load.csv", b"a,b\n1,2\n", "load-metrics"),
        ("load", b"time;Broker ID;cpu\n1;2;3\n", "load-metrics"),
        ("kafkaServer-gc.log.0", b"[2026-11-21T07:44:04.800+0000] GC(2) Pause Full (System.gc()) 279M->275M(457M) 971.013ms\n", "gc-log"),
        ("config/server.properties", SERVER, "server-properties"),
        ("config/server-1.properties", b"# nothing but a comment\n", "server-properties"),
        ("config/kraft.properties", SERVER, "server-properties"),
        ("broker-1.properties", META, "meta-properties"),
        ("config/producer.properties", b"bootstrap.servers=localhost:9092\n", "text"),
        ("notes.txt", b"We restarted broker 2 at noon.\n", "text"),
        (".lock", b"", "empty"),
        ("server.log", b"", "empty"),
        ("server.log", bytes(4096), "binary"),
        ("data/orders-0/00000000000000000000.log", POINTER, "pointer"),
        ("logs/server.log", POINTER, "pointer"),
        ("state-change.log", NOISE.randbytes(4096), "binary"),
        ("core.1234", b"\x7fELF" + bytes(60), "binary"),
        ("server.log", gzip.compress(LINE, mtime=0)[:10] + bytes(30), "binary"),
    ],
)
def test_other_files(path: str, head: bytes, expected: str) -> None:
    assert kind(path, head) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("b/data/clicks-0/leader-epoch-checkpoint", ("clicks", 0, "current")),
        ("b/data/w.events_v2-79/x", ("w.events_v2", 79, "current")),
        ("b/data/a-1-2/x", ("a-1", 2, "current")),
        ("orders-3.0123456789abcdef0123456789abcdef-delete/x", ("orders", 3, "delete")),
        ("orders-3.0123456789abcdef0123456789abcdef-future/x", ("orders", 3, "future")),
        ("orders-3.0123456789abcdef0123456789abcdef-stray/x", ("orders", 3, "stray")),
        ("b/data/replication-offset-checkpoint", None),
        ("clicks-0", None),
        ("clicks-99999999999/x", None),
        ("clicks-2147483648/x", None),
        ("clicks-/x", None),
    ],
)
def test_partition_of(path: str, expected: tuple[str, int, str] | None) -> None:
    assert partition_of(path) == expected


def test_unfinished_checkpoints() -> None:
    assert is_unfinished("data/replication-offset-checkpoint.tmp")
    assert not is_unfinished("data/replication-offset-checkpoint")


@settings(max_examples=200)
@given(st.text(max_size=60), st.binary(max_size=3000))
def test_any_file_has_a_kind(path: str, head: bytes) -> None:
    assert sniff(Member(path, None, None), head) in KINDS
    partition_of(path)
