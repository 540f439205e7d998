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


@click.command("report")
@click.argument("case", type=click.Path(path_type=str))
@report_options
def command(case: str, exports: Exports, **asked: Any) -> None:
    """Tell what a case holds, as analyze told it when it made the case. Spark is not started."""
    exports.check()
    report(open_case(case), Progress(), exports, **asked)
