"""Floods: so many events of one partition that no process can hold them, nearly all of them repetitive. The middle of a flood is
dropped.

Here: which rows belong to a flood, and where it is cut. Not here: folding of repeated facts, which loses nothing (runs), or the report
of the dropped events (forensics.rules.evidence_gap).

A flood is a time span in which all events of a partition are ISR changes, refusals, failed fetches and states, of one leader in one
leader epoch, without an election. It is cut between two reports of the same ISR, the largest one, so that the remaining events do not
show a replica out of sync the whole time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, repeat

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.events import IDENTIFIED
from forensics.model.partition.folding import FOLDED
from forensics.model.partition.numbers import BETWEEN, NULL, Numbers, Open, by_slice, copied, in_order
from forensics.model.times import grouped
from parsers.kinds import Role, of
from parsers.schemas import EVENTS, numbered

LEFT_OUT = "events-left-out"
MOST = 200_000
"""Number of events of a partition from which on floods are cut: an event takes two kilobytes until its partition is judged."""
ENDS = (16_384, 4_096, 1_024, 256, 64)
"""Events that remain before and after the cut of a flood: the most that keep the total within MOST, or else the fewest."""
_INTENTS, _STATES = of(role=Role.ISR_INTENT), of(role=Role.ISR | Role.STATE)
_KINDS = FOLDED | _INTENTS | _STATES
_PARTITION, _LEADER = ("topic", "partition", "cluster"), ("leader", "leader_epoch")
_ISR = ("effect", "isr")
_OTHER, _NOBODY = -1, -2
"""Used in place of a leader number: for rows that do not belong to a flood, and for rows without a leader."""


def cut(slices: Sequence[Open], begins: Sequence[int], left: pa.Table | None) -> pa.Table | None:
    """The rows that remain. `left`: rows left by earlier folding (`row`: counted through all slices, which begin at `begins`; with
    `repeats` and `last_at`); None: all rows. The first row of each cut has the number of dropped events in `left_out`, and the time of
    the last one in `last_at`."""
    numbers = Numbers(), Numbers(), Numbers()
    of_slices = by_slice(left.select(["row"]), begins) if left is not None else repeat(None)
    rows = pa.concat_tables(
        [_light(one(), own["row"] if own is not None else None, *numbers) for one, own in zip(slices, of_slices, strict=False)]
    )
    rows = rows.append_column("number", numbered(rows))
    counts = rows["partition"].value_counts()
    floods = counts.filter(pc.greater(counts.field("counts"), MOST)).field("values")
    if not len(floods):
        return left
    many = pc.is_in(rows["partition"], floods)
    few = rows["number"].filter(pc.invert(many))
    rows = rows.filter(many) if len(few) else rows
    rows = in_order(rows, pc.sort_indices(rows, [("partition", "ascending"), ("at", "ascending")]))
    number, at = rows["number"], rows["at"]
    cuts = list(_cuts(rows, list(numbers[2])))
    if not cuts:
        return left
    kept = zip([0, *(end for _, end in cuts)], [*(begin + 1 for begin, _ in cuts), rows.num_rows], strict=True)
    stays = pa.chunked_array([*few.chunks, *(chunk for begin, end in kept for chunk in number[begin:end].chunks)], number.type).sort()
    which = pc.index_in(stays, pa.array([number[begin].as_py() for begin, _ in cuts], number.type))
    counts, until = [end - begin for begin, end in cuts], [at[end - 1].as_py() for _, end in cuts]
    repeats, last_at = pa.repeat(pa.scalar(1, pa.int64()), len(stays)), pa.nulls(len(stays), at.type)
    if left is not None:
        gone = [left.take(number[begin:end]) for begin, end in cuts]
        counts = [pc.sum(own["repeats"]).as_py() for own in gone]
        until = [pc.max(own["last_at"]).as_py() for own in gone]
        repeats, last_at = (left[name].take(stays) for name in ("repeats", "last_at"))
        stays = left["row"].take(stays)
    left_out = pa.array(counts, pa.int64()).take(which)
    return pa.table(
        {
            "row": stays,
            "repeats": pc.if_else(pc.is_valid(left_out), 1, repeats),
            "last_at": pc.coalesce(pa.array(until, at.type).take(which), last_at),
            "left_out": left_out,
        }
    )


def marked(events: pa.Table, left_out: pa.ChunkedArray) -> pa.Table:
    """Converts the first event of each cut to an event that represents all dropped events."""
    if left_out.null_count == len(left_out):
        return events
    kinds = pc.if_else(pc.is_valid(left_out), pa.scalar(LEFT_OUT), events["event"])
    events = events.set_column(events.schema.get_field_index("event"), "event", kinds)
    count = left_out.cast(EVENTS.field("count").type)
    if "count" not in events.schema.names:
        return events.append_column("count", count)
    return events.set_column(events.schema.get_field_index("count"), "count", pc.coalesce(count, events["count"]))


def _light(events: pa.Table, rows: pa.ChunkedArray | None, partitions: Numbers, leaders: Numbers, isrs: Numbers) -> pa.Table:
    names = {"event", "at", "isr", *_PARTITION, *_LEADER} & set(events.schema.names)
    events = events.select(sorted(names))
    events = (events.take(rows) if rows is not None else events).combine_chunks()
    at = events["at"] if "at" in names else pa.nulls(events.num_rows, IDENTIFIED.field("at").type)
    leader = leaders.of(events, _LEADER)
    leader = pc.if_else(pc.equal(leader, leaders[BETWEEN.join([NULL] * len(_LEADER))]), _NOBODY, leader)
    flood = pc.and_(pc.is_in(events["event"], pa.array(sorted(_KINDS))), pc.is_valid(at))
    return pa.table(
        {
            "partition": partitions.of(events, _PARTITION),
            "leader": pc.if_else(flood, leader, _OTHER).cast(pa.int32()),
            "isr": isrs.of(_isrs(events), _ISR),
            "at": copied(at),
        }
    )


def _isrs(events: pa.Table) -> pa.Table:
    """The ISR in each row, and whether it is in effect: an intended change may fail, but up to 2.3 a leader prints only the intention,
    and prints it as the change takes effect."""
    kinds = pa.array(sorted(_STATES)), pa.array(sorted(_INTENTS))
    surely, maybe = (pc.is_in(events["event"], own) for own in kinds)
    effect = pc.if_else(surely, "2", pc.if_else(maybe, "1", "0"))
    return events.select([name for name in ("isr",) if name in events.schema.names]).append_column("effect", effect)


def _cuts(rows: pa.Table, isrs: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Index ranges to drop from rows sorted by partition and time."""
    partition, leader, isr = (rows[name].combine_chunks() for name in ("partition", "leader", "isr"))
    begins = pc.indices_nonzero(_begin(partition, leader)).to_pylist()
    stretches = grouped((partition[begin].as_py(), (begin, end)) for begin, end in pairwise([*begins, len(leader)]))
    for own in stretches.values():
        left = (n for n in ENDS if sum(min(end - begin, 2 * n) for begin, end in own) <= MOST)
        ends = next(left, ENDS[-1])
        for begin, end in own:
            if end - begin > 2 * ends and (middle := _between(isr[begin + ends : end - ends], isrs)) is not None:
                yield begin + ends + middle[0], begin + ends + middle[1]


def _begin(partition: pa.Array, leader: pa.Array) -> pa.Array:
    """Mask of the first row of each stretch: a new one begins at and after each row that does not belong to a flood, and with another
    leader or leader epoch than the last named one."""
    named = pc.fill_null(pc.fill_null_forward(pc.if_else(pc.equal(leader, _NOBODY), pa.scalar(None, leader.type), leader)), _NOBODY)
    other = pc.or_(pc.not_equal(partition[1:], partition[:-1]), pc.or_(pc.equal(leader[1:], _OTHER), pc.equal(leader[:-1], _OTHER)))
    another = pc.and_(pc.not_equal(named[1:], named[:-1]), pc.not_equal(named[:-1], _NOBODY))
    return pa.concat_arrays([pa.array([True]), pc.or_(other, another)])


def _between(isr: pa.Array, isrs: Sequence[str]) -> tuple[int, int] | None:
    """Index range between the first and the last report of the largest ISR; None if it is empty."""
    largest = max(isr.unique().to_pylist(), key=lambda number: _rank(isrs[number]))
    rows = pc.indices_nonzero(pc.equal(isr, largest))
    begin, end = rows[0].as_py() + 1, rows[-1].as_py()
    return (begin, end) if begin < end else None


def _rank(name: str) -> tuple[bool, str, int, str]:
    effect, isr = name.split(BETWEEN)
    return isr != NULL, effect, isr.count(","), isr
