"""What declarations of errors (errors) ask of an error, `if`, and what they compute of the errors of one finding, `values`: the functions
that only one kind needs, under its name.

Here: these functions. Not here: what a kind finds, and what it does not, which forensics/rules/KIND.toml says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from forensics.model.cluster.facts import Cluster, asked_for_controller, cached_on_cluster
from forensics.model.cluster.failed_directories import failed_directories
from forensics.model.coverage.log_coverage import ends_soon
from forensics.model.events import Event, lasting
from forensics.model.findings import quote
from forensics.model.message import Message, Range, said
from forensics.model.partition.durability import as_settled, below_min_isr, required
from forensics.model.partition.fetch_failures import resumed_soon, would_show_a_role
from forensics.model.partition.timeline import PartitionTimeline, cached_on_timeline
from forensics.model.partition.windows import Window, windows
from forensics.model.presence.availability import ENDS_PROCESS, HALTING
from forensics.model.presence.failed_starts import errors_of_starts, failed_starts
from forensics.model.presence.process_errors import cause_of, exception, lasted, of_fetcher, of_thread, steps_of, who
from forensics.model.rows import Rows
from forensics.model.times import contains, near, not_after
from forensics.thresholds import (
    CONNECTS_AGAIN,
    CRASH_NOTICED,
    EPOCH_KNOWN,
    FAILED_START_ENDS,
    LONG_PAUSE,
    REFUSED_START_ENDS,
    SAME_DISK_FAILURE,
    SAME_FENCING,
    SAME_FETCH,
    UNREACHABLE,
)
from parsers.kinds import Role, of


def often(errors: Sequence[Event], *scope: Any) -> Mapping[str, Any]:
    """How often it happened, and from when until when."""
    return {"times": sum(e.repeats for e in errors), "period": (errors[0].at, errors[-1].last_at)}


# address-failed
def asked_to_the_end(error: Event, cluster: Cluster) -> bool:
    """Whether a node asked for a controller, and its log ends before another attempt can have succeeded. Clients in the same log ask
    for any broker."""
    return asked_for_controller(error) and ends_soon(error.writer, error.at, CONNECTS_AGAIN, cluster)


# authentication-failed
_CLIENT = re.compile(r"\[(?:Producer|Consumer|AdminClient) ")
"""Clients that run in a broker's process, such as those of a metrics reporter."""
_SAME_ATTEMPT = (-1, 0, 1)
"""Seconds between the lines of both nodes about one attempt."""
_SSL, _SASL = (
    re.compile(r"SSL|TLS|certificate|handshake", re.IGNORECASE),
    re.compile(r"SASL|credentials|username|password|mechanism|token", re.IGNORECASE),
)


def not_said_by_the_client(error: Event, cluster: Cluster) -> bool:
    """Whether the line does not repeat what the line of the connecting node says: its network layer prints the error, too, and the other
    node prints that it refused the connection."""
    return (
        error.reason != "server" or error.at is None or (error.writer, error.at.replace(microsecond=0)) not in _printed_by_clients(cluster)
    )


@cached_on_cluster
def _printed_by_clients(cluster: Cluster) -> set[tuple[int | None, datetime]]:
    """Both nodes of each attempt that the connecting node printed, with its second and those around it."""
    found: set[tuple[int | None, datetime]] = set()
    for e in cluster.of("authentication-failed"):
        if e.reason == "client" and e.at is not None:
            moments = [e.at.replace(microsecond=0) + timedelta(seconds=s) for s in _SAME_ATTEMPT]
            found.update((node, at) for node in (e.writer, e.broker) for at in moments)
    return found


def refused_attempts(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    first = errors[0]
    of, value = first.reason if first.reason in ("client", "zookeeper") else "server", first.value or ""
    own = of == "client" and all(_CLIENT.search(e.text or "") for e in errors)
    return {
        "own_client" if own else of: True,
        **({"severity": "medium"} if own else {}),
        "brokers": tuple(dict.fromkeys(b for b in (first.writer, first.broker) if b is not None and b >= 0)),
        "what": said("authentication-failed/own-client", who=who(first.writer, cluster)) if own else _attempt(of, first, cluster),
        "error": value.rstrip("."),
        "hosts": tuple(sorted({e.host for e in errors if e.host})),
        "tls": not _SASL.search(value),
        "sasl": not _SSL.search(value),
    }


def _attempt(of: str, first: Event, cluster: Cluster) -> Message:
    node = who(first.writer, cluster)
    if of != "client":
        return said(f"authentication-failed/{of}", who=node)
    if first.broker == first.writer:
        return said("authentication-failed/own-listener", who=node)
    if first.broker is not None and first.broker < 0:
        return said("authentication-failed/first-node", who=node)
    return said("authentication-failed/client", who=node, other=who(first.broker, cluster))


# cleaner-dead
def of_cleaner(error: Event, cluster: Cluster) -> bool:
    return of_thread(error, "kafka-log-cleaner-thread")


# controller-error
_NOT_ELIGIBLE = "StateChangeFailedException"
_ZOOKEEPER = re.compile(r"SessionExpired|ConnectionLoss|session expired|ZooKeeperClientExpired|AuthFailed|InterruptedException")
"""The connection to ZooKeeper was lost, or the process was ending."""
_BATCH_LEFT = re.compile(r"state change requests batch is not empty")


def failed_elections(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    """How often an election failed: a controller prints several lines about one attempt."""
    return often(list({e.at or e: e for e in errors}.values()))


def preferred_barred(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    """Whether the preferred replica was not eligible."""
    thrown = exception(errors)
    return {"barred": thrown is None or _NOT_ELIGIBLE in thrown}


def of_candidate(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    """A broker that could not take part in the election of a controller, or not become the controller."""
    return {"severity": "low", "cause": "zookeeper"} if _ZOOKEEPER.search(exception(errors) or "") else {}


def of_controller_step(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    if of_zookeeper := of_candidate(errors, cluster):
        return {**of_zookeeper, "zookeeper": True}
    left = any(_BATCH_LEFT.search(e.key or "") for e in errors)
    return {"severity": "high", "cause": "requests-left", "left": True} if left else {"other": True}


# coordinator-load-failed
_WHOSE_STATE = {"__consumer_offsets": "groups", "__transaction_state": "producers"}


def loaded_again(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    """When a leader loaded the partition without an error, and who cannot go on until then."""
    later = [s.at for r in timeline.replicas.values() for s in r.leader_starts if s.at and errors[-1].at and s.at > errors[-1].at]
    said = {} if exception(errors) else {"thrown": next((e.value for e in errors if e.value), None)}
    return {"end": min(later, default=None), _WHOSE_STATE.get(timeline.topic, "others"): True, **said}


# disk-full
def in_use_again(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    """When the log directory that went offline because of it was in use again, or the broker up again; else the last error."""
    offline = [
        f
        for f in failed_directories(cluster)
        if f.broker == errors[0].writer and any(e is f.refused or near(f.at, e.at, SAME_DISK_FAILURE) for e in errors)
    ]
    returned = [f.returned for f in offline]
    end = None if None in returned else max((e.at for e in returned if e is not None and e.at is not None), default=errors[-1].at)
    return {"end": end, "free_space": (steps_of("disk-full"),)}


# fatal-error
def not_elsewhere(error: Event, cluster: Cluster) -> bool:
    elsewhere = (
        error.reason in ("log-dir", "locked") or of_fetcher(error) or of_cleaner(error, cluster) or _ends_with_process(error, cluster)
    )
    return not elsewhere and id(error) not in errors_of_starts(cluster)


def _ends_with_process(error: Event, cluster: Cluster) -> bool:
    """Whether a thread ended with the whole process, which has an error of its own."""
    ends = (e.at for e in cluster.of("fatal-error") if e.writer == error.writer and e.reason in (*ENDS_PROCESS, *HALTING))
    return error.reason == "thread" and any(near(error.at, at, FAILED_START_ENDS) for at in ends)


def thread_or_fault(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    thread = errors[0].reason == "thread"
    return {"thread": thread, "fault": None if thread else errors[0].reason}


# fetcher-dead
_PROCESSED = re.compile(r"rocessing data for partition (?P<place>\S+?)(?: at)? offset (?P<offset>\d+)")


def of_replica_fetcher(error: Event, cluster: Cluster) -> bool:
    return of_fetcher(error)


def fetched_from(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    return {"source": _leader_of_fetcher(errors[0], cluster), **_processed(errors)}


def _leader_of_fetcher(error: Event, cluster: Cluster) -> Message | None:
    return who(error.broker, cluster) if error.broker is not None else None


def _processed(errors: Sequence[Event]) -> Mapping[str, Any]:
    """The partition and the offset that the fetcher processed, if an error names them."""
    for e in errors:
        if (found := _PROCESSED.search(e.key or "")) is not None:
            return {"processed": found["place"], "offset": int(found["offset"])}
        if e.topic is not None and e.offset is not None:
            return {"processed": f"{e.topic}-{e.partition}", "offset": e.offset}
    return {}


def not_settled(failed: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether the broker did not get the partition's new leader soon, stop, or lose the log directory, and its logs would show that."""
    if failed.at is None or failed.writer is None or not would_show_a_role(failed.writer, failed.at, timeline, cluster):
        return False
    then = [e for e in timeline.of("log-dir-partitions") if near(e.at, failed.at, EPOCH_KNOWN)]
    if any(failed.writer in (e.broker, e.writer) for e in then) or resumed_soon(failed, timeline):
        return False
    return not cluster.availability(failed.writer).away(failed.at, failed.at + EPOCH_KNOWN)


def gave_up(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    """With the error for which the partition was given up: the last one before."""
    failed, at = errors[0], errors[0].at
    tried = (e for e in timeline.of("fetch-error") if e.writer == failed.writer)
    why = [e for e in tried if near(e.last_at, at, SAME_FETCH)][-1:]
    cause = cause_of(why)
    back = out = None
    if at is not None and failed.writer is not None:
        back = timeline.resumed(failed.writer, at)
        out = timeline.out_of_isr(failed.writer, at, back or timeline.states[-1].at or at) if timeline.states else None
    return {
        "end": back,
        "cause": cause.name if cause is not None else None,
        "evidence": quote(why, failed),
        "source": _leader_of_fetcher(failed, cluster),
        "thrown": exception(why),
        "why": cause.why if cause is not None else None,
        "cause_steps": cause.steps if cause is not None else (),
        "out": out,
        **_processed(why),
    }


# halted-on-truncation
def halted_node(halt: Event) -> int | None:
    return halt.writer if halt.writer is not None else halt.node


def longer_than_leader(halts: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    last, node = halts[-1], halted_node(halts[-1])
    assert last.offset is not None and last.log_end_offset is not None
    return {
        "topic": last.topic,
        "partition": last.partition,
        "brokers": tuple(b for b in (node, last.broker) if b is not None and b >= 0),
        "end": last.at,
        "offsets": (Range(last.offset, last.log_end_offset),) if last.offset < last.log_end_offset else (),
        "who": who(node, cluster),
        "leader": who(last.broker, cluster) if last.broker is not None else None,
        "leader_end": last.offset,
        "own_end": last.log_end_offset,
    }


# isolated-error
def alone(error: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether no state of the partition is known, so that no other rule can judge the statement."""
    return not timeline.states_with_describe


def of_index_alone(error: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether no recovery of the log after an unclean stop explains it."""
    return alone(error, timeline, cluster) and not timeline.of("log-recovery")


def of_unknown_node(error: Event, cluster: Cluster) -> bool:
    """Whether nothing is known of the process that printed it."""
    return error.writer is None or not cluster.availability(error.writer).runs


def given_up_unexplained(error: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether no error before it says why the partition was given up."""
    before = (e.at for e in timeline.of("fetch-error") if e.writer == error.writer)
    known = any(near(error.at, at, SAME_FETCH) for at in before)
    return alone(error, timeline, cluster) and not known


def by_controller(errors: Sequence[Event], *scope: Any) -> Mapping[str, Any]:
    """The node, which is the active controller or leads the quorum, whatever else it is."""
    node = errors[-1].writer
    return {"who": said("node/controller", id=node)} if node is not None else {}


def of_unknown_failure(error: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether no line says which log directory of the node failed."""
    return alone(error, timeline, cluster) and not any(f.broker in (error.writer, None) for f in failed_directories(cluster))


def briefly(error: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether the refusals of this node did not last, as far as the evidence shows."""
    return alone(error, timeline, cluster) and not lasted([e for e in timeline.of("isr-rejected") if e.writer == error.writer])


def not_repeated(error: Event, cluster: Cluster) -> bool:
    """Whether the refusal is not the one that the broker printed just before, as the cause of a KafkaStorageException."""
    return error.pattern not in ("append-failed", "log-dir-error-of-task") or not any(
        e.writer == error.writer and e.reason == error.reason and e.pattern != error.pattern and near(e.at, error.at, SAME_DISK_FAILURE)
        for e in cluster.of("log-file-refused")
    )


def not_stopped(error: Event, cluster: Cluster) -> bool:
    """Whether the evidence lacks a part of the stop that failed to hand over (controlled_shutdown judges whole ones)."""
    return error.writer is None or cluster.next_of(error.writer, error.at, "broker-stopped") is None


def as_stated(errors: Sequence[Event], *scope: Any) -> Mapping[str, Any]:
    last = errors[-1]
    return {
        "directory": last.directory,
        "offset": last.offset,
        "previous_offset": last.previous_offset,
        "high_watermark": last.high_watermark,
        "leader": (last.leader,) if last.leader is not None and last.leader >= 0 else None,
        "reason": last.reason,
    }


# isr-change-refused
def followers_to_remove(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    """The followers that the leader tried to remove from the ISR at the last refusal, and whether it had lost its session before the
    first."""
    first, until = errors[0], errors[-1].last_at
    shrinks = (e for e in timeline.of("isr-shrink") if e.writer == first.writer and e.at is not None)
    tried = [e for e in shrinks if not_after(e.at, until)][-1:]
    followers = tuple(sorted({b for e in tried for b in {*(e.previous_isr or ())} - {*(e.isr or ())}}))
    lost = (e.at for e in cluster.of("session-expired") if e.writer == first.writer)
    return {
        **often(errors),
        **({"severity": "high"} if followers else {}),
        "removed": followers,
        "until": until,
        "session_lost": any(not_after(at, first.at) for at in lost),
    }


# log-unreadable
_OFFSET = re.compile(r"offset \((\d+)\)")


def offsets_read(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    offsets = [e.offset for e in errors if e.offset is not None and e.offset >= 0]
    return {"read": Range(min(offsets), max(offsets) + 1) if offsets else None}


def above_watermark(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    watermark, asked = map(int, _OFFSET.findall(errors[-1].key or "")[:2])
    return {"watermark": watermark, "asked": asked}


# long-pause
def is_long_pause(pause: Event, cluster: Cluster) -> bool:
    return lasting(pause) >= LONG_PAUSE


def longest_pause(pauses: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    last = pauses[-1]
    return {
        "longest": max(map(lasting, pauses)).total_seconds(),
        "pauses": len(pauses) if len(pauses) > 1 else None,
        "end": last.at + lasting(last) if last.at is not None else None,
    }


# metadata-log-damaged
def cut_offset(errors: Sequence[Event], *scope: Any) -> Mapping[str, Any]:
    return {"offset": errors[-1].offset}


# network-thread-error
def acceptor_divided(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    return {"divided": "ArithmeticException: / by zero" in (exception(errors) or "")}


def senders(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    return {"hosts": tuple(dict.fromkeys(e.host for e in errors if e.host))}


def unknown_request(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    unknown = re.search(r"ArrayIndexOutOfBoundsException: \d+$", exception(errors) or "")
    return {"unknown_request": errors[0].reason == "request" and unknown is not None}


# registration-refused
_EXISTS = ", node already exists"


def registered_before(error: Event, cluster: Cluster) -> bool:
    ends = (e.at for attempt in failed_starts(cluster).get(error.writer, ()) for e in attempt.errors)
    return not any(at is not None and error.at is not None and timedelta(0) <= at - error.at <= REFUSED_START_ENDS for at in ends)


def znode_taken(error: Event) -> bool:
    """Whether the znode belonged to another session; else the own session ended before the znode was created (CheckedEphemeral)."""
    return (error.value or "").startswith(_EXISTS)


def until_registered(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any] | None:
    """None if the next session of the broker registered at once: that belongs to the expiry of the session before."""
    first, last, node = errors[0], errors[-1], errors[0].writer
    back = cluster.next_of(node, last.at, "broker-registered", "broker-starting") if node is not None else None
    if back is not None and back.at is not None and last.at is not None and back.at - last.at <= SAME_FENCING:
        return None
    detail = (first.value or "").removeprefix(_EXISTS).removeprefix(" and").strip()
    return {"back": back, "cause": "znode-taken" if znode_taken(first) else None, "taken": znode_taken(first), "detail": detail}


# request-refused
def without_role(refusal: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether there was a leader to follow, and the broker got no role later, which its logs would show."""
    if refusal.at is None or refusal.writer is None or not would_show_a_role(refusal.writer, refusal.at, timeline, cluster):
        return False
    leaderless = refusal.reason == "leader-unavailable" and refusal.leader in (None, -1)
    return not leaderless and timeline.resumed(refusal.writer, refusal.at) is None


def role_refusals(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    return {**often(errors), "why": said(f"request-refused/{errors[0].reason}")}


# too-many-open-files
def connections_refused(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    """Whether connections were refused because of it."""
    first, last = errors[0].at, errors[-1].last_at
    near = cluster.between("network-thread-error", first, last) if first is not None and last is not None else ()
    return {"refused": any(e.writer == errors[0].writer and e.reason == "accept" for e in near)}


# topic-id-mismatch
def accepted_at_last(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    """When the last of the brokers accepted the partition, and those that the ISR lacked until then."""
    start, until = errors[0].at, errors[-1].last_at
    brokers = sorted({e.writer for e in errors if e.writer is not None})
    resumed = [timeline.resumed(b, until) if until is not None else None for b in brokers]
    back = None if None in resumed else max((at for at in resumed if at is not None), default=None)
    return {
        "end": back or until,
        "accepted": back,
        "out": _out_of_isr(brokers, start, back or (timeline.states[-1].at if timeline.states else None), timeline),
        "log_id": errors[0].reason,
    }


def _out_of_isr(brokers: Sequence[int], start: datetime | None, last: datetime | None, timeline: PartitionTimeline) -> tuple[int, ...]:
    if start is None or last is None:
        return ()
    return tuple(b for b in brokers if timeline.out_of_isr(b, start, max(start, last)) is not None)


# topic-not-created
_MADE = of(role=Role.TOPIC_MADE)
_INTERNAL = {
    "__consumer_offsets": ("groups", "offsets.topic.replication.factor"),
    "__transaction_state": ("producers", "transaction.state.log.replication.factor"),
}
"""Who cannot go on without the topic, and the setting with its number of replicas."""


def made_at_last(errors: Sequence[Event], cluster: Cluster, partitions: Rows) -> Mapping[str, Any]:
    """When the topic was created at last, and what its absence meant. A broker that has just started does not know the topics yet and tries
    to create an existing topic: the partitions in evidence, or its creation before, show that."""
    first, last = errors[0], errors[-1]
    times = [e for e in cluster.of(*_MADE) if e.topic == last.topic and e.at and last.at]
    back = next((e for e in times if e.at and last.at and e.at >= last.at), None)
    gone = max((at for at in cluster.recreated.get(last.topic or "", ()) if at and last.at and at < last.at), default=datetime.min)
    seen = [p["first_state_at"] for p in partitions if p["topic"] == last.topic]
    exists = back is None and (bool(seen) or any(e.at and e.at > gone for e in times))
    starting = back is not None and back.at is not None and first.at is not None and back.at - first.at <= UNREACHABLE
    whose, setting = _INTERNAL.get(last.topic or "", (None, None))
    return {
        "severity": "medium" if whose is not None and not starting and not exists else "low",
        "topic": last.topic or "",
        "back": back,
        **({"exists": True, "end": max((at for at in (last.last_at, last.at, *seen) if at), default=None)} if exists else {}),
        "value": last.value,
        "few": last.count,
        "setting": last.key or setting,
        **({whose: True} if whose is not None else {}),
    }


# writes-refused
def outside_windows(refusal: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether no window of too few in-sync replicas covers the refusal (under-min-isr reports those)."""
    at = refusal.at
    return at is None or not any(contains(w, at, CRASH_NOTICED) for w in _below_min_isr(timeline, cluster))


@cached_on_timeline
def _below_min_isr(timeline: PartitionTimeline, cluster: Cluster) -> Sequence[Window]:
    return list(windows(as_settled(timeline, cluster), lambda state: below_min_isr(state, required(state, timeline, cluster))))


def isr_when_refused(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    return {"isr": errors[-1].isr, "needed": errors[-1].count}
