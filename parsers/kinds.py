"""The kinds of events: the fact that each states, its subject, its source and its role.

Here: one record per kind, and the classes of kinds derived from their attributes. Readers select a class by these attributes, so that a new
kind is included automatically. Not here: the columns of an event (schemas), or conclusions from events (spark, forensics).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, Flag, auto

Scope = Enum("Scope", "PARTITION TOPIC BROKER CLUSTER EVIDENCE")
"""Subject of the fact. The driver gathers all kinds except those of a partition and those that say why not."""


class By(Flag):
    """Who states the fact; several, if one kind is read from messages of several."""

    LEADER = auto()
    FOLLOWER = auto()
    REPLICA = auto()
    """A broker about a replica that it hosts, in any role (ReplicaManager, Partition)."""
    LOG = auto()
    """kafka.log, which names the directory: the copy that is filled by a move between directories logs the same messages."""
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
    """This tool, about the files that it reads."""


Role = Flag(
    "Role",
    "START STATE REFUSED ISR_INTENT ISR ISR_REFUSED APPEND LOAD CUT PLAN EPOCH FETCHING FETCHING_ENDS FETCH_FAILS"
    " BEGINS UP ENDS LIFE_CYCLE MARKER REGISTERED LOST BACK STOP_SEEN PAUSE LOG_DIR ELECTED SETTING"
    " TOPIC_MADE TOPIC_GOING TOPIC_GONE CHECKPOINT DESCRIPTION",
)
"""Role of the kind. ISR: a change that took effect; APPEND: a produce request that failed; PLAN: a follower announces where it will
truncate its log; MARKER: how a log directory was left; LOG_DIR: a log directory failed."""
PLAIN = Role(0)
"""A kind without a class."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of event. Its attributes decide which readers use it, so this declaration is all that a new kind needs."""

    name: str
    scope: Scope
    by: By
    role: Role
    says: str
    ungathered: str = ""
    """Why the driver does not gather a kind that is not about a partition."""
    without_step: str = ""
    """Why a kind about a replica does not change what is known of the contents of the replica's log."""


# fmt: off
_KINDS = (
    # leadership
    Kind("leader-start", Scope.PARTITION, By.LEADER, Role.START, "`node` begins to lead at leader_epoch; log_end_offset is its LEO then"),
    Kind("follower-start", Scope.PARTITION, By.FOLLOWER, Role.START, "`node` begins to follow at leader_epoch; log_end_offset is its LEO then"),
    Kind("partition-state", Scope.PARTITION, By.REPLICA | By.CONTROLLER | By.ZOOKEEPER, Role.STATE, "a partition's state as a controller decided or sent it, or a broker received it; reason is 'decided', 'sent', 'written' (a leader's ISR change), 'received', 'cached', or 'stored': read from its znode"),
    Kind("partition-transition", Scope.PARTITION, By.CONTROLLER, PLAIN, "the ZooKeeper controller's state machine moved the partition; reason is 'Old->New', value 'made' where there was none before"),
    Kind("unclean-election-said", Scope.PARTITION, By.CONTROLLER, PLAIN, "Kafka itself says that a leader was elected outside the ISR"),
    Kind("election-failed", Scope.PARTITION, By.CONTROLLER, PLAIN, "the controller found no replica it may elect"),
    Kind("election-requested", Scope.PARTITION, By.CONTROLLER, PLAIN, "an election was asked for; reason is PREFERRED or UNCLEAN, value who asked"),
    Kind("preferred-election", Scope.PARTITION, By.CONTROLLER, PLAIN, "a preferred leader election completed"),
    Kind("reassignment", Scope.PARTITION, By.CONTROLLER, PLAIN, "a reassignment step; reason is 'started', 'completed', 'failed' or 'waiting'"),
    Kind("recovering-mark", Scope.PARTITION, By.LEADER, PLAIN, "the new leader was told that its election was unclean (leaderRecoveryState)", without_step="about its role or its requests, not the contents of its log"),
    Kind("follower-kept", Scope.PARTITION, By.FOLLOWER, PLAIN, "`node`, told to follow `leader`, did so already and changes nothing: it neither truncates nor fetches anew", without_step="about its role or its requests, not the contents of its log"),
    Kind("become-refused", Scope.PARTITION, By.REPLICA, Role.REFUSED, "a broker could not become leader or follower; reason says why"),
    # ISR
    Kind("isr-shrink", Scope.PARTITION, By.LEADER, Role.ISR_INTENT, "a leader intends to shrink the ISR"),
    Kind("isr-expand", Scope.PARTITION, By.LEADER, Role.ISR_INTENT, "a leader intends to expand the ISR"),
    Kind("isr-update", Scope.PARTITION, By.LEADER, Role.ISR, "an ISR change took effect, as the leader that made it says"),
    Kind("isr-written", Scope.PARTITION, By.CONTROLLER, Role.ISR, "an ISR change took effect, as the controller that wrote it for a leader says; broker is the leader, where it is named"),
    Kind("isr-rejected", Scope.PARTITION, By.LEADER | By.CONTROLLER, Role.ISR_REFUSED, "an ISR change was refused: the leader is not the leader any more, or its view is old; reason 'old-leader-epoch' where that is why"),
    Kind("append-refused", Scope.PARTITION, By.LEADER, Role.APPEND, "a produce was refused for too small an ISR; count is the required minimum", without_step="about its role or its requests, not the contents of its log"),
    Kind("append-error", Scope.PARTITION, By.LEADER, Role.APPEND, "an append failed for another reason", without_step="about its role or its requests, not the contents of its log"),
    # the log
    Kind("log-load", Scope.PARTITION, By.LOG, Role.LOAD, "a log was loaded at start-up; log_end_offset is exact after recovery"),
    Kind("log-recovery", Scope.PARTITION, By.LOG, Role.LOAD, "a segment is recovered because the last stop was unclean"),
    Kind("log-corruption", Scope.PARTITION, By.LOG, Role.LOAD, "recovery or reading met bytes that are no valid records"),
    Kind("log-created", Scope.PARTITION, By.LOG, Role.LOAD, "a log was created empty; reason 'future' for the copy a move between log directories fills (KIP-113); key 'cleanup.policy' where its own settings are told, value that one, null where it is the broker's"),
    Kind("hw-loaded", Scope.PARTITION, By.REPLICA, Role.LOAD, "HW a replica starts with, from its checkpoint, clamped to its log"),
    Kind("hw-missing", Scope.PARTITION, By.REPLICA, Role.LOAD, "no HW was checkpointed for the replica"),
    Kind("replica-added", Scope.PARTITION, By.REPLICA, Role.LOAD, "a broker takes up a replica of the partition, anew or at its start; topic_id as named", without_step="about its role or its requests, not the contents of its log"),
    Kind("log-moved", Scope.PARTITION, By.LOG, PLAIN, "the copy took the replica's place: its log lies in another log directory now, whole", without_step="moves neither the end of the log nor its high watermark"),
    Kind("log-deleted", Scope.PARTITION, By.LOG, PLAIN, "a replica's directory was marked for deletion"),
    Kind("hw-regression", Scope.PARTITION, By.LOG, PLAIN, "HW went from previous_offset back to high_watermark", without_step="the previous high watermark may be the one that its new leader sent with the answer that required the truncation (KIP-595, up to 3.4: KAFKA-14704)"),
    Kind("segment-roll", Scope.PARTITION, By.LOG, PLAIN, "a new segment begins at offset, the LEO then"),
    Kind("segment-delete", Scope.PARTITION, By.LOG, PLAIN, "segments are deleted; reason is retention-time, retention-size, log-start, truncation, deletion, recovery, roll", without_step="moves neither the end of the log nor its high watermark"),
    Kind("log-start-move", Scope.PARTITION, By.LOG, PLAIN, "log start offset moved; reason is delete-records, retention, leader (a follower's, after its leader's), snapshot or first append, where it is told"),
    Kind("producer-snapshot", Scope.PARTITION, By.LOG, PLAIN, "producer state was written at offset, the LEO then"),
    Kind("truncation", Scope.PARTITION, By.LOG, Role.CUT, "the log was cut to offset; reason 'longer' where only a log that goes beyond it says so"),
    Kind("truncation-noop", Scope.PARTITION, By.LOG, Role.CUT, "a truncation to offset changed nothing; log_end_offset is exact"),
    Kind("truncation-below-hw", Scope.PARTITION, By.FOLLOWER | By.LOG, Role.CUT, "a follower truncates below its own HW"),
    Kind("truncation-plan", Scope.PARTITION, By.FOLLOWER, Role.PLAN, "a follower decides to truncate; reason is 'leader-epoch' or 'high-watermark'"),
    Kind("fetch-offset-reset", Scope.PARTITION, By.FOLLOWER, Role.PLAN, "a follower moved its fetch offset from previous_offset to offset; reason is 'latest', 'start', 'local-end', or 'tier': its log begins there or beyond, the remote tier has what is below"),
    Kind("truncation-refused", Scope.BROKER, By.FOLLOWER, PLAIN, "a follower ahead of its leader stops rather than truncate (before 2.0)"),
    Kind("fetch-broken-off", Scope.BROKER, By.FOLLOWER, PLAIN, "the connection to `broker` was lost in the midst of a fetch"),
    Kind("epoch-assigned", Scope.PARTITION, By.LOG, Role.EPOCH, "an entry was appended to the leader epoch cache", without_step="part of its lineage (forensics.proof.lineage)"),
    Kind("epoch-conflict", Scope.PARTITION, By.LOG, Role.EPOCH, "a new epoch entry removed conflicting ones", without_step="part of its lineage (forensics.proof.lineage)"),
    Kind("fetcher-added", Scope.PARTITION, By.FOLLOWER, Role.FETCHING, "a fetcher from `broker` was started at offset; reason 'own-end' up to 2.0: at the follower's log end, from 1.1 on at its high watermark, which is never more"),
    Kind("fetcher-removed", Scope.PARTITION, By.FOLLOWER, Role.FETCHING_ENDS, "fetching stopped"),
    Kind("fetch-error", Scope.PARTITION, By.FOLLOWER, Role.FETCH_FAILS, "a fetch failed"),
    Kind("partition-failed", Scope.PARTITION, By.FOLLOWER, Role.FETCH_FAILS, "a partition's fetching stopped for good", without_step="about its role or its requests, not the contents of its log"),
    Kind("topic-id-mismatch", Scope.PARTITION, By.REPLICA, Role.REFUSED, "a replica's log is of another topic of that name: value is the id the cluster has for it, reason the log's", without_step="about the log of another topic"),
    # brokers
    Kind("broker-starting", Scope.BROKER, By.BROKER, Role.BEGINS, "a broker process begins"),
    Kind("controller-starting", Scope.BROKER, By.CONTROLLER, Role.BEGINS, "a KRaft node begins its controller; where it is a broker as well, its process began just before"),
    Kind("broker-started", Scope.BROKER, By.BROKER, Role.UP, "a broker is up"),
    Kind("broker-stopping", Scope.BROKER, By.BROKER, Role.ENDS, "an orderly stop begins"),
    Kind("broker-stopped", Scope.BROKER, By.BROKER, Role.ENDS, "an orderly stop is complete"),
    Kind("controlled-shutdown", Scope.BROKER, By.BROKER, Role.ENDS, "a broker hands over its leaderships; reason is 'start', 'done', 'retry' or 'failed'"),
    Kind("broker-signal", Scope.BROKER, By.BROKER | By.CONTROLLER, Role.ENDS, "a process was asked to end by a signal"),
    Kind("broker-state", Scope.BROKER, By.BROKER, Role.LIFE_CYCLE, "KRaft broker life cycle; reason is the new state"),
    Kind("clean-start", Scope.BROKER, By.BROKER, Role.MARKER, "a log directory's last stop was clean"),
    Kind("unclean-start", Scope.BROKER, By.BROKER, Role.MARKER, "a log directory's last stop was not clean, or it is new (count 0 or null)"),
    Kind("controller-thread", Scope.BROKER, By.BROKER, PLAIN, "a ZooKeeper broker's controller thread began, once in the life of its process"),
    Kind("log-directory-new", Scope.BROKER, By.BROKER, PLAIN, "a log directory held no meta.properties when a broker started: it was new, or had been emptied", ungathered="each replica in the directory reports that its log begins empty, and what it had before"),
    Kind("zookeeper-silent", Scope.BROKER, By.BROKER, PLAIN, "the ZooKeeper client of a process heard nothing from `time` for duration_ms and gave its connection up: the server or the network was silent, or the process stood still", ungathered="a session that expires because of it has its own event"),
    Kind("broker-id-mismatch", Scope.BROKER, By.BROKER, PLAIN, "a broker's data are of another broker: value is the configured id, reason the stored one; brokers where log directories disagree"),
    Kind("log-dir-error", Scope.BROKER, By.BROKER, PLAIN, "an I/O error that takes its log directory offline", ungathered="the next event reports that the directory is offline"),
    Kind("log-file-refused", Scope.BROKER, By.BROKER, PLAIN, "the exception below such an error: value is the file of the log directory, where it is named; reason is 'in-use' (Windows renames and deletes no file that is mapped or open), 'missing', 'full', 'read-only', 'io', 'handles' or 'denied'"),
    Kind("controller-refused", Scope.BROKER, By.BROKER, PLAIN, "a request from an old controller was ignored"),
    Kind("kafka-version", Scope.BROKER, By.BROKER | By.CONTROLLER, PLAIN, "value is the version the process printed"),
    Kind("start-time", Scope.BROKER, By.BROKER | By.CONTROLLER, PLAIN, "a process, or a client within it, tells the time it took just before, from the same clock but in UTC: count, milliseconds since 1970"),
    Kind("cluster-id-mismatch", Scope.BROKER, By.BROKER | By.CONTROLLER, PLAIN, "a broker's data are of another cluster than it was to join: value is that cluster's id, reason the id the data have, where they are told; key is 'registration' where a controller says so of another node"),
    Kind("fatal-error", Scope.BROKER, By.BROKER | By.CONTROLLER, PLAIN, "the process or a thread of it ended on an error"),
    Kind("broker-registered", Scope.BROKER, By.BROKER | By.CONTROLLER | By.ZOOKEEPER, Role.REGISTERED, "a broker registered with the controller or in ZooKeeper"),
    Kind("broker-epoch-known", Scope.BROKER, By.CONTROLLER, PLAIN, "the ZooKeeper controller knows `broker` by this broker epoch: it has registered with it"),
    Kind("broker-fenced", Scope.BROKER, By.CONTROLLER, Role.LOST, "the controller fenced `broker`"),
    Kind("session-expired", Scope.BROKER, By.BROKER, Role.LOST, "a ZooKeeper session expired"),
    Kind("broker-unfenced", Scope.BROKER, By.CONTROLLER, Role.BACK, "the controller unfenced `broker`"),
    Kind("shutdown-seen", Scope.BROKER, By.CONTROLLER, Role.STOP_SEEN, "the controller handles the controlled shutdown of `broker`"),
    Kind("jvm-pause", Scope.BROKER, By.RUNTIME, Role.PAUSE, "all threads of a process stood still from `time` for duration_ms; reason is full, young, mixed, initial-mark, remark, cleanup, degenerated, safepoint, allocation-stall or other, value what the JVM called it"),
    Kind("log-dir-offline", Scope.BROKER, By.BROKER | By.CONTROLLER, Role.LOG_DIR, "a log directory failed"),
    Kind("log-dir-partitions", Scope.PARTITION, By.REPLICA | By.CONTROLLER, Role.LOG_DIR, "a partition is offline because its log directory is", without_step="moves neither the end of the log nor its high watermark"),
    # the cluster
    Kind("brokers-changed", Scope.CLUSTER, By.CONTROLLER, PLAIN, "the controller saw brokers come or go; reason is added, deleted or bounced, or live: those it found when it was elected"),
    Kind("controller-resigned", Scope.CLUSTER, By.CONTROLLER, PLAIN, "a controller stopped being active"),
    Kind("quorum-role", Scope.CLUSTER, By.CONTROLLER, PLAIN, "`node` changes its role in the metadata quorum (reason); `controller` leads it at controller_epoch, where known", ungathered="an election of the metadata quorum; the records of the metadata log name its leader"),
    Kind("balance-checked", Scope.CLUSTER, By.CONTROLLER, PLAIN, "the active controller looks for leaders to move back to preferred replicas (auto.leader.rebalance.enable); count the moves it made, where it tells"),
    Kind("controller-elected", Scope.CLUSTER, By.CONTROLLER | By.ZOOKEEPER, Role.ELECTED, "`controller` became the active controller at controller_epoch"),
    Kind("znode-missing", Scope.CLUSTER, By.BROKER | By.CONTROLLER, PLAIN, "a znode that Kafka keeps for good (value) was not there; reason is 'no-node', or 'created': it was made anew, as in a new cluster or after ZooKeeper lost its data", ungathered="missing in a new cluster as well as in one whose ZooKeeper lost its data; controller epochs distinguish the two"),
    Kind("config", Scope.CLUSTER, By.BROKER | By.CONTROLLER | By.FILE | By.ZOOKEEPER | By.TOOL, Role.SETTING, "a setting: topic null is the broker's, broker null too the cluster's; value null or 'null' takes it away; reason is Kafka's ConfigSource where it is told; a row without key says that all dynamic settings there are are the `count` ones whose names value lists"),
    # topics and their clients
    Kind("topic-created", Scope.TOPIC, By.CONTROLLER, Role.TOPIC_MADE, "a topic was created"),
    Kind("topic-deletion", Scope.TOPIC, By.CONTROLLER, Role.TOPIC_GOING, "a topic's deletion started"),
    Kind("topic-deleted", Scope.TOPIC, By.CONTROLLER, Role.TOPIC_GONE, "a topic's deletion completed"),
    Kind("client-reset", Scope.PARTITION, By.CLIENT, PLAIN, "a consumer at previous_offset learnt that the partition does not have it any more; reason is out-of-range or truncation, value its group"),
    Kind("group-commit", Scope.PARTITION, By.COORDINATOR | By.TOOL, PLAIN, "a consumer group (value) has read the partition up to offset, by what it committed; leader_epoch is that of the last record it read, where its client tells; reason 'deleted' where the commit was deleted or expired, and offset is null, 'share' where kafka-share-groups tells it, which shows a start that may lag behind; of a share group offset is where its share-partition starts, leader_epoch that of the leader which kept its state, count the offsets above that it is through with as well"),
    Kind("group-member", Scope.PARTITION, By.COORDINATOR | By.TOOL, PLAIN, "a consumer group (value) had given the partition to a member of this client id (key) at this host; reason is the group's protocol: classic, consumer (KIP-848) or share (KIP-932), where it is told"),
    Kind("transaction-state", Scope.PARTITION, By.COORDINATOR, PLAIN, "a transactional id (value) has sent records to the partition in transactions of the producer id count; reason is the state of its transaction then: Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort, Dead or PrepareEpochFence"),
    Kind("group-coordinated", Scope.PARTITION, By.COORDINATOR, PLAIN, "a group coordinator names a consumer group (value) whose offsets the partition of __consumer_offsets keeps"),
    # records of KRaft's metadata log
    Kind("metadata-topic", Scope.TOPIC, By.RECORD, Role.TOPIC_MADE, "TopicRecord"),
    Kind("metadata-topic-removed", Scope.TOPIC, By.RECORD, Role.TOPIC_GONE, "RemoveTopicRecord"),
    Kind("metadata-partition", Scope.PARTITION, By.RECORD, Role.STATE, "PartitionRecord: a full state"),
    Kind("metadata-partition-change", Scope.PARTITION, By.RECORD, Role.STATE, "PartitionChangeRecord: only what changed"),
    Kind("metadata-config", Scope.CLUSTER, By.RECORD, Role.SETTING, "ConfigRecord"),
    Kind("metadata-broker", Scope.BROKER, By.RECORD, Role.REGISTERED, "RegisterBrokerRecord"),
    Kind("metadata-broker-change", Scope.BROKER, By.RECORD, PLAIN, "fence, unfence or registration change; reason is fenced, unfenced, shutdown, registered or unregistered"),
    Kind("metadata-feature", Scope.CLUSTER, By.RECORD, PLAIN, "FeatureLevelRecord"),
    Kind("metadata-leader", Scope.CLUSTER, By.RECORD, Role.ELECTED, "LEADER_CHANGE control record: `controller` leads the quorum at controller_epoch"),
    # files on a broker's disk
    Kind("hw-checkpoint", Scope.PARTITION, By.FILE, Role.CHECKPOINT, "row of replication-offset-checkpoint"),
    Kind("recovery-point", Scope.PARTITION, By.FILE, Role.CHECKPOINT, "row of recovery-point-offset-checkpoint: flushed below this offset"),
    Kind("log-start-checkpoint", Scope.PARTITION, By.FILE, Role.CHECKPOINT, "row of log-start-offset-checkpoint"),
    Kind("cleaner-checkpoint", Scope.PARTITION, By.FILE, Role.CHECKPOINT, "row of cleaner-offset-checkpoint: first dirty offset", without_step="about its disk (forensics.model.partition.states_of_files)"),
    Kind("epoch-entry", Scope.PARTITION, By.FILE, Role.EPOCH, "row of leader-epoch-checkpoint: leader_epoch starts at offset", without_step="part of its lineage (forensics.proof.lineage)"),
    Kind("epoch-file", Scope.PARTITION, By.FILE, Role.EPOCH, "a leader-epoch-checkpoint was read; count entries (an empty one says so)", without_step="part of its lineage (forensics.proof.lineage)"),
    Kind("segment", Scope.PARTITION, By.FILE, PLAIN, "a segment file: offset is its base, log_end_offset after its last valid batch"),
    Kind("partition-metadata", Scope.PARTITION, By.FILE, PLAIN, "partition.metadata: the topic id of a replica", without_step="about its disk (forensics.model.partition.states_of_files)"),
    Kind("log-directory-identity", Scope.BROKER, By.FILE, PLAIN, "meta.properties: node, cluster id in value, directory id in directory"),
    Kind("clean-shutdown-file", Scope.BROKER, By.FILE, PLAIN, ".kafka_cleanshutdown is there: the broker is stopped and stopped cleanly"),
    Kind("quorum-state", Scope.CLUSTER, By.FILE | By.TOOL, PLAIN, "quorum-state: who leads the metadata quorum"),
    # output and input of Kafka's tools, and data in ZooKeeper
    Kind("assignment", Scope.PARTITION, By.ZOOKEEPER | By.TOOL, PLAIN, "a partition's replicas as a file has them; reason is plan, proposed, current or stored (in ZooKeeper); directory lists log_dirs"),
    Kind("isr-change-notified", Scope.PARTITION, By.ZOOKEEPER, PLAIN, "a leader's notification in ZooKeeper that the ISR of a partition changed"),
    Kind("election-plan", Scope.PARTITION, By.TOOL, PLAIN, "a partition a leader election is asked for by a file"),
    Kind("reassignment-told", Scope.PARTITION, By.TOOL, PLAIN, "what kafka-reassign-partitions said; reason is started, completed, in-progress, not-active, failed, cancelled or throttled; broker and directory for a move between log directories"),
    Kind("election-told", Scope.PARTITION, By.TOOL, PLAIN, "what an election tool said of a partition; reason is PREFERRED or UNCLEAN, value is completed, started, not-needed, failed or skipped"),
    Kind("replica-size", Scope.PARTITION, By.TOOL, PLAIN, "kafka-log-dirs: bytes of a replica of `broker` in a directory, count its offset lag; reason 'future' for the copy of a move"),
    Kind("offset-told", Scope.PARTITION, By.TOOL, PLAIN, "kafka-get-offsets: offset of a partition; latest is the high watermark, earliest the log start offset"),
    Kind("describe-partition", Scope.PARTITION, By.TOOL, Role.DESCRIPTION, "partition line of kafka-topics --describe"),
    Kind("describe-topic", Scope.TOPIC, By.TOOL, Role.DESCRIPTION, "topic line of kafka-topics --describe"),
    Kind("log-dir-told", Scope.BROKER, By.ZOOKEEPER | By.TOOL, PLAIN, "a log directory of `broker` as kafka-log-dirs or a notification in ZooKeeper tells it; value is its error, null for none", ungathered="describes one moment; the broker itself reports when a directory fails"),
    Kind("quorum-replica", Scope.CLUSTER, By.TOOL, PLAIN, "kafka-metadata-quorum: log_end_offset of `broker` in __cluster_metadata, count its lag; reason is leader, follower or observer", ungathered="describes one moment, and no replica of a partition"),
    Kind("load-metric", Scope.BROKER, By.TOOL, PLAIN, "a metric of `broker` from a file of load metrics: key its name, value the number", ungathered="summed while it is read, because a file may have millions (forensics.model.cluster.balance)"),
    # the evidence
    Kind("source", Scope.EVIDENCE, By.READER, PLAIN, "what a source is; one per source"),
    Kind("archive", Scope.EVIDENCE, By.READER, PLAIN, "an archive or a compressed file as it lies on disk: value its SHA-256, bytes its size, reason its form"),
    Kind("events-left-out", Scope.PARTITION, By.READER, PLAIN, "so many events (count) from `at` to `last_at`, more of what was told before and after them than a process can hold; its text is that of the first"),
    Kind("problem", Scope.EVIDENCE, By.READER, PLAIN, "something that could not be read; reason is a short word, text says what"),
)
# fmt: on
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _KINDS}


def of(*, scope: Scope | None = None, by: By | None = None, role: Role | None = None) -> frozenset[str]:
    """The kinds of a scope with one of these states and one of these roles."""
    return frozenset(
        k.name
        for k in KINDS.values()
        if (scope is None or k.scope is scope) and (by is None or k.by & by) and (role is None or k.role & role)
    )


def named(*names: str) -> frozenset[str]:
    """These kinds, which share no attribute, for the needs of one reader; KeyError on an unknown kind."""
    return frozenset(KINDS[name].name for name in names)


STARTS = of(role=Role.START)
RECORDS = of(by=By.RECORD)
ON_DISK = of(scope=Scope.PARTITION, by=By.FILE)
"""Contents of a replica's files."""
TAKES_PART = of(role=Role.START | Role.ISR_INTENT | Role.ISR | Role.FETCHING | Role.STATE, by=By.LEADER | By.FOLLOWER | By.REPLICA)
"""Messages of a process about a partition after it becomes leader or follower."""
TOPIC_GONE = of(role=Role.TOPIC_GONE)
OF_DELETION = of(role=Role.TOPIC_GOING | Role.TOPIC_GONE)

GATHERED = frozenset(k.name for k in KINDS.values() if k.scope is not Scope.PARTITION and not k.ungathered)
"""Kinds that the driver gathers."""
