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

from forensics.elections import elections
from forensics.model import Finding, brokers_named
from forensics.remembered import last_kept
from spark.cluster import Cluster
from spark.continuity import gap
from spark.replicas import EXACT, Disk
from spark.states import State
from spark.timeline import PartitionTimeline, Term

LOST, TAIL_CUT, INTACT, UNKNOWN = "lost", "tail-cut", "intact", "unknown"
VERDICTS = (LOST, TAIL_CUT, INTACT, UNKNOWN)

CASTS_DOUBT = frozenset(
    {"log-divergence", "log-wiped-at-load", "missed-epoch-change", "empty-replica-joins", "truncate-to-start", "checkpoint-inconsistent"}
)
"""Kinds of findings, from medium on, after which a partition is not called whole."""
LEVEL = ("medium", "high", "critical")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be said of a partition from `since` to `until`."""

    verdict: str
    since: datetime | None
    until: datetime | None
    why: str


def verdict(timeline: PartitionTimeline, cluster: Cluster, findings: Sequence[Finding]) -> Verdict:
    """The verdict on one life of a partition, from its timeline and what the rules found in it."""
    own = [f for f in findings if f.kind == "data-loss"]
    sure = [f for f in own if f.confidence != "possible"]
    known = _known(timeline)
    since = next((s.at for s in known if s.at is not None), None)

    def told(kind: str, why: str) -> Verdict:
        return Verdict(kind, since, cluster.until, why)

    if gone := [f for f in sure if f.committed]:
        return told(LOST, f"{_ranges(gone)}, which were committed, are gone ({gone[0].cause})")
    if gone := [f for f in sure if f.committed is None]:
        return told(UNKNOWN, f"{_ranges(gone)} are gone; whether they were committed is not in evidence")
    if open_ends := [f for f in own if f.committed is not False]:
        steps = open_ends[0].next_steps
        return told(UNKNOWN, f"a loss cannot be excluded ({open_ends[0].cause}){'; ' + steps[0] if steps else ''}")
    if odd := next((f for f in findings if f.kind in CASTS_DOUBT and f.severity in LEVEL), None):
        return told(UNKNOWN, f"{odd.kind} was found, which has to be understood first")
    if reason := next(_unproven(timeline, cluster, known), None):
        return told(UNKNOWN, reason)
    if own:
        return told(TAIL_CUT, f"only {_ranges(own)}, which were never committed, are gone: producers with acks=0 or acks=1 may miss them")
    terms = len({t.epoch for t in timeline.terms})
    return told(
        INTACT, f"{terms} leader epoch{'s' if terms != 1 else ''} without a gap, each begun by a replica that held all that was committed"
    )


def _ranges(findings: Sequence[Finding]) -> str:
    return "offsets " + ", ".join(dict.fromkeys(str(r) for f in findings for r in f.offsets))


def _known(timeline: PartitionTimeline) -> list[State]:
    """The states of known leader epochs: of what was before nothing is claimed."""
    return [s for s in timeline.states if s.known_epoch is not None]


def _unproven(timeline: PartitionTimeline, cluster: Cluster, known: Sequence[State]) -> Iterator[str]:
    """What keeps the partition from being proven whole, and what would settle it."""
    if not known:
        yield "no leader epoch of it is in evidence; state-change.log, server.log or the metadata log would tell"
        return
    for one, other in pairwise(known):
        if (missing := gap(one, other)) is not None:
            yield f"{missing}; state-change.log and controller.log of all brokers, rotated files too, would tell"
    yield from _of_leaders(timeline, cluster)
    yield from _of_elections(timeline, cluster)
    yield from _of_ends(timeline)
    yield from _of_marks(timeline)


def _of_leaders(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[str]:
    """What happened to a log its broker alone tells."""
    heard = _heard(cluster)
    led = {t.leader for t in timeline.terms}
    if absent := sorted(led - heard.keys()):
        yield f"no log of {brokers_named(absent)}, which led it, was collected"
    if unread := sorted(b for b in led & heard.keys() if heard[b]):
        yield f"logs of {brokers_named(unread)}, which led it, were not all understood ({heard[unread[0]]})"


@last_kept
def _heard(cluster: Cluster) -> dict[int, str]:
    """The nodes whose own broker logs were collected, with what in them could not be read; '' where all could."""
    found: dict[int, str] = {}
    for s in cluster.sources:
        if not s.kind.endswith("-log") or not s.lines:
            continue
        for node in s.nodes:
            found[node] = found.get(node, "") or (s.problem or "")
    return found


def _of_elections(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[str]:
    for election in elections(timeline, cluster):
        if election.unclean is None:
            yield f"whether broker {election.term.leader} was in sync when it was elected in leader epoch {election.term.epoch} is not in evidence: {election.why}"
        elif election.unclean and election.confidence == "possible":
            yield f"broker {election.term.leader} may have been elected uncleanly in leader epoch {election.term.epoch}"


def _of_ends(timeline: PartitionTimeline) -> Iterator[str]:
    """When another leader took over, or a process that had to recover its log led on, what the log before had beyond it is known."""
    for before, term in pairwise(timeline.terms):
        if term.leader != before.leader and not _end_seen(before, term, timeline):
            yield (
                f"how far the log of broker {before.leader}, leader in epoch {before.epoch}, reached when broker {term.leader} took over is not in "
                "evidence; its later log or its disk would tell"
            )


def _end_seen(before: Term, term: Term, timeline: PartitionTimeline) -> bool:
    """The deposed leader's log end was told exactly after the next one began: as it followed, at its restart, or by its disk."""
    replica, disk = timeline.replicas.get(before.leader), timeline.disks.get(before.leader)
    if replica is not None:
        if any(f.epoch >= term.epoch and f.offset is not None for f in replica.follower_starts):
            return True
        later = [o for o in replica.observations if o.quantity == "log-end-offset" and o.bound == EXACT]
        if any(o.at is not None and term.at is not None and o.at >= term.at for o in later):
            return True
        if any(o.epoch is not None and o.epoch >= term.epoch for o in later):
            return True
    disks = [d for d in (disk, *timeline.aside.get(before.leader, ())) if d is not None and d.log_end_offset is not None]
    return any((d.last_epoch or 0) <= before.epoch and _no_further(d, term) for d in disks)


def _no_further(disk: Disk, term: Term) -> bool:
    """What lies aside, to be deleted, is no removal that a loss is looked for in."""
    return disk.state is None or (term.start_offset is not None and (disk.log_end_offset or 0) <= term.start_offset)


def _of_marks(timeline: PartitionTimeline) -> Iterator[str]:
    """The leader's log at the end reaches every high watermark that was ever seen."""
    final = timeline.final
    disk = timeline.disks.get(final.leader) if final is not None else None
    if disk is None or disk.log_end_offset is None:
        return
    marks = [
        d.high_watermark.offset for d in timeline.disks.values() if d.high_watermark is not None and d.high_watermark.offset is not None
    ]
    marks += [o.offset for r in timeline.replicas.values() for o in r.observations if o.quantity == "high-watermark"]
    highest = max(marks, default=0)
    if highest > disk.log_end_offset:
        yield f"a high watermark of {highest} was seen, and the log of its leader, broker {disk.broker}, ends at {disk.log_end_offset}"
