"""Gathered events give the same cluster however they are packed, and enough of them are compared where there are very many."""

from __future__ import annotations

from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.model.clock import gathered
from forensics.model.clock.comparisons import LEADERSHIPS
from forensics.model.clock.gathered import Gathered, of_kinds, one_of
from forensics.model.cluster import build
from forensics.model.cluster.build import build_cluster
from forensics.model.cluster.facts import Cluster
from parsers.schemas import EVENTS
from tests.support import local, recorded


def places(cluster: Cluster) -> list[object]:
    return [(e.source, e.line, e.byte, e.event, e.at, e.writer, e.cluster, e.text) for e in cluster.events]


@pytest.mark.parametrize("name", ["unclean-election-2.8.2-zk", "acks1-failover-3.9.1-kraft"])
def test_parts_make_the_same_cluster_as_one_table(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    table = local.of_cluster(recorded.events(name))
    whole, known = build_cluster(Gathered.of(table))
    monkeypatch.setattr(gathered, "OPEN_ROWS", 50)
    monkeypatch.setattr(gathered, "JOINED_ROWS", 30)
    parts = [partial(table.slice, begin, 13) for begin in range(0, table.num_rows, 13)]
    cluster, resolver = build_cluster(Gathered(parts))
    assert places(cluster) == places(whole)
    assert (cluster.nodes.keys(), cluster.sources, resolver) == (whole.nodes.keys(), whole.sources, known)
    assert [n.clock for n in cluster.nodes.values()] != []
    assert [str(n.clock) for n in cluster.nodes.values()] == [str(n.clock) for n in whole.nodes.values()]


def test_files_set_aside_have_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathered, "OPEN_ROWS", 0)
    tables = [pa.Table.from_pylist([{"source": source, "event": "source"}], schema=EVENTS) for source in ("a", "b", "c")]
    known = Gathered([partial(tables.__getitem__, n) for n in range(3)]).without({"a"}).without({"c"})
    assert known.rows(of_kinds(("source",)), "source").to_pylist() == [{"source": "b"}]
    assert known.count(of_kinds(("archive",))) == 0


def test_rows_are_as_many_as_are_marked_also_where_no_row_has_a_value() -> None:
    known = Gathered.of(pa.Table.from_pylist([{"source": "a", "event": event} for event in ("source", "archive", "source")], schema=EVENTS))
    assert known.rows(of_kinds(("source",)), "time").to_pylist() == [{"time": None}] * 2
    assert known.rows(of_kinds(("problem",)), "time").to_pylist() == []


@given(st.lists(st.tuples(st.text(max_size=3), st.integers(0, 2**31 - 1))), st.integers(0, 5))
def test_the_same_leader_epochs_are_chosen_in_all_files(epochs: list[tuple[str, int]], power: int) -> None:
    events = pa.Table.from_pylist([{"topic": topic, "leader_epoch": epoch} for topic, epoch in epochs], schema=EVENTS)
    chosen = one_of(events, 1 << power)
    assert chosen.null_count == 0
    alone = [one_of(events.slice(n, 1), 1 << power).to_pylist()[0] for n in range(len(epochs))]
    assert chosen.to_pylist() == alone
    assert power or pc.all(chosen).as_py() in (True, None)


def test_a_part_of_the_leader_epochs_shows_the_same_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    table = recorded.events("busy-two-at-once-2.8.2-zk")
    assert Gathered.of(local.of_cluster(table)).count(of_kinds(LEADERSHIPS)) > 100
    all_of_them, _ = local.gathered(table)
    monkeypatch.setattr(build, "MOST_COMPARED", 20)
    some, _ = local.gathered(table)
    for node, other in zip(all_of_them.nodes.values(), some.nodes.values(), strict=True):
        doubt = (node.clock.uncertainty_ms or 0) + (other.clock.uncertainty_ms or 0)
        assert abs(node.clock.offset_ms - other.clock.offset_ms) <= doubt
        assert (other.clock.zone_minutes, other.clock.basis) == (node.clock.zone_minutes, node.clock.basis)
