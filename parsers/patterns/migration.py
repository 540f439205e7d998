"""The migration of a cluster from ZooKeeper to KRaft (KIP-866), 3.4 to 3.9.

Here: the driver that copies the metadata and writes them to both (KRaftMigrationDriver), the state that the quorum keeps, and brokers that
run in migration mode. Not here: the setting that turns it on (brokers), or the record of the state (parsers.formats.metadata_log).
"""

from __future__ import annotations

from parsers.patterns.pattern import Pattern, Sample

_DRIVER = ("org.apache.kafka.metadata.migration.KRaftMigrationDriver",)
_FEATURES = ("org.apache.kafka.controller.FeatureControlManager",)
_SERVER = ("kafka.server.KafkaServer",)

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="migration-driver",
        event="migration-step",
        literal=" transitioning from ",
        regex=r"\d+ transitioning from (?P<value>\w+) to (?P<reason>\w+) state",
        versions=("3.6", "3.9"),
        loggers=_DRIVER,
        samples=(
            Sample(
                "[2026-11-25 20:40:42,389] INFO [KRaftMigrationDriver id=101] 101 transitioning from KRAFT_CONTROLLER_TO_BROKER_COMM to"
                " DUAL_WRITE state (org.apache.kafka.metadata.migration.KRaftMigrationDriver)",
                {"node": 101, "value": "KRAFT_CONTROLLER_TO_BROKER_COMM", "reason": "DUAL_WRITE"},
                "real: migration-3.9.1-zk",
            ),
        ),
        note="At DEBUG before 3.6.",
    ),
    Pattern(
        name="migration-copying",
        event="migration-step",
        literal="Starting ZK migration",
        regex=r"Starting ZK migration",
        versions=("3.4", "3.9"),
        loggers=_DRIVER,
        fixed={"reason": "copying"},
        samples=(
            Sample(
                "[2026-11-25 20:40:41,705] INFO [KRaftMigrationDriver id=101] Starting ZK migration"
                " (org.apache.kafka.metadata.migration.KRaftMigrationDriver)",
                {"node": 101, "reason": "copying"},
                "real: migration-3.9.1-zk",
            ),
        ),
    ),
    Pattern(
        name="migration-copied",
        event="migration-step",
        literal="Completed migration of metadata from Zoo",
        regex=r"Completed migration of metadata from Zoo[Kk]eeper to KRaft\. .* Saw (?P<count>\d+) brokers in the migrated metadata .*",
        versions=("3.4", "3.9"),
        loggers=_DRIVER,
        fixed={"reason": "copied"},
        samples=(
            Sample(
                "[2026-11-25 20:40:42,212] INFO [KRaftMigrationDriver id=101] Completed migration of metadata from ZooKeeper to KRaft. 5 records"
                " were generated in 505 ms across 1 batches. The average time spent waiting on a batch was 83.00 ms. The record types were"
                " {TOPIC_RECORD=1, PARTITION_RECORD=3, CONFIG_RECORD=1}. The current metadata offset is now 98 with an epoch of 6. Saw 3"
                " brokers in the migrated metadata [1, 2, 3]. (org.apache.kafka.metadata.migration.KRaftMigrationDriver)",
                {"node": 101, "reason": "copied", "count": 3},
                "real: migration-3.9.1-zk",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [KRaftMigrationDriver id=3000] Completed migration of metadata from Zookeeper to KRaft. A total"
                " of 12 metadata records were generated. The current metadata offset is now 40 with an epoch of 2. Saw 3 brokers in the"
                " migrated metadata [0, 1, 2]. (org.apache.kafka.metadata.migration.KRaftMigrationDriver)",
                {"node": 3000, "reason": "copied", "count": 3},
                "source: 3.4 KRaftMigrationDriver",
            ),
        ),
    ),
    Pattern(
        name="migration-aborted",
        event="migration-step",
        literal="the metadata migration from ZooKeeper to KRaft",
        regex=r"Aborting the metadata migration from ZooKeeper to KRaft\. (?P<value>.*)",
        versions=("3.6", "3.9"),
        loggers=_DRIVER,
        fixed={"reason": "aborted"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [KRaftMigrationDriver id=3000] Aborting the metadata migration from ZooKeeper to KRaft. 0"
                " records have been generated. (org.apache.kafka.metadata.migration.KRaftMigrationDriver)",
                {"node": 3000, "reason": "aborted", "value": "0 records have been generated."},
                "source: 3.9 KRaftMigrationDriver",
            ),
        ),
    ),
    Pattern(
        name="migration-waits",
        event="migration-step",
        literal="Still waiting for ",
        regex=r"Still waiting for (?P<value>all controller nodes ready to begin the migration\..*|ZK brokers \[?.* to register with KRaft)\.?",
        versions=("3.4", "3.9"),
        loggers=_DRIVER,
        fixed={"reason": "waiting"},
        samples=(
            Sample(
                "[2026-11-25 20:40:20,649] INFO [KRaftMigrationDriver id=101] Still waiting for ZK brokers [1, 2] to register with KRaft."
                " (org.apache.kafka.metadata.migration.KRaftMigrationDriver)",
                {"node": 101, "reason": "waiting", "value": "ZK brokers [1, 2] to register with KRaft"},
                "real: migration-3.9.1-zk",
            ),
            Sample(
                "[2026-11-25 20:40:04,304] WARN [KRaftMigrationDriver id=101] Still waiting for all controller nodes ready to begin the"
                " migration. Not ready due to:No registration found for controller 102"
                " (org.apache.kafka.metadata.migration.KRaftMigrationDriver)",
                {"node": 101, "reason": "waiting"},
                "real: migration-3.9.1-zk",
            ),
        ),
    ),
    Pattern(
        name="migration-waits-for-brokers",
        event="migration-step",
        literal=", waiting for brokers to register.",
        regex=r"No brokers are (?P<value>known to KRaft|registered in ZK), waiting for brokers to register\.",
        versions=("3.5", "3.9"),
        loggers=_DRIVER,
        fixed={"reason": "waiting"},
        samples=(
            Sample(
                "[2026-11-25 20:40:11,151] INFO [KRaftMigrationDriver id=101] No brokers are known to KRaft, waiting for brokers to register."
                " (org.apache.kafka.metadata.migration.KRaftMigrationDriver)",
                {"node": 101, "reason": "waiting", "value": "known to KRaft"},
                "real: migration-3.9.1-zk",
            ),
        ),
    ),
    Pattern(
        name="migration-refused",
        event="migration-step",
        literal="igration",
        regex=r"(?P<value>The controller's ZkMigrationState is NONE which means .*|KRaft controller indicates (?:an active|a completed) migration, but .*"
        r"|Could not start the migration)",
        versions=("3.5", "3.9"),
        loggers=_DRIVER,
        fixed={"reason": "refused"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [KRaftMigrationDriver id=3000] The controller's ZkMigrationState is NONE which means this"
                " cluster should not be migrated from ZooKeeper. This controller should not be configured with"
                " 'zookeeper.metadata.migration.enable' set to true. Will not proceed with a migration."
                " (org.apache.kafka.metadata.migration.KRaftMigrationDriver)",
                {"node": 3000, "reason": "refused"},
                "source: 3.9 KRaftMigrationDriver",
            ),
        ),
    ),
    Pattern(
        name="migration-zookeeper-failed",
        event="migration-step",
        literal="Encountered ZooKeeper error during event ",
        regex=r"Encountered ZooKeeper error during event (?P<value>.*)\. Will retry\.",
        versions=("3.5", "3.9"),
        loggers=_DRIVER,
        fixed={"reason": "zookeeper-failed"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [KRaftMigrationDriver id=3000] Encountered ZooKeeper error during event PollEvent. Will retry."
                " (org.apache.kafka.metadata.migration.KRaftMigrationDriver)",
                {"node": 3000, "reason": "zookeeper-failed", "value": "PollEvent"},
                "source: 3.9 KRaftMigrationDriver",
            ),
        ),
    ),
    Pattern(
        name="migration-state",
        event="migration-state",
        literal=" migration state from ",
        regex=r"(?:Transitioning ZK|Replayed a ZkMigrationStateRecord changing the) migration state from \w+ to (?P<value>\w+)\.?",
        versions=("3.5", "3.9"),
        loggers=_FEATURES,
        samples=(
            Sample(
                "[2026-11-25 20:40:42,161] INFO [QuorumController id=101] Replayed a ZkMigrationStateRecord changing the migration state from"
                " PRE_MIGRATION to MIGRATION. (org.apache.kafka.controller.FeatureControlManager)",
                {"node": 101, "value": "MIGRATION"},
                "source: 3.9 org.apache.kafka.controller.FeatureControlManager",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] INFO [QuorumController id=3000] Transitioning ZK migration state from NONE to PRE_MIGRATION"
                " (org.apache.kafka.controller.FeatureControlManager)",
                {"node": 3000, "value": "PRE_MIGRATION"},
                "source: 3.5 org.apache.kafka.controller.FeatureControlManager",
            ),
        ),
        note="Every controller prints it, and again when it reads the metadata log after a restart.",
    ),
    Pattern(
        name="broker-migrating",
        event="broker-migrating",
        literal="Starting up additional components for ZooKeeper migration",
        regex=r"Starting up additional components for ZooKeeper migration",
        versions=("3.4", "3.9"),
        loggers=_SERVER,
        fixed={"reason": "started"},
        samples=(
            Sample(
                "[2026-11-25 20:40:39,974] INFO Starting up additional components for ZooKeeper migration (kafka.server.KafkaServer)",
                {"reason": "started"},
                "source: 3.9 kafka.server.KafkaServer",
            ),
        ),
    ),
    Pattern(
        name="broker-migrating-log",
        event="broker-migrating",
        literal="Deleting local metadata log from ",
        regex=r"Deleting local metadata log from (?P<directory>.*) since this is a ZK broker in migration mode\.",
        versions=("3.7", "3.9"),
        loggers=_SERVER,
        fixed={"reason": "metadata-log-deleted"},
        samples=(
            Sample(
                "[2026-11-25 20:40:40,031] INFO Deleting local metadata log from /var/lib/kafka/broker-1/data since this is a ZK broker in"
                " migration mode. (kafka.server.KafkaServer)",
                {"directory": "/var/lib/kafka/broker-1/data", "reason": "metadata-log-deleted"},
                "source: 3.9 kafka.server.KafkaServer",
            ),
        ),
        note="The broker reads the whole metadata log again: nothing was lost.",
    ),
)
