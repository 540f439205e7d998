"""All output formats of a report: each file in this folder is one format."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from forensics.output.format import Format

FORMATS: tuple[Format, ...] = tuple(import_module(f"{__name__}.{module.name}").FORMAT for module in pkgutil.iter_modules(__path__))
"""All formats, by name."""
