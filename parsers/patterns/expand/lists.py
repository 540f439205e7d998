"""Printed collections: one event for each partition, topic, broker or directory in them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import regex

from parsers.expressions import quickest
from parsers.patterns.expand.errors import with_exception
from parsers.patterns.fragments import filled
from parsers.patterns.pattern import column
from parsers.schemas import Row

_PARTITION = regex.compile(filled(r"\[(?P<topic>{TOPIC}), ?(?P<partition>\d+)\]|(?<![\w.-]){DASHED_TP}(?=[,)\s]|$)"))
_NAME = regex.compile(filled(r"(?<![\w.-]){TOPIC}(?=[,)\]\s]|$)"))
_NEW_TOPIC_ID = regex.compile(filled(r"TopicIdReplicaAssignment\((?P<topic>{TOPIC}),Some\({TOPIC_ID}\)"))
_BROKER_EPOCH = regex.compile(r"(\d{1,9}) -> (\d{1,18})")
_DIRECTORY_ID = regex.compile(r"[\w-]{22}")
_FAILED = re.compile(r"(?<![\w.-])(?P<topic>[\w.-]+)-(?P<partition>\d+) -> (?P<exception>[\w.$]+)")
_TOO_FEW = regex.compile(
    filled(
        r"CreatableTopic\(name='(?P<topic>{TOPIC})',(?:(?!CreatableTopic\().)*?\): INVALID_REPLICATION_FACTOR \(Unable to replicate the"
        r" partition (?P<value>\d{1,9}) time\(s\): (?:The target replication factor of \d+ cannot be reached because only"
        r" (?P<count>\d{1,9}) broker\(s\) are registered|All brokers are currently fenced)\."
    )
)
_TP = r"(?:\[(?P<topic>[\w.-]+), ?(?P<partition>\d+)\]|(?<![\w.-])(?P<topic>[\w.-]+)-(?P<partition>\d+))"
_ADDED = quickest(
    rf"\[{_TP}, (?P<_own>initOffset) (?P<offset>-?\d+) to broker (?:\w+[(\[])?(?:id[=:])?(?P<broker>\d+)"
    rf"|{_TP} -> (?:\(offset=(?P<offset>-?\d+), leaderEpoch=(?P<leader_epoch>-?\d+)\)"
    r"|InitialFetchState\((?:(?:Some|Optional)[(\[](?P<topic_id>[\w-]{22})[)\]],|None,|"
    r"Optional\.empty,)?BrokerEndPoint[(\[][^)\]]{0,400}[)\]],"
    r"(?P<leader_epoch>-?\d+),(?P<offset>-?\d+)\)"
    r"|InitialFetchState\[.{0,400}?currentLeaderEpoch=(?P<leader_epoch>-?\d+), initOffset=(?P<offset>-?\d+)\])"
)
"""One partition of an `Added fetcher` line: 0.8.2..2.0, 2.1..2.6, 2.7 and later, a Java record. A name begins at the
beginning of a word, and the text in brackets has a limit, so that the search takes time in proportion to the text."""
_REMOVED = quickest(rf"(?<![\w.-]){_TP}(?![\w.-])")


def each_partition(row: Row) -> Iterator[Row]:
    for partition in _partitions(row["_groups"]["_partitions"]):
        yield {**row, **partition}


def each_topic_of_partitions(row: Row) -> Iterator[Row]:
    for topic in sorted({partition["topic"] for partition in _partitions(row["_groups"]["_partitions"])}):
        yield {**row, "topic": topic}


def _partitions(text: str) -> Iterator[Row]:
    """Every `[t,p]` or `t-p` of a printed collection, as topic and partition columns."""
    for match in _PARTITION.finditer(text):
        yield {"topic": match["topic"], "partition": column("partition", match["partition"])}


def each_topic(row: Row) -> Iterator[Row]:
    for match in _NAME.finditer(row["_groups"]["_topics"]):
        yield {**row, "topic": match[0]}


def each_topic_change(row: Row) -> Iterator[Row]:
    """One row for each topic that was created or deleted."""
    groups = row["_groups"]
    ids = {match["topic"]: match["topic_id"] for match in _NEW_TOPIC_ID.finditer(groups["_assignment"])}
    for event, group in (("topic-created", "_created"), ("topic-deleted", "_deleted")):
        for match in _NAME.finditer(groups[group]):
            yield {**row, "event": event, "topic": match[0], "topic_id": ids.get(match[0])}


def each_topic_not_created(row: Row) -> Iterator[Row]:
    """One row for each topic that got no brokers."""
    for match in _TOO_FEW.finditer(row["_groups"]["_results"]):
        yield {**row, "topic": match["topic"], "value": match["value"], "count": int(match["count"]) if match["count"] else None}


def each_broker(row: Row) -> Iterator[Row]:
    for broker in column("brokers", row["_groups"]["_ids"]):
        yield {**row, "broker": broker}


def each_broker_change(row: Row) -> Iterator[Row]:
    """One row for the brokers that were added, one for those that were deleted, one for those that restarted."""
    for reason in ("added", "deleted", "bounced"):
        brokers = column("brokers", row["_groups"].get(f"_{reason}"))
        if brokers:
            yield {**row, "reason": reason, "brokers": brokers}


def each_broker_epoch(row: Row) -> Iterator[Row]:
    """One row for each broker of the cache."""
    for broker, epoch in _BROKER_EPOCH.findall(row["_groups"]["_epochs"] or ""):
        yield {**row, "broker": int(broker), "broker_epoch": int(epoch)}


def each_failed_election(row: Row) -> Iterator[Row]:
    """One row for each partition, with the exception; an election of an offline partition has the type UNCLEAN."""
    reason = row["_groups"]["_type"] or "PREFERRED"
    for made in with_exception(row):
        yield from ({**one, "reason": reason} for one in each_partition(made))


def each_failed_partition(row: Row) -> Iterator[Row]:
    """One row for each partition of a failed request, with the class of the exception as the reason."""
    for failed in _FAILED.finditer(row["_groups"]["_failed"] or ""):
        reason = failed["exception"].rsplit(".", 1)[-1]
        yield {**row, "topic": failed["topic"], "partition": column("partition", failed["partition"]), "reason": reason}


def each_added_fetcher(row: Row) -> Iterator[Row]:
    for match in _ADDED.expression.finditer(row["_groups"]["_entries"]):
        entry = _ADDED.groupdict(match)
        at_end = entry.pop("_own")
        named = {name: column(name, text) for name, text in entry.items() if text is not None}
        yield {**row, **named, "reason": "own-end" if at_end else None}


def each_removed_fetcher(row: Row) -> Iterator[Row]:
    for match in _REMOVED.expression.finditer(row["_groups"]["_entries"]):
        entry = _REMOVED.groupdict(match)
        yield {**row, "topic": entry["topic"], "partition": column("partition", entry["partition"])}


def each_directory(row: Row) -> Iterator[Row]:
    for directory in _DIRECTORY_ID.findall(row["_groups"]["_directories"]):
        yield {**row, "directory": directory}


FUNCTIONS = (
    *(each_partition, each_topic, each_topic_of_partitions, each_topic_change, each_topic_not_created),
    *(each_broker, each_broker_change, each_broker_epoch, each_directory),
    *(each_failed_election, each_failed_partition, each_added_fetcher, each_removed_fetcher),
)
