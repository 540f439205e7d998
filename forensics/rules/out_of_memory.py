"""out-of-memory: ran out of memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from forensics.model.cluster.availability import KILLED, Outage
from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import ends_the_jvm, failures, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, began, capital, moment, quote
from forensics.model.partition.crash_times import FACTS, CrashTimes

_MAPS = (
    "map-failed",
    "Raise `vm.max_map_count` with `sysctl -w vm.max_map_count=262144`: each index file of a segment is a map.",
)
KINDS = (
    (
        r"heap space|GC overhead",
        "heap",
        "Raise the heap (`-Xmx` in KAFKA_HEAP_OPTS), or find what fills it: oversized requests, down-conversion for old clients, or too many partitions.",
    ),
    (
        r"direct buffer memory",
        "direct-buffer",
        "Raise `-XX:MaxDirectMemorySize`, and check `socket.request.max.bytes` and the sizes of the requests that clients send.",
    ),
    (r"Map failed", *_MAPS),
    (r"native thread", "threads", "Raise the limit of processes and threads (`ulimit -u`, or pids.max of the container)."),
    (r"Metaspace", "metaspace", "Raise `-XX:MaxMetaspaceSize`."),
    (
        r"native memory",
        "native",
        "Give the machine or container more memory, or the JVM a smaller heap (`-Xms` and `-Xmx` in KAFKA_HEAP_OPTS): the operating system refused memory that the JVM asked for.",
    ),
)
"""Which memory ran out, by the text of the error: expression, cause, step."""
_DOWN_CONVERSION = (
    "down-conversion",
    "Find clients with an old protocol (message format below that of the topic; the broker counts them in the metric FetchMessageConversionsPerSec) and upgrade the clients. Upgrade brokers before 2.0, which convert a whole response in memory (KAFKA-6927).",
)
_RESERVED = re.compile(r"Cannot reserve (\d+) bytes")
_NOT_A_SIZE = {
    **dict.fromkeys(range(0x16030100, 0x16030105), "a TLS handshake"),
    **{int.from_bytes(word.encode(), "big"): f"an HTTP request ({word.strip()})" for word in ("GET ", "POST", "PUT ", "HEAD")},
    int.from_bytes(b"SSH-", "big"): "an SSH client",
}
"""The first four bytes of other protocols, which a broker takes for the size of a request."""
_OTHER_PROTOCOL = (
    "other-protocol",
    "Find clients that use the wrong protocol or port: `security.protocol` of the client has to be that of the listener. Set `socket.request.max.bytes` to its default (104857600), so that such a request is refused before memory is reserved for it.",
)
_GOES_ON = timedelta(seconds=5)
"""A process that prints something this long after the error did not end because of it."""
_OTHER = ("memory", "Raise the memory that the error names.")


def detect(cluster: Cluster, partitions: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    times = CrashTimes(cluster, partitions)
    for node, errors in failures(_errors(cluster), _kind):
        yield _finding(node, errors, cluster, times)


def _errors(cluster: Cluster) -> list[Event]:
    """With the maps of files that were refused, if the line that they were refused for lack of memory is missing."""
    memory = cluster.of("out-of-memory")
    known = {(e.writer, e.at) for e in memory}
    refused = (e for e in cluster.of("log-file-refused") if e.reason == "maps" and (e.writer, e.at) not in known)
    return sorted((*memory, *refused), key=lambda e: e.at or datetime.min)


def _kind(error: Event) -> tuple[str, str]:
    if error.reason == "maps":
        return _MAPS
    if error.reason == _DOWN_CONVERSION[0]:
        return _DOWN_CONVERSION
    if _other_protocol(error) is not None:
        return _OTHER_PROTOCOL
    return next(((name, step) for found, name, step in KINDS if re.search(found, error.value or "", re.IGNORECASE)), _OTHER)


def _other_protocol(error: Event) -> str | None:
    """What sent the bytes that the broker took for the size of a request, or None."""
    reserved = _RESERVED.search(error.value or "")
    return _NOT_A_SIZE.get(int(reserved[1])) if reserved is not None else None


def _why(error: Event) -> Iterator[str]:
    if error.reason == _DOWN_CONVERSION[0]:
        yield "The memory was for batches that the broker converts to the format of an old client."
    if (sender := _other_protocol(error)) is not None:
        yield f"The number of bytes is not a size: its four bytes are the first ones of {sender}, sent to a listener of another protocol. More memory does not help."


def _finding(node: int | None, errors: Sequence[Event], cluster: Cluster, times: CrashTimes) -> Finding:
    who, (cause, step) = named_node(node, cluster), _kind(errors[0])
    detail = next((f" ({e.value})" for e in errors if e.value), " (Map failed)" if errors[0].reason == "maps" else "")
    ended = next((e for e in errors if ends_the_jvm(e)), None)
    crash = _crash(node, ended, cluster) if node is not None and ended is not None else None
    time = times.of(crash, crash.life.node) if crash is not None and crash.life is not None else None
    start, latest = (time.start, time.latest) if time is not None and errors[0] is ended else (errors[0].at, None)
    back = cluster.next_of(node, errors[-1].at, "broker-starting") if node is not None else None
    until = crash.until if crash is not None else back.at if back is not None else None
    return Finding(
        kind="out-of-memory",
        severity="high",
        confidence="certain",
        brokers=(node,) if node is not None else (),
        start=start,
        start_latest=latest,
        end=until or errors[-1].last_at,
        cause=cause,
        summary=f"{who} ran out of memory{detail}" + (", and its JVM ended" if ended is not None else ""),
        explanation=" ".join(
            (
                f"{capital(who)} ran out of memory{detail} {span(errors) if latest is None else began(start, latest)}.",
                *_why(errors[0]),
                _outcome(who, node, ended is not None, errors, cluster),
                *(times.meanwhile(node, errors[0].at, errors[-1].last_at) if node is not None else ()),
                *(times.followers(node, errors[0].at, errors[-1].last_at) if node is not None and ended is None else ()),
                *((f"{capital(who)} was started again at {moment(until)}.",) if until is not None else ()),
            )
        ),
        next_steps=(
            step,
            *(() if ended is not None or back is not None else (f"Restart {who}: a JVM that ran out of memory may have lost threads.",)),
            *(
                ()
                if ended is not None
                else ("Set `-XX:+ExitOnOutOfMemoryError`, so that a broker that runs out of memory ends and the other brokers take over.",)
            ),
        ),
        evidence=quote(ended, errors[:5], errors[-1:], back),
    )


def _crash(node: int, ended: Event, cluster: Cluster) -> Outage | None:
    """The crash with which the JVM ended. Its line has no time: its event has that of the line before."""
    crashes = (o for o in cluster.availability(node).outages if o.how == KILLED and o.life is not None)
    return next((o for o in crashes if ended.at is not None and (o.until is None or o.until > ended.at)), None)


def _outcome(who: str, node: int | None, ended: bool, errors: Sequence[Event], cluster: Cluster) -> str:
    if ended:
        how = "because the operating system gave it no memory" if _kind(errors[0])[0] == "native" else "(-XX:+ExitOnOutOfMemoryError)"
        return f"The JVM of {who} ended at once {how}."
    first, until = errors[0].at, cluster.last_own_line(node) if node is not None else None
    runs = cluster.availability(node).living(first, first + _GOES_ON) if node is not None and first is not None else iter(())
    if first is not None and until is not None and until - first > _GOES_ON and next(runs, None) is not None:
        continued = f"The process of {who} continued after {'the first of these errors' if len(errors) > 1 else 'this error'}, possibly without the threads that failed;"
    else:
        continued = "The JVM ended, or continued without the threads that failed;"
    return f"{continued} such a process can keep its session while it does not serve requests."


RULE = Rule(
    kind="out-of-memory",
    rank=281,
    level="high",
    meaning="The JVM of a broker or controller could not allocate memory.",
    references=("KAFKA-6927",),
    benign=("A client that runs out of memory prints this in its own log.",),
    cluster=detect,
    facts=FACTS,
    many=Aggregation(key=lambda f: f.brokers),
    root="ran out of memory",
)
