"""Known failures of Kafka on real evidence: none is found where none was, and those that were are found."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache

import pytest

from forensics.model.findings import Finding
from forensics.words import words
from tests.forensics import staged
from tests.support import local, recorded
from tests.support.each import for_each
from tests.support.paths import BUNDLES

EPOCHS, INCONSISTENT = "epoch-history-damaged", "checkpoint-inconsistent"
KINDS = frozenset(
    {
        EPOCHS,
        INCONSISTENT,
        "client-side-echo",
        "config-drift",
        "empty-replica-joins",
        "halted-on-truncation",
        "hw-regression",
        "log-divergence",
        "log-wiped-at-load",
        "offset-commit-loss",
        "raft-truncation",
        "stale-controller",
        "stale-isr-candidate",
        "stray-removed",
        "transaction-marker-loss",
        "truncate-to-start",
    }
)
MARKERS: set[tuple[str, str, str | None]] = {("transaction-marker-loss", "high", "orders")}
"""Markers of a committed transaction and an aborted one went with what was lost."""
FOUND: Mapping[str, set[tuple[str, str, str | None]]] = {
    "clients-unclean-1.1.1-zk": MARKERS,
    "clients-unclean-3.9.1-kraft": MARKERS,
    "clients-unclean-4.2.0-kraft": MARKERS,
    "producers-left-down-2.8.2-zk": MARKERS,
    "producers-left-down-3.9.1-kraft": MARKERS,
    "isr-flapping-2.8.2-zk": {("stale-controller", "medium", None)},
    "loser-moved-away-3.8.1-kraft-combined": {("stray-removed", "info", "orders")},
    "power-loss-divergence-0.10.2.2-zk": {("log-divergence", "critical", "bank")},
    "unclean-election-0.8.2.2-zk": {("log-divergence", "critical", "orders")},
    "unclean-election-0.10.2.2-zk": {("log-divergence", "critical", "orders")},
    "wiped-zookeeper-1.1.1-zk": {("epoch-history-damaged", "medium", "ledger")},
    "wiped-zookeeper-outlived-2.3.1-zk": {
        ("stale-controller", "medium", None),
        ("epoch-history-damaged", "medium", "ledger"),
        ("epoch-history-damaged", "high", "ledger"),
        ("truncate-to-start", "medium", "ledger"),
    },
}
"""Kind, severity, topic; nothing of KINDS in bundles that are not named."""
NAMES = sorted(p.name.removesuffix(".tar.gz") for p in BUNDLES.glob("*.tar.gz"))


@cache
def findings(bundle: str) -> tuple[Finding, ...]:
    return tuple(f for f in local.spread(recorded.report(bundle).findings) if f.kind in KINDS)


@for_each(NAMES)
def test_what_is_found_in_a_real_bundle(bundle: str) -> None:
    assert {(f.kind, f.severity, f.topic) for f in findings(bundle)} == FOUND.get(bundle, set())


def test_the_bundles_that_have_something_are_there() -> None:
    assert set(FOUND) <= set(NAMES)


def test_the_stale_controller_is_the_one_that_was_frozen() -> None:
    (found,) = findings("isr-flapping-2.8.2-zk")
    assert found.brokers == (1,) and all("from an old controller 1" in e.text for e in found.evidence[:2])


@pytest.mark.parametrize(
    ("bundle", "said"),
    [("power-loss-divergence-0.10.2.2-zk", "second case of KIP-101"), ("unclean-election-0.10.2.2-zk", "elected from outside the ISR")],
)
def test_a_divergence_before_leader_epochs_says_which_case_it_is(bundle: str, said: str) -> None:
    found = findings(bundle)
    assert found and all(said in words(f).explanation for f in found)


# what contradicts itself


HW = "broker-1/data/replication-offset-checkpoint"
START = "broker-1/data/log-start-offset-checkpoint"
EPOCH_FILE = "broker-1/data/t-0/leader-epoch-checkpoint"
SEGMENT = "broker-1/data/t-0/00000000000000000240.log"
META: dict[str, str | bytes] = {"broker-1/data/meta.properties": "broker.id=1\nversion=0\ncluster.id=S__m9uKITl2lDhWYpvDFyw\n"}


def minute(n: int) -> datetime:
    return staged.START + timedelta(minutes=n)


def findings_of(files: staged.Files, modified: Mapping[str, int]) -> list[tuple[str, str]]:
    report = staged.report({**META, **files}, {path: minute(n) for path, n in modified.items()})
    return [(f.kind, words(f).summary) for f in report.findings if f.kind in (EPOCHS, INCONSISTENT)]


@pytest.mark.parametrize(("hw_at", "start_at", "found"), [(3, 2, True), (2, 3, False)])
def test_a_log_start_above_a_high_watermark_written_later(hw_at: int, start_at: int, found: bool) -> None:
    files: dict[str, str | bytes] = {HW: "0\n1\nt 0 200\n", START: "0\n1\nt 0 220\n", SEGMENT: b""}
    assert bool(findings_of(files, {HW: hw_at, START: start_at, SEGMENT: 1})) == found


@pytest.mark.parametrize("last", ["stopped", "running"])
def test_files_of_a_running_broker_were_not_copied_at_one_moment(last: str) -> None:
    lines = f"[{staged.at(0)}] INFO starting (kafka.server.KafkaServer)\n[{staged.at(5)}] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
    if last == "stopped":
        lines += f"[{staged.at(200)}] INFO [KafkaServer id=1] shutting down (kafka.server.KafkaServer)\n"
        lines += f"[{staged.at(210)}] INFO [KafkaServer id=1] shut down completed (kafka.server.KafkaServer)\n"
    files: dict[str, str | bytes] = {HW: "0\n1\nt 0 300\n", SEGMENT: b"", "broker-1/logs/server.log": lines}
    assert bool(findings_of(files, {HW: 3, SEGMENT: 2})) == (last == "stopped")


def test_a_line_that_has_the_high_watermark_beyond_the_log() -> None:
    story = staged.Story()
    story.leads(1, 10, 3, 240, 250, [1])
    assert [words(f).summary for f in staged.of(staged.report(story.files), INCONSISTENT)] == [
        "t-0 on broker 1: its own line has the high watermark 250 beyond the log, which ends at 240"
    ]
    story = staged.Story()
    story.leads(1, 10, 3, 240, 240, [1])
    assert staged.of(staged.report(story.files), INCONSISTENT) == []


def test_an_epoch_beyond_the_log_is_told_once() -> None:
    files: dict[str, str | bytes] = {EPOCH_FILE: "0\n2\n0 0\n2 250\n", HW: "0\n1\nt 0 240\n", SEGMENT: b""}
    found = findings_of(files, {EPOCH_FILE: 3, HW: 1, SEGMENT: 2})
    assert [kind for kind, _ in found] == [EPOCHS]
    assert findings_of(files, {EPOCH_FILE: 1, HW: 1, SEGMENT: 2}) == []


def test_a_high_watermark_that_fell_between_two_collections() -> None:
    def collected(name: str, hw: int, base: int) -> dict[str, str | bytes]:
        data = f"{name}/broker-1/data"
        return {
            f"{data}/meta.properties": META["broker-1/data/meta.properties"],
            f"{data}/replication-offset-checkpoint": f"0\n1\nt 0 {hw}\n",
            f"{data}/t-0/{base:020}.log": b"",
        }

    before, after = collected("monday", 300, 300), collected("tuesday", 200, 200)
    modified = {**{p: minute(1) for p in before}, **{p: minute(60) for p in after}}
    found = staged.of(staged.report({**before, **after}, modified), "hw-regression")
    assert [(f.brokers, "from 300 to 200" in words(f).summary) for f in found] == [((1,), True)]
    grown = {**before, **collected("tuesday", 200, 310)}
    assert staged.of(staged.report(grown, {p: minute(1 if "monday" in p else 60) for p in grown}), "hw-regression") == []


# the low watermark


def test_the_low_watermark_is_the_smallest_log_start_of_all_replicas() -> None:
    story = staged.Story()
    story.leads(1, 0, 0, 0, 0, [1, 2])
    files: dict[str, str | bytes] = {
        **story.files,
        **{f"broker-{b}/data/meta.properties": f"broker.id={b}\nversion=0\ncluster.id=S__m9uKITl2lDhWYpvDFyw\n" for b in (1, 2)},
        "broker-1/data/log-start-offset-checkpoint": "0\n1\nt 0 250\n",
        "broker-1/data/t-0/00000000000000000240.log": b"",
        "broker-2/data/t-0/00000000000000000200.log": b"",
    }
    timeline, _ = staged.timeline(files)
    assert (timeline.log_start(1), timeline.log_start(2), timeline.low_watermark) == (250, 200, 200)
    del files["broker-2/data/t-0/00000000000000000200.log"]
    assert staged.timeline(files)[0].low_watermark is None
