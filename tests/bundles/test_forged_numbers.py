"""One number of a recording is another one: no claim is surer, and what contradicts the number is named (tests.support.forged)."""

from __future__ import annotations

import re

import pytest

from tests.support.forged import chosen, edits, noticed, surer
from tests.support.shapes import Files, bundle
from tests.support.taken import Judged, judged, report, whole_of

UNCLEAN, UNCLEAN_ZK, ACKS1 = "unclean-election-4.3.0-kraft", "unclean-election-2.8.2-zk", "acks1-failover-3.9.1-kraft"
SAMPLE = (UNCLEAN, UNCLEAN_ZK, ACKS1, "clean-failover-2.8.2-zk", "rolling-restart-4.1.1-kraft")
EACH, EVERY = 1, 5
"""Of each kind of number one, dealt to the bundles, for time's sake."""


@pytest.mark.parametrize("name", SAMPLE)
def test_one_other_number_makes_nothing_surer(name: str) -> None:
    files, whole = bundle(name), whole_of(name)
    for edit in chosen(files, name, EACH)[SAMPLE.index(name) % EVERY :: EVERY]:
        assert list(surer(judged(report(edit.of(files))), whole)) == [], f"{edit.path} {edit.place}"


def judged_with(name: str, path: str, old: bytes, new: bytes) -> tuple[Judged, set[str]]:
    """The report, and the sentences about contradictions in it."""
    files: Files = bundle(name)
    content, count = re.subn(old, new, files[path].content)
    assert count == 1
    part = judged(report(files | {path: files[path]._replace(content=content)}))
    return part, {c.summary for c in noticed(part, whole_of(name))}


LOAD = b"(partition=0, highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset)=352"


@pytest.mark.parametrize(
    ("name", "path", "old", "new", "values"),
    [
        (UNCLEAN, "broker-3/logs/server.log", LOAD, rb"\1=652", ("652", "352", "server.log:1356", "state-change.log:31")),
        (
            UNCLEAN,
            "broker-3/logs/server.log",
            rb"(ProducerStateManager partition=orders-0\] Wrote producer snapshot at offset) 352",
            rb"\1 652",
            ("652", "352", "server.log:1347", "server.log:1356"),
        ),
        (
            UNCLEAN,
            "broker-1/logs/state-change.log",
            rb"(Leader orders-0 .* starts at leader epoch 1 from offset) 200",
            rb"\1 350",
            ("350", "200", "state-change.log:34", "broker-1/data/orders-0/leader-epoch-checkpoint:4"),
        ),
        (
            UNCLEAN,
            "broker-1/logs/state-change.log",
            rb"(Leader orders-0 .* starts at leader epoch 1 .* ISR) \[1\]",
            rb"\1 [1,2,3]",
            ("ISR 1, 2, 3", "ISR 1 ", "state-change.log:34", "__cluster_metadata-0"),
        ),
        (
            UNCLEAN,
            "broker-3/logs/server.log",
            rb"(UnifiedLog partition=orders-0, dir=\S+ Truncating to offset) 200 \(",
            rb"\1 250 (",
            ("200", "250", "server.log:1384", "server.log:1386"),
        ),
        (
            UNCLEAN_ZK,
            "broker-2/logs/state-change.log",
            rb"(Leader orders-0 starts at leader epoch 2 from offset) 200",
            rb"\1 500",
            ("500", "358", "state-change.log:86", "server.log:1292"),
        ),
    ],
)
def test_both_numbers_are_named_with_their_places(name: str, path: str, old: bytes, new: bytes, values: tuple[str, ...]) -> None:
    part, said = judged_with(name, path, old, new)
    assert any(all(value in sentence for value in values) for sentence in said), said
    assert list(surer(part, whole_of(name))) == []


@pytest.mark.parametrize(
    ("path", "old", "new", "said"),
    [
        (
            "broker-1/data/replication-offset-checkpoint",
            b"orders 0 256",
            b"orders 0 900",
            "the checkpointed high watermark 900 is beyond the log",
        ),
        (
            "broker-1/data/orders-0/leader-epoch-checkpoint",
            b"1 200",
            b"1 240",
            "says epoch 1 starts at 240, but the log has a record of epoch 1",
        ),
        ("broker-1/data/orders-0/leader-epoch-checkpoint", b"2\n0 0\n1 200", b"1\n0 0", "its log has records of epoch 1"),
        (
            "broker-1/data/orders-0/leader-epoch-checkpoint",
            b"2\n0 0\n1 200",
            b"3\n0 0\n1 200\n2 300",
            "epoch 2 starts at 300, but the log ends at 256",
        ),
    ],
)
def test_files_of_a_running_broker_whose_log_was_not_written_to(path: str, old: bytes, new: bytes, said: str) -> None:
    _, found = judged_with(UNCLEAN, path, old, new)
    assert any(said in sentence for sentence in found), found


@pytest.mark.parametrize(("kind", "said"), [("epoch of a batch", "is of leader epoch"), ("appended batches", "ends at offset")])
def test_a_log_against_those_of_other_replicas(kind: str, said: str) -> None:
    files = bundle(UNCLEAN)
    edit = next(e for e in edits(files)[kind] if e.path.startswith("broker-2/data/orders-0"))
    found = noticed(judged(report(edit.of(files))), whole_of(UNCLEAN))
    assert any(said in c.summary for c in found), found
