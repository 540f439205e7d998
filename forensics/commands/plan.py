"""`kafka-forensics plan`: election and reassignment files that would repair what was found. It never executes anything.

Here: the options, the output of files, and the basis of the plan. Not here: planning (forensics.tools.repair), the cluster's final state
(forensics.model.cluster.final_state), the files and the text (forensics.views.plan).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forensics.commands.evidence import PLAN, Progress, evidence_options
from forensics.commands.help import described
from forensics.commands.inputs import open_input
from forensics.commands.output import console, force_option, json_option, write_text
from forensics.commands.selection import BROKER, Request, WholeNumber, check_brokers, check_partitions, selection_options
from forensics.commands.targets import OutputDirectory, noted, written
from forensics.commands.times import display_timezone_option, display_zone

if TYPE_CHECKING:
    from forensics.model.cluster.facts import Cluster
    from forensics.model.cluster.final_state import Broker, FinalPartition
    from forensics.tools.kafka_tools import Tools
    from forensics.views.plan import Overview
    from forensics.views.scope import Selection


@described(
    rank=80,
    examples=(
        ("Show what could be done, without writing files", "incident.tar.gz"),
        ("Write the files for Kafka's tools, and print the commands", "incident.tar.gz --out plan/"),
        ("Broker 2 is not coming back", "incident.case --gone 2 --out plan/"),
    ),
)
@evidence_options
@click.option(
    "--out", "-o", metavar="DIR", type=OutputDirectory(mark=PLAN), help="Write the files into this directory, which must be new or empty."
)
@force_option("an earlier plan")
@selection_options("changes", "topic", "partition")
@display_timezone_option
@json_option("Write the overview as JSON; - is stdout, instead of the tables.")
@click.option(
    "--gone", multiple=True, type=BROKER, metavar="BROKER", help="This broker will never come back; replace it (may be repeated)."
)
@click.option(
    "--live",
    multiple=True,
    type=BROKER,
    metavar="BROKER",
    help="This broker is running, although the evidence says otherwise (may be repeated).",
)
@click.option("--kafka-version", metavar="X.Y", help="Version of the Kafka tools that will be used; default is that of the oldest broker.")
@click.option(
    "--batch",
    type=WholeNumber("a number of partitions", 1, 10_000),
    metavar="N",
    default=1000,
    show_default=True,
    help="Partitions in one reassignment file, at most 10,000.",
)
def command(
    paths: tuple[str, ...],
    out: str | None,
    force: bool,
    request: Request,
    json_file: str | None,
    gone: tuple[int, ...],
    live: tuple[int, ...],
    kafka_version: str | None,
    batch: int,
) -> None:
    """Write election and reassignment files that repair what was found.

    Executes nothing. The files are for Kafka's own tools, and the commands that run, verify and undo each file are printed.

    \b
    The plan contains
      - preferred leader elections
      - replacements for brokers that will not come back (unregistered, --gone)
      - moves and new replica orders, if a load deviates by more than 10 %
      - commands that reset consumer groups with commits above a truncated log end
      - separately, as a last resort: unclean elections, which lose data, for
        partitions without a live in-sync replica

    If the evidence is not sufficient for a step, the step is left out and the reason is printed.
    """
    _checked(gone, live, kafka_version)
    progress = Progress()
    found = open_input(paths, progress)
    with progress.stage("Planning"):
        from forensics.model.cluster.final_state import partitions
        from forensics.model.presence.broker_states import running, spans
        from forensics.views.impact import untouchable
        from forensics.views.plan import resets

        stands, concluded = found.judged()
        check_brokers({*found.cluster.nodes, *(b for p in stands for b in p["replicas"] or ())}, (*gone, *live))
        check_partitions({(p["topic"], p["partition"]) for p in stands}, request.topics, request.partitions)
        selection = request.selection(found.cluster)
        command = ("plan", *found.paths, *request.words)
        planned = overview(found.cluster, partitions(stands), gone, live, kafka_version, batch, command, selection)
        warnings = untouchable(concluded.findings, lambda: running(spans(found.cluster, concluded.partitions)))
        wanted = [r for r in resets(concluded.findings) if selection.has_partition(r.topic, r.partition)]
        planned = dataclasses.replace(planned, resets=wanted, warnings=tuple(warnings))
    if out is not None:
        with noted(out):
            _write(planned, Path(out), replace=force)
    if json_file is not None and write_text(planned.json(), json_file):
        return
    from forensics.views.plan import show

    show(planned, console(), out=out if out in written().paths else None)


def _checked(gone: Sequence[int], live: Sequence[int], kafka_version: str | None) -> None:
    """Checks that need no evidence."""
    check_version(kafka_version)
    if both := sorted(set(gone) & set(live)):
        raise click.BadParameter(f"broker {both[0]} cannot be both --live and --gone; choose one", param_hint="--gone")


def check_version(kafka_version: str | None) -> None:
    """Raises click.BadParameter if the value of --kafka-version is not a version."""
    from forensics.model.settings.versions import parsed

    if kafka_version is not None and parsed(kafka_version) is None:
        raise click.BadParameter(f"{kafka_version!r} is not a Kafka version; use for example 2.8 or 3.9.1", param_hint="--kafka-version")


def _write(found: Overview, directory: Path, *, replace: bool) -> None:
    from forensics.output.files import whole_directory

    with whole_directory(directory, replace=replace) as to:
        for name, content in found.files():
            (to / name).write_text(content, encoding="utf-8")


def overview(
    cluster: Cluster,
    known: Sequence[FinalPartition],
    gone: Sequence[int] = (),
    live: Sequence[int] = (),
    kafka_version: str | None = None,
    batch: int = 1000,
    command: Sequence[str] = (),
    selection: Selection | None = None,
) -> Overview:
    """The plan for a cluster in this state, for the tools of `kafka_version` or else of the oldest broker; of it, what is for the selected
    partitions."""
    from forensics.model.cluster.final_state import brokers
    from forensics.tools.repair import plan
    from forensics.views.plan import Overview

    found = brokers(cluster, known, live, gone)
    tools, limits = tools_of(cluster, kafka_version)
    planned = plan(known, found)
    if selection is not None and selection.by_partition:
        planned = planned.only(selection.has_partition, known, found)
    return Overview(planned, found, len(known), tools, [*limits, *_rests_on(cluster, found, tools)], batch, command)


def tools_of(cluster: Cluster, asked: str | None) -> tuple[Tools, list[str]]:
    from forensics.model.settings.versions import parsed, versions
    from forensics.tools.kafka_tools import NEWEST, Tools

    kraft = cluster.mode == "kraft"
    if (given := parsed(asked)) is not None:
        return Tools(given, kraft), [f"the tools are those of Kafka {asked}, as given"]
    known = versions(cluster)
    mode = "" if cluster.mode != "unknown" else "; the evidence does not show whether ZooKeeper or KRaft is used"
    if not known:
        newest = "3.1" if kraft else "2.6"
        return Tools(NEWEST, kraft), [
            f"Kafka's version is not in the evidence: commands are those of {newest} and later{mode}; --kafka-version chooses"
        ]
    oldest = ".".join(map(str, known[0]))
    of = "the brokers' version" if len(known) == 1 else "the oldest broker's version"
    return Tools(known[0], kraft), [f"commands are for Kafka {oldest}, {of}{mode}"]


def _rests_on(cluster: Cluster, found: Sequence[Broker], tools: Tools) -> list[str]:
    lines = [
        f"the cluster has not changed since the end of the evidence at {display_zone().moment(cluster.until)}"
        if cluster.until is not None
        else "the evidence has no times: it may be old"
    ]
    lines.append("the evidence names all partitions of the cluster; others are not counted")
    living = [b for b in found if b.state == "live"]
    racks = [b.rack for b in living if b.rack]
    if racks and len(racks) < len(living):
        lines.append("broker.rack is known for some brokers only, so racks were not considered")
    else:
        lines.append(
            "the replicas of a partition are put on different racks (broker.rack) where possible"
            if racks
            else "broker.rack is not in the evidence, so racks were not considered"
        )
    where = "BOOTSTRAP=host:port" + ("" if tools.version >= (2, 6) or tools.kraft else ", ZOOKEEPER=host:port")
    lines.append(f"in the commands, set {where}, and THROTTLE to the bytes per second that copying may use; --verify removes the throttle")
    lines.append(
        "run one file at a time, in the order of their numbers, and verify each before the next; a rollback needs all brokers that it names running"
    )
    return lines
