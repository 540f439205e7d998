"""Temporary directories that end with this process, also if a signal ends it."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path

PREFIX = "kafka-forensics-"
_made: list[Path] = []


def temporary_directory() -> Path:
    """A new directory below TMPDIR. It is removed when the process ends. Raises OSError."""
    _made.append(Path(tempfile.mkdtemp(prefix=PREFIX)))
    return _made[-1]


@atexit.register
def remove_all() -> None:
    """Removes the directories now. For a process that ends without its exit handlers."""
    while _made:
        shutil.rmtree(_made.pop(), ignore_errors=True)
