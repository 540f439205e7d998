"""The words of a partition's story: one short clause for a change of state, the start or end of a broker's run, or an event.

Here: the words of an entry, in ASCII and in Kafka's vocabulary, with the offsets known at that moment and the reasons.
Not here: which events are shown and in which order (assembly), or how they look (forensics.views.lanes).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from forensics.model.cluster.availability import words_of
from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, Purpose
from forensics.model.message import Range
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
from forensics.model.partition.floods import LEFT_OUT
from forensics.model.partition.replicas import Disk, Removal
from forensics.model.partition.states import State
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.aftermath import aftermath
from forensics.rules import rule_of
from forensics.thresholds import FENCED_BEFORE
from forensics.words import summary, text
from forensics.words.formats import moment
from parsers.kinds import Role, named, of

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
        if self.deleted is not None and state.at is not None and state.at >= self.deleted:
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
        words = removed(removal) if removal is not None else how.words(e, self)
        if e.event == "log-load" and recovered:
            words += ", after a recovery (its last stop was not clean)"
        if not words:
            return _raw(e)
        broker = subject(e)
        return f"broker {broker} {words}" if broker is not None and how.subject else words

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
    by_broker: dict[int, list[tuple[datetime, str]]] = defaultdict(list)
    for event in cluster.of("broker-fenced", "metadata-broker-change", "brokers-changed"):
        for broker, why in lost(event):
            if event.at is not None:
                by_broker[broker].append((event.at, why))
    return {broker: sorted(fencings) for broker, fencings in by_broker.items()}


def lost(event: Event) -> list[tuple[int, str]]:
    """Brokers that a controller reports as unreachable, and why."""
    if event.event == "session-expired":  # it says so itself
        return []
    why = (
        "session gone" if event.event == "brokers-changed" else "fenced, session timeout" if event.reason == "session-timeout" else "fenced"
    )
    return [(broker, why) for word, broker in words_of(event) if word == "lost"]


def found_again(event: Event) -> list[int]:
    """Brokers that a controller reports as reachable again."""
    return [broker for word, broker in words_of(event) if word == "back"]


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


def _follows(e: Event, w: Wording) -> str:
    offsets = f" from {_ends(e)}" if _ends(e) else ""
    if e.leader_epoch in w.leaderless:
        return f"is a follower without a leader{offsets}"
    return f"follows {w.leader_of(e.leader_epoch)}{offsets}"


def _leads(e: Event, w: Wording) -> str:
    offsets = f" from {_ends(e)}" if _ends(e) else ""
    return f"takes up leading in epoch {e.leader_epoch}{offsets}"


def _loads(e: Event, w: Wording) -> str:
    start = f" and begins at {e.log_start_offset}" if e.log_start_offset else ""
    return f"loads its log: it ends at {e.log_end_offset}{start}"


def _regresses(e: Event, w: Wording) -> str:
    return f"sets its HW back{f' from {e.previous_offset}' if e.previous_offset is not None else ''} to {e.high_watermark}"


def _resets(e: Event, w: Wording) -> str:
    came = f" from {e.previous_offset}" if e.previous_offset is not None else ""
    if e.reason == "tier":
        return f"begins an empty log{came} at {e.offset} or later, after the records in the remote tier"
    return f"is outside the offset range of its leader and resets its fetch offset{came} to {e.offset}"


def _fetches(e: Event, w: Wording) -> str:
    return f"fetches from broker {e.broker}" + (f" at offset {e.offset}" if e.offset is not None else "")


def _fetch_fails(e: Event, w: Wording) -> str:
    return "fails to fetch" + (f" from broker {e.broker}" if e.broker is not None else "") + f": {e.reason or 'error'}"


def _refused(e: Event, w: Wording) -> str:
    need = f" {e.count}" if e.count is not None else ""
    return f"REFUSES writes: the ISR is smaller than min.insync.replicas{need}"


def _rejected(e: Event, w: Wording) -> str:
    return "is refused its ISR change" + (f" ({e.reason})" if e.reason else "")


def _deletes_segments(e: Event, w: Wording) -> str:
    return f"deletes segments ({e.reason or 'reason unknown'})" + (f", from offset {e.offset}" if e.offset is not None else "")


def _moves_start(e: Event, w: Wording) -> str:
    return f"moves its log start to {e.log_start_offset}" + (f" ({e.reason})" if e.reason else "")


def _reassignment(e: Event, w: Wording) -> str:
    return f"reassignment {e.reason or 'step'}" + (f": replicas {ids(e.replicas)}" if e.replicas else "")


def _intends(e: Event, w: Wording) -> str:
    ends = f"; {_ends(e)} at the leader" if _ends(e) else ""
    return f"asks for ISR {ids(e.previous_isr)} -> {ids(e.isr)}{ends}"


def _election_failed(e: Event, w: Wording) -> str:
    return "the move to the preferred leader FAILED" if e.reason == "PREFERRED" else "election FAILED: no replica may lead"


def _election_asked(e: Event, w: Wording) -> str:
    return f"a {(e.reason or '').lower() or 'leader'} election is asked for" + (f" by {e.value}" if e.value else "")


def _directory(e: Event, w: Wording) -> str:
    return "has its replica OFFLINE: log directory" + (f" {e.directory}" if e.directory else "") + " failed"


def _partition_state(e: Event, w: Wording) -> str:
    epoch = f", epoch {e.leader_epoch}" if e.leader_epoch is not None else ""
    to = f" to broker {e.broker}" if e.reason == "sent" and e.broker is not None else ""
    return f"has {e.reason or 'received'}{to} the state: leader {e.leader}{epoch}" + (f", ISR {ids(e.isr)}" if e.isr is not None else "")


def _checkpointed(e: Event, w: Wording) -> str:
    return f"disk, saved copy: {e.event} {e.offset}"


def _controls(e: Event, w: Wording) -> str:
    return f"node {e.controller} is the controller" + (f", controller epoch {e.controller_epoch}" if e.controller_epoch is not None else "")


def _corrupt(e: Event, w: Wording) -> str:
    place = f" from offset {e.offset} on" if e.offset is not None else ""
    return f"has invalid records on its disk{place}" if e.pattern == "segment" else f"finds its log CORRUPT{place}"


def _of_another_topic(e: Event, w: Wording) -> str:
    return f"has a log of another topic of this name (id {e.reason or 'unknown'}; the topic has {e.value or 'none'})"


def _stood_still(e: Event, w: Wording) -> str:
    return f"paused for {(e.duration_ms or 0) / 1000:.1f} s ({e.reason or 'pause'})"


@dataclass(frozen=True, slots=True)
class Presentation:
    """How a story shows a kind of event."""

    words: Callable[[Event, Wording], str] = lambda e, w: ""
    """The action of its subject; if empty, the raw text is quoted."""
    tone: str = "plain"
    subject: bool = True
    """False: the words describe a state, not an action of a broker."""
    settling: bool = False
    """It is normal while a partition is being created."""
    silent: str = ""
    """Why it is shown only in a story of everything."""


_BY_STATES = "shown as a change of state"
_BY_DISKS = "shown with the disk at the end"
_SILENT: Mapping[str, frozenset[str]] = {
    _BY_STATES: named(
        "metadata-topic", "metadata-partition", "metadata-partition-change", "isr-update", "isr-written", "isr-change-notified"
    ),
    _BY_DISKS: named("cleaner-checkpoint", "epoch-entry", "epoch-file", "partition-metadata"),
    "does not change the log": named("follower-kept", "log-moved"),
    "about clients, not about the log": named("client-reset", "group-commit", "group-coordinated", "group-member", "transaction-state"),
    "a request; its result is shown": named("assignment", "election-plan", "tool-election", "tool-reassignment"),
    "shown by a snapshot or a finding": named("describe-partition", "replica-size", "tool-offset"),
}
"""Reasons why kinds without words are shown only in a story of everything."""
PRESENTATIONS: Mapping[str, Presentation] = {
    "leader-start": Presentation(_leads),
    "follower-start": Presentation(_follows, settling=True),
    "partition-state": Presentation(_partition_state, silent=_BY_STATES),
    "partition-transition": Presentation(lambda e, w: f"moves the partition's state {e.reason}", silent=_BY_STATES),
    "unclean-election-said": Presentation(lambda e, w: f"Kafka says that broker {e.leader} is elected from outside the ISR", subject=False),
    "recovering-mark": Presentation(lambda e, w: "learns that the partition is RECOVERING from an unclean election", silent=_BY_STATES),
    "election-failed": Presentation(_election_failed, "bad", subject=False),
    "election-requested": Presentation(_election_asked, subject=False),
    "preferred-election": Presentation(lambda e, w: "preferred leader election completed", subject=False, silent=_BY_STATES),
    "become-refused": Presentation(lambda e, w: f"cannot take up its role ({e.reason or 'refused'})", "warn", settling=True),
    "replica-added": Presentation(lambda e, w: "takes up a replica of the partition", silent="shown with the load of its log"),
    "isr-shrink": Presentation(_intends),
    "isr-expand": Presentation(_intends),
    "isr-rejected": Presentation(_rejected, "warn"),
    "log-load": Presentation(_loads, settling=True),
    "log-created": Presentation(lambda e, w: "creates an empty log", settling=True),
    "log-deleted": Presentation(lambda e, w: "renames its replica as stray" if e.reason == "stray" else "deletes its replica"),
    "topic-id-mismatch": Presentation(_of_another_topic, "bad"),
    "log-recovery": Presentation(lambda e, w: f"recovers the segment at {e.offset}", silent="shown with the load"),
    "log-corruption": Presentation(_corrupt, "bad"),
    "hw-loaded": Presentation(lambda e, w: f"starts with HW {e.high_watermark}", silent="a checkpoint from before the start"),
    "hw-missing": Presentation(lambda e, w: "finds no HW checkpointed", silent="normal for every new replica"),
    "hw-regression": Presentation(_regresses, "warn"),
    "truncation": Presentation(lambda e, w: f"truncates to {e.offset}"),
    "truncation-noop": Presentation(lambda e, w: f"truncates to {e.offset}, which changes nothing", silent="nothing is truncated"),
    "truncation-plan": Presentation(
        lambda e, w: f"will truncate to {e.offset} ({e.reason or 'reason unknown'})", silent="shown with the truncation"
    ),
    "truncation-below-hw": Presentation(
        lambda e, w: f"truncates below its own HW {e.high_watermark}" if e.high_watermark is not None else "", "bad"
    ),
    "truncation-refused": Presentation(tone="warn"),
    "fetch-offset-reset": Presentation(_resets, "warn"),
    "segment-roll": Presentation(lambda e, w: f"begins a new segment at {e.offset}, its LEO then"),
    "segment-delete": Presentation(_deletes_segments),
    "log-start-move": Presentation(_moves_start),
    "producer-snapshot": Presentation(lambda e, w: f"writes producer state at LEO {e.offset}", silent="shown with its segment"),
    "epoch-assigned": Presentation(lambda e, w: f"notes that epoch {e.leader_epoch} begins at {e.offset}", silent=_BY_STATES),
    "epoch-conflict": Presentation(),
    "fetcher-added": Presentation(_fetches),
    "fetcher-removed": Presentation(lambda e, w: "stops fetching", silent="normal at every change of leader"),
    "fetch-error": Presentation(_fetch_fails, "warn", settling=True),
    "partition-failed": Presentation(
        lambda e, w: "has failed to fetch, until a new epoch arrives" + (f" ({e.reason})" if e.reason else ""), "bad"
    ),
    "append-refused": Presentation(_refused, "warn"),
    "append-error": Presentation(tone="warn"),
    "log-dir-partitions": Presentation(_directory, "bad"),
    "log-dir-offline": Presentation(lambda e, w: "loses a log directory" + (f": {e.directory}" if e.directory else ""), "bad"),
    "reassignment": Presentation(_reassignment, subject=False),
    LEFT_OUT: Presentation(
        lambda e, w: f"{e.count:,} events up to {moment(e.last_at)} are left out: more of the same", "gap", subject=False
    ),
    "topic-created": Presentation(lambda e, w: "topic created", subject=False),
    "topic-deletion": Presentation(lambda e, w: "deletion of the topic begins", "warn", subject=False),
    "topic-deleted": Presentation(lambda e, w: "topic deleted", "warn", subject=False),
    "metadata-topic-removed": Presentation(lambda e, w: "topic deleted", "warn", subject=False),
    "controller-elected": Presentation(_controls, subject=False),
    "metadata-leader": Presentation(_controls, subject=False),
    "hw-checkpoint": Presentation(_checkpointed),
    "recovery-point": Presentation(_checkpointed, silent=_BY_DISKS),
    "log-start-checkpoint": Presentation(_checkpointed, silent=_BY_DISKS),
    "segment": Presentation(lambda e, w: f"disk, saved copy: segment {e.offset} ends at {e.log_end_offset}"),
    "jvm-pause": Presentation(_stood_still, "warn"),
    **{kind: Presentation(silent=why) for why, kinds in _SILENT.items() for kind in kinds},
}
"""Words for kinds of events. A kind without words is shown only in a story of everything."""


def presentation(kind: str) -> Presentation:
    return PRESENTATIONS.get(kind, _WITHOUT_WORDS)


_WITHOUT_WORDS = Presentation(silent="no words for this kind")
