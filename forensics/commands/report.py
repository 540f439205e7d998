"""`kafka-forensics report`: the results in a case, shown as by analyze, or in an audit, shown as by audit.

Here: the argument. Not here: the options and the report (analyze), or the summary of many clusters (audit).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from forensics.commands.analyze import report, report_options
from forensics.commands.evidence import Progress, chosen_cluster, cluster_option
from forensics.commands.exports import Exports
from forensics.commands.help import Told
from forensics.commands.inputs import open_case


@click.command(
    "report",
    cls=Told,
    examples=(
        ("Once more what analyze said", "incident.case"),
        ("The draft of a review", "incident.case --markdown review.md"),
        ("For ui.perfetto.dev, and for Timesketch", "incident.case --perfetto trace.json --timesketch events.jsonl"),
        ("Tables for DuckDB or pandas", "incident.case --parquet tables/"),
    ),
)
@click.argument("case", type=click.Path(path_type=str))
@cluster_option
@report_options
def command(case: str, exports: Exports, **asked: Any) -> None:
    """Tell what a case holds, as analyze told it when it made the case.

    CASE is a directory that `analyze --case` wrote, or the tables of an audit: with --cluster NAME that cluster's report, without it the
    summary of all. It takes about a second: Spark is not started, and the evidence is not needed. In FILE's place - is stdout, and nothing
    else is printed.
    """
    from forensics.audit.audited import Audit, is_audit

    if is_audit(Path(case)) and chosen_cluster() is None:
        from forensics.commands.audit import told

        if others := [name for name in exports.files if name not in ("json", "html")] + ["parquet"] * (exports.parquet is not None):
            raise click.UsageError(f"--{others[0]} tells of one cluster; say which with --cluster NAME")
        exports.check()
        told(Audit(Path(case)), exports.files.get("json"), asked["fail_on"], html_file=exports.files.get("html"))
        return
    exports.check()
    report(open_case(case), Progress(), exports, **asked)
