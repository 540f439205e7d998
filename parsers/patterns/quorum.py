"""The quorum of controllers behind __cluster_metadata: who leads it, and what its log lost.

Here: KafkaRaftClient, QuorumState, LeaderState, FollowerState, the metadata log (org.apache.kafka.raft, kafka.raft). Not here: what
the active controller then does (kraft) or the records of the log itself (parsers.metadata_log).
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from parsers.patterns.pattern import Pattern, Sample, Statement, recognised
from parsers.schemas import Row

_RAFT = ("org.apache.kafka.raft.KafkaRaftClient",)
_DRIVER = ("org.apache.kafka.raft.KafkaRaftClientDriver", "kafka.raft.KafkaRaftManager$RaftIoThread")
_QUORUM_STATE = ("org.apache.kafka.raft.QuorumState",)
_LEADER_STATE = ("org.apache.kafka.raft.LeaderState",)
_ROLES = (*_LEADER_STATE, "org.apache.kafka.raft.FollowerState")
_LOG = ("kafka.raft.KafkaMetadataLog", "org.apache.kafka.raft.internals.KafkaRaftLog")
_METADATA = {"topic": "__cluster_metadata", "partition": 0}

_EPOCH = regex.compile(r"\bepoch=(\d+)")
_LEADER = regex.compile(r"\bleader(?:Id)?=(?:OptionalInt\[)?(\d+)")
_HIGH_WATERMARK = regex.compile(r"highWatermark=Optional\[LogOffsetMetadata\(offset=(\d+)")


def _role(row: Row) -> Iterator[Row]:
    """Role, epoch and leader of the state entered; the state left behind stands after it, in the same form."""
    role, state = row["_groups"]["_role"], row["_groups"]["_state"].partition(" from ")[0]
    epoch, leader, mark = _EPOCH.search(state), _LEADER.search(state), _HIGH_WATERMARK.search(state)
    row["reason"] = role.lower()
    row["controller_epoch"] = int(epoch[1]) if epoch else None
    row["controller"] = row.get("node") if role == "Leader" else int(leader[1]) if leader else None
    row["high_watermark"] = int(mark[1]) if mark else None
    yield row


_EVENTS: tuple[Pattern, ...] = (
    Pattern(
        name="raft-role",
        event="quorum-role",
        literal="Completed transition to ",
        regex=r"Completed transition to (?P<_role>Leader|Follower|Candidate|Prospective|Unattached|Voted|Resigned)(?:State)?\((?P<_state>.*)",
        versions=("2.7", "4.3"),
        loggers=_QUORUM_STATE,
        explode=_role,
        samples=(
            Sample(
                "[2026-11-21 02:02:52,500] INFO [RaftManager nodeId=1] Completed transition to FollowerState(fetchTimeoutMs=2000, epoch=1,"
                " leaderId=100, voters=[100], highWatermark=Optional.empty, fetchingSnapshot=Optional.empty)"
                " (org.apache.kafka.raft.QuorumState)",
                {"node": 1, "reason": "follower", "controller": 100, "controller_epoch": 1, "high_watermark": None},
                "source: 3.3 FollowerState",
            ),
            Sample(
                "[2026-11-21 02:02:52,500] INFO [RaftManager id=100] Completed transition to Leader(localReplicaKey=ReplicaKey(id=100,"
                " directoryId=Optional[wmMOqd3PGGMQu5_FCeSdgA]), epoch=4, epochStartOffset=812, highWatermark=Optional.empty, voterStates={})"
                " from CandidateState(localId=100, localDirectoryId=wmMOqd3PGGMQu5_FCeSdgA,epoch=4, retries=1, voteStates={},"
                " highWatermark=Optional[LogOffsetMetadata(offset=812, metadata=Optional.empty)], electionTimeoutMs=1669)"
                " (org.apache.kafka.raft.QuorumState)",
                {"node": 100, "reason": "leader", "controller": 100, "controller_epoch": 4, "high_watermark": None},
                "source: 3.9 LeaderState",
            ),
            Sample(
                "[2026-11-21 02:02:52,500] INFO [RaftManager id=1] Completed transition to UnattachedState(epoch=5, leaderId=OptionalInt[101],"
                " votedKey=Optional.empty, voters=[100, 101], electionTimeoutMs=1669, highWatermark=Optional[LogOffsetMetadata(offset=900,"
                " metadata=Optional.empty)]) from null (org.apache.kafka.raft.QuorumState)",
                {"node": 1, "reason": "unattached", "controller": 101, "controller_epoch": 5, "high_watermark": 900},
                "source: 4.1 UnattachedState",
            ),
            Sample(
                "[2026-11-21 02:02:52,500] INFO [RaftManager id=1] Completed transition to ResignedState(localId=1, epoch=5, voters=[1, 2],"
                " electionTimeoutMs=1669, unackedVoters=[2], preferredSuccessors=[]) from null (org.apache.kafka.raft.QuorumState)",
                {"node": 1, "reason": "resigned", "controller": None, "controller_epoch": 5},
                "source: 3.9 ResignedState",
            ),
        ),
        note="A voter or observer prints it for every change of the quorum's leader, brokers too.",
    ),
    Pattern(
        name="raft-committed-lost",
        event="hw-regression",
        literal="The latest computed high watermark ",
        regex=r"The latest computed high watermark (?P<high_watermark>\d+) is smaller than the current value (?P<previous_offset>\d+),"
        r" which .*",
        versions=("3.0", "4.3"),
        loggers=_LEADER_STATE,
        fixed=_METADATA,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] ERROR [RaftManager nodeId=1] The latest computed high watermark 40 is smaller than the current"
                " value 55,"
                " which suggests that one of the voters has lost committed data. Full voter replication state: []"
                " (org.apache.kafka.raft.LeaderState)",
                {"topic": "__cluster_metadata", "partition": 0, "high_watermark": 40, "previous_offset": 55},
                "source: 3.4 LeaderState",
            ),
        ),
        note="From 3.8 INFO, because a change of the voters may print it too.",
    ),
    Pattern(
        name="raft-truncated",
        event="truncation",
        literal="Truncated to offset ",
        regex=r"Truncated to offset (?P<offset>\d+) from Fetch response from leader (?P<leader>-?\d+)",
        versions=("2.7", "4.3"),
        loggers=_RAFT,
        fixed=_METADATA,
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [RaftManager id=1] Truncated to offset 40 from Fetch response from leader 3"
                " (org.apache.kafka.raft.KafkaRaftClient)",
                {"node": 1, "topic": "__cluster_metadata", "partition": 0, "offset": 40, "leader": 3},
                "source: 3.9 KafkaRaftClient",
            ),
        ),
    ),
    Pattern(
        name="raft-truncated-fully",
        event="truncation",
        literal="Fully truncated the log at (",
        regex=r"Fully truncated the log at \((?P<offset>\d+), (?P<leader_epoch>\d+)\) after downloading snapshot .* from leader"
        r" (?P<leader>-?\d+)",
        versions=("3.6", "4.3"),
        loggers=_RAFT,
        fixed={**_METADATA, "reason": "snapshot"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] INFO [RaftManager id=1] Fully truncated the log at (400, 3) after downloading snapshot"
                " OffsetAndEpoch(offset=400, epoch=3) from leader 3 (org.apache.kafka.raft.KafkaRaftClient)",
                {"offset": 400, "leader_epoch": 3, "leader": 3, "reason": "snapshot"},
                "source: 3.6 KafkaRaftClient",
            ),
        ),
    ),
    Pattern(
        name="raft-voter-went-back",
        event="fetch-offset-reset",
        literal="Detected non-monotonic update of fetch offset from nodeId ",
        regex=r"Detected non-monotonic update of fetch offset from nodeId (?:ReplicaKey\(id=)?(?P<broker>\d+).*?:"
        r" (?P<previous_offset>\d+) -> (?P<offset>\d+)",
        versions=("3.0", "4.3"),
        loggers=_LEADER_STATE,
        fixed={**_METADATA, "reason": "non-monotonic"},
        samples=(
            Sample(
                "[2024-05-01 12:00:00,123] WARN [RaftManager id=1] Detected non-monotonic update of fetch offset from nodeId 2: 55 -> 0"
                " (org.apache.kafka.raft.LeaderState)",
                {"node": 1, "broker": 2, "previous_offset": 55, "offset": 0, "topic": "__cluster_metadata"},
                "source: 3.5 LeaderState",
            ),
            Sample(
                "[2024-05-01 12:00:00,123] WARN [RaftManager id=1] Detected non-monotonic update of fetch offset from nodeId"
                " ReplicaKey(id=2,"
                " directoryId=8RsQlEeYOccKWiMUrV7Tnw): 55 -> 0 (org.apache.kafka.raft.LeaderState)",
                {"broker": 2, "previous_offset": 55, "offset": 0},
                "source: 3.9 LeaderState",
            ),
        ),
        note="A voter that fetches from a lower offset than before has lost part of its metadata log.",
    ),
)

_IRRELEVANT: tuple[Statement, ...] = (
    ("transition-attempted", "Attempting durable transition to ", "{}.*", ("3.9", "4.3"), _QUORUM_STATE,
     "[RaftManager id=100] Attempting durable transition to UnattachedState(epoch=2, leaderId=OptionalInt.empty) from null"),
    ("epoch-behind", ", which is smaller than last written epoch ", "Epoch from quorum.*{}.*", ("2.7", "4.3"), _QUORUM_STATE,
     "[RaftManager id=100] Epoch from quorum-state file is 3, which is smaller than last written epoch 4 in the log"),
    ("state-cleared", "Clearing local quorum state store after error loading state ", "{}.*", ("2.7", "3.7"), _QUORUM_STATE,
     "[RaftManager nodeId=100] Clearing local quorum state store after error loading state /data/__cluster_metadata-0/quorum-state"),
    ("leader-no-voter", "The leader in election state ", "{}.* is not a member of the latest voter set .*", ("3.9", "4.3"), _QUORUM_STATE,
     "[RaftManager id=100] The leader in election state ElectionState(epoch=1) is not a member of the latest voter set VoterSet(voters={});"
     " transitioning to unattached instead of follower because the leader's endpoints are not known"),
    ("hw", "High watermark set to ", "{}.*", ("3.4", "4.3"), _ROLES,
     "[RaftManager id=3] High watermark set to Optional[LogOffsetMetadata(offset=36, metadata=Optional.empty)] for the first time for"
     " epoch 1"),
    ("quorum-lost", "Did not receive fetch request from the majority of the voters within ", "{}.*", ("3.7", "4.3"), _LEADER_STATE,
     "[RaftManager id=3] Did not receive fetch request from the majority of the voters within 3000ms. Current fetched voters are []."),
    ("voters-lack-version", "Not all voters support kraft version ", "{}.*", ("4.1", "4.3"), _LEADER_STATE,
     "[RaftManager id=3] Not all voters support kraft version 1: VoterSet(voters={})"),
    ("voters-appended", " to the batch accumulator", "Appended (?:kraft\\.version|voter set) .*{}", ("4.1", "4.3"), _LEADER_STATE,
     "[RaftManager id=3] Appended kraft.version 1 to the batch accumulator"),
    ("voters-updated", "Updated in-memory voters from ", "{}.*", ("4.0", "4.3"), ("org.apache.kafka.raft.internals.UpdateVoterHandler",),
     "[RaftManager id=3] Updated in-memory voters from VoterSet(voters={}) to VoterSet(voters={})"),
    ("vote", "Vote request ", "{}.* is (?:granted|rejected)", ("2.7", "4.3"), _RAFT,
     "[RaftManager id=101] Vote request VoteRequestData(clusterId='7Pvf_hjyTn6fyf84WCs5ZA', voterId=101, topics=[]) with epoch 2 is granted"),
    ("vote-refused", " in the VOTE request that doesn't match the local key ", ".*{}.*", ("3.9", "4.3"), _RAFT,
     "[RaftManager id=101] Candidate sent a voter key (ReplicaKey(id=1)) in the VOTE request that doesn't match the local key (101, x);"
     " rejecting the vote"),
    ("begin-refused", " in the BEGIN_QUORUM_EPOCH request that doesn't match the local key ", ".*{}.*", ("3.9", "4.3"), _RAFT,
     "[RaftManager id=101] Leader sent a voter key (ReplicaKey(id=1)) in the BEGIN_QUORUM_EPOCH request that doesn't match the local key"
     " (101, x); returning INVALID_VOTER_KEY"),
    ("voter-key", "Voter key for VOTE or BEGIN_QUORUM_EPOCH request didn't match ", "{}.*", ("3.9", "4.3"), _RAFT,
     "[RaftManager id=101] Voter key for VOTE or BEGIN_QUORUM_EPOCH request didn't match the receiver's replica key: ReplicaKey(id=1)"),
    ("vote-epoch", "Received a vote request from replica ", "{}.*", ("4.0", "4.3"), _RAFT,
     "[RaftManager id=101] Received a vote request from replica 1 with illegal epoch 5, last epoch 5, preVote=true"),
    ("votes-insufficient", "Insufficient remaining votes to become ", "{}.*", ("2.7", "4.3"), _RAFT,
     "[RaftManager id=101] Insufficient remaining votes to become leader (rejected by [100]). We will backoff before retrying election"
     " again"),
    ("election-backoff", " after election backoff has completed", "(?:Re-elect as candidate|Transition to prospective){}", ("2.7", "4.0"),
     _RAFT, "[RaftManager id=101] Re-elect as candidate after election backoff has completed"),
    ("election-timeout", "Election timed out before ", "{}.*", ("4.0", "4.3"), _RAFT,
     "[RaftManager id=101] Election timed out before receiving sufficient vote responses to become candidate. Current epoch election"
     " state: EpochElection()"),
    ("election-backing-off", "Election has timed out, backing off for ", "{}.*", ("2.7", "3.9"), _RAFT,
     "[RaftManager id=101] Election has timed out, backing off for 100ms before becoming a candidate again"),
    ("election-not-granted", "Election was not granted, transitioning to prospective", "{}", ("4.0", "4.3"), _RAFT,
     "[RaftManager id=101] Election was not granted, transitioning to prospective"),
    ("fetch-timeout", " due to fetch timeout", "(?:Become candidate|Transitioning to Prospective state){}", ("2.7", "4.3"), _RAFT,
     "[RaftManager id=101] Become candidate due to fetch timeout"),
    ("pre-vote-unsupported", "Prospective received unsupported version error in vote response ", "{}.*", ("4.0", "4.3"), _RAFT,
     "[RaftManager id=101] Prospective received unsupported version error in vote response in epoch 5, transitioning to Candidate state"
     " immediately since at least one voter doesn't support PreVote."),
    ("resign-asked", "Received user request to resign from the current epoch ", "{}\\d+", ("3.0", "4.3"), _RAFT,
     "[RaftManager id=101] Received user request to resign from the current epoch 5"),
    ("fetch-failed", "Failed to handle fetch from ", "{}.*", ("3.5", "4.3"), _RAFT,
     "[RaftManager id=101] Failed to handle fetch from 1 at 5 due to NOT_LEADER_OR_FOLLOWER"),
    ("fetch-completion", "Caught unexpected error in fetch completion of request ", "{}.*", ("2.7", "4.3"), _RAFT,
     "[RaftManager id=101] Caught unexpected error in fetch completion of request FetchRequestData()"),
    ("response-odd", " response: ", "Unexpected error (?!INCONSISTENT_CLUSTER_ID).* in .*{}.*", ("2.7", "4.3"), _RAFT,
     "[RaftManager id=101] Unexpected error UNKNOWN_SERVER_ERROR in FETCH response: InboundResponse()"),
    ("append-failed", "Failed to commit append at ", "{}.*", ("2.7", "2.7"), _RAFT,
     "[RaftManager id=101] Failed to commit append at OffsetAndEpoch(offset=5, epoch=1) due to org.apache.kafka.common.errors.X"),
    ("append-batch-failed", "Failed to append the records with the batch header ", "{}.*", ("4.1", "4.3"), _RAFT,
     "[RaftManager id=101] Failed to append the records with the batch header '0a' to the log"),
    ("snapshot-id", "The leader sent a snapshot id with a valid ", "{}.*", ("2.8", "4.3"), _RAFT,
     "[RaftManager id=101] The leader sent a snapshot id with a valid end offset 5 but with an invalid epoch -1"),
    ("snapshot-unknown", "Leader doesn't know about snapshot id ", "{}.*", ("3.5", "4.3"), _RAFT,
     "[RaftManager id=101] Leader doesn't know about snapshot id Optional[OffsetAndEpoch(offset=5, epoch=1)], returned error 98 and"
     " snapshot id SnapshotId(endOffset=5, epoch=1)"),
    ("snapshot-fetched", "Fetching snapshot ", "{}.* from Fetch response from leader -?\\d+", ("3.6", "4.3"), _RAFT,
     "[RaftManager id=101] Fetching snapshot OffsetAndEpoch(offset=5, epoch=1) from Fetch response from leader 100"),
    ("snapshot-stored", " in the FETCH response which is already stored", "Leader -?\\d+ returned a snapshot .*{}", ("3.9", "4.3"), _RAFT,
     "[RaftManager id=101] Leader 100 returned a snapshot OffsetAndEpoch(offset=5, epoch=1) in the FETCH response which is already stored"),
    ("listener", "egistered the listener ", "(?:R|Unr){}.*", ("3.0", "4.3"), _RAFT,
     "[RaftManager id=1] Registered the listener org.apache.kafka.image.loader.MetadataLoader@1659733349"),
    ("listener-odd", " a listener that ", "Attempting to (?:add|remove){}.*", ("3.0", "4.3"), _RAFT,
     "[RaftManager id=1] Attempting to add a listener that already exists: MetadataLoader"),
    ("listener-offset", "Setting the next offset of ", "{}.*", ("3.9", "4.3"), _RAFT,
     "[RaftManager id=1] Setting the next offset of org.apache.kafka.image.loader.MetadataLoader@1659733349 to 0 since there are no"
     " snapshots"),
    ("starting", "Reading KRaft snapshot and log as part of the initialization", "{}", ("3.8", "4.3"), _RAFT,
     "[RaftManager id=1] Reading KRaft snapshot and log as part of the initialization"),
    ("starting-requests", "Starting request manager with ", "{}.*", ("3.8", "4.3"), _RAFT,
     "[RaftManager id=1] Starting request manager with static voters: [127.0.0.1:52377 (id: 100 rack: null)]"),
    ("starting-voters", "Starting voters are ", "{}.*", ("3.9", "4.3"), _RAFT, "[RaftManager id=1] Starting voters are VoterSet(voters={})"),
    ("cleaning", "Had an error during log cleaning", "{}", ("3.0", "4.3"), _RAFT, "[RaftManager id=1] Had an error during log cleaning"),
    ("shutdown", "raceful shutdown", "(?:Beginning g|G|Completed g){}(?: .*)?", ("2.7", "4.3"), _RAFT + _DRIVER,
     "[RaftManager id=1] Beginning graceful shutdown"),
    ("thread", "-io-thread]: ", "(?:Starting|Shutting down|Shutdown completed|Stopped)", ("2.7", "4.3"), _DRIVER,
     "[kafka-1-raft-io-thread]: Starting"),
    ("snapshots-initialized", "Initialized snapshots with IDs ", "{}.*", ("3.3", "4.3"), _LOG,
     "[MetadataLog partition=__cluster_metadata-0, nodeId=2] Initialized snapshots with IDs SortedSet() from /data/__cluster_metadata-0"),
    ("snapshot-refused", "Cannot create a snapshot with an id ", "{}.*", ("3.0", "4.3"), _LOG,
     "[MetadataLog partition=__cluster_metadata-0, nodeId=2] Cannot create a snapshot with an id (OffsetAndEpoch(offset=5, epoch=1)) less"
     " than the log start offset (9)"),
    ("snapshot-missing", "; expected to find snapshot file ", "Couldn't read .*{}.*", ("3.0", "4.3"), _LOG,
     "[MetadataLog partition=__cluster_metadata-0, nodeId=2] Couldn't read OffsetAndEpoch(offset=5, epoch=1); expected to find snapshot"
     " file /data/x.checkpoint"),
    ("snapshot-unheaded", "Did not find control record at beginning of snapshot", "{}", ("3.0", "3.4"), _LOG,
     "Did not find control record at beginning of snapshot"),
    ("snapshot-marked", "Marking snapshot ", "{}.* for deletion.*", ("3.0", "4.3"), _LOG,
     "[MetadataLog partition=__cluster_metadata-0, nodeId=2] Marking snapshot OffsetAndEpoch(offset=5, epoch=1) for deletion"),
    ("snapshot-deleted", "Deleted unneeded snapshot file with path ", "{}.*", ("3.3", "4.3"), _LOG,
     "[MetadataLog partition=__cluster_metadata-0, nodeId=2] Deleted unneeded snapshot file with path /data/x.checkpoint.part"),
    ("hw-differs", " is different from the local replica's high watermark ", "Log's high watermark .*{}.*", ("3.6", "4.3"), _LOG,
     "[MetadataLog partition=__cluster_metadata-0, nodeId=2] Log's high watermark (LogOffsetMetadata(offset=5)) is different from the local"
     " replica's high watermark (LogOffsetMetadata(offset=4))"),
    ("segment-size", " is only supported for testing. Setting this value too low ", "Overriding .*{}.*", ("3.0", "4.3"), _LOG,
     "[MetadataLog partition=__cluster_metadata-0, nodeId=2] Overriding metadata.log.segment.min.bytes is only supported for testing."
     " Setting this value too low may lead to an inability to write batches of metadata records."),
)  # fmt: skip
"""Votes on the way to a role, snapshots of the metadata log, starts and stops."""

PATTERNS: tuple[Pattern, ...] = (*_EVENTS, *recognised("raft", _RAFT[0], _IRRELEVANT))
