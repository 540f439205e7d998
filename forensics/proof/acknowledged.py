"""Whether lost records had been acknowledged to a producer.

Here: what the producers' batches say about that. Not here: which records are lost (losses), or whether they were committed, which is what
producers with acks=all wait for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from forensics.model.message import Message, Range, said
from forensics.model.partition.timeline import Term
from forensics.model.presence.availability import KILLED, Outage
from forensics.proof.transition import LeaderTransition


def excuse(part: Range, exact: bool, never_committed: bool, s: LeaderTransition) -> tuple[Message | None, bool]:
    """A clause that says why these records may not have been acknowledged to any producer, and whether that could be decided.
    min.insync.replicas is not a reason: it applies only to acks=all, and these producers get their acknowledgement when records are
    committed."""
    if _idempotent(part, s):
        return (said("handover/idempotent"), True) if never_committed else (None, False)
    again = _sent_again(part, exact, s)
    return _SAID.get(again), again in (_YES, _NO)


def _idempotent(part: Range, s: LeaderTransition) -> bool:
    """Whether the batches of all lost records are on a disk, and all have producer ids. Batches at other offsets may have other
    producers."""
    return any(
        _all_idempotent(part, [b for b in d.batches() if 0 <= b["leader_epoch"] < s.term.epoch]) for d in s.timeline.collected_logs.values()
    )


def _all_idempotent(part: Range, batches: Iterable[Mapping[str, Any]]) -> bool:
    reached = part.start
    for b in batches:
        if b["base_offset"] <= reached <= b["last_offset"] and b["producer_id"] >= 0:
            reached = b["last_offset"] + 1
    return part.end is not None and reached >= part.end


_YES, _NO, _PERHAPS, _UNKNOWN = "yes", "no", "perhaps", "unknown"
_SAID = {_YES: said("handover/sent-again"), _PERHAPS: said("handover/perhaps-sent-again")}


def _sent_again(part: Range, exact: bool, s: LeaderTransition) -> str:
    """Whether producers sent the records to the new leader again. Yes: its first batch has as many records, and was created before it led
    and before the old leader stopped accepting records. A producer that waits for its acknowledgement has one batch of a partition with a
    leader: a broker reads the next request of a connection only after it has answered the one before (SocketServer). The Java client sends
    this batch again unchanged (Sender#reenqueueBatch). librdkafka puts its messages back into the queue (rd_kafka_retry_msgq) and makes
    larger batches of them with newer ones, so batches of another size prove nothing. No: fewer records than were cut were created before
    the old leader stopped."""
    batches = _in_their_place(part, s)
    if not batches or part.end is None or s.term.at is None:
        return _UNKNOWN
    stopped = accepted_until(s)
    alive, dead = (_millis(stopped[0]), _latest_millis(stopped[1])) if stopped is not None else (None, None)
    begun = _led_since(s.term)
    led = begun or s.term.at
    first, reached = batches[0], batches[0]["last_offset"] + 1
    as_many = part.end == reached if exact else part.end <= reached
    if as_many and s.term.start_offset is not None and alive is not None and _created_between(first, _millis(led), alive):
        return _YES
    if dead is not None and _created_before(dead, batches) < part.end - part.start:
        return _NO
    return _by_creation(batches, _latest_millis(led), fewer=begun is not None and reached < part.end)


def _by_creation(batches: Sequence[Mapping[str, Any]], led: float, *, fewer: bool) -> str:
    if any(_dated(b) and b["base_timestamp"] < led for b in batches):
        return _PERHAPS
    return _NO if fewer and all(map(_dated, batches)) else _UNKNOWN


def _led_since(term: Term) -> datetime | None:
    """When the new leader began to lead, or was asked to, by its own line. It was elected earlier; without that line it is unknown how
    much."""
    own = (e for e in term.evidence if e.event == "leader-start" or (e.reason == "received" and e.writer == term.leader))
    return next((e.at for e in own if e.at is not None), None)


def accepted_until(s: LeaderTransition, ended: Collection[str] = (KILLED,)) -> tuple[datetime, datetime] | None:
    """The earliest and latest time at which the old leader stopped accepting records. `ended`: how its process may have ended."""
    if s.stepped_down is not None:
        return s.stepped_down.at, s.stepped_down.at
    return _died(s, ended)


def _created_between(batch: Mapping[str, Any], led: float, alive: float) -> bool:
    """The batch was begun before the new leader led, and completed before the old one stopped accepting records."""
    return bool(_dated(batch) and batch["base_timestamp"] < led and batch["max_timestamp"] < alive)


def _in_their_place(part: Range, s: LeaderTransition) -> list[Mapping[str, Any]]:
    """The batches of this term and later ones, from the start of the term on, from the disk that has most of them."""
    term = s.term
    begun = part.start if term.start_offset is None or not s.timeline.has_epochs else term.start_offset
    found = ([b for b in d.batches() if _since(b, term, part)] for d in s.timeline.collected_logs.values())
    return max((bs for bs in found if bs and bs[0]["base_offset"] == begun), key=lambda bs: bs[-1]["last_offset"], default=[])


def _created_before(time: float, batches: Sequence[Mapping[str, Any]]) -> int:
    """Upper bound on the number of records created before this time. Offsets that the log cleaner may have removed count, too."""
    later = 0
    for b in batches:
        if _dated(b) and b["base_timestamp"] >= time:
            later += b["last_offset"] + 1 - b["base_offset"]
        elif _dated(b) and b["max_timestamp"] >= time:
            later += 1
    return int(batches[-1]["last_offset"] + 1 - batches[0]["base_offset"] - later)


def _dated(batch: Mapping[str, Any]) -> bool:
    """Its timestamps are those of its producer; the log cleaner replaces the first."""
    return not batch["append_time"] and batch["base_timestamp"] > 0 and batch["whole"] is not False


def _millis(at: datetime) -> float:
    return at.replace(tzinfo=timezone.utc).timestamp() * 1000


def _latest_millis(at: datetime) -> float:
    """The end of the second if a log prints whole seconds only: its lines may be so much later."""
    return _millis(at) + (0 if at.microsecond else 1000)


def _since(batch: Mapping[str, Any], term: Term, part: Range) -> bool:
    """Written in the term or later. Before message format v2 (0.11) batches have no leader epoch; then every batch that is at these offsets
    now counts."""
    epoch = batch["leader_epoch"]
    return bool(epoch >= term.epoch if epoch >= 0 else batch["base_offset"] >= part.start)


def _died(s: LeaderTransition, ended: Collection[str]) -> tuple[datetime, datetime] | None:
    """The earliest and latest time at which the process that led before this term crashed: after its last line, and before the first of its
    followers lost its connection for good, else before the next election. Connections close when the operating system has freed the memory
    of the killed process, which takes longer the more memory it had."""
    before, elected = s.earlier, s.term.at
    outage = _crash(before, before.at or elected, s, ended) if before is not None and elected is not None else None
    if elected is None or outage is None or outage.since is None or outage.since >= elected:
        return None
    noticed = outage.noticed.at if outage.noticed is not None else None
    return outage.since, elected if noticed is None else min(max(noticed, outage.since), elected)


def _crash(term: Term, led: datetime, s: LeaderTransition, ended: Collection[str]) -> Outage | None:
    availability = s.cluster.availability(term.leader)
    run = next((r for r in reversed(availability.latest(led)) if r.begin_at is not None and r.begin_at < led), None)
    outage = availability.end_of(run)
    return outage if outage is not None and outage.how in ended else None
