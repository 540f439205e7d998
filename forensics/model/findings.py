"""Findings and rules: what the tool reports, and which rule reports it.

Here: Finding with its evidence, the Arrow schema it travels in, and Rule, the declaration that every file of forensics.rules makes, with
the Facts it reads. Not here: any rule, the format of exemplars (exemplars), or how findings are printed.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from enum import Enum, IntEnum, auto
from operator import attrgetter
from typing import Annotated, Any, TypeVar

import pyarrow as pa

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.message import ENCODED, PACKED, Message, Range, Value, Values, by_name, joined
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.record import Int32, NamedColumn, Record, row_of, struct
from forensics.model.rows import Rows
from forensics.thresholds import NAMED
from parsers.cached import cached_property
from parsers.frozen import dataclass, replace

LEVELS = ("info", "low", "medium", "high", "critical")
MINOR = ("low", "info")
CONFIDENCES = ("possible", "probable", "certain")


def lower(one: str, other: str) -> str:
    """The smaller of two confidences: a conclusion is never surer than its premises."""
    return min(one, other, key=CONFIDENCES.index)


CLUSTER_DOC = "number of the cluster, if these brokers were in several one after the other: 0 the last one, -1 the one before it, and so on"
MAX_EVIDENCE = 8
"""Pieces of evidence a finding quotes."""
MAX_QUOTE = 600
"""Maximum length of the raw text that a piece of evidence quotes, in characters."""


def shortened(text: str, most: int) -> str:
    """The text; if it is longer, its first characters and `…`."""
    return text if len(text) <= most else f"{text[:most]}…"


@dataclass(frozen=True, slots=True)
class Evidence(Record):
    """A place in the evidence and the text found there."""

    source: Annotated[str, "path of the source"]
    line: Annotated[int | None, "1-based line; null in binary files"]
    byte: Annotated[int | None, "byte offset in the (decompressed) source"]
    text: Annotated[str, "the quoted text"]

    @classmethod
    def of(cls, event: Event) -> Evidence:
        text = (event.text or _rendered(event)).rstrip("\n")
        return cls(event.source, event.line, event.byte, text[:MAX_QUOTE])

    @property
    def shown(self) -> str:
        """The text, with `…` if it was cut."""
        return shortened(self.text, MAX_QUOTE - 1)


def _rendered(event: Event) -> str:
    """Words for a fact that a binary file contains."""
    if event.event == "segment":
        count = len(event.batches or ())
        return f"segment {event.offset}: {count} valid batches, log end offset {event.log_end_offset}"
    columns = {
        name: getattr(event, name)
        for name in ("topic", "partition", "leader_epoch", "offset", "log_end_offset", "high_watermark", "count", "reason", "value")
        if getattr(event, name) is not None
    }
    return f"{event.event} " + " ".join(f"{k}={v}" for k, v in columns.items())


def quote(*events: Event | Iterable[Event] | None) -> tuple[Evidence, ...]:
    """Evidence of events, each place once, in the order given."""
    flat: dict[Event, None] = {}
    for item in events:
        if item is not None:
            flat |= dict.fromkeys(item if isinstance(item, Iterable) else (item,))
    return tuple(dict.fromkeys(map(Evidence.of, flat)))[:MAX_EVIDENCE]


@dataclass(frozen=True, slots=True)
class Held(Record):
    """Lost records that a collected file contains, all of one leader epoch."""

    source: Annotated[str, "path of the file"]
    byte: Annotated[int | None, "where the list of batches begins that contains the first of them"]
    broker: Annotated[Int32 | None, "broker of the file"]
    leader_epoch: Annotated[Int32, "-1: of a format without epochs"]
    offsets: Annotated[Range, "offsets of the records"]


@dataclass(frozen=True, slots=True)
class Producer(Record):
    """A producer that sent some of the lost records that a disk still contains."""

    id: Annotated[int | None, "producer id of an idempotent or transactional producer; null for all others together"]
    records: Annotated[int, "number of its records"]
    bytes: Annotated[int, "size of its batches"]
    first: Annotated[datetime | None, "from the timestamps of the batches"]
    last: Annotated[datetime | None, "from the timestamps of the batches"]
    transactional_id: Annotated[str | None, "transactional.id, if known"] = None
    state: Annotated[str | None, "state of its transaction in the last record of __transaction_state"] = None
    epoch: Annotated[Int32 | None, "the latest producer epoch in its batches"] = None
    first_sequence: Annotated[int | None, "sequence number of its first record; each epoch begins at 0"] = None
    last_sequence: Annotated[int | None, "sequence number of its last record; the number after the largest one is 0"] = None
    codecs: Annotated[tuple[str, ...], "compression of its batches"] = ()


@dataclass(frozen=True, slots=True)
class DifferingCopies(Record):
    """Files with different records at the same offsets and in the same leader epoch, all with valid checksums: at most one has the lost
    records."""

    leader_epoch: Annotated[Int32, "leader epoch of the records"]
    offsets: Annotated[Range, "offsets of the records"]
    sources: Annotated[tuple[str, ...], "paths of the files"]


@dataclass(frozen=True, slots=True)
class Salvageable(Record):
    """The lost records that the collected disks still contain (forensics.model.partition.salvageable)."""

    held: Annotated[tuple[Held, ...], "what collected files contain, in the order of offsets, each offset once"] = ()
    missing: Annotated[tuple[Range, ...], "lost offsets that no collected file contains"] = ()
    certain: Annotated[bool, "the leader epochs prove that these are the lost records, and not other records at the same offsets"] = True
    elsewhere: Annotated[Message | None, PACKED, "where the missing records might be, a message as JSON"] = None
    producers: Annotated[tuple[Producer, ...], "the producers of the held records, the one with most records first"] = ()
    differing: Annotated[tuple[DifferingCopies, ...], "offsets of which the collected files have different copies"] = ()


@dataclass(frozen=True, slots=True)
class ClientOfGroup(Record):
    """A member of a consumer group to which the group had assigned the partition."""

    client_id: Annotated[str, "client.id"]
    host: Annotated[str | None, "host of the client"]


@dataclass(frozen=True, slots=True)
class Client(Record):
    """The effect of a loss on a consumer group (forensics.proof.aftermath)."""

    group: Annotated[str, "name of the group"]
    outcome: Annotated[
        str,
        "skips or skipped: the group does not get the records that were written again below its commit; reset: its commit is beyond the end of "
        "the log; returns: its commit names its leader epoch, by which its consumers detect that the log was cut; went-back: it did; untouched; "
        "unknown: it reads the partition, and its position is not in the collected evidence",
    ]
    committed: Annotated[
        int | None,
        "its position when the records were lost; for a share group the start of its share-partition; null if unknown",
    ]
    leader_epoch: Annotated[Int32 | None, "leader epoch that its commit names"]
    at: Annotated[datetime | None, "time of its commit (UTC)"]
    had_read: Annotated[Range | None, "lost offsets below a commit of the group: it probably had read them"]
    skipped: Annotated[Range | None, "offsets that were written again, or will be, and that the group does not get"]
    protocol: Annotated[str | None, "classic, consumer (KIP-848) or share (KIP-932); null if unknown"] = None
    out_of_order: Annotated[int | None, "number of offsets above `committed` that a share group had also finished"] = None
    members: Annotated[
        tuple[ClientOfGroup, ...], "members that had the partition, the last first, from coordinators' records and the tool's output"
    ] = ()


@dataclass(frozen=True, slots=True)
class Written(Record):
    """The span of time in which records were appended."""

    since: Annotated[datetime | None, NamedColumn("from"), "null if unknown"]
    until: Annotated[datetime | None, "null if unknown"]


PLAIN_LOG, COMPACTED, TRANSACTIONAL, UNKNOWN_LOG = "plain", "compacted", "transactional", "unknown"


@dataclass(frozen=True, slots=True)
class Records(Record):
    """How many records a range of offsets has. In a compacted log some offsets have no record any more; in a log with transactions some are
    of their markers."""

    count: Annotated[int | None, "null: at most as many as there are offsets"]
    log: Annotated[
        str, "plain (each offset is a record), compacted, transactional, or unknown (the topic's settings are not in the evidence)"
    ]


LOST, UNSETTLED, POSSIBLE, CUT = "lost", "unsettled", "possible", "cut"


@dataclass(frozen=True, slots=True)
class LostPart(Record):
    """Adjacent offsets of a loss of which the same is known."""

    offsets: Annotated[Range, "its offsets; the end is null if it is unknown"]
    committed: Annotated[bool | None, "whether the records were committed; null if unknown"]
    confidence: Annotated[str, "certain, probable or possible"]
    at_least: Annotated[bool, "records above may be lost as well; their number is unknown"] = False
    records: Annotated[int | None, "number of records; null: at most as many as there are offsets"] = None
    still_on: Annotated[tuple[Int32, ...], "brokers whose disks still hold all of it"] = ()
    perhaps_on: Annotated[tuple[Int32, ...], "brokers whose disks hold all of it unless that was not flushed before a crash"] = ()

    @property
    def kind(self) -> str:
        """LOST: committed; UNSETTLED: gone, commit status unknown; POSSIBLE: may be lost; CUT: never committed, possibly not gone."""
        if self.committed is False:
            return CUT
        return POSSIBLE if self.confidence == CONFIDENCES[0] else LOST if self.committed else UNSETTLED


def disks(parts: Iterable[LostPart]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The brokers whose disks surely hold some of it, and the others whose disks may."""
    own = list(parts)
    surely = {b for p in own for b in p.still_on}
    return tuple(sorted(surely)), tuple(sorted({b for p in own for b in p.perhaps_on} - surely))


@dataclass(frozen=True, slots=True)
class Place(Record):
    """A partition that an event affected, and what happened there."""

    topic: Annotated[str | None, "topic name"]
    partition: Annotated[Int32 | None, "partition index; null: all of the topic"]
    leader_epoch: Annotated[Int32 | None, "leader epoch"]
    start: Annotated[datetime | None, "begin (UTC)"]
    end: Annotated[datetime | None, "end (UTC)"]
    offsets: Annotated[tuple[Range, ...], "ranges of offsets"]
    committed: Annotated[bool | None, "whether the records were committed; null if unknown"]
    brokers: Annotated[tuple[Int32, ...], "brokers concerned"] = ()
    times: Annotated[Int32, "number of times; if more than one, the span is from the first start to the last end"] = 1
    salvageable: Annotated[Salvageable | None, "as in the finding"] = None
    clients: Annotated[tuple[Client, ...], "as in the finding"] = ()
    written: Annotated[Written | None, "as in the finding"] = None
    records: Annotated[Records | None, "as in the finding"] = None
    parts: Annotated[tuple[LostPart, ...], "as in the finding"] = ()

    @property
    def name(self) -> str:
        """Name of the partition; of the topic, if it is about all of it."""
        return f"{self.topic}-{self.partition}" if self.partition is not None else f"{self.topic}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement(Record):
    """The statement of a finding, without its words and evidence. Findings are compared, ordered and folded by it. `salvageable`,
    `clients`, `written`, `records` and `parts` are those of a loss in one partition; `places` have their own."""

    kind: Annotated[str, "kind of the finding, as `kafka-forensics rules` lists them"] = ""
    severity: Annotated[str, "critical, high, medium, low or info"] = ""
    confidence: Annotated[str, "certain, probable or possible"]
    topic: Annotated[str | None, "topic name; null if the finding is not about a single partition"] = None
    partition: Annotated[Int32 | None, "partition index; null if the finding is not about a single partition"] = None
    brokers: Annotated[tuple[Int32, ...], "brokers concerned"] = ()
    leader_epoch: Annotated[Int32 | None, "leader epoch"] = None
    start: Annotated[datetime | None, "begin (UTC); if `start_latest` is given, the earliest possible one"] = None
    start_latest: Annotated[datetime | None, "latest possible begin (UTC); null: it began at `start`"] = None
    end: Annotated[datetime | None, "end (UTC); null if it lasts to the end of the evidence, or is unknown"] = None
    offsets: Annotated[
        tuple[Range, ...],
        "ranges of offsets, `end` exclusive; a null `end` is unknown. For a loss: its parts that are as sure as the finding",
    ] = ()
    committed: Annotated[bool | None, "whether the records were committed; null if unknown, or if the parts of a loss differ in it"] = None
    cause: Annotated[str | None, "cause, for kinds with several causes"] = None
    loss: Annotated[bool, "whether it says that records are lost, read before or not"] = False
    cluster: Annotated[Int32, CLUSTER_DOC] = 0
    still_on: Annotated[tuple[Int32, ...], "brokers whose disks still hold all of `offsets`; `parts` names those that hold some"] = ()
    perhaps_on: Annotated[
        tuple[Int32, ...],
        "brokers whose logs had all of `offsets` and were never cut, if these may not have been flushed before a crash",
    ] = ()
    salvageable: Annotated[
        Salvageable | None,
        "lost records that collected disks still hold, and disks that may hold the others; null if the finding is not a loss",
    ] = None
    clients: Annotated[
        tuple[Client, ...], "effect of a loss on consumer groups: lost records below the commit of each, and records that each skips"
    ] = ()
    written: Annotated[Written | None, "when the lost records were appended (UTC); null if unknown, or if the finding is not a loss"] = None
    records: Annotated[Records | None, "how many records the lost offsets have; null if the finding is not a loss"] = None
    parts: Annotated[tuple[LostPart, ...], "the offsets of a loss by what is known of them; empty if the finding is not a loss"] = ()
    incident: Annotated[
        str | None,
        "id of its incident; of the first one, if it is about several; null if no incident, or an unknown one of many, is its cause",
    ] = None
    places: Annotated[
        tuple[Place, ...], "the partitions, and the fields that differ between them, if there are several; `topic` is null then"
    ] = ()

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        raise NotImplementedError

    @property
    def whole(self) -> Finding:
        """The whole finding, with its words and its evidence."""
        raise NotImplementedError

    @property
    def nth(self) -> int | None:
        """Which one it is of findings that are alike in all else of which the id is made; None: the first."""
        return None

    @property
    def name(self) -> str:
        """Name of the partition; of the topic, if it is about all of it."""
        return self.place.name

    @property
    def happened(self) -> datetime | None:
        """When it happened. For a loss: when the records were lost; the loss begins when the first of them can have been written."""
        return (self.end or self.start) if self.loss else self.start

    @property
    def groups(self) -> tuple[str, ...]:
        """Consumer groups that the finding names."""
        return tuple(sorted({c.group for c in (*self.clients, *(c for p in self.places for c in p.clients))}))

    @property
    def first_broker(self) -> int | None:
        return self.brokers[0] if self.brokers else None

    @property
    def over(self) -> bool:
        return self.end is not None

    @property
    def open_ended(self) -> bool:
        """No evidence shows the end of its offsets."""
        return any(r.end is None for r in self.offsets)

    @property
    def place(self) -> Place:
        return Place(
            self.topic,
            self.partition,
            self.leader_epoch,
            self.start,
            self.end,
            self.offsets,
            self.committed,
            self.brokers,
            salvageable=self.salvageable,
            clients=self.clients,
            written=self.written,
            records=self.records,
            parts=self.parts,
        )

    @property
    def stated(self) -> dict[str, Value]:
        """The values of its statement that a sentence can name."""
        topics = {p.topic for p in self.places}
        return {
            "place": self.name if self.topic is not None else None,
            PARTITIONS: tuple(p.name for p in self.places) or ((self.name,) if self.topic is not None else ()),
            "began": (self.start, self.start_latest),
            "broker": self.brokers[0] if self.brokers else None,
            SUBJECTS: self.brokers[:1],
            **{name: getattr(self, name) for name in _NAMED_IN_SENTENCES},
            "topic": topics.pop() if len(topics) == 1 else self.topic,
        }

    @property
    def message_id(self) -> str:
        return self.whole.message_id

    def id_of(self, message: str) -> str:
        """The id of one of its messages."""
        return message if "/" in message else f"{self.kind}/{message}"

    def known_of(self, names: Collection[str]) -> dict[str, Value]:
        """Those of the values with these names that its sentences can name."""
        return {name: value for name, value in self.whole.known.items() if name in names}

    @property
    def id(self) -> str:
        """Stable for the same evidence: a digest of what is stated, not of how it is worded."""
        said = [
            self.kind,
            self.topic,
            self.partition,
            list(self.brokers),
            self.leader_epoch,
            [(r.start, r.end) for r in self.offsets],
            self.cause,
            self.start.isoformat() if self.start else None,
            *([[(p.topic, p.partition, *((r.start, r.end) for r in p.offsets)) for p in self.places]] if self.places else []),
            *([self.groups] if self.groups and not self.loss else []),
            *([self.nth] if self.nth else []),
        ]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:12]


PLACES, BROKERS, SEVERAL, AGAIN, ALIKE = "places", "brokers", "several", "again", "alike"
PARTITIONS, SUBJECTS = "partitions", "subjects"
"""Values of every finding: the names of its partitions, and the first broker, of several findings of each."""
_NAMED_IN_SENTENCES = ("brokers", "topic", "partition", "leader_epoch", "start", "end", "offsets", "committed", "cause", "confidence")
ALL_STATE = frozenset({"place", PARTITIONS, "client_partitions", "began", SUBJECTS, *_NAMED_IN_SENTENCES})
"""Values that several findings state together as one does: of all, not of the first."""
NTH = "nth"
"""Value of a finding that is alike another one, so that their ids differ."""
OF_STEPS = "of_steps"
"""Value of findings of one event whose steps differ: the messages with these steps, each with its partitions."""


@dataclass(frozen=True, slots=True)
class Fold(Record):
    """One step in which several findings became one (forensics.incidents.folding): how, and what their sentences need."""

    how: Annotated[str, "places, brokers, several, again or alike"]
    values: Annotated[Values, ENCODED, "values of all of them, as JSON"] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Statement):
    """`message` and `values` are what its sentences are made of (forensics.words)."""

    message: Annotated[
        str, "name of its message in the catalogue of its kind, or the id of another one; with `values` it makes its sentences"
    ] = "found"
    values: Annotated[Values, ENCODED, 'values that its sentences name, as JSON; `{"time": …}` is a time (UTC)'] = ()
    folds: Annotated[tuple[Fold, ...], "if several findings became one: how, and the values of all of them"] = ()
    evidence: Annotated[tuple[Evidence, ...], "quotes: source, line, byte and text"]

    @property
    def whole(self) -> Finding:
        return self

    @property
    def nth(self) -> int | None:
        nth = next((value for name, value in self.values if name == NTH), None)
        return nth if isinstance(nth, int) else None

    @property
    def known(self) -> dict[str, Value]:
        """All values that its sentences can name; of several findings, those of the first."""
        return dict(self.values) if self.folds else self.stated | dict(self.values)

    @property
    def named(self) -> dict[str, Any]:
        """Its own values as objects of JSON, with what became of them when it was folded."""
        return by_name(self.values) | by_name(tuple(item for fold in self.folds for item in fold.values))

    @property
    def message_id(self) -> str:
        return self.id_of(self.message)

    @property
    def said(self) -> Message:
        """The finding as a part of another one's sentence."""
        return Message(self.message_id, tuple(self.known.items()))

    def doubted(self, why: Message) -> Finding:
        """At most possible, for this reason."""
        severity = min(self.severity, "medium", key=LEVELS.index)
        return replace(self.at_most(CONFIDENCES[0]), severity=severity, values=(*self.values, ("doubt", why)))

    def at_most(self, confidence: str) -> Finding:
        """No surer than that, in all its parts."""

        def weaker(parts: tuple[LostPart, ...]) -> tuple[LostPart, ...]:
            return tuple(replace(p, confidence=lower(p.confidence, confidence)) for p in parts)

        there = tuple(replace(p, parts=weaker(p.parts)) if p.parts else p for p in self.places)
        return replace(self, confidence=lower(self.confidence, confidence), parts=weaker(self.parts), places=there)

    def of_partition(self, topic: str, partition: int) -> Finding:
        """The same finding for this partition."""
        return self._with(topic=topic, partition=partition)

    def of_rule(self, kind: str, level: str, partition: PartitionTimeline | None = None) -> Finding:
        """The same finding as one of this kind, of this severity if it has none, and of this partition if it names no topic: a rule says
        none of them again."""
        of_rule: dict[str, str | int] = {"kind": self.kind or kind, "severity": self.severity or level}
        if partition is not None and self.topic is None:
            of_rule |= {"topic": partition.topic, "partition": partition.partition}
        return self._with(**of_rule)

    def _with(self, **changes: str | int) -> Finding:
        """Nearly every finding passes here, and `replace` takes five times as long."""
        found = object.__new__(Finding)
        for put, value in zip(_PUT, _values(self), strict=True):
            put(found, value)
        for name, value in changes.items():
            object.__setattr__(found, name, value)
        return found

    def row(self) -> dict[str, Any]:
        """The finding as a row of FINDING."""
        return _row(self)


FOLDED = ("incident", "places", "folds")
"""Columns that only findings of the report have, after those of one event became one."""
FINDING = struct(Finding, *FOLDED)
_row = row_of(Finding, *FOLDED)
_FIELDS = tuple(f.name for f in fields(Finding))
_values, _PUT = attrgetter(*_FIELDS), tuple(getattr(Finding, name).__set__ for name in _FIELDS)
EVIDENCE = struct(Evidence)


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact about a partition besides its state, for judgements and reports on the whole cluster. It is a column of the partition rows
    (forensics.incidents.judging), and exists because a rule or a section of the report declares that it reads it."""

    name: str
    type: pa.DataType
    meaning: str
    of: Callable[[PartitionTimeline, Cluster], Any]


@dataclass(frozen=True)
class Exemplar:
    """A small incident, and whether its rule must find it."""

    name: str
    story: str
    """What happened, in a sentence; for a near miss, why the rule must not find it."""
    origin: str
    """The recorded cluster its lines are from, or the Kafka class whose log statements they imitate."""
    found: bool
    """False: a near miss, in which the rule must not find anything."""
    fields: Mapping[str, Any]
    """Attributes the finding must have."""
    files: Mapping[str, bytes]
    """Content by path inside the evidence."""
    modified: Mapping[str, datetime]
    """Modification times (UTC, naive) of the files for which the time matters."""

    def shows(self, finding: Finding) -> bool:
        return all(getattr(finding, name) == value for name, value in self.fields.items())


PartitionJudge = Callable[[PartitionTimeline, Cluster], Iterable[Finding]]
ClusterJudge = Callable[[Cluster, Rows], Iterable[Finding]]
Hindsight = Callable[[Cluster, Rows, Mapping[str, Sequence[Statement]]], Iterable[Finding]]
Merge = Callable[[Finding, Sequence[Statement]], Mapping[str, Value]]


class Urgency(IntEnum):
    """What the reader must act on first, in this order."""

    LOST = auto()
    """Records are lost, or replicas differ."""
    UNAVAILABLE = auto()
    """While it lasts, clients cannot read or write."""
    AT_RISK = auto()
    """While it lasts, one more failure loses records or makes partitions unavailable."""
    BROKEN = auto()
    """While it lasts, something does not work, or is not known to work."""
    OVER = auto()
    """It is over, or it is a setting."""
    MINOR = auto()
    """Its severity is low or info."""


class Purpose(Enum):
    """What a kind of finding is for those that must find it among others."""

    LOSS = "loss"
    SETTING = "setting"
    """A setting that made harm possible."""
    UNCLEAN_ELECTION = "unclean-election"
    PREFERRED_ELECTION = "preferred-election"
    EARLIER_VERDICT = "earlier-verdict"
    """A verdict on a partition of a cluster that ended."""
    MISSING_EVIDENCE = "missing-evidence"
    CONTRADICTION = "contradiction"
    CLEAN_STOP = "clean-stop"
    CRASH = "crash"
    RETURN = "return"
    """A broker was restarted, and its replicas caught up."""


class Unrefuted(Enum):
    """Why nothing is asked for that would contradict the findings of a kind."""

    OWN_LINE = "own-line"
    """A line of the node itself, or a setting that it or a tool printed, says it."""
    OWN_FILE = "own-file"
    """The content of one file shows it."""
    STATES = "states"
    """The states of partitions, brokers and controllers show it; those that contradict each other are an evidence-conflict already."""
    HAND_OVER = "hand-over"
    """It rests on a row of the table of hand-overs, in which contradicting premises leave nothing certain."""
    EVIDENCE = "evidence"
    """It is about the evidence, not about the cluster."""


class Lasting(Enum):
    """Until when its findings are true."""

    WHILE_IT_LASTS = "while-it-lasts"
    UNTIL_REPAIRED = "until-repaired"
    """Also after its time in the evidence: until an operator acts."""
    EACH = "each"
    """While it lasts; each finding has a line of its own."""


class Impact(Enum):
    """What the phrase `impact` of a kind says of an incident."""

    PARTITIONS = "partitions"
    """How many partitions it affected, and affects when the evidence ends."""
    TIME = "time"
    """How long it lasted."""
    HIT = "hit"
    """How many partitions it affected, if it names any."""
    CHANGED = "changed"
    """That it was, if it names several nodes."""


@dataclass(frozen=True)
class Aggregation:
    """How the findings of one event become one (forensics.incidents.folding): those of one incident, or of one time if they have no
    incident."""

    by: tuple[str, ...] = ()
    """Attributes that they must have in common besides severity, confidence, cause and commitment."""
    whenever: bool = False
    """They become one however far apart in time, and in whichever incident."""
    worst: bool = False
    """Only the worst finding of each cause is reported: it covers the others."""
    recurs: bool = True
    """It may happen for months: if it happens often, it is reported once."""
    merge: Merge | None = None
    """Values for all of them together, such as one span of time, from the first finding and all of them."""

    def key(self, f: Statement) -> Hashable:
        return tuple(getattr(f, name) for name in self.by)


@dataclass(frozen=True)
class Rule:
    """A kind of finding, declared once, in forensics/rules/KIND.toml. `partition` judges a timeline; `cluster` judges what is not about one
    partition, from the rows of all of them: their states, and the `facts` it names."""

    kind: str
    rank: int
    """Its place in lists of kinds, the most severe first. Findings of one severity are listed in this order."""
    level: str
    meaning: str
    title: str = ""
    """Its name as people read it; by default its kind in words."""
    label: str | None = None
    """If it can be the headline of a report: the word before it, in capitals."""
    leads: bool = False
    """It is the headline, and names its incident, before other findings of its severity: these are its causes or effects."""
    benign: tuple[str, ...] = ()
    """Causes that are not failures, and how to recognise them."""
    next_steps: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    partition: PartitionJudge | None = None
    """A finding that names no topic belongs to the partition in which it was found (forensics.incidents.judging)."""
    cluster: ClusterJudge | None = None
    needs: frozenset[str] | None = None
    """Kinds of events of a partition; without any of them, `partition` finds nothing. None: it may."""
    after_rules: Hindsight | None = None
    """Runs after the other rules, because it judges by their findings, given by kind."""
    facts: tuple[Fact, ...] = ()
    many: Aggregation | None = None
    """For one event that affected several partitions or several brokers. None: each is reported on its own."""
    root: str | None = None
    """If its findings can be the cause of others: the id of the phrase that says what happened to a broker, as a sentence continues after
    the name of the broker."""
    unspecific: int = 0
    """Of the phrases of one broker only those of the most specific rules are said: that its replicas were stuck says nothing besides that
    it lost its session, and that it was slow or cut off says less than that."""
    plan: bool = False
    """Its findings explain the clean stops of their brokers at that time: one incident, which their summary describes."""
    root_causes: frozenset[str] = frozenset()
    """Causes for which its findings are root causes; empty: any cause."""
    rests_on: tuple[str, ...] = ()
    """Premises of its findings besides the lines that they quote: 'order' (of the lines of a broker), 'time' (between lines of different
    brokers), 'silence' (a log would show it, and does not)."""
    refuters: tuple[str, ...] = ()
    """What would contradict its findings (forensics.proof.contradictions)."""
    unrefuted: Unrefuted | None = None
    """Why it has no refuters."""
    casts_doubt: str | None = None
    """The severity from which its findings contradict the verdict that a partition is intact."""
    refuted: Callable[[Finding, PartitionTimeline], bool] | None = None
    """Whether a finding casts no doubt on the partition after all."""
    purpose: Purpose | None = None
    records_gone: bool = False
    """Its findings mean that records are gone, or may be."""
    with_leadership: bool = False
    """It occurs when leadership returns to a broker."""
    caused_by: tuple[str, ...] = ()
    """Kinds whose findings about the same partition at that time are the cause of its findings."""
    of_all_brokers: bool = False
    """It takes what happened to all of its brokers: these are one incident."""
    made_possible_by: tuple[str, ...] = ()
    """Kinds whose findings about the same partition at that time have more of these brokers."""
    mechanisms: tuple[str, ...] = ()
    """Its kind, or causes of its findings, if the title of their incident names these, as the phrases `mechanism` and `mechanism-CAUSE`
    say."""
    of_first_broker: bool = False
    """It happened to its first broker; the other brokers of a finding noticed it."""
    explains: tuple[str, ...] = ()
    """Causes that findings name, and that its findings explain, besides its own kind."""
    alive: tuple[str, ...] = ()
    """Messages that say that the processes of its brokers were running when it began."""
    gone: tuple[str, ...] = ()
    """Messages that say that the process of its broker was not running from its start to its end."""
    over_when: str | None = None
    """The last state of a partition in which none of its findings can last: 'led', 'in-sync' or 'there' (there is such a partition)."""
    impact: Impact | None = None
    now: Lasting | None = None
    """Clients cannot use what its findings name, as the phrases `now` and `title` say."""
    of_metadata_log: bool = False
    """It is found in the partition of the metadata log, which has no ISR, and no leader that the other rules could judge."""
    of_last_cluster: bool = False
    """Judges the whole evidence, or the state at its end, and not each cluster that used these brokers."""
    urgency: Urgency = Urgency.BROKEN
    """Urgency of its findings that are not minor, until they are over; LOST: also afterwards, except records that were never committed."""

    @cached_property
    def premises(self) -> frozenset[str]:
        """What its findings as a whole rest on: what a line of the node itself says is true if others are missing."""
        said = self.unrefuted in (Unrefuted.OWN_LINE, Unrefuted.EVIDENCE)
        return frozenset(self.rests_on) - {"silence" if said else ""}


def union(group: Iterable[Statement], name: str) -> tuple[Value, ...]:
    """The elements of this value of all findings, each once."""
    lists = (f.known_of((name,)).get(name) or () for f in group)
    return tuple(dict.fromkeys(v for own in lists if isinstance(own, tuple) for v in own))


def together(group: Iterable[Statement], name: str) -> tuple[Message, ...]:
    """The steps in this value of all findings, each once with the partitions that it is about, those of most partitions first."""
    partitions: dict[Message, dict[str, None]] = defaultdict(dict)
    for f in group:
        for step in union((f,), name):
            assert isinstance(step, Message)
            partitions[step][f.name] = None
    found = sorted(partitions.items(), key=lambda item: -len(item[1]))[: 2 * NAMED]
    return tuple(Message(step.id, (*step.values, (PARTITIONS, tuple(names)))) for step, names in found)


def places(finding: Statement) -> tuple[Place, ...]:
    """The places of a finding; if it has none, its own partition."""
    return finding.places or ((finding.place,) if finding.topic is not None else ())


F = TypeVar("F", bound=Statement)
LossPart = tuple[Statement, Place, LostPart]


def lost_parts(findings: Iterable[F]) -> Iterator[tuple[F, Place, LostPart]]:
    """The parts of all losses, each with its finding and its place."""
    return ((f, place, part) for f in findings if f.loss for place in places(f) for part in place.parts)


def offsets_in(lost: Iterable[LossPart]) -> int:
    """The number of offsets known to be lost. Offsets that several replicas had brought from an earlier partition of this name count
    once."""
    count = 0
    brought: dict[str, list[Range]] = defaultdict(list)
    for f, place, part in lost:
        if part.offsets.length is not None and f.cause == "inherited-log":
            brought[place.name].append(part.offsets)
        else:
            count += part.offsets.length or 0
    return count + sum(r.length or 0 for ranges in brought.values() for r in joined(ranges))
