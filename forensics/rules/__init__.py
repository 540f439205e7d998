"""All rules. KIND.toml declares a kind of finding and its words; KIND.py, next to it, has the functions that find it, or `detector` in
KIND.toml names the module in detectors/ that finds a family of kinds.

Here: how they become a Rule. Not here: their sentences (forensics.words), or what runs where (forensics.incidents.judging).

A module, or what `judges(kind, declaration)` of a detector returns, may have: `of_partition(timeline, cluster)`, `of_cluster(cluster, partitions)`, `after_rules(cluster, partitions, found)`, `READS`
(the facts that they read), `refuted(finding, timeline)` (it casts no doubt on the partition), and `merged(first, group)` (values of findings that became one).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from enum import Enum
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, TypeVar

from forensics.model.findings import Aggregation, Impact, Lasting, Purpose, Rule, Statement, Urgency
from forensics.rules.detectors import functions_of
from parsers.package_data import table

_OF_RULE = frozenset(f.name for f in fields(Rule))
"""All else in a file is for its detector, or for forensics.words."""


@cache
def declared() -> Mapping[str, Mapping[str, Any]]:
    """The content of each KIND.toml, by kind."""
    kinds = sorted(f.name.removesuffix(".toml") for f in files(__name__).iterdir() if f.name.endswith(".toml"))
    return {kind: table(__name__, kind) for kind in kinds}


_ENUMS: Mapping[str, Callable[[str], Enum]] = {"purpose": Purpose, "now": Lasting, "impact": Impact}


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
    return Rule(
        kind=kind,
        **{**own, "root_causes": frozenset(own.get("root_causes", ()))},
        partition=judges.get("of_partition"),
        cluster=judges.get("of_cluster"),
        after_rules=judges.get("after_rules"),
        refuted=judges.get("refuted"),
        facts=judges.get("READS", ()),
    )


def _judges(kind: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """The functions that find a kind: those that its detector makes from the declaration, or those of its own module."""
    if (detector := content.get("detector")) is not None:
        return import_module(f"{__name__}.detectors.{detector}").judges(kind, content)  # type: ignore[no-any-return]
    return functions_of(kind)


RULES: tuple[Rule, ...] = tuple(sorted((_rule(kind, content) for kind, content in declared().items()), key=lambda rule: rule.rank))
"""All rules in the order in which they are listed; findings are sorted by severity first."""
BY_KIND: Mapping[str, Rule] = {rule.kind: rule for rule in RULES}
S = TypeVar("S", bound=Statement)


def of_purpose(findings: Iterable[S], *purposes: Purpose) -> list[S]:
    """The findings of the kinds for one of these purposes."""
    return [f for f in findings if (rule := BY_KIND.get(f.kind)) is not None and rule.purpose in purposes]


def kind_of(purpose: Purpose) -> str:
    return next(rule.kind for rule in RULES if rule.purpose is purpose)
