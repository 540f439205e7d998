"""An audit on disk while it is written: which files of the archive were read, what is kept of them, which clusters have to be judged, and
commits.

Here: the manifest of files by digest, the clusters made of them, and commits: a process may be killed at any time; everything that the
manifest names is complete, and the next run deletes everything else. Not here: reading and judging (spark.audit, whole), or the
tables (dated).
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from forensics.audit.audited import (
    CHECKED,
    ENTRY,
    KEPT,
    MANIFEST,
    OWN,
    RUNNING,
    SCHEMA,
    Audit,
    case_of,
    escaped,
    is_audit,
    kept_of,
    table_file,
)
from forensics.audit.dated import is_intact
from forensics.audit.history import TABLES as HISTORY
from forensics.audit.history import History, Results, results
from forensics.audit.kept import COLUMNS, ClusterPart, is_kept
from forensics.audit.layout import PathLayout, names
from forensics.audit.remote import Remote
from forensics.audit.upkeep import Checked, Forgotten, changed_of, compact, is_entry, renamed, unlike
from forensics.case.files import document, parquet
from forensics.case.read import Unreadable
from forensics.case.write import CaseRefused
from forensics.output.files import PART, whole_file
from forensics.output.version import version
from forensics.views.document import reading_digest, rules_digest
from forensics.words.formats import counted
from parsers.containers.names import clean, join
from parsers.containers.storage import Leaf
from parsers.containers.units import ListedUnit
from parsers.schemas import Row
from spark.audit import ArchiveFile

STAGED = f"{OWN}/staged"
READING = ("log_patterns", "limits", "patterns")
"""Settings on which it depends what is read: with others, all files are read again."""
RACY_S = 2.0
"""A file modified so shortly before it was listed may be modified again without a change of its modification time."""

_KEPT_IN = pa.list_(pa.struct([("file", pa.string()), ("rows", pa.int64())]))
FILES = pa.schema(
    [
        ("path", pa.string()),
        ("stamp", pa.string()),
        ("sure", pa.bool_()),
        ("sha256", pa.string()),
        ("tries", pa.int32()),
        ("reader", pa.string()),
        ("catalogue", pa.string()),
        (
            "sources",
            pa.list_(
                pa.struct(
                    [
                        ("path", pa.string()),
                        ("kept_as", pa.string()),
                        ("kind", pa.string()),
                        ("problem", pa.string()),
                        ("ids", pa.list_(pa.struct([("id", pa.string()), ("at", pa.timestamp("us"))]))),
                        ("events", _KEPT_IN),
                        ("records", _KEPT_IN),
                    ]
                )
            ),
        ),
    ]
)
"""For each file of the archive: size and modification time, whether these reliably change with the content, digest, how often this version
was read, by which version of the tool and by which catalogue (reading_digest), and for each source in it its `source` event and where its
rows are kept (`kept_as`: the path that they have there, if it is another)."""
TRIES = 2
"""How often a file is read if the store had errors."""


@dataclass(frozen=True)
class AuditSettings:
    """Options from which the tables are made. If they change, the clusters are judged again."""

    archive: Sequence[str]
    """Without secrets."""
    layout: str | None
    options: Mapping[str, Any]
    records: bool

    def as_json(self) -> dict[str, Any]:
        return {"archive": list(self.archive), "layout": self.layout, "records": self.records, **self.options}


@dataclass
class Group:
    """Files that share one entry in the manifest: those of one name, in practice always one file."""

    at: list[tuple[ListedUnit, Leaf]] = field(default_factory=list)

    @property
    def stamp(self) -> str:
        return " ".join(f"{leaf.size}.{leaf.changed}" for _, leaf in self.at)

    def files(self) -> list[ArchiveFile]:
        return [ArchiveFile(of.path, leaf.name, leaf.version) for of, leaf in self.at]

    def sure(self, now: float) -> bool:
        return all(leaf.changed is not None and leaf.changed < (now - RACY_S) * 1e9 for _, leaf in self.at)


@dataclass(frozen=True)
class ClusterSources:
    """Input for judging a cluster."""

    name: str
    events: Sequence[ClusterPart]
    records: Sequence[ClusterPart]
    rows: int
    fingerprint: str


class NamedCluster(NamedTuple):
    """A cluster with its sources (rows of FILES), and their names in it by their paths."""

    name: str
    sources: Sequence[Row]
    called: Mapping[str, str]


class AuditDirectory:
    """An audit's directory, which no other run may use at the same time. Raises Refused if the directory cannot be an audit."""

    def __init__(
        self,
        directory: Path,
        settings: AuditSettings,
        *,
        force: bool,
        reread: bool = False,
        forget: Forgotten | None = None,
        store: Remote | None = None,
    ) -> None:
        """`reread`: read the files again that another catalogue read. `store`: where the tables are, if the directory is a copy of a part
        of them."""
        self.directory = directory.resolve()
        self.settings = settings
        self._store = store
        self.reread = reread
        self.forgotten = forget or Forgotten()
        self.damaged: list[str] = []
        """Files of the audit that were missing or damaged, and what was done about it: sentences."""
        self.layout = PathLayout(settings.layout)
        self._check(directory, force)
        for place in (KEPT, STAGED):
            (self.directory / place).mkdir(parents=True, exist_ok=True)
        self._lock = self._locked()
        try:
            self._begin(force)
        except BaseException:
            self._lock.close()
            raise

    def _begin(self, force: bool) -> None:
        killed = (self.directory / RUNNING).exists()
        (self.directory / RUNNING).touch()
        if force:
            (self.directory / MANIFEST).unlink(missing_ok=True)
        self.known: dict[str, Row] = {}
        """By path, rows of FILES."""
        self.listed = self.named = self.dropped = 0
        self.gone: set[str] = set()
        """Known files that are no longer in the archive."""
        self.emptied: dict[str, int] = {}
        """Arguments in which there is nothing any more, with the number of files that were read from them."""
        self.again: dict[str, str] = {}
        """Files that are read again because another catalogue read them, with the version of the tool that did."""
        self._replaced: dict[str, Row] = {}
        """Rows of files that another catalogue read, and that are read again."""
        self._checked = Checked(self.directory, CHECKED)
        self._ended: set[str] = set()
        self.lost: list[Row] = []
        """Files whose kept content is damaged."""
        self._unread: set[str] = set()
        """Clusters whose earlier results cannot be read."""
        self.entries: dict[str, str] = {}
        self.fingerprints: dict[str, str] = {}
        self.failed: dict[str, str] = {}
        """Clusters that could not be judged, and why."""
        history: dict[str, Any] | None = None
        if (self.directory / MANIFEST).exists():
            manifest = Audit(self.directory).manifest
            self._bring_described(manifest)
            self.entries, self.fingerprints = dict(manifest["clusters"]), dict(manifest["fingerprints"])
            self.failed = dict(manifest.get("failed", {}))
            history = manifest.get("history")
            self._know(manifest)
        self.history = self._history(history)
        self.history.begin()
        self._check_tables()
        self._check_kept()
        if killed or force or self.damaged:
            self._sweep()

    def _bring_described(self, manifest: Mapping[str, Any]) -> None:
        """Copies what describes the results from the store: the list of files, the entries of clusters and the tables of runs."""
        of_history = (manifest.get("history") or {"files": {}})["files"].values()
        self._bring([f"{OWN}/{manifest['files']}", *(f"{OWN}/{entry}" for entry in manifest["clusters"].values()), *of_history])

    def _bring(self, names: Iterable[str]) -> None:
        if self._store is not None:
            self._store.bring(names)

    def _has(self, path: Path, good: Callable[[Path], bool]) -> bool:
        """Whether a file of the tables is there and good. A store has its own checksums."""
        if self._store is not None:
            return str(path.relative_to(self.directory)) in self._store.sizes
        return self._checked.has(path, good)

    def _know(self, manifest: Mapping[str, Any]) -> None:
        """The files that were read, by the names that they have in this run, without those to forget."""
        rows = self._files_read(manifest["files"])
        for row in rows:
            row.setdefault("reader", None)
            row.setdefault("catalogue", None)
            for s in row["sources"]:
                s.setdefault("kept_as", None)
        made, wanted = manifest["settings"], self.settings.as_json()
        known = renamed({row["path"]: row for row in rows}, made["archive"], wanted["archive"])
        earlier = Forgotten(**manifest.get("forgotten", {}))
        self.forgotten = self.forgotten.and_also(earlier)
        self.known = {path: row for path, row in known.items() if not self.forgotten.covers(path, changed_of(row), self.layout)}
        self.dropped = len(known) - len(self.known)
        if unlike(made, wanted, READING) or (wanted["records"] and not made["records"]):
            for row in self.known.values():  # what is kept of files that are no longer in the archive remains
                row["sha256"] = None

    def _files_read(self, name: str) -> list[Row]:
        try:
            with parquet(self.directory, f"{OWN}/{name}") as file:
                return file.read().to_pylist()  # type: ignore[no-any-return]
        except (OSError, ValueError) as error:
            why = " ".join(str(error).split())[:200]
            raise Unreadable(f"{self.directory / OWN / name}: damaged ({why}); run the audit again with --force") from None

    def _history(self, known: Mapping[str, Any] | None) -> History:
        try:
            return History(self.directory, known)
        except (OSError, ValueError) as error:
            self.damaged.append(f"The tables of runs are damaged ({' '.join(str(error).split())[:200]}) and begin again with this run.")
            return History(self.directory, None)

    def _check_tables(self) -> None:
        """Makes clusters whose results are missing or damaged be judged again."""
        for name, entry in list(self.entries.items()):
            if is_entry(self.directory / OWN / entry):
                for path in sorted(self._files(entry) - {self.directory / OWN / entry}):
                    if not self._has(path, is_intact):
                        self._mend(name, path)
            else:
                self._mend(name, self.directory / OWN / entry)
                del self.entries[name]
                self._unread.add(name)

    def _mend(self, cluster: str, path: Path) -> None:
        self.fingerprints.pop(cluster, None)
        what = "is damaged" if path.exists() else "is missing"
        self.damaged.append(f"{path.relative_to(self.directory)} {what}; {cluster} is judged again.")

    def _check_kept(self) -> None:
        """Makes files whose kept content is missing or damaged be read again."""
        damaged = {name for name in self._kept_now() if not self._has(self.directory / KEPT / name, is_kept)}
        if not damaged:
            return
        self.lost = lost = [
            row for row in self.known.values() if any(k["file"] in damaged for s in row["sources"] for c in COLUMNS for k in s[c])
        ]
        for row in lost:
            row.update(sha256=None, tries=0, sources=[])
        self.damaged += [f"{KEPT}/{name} is missing or damaged." for name in sorted(damaged)]
        self.damaged.append(f"The {counted(len(lost), 'file')} whose content was kept there must be read again from the archive.")

    def _check(self, shown: Path, force: bool) -> None:
        for path in self.settings.archive:
            if os.path.isdir(path) and self.directory.is_relative_to(Path(path).resolve()):
                raise CaseRefused(
                    f"{shown}: this directory is in the archive ({path}), to which nothing may be written; give another --out"
                )
        if is_audit(self.directory):
            Audit(self.directory)
        elif self.directory.exists() and not self.directory.is_dir():
            raise CaseRefused(f"{shown}: not a directory; give another --out")
        elif self.directory.is_dir() and not (self.directory / OWN).is_dir() and any(self.directory.iterdir()):
            raise CaseRefused(f"{shown}: the directory is not empty and not an audit; give another --out")

    def _locked(self) -> IO[str]:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK  # a stranger's directory may have a link or a pipe of this name
        file = os.fdopen(os.open(self.directory / OWN / "lock", flags, 0o666), "w")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise CaseRefused(f"{self.directory}: another audit is running in this directory") from None
        return file

    # existing state

    def candidates(self, listed: Sequence[ListedUnit]) -> dict[str, Group]:
        """Files that are new, or may have changed, by path."""
        groups: dict[str, Group] = defaultdict(Group)
        for of in listed:
            for leaf in of.leaves:
                path = join(of.prefix, clean(leaf.name))
                if not self.forgotten.covers(path, leaf.changed, self.layout):
                    groups[path].at.append((of, leaf))
        self.listed = len(groups)
        self.emptied = {of.path: count for of in listed if not of.leaves and (count := sum(_is_below(p, of.prefix) for p in self.known))}
        self.gone = self.known.keys() - groups.keys()
        for path in [path for path, row in self.known.items() if row["sha256"] is None and not row["sources"] and path not in groups]:
            self.damaged.append(f"{path} is no longer in the archive: its content is lost.")
            del self.known[path]
        return {path: group for path, group in groups.items() if not self._as_before(path, group)}

    def _as_before(self, path: str, group: Group) -> bool:
        known = self.known.get(path)
        return (
            known is not None
            and not self._to_reread(known)
            and known["sure"]
            and known["stamp"] == group.stamp
            and known["sha256"] is not None
            and not _to_retry(known, group)
        )

    def _to_reread(self, known: Row) -> bool:
        return self.reread and _outdated(known)

    def to_digest(self, candidates: Mapping[str, Group]) -> dict[str, Group]:
        """The candidates whose digest decides whether they have to be read. An object that has to be read anyway is read once: reading it
        gives its digest."""
        decided = {p for p in candidates if p not in self.known or self._to_reread(self.known[p])}
        return {p: group for p, group in candidates.items() if p not in decided or len(group.at) > 1 or not _remote(group)}

    def changed(self, candidates: Mapping[str, Group], digests: Mapping[str, str | None]) -> list[ListedUnit]:
        """The listed files that have to be read; for the others the current listing is recorded. `digests`: those of `to_digest`."""
        now = time.time()
        chosen: dict[str, list[Leaf]] = defaultdict(list)
        of_path: dict[str, ListedUnit] = {}
        for path, group in candidates.items():
            known = self.known.get(path)
            sha256 = digests.get(path)
            older = known is not None and _outdated(known) and bool(known["sources"])
            if older and path in digests and sha256 is None:
                continue  # what an older version read of a file that cannot be opened now is kept
            # the modification time of a local file is evidence itself; for an object it is the time of the upload
            as_before = known is not None and known["sha256"] == sha256 and (known["stamp"] == group.stamp or _remote(group))
            tries = known["tries"] if known is not None and as_before else 0
            same = known is not None and as_before and not self._to_reread(known) and not _to_retry(known, group)
            if known is not None and older and not same:
                self._replaced[path] = known
                if self.reread:
                    self.again[path] = known["reader"] or ""
            current = {"path": path, "stamp": group.stamp, "sure": group.sure(now), "sha256": sha256, "tries": tries + (not same)}
            if known is not None and same:
                current |= {name: known[name] for name in ("reader", "catalogue", "sources")}
            else:
                current |= {"reader": version(), "catalogue": reading_digest(), "sources": []}
            self.known[path] = current
            for of, leaf in () if same else group.at:
                chosen[of.path].append(leaf)
                of_path[of.path] = of
        return [of_path[path]._replace(leaves=leaves) for path, leaves in chosen.items()]

    def take(self, column: str, parts: Sequence[Row]) -> None:
        """Records which kept file has which rows of a source. `column`: events or records. `parts`: one row per source and kept file."""
        sources: dict[str, Row] = {}
        self._take_digests(parts)
        for row in parts:
            if row["file"] is None:
                continue
            source = sources.get(row["source"]) or self._source(row["source"])
            sources[row["source"]] = source
            source[column].append({"file": row["file"], "rows": row["rows"]})
            source["ids"] += row["ids"]
            source["kind"], source["problem"] = source["kind"] or row["kind"], source["problem"] or row["problem"]

    def _take_digests(self, parts: Sequence[Row]) -> None:
        """Records the digests of files that were not digested before: those of containers, else of their only source."""
        found = {row["source"]: row["sha256"] for row in sorted(parts, key=lambda row: row["file"] is None) if row["sha256"]}
        for path in found.keys() & self.known.keys():
            if self.known[path]["sha256"] is None:
                self.known[path]["sha256"] = found[path]

    def keep_unread(self) -> None:
        """Keeps what an older version read of objects that could not be opened again."""
        for path, row in self._replaced.items():
            if self.known[path]["sha256"] is None:
                self.known[path] = row
                self.again.pop(path, None)
        self._replaced = {}

    def _source(self, path: str) -> Row:
        file = self.known[next(place for place in _files_of(path) if place in self.known)]
        source = next((s for s in file["sources"] if s["path"] == path), None)
        if source is None:
            source = {"path": path, "kept_as": None, "kind": None, "problem": None, "ids": [], "events": [], "records": []}
            file["sources"].append(source)
        return source

    def outdated(self) -> dict[str, str]:
        """The files whose content was read with another catalogue than that of this version, with the version of the tool that read
        them."""
        return {p: row["reader"] or "" for p, row in self.known.items() if row["sources"] and _outdated(row)}

    # results

    def _named(self) -> list[NamedCluster]:
        """All clusters in all kept rows, by name."""
        sources = {s["path"]: s for file in self.known.values() for s in file["sources"]}
        of = names(sources.values(), self.layout)
        return [NamedCluster(name, [sources[path] for path in of[name]], of[name]) for name in sorted(of)]

    def _cluster(self, cluster: NamedCluster) -> ClusterSources:
        name, sources, called = cluster
        parts = {column: _parts(sources, column, called) for column in COLUMNS if column == "events" or self.settings.records}
        parts.setdefault("records", [])
        rows = sum(kept["rows"] for s in sources for column in parts for kept in s[column])
        parts_of_files = [[p.file, sorted(p.names.items())] for files in parts.values() for p in files]
        input_text = json.dumps([parts_of_files, self.settings.as_json(), _tool()], sort_keys=True)
        return ClusterSources(name, parts["events"], parts["records"], rows, hashlib.sha256(input_text.encode()).hexdigest())

    def _compact(self, named: Sequence[NamedCluster], changed: Sequence[NamedCluster]) -> None:
        """Puts small kept files of clusters that are judged again together."""
        users = Counter(file for cluster in named for file in kept_of(cluster.sources))
        for cluster in changed:
            if all(users[file] == 1 for file in kept_of(cluster.sources)):
                compact(cluster.sources, self.directory / KEPT)

    def to_judge(self) -> list[ClusterSources]:
        """Clusters that were not judged from the current rows, large ones first. Compacts what is kept of them."""
        named = self._named()
        self.named = len(named)
        self._ended = self.entries.keys() - {cluster.name for cluster in named}
        changed = [cluster for cluster in named if self.fingerprints.get(cluster.name) != self._cluster(cluster).fingerprint]
        self._bring(f"{KEPT}/{file}" for cluster in changed for file in sorted(kept_of(cluster.sources)))
        self._compact(named, changed)
        chosen = sorted(map(self._cluster, changed), key=lambda c: (-c.rows, c.name))
        self.failed = {c.name: self.failed[c.name] for c in chosen if c.name in self.failed}
        return chosen

    # commits

    def put(self, entries: Mapping[str, tuple[Mapping[str, Any], str]], failed: Mapping[str, str]) -> None:
        """Commits judged clusters: by name their entries and the fingerprints of their input. Files of their tables are in `staged`.
        `failed`: clusters that could not be judged, and why; their results are those of an earlier run, if any."""
        old: set[Path] = set()
        self.failed = {name: why for name, why in self.failed.items() if name not in entries} | dict(failed)
        for name in self._ended:
            old |= self._files(self.entries.pop(name))
            self.fingerprints.pop(name, None)
            self.history.without(name)
        self._ended = set()
        kept: set[Path] = set()
        for name, (entry, fingerprint) in entries.items():
            before: Results | None = Results()
            if name in self.entries:
                old |= self._files(self.entries[name])
                before = self._earlier(name)
            elif name in self._unread:
                before = None
            self._move(name, entry)
            self.history.judged(name, before, self._results(name, entry))
            text = json.dumps(entry, ensure_ascii=False, sort_keys=True) + "\n"
            self.entries[name] = f"{escaped(name)}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
            self.fingerprints[name] = fingerprint
            _write(self.directory / OWN / self.entries[name], text.encode())
            kept |= self._files(self.entries[name])
        self.commit()
        self._remove(old - kept)

    def _results(self, name: str, entry: Mapping[str, Any]) -> Results:
        return results(case_of(self.directory, name, entry, with_records=self.settings.records, tolerant=True))

    def _earlier(self, name: str) -> Results | None:
        """The results that are replaced; None if they cannot be read."""
        self._bring(str(path.relative_to(self.directory)) for path in sorted(self._files(self.entries[name])))
        try:
            return self._results(name, document(self.directory, f"{OWN}/{self.entries[name]}", ENTRY))
        except (Unreadable, OSError, ValueError, KeyError, TypeError):
            return None

    def end(self, judged: int, read: int, size: int) -> None:
        """Ends a run that judged so many clusters, and read so many files of `size` bytes. Commits."""
        counts = {"files": self.listed, "read": read, "bytes": size, "clusters": self.named, "judged": judged, "failed": len(self.failed)}
        self.history.end(**counts)
        self.commit()
        self._checked.write()

    def _move(self, name: str, entry: Mapping[str, Any]) -> None:
        for table, days in entry["tables"].items():
            for day in days:
                place = self.directory / table_file(table, name, day)
                staged = self.staged(name) / day["file"]
                place.parent.mkdir(parents=True, exist_ok=True)
                _sync(staged)
                staged.replace(place)
        shutil.rmtree(self.staged(name), ignore_errors=True)

    def staged(self, name: str) -> Path:
        """Where the files of a cluster's tables wait to be committed."""
        return self.directory / STAGED / escaped(name)

    def commit(self) -> None:
        """Commits the current state."""
        for file in self._kept_now():
            if self._store is None or (self.directory / KEPT / file).exists():
                _sync(self.directory / KEPT / file)
        rows = [self.known[path] for path in sorted(self.known)]
        table = pa.Table.from_pylist(rows, schema=FILES)
        content = pa.BufferOutputStream()
        pq.write_table(table, content, compression="zstd")
        data = content.getvalue()
        files = f"files-{hashlib.sha256(data).hexdigest()[:16]}.parquet"
        _write(self.directory / OWN / files, data)
        for path, content_of_table in self.history.write().items():
            (self.directory / path).parent.mkdir(exist_ok=True)
            _write(self.directory / path, content_of_table)
        manifest = {
            "schema": SCHEMA,
            "tool": _tool(),
            "settings": self.settings.as_json(),
            "files": files,
            "forgotten": {"paths": list(self.forgotten.paths), "before": self.forgotten.before},
            "clusters": dict(sorted(self.entries.items())),
            "fingerprints": dict(sorted(self.fingerprints.items())),
            "failed": dict(sorted(self.failed.items())),
            "history": self.history.entry(),
        }
        _write(self.directory / MANIFEST, (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode())
        self._remove(self.directory / KEPT / name for name in {*os.listdir(self.directory / KEPT)} - self._kept_now())
        self._remove(path for path in (self.directory / OWN).glob("files-*.parquet") if path.name != files)
        self._remove(self._of_history() - {self.directory / path for path in self.history.files.values()})

    def committed(self) -> set[str]:
        """All files that count, relative to the directory."""
        manifest = document(self.directory, MANIFEST)
        files = {path for entry in self.entries.values() for path in self._files(entry)}
        names = {MANIFEST, f"{OWN}/{manifest['files']}", *self.history.files.values(), *(f"{KEPT}/{file}" for file in self._kept_now())}
        return names | {str(path.relative_to(self.directory)) for path in files}

    def _of_history(self) -> set[Path]:
        return {path for name in HISTORY for path in (self.directory / name).glob("*.parquet")}

    def _kept_now(self) -> set[str]:
        return kept_of(s for file in self.known.values() for s in file["sources"])

    def _files(self, entry: str) -> set[Path]:
        """An entry, and the files of the tables it names."""
        results = document(self.directory, f"{OWN}/{entry}")
        tables = {self.directory / table_file(table, results["cluster"], day) for table, days in results["tables"].items() for day in days}
        return {self.directory / OWN / entry, *tables}

    def _remove(self, files: Iterable[Path]) -> None:
        for file in files:
            file.unlink(missing_ok=True)
            for place in file.parents:
                if place == self.directory or place.name in (OWN, "kept"):
                    break
                try:
                    place.rmdir()
                except OSError:
                    break

    def _sweep(self) -> None:
        """Deletes uncommitted files, left by a run that was killed."""
        shutil.rmtree(self.directory / STAGED, ignore_errors=True)
        (self.directory / STAGED).mkdir()
        counts = {path for entry in self.entries.values() for path in self._files(entry)}
        present = [path for path in self.directory.glob("*/cluster=*/date=*/*") if path.is_file()]
        present += (self.directory / OWN).glob("*-*.json")
        present += (self.directory / OWN).glob(f"{PART}*")
        self._remove(path for path in present if path not in counts)
        self._remove(self._of_history() - {self.directory / path for path in self.history.files.values()})
        self._remove(path for path in (self.directory / KEPT).iterdir() if path.name not in self._kept_now())

    def __enter__(self) -> AuditDirectory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._lock:
            if kind is None:
                (self.directory / RUNNING).unlink(missing_ok=True)


def _parts(sources: Iterable[Row], column: str, called: Mapping[str, str]) -> list[ClusterPart]:
    files: dict[str, dict[str, str]] = defaultdict(dict)
    for s in sources:
        for kept in s[column]:
            files[kept["file"]][s["kept_as"] or s["path"]] = called[s["path"]]
    return [ClusterPart(file, names) for file, names in files.items()]


def _files_of(source: str) -> Iterator[str]:
    """Paths of the files that a source may belong to: itself, itself without its writer, its containers, and the whole argument."""
    yield source
    yield source.rpartition("#")[0]
    while "/" in source:
        source = source.rpartition("/")[0]
        yield source
    yield ""


def _to_retry(known: Row, group: Group) -> bool:
    """A store may return next time what it failed to return; damaged files stay damaged."""
    return _remote(group) and known["tries"] < TRIES and any(s["problem"] for s in known["sources"])


def _outdated(known: Row) -> bool:
    """Whether another catalogue than that of this version read the file."""
    return bool(known["catalogue"] != reading_digest())


def _is_below(path: str, prefix: str) -> bool:
    return not prefix or path == prefix or path.startswith(f"{prefix}/")


def _remote(group: Group) -> bool:
    return any(leaf.version is not None for _, leaf in group.at)


def _tool() -> dict[str, str]:
    return {"version": version(), "rules": rules_digest()}


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _write(path: Path, content: bytes) -> None:
    with whole_file(path) as file:
        file.write(content)
