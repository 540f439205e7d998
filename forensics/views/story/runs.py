"""The runs of a broker's process in a partition's story: starts, clean shutdowns and crashes.

Here: which of them a story shows, at which of the broker's own events they are placed, and the time of a crash, which no line prints: it is
between the broker's last line and its next start, and others may have noticed it. Not here: how runs are distinguished
(forensics.model.presence.availability).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from forensics.model.cluster.facts import Cluster, Node
from forensics.model.events import Event
from forensics.model.presence.availability import PRESUMED_CRASHED, BrokerRun
from forensics.thresholds import LOADED_AFTER_START, STOP_NOTICED_EARLY
from forensics.views.story.step import StoryStep, said
from forensics.words.formats import moment

Dropped = Callable[[int, datetime, datetime | None], datetime | None]


class NodeRuns:
    """The runs of one broker. `covers`: whether a time is in the story; `dropped`: when others noticed that a broker was gone."""

    def __init__(self, node: Node, covers: Callable[[datetime | None], bool], dropped: Dropped, *, created: bool) -> None:
        self.node, self.covers, self.dropped = node, covers, dropped
        self.steps: dict[int, StoryStep] = {}
        """By identity of the event at which they are placed."""
        self.ended: dict[int, BrokerRun] = {}
        """The run that ended without a line of its own, by the event that begins the next run."""
        self._events: list[Event] = []
        before: BrokerRun | None = None
        for run in node.runs:
            self._tell(run, before, created)
            before = run

    def _tell(self, run: BrokerRun, before: BrokerRun | None, created: bool) -> None:
        began = run.begin
        if (
            began is not None
            and began.at is not None
            and (self.covers(began.at) or (not created and self.covers(began.at + LOADED_AFTER_START)))
        ):
            self._stand(began, self._start(began))
            if before is not None and _ended_unsaid(before):
                self.ended[id(began)] = before
        if run.stopping is not None and self.covers(run.stopping.at):
            self._stand(run.stopping, self._stopping(run, run.stopping))
        if run.outcome == "stopped" and run.end is not None and not _ended_unsaid(run) and self.covers(run.end.at):
            self._stand(run.end, self._stopped(run.end))

    def _stand(self, event: Event, step: StoryStep) -> None:
        self.steps[id(event)] = step
        self._events.append(event)

    def events(self) -> Iterator[Event]:
        return iter(self._events)

    def step(self, event: Event) -> StoryStep | None:
        return self.steps.get(id(event))

    def ended_before(self, event: Event, spoken: datetime | None) -> StoryStep | None:
        """The end of the run before the run that begins with this event; `spoken`: the time of its last line on this partition."""
        run = self.ended.get(id(event))
        if run is None:
            return None
        words = [at for at in (spoken, run.last_seen.at if run.last_seen is not None else None) if at is not None]
        last = max(words, default=None)
        noticed = self.dropped(self.node.id, last - STOP_NOTICED_EARLY, event.at) if last is not None else None
        known = max((at for at in (noticed, last) if at is not None), default=event.at)
        heard = f"last line {moment(last)}" if last is not None else "no line collected"
        if run.outcome == "stopped":
            words_said = f"broker {self.node.id} has stopped ({heard}), cleanly according to its next start"
            return StoryStep(
                "broker-stopped",
                known,
                ("broker-stopped", self.node.id),
                said(words_said),
                (event,),
                broker=self.node.id,
                down={self.node.id: True},
            )
        missed = ", noticed here" if noticed is not None else ""
        words_said = f"broker {self.node.id} CRASHED: {heard}{missed}, restarts {moment(event.at)}"
        evidence = tuple(e for e in (run.last_seen, *run.evidence[-2:]) if e is not None)
        return StoryStep(
            "broker-died",
            known,
            ("broker-died", self.node.id),
            said(words_said),
            evidence,
            broker=self.node.id,
            down={self.node.id: True},
            tone="bad",
        )

    def _start(self, begin: Event) -> StoryStep:
        version = f", Kafka {self.node.version}" if self.node.version else ""
        words = said(f"broker {self.node.id} starts{version}")
        return StoryStep(
            "broker-start", begin.at, ("broker-start", self.node.id), words, (begin,), broker=self.node.id, down={self.node.id: False}
        )

    def _stopping(self, run: BrokerRun, event: Event) -> StoryStep:
        handed = run.controlled.reason if run.controlled is not None else None
        how = {"done": ", and hands over its leaderships", "failed": ", without handing over its leaderships"}.get(handed or "", "")
        words = said(f"broker {self.node.id} begins a controlled shutdown{how}")
        evidence = tuple(e for e in (event, run.controlled) if e is not None)
        return StoryStep("broker-stopping", event.at, ("broker-stopping", self.node.id), words, evidence, broker=self.node.id)

    def _stopped(self, end: Event) -> StoryStep:
        words = said(f"broker {self.node.id} has stopped")
        return StoryStep(
            "broker-stopped", end.at, ("broker-stopped", self.node.id), words, (end,), broker=self.node.id, down={self.node.id: True}
        )


def _ended_unsaid(run: BrokerRun) -> bool:
    """Killed, or shut down cleanly without a line about it."""
    return run.outcome == "crashed" or (run.outcome == "stopped" and run.end is not None and run.end.event != "broker-stopped")


def ending(broker: int, at: datetime | None, cluster: Cluster) -> bool:
    """The broker was stopping, or had crashed, when others noticed its absence: its own run shows that."""
    outage = cluster.availability(broker).outage(at) if at is not None else None
    return outage is not None and outage.run is not None and outage.how != PRESUMED_CRASHED
