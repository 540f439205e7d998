"""One replica's history: what its broker's own lines and files say its log held, and where records left it.

Here: the walk over one broker's events of one partition, in the broker's own order, that turns them into dated observations
of log end offset and high watermark (with bounds), and into removals: ranges of offsets that were in this log and then were
not. Not here: whether a removed record lived on elsewhere (forensics.proof.losses), or the order between brokers (timeline).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from parsers.cached import cached_property
from parsers.kinds import ON_DISK, Role, named, of
from spark.events import Event
from spark.partition.damaged import DamagedStretch, Extent, extent, reach_of

EXACT, AT_LEAST, AT_MOST = "exact", "at-least", "at-most"
STARTING = timedelta(seconds=1)
"""What a broker needs at least from its first line to the load of a log."""


class Observation(NamedTuple):
    """An offset somebody observed. `epoch`: last leader epoch the broker knew of when its log held this, None if unknown."""

    quantity: str
    """'log-end-offset', 'high-watermark' or 'log-start-offset'."""
    broker: int
    offset: int
    bound: str
    epoch: int | None
    at: datetime | None
    event: Event


@dataclass(frozen=True, slots=True)
class Removal:
    """Offsets [start, end) were in a replica's log and are not any more.

    `cause`: 'leader-epoch' or 'high-watermark' (a follower truncated, and why), 'latest' (to its leader's log end, which was below its own),
    'truncation' (reason unknown), 'restart'
    (the log that was loaded is shorter), 'empty' (the log was created anew), 'left-behind' (still on the disk of a replica
    that never followed a later leader), 'deleted' or 'stray' (the whole log was, for the replica was taken away).
    """

    broker: int
    start: int
    end: int
    exact: bool
    """`end` is where the log ended, not only how far it is known to have reached."""
    settled: bool
    """`end` is exact, or the last checkpoint a broker wrote before it died, so that little can be missing."""
    cause: str
    epoch: int | None
    """No removed record has a later leader epoch; None if unknown."""
    under_epoch: int | None
    """Leader epoch the broker lived under when it removed them; None if unknown."""
    at: datetime | None
    evidence: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class LeaderStart:
    """A broker begins to lead. `restart`: the same epoch is led on by a process that was started anew."""

    broker: int
    epoch: int
    offset: int | None
    exact: bool
    high_watermark: int | None
    restart: bool
    at: datetime | None
    event: Event


@dataclass(frozen=True, slots=True)
class IsrUpdate:
    """An ISR as its leader printed it."""

    broker: int
    epoch: int | None
    event: Event
    isr: tuple[int, ...]
    confirmed: bool | None = True
    """That it took effect. False: its leader meant it to, and would have said so; None: whether it would have said so is not known."""


@dataclass(frozen=True, slots=True)
class Load:
    """A log was loaded when its broker started. `unclean`: segments had to be recovered. `cut`: recovery dropped bytes."""

    broker: int
    offset: int
    unclean: bool
    cut: bool
    epoch: int | None
    at: datetime | None
    event: Event


@dataclass(frozen=True, slots=True)
class FollowerStart:
    broker: int
    epoch: int
    offset: int | None
    at: datetime | None
    event: Event


@dataclass
class Replica:
    """Everything one broker's own evidence says of one partition."""

    broker: int
    observations: list[Observation] = field(default_factory=list)
    removals: list[Removal] = field(default_factory=list)
    leader_starts: list[LeaderStart] = field(default_factory=list)
    follower_starts: list[FollowerStart] = field(default_factory=list)
    isr_updates: list[IsrUpdate] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)
    rejected: list[Event] = field(default_factory=list)
    epoch: int | None = None
    """Last leader epoch the broker knew of."""
    log_end_offset: int | None = None
    reach: Observation | None = None
    """The observation behind log_end_offset."""
    ends_there: bool = False
    """That observation is exact, and nothing can have been appended since."""
    discarded: list[Removal] = field(default_factory=list)
    """Whole logs that were deleted, or put aside as stray, because the replica was taken away."""
    recreated: list[tuple[int | None, Event]] = field(default_factory=list)
    """An empty log was created where there had been one that nobody deleted, and the last leader epoch the broker knew of then."""
    events: list[Event] = field(default_factory=list)


class _Walk:
    """State while one broker's events pass by."""

    def __init__(self, broker: int, *, tells_fetching: bool, confirms: Callable[[Event], bool | None]) -> None:
        self.replica = Replica(broker)
        self.confirms = confirms
        self.broker = broker
        self.epoch: int | None = None
        self.records_epoch: int | None = None
        self.role: str | None = None
        self.end: int | None = None
        self.exact = False
        self.growing = False
        self.settled = False
        self.fetching = False
        self.untold = False
        """What says whether it fetches is missing or still to come."""
        self.fetched = False
        self.began: int | None = None
        """Where its log ended when it began to follow under its epoch, or was cut last since."""
        self.end_at_entry: int | None = None
        """Exact log end when it entered its epoch; None if unknown, or if the log was cut since."""
        self.stopped_fetching = False
        """Its fetcher was removed after it entered its epoch, and none was added since."""
        self.tells_fetching = tells_fetching
        self.end_event: Event | None = None
        self.plan: Event | None = None
        self.recovering: Event | None = None
        self.cut = False
        self.loaded = False
        self.several = False
        self.loading: list[Event] = []
        self.has_log = False
        self.intent: tuple[int | None, Event] | None = None
        self.explicit_updates = False

    # observations

    def see(self, quantity: str, offset: int | None, bound: str, event: Event, epoch: int | None) -> None:
        if offset is not None and offset >= 0:
            self.replica.observations.append(Observation(quantity, self.broker, offset, bound, epoch, event.at, event))

    def end_exactly(self, offset: int, event: Event) -> None:
        """The log ends here now; it stays exact until the broker may append again."""
        self.end, self.exact, self.growing, self.settled, self.end_event = offset, True, False, True, event
        self.see("log-end-offset", offset, EXACT, event, self.epoch)

    def end_at_least(self, offset: int | None, event: Event, *, last_word: bool = False) -> None:
        """The log reached so far. `last_word`: from a disk that was saved after its broker had died."""
        if offset is None or offset < 0:
            return
        self.see("log-end-offset", offset, AT_LEAST, event, self.epoch)
        if self.end is None or offset > self.end:
            self.end, self.exact, self.end_event = offset, False, event
            self.settled = last_word
        elif offset == self.end or last_word:
            self.settled = (self.settled and not self.growing) or last_word

    @property
    def knows_end(self) -> bool:
        """`end` is exact now: nothing can have been appended since it was seen."""
        return self.exact and not (self.growing or self.fetching or self.untold or self.recovering)

    @property
    def leads_in(self) -> int | None:
        """The epoch in which it leads by its own lines. None where it was last heard to follow, and how it came to lead is missing; or where it was
        started since: it may lead in a later epoch."""
        return self.epoch if self.role == "leader" and not self.loaded else None

    def grows(self) -> None:
        """It leads, or fetches: what tells of either shows it, though the start of it may be missing."""
        self.growing, self.settled = True, False

    def high_watermark(self, offset: int | None, event: Event, bound: str = EXACT) -> None:
        self.see("high-watermark", offset, bound, event, self.epoch)

    def remove(self, start: int, event: Event, cause: str, *more: Event | None, epoch: int | None, under: int | None) -> None:
        if self.end is None or self.end <= start:
            return
        evidence = tuple(e for e in dict.fromkeys((self.end_event, *more, event)) if e is not None)
        self.replica.removals.append(
            Removal(self.broker, start, self.end, self.exact and not self.growing, self.settled, cause, epoch, under, event.at, evidence)
        )

    def forget_restarts(self) -> None:
        """A log that is loaded after another of this name, with no role in between, and cannot be the same is another one: a start loads
        those of the topic's earlier lives that wait for their deletion, too, and up to 2.2 no line says which is which. What one lacks was
        in another."""
        self.replica.removals = [r for r in self.replica.removals if r.cause != "restart" or r.evidence[-1] not in self.loading]

    # transitions

    def enter(self, epoch: int | None, role: str, end: int | None) -> None:
        """The broker lives under a leader epoch now; what its log holds is of earlier ones until it appends again. One that is stopped as
        it hands over hears of the epoch, and again when it is back, and has fetched nothing in between. `end`: exact log end at this time."""
        if epoch is None:
            return
        again = epoch == self.epoch
        if not self.idle(again, end):
            self.records_epoch = self.epoch
            self.fetched = False
        if not again:
            self.end_at_entry, self.stopped_fetching = end, False
        if self.epoch is None or epoch >= self.epoch:
            self.epoch = epoch
        self.role, self.began = role, None

    def idle(self, again: bool, end: int | None) -> bool:
        """Nothing was appended under the current epoch: the broker followed and fetched nothing. Before another epoch (not `again`) the missing
        line of a fetcher does not prove this: the fetcher must have been removed, or the log must end where it ended at the entry."""
        if self.epoch is None or self.fetched or self.role == "leader" or not self.tells_fetching:
            return False
        return again or self.stopped_fetching or (end is not None and end == self.end_at_entry)

    def knew(self, start: Event) -> None:
        """It had lived under an epoch that its own line of that time does not tell."""
        before = start.previous_leader_epoch
        if before is not None and max(self.epoch or 0, 0) <= before < (start.leader_epoch or 0):
            if before != self.epoch:
                self.end_at_entry, self.stopped_fetching = None, False
            self.epoch = before

    def follow_unannounced(self, epoch: int | None) -> None:
        """A later term than the last one known begins; None: nobody says which."""
        self.records_epoch, self.fetched, self.began = self.epoch, False, None
        self.end_at_entry, self.stopped_fetching = None, False
        self.epoch, self.role = epoch, "follower"

    def settle_intent(self, next_intent: Event | None = None) -> None:
        """An intention to change the ISR took effect if the next one begins with its result. From 2.4 on a line of its own says so, too. Before
        2.4 the last one stays open: its write may have failed, or its leader was gone before the write (Partition#updateIsr)."""
        if self.intent is not None:
            epoch, event = self.intent
            stood = next_intent is not None and {*(next_intent.previous_isr or ())} == {*(event.isr or ())}
            prints = self.explicit_updates or self.confirms(event)
            confirmed = True if stood else False if prints else None
            self.replica.isr_updates.append(IsrUpdate(self.broker, epoch, event, tuple(event.isr or ()), confirmed))
        self.intent = None


def _on_load(w: _Walk, e: Event) -> None:
    if e.log_end_offset is None:
        return
    w.loading = [*w.loading, e] if w.loaded else [e]
    w.several = w.loaded and (w.several or _of_another(e, w.replica.loads[-1]))
    if w.several:
        w.forget_restarts()
    elif w.end is not None and e.log_end_offset < w.end:
        w.remove(e.log_end_offset, e, "restart", w.recovering, epoch=w.epoch, under=w.epoch)
    created = w.end is None and w.role == "leader" and e.log_end_offset == 0
    unclean = w.recovering is not None or w.cut
    w.replica.loads.append(Load(w.broker, e.log_end_offset, unclean, w.cut, w.epoch, e.at, e))
    w.end_exactly(e.log_end_offset, e)
    w.see("log-start-offset", e.log_start_offset, EXACT, e, w.epoch)
    if created:
        w.grows()
    w.untold = w.untold and not w.has_log
    w.loaded, w.fetching, w.recovering, w.cut = not created, False, None, False


def _of_another(load: Event, before: Load) -> bool:
    """Of another log of that name, as of a topic that is deleted, than the one before: it is longer, or follows sooner than a process can be back."""
    soon = load.at is not None and before.at is not None and load.at - before.at < STARTING
    return soon or (load.log_end_offset or 0) > before.offset


def _on_created(w: _Walk, e: Event) -> None:
    """Up to 0.10 a log that is created is loaded first, which is no restart."""
    w.loaded = False
    if w.has_log:
        w.replica.recreated.append((w.epoch, e))
    w.has_log = True
    if w.replica.loads and w.replica.loads[-1].offset == 0 and w.replica.loads[-1].event is w.end_event:
        w.replica.loads.pop()
    if w.end:
        w.remove(0, e, "empty", epoch=w.epoch, under=w.epoch)
    w.end_exactly(0, e)
    w.untold = w.untold or w.role is None  # a request creates it, and what that said is missing
    if w.role == "leader":
        w.grows()


def _on_deleted(w: _Walk, e: Event) -> None:
    if w.end:
        cause, evidence = "stray" if e.reason == "stray" else "deleted", tuple(x for x in (w.end_event, e) if x is not None)
        w.replica.discarded.append(Removal(w.broker, 0, w.end, w.knows_end, w.knows_end, cause, w.epoch, w.epoch, e.at, evidence))
    w.end, w.exact, w.end_event, w.loaded, w.role, w.has_log = None, False, None, False, None, False


def _regress(w: _Walk, offset: int, e: Event) -> None:
    """A start line below what the log held: only a restarted process can hold less without a truncation line."""
    if w.end is not None and offset < w.end and (e.previous_leader_epoch == -1 or w.loaded):
        w.remove(offset, e, "restart", epoch=w.epoch, under=w.epoch)


def _on_leader_start(w: _Walk, e: Event) -> None:
    offset = e.log_end_offset
    w.high_watermark(e.high_watermark, e, AT_LEAST)
    if offset is not None:
        _regress(w, offset, e)
    w.knew(e)
    again = w.role == "leader" and w.epoch == e.leader_epoch
    asked = w.replica.leader_starts[-1] if again and w.replica.leader_starts else None
    if asked is not None and asked.event.event == "partition-state" and not w.loaded:
        w.replica.leader_starts[-1] = replace(asked, offset=offset, exact=True, high_watermark=e.high_watermark, event=e)
    elif e.leader_epoch is not None:
        restart = again and (w.loaded or e.previous_leader_epoch == -1)
        if restart or not again:
            w.replica.leader_starts.append(LeaderStart(w.broker, e.leader_epoch, offset, True, e.high_watermark, restart, e.at, e))
    if offset is not None:
        w.end_exactly(offset, e)
    w.enter(e.leader_epoch, "leader", offset)
    w.grows()
    w.loaded, w.has_log, w.untold = False, True, False


def _on_follower_start(w: _Walk, e: Event) -> None:
    w.knew(e)
    w.high_watermark(e.high_watermark, e, AT_LEAST)
    if e.log_end_offset is not None:
        _regress(w, e.log_end_offset, e)
        w.end_exactly(e.log_end_offset, e)
    if e.leader_epoch is not None:
        w.replica.follower_starts.append(FollowerStart(w.broker, e.leader_epoch, e.log_end_offset, e.at, e))
    w.enter(e.leader_epoch, "follower", e.log_end_offset)
    w.began = e.log_end_offset
    w.loaded, w.has_log = False, True


def _on_state(w: _Walk, e: Event) -> None:
    """A LeaderAndIsr request: before 2.6 the only word on a follower's epoch, before 0.11 on a leader's, too."""
    if e.reason != "received" or e.leader_epoch is None or e.leader is None:
        return
    leads = e.leader == w.broker
    if w.untold and w.role == "follower" and not w.loaded:
        w.grows()  # whether it fetched since the request before is missing
    again = w.epoch == e.leader_epoch and w.role == ("leader" if leads else "follower")
    if again and not w.loaded:
        return
    if w.epoch is not None and e.leader_epoch < w.epoch:
        return
    if leads:
        restart = again and w.loaded
        exact = w.knows_end
        w.replica.leader_starts.append(LeaderStart(w.broker, e.leader_epoch, w.end, exact, None, restart, e.at, e))
    elif not again:
        w.replica.follower_starts.append(FollowerStart(w.broker, e.leader_epoch, w.end if w.knows_end else None, e.at, e))
    w.enter(e.leader_epoch, "leader" if leads else "follower", w.end if w.knows_end else None)
    if leads:
        w.grows()
    w.loaded, w.untold = False, not leads


def _on_refused(w: _Walk, e: Event) -> None:
    """No fetcher is made for a leader that is not there."""
    w.untold = w.untold and e.reason != "leader-unavailable"


def _on_truncation(w: _Walk, e: Event) -> None:
    if e.offset is None:
        return
    if _is_cut_of_reset(w, e):
        last = w.replica.removals[-1]
        w.replica.removals[-1] = replace(last, at=e.at, evidence=(*last.evidence, e))
        w.end_exactly(e.offset, e)
        return
    if w.plan is not None and w.plan.event == "truncation-plan" and w.plan.offset is not None and w.plan.offset != e.offset:
        w.plan = None  # of a cut that is not in evidence, or was none
    cause = w.plan.reason if w.plan is not None and w.plan.reason else "truncation"
    if e.reason == "longer":
        _reached_past(w, e.offset, e)
    _cut(w, e.offset, e, cause)


def _is_cut_of_reset(w: _Walk, e: Event) -> bool:
    """The last removal is known from the reset of the fetch offset that comes right before this line."""
    reset = w.end_event
    last = w.replica.removals[-1] if w.replica.removals else None
    if reset is None or last is None or reset.event != "fetch-offset-reset" or reset is not last.evidence[-1]:
        return False
    return last.cause == "latest" and reset.offset == e.offset


def _reached_past(w: _Walk, offset: int, e: Event) -> None:
    """The log had at least the record at this offset."""
    if not w.knows_end and (w.end is None or w.end <= offset):
        w.end_at_least(offset + 1, e)


def _cut(w: _Walk, offset: int, e: Event, cause: str) -> None:
    """A follower's log ends at this offset from now on."""
    grew = w.began is not None and w.end is not None and w.end > w.began
    untold = w.role == "leader" or grew or (w.loaded and not w.fetching)  # and cuts: that another leads, and since when, is not in evidence
    epoch, under = (w.epoch, None) if untold else (w.records_epoch, w.epoch)
    known = w.plan.leader_epoch if w.plan is not None and cause == "leader-epoch" else None
    if known is not None and epoch is not None and known > epoch:  # the follower's last epoch is no older: how it came by that is missing
        epoch, under = known, under if under is not None and under > known else None
    w.remove(offset, e, cause, w.plan, epoch=epoch, under=under)
    if w.role != "follower" or grew:
        w.follow_unannounced(None)
    w.end_exactly(offset, e)
    w.began = offset if w.began is not None else None
    w.plan, w.untold, w.end_at_entry = None, True, None


def _on_truncation_noop(w: _Walk, e: Event) -> None:
    if e.log_end_offset is not None:
        w.end_exactly(e.log_end_offset, e)
    w.plan = None


def _on_fetcher(w: _Walk, e: Event) -> None:
    """Fetching begins: the log may grow from now on, and a follower's exact end is only where it began. Where nothing else tells that
    a leader became a follower, or a follower another's (before 2.6 only state-change.log does), its fetcher does, with the epoch from 1.0 on.
    It starts at the follower's end or below: only an offset above what is known tells something."""
    if w.role == "leader":
        if e.leader_epoch is not None and w.epoch is not None and e.leader_epoch <= w.epoch:
            return
        w.follow_unannounced(e.leader_epoch)
    elif e.leader_epoch is not None and (w.epoch is None or e.leader_epoch > w.epoch):
        w.enter(e.leader_epoch, "follower", None)
    if e.offset is not None and e.reason == "own-end" and (w.end is None or e.offset > w.end):
        if w.knows_end:
            w.forget_restarts()
        w.end_exactly(e.offset, e)
    w.fetching = w.fetched = True
    w.untold = w.stopped_fetching = False


def _on_fetching_ends(w: _Walk, e: Event) -> None:
    if w.fetching and w.role != "leader":
        w.grows()
    w.fetching, w.stopped_fetching = False, w.role == "follower" and not w.fetched


def _on_reset(w: _Walk, e: Event) -> None:
    """A reset to the leader's log end proves by itself what the follower had: it cuts its log there, in the same thread
    (ReplicaFetcherThread.handleOffsetOutOfRange, AbstractFetcherThread.fetchOffsetAndTruncate)."""
    if says_cut_before(e):
        _on_reset_after_cut(w, e)
        return
    if e.previous_offset is not None:
        w.end_exactly(e.previous_offset, e)
    if e.reason == "latest" and e.offset is not None:
        w.plan = None
        _cut(w, e.offset, e, "latest")
    elif e.reason == "start" and e.offset is not None:
        if e.previous_offset is None or e.offset > e.previous_offset:  # else it keeps its log, and fetches from its end
            w.end_exactly(e.offset, e)
    elif e.reason == "tier":
        w.end_at_least(e.offset, e)
    else:
        w.plan = e


def _on_reset_after_cut(w: _Walk, e: Event) -> None:
    last = w.replica.removals[-1] if w.replica.removals else None
    if e.offset is None:
        return
    if last is not None and (last.start, last.cause) == (e.offset, "truncation"):
        w.replica.removals[-1] = replace(last, cause="latest", evidence=(*last.evidence[:-1], e, *last.evidence[-1:]))
        w.end_exactly(e.offset, e)
        return
    _reached_past(w, e.offset, e)
    _cut(w, e.offset, e, "latest")


def says_cut_before(reset: Event) -> bool:
    """Up to 0.8.2 a follower cuts its log to its leader's log end before it says that it reset its fetch offset, and from where only if its log
    ends there already (ReplicaFetcherThread.handleOffsetOutOfRange). From 0.9 on it says so first."""
    return reset.event == "fetch-offset-reset" and reset.reason == "latest" and reset.previous_offset in (None, reset.offset)


def _on_fetch_error(w: _Walk, e: Event) -> None:
    """A follower fetches from its log's end. Up to 0.8.2 only this line says where that was before it reset its fetch offset."""
    last = w.replica.removals[-1] if w.replica.removals else None
    if e.reason != "OFFSET_OUT_OF_RANGE" or e.previous_offset is None or last is None or last.cause != "latest":
        return
    reset = last.evidence[-1]
    if says_cut_before(reset) and reset is w.end_event and e.offset == last.start and e.previous_offset > last.end:
        w.replica.removals[-1] = replace(last, end=e.previous_offset, exact=True, settled=True, evidence=(e, *last.evidence))


def _on_plan(w: _Walk, e: Event) -> None:
    w.plan = e


def _on_below_hw(w: _Walk, e: Event) -> None:
    w.high_watermark(e.high_watermark, e, AT_LEAST)


def _on_recovery(w: _Walk, e: Event) -> None:
    w.recovering = w.recovering or e


def _on_corruption(w: _Walk, e: Event) -> None:
    if e.pattern != "segment":
        w.cut = True
        w.recovering = w.recovering or e


def _on_shrink(w: _Walk, e: Event) -> None:
    w.settle_intent(e)
    w.end_at_least(e.log_end_offset, e)
    w.high_watermark(e.high_watermark, e, AT_LEAST)
    w.intent = (w.leads_in, e)
    w.grows()


def _on_expand(w: _Walk, e: Event) -> None:
    w.settle_intent(e)
    w.intent = (w.leads_in, e)
    w.grows()


def _on_update(w: _Walk, e: Event) -> None:
    w.explicit_updates = True
    w.intent = None
    w.replica.isr_updates.append(IsrUpdate(w.broker, w.leads_in, e, tuple(e.isr or ())))
    w.grows()


def _on_rejected(w: _Walk, e: Event) -> None:
    w.intent = None
    w.replica.rejected.append(e)


def _on_hw_loaded(w: _Walk, e: Event) -> None:
    """It is the checkpointed one, of a time before the log was loaded; up to 2.5 the line comes after the first request of the new life.
    A request it comes with in any case (Partition#getOrCreateReplica, createLog): where none is in evidence, it may have led to fetching."""
    w.untold = w.untold or w.role is None
    w.see("high-watermark", e.high_watermark, AT_LEAST, e, w.replica.loads[-1].epoch if w.replica.loads else w.epoch)


def _on_offset(w: _Walk, e: Event) -> None:
    w.end_at_least(e.offset, e)


def _on_hw_checkpoint(w: _Walk, e: Event) -> None:
    """Only files of an earlier collection come by here: what a dead broker's disk said last."""
    w.high_watermark(e.offset, e, AT_LEAST)
    w.end_at_least(e.offset, e, last_word=True)


def _on_segment(w: _Walk, e: Event) -> None:
    reached, readable = reach_of(e)
    w.end_at_least(reached, e, last_word=readable)


def _on_log_start(w: _Walk, e: Event) -> None:
    w.see("log-start-offset", e.log_start_offset, EXACT, e, w.epoch)


STEPS = {
    "log-load": _on_load,
    "log-created": _on_created,
    "log-deleted": _on_deleted,
    "leader-start": _on_leader_start,
    "follower-start": _on_follower_start,
    "partition-state": _on_state,
    "become-refused": _on_refused,
    "truncation": _on_truncation,
    "truncation-noop": _on_truncation_noop,
    "truncation-plan": _on_plan,
    "truncation-below-hw": _on_below_hw,
    "fetch-offset-reset": _on_reset,
    "fetch-error": _on_fetch_error,
    "fetcher-added": _on_fetcher,
    "fetcher-removed": _on_fetching_ends,
    "log-recovery": _on_recovery,
    "log-corruption": _on_corruption,
    "isr-shrink": _on_shrink,
    "isr-expand": _on_expand,
    "isr-update": _on_update,
    "isr-rejected": _on_rejected,
    "hw-loaded": _on_hw_loaded,
    "hw-missing": _on_hw_loaded,
    "segment-roll": _on_offset,
    "producer-snapshot": _on_offset,
    "recovery-point": _on_offset,
    "hw-checkpoint": _on_hw_checkpoint,
    "segment": _on_segment,
    "log-start-move": _on_log_start,
    "log-start-checkpoint": _on_log_start,
}
WITHOUT_STEP: Mapping[str, frozenset[str]] = {
    "of its role or its requests, not of what the log holds": named(
        *("recovering-mark", "follower-kept", "append-refused", "append-error", "replica-added", "partition-failed")
    ),
    "the one it falls from may be its new leader's, in whose answer it stood that told where to cut (KIP-595, up to 3.4: KAFKA-14704)": named(
        "hw-regression"
    ),
    "it moves neither the end of the log nor its high watermark": named("segment-delete", "log-moved", "log-dir-partitions"),
    "of another topic's log": named("topic-id-mismatch"),
    "of its lineage (lineage)": named("epoch-assigned", "epoch-conflict", "epoch-entry", "epoch-file"),
    "of its disk (disk)": named("partition-metadata", "cleaner-checkpoint"),
}
"""Kinds that say something of a replica and nothing of what its log held, and why."""


def history(broker: int, events: Sequence[Event], confirms: Callable[[Event], bool | None]) -> Replica:
    """A broker's replica from its events in its own order. Files of an earlier collection stand where their times put them. `confirms`: a
    change of the ISR that took effect after this intention would have left a line; None: not known."""
    walk = _Walk(broker, tells_fetching=any(e.event == "fetcher-added" for e in events), confirms=confirms)
    for event in events:
        if step := STEPS.get(event.event):
            step(walk, event)
    walk.settle_intent()
    replica = walk.replica
    replica.epoch, replica.log_end_offset = walk.epoch, walk.end
    ends = (o for o in reversed(replica.observations) if o.quantity == "log-end-offset")
    replica.reach = next((o for o in ends if o.event is walk.end_event), None)
    replica.ends_there = walk.knows_end
    replica.events = list(events)
    return replica


@dataclass
class Disk:
    """What a replica's directory held when it was collected."""

    broker: int
    collection: str
    directory: str | None = None
    """The partition's own directory in the evidence; None where only checkpoints of the log directory were collected."""
    state: str | None = None
    """None for the replica itself; 'delete', 'future' or 'stray' as Kafka marks a directory that is none, or not yet."""
    log_end_offset: int | None = None
    """Where the log ends if the broker starts after an unclean stop: without damage its end, else where the recovery cuts it."""
    extent: Extent = field(default_factory=Extent)
    segments: list[Event] = field(default_factory=list)
    epochs: list[tuple[int, int]] = field(default_factory=list)
    """(leader epoch, start offset) rows of leader-epoch-checkpoint."""
    epoch_events: list[Event] = field(default_factory=list)
    epoch_file: Event | None = None
    """That a leader-epoch-checkpoint is there at all, and with how many entries."""
    high_watermark: Event | None = None
    recovery_point: Event | None = None
    log_start: Event | None = None
    topic_id: str | None = None

    @property
    def reach(self) -> int | None:
        """How far the log is known to have reached: the offset behind its last valid batch, also behind a damage."""
        return self.extent.reach if self.extent.reach is not None else self.log_end_offset

    def reached(self, cleaned: bool | None) -> int | None:
        """`reach`. In a log that the log cleaner never touched (`cleaned` is False) a hole within a file shows that the base offsets behind it
        are wrong, which no checksum covers: then up to the hole."""
        return self.extent.unbroken if cleaned is False and self.extent.unbroken is not None else self.reach

    @property
    def end_unknown(self) -> bool:
        """The log's last bytes are not readable, or the offsets of its last file do not rise: `reach` is a lower bound."""
        return self.extent.end_unknown

    @property
    def damaged(self) -> tuple[DamagedStretch, ...]:
        """Stretches without valid batches, other than the torn end an unclean stop leaves."""
        return tuple(s for s in self.extent.stretches if not s.ordinary)

    @property
    def tail_damaged(self) -> bool:
        """`end_unknown`, and not only by the torn end an unclean stop leaves."""
        return self.end_unknown and not (self.extent.stretches and self.extent.stretches[-1].ordinary)

    def damaged_within(self, start: int, end: int) -> bool:
        """Some of the offsets [start, end) may lie in a damaged stretch."""
        return any(s.start < end and (s.end is None or s.end > start) for s in self.extent.stretches)

    def ends_exactly(self, cleaned: bool | None, *, write_failed: bool = False) -> bool:
        """The log ended at `reach`. A hole in its offsets shows that more may be missing, unless the log cleaner made it (`cleaned`). A torn last
        batch was never part of the log if its write failed."""
        readable = not self.end_unknown or (write_failed and self.extent.torn)
        return self.reach is not None and readable and (cleaned is True or not self.extent.holes)

    @property
    def as_of(self) -> datetime | None:
        """The last sign of writing on it: high watermarks are checkpointed every few seconds, whether they moved or not
        (replica.high.watermark.checkpoint.interval.ms)."""
        return max((e.at for e in (*self.segments, self.high_watermark) if e is not None and e.at is not None), default=None)

    @cached_property
    def last_epoch(self) -> int | None:
        """The latest leader epoch with records in this log, by its epoch file or its batches."""
        known = [epoch for epoch, _ in self.epochs]
        for segment in self.segments:
            known.extend(b["leader_epoch"] for b in (segment.batches or ()) if b["leader_epoch"] >= 0)
        return max(known, default=None)

    def batches(self) -> Iterator[Mapping[str, Any]]:
        """The headers of its record batches, by offset."""
        return (b for s in self.segments for b in s.batches or ())

    def end_event(self) -> Event | None:
        return max(self.segments, key=lambda s: s.log_end_offset or 0, default=None)


ASIDE = frozenset({"delete", "future", "stray"})
"""Directories of a partition beside its replica's: renamed to be deleted (asynchronously), the copy of a move between log
directories (KIP-113), put aside because the replica was not the broker's (KAFKA-15605)."""
_IN_DIRECTORY = ON_DISK - of(role=Role.CHECKPOINT)


def disk(broker: int, collection: str, events: Iterable[Event]) -> Disk:
    """A directory's state from the events of its files."""
    found = Disk(broker, collection)
    for e in events:
        if e.event in _IN_DIRECTORY and found.directory is None:
            found.directory = e.source.rpartition("/")[0]
        if e.event == "segment":
            found.segments.append(e)
        elif e.event == "epoch-entry" and e.leader_epoch is not None and e.offset is not None:
            found.epochs.append((e.leader_epoch, e.offset))
            found.epoch_events.append(e)
        elif e.event == "epoch-file":
            found.epoch_file = e
        elif e.event == "hw-checkpoint":
            found.high_watermark = e
        elif e.event == "recovery-point":
            found.recovery_point = e
        elif e.event == "log-start-checkpoint":
            found.log_start = e
        elif e.event == "partition-metadata":
            found.topic_id = e.topic_id
    found.segments.sort(key=lambda s: (s.offset or 0, s.byte or 0))
    flushed = found.recovery_point.offset if found.recovery_point is not None else None
    found.extent = extent(found.segments, flushed)
    found.log_end_offset = found.extent.recovery_end
    return found
