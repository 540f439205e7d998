"""Settings over time: the value for a topic, a broker or the whole cluster at a given time, and the evidence for it.

Here: the order in which Kafka's sources of a setting count (ConfigEntry.ConfigSource), and the history of each. Not here: how a setting
is read (parsers) or the assessment of its value (forensics).
"""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from forensics.model.events import Event
from parsers.kinds import TOPIC_GONE

HIDDEN = "[hidden]"

TOPIC, BROKER, CLUSTER, STATIC, EFFECTIVE, DEFAULT = (
    "DYNAMIC_TOPIC_CONFIG",
    "DYNAMIC_BROKER_CONFIG",
    "DYNAMIC_DEFAULT_BROKER_CONFIG",
    "STATIC_BROKER_CONFIG",
    "EFFECTIVE",
    "DEFAULT_CONFIG",
)
"""Sources of a value as Kafka names them, highest priority first. Kafka has no source EFFECTIVE: kafka-configs printed the
topic's value from a lower source, and no other evidence shows that source."""

INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""Topics that brokers create themselves, compacted whatever log.cleanup.policy says (Topic.INTERNAL_TOPICS)."""
WRITTEN_BY_BROKERS = INTERNAL_TOPICS | {"__cluster_metadata", "__remote_log_metadata"}
"""Topics that have no other producers than brokers and controllers: no client can send their records again."""
LOG_DIRECTORIES = ("log.dirs", "log.dir")
"""Settings that name a broker's log directories; the first that is set counts."""
_DRIVE = re.compile(r"^[A-Za-z]:")
_DIRECTORY_ID = re.compile(r"[\w-]{22}")

BROKER_NAMES = {
    "cleanup.policy": ("log.cleanup.policy",),
    "flush.messages": ("log.flush.interval.messages",),
    "flush.ms": ("log.flush.interval.ms",),
    "retention.bytes": ("log.retention.bytes",),
    "retention.ms": ("log.retention.ms",),
    "segment.bytes": ("log.segment.bytes",),
}
"""Topic settings whose broker defaults have another name (Kafka's ServerTopicConfigSynonyms)."""

_Owner = str | int | None


@dataclass(frozen=True, slots=True, order=True)
class SettingChange:
    """The setting's value from `at` on (datetime.min: since before all evidence); None: the setting was removed."""

    at: datetime
    order: int
    value: str | None
    event: Event | None
    source: str


class Settings:
    """The histories of all settings. Events must be added in order of time."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._changes: dict[tuple[str, _Owner], dict[str, list[SettingChange]]] = {}
        self._brokers: list[int] = []
        self._count = 0
        for event in events:
            self.note(event)

    def note(self, event: Event) -> None:
        """Adds a 'config' or 'metadata-config' event, or a topic's deletion, which removes its settings. Values that Kafka hid are
        ignored."""
        source, owner = _place(event)
        at = event.at or datetime.min
        if event.event in TOPIC_GONE:
            self._complete(TOPIC, event.topic, set(), at, event)
        elif event.key is None:
            if source in (TOPIC, BROKER, CLUSTER) and event.value is not None:
                self._complete(source, owner, set(filter(None, event.value.split(","))), at, event)
        elif event.value == HIDDEN:
            return
        else:
            removed = event.value in (None, "null")
            self.put(event.key, None if removed else event.value, source, owner, at, event)

    def put(
        self, key: str, value: str | None, source: str, owner: _Owner = None, at: datetime = datetime.min, event: Event | None = None
    ) -> None:
        """Adds one change; `owner` is the topic, the broker, or None for the whole cluster."""
        self._count += 1
        if source in (BROKER, STATIC) and isinstance(owner, int) and owner not in self._brokers:
            insort(self._brokers, owner)
        insort(
            self._changes.setdefault((source, owner), {}).setdefault(key, []),
            SettingChange(at, self._count, value, event, source),
            key=_when,
        )

    def _complete(self, source: str, owner: _Owner, named: set[str], at: datetime, event: Event) -> None:
        """Removes the owner's dynamic settings that are not in `named`, the complete list."""
        for key, changes in self._changes.get((source, owner), {}).items():
            if key not in named and changes[-1].value is not None:
                self.put(key, None, source, owner, at, event)

    def value(self, key: str, *, topic: str | None = None, broker: int | None = None, at: datetime | None = None) -> str | None:
        """The value in force; None if unknown. See `change`."""
        found = self.change(key, topic=topic, broker=broker, at=at)
        return found.value if found is not None else None

    def change(
        self, key: str, *, topic: str | None = None, broker: int | None = None, at: datetime | None = None, below: str | None = None
    ) -> SettingChange | None:
        """The last change before `at` (None: of all) from the first source that has a value: the topic's, the broker's, the cluster's.
        With `below`, only sources after that one count.

        A source's first value also applies before its first evidence. Without a broker, the first broker by id that has a value counts.
        """
        names = (key, *BROKER_NAMES.get(key, ())) if topic is not None else (key,)
        passed = below is None
        for source, owner in self._asked(topic, broker):
            if not passed or source == below:
                passed = passed or source == below
                continue
            changes = self._changes.get((source, owner), {})
            for name in names if source not in (TOPIC, EFFECTIVE) else (key,):
                found = _in_force(changes.get(name, ()), at)
                if found is not None and found.value is not None:
                    return found
        return None

    def _asked(self, topic: str | None, broker: int | None) -> Iterator[tuple[str, _Owner]]:
        if topic is not None:
            yield TOPIC, topic
        brokers = [broker] if broker is not None and self.knows(broker) else self._brokers
        yield from ((BROKER, node) for node in brokers)
        yield CLUSTER, None
        yield from ((STATIC, node) for node in brokers)
        if topic is not None:
            yield EFFECTIVE, topic
        yield DEFAULT, None

    def brokers(self) -> list[int]:
        """Brokers with any known setting."""
        return list(self._brokers)

    def knows(self, broker: int | None) -> bool:
        """Whether any setting of the broker is known."""
        return (STATIC, broker) in self._changes or (BROKER, broker) in self._changes

    def owns(self, topic: str | None, key: str) -> bool:
        """Whether a value of the topic's own is known for this setting."""
        return key in self._changes.get((TOPIC, topic), ()) or key in self._changes.get((EFFECTIVE, topic), ())

    def times(self, *keys: str) -> set[datetime]:
        """Times at which any of these settings changed."""
        return {c.at for own in self._changes.values() for key in keys for c in own.get(key, ())}

    def starts(self, broker: int | None) -> bool:
        """Whether the broker's start settings are in the evidence."""
        return (STATIC, broker) in self._changes

    def of_broker(self, broker: int) -> dict[str, str]:
        """A broker's last start settings, with later dynamic changes."""
        found: dict[str, str] = {}
        for source in (STATIC, BROKER):
            for key, changes in self._changes.get((source, broker), {}).items():
                if changes[-1].value is not None:
                    found[key] = changes[-1].value
        return found

    def history(self, key: str, *, topic: str | None = None, broker: int | None = None) -> list[SettingChange]:
        """All changes of a setting from every source, in order of time: what was set when, not what was in force. For a topic without a
        broker, only the topic's own changes."""
        own = topic is not None and broker is None
        places = ((TOPIC, topic), (EFFECTIVE, topic)) if own else self._asked(topic, broker)
        return sorted((c for place in places for c in self._changes.get(place, {}).get(key, ())), key=_when)


def _when(change: SettingChange) -> tuple[datetime, int]:
    return change.at, change.order


def _in_force(changes: Sequence[SettingChange], at: datetime | None) -> SettingChange | None:
    if not changes:
        return None
    if at is None:
        return changes[-1]
    return changes[max(bisect_right(changes, at, key=lambda c: c.at) - 1, 0)]


def _place(event: Event) -> tuple[str, _Owner]:
    """The source and owner of the setting in an event."""
    if event.topic is not None:
        if event.event == "config" and event.reason in (BROKER, CLUSTER, STATIC, DEFAULT):
            return EFFECTIVE, event.topic
        return TOPIC, event.topic
    broker = event.node if event.event == "metadata-config" else event.broker
    if event.reason == DEFAULT:
        return DEFAULT, None
    if broker is not None:
        return STATIC if event.reason == STATIC else BROKER, broker
    if event.event == "metadata-config" or event.reason == CLUSTER or event.writer is None:
        return CLUSTER, None
    return STATIC, event.writer


def plain_directory(directory: str) -> str:
    """A directory in the form that matches a broker's settings and its log lines, also on Windows."""
    return _drive_and_path(directory)[1].rstrip("/")


def is_directory_id(directory: str) -> bool:
    """Whether a line names a log directory by its id (KIP-858), not by its path."""
    return _DIRECTORY_ID.fullmatch(directory) is not None


def process_roles(value: str | None) -> str:
    """process.roles as in server.properties; a broker's settings dump prints a list, '[]' in ZooKeeper mode."""
    return (value or "").strip("[] ")


def same_directory(one: str, other: str) -> bool:
    """Whether two spellings may mean the same directory. A broker prints the absolute path (File#getAbsolutePath): a relative setting gets
    its base directory, and on Windows a drive, backslashes, and any case. On Windows `C:data`, which a properties file makes of `C:\\data`,
    is relative to the working directory of that drive."""
    (drive, first), (other_drive, second) = map(_drive_and_path, (one, other))
    if drive and other_drive and drive != other_drive:
        return False
    if drive or other_drive or "\\" in one + other:
        first, second = first.lower(), second.lower()
    paths = PurePosixPath(first), PurePosixPath(second)
    return paths[0] == paths[1] or _ends_with(*paths) or _ends_with(*reversed(paths))


def _drive_and_path(directory: str) -> tuple[str, str]:
    path = re.sub("/+", "/", directory.strip().replace("\\", "/"))
    return (path[0].lower(), path[2:]) if _DRIVE.match(path) else ("", path)


def _ends_with(whole: PurePosixPath, relative: PurePosixPath) -> bool:
    own = len(relative.parts)
    return not relative.is_absolute() and own <= len(whole.parts) and whole.parts[len(whole.parts) - own :] == relative.parts
