"""Rows of verdicts with words in place of messages: the last step of a task that judges partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from forensics.model.cluster.facts import Cluster
from forensics.model.message import Message, decoded, encoded
from forensics.model.partition.timeline import PartitionTimeline
from forensics.proof.verdict import UNKNOWN
from forensics.words import text
from forensics.words.catalogue import settled_by_files

_SAID = ("premises", "contradictions", "decides", "resent_because")
"""The cells of a hand-over that hold messages."""
Judge = Callable[[PartitionTimeline, Cluster], Iterator[Mapping[str, Any]]]


class Worded:
    """The rows of a judge, with words. `reason` is the reason for the verdict as a message."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge

    def __call__(self, timeline: PartitionTimeline, cluster: Cluster) -> Iterator[Mapping[str, Any]]:
        return map(worded, self.judge(timeline, cluster))


def worded(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row of forensics.incidents.judging with words in the state of its partition."""
    if (state := row.get("partition_state")) is None:
        return row
    handovers = [{**own, **{name: words_in(own[name]) for name in _SAID}} for own in state["handovers"]]
    verdict = {"why": text(state["why"]), "reason": encoded((("why", state["why"]),)), "handovers": handovers}
    return {**row, "partition_state": {**state, **verdict}}


def words_in(value: Any) -> Any:
    """The value, with words in place of messages."""
    if isinstance(value, Message):
        return text(value)
    if isinstance(value, dict):
        return {name: words_in(v) for name, v in value.items()}
    return [words_in(v) for v in value] if isinstance(value, list) else value


def missing(partition: Mapping[str, Any]) -> str:
    """The reason for the verdict on a partition, for readers who do not look at the proof."""
    reason = _reason(partition)
    return text(reason) if isinstance(reason, Message) else str(reason)


def lacks_evidence(partition: Mapping[str, Any]) -> bool:
    """Whether the verdict on a partition is open because files are missing or incomplete."""
    reason = _reason(partition)
    return partition["verdict"] == UNKNOWN and isinstance(reason, Message) and settled_by_files(reason.id)


def _reason(partition: Mapping[str, Any]) -> Any:
    ((_, why),) = decoded(partition["reason"]) or (("why", partition["why"]),)
    return next((v for name, v in why.values if name == "note" and isinstance(v, Message)), why) if isinstance(why, Message) else why
