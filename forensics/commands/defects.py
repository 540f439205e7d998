"""What is kept of an error that only a change of this tool can repair: a file with the trace, and how to report it.

Here: the file and the line on stderr that names it. Not here: errors that a user can repair (spark.failures, click exceptions).
"""

from __future__ import annotations

import platform
import shlex
import sys
import tempfile
import traceback
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path

PACKAGES = ("pyspark", "pyarrow", "click", "rich")


def line_of(error: BaseException) -> str:
    from forensics.output.sanitise import clean

    what = clean(" ".join(f"{type(error).__name__}: {error}".split()))[:200]
    return f"Error: this is a defect of kafka-forensics ({what}); {kept(error)}"


def kept(error: BaseException) -> str:
    """Where the trace is. Writes the file, if there is a place for it."""
    from forensics.output.sanitise import clean

    try:
        return f"the trace, and how to report it, are in {clean(written(error))}"
    except OSError as failed:
        frame = traceback.extract_tb(error.__traceback__)[-1:]
        at = f" (at {Path(frame[0].filename).name}, line {frame[0].lineno})" if frame else ""
        return f"the trace could not be written ({failed.strerror}); run the command again with TMPDIR set to a directory with room{at}"


def written(error: BaseException) -> str:
    """Writes the file, readable by the user only, and returns its path. Raises OSError."""
    handle, name = tempfile.mkstemp(prefix="kafka-forensics-defect-", suffix=".txt")
    with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text_of(error))
    return name


def text_of(error: BaseException) -> str:
    """The content of the file."""
    from forensics.case.run import public
    from forensics.output.version import version
    from parsers.containers.storage import without_secrets

    at = datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)
    command = shlex.join(["kafka-forensics", *public(sys.argv[1:])])
    trace = "".join(traceback.format_exception(error))
    return f"""A command of kafka-forensics ended because of a defect in kafka-forensics itself, not because of its input.

Please report the defect: open an issue where you got kafka-forensics from, and attach this file. The file contains the command line, and may
contain names of files, topics and hosts: replace what you may not share. If a bundle is needed to repeat the error, `kafka-forensics redact`
makes a copy without names and records.

command   {command}
at        {at}
version   {version()}, rules {_rules()}
python    {platform.python_version()} on {platform.platform()}
packages  {packages}

{without_secrets(trace)}{_of_spark()}"""


def _rules() -> str:
    """Digest of the rules; unknown if the defect prevents that they are loaded."""
    try:
        from forensics.views.document import rules_digest

        return rules_digest()
    except Exception:
        return "unknown"


def _of_spark() -> str:
    java = sys.modules.get("spark.java")
    log = java.last_log_lines() if java is not None else ""
    return f"\nEnd of the log of Spark:\n\n{log}" if log.strip() else ""
