"""The archive of Spark classes: parsed and linked classes that halve the start time of the JVM. One per Java and Spark, in the user's
cache.

Here: where the archive is, the JVM options for it, and starting the process that makes it. Not here: making it (training).

The JVM ignores an archive that does not fit, so an archive never makes a run fail. The archive is made by a detached process after the
first run, because that takes longer than a small analysis.
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

from spark.java import Java, python_environment, spark_home

SWITCH = "KAFKA_FORENSICS_CLASS_ARCHIVE"
"""Environment variable. With the value `off`, no archive is used or made."""

KEEP = 2
"""Number of archives kept, the most recently used ones. An archive has about 200 MB."""

ROOM = 2**30
"""Bytes that must be free on the disk before an archive is made."""

RETRY_S = 7 * 24 * 3600
"""Seconds after a failure before an archive is tried again."""

QUIET = "-Xlog:disable"
"""JVM option. Without it, the JVM prints on stdout why it ignores an archive."""


@dataclass(frozen=True)
class ClassArchive:
    """The archive for one Java and Spark, which may not exist yet. `ahead_of_time`: an AOT cache (Java 25 and newer), otherwise AppCDS."""

    path: Path
    ahead_of_time: bool

    def options(self) -> list[str]:
        """JVM options to use the archive. Empty if the archive does not exist, or if another user could have written it."""
        try:
            state = self.path.stat()
            if state.st_uid != os.geteuid() or state.st_mode & 0o022:
                return []
            os.utime(self.path)
        except OSError:
            return []
        return [f"-XX:{'AOTCache' if self.ahead_of_time else 'SharedArchiveFile'}={self.path}"]

    def recording(self, path: Path) -> list[str]:
        """JVM options to write an archive to `path` when the JVM shuts down."""
        return [f"-XX:{'AOTCacheOutput' if self.ahead_of_time else 'ArchiveClassesAtExit'}={path}"]

    @property
    def failed(self) -> Path:
        """A file that marks a failure, so that the archive is not tried again at every run."""
        return self.path.with_suffix(".failed")

    @property
    def lock(self) -> Path:
        """The file that a process locks while it makes an archive."""
        return self.path.parent / "lock"


def archive_for(java: Java) -> ClassArchive | None:
    """The archive for `java` and the installed pyspark. None if archives are switched off or the user has no cache directory."""
    if os.environ.get(SWITCH) == "off":
        return None
    try:
        directory = _cache_directory()
        ahead_of_time = java.feature >= 25
        name = f"spark-{version('pyspark')}-java-{java.version}-{_fingerprint(java)}"
        return ClassArchive(directory / f"{name}.{'aot' if ahead_of_time else 'jsa'}", ahead_of_time)
    except (OSError, RuntimeError):
        return None


def _cache_directory() -> Path:
    """The directory of the archives, created with access for the user alone because archives are code. Raises OSError if it cannot be
    created, RuntimeError if the user has no home directory."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    directory = (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "kafka-forensics" / "java"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory


def _fingerprint(java: Java) -> str:
    """Digest of what a JVM checks before it uses an archive: the build of the JVM, and the path, size and time of each jar."""
    digest = hashlib.sha256()
    for path in [java.home / "lib" / "modules", *sorted((spark_home() / "jars").glob("*.jar"))]:
        state = path.stat()
        digest.update(f"{path}\0{state.st_size}\0{state.st_mtime_ns}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()[:12]


def make_at_exit(java: Java, archive: ClassArchive) -> None:
    """Has the archive made when this process ends, if the archive is missing and the disk has room for it. Raises OSError."""
    if archive.path.exists() or _failed_lately(archive) or not os.access(archive.path.parent, os.W_OK):
        return
    if shutil.disk_usage(archive.path.parent).free >= ROOM:
        atexit.register(_train, java)


def _failed_lately(archive: ClassArchive) -> bool:
    try:
        return time.time() - archive.failed.stat().st_mtime < RETRY_S
    except OSError:
        return False


def _train(java: Java) -> None:
    nothing = subprocess.DEVNULL
    environment = os.environ | python_environment()
    command = [sys.executable, "-m", "spark.training", str(java.home)]
    with contextlib.suppress(OSError):
        subprocess.Popen(command, cwd="/", env=environment, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)


def prune(directory: Path) -> None:
    """Removes all archives except the KEEP most recently used ones, and unfinished archives. Raises OSError if a file cannot be removed."""
    archives = [*directory.glob("spark-*.jsa"), *directory.glob("spark-*.aot")]
    archives.sort(key=lambda path: path.stat().st_mtime)
    for path in [*archives[:-KEEP], *directory.glob("part-*")]:
        path.unlink(missing_ok=True)
