"""The Spark session: embedded in this process by default, or on any master.

Settings, how the three packages reach the executors, and a start in the background while sources are being listed. The JVM
of an embedded session is in java.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import shlex
import shutil
import socketserver
import sys
import tempfile
import threading
import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from spark.class_archive import QUIET, archive_for, make_at_exit
from spark.interfaces import missing
from spark.java import Jvm, find_java, source_root, spark_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

APPLICATION = "kafka-forensics"
DIRECTORY = "spark.kafkaForensics.directory"
"""Setting that names the session's own temporary directory on the driver's machine, which is gone when the process ends."""
PACKAGES = ("parsers", "spark", "forensics")
LOCAL = re.compile(r"local(?:\[(\d+|\*)(?:,\s*\d+)?\])?")
GIB = 2**30


class Refused(RuntimeError):
    """A master or a pyspark that cannot be used; the message is one line that says why."""


def start(master: str | None = None, *, conf: Mapping[str, str] | None = None, small: bool = True) -> SparkSession:
    """A session on `master` (default `local[*]`), with `conf` over the settings of this module.

    A local master gets a JVM of its own, which ends with this process; `small` tunes it for evidence up to a few hundred MB,
    where coming up quickly is nearly all that matters. Raises NoJava or JavaFailed, or Refused for a pyspark that lacks what is used
    of it; for other masters Refused, or what pyspark raises.
    """
    master = master or "local[*]"
    if master.startswith("sc://"):
        raise Refused(
            f"{master.split('/;')[0]}: Spark Connect has no driver on this machine, where evidence is planned; use spark://, yarn or k8s://"
        )
    if not LOCAL.fullmatch(master):
        return _on_cluster(master, conf or {})
    java = find_java()
    archive = archive_for(java)
    try:
        jvm = Jvm(java, jvm_options(conf or {}, [*(LIGHT if small else []), *(archive.options() if archive else [])]))
        session = embedded(jvm, master, conf or {})
    except Exception as error:
        if told := missing(spark_home()):
            raise Refused(told) from error
        raise
    if archive:
        make_at_exit(java, archive)
    return session


class Starting:
    """A session that comes up in the background. Arguments are those of `start`."""

    def __init__(self, master: str | None = None, *, conf: Mapping[str, str] | None = None, small: bool = True) -> None:
        self._start = partial(start, master, conf=conf, small=small)
        self._session: SparkSession | None = None
        self._error: BaseException | None = None
        # A daemon, so that a command that ends early does not wait for a session nobody wants.
        self._thread = threading.Thread(target=self._run, name="spark-start", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._session = self._start()
        except BaseException as error:
            self._error = error

    def session(self) -> SparkSession:
        """The session, as soon as it is up. Raises what `start` raises."""
        self._thread.join()
        if self._session is None:
            assert self._error is not None
            raise self._error
        return self._session


def embedded(jvm: Jvm, master: str, conf: Mapping[str, str] | None = None) -> SparkSession:
    """A session in `jvm`, on a local master."""
    # Here, while the JVM boots.
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    _allow_arrow_alone()
    _quieten_py4j()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    for name in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"):
        os.environ.pop(name, None)
    port, secret = jvm.gateway()
    os.environ.update(PYSPARK_GATEWAY_PORT=str(port), PYSPARK_GATEWAY_SECRET=secret)
    try:
        gateway = launch_gateway()
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]
    settings = SETTINGS | _embedded_settings(_cores(master), jvm.directory) | dict(conf or {})
    spark_conf = SparkConf(loadDefaults=False, _jvm=gateway.jvm).setMaster(master).setAppName(APPLICATION)
    return SparkSession(SparkContext(conf=spark_conf.setAll(list(settings.items())), gateway=gateway))


def _allow_arrow_alone() -> None:
    """Lets mapInArrow and applyInArrow be without pandas: pyspark asks for it, and loads it, even where no row becomes pandas."""
    from pyspark.sql.pandas import functions

    vars(functions)["require_minimum_pandas_version"] = lambda: None


def _quieten_py4j() -> None:
    """py4j logs to the root logger, with a traceback, what it then raises, and the server pyspark runs in this process, the only one,
    prints another when the JVM is gone."""
    logging.getLogger().addFilter(lambda record: record.module not in ("java_gateway", "clientserver"))
    socketserver.BaseServer.handle_error = lambda *_: None  # type: ignore[method-assign]


LIGHT = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
"""Compiling well takes a core that a short run needs itself: worth a third of its time, and costs long sorts as much."""


NO_HANG = "-XX:+ExitOnOutOfMemoryError"
"""A thread of Spark's own that runs out of memory just ends, and the job waits for it forever."""


def jvm_options(conf: Mapping[str, str], more: list[str]) -> list[str]:
    """Of an embedded session's JVM: those it always has, `more`, and the user's."""
    memory = conf.get("spark.driver.memory") or f"{_driver_memory() // 2**20}m"
    return [f"-Xmx{memory}", NO_HANG, QUIET, *more, *shlex.split(conf.get("spark.driver.extraJavaOptions", ""))]


def _cores(master: str) -> int:
    """How many tasks a local master runs at once."""
    local = LOCAL.fullmatch(master)
    asked = local[1] if local else None
    return (os.cpu_count() or 1) if asked == "*" else int(asked or 1)


def _driver_memory() -> int:
    """Bytes for the driver's heap: half of what this machine or container has, at most 4 GiB.

    The rest is for the Python workers, which do the parsing.
    """
    have = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for limit in (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")):
        try:
            have = min(have, int(limit.read_text()))
        except (OSError, ValueError):
            continue
    return max(min(4 * GIB, have // 2), GIB // 2)


SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Under any limit Spark weighs the whole batch anew at each row: quadratic, and minutes for a hundred thousand wide rows.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4096",
    "spark.python.worker.reuse": "true",
    "spark.ui.showConsoleProgress": "false",
}
"""For any master."""


def _embedded_settings(cores: int, directory: Path) -> dict[str, str]:
    """For a JVM of our own: no server, no network but the loopback, no file outside `directory`."""
    return {
        "spark.pyspark.python": sys.executable,
        # Of more that wait Spark takes each in its turn, and each makes the cluster's facts of its own.
        "spark.python.factory.idleWorkerMaxPoolSize": str(cores),
        "spark.ui.enabled": "false",
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
    """Spark's own launcher, and the packages shipped as one zip since the executors have only Spark and a Python."""
    from pyspark.sql import SparkSession

    _allow_arrow_alone()
    own = tempfile.mkdtemp(prefix="kafka-forensics-")
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    builder = SparkSession.builder.appName(APPLICATION).master(master)
    for name, value in (SETTINGS | dict(conf) | {DIRECTORY: own}).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    # Executors fetch it from here whenever they come up.
    session.sparkContext.addPyFile(str(zip_packages(Path(own))))
    return session


def directory(session: SparkSession) -> Path:
    """The session's own temporary directory on the driver's machine."""
    return Path(str(session.conf.get(DIRECTORY)))


def zip_packages(directory: Path) -> Path:
    """Writes the three packages, as importable sources, to a zip in `directory`."""
    path = directory / f"{APPLICATION}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packages:
        for package in PACKAGES:
            for source in sorted((source_root() / package).rglob("*")):
                if source.is_file() and "__pycache__" not in source.parts:
                    packages.write(source, source.relative_to(source_root()))
    return path
