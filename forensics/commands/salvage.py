"""`kafka-forensics salvage`: writes out the lost records that a collected disk still has. The only command that reads bodies.

Here: the options and the order of work. Not here: which copies are the valid ones (forensics.model.partition.salvageable), how they are read and
written (forensics.tools.salvage), the output (forensics.views.salvage).
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forensics.commands.evidence import Progress, Unusable, evidence_options
from forensics.commands.help import Command
from forensics.commands.inputs import EvidenceInput, open_input
from forensics.commands.output import console
from forensics.commands.plan import tools_of

if TYPE_CHECKING:
    from forensics.tools.kafka_tools import Tools
    from forensics.tools.salvage.rows import Markers
    from forensics.tools.salvage.segments import Lot
    from forensics.views.salvage import Partition

FORMATS = ("jsonl", "parquet", "segment", "send")


@click.command(
    "salvage",
    cls=Command,
    rank=90,
    summary="Recover lost records that a collected disk still contains.",
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
    "--out", required=True, metavar="DIR", type=click.Path(file_okay=False), help="Write into this directory, which must be new or empty."
)
@click.option("--topic", "topics", multiple=True, metavar="NAME", help="Only this topic (may be repeated).")
@click.option("--partition", "partitions", multiple=True, type=int, metavar="N", help="Only this partition number (may be repeated).")
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(FORMATS),
    metavar="FORMAT",
    help="jsonl (JSON lines), parquet, segment (log segments) or send (input of kafka-console-producer); default is all (may be repeated).",
)
@click.option("--kafka-version", metavar="X.Y", help="Version of the Kafka tools that will be used; default is that of the oldest broker.")
@click.option("--keys-only", is_flag=True, help="Write no values and no header values; only for jsonl and parquet.")
@click.option("--json", "json_file", is_flag=True, help="Print the summary as JSON instead of text.")
def command(
    paths: tuple[str, ...],
    timezone: str | None,
    clock_offsets: tuple[str, ...],
    master: str | None,
    out: str,
    topics: tuple[str, ...],
    partitions: tuple[int, ...],
    formats: tuple[str, ...],
    kafka_version: str | None,
    keys_only: bool,
    json_file: bool,
) -> None:
    """Recover lost records that a collected disk still contains.

    Such disks are copies saved before a broker was restarted, replicas that never followed the new leader, and directories that were moved
    away. Only lost records are written, chosen by leader epoch and offset, with their checksums verified.

    No other command reads record bodies. Only the owner can read the written files. The command prints how to send the records again; it
    sends nothing.
    """
    from forensics.model.cluster.versions import parsed
    from forensics.output.files import whole_directory
    from forensics.tools.salvage.places import DIRECTORY_OF_OWNER, trouble

    directory = Path(out)
    try:
        if told := trouble(directory, paths):
            raise Unusable(told)
    except OSError as error:
        raise click.FileError(out, error.strerror or str(error)) from None
    if keys_only and set(formats) & {"segment", "send"}:
        raise click.BadParameter(
            "the formats segment and send contain values; choose jsonl or parquet, or leave out --keys-only", param_hint="--keys-only"
        )
    if kafka_version is not None and parsed(kafka_version) is None:
        raise click.BadParameter(f"{kafka_version!r} is not a Kafka version; use for example 2.8 or 3.9.1", param_hint="--kafka-version")
    progress = Progress()
    found = open_input(paths, timezone, clock_offsets, master, progress)
    if not isinstance(found, EvidenceInput):
        raise Unusable(f"{paths[0]}: a case contains no records; give the evidence from which the case was made")
    with progress.stage("Judging partitions"):
        from forensics.tools.salvage.segments import copy, lots

        asked = (lambda t, p: (not topics or t in topics) and (not partitions or p in partitions)) if topics or partitions else None
        wanted = [x for x in lots(found.conclusion(asked).findings) if asked is None or asked(x.topic, x.partition)]
    try:
        with whole_directory(directory, DIRECTORY_OF_OWNER) as to:
            with progress.stage("Reading the disks"):
                problems = copy(found.opened.units, wanted, found.resolver.shown, to)
            with progress.stage("Writing records"):
                kinds = set(formats or FORMATS) - ({"segment", "send"} if keys_only else set())
                tools, _ = tools_of(found.cluster, kafka_version)
                written = list(_written(wanted, to, directory, kinds, tools, problems, values=not keys_only))
                if "segment" not in kinds:
                    shutil.rmtree(to / "segments", ignore_errors=True)
    except OSError as error:
        raise click.FileError(out, error.strerror or str(error)) from None
    from forensics.views.salvage import Salvage, show

    told_all = Salvage(written, out, problems, not keys_only, ("salvage", *found.paths))
    if json_file:
        sys.stdout.write(told_all.json())
        return
    show(told_all, console())


def _written(
    wanted: Sequence[Lot], to: Path, directory: Path, kinds: set[str], tools: Tools, problems: list[str], *, values: bool
) -> Iterator[Partition]:
    """Writes into `to`, which is later renamed to `directory`."""
    from forensics.tools.salvage.rows import markers

    ends: dict[str, Markers] = {}
    for _, own in groupby(wanted, key=lambda x: (x.topic, x.partition, x.cluster, x.leader_epoch)):
        together = list(own)
        ends |= dict.fromkeys((_key(x) for x in together), markers(together))
    for (topic, partition), own in groupby(wanted, key=lambda x: (x.topic, x.partition)):
        yield _partition(topic, partition, list(own), ends, to, directory, kinds, tools, problems, values=values)


def _key(lot: Lot) -> str:
    return f"{lot.finding} {lot.name}"


def _partition(
    topic: str,
    partition: int,
    own: list[Lot],
    ends: dict[str, Markers],
    to: Path,
    directory: Path,
    kinds: set[str],
    tools: Tools,
    problems: list[str],
    *,
    values: bool,
) -> Partition:
    from forensics.tools.salvage.places import named
    from forensics.tools.salvage.rows import Row, rows
    from forensics.tools.salvage.written import JsonLines, Parquet, Sending, write_lines
    from forensics.views.salvage import Partition

    found = Partition(topic, partition, own)
    if not any(lot.segments for lot in own):
        return found
    name = named(topic, partition)

    def told(problems: list[str]) -> Iterable[Row]:
        return (row for lot in own for row in rows(lot, ends[_key(lot)], problems))

    found.files = {kind: f"{name}.{kind}" for kind in ("jsonl", "parquet") if kind in kinds}
    out: list[JsonLines | Parquet] = [
        (JsonLines if kind == "jsonl" else Parquet)(to / file, values=values) for kind, file in found.files.items()
    ]
    sending = Sending()
    for row in told(problems):
        for each in out:
            each.add(row)
        sending.look(row)
        found.records += row.control is None
        found.markers += row.control is not None
        found.aborted += row.transaction == "aborted"
        found.open += row.transaction == "open"
    for each in out:
        each.close()
    if "segment" in kinds:
        found.files["segment"] = ", ".join(sorted({os.path.relpath(s.parent, to) for lot in own for s in lot.segments}))
    if "send" in kinds:
        if sending.of_late and not tools.null_in_lines:
            found.not_sendable = (
                "kafka-console-producer before 3.2 cannot send nulls and headers; use a later version, and name it with --kafka-version"
            )
        else:
            found.files["send"] = f"{name}.send"
            write_lines(to / found.files["send"], told([]), sending)
            found.sending = sending
            codec = max({c for lot in own for c in lot.codecs} - {"none"}, default=None)
            lines = str(directory / found.files["send"])
            found.command = tools.produce(topic, sending.properties, lines, largest=sending.largest, codec=codec) if sending.count else None
            if not sending.count:
                found.not_sendable = "no record can be sent as a line of text; the JSON lines and the Parquet file contain all records"
    return found
