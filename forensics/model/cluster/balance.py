"""Preferred leaders and load: how evenly a cluster's partitions, leaders and bytes are spread over its brokers, over time and at the end.

Here: the imbalance ratio of each broker as Kafka's controller computes it, and the shares of load with their deviation. Not here: what a
partition contributes (forensics.model.partition.placement), the findings (forensics.rules.leader_imbalance, load_imbalance), or the repair
(forensics.tools.repair).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from forensics.model.cluster.facts import OF_BROKERS, Cluster, Measure
from forensics.model.findings import Fact
from forensics.model.message import timestamp
from forensics.model.partition.placement import INTERVAL_S, SIZES, STEPS, WRITTEN
from forensics.model.settings.effective import effective, number
from forensics.model.times import grouped
from forensics.thresholds import LOAD_DEVIATION, MIN_MEAN_BYTES

MAX_POINTS = 200
"""Maximum number of points of a series in the report."""
MAX_MEASURES = 10_000
"""Maximum number of pairs of broker and metric that are kept from files of load metrics."""


# preferred leaders


@dataclass(frozen=True, slots=True)
class Ratio:
    """From `at` on (None: since before the evidence begins) a broker was the preferred leader of `preferred` partitions, and `elsewhere` of
    them had another leader or none."""

    at: datetime | None
    preferred: int
    elsewhere: int

    @property
    def ratio(self) -> float:
        return self.elsewhere / self.preferred if self.preferred else 0.0


def ratios(partitions: Iterable[Mapping[str, Any]]) -> dict[int, list[Ratio]]:
    """The imbalance ratio of each broker over time, to the second (KafkaController.checkAndTriggerAutoLeaderRebalance)."""
    changes = _leader_changes(partitions)
    found: dict[int, list[Ratio]] = defaultdict(list)
    for at in sorted(changes):
        for broker, (preferred, elsewhere) in changes[at].items():
            last = found[broker][-1] if found[broker] else Ratio(None, 0, 0)
            if preferred or elsewhere:
                found[broker].append(Ratio(at if at != datetime.min else None, last.preferred + preferred, last.elsewhere + elsewhere))
    return {broker: series for broker, series in sorted(found.items()) if series}


def _leader_changes(partitions: Iterable[Mapping[str, Any]]) -> dict[datetime, dict[int, list[int]]]:
    """By time and broker, how many partitions more have it as preferred leader, and how many more of them another leader."""
    changes: dict[datetime, dict[int, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for p in partitions:
        before: Mapping[str, Any] | None = None
        for step in p["steps"] or ():
            at = step["at"].replace(microsecond=0) if step["at"] is not None else datetime.min
            for state, sign in ((before, -1), (step, 1)):
                if state is not None and state["preferred"] is not None:
                    change = changes[at][state["preferred"]]
                    change[0] += sign
                    change[1] += sign * (state["leader"] != state["preferred"])
            before = step
    return changes


def at_end(partitions: Iterable[Mapping[str, Any]]) -> dict[int, Ratio]:
    """The last ratio of each broker, for the partitions that exist at the end."""
    counted: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for p in partitions:
        last = p["steps"][-1] if p["steps"] else None
        if last is not None and last["preferred"] is not None:
            counted[last["preferred"]][0] += 1
            counted[last["preferred"]][1] += last["leader"] != last["preferred"]
    return {broker: Ratio(None, preferred, elsewhere) for broker, (preferred, elsewhere) in counted.items()}


def since(series: Sequence[Ratio], limit: float) -> Ratio | None:
    """The time since which the ratio has been above the limit; None if it is not above the limit at the end."""
    begun = None
    for point in reversed(series):
        if point.ratio <= limit:
            break
        begun = point
    return begun


def limit(cluster: Cluster) -> float:
    """leader.imbalance.per.broker.percentage as a ratio."""
    return number(effective(cluster, "leader.imbalance.per.broker.percentage").value, 10) / 100


# load


@dataclass(frozen=True, slots=True)
class BrokerLoads:
    """The load of brokers: each metric's shares D_m(n), all metrics' share D_b(n), its deviation r(n) = |D_b(n) - 1/N| * N and the
    standard deviation sigma of the shares."""

    metrics: Mapping[str, Mapping[int, float]]
    shares: Mapping[int, float]

    @property
    def deviations(self) -> dict[int, float]:
        count = len(self.shares)
        return {b: abs(share - 1 / count) * count for b, share in self.shares.items()}

    @property
    def sigma(self) -> float:
        count = len(self.shares)
        return math.sqrt(sum((share - 1 / count) ** 2 for share in self.shares.values()) / count) if count else 0.0

    @property
    def limit(self) -> float:
        """The sigma at which every broker is LOAD_DEVIATION away from the mean."""
        return LOAD_DEVIATION / len(self.shares) if self.shares else 0.0


def load(metrics: Mapping[str, Mapping[int, float]], weights: Mapping[str, float] | None = None) -> BrokerLoads:
    """The load by metrics, each with a value for every broker; weights are 1 if not given. Metrics whose values are all zero are
    ignored."""
    weights = weights or {}
    brokers = sorted({b for values in metrics.values() for b in values})
    shares = {
        m: {b: values.get(b, 0) / total for b in brokers} for m, values in metrics.items() if 0 < (total := sum(values.values())) < math.inf
    }
    loads = {b: sum(weights.get(m, 1.0) * share[b] for m, share in shares.items()) for b in brokers}
    total = sum(loads.values())
    return BrokerLoads(shares, {b: value / total for b, value in loads.items()} if total > 0 else {})


PARTITIONS, LEADERS, DISK, TRAFFIC = "partitions", "leaders", "bytes on disk", "bytes in"
COUNTED, MEASURED = frozenset({PARTITIONS, LEADERS}), frozenset({DISK, TRAFFIC})


def metrics(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> dict[str, dict[int, float]]:
    """The metrics that the evidence has for every broker that takes part; metrics without a value for one of them are left out."""
    placed = _placed(partitions)
    measured: dict[str, dict[int, float]] = defaultdict(dict)
    for m in cluster.measures:
        if 0 <= m.mean < math.inf:
            measured[m.metric][m.broker] = m.mean
    brokers = _brokers(cluster, placed, placed.counts[PARTITIONS].keys() | measured.get(PARTITIONS, {}).keys())
    if not brokers:
        return {}
    of_disks = placed.bytes if brokers <= set(placed.bytes) else _on_disk(cluster)
    counted = {name: {**placed.counts[name], **measured.get(name, {})} for name in (PARTITIONS, LEADERS, TRAFFIC)}
    complete = {name: {b: values.get(b, 0.0) for b in brokers} for name, values in counted.items() if values}
    others = {DISK: of_disks, **{name: values for name, values in measured.items() if name not in counted}}
    return {**complete, **{name: {b: values[b] for b in brokers} for name, values in others.items() if brokers <= set(values)}}


@dataclass(frozen=True, slots=True)
class _PlacedLoad:
    """What the partitions add to each broker."""

    counts: Mapping[str, dict[int, float]]
    """By metric."""
    bytes: dict[int, float]
    """Sizes of the logs on disk."""
    in_sync: set[int]
    """Brokers in the ISR of a partition with a leader."""


def _placed(partitions: Iterable[Mapping[str, Any]]) -> _PlacedLoad:
    counts: dict[str, dict[int, float]] = {name: defaultdict(float) for name in (PARTITIONS, LEADERS, TRAFFIC)}
    placed = _PlacedLoad(counts, defaultdict(float), set())
    for p in partitions:
        for broker in p["replicas"] or ():
            counts[PARTITIONS][broker] += 1
        if p["leader"] is not None and p["leader"] >= 0:
            counts[LEADERS][p["leader"]] += 1
            placed.in_sync.update(p["isr"] or ())
        for size in p["sizes"] or ():
            placed.bytes[size["broker"]] += size["bytes"]
        for part in p["traffic"] or ():
            counts[TRAFFIC][part["broker"]] += part["bytes"]
    return placed


def _brokers(cluster: Cluster, placed: _PlacedLoad, with_replicas: Collection[int]) -> set[int]:
    """The brokers that take part. A broker with replicas, none of them in sync, is down. In KRaft a node without replicas takes part if its
    own lines show that it is a broker: it may be a controller whose lines were not understood."""
    ran = {e.writer for e in cluster.of(*OF_BROKERS)} if cluster.mode == "kraft" else cluster.named
    named = {n.id for n in cluster.nodes.values() if n.broker and n.id in ran} | {m.broker for m in cluster.measures} | set(with_replicas)
    return {b for b in named if b in placed.in_sync or b not in with_replicas}


def _on_disk(cluster: Cluster) -> dict[int, float]:
    """Bytes by broker, from the segments that were collected last."""
    found: dict[int, float] = defaultdict(float)
    for s in cluster.sources:
        node = cluster.nodes.get(s.node) if s.node is not None else None
        if s.kind == "segment" and node is not None and s.collection in node.collections[-1:]:
            found[node.id] += s.bytes or 0
    return found


def uneven(name: str, values: Mapping[int, float]) -> bool:
    """Whether another placement could be more even: partitions cannot be split, and a few bytes do not count."""
    mean = sum(values.values()) / len(values) if values else 0
    if name in COUNTED:
        return any(abs(v - mean) >= 1 for v in values.values())
    return name not in MEASURED or mean >= MIN_MEAN_BYTES


# load metrics of the user


MEASURES = pa.schema(
    [
        ("broker", pa.int32()),
        ("metric", pa.string()),
        ("sum", pa.float64()),
        ("count", pa.int64()),
        ("source", pa.string()),
        ("line", pa.int64()),
        ("byte", pa.int64()),
        ("text", pa.string()),
    ]
)
"""Sums of load metrics; the sums of several tasks are added."""


def sums(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One batch of MEASURES from batches of events, using only 'load-metric' events; at most MAX_MEASURES rows."""
    found: dict[tuple[int, str], dict[str, Any]] = {}
    for batch in batches:
        columns = ("event", "broker", "key", "value", "source", "line", "byte", "text")
        for row in pa.RecordBatch.from_arrays([batch.column(c) for c in columns], names=list(columns)).to_pylist():
            value = _number(row["value"]) if row["event"] == "load-metric" and row["broker"] is not None and row["key"] else None
            if value is not None:
                _add(found, (row["broker"], row["key"]), {**row, "sum": value, "count": 1})
    yield pa.RecordBatch.from_pylist([{name: r.get(name) for name in MEASURES.names} for r in found.values()], schema=MEASURES)


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None


def _add(found: dict[tuple[int, str], dict[str, Any]], key: tuple[int, str], row: Mapping[str, Any]) -> None:
    if (known := found.get(key)) is None:
        if len(found) < MAX_MEASURES:
            found[key] = {**row, "broker": key[0], "metric": key[1]}
        return
    first = min(known, row, key=_place)
    known.update({name: first[name] for name in ("source", "line", "byte", "text")})
    known["sum"], known["count"] = known["sum"] + row["sum"], known["count"] + row["count"]


def _place(row: Mapping[str, Any]) -> tuple[str, int]:
    return (row["source"] or "", row["line"] or 0)


def measures(rows: Iterable[Mapping[str, Any]]) -> list[Measure]:
    """Means by broker and metric, from rows of MEASURES."""
    found: dict[tuple[int, str], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda r: (r["broker"], r["metric"], *_place(r))):
        _add(found, (row["broker"], row["metric"]), row)
    return [
        Measure(r["broker"], r["metric"], r["sum"] / r["count"], r["count"], r["source"], r["line"], r["byte"], r["text"])
        for r in found.values()
    ]


# for the report


FACTS: tuple[Fact, ...] = (STEPS, SIZES, WRITTEN)
"""The facts that `document` reads."""


def document(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`leaders` (imbalance ratio of each broker over time), `load` (shares by metric and of all), `bytes_in` over time."""
    series = ratios(partitions)
    bound = limit(cluster)
    found = load(metrics(cluster, partitions), cluster.weights)
    return {
        "leaders": {
            "limit": bound,
            "auto_rebalance": effective(cluster, "auto.leader.rebalance.enable").value,
            "check_interval_seconds": effective(cluster, "leader.imbalance.check.interval.seconds").value,
            "brokers": [
                {
                    "broker": broker,
                    "preferred": points[-1].preferred,
                    "elsewhere": points[-1].elsewhere,
                    "ratio": round(points[-1].ratio, 4),
                    "series": [
                        {"at": timestamp(p.at), "preferred": p.preferred, "elsewhere": p.elsewhere, "ratio": round(p.ratio, 4)}
                        for p in thinned(points)
                    ],
                }
                for broker, points in series.items()
            ],
        },
        "load": {
            "brokers": [
                {
                    "broker": b,
                    "share": round(share, 6),
                    "deviation": round(found.deviations[b], 6),
                    "metrics": {m: round(values[b], 6) for m, values in found.metrics.items()},
                }
                for b, share in found.shares.items()
            ],
            "weights": dict(cluster.weights),
            "sigma": round(found.sigma, 6),
            "limit": round(found.limit, 6),
        },
        "bytes_in": _bytes_in(partitions),
    }


def thinned(points: Sequence[Ratio]) -> Sequence[Ratio]:
    """At most MAX_POINTS: the first, and the last of each stretch of time."""
    timed = [p for p in points if p.at is not None]
    if len(points) <= MAX_POINTS or not timed or timed[0].at is None or timed[-1].at is None:
        return points[-MAX_POINTS:]
    begin, length = timed[0].at, (timed[-1].at - timed[0].at) / (MAX_POINTS - 2)
    last: dict[int, Ratio] = {int((p.at - begin) / length): p for p in timed if p.at is not None} if length else {}
    return [points[0], *(p for p in last.values() if p is not points[0])][:MAX_POINTS]


def _bytes_in(partitions: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """By leader and interval, all intervals as long as the longest of any partition, and at most MAX_POINTS of them."""
    parts: dict[tuple[int, datetime, int], int] = defaultdict(int)
    for p in partitions:
        for part in p["traffic"] or ():
            parts[(part["broker"], part["at"], part["seconds"])] += part["bytes"]
    width = max((seconds for _, _, seconds in parts), default=INTERVAL_S)
    epoch = datetime(1970, 1, 1)
    while True:
        joined: dict[tuple[int, int], int] = defaultdict(int)
        for (broker, at, _), count in parts.items():
            joined[(broker, int((at - epoch).total_seconds()) // width)] += count
        if len({index for _, index in joined}) <= MAX_POINTS:
            break
        width *= 2
    found = grouped(
        (broker, {"at": timestamp(epoch + timedelta(seconds=index * width)), "bytes": count})
        for (broker, index), count in sorted(joined.items())
    )
    return {"interval_seconds": width, "brokers": [{"broker": b, "series": series} for b, series in found.items()]}
