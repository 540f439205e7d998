"""Whose a source is: content first, the path where content is silent, and copies of one broker kept apart."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.model.clock import identity
from forensics.model.clock.identity import Clues, Conflict, Owner, identify
from tests.support import local, recorded


def owner(path: str, *clues: Clues) -> Owner:
    return identify([Clues(path), *clues]).owners[path]


def test_content_counts_before_the_path() -> None:
    read = identify([Clues("broker-7/logs/server.log", (3,))])
    assert read.owners["broker-7/logs/server.log"] == Owner(3, "")
    assert read.conflicts == []


def test_most_frequent_node_of_a_source_counts() -> None:
    assert identify([Clues("a/server.log", (3, 1))]).owners["a/server.log"].node == 3


def test_neighbours_tell_whose_a_silent_file_is_before_its_path_does() -> None:
    assert owner("broker-7/data/t-0/leader-epoch-checkpoint", Clues("broker-7/data/meta.properties", (3,), True)).node == 3


def test_nearest_neighbours_count() -> None:
    assert owner("all/b/x.log", Clues("all/a/server.log", (1,)), Clues("all/b/server.log", (2,))).node == 2


@pytest.mark.parametrize("name", ["broker-4", "kafka4", "node_4", "data-kafka-4", "4", "BROKER-4", "server=4", "controller-4"])
def test_path_speaks_where_content_is_silent(name: str) -> None:
    assert owner(f"{name}/t-0/leader-epoch-checkpoint").node == 4


@pytest.mark.parametrize("name", ["rack-b-host-iris", "10.0.0.4", "broker-99999999999", "clicks-0"])
def test_nothing_known_is_nobody(name: str) -> None:
    assert owner(f"{name}/t-0/leader-epoch-checkpoint") == Owner(None, "")


def test_several_nodes_in_the_same_directory_leave_a_silent_file_to_nobody() -> None:
    assert owner("all/controller.log", Clues("all/one.log", (1,)), Clues("all/two.log", (2,))).node is None


def test_describe_output_beside_the_brokers_is_nobodys() -> None:
    assert owner("cluster/describe.txt", Clues("iris/server.log", (1,)), Clues("rose/server.log", (2,))).node is None


def test_directories_of_any_name_are_collections() -> None:
    read = identify(
        [Clues(f"dump/{name}/{f}", (n,)) for n, name in ((1, "iris"), (2, "rose")) for f in ("logs/server.log", "d/meta.properties")]
    )
    assert set(read.owners.values()) == {Owner(1, "dump/iris"), Owner(2, "dump/rose")}


def test_log_among_another_nodes_files_is_a_conflict() -> None:
    read = identify([Clues("broker-1/data/meta.properties", (1,), True), Clues("broker-1/logs/server.log", (2,))])
    assert read.owners["broker-1/logs/server.log"].node == 2
    assert read.conflicts == [Conflict("broker-1/logs/server.log", 2, 1)]


def test_log_that_names_its_own_node_second_is_no_conflict() -> None:
    assert identify([Clues("b/data/meta.properties", (1,), True), Clues("b/server.log", (2, 1))]).conflicts == []


def copies(*others: Clues) -> list[Clues]:
    """Broker 1 collected twice."""
    files = ("logs/server.log", "data/t-0/leader-epoch-checkpoint", "data/meta.properties")
    return [Clues(f"{top}/{f}", (1,)) for top in ("all/before-restart/broker-1", "all/broker-1") for f in files] + list(others)


@pytest.mark.parametrize("others", [(), (Clues("all/broker-2/logs/server.log", (2,)),)], ids=["alone", "with others"])
def test_copy_taken_before_is_another_collection(others: tuple[Clues, ...]) -> None:
    read = identify(copies(*others))
    assert {o.collection for o in read.owners.values() if o.node == 1} == {"all/before-restart", "all/broker-1"}
    for path, own in read.owners.items():
        assert path.startswith(own.collection + "/")


def test_two_log_directories_of_one_broker_are_one_collection() -> None:
    paths = [
        "b/d1/t-0/leader-epoch-checkpoint",
        "b/d2/t-1/leader-epoch-checkpoint",
        "b/d1/meta.properties",
        "b/d2/meta.properties",
        "b/server.log",
    ]
    read = identify(Clues(p, (1,)) for p in paths)
    assert len({o.collection for o in read.owners.values()}) == 1


@pytest.mark.parametrize("name", ["last-replica-standing-2.8.2-zk", "last-replica-standing-3.9.1-kraft"])
def test_copies_of_a_real_broker_oldest_first(name: str) -> None:
    cluster, _ = local.gathered(recorded.events(name))
    assert cluster.nodes[1].collections == [f"{name}/before-restart", f"{name}/broker-1"]
    assert cluster.nodes[2].collections == [f"{name}/broker-2"]
    assert cluster.conflicts == []


def test_twenty_thousand_sources_take_a_few_looks_each(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0
    parents = identity._parents

    def counted(path: str) -> Iterable[str]:
        nonlocal looks
        for parent in parents(path):
            looks += 1
            yield parent

    monkeypatch.setattr(identity, "_parents", counted)
    clues = [Clues(f"{top}/data/t-{p}/leader-epoch-checkpoint") for top in ("old/iris", "new/iris") for p in range(10_000)]
    read = identify([*clues, Clues("old/iris/data/meta.properties", (1,), True), Clues("new/iris/data/meta.properties", (1,), True)])
    assert set(read.owners.values()) == {Owner(1, "old"), Owner(1, "new")}
    assert looks < 40 * len(clues)


def test_no_order_of_the_sources_changes_anything() -> None:
    clues = copies(Clues("all/broker-2/server.log", (2,)), Clues("all/describe.txt"))
    assert identify(clues) == identify(reversed(clues))


# names that content explains


def test_name_of_a_pod_is_the_node_that_its_log_names() -> None:
    """The pod's ordinal is not the node's id; logs and disks lie apart."""
    logs = [Clues(f"logs/my-cluster-kafka-{n - 1}-kafka.log", (n,)) for n in (1, 2, 3)]
    disks = [Clues(f"volumes/data-my-cluster-kafka-{n - 1}/kafka-log{n - 1}/t-0/leader-epoch-checkpoint") for n in (1, 2, 3)]
    owners = identify([*logs, *disks]).owners
    assert [owners[d.path].node for d in disks] == [1, 2, 3]


def test_ordinals_of_pods_speak_for_nobody_once_one_of_them_is_no_node_id() -> None:
    silent = "data/kafka-2/t-0/leader-epoch-checkpoint"
    assert owner(silent, Clues("logs/kafka-0/server.log", (1,)), Clues("logs/kafka-1/server.log", (2,))) == Owner(None, "")
    assert owner(silent, Clues("logs/kafka-0/server.log", (0,)), Clues("logs/kafka-1/server.log", (1,))).node == 2


@pytest.mark.parametrize(
    "writers, expected",
    [
        (["kafka_1"], [None]),
        (["kafka_1", "kafka_2"], [None, None]),
        (["kafka-1"], [None]),
        (["kafka-1", "kafka-2"], [1, 2]),
        (["kafka7_1"], [7]),
        (["kafka-0"], [0]),
    ],
)
def test_the_number_of_a_container_is_no_node_id(writers: list[str], expected: list[int | None]) -> None:
    owners = identify(Clues(f"compose.log#{writer}") for writer in writers).owners
    assert [owners[f"compose.log#{writer}"].node for writer in writers] == expected


def test_single_pod_is_the_node_its_log_names() -> None:
    assert owner("data/kafka-0/t-0/leader-epoch-checkpoint", Clues("logs/kafka-0/server.log", (1,))).node == 1


def test_neighbour_in_the_same_directory_does_not_speak_for_another_broker() -> None:
    assert owner("data/kafka-0/replication-offset-checkpoint", Clues("data/kafka-1/meta.properties", (1,), True)).node == 0


def test_names_on_the_level_where_brokers_part_are_theirs() -> None:
    assigned = [Clues("logs/iris/server.log", (1,)), Clues("logs/rose/server.log", (2,))]
    assert owner("data/rose/t-0/leader-epoch-checkpoint", *assigned).node == 2
    assert owner("data/fern/t-0/leader-epoch-checkpoint", *assigned).node is None


def test_name_of_a_kind_of_file_is_nobodys() -> None:
    assigned = [Clues("iris/data/meta.properties", (1,), True), Clues("iris/logs/server.log", (1,)), Clues("rose/logs/server.log", (2,))]
    assert owner("fern/data/t-0/leader-epoch-checkpoint", *assigned).node is None


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("broker-4-replication-offset-checkpoint", 4),
        ("replication-offset-checkpoint.kafka-4", 4),
        ("my-cluster-kafka-4-kafka.log", 4),
        ("kafka4.meta.properties", 4),
        ("kafka_2.13-3.9.1.log", None),
        ("kafka-2026-11-21.log", None),
        ("server.log.4", None),
        ("kafka.log.4", None),
        ("00000000000000000004.log", None),
        ("kafka-99999999999.log", None),
    ],
)
def test_name_of_a_file_may_be_its_brokers(name: str, node: int | None) -> None:
    assert owner(f"dump/{name}").node == node


def test_topic_called_kafka_is_no_broker() -> None:
    assert owner("dump/kafka-3/leader-epoch-checkpoint").node is None
    assert owner("broker-1/kafka-3/00000000000000000000.log").node == 1


# what belongs together

DISK = ("data/meta.properties", "data/t-0/leader-epoch-checkpoint")


def laid(*places: str) -> set[str]:
    """Collections of broker 1 whose files lie at these places, another broker beside it."""
    read = identify([*(Clues(p, (1,)) for p in places), Clues("elsewhere/broker-2/server.log", (2,))])
    return {o.collection for o in read.owners.values() if o.node == 1}


def test_logs_and_disks_in_different_trees_are_one_collection() -> None:
    assert laid("logs/iris/server.log", "disks/iris/t-0/leader-epoch-checkpoint", "etc/iris.properties") == {"disks"}


def test_log_directories_in_different_trees_are_one_collection() -> None:
    disks = [f"disk{d}/iris/{f}" for d, p in ((1, 0), (2, 1)) for f in ("meta.properties", f"t-{p}/leader-epoch-checkpoint")]
    assert len(laid(*disks, "logs/iris/server.log")) == 1


def test_copies_in_different_trees_are_two() -> None:
    assert laid(*(f"{top}/{f}" for top in ("monday/iris", "tuesday/iris") for f in DISK)) == {"monday", "tuesday"}
    assert laid("iris-monday/data/meta.properties", "iris-tuesday/data/meta.properties", "iris-tuesday/server.log") == {
        "iris-monday",
        "iris-tuesday",
    }


def test_logs_join_the_copy_they_lie_nearest_to() -> None:
    places = [f"{top}/disks/iris/{f}" for top in ("monday", "tuesday") for f in DISK]
    read = identify([*(Clues(p, (1,)) for p in places), Clues("tuesday/logs/iris/server.log", (1,)), Clues("tuesday/rose/x.log", (2,))])
    assert read.owners["tuesday/logs/iris/server.log"].collection == read.owners[places[2]].collection
    assert read.owners[places[0]].collection != read.owners[places[2]].collection


PATHS = st.text("ab01-/._kafr", max_size=30).map(lambda p: p.strip("/") or "x")


@settings(max_examples=150)
@given(st.lists(st.tuples(PATHS, st.lists(st.integers(0, 2**31 - 1), max_size=2), st.booleans()), max_size=12))
def test_any_paths_have_an_owner_and_the_order_is_nothing(found: list[tuple[str, list[int], bool]]) -> None:
    clues = list({path: Clues(path, tuple(nodes), sure) for path, nodes, sure in found}.values())
    read = identify(clues)
    assert read == identify(clues[::-1])
    assert set(read.owners) == {c.path for c in clues}
    for clue in clues:
        if clue.nodes:
            assert read.owners[clue.path].node == clue.nodes[0]
