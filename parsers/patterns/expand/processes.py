"""Brokers and controllers: their states, registrations and roles in the quorum."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import regex

from parsers.schemas import Row

_MAX_SILENCE_MS = 366 * 24 * 3600 * 1000
_REGISTRATION_CHANGE = regex.compile(r"fenced=(?P<fenced>-?\d+)(?:, inControlledShutdown=(?P<shutdown>-?\d+))?")
_EPOCH = regex.compile(r"\bepoch=(\d+)")
_LEADER = regex.compile(r"\bleader(?:Id)?=(?:OptionalInt\[)?(\d+)")
_HIGH_WATERMARK = regex.compile(r"highWatermark=Optional\[LogOffsetMetadata\(offset=(\d+)")
_VOTERS = regex.compile(r"\bvoters=\[([^\[\]]*)\]")
_NUMBER = regex.compile(r"\d+")


def server_state(row: Row) -> Iterator[Row]:
    """The new state of a server; STARTED and SHUTTING_DOWN are events of their own."""
    event = {"STARTED": "broker-started", "SHUTTING_DOWN": "broker-stopping"}.get(row["reason"])
    yield {**row, "event": event} if event else row


def written_by_broker(row: Row) -> Iterator[Row]:
    """The row with the broker as the writer: a broker writes its own registration."""
    yield {**row, "node": row["broker"]}


def with_cluster_id(row: Row) -> Iterator[Row]:
    """The broker's state, and the id of its cluster."""
    yield row
    yield {**row, "event": "config", "broker": None, "reason": None, "key": "cluster.id"}


def with_migration(row: Row) -> Iterator[Row]:
    """The id of the cluster, and that the controller is there to migrate it (KIP-866)."""
    yield row
    if row["_groups"]["_migrating"]:
        yield {**row, "event": "migration-step", "key": None, "value": None, "reason": "enabled"}


def from_last_answer(row: Row) -> Iterator[Row]:
    """The silence began before the line: `time` is its start."""
    if row["time"] is not None and row["duration_ms"] < _MAX_SILENCE_MS:
        yield {**row, "time": row["time"] - timedelta(milliseconds=row["duration_ms"])}


def registration_change(row: Row) -> Iterator[Row]:
    """Whether the broker was fenced or unfenced, and whether it asked for a controlled shutdown."""
    match = _REGISTRATION_CHANGE.search(row["_groups"]["_record"])
    if match is None:
        return
    if match["fenced"] in ("1", "-1"):
        yield {**row, "event": "broker-fenced" if match["fenced"] == "1" else "broker-unfenced"}
    if match["shutdown"] == "1":
        yield {**row, "event": "shutdown-seen"}


def quorum_role(row: Row) -> Iterator[Row]:
    """Role, epoch and leader of the new state, which is printed before the old one in the same form, and the voters that either names."""
    role, states = row["_groups"]["_role"], row["_groups"]["_state"]
    state, _, before = states.partition(" from ")
    epoch, leader, mark = _EPOCH.search(state), _LEADER.search(state), _HIGH_WATERMARK.search(state)
    voters = _VOTERS.search(states)
    row["reason"] = role.lower()
    row["controller_epoch"] = int(epoch[1]) if epoch else None
    row["controller"] = row.get("node") if role == "Leader" else int(leader[1]) if leader else None
    row["high_watermark"] = int(mark[1]) if mark else None
    row["brokers"] = sorted({int(voter) for voter in _NUMBER.findall(voters[1])}) if voters else None
    row["value"] = "first" if before.startswith("null") else None
    yield row


FUNCTIONS = (server_state, written_by_broker, with_cluster_id, with_migration, from_last_answer, registration_change, quorum_role)
