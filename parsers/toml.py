"""TOML files that are part of the packages.

Here: reading them as they are. Not here: TOML that a user gives (parsers.patterns.pattern_toml).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read(package: str, name: str) -> Mapping[str, Any]:
    """The content of the file NAME.toml in this package."""
    content: Mapping[str, Any] = tomllib.loads((files(package) / f"{name}.toml").read_text("utf-8"))
    return content
