"""out-of-memory: ran out of memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.coverage.log_coverage import ends_soon
from forensics.model.events import Event
from forensics.model.findings import Finding, quote
from forensics.model.message import Message, said, values
from forensics.model.presence.availability import KILLED, Outage
from forensics.model.presence.crash_times import FACTS, CrashTimes
from forensics.model.presence.process_errors import ends_the_jvm, failures, span, who
from forensics.model.times import undated_first
from forensics.thresholds import OUTLIVES_ERROR

_MAPS, _DOWN_CONVERSION, _OTHER_PROTOCOL, _OTHER = "map-failed", "down-conversion", "other-protocol", "memory"
KINDS = {
    r"heap space|GC overhead": "heap",
    r"direct buffer memory": "direct-buffer",
    r"Map failed": _MAPS,
    r"native thread": "threads",
    r"Metaspace": "metaspace",
    r"native memory": "native",
}
"""Which memory ran out, by the text of the error."""
_RESERVED = re.compile(r"Cannot reserve (\d+) bytes")
_NOT_A_SIZE = {
    **dict.fromkeys(range(0x16030100, 0x16030105), said("out-of-memory/tls")),
    **{int.from_bytes(f"{verb:4}".encode(), "big"): said("out-of-memory/http", method=verb) for verb in ("GET", "POST", "PUT", "HEAD")},
    int.from_bytes(b"SSH-", "big"): said("out-of-memory/ssh"),
}
"""The first four bytes of other protocols, which a broker takes for the size of a request."""


def of_cluster(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    times = CrashTimes(cluster, partitions)
    for errors in failures(_errors(cluster), lambda e: (e.writer, _kind(e))):
        yield _finding(errors, cluster, times)


def _errors(cluster: Cluster) -> list[Event]:
    """With the maps of files that were refused, if the line that they were refused for lack of memory is missing."""
    memory = cluster.of("out-of-memory")
    known = {(e.writer, e.at) for e in memory}
    refused = (e for e in cluster.of("log-file-refused") if e.reason == "maps" and (e.writer, e.at) not in known)
    return sorted((*memory, *refused), key=undated_first)


def _kind(error: Event) -> str:
    if error.reason == "maps":
        return _MAPS
    if error.reason == _DOWN_CONVERSION:
        return _DOWN_CONVERSION
    if _sender(error) is not None:
        return _OTHER_PROTOCOL
    return next((name for found, name in KINDS.items() if re.search(found, error.value or "", re.IGNORECASE)), _OTHER)


def _sender(error: Event) -> Message | None:
    """What sent the bytes that the broker took for the size of a request, or None."""
    reserved = _RESERVED.search(error.value or "")
    return _NOT_A_SIZE.get(int(reserved[1])) if reserved is not None else None


def _finding(errors: Sequence[Event], cluster: Cluster, times: CrashTimes) -> Finding:
    first, last, node, cause = errors[0], errors[-1], errors[0].writer, _kind(errors[0])
    ended = next((e for e in errors if ends_the_jvm(e)), None)
    crash = _crash(node, ended, cluster) if node is not None and ended is not None else None
    time = times.of(crash, crash.run.node) if crash is not None and crash.run is not None else None
    start, latest = (time.start, time.latest) if time is not None and first is ended else (first.at, None)
    back = cluster.next_of(node, last.at, "broker-starting") if node is not None else None
    until = crash.until if crash is not None else back.at if back is not None else None
    return Finding(
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=start,
        start_latest=latest,
        end=until or last.last_at,
        cause=cause,
        values=values(
            who=who(node, cluster),
            detail=next((e.value for e in errors if e.value), "Map failed" if first.reason == "maps" else None),
            when=span(errors) if latest is None else said("error/span", began=(start, latest)),
            ended=ended is not None,
            native=cause == "native",
            continued=_continued(errors, cluster),
            one=len(errors) == 1,
            down_conversion=first.reason == _DOWN_CONVERSION,
            sender=_sender(first),
            meanwhile=tuple(times.meanwhile(node, first.at, last.last_at)) if node is not None else (),
            followers=tuple(times.followers(node, first.at, last.last_at)) if node is not None and ended is None else (),
            back=until,
            step=(said(f"out-of-memory/step-{cause}"),),
        ),
        evidence=quote(ended, errors[:5], errors[-1:], back),
    )


def _crash(node: int, ended: Event, cluster: Cluster) -> Outage | None:
    """The crash with which the JVM ended. Its line has no time: its event has that of the line before."""
    crashes = (o for o in cluster.availability(node).outages if o.how == KILLED and o.run is not None)
    return next((o for o in crashes if ended.at is not None and (o.until is None or o.until > ended.at)), None)


def _continued(errors: Sequence[Event], cluster: Cluster) -> bool:
    """Whether the log shows that the process went on after the first error."""
    node, first = errors[0].writer, errors[0].at
    if node is None or first is None or ends_soon(node, first, OUTLIVES_ERROR, cluster):
        return False
    return next(cluster.availability(node).living(first, first + OUTLIVES_ERROR), None) is not None


READS = FACTS
