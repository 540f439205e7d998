"""An archive of Spark's classes, parsed and linked, that halves the JVM's start; one per Java and Spark, in the user's cache.

The JVM maps it if it fits and ignores it if not, so nothing here ever makes a run fail. It is made once, by a detached
process after the first run (training), because making it takes longer than any small analysis.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from spark.java import Java, python_path, spark_home

SWITCH = "KAFKA_FORENSICS_CLASS_ARCHIVE"
"""`off` in this environment variable: no archive is used or made."""

KEEP = 2
"""Archives kept, the last used ones; each is about 200 MB."""

ROOM = 2**30
"""Bytes that must be free before one is made."""

RETRY_S = 7 * 24 * 3600
"""Seconds until it is tried again after a failure."""

QUIET = "-Xlog:disable"
"""The JVM would print on stdout why it ignores an archive."""


@dataclass(frozen=True)
class Archive:
    """Where the archive for one Java and Spark is or would be. `ahead_of_time`: Java 25's AOT cache, before it AppCDS."""

    path: Path
    ahead_of_time: bool

    def options(self) -> list[str]:
        """For a JVM that is to use it; none unless it is there, and ours alone to write."""
        try:
            state = self.path.stat()
            if state.st_uid != os.geteuid() or state.st_mode & 0o022:
                return []
            os.utime(self.path)
        except OSError:
            return []
        return [f"-XX:{'AOTCache' if self.ahead_of_time else 'SharedArchiveFile'}={self.path}"]

    def recording(self, path: Path) -> list[str]:
        """For a JVM that writes one to `path` at its orderly end."""
        return [f"-XX:{'AOTCacheOutput' if self.ahead_of_time else 'ArchiveClassesAtExit'}={path}"]

    @property
    def failed(self) -> Path:
        """Left where making one failed, so that it is not tried at every run."""
        return self.path.with_suffix(".failed")

    @property
    def lock(self) -> Path:
        return self.path.parent / "lock"


def archive_for(java: Java) -> Archive | None:
    """None where archives are switched off or the user has no place for them."""
    if os.environ.get(SWITCH) == "off":
        return None
    try:
        directory = _cache_directory()
        ahead_of_time = java.feature >= 25
        name = f"spark-{version('pyspark')}-java-{java.version}-{_fingerprint(java)}"
        return Archive(directory / f"{name}.{'aot' if ahead_of_time else 'jsa'}", ahead_of_time)
    except (OSError, RuntimeError):
        return None


def _cache_directory() -> Path:
    """Private, since what is in it is code. Raises OSError where it cannot be, RuntimeError where there is no home."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    directory = (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "kafka-forensics" / "java"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory


def _fingerprint(java: Java) -> str:
    """Of all the JVM compares before it uses an archive: its own build, and each jar's place, size and time."""
    found = hashlib.sha256()
    for path in [java.home / "lib" / "modules", *sorted((spark_home() / "jars").glob("*.jar"))]:
        state = path.stat()
        found.update(f"{path}\0{state.st_size}\0{state.st_mtime_ns}\n".encode(errors="surrogateescape"))
    return found.hexdigest()[:12]


def make_at_exit(java: Java, archive: Archive) -> None:
    """Has the archive made once this process has ended, if it is missing and there is room for it."""
    if archive.path.exists() or _failed_lately(archive) or not os.access(archive.path.parent, os.W_OK):
        return
    if shutil.disk_usage(archive.path.parent).free >= ROOM:
        atexit.register(_train, java)


def _failed_lately(archive: Archive) -> bool:
    try:
        return time.time() - archive.failed.stat().st_mtime < RETRY_S
    except OSError:
        return False


def _train(java: Java) -> None:
    nothing = subprocess.DEVNULL
    environment = os.environ | {"PYTHONPATH": python_path()}
    command = [sys.executable, "-m", "spark.training", str(java.home)]
    with contextlib.suppress(OSError):
        subprocess.Popen(command, cwd="/", env=environment, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)


def prune(directory: Path) -> None:
    """Removes all but the KEEP archives used last, and what is left of broken-off attempts."""
    archives = [*directory.glob("spark-*.jsa"), *directory.glob("spark-*.aot")]
    archives.sort(key=lambda path: path.stat().st_mtime)
    for path in [*archives[:-KEEP], *directory.glob("part-*")]:
        path.unlink(missing_ok=True)
