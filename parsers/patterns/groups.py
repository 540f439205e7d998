"""Lines of group coordinators: names of groups and the partitions of __consumer_offsets that keep their offsets.

Here: the lines of kafka.coordinator.group.GroupCoordinator (to 3.9) and of its successor's GroupMetadataManager (KIP-848) that name
both. Not here: events inside a group, which are not evidence of replication.
"""

from __future__ import annotations

from parsers.patterns.pattern import Pattern, Sample

_PLACE = r"\((?P<topic>__consumer_offsets)-(?P<partition>\d+)\)"

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="group-kept",
        event="group-coordinated",
        literal=" (__consumer_offsets-",
        regex=r"(?:Preparing to (?:rebalance|restabilize) group (?P<value>\S+) (?:in state \w+ )?with old generation \d+ |"
        r"Stabilized group (?P<value>\S+) generation \d+ |Group (?P<value>\S+) with generation \d+ is (?:now empty|dead, skipping rebalance) )"
        + _PLACE
        + r".*",
        versions=("0.11.0", "3.9"),
        loggers=("kafka.coordinator.group.GroupCoordinator",),
        samples=(
            Sample(
                "[2026-11-21 07:58:32,677] INFO [GroupCoordinator 2]: Stabilized group console-consumer-96385 generation 1"
                " (__consumer_offsets-1) (kafka.coordinator.group.GroupCoordinator)",
                {"topic": "__consumer_offsets", "partition": 1, "value": "console-consumer-96385"},
                "real: kafka-console-consumer against 2.2.2",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [GroupCoordinator 2]: Preparing to rebalance group billing in state PreparingRebalance"
                " with old generation 7 (__consumer_offsets-12) (reason: Adding new member consumer-1 with group instance id None)"
                " (kafka.coordinator.group.GroupCoordinator)",
                {"topic": "__consumer_offsets", "partition": 12, "value": "billing"},
                "source: 2.8 GroupCoordinator",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [GroupCoordinator 2]: Group billing with generation 8 is now empty"
                " (__consumer_offsets-12) (kafka.coordinator.group.GroupCoordinator)",
                {"topic": "__consumer_offsets", "partition": 12, "value": "billing"},
                "source: 2.8 GroupCoordinator",
            ),
        ),
    ),
    Pattern(
        name="group-kept-by-shard",
        event="group-coordinated",
        literal=" topic=__consumer_offsets partition=",
        regex=r"(?:\[Group(?:Id)? (?P<value>[^\]]+)\] .+|Preparing to rebalance group (?P<value>\S+) in state \w+ with old generation .*|"
        r"Stabilized group (?P<value>\S+) generation .*|Group (?P<value>\S+) with generation \d+ is now empty\.)",
        versions=("3.7", "4.4"),
        loggers=("org.apache.kafka.coordinator.group.GroupMetadataManager",),
        samples=(
            Sample(
                "[2026-11-21 07:58:32,677] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=1] Stabilized group"
                " console-consumer-96385 generation 1 with 1 members. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                {"node": 2, "topic": "__consumer_offsets", "partition": 1, "value": "console-consumer-96385"},
                "real: rolling-restart-4.1.1-kraft",
            ),
            Sample(
                "[2026-11-21 07:58:32,677] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=1] Group console-consumer-96385"
                " with generation 2 is now empty. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                {"topic": "__consumer_offsets", "partition": 1, "value": "console-consumer-96385"},
                "real: rolling-restart-4.1.1-kraft",
            ),
            Sample(
                "[2026-11-21 07:58:32,677] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=1] Preparing to rebalance group"
                " console-consumer-96385 in state PreparingRebalance with old generation 1 (reason: explicit `LeaveGroup` request for"
                " (console-consumer-c) members.). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                {"topic": "__consumer_offsets", "partition": 1, "value": "console-consumer-96385"},
                "real: rolling-restart-4.1.1-kraft",
            ),
            Sample(
                "[2026-11-21 07:58:32,677] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=1] [Group console-consumer-96385]"
                " Member console-consumer-c has left group through explicit `LeaveGroup` request; client reason: the consumer is being"
                " closed (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                {"topic": "__consumer_offsets", "partition": 1, "value": "console-consumer-96385"},
                "real: rolling-restart-4.1.1-kraft",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=12] [GroupId billing eu] Bumped"
                " group epoch to 7. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                {"node": 2, "topic": "__consumer_offsets", "partition": 12, "value": "billing eu"},
                "source: 3.9 GroupMetadataManager",
            ),
        ),
        note="Each partition has a shard, and the lines of the shard begin with the partition (CoordinatorRuntime). 4.1 shortened GroupId "
        "to Group.",
    ),
)
