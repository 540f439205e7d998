"""`kafka-forensics diff`: what changed between two cases.

Here: the options, and the two sides of the comparison. Not here: the comparison (forensics.tools.case_diff), or its output
(forensics.views.diff).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forensics.commands.config import config
from forensics.commands.evidence import Progress, chosen_cluster, cluster_option
from forensics.commands.fail_on import LEVELS, VERDICTS
from forensics.commands.help import described
from forensics.commands.inputs import kept_case
from forensics.commands.output import console, json_option, write_text
from forensics.commands.selection import Request, check_brokers, check_partitions, selection_options
from forensics.commands.targets import OutputFile
from forensics.commands.times import display_timezone_option, display_zone

if TYPE_CHECKING:
    from forensics.case.read import Case
    from forensics.tools.case_diff import Side
    from forensics.views.diff import CaseFacts, DiffReport


@described(
    rank=25,
    examples=(
        ("What a later collection shows", "monday.case tuesday.case"),
        ("The same, to share", "monday.case tuesday.case --markdown changes.md"),
        ("Two versions of the tool, in a pipeline", "old.case new.case --fail-on-new high"),
        ("One cluster of two audits", "tables-q1 tables-q2 --cluster prod-eu"),
    ),
)
@click.argument("before", type=click.Path(path_type=str), metavar="BEFORE")
@click.argument("after", type=click.Path(path_type=str), metavar="AFTER")
@cluster_option
@selection_options("differences", "topic", "partition", "broker")
@display_timezone_option
@json_option("Write the differences as JSON; - is stdout, instead of the text.")
@click.option(
    "--markdown",
    "markdown_file",
    metavar="FILE",
    type=OutputFile(),
    help="Write the differences as Markdown; - is stdout, instead of the text.",
)
@click.option(
    "--fail-on-new",
    type=click.Choice((*LEVELS, *VERDICTS)),
    metavar="LEVEL|VERDICT",
    help=f"Exit with code 1 if a finding of at least this severity is new or was less severe before ({', '.join(LEVELS)}); or if a partition "
    "is now lost and was not before (lost), or is now tail-cut or lost (tail-cut), or unknown or lost (unknown), and was neither before.",
)
def command(before: str, after: str, json_file: str | None, markdown_file: str | None, fail_on_new: str | None, request: Request) -> None:
    """Show what changed between two cases.

    The cases are of two collections of one cluster, or of one collection analysed by two versions of the tool. Compared are the verdicts of
    partitions, the findings, the brokers and the files, and the tool and its options. A finding whose offsets or times changed is one
    changed finding. Sentences and quoted lines are not compared.

    The exit code is 0, whether there are differences or not, unless --fail-on-new is given. The command needs neither Spark nor the
    evidence.
    """
    with Progress().stage("Comparing cases"):
        report = compare(before, after, request)
    to_stdout = json_file is not None and write_text(report.json(), json_file)
    to_stdout = (markdown_file is not None and write_text(report.markdown(), markdown_file)) or to_stdout
    if not to_stdout:
        from forensics.views.diff import show

        show(report, console())
    if fail_on_new is not None and _is_worse(report, fail_on_new):
        raise click.exceptions.Exit(1)


def compare(before: str, after: str, request: Request | None = None) -> DiffReport:
    """The differences between two cases, or between a cluster in the tables of two audits. Raises Unusable."""
    from forensics.audit.audited import is_audit
    from forensics.tools.case_diff import difference
    from forensics.views.diff import DiffReport

    paths = [Path(path) for path in (before, after)]
    cases = [kept_case(path, of_one=any(map(is_audit, paths)), tolerant=True) for path in paths]
    request = request or Request()
    sides = [_side(case) for case in cases]
    check_partitions({name for side in sides for name in side.verdicts}, request.topics, request.partitions)
    check_brokers({node for side in sides for node in side.nodes}, request.brokers)
    found = difference(*(_narrowed(side, request) for side in sides))
    cluster = chosen_cluster()
    words = ("--cluster", cluster) if cluster is not None else ()
    return DiffReport(
        _facts(cases[0], before), _facts(cases[1], after), found, ("diff", before, after, *words, *request.words), display_zone()
    )


def _is_worse(report: DiffReport, level: str) -> bool:
    found = report.difference
    return bool(found.became(level) if level in VERDICTS else config().left((chosen_cluster(), f) for f in found.worsened(level)))


def _side(case: Case) -> Side:
    from forensics.tools.case_diff import Side
    from forensics.tools.custody import of_case

    conclusion = case.conclusion()
    return Side(
        conclusion.findings,
        {(p["topic"], p["partition"]): (p["verdict"], p["why"]) for p in conclusion.partitions},
        case.cluster.nodes,
        of_case(case.table("sources", ["path", "kind", "sha256"]).to_pylist(), ""),
    )


def _narrowed(side: Side, request: Request) -> Side:
    """What is requested of it. Files are of brokers and topics, so none are compared if only a part is requested."""
    from forensics.incidents.folding import places
    from forensics.views.scope import Selection

    selection = Selection(request.topics, request.partitions, request.brokers)
    if not selection:
        return side
    there = selection.has_partition
    findings = [f for f in side.findings if selection.has(f) and any(there(p.topic, p.partition) for p in places(f) or (f.place,))]
    nodes = {id: node for id, node in side.nodes.items() if not request.brokers or id in request.brokers}
    return replace(side, findings=findings, verdicts={n: v for n, v in side.verdicts.items() if there(*n)}, nodes=nodes, files=())


def _facts(case: Case, path: str) -> CaseFacts:
    from forensics.views.diff import CaseFacts

    times = [at for s in case.cluster.sources for at in (s.first, s.last) if at is not None]
    manifest = case.manifest
    return CaseFacts(
        path,
        case.cluster.id,
        manifest["tool"],
        manifest["options"],
        manifest["verdict"],
        min(times, default=None),
        max(times, default=None),
    )
