"""The recorder's slow network: who is held to a rate, and that all bytes come through. No Kafka is started here."""

from __future__ import annotations

import socket
import struct
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.record.cluster import Cluster, Settings
from fixtures.record.jars import Jars
from fixtures.record.network import Link, follower
from fixtures.record.scenarios import SCENARIOS
from fixtures.record.slow import small_fetches
from fixtures.record.tools import Tools
from fixtures.record.versions import KafkaVersion


def request(api: int, version: int, client: bytes, body: bytes = b"") -> bytes:
    head = struct.pack(">hhih", api, version, 7, len(client)) + client + body
    return struct.pack(">i", len(head)) + head


@pytest.mark.parametrize(
    ("start", "who"),
    [
        (request(18, 3, b"broker-2-fetcher-0"), 2),
        (request(1, 17, b"broker-12-fetcher-1"), 12),
        (request(1, 3, b"ReplicaFetcherThread-0-1", struct.pack(">i", 3)), 3),
        (request(1, 4, b"console-consumer", struct.pack(">i", -1)), None),
        (request(3, 0, b"admin"), None),
        (request(1, 17, b"consumer"), None),
    ],
)
def test_a_replica_fetcher_is_known_by_its_first_request(start: bytes, who: int | None) -> None:
    assert follower(start) == who


@given(st.integers(0, 50))
@settings(max_examples=60)
def test_half_a_request_is_waited_for(length: int) -> None:
    start = request(1, 3, b"ReplicaFetcherThread-0-1", struct.pack(">i", 3))
    if length < len(start):
        with pytest.raises(struct.error):
            follower(start[:length])
    else:
        assert follower(start) == 3


def test_a_link_passes_on_what_both_sides_send_and_ends_with_them() -> None:
    with socket.create_server(("127.0.0.1", 0)) as broker:
        link = Link(broker.getsockname()[1], {2: 1_000_000})
        answer = bytes(range(256)) * 40
        got: list[bytes] = []

        def serve() -> None:
            end, _ = broker.accept()
            with end:
                got.append(end.recv(4096))
                end.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        with socket.create_connection(("127.0.0.1", link.port), 5) as client:
            sent = request(1, 17, b"broker-2-fetcher-0")
            client.sendall(sent)
            received = b""
            while piece := client.recv(65536):
                received += piece
        link.close()
    assert (got, received) == ([sent], answer)


def cluster_at(root: Path, version: str, mode: str, links: bool) -> Cluster:
    kafka = KafkaVersion(version)
    (root / "cache" / version).mkdir(parents=True)
    (root / "cache" / version / ".complete").touch()
    made = Settings(kafka, mode, properties={"replica.fetch.max.bytes": 2048}, links=links)
    cluster = Cluster(made, Jars(kafka, root / "cache"), root / "work")
    cluster.work.mkdir()
    cluster.prepare()
    return cluster


@pytest.mark.parametrize(("version", "mode"), [("2.8.2", "zk"), ("4.1.1", "kraft")])
def test_brokers_advertise_their_links(tmp_path: Path, version: str, mode: str) -> None:
    with cluster_at(tmp_path, version, mode, links=True) as cluster:
        for node in cluster.nodes:
            lines = dict(line.split("=", 1) for line in node.properties.read_text().splitlines())
            assert ("replica.fetch.max.bytes" in lines) == (node.role == "broker")
            if node.role == "broker":
                assert lines["listeners"].endswith(f":{node.port}") and not lines["advertised.listeners"].endswith(f":{node.port}")
        cluster.slow_network(4000, 1, 2)
        assert cluster.actions[-1] | {"at": ""} == {"at": "", "action": "slow network", "followers": (1, 2), "bytes_per_second": 4000}


def test_without_links_nothing_stands_between() -> None:
    assert [s.name for s in SCENARIOS.values() if s.links] == ["slow-replica", "slow-network"]
    assert small_fetches(KafkaVersion("0.10.0.1"))["message.max.bytes"] == 2048
    assert "message.max.bytes" not in small_fetches(KafkaVersion("0.10.1.0"))


@pytest.mark.parametrize(("version", "where"), [("2.5.1", "--zookeeper"), ("2.8.2", "--bootstrap-server")])
def test_settings_are_changed_where_the_release_takes_them(
    tmp_path: Path, version: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = Tools(cluster_at(tmp_path, version, "zk", links=False))
    asked: list[list[str]] = []
    monkeypatch.setattr(tools, "_run", lambda _, arguments: asked.append(list(arguments)))
    tools.configure("brokers", "3", {"a": "1"}, ["b"])
    (arguments,) = asked
    assert arguments[0] == where
    assert arguments[2:] == ["--alter", "--entity-type", "brokers", "--entity-name", "3", "--add-config", "a=1", "--delete-config", "b"]
