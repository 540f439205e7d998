"""Whether anybody had been told that records were written which are gone.

Here: what of the producers' batches says that nobody misses them. Not here: what is gone (loss), or whether it was committed, of which
producers with acks=all are told.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from forensics.model import Range
from forensics.partition.succession import Succession
from spark.partition.timeline import Term


def excuse(part: Range, exact: bool, never_committed: bool, s: Succession) -> tuple[str | None, bool]:
    """A clause that says why these records may have been acknowledged to nobody, and whether that could be judged. What min.insync.replicas
    asks for is no reason: it binds only producers that ask for acks=all, and these are told of what was committed."""
    batches = [b for d in s.timeline.disks.values() for b in d.batches() if not b["control"]]
    end = part.end if part.end is not None else part.start
    kept = [b for b in batches if part.start <= b["base_offset"] < end and 0 <= b["leader_epoch"] < s.term.epoch]
    if batches and all(b["producer_id"] >= 0 for b in kept or batches):
        why = "all producers of this partition are idempotent or transactional, which implies acks=all (KIP-98)"
        return (why, True) if never_committed else (None, False)
    again = _sent_again(part, exact, s)
    why = "the first batch in their place has as many records, created before the leader gave way, so a producer was waiting and sent it again"
    return why if again else None, again is not None


def _sent_again(part: Range, exact: bool, s: Succession) -> bool | None:
    """The new leader's first batch has as many records as were cut, and was begun before it led and created before the old leader ceased to
    take any, which would have had it. A producer that waits for its acknowledgement has one batch of a partition with a leader: a broker
    takes up no request of a connection before it has answered the one before (SocketServer). It is sent again as it was (Sender).
    None: the batch, or when the old leader ceased, is not in evidence, or both led when it was begun and either may have had it first."""
    term = s.term
    begun = part.start if term.start_offset is None or not s.timeline.has_epochs else term.start_offset
    firsts = (next((b for b in d.batches() if _since(b, term, part)), None) for d in s.timeline.disks.values())
    first = next((b for b in firsts if b is not None and b["base_offset"] == begun), None)
    if first is None or part.end is None:
        return None
    reached = first["last_offset"] + 1
    if reached < part.end or (exact and reached > part.end) or first["append_time"] or first["base_timestamp"] <= 0:
        return False
    ceased = (s.gave_way.at, s.gave_way.at) if s.gave_way is not None else _died(s)
    began = next((e.at for e in term.evidence if e.event == "leader-start"), None)
    if ceased is None or term.at is None or term.start_offset is None:
        return None
    alive, dead = map(_millis, ceased)
    if first["base_timestamp"] < _millis(began or term.at) and first["max_timestamp"] < alive:
        return True
    return False if first["max_timestamp"] >= dead else None


def _millis(at: datetime) -> float:
    return at.replace(tzinfo=timezone.utc).timestamp() * 1000


def _since(batch: Mapping[str, Any], term: Term, part: Range) -> bool:
    """Written in the term or later; before message format v2 (0.11) a batch has no leader epoch, and what stands there now does."""
    epoch = batch["leader_epoch"]
    return bool(epoch >= term.epoch if epoch >= 0 else batch["base_offset"] >= part.start)


def _died(s: Succession) -> tuple[datetime, datetime] | None:
    """Between when and when the process that led before this term died: after its last line, and before the first of its followers lost it in
    the midst of a fetch for good, else before the next was elected. Its connections end when the system has taken back its memory, which is
    a moment after it was killed, and the longer the more it had."""
    before, elected = s.earlier, s.term.at
    if before is None or elected is None:
        return None
    led = before.at or elected
    lives = s.cluster.presence(before.leader).latest(led)
    life = next((x for x in reversed(lives) if x.begin_at is not None and x.begin_at < led), None)
    last = life.last_seen.at if life is not None and life.outcome == "crashed" and life.last_seen is not None else None
    if last is None or last >= elected:
        return None
    told = s.cluster.between("fetch-broken-off", last, elected)
    broken = ((e.writer, e.at) for e in told if e.broker == before.leader and e.at is not None)
    lost = min({writer: at for writer, at in broken if last < at <= elected}.values(), default=None)
    return last, lost if lost is not None else elected
