"""The quorum of controllers behind __cluster_metadata: its leader, and losses of its log.

Here: KafkaRaftClient, QuorumState, LeaderState, FollowerState, the metadata log (org.apache.kafka.raft, kafka.raft). Not here: what
the active controller does (kraft) or the records of the log itself (parsers.formats.metadata_log).
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from parsers.patterns.pattern import Pattern, Sample
from parsers.schemas import Row

_RAFT = ("org.apache.kafka.raft.KafkaRaftClient",)
_QUORUM_STATE = ("org.apache.kafka.raft.QuorumState",)
_LEADER_STATE = ("org.apache.kafka.raft.LeaderState",)
_METADATA = {"topic": "__cluster_metadata", "partition": 0}

_EPOCH = regex.compile(r"\bepoch=(\d+)")
_LEADER = regex.compile(r"\bleader(?:Id)?=(?:OptionalInt\[)?(\d+)")
_HIGH_WATERMARK = regex.compile(r"highWatermark=Optional\[LogOffsetMetadata\(offset=(\d+)")
_VOTERS = regex.compile(r"\bvoters=\[([^\]]*)\]")
_NUMBER = regex.compile(r"\d+")


def _role(row: Row) -> Iterator[Row]:
    """Role, epoch and leader of the new state, which is printed before the old one in the same form, and the voters that either names."""
    role, states = row["_groups"]["_role"], row["_groups"]["_state"]
    state, _, before = states.partition(" from ")
    epoch, leader, mark = _EPOCH.search(state), _LEADER.search(state), _HIGH_WATERMARK.search(state)
    voters = _VOTERS.search(states)
    row["reason"] = role.lower()
    row["controller_epoch"] = int(epoch[1]) if epoch else None
    row["controller"] = row.get("node") if role == "Leader" else int(leader[1]) if leader else None
    row["high_watermark"] = int(mark[1]) if mark else None
    row["brokers"] = sorted({int(voter) for voter in _NUMBER.findall(voters[1])}) if voters else None
    row["value"] = "first" if before.startswith("null") else None
    yield row


PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        name="raft-role",
        event="quorum-role",
        literal="Completed transition to ",
        regex=r"Completed transition to (?P<_role>Leader|Follower|Candidate|Prospective|Unattached|Voted|Resigned)(?:State)?\((?P<_state>.*)",
        versions=("2.7", "4.4"),
        loggers=_QUORUM_STATE,
        explode=_role,
        samples=(
            Sample(
                "[2026-11-21 02:02:52,500] INFO [RaftManager nodeId=1] Completed transition to FollowerState(fetchTimeoutMs=2000, epoch=1,"
                " leaderId=100, voters=[100], highWatermark=Optional.empty, fetchingSnapshot=Optional.empty)"
                " (org.apache.kafka.raft.QuorumState)",
                {"node": 1, "reason": "follower", "controller": 100, "controller_epoch": 1, "high_watermark": None, "brokers": [100]},
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
                {
                    "node": 1,
                    "reason": "unattached",
                    "controller": 101,
                    "controller_epoch": 5,
                    "high_watermark": 900,
                    "brokers": [100, 101],
                    "value": "first",
                },
                "source: 4.1 UnattachedState",
            ),
            Sample(
                "[2026-11-21 02:02:52,500] INFO [RaftManager id=1] Completed transition to ResignedState(localId=1, epoch=5, voters=[1, 2],"
                " electionTimeoutMs=1669, unackedVoters=[2], preferredSuccessors=[]) from null (org.apache.kafka.raft.QuorumState)",
                {"node": 1, "reason": "resigned", "controller": None, "controller_epoch": 5, "brokers": [1, 2], "value": "first"},
                "source: 3.9 ResignedState",
            ),
        ),
        note="Every voter and observer, brokers too, prints it for each change of the quorum's leader.",
    ),
    Pattern(
        name="raft-committed-lost",
        event="hw-regression",
        literal="The latest computed high watermark ",
        regex=r"The latest computed high watermark (?P<high_watermark>\d+) is smaller than the current value (?P<previous_offset>\d+),"
        r" which .*",
        versions=("3.0", "4.4"),
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
        note="INFO from 3.8, because a change of the voters may print it too.",
    ),
    Pattern(
        name="raft-truncated",
        event="truncation",
        literal="Truncated to offset ",
        regex=r"Truncated to offset (?P<offset>\d+) from Fetch response from leader (?P<leader>-?\d+)",
        versions=("2.7", "4.4"),
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
        versions=("3.6", "4.4"),
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
        versions=("3.0", "4.4"),
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
