"""Brokers that were gone in a span in which no controller could act, and the partitions that kept them as leader or in the ISR.

Here: which partitions, and sentences about them. Not here: the spans (forensics.model.quorum.quorum and .zookeeper), or when a broker
crashed (crash_times).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.message import Message, Value, said
from forensics.model.presence.availability import CONTROLLED, Outage
from forensics.model.presence.crash_times import CrashTime, CrashTimes
from forensics.model.quorum.quorum import NoLeader
from forensics.model.quorum.zookeeper import NoZooKeeper
from forensics.thresholds import CRASH_NOTICED, STOP_NOTICED_EARLY
from parsers.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Unreplaced:
    """What a broker left behind that nothing could replace."""

    broker: int
    how: Message
    """How it ended."""
    led: Mapping[str, datetime | None]
    """Partitions that it led, and when each had a leader again; None: not known."""
    in_isr: Mapping[str, datetime]
    """Other partitions whose ISR it left only after the span, and when."""

    def said(self) -> Iterator[Message]:
        """At most one message."""
        if self.led or self.in_isr:
            led, kept = _names(self.led, "led"), _names(self.in_isr, "kept")
            yield said("unreplaced/left-behind", broker=self.broker, how=self.how, **led, **kept)


def _names(partitions: Mapping[str, datetime | None], name: str) -> dict[str, Value]:
    names = tuple(partitions)
    more = len(names) - SHOWN if len(names) > SHOWN else None
    return {name: names[:SHOWN], f"{name}_more": more, f"{name}_until": _until(list(partitions.values())) if names else None}


SHOWN = 6
"""Partitions that a sentence names."""


def _until(ends: Sequence[datetime | None]) -> Message:
    known = [at for at in ends if at is not None]
    if len(known) < len(ends):
        return said("unreplaced/or-later", until=min(known)) if known else said("unreplaced/to-the-end")
    return said("unreplaced/until", until=max(known), differ=len({*known}) > 1)


def unreplaced(
    span: NoLeader | NoZooKeeper, cluster: Cluster, partitions: Sequence[Mapping[str, Any]], times: CrashTimes
) -> list[Unreplaced]:
    """The brokers that were gone in the span and left something behind."""
    found: list[Unreplaced] = []
    leaderless: set[str] = set()
    for node in (n for n in cluster.nodes.values() if n.broker):
        for outage in cluster.availability(node.id).outages:
            time = times.of(outage, node.id)
            lost = time.latest or outage.down_from
            if lost is None or (span.end is not None and lost > span.end) or (outage.until is not None and outage.until < span.latest):
                continue
            led = dict(_led(node.id, outage, lost, span, partitions))
            left = dict(_left_after(node.id, span.end, partitions)) if span.end is not None else {}
            leaderless |= led.keys()
            found.append(Unreplaced(node.id, ended(outage, time), led, left))
    return [Unreplaced(u.broker, u.how, u.led, {n: at for n, at in u.in_isr.items() if n not in leaderless}) for u in found]


def ended(outage: Outage, crash: CrashTime) -> Message:
    """How and when a node ended."""
    at = {"at": outage.since} if outage.how == CONTROLLED else {"bracket": (crash.start, crash.latest)}
    return said("unreplaced/ended", how=outage.ending, **at)


def _led(
    broker: int, outage: Outage, lost: datetime, span: NoLeader | NoZooKeeper, partitions: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, datetime | None]]:
    """The partitions that the broker led when it went, and that no other replica led before the span was over. With no other leader later,
    it led them again when it had returned and the span was over."""
    own = max((outage.until, span.end)) if outage.until is not None and span.end is not None else None
    for p in partitions:
        steps = [s for s in p.get("steps") or () if s["at"] is not None]
        before = [s for s in steps if s["at"] <= lost]
        after = next((s["at"] for s in steps if s["at"] > lost), None)
        if before and before[-1]["leader"] == broker and (after is None or span.end is None or after >= span.end - STOP_NOTICED_EARLY):
            yield _name(p), after or own


def _left_after(broker: int, end: datetime, partitions: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, datetime]]:
    for p in partitions:
        starts = [a["start"] for a in p.get("absences") or () if a["broker"] == broker and a["start"] is not None]
        if (at := next((at for at in starts if end - STOP_NOTICED_EARLY <= at <= end + CRASH_NOTICED), None)) is not None:
            yield _name(p), at


def _name(p: Mapping[str, Any]) -> str:
    return f"{p['topic']}-{p['partition']}"
