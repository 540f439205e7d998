"""under-min-isr: fewer in-sync replicas than min.insync.replicas requires."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from forensics.model.cluster.effective import Effective, strict
from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Aggregation, Finding, Rule, Statement, brokers_named, moment, quote
from forensics.model.partition.absences import IN_ORDER, UNKNOWN, absences
from forensics.model.partition.durability import as_settled, below_min_isr, min_isr, required
from forensics.model.partition.log_coverage import silence_words, silent_leaders
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.partition.windows import Window, closing, condensed, lasted, lived, until, up_to, windows


def detect(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    if timeline.conflicting_epoch is not None:
        return

    def below(state: State) -> bool:
        return below_min_isr(state, required(state, timeline, cluster))

    found = lived(windows(as_settled(timeline, cluster), below), timeline, cluster)
    for window in condensed([w for w in found if w.seconds is None or w.seconds > 0]):
        yield _finding(window, timeline, cluster)


def _finding(window: Window, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    asked, fewest = max(
        ((required(s, timeline, cluster) or 0, s) for s in window.states),
        key=lambda found: (found[0] - len(found[1].isr), -len(found[1].isr)),
    )
    why = absences(timeline, cluster).within(window)
    out = tuple(i.broker for i in why)
    left = next((s.at for s in timeline.states if s.event is window.states[0].event), window.start)  # the setting may change later
    refused = [e for e in timeline.of("append-refused") if _inside(window, e.at)]
    count = sum(e.repeats for e in refused)
    silent = () if refused else silent_leaders(window.states, timeline, cluster)
    stopped = bool(why) and all(i.cause in IN_ORDER for i in why)
    closed = closing(window, out, cluster) if stopped else ""
    ended = window.deleted or cluster.number < 0  # a cluster that ended was stopped as a whole
    over = window.end is not None or bool(closed) or ended
    unsaid = ended and all(i.cause in IN_ORDER | {UNKNOWN} for i in why)  # the partition is gone, and the evidence shows no fault
    harmless = not refused and over and (stopped or unsaid)
    setting = min_isr(fewest, timeline, cluster)
    return Finding(
        kind="under-min-isr",
        severity="low" if silent else "medium" if harmless else "high",
        confidence="possible" if silent else "probable" if setting.assumed else "certain",
        brokers=out,
        leader_epoch=fewest.known_epoch,
        start=window.start,
        end=window.end,
        summary=f"{timeline.name}: ISR {list(fewest.isr)} below min.insync.replicas={asked} {lasted(window, cluster)}"
        + (f", {count} writes refused" if count else ""),
        explanation=(
            f"From {moment(window.start)}{', when the setting was raised,' if left != window.start else ''} {until(window, cluster)} the ISR of {timeline.name} shrank to "
            f"{list(fewest.isr)} while min.insync.replicas is {setting.value} ({_place(setting)}): writes with acks=all are refused (NotEnoughReplicas), others are not{_of_others(fewest, cluster)}. "
            f"{'; '.join(i.words for i in why) or _nobody_out(fewest)}.{closed}{silence_words(silent)}"
        ),
        next_steps=(
            *((_step(out, timeline.name),) if window.end is None else ()),
            f"Look for expired records in the logs of the producers of {timeline.name}: they retry refused writes only until delivery.timeout.ms.",
        ),
        evidence=quote(window.states[0].event, fewest.event, setting.event, refused[:2], *(e for i in why for e in i.evidence[1:2])),
    )


def _of_others(state: State, cluster: Cluster) -> str:
    """Whether writes with acks=0 or acks=1 are committed meanwhile."""
    waits = strict(cluster, state.leader, state.at)
    if waits is None:
        return ""
    return "; the high watermark waits until the ISR is large enough" if waits else "; the remaining replicas commit those writes anyway"


def _nobody_out(state: State) -> str:
    return "It has no more replicas" if state.replicas else "The evidence does not show which replicas are missing"


def _step(out: Sequence[int], name: str) -> str:
    return (
        f"Bring {brokers_named(out)} back in sync for {name}."
        if out
        else f"Assign {name} more replicas, or lower min.insync.replicas to its number of replicas."
    )


def _place(setting: Effective) -> str:
    return (
        "from the leader's line when it refused a write"
        if setting.event is not None and setting.event.event == "append-refused"
        else setting.place
    )


def _inside(window: Window, at: datetime | None) -> bool:
    if at is None or window.start is None:
        return False
    return window.start <= at and (window.end is None or at <= window.end)


def _many(first: Finding, group: Sequence[Statement]) -> str:
    return f"below min.insync.replicas {up_to(group)}"


RULE = Rule(
    kind="under-min-isr",
    rank=210,
    level="high",
    meaning="The ISR was smaller than min.insync.replicas: acks=all writes are refused, and other writes are on too few replicas.",
    benign=("Brokers that were shut down cleanly one after the other and are back in sync, with no refused write in evidence (medium).",),
    references=("KAFKA-15583",),
    partition=detect,
    many=Aggregation(words=_many, key=lambda f: f.end is None),
)
