"""All rules: each file in this folder is the rule for one kind of finding."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from forensics.model.findings import Rule

RULES: tuple[Rule, ...] = tuple(
    sorted((import_module(f"{__name__}.{module.name}").RULE for module in pkgutil.iter_modules(__path__)), key=lambda rule: rule.rank)
)
"""All rules in the order in which they are listed; findings are sorted by severity first."""
