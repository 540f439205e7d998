"""An audit on disk, opened: its clusters, the results of each, and each as a case.

Here: which files are committed. Not here: the writing (archive), or a case's tables (read, dated). No Spark, and no pyspark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from forensics.audit.dated import DatedCase, DayFile, is_intact
from forensics.audit.history import History
from forensics.audit.kept import COLUMNS, is_kept
from forensics.audit.layout import PathLayout, names
from forensics.audit.upkeep import is_entry
from forensics.case.files import ANY, checked, document, is_marked, parquet
from forensics.case.read import Unreadable
from forensics.output.json_schema import BOOLEAN, COUNT, TEXT, Schema, by_name, listed, nullable, record
from parsers.cached import cached_property
from parsers.schemas import Row

SCHEMA = "kafka-forensics/audit/3"
FAMILY = SCHEMA.rpartition("/")[0]
OWN = "_audit"
"""Directory of files other than tables; engines that read Hive directories skip names like this."""
KEPT = f"{OWN}/kept"
CHECKED = f"{OWN}/checked"
"""Size and modification time of each file that had the right content in the last run."""
RUNNING = f"{OWN}/running"
"""Exists during a run, and after a run that was killed."""
MANIFEST = f"{OWN}/manifest.json"
"""The manifest. Files that it does not name, directly or indirectly, are not committed."""


_FILE: Schema = {**TEXT, "pattern": r"^[^/\0]+$"}
AUDIT = record(
    {
        "schema": TEXT,
        "settings": record({"archive": listed(TEXT), "layout": nullable(TEXT), "records": BOOLEAN}, others=True),
        "files": _FILE,
        "clusters": by_name(_FILE),
        "failed": by_name(TEXT),
        "history": nullable(
            record({"files": by_name(TEXT), "worse": by_name(COUNT), "partitions": listed({"type": "object"})}, others=True),
        ),
    },
    optional=("failed", "history"),
    others=True,
)
"""The form of the manifest."""
ENTRY = record(
    {
        "cluster": TEXT,
        "case": {"type": "object"},
        "tables": by_name(listed(record({"date": _FILE, "file": _FILE, "rows": COUNT}, others=True)), {"pattern": r"^[a-z_]+$"}),
        "summary": {"type": "object"},
    },
    others=True,
)
"""The form of the results of a cluster. Its `case` is the content of a case.json."""


def is_audit(path: Path) -> bool:
    """Whether the directory is marked as an audit, of any version."""
    return is_marked(path, MANIFEST, FAMILY)


def kept_of(sources: Iterable[Row]) -> set[str]:
    """The kept files of these sources, which are rows of forensics.audit.archive.FILES."""
    return {kept["file"] for s in sources for column in COLUMNS for kept in s[column]}


def table_file(table: str, cluster: str, day: DayFile) -> str:
    """Path of a day's file of a table of a cluster, relative to the audit's directory."""
    return f"{table}/cluster={escaped(cluster)}/date={day['date']}/{day['file']}"


def escaped(cluster: str) -> str:
    """A cluster's name as a path step in Hive's spelling."""
    return quote(cluster, safe=" ") if cluster.strip(".") else cluster.replace(".", "%2E")


class Audit:
    """The results of an audit. Raises Unreadable if they are damaged or made by another version."""

    def __init__(self, directory: Path, bring: Callable[[Iterable[str]], None] = lambda _: None) -> None:
        """`bring` makes sure that files, relative to the directory, are there if it is a copy of tables elsewhere."""
        self.directory, self._bring = directory, bring
        self.manifest = self._json(MANIFEST)
        if (schema := self.manifest.get("schema")) != SCHEMA:
            raise Unreadable(
                f"{directory}: the audit has schema {schema}, but this version reads schema {SCHEMA}; run the audit again with --force, or use another version"
            )
        self.manifest = self._json(MANIFEST, AUDIT)
        self.clusters: Mapping[str, str] = self.manifest["clusters"]
        """By name, the file with the results."""
        self.failed: Mapping[str, str] = self.manifest.get("failed", {})
        """Clusters that the last run could not judge, and why."""

    def _json(self, file: str, form: Schema = ANY) -> dict[str, Any]:
        self._bring([file])
        try:
            return document(self.directory, file, form)
        except (OSError, ValueError) as error:
            words = " ".join(str(error).split())[:200]
            raise Unreadable(
                f"{self.directory / file}: damaged ({words}); run the audit again{' with --force' * (file == MANIFEST)}"
            ) from None

    def entry(self, cluster: str) -> dict[str, Any]:
        """Summary of the results for a cluster, and the files of its tables. Raises Unreadable."""
        return self._json(f"{OWN}/{self.clusters[cluster]}", ENTRY)

    def summaries(self) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
        """The results of all clusters in short, by name, and the clusters without: these could not be judged, or their results are
        damaged."""
        from forensics.views.document_schema import BRIEF  # knows all rules, which no other reader of an audit needs

        found, failed = {}, dict(self.failed)
        self._bring(f"{OWN}/{file}" for file in self.clusters.values())
        for name in self.clusters:
            try:
                found[name] = checked(self.entry(name)["summary"], BRIEF)
            except (Unreadable, ValueError) as error:
                what = f"{OWN}/{self.clusters[name]} is damaged" if not isinstance(error, Unreadable) else str(error)
                failed[name] = f"{what}; the next audit makes it again"
        return found, failed

    def case(self, cluster: str, *, tolerant: bool = False) -> DatedCase:
        """The case of a cluster. Raises Unreadable if the audit has no such cluster. `tolerant` as in Case."""
        if cluster not in self.clusters:
            names = ", ".join(sorted(self.clusters)[:20]) or "none"
            raise Unreadable(
                f"{self.directory}: the audit has no cluster {cluster!r} (clusters: {names}{' …' * (len(self.clusters) > 20)})"
            )
        entry = self.entry(cluster)
        self._bring(self.files(cluster))
        return case_of(self.directory, cluster, entry, with_records=self.manifest["settings"]["records"], tolerant=tolerant)

    def named(self, path: str, cluster: str) -> str | None:
        """The name in a cluster of a file of the archive, which may be new; None if the file belongs to another cluster. Raises
        Unreadable."""
        for name, own in self._names.items():
            if path in own:
                return own[path] if name == cluster else None
        read = self._layout.read(path)
        return read.name if read.cluster in (None, cluster) else None

    @cached_property
    def _layout(self) -> PathLayout:
        return PathLayout(self.manifest["settings"]["layout"])

    @cached_property
    def _names(self) -> dict[str, dict[str, str]]:
        """By cluster, the name of each file of the archive that was read. A log with several writers counts once."""
        of = names((s for sources in self._read_files() for s in sources), self._layout)
        return {name: {path.partition("#")[0]: own.partition("#")[0] for path, own in paths.items()} for name, paths in of.items()}

    def files(self, cluster: str) -> list[str]:
        """The files of the tables of a cluster, relative to the directory. Raises Unreadable."""
        return sorted({table_file(table, cluster, day) for table, days in self.entry(cluster)["tables"].items() for day in days})

    def damaged(self, cluster: str) -> list[str]:
        """Those of them that are missing or damaged. Raises Unreadable."""
        return [file for file in self.files(cluster) if not is_intact(self.directory / file)]

    def examined(self) -> Iterator[tuple[str, bool]]:
        """Every committed file, relative to the directory, and whether it has the content that it is named after. Raises Unreadable if the
        list of the files that were read is damaged."""
        for file in self.clusters.values():
            yield f"{OWN}/{file}", is_entry(self.directory / OWN / file)
        for cluster in self.clusters:
            with suppress(Unreadable, KeyError, TypeError):
                yield from ((file, is_intact(self.directory / file)) for file in self.files(cluster))
        yield from ((file, is_intact(self.directory / file)) for file in self._of_history)
        for file in sorted(kept_of(s for sources in self._read_files() for s in sources)):
            yield f"{KEPT}/{file}", is_kept(self.directory / KEPT / file)

    def _read_files(self) -> list[list[Row]]:
        """The sources of each file of the archive that was read."""
        place = self.directory / OWN / self.manifest["files"]
        self._bring([f"{OWN}/{place.name}"])
        try:
            with parquet(self.directory, f"{OWN}/{place.name}") as file:
                return file.read(columns=["sources"])["sources"].to_pylist()  # type: ignore[no-any-return]
        except (OSError, ValueError) as error:
            raise Unreadable(f"{place}: damaged ({' '.join(str(error).split())[:200]})") from None

    @property
    def _of_history(self) -> list[str]:
        """The files of the tables of runs."""
        return list((self.manifest.get("history") or {"files": {}})["files"].values())

    def history(self) -> History:
        """The runs, and since when each finding is known. Raises Unreadable."""
        self._bring(self._of_history)
        try:
            return History(self.directory, self.manifest.get("history"))
        except (OSError, ValueError) as error:
            raise Unreadable(
                f"{self.directory}: the table of runs is damaged ({' '.join(str(error).split())[:200]}); run the audit again"
            ) from None


def case_of(directory: Path, cluster: str, entry: Mapping[str, Any], *, with_records: bool, tolerant: bool = False) -> DatedCase:
    """The case of a cluster with this entry. `tolerant` as in Case."""
    files: dict[str, list[DayFile]] = {
        table: [{"date": day["date"], "file": table_file(table, cluster, day), "rows": day["rows"]} for day in days]
        for table, days in entry["tables"].items()
    }
    return DatedCase(directory, entry["case"], files, with_records=with_records, tolerant=tolerant)
