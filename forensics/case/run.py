"""Who made a case, where and when: a file of its own, for it is the only one that differs from run to run.

Here: what is written of the process, and read again. Not here: anything that what was found depends on (tables, case.json).
"""

from __future__ import annotations

import json
import platform
import sys
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

from forensics.views.version import version
from parsers.containers.storage import without_secrets

RUN = "run.json"
PACKAGES = ("pyspark", "pyarrow", "zstandard")


def write_run(directory: Path) -> None:
    told = {
        "at": datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "command": ["kafka-forensics", *map(without_secrets, sys.argv[1:])],
        "version": version(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in PACKAGES},
    }
    (directory / RUN).write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", "utf-8")


def read_run(directory: Path) -> dict[str, Any]:
    """Empty where there is none, or none that can be read."""
    try:
        told = json.loads((directory / RUN).read_bytes())
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}
