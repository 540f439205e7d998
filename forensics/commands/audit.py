"""`kafka-forensics audit`: an archive of many clusters, many days, many incidents.

Here: the options, and the run: new files are read once, their clusters are judged, the tables are committed, the summary is shown. Not
here: the manifest (forensics.audit.archive), the jobs (spark.audit), one cluster's tables (forensics.audit.whole).
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from forensics import rule_files
from forensics.commands.config import config
from forensics.commands.evidence import (
    InvalidInput,
    Opened,
    Progress,
    check,
    clocks,
    given_clocks,
    given_timezone,
    limits,
    log_patterns,
    pattern_files,
    reading_options,
    reading_words,
    start,
    started,
)
from forensics.commands.exit_codes import FINDINGS, INCOMPLETE
from forensics.commands.exports import Exports, summary_options, write
from forensics.commands.fail_on import LEVELS, VERDICTS, fail_on_option, fails
from forensics.commands.help import described
from forensics.commands.inputs import EvidenceInput
from forensics.commands.output import console
from forensics.commands.selection import Request
from forensics.commands.selection import check as check_selection
from forensics.commands.tables import as_given, local_tables
from forensics.commands.targets import OutputDirectory, noted, written
from forensics.commands.times import display_timezone_option, display_zone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyarrow import RecordBatch
    from pyspark.sql import SparkSession

    from forensics.audit.archive import AuditDirectory, AuditSettings, ClusterSources, Group
    from forensics.audit.audited import Audit
    from forensics.audit.history import History
    from forensics.audit.whole import Judged, Work
    from forensics.commands.inputs import CaseInput
    from forensics.model.clock.node_clocks import Options
    from forensics.model.findings import Finding
    from forensics.output.format import FileFormat
    from forensics.views.clusters import OlderCatalogue
    from forensics.views.document import Report
    from parsers.containers.storage import Leaf

WHOLE = 400_000
"""Largest number of events and records of a cluster that one task judges alone: some hundred MB of memory. All tasks together judge a
larger cluster."""
AT_ONCE = 256
"""Clusters that are judged and committed together."""
WAVE_BYTES, WAVE_FILES = 32 << 30, 100_000
"""Files that are read and committed together, and bytes of them."""


def _layout(context: click.Context, option: click.Parameter, pattern: str | None) -> str | None:
    from forensics.audit.layout import PathLayout

    try:
        PathLayout(pattern)
    except ValueError as error:
        raise click.BadParameter(str(error), context, option) from None
    return pattern


@described(
    rank=30,
    summary="Judge an archive of many clusters and days; read only new files.",
    examples=(
        ("Find clusters by cluster=NAME in the paths, or by the cluster ids in the files", "/archive --out tables"),
        ("Directories name clusters, days and brokers", "s3://bucket/logs --layout '{cluster}/{date}/{broker}/…' --out tables"),
        ("Each directory is an incident of its own", "bundles/ --layout '{cluster}/…' --out tables"),
        ("A nightly job", "/archive --out tables --fail-on-new high --json summary.json"),
        ("After an upgrade, read the files again that an older version read", "/archive --out tables --reread"),
    ),
)
@reading_options("[ARCHIVE...]", required=False)
@click.option(
    "--out",
    "-o",
    required=True,
    metavar="TABLES",
    type=OutputDirectory(remote=True),
    help="Directory of the tables: a new one, or that of an earlier audit; or s3://BUCKET/PREFIX, with local Spark.",
)
@click.option(
    "--layout",
    metavar="PATTERN",
    callback=_layout,
    help="What the directories mean, for example 'prod/{cluster}/{date}/{broker}/…'; * is any text within a name, … any further directories. "
    "Default is cluster=NAME anywhere in the path, otherwise the cluster ids in the files.",
)
@click.option(
    "--no-records", is_flag=True, help="Do not keep the log lines, which `merge` and --html show. Saves about a quarter of the time."
)
@click.option("--force", is_flag=True, help="Delete the contents of TABLES, and read everything again.")
@click.option(
    "--reread",
    is_flag=True,
    help="After an upgrade, read the files of ARCHIVE again that a version with another catalogue of log lines read. A run that was stopped goes "
    "on with --reread.",
)
@click.option(
    "--forget",
    multiple=True,
    metavar="PATH",
    help="Drop a file or directory of the archive from the tables, and do not read it again (may be repeated).",
)
@click.option(
    "--before",
    metavar="DATE",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Drop the files of days before this date, for example 2026-03-02, and do not read them again. The day of a file is the one in its path, "
    "otherwise that of its modification time.",
)
@summary_options
@display_timezone_option
@fail_on_option()
@click.option(
    "--fail-on-new",
    type=click.Choice((*LEVELS, *VERDICTS)),
    metavar="LEVEL|VERDICT",
    help="Exit with code 1 if a finding of at least this severity is new since the last run, or was less severe then; or if a partition became "
    "lost (lost), tail-cut or lost (tail-cut), or unknown or lost (unknown). In the first run, everything is new.",
)
def command(
    paths: tuple[str, ...],
    out: str,
    layout: str | None,
    no_records: bool,
    force: bool,
    reread: bool,
    forget: tuple[str, ...],
    before: datetime | None,
    exports: Exports,
    fail_on: str | None,
    fail_on_new: str | None,
) -> None:
    """Judge an archive of many clusters and days.

    Reads only files that are new or changed since the last run, and judges only clusters with new files; a new version of kafka-forensics
    judges all clusters. TABLES contains a case for each cluster, as Parquet by cluster and date. Other commands read the case with
    --cluster NAME; `report TABLES` shows the summary again. After a run that was killed, the next run repeats only the uncommitted work.

    Without ARCHIVE, nothing is read: the clusters are judged again from what is kept in TABLES, for example by a new version or after
    --forget. The options are then those of the last run.
    """
    from forensics.audit.archive import AuditDirectory, AuditSettings
    from forensics.audit.upkeep import Forgotten, in_archive
    from parsers.containers.storage import absolute, without_secrets

    exports.check()
    options = given_clocks()
    check(paths)
    if reread and not paths:
        raise click.UsageError("--reread needs the archive (ARCHIVE...), whose files it reads again")
    given_options = {
        "timezone": given_timezone(),
        "clock_offsets_ms": {str(broker): error for broker, error in options.clock_offsets_ms.items()},
        "log_patterns": list(log_patterns()),
        "limits": asdict(limits()),
        "patterns": [file.sha256 for file in pattern_files()],
        "rules": rule_files.rows(),
    }
    shown = [without_secrets(absolute(path)) for path in paths]
    settings = AuditSettings(shown, layout, given_options, not no_records)
    place, remote = local_tables(out, to_write=True)
    if not paths:
        settings, options = _as_before(place, force)
    forgotten = Forgotten([in_archive(path, settings.archive) for path in forget], before.date().isoformat() if before else None)
    progress = Progress()
    remarks: list[str] | None = None
    older: OlderCatalogue | None = None
    written().advice.append("Everything that was committed is kept. Free some space, and run the same command again to go on.")
    with noted(without_secrets(out)):
        with AuditDirectory(place, settings, force=force, reread=reread, forget=forgotten, store=remote) as archive:
            read, judged = _run(archive, paths, options, progress)
            older = _older(archive, without_secrets(out), options)
            remarks = _remarks(archive, read, judged, older)
        if remote is not None:
            with progress.stage("Committing to the store"):
                remote.push(archive.committed())
            click.echo(f"Wrote {remote.shown}", err=True)
    if remarks is None or written().failed:
        return
    from forensics.audit.audited import Audit

    show_clusters(Audit(place) if remote is None else Audit(place, remote.bring), exports, fail_on, fail_on_new, remarks, older=older)


def _as_before(place: Path, force: bool) -> tuple[AuditSettings, Options]:
    """The settings of the last run. Raises click.UsageError if there was none."""
    from forensics.audit.archive import AuditSettings
    from forensics.audit.audited import Audit, is_audit
    from forensics.own_rules import of_rows

    if force or not is_audit(place):
        raise click.UsageError(
            "give the archive (ARCHIVE...); only the tables of an earlier audit can be judged again without it, and not with --force"
        )
    made = dict(Audit(place).manifest["settings"])
    settings = AuditSettings(made.pop("archive"), made.pop("layout"), made, made.pop("records"))
    rule_files.put_in_force(of_rows(made.get("rules", ())))
    offsets = [f"{broker}={error / 1000}" for broker, error in made["clock_offsets_ms"].items()]
    return settings, clocks(made["timezone"], offsets)


def show_clusters(
    audit: Audit,
    exports: Exports,
    fail_on: str | None,
    fail_on_new: str | None = None,
    remarks: Sequence[str] = (),
    request: Request | None = None,
    older: OlderCatalogue | None = None,
) -> None:
    """Shows all clusters of an audit. `request`: the part of each that is shown. `older`: files that an older version read."""
    from forensics.proof.verdict import TAIL_CUT
    from forensics.views.clusters import Clusters, show

    history = audit.history()
    found, failed = audit.summaries()
    failed = {name: as_given(why) for name, why in failed.items()}
    asked = Asked(audit, request) if request is not None and request.words else None
    if asked is not None:
        found = asked.summaries(found, failed)
        remarks = [*remarks, *asked.remarks]
    words = " ".join(asked.words) if asked is not None else ""
    left = _accept(audit, history) if config().accepted else None
    clusters = Clusters(found, failed, remarks, display_zone(), history.document(), words, older, history.calendar())
    if not exports.to_stdout:
        show(clusters, console())
    exports.write_summary(clusters, partial(_cluster_files, audit, asked))
    written().advice[:] = exports.go_on(as_given(str(audit.directory)), ())
    cut = [TAIL_CUT for b in clusters.found.values() if b.get("gone_records")]
    worst, losses = clusters.worst(), [*(b["loss"] for b in clusters.found.values()), *cut]
    severities = (f.severity for f in left) if left is not None else () if worst is None else (worst,)
    if fails(fail_on, severities, losses) or (fail_on_new is not None and history.fails(fail_on_new)):
        raise click.exceptions.Exit(FINDINGS)
    if clusters.unjudged:
        raise click.exceptions.Exit(INCOMPLETE)


def _accept(audit: Audit, history: History) -> list[Finding]:
    """The findings of all clusters that are not accepted; of the others, none is new."""
    from forensics.case.read import Unreadable

    every: list[tuple[str, Finding]] = []
    for name in audit.clusters:
        with suppress(Unreadable):  # the summary names the cluster
            found = audit.case(name).findings()
            history.accept(name, {f.id: entry.why for f in found if (entry := config().accepts(f, name)) is not None})
            every += ((name, f) for f in found)
    return config().left(every)


class Asked:
    """The part of each cluster that is requested."""

    def __init__(self, audit: Audit, request: Request) -> None:
        self.audit, self.request, self.words = audit, request, request.words
        self.outside: list[str] = []
        """Clusters that have nothing of it."""

    def report(self, name: str) -> tuple[Report, CaseInput]:
        """Of one cluster. Raises Unreadable, or another ClickException if the cluster has nothing of what is requested."""
        from forensics.commands.analyze import narrowed, report_of
        from forensics.commands.inputs import CaseInput

        case = CaseInput(self.audit.case(name))
        selection = self.request.selection(case.cluster)
        complete = report_of(case, selection.has_partition if selection.by_partition else None, self.words)
        check_selection(selection, complete, case)
        return narrowed(complete, selection), case

    def summaries(self, found: Mapping[str, Any], failed: dict[str, str]) -> dict[str, dict[str, Any]]:
        """The summaries of the clusters that have something of it. Adds damaged clusters to `failed`. Raises click.ClickException if no
        cluster has anything."""
        from forensics.case.read import Unreadable
        from forensics.views.clusters import brief

        shown, reason = {}, None
        for name in found:
            try:
                report, _ = self.report(name)
            except Unreadable as error:
                failed[name] = str(error)
            except click.ClickException as error:
                self.outside.append(name)
                reason = error
            else:
                shown[name] = brief(report, report.cluster, report.scope.findings if report.scope is not None else None)
        if reason is not None and not shown and not failed:
            raise reason
        return shown

    @property
    def remarks(self) -> list[str]:
        from forensics.words.formats import counted, some

        return [f"{counted(len(self.outside), 'cluster')} without it: {some(self.outside)}."] if self.outside else []


def _cluster_files(audit: Audit, asked: Asked | None, format: FileFormat, file: str) -> dict[str, str]:
    """Writes each cluster in this format into a directory next to the file; returns the paths relative to the file, by cluster."""
    from forensics.audit.audited import escaped
    from forensics.case.read import Unreadable

    directory = Path(file).with_suffix(".clusters")
    paths = {}
    with noted(directory):
        directory.mkdir(exist_ok=True)
        for name in audit.clusters:
            if asked is not None and name in asked.outside:
                continue
            try:
                report, case = asked.report(name) if asked is not None else _whole(audit, name)
            except Unreadable:  # the summary names the cluster
                continue
            target = directory / f"{escaped(name)}{format.extension}"
            write(format, str(target), report, case)
            paths[name] = f"{quote(directory.name)}/{quote(target.name)}"
    return paths


def _whole(audit: Audit, name: str) -> tuple[Report, CaseInput]:
    from forensics.commands.analyze import report_of
    from forensics.commands.inputs import CaseInput

    case = CaseInput(audit.case(name))
    return report_of(case, None), case


def _run(archive: AuditDirectory, paths: Sequence[str], options: Options, progress: Progress) -> tuple[list[Leaf], list[ClusterSources]]:
    """Reads new files and judges their clusters; returns both."""
    from forensics.words.formats import counted
    from parsers.containers.storage import without_secrets
    from parsers.containers.units import listed

    if archive.lost and not paths:
        raise InvalidInput(f"{' '.join(archive.damaged)} Give the archive (ARCHIVE...) to read them")
    with progress.stage("Listing what was collected"):
        candidates = archive.candidates(listed(paths)) if paths else {}
    for path, count in archive.emptied.items():
        raise InvalidInput(
            f"{without_secrets(path)}: no files found, but {counted(count, 'file')} were read from it earlier; check that it is mounted, or leave out "
            "ARCHIVE to judge again what is kept"
        )
    starting = start() if candidates else None
    read: list[Leaf] = []
    for wave in _waves(candidates):
        with progress.stage("Starting Spark"):
            session = started(starting)
        progress.watch(session)
        read += _read(session, archive, wave, progress)
    to_judge = archive.to_judge()
    if not archive.named:
        raise InvalidInput(
            f"{', '.join(archive.settings.archive)}: no files found; name the directory or bucket that contains the evidence"
        )
    if to_judge:
        with progress.stage("Starting Spark"):
            session = started(starting or start())
        progress.watch(session)
        _judge(session, archive, to_judge, options, progress)
    else:
        archive.put({}, {})
    archive.end(len(to_judge), len(read), sum(leaf.size or 0 for leaf in read))
    return read, to_judge


def _waves(candidates: Mapping[str, Group]) -> Iterator[dict[str, Group]]:
    """Files that are read and committed together, so that a killed run does not have to start again."""
    wave: dict[str, Group] = {}
    size = 0
    for path, group in candidates.items():
        own = sum(leaf.size or 0 for _, leaf in group.at)
        if wave and (size + own > WAVE_BYTES or len(wave) >= WAVE_FILES):
            yield wave
            wave, size = {}, 0
        wave[path] = group
        size += own
    if wave:
        yield wave


def _read(session: SparkSession, archive: AuditDirectory, candidates: Mapping[str, Group], progress: Progress) -> list[Leaf]:
    """Reads new files, commits them, and returns them."""
    from forensics.audit.audited import KEPT
    from forensics.jobs import keep
    from forensics.words.formats import counted
    from parsers.containers.units import divided
    from spark.audit import digests

    to_digest = archive.to_digest(candidates)
    with progress.stage(f"Digesting {counted(len(to_digest), 'file')}"):
        files = {path: group.files() for path, group in to_digest.items()}
        found = iter(digests(session, [file for own in files.values() for file in own]))
        changed = archive.changed(candidates, {path: _joined([next(found) for _ in own]) for path, own in files.items()})
    units = divided(changed, limits(), pattern_files())
    if not units:
        return []
    kept, group = archive.directory / KEPT, archive.layout.group
    with progress.stage("Reading what is new"):
        contents = keep(session, units, log_patterns(), group, kept, with_records=archive.settings.records)
        if missing := next((r["file"] for rows in contents.values() for r in rows if r["file"] and not (kept / r["file"]).exists()), None):
            raise InvalidInput(
                f"{kept / missing}: a Spark worker wrote this file, and it is not here; --out must be on a file system that all workers share"
            )
        for column, rows in contents.items():
            archive.take(column, rows)
        archive.keep_unread()
    archive.commit()
    return [leaf for of in changed for leaf in of.leaves]


def _joined(digests: Sequence[str | None]) -> str | None:
    """One digest of several files; None if one of them could not be read."""
    return None if None in digests else ",".join(map(str, digests))


def _judge(
    session: SparkSession, archive: AuditDirectory, to_judge: Sequence[ClusterSources], options: Options, progress: Progress
) -> None:
    """Judges clusters and commits them: small ones in parallel, a large one with all tasks."""
    from forensics.audit.whole import Work
    from forensics.case.write import Origin
    from forensics.words.formats import counted

    settings = archive.settings
    words = ("audit", *_words(settings, options))

    def work(sources: ClusterSources) -> Work:
        origin = Origin(settings.archive, words, options, log_patterns(), limits(), pattern_files())
        return Work(sources, archive.directory, archive.staged(sources.name), origin)

    def put(judged: Sequence[Judged]) -> None:
        entries = {j.name: (j.entry, fingerprints[j.name]) for j in judged if j.entry is not None}
        archive.put(entries, {j.name: j.problem for j in judged if j.problem is not None})

    fingerprints = {sources.name: sources.fingerprint for sources in to_judge}
    small = [work(sources) for sources in to_judge if sources.rows <= WHOLE]
    for begin in range(0, len(small), AT_ONCE):
        with progress.stage(f"Judging {counted(len(small), 'cluster')}"):
            put(_side_by_side(session, small[begin : begin + AT_ONCE]))
    for sources in to_judge:
        if sources.rows > WHOLE:
            with progress.stage(f"Judging {sources.name}"):
                put([_judged_by_all(session, work(sources), progress)])


def _words(settings: AuditSettings, options: Options) -> tuple[str, ...]:
    """The archive and the options from which results follow, as words of a command."""
    from forensics.case.write import told_options

    layout = () if settings.layout is None else ("--layout", settings.layout)
    return (*settings.archive, *layout, *reading_words(told_options(options, log_patterns(), limits(), pattern_files())))


def _side_by_side(session: SparkSession, works: Sequence[Work]) -> list[Judged]:
    """Clusters judged in one task each; one by one if a task crashed its worker, to find the cluster that caused it."""
    from forensics.audit.whole import failed, judged_whole
    from spark.audit import each
    from spark.failures import explained
    from spark.java import has_fallen

    try:
        return each(session, works, judged_whole)
    except Exception as error:
        if has_fallen() or explained(error) is not None:
            raise
        if len(works) == 1:
            return [failed(works[0], error)]
        return [judged for work in works for judged in _side_by_side(session, [work])]


def _judged_by_all(session: SparkSession, work: Work, progress: Progress) -> Judged:
    from forensics.audit.audited import KEPT
    from forensics.audit.whole import Judged, case_directory, entry, failed
    from forensics.jobs import kept_events, kept_records
    from forensics.model.clock.gathered import Gathered
    from forensics.model.cluster.build import build_cluster
    from forensics.tools.ordered_records import merger
    from spark.failures import explained
    from spark.java import has_fallen

    kept = str(work.directory / KEPT)
    events = kept_events(session, work.sources.events, kept)
    try:
        with case_directory(work) as to:
            cluster_events = events.of_cluster.sort_by([(name, "ascending") for name in ("source", "line", "byte")])
            cluster, resolver = build_cluster(Gathered.of(cluster_events), work.origin.options)
            found = EvidenceInput(
                Opened(work.origin.paths, work.origin.options, lambda: cluster_events, cluster, resolver, session, events, [])
            )
            records: Iterator[RecordBatch] = iter(())
            if work.sources.records:
                reading = merger(cluster, resolver, None, work.origin.log_patterns)
                records = kept_records(session, work.sources.records, kept, reading)
            conclusion = found.write(to, work.origin, records, progress)
            return Judged(work.sources.name, entry(work, to, conclusion, cluster))
    except Exception as error:
        if has_fallen() or explained(error) is not None:
            raise
        return failed(work, error)


def _older(archive: AuditDirectory, out: str, options: Options) -> OlderCatalogue | None:
    """The files that only an older version read, and the command that reads them again; None: there are none."""
    from forensics.views.clusters import OlderCatalogue

    files = archive.outdated()
    if not files:
        return None
    records = () if archive.settings.records else ("--no-records",)
    command = ("kafka-forensics", "audit", *_words(archive.settings, options), *records, "--out", out, "--reread")
    gone = sorted(files.keys() & archive.gone)
    return OlderCatalogue(sorted(files.keys() - archive.gone), gone, sorted({*files.values()} - {""}), command)


def _of_older_versions(archive: AuditDirectory, older: OlderCatalogue | None) -> Iterator[str]:
    """Which files were read again because an older version had read them, and which were not."""
    from forensics.words.formats import counted, some

    if archive.again:
        yield f"Read {counted(len(archive.again), 'file')} again that {_versions(archive.again.values())} had read."
    if older is None:
        return
    readers = _versions(older.versions)
    missing = "Lines that only this version recognizes are missing from the results of these files."
    if older.files and archive.reread:
        yield (
            f"{counted(len(older.files), 'file')} could not be opened and not be read again ({some(older.files)}); what {readers} read of them is "
            f"used. {missing} Make the files readable, and run the command again."
        )
    elif older.files:
        yield (
            f"{counted(len(older.files), 'file')} not read again after an upgrade ({some(older.files)}); what {readers} read of them is used. {missing} "
            f"To read them again: {shlex.join(older.command)}"
        )
    if older.gone:
        yield (
            f"{counted(len(older.gone), 'file')} read only by {readers} and no longer in the archive ({some(older.gone)}); what was read of them is used."
        )


def _versions(found: Collection[str]) -> str:
    from forensics.output.version import version
    from forensics.words.formats import some

    named = sorted(f"version {name}" if name != version() else f"another build of version {name}" for name in found if name)
    return some(named) if named else "an older version"


def _remarks(archive: AuditDirectory, read: Sequence[Leaf], judged: Sequence[ClusterSources], older: OlderCatalogue | None) -> list[str]:
    from forensics.audit.layout import UNNAMED
    from forensics.views.text import sized
    from forensics.words.formats import counted

    earlier = archive.listed - len(read)
    of_files = (
        f"Read {len(read)} of {counted(archive.listed, 'file')} ({sized(sum(leaf.size or 0 for leaf in read))})"
        + (f"; {counted(earlier, 'other file')} had been read before." if earlier else ".")
        if archive.listed
        else "Read nothing."
    )
    remarks = [
        *archive.damaged,
        f"{of_files} Judged {len(judged)} of {counted(archive.named, 'cluster')}"
        + ("; the others have no new files." if len(judged) < archive.named else "."),
    ]
    if archive.dropped:
        remarks.append(f"{counted(archive.dropped, 'file')} forgotten.")
    remarks += _of_older_versions(archive, older)
    if archive.gone:
        what = (
            "that was read earlier is no longer in the archive; its"
            if len(archive.gone) == 1
            else "that were read earlier are no longer in the archive; their"
        )
        remarks.append(f"{counted(len(archive.gone), 'file')} {what} events are kept.")
    if UNNAMED in archive.entries:
        only = archive.named == 1
        remarks.append(
            f"{'Nothing' if only else 'Not everything'} names a cluster: {'everything' if only else 'the rest'} is taken to be one, "
            f"{UNNAMED!r}; --layout distinguishes clusters by their paths."
        )
    return remarks
