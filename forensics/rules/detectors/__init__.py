"""Detectors of families: `judges(kind, declaration)` of each module makes the functions of a rule from KIND.toml, those of forensics.rules.

Here: one module for each family. Not here: the declarations, which are next to their words in forensics/rules/KIND.toml, or the functions that
these name, in KIND.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def functions_of(kind: str) -> Mapping[str, Any]:
    """The content of KIND.py; empty if there is no such file."""
    name = f"forensics.rules.{kind.replace('-', '_')}"
    return vars(import_module(name)) if find_spec(name) is not None else {}
