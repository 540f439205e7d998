"""fetcher-dead: a replica fetcher of a broker ended because of an error, or gave up one of its partitions.

Here: errors after which nothing is fetched until an operator acts. Not here: threads that a shutdown ends, other threads (fatal_error),
fetches that are tried again (fetch_failing), and partitions of a failed log directory (log_dir_failure).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import cause_of, exception, of_fetcher, who
from forensics.model.events import Event
from forensics.model.findings import quote
from forensics.model.message import Message
from forensics.model.partition.fetch_failures import resumed_soon, would_show_a_role
from forensics.model.partition.timeline import PartitionTimeline
from forensics.thresholds import EPOCH_KNOWN, SAME_FETCH

_AT = re.compile(r"rocessing data for partition (?P<place>\S+?)(?: at)? offset (?P<offset>\d+)")


def ended(error: Event, cluster: Cluster) -> bool:
    return of_fetcher(error)


def source(errors: Sequence[Event], cluster: Cluster) -> Mapping[str, Any]:
    return {"source": _broker(errors[0], cluster), **_processed(errors)}


def _broker(error: Event, cluster: Cluster) -> Message | None:
    return who(error.broker, cluster) if error.broker is not None else None


def _processed(errors: Sequence[Event]) -> Mapping[str, Any]:
    """The partition and the offset that the fetcher processed, if an error names them."""
    for e in errors:
        if (found := _AT.search(e.key or "")) is not None:
            return {"processed": found["place"], "offset": int(found["offset"])}
        if e.topic is not None and e.offset is not None:
            return {"processed": f"{e.topic}-{e.partition}", "offset": e.offset}
    return {}


def not_settled(failed: Event, timeline: PartitionTimeline, cluster: Cluster) -> bool:
    """Whether the broker did not get the partition's new leader soon, stop, or lose the log directory, and its logs would show that."""
    if failed.at is None or failed.writer is None or not would_show_a_role(failed.writer, failed.at, timeline, cluster):
        return False
    near = [e for e in timeline.of("log-dir-partitions") if e.at is not None and abs(e.at - failed.at) <= EPOCH_KNOWN]
    if any(failed.writer in (e.broker, e.writer) for e in near) or resumed_soon(failed, timeline):
        return False
    return not cluster.availability(failed.writer).away(failed.at, failed.at + EPOCH_KNOWN)


def gave_up(errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Mapping[str, Any]:
    """With the error for which the partition was given up: the last one before."""
    failed, at = errors[0], errors[0].at
    tried = (e for e in timeline.of("fetch-error") if e.writer == failed.writer)
    why = [e for e in tried if at is not None and e.last_at is not None and abs(e.last_at - at) <= SAME_FETCH][-1:]
    cause = cause_of(why)
    back = out = None
    if at is not None and failed.writer is not None:
        back = timeline.resumed(failed.writer, at)
        out = timeline.out_of_isr(failed.writer, at, back or timeline.states[-1].at or at) if timeline.states else None
    return {
        "end": back,
        "cause": cause.name if cause is not None else None,
        "evidence": quote(why, failed),
        "source": _broker(failed, cluster),
        "thrown": exception(why),
        "why": cause.why if cause is not None else None,
        "cause_steps": cause.steps if cause is not None else (),
        "out": out,
        **_processed(why),
    }
