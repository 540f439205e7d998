"""The version of this tool, available to help and reports without further imports."""

from __future__ import annotations

from functools import cache
from importlib import metadata


@cache
def version() -> str:
    """The installed version; '0' in a tree that is not installed."""
    try:
        return metadata.version("kafka-forensics")
    except metadata.PackageNotFoundError:
        return "0"
