"""log-unreadable: a leader could not read its log for a fetch, because the file is damaged or cannot be read.

Here: what the leader printed when a follower or a consumer fetched, also from above the high watermark. Not here: damage in the collected files (segment_corrupt), damage that
recovery finds at a start (data_loss), followers that refuse what they get (fetch_failing).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from forensics.model.cluster.facts import Cluster
from forensics.model.cluster.process_errors import exception, failures, named_node, span
from forensics.model.events import Event
from forensics.model.findings import Aggregation, Finding, Rule, Urgency, capital, quote
from forensics.model.partition.timeline import PartitionTimeline
from forensics.output.shell import option

_OF_THE_FILE = re.compile(
    r"Corrupt|InvalidRecord|InvalidMessage|EOFException|Failed to read|IOException|BufferUnderflow|minimum record overhead"
)
"""Exceptions that a damaged or unreadable file causes. Others are errors of a request, of memory, or of the code."""

_ABOVE = re.compile(r"read with a maximum offset \((\d+)\) less than the start offset \((\d+)\)")


def detect(timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Finding]:
    for node, errors in failures(e for e in timeline.of("read-failed") if e.key and _OF_THE_FILE.search(e.key)):
        yield _finding(node, errors, timeline, cluster)
    for node, errors in failures(e for e in timeline.of("read-failed") if e.key and _ABOVE.search(e.key)):
        yield _above(node, errors, timeline, cluster)


def _above(node: int | None, errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    """A consumer asked for an offset above the high watermark. From 0.10.0 on such a fetch is answered (KAFKA-725)."""
    found = _ABOVE.search(errors[-1].key or "")
    assert found is not None
    who, watermark, asked = named_node(node, cluster), int(found[1]), int(found[2])
    return Finding(
        kind="log-unreadable",
        severity="medium",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=(node,) if node is not None else (),
        start=errors[0].at,
        end=errors[-1].last_at,
        cause="above-high-watermark",
        summary=f"{timeline.name}: {who} could not serve a fetch at offset {asked}, because only records below offset {watermark} were readable",
        explanation=(
            f"{capital(who)} failed to serve a fetch of {timeline.name} at offset {asked}, {span(errors)}: only records below offset {watermark} were readable. "
            "A consumer at that offset had read further from an earlier leader, whose last records this leader does not have, or its position is wrong. "
            "The consumer gets an unknown error, and tries again without end (KAFKA-725)."
        ),
        next_steps=(
            f"Compare the end of {timeline.name} (`kafka-run-class.sh kafka.tools.GetOffsetShell {option('--topic', timeline.topic)} --time -1`) with the positions of its consumer groups, and search the controller's log for an election before {errors[0].at:%Y-%m-%d %H:%M:%S} UTC whose leader did not have these records."
            if errors[0].at is not None
            else f"Compare the end of {timeline.name} with the positions of its consumer groups.",
            f"Set the position of the consumer of {timeline.name} to offset {watermark} or below; upgrade to 0.10.0 or later, where a fetch above the high watermark is answered without records, and one above the log end with OffsetOutOfRange.",
        ),
        evidence=quote(errors[:4], errors[-1]),
    )


def _finding(node: int | None, errors: Sequence[Event], timeline: PartitionTimeline, cluster: Cluster) -> Finding:
    who, thrown = named_node(node, cluster), exception(errors)
    offsets = sorted({e.offset for e in errors if e.offset is not None and e.offset >= 0})
    at = f" at offset {offsets[0]}" if len(offsets) == 1 else f" at offsets {offsets[0]} to {offsets[-1]}" if offsets else ""
    return Finding(
        kind="log-unreadable",
        severity="high",
        confidence="certain",
        topic=timeline.topic,
        partition=timeline.partition,
        brokers=(node,) if node is not None else (),
        start=errors[0].at,
        end=errors[-1].last_at,
        cause="corrupt-batch",
        summary=f"{timeline.name}: {who} could not read its log{at}",
        explanation=(
            f"{capital(who)} could not read its log of {timeline.name}{at} for a follower or a consumer, {span(errors)}. The error is: {thrown}. "
            f"Consumers and followers that have to read this place do not get any further, as long as {who} leads {timeline.name}."
        ),
        next_steps=(
            f"Copy the directory of {timeline.name} on {who}, and check its segments with `kafka-dump-log.sh --files SEGMENT --deep-iteration`. If it reads all of them without an error, the files are sound and nothing must be deleted: near 2 GiB of a segment, old versions compute a wrong position (KAFKA-6292).",
            f"If that finds damage, and another in-sync replica of {timeline.name} is sound, move the leadership to that replica, stop {who}, move the directory of {timeline.name} out of the log directory, and start {who} again: the replica is copied.",
            f"If that finds damage in every replica of {timeline.name}, consumers have to skip the damaged batch, or `kafka-delete-records.sh` has to remove the records up to its end.",
        ),
        evidence=quote(errors[:4], errors[-1]),
    )


RULE = Rule(
    kind="log-unreadable",
    rank=82,
    level="high",
    meaning="A leader could not read its log for a follower or a consumer, because the file is damaged or cannot be read.",
    benign=("A read of a segment that retention deletes at the same moment fails once, and the next read begins at the log start.",),
    references=("KAFKA-725", "KAFKA-6292", "KAFKA-7282"),
    partition=detect,
    urgency=Urgency.UNAVAILABLE,
    many=Aggregation(key=lambda f: f.brokers),
)
