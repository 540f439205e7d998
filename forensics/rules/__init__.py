"""All rules. KIND.toml declares a kind of finding and its words; KIND.py, next to it, has the functions that find it, or `detector` in
KIND.toml names the module in detectors/ that finds a family of kinds.

Here: how they become a Rule, also those of the user's files. Not here: whether these are valid (forensics.own_rules), their sentences
(forensics.words), or what runs where (forensics.incidents.judging).

A module, or what `judges(kind, declaration)` of a detector returns, may have: `of_partition(timeline, cluster)`, `of_cluster(cluster,
partitions)`, `after_rules(cluster, partitions, found)`, `READS` (the facts that they read), `NEEDS` (Rule.needs), `refuted(finding, timeline)` (it casts no doubt
on the partition), and `merged(first, group)` (values of findings that became one). Their findings get the kind of the file, and its level
if they have no severity.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from enum import Enum
from functools import lru_cache, partial
from importlib import import_module
from importlib.resources import files
from typing import Any, TypeVar

from forensics import rule_files
from forensics.model.findings import ALL_STATE, Aggregation, Finding, Impact, Lasting, Purpose, Rule, Statement, Unrefuted, Urgency
from parsers.own_files import OwnFile
from parsers.package_data import parsed, table

_OF_RULE = frozenset(f.name for f in fields(Rule))
"""All else in a file is for its detector, or for forensics.words."""


OWN_NAME = re.compile(r"^own-[a-z0-9-]{1,60}$")
"""Kinds of users' rules. No built-in kind, also of a later version, has such a name."""
_NAMED = re.compile(r"\{[?!]?(\w+)")
LAST = 1_000
"""Rank of a rule whose file gives none."""


def declared() -> Mapping[str, Mapping[str, Any]]:
    """The content of each KIND.toml, and of each file of the user that this process knows, by kind."""
    return _declared(rule_files.known())


@lru_cache(8)
def _declared(own: tuple[OwnFile, ...]) -> Mapping[str, Mapping[str, Any]]:
    if own:
        return {**_declared(()), **{kind_in(file): {"rank": LAST, "unrefuted": "own-line", **parsed(file.text)} for file in own}}
    kinds = sorted(f.name.removesuffix(".toml") for f in files(__name__).iterdir() if f.name.endswith(".toml"))
    return {kind: table(__name__, kind) for kind in kinds}


def kind_in(file: OwnFile) -> str:
    """The kind that a file of the user declares."""
    return str(parsed(file.text)["kind"])


_ENUMS: Mapping[str, Callable[[str], Enum]] = {"purpose": Purpose, "now": Lasting, "impact": Impact, "unrefuted": Unrefuted}


def _rule(kind: str, content: Mapping[str, Any]) -> Rule:
    own: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in content.items() if key in _OF_RULE}
    judges = _judges(kind, content)
    if (many := own.pop("many", None)) is not None:
        own["many"] = Aggregation(**{**many, "by": tuple(many.get("by", ()))}, merge=judges.get("merged"))
    if own.get("root") is True:
        own["root"] = f"{kind}/root"
    if "urgency" in own:
        own["urgency"] = Urgency[own["urgency"]]
    own |= {name: of(own[name]) for name, of in _ENUMS.items() if name in own}
    there = {"of_partition"} if not own.get("of_metadata_log") else ()
    own |= {part: partial(_found, judges[name], kind, content["level"], name in there) for part, name in _JUDGES.items() if name in judges}
    return Rule(
        **{"title": kind.replace("-", " ").capitalize(), **own, "kind": kind, "root_causes": frozenset(own.get("root_causes", ()))},
        refuted=judges.get("refuted"),
        facts=judges.get("READS", ()),
        needs=judges.get("NEEDS"),
    )


_JUDGES = {"partition": "of_partition", "cluster": "of_cluster", "after_rules": "after_rules"}


def _found(judge: Callable[..., Iterable[Finding]], kind: str, level: str, there: bool, *scope: Any) -> Iterator[Finding]:
    yield from (finding.of_rule(kind, level, scope[0] if there else None) for finding in judge(*scope))


def _judges(kind: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """The functions that find a kind: those that its detector makes from the declaration, or those of its own module."""
    if (detector := content.get("detector")) is not None:
        return import_module(f"{__name__}.detectors.{detector}").judges(kind, content)  # type: ignore[no-any-return]
    return vars(import_module(f"{__name__}.{kind.replace('-', '_')}"))


@lru_cache(8)
def _by_kind(own: tuple[OwnFile, ...]) -> Mapping[str, Rule]:
    """All rules in the order in which they are listed; findings are sorted by severity first."""
    contents = _declared(own)
    if not own:
        return {rule.kind: rule for rule in sorted((_rule(*item) for item in contents.items()), key=lambda rule: rule.rank)}
    built_in = _by_kind(())
    rules = [*built_in.values(), *(_rule(kind, contents[kind]) for kind in contents.keys() - built_in.keys())]
    return {rule.kind: rule for rule in sorted(rules, key=lambda rule: (rule.rank, rule.kind))}


RULES: tuple[Rule, ...] = tuple(_by_kind(()).values())
"""The built-in rules."""
KINDS: tuple[str, ...] = tuple(rule.kind for rule in RULES)
"""Kinds of findings."""


def rules() -> tuple[Rule, ...]:
    """The rules that judge in this process: the built-in ones and the user's."""
    return tuple(_by_kind(rule_files.in_force()).values())


def rule_of(kind: str) -> Rule:
    """The declaration of a kind. Raises KeyError if no rule in this process finds it."""
    return _by_kind(rule_files.known())[kind]


@lru_cache(1024)
def named_in_steps(message: str) -> frozenset[str]:
    """The values that the steps of a message name, besides those of every finding."""
    kind, _, name = message.partition("/")
    steps = declared().get(kind, {}).get("message", {}).get(name, {}).get("next_steps", ())
    return frozenset(value[:1].lower() + value[1:] for step in steps for value in _NAMED.findall(step)) - ALL_STATE


S = TypeVar("S", bound=Statement)


def of_purpose(findings: Iterable[S], *purposes: Purpose) -> list[S]:
    return [f for f in findings if (rule := _by_kind(rule_files.known()).get(f.kind)) is not None and rule.purpose in purposes]


def kind_of(purpose: Purpose) -> str:
    return next(rule.kind for rule in RULES if rule.purpose is purpose)
