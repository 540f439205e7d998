"""The output directory: names that hostile evidence cannot turn into other paths, and files that only the owner can read.

Here: the directory, its files and their modes. Not here: their contents.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

OF_OWNER = 0o600
"""A record may contain anything, so only the owner can read the output."""
DIRECTORY_OF_OWNER = 0o700
_LONGEST = 200
"""Maximum bytes of a name, so that it is still a valid file name with its extensions."""


def named(topic: str, partition: int) -> str:
    """The partition as a file name, as Kafka names its directory; a topic name that Kafka would not allow is quoted."""
    name = quote(topic, safe="")
    if len(name) > _LONGEST:
        name = f"{name[:_LONGEST]}~{hashlib.sha256(name.encode()).hexdigest()[:12]}"
    return f"{name}-{partition}"


def made(directory: Path) -> None:
    """Creates the directory and missing parents, for its owner only."""
    if not directory.is_dir():
        made(directory.parent)
        directory.mkdir(mode=DIRECTORY_OF_OWNER)


def created(path: Path) -> BinaryIO:
    """A new file; existing files and links are never written to."""
    made(path.parent)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OF_OWNER), "wb")
