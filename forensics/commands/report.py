"""`kafka-forensics report`: what a case holds, told as analyze tells it.

Here: the argument. Not here: the options and the report (analyze).
"""

from __future__ import annotations

from typing import Any

import click

from forensics.commands.analyze import report, report_options
from forensics.commands.evidence import Progress
from forensics.commands.exports import Exports
from forensics.commands.found import open_case
from forensics.commands.help import Told


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
@report_options
def command(case: str, exports: Exports, **asked: Any) -> None:
    """Tell what a case holds, as analyze told it when it made the case.

    CASE is a directory that `analyze --case` wrote. It takes about a second: Spark is not started, and the evidence is not needed.
    In FILE's place - is stdout, and nothing else is printed.
    """
    exports.check()
    report(open_case(case), Progress(), exports, **asked)
