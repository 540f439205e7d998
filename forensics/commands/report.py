"""`kafka-forensics report`: what a case holds, told as analyze tells it; what an audit holds, as audit tells it.

Here: the argument. Not here: the options and the report (analyze), or the summary of many clusters (audit).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from forensics.commands.analyze import report, report_options
from forensics.commands.evidence import Progress, chosen_cluster, cluster_option
from forensics.commands.found import open_case


@click.command("report")
@click.argument("case", type=click.Path(path_type=str))
@cluster_option
@report_options
def command(case: str, **asked: Any) -> None:
    """Tell what a case holds, as analyze told it when it made the case. Spark is not started.

    CASE may be the tables of an audit: with --cluster NAME that cluster's report, without it the summary of all.
    """
    from forensics.case.audited import Audit, is_audit

    if is_audit(Path(case)) and chosen_cluster() is None:
        from forensics.commands.audit import told

        told(Audit(Path(case)), asked["json_file"], asked["fail_on"])
        return
    report(open_case(case), Progress(), **asked)
