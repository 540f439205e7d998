"""data-loss: records of a leader's log are lost or may be lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from forensics.model.cluster.availability import SLACK
from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.settings import LOG_DIRECTORIES, same_directory
from forensics.model.events import Event
from forensics.model.findings import (
    COMPACTED,
    LEVELS,
    NAMED,
    PLAIN_LOG,
    TRANSACTIONAL,
    UNKNOWN_LOG,
    Aggregation,
    Finding,
    Range,
    Records,
    Rule,
    Salvageable,
    Statement,
    Urgency,
    Written,
    brokers_named,
    capital,
    counted,
    moment,
    offsets_in,
    offsets_named,
    period,
    quote,
    saving_first,
    some,
)
from forensics.model.partition.replicas import Removal
from forensics.model.partition.salvageable import salvageable
from forensics.model.partition.states import not_after
from forensics.model.partition.timeline import PartitionTimeline, Term
from forensics.output.shell import option
from forensics.proof.aftermath import of_groups
from forensics.proof.causes import FOREIGN
from forensics.proof.losses import Below, Deposed, Emptied, Loss, Unflushed, deposed, emptied, losses, unflushed
from forensics.proof.readers import readers
from forensics.proof.transition import LeaderTransition
from forensics.proof.written import written
from forensics.thresholds import LONG_DEPOSED, MANY_OFFSETS


@dataclass(frozen=True, slots=True)
class _Moved:
    """A broker was started with other log directories: its log is new, the old log is still in the old directory."""

    broker: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    evidence: tuple[Event, ...]


def detect(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for loss in losses(timeline, cluster):
        yield _lost(loss, timeline, cluster)
        if loss.below is not None:
            saved = salvageable(loss.below.range, loss.term, loss.removals, timeline)
            yield _with(saved, loss.hop, _possibly_below(loss, loss.below, timeline), timeline)
    for alone in deposed(timeline, cluster):
        saved = salvageable(Range(alone.start, None), alone.hop.term, (), timeline)
        yield _with(saved, alone.hop, _taken_alone(alone, timeline), timeline)
    for doubt in unflushed(timeline, cluster):
        saved = salvageable(Range(doubt.start, None), doubt.hop.term, (), timeline)
        yield _with(saved, doubt.hop, _possible(doubt, timeline), timeline)
    for empty in emptied(timeline, cluster):
        saved = salvageable(Range(empty.start, None), empty.hop.term, (), timeline)
        yield _with(saved, empty.hop, _emptied(empty, timeline, cluster), timeline)


def _lost(loss: Loss, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    beyond = loss.range.end is None or (loss.at_least and loss.range.end == loss.reached)
    saved = salvageable(loss.range, loss.term, loss.removals, timeline, and_beyond=beyond)
    finding = _with(saved, loss.hop, _finding(loss, timeline, tuple(_moved(loss, timeline, cluster))), timeline)
    clients = tuple(reader.client for reader in readers(loss, timeline))
    consumers = "; ".join(of_groups(clients, finding.place))
    explanation = finding.explanation + (f" Consumers: {consumers}." if consumers else "")
    return replace(finding, clients=clients, explanation=explanation)


def _moved(loss: Loss, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[_Moved]:
    for removal in loss.removals:
        if removal.cause != "empty" or removal.at is None:
            continue
        old, line = _old_directory(removal, removal.at, timeline, cluster)
        new = _new_directory(removal, removal.at, timeline) or cluster.log_dirs(removal.broker, removal.at)
        if new and old and not any(same_directory(d, now) for d in old for now in new):
            yield _Moved(removal.broker, old, new, (*line, *_setting_lines(removal.broker, removal.at, cluster)))


def _old_directory(
    removal: Removal, at: datetime, timeline: PartitionTimeline, cluster: Cluster
) -> tuple[tuple[str, ...], Sequence[Event]]:
    """The last directory of the log before it was found empty, or all directories of the process before, and the line that names it."""
    loads = timeline.of("log-load", "log-created")
    line = [e for e in loads if e.writer == removal.broker and e.directory and e.at and e.at < at][-1:]
    return ((line[0].directory or "",) if line else _before_its_start(removal, cluster)), line


def _new_directory(removal: Removal, at: datetime, timeline: PartitionTimeline) -> tuple[str, ...]:
    """The directory of the empty log by the line about the log itself: a broker prints the absolute path there, but a setting may be relative."""
    loads = (e for e in timeline.of("log-load", "log-created") if e.writer == removal.broker and e.directory and e.at and e.at >= at)
    return tuple(e.directory for e in loads if e.directory)[:1]


def _setting_lines(broker: int, at: datetime, cluster: Cluster) -> Sequence[Event]:
    changes = (cluster.settings.change(key, broker=broker, at=at) for key in LOG_DIRECTORIES)
    return [c.event for c in changes if c is not None and c.event is not None and c.value != "null"][:1]


def _before_its_start(removal: Removal, cluster: Cluster) -> tuple[str, ...]:
    """The log directories of the previous broker process; the next one found its log empty."""
    start = max(cluster.availability(removal.broker).begun(datetime.min, removal.at or datetime.min), default=None)
    first = next(iter(cluster.settings.history("log.dirs", broker=removal.broker)), None)
    if start is None or first is None or first.at >= start - SLACK:
        return ()
    return cluster.log_dirs(removal.broker, start - SLACK)


def _severity(loss: Loss) -> str:
    gave_way = loss.hop.stepped_down
    if loss.excuse is not None:
        return "low"
    if loss.committed is not False:
        return "critical" if loss.committed and loss.range.end is not None else "high"
    if gave_way is not None and gave_way.orderly:
        return "low"
    return "high" if gave_way is not None and (gave_way.late >= LONG_DEPOSED or (loss.range.length or 0) >= MANY_OFFSETS) else "medium"


def _with(saved: Salvageable, hop: LeaderTransition, finding: Finding, timeline: PartitionTimeline) -> Finding:
    """The finding with the time at which the records were written, and the offsets that can be recovered, and how."""
    lost = finding.offsets[0]
    finding = _with_copies(saved, replace(finding, written=_appended(finding, hop, saved), records=_records(lost, saved, timeline)))
    alone = finding.of_partition(timeline.topic, timeline.partition)
    return replace(finding, next_steps=saving_first((*_steps((alone,)), *finding.next_steps)))


def _appended(finding: Finding, hop: LeaderTransition, saved: Salvageable) -> Written:
    """When the records were written. Those of an earlier partition of this name were in their log before this partition had it: its terms do not
    show since when."""
    if finding.cause != FOREIGN:
        return written(finding.offsets[0], hop, saved)
    seen = [hop.brought[r.broker].at if r.broker in hop.brought else r.at for r in hop.removals]
    return Written(None, max((at for at in seen if at is not None), default=None) if None not in seen else None)


def _with_copies(saved: Salvageable, finding: Finding) -> Finding:
    if not saved.held:
        return finding if finding.confidence == "possible" else replace(finding, salvageable=saved)
    spans = some([f"{h.offsets} on {brokers_named([h.broker])}" if h.broker is not None else str(h.offsets) for h in saved.held])
    sources = some([h.source.rpartition("/")[0] for h in saved.held])
    which = "some of them: " if saved.missing else ""
    proof = "" if saved.certain else ", as far as the evidence can distinguish them from other records at the same offsets"
    words = f" The collected files contain {which}offsets {spans}{'' if saved.missing else ', all of them'} ({sources}){proof}.{_senders(saved)}"
    return replace(finding, salvageable=saved, explanation=finding.explanation + words)


def _records(lost: Range, saved: Salvageable, timeline: PartitionTimeline) -> Records:
    """Copies of all lost records show their number; otherwise each offset of a plain log is a record."""
    log = _kind_of_log(timeline)
    if saved.held and not saved.missing and lost.end is not None and log != COMPACTED:
        return Records(sum(p.records for p in saved.producers), log)
    return Records(lost.length if log == PLAIN_LOG else None, log)


def _kind_of_log(timeline: PartitionTimeline) -> str:
    if timeline.cleaned:
        return COMPACTED
    if timeline.transactions or any(b["control"] for d in timeline.collected_logs.values() for b in d.batches()):
        return TRANSACTIONAL
    return UNKNOWN_LOG if timeline.cleaned is None else PLAIN_LOG


def _senders(saved: Salvageable) -> str:
    if not any(p.id is not None for p in saved.producers):
        return ""
    senders = []
    for p in saved.producers:
        who = "producers without an id" if p.id is None else f"producer {p.id}"
        if p.transactional_id is not None:
            who = f"transactional id {p.transactional_id} (producer {p.id}; last known transaction state: {p.state})"
        senders.append(f"{p.records} by {who}")
    return f" Senders: {some(senders)}."


def _finding(loss: Loss, timeline: PartitionTimeline, moved: Sequence[_Moved]) -> Finding:
    term = loss.term
    before = timeline.before(term)
    count = loss.range.length
    holders = tuple(dict.fromkeys((*(() if before is None else (before.leader,)), term.leader, *(r.broker for r in loss.removals))))
    return Finding(
        kind="data-loss",
        severity=_severity(loss) if timeline.conflicting_epoch is None else "medium",
        confidence=loss.confidence,
        brokers=holders,
        leader_epoch=term.epoch,
        start=before.at if before is not None else None,
        end=term.at,
        offsets=(loss.range,),
        committed=loss.committed,
        cause=loss.cause,
        summary=f"{timeline.name}: offsets {loss.range} {_lost_words(loss)} ({_cause_words(loss, term)}{', on other log directories' if moved else ''})",
        explanation=_explain(loss, before, count, timeline) + "".join(map(_moved_words, moved)),
        still_on=loss.still_on,
        next_steps=(*(_copy_words(m, timeline) for m in moved), *_next_steps(loss, timeline)),
        evidence=quote(*(m.evidence for m in moved), *loss.evidence),
    )


def _moved_words(moved: _Moved) -> str:
    return (
        f" Broker {moved.broker} was started with other log directories ({', '.join(moved.new)} instead of {', '.join(moved.old)}). That deletes nothing: "
        f"unless it was removed, the old log is still in {', '.join(moved.old)}."
    )


def _copy_words(moved: _Moved, timeline: PartitionTimeline) -> str:
    return (
        f"Copy the directory of {timeline.name} in {', '.join(moved.old)} of broker {moved.broker} first: its records can be read "
        "(kafka-dump-log) and resent. Do not set log.dirs back without that copy: records written since would be left behind."
    )


def _lost_words(loss: Loss) -> str:
    kind = {True: "committed, lost", False: "truncated, never committed", None: "lost"}[loss.committed]
    if loss.range.end is None:
        more = f", at least up to {loss.reached - 1}" if loss.reached > loss.range.start else ", if there were any records"
        return f"{kind}{more}; the end of the range is unknown"
    if loss.excuse is not None:
        return f"{kind}; possibly resent, or never acknowledged"
    if loss.committed is False:
        kind += ": only acks=0/1 producers can be affected"
    return f"{kind}{' (or slightly more)' if loss.at_least else ''}"


def _cause_words(loss: Loss, term: Term) -> str:
    return {
        "unclean-election": f"unclean election of broker {term.leader}, epoch {term.epoch}",
        "unflushed-log": f"unflushed log of broker {term.leader}",
        "uncommitted-tail": f"not replicated before broker {term.leader} took over, epoch {term.epoch}",
        "hw-truncation": f"broker {term.leader} had truncated to its high watermark",
        "empty-replica": f"broker {term.leader} restarted empty",
        "corruption": f"damaged log of broker {term.leader}",
        "inherited-log": "of an earlier partition of this name, truncated when this one began",
    }.get(loss.cause, f"missing on broker {term.leader}, epoch {term.epoch}")


_BECAUSE = {
    "unclean-election": "was elected from outside the ISR and did not have the rest",
    "unflushed-log": "had lost the rest in an unclean stop: it was in memory and not yet on the disk",
    "uncommitted-tail": "was in sync, but had not fetched the rest from the previous leader yet",
    "hw-truncation": "had truncated its log to its high watermark and became leader before it fetched again, which can happen before leader epochs "
    "(0.11): the first case of KIP-101",
    "empty-replica": "had restarted with an empty log",
    "inherited-log": "did not have the rest: records of another partition of this name, from an earlier cluster or topic, in a log that was still on "
    "the disk and was used for this partition",
    "corruption": "had truncated its log at damaged records",
    "unknown": "did not have the rest; the evidence does not show why",
}
_REMOVED = {
    "leader-epoch": "truncated the lost records to follow the new leader",
    "high-watermark": "truncated to its high watermark",
    "truncation": "truncated the lost records to follow the new leader",
    "latest": "truncated the lost records to the new leader's log end offset",
    "overwritten": "kept the lost records on its disk while the partition continued without these",
    "restart": "restarted without the lost records",
    "empty": "restarted with an empty log",
    "deleted": "had the lost records in the log that it deleted when its replica was removed",
    "stray": "had the lost records in the log that it renamed to -stray when its replica was removed",
    "left-behind": "still has the lost records on its disk, but never followed the new leader",
    "renamed": "has the lost records only in files that Kafka renamed",
}
_WITHOUT_TIME = ("left-behind", "renamed")


def _explain(loss: Loss, before: Term | None, count: int | None, timeline: PartitionTimeline) -> str:
    term = loss.term
    removal = loss.removals[0]
    led = before is not None and any(r.broker == before.leader for r in loss.removals)
    whose = f"broker {before.leader}, leader in epoch {before.epoch}," if before is not None and led else f"broker {removal.broker}"
    reach = f"{'at least ' if loss.at_least else ''}offset {removal.end}"
    gone = loss.reached - loss.range.start if count is None else count
    parts = [
        f"The log of {whose} reached {reach} (exclusive).",
        f"At {moment(term.at)} broker {term.leader} {'continued as leader after its restart' if term.restart else 'became leader'} in leader epoch "
        f"{term.epoch} with a log that ended at offset {_where(loss)}: it {_BECAUSE[loss.cause]}.",
        _gone_words(loss, gone),
        *(_removal_words(r, loss) for r in loss.removals[:3]),
        _handover_words(loss),
        _commitment(loss),
    ]
    if loss.still_on:
        parts.append(f"The lost records are still on the disk of {brokers_named(loss.still_on)}.")
    return " ".join(p for p in parts if p)


def _gone_words(loss: Loss, gone: int) -> str:
    if not gone:
        return f"A separate finding reports the loss below offset {loss.reached}; records that the leader appended later are lost as well."
    more = ", with all records that the leader appended later" if loss.range.end is None else ""
    least = "at least " if loss.at_least else ""
    are = "are" if gone > 1 else "is"
    return (
        f"So {least}{counted(gone, 'offset')} ({Range(loss.range.start, loss.range.start + gone)}) {are} missing from the partition{more}."
    )


def _handover_words(loss: Loss) -> str:
    gave_way = loss.hop.stepped_down
    if gave_way is None or loss.committed is True:
        return ""
    if gave_way.orderly:
        return f"Broker {gave_way.leader} stepped down cleanly: these records were in flight then."
    seconds = gave_way.late.total_seconds()
    return f"Broker {gave_way.leader} was deposed but continued as leader for {seconds:.1f} s, and may have accepted records alone in that time."


def _where(loss: Loss) -> str:
    if loss.proven and loss.term.at_most is None:
        seen = "when its files were collected" if loss.removals[0].cause != "latest" else "when another replica followed it"
        return f"{loss.range.start} or below (it ended there {seen}; this Kafka version does not log the start offset of a leader)"
    return loss.term.began


def _removal_words(removal: Removal, loss: Loss) -> str:
    if loss.cause == "hw-truncation" and removal.broker == loss.term.leader:
        return f"Broker {removal.broker} itself had the lost records, and truncated its log from {removal.end} to {removal.start} at {moment(removal.at)}."
    when = f" at {moment(removal.at)}" if removal.cause not in _WITHOUT_TIME else ""
    what = (
        f"from {removal.end} to {removal.start}"
        if removal.cause not in (*_WITHOUT_TIME, "restart", "empty", "overwritten", "deleted", "stray")
        else ""
    )
    return f"Broker {removal.broker}{when} {_REMOVED.get(removal.cause, 'no longer had the lost records')}{f' ({what})' if what else ''}."


def _commitment(loss: Loss) -> str:
    if loss.committed:
        return f"The lost records were committed: {_why_committed(loss)}."
    if loss.committed is False:
        never = "The lost records were never committed: the new leader was in sync, so the high watermark cannot have passed its log end offset."
        clients = "Only producers with acks=0 or acks=1 can have had them acknowledged."
        if loss.excuse is None:
            return f"{never} {clients}{_unweighed(loss)}"
        return f"{never} They were truncated, but possibly no producer is affected: {loss.excuse}. {clients}"
    known = f"; the high watermark is known up to {loss.high_watermark}" if loss.high_watermark is not None else ""
    if loss.excuse is None:
        return f"Commit status unknown{known}.{_unweighed(loss)}"
    return f"Commit status unknown{known}. Possibly no producer got an acknowledgement: {loss.excuse}."


def _why_committed(loss: Loss) -> str:
    hw, before = loss.high_watermark, loss.term.before
    reached = hw is not None and loss.range.end is not None and hw >= loss.range.end
    if not reached and before is not None and len(before.isr) == 1:
        return f"broker {before.isr[0]} was the only in-sync replica, so its high watermark was its log end offset"
    below = hw is None or hw < (loss.range.end or loss.reached)
    if below and before is not None and loss.cause == "hw-truncation":
        return f"{brokers_named(before.isr)}, the whole ISR, had them before broker {loss.term.leader} truncated its log"
    return f"the evidence shows an earlier high watermark of {hw}"


def _unweighed(loss: Loss) -> str:
    return (
        ""
        if loss.weighed
        else " An acknowledgement is possible, not proven: the evidence does not show which records replaced them, or when."
    )


def _next_steps(loss: Loss, timeline: PartitionTimeline) -> Iterator[str]:
    if loss.committed is not False:  # consumers read below the high watermark only
        yield f"Consumers of {timeline.name} that had read past the start of the lost range must rewind or skip; look for OffsetOutOfRange and LogTruncationException."
    if loss.at_least or loss.range.end is None:
        yield f"Look for an older copy of the disk of the leader of {timeline.name} (replication-offset-checkpoint or segments): the end of the lost range is a lower bound, and such a copy would show the exact end."


def _possibly_below(loss: Loss, below: Below, timeline: PartitionTimeline) -> Finding:
    """The possible loss right below a proven loss."""
    term, part = loss.term, below.range
    old = loss.removals[0].broker
    probable = below.confidence == "probable"
    severity = _severity(loss) if probable else min(_severity(loss), "medium", key=LEVELS.index)
    why = (
        f"The high watermark stayed at {part.start} until the old leader failed: the checkpoint of broker {old} contains this value, and a follower "
        f"that was running when broker {term.leader} was elected had received no higher one. An in-sync replica held the high watermark back, probably broker "
        f"{term.leader}, which was in sync, did not have the end of the log, and has at most the records of its last fetch beyond that."
        if probable
        else f"Broker {term.leader} may have had offsets {part}, or records written later may have replaced some or all of them: "
        f"its log is only known to have reached offset {part.start}."
    )
    return Finding(
        kind="data-loss",
        severity=severity,
        confidence=below.confidence,
        brokers=tuple(dict.fromkeys((old, term.leader))),
        leader_epoch=term.epoch,
        end=term.at,
        offsets=(part,),
        committed=loss.committed,
        cause=loss.cause,
        summary=f"{timeline.name}: offsets {part} {'probably' if probable else 'possibly'} lost with the offsets from {loss.range.start} on "
        f"({_cause_words(loss, term)})",
        explanation=(
            f"Broker {old} had offsets {part.start} to {loss.reached - 1}; the offsets from {loss.range.start} on are proven to be lost. {why} "
            f"{_why_unknown(timeline)}"
        ),
        next_steps=(
            f"Compare the producers' records of {timeline.topic} for partition {timeline.partition} at that time with the records that offsets {part} hold now: "
            "the comparison shows how many of them were replaced.",
        ),
        evidence=quote(*below.evidence, *loss.evidence),
    )


def _why_unknown(timeline: PartitionTimeline) -> str:
    if timeline.has_epochs:
        return "The evidence does not contain the log line of its start, and the epoch files only give an upper bound of its start offset."
    return "Before leader epochs (0.11) no line shows where the log of a new leader ended, and the replaced records were truncated."


def _taken_alone(alone: Deposed, timeline: PartitionTimeline) -> Finding:
    term, broker = alone.hop.term, alone.broker
    return Finding(
        kind="data-loss",
        severity="medium",
        confidence="possible",
        brokers=(broker, term.leader),
        leader_epoch=term.epoch,
        start=term.at,
        offsets=(Range(alone.start, None),),
        committed=alone.committed,
        cause="uncommitted-tail" if alone.committed is False else "unknown",
        summary=f"{timeline.name}: any offsets from {alone.start} on that broker {broker} assigned after the election of broker {term.leader} are lost",
        explanation=(
            f"Broker {term.leader} was elected at {moment(term.at)} (leader epoch {term.epoch}). Broker {broker}, the previous leader, was running and continued "
            f"as leader; its ISR changes were refused. When it stepped down, it truncated its log to its high watermark {alone.start}. Any records that it "
            "acknowledged to producers with acks=0 or acks=1 since the election are lost. Before leader epochs (0.11) the line of that truncation is the "
            "same when nothing was removed, and no line shows the log end offset."
        ),
        next_steps=(
            f"Check the producers' last acknowledged offsets of {timeline.name}, or their requests to broker {broker} at that time and its answers: they would "
            "settle whether records were lost.",
        ),
        evidence=quote(*alone.evidence),
    )


def _possible(doubt: Unflushed, timeline: PartitionTimeline) -> Finding:
    term = doubt.hop.term
    who = brokers_named(doubt.brokers)
    alone = "was the only in-sync replica" if doubt.alone else "were all the in-sync replicas"
    again = "continued as leader" if term.restart else "was elected"
    return Finding(
        kind="data-loss",
        severity="medium" if doubt.start else "low",
        confidence="possible",
        brokers=doubt.brokers,
        leader_epoch=term.epoch,
        start=term.at,
        offsets=(Range(doubt.start, None),),
        committed=None,
        cause="unflushed-log",
        summary=f"{timeline.name}: offsets from {doubt.start} on may be lost: {who} {alone} and stopped uncleanly",
        explanation=(
            f"{capital(who)} {alone} of {timeline.name} and did not stop cleanly. At {moment(term.at)} broker {term.leader} {again} "
            f"in leader epoch {term.epoch} with the log that remained after recovery, ending at offset {doubt.start}. If only the process crashed, the "
            "operating system kept all written records and none are lost. If the machine lost power or was reset, unflushed records above that "
            "offset are lost, acknowledged or not. No collected file shows how far the log had reached before."
        ),
        next_steps=(
            f"Find out how {who} stopped: the page cache survives a killed process, but not a power loss or a kernel panic.",
            f"Look for a copy of {timeline.name} or of replication-offset-checkpoint made before the restart, or for the producers' last acknowledged offsets: they would settle whether records were lost.",
        ),
        evidence=quote(*doubt.evidence),
    )


def _emptied(empty: Emptied, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    term, who = empty.hop.term, f"broker {empty.broker}"
    removed = [e for e in cluster.of("log-file-refused") if e.writer == empty.broker and e.reason == "missing" and not_after(e.at, term.at)]
    began = timeline.before(term)
    reached = (
        f" The log had reached offset {empty.reached}, but no line shows where it began: retention may have deleted what was below."
        if empty.reached is not None and empty.reached > empty.start
        else ""
    )
    under = (
        f" The content of its log directory had been removed while {who} was running (found at {moment(removed[-1].at)})."
        if removed
        else ""
    )
    return Finding(
        kind="data-loss",
        severity="high",
        confidence="possible",
        brokers=(empty.broker,),
        leader_epoch=term.epoch,
        start=began.at if began is not None else None,
        end=term.at,
        offsets=(Range(empty.start, None),),
        committed=None,
        cause="empty-replica",
        summary=f"{timeline.name}: all records from offset {empty.start} on are lost, if there were any: {who}, the only in-sync replica, came back with an "
        "empty log",
        explanation=(
            f"Broker {empty.broker} was the only in-sync replica of {timeline.name}. At {moment(term.at)} it "
            f"{'continued as leader after its restart' if term.restart else 'became leader'} in leader epoch {term.epoch} with an empty log.{under} All "
            f"records that were written before are lost. The evidence does not show whether there were any, or how many.{reached}"
        ),
        next_steps=(
            f"Look for the old log of {timeline.name}: an unmounted disk, another directory, a snapshot or a backup of broker {empty.broker}.",
            f"Have the producers of {timeline.name} resend the records that they wrote before {who} came back.",
        ),
        evidence=quote(*empty.evidence, removed[-1:]),
    )


def _steps(group: Sequence[Statement]) -> Iterator[str]:
    """How the records come back: from disks that still have them, from the collected files, and from their producers."""
    for brokers in dict.fromkeys(f.still_on for f in group if f.still_on):
        names, who = some([f.name for f in group if f.still_on == brokers]), brokers_named(brokers)
        yield (
            f"Copy the directories of {names} (also if they end in -stray) from {who} now. If {who} {'is' if len(brokers) == 1 else 'are'} down, copy before "
            "the start: a broker truncates its log when it rejoins."
        )
    saved = [f for f in group if f.salvageable is not None and f.salvageable.held]
    if saved:
        topics = list(dict.fromkeys(f.topic or "" for f in saved))
        extents = _extents([(f.name, [h.offsets for h in f.salvageable.held]) for f in saved if f.salvageable is not None])
        options = "".join(f" {option('--topic', t)}" for t in topics[:NAMED])
        yield f"Recover {extents} from the collected files: `kafka-forensics salvage PATH{options} --out DIR` writes these records and shows how to resend them."
    missing = [(f, left) for f in group if f.confidence != "possible" and (left := _not_held(f))]
    for same in _of_one_time(missing):
        weak = " that use acks=0 or acks=1" if same[0][0].committed is False else ""
        others = " Producers with acks=all got an error or resent the records." if same[0][0].committed is False else ""
        extents = _extents([(f.name, left) for f, left in same])
        yield (
            f"Ask the producers of {extents}{weak} to resend these records, which they wrote {_written([f for f, _ in same])}. Other records of "
            f"this time may not be lost: compare before resending.{others}"
        )


def _not_held(f: Statement) -> Sequence[Range]:
    """The lost offsets that no collected file contains."""
    return f.salvageable.missing if f.salvageable is not None and f.salvageable.held else f.offsets


_Missing = tuple[Statement, Sequence[Range]]
"""A loss, and those of its offsets that no collected file contains."""


def _of_one_time(missing: Sequence[_Missing]) -> Iterator[Sequence[_Missing]]:
    """The losses, split by time where none of these records was written: a span for all would be mostly of records that are not lost."""
    dated: list[tuple[datetime, datetime, int]] = []
    others: list[_Missing] = []
    for number, m in enumerate(missing):
        span = m[0].written
        if span is not None and span.since is not None and span.until is not None:
            dated.append((span.since, span.until, number))
        else:
            others.append(m)
    runs: list[list[int]] = []
    end = datetime.min
    for since, until, number in sorted(dated):
        if since > end:
            runs.append([])
        runs[-1].append(number)
        end = max(end, until)
    yield from ([missing[number] for number in sorted(run)] for run in runs)
    if others:
        yield others


def _extents(ranges: Sequence[tuple[str, Sequence[Range]]]) -> str:
    """'orders-0 (offsets 200–357), orders-1 (offsets 200–357) and 3 more'."""
    return some([f"{name} ({offsets_named(offsets)})" for name, offsets in ranges])


def _written(group: Sequence[Statement]) -> str:
    """The span of time in which all of these records were written."""
    begins = [f.written.since if f.written is not None else None for f in group]
    ends = [f.written.until if f.written is not None else None for f in group]
    since = None if None in begins else min(at for at in begins if at is not None)
    until = None if None in ends else max(at for at in ends if at is not None)
    if until is None:
        return "around the time of the loss" if since is None else f"after {moment(since)}"
    return f"before {moment(until)}" if since is None else f"between {period(since, until, 'and')}"


def _many(first: Finding, group: Sequence[Statement]) -> str:
    tail = first.summary.removeprefix(f"{first.name}: ")
    if _open(first):
        return tail.replace(f" from {first.offsets[0].start} on", "", 1)
    count = offsets_in((f, f.place) for f in group)
    kind = {True: "committed, lost", False: "truncated, never committed", None: "lost"}[first.committed]
    return f"{counted(count, 'offset')} {kind} ({first.cause})"


def _open(finding: Statement) -> bool:
    return any(r.end is None for r in finding.offsets)


RULE = Rule(
    kind="data-loss",
    rank=10,
    level="critical",
    urgency=Urgency.LOST,
    meaning="An offset range of a leader's log is lost. Committed: below the high watermark, so consumers may have read it and acks=all producers may have got an acknowledgement. Not committed: only producers with acks=0 or acks=1 can have got one.",
    benign=(
        "A truncation of records that the leader still has (the follower fetches them again).",
        "A log start that moved: retention and DeleteRecords are reported as retention.",
        "A topic that was deleted and created again: offsets of different topic ids are never compared.",
    ),
    references=("KIP-101", "KIP-279", "KIP-966", "KAFKA-3919", "KAFKA-1211"),
    partition=detect,
    many=Aggregation(words=_many, key=_open, recurs=False, steps=_steps),
)
