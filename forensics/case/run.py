"""The process that made a case, with place and time: a separate file, because only this file differs from run to run.

Here: writing and reading it. Not here: anything that results depend on (tables, case.json).
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

from forensics.case.files import document
from forensics.output.version import version
from parsers.containers.storage import without_secrets

RUN = "run.json"
PACKAGES = ("pyspark", "pyarrow", "zstandard")


def write_run(directory: Path, command: Sequence[str] | None = None) -> None:
    """`command`: words after the program's name, none for a program that calls `forensics.analyze`; default are those of this process."""
    command = sys.argv[1:] if command is None else command
    record = {
        "at": datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "command": ["kafka-forensics", *public(command)] if command else [],
        "version": version(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in PACKAGES},
    }
    (directory / RUN).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")


def public(words: Sequence[str]) -> Iterator[str]:
    """The words of a command without secrets: in URIs, in the parameters of a Spark Connect server, and in settings of Spark."""
    before = ""
    for word in words:
        if word.removeprefix("--master=").startswith("sc://"):
            yield word.split("/;")[0]
        elif before == "--conf" or word.startswith("--conf="):
            name = word.removeprefix("--conf=").partition("=")[0]
            yield f"{'--conf=' if before != '--conf' else ''}{name}=…"
        else:
            yield without_secrets(word)
        before = word


def read_run(directory: Path) -> dict[str, Any]:
    """Empty if the file is missing or unreadable."""
    try:
        return document(directory, RUN)
    except (OSError, ValueError):
        return {}
