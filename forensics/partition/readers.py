"""What a loss does to consumer groups: who had read what is gone, and who is not given what is written in its place.

Here: where each group stood when the records went, by what it committed, and what follows when it goes on from there. Not here: the loss
(loss), or how a commit is read (parsers.group_offsets). A commit at offset O says that all below O was read (OffsetCommitRequest).

A consumer goes on at its commit, whatever stands there now. Where that lies beyond the log's end the broker refuses, and auto.offset.reset
decides (OffsetOutOfRangeException). Consumers that commit leader epochs ask where that epoch ended before they go on, and return to where
the logs part (KIP-320; SubscriptionState.maybeCompleteValidation, 2.3).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from forensics.model import Client, Range
from forensics.partition.loss import Loss
from spark.events import Event
from spark.partition.timeline import PartitionTimeline

UNTOUCHED, SKIPS, SKIPPED, RESET, RETURNS, WENT_BACK = "untouched", "skips", "skipped", "reset", "returns", "went-back"
NAMES_GROUPS = "groups-output"
"""Output of kafka-consumer-groups, which says of a commit neither when it was made nor, mostly, its leader epoch."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A group, and the commits that say how it stands."""

    client: Client
    evidence: tuple[Event, ...]


def readers(loss: Loss, timeline: PartitionTimeline) -> list[Reader]:
    """Groups with commits to the partition from before the loss, by name. What was never committed nobody can have read."""
    if loss.committed is False:
        return []
    by_group: dict[str, list[Event]] = defaultdict(list)
    for commit in timeline.commits:
        if commit.value:
            by_group[commit.value].append(commit)
    found = (_reader(group, _in_order(own), loss, timeline) for group, own in sorted(by_group.items()))
    return [reader for reader in found if reader is not None]


def _in_order(commits: Sequence[Event]) -> list[Event]:
    """Each once, for every replica of __consumer_offsets holds it; one that only the tool's output tells counts where it says something new."""
    once = {(c.at, c.offset, c.leader_epoch): c for c in commits if c.pattern != NAMES_GROUPS}
    told = sorted(once.values(), key=lambda c: (c.at or datetime.min, c.offset if c.offset is not None else -1))
    shown = [c for c in commits if c.pattern == NAMES_GROUPS and not (told and told[-1].offset == c.offset)]
    return sorted([*told, *shown], key=lambda c: c.at or datetime.min)


def _reader(group: str, commits: Sequence[Event], loss: Loss, timeline: PartitionTimeline) -> Reader | None:
    before = [c for c in commits if _earlier(c, loss, timeline)]
    after = [c for c in commits if c not in before]
    if not before or before[-1].offset is None:
        return None
    stood = before[-1]
    position, start = stood.offset or 0, loss.range.start
    top = max(c.offset or 0 for c in before)
    ends = [e for e in (top, loss.range.end) if e is not None]
    had_read = Range(start, min(ends)) if top > start else None
    outcome = _outcome(stood, position, after, loss, timeline)
    skipped = Range(start, position) if outcome in (SKIPS, SKIPPED) else None
    client = Client(group, outcome, position, stood.leader_epoch, stood.at, had_read, skipped)
    return Reader(client, (stood, *after[:1]))


def _earlier(commit: Event, loss: Loss, timeline: PartitionTimeline) -> bool:
    """It was made before the records went: its leader epoch says so, else its time; or it lies where the log has not come to since."""
    if commit.leader_epoch is not None:
        return commit.leader_epoch < loss.term.epoch
    if commit.offset is not None and commit.offset > loss.reached and not loss.at_least and loss.range.end is not None:
        return False  # the log had not come so far
    if commit.at is None or loss.term.at is None or commit.at <= loss.term.at:
        return True
    end = log_end(timeline) if commit.pattern == NAMES_GROUPS else None
    return end is not None and (commit.offset or 0) > end


def _outcome(stood: Event, position: int, after: Sequence[Event], loss: Loss, timeline: PartitionTimeline) -> str:
    if position <= loss.range.start:
        return UNTOUCHED
    later = [c.offset for c in after if c.offset is not None]
    if later:
        return SKIPPED if min(later) >= position else WENT_BACK
    if stood.leader_epoch is not None:
        return RETURNS
    end = log_end(timeline)
    return RESET if end is not None and position > end else SKIPS


def log_end(timeline: PartitionTimeline) -> int | None:
    """Where the partition's log ends when the evidence does, as far as it tells."""
    leader = timeline.standing.leader
    if leader is None:
        return None
    if (disk := timeline.disks.get(leader)) is not None and disk.log_end_offset is not None:
        return disk.log_end_offset
    replica = timeline.replicas.get(leader)
    return replica.log_end_offset if replica is not None and replica.ends_there else None
