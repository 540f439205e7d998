"""The kinds of events: the fact that each states, its subject, its source and its role.

Here: one record per kind, and the classes of kinds derived from their attributes. Readers select a class by these attributes, so that a new
kind is included automatically. Not here: the columns of an event (schemas), or conclusions from events (spark, forensics).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, Flag, auto

Scope = Enum("Scope", "PARTITION TOPIC BROKER CLUSTER EVIDENCE")
"""Subject of the fact. The driver gathers all kinds except those about a partition and those with a reason in `ungathered`."""


class By(Flag):
    """The component that states the fact; several, if messages of several components give this kind."""

    LEADER = auto()
    FOLLOWER = auto()
    REPLICA = auto()
    """A broker about a replica that it hosts, in any role (ReplicaManager, Partition)."""
    LOG = auto()
    """kafka.log. Only the directory in its messages distinguishes a replica from the copy that a move between directories fills."""
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
    OWN = auto()
    """A component that only the user's patterns know."""
    READER = auto()
    """This tool, about the files that it reads."""


Role = Flag(
    "Role",
    "START STATE REFUSED ISR_INTENT ISR ISR_REFUSED APPEND LOAD CUT PLAN EPOCH FETCHING FETCHING_ENDS FETCH_FAILS"
    " BEGINS UP ENDS LIFE_CYCLE MARKER REGISTERED LOST BACK STOP_SEEN UNREACHABLE PAUSE LOG_DIR ELECTED SETTING"
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
    unreported: str = ""
    """Why no rule and no part of the model uses a kind."""
    undated: bool = False
    """What it says of a partition has the same meaning without a time, whatever else happened to the partition."""


# fmt: off
_KINDS = (
    # leadership
    Kind("leader-start", Scope.PARTITION, By.LEADER, Role.START, "`node` begins to lead at leader_epoch; log_end_offset is its log end offset (LEO) then"),
    Kind("follower-start", Scope.PARTITION, By.FOLLOWER, Role.START, "`node` begins to follow at leader_epoch; log_end_offset is its LEO then"),
    Kind("partition-state", Scope.PARTITION, By.REPLICA | By.CONTROLLER | By.ZOOKEEPER, Role.STATE, "the state of a partition as the controller decided or sent it, or as a broker received it; reason is 'decided', 'sent', 'written' (an ISR change by the leader), 'received', 'cached', or 'stored' (read from the znode)"),
    Kind("partition-transition", Scope.PARTITION, By.CONTROLLER, PLAIN, "the ZooKeeper controller changed the state of the partition; reason is 'Old->New', value is 'made' if the partition had no state before"),
    Kind("unclean-election-said", Scope.PARTITION, By.CONTROLLER, PLAIN, "Kafka reports that a leader outside the ISR was elected", undated=True),
    Kind("election-failed", Scope.PARTITION, By.CONTROLLER, PLAIN, "the controller found no replica that it may elect; reason is PREFERRED if the partition keeps its leader, and value 'error' if the controller printed this as an error, with its exception in key", undated=True),
    Kind("election-requested", Scope.PARTITION, By.CONTROLLER, PLAIN, "an election was requested; reason is PREFERRED or UNCLEAN, value is the requester"),
    Kind("preferred-election", Scope.PARTITION, By.CONTROLLER, PLAIN, "a preferred leader election completed"),
    Kind("reassignment", Scope.PARTITION, By.CONTROLLER, PLAIN, "a reassignment step; reason is 'started', 'completed', 'failed' or 'waiting'"),
    Kind("recovering-mark", Scope.PARTITION, By.LEADER, PLAIN, "the controller informed the new leader that the partition is RECOVERING from an unclean election, this one or an earlier one (leaderRecoveryState)", without_step="about the role or requests of the replica, not the contents of its log"),
    Kind("follower-kept", Scope.PARTITION, By.FOLLOWER, PLAIN, "`node` received an order to follow `leader`, but follows it already: it does not truncate, and its fetcher continues", without_step="about the role or requests of the replica, not the contents of its log"),
    Kind("become-refused", Scope.PARTITION, By.REPLICA, Role.REFUSED, "a broker could not become leader or follower; reason is the cause"),
    # ISR
    Kind("isr-shrink", Scope.PARTITION, By.LEADER, Role.ISR_INTENT, "a leader intends to shrink the ISR"),
    Kind("isr-expand", Scope.PARTITION, By.LEADER, Role.ISR_INTENT, "a leader intends to expand the ISR"),
    Kind("isr-update", Scope.PARTITION, By.LEADER, Role.ISR, "an ISR change took effect, stated by the leader that requested it"),
    Kind("isr-written", Scope.PARTITION, By.CONTROLLER, Role.ISR, "an ISR change took effect, stated by the controller that wrote it; broker is the leader that requested it, if named"),
    Kind("isr-rejected", Scope.PARTITION, By.LEADER | By.CONTROLLER, Role.ISR_REFUSED, "an ISR change was refused because the leader had been replaced or had an old state; reason is 'old-leader-epoch' in the first case"),
    Kind("append-refused", Scope.PARTITION, By.LEADER, Role.APPEND, "a produce request was refused because the ISR was too small; count is the required minimum", without_step="about the role or requests of the replica, not the contents of its log", undated=True),
    Kind("append-error", Scope.PARTITION, By.LEADER, Role.APPEND, "an append failed for another reason; reason is the class of the exception, key the exception and its cause", without_step="about the role or requests of the replica, not the contents of its log", undated=True),
    Kind("read-failed", Scope.PARTITION, By.LEADER, PLAIN, "a leader could not read its log from offset on for a follower or a consumer; reason is the class of the exception, key the exception and its cause", without_step="about the role or requests of the replica, not the contents of its log", undated=True),
    Kind("coordinator-load-failed", Scope.PARTITION, By.COORDINATOR, PLAIN, "a coordinator could not load its state from the partition; reason is the class of the exception, key the exception and its cause", undated=True),
    Kind("partition-uncleanable", Scope.PARTITION, By.LOG, PLAIN, "the log cleaner gave the partition up because of an error; key is the exception and its cause", without_step="compaction moves neither the end of the log nor its high watermark", undated=True),
    Kind("remote-copy-failed", Scope.PARTITION, By.BROKER, PLAIN, "segments of the partition could not be copied to the remote tier; key is the exception and its cause", undated=True),
    # the log
    Kind("log-load", Scope.PARTITION, By.LOG, Role.LOAD, "a log was loaded at start-up; log_end_offset is exact after recovery"),
    Kind("log-recovery", Scope.PARTITION, By.LOG, Role.LOAD, "a segment is recovered after an unclean shutdown"),
    Kind("index-rebuilt", Scope.PARTITION, By.LOG, PLAIN, "an index of a segment was corrupt, and was made again from the segment", without_step="an index is derived from the log", undated=True),
    Kind("log-corruption", Scope.PARTITION, By.LOG, Role.LOAD, "recovery, or a read, found bytes that are not valid records"),
    Kind("log-created", Scope.PARTITION, By.LOG, Role.LOAD, "an empty log was created; reason is 'future' for the copy that a move between log directories fills (KIP-113); key is 'cleanup.policy' if the line prints the settings of the topic, with its value (null: the default of the broker)"),
    Kind("hw-loaded", Scope.PARTITION, By.REPLICA, Role.LOAD, "high watermark (HW) with which a replica starts: from its checkpoint, but within its log"),
    Kind("hw-missing", Scope.PARTITION, By.REPLICA, Role.LOAD, "the checkpoint has no HW for the replica"),
    Kind("replica-added", Scope.PARTITION, By.REPLICA, Role.LOAD, "a broker gets a replica of the partition, newly or when it starts; topic_id as the line names it", without_step="about the role or requests of the replica, not the contents of its log"),
    Kind("log-moved", Scope.PARTITION, By.LOG, PLAIN, "the copy has replaced the replica: the complete log is now in another log directory", without_step="moves neither the end of the log nor its high watermark"),
    Kind("log-deleted", Scope.PARTITION, By.LOG, PLAIN, "the directory of a replica was marked for deletion"),
    Kind("hw-regression", Scope.PARTITION, By.LOG, PLAIN, "the HW decreased from previous_offset to high_watermark", without_step="the previous high watermark may come from the response of the new leader that required the truncation (KIP-595, up to 3.4: KAFKA-14704)"),
    Kind("segment-roll", Scope.PARTITION, By.LOG, PLAIN, "a new segment begins at offset, which is the LEO then"),
    Kind("segment-delete", Scope.PARTITION, By.LOG, PLAIN, "segments are deleted; reason is retention-time, retention-size, log-start, truncation, deletion, recovery, roll"),
    Kind("log-start-move", Scope.PARTITION, By.LOG, PLAIN, "the log start offset increased; reason is delete-records, retention, leader (a follower does the same as its leader), snapshot or first append, if the line names it"),
    Kind("producer-snapshot", Scope.PARTITION, By.LOG, PLAIN, "the producer state was written at offset, which is the LEO then"),
    Kind("truncation", Scope.PARTITION, By.LOG, Role.CUT, "the log was truncated to offset; reason is 'longer' if only logs that end beyond offset print this line"),
    Kind("truncation-noop", Scope.PARTITION, By.LOG, Role.CUT, "a truncation to offset changed nothing; log_end_offset is exact"),
    Kind("truncation-below-hw", Scope.PARTITION, By.FOLLOWER | By.LOG, Role.CUT, "a follower truncates below its own HW"),
    Kind("truncation-plan", Scope.PARTITION, By.FOLLOWER, Role.PLAN, "a follower decides to truncate; reason is 'leader-epoch' or 'high-watermark'"),
    Kind("fetch-offset-reset", Scope.PARTITION, By.FOLLOWER, Role.PLAN, "a follower changed its fetch offset from previous_offset to offset; reason is 'latest', 'start', 'local-end', or 'tier' (its log begins at offset or later; the remote tier has the records below)"),
    Kind("truncation-refused", Scope.BROKER, By.FOLLOWER, PLAIN, "a follower that is ahead of its leader stops instead of truncating (before 2.0)"),
    Kind("fetch-broken-off", Scope.BROKER, By.FOLLOWER, Role.UNREACHABLE, "the connection to `broker` was lost during a fetch", unreported="read by its role, as evidence that the other node had ended"),
    Kind("epoch-assigned", Scope.PARTITION, By.LOG, Role.EPOCH, "an entry was appended to the leader epoch cache"),
    Kind("epoch-conflict", Scope.PARTITION, By.LOG, Role.EPOCH, "a new epoch entry removed conflicting entries", without_step="read by forensics.proof.lineage"),
    Kind("fetcher-added", Scope.PARTITION, By.FOLLOWER, Role.FETCHING, "a fetcher from `broker` was started at offset; reason is 'own-end' up to 2.0: offset is the log end of the follower, and from 1.1 on its high watermark, which is never greater"),
    Kind("fetcher-removed", Scope.PARTITION, By.FOLLOWER, Role.FETCHING_ENDS, "fetching stopped"),
    Kind("fetch-error", Scope.PARTITION, By.FOLLOWER, Role.FETCH_FAILS, "a fetch failed"),
    Kind("partition-failed", Scope.PARTITION, By.FOLLOWER, Role.FETCH_FAILS, "fetching of a partition stopped permanently", without_step="about the role or requests of the replica, not the contents of its log"),
    Kind("topic-id-mismatch", Scope.PARTITION, By.REPLICA, Role.REFUSED, "the log of a replica belongs to another topic of the same name: value is the topic id in the cluster, reason the topic id of the log", without_step="about the log of another topic", undated=True),
    # brokers
    Kind("broker-starting", Scope.BROKER, By.BROKER, Role.BEGINS, "a broker process starts"),
    Kind("controller-starting", Scope.BROKER, By.CONTROLLER, Role.BEGINS, "a KRaft node starts its controller; if the node is also a broker, its process started just before"),
    Kind("process-starting", Scope.BROKER, By.BROKER | By.CONTROLLER, PLAIN, "the first line of a process, before it names itself"),
    Kind("process-started", Scope.BROKER, By.BROKER | By.CONTROLLER, PLAIN, "a KRaft process has started its broker, its controller or both"),
    Kind("last-line", Scope.BROKER, By.BROKER | By.CONTROLLER, PLAIN, "the line before the first line of a process: the process before it was still running"),
    Kind("broker-started", Scope.BROKER, By.BROKER, Role.UP, "a broker is up"),
    Kind("broker-stopping", Scope.BROKER, By.BROKER, Role.ENDS, "a clean shutdown begins"),
    Kind("broker-stopped", Scope.BROKER, By.BROKER, Role.ENDS, "a clean shutdown is complete"),
    Kind("controller-stopping", Scope.BROKER, By.CONTROLLER, Role.ENDS, "the controller of a KRaft process begins a clean shutdown; of a process with both roles, after its broker"),
    Kind("process-stopped", Scope.BROKER, By.BROKER | By.CONTROLLER, Role.ENDS, "a process removes its last metrics at the end of a clean shutdown; a controller prints nothing later"),
    Kind("controlled-shutdown", Scope.BROKER, By.BROKER, Role.ENDS, "a broker hands over its leaderships; reason is 'start', 'done', 'retry' or 'failed'"),
    Kind("broker-signal", Scope.BROKER, By.BROKER | By.CONTROLLER, Role.ENDS, "a process received a signal to end"),
    Kind("broker-state", Scope.BROKER, By.BROKER, Role.LIFE_CYCLE, "KRaft broker life cycle; reason is the new state"),
    Kind("clean-start", Scope.BROKER, By.BROKER, Role.MARKER, "the last shutdown of a log directory was clean"),
    Kind("unclean-start", Scope.BROKER, By.BROKER, Role.MARKER, "a log directory has no marker of a clean shutdown: it was not stopped cleanly, or is new; count is 0 if it has no logs, and the marker is unknown then"),
    Kind("controller-thread", Scope.BROKER, By.BROKER, PLAIN, "the controller thread of a ZooKeeper broker started: once per process"),
    Kind("log-directory-new", Scope.BROKER, By.BROKER, PLAIN, "a log directory had no meta.properties when a broker started: the directory was new or had been emptied"),
    Kind("zookeeper-silent", Scope.BROKER, By.BROKER, PLAIN, "the ZooKeeper client of a process received nothing for duration_ms from `time` on and closed its connection: the server or network did not respond, or the process was paused"),
    Kind("zookeeper-disconnected", Scope.BROKER, By.BROKER, PLAIN, "a process with a ZooKeeper session lost its connection, or tried in vain to connect again"),
    Kind("zookeeper-connected", Scope.BROKER, By.BROKER, PLAIN, "a process has a connection to ZooKeeper, and a session"),
    Kind("broker-id-mismatch", Scope.BROKER, By.BROKER, PLAIN, "the data of a broker belong to another broker: value is the configured id, reason the stored id; brokers: the stored ids, if log directories disagree"),
    Kind("log-dir-error", Scope.BROKER, By.BROKER, PLAIN, "an I/O error that takes its log directory offline; another event reports the directory offline, unless the lines after it are missing", undated=True),
    Kind("log-file-refused", Scope.BROKER, By.BROKER, PLAIN, "the exception after such an error: value is the file in the log directory, if named; reason is 'in-use' (Windows cannot rename or delete a file that is mapped or open), 'missing', 'full', 'read-only', 'io', 'handles', 'maps' (no further file could be mapped), 'unsupported' (the file system does not know the request) or 'denied'"),
    Kind("controller-refused", Scope.BROKER, By.BROKER, PLAIN, "a request from an old controller was ignored"),
    Kind("kafka-version", Scope.BROKER, By.BROKER | By.CONTROLLER, PLAIN, "value is the version the process printed"),
    Kind("start-time", Scope.BROKER, By.BROKER | By.CONTROLLER, PLAIN, "a process, or a client in it, prints the time in UTC by the same clock, taken just before: count is milliseconds since 1970"),
    Kind("cluster-id-mismatch", Scope.BROKER, By.BROKER | By.CONTROLLER, PLAIN, "the data of a broker belong to another cluster than the one it tried to join: value is the id of the cluster, reason the id in the data, if printed; key is 'registration' if a controller states this about another node"),
    Kind("fatal-error", Scope.BROKER, By.BROKER | By.CONTROLLER, PLAIN, "the process or one of its threads ended because of an error; reason is thread, process, locked, log-dir, disk, or the name of a fault; value is the thread or the step, key the exception and its cause"),
    Kind("out-of-memory", Scope.BROKER, By.RUNTIME, PLAIN, "the JVM could not allocate memory; value names which memory; reason is 'exit' if the JVM ends because of it, 'down-conversion' if the stack names that"),
    Kind("host-unresolved", Scope.BROKER, By.BROKER | By.CONTROLLER, PLAIN, "`node` could not resolve the name of a host; value is the name, broker the node there, if known"),
    Kind("connection-failed", Scope.BROKER, By.BROKER | By.CONTROLLER, Role.UNREACHABLE, "`node` could not connect to node `broker`; value is the address"),
    Kind("authentication-failed", Scope.BROKER, By.BROKER | By.CONTROLLER, PLAIN, "a connection was refused because of its identity; reason is 'client' (`node` connected to node `broker`) or 'server' (host connected to `node`); value is the error"),
    Kind("network-thread-error", Scope.BROKER, By.BROKER | By.CONTROLLER, PLAIN, "a thread of the socket server could not accept a connection (reason is accept) or failed at a request (request); key is the exception and its cause"),
    Kind("registration-refused", Scope.BROKER, By.BROKER, PLAIN, "`node` could not register in ZooKeeper; value is the reason, often a znode that belongs to an older session"),
    Kind("broker-registered", Scope.BROKER, By.BROKER | By.CONTROLLER | By.ZOOKEEPER, Role.REGISTERED, "a broker registered with the controller or in ZooKeeper"),
    Kind("broker-epoch-known", Scope.BROKER, By.CONTROLLER, PLAIN, "the ZooKeeper controller names the broker epoch with which `broker` registered"),
    Kind("broker-fenced", Scope.BROKER, By.CONTROLLER, Role.LOST, "the controller fenced `broker`"),
    Kind("session-expired", Scope.BROKER, By.BROKER, Role.LOST, "a ZooKeeper session expired"),
    Kind("broker-unfenced", Scope.BROKER, By.CONTROLLER, Role.BACK, "the controller unfenced `broker`"),
    Kind("shutdown-seen", Scope.BROKER, By.CONTROLLER, Role.STOP_SEEN, "the controller handles the controlled shutdown of `broker`"),
    Kind("jvm-pause", Scope.BROKER, By.RUNTIME, Role.PAUSE, "all threads of a process were paused for duration_ms from `time` on; reason is full, young, mixed, initial-mark, remark, cleanup, degenerated, safepoint, allocation-stall or other; value is the name that the JVM printed"),
    Kind("log-dir-offline", Scope.BROKER, By.BROKER | By.CONTROLLER, Role.LOG_DIR, "a log directory failed; reason is 'start' if it failed while the broker was starting, which then has no further line about it"),
    Kind("log-dir-partitions", Scope.PARTITION, By.REPLICA | By.CONTROLLER, Role.LOG_DIR, "a partition is offline because its log directory failed", without_step="moves neither the end of the log nor its high watermark", undated=True),
    # the cluster
    Kind("brokers-changed", Scope.CLUSTER, By.CONTROLLER, PLAIN, "the controller detected a change of the live brokers; reason is added, deleted, bounced, or live (the live brokers when it was elected)"),
    Kind("controller-resigned", Scope.CLUSTER, By.CONTROLLER, PLAIN, "a controller stopped being active"),
    Kind("controller-step-failed", Scope.CLUSTER, By.CONTROLLER, PLAIN, "the ZooKeeper controller failed at a step (value, in Kafka's words) and went on, or resigned; key is the exception and its cause"),
    Kind("quorum-warning", Scope.CLUSTER, By.CONTROLLER, PLAIN, "`node` misses the majority of the voters of the metadata quorum, or finds itself or the leader not among them (reason)"),
    Kind("quorum-role", Scope.CLUSTER, By.CONTROLLER, PLAIN, "`node` changes its role in the metadata quorum (reason); `controller` leads the quorum at controller_epoch, if known; brokers are the voters, and value is 'first' for the first role of a process, if the line says so; reason is 'leaderless' if the controller states that the epoch has no leader"),
    Kind("balance-checked", Scope.CLUSTER, By.CONTROLLER, PLAIN, "the active controller checks for leaders to move back to preferred replicas (auto.leader.rebalance.enable); count is the number of moves, if printed"),
    Kind("controller-elected", Scope.CLUSTER, By.CONTROLLER | By.ZOOKEEPER, Role.ELECTED, "`controller` became the active controller at controller_epoch"),
    Kind("znode-missing", Scope.CLUSTER, By.BROKER | By.CONTROLLER, PLAIN, "a permanent znode of Kafka (value) was missing; reason is 'no-node', or 'created' if Kafka created the znode, as in a new cluster or after ZooKeeper lost its data", ungathered="the znode is missing both in a new cluster and after ZooKeeper lost its data; controller epochs distinguish the two cases", unreported="reported as cluster-recreated, by the controller epochs"),
    Kind("migration-step", Scope.CLUSTER, By.CONTROLLER, PLAIN, "the migration from ZooKeeper to KRaft (KIP-866) on a controller: reason is 'enabled' (it starts in migration mode), 'copying', 'copied' (count brokers), 'waiting' (value: for what), 'aborted', 'refused', 'zookeeper-failed', or a state of its driver (MigrationDriverState), such as DUAL_WRITE"),
    Kind("migration-state", Scope.CLUSTER, By.CONTROLLER, PLAIN, "a controller applied a ZkMigrationStateRecord: value is the state; it repeats old ones after a restart"),
    Kind("broker-migrating", Scope.BROKER, By.BROKER, PLAIN, "a broker in ZooKeeper mode starts in migration mode (KIP-866); reason is 'started', or 'metadata-log-deleted' if it removes its copy of the metadata log, as it does at each such start from 3.7 on"),
    Kind("config", Scope.CLUSTER, By.BROKER | By.CONTROLLER | By.FILE | By.ZOOKEEPER | By.TOOL, Role.SETTING, "a setting of a topic, of a broker (topic is null) or of the cluster (broker is null too); value null or 'null' removes the setting; reason is the ConfigSource, if printed; an event without key lists in value the names of all `count` dynamic settings"),
    # topics and their clients
    Kind("topic-created", Scope.TOPIC, By.CONTROLLER, Role.TOPIC_MADE, "a topic was created"),
    Kind("topic-not-created", Scope.TOPIC, By.BROKER | By.CONTROLLER, PLAIN, "a topic could not be created because there were too few brokers: count is their number (null if all were fenced), value the replication factor that was asked for; key is the setting that it comes from, if it is an internal topic of a broker"),
    Kind("topic-deletion", Scope.TOPIC, By.CONTROLLER, Role.TOPIC_GOING, "the deletion of a topic started"),
    Kind("topic-deleted", Scope.TOPIC, By.CONTROLLER, Role.TOPIC_GONE, "the deletion of a topic completed", unreported="read by its role, with the other deletions of topics"),
    Kind("client-reset", Scope.PARTITION, By.CLIENT, PLAIN, "a consumer at previous_offset detected that the partition no longer has this offset; reason is out-of-range or truncation, value the consumer group"),
    Kind("group-commit", Scope.PARTITION, By.COORDINATOR | By.TOOL, PLAIN, "the committed offset of a consumer group (value); leader_epoch is the epoch of the last record read, if the client sent it; reason is 'deleted' if the commit was deleted or has expired (offset is null), 'share' if kafka-share-groups printed it, whose start offset may be behind; for a share group, offset is the start offset of the share-partition, leader_epoch the epoch of the leader that stored the state, and count the number of offsets above offset that are done as well"),
    Kind("group-member", Scope.PARTITION, By.COORDINATOR | By.TOOL, PLAIN, "a consumer group (value) had assigned the partition to a member with this client id (key) on this host; reason is the protocol of the group, if stated: classic, consumer (KIP-848) or share (KIP-932)"),
    Kind("transaction-state", Scope.PARTITION, By.COORDINATOR, PLAIN, "a transactional id (value) with the producer id `count` sent records to the partition in transactions; reason is the state of its transaction then: Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort, Dead or PrepareEpochFence"),
    Kind("group-coordinated", Scope.PARTITION, By.COORDINATOR, PLAIN, "a group coordinator names a consumer group (value) whose offsets this partition of __consumer_offsets contains"),
    # records of KRaft's metadata log
    Kind("metadata-topic", Scope.TOPIC, By.RECORD, Role.TOPIC_MADE, "TopicRecord"),
    Kind("metadata-topic-removed", Scope.TOPIC, By.RECORD, Role.TOPIC_GONE, "RemoveTopicRecord", unreported="read by its role, with the other deletions of topics"),
    Kind("metadata-partition", Scope.PARTITION, By.RECORD, Role.STATE, "PartitionRecord: a full state"),
    Kind("metadata-partition-change", Scope.PARTITION, By.RECORD, Role.STATE, "PartitionChangeRecord: only what changed"),
    Kind("metadata-config", Scope.CLUSTER, By.RECORD, Role.SETTING, "ConfigRecord"),
    Kind("metadata-broker", Scope.BROKER, By.RECORD, Role.REGISTERED, "RegisterBrokerRecord; key is 'zookeeper' if the broker is still in ZooKeeper mode (isMigratingZkBroker, KIP-866)"),
    Kind("metadata-broker-change", Scope.BROKER, By.RECORD, PLAIN, "fence, unfence or registration change; reason is fenced, unfenced, shutdown, registered or unregistered"),
    Kind("metadata-feature", Scope.CLUSTER, By.RECORD, PLAIN, "FeatureLevelRecord"),
    Kind("metadata-leader", Scope.CLUSTER, By.RECORD, Role.ELECTED, "LEADER_CHANGE control record: `controller` leads the quorum at controller_epoch"),
    Kind("metadata-migration", Scope.CLUSTER, By.RECORD, PLAIN, "ZkMigrationStateRecord: value is the state of the migration from ZooKeeper (KIP-866)"),
    Kind("metadata-written", Scope.CLUSTER, By.RECORD, PLAIN, "the last record of controller_epoch in a segment: the leader of the quorum was running then; reason is 'idle' if the leader also writes records when nothing happens (NoOpRecord, KIP-835), duration_ms the longest time between two of its records"),
    # files on a broker's disk
    Kind("hw-checkpoint", Scope.PARTITION, By.FILE, Role.CHECKPOINT, "row of replication-offset-checkpoint"),
    Kind("recovery-point", Scope.PARTITION, By.FILE, Role.CHECKPOINT, "row of recovery-point-offset-checkpoint: flushed below this offset"),
    Kind("log-start-checkpoint", Scope.PARTITION, By.FILE, Role.CHECKPOINT, "row of log-start-offset-checkpoint"),
    Kind("cleaner-checkpoint", Scope.PARTITION, By.FILE, Role.CHECKPOINT, "row of cleaner-offset-checkpoint: first dirty offset", without_step="read by forensics.proof.observed"),
    Kind("epoch-entry", Scope.PARTITION, By.FILE, Role.EPOCH, "row of leader-epoch-checkpoint: leader_epoch starts at offset", without_step="read by forensics.proof.lineage"),
    Kind("epoch-file", Scope.PARTITION, By.FILE, Role.EPOCH, "a leader-epoch-checkpoint was read; count is the number of its entries, which may be 0", without_step="read by forensics.proof.lineage"),
    Kind("segment", Scope.PARTITION, By.FILE, PLAIN, "a segment file: offset is its base offset, log_end_offset is the offset after its last valid batch"),
    Kind("partition-metadata", Scope.PARTITION, By.FILE, PLAIN, "partition.metadata: the topic id of a replica", without_step="read by forensics.proof.observed"),
    Kind("log-directory-identity", Scope.BROKER, By.FILE, PLAIN, "meta.properties: node, cluster id in value, directory id in directory"),
    Kind("clean-shutdown-file", Scope.BROKER, By.FILE, PLAIN, ".kafka_cleanshutdown exists: the broker is stopped and its last shutdown was clean"),
    Kind("quorum-state", Scope.CLUSTER, By.FILE | By.TOOL, PLAIN, "quorum-state: the leader of the metadata quorum"),
    # output and input of the Kafka tools, and data in ZooKeeper
    Kind("assignment", Scope.PARTITION, By.ZOOKEEPER | By.TOOL, PLAIN, "the replicas of a partition as a file lists them; reason is plan, proposed, current or stored (in ZooKeeper); directory lists log_dirs"),
    Kind("isr-change-notified", Scope.PARTITION, By.ZOOKEEPER, PLAIN, "a notification in ZooKeeper by a leader that the ISR of a partition changed", unreported="the ISR itself is in the state of the partition"),
    Kind("election-plan", Scope.PARTITION, By.TOOL, PLAIN, "a partition for which a file requests a leader election", unreported="an intention; the election has events of its own"),
    Kind("tool-reassignment", Scope.PARTITION, By.TOOL, PLAIN, "output of kafka-reassign-partitions; reason is started, completed, in-progress, not-active, failed, cancelled or throttled; broker and directory are set for a move between log directories", unreported="output of a tool; the controller reports the reassignment"),
    Kind("tool-election", Scope.PARTITION, By.TOOL, PLAIN, "output of an election tool about a partition; reason is PREFERRED or UNCLEAN, value is completed, started, not-needed, failed or skipped"),
    Kind("replica-size", Scope.PARTITION, By.TOOL, PLAIN, "kafka-log-dirs: bytes of a replica of `broker` in a directory, count is its offset lag; reason is 'future' for the copy of a move"),
    Kind("tool-offset", Scope.PARTITION, By.TOOL, PLAIN, "kafka-get-offsets: offset of a partition; latest is the high watermark, earliest the log start offset", unreported="a value of one moment, shown in the timeline"),
    Kind("describe-partition", Scope.PARTITION, By.TOOL, Role.DESCRIPTION, "partition line of kafka-topics --describe"),
    Kind("describe-topic", Scope.TOPIC, By.TOOL, Role.DESCRIPTION, "topic line of kafka-topics --describe"),
    Kind("log-dir-reported", Scope.BROKER, By.ZOOKEEPER | By.TOOL, PLAIN, "kafka-log-dirs or a notification in ZooKeeper: a log directory of `broker`; value is its error, null if it has none", ungathered="describes one moment; the broker itself reports when a directory fails", unreported="a state of one moment; the broker reports the failure"),
    Kind("quorum-replica", Scope.CLUSTER, By.TOOL, PLAIN, "kafka-metadata-quorum: log_end_offset of `broker` in __cluster_metadata, count is its lag; reason is leader, follower or observer", ungathered="describes one moment, and not a replica of a partition", unreported="a state of one moment; the changes of roles are reported as quorum-lost"),
    Kind("load-metric", Scope.BROKER, By.TOOL, PLAIN, "a metric of `broker` from a file of load metrics: key is its name, value the number", ungathered="added up while the file is read, because a file may have millions (forensics.model.cluster.balance)"),
    # lines that only the user's patterns read
    Kind("own-event", Scope.BROKER, By.OWN, PLAIN, "what a user's pattern reads for a user's rule: no built-in rule uses it", unreported="rules of users report it"),
    Kind("own-partition-event", Scope.PARTITION, By.OWN, PLAIN, "the same about a partition", unreported="rules of users report it"),
    # the evidence
    Kind("source", Scope.EVIDENCE, By.READER, PLAIN, "description of a source; one event per source"),
    Kind("archive", Scope.EVIDENCE, By.READER, PLAIN, "an archive or compressed file on disk: value is its SHA-256, bytes its size, reason its format"),
    Kind("events-left-out", Scope.PARTITION, By.READER, PLAIN, "`count` events from `at` to `last_at` were left out because a process cannot hold them all; similar events before and after them are kept, and text is that of the first"),
    Kind("problem", Scope.EVIDENCE, By.READER, PLAIN, "data that could not be read; reason is a short word for the cause, text describes it"),
)
# fmt: on
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _KINDS}


def of(*, scope: Scope | None = None, by: By | None = None, role: Role | None = None) -> frozenset[str]:
    """Names of the kinds with this scope, one of these sources and one of these roles; None matches all."""
    return frozenset(
        k.name
        for k in KINDS.values()
        if (scope is None or k.scope is scope) and (by is None or k.by & by) and (role is None or k.role & role)
    )


def named(*names: str) -> frozenset[str]:
    """The given names as a set, for a reader whose kinds share no attribute. Raises KeyError on an unknown kind."""
    return frozenset(KINDS[name].name for name in names)


UNDATED = frozenset(k.name for k in KINDS.values() if k.undated)
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
RETENTION = ("retention-time", "retention-size")
"""Reasons of segment-delete by which the first segments of a log go."""
