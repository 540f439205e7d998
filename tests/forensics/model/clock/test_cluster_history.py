"""Which cluster each line is of: ids that starts print, controller epochs, and what neither an old controller nor a refused start proves."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from forensics.model.clock.cluster_history import ClusterHistory, cluster_history
from forensics.model.events import Event

NOON = datetime(2026, 11, 21, 12)


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def event(kind: str, node: int, minutes: float, **fields: Any) -> Event:
    return Event(event=kind, writer=node, at=at(minutes), source=f"broker-{node}/server.log", line=int(minutes * 1000) + 1, **fields)


def start(node: int, minutes: float, cluster_id: str | None = None) -> list[Event]:
    begins = [event("broker-starting", node, minutes)]
    return begins + ([event("config", node, minutes + 0.01, key="cluster.id", value=cluster_id)] if cluster_id is not None else [])


def elected(node: int, minutes: float, epoch: int) -> Event:
    return event("controller-elected", node, minutes, controller=node, controller_epoch=epoch, reason="epoch")


def ordered(node: int, minutes: float, epoch: int) -> Event:
    return event("partition-state", node, minutes, controller_epoch=epoch, reason="received")


def where(found: ClusterHistory, node: int, *minutes: float) -> list[int]:
    return [span.cluster for m in minutes for span in found.between(node, at(m), at(m))]


def test_no_witness_is_one_cluster() -> None:
    assert cluster_history([]) == ClusterHistory((None,))
    assert cluster_history([], [("A", None)]).ids == ("A",)


def test_a_start_that_names_another_cluster_begins_it() -> None:
    found = cluster_history([*start(1, 0, "A"), *start(1, 10, "A"), *start(1, 20, "B"), *start(2, 0, "A"), *start(2, 21, "B")])
    assert found.ids == ("A", "B")
    assert (where(found, 1, -5, 19.9, 20), where(found, 2, 20.5, 21)) == ([0, 0, 1], [0, 1])


def test_a_node_that_names_none_is_where_the_others_are() -> None:
    found = cluster_history([*start(1, 0, "A"), *start(1, 20, "B")])
    assert where(found, 7, 5, 25) == [0, 1]


def test_a_cluster_that_is_come_back_to_is_the_same() -> None:
    found = cluster_history([*start(1, 0, "A"), *start(1, 10, "B"), *start(1, 20, "A")])
    assert [found.ids[c] for c in where(found, 1, 5, 15, 25)] == ["A", "B", "A"]


@given(st.lists(st.integers(-5, 45), min_size=1, max_size=4))
def test_the_spans_between_two_moments_tell_the_cluster_of_each_moment_between(minutes: Sequence[int]) -> None:
    found = cluster_history([*start(1, 0, "A"), *start(1, 10, "B"), *start(1, 20, "A"), *start(1, 30, "C")])
    spans = found.between(1, at(min(minutes)), at(max(minutes)))
    assert [([spans[0], *(s for s in spans if s.since <= at(m))][-1].cluster) for m in minutes] == where(found, 1, *minutes)
    assert spans[1:] == tuple(s for s in found.of_node(1)[1:] if at(min(minutes)) < s.since <= at(max(minutes)))


def test_a_refused_start_joins_nothing() -> None:
    refused = [*start(1, 10, "B"), event("cluster-id-mismatch", 1, 10.1, value="B", reason="A")]
    assert cluster_history([*start(1, 0, "A"), *refused, *start(1, 20, "A")]).ids == ("A",)
    found = cluster_history([*start(1, 0, "A"), *refused, *start(1, 20, "B")])
    assert (found.ids, where(found, 1, 15, 20)) == (("A", "B"), [0, 1])


def test_without_ids_the_first_epoch_again_tells_of_another_cluster() -> None:
    """Up to 0.10.0 no id is printed. Broker 2 was never elected: it went through it with the start that is nearest."""
    first = [*start(1, 0), elected(1, 0.2, 1), *start(2, 1), ordered(2, 1.2, 1), elected(1, 5, 2)]
    second = [*start(1, 20), elected(1, 20.2, 1), *start(2, 20.5), ordered(2, 20.7, 1)]
    found = cluster_history([*first, *second])
    assert found.ids == (None, None)
    assert (where(found, 1, 19, 20), where(found, 2, 20.4, 20.5)) == ([0, 1], [0, 1])


def test_state_lost_under_living_brokers_is_named_by_the_next_start() -> None:
    lost = [*start(1, 0, "A"), elected(1, 0.2, 1), elected(1, 5, 2), elected(1, 30, 1), *start(1, 60, "B"), elected(1, 60.2, 2)]
    found = cluster_history(lost)
    assert (found.ids, where(found, 1, 29, 30, 61)) == (("A", "B"), [0, 1, 1])
    assert found.spans[1][1].how == "under-way"


def test_storage_formatted_with_the_same_id_is_another_cluster() -> None:
    def active(minutes: float, epoch: int) -> Event:
        return event("controller-elected", 1, minutes, controller=1, controller_epoch=epoch, reason="epoch", mode="kraft")

    found = cluster_history([*start(1, 0, "A"), active(0.1, 1), *start(1, 5, "A"), active(5.1, 2), *start(1, 9, "A"), active(9.1, 1)])
    assert (found.ids, where(found, 1, 8.9, 9)) == (("A", "A"), [0, 1])


def test_an_old_controllers_late_orders_are_no_loss() -> None:
    events = [*start(1, 0, "A"), ordered(1, 1, 1), ordered(1, 5, 2), ordered(1, 6, 1), ordered(1, 7, 2), ordered(1, 9, 3)]
    assert cluster_history(events).ids == ("A",)


def test_nodes_without_ids_are_together_by_what_they_heard_at_one_moment() -> None:
    """Broker 3's server.log is not there: by its controllers it is in B all the time, though A's broker lived then, too."""
    events = [*start(1, 0, "A"), elected(1, 0.2, 1), *start(2, 0.5, "B"), elected(2, 0.7, 4), ordered(3, 0.71, 4), ordered(3, 9, 5)]
    found = cluster_history([*events, elected(2, 9, 5)])
    assert [found.ids[n] for n in where(found, 3, 5)] == ["B"]


def test_a_disk_of_a_cluster_no_line_names_is_the_last() -> None:
    found = cluster_history([*start(1, 0, "A")], [("B", NOON)])
    assert (found.ids, found.of_id("A"), found.of_id("B"), found.of_id(None)) == (("A", "B"), 0, 1, 1)


def test_a_disk_that_names_no_cluster_is_of_the_last_also_where_none_has_a_name() -> None:
    """Before 0.10.1."""
    found = cluster_history([*start(1, 0), elected(1, 0.2, 1), elected(1, 5, 2), *start(1, 20), elected(1, 20.2, 1)])
    assert (found.ids, found.of_id(None)) == ((None, None), 1)


def test_a_broker_whose_start_is_missing_went_through_it_as_long_as_it_prints() -> None:
    first = [*start(1, 0), elected(1, 0.2, 1), *start(2, 1), ordered(2, 1.2, 1), elected(1, 5, 2)]
    found = cluster_history([*first, *start(1, 20), elected(1, 20.2, 1), ordered(2, 20.7, 1)])
    assert where(found, 2, 19, 20.7) == [0, 1]


def test_a_process_that_names_none_was_not_in_a_cluster_before_it_began() -> None:
    others = [*start(1, 0, "A"), *start(2, 0.5, "A"), ordered(2, 9, 1), *start(1, 20, "B"), *start(2, 20.5, "B")]
    found = cluster_history([*others, *start(3, 1), ordered(3, 8, 1), *start(3, 21, "B")])
    assert where(found, 3, 8, 21) == [0, 1]


LIFE: Sequence[Event] = (
    *start(1, 0, "A"), elected(1, 0.2, 1), *start(2, 0.5, "A"), ordered(2, 0.7, 1), elected(2, 5, 2), ordered(1, 5, 2),
    *start(1, 20, "B"), elected(1, 20.2, 1), *start(2, 20.5, "B"), ordered(2, 20.7, 1),
)  # fmt: skip


@given(st.permutations(LIFE))
def test_the_order_of_files_changes_nothing(stated: Sequence[Event]) -> None:
    assert cluster_history(stated) == cluster_history(LIFE)


def registered(node: int, minutes: float) -> Event:
    return event("broker-registered", node, minutes, broker=node)


def test_a_broker_that_outlived_its_cluster_is_in_the_next_one_from_its_new_registration_on() -> None:
    """ZooKeeper was wiped: brokers 1 and 2 were restarted, broker 3 registered again when its session expired."""
    first = [e for node in (1, 2, 3) for e in [*start(node, 0, "A"), registered(node, 0.02), ordered(node, 0.1, 1)]]
    moved = [e for node in (1, 2) for e in [*start(node, 20 + node, "B"), ordered(node, 24, 1)]]
    again = [registered(3, 30), ordered(3, 31, 1), *start(3, 40, "B")]
    found = cluster_history([*first, *moved, *again])
    assert found.ids == ("A", "B")
    assert where(found, 3, 25, 29.9, 30, 41) == [0, 0, 1, 1]
    early = cluster_history([*first, *moved[:5], registered(3, 21.5), *start(3, 40, "B")])
    assert where(early, 3, 22, 41) == [0, 1], "another broker was still in the old cluster"


def test_a_clock_that_was_set_back_does_not_make_a_cluster() -> None:
    events = [*start(1, 0, "A"), elected(1, 1, 1), elected(1, 20, 2), *start(1, 30, "A"), elected(1, 30.2, 3)]
    for e in events[-3:]:
        e.at = at(10)
    latest = {id(e): at(20) for e in events[-3:]}
    assert cluster_history(events, latest=latest).ids == ("A",)
    assert len(cluster_history(events).ids) == 2, "by their times alone the third epoch is before the second"
