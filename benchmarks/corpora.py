"""Evidence for measuring, made of the bundles recorded in fixtures/bundles, and of the tests' stories; the same for the same seed and size.

Recorded logs are extended: their lines are repeated, each time some hours later. Settings, which a broker prints at startup, occur once.
"""

from __future__ import annotations

import json
import random
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from datetime import datetime, timedelta
from itertools import count, islice
from pathlib import Path
from typing import IO, NamedTuple

from tests.forensics.fleets import Fleet
from tests.forensics.staged import at

ROOT = Path(__file__).resolve().parents[1]
BUNDLES = ROOT / "fixtures" / "bundles"
BEGIN = datetime(2026, 1, 1)
AGAIN, MS = timedelta(hours=7), timedelta(milliseconds=1)
STAMP = re.compile(rb"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})\]")
STARTED = re.compile(rb"(?<=startTimeMs: )\d+")
"""A time that is printed in UTC; if it did not move with the lines, they would be of other zones."""
SETTING = re.compile(rb"\t[\w.-]+ = |.*Config values: ")

Wrap = Callable[[datetime, bytes], bytes]


def files_of(bundle: Path, ending: str) -> Iterator[tuple[str, bytes]]:
    """Files of a bundle by their paths in it."""
    with tarfile.open(bundle) as tar:
        for member in tar:
            if member.isfile() and member.name.endswith(ending) and (found := tar.extractfile(member)) is not None:
                yield member.name.partition("/")[2], found.read()


def later(content: bytes, again: int, wrap: Wrap | None = None) -> Iterator[bytes]:
    """A log's lines for the second, third … repetition."""
    at = BEGIN
    for line in content.splitlines():
        if again and SETTING.match(line):
            continue
        if stamp := STAMP.match(line):
            at = datetime.fromisoformat(stamp[1].decode()) + again * AGAIN
            line = f"[{at}".encode() + STARTED.sub(lambda m: b"%d" % (int(m[0]) + again * AGAIN // MS), line[20:])
        yield (wrap(at, line) if wrap else line) + b"\n"


# one log


class Log(NamedTuple):
    """A kind of log, extended from the logs of all brokers one after the other."""

    bundles: str
    name: str
    wrap: Wrap | None = None


def _cri(at: datetime, line: bytes) -> bytes:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%f000Z stdout F ").encode() + line


def _docker(at: datetime, line: bytes) -> bytes:
    entry = {"log": line.decode("utf-8", "replace") + "\n", "stream": "stdout", "time": at.strftime("%Y-%m-%dT%H:%M:%S.%f000Z")}
    return json.dumps(entry, separators=(",", ":")).encode()


def _journal(at: datetime, line: bytes) -> bytes:
    entry = {"MESSAGE": line.decode("utf-8", "replace"), "__REALTIME_TIMESTAMP": str(int(at.timestamp() * 10**6)), "_HOSTNAME": "h"}
    return json.dumps(entry).encode()


def _syslog(at: datetime, line: bytes) -> bytes:
    return at.strftime("%b %d %H:%M:%S broker-1 kafka[7]: ").encode() + line


LOGS = {
    "server.log, ZooKeeper": Log("*-zk.tar.gz", "server.log"),
    "server.log, KRaft": Log("*-kraft.tar.gz", "server.log"),
    "state-change.log, ZooKeeper": Log("*-zk.tar.gz", "state-change.log"),
    "state-change.log, KRaft": Log("*-kraft.tar.gz", "state-change.log"),
    "server.log in CRI": Log("*-zk.tar.gz", "server.log", _cri),
    "server.log in docker's JSON": Log("*-zk.tar.gz", "server.log", _docker),
    "server.log in the journal's JSON": Log("*-zk.tar.gz", "server.log", _journal),
    "server.log in syslog": Log("*-zk.tar.gz", "server.log", _syslog),
}


def one_log(log: Log, place: Path, size: int) -> Path:
    recorded = [content for bundle in sorted(BUNDLES.glob(log.bundles)) for _, content in files_of(bundle, f"/logs/{log.name}")]
    file = place / log.name
    with file.open("wb") as out:
        for again in count():
            for content in recorded:
                out.writelines(later(content, again, log.wrap))
            if out.tell() >= size:
                return file
    raise AssertionError


# a cluster


RECORDED = BUNDLES / "busy-two-at-once-2.8.2-zk.tar.gz"
"""Five brokers under load, two of which crash at once, repeatedly; each time other topics are affected."""


OF_BROKERS = ("/logs/server.log", "/logs/state-change.log", "/logs/controller.log")
TERM = re.compile(
    rb"((?:Controller id=\d+ |[Cc]ontroller ?|controller \d+ (?:with correlation id \d+ )?|new controller with )[Ee]poch[:= ]"
    rb"|Epoch incremented to |epoch zk version is now )(\d+)"
)
TOPIC_ID = re.compile(rb"(?<=,Some\()[\w-]{4}(?=[\w-]{18}\),)")
TERMS = 2
"""Controllers that are elected each time."""


def brokers(place: Path, size: int, *_: int) -> Path:
    """The logs of each broker, of the same days: nearly every line is relevant. It is one cluster: the epochs of its controllers
    continue."""
    logs = {path: content for path, content in files_of(RECORDED, ".log") if path.endswith(OF_BROKERS)}
    (described,) = (content for _, content in files_of(RECORDED, "cluster/topics-describe-end.txt"))
    names = sorted({*re.findall(rb"^Topic: ?(\S+)", described, re.MULTILINE), b"__consumer_offsets"}, key=len, reverse=True)
    topics = re.compile(rb"(?<![\w.-])(?:" + b"|".join(map(re.escape, names)) + rb")(?=-\d|[^\w.-])")
    with ExitStack() as files:
        outs = {}
        for path in logs:
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            outs[path] = files.enter_context((place / path).open("wb"))
        for again in count():
            for path, content in logs.items():
                lines = topics.sub(lambda m, n=again: b"%s.%d" % (m[0], n), b"".join(later(content, again)))  # type: ignore[misc]
                lines = TOPIC_ID.sub(b"%04d" % again, lines)
                outs[path].write(TERM.sub(lambda m, n=again: b"%s%d" % (m[1], int(m[2]) + n * TERMS), lines))  # type: ignore[misc]
            if sum(out.tell() for out in outs.values()) >= size:
                return place
    raise AssertionError


def fleet(place: Path, brokers: int, partitions: int, seed: int = 1) -> Path:
    """A rolling restart, a slow disk and a rack failure."""
    story = Fleet(brokers, partitions, seed=seed)
    for turn, broker in enumerate(story.brokers):
        story.stop(broker, 300 + turn * 120, 320 + turn * 120)
    end = 600 + brokers * 120
    story.stall(5, end, end + 60)
    story.crash([b for b in story.brokers if b % 3 == 2], end + 600, end + 800)
    for path, content in story.files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(content)
    return place


def quiet(place: Path, size: int, seed: int = 1) -> Path:
    """The fleet with 30 brokers, and days after it in which segments are rolled and nothing else happens: most archives are like this."""
    fleet(place, 30, 600, seed)
    dice = random.Random(seed)
    written, hours = 0, count()
    with ExitStack() as files:
        logs = {broker: files.enter_context((place / f"broker-{broker}" / "logs" / "server.log").open("a")) for broker in range(1, 31)}
        while written < size:
            hour = next(hours)
            for broker, log in logs.items():
                written += log.write("".join(sorted(_quiet_hour(broker, hour, dice))))
    return place


def _quiet_hour(broker: int, hour: int, dice: random.Random) -> Iterator[str]:
    for minute in range(0, 60, 10):
        yield f"{_after(hour, 60 * minute)} INFO [GroupMetadataManager brokerId={broker}] Removed 0 expired offsets in 0 milliseconds. (kafka.coordinator.group.GroupMetadataManager)\n"
    for number in range(hour % 2, 600, 2):  # every two hours, on three brokers in a row
        if (broker - 1 - number) % 30 < 3:
            partition, offset = f"topic{number // 10}-{number % 10}", 1_000_000 + 1000 * hour
            second = 6 * (number % 600) + dice.random()
            yield f"{_after(hour, second)} INFO [ProducerStateManager partition={partition}] Writing producer snapshot at offset {offset} (kafka.log.ProducerStateManager)\n"
            yield f"{_after(hour, second + 0.002)} INFO [Log partition={partition}, dir=/var/lib/kafka/data] Rolled new log segment at offset {offset} in 2 ms. (kafka.log.Log)\n"


def _after(hour: int, second: float) -> str:
    return f"[{at(86_400 + 3_600 * hour + second)}]"


# worst cases


def stamp(seconds: float) -> str:
    return f"[{BEGIN + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S,%f}"[:-3] + "]"


def hot(place: Path, events: int, *_: int) -> Path:
    """One partition with nearly all events."""
    logs = place / "broker-1" / "logs"
    logs.mkdir(parents=True)
    with (logs / "server.log").open("w") as log:
        for i in range(events // 4):
            lines = (
                f"Shrinking ISR from 1,2,3 to 1,2. Leader: (highWatermark: {i}, endOffset: {i + 1}). "
                f"Out of sync replicas: (brokerId: 3, endOffset: {i}).",
                f"ISR updated to 1,2 and version updated to [{2 * i}]",
                "Expanding ISR from 1,2 to 1,2,3",
                f"ISR updated to 1,2,3 and version updated to [{2 * i + 1}]",
            )
            for step, line in enumerate(lines):
                log.write(f"{stamp(i + step / 5)} INFO [Partition hot-0 broker=1] {line} (kafka.cluster.Partition)\n")
    return place


def noise(place: Path, size: int, seed: int = 1) -> Path:
    """Lines without facts, or with one repeated fact, around the few of an incident; one file per hour, as Kafka rolls them."""
    for broker in (1, 2, 3):
        logs = place / f"broker-{broker}" / "logs"
        logs.mkdir(parents=True)
        (logs.parent / "meta.properties").write_text(f"version=0\nbroker.id={broker}\n")
        lines = _noisy(broker, random.Random(seed * 10 + broker))
        written, hours = 0, count()
        while written < size // 3:
            hour = next(hours)
            with (logs / f"server.log.{BEGIN + timedelta(hours=hour):%Y-%m-%d-%H}").open("w") as log:
                written += _hour(log, hour, islice(lines, 40_000))
    return place


def _hour(log: IO[str], hour: int, lines: Iterable[str]) -> int:
    return sum(log.write(f"{stamp(hour * 3600 + i * 3600 / 40_000)} {line}\n") for i, line in enumerate(lines))


def _noisy(broker: int, dice: random.Random) -> Iterator[str]:
    """Of 1,000 lines 500 have no facts, 400 repeat one fetch error, 98 are routine log operations, 2 report an ISR."""
    other = broker % 3 + 1
    fetcher = f"[ReplicaFetcher replicaId={broker}, leaderId={other}, fetcherId=0]"
    for number in count(1):
        kind, partition = dice.randrange(1000), f"orders-{dice.randrange(64)}"
        if kind < 500:
            yield (
                f"INFO [GroupCoordinator {broker}]: Preparing to rebalance group consumers-{kind} in state PreparingRebalance with old generation "
                f"{number} (__consumer_offsets-{kind % 50}) (reason: removing member client-{number} on heartbeat expiration) "
                "(kafka.coordinator.group.GroupCoordinator)"
            )
        elif kind < 900:
            yield (
                f"WARN {fetcher} Received UNKNOWN_TOPIC_OR_PARTITION from the leader for partition {partition}. This error may be returned "
                "transiently when the partition is being created or deleted, but it is not expected to persist. (kafka.server.ReplicaFetcherThread)"
            )
        elif kind < 998:
            yield (
                f"INFO [Log partition={partition}, dir=/var/lib/kafka] Rolled new log segment at offset {number} in {kind % 9} ms. (kafka.log.Log)"
            )
        else:
            isr = "1,2,3" if kind % 2 else f"{broker},{other}"
            yield f"INFO [Partition {partition} broker={broker}] ISR updated to {isr} and version updated to [{number}] (kafka.cluster.Partition)"
