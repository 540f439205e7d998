"""One replica's history: the contents of its log by its broker's own lines and files, and the records it lost.

Here: the walk over one broker's events of one partition, in the broker's own order. It produces dated observations of log end offset and
high watermark (with bounds), and removals: ranges of offsets that were in this log and later were not. Not here: whether other replicas
kept a removed record (forensics.proof.losses), or the order between brokers (timeline).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any, NamedTuple

from forensics.model.events import Event
from forensics.model.message import Message
from forensics.model.partition.damaged import DamagedStretch, Extent, extent, reach_of
from forensics.model.times import grouped
from forensics.thresholds import FETCHER_CREATED, SHORTEST_START
from parsers.cached import cached_property
from parsers.frozen import dataclass
from parsers.kinds import ON_DISK, RETENTION, Role, of

EXACT, AT_LEAST, AT_MOST = "exact", "at-least", "at-most"


OWN_LOSS = frozenset({"restart", "empty"})
"""Causes of removals by which records are missing on one disk: they are gone only if its broker led without them."""


class Observation(NamedTuple):
    """An observed offset. `epoch`: last leader epoch the broker knew of when its log held this, None if unknown."""

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
    """Offsets [start, end) were in a replica's log and are no longer.

    `cause`: 'leader-epoch' or 'high-watermark' (a follower truncated, and why), 'latest' (to its leader's log end, which was below its
    own), 'truncation' (reason unknown), 'restart' (the loaded log is shorter), 'empty' (the log was created again), 'left-behind' (still
    on the disk of a replica that never followed a later leader), 'deleted' or 'stray' (the whole log, because the replica was removed),
    'renamed' (only files that Kafka renamed show that the log had them).
    """

    broker: int
    start: int
    end: int
    exact: bool
    """`end` is the log end, not only an offset the log is known to have reached."""
    cause: str
    epoch: int | None
    """No removed record has a later leader epoch; None if unknown."""
    under_epoch: int | None
    """Leader epoch the broker was in when it removed them; None if unknown."""
    at: datetime | None
    evidence: tuple[Event, ...]


class Contradiction(NamedTuple):
    """Two statements about one partition that cannot both be true, each with its value."""

    about: str
    """A phrase of forensics/words/contradiction.toml."""
    one: Event
    first: int | Message
    """The first value: an offset, or what `one` says."""
    other: Event
    second: int | Message


@dataclass(frozen=True, slots=True)
class LeaderStart:
    """A broker begins to lead. `restart`: a restarted process leads in the same epoch as before."""

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
    """Whether it took effect. False: the leader intended it, and would have printed its effect; None: whether it would have is unknown."""


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
    """All of one broker's own evidence of one partition."""

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
    deleted_logs: list[Removal] = field(default_factory=list)
    """Whole logs that were deleted, or renamed as stray, because the replica was removed."""
    recreated: list[tuple[int | None, Event]] = field(default_factory=list)
    """Creations of an empty log where a log existed that was not deleted, each with the broker's last leader epoch at the time."""
    contradictions: list[Contradiction] = field(default_factory=list)
    """Lines that give the same log different ends."""
    recovered: list[tuple[int | None, Event]] = field(default_factory=list)
    """Recoveries of the log that no line about its end follows, each with the broker's last leader epoch at the time."""
    events: list[Event] = field(default_factory=list)

    @property
    def starts(self) -> list[LeaderStart | FollowerStart]:
        """Where it began to lead, and where it began to follow."""
        return [*self.leader_starts, *self.follower_starts]


@dataclass
class _Walk:
    """State of the walk over one broker's events."""

    broker: int
    replica: Replica
    confirms: Callable[[Event], bool | None]
    stops: Callable[[Event], bool]
    tells_fetching: bool
    epoch: int | None = None
    records_epoch: int | None = None
    role: str | None = None
    end: int | None = None
    exact: bool = False
    growing: bool = False
    fetching: bool = False
    role_unclear: bool = False
    """The evidence of whether the broker fetches is missing or still to come."""
    fetched: bool = False
    began: int | None = None
    """Log end when it began to follow in its epoch, or at its last truncation since."""
    end_at_entry: int | None = None
    """Exact log end when it entered its epoch; None if unknown, or if the log was truncated since."""
    stopped_fetching: bool = False
    """Its fetcher was removed after it entered its epoch, and none was added since."""
    end_event: Event | None = None
    end_epoch: int | None = None
    """Last leader epoch it knew of when its log was seen to reach `end`."""
    plan: Event | None = None
    recovering: Event | None = None
    cut: bool = False
    loaded: bool = False
    untouched: bool = False
    """The log was loaded or created, and no line since shows that its broker led or followed."""
    several: bool = False
    loading: list[Event] = field(default_factory=list)
    has_log: bool = False
    intent: tuple[int | None, Event] | None = None
    explicit_updates: bool = False
    begins: int | None = None
    """Log start offset: retention has deleted what is below. None until a line gives it."""
    first_end: int | None = None
    """Where the log was when it was first seen, or seen again after a deletion: it began there or below."""

    # observations

    def see(self, quantity: str, offset: int | None, bound: str, event: Event, epoch: int | None) -> None:
        if offset is not None and offset >= 0:
            self.replica.observations.append(Observation(quantity, self.broker, offset, bound, epoch, event.at, event))

    def end_exactly(self, offset: int, event: Event) -> None:
        """Records that the log ends here now; the end stays exact until the broker may append again."""
        self.end, self.exact, self.growing, self.end_event, self.end_epoch = offset, True, False, event, self.epoch
        self._begins_below(offset)
        self.see("log-end-offset", offset, EXACT, event, self.epoch)

    def end_at_least(self, offset: int | None, event: Event) -> None:
        """Records that the log reached this offset."""
        if offset is None or offset < 0:
            return
        self.see("log-end-offset", offset, AT_LEAST, event, self.epoch)
        self.first_end = self.first_end if self.first_end is not None else offset
        if self.end is None or offset > self.end:
            self.end, self.exact, self.end_event, self.end_epoch = offset, False, event, self.epoch

    def _begins_below(self, end: int) -> None:
        """A log that ends at an offset begins there or below."""
        if self.begins is not None or end == 0:
            self.begins = min(self.begins or 0, end)
        self.first_end = min(self.first_end, end) if self.first_end is not None else end

    @property
    def surely_begun(self) -> int:
        """An offset at which the log had begun: everything from there to its end was in it."""
        return next((offset for offset in (self.begins, self.first_end, self.end) if offset is not None), 0)

    @property
    def knows_end(self) -> bool:
        """Whether `end` is exact now: nothing can have been appended since it was seen."""
        return self.exact and not (self.growing or self.fetching or self.role_unclear or self.recovering)

    def reaches(self, offset: int | None, event: Event) -> None:
        """Compares a lower bound of the end with the exact end, while no request or fetch can have changed it."""
        if offset is not None and self.end is not None and offset > self.end and (self.untouched or self.unfetched(event)):
            self.against(offset, event)

    def against(self, offset: int, event: Event) -> None:
        """Two lines about the end of the log contradict each other. Lines of two logs of this name do not."""
        if self.end is not None and self.end_event is not None and not self.several:
            self.replica.contradictions.append(Contradiction("log-end", self.end_event, self.end, event, offset))

    def unfetched(self, event: Event) -> bool:
        """Right after it became a follower a replica truncates its log, before its first fetch: until then its end is the same."""
        start = self.end_event
        if start is None or start.event != "follower-start" or start.at is None or event.at is None or self.growing:
            return False
        return event.at - start.at < FETCHER_CREATED

    @property
    def leads_in(self) -> int | None:
        """The epoch in which it leads by its own lines. None if its last known role is follower and its leader start is missing, or if
        it was started since: it may lead in a later epoch."""
        return self.epoch if self.role == "leader" and not self.loaded else None

    @property
    def epoch_of_end(self) -> int | None:
        """The latest leader epoch of the records up to `end`: they were there when the end was seen, whatever requests the broker got
        since. Records that a follower had when it began to follow are older."""
        if self.began is not None and self.end == self.began:
            return self.records_epoch
        return self.end_epoch if self.end_epoch is not None else self.epoch

    def grows(self) -> None:
        """Marks that the log may grow: the broker leads or fetches. Lines of either role show this even if the role's start is missing."""
        self.growing, self.untouched = True, False

    def high_watermark(self, offset: int | None, event: Event, bound: str = EXACT) -> None:
        self.see("high-watermark", offset, bound, event, self.epoch)

    def remove(self, start: int, event: Event, cause: str, *more: Event | None, epoch: int | None, under: int | None) -> None:
        emptied = cause in OWN_LOSS and start == 0
        start = self.surely_begun if emptied else max(start, self.begins or 0)
        if self.end is None or self.end <= start:
            return
        evidence = tuple(e for e in dict.fromkeys((self.end_event, *more, event)) if e is not None)
        self.replica.removals.append(
            Removal(self.broker, start, self.end, self.exact and not self.growing, cause, epoch, under, event.at, evidence)
        )

    def forget_restarts(self) -> None:
        """Drops restart removals of the current loads. A log that is loaded after another of this name, with no role in between, and
        cannot be the same log, is a different one: a start also loads logs of the topic's earlier generations that wait for their
        deletion, and up to 2.2 no line distinguishes them. Offsets missing in one were in another."""
        self.replica.removals = [r for r in self.replica.removals if r.cause != "restart" or r.evidence[-1] not in self.loading]
        self.replica.contradictions = [c for c in self.replica.contradictions if c.one not in self.loading]

    def forget_ends(self) -> None:
        """Drops what the current loads say about the log, unless they agree."""
        ends = {e.log_end_offset for e in self.loading}
        if len(ends) > 1:
            self.end, self.exact, self.end_event = None, False, None
            self.replica.observations = [o for o in self.replica.observations if o.event not in self.loading]

    # transitions

    def enter(self, epoch: int | None, role: str, end: int | None) -> None:
        """Enters a leader epoch; the log holds records of earlier epochs until the broker appends again. A broker that is stopped while
        it hands over receives the epoch, then again after its return, without a fetch in between. `end`: exact log end at this time."""
        if epoch is None:
            return
        self.untouched = False
        again = epoch == self.epoch
        if not self.idle(again, end):
            self.records_epoch = self.epoch
            self.fetched = False
        if not again:
            self.end_at_entry, self.stopped_fetching = end, False
        if self.epoch is None or epoch >= self.epoch:
            self.epoch = epoch
        self.role, self.began, self.recovering = role, None, None

    def idle(self, again: bool, end: int | None) -> bool:
        """Whether nothing was appended in the current epoch: the broker followed and fetched nothing. Before another epoch (not `again`)
        a missing fetcher line does not prove this: the fetcher must have been removed, or the log must end where it ended at the entry."""
        if self.epoch is None or self.fetched or self.role == "leader" or not self.tells_fetching:
            return False
        return again or self.stopped_fetching or (end is not None and end == self.end_at_entry)

    def knew(self, start: Event) -> None:
        """Sets the previous leader epoch from a start line, if the broker's own line of that time does not name the epoch."""
        before = start.previous_leader_epoch
        if before is not None and max(self.epoch or 0, 0) <= before < (start.leader_epoch or 0):
            if before != self.epoch:
                self.end_at_entry, self.stopped_fetching = None, False
            self.epoch = before

    def follow_unannounced(self, epoch: int | None) -> None:
        """The broker follows in a later leader epoch than the last known one; None: the epoch is unknown."""
        self.records_epoch, self.fetched, self.began, self.untouched = self.epoch, False, None, False
        self.end_at_entry, self.stopped_fetching = None, False
        self.epoch, self.role = epoch, "follower"

    def settle_intent(self, next_intent: Event | None = None) -> None:
        """Closes the last intended ISR change. It took effect if the next intended change begins with its result. From 2.4 on another
        line confirms it. Before 2.4 the last one stays open: its write may have failed, or its leader may have stopped before the write
        (Partition#updateIsr)."""
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
        if (before := w.replica.loads[-1]).offset != e.log_end_offset:
            w.replica.contradictions.append(Contradiction("load", before.event, before.offset, e, e.log_end_offset))
    elif w.end is not None and e.log_end_offset < w.end:
        if w.recovering is not None and w.end_event is not None and is_after(w.end_event, w.recovering):
            w.against(e.log_end_offset, e)  # a recovery cuts a segment before it prints how far the log goes
        w.remove(e.log_end_offset, e, "restart", w.recovering, epoch=w.epoch_of_end, under=w.epoch)
    created = w.end is None and w.role == "leader" and e.log_end_offset == 0
    unclean = w.recovering is not None or w.cut
    w.replica.loads.append(Load(w.broker, e.log_end_offset, unclean, w.cut, w.epoch, e.at, e))
    w.replica.recovered = [(epoch, recovery) for epoch, recovery in w.replica.recovered if recovery is not w.recovering]
    w.end_exactly(e.log_end_offset, e)
    _on_log_start(w, e)
    if w.several and _soon(w.loading[0], e):  # of one start: which of these logs is the replica is unknown
        w.forget_ends()
    if created:
        w.grows()
    w.role_unclear = w.role_unclear and not w.has_log
    w.has_log = w.has_log or e.log_end_offset > 0
    w.loaded, w.untouched, w.fetching, w.recovering, w.cut = not created, not created, False, None, False


def is_after(one: Event, other: Event) -> bool:
    """A line is further down in the same file."""
    return one.source == other.source and one.line is not None and other.line is not None and one.line > other.line


def _of_another(load: Event, before: Load) -> bool:
    """Whether this load is of another log with the same name, as of a deleted topic: the log is longer than the previously loaded one,
    or follows sooner than a process can restart."""
    return _soon(before.event, load) or (load.log_end_offset or 0) > before.offset


def _soon(before: Event, load: Event) -> bool:
    return load.at is not None and before.at is not None and load.at - before.at < SHORTEST_START


def _on_created(w: _Walk, e: Event) -> None:
    """Handles a created log. Up to 0.10 Kafka loads a created log first; that load is not a restart."""
    w.loaded = False
    if w.has_log:
        w.replica.recreated.append((w.epoch, e))
    w.has_log = True
    if w.replica.loads and w.replica.loads[-1].offset == 0 and w.replica.loads[-1].event is w.end_event:
        w.replica.loads.pop()
    if w.end:
        w.remove(0, e, "empty", epoch=w.epoch_of_end, under=w.epoch)
    w.end_exactly(0, e)
    w.role_unclear = w.role_unclear or w.role is None  # a request creates the log, and the request's content is missing
    w.untouched = w.role is None
    if w.role == "leader":
        w.grows()


def _on_deleted(w: _Walk, e: Event) -> None:
    if w.end is not None and w.end > w.surely_begun:
        cause, evidence = "stray" if e.reason == "stray" else "deleted", tuple(x for x in (w.end_event, e) if x is not None)
        w.replica.deleted_logs.append(Removal(w.broker, w.surely_begun, w.end, w.knows_end, cause, w.epoch_of_end, w.epoch, e.at, evidence))
    w.end, w.exact, w.end_event, w.loaded, w.role, w.has_log, w.begins, w.first_end = None, False, None, False, None, False, None, None


def _compare(w: _Walk, offset: int, e: Event) -> None:
    """Compares the offset of a start line with the known log end. Only a restarted process can hold less without a truncation line: one
    that knows an earlier leader epoch cannot, and neither can one between the load of its log and its first role."""
    if w.end is None or offset == w.end or (w.several and any(load.log_end_offset == offset for load in w.loading)):
        return
    first, knows = e.previous_leader_epoch == -1, e.previous_leader_epoch is not None and e.previous_leader_epoch >= 0
    if (first and w.untouched) or (offset < w.end and knows and not w.loaded):
        w.against(offset, e)
    if offset < w.end and (first or w.loaded):
        w.remove(offset, e, "restart", epoch=w.epoch_of_end, under=w.epoch)


def _on_leader_start(w: _Walk, e: Event) -> None:
    offset = e.log_end_offset
    w.high_watermark(e.high_watermark, e, AT_LEAST)
    if offset is not None:
        _compare(w, offset, e)
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
    w.loaded, w.has_log, w.role_unclear = False, True, False


def _on_follower_start(w: _Walk, e: Event) -> None:
    w.knew(e)
    w.high_watermark(e.high_watermark, e, AT_LEAST)
    if e.log_end_offset is not None:
        _compare(w, e.log_end_offset, e)
        w.end_exactly(e.log_end_offset, e)
    if e.leader_epoch is not None:
        w.replica.follower_starts.append(FollowerStart(w.broker, e.leader_epoch, e.log_end_offset, e.at, e))
    w.enter(e.leader_epoch, "follower", e.log_end_offset)
    w.began = e.log_end_offset
    w.loaded, w.has_log = False, True


def _on_state(w: _Walk, e: Event) -> None:
    """Handles a LeaderAndIsr request: before 2.6 the only evidence of a follower's epoch, before 0.11 of a leader's too."""
    if e.reason != "received" or e.leader_epoch is None or e.leader is None:
        return
    role = "leader" if e.leader == w.broker else "follower"
    if w.role_unclear and w.role == "follower" and not w.loaded:
        w.grows()  # whether it fetched since the previous request is missing
    again = w.epoch == e.leader_epoch and w.role == role
    if (again and not w.loaded) or (w.epoch is not None and e.leader_epoch < w.epoch):
        return
    end = w.end if w.knows_end else None
    if role == "leader":
        w.replica.leader_starts.append(LeaderStart(w.broker, e.leader_epoch, w.end, w.knows_end, None, again, e.at, e))
    elif not again:
        w.replica.follower_starts.append(FollowerStart(w.broker, e.leader_epoch, end, e.at, e))
    w.enter(e.leader_epoch, role, end)
    if role == "leader":
        w.grows()
    w.loaded, w.role_unclear = False, role == "follower"


def _on_refused(w: _Walk, e: Event) -> None:
    """No fetcher is created for an unavailable leader."""
    w.role_unclear = w.role_unclear and e.reason != "leader-unavailable"


def _on_truncation(w: _Walk, e: Event) -> None:
    if e.offset is None:
        return
    if _is_cut_of_reset(w, e):
        last = w.replica.removals[-1]
        w.replica.removals[-1] = replace(last, at=e.at, evidence=(*last.evidence, e))
        w.end_exactly(e.offset, e)
        return
    if _planned_elsewhere(w, e):
        w.plan = None  # belongs to a truncation that is missing or did not happen
    cause = w.plan.reason if w.plan is not None and w.plan.reason else "truncation"
    if e.reason == "longer":
        _reached_past(w, e.offset, e)
    _cut(w, e.offset, e, cause)


def _planned_elsewhere(w: _Walk, e: Event) -> bool:
    """Whether the last plan names another offset."""
    plan = w.plan
    if plan is None or plan.event != "truncation-plan" or plan.offset is None or e.offset is None or plan.offset == e.offset:
        return False
    if is_after(e, plan) and e.at is not None and plan.at is not None and e.at - plan.at < SHORTEST_START:
        w.replica.contradictions.append(Contradiction("plan", plan, plan.offset, e, e.offset))
    return True


def _is_cut_of_reset(w: _Walk, e: Event) -> bool:
    """Whether the last removal comes from the reset of the fetch offset right before this line."""
    reset = w.end_event
    last = w.replica.removals[-1] if w.replica.removals else None
    if reset is None or last is None or reset.event != "fetch-offset-reset" or reset is not last.evidence[-1]:
        return False
    return last.cause == "latest" and reset.offset == e.offset


def _reached_past(w: _Walk, offset: int, e: Event) -> None:
    """Records that the log contained at least the record at this offset."""
    w.reaches(offset + 1, e)
    if not w.knows_end and (w.end is None or w.end <= offset):
        w.end_at_least(offset + 1, e)


def _cut(w: _Walk, offset: int, e: Event, cause: str) -> None:
    """A follower's log ends at this offset from now on."""
    grew = w.began is not None and w.end is not None and w.end > w.began
    epoch, under = _epochs_of_cut(w, cause, grew=grew)
    w.remove(offset, e, cause, w.plan, epoch=epoch, under=under)
    if w.role != "follower" or grew:
        w.follow_unannounced(None)
    w.end_exactly(offset, e)
    w.began = offset if w.began is not None else None
    w.plan, w.role_unclear, w.end_at_entry = None, True, None


def _epochs_of_cut(w: _Walk, cause: str, *, grew: bool) -> tuple[int | None, int | None]:
    """The latest leader epoch of the removed records, and the one in which they were removed."""
    start_missing = w.role == "leader" or grew or (w.loaded and not w.fetching)  # of the new leader and of the epoch of this follower
    epoch, under = (w.epoch, None) if start_missing else (w.records_epoch, w.epoch)
    known = w.plan.leader_epoch if w.plan is not None and cause == "leader-epoch" else None
    if known is not None and epoch is not None and known > epoch:  # the follower's last epoch is at least `known`; its start is missing
        return known, under if under is not None and under > known else None
    return epoch, under


def _on_truncation_noop(w: _Walk, e: Event) -> None:
    _planned_elsewhere(w, e)
    if e.log_end_offset is not None:
        if w.unfetched(e) and e.log_end_offset != w.end:
            w.against(e.log_end_offset, e)
        w.end_exactly(e.log_end_offset, e)
    w.plan = None


def _on_fetcher(w: _Walk, e: Event) -> None:
    """Fetching begins: the log may grow from now on, so a follower's exact end is only where fetching began. If no other line shows that
    a leader became a follower, or that a follower got another leader (before 2.6 only state-change.log does), the fetcher shows it, with
    the epoch from 1.0 on. Fetching starts at the follower's end or below: only an offset above the known end adds information."""
    if w.role == "leader":
        if e.leader_epoch is not None and w.epoch is not None and e.leader_epoch <= w.epoch:
            return
        w.follow_unannounced(e.leader_epoch)
    elif e.leader_epoch is not None and (w.epoch is None or e.leader_epoch > w.epoch):
        w.enter(e.leader_epoch, "follower", None)
    w.reaches(e.offset, e)
    if e.offset is not None and e.reason == "own-end" and (w.end is None or e.offset > w.end):
        if w.knows_end:
            w.forget_restarts()
        w.end_exactly(e.offset, e)
    w.fetching = w.fetched = True
    w.role_unclear = w.stopped_fetching = False


def _on_fetching_ends(w: _Walk, e: Event) -> None:
    if w.fetching and w.role != "leader":
        w.grows()
    w.fetching, w.stopped_fetching = False, w.role == "follower" and not w.fetched


def _on_reset(w: _Walk, e: Event) -> None:
    """A reset to the leader's log end proves the follower's own log end: the follower truncates its log there, in the same thread
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
        if e.previous_offset is None or e.offset > e.previous_offset:  # otherwise it keeps its log and fetches from its end
            w.end_exactly(e.offset, e)
            w.begins = e.offset
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
    """Whether the follower truncated before this reset line. Up to 0.8.2 it truncates its log to its leader's log end before it prints
    the reset, and prints the previous offset only if the log ends there already (ReplicaFetcherThread.handleOffsetOutOfRange). From 0.9
    on it prints the reset first."""
    return reset.event == "fetch-offset-reset" and reset.reason == "latest" and reset.previous_offset in (None, reset.offset)


def _on_fetch_error(w: _Walk, e: Event) -> None:
    """A follower fetches from its log's end. Up to 0.8.2 only this line shows that offset before the reset."""
    last = w.replica.removals[-1] if w.replica.removals else None
    if e.reason != "OFFSET_OUT_OF_RANGE" or e.previous_offset is None or last is None or last.cause != "latest":
        return
    reset = last.evidence[-1]
    if says_cut_before(reset) and reset is w.end_event and e.offset == last.start and e.previous_offset > last.end:
        w.replica.removals[-1] = replace(last, end=e.previous_offset, exact=True, evidence=(e, *last.evidence))


def _on_plan(w: _Walk, e: Event) -> None:
    w.plan = e


def _on_below_hw(w: _Walk, e: Event) -> None:
    w.reaches(e.high_watermark, e)
    w.high_watermark(e.high_watermark, e, AT_LEAST)


def _on_recovery(w: _Walk, e: Event) -> None:
    if w.recovering is None:
        w.recovering = e
        w.replica.recovered.append((w.epoch, e))


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
    """The value is the checkpointed one from before the log was loaded; up to 2.5 the line comes after the new process's first request.
    The line always comes with a request (Partition#getOrCreateReplica, createLog): if that request is missing, it may have led to
    fetching."""
    w.reaches(e.high_watermark, e)
    w.role_unclear = w.role_unclear or w.role is None
    w.see("high-watermark", e.high_watermark, AT_LEAST, e, w.replica.loads[-1].epoch if w.replica.loads else w.epoch)


def _on_epoch_assigned(w: _Walk, e: Event) -> None:
    """The first records of a leader epoch were appended. If the line with which the broker entered it is missing, its role is unknown."""
    if e.leader_epoch is not None and w.epoch is not None and e.leader_epoch > w.epoch:
        w.follow_unannounced(e.leader_epoch)
        w.role = None
        w.grows()


def _on_offset(w: _Walk, e: Event) -> None:
    w.has_log = w.has_log or bool(e.offset)
    w.end_at_least(e.offset, e)


def _on_snapshot(w: _Walk, e: Event) -> None:
    """A log that is closed in a clean stop writes the state of its producers at its end (UnifiedLog#close), if it has grown since the last
    time."""
    _on_offset(w, e)
    if e.offset is not None and e.offset == w.end and w.stops(e):
        w.end_exactly(e.offset, e)


def _on_hw_checkpoint(w: _Walk, e: Event) -> None:
    """Only files of an earlier collection reach this step: the last state on the disk of a stopped broker."""
    w.high_watermark(e.offset, e, AT_LEAST)
    w.end_at_least(e.offset, e)


def _on_segment(w: _Walk, e: Event) -> None:
    w.end_at_least(reach_of(e), e)


def _on_log_start(w: _Walk, e: Event) -> None:
    w.see("log-start-offset", e.log_start_offset, EXACT, e, w.epoch)
    if e.log_start_offset is not None:
        w.begins = max(e.log_start_offset, 0)


def _on_segment_delete(w: _Walk, e: Event) -> None:
    """Retention deletes the first segments. The line after this one says where the log begins now (UnifiedLog#deleteSegments). Without it,
    the log begins at most where it is seen next."""
    _on_log_start(w, e)
    if e.reason in RETENTION:
        w.begins = w.first_end = None


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
    "epoch-assigned": _on_epoch_assigned,
    "log-recovery": _on_recovery,
    "log-corruption": _on_corruption,
    "isr-shrink": _on_shrink,
    "isr-expand": _on_expand,
    "isr-update": _on_update,
    "isr-rejected": _on_rejected,
    "hw-loaded": _on_hw_loaded,
    "hw-missing": _on_hw_loaded,
    "segment-roll": _on_offset,
    "producer-snapshot": _on_snapshot,
    "recovery-point": _on_offset,
    "hw-checkpoint": _on_hw_checkpoint,
    "segment": _on_segment,
    "log-start-move": _on_log_start,
    "segment-delete": _on_segment_delete,
    "log-start-checkpoint": _on_log_start,
}


def history(
    broker: int,
    events: Sequence[Event],
    confirms: Callable[[Event], bool | None],
    stops: Callable[[Event], bool] = lambda _: False,
) -> Replica:
    """A broker's replica from its events in its own order. Files of an earlier collection are ordered by their times. `confirms`: whether
    an ISR change that took effect after this intention would have left a line; None: unknown. `stops`: whether the line is of a clean stop
    that was completed."""
    walk = _Walk(broker, Replica(broker), confirms, stops, any(e.event == "fetcher-added" for e in events))
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
    """Contents of a replica's directory when it was collected."""

    broker: int
    collection: str
    directory: str | None = None
    """The partition's own directory in the evidence; None if only checkpoints of the log directory were collected."""
    state: str | None = None
    """None for the replica itself; 'delete', 'future' or 'stray' for a directory that Kafka marks as not, or not yet, the replica."""
    log_end_offset: int | None = None
    """Log end if the broker starts after an unclean stop: without damage the log's end, else where the recovery truncates it."""
    extent: Extent = field(default_factory=Extent)
    segments: list[Event] = field(default_factory=list)
    epochs: list[tuple[int, int]] = field(default_factory=list)
    """(leader epoch, start offset) rows of leader-epoch-checkpoint."""
    epoch_events: list[Event] = field(default_factory=list)
    epoch_file: Event | None = None
    """Event of an existing leader-epoch-checkpoint, with its number of entries."""
    high_watermark: Event | None = None
    recovery_point: Event | None = None
    log_start: Event | None = None
    topic_id: str | None = None

    @property
    def reach(self) -> int | None:
        """The furthest offset the log is known to have reached: after its last valid batch, including batches after a damage."""
        return self.extent.reach if self.extent.reach is not None else self.log_end_offset

    def reached(self, cleaned: bool | None) -> int | None:
        """`reach`, or the start of a hole. In a log that the log cleaner never touched (`cleaned` is False) a hole within a file shows
        that the base offsets after it are wrong, which no checksum covers: then the log counts up to the hole."""
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
        """`end_unknown`, and not only because of the torn end that an unclean stop leaves."""
        return self.end_unknown and not (self.extent.stretches and self.extent.stretches[-1].ordinary)

    def damaged_within(self, start: int, end: int) -> bool:
        """Whether some of the offsets [start, end) may be in a damaged stretch."""
        return any(s.start < end and (s.end is None or s.end > start) for s in self.extent.stretches)

    def shows(self, start: int, end: int) -> bool:
        """Whether its files show what the log has at the offsets [start, end). A directory that was collected without segments shows
        nothing."""
        begins = bool(self.segments) and (self.segments[0].offset or 0) <= start
        return begins and not self.damaged_within(start, end) and (not self.end_unknown or end <= (self.reach or 0))

    def ends_exactly(self, cleaned: bool | None, *, write_failed: bool = False) -> bool:
        """Whether the log ended at `reach`. A hole in its offsets shows that more may be missing, unless the log cleaner made it
        (`cleaned`). A torn last batch was never part of the log if its write failed."""
        readable = not self.end_unknown or (write_failed and self.extent.torn)
        return self.reach is not None and readable and (cleaned is True or not self.extent.holes)

    @property
    def as_of(self) -> datetime | None:
        """Time of the last write to the directory: high watermarks are checkpointed every few seconds, whether they moved or not
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
"""States of a partition's other directories: renamed for asynchronous deletion, the copy of a move between log directories (KIP-113),
renamed because the replica was not assigned to the broker (KAFKA-15605)."""
REWRITTEN_FILES = frozenset({"cleaned", "swap"})
"""Marks of files of the log cleaner, or of a start that split a segment: they may contain less than the log, and are used for what no other
file has."""
RENAMED_FILES = REWRITTEN_FILES | {"deleted"}
"""Marks of segment files that Kafka renamed within the directory of a replica."""
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
        elif e.event in _FILES:
            setattr(found, _FILES[e.event], e)
        elif e.event == "partition-metadata":
            found.topic_id = e.topic_id
    found.segments = sorted(_loaded(found.segments), key=lambda s: (s.offset or 0, s.byte or 0))
    flushed = found.recovery_point.offset if found.recovery_point is not None else None
    found.extent = extent(found.segments, flushed)
    found.log_end_offset = found.extent.recovery_end
    return found


def _loaded(segments: Sequence[Event]) -> list[Event]:
    """The segments that a broker would load from a replica's directories (LogLoader.load): complete `.swap` files replace the segments from
    which they were made. A set of `.swap` files is incomplete from the first offset on of which there is still a `.cleaned` file."""
    if not any(s.reason == "swap" for s in segments):
        return [s for s in segments if s.reason not in REWRITTEN_FILES]
    by_directory = grouped((s.source.rpartition("/")[0], s) for s in segments)
    return [s for own in by_directory.values() for s in _after_swaps(own)]


def _after_swaps(segments: Sequence[Event]) -> Iterator[Event]:
    cleaned = min((s.offset or 0 for s in segments if s.reason == "cleaned"), default=None)
    swaps = [s for s in segments if s.reason == "swap" and (cleaned is None or (s.offset or 0) < cleaned)]
    start = min((s.offset or 0 for s in swaps), default=0)
    end = max((s.log_end_offset or 0 for s in swaps), default=0)
    yield from swaps
    yield from (s for s in segments if s.reason not in REWRITTEN_FILES and not start <= (s.offset or 0) < end)


_FILES = {
    "epoch-file": "epoch_file",
    "hw-checkpoint": "high_watermark",
    "recovery-point": "recovery_point",
    "log-start-checkpoint": "log_start",
}
"""Fields of Disk, each with the kind of event that it holds."""
