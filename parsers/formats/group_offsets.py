"""Offsets that consumer groups committed: records of `__consumer_offsets`, an internal topic whose records Kafka defines.

Here: keys and values of offset commits in all versions, tombstones, transactions that committed or not; only those commits of a group that
show its progress. Not here: batch frames (parsers.decoding.batches), bodies (parsers.decoding.bodies), groups' members
(parsers.decoding.group_members), share groups, whose offsets are in another topic (parsers.formats.share_states), or the relation of the
offsets to a loss.

Source: OffsetCommitKey, OffsetCommitValue (versions 0 to 4), CoordinatorRecordType and GroupMetadataManager.loadGroupsAndOffsets of Apache
Kafka.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from parsers.decoding.batches import Batch
from parsers.decoding.bodies import BatchRecord, UnreadableBatch, marked, records
from parsers.decoding.encoding import Fields, Malformed
from parsers.decoding.group_members import Members
from parsers.formats import segments
from parsers.formats.file_kind import FileKind
from parsers.schemas import Member, Row, moment, problem

TOPIC = "__consumer_offsets"
MAX_PAYLOAD = 32 << 20
"""Largest batch read, and its largest decompressed size in bytes: a coordinator writes one batch for each request."""
MAX_KEYS = 200_000
"""Partitions of groups remembered at a time."""
MAX_KEPT = 64
"""Commits of one group to one partition that are reported per file; a group commits every few seconds, for years."""
MAX_HELD = 100_000
"""Commits that wait for the end of their transactions."""
LARGEST_VERSION = 4

_OFFSET_COMMITS = range(2)
"""Key versions, which are types of records; higher ones belong to groups, their members and assignments."""

Key = tuple[str, str, int]
"""Group, topic (or its id), partition."""


@dataclass(frozen=True, slots=True)
class Commit:
    offset: int | None
    """None: the commit was deleted, or expired."""
    leader_epoch: int
    """Leader epoch of the last record that was read, -1 if the client does not send one (KIP-320, 2.1)."""
    timestamp: int
    byte: int
    count: int | None = None
    """For a share group: acknowledged offsets above this one."""


@dataclass(slots=True)
class _History:
    """Relevant commits to one partition: those where the offset went back, the epoch changed, or progress stopped, and the last one."""

    kept: list[Commit] = field(default_factory=list)
    last: Commit | None = None

    def add(self, commit: Commit) -> None:
        last = self.last
        if last is not None and self.kept[-1] is not last and _turns(last, commit):
            self.kept.append(last)
        if last is None or (_turns(last, commit) and commit.offset != last.offset):
            self.kept.append(commit)
        self.last = (
            commit
            if last is None or (commit.offset, commit.leader_epoch, commit.count) != (last.offset, last.leader_epoch, last.count)
            else last
        )
        if len(self.kept) > MAX_KEPT:
            del self.kept[1]

    def commits(self) -> Iterator[Commit]:
        yield from self.kept
        if self.last is not None and self.kept[-1] is not self.last:
            yield self.last


def _turns(last: Commit, commit: Commit) -> bool:
    """The commit is more than normal progress."""
    if commit.offset is None or last.offset is None:
        return True
    return commit.offset <= last.offset or commit.leader_epoch != last.leader_epoch


def read_segment(stream: BinaryIO, member: Member) -> Iterator[Row]:
    """The rows of any segment, plus its `group-commit` and `group-member` events."""
    commits = _Commits()
    yield from segments.read_segment(stream, member, payload=MAX_PAYLOAD, look=commits.add)
    yield from commits.histories.rows()
    yield from commits.members.rows()


class Histories:
    """The progress of the groups in one file, and read problems."""

    def __init__(self, pattern: str, *, named_by: str = "topic") -> None:
        self._pattern, self._named_by = pattern, named_by
        self._histories: dict[Key, _History] = {}
        self._problems: dict[str, int] = {}

    def note(self, key: Key, commit: Commit) -> None:
        history = self._histories.get(key)
        if history is None:
            if len(self._histories) >= MAX_KEYS:
                self.wrong("more partitions of groups than are remembered, and the commits to the others are left out")
                return
            history = self._histories[key] = _History()
        history.add(commit)

    def wrong(self, text: str) -> None:
        if text in self._problems or len(self._problems) < 20:
            self._problems[text] = self._problems.get(text, 0) + 1

    def rows(self) -> Iterator[Row]:
        for (group, topic, partition), history in self._histories.items():
            for commit in history.commits():
                at = moment(commit.timestamp)
                yield {
                    "event": "group-commit",
                    "pattern": self._pattern,
                    "byte": commit.byte,
                    self._named_by: topic,
                    "partition": partition,
                    "value": group,
                    "offset": commit.offset,
                    "leader_epoch": commit.leader_epoch if commit.leader_epoch >= 0 else None,
                    "count": commit.count,
                    "reason": None if commit.offset is not None else "deleted",
                    "time": at,
                    "clock": "batch" if at is not None else None,
                }
        for text, count in self._problems.items():
            yield problem(self._pattern, text if count == 1 else f"{text} ({count} times)")


class _Commits:
    def __init__(self) -> None:
        self.histories = Histories("group-offsets")
        self.members = Members()
        self._held: dict[int, list[tuple[Key, Commit]]] = defaultdict(list)
        self._holding = 0

    def add(self, batch: Batch) -> None:
        try:
            for record in records(batch, MAX_PAYLOAD):
                if batch.control:
                    self._end(batch.producer_id, marked(record))
                else:
                    self._record(batch, record)
        except (Malformed, UnreadableBatch) as fault:
            self.histories.wrong(f"records of a batch: {fault}")

    def _record(self, batch: Batch, record: BatchRecord) -> None:
        kind: int | None = None
        try:
            key = Fields(record.key or b"")
            kind = key.int16()
            if kind not in _OFFSET_COMMITS:
                self.members.add(kind, key, record, batch.position)
                return
            commit = _commit(batch, key, record)
        except Malformed as fault:
            self.histories.wrong(f"{'an offset commit' if kind in _OFFSET_COMMITS else 'a record of a group'}: {fault}")
            return
        if batch.transactional:
            self._hold(batch.producer_id, commit)
        else:
            self.histories.note(*commit)

    def _hold(self, producer: int, commit: tuple[Key, Commit]) -> None:
        """Offsets that a producer sends in a transaction count once that is committed."""
        if self._holding >= MAX_HELD:
            self.histories.wrong("too many offsets wait for the end of a transaction, and are left out")
            return
        self._holding += 1
        self._held[producer].append(commit)

    def _end(self, producer: int, kind: str | None) -> None:
        held = self._held.pop(producer, [])
        self._holding -= len(held)
        for key, commit in held if kind == "commit" else ():
            self.histories.note(key, commit)


def _commit(batch: Batch, key: Fields, record: BatchRecord) -> tuple[Key, Commit]:
    group, topic, partition = key.short_string(), key.short_string(), key.int32()
    if partition < 0 or not topic:
        raise Malformed("a partition that cannot be")
    if record.value is None:
        return (group, topic, partition), Commit(None, -1, record.timestamp, batch.position)
    value = Fields(record.value)
    version = value.int16()
    if not 0 <= version <= LARGEST_VERSION:
        raise Malformed("an unknown version")
    offset = value.int64()
    epoch = value.int32() if version >= 3 else -1
    value.string() if version >= 4 else value.short_string()
    return (group, topic, partition), Commit(max(offset, 0), epoch, value.int64(), batch.position)


FORMATS = (
    FileKind("segment", f"segments of {TOPIC}", read_segment, segments.EVENTS | {"group-commit", "group-member"}, topic=TOPIC, binary=True),
)
