"""Findings and rules: what the tool reports, and which rule reports it.

Here: Finding with its evidence, the Arrow schema it travels in, and Rule, the declaration that every file of forensics.rules makes, with
the Facts it reads. Not here: any rule, the format of exemplars (exemplars), or how findings are printed.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from enum import Enum, IntEnum, auto
from operator import attrgetter
from typing import Any

import pyarrow as pa

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.message import Message, Range, Value, Values, by_name, decoded, encoded, packed, unpacked
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.rows import Rows
from forensics.thresholds import NAMED
from parsers.frozen import dataclass, replace

LEVELS = ("info", "low", "medium", "high", "critical")
MINOR = ("low", "info")
CONFIDENCES = ("possible", "probable", "certain")


def lower(one: str, other: str) -> str:
    """The smaller of two confidences: a conclusion is never surer than its premises."""
    return min(one, other, key=CONFIDENCES.index)


MAX_EVIDENCE = 8
"""Pieces of evidence a finding quotes."""
MAX_QUOTE = 600
"""Maximum length of the raw text that a piece of evidence quotes, in characters."""


def shortened(text: str, most: int) -> str:
    """The text; if it is longer, its first characters and `…`."""
    return text if len(text) <= most else f"{text[:most]}…"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A place in the evidence and the text found there."""

    source: str
    line: int | None
    byte: int | None
    text: str

    @classmethod
    def of(cls, event: Event) -> Evidence:
        text = (event.text or _rendered(event)).rstrip("\n")
        return cls(event.source, event.line, event.byte, text[:MAX_QUOTE])

    @property
    def shown(self) -> str:
        """The text, with `…` if it was cut."""
        return shortened(self.text, MAX_QUOTE - 1)

    def row(self) -> dict[str, Any]:
        return {"source": self.source, "line": self.line, "byte": self.byte, "text": self.text}


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
class Held:
    """Lost records that a collected file contains, all of one leader epoch (-1: of a format without epochs)."""

    source: str
    byte: int | None
    """Byte at which the list of batches begins that contains the first of them."""
    broker: int | None
    leader_epoch: int
    offsets: Range


@dataclass(frozen=True, slots=True)
class Producer:
    """A producer that sent some of the lost records that a disk still contains."""

    id: int | None
    """Producer id of an idempotent or transactional producer; None for all others together."""
    records: int
    bytes: int
    first: datetime | None
    """From the timestamps of the batches."""
    last: datetime | None
    transactional_id: str | None = None
    state: str | None = None
    """State of its transaction in the last record of __transaction_state."""
    epoch: int | None = None
    """The latest producer epoch in its batches."""
    first_sequence: int | None = None
    last_sequence: int | None = None
    """Sequence numbers of its first and last record. Each epoch begins at 0 again, and the number after the largest one is 0."""
    codecs: tuple[str, ...] = ()

    def row(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__} | {"codecs": list(self.codecs)}

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Producer:
        return cls(**{**row, "codecs": tuple(row["codecs"] or ())})


@dataclass(frozen=True, slots=True)
class DifferingCopies:
    """Files with different records at the same offsets and in the same leader epoch, all with valid checksums: at most one has the lost
    records."""

    leader_epoch: int
    offsets: Range
    sources: tuple[str, ...]

    def row(self) -> dict[str, Any]:
        return {"leader_epoch": self.leader_epoch, "offsets": self.offsets.row(), "sources": list(self.sources)}


@dataclass(frozen=True, slots=True)
class Salvageable:
    """The lost records that the collected disks still contain (forensics.model.partition.salvageable)."""

    held: tuple[Held, ...] = ()
    """In the order of offsets, each offset once."""
    missing: tuple[Range, ...] = ()
    """Lost offsets that no collected file contains."""
    certain: bool = True
    """The leader epochs prove that these are the lost records, and not other records at the same offsets."""
    elsewhere: Message | None = None
    """Where the missing records might be."""
    producers: tuple[Producer, ...] = ()
    """The producers of the held records, the one with most records first."""
    differing: tuple[DifferingCopies, ...] = ()
    """Offsets of which the collected files have different copies."""

    def row(self) -> dict[str, Any]:
        return {
            "held": [
                {"source": h.source, "byte": h.byte, "broker": h.broker, "leader_epoch": h.leader_epoch, "offsets": h.offsets.row()}
                for h in self.held
            ],
            "missing": [r.row() for r in self.missing],
            "certain": self.certain,
            "elsewhere": packed(self.elsewhere) if self.elsewhere is not None else None,
            "producers": [p.row() for p in self.producers],
            "differing": [d.row() for d in self.differing],
        }

    @classmethod
    def of(cls, row: Mapping[str, Any] | None) -> Salvageable | None:
        if row is None:
            return None
        held = tuple(Held(**{**h, "offsets": Range(**h["offsets"])}) for h in row["held"] or ())
        producers = tuple(map(Producer.of, row["producers"] or ()))
        differing = tuple(
            DifferingCopies(d["leader_epoch"], Range(**d["offsets"]), tuple(d["sources"])) for d in row.get("differing") or ()
        )
        elsewhere = unpacked(row["elsewhere"]) if row["elsewhere"] is not None else None
        assert elsewhere is None or isinstance(elsewhere, Message)
        return cls(held, tuple(Range(**r) for r in row["missing"] or ()), row["certain"], elsewhere, producers, differing)


@dataclass(frozen=True, slots=True)
class ClientOfGroup:
    """A member of a consumer group to which the group had assigned the partition."""

    client_id: str
    host: str | None


@dataclass(frozen=True, slots=True)
class Client:
    """The effect of a loss on a consumer group (forensics.proof.readers)."""

    group: str
    outcome: str
    """'skips' or 'skipped': the group does not get the records that were written again below its commit; 'reset': its commit is beyond the
    end of the log; 'returns': its commit names its leader epoch, by which its consumers detect that the log was cut; 'went-back': it did;
    'untouched'; 'unknown': it reads the partition, and its position is not in the collected evidence."""
    committed: int | None
    """Its position when the records were lost; for a share group the start of its share-partition. None if unknown."""
    leader_epoch: int | None
    at: datetime | None
    had_read: Range | None
    """Lost offsets below a commit of it: it probably had read them."""
    skipped: Range | None
    """Offsets that were written again, or will be, and that the group does not get."""
    protocol: str | None = None
    """'classic', 'consumer' (KIP-848) or 'share' (KIP-932); None if unknown."""
    out_of_order: int | None = None
    """Offsets above `committed` that a share group had also finished."""
    members: tuple[ClientOfGroup, ...] = ()
    """Members that had the partition, the last first, from coordinators' records and the tool's output."""

    def row(self) -> dict[str, Any]:
        ranges = {name: r.row() if (r := getattr(self, name)) is not None else None for name in ("had_read", "skipped")}
        members = [{"client_id": m.client_id, "host": m.host} for m in self.members]
        return {name: getattr(self, name) for name in self.__slots__} | ranges | {"members": members}

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Client:
        ranges = {name: Range(**row[name]) if row[name] is not None else None for name in ("had_read", "skipped")}
        return cls(**{**row, **ranges, "members": tuple(ClientOfGroup(**m) for m in row["members"] or ())})


@dataclass(frozen=True, slots=True)
class Written:
    """The span of time in which records were appended; None: unknown."""

    since: datetime | None
    until: datetime | None

    def row(self) -> dict[str, datetime | None]:
        return {"from": self.since, "until": self.until}

    @classmethod
    def of(cls, row: Mapping[str, Any] | None) -> Written | None:
        return cls(row["from"], row["until"]) if row is not None else None


PLAIN_LOG, COMPACTED, TRANSACTIONAL, UNKNOWN_LOG = "plain", "compacted", "transactional", "unknown"


@dataclass(frozen=True, slots=True)
class Records:
    """How many records a range of offsets has. In a compacted log some offsets have no record any more; in a log with transactions some are
    of their markers."""

    count: int | None
    """None: at most as many as there are offsets."""
    log: str
    """'plain' (each offset is a record), 'compacted', 'transactional', or 'unknown' (the settings of the topic are not in the evidence)."""

    def row(self) -> dict[str, Any]:
        return {"count": self.count, "log": self.log}

    @classmethod
    def of(cls, row: Mapping[str, Any] | None) -> Records | None:
        return cls(row["count"], row["log"]) if row is not None else None


@dataclass(frozen=True, slots=True)
class Place:
    """A partition that an event affected, and what happened there."""

    topic: str | None
    partition: int | None
    leader_epoch: int | None
    start: datetime | None
    end: datetime | None
    offsets: tuple[Range, ...]
    committed: bool | None
    brokers: tuple[int, ...] = ()
    times: int = 1
    """Number of times; if more than one, the span is from the first start to the last end."""
    salvageable: Salvageable | None = None
    clients: tuple[Client, ...] = ()
    written: Written | None = None
    records: Records | None = None

    @property
    def name(self) -> str:
        """Name of the partition; of the topic, if it is about all of it."""
        return f"{self.topic}-{self.partition}" if self.partition is not None else f"{self.topic}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The statement of a finding, without its words and evidence. Findings are compared, ordered and folded by it."""

    kind: str
    severity: str
    confidence: str
    topic: str | None = None
    partition: int | None = None
    brokers: tuple[int, ...] = ()
    leader_epoch: int | None = None
    start: datetime | None = None
    """When it began; if `start_latest` is given, the earliest time at which it can have begun."""
    start_latest: datetime | None = None
    """The latest time at which it can have begun. None: it began at `start`."""
    end: datetime | None = None
    offsets: tuple[Range, ...] = ()
    committed: bool | None = None
    cause: str | None = None
    loss: bool = False
    """It says that records are lost, whether they were read before or not."""
    cluster: int = 0
    """The cluster it is about, among those that used these brokers: 0 is the one at the end, -1 the one before, as in
    forensics.model.cluster.facts.Cluster."""
    places: tuple[Place, ...] = ()
    """What one event did to many partitions (forensics.incidents.folding); `topic` and `partition` are None then."""
    still_on: tuple[int, ...] = ()
    """Brokers whose disks still contain the lost records."""
    salvageable: Salvageable | None = None
    """The lost records that the collected disks still contain. None if the finding is not a loss, or if `places` have it."""
    clients: tuple[Client, ...] = ()
    """The effect of a loss on consumer groups. Empty if the finding is not a loss, or if `places` have it."""
    written: Written | None = None
    """When the lost records were written. None if the finding is not a loss, or if `places` have it."""
    records: Records | None = None
    """How many records the lost offsets have. None if the finding is not a loss, or if `places` have it."""
    incident: str | None = None
    """Id of the incident it belongs to (forensics.incidents.incidents)."""

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        raise NotImplementedError

    @property
    def whole(self) -> Finding:
        """The whole finding, with its words and its evidence."""
        raise NotImplementedError

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
        )

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
            *([[(p.topic, p.partition) for p in self.places]] if self.places else []),
            *([self.groups] if self.groups and not self.loss else []),
        ]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:12]


PLACES, BROKERS, SEVERAL, AGAIN, ALIKE = "places", "brokers", "several", "again", "alike"
PARTITIONS, SUBJECTS = "partitions", "subjects"
"""Values of every finding: the names of its partitions, and the first broker, of several findings of each."""
_NAMED_IN_SENTENCES = ("brokers", "topic", "partition", "leader_epoch", "start", "end", "offsets", "committed", "cause", "confidence")
ALL_STATE = frozenset({"place", PARTITIONS, "client_partitions", "began", SUBJECTS, *_NAMED_IN_SENTENCES})
"""Values that several findings state together as one does: of all, not of the first."""
OF_STEPS = "of_steps"
"""Value of findings of one event whose steps differ: the messages with these steps, each with its partitions."""


@dataclass(frozen=True, slots=True)
class Fold:
    """One step in which several findings became one (forensics.incidents.folding): how, and what their sentences need."""

    how: str
    values: Values = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Statement):
    """`message` and `values` are what its sentences are made of (forensics.words)."""

    message: str = "found"
    """Name of its message among those of its kind, or the id of another one."""
    values: Values = ()
    folds: tuple[Fold, ...] = ()
    """How it was made of several findings, from the first to the last step."""
    evidence: tuple[Evidence, ...]

    @property
    def whole(self) -> Finding:
        return self

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
    def known(self) -> dict[str, Value]:
        """All values that its sentences can name; of several findings, those of the first."""
        return dict(self.values) if self.folds else self.stated | dict(self.values)

    @property
    def named(self) -> dict[str, Any]:
        """Its own values as objects of JSON, with what became of them when it was folded."""
        return by_name(self.values) | by_name(tuple(item for fold in self.folds for item in fold.values))

    @property
    def message_id(self) -> str:
        return self.message if "/" in self.message else f"{self.kind}/{self.message}"

    @property
    def said(self) -> Message:
        """The finding as a part of another one's sentence."""
        return Message(self.message_id, tuple(self.known.items()))

    def doubted(self, why: Message) -> Finding:
        """At most possible, for this reason."""
        severity = min(self.severity, "medium", key=LEVELS.index)
        return replace(self, confidence="possible", severity=severity, values=(*self.values, ("doubt", why)))

    def of_partition(self, topic: str, partition: int) -> Finding:
        """The same finding for this partition. Nearly every finding passes here, and `replace` takes five times as long."""
        found = object.__new__(Finding)
        for put, value in zip(_PUT, _values(self), strict=True):
            put(found, value)
        object.__setattr__(found, "topic", topic)
        object.__setattr__(found, "partition", partition)
        return found

    def row(self) -> dict[str, Any]:
        """The finding as a row of FINDING."""
        return {
            "kind": self.kind,
            "severity": self.severity,
            "confidence": self.confidence,
            "topic": self.topic,
            "partition": self.partition,
            "brokers": list(self.brokers),
            "leader_epoch": self.leader_epoch,
            "start": self.start,
            "start_latest": self.start_latest,
            "end": self.end,
            "offsets": [r.row() for r in self.offsets],
            "committed": self.committed,
            "cause": self.cause,
            "loss": self.loss,
            "message": self.message,
            "values": encoded(self.values),
            "cluster": self.cluster,
            "still_on": list(self.still_on),
            "salvageable": self.salvageable.row() if self.salvageable is not None else None,
            "clients": [c.row() for c in self.clients] or None,
            "written": self.written.row() if self.written is not None else None,
            "records": self.records.row() if self.records is not None else None,
            "evidence": [e.row() for e in self.evidence],
        }

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Finding:
        return cls(
            **{
                **row,
                "brokers": tuple(row["brokers"] or ()),
                "offsets": tuple(Range(r["start"], r["end"]) for r in row["offsets"] or ()),
                "values": decoded(row["values"]),
                "still_on": tuple(row["still_on"] or ()),
                "salvageable": Salvageable.of(row["salvageable"]),
                "clients": tuple(map(Client.of, row["clients"] or ())),
                "written": Written.of(row["written"]),
                "records": Records.of(row["records"]),
                "evidence": tuple(Evidence(**e) for e in row["evidence"] or ()),
            }
        )


_FIELDS = tuple(f.name for f in fields(Finding))
_values, _PUT = attrgetter(*_FIELDS), tuple(getattr(Finding, name).__set__ for name in _FIELDS)
_RANGE = pa.struct([("start", pa.int64()), ("end", pa.int64())])
SALVAGEABLE = pa.struct(
    [
        (
            "held",
            pa.list_(
                pa.struct(
                    [
                        ("source", pa.string()),
                        ("byte", pa.int64()),
                        ("broker", pa.int32()),
                        ("leader_epoch", pa.int32()),
                        ("offsets", _RANGE),
                    ]
                )
            ),
        ),
        ("missing", pa.list_(_RANGE)),
        ("certain", pa.bool_()),
        ("elsewhere", pa.string()),
        (
            "producers",
            pa.list_(
                pa.struct(
                    [
                        ("id", pa.int64()),
                        ("records", pa.int64()),
                        ("bytes", pa.int64()),
                        ("first", pa.timestamp("us")),
                        ("last", pa.timestamp("us")),
                        ("transactional_id", pa.string()),
                        ("state", pa.string()),
                        ("epoch", pa.int32()),
                        ("first_sequence", pa.int64()),
                        ("last_sequence", pa.int64()),
                        ("codecs", pa.list_(pa.string())),
                    ]
                )
            ),
        ),
        ("differing", pa.list_(pa.struct([("leader_epoch", pa.int32()), ("offsets", _RANGE), ("sources", pa.list_(pa.string()))]))),
    ]
)
CLIENTS = pa.list_(
    pa.struct(
        [
            ("group", pa.string()),
            ("outcome", pa.string()),
            ("committed", pa.int64()),
            ("leader_epoch", pa.int32()),
            ("at", pa.timestamp("us")),
            ("had_read", _RANGE),
            ("skipped", _RANGE),
            ("protocol", pa.string()),
            ("out_of_order", pa.int64()),
            ("members", pa.list_(pa.struct([("client_id", pa.string()), ("host", pa.string())]))),
        ]
    )
)
WRITTEN = pa.struct([("from", pa.timestamp("us")), ("until", pa.timestamp("us"))])
RECORDS = pa.struct([("count", pa.int64()), ("log", pa.string())])
FOLDS = pa.list_(pa.struct([("how", pa.string()), ("values", pa.string())]))
EVIDENCE = pa.struct([("source", pa.string()), ("line", pa.int64()), ("byte", pa.int64()), ("text", pa.string())])

FINDING = pa.struct(
    [
        ("kind", pa.string()),
        ("severity", pa.string()),
        ("confidence", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("brokers", pa.list_(pa.int32())),
        ("leader_epoch", pa.int32()),
        ("start", pa.timestamp("us")),
        ("start_latest", pa.timestamp("us")),
        ("end", pa.timestamp("us")),
        ("offsets", pa.list_(_RANGE)),
        ("committed", pa.bool_()),
        ("cause", pa.string()),
        ("loss", pa.bool_()),
        ("message", pa.string()),
        ("values", pa.string()),
        ("cluster", pa.int32()),
        ("still_on", pa.list_(pa.int32())),
        ("salvageable", SALVAGEABLE),
        ("clients", CLIENTS),
        ("written", WRITTEN),
        ("records", RECORDS),
        ("evidence", pa.list_(EVIDENCE)),
    ]
)


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
    benign: tuple[str, ...] = ()
    """Causes that are not failures, and how to recognise them."""
    next_steps: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    partition: PartitionJudge | None = None
    """A finding that names no topic belongs to the partition in which it was found (forensics.incidents.judging)."""
    cluster: ClusterJudge | None = None
    after_rules: Hindsight | None = None
    """Runs after the other rules, because it judges by their findings, given by kind."""
    facts: tuple[Fact, ...] = ()
    many: Aggregation | None = None
    """For one event that affected several partitions or several brokers. None: each is reported on its own."""
    root: str | None = None
    """If its findings can be the cause of others: the id of the phrase that says what happened to a broker, as a sentence continues after the
    name of the broker."""
    plan: bool = False
    """Its findings explain the clean stops of their brokers at that time: one incident, which their summary describes."""
    root_causes: frozenset[str] = frozenset()
    """Causes for which its findings are root causes; empty: any cause."""
    rests_on: tuple[str, ...] = ()
    """Premises of its findings besides the lines that they quote: 'order' (of the lines of a broker), 'time' (between lines of different
    brokers), 'silence' (a log would show it, and does not)."""
    casts_doubt: str | None = None
    """The severity from which its findings contradict the verdict that a partition is intact."""
    refuted: Callable[[Finding, PartitionTimeline], bool] | None = None
    """Whether a finding casts no doubt on the partition after all."""
    purpose: Purpose | None = None
    records_gone: bool = False
    """Its findings mean that records are gone, or may be."""
    with_leadership: bool = False
    """It occurs when leadership returns to a broker."""
    of_first_broker: bool = False
    """It happened to its first broker; the other brokers of a finding noticed it."""
    explains: tuple[str, ...] = ()
    """Causes that findings name, and that its findings explain, besides its own kind."""
    impact: Impact | None = None
    now: Lasting | None = None
    """Clients cannot use what its findings name, as the phrases `now` and `title` say."""
    of_metadata_log: bool = False
    """It is found in the partition of the metadata log, which has no ISR, and no leader that the other rules could judge."""
    of_last_cluster: bool = False
    """Judges the whole evidence, or the state at its end, and not each cluster that used these brokers."""
    urgency: Urgency = Urgency.BROKEN
    """Urgency of its findings that are not minor, until they are over; LOST: also afterwards, except records that were never committed."""

    @property
    def rests_on_lines(self) -> bool:
        """Its findings rest on the order or the times of lines."""
        return not {"order", "time"}.isdisjoint(self.rests_on)


def union(group: Iterable[Statement], name: str) -> tuple[Value, ...]:
    """The elements of this value of all findings, each once."""
    lists = (dict(f.whole.values).get(name) or () for f in group)
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


def offsets_in(lost: Iterable[tuple[Statement, Place]]) -> int:
    """The number of offsets known to be lost. Offsets that several replicas had brought from an earlier partition of this name count
    once."""
    count = 0
    brought: dict[str, list[Range]] = defaultdict(list)
    for f, p in lost:
        if f.cause == "inherited-log":
            brought[p.name].extend(p.offsets)
        else:
            count += sum(r.length or 0 for r in p.offsets)
    for ranges in brought.values():
        counted_to = 0
        for r in sorted(ranges, key=lambda r: r.start):
            end = r.end or r.start
            count += max(end - max(r.start, counted_to), 0)
            counted_to = max(counted_to, end)
    return count
