"""The log records of all brokers in order of time, which StateChangeLogMerger did for one log of Kafka before 1.0.

Here: which records are selected, and the UTC time and sort key of each. Not here: how a log is cut into records (parsers.records), how
clocks are estimated (forensics.model.clock.clocks), or the sorting (spark.sorting).

Records are ordered by corrected time, but no log is ever reordered: a record counts as no earlier than those before it in its file, or in
its part of a joined file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.clock.resolver import CALENDAR, EventResolver
from forensics.model.clock.sources import Source
from forensics.model.cluster.facts import Cluster
from parsers.cached import cached_property
from parsers.containers.units import Unit
from parsers.containers.walk import read_unit
from parsers.evidence import LOG_KINDS
from parsers.layouts import abbreviates
from parsers.line_order import LineOrder
from parsers.log_pattern import compiled
from parsers.records import RECORDS, records
from parsers.schemas import Row, documented

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
BLOCK = 256 << 10
"""Characters of formatted records that travel together."""


_PLACE = (
    documented("key", pa.timestamp("us"), "`at`, or the greatest before it in its source: the first of what is sorted by"),
    documented("rank", pa.int32(), "rank of the source; sources that begin first come first"),
    documented("at", pa.timestamp("us"), "UTC after correction; null where no line of the file has a time"),
    documented("broker", pa.int32(), "broker that wrote the line; null if unknown"),
)
_TWIN = documented("twin", pa.binary(), "the same for copies of one record; null where no source is a copy")
_RECORD = tuple(RECORDS.field(name) for name in ("source", "number", "line", "byte", "lines", "level", "logger", "text"))
MERGED = pa.schema(
    [
        *_PLACE,
        _TWIN,
        documented("event", pa.string(), "what the record states, of several the first that was asked for"),
        documented("topic", pa.string(), "topic of the event"),
        documented("partition", pa.int32(), "partition of the event"),
        *_RECORD,
    ]
)
KEPT = pa.schema([*_PLACE, *_RECORD, documented("events", RECORDS.field("events").type, "what the catalogue reads in it")])
"""Records in order, each of several copies once, from which later queries select."""

Show = Callable[[Row], str]
"""A row of MERGED as text, with its line feed."""


@dataclass(frozen=True)
class RecordFilter:
    """Selects records. An empty or missing criterion selects all."""

    topics: frozenset[str] = frozenset()
    partitions: frozenset[int] = frozenset()
    brokers: frozenset[int] = frozenset()
    since: datetime | None = None
    until: datetime | None = None
    events: frozenset[str] = frozenset()
    level: str | None = None
    """The least severe of LEVELS."""
    loggers: tuple[str, ...] = ()
    """Full names, their packages, or the ends of names."""
    text: str | None = None
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    """Topic names by id."""

    @property
    def of_events(self) -> bool:
        """Whether the events of a record are needed to decide."""
        return bool(self.topics or self.partitions or self.events)

    def choose(self, row: Row, at: datetime | None, broker: int | None) -> tuple[bool, Row | None]:
        """Whether the record is selected, and the event that is the reason (otherwise its first)."""
        if not (self._when(at) and self._graded(row) and self._logged(row["logger"])):
            return False, None
        if (self.brokers and broker not in self.brokers) or (self.text is not None and self.text not in row["text"]):
            return False, None
        of_kind = [event for event in row["events"] or () if not self.events or event["event"] in self.events]
        if self.events and not of_kind:
            return False, None
        placed = next((event for event in of_kind if self._placed(event)), None)
        if placed is not None:
            return True, placed
        if not (self.topics or self.partitions):
            return True, None
        unplaced = next((event for event in of_kind if event["topic"] is None and event["topic_id"] is None), None)
        mentioned = self.mention is not None and (unplaced is not None or not self.events) and self.mention.search(row["text"])
        return bool(mentioned), unplaced

    def shown(self, row: Row) -> Row | None:
        """A row of KEPT as one of MERGED; None if it is not selected."""
        wanted, event = self.choose(row, row["at"], row["broker"])
        return {**row, **stated(event, self.topic_ids)} if wanted else None

    def likely(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of KEPT that may be selected, as far as their columns decide it."""
        if self.brokers:
            rows = rows.filter(pc.is_in(rows["broker"], pa.array(sorted(self.brokers), pa.int32())))
        if self.since is not None:
            rows = rows.filter(pc.greater_equal(rows["at"], pa.scalar(self.since, pa.timestamp("us"))))
        if self.until is not None:
            rows = rows.filter(pc.less_equal(rows["at"], pa.scalar(self.until, pa.timestamp("us"))))
        return rows.filter(pc.match_substring(rows["text"], self.text)) if self.text is not None else rows

    def _when(self, at: datetime | None) -> bool:
        if at is None:
            return self.since is None and self.until is None
        return (self.since is None or at >= self.since) and (self.until is None or at <= self.until)

    def _graded(self, row: Row) -> bool:
        return self.level is None or (row["level"] in LEVELS and LEVELS.index(row["level"]) >= LEVELS.index(self.level))

    def _logged(self, logger: str | None) -> bool:
        if not self.loggers:
            return True
        return logger is not None and any(
            logger.startswith(f"{name}.") or logger.endswith(f".{name}") or abbreviates(logger, name) for name in self.loggers
        )

    def _placed(self, event: Row) -> bool:
        topic = event["topic"] or self.topic_ids.get(event["topic_id"] or "")
        if self.topics and topic not in self.topics:
            return False
        return not self.partitions or event["partition"] in self.partitions or bool(self.topics and event["partition"] is None)

    @cached_property
    def mention(self) -> re.Pattern[str] | None:
        """Finds a partition, or any partition of a topic, as Kafka's lines spell it; None without a topic."""
        names = sorted({*self.topics, *(i for i, name in self.topic_ids.items() if name in self.topics)})
        if not names:
            return None
        topic = f"(?:{'|'.join(map(re.escape, names))})"
        if not self.partitions:
            return re.compile(rf"(?<![\w.-]){topic}(?!\w|\.\w|-(?!\d+(?![\w-])))")
        number = f"(?:{'|'.join(map(str, sorted(self.partitions)))})"
        return re.compile(
            rf"(?<![\w.-]){topic}-{number}(?!\w|-\d)"
            rf"|[\[(]{topic}, ?{number}(?!\d)"
            rf"|(?i:topic(?:name|id)?)\W{{1,5}}{topic}\W{{1,5}}(?i:partition(?:index|id)?)\W{{1,5}}{number}(?!\d)"
            rf"|(?i:partition(?:index|id)?)\W{{1,5}}{number}\W{{1,5}}(?i:topic(?:name|id)?)\W{{1,5}}{topic}(?![\w-])"
        )


def stated(event: Row | None, topics: Mapping[str, str]) -> Row:
    """Event, topic and partition of a record, as columns of MERGED."""
    event = event or {}
    topic = event.get("topic") or topics.get(event.get("topic_id") or "")
    return {"event": event.get("event"), "topic": topic, "partition": event.get("partition")}


@dataclass(frozen=True)
class Merger:
    """Makes rows of MERGED from units, or rows of KEPT with all their events if nothing is selected. Small: it is sent to every task."""

    resolver: EventResolver
    wanted: RecordFilter | None
    kinds: Mapping[str, str]
    """Kind of each log file that is read, by path."""
    ranks: Mapping[str, int]
    """Rank of each source in the order of their first lines."""
    firsts: Mapping[str, datetime]
    """UTC time of the first line of each source that has one."""
    copies: frozenset[str]
    """Sources that may contain copies of the records of another source."""
    log_patterns: tuple[str, ...] = ()
    stated: bool = True
    parts: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Sources whose records are not in the order in which they were written (Cluster.parts). Those whose newest record comes first are
    numbered downwards from -1."""

    def rows(self, units: Iterable[Unit]) -> Iterator[Row]:
        for log in logs(units, self.kinds, self.log_patterns, stated=self.stated):
            yield from self.placed(log)

    def placed(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Rows of `schema` for rows of RECORDS; the rows of one source must come in its order."""
        sources: dict[str, _Place] = {}
        for row in rows:
            source = row["source"]
            place = sources.get(source)
            if place is None:
                place = sources[source] = _Place(self.ranks.get(source, len(self.ranks)))
            at = self._utc(row)
            parts = self.parts.get(source)
            if parts == ():
                row = {**row, "number": -1 - row["number"]}
            if at is not None and (at > place.latest or parts == () or (parts and place.latest - at > LineOrder.BACK)):
                place.latest = at
            twin = self._twin(row, place) if self.copies else None
            broker = self._broker(row)
            where = {"key": place.latest, "rank": place.rank, "twin": twin, "at": at, "broker": broker}
            placed = {**row, **where, "source": self.resolver.shown(source)}
            if self.wanted is None:
                yield placed
                continue
            wanted, event = self.wanted.choose(row, at, broker)
            if wanted:
                yield {**placed, **stated(event, self.resolver.topics)}

    @property
    def schema(self) -> pa.Schema:
        return MERGED if self.wanted is not None else pa.schema([_TWIN, *KEPT])

    def _utc(self, row: Row) -> datetime | None:
        time: datetime | None = row["time"]
        source: str = row["source"]
        if time is None:
            return self.firsts.get(source)
        if row["clock"] != "utc":
            return self.resolver.utc(source, self.resolver.wall(source, time), row["line"])
        error = self.resolver.skews_ms.get(source, 0)
        return time - timedelta(milliseconds=error) if error and CALENDAR[0] <= time < CALENDAR[1] else time

    def _broker(self, row: Row) -> int | None:
        owner = self.resolver.nodes.get(row["source"])
        return owner if owner is not None else next((e["node"] for e in row["events"] or () if e["node"] is not None), None)

    def _twin(self, row: Row, place: _Place) -> bytes:
        """Digest that is the same in every copy of a log; equal records of one log are numbered."""
        owner = self.resolver.nodes.get(row["source"])
        if owner is None or row["source"] not in self.copies:
            return blake2b(f"{place.rank} {row['number']}".encode(), digest_size=16).digest()
        digest = blake2b(f"{owner} {row['time']} {row['text']}".encode("utf-8", "replace"), digest_size=16)
        digest.update(b" %d" % place.count(row["time"], digest.digest()))
        return digest.digest()


def logs(units: Iterable[Unit], kinds: Mapping[str, str], log_patterns: Sequence[str], *, stated: bool = True) -> Iterator[Iterator[Row]]:
    """The records (rows of parsers.records.RECORDS) of each log in the units. `kinds`: the kind of each log that is read, by path."""
    layouts = [compiled(pattern) for pattern in log_patterns]
    for unit in units:
        for member, stream, _ in read_unit(unit):
            kind = kinds.get(member.path)
            if stream is not None and kind is not None:
                yield records(stream, member, kind, layouts, stated=stated)


class _Place:
    """How far one source has been read."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.latest = datetime.min
        self._time: datetime | None = None
        self._alike: Counter[bytes] = Counter()

    def count(self, time: datetime | None, what: bytes) -> int:
        """Number of equal records at this time so far."""
        if time != self._time:
            self._time = time
            self._alike.clear()
        self._alike[what] += 1
        return self._alike[what]


def merger(
    cluster: Cluster, resolver: EventResolver, wanted: RecordFilter | None, log_patterns: Sequence[str] = (), *, stated: bool = True
) -> Merger:
    """The Merger of a cluster. Without `stated`, the events of records are read only if something needs them."""
    ordered = sorted(cluster.sources, key=lambda s: (s.first or datetime.max, s.path))
    logs = [s for s in ordered if s.kind in LOG_KINDS]
    of_many = {s.path[:i] for s in logs for i, letter in enumerate(s.path) if letter == "#"}

    def unread(s: Source) -> bool:
        """Whether one broker that is not selected wrote the whole file."""
        if wanted is None:
            return False
        node = resolver.nodes.get(raw(s.path))
        return bool(wanted.brokers) and node is not None and node not in wanted.brokers and s.path not in of_many

    def raw(shown: str) -> str:
        return resolver.root + shown

    return Merger(
        resolver=resolver,
        wanted=wanted,
        kinds={raw(s.path): s.kind for s in logs if not unread(s)},
        ranks={raw(s.path): rank for rank, s in enumerate(ordered)},
        firsts={raw(s.path): s.first for s in logs if s.first is not None},
        copies=frozenset(raw(s.path) for s in logs if s.path in cluster.copies.sources) | frozenset(map(raw, _touching(logs))),
        log_patterns=tuple(log_patterns),
        parts={raw(s.path): s.parts for s in logs if s.parts is not None},
        stated=stated or wanted is None or wanted.of_events or any(s.node is None for s in logs),
    )


def _touching(logs: Iterable[Source]) -> Iterator[str]:
    """Pairs of logs of one node and kind of which one begins exactly when the other ends: one may be a copy of a single record."""
    ends: dict[tuple[int, str], tuple[datetime, str]] = {}
    for source in logs:
        if source.node is None or source.first is None or source.last is None:
            continue
        end, longest = ends.get((source.node, source.kind), (datetime.min, ""))
        if source.first <= end:
            yield from (source.path, longest)
        if source.last >= end:
            ends[source.node, source.kind] = source.last, source.path


def blocks(rows: Iterable[Row], show: Show) -> Iterator[str]:
    """Shown rows put together to pieces of about BLOCK characters."""
    pending: list[str] = []
    size = 0
    for row in rows:
        pending.append(show(row))
        size += len(pending[-1])
        if size >= BLOCK:
            yield "".join(pending)
            pending, size = [], 0
    if pending:
        yield "".join(pending)
