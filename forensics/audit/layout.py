"""Assigns each file of an archive to a cluster: by its path, else by the cluster ids in the files.

Here: the meaning of `--layout`, Hive's names, a file's name within its cluster, and which files belong to the same cluster if the path does
not name it. Not here: the list of files (archive), or successive clusters on the same brokers (forensics.model.clock.cluster_history).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import unquote

from parsers.cached import cached_property

UNNAMED = "unnamed"
"""The cluster of all files that name none."""
PLACEHOLDERS = ("cluster", "date", "broker")
REST = frozenset({"", "…", "...", "**"})
_STEPS = "(?:[^/]+/)*?"
_PART = re.compile(r"(\{[^{}]*\}|\*)")
_HIVE = re.compile(r"cluster=(.+)")
_ARCHIVE = re.compile(r"\.(?:tar|tgz|tbz2?|txz|zip|gz|bz2|xz|zst|zstd)(?=\.|$)", re.IGNORECASE)
_DAY = re.compile(r"(\d{4})[-_.]?(\d{2})[-_.]?(\d{2})")
DAY_IN_PATH = r"(?:^|/)(?:date|dt|day)=(?P<year>\d{4})-?(?P<month>\d{2})-?(?P<day>\d{2})(?:/|$)"
"""A day in a path, as one of the names that Layout.read makes."""


class NamedInPath(NamedTuple):
    """The information in a path."""

    cluster: str | None
    name: str
    """The file's name within its cluster: the path without the step with the cluster's name, since a cluster may be named kafka-3. Days and
    brokers get the keywords for them, since a day may be 20260302 and a broker's directory 1."""


@dataclass(frozen=True)
class PathLayout:
    """The meaning of the steps of paths. Raises ValueError if `pattern` is invalid."""

    pattern: str | None = None
    """Steps with {cluster}, {date} and {broker}, `*` for anything within a step, `…` for any further steps; None: only Hive's names."""

    def __post_init__(self) -> None:
        _ = self._expression

    @cached_property
    def _expression(self) -> re.Pattern[str] | None:
        return _compiled(self.pattern) if self.pattern is not None else None

    @property
    def _goes_on(self) -> bool:
        """Whether a path has more steps than the pattern, unless its last step is a container."""
        return self.pattern is not None and self.pattern.rpartition("/")[2] in REST

    def read(self, path: str) -> NamedInPath:
        """The information in a path relative to the archive, including members of containers."""
        steps = path.split("/")
        if self._expression is None:
            at = next((n for n, step in enumerate(steps[:-1]) if _HIVE.fullmatch(step)), None)
            if at is None:
                return NamedInPath(None, path)
            return NamedInPath(unquote(steps[at][len("cluster=") :]), "/".join((*steps[:at], *steps[at + 1 :])))
        match = self._expression.match(path)
        if match is None:
            return NamedInPath(None, path)
        values = {name: value for name, value in match.groupdict().items() if value is not None}
        starts = [0]
        for step in steps:
            starts.append(starts[-1] + len(step) + 1)
        cluster = values.get("cluster")
        for name in values:
            at = next((n for n, start in enumerate(starts[:-1]) if match.span(name) == (start, start + len(steps[n]))), None)
            if at is None:
                continue
            if name == "date":
                steps[at] = f"date={_iso(steps[at])}"
            elif name == "broker" and steps[at].isdecimal():
                steps[at] = f"broker-{steps[at]}"
            elif name == "cluster":
                cluster = _ARCHIVE.split(steps[at], maxsplit=1)[0] or steps[at]
                if at < len(steps) - 1:
                    steps[at] = ""
                elif cluster == steps[at] and self._goes_on:
                    return NamedInPath(None, path)
        return NamedInPath(cluster, "/".join(step for step in steps if step))

    def group(self, path: str) -> str:
        """The same for files of a single cluster, as far as their paths show."""
        return self.read(path).cluster or path.partition("/")[0] * ("/" in path)


def _iso(day: str) -> str:
    match = _DAY.fullmatch(day)
    return "-".join(match.groups()) if match is not None else day


def _compiled(pattern: str) -> re.Pattern[str]:
    steps: list[str] = []
    seen: list[str] = []
    for step in pattern.strip("/").split("/"):
        if step in REST:
            steps.append(_STEPS)
            continue
        made = ""
        for part in _PART.split(step):
            if part == "*":
                made += "[^/]*"
            elif part.startswith("{"):
                name = part[1:-1]
                if name not in PLACEHOLDERS or name in seen:
                    known = ", ".join(f"{{{p}}}" for p in PLACEHOLDERS)
                    wrong = "is there twice; use it once" if name in seen else f"is not a placeholder; use {known}"
                    raise ValueError(f"{pattern!r}: {part} {wrong}")
                seen.append(name)
                within = name == "date" and part != step  # a name before it may contain the separator
                made += f"(?P<{name}>{_DAY.pattern.replace('(', '(?:')})" if within else f"(?P<{name}>[^/]+?)"
            else:
                made += re.escape(part)
        steps.append(f"{made}/")
    if not seen:
        raise ValueError(f"{pattern!r} has no placeholder; use {{cluster}}, {{date}} or {{broker}}")
    while steps[-1] == _STEPS:
        steps.pop()
    return re.compile(f"{''.join(steps).removesuffix('/')}(?:/.*)?$")


def names(sources: Iterable[Mapping[str, Any]], layout: PathLayout) -> dict[str, dict[str, str]]:
    """By cluster, the name of each of its sources within it by its path. `sources`: rows of the sources in
    forensics.audit.archive.FILES."""
    ordered = sorted(sources, key=lambda s: str(s["path"]))
    named = {s["path"]: layout.read(s["path"]) for s in ordered}
    of = clusters(Teller(s["path"], named[s["path"]].cluster, [(i["id"], i["at"]) for i in s["ids"]]) for s in ordered)
    found: dict[str, dict[str, str]] = defaultdict(dict)
    taken: dict[str, set[str]] = defaultdict(set)
    for s in ordered:
        path, cluster = s["path"], of[s["path"]]
        short = named[path].name
        found[cluster][path] = path if short in taken[cluster] else short
        taken[cluster].add(found[cluster][path])
    return found


class Teller(NamedTuple):
    """A file, and the clusters that it names."""

    path: str
    cluster: str | None
    """From its path."""
    ids: Sequence[tuple[str, datetime | None]] = ()
    """Cluster ids in the file, with the last time of each."""


def clusters(tellers: Iterable[Teller]) -> dict[str, str]:
    """The cluster of each file, by path. If the path names none, the cluster is that of the ids in the file, or in the nearest directory in
    which all files with ids have the same one. Ids in one directory are incarnations of one cluster, which is named after the last id."""
    given = list(tellers)
    cluster_of = {t.path: t.cluster for t in given if t.cluster is not None}
    silent = [t for t in given if t.cluster is None]
    groups = _together(silent)
    votes: dict[str, set[str]] = defaultdict(set)
    for t in silent:
        for cluster_id, _ in t.ids:
            for place in _places(t.path):
                votes[place].add(groups[cluster_id])
    for t in silent:
        near = next((votes[place] for place in _places(t.path) if place in votes), set())
        cluster_of[t.path] = next(iter(near)) if len(near) == 1 else UNNAMED
    return cluster_of


def _places(path: str) -> Iterator[str]:
    """The file itself and the directories it lies in, nearest first, the root last."""
    yield path
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
    yield ""


def _together(tellers: Iterable[Teller]) -> Mapping[str, str]:
    """The cluster name for each id."""
    of_place: dict[str, list[str]] = defaultdict(list)
    last: dict[str, datetime] = {}
    for t in tellers:
        place = t.path.rpartition("/")[0] or t.path
        for cluster_id, at in t.ids:
            of_place[place].append(cluster_id)
            last[cluster_id] = max(last.get(cluster_id, datetime.min), at or datetime.min)
    group = {cluster_id: {cluster_id} for cluster_id in last}
    for ids in of_place.values():
        joined = set[str]().union(*(group[i] for i in ids))
        group.update(dict.fromkeys(joined, joined))
    return {cluster_id: max(members, key=lambda i: (last[i], i)) for cluster_id, members in group.items()}
