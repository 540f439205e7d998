"""quorum-lost: the metadata quorum had no leader, or no majority, for longer than an election takes.

Here: the controllers that were gone, and the partitions that could not get a new leader or ISR meanwhile. Not here: the spans themselves
(forensics.model.quorum.quorum), the change of the leader (controller_change), the end of a controller (controller_crash,
controlled_shutdown).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from forensics.model.cluster.facts import Cluster, by_role
from forensics.model.findings import Finding, quote
from forensics.model.message import Message, Value, said, values
from forensics.model.presence.availability import CONTROLLED, Outage
from forensics.model.presence.crash_times import FACTS, CrashTimes
from forensics.model.presence.process_errors import who
from forensics.model.presence.unreplaced import Unreplaced, ended, unreplaced
from forensics.model.quorum.quorum import DOWN, RECORDS, UNREACHED, NoLeader, without_leader


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    times = CrashTimes(cluster, partitions)
    for window in without_leader(cluster):
        if window.shown_by == {UNREACHED}:
            yield _of_brokers(window)
        else:
            yield _finding(window, cluster, unreplaced(window, cluster, partitions, times), times)


def _finding(w: NoLeader, cluster: Cluster, kept: Sequence[Unreplaced], times: CrashTimes) -> Finding:
    orderly = bool(w.gone) and all(a.how == CONTROLLED for a in w.down)
    crashed = any(a.how != CONTROLLED for a in w.down)
    latest, leaderless = _latest(w, times), {name for b in kept for name in b.led}
    voters, searching = len(w.voters), by_role(w.searching, cluster.controllers)
    return Finding(
        severity="medium" if orderly and not leaderless and voters == 1 else "high",
        confidence="certain" if _is_certain(w) else "probable",
        brokers=_nodes(w),
        start=min(w.start, latest),
        start_latest=latest if latest > w.start else None,
        end=w.end,
        cause="controlled-shutdown" if orderly else _crash_kind(w, cluster) if crashed else "unknown",
        values=values(
            majority_lost=DOWN in w.shown_by,
            bracket=(w.start, latest) if latest > w.start else None,
            latest=latest,
            seconds=((w.end or w.known_until) - latest).total_seconds(),
            gone=by_role(w.gone, cluster.controllers) if w.gone else None,
            number_gone=len(w.gone),
            voters=voters if voters > 1 else None,
            majority=w.majority,
            affected=len(leaderless) or None,
            last_leader=_voter(w.leader, cluster) if w.leader is not None else None,
            epoch=w.epoch,
            ends=tuple(_ended(a, a.run.node, cluster, times) for a in w.down if a.run is not None),
            no_record=(w.start, w.end) if RECORDS in w.shown_by else None,
            searching=searching if w.searching else None,
            searched=w.searched,
            unreached=UNREACHED in w.shown_by,
            attempts=w.attempts if w.attempts > 1 else None,
            following=_voter(w.following, cluster) if w.following is not None else None,
            unreplaced=tuple(m for u in kept for m in u.said()),
            steps=tuple(_steps(w, cluster, orderly=orderly)),
        ),
        evidence=quote(w.evidence),
    )


def _ended(a: Outage, node: int, cluster: Cluster, times: CrashTimes) -> Message:
    return said("quorum-lost/node-ended", who=_voter(node, cluster), how=ended(a, times.of(a, node)), until=a.until)


def _nodes(w: NoLeader) -> tuple[int, ...]:
    """The voters that were down if they explain it; else those that looked for a leader, too, or the leader that fell silent."""
    if len(w.gone) > len(w.voters) - w.majority:
        return w.gone
    return tuple(dict.fromkeys((*w.gone, *w.searching))) or ((w.leader,) if w.leader is not None else ())


def _latest(w: NoLeader, times: CrashTimes) -> datetime:
    """When the quorum had lost its majority at the latest: the time of each crash is known best from all evidence."""
    if DOWN not in w.shown_by:
        return w.latest
    ends = sorted(at for a in w.down if a.run is not None and (at := times.of(a, a.run.node).latest or a.down_from) is not None)
    needed = len(w.voters) - w.majority
    return min(w.latest, ends[needed]) if len(ends) > needed else w.latest


def _crash_kind(w: NoLeader, cluster: Cluster) -> str:
    gone = {a.run.node for a in w.down if a.run is not None and a.how != CONTROLLED}
    return "controller-crash" if gone & cluster.controllers else "broker-crash"


def _is_certain(w: NoLeader) -> bool:
    """A majority of voters was down or looked for a leader, or the metadata log has no record of the time in which nodes looked for one."""
    known = {*w.gone, *(n for n in w.searching if n in w.voters)}
    return DOWN in w.shown_by or (len(w.shown_by) > 1 and RECORDS in w.shown_by) or (bool(w.voters) and len(known) >= w.majority)


def _voter(node: int, cluster: Cluster) -> Message:
    """A leader of the quorum is a controller, whose own files may be missing."""
    return who(node, cluster) if node in cluster.nodes else said("node/controller", id=node)


def _steps(w: NoLeader, cluster: Cluster, *, orderly: bool) -> Iterator[Message]:
    down = [a.run.node for a in w.down if a.run is not None and a.until is None]
    known: dict[str, Value] = {"gone": by_role(w.gone, cluster.controllers), "majority": w.majority, "voters": len(w.voters)}
    if w.end is None:
        if down and w.voters:
            yield said("quorum-lost/start", **known | {"down": by_role(down, cluster.controllers)})
        else:
            yield said("quorum-lost/start-controllers")
        yield said("quorum-lost/compare-voters")
    elif missing := tuple(v for v in w.voters if v not in cluster.collected):
        brokers = tuple(v for v in missing if v in cluster.nodes and v not in cluster.controllers)
        yield said("quorum-lost/collect", missing=(brokers, tuple(v for v in missing if v not in brokers)))
    elif not w.gone:
        yield said("quorum-lost/search", searching=by_role(w.searching, cluster.controllers))
    else:
        yield said(f"quorum-lost/{'run-three' if len(w.voters) == 1 else 'one-at-a-time' if orderly else 'find-out'}", **known)


def _of_brokers(w: NoLeader) -> Finding:
    """The finding if no evidence of the quorum itself was collected."""
    return Finding(
        confidence="probable" if len(w.searching) > 1 else "possible",
        brokers=w.searching,
        start=w.latest,
        end=w.known_until,
        cause="unknown",
        message="unreached",
        values=values(seconds=(w.known_until - w.latest).total_seconds()),
        evidence=quote(w.evidence),
    )


READS = FACTS
