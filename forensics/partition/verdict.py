"""The verdict on a partition: lost, tail-cut, intact or unknown, with its proof or with what would settle it.

Here: what it takes to call a partition whole. Not here: how a loss is found (loss) or told (rules.data_loss).

`intact` is a proof, not silence. By Kafka's protocol a replica in the ISR holds all that was committed, so a chain of terms that begins with
members of the ISR loses nothing that was committed, as long as none of them lost records it had. For that no term, and no change of the
ISR, may be missing; each leader's end must be known when another takes over; and no log may have been recovered that was all there was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from forensics.model import Finding, brokers_named, moment
from forensics.partition.before_epochs import cut_after
from forensics.partition.came_through import came_through, elected_again, in_order, knew
from forensics.partition.elections import elections
from forensics.partition.handovers import obeyed
from forensics.partition.inheritance import inherited
from forensics.partition.loss import Loss, losses
from forensics.partition.removed import later_terms
from forensics.partition.succession import Succession
from forensics.partition.witnesses import tells_logs
from parsers.kinds import named
from spark.cluster.facts import Cluster, once
from spark.cluster.presence import DETECTION
from spark.events import Event
from spark.partition.continuity import Gap, between
from spark.partition.floods import LEFT_OUT
from spark.partition.folding import MADE
from spark.partition.replicas import EXACT, Observation
from spark.partition.states import State, not_after
from spark.partition.timeline import PartitionTimeline, Term

LOST, TAIL_CUT, INTACT, UNKNOWN = "lost", "tail-cut", "intact", "unknown"
VERDICTS = (LOST, TAIL_CUT, INTACT, UNKNOWN)

CASTS_DOUBT = frozenset(
    {"log-divergence", "log-wiped-at-load", "missed-epoch-change", "empty-replica-joins", "truncate-to-start", "checkpoint-inconsistent"}
)
"""Kinds of findings, from medium on, after which a partition is not called whole."""
LEVEL = ("medium", "high", "critical")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be said of a partition from `since` to `until`. Where that is not `from_creation`, nothing is said of what was before."""

    verdict: str
    since: datetime | None
    until: datetime | None
    why: str
    from_creation: bool


def verdict(timeline: PartitionTimeline, cluster: Cluster, findings: Sequence[Finding]) -> Verdict:
    """The verdict on one life of a partition, from its timeline and what the rules found in it."""
    own, lost = [f for f in findings if f.kind == "data-loss"], losses(timeline, cluster)
    sure = [f for f in own if f.confidence != "possible"]
    known = [s for s in timeline.states if s.known_epoch is not None]  # of what was before nothing is claimed
    since = next((s.at for s in known if s.at is not None), None)

    leader = timeline.standing.leader
    last = cluster.last_line(leader) if leader is not None else None
    until = min((at for at in (last, cluster.until) if at is not None), default=None)

    def told(kind: str, why: str) -> Verdict:
        return Verdict(kind, since, until, why, timeline.created())

    if gone := [f for f in sure if f.committed]:
        return told(LOST, f"{_ranges(gone)}, which were committed, are gone ({gone[0].cause})")
    open_ended = (x for x in lost if x.committed and x.range.start < x.reached and x.range.end is None)
    if timeline.mixed is None and (x := next(open_ended, None)) is not None:
        return told(LOST, f"offsets {x.range.start}..{x.reached - 1} at least, which were committed, are gone ({x.cause})")
    if gone := [f for f in sure if f.committed is None]:
        return told(UNKNOWN, f"{_ranges(gone)} are gone; whether they were committed is not in evidence")
    if open_ends := [f for f in own if f.committed is not False]:
        return told(UNKNOWN, open_ends[0].summary.removeprefix(f"{timeline.name}: "))
    if odd := next((f for f in findings if f.kind in CASTS_DOUBT and f.severity in LEVEL and not _copied_again(f, timeline)), None):
        return told(UNKNOWN, f"{odd.kind} was found, which has to be understood first")
    if reason := next(_unproven(timeline, cluster, known, lost), None):
        return told(UNKNOWN, reason)
    if own:
        return told(TAIL_CUT, f"only {_ranges(own)}, which were never committed, are gone")
    terms = len({t.epoch for t in timeline.terms})
    epochs = "1 leader epoch without a gap," if terms == 1 else f"{terms} leader epochs without a gap, each"
    return told(INTACT, f"{epochs} begun by a replica that held all that was committed")


def _ranges(findings: Sequence[Finding]) -> str:
    return "offsets " + ", ".join(dict.fromkeys(str(r) for f in findings for r in f.offsets))


def _copied_again(finding: Finding, timeline: PartitionTimeline) -> bool:
    """A replica threw away what the leader it followed had begun with."""
    end = finding.offsets[0].end if finding.kind == "truncate-to-start" else None
    return end is not None and any(t.epoch == finding.leader_epoch and t.at_least >= end for t in timeline.terms)


def _left_out(one: State, other: State, timeline: PartitionTimeline) -> bool:
    """What is missing was seen and not kept: changes of its ISR by the one leader that led in the one leader epoch (spark.partition.floods)."""
    if (one.leader, one.leader_epoch) != (other.leader, other.leader_epoch):
        return False
    return any(not_after(e.at, other.at) and not_after(one.at, e.last_at) for e in timeline.of(LEFT_OUT))


def _unproven(timeline: PartitionTimeline, cluster: Cluster, known: Sequence[State], lost: Sequence[Loss]) -> Iterator[str]:
    """What keeps the partition from being proven whole, and what would settle it."""
    if not known:
        yield "no leader epoch of it is in evidence; state-change.log, server.log or the metadata log would tell"
        return
    if timeline.mixed is not None:
        yield f"leader epoch {timeline.mixed} has two leaders: two partitions of this name are mixed; logs without gaps would tell them apart"
    for one, other in pairwise(known):
        missing = between(one, other, isr_told=True)
        if isinstance(missing, Gap) and not _left_out(one, other, timeline):
            yield f"{missing}; state-change.log and controller.log of all brokers, rotated files too, would tell"
    yield from _of_rims(timeline, known, cluster)
    yield from _of_clusters_before(timeline, cluster)
    yield from _of_leaders(timeline, cluster)
    yield from _of_elections(timeline, cluster)
    yield from _of_restarts(timeline, cluster)
    yield from _of_ends(timeline, lost, cluster)
    yield from _of_cuts(timeline, lost)
    yield from _of_marks(timeline)


def _of_rims(timeline: PartitionTimeline, known: Sequence[State], cluster: Cluster) -> Iterator[str]:
    """Terms that begin or go on in the evidence, and what came before or after does not. A log that was brought from another cluster has
    that cluster's epochs in it, and so have those that copy it."""
    first = timeline.terms[0] if timeline.terms else None
    if first is not None and known[0].leader_epoch < first.epoch:
        yield f"leader epoch {first.epoch} began in the evidence, and how the last leader before it ended is not in evidence; older logs would tell"
    elif first is not None and first.epoch > 0 and first.leader in timeline.replicas:
        begun = next((s for s in timeline.replicas[first.leader].leader_starts if s.epoch == first.epoch and not s.restart), None)
        if begun is not None and begun.event.previous_leader_epoch not in (first.epoch, -1):
            yield f"leader epoch {first.epoch} began in the evidence, and what was before it is not in evidence; older logs would tell"
        elif begun is not None and begun.event.previous_leader_epoch == -1 and not _loaded(begun.event, first, timeline):
            yield f"the evidence begins when broker {first.leader} was back, and how it loaded its log is not in evidence; older logs would tell"
        elif any(load.unclean and load.epoch is None and load.offset for load in timeline.replicas[first.leader].loads):
            yield f"the evidence begins when broker {first.leader} was back from an unclean stop, and what was before it is not in evidence; older logs would tell"
    disks = () if inherited(timeline, cluster) else timeline.disks.values()
    heard = max([r.epoch or 0 for r in timeline.replicas.values()] + [d.last_epoch or 0 for d in disks], default=0)
    if heard > known[-1].leader_epoch:
        yield f"leader epoch {heard} was heard of, and nothing else is known of it; the controller's logs would tell"
    if (now := timeline.standing).leader != known[-1].leader and timeline.later:
        led = "nobody" if now.leader == -1 else f"broker {now.leader}"
        yield f"{led} was seen to lead it at {moment(now.at)}, and how it came to that is not in evidence; the controller's logs would tell"


def _of_clusters_before(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[str]:
    """Records of the cluster before that a replica brought with it are cut as it follows (inheritance); topic ids keep such logs apart."""
    if not cluster.begun or timeline.topic_id is not None or not timeline.created():
        return
    told = {b for b, replica in timeline.replicas.items() if any(e.event in MADE for e in replica.events)}
    if untold := sorted({*timeline.assigned} - told):
        yield f"whether {brokers_named(untold)} brought a log of this name from the cluster before is not in evidence; server.log would tell"


def _loaded(start: Event, term: Term, timeline: PartitionTimeline) -> bool:
    """The broker tells that it loaded, or made, the log with which it began to lead."""
    own = timeline.replicas[term.leader].events
    return any(e.event in MADE for e in own[: own.index(start)])


def _of_leaders(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[str]:
    """What happened to a log its broker alone tells."""
    led = {t.leader for t in timeline.terms}
    if absent := sorted(b for b in led if not tells_logs(b, cluster)):
        yield f"no server.log of {brokers_named(absent)}, which led it, was collected"
    for one, other in pairwise(timeline.states):
        if one.leader in led and other.leader != one.leader and other.at is not None and not tells_logs(one.leader, cluster, other.at):
            yield f"the log of broker {one.leader} begins after it led in leader epoch {one.leader_epoch}, and what it cut then is not in evidence; its older logs would tell"
    for state in timeline.states:  # one that leads alone may be started anew in between, and nobody else is elected
        if state.isr == (state.leader,) and not tells_logs(state.leader, cluster, state.at):
            yield f"the log of broker {state.leader} begins after it led alone in leader epoch {state.leader_epoch}; its older logs would tell"
        elif len(state.isr) == 1 and _recovers(state, timeline):
            yield f"broker {state.isr[0]} was the only in-sync replica and stopped uncleanly; what it had not flushed may be gone"
        elif len(state.isr) == 1 and _back_untold(state, timeline, cluster):
            yield f"broker {state.isr[0]} was the only in-sync replica and was started anew; that it had been stopped in order is not in evidence"
    unread = _unread(cluster)
    if partly := sorted(led & unread.keys()):
        yield f"logs of {brokers_named(partly)}, which led it, were not all understood ({unread[partly[0]]})"


def _recovers(state: State, timeline: PartitionTimeline) -> bool:
    """The only replica in sync recovers its log before another one is: what it had not flushed may be gone, whatever it leads with then."""
    own = timeline.replicas[state.isr[0]].events if state.isr[0] in timeline.replicas else []
    joined = _joined(state, timeline)
    began = [e.at for e in own if e.event == "log-recovery" and e.at is not None and state.at is not None and e.at > state.at]
    return any(joined is None or at < joined for at in began)


def _back_untold(state: State, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """The only replica in sync is started anew before another one is, and nothing tells that it had been stopped in order."""
    presence = cluster.presence(state.isr[0])
    starts = presence.begun(state.at, _joined(state, timeline) or datetime.max) if state.at is not None else ()
    return any(len(pair := presence.latest(at)) < 2 or not in_order(*pair) for at in starts)


def _joined(state: State, timeline: PartitionTimeline) -> datetime | None:
    """When the only replica in sync was not the only one any more."""
    return next((s.at for s in timeline.states if s.at is not None and state.at is not None and s.at > state.at and len(s.isr) > 1), None)


@once
def _unread(cluster: Cluster) -> dict[int, str]:
    """The nodes of whose logs something could not be read, with what that was."""
    return {node: s.problem for s in reversed(cluster.sources) if s.kind.endswith("-log") and s.lines and s.problem for node in s.nodes}


def _of_elections(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[str]:
    for election in elections(timeline, cluster):
        if election.unclean is None:
            yield f"whether broker {election.term.leader} was in sync when it was elected in leader epoch {election.term.epoch} is not in evidence: {election.why}"
        elif election.unclean and election.confidence == "possible":
            yield f"broker {election.term.leader} may have been elected uncleanly in leader epoch {election.term.epoch}"


def _of_restarts(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[str]:
    """A process that was killed with its machine leaves behind what was not flushed; nothing shows it where all others were gone, too."""
    for before, term in pairwise(timeline.terms):
        alike = before.leader == term.leader and (term.before is None or term.before.leader == term.leader)
        same = alike and not term.restart and not elected_again(term)
        leads_on = same and (
            term is not timeline.terms[-1] or Succession(term, timeline, cluster).tells_start
        )  # or it did not live to hear of it
        if not leads_on and not came_through(term, timeline, cluster) and not _others_held(term, timeline):
            yield (
                f"whether broker {term.leader} had been stopped in order before it led in epoch {term.epoch} is not in evidence; its server.log would tell"
            )


def _others_held(term: Term, timeline: PartitionTimeline) -> bool:
    """Another replica that was in sync, and whose process lived on, followed the new leader: had it held more, it would have cut it off."""
    for broker in term.before.isr if term.before is not None else ():
        followed = timeline.replicas[broker].follower_starts if broker != term.leader and broker in timeline.replicas else ()
        told = next((f for f in followed if f.epoch >= term.epoch and f.offset is not None), None)
        if told is not None and knew(told.event):
            return True
    return False


def _of_ends(timeline: PartitionTimeline, lost: Sequence[Loss], cluster: Cluster) -> Iterator[str]:
    """When another leader took over, where the log before it ended is known, and anything beyond the new leader's is told as a loss."""
    told = {loss.term.order for loss in lost}
    for before, term in pairwise(timeline.terms):
        if term.leader == before.leader or term.order in told:
            continue
        end = _end_after(before, term, timeline, cluster)
        if end is None:
            yield (
                f"how far the log of broker {before.leader}, leader in epoch {before.epoch}, reached when broker {term.leader} took over is not in "
                "evidence; its later log or its disk would tell"
            )
        elif not timeline.has_epochs and _cut_untold(before, term, timeline):
            yield f"what broker {before.leader}, leader in epoch {before.epoch}, cut off to follow broker {term.leader} is not in evidence; its server.log would tell"
        elif term.at_most is not None and end > term.at_most:
            yield (
                f"the log of broker {before.leader} ended at {end}, and broker {term.leader} began to lead at {term.began}; what became of the rest is not "
                "in evidence"
            )


_AFTER = named("become-refused", "fetcher-added", "log-load", "leader-start")


def _cut_untold(before: Term, term: Term, timeline: PartitionTimeline) -> bool:
    """Before leader epochs a follower says to which offset it cuts its log, even where it ends there already (Log#truncateTo)."""
    replica = timeline.replicas.get(before.leader)
    followed = next((f.event for f in replica.follower_starts if f.epoch >= term.epoch), None) if replica is not None else None
    if replica is None or followed is None or cut_after(before.leader, followed, timeline) is not None:
        return False
    after = replica.events[replica.events.index(followed) + 1 :]
    said = next((e for e in after if e.event in _AFTER), None)
    return said is None or said.event != "become-refused" or said.reason != "leader-unavailable"  # of a leader that is not there it is none


def _end_after(before: Term, term: Term, timeline: PartitionTimeline, cluster: Cluster) -> int | None:
    """The deposed leader's log end as it was told exactly after the next one began: as it followed, at its restart, or by its disk. One that
    came back tells at its load how far its log had reached; a cut tells where it was left to end."""
    replica = timeline.replicas.get(before.leader)
    if replica is not None:
        followed = next((f.offset for f in replica.follower_starts if f.epoch >= term.epoch and f.offset is not None), None)
        if followed is not None:
            return followed
        led = [n for n, e in enumerate(replica.events) if any(s.event is e and s.epoch <= before.epoch for s in replica.leader_starts)]
        own = replica.events[led[-1] + 1 if led else 0 :]
        later = (o for o in replica.observations if o.quantity == "log-end-offset" and o.bound == EXACT and _after(o, term))
        first = next((o for o in later if o.event in own), None)
        if first is not None and (first.event.event != "truncation" or _lived_on(before, term, timeline, cluster)):
            return first.offset
        if first is not None:
            return None
    disk = timeline.disks.get(before.leader)
    now = disk if timeline.has_epochs or not _copied_since(before.leader, term, timeline, cluster) else None
    disks = [d for d in (now, *timeline.aside.get(before.leader, ())) if d is not None]
    return next((d.log_end_offset for d in disks if d.log_end_offset is not None and (d.last_epoch or 0) <= before.epoch), None)


def _copied_since(broker: int, term: Term, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Its log may have grown since the term began: no epochs on its disk tell what it copied from what it took before."""
    last = cluster.last_line(broker)
    later = (s for s in timeline.states if s.known_epoch is not None and s.known_epoch >= term.epoch)
    return (last is not None and (term.at is None or last >= term.at)) or any(broker in s.isr for s in later if s.leader != broker)


def _lived_on(before: Term, term: Term, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """The deposed leader's process went on until it followed, by its own lines and by what others tell of it."""
    woke = obeyed(before, term, timeline, cluster)
    if woke is None or woke.at is None or term.at is None:
        return False
    since = max(before.at or datetime.min, term.at - DETECTION)
    return not cluster.presence(before.leader).moved(since, woke.at)


def _after(observed: Observation, term: Term) -> bool:
    by_clock = observed.at is not None and term.at is not None and observed.at >= term.at
    return by_clock or (observed.epoch is not None and observed.epoch >= term.epoch)


def _of_cuts(timeline: PartitionTimeline, lost: Sequence[Loss]) -> Iterator[str]:
    """What a replica cut off is told as a loss, or was in the log of the leader it followed. Before leader epochs followers cut to their high
    watermark what they fetch again; what a leader had taken alone comes from nobody, and only records tell whether it was others."""
    recorded = any(d.segments for d in timeline.disks.values())
    told = {removal for loss in lost for removal in loss.removals}
    for replica in timeline.replicas.values():
        for removal in replica.removals:
            later = later_terms(removal, timeline)
            had = all(t.at_least >= removal.end for t in later)
            own = timeline.has_epochs or (
                not recorded and any((t.leader, t.epoch) == (removal.broker, removal.epoch) for t in timeline.terms)
            )
            undated = removal.epoch is None and not later and any(t.leader == removal.broker for t in timeline.terms)
            if removal not in told and (undated or (later and not had and own)):
                yield f"broker {replica.broker} cut offsets {removal.start}..{removal.end - 1}; whether the leader then had them is not in evidence"


def _of_marks(timeline: PartitionTimeline) -> Iterator[str]:
    """The leader's log at the end reaches every high watermark that was ever seen."""
    leader = timeline.standing.leader
    disk = timeline.disks.get(leader) if leader is not None else None
    if disk is None or disk.log_end_offset is None:
        return
    marks = [
        d.high_watermark.offset for d in timeline.disks.values() if d.high_watermark is not None and d.high_watermark.offset is not None
    ]
    marks += [o.offset for r in timeline.replicas.values() for o in r.observations if o.quantity == "high-watermark"]
    highest = max(marks, default=0)
    if highest > disk.log_end_offset:
        yield f"a high watermark of {highest} was seen, and the log of its leader, broker {disk.broker}, ends at {disk.log_end_offset}"
