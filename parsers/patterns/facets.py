"""Which part of Kafka prints a statement, and whether it does so at INFO or below.

Here: facets, each the loggers of one part, and the facet of each pattern. If a source has lines of a facet at INFO, it has the other INFO
lines of that facet, too. Only then does a missing line prove anything. A WARN or ERROR line does not show that INFO is on.
Not here: where such lines are in a source (parsers.printed).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import regex

from parsers.layouts import LOG4J
from parsers.patterns.in_force import PatternSet, pattern_set
from parsers.patterns.pattern import Pattern

FACETS = ("log", "partition", "replica", "fetcher", "process", "state", "controller")
TAKES_UP = frozenset({"hw-loaded", "hw-missing"})
"""Kinds of events of the facet "replica": kafka.cluster.Partition prints them when it takes up a replica, which kafka.log has then loaded
or created. They show that lines of kafka.log have to be there."""
INFO_AND_BELOW = ("INFO", "DEBUG", "TRACE")
OTHER_FETCHER = "ReplicaAlterLogDirs"
"""In the text of a line by the fetcher that copies a replica between log directories of one broker. It prints the statements of the fetcher
that copies from a leader, by a logger of its own."""

_LOGGERS: Mapping[str, regex.Pattern[str]] = {
    "log": regex.compile(r"(?:kafka\.log|org\.apache\.kafka\.storage\.internals\.log)\.(?!(?:Log)?Cleaner)\w+\$?"),
    "partition": regex.compile(r"kafka\.cluster\.Partition\$?"),
    "fetcher": regex.compile(r"kafka\.server\.(?:Abstract|Replica|AsyncReplica)Fetcher\w*\$?"),
    "process": regex.compile(
        r"kafka\.server\.(?:KafkaServer|KafkaServerStartable|KafkaRaftServer|SharedServer|BrokerServer|ControllerServer)\$?"
    ),
    "state": regex.compile(r"state\.change\.logger"),
    "controller": regex.compile(r"(?:kafka|org\.apache\.kafka)\.controller\.[\w$]+"),
}


def facet_of(logger: str) -> str | None:
    """The facet a logger belongs to."""
    return next((facet for facet, loggers in _LOGGERS.items() if loggers.fullmatch(logger)), None)


def facet_of_pattern(pattern: Pattern) -> tuple[str, bool] | None:
    """The facet to which all loggers of a statement belong, and whether all its samples are at INFO or below; None where a logger belongs
    to another facet or to none."""
    printed = [_logger_and_level(sample.line) for sample in pattern.samples]
    loggers = pattern.loggers or [logger for logger, _ in printed]
    facets = {facet_of(logger) if logger is not None else None for logger in loggers}
    facet = facets.pop() if len(facets) == 1 else None
    if facet == "partition" and pattern.event in TAKES_UP:
        facet = "replica"
    return (facet, all(level in INFO_AND_BELOW for _, level in printed)) if facet is not None else None


def _logger_and_level(record: str) -> tuple[str | None, str]:
    """Logger and level of a record of one line or several, in Kafka's own layout."""
    first, _, rest = record.partition("\n")
    read = LOG4J.read(first)
    if read is None:
        return None, ""
    assert LOG4J.tail is not None
    later = LOG4J.tail.search(rest) if read.logger is None else None
    return later["logger"] if later is not None else read.logger, read.level


class PatternFacets(NamedTuple):
    """The facets of the patterns that give events."""

    by_pattern: Mapping[str, tuple[str, bool]]
    """The facet of each, by the pattern's name, and whether the statement is printed at INFO or below as a rule."""
    of_any_fetcher: frozenset[str]
    """Statements that OTHER_FETCHER prints, too."""


@lru_cache(maxsize=8)
def facets_of(patterns: PatternSet) -> PatternFacets:
    """The facets of all patterns."""
    giving = [pattern for pattern in patterns.patterns if pattern.event != "irrelevant"]
    by_pattern = {pattern.name: facet for pattern in giving if (facet := facet_of_pattern(pattern)) is not None}
    of_any = (pattern.name for pattern in giving if not pattern.loggers and by_pattern.get(pattern.name, ("",))[0] == "fetcher")
    return PatternFacets(by_pattern, frozenset(of_any))


def facet_of_line(pattern: str | None, level: str | None, text: str | None) -> str | None:
    """The facet for which a line shows that INFO is on. `level` is the line's own; without it, that of the statement counts."""
    facets = facets_of(pattern_set())
    facet, usual = facets.by_pattern.get(pattern or "", (None, False))
    other = pattern in facets.of_any_fetcher and OTHER_FETCHER in (text or "")
    return facet if (usual if level is None else level in INFO_AND_BELOW) and not other else None
