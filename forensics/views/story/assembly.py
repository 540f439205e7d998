"""The steps of one partition's story, in the order of their cause.

Here: which states, broker runs, events, gaps and findings are shown, and their order. Not here: the runs of brokers (runs), the words
(words), the lanes after each step and the folding (narration), or the schemas (step).

Order: changes of state by leader epoch and partition epoch; each broker's own events in the order of its files, never before the
state of the epoch they name; clocks only decide between brokers.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa

from forensics.incidents.judging import INTERNAL, OF_VERDICT, STANDING, contradictions, found_in
from forensics.model.clock.order import file_order
from forensics.model.cluster.facts import Cluster, cached_on_cluster
from forensics.model.events import Event
from forensics.model.findings import Finding, Purpose
from forensics.model.message import Range
from forensics.model.partition.replicas import Removal, Replica
from forensics.model.partition.states import Gap, State, between
from forensics.model.partition.timeline import PartitionTimeline
from forensics.model.times import grouped, merged_spans
from forensics.proof.judgement import judgement
from forensics.proof.records import records
from forensics.rules import rule_of
from forensics.thresholds import SAME_STORY_ENTRY, SILENCE_BEGINS, SILENCE_SHOWN, STATE_SETTLES, STOP_NOTICED_EARLY
from forensics.views.story.narration import narrated
from forensics.views.story.runs import NodeRuns, ending
from forensics.views.story.step import IN_SYNC, LEADER, NONE, OUT, STORY, UNKNOWN, Key, StoryStep, Wanted, placed, said
from forensics.views.story.words import (
    OF_DIRECTORIES,
    Wording,
    finding_words,
    found_again,
    ids,
    lost,
    on_disk,
    presentation,
    subject,
)
from forensics.words import text
from forensics.words.formats import brokers_named, moment
from forensics.words.rows import words_in
from parsers.kinds import ON_DISK, Role, Scope, of

MAX_LANES = 64
"""Limit for hostile lines, which may name any number of brokers."""
PAUSE_MS = 1_000

_OF_BROKERS = of(scope=Scope.BROKER, role=Role.LOG_DIR | Role.PAUSE)
_OF_CONTROLLERS = of(role=Role.ELECTED)
_OF_TOPICS = frozenset(k for k in of(role=Role.TOPIC_MADE | Role.TOPIC_GOING | Role.TOPIC_GONE) if not presentation(k).silent)
_FETCH_FAILS = of(role=Role.FETCH_FAILS)
_ISR_INTENTS = of(role=Role.ISR_INTENT)


def _story(timeline: PartitionTimeline, cluster: Cluster, findings: Sequence[Finding], wanted: Wanted) -> Iterator[Mapping[str, Any]]:
    incarnation = {"cluster": cluster.number, "generation": timeline.generation, "topic_id": timeline.topic_id}
    for number, row in enumerate(narrated(steps(timeline, cluster, findings, everything=wanted.everything), wanted)):
        yield {**row, **incarnation, "number": number}


PROOF = pa.struct([*(field for field in STANDING if field.name in (*OF_VERDICT, "handovers"))])
"""The verdict on a partition and its table of hand-overs."""
PROVEN = pa.schema([("story", pa.struct(list(STORY))), ("proof", PROOF)])
"""Each row has one of the two."""


def proven(timeline: PartitionTimeline, cluster: Cluster, wanted: Wanted) -> Iterator[Mapping[str, Any]]:
    """Rows of PROVEN: the story of one timeline and, for the partition of the last topic of this name and the last cluster, the proof."""
    findings = list(found_in(timeline, cluster))
    yield from ({"story": row} for row in _story(timeline, cluster, findings, wanted))
    if timeline.generation == cluster.number == 0 and timeline.topic != INTERNAL:
        judged = judgement(timeline, cluster, contradictions(findings, timeline))
        yield {"proof": words_in({**{name: getattr(judged, name) for name in OF_VERDICT}, "handovers": records(judged)})}


def steps(timeline: PartitionTimeline, cluster: Cluster, findings: Sequence[Finding], *, everything: bool) -> list[StoryStep]:
    """The steps of a timeline in order, the first with roles. Without `everything` only those of the brief story."""
    story = _Story(timeline, cluster, findings, everything)
    ordered = story.ordered()
    if ordered and ordered[0].roles is None:
        ordered[0].roles = dict.fromkeys(story.brokers, UNKNOWN)
    return ordered


@dataclass(frozen=True)
class _Around:
    """Data about the cluster that any story may need, computed once for all; events with their place among the cluster's."""

    elections: Sequence[tuple[int, Event]]
    numbered: Set[int | None]
    """Controllers whose elections in a numbered epoch are in the evidence."""
    of_topics: Mapping[str | None, Sequence[tuple[int, Event]]]
    said: Mapping[int, Sequence[tuple[int, Event]]]
    """Statements on whether a broker is there."""
    own: Mapping[int | None, Sequence[Event]]
    """Events of a broker that are not about a single partition, from its own lines."""


@cached_on_cluster
def _around(cluster: Cluster) -> _Around:
    of_topics: dict[str | None, list[tuple[int, Event]]] = defaultdict(list)
    by_broker: dict[int, list[tuple[int, Event]]] = defaultdict(list)
    by_writer: dict[int | None, list[Event]] = defaultdict(list)
    for number, e in enumerate(cluster.events):
        if e.event == "topic-created" or e.event in _OF_TOPICS:
            of_topics[e.topic].append((number, e))
        for broker in dict.fromkeys((*(broker for broker, _ in lost(e)), *found_again(e))):
            by_broker[broker].append((number, e))
        if e.event in _OF_BROKERS and (e.event != "jvm-pause" or (e.duration_ms or 0) >= PAUSE_MS):
            by_writer[e.writer].append(e)
    elections = [(number, e) for number, e in enumerate(cluster.events) if e.event in _OF_CONTROLLERS]
    return _Around(elections, {e.controller for _, e in elections if e.controller_epoch is not None}, of_topics, by_broker, by_writer)


@dataclass(frozen=True)
class _Change:
    """From one state of the partition to the next."""

    state: State
    before: State | None

    @property
    def moved(self) -> bool:
        """Whether the leader is another."""
        return self.before is None or self.before.leader != self.state.leader

    @property
    def gone(self) -> frozenset[int]:
        """Brokers that left the ISR."""
        return frozenset(self.before.isr) - frozenset(self.state.isr) if self.before is not None else frozenset()

    @property
    def back(self) -> frozenset[int]:
        """Brokers that joined the ISR."""
        return frozenset(self.state.isr) - frozenset(self.before.isr) if self.before is not None else frozenset()

    @property
    def kind(self) -> str:
        return "leader-change" if self.moved else "isr-change" if self.gone or self.back else "epoch-change"

    @property
    def tone(self) -> str:
        return "bad" if self.state.leader < 0 else "warn" if self.gone and not self.moved else "plain"

    @property
    def broker(self) -> int | None:
        """The broker that the change is about."""
        if self.moved and self.state.leader >= 0:
            return self.state.leader
        return min(self.gone or self.back, default=None)

    @property
    def signature(self) -> object:
        state, before = self.state, self.before
        moves = state.adding, state.removing, state.replicas
        return self.kind, state.leader, before and before.leader, self.gone, self.back, *moves


class _Story:
    """The steps of one timeline, collected from its states, its brokers' streams and the events of the cluster."""

    def __init__(self, timeline: PartitionTimeline, cluster: Cluster, findings: Sequence[Finding], everything: bool) -> None:
        self.timeline, self.cluster, self.findings, self.everything = timeline, cluster, findings, everything
        self.wording = Wording(timeline, cluster, findings)
        self.brokers = lanes(timeline)
        self.lane_set = frozenset(self.brokers)
        times = [e.at for e in timeline.events if e.at is not None] + [s.at for s in timeline.states if s.at is not None]
        self.begin, self.end = min(times, default=None), max(times, default=None)
        self.begins: dict[int, datetime] = {}
        """When each leader epoch begins, in the order of states: no event that names it is earlier."""
        self.elected = sorted({s.leader_epoch: s.at for s in reversed(timeline.states) if s.at is not None}.values())
        self.failed: set[tuple[int | None, str | None]] = set()
        self.own_failures = {e.writer for e in (*timeline.of(*OF_DIRECTORIES), *cluster.of("log-dir-offline")) if e.writer == subject(e)}
        """Brokers that printed their failed directories themselves: the controller's lines about these are not shown again."""
        self.consumed: set[int] = set()
        """Identities of events that are shown with a state."""
        self.drops = self._drops()
        self.recorded = any(s.source == "metadata" for s in timeline.states)
        """The states are from the metadata log itself."""

    # steps

    def ordered(self) -> list[StoryStep]:
        states = self._states()
        steps = [*states, *self._streams(), *self._clusterwide(), *self._findings(), *self._snapshots(), *self._silences()]
        steps.sort(key=lambda s: s.key)
        return [*self._head(), *steps, *self._foot()]

    def _states(self) -> list[StoryStep]:
        """One step for each state, in the order of the chain, and a gap where states between two are missing."""
        starts = {(s.epoch, s.broker): s.event for r in self.timeline.replicas.values() for s in reversed(r.leader_starts)}
        steps: list[StoryStep] = []
        now = datetime.min
        before: State | None = None
        for state in self.timeline.states:
            now = max(now, state.at or now)
            start = starts.get((state.leader_epoch, state.leader)) if before is None or before.leader_epoch != state.leader_epoch else None
            if start is not None and (start.event != "leader-start" or not _quickly(state, start)):
                start = None
            self.consumed.update(id(e) for e in (state.event, *state.also, start) if e is not None)
            self.begins.setdefault(state.leader_epoch, now)
            if before is not None and isinstance(missing := between(before, state, isr_observable=True), Gap):
                words = text(missing.said)
                steps.append(StoryStep("gap", state.at, ("gap", words), said(words), tone="gap", key=(now, 2, -1, len(steps))))
            steps.append(self._state_step(state, before, start, (now, 2, -1, len(steps) + 1)))
            before = state
        return steps

    def _state_step(self, state: State, before: State | None, start: Event | None, key: tuple[datetime, int, int, int]) -> StoryStep:
        change = _Change(state, before)
        finding = self.wording.unclean.get(state.known_epoch) if change.moved else None
        return StoryStep(
            kind=change.kind,
            at=state.at,
            signature=change.signature,
            words=lambda: self.wording.state(state, before, start),
            evidence=tuple(e for e in (state.event, start, *state.also) if e is not None),
            quoted=finding.evidence if finding is not None else (),
            broker=change.broker,
            roles=_roles(state, self.brokers),
            epoch=state.known_epoch,
            partition_epoch=state.partition_epoch,
            tone="loss" if finding is not None else change.tone,
            kept=before is None or finding is not None,
            news_only_in_brief=before is not None and _same(state, before),
            key=key,
        )

    def _streams(self) -> Iterator[StoryStep]:
        """Each writer's own events in its own order, with its runs between them."""
        by_writer = grouped((event.writer, event) for event in self.timeline.events)
        for writer in sorted({*by_writer, *self.brokers}, key=lambda w: (w is not None, w or 0)):
            yield from _Stream(self, writer, by_writer.get(writer, [])).steps()

    def is_news(self, e: Event, reached: int | None, *, is_load: bool) -> bool:
        """Whether an event shows something that no other entry shows; `reached`: the last log end offset of its writer."""
        how = presentation(e.event)
        if how.silent or (e.event in ON_DISK and e.at is None) or (e.event == "log-load" and not is_load):
            return False
        if e.event == "truncation" and (not e.offset or e.offset < 0 or (reached is not None and reached <= e.offset)):
            return False
        if self._shown_by_owner(e) or self._shown_with_states(e):
            return False
        return not how.settling or not self._settling(e.at)

    def _shown_by_owner(self, e: Event) -> bool:
        """A failed log directory that its broker prints itself, or that was shown before."""
        if e.event not in OF_DIRECTORIES:
            return False
        if e.writer != subject(e) and subject(e) in self.own_failures:
            return True
        if e.event != "log-dir-offline":
            return False
        again = (subject(e), e.directory) in self.failed
        self.failed.add((subject(e), e.directory))
        return again

    def _shown_with_states(self, e: Event) -> bool:
        """An event that a change of state, or another event of the same change, shows better."""
        if e.event == "become-refused":
            return e.reason == "leader-unavailable"  # the state without a leader, or the crash of the leader, is shown
        if e.event == "reassignment":
            return self.recorded and e.reason in ("started", "completed")  # every controller replays it, even much later
        if e.event == "unclean-election-said":
            return bool(self.wording.unclean)
        if e.event == "fetcher-added":
            return bool(self.timeline.of("follower-start"))
        if e.event in _ISR_INTENTS:
            return not self.timeline.of("isr-rejected")
        return e.event in _FETCH_FAILS and self._moving(e.at)

    def _moving(self, at: datetime | None) -> bool:
        """Leadership was moving: followers get errors until they have received the new epoch."""
        if at is None:
            return False
        index = bisect_left(self.elected, at - SAME_STORY_ENTRY)
        return index < len(self.elected) and self.elected[index] <= at + SAME_STORY_ENTRY

    def _settling(self, at: datetime | None) -> bool:
        """A partition is being created: its replicas come up one after the other, and send requests before the others are there."""
        made = self.timeline.states[0].at if self.timeline.created() else None
        return made is not None and at is not None and at - made < STATE_SETTLES

    def event_step(self, e: Event, removal: Removal | None, *, recovered: bool, in_brief: bool) -> StoryStep:
        broker = subject(e)
        failed = e.event == "log-dir-partitions" and broker is not None
        return StoryStep(
            kind="removal" if removal is not None else e.event,
            at=e.at,
            signature=(e.event, e.writer, e.reason, e.broker, removal is not None),
            words=lambda: self.wording.event(e, removal, recovered=recovered),
            evidence=(e, *(removal.evidence if removal is not None else ())),
            broker=self.lane(broker),
            down={broker: True} if failed and broker is not None else {},
            epoch=e.leader_epoch,
            tone="bad" if removal is not None else "warn" if recovered else presentation(e.event).tone,
            in_brief=in_brief,
            news_only_in_brief=failed,
            repeats=e.repeats,
            last=e.last_at,
        )

    def covers(self, at: datetime | None) -> bool:
        """Whether a time is within this incarnation. The last one continues to the end of the evidence."""
        if at is None or self.begin is None or self.end is None:
            return False
        return at >= self.begin and (self.timeline.generation == 0 or at <= self.end + SILENCE_BEGINS)

    # events of the cluster

    def _clusterwide(self) -> Iterator[StoryStep]:
        """Elections of controllers, the creation and deletion of the topic, and brokers that a controller lost while they were running."""
        shown: set[object] = set()
        around = _around(self.cluster)
        near = [
            *around.elections,
            *around.of_topics.get(self.timeline.topic, ()),
            *(e for b in self.brokers for e in around.said.get(b, ())),
        ]
        for number, e in sorted(dict(near).items()):
            made = e.event == "topic-created" and e.topic == self.timeline.topic
            if not (self._just_made(e.at) if made else self.covers(e.at)):
                continue
            key = ((self.begin if made else e.at) or datetime.min, 0, -1, number)
            if e.event in _OF_CONTROLLERS and (e.controller, e.controller_epoch) not in shown:
                shown.add((e.controller, e.controller_epoch))
                yield from self._controller_steps(e, key)
            elif e.event in _OF_TOPICS and self._same_topic(e) and e.event not in shown:
                shown.add(e.event)
                yield StoryStep(e.event, e.at, (e.event,), self._worded(e), (e,), tone=presentation(e.event).tone, key=key)
            else:
                yield from self._reached(e, key)

    def _controller_steps(self, e: Event, key: Key) -> Iterator[StoryStep]:
        if e.controller_epoch is not None or e.controller not in _around(self.cluster).numbered:
            signature = ("controller", e.controller)
            yield StoryStep("controller-elected", e.at, signature, self._worded(e), (e,), broker=self.lane(e.controller), key=key)

    def _just_made(self, at: datetime | None) -> bool:
        return at is not None and self.begin is not None and self.timeline.created() and abs(at - self.begin) <= SILENCE_BEGINS

    def _reached(self, e: Event, key: Key) -> Iterator[StoryStep]:
        for broker, why in lost(e):
            if broker in self.lane_set and not ending(broker, e.at, self.cluster):
                words = f"the controller loses broker {broker} ({why})"
                yield StoryStep(
                    "broker-lost",
                    e.at,
                    ("lost", broker),
                    said(words),
                    (e,),
                    broker=broker,
                    down={broker: True},
                    tone="bad",
                    news_only=True,
                    key=key,
                )
        for broker in found_again(e):
            if broker in self.lane_set:
                words = f"the controller reaches broker {broker} again"
                yield StoryStep(
                    "broker-back", e.at, ("back", broker), said(words), (e,), broker=broker, down={broker: False}, news_only=True, key=key
                )

    def _same_topic(self, e: Event) -> bool:
        return e.topic == self.timeline.topic and (not e.topic_id or not self.timeline.topic_id or e.topic_id == self.timeline.topic_id)

    def _worded(self, e: Event) -> Callable[[], str]:
        return lambda: self.wording.event(e, None, recovered=False)

    def lane(self, broker: int | None) -> int | None:
        return broker if broker in self.lane_set else None

    def _findings(self) -> Iterator[StoryStep]:
        """Findings at their place: losses at the election that caused them, windows at their start."""
        last_begin = max(self.begins.values(), default=datetime.max)
        for number, f in enumerate(self.findings):
            if f.severity in ("info", "low") or rule_of(f.kind).purpose is Purpose.UNCLEAN_ELECTION:
                continue
            is_loss = f.loss
            at = (f.end or f.start) if is_loss else (f.start or f.end)
            of_epoch = self.begins.get(f.leader_epoch) if f.leader_epoch is not None and is_loss else None
            yield StoryStep(
                kind=f.kind,
                at=at,
                signature=(f.kind, f.cause, f.brokers, f.confidence, () if f.loss else tuple(f.groups)),
                words=said(finding_words(f, self.timeline.name)),
                quoted=f.evidence,
                epoch=f.leader_epoch,
                tone=_finding_tone(f),
                kept=is_loss,
                key=(max((t for t in (of_epoch, at) if t is not None), default=last_begin), 2, 0, number),
            )

    def _snapshots(self) -> Iterator[StoryStep]:
        for number, snapshot in enumerate(self.timeline.snapshots):
            leads = f"leader {snapshot.leader}" if snapshot.leader >= 0 else "no leader"
            source = snapshot.event.source.rsplit("/", 1)[-1]
            replicas = f", replicas {ids(snapshot.replicas)}" if snapshot.replicas != self.timeline.assigned else ""
            words = f"--describe, {source}: {leads}, ISR {ids(snapshot.isr)}{replicas}"
            key = (snapshot.at or datetime.max, 5, -1, number)
            yield StoryStep("describe", snapshot.at, ("describe", snapshot.leader, snapshot.isr), said(words), (snapshot.event,), key=key)

    def _silences(self) -> Iterator[StoryStep]:
        """Times without any line of a broker, while others print lines about this partition."""
        if self.timeline.generation < 0 or self.begin is None or self.end is None:
            return
        for broker in self.brokers:
            if spans := _spans(broker, self.cluster):
                yield from self._silences_between(broker, spans)
                yield from self._silence_before(broker, spans[0][0], self.begin)
                yield from self._silence_after(broker, spans[-1][1], self.end)

    def _silences_between(self, broker: int, spans: Sequence[tuple[datetime, datetime]]) -> Iterator[StoryStep]:
        marks = sorted(s.at for s in self.timeline.states if s.at is not None)
        for (_, last), (first, _) in itertools.pairwise(spans):
            if first - last > SILENCE_SHOWN and bisect_left(marks, last) < bisect_right(marks, first):
                words = f"no line of broker {broker} from here to {moment(first)}: it logged nothing, or a file is missing"
                yield _gap(words, last, broker)

    def _silence_before(self, broker: int, first: datetime, begin: datetime) -> Iterator[StoryStep]:
        node = self.cluster.nodes.get(broker)
        if first > begin + SILENCE_SHOWN and node is not None and node.runs and node.runs[0].begin is None:
            yield _gap(f"the collected lines of broker {broker} begin here", first, broker)

    def _silence_after(self, broker: int, last: datetime, end: datetime) -> Iterator[StoryStep]:
        missed = self.dropped(broker, last - STOP_NOTICED_EARLY, None)
        if missed is not None and end > last + SILENCE_BEGINS:
            yield _gap(
                f"no line of broker {broker} after {moment(last)}: it crashed, or its later log is missing", max(missed, last), broker
            )
        elif end > last + SILENCE_SHOWN:
            yield _gap(f"no line of broker {broker} after this", last, broker)

    def _drops(self) -> dict[int, list[datetime]]:
        """Times at which others reported a broker as removed from the ISR, the leadership or the cluster."""
        drops = grouped(
            (broker, state.at)
            for before, state in itertools.pairwise(self.timeline.states)
            if state.at is not None
            for broker in {before.leader, *before.isr} - {state.leader, *(b for b in state.isr if state.leader >= 0)}
        )
        for broker in self.brokers:
            drops[broker].extend(at for at, _ in self.wording.fenced.get(broker, ()))
        return {broker: sorted(times) for broker, times in drops.items()}

    def dropped(self, broker: int, after: datetime, until: datetime | None) -> datetime | None:
        """The first time in a span at which others reported that a broker was removed from the ISR, the leadership or the cluster."""
        times = self.drops.get(broker, [])
        index = bisect_right(times, after)
        return times[index] if index < len(times) and (until is None or times[index] <= until) else None

    def _head(self) -> Iterator[StoryStep]:
        timeline = self.timeline
        if timeline.generation < 0:
            named = f" (id {timeline.topic_id})" if timeline.topic_id else ""
            yield StoryStep("generation", None, ("generation",), said(f"an earlier topic of this name{named}, now deleted"), tone="gap")
        if not timeline.created():
            epoch = timeline.states[0].known_epoch if timeline.states else None
            known = f", in epoch {epoch}" if epoch is not None else ""
            yield StoryStep(
                "gap",
                None,
                ("begin",),
                said(f"the evidence of this partition begins here{known}; earlier events are unknown"),
                tone="gap",
            )
        collected = self.cluster.collected
        absent = [b for b in self.brokers if b not in collected]
        if absent:
            which = brokers_named(absent)
            yield StoryStep(
                "gap",
                None,
                ("absent",),
                said(f"nothing was collected from {which}: the contents and truncations of its log are unknown"),
                tone="gap",
            )

    def _foot(self) -> Iterator[StoryStep]:
        timeline = self.timeline
        now = timeline.standing
        if now.event is not None and timeline.generation == 0:
            yield StoryStep("end", None, ("end",), said(self.wording.end(now)), (now.event,), epoch=now.leader_epoch)
        for broker, replica in sorted(timeline.replicas.items()):
            for removal in replica.removals:
                if removal.cause == "left-behind":
                    extent = str(Range(removal.start, removal.end))
                    words = f"broker {broker} still has offsets {extent} that no later leader had: it will truncate them when it becomes a follower"
                    yield StoryStep(
                        "left-behind", None, ("left-behind", broker), said(words), removal.evidence, broker=self.lane(broker), tone="bad"
                    )
        for broker, disk in sorted(timeline.collected_logs.items()):
            files = [e for e in (disk.high_watermark, disk.recovery_point, disk.log_start, disk.end_event()) if e is not None]
            if files or disk.epochs:
                evidence = (*files, *disk.epoch_events[-1:])
                yield StoryStep("on-disk", None, ("on-disk", broker), said(on_disk(disk)), evidence, broker=self.lane(broker))


class _Stream:
    """The events of one writer in its own order, with the starts and ends of its process between them."""

    def __init__(self, story: _Story, writer: int | None, events: Sequence[Event]) -> None:
        timeline, cluster = story.timeline, story.cluster
        self.story, self.writer = story, writer
        node = cluster.nodes.get(writer) if writer is not None and writer in story.lane_set else None
        self.runs = NodeRuns(node, story.covers, story.dropped, created=timeline.created()) if node is not None else None
        of_process = [e for e in _around(cluster).own.get(writer, ()) if story.covers(e.at)] if self.runs is not None else []
        starts_and_ends = self.runs.events() if self.runs is not None else ()
        self.events = file_order([*events, *of_process, *starts_and_ends], cluster.parts, cluster.steps_back)
        replica = (timeline.replicas.get(writer) if writer is not None else None) or Replica(-1)
        self.removals = {id(r.evidence[-1]): r for r in replica.removals if r.evidence}
        self.loads = {id(load.event): load.unclean for load in replica.loads}
        """Whether a load of the log followed an unclean shutdown."""
        self.log_ends = {id(o.event): o.offset for o in replica.observations if o.quantity == "log-end-offset"}
        self.now = datetime.min
        self.last_line: datetime | None = None
        self.reached: int | None = None
        """The last log end offset."""

    def steps(self) -> Iterator[StoryStep]:
        place_of_writer = self.writer if self.writer is not None else -1
        for number, event in enumerate(self.events):
            yield from self._end_of_run(event, number)
            place = self._place(event)
            if (step := self._step(event)) is not None:
                yield placed(step, (place, 3, place_of_writer, number))
            self.reached = self.log_ends.get(id(event), self.reached)

    def _end_of_run(self, event: Event, number: int) -> Iterator[StoryStep]:
        ended = self.runs.ended_before(event, self.last_line) if self.runs is not None else None
        if ended is not None:
            rank = 1 if ended.at is not None and ended.at > self.now else 3
            self.now = max(self.now, ended.at or self.now)
            yield placed(ended, (self.now, rank, self.writer or 0, number))

    def _place(self, event: Event) -> datetime:
        begins = self.story.begins
        place = max(
            self.now, event.at or self.now, begins.get(event.leader_epoch, self.now) if event.leader_epoch is not None else self.now
        )
        if event.line is not None:  # its files were partly written by others, before it was back
            self.now, self.last_line = place, event.at or self.last_line
        return place

    def _step(self, event: Event) -> StoryStep | None:
        if self.runs is not None and (step := self.runs.step(event)) is not None:
            return step
        removal = self.removals.get(id(event))
        if removal is None and id(event) in self.story.consumed:
            return None
        news = removal is not None or self.story.is_news(event, self.reached, is_load=id(event) in self.loads)
        if not news and not self.story.everything:
            return None
        return self.story.event_step(event, removal, recovered=self.loads.get(id(event), False), in_brief=news)


def _finding_tone(f: Finding) -> str:
    if f.confidence == "possible":
        return "warn"
    return "loss" if f.loss else "warn" if f.severity == "medium" else "bad"


def _gap(words: str, at: datetime, broker: int) -> StoryStep:
    return StoryStep("gap", at, ("gap", broker), said(words), broker=broker, tone="gap", key=(at, 4, broker, 0))


def _same(state: State, before: State) -> bool:
    """Only the partition epoch differs: KRaft raises it when a replica's directory is assigned (KIP-858)."""
    columns = ("leader_epoch", "leader", "replicas", "adding", "removing", "eligible", "recovering")
    return set(state.isr) == set(before.isr) and all(getattr(state, name) == getattr(before, name) for name in columns)


def _quickly(state: State, start: Event) -> bool:
    return state.at is None or start.at is None or abs(start.at - state.at) <= SAME_STORY_ENTRY


def _spans(broker: int, cluster: Cluster) -> list[tuple[datetime, datetime]]:
    """Times covered by lines of a broker, overlapping ones joined."""
    return merged_spans((s.first, s.last) for s in cluster.sources_of(broker) if s.lines and s.first is not None and s.last is not None)


def _roles(state: State, brokers: Sequence[int]) -> dict[int, str]:
    assigned = set(state.replicas or ())
    roles = {}
    for broker in brokers:
        if broker == state.leader:
            roles[broker] = LEADER
        elif broker in state.isr:
            roles[broker] = IN_SYNC
        else:
            roles[broker] = OUT if broker in assigned or not assigned else NONE
    return roles


def lanes(timeline: PartitionTimeline) -> tuple[int, ...]:
    """Brokers that have or had a replica, by id; at most MAX_LANES, those assigned last before others."""
    brokers = dict.fromkeys(timeline.assigned)
    for state in reversed(timeline.states):
        if len(brokers) > MAX_LANES:
            break
        brokers.update(dict.fromkeys((*(state.replicas or ()), *state.isr, state.leader)))
    brokers.update(
        dict.fromkeys(
            (
                *timeline.collected_logs,
                *(b for b, r in sorted(timeline.replicas.items()) if r.leader_starts or r.follower_starts or r.loads),
            )
        )
    )
    return tuple(sorted([b for b in brokers if b >= 0][:MAX_LANES]))
