"""The log records of all brokers in one order of time: what StateChangeLogMerger was for, at any size.

Here: which records are wanted, when each was in UTC, and the DataFrame that sorts them and hands them out piece by piece. Not
here: how a log is cut into records (parsers.records), how clocks are estimated (gather), or how a record is shown; that is
an argument.

The order is that of corrected time, but no file is ever reordered: a record counts as no earlier than those before it in its
file. Sorting is Spark's, which spills to disk; the driver holds one piece of the result at a time.
"""

from __future__ import annotations

import pickle
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.cluster.build import CALENDAR, EventResolver
from forensics.model.cluster.facts import Cluster, Source
from parsers.cached import cached_property
from parsers.containers.units import Unit
from parsers.containers.walk import read_unit
from parsers.evidence import LOG_KINDS
from parsers.layouts import Layout, abbreviates
from parsers.log_pattern import compiled
from parsers.records import RECORDS, batches, records
from parsers.schemas import Row, documented
from spark.ipc import batches as carried_batches
from spark.ipc import carried
from spark.pipeline import balance, tasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
PART_BYTES = 16 << 20
"""Text of a piece of the result, about: what the driver holds at a time."""
BLOCK = 256 << 10
"""Characters of shown records that travel together."""


_PLACE = (
    documented("key", pa.timestamp("us"), "`at`, or the greatest before it in its source: the first of what is sorted by"),
    documented("rank", pa.int32(), "place of the source among the sources, those that begin first first"),
    documented("at", pa.timestamp("us"), "UTC after correction; null where no line of the file has a time"),
    documented("broker", pa.int32(), "who wrote it; null when nobody knows"),
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
"""Records in order, each of several copies once, from which any can be chosen later."""
ORDER = ("key", "rank", "number")

Show = Callable[[Row], str]
"""A row of MERGED as text, line feed included."""


@dataclass(frozen=True)
class Wanted:
    """Which records are asked for; each empty or None asks for all."""

    topics: frozenset[str] = frozenset()
    partitions: frozenset[int] = frozenset()
    brokers: frozenset[int] = frozenset()
    since: datetime | None = None
    until: datetime | None = None
    events: frozenset[str] = frozenset()
    level: str | None = None
    """The least grave of LEVELS."""
    loggers: tuple[str, ...] = ()
    """Whole names, the packages they are in, or the ends of names."""
    text: str | None = None
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    """Topic names by id."""

    @property
    def of_events(self) -> bool:
        """Whether it takes a record's events to tell."""
        return bool(self.topics or self.partitions or self.events)

    def choose(self, row: Row, at: datetime | None, broker: int | None) -> tuple[bool, Row | None]:
        """Whether the record is asked for, and which of its events is the reason (else its first)."""
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
        """A row of KEPT as one of MERGED; None where it is not asked for."""
        wanted, event = self.choose(row, row["at"], row["broker"])
        return {**row, **stated(event, self.topic_ids)} if wanted else None

    def likely(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Of rows of KEPT those that may be asked for, as far as columns tell."""
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
        """Finds a partition, or any of a topic, as Kafka's lines spell them; None where no topic is named."""
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
    """What MERGED names of a record's event."""
    event = event or {}
    topic = event.get("topic") or topics.get(event.get("topic_id") or "")
    return {"event": event.get("event"), "topic": topic, "partition": event.get("partition")}


@dataclass(frozen=True)
class Merger:
    """What a task needs to make rows of MERGED from units, or with all their events of KEPT where nothing is chosen; small, and sent to
    every task."""

    resolver: EventResolver
    wanted: Wanted | None
    kinds: Mapping[str, str]
    """Kinds of the logs that are read, by path of the file."""
    ranks: Mapping[str, int]
    """Places of the sources among each other."""
    firsts: Mapping[str, datetime]
    """UTC of the first line of each source that has one."""
    copies: frozenset[str]
    """Sources that may hold records of another."""
    log_patterns: tuple[str, ...] = ()
    stated: bool = True

    def rows(self, units: Iterable[Unit]) -> Iterator[Row]:
        layouts = [compiled(pattern) for pattern in self.log_patterns]
        for unit in units:
            yield from self._of_unit(unit, layouts)

    def _of_unit(self, unit: Unit, layouts: Sequence[Layout]) -> Iterator[Row]:
        for member, stream, _ in read_unit(unit):
            kind = self.kinds.get(member.path)
            if stream is not None and kind is not None:
                yield from self.placed(records(stream, member, kind, layouts, stated=self.stated))

    def placed(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Rows of RECORDS, those of each source in its own order, as rows of the schema."""
        sources: dict[str, _Place] = {}
        for row in rows:
            source = row["source"]
            place = sources.get(source)
            if place is None:
                place = sources[source] = _Place(self.ranks.get(source, len(self.ranks)))
            at = self._utc(row)
            place.latest = max(place.latest, at or place.latest)
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
            return self.resolver.utc(source, time, row["line"])
        error = self.resolver.skews_ms.get(source, 0)
        return time - timedelta(milliseconds=error) if error and CALENDAR[0] <= time < CALENDAR[1] else time

    def _broker(self, row: Row) -> int | None:
        owner = self.resolver.nodes.get(row["source"])
        return owner if owner is not None else next((e["node"] for e in row["events"] or () if e["node"] is not None), None)

    def _twin(self, row: Row, place: _Place) -> bytes:
        """Names the record the same in every copy of its log; records of one log that are alike are counted."""
        owner = self.resolver.nodes.get(row["source"])
        if owner is None or row["source"] not in self.copies:
            return blake2b(f"{place.rank} {row['number']}".encode(), digest_size=16).digest()
        digest = blake2b(f"{owner} {row['time']} {row['text']}".encode("utf-8", "replace"), digest_size=16)
        digest.update(b" %d" % place.count(row["time"], digest.digest()))
        return digest.digest()


class _Place:
    """How far one source was read."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.latest = datetime.min
        self._time: datetime | None = None
        self._alike: Counter[bytes] = Counter()

    def count(self, time: datetime | None, what: bytes) -> int:
        """How many such records there were at this time."""
        if time != self._time:
            self._time = time
            self._alike.clear()
        self._alike[what] += 1
        return self._alike[what]


def merger(
    cluster: Cluster, resolver: EventResolver, wanted: Wanted | None, log_patterns: Sequence[str] = (), *, stated: bool = True
) -> Merger:
    """The Merger of evidence that was gathered. Without `stated`, records' events are only read where something needs them."""
    ordered = sorted(cluster.sources, key=lambda s: (s.first or datetime.max, s.path))
    logs = [s for s in ordered if s.kind in LOG_KINDS]
    of_many = {s.path[:i] for s in logs for i, letter in enumerate(s.path) if letter == "#"}

    def unread(s: Source) -> bool:
        """Whether one broker wrote all of it, which is not asked for."""
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
        copies=frozenset(raw(s.path) for s in logs if s.path in cluster.copies) | frozenset(map(raw, _touching(logs))),
        log_patterns=tuple(log_patterns),
        stated=stated or wanted is None or wanted.of_events or any(s.node is None for s in logs),
    )


def _touching(logs: Iterable[Source]) -> Iterator[str]:
    """Logs of a node and kind of which one begins, to the tick, where another ends: a copy may hold a single record of it."""
    ends: dict[tuple[int, str], tuple[datetime, str]] = {}
    for source in logs:
        if source.node is None or source.first is None or source.last is None:
            continue
        end, longest = ends.get((source.node, source.kind), (datetime.min, ""))
        if source.first <= end:
            yield from (source.path, longest)
        if source.last >= end:
            ends[source.node, source.kind] = source.last, source.path


def merged(session: SparkSession, units: Sequence[Unit], merger: Merger) -> DataFrame:
    """Rows of the merger's schema, each record of several copies of a log once, in no order."""
    from pyspark.sql.pandas.types import from_arrow_schema

    from spark.progress import announced, metered
    from spark.session import directory

    size = sum(unit.size for unit in units)
    ways = tasks(session, size)
    told = announced(directory(session), size)
    wanted = merger.schema

    def read(given: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in given:
            for split in batch.column("split").to_pylist():
                own = pickle.loads(split)  # noqa: S301 - units of ours, pickled below
                yield from batches(merger.rows(metered(own, told)), wanted)

    # As rows, not in what a task closes over: that would be all names in every task.
    splits = [(pickle.dumps(split),) for split in balance(list(units), ways)]
    given = session.createDataFrame(session.sparkContext.parallelize(splits, len(splits)), "split binary")
    found = given.mapInArrow(read, from_arrow_schema(wanted, prefer_timestamp_ntz=True))
    return once(found, merger, ways)


def once(found: DataFrame, merger: Merger, ways: int) -> DataFrame:
    """Of rows of the merger's schema each record of several copies of a log once."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    if merger.copies:
        first = F.min("rank").over(Window.partitionBy("twin"))
        found = found.repartition(ways, "twin").withColumn("first", first).where(F.col("rank") == F.col("first")).drop("first")
    return found


def stream(found: DataFrame, show: Show) -> Iterator[str]:
    """The rows of MERGED in their order, shown, a block of text at a time. The first block comes when all are sorted."""

    def pack(given: Iterator[pa.RecordBatch]) -> Iterator[bytes]:
        for block in blocks((row for batch in given for row in batch.to_pylist()), show):
            yield block.encode()

    ranged, parts = _in_order(found)
    for piece in carried(ranged, pack, prefetch=parts > 1) if parts else ():
        yield piece.decode()


def kept(found: DataFrame) -> Iterator[pa.RecordBatch]:
    """The rows of KEPT in their order."""
    ranged, parts = _in_order(found)
    yield from carried_batches(ranged, KEPT, prefetch=parts > 1) if parts else ()


def _in_order(found: DataFrame) -> tuple[DataFrame, int]:
    """The rows, without their twins, sorted over so many of Spark's partitions."""
    from pyspark import StorageLevel
    from pyspark.sql import functions as F

    rows = found.drop("twin").persist(StorageLevel.DISK_ONLY)  # finding the bounds of the pieces would read the evidence again
    (size,) = rows.agg(F.sum(F.length("text") + 200)).first() or (None,)
    parts = -(-int(size or 0) // PART_BYTES)
    ranged = rows.repartitionByRange(parts, *ORDER) if parts > 1 else rows.coalesce(1)
    return ranged.sortWithinPartitions(*ORDER), parts


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
