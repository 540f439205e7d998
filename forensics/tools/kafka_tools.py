"""Kafka's own tools by version: the commands that elect, reassign and verify, and the files they read.

Here: the command lines and the JSON, split into batches. Not here: what is planned (repair). Source, by branch of apache/kafka:
PreferredReplicaLeaderElectionCommand (to 2.8; --bootstrap-server from 2.2), LeaderElectionCommand (from 2.4),
ReassignPartitionsCommand (--throttle from 0.10.1, log_dirs from 1.0, --bootstrap-server in place of --zookeeper from 2.6),
ControllerApis (in KRaft reassignments from 3.0, elections from 3.1), KafkaController's TopicUncleanLeaderElectionEnable (2.1),
ConsoleProducer (--bootstrap-server from 2.5, --command-property and --reader-property from 4.2, KIP-1147) and its LineMessageReader.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from forensics.model.settings.versions import Version
from forensics.output.shell import option
from forensics.tools.repair import PartitionChange

MAX_BYTES = 1_000_000
"""Maximum size of one file: ZooKeeper refuses a znode whose request has more than 1,048,575 bytes (jute.maxbuffer)."""
MAX_PARTITIONS = 10_000
"""Maximum number in one file: records of one request to a KRaft controller (QuorumController.MAX_RECORDS_PER_USER_OP)."""
_LARGE = 900_000
"""Size of a record from which on a producer may refuse it without max.request.size: 1 MB with overhead."""
NEWEST = (4, 0)
"""Assumed where no version is known: its commands are those of 3.1 and later."""


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of a cluster whose oldest broker has this version."""

    version: Version
    kraft: bool

    def _since(self, *version: int) -> bool:
        return self.version >= version

    @property
    def can_reassign(self) -> bool:
        return not self.kraft or self._since(3, 0)

    @property
    def can_elect(self) -> bool:
        return not self.kraft or self._since(3, 1)

    @property
    def can_elect_unclean(self) -> bool:
        """One partition at a time; older releases only have a setting of the topic."""
        return self._since(2, 4) and self.can_elect

    @property
    def log_dirs(self) -> bool:
        """Reassignment files may name log directories; `any` leaves replicas where they are (KIP-113)."""
        return self._since(1, 0)

    @property
    def _bootstrap(self) -> str:
        return "--bootstrap-server $BOOTSTRAP"

    def elect_preferred(self, file: str) -> str:
        if self._since(2, 4):
            return f"kafka-leader-election.sh {self._bootstrap} --election-type preferred --path-to-json-file {shlex.quote(file)}"
        where = self._bootstrap if self._since(2, 2) else "--zookeeper $ZOOKEEPER"
        return f"kafka-preferred-replica-election.sh {where} --path-to-json-file {shlex.quote(file)}"

    def elect_unclean(self, file: str) -> str:
        return f"kafka-leader-election.sh {self._bootstrap} --election-type unclean --path-to-json-file {shlex.quote(file)}"

    def allow_unclean(self, topic: str) -> list[str]:
        """Before 2.4: the commands that allow unclean elections for the whole topic, and disallow them again."""
        if not self._since(0, 9):
            alter = f"kafka-topics.sh --zookeeper $ZOOKEEPER --alter {option('--topic', topic)}"
            return [f"{alter} --config unclean.leader.election.enable=true", f"{alter} --delete-config unclean.leader.election.enable"]
        alter = f"kafka-configs.sh --zookeeper $ZOOKEEPER --alter --entity-type topics {option('--entity-name', topic)}"
        return [f"{alter} --add-config unclean.leader.election.enable=true", f"{alter} --delete-config unclean.leader.election.enable"]

    @property
    def null_in_lines(self) -> bool:
        """Lines of the console producer may contain nulls (KIP-810) and headers (KIP-798)."""
        return self._since(3, 2)

    def produce(self, topic: str, properties: Mapping[str, str], file: str, *, largest: int = 0, codec: str | None = None) -> str:
        """Sends the lines of a file in their order, each once as far as the release can ensure it (idempotence, 0.11). `largest`: bytes of
        a record; `codec`: compression of the original producers, because uncompressed records may be larger than the topic allows."""
        where = self._bootstrap if self._since(2, 5) or self.kraft else "--broker-list $BOOTSTRAP"
        of_producer, of_lines = ("--command-property", "--reader-property") if self._since(4, 2) else ("--producer-property", "--property")
        wanted = ["max.in.flight.requests.per.connection=1", *(["enable.idempotence=true"] if self._since(0, 11) else [])]
        if largest > _LARGE:
            wanted.append(f"max.request.size={2 * largest}")
        options = [
            "--request-required-acks all",
            *([f"--compression-codec={codec}"] if codec else []),
            *(f"{of_producer} {setting}" for setting in wanted),
        ]
        options += [f"{of_lines} {k}={v}" for k, v in properties.items()]
        return f"kafka-console-producer.sh {where} {option('--topic', topic)} {' '.join(options)} < {shlex.quote(file)}"

    @property
    def unclean_at_once(self) -> bool:
        """Whether a controller acts on the topic's setting at once, not at the next change of brokers or controller."""
        return self._since(2, 1)

    @property
    def _reassign_where(self) -> str:
        return self._bootstrap if self._since(2, 6) else "--zookeeper $ZOOKEEPER"

    def reassign(self, file: str, *, copies: bool) -> str:
        """`copies`: data is copied, and throttled if the tool can do so."""
        throttle = " --throttle $THROTTLE" if copies and self._since(0, 10, 1) else ""
        return f"kafka-reassign-partitions.sh {self._reassign_where} --reassignment-json-file {shlex.quote(file)} --execute{throttle}"

    @property
    def throttles_the_dead(self) -> bool:
        """Whether --throttle works if a broker of the present assignment is gone. From 2.6 on it is a request to each broker
        (KafkaAdminClient.incrementalAlterConfigs), which a dead broker does not answer: the tool fails. Before, it is a znode."""
        return not self._since(2, 6)

    def throttle(self, brokers: Sequence[int], topics: Sequence[str]) -> list[str]:
        """From 2.6 on: the effect of --throttle, for the brokers that are up. Replicas in sync are not throttled."""
        alter = f"kafka-configs.sh {self._bootstrap} --alter"
        rates = "leader.replication.throttled.rate=$THROTTLE,follower.replication.throttled.rate=$THROTTLE"
        replicas = "'leader.replication.throttled.replicas=*,follower.replication.throttled.replicas=*'"
        return [
            *(f"{alter} --entity-type brokers --entity-name {b} --add-config {rates}" for b in brokers),
            *(f"{alter} --entity-type topics {option('--entity-name', t)} --add-config {replicas}" for t in topics),
        ]

    def verify(self, file: str) -> str:
        """Shows whether a reassignment is complete, and removes its throttle then."""
        return f"kafka-reassign-partitions.sh {self._reassign_where} --reassignment-json-file {shlex.quote(file)} --verify"

    def cancel(self, file: str) -> str | None:
        """Cancels a running reassignment (KIP-455)."""
        if not self._since(2, 6):
            return None
        return f"kafka-reassign-partitions.sh {self._bootstrap} --reassignment-json-file {shlex.quote(file)} --cancel"

    def describe(self, topics: Sequence[str]) -> str:
        """Shows leaders, to verify an election; the tool takes one topic or all."""
        where = self._bootstrap if self._since(2, 2) else "--zookeeper $ZOOKEEPER"
        only = f" {option('--topic', topics[0])}" if len(topics) == 1 else ""
        return f"kafka-topics.sh {where} --describe{only}"


@dataclass(frozen=True, slots=True)
class ToolInput:
    """One batch: the tool's input, the input that undoes a reassignment, and the changes."""

    content: str
    rollback: str | None
    changes: tuple[PartitionChange, ...]


def election_files(changes: Iterable[PartitionChange], batch: int = MAX_PARTITIONS) -> Iterator[ToolInput]:
    """Files for an election, each smaller than MAX_BYTES and with at most `batch` partitions."""
    rows = [(_entry(c), None, c) for c in changes]
    for part in _batches(rows, batch):
        yield ToolInput(_written('{"partitions":[', [line for line, _, _ in part]), None, tuple(c for _, _, c in part))


def reassignment_files(changes: Iterable[PartitionChange], *, log_dirs: bool, batch: int = MAX_PARTITIONS) -> Iterator[ToolInput]:
    """Files for a reassignment and for undoing it. `log_dirs`: with a list of `any`, as Kafka's own --generate writes it."""
    rows = [(_entry(c, c.after, log_dirs), _entry(c, c.before, log_dirs), c) for c in changes]
    head = '{"version":1,"partitions":['
    for part in _batches(rows, batch):
        yield ToolInput(
            _written(head, [line for line, _, _ in part]), _written(head, [back or "" for _, back, _ in part]), tuple(c for _, _, c in part)
        )


def _entry(change: PartitionChange, replicas: Sequence[int] | None = None, log_dirs: bool = False) -> str:
    entry: dict[str, object] = {"topic": change.topic, "partition": change.partition}
    if replicas is not None:
        entry["replicas"] = list(replicas)
        if log_dirs:
            entry["log_dirs"] = ["any"] * len(replicas)
    return json.dumps(entry, separators=(",", ":"))


_Row = tuple[str, "str | None", PartitionChange]


def _batches(rows: Iterable[_Row], batch: int) -> Iterator[list[_Row]]:
    part: list[_Row] = []
    size = 0
    for row in rows:
        more = max(len(row[0]), len(row[1] or "")) + 2
        if part and (size + more > MAX_BYTES - 100 or len(part) >= min(batch, MAX_PARTITIONS)):
            yield part
            part, size = [], 0
        part.append(row)
        size += more
    if part:
        yield part


def _written(head: str, lines: Sequence[str]) -> str:
    return head + "\n" + ",\n".join(lines) + "\n]}\n"
