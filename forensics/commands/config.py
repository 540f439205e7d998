"""`kafka-forensics.toml`: what a team decided once, for every run: accepted findings, and defaults of a few options.

Here: where the file is taken from, its form, and which findings it accepts. Not here: what commands do with them, or the constants of the
analysis (forensics.thresholds), which no file changes: the same evidence gives the same report.

A file that weakens a result must not come with the evidence. It is taken from --config, or from the working directory if no path of the
command contains that directory and only its owner can write the file. Its use is announced, and a loss is only accepted by its id.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date as Day
from datetime import datetime, timedelta, timezone
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forensics.commands.options import F, given

if TYPE_CHECKING:
    from forensics.model.findings import Finding

NAME = "kafka-forensics.toml"
META, ARGUMENTS = "forensics.config", "forensics.arguments"
MOST_BYTES = 1 << 20
OPTIONS = ("display-timezone", "fail-on", "fail-on-new", "weight")
"""Options that may have a default in the file: none that changes what is read or where results go."""


@dataclass(frozen=True)
class Accepted:
    """An entry: findings for which all the given masks hold. * is any text."""

    reason: str
    date: Day
    until: Day | None = None
    """From this day on, the entry does not count any more."""
    finding: str | None = None
    kind: str | None = None
    cluster: str | None = None
    topic: str | None = None
    broker: int | None = None
    shorter_than: timedelta | None = None
    """What has ended within this time. Neither an event without a duration nor what recurs."""
    below: str | None = None
    """What is less severe than this."""

    @property
    def of_size(self) -> bool:
        return self.shorter_than is not None or self.below is not None

    @property
    def why(self) -> dict[str, str]:
        return {"reason": self.reason, "date": self.date.isoformat()}

    def takes(self, f: Finding, cluster: str | None) -> bool:
        if self.finding is not None:
            return f.id == self.finding
        from forensics.model.findings import AGAIN, LEVELS
        from forensics.rules import rule_of

        topics = {p.topic for p in f.places} or {f.topic}
        small = self.below is None or LEVELS.index(f.severity) < LEVELS.index(self.below)
        if small and self.shorter_than is not None:
            lasted = f.end - f.start if f.start is not None and f.end is not None else timedelta()
            small = timedelta() < lasted < self.shorter_than and AGAIN not in {fold.how for fold in f.folds}
        return (
            not f.loss
            and small
            and not (self.of_size and rule_of(f.kind).records_gone)
            and (self.until is None or datetime.now(timezone.utc).date() < self.until)
            and fnmatchcase(f.kind, self.kind or "*")
            and (self.cluster is None or fnmatchcase(cluster or "", self.cluster))
            and (self.topic is None or all(topic is not None and fnmatchcase(topic, self.topic) for topic in topics))
            and (self.broker is None or f.brokers == (self.broker,))
        )


@dataclass(frozen=True)
class Config:
    path: str = NAME
    accepted: Sequence[Accepted] = ()

    def accepts(self, f: Finding, cluster: str | None = None) -> Accepted | None:
        return next((entry for entry in self.accepted if entry.takes(f, cluster)), None)

    def left(self, findings: Iterable[tuple[str | None, Finding]]) -> list[Finding]:
        """Of findings with their clusters those that are not accepted. Says how many are."""
        every = list(findings)
        kept = [f for cluster, f in every if self.accepts(f, cluster) is None]
        if len(kept) < len(every):
            kinds = Counter(f.kind for _, f in every) - Counter(f.kind for f in kept)
            named = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
            click.echo(f"Accepted in {self.path}: {named}. --fail-on and --fail-on-new do not count these findings.", err=True)
        return kept


def config() -> Config:
    """Of the command that runs."""
    return given(META, Config())  # type: ignore[no-any-return]


def config_option(command: F) -> F:
    return click.option(
        "--config",
        metavar="FILE",
        expose_value=False,
        is_eager=True,
        callback=_read,
        help=f"TOML file of accepted findings and defaults; default is {NAME} in the working directory, if that is not in the evidence.",
    )(command)


def _read(context: click.Context, option: click.Parameter, given: str | None) -> None:
    if context.resilient_parsing or (given is None and not os.path.lexists(NAME)):
        return
    path = given or NAME
    if given is None and (reason := _foreign(context.meta.get(ARGUMENTS, ()))) is not None:
        click.echo(f"Warning: {NAME} in the working directory is not used: {reason}; --config {NAME} uses it", err=True)
        return
    try:
        accepted, options = _parsed(path)
    except (OSError, ValueError, TypeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise click.BadParameter(f"{path}: {reason}", context, option) from None
    context.meta[META] = Config(path, accepted)
    own = {name: param.name for param in context.command.params for name in param.opts}
    context.default_map = {str(own[f"--{name}"]): value for name, value in options.items() if f"--{name}" in own}
    if given is None:
        click.echo(f"Using {NAME} of the working directory.", err=True)


def _foreign(arguments: Sequence[str]) -> str | None:
    """Why the file of the working directory may belong to another user; None if it is the user's own."""
    here = Path.cwd().resolve()
    if (evidence := next((a for a in arguments if os.path.isdir(a) and here.is_relative_to(os.path.realpath(a))), None)) is not None:
        return f"the directory lies in {evidence}"
    found = os.lstat(NAME)
    if not stat.S_ISREG(found.st_mode) or found.st_uid not in (os.geteuid(), 0) or found.st_mode & 0o022:
        return "it is a link, or belongs to or can be changed by another user"
    return None


def _parsed(path: str) -> tuple[list[Accepted], Mapping[str, Any]]:
    """Raises OSError, ValueError or TypeError."""
    from parsers.package_data import parsed

    with open(path, "rb") as file:
        content = dict(parsed(file.read(MOST_BYTES).decode("utf-8")))
    entries = content.pop("accept", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError("accept is not a list of entries, each under [[accept]]")
    if unknown := sorted(content.keys() - {*OPTIONS}):
        raise ValueError(f"{unknown[0]!r} is not one of {', '.join((*OPTIONS, 'accept'))}")
    return [_entry(entry, number) for number, entry in enumerate(entries, 1)], content


def _entry(entry: Mapping[str, Any], number: int) -> Accepted:
    from forensics.commands.times import duration
    from forensics.model.findings import LEVELS

    known = {f.name: f for f in fields(Accepted)}
    if unknown := sorted(entry.keys() - known.keys()):
        raise ValueError(f"entry {number} of accept: {unknown[0]!r} is not one of {', '.join(known)}")
    if missing := [name for name in ("reason", "date") if not entry.get(name)]:
        raise ValueError(f"entry {number} of accept has no {missing[0]}")
    if not entry.keys() & {"finding", "kind", "topic", "broker", "shorter_than", "below"}:
        raise ValueError(f"entry {number} of accept names no finding, kind, topic, broker, shorter_than or below")
    for name, value in entry.items():
        kind = Day if name in ("date", "until") else int if name == "broker" else str
        if not isinstance(value, kind) or isinstance(value, datetime | bool):
            raise ValueError(
                f"entry {number} of accept: {name} = {value!r} is not a {'day' if kind is Day else 'number' if kind is int else 'text'}"
            )
    if (below := entry.get("below")) is not None and below not in LEVELS[1:]:
        raise ValueError(f"entry {number} of accept: below = {below!r} is not one of {', '.join(LEVELS[1:])}")
    shorter = duration(entry["shorter_than"]) if "shorter_than" in entry else None
    if "shorter_than" in entry and not shorter:
        raise ValueError(
            f"entry {number} of accept: shorter_than = {entry['shorter_than']!r} is not a duration; give for example 5m or 90s"
        )
    return Accepted(**{**entry, "shorter_than": shorter})
