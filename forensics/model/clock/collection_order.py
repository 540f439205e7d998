"""Collections of a node's files: which is the last, and when earlier ones were saved.

Source: a collection contains the disks as they were when it was made; only the last shows the current state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from posixpath import commonprefix

from forensics.model.clock.copies import LOG_SUFFIX
from forensics.model.clock.resolver import EventResolver
from forensics.model.clock.sources import Source
from forensics.model.events import Event
from forensics.model.times import grouped
from forensics.thresholds import COPIED_TIME
from parsers.kinds import Role, of

DISK_KINDS = frozenset(
    {"hw-checkpoint", "recovery-point-checkpoint", "log-start-checkpoint", "cleaner-checkpoint", "epoch-checkpoint", "segment"}
    | {"partition-metadata", "meta-properties"}
)
_STARTS = of(role=Role.BEGINS)


def last_starts(raw: Iterable[Event], resolver: EventResolver) -> dict[int, datetime]:
    """Last start of each node's process, UTC. `raw` has uncorrected times."""
    own = ((e.writer, e.source, e.at, e.line or 0) for e in raw if e.event in _STARTS and e.writer is not None and e.at is not None)
    return dict(sorted((node, resolver.utc(resolver.root + source, at, line)) for node, source, at, line in own))


def _set_apart(sources: Iterable[Source], begins: Mapping[int, datetime]) -> None:
    """Moves sources outside a collection's directory, which were assigned to it as the node's only collection, into a collection of
    their own if the process was restarted after the collection's disks were saved: those disks do not show the current state."""
    for (node, _), own in _members(sources).items():
        saved = _disks_saved(own)
        outside = [s for s in own if not _inside(s)]
        if outside and saved is not None and saved < begins.get(node, saved) and _written(own):
            apart = commonprefix([s.path for s in outside]).rpartition("/")[0]
            for s in outside:
                s.collection = apart


def _disks_saved(sources: Iterable[Source]) -> datetime | None:
    """When the disks of a collection were saved; None if unknown, or if some are outside the collection's directory."""
    disks = [s for s in sources if s.kind in DISK_KINDS]
    return max((s.modified for s in disks if s.modified is not None), default=None) if all(map(_inside, disks)) else None


def _members(sources: Iterable[Source]) -> dict[tuple[int, str], list[Source]]:
    return grouped(((s.node, s.collection), s) for s in sources if s.node is not None)


def _written(sources: Iterable[Source]) -> bool:
    """Whether modification times are write times: each log's own equals that of its last line."""
    times = ((s.modified, s.last) for s in sources if s.last is not None)
    return all(modified is None or abs(modified - last) <= COPIED_TIME for modified, last in times)


def _inside(source: Source) -> bool:
    return source.path.startswith(f"{source.collection}/" if source.collection else "")


def _age(sources: Iterable[Source], last_line: datetime | None) -> datetime | None:
    """When the last of these sources was written: the newest modification time, or the last log line if all modification times are later
    (copies)."""
    times = [s.modified for s in sources if s.modified is not None]
    if last_line is None or not times:
        return max(times, default=last_line)
    return max(*times, last_line) if min(times) <= last_line + COPIED_TIME else last_line


def _order_collections(sources: Iterable[Source], begins: Mapping[int, datetime]) -> dict[int, list[str]]:
    """Collections of each node, oldest first, by the last write in each. A collection with disks saved since the last process start
    sorts after those without: the latest collection must be the one with the current disks. If times are equal, as after a copy, the
    last log lines decide. Files outside of the directory that joined it,
    such as the output of a container, show nothing about when it was made."""
    members = _members(sources)

    def age(key: tuple[int, str]) -> tuple[bool, datetime, datetime, str]:
        own = [s for s in members[key] if _inside(s)] or members[key]
        line = _last_line(own)
        last = _age(own, line)
        now = any(s.kind in DISK_KINDS for s in own) and (last is None or last >= begins.get(key[0], last))
        return now, last or datetime.min, line or datetime.min, key[1]

    return grouped((node, collection) for node, collection in sorted(members, key=age))


def _last_line(sources: Iterable[Source]) -> datetime | None:
    """Time of the last log line in a collection's own directory."""
    return max((s.last for s in sources if s.last is not None and _inside(s)), default=None)


def _saved(sources: Sequence[Source], ordered: Mapping[int, Sequence[str]]) -> dict[str, datetime]:
    """Files of earlier collections whose modification times are lost or were set by a copy: all are later than the last line of the logs
    next to them, which is impossible for the log itself. Those files were saved with that line at the latest."""
    found: dict[str, datetime] = {}
    for own in (own for (node, collection), own in _members(sources).items() if collection in ordered[node][:-1]):
        end = _last_line(own)
        kept = min((s.modified for s in own if s.modified is not None), default=None)
        if end is not None and (kept is None or kept > end + COPIED_TIME):
            found.update((s.path, end + timedelta(microseconds=1)) for s in own if not s.kind.endswith(LOG_SUFFIX))
    return found


def with_collections(
    resolver: EventResolver, sources: Sequence[Source], begins: Mapping[int, datetime]
) -> tuple[EventResolver, dict[int, list[str]]]:
    """The resolver with the collection of each source and the times at which earlier collections were saved, and each node's collections,
    oldest first; also sets the collections of `sources`."""
    _set_apart(sources, begins)
    ordered = _order_collections(sources, begins)
    collections = {s.path: s.collection for s in sources}
    return replace(resolver, collections=collections, saved=_saved(sources, ordered)), ordered
