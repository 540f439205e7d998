"""Starts the Spark session: with a local JVM that belongs to this process (embedded), or on another master.

Here: the settings, the zip of the packages for executors, and starting in the background while sources are listed. Not here: the JVM of
an embedded session (java).
"""

from __future__ import annotations

import errno
import logging
import os
import pwd
import re
import shlex
import socketserver
import sys
import threading
import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit
from secrets import token_hex
from typing import TYPE_CHECKING

from parsers.containers.names import printable
from spark.class_archive import QUIET, archive_for, make_at_exit
from spark.failures import explained
from spark.interfaces import missing
from spark.java import JavaFailed, Jvm, absolute_paths, find_java, last_log_lines, new_log, source_root, spark_home
from spark.masters import trouble
from spark.temporary import temporary_directory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

APPLICATION = "kafka-forensics"
DIRECTORY = "spark.kafkaForensics.directory"
"""Setting with the path of the session's temporary directory on the driver's machine. It is removed when the process ends."""
PACKAGES = ("parsers", "spark", "forensics")
"""The packages that executors need."""
FILES = ("spark.jars", "spark.files", "spark.archives", "spark.submit.pyFiles")
"""Settings that list files, with commas between them."""
LOCAL = re.compile(r"local(?:\[(\d+|\*)(?:,\s*\d+)?\])?")
"""A master in this process: local, local[4], local[*] or local[4, 2]."""
GIB = 2**30
LEAST_FILES = 512
"""Files that the JVM must be allowed to open: each of its 280 jars is one. With 320, Spark does not start on two cores."""


class SparkRefused(RuntimeError):
    """The master or the installed pyspark cannot be used. The message is one line that says why."""


def start(master: str | None = None, *, conf: Mapping[str, str] | None = None, small: bool = True) -> SparkSession:
    """Starts a session on `master` (default `local[*]`) and returns it. `conf` overrides the settings of this module.

    A local master gets a new JVM, which ends with this process. `small` makes this JVM start fast, at the price of slower sorting: right
    for evidence up to a few hundred MB.

    Raises NoJava, JavaFailed, or Refused if the master cannot be used, Spark does not start on it, or pyspark lacks an interface that this
    package uses.
    """
    master, conf = master or "local[*]", with_absolute_files(conf or {})
    if master.startswith("sc://"):
        from spark.connect import connected

        return connected(master, conf)
    if (limit := getrlimit(RLIMIT_NOFILE)[1]) != RLIM_INFINITY and limit < LEAST_FILES:  # the JVM raises its soft limit to the hard one
        raise SparkRefused(
            f"only {limit} files may be open at a time, and Spark needs {LEAST_FILES}; raise the limit (ulimit -n {LEAST_FILES})"
        )
    if not LOCAL.fullmatch(master):
        if message := trouble(master, conf):
            raise SparkRefused(message)
        if not _has_name():
            raise SparkRefused(f"{master}: Spark's launcher needs a name for user id {os.getuid()}; add an entry to /etc/passwd")
        return _on_cluster(master, conf)
    java = find_java()
    archive = archive_for(java)
    try:
        jvm = Jvm(java, jvm_options(conf, [*(LIGHT if small else []), *(archive.options() if archive else [])]))
        session = embedded(jvm, master, conf)
    except Exception as error:
        if message := missing(spark_home()):
            raise SparkRefused(message) from error
        raise
    if archive:
        make_at_exit(java, archive)
    return session


def with_absolute_files(conf: Mapping[str, str]) -> dict[str, str]:
    """The settings, with the paths of local files that are sent to executors made absolute: Spark runs in a directory of its own."""

    def whole(entry: str) -> str:
        return entry if re.match(r"[A-Za-z][\w+.-]*:", entry) or not entry.strip() else os.path.abspath(entry.strip())

    return {name: ",".join(map(whole, value.split(","))) if name in FILES else value for name, value in conf.items()}


class Starting:
    """A session that starts in the background. The arguments are those of `start`."""

    def __init__(self, master: str | None = None, *, conf: Mapping[str, str] | None = None, small: bool = True) -> None:
        self._start = partial(start, master, conf=conf, small=small)
        self._session: SparkSession | None = None
        self._error: BaseException | None = None
        # A daemon thread: a command that ends early must not wait for a session that it does not use.
        self._thread = threading.Thread(target=self._run, name="spark-start", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._session = self._start()
        except BaseException as error:
            self._error = error

    def session(self) -> SparkSession:
        """Waits for the session and returns it. Raises what `start` raises."""
        self._thread.join()
        if self._session is None:
            assert self._error is not None
            raise self._error
        return self._session


def embedded(jvm: Jvm, master: str, conf: Mapping[str, str] | None = None) -> SparkSession:
    """Connects to `jvm` and returns a session in it, on a local master. Raises JavaFailed."""
    # Imported here, while the JVM boots.
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    allow_arrow_alone()
    _quieten_pyspark()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    for name in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"):
        os.environ.pop(name, None)
    port, secret = jvm.gateway()
    os.environ.update(PYSPARK_GATEWAY_PORT=str(port), PYSPARK_GATEWAY_SECRET=secret)
    try:
        gateway = launch_gateway()
    except OSError as error:
        if error.errno not in (errno.ENETUNREACH, errno.EADDRNOTAVAIL):
            raise
        raise JavaFailed(
            f"no connection to the JVM on 127.0.0.1 ({error.strerror}); bring up the loopback interface (ip link set lo up)"
        ) from error
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]
    if not _has_name():
        login = gateway.jvm.org.apache.hadoop.security.UserGroupInformation
        login.setLoginUser(login.createRemoteUser(str(os.getuid())))
    settings = SETTINGS | _embedded_settings(_cores(master), jvm.directory) | dict(conf or {})
    spark_conf = SparkConf(loadDefaults=False, _jvm=gateway.jvm).setMaster(master).setAppName(APPLICATION)
    return SparkSession(SparkContext(conf=spark_conf.setAll(list(settings.items())), gateway=gateway))


def _has_name() -> bool:
    """Whether the system has a name for this user id. Containers of OpenShift have none, and Hadoop's login requires one."""
    try:
        return bool(pwd.getpwuid(os.getuid()))
    except KeyError:
        return False


def allow_arrow_alone() -> None:
    """Makes mapInArrow and applyInArrow work without pandas. pyspark requires and imports pandas there, but does not use it."""
    from pyspark.sql.pandas import functions

    vars(functions)["require_minimum_pandas_version"] = lambda: None


def _quieten_pyspark() -> None:
    """Suppresses tracebacks on stderr. py4j logs errors to the root logger before it raises them, and pyspark prints those of pickling. The
    callback server of pyspark, the only socket server in this process, prints another traceback when the JVM is gone."""
    from pyspark import util
    from pyspark.core import broadcast

    for module in (util, broadcast):
        vars(module)["print_exec"] = lambda _stream: None
    logging.getLogger().addFilter(lambda record: record.module not in ("java_gateway", "clientserver"))
    socketserver.BaseServer.handle_error = lambda *_: None  # type: ignore[method-assign]


LIGHT = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
"""JVM options for short runs: the optimising compiler would take a core that the tasks need. With these options, short runs take a third
less time, and long sorts a third more."""


NO_HANG = "-XX:+ExitOnOutOfMemoryError"
"""Without this option, a Spark thread that runs out of memory ends silently, and the job waits for it forever."""


def jvm_options(conf: Mapping[str, str], more: list[str]) -> list[str]:
    """Options for the JVM of an embedded session: the fixed options, then `more`, then the user's options from `conf`."""
    memory = conf.get("spark.driver.memory") or f"{_driver_memory() // 2**20}m"
    return [f"-Xmx{memory}", NO_HANG, QUIET, *more, *shlex.split(conf.get("spark.driver.extraJavaOptions", ""))]


def _cores(master: str) -> int:
    """Number of tasks that a local master runs in parallel."""
    local = LOCAL.fullmatch(master)
    count = local[1] if local else None
    return (os.cpu_count() or 1) if count == "*" else int(count or 1)


def _driver_memory() -> int:
    """Bytes for the driver's heap: half the memory of this machine or container, but at least 512 MiB and at most 4 GiB.

    The rest is for the Python workers, which parse.
    """
    available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for limit in (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")):
        try:
            available = min(available, int(limit.read_text()))
        except (OSError, ValueError):
            continue
    return max(min(4 * GIB, available // 2), GIB // 2)


SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # With a limit, Spark computes the size of the batch again at each row: quadratic, and minutes for a hundred thousand wide rows.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4096",
    "spark.python.worker.reuse": "true",
    "spark.ui.showConsoleProgress": "false",
}
"""Settings for every master."""


def _embedded_settings(cores: int, directory: Path) -> dict[str, str]:
    """Settings for an embedded session: no web server, no network except loopback, no files outside `directory`."""
    return {
        "spark.pyspark.python": sys.executable,
        # Spark would use more idle workers in turn, and each worker has to load the facts about the cluster again.
        "spark.python.factory.idleWorkerMaxPoolSize": str(cores),
        "spark.ui.enabled": "false",
        "spark.authenticate": "true",  # with a secret that the JVM makes: other accounts of the machine reach its ports
        "spark.sql.catalogImplementation": "in-memory",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(cores),
        "spark.local.dir": str(directory),
        DIRECTORY: str(directory),
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.sql.artifact.isolation.enabled": "false",
    }


def _on_cluster(master: str, conf: Mapping[str, str]) -> SparkSession:
    """A session that Spark's launcher starts. The packages are sent to the executors as one zip: these have only Spark and Python."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    allow_arrow_alone()
    _quieten_pyspark()
    temporary = temporary_directory()
    settings = SparkConf(loadDefaults=False).setMaster(master).setAppName(APPLICATION)
    settings.setAll([*(SETTINGS | dict(conf) | {DIRECTORY: str(temporary)}).items()])
    log = new_log()
    # The working directory may be the evidence. Spark's launcher and pyspark look for Spark above it if SPARK_HOME is not set.
    os.environ.update(absolute_paths() | {"SPARK_HOME": os.path.abspath(os.environ.get("SPARK_HOME") or spark_home())})
    try:
        gateway = launch_gateway(settings, popen_kwargs={"cwd": temporary, "stdout": log, "stderr": log})
        if master.startswith("local-cluster"):  # not in a command line, which other accounts see
            settings.setAll([("spark.authenticate", "true"), ("spark.authenticate.secret", token_hex(32))])
        session = SparkSession(SparkContext(conf=SparkConf(_jvm=gateway.jvm).setAll(settings.getAll()), gateway=gateway))
    except Exception as error:
        raise SparkRefused(f"{master}: {explained(error) or _said(error)}") from error
    # Executors fetch the zip from the driver whenever they start.
    session.sparkContext.addPyFile(str(zip_packages(temporary)))
    return session


def _said(error: Exception) -> str:
    """Why Spark did not start, in one line: the first error in the log of its JVM, or else that of pyspark."""
    found = re.search(r"(?m)^.*?\b(?:Exception|Error)\b[\w.$]*: *(\S.*)$", last_log_lines())
    return f"Spark did not start: {printable(' '.join((found[1] if found else str(error)).split()))[:300]}"


def directory(session: SparkSession) -> Path:
    """The temporary directory of the session on the driver's machine."""
    return Path(str(session.conf.get(DIRECTORY)))


def zip_packages(directory: Path) -> Path:
    """Writes the sources of PACKAGES to a zip in `directory` and returns its path. Raises OSError if the zip cannot be written."""
    path = directory / f"{APPLICATION}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packages:
        for package in PACKAGES:
            for source in sorted((source_root() / package).rglob("*")):
                if source.is_file() and "__pycache__" not in source.parts:
                    packages.write(source, source.relative_to(source_root()))
    return path
