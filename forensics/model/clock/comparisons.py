"""Events that two machines logged for one cause, used to compare their clocks.

Here: which lines and records belong together (KRaft's metadata log, ZooKeeper notifications, leader epochs), and the clock difference
that each pair shows. Not here: the estimate from all comparisons (clocks).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain, pairwise

from forensics.model.clock.clocks import Relation, Subject, combined
from forensics.model.clock.shared_logs import rolled_from
from forensics.model.clock.zones import AGREE_MS, MINUTE_MS, NEAR_ZONE_MS, NOISE_MS, ClockOffset, nearest_zone, plain
from forensics.model.events import Event
from forensics.model.times import grouped, undated_last
from forensics.thresholds import COMING_UP, SEPARATE_RESTARTS
from parsers.kinds import RECORDS, STARTS, By, Role, named, of

NOTICED_MS = 5_000
"""A controller or broker learns of a change in ZooKeeper within this time, unless it is busy."""
BUSY_MS = 30_000
"""Longest time a busy controller takes to process the change."""
TRIED = 16
"""Events of one kind that are paired with each other, per pair of machines: the latest."""

RELATING = named(
    *(
        "broker-starting",
        "controller-starting",
        "broker-started",
        "broker-stopping",
        "controlled-shutdown",
        "broker-state",
        "broker-registered",
        "broker-unfenced",
    ),
    *("shutdown-seen", "brokers-changed", "controller-elected", "metadata-broker", "metadata-broker-change", "metadata-leader"),
)
"""Kinds of events that are compared here."""
LEADERSHIPS = of(role=Role.START | Role.STATE | Role.FETCHING, by=By.LEADER | By.FOLLOWER | By.REPLICA)
"""Kinds of partition events that are compared here, for partition 0 of each topic only: other partitions involve the same few machines."""
_LOOKED_AT = RELATING | LEADERSHIPS
_STARTING = named("broker-starting", "broker-state")
DECIDED = frozenset({"decided", "sent"})


FileSpans = Mapping[str, tuple[datetime, datetime]]
"""The uncorrected times of the first and the last line of each file."""


def relations(
    events: Iterable[Event], anchors: Mapping[int, ClockOffset], hosts: Mapping[int, int] | None = None, spans: FileSpans | None = None
) -> list[Relation]:
    """Comparisons of clocks, one per pair of machines that has any. `events` carry the uncorrected times of their clocks, each file's in
    its own order. Events of one cluster are not compared with those of an earlier cluster on the same brokers. `hosts`: nodes that share
    a clock, mapped to one node each; nodes that share a clock are not compared."""
    hosts, spans = hosts or {}, spans or {}
    clusters = grouped((e.cluster, e) for e in events)
    pairs: dict[tuple[Subject, Subject], list[Relation]] = defaultdict(list)
    for r in (_of_hosts(r, hosts) for own in clusters.values() for r in _of_cluster(own, anchors, hosts, spans)):
        if r.earlier == r.later:
            continue
        turned = (r.later, r.earlier) in pairs
        pairs[(r.later, r.earlier) if turned else (r.earlier, r.later)].append(r.turned() if turned else r)
    return [combined(pairs[key]) for key in sorted(pairs)]


def _of_hosts(r: Relation, hosts: Mapping[int, int]) -> Relation:
    one, two = (s._replace(node=hosts.get(s.node, s.node)) for s in (r.earlier, r.later))
    return replace(r, earlier=one, later=two)


def _of_cluster(events: Iterable[Event], anchors: Mapping[int, ClockOffset], hosts: Mapping[int, int], spans: FileSpans) -> list[Relation]:
    own: dict[int, list[Event]] = defaultdict(list)
    records: dict[tuple[str, int | None], Event] = {}
    for e in events:
        if e.writer is None or e.at is None or e.event not in _LOOKED_AT:
            continue
        if e.event in RECORDS:
            records.setdefault((e.event, e.metadata_offset), e)
        elif e.line is not None:
            own[e.writer].append(e)
    pairs = [(one, two) for one in sorted(own) for two in sorted(own) if hosts.get(one, one) != hosts.get(two, two)]
    found = [*_by_records(own, list(records.values())), *_by_registrations(own, spans), *_by_zookeeper(own, anchors, pairs, spans)]
    compared = {frozenset((r.earlier.node, r.later.node)) for r in found}
    return [*found, *_by_leaders(own, [pair for pair in pairs if frozenset(pair) not in compared])]


def _apart(one: Event, other: Event) -> int:
    assert one.at is not None and other.at is not None
    return round((other.at - one.at).total_seconds() * 1000)


def _between(earlier: Subject, later: Subject, here: Event, before: Event, after: Event) -> Relation | None:
    """The difference of two clocks, given that `here` on the earlier clock happened between two events on the later one."""
    low, high = _apart(here, before), _apart(here, after)
    return Relation(earlier, later, (low + high) // 2, low, high, (here, after)) if low <= high else None


def _by_records(own: Mapping[int, Sequence[Event]], records: Sequence[Event]) -> list[Relation]:
    """KRaft: compares records that the active controller wrote into the metadata log with its own lines and the brokers' lines."""
    active = {e.controller_epoch: e.controller for e in records if e.event == "metadata-leader" and e.controller is not None}
    by_epoch = _by_broker_epoch(records)
    found: list[Relation | None] = []
    for node, events in own.items():
        for broker_epoch, lines in _registered(events):
            for record in by_epoch.get((node, broker_epoch), ()):
                controller, around = active.get(record.controller_epoch), _lines_around(record, lines)
                if controller is not None and around is not None:
                    found.append(_between(Subject(controller, "utc"), Subject(node), record, *around))
        found.extend(_of_the_active(node, events, records, active, by_epoch))
    return [r for r in found if r is not None]


def _by_broker_epoch(records: Iterable[Event]) -> dict[tuple[int | None, int | None], list[Event]]:
    """The first record of each kind about each registration, by broker and broker epoch: a broker does not print that it was fenced and
    unfenced while it ran."""
    by_epoch: dict[tuple[int | None, int | None], list[Event]] = defaultdict(list)
    for record in sorted((r for r in records if r.event != "metadata-leader"), key=lambda r: r.metadata_offset or 0):
        same = by_epoch[(record.broker, record.broker_epoch)]
        if not any((r.event, r.reason) == (record.event, record.reason) for r in same):
            same.append(record)
    return by_epoch


def _registered(events: Sequence[Event]) -> Iterator[tuple[int, list[Event]]]:
    """A broker's events by the broker epoch of its registration, file by file."""
    for file in _files(events):
        yield from _by_registration(file)


def _files(events: Sequence[Event]) -> list[list[Event]]:
    """A broker's events by file; several files may contain the same lines."""
    found = grouped((e.source, e) for e in events)
    return list(found.values())


def _by_registration(events: Sequence[Event]) -> list[tuple[int, list[Event]]]:
    """A broker's events in one file by the broker epoch of its registration; lines printed while it registered come first."""
    found: list[tuple[int, list[Event]]] = []
    pending: list[Event] = []
    for e in events:
        if e.event in _STARTING and e.reason in (None, "STARTING"):
            if e.event == "broker-starting" or e.broker is None:
                pending = []
            pending.append(e)
        elif e.event == "broker-registered" and e.broker_epoch is not None and e.reason is None and e.mode != "zookeeper":
            found.append((e.broker_epoch, [*pending, e]))
            pending = []
        elif found and not pending:
            found[-1][1].append(e)
    return found


def _lines_around(record: Event, lines: Sequence[Event]) -> tuple[Event, Event] | None:
    """The broker's own lines right before and right after a record about it."""
    if record.event == "metadata-broker":
        after = _first(lines, "broker-registered")
    elif record.reason == "unfenced":
        after = _first(lines, "broker-state", "RUNNING")
    elif record.reason == "shutdown":
        after = _first(lines, "controlled-shutdown", "done")
        begin = _first(lines[:after], "controlled-shutdown", "start") if after else None
        return (lines[begin], lines[after]) if after and begin is not None else None
    else:
        return None
    return (lines[after - 1], lines[after]) if after else None


def _first(lines: Sequence[Event], kind: str, reason: str | None = None) -> int | None:
    """Index of the first line of this kind, and with this reason if one is given; None if there is none."""
    return next((i for i, e in enumerate(lines) if e.event == kind and reason in (None, e.reason)), None)


def _of_the_active(
    node: int,
    events: Sequence[Event],
    records: Sequence[Event],
    active: Mapping[int | None, int],
    by_epoch: Mapping[tuple[int | None, int | None], Sequence[Event]],
) -> Iterator[Relation]:
    """Compares the two clocks of the active controller: it stamps records in UTC and lines in its zone."""
    elections = {e.controller_epoch: e for e in records if e.event == "metadata-leader" and e.controller == node}

    def record_of(e: Event) -> Event | None:
        if e.event == "controller-elected" and e.controller == node:
            return elections.get(e.controller_epoch)
        if e.event != "broker-registered" or e.reason not in ("decided", "replayed"):
            return None
        registered = (r for r in by_epoch.get((e.broker, e.broker_epoch), ()) if r.event == "metadata-broker")
        return next((r for r in registered if active.get(r.controller_epoch) == node), None)

    for e in events:
        record = record_of(e)
        zone = plain(_apart(record, e), NEAR_ZONE_MS) if record is not None else None
        if record is not None and zone is not None:
            yield Relation(Subject(node, "utc"), Subject(node), zone, zone - NOISE_MS, zone + NOISE_MS, (record, e))


def _by_registrations(own: Mapping[int, Sequence[Event]], spans: FileSpans) -> list[Relation]:
    """KRaft: compares controllers' lines about brokers' registrations with the brokers' own lines. Only the active controller decides.
    Another controller replays the record any time later, as does the active one where it prints nothing else; a starting controller replays
    all of them, at its own time."""
    seen = _registrations_seen(own, spans)
    found: list[Relation | None] = []
    for node, events in own.items():
        for broker_epoch, lines in _registered(events):
            after = _first(lines, "broker-registered")
            for e in seen.get((node, broker_epoch), ()) if after else ():
                assert after and e.writer is not None
                r = _between(Subject(e.writer), Subject(node), e, lines[after - 1], lines[after])
                found.append(r if r is None or e.reason == "decided" else replace(r, high=r.high + NOTICED_MS))
    return [r for r in found if r is not None]


def _registrations_seen(own: Mapping[int, Sequence[Event]], spans: FileSpans) -> dict[tuple[int | None, int | None], list[Event]]:
    """Other nodes' lines about each registration, by broker and broker epoch. A controller that replays a record had not just started, by a
    log that would show its start."""
    seen: dict[tuple[int | None, int | None], list[Event]] = defaultdict(list)
    for node, events in own.items():
        starts = [e for e in events if e.event == "controller-starting" and e.at is not None]
        begun, logs = sorted(map(undated_last, starts)), {rolled_from(e.source): e for e in starts}.values()
        for e in events:
            at = undated_last(e)
            replayed = (
                e.reason == "replayed" and any(_holds(spans, start, at - COMING_UP, at) for start in logs) and not _comes_up(begun, at)
            )
            if e.event == "broker-registered" and (e.reason == "decided" or replayed) and e.broker_epoch is not None and e.broker != node:
                seen[(e.broker, e.broker_epoch)].append(e)
    return seen


class _Decided:
    """A controller's decisions, indexed for comparison with each broker."""

    def __init__(self, node: int, events: Iterable[Event]) -> None:
        self.node = node
        made: dict[_Epoch, list[Event]] = defaultdict(list)
        self.sent: dict[int | None, dict[_Order, list[Event]]] = defaultdict(lambda: defaultdict(list))
        """Requests by the broker they went to."""
        for e in events:
            key = _epoch(e)
            if e.reason == "decided" and key is not None:
                made[key].append(e)
            elif e.reason == "sent" and key is not None and e.controller_epoch is not None:
                self.sent[e.broker][key, e.controller_epoch].append(e)
        causes = {key: (min(found, key=undated_last), max(found, key=undated_last)) for key, found in made.items()}
        self.causes = {key: first for key, (first, last) in causes.items() if _apart(first, last) <= NOTICED_MS}
        """The decision that created each leader epoch, where all decisions for it were made at one time."""


class _Started:
    """A broker's lines about leading and following, indexed in the same way."""

    def __init__(self, node: int, events: Sequence[Event], begun: Sequence[datetime]) -> None:
        self.node = node
        # a starting broker receives decisions of any earlier time
        self.first = {k: e for k, e in _firsts(events).items() if not (_new_process(e) or _comes_up(begun, undated_last(e)))}
        self.received: dict[_Order, list[Event]] = defaultdict(list)
        for e in events:
            key = _epoch(e)
            if e.reason == "received" and key is not None and e.controller_epoch is not None:
                self.received[key, e.controller_epoch].append(e)


def _new_process(start: Event) -> bool:
    """A process knew no leader epoch of the partition before this later one: it may have just started, also where no line shows that."""
    return start.previous_leader_epoch == -1 and bool(start.leader_epoch)


def _comes_up(begun: Sequence[datetime], at: datetime) -> bool:
    """Whether a process had just started at `at`. `begun`: start times in ascending order."""
    place = bisect_right(begun, at)
    return place > 0 and at <= begun[place - 1] + COMING_UP


def _leaderships(decided: _Decided, started: _Started) -> Relation | None:
    """Compares a controller's decisions with the broker's first lines at the same leader epochs. The quickest start bounds the
    difference from above. The delay is unknown, but among several decisions one is applied soon. Those of one restart are all applied
    late."""
    pairs = [*_taken_up(decided, started), *_received(decided, started)]
    if not pairs:
        return None
    differences = sorted((_apart(cause, effect), n) for n, (cause, effect) in enumerate(pairs))
    # an isolated value far before all others comes from an earlier topic with the same name
    least, n = next((t for t, later in pairwise(differences) if later[0] - t[0] <= NOTICED_MS), differences[0])
    moments = [undated_last(pairs[m][1]) for t, m in differences if least <= t <= least + NOTICED_MS]
    low = least - (NOTICED_MS if max(moments) - min(moments) >= SEPARATE_RESTARTS else BUSY_MS)
    return Relation(Subject(decided.node), Subject(started.node), least, low, least, pairs[n])


def _taken_up(decided: _Decided, started: _Started) -> list[tuple[Event, Event]]:
    """Decisions that created a leader epoch, each with the broker's first line at it."""
    return [(decided.causes[k], started.first[k]) for k in sorted(started.first.keys() & decided.causes.keys())]


def _received(decided: _Decided, started: _Started) -> list[tuple[Event, Event]]:
    """Requests of a controller that both sides logged, sent and received once: the controller resends an epoch to a restarted broker."""
    sent, received = decided.sent.get(started.node, {}), started.received
    both = sorted(sent.keys() & received.keys())
    return [(sent[k][0], received[k][0]) for k in both if len(sent[k]) == len(received[k]) == 1]


_Epoch = tuple[str, int, int]
"""Topic, partition and leader epoch."""
_Order = tuple[_Epoch, int]
"""A request, identified by its leader epoch and its controller epoch."""


def _epoch(e: Event) -> _Epoch | None:
    return (
        (e.topic, e.partition, e.leader_epoch) if e.topic is not None and e.partition is not None and e.leader_epoch is not None else None
    )


def _by_zookeeper(
    own: Mapping[int, Sequence[Event]], anchors: Mapping[int, ClockOffset], pairs: Sequence[tuple[int, int]], spans: FileSpans
) -> list[Relation]:
    """ZooKeeper: compares the controller's lines about brokers and its decisions with the brokers' own lines."""
    decided = _without_repeats({n: list(filter(_is_decision, events)) for n, events in own.items()})
    seen = {n: [e for e in events if e.event in _SEEN] for n, events in own.items()}
    pairs = [(one, two) for one, two in pairs if decided[one] or seen[one]]
    begun = {n: sorted(e.at for e in events if e.event == "broker-starting" and e.at is not None) for n, events in own.items()}
    decisions = {one: _Decided(one, decided[one]) for one in {one for one, _ in pairs}}
    started = {
        two: _Started(two, [e for e in own[two] if e.event in STARTS or (e.event, e.reason) == ("partition-state", "received")], begun[two])
        for two in {two for _, two in pairs}
    }
    led = {(one, two): _leaderships(decisions[one], started[two]) for one, two in pairs}
    return [*_by_starts_and_stops(own, seen, led, anchors, spans), *filter(None, led.values())]


def _is_decision(e: Event) -> bool:
    return e.event == "partition-state" and e.reason in DECIDED


def _by_starts_and_stops(
    own: Mapping[int, Sequence[Event]],
    seen: Mapping[int, Sequence[Event]],
    led: Mapping[tuple[int, int], Relation | None],
    anchors: Mapping[int, ClockOffset],
    spans: FileSpans,
) -> Iterator[Relation]:
    """Compares a controller's lines about a broker that starts or stops with the broker's own lines about the same event. `led`: the
    pairs of machines, with their comparison by leader epochs. A pairing that nothing else agrees with counts only if neither line can be
    about another event, and if leader epochs and files do not agree on another difference."""
    close = {(one, two): _candidates(one, seen[one], two, own[two]) for one, two in led}
    # with bounds that are possible with the comparison by leader epochs
    likely = {
        pair: [c for c in close[pair] if r is None or (c.low <= r.high + AGREE_MS and r.low - AGREE_MS <= c.high)]
        for pair, r in led.items()
    }
    votes = _OffsetVotes(chain.from_iterable(close.values()), anchors)
    best = {pair: max(candidates, key=votes.rank) for pair, candidates in likely.items() if candidates}
    agreed = _OffsetVotes(best.values(), anchors)
    for pair, r in best.items():
        near = [c for c in likely[pair] if abs(c.best - r.best) <= NOTICED_MS]
        alone = len(near) == 1 and agreed.votes(r) <= 2  # with itself, on both machines
        meant, there, back = _meant(r, anchors), led[pair], led.get((pair[1], pair[0]))
        by_epochs = [*([(there.low, there.high)] if there else []), *([(-back.high, -back.low)] if back else [])]
        denied = meant is not None and not r.low <= meant <= r.high and any(low <= meant <= high for low, high in by_epochs)
        if not alone or not (denied or _of_two_events(r, meant, own[pair[0]], spans)):
            yield from _bounded(near, anchors)


def _by_leaders(own: Mapping[int, Sequence[Event]], pairs: Sequence[tuple[int, int]]) -> list[Relation]:
    """Compares brokers that no other evidence compares. Leader and followers receive a leader epoch at the same time, so a leader's
    start and the start of a follower's fetcher are close together, in either order."""
    leads = {n: _firsts(e for e in events if e.event == "leader-start") for n, events in own.items()}
    follows = {n: _firsts(e for e in events if e.event in _FOLLOWS) for n, events in own.items()}
    found = (
        _together(one, two, [(leads[one][k], follows[two][k]) for k in sorted(leads[one].keys() & follows[two].keys())])
        for one, two in pairs
    )
    return [r for r in found if r is not None]


_FOLLOWS = of(role=Role.START | Role.FETCHING, by=By.FOLLOWER)


def _firsts(events: Iterable[Event]) -> dict[_Epoch, Event]:
    """A broker's first event at each leader epoch: a restarted broker logs the epoch again."""
    found: dict[_Epoch, Event] = {}
    for e in events:
        if (key := _epoch(e)) is not None:
            found[key] = min(found.get(key, e), e, key=undated_last)
    return found


def _together(leader: int, follower: int, pairs: Sequence[tuple[Event, Event]]) -> Relation | None:
    """The difference that most pairs agree on. None if all agreeing pairs are of one moment, which may be a restart."""
    differences = sorted((_apart(*pair), n) for n, pair in enumerate(pairs))
    ends = [bisect_right(differences, (least + NOTICED_MS, len(differences))) for least, _ in differences]
    begin, end = max(enumerate(ends), key=lambda run: run[1] - run[0], default=(0, 0))
    best = differences[begin:end]
    moments = [undated_last(pairs[n][0]) for _, n in best]
    if 2 * len(best) <= len(differences) or max(moments) - min(moments) < SEPARATE_RESTARTS:
        return None
    _, n = best[(len(best) - 1) // 2]
    return _noticed(Subject(leader), Subject(follower), *pairs[n])


def _without_repeats(decided: Mapping[int, Sequence[Event]]) -> dict[int, list[Event]]:
    """Drops leader epochs that an earlier controller created on another machine. A new controller logs that it removes a replica that is
    in no ISR, with the current state (ZkReplicaStateMachine#doRemoveReplicasFromIsr)."""
    made: dict[_Epoch, tuple[int, int]] = {}
    for node, e in ((n, e) for n, events in decided.items() for e in events if e.reason == "decided"):
        if (key := _epoch(e)) is not None and e.controller_epoch is not None:
            made[key] = min(made.get(key, (e.controller_epoch, node)), (e.controller_epoch, node))

    def repeats(node: int, e: Event) -> bool:
        key = _epoch(e) if e.reason == "decided" and e.controller_epoch is not None else None
        return key is not None and made[key][1] != node and (e.controller_epoch or 0) > made[key][0]

    return {n: [e for e in events if not repeats(n, e)] for n, events in decided.items()}


_SEEN = named("shutdown-seen", "brokers-changed", "controller-elected")
_ACTS = _SEEN | named("controller-starting")


class _OffsetVotes:
    """The offsets that all pairings imply for each machine's clock. Correct pairings agree, if the other clocks are as their own files
    say."""

    def __init__(self, candidates: Iterable[Relation], anchors: Mapping[int, ClockOffset]) -> None:
        self._anchors = anchors
        self._offsets = grouped((subject, offset) for r in candidates for subject, offset in self._implied(r))
        for offsets in self._offsets.values():
            offsets.sort()

    def _implied(self, r: Relation) -> list[tuple[Subject, int]]:
        one, two = (self._anchors.get(s.node, ClockOffset(0, 0, "")).offset_ms for s in (r.earlier, r.later))
        return [(r.later, one + r.best), (r.earlier, two - r.best)]

    def rank(self, r: Relation) -> tuple[int, bool, list[datetime]]:
        """Sort key: number of agreeing pairings, plus one if what the machines' own files say is within its bounds; then whether it is near
        that, since several starts in one rhythm agree on other differences, too; then the latest, since logs are cut off at their
        beginning."""
        meant = _meant(r, self._anchors)
        fits = meant is not None and r.low - AGREE_MS <= meant <= r.high + AGREE_MS
        near = meant is not None and abs(r.best - meant) <= NOTICED_MS
        return self.votes(r) + fits, near, [e.at for e in r.evidence if e.at is not None]

    def votes(self, r: Relation) -> int:
        """Number of pairings that agree with this one on either machine."""
        found = 0
        for subject, offset in self._implied(r):
            offsets = self._offsets[subject]
            found += bisect_right(offsets, offset + NOTICED_MS) - bisect_left(offsets, offset - NOTICED_MS)
        return found


def _candidates(controller: int, seen: Sequence[Event], broker: int, own: Sequence[Event]) -> list[Relation]:
    """Every pairing of a broker's line with a controller's line about it; these lines carry no epoch that would match them."""
    one, two = Subject(controller), Subject(broker)
    shutdowns = [e for e in seen if e.event == "shutdown-seen" and e.broker == broker and e.reason != "replayed"][-TRIED:]
    stops = _last_pairs(own, _shutdowns)
    found = [_between(one, two, e, begin, done) for begin, done in stops for e in shutdowns]
    changes = (e for e in seen if e.event == "brokers-changed" and broker in (e.brokers or ()))
    added = [e for e in changes if e.reason in ("added", "bounced")][-TRIED:]
    starts = _last_pairs(own, _registrations)
    found.extend(_joined(one, two, e, *start) for start in starts for e in added)
    elected = _elections_of(controller, seen, "elected")
    begun = sorted(undated_last(e) for e in own if e.event == "controller-starting")
    # a controller that starts learns of an election at any earlier time
    elections_seen = [e for e in _elections_of(controller, own, "seen") if not _comes_up(begun, undated_last(e))]
    same = ((e, s) for e in elected for s in elections_seen if len({e.controller_epoch, s.controller_epoch} - {None}) < 2)
    found.extend(_noticed(one, two, *pair) for pair in same)
    return [r for r in found if r is not None]


def _last_pairs(own: Sequence[Event], pairs_of: Callable[[Sequence[Event]], list[tuple[Event, Event]]]) -> list[tuple[Event, Event]]:
    """The last pairs of lines of a broker's files."""
    return [pair for file in _files(own) for pair in pairs_of(file)][-TRIED:]


def _elections_of(controller: int, events: Iterable[Event], reason: str) -> list[Event]:
    """The last lines about the controller's elections."""
    return [e for e in events if e.event == "controller-elected" and e.reason == reason and e.controller == controller][-TRIED:]


def _joined(one: Subject, two: Subject, added: Event, starting: Event, registered: Event) -> Relation:
    """The difference of two clocks, if the controller's line is about this start of the broker."""
    best = _apart(added, registered)
    low = max(min(_apart(added, starting), best), best - NOTICED_MS)
    return Relation(one, two, best, low, best + BUSY_MS, (added, registered))


def _noticed(earlier: Subject, later: Subject, here: Event, there: Event) -> Relation:
    best = _apart(here, there)
    return Relation(earlier, later, best, best - NOTICED_MS, best + NOTICED_MS, (here, there))


def _shutdowns(own: Sequence[Event]) -> list[tuple[Event, Event]]:
    found = []
    begin: Event | None = None
    for e in own:
        if e.event == "controlled-shutdown" and e.reason == "start":
            begin = e
        elif e.event == "controlled-shutdown" and e.reason == "done" and begin is not None:
            found.append((begin, e))
            begin = None
        elif e.event == "broker-starting":
            begin = None
    return found


def _registrations(own: Sequence[Event]) -> list[tuple[Event, Event]]:
    """Each start with the ZooKeeper registration that followed. If the start is missing, the registration is paired with itself."""
    found = []
    starting: Event | None = None
    for e in own:
        if e.event == "broker-starting":
            starting = e
        elif e.event == "broker-registered" and e.reason is None and e.broker == e.writer:
            found.append((starting or e, e))
            starting = None
    return found


def _bounded(near: Sequence[Relation], anchors: Mapping[int, ClockOffset]) -> list[Relation]:
    """Pairings of two machines that agree on one clock difference, with tighter bounds."""
    meant = _meant(near[0], anchors)
    if len(near) > 1:
        near = [replace(c, high=min(c.high, c.best + NOTICED_MS)) for c in near]
    return [_unsure(c, meant if meant is not None else nearest_zone(c.best) * MINUTE_MS) for c in near]


def _of_two_events(r: Relation, meant: int | None, acts: Sequence[Event], spans: FileSpans) -> bool:
    """Whether the two lines may be about different events, if the clocks are as their machines' files say: neither the broker's log holds
    the time of the controller's line, nor did the controller print at the time of the broker's line what it saw. `acts`: the controller's
    events."""
    mapped = timedelta(milliseconds=meant if meant is not None else nearest_zone(r.best) * MINUTE_MS)
    noticed, printed = r.evidence
    if r.low <= mapped / _MS <= r.high or abs(r.best - mapped / _MS) <= BUSY_MS or noticed.at is None or printed.at is None:
        return False
    seen_at = printed.at - mapped
    in_charge = _acting_at(seen_at, noticed, acts) and _holds(spans, noticed, seen_at, seen_at + _BUSY)
    return not in_charge and not _holds(spans, printed, noticed.at + mapped - _BUSY, noticed.at + mapped)


_MS, _BUSY = timedelta(milliseconds=1), timedelta(milliseconds=BUSY_MS)


def _holds(spans: FileSpans, line: Event, since: datetime, until: datetime) -> bool:
    """Whether the log that contains a line, with its rolled files, has a file that begins before the two times and ends after them."""
    log = rolled_from(line.source)
    return any(rolled_from(path) == log and first <= since and until <= last for path, (first, last) in spans.items())


def _acting_at(at: datetime, line: Event, acts: Sequence[Event]) -> bool:
    """Whether a controller had been elected by this time, and acted before it was elected again or its process started again."""
    own = sorted((e for e in acts if e.source == line.source and (e.event in _ACTS or _is_decision(e))), key=undated_last)
    place = bisect_right(own, at, key=undated_last)
    begins = any(
        e.event == "controller-starting" or (e.event, e.reason) == ("controller-elected", "elected") for e in own[place : place + 1]
    )
    return place > 0 and own[place - 1].event != "controller-starting" and not begins


def _unsure(r: Relation, meant: int) -> Relation:
    """Replaces the difference with the one from the machines' own files (else the zones' difference) if the bounds allow it."""
    if not r.low <= meant <= r.high:
        return r
    high = min(r.high, r.best + NOTICED_MS) if abs(r.best - meant) <= NOTICED_MS else r.high
    return replace(r, best=meant, high=high)


def _meant(r: Relation, anchors: Mapping[int, ClockOffset]) -> int | None:
    one, two = anchors.get(r.earlier.node), anchors.get(r.later.node)
    return two.offset_ms - one.offset_ms if one is not None and two is not None else None
