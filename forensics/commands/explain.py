"""`kafka-forensics explain`: one finding of a case with its explanation, its steps, and all lines it quotes.

Here: the arguments. Not here: the words (forensics.words) or their display (forensics.views.text).
"""

from __future__ import annotations

import click

from forensics.commands.analyze import report_of
from forensics.commands.evidence import InvalidInput, cluster_option
from forensics.commands.help import described
from forensics.commands.inputs import open_case
from forensics.commands.output import console
from forensics.commands.tables import local_tables
from forensics.commands.times import display_timezone_option


@described(
    rank=25,
    summary="Explain one finding, with the lines that show it.",
    examples=(
        ("The finding that a report lists with this id", "incident.case 54b070f7a2c1"),
        ("A finding of one cluster of an audit", "tables 54b070 --cluster prod-eu"),
    ),
)
@click.argument("case", type=click.Path(path_type=str))
@click.argument("id")
@cluster_option
@display_timezone_option
def command(case: str, id: str) -> None:
    """Show one finding of a case: its explanation, its steps, and all lines that it quotes.

    CASE is a directory that `analyze --case` wrote, or with --cluster NAME the tables of an audit. ID is the id of the finding, as `report
    --all` and the JSON report show it, or its first characters.
    """
    from forensics.views.text import explain

    report = report_of(open_case(str(local_tables(case)[0])), None)
    found = [f for f in report.findings if f.id.startswith(id)]
    if len(found) != 1:
        many = f"{len(found)} findings have ids that begin with {id!r}" if found else f"the case has no finding {id!r}"
        raise InvalidInput(f"{many}; `kafka-forensics report {case} --all` lists the ids")
    explain(report, found[0], console())
