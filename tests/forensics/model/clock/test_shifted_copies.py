"""Which logs of a broker are one log with different times, and which of the times count."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from forensics.model.cluster.facts import Cluster
from forensics.rules import rule_of
from forensics.words import words
from tests.forensics.staged import START, table
from tests.support import local

UTC_MS = (START - datetime(1970, 1, 1)) // timedelta(milliseconds=1)
LINES = (
    (0, "[KafkaServer id=1] starting (kafka.server.KafkaServer)"),
    (1.204, "[ZooKeeperClient Kafka server] Connected. (kafka.zookeeper.ZooKeeperClient)"),
    (3.811, "Registered broker 1 at path /brokers/ids/1 with addresses: A (kafka.zk.KafkaZkClient)"),
    (5.402, "[KafkaServer id=1] started (kafka.server.KafkaServer)"),
    (63.007, "[KafkaServer id=1] shutting down (kafka.server.KafkaServer)"),
)
STATED = (5.4, f"Kafka startTimeMs: {UTC_MS + 5400} (org.apache.kafka.common.utils.AppInfoParser)")


def log(by: timedelta, lines: Sequence[tuple[float, str]] = LINES, *, seconds: bool = False) -> str:
    times = [START + by + timedelta(seconds=at) for at, _ in lines]
    shown = [at.replace(microsecond=0) if seconds else at for at in times]
    return "".join(f"[{at:%F %T},{at.microsecond // 1000:03}] INFO {text}\n" for at, (_, text) in zip(shown, lines, strict=True))


def shifted(files: dict[str, str], modified: dict[str, datetime] | None = None) -> tuple[dict[str, timedelta], Cluster]:
    cluster, _ = local.gathered(table(files, modified))
    return {s.path: timedelta(milliseconds=s.shifted_ms) for s in cluster.sources if s.shifted_ms}, cluster


LOG, COPY = "broker-1/logs/server.log", "export/broker-1/server.log"
HOURS, CLOCK = timedelta(hours=2), timedelta(minutes=-7)


@pytest.mark.parametrize(("by", "expected"), [(HOURS, {LOG: -HOURS}), (CLOCK, {COPY: CLOCK})], ids=["zone", "clock"])
def test_times_count_that_fit_the_utc_that_kafka_printed(by: timedelta, expected: dict[str, timedelta]) -> None:
    """Both logs fit if they are in two zones: then the longer one counts."""
    lines = sorted((*LINES, STATED))
    found, cluster = shifted({LOG: log(timedelta(0), lines[:-1]), COPY: log(by, lines)}, {COPY: START + timedelta(days=3)})
    assert found == expected
    assert [run.begin_at for run in cluster.nodes[1].runs] == [START]
    assert [e.at for e in cluster.of("broker-stopping")] == [START + timedelta(seconds=63.007)]


def test_times_count_that_fit_the_modification_time() -> None:
    files = {LOG: log(timedelta(0), LINES[:-1]), COPY: log(CLOCK)}
    found, cluster = shifted(files, {LOG: START + timedelta(seconds=5), COPY: START + timedelta(days=3)})
    assert found == {COPY: CLOCK}
    assert [run.begin_at for run in cluster.nodes[1].runs] == [START]
    assert [e.at for e in cluster.of("broker-stopping")] == [START + timedelta(seconds=63.007)], "only the copy has this line"


def test_clock_is_as_uncertain_as_two_times_of_which_nothing_shows_the_right_one() -> None:
    found, cluster = shifted({LOG: log(timedelta(0)), COPY: log(HOURS, LINES[:-1])})
    assert found == {COPY: HOURS}
    assert cluster.nodes[1].clock.uncertainty_ms == HOURS // timedelta(milliseconds=1)
    (conflict,) = rule_of("evidence-conflict").cluster(cluster, ())  # type: ignore[misc]
    assert words(conflict).summary == f"{COPY} repeats lines of other logs of broker 1 with times 2.0 h later"
    assert "Nothing in the evidence shows which times are right." in words(conflict).explanation


def test_two_starts_in_about_one_rhythm_are_two() -> None:
    again = [(at + 0.004 * n, text) for n, (at, text) in enumerate(LINES)]
    for seconds, by in ((False, HOURS), (True, timedelta(hours=2, seconds=9))):
        found, cluster = shifted({f"{LOG}.1": log(timedelta(0), seconds=seconds), LOG: log(by, again, seconds=seconds)})
        assert found == {}
        assert len(cluster.nodes[1].runs) == 2


def test_logs_of_one_directory_have_the_times_of_its_copies() -> None:
    """A log without a line that another log has is in the directory of one that has them."""
    own = log(HOURS, [(70.1, "[LogDirFailureHandler] Stopping serving logs in dir /d (kafka.log.LogManager)")])
    found, _ = shifted({LOG: log(timedelta(0)), COPY: log(HOURS, LINES[:-1]), "export/broker-1/controller.log": own})
    assert found == {COPY: HOURS, "export/broker-1/controller.log": HOURS}
