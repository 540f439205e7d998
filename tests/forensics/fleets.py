"""Fleets put on stage: any number of brokers and partitions, and what befalls them, in the words of a ZooKeeper-mode 2.8.2 cluster.

Here: the state of the cluster and the lines its brokers and its controller print as it changes (KafkaController#onBrokerFailure,
ZkPartitionStateMachine, ZkReplicaStateMachine). Not here: a single partition's subtleties (staged).
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.forensics.staged import at

SESSION = 6.0
RECOVERY = 16.0
CATCHING_UP = 6.0


@dataclass
class Hosted:
    """A partition as the cluster knows it."""

    topic: str
    number: int
    replicas: list[int]
    isr: list[int]
    leader: int
    epoch: int = 0
    version: int = 0
    end: int = 1000

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.number}"


def _ids(brokers: Iterable[int], comma: str = ",") -> str:
    return comma.join(map(str, brokers))


class Fleet:
    """Replicas of a partition lie in as many racks as there are: broker b is in rack b % 3. Nothing that was committed is ever lost. `tail`: a
    leader that gives way has so many records that the next one has not fetched yet."""

    def __init__(self, brokers: int, partitions: int, *, seed: int = 1, tail: int = 0) -> None:
        self._lines: dict[str, list[tuple[float, str]]] = defaultdict(list)
        self._random, self._tail = random.Random(seed), tail
        self.brokers = list(range(1, brokers + 1))
        self.live, self.controller, self.term = list(self.brokers), 1, 1
        self.partitions = []
        for i in range(partitions):
            replicas = [(i + k) % brokers + 1 for k in range(3)]
            self.partitions.append(Hosted(f"topic{i // 10}", i % 10, replicas, list(replicas), replicas[0]))
        for b in self.brokers:
            self._starts(b, -30)
        self._elected(-20)
        for p in self.partitions:
            self._online(p, 0, "NewPartition")

    @property
    def files(self) -> dict[str, str]:
        stated = {path: "".join(f"[{at(s)}] {text}\n" for s, text in sorted(lines)) for path, lines in self._lines.items()}
        topics = {
            p.topic: f"Topic: {p.topic}\tPartitionCount: 10\tReplicationFactor: 3\tConfigs: min.insync.replicas=2\n"
            for p in self.partitions
        }
        for p in self.partitions:
            topics[p.topic] += (
                f"\tTopic: {p.topic}\tPartition: {p.number}\tLeader: {p.leader}\tReplicas: {_ids(p.replicas)}\tIsr: {_ids(p.isr)}\n"
            )
        return {**stated, "cluster/topics-describe.txt": "".join(topics.values())}

    def line(self, broker: int, file: str, seconds: float, text: str) -> None:
        self._lines[f"broker-{broker}/logs/{file}.log"].append((seconds, text))

    # what befalls them

    def crash(self, brokers: Sequence[int], seconds: float, back: float) -> None:
        """They die without a word, within two seconds, and are started again."""
        self._leave(brokers, seconds + SESSION)
        self._return(brokers, back)

    def stop(self, broker: int, seconds: float, back: float) -> None:
        """A controlled shutdown, and a start."""
        self.line(broker, "server", seconds, f"INFO [KafkaServer id={broker}] shutting down (kafka.server.KafkaServer)")
        self.line(broker, "server", seconds, f"INFO [KafkaServer id={broker}] Starting controlled shutdown (kafka.server.KafkaServer)")
        self.line(
            self.controller,
            "controller",
            seconds + 0.1,
            f"INFO [Controller id={self.controller}] Shutting down broker {broker} (kafka.controller.KafkaController)",
        )
        for p in self._of([broker]):
            self._without(p, [broker], seconds + 0.2, "OnlinePartition")
        self.line(broker, "server", seconds + 1, f"INFO [KafkaServer id={broker}] Controlled shutdown succeeded (kafka.server.KafkaServer)")
        self.line(broker, "server", seconds + 3, f"INFO [KafkaServer id={broker}] shut down completed (kafka.server.KafkaServer)")
        self._gone([broker], seconds + 3.5)
        self._return([broker], back)

    def stall(self, broker: int, seconds: float, until: float) -> None:
        """Its replicas do not keep up for a while: their leaders take most of them out of the ISR, and in again."""
        slow = [p for p in self._of([broker]) if p.leader != broker and broker in p.isr and self._random.random() < 0.8]
        for p in slow:
            isr = [b for b in p.isr if b != broker]
            p.end += 500
            self.line(
                p.leader,
                "server",
                seconds,
                f"INFO [Partition {p.name} broker={p.leader}] Shrinking ISR from {_ids(p.isr)} to {_ids(isr)}. Leader: (highWatermark: {p.end - 100}, "
                f"endOffset: {p.end}). Out of sync replicas: (brokerId: {broker}, endOffset: {p.end - 100}). (kafka.cluster.Partition)",
            )
            self._isr(p, isr, seconds + 0.02)
        for p in slow:
            self._isr(p, [*p.isr, broker], until)

    def prefer(self, seconds: float) -> None:
        """Leadership moves back to the first replicas."""
        for p in self.partitions:
            if p.leader != p.replicas[0] and p.replicas[0] in p.isr:
                before, p.leader = p.leader, p.replicas[0]
                p.epoch, p.version, p.end = p.epoch + 1, p.version + 1, p.end + 50
                self._online(p, seconds, "OnlinePartition", before)

    # what is printed

    def _of(self, brokers: Sequence[int]) -> list[Hosted]:
        return [p for p in self.partitions if set(brokers) & set(p.replicas)]

    def _starts(self, broker: int, seconds: float) -> None:
        self.line(broker, "server", seconds, "INFO starting (kafka.server.KafkaServer)")
        self.line(broker, "server", seconds + 9, "INFO Kafka version: 2.8.2 (org.apache.kafka.common.utils.AppInfoParser)")
        self.line(broker, "server", seconds + 10, f"INFO [KafkaServer id={broker}] started (kafka.server.KafkaServer)")

    def _elected(self, seconds: float) -> None:
        c, e = self.controller, self.term
        self.line(
            c,
            "controller",
            seconds,
            f"INFO [Controller id={c}] {c} successfully elected as the controller. Epoch incremented to {e} and epoch zk version is now {e} (kafka.controller.KafkaController)",
        )
        self.line(
            c,
            "controller",
            seconds + 0.3,
            f"INFO [Controller id={c}] Ready to serve as the new controller with epoch {e} (kafka.controller.KafkaController)",
        )

    def _changed(self, seconds: float, added: Sequence[int] = (), deleted: Sequence[int] = ()) -> None:
        c = self.controller
        self.line(
            c,
            "controller",
            seconds,
            f"INFO [Controller id={c}] Newly added brokers: {_ids(added)}, deleted brokers: {_ids(deleted)}, bounced brokers: , all live brokers: "
            f"{_ids(self.live)} (kafka.controller.KafkaController)",
        )

    def _gone(self, brokers: Sequence[int], seconds: float) -> None:
        self.live = [b for b in self.live if b not in brokers]
        if self.controller in brokers:
            self.controller, self.term = self.live[0], self.term + 1
            self._elected(seconds)
        else:
            self._changed(seconds, deleted=brokers)

    def _leave(self, brokers: Sequence[int], seconds: float) -> None:
        self._gone(brokers, seconds)
        for p in self._of(brokers):
            self._without(p, brokers, seconds + 0.4, "OfflinePartition")

    def _without(self, p: Hosted, brokers: Sequence[int], seconds: float, was: str) -> None:
        p.isr = [b for b in p.isr if b not in brokers]
        p.epoch, p.version, p.end = p.epoch + 1, p.version + 1, p.end + 50
        if p.leader in brokers:
            before, p.leader = p.leader, p.isr[0]
            self._online(p, seconds, was, before if was == "OnlinePartition" else None)
            return
        self.line(
            self.controller,
            "state-change",
            seconds,
            f"INFO [Controller id={self.controller} epoch={self.term}] Partition {p.name} state changed to (Leader:{p.leader},ISR:{_ids(p.isr)},"
            f"LeaderEpoch:{p.epoch},ZkVersion:{p.version},ControllerEpoch:{self.term}) after removing replica {brokers[0]} from the ISR as part of "
            "transition to OfflineReplica (state.change.logger)",
        )
        self._told(p, seconds)

    def _online(self, p: Hosted, seconds: float, was: str, before: int | None = None) -> None:
        """`before`: the leader that gives way, and follows."""
        self.line(
            self.controller,
            "state-change",
            seconds,
            f"INFO [Controller id={self.controller} epoch={self.term}] Changed partition {p.name} from {was} to OnlinePartition with state "
            f"LeaderAndIsr(leader={p.leader}, leaderEpoch={p.epoch}, isr=List({_ids(p.isr, ', ')}), zkVersion={p.version}) (state.change.logger)",
        )
        self._told(p, seconds, before)

    def _told(self, p: Hosted, seconds: float, before: int | None = None) -> None:
        """The replicas that live hear of it."""
        self.line(
            p.leader,
            "state-change",
            seconds + 0.05,
            f"INFO [Broker id={p.leader}] Leader {p.name} starts at leader epoch {p.epoch} from offset {p.end} with high watermark {p.end} ISR "
            f"[{_ids(p.isr)}] addingReplicas [] removingReplicas []. Previous leader epoch was {p.epoch - 1}. (state.change.logger)",
        )
        for b in p.replicas:
            if b == before and self._tail:
                self._follows(p, b, seconds + 0.06, p.epoch - 1, self._tail)
                where = f"/var/lib/kafka/broker-{b}/data"
                cut = f"INFO [Log partition={p.name}, dir={where}] Truncating to offset {p.end} (kafka.log.Log)"
                self.line(b, "server", seconds + 0.08, cut)
            elif b in p.isr and b != p.leader:
                self._follows(p, b, seconds + 0.06, p.epoch - 1)

    def _follows(self, p: Hosted, broker: int, seconds: float, previous: int, tail: int = 0) -> None:
        self.line(
            broker,
            "state-change",
            seconds,
            f"INFO [Broker id={broker}] Follower {p.name} starts at leader epoch {p.epoch} from offset {p.end + tail} with high watermark {p.end}. "
            f"Previous leader epoch was {previous}. (state.change.logger)",
        )

    def _isr(self, p: Hosted, isr: Sequence[int], seconds: float) -> None:
        p.isr, p.version = list(isr), p.version + 1
        self.line(
            p.leader,
            "server",
            seconds,
            f"INFO [Partition {p.name} broker={p.leader}] ISR updated to {_ids(isr)} and version updated to [{p.version}] (kafka.cluster.Partition)",
        )

    def _return(self, brokers: Sequence[int], seconds: float) -> None:
        for b in brokers:
            self._starts(b, seconds)
            self.live = sorted([*self.live, b])
            self._changed(seconds + RECOVERY, added=[b])
            for p in self._of([b]):
                if b not in p.isr:
                    self._follows(p, b, seconds + RECOVERY + 0.5, -1)
                    self._isr(p, [*p.isr, b], seconds + RECOVERY + CATCHING_UP)
