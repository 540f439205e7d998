"""quorum-lost: the metadata quorum had no leader, or no majority, for longer than an election takes.

Here: the controllers that were gone, and the partitions that could not get a new leader or ISR meanwhile. Not here: the spans themselves
(forensics.model.cluster.quorum), the change of the leader (controller_change), the end of a controller (controller_crash,
controlled_shutdown).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from forensics.model.cluster.availability import CONTROLLED
from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import named_node
from forensics.model.cluster.quorum import DOWN, RECORDS, UNREACHED, NoLeader, down_from, without_leader
from forensics.model.findings import (
    Finding,
    began,
    brokers_named,
    capital,
    counted,
    duration,
    moment,
    nodes_named,
    quote,
    raw,
)
from forensics.model.partition.crash_times import FACTS, CrashTimes
from forensics.model.partition.unreplaced import Unreplaced, ended, unreplaced


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
    latest = _latest(w, times)
    leaderless = sorted({name for b in kept for name in b.led})
    lasted = f" ({duration(((w.end or w.known_until) - latest).total_seconds())})"
    over = f"until {moment(w.end)}{lasted}" if w.end is not None else f"to the end of the evidence{lasted}"
    gone = f": {nodes_named(w.gone, cluster.controllers)} {_of(w)}{'was' if len(w.gone) == 1 else 'were'} down" if w.gone else ""
    affected = f"; {counted(len(leaderless))} had no leader meanwhile" if leaderless else ""
    without = "majority" if DOWN in w.shown_by else "leader"
    return raw(
        kind="quorum-lost",
        severity="medium" if orderly and not leaderless and len(w.voters) == 1 else "high",
        confidence="certain" if _is_certain(w) else "probable",
        brokers=_nodes(w),
        start=min(w.start, latest),
        start_latest=latest if latest > w.start else None,
        end=w.end,
        cause="controlled-shutdown" if orderly else _crash_kind(w, cluster) if crashed else "unknown",
        summary=f"the metadata quorum had no {without} {_since(w, latest)} {over}{gone}{affected}",
        explanation=" ".join(_sentences(w, cluster, kept, times)),
        next_steps=tuple(_steps(w, cluster, orderly=orderly)),
        evidence=quote(w.evidence),
    )


def _nodes(w: NoLeader) -> tuple[int, ...]:
    """The voters that were down if they explain it; else those that looked for a leader, too, or the leader that fell silent."""
    if len(w.gone) > len(w.voters) - w.majority:
        return w.gone
    return tuple(dict.fromkeys((*w.gone, *w.searching))) or ((w.leader,) if w.leader is not None else ())


def _latest(w: NoLeader, times: CrashTimes) -> datetime:
    """When the quorum had lost its majority at the latest: the time of each crash is known best from all evidence."""
    if DOWN not in w.shown_by:
        return w.latest
    ends = sorted(at for a in w.down if a.life is not None and (at := times.of(a, a.life.node).latest or down_from(a)) is not None)
    needed = len(w.voters) - w.majority
    return min(w.latest, ends[needed]) if len(ends) > needed else w.latest


def _of(w: NoLeader) -> str:
    return f"of {len(w.voters)} voters " if len(w.voters) > 1 else ""


def _since(w: NoLeader, latest: datetime) -> str:
    return f"from a time {began(w.start, latest)}" if latest > w.start else f"from {moment(latest)}"


def _crash_kind(w: NoLeader, cluster: Cluster) -> str:
    gone = {a.life.node for a in w.down if a.life is not None and a.how != CONTROLLED}
    return "controller-crash" if gone & cluster.controllers else "broker-crash"


def _is_certain(w: NoLeader) -> bool:
    """A majority of voters was down or looked for a leader, or the metadata log has no record of the time in which nodes looked for one."""
    known = {*w.gone, *(n for n in w.searching if n in w.voters)}
    return DOWN in w.shown_by or (len(w.shown_by) > 1 and RECORDS in w.shown_by) or (bool(w.voters) and len(known) >= w.majority)


def _sentences(w: NoLeader, cluster: Cluster, kept: Sequence[Unreplaced], times: CrashTimes) -> Iterator[str]:
    if w.leader is not None:
        yield f"The last leader of the metadata quorum was {_voter(w.leader, cluster)} in epoch {w.epoch}."
    for a in w.down:
        if a.life is not None:
            yield f"{_named(a.life.node, cluster)} {ended(a, times.of(a, a.life.node))}{f' and was started again at {moment(a.until)}' if a.until is not None else ''}."
    if RECORDS in w.shown_by:
        yield f"The metadata log has no record between {moment(w.start)} and {moment(w.end)}."
    if w.searching:
        tries = f"; voters asked for votes {w.attempts} times in vain" if w.attempts > 1 else ""
        named = nodes_named(w.searching, cluster.controllers)
        knew = "knew no leader, or could not send heartbeats to a controller," if UNREACHED in w.shown_by else "knew no leader"
        yield f"{capital(named)} {knew} from {moment(w.searched)} on{tries}."
    if len(w.voters) > 1:
        yield f"A leader needs the votes of {w.majority} of {len(w.voters)} controllers."
    if w.following is not None:
        yield f"{_named(w.following, cluster)} led the quorum from {moment(w.end)} on."
    else:
        yield "The evidence shows no later leader."
    yield (
        "Without a leader of the quorum no partition gets another leader, no ISR changes, and no topic or setting can be created or changed. "
        "Brokers continue to serve the partitions that they lead."
    )
    for u in kept:
        yield from u.sentences()


def _voter(node: int, cluster: Cluster) -> str:
    """A leader of the quorum is a controller, whose own files may be missing."""
    return named_node(node, cluster) if node in cluster.nodes else f"controller {node}"


def _named(node: int, cluster: Cluster) -> str:
    return capital(_voter(node, cluster))


def _steps(w: NoLeader, cluster: Cluster, *, orderly: bool) -> Iterator[str]:
    down = [a.life.node for a in w.down if a.life is not None and a.until is None]
    gone, majority = nodes_named(w.gone, cluster.controllers), f"{w.majority} of {len(w.voters)} controllers"
    if w.end is None:
        yield (
            f"Start {nodes_named(down, cluster.controllers)}: {majority} must run and reach each other."
            if down and w.voters
            else "Start the controllers that are down: a majority of `controller.quorum.voters` must run and reach each other."
        )
        yield "Run `kafka-metadata-quorum.sh --bootstrap-controller HOST:PORT describe --status`, and compare the voters with the running controllers."
    elif missing := tuple(v for v in w.voters if v not in cluster.collected):
        yield f"Collect server.log and controller.log of {nodes_named(missing, frozenset(missing) - cluster.nodes.keys() | cluster.controllers)}: they show which controllers were down."
    elif not w.gone:
        yield f"Search the logs of {nodes_named(w.searching, cluster.controllers)} for failed connections to the other controllers in that time, and check the network between the controllers."
    elif len(w.voters) == 1:
        yield f"Run three controllers: {gone} was the only one, so every restart of it stops all changes of metadata."
    elif orderly:
        yield f"Restart controllers one at a time, and continue only when `kafka-metadata-quorum.sh … describe --replication` shows that the restarted one has caught up: {majority} must run."
    else:
        yield f"Find out why {gone} were down at the same time, and place the controllers on machines with separate power, disks and network: {majority} must run."


def _of_brokers(w: NoLeader) -> Finding:
    """The finding if no evidence of the quorum itself was collected."""
    who, lasted = brokers_named(w.searching), (w.known_until - w.latest).total_seconds()
    return raw(
        kind="quorum-lost",
        severity="high",
        confidence="probable" if len(w.searching) > 1 else "possible",
        brokers=w.searching,
        start=w.latest,
        end=w.known_until,
        cause="unknown",
        summary=f"{who} could not reach a controller for {duration(lasted)} from {moment(w.latest)} on",
        explanation=(
            f"From {moment(w.latest)} to {moment(w.known_until)} all collected brokers ({who}) could not send heartbeats to the active controller. "
            "Possible causes: the metadata quorum had no leader, or the brokers could not reach it. No collected file shows the state of the quorum. "
            "Without a leader of the quorum no partition gets another leader and no ISR changes."
        ),
        next_steps=(
            "Collect the logs and the directory __cluster_metadata-0 of the controllers: they show whether the quorum had a leader.",
        ),
        evidence=quote(w.evidence),
    )


READS = FACTS
