"""All rules. KIND.toml declares a kind of finding and its words; KIND.py, next to it, has the functions that find it.

Here: how they become a Rule. Not here: their sentences (forensics.words), or what runs where (forensics.incidents.judging).

A module may have: `of_partition(timeline, cluster)`, `of_cluster(cluster, partitions)`, `after_rules(cluster, partitions, found)`, `READS`
(the facts that they read), `refuted(finding, timeline)` (it casts no doubt on the partition), and `merged(first, group)` (values of findings that became one).

A kind of a family names its `detector`, a module of forensics.rules.detectors, and declares in `[[find]]` what that shall find; its KIND.py,
if it has one, has the functions that these tables name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from enum import Enum
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import Any, TypeVar

from forensics.model.findings import Aggregation, Impact, Lasting, Purpose, Rule, Statement, Urgency
from parsers.toml import read

_OF_RULE = frozenset(f.name for f in fields(Rule))
"""All else in a file is for its detector, or for forensics.words."""


@cache
def declared() -> Mapping[str, Mapping[str, Any]]:
    """The content of each KIND.toml, by kind."""
    kinds = sorted(f.name.removesuffix(".toml") for f in files(__name__).iterdir() if f.name.endswith(".toml"))
    return {kind: read(__name__, kind) for kind in kinds}


_ENUMS: Mapping[str, Callable[[str], Enum]] = {"purpose": Purpose, "now": Lasting, "impact": Impact}


def _rule(kind: str, content: Mapping[str, Any]) -> Rule:
    own: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in content.items() if key in _OF_RULE}
    name, detector = f"{__name__}.{kind.replace('-', '_')}", content.get("detector")
    module = import_module(name) if detector is None or find_spec(name) is not None else None
    if (many := own.pop("many", None)) is not None:
        own["many"] = Aggregation(**{**many, "by": tuple(many.get("by", ()))}, merge=_merge(module))
    if own.get("root") is True:
        own["root"] = f"{kind}/root"
    if "urgency" in own:
        own["urgency"] = Urgency[own["urgency"]]
    own |= {name: of(own[name]) for name, of in _ENUMS.items() if name in own}
    judges = {
        "partition": getattr(module, "of_partition", None),
        "cluster": getattr(module, "of_cluster", None),
        "after_rules": getattr(module, "after_rules", None),
        "refuted": getattr(module, "refuted", None),
        "facts": getattr(module, "READS", ()),
    }
    if detector is not None:
        judges |= import_module(f"{__name__}.detectors.{detector}").judges(kind, content, module)
    return Rule(kind=kind, **{**own, "root_causes": frozenset(own.get("root_causes", ()))}, **judges)


def _merge(module: Any) -> Any:
    if (merged := getattr(module, "merged", None)) is not None or not hasattr(module, "many_words"):
        return merged

    def interim(first: Any, group: Any) -> Any:
        steps = {"next_steps": tuple(module.many_steps(group))} if hasattr(module, "many_steps") else {}
        return {"many": module.many_words(first, group)} | steps

    return interim


RULES: tuple[Rule, ...] = tuple(sorted((_rule(kind, content) for kind, content in declared().items()), key=lambda rule: rule.rank))
"""All rules in the order in which they are listed; findings are sorted by severity first."""
BY_KIND: Mapping[str, Rule] = {rule.kind: rule for rule in RULES}
S = TypeVar("S", bound=Statement)


def of_purpose(findings: Iterable[S], *purposes: Purpose) -> list[S]:
    """The findings of the kinds for one of these purposes."""
    return [f for f in findings if (rule := BY_KIND.get(f.kind)) is not None and rule.purpose in purposes]


def kind_of(purpose: Purpose) -> str:
    return next(rule.kind for rule in RULES if rule.purpose is purpose)
