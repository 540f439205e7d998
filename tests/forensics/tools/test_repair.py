"""Plans over any table of partitions: sound assignments, nothing worse than before, nothing planned that cannot be known."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.model.cluster.final_state import ReplicaEnd
from forensics.model.message import said
from forensics.model.settings.versions import parsed
from forensics.tools.kafka_tools import MAX_BYTES, ToolInput, Tools, election_files, reassignment_files
from forensics.tools.repair import (
    LIMIT,
    MOVE,
    PREFERRED,
    PREFERRED_AFTER,
    REASSIGNMENTS,
    REORDER,
    REPLACE,
    UNCLEAN,
    Broker,
    FinalPartition,
    PartitionChange,
    Plan,
    applied,
    bounds,
    loads,
    plan,
)

STOPPED = said("broker/shut-down")


def part(
    number: int, replicas: tuple[int, ...], leader: int | None = None, isr: tuple[int, ...] | None = None, **more: object
) -> FinalPartition:
    chosen = replicas[0] if leader is None and replicas else leader
    return FinalPartition("t", number, replicas, chosen, replicas if isr is None else isr, **more)  # type: ignore[arg-type]


def living(*ids: int, racks: dict[int, str] | None = None) -> list[Broker]:
    return [Broker(i, "live", rack=(racks or {}).get(i)) for i in ids]


def changes(found: Plan, kind: str) -> dict[int, PartitionChange]:
    step = found.of(kind)
    return {c.partition: c for c in step.changes} if step is not None else {}


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[FinalPartition], list[Broker]]:
    ids = list(range(draw(st.integers(1, 6))))
    states = st.sampled_from(["live", "live", "live", "gone", "down", "unknown"])
    racks = draw(st.sampled_from([(None,), ("a", "b"), ("a", None)]))
    brokers = [Broker(i, draw(states), rack=draw(st.sampled_from(racks))) for i in ids]
    table = []
    for number in range(draw(st.integers(0, 12))):
        replicas = tuple(draw(st.permutations(ids))[: draw(st.integers(0, min(3, len(ids))))])
        isr = tuple(draw(st.lists(st.sampled_from(replicas), unique=True))) if replicas else ()
        leader = draw(st.sampled_from([None, -1, *isr]))
        table.append(
            FinalPartition(draw(st.sampled_from("ab")), number, replicas, leader, isr, draw(st.booleans()) and draw(st.booleans()))
        )
    return table, brokers


@settings(max_examples=200)
@given(clusters())
def test_any_table_gets_a_sound_plan(cluster: tuple[list[FinalPartition], list[Broker]]) -> None:
    table, brokers = cluster
    found = plan(table, brokers)
    alive = {b.id for b in brokers if b.state == "live"}
    gone = {b.id for b in brokers if b.state == "gone"}
    seen: set[tuple[str, int]] = set()
    for step in found.steps:
        for c in step.changes:
            original = next(p for p in table if (p.topic, p.partition) == (c.topic, c.partition))
            assert c.before == original.replicas
            if step.kind in REASSIGNMENTS:
                assert (c.topic, c.partition) not in seen, "no partition is in two reassignments"
                seen.add((c.topic, c.partition))
                assert set(c.after) <= alive
                assert len(set(c.after)) == len(c.after) == len(c.before)
                assert c.after != c.before
                assert not original.moving
                assert set(original.isr) & alive, "there is somebody to copy from"
            if step.kind == REPLACE:
                assert [b for b in c.before if b not in gone] == [b for b in c.after if b in c.before], "all others keep their place"
            if step.kind == REORDER:
                assert set(c.after) == set(c.before)
            if step.kind == MOVE:
                assert set(c.after) != set(c.before)
            if step.kind == PREFERRED:
                assert c.new_leader == c.after[0] == c.before[0] != c.leader
                assert c.new_leader in original.isr
                assert c.new_leader in alive
            if step.kind == PREFERRED_AFTER:
                assert c.new_leader == c.after[0]
            if step.kind == UNCLEAN:
                assert original.leader == -1
                assert not set(original.isr) & alive, "never where a clean leader lives"
                assert c.new_leader == next(b for b in c.before if b in alive), "Kafka takes the first that lives"
    assert plan(list(reversed(table)), list(reversed(brokers))) == found, "the order of the input does not matter"


@settings(max_examples=200)
@given(clusters())
def test_applied_it_repairs_what_it_names_and_nothing_is_less_even(cluster: tuple[list[FinalPartition], list[Broker]]) -> None:
    table, brokers = cluster
    found = plan(table, brokers)
    gone = {b.id for b in brokers if b.state == "gone"}
    live = [b for b in brokers if b.state == "live"]
    after = {(p.topic, p.partition): p for p in applied(table, [s for s in found.steps if s.kind != UNCLEAN])}
    for step in found.steps:
        for c in step.changes:
            done = after[(c.topic, c.partition)]
            if step.kind == REPLACE:
                assert not set(done.replicas) & gone
            if step.kind in (PREFERRED, PREFERRED_AFTER):
                assert done.leader == done.replicas[0]
    replaced = applied(table, [s for s in found.steps if s.kind == REPLACE])
    for name in ("replicas", "preferred"):
        before, then = (sorted(getattr(x, name) for x in loads(rows, live)) for rows in (replaced, after.values()))
        if live:
            assert then[-1] <= before[-1], name
            assert then[0] >= before[0], name
    now = plan(list(after.values()), brokers)
    assert now.of(PREFERRED) is None or set(changes(now, PREFERRED)) <= {p.partition for p in table if p.moving}, "once is enough"


@settings(max_examples=200)
@given(clusters())
def test_no_broker_leads_less_of_what_it_should_lead_for_the_sake_of_balance(cluster: tuple[list[FinalPartition], list[Broker]]) -> None:
    found = plan(*cluster)
    if found.of(REPLACE) is None:
        assert not [(b, a) for b, a in zip(found.before, found.after, strict=True) if a.imbalance > max(b.imbalance, LIMIT)]


@given(clusters())
def test_the_part_for_some_partitions_is_of_the_whole_plan(cluster: tuple[list[FinalPartition], list[Broker]]) -> None:
    whole = plan(*cluster)
    some = whole.only(lambda _, number: number % 2 == 0, *cluster)
    every = [(step.kind, change) for step in whole.steps for change in step.changes]
    assert [(step.kind, change) for step in some.steps for change in step.changes] == [c for c in every if c[1].partition % 2 == 0]
    assert whole.only(lambda *_: True, *cluster).after == whole.after


def test_leaders_are_not_evened_out_while_a_broker_cannot_lead_what_it_should() -> None:
    """Broker 1 should lead four partitions, and is not in sync in one of them."""
    table = [
        part(0, (1, 2, 3)),
        part(1, (1, 2, 3)),
        part(2, (1, 2, 3)),
        part(3, (1, 3, 2), 3, (3, 2)),
        part(4, (2, 1, 3)),
        part(5, (3, 1, 2)),
    ]
    found = plan(table, living(1, 2, 3))
    assert found.steps == [] and found.before == found.after
    assert [r.why for r in found.refusals if r.what == "preferred leaders are not evened out"] == [
        "broker 1 would miss 50% of the partitions that it should lead, instead of 25%"
    ]


@settings(max_examples=100)
@given(clusters(), st.integers(1, 5), st.booleans())
def test_files_hold_the_whole_plan_in_small_batches(cluster: tuple[list[FinalPartition], list[Broker]], batch: int, log_dirs: bool) -> None:
    for step in plan(*cluster).steps:
        if step.kind in REASSIGNMENTS:
            files = list(reassignment_files(step.changes, log_dirs=log_dirs, batch=batch))
            assert [r for f in files for r in rows(f.content, "replicas")] == [[c.topic, c.partition, list(c.after)] for c in step.changes]
            back = [r for f in files for r in rows(f.rollback or "", "replicas")]
            assert back == [[c.topic, c.partition, list(c.before)] for c in step.changes]
        else:
            files = list(election_files(step.changes, batch))
            assert [r for f in files for r in rows(f.content)] == [[c.topic, c.partition] for c in step.changes]
        assert all(0 < len(f.changes) <= batch and len(f.content) < MAX_BYTES for f in files)
        for file in files:
            for entry in json.loads(file.content)["partitions"]:
                assert ("log_dirs" in entry) == (log_dirs and step.kind in REASSIGNMENTS)


def rows(content: str, *more: str) -> list[list[object]]:
    return [[e[k] for k in ("topic", "partition", *more)] for e in json.loads(content)["partitions"]]


def test_no_file_is_too_large_for_a_znode() -> None:
    found = [PartitionChange("t" * 249, n, (1, 2, 3), (1, 2, 4), 1) for n in range(9000)]
    files: list[ToolInput] = list(reassignment_files(found, log_dirs=True))
    assert len(files) == 3
    assert max(len(f.content) for f in files) < 1_000_000
    assert [c for f in files for c in f.changes] == found


def test_leadership_goes_back_where_the_preferred_replica_is_in_sync() -> None:
    table = [part(0, (1, 2), leader=2), part(1, (2, 1)), part(2, (1, 2), leader=2, isr=(2,)), part(3, (2, 1))]
    found = plan(table, living(1, 2))
    assert {n: c.new_leader for n, c in changes(found, PREFERRED).items()} == {0: 1}
    assert [(r.why, r.partitions) for r in found.refusals if "preferred" in r.what] == [
        ("the replica is not in the ISR, so an election would not choose it", ("t-2",))
    ]
    assert {x.broker: x.imbalance for x in found.before} == {1: 1.0, 2: 0.0}
    assert {x.broker: x.imbalance for x in found.after} == {1: 0.5, 2: 0.0}


def test_a_broker_that_is_gone_is_replaced_in_its_place_by_the_least_loaded() -> None:
    table = [part(0, (1, 2, 3), isr=(1, 2)), part(1, (3, 1, 2), leader=1, isr=(1, 2)), part(2, (2, 4, 1))]
    found = plan(table, [*living(1, 2, 4), Broker(3, "gone")])
    assert {n: c.after for n, c in changes(found, REPLACE).items()} == {0: (1, 2, 4), 1: (4, 1, 2)}
    assert {n: c.new_leader for n, c in changes(found, PREFERRED_AFTER).items()} == {1: 4}


def test_a_replacement_is_sought_on_another_rack() -> None:
    racks = {1: "a", 2: "b", 3: "c", 4: "a", 5: "c"}
    brokers = [*living(1, 2, 4, 5, racks=racks), Broker(3, "gone")]
    busy = [part(n, (5, 1), isr=(5, 1)) for n in range(1, 4)]
    found = plan([part(0, (1, 2, 3), isr=(1, 2)), *busy], brokers)
    assert changes(found, REPLACE)[0].after == (1, 2, 5), "broker 4 has less to do, but stands on the rack of broker 1"


@pytest.mark.parametrize(
    ("table", "brokers", "why"),
    [
        ([part(0, (1, 3), isr=(1,))], [*living(1), Broker(3, "gone")], "already has a replica"),
        ([part(0, (1, 3), isr=(1,), moving=True)], [*living(1, 2), Broker(3, "gone")], "in progress"),
        ([part(0, (1, 3), leader=-1, isr=(3,))], [*living(1, 2), Broker(3, "gone")], "no live broker in the ISR"),
        ([part(0, (1, 3, 4), isr=(1,))], [*living(1, 2), Broker(3, "gone"), Broker(4, "down", STOPPED)], "may not be running"),
        ([part(0, (), leader=1)], living(1, 2), "does not name their assignment"),
        ([FinalPartition("t", 0, (1, 2), None, ())], living(1, 2), "does not name their leader"),
        ([FinalPartition("../t", 0, (1, 2), 2, (1, 2))], living(1, 2), "Kafka does not accept"),
        ([part(0, (1, 1), leader=1)], living(1, 2), "Kafka does not accept"),
        ([part(0, (1, 3), isr=(1,))], [*living(1, 2), Broker(3, "down", STOPPED)], "--gone 3"),
    ],
)
def test_what_cannot_be_known_is_refused_with_a_reason(table: list[FinalPartition], brokers: list[Broker], why: str) -> None:
    found = plan(table, brokers)
    assert [s.kind for s in found.steps if s.kind != UNCLEAN] == []
    assert any(why in r.why for r in found.refusals), found.refusals


def test_replicas_move_to_a_new_broker_no_more_than_needed() -> None:
    table = [part(n, ((1, 2, 3)[n % 3], (2, 3, 1)[n % 3])) for n in range(60)]
    found = plan(table, living(1, 2, 3, 4))
    moved = changes(found, MOVE)
    after = {x.broker: x.replicas for x in found.after}
    assert bounds(120, 4, 0.1) == (27, 33)
    assert min(after.values()) >= 27
    assert max(after.values()) <= 33
    assert len(moved) == 27, "as few as bring every broker within 10 % of its share"
    assert all(4 in c.after for c in moved.values())


def test_preferred_leaders_are_evened_out_by_order_alone() -> None:
    table = [part(n, (1, 2, 3)) for n in range(30)]
    found = plan(table, living(1, 2, 3))
    assert found.of(MOVE) is None
    preferred = Counter(p.replicas[0] for p in applied(table, found.steps))
    assert all(9 <= preferred[b] <= 11 for b in (1, 2, 3))
    assert len(changes(found, REORDER)) == 19


def test_leadership_goes_along_a_chain_where_no_swap_helps() -> None:
    table = [*(part(n, (1, 2)) for n in range(6)), *(part(n, (2, 3)) for n in range(6, 8))]
    found = plan(table, living(1, 2, 3))
    preferred = Counter(p.replicas[0] for p in applied(table, found.steps))
    assert sorted(preferred.values()) == [2, 3, 3]


def test_a_reordering_prefers_the_broker_that_leads_already() -> None:
    table = [part(0, (1, 2, 3), leader=3), part(1, (1, 2, 3)), part(2, (1, 2, 3))]
    found = plan(table, living(1, 2, 3))
    assert changes(found, REORDER)[0].after == (3, 1, 2)
    assert 0 not in changes(found, PREFERRED_AFTER)


def test_what_is_even_within_a_tenth_stays() -> None:
    table = [part(n, (1, 2) if n < 11 else (2, 1)) for n in range(20)]
    assert plan(table, living(1, 2)).steps == []


def test_nothing_is_balanced_while_a_broker_is_missing() -> None:
    table = [part(0, (1, 2), isr=(1,)), *(part(n, (1, 3)) for n in range(1, 5))]
    found = plan(table, [*living(1, 3), Broker(2, "down", STOPPED)])
    assert found.steps == []
    assert any(r.what == "balance is not planned" for r in found.refusals)


def test_no_assignment_is_made_that_names_a_broker_that_is_gone() -> None:
    offline = FinalPartition("t", 1, (1, 0, 2), -1, (1, 0, 2))
    assert plan([FinalPartition("t", 0, (1,), None, ()), offline], [*living(0, 1), Broker(2, "gone")]).steps == []


def test_the_last_resort_says_what_it_costs() -> None:
    offline = part(0, (1, 2, 3), leader=-1, isr=(1,), high_watermark=140, ends=(ReplicaEnd(1, 150), ReplicaEnd(2, 100), ReplicaEnd(3, 120)))
    found = plan([offline], [Broker(1, "down"), *living(2, 3)])
    (change,) = changes(found, UNCLEAN).values()
    assert change.new_leader == 2
    assert change.note == (
        "would lose offsets 100–149 (50 or more, at least 40 of them committed); if possible, start broker 1 of the ISR instead"
    )
    unknown = part(0, (1, 2), leader=-1, isr=(1,))
    assert "loss is unknown" in changes(plan([unknown], [Broker(1, "down"), *living(2)]), UNCLEAN)[0].note


def test_no_unclean_election_where_a_member_of_the_isr_lives() -> None:
    found = plan([part(0, (1, 2), leader=-1, isr=(2,))], living(1, 2))
    assert found.of(UNCLEAN) is None
    assert any("can be elected" in r.why for r in found.refusals)


@pytest.mark.parametrize(
    ("version", "elect", "reassign"),
    [
        ("0.10.0.1", "kafka-preferred-replica-election.sh --zookeeper", "--zookeeper $ZOOKEEPER --reassignment-json-file f --execute"),
        (
            "0.10.1",
            "kafka-preferred-replica-election.sh --zookeeper",
            "--zookeeper $ZOOKEEPER --reassignment-json-file f --execute --throttle",
        ),
        ("2.1.1", "kafka-preferred-replica-election.sh --zookeeper", "--zookeeper"),
        ("2.2.0", "kafka-preferred-replica-election.sh --bootstrap-server", "--zookeeper"),
        ("2.4.1", "kafka-leader-election.sh --bootstrap-server $BOOTSTRAP --election-type preferred", "--zookeeper"),
        ("2.5.1", "kafka-leader-election.sh", "--zookeeper"),
        ("2.6.0", "kafka-leader-election.sh", "--bootstrap-server"),
        ("4.1.1", "kafka-leader-election.sh", "--bootstrap-server"),
    ],
)
def test_commands_by_version(version: str, elect: str, reassign: str) -> None:
    number = parsed(version)
    assert number is not None
    tools = Tools(number, kraft=False)
    assert tools.elect_preferred("f").startswith(elect)
    assert reassign in tools.reassign("f", copies=True)
    assert "--throttle" not in tools.reassign("f", copies=False)
    assert (tools.cancel("f") is not None) == (number >= (2, 6))
    assert tools.log_dirs == (number >= (1, 0))
    assert tools.can_elect_unclean == (number >= (2, 4))


def test_tools_of_early_kraft_cannot_all_of_it() -> None:
    early, first, later = (Tools(v, kraft=True) for v in ((2, 8), (3, 0), (3, 1)))
    assert (early.can_reassign, early.can_elect) == (False, False)
    assert (first.can_reassign, first.can_elect) == (True, False)
    assert (later.can_reassign, later.can_elect) == (True, True)


def test_a_large_cluster_is_planned() -> None:
    """20,000 partitions, all led from three of twelve brokers, one of which is gone."""
    table = [
        part(n, (n % 3, (n + 1) % 3, 3 + n % 8), isr=tuple(b for b in (n % 3, (n + 1) % 3, 3 + n % 8) if b != 5)) for n in range(20_000)
    ]
    table = [p if p.replicas[0] in p.isr else part(p.partition, p.replicas, p.isr[0], p.isr) for p in table]
    found = plan(table, [Broker(b, "gone" if b == 5 else "live") for b in range(12)])
    assert len(changes(found, REPLACE)) == 2500
    after = [x.replicas for x in found.after if x.broker != 5]
    low, high = bounds(60_000, 11, 0.1)
    assert low <= min(after)
    assert max(after) <= high
