"""The table of hand-overs of a partition: every row begins wide, and each step narrows cells with the evidence.

Here: the rows, and the order of the steps. A step uses lines and files only if its premises hold (forensics.model.coverage.log_coverage).
Not here: the conclusions from the rows (verdict, losses), or the facts about one hand-over (transition).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import cache
from itertools import pairwise

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import (
    CLOCK,
    LOG,
    ORDER,
    PLACED,
    PROCESS,
    READ,
    Answer,
    changes_wanted,
    elections_recorded,
    log_coverage,
    would_show,
)
from forensics.model.events import Event
from forensics.model.message import Message, Range, said
from forensics.model.partition.floods import LEFT_OUT
from forensics.model.partition.folding import MADE
from forensics.model.partition.replicas import OWN_LOSS, Load, Removal
from forensics.model.partition.states import Gap, State, between, bounds, epochs_without_state
from forensics.model.partition.timeline import PartitionTimeline, Term, cached_on_timeline
from forensics.model.presence.availability import CONTROLLED
from forensics.model.times import grouped, is_later, not_after
from forensics.proof.acknowledged import excuse
from forensics.proof.contradictions import of_row, second_witness, what
from forensics.proof.elections import LAST_UNCHECKED, by_order
from forensics.proof.foreign_logs import inherited
from forensics.proof.last_copies import gone_said, last_copies_gone
from forensics.proof.observed import exact_end
from forensics.proof.old_log import end_of_old_log, log_kept, truncation_unobserved, untraced_removals
from forensics.proof.pre_kip101 import high_watermark_of_cut, reached_by_isr
from forensics.proof.removed import RemovedRange, likely_start, nothing_written_since, seen_high_watermark, written_earlier
from forensics.proof.transition import LeaderTransition, ended_cleanly, knew_epoch
from forensics.proof.verdict import (
    BEGIN,
    CHANGE,
    EITHER,
    END,
    RESTART,
    TAILS,
    UNCLEAN_ELECTION,
    Cell,
    Handover,
    Interval,
    Possible,
    Removed,
    cause,
    losses,
    removed_range,
)
from forensics.thresholds import CRASH_NOTICED
from parsers.kinds import named


def handovers(timeline: PartitionTimeline, cluster: Cluster) -> tuple[Handover, ...]:
    """The table of one partition, in the order of leader epochs; empty if no leader is in evidence."""
    return _table(timeline, cluster)[0]


def transitions(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[tuple[Handover, LeaderTransition]]:
    """The rows but the last, each with its hand-over."""
    yield from zip(*_table(timeline, cluster), strict=False)


@cached_on_timeline
def _table(timeline: PartitionTimeline, cluster: Cluster) -> tuple[tuple[Handover, ...], tuple[LeaderTransition, ...]]:
    terms = timeline.terms
    rows: list[Handover] = []
    hops = tuple(LeaderTransition(term, before, timeline, cluster, rows) for before, term in zip([None, *terms], terms, strict=False))
    for transition in hops:
        rows.append(_row(transition))
    return (*rows, _end(timeline, cluster)) if rows else (), hops


class _Draft(Handover):
    """A row while it is narrowed, in place: a dozen copies of each row would take half of the time for judging."""

    __slots__ = ()
    __setattr__ = object.__setattr__

    def put(self, name: str, value: object) -> _Draft:
        setattr(self, name, value)
        return self

    def narrowed(self, **cells: Interval | Possible) -> _Draft:
        for name, cell in cells.items():
            before = getattr(self, name)
            setattr(self, name, cell if before is _WIDE[name] else before & cell)
        return self

    def noted(self, cell: str, note: object) -> _Draft:
        return self.put("notes", {**self.notes, cell: note})

    def done(self) -> Handover:
        self.__class__ = Handover  # type: ignore[assignment]
        return self


_only = cache(Possible.of)
_NOTHING = Interval.exactly(0)
_WIDE = {f.name: f.default for f in fields(Handover)}


Step = Callable[[_Draft, LeaderTransition], _Draft]


def _row(t: LeaderTransition) -> Handover:
    kind = BEGIN if t.before is None else RESTART if t.term.restart else CHANGE
    old = t.before.leader if t.before is not None else None
    row = _Draft(
        kind=kind,
        leader_epoch=t.term.epoch,
        restart=t.term.restart,
        old_leader=old,
        new_leader=t.leader,
        at=t.term.at,
        premises=_premises(t),
        contradictions=mixed_up(t.timeline),
    )
    for step in STEPS:
        row = step(row, t)
    return _contradicted(row, t.timeline, t.cluster)


def _contradicted(row: _Draft, timeline: PartitionTimeline, cluster: Cluster) -> Handover:
    """With the contradictions on which its cells rest."""
    own = map(what, of_row(row, timeline, cluster))
    return row.put("contradictions", (*row.contradictions, *own)).done()


def _premises(t: LeaderTransition) -> dict[int, Message]:
    """Premises that do not hold for the logs of both leaders, with the reasons."""
    brokers = dict.fromkeys((t.leader, *((t.before.leader,) if t.before is not None else ())))
    return {b: reason for b in brokers for reason in log_coverage(b, t.cluster).reasons[:1]}


@cached_on_timeline
def mixed_up(timeline: PartitionTimeline) -> tuple[Message, ...]:
    """Signs of two partitions of this name, which concern all rows."""
    mixed = timeline.conflicting_epoch
    found = [said("handover/two-leaders", leader_epoch=mixed)] if mixed is not None else []
    if (fall := epochs_that_fall(timeline)) is not None:
        before, after = fall
        epochs = {"before": before.leader_epoch, "after": after.leader_epoch}
        found.append(said("handover/falling-epochs", broker=after.writer, **epochs))
    return tuple(found)


def epochs_that_fall(timeline: PartitionTimeline) -> tuple[Event, Event] | None:
    """Lines of one log with which a broker enters a leader epoch and then an earlier one, by their place and by their time: an export may
    have its rows in any order. No broker does: the topic or the cluster was created again, and the lines about that are missing."""
    for replica in timeline.replicas.values():
        entered: dict[str, Event] = {}
        for e in replica.events:
            if e.event in _ENTERS and e.leader_epoch is not None:
                before = entered.get(e.source, e)
                later = not_after(before.at, e.at)
                if later and e.leader_epoch < (before.leader_epoch or 0):
                    return before, e
                entered[e.source] = e
    return None


_ENTERS = named("leader-start", "follower-start", "fetcher-added")


# between two rows


def _unseen(row: _Draft, t: LeaderTransition) -> _Draft:
    """Consecutive leader epochs leave no room for another election; consecutive partition epochs leave none for a change of the ISR."""
    if t.before is None:
        gap = next(begin_gaps(t.timeline, t.cluster), None)
        return row.narrowed(unseen=_NOTHING) if gap is None else row.noted("unseen", said("handover/begin-gap", gap=gap))
    return _counted(row, [gap for gap, order in _gaps(t.timeline, t.cluster) if order == t.term.order], t.cluster)


def _counted(row: _Draft, gaps: Sequence[Gap], cluster: Cluster) -> _Draft:
    row = row.narrowed(unseen=Interval(0, sum(len(g.epochs) or abs(g.changes if g.changes is not None else 1) for g in gaps)))
    if not gaps:
        return row
    return row.noted("unseen", said("handover/gap", gap=gaps[0].said, wanted=changes_wanted(gaps[0], cluster)))


@cached_on_timeline
def _gaps(timeline: PartitionTimeline, cluster: Cluster) -> tuple[tuple[Gap, tuple[int, int] | None], ...]:
    """The gaps between states, each with the order of the term in whose row it counts; None: the row of the end. Gaps before the first term
    are in no row: begin_gaps reports them."""
    found = ((between(one, other, isr_observable=True), one, other) for one, other in pairwise(timeline.states))
    return tuple(
        (gap, _order_of(other, timeline, cluster))
        for gap, one, other in found
        if isinstance(gap, Gap) and not _left_out(one, other, timeline)
    )


@cached_on_timeline
def _places(timeline: PartitionTimeline, _: Cluster) -> Mapping[int, int]:
    return {id(s): number for number, s in enumerate(timeline.states)}


def _order_of(state: State, timeline: PartitionTimeline, cluster: Cluster) -> tuple[int, int] | None:
    """The first term whose state is this one or a later one."""
    places = _places(timeline, cluster)
    return next((t.order for t in timeline.terms if t.state is not None and places[id(t.state)] >= places[id(state)]), None)


def _left_out(one: State, other: State, timeline: PartitionTimeline) -> bool:
    """The missing states were seen and not kept: ISR changes by one leader in one leader epoch (forensics.model.partition.floods)."""
    if (one.leader, one.leader_epoch) != (other.leader, other.leader_epoch):
        return False
    return any(not_after(e.at, other.at) and not_after(one.at, e.last_at) for e in timeline.of(LEFT_OUT))


def begin_gaps(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Message]:
    """Why the start of the evidence is not the start of a leader epoch, or of the partition."""
    known = next((s for s in timeline.states if s.known_epoch is not None), None)
    first = timeline.terms[0] if timeline.terms else None
    if known is None or first is None:
        yield said("handover/no-epoch")
        return
    if known.leader_epoch < first.epoch:
        yield said("handover/leader-before", leader_epoch=first.epoch)
    elif first.leader in timeline.replicas:
        yield from _begun_before(first, timeline, cluster)
    for missing in epochs_without_state(timeline.states, (t.epoch for t in timeline.terms)):
        if earlier := range(missing.start, min(missing.stop, known.leader_epoch)):
            yield said("handover/only-numbers", **bounds(earlier))
    yield from _brought(timeline, cluster)


def _brought(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Message]:
    """Replicas may have had a log of this name from an earlier cluster; topic ids distinguish such logs."""
    if not cluster.begun or timeline.topic_id is not None or not timeline.begins_in_first_epoch:
        return
    own = {b for b, replica in timeline.replicas.items() if any(e.event in MADE for e in replica.events)}
    if missing := sorted({*timeline.assigned} - own):
        yield said("handover/brought", brokers=tuple(missing))


def _begun_before(first: Term, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Message]:
    """The first term began within the evidence, but what came before is unknown. A broker that is the only replica has no other leader to
    take over from, and leads on with what its disk kept."""
    replica, leader = timeline.replicas[first.leader], first.leader
    start = next((s.event for s in replica.leader_starts if s.epoch == first.epoch and not s.restart), None)
    before = replica.events[: replica.events.index(start)] if start is not None else ()
    loads = [load for load in replica.loads if start is None or (load.event in before and not _of_another_topic(load, timeline))]
    if any(load.unclean and load.epoch is None and load.offset for load in loads):
        yield said("handover/begins-after-unclean-stop", leader=leader)
    if any(created in before for _, created in replica.recreated):
        yield said("handover/came-back-empty", leader=leader)
    if first.epoch == 0 and _made_at_a_start(first.leader, before, cluster) and not _made_by_controller(timeline, cluster):
        yield said("handover/log-before", leader=leader)
    if start is not None and first.epoch > 0:
        loaded = any(e.event in MADE for e in before)
        alone = timeline.assigned == (first.leader,) and loaded and start.previous_leader_epoch == -1
        if not alone and start.previous_leader_epoch != first.epoch:
            yield said("handover/not-the-leader-before", leader_epoch=first.epoch)
    entered = (e.leader_epoch for r in timeline.replicas.values() for e in r.events if e.event in _ENTERS and e.leader_epoch is not None)
    if (earlier := max((epoch for epoch in entered if epoch < first.epoch), default=None)) is not None:
        yield said("handover/only-numbers", first=earlier, last=None, number=1)


def _of_another_topic(load: Load, timeline: PartitionTimeline) -> bool:
    """The log was loaded before the partition was created."""
    return timeline.created() and not_after(load.at, timeline.states[0].at)


def _made_at_a_start(broker: int, events: Sequence[Event], cluster: Cluster) -> bool:
    """The broker created its log, and had been started shortly before."""
    made = next((e.at for e in events if e.event == "log-created"), None)
    return made is not None and bool(cluster.availability(broker).begun(made - CRASH_NOTICED, made))


def _made_by_controller(timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """A controller says that it created the partition: else a broker that lost its disk looks the same."""
    return bool(timeline.made_by_controller or cluster.of("topic-created", topic=timeline.topic) or timeline.of("metadata-partition"))


# the new leader


def _election(row: _Draft, t: LeaderTransition) -> _Draft:
    election = t.election
    if t.term.restart or election is None:
        leads_on = t.before is not None and (t.term.restart or t.in_sync)
        return row.narrowed(election=_only(Cell.IN_ISR)) if leads_on else row
    if election.unclean:
        values = (Cell.OUTSIDE,) if election.confidence == "certain" else (Cell.OUTSIDE, Cell.IN_ISR)
        row = row.noted("election", said("handover/outside-isr", leader=t.leader, why=election.why))
        return row.narrowed(election=Possible.of(*values, evidence=election.evidence))
    if election.clean is not None:
        return row.narrowed(election=Possible.of(Cell.IN_ISR, Cell.ELIGIBLE, evidence=election.evidence))
    return row.noted("election", said("handover/unknown-election", leader=t.leader, why=election.why))


def _new_log_end(row: _Draft, t: LeaderTransition) -> _Draft:
    """From the leader's own line and what files contain of the epoch. If a log has not reached an offset even today, it began below it."""
    row = row.narrowed(new_log_end=Interval(t.term.at_least, t.term.at_most, t.term.evidence, t.term.evidence))
    for piece in t.pieces:
        if piece.seen:
            row = row.narrowed(new_log_end=Interval(0, piece.start, (), piece.seen))
    return row


def _process(row: _Draft, t: LeaderTransition) -> _Draft:
    if t.kept_running or (t.same_leader and not _hidden_restart(t)):
        return row.narrowed(process=_only(Cell.RUNNING))
    if t.stopped_cleanly:
        return row.narrowed(process=_only(Cell.STOPPED))
    if t.crashed or t.leader_recovered:
        lost = said("handover/leader-crashed", leader=t.leader, leader_epoch=t.term.epoch)
        since = would_show(t.leader, t.cluster, ORDER) and t.restarted_since_in_sync(t.leader)
        return (row.narrowed(process=_only(Cell.CRASHED)) if since else row.noted("process", lost)).noted("log", lost)
    outage = t.cluster.availability(t.leader).outage(t.term.at) if t.term.at is not None and not t.prints_start else None
    until = min((at for at in (t.term.at, outage.since if outage is not None else None) if at is not None), default=None)
    shown = would_show(t.leader, t.cluster, LOG, PROCESS, *PLACED, until=until, of=t.timeline)
    if shown and outage is not None:
        at = outage.since if outage.how != CONTROLLED else None
        return row.noted("process", said("handover/not-led", leader=t.leader, leader_epoch=t.term.epoch, at=at))
    wanted = _wanted(t.leader, shown)
    return row.noted("process", said("handover/unknown-stop", leader=t.leader, leader_epoch=t.term.epoch, wanted=wanted))


def _wanted(broker: int, shown: Answer) -> Message:
    """Why the log of a broker does not show something."""
    return shown.why_not or said("coverage/not-shown", broker=broker)


def _uncovered(broker: int, shown: Answer, cluster: Cluster) -> Message:
    """Why the log of a broker does not show what was cut off its replicas."""
    if log_coverage(broker, cluster).begin is None:
        return said("handover/no-server-log", leader=broker)
    return said("handover/uncovered", leader=broker, wanted=_wanted(broker, shown))


def _hidden_restart(t: LeaderTransition) -> bool:
    """A leader that was elected again may have been restarted in between: its own line says so, or no log would show it."""
    start = t.start.event if t.start is not None else None
    assert t.before is not None
    since, until = t.before.at, t.term.at
    begun = since is not None and until is not None and t.cluster.availability(t.leader).begun(since, until)
    if begun or (start is not None and (t.leader_recovered or start.previous_leader_epoch == -1)):
        return True
    if start is not None and knew_epoch(start):
        return False
    return not would_show(t.leader, t.cluster, LOG, PROCESS, *PLACED, since=since, until=until, of=t.timeline)


def _log(row: _Draft, t: LeaderTransition) -> _Draft:
    """A process that was not restarted keeps its log, and a clean stop preserves the log for the next process. A crash may leave any part
    of it."""
    if t.emptied:
        return row.narrowed(log=_only(Cell.WIPED)).noted("log", _empty(t))
    if t.cut is not None:
        return row.narrowed(log=_only(Cell.CUT))
    if row.process.only(Cell.RUNNING) and t.same_leader:
        return row.narrowed(log=_only(Cell.KEPT))
    if t.leader_recovered:
        lost = Cell.DAMAGED if t.damaged else Cell.RECOVERED
        kept = t.perhaps_joined_since or not (t.damaged or t.came_back_shorter(t.leader))
        return row.narrowed(log=_only(Cell.KEPT, lost) if kept else _only(lost))
    return row.narrowed(log=_only(Cell.KEPT)) if t.log_intact else row


def _empty(t: LeaderTransition) -> Message:
    return said("handover/empty", leader=t.leader, leader_epoch=t.term.epoch)


def _truncation(row: _Draft, t: LeaderTransition) -> _Draft:
    return row.narrowed(truncation=_only(Cell.BY_EPOCH if t.timeline.has_epochs else Cell.BY_HIGH_WATERMARK))


# removals from logs


def _removed(row: _Draft, t: LeaderTransition) -> _Draft:
    """Parts of logs that the new leader did not have."""
    found = tuple(_removed_of(piece, t) for piece in t.pieces)
    alone = bool(found) and t.lost_end_alone
    return row.put("removed", found).narrowed(last_isr_member_lost_tail=_only(Cell.YES if alone else Cell.NO))


def _removed_of(piece: RemovedRange, t: LeaderTransition) -> Removed:
    removal = piece.removal
    exact = removal.exact and not t.end_unobserved
    maybe_brought = t.foreign and not t.prints_start and not _elected_outside(t)
    ordered = would_show(removal.broker, t.cluster, ORDER, CLOCK)
    there = bool(ordered) and not maybe_brought and not _maybe_deleted(removal, t)
    sure = (
        written_earlier(removal, t.term, t.timeline)
        and t.timeline.conflicting_epoch is None
        and there
        and not _perhaps_sent_again(piece, t)
    )
    likely, low, marks = _lowest_start(piece, t)
    witnessed = second_witness(removal, t.timeline)
    end = piece.end if witnessed is None else max(min(witnessed, piece.end), piece.start)
    return Removed(
        removal.broker,
        removal.cause,
        Interval(low, piece.start, marks or removal.evidence, removal.evidence),
        Interval(end, end if exact and witnessed is None else None, removal.evidence, removal.evidence),
        exact_end=removal.exact,
        written_before_handover=_only(Cell.YES) if sure else EITHER,
        lost_in_this_handover=EITHER if piece.several or maybe_brought else _only(Cell.YES),
        from_other_topic=_only(Cell.YES if t.foreign else Cell.NO),
        likely_start=likely,
        evidence=(*removal.evidence, *piece.seen),
        removal=removal,
    )


def _perhaps_sent_again(piece: RemovedRange, t: LeaderTransition) -> bool:
    """The records may be those that are there now: a leader that was cut off appended them, no producer got an acknowledgement, and the
    producers sent them again to the next leader. Not if that leader was elected uncleanly: then the older records had been committed."""
    if piece.replaced_by is None:
        return False
    after = next((e for order, e in sorted(by_order(t.timeline, t.cluster).items()) if order[0] > piece.replaced_by), None)
    return after is None or not after.unclean


def _maybe_deleted(removal: Removal, t: LeaderTransition) -> bool:
    """Retention may have deleted the records of a log that came back empty, if no line would show that: server.log, which shows it, may
    begin later than state-change.log, which shows that the log was empty at first."""
    if removal.cause not in OWN_LOSS or removal.start:
        return False
    replica = t.timeline.replicas[removal.broker]
    begun = (o.event for o in replica.observations if o.quantity == "log-start-offset" and o.event not in removal.evidence)
    since = [e.at for e in (*replica.events[:1], *begun) if e.at is not None and (removal.at is None or e.at <= removal.at)]
    return not would_show(removal.broker, t.cluster, LOG, since=max(since, default=None), until=removal.at)


def _lowest_start(piece: RemovedRange, t: LeaderTransition) -> tuple[int | None, int, tuple[Event, ...]]:
    """The offset from which the records are probably gone, the lowest from which they may be, and the high watermarks that show it."""
    if not piece.proven or nothing_written_since(piece):
        return None, piece.start, ()
    mark = seen_high_watermark(piece.removal, t.timeline, t.cluster)
    likely, low, marks = likely_start(piece, [mark] if mark is not None else [], unclean=_elected_outside(t), timeline=t.timeline)
    return likely, min(low, piece.start), marks


def _elected_outside(t: LeaderTransition) -> bool:
    return t.election is not None and bool(t.election.unclean)


def _unexplained_truncations(row: _Draft, t: LeaderTransition) -> _Draft:
    """Cuts that only the lines of the broker itself would show."""
    for broker in (t.leader, *((t.before.leader,) if t.before is not None else ())):
        if not (shown := would_show(broker, t.cluster, LOG, PROCESS, READ, of=t.timeline)):
            return row.noted("unexplained_truncations", _uncovered(broker, shown, t.cluster))
    for removal, term in untraced_removals(t.timeline, t.cluster):
        if term is t.term:
            cut = Range(removal.start, removal.end)
            return row.noted("unexplained_truncations", said("handover/untraced-cut", broker=removal.broker, cut=cut))
    for one, other in _leader_changes(t.timeline, t.cluster).get(t.term.epoch, ()):
        if other.at is not None and not would_show(one.leader, t.cluster, LOG, PROCESS, READ, since=other.at):
            return row.noted("unexplained_truncations", said("handover/log-begins-later", leader=one.leader, leader_epoch=one.leader_epoch))
    return row.narrowed(unexplained_truncations=_only(Cell.NO))


@cached_on_timeline
def _leader_changes(timeline: PartitionTimeline, _: Cluster) -> Mapping[int, Sequence[tuple[State, State]]]:
    """By leader epoch, the states in which a leader of a known term was replaced."""
    led = {t.leader for t in timeline.terms}
    return grouped(
        (other.leader_epoch, (one, other)) for one, other in pairwise(timeline.states) if one.leader != other.leader and one.leader in led
    )


# the old leader


def _old_log_end(row: _Draft, t: LeaderTransition) -> _Draft:
    """The old leader shows where its log ended when it followed. It had all committed records."""
    if t.before is None or t.before.leader == t.leader:
        return row
    broker = t.before.leader
    covered = would_show(broker, t.cluster, LOG, ORDER, of=t.timeline)
    wanted = _wanted(broker, covered)
    row = row.noted("old_log_end", said("handover/unknown-end", broker=broker, leader=t.leader, wanted=wanted))
    end = end_of_old_log(t.before, t.term, t.timeline, t.cluster)
    if end is None or not covered or truncation_unobserved(t.before, t.term, t.timeline):
        return row
    if not end.exact:
        row = row.noted("old_log_end", said("handover/came-back-shorter", broker=broker, offset=end.offset))
        return row.narrowed(old_log_end=Interval(end.offset, None, end.evidence))
    row = row.narrowed(old_log_end=Interval.exactly(end.offset, *end.evidence))
    begin = row.new_log_end.at_least if row.new_log_end.exact else None
    row = row.noted("old_log_end", said("handover/unknown-begin", broker=broker, leader=t.leader, offset=end.offset, begin=begin))
    bounded = not t.pieces and row.unseen.at_most == 0 and log_kept(t.before, t.term, t.timeline, t.cluster)
    return row.narrowed(high_watermark=Interval(0, end.offset, (), end.evidence)) if bounded else row


def _sole_restart(row: _Draft, t: LeaderTransition) -> _Draft:
    """Restarts of a lone in-sync replica in the term that ends here."""
    if t.before is None:
        return row.narrowed(sole_restart=_only(Cell.NONE))
    row = _restarts(row, _lone_states(t.timeline, t.cluster).get(t.term.order, ()), t.timeline, t.cluster)
    return row.noted("sole_restart", _empty(t)) if "sole_restart" in row.notes and row.log.only(Cell.WIPED) else row


@cached_on_timeline
def _lone_states(timeline: PartitionTimeline, _: Cluster) -> Mapping[tuple[int, int] | None, Sequence[State]]:
    """The states with one in-sync replica, by the order of the term that follows them; None: the evidence ends."""
    orders = timeline.term_orders
    alone = ((bisect_right(orders, (state.leader_epoch, 0)), state) for state in timeline.states if len(state.isr) == 1)
    return grouped((orders[place] if place < len(orders) else None, state) for place, state in alone)


def _restarts(row: _Draft, states: Sequence[State], timeline: PartitionTimeline, cluster: Cluster) -> _Draft:
    """The possible restarts of the only in-sync replica during these states."""
    for state in states:
        (broker,) = state.isr
        joined = _joined_at(state, timeline)
        shown = would_show(state.leader, cluster, LOG, PROCESS, *PLACED, since=state.at, until=joined, of=timeline)
        if broker == state.leader and not shown:
            alone = said("handover/led-alone", broker=broker, leader_epoch=state.leader_epoch, wanted=_wanted(broker, shown))
            return row.noted("sole_restart", alone)
        if _recovers(state, timeline):
            return row.noted("sole_restart", said("handover/sole-crashed", broker=broker))
        if _restarted_unclean(state, timeline, cluster):
            return row.noted("sole_restart", said("handover/sole-restarted", broker=broker))
    return row.narrowed(sole_restart=_only(Cell.NONE, Cell.CLEAN))


def _recovers(state: State, timeline: PartitionTimeline) -> bool:
    """The only in-sync replica recovers its log, or loads it in a new process, before another one joins: records that were not flushed may
    be gone."""
    (broker,), joined = state.isr, _joined_at(state, timeline)
    own = timeline.replicas[broker].events if broker in timeline.replicas else []
    return bool(_while_alone((e.at for e in own if e.event == "log-recovery"), state, joined))


def _while_alone(times: Iterable[datetime | None], state: State, joined: datetime | None) -> list[datetime]:
    """The times at which the only in-sync replica of this state was still alone."""
    return [at for at in times if is_later(at, state.at) and (joined is None or at < joined)]


def _restarted_unclean(state: State, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """The only in-sync replica is started again before another one joins, and no line shows that it had been stopped cleanly."""
    (broker,), joined = state.isr, _joined_at(state, timeline)
    availability = cluster.availability(broker)
    starts = availability.begun(state.at, joined or datetime.max) if state.at is not None else ()
    unclean = any(len(pair := availability.latest(at)) < 2 or not ended_cleanly(*pair) for at in starts)
    return unclean or (not starts and (_new_process(state, joined, timeline) or _back_unseen(state, joined, timeline, cluster)))


def _new_process(state: State, joined: datetime | None, timeline: PartitionTimeline) -> bool:
    """A line about the partition is from a process that knew no leader epoch, and no start of that process is in the evidence."""
    (broker,) = state.isr
    replica = timeline.replicas.get(broker)
    return replica is not None and bool(_while_alone((s.at for s in replica.leader_starts if s.restart), state, joined))


def _back_unseen(state: State, joined: datetime | None, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """A replica could not follow the only in-sync replica because the controller did not count its broker as alive, and that broker printed
    lines later: it came back, and its start is not in the evidence."""
    (broker,) = state.isr
    last, availability = cluster.last_line(broker), cluster.availability(broker)
    refused = (e.at for e in timeline.of("become-refused") if e.reason == "leader-unavailable" and e.leader == broker)
    return last is not None and any(at < last and not availability.begun(at, last) for at in _while_alone(refused, state, joined))


def _joined_at(state: State, timeline: PartitionTimeline) -> datetime | None:
    """When the only in-sync replica was next in sync with another one: others may join a later leader without its records."""
    (broker,) = state.isr
    shared = (s.at for s in timeline.states if broker in s.isr and len(s.isr) > 1)
    return next(iter(_while_alone(shared, state, None)), None)


# commitment


def _high_watermark(row: _Draft, t: LeaderTransition) -> _Draft:
    found = removed_range(row)
    if found is not None:
        row = _observed_marks(row, t, found[1].end.at_least)
    if _had_all(row, t):
        top = found[0].start.at_most if found is not None else row.new_log_end.at_most
        return row.narrowed(had_all=_only(Cell.YES), high_watermark=Interval(0, top))
    if row.election.only(Cell.IN_ISR, Cell.ELIGIBLE) and t.joined_behind is not None:
        version = ".".join(map(str, LAST_UNCHECKED))  # KAFKA-7128
        behind = said("handover/joined-behind", broker=t.leader, leader_epoch=t.joined_behind.leader_epoch, version=version)
        row = row.noted("high_watermark", behind)
    return _bounded_by_followers(row, t) if found is None else row


def _observed_marks(row: _Draft, t: LeaderTransition, end: int) -> _Draft:
    """High watermarks that were observed before the hand-over; a lone in-sync replica commits all that it appends."""
    assert t.longest is not None
    seen = [seen_high_watermark(t.longest, t.timeline, t.cluster), *(high_watermark_of_cut(r, t.timeline) for r in t.removals)]
    for offset, event in filter(None, seen):
        row = row.narrowed(high_watermark=Interval(offset, None, (event,)))
    before = t.term.before
    if t.commits_alone and before is not None:
        return row.narrowed(sole_commit=_only(Cell.YES), high_watermark=Interval(end, None, (before.event,)))
    reached = reached_by_isr(t.term, t.timeline)
    if reached is not None and before is not None:
        row = row.narrowed(high_watermark=Interval(reached, None, (before.event,)))
    return row


def _had_all(row: _Draft, t: LeaderTransition) -> bool:
    """The new leader came from the ISR with all of its log."""
    if not row.election.only(Cell.IN_ISR, Cell.ELIGIBLE) or not row.log.only(Cell.KEPT) or t.crashed or t.before is None:
        return False
    if row.sole_commit.only(Cell.YES) or t.joined_behind is not None:
        return False
    found = removed_range(row)
    if found is None:
        return True
    assert found[0].start.at_most is not None
    dated = t.longest is not None and t.longest.epoch is not None  # else the records may have been gone before this hand-over
    return dated and t.in_sync and not t.foreign and not t.log_had_reached(found[0].start.at_most)


def _bounded_by_followers(row: _Draft, t: LeaderTransition) -> _Draft:
    """Another member of the ISR, whose process was not restarted, followed the new leader: the high watermark was not beyond its log.
    Before leader epochs a follower whose high watermark is beyond its leader's log prints that it resets its fetch offset."""
    if not row.election.only(Cell.IN_ISR, Cell.ELIGIBLE) or t.term.before is None:
        return row
    for broker in t.term.before.isr:
        starts = t.timeline.replicas[broker].follower_starts if broker != t.leader and broker in t.timeline.replicas else ()
        follows = next((f for f in starts if f.epoch >= t.term.epoch and f.offset is not None), None)
        if (
            follows is not None
            and follows.offset is not None
            and knew_epoch(follows.event)
            and not t.restarted_since_in_sync(broker)
            and t.member_behind(broker, follows.offset) is None
            and would_show(broker, t.cluster, ORDER)
        ):
            row = row.narrowed(high_watermark=Interval(0, follows.offset, (), (follows.event,)))
            if row.truncation.only(Cell.BY_HIGH_WATERMARK):
                row = row.narrowed(had_all=Possible.of(Cell.YES, evidence=(follows.event,)))
    return row


def _resent(row: _Draft, t: LeaderTransition) -> _Draft:
    """Whether the producers sent the records again, or never got an acknowledgement for them. Their batches decide."""
    parts = list(losses(0, row))
    had = any(part.committed for part in parts)
    for part in parts:
        if part.committed is True or part.end is None or (part.committed is None and row.election.only(Cell.OUTSIDE)):
            continue
        exact = t.longest is not None and t.longest.exact
        because, weighed = excuse(Range(part.start, part.end), exact, part.committed is False, t)
        of_tail = cause(row, part.committed, any_committed=had) in (*TAILS, UNCLEAN_ELECTION)
        if of_tail and (because is not None or not weighed):
            return row.put("resent_because", because)
    return row.narrowed(resent=_only(Cell.NO))


STEPS: tuple[Step, ...] = (
    _unseen,
    _election,
    _new_log_end,
    _process,
    _log,
    _truncation,
    _removed,
    _unexplained_truncations,
    _sole_restart,
    _high_watermark,
    _old_log_end,
    _resent,
)


# the end of the evidence


def _end(timeline: PartitionTimeline, cluster: Cluster) -> Handover:
    """The row of the end: the last leader leads on as it began, or the continuation is unknown."""
    last = timeline.terms[-1]
    t = LeaderTransition(last, last, timeline, cluster)
    row = _Draft(
        kind=END,
        leader_epoch=last.epoch,
        restart=last.restart,
        old_leader=last.leader,
        new_leader=last.leader,
        at=cluster.until,
        premises=_premises(t),
    )
    gap = next(end_gaps(timeline, cluster), None)
    later = [gap for gap, order in _gaps(timeline, cluster) if order is None]
    row = _counted(row, later, cluster) if gap is None else row.noted("unseen", said("handover/end-gap", gap=gap))
    if gone := last_copies_gone(timeline, cluster):
        row = row.noted("sole_restart", gone_said(gone))
    else:
        row = _restarts(row, _lone_states(timeline, cluster).get(None, ()), timeline, cluster)
    shown_until = cluster.last_line(last.leader)
    if not (shown := would_show(last.leader, cluster, LOG, PROCESS, READ)):
        row = row.noted("unexplained_truncations", _uncovered(last.leader, shown, cluster))
    elif not t.prints_start and is_later(last.at, shown_until):
        row = row.noted("unexplained_truncations", said("handover/logs-end", leader=last.leader, leader_epoch=last.epoch))
    else:
        row = row.narrowed(unexplained_truncations=_only(Cell.NO))
    disk = next((d for broker, d in timeline.collected_logs.items() if broker == timeline.standing.leader), None)
    if disk is not None and (log_end := exact_end(disk, timeline)) is not None:
        end = (disk.end_event(),)
        row = row.narrowed(new_log_end=Interval(0, log_end, (), end), high_watermark=_highest_mark(timeline))
    return _contradicted(row, timeline, cluster)


def _highest_mark(timeline: PartitionTimeline) -> Interval:
    on_disk = [(d.high_watermark.offset, d.high_watermark) for d in timeline.collected_logs.values() if d.high_watermark is not None]
    printed = [(o.offset, o.event) for r in timeline.replicas.values() for o in r.observations if o.quantity == "high-watermark"]
    offset, event = max(((o, e) for o, e in (*on_disk, *printed) if o is not None), key=lambda seen: seen[0], default=(0, None))
    return Interval(offset, None, (event,) if event is not None else ())


def _leaderless_until(timeline: PartitionTimeline, epoch: int) -> int:
    """The last of the epochs right after this one that a replica was given without a leader."""
    without = {e.leader_epoch for e in timeline.of("follower-start") if e.leader == -1}
    while epoch + 1 in without:
        epoch += 1
    return epoch


def end_gaps(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Message]:
    """Evidence of changes after the last known leader."""
    known = [s for s in timeline.states if s.known_epoch is not None]
    if not known:
        yield said("handover/no-epoch")
        return
    disks = () if inherited(timeline, cluster) else timeline.collected_logs.values()  # a foreign log has its own epochs
    mentioned = (*(r.epoch for r in timeline.replicas.values()), *(d.last_epoch for d in disks))
    led = _leaderless_until(timeline, known[-1].leader_epoch)
    if later := [epoch for epoch in mentioned if epoch is not None and epoch > led]:
        yield said("handover/mentioned", leader_epoch=max(later))
    if (now := timeline.standing).leader != known[-1].leader and timeline.later:
        yield said("handover/described-later", leader=now.leader if now.leader != -1 else None)
    elif timeline.described_again is not None:
        seen, state = timeline.described_again
        if not elections_recorded(seen.at, cluster):
            yield said("handover/described-again", leader=seen.leader if seen.leader != -1 else None, leader_epoch=state.leader_epoch)
