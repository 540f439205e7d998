"""The words of a partition's story: one short clause for a change of state, the start or end of a broker's run, or an event.

Here: the words of an entry, in ASCII and in Kafka's vocabulary, with the offsets known at that moment and the reasons.
Not here: which events are shown and in which order (assembly), or how they look (forensics.views.lanes).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, Purpose
from forensics.model.message import Range, Value
from forensics.model.partition.absences import (
    CRASHED,
    GONE,
    LOG_DIR,
    NEW,
    NOT_STATED,
    REASSIGNED,
    RESTARTED,
    SLOW,
    STOPPED,
    STUCK,
    SUSPENDED,
    UNKNOWN,
    absences,
)
from forensics.model.partition.final_state import FinalState
from forensics.model.partition.replicas import Disk, Removal
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.presence.availability import availability_reports
from forensics.model.times import grouped, not_after
from forensics.proof.aftermath import aftermath
from forensics.rules import rule_of
from forensics.thresholds import FENCED_BEFORE
from forensics.words import formatted, summary, text
from forensics.words.template import filled, names
from parsers.kinds import Role, named, of
from parsers.package_data import table

SHOWN = 6
"""Maximum number of entries of an epoch history, or offsets of followers, that are printed; the rest is counted."""
LONG = 160
"""Maximum characters of raw text, which is quoted for kinds without words."""


class Wording:
    """Words about one timeline. Indexes frequent lookups, so that a million changes cost a million lookups."""

    def __init__(self, timeline: PartitionTimeline, cluster: Cluster, findings: Iterable[Finding]) -> None:
        self.timeline = timeline
        self.cluster = cluster
        self.unclean: dict[int | None, Finding] = {}
        self.preferred: set[int | None] = set()
        for finding in findings:
            if (purpose := rule_of(finding.kind).purpose) is Purpose.UNCLEAN_ELECTION:
                self.unclean[finding.leader_epoch] = finding
            elif purpose is Purpose.PREFERRED_ELECTION:
                self.preferred.add(finding.leader_epoch)
        self.deleted = min((e.at for e in deletions(timeline, cluster) if e.at is not None), default=None)
        self.leaders = {s.leader_epoch: s.leader for s in timeline.states if s.leader >= 0}
        self.leaderless = {s.leader_epoch for s in timeline.states if s.leader < 0} - self.leaders.keys()
        self.fenced = _fenced(cluster)

    # changes of state

    def state(self, state: State, before: State | None, start: Event | None) -> str:
        """A change of leader, ISR or assignment; `start` is the leader's own line about its start, if there is one."""
        if before is None:
            clauses = [self._first(state)]
        elif state.leader != before.leader:
            clauses = [self._election(state, before)]
        elif state.leader_epoch != before.leader_epoch:
            clauses = [f"broker {state.leader} stays leader in a new epoch" if state.leader >= 0 else "still no leader"]
        else:
            clauses = []
        if before is not None:
            clauses += self._isr(state, before)
            clauses += _assignment(state, before)
        if not clauses:
            clauses = ["partition epoch raised, leader and ISR as before"]
        clauses += _offsets(start)
        clauses += _known_of_followers(state)
        return "; ".join(clauses) + _decided(state, before)

    def _first(self, state: State) -> str:
        in_sync = "all in sync" if state.replicas and set(state.isr) == set(state.replicas) else f"ISR {ids(state.isr)}"
        replicas = f", replicas {ids(state.replicas)}" if state.replicas else ""
        leads = f"broker {state.leader} leads" if state.leader >= 0 else "no leader"
        made = "partition created: " if self.timeline.created() and state is self.timeline.states[0] else ""
        return f"{made}{leads}{replicas}, {in_sync}"

    def _election(self, state: State, before: State) -> str:
        if state.leader < 0:
            return f"NO LEADER, after broker {before.leader} ({self.why_absent(before.leader, state)})"
        finding = self.unclean.get(state.known_epoch)
        if finding is not None:
            sure = "" if finding.confidence == "certain" else f" ({finding.confidence})"
            return f"UNCLEAN ELECTION{sure}: broker {state.leader} leads, it was not in the ISR {ids(before.isr)}"
        if before.leader < 0:
            return f"broker {state.leader} leads, the partition is online again"
        if state.known_epoch in self.preferred:
            return f"preferred election: broker {state.leader} leads, after broker {before.leader}"
        if state.adding or state.removing or before.adding or before.removing:
            return f"broker {state.leader} leads, after broker {before.leader} (reassignment)"
        if before.leader in state.isr and self._fenced(before.leader, state.at) is None:
            return f"broker {state.leader} leads, handed over by broker {before.leader}"
        return f"broker {state.leader} leads, after broker {before.leader} ({self.why_absent(before.leader, state)})"

    def _isr(self, state: State, before: State) -> list[str]:
        gone = [b for b in before.isr if b not in state.isr]
        back = [b for b in state.isr if b not in before.isr]
        if not gone and not back:
            return []
        clauses = [f"ISR {ids(before.isr)} -> {ids(state.isr)}"]
        named = before.leader if state.leader != before.leader else None
        reasons = [self._why_out(b, state) for b in gone if b != named][:SHOWN]
        if reasons:
            clauses.append(", ".join(reasons))
        return clauses

    def _why_out(self, broker: int, state: State) -> str:
        if state.replicas and broker not in state.replicas:
            return f"broker {broker} is no longer a replica"
        if any(broker in s.removing and s.replicas == state.replicas for s in self.timeline.states):
            return f"broker {broker} out (a reassignment removes it)"
        return f"broker {broker} out ({self.why_absent(broker, state)})"

    def why_absent(self, broker: int, state: State) -> str:
        """Why a broker left the leadership or the ISR, according to its own run, or else to the controller."""
        if not_after(self.deleted, state.at):
            return "topic is being deleted"
        absence = absences(self.timeline, self.cluster).of(broker, state)
        if absence.cause in _ALIVE and (why := self._fenced(broker, state.at)) is not None:
            return why
        return _ABSENT[absence.cause]

    def _fenced(self, broker: int, at: datetime | None) -> str | None:
        fencings = self.fenced.get(broker)
        if not fencings or at is None:
            return None
        index = bisect_right(fencings, (at + timedelta(seconds=1), "\U0010ffff")) - 1
        return fencings[index][1] if index >= 0 and (-timedelta(seconds=1) <= at - fencings[index][0] <= FENCED_BEFORE) else None

    def end(self, now: FinalState) -> str:
        leads = f"broker {now.leader} leads" if now.leader is not None and now.leader >= 0 else "no leader"
        replicas = f", replicas {ids(now.replicas)}" if now.replicas else ""
        return f"at the end of the evidence: {leads}, ISR {ids(now.isr)}{replicas}"

    # events

    def event(self, e: Event, removal: Removal | None, *, recovered: bool | None) -> str:
        """An event in its own words; if its kind has none, the raw text."""
        how = presentation(e.event)
        said = (filled(template, {name: self._value(name, e) for name in _named(template)}, formatted) for template in how.words)
        words = removed(removal) if removal is not None else next(filter(None, said), "")
        if e.event == "log-load" and recovered:
            words += ", after a recovery (its last stop was not clean)"
        if not words:
            return _raw(e)
        broker = subject(e)
        return f"broker {broker} {words}" if broker is not None and how.subject else words

    def _value(self, name: str, e: Event) -> Value:
        compute = COMPUTED.get(name)
        return compute(e, self) if compute is not None else getattr(e, name)

    def leader_of(self, epoch: int | None) -> str:
        leader = self.leaders.get(epoch) if epoch is not None else None
        return f"broker {leader}" if leader is not None else "the leader"


_ABSENT = {
    CRASHED: "crashed",
    RESTARTED: "orderly stop",
    STOPPED: "orderly stop",
    NEW: "not known to the controller yet",
    REASSIGNED: "a reassignment removes it",
    LOG_DIR: "log directory failed",
    GONE: "gone, according to the controller",
    SUSPENDED: "paused, like all others",
    STUCK: "paused",
    SLOW: "running, too slow",
    NOT_STATED: "running, not in sync",
    UNKNOWN: "reason unknown",
}
_ALIVE = frozenset({GONE, SUSPENDED, STUCK, SLOW, NOT_STATED, UNKNOWN})
"""Causes for which the controller's own words are more specific."""


def deletions(timeline: PartitionTimeline, cluster: Cluster) -> list[Event]:
    """Events that say that this incarnation of the topic is deleted."""
    begin = min((s.at for s in timeline.states if s.at is not None), default=None)
    deleted = cluster.of("topic-deletion", "metadata-topic-removed", topic=timeline.topic)
    deleted = [e for e in deleted if not e.topic_id or not timeline.topic_id or e.topic_id == timeline.topic_id]
    return [e for e in deleted if begin is None or e.at is None or e.at >= begin]


@cached_on_cluster
def _fenced(cluster: Cluster) -> Mapping[int, Sequence[tuple[datetime, str]]]:
    """When a controller lost each broker, and why."""
    by_broker = grouped(
        (broker, (event.at, why))
        for event in cluster.of("broker-fenced", "metadata-broker-change", "brokers-changed")
        for broker, why in lost(event)
        if event.at is not None
    )
    return {broker: sorted(fencings) for broker, fencings in by_broker.items()}


def lost(event: Event) -> list[tuple[int, str]]:
    """Brokers that a controller reports as unreachable, and why."""
    if event.event == "session-expired":  # it says so itself
        return []
    why = (
        "session gone" if event.event == "brokers-changed" else "fenced, session timeout" if event.reason == "session-timeout" else "fenced"
    )
    return [(broker, why) for word, broker in availability_reports(event) if word == "lost"]


def found_again(event: Event) -> list[int]:
    """Brokers that a controller reports as reachable again."""
    return [broker for word, broker in availability_reports(event) if word == "back"]


def ids(brokers: Collection[int] | None) -> str:
    shown = list(brokers or ())[:20]
    more = len(brokers or ()) - len(shown)
    return "[" + ", ".join(map(str, shown)) + (f", and {more} more" if more > 0 else "") + "]"


def _assignment(state: State, before: State) -> list[str]:
    clauses = []
    if state.adding and state.adding != before.adding:
        clauses.append(f"reassignment adds {ids(state.adding)}")
    if state.removing and state.removing != before.removing:
        clauses.append(f"reassignment removes {ids(state.removing)}")
    named = any(e.replicas for e in (state.event, *state.also))  # a ZooKeeper leader's change of its ISR does not name the assignment
    if (before.adding or before.removing) and not (state.adding or state.removing) and named:
        clauses.append("reassignment ends")
    if state.replicas and before.replicas and state.replicas != before.replicas:
        clauses.append(f"replicas {ids(before.replicas)} -> {ids(state.replicas)}")
    if state.eligible != before.eligible:
        clauses.append(f"eligible leader replicas {ids(state.eligible)}")
    return clauses


def _offsets(start: Event | None) -> list[str]:
    return [f"begins at {_ends(start)}"] if start is not None and start.log_end_offset is not None else []


def _ends(e: Event) -> str:
    return ", ".join(f"{name} {value}" for name, value in (("LEO", e.log_end_offset), ("HW", e.high_watermark)) if value is not None)


def _known_of_followers(state: State) -> list[str]:
    """The leader's knowledge of its followers when it shrank the ISR."""
    shrink = next((e for e in (state.event, *state.also) if e.event == "isr-shrink" and (e.replica_offsets or e.log_end_offset)), None)
    if shrink is None:
        return []
    clauses = [f"{_ends(shrink)} at the leader"] if _ends(shrink) else []
    behind = [f"broker {r['broker']} had {r['log_end_offset']}" for r in shrink.replica_offsets or () if r["log_end_offset"] is not None]
    return [", ".join(clauses + behind[:SHOWN])] if clauses or behind else []


def _decided(state: State, before: State | None) -> str:
    controller = state.event.controller
    changed = before is not None and before.leader_epoch != state.leader_epoch
    return f" (controller {controller})" if changed and controller is not None and state.source == "decided" else ""


def removed(removal: Removal) -> str:
    """A range of offsets that left a log, with the reason."""
    extent = f"offsets {Range(removal.start, removal.end)}{'' if removal.exact else ' at least'}"
    if removal.cause == "empty":
        return f"begins an empty log: {extent} are gone from its disk"
    if removal.cause == "restart":
        return f"loads a log that ends at {removal.start}, shorter than before its restart: {extent} are gone from it"
    why = {"leader-epoch": "where its leader's lineage parts", "high-watermark": "to its high watermark"}.get(removal.cause)
    return f"TRUNCATES to {removal.start}{f', {why}' if why else ''}: {extent} are gone from its log"


def on_disk(disk: Disk) -> str:
    """The contents of a replica's files when they were collected."""
    clauses = []
    if disk.reach is not None:
        clauses.append(f"log ends at {disk.reach}{' or beyond' if disk.end_unknown else ''}")
    if disk.damaged:
        clauses.append(f"segments are damaged, a recovery cuts the log at {disk.log_end_offset}")
    for name, event in (("HW", disk.high_watermark), ("flushed to", disk.recovery_point), ("log start", disk.log_start)):
        if event is not None and event.offset is not None:
            clauses.append(f"{name} {event.offset}")
    if disk.epochs:
        shown = disk.epochs[-SHOWN:]
        more = f"{len(disk.epochs) - len(shown)} earlier, " if len(disk.epochs) > len(shown) else ""
        clauses.append(f"epochs {more}" + ", ".join(f"{epoch} from {start}" for epoch, start in shown))
    return f"broker {disk.broker} on disk, when collected: " + ("; ".join(clauses) or "nothing readable")


def finding_words(finding: Finding, name: str) -> str:
    said = summary(finding).removeprefix(f"{name}: ")
    sure = "" if finding.confidence == "certain" else f" [{finding.confidence}]"
    if finding.loss:
        effect = aftermath(finding, finding.place)
        return f"{'LOSS' if finding.confidence != 'possible' else 'POSSIBLE LOSS'}: {said}{f'; {text(effect)}' if effect is not None else ''}{sure}"
    return f"{finding.kind}: {said}{sure}"


def _raw(e: Event) -> str:
    text = " ".join((e.text or e.event).split())
    return f"{e.event}: {text[:LONG]}{'...' if len(text) > LONG else ''}"


def subject(e: Event) -> int | None:
    """The broker an event is about: its writer, or the broker whose directory a controller reports as failed."""
    return e.broker if e.event in OF_DIRECTORIES and e.broker is not None else e.writer


# events, by kind

OF_DIRECTORIES = of(role=Role.LOG_DIR)


@dataclass(frozen=True, slots=True)
class Presentation:
    """How a story shows a kind of event, as words.toml declares it."""

    words: Sequence[str] = ()
    """The action of its subject: of these templates the first that names nothing unknown. If there is none, the raw text is quoted."""
    tone: str = "plain"
    subject: bool = True
    """False: the words describe a state, not an action of a broker."""
    settling: bool = False
    """It is normal while a partition is being created."""
    silent: str = ""
    """Why it is shown only in a story of everything."""


def _declared() -> Iterator[tuple[str, Presentation]]:
    file = table("forensics.views.story", "words")
    for why, kinds in file["silent"].items():
        yield from ((kind, Presentation(silent=why)) for kind in named(*kinds))
    for kind, how in file["event"].items():
        words = how.pop("words", ())
        yield kind, Presentation((words,) if isinstance(words, str) else tuple(words), **how)


PRESENTATIONS: Mapping[str, Presentation] = dict(_declared())
"""By kind. Others are shown only in a story of everything."""
COMPUTED: Mapping[str, Callable[[Event, Wording], Value]] = {
    "ends": lambda e, w: _ends(e),
    "leads": lambda e, w: w.leader_of(e.leader_epoch),
    "leaderless": lambda e, w: e.leader_epoch in w.leaderless,
    "receiver": lambda e, w: e.broker if e.reason == "sent" else None,
    "isr": lambda e, w: ids(e.isr) if e.isr is not None else None,
    "previous_isr": lambda e, w: ids(e.previous_isr),
    "replicas": lambda e, w: ids(e.replicas) if e.replicas else None,
    "election": lambda e, w: (e.reason or "").lower(),
    "of_preferred": lambda e, w: e.reason == "PREFERRED",
    "begin": lambda e, w: e.log_start_offset or None,
    "stray": lambda e, w: e.reason == "stray",
    "in_segment": lambda e, w: e.pattern == "segment",
    "tiered": lambda e, w: e.reason == "tier",
    "seconds": lambda e, w: (e.duration_ms or 0) / 1000,
}
"""Values of templates that are not columns of the event."""


@cache
def _named(template: str) -> frozenset[str]:
    return frozenset(names(template))


def presentation(kind: str) -> Presentation:
    return PRESENTATIONS.get(kind, _WITHOUT_WORDS)


_WITHOUT_WORDS = Presentation(silent="no words for this kind")
