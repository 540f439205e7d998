"""The lives of a topic: a name may be deleted and made again, and nothing of one life is of the other.

Here: which life an event is of, by topic id, else by marks of creation and deletion. Not here: what happened in one (timeline).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from spark.cluster import Cluster
from spark.events import Event
from spark.order import file_order


def generations(topic: str, events: Sequence[Event], cluster: Cluster) -> dict[int, list[Event]]:
    """Events by generation of the topic. One generation unless a deletion of the topic, or a second topic id, is in evidence:
    a replica's directory is also deleted when a reassignment takes the replica away."""
    order = _topic_ids(events)
    age = {topic_id: i - len(order) + 1 for i, topic_id in enumerate(order)} if len(order) > 1 else {}
    result: dict[int, list[Event]] = defaultdict(list)
    streams: dict[tuple[int | None, str | None], list[Event]] = defaultdict(list)
    for event in events:
        if event.topic_id in age:
            result[age[event.topic_id]].append(event)
        else:
            streams[(event.writer, None if event.line is not None else event.source)].append(event)
    renewed = {key: found for key, own in streams.items() if key[0] is not None and (found := _renewals(own))}
    if len(order) < 2 and topic not in cluster.recreated and not renewed:
        return {0: list(events)}
    deletions = sorted(
        {t for t in cluster.recreated.get(topic, []) if t is not None} | {e.at for es in renewed.values() for e in es if e.at}
    )
    for key, stream in streams.items():
        for event, generation in _by_marks(stream, deletions, renewed.get(key, ())):
            result[generation].append(event)
    return dict(result)


def _renewals(stream: Sequence[Event]) -> list[Event]:
    """Where a broker takes the partition up at leader epoch 0 though it knew a later one, or a controller makes anew what it knew: no
    deletion is in evidence, but only a new topic begins so. What an old controller sends late is no start, and no log is created for it."""
    found: list[Event] = []
    reached, created, known = 0, None, datetime.max
    for e in file_order(stream):
        if _makes(e):
            if e.at is not None and e.at > known:
                found.append(e)
                reached, created = 0, None
            known = datetime.max
        elif e.event == "partition-state" and e.leader_epoch is not None and e.at is not None:
            known = min(known, e.at)
        if e.event == "log-created":
            created = e
        starts = e.event in ("leader-start", "follower-start")
        if e.leader_epoch is None or not (starts or (e.event == "partition-state" and e.reason == "received")):
            continue  # what its controller decides it has not taken up
        if e.leader_epoch == 0 and reached and not e.log_end_offset and (starts or created is not None):
            found.append(created or e)
            reached = 0
        elif e.leader_epoch:
            reached, created = max(reached, e.leader_epoch), None
    return found


def _makes(event: Event) -> bool:
    """A controller makes a partition: one that takes over prints nothing of those there are (PartitionStateMachine)."""
    return event.event == "partition-transition" and (event.reason or "").startswith("NonExistentPartition->")


def _topic_ids(events: Iterable[Event]) -> list[str]:
    """Topic ids in the order they came to be."""
    first: dict[str, tuple[int, datetime]] = {}
    for e in events:
        if e.topic_id and e.event != "describe-partition":
            known = first.get(e.topic_id)
            now = (e.metadata_offset if e.metadata_offset is not None else 1 << 60, e.at or datetime.max)
            first[e.topic_id] = min(known, now) if known else now
    return sorted(first, key=lambda i: (first[i], i))


def _by_marks(stream: Sequence[Event], deletions: Sequence[datetime], renewals: Sequence[Event] = ()) -> list[tuple[Event, int]]:
    """Generations of a stream without topic ids: a new one begins after the log was deleted, or where the controller
    creates the partition again. A stream with no such mark is split by the time of the deletion."""
    ordered = file_order(stream)
    marks = 0
    numbered: list[tuple[Event, int]] = []
    deleted = False
    for event in ordered:
        again = any(event is e for e in renewals) or _makes(event)
        if deleted and event.event not in ("log-deleted", "segment-delete", "fetcher-removed", "fetch-error"):
            marks, deleted = marks + 1, False
        elif again and numbered and not deleted:
            marks += 1
        numbered.append((event, marks))
        deleted = deleted or event.event == "log-deleted"
    if marks or not deletions:
        return [(e, n - marks) for e, n in numbered]
    return [(e, -sum(1 for d in deletions[-1:] if e.at is not None and e.at <= d)) for e in ordered]
