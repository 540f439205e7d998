"""Small incidents put on stage: files with modification times, the statements of Kafka 2.8 that stories are made of, and what
the tool makes of them in one process.

Each statement is as a recorded 2.8.2 cluster prints it; a story chooses brokers, offsets and times.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from io import BytesIO

import pyarrow as pa

from forensics.model.cluster.facts import Cluster
from forensics.model.findings import Finding
from forensics.model.partition.timeline import PartitionTimeline
from forensics.views.document import Report
from parsers import evidence, schemas
from parsers.schemas import EVENTS, Member
from tests.support import local
from tests.support.events import one_by_one
from tests.support.local import spread

Files = Mapping[str, str | bytes]
START = datetime(2026, 11, 21, 1, 53, 0)
_STAMP = re.compile(rb"(?m)^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\]")


def table(files: Files, modified: Mapping[str, datetime] | None = None, *, shuffled: int | None = None) -> pa.Table:
    """Events of files; `shuffled` deals the rows anew as a cluster of machines might, with that seed."""
    given: list[schemas.Rows] = []
    for path, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        given.extend(evidence.read_source(Member(path, len(data), (modified or {}).get(path)), BytesIO(data)))
    if shuffled is not None:
        given = list(one_by_one(given))
        random.Random(shuffled).shuffle(given)
    return pa.Table.from_batches(list(schemas.batches(given)), schema=EVENTS)


def report(files: Files, modified: Mapping[str, datetime] | None = None) -> Report:
    return local.report(table(files, modified))


def timeline(files: Files, modified: Mapping[str, datetime] | None = None) -> tuple[PartitionTimeline, Cluster]:
    """The one partition a story is about."""
    ((found, cluster),) = local.timelines(table(files, modified))
    return found, cluster


def of(reported: Report, *kinds: str) -> list[Finding]:
    return [f for f in spread(reported.findings) if f.kind in kinds]


def at(seconds: float) -> str:
    """A log line's time, seconds after the story began."""
    return (START + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3].replace(".", ",")


def shifted(data: bytes, seconds: float) -> bytes:
    """A log whose broker's clock was wrong by so much."""

    def later(match: re.Match[bytes]) -> bytes:
        moved = datetime.strptime(match[1].decode(), "%Y-%m-%d %H:%M:%S,%f") + timedelta(seconds=seconds)
        return b"[" + moved.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3].replace(".", ",").encode() + b"]"

    return _STAMP.sub(later, data)


class Story:
    """Lines of several brokers about partition `t-0`, collected into their files in the order they are reported."""

    def __init__(self, topic: str = "t", partition: int = 0) -> None:
        self.topic, self.partition = topic, partition
        self.name = f"{topic}-{partition}"
        self._lines: dict[str, list[str]] = defaultdict(list)

    @property
    def files(self) -> dict[str, str]:
        return {path: "".join(f"{line}\n" for line in lines) for path, lines in self._lines.items()}

    def line(self, broker: int, file: str, seconds: float, text: str) -> None:
        self._lines[f"broker-{broker}/logs/{file}.log"].append(f"[{at(seconds)}] {text}")

    def leads(self, broker: int, seconds: float, epoch: int, offset: int, hw: int, isr: Sequence[int], previous: int = -1) -> None:
        ids = ",".join(map(str, isr))
        self.line(
            broker,
            "state-change",
            seconds,
            f"INFO [Broker id={broker}] Leader {self.name} starts at leader epoch {epoch} from offset {offset} with high watermark {hw} "
            f"ISR [{ids}] addingReplicas [] removingReplicas []. Previous leader epoch was {previous}. (state.change.logger)",
        )

    def follows(self, broker: int, seconds: float, epoch: int, offset: int, hw: int, previous: int = -1) -> None:
        self.line(
            broker,
            "state-change",
            seconds,
            f"INFO [Broker id={broker}] Follower {self.name} starts at leader epoch {epoch} from offset {offset} with high watermark {hw}. "
            f"Previous leader epoch was {previous}. (state.change.logger)",
        )

    def truncates(self, broker: int, seconds: float, offset: int) -> None:
        self.line(
            broker,
            "server",
            seconds,
            f"INFO [Log partition={self.name}, dir=/var/lib/kafka/broker-{broker}/data] Truncating to offset {offset} (kafka.log.Log)",
        )

    def loads(self, broker: int, seconds: float, end: int, *, unclean: bool) -> None:
        """The log comes up after a start; an unclean stop has its segments recovered first."""
        where = f"/var/lib/kafka/broker-{broker}/data"
        if unclean:
            text = f"INFO [Log partition={self.name}, dir={where}] Recovering unflushed segment 0 (kafka.log.Log)"
            self.line(broker, "server", seconds, text)
        self.line(
            broker,
            "server",
            seconds,
            f"INFO Completed load of Log(dir={where}/{self.name}, topic={self.topic}, partition={self.partition}, highWatermark=0, lastStableOffset=0, "
            f"logStartOffset=0, logEndOffset={end}) with 1 segments in 33ms (1/1 loaded in {where}) (kafka.log.LogManager)",
        )

    def offline(self, controller: int, seconds: float, epoch: int, isr: Sequence[int], version: int, removed: int) -> None:
        ids = ",".join(map(str, isr))
        self.line(
            controller,
            "state-change",
            seconds,
            f"INFO [Controller id={controller} epoch=3] Partition {self.name} state changed to (Leader:-1,ISR:{ids},LeaderEpoch:{epoch},"
            f"ZkVersion:{version},ControllerEpoch:3) after removing replica {removed} from the ISR as part of transition to OfflineReplica "
            "(state.change.logger)",
        )

    def online(self, controller: int, seconds: float, epoch: int, leader: int, isr: Sequence[int], version: int) -> None:
        ids = ", ".join(map(str, isr))
        self.line(
            controller,
            "state-change",
            seconds,
            f"INFO [Controller id={controller} epoch=3] Changed partition {self.name} from OfflinePartition to OnlinePartition with state "
            f"LeaderAndIsr(leader={leader}, leaderEpoch={epoch}, isr=List({ids}), zkVersion={version}) (state.change.logger)",
        )

    def isr(self, broker: int, seconds: float, isr: Sequence[int], version: int) -> None:
        ids = ",".join(map(str, isr))
        text = f"INFO [Partition {self.name} broker={broker}] ISR updated to {ids} and version updated to [{version}] (kafka.cluster.Partition)"
        self.line(broker, "server", seconds, text)

    def put(self, path: str, lines: Iterable[str]) -> None:
        self._lines[path].extend(lines)

    def forget(self, path: str) -> None:
        del self._lines[path]
