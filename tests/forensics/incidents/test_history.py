"""Any history that Kafka can have is reported back as it was, however its evidence is cut, dealt out and dated."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.forensics.staged import Files, Story, shifted, table
from tests.support import local

BROKERS, CONTROLLER = (1, 2, 3), 9
Shape = tuple[int, int | None, int, tuple[int, ...]]


def shapes_of(files: Files, shuffled: int | None = None) -> list[Shape]:
    ((found, _),) = local.timelines(table(files, shuffled=shuffled))
    return [(s.leader_epoch, s.partition_epoch, s.leader, tuple(sorted(s.isr))) for s in found.states]


class History(RuleBasedStateMachine):
    """One partition of three replicas in a ZooKeeper cluster (KafkaController.onReplicasBecomeOffline, Partition.expandIsr and shrinkIsr)."""

    def __init__(self) -> None:
        super().__init__()
        self.story = Story()
        self.seconds = self.epoch = self.version = self.leader = self.end = 0
        self.isr: list[int] = []
        self.states: list[Shape] = []
        self.alive = set(BROKERS)

    @initialize(leader=st.sampled_from(BROKERS))
    def begins(self, leader: int) -> None:
        self._elect(leader, [leader, *(b for b in BROKERS if b != leader)], first=True)

    def _happens(self, *, epoch: int = 0) -> int:
        self.epoch, self.version, self.seconds, self.end = self.epoch + epoch, self.version + 1, self.seconds + 20, self.end + 100
        return self.seconds

    def _state(self) -> None:
        self.states.append((self.epoch, self.version, self.leader, tuple(sorted(self.isr))))

    def _elect(self, leader: int, isr: list[int], *, first: bool = False) -> None:
        previous = -1 if first else self.epoch
        at = self._happens(epoch=not first)
        self.leader, self.isr = leader, isr
        self.story.online(CONTROLLER, at, self.epoch, leader, isr, self.version)
        self.story.leads(leader, at + 0.1, self.epoch, self.end, self.end, isr, previous)
        for broker in sorted(self.alive - {leader}):
            self.story.follows(broker, at + 0.2, self.epoch, self.end, self.end, previous)
        self._state()

    @precondition(lambda self: self.leader > 0 and len(self.isr) > 1)
    @rule(data=st.data())
    def a_follower_falls_behind(self, data: Any) -> None:
        self.isr = [b for b in self.isr if b != data.draw(st.sampled_from([b for b in self.isr if b != self.leader]))]
        self.story.isr(self.leader, self._happens(), self.isr, self.version)
        self._state()

    @precondition(lambda self: self.leader > 0 and self.alive - set(self.isr))
    @rule(data=st.data())
    def a_follower_catches_up(self, data: Any) -> None:
        self.isr = [*self.isr, data.draw(st.sampled_from(sorted(self.alive - set(self.isr))))]
        self.story.isr(self.leader, self._happens(), self.isr, self.version)
        self._state()

    @precondition(lambda self: self.leader > 0)
    @rule(data=st.data())
    def the_leader_dies(self, data: Any) -> None:
        dead, left = self.leader, [b for b in self.isr if b != self.leader]
        self.alive.discard(dead)
        if left:
            self._elect(data.draw(st.sampled_from(left)), left)
        else:
            self.leader = -1
            self.story.offline(CONTROLLER, self._happens(epoch=1), self.epoch, self.isr, self.version, dead)
            self._state()

    @precondition(lambda self: self.leader == -1)
    @rule()
    def the_last_of_the_isr_comes_back(self) -> None:
        (last,) = self.isr
        self.alive.add(last)
        self.story.loads(last, self.seconds + 10, self.end, unclean=True)
        self._elect(last, self.isr)

    @precondition(lambda self: self.leader > 0 and len(self.alive) < len(BROKERS))
    @rule(data=st.data())
    def a_broker_comes_back(self, data: Any) -> None:
        back = data.draw(st.sampled_from(sorted(set(BROKERS) - self.alive)))
        self.alive.add(back)
        self.seconds += 20
        self.story.loads(back, self.seconds, self.end, unclean=True)
        self.story.follows(back, self.seconds + 1, self.epoch, self.end, self.end)

    @precondition(lambda self: len(self.states) > 1)
    @rule(seed=st.integers(0, 99), at=st.integers(0, 30), wrong=st.integers(-300, 300), broker=st.sampled_from([*BROKERS, CONTROLLER]))
    def it_is_told_as_it_was(self, seed: int, at: int, wrong: int, broker: int) -> None:
        """Its rows dealt anew; its files cut, as appenders roll them; a broker with a wrong clock."""
        cut: dict[str, str | bytes] = {}
        for path, content in self.story.files.items():
            data = shifted(content.encode(), wrong) if path.startswith(f"broker-{broker}/") else content.encode()
            lines = data.splitlines(keepends=True)
            cut.update({p: b"".join(part) for p, part in ((f"{path}.1", lines[:at]), (path, lines[at:])) if part})
        assert shapes_of(self.story.files) == self.states
        assert shapes_of(cut, seed) == self.states


TestHistory = History.TestCase
TestHistory.settings = settings(max_examples=12, stateful_step_count=12)
