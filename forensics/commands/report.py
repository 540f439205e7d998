"""`kafka-forensics report`: the results in a case, shown as by analyze, or in an audit, shown as by audit.

Here: the argument. Not here: the options and the report (analyze), or the summary of many clusters (audit).
"""

from __future__ import annotations

import click

from forensics.commands.analyze import ReportRequest, report, report_options
from forensics.commands.evidence import Progress, chosen_cluster, cluster_option
from forensics.commands.help import described
from forensics.commands.inputs import open_case
from forensics.commands.tables import local_tables


@described(
    rank=20,
    summary="Show the results in a case, or of all clusters of an audit.",
    examples=(
        ("The screen that analyze printed", "incident.case"),
        ("All losses, findings, steps and limits", "incident.case --all"),
        ("The draft of a review", "incident.case --markdown review.md"),
        ("Files for ui.perfetto.dev and for Timesketch", "incident.case --perfetto trace.json --timesketch events.jsonl"),
        ("Tables for DuckDB or pandas", "incident.case --parquet tables/"),
    ),
)
@click.argument("case", type=click.Path(path_type=str))
@cluster_option
@report_options
def command(case: str, wanted: ReportRequest) -> None:
    """Show the results in a case, as analyze showed them.

    CASE is a directory that `analyze --case` wrote, or the tables of an audit. For an audit, --cluster NAME shows the report of one
    cluster; without --cluster, the summary of all clusters is shown, with --topic and similar options of the clusters to which these apply.
    The command needs neither Spark nor the evidence. Use - as FILE to write to stdout; then nothing else is printed.
    """
    from forensics.audit.audited import Audit, is_audit

    place, remote = local_tables(case)
    if is_audit(place) and chosen_cluster() is None:
        from forensics.commands.audit import show_clusters

        if wanted.weights:
            raise click.UsageError("--weight is for the report of one cluster; choose the cluster with --cluster NAME")
        if wanted.every or wanted.most is not None or wanted.quiet:
            raise click.UsageError("--all, -n and --quiet are for the report of one cluster; choose the cluster with --cluster NAME")
        wanted.exports.check_summary()
        audit = Audit(place) if remote is None else Audit(place, remote.bring)
        show_clusters(audit, wanted.exports, wanted.fail_on, request=wanted.request)
        return
    wanted.exports.check()
    report(open_case(str(place)), Progress(), wanted)
