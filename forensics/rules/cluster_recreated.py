"""cluster-recreated: the brokers joined another cluster, with other topics under the old names and epochs that restart.

Here: the cause, if the evidence shows it, and the logs of the old cluster that the brokers still had. Not here: which lines belong to which
cluster (forensics.model.clock.cluster_history), or the losses of the old logs (data_loss).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from forensics.model.cluster.facts import Cluster, ClusterJoin
from forensics.model.findings import Evidence, Finding, quote
from forensics.model.message import Message, Value, said, values
from forensics.proof.foreign_logs import INHERITED
from forensics.thresholds import NAMED, STATE_LOST


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    came = [b for b in cluster.begun if b.how != "first"]
    if cluster.ended and came:
        yield _finding(came, cluster, partitions)


def _before(cluster: Cluster, came: Sequence[ClusterJoin]) -> Cluster:
    """The cluster in which most of the brokers were before."""
    numbers = Counter(b.before for b in came)
    number = max(numbers, key=lambda n: (numbers[n], n or 0))
    return next((c for c in cluster.whole if c.number == number), cluster.ended[-1])


def _expired(before: Cluster, cluster: Cluster, came: Sequence[ClusterJoin]) -> bool:
    """Sessions that expired right before: their processes were running when the state was lost."""
    expiries = [(e.writer, e.at) for c in (before, cluster) for e in c.of("session-expired") if e.at is not None]
    return any(node == b.node and timedelta(0) <= b.at - at <= STATE_LOST for b in came for node, at in expiries)


def _finding(came: Sequence[ClusterJoin], cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Finding:
    before = _before(cluster, came)
    cause, how, own = _how(cluster, before, came)
    kept = [p for p in partitions if p["inherited"]]
    names = tuple(f"{p['topic']}-{p['partition']}" for p in kept)
    return Finding(
        severity="high" if cause == "state-lost" else "medium",
        confidence="certain",
        brokers=tuple(sorted({b.node for b in came})),
        start=came[0].at,
        end=came[-1].at,
        cause=cause,
        values=values(
            now=_id(cluster),
            before=_id(before),
            same=cluster.id is not None and cluster.id == before.id,
            again=came[0].again,
            how=said(f"cluster-recreated/{how}", kraft=cluster.mode == "kraft", **own),
            kept=names[:NAMED],
            kept_more=len(names) - NAMED if len(names) > NAMED else None,
            disks=tuple(sorted({i["broker"] for p in kept for i in p["inherited"]})),
            lost=cause == "state-lost",
        ),
        evidence=(*quote(*(e for b in came for e in b.evidence[:1]))[:4], *(_evidence(p) for p in kept[:NAMED])),
    )


def _id(cluster: Cluster) -> Message:
    return said("cluster-recreated/cluster", id=cluster.id)


def _how(cluster: Cluster, before: Cluster, came: Sequence[ClusterJoin]) -> tuple[str, str, Mapping[str, Value]]:
    """The cause, and the phrase that says how, with its values."""
    under_way = [b for b in came if b.how == "under-way"]
    if under_way:
        lost = _expired(before, cluster, under_way)
        return ("state-lost", "state-lost", {}) if lost else ("unknown", "epochs-restarted", {})
    now, then = ({c.settings.value("zookeeper.connect", broker=b.node) for b in came} for c in (cluster, before))
    if None not in now | then and not now & then:
        return "pointed-elsewhere", "pointed-elsewhere", {"addresses": tuple(map(str, sorted(now, key=str)))}
    cause = "formatted" if cluster.mode == "kraft" else "state-wiped"
    return cause, cause, {}


def _evidence(partition: Mapping[str, Any]) -> Evidence:
    return Evidence(**partition["inherited"][0]["statement"])


READS = (INHERITED,)
