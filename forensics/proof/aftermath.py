"""The effect of a loss: how many offsets, which disk still contains them, which groups had committed beyond them, and which groups do
not get the records written in their place.

Here: the position of each group when the records were lost, by its commits, what happens when it goes on from there, and its members; and
what the timeline, incidents and findings print with each loss, as messages. Not here: the loss (losses), which records a disk still contains
(forensics.model.partition.salvageable), what to do, or how a commit is read (parsers.formats.group_offsets, parsers.formats.share_states).
A commit at offset O does not prove that the offsets below O were read: a group may begin at the end of the log (auto.offset.reset=latest), be
reset, or get the commits of another cluster (MirrorMaker 2).

A consumer goes on at its commit, whatever record is there now. If the commit is beyond the log's end, the broker refuses, and
auto.offset.reset decides (OffsetOutOfRangeException). Consumers that commit leader epochs ask where that epoch ended before they go on, and
return to where the logs diverge (KIP-320; SubscriptionState.maybeCompleteValidation, 2.3).

The share-partition of a share group goes on at its start offset, whatever record is there now: its leader does not check epochs. If the
start is beyond the log's end, it delivers nothing until the log has reached it (SharePartition.updateCacheAndOffsets only moves it
forward).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from forensics.model.events import Event
from forensics.model.findings import Client, ClientOfGroup, Place, Statement, disks
from forensics.model.message import Message, Range, joined, said
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.times import grouped, undated_first
from forensics.output.shell import option
from forensics.proof.losses import Loss
from forensics.thresholds import NAMED
from parsers.frozen import dataclass

UNTOUCHED, SKIPS, SKIPPED, RESET, RETURNS, WENT_BACK = "untouched", "skips", "skipped", "reset", "returns", "went-back"
UNKNOWN = "unknown"
NAMES_GROUPS = "groups-output"
"""Output of kafka-consumer-groups and kafka-share-groups, which has neither the time of a commit nor, mostly, its leader epoch."""
SHARES = "share-states"
SHARE = "share"
MOST_MEMBERS = 10
"""Maximum number of members of a group that are reported with client ids and hosts."""


@dataclass(frozen=True, slots=True)
class GroupReader:
    """A group, and the commits that show its position."""

    client: Client
    evidence: tuple[Event, ...]


def readers(loss: Loss, timeline: PartitionTimeline) -> list[GroupReader]:
    """Groups with commits of the partition before the loss, by name. Records that were never committed cannot have been read."""
    if loss.committed is False:
        return []
    commits, members = _by_group(timeline.commits), _by_group(timeline.members)
    found = []
    for group in sorted({*commits, *members}):
        own = members.get(group, [])
        reader = _reader(group, _in_order(commits[group]), loss, timeline) if group in commits else _unknown(group, own, loss)
        if reader is not None:
            found.append(replace(reader, client=_with(own, reader.client)))
    return found


def _by_group(events: Sequence[Event]) -> dict[str, list[Event]]:
    return grouped((event.value, event) for event in events if event.value)


def _with(members: Sequence[Event], client: Client) -> Client:
    """The result, with the members of the group."""
    latest = sorted(members, key=undated_first, reverse=True)
    protocol = client.protocol or next((m.reason for m in latest if m.reason), None)
    clients = dict.fromkeys(ClientOfGroup(m.key or "", m.host) for m in latest)
    return replace(client, protocol=protocol, members=tuple(clients)[:MOST_MEMBERS])


def _unknown(group: str, members: Sequence[Event], loss: Loss) -> GroupReader | None:
    """The group had the partition before the records were lost, and its commits were not collected."""
    before = [m for m in members if m.at is None or loss.term.at is None or m.at <= loss.term.at]
    if not before:
        return None
    return GroupReader(Client(group, UNKNOWN, None, None, None, None, None), (before[-1],))


def _in_order(commits: Sequence[Event]) -> list[Event]:
    """Each commit once, because every replica of the internal topic has it; commits that are only in the tool's output count if they are
    new."""
    once = {(c.at, c.offset, c.leader_epoch): c for c in commits if c.pattern != NAMES_GROUPS}
    dated = sorted(once.values(), key=lambda c: (undated_first(c), c.offset if c.offset is not None else -1))
    shown = [c for c in commits if c.pattern == NAMES_GROUPS and not (dated and dated[-1].offset == c.offset)]
    return sorted([*dated, *shown], key=undated_first)


def _reader(group: str, commits: Sequence[Event], loss: Loss, timeline: PartitionTimeline) -> GroupReader | None:
    before = [c for c in commits if _earlier(c, loss, timeline)]
    after = [c for c in commits if c not in before]
    if not before or before[-1].offset is None:
        return None
    last, position = before[-1], before[-1].offset
    share = last.pattern == SHARES or last.reason == SHARE
    outcome = _outcome_of_share(position, after, loss) if share else _outcome(last, position, after, loss, timeline)
    skipped = Range(loss.range.start, position) if outcome in (SKIPS, SKIPPED) else None
    had_read = loss.range.overlap(Range(0, max(c.offset or 0 for c in before)))  # the lost offsets below its highest commit
    client = Client(group, outcome, position, last.leader_epoch, last.at, had_read, skipped, SHARE if share else None, last.count)
    return GroupReader(client, (last, *after[:1]))


def _earlier(commit: Event, loss: Loss, timeline: PartitionTimeline) -> bool:
    """It was made before the records were lost: its leader epoch says so, else its time; or it is at an offset that the log has not reached
    since."""
    if commit.leader_epoch is not None:
        return commit.leader_epoch < loss.term.epoch
    if (commit.offset or 0) > loss.reached and not loss.open:
        return False  # the log had not reached it
    if commit.at is None or loss.term.at is None or commit.at <= loss.term.at:
        return True
    end = log_end(timeline) if commit.pattern == NAMES_GROUPS else None
    return end is not None and (commit.offset or 0) > end


def _outcome(last: Event, position: int, after: Sequence[Event], loss: Loss, timeline: PartitionTimeline) -> str:
    if position <= loss.range.start:
        return UNTOUCHED
    later = [c.offset for c in after if c.offset is not None]
    if later:
        return SKIPPED if min(later) >= position else WENT_BACK
    if last.leader_epoch is not None:
        return RETURNS
    end = log_end(timeline)
    return RESET if end is not None and position > end else SKIPS


def _outcome_of_share(position: int, after: Sequence[Event], loss: Loss) -> str:
    """Each leader of the share-partition keeps its position: only a start offset that moved shows that the group went on."""
    if position <= loss.range.start:
        return UNTOUCHED
    later = [c.offset for c in after if c.offset is not None]
    if later and min(later) < position:
        return WENT_BACK
    return SKIPPED if later and max(later) > position else SKIPS


def log_end(timeline: PartitionTimeline) -> int | None:
    """The end of the partition's log at the end of the evidence, if known."""
    leader = timeline.standing.leader
    if leader is None:
        return None
    if (disk := timeline.collected_logs.get(leader)) is not None and disk.reach is not None:
        return disk.reach if not disk.end_unknown else None
    replica = timeline.replicas.get(leader)
    return replica.log_end_offset if replica is not None and replica.ends_there else None


def reset_group(client: Client, topic: str, partition: int, offset: int, at: datetime | None) -> str:
    """Resets a group without members to an offset (0.11 and later, KIP-122), or a share group to the first record since a time (4.1 and
    later, KIP-1103): the tool for share groups cannot set offsets."""
    of = f"{option('--group', client.group)} {option('--topic', f'{topic}:{partition}')}"
    where = f"--bootstrap-server $BOOTSTRAP {of} --reset-offsets"
    if client.protocol != SHARE:
        return f"kafka-consumer-groups.sh {where} --to-offset {offset} --execute"
    to = f"--to-datetime {at.isoformat(timespec='milliseconds')}" if at is not None else "--to-earliest"
    return f"kafka-share-groups.sh {where} {to} --execute"


_GOES_ON = ("skips", "skipped", "unknown", "reset", "returns", "went-back")
"""Outcomes that are reported, the worst first."""


def aftermath(loss: Statement, place: Place) -> Message | None:
    """The effect of a loss: '158 offsets; still on broker 2's disk; group billing had committed beyond all of them'. None if only the
    number is known."""
    effects = (*_held(loss, place), *of_groups(place.clients, place))
    return said("aftermath/effects", effects=(_many(place), *effects)) if effects else None


def _many(place: Place) -> Message:
    if any(r.end is None for r in place.offsets):
        return said("aftermath/unknown-number")
    count, records = sum(r.length or 0 for r in place.offsets), place.records.count if place.records is not None else None
    at_least = any(part.at_least for part in place.parts)
    return said("aftermath/offsets", count=count, records=records if records != count else None, at_least=at_least)


def _held(loss: Statement, place: Place) -> Iterator[Message]:
    saved = place.salvageable
    if saved is None:
        return
    if not saved.held:
        yield said("aftermath/not-held")
        return
    brokers = tuple(sorted({h.broker for h in saved.held if h.broker is not None}))
    spans = tuple(h.offsets for h in saved.held) if saved.missing else ()
    yield said("aftermath/held", spans=spans, still={*brokers} <= {*disks(place.parts)[0]}, brokers=brokers)


def of_groups(clients: Sequence[Client], place: Place) -> Iterator[Message]:
    """Clauses for groups that had committed beyond lost records, or that go on at a wrong position."""
    affected = sorted((c for c in clients if c.outcome != "untouched" or c.had_read is not None), key=_badly)
    yield from (_of_group(c, place) for c in affected[:NAMED])
    if len(affected) > NAMED:
        yield said("aftermath/more-groups", count=len(affected) - NAMED)


def _of_group(client: Client, place: Place) -> Message:
    everything = (client.had_read,) == joined(part.offsets for part in place.parts) and not any(part.at_least for part in place.parts)
    return said(
        "aftermath/group",
        share=client.protocol == "share",
        group=client.group,
        everything=everything,
        had_read=client.had_read if not everything else None,
        and_then=client.had_read is not None,
        goes_on=said(f"aftermath/{client.outcome}", skipped=client.skipped) if client.outcome in _GOES_ON else None,
    )


def _badly(client: Client) -> tuple[int, str]:
    return _GOES_ON.index(client.outcome) if client.outcome in _GOES_ON else len(_GOES_ON), client.group


def sentences(lost: Iterable[tuple[Statement, Place]]) -> Iterator[Message]:
    """Sentences for the losses of most offsets, each with the name of its partition."""
    losses = [(p, effect) for f, p in lost if f.confidence != "possible" and (effect := aftermath(f, p)) is not None]
    losses.sort(key=lambda item: (-sum(r.length or 0 for r in item[0].offsets), item[0].name))
    yield from (said("aftermath/of-partition", name=p.name, effect=effect) for p, effect in losses[:NAMED])
    if len(losses) > NAMED:
        yield said("aftermath/more-partitions", count=len(losses) - NAMED)
