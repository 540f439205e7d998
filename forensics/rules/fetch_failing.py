"""fetch-failing: the fetches of a follower failed for longer than a leader change takes, so its replica does not advance.

Here: errors that the fetcher tries again, and those with which a log ends. Not here: fetchers that ended or gave the partition up (fetcher_dead), leaders that cannot be
reached (connection_failed), failed log directories (log_dir_failure).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import exception, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, capital, moment, period, quote
from forensics.model.partition.fetch_failures import TRIED_AGAIN, Streak, streaks, unfinished
from forensics.model.partition.timeline import PartitionTimeline
from forensics.output.shell import option


@dataclass(frozen=True, slots=True)
class _Why:
    cause: str
    words: str
    next_steps: tuple[str, ...]


_TOPIC_UNKNOWN = _Why(
    "unknown-partition",
    "the leader does not host the partition",
    (
        "If the topic {topic} was deleted, wait until the deletion ends. Otherwise compare `kafka-topics.sh --describe {option}` with the brokers that have a directory {place}.",
        "If {leader} is the leader of {place} by the metadata and has no replica, have the controller send the state again: restart {leader}, or move the controller.",
    ),
)
_NOT_LEADER = _Why(
    "not-leader",
    "the broker that it takes for the leader does not lead the partition",
    (
        "Compare the leader in `kafka-topics.sh --describe {option}` with {leader}, from which {follower} fetches {place}; they should agree within seconds.",
        "Restart {follower} if they do not agree: then it receives the state of its partitions again.",
    ),
)
_TOPIC_ID = _Why(
    "topic-id",
    "leader and follower have different topic ids for the partition",
    (
        "Compare `topic_id` in partition.metadata of {place} on {leader} and {follower} with `kafka-topics.sh --describe {option}`, and see topic-id-mismatch.",
    ),
)
_DAMAGED = _Why(
    "corrupt-batch",
    "the leader sent a damaged batch",
    (
        "Check the segments of {place} on {leader}{at} with `kafka-dump-log.sh --files SEGMENT --deep-iteration`.",
        "If the batch of {place} is damaged on {leader} and undamaged on another in-sync replica, move the leadership to that replica, stop {leader}, move its directory {place} out of the log directory, and start {leader} again: it copies the partition. If the file on {leader} is undamaged, suspect the network or the memory of the machines.",
    ),
)
_OUT_OF_RANGE = _Why(
    "offset-out-of-range",
    "the leader did not have the offset that it asked for",
    (
        "Compare retention.ms and retention.bytes of {topic} with the speed of {follower}: a follower that copies more slowly than the leader deletes repeatedly starts at the log start.",
    ),
)
_TOO_LARGE = _Why(
    "message-too-large",
    "a message is larger than replica.fetch.max.bytes",
    ("Raise `replica.fetch.max.bytes` on the followers above `max.message.bytes` of {topic}, and restart them.",),
)
_REMOTE = _Why(
    "remote-log",
    "the state of the log in the remote tier could not be read",
    ("Check the remote storage and the topic __remote_log_metadata, which {follower} needs to know where its log of {place} begins.",),
)
_PAUSED = "cannot be aborted and paused"
_CLEANING_PAUSED = _Why(
    "cleaning-paused",
    "an earlier error had left the log cleaner of the partition paused",
    (
        "Restart {follower}: the state of its log cleaner is in memory. Upgrade to 0.11.0 or later, where a failed truncation resumes the cleaner (KAFKA-3123).",
    ),
)
_WHY = {
    "UnknownTopicOrPartitionException": _TOPIC_UNKNOWN,
    "UNKNOWN_TOPIC_OR_PARTITION": _TOPIC_UNKNOWN,
    "NotLeaderForPartitionException": _NOT_LEADER,
    "NotLeaderOrFollowerException": _NOT_LEADER,
    "NOT_LEADER_OR_FOLLOWER": _NOT_LEADER,
    "UNKNOWN_TOPIC_ID": _TOPIC_ID,
    "INCONSISTENT_TOPIC_ID": _TOPIC_ID,
    "InconsistentTopicIdException": _TOPIC_ID,
    "UnknownTopicIdException": _TOPIC_ID,
    "invalid-messages": _DAMAGED,
    "CorruptRecordException": _DAMAGED,
    "CORRUPT_MESSAGE": _DAMAGED,
    "OFFSET_OUT_OF_RANGE": _OUT_OF_RANGE,
    "message-too-large": _TOO_LARGE,
    "remote-log": _REMOTE,
}


def detect(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for streak in streaks(timeline):
        yield _finding(streak, timeline, cluster)
    for streak in unfinished(timeline, cluster):
        yield _unfinished(streak, timeline, cluster)


def _goes_on(follower: int | None, last: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether the log of the follower ends while its fetches fail."""
    until = cluster.last_own_line(follower) if follower is not None else None
    if follower is None or until is None or last.last_at is None or timeline.resumed(follower, last.last_at) is not None:
        return False
    return until - last.last_at <= TRIED_AGAIN


@dataclass(frozen=True, slots=True)
class _Words:
    """What the errors of a streak say."""

    why: _Why
    because: str
    follower: str
    leader: str
    source: str
    at: str
    thrown: str | None
    brokers: tuple[int, ...]

    def steps(self, timeline: PartitionTimeline) -> tuple[str, ...]:
        named = {
            "topic": timeline.topic,
            "option": option("--topic", timeline.topic),
            "place": timeline.name,
            "leader": self.leader,
            "follower": self.follower,
            "at": self.at,
        }
        return tuple(step.format(**named) for step in self.why.next_steps)


def _words(streak: Streak, cluster: Cluster) -> _Words:
    events, last, thrown = streak.events, streak.events[-1], exception(reversed(streak.events))
    why = _CLEANING_PAUSED if thrown is not None and _PAUSED in thrown else _WHY.get(streak.reason)
    leaders = sorted({e.broker for e in events if e.broker is not None})
    return _Words(
        why or _Why(streak.reason, "", ()),
        why.words if why is not None else f"of an error ({streak.reason})" if streak.reason != "error" else "of an error",
        named_node(streak.follower, cluster),
        f"broker {leaders[0]}" if len(leaders) == 1 else "the leader",
        f" from broker {leaders[0]}" if len(leaders) == 1 else "",
        f" at offset {last.offset}" if last.offset is not None and last.offset >= 0 else "",
        thrown,
        tuple(dict.fromkeys(b for b in (streak.follower, *leaders) if b is not None)),
    )


def _finding(streak: Streak, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    follower, events, words = streak.follower, streak.events, _words(streak, cluster)
    first, last = events[0], events[-1]
    out = timeline.out_of_isr(follower, streak.first, streak.last) if follower is not None else None
    goes_on = _goes_on(follower, last, timeline, cluster)
    times = sum(e.repeats for e in events)
    return Finding(
        kind="fetch-failing",
        severity="high" if out is not None else "medium",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=words.brokers,
        start=first.at,
        end=None if goes_on else last.last_at,
        cause=words.why.cause,
        summary=f"{timeline.name}: fetches of {words.follower}{words.source} failed repeatedly, because {words.because}",
        explanation=" ".join(
            (
                f"From {period(streak.first, streak.last)} fetches of {words.follower}{words.source} for {timeline.name}{words.at} failed {times} times, because {words.because}.",
                *((f"The error is: {words.thrown}.",) if words.thrown else ()),
                f"The replica on {words.follower} does not advance meanwhile.",
                *((f"{capital(words.follower)} was missing from the ISR at {moment(out)}.",) if out is not None else ()),
                *((f"The fetches still failed when the log of {words.follower} ends.",) if goes_on else ()),
            )
        ),
        next_steps=words.steps(timeline) or (f"Read the exception in server.log of {words.follower} at {moment(first.at)}.",),
        evidence=quote(events[:4], last),
    )


_NORMAL = " For some seconds this is normal while a topic is created or deleted, or while a leader changes."


def _unfinished(streak: Streak, timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    """A failure with which a part of a log ends: no evidence shows whether it lasted."""
    events, words = streak.events, _words(streak, cluster)
    remains = words.why is _CLEANING_PAUSED
    return Finding(
        kind="fetch-failing",
        severity="medium" if remains else "low",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=words.brokers,
        start=events[0].at,
        end=None,
        cause=words.why.cause,
        summary=f"{timeline.name}: the last fetch of {words.follower}{words.source} failed, because {words.because}",
        explanation=" ".join(
            (
                f"The last fetch of {words.follower}{words.source} for {timeline.name}{words.at} that its log shows failed {span(events)}, because {words.because}.",
                *((f"The error is: {words.thrown}.",) if words.thrown else ()),
                "The log ends then, so the evidence does not show whether later fetches failed."
                + (_NORMAL if words.why in (_TOPIC_UNKNOWN, _NOT_LEADER, _TOPIC_ID) else ""),
            )
        ),
        next_steps=(
            f"Check `kafka-topics.sh --describe {option('--topic', timeline.topic)}`: if the replicas of {timeline.name} are all in the ISR, the fetches work again.",
            *words.steps(timeline),
        ),
        evidence=quote(events[:4], events[-1]),
    )


RULE = Rule(
    kind="fetch-failing",
    rank=87,
    level="high",
    meaning="Fetches of a follower failed for longer than a leader change takes: its replica does not advance (medium or high); or its log ends with a fetch that failed (low).",
    references=("KAFKA-3123", "KAFKA-9930"),
    benign=("While a topic is created or deleted, or its leader changes, fetches fail for some seconds.",),
    partition=detect,
    many=Aggregation(whenever=True, key=lambda f: f.brokers),
    root="could not fetch because of a damaged batch",
    root_causes=frozenset({_DAMAGED.cause}),
)
