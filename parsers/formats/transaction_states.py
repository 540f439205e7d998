"""States of transactions: records of `__transaction_state`, an internal topic whose records Kafka defines.

Here: the producer ids of a transactional id, the partitions of its transactions, and the last state of each. Not here: batch frames
(parsers.decoding.batches), bodies (parsers.decoding.bodies), or the relation to a loss.

Source: TransactionLogKey, TransactionLogValue (versions 0 and 1) and TransactionState of Apache Kafka.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from parsers.decoding.batches import Batch
from parsers.decoding.bodies import BatchRecord, UnreadableBatch, records
from parsers.decoding.encoding import Fields, Malformed
from parsers.formats import segments
from parsers.formats.file_kind import FileKind
from parsers.schemas import Member, Row, moment, problem

TOPIC = "__transaction_state"
MAX_PAYLOAD = 32 << 20
MAX_KEYS = 100_000
"""Producers remembered at a time."""
MAX_PARTITIONS = 1_000
"""Transactions kept per producer."""
STATES = ("Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence")

_Partition = tuple[str, int]


@dataclass(slots=True)
class _Transactions:
    """Transactions of one transactional id with one of its producer ids."""

    partitions: dict[_Partition, None] = field(default_factory=dict)
    state: str = ""
    updated: int = -1
    byte: int = 0


def read_segment(stream: BinaryIO, member: Member) -> Iterator[Row]:
    """The rows of any segment, plus its `transaction-state` events."""
    states = _States()
    yield from segments.read_segment(stream, member, payload=MAX_PAYLOAD, look=states.add)
    yield from states.rows()


class _States:
    def __init__(self) -> None:
        self._found: dict[tuple[str, int], _Transactions] = {}
        self._problems: dict[str, int] = {}

    def add(self, batch: Batch) -> None:
        if batch.control:
            return
        try:
            for record in records(batch, MAX_PAYLOAD):
                if record.value is not None:
                    self._record(batch, record, Fields(record.value))
        except (Malformed, UnreadableBatch) as fault:
            text = f"records of a batch: {fault}"
            if text in self._problems or len(self._problems) < 20:
                self._problems[text] = self._problems.get(text, 0) + 1

    def _record(self, batch: Batch, record: BatchRecord, value: Fields) -> None:
        key = Fields(record.key or b"")
        if key.int16() != 0:
            return
        name, version = key.short_string(), value.int16()
        if version not in (0, 1):
            raise Malformed("a version that is not known")
        producer, _, _, status = value.int64(), value.int16(), value.int32(), value.int8()
        partitions = list(_partitions(value, flexible=version == 1))
        updated = value.int64()
        if (name, producer) not in self._found and len(self._found) >= MAX_KEYS:
            raise Malformed("more producers than are remembered, and the others are left out")
        transactions = self._found.setdefault((name, producer), _Transactions())
        transactions.partitions |= dict.fromkeys(partitions[: MAX_PARTITIONS - len(transactions.partitions)])
        transactions.state = STATES[status] if 0 <= status < len(STATES) else f"unknown-{status}"
        transactions.updated, transactions.byte = updated, batch.position

    def rows(self) -> Iterator[Row]:
        for (name, producer), transactions in self._found.items():
            at = moment(transactions.updated)
            for topic, partition in transactions.partitions:
                yield {
                    "event": "transaction-state",
                    "pattern": "transaction-states",
                    "byte": transactions.byte,
                    "topic": topic,
                    "partition": partition,
                    "value": name,
                    "count": producer,
                    "reason": transactions.state,
                    "time": at,
                    "clock": "batch" if at is not None else None,
                }
        for text, count in self._problems.items():
            yield problem("transaction-states", text if count == 1 else f"{text} ({count} times)")


def _partitions(value: Fields, *, flexible: bool) -> Iterator[_Partition]:
    """Every element takes bytes, so a wrong count ends with the data."""
    for _ in range(_length(value, flexible)):
        topic = value.string() if flexible else value.short_string()
        for _ in range(_length(value, flexible)):
            partition = value.int32()
            if partition < 0 or not topic:
                raise Malformed("a partition that cannot be")
            yield topic, partition
        if flexible:
            value.tagged()


def _length(value: Fields, flexible: bool) -> int:
    """Null is read as empty."""
    return value.unsigned_varint() - 1 if flexible else value.int32()


FORMATS = (FileKind("segment", f"segments of {TOPIC}", read_segment, segments.EVENTS | {"transaction-state"}, topic=TOPIC, binary=True),)
