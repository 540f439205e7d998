"""The files of a directory tree of the evidence, in a fixed order.

Here: the file names, and which links lead to files that are read anyway. Not here: the contents of files (walk).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from parsers.containers.names import printable


def leaves(root: str) -> Iterator[str]:
    """Names relative to `root` of everything except readable directories, sorted in each directory."""
    pending = [""]
    while pending:
        name = pending.pop()
        if name and not _is_directory(os.path.join(root, name)):
            yield name
            continue
        try:
            with os.scandir(os.path.join(root, name)) as entries:
                names = sorted((entry.name for entry in entries), reverse=True)
        except OSError:
            yield name
            continue
        pending.extend(os.path.join(name, child) for child in names)


def _is_directory(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def link_trouble(root: str, full: str) -> str | None:
    """Why a symbolic link hides evidence; None if its target lies inside the tree and is read there."""
    try:
        target = os.path.realpath(full, strict=True)
    except OSError as error:
        return f"symbolic link that leads nowhere: {error.strerror}"
    base = os.path.realpath(root)
    if os.path.commonpath([base, target]) != base:
        return f"symbolic link that leads out of the evidence, not followed: {printable(os.readlink(full))}"
    if os.path.commonpath([target, os.path.realpath(os.path.dirname(full))]) == target:
        return "symbolic link that leads back to a directory above it, not followed"
    return None
