"""Whose a source is: content first, the path where content is silent, and copies of one broker kept apart."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from spark import identity
from spark.identity import Clues, Conflict, Owner, identify
from tests import local

BUNDLES = Path(__file__).parents[2] / "fixtures" / "bundles"


def owner(path: str, *clues: Clues) -> Owner:
    return identify([Clues(path), *clues]).owners[path]


def test_content_counts_before_the_path() -> None:
    told = identify([Clues("broker-7/logs/server.log", (3,))])
    assert told.owners["broker-7/logs/server.log"] == Owner(3, "")
    assert told.conflicts == []


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
    told = identify(
        [Clues(f"dump/{name}/{f}", (n,)) for n, name in ((1, "iris"), (2, "rose")) for f in ("logs/server.log", "d/meta.properties")]
    )
    assert set(told.owners.values()) == {Owner(1, "dump/iris"), Owner(2, "dump/rose")}


def test_log_among_another_nodes_files_is_a_conflict() -> None:
    told = identify([Clues("broker-1/data/meta.properties", (1,), True), Clues("broker-1/logs/server.log", (2,))])
    assert told.owners["broker-1/logs/server.log"].node == 2
    assert told.conflicts == [Conflict("broker-1/logs/server.log", 2, 1)]


def test_log_that_names_its_own_node_second_is_no_conflict() -> None:
    assert identify([Clues("b/data/meta.properties", (1,), True), Clues("b/server.log", (2, 1))]).conflicts == []


def copies(*others: Clues) -> list[Clues]:
    """Broker 1 collected twice."""
    files = ("logs/server.log", "data/t-0/leader-epoch-checkpoint", "data/meta.properties")
    return [Clues(f"{top}/{f}", (1,)) for top in ("all/before-restart/broker-1", "all/broker-1") for f in files] + list(others)


@pytest.mark.parametrize("others", [(), (Clues("all/broker-2/logs/server.log", (2,)),)], ids=["alone", "with others"])
def test_copy_taken_before_is_another_collection(others: tuple[Clues, ...]) -> None:
    told = identify(copies(*others))
    assert {o.collection for o in told.owners.values() if o.node == 1} == {"all/before-restart", "all/broker-1"}
    for path, own in told.owners.items():
        assert path.startswith(own.collection + "/")


def test_two_log_directories_of_one_broker_are_one_collection() -> None:
    paths = [
        "b/d1/t-0/leader-epoch-checkpoint",
        "b/d2/t-1/leader-epoch-checkpoint",
        "b/d1/meta.properties",
        "b/d2/meta.properties",
        "b/server.log",
    ]
    told = identify(Clues(p, (1,)) for p in paths)
    assert len({o.collection for o in told.owners.values()}) == 1


@pytest.mark.parametrize("name", ["last-replica-standing-2.8.2-zk", "last-replica-standing-3.9.1-kraft"])
def test_copies_of_a_real_broker_oldest_first(name: str) -> None:
    cluster, _ = local.gathered(local.events_of(BUNDLES / f"{name}.tar.gz"))
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
    told = identify([*clues, Clues("old/iris/data/meta.properties", (1,), True), Clues("new/iris/data/meta.properties", (1,), True)])
    assert set(told.owners.values()) == {Owner(1, "old"), Owner(1, "new")}
    assert looks < 40 * len(clues)


def test_no_order_of_the_sources_changes_anything() -> None:
    clues = copies(Clues("all/broker-2/server.log", (2,)), Clues("all/describe.txt"))
    assert identify(clues) == identify(reversed(clues))
