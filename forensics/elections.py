"""Was an election clean? The one judgement several rules share.

Here: for every change of leader, whether the new leader was in the ISR that counted, how sure that is and by which evidence.
Not here: what an unclean election cost (loss), or how it is reported (rules.unclean_election).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forensics.witnesses import tells_isr
from spark.cluster import Cluster
from spark.continuity import gap
from spark.events import Event
from spark.states import LEADER_RECOVERY_LEVEL, State
from spark.timeline import PartitionTimeline, Term


@dataclass(frozen=True, slots=True)
class Election:
    """`unclean` None: the ISR before it is not in evidence. `why`: a clause that says what decides it."""

    term: Term
    unclean: bool | None
    confidence: str
    why: str
    evidence: tuple[Event, ...]


def metadata_level(cluster: Cluster) -> int | None:
    """The metadata.version feature level in force, None where no record tells."""
    levels = [e.count for e in cluster.of("metadata-feature") if e.key == "metadata.version" and e.count is not None]
    return levels[-1] if levels else None


def elections(timeline: PartitionTimeline, cluster: Cluster) -> list[Election]:
    """One for every term that began with another leader, or after a time without one."""
    found = []
    for term in timeline.terms:
        if term.restart or not _changes_leader(term, timeline):
            continue
        found.append(_judge(term, timeline, cluster))
    return found


def _changes_leader(term: Term, timeline: PartitionTimeline) -> bool:
    if term.before is not None:
        return term.before.leader != term.leader
    first = term.state.event if term.state is not None else None
    if first is not None and first.recovering and first.previous_leader is not None:
        return first.previous_leader != term.leader  # the evidence begins with the controller's line of the change itself
    earlier = [t for t in timeline.terms if t.order < term.order]
    return bool(earlier) and earlier[-1].leader != term.leader


def _said(term: Term, timeline: PartitionTimeline) -> list[Event]:
    """Kafka's own words for this election: the controller's, or the new leader's that it was told to recover."""
    later = [t for t in timeline.terms if t.order > term.order and t.leader == term.leader and not t.restart]
    said = [e for e in timeline.of("unclean-election-said") if e.leader == term.leader and _belongs(e, term, later)]
    marks = [e for e in timeline.of("recovering-mark") if e.writer == term.leader and _mark_belongs(e, term, timeline)]
    return said + marks


def _belongs(event: Event, term: Term, later: Sequence[Term]) -> bool:
    if event.leader_epoch is not None:
        return event.leader_epoch == term.epoch
    if event.at is None or term.at is None:
        return not later
    distance = abs((event.at - term.at).total_seconds())
    return all(t.at is None or abs((event.at - t.at).total_seconds()) > distance for t in later) and distance < 60


def _mark_belongs(event: Event, term: Term, timeline: PartitionTimeline) -> bool:
    """The mark stands in the leader's own log right before its start line (Partition#makeLeader)."""
    replica = timeline.replicas.get(term.leader)
    if replica is None or event not in replica.events:
        return False
    after = replica.events[replica.events.index(event) :]
    start = next((e for e in after if e.event == "leader-start"), None)
    return start is not None and start.leader_epoch == term.epoch


def _judge(term: Term, timeline: PartitionTimeline, cluster: Cluster) -> Election:
    state, before = term.state, term.before
    said = _said(term, timeline)
    witnesses = tuple(e for e in (before.event if before else None, state.event if state else None, *said) if e is not None)
    outside = before is not None and bool(before.isr) and term.leader not in before.isr
    if _eligible(term, state, before):
        return Election(term, False, "certain", f"broker {term.leader} was an eligible leader replica (KIP-966)", witnesses)
    if said and (outside or not _follows(state, before)):
        return Election(term, True, "certain", "Kafka says so itself", witnesses)
    if state is not None and state.recovering and (outside or not _follows(state, before)):
        return Election(term, True, "certain", "its record carries leaderRecoveryState RECOVERING", witnesses)
    if state is not None and state.recovering and _given_up(term, before, timeline):
        why = f"broker {term.leader} was elected out of an empty ISR, neither eligible (KIP-966) nor in sync with the leader before"
        return Election(term, True, "certain", why, witnesses)
    if before is None or state is None or not before.isr:
        return Election(term, None, "possible", "the ISR before it is not in evidence", witnesses)
    missing = gap(before, state)
    if missing and len(state.isr) > 1:
        why = f"the ISR it began with, {list(state.isr)}, has others in it: an unclean election leaves the new leader alone"
        return Election(term, False, "probable", why, witnesses)
    if missing and not outside:
        return Election(term, None, "possible", f"the ISR right before it is not in evidence: {missing}", witnesses)
    if not outside:
        return Election(term, False, "certain", f"broker {term.leader} was in the ISR {list(before.isr)}", witnesses)
    if excuse := _excuse(term, state, before, timeline, cluster):
        return Election(term, False, "probable", excuse, witnesses)
    if missing:
        why = f"broker {term.leader} was not in the last ISR in evidence, {list(before.isr)}, but {missing}"
        return Election(term, True, "possible", why, witnesses)
    why = f"broker {term.leader} was not in the ISR {list(before.isr)} and became its only member"
    return Election(term, True, _certainty(state, before, timeline, cluster), why, witnesses)


def _given_up(term: Term, before: State | None, timeline: PartitionTimeline) -> bool:
    """The ISR was empty, and the leader was not in the last one that was not. Electing the last known leader again is called unclean,
    too, but its log leads on (KIP-966)."""
    if before is None or before.isr:
        return False
    last = next((s for s in reversed(timeline.states) if s.isr and s.leader_epoch < term.epoch), None)
    return last is not None and term.leader not in (last.leader, *last.isr)


def _eligible(term: Term, state: State | None, before: State | None) -> bool:
    """Elected from the ELR, which holds what was committed; the ISR may be empty then (PartitionChangeBuilder#electLeader)."""
    return before is not None and term.leader in before.eligible and not (state is not None and state.recovering)


def _follows(state: State | None, before: State | None) -> bool:
    """No state between the two is missing from the evidence."""
    if state is None or before is None or state.partition_epoch is None or before.partition_epoch is None:
        return False
    return state.partition_epoch == before.partition_epoch + 1


def _excuse(term: Term, state: State, before: State, timeline: PartitionTimeline, cluster: Cluster) -> str | None:
    """Why a leader from outside the last ISR may still be clean."""
    if set(state.isr) != {term.leader}:
        return "the ISR after it has other members, so it is a reassignment's last step"
    if before.adding or before.removing or (state.replicas and before.replicas and set(state.replicas) != set(before.replicas)):
        return "a reassignment was completing"
    level = metadata_level(cluster)
    if cluster.mode == "kraft" and state.source in ("metadata", "replayed") and level is not None and level >= LEADER_RECOVERY_LEVEL:
        return "the metadata log does not mark it RECOVERING"
    return None


def _certainty(state: State, before: State, timeline: PartitionTimeline, cluster: Cluster) -> str:
    """Without partition epochs a leader may have changed its ISR in between, and only its own log would tell."""
    if state.partition_epoch is None or before.partition_epoch is None:
        return "probable" if before.leader < 0 or tells_isr(before.leader, timeline, cluster) else "possible"
    return "certain"
