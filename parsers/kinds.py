"""The kinds of events: what each states, of what, who states it and what part it plays.

Here: one record a kind, and the classes of kinds that follow: who reads a class asks for it by these attributes, so that a new kind is
in it at once. Not here: the columns of an event (schemas), or what follows from one (spark, forensics).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, Flag, auto


class Scope(Enum):
    """What the fact is of. All but those of a partition are gathered on the driver, with the exceptions UNGATHERED names."""

    PARTITION = auto()
    TOPIC = auto()
    BROKER = auto()
    CLUSTER = auto()
    EVIDENCE = auto()


class By(Flag):
    """Who states it; several, where one kind is read from the words of several."""

    LEADER = auto()
    FOLLOWER = auto()
    REPLICA = auto()
    """A broker of a replica it has, in whatever role (ReplicaManager, Partition)."""
    LOG = auto()
    """kafka.log, which names the directory: the copy that a move between directories fills prints the same."""
    COORDINATOR = auto()
    BROKER = auto()
    CONTROLLER = auto()
    RECORD = auto()
    """A record of KRaft's metadata log, of which every node has a copy."""
    FILE = auto()
    """A file on a broker's disk."""
    ZOOKEEPER = auto()
    TOOL = auto()
    CLIENT = auto()
    RUNTIME = auto()
    """The JVM."""
    READER = auto()
    """We, of what we read."""


class Role(Flag):
    """What part it plays; PLAIN: one of its own."""

    PLAIN = 0
    START = auto()
    STATE = auto()
    REFUSED = auto()
    ISR_INTENT = auto()
    ISR = auto()
    """A change of the ISR that took effect."""
    ISR_REFUSED = auto()
    APPEND = auto()
    """A produce that was refused or failed."""
    LOAD = auto()
    CUT = auto()
    PLAN = auto()
    """A follower says to where its log is to be cut."""
    EPOCH = auto()
    FETCHING = auto()
    FETCHING_ENDS = auto()
    FETCH_FAILS = auto()
    BEGINS = auto()
    UP = auto()
    ENDS = auto()
    LIFE_CYCLE = auto()
    MARKER = auto()
    """How a log directory was left."""
    REGISTERED = auto()
    LOST = auto()
    BACK = auto()
    STOP_SEEN = auto()
    PAUSE = auto()
    LOG_DIR = auto()
    """A log directory failed."""
    ELECTED = auto()
    SETTING = auto()
    TOPIC_MADE = auto()
    TOPIC_GOING = auto()
    TOPIC_GONE = auto()
    CHECKPOINT = auto()
    DESCRIPTION = auto()


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    scope: Scope
    by: By
    role: Role
    says: str


_DECLARED: Mapping[tuple[Scope, By, Role], Mapping[str, str]] = {
    # leadership
    (Scope.PARTITION, By.LEADER, Role.START): {"leader-start": "`node` begins to lead at leader_epoch; log_end_offset is its LEO then"},
    (Scope.PARTITION, By.FOLLOWER, Role.START): {
        "follower-start": "`node` begins to follow at leader_epoch; log_end_offset is its LEO then"
    },
    (Scope.PARTITION, By.REPLICA | By.CONTROLLER | By.ZOOKEEPER, Role.STATE): {
        "partition-state": "a partition's state as a controller decided or sent it, or a broker received it; reason is 'decided', 'sent', 'written' (a leader's ISR change), 'received', 'cached', or 'stored': read from its znode"
    },
    (Scope.PARTITION, By.CONTROLLER, Role.PLAIN): {
        "partition-transition": "the ZooKeeper controller's state machine moved the partition; reason is 'Old->New'",
        "unclean-election-said": "Kafka itself says that a leader was elected outside the ISR",
        "election-failed": "the controller found no replica it may elect",
        "election-requested": "an election was asked for; reason is PREFERRED or UNCLEAN, value who asked",
        "preferred-election": "a preferred leader election completed",
        "reassignment": "a reassignment step; reason is 'started', 'completed', 'failed' or 'waiting'",
    },
    (Scope.PARTITION, By.LEADER, Role.PLAIN): {
        "recovering-mark": "the new leader was told that its election was unclean (leaderRecoveryState)"
    },
    (Scope.PARTITION, By.FOLLOWER, Role.PLAIN): {
        "follower-kept": "`node`, told to follow `leader`, did so already and changes nothing: it neither truncates nor fetches anew"
    },
    (Scope.PARTITION, By.REPLICA, Role.REFUSED): {"become-refused": "a broker could not become leader or follower; reason says why"},
    # ISR
    (Scope.PARTITION, By.LEADER, Role.ISR_INTENT): {
        "isr-shrink": "a leader intends to shrink the ISR",
        "isr-expand": "a leader intends to expand the ISR",
    },
    (Scope.PARTITION, By.LEADER, Role.ISR): {"isr-update": "an ISR change took effect, as the leader that made it says"},
    (Scope.PARTITION, By.CONTROLLER, Role.ISR): {
        "isr-written": "an ISR change took effect, as the controller that wrote it for a leader says; broker is the leader, where it is named"
    },
    (Scope.PARTITION, By.LEADER | By.CONTROLLER, Role.ISR_REFUSED): {
        "isr-rejected": "an ISR change was refused: the leader is not the leader any more, or its view is old"
    },
    (Scope.PARTITION, By.LEADER, Role.APPEND): {
        "append-refused": "a produce was refused for too small an ISR; count is the required minimum",
        "append-error": "an append failed for another reason",
    },
    # the log
    (Scope.PARTITION, By.LOG, Role.LOAD): {
        "log-load": "a log was loaded at start-up; log_end_offset is exact after recovery",
        "log-recovery": "a segment is recovered because the last stop was unclean",
        "log-corruption": "recovery or reading met bytes that are no valid records",
        "log-created": "a log was created empty; reason 'future' for the copy a move between log directories fills (KIP-113)",
    },
    (Scope.PARTITION, By.REPLICA, Role.LOAD): {
        "hw-loaded": "HW a replica starts with, from its checkpoint, clamped to its log",
        "hw-missing": "no HW was checkpointed for the replica",
        "replica-added": "a broker takes up a replica of the partition, anew or at its start; topic_id as named",
    },
    (Scope.PARTITION, By.LOG, Role.PLAIN): {
        "log-moved": "the copy took the replica's place: its log lies in another log directory now, whole",
        "log-deleted": "a replica's directory was marked for deletion",
        "hw-regression": "HW went from previous_offset back to high_watermark",
        "segment-roll": "a new segment begins at offset, the LEO then",
        "segment-delete": "segments are deleted; reason is retention-time, retention-size, log-start, truncation, deletion, recovery, roll",
        "log-start-move": "log start offset moved; reason as Kafka gives it",
        "producer-snapshot": "producer state was written at offset, the LEO then",
    },
    (Scope.PARTITION, By.LOG, Role.CUT): {
        "truncation": "the log was cut to offset",
        "truncation-noop": "a truncation to offset changed nothing; log_end_offset is exact",
    },
    (Scope.PARTITION, By.LOG | By.FOLLOWER, Role.CUT): {"truncation-below-hw": "a follower truncates below its own HW"},
    (Scope.PARTITION, By.FOLLOWER, Role.PLAN): {
        "truncation-plan": "a follower decides to truncate; reason is 'leader-epoch' or 'high-watermark'",
        "fetch-offset-reset": "a follower moved its fetch offset from previous_offset to offset; reason is 'latest', 'start', 'local-end', or 'tier': its log begins there or beyond, the remote tier has what is below",
    },
    (Scope.BROKER, By.FOLLOWER, Role.PLAIN): {
        "truncation-refused": "a follower ahead of its leader stops rather than truncate (before 2.0)",
        "fetch-broken-off": "the connection to `broker` was lost in the midst of a fetch",
    },
    (Scope.PARTITION, By.LOG, Role.EPOCH): {
        "epoch-assigned": "an entry was appended to the leader epoch cache",
        "epoch-conflict": "a new epoch entry removed conflicting ones",
    },
    (Scope.PARTITION, By.FOLLOWER, Role.FETCHING): {"fetcher-added": "a fetcher from `broker` was started at offset"},
    (Scope.PARTITION, By.FOLLOWER, Role.FETCHING_ENDS): {"fetcher-removed": "fetching stopped"},
    (Scope.PARTITION, By.FOLLOWER, Role.FETCH_FAILS): {
        "fetch-error": "a fetch failed",
        "partition-failed": "a partition's fetching stopped for good",
    },
    (Scope.PARTITION, By.REPLICA, Role.PLAIN): {
        "topic-id-mismatch": "a replica's log is of another topic of that name: value is the id the cluster has for it, reason the log's"
    },
    # brokers
    (Scope.BROKER, By.BROKER, Role.BEGINS): {"broker-starting": "a broker process begins"},
    (Scope.BROKER, By.CONTROLLER, Role.BEGINS): {
        "controller-starting": "a KRaft node begins its controller; where it is a broker as well, its process began just before"
    },
    (Scope.BROKER, By.BROKER, Role.UP): {"broker-started": "a broker is up"},
    (Scope.BROKER, By.BROKER, Role.ENDS): {
        "broker-stopping": "an orderly stop begins",
        "broker-stopped": "an orderly stop is complete",
        "controlled-shutdown": "a broker hands over its leaderships; reason is 'start', 'done', 'retry' or 'failed'",
    },
    (Scope.BROKER, By.BROKER | By.CONTROLLER, Role.ENDS): {"broker-signal": "a process was asked to end by a signal"},
    (Scope.BROKER, By.BROKER, Role.LIFE_CYCLE): {"broker-state": "KRaft broker life cycle; reason is the new state"},
    (Scope.BROKER, By.BROKER, Role.MARKER): {
        "clean-start": "a log directory's last stop was clean",
        "unclean-start": "a log directory's last stop was not clean, or it is new (count 0 or null)",
    },
    (Scope.BROKER, By.BROKER, Role.PLAIN): {
        "controller-thread": "a ZooKeeper broker's controller thread began, once in the life of its process",
        "log-directory-new": "a log directory held no meta.properties when a broker started: it was new, or had been emptied",
        "zookeeper-silent": "the ZooKeeper client of a process heard nothing from `time` for duration_ms and gave its connection up: the server or the network was silent, or the process stood still",
        "broker-id-mismatch": "a broker's data are of another broker: value is the configured id, reason the stored one; brokers where log directories disagree",
        "log-dir-error": "an I/O error that takes its log directory offline",
        "log-file-refused": "the exception below such an error: value is the file of the log directory, where it is named; reason is 'in-use' (Windows renames and deletes no file that is mapped or open), 'missing', 'full', 'read-only', 'io', 'handles' or 'denied'",
        "controller-refused": "a request from an old controller was ignored",
    },
    (Scope.BROKER, By.BROKER | By.CONTROLLER, Role.PLAIN): {
        "kafka-version": "value is the version the process printed",
        "start-time": "a process, or a client within it, tells the time it took just before, from the same clock but in UTC: count, milliseconds since 1970",
        "cluster-id-mismatch": "a broker's data are of another cluster than it was to join: value is that cluster's id, reason the id the data have, where they are told; key is 'registration' where a controller says so of another node",
        "fatal-error": "the process or a thread of it ended on an error",
    },
    (Scope.BROKER, By.BROKER | By.CONTROLLER | By.ZOOKEEPER, Role.REGISTERED): {
        "broker-registered": "a broker registered with the controller or in ZooKeeper"
    },
    (Scope.BROKER, By.CONTROLLER, Role.LOST): {"broker-fenced": "the controller fenced `broker`"},
    (Scope.BROKER, By.BROKER, Role.LOST): {"session-expired": "a ZooKeeper session expired"},
    (Scope.BROKER, By.CONTROLLER, Role.BACK): {"broker-unfenced": "the controller unfenced `broker`"},
    (Scope.BROKER, By.CONTROLLER, Role.STOP_SEEN): {"shutdown-seen": "the controller handles the controlled shutdown of `broker`"},
    (Scope.BROKER, By.RUNTIME, Role.PAUSE): {
        "jvm-pause": "all threads of a process stood still from `time` for duration_ms; reason is full, young, mixed, initial-mark, remark, cleanup, degenerated, safepoint, allocation-stall or other, value what the JVM called it"
    },
    (Scope.BROKER, By.BROKER | By.CONTROLLER, Role.LOG_DIR): {"log-dir-offline": "a log directory failed"},
    (Scope.PARTITION, By.REPLICA | By.CONTROLLER, Role.LOG_DIR): {
        "log-dir-partitions": "a partition is offline because its log directory is"
    },
    # the cluster
    (Scope.CLUSTER, By.CONTROLLER, Role.PLAIN): {
        "brokers-changed": "the controller saw brokers come or go; reason is added, deleted or bounced, or live: those it found when it was elected",
        "controller-resigned": "a controller stopped being active",
        "quorum-role": "`node` changes its role in the metadata quorum (reason); `controller` leads it at controller_epoch, where known",
        "balance-checked": "the active controller looks for leaders to move back to preferred replicas (auto.leader.rebalance.enable); count the moves it made, where it tells",
    },
    (Scope.CLUSTER, By.CONTROLLER | By.ZOOKEEPER, Role.ELECTED): {
        "controller-elected": "`controller` became the active controller at controller_epoch"
    },
    (Scope.CLUSTER, By.BROKER | By.CONTROLLER, Role.PLAIN): {
        "znode-missing": "a znode that Kafka keeps for good (value) was not there; reason is 'no-node', or 'created': it was made anew, as in a new cluster or after ZooKeeper lost its data"
    },
    (Scope.CLUSTER, By.BROKER | By.CONTROLLER | By.FILE | By.TOOL | By.ZOOKEEPER, Role.SETTING): {
        "config": "a setting: topic null is the broker's, broker null too the cluster's; value null or 'null' takes it away; reason is Kafka's ConfigSource where it is told; a row without key says that all dynamic settings there are are the `count` ones whose names value lists"
    },
    # topics and their clients
    (Scope.TOPIC, By.CONTROLLER, Role.TOPIC_MADE): {"topic-created": "a topic was created"},
    (Scope.TOPIC, By.CONTROLLER, Role.TOPIC_GOING): {"topic-deletion": "a topic's deletion started"},
    (Scope.TOPIC, By.CONTROLLER, Role.TOPIC_GONE): {"topic-deleted": "a topic's deletion completed"},
    (Scope.PARTITION, By.CLIENT, Role.PLAIN): {
        "client-reset": "a consumer at previous_offset learnt that the partition does not have it any more; reason is out-of-range or truncation"
    },
    (Scope.PARTITION, By.COORDINATOR, Role.PLAIN): {
        "group-coordinated": "a group coordinator names a consumer group (value) whose offsets the partition of __consumer_offsets keeps"
    },
    # records of KRaft's metadata log
    (Scope.TOPIC, By.RECORD, Role.TOPIC_MADE): {"metadata-topic": "TopicRecord"},
    (Scope.TOPIC, By.RECORD, Role.TOPIC_GONE): {"metadata-topic-removed": "RemoveTopicRecord"},
    (Scope.PARTITION, By.RECORD, Role.STATE): {
        "metadata-partition": "PartitionRecord: a full state",
        "metadata-partition-change": "PartitionChangeRecord: only what changed",
    },
    (Scope.CLUSTER, By.RECORD, Role.SETTING): {"metadata-config": "ConfigRecord"},
    (Scope.BROKER, By.RECORD, Role.REGISTERED): {"metadata-broker": "RegisterBrokerRecord"},
    (Scope.BROKER, By.RECORD, Role.PLAIN): {
        "metadata-broker-change": "fence, unfence or registration change; reason is fenced, unfenced, shutdown, registered or unregistered"
    },
    (Scope.CLUSTER, By.RECORD, Role.PLAIN): {"metadata-feature": "FeatureLevelRecord"},
    (Scope.CLUSTER, By.RECORD, Role.ELECTED): {
        "metadata-leader": "LEADER_CHANGE control record: `controller` leads the quorum at controller_epoch"
    },
    # files on a broker's disk
    (Scope.PARTITION, By.FILE, Role.CHECKPOINT): {
        "hw-checkpoint": "row of replication-offset-checkpoint",
        "recovery-point": "row of recovery-point-offset-checkpoint: flushed below this offset",
        "log-start-checkpoint": "row of log-start-offset-checkpoint",
        "cleaner-checkpoint": "row of cleaner-offset-checkpoint: first dirty offset",
    },
    (Scope.PARTITION, By.FILE, Role.EPOCH): {
        "epoch-entry": "row of leader-epoch-checkpoint: leader_epoch starts at offset",
        "epoch-file": "a leader-epoch-checkpoint was read; count entries (an empty one says so)",
    },
    (Scope.PARTITION, By.FILE, Role.PLAIN): {
        "segment": "a segment file: offset is its base, log_end_offset after its last valid batch",
        "partition-metadata": "partition.metadata: the topic id of a replica",
    },
    (Scope.BROKER, By.FILE, Role.PLAIN): {
        "log-directory-identity": "meta.properties: node, cluster id in value, directory id in directory",
        "clean-shutdown-file": ".kafka_cleanshutdown is there: the broker is stopped and stopped cleanly",
    },
    (Scope.CLUSTER, By.FILE | By.TOOL, Role.PLAIN): {"quorum-state": "quorum-state: who leads the metadata quorum"},
    # what Kafka's tools read and say, and what ZooKeeper keeps
    (Scope.PARTITION, By.TOOL | By.ZOOKEEPER, Role.PLAIN): {
        "assignment": "a partition's replicas as a file has them; reason is plan, proposed, current or stored (in ZooKeeper); directory lists log_dirs"
    },
    (Scope.PARTITION, By.ZOOKEEPER, Role.PLAIN): {
        "isr-change-notified": "a leader's notification in ZooKeeper that the ISR of a partition changed"
    },
    (Scope.PARTITION, By.TOOL, Role.PLAIN): {
        "election-plan": "a partition a leader election is asked for by a file",
        "reassignment-told": "what kafka-reassign-partitions said; reason is started, completed, in-progress, not-active, failed, cancelled or throttled; broker and directory for a move between log directories",
        "election-told": "what an election tool said of a partition; reason is PREFERRED or UNCLEAN, value is completed, started, not-needed, failed or skipped",
        "replica-size": "kafka-log-dirs: bytes of a replica of `broker` in a directory, count its offset lag; reason 'future' for the copy of a move",
        "offset-told": "kafka-get-offsets: offset of a partition; latest is the high watermark, earliest the log start offset",
    },
    (Scope.PARTITION, By.TOOL, Role.DESCRIPTION): {"describe-partition": "partition line of kafka-topics --describe"},
    (Scope.TOPIC, By.TOOL, Role.DESCRIPTION): {"describe-topic": "topic line of kafka-topics --describe"},
    (Scope.BROKER, By.TOOL | By.ZOOKEEPER, Role.PLAIN): {
        "log-dir-told": "a log directory of `broker` as kafka-log-dirs or a notification in ZooKeeper tells it; value is its error, null for none"
    },
    (Scope.CLUSTER, By.TOOL, Role.PLAIN): {
        "quorum-replica": "kafka-metadata-quorum: log_end_offset of `broker` in __cluster_metadata, count its lag; reason is leader, follower or observer"
    },
    (Scope.BROKER, By.TOOL, Role.PLAIN): {
        "load-metric": "a metric of `broker` from a file of load metrics: key its name, value the number"
    },
    # the evidence
    (Scope.EVIDENCE, By.READER, Role.PLAIN): {
        "source": "what a source is; one per source",
        "problem": "something that could not be read; reason is a short word, text says what",
    },
}

KINDS: Mapping[str, Kind] = {
    name: Kind(name, scope, by, role, says) for (scope, by, role), told in _DECLARED.items() for name, says in told.items()
}


def of(*, scope: Scope | None = None, by: By | None = None, role: Role | None = None) -> frozenset[str]:
    """The kinds of a scope that one of these states in one of these roles."""
    return frozenset(
        k.name
        for k in KINDS.values()
        if (scope is None or k.scope is scope) and (by is None or k.by & by) and (role is None or k.role & role)
    )


def named(*names: str) -> frozenset[str]:
    """These kinds, which no attribute makes a class, for a question of one reader; KeyError on one that is none."""
    return frozenset(KINDS[name].name for name in names)


STARTS = of(role=Role.START)
RECORDS = of(by=By.RECORD)
ON_DISK = of(scope=Scope.PARTITION, by=By.FILE)
"""What a replica's files hold."""
TAKES_PART = of(role=Role.START | Role.ISR_INTENT | Role.ISR | Role.FETCHING | Role.STATE, by=By.LEADER | By.FOLLOWER | By.REPLICA)
"""What a process prints of a partition once it leads or follows it."""
TOPIC_GONE = of(role=Role.TOPIC_GONE)
OF_DELETION = of(role=Role.TOPIC_GOING | Role.TOPIC_GONE)

UNGATHERED: Mapping[str, str] = {
    "log-directory-new": "each replica in it tells that it begins empty, and what it had",
    "zookeeper-silent": "what it may lead to is told: a session that expires",
    "znode-missing": "in a new cluster as in one whose ZooKeeper lost its data; controller epochs that begin anew tell these apart",
    "log-dir-error": "that the directory goes offline is told right after it",
    "log-dir-told": "of one moment; the broker itself tells when a directory fails",
    "quorum-role": "the metadata quorum's own elections: who led it, its records tell",
    "quorum-replica": "of one moment, and no partition's replica",
    "load-metric": "summed up where it is read, by forensics.cluster.balance: a file holds millions",
}
"""Kinds of no partition that are not gathered on the driver, and why."""
GATHERED = frozenset(k.name for k in KINDS.values() if k.scope is not Scope.PARTITION) - named(*UNGATHERED)
