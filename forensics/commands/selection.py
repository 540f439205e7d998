"""The requested part of what a command shows: `--topic`, `--partition`, `--broker`, `--kind`, `--severity`, `--since`
and `--until`.

Here: the options, numbers on the command line, and the errors for names that are not in the evidence. Not here: what a selection means for
a report (views.scope).
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from forensics.commands.evidence import InvalidInput
from forensics.commands.fail_on import LEVELS
from forensics.commands.names import CLOSE
from forensics.commands.options import Option, record_of
from forensics.commands.times import When, since_until_options, window

if TYPE_CHECKING:
    from forensics.commands.inputs import Input
    from forensics.model.cluster.facts import Cluster
    from forensics.views.document import Report
    from forensics.views.scope import Selection

FOUND = 20
"""Numbers that an error lists."""


def selection_options(what: str, *names: str) -> Option[Any]:
    """These of the options topic, partition, broker, kind, severity and since (with until), or all; the command receives them as `request`.
    `what`: what they select."""
    options: Mapping[str, Option[Any]] = {
        "topic": click.option("--topic", "topics", multiple=True, metavar="NAME", help="Only this topic (may be repeated)."),
        "partition": click.option(
            "--partition", "partitions", multiple=True, type=PARTITION, metavar="N", help="Only this partition number (may be repeated)."
        ),
        "broker": click.option(
            "--broker", "brokers", multiple=True, type=BROKER, metavar="ID", help=f"Only {what} of this broker (may be repeated)."
        ),
        "kind": click.option("--kind", "kinds", multiple=True, metavar="KIND", help=f"Only {what} of this kind (may be repeated)."),
        "severity": click.option("--severity", type=click.Choice(LEVELS), help=f"Only {what} of at least this severity."),
        "since": since_until_options(f"Only {what} from this time on.", f"Only {what} up to this time."),
    }

    return record_of(Request, "request", *(options[name] for name in names or options))


@dataclass(frozen=True)
class Request:
    """The values of selection_options."""

    topics: tuple[str, ...] = ()
    partitions: tuple[int, ...] = ()
    brokers: tuple[int, ...] = ()
    since: When | None = None
    until: When | None = None
    kinds: tuple[str, ...] = ()
    severity: str | None = None

    def selection(self, cluster: Cluster) -> Selection:
        """The selection in this cluster's evidence. Raises click.UsageError if no evidence can lie between the times."""
        from forensics.views.scope import Selection

        return Selection(self.topics, self.partitions, self.brokers, *window(self.since, self.until, cluster), self.kinds, self.severity)

    @property
    def words(self) -> list[str]:
        """The options as words of a command."""
        many = {"--topic": self.topics, "--partition": self.partitions, "--broker": self.brokers, "--kind": self.kinds}
        times = {name: when.text for name, when in (("--since", self.since), ("--until", self.until)) if when is not None}
        once = {**times, **({"--severity": self.severity} if self.severity is not None else {})}
        pairs = [(name, str(value)) for name, values in many.items() for value in values]
        return [word for pair in [*pairs, *once.items()] for word in pair]


def check(selection: Selection, report: Report, found: Input) -> None:
    """Raises Unusable for a topic, a partition or a broker that is not in the evidence. `report`: of the whole evidence."""
    states = {(p["topic"], p["partition"]) for p in report.partitions}
    missing = [t for t in selection.topics if not any(topic == t for topic, _ in states)]
    if missing or (selection.by_partition and not any(selection.has_partition(*name) for name in states)):
        every = states | found.partitions()
        for topic in missing:
            if all(topic != name for name, _ in every):
                raise InvalidInput(unknown_partition(every, topic))
        if not any(selection.has_partition(*name) for name in every):
            raise InvalidInput(unknown_partition(every, next(iter(selection.topics), None), selection.partitions[0]))
    if unknown := next((kind for kind in selection.kinds if kind not in {f.kind for f in report.findings}), None):
        kinds = {f.kind for f in report.findings}
        raise InvalidInput(f"the report has no finding of kind {unknown!r} (found: {', '.join(sorted(kinds)) or 'none'})")
    brokers = {*report.cluster.nodes, *(b for p in report.partitions for b in p["replicas"] or ())}
    check_brokers(brokers, selection.brokers)


def check_brokers(known: Collection[int], requested: Iterable[int], option: str = "") -> None:
    """Raises Unusable for a broker that is not in the evidence."""
    for broker in requested:
        if broker not in known:
            raise InvalidInput(f"{option}the evidence has no broker {broker} (found: {_listed(known)})")


def check_partitions(known: Collection[tuple[str, int]], topics: Iterable[str], partitions: Iterable[int]) -> None:
    """Raises Unusable for a topic, or for a partition of the requested topics, that is not in the evidence."""
    for topic in topics:
        if all(topic != name for name, _ in known):
            raise InvalidInput(unknown_partition(known, topic))
    chosen = set(topics)
    numbers = {number for name, number in known if not chosen or name in chosen}
    for partition in partitions:
        if partition not in numbers:
            raise InvalidInput(unknown_partition(known, next(iter(topics), None), partition))


def unknown_partition(known: Collection[tuple[str, int]], topic: str | None, partition: int | None = None) -> str:
    """A line with the existing names in place of the unknown one."""
    from forensics.output.sanitise import clean

    numbers = {number for name, number in known if topic in (name, None)}
    if numbers and partition is not None:
        return clean(f"{topic or 'the evidence'} has no partition {partition} (found: {_listed(numbers)})")
    names = sorted({name for name, _ in known})
    close = difflib.get_close_matches(topic or "", names, CLOSE, 0.5) or names[:CLOSE]
    if not close:
        return "the evidence names no topic; run `kafka-forensics inspect` to see what was collected"
    return " ".join(clean(f"the evidence has no topic {topic!r} (similar: {', '.join(close)})").split())


def _listed(numbers: Iterable[int]) -> str:
    ordered = sorted(numbers)
    return ", ".join(map(str, ordered[:FOUND])) + (f" and {len(ordered) - FOUND} more" if len(ordered) > FOUND else "")


INT32 = 2**31 - 1


class WholeNumber(click.ParamType):  # type: ignore[type-arg] # generic from click 8.4 on
    """A whole number within bounds. `meaning`: what it is, with its article."""

    name = "integer"

    def __init__(self, meaning: str, least: int = 0, most: int = INT32) -> None:
        self.meaning, self.least, self.most = meaning, least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            number = int(value)
        except ValueError:
            number = None
        if number is None or not self.least <= number <= self.most:
            upper = f"from {self.least} to {self.most}" if self.most < INT32 else f"of at least {self.least}"
            self.fail(f"{str(value)!r} is not {self.meaning}; give a whole number {upper}", param, ctx)
        return number


PARTITION = WholeNumber("a partition number")
BROKER = WholeNumber("a broker id")
