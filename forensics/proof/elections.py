"""Was an election clean? The judgement that several rules share.

Here: for every change of leader, whether the new leader was in the ISR that counted, how sure that is and by which evidence; and whether a
replica that joined the ISR had all committed records. Not here: the records that an unclean election lost (losses), or how it is reported
(forensics.rules.unclean_election).

Up to 2.0.0, a leader takes a replica into the ISR that has reached the leader's high watermark. A new leader's high watermark may be below
records that an earlier leader committed, until the ISR has fetched from the new leader up to where it began. Later versions also require
that the replica has reached where the leader began (KAFKA-7128, Partition#maybeExpandIsr).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import takewhile

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import CLOCK, ORDER, isr_changes_observable, would_show
from forensics.model.events import Event
from forensics.model.message import Message, Value, said
from forensics.model.partition.states import LEADER_RECOVERY_LEVEL, Contiguous, Gap, State, Unsure, between
from forensics.model.partition.timeline import PartitionTimeline, Term, aims, cached_on_timeline
from forensics.model.settings.effective import effective, number
from forensics.model.settings.versions import Version, versions
from forensics.proof.verdict import Cell, Handover
from forensics.thresholds import SAME_UNCLEAN_ELECTION_S
from parsers.frozen import dataclass
from parsers.kinds import named

LAST_UNCHECKED: Version = (2, 0, 0)
"""The last version whose leaders do not require that a replica has reached where they began."""
REMOVES_LAGGING: Version = (0, 9)
"""From this version on, a leader removes every member of the ISR that has not reached the leader's log end for replica.lag.time.max.ms
(KAFKA-1546). It checks that at least as often."""


def joined_with_all(joined: State, end: int, rows: Sequence[Handover], timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """A replica had all committed records since it joined the ISR with this state, or earlier in the same leader epoch. `end`: its log
    reached this offset later. `rows`: the hand-overs up to then."""
    known = versions(cluster, joined.leader, joined.at)
    if cluster.mode == "kraft" or (known and known[0] > LAST_UNCHECKED):
        return True
    led_alike = (s for s in timeline.states_of_epoch(joined.leader_epoch) if s.leader == joined.leader)
    before = [*takewhile(lambda s: s is not joined, led_alike)]
    if any(s.isr == (s.leader,) and s.doubt is None for s in before):
        return True  # the high watermark was the leader's log end
    if known and known[0] >= REMOVES_LAGGING and before and _isr_reached_end(before[-1], joined, timeline, cluster):
        return True
    return any(mark is not None and mark <= end for mark in _committed_before(joined, rows))


def _isr_reached_end(before: State, joined: State, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """The ISR had been the same for so long that the leader had removed every member that had not reached its log end."""
    lag = effective(cluster, "replica.lag.time.max.ms", broker=joined.leader, at=before.at)
    limit = number(lag.value, None) if not lag.assumed else None
    if limit is None or before.at is None or joined.at is None or joined.event.event != "isr-expand":
        return False
    led = (e.at for t in timeline.terms if t.epoch == joined.leader_epoch for e in t.evidence if e.at is not None)
    stood = joined.at - max(before.at, *led) > 2 * timedelta(milliseconds=limit)
    whole = isinstance(between(before, joined, isr_observable=True), Contiguous)
    return stood and whole and bool(would_show(joined.leader, cluster, ORDER, CLOCK))


def _committed_before(joined: State, rows: Sequence[Handover]) -> Iterator[int | None]:
    """Upper bounds of the offsets that were committed when the leader of this state began to lead. A leader whose process led on in a later
    leader epoch kept its high watermark."""
    earlier = (r for r in reversed(rows) if r.leader_epoch <= joined.leader_epoch)
    began = next((r for r in earlier if r.old_leader != r.new_leader or not r.process.only(Cell.RUNNING) or r.unseen.at_most != 0), None)
    if began is not None and began.new_leader == joined.leader:
        yield from (began.high_watermark.at_most, began.new_log_end.at_most, 0 if began.leader_epoch == 0 else None)


@dataclass(frozen=True, slots=True)
class KafkaStatement:
    """Kafka's own statement about the election, or the state it left: neither depends on the state before."""

    events: tuple[Event, ...]


Proof = Contiguous | KafkaStatement
ELIGIBLE = "election/eligible"
"""The reason for which an election of an eligible leader replica was clean."""


@dataclass(frozen=True, slots=True)
class Election:
    """`unclean` None: the ISR before it is unknown. `why`: the deciding reason."""

    term: Term
    unclean: bool | None
    why: Message
    evidence: tuple[Event, ...]
    ground: Proof | Unsure

    @property
    def confidence(self) -> str:
        return self.ground if isinstance(self.ground, str) else "certain"

    @property
    def clean(self) -> Proof | None:
        """Proof that the leader was in the ISR right before, or that any record it lacked was not committed."""
        return self.ground if self.unclean is False and not isinstance(self.ground, str) else None


def metadata_level(cluster: Cluster) -> int | None:
    """The metadata.version feature level in force, None if no record has it."""
    levels = [e.count for e in cluster.of("metadata-feature") if e.key == "metadata.version" and e.count is not None]
    return levels[-1] if levels else None


@cached_on_timeline
def elections(timeline: PartitionTimeline, cluster: Cluster) -> list[Election]:
    """One for every term that began with another leader, or after a time without one."""
    return [_judge(t, timeline, cluster) for t in timeline.terms if not t.restart and _changes_leader(t, timeline)]


@cached_on_timeline
def by_order(timeline: PartitionTimeline, cluster: Cluster) -> Mapping[tuple[int, int], Election]:
    """The elections by the order of their terms; of two leaders of one epoch, the first."""
    return {e.term.order: e for e in reversed(elections(timeline, cluster))}


def _changes_leader(term: Term, timeline: PartitionTimeline) -> bool:
    if term.before is not None:
        missed = term.state is not None and between(term.before, term.state, isr_observable=True)
        return term.before.leader != term.leader or (isinstance(missed, Gap) and bool(missed.epochs))
    unclean = _statements(term, timeline) or (term.state is not None and term.state.recovering)
    if unclean and (led := [e.previous_leader for e in term.evidence if e.previous_leader is not None]):
        return led[0] != term.leader  # the evidence begins with a line about the change itself
    earlier = timeline.before(term)
    return earlier is not None and earlier.leader != term.leader


def right_before(term: Term, timeline: PartitionTimeline, cluster: Cluster) -> Contiguous | Gap | None:
    """Whether the last known state before it is the one directly before it; None if there is none."""
    before, state = term.before, term.state
    if before is None or state is None:
        return None
    if before is state:  # its leader was restarted within it
        return Contiguous(before, state)
    return between(before, state, isr_observable=isr_changes_observable(before.leader, timeline, cluster, before.at))


def _statements(term: Term, timeline: PartitionTimeline) -> list[Event]:
    """Lines that say that an election was unclean: the controller's about this one, or the new leader's that the partition is
    RECOVERING."""
    lines = [e for e in timeline.of("unclean-election-said") if e.leader == term.leader]
    if lines:
        later = [t for t in timeline.terms if t.order > term.order and t.leader == term.leader and not t.restart]
        lines = [e for e in lines if _belongs(e, term, later)]
    marks = [e for e in timeline.of("recovering-mark") if e.writer == term.leader and _mark_belongs(e, term, timeline)]
    return lines + marks


def _belongs(event: Event, term: Term, later: Sequence[Term]) -> bool:
    if event.leader_epoch is not None:
        return event.leader_epoch == term.epoch
    if event.at is None or term.at is None:
        return not later
    distance = abs((event.at - term.at).total_seconds())
    return all(t.at is None or abs((event.at - t.at).total_seconds()) > distance for t in later) and distance < SAME_UNCLEAN_ELECTION_S


def _mark_belongs(event: Event, term: Term, timeline: PartitionTimeline) -> bool:
    """The mark is in the leader's own log right before its start line (Partition#makeLeader)."""
    replica = timeline.replicas.get(term.leader)
    if replica is None or event not in replica.events:
        return False
    after = replica.events[replica.events.index(event) :]
    start = next((e for e in after if e.event == "leader-start"), None)
    return start is not None and start.leader_epoch == term.epoch


def _judge(term: Term, timeline: PartitionTimeline, cluster: Cluster) -> Election:
    state, before = term.state, term.before
    statements = _statements(term, timeline)
    evidence = tuple(e for e in (before.event if before else None, state.event if state else None, *statements) if e is not None)

    def judged(unclean: bool | None, ground: Proof | Unsure, why: str, **named: Value) -> Election:
        return Election(term, unclean, said(f"election/{why}", **named), evidence, ground)

    leader = term.leader
    if timeline.conflicting_epoch is not None:
        return judged(None, "possible", "two-leaders", leader_epoch=timeline.conflicting_epoch)
    ground = right_before(term, timeline, cluster)
    if isinstance(ground, Contiguous) and _eligible(term, state, ground.before):
        return judged(False, ground, "eligible", leader=leader)
    if (stated := _stated(term, statements, timeline)) is not None:
        return judged(True, *stated, leader=leader)
    if ground is None or not ground.before.isr:
        return judged(None, "possible", "no-isr")
    outside = leader not in ground.before.isr
    if isinstance(ground, Gap):
        return _across(ground, outside, judged)
    if not outside:
        return judged(False, ground, "in-isr", leader=leader, isr=ground.before.isr)
    if _has_company(ground.after, ground.before):
        return judged(False, ground, "company", isr=ground.after.isr)
    if _completes_reassignment(term, ground, timeline, cluster):
        return judged(False, ground, "reassigned", leader=leader)
    if excuse := _excuse(term, ground.after, cluster):
        return judged(False, "probable", excuse)
    return judged(True, ground, "outside", leader=leader, isr=ground.before.isr)


def _stated(term: Term, statements: list[Event], timeline: PartitionTimeline) -> tuple[KafkaStatement, str] | None:
    """Kafka's own statement that the election was unclean, and the phrase for it."""
    state, before = term.state, term.before
    marked = _newly_recovering(term)
    recovering = marked and state is not None and bool(state.recovering)
    if not _leads_on(term, before, statements) and _unexplained(term):
        if lines := tuple(e for e in statements if marked or e.event != "recovering-mark"):
            return KafkaStatement(lines), "printed" if any(e.event == "unclean-election-said" for e in lines) else "informed"
        if state is not None and recovering:
            return KafkaStatement((state.event,)), "recovering"
    if state is not None and recovering and _given_up(term, before, timeline):
        return KafkaStatement((state.event,)), "out-of-empty-isr"
    return None


def _newly_recovering(term: Term) -> bool:
    """Whether the partition, if it is RECOVERING at the start of the term, was not before. An unclean election leaves the leader alone in
    the ISR, and the partition is RECOVERING until the ISR changes, also while the same leader is elected again
    (LeaderAndIsr#newLeaderAndIsr, PartitionRegistration#merge)."""
    state, before = term.state, term.before
    change = state.event if state is not None else None
    if change is not None and change.recovering and (change.event == "metadata-partition-change" or change.previous_leader is not None):
        return True
    if before is not None and before.known_epoch == term.epoch - 1:
        others = bool(before.isr) and before.isr != (term.leader,)
        if others or before.recovering is False:
            return True
    return any(e.event == "leader-start" and e.previous_leader not in (None, -1, term.leader) for e in term.evidence)


def _unexplained(term: Term) -> bool:
    """The state before does not show that the leader was in the ISR."""
    state, before = term.state, term.before
    outside = before is not None and bool(before.isr) and term.leader not in before.isr
    return outside or state is None or not state.follows(before)


def _across(missing: Gap, outside: bool, judged: Callable[..., Election]) -> Election:
    """Others may have been elected in epochs that are unknown, whatever this term began with."""
    before, state = missing.before, missing.after
    if _has_company(state, before):
        return judged(False, "probable" if missing.epochs else KafkaStatement((state.event,)), "company", isr=state.isr)
    if not outside or len(state.isr) > 1:
        return judged(None, "possible", "gap", missing=missing.said)
    return judged(True, "possible", "outside-last", leader=state.leader, isr=before.isr, missing=missing.said)


_DECISIONS = named("partition-transition", "metadata-partition-change")


def _has_company(state: State, before: State) -> bool:
    """The leader was elected with other members of the ISR. False if it was alone, or others may have joined since."""
    return len(state.isr) > 1 and (state.follows(before) or _began_with(state))


def _began_with(state: State) -> bool:
    """The state is the one its leader was elected with. A new controller sends states to which others may have been added."""
    e = state.event
    started = e.event == "leader-start" and e.previous_leader_epoch != -1
    return started or e.event in _DECISIONS or e.reason == "decided"


def _leads_on(term: Term, before: State | None, statements: Sequence[Event]) -> bool:
    """The last known leader was elected again out of an empty ISR, and no election of another leader fits between its epoch, the leaderless
    one after it, and this one. Kafka calls it unclean, too, but its log goes on (KIP-966)."""
    lines = (*statements, *([term.state.event] if term.state is not None else []))
    if any(e.previous_leader == -1 and e.brokers == [term.leader] for e in lines):
        return True  # lastKnownElr
    leaderless = any(e.previous_leader == -1 for e in lines)
    return before is not None and before.leader == term.leader and leaderless and term.epoch - before.leader_epoch <= 2


def _given_up(term: Term, before: State | None, timeline: PartitionTimeline) -> bool:
    """The ISR was empty, and the leader was not in the last ISR before that. Kafka also calls it unclean to elect the last known leader
    again, but then its log goes on (KIP-966)."""
    if before is None or before.isr:
        return False
    last = next((s for s in reversed(timeline.states) if s.isr and s.leader_epoch < term.epoch), None)
    return last is not None and term.leader not in (last.leader, *last.isr)


def _eligible(term: Term, state: State | None, before: State | None) -> bool:
    """Elected from the ELR, whose replicas have all committed records; the ISR may be empty then (PartitionChangeBuilder#electLeader)."""
    return before is not None and term.leader in before.eligible and not (state is not None and state.recovering)


def _completes_reassignment(term: Term, step: Contiguous, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """The leader before was being removed, and is not a replica any more. A KRaft controller completes a reassignment in the change in
    which the last missing replica joins the ISR, and then elects a leader (PartitionChangeBuilder). With ZooKeeper, the new leader has
    joined before (PartitionLeaderElectionAlgorithms). An unclean election keeps the assignment, and a cancelled reassignment keeps the
    leader before and drops the added replicas."""
    before, state = step.before, step.after
    adding, removing = aims(None, timeline.states[: timeline.states.index(before) + 1])
    if cluster.mode == "zookeeper" or before.leader not in removing:
        return False
    gone = state.replicas is not None and before.leader not in state.replicas
    return gone or (term.leader in adding and state.event.removing_replicas == [])


def _excuse(term: Term, state: State, cluster: Cluster) -> str | None:
    """Why a leader from outside the last ISR may still be clean: the phrase for it."""
    if set(state.isr) != {term.leader}:
        return "others"
    level = metadata_level(cluster)
    if cluster.mode == "kraft" and state.source in ("metadata", "replayed") and level is not None and level >= LEADER_RECOVERY_LEVEL:
        return "not-recovering"
    return None
