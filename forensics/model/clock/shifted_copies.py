"""Copies of a log with other times: a log store exports lines in local time without the zone, or stamps them with another clock.

Here: which logs of a broker contain the same lines at a constant distance in time, which times count, by how much the others are later, and
which logs are copies whose lines were altered.
Not here: dropping the lines that copies repeat (copies), or what the clock of the broker shows (clocks).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import reduce
from itertools import combinations, pairwise

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.clock.copies import LOG_SUFFIX, OF_A_LAYOUT
from forensics.model.clock.sources import Source
from forensics.model.clock.zones import QUARTER_MS, SECOND_MS, ClockEvidence, zone_at_start
from forensics.model.events import COLUMNS
from forensics.model.times import grouped
from forensics.thresholds import FARTHEST_SHIFT
from parsers.schemas import EVENTS

_STATING = tuple(n for n in COLUMNS if n in EVENTS.names and n not in OF_A_LAYOUT and not pa.types.is_nested(EVENTS.field(n).type))
READ = ("source", "time", "line", "byte", *_STATING)
"""The columns of EVENTS that show copies."""
_MOST_FILES = 8
"""A statement in more files of one broker shows no copy: its processes repeat it."""
_FEW = 3
_SPANS_MS = {1: SECOND_MS, SECOND_MS: 5 * SECOND_MS}
"""By the precision of times in ms, the time over which lines at one distance show a copy: two starts of a process print the same lines
in about the same rhythm."""
_MOSTLY = 0.9


def shifts(lines: pa.Table, sources: Iterable[Source]) -> dict[str, int]:
    """By path of a log whose lines another log of its broker contains with other times, by how many ms its times are later. `lines`: READ
    of lines with times, which are uncorrected.

    Of two such logs, that one counts whose times fit what it shows of UTC: the times that Kafka printed at its start, or its modification
    time; else the longer one."""
    logs = {s.path: s for s in sources if s.kind.endswith(LOG_SUFFIX) and s.node is not None}
    lines = lines.append_column("ms", pc.divide(lines["time"].cast(pa.int64()), 1000))
    starts = _starts(lines)
    found: dict[str, int] = {}
    for frame in _frames(_links(lines, logs), logs):
        by_shift = grouped((later, logs[path]) for path, later in frame.items())
        counting = max(sorted(by_shift), key=lambda shift: _trust(by_shift[shift], starts))
        found.update((path, later - counting) for path, later in frame.items() if later != counting)
    return found


def originals(lines: pa.Table, sources: Iterable[Source]) -> tuple[dict[str, str], set[str]]:
    """By path of a log, the longest log of its broker with a line of a kind at the same place, after the first, and time as in it: one file
    that was collected twice, however the lines of one copy were altered. And the logs of which two copies have other times or numbers in a
    line. `lines`: as for `shifts`."""
    logs = {s.path: s for s in sources if s.kind.endswith(LOG_SUFFIX) and s.node is not None}
    table, _ = _of_logs(lines.filter(pc.greater(lines["byte"], 0)), logs)
    found: dict[str, str] = {}

    def longer(one: str, other: str) -> str:
        return max(one, other, key=lambda path: (logs[path].lines or 0, path))

    for paths in _with_each([*_PLACE, "time"], table).column("source_distinct").to_pylist():
        longest = reduce(longer, paths)
        found.update((path, longer(found.get(path, longest), longest)) for path in paths if path != longest)
    if not found:
        return {}, set()
    table = table.filter(pc.is_in(table["source"], pa.array([*found, *found.values()])))
    alike = _with_each([*_PLACE, "time", *_NUMBERS], table).select([*_PLACE, "source_distinct"]).to_pylist()
    pairs = {(*(row[name] for name in _PLACE), *sorted(row["source_distinct"])) for row in alike}
    places = _with_each(_PLACE, table).select([*_PLACE, "source_distinct"]).to_pylist()
    differing = (
        sorted(row["source_distinct"]) for row in places if (*(row[name] for name in _PLACE), *sorted(row["source_distinct"])) not in pairs
    )
    return found, {path for paths in differing for path in paths}


_PLACE = ["of", "event", "line", "byte"]
_NUMBERS = [name for name in _STATING if pa.types.is_integer(EVENTS.field(name).type)]


def _with_each(columns: list[str], table: pa.Table) -> pa.Table:
    """The groups of rows with equal values in these columns that are in several logs, with these logs."""
    groups = table.group_by(columns, use_threads=False).aggregate([("source", "distinct")])
    return groups.filter(pc.greater(pc.list_value_length(groups["source_distinct"]), 1))


def _links(lines: pa.Table, logs: Mapping[str, Source]) -> Iterator[tuple[str, str, int]]:
    """Pairs of logs with the same lines, and by how many ms the second one is later."""
    pairs: dict[tuple[str, str], set[tuple[int, int]]] = defaultdict(set)
    of_one_start = set()
    for event, sources, times in _stated_by_several(lines, logs):
        for (one, at), (other, then) in combinations(sorted(zip(sources, times, strict=True)), 2):
            pairs[one, other].add((at, then))
            if event == "start-time":  # in ms
                of_one_start.add((one, other))
    for pair, moments in pairs.items():
        unit = SECOND_MS if any(logs[path].of_seconds for path in pair) else 1
        by_shift = grouped(((then // unit - at // unit) * unit, at) for at, then in moments)
        shift, alike = max(sorted(by_shift.items()), key=lambda item: len(item[1]))
        long = len(alike) >= _FEW and max(alike) - min(alike) >= _SPANS_MS[unit] and (unit == 1 or shift % QUARTER_MS == 0)
        if (long or pair in of_one_start) and len(alike) >= _MOSTLY * len(moments) and timedelta(milliseconds=abs(shift)) <= FARTHEST_SHIFT:
            yield *pair, shift


def _stated_by_several(lines: pa.Table, logs: Mapping[str, Source]) -> Iterator[tuple[str, list[str], list[int]]]:
    """The kind of a statement, and the logs of one broker that contain it once, with their times in ms."""
    table, stated = _of_logs(lines, logs)
    if not table.num_rows:
        return iter(())
    in_files = table.group_by(["source", *stated], use_threads=False).aggregate([("ms", "min"), ("ms", "count")])
    once = in_files.filter(pc.equal(in_files["ms_count"], 1))
    together = once.group_by(stated, use_threads=False).aggregate([("source", "list"), ("ms_min", "list"), ("ms_min", "count")])
    several = together.filter(pc.and_(pc.greater(together["ms_min_count"], 1), pc.less_equal(together["ms_min_count"], _MOST_FILES)))
    return zip(*(several[name].to_pylist() for name in ("event", "source_list", "ms_min_list")), strict=True)


def _of_logs(lines: pa.Table, logs: Mapping[str, Source]) -> tuple[pa.Table, list[str]]:
    """The lines of these logs, and the columns with what they state, among them their broker."""
    nodes = pa.array([s.node for s in logs.values()], pa.int32())
    own = pc.index_in(lines["source"], value_set=pa.array(list(logs), pa.string()))
    table = lines.append_column("of", pc.take(nodes, own)).filter(pc.is_valid(own))
    return table, ["of", *(n for n in _STATING if table[n].null_count < len(table))]


def _frames(links: Iterable[tuple[str, str, int]], logs: Mapping[str, Source]) -> list[dict[str, int]]:
    """Logs whose times are comparable, with by how many ms each is later than one of them. Logs in one directory have the same times unless
    the links show otherwise."""
    frames = {path: {path: 0} for path in logs}
    """By path, the logs of its frame, each with by how many ms it is later than one of them."""

    def join(one: str, other: str, later: int) -> None:
        frame, joined = frames[one], frames[other]
        if frame is not joined:
            moved = frame[one] + later - joined[other]
            frame.update({path: ms + moved for path, ms in joined.items()})
            frames.update(dict.fromkeys(joined, frame))

    for link in links:
        join(*link)
    together = grouped(((log.node, path.rpartition("/")[0]), path) for path, log in logs.items())
    for own in together.values():
        if len({(id(frames[path]), frames[path][path]) for path in own}) == len({id(frames[path]) for path in own}):
            for one, other in pairwise(own):
                join(one, other, 0)
    return list({id(frame): frame for frame in frames.values()}.values())


def _starts(lines: pa.Table) -> frozenset[str]:
    """Logs whose lines show a zone: Kafka prints at its start the UTC time it had just read."""
    starts = lines.filter(pc.and_(pc.equal(lines["event"], "start-time"), pc.is_valid(lines["count"]))).select(["source", "ms", "count"])
    return frozenset(row["source"] for row in starts.to_pylist() if zone_at_start(row["ms"] - row["count"]) is not None)


def _trust(logs: Sequence[Source], starts: frozenset[str]) -> tuple[bool, bool, int]:
    """The more, the surer the times of these logs."""
    in_zone = any(ClockEvidence(s.last, s.modified).zone_ms is not None for s in logs)
    return any(s.path in starts for s in logs), in_zone, sum(s.lines or 0 for s in logs)
