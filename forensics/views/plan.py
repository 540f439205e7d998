"""Output of the plan command: files for the Kafka tools, an overview as JSON kafka-forensics/plan/1, and the text.

Here: names of files, their commands, tables. Not here: the planned steps (repair) or the tools' formats (kafka_tools).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from forensics.incidents.folding import places
from forensics.model.cluster.final_state import Broker
from forensics.model.findings import Client, Finding
from forensics.output.json_text import encoded
from forensics.output.sanitise import clean
from forensics.output.version import version
from forensics.proof.aftermath import reset_group
from forensics.tools.kafka_tools import ToolInput, Tools, election_files, reassignment_files
from forensics.tools.repair import (
    MOVE,
    PREFERRED,
    PREFERRED_AFTER,
    REASSIGNMENTS,
    REORDER,
    REPLACE,
    UNCLEAN,
    PartitionChange,
    Plan,
    RepairStep,
)
from forensics.views.terminal import hung, put, rendered
from forensics.words import text
from forensics.words.formats import counted
from parsers.cached import cached_property

SCHEMA = "kafka-forensics/plan/1"
OVERVIEW = "plan.json"
LISTED = 20
"""Partitions of a step, and entries of a file, that a terminal shows."""
SOME = 4
_PURPOSE = {
    PREFERRED: "give leadership back to preferred replicas; no data is copied",
    REPLACE: "replace brokers that will not come back by live brokers; the replicas are copied",
    MOVE: "balance the replicas per broker; the moved replicas are copied",
    REORDER: "balance the preferred leaders; only the order of replicas changes, no data is copied",
    PREFERRED_AFTER: "after the reassignments are complete: move leadership to the new preferred replicas",
    UNCLEAN: "elect outside the ISR; THIS CAN LOSE DATA and cannot be undone",
}
_STATES = {"live": "green", "down": "red", "gone": "bold red", "unknown": "yellow"}


@dataclass(frozen=True)
class WrittenStep:
    """A file of a step. `rollback` is the name of the file that undoes it."""

    name: str
    rollback: str | None
    file: ToolInput
    commands: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Reset:
    """A group whose offsets have to be reset to where a log was cut; otherwise it does not receive records written there since."""

    client: Client
    topic: str
    partition: int
    offset: int
    at: datetime | None

    @property
    def command(self) -> str:
        return reset_group(self.client, self.topic, self.partition, self.offset, self.at)


def resets(findings: Iterable[Finding]) -> list[Reset]:
    """Resets for the groups that have not continued since."""
    resets = [
        Reset(c, p.topic, p.partition, c.had_read.start, p.end)
        for f in findings
        if f.loss and not f.cluster
        for p in places(f)
        for c in p.clients
        if c.had_read is not None and c.outcome in _TO_BE_SET_BACK and p.topic is not None and p.partition is not None
    ]
    lowest: dict[tuple[str, str, int], Reset] = {}
    for reset in sorted(resets, key=lambda r: (r.client.group, r.topic, r.partition, r.offset)):
        lowest.setdefault((reset.client.group, reset.topic, reset.partition), reset)
    return list(lowest.values())


_TO_BE_SET_BACK = {
    "skips": "it would skip records that are written again below its committed offset",
    "reset": "its committed offset is beyond the end of the log",
    "returns": "its committed offset is above the offset where the log was cut, and not all clients detect this",
}


@dataclass(frozen=True)
class Overview:
    plan: Plan
    brokers: Sequence[Broker]
    partitions: int
    tools: Tools
    assumptions: Sequence[str]
    batch: int
    command: Sequence[str] = ()
    resets: Sequence[Reset] = ()
    warnings: Sequence[str] = ()
    """Brokers whose disks must be copied before anything is done."""

    @cached_property
    def steps(self) -> list[tuple[RepairStep, list[WrittenStep]]]:
        """Steps in the order to run them, with the files that this version's tools accept."""
        return [(step, list(self._written(number, step))) for number, step in enumerate(self.plan.steps, 1)]

    def files(self) -> Iterator[tuple[str, str]]:
        """Name and content of every file, the overview first."""
        yield OVERVIEW, self.json()
        for _, written in self.steps:
            for w in written:
                yield w.name, w.file.content
                if w.rollback is not None and w.file.rollback is not None:
                    yield w.rollback, w.file.rollback

    def _written(self, number: int, step: RepairStep) -> Iterator[WrittenStep]:
        if step.kind in REASSIGNMENTS:
            files = (
                list(reassignment_files(step.changes, log_dirs=self.tools.log_dirs, batch=self.batch)) if self.tools.can_reassign else []
            )
        elif step.kind == UNCLEAN:
            files = list(election_files(step.changes)) if self.tools.can_elect_unclean else []
        else:
            files = list(election_files(step.changes)) if self.tools.can_elect else []
        head = "LAST-RESORT" if step.kind == UNCLEAN else f"{number:02d}"
        for index, file in enumerate(files, 1):
            stem = f"{head}-{step.kind}" + (f"-{index:03d}" if len(files) > 1 else "")
            rollback = f"{stem}.rollback.json" if file.rollback is not None else None
            yield WrittenStep(f"{stem}.json", rollback, file, self._commands(step, f"{stem}.json", rollback, file))

    def _commands(self, step: RepairStep, name: str, rollback: str | None, file: ToolInput) -> dict[str, list[str]]:
        topics = sorted({c.topic for c in file.changes})
        if rollback is None:
            elect = self.tools.elect_unclean(name) if step.kind == UNCLEAN else self.tools.elect_preferred(name)
            return {"run": [elect], "verify": [self.tools.describe(topics)]}
        copies = step.kind != REORDER
        commands: dict[str, list[str]] = {}
        by_hand = step.kind == REPLACE and not self.tools.throttles_the_dead
        if by_hand:
            living = {b.id for b in self.brokers if b.state == "live"}
            commands["throttle"] = self.tools.throttle(sorted({b for c in file.changes for b in (*c.before, *c.after)} & living), topics)
        commands["run"] = [self.tools.reassign(name, copies=copies and not by_hand)]
        commands["verify"] = [self.tools.verify(name)]
        if (cancel := self.tools.cancel(name)) is not None:
            commands["cancel"] = [cancel]
        return commands | {"roll back": [self.tools.reassign(rollback, copies=copies)]}

    def settings(self, step: RepairStep) -> list[str]:
        """Commands that replace a file if the release has no tool for elections outside the ISR."""
        if step.kind != UNCLEAN or self.tools.can_elect_unclean or self.tools.kraft:
            return []
        return [line for topic in sorted({c.topic for c in step.changes}) for line in self.tools.allow_unclean(topic)]

    def document(self) -> dict[str, Any]:
        before, after = ({load.broker: load for load in found} for found in (self.plan.before, self.plan.after))
        return {
            "schema": SCHEMA,
            "tool": {"version": version(), "command": list(self.command)},
            "kafka": {"version": ".".join(map(str, self.tools.version)), "mode": "kraft" if self.tools.kraft else "zookeeper"},
            "partitions": self.partitions,
            "assumptions": list(self.assumptions),
            "warnings": list(self.warnings),
            "brokers": [
                {
                    "id": b.id,
                    "state": b.state,
                    "why": text(b.why) if b.why is not None else "",
                    "rack": b.rack,
                    "before": _load(before[b.id]),
                    "after": _load(after[b.id]),
                }
                for b in self.brokers
            ],
            "steps": [self._step(step, written) for step, written in self.steps],
            "groups": [
                {
                    "group": r.client.group,
                    "topic": r.topic,
                    "partition": r.partition,
                    "to_offset": r.offset,
                    "why": _TO_BE_SET_BACK[r.client.outcome],
                    "run": r.command,
                }
                for r in self.resets
            ],
            "refused": [{"what": r.what, "why": r.why, "partitions": list(r.partitions)} for r in self.plan.refusals],
        }

    def json(self) -> str:
        return encoded(self.document(), indent=1) + "\n"

    def _step(self, step: RepairStep, written: Sequence[WrittenStep]) -> dict[str, Any]:
        return {
            "kind": step.kind,
            "purpose": _PURPOSE[step.kind],
            "last_resort": step.kind == UNCLEAN,
            "files": [
                {
                    "file": w.name,
                    "rollback": w.rollback,
                    "partitions": len(w.file.changes),
                    "commands": {k: list(v) for k, v in w.commands.items()},
                }
                for w in written
            ],
            "settings": self.settings(step),
            "changes": [
                {
                    "topic": c.topic,
                    "partition": c.partition,
                    "before": list(c.before),
                    "after": list(c.after),
                    "leader": c.leader,
                    "new_leader": c.new_leader,
                    "note": c.note or None,
                }
                for c in step.changes
            ],
        }


def _load(load: Any) -> dict[str, Any]:
    return {"replicas": load.replicas, "preferred": load.preferred, "leads": load.leads, "imbalance": round(load.imbalance, 4)}


def show(overview: Overview, console: Console, *, out: str | None) -> None:
    for part in parts(overview, out):
        # Users copy commands and file names from the terminal: the terminal may wrap them, but they must contain no line feed.
        if isinstance(part, Text) and part.no_wrap is True:
            console.print(part, soft_wrap=True)
        else:
            put(console, rendered(console, [part]))


def parts(overview: Overview, out: str | None) -> Iterator[RenderableType]:
    yield _head(overview, out)
    yield Text()
    for warning in overview.warnings:
        yield Text(clean(warning), style="bold red")
        yield Text()
    yield _brokers(overview)
    number = 0
    for step, written in overview.steps:
        number += step.kind != UNCLEAN
        yield Text()
        yield from _step(overview, step, written, number, out)
    if overview.resets:
        yield Text("\nConsumer groups to reset while they have no members", style="bold")
        for reset in overview.resets[:LISTED]:
            yield _indented(
                Text(clean(f"- {reset.client.group}, {reset.topic}-{reset.partition}: {_TO_BE_SET_BACK[reset.client.outcome]}"))
            )
            yield Text(clean(f"    run: {reset.command}"), no_wrap=True)
        if len(overview.resets) > LISTED:
            yield _indented(Text(f"- and {len(overview.resets) - LISTED} more; --json has all"))
    if overview.plan.refusals:
        yield Text("\nNot planned", style="bold")
        for refusal in overview.plan.refusals:
            where = f" {_some(refusal.partitions)}" if refusal.partitions else ""
            yield hung("  - ", Text(clean(f"{refusal.what}: {refusal.why}.{where}")))
    yield Text("\nAssumptions", style="bold")
    for line in overview.assumptions:
        yield hung("  - ", Text(clean(line)))


def _indented(text: RenderableType) -> Padding:
    return Padding(text, (0, 0, 0, 2), expand=False)


def _head(overview: Overview, out: str | None) -> Text:
    planned = [s for s in overview.plan.steps if s.kind != UNCLEAN]
    text = Text()
    if planned:
        text.append(f"{counted(len(planned), 'step')} planned", style="bold")
    else:
        text.append("Nothing to elect or reassign" + (" except the last resort" if overview.plan.steps else ""), style="bold")
    text.append(f" for {counted(overview.partitions)} on {counted(len(overview.brokers), 'broker')}. Nothing was executed")
    text.append("; the files are in " + clean(out) + "." if out is not None else ".")
    return text


def _brokers(overview: Overview) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    racks = any(b.rack for b in overview.brokers)
    for name in ("broker", *(("rack",) if racks else ()), "replicas", "preferred", "leads", "imbalance"):
        table.add_column(name, no_wrap=True, justify="left" if name in ("broker", "rack") else "right")
    table.add_column("state", overflow="fold")
    before, after = ({load.broker: load for load in loads} for loads in (overview.plan.before, overview.plan.after))
    for b in overview.brokers:
        old, new = before[b.id], after[b.id]
        cells = [str(b.id), *((clean(b.rack or "-"),) if racks else ())]
        cells += [_moved(str(old.replicas), str(new.replicas)), _moved(str(old.preferred), str(new.preferred))]
        cells += [_moved(str(old.leads), str(new.leads)), _moved(f"{old.imbalance:.0%}", f"{new.imbalance:.0%}")]
        state = Text(b.state, style=_STATES.get(b.state, "")).append(clean(f", {text(b.why)}" if b.why else ""), style="dim")
        table.add_row(*cells, state)
    return table


def _moved(before: str, after: str) -> str:
    return before if before == after else f"{before} -> {after}"


def _step(overview: Overview, step: RepairStep, written: Sequence[WrittenStep], number: int, out: str | None) -> Iterator[RenderableType]:
    last = step.kind == UNCLEAN
    head = "LAST RESORT" if last else f"{number}."
    count = len(step.changes)
    style = "bold red" if last else "bold"
    yield hung(f"{head} ", Text(f"{step.kind}, {counted(count)}: {_PURPOSE[step.kind]}", style=style), style)
    yield _indented(_changes(step))
    if not written and not overview.settings(step):
        yield _indented(Text("The tools of this version cannot run this step.", style="yellow"))
    for w in written[:LISTED]:
        yield from _file(w, out)
    if len(written) > LISTED:
        yield _indented(Text(f"and {len(written) - LISTED} more files of the same form"))
    if lines := overview.settings(step):
        when = "" if overview.tools.unclean_at_once else " The setting takes effect at the next change of brokers or controller."
        yield _indented(
            Text(f"This release elects a replica outside the ISR only if the topic allows it. Remove the setting afterwards.{when}")
        )
        yield from (_line(Text(f"    {clean(line)}", style="cyan")) for line in lines)


def _changes(step: RepairStep) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    elects = step.kind not in REASSIGNMENTS
    for name in ("partition", "leader", "replicas", *(("cost",) if step.kind == UNCLEAN else ())):
        table.add_column(name, overflow="fold")
    for c in step.changes[:LISTED]:
        leader = "none" if c.leader == -1 else str(c.leader)
        cells = [clean(c.name), f"{leader} -> {c.new_leader}" if elects else leader, _replicas(c)]
        table.add_row(*cells, *((Text(c.note, style="red"),) if step.kind == UNCLEAN else ()))
    if len(step.changes) > LISTED:
        table.add_row(f"and {len(step.changes) - LISTED} more", "", "")
    return table


def _replicas(c: PartitionChange) -> str:
    before, after = (",".join(map(str, ids)) for ids in (c.before, c.after))
    return before if before == after else f"{before} -> {after}"


def _file(w: WrittenStep, out: str | None) -> Iterator[RenderableType]:
    for name, lines in w.commands.items():
        for line in lines[:LISTED]:
            yield _line(Text(f"  {name}: ".ljust(13), style="dim").append(clean(line), style="cyan"))
        if len(lines) > LISTED:
            yield _line(Text(f"  {name}: ".ljust(13) + f"and {len(lines) - LISTED} more, in {OVERVIEW}", style="dim"))
    if out is not None:
        return
    if len(w.file.changes) > LISTED:
        yield _indented(Text(f"{w.name}: {len(w.file.changes)} partitions; --out DIR writes it", style="dim"))
        return
    files = [(w.name, w.file.content), *([(w.rollback, w.file.rollback or "")] if w.rollback is not None else [])]
    for name, content in files:
        yield _line(Text(f"  {name}", style="dim"))
        yield _line(Text("".join(f"\n    {line}" for line in clean(content.rstrip()).splitlines())[1:]))


def _line(text: Text) -> Text:
    text.no_wrap = True
    return text


def _some(names: Sequence[str]) -> str:
    return "(" + ", ".join(names[:SOME]) + (f" and {len(names) - SOME} more" if len(names) > SOME else "") + ")"
