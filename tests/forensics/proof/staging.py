"""Staged hand-overs, real bundles, and the proof that the tool makes of them.

Here: the statements that a proof rests on besides those of Story, a hand-over in which nothing is missing, and what leaves a verdict open. Not here:
tables made by hand or at random (tables).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta, timezone

from forensics.incidents.judging import contradictions
from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.judgement import Judgement, judgement
from forensics.proof.verdict import CHANGE, Handover
from tests.forensics import staged
from tests.forensics.staged import START, Story
from tests.support import local, shapes, taken

DATA = "/var/lib/kafka/broker-{}/data"


class Staged(Story):
    """A story with the life of brokers: those of a broker that starts, stops, and loads its logs."""

    def process(self, broker: int, seconds: float, text: str) -> None:
        self.line(broker, "server", seconds, f"INFO [KafkaServer id={broker}] {text} (kafka.server.KafkaServer)")

    def starts(self, broker: int, seconds: float) -> None:
        self.process(broker, seconds, "starting")

    def runs(self, broker: int, seconds: float) -> None:
        """It is up, and takes up a replica of another partition: the loggers of which a proof needs lines print at INFO."""
        self.process(broker, seconds, "started")
        where = f"{DATA.format(broker)}/other-{broker}"
        created = f"INFO Created log for partition other-{broker} in {where} with properties {{}} (kafka.log.LogManager)"
        self.line(broker, "server", seconds, created)
        for text in (
            "No checkpointed highwatermark is found for partition other-{0}",
            "Log loaded for partition other-{0} with initial high watermark 0",
        ):
            said = text.format(broker)
            self.line(broker, "server", seconds, f"INFO [Partition other-{broker} broker={broker}] {said} (kafka.cluster.Partition)")

    def stops(self, broker: int, seconds: float) -> None:
        """An orderly stop that takes a second."""
        self.process(broker, seconds, "shutting down")
        self.process(broker, seconds + 1, "shut down completed")

    def finds_clean_stop(self, broker: int, seconds: float) -> None:
        text = f"INFO Skipping recovery for all logs in {DATA.format(broker)} since clean shutdown file was found (kafka.log.LogManager)"
        self.line(broker, "server", seconds, text)

    def creates(self, broker: int, seconds: float) -> None:
        where = f"{DATA.format(broker)}/{self.name}"
        self.line(
            broker, "server", seconds, f"INFO Created log for partition {self.name} in {where} with properties {{}} (kafka.log.LogManager)"
        )

    def shrinks(self, broker: int, seconds: float, isr: Sequence[int], to: Sequence[int], hw: int, end: int) -> None:
        """What the leader intends; that it took effect is another line from 2.4 on."""
        was, now = (",".join(map(str, ids)) for ids in (isr, to))
        out = " ".join(f"(brokerId: {b}, endOffset: {hw})." for b in isr if b not in to)
        text = f"Shrinking ISR from {was} to {now}. Leader: (highWatermark: {hw}, endOffset: {end}). Out of sync replicas: {out}"
        self.line(broker, "server", seconds, f"INFO [Partition {self.name} broker={broker}] {text} (kafka.cluster.Partition)")

    def version(self, broker: int, seconds: float, version: str) -> None:
        self.line(broker, "server", seconds, f"INFO Kafka version: {version} (org.apache.kafka.common.utils.AppInfoParser)")

    def receives(self, broker: int, seconds: float, leader: int, epoch: int, isr: Sequence[int], version: int) -> None:
        """A LeaderAndIsr request, as brokers before 2.6 print it."""
        ids = ",".join(map(str, isr))
        state = f"PartitionState(controllerEpoch=1, leader={leader}, leaderEpoch={epoch}, isr=[{ids}], zkVersion={version}, replicas=[1, 2], isNew=false)"
        asked = f"TRACE [Broker id={broker}] Received LeaderAndIsr request {state} correlation id 1 from controller 3 epoch 1 for partition {self.name}"
        self.line(broker, "state-change", seconds, f"{asked} (state.change.logger)")

    def refuses(self, broker: int, seconds: float, leader: int) -> None:
        """A request to follow a leader that the controller does not count as alive."""
        asked = f"Received LeaderAndIsrRequest with correlation id 3 from controller 9 epoch 1 for partition {self.name}"
        text = f"{asked} (last update controller epoch 1) but cannot become follower since the new leader {leader} is unavailable."
        self.line(broker, "state-change", seconds, f"ERROR [Broker id={broker}] {text} (state.change.logger)")

    def describes(self, leader: int | str, isr: Sequence[int] = (1, 2)) -> None:
        """What kafka-topics showed; when is the modification time of the file."""
        ids = ",".join(map(str, isr))
        self.put(DESCRIBED, [f"\tTopic: {self.topic}\tPartition: {self.partition}\tLeader: {leader}\tReplicas: 1,2\tIsr: {ids}"])

    def disk(self, broker: int, epochs: Iterable[tuple[int, int]] = (), mark: int | None = None) -> None:
        """Files of the replica's directory."""
        entries = [f"{epoch} {start}" for epoch, start in epochs]
        self.put(f"broker-{broker}/data/meta.properties", ["version=0", f"broker.id={broker}"])
        if entries:
            self.put(f"broker-{broker}/data/{self.name}/leader-epoch-checkpoint", ["0", str(len(entries)), *entries])
        if mark is not None:
            self.put(f"broker-{broker}/data/replication-offset-checkpoint", ["0", "1", f"{self.topic} {self.partition} {mark}"])


DESCRIBED = "cluster/describe.txt"


def when(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def begun(*brokers: int) -> Staged:
    """Brokers whose logs begin before the partition is made."""
    s = Staged()
    for broker in brokers or (1, 2):
        s.runs(broker, -1)
    return s


def handed_over(end: int = 200, *, isr: Sequence[int] = (1, 2), late: float = 0.1) -> Staged:
    """Broker 1 leads to `end`, broker 2, in sync, takes over at 200, and broker 1 follows it. Nothing is missing."""
    s = begun()
    s.leads(1, 0, 0, 0, 0, [1, 2])
    s.follows(2, 0.1, 0, 0, 0)
    s.leads(2, 10, 1, 200, 200, isr, previous=0)
    s.follows(1, 10 + late, 1, end, 200, previous=0)
    if end > 200:
        s.truncates(1, 10.1 + late, 200)
    return s


# proofs


Evidence = Story | Mapping[str, str | bytes]


def made(evidence: Evidence, modified: Mapping[str, datetime] | None = None) -> tuple[PartitionTimeline, Cluster]:
    """The partition that a story is about."""
    files = evidence.files if isinstance(evidence, Story) else evidence
    return next((t, c) for t, c in local.timelines(staged.table(files, modified)) if t.topic == "t")


def judge(evidence: Evidence, modified: Mapping[str, datetime] | None = None, findings: Sequence[Finding] = ()) -> Judgement:
    timeline, cluster = made(evidence, modified)
    return judgement(timeline, cluster, contradictions(findings, timeline))


def left(judged: Judgement) -> list[tuple[str, str]]:
    """What leaves the verdict open: the kind of the row, and the cell."""
    return [(judged.rows[found.row].kind if judged.rows else "", found.cell) for found in judged.decides]


def the(judged: Judgement, kind: str = CHANGE) -> Handover:
    """The only row of a kind."""
    (row,) = (row for row in judged.rows if row.kind == kind)
    return row


def row(evidence: Evidence, kind: str = CHANGE) -> Handover:
    return the(judge(evidence), kind)


# bundles


Records = Callable[[list[bytes]], Iterable[bytes]]


def of_bundle(name: str, partition: str, files: shapes.Files | None = None) -> Judgement:
    """The proof of one partition of a recorded bundle, or of what is left of its files."""
    found = ((t, c) for t, c in local.timelines(taken.table(shapes.bundle(name) if files is None else files)))
    return next(judgement(t, c, ()) for t, c in found if t.name == partition and t.generation == 0)


def altered(files: shapes.Files, expression: str, change: Records) -> shapes.Files:
    """Files in which the records of some logs are others."""
    made = dict(files)
    for path in shapes.only(files, expression):
        kept = (r if r.endswith(b"\n") else r + b"\n" for r in change(shapes.records(files[path].content)))
        made[path] = shapes.File(b"".join(kept), files[path].modified)
    return made


def without_lines(expression: bytes, since: int = 0) -> Records:
    """All but those that match, of these all but the first `since`."""

    def change(records: list[bytes]) -> Iterable[bytes]:
        gone = [n for n, r in enumerate(records) if re.search(expression, r)][since:]
        return (r for n, r in enumerate(records) if n not in gone)

    return change


def at_warn(logger: bytes) -> Records:
    """A logger, and those below it, that print WARN and worse."""
    own = rb"\(" + re.escape(logger) + rb"[\w.$]*\)\s*$"
    return lambda records: [r for r in records if not (re.match(rb"\S+ \S+ (TRACE|DEBUG|INFO) ", r) and re.search(own, r.split(b"\n")[0]))]


def cut_lines(length: int) -> Records:
    return lambda records: [line[:length] for r in records for line in r.splitlines()]


def reversed_lines(records: list[bytes]) -> Iterable[bytes]:
    return reversed(records)


def shuffled_lines(records: list[bytes]) -> Iterable[bytes]:
    """In blocks of five."""
    blocks = [records[n : n + 5] for n in range(0, len(records), 5)]
    random.Random(0).shuffle(blocks)
    return (r for block in blocks for r in block)


def set_back(seconds: int, since: float) -> Records:
    """The clock was set back when this share of the log was written."""

    def change(records: list[bytes]) -> Iterable[bytes]:
        for n, record in enumerate(records):
            if n >= since * len(records) and shapes.HEAD.match(record):
                at = datetime.fromtimestamp(shapes.moment(record), timezone.utc) - timedelta(seconds=seconds)
                stamp = f"[{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03}]".encode()
                record = shapes.HEAD.sub(stamp, record)
            yield record

    return change
