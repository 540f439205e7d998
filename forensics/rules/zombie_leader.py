"""zombie-leader: a broker continued as leader after another was elected."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise

from forensics.model.cluster.facts import Cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import Values, values
from forensics.model.partition.isr_removal import lag_time
from forensics.model.partition.replicas import FollowerStart
from forensics.model.partition.states import Contiguous
from forensics.model.partition.timeline import PartitionTimeline, Term
from forensics.proof.elections import right_before
from forensics.proof.losses import losses
from forensics.proof.old_log import became_follower
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
        yield _finding(before, term, followed, refused, bool(lost), _accepted(term, timeline, cluster))


def _in_sync_meanwhile(
    broker: int, term: Term, elected: datetime, followed: datetime, timeline: PartitionTimeline, cluster: Cluster
) -> bool:
    """Whether the new leader kept the broker in its ISR for longer than a replica may lag: the broker followed at once, and its clock is
    wrong."""
    if followed - elected <= lag_time(cluster, term.leader, elected):
        return False
    states = [s for s in timeline.states if s.leader_epoch == term.epoch and (s.at is None or s.at <= followed)]
    return bool(states) and all(broker in s.isr for s in states)


def _accepted(term: Term, timeline: PartitionTimeline, cluster: Cluster) -> Values:
    """The ISR of the leader before, if it is known, and whether the new leader was in it. With acks=all a leader waits for every member of
    its ISR, and the new leader does not fetch from it any more."""
    known = right_before(term, timeline, cluster)
    isr = known.before.isr if isinstance(known, Contiguous) else ()
    return values(isr=tuple(isr), member=term.leader in isr)


def _finding(before: Term, term: Term, followed: FollowerStart, refused: list[Event], lost: bool, accepted: Values) -> Finding:
    ahead = values(reached=followed.offset, new_start=term.began) if lost else ()
    return Finding(
        confidence="certain" if refused else "probable",
        brokers=(before.leader, term.leader),
        leader_epoch=before.epoch,
        start=term.at,
        end=followed.at,
        values=(*values(epoch=before.epoch, elected=term.leader, new_epoch=term.epoch), *accepted, *ahead),
        evidence=quote(before.evidence[-1:], term.evidence, followed.event, refused[:2]),
    )
