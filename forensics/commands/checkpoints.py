"""`kafka-forensics checkpoints`: comparison of the checkpoint and epoch files of all brokers.

Here: the options. Not here: the comparison (forensics.tools.checkpoint_diff) or its output (forensics.views.checkpoints).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from forensics.commands.evidence import InvalidInput, Progress, check, evidence_options, open_evidence
from forensics.commands.help import described
from forensics.commands.inputs import EvidenceInput, Input, open_input
from forensics.commands.output import console, json_option, write_text
from forensics.commands.selection import Request, check_brokers, check_partitions, selection_options
from forensics.commands.times import display_timezone_option, display_zone

if TYPE_CHECKING:
    from forensics.views.checkpoints import Comparison


@described(
    rank=70,
    examples=(
        ("Partitions whose replicas contradict each other", "incident.tar.gz"),
        ("One partition, even if its replicas agree", "incident.case --topic orders --partition 0 --all"),
        ("What changed since yesterday's collection", "today.tar.gz --against yesterday.tar.gz"),
    ),
)
@evidence_options
@selection_options("partitions with a replica", "topic", "partition", "broker")
@click.option(
    "--against",
    multiple=True,
    metavar="PATH",
    help="An earlier collection of the same cluster; the changes since then are shown (may be repeated).",
)
@click.option("--all", "everything", is_flag=True, help="Also show partitions whose replicas agree.")
@display_timezone_option
@json_option("Write the comparison as JSON; - is stdout, instead of the tables.")
def command(
    paths: tuple[str, ...],
    request: Request,
    against: tuple[str, ...],
    everything: bool,
    json_file: str | None,
) -> None:
    """Compare the checkpoint and epoch files of all brokers.

    For each replica of a partition, a table shows the log end offset (log end), the high watermark (HW), the recovery point (flushed) and
    the first offset of each leader epoch (epoch@start). Below are the offset where the logs of two replicas diverge, and contradictions.
    Partitions whose replicas agree are only counted. If a broker was collected twice, or with --against PATH, the changes are shown too.
    """
    progress = Progress()
    check(against)
    found = open_input(paths, progress)
    before = None
    if against:
        from forensics.case.read import is_case

        if not isinstance(found, EvidenceInput) or any(is_case(Path(path)) for path in against):
            raise InvalidInput("--against compares files, and a case has none; give the evidence as PATH and to --against")
        before = EvidenceInput(open_evidence(against, progress, beside=found.opened))
    if request.topics or request.partitions:
        check_partitions(found.partitions() | (before.partitions() if before is not None else set()), request.topics, request.partitions)
    check_brokers(found.cluster.nodes, request.brokers)
    with progress.stage("Comparing replicas"):
        compared = _compared(found, before, request, everything)
    if json_file is not None and write_text(compared.json(), json_file):
        return
    from forensics.views.checkpoints import show

    show(compared, console())


def _compared(found: Input, before: Input | None, request: Request, everything: bool) -> Comparison:
    from forensics.tools.checkpoint_diff import BEFORE
    from forensics.views.checkpoints import Comparison

    rows = found.compared(request.topics, request.partitions, before, everything=everything)
    if request.brokers:
        rows = [row for row in rows if {*(row["replicas"] or ()), *(copy["broker"] for copy in row["copies"] or ())} & {*request.brokers}]
    against = before.paths if before is not None else ()

    def shown(place: str) -> str:
        if place.startswith(BEFORE) and before is not None:
            return BEFORE + (before.resolver.shown(place.removeprefix(BEFORE)) or ", ".join(against))
        return found.resolver.shown(place)

    return Comparison(
        found.cluster, rows, shown, ("checkpoints", *found.paths, *(f"--against={path}" for path in against)), everything, display_zone()
    )
