"""Files that are set aside: of another cluster, configurations that no broker was started with, renamed copies, and quoted lines.

Here: which files these are. Not here: clusters that followed each other on the same brokers (cluster_history), a single broker with the
disks of another cluster (rules.cluster_id_mismatch), the settings of brokers (settings), a file that was changed after the start
(rules.config_drift), files of an earlier collection (build), or excerpts of logs that were not collected, which are evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from forensics.model.clock.cluster_history import CLUSTER_ID
from forensics.model.clock.gathered import Gathered, Mask, of_kinds
from forensics.model.clock.sources import ExcludedFiles, Source
from forensics.model.times import Span, begins, ends, grouped, overlap
from parsers.formats import CALLED
from parsers.paths import is_unfinished, name_of
from parsers.sniff import LOGS

EXCLUDED_KIND = "set-aside"
"""Kind of the sources that were set aside."""


def excluded_files(gathered: Gathered, collected: Sequence[Mapping[str, Any]], sources: Sequence[Source]) -> tuple[ExcludedFiles, ...]:
    """The files of other clusters, sample configurations, renamed copies and quotations."""
    nodes = {row["source"]: (row["collected"] or {}).get("nodes") or () for row in collected}
    found = _other_clusters(gathered, sources, nodes)
    gone = {path for other in found for path in other.paths}
    if gone:
        gathered = gathered.without(gone)
    files = {s.path for s in sources if s.kind == "server-properties" and s.path not in gone}
    configs = gathered.rows(_settings(DECIDING), "source", "node", "key", "value").to_pylist() if files else []
    identities = gathered.rows(of_kinds(("log-directory-identity",)), "node")["node"].to_pylist() if files else []
    known = {n for path, own in nodes.items() if path not in gone for n in own} | {n for n in identities if n is not None}
    unused = _samples(configs, files, known)
    copied = [path for path in _renamed(sources) if path not in gone]
    quoted = [path for path in _quotations(sources, nodes) if path not in gone]
    others = (("sample", unused), ("copy", copied), ("quotation", quoted))
    return (*found, *(ExcludedFiles(why, tuple(paths)) for why, paths in others if paths))


def _settings(keys: Iterable[str]) -> Mask:
    known = pa.array(list(keys))
    return lambda events: pc.and_(pc.equal(events["event"], "config"), pc.fill_null(pc.is_in(events["key"], known), False))


def _other_clusters(gathered: Gathered, sources: Sequence[Source], nodes: Mapping[str, Collection[int]]) -> tuple[ExcludedFiles, ...]:
    """By the cluster ids in logs and meta.properties."""
    printed, on_disk = _settings((CLUSTER_ID,)), of_kinds(("log-directory-identity",))
    naming = gathered.rows(
        lambda t: pc.and_(pc.or_(printed(t), on_disk(t)), pc.is_valid(t["value"])), "source", "value", "event", "node", "time"
    ).to_pylist()
    named: dict[str, set[str]] = defaultdict(set)
    for row in naming:
        named[row["source"]].add(row["value"])
    if len({i for own in named.values() for i in own}) < 2 or any(len(own) > 1 for own in named.values()):
        return ()
    disks = {
        row["source"]: (row["node"], row["time"]) for row in naming if row["event"] != "config" and None not in (row["node"], row["time"])
    }
    return _unrelated(sources, named, nodes, disks)


# other clusters

LEAST_NODES = 2
"""Nodes of a cluster that has no node in common with the other: a single one may be a broker with the wrong disks."""


def _unrelated(
    sources: Sequence[Source],
    ids: Mapping[str, Collection[str]],
    nodes: Mapping[str, Collection[int]],
    disks: Mapping[str, tuple[int, datetime]],
) -> tuple[ExcludedFiles, ...]:
    """The clusters other than the largest one. `ids`: the cluster id in each file that has one; `nodes`: the nodes that a log names as its
    writers; `disks`: node and time of each meta.properties. Nothing if the clusters may have followed each other on the same brokers."""
    parts = _divided([s.path for s in sources], ids)
    by_path = {s.path: s for s in sources}
    found = {cluster_id: [by_path[path] for path in paths] for cluster_id, paths in parts.items()}
    main = max(found, key=lambda i: (sum(s.lines or 0 for s in found[i]), sum(s.bytes or 0 for s in found[i]), i))
    others = [i for i in sorted(found) if i != main and _at_once(found[main], found[i], nodes, disks)]
    return tuple(ExcludedFiles("cluster", tuple(s.path for s in found[i]), i) for i in others)


def _divided(paths: Sequence[str], ids: Mapping[str, Collection[str]], depth: int = 0) -> dict[str, list[str]]:
    """The paths by cluster id, divided at the highest directories that have one cluster id each, else by file. Paths without an id are in
    none. `ids`: one for each file that has any."""
    children = grouped((path.split("/", depth + 1)[depth] if path.count("/") > depth else path, path) for path in paths)
    found: dict[str, list[str]] = defaultdict(list)
    for own in children.values():
        here = {i for path in own for i in ids.get(path, ())}
        for cluster_id, some in ({here.pop(): own} if len(here) == 1 else _divided(own, ids, depth + 1) if here else {}).items():
            found[cluster_id] += some
    return found


def _at_once(
    one: Sequence[Source], other: Sequence[Source], nodes: Mapping[str, Collection[int]], disks: Mapping[str, tuple[int, datetime]]
) -> bool:
    """Whether two clusters ran at the same time, and not on the same brokers. A broker that wrote to a disk of the one was not in the
    other."""
    spans = [_spans(own, nodes) for own in (one, other)]
    written = [(disks[s.path][0], _written(s.path, disks[s.path][1], one)) for s in one if s.path in disks]
    common = [(n, span) for n, span in (*spans[0].items(), *written) if n in spans[1]]
    if common:
        return any(overlap(span, spans[1][n]) for n, span in common)
    whole = [Span(min(map(begins, own.values())), max(map(ends, own.values()))) for own in spans if len(own) >= LEAST_NODES]
    return len(whole) == 2 and overlap(*whole)


def _written(identity: str, begin: datetime, sources: Iterable[Source]) -> Span:
    """The time from a meta.properties to the last write to a file of its disk."""
    directory = identity.rpartition("/")[0] + "/"
    return Span(begin, max((s.modified for s in sources if s.modified is not None and s.path.startswith(directory)), default=begin))


def _spans(sources: Sequence[Source], nodes: Mapping[str, Collection[int]]) -> dict[int, Span]:
    """By node, the time of its logs."""
    spans: dict[int, Span] = {}
    for s in sources:
        if s.first is not None and s.last is not None and len(nodes.get(s.path, ())) == 1:
            (node,) = nodes[s.path]
            span = spans.get(node, Span(s.first, s.last))
            spans[node] = Span(min(begins(span), s.first), max(ends(span), s.last))
    return spans


# samples

SHIPPED_DIRECTORIES = frozenset({"/tmp/kafka-logs", "/tmp/kraft-combined-logs", "/tmp/kraft-broker-logs", "/tmp/kraft-controller-logs"})  # noqa: S108
"""The values of log.dirs in the files of Kafka's directory config."""
DECIDING = ("process.roles", "zookeeper.connect", "log.dirs", "log.dir")
_NONE = frozenset({"", "null", "[]"})

Settings = Mapping[str, Collection[str]]
"""The values of DECIDING, by key."""


def _samples(configs: Iterable[Mapping[str, Any]], files: Collection[str], known: Collection[int]) -> list[str]:
    """Configurations that contradict what the brokers printed, or name a broker of which there is nothing else. `configs`: rows with
    source, node, key and value; `files`: the server.properties files; `known`: nodes that logs or meta.properties name."""
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


# copies


def _renamed(sources: Iterable[Source]) -> list[str]:
    """Renamed copies of checkpoints in the directory of the file itself: what an editor, an operator or a backup left behind. If there are
    several copies without the file itself, nothing shows which is the last, and none counts."""
    places = grouped(((s.path.rpartition("/")[0], s.kind), s.path) for s in sources if s.kind in CALLED and not is_unfinished(s.path))
    return sorted(path for (_, kind), own in places.items() if len(own) > 1 for path in own if name_of(path) != CALLED[kind])


# quotations

UNNAMED = "other-log"
"""Kind of a text whose name is not that of a log."""
LONGEST = 500
"""Lines of a text that may be a quotation."""


def _quotations(sources: Iterable[Source], nodes: Mapping[str, Collection[int]]) -> list[str]:
    """Texts that quote lines of a broker whose own logs were collected: notes, mails, pastes. A line that the log lacks although it covers
    the time and prints such lines was not printed by it; a line that it has adds nothing. `nodes`: those that the lines of a log name as
    its writers."""
    logs: dict[int, list[Source]] = defaultdict(list)
    texts: list[Source] = []
    for s in sources:
        if s.kind == UNNAMED and (s.lines or 0) <= LONGEST and s.printed:
            texts.append(s)
        elif s.kind in LOGS and len(own := nodes.get(s.path, ())) == 1:
            logs[next(iter(own))].append(s)

    def quotes(text: Source) -> bool:
        own = nodes.get(text.path, ())
        return bool(own) and all(_covers(logs[node], facet, text) for node in own for facet in text.printed)

    return sorted(text.path for text in texts if quotes(text))


def _covers(logs: Iterable[Source], facet: str, text: Source) -> bool:
    """Whether a log has lines of this facet from before the text's first line until after its last one."""
    return any(_within(text, [at for _, at in s.printed.get(facet, ()) if at is not None]) for s in logs)


def _within(text: Source, times: Collection[datetime]) -> bool:
    return text.first is not None and text.last is not None and bool(times) and min(times) <= text.first and text.last <= max(times)
