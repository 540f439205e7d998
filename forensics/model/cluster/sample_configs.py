"""Configuration files that no broker in the evidence was started with: samples that Kafka ships, next to the files of a broker.

Here: which server.properties files contradict what the brokers printed, or name a broker of which there is nothing else. Not here: the
settings of brokers (settings), or a file that was changed after the start (rules.config_drift).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

SHIPPED_DIRECTORIES = frozenset({"/tmp/kafka-logs", "/tmp/kraft-combined-logs", "/tmp/kraft-broker-logs", "/tmp/kraft-controller-logs"})  # noqa: S108
"""The values of log.dirs in the files of Kafka's directory config."""
DECIDING = ("process.roles", "zookeeper.connect", "log.dirs", "log.dir")
_NONE = frozenset({"", "null", "[]"})

Settings = Mapping[str, Collection[str]]
"""The values of DECIDING, by key."""


def samples(configs: Iterable[Mapping[str, Any]], files: Collection[str], known: Collection[int]) -> list[str]:
    """The paths of such files. `configs`: rows with source, node, key and value; `files`: the server.properties files; `known`: nodes that
    logs or meta.properties name."""
    in_files: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    printed: dict[int, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    nodes: dict[str, int] = {}
    for row in configs:
        if row["source"] in files:
            in_files[row["source"]][row["key"]].add(row["value"] or "")
            if row["node"] is not None:
                nodes[row["source"]] = row["node"]
        elif row["node"] is not None:
            printed[row["node"]][row["key"]].add(row["value"] or "")
    return sorted(path for path, node in nodes.items() if known and _is_sample(in_files[path], printed.get(node), node in known))


def _is_sample(own: Settings, printed: Settings | None, known: bool) -> bool:
    directories = _directories(own)
    shipped = bool(directories) and directories <= SHIPPED_DIRECTORIES
    if printed is None:
        return not known and shipped
    if None not in (_mode(own), _mode(printed)) and _mode(own) != _mode(printed):
        return True
    return shipped and directories.isdisjoint(_directories(printed) or directories)


def _mode(settings: Settings) -> str | None:
    """The mode in which a broker with these settings starts; None if they do not show it."""
    roles, zookeeper = (bool({*settings.get(key, ())} - _NONE) for key in ("process.roles", "zookeeper.connect"))
    return "kraft" if roles else "zookeeper" if zookeeper else None


def _directories(settings: Settings) -> set[str]:
    values = {*settings.get("log.dirs", ()), *settings.get("log.dir", ())} - _NONE
    return {directory.strip() for value in values for directory in value.split(",")}
