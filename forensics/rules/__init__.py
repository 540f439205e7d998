"""All rules. KIND.toml declares a kind of finding and its words; KIND.py, next to it, has the functions that find it.

Here: how they become a Rule. Not here: their sentences (forensics.words), or what runs where (forensics.incidents.judging).

Kinds that differ only in what they declare name the module of forensics.rules.detectors that makes these functions of it, as `detector`, and
the table of this name is for that module. A module may have: `of_partition(timeline, cluster)`, `of_cluster(cluster, partitions)`, `after_rules(cluster, partitions, found)`, `READS`
(the facts that they read), `refuted(finding, timeline)` (it casts no doubt on the partition), and `merged(first, group)` (values of findings that became one).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, TypeVar

from forensics.model.findings import Aggregation, Impact, Lasting, Purpose, Rule, Statement, Urgency

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

OF_WORDS = ("message", "phrase")
"""Tables of a file that only forensics.words reads."""


@cache
def declared() -> Mapping[str, Mapping[str, Any]]:
    """The content of each KIND.toml, by kind."""
    found = sorted((f.name.removesuffix(".toml"), f.read_text("utf-8")) for f in files(__name__).iterdir() if f.name.endswith(".toml"))
    return {kind: tomllib.loads(text) for kind, text in found}


_ENUMS: Mapping[str, Callable[[str], Enum]] = {"purpose": Purpose, "now": Lasting, "impact": Impact}


def _rule(kind: str, content: Mapping[str, Any]) -> Rule:
    detector = content.get("detector")
    left_out = (*OF_WORDS, "detector", detector)
    own: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in content.items() if key not in left_out}
    if detector is not None:
        judges = import_module(f"{__name__}.detectors.{detector}").judges(kind, content)
    else:
        judges = vars(import_module(f"{__name__}.{kind.replace('-', '_')}"))
    if (many := own.pop("many", None)) is not None:
        own["many"] = Aggregation(**{**many, "by": tuple(many.get("by", ()))}, merge=_merge(judges))
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


def _merge(judges: Mapping[str, Any]) -> Any:
    if (merged := judges.get("merged")) is not None or "many_words" not in judges:
        return merged

    def interim(first: Any, group: Any) -> Any:
        steps = {"next_steps": tuple(judges["many_steps"](group))} if "many_steps" in judges else {}
        return {"many": judges["many_words"](first, group)} | steps

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
