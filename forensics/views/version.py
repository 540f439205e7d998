"""The version of this tool, where help and reports can have it without loading anything else."""

from __future__ import annotations

from importlib import metadata


def version() -> str:
    """As installed; '0' in a tree that is not."""
    try:
        return metadata.version("kafka-forensics")
    except metadata.PackageNotFoundError:
        return "0"
