"""All rules, one file for each kind of finding: what lies in this folder is a rule."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from forensics.model import Rule

RULES: tuple[Rule, ...] = tuple(
    sorted((import_module(f"{__name__}.{module.name}").RULE for module in pkgutil.iter_modules(__path__)), key=lambda rule: rule.rank)
)
"""In the order they are listed; findings are ordered by severity first."""
