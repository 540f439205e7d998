"""Logs on disk: reasons as short words, and offsets that a line states indirectly."""

from __future__ import annotations

from collections.abc import Iterator

from parsers.patterns.pattern import column
from parsers.schemas import Row

_DELETIONS = {
    "local log": "tiered",
    "log truncation": "truncation",
    "log roll": "roll",
    "log recovery": "recovery",
    "retention time": "retention-time",
    "retention size": "retention-size",
    "log start offset": "log-start",
}
_MOVES = {
    "client delete records request": "delete-records",
    "segment deletion": "retention",
    "leader offset increment": "leader",
    "snapshot generated": "snapshot",
}
_INTERNAL = {"offsets": "__consumer_offsets", "transactions state": "__transaction_state"}


def deletion_reason(row: Row) -> Iterator[Row]:
    """Why segments are deleted, as one short word."""
    words = row["_groups"]["_why"]
    row["reason"] = next((short for long, short in _DELETIONS.items() if long in words), "deletion")
    yield row


def log_start_reason(row: Row) -> Iterator[Row]:
    """The row with the reason (LogStartOffsetIncrementReason) as a short word."""
    yield {**row, "reason": _MOVES.get(row.get("reason", ""), row.get("reason"))}


def recovered_logs(row: Row) -> Iterator[Row]:
    """`<done>/<total>` (3.3..3.9); 4.0 prints the quotient of the two instead."""
    if row["_groups"]["_total"]:
        row["count"] = column("count", row["_groups"]["_total"])
    yield row


def end_after_largest_offset(row: Row) -> Iterator[Row]:
    """`the largest offset in the log` is one less than the log end offset."""
    row["log_end_offset"] = int(row["_groups"]["_largest"]) + 1
    yield row


def internal_topic(row: Row) -> Iterator[Row]:
    """The row with the topic of which the line names the content."""
    yield {**row, "topic": _INTERNAL[row["_groups"]["_which"]]}


FUNCTIONS = (deletion_reason, log_start_reason, recovered_logs, end_after_largest_offset, internal_topic)
