"""zombie-leader: a broker continued as leader after another was elected."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, moment, quote, raw
from forensics.model.partition.continuity import Contiguous
from forensics.model.partition.isr_removal import lag_time
from forensics.model.partition.replicas import FollowerStart
from forensics.model.partition.timeline import PartitionTimeline, Term
from forensics.proof.elections import right_before
from forensics.proof.losses import losses
from forensics.proof.stepping_down import became_follower
from forensics.thresholds import ORDINARY_HANDOVER


def of_partition(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for before, term in pairwise(t for t in timeline.terms if not t.restart):
        if before.leader != term.leader and term.at is not None:
            yield from _led_on(before, term, term.at, timeline, cluster)


def _led_on(before: Term, term: Term, elected: datetime, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    """Whether the leader before accepted records, or tried to change its ISR, after the election."""
    followed = became_follower(before, term, timeline, cluster)
    if followed is None or followed.at is None or followed.at - elected < ORDINARY_HANDOVER:
        return
    refused = [e for e in timeline.replicas[before.leader].rejected if e.at is not None and elected <= e.at <= followed.at]
    lost = [x for x in losses(timeline, cluster) if x.term.order == term.order and any(r.broker == before.leader for r in x.removals)]
    if (lost or refused) and not _in_sync_meanwhile(before.leader, term, elected, followed.at, timeline, cluster):
        yield _finding(timeline, before, term, followed, refused, bool(lost), _accepted(before.leader, term, timeline, cluster))


def _in_sync_meanwhile(
    broker: int, term: Term, elected: datetime, followed: datetime, timeline: PartitionTimeline, cluster: Cluster
) -> bool:
    """Whether the new leader kept the broker in its ISR for longer than a replica may lag: the broker followed at once, and its clock is
    wrong."""
    if followed - elected <= lag_time(cluster, term.leader, elected):
        return False
    states = [s for s in timeline.states if s.leader_epoch == term.epoch and (s.at is None or s.at <= followed)]
    return bool(states) and all(broker in s.isr for s in states)


def _accepted(broker: int, term: Term, timeline: PartitionTimeline, cluster: Cluster) -> str:
    """Which writes the leader before could accept. It waits with acks=all for every member of its ISR, and the new leader does not fetch
    from it any more."""
    could = f"In between broker {broker} could accept acks=0 and acks=1 writes, which are truncated later"
    known = right_before(term, timeline, cluster)
    if not isinstance(known, Contiguous) or not known.before.isr:
        return f"{could}, and acks=all writes, too, if broker {term.leader} was not in its ISR."
    if term.leader not in known.before.isr:
        return f"{could}, and acks=all writes, too, if min.insync.replicas allowed: broker {term.leader} was not in its ISR {list(known.before.isr)}."
    return (
        f"{could}; acks=all writes could not succeed there, because broker {term.leader}, a member of its ISR, no longer fetched from it."
    )


def _finding(
    timeline: PartitionTimeline, before: Term, term: Term, followed: FollowerStart, refused: list[Event], lost: bool, accepted: str
) -> Finding:
    how_far = f" up to offset {followed.offset}" if followed.offset is not None else ""
    ahead = f" and had written{how_far} while the new leader started at {term.began}" if lost else ""
    return raw(
        kind="zombie-leader",
        severity="high",
        confidence="certain" if refused else "probable",
        brokers=(before.leader, term.leader),
        leader_epoch=before.epoch,
        start=term.at,
        end=followed.at,
        summary=f"{timeline.name}: broker {before.leader} still led in epoch {before.epoch} after broker {term.leader} was elected in epoch {term.epoch}",
        explanation=(
            f"Broker {term.leader} was elected leader at {moment(term.at)} (leader epoch {term.epoch}), but broker {before.leader}, which was "
            f"running all the time, stepped down only at {moment(followed.at)}{ahead}. {accepted}"
        ),
        next_steps=(
            f"Find out what froze broker {before.leader}: a long GC pause, a suspended machine, a stuck disk, or a network failure.",
            f"See the data-loss findings of {timeline.name} for the records that broker {before.leader} accepted alone.",
        ),
        evidence=quote(before.evidence[-1:], term.evidence, followed.event, refused[:2]),
    )
