"""offset-commit-loss: the groups that are hurt, by the lines of whichever coordinator keeps them."""

from __future__ import annotations

import pytest

from forensics.exemplars import exemplars_of
from forensics.words import words
from tests.forensics.staged import of, report

OLD = "[GroupCoordinator 3]: Stabilized group billing generation 1 (__consumer_offsets-0) (kafka.coordinator.group.GroupCoordinator)"
MANAGER = "(org.apache.kafka.coordinator.group.GroupMetadataManager)"
SHARD = "[GroupCoordinator id=3 topic=__consumer_offsets partition={}]"


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (OLD, True),
        (f"{SHARD.format(0)} Stabilized group billing generation 1 with 1 members. {MANAGER}", True),
        (f"{SHARD.format(0)} [GroupId billing] Bumped group epoch to 7. {MANAGER}", True),
        (f"{SHARD.format(0)} [Group billing] Member m left the consumer group. {MANAGER}", True),
        (f"{SHARD.format(1)} Stabilized group billing generation 1 with 1 members. {MANAGER}", False),
    ],
    ids=["to 3.9", "classic group from 4.0", "consumer group to 4.0", "from 4.1", "of another partition"],
)
def test_groups_are_named(line: str, named: bool) -> None:
    lost = next(e for e in exemplars_of("offset-commit-loss") if e.name == "commits-lost")
    own = "broker-3/logs/server.log"
    files = {**lost.files, own: f"[2026-11-21 01:53:12,677] INFO {line}\n".encode()}
    (found,) = of(report(files, lost.modified), "offset-commit-loss")
    assert words(found).summary.endswith("groups kept there: billing") == named


@pytest.mark.parametrize(
    ("topic", "what"),
    [("__share_group_state", "states of share groups"), ("__transaction_state", "states of transactions"), ("__consumer_timestamps", None)],
)
def test_each_internal_topic_in_its_own_words(topic: str, what: str | None) -> None:
    lost = next(e for e in exemplars_of("offset-commit-loss") if e.name == "commits-lost")
    renamed = {path: content.replace(b"__consumer_offsets", topic.encode()) for path, content in lost.files.items()}
    found = of(report(renamed, lost.modified), "offset-commit-loss")
    assert [what in words(f).summary for f in found if what is not None] == ([True] if what is not None else []) and len(found) == (
        what is not None
    )


@pytest.mark.parametrize(("version", "named"), [("2.8.2", False), ("3.0.0", True)])
def test_the_tool_that_finds_hanging_transactions_came_with_3_0(version: str, named: bool) -> None:
    """bin/kafka-transactions.sh is in the branch 3.0 of apache/kafka and not in 2.8; it needs --topic or --broker-id."""
    lost = next(e for e in exemplars_of("offset-commit-loss") if e.name == "commits-lost")
    files = {path: content.replace(b"__consumer_offsets", b"__transaction_state") for path, content in lost.files.items()}
    started = f"[2026-11-21 01:53:00,000] INFO Kafka version: {version} (org.apache.kafka.common.utils.AppInfoParser)\n".encode()
    files = {path: started + content if path.endswith("server.log") else content for path, content in files.items()}
    (found,) = of(report(files, lost.modified), "offset-commit-loss")
    assert any("find-hanging --broker-id" in step for step in words(found).next_steps) == named
