"""`kafka-forensics salvage`: writes out the lost records that a collected disk still has. The only command that reads bodies.

Here: the options and the order of work. Not here: which copies are the valid ones (forensics.model.partition.salvageable), how they are
read and written (forensics.tools.salvage), the output (forensics.views.salvage).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forensics.commands.evidence import InvalidInput, Progress, evidence_options
from forensics.commands.help import described
from forensics.commands.inputs import EvidenceInput, open_input
from forensics.commands.output import console, force_option, json_option, write_text
from forensics.commands.plan import check_version, tools_of
from forensics.commands.selection import Request, check_partitions, selection_options
from forensics.commands.targets import OutputDirectory, noted
from forensics.commands.times import display_timezone_option, display_zone

if TYPE_CHECKING:
    from forensics.model.findings import DifferingCopies
    from forensics.tools.kafka_tools import Tools
    from forensics.tools.salvage.rows import Markers
    from forensics.tools.salvage.segments import Lot
    from forensics.tools.salvage.written import Sending
    from forensics.views.salvage import SalvagedPartition

SHOWN = 10
"""Differing copies that are listed."""
SUMMARY = "salvage.json"
FORMATS = ("jsonl", "parquet", "segment", "send")


@described(
    rank=90,
    examples=(
        ("Recover all lost records that a disk in the bundle still contains", "incident.tar.gz --out salvaged"),
        (
            "One topic, as JSON lines, without values",
            "incident.tar.gz --out salvaged --topic orders --format jsonl --keys-only",
        ),
    ),
)
@evidence_options
@click.option(
    "--out",
    "-o",
    required=True,
    metavar="DIR",
    type=OutputDirectory(mark=(SUMMARY, "kafka-forensics/salvage")),
    help="Write into this directory, which must be new or empty.",
)
@force_option("an earlier result of salvage")
@selection_options("records", "topic", "partition")
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(FORMATS),
    metavar="FORMAT",
    help="jsonl (JSON lines), parquet, segment (log segments) or send (input of kafka-console-producer); default is all (may be repeated).",
)
@click.option(
    "--from",
    "sources",
    multiple=True,
    metavar="PATH",
    help="Where copies of the same offsets differ, take the records from this file or directory of the evidence (may be repeated).",
)
@click.option("--kafka-version", metavar="X.Y", help="Version of the Kafka tools that will be used; default is that of the oldest broker.")
@click.option("--keys-only", is_flag=True, help="Write no values and no header values; only for jsonl and parquet.")
@json_option("Write the summary as JSON; - is stdout, instead of the text.")
@display_timezone_option
def command(
    paths: tuple[str, ...],
    out: str,
    force: bool,
    request: Request,
    formats: tuple[str, ...],
    sources: tuple[str, ...],
    kafka_version: str | None,
    keys_only: bool,
    json_file: str | None,
) -> None:
    """Recover lost records that a collected disk still contains.

    Such disks are copies saved before a broker was restarted, replicas that never followed the new leader, and directories that were moved
    away. Only lost records are written, and those that only files have that Kafka renamed; chosen by leader epoch and offset, with their
    checksums verified.

    If two collected files have different records at the same offsets and in the same leader epoch, nothing is written until --from names
    the file that is right. Batches that were only compressed or batched again have equal records, and are no obstacle.

    No other command reads record bodies. Only the owner can read the written files. The command prints how to send the records again; it
    sends nothing. Exit code 1: some of the lost records are not in the output.
    """
    from forensics.output.files import whole_directory
    from forensics.tools.salvage.places import DIRECTORY_OF_OWNER, created
    from forensics.tools.salvage.segments import copy
    from forensics.views.salvage import Salvage, show

    _check(formats, kafka_version, keys_only=keys_only)
    progress = Progress()
    found = open_input(paths, progress)
    if not isinstance(found, EvidenceInput):
        raise InvalidInput(f"{paths[0]}: a case contains no records; give the evidence from which the case was made")
    with progress.stage("Judging partitions"):
        lost = _lots(found, request)
        _choose(found, lost, sources)
    kinds = set(formats or FORMATS) - ({"segment", "send"} if keys_only else set())
    salvage = None
    with noted(out), whole_directory(Path(out), DIRECTORY_OF_OWNER, replace=force) as to:
        with progress.stage("Reading the disks"):
            problems = copy(found.opened.units, lost, found.resolver.shown, to)
        with progress.stage("Writing records"):
            tools, _ = tools_of(found.cluster, kafka_version)
            output = SalvageOutput(to, Path(out), kinds, tools, problems, values=not keys_only)
            records = list(_written(lost, output))
            if "segment" not in kinds:
                shutil.rmtree(to / "segments", ignore_errors=True)
        salvage = Salvage(records, out, problems, not keys_only, ("salvage", *found.paths))
        if any(to.iterdir()):
            with created(to / SUMMARY) as file:
                file.write(salvage.json().encode())
    if salvage is None:
        return
    if json_file is None or not write_text(salvage.json(), json_file):
        show(salvage, console(), display_zone())
    if salvage.incomplete:
        raise click.exceptions.Exit(1)


def _choose(found: EvidenceInput, lost: Sequence[Lot], sources: Sequence[str]) -> None:
    """Resolves differing copies. Raises Unusable if some are left."""
    from forensics.tools.salvage.equal_records import settle
    from forensics.tools.salvage.segments import choose

    for lot in lost:
        choose(lot, sources)
    if any(lot.unresolved for lot in lost):
        settle(lost, found.opened.units, found.resolver.shown)
    differing = [(lot, d) for lot in lost for d in lot.unresolved]
    if differing:
        shown = "\n".join(_of_copies(lot, d) for lot, d in differing[:SHOWN])
        more = f"\n  and {len(differing) - SHOWN} more ranges" if len(differing) > SHOWN else ""
        what = "batches" if all(d in lot.not_compared for lot, d in differing) else "records"
        raise InvalidInput(
            f"files have different {what} at the same offsets and in the same leader epoch:\n{shown}{more}\n"
            "At most one of the files is right. Name it with --from PATH, or leave out the partition; nothing was written"
        )


def _of_copies(lot: Lot, differing: DifferingCopies) -> str:
    why = lot.not_compared.get(differing)
    note = f" (the batches differ, and their records were not compared: {why})" if why is not None else ""
    return f"  {lot.name} offsets {differing.offsets}: {', '.join(differing.sources)}{note}"


def _check(formats: Sequence[str], kafka_version: str | None, *, keys_only: bool) -> None:
    """Checks that need no evidence. Raises click.BadParameter."""
    if keys_only and set(formats) & {"segment", "send"}:
        message = "the formats segment and send contain values; choose jsonl or parquet, or leave out --keys-only"
        raise click.BadParameter(message, param_hint="--keys-only")
    check_version(kafka_version)


def _lots(found: EvidenceInput, request: Request) -> list[Lot]:
    """The lost records of the requested partitions."""
    from forensics.tools.salvage.segments import lots

    selection = request.selection(found.cluster)
    conclusion = found.conclusion(selection.has_partition if selection else None)
    chosen = [lot for lot in lots(conclusion.findings) if selection.has_partition(lot.topic, lot.partition)]
    if selection and not chosen:
        check_partitions(found.partitions(), request.topics, request.partitions)
    return chosen


@dataclass(frozen=True)
class SalvageOutput:
    """Where and how records are written."""

    to: Path
    """The directory while it is written; it is later renamed to `directory`."""
    directory: Path
    kinds: Set[str]
    tools: Tools
    problems: list[str]
    values: bool


def _written(lots: Sequence[Lot], output: SalvageOutput) -> Iterator[SalvagedPartition]:
    """Writes the records of each partition."""
    from forensics.tools.salvage.rows import markers

    ends: dict[str, Markers] = {}
    for _, group in groupby(lots, key=lambda x: (x.topic, x.partition, x.cluster, x.leader_epoch)):
        together = list(group)
        ends |= dict.fromkeys((_key(x) for x in together), markers(together))
    for (topic, partition), group in groupby(lots, key=lambda x: (x.topic, x.partition)):
        yield _partition(topic, partition, list(group), ends, output)


def _key(lot: Lot) -> str:
    return f"{lot.finding} {lot.name}"


def _partition(topic: str, partition: int, lots: list[Lot], ends: Mapping[str, Markers], output: SalvageOutput) -> SalvagedPartition:
    from forensics.model.settings.settings import WRITTEN_BY_BROKERS
    from forensics.tools.salvage.places import named
    from forensics.tools.salvage.rows import Row, rows
    from forensics.tools.salvage.written import JsonLines, Parquet, Sending, write_lines
    from forensics.views.salvage import SalvagedPartition

    found = SalvagedPartition(topic, partition, lots)
    if not any(lot.segments for lot in lots):
        return found
    name = named(topic, partition)

    def records(problems: list[str]) -> Iterable[Row]:
        return (row for lot in lots for row in rows(lot, ends[_key(lot)], problems))

    found.files = {kind: f"{name}.{kind}" for kind in ("jsonl", "parquet") if kind in output.kinds}
    writers: list[JsonLines | Parquet] = [
        (JsonLines if kind == "jsonl" else Parquet)(output.to / file, values=output.values) for kind, file in found.files.items()
    ]
    sending = Sending()
    for row in records(output.problems):
        for writer in writers:
            writer.add(row)
        sending.look(row)
        found.count(row)
    for writer in writers:
        writer.close()
    if "segment" in output.kinds:
        found.files["segment"] = ", ".join(sorted({os.path.relpath(s.parent, output.to) for lot in lots for s in lot.segments}))
    if "send" in output.kinds and topic in WRITTEN_BY_BROKERS:
        found.not_sendable = (
            "no client can send its records again, because only brokers write this topic; the JSON lines and the Parquet file contain them"
        )
    elif "send" in output.kinds:
        if not sending.of_late or output.tools.null_in_lines:
            found.files["send"] = f"{name}.send"
            write_lines(output.to / found.files["send"], records([]), sending)
            found.sending = sending
            found.command = _command(found, lots, sending, output)
        found.not_sendable = _why_not_sendable(sending, output.tools)
    return found


def _why_not_sendable(sending: Sending, tools: Tools) -> str | None:
    if sending.of_late and not tools.null_in_lines:
        return "kafka-console-producer before 3.2 cannot send nulls and headers; use a later version, and name it with --kafka-version"
    if not sending.count:
        return "no record can be sent as a line of text; the JSON lines and the Parquet file contain all records"
    return None


def _command(found: SalvagedPartition, lots: Sequence[Lot], sending: Sending, output: SalvageOutput) -> str | None:
    if not sending.count:
        return None
    codec = max({c for lot in lots for c in lot.codecs} - {"none"}, default=None)
    lines = str(output.directory / found.files["send"])
    return output.tools.produce(found.topic, sending.properties, lines, largest=sending.largest, codec=codec)
