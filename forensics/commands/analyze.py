"""`kafka-forensics analyze`: the main job, from evidence to verdicts.

Here: its options, the options of every report, and the output. Not here: reading, judging or the text of the report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from forensics.commands.config import config
from forensics.commands.evidence import InvalidInput, Progress, chosen_cluster, evidence_options
from forensics.commands.exit_codes import FINDINGS, INCOMPLETE
from forensics.commands.exports import Exports, export_options
from forensics.commands.fail_on import fail_on_option, fails
from forensics.commands.help import described
from forensics.commands.inputs import CaseInput, EvidenceInput, Input, in_case, open_input
from forensics.commands.new_case import NewCase, new_case
from forensics.commands.options import record_of
from forensics.commands.output import console
from forensics.commands.rescue import rescue
from forensics.commands.selection import Request, check, selection_options
from forensics.commands.tables import as_given
from forensics.commands.targets import OutputDirectory, noted
from forensics.commands.times import display_timezone_option, display_zone

if TYPE_CHECKING:
    from forensics.incidents.judging import Asked
    from forensics.model.cluster.facts import Cluster
    from forensics.views.document import Report
    from forensics.views.scope import Selection


@dataclass(frozen=True)
class ReportRequest:
    """Which results are shown, and how: the values of report_options."""

    request: Request
    exports: Exports
    weights: Mapping[str, float]
    fail_on: str | None
    every: bool
    most: int | None
    quiet: bool

    @property
    def words(self) -> list[str]:
        """What the report is about, as words of a command."""
        return [*self.request.words, *(word for metric, weight in self.weights.items() for word in ("--weight", f"{metric}={weight:g}"))]


report_options = record_of(
    ReportRequest,
    "wanted",
    display_timezone_option,
    selection_options("findings"),
    click.option("--all", "every", is_flag=True, help="Print all losses, findings, steps and limits, not only the first screen."),
    click.option("-n", "most", type=click.IntRange(1), metavar="N", help="At most N findings, default 50; implies --all."),
    click.option("-q", "--quiet", is_flag=True, help="Print only the verdict."),
    export_options,
    click.option(
        "--weight",
        "weights",
        multiple=True,
        metavar="METRIC=W",
        callback=lambda _context, _option, given: dict(map(weight, given)),
        help="Weight of a load metric, default 1: partitions, leaders, bytes on disk, bytes in, or a column of a CSV of load metrics (may be repeated).",
    ),
    fail_on_option(),
)


@described(
    rank=10,
    examples=(
        ("What was lost, when and why", "incident.tar.gz"),
        ("The brokers were collected one by one", "broker-1/ broker-2.tar.gz broker-3.zip"),
        ("Also write the draft of a review, and the report as JSON", "incident.tar.gz --markdown review.md --json report.json"),
        ("Keep the result, so that other commands take a second", "incident.tar.gz --case incident.case"),
        ("One topic, one hour", "incident.case --topic orders --since 2026-01-31T12:00:00Z --until 2026-01-31T13:00:00Z"),
        ("The log lines are not in UTC", "incident.tar.gz --timezone Europe/Berlin"),
        ("Stop a pipeline if records were lost", "incident.tar.gz --fail-on lost --sarif findings.sarif"),
    ),
)
@evidence_options
@report_options
@click.option(
    "--case",
    metavar="DIR",
    type=OutputDirectory(remote=True),
    help="Keep the result in this directory (or s3://BUCKET/PREFIX), which other commands read without the evidence.",
)
@click.option("--force", is_flag=True, help="Replace an existing case.")
def command(paths: tuple[str, ...], case: str | None, force: bool, wanted: ReportRequest) -> None:
    """Report what was lost, when and why.

    All PATHs together are the evidence of ONE cluster. Each is a directory, an archive (tar, zip; gz, bz2, xz, zst; also nested) or a file,
    local or s3://bucket/key. Instead of evidence, PATH can be one case.

    One screen is printed: what was lost or broke, why, whether it is over, and what to do. --all prints everything. The output options
    write complete reports. Use - as FILE to write to stdout; then nothing else is printed.
    """
    wanted.exports.check(paths)
    if force and case is None:
        raise click.UsageError("--force replaces a case; name the case with --case DIR, or leave out --force")
    new = new_case(case, paths, replace=force) if case is not None else None
    progress = Progress()
    found = open_input(paths, progress)
    if new is not None and not isinstance(found, EvidenceInput):
        raise InvalidInput(f"{paths[0]}: --case needs evidence, and this is a case already; copy the directory instead")
    report(found, progress, wanted, new)


def report(found: Input, progress: Progress, wanted: ReportRequest, new: NewCase | None = None) -> None:
    """Shows the results, and then writes the new case and what else is requested: the verdict does not wait for files."""
    selection, exports = wanted.request.selection(found.cluster), wanted.exports
    found.cluster.weights = dict(wanted.weights)
    found.to_keep = new is not None or exports.needs_case
    with progress.stage("Judging partitions" if isinstance(found, EvidenceInput) else "Bringing findings together"):
        complete = report_of(found, selection.has_partition if selection.by_partition else None, wanted.words)
    check(selection, complete, found)
    shown = narrowed(complete, selection) if selection else complete
    if not exports.to_stdout:
        from forensics.views.text import show

        case = as_given(str(found.case.directory)) if isinstance(found, CaseInput) else new.given if new is not None else None
        show(shown, console(), every=wanted.every or wanted.most is not None, most=wanted.most, quiet=wanted.quiet, case=case)
    with ExitStack() as stack:
        kept = found
        if new is not None:
            with noted(new.given):
                kept = new.write(found, progress)
        source = kept
        if exports.needs_case:
            try:
                source = stack.enter_context(in_case(kept, progress))
            except OSError as error:
                exports.without_case(error)
        exports.write(shown, source if isinstance(source, CaseInput) else None)
        rescue(kept, source, exports, wanted.words, progress)
    if fails(wanted.fail_on, (f.severity for f in config().left((chosen_cluster(), f) for f in shown.findings)), shown.headline.losses):
        raise click.exceptions.Exit(FINDINGS)
    if not shown.complete:
        raise click.exceptions.Exit(INCOMPLETE)


def report_of(found: Input, asked: Asked | None, options: Sequence[str] = ()) -> Report:
    """All results; of the results in partitions, only the requested ones. `options`: the command-line words of the request."""
    from forensics.incidents.judging import OF_REPORT, with_facts
    from forensics.views.document import Report

    found.measure()
    _check_weights(found.cluster)
    conclusion = found.conclusion(asked)
    partitions = with_facts(conclusion.partitions, OF_REPORT)
    command = ("analyze", *found.words, *options)
    return Report(found.cluster, conclusion.findings, partitions, conclusion.incidents, command, zone=display_zone())


def weight(text: str) -> tuple[str, float]:
    """The value of --weight: a metric and its weight."""
    metric, sep, value = text.rpartition("=")
    try:
        if not sep or not metric or not 0 <= float(value) < float("inf"):
            raise ValueError
        return metric.strip().lower(), float(value)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not METRIC=W, for example cpu=2", param_hint="--weight") from None


def _check_weights(cluster: Cluster) -> None:
    from forensics.model.cluster.balance import COUNTED, MEASURED

    known = COUNTED | MEASURED | {m.metric for m in cluster.measures}
    for metric in cluster.weights:
        if metric not in known:
            raise click.BadParameter(f"the evidence has no metric {metric!r} (found: {', '.join(sorted(known))})", param_hint="--weight")


def narrowed(report: Report, selection: Selection) -> Report:
    """The report on the selection; the facts about the evidence stay complete."""
    from forensics.incidents.folding import places
    from forensics.views.scope import Scope

    findings = list(report.findings)
    if selection.by_partition:
        findings = [f for f in findings if any(selection.has_partition(p.topic, p.partition) for p in places(f))]
    kept = [f for f in findings if selection.has(f)]
    inside = [p for p in report.partitions if selection.has_partition(p["topic"], p["partition"])]
    outside = [p for p in report.partitions if not selection.has_partition(p["topic"], p["partition"])]
    incidents = [i for i in report.incidents if any(f.incident == i.id for f in kept)]
    scope = Scope(selection, findings, outside, len(findings) - len(kept))
    return replace(report, findings=kept, partitions=inside, incidents=incidents, scope=scope)
