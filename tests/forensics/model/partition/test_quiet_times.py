"""What is left out of quiet times changes no report, and nothing is left out around anything that happened."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from forensics.model.clock.copies import Copies
from forensics.model.cluster.facts import Cluster
from forensics.model.events import IDENTIFIED, Event
from forensics.model.partition import quiet_times
from forensics.model.partition.numbers import counted
from forensics.model.partition.quiet_times import FEW, RoutineFilter, drop_routine_lines, is_routine
from tests.forensics.staged import Story, table
from tests.support import local

HOUR = 3600
BROKERS = (1, 2, 3)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["rolls"] * 8 + ["leads", "isr", "truncates", "starts"]),
        st.sampled_from(BROKERS),
        st.sampled_from([1, 900, 20_000]),
        st.sampled_from([50, 150, 200, 780]),
    ),
    max_size=40,
)


def rolls(story: Story, broker: int, seconds: float, offset: int) -> None:
    where = f"partition={story.name}, dir=/var/lib/kafka/broker-{broker}/data"
    snapshot = (
        f"INFO [ProducerStateManager partition={story.name}] Writing producer snapshot at offset {offset} (kafka.log.ProducerStateManager)"
    )
    story.line(broker, "server", seconds, snapshot)
    story.line(broker, "server", seconds + 0.1, f"INFO [Log {where}] Rolled new log segment at offset {offset} in 2 ms. (kafka.log.Log)")


def timelines_of(steps: list[tuple[str, int, int, int]]) -> dict[str, str]:
    """Months of a partition: segments rolled every hour or less, and now and then something that matters, `behind` the end of the log."""
    story = Story()
    story.leads(1, 0, 0, 0, 0, BROKERS)
    for broker in (2, 3):
        story.follows(broker, 0, 0, 0, 0)
    seconds, offset, epoch = 10.0, 0, 0
    for what, broker, later, behind in steps:
        for _ in range(5 if what == "rolls" else 1):
            seconds, offset = seconds + later, offset + 100
            if what == "rolls":
                rolls(story, broker, seconds, offset)
            elif what == "leads":
                epoch += 1
                story.leads(broker, seconds, epoch, offset - behind, offset - behind, BROKERS, epoch - 1)
            elif what == "isr":
                story.isr(broker, seconds, [broker], epoch + 1)
            elif what == "truncates":
                story.truncates(broker, seconds, offset - behind)
            else:
                story.line(broker, "server", seconds, "INFO starting (kafka.server.KafkaServer)")
                story.loads(broker, seconds + 1, offset - behind, unclean=broker == 1)
    return story.files


def document(events: pa.Table, few: int) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quiet_times, "FEW", few)
        found = local.report(events).document()
    return {name: part for name, part in found.items() if name != "tool"}


@given(STEPS)
@example([("rolls", 1, 900, 0), ("rolls", 1, 1, 0), ("leads", 2, 20_000, 150)])  # the loss begins between lines that were left out
@settings(max_examples=20)
def test_report_is_that_of_all_lines(steps: list[tuple[str, int, int, int]]) -> None:
    events = table(timelines_of(steps))
    assert document(events, 1) == document(events, 1 << 60)


@given(STEPS, st.integers(1, 5))
@example([("rolls", 1, 900, 0)] * 8 + [("leads", 2, 20_000, 150)] + [("rolls", 2, 900, 0)] * 8, 3)
@settings(max_examples=20)
def test_what_parts_leave_out_first_is_left_out_of_all_together(steps: list[tuple[str, int, int, int]], parts: int) -> None:
    events = table(timelines_of(steps))
    cluster, resolver = local.gathered(events)
    identified = pa.Table.from_batches(map(resolver.apply, events.to_batches()))
    identified = identified.filter(pc.and_(pc.is_valid(identified["topic"]), pc.is_valid(identified["partition"]))).combine_chunks()
    others, routine = identified.filter(pc.invert(is_routine(identified))), identified.filter(is_routine(identified))
    size = len(routine) // parts + 1
    times = RoutineFilter.of_parts(cluster)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quiet_times, "FEW", 1)
        without = times.knowing([times.around(others[: len(others) // 2]), times.around(others[len(others) // 2 :])])
        first = [without(routine[begin : begin + size]) for begin in range(0, len(routine), size)]
        both = drop_routine_lines(pa.concat_tables([others, *first], promote_options="default"), cluster)
        assert placed(both) == placed(drop_routine_lines(identified, cluster))
        assert sum(map(len, first)) <= len(routine)


def placed(events: pa.Table) -> list[dict[str, Any]]:
    """Where the remaining lines are, and how many events each represents."""
    order = ["source", "line", "byte", "event", "repeats", "last_at"]
    return counted(events).select(order).sort_by([(name, "ascending") for name in order]).to_pylist()  # type: ignore[no-any-return]


def lines(count: int, **other: Any) -> list[dict[str, Any]]:
    """A line every ten minutes."""
    at = datetime(2026, 11, 21)
    of_all = {"event": "segment-roll", "topic": "t", "partition": 0, "cluster": 0, "writer": 1, "source": "a", "clock": "line", **other}
    return [{**of_all, "line": n, "byte": n, "offset": 5 * n, "at": at + n * timedelta(minutes=10)} for n in range(count)]


def left(rows: list[dict[str, Any]], cluster: Cluster | None = None) -> list[tuple[int, int]]:
    """Line, and number of lines up to the next one."""
    found = drop_routine_lines(pa.Table.from_pylist(rows, schema=IDENTIFIED), cluster or Cluster())
    counts = found["repeats"].to_pylist() if "repeats" in found.schema.names else [1] * found.num_rows
    return list(zip(found["line"].to_pylist(), counts, strict=True))


def test_first_and_last_line_of_a_quiet_time_remain() -> None:
    assert left(lines(FEW)) == [(0, FEW - 1), (FEW - 1, 1)]
    assert len(left(lines(FEW - 1))) == FEW - 1


def test_all_lines_remain_near_an_event_of_the_partition_or_of_the_cluster() -> None:
    at = datetime(2026, 11, 23, 12, 30)
    other = {**lines(1)[0], "event": "truncation", "source": "b", "writer": 2, "at": at, "line": FEW}
    of_cluster = Cluster(events=[Event(event="broker-starting", at=at, source="c", line=1)])
    for found in (left([*lines(FEW), other]), left(lines(FEW), of_cluster)):
        place = (at - datetime(2026, 11, 21)) // timedelta(minutes=10)
        assert {n for n, _ in found} >= set(range(place - 6, place + 7))
        assert len(found) < 40
        assert sum(count for n, count in found if n < FEW) >= FEW - 1


def test_lines_around_an_offset_that_something_else_gives_remain() -> None:
    starts = {**lines(1)[0], "event": "leader-start", "source": "b", "writer": 2, "at": datetime(2026, 12, 21), "line": FEW, "offset": None}
    for offset, around in ((5 * 700 + 1, {700, 701}), (5 * 700, {699, 700, 701})):
        found = left([*lines(FEW), {**starts, "log_end_offset": offset}])
        assert {n for n, _ in found} == {0, FEW - 1, FEW} | around


def test_nothing_is_left_out_of_doubtful_order() -> None:
    whole = lines(FEW)
    undated = {**whole[0], "event": "truncation", "at": None, "line": FEW}
    backwards = [{**row, "line": FEW - row["line"]} for row in whole]
    copied = Cluster(copies=Copies(frozenset({"a"})))
    assert [len(left([*whole, undated])), len(left(backwards)), len(left(whole, copied))] == [FEW + 1, FEW, FEW]
