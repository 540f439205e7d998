"""under-min-isr: fewer in-sync replicas than min.insync.replicas asks for."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.model import Finding, Rule, brokers_named, moment, quote
from forensics.windows import Window, absence, condensed, lasted, missing, windows
from spark.cluster import Cluster
from spark.timeline import PartitionTimeline, State


def judge(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    required = cluster.min_isr(timeline.topic)
    told = {s.event.count for s in timeline.states if s.event.event == "append-refused" and s.event.count}
    required = max(required, *told) if told else required

    def below(state: State) -> bool:
        return state.leader >= 0 and len(state.isr) < min(required, len(state.replicas or (0,) * required))

    for window in condensed([w for w in windows(timeline, below) if w.seconds is None or w.seconds > 0]):
        yield _finding(window, required, timeline, cluster)


def _finding(window: Window, required: int, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    fewest = min(window.states, key=lambda s: len(s.isr))
    out = missing(window.states)
    why = [absence(b, window.start, timeline, cluster) for b in out]
    refused = [e for e in timeline.of("append-refused") if _inside(window, e.at)]
    count = sum(e.repeats for e in refused)
    return Finding(
        kind="under-min-isr",
        severity="high",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=out,
        leader_epoch=fewest.known_epoch,
        start=window.start,
        end=window.end,
        summary=f"{timeline.name}: ISR {list(fewest.isr)} below min.insync.replicas={required} {lasted(window)}"
        + (f", {count} writes refused" if count else ""),
        explanation=(
            f"From {moment(window.start)} {'to ' + moment(window.end) if window.end else 'to the end of the evidence'} the ISR of {timeline.name} was down to "
            f"{list(fewest.isr)} while min.insync.replicas is {required}: producers with acks=all are refused (NotEnoughReplicas), others are not. "
            f"{'; '.join(a.words for a in why)}."
        ),
        next_steps=(
            f"Bring {brokers_named(out)} back in sync.",
            "Producers retry refused writes until delivery.timeout.ms; look there for records given up.",
        ),
        evidence=quote(window.states[0].event, fewest.event, refused[:2], *(a.event for a in why)),
    )


def _inside(window: Window, at: object) -> bool:
    from datetime import datetime

    if not isinstance(at, datetime) or window.start is None:
        return False
    return window.start <= at and (window.end is None or at <= window.end)


RULE = Rule(
    kind="under-min-isr",
    level="high",
    meaning="The ISR was smaller than min.insync.replicas: acks=all writes are refused, and what is written otherwise is poorly protected.",
    references=("KAFKA-15583",),
    partition=judge,
)
